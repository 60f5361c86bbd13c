//! Interleaving of 3, 5, 6 or 7 rows, deinterleaving of one, and strided pack: kernels that permute the bytes of a few
//! registers by tables.
//!
//! Rows are interleaved element by element into one row (*join*), and one row is deinterleaved into that many (*deal*). The
//! bytes of `n` registers that are read are the bytes of `n` registers that are written. A table for each pair of a written
//! and a read register selects the bytes.
//!
//! Strided pack takes every `n`th element of a row. Each written register takes its bytes from `n` read registers, by a table
//! for each of them.

use super::{
    Tools,
    isa::Isa,
    isa::Vector,
    strip::{self, Make, RowStage, Strip},
};
use crate::{
    cpu::{cost, transpose::Locality},
    program::region::{Loop, RegionRef},
};

/// For each written register and each read register, the source of each byte; [`KEPT`] for bytes from other registers.
pub(super) type ByteTables<const N: usize> = [[[u8; 64]; N]; N];

/// The mark of a byte that comes from another register, for [`Vector::pick`].
pub(super) const KEPT: u8 = 0x80;

/// Returns the tables for registers of `register` bytes with elements of `width` bytes: they interleave the elements of
/// `n` rows or, unless `joins`, collect every `n`th element. The tables of the first written register come first.
pub(super) fn tables(n: usize, width: usize, register: usize, joins: bool) -> Box<[[u8; 64]]> {
    let mut tables = vec![[KEPT; 64]; n * n];
    for to in 0..n * register {
        let (element, byte) = (to / width, to % width);
        let from = if joins {
            element % n * register + element / n * width + byte
        } else {
            let (row, i) = (to / register, to % register / width);
            (i * n + row) * width + byte
        };
        let table = to / register * n + from / register;
        tables[table][to % register] = (from % register) as u8;
    }
    // The first register is rearranged, so its table needs a source for every byte.
    for table in tables.iter_mut().step_by(n) {
        table.iter_mut().filter(|byte| **byte == KEPT).for_each(|byte| *byte = 0);
    }
    tables.into_boxed_slice()
}

/// Returns the first `N * N` tables of [`tables`] as an array of `N` rows of `N`.
pub(super) fn sized<const N: usize>(tables: &[[u8; 64]]) -> &ByteTables<N> {
    let rows = tables.as_chunks::<N>().0;
    rows.first_chunk().expect("there is a table for each register out and each register in")
}

/// Returns the written registers.
///
/// # Safety
/// The tables were made for registers of `V`; the machine has the instruction set.
#[inline(always)]
pub(super) unsafe fn spread<V: Vector, const N: usize>(
    rows: [V; N],
    tables: &ByteTables<N>,
) -> [V; N] {
    let mut out = rows;
    for k in 0..N {
        // SAFETY: `# Safety` of `spread`: the tables were made for registers of `V`, and the machine has the
        // instruction set.
        out[k] = unsafe { pick_all(rows, &tables[k]) };
    }
    out
}

/// Returns one written register.
///
/// # Safety
/// Those of [`spread`].
#[inline(always)]
pub(super) unsafe fn pick_all<V: Vector, const N: usize>(
    rows: [V; N],
    tables: &[[u8; 64]; N],
) -> V {
    // SAFETY: tables have 64 bytes, those of the first register below its bytes.
    unsafe {
        let mut out = rows[0].arrange(tables[0].as_ptr());
        for i in 1..N {
            out = out.pick(rows[i], tables[i].as_ptr());
        }
        out
    }
}

/// Reads a register of each of `N` rows.
struct ReadRows<'a, const N: usize> {
    tables: &'a ByteTables<N>,
    /// The distance between rows; the bytes of a register if there is only one row.
    apart: isize,
}

impl<const N: usize> Make<N> for ReadRows<'_, N> {
    /// Reads a register at each of the distances from `from`.
    #[inline(always)]
    unsafe fn make<V: Vector>(&self, from: *const u8) -> [V; N] {
        // SAFETY: `# Safety` of `Make::make`: every byte that this step reads is readable, a register at each multiple
        // of `apart` below `N`. The tables were made for registers of `V`: `Interleave::of` makes both of `register`
        // bytes.
        unsafe {
            let mut rows = [V::load(from); N];
            for (i, row) in rows.iter_mut().enumerate().skip(1) {
                *row = V::load(from.offset(i as isize * self.apart));
            }
            spread(rows, self.tables)
        }
    }

    #[inline(always)]
    fn prefetch<V: Vector>(&self, from: *const u8) {
        for i in 0..N as isize {
            V::prefetch(from.wrapping_offset(i * self.apart));
        }
    }
}

