//! Ways to move a region, their names in plans, and regions of a plan with the ways of their parts.
//!
//! A way is a kernel with its parameters. It is chosen once, when a plan is made; a run is one `match`.
//!
//! A way serves the region for which it was chosen, and every part of it that has at least [`Way::least`] iterations of
//! each loop. [`Way::plain`] serves parts of any size.
//!
//! Law: a way moves every element of a part to its position, and writes nothing else.
//!
//! # Parts
//!
//! A range of the destination cuts a region into parts along its last loops. The first of these loops may be shorter,
//! the others are complete. So there is a way for each number of last loops, chosen when a part first needs it, and
//! [`Way::plain`] for a part that is too short for its way.

mod block;
mod staged;
mod two_pass;

use core::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};
use std::sync::OnceLock;

use crate::{
    Elements,
    cpu::{
        cost,
        kernel::{self, Interleave, Isa, PackedField, StridedPack, TiledTranspose, Tools},
        scratch::Scratch,
        transpose::{Locality, RegisterTranspose},
    },
    program::region::{Loop, Region, RegionRef},
};
pub(crate) use block::{BlockExtents, Image, Stage, region};
use staged::Staged;
use two_pass::TwoPass;

/// A kernel that moves a region, with its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Copies runs of bytes, one or many.
    Rows,
    /// Interleaves a few rows into one, or deinterleaves one row into a few, in registers.
    Interleave(Interleave),
    /// Packs every nth element of rows, in registers.
    StridedPack(StridedPack),
    /// Transposes tiles of any extents in registers, for data in the caches.
    TiledTranspose(Box<TiledTranspose>),
    /// Permutes address bits in registers.
    RegisterTranspose(Box<RegisterTranspose>),
    /// Uses two ways, through a block that stays in a cache.
    TwoPass(Box<TwoPass>),
    /// Puts blocks together in a buffer, and streams them.
    Staged(Box<Staged>),
    /// Packs bytes to elements of 1, 2 or 4 bits, or unpacks them, in registers.
    Field(PackedField),
    /// Copies runs of packed elements, shifted to their bit positions.
    Bits,
    /// Moves blocks of two loops, the last loop and this one, element by element through a scratch buffer.
    Blocks { minor: usize },
    /// Moves single elements along the last loop.
    Gather,
}

/// The kind of a way, which a run returns for what it executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WayKind {
    Rows,
    Interleave,
    StridedPack,
    TiledTranspose,
    RegisterTranspose,
    TwoPass,
    Staged,
    Field,
    Bits,
    Blocks,
    Gather,
}

/// The conditions, apart from its region, on which a way depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) elements: Elements,
    pub(crate) isa: Isa,
    pub(crate) locality: Locality,
}

/// With a source stride of at least this many bytes, blocks do not reuse cache lines enough.
const FAR: u64 = 128;

impl Way {
    /// Returns the best way for a region.
    pub(crate) fn of(region: &RegionRef<'_>, terms: Terms) -> Way {
        let Terms { elements, isa, locality } = terms;
        if locality == Locality::Memory && kernel::are_far(region) {
            return Way::Rows;
        }
        Way::picked(region, isa)
            .or_else(|| Way::exchanged(region, terms))
            .or_else(|| PackedField::of(elements, isa, region).map(Way::Field))
            .unwrap_or_else(|| Way::plain(region, elements))
    }

    /// Returns the way of a region between a source in memory and a buffer in a cache: a tiled transpose prefetches what comes
    /// next, so it is preferred unless it takes many instructions. Two passes need the buffer of blocks, which is taken.
    pub(crate) fn in_blocks(region: &RegionRef<'_>, terms: Terms) -> Way {
        let tiled = tiled_transpose(region, terms);
        let few = |tiled: &TiledTranspose| tiled.instructions() <= staged::FEW_INSTRUCTIONS;
        if tiled.as_ref().is_some_and(few) {
            return tiled.map_or(Way::Gather, |tiled| Way::TiledTranspose(Box::new(tiled)));
        }
        match Way::of(region, terms) {
            Way::TwoPass(_) => Way::plain(region, terms.elements),
            way => way, // open set
        }
    }

