//! Memory that will be wanted soon.

/// Begins to bring a value near, and goes on without waiting for it. Only the first 64 bytes of it.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it is a hint. It changes nothing that a program could see, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
