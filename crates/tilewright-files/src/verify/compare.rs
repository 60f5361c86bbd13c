//! Compares elements of two files, box by box, then every padding element: one tensor with another, or the parts that a recipe
//! takes from several tensors.
//!
//! This file does not use relayout plans. A box of coordinates is read on both sides, in ranges as long as memory permits, and
//! traversed by the digits of both layouts. Several threads compare boxes.
//!
//! Law: the difference that is returned is the first in the order of coordinates, for any number of threads and any bound on
//! memory. Padding is compared after the elements, in the order of memory.

use std::ops::Range;

use tilewright_core::{Fill, TensorLayout};
use tilewright_transfer::{Limits, Quiet};

use crate::{
    Difference, Error, Input, Tensor,
    assemble::pieces::exact::Exact,
    convert::budget::Reservation,
    error,
    layout::{element_layout::ElementLayout, gathered::Gathered},
    open::{origin::Origin, source::Source},
    verify::{
        boxes::{self, Area, boxes},
        loops,
        loops::Loops,
        padding,
        patch::{self, FileSide, Patch, Places, comparing, element, words},
        rows::{Rows, Stretch},
    },
};

/// The largest number of bytes of a box on one side, which then stays in the CPU's cache.
const MOST: u64 = 256 << 10;

/// The largest buffer in bytes if only long dims are contiguous in a file.
const WIDE: u64 = 8 << 20;

/// Two arrays of the same extents, whose elements of the same coordinate must be equal.
#[derive(Clone)]
pub(crate) struct Pair<'a> {
    pub(crate) to: FileSide<'a>,
    pub(crate) from: FileSide<'a>,
    /// The change of an element of `from` to the expected element of `to`.
    pub(crate) exact: Exact,
    /// The coordinates that are compared.
    pub(crate) area: Area,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unequal {
    /// The number of its pair.
    pub(crate) pair: usize,
    pub(crate) coord: Vec<u64>,
    /// Its offsets on both sides, in elements or blocks.
    pub(crate) offset: i64,
    pub(crate) original: i64,
    /// Its bits, and the expected ones.
    pub(crate) is: u128,
    pub(crate) was: u128,
}

impl<'a> Pair<'a> {
    /// Returns the pair of two whole arrays.
    pub(crate) fn new(to: FileSide<'a>, from: FileSide<'a>, exact: Exact) -> Pair<'a> {
        let area = to.held.layout().extents().iter().map(|extent| 0..*extent).collect();
        Pair { to, from, exact, area }
    }

    /// Returns the bytes of the compared elements of the first array.
    pub(crate) fn bytes(&self) -> u64 {
        let bits = u128::from(boxes::size(&self.area)) * u128::from(self.to.held.bits);
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    }

    fn layouts(&self) -> [&'a TensorLayout; 2] {
        [self.to.held.layout(), self.from.held.layout()]
    }

    /// Returns whether an element has the same bytes on both sides.
    fn is_copied(&self) -> bool {
        let (to, from) = (self.to.held, self.from.held);
        self.exact == Exact::Same && (to.bits, to.order) == (from.bits, from.order)
    }

    /// Returns the loops of boxes, if the elements have whole bytes that do not change.
    fn loops(&self) -> Option<Loops<'a>> {
        let swept = self.is_copied() && loops::is_swept(self.to.held.bits);
        swept.then(|| Loops::new(self.layouts())).flatten()
    }

    fn widest(&self) -> u32 {
        self.to.held.bits.max(self.from.held.bits)
    }
}

/// Returns the first difference between a result and its original, if there is any.
pub(crate) fn tensors(
    to: &FileSide<'_>,
    from: &FileSide<'_>,
    limits: &Limits<'_>,
) -> Result<Option<Difference>, Error> {
    check(to)?;
    check(from)?;
    let alike = to.held.layout() == from.held.layout()
        && (to.held.bits, to.held.order) == (from.held.bits, from.held.order);
    // If another fill is expected, the padding of the original is irrelevant.
    let filled = to.promised && !(from.promised && from.fill == to.fill);
    if alike && (!filled || to.held.layout().padding() == 0) && same_bytes(to, from, limits)? {
        limits.watch().advance(to.len);
        return Ok(None);
    }
    if to.held.layout().size() == 0 {
        let found = padding::difference(to, limits.watch(), limits.budget())?;
        limits.watch().advance(to.len);
        return Ok(found);
    }
    let pair = Pair::new(*to, *from, Exact::Same);
    let Some(found) = unequal_element(&[&pair], to.len, limits)? else {
        return padding::difference(to, limits.watch(), limits.budget());
    };
    let Unequal { mut coord, offset, original, is, was, .. } = least(&pair, found, limits)?;
    // A block is identified by its first element.
    if let Some(last) = coord.last_mut() {
        *last *= to.held.together();
    }
    Ok(Some(Difference::Element { tensor: to.name.to_owned(), coord, offset, original, is, was }))
}

