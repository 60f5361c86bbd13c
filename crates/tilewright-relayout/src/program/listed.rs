//! Programs whose regions are given instead of derived from two layouts. Recipes use them: elements of several arrays
//! become one.
//!
//! Law: the program moves the elements of its regions, and all other bytes of the destination get the fill.

use std::{cmp::Reverse, sync::OnceLock};

use tilewright_core::TensorLayout;

use super::{
    Program,
    region::{Loop, Region},
};
use crate::{
    Elements, Error, elements,
    program::{
        Part,
        gaps::{Cells, GapLoop},
    },
};

impl Program {
    /// Returns the program of these regions, which count bytes, from a source to a destination of these lengths. Elements have
    /// `bits` bits, in whole bytes. No two regions write the same byte of the destination. Elements that no region writes get the
    /// low bits of `fill`.
    ///
    /// The source may consist of several arrays that follow one another. [`Program::src`] and [`Program::dst`] are row-major
    /// layouts with one dim, without the padding.
    ///
    /// # Errors
    /// - [unsupported](Error::is_unsupported) for widths that [`Elements`] does not list, and for packed ones;
    /// - [buffer](Error::is_buffer) for a region that leaves the source or the destination, and for lengths that are not
    ///   whole elements;
    /// - [overflow](Error::is_overflow) for storage beyond 2⁶³ − 1 bytes or this machine's addresses.
    ///
    /// ```
    /// use tilewright_relayout::{Loop, Plan, Program, Region};
    /// // Rows of three bytes and rows of one, side by side, and a byte of padding behind them.
    /// let rows = |src, dst, run: u64| {
    ///     let rows = Loop { extent: 2, src: run as i64, dst: 5 };
    ///     Region { packed: false, src, dst, run, loops: vec![rows] }
    /// };
    /// let program = Program::of_regions(vec![rows(0, 0, 3), rows(6, 3, 1)], (8, 10), 8, 0).unwrap();
    /// let mut out = [1; 10];
    /// Plan::of(program).run(&[1, 2, 3, 4, 5, 6, 7, 8], &mut out, 1).unwrap();
    /// assert_eq!(out, [1, 2, 3, 7, 0, 4, 5, 6, 8, 0]);
    ///
    /// let error = Program::of_regions(vec![rows(6, 0, 3)], (8, 10), 8, 0).unwrap_err();
    /// assert!(error.is_buffer());
    /// ```
    pub fn of_regions(
        regions: Vec<Region>,
        (src_bytes, dst_bytes): (u64, u64),
        bits: u32,
        fill: u128,
    ) -> Result<Program, Error> {
        let elements = Elements::same(bits);
        elements.check()?;
        let width = u64::from(bits / 8);
        if bits < 8 || !src_bytes.is_multiple_of(width) || !dst_bytes.is_multiple_of(width) {
            return Err(Error::buffer(format!(
                "{src_bytes} and {dst_bytes} bytes are not elements of {bits} bits"
            )));
        }
        let (count, capacity) = (src_bytes / width, dst_bytes / width);
        elements::bytes("source", count, bits)?;
        elements::bytes("destination", capacity, bits)?;
        let regions: Vec<Region> = regions.into_iter().map(listed).collect();
        let outside = regions.iter().find(|region| {
            region.packed || !region.whole().is_within(src_bytes as usize, dst_bytes as usize)
        });
        if let Some(region) = outside {
            return Err(Error::buffer(format!(
                "a region leaves {src_bytes} bytes of a source or {dst_bytes} of a destination: {region:?}"
            )));
        }
        let moved = regions.iter().map(Region::size).fold(0, u64::saturating_add) / width;
        let row = |count: u64| TensorLayout::row_major(&[count]);
        let sides = row(moved.min(capacity)).and_then(|dst| dst.with_capacity(capacity));
        let (src, dst) = row(count)
            .and_then(|src| Ok((src, sides?)))
            .map_err(|error| crate::refused_by_core("regions", &error))?;
        // Gaps exist only with padding; then everything is filled before the elements.
        let gaps = OnceLock::from((moved == capacity).then(Vec::new));
        let part = Part::array(&[moved]);
        Ok(Program {
            src,
            dst,
            elements,
            fill,
            src_bytes,
            dst_bytes,
            part,
            tables: None,
            listed: true,
            regions: Some(regions),
            digits: OnceLock::new(),
            gaps,
        })
    }

    /// Returns the cells of the regions, in bytes, on the side with this first position and these strides.
    pub(super) fn cells(&self, first: fn(&Region) -> i64, stride: fn(&Loop) -> i64) -> Vec<Cells> {
        let level = |level: &Loop| {
            let stride = stride(level).unsigned_abs();
            (stride > 0).then_some(GapLoop { extent: level.extent, stride })
        };
        let cells = |region: &Region| {
            let back =
                region.loops.iter().map(|level| (level.extent as i64 - 1) * stride(level).min(0));
            let at = (first(region) + back.sum::<i64>()) as u64;
            let mut loops: Vec<GapLoop> = region.loops.iter().filter_map(level).collect();
            tilewright_core::sort_short(&mut loops, |level| Reverse(level.stride));
            let mut cells = Cells { at, run: region.run, loops };
            cells.merge();
            cells
        };
        self.regions.iter().flatten().map(cells).collect()
    }
}

