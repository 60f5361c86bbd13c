//! Axe layouts of TVM's TIRx: `T.TileLayout(T.S[(8, 4):(4, 1)] + T.R[2:4 @ Axis.warpid] + 16)`.
//!
//! ```text
//! axe     := tile | compose                         a tile is read by `TileText`
//! compose := 'ComposeLayout' '(' int ',' int ',' int ',' tile [ ',' 'swizzle_inner' '=' bool ] ')'
//! ```
//!
//! `T.` before a name and `Axis.` before an axis may be missing. The iters of `S` split the row-major index of an
//! array, the last fastest; each adds its index times its stride to its axis. The dims of the array are the extents of
//! `S`, or any dims whose row-major index is the same. `R` holds each element at several places, and a term is added to
//! all. `ComposeLayout(base, bits, shift, …)` applies a swizzle to the axis `m`: `Sw<bits,base,shift>`, with the shift
//! downwards if `swizzle_inner=False`. Other axes are places of threads: such a text spreads an array, and has no
//! layout in memory. Source: apache-tvm 0.27, `tvm.tirx.layout`; Hou et al., "Axe", 2026.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `T.TileLayout(T.S[(3, 5):(5, 1)])` | | `(3,5):(5,1)` |
//! | `S[(2, 3, 4)]` | `[6,4]` | `((3,2),4):((4,12),1)` |
//! | `T.TileLayout(T.S[8:-1] + 7)` | | `(8):(-1)+7` |
//! | `T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[(8, 64):(64, 1)]))` | | `Sw<3,3,3> o (8,64):(64,1)` |
//! | `ComposeLayout(3, 2, 3, S[64:1], swizzle_inner=False)` | | `Sw<2,3,-3> o (64):(1)` |
//! | `S[(2, 3):(1, 1)]` | `[4,3]` | error: 12 elements, and the iters count 6 |
//! | `S[(8, 4):(1 @ laneid, 1)]` | | error: a linear layout can express this |
//! | `S[(8, 4):(1 @ gpu, 1)]` | | error: no linear layout expresses this: axis gpu has no bit 0 |
//! | `S[4:1] + R[2:4]` | | error: each element at 2 places |
//! | `S[(4, 2):(1)]` | | error: 1 stride for 2 extents |
//!
//! An Axe layout over threads as a linear map from registers, lanes, warps and blocks to the array.
//!
//! Law: a place holds the element whose shards and some replica add up to it.

use std::{fmt, sync::Arc};

use tilewright_core::{
    Layout, LinearLayout, MAX_MODES, Mode, Profile, Step, Swizzle, TensorLayout,
};
use tilewright_scan::{Iter, MEMORY, Term, TileText, eat_script};

use super::arrays::strided::unsupported;
use crate::{
    Error, ResolvedLayout,
    literal::{Scanner, tuple},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(super) const DIALECT: Notation =
    Notation::new("axe", "TVM's TIRx, Axe: shards and replicas on named axes", read, print)
        .with_aliases(&["tirx"])
        .with_form(claims)
        .with_words(words);

const NAMES: [&str; 2] = ["TileLayout", "ComposeLayout"];

fn words() -> Vec<&'static str> {
    NAMES.to_vec()
}

fn claims(text: &str) -> bool {
    let text = text.strip_prefix("T.").unwrap_or(text);
    NAMES.iter().any(|name| text.starts_with(name)) || text.starts_with("S[")
}

/// A layout as written: a tile, and the swizzle of its memory.
#[derive(Debug)]
struct Axe {
    tile: TileText,
    /// Base, bits and shift, and whether the shift is downwards, as the text has them.
    swizzle: Option<([u64; 3], bool)>,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut scan = Scanner::new(text);
    let axe = if eat_script(&mut scan, "ComposeLayout") {
        composed(&mut scan)?
    } else {
        Axe { tile: TileText::read(&mut scan)?, swizzle: None }
    };
    scan.end("the layout")?;
    Ok(Arc::new(axe))
}

