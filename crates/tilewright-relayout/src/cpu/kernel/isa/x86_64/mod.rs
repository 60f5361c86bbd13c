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

/// True if the third-level cache is fast enough for scratch buffers.
static FAST_THIRD: AtomicBool = AtomicBool::new(false);

/// The first family of AMD's processors whose first-level cache allows many prefetches in flight: Zen 5. Relayout is a tenth
/// faster there with prefetches into the first-level cache; on Zen 4 it is a fifth slower. On Emerald Rapids there is no
/// difference.
const ZEN_5: u32 = 26;

/// Detects the properties of this processor.
pub(crate) fn learn() {
    let family = amd_family();
    INTO_THE_FIRST.store(family >= Some(ZEN_5), Ordering::Relaxed);
    FAST_THIRD.store(family.is_some(), Ordering::Relaxed);
}

/// Returns whether the third-level cache is fast enough for scratch buffers, as AMD's are.
pub(crate) fn has_fast_third_level() -> bool {
    FAST_THIRD.load(Ordering::Relaxed)
}

/// Returns the family of a processor of AMD.
fn amd_family() -> Option<u32> {
    const AMD: [u8; 12] = *b"AuthenticAMD";
    if cfg!(miri) {
        return None;
    }
    let named = cpuid(0);
    let name = [named.ebx, named.edx, named.ecx].map(u32::to_le_bytes);
    let signature = cpuid(1).eax;
    let (family, extended) = (signature >> 8 & 0xF, signature >> 20 & 0xFF);
    let whole = if family == 0xF { family + extended } else { family };
    (name.as_flattened() == AMD).then_some(whole)
}

/// Asks the processor about itself. Newer compilers consider the call safe.
#[allow(unused_unsafe)]
fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { __cpuid(leaf) }
}

/// Prefetches a line, into the second-level cache or, where [that is faster](ZEN_5), the first.
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
