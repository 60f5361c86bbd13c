//! Regions that share the loops around them, moved together with their padding: each block of all of them is put together in a
//! buffer that stays in a cache, as an image of whole periods of the destination, and the image is streamed.
//!
//! Separately, the boxes of a ragged tile and its padding write parts of the same lines in several passes over memory.
//!
//! Law: every byte of the periods is written once, with the bytes that the regions and the fill have there. Bytes of other regions
//! within the periods are written later.

use crate::{
    Elements, Program,
    cpu::{
        cost,
        kernel::{Prefetch, Tools, prefetch},
        padding,
        scratch::Scratch,
        transpose::Locality,
        way::{BlockExtents, Count, Image, Stage, Terms, Way},
    },
    program::region::{Loop, Region, RegionRef, for_each},
};

/// Regions that are moved together.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    terms: Terms,
    fill: u128,
    /// The loops around the periods, the outermost first, and their iterations in a block.
    around: Vec<Loop>,
    taken: Vec<u64>,
    /// The first positions of the first period.
    src: i64,
    dst: i64,
    /// The bytes of a period.
    period: u64,
    parts: Vec<JoinedPart>,
    stage: Stage,
    /// The number of parts of blocks that another way moved.
    others: Count,
    /// True if the periods are the whole destination, so that nothing else is filled.
    pub(crate) covers: bool,
}

/// The part of a region in a block: from its source, relative to that of the block, to the buffer.
#[derive(Clone, Debug)]
struct JoinedPart {
    /// The number of the region in the program.
    number: usize,
    region: Region,
    way: Way,
    /// The lines of the source that are prefetched for the next block; none if the way prefetches them.
    prefetched: Vec<i64>,
    ran: Count,
}

/// The longest period that is put together, in bytes.
const LONGEST_PERIOD: u64 = 32 << 10;

/// The part of the destination above which one region is moved alone, and the contiguous bytes of it: its ends and the padding are
/// then few. Of 21 random cases on Zen 4, those below gained 1.8 times in the mean, at most 4.5 times, and those above lost.
const MOST: f64 = 0.85;
const PIECE: u64 = 8 << 10;

/// Returns the bytes of a region that are contiguous in the destination.
fn piece(main: &Region) -> u64 {
    let adjacent = |len: u64, level: &Loop| (level.dst as u64 == len).then_some(len * level.extent);
    let lens = main.loops.iter().rev().scan(main.run, |len, level| {
        *len = adjacent(*len, level)?;
        Some(*len)
    });
    lens.last().unwrap_or(main.run)
}

/// Returns the loops of a region without these; `None` if it lacks one of them.
fn inner_loops(region: &Region, around: &[Loop]) -> Option<Vec<Loop>> {
    let mut loops = region.loops.clone();
    for level in around {
        loops.remove(loops.iter().position(|own| own == level)?);
    }
    Some(loops)
}

/// A part of the destination with its own slice, as loops around periods: some iterations of one loop, and the loops in it.
pub(crate) struct JoinedShare<'a> {
    level: Loop,
    inner: &'a [Loop],
    src: i64,
    /// The position of the first period in the slice.
    dst: i64,
    out: &'a mut [u8],
}

/// A choice of the loops around the periods.
struct Grouping<'a> {
    around: &'a [Loop],
    period: u64,
    dst: i64,
    members: Vec<usize>,
    covers: bool,
}

impl Joined {
    /// Returns the regions of a program that are worth moving together; `None` if there are none.
    pub(crate) fn of(program: &Program, terms: Terms) -> Option<Joined> {
        let regions = program.regions()?;
        let several = regions.len() > 1 || program.padding() > 0;
        let plain = terms.elements.are_same() && !regions.iter().any(|region| region.packed);
        if program.is_part() || !several || !plain || terms.locality != Locality::Memory {
            return None;
        }
        let (number, main) = program.main()?;
        let most = main.size() as f64 > MOST * program.dst_bytes() as f64;
        if most && piece(main) > PIECE {
            return None;
        }
        let found = (1..=main.loops.len())
            .filter_map(|around| Grouping::of(program, regions, main, around))
            .max_by_key(|found| {
                (found.members.len(), found.covers, std::cmp::Reverse(found.period))
            })?;
        let useful = found.members.len() > 1 || found.covers;
        if !useful || !found.members.contains(&number) {
            return None;
        }
        Joined::made(program, regions, main, &found, terms)
    }