fn composed(scan: &mut Scanner<'_>) -> Result<Axe, Error> {
    scan.expect("(")?;
    let mut numbers = [0; 3];
    for number in &mut numbers {
        scan.skip();
        let from = scan.at();
        *number = scan.integer()?;
        if *number > 62 {
            return Err(Error::parse((from, scan.at()), "a swizzle is of at most 62 bits"));
        }
        scan.expect(",")?;
    }
    let tile = TileText::read(scan)?;
    let mut inner = true;
    if scan.eat(",") {
        scan.expect("swizzle_inner")?;
        scan.expect("=")?;
        inner = scan.eat_word("True");
        if !inner && !scan.eat_word("False") {
            return Err(scan.expected("`True` or `False`"));
        }
    }
    scan.expect(")")?;
    Ok(Axe { tile, swizzle: Some((numbers, inner)) })
}

impl fmt::Display for Axe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tile = &self.tile;
        let Some(([base, bits, shift], inner)) = self.swizzle else {
            return write!(f, "T.TileLayout({tile})");
        };
        let inner = if inner { "" } else { ", swizzle_inner=False" };
        write!(f, "T.ComposeLayout({base}, {bits}, {shift}, T.TileLayout({tile}){inner})")
    }
}

impl Axe {
    fn swizzle(&self) -> Result<Swizzle, Error> {
        let Some(([base, bits, shift], inner)) = self.swizzle else {
            return Ok(Swizzle::IDENTITY);
        };
        let shift = if inner { shift as i8 } else { -(shift as i8) };
        Ok(Swizzle::new(bits as u8, base as u8, shift)?)
    }

    /// The layout of an array of these dims in memory.
    fn layout(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        let axes = self.tile.axes();
        if !axes.is_empty() {
            let hint = match self.map(dims) {
                Ok(_) => "a linear layout can express this".to_owned(),
                Err(why) => format!("no linear layout expresses this: {why}"),
            };
            let axes = axes.join(" and ");
            return Err(unsupported(format!(
                "`{self}` spreads an array over {axes}, so its elements have no place in one memory; {hint}"
            )));
        }
        let copies: u64 =
            self.tile.replica.iter().map(|iter| iter.extent).fold(1, u64::saturating_mul);
        if copies > 1 {
            return Err(unsupported(format!(
                "`{self}` stores each element at {copies} places, and a layout has one for each"
            )));
        }
        let offset = self.tile.offset.first().map_or(0, |term| term.value);
        let Some(groups) = self.groups(dims)? else { return self.merged(dims, offset) };
        let counts: Vec<usize> = groups.iter().map(Vec::len).collect();
        let modes: Vec<Mode> = groups.iter().flatten().map(mode).collect();
        let profile = Profile::nested(&counts)?;
        Ok(TensorLayout::of(&Layout::new(&modes, &profile, offset, self.swizzle()?)?))
    }

