//! Entry of generic work into a function that is compiled for an instruction set (`#[target_feature]`). Each kind of
//! work has its own function for each instruction set, so the compiler optimises each kind separately.

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::x86_64;
use super::{Isa, portable::Words, vector::Vector};

/// Optional kinds of registers. [`enter`] compiles work only for the kinds that the work requests.
#[derive(Clone, Copy)]
pub(crate) struct Kinds {
    /// The words of [`Isa::Generic`].
    pub(crate) words: bool,
    /// Registers of 32 bytes.
    pub(crate) of_32: bool,
}

/// Work that any register can do.
pub(crate) trait Work {
    /// The optional kinds for which this work is compiled.
    const KINDS: Kinds = Kinds { words: true, of_32: true };

    /// Does the work. Implementations are inlined, and so are all functions that they call with `V`.
    ///
    /// # Safety
    /// The machine has the instruction set of `V`, and the requirements of the implementor hold.
    unsafe fn with<V: Vector>(self);
}

/// Does work with registers of `register` bytes. Returns whether the instruction set has such registers.
///
/// # Safety
/// The machine has the instruction set, and the requirements of the work hold.
pub(crate) unsafe fn enter<W: Work>(isa: Isa, register: usize, work: W) -> bool {
    // SAFETY: `# Safety` of `enter`: the machine has the instruction set `isa`, which each arm has matched, and the
    // requirements of the work hold. AVX-512 is used only where AVX2 is present too (`Isa::is_here`).
    unsafe {
        match (isa, register) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 64) => avx512(work),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512 | Isa::Avx2, 32) if const { W::KINDS.of_32 } => avx2(work),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512 | Isa::Avx2, 16) => xmm(work),
            #[cfg(target_arch = "aarch64")]
            (Isa::Neon, 16) => work.with::<neon::Quad>(),
            (Isa::Generic, 16) if const { W::KINDS.words } => work.with::<Words>(),
            _ => return false, // open set
        }
    }
    true
}

/// # Safety
/// Those of [`Work::with`]; the machine has AVX-512 with BW, VL, VBMI and IFMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512ifma")]
unsafe fn avx512<W: Work>(work: W) {
    // SAFETY: `# Safety` of `avx512`: the requirements of `Work::with` hold, and the machine has the instructions of
    // `Zmm`.
    unsafe { work.with::<x86_64::Zmm>() }
}

/// # Safety
/// Those of [`Work::with`]; the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<W: Work>(work: W) {
    // SAFETY: `# Safety` of `avx2`: the requirements of `Work::with` hold, and the machine has the instructions of
    // `Ymm`.
    unsafe { work.with::<x86_64::Ymm>() }
}

/// # Safety
/// Those of [`Work::with`]; the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn xmm<W: Work>(work: W) {
    // SAFETY: `# Safety` of `xmm`: the requirements of `Work::with` hold, and the machine has the instructions of
    // `Xmm`.
    unsafe { work.with::<x86_64::Xmm>() }
}
