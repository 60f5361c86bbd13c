//! The way a region is moved: chosen once, when a plan is made; running is one match.
//!
//! A way serves the region that it was chosen for, and every part of it that has the turns that
//! [`Way::least`] says of each loop. [`Way::plain`] serves parts of any size.
//!
//! Law: a way moves every element of a part to its place, and writes nothing else.

mod describe;
mod hops;

use crate::{
    Elements,
    cpu::{
        cost,
        kernel::{self, Few, Field, Isa, Panel, Thin, Tools},
        weave::{Reach, Weave},
    },
    program::region::{Loop, RegionRef},
};
use hops::Hops;

/// How a region is moved.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Runs of bytes, one or many.
    Rows,
    /// A few rows joined into one, or one row dealt out to a few, in registers.
    Few(Few),
    /// Every nth element of rows, in registers.
    Thin(Thin),
    /// Loops of any extents transposed in registers, in the caches.
    Panel(Box<Panel>),
    /// Address bits permuted in registers.
    Weave(Box<Weave>),
    /// Two ways, through a block that stays in a cache.
    Hops(Box<Hops>),
    /// Elements of 1, 2 or 4 bits packed from bytes or unpacked into them, in registers.
    Field(Field),
    /// Runs of packed elements, shifted into phase.
    Bits,
    /// Blocks of two loops, through a scratch buffer, element by element: the last loop and this one.
    Tile { minor: usize },
    /// Elements one by one along the last loop.
    Line,
}

/// The kind of a way: what ran, said by the arm that ran it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Rows,
    Few,
    Thin,
    Panel,
    Weave,
    Hops,
    Field,
    Bits,
    Tile,
    Line,
}

/// What a way depends on, beside its region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) elements: Elements,
    pub(crate) isa: Isa,
    pub(crate) reach: Reach,
}

/// A source stride of at least this many bytes shares no cache line worth a block.
const FAR: u64 = 128;

impl Way {
    /// The best way for a region.
    pub(crate) fn of(region: &RegionRef<'_>, terms: Terms) -> Way {
        let Terms { elements, isa, reach } = terms;
        if reach == Reach::Far && kernel::are_far(region) {
            return Way::Rows;
        }
        Way::picked(region, isa)
            .or_else(|| Way::exchanged(region, terms))
            .or_else(|| Field::of(elements, isa, region).map(Way::Field))
            .unwrap_or_else(|| Way::plain(region, elements))
    }

    /// The best of weaves, panels and hops, if there is one.
    fn exchanged(region: &RegionRef<'_>, terms: Terms) -> Option<Way> {
        let (weave, panel) = (weave(region, terms), panel(region, terms));
        let dense = |panel: &Panel| terms.reach == Reach::Near && panel.is_dense();
        let best = |panel: &Panel| match &weave {
            Some(weave) if is_scattered(region, weave) => true,
            Some(weave) => {
                panel.is_compact() && panel.beats(weave.instructions(), weave.moved() > 1.0)
            }
            None => panel.is_compact() || dense(panel),
        };
        if panel.as_ref().is_some_and(best) {
            return panel.map(|panel| Way::Panel(Box::new(panel)));
        }
        let hops = || Hops::of(region, terms).map(|hops| Way::Hops(Box::new(hops)));
        let panel = || panel.map(|panel| Way::Panel(Box::new(panel)));
        weave.map(|weave| Way::Weave(Box::new(weave))).or_else(hops).or_else(panel)
    }

    /// The way that picks elements by tables, if there is one.
    fn picked(region: &RegionRef<'_>, isa: Isa) -> Option<Way> {
        let few = || Few::of(isa, region).map(Way::Few);
        few().or_else(|| Thin::of(isa, region).map(Way::Thin))
    }

    /// The way for parts of any size.
    pub(crate) fn plain(region: &RegionRef<'_>, elements: Elements) -> Way {
        let (run, loops) = (region.run, region.loops);
        if !region.packed && (loops.is_empty() || run > cost::MAX_LANE || !kernel::is_lane(run)) {
            return Way::Rows;
        }
        if region.packed && run > 1 {
            let same = elements.are_same() && run >= 32;
            return if same { Way::Bits } else { Way::Line };
        }
        let near = |minor: &usize| {
            let bits =
                loops[*minor].src.unsigned_abs().saturating_mul(unit(elements, region.packed));
            minor + 1 < loops.len() && bits < FAR * 8
        };
        nearest(loops).filter(near).map_or(Way::Line, |minor| Way::Tile { minor })
    }

    /// The turns that a part needs of loop `i` of the region that this was chosen for.
    pub(crate) fn least(&self, whole: &RegionRef<'_>, i: usize) -> u64 {
        let (rank, extent) = (whole.loops.len(), whole.loops[i].extent);
        match self {
            Way::Few(few) if few.needs_all(i, rank) => extent,
            Way::Panel(panel) => panel.least(i),
            Way::Thin(thin) if i + 1 == rank => thin.least(whole.run),
            Way::Weave(weave) => weave.shape[i],
            Way::Hops(hops) => hops.taken[i],
            Way::Rows | Way::Few(_) | Way::Thin(_) | Way::Field(_) => 1,
            Way::Bits | Way::Tile { .. } | Way::Line => 1,
        }
    }