    fn made(
        program: &Program,
        regions: &[Region],
        main: &Region,
        found: &Grouping<'_>,
        terms: Terms,
    ) -> Option<Joined> {
        let around = found.around;
        let inside = &main.loops[around.len()..];
        // A block has whole periods: all iterations of the loops inside.
        let mut taken = vec![1; around.len()];
        taken.extend(inside.iter().map(|level| level.extent));
        let extents = BlockExtents::grown_from((&main.loops, main.run), found.period, taken);
        let taken = extents.taken[..around.len()].to_vec();
        let image = Image::of((around, found.period), &taken)?;
        let mut parts = Vec::new();
        for &number in &found.members {
            let own = &regions[number];
            let mut loops = inner_loops(own, around)?;
            loops.extend_from_slice(&image.first);
            let mut region = crate::cpu::way::region(loops, own.run);
            (region.src, region.dst) =
                (own.src - main.src, own.dst - found.dst + cost::LINE as i64);
            let way = Way::in_blocks(&region.whole(), Terms { locality: Locality::Cache, ..terms });
            let prefetches = matches!(way, Way::TiledTranspose(_));
            let prefetched = if prefetches {
                Vec::new()
            } else {
                prefetch::lines(&Region { src: 0, ..region.clone() })
            };
            parts.push(JoinedPart { number, region, way, prefetched, ran: Count::default() });
        }
        Some(Joined {
            terms,
            fill: program.fill(),
            around: around.to_vec(),
            taken,
            src: main.src,
            dst: found.dst,
            period: found.period,
            parts,
            stage: image.stage(),
            others: Count::default(),
            covers: found.covers,
        })
    }

    /// Returns the name and the details of the way of a region that is moved with others.
    pub(crate) fn name(&self, number: usize) -> Option<(String, String)> {
        let part = self.parts.iter().find(|part| part.number == number)?;
        let terms = Terms { locality: Locality::Cache, ..self.terms };
        let name = format!("joined {}", part.way.name(&part.region.whole(), terms));
        let (period, bytes) = (self.period, self.stage.bytes);
        let details = format!(
            " in {}, past the caches, with the padding in whole periods of {period} bytes, through blocks of {bytes} bytes",
            self.terms.isa.name()
        );
        Some((name, details))
    }

    /// Returns whether a region is moved with others.
    pub(crate) fn has(&self, number: usize) -> bool {
        self.parts.iter().any(|part| part.number == number)
    }

    /// Returns the number of runs of a region's part.
    pub(crate) fn ran(&self, number: usize) -> u64 {
        self.parts.iter().find(|part| part.number == number).map_or(0, |part| part.ran.get())
    }

    /// Returns the number of parts of blocks that another way than the printed one moved.
    pub(crate) fn others(&self) -> u64 {
        self.others.get()
    }

    /// Counts a run of all parts.
    pub(crate) fn add(&self) {
        self.parts.iter().for_each(|part| part.ran.add());
    }

    /// Returns the whole destination as one share.
    pub(crate) fn whole<'a>(&'a self, out: &'a mut [u8]) -> JoinedShare<'a> {
        let (level, inner) = (self.around[0], &self.around[1..]);
        JoinedShare { level, inner, src: self.src, dst: self.dst, out }
    }

    /// Returns about `count` shares of the destination, if there are that many blocks.
    pub(crate) fn shares<'a>(&'a self, count: u64, out: &'a mut [u8]) -> Vec<JoinedShare<'a>> {
        let mut cut = 0;
        let blocks = |i: usize| self.around[i].extent.div_ceil(self.taken[i]);
        let mut all = blocks(0);
        while all < count && cut + 1 < self.around.len() && self.taken[cut] == 1 {
            cut += 1;
            all = all.saturating_mul(blocks(cut));
        }
        let each = blocks(cut).div_ceil((count * blocks(cut)).div_ceil(all.max(1)).max(1));
        let step = each.saturating_mul(self.taken[cut]).max(1);
        let (outer, own, inner) = (&self.around[..cut], self.around[cut], &self.around[cut + 1..]);
        let reach = inner.iter().map(Loop::dst_reach).sum::<i64>() + self.period as i64;
        let (mut shares, mut rest, mut at) = (Vec::new(), out, 0);
        for_each(outer, self.src, self.dst, &mut |src, dst| {
            // The last share takes the rest, so that each has the extents of a block.
            let count = (own.extent / step).max(1);
            for i in 0..count {
                let first = i * step;
                let extent = if i + 1 < count { step } else { own.extent - first };
                let level = Loop { extent, ..own };
                let (src, dst) = (src + first as i64 * own.src, dst + first as i64 * own.dst);
                let after = std::mem::take(&mut rest).split_at_mut((dst - at) as usize).1;
                let (out, after) = after.split_at_mut((level.dst_reach() + reach) as usize);
                (rest, at) = (after, dst + out.len() as i64);
                shares.push(JoinedShare { level, inner, src, dst: 0, out });
            }
        });
        shares
    }