/// Checks that a side can be compared: elements are compared as numbers of 128 bits, wider ones word by word, and their offsets
/// start at 0.
pub(crate) fn check(side: &FileSide<'_>) -> Result<(), Error> {
    let bits = side.held.bits;
    if !(matches!(bits, 1 | 2 | 4) || bits > 0 && bits.is_multiple_of(8)) {
        let said = format!(
            "elements of {bits} bits; elements of 1, 2, 4 bits and of whole bytes can be compared"
        );
        return Err(error::unsupported(side.source.path(), said));
    }
    match side.held.layout().layout().bounds() {
        Some((low, _)) if low < 0 => {
            let said = format!("{} reaches down to offset {low}", side.held.named.name());
            Err(error::unsupported(side.source.path(), said))
        }
        _ => Ok(()),
    }
}

fn same_bytes(to: &FileSide<'_>, from: &FileSide<'_>, limits: &Limits<'_>) -> Result<bool, Error> {
    // The pieces are whole elements.
    let unit = u64::from(to.held.bits / 8).max(1);
    let sides = [(to.source, to.at), (from.source, from.at)];
    Ok(to.len == from.len && unequal(sides, (to.len, unit), limits)?.is_none())
}

/// Returns the position of the first of `len` bytes that differs in two sources, each read from its position on in whole units of
/// `unit` bytes; the result is that of a unit.
pub(crate) fn unequal(
    sides: [(Origin<'_>, u64); 2],
    (len, unit): (u64, u64),
    limits: &Limits<'_>,
) -> Result<Option<u64>, Error> {
    let (budget, members) = (limits.budget(), limits.members(len));
    let step = len.min(budget.limit() / 2 / members as u64).clamp(1, MOST);
    let step = (step / unit * unit).max(unit);
    let pieces = (0..len.div_ceil(step)).map(|i| i * step..len.min((i + 1) * step));
    let join = || {
        let mut buffers = [budget.buffer(step)?, budget.buffer(step)?];
        Ok(move |piece: &Range<u64>| {
            let len = (piece.end - piece.start) as usize;
            for (buffer, (source, at)) in buffers.iter_mut().zip(&sides) {
                source.read(buffer.get_mut(..len).unwrap_or_default(), at + piece.start)?;
            }
            let [a, b] = &buffers;
            let (a, b) = (a.get(..len).unwrap_or_default(), b.get(..len).unwrap_or_default());
            let first = || a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0) as u64;
            Ok((a != b).then(|| piece.start + first() / unit * unit))
        })
    };
    limits.first(members, pieces, (|_: &_| 1, 1, 0), join)
}

/// Returns the first element that differs, pair by pair and box by box. The progress of all pairs is `bytes` bytes.
pub(crate) fn unequal_element(
    pairs: &[&Pair<'_>],
    bytes: u64,
    limits: &Limits<'_>,
) -> Result<Option<Unequal>, Error> {
    let Some(first) = pairs.first() else { return Ok(None) };
    // Of the memory of each thread, the ranges of a row get one eighth, the list of either side one sixteenth or what it needs,
    // and the bytes of both sides the rest.
    let (budget, members) = (limits.budget(), limits.members(bytes));
    let limit = budget.limit() / members as u64;
    let list = (limit / 16).clamp(patch::LEAST, MOST);
    let is_scattered = |pair: &&Pair<'_>| {
        [pair.to.scattered, pair.from.scattered].iter().any(|dims| dims.contains(&true))
    };
    let most = if pairs.iter().any(is_scattered) { WIDE } else { MOST };
    let widest = u64::from(pairs.iter().map(|pair| pair.widest()).max().unwrap_or(8));
    let room = ((limit - limit / 8).saturating_sub(2 * list) / 2).min(most).max(widest.div_ceil(8));
    let join = || {
        let most_kept = ((limit / 8).min(MOST) / size_of::<Stretch>() as u64) as usize;
        let [a, b] = first.layouts();
        let mut own = BoxPair {
            _kept: budget.reserve((most_kept * size_of::<Stretch>()) as u64)?,
            loops: first.loops(),
            rows: Rows::new(a, b, most_kept).map_err(comparing)?,
            a: Patch::new(&first.to, room, list, budget)?,
            b: Patch::new(&first.from, room, list, budget)?,
            pair: first,
            number: 0,
        };
        Ok(move |(number, area): &(usize, Area)| {
            if let Some(pair) = pairs.get(*number).filter(|_| own.number != *number) {
                own.turn_to(pair, *number)?;
            }
            own.differing(area)
        })
    };
    let most = (room * 8 / widest).max(1);
    let each = pairs.iter().enumerate().map(|(number, pair)| {
        let scattered = [pair.to.scattered, pair.from.scattered];
        let boxes = boxes(pair.layouts(), scattered, (&pair.area, most)).map_err(comparing)?;
        Ok::<_, Error>(boxes.map(move |area| (number, area)))
    });
    let pieces = each.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten();
    let all = pairs.iter().map(|pair| boxes::size(&pair.area)).fold(0, u64::saturating_add);
    limits.first(members, pieces, (|(_, area): &(usize, Area)| boxes::size(area), all, bytes), join)
}

/// Returns the first element of a pair that differs, in the order of coordinates; `found` is one that differs.
pub(crate) fn least(
    pair: &Pair<'_>,
    found: Unequal,
    limits: &Limits<'_>,
) -> Result<Unequal, Error> {
    let (quiet, number) = (Quiet(limits.watch()), found.pair);
    let (limits, mut least) = (limits.quiet(&quiet), found);
    boxes::first(pair.area.clone(), least.coord.clone(), &mut |part| {
        let low = Pair { area: part.clone(), ..pair.clone() };
        let Some(lower) = unequal_element(&[&low], low.bytes(), &limits)? else { return Ok(None) };
        least = lower;
        Ok(Some(least.coord.clone()))
    })?;
    Ok(Unequal { pair: number, ..least })
}

/// Both sides of a box during the comparison of elements.
struct BoxPair<'s> {
    _kept: Reservation,
    /// The loops of the boxes, if the elements have whole bytes that do not change.
    loops: Option<Loops<'s>>,
    rows: Rows<'s>,
    a: Patch<'s>,
    b: Patch<'s>,
    pair: &'s Pair<'s>,
    /// The number of the pair.
    number: usize,
}

