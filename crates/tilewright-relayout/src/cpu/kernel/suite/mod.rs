//! Tests of the kernels against a naive loop: every instruction set that this machine has, every register
//! size, data in caches and out of them, blocks of every shape, and buffers between unmapped pages.
#![cfg(test)]

mod cases;
mod every;
mod guard;
mod regions;
mod registers;
mod rows;

use super::Isa;

/// The instruction sets of this machine.
fn here() -> impl Iterator<Item = Isa> {
    Isa::ALL.iter().copied().filter(|isa| isa.is_here())
}

/// All of them, or, under Miri, every `of`th one.
pub(super) fn some<T: Copy>(all: &[T], of: usize) -> impl Iterator<Item = T> + Clone + '_ {
    let step = if cfg!(miri) { of } else { 1 };
    all.iter().copied().skip(step / 2).step_by(step)
}

/// Bytes that differ from their neighbours, the same each time.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(step).collect()
}
