//! Hints to the processor: this will be needed soon.
//!
//! A simulation walks through far more memory than a cache holds, in an order it knows: while one
//! node runs, what the next one will touch can be on its way. A hint changes no result.

const LINE: usize = 64;

/// Asks for the cache lines of a value. Does nothing on processors for which there is no hint.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<i8>();
    for line in 0..size_of_val(value).div_ceil(LINE) {
        hint(start.wrapping_add(LINE * line));
    }
}

/// Asks for the cache line in which element `i` of a slice begins; there need not be one.
#[inline(always)]
pub fn prefetch_at<T>(slice: &[T], i: usize) {
    hint(slice.as_ptr().wrapping_add(i).cast());
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(unsafe_code, reason = "there is no safe way to say it, and nothing that could go wrong")]
fn hint(at: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing and faults at no address; every x86-64 has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at) }
}

#[cfg(not(target_arch = "x86_64"))]
fn hint(_: *const i8) {}
