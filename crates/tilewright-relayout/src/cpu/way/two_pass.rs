//! Two-pass moves: the first pass moves a block to a buffer that stays in a cache, in an order between those of the two
//! layouts, and the second pass moves it from there to the destination.
//!
//! Registers permute the bits of addresses, which needs powers of two on both sides. If the innermost loops of a side
//! are not powers of two (the 3 × 3 of a convolution kernel, the 14 × 18 of an image), all of that side's contiguous
//! loops together are one long row. One pass turns such rows into columns, or columns into such rows, without cutting
//! them, and the other pass moves whole columns.
//!
//! Law: the first pass moves every element of a block to its position in the buffer, the second from there to its
//! position in the destination. The blocks of a part contain every element of it.

use super::{Terms, Way};
use crate::{
    Elements,
    cpu::{
        cost,
        kernel::{self, Isa, Prefetch, Tools},
        lines,
        shape::{self, DST, FEW, SRC, StrideSide, moved},
        transpose::Locality,
    },
    program::region::{Loop, Region, RegionRef},
};

/// A two-pass move of a region.
#[derive(Clone, Debug)]
pub(crate) struct TwoPass {
    /// The extent of a block in each loop.
    pub(super) taken: Vec<u64>,
    /// The bytes of a block.
    pub(super) bytes: usize,
    /// The pass from the first byte of a block's source to the buffer, and the pass from there to the destination.
    first: Pass,
    second: Pass,
    /// The lines of a block's source, relative to its first byte, that the second pass of the previous block
    /// prefetches; empty if the first pass prefetches its own reads.
    prefetched: Vec<i64>,
}

/// One pass: a region, the location of its source, and its way.
#[derive(Clone, Debug)]
struct Pass {
    region: Region,
    locality: Locality,
    way: Way,
}

impl Pass {
    fn of(region: Region, isa: Isa, locality: Locality) -> Pass {
        let terms = Terms { elements: Elements::same(8), isa, locality };
        if locality == Locality::Memory && kernel::are_far(&region.whole()) {
            return Pass { region, locality, way: Way::Rows };
        }
        let way = Way::picked(&region.whole(), isa)
            .or_else(|| {
                super::transpose(&region.whole(), terms)
                    .map(|transpose| Way::RegisterTranspose(Box::new(transpose)))
            })
            .or_else(|| {
                super::tiled_transpose(&region.whole(), terms)
                    .map(|tiled| Way::TiledTranspose(Box::new(tiled)))
            })
            .unwrap_or_else(|| Way::plain(&region.whole(), terms.elements));
        Pass { region, locality, way }
    }

    /// Returns whether the pass uses registers of at least `least` bytes, or moves long runs.
    fn is_well_done(&self, least: usize) -> bool {
        match &self.way {
            Way::RegisterTranspose(transpose) => transpose.register >= least,
            Way::StridedPack(_) | Way::Interleave(_) => true,
            _ => self.region.run >= WHOLE, // open set
        }
    }

    /// Returns the approximate number of instructions per line of a tiled transpose, and 0 for other ways.
    fn instructions(&self) -> f64 {
        match &self.way {
            Way::TiledTranspose(tiled) => tiled.instructions(),
            _ => 0.0, // open set
        }
    }

    /// Returns whether the pass prefetches by itself.
    fn prefetches(&self) -> bool {
        matches!(self.way, Way::TiledTranspose(_))
    }

    fn run(&self, tools: &mut Tools<'_>, (from, to): (i64, i64), src: &[u8], out: &mut [u8]) {
        let part = RegionRef { src: from, dst: to, ..self.region.whole() };
        self.way.run(&mut Tools { locality: self.locality, ..tools.again() }, &part, src, out);
    }
}

/// Runs of at least this many bytes are moved whole.
const WHOLE: u64 = 64;

/// Runs of at least this many bytes justify a block, even if each is copied separately.
const SHORT: u64 = 12;

