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

use super::{
    Terms, Way,
    block::{ADJACENT, BlockExtents, region},
};
use crate::{
    Elements,
    cpu::{
        cost,
        kernel::{self, Isa, Prefetch, Tools, prefetch},
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

    fn run(&self, tools: &mut Tools<'_>, (from, to): (i64, i64), src: &[u8], out: &mut [u8]) {
        let part = RegionRef { src: from, dst: to, ..self.region.whole() };
        self.way.run(&mut Tools { locality: self.locality, ..tools.again() }, &part, src, out);
    }
}

/// Runs of at least this many bytes are moved whole.
const WHOLE: u64 = 64;

impl TwoPass {
    /// Returns the two passes of a region, if they fill registers of this instruction set, or at least half of one.
    pub(super) fn of(region: &RegionRef<'_>, terms: Terms) -> Option<TwoPass> {
        let large = region.size() >= cost::LEAST && terms.elements.are_same();
        let short = !region.packed && region.run < WHOLE && region.run.is_power_of_two();
        if !large || !short {
            return None;
        }
        let BlockExtents { taken, src, dst } =
            BlockExtents::of((region.loops, region.run), cost::TWO_PASS_BLOCK, ADJACENT);
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
        of(isa.register()).or_else(|| of(isa.register() / 2))
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
        let prefetched = if prefetches { prefetch::lines(&first) } else { Vec::new() };
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
        let mut move_block = |(from, to): (i64, i64), next: Option<(i64, i64)>| {
            self.first.run(&mut tools.again(), (from, 0), src, block);
            let next = next.filter(|_| !self.prefetched.is_empty());
            let prefetch =
                next.map(|(next, _)| Prefetch::of(src, next, &self.prefetched, self.bytes));
            if let (Some(prefetch), Way::Rows) = (&prefetch, &self.second.way) {
                prefetch.all(tools.isa);
            }
            let tools = &mut Tools { prefetch: prefetch.as_ref(), ..tools.again() };
            self.second.run(tools, (0, to), block, out);
        };
        let blocks = |f: &mut dyn FnMut(i64, i64)| {
            cost::blocks((part.loops, &self.taken), (part.src, part.dst), f)
        };
        cost::with_next(blocks, &mut move_block);
        tools.scratch.give_block(buffer);
        true
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::cost::moved;
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
                cost::blocks(
                    (part.loops, &two_pass.taken),
                    (part.src, part.dst),
                    &mut |src, dst| {
                        let first = places(&two_pass.first.region, (src, 0));
                        let second: std::collections::BTreeMap<i64, i64> =
                            places(&two_pass.second.region, (0, dst)).into_iter().collect();
                        assert_eq!((first.len(), second.len()), (two_pass.bytes, two_pass.bytes));
                        got.extend(first.iter().map(|(src, mid)| (*src, second[mid])));
                    },
                );
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