/// The parameters of a region of a few rows.
#[derive(Clone, Debug)]
pub(crate) struct Interleave {
    /// The number of rows.
    n: usize,
    /// True if rows are joined into one, rather than dealt out of one.
    joins: bool,
    /// The distance between rows, and the bytes of each.
    apart: i64,
    len: usize,
    register: usize,
    /// The position of the loop that runs along the rows besides the last loop.
    minor: usize,
    /// That loop, the last loop, and the run.
    loops: (Loop, Loop),
    run: u64,
    tables: Box<[[u8; 64]]>,
}

impl Interleave {
    /// Returns the parameters for a region; `None` if it does not have a few rows, or is too small for tables.
    pub(crate) fn of(isa: Isa, region: &RegionRef<'_>) -> Option<Interleave> {
        let (d, rest) = region.loops.split_last()?;
        let run = i64::try_from(region.run).ok().filter(|run| !region.packed && *run <= 32)?;
        let minor = rest.iter().position(|level| level.src == run)?;
        let s = rest[minor];
        // Powers of two are permutations of address bits and need no tables.
        let few = |level: &Loop| matches!(level.extent, 3 | 5 | 6 | 7);
        let joins = few(d) && d.dst == run && s.dst == run * d.extent as i64;
        let deals = few(&s) && d.dst == run && d.src == run * s.extent as i64;
        let (rows, along, apart) = match (joins, deals) {
            (true, _) => (d.extent, s.extent, d.src),
            (false, true) => (s.extent, d.extent, s.dst),
            (false, false) => return None,
        };
        let len = usize::try_from(along.checked_mul(region.run)?).ok()?;
        let width = run as usize;
        let fits = |size: &&usize| size.is_multiple_of(width) && **size <= len;
        let register = *strip::registers(isa).iter().find(fits)?;
        let n = rows as usize;
        let all = rest.iter().map(|level| level.extent).product::<u64>() / s.extent;
        let worth = (n * n * register * 4) as u64;
        if all.saturating_mul((len * n) as u64) < worth {
            return None;
        }
        let tables = tables(n, width, register, joins);
        let loops = (s, *d);
        Some(Interleave { n, joins, apart, len, register, minor, loops, run: region.run, tables })
    }

    /// Returns the number of rows, and whether they are joined into one rather than dealt out of one.
    pub(crate) fn rows(&self) -> (usize, bool) {
        (self.n, self.joins)
    }

    /// Returns whether a part needs all iterations of loop `i` of `rank`.
    pub(crate) fn needs_all(&self, i: usize, rank: usize) -> bool {
        i == self.minor || i + 1 == rank
    }

