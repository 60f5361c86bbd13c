//! Tests that fingerprints find accidents in weights: flipped bits, exchanged rows, transposed squares, exchanged tensors
//! of one shape, lost or duplicated shards, reordered experts. A relayout changes no fingerprint.
//!
//! There are ten thousand cases, half of which are relayouts; `TILEWRIGHT_JOBS` sets their number, `TILEWRIGHT_SEED` the
//! random numbers.

use tilewright_core::{Dtype, Fractal, TensorLayout};
use tilewright_fingerprint::{Array, Fingerprint, Key};
use tilewright_relayout::{Elements, Plan};

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        self.0.rotate_left(32)
    }

    fn below(&mut self, end: u64) -> usize {
        (self.next() % end) as usize
    }

    /// Two different numbers.
    fn two(&mut self, end: u64) -> (usize, usize) {
        let one = self.below(end);
        (one, (one + 1 + self.below(end - 1)) % end as usize)
    }
}

/// Weights: experts of one shape, row-major, of 16 bits.
#[derive(Clone, PartialEq)]
struct Weights {
    experts: usize,
    rows: usize,
    columns: usize,
    bytes: Vec<u8>,
}

impl Weights {
    /// Small integers, as in quantised weights: many elements are equal.
    fn some(dice: &mut Dice) -> Weights {
        let (experts, rows) = (2 + dice.below(4), 2 + dice.below(30));
        let columns = if dice.below(2) == 0 { rows } else { 1 + dice.below(40) };
        let values = 1 << (1 + dice.below(15));
        let value = |_| (dice.next() % values) as u16;
        let bytes = (0..experts * rows * columns).map(value).flat_map(u16::to_le_bytes).collect();
        Weights { experts, rows, columns, bytes }
    }

    fn dims(&self) -> [u64; 3] {
        [self.experts, self.rows, self.columns].map(|extent| extent as u64)
    }

    fn fingerprint(&self, layout: &TensorLayout, bytes: &[u8]) -> Fingerprint {
        Array::new(layout, Dtype::Bf16).unwrap().fingerprint(bytes, &Key::default()).unwrap()
    }

    fn own(&self) -> Fingerprint {
        self.fingerprint(&TensorLayout::row_major(&self.dims()).unwrap(), &self.bytes)
    }

    /// Exchanges two runs of bytes.
    fn swap(&mut self, len: usize, one: usize, other: usize) {
        (0..len).for_each(|i| self.bytes.swap(one * len + i, other * len + i));
    }

    fn mutated(&self, dice: &mut Dice) -> Weights {
        let mut other = self.clone();
        let (row, expert) = (2 * self.columns, 2 * self.columns * self.rows);
        match dice.below(7) {
            0 => {
                let bit = dice.below(8 * self.bytes.len() as u64);
                other.bytes[bit / 8] ^= 1 << (bit % 8);
            }
            1 => {
                let (a, b) = dice.two((self.experts * self.rows) as u64);
                other.swap(row, a, b);
            }
            2 => {
                // Tensors of one shape under each other's names; experts exchanged.
                let (a, b) = dice.two(self.experts as u64);
                other.swap(expert, a, b);
            }
            3 => other.bytes.rotate_left(expert * (1 + dice.below(self.experts as u64 - 1))),
            4 => {
                // A lost shard: its part is zero. A duplicated shard: it replaces another.
                let (a, b) = dice.two(self.experts as u64);
                let from = other.bytes[a * expert..(a + 1) * expert].to_vec();
                let zero = vec![0; expert];
                let with = if dice.below(2) == 0 { zero } else { from };
                other.bytes[b * expert..(b + 1) * expert].copy_from_slice(&with);
            }
            5 if self.rows == self.columns => {
                let at = dice.below(self.experts as u64) * expert;
                for (i, j) in (0..self.rows).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    for byte in 0..2 {
                        let place = |i, j| at + 2 * (i * self.columns + j) + byte;
                        other.bytes.swap(place(i, j), place(j, i));
                    }
                }
            }
            _ => {
                let (a, b) = dice.two(self.bytes.len() as u64 / 2);
                other.swap(2, a, b);
            }
        }
        other
    }

    /// Returns the fingerprint of the weights in a random layout.
    fn moved(&self, dice: &mut Dice) -> Fingerprint {
        let dims = self.dims();
        let layout = match dice.below(3) {
            0 => {
                let order = [[2, 1, 0], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [0, 1, 2]];
                TensorLayout::ordered(&dims, &order[dice.below(6)]).unwrap()
            }
            _ => {
                let kinds = [Fractal::ZN, Fractal::NZ, Fractal::ZZ, Fractal::NN];
                let (rows, columns) = (1 + dice.next() % 20, 1 + dice.next() % 20);
                let tiles = kinds[dice.below(4)].pattern(rows, columns);
                // The experts below each other are the rows of one matrix: a layout of [experts · rows, columns].
                let whole = [dims[0] * dims[1], dims[2]];
                let layout = tiles.layout(&whole).unwrap();
                let own = TensorLayout::row_major(&whole).unwrap();
                let moved = moved(&own, &layout, &self.bytes);
                let matrix = self.fingerprint(&own, &self.bytes);
                assert_eq!(self.fingerprint(&layout, &moved), matrix, "{layout:?}");
                return self.own();
            }
        };
        let own = TensorLayout::row_major(&dims).unwrap();
        self.fingerprint(&layout, &moved(&own, &layout, &self.bytes))
    }
}

fn moved(from: &TensorLayout, to: &TensorLayout, bytes: &[u8]) -> Vec<u8> {
    let plan = Plan::new(from, to, Elements::same(16), 0xABCD).unwrap();
    let mut out = vec![0; plan.dst_bytes() as usize];
    plan.run(bytes, &mut out, 1).unwrap();
    out
}

fn asked(variable: &str, or: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(or)
}

#[test]
fn every_mutation_is_found_and_no_relayout_is() {
    let (jobs, seed) = (asked("TILEWRIGHT_JOBS", 10_000), asked("TILEWRIGHT_SEED", 1));
    let (mut dice, mut found, mut kept) = (Dice(seed), 0, 0);
    let mut weights = Weights::some(&mut dice);
    for job in 0..jobs {
        if job % 20 == 0 {
            weights = Weights::some(&mut dice);
        }
        let own = weights.own();
        let other = weights.mutated(&mut dice);
        assert_eq!(other.own() == own, other == weights, "job {job} of seed {seed}");
        found += u64::from(other != weights);
        assert_eq!(weights.moved(&mut dice), own, "job {job} of seed {seed}");
        kept += 1;
    }
    println!("{found} mutations found, {kept} relayouts the same");
    assert!(found > jobs / 2);
}
