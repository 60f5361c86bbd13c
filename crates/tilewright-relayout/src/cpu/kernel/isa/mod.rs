//! Instruction sets: detection of those that this machine has, and the choice of one. `enter.rs` enters functions that are compiled
//! for one, `vector.rs` is the register interface that kernels use, and the other files are the registers of each.

mod enter;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
mod portable;
mod vector;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;

use std::sync::OnceLock;

use crate::cpu::cost;
pub(crate) use enter::{Kinds, Work, enter};
#[cfg(test)]
pub(crate) use portable::Words;
pub(crate) use vector::Vector;

/// An instruction set that has its own kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    /// Registers of 64 bytes: AVX-512 with BW, VL, VBMI and IFMA.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Registers of 32 bytes: AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Registers of 16 bytes: NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Words of 8 bytes, in pairs, on any machine.
    Generic,
}

/// The environment variable that names the instruction set to use.
const VARIABLE: &str = "TILEWRIGHT_ISA";

impl Isa {
    /// All instruction sets of this architecture, the best first.
    pub(crate) const ALL: &[Isa] = &[
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon,
        Isa::Generic,
    ];

    /// Returns the name, as in the environment variable and in plans.
    pub(crate) fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => "neon",
            Isa::Generic => "generic",
        }
    }

    /// Returns the bytes of a register.
    pub(crate) fn register(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => 64,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => 32,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => 16,
            Isa::Generic => 16,
        }
    }

    /// Returns whether this machine has the instruction set.
    pub(crate) fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                // Data that is narrower than its registers uses those of AVX2.
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512ifma")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => true,
            Isa::Generic => true,
        }
    }

    /// Returns the instruction set that the environment names, if this machine has it, or else the best that it has. It
    /// is chosen once.
    pub(crate) fn chosen() -> Isa {
        static CHOSEN: OnceLock<Isa> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            x86_64::learn();
            let here = || Isa::ALL.iter().copied().filter(|isa| isa.is_here());
            let named = std::env::var(VARIABLE).unwrap_or_default();
            here().find(|isa| isa.name() == named).or_else(|| here().next()).unwrap_or(Isa::Generic)
        })
    }
}

/// Returns the approximate maximum of bytes of a block that goes through a scratch buffer on this machine.
///
/// The evidence is thin. 1 MiB was measured on Zen 4 and Zen 5, and is used on all processors of AMD. 256 KiB was measured on one
/// Emerald Rapids, and is used, unmeasured, on all others: of Intel, of Arm, and under Miri.
pub(crate) fn scratch_block() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if x86_64::has_fast_third_level() {
        return cost::LARGE_SCRATCH_BLOCK;
    }
    cost::SCRATCH_BLOCK
}