    /// The map from threads to an array of these dims.
    fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        if self.swizzle.is_some() {
            return Err(unsupported("a swizzle of a layout over threads has no map here"));
        }
        let groups = self.groups(dims)?.ok_or_else(|| {
            let extents = tuple(self.tile.extents());
            unsupported(format!(
                "the iters of {extents} cut across the dims, which no map over bits does"
            ))
        })?;
        map(&self.tile, &groups)
    }

    /// The layout of an array whose dims the iters cut across: all dims become one, which the iters split.
    fn merged(&self, dims: &[u64], offset: i64) -> Result<TensorLayout, Error> {
        let merge = Step::Merge { major: 0, minor: 1 };
        let mut steps = vec![merge; dims.len().saturating_sub(1)];
        let mut modes: Vec<Mode> = self.tile.shard.iter().take(1).map(mode).collect();
        for iter in self.tile.shard.iter().skip(1).rev() {
            steps.push(Step::Split { axis: 0, by: iter.extent });
            modes.push(mode(iter));
        }
        let profile = Profile::flat(modes.len())?;
        let layout = Layout::new(&modes, &profile, offset, self.swizzle()?)?;
        let capacity = u64::try_from(layout.cosize()).unwrap_or(0);
        Ok(TensorLayout::with_steps(dims, &steps, &layout, capacity)?)
    }

    /// The iters of each dim, fastest first; parts of an iter where a dim ends within it. `None` where an iter and a dim
    /// cut across each other.
    fn groups(&self, dims: &[u64]) -> Result<Option<Vec<Vec<Iter>>>, Error> {
        if self.tile.extents() == dims {
            return Ok(Some(self.tile.shard.iter().map(|iter| vec![iter.clone()]).collect()));
        }
        let size = |extents: &[u64]| extents.iter().try_fold(1u64, |all, e| all.checked_mul(*e));
        let (own, given) = (size(&self.tile.extents()), size(dims));
        if own.is_none() || own != given {
            let (own, given) = (own.unwrap_or(u64::MAX), given.unwrap_or(u64::MAX));
            let said = format!("an array of {given} elements, and the iters count {own}");
            return Err(Error::mismatch(said));
        }
        let mut groups = self.tile.groups(dims);
        for (group, extent) in groups.iter_mut().flatten().zip(dims) {
            group.reverse();
            if group.is_empty() {
                group.push(Iter::new(*extent, 0, MEMORY));
            }
        }
        Ok(groups)
    }
}

fn mode(iter: &Iter) -> Mode {
    Mode::new(iter.extent, iter.stride)
}

impl ParsedSpec for Axe {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank <= MAX_MODES
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let own = self.tile.extents();
        Ok(ResolvedLayout::plain(self.layout(given.dims.unwrap_or(&own))?, given))
    }

    fn distribution(&self, given: &Given<'_>) -> Result<Option<LinearLayout>, Error> {
        if self.tile.axes().is_empty() {
            return Ok(None);
        }
        self.map(given.dims.unwrap_or(&self.tile.extents())).map(Some)
    }
}

/// The layout as a tile, with its swizzle.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let tensor = named.layout();
    let layout = tensor.layout();
    if !tensor.is_strided() || *tensor != TensorLayout::of(layout) {
        return Err(unsupported("Axe's tiles have no padding, and no merged dims"));
    }
    let mut shard = Vec::new();
    for dim in 0..tensor.rank() {
        let modes = layout.axis(dim).unwrap_or(&[]);
        shard
            .extend(modes.iter().rev().map(|mode| Iter::new(mode.extent(), mode.stride(), MEMORY)));
    }
    if shard.is_empty() {
        shard.push(Iter::new(1, 1, MEMORY));
    }
    if shard.iter().any(|iter| iter.extent == 0) {
        return Err(unsupported("an empty dim; Axe's iters have extents of 1 and more"));
    }
    let offset = Some(layout.offset()).filter(|offset| *offset != 0);
    let term = |value| Term { value, axis: MEMORY.into(), span: (0, 0) };
    let offset = offset.map(term).into_iter().collect();
    let (own, tile) = (layout.swizzle(), TileText { shard, replica: Vec::new(), offset });
    if own.is_identity() {
        return Ok(Axe { tile, swizzle: None }.to_string());
    }
    if !own.is_field_xor() {
        return Err(unsupported(
            "Axe's swizzle xors one field of bits into another; this one does more",
        ));
    }
    let numbers = [own.base(), own.bits(), own.shift().unsigned_abs()].map(u64::from);
    Ok(Axe { tile, swizzle: Some((numbers, own.shift() > 0)) }.to_string())
}

/// The places of a map, in its order.
const PLACES: [&str; 4] = ["register", "lane", "warp", "block"];

/// The place of a bit of a coordinate on an axis: its kind and its bit.
fn place(axis: &str, bit: usize) -> Option<(usize, usize)> {
    match axis {
        "m" => Some((0, bit)),
        "laneid" => (bit < 5).then_some((1, bit)),
        "warpid" | "wid_in_wg" => Some((2, bit)),
        // Threads count through the lanes of a warp first.
        "tid_in_wg" | "tx" => Some(if bit < 5 { (1, bit) } else { (2, bit - 5) }),
        "bx" | "cbx" => Some((3, bit)),
        _ => None,
    }
}