/// A tiled transpose with at most this many instructions per line is preferred to two passes with half registers. With
/// 28 per line, weights of bytes from `oihw` to `OIhw4i16o4i` went from 0.34 to 0.67 of memcpy with half registers.
const FEW_INSTRUCTIONS: f64 = 16.0;

/// If the source has at least this many contiguous bytes, loops that the destination needs are left to the destination.
const ENOUGH: u64 = 512;

impl TwoPass {
    /// Returns the two passes of a region, if they fill registers of this instruction set, or at least half of one.
    pub(super) fn of(region: &RegionRef<'_>, terms: Terms) -> Option<TwoPass> {
        let large = region.size() >= cost::LEAST && terms.elements.are_same();
        if !large || region.packed || region.run >= WHOLE {
            return None;
        }
        let (loops, run) = (region.loops, region.run);
        let taken_of = |most: u64| {
            let mut taken = vec![1; loops.len()];
            // The blocks of the destination leave room for a row of the source that is long enough to read.
            let long = (2 * most / cost::LEAST_READ_RUN).max(cost::WRITE_RUN);
            let write = (cost::WRITE_RUN, cost::WRITE_RUN, long);
            let read = (cost::READ_RUN, cost::LEAST_READ_RUN, most);
            let dst = grown((loops, run), DST, &mut taken, &chain(loops, run, DST), write, &[]);
            let src = grown((loops, run), SRC, &mut taken, &chain(loops, run, SRC), read, &dst);
            enlarge((loops, run), &mut taken, (&src, &dst), most);
            (taken, src, dst)
        };
        let (taken, src, dst) = taken_of(cost::TWO_PASS_BLOCK);
        let without = |all: &[usize], others: &[usize]| -> Vec<usize> {
            all.iter().copied().filter(|i| !others.contains(i)).collect()
        };
        let orders = [
            // Rows of the source become columns; columns of the destination become its rows.
            [without(&dst, &src), src.clone()].concat(),
            [without(&src, &dst), dst.clone()].concat(),
        ];
        let Terms { isa, locality, .. } = terms;
        let of = |least: usize| {
            orders
                .iter()
                .find_map(|order| TwoPass::through(region, &taken, order, (isa, least), locality))
        };
        let power = run.is_power_of_two();
        if let Some(whole) = power.then(|| of(isa.register())).flatten() {
            return Some(whole);
        }
        let staged = TwoPass::staged(region, &taken_of(cost::STAGED_BLOCK).0, terms);
        // A tiled transpose of single bytes takes more instructions than two register transposes with half registers.
        let cheap = staged
            .as_ref()
            .is_some_and(|two_pass| two_pass.first.instructions() <= FEW_INSTRUCTIONS);
        let half = || power.then(|| of(isa.register() / 2)).flatten();
        if cheap { staged } else { half().or(staged) }
    }

    /// Returns the passes through a buffer in the order of the destination: elements are scattered only in the caches,
    /// and writes are long.
    fn staged(whole: &RegionRef<'_>, taken: &[u64], terms: Terms) -> Option<TwoPass> {
        let Terms { isa, locality, .. } = terms;
        let mut order: Vec<usize> = (0..taken.len()).filter(|i| taken[*i] > 1).collect();
        tilewright_core::sort_short(&mut order, |&i| whole.loops[i].dst);
        let (first, second, bytes) = two(whole, taken, &order)?;
        let long = locality == Locality::Memory && second.run >= cost::WRITE_RUN;
        if !long || bytes < cost::LEAST || first.loops.is_empty() {
            return None;
        }
        let prefetched = lines::lines(&first);
        let (first, second) =
            (Pass::of(first, isa, Locality::Cache), Pass::of(second, isa, locality));
        let well_done = first.prefetches()
            || first.is_well_done(isa.register() / 4)
            || first.region.run >= SHORT;
        let (taken, bytes) = (taken.to_vec(), bytes as usize);
        well_done.then_some(TwoPass { taken, bytes, first, second, prefetched })
    }

