//! Random programs, drawn from numbers that depend on a seed alone.

use std::sync::Arc;

use tilewright_core::{Digit, Layout, Pattern, TensorLayout};
use tilewright_relayout::{Elements, Extend, Program};
use tilewright_table::{Along, Table, TabledLayout};
use tilewright_testing::Random;

/// A stream of numbers.
#[derive(Debug)]
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(Random(seed.wrapping_mul(0xD134_2543_DE82_EF95)))
    }

    /// Returns a number less than `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            all.swap(at, self.below(at as u64 + 1) as usize);
        }
        all
    }

    /// Returns one to four extents, with some thousand elements in all.
    fn extents(&mut self) -> Vec<u64> {
        let rank = 1 + self.below(4);
        let most = [3000, 90, 24, 12][rank as usize - 1];
        (0..rank).map(|_| 1 + self.below(most)).collect()
    }

    /// Returns a layout with axes in any order, with gaps and in either direction.
    fn strided(&mut self, extents: &[u64]) -> TensorLayout {
        let (mut strides, mut offset, mut next) = (vec![0_i64; extents.len()], 0, 1);
        for axis in self.shuffled(extents.len()) {
            let extent = extents[axis] as i64;
            strides[axis] = next;
            if self.below(8) == 0 {
                offset += (extent - 1) * next;
                strides[axis] = -next;
            }
            next = next * extent + self.one(&[0, 0, 0, 1, 3, 16]);
        }
        let list = |all: Vec<String>| format!("({})", all.join(","));
        let shape = list(extents.iter().map(u64::to_string).collect());
        let layout = Layout::parse(&format!(
            "{shape}:{}",
            list(strides.iter().map(i64::to_string).collect())
        ));
        let layout = layout.unwrap().with_offset(offset).unwrap();
        TensorLayout::new(extents, &layout, next as u64 + self.one(&[0, 0, 1, 5])).unwrap()
    }

    /// Returns tiles over the last two axes; the extents need not be multiples of them.
    fn tiled(&mut self, extents: &[u64]) -> TensorLayout {
        let rank = extents.len();
        let (a, b) = (rank as u8 - 2, rank as u8 - 1);
        let (m, n) = (self.one(&[2, 3, 4, 8, 16]), self.one(&[2, 4, 5, 16, 32]));
        let tile = [Digit::fixed(a, 0, m), Digit::fixed(b, 0, n)];
        let grid = [Digit::rest(a, 1), Digit::rest(b, 1)];
        let (one, other) = (self.below(2) as usize, self.below(2) as usize);
        let outer = (0..a).map(|axis| Digit::rest(axis, 0));
        let digits = [grid[one], grid[1 - one], tile[other], tile[1 - other]];
        let digits: Vec<Digit> = outer.chain(digits).collect();
        Pattern::new(rank, &digits).unwrap().layout(extents).unwrap()
    }

    fn layout(&mut self, extents: &[u64]) -> TensorLayout {
        if extents.len() > 1 && self.below(3) == 0 {
            self.tiled(extents)
        } else {
            self.strided(extents)
        }
    }

    /// Returns equal widths of whole bytes, packed ones, or different widths.
    fn elements(&mut self) -> Elements {
        let extend = self.one(&[Extend::Zero, Extend::Sign]);
        match self.below(4) {
            0 | 1 => Elements::same(self.one(&[8, 16, 24, 32, 48, 64, 96, 128, 256, 384])),
            2 => Elements::same(self.one(&[1, 2, 4])),
            _ => {
                let widths = [1, 2, 4, 8, 16, 32];
                Elements { src_bits: self.one(&widths), dst_bits: self.one(&widths), extend }
            }
        }
    }

    fn fill(&mut self) -> u128 {
        u128::from(self.below(u64::MAX)) * u128::from(self.below(u64::MAX))
    }

    /// Returns a program of a whole array.
    fn whole(&mut self) -> Program {
        let extents = self.extents();
        let (src, dst) = (self.layout(&extents), self.layout(&extents));
        let (elements, fill) = (self.elements(), self.fill());
        Program::new(&src, &dst, elements, fill).unwrap()
    }

    /// Returns a program of a part of an array.
    fn part(&mut self) -> Program {
        let extents = self.extents();
        let (src, dst) = (self.layout(&extents), self.layout(&extents));
        let lengths: Vec<u64> = extents.iter().map(|extent| 1 + self.below(*extent)).collect();
        let mut origin = || {
            let at = extents.iter().zip(&lengths);
            at.map(|(extent, length)| self.below(extent - length + 1)).collect::<Vec<u64>>()
        };
        let (from, to) = (origin(), origin());
        Program::of_part((&src, &from), (&dst, &to), &lengths, self.elements()).unwrap()
    }

    /// Returns a program with one side in the order of a list, with holes.
    fn with_table(&mut self) -> Program {
        let extents = [1 + self.below(60), 1 + self.below(60)];
        let dim = self.below(2) as usize;
        let holes = self.below(3) as usize;
        let mut list: Vec<Option<u64>> = (0..extents[dim]).map(Some).collect();
        list.extend(vec![None; holes]);
        let list: Vec<Option<u64>> =
            self.shuffled(list.len()).into_iter().map(|at| list[at]).collect();
        let table = Arc::new(Table::new(extents[dim], list).unwrap());
        let along = Along::new(&[(dim, 1)], &extents, table).unwrap();
        let stored = self.layout(along.stored_extents());
        let listed = TabledLayout::new(&extents, vec![along], &stored).unwrap();
        let plain = TabledLayout::of(&self.layout(&extents));
        let elements = Elements::same(self.one(&[8, 16, 24, 32, 64, 128]));
        let (src, dst) = if self.below(2) == 0 { (&listed, &plain) } else { (&plain, &listed) };
        Program::of_arrays(src, dst, elements, self.fill()).unwrap()
    }

    pub(crate) fn program(&mut self) -> Program {
        match self.below(8) {
            0..5 => self.whole(),
            5..7 => self.part(),
            _ => self.with_table(),
        }
    }
}
