//! Tests of the kernels against a naive loop: every instruction set that this machine has, every register
//! size, data in caches and out of them, blocks of every shape, and buffers between unmapped pages.
#![cfg(test)]

mod cases;
mod every;
mod guard;
mod regions;
mod registers;
mod rows;

use tilewright_testing::noise;

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
