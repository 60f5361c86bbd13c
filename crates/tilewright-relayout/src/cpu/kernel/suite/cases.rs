//! Relayouts that use every kind of step, written by hand and random; and runs of one relayout in every way that a machine
//! supports.

use proptest::prelude::*;
use tilewright_core::{Digit, Layout, Mode, Pattern, TensorLayout};

use super::{
    super::{Isa, prefetch::Prefetch, transpose::transpose},
    here, noise, some,
};
use crate::{
    Elements, Plan,
    cpu::{
        kernel::{
            rows,
            suite::{BufferPosition, Guarded},
        },
        scratch::Scratch,
        transpose::{Locality, RegisterTranspose},
    },
    program::region::{RegionRef, for_each},
};

/// The number of random cases of a test: some seconds of work, or a few cases under Miri.
const CASES: u32 = if cfg!(miri) { 2 } else { 120 };

/// The digits of a pattern, as (axis, level, size), outermost first; size 0 takes the rest.
fn pattern(rank: usize, digits: &[(u8, u8, u64)]) -> Pattern {
    let digit = |&(axis, level, size): &(u8, u8, u64)| match size {
        0 => Digit::rest(axis, level),
        _ => Digit::fixed(axis, level, size),
    };
    Pattern::new(rank, &digits.iter().map(digit).collect::<Vec<_>>()).unwrap()
}

/// Strides in an order, the last of which is innermost, with gaps, some of them reversed.
fn strided(extents: &[u64], order: &[usize], gaps: &[u64], back: &[bool]) -> TensorLayout {
    let mut modes = vec![Mode::new(1, 0); extents.len()];
    let (mut stride, mut offset) = (1, 0);
    for (&axis, &gap) in order.iter().rev().zip(gaps) {
        let by = if back[axis] { -(stride as i64) } else { stride as i64 };
        modes[axis] = Mode::new(extents[axis], by);
        offset -= (extents[axis] as i64 - 1) * by.min(0);
        stride = stride * extents[axis] + gap;
    }
    TensorLayout::of(&Layout::flat(&modes).unwrap().with_offset(offset).unwrap())
}

fn both_ways(a: &TensorLayout, b: &TensorLayout, bits: u32, blocks: &[Option<u64>]) -> usize {
    let there = Relayout { src: a.clone(), dst: b.clone(), bits };
    let back = Relayout { src: b.clone(), dst: a.clone(), bits };
    there.check_all(blocks) + back.check_all(blocks)
}

const WIDTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Blocks as planned, and blocks of other shapes.
const BLOCKS: [Option<u64>; 3] = [None, Some(1), Some(2)];

#[test]
fn transposes_of_every_width() {
    // The bits of the largest register here: wider elements are moved whole.
    let widest = here().map(|isa| 8 * isa.register() as u32).max().unwrap_or_default();
    for bits in some(&WIDTHS, 5) {
        // Elements in 64 bytes, and adjacent numbers that are not multiples of it.
        let n = u64::from(512 / bits).max(2);
        let (big, odd) = (n.max(16), n + n / 2 + 1);
        for (rows, columns) in [(big, big), (big + 8, 2 * big), (odd + 8, big + 16)] {
            let extents = [rows, columns];
            let row = TensorLayout::row_major(&extents).unwrap();
            let column = TensorLayout::col_major(&extents).unwrap();
            let transposed =
                both_ways(&row, &column, bits, &BLOCKS[..tilewright_testing::cases(3, 2)]);
            let filled = bits >= 8 && rows.is_multiple_of(n) && bits < widest;
            assert!(transposed > 0 || !filled, "{bits} bits {extents:?}");
            if cfg!(miri) {
                break;
            }
        }
    }
}