impl<'s> BoxPair<'s> {
    /// Turns to another pair, in the same buffers.
    fn turn_to(&mut self, pair: &'s Pair<'s>, number: usize) -> Result<(), Error> {
        self.loops = pair.loops();
        self.rows.turn_to(pair.layouts()).map_err(comparing)?;
        self.a.turn_to(&pair.to);
        self.b.turn_to(&pair.from);
        (self.pair, self.number) = (pair, number);
        Ok(())
    }

    /// Returns the first element of a box that differs; a box that does not fit in memory is halved. A difference that is found
    /// in one pass over the files and not in the next is an error.
    fn differing(&mut self, area: &Area) -> Result<Option<Unequal>, Error> {
        let (mut pending, mut differs) = (vec![area.clone()], false);
        while let Some(area) = pending.pop() {
            if let Some(parts) = self.loops.as_ref().and_then(|loops| loops.cut(&area)) {
                pending.extend(parts.into_iter().rev());
                continue;
            }
            match self.is_same(&area)? {
                Some(true) => continue,
                same => differs |= same.is_some(),
            }
            // The box has a difference, or loops cannot traverse it.
            if self.a.read(&area)? && self.b.read(&area)? {
                match self.compare(&area)? {
                    None => continue,
                    found => return Ok(found),
                }
            }
            let Some([low, high]) = tilewright_relayout::halves(&area) else {
                let said = format!("an element of tensor {:?} does not fit", self.pair.to.name);
                return Err(error::unsupported(self.pair.to.source.path(), said));
            };
            pending.extend([high, low]);
        }
        if differs { self.changed() } else { Ok(None) }
    }

    /// Returns the error for files that were not equal in two passes.
    fn changed(&self) -> Result<Option<Unequal>, Error> {
        let (to, from) = (&self.pair.to, &self.pair.from);
        to.source.check_unchanged()?;
        from.source.check_unchanged()?;
        let (name, other) = (to.name, from.source.path().display());
        let said = format!(
            "it or {other} was changed while it was read: tensor {name:?} differed, but not when it was read again"
        );
        Err(error::changed(to.source.path(), said))
    }