    /// The turns of loop `i` that are best not cut.
    pub(crate) fn together(&self, whole: &RegionRef<'_>, i: usize, elements: Elements) -> u64 {
        let last = i + 1 == whole.loops.len();
        match self {
            Way::Tile { minor } if last || i == *minor => {
                let (s, d) = kernel::block_size(whole, elements, *minor);
                if last { d } else { s }
            }
            Way::Thin(_) | Way::Line if last => self.least(whole, i).max(cost::LINE),
            _ => self.least(whole, i), // open set
        }
    }

    /// Whether a part of the region that this was chosen for is large enough.
    pub(crate) fn serves(&self, whole: &RegionRef<'_>, part: &RegionRef<'_>, terms: Terms) -> bool {
        let long = |i: usize| part.loops[i].extent >= self.least(whole, i);
        let begins = match self {
            Way::Weave(weave) => begins(weave, part, terms.elements),
            Way::Field(field) => part.run >= field.least(terms.elements),
            Way::Few(_) | Way::Thin(_) | Way::Panel(_) | Way::Hops(_) => part.run == whole.run,
            Way::Rows | Way::Bits | Way::Tile { .. } | Way::Line => true,
        };
        begins && (0..part.loops.len()).all(long)
    }

    /// What it says that it is.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Way::Rows => Kind::Rows,
            Way::Few(_) => Kind::Few,
            Way::Thin(_) => Kind::Thin,
            Way::Panel(_) => Kind::Panel,
            Way::Weave(_) => Kind::Weave,
            Way::Hops(_) => Kind::Hops,
            Way::Field(_) => Kind::Field,
            Way::Bits => Kind::Bits,
            Way::Tile { .. } => Kind::Tile,
            Way::Line => Kind::Line,
        }
    }

    /// Moves a part of the region that this was chosen for, which it [serves](Way::serves). Returns what did
    /// it.
    pub(crate) fn run(
        &self,
        tools: &mut Tools<'_>,
        part: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> Kind {
        let (done, kind) = match self {
            Way::Rows => (kernel::copy_rows(tools, part, src, out), Kind::Rows),
            Way::Few(few) => (few.run(tools, part, src, out), Kind::Few),
            Way::Thin(thin) => (thin.run(tools, part, src, out), Kind::Thin),
            Way::Panel(panel) => (panel.run(tools, part, src, out), Kind::Panel),
            Way::Weave(weave) => (kernel::weave_blocks(tools, weave, part, src, out), Kind::Weave),
            Way::Hops(hops) => (hops.run(tools, part, src, out), Kind::Hops),
            Way::Field(field) => (field.run(tools, part, src, out), Kind::Field),
            Way::Bits => (kernel::copy_bits(tools, part, src, out), Kind::Bits),
            Way::Tile { minor } => (kernel::move_blocks(tools, part, *minor, src, out), Kind::Tile),
            Way::Line => (kernel::move_elements(tools, part, src, out), Kind::Line),
        };
        debug_assert!(done, "{self} does not serve {part:?}");
        if done { kind } else { Way::plain(part, tools.elements).run(tools, part, src, out) }
    }
}

/// The loop that is nearest to contiguous in the source.
fn nearest(loops: &[Loop]) -> Option<usize> {
    (0..loops.len()).min_by_key(|&i| loops[i].src.unsigned_abs())
}

/// The bits of a unit of a region.
fn unit(elements: Elements, packed: bool) -> u64 {
    if packed { u64::from(elements.src_bits) } else { 8 }
}

/// The weave of a region, if it is one and large enough for tables.
fn weave(region: &RegionRef<'_>, Terms { elements, isa, reach }: Terms) -> Option<Weave> {
    let unit = unit(elements, region.packed);
    let large = u128::from(region.size()) * u128::from(unit) / 8 >= u128::from(cost::LEAST);
    let weave = (large && elements.are_same())
        .then(|| Weave::of(region, unit as u32, isa.register(), reach))??;
    begins(&weave, region, elements).then_some(weave)
}

/// The panel of a region, if it is one and large enough for tables.
fn panel(region: &RegionRef<'_>, Terms { elements, isa, .. }: Terms) -> Option<Panel> {
    let large = region.size() >= cost::LEAST_PANEL && elements.are_same();
    large.then(|| Panel::of(isa, region))?
}

/// Whether the blocks of a weave move short pieces of memory that hold few runs: a panel takes them as they come
/// (`zN` of rows of 100 bytes 0.20 → 0.61, every third of 16 bytes reversed 0.41 → 0.62).
fn is_scattered(region: &RegionRef<'_>, weave: &Weave) -> bool {
    let shortest = weave.runs.0.min(weave.runs.1);
    weave.reach == Reach::Far && region.run >= cost::LANE && shortest < cost::LEAST_WRITE_RUN
}

/// Whether the registers of a weave begin with bytes, and it goes over its blocks in no more loops than are
/// kept.
fn begins(weave: &Weave, part: &RegionRef<'_>, elements: Elements) -> bool {
    let first = weave.begins(part, unit(elements, part.packed) as u32);
    first.is_some_and(|(src, dst)| weave.blocks(part, src, dst).is_some())
}