    /// Moves a share.
    pub(crate) fn run(&self, share: &mut JoinedShare<'_>, src: &[u8], scratch: &mut Scratch) {
        let JoinedShare { level, inner, src: from, dst: to, out } = share;
        let isa = self.terms.isa;
        let (taken, inner_taken) = self.taken[self.taken.len() - inner.len() - 1..].split_at(1);
        let walk = |f: &mut dyn FnMut(i64, i64)| {
            for at in cost::firsts(level.extent, taken[0]) {
                let first = (*from + at * level.src, *to + at * level.dst);
                cost::blocks((inner, inner_taken), first, f);
            }
        };
        let begin = |image: &mut [u8]| {
            for (at, _) in &self.stage.runs.places {
                let run = &mut image[*at..][..self.stage.runs.len];
                padding::fill(self.terms.elements, self.fill, 0, run);
            }
        };
        let fill = |scratch: &mut Scratch, from: i64, next: Option<i64>, image: &mut [u8]| {
            for part in &self.parts {
                let own = part.region.whole();
                if let (Some(next), false) = (next, part.prefetched.is_empty()) {
                    Prefetch::of(src, next + own.src, &part.prefetched, 1).all(isa);
                }
                let mut tools = Tools {
                    elements: Elements::same(8),
                    isa,
                    locality: Locality::Cache,
                    prefetch: None,
                    ahead: next.map_or(0, |next| next - from),
                    scratch,
                };
                let region = RegionRef { src: own.src + from, ..own };
                if part.way.run(&mut tools, &region, src, image) != part.way.kind() {
                    self.others.add();
                }
            }
        };
        self.stage.stream((isa, scratch), out, walk, begin, fill);
    }
}