/// The bases of one kind of place: the coordinate of each bit, once it is known.
type Bases = Vec<Option<Vec<u64>>>;

/// Returns the map of a tile whose iters by dim, fastest first, are these.
fn map(tile: &TileText, groups: &[Vec<Iter>]) -> Result<LinearLayout, Error> {
    if let Some(Term { value, axis, span }) = tile.offset.iter().find(|term| term.value != 0) {
        let said = format!("an offset of {value} on {axis}");
        return Err(unsupported(format!("{said}; a linear map has element 0 at place 0")).at(*span));
    }
    let mut bases: [Bases; 4] = Default::default();
    let zero = vec![0; groups.len()];
    for (dim, group) in groups.iter().enumerate() {
        let mut coord = 1;
        for iter in group {
            let mut put = zero.clone();
            for bit in bits(iter)? {
                put[dim] = coord;
                set(&mut bases, iter, bit, put.clone())?;
                coord *= 2;
            }
        }
    }
    for iter in &tile.replica {
        for bit in bits(iter)? {
            set(&mut bases, iter, bit, zero.clone())?;
        }
    }
    linear(bases, groups)
}

/// The bits of a coordinate on the axis that an iter moves.
fn bits(iter: &Iter) -> Result<std::ops::Range<usize>, Error> {
    let stride = u64::try_from(iter.stride).ok().filter(|stride| stride.is_power_of_two());
    let first = match stride {
        _ if iter.extent == 1 => return Ok(0..0),
        Some(stride) if iter.extent.is_power_of_two() => stride.trailing_zeros() as usize,
        Some(_) | None => {
            let Iter { extent, stride, axis, .. } = iter;
            return Err(unsupported(format!(
                "extent {extent} with stride {stride} on {axis}; a linear map needs powers of two"
            )));
        }
    };
    Ok(first..first + iter.extent.trailing_zeros() as usize)
}

fn set(bases: &mut [Bases; 4], iter: &Iter, bit: usize, coord: Vec<u64>) -> Result<(), Error> {
    let axis = &iter.axis;
    let Some((kind, at)) = place(axis, bit) else {
        return Err(unsupported(format!(
            "axis {axis} has no bit {bit} among registers, lanes, warps and blocks"
        )));
    };
    let Some(list) = bases.get_mut(kind) else { return Ok(()) };
    if list.len() <= at {
        list.resize(at + 1, None);
    }
    match list.get_mut(at).and_then(|free| free.replace(coord)) {
        None => Ok(()),
        Some(_) => Err(unsupported(format!("two iters move bit {bit} of axis {axis}"))),
    }
}

/// Makes the map; a bit of a place that nothing moves would be a place without an element.
fn linear(bases: [Bases; 4], groups: &[Vec<Iter>]) -> Result<LinearLayout, Error> {
    let mut lists: Vec<Vec<Vec<u64>>> = Vec::new();
    for (kind, list) in PLACES.iter().zip(bases) {
        let known: Option<Vec<Vec<u64>>> = list.into_iter().collect();
        lists.push(known.ok_or_else(|| unsupported(format!("some {kind} holds no element")))?);
    }
    let slices: Vec<Vec<&[u64]>> =
        lists.iter().map(|list| list.iter().map(Vec::as_slice).collect()).collect();
    let ins: Vec<(&str, &[&[u64]])> =
        PLACES.iter().zip(&slices).map(|(name, list)| (*name, list.as_slice())).collect();
    let names: Vec<String> = (0..groups.len()).map(|dim| format!("dim{dim}")).collect();
    let size = |group: &[Iter]| group.iter().map(|iter| iter.extent).product::<u64>();
    let outs: Vec<(&str, u64)> =
        names.iter().zip(groups).map(|(name, group)| (name.as_str(), size(group))).collect();
    Ok(LinearLayout::new(&ins, &outs)?)
}
