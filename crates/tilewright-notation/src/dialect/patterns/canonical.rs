//! One form for all spellings of a map with its capacity, from which dialects of digits and of tiles print.
//!
//! Dialects read one map into different modes: digits that go on from one another joined or apart, digits no
//! coordinate reaches, tiles of one element. What a dialect can print must not depend on that. So every
//! axis becomes the digits its coordinates use, as few as possible, and where storage has gaps that padding
//! can explain, the digits are as large as the gaps.
//!
//! [`Blocked`] is that form for dialects with tiles: the numbers of the tiles outermost, one digit a dim, and inside
//! them the digits within a tile, all of a size. A dim within one tile has no digit for the number of tiles; it is
//! written as one tile then, however its layout came to be.

use tilewright_core::{Digit, Layout, Mode, Pattern, Profile, TensorLayout};

use crate::{Error, dialect::arrays::strided::unsupported};

/// Returns the canonical form of a map; its capacity is kept. A layout without strides is returned unchanged.
pub(in crate::dialect) fn simplified(tensor: &TensorLayout) -> Result<TensorLayout, Error> {
    if !tensor.is_strided() {
        return Ok(tensor.clone());
    }
    // Without elements and storage all layouts are one.
    if tensor.capacity() == 0
        && let Ok(rows) = TensorLayout::row_major(tensor.extents())
    {
        return Ok(rows);
    }
    let mut axes: Vec<Vec<Mode>> = Vec::new();
    for (axis, &extent) in tensor.extents().iter().enumerate() {
        axes.push(used(tensor.layout().axis(axis).unwrap_or(&[]), extent));
    }
    if let Some(padded) = padded(&axes, tensor)
        && let Ok(dense) = build(&padded, tensor)
    {
        return Ok(dense);
    }
    build(&axes, tensor)
}

fn build(axes: &[Vec<Mode>], tensor: &TensorLayout) -> Result<TensorLayout, Error> {
    let counts: Vec<usize> = axes.iter().map(Vec::len).collect();
    let modes: Vec<Mode> = axes.iter().flatten().copied().collect();
    let layout = tensor.layout();
    let profile = Profile::nested(&counts)?;
    let layout = Layout::new(&modes, &profile, layout.offset(), layout.swizzle())?;
    Ok(TensorLayout::new(tensor.extents(), &layout, tensor.capacity())?)
}

/// The digits that coordinates below `extent` use, joined where they go on from one another; at least one.
fn used(modes: &[Mode], extent: u64) -> Vec<Mode> {
    let (mut digits, mut below) = (Vec::new(), 1u64);
    for mode in modes {
        let left = extent.div_ceil(below.max(1));
        let size = mode.extent().min(left);
        if size > 1 {
            join(&mut digits, Mode::new(size, mode.stride()));
        }
        below = below.saturating_mul(mode.extent());
    }
    if digits.is_empty() {
        // One coordinate, or none: it is where the axis begins, whatever the stride.
        digits.push(Mode::new(extent.min(1), 0));
    }
    digits
}

/// Adds a digit, to the last one if it goes on from there.
fn join(digits: &mut Vec<Mode>, digit: Mode) {
    if let Some(last) = digits.last_mut()
        && i128::from(digit.stride()) == i128::from(last.stride()) * i128::from(last.extent())
    {
        // A part of the layout's size, which fits.
        *last = Mode::new(last.extent().saturating_mul(digit.extent()), last.stride());
        return;
    }
    digits.push(digit);
}

/// The digits with the sizes that fill the storage without gaps: the most significant digit of a dim takes
/// the gap behind it, and the remainder goes to digits that only pad.
fn padded(axes: &[Vec<Mode>], tensor: &TensorLayout) -> Option<Vec<Vec<Mode>>> {
    let capacity = i64::try_from(tensor.capacity()).ok()?;
    let mut order: Vec<(i64, usize, usize)> = Vec::new();
    for (axis, modes) in axes.iter().enumerate() {
        for (level, mode) in modes.iter().enumerate() {
            match mode.extent() {
                0 => return None,
                1 => {}
                _ => order.push((mode.stride(), axis, level)),
            }
        }
    }
    tilewright_core::sort_short(&mut order, |place| *place);
    let mut axes = axes.to_vec();
    let (mut filled, mut gaps) = (1i64, Vec::new());
    for (at, &(stride, axis, level)) in order.iter().enumerate() {
        gap(&mut gaps, &mut filled, stride)?;
        let next = order.get(at + 1).map_or(capacity, |(next, ..)| *next);
        let modes = axes.get_mut(axis)?;
        let top = level + 1 == modes.len();
        let mode = modes.get_mut(level)?;
        let size = i64::try_from(mode.extent()).ok()?;
        let room = next.checked_div(stride).filter(|room| room * stride == next && *room >= size);
        let size = if top { room.unwrap_or(size) } else { size };
        *mode = Mode::new(u64::try_from(size).ok()?, stride);
        filled = stride.checked_mul(size)?;
    }
    gap(&mut gaps, &mut filled, capacity)?;
    for (size, stride) in gaps {
        let bearer = bearer(&axes, stride);
        let modes = axes.get_mut(bearer)?;
        match &mut modes[..] {
            [only] if only.extent() == 1 => *only = Mode::new(size, stride),
            _ => modes.push(Mode::new(size, stride)),
        }
    }
    Some(axes)
}

