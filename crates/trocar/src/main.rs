//! The `trocar` program.
fn main() {}
