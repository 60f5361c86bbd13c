//! Tests of the kernels against a naive loop: every instruction set that this machine has, every register
//! size, data in caches and out of them, blocks of every shape, and buffers between unmapped pages.
//!
//! # Guarded buffers
//!
//! Buffers next to unmapped pages, so that an access beyond them faults. The bytes around a buffer on its own pages are
//! checked too.
#![cfg(test)]

mod cases;
mod every;

use proptest::prelude::*;
use tilewright_testing::noise;

use super::{
    Isa, Scratch,
    isa::{Vector, Words},
    rows,
};
use crate::program::region::{Loop, RegionRef, for_each};

/// The instruction sets of this machine.
fn here() -> impl Iterator<Item = Isa> {
    Isa::ALL.iter().copied().filter(|isa| isa.is_here())
}

/// All of them, or, under Miri, every `of`th one.
pub(super) fn some<T: Copy>(all: &[T], of: usize) -> impl Iterator<Item = T> + Clone + '_ {
    let step = if cfg!(miri) { of } else { 1 };
    all.iter().copied().skip(step / 2).step_by(step)
}

/// The position of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferPosition {
    /// After an unmapped page, so on a line.
    Begins,
    /// Before an unmapped page.
    Ends,
    /// This number of bytes after the start of a page.
    Behind(usize),
}

/// The value of the bytes around a buffer.
const AROUND: u8 = 0xC7;

/// A buffer of exactly `len` bytes.
pub(super) struct Guarded {
    pages: Pages,
    at: usize,
    len: usize,
}

impl Guarded {
    pub(super) fn new(len: usize, place: BufferPosition) -> Guarded {
        let mut pages = Pages::new(len + 64);
        let all = pages.bytes().len();
        let at = match place {
            BufferPosition::Begins => 0,
            BufferPosition::Ends => all - len,
            BufferPosition::Behind(at) => at % 64,
        };
        pages.bytes().fill(AROUND);
        Guarded { pages, at, len }
    }

    pub(super) fn holding(bytes: &[u8], place: BufferPosition) -> Guarded {
        let mut guarded = Guarded::new(bytes.len(), place);
        guarded.bytes().copy_from_slice(bytes);
        guarded
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        &mut self.pages.bytes()[self.at..][..self.len]
    }

    /// Returns whether nothing outside the buffer was written.
    pub(super) fn is_intact(&mut self) -> bool {
        let (at, end) = (self.at, self.at + self.len);
        let all = self.pages.bytes();
        all[..at].iter().chain(&all[end..]).all(|byte| *byte == AROUND)
    }
}