    /// Moves the region for which this was made, or a part of it along other loops. Returns whether it did; it does
    /// nothing if a byte is outside the slices.
    pub(crate) fn run(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> bool {
        let loops = region.loops.get(self.minor).zip(region.loops.last());
        let same = loops.is_some_and(|(s, d)| (*s, *d) == self.loops) && region.run == self.run;
        if !region.is_within(src.len(), out.len()) || region.packed || !same {
            return false;
        }
        let mut around = tools.scratch.take_loops(region.loops);
        around.pop();
        around.remove(self.minor);
        match self.n {
            3 => self.rows_of::<3>(tools, region, &around, (src, out)),
            5 => self.rows_of::<5>(tools, region, &around, (src, out)),
            6 => self.rows_of::<6>(tools, region, &around, (src, out)),
            _ => self.rows_of::<7>(tools, region, &around, (src, out)),
        }
        tools.scratch.give_loops(around);
        true
    }

    fn rows_of<const N: usize>(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        around: &[Loop],
        (src, out): (&[u8], &mut [u8]),
    ) {
        let Interleave { joins, apart, len, register, .. } = *self;
        let far = tools.locality == Locality::Memory && len >= 4 * cost::LINE as usize;
        let tables = sized::<N>(&self.tables);
        let make =
            ReadRows { tables, apart: if joins { apart as isize } else { register as isize } };
        let mut stage = far.then(|| RowStage::new(tools.scratch));
        let (source, target) = (src.as_ptr(), out.as_mut_ptr());
        let (ins, outs) = if joins { (1, N) } else { (N, 1) };
        let ahead = strip::ahead(tools.locality, ins * len, N / ins);
        let mut one = |from: i64, to: i64, next: i64| {
            let strip = Strip {
                from: source.wrapping_offset(from as isize),
                next: source.wrapping_offset(next as isize),
                step: ins * register,
                last: ins * (len - register),
                to: target.wrapping_offset(to as isize),
                apart: if joins { 0 } else { apart as isize },
                len: outs * len,
                ahead,
            };
            // SAFETY: every byte of the region is within the slices, one of which is exclusive, as
            // `is_within` found. A step reads `N` registers, one of each row or all of the one row, and
            // writes `N`, all into the one row or one into each; the last step ends where the rows end, and
            // rows are no shorter than a register. The machine has the instruction set, as `Isa::chosen` and
            // its callers make sure.
            unsafe { strip::run((tools.isa, register), &make, &strip, stage.as_mut()) };
        };
        strip::each(around, (region.src, region.dst), &mut one);
        if let Some(stage) = stage {
            // SAFETY: all bytes left in the stage are the region's.
            unsafe { strip::finish(tools.isa, stage) };
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Isa;
    use super::*;
    use crate::cpu::scratch::Scratch;
    use crate::{
        Elements,
        cpu::kernel::suite::some,
        cpu::way::{Terms, Way},
        program::region::for_each,
    };

    /// Runs a part with every instruction set, near and far, from and to any alignment within a line.
    pub(in super::super) fn check(part: &RegionRef<'_>, src: usize, out: usize) {
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            let near = [(Locality::Cache, 0), (Locality::Arriving, 1)];
            let far = [0, 1, 16, 24, 37, 50, 63].map(|phase| (Locality::Memory, phase));
            for (locality, phase) in near.into_iter().chain(some(&far, 7)) {
                let source: Vec<u8> = (0..src + phase).map(|i| ((i * 167) >> 3) as u8).collect();
                let (mut got, mut expected) = (vec![0xA5; out + phase], vec![0xA5; out + phase]);
                for_each(part.loops, part.src, part.dst, &mut |from, to| {
                    let (from, to, run) = (from as usize, to as usize, part.run as usize);
                    expected[phase + to..][..run].copy_from_slice(&source[phase + from..][..run]);
                });
                let scratch = &mut Scratch::default();
                let elements = Elements::same(8);
                let mut tools =
                    Tools { elements, isa, locality, prefetch: None, ahead: 0, scratch };
                let way = Way::of(part, Terms { elements, isa, locality });
                way.run(&mut tools, part, &source[phase..], &mut got[phase..]);
                assert!(got == expected, "{} {locality:?} {phase}: {part:?}", isa.name());
            }
        }
    }

    #[test]
    fn rows_are_joined_and_dealt_at_every_width_and_number() {
        let all: Vec<(u64, u64)> =
            (2..10).flat_map(|n| [1, 2, 3, 4, 8, 16, 24, 32].map(|w| (n, w))).collect();
        let all_counts = &[1, 3, 17, 64, 67, 191, 1000, 2100];
        let counts: &[u64] = if cfg!(miri) {
            &[67]
        } else {
            tilewright_testing::cases(all_counts, &[1, 17, 191, 1000])
        };
        for (n, width) in some(&all, 29) {
            for &count in counts {
                // Rows of any length, or of a few kilobytes.
                if n * width * count > tilewright_testing::cases(u64::MAX, 8192) {
                    continue;
                }
                for (outer, gap) in some(&[(1, 0), (3, 0), (2, 5)], 4) {
                    let (n, w, count) = (n as i64, width as i64, count as i64);
                    let row = count * w + gap;
                    let level = |extent: i64, src, dst| Loop { extent: extent as u64, src, dst };
                    // Elements next to one another, and in rows that are followed by gaps.
                    let (flat, all) = (n * count * w + 7 * gap, n * row);
                    let sides = (outer * flat + 16, outer * all + 16);
                    let joined =
                        [level(outer, all, flat), level(count, w, n * w), level(n, row, w)];
                    let dealt = [level(outer, flat, all), level(n, w, row), level(count, n * w, w)];
                    let from = usize::from(outer == 1);
                    let part = RegionRef {
                        packed: false,
                        src: 3,
                        dst: 11,
                        run: width,
                        loops: &joined[from..],
                    };
                    check(&part, sides.1 as usize, sides.0 as usize);
                    check(
                        &RegionRef { loops: &dealt[from..], ..part },
                        sides.0 as usize,
                        sides.1 as usize,
                    );
                }
            }
        }
    }

    #[test]
    fn rows_are_joined_in_reverse() {
        let loops =
            [Loop { extent: 1500, src: 4, dst: 12 }, Loop { extent: 3, src: -6400, dst: 4 }];
        check(
            &RegionRef { packed: false, src: 12_810, dst: 0, run: 4, loops: &loops },
            19_000,
            18_000,
        );
    }
}

// Strided pack.

/// The maximal `n`; with more, two taken elements are rarely in one line.
const MOST: i64 = 8;

/// The parameters of a region that takes one of every `n` elements.
#[derive(Clone, Debug)]
pub(crate) struct StridedPack {
    /// The number of elements of which one is taken.
    n: usize,
    /// The bytes of an element.
    run: u64,
    register: usize,
    tables: Box<[[u8; 64]]>,
}

/// Returns the number of adjacent elements of which a region takes one, along a loop that is contiguous in the
/// destination; `None` if there is no such loop, or if the region takes others of them elsewhere.
fn one_of(region: &RegionRef<'_>) -> Option<usize> {
    let (last, rest) = region.loops.split_last()?;
    let run = i64::try_from(region.run).ok().filter(|run| !region.packed && *run <= 16)?;
    let n = last.src / run;
    let whole = last.dst == run && last.src % run == 0 && (2..=MOST).contains(&n);
    let alone = rest.iter().all(|level| level.src.unsigned_abs() >= last.src.unsigned_abs());
    (whole && alone && region.run.is_power_of_two()).then_some(n as usize)
}

impl StridedPack {
    /// Returns the parameters for a region; `None` if it does not take one of every few elements, or its rows are
    /// shorter than registers.
    pub(crate) fn of(isa: Isa, region: &RegionRef<'_>) -> Option<StridedPack> {
        let n = one_of(region)?;
        let (last, width) = (region.loops.last()?, region.run as usize);
        let len = usize::try_from(last.extent.checked_mul(region.run)?).ok()?;
        // The last element of a row may be the last of the source.
        let long = |size: &&usize| **size + width <= len;
        let register = *strip::registers(isa).iter().find(long)?;
        Some(StridedPack {
            n,
            run: region.run,
            register,
            tables: tables(n, width, register, false),
        })
    }

    /// Returns the number of elements of which one is taken.
    pub(crate) fn one_of(&self) -> usize {
        self.n
    }

    /// Returns the minimal extent of the last loop, for runs of `run` bytes.
    pub(crate) fn least(&self, run: u64) -> u64 {
        (self.register as u64).div_ceil(run) + 1
    }

    /// Moves the region for which this was made, or a part of it whose last loop is long enough. Returns whether it
    /// did; it does nothing if a byte is outside the slices.
    pub(crate) fn run(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> bool {
        let run = region.run as i64;
        let long = |last: &Loop| {
            let picks =
                last.src == self.n as i64 * run && last.dst == run && region.run == self.run;
            picks && last.extent >= self.least(region.run)
        };
        let last = region.loops.last();
        if !region.is_within(src.len(), out.len()) || region.packed || !last.is_some_and(long) {
            return false;
        }
        match self.n {
            2 => self.rows::<2>(tools, region, src, out),
            3 => self.rows::<3>(tools, region, src, out),
            4 => self.rows::<4>(tools, region, src, out),
            5 => self.rows::<5>(tools, region, src, out),
            6 => self.rows::<6>(tools, region, src, out),
            7 => self.rows::<7>(tools, region, src, out),
            _ => self.rows::<8>(tools, region, src, out),
        }
        true
    }

    fn rows<const N: usize>(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) {
        let Some((last, around)) = region.loops.split_last() else { return };
        let (width, register) = (region.run as usize, self.register);
        let len = last.extent as usize * width;
        let make = Nth { tables: &sized::<N>(&self.tables)[0] };
        let far = tools.locality == Locality::Memory && len >= 4 * cost::LINE as usize;
        let mut stage = far.then(|| RowStage::new(tools.scratch));
        let (source, target) = (src.as_ptr(), out.as_mut_ptr());
        strip::each(around, (region.src, region.dst), &mut |from, to, next| {
            let whole = src.len() - from as usize >= N * len;
            let part = if whole { len } else { len - width };
            let strip = Strip {
                from: source.wrapping_offset(from as isize),
                next: source.wrapping_offset(next as isize),
                step: N * register,
                last: N * (part - register),
                to: target.wrapping_offset(to as isize),
                apart: 0,
                len: part,
                ahead: strip::ahead(tools.locality, N * part, 1),
            };
            // SAFETY: every byte of the region is within the slices, one of which is exclusive, as `is_within` found. A
            // step reads `N` consecutive registers and writes one; the last one ends `N * part` bytes after the row's
            // first byte. This is in the source: either that was found, or the row's last element, which is in it,
            // begins there. Rows are no shorter than a register and an element, as `least` says. The machine has the
            // instruction set, as `Isa::chosen` and its callers make sure.
            unsafe {
                strip::run((tools.isa, register), &make, &strip, stage.as_mut());
                let (from, to) = (strip.from.wrapping_add(N * part), strip.to.wrapping_add(part));
                core::ptr::copy_nonoverlapping(from, to, len - part);
            }
        });
        if let Some(stage) = stage {
            // SAFETY: all bytes left in the stage are the region's.
            unsafe { strip::finish(tools.isa, stage) };
        }
    }
}

/// Reads `N` consecutive registers.
struct Nth<'a, const N: usize> {
    tables: &'a [[u8; 64]; N],
}

impl<const N: usize> Make<1> for Nth<'_, N> {
    #[inline(always)]
    unsafe fn make<V: Vector>(&self, from: *const u8) -> [V; 1] {
        // SAFETY: `# Safety` of `Make::make`: every byte that this step reads is readable, `N` registers from `from`
        // on. The tables were made for registers of `V`: `StridedPack::of` makes both of `register` bytes.
        unsafe {
            let mut held = [V::load(from); N];
            for (i, register) in held.iter_mut().enumerate().skip(1) {
                *register = V::load(from.add(i * V::BYTES));
            }
            [pick_all(held, self.tables)]
        }
    }

    #[inline(always)]
    fn prefetch<V: Vector>(&self, from: *const u8) {
        for i in 0..N {
            V::prefetch(from.wrapping_add(i * V::BYTES));
        }
    }
}

#[cfg(test)]
mod strided_tests {
    use super::tests::check;
    use super::*;
    use crate::cpu::kernel::suite::some;
    use crate::program::region::Loop;

