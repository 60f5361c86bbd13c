//! Tests of every way of moving a region, and of every table, for all alignments of buffers: at each byte of a line on
//! both sides, in every instruction set, near and far.
//!
//! Law: a way moves every element of a region to its position, and touches nothing else. The cases are small, so that
//! Miri runs all of them. Two-pass moves consist of two of the other ways, so there is no case for them.

use tilewright_testing::{bit, set_bit};

use super::{super::Tools, here, noise};
use crate::{
    Elements, Extend,
    cpu::{
        kernel::suite::{BufferPosition, Guarded},
        scratch::Scratch,
        transpose::Locality,
        way::{Terms, Way, WayKind},
    },
    program::{
        region::{Loop, RegionRef, for_each},
        walk::Leaf,
    },
};

const BEFORE: u8 = 0xA5;

/// A region whose lowest unit is at unit 0 of either side.
struct Case {
    kind: WayKind,
    locality: Locality,
    elements: Elements,
    packed: bool,
    run: u64,
    loops: Vec<Loop>,
    /// Under Miri, only every `stride`th alignment is tested; each case of a kind begins with another one.
    stride: usize,
}

/// Bytes, in loops of (extent, source, destination).
fn bytes(kind: WayKind, locality: Locality, run: u64, loops: &[(u64, i64, i64)]) -> Case {
    let level = |&(extent, src, dst): &(u64, i64, i64)| Loop { extent, src, dst };
    let loops = loops.iter().map(level).collect();
    Case { kind, locality, elements: Elements::same(8), packed: false, run, loops, stride: 1 }
}

/// Packed elements.
fn packed(kind: WayKind, elements: Elements, run: u64, loops: &[(u64, i64, i64)]) -> Case {
    Case { elements, packed: true, ..bytes(kind, Locality::Memory, run, loops) }
}

/// Cases for each kind of way, as registers choose it; portable words may choose another kind.
fn cases() -> Vec<Case> {
    let field = |src_bits, dst_bits, extend| Elements { src_bits, dst_bits, extend };
    let transposed = |rows: i64, columns: i64, width: i64| {
        let level = |extent: i64, src, dst| (extent as u64, src * width, dst * width);
        [level(columns, 1, rows), level(rows, columns, 1)]
    };
    let mut all = vec![
        packed(WayKind::Field, field(4, 8, Extend::Sign), 600, &[(2, 603, 605)]),
        packed(WayKind::Field, field(8, 4, Extend::Zero), 600, &[(2, 605, 603)]),
        packed(WayKind::Field, field(1, 8, Extend::Zero), 2100, &[]),
        packed(WayKind::Field, field(8, 2, Extend::Zero), 1100, &[]),
        packed(WayKind::Bits, Elements::same(4), 41, &[(5, 43, 45)]),
        packed(WayKind::Bits, Elements::same(1), 99, &[(3, 101, 107)]),
        packed(WayKind::RegisterTranspose, Elements::same(4), 1, &transposed(64, 64, 1)),
        packed(WayKind::Blocks, Elements::same(4), 1, &transposed(5, 7, 1)),
        packed(WayKind::Gather, Elements::same(2), 1, &[(9, 300, 1)]),
        packed(WayKind::Gather, field(4, 16, Extend::Sign), 3, &[(4, 5, 3)]),
    ];
    for locality in [Locality::Cache, Locality::Memory] {
        all.extend([
            bytes(WayKind::Rows, locality, 70, &[(3, 75, 145), (2, 225, 70)]),
            bytes(WayKind::Rows, locality, 128, &[(3, 128, 256), (2, 384, 128)]),
            bytes(WayKind::Rows, locality, 5000, &[]),
            bytes(WayKind::Rows, locality, 40, &[(5, 40, 47)]),
            bytes(WayKind::Interleave, locality, 4, &[(200, 4, 12), (3, 800, 4)]),
            bytes(WayKind::Interleave, locality, 4, &[(3, 4, 800), (200, 12, 4)]),
            bytes(WayKind::StridedPack, locality, 4, &[(200, 8, 4)]),
            bytes(WayKind::StridedPack, locality, 2, &[(300, 10, 2)]),
            bytes(WayKind::TiledTranspose, locality, 4, &transposed(17, 19, 4)),
            bytes(WayKind::TiledTranspose, locality, 1, &transposed(9, 40, 1)),
            bytes(WayKind::TiledTranspose, locality, 6, &transposed(11, 13, 6)),
            bytes(WayKind::RegisterTranspose, locality, 1, &transposed(64, 64, 1)),
            bytes(WayKind::RegisterTranspose, locality, 4, &transposed(32, 32, 4)),
            bytes(WayKind::RegisterTranspose, locality, 16, &transposed(16, 16, 16)),
            bytes(WayKind::Blocks, locality, 1, &transposed(5, 7, 1)),
            bytes(WayKind::Gather, locality, 2, &[(9, 300, 2)]),
        ]);
    }
    // At most the number of cases of a kind, so that these cases together cover every alignment.
    for case in &mut all {
        case.stride = match case.kind {
            WayKind::RegisterTranspose => 7,
            WayKind::Bits | WayKind::Blocks => 2,
            _ => 4, // open set
        };
    }
    all
}

/// The bits of a unit on either side.
fn widths(case: &Case) -> (u64, u64) {
    match case.packed {
        true => (case.elements.src_bits.into(), case.elements.dst_bits.into()),
        false => (8, 8),
    }
}