    /// Returns the best of register transpose, tiled transpose, staged move and two passes, if there is one.
    fn exchanged(region: &RegionRef<'_>, terms: Terms) -> Option<Way> {
        let (transpose, tiled) = (transpose(region, terms), tiled_transpose(region, terms));
        let dense = |tiled: &TiledTranspose| terms.locality == Locality::Cache && tiled.is_dense();
        let best = |tiled: &TiledTranspose| match &transpose {
            Some(transpose) if is_scattered(region, transpose) => true,
            Some(transpose) => {
                tiled.is_compact() && tiled.beats(transpose.instructions(), transpose.moved() > 1.0)
            }
            None => tiled.is_compact() || dense(tiled),
        };
        let staged = || Staged::of(region, terms);
        if let Some(tiled) = tiled.as_ref().filter(|tiled| best(tiled)) {
            // A tile that is not streamed reads the lines that it writes.
            return staged()
                .map(Way::staged)
                .or_else(|| Some(Way::TiledTranspose(Box::new(tiled.clone()))));
        }
        if let Some(transpose) = transpose {
            let staged = staged().filter(|staged| staged.beats(&transpose)).map(Way::staged);
            return staged.or_else(|| Some(Way::RegisterTranspose(Box::new(transpose))));
        }
        let staged = staged();
        let cheap = staged.as_ref().is_some_and(Staged::beats_two_passes);
        let two_pass = || TwoPass::of(region, terms).map(Box::new).map(Way::TwoPass);
        let staged = || staged.map(Way::staged);
        let found = if cheap { staged() } else { two_pass().or_else(staged) };
        found.or_else(|| tiled.map(|tiled| Way::TiledTranspose(Box::new(tiled))))
    }

    fn staged(staged: Staged) -> Way {
        Way::Staged(Box::new(staged))
    }

    /// Returns the way that picks elements by tables, if there is one.
    fn picked(region: &RegionRef<'_>, isa: Isa) -> Option<Way> {
        let interleave = || Interleave::of(isa, region).map(Way::Interleave);
        interleave().or_else(|| StridedPack::of(isa, region).map(Way::StridedPack))
    }

    /// Returns the way for parts of any size.
    pub(crate) fn plain(region: &RegionRef<'_>, elements: Elements) -> Way {
        let (run, loops) = (region.run, region.loops);
        if !region.packed && (loops.is_empty() || run > cost::MAX_LANE || !kernel::is_lane(run)) {
            return Way::Rows;
        }
        if region.packed && run > 1 {
            let same = elements.are_same() && run >= 32;
            return if same { Way::Bits } else { Way::Gather };
        }
        let near = |minor: &usize| {
            let bits =
                loops[*minor].src.unsigned_abs().saturating_mul(unit(elements, region.packed));
            minor + 1 < loops.len() && bits < FAR * 8
        };
        nearest(loops).filter(near).map_or(Way::Gather, |minor| Way::Blocks { minor })
    }

    /// Returns the iterations that a part needs of loop `i` of the region for which this was chosen.
    pub(crate) fn least(&self, whole: &RegionRef<'_>, i: usize) -> u64 {
        let (rank, extent) = (whole.loops.len(), whole.loops[i].extent);
        match self {
            Way::Interleave(interleave) if interleave.needs_all(i, rank) => extent,
            Way::TiledTranspose(tiled) => tiled.least(i),
            Way::StridedPack(pack) if i + 1 == rank => pack.least(whole.run),
            Way::RegisterTranspose(transpose) => transpose.shape[i],
            Way::TwoPass(two_pass) => two_pass.taken[i],
            Way::Staged(staged) => staged.taken[i],
            Way::Rows | Way::Interleave(_) | Way::StridedPack(_) | Way::Field(_) => 1,
            Way::Bits | Way::Blocks { .. } | Way::Gather => 1,
        }
    }

    /// Returns the iterations of loop `i` that are best not cut.
    pub(crate) fn kept_whole(&self, whole: &RegionRef<'_>, i: usize, elements: Elements) -> u64 {
        let last = i + 1 == whole.loops.len();
        match self {
            Way::Blocks { minor } if last || i == *minor => {
                let (s, d) = kernel::block_size(whole, elements, *minor);
                if last { d } else { s }
            }
            Way::StridedPack(_) | Way::Gather if last => self.least(whole, i).max(cost::LINE),
            _ => self.least(whole, i), // open set
        }
    }