    /// Returns the passes through a buffer with these loops in this order, the innermost first, and with registers of
    /// at least `least` bytes.
    fn through(
        whole: &RegionRef<'_>,
        taken: &[u64],
        order: &[usize],
        (isa, least): (Isa, usize),
        locality: Locality,
    ) -> Option<TwoPass> {
        let (first, second, bytes) = two(whole, taken, order)?;
        // Neither pass may be the region itself.
        if bytes < cost::LEAST || first.loops.is_empty() || second.loops.is_empty() {
            return None;
        }
        let second = Pass::of(second, isa, locality);
        // Kernels that pick elements prefetch their own reads, and scratch buffers leave no time for prefetching.
        let direct = matches!(&second.way, Way::RegisterTranspose(transpose) if transpose.steps.gather.is_empty());
        let prefetches =
            locality == Locality::Memory && direct && Way::picked(&first.whole(), isa).is_none();
        let prefetched = if prefetches { lines::lines(&first) } else { Vec::new() };
        // The first pass finds its source in a cache if the second pass of the previous block prefetches it.
        let into = if prefetched.is_empty() { locality.arriving() } else { Locality::Cache };
        let first = Pass::of(first, isa, into);
        let well_done = first.is_well_done(least) && second.is_well_done(least);
        // One pass must do more than the region needs as a whole.
        let transposes =
            [&first, &second].iter().any(|pass| matches!(pass.way, Way::RegisterTranspose(_)));
        (well_done && transposes).then(|| TwoPass {
            taken: taken.to_vec(),
            bytes: bytes as usize,
            first,
            second,
            prefetched,
        })
    }

    /// Returns the names of the two ways.
    pub(super) fn names(&self, terms: Terms) -> (String, String) {
        let name = |pass: &Pass| pass.way.name(&pass.region.whole(), terms);
        (name(&self.first), name(&self.second))
    }