/// Moves the runs of a case one by one, packed ones bit by bit.
fn naive(case: &Case, source: &[u8], out: &mut [u8]) {
    let ((from, to), sign) = (widths(case), case.elements.extend == Extend::Sign);
    for_each(&case.loops, 0, 0, &mut |src, dst| {
        if !case.packed {
            let (src, dst, run) = (src as usize, dst as usize, case.run as usize);
            return out[dst..][..run].copy_from_slice(&source[src..][..run]);
        }
        for i in 0..case.run {
            let (src, dst) = ((src as u64 + i) * from, (dst as u64 + i) * to);
            for bit_of in 0..to {
                let at = src + bit_of.min(from - 1);
                let value = (bit_of < from || sign) && bit(source, at);
                set_bit(out, dst + bit_of, value);
            }
        }
    });
}

/// Runs a case in every instruction set at every alignment within a line, and returns the kinds that ran.
fn check((number, case): (usize, &Case)) -> Vec<WayKind> {
    let (from, to) = widths(case);
    let locality = |of: fn(&Loop) -> i64, width: u64| {
        let units = case.loops.iter().map(of).sum::<i64>() as u64 + case.run;
        (units * width).div_ceil(8) as usize
    };
    let source = noise(locality(Loop::src_reach, from), case.run);
    let before = vec![BEFORE; locality(Loop::dst_reach, to)];
    let mut expected = before.clone();
    naive(case, &source, &mut expected);
    let Case { locality, elements, packed, run, .. } = *case;
    let part = RegionRef { packed, src: 0, dst: 0, run, loops: &case.loops };
    let step = if cfg!(miri) { case.stride } else { 1 };
    let first = number % step;
    let mut kinds = vec![];
    for isa in here() {
        let (way, mut scratch) =
            (Way::of(&part, Terms { elements, isa, locality }), Scratch::default());
        let behind = (first..64)
            .step_by(step)
            .map(|at| (BufferPosition::Behind(5 * at + 2), BufferPosition::Behind(at)));
        for (src, dst) in behind.chain([(BufferPosition::Ends, BufferPosition::Ends)]) {
            let (mut from, mut to) =
                (Guarded::holding(&source, src), Guarded::holding(&before, dst));
            let scratch = &mut scratch;
            let mut tools = Tools { elements, isa, locality, prefetch: None, ahead: 0, scratch };
            kinds.push(way.run(&mut tools, &part, from.bytes(), to.bytes()));
            let what = || format!("{:?} {way:?} {} {src:?} {dst:?}", case.kind, isa.name());
            assert!(to.bytes() == expected && to.is_intact(), "{}", what());
        }
    }
    kinds
}

/// Checks the cases of a kind, and that it runs them in some instruction set.
fn check_all(kind: WayKind) {
    let cases = cases();
    let own = cases.iter().filter(|case| case.kind == kind);
    let ran: Vec<_> = own.enumerate().map(check).collect();
    assert!(!ran.is_empty() && ran.iter().all(|ran| ran.contains(&kind)), "{kind:?}: {ran:?}");
}

/// A test for each kind of way: it moves regions from and to every byte of a line.
mod at_every_byte {
    use super::*;

    #[test]
    fn rows() {
        check_all(WayKind::Rows);
    }

    #[test]
    fn interleave() {
        check_all(WayKind::Interleave);
    }

    #[test]
    fn strided_pack() {
        check_all(WayKind::StridedPack);
    }

    #[test]
    fn tiled_transpose() {
        check_all(WayKind::TiledTranspose);
    }

    #[test]
    fn transpose() {
        check_all(WayKind::RegisterTranspose);
    }

    #[test]
    fn field() {
        check_all(WayKind::Field);
    }

    #[test]
    fn bits() {
        check_all(WayKind::Bits);
    }

    #[test]
    fn blocks() {
        check_all(WayKind::Blocks);
    }

    #[test]
    fn gather() {
        check_all(WayKind::Gather);
    }
}

/// Entries at any offsets, so that runs of every length with specialised code, and of others, are anywhere.
#[test]
fn tables_move_runs_of_every_length_from_and_to_every_byte() {
    let (outer, inner) = ([(0, 4), (9, 0), (5, 9)], [(1, 0), (0, 2)]);
    for (bits, run) in [
        (8, 1),
        (8, 2),
        (8, 3),
        (32, 1),
        (16, 3),
        (64, 1),
        (32, 3),
        (128, 1),
        (64, 4),
        (64, 8),
        (8, 5),
        (4, 1),
        (4, 7),
        (1, 19),
    ] {
        // Entries are whole runs apart.
        let apart = |entry: &(i64, i64)| (entry.0 * run, entry.1 * run);
        let (outer, inner) = (outer.each_ref().map(apart), inner.each_ref().map(apart));
        let leaf = Leaf { outer: &outer, inner: &inner, run: run as u64 };
        let len = (12 * run as usize * bits as usize).div_ceil(8);
        let (source, mut expected) = (noise(len, 3), vec![BEFORE; len]);
        let each = outer.iter().flat_map(|a| inner.map(|b| (a.0 + b.0, a.1 + b.1)));
        for (from, to) in each {
            let width = u64::from(bits);
            for i in 0..run as u64 * width {
                let value = bit(&source, from as u64 * width + i);
                set_bit(&mut expected, to as u64 * width + i, value);
            }
        }
        let behind =
            (0..64).map(|at| (BufferPosition::Behind(5 * at + 2), BufferPosition::Behind(at)));
        for (src, dst) in behind.chain([(BufferPosition::Ends, BufferPosition::Ends)]) {
            let mut from = Guarded::holding(&source, src);
            let mut to = Guarded::holding(&vec![BEFORE; len], dst);
            crate::cpu::kernel::table(
                Elements::same(bits),
                &leaf,
                (0, 0),
                from.bytes(),
                to.bytes(),
            );
            let same = to.bytes() == expected && to.is_intact();
            assert!(same, "{bits} bits, {run}: {src:?} {dst:?}");
        }
    }
}