    /// Returns whether a part of the region for which this was chosen is large enough.
    pub(crate) fn serves(&self, whole: &RegionRef<'_>, part: &RegionRef<'_>, terms: Terms) -> bool {
        let long = |i: usize| part.loops[i].extent >= self.least(whole, i);
        let begins = match self {
            Way::RegisterTranspose(transpose) => begins(transpose, part, terms.elements),
            Way::Field(field) => part.run >= field.least(terms.elements),
            Way::Interleave(_)
            | Way::StridedPack(_)
            | Way::TiledTranspose(_)
            | Way::TwoPass(_)
            | Way::Staged(_) => part.run == whole.run,
            Way::Rows | Way::Bits | Way::Blocks { .. } | Way::Gather => true,
        };
        begins && (0..part.loops.len()).all(long)
    }

    /// Returns the kind of this way.
    pub(crate) fn kind(&self) -> WayKind {
        match self {
            Way::Rows => WayKind::Rows,
            Way::Interleave(_) => WayKind::Interleave,
            Way::StridedPack(_) => WayKind::StridedPack,
            Way::TiledTranspose(_) => WayKind::TiledTranspose,
            Way::RegisterTranspose(_) => WayKind::RegisterTranspose,
            Way::TwoPass(_) => WayKind::TwoPass,
            Way::Staged(_) => WayKind::Staged,
            Way::Field(_) => WayKind::Field,
            Way::Bits => WayKind::Bits,
            Way::Blocks { .. } => WayKind::Blocks,
            Way::Gather => WayKind::Gather,
        }
    }

