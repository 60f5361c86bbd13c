//! Kernels: what moves the elements of one box.
//!
//! Chosen by run length, strides and element width, never by dtype. Every kernel
//! re-derives its bounds from the slices it is given; those of an instruction set have a folder of
//! their own beside the generic ones.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod ask;
mod bits;
mod enter;
mod exchange;
mod few;
mod field;
mod isa;
mod lane;
mod line;
mod portable;
mod rows;
mod sink;
mod stage;
mod strip;
#[cfg(test)]
mod suite;
mod table;
mod thin;
mod tile;
mod together;
mod vector;
mod weave;
#[cfg(target_arch = "x86_64")]
mod x86_64;
mod zip;

use crate::{
    Elements,
    cpu::clip::RegionRef,
    cpu::cost,
    cpu::hops::Hops,
    cpu::weave::{Reach, Weave},
    program::region::Loop,
};
pub(crate) use ask::{Ask, lines};
pub(crate) use isa::Isa;
pub(crate) use table::table;
pub(crate) use thin::one_of;
pub(crate) use tile::Scratch;
pub(crate) use together::Together;

/// How the units of a part are read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codec {
    /// Units are bytes.
    Bytes,
    /// Units are elements, of up to 32 bits, little-endian or packed.
    Packed(Elements),
}

/// The kernel for a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One contiguous run.
    Copy,
    /// Contiguous runs, one by one.
    Rows,
    /// Runs of packed elements, shifted into phase.
    BitRows,
    /// Elements one by one along the loop that is nearest to contiguous on both sides.
    Line,
    /// Square blocks of two loops, through a scratch buffer; the second loop is turn `minor`.
    Tile { minor: usize },
}

/// Runs of more bytes than this are copied one by one.
const MAX_LANE: u64 = 32;

/// A source stride of so many bytes shares no cache line worth a block.
const FAR: u64 = 128;

/// The kernel for these loops.
pub(crate) fn choose(codec: Codec, run: u64, loops: &[Loop]) -> Kind {
    let (same, unit) = match codec {
        Codec::Bytes => (true, 8),
        Codec::Packed(elements) => (elements.are_same(), u64::from(elements.src_bits)),
    };
    match codec {
        Codec::Bytes if loops.is_empty() => return Kind::Copy,
        Codec::Bytes if run > MAX_LANE || !lane::is_lane(run) => return Kind::Rows,
        Codec::Packed(_) if same && run >= 32 => return Kind::BitRows,
        Codec::Packed(_) if run > 1 => return Kind::Line,
        Codec::Bytes | Codec::Packed(_) => {}
    }
    let nearest = loops.iter().enumerate().min_by_key(|(_, turn)| turn.src.unsigned_abs());
    match nearest {
        Some((minor, turn))
            if minor + 1 < loops.len() && turn.src.unsigned_abs() * unit < FAR * 8 =>
        {
            Kind::Tile { minor }
        }
        _ => Kind::Line,
    }
}

/// Moves the elements of a part from `src` to `out`.
pub(crate) fn run(tools: &mut Tools<'_>, part: RegionRef<'_>, src: &[u8], out: &mut [u8]) {
    let elements = tools.elements;
    let codec = if part.packed { Codec::Packed(elements) } else { Codec::Bytes };
    if few::few(tools, &part, src, out)
        || thin::thin(tools, &part, src, out)
        || hop(tools, &part, src, out)
        || weaves(tools, &part, src, out)
        || sought_hop(tools, &part, src, out)
        || field::fields(tools, &part, src, out)
    {
        return;
    }
    let far = tools.reach == Reach::Far && rows::are_far(&part);
    let scratch = &mut *tools.scratch;
    match choose(codec, part.run, part.loops) {
        Kind::Copy | Kind::Rows if far => rows::rows_far(tools.isa, &part, src, out, scratch),
        Kind::Copy => rows::copy(src, part.src, out, part.dst, part.run),
        Kind::Rows => rows::rows(&part, src, out),
        Kind::BitRows => bits::rows(&part, elements.src_bits, src, out),
        Kind::Line => lane::line(codec, &part, src, out, scratch),
        Kind::Tile { minor } => lane::tile(codec, &part, minor, src, out, scratch),
    }
}

/// The bits of a unit of a part.
fn unit(elements: Elements, packed: bool) -> u32 {
    if packed { elements.src_bits } else { 8 }
}

/// The weave of a part, if it is one and large enough.
pub(crate) fn weave_of(
    elements: Elements,
    isa: Isa,
    part: &RegionRef<'_>,
    reach: Reach,
) -> Option<Weave> {
    let unit = unit(elements, part.packed);
    if reach == Reach::Far && rows::are_far(part) {
        return None;
    }
    let units = part.loops.iter().map(|turn| turn.extent).product::<u64>() * part.run;
    let large = u128::from(units) * u128::from(unit) / 8 >= u128::from(cost::LEAST);
    (large && elements.are_same()).then(|| Weave::of(part, unit, isa.register(), reach))?
}

/// Whether a part's elements are picked by tables, rather than woven.
pub(crate) fn is_picked(isa: Isa, part: &RegionRef<'_>) -> bool {
    one_of(part).is_some() || few::is_few(isa, part)
}

/// The hops of a part that is no weave, if it is large enough.
pub(crate) fn hops_of(
    elements: Elements,
    isa: Isa,
    part: &RegionRef<'_>,
    reach: Reach,
) -> Option<Hops> {
    if reach == Reach::Far && rows::are_far(part) {
        return None;
    }
    let bytes = part.loops.iter().map(|turn| turn.extent).product::<u64>() * part.run;
    (bytes >= cost::LEAST && elements.are_same()).then(|| Hops::of(part, isa, reach))?
}