    /// Returns whether the elements of a box are equal; `None` if they do not have loops in both files, or do not fit in memory.
    fn is_same(&mut self, area: &Area) -> Result<Option<bool>, Error> {
        let Some(loops) = &self.loops else { return Ok(None) };
        let found = loops.of(area).map_err(comparing)?;
        let Some((first, mut turns)) = found else { return Ok(None) };
        let a = self.a.gather(first[0], &mut turns, 0)?;
        let b = self.b.gather(first[1], &mut turns, 1)?;
        let Some(first) = a.zip(b) else { return Ok(None) };
        let bytes = [self.a.bytes(), self.b.bytes()];
        Ok(Some(loops::same(self.pair.to.held.bits, bytes, first.into(), turns)))
    }

    /// Returns the first element of a box that differs in the buffers.
    fn compare(&mut self, area: &Area) -> Result<Option<Unequal>, Error> {
        let BoxPair { rows, a, b, pair, number, .. } = self;
        let mut both = Both { a, b, pair };
        let mut found = Ok(None);
        rows.each(area, &mut |stretch, start, dim| {
            found = both.difference(stretch).map(|found| {
                found.map(|(i, is, was)| {
                    let mut coord = start.to_vec();
                    if let Some(dim) = dim {
                        coord[dim] = stretch.from + i;
                    }
                    let [offset, original] =
                        [stretch.a, stretch.b].map(|(at, by)| at + i as i64 * by);
                    Unequal { pair: *number, coord, offset, original, is, was }
                })
            });
            matches!(found, Ok(None))
        })
        .map_err(comparing)?;
        found
    }
}

/// The bytes of a box on both sides, with their layouts.
struct Both<'x, 's> {
    a: &'x mut Patch<'s>,
    b: &'x mut Patch<'s>,
    pair: &'x Pair<'s>,
}

/// Elements at a constant distance in bytes, which is at least their width.
type Spread<'x> = (&'x [u8], usize);

/// Returns the bytes of `count` elements of `width` bytes at these places, from the first to the end of the last.
fn spread(bytes: &[u8], places: Places, count: u64, width: usize) -> Option<Spread<'_>> {
    let step = usize::try_from(places.step).ok()?.checked_mul(width)?;
    let first = usize::try_from(places.at).ok()?.checked_mul(width)?;
    let len = (count as usize - 1).checked_mul(step)?.checked_add(width)?;
    Some((bytes.get(first..)?.get(..len)?, step))
}

/// Returns the number of elements before the first that differs, if one does; `differs` compares their first bytes.
#[inline(always)]
fn position(
    (a, x): Spread<'_>,
    (b, y): Spread<'_>,
    width: usize,
    differs: impl Fn(&[u8], &[u8]) -> bool,
) -> Option<usize> {
    if (x, y) == (width, width) && a.len() > width && a == b {
        return None;
    }
    // If steps are longer than elements, the last element is shorter than a step.
    let whole = a.len().div_ceil(x) - usize::from(x > width || y > width);
    let mut pairs = a.chunks_exact(x).zip(b.chunks_exact(y)).take(whole);
    pairs.position(|(a, b)| differs(a, b)).or_else(|| {
        let (a, b) = (a.get(whole * x..)?, b.get(whole * y..)?);
        (!a.is_empty() && differs(a, b)).then_some(whole)
    })
}

/// Calls [`position`] for elements of any width.
fn wide(a: Spread<'_>, b: Spread<'_>, width: usize) -> Option<usize> {
    position(a, b, width, |a, b| a.get(..width) != b.get(..width))
}

/// Calls [`position`] for elements of `W` bytes.
fn narrow<const W: usize>(a: Spread<'_>, b: Spread<'_>, _: usize) -> Option<usize> {
    position(a, b, W, |a, b| a.first_chunk::<W>() != b.first_chunk::<W>())
}

/// Returns the error for an element that was not read.
fn missing(held: &ElementLayout) -> Error {
    let said = format!("{} reaches an offset that its box does not", held.named.name());
    error::usage(format!("comparing: {said}"))
}