/// The dim whose digits explain a gap at this stride: one whose digits all fit within it, the one with
/// the fewest first, for larger digits outside smaller ones is the form that most dialects can express.
fn bearer(axes: &[Vec<Mode>], stride: i64) -> usize {
    let within = |axis: &Vec<Mode>| {
        axis.iter().filter(|mode| mode.extent() > 1).all(|mode| mode.stride() < stride)
    };
    let moving = |axis: &Vec<Mode>| axis.iter().filter(|mode| mode.extent() > 1).count();
    let candidates = axes.iter().enumerate().filter(|(_, axis)| within(axis));
    candidates.min_by_key(|(at, axis)| (moving(axis), *at)).map_or(0, |(at, _)| at)
}

/// Fills the storage up to `next` by a digit that only pads; `None` where there is no such digit.
fn gap(gaps: &mut Vec<(u64, i64)>, filled: &mut i64, next: i64) -> Option<()> {
    if *filled <= 0 || next < *filled || next % *filled != 0 {
        return None;
    }
    if next > *filled {
        gaps.push((u64::try_from(next / *filled).ok()?, *filled));
    }
    *filled = next;
    Some(())
}

/// A digit within a tile.
#[derive(Clone, Copy, Debug)]
pub(in crate::dialect) struct TileDigit {
    pub(in crate::dialect) axis: u8,
    pub(in crate::dialect) size: u64,
    /// The product of the less significant digits of its dim.
    pub(in crate::dialect) below: u64,
}

/// Dims in whole tiles.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct Blocked {
    /// Every dim once, outermost first.
    pub(in crate::dialect) outer: Vec<u8>,
    /// Outermost first.
    pub(in crate::dialect) inner: Vec<TileDigit>,
}

impl Blocked {
    /// The layout in these words, digits kept as they are where they are such words, else joined.
    pub(in crate::dialect) fn of(tensor: &TensorLayout, who: &str) -> Result<Blocked, Error> {
        let plain = Pattern::of(tensor).ok();
        let kept = plain.and_then(|plain| {
            let blocked = Blocked::split(tensor, &plain)?;
            (blocked.outer.len() == plain.rank() && blocked.nested()).then_some(blocked)
        });
        kept.map_or_else(|| Blocked::joined(tensor, who), Ok)
    }

    fn joined(tensor: &TensorLayout, who: &str) -> Result<Blocked, Error> {
        let tensor = simplified(tensor)?;
        let pattern = Pattern::of(&tensor)?;
        let mut blocked = Blocked::split(&tensor, &pattern).ok_or_else(|| {
            unsupported(format!("{who} cannot express an empty array within a tile"))
        })?;
        // A dim within one tile has the number 0 of it.
        let axes = (0..pattern.rank()).map(|axis| axis as u8);
        let rest: Vec<u8> = axes.filter(|axis| !blocked.outer.contains(axis)).collect();
        blocked.outer.extend(rest);
        Ok(blocked)
    }

    /// The digits in front that number whole tiles, and the others, which get a size.
    fn split(tensor: &TensorLayout, pattern: &Pattern) -> Option<Blocked> {
        let digits = pattern.digits();
        let count = |axis: u8| digits.iter().filter(|digit| digit.axis() == axis).count();
        let numbers = |digit: &&Digit| {
            digit.size().is_none() && usize::from(digit.level()) + 1 == count(digit.axis())
        };
        let outer: Vec<u8> = digits.iter().take_while(numbers).map(|digit| digit.axis()).collect();
        let mut inner = Vec::new();
        for digit in digits.iter().skip(outer.len()) {
            let modes = tensor.layout().axis(usize::from(digit.axis()))?;
            let (below, rest) = modes.split_at_checked(usize::from(digit.level()))?;
            let below = below.iter().map(|mode| mode.extent()).product();
            let size = rest.first()?.extent();
            if size == 0 {
                return None;
            }
            inner.push(TileDigit { axis: digit.axis(), size, below });
        }
        Some(Blocked { outer, inner })
    }

    /// Returns whether the digits of each dim go from the most to the least significant.
    pub(in crate::dialect) fn nested(&self) -> bool {
        self.inner.iter().enumerate().all(|(at, digit)| {
            let mut before = self.inner.iter().take(at);
            before.all(|other| other.axis != digit.axis || other.below > digit.below)
        })
    }

    /// The digits within tiles of one dim.
    pub(in crate::dialect) fn tiles(&self, axis: u8) -> impl Iterator<Item = &TileDigit> {
        self.inner.iter().filter(move |digit| digit.axis == axis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    fn form(text: &str) -> String {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        let simple = simplified(named.layout()).unwrap();
        assert_eq!(simple.same_function(named.layout()), Ok(true), "{text}");
        assert_eq!(simple.capacity(), named.layout().capacity(), "{text}");
        // A form is its own form.
        assert_eq!(simplified(&simple).unwrap(), simple, "{text}");
        simple.layout().to_string()
    }

    #[test]
    fn all_spellings_have_one_form() {
        for (text, expected) in [
            ("((2,2),3):((1,2),4)", "(4,3):(1,4)"),
            ("((4,1),3):((1,4),4)", "(4,3):(1,4)"),
            // Only three of the four are used; the fourth is padding.
            ("((2,2),3):((1,2),4) valid (3,3)", "(4,3):(1,4)"),
            ("((4,5),3):((1,12),4) valid (4,3) capacity 60", "(4,15):(1,4)"),
            ("(4,4):(8,1) capacity 32", "(4,8):(8,1)"),
            ("(4,4):(8,1)", "(4,4):(8,1)"),
            ("4:2 capacity 8", "((4,2)):((2,1))"),
            ("(1,4):(7,1) capacity 8", "(1,8):(0,1)"),
            ("(4,4):(0,1)", "(4,4):(0,1)"),
        ] {
            assert_eq!(form(text), expected, "{text}");
        }
    }
}