/// Whole pages between two that are not mapped.
#[cfg(all(target_os = "linux", not(miri)))]
struct Pages {
    first: *mut core::ffi::c_void,
    /// The bytes of the pages in between.
    len: usize,
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Pages {
    fn new(len: usize) -> Pages {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        let page = rustix::param::page_size();
        let len = len.next_multiple_of(page);
        // SAFETY: new pages at an address that the system chooses; the bytes that become accessible are among them.
        unsafe {
            let none = ProtFlags::empty();
            let all = len + 2 * page;
            let first = mmap_anonymous(core::ptr::null_mut(), all, none, MapFlags::PRIVATE);
            let first = first.expect("some pages");
            let middle = first.byte_add(page);
            mprotect(middle, len, MprotectFlags::READ | MprotectFlags::WRITE).expect("pages");
            Pages { first, len }
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        let middle = self.first.wrapping_byte_add(rustix::param::page_size());
        // SAFETY: `len` bytes from `middle` on are mapped, readable, writable and zeroed, as `new` left them;
        // only `self` has their address.
        unsafe { core::slice::from_raw_parts_mut(middle.cast(), self.len) }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Drop for Pages {
    fn drop(&mut self) {
        let all = self.len + 2 * rustix::param::page_size();
        // SAFETY: these pages were mapped by `new`, and no borrow of them exists any more.
        unsafe { rustix::mm::munmap(self.first, all) }.expect("pages of our own");
    }
}

/// 64 bytes on a line.
#[cfg(not(all(target_os = "linux", not(miri))))]
#[derive(Clone)]
#[repr(align(64))]
#[allow(dead_code, reason = "its bytes are borrowed as a part of all lines")]
struct CacheLine([u8; 64]);

/// Heap memory on a line, for other systems and Miri, which knows its bounds.
#[cfg(not(all(target_os = "linux", not(miri))))]
struct Pages(Vec<CacheLine>);

#[cfg(not(all(target_os = "linux", not(miri))))]
impl Pages {
    fn new(len: usize) -> Pages {
        Pages(vec![CacheLine([0; 64]); len.div_ceil(64)])
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = size_of_val(&*self.0);
        // SAFETY: the lines are `len` bytes, for a line is 64 of them and as long as it is aligned; they are
        // borrowed from `self`.
        unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}

// Tests of every operation of every kind of register against a model of its bits.

fn bit(bytes: &[u8], at: usize) -> bool {
    bytes[at / 8] >> (at % 8) & 1 == 1
}

fn load<V: Vector>(bytes: &[u8]) -> V {
    assert_eq!(bytes.len(), V::BYTES);
    // SAFETY: `bytes` has the length of a register, as asserted; callers checked the instruction set.
    unsafe { V::load(bytes.as_ptr()) }
}

fn stored<V: Vector>(register: V, place: BufferPosition) -> Vec<u8> {
    let mut to = Guarded::new(V::BYTES, place);
    // SAFETY: `to` has the length of a register; callers checked the instruction set.
    unsafe { register.store(to.bytes().as_mut_ptr()) };
    assert!(to.is_intact());
    to.bytes().to_vec()
}

/// The element of the pair at `(register, bit)` comes from the position with the two bits exchanged.
fn exchanges<V: Vector>() {
    for level in 0..(8 * V::BYTES).ilog2() {
        for seed in 0..8 {
            let pair = [noise(V::BYTES, 2 * seed), noise(V::BYTES, 2 * seed + 1)];
            // SAFETY: the level is one of the register; callers checked the instruction set.
            let (a, b) = unsafe { V::exchange(level as u8, load(&pair[0]), load(&pair[1])) };
            for (which, register) in [a, b].into_iter().enumerate() {
                let found = stored(register, BufferPosition::Ends);
                for at in 0..8 * V::BYTES {
                    let (from, rest) = (at >> level & 1, at & !(1 << level));
                    let expected = bit(&pair[from], rest | which << level);
                    assert_eq!(bit(&found, at), expected, "level {level}, {which}, bit {at}");
                }
            }
        }
    }
}

fn arrangements<V: Vector>() {
    let bytes = V::BYTES;
    let same: Vec<u8> = (0..bytes as u8).collect();
    let turned = same.iter().rev().copied().collect();
    let mut tables = vec![same, turned];
    tables.extend(
        (0..if cfg!(miri) { 20 } else { 200 }).map(|seed| {
            noise(bytes, seed).iter().map(|byte| byte % bytes as u8).collect::<Vec<u8>>()
        }),
    );
    for (seed, table) in tables.into_iter().enumerate() {
        let from = noise(bytes, seed as u64 + 7);
        let mut held = Guarded::holding(&table, BufferPosition::Ends);
        // SAFETY: the table has the length of a register; callers checked the instruction set.
        let found = unsafe { load::<V>(&from).arrange(held.bytes().as_ptr()) };
        let expected: Vec<u8> = table.iter().map(|at| from[usize::from(*at)]).collect();
        assert_eq!(stored(found, BufferPosition::Begins), expected, "{table:?}");
    }
}

/// Checks that loads, stores and short copies touch the right bytes at the very end of memory, and no others.
fn bounds<V: Vector>() {
    for place in [
        BufferPosition::Begins,
        BufferPosition::Ends,
        BufferPosition::Behind(1),
        BufferPosition::Behind(33),
    ] {
        let bytes = noise(V::BYTES, 3);
        let mut from = Guarded::holding(&bytes, place);
        assert_eq!(stored(load::<V>(from.bytes()), place), bytes);
        for len in 0..64 {
            let bytes = noise(len, 5);
            let (mut from, mut to) = (Guarded::holding(&bytes, place), Guarded::new(len, place));
            // SAFETY: both have `len` bytes, below 64; callers checked the instruction set.
            unsafe { V::copy_short(from.bytes().as_ptr(), to.bytes().as_mut_ptr(), len) };
            assert!(to.bytes() == bytes && to.is_intact(), "{len} bytes");
        }
    }
    let bytes = noise(V::BYTES, 4);
    for place in [BufferPosition::Begins, BufferPosition::Ends] {
        let mut to = Guarded::new(V::BYTES, place);
        // SAFETY: pages begin and end on lines; callers checked the instruction set.
        unsafe { load::<V>(&bytes).stream(to.bytes().as_mut_ptr()) };
        V::fence();
        assert!(to.bytes() == bytes && to.is_intact());
    }
}

/// Checks `count` bytes of one register followed by the rest of another, for each count.
fn splices<V: Vector>() {
    let (own, rest) = (noise(V::BYTES, 8), noise(V::BYTES, 9));
    for count in 0..=V::BYTES {
        // SAFETY: the count is at most a register's; callers checked the instruction set.
        let found = unsafe { load::<V>(&own).splice(load(&rest), count) };
        let expected = [&own[..count], &rest[count..]].concat();
        assert_eq!(stored(found, BufferPosition::Ends), expected, "{count}");
    }
}

fn all<V: Vector>() {
    assert!(V::BYTES.is_power_of_two() && V::BYTES >= 16);
    exchanges::<V>();
    arrangements::<V>();
    splices::<V>();
    bounds::<V>();
    // Prefetches of addresses that are not mapped.
    V::prefetch(core::ptr::without_provenance(64));
    V::prefetch_to_write(core::ptr::without_provenance(64));
}

#[test]
fn every_register_exchanges_arranges_and_copies_as_the_model() {
    for isa in here() {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => all::<super::x86_64::Zmm>(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => {
                all::<super::x86_64::Ymm>();
                all::<super::x86_64::Xmm>();
            }
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => all::<super::isa::neon::Quad>(),
            Isa::Generic => all::<Words>(),
        }
    }
}

// Tests of runs moved in blocks, against one run copied after the other.

const BEFORE: u8 = 0xA5;

/// A part that begins at the first byte of both sides, with the bytes from the lowest to the highest.
#[derive(Clone, Debug)]
struct RunCase {
    run: u64,
    loops: Vec<Loop>,
}

impl RunCase {
    /// RunCase of `run` bytes in loops of these extents, the outermost of the source first; `order` has the loops of the
    /// destination, the outermost first. `gaps` has the unused bytes after each loop on both sides, the innermost
    /// first; loops with `back` run backward in the source.
    fn of(
        run: u64,
        extents: &[u64],
        order: &[usize],
        gaps: &[(i64, i64)],
        back: &[bool],
    ) -> RunCase {
        let mut loops: Vec<Loop> =
            extents.iter().map(|extent| Loop { extent: *extent, src: 0, dst: 0 }).collect();
        let gap = |i: usize| gaps.get(i).copied().unwrap_or_default();
        let (mut src, mut dst) = (run as i64 + gap(0).0, run as i64 + gap(0).1);
        for (i, (level, extent)) in loops.iter_mut().zip(extents).enumerate().rev() {
            level.src = if back.get(i).is_some_and(|back| *back) { -src } else { src };
            src = src * *extent as i64 + gap(extents.len() - i).0;
        }
        for (i, at) in order.iter().rev().enumerate() {
            loops[*at].dst = dst;
            dst = dst * extents[*at] as i64 + gap(i + 1).1;
        }
        loops.sort_by_key(|level| core::cmp::Reverse(level.dst));
        RunCase { run, loops }
    }

    fn part(&self) -> RegionRef<'_> {
        let src = self.loops.iter().map(|level| -level.src_reach().min(0)).sum();
        RegionRef { packed: false, src, dst: 0, run: self.run, loops: &self.loops }
    }

    /// Moves them from and to these positions with every instruction set.
    fn check(&self, places: impl IntoIterator<Item = (BufferPosition, BufferPosition)>) {
        let part = self.part();
        let locality = |of: fn(&Loop) -> i64| {
            self.loops.iter().map(|level| of(level).unsigned_abs()).sum::<u64>() + self.run
        };
        let source = noise(locality(Loop::src_reach) as usize, self.run);
        let mut expected = vec![BEFORE; locality(Loop::dst_reach) as usize];
        for_each(part.loops, part.src, 0, &mut |from, to| {
            let (from, to, run) = (from as usize, to as usize, self.run as usize);
            expected[to..][..run].copy_from_slice(&source[from..][..run]);
        });
        let before = vec![BEFORE; expected.len()];
        let mut scratch = Scratch::default();
        for (src, dst) in places {
            let mut from = Guarded::holding(&source, src);
            let mut to = Guarded::holding(&before, dst);
            for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
                to.bytes().fill(BEFORE);
                rows::rows_far(isa, &part, from.bytes(), to.bytes(), &mut scratch);
                if to.bytes() != expected || !to.is_intact() {
                    let at = to.bytes().iter().zip(&expected).position(|(found, own)| found != own);
                    panic!("{} {src:?} {dst:?} first at {at:?}: {self:?}", isa.name());
                }
            }
        }
    }
}

/// Every alignment within a line on one side, with some of the other.
fn phases() -> Vec<(BufferPosition, BufferPosition)> {
    let step = if cfg!(miri) { 21 } else { 1 };
    let of = |at: usize| {
        [
            (BufferPosition::Behind(at * 5), BufferPosition::Behind(at)),
            (BufferPosition::Behind(at), BufferPosition::Behind(16)),
        ]
    };
    let ends = [
        (BufferPosition::Ends, BufferPosition::Ends),
        (BufferPosition::Begins, BufferPosition::Ends),
        (BufferPosition::Ends, BufferPosition::Begins),
    ];
    (0..64).step_by(step).flat_map(of).chain(ends).collect()
}

#[test]
fn runs_of_every_length_are_joined_at_every_phase() {
    let lengths = [64, 65, 66, 80, 96, 100, 127, 128, 129, 192, 250, 256, 300, 511, 520, 1100];
    for run in some(&lengths, 9) {
        // Streams that end after a run, within a block, and after some blocks.
        for extents in some(&[[3, 5], [2, 40], [40, 3], [11, 23]], 3) {
            RunCase::of(run, &extents, &[1, 0], &[], &[]).check(phases());
        }
    }
}

#[test]
fn lines_are_carried_from_block_to_block() {
    let places = [
        (BufferPosition::Behind(3), BufferPosition::Behind(16)),
        (BufferPosition::Ends, BufferPosition::Ends),
    ];
    let cases: &[(u64, &[u64], &[usize])] = if cfg!(miri) {
        &[(512, &[20, 4], &[1, 0])]
    } else {
        &[
            (64, &[70, 80], &[1, 0]),
            (100, &[130, 90], &[1, 0]),
            (256, &[3, 50, 40], &[0, 2, 1]),
            (520, &[37, 5, 11], &[2, 1, 0]),
            (72, &[3, 9, 11, 13, 7], &[4, 3, 2, 1, 0]),
            (1100, &[37, 5, 11], &[2, 0, 1]),
            (4100, &[7, 5, 3], &[2, 0, 1]),
        ]
    };
    for (run, extents, order) in cases {
        RunCase::of(*run, extents, order, &[], &[]).check(places);
        let back: Vec<bool> = (0..extents.len()).map(|i| i % 2 == 0).collect();
        RunCase::of(*run, extents, order, &[], &back).check(places);
    }
}

#[test]
#[cfg_attr(miri, ignore = "megabytes take hours")]
fn more_streams_than_lines_are_carried_for_go_one_by_one() {
    let places = [(BufferPosition::Behind(48), BufferPosition::Behind(5))];
    RunCase::of(64, &[70, 4500], &[1, 0], &[], &[]).check(places);
}

#[test]
fn long_runs_are_blocks_of_their_own() {
    for run in some(&[8192, 8193, 8255, 20_000], 4) {
        for extents in some(&[[3, 2], [2, 5]], 2) {
            RunCase::of(run, &extents, &[1, 0], &[], &[]).check(phases().into_iter().step_by(13));
        }
        RunCase { run, loops: Vec::new() }.check(phases().into_iter().step_by(7));
    }
}

#[test]
fn what_lies_between_runs_stays() {
    for run in some(&[64, 77, 200, 300, 1500], 5) {
        for gap in some(&[1, 5, 16, 64], 4) {
            for gaps in some(&[[(0, gap)], [(gap, 0)], [(gap, 2 * gap)]], 3) {
                let places = phases().into_iter().step_by(5);
                RunCase::of(run, &[9, 30], &[0, 1], &gaps, &[]).check(places.clone());
                RunCase::of(run, &[9, 6], &[1, 0], &[(0, 0), gaps[0]], &[]).check(places);
            }
        }
    }
}

fn runs() -> impl Strategy<Value = RunCase> {
    (1usize..=5).prop_flat_map(|rank| {
        let extent = prop_oneof![4 => 2u64..8, 1 => 8u64..40];
        let extents = prop::collection::vec(extent, rank);
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        let gap = || prop_oneof![5 => Just(0i64), 1 => 1i64..100, 1 => Just(64)];
        let gaps = prop::collection::vec((gap(), gap()), rank + 1);
        let back = prop::collection::vec(prop::bool::weighted(0.2), rank);
        let run =
            prop_oneof![2 => 64u64..200, 2 => 64u64..700, 1 => (1u64..20).prop_map(|n| n * 64)];
        (run, extents, order, gaps, back).prop_map(|(run, mut extents, order, gaps, back)| {
            while extents.iter().product::<u64>() * run > if cfg!(miri) { 1 << 11 } else { 1 << 18 }
            {
                let Some(most) = extents.iter_mut().max().filter(|most| **most > 2) else { break };
                *most = most.div_ceil(2);
            }
            RunCase::of(run, &extents, &order, &gaps, &back)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { 400 },
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_runs(runs in runs(), src in 0usize..64, dst in 0usize..64) {
        runs.check([(BufferPosition::Behind(src), BufferPosition::Behind(dst)), (BufferPosition::Ends, BufferPosition::Ends)]);
    }
}