/// Returns the region with its loops sorted by the destination, and merged.
fn listed(mut region: Region) -> Region {
    region.loops.retain(|level| level.extent > 1);
    tilewright_core::sort_short(&mut region.loops, |level| Reverse(level.dst));
    region.merge();
    region
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    /// Two arrays become one by nests of every order of three digits, whose source may repeat elements: the whole, its ranges
    /// and its tiles are what loops over the regions write.
    #[test]
    fn given_regions_are_run_whole_in_ranges_and_in_tiles() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let steps = |order: [usize; 3], unit: i64| {
            let extents = [3, 4, 5];
            let (mut stride, mut all) = (unit, [0; 3]);
            for digit in order {
                all[digit] = stride;
                stride *= extents[digit];
            }
            all
        };
        for (width, from, to) in [1, 2, 8]
            .into_iter()
            .flat_map(|width| orders.map(|from| (width, from)))
            .flat_map(|(width, from)| orders.map(|to| (width, from, to)))
        {
            let (src, dst) = (steps(from, width), steps(to, 2 * width));
            let region = |number: i64| {
                let level = |digit: usize| Loop {
                    extent: [3, 4, 5][digit],
                    src: if number == 1 && digit == 1 { 0 } else { src[digit] },
                    dst: dst[digit],
                };
                let loops = [0, 1, 2].map(level).to_vec();
                let (src, dst) = (number * 60 * width, number * width);
                Region { packed: false, src, dst, run: width as u64, loops }
            };
            let regions = vec![region(0), region(1)];
            let (long, fill) = (125 * width as u64, 0x0807_0605_0403_0201);
            let made = |regions| {
                Program::of_regions(regions, (120 * width as u64, long), 8 * width as u32, fill)
            };
            let source: Vec<u8> = (0..120 * width).map(|i| (i * 7 + 3) as u8).collect();
            let mut expected: Vec<u8> = fill
                .to_le_bytes()
                .into_iter()
                .take(width as usize)
                .cycle()
                .take(long as usize)
                .collect();
            let mut written = vec![false; long as usize];
            for region in &regions {
                // Every loop in any order, as the loops were given.
                let [a, b, c] = region.loops[..] else { panic!() };
                for i in 0..3i64 * 4 * 5 {
                    let (x, y, z) = (i / 20, i / 5 % 4, i % 5);
                    let at =
                        |first: i64, s: fn(&Loop) -> i64| first + x * s(&a) + y * s(&b) + z * s(&c);
                    let (src, dst) = (at(region.src, |it| it.src), at(region.dst, |it| it.dst));
                    for byte in 0..width {
                        expected[(dst + byte) as usize] = source[(src + byte) as usize];
                        written[(dst + byte) as usize] = true;
                    }
                }
            }
            let program = made(regions).unwrap();
            let ranges = program.destination_ranges().flatten();
            assert!(ranges.eq((0..long).filter(|byte| written[*byte as usize])));
            assert_eq!(program.padding(), 5);
            let plan = Plan::of(program);
            let mut out = vec![0; expected.len()];
            plan.run(&source, &mut out, 2).unwrap();
            assert_eq!(out, expected, "{width} {from:?} {to:?}");
            for step in [1, 7, 64, 10_000] {
                let mut start = 0;
                for out in out.chunks_mut(step) {
                    out.fill(0);
                    let range = start..start + out.len() as u64;
                    start = range.end;
                    let chunk = plan.chunk(range).unwrap();
                    let mut buffer = vec![0; chunk.buffer_len()];
                    for read in chunk.reads() {
                        let from = &source[read.src as usize..][..read.len];
                        buffer[read.at..][..read.len].copy_from_slice(from);
                    }
                    chunk.run(&buffer, out, 1).unwrap();
                }
                assert_eq!(out, expected, "{width} {from:?} {to:?} by {step}");
                out.copy_from_slice(&expected);
                // Tiles leave padding as it is.
                let elements = out.iter_mut().zip(&written).filter(|(_, written)| **written);
                elements.for_each(|(byte, _)| *byte = 0);
                for tile in plan.tiles(step as u64).unwrap() {
                    let (mut from, mut to) = (vec![0; tile.src_len()], vec![0; tile.dst_len()]);
                    for read in tile.reads() {
                        let bytes = &source[read.src as usize..][..read.len];
                        from[read.at..][..read.len].copy_from_slice(bytes);
                    }
                    tile.run(&from, &mut to).unwrap();
                    for write in tile.writes() {
                        out[write.dst as usize..][..write.len]
                            .copy_from_slice(&to[write.at..][..write.len]);
                    }
                }
                assert_eq!(out, expected, "{width} {from:?} {to:?} by tiles of {step}");
            }
        }
    }
}