impl Both<'_, '_> {
    /// Returns the first element of a range that differs: its index, its value, and the expected value.
    fn difference(&mut self, stretch: &Stretch) -> Result<Option<(u64, u128, u128)>, Error> {
        let (to, from) = (self.pair.to.held, self.pair.from.held);
        let first = match to.bits {
            bits if !self.pair.is_copied() || bits < 8 => 0,
            8 => self.unequal(stretch, narrow::<1>),
            16 => self.unequal(stretch, narrow::<2>),
            32 => self.unequal(stretch, narrow::<4>),
            64 => self.unequal(stretch, narrow::<8>),
            128 => self.unequal(stretch, narrow::<16>),
            _ => self.unequal(stretch, wide),
        };
        for i in first..stretch.len {
            let a = self.a.find(stretch.a.0 + i as i64 * stretch.a.1, 1);
            let b = self.b.find(stretch.b.0 + i as i64 * stretch.b.1, 1);
            let (Places { at: a, .. }, Places { at: b, .. }) =
                (a.ok_or_else(|| missing(to))?, b.ok_or_else(|| missing(from))?);
            for word in 0..words(to.bits) {
                let value = element(self.a.bytes(), a, to.bits, word);
                let given = element(self.b.bytes(), b, from.bits, word);
                let (value, given) =
                    (value.ok_or_else(|| missing(to))?, given.ok_or_else(|| missing(from))?);
                // No value is expected for an element that would lose a bit.
                let expected = self.expected(given);
                if expected != Some(value) {
                    return Ok(Some((i, value, expected.unwrap_or(given))));
                }
            }
        }
        Ok(None)
    }

    /// Returns the number of elements of whole bytes before the first that differs, or that was not read.
    fn unequal(
        &mut self,
        stretch: &Stretch,
        position: fn(Spread<'_>, Spread<'_>, usize) -> Option<usize>,
    ) -> u64 {
        let (mut i, width) = (0, (self.pair.to.held.bits / 8) as usize);
        while i < stretch.len {
            let at = |(offset, stride): (i64, i64)| offset + i as i64 * stride;
            let a = self.a.find(at(stretch.a), stretch.a.1);
            let (Some(a), Some(b)) = (a, self.b.find(at(stretch.b), stretch.b.1)) else { return i };
            let count = a.count.min(b.count).min(stretch.len - i);
            let a = spread(self.a.bytes(), a, count, width);
            let b = spread(self.b.bytes(), b, count, width);
            let (Some(a), Some(b)) = (a, b) else { return i };
            if let Some(before) = position(a, b, width) {
                return i + before as u64;
            }
            i += count;
        }
        stretch.len
    }

    /// Returns the word of the result for a word of the original's element; `None` if it would lose a bit.
    fn expected(&self, given: u128) -> Option<u128> {
        let Pair { exact, to, from, .. } = self.pair;
        let (to, from) = (to.held, from.held);
        if self.pair.is_copied() {
            return Some(given);
        }
        let value = from.order.stored(from.dtype, from.bits, given);
        let value = match exact {
            Exact::Same if from.bits == to.bits => value,
            Exact::Same => {
                let negative = from.dtype.is_signed_integer() && value >> (from.bits - 1) & 1 == 1;
                let wide = if negative && to.bits > from.bits {
                    value | (u128::MAX << from.bits)
                } else {
                    value
                };
                if to.bits < 128 { wide & ((1 << to.bits) - 1) } else { wide }
            }
            exact => exact.of_bits(value)?,
        };
        Some(to.order.stored(to.dtype, to.bits, value))
    }
}

/// Returns one side of a comparison: a tensor of a file, or one whose bytes are in memory.
pub(crate) fn side<'a>(
    (input, bytes): (&'a Input, Option<&'a [u8]>),
    tensor: &'a Tensor,
    held: &'a ElementLayout,
    fill: Fill,
) -> Result<FileSide<'a>, Error> {
    let promised = fill.is_promised();
    // Without padding, a fill that the type does not have is not an error.
    let fill = match held.layout().padding() {
        0 => 0,
        _ => held.dtype.stored_fill(fill, held.bits, held.order).map_err(|error| {
            error::corrupt(&input.path, format!("tensor {:?}: {error}", tensor.name))
        })?,
    };
    let (source, at) = match bytes {
        Some(bytes) => (Origin::Memory(bytes, &input.path), 0),
        None => input.place(tensor).map(|(source, at)| (Origin::File(source), at))?,
    };
    side_at((source, at, tensor.len), &tensor.name, held, (fill, promised))
}

/// Returns one side of a comparison: a tensor of `len` bytes at a position, with the bits of its padding.
pub(crate) fn side_at<'a>(
    (source, at, len): (Origin<'a>, u64, u64),
    name: &'a str,
    held: &'a ElementLayout,
    (fill, promised): (u128, bool),
) -> Result<FileSide<'a>, Error> {
    let (source, rows, (at, len)) = source.in_rows(held, (at, len))?;
    // Holes and padding are compared with the values that a conversion writes.
    let (fill, promised) = if held.tables().is_some() { (0, false) } else { (fill, promised) };
    let scattered = source.scattered();
    Ok(FileSide { name, source, at, len, held: rows, fill, promised, scattered })
}