    /// Moves a part of the region for which this was chosen. The way must [serve](Way::serves) the part. Returns the
    /// kind that ran.
    pub(crate) fn run(
        &self,
        tools: &mut Tools<'_>,
        part: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> WayKind {
        let (done, kind) = match self {
            Way::Rows => (kernel::copy_rows(tools, part, src, out), WayKind::Rows),
            Way::Interleave(interleave) => {
                (interleave.run(tools, part, src, out), WayKind::Interleave)
            }
            Way::StridedPack(pack) => (pack.run(tools, part, src, out), WayKind::StridedPack),
            Way::TiledTranspose(tiled) => {
                (tiled.run(tools, part, src, out), WayKind::TiledTranspose)
            }
            Way::RegisterTranspose(transpose) => (
                kernel::transpose_blocks(tools, transpose, part, src, out),
                WayKind::RegisterTranspose,
            ),
            Way::TwoPass(two_pass) => (two_pass.run(tools, part, src, out), WayKind::TwoPass),
            Way::Staged(staged) => (staged.run(tools, part, src, out), WayKind::Staged),
            Way::Field(field) => (field.run(tools, part, src, out), WayKind::Field),
            Way::Bits => (kernel::copy_bits(tools, part, src, out), WayKind::Bits),
            Way::Blocks { minor } => {
                (kernel::move_blocks(tools, part, *minor, src, out), WayKind::Blocks)
            }
            Way::Gather => (kernel::move_elements(tools, part, src, out), WayKind::Gather),
        };
        debug_assert!(done, "{self} does not serve {part:?}");
        if done { kind } else { Way::plain(part, tools.elements).run(tools, part, src, out) }
    }
}

/// Returns the loop with the smallest stride in the source.
fn nearest(loops: &[Loop]) -> Option<usize> {
    (0..loops.len()).min_by_key(|&i| loops[i].src.unsigned_abs())
}

/// Returns the bits of a unit of a region.
fn unit(elements: Elements, packed: bool) -> u64 {
    if packed { u64::from(elements.src_bits) } else { 8 }
}

/// Returns the register transpose of a region, if it has one and is large enough for tables.
fn transpose(
    region: &RegionRef<'_>,
    Terms { elements, isa, locality }: Terms,
) -> Option<RegisterTranspose> {
    let unit = unit(elements, region.packed);
    let large = u128::from(region.size()) * u128::from(unit) / 8 >= u128::from(cost::LEAST);
    let transpose = (large && elements.are_same())
        .then(|| RegisterTranspose::of(region, unit as u32, isa.register(), locality))??;
    begins(&transpose, region, elements).then_some(transpose)
}

/// Returns the tiled transpose of a region, if it has one and is large enough for tables.
fn tiled_transpose(
    region: &RegionRef<'_>,
    Terms { elements, isa, .. }: Terms,
) -> Option<TiledTranspose> {
    let large = region.size() >= cost::LEAST_TILED && elements.are_same();
    large.then(|| TiledTranspose::of(isa, region))?
}

/// Returns whether the blocks of a register transpose move short pieces of memory that hold few runs. A tiled transpose
/// takes such pieces in their order (`zN` with rows of 100 bytes 0.20 → 0.61, every third of 16 bytes reversed 0.41 →
/// 0.62).
fn is_scattered(region: &RegionRef<'_>, transpose: &RegisterTranspose) -> bool {
    let shortest = transpose.runs.0.min(transpose.runs.1);
    transpose.locality == Locality::Memory
        && region.run >= cost::LANE
        && shortest < cost::LEAST_WRITE_RUN
}

/// Returns whether the registers of a register transpose begin at whole bytes, and its loops over blocks are few enough
/// to be stored.
fn begins(transpose: &RegisterTranspose, part: &RegionRef<'_>, elements: Elements) -> bool {
    let first = transpose.begins(part, unit(elements, part.packed) as u32);
    first.is_some_and(|(src, dst)| transpose.blocks(part, src, dst).is_some())
}

// The names of ways, as plans print them.

impl Way {
    /// Returns the name of the kernel, with the width that it moves as a unit.
    pub(crate) fn name(&self, region: &RegionRef<'_>, Terms { elements, .. }: Terms) -> String {
        let (src, dst) = (elements.src_bits, elements.dst_bits);
        let width = match region.packed {
            false => format!("{}B", region.run),
            true if elements.are_same() => format!("{src}b"),
            true => format!("{src}b to {dst}b"),
        };
        match self {
            Way::Rows if region.loops.is_empty() => "copy".to_string(),
            Way::Rows => "rows".to_string(),
            Way::Interleave(interleave) => match interleave.rows() {
                (n, true) => format!("interleave {n} rows of {width}"),
                (n, false) => format!("deinterleave {n} rows of {width}"),
            },
            Way::StridedPack(pack) => {
                format!("strided pack of every {} {width}", ordinal(pack.one_of()))
            }
            Way::TiledTranspose(_) => format!("tiled transpose {width}"),
            Way::RegisterTranspose(_) => format!("transpose {width}"),
            Way::TwoPass(_) => format!("two passes of {width}"),
            Way::Staged(_) => format!("staged {width}"),
            Way::Field(_) if src < dst => format!("unpack {width}"),
            Way::Field(_) => format!("pack {width}"),
            Way::Bits => "bits".to_string(),
            Way::Blocks { .. } => format!("blocks {width}"),
            Way::Gather => format!("gather {width}"),
        }
    }

    /// Returns the instruction set, the blocks, and the use of caches.
    pub(crate) fn details(&self, region: &RegionRef<'_>, terms: Terms) -> String {
        let isa = terms.isa.name();
        match self {
            Way::RegisterTranspose(transpose) => {
                let way = match transpose.locality {
                    Locality::Memory => "past the caches",
                    Locality::Arriving | Locality::Cache => "in the caches",
                };
                let ((read, written), shape) = (transpose.runs, &transpose.shape);
                format!(
                    " in {isa}, {way}, blocks of {shape:?} that read {read} and write {written} bytes together"
                )
            }
            Way::TwoPass(two_pass) => {
                let (first, second) = two_pass.names(terms);
                let (shape, bytes) = (&two_pass.taken, two_pass.bytes);
                format!(
                    " in {isa}, through blocks of {shape:?}, {bytes} bytes: {first}, then {second}"
                )
            }
            Way::Staged(staged) => {
                let (rows, columns) = staged.tiled.size();
                let (shape, bytes) = (&staged.taken, staged.stage.bytes);
                format!(
                    " in {isa}, past the caches, through blocks of {shape:?}, {bytes} bytes, in tiles of {rows} rows and {columns} columns"
                )
            }
            Way::TiledTranspose(tiled) => {
                let (rows, columns) = tiled.size();
                format!(" in {isa}, tiles of {rows} rows and {columns} columns")
            }
            Way::Interleave(_) | Way::StridedPack(_) | Way::Field(_) => format!(" in {isa}"),
            Way::Blocks { minor } => {
                let (s, d) = kernel::block_size(region, terms.elements, *minor);
                format!(" in blocks of {s}×{d}")
            }
            Way::Rows | Way::Bits | Way::Gather => String::new(),
        }
    }
}

/// Returns a number as an ordinal.
fn ordinal(n: usize) -> String {
    match n {
        2 => "2nd".to_string(),
        3 => "3rd".to_string(),
        _ => format!("{n}th"),
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Rows => "rows",
            Way::Interleave(_) => "interleave rows",
            Way::StridedPack(_) => "strided pack",
            Way::TiledTranspose(_) => "tiled transpose",
            Way::RegisterTranspose(_) => "transpose",
            Way::TwoPass(_) => "two passes",
            Way::Staged(_) => "staged",
            Way::Field(_) => "field",
            Way::Bits => "bits",
            Way::Blocks { .. } => "blocks",
            Way::Gather => "gather",
        })
    }
}

