//! Registers of x86-64.

use core::{
    arch::x86_64::{
        __cpuid, _MM_HINT_ET0, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm_sfence, CpuidResult,
    },
    sync::atomic::{AtomicBool, Ordering},
};

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod xmm;

/// True if prefetches go into the first-level cache, not only into the second.
static INTO_THE_FIRST: AtomicBool = AtomicBool::new(false);

/// Detects the properties of this processor.
pub(crate) fn learn() {
    INTO_THE_FIRST.store(is_zen_5_or_later(), Ordering::Relaxed);
}

/// Returns whether this is a Zen 5 or a later processor (family 26 of AMD). Relayout is a tenth faster there with
/// prefetches into the first-level cache. On Zen 4, whose first-level cache allows fewer prefetches in flight, it is a
/// fifth slower. Other processors were not measured.
fn is_zen_5_or_later() -> bool {
    const AMD: [u8; 12] = *b"AuthenticAMD";
    if cfg!(miri) {
        return false;
    }
    let named = cpuid(0);
    let name = [named.ebx, named.edx, named.ecx].map(u32::to_le_bytes);
    let signature = cpuid(1).eax;
    let (family, extended) = (signature >> 8 & 0xF, signature >> 20 & 0xFF);
    name.as_flattened() == AMD && family == 0xF && family + extended >= 26
}

/// Asks the processor about itself. Newer compilers consider the call safe.
#[allow(unused_unsafe)]
fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { __cpuid(leaf) }
}

/// Prefetches a line, into the second-level cache or, where [that is faster](is_zen_5_or_later), the first.
#[inline(always)]
fn prefetch(at: *const u8) {
    // SAFETY: a hint that reads nothing; part of SSE, which every x86-64 processor has.
    unsafe {
        if INTO_THE_FIRST.load(Ordering::Relaxed) {
            _mm_prefetch::<_MM_HINT_T0>(at.cast());
        } else {
            _mm_prefetch::<_MM_HINT_T1>(at.cast());
        }
    }
}

/// Prefetches a line that will be written in part.
#[inline(always)]
fn prefetch_to_write(at: *const u8) {
    // SAFETY: a hint that reads nothing; it does nothing on processors that lack it.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(at.cast()) }
}

/// Orders streamed stores before all later ones.
#[inline(always)]
pub(crate) fn fence() {
    // Miri supports neither streamed stores nor this instruction.
    if cfg!(miri) {
        return;
    }
    // SAFETY: part of SSE, which every x86-64 processor has.
    unsafe { _mm_sfence() }
}
