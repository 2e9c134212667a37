//! Whatever is edited on a sheet, its invariants hold, and everything that is on it follows (`trocar_mesh::sheet::trial`).

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(what) = trocar_mesh::sheet::trial::trial(bytes) {
        panic!("{what}");
    }
});