#[test]
fn transposes_larger_than_a_block() {
    let (rows, columns) = if cfg!(miri) { (24, 40) } else { (330, 1300) };
    let sizes = [(rows, columns), (rows + 54, columns - 20), (rows + 1, columns + 3)];
    for (at, (rows, columns)) in some(&sizes, 3).enumerate() {
        let widths = [[8, 64], [16, 8], [32, 16]][at];
        for bits in some(tilewright_testing::cases(&[8, 16, 32, 64], &widths), 4) {
            let extents = [rows, columns];
            let row = TensorLayout::row_major(&extents).unwrap();
            let column = TensorLayout::col_major(&extents).unwrap();
            both_ways(&row, &column, bits, &[None]);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "megabytes take hours")]
fn byte_transposes_through_several_blocks() {
    // Blocks through the scratch buffer have up to a mebibyte.
    for (extents, bits) in [([600, 5000], [8, 16]), ([5003, 601], [16, 8])] {
        let row = TensorLayout::row_major(&extents).unwrap();
        let column = TensorLayout::col_major(&extents).unwrap();
        for bits in bits.into_iter().take(tilewright_testing::cases(2, 1)) {
            both_ways(&row, &column, bits, &[None]);
        }
    }
}

/// The formats that the speed requirements list, ragged and not.
fn formats(rows: u64, columns: u64) -> Vec<(&'static str, TensorLayout, u32)> {
    let tile = |digits: &[(u8, u8, u64)]| pattern(2, digits).layout(&[rows, columns]).unwrap();
    vec![
        ("zN 16", tile(&[(1, 1, 0), (0, 1, 0), (0, 0, 16), (1, 0, 16)]), 16),
        ("zN 8", tile(&[(1, 1, 0), (0, 1, 0), (0, 0, 16), (1, 0, 32)]), 8),
        ("zN 32", tile(&[(1, 1, 0), (0, 1, 0), (0, 0, 16), (1, 0, 8)]), 32),
        ("nZ", tile(&[(0, 1, 0), (1, 1, 0), (1, 0, 16), (0, 0, 16)]), 16),
        ("zZ", tile(&[(0, 1, 0), (1, 1, 0), (0, 0, 16), (1, 0, 16)]), 16),
        ("nN", tile(&[(1, 1, 0), (0, 1, 0), (1, 0, 16), (0, 0, 16)]), 16),
        ("T(8,128)", tile(&[(0, 1, 0), (1, 1, 0), (0, 0, 8), (1, 0, 128)]), 32),
        ("T(8,128)(2,1)", tile(&[(0, 2, 0), (1, 1, 0), (0, 1, 4), (1, 0, 128), (0, 0, 2)]), 16),
        ("T(32,128)(4,1)", tile(&[(0, 2, 0), (1, 1, 0), (0, 1, 8), (1, 0, 128), (0, 0, 4)]), 8),
        ("T(64,128)(8,1)", tile(&[(0, 2, 0), (1, 1, 0), (0, 1, 8), (1, 0, 128), (0, 0, 8)]), 4),
        ("VNNI", tile(&[(0, 1, 0), (1, 0, 0), (0, 0, 4)]), 8),
        ("BA16a64b4a", tile(&[(1, 1, 0), (0, 2, 0), (0, 1, 16), (1, 0, 64), (0, 0, 4)]), 8),
        (
            "COL4_4R2_8C",
            tile(&[(1, 2, 0), (0, 2, 0), (0, 0, 2), (1, 1, 8), (0, 1, 4), (1, 0, 4)]),
            8,
        ),
        ("NVFP4", tile(&[(0, 2, 0), (1, 1, 0), (0, 0, 32), (0, 1, 4), (1, 0, 4)]), 8),
    ]
}

#[test]
#[cfg_attr(miri, ignore = "takes hours, and other cases run the same kernels")]
fn formats_of_many_makers() {
    let sizes = [(64, 256), (77, 333), (130, 200)];
    for (rows, columns) in sizes.into_iter().take(tilewright_testing::cases(3, 2)) {
        let row = TensorLayout::row_major(&[rows, columns]).unwrap();
        let all = formats(rows, columns);
        let mut transposed = Vec::new();
        for (name, layout, bits) in &all {
            if both_ways(&row, layout, *bits, &BLOCKS) > 0 {
                transposed.push(*name);
            }
        }
        assert!(rows % 64 > 0 || 2 * transposed.len() > all.len(), "only {transposed:?}");
        // The distance between tiles.
        for (i, (_, layout, bits)) in all.iter().enumerate() {
            both_ways(layout, &all[(i + 5) % all.len()].1, *bits, &[None]);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours, and other cases run the same kernels")]
fn images_and_filters() {
    let image = [2, 32, 12, 20];
    let layout = |digits: &[(u8, u8, u64)], extents: &[u64]| {
        pattern(extents.len(), digits).layout(extents).unwrap()
    };
    let nchw = TensorLayout::row_major(&image).unwrap();
    let nhwc = layout(&[(0, 0, 0), (2, 0, 0), (3, 0, 0), (1, 0, 0)], &image);
    let blocked = layout(&[(0, 0, 0), (1, 1, 0), (2, 0, 0), (3, 0, 0), (1, 0, 16)], &image);
    let filter = [32, 32, 3, 3];
    let oihw = TensorLayout::row_major(&filter).unwrap();
    let packed = [(0, 1, 0), (1, 2, 0), (2, 0, 0), (3, 0, 0), (1, 1, 4), (0, 0, 16), (1, 0, 4)];
    let vnni = layout(&packed, &filter);
    for bits in [8, 16, 32] {
        both_ways(&nchw, &nhwc, bits, &BLOCKS);
        both_ways(&nchw, &blocked, bits, &BLOCKS);
        both_ways(&nhwc, &blocked, bits, &BLOCKS);
        both_ways(&oihw, &vnni, bits, &BLOCKS);
    }
}

#[test]
fn reversed_and_padded_transposes() {
    for bits in [4, 8, 16, 32, 64, 128] {
        for (i, back) in [[true, false], [false, true], [true, true]].into_iter().enumerate() {
            for gaps in [[0, 0], [0, 16], [0, 3]] {
                let extents = [64, 136];
                let src = strided(&extents, &[0, 1], &gaps, &back);
                let dst = strided(&extents, &[1, 0], &gaps, &[false, false]);
                both_ways(&src, &dst, bits, &BLOCKS[..1 + i]);
                let same = strided(&extents, &[0, 1], &[0, 0], &[false, false]);
                both_ways(&src, &same, bits, &[None]);
                if cfg!(miri) {
                    return;
                }
            }
        }
    }
}

/// Buffers begin at every byte of a line.
#[test]
fn bases_at_every_byte_of_a_line() {
    let extents = if cfg!(miri) { [32, 64] } else { [96, 320] };
    let row = TensorLayout::row_major(&extents).unwrap();
    for bits in [8, 32] {
        for dst in [
            TensorLayout::col_major(&extents).unwrap(),
            formats(extents[0], extents[1]).swap_remove(7).1,
        ] {
            let relayout = Relayout { src: row.clone(), dst, bits };
            let ways = registers().into_iter().flat_map(|(isa, register)| {
                let step = if cfg!(miri) { 23 } else { 1 };
                (0..64).step_by(step).flat_map(move |at| {
                    [None, Some(3)].map(|blocks| RunParameters {
                        isa,
                        register,
                        locality: Locality::Memory,
                        blocks,
                        src: BufferPosition::Behind(at * 5),
                        dst: BufferPosition::Behind(at),
                    })
                })
            });
            assert!(relayout.check(ways) > 0 || cfg!(miri));
        }
    }
}

/// Runs of the destination of many lengths, in blocks of many shapes, the last of which begins early by fewer bytes
/// than a line or by more, at every other alignment of both sides; with gaps after the runs and without.
#[test]
#[cfg_attr(miri, ignore = "takes hours, and other cases run the same kernels")]
fn lines_are_carried_from_block_to_block() {
    for (i, run) in [64u64, 72, 80, 100, 130, 200, 264].into_iter().enumerate() {
        for gap in [0, 1, 13] {
            let extents = [3, run, 100];
            let src = strided(&extents, &[0, 1, 2], &[0; 3], &[false; 3]);
            let dst = strided(&extents, &[2, 0, 1], &[gap, 0, 0], &[false; 3]);
            let bits = [8, 16, 32][(i + gap as usize) % 3];
            let relayout = Relayout { src, dst, bits };
            let ways = registers().into_iter().flat_map(|(isa, register)| {
                (0..64).step_by(tilewright_testing::cases(2, 6)).flat_map(move |at| {
                    [None, Some(1), Some(2 + at as u64)].map(|blocks| RunParameters {
                        isa,
                        register,
                        locality: Locality::Memory,
                        blocks,
                        src: BufferPosition::Behind(at * 7 + 1),
                        dst: BufferPosition::Behind(at + i % 2),
                    })
                })
            });
            assert!(relayout.check(ways) > 0, "{relayout:?}");
        }
    }
}

/// Extents of up to 6 dims, most of them suitable for registers.
fn extents() -> impl Strategy<Value = Vec<u64>> {
    let some = vec![1, 2, 3, 4, 4, 7, 8, 8, 10, 16, 16, 17, 32, 32, 33, 64, 96, 100, 128];
    prop::collection::vec(prop::sample::select(some), 2..=6).prop_map(|mut extents| {
        while extents.iter().product::<u64>() > if cfg!(miri) { 1 << 9 } else { 1 << 15 } {
            let most = extents.iter_mut().max().unwrap();
            *most = most.div_ceil(2);
        }
        extents
    })
}

fn width() -> impl Strategy<Value = u32> {
    prop::sample::select(WIDTHS.to_vec())
}

/// Strides of any order and sign, with gaps.
fn strides(extents: Vec<u64>) -> impl Strategy<Value = TensorLayout> {
    let rank = extents.len();
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let gap = prop_oneof![4 => Just(0), 1 => 1u64..5, 1 => Just(16), 1 => Just(64)];
    let gaps = prop::collection::vec(gap, rank);
    let back = prop::collection::vec(prop::bool::weighted(0.15), rank);
    (order, gaps, back).prop_map(move |(order, gaps, back)| strided(&extents, &order, &gaps, &back))
}

/// Up to three digits of every axis, in any order.
fn digits(extents: Vec<u64>) -> impl Strategy<Value = TensorLayout> {
    let rank = extents.len().min(4);
    let size = || prop::sample::select(vec![1, 1, 1, 2, 4, 8, 16, 3]);
    let sizes = prop::collection::vec((size(), size()), rank);
    let order = Just((0..3 * rank).collect::<Vec<_>>()).prop_shuffle();
    (sizes, order).prop_map(move |(sizes, order)| {
        let digit = |&i: &usize| {
            let axis = (i / 3) as u8;
            match i % 3 {
                0 => (axis, 0, sizes[i / 3].0),
                1 => (axis, 1, sizes[i / 3].1),
                _ => (axis, 2, 0),
            }
        };
        let mut all: Vec<_> = order.iter().map(digit).collect();
        all.splice(0..0, (rank..extents.len()).map(|axis| (axis as u8, 0, 0)));
        pattern(extents.len(), &all).layout(&extents).unwrap()
    })
}

fn layout(extents: Vec<u64>) -> impl Strategy<Value = TensorLayout> {
    prop_oneof![strides(extents.clone()), digits(extents)]
}

fn pair() -> impl Strategy<Value = (TensorLayout, TensorLayout)> {
    extents().prop_flat_map(|extents| (layout(extents.clone()), layout(extents)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    #[test]
    fn random_layouts((src, dst) in pair(), bits in width(), seed in 0u64..1000) {
        if dst.capacity().max(src.capacity()) * u64::from(bits) < 1 << 22 {
            Relayout { src, dst, bits }.check_all(&[None, Some(seed)]);
        }
    }
}

// Runs of one relayout in every way that a machine supports.

/// Elements of `bits` bits from one layout to another.
#[derive(Clone, Debug)]
pub(super) struct Relayout {
    pub(super) src: TensorLayout,
    pub(super) dst: TensorLayout,
    pub(super) bits: u32,
}

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunParameters {
    pub(super) isa: Isa,
    pub(super) register: usize,
    pub(super) locality: Locality,
    /// The shape of blocks: the planner's or, with a seed, a random multiple of a unit for each loop.
    pub(super) blocks: Option<u64>,
    pub(super) src: BufferPosition,
    pub(super) dst: BufferPosition,
}

/// Every instruction set with every register it has.
pub(super) fn registers() -> Vec<(Isa, usize)> {
    let sizes = |isa: Isa| [16, 32, 64].into_iter().filter(move |size| *size <= isa.register());
    here().flat_map(|isa| sizes(isa).map(move |size| (isa, size))).collect()
}

/// Positions at the start and the end of memory, on lines and between them.
pub(super) const PLACES: [(BufferPosition, BufferPosition); 6] = [
    (BufferPosition::Begins, BufferPosition::Begins),
    (BufferPosition::Ends, BufferPosition::Ends),
    (BufferPosition::Begins, BufferPosition::Ends),
    (BufferPosition::Ends, BufferPosition::Behind(16)),
    (BufferPosition::Behind(7), BufferPosition::Begins),
    (BufferPosition::Behind(61), BufferPosition::Behind(35)),
];

fn moved(source: &[u8], from: u64, out: &mut [u8], to: u64, bits: u64) {
    if bits.is_multiple_of(8) && from.is_multiple_of(8) && to.is_multiple_of(8) {
        let (from, to, len) = (from as usize / 8, to as usize / 8, bits as usize / 8);
        out[to..to + len].copy_from_slice(&source[from..from + len]);
        return;
    }
    for i in 0..bits {
        let (from, to) = (from + i, to + i);
        let set = source[(from / 8) as usize] >> (from % 8) & 1;
        let byte = &mut out[(to / 8) as usize];
        *byte = *byte & !(1 << (to % 8)) | set << (to % 8);
    }
}

/// The value of the bytes of the destination before a run.
const BEFORE: u8 = 0xA5;

impl Relayout {
    fn bytes(&self, layout: &TensorLayout) -> usize {
        (layout.capacity() * u64::from(self.bits)).div_ceil(8) as usize
    }

    /// Returns the expected bytes of the destination after a run, made one element after the other.
    fn expected(&self, source: &[u8]) -> Vec<u8> {
        let mut out = vec![BEFORE; self.bytes(&self.dst)];
        let bits = u64::from(self.bits);
        for index in 0..self.src.size() {
            let from = self.src.offset_of(index).unwrap() as u64 * bits;
            let to = self.dst.offset_of(index).unwrap() as u64 * bits;
            moved(source, from, &mut out, to, bits);
        }
        out
    }

    /// Checks all these ways; returns the number of those in which register transposes ran.
    pub(super) fn check(&self, ways: impl Iterator<Item = RunParameters>) -> usize {
        let plan = Plan::new(&self.src, &self.dst, Elements::same(self.bits), 0).unwrap();
        let Some(regions) = plan.0.program.regions() else { return 0 };
        let source = noise(self.bytes(&self.src), self.src.size());
        let expected = self.expected(&source);
        let mut scratch = Scratch::default();
        let mut transposed = 0;
        for way in ways {
            let mut from = Guarded::holding(&source, way.src);
            let mut to = Guarded::holding(&vec![BEFORE; expected.len()], way.dst);
            let mut any = false;
            for region in regions {
                let (part, bits) = (region.whole(), region.src_unit(plan.elements()));
                if !way.transpose(&part, bits, from.bytes(), to.bytes(), &mut scratch) {
                    naive(&part, bits, from.bytes(), to.bytes());
                } else {
                    any = true;
                }
            }
            transposed += usize::from(any);
            if to.bytes() != expected || !to.is_intact() {
                let at = to.bytes().iter().zip(&expected).position(|(found, own)| found != own);
                panic!("{way:?}\n{self:?}\nintact: {}, first at {at:?}\n{plan}", to.is_intact());
            }
        }
        transposed
    }

    /// Checks every register with these blocks, near and far; the positions are used in turn.
    pub(super) fn check_all(&self, blocks: &[Option<u64>]) -> usize {
        let mut places = PLACES.iter().copied().cycle();
        let mut ways = Vec::new();
        for (isa, register) in registers() {
            for locality in [Locality::Cache, Locality::Arriving, Locality::Memory] {
                for &blocks in blocks {
                    // At two positions of both sides, or at one.
                    for _ in 0..tilewright_testing::cases(2, 1) {
                        let (src, dst) = places.next().unwrap();
                        ways.push(RunParameters { isa, register, locality, blocks, src, dst });
                    }
                }
            }
            // Ways and positions are combined so that they do not stay in step.
            places.next();
        }
        self.check(ways.into_iter())
    }
}

impl RunParameters {
    /// Runs a register transpose of a part, if there is one.
    fn transpose(
        &self,
        part: &RegionRef<'_>,
        bits: u32,
        src: &[u8],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> bool {
        let made = match self.blocks {
            None => RegisterTranspose::of(part, bits, self.register, self.locality),
            Some(seed) => {
                let shape = |units: &[u64]| {
                    let of = |(i, unit): (usize, &u64)| {
                        let some = u64::from(noise(i + 1, seed)[i]) % 7;
                        (unit + some * (unit + 1) / 2).min(part.loops[i].extent)
                    };
                    units.iter().enumerate().map(of).collect()
                };
                RegisterTranspose::shaped(part, bits, self.register, self.locality, &shape)
            }
        };
        let Some(made) = made.filter(|made| made.register == self.register) else { return false };
        let Some((from, to)) = made.begins(part, bits) else { return false };
        // Some runs prefetch other lines meanwhile, which may be anywhere.
        let lines = [0, 64, -4096, i64::MAX, 640];
        let prefetch = Prefetch::of(src, 7, &lines, out.len());
        let prefetch = self.blocks.is_some_and(|seed| seed % 2 == 1).then_some(&prefetch);
        transpose(self.isa, &made, part, (src, from), (out, to), prefetch, scratch)
    }
}

/// Moves a part run by run.
fn naive(part: &RegionRef<'_>, bits: u32, src: &[u8], out: &mut [u8]) {
    let bits = u64::from(bits);
    for_each(part.loops, part.src, part.dst, &mut |from, to| {
        rows::copy_bits(src, from as u64 * bits, out, to as u64 * bits, part.run * bits);
    });
}