    #[test]
    fn every_nth_element_is_taken_at_every_width_and_number() {
        let mut found = 0;
        let all: Vec<(i64, i64)> =
            (2..10).flat_map(|n| [1, 2, 3, 4, 8, 16, 32].map(|width| (n, width))).collect();
        let counts: &[i64] = if cfg!(miri) { &[67] } else { &[1, 3, 17, 64, 67, 191, 1000, 2100] };
        for (n, width) in some(&all, 29) {
            for &count in counts {
                // Rows of any length, or of a few kilobytes.
                if n * width * count > tilewright_testing::cases(i64::MAX, 8192) {
                    continue;
                }
                for (outer, gap) in some(&[(1, 0), (3, 0), (2, 5)], 4) {
                    let level = |extent: i64, src, dst| Loop { extent: extent as u64, src, dst };
                    let (row, packed) = (n * count * width + gap, count * width + gap);
                    let loops = [level(outer, row, packed), level(count, n * width, width)];
                    let loops = &loops[usize::from(outer == 1)..];
                    let part =
                        RegionRef { packed: false, src: 3, dst: 11, run: width as u64, loops };
                    found += usize::from(one_of(&part).is_some());
                    // The source ends with the last element.
                    let src = 3 + (outer - 1) * row + (count - 1) * n * width + width;
                    check(&part, src as usize, (outer * packed + 16) as usize);
                }
            }
        }
        let least = if cfg!(miri) { 0 } else { tilewright_testing::cases(500, 300) };
        assert!(found > least, "{found}");
    }

    #[test]
    fn elements_taken_elsewhere_are_none_of_it() {
        let level = |extent, src, dst| Loop { extent, src, dst };
        let of =
            |loops: &[Loop]| one_of(&RegionRef { packed: false, src: 0, dst: 0, run: 4, loops });
        assert_eq!(of(&[level(100, 8, 4)]), Some(2));
        assert_eq!(of(&[level(2, 4, 400), level(100, 8, 4)]), None);
        assert_eq!(of(&[level(100, 36, 4)]), None);
        assert_eq!(of(&[level(100, -8, 4)]), None);
        assert_eq!(of(&[level(100, 8, 8)]), None);
    }
}