/// Runs a part as a weave, if it is one and large enough: as one of these, if it fits.
fn weaves(tools: &mut Tools<'_>, part: &RegionRef<'_>, src: &[u8], out: &mut [u8]) -> bool {
    let unit = unit(tools.elements, part.packed);
    let made;
    let weave = match tools.weaves.iter().find(|weave| weave.fits(part, unit, tools.reach)) {
        Some(weave) => weave,
        None if tools.seek => match weave_of(tools.elements, tools.isa, part, tools.reach) {
            Some(weave) => {
                made = weave;
                &made
            }
            None => return false,
        },
        None => return false,
    };
    let Some((from, to)) = weave.begins(part, unit) else { return false };
    weave::weave(tools.isa, weave, part, (src, from), (out, to), tools.ask, tools.scratch)
}

/// Runs a part in two hops, if such were made for it: a block after the other, through a buffer.
fn hop(tools: &mut Tools<'_>, part: &RegionRef<'_>, src: &[u8], out: &mut [u8]) -> bool {
    let Some(hops) = tools.hops.iter().find(|hops| hops.fits(part, tools.reach)) else {
        return false;
    };
    through(tools, hops, part, src, out);
    true
}

/// Runs a part of a part in hops of its own, if it is large: those of the whole may be longer than it.
fn sought_hop(tools: &mut Tools<'_>, part: &RegionRef<'_>, src: &[u8], out: &mut [u8]) -> bool {
    let bytes = part.loops.iter().fold(part.run, |all, turn| all.saturating_mul(turn.extent));
    if !tools.seek || tools.hops.is_empty() || bytes < cost::SOUGHT {
        return false;
    }
    let Some(hops) = hops_of(tools.elements, tools.isa, part, tools.reach) else { return false };
    through(tools, &hops, part, src, out);
    true
}

/// Runs a part in these hops, which fit it.
fn through(tools: &mut Tools<'_>, hops: &Hops, part: &RegionRef<'_>, src: &[u8], out: &mut [u8]) {
    let mut buffer = tools.scratch.take_block(hops.bytes);
    let (weaves, block) = (&hops.weaves[..], buffer.bytes(hops.bytes));
    let mut move_block = |(from, to): (i64, i64), next: Option<i64>| {
        let (first, second) = (hops.first.part(), hops.second.part());
        let near =
            &mut Tools { reach: hops.into(), weaves, hops: &[], seek: false, ..tools.again() };
        run(near, RegionRef { src: from, ..first }, src, block);
        let next = next.filter(|_| !hops.asked.is_empty());
        let ask = next.map(|next| Ask::of(src, next, &hops.asked, hops.bytes));
        let ask = ask.as_ref();
        let own = &mut Tools { weaves, hops: &[], seek: false, ask, ..tools.again() };
        run(own, RegionRef { dst: to, ..second }, block, out);
    };
    let mut last = None;
    hops.each(part, &mut |from, to| {
        if let Some(last) = last.replace((from, to)) {
            move_block(last, Some(from));
        }
    });
    if let Some(last) = last {
        move_block(last, None);
    }
    tools.scratch.give_block(buffer);
}

/// What runs a part, beside the data.
pub(crate) struct Tools<'a> {
    pub(crate) elements: Elements,
    pub(crate) isa: Isa,
    pub(crate) reach: Reach,
    /// Weaves and hops made beforehand.
    pub(crate) weaves: &'a [Weave],
    pub(crate) hops: &'a [Hops],
    /// Whether others are sought for a part that none of these fits: not if that was done before.
    pub(crate) seek: bool,
    /// What to ask for meanwhile, rather than what the part itself reads.
    pub(crate) ask: Option<&'a Ask<'a>>,
    pub(crate) scratch: &'a mut Scratch,
}

impl Tools<'_> {
    /// The same, for a while.
    fn again(&mut self) -> Tools<'_> {
        Tools { scratch: self.scratch, ..*self }
    }
}

/// The short name of a kernel, as plans print it.
pub(crate) fn name(elements: Elements, packed: bool, run: u64, loops: &[Loop]) -> String {
    let codec = if packed { Codec::Packed(elements) } else { Codec::Bytes };
    let Elements { src_bits, dst_bits, .. } = elements;
    let width = match codec {
        Codec::Bytes => format!("{run}B"),
        Codec::Packed(_) if elements.are_same() => format!("{src_bits}b"),
        Codec::Packed(_) => format!("{src_bits}b to {dst_bits}b"),
    };
    match choose(codec, run, loops) {
        Kind::Copy => "memcpy".to_string(),
        Kind::Rows => "rows".to_string(),
        Kind::BitRows => "bits".to_string(),
        Kind::Line => format!("gather {width}"),
        Kind::Tile { .. } => format!("transpose {width}"),
    }
}

/// The block a kernel works in, in units of turns: along the source's loop and the destination's.
pub(crate) fn block(
    elements: Elements,
    packed: bool,
    run: u64,
    loops: &[Loop],
) -> Option<(u64, u64)> {
    let codec = if packed { Codec::Packed(elements) } else { Codec::Bytes };
    let Kind::Tile { minor } = choose(codec, run, loops) else { return None };
    let width = lane::width(codec, run);
    let (s, d) = tile::block_size(width, loops[minor].extent, loops.last()?.extent);
    Some((s as u64, d as u64))
}