impl<'a> Grouping<'a> {
    /// Returns the regions within the periods of the first `count` loops of the main region.
    fn of(
        program: &Program,
        regions: &[Region],
        main: &'a Region,
        count: usize,
    ) -> Option<Grouping<'a>> {
        let around = &main.loops[..count];
        let period = around.last()?.dst as u64;
        let width = u64::from(program.elements().dst_bits / 8);
        let dst = main.dst / period as i64 * period as i64;
        // The loops around contain one another, so that a part of the first ones is a slice.
        let nested = (0..count).all(|i| {
            let inner: i64 = around[i + 1..].iter().map(Loop::dst_reach).sum();
            let whole = (around[i].dst as u64).is_multiple_of(width);
            whole && inner + period as i64 <= around[i].dst
        });
        let end = dst + around.iter().map(Loop::dst_reach).sum::<i64>() + period as i64;
        if period > LONGEST_PERIOD || !nested || end as u64 > program.dst_bytes() {
            return None;
        }
        let inside = |region: &Region| {
            let Some(loops) = inner_loops(region, around) else { return false };
            let reach = loops.iter().map(Loop::dst_reach).sum::<i64>() + region.run as i64;
            let first = region.dst - dst;
            first >= 0 && first + reach <= period as i64
        };
        let members: Vec<usize> = (0..regions.len()).filter(|i| inside(&regions[*i])).collect();
        let periods = around.iter().map(|level| level.extent).product::<u64>();
        let covers = dst == 0
            && members.len() == regions.len()
            && periods.checked_mul(period) == Some(program.dst_bytes());
        Some(Grouping { around, period, dst, members, covers })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Elements, Plan, Program};
    use tilewright_core::{Digit, Fractal, Layout, Pattern, TensorLayout};

    const FILL: u128 = 0x0807_0605_0403_0201;

    /// Runs the plan past the caches, however small, and compares it with the offsets of both layouts. Returns whether regions
    /// were moved together.
    fn check(src: &TensorLayout, dst: &TensorLayout, bits: u32) -> bool {
        let program = Program::new(src, dst, Elements::same(bits), FILL).unwrap();
        let plan = Plan::past_caches(program).with_min_range(1);
        let width = bits as usize / 8;
        let source: Vec<u8> = (0..plan.src_bytes()).map(|i| ((i * 167) >> 3) as u8).collect();
        let fill = &FILL.to_le_bytes()[..width];
        let mut expected = fill.repeat(dst.capacity() as usize);
        for index in 0..src.size() {
            let from = src.offset_of(index).unwrap() as usize * width;
            let to = dst.offset_of(index).unwrap() as usize * width;
            expected[to..to + width].copy_from_slice(&source[from..from + width]);
        }
        for (threads, at) in [(1, 0), (1, 5), (2, 16), (3, 63)] {
            let mut out = vec![0xA5; at + expected.len() + 3];
            plan.run(&source, &mut out[at..], threads).unwrap();
            assert!(out[at..][..expected.len()] == expected, "{plan}\n{threads} threads at {at}");
            assert!(out[..at].iter().chain(&out[at + expected.len()..]).all(|byte| *byte == 0xA5));
        }
        let text = plan.to_string();
        let printed = |name: &str| {
            text.contains(&format!("\n  {name} in ")) || text.contains(&format!("\n  {name}, "))
        };
        assert!(plan.ways_run().iter().all(|(name, _)| printed(name)), "{plan}");
        plan.0.joined.is_some()
    }

    /// A part of an array leaves what is around its elements, padding included.
    #[test]
    fn a_part_does_not_write_the_padding() {
        let file = TensorLayout::row_major(&[50, 5, 33]).unwrap();
        let whole = Fractal::ZN.pattern(16, 16).batched().layout(&[50, 9, 40]).unwrap();
        let sides = ((&file, &[0; 3][..]), (&whole, &[0, 2, 4][..]));
        let program = Program::of_part(sides.0, sides.1, &[50, 5, 33], Elements::same(8)).unwrap();
        let plan = Plan::past_caches(program).with_min_range(1);
        let source: Vec<u8> = (0..file.size()).map(|i| (i % 251) as u8).collect();
        let mut expected = vec![0xA5; whole.capacity() as usize];
        for (index, byte) in source.iter().enumerate() {
            let [i, j, k] = [index / 165, index / 33 % 5, index % 33].map(|at| at as u64);
            expected[whole.offset(&[i, j + 2, k + 4]).unwrap() as usize] = *byte;
        }
        for threads in [1, 2] {
            let mut out = vec![0xA5; expected.len()];
            plan.run(&source, &mut out, threads).unwrap();
            assert!(out == expected, "{plan}");
        }
    }

    /// Ragged tiles of each kind, padded rows and columns, from row-major, column-major and reversed arrays.
    #[test]
    #[cfg_attr(miri, ignore = "takes hours")]
    fn regions_that_are_moved_together_are_what_the_offsets_say() {
        let blocked = |extents: &[u64; 3], inner: (u64, u64)| {
            let digits = [
                Digit::rest(1, 1),
                Digit::rest(2, 1),
                Digit::rest(0, 0),
                Digit::fixed(1, 0, inner.0),
                Digit::fixed(2, 0, inner.1),
            ];
            Pattern::new(3, &digits).unwrap().layout(extents).unwrap()
        };
        let (mut joined, mut all) = (0, 0);
        for extents in [[40, 7, 33], [9, 37, 21], [130, 3, 50], [5, 20, 70], [3, 6, 260]] {
            let [a, b, c] = extents;
            let row = TensorLayout::row_major(&extents).unwrap();
            let col = TensorLayout::col_major(&extents).unwrap();
            let text = format!("({a},{b},{c}):({},{},-1)", b * c, c);
            let reversed = Layout::parse(&text).unwrap().with_offset(c as i64 - 1).unwrap();
            let reversed = TensorLayout::of(&reversed);
            let pitch = format!("({a},{b},{c}):({},{},1)", b * (c + 7), c + 7);
            let pitched =
                TensorLayout::new(&extents, &Layout::parse(&pitch).unwrap(), a * b * (c + 7));
            let mut targets =
                vec![blocked(&extents, (4, 8)), blocked(&extents, (16, 3)), pitched.unwrap()];
            targets.extend(
                [Fractal::ZN, Fractal::NZ, Fractal::ZZ]
                    .map(|kind| kind.pattern(16, 16).batched().layout(&extents).unwrap()),
            );
            for dst in &targets {
                for src in [&row, &col, &reversed] {
                    for bits in [8, 16, 24, 32, 64, 128] {
                        all += 1;
                        joined += usize::from(check(src, dst, bits));
                        if dst.injective() == Ok(true) {
                            all += 1;
                            joined += usize::from(check(dst, src, bits));
                        }
                    }
                }
            }
        }
        assert!(joined > all / 4, "{joined} of {all}");
    }
}