/// Returns the first padding of a tensor that differs from the fill of its layout.
pub(crate) fn padding(
    out: &Input,
    tensor: &Tensor,
    limits: &Limits<'_>,
) -> Result<Option<Difference>, Error> {
    let fill = tensor.held.named.fill();
    let to = side((out, None), tensor, &tensor.held, fill)?;
    match padding::difference(&to, &Quiet(limits.watch()), limits.budget())? {
        None => unfilled(out, tensor, fill),
        found => Ok(found),
    }
}

/// Returns the first hole or padding of a tensor with index tables that has a wrong value.
pub(crate) fn unfilled(
    out: &Input,
    tensor: &Tensor,
    fill: Fill,
) -> Result<Option<Difference>, Error> {
    let held = &tensor.held;
    let Some(tables) = held.tables() else { return Ok(None) };
    let expected = held
        .dtype
        .stored_fill(fill, held.bits, held.order)
        .map_err(|error| error::corrupt(&out.path, format!("tensor {:?}: {error}", tensor.name)))?;
    unfilled_at(out.place(tensor)?, (&tensor.name, tables), expected)
}

/// Returns the first hole or padding that differs from these bits, of index tables whose storage begins at a position.
pub(crate) fn unfilled_at(
    place: (&Source, u64),
    (name, tables): (&str, &Gathered),
    expected: u128,
) -> Result<Option<Difference>, Error> {
    let found = tables.unfilled(place, expected)?;
    let tensor = name.to_owned();
    Ok(found.map(|(offset, is)| Difference::Padding { tensor, offset, is, expected }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tilewright_core::{Dtype, Fill, TensorLayout};

    use super::*;
    use crate::{convert::budget::Budget, open::source::Source};

    /// Returns the verdict on a file of the bytes 0 to 5 in rows beside the same array in columns. The first pass compares it as
    /// if its layout were `swept`.
    fn verdict(swept: &TensorLayout, columns: [u8; 6]) -> Result<Option<Unequal>, Error> {
        let folder = tempfile::tempdir().unwrap();
        let [rows, turned] = ["rows", "columns"].map(|name| folder.path().join(name));
        fs::write(&rows, [0, 1, 2, 3, 4, 5]).unwrap();
        fs::write(&turned, columns).unwrap();
        let [a, b] = [TensorLayout::row_major(&[2, 3]), TensorLayout::col_major(&[2, 3])];
        let of = |layout| ElementLayout::new("test", layout, Dtype::U8, 8, Fill::Unspecified);
        let held = [a, b].map(|layout| of(layout.unwrap()));
        let sources = [&rows, &turned].map(|path| Source::open(path).unwrap());
        let side = |i: usize| FileSide {
            name: "w",
            source: Origin::File(&sources[i]),
            at: 0,
            len: 6,
            held: &held[i],
            fill: 0,
            promised: false,
            scattered: &[],
        };
        let (pair, budget) = (Pair::new(side(0), side(1), Exact::Same), Budget::new(1 << 16));
        let [a, b] = pair.layouts();
        let mut boxes = BoxPair {
            _kept: budget.reserve(0).unwrap(),
            loops: Loops::new([a, swept]),
            rows: Rows::new(a, b, 16).unwrap(),
            a: Patch::new(&pair.to, 64, 256, &budget).unwrap(),
            b: Patch::new(&pair.from, 64, 256, &budget).unwrap(),
            pair: &pair,
            number: 0,
        };
        boxes.differing(&vec![0..2, 0..3])
    }

    #[test]
    fn a_difference_that_only_one_pass_sees_is_an_error() {
        let [rows, columns] = [TensorLayout::row_major(&[2, 3]), TensorLayout::col_major(&[2, 3])];
        let (rows, columns) = (rows.unwrap(), columns.unwrap());
        let (same, other) = ([0, 3, 1, 4, 2, 5], [0, 3, 1, 4, 2, 9]);
        assert!(matches!(verdict(&columns, same), Ok(None)));
        assert!(matches!(verdict(&columns, other), Ok(Some(Unequal { was: 9, .. }))));
        let error = verdict(&rows, same).unwrap_err();
        assert!(error.is_io(), "{error}");
        let said = error.to_string();
        assert!(said.contains("tensor \"w\" differed, but not when it was read again"), "{said}");
    }
}
