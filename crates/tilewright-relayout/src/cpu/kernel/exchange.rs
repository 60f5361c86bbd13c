//! Loads of the registers of a unit, and the exchanges between them. Everything is inlined into a function that has the
//! instruction set, and every loop has a constant length, so that the values stay in registers.
#![allow(clippy::needless_range_loop)]

use super::isa::Vector;
use crate::cpu::transpose::NONE;

/// Returns the first `N` items of a list that has at least `N`.
#[inline(always)]
pub(super) fn exact<T, const N: usize>(list: &[T]) -> &[T; N] {
    list.first_chunk().expect("the registers of a step fill the array")
}

/// Loads the registers of a step.
///
/// # Safety
/// The machine has the instruction set; a register at each of these offsets from `from` is readable.
#[inline(always)]
pub(super) unsafe fn load<V: Vector, const N: usize>(from: *const u8, at: &[i64; N]) -> [V; N] {
    // SAFETY: `# Safety` of `load`: a register at each offset of `at` from `from` is readable; the machine
    // has the instruction set.
    unsafe {
        let mut held = [V::load(from.offset(at[0] as isize)); N];
        for k in 1..N {
            held[k] = V::load(from.offset(at[k] as isize));
        }
        held
    }
}

/// Loads `N` consecutive registers.
///
/// # Safety
/// The machine has the instruction set; `N` registers are readable.
#[inline(always)]
pub(super) unsafe fn load_lines<V: Vector, const N: usize>(from: *const u8) -> [V; N] {
    // SAFETY: `# Safety` of `load_lines`: `N` registers from `from` on are readable; the machine has the
    // instruction set.
    unsafe {
        let mut held = [V::load(from); N];
        for k in 1..N {
            held[k] = V::load(from.add(k * V::BYTES));
        }
        held
    }
}

/// Returns the level that is exchanged with bit `bit` of the register index, in a transpose of `all` registers.
const fn level_of<V: Vector>(all: usize, bit: u32) -> u8 {
    ((8 * V::BYTES / all).ilog2() + bit) as u8
}

/// Exchanges all bits of a register index except the highest ones, which have weight `AFTER` together and were
/// exchanged before.
///
/// # Safety
/// The machine has the instruction set of `V`, and every level is below log₂(8 · `V::BYTES`).
#[inline(always)]
pub(super) unsafe fn exchange<V: Vector, const T: bool, const N: usize, const AFTER: usize>(
    held: &mut [V; N],
    levels: &[[u8; 2]; 4],
) {
    let of =
        |bit: u32| if T { [level_of::<V>(N * AFTER, bit), NONE] } else { levels[bit as usize] };
    // SAFETY: `# Safety` of `exchange`: the machine has the instruction set, and every level is a level of `V`, which
    // is all that `bit` requires.
    unsafe {
        if N >= 2 {
            bit::<V, T, N, 1>(held, of(0));
        }
        if N >= 4 {
            bit::<V, T, N, 2>(held, of(1));
        }
        if N >= 8 {
            bit::<V, T, N, 4>(held, of(2));
        }
        if N >= 16 {
            bit::<V, T, N, 8>(held, of(3));
        }
    }
}

/// Does the exchanges of the bit of weight `S`.
///
/// # Safety
/// Those of [`exchange`].
#[inline(always)]
unsafe fn bit<V: Vector, const T: bool, const N: usize, const S: usize>(
    held: &mut [V; N],
    levels: [u8; 2],
) {
    // SAFETY: `# Safety` of `exchange`, which `bit` shares: the machine has the instruction set, and both
    // levels are levels of `V` where they are not `NONE`.
    unsafe {
        if T || levels[0] != NONE {
            level::<V, N, S>(held, levels[0]);
        }
        if !T && levels[1] != NONE {
            level::<V, N, S>(held, levels[1]);
        }
    }
}

/// Exchanges a level between all registers that differ in the bit of weight `S`.
///
/// # Safety
/// Those of [`exchange`].
#[inline(always)]
unsafe fn level<V: Vector, const N: usize, const S: usize>(held: &mut [V; N], level: u8) {
    // SAFETY: `# Safety` of `exchange`: `level` is below log₂(8 · `V::BYTES`), which is at most 9, so the
    // last arm is level 8. The match makes the level a constant.
    unsafe {
        match level {
            0 => pairs::<V, N, S>(held, 0),
            1 => pairs::<V, N, S>(held, 1),
            2 => pairs::<V, N, S>(held, 2),
            3 => pairs::<V, N, S>(held, 3),
            4 => pairs::<V, N, S>(held, 4),
            5 => pairs::<V, N, S>(held, 5),
            6 => pairs::<V, N, S>(held, 6),
            7 => pairs::<V, N, S>(held, 7),
            _ => pairs::<V, N, S>(held, 8),
        }
    }
}

/// # Safety
/// Those of [`exchange`].
#[inline(always)]
unsafe fn pairs<V: Vector, const N: usize, const S: usize>(held: &mut [V; N], level: u8) {
    for i in 0..N / 2 {
        let low = i / S * 2 * S + i % S;
        // SAFETY: `# Safety` of `exchange`: the machine has the instruction set, and `level` is a level of
        // `V`.
        (held[low], held[low + S]) = unsafe { V::exchange(level, held[low], held[low + S]) };
    }
}
