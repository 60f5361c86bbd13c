//! Random numbers from a seed, and random compositions of moves.

use tilewright_learn::{Sources, ZERO};

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// An array of numbers, row-major.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) extents: Vec<usize>,
    pub(crate) ids: Vec<i64>,
}

impl Array {
    pub(crate) fn source(first: i64, extents: &[usize]) -> Array {
        let size = extents.iter().product::<usize>() as i64;
        Array { extents: extents.to_vec(), ids: (first..first + size).collect() }
    }

    /// Makes an array by the coordinate of each of its elements in this one.
    pub(crate) fn map(
        &self,
        extents: &[usize],
        from: impl Fn(&[usize]) -> Option<Vec<usize>>,
    ) -> Array {
        let size: usize = extents.iter().product();
        let mut ids = Vec::with_capacity(size);
        for index in 0..size {
            let (mut rest, mut at) = (index, vec![0; extents.len()]);
            for k in (0..extents.len()).rev() {
                at[k] = rest % extents[k];
                rest /= extents[k];
            }
            ids.push(from(&at).map_or(ZERO, |source| {
                let flat = source.iter().zip(&self.extents).fold(0, |flat, (i, e)| flat * e + i);
                self.ids[flat]
            }));
        }
        Array { extents: extents.to_vec(), ids }
    }

    pub(crate) fn slice(&self, dim: usize, from: usize, count: usize) -> Array {
        let mut extents = self.extents.clone();
        extents[dim] = count;
        self.map(&extents, |at| {
            let mut at = at.to_vec();
            at[dim] += from;
            Some(at)
        })
    }

    pub(crate) fn transpose(&self, order: &[usize]) -> Array {
        let extents: Vec<usize> = order.iter().map(|k| self.extents[*k]).collect();
        self.map(&extents, |at| {
            let mut from = vec![0; at.len()];
            order.iter().zip(at).for_each(|(k, i)| from[*k] = *i);
            Some(from)
        })
    }

    pub(crate) fn pad(&self, dim: usize, to: usize) -> Array {
        let mut extents = self.extents.clone();
        extents[dim] = to;
        self.map(&extents, |at| (at[dim] < self.extents[dim]).then(|| at.to_vec()))
    }

    /// Splits a dim into blocks, padded, and moves the index in the block to the end.
    pub(crate) fn block(&self, dim: usize, block: usize) -> Array {
        let mut extents = self.extents.clone();
        extents[dim] = extents[dim].div_ceil(block);
        extents.push(block);
        self.map(&extents, |at| {
            let mut from = at[..at.len() - 1].to_vec();
            from[dim] = from[dim] * block + at[at.len() - 1];
            (from[dim] < self.extents[dim]).then_some(from)
        })
    }

    /// XORs the last coordinate with bits of another one.
    pub(crate) fn swizzle(&self, dim: usize, mask: usize, shift: usize) -> Array {
        let last = self.extents.len() - 1;
        self.map(&self.extents, |at| {
            let mut from = at.to_vec();
            from[last] ^= ((at[dim] >> shift) & mask) % self.extents[last];
            Some(from)
        })
    }

    pub(crate) fn concat(parts: &[Array], dim: usize) -> Array {
        let mut extents = parts[0].extents.clone();
        extents[dim] = parts.iter().map(|part| part.extents[dim]).sum();
        let inner: usize = extents[dim + 1..].iter().product();
        let outer: usize = extents[..dim].iter().product();
        let mut ids = Vec::new();
        for o in 0..outer {
            for part in parts {
                let run = part.extents[dim] * inner;
                ids.extend_from_slice(&part.ids[o * run..(o + 1) * run]);
            }
        }
        Array { extents, ids }
    }

    /// Stacks arrays along a new dim; at the end it interleaves them.
    pub(crate) fn stack(parts: &[Array], dim: usize) -> Array {
        let one = |part: &Array| {
            let mut part = part.clone();
            part.extents.insert(dim, 1);
            part
        };
        Array::concat(&parts.iter().map(one).collect::<Vec<Array>>(), dim)
    }

    /// Merges a dim with the next one.
    pub(crate) fn merge(&self, dim: usize) -> Array {
        let mut extents = self.extents.clone();
        let inner = extents.remove(dim + 1);
        extents[dim] *= inner;
        Array { extents, ids: self.ids.clone() }
    }
}

/// A random composition of moves.
pub(crate) struct Composed {
    pub(crate) sources: Sources,
    pub(crate) array: Array,
    /// The number of parts that the composition puts together.
    pub(crate) parts: usize,
    pub(crate) steps: Vec<String>,
}

/// Composes up to `steps` random moves of up to three sources.
pub(crate) fn compose(random: &mut Random, most: usize) -> Composed {
    let rank = 1 + random.below(3);
    let extents: Vec<usize> =
        (0..rank).map(|_| [2, 3, 4, 6, 8, 12, 16, 20][random.below(8)]).collect();
    let count = [1, 1, 2, 3][random.below(4)];
    let names = ["gate", "up", "down"];
    let wide: Vec<u64> = extents.iter().map(|e| *e as u64).collect();
    let sources =
        Sources::numbered(names[..count].iter().map(|n| ((*n).into(), wide.clone()))).unwrap();
    let arrays: Vec<Array> =
        sources.list().iter().map(|source| Array::source(source.first, &extents)).collect();
    let (mut array, mut steps) = (arrays[0].clone(), vec![format!("{count} of {extents:?}")]);
    if count > 1 {
        let dim = random.below(rank);
        let how = random.below(3);
        steps.push(format!("join {how} {dim}"));
        array = match how {
            0 => Array::concat(&arrays, dim),
            1 => Array::stack(&arrays, dim),
            // Interleave.
            _ => Array::stack(&arrays, dim + 1).merge(dim),
        };
    }
    for _ in 0..random.below(most + 1) {
        let (next, step) = step(random, &array);
        if next.ids.len() <= 1 << 14 && next.extents.len() <= 6 {
            array = next;
            steps.push(step);
        }
    }
    Composed { sources, array, parts: count, steps }
}

fn step(random: &mut Random, array: &Array) -> (Array, String) {
    let rank = array.extents.len();
    let dim = random.below(rank);
    let extent = array.extents[dim];
    match random.below(6) {
        0 if extent > 1 => {
            let from = random.below(extent / 2);
            let count = 1 + random.below(extent - from);
            (array.slice(dim, from, count), format!("slice {dim} {from}+{count}"))
        }
        1 => {
            let mut order: Vec<usize> = (0..rank).collect();
            for k in (1..rank).rev() {
                order.swap(k, random.below(k + 1));
            }
            (array.transpose(&order), format!("transpose {order:?}"))
        }
        2 => {
            let to = extent + random.below(5);
            (array.pad(dim, to), format!("pad {dim} {to}"))
        }
        3 => {
            let block = [2, 4, 8, 16][random.below(4)];
            (array.block(dim, block), format!("block {dim} {block}"))
        }
        4 if rank > 1 && array.extents[rank - 1] > 1 => {
            let last = array.extents[rank - 1];
            let bits = last.trailing_zeros().min(3);
            let dim = random.below(rank - 1);
            let shift = random.below(2);
            (array.swizzle(dim, (1 << bits) - 1, shift), format!("swizzle {dim} {bits} {shift}"))
        }
        5 if rank > 1 && dim + 1 < rank => (array.merge(dim), format!("merge {dim}")),
        _ => (array.clone(), "nothing".into()),
    }
}
