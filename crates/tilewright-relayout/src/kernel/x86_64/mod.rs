//! Kernels of x86-64.

use core::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T1, _mm_prefetch, _mm_sfence};

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod sse2;
pub(super) mod xmm;

/// Asks for a line, into the second-level cache.
#[inline(always)]
fn prefetch(at: *const u8) {
    // SAFETY: a hint that reads nothing; part of SSE, which every x86-64 processor has.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
}

/// Asks for a line that will be written in part.
#[inline(always)]
fn prefetch_to_write(at: *const u8) {
    // SAFETY: a hint that reads nothing; where a processor lacks it, it does nothing.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(at.cast()) }
}

/// Orders streamed stores before all later ones.
#[inline(always)]
pub(super) fn fence() {
    // SAFETY: part of SSE, which every x86-64 processor has.
    unsafe { _mm_sfence() }
}