    /// Moves a part of the region for which this was made, block by block. The part has at least the extents of a
    /// block.
    pub(super) fn run(
        &self,
        tools: &mut Tools<'_>,
        part: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> bool {
        let mut buffer = tools.scratch.take_block(self.bytes);
        let block = buffer.bytes(self.bytes);
        let mut move_block = |(from, to): (i64, i64), next: Option<i64>| {
            let ahead = next.filter(|_| self.first.prefetches()).map_or(0, |next| next - from);
            self.first.run(&mut Tools { ahead, ..tools.again() }, (from, 0), src, block);
            let next = next.filter(|_| !self.prefetched.is_empty() && ahead == 0);
            let prefetch = next.map(|next| Prefetch::of(src, next, &self.prefetched, self.bytes));
            if let (Some(prefetch), Way::Rows) = (&prefetch, &self.second.way) {
                prefetch.all(tools.isa);
            }
            let tools = &mut Tools { prefetch: prefetch.as_ref(), ahead: 0, ..tools.again() };
            self.second.run(tools, (0, to), block, out);
        };
        let mut last = None;
        self.each(part, &mut |from, to| {
            if let Some(last) = last.replace((from, to)) {
                move_block(last, Some(from));
            }
        });
        if let Some(last) = last {
            move_block(last, None);
        }
        tools.scratch.give_block(buffer);
        true
    }

    /// Calls `f` with the first bytes of each block of a part that fits, ordered by rows of the source. Blocks at the
    /// end of a loop begin earlier.
    pub(crate) fn each(&self, part: &RegionRef<'_>, f: &mut dyn FnMut(i64, i64)) {
        self.block(part, 0, (part.src, part.dst), f);
    }

    fn block(
        &self,
        part: &RegionRef<'_>,
        i: usize,
        (src, dst): (i64, i64),
        f: &mut dyn FnMut(i64, i64),
    ) {
        let Some(level) = part.loops.get(i) else { return f(src, dst) };
        for at in shape::firsts(level.extent, self.taken[i]) {
            self.block(part, i + 1, (src + at * level.src, dst + at * level.dst), f);
        }
    }
}

/// Returns the regions of two passes through a buffer with these loops in this order, the innermost first, and the
/// bytes of the buffer.
fn two(whole: &RegionRef<'_>, taken: &[u64], order: &[usize]) -> Option<(Region, Region, u64)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut bytes = whole.run;
    for &i in order.iter().filter(|i| taken[**i] > 1) {
        let (level, extent) = (&whole.loops[i], taken[i]);
        first.push(Loop { extent, src: level.src, dst: bytes as i64 });
        second.push(Loop { extent, src: bytes as i64, dst: level.dst });
        bytes = bytes.checked_mul(extent)?;
    }
    Some((region(first, whole.run), region(second, whole.run), bytes))
}

/// Returns the loops that continue one another on one side, beginning at the run, or at the smallest stride if all
/// strides are larger than the run.
fn chain(loops: &[Loop], run: u64, side: StrideSide) -> Vec<usize> {
    let shortest = loops.iter().map(|level| side(level).unsigned_abs()).min();
    let (mut chain, mut end) = (Vec::new(), shortest.unwrap_or(run).max(run));
    let next = |end: u64, chain: &[usize]| {
        (0..loops.len()).find(|j| side(&loops[*j]).unsigned_abs() == end && !chain.contains(j))
    };
    while let Some(i) = next(end, &chain) {
        chain.push(i);
        end = end.saturating_mul(loops[i].extent);
    }
    chain
}

/// Extends the block along the first loops of a chain, until `target` bytes are contiguous, or at least `least` if a
/// block has no room for more, which is `most`. Once enough bytes are contiguous, loops in `others` are not extended.
fn grown(
    (loops, run): (&[Loop], u64),
    side: StrideSide,
    taken: &mut [u64],
    chain: &[usize],
    (target, least, most): (u64, u64, u64),
    others: &[usize],
) -> Vec<usize> {
    let first = chain.first().map(|i| side(&loops[*i]).unsigned_abs());
    let (mut together, mut grown) = (first.unwrap_or(1), Vec::new());
    for &i in chain {
        if together >= target || together >= ENOUGH && others.contains(&i) {
            break;
        }
        let (extent, line) = (loops[i].extent, whole_lines(together));
        let others = taken.iter().product::<u64>() / taken[i] * run;
        let room = (most / others.max(1)).max(least.div_ceil(together));
        let take = fitting(extent, target.div_ceil(together).min(room), room);
        let take = in_lines(extent, take, line, room).max(taken[i]);
        taken[i] = take;
        grown.push(i);
        together = together.saturating_mul(take);
        if take < loops[i].extent {
            break;
        }
    }
    grown
}

/// Returns the iterations of a loop with this stride that fill whole lines.
fn whole_lines(stride: u64) -> u64 {
    cost::LINE >> stride.trailing_zeros().min(cost::LINE.trailing_zeros())
}

/// Returns about `wanted` iterations of a loop, or a few more, up to `room`. If there are few blocks, they have equal
/// sizes, so that the last one moves few iterations twice.
fn fitting(extent: u64, wanted: u64, room: u64) -> u64 {
    let count = (extent / wanted.max(1)).max(1);
    if count >= FEW {
        return wanted;
    }
    let fits = |taken: &u64| *taken <= room && moved(extent, *taken) <= extent + extent / 4;
    (count..)
        .map(|count| extent.div_ceil(count))
        .find(|taken| fits(taken) || *taken <= 1)
        .unwrap_or(1)
}

/// Returns `taken`, or a few more iterations that fill whole lines, if there is room and little more is moved twice.
fn in_lines(extent: u64, taken: u64, line: u64, room: u64) -> u64 {
    let lines = taken.next_multiple_of(line).min(extent);
    let is_worth = moved(extent, lines) <= moved(extent, taken) + extent / 8;
    if lines <= room && is_worth { lines } else { taken }
}

/// Extends a small block along its last loop on each side.
fn enlarge(
    (loops, run): (&[Loop], u64),
    taken: &mut [u64],
    (src, dst): (&[usize], &[usize]),
    most: u64,
) {
    let ends: [(_, StrideSide); 2] = [(dst.last(), DST), (src.last(), SRC)];
    for i in ends.iter().filter_map(|(last, _)| last.copied()) {
        let cut = ends.iter().filter(|(last, _)| *last == Some(&i));
        let lines = cut.map(|(_, side)| whole_lines(side(&loops[i]).unsigned_abs()));
        let line = lines.max().unwrap_or(1);
        let bytes = taken.iter().product::<u64>() * run;
        let room = most / bytes.max(1);
        if room >= 2 {
            let (extent, room) = (loops[i].extent, taken[i] * room);
            let even = shape::even(extent, room);
            let longer = in_lines(extent, even, line, room).max(taken[i]);
            if moved(extent, longer) <= moved(extent, taken[i]).max(extent + extent / 8) {
                taken[i] = longer;
            }
        }
    }
}

/// Returns a region of loops around runs, in the order of the destination.
fn region(mut loops: Vec<Loop>, run: u64) -> Region {
    tilewright_core::sort_short(&mut loops, |level| core::cmp::Reverse(level.dst));
    let mut region = Region { packed: false, src: 0, dst: 0, run, loops };
    region.merge();
    region
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn far(isa: Isa) -> Terms {
        Terms { elements: Elements::same(8), isa, locality: Locality::Memory }
    }

    fn small() -> impl Iterator<Item = (Vec<u64>, Vec<usize>)> {
        let extents = [vec![40, 9, 24], vec![33, 3, 3, 20], vec![16, 14, 18], vec![64, 100]];
        extents.into_iter().flat_map(|extents| {
            let rank = extents.len();
            let orders: Vec<Vec<usize>> = (1..rank)
                .map(|by| (0..rank).map(|i| (i + by) % rank).collect())
                .chain([(0..rank).rev().collect()])
                .collect();
            orders.into_iter().map(move |order| (extents.clone(), order))
        })
    }

    #[test]
    fn the_blocks_of_a_job_hold_every_element_once_or_more() {
        let mut found = 0;
        for (extents, order) in small() {
            for (width, apart) in [(1, 1), (2, 1), (4, 1), (4, 2)] {
                let mut loops = vec![Loop { extent: 1, src: 0, dst: 0 }; extents.len()];
                let (mut src, mut dst) = (width * apart, width);
                for i in (0..extents.len()).rev() {
                    loops[i] = Loop { extent: extents[i], src, ..loops[i] };
                    src *= extents[i] as i64;
                }
                for &i in order.iter().rev() {
                    loops[i].dst = dst;
                    dst *= extents[i] as i64;
                }
                let mut region = region(loops, width as u64);
                region.src = 5;
                let part = region.whole();
                let terms = Terms {
                    elements: Elements::same(8),
                    isa: Isa::Generic,
                    locality: Locality::Cache,
                };
                let Some(two_pass) = TwoPass::of(&part, terms) else { continue };
                found += 1;
                let places = |region: &Region, from: (i64, i64)| {
                    let mut places = BTreeSet::new();
                    crate::program::region::for_each(
                        &region.loops,
                        from.0,
                        from.1,
                        &mut |src, dst| {
                            (0..region.run as i64).for_each(|i| {
                                places.insert((src + i, dst + i));
                            });
                        },
                    );
                    places
                };
                let mut got = BTreeSet::new();
                two_pass.each(&part, &mut |src, dst| {
                    let first = places(&two_pass.first.region, (src, 0));
                    let second: std::collections::BTreeMap<i64, i64> =
                        places(&two_pass.second.region, (0, dst)).into_iter().collect();
                    assert_eq!((first.len(), second.len()), (two_pass.bytes, two_pass.bytes));
                    got.extend(first.iter().map(|(src, mid)| (*src, second[mid])));
                });
                assert_eq!(got, places(&region, (part.src, part.dst)), "{extents:?} {order:?}");
            }
        }
        assert!(found > 1, "{found}");
    }

    /// Rows of O × I × HW bytes, which become HW × I columns of O bytes, and the loop over I.
    fn columns(outer: i64, extent: i64, inner: i64) -> [Loop; 3] {
        let level = |extent: i64, src, dst| Loop { extent: extent as u64, src, dst };
        [
            level(inner, 1, outer * extent),
            level(extent, inner, outer),
            level(outer, extent * inner, 1),
        ]
    }

    fn two_pass(loops: &[Loop]) -> Option<TwoPass> {
        let part = RegionRef { packed: false, src: 0, dst: 0, run: 1, loops };
        TwoPass::of(&part, far(Isa::Generic))
    }

    #[test]
    fn blocks_are_whole_lines_of_both_sides_where_that_costs_little() {
        for (extent, inner) in [(4096, 9), (4095, 9), (4096, 36), (5000, 20), (4096, 144)] {
            let taken = two_pass(&columns(16, extent, inner)).unwrap().taken[1];
            let is_whole = |stride: i64| (taken * stride as u64).is_multiple_of(cost::LINE);
            assert!(taken < extent as u64, "{extent} times {inner} bytes");
            assert!(is_whole(inner) && is_whole(16), "{taken} of {extent} times {inner} bytes");
        }
    }

    #[test]
    fn blocks_stay_in_a_cache_and_move_little_twice() {
        let mut found = 0;
        let extents = [3, 9, 13, 31, 49, 64, 65, 66, 70, 80, 96, 130, 169, 441, 1024, 2048, 4096];
        for outer in extents {
            for extent in extents {
                for inner in extents {
                    let loops = columns(outer, extent, inner);
                    let Some(two_pass) = two_pass(&loops) else { continue };
                    found += 1;
                    let case = format!("{outer}, {extent}, {inner}: {:?}", two_pass.taken);
                    assert!(two_pass.bytes as u64 <= 2 * cost::TWO_PASS_BLOCK, "{case}");
                    for (level, taken) in loops.iter().zip(&two_pass.taken) {
                        let moved = moved(level.extent, *taken);
                        assert!(moved <= level.extent + level.extent / 4, "{case}");
                    }
                }
            }
        }
        assert!(found > 1000, "{found}");
    }

    #[test]
    fn what_registers_alone_do_badly_goes_in_two_passes() {
        use tilewright_core::{Digit, Pattern, Refinement, TensorLayout};
        let row = |e: &[u64]| TensorLayout::row_major(e).unwrap();
        let six = [32, 24, 20, 16, 18, 14];
        let kernels = [1024, 1024, 3, 3];
        let digits = [
            Digit::rest(0, 1),
            Digit::rest(1, 2),
            Digit::rest(2, 0),
            Digit::rest(3, 0),
            Digit::fixed(1, 1, 4),
            Digit::fixed(0, 0, 16),
            Digit::fixed(1, 0, 4),
        ];
        let blocked = Pattern::new(4, &digits).unwrap().layout(&kernels).unwrap();
        let cases = [
            (row(&six), TensorLayout::ordered(&six, &[3, 1, 4, 0, 2, 5]).unwrap(), 32),
            (row(&kernels), blocked.clone(), 8),
            (blocked, row(&kernels), 8),
        ];
        for (src, dst, bits) in cases {
            let refinement = Refinement::new(&src, &dst).unwrap();
            let block = refinement.blocks().next().unwrap();
            let region = Region::of(&block, Elements::same(bits));
            for isa in Isa::ALL {
                let two_pass = TwoPass::of(&region.whole(), far(*isa));
                let two_pass = two_pass.unwrap_or_else(|| panic!("{region:?} {}", isa.name()));
                if bits == 8 && isa.name() == "avx512" {
                    assert!(
                        two_pass.prefetched.len() * cost::LINE as usize >= two_pass.bytes,
                        "{region:?}"
                    );
                }
            }
        }
    }
}