// A region with the ways of its parts.

/// The ways of one region.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    terms: Terms,
    /// The way of the region, and the number of its runs.
    first: Way,
    ran: Count,
    /// The ways of parts, by the number of omitted loops, from one on.
    inner: OnceLock<Box<[OnceLock<Way>]>>,
    /// The number of runs of other ways.
    others: Count,
}

/// A number of runs.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Clone for Count {
    /// A copy of a plan has not run yet.
    fn clone(&self) -> Count {
        Count::default()
    }
}

impl Ways {
    /// Chooses the way of a region.
    pub(crate) fn of(region: &Region, terms: Terms) -> Ways {
        Ways {
            terms,
            first: Way::of(&region.whole(), terms),
            ran: Count::default(),
            inner: OnceLock::new(),
            others: Count::default(),
        }
    }

    /// Returns the way of the whole region.
    pub(crate) fn first(&self) -> &Way {
        &self.first
    }

    /// Returns the name of the way of the whole region, for which these were made.
    pub(crate) fn name(&self, region: &Region) -> String {
        self.first.name(&region.whole(), self.terms)
    }

    /// Returns the inputs of a run other than the data.
    pub(crate) fn tools<'a>(&self, scratch: &'a mut Scratch) -> Tools<'a> {
        let Terms { elements, isa, locality } = self.terms;
        Tools { elements, isa, locality, prefetch: None, ahead: 0, scratch }
    }

    /// Returns the conditions for which the ways were chosen.
    pub(crate) fn terms(&self) -> Terms {
        self.terms
    }

    /// Counts a run of the whole region, or of a part along all loops, by the kind that ran.
    pub(crate) fn add(&self, ran: WayKind) {
        let count = if ran == self.first.kind() { &self.ran } else { &self.others };
        count.add();
    }

    /// Returns the numbers of runs of the way of the whole region and of other ways.
    pub(crate) fn ran(&self) -> (u64, u64) {
        (self.ran.get(), self.others.get())
    }

    /// Moves the whole region for which these were made.
    pub(crate) fn run_all(
        &self,
        region: &Region,
        tools: &mut Tools<'_>,
        src: &[u8],
        out: &mut [u8],
    ) {
        self.add(self.first.run(tools, &region.whole(), src, out));
    }

    /// Moves a part of the region for which these were made: its last loops, the first of which may be shorter.
    pub(crate) fn run(
        &self,
        region: &Region,
        tools: &mut Tools<'_>,
        part: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) {
        let terms = self.terms;
        let left = region.loops.len() - part.loops.len();
        let whole = RegionRef { loops: &region.loops[left..], ..region.whole() };
        let way = if left == 0 { &self.first } else { self.inner(region, left, &whole) };
        if way.serves(&whole, part, terms) {
            let ran = way.run(tools, part, src, out);
            return if left == 0 { self.add(ran) } else { self.others.add() };
        }
        self.others.add();
        Way::plain(part, terms.elements).run(tools, part, src, out);
    }

    fn inner(&self, region: &Region, left: usize, whole: &RegionRef<'_>) -> &Way {
        let all = || region.loops.iter().map(|_| OnceLock::new()).collect();
        self.inner.get_or_init(all)[left - 1].get_or_init(|| Way::of(whole, self.terms))
    }
}
