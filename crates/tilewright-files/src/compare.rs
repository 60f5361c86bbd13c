//! One tensor of two files: every element, box by box, then every padding element.
//!
//! Nothing here asks a relayout plan. A box of coordinates is read on both sides, in stretches as long as
//! memory permits, and walked by the digits of both layouts.

use tilewright_core::ByteOrder;

use crate::{
    Difference, Error, Watch,
    boxes::{self, Area, Boxes},
    budget::Budget,
    held::Held,
    padding,
    patch::{Patch, Side, comparing},
    rows::{Rows, Stretch},
    watch::go_on,
    word::{element, words},
};

/// The most bytes of a box on one side, which then stays in the processor's cache.
const MOST: u64 = 256 << 10;

/// The first difference between a result and its original, if there is any.
pub(crate) fn tensors(
    to: &Side<'_>,
    from: &Side<'_>,
    watch: &dyn Watch,
    budget: &Budget,
) -> Result<Option<Difference>, Error> {
    check(to)?;
    check(from)?;
    let alike = to.held.layout() == from.held.layout()
        && (to.held.bits, to.held.order) == (from.held.bits, from.held.order);
    // Where another fill is expected, the padding of the original is none.
    let filled = to.promised && !(from.promised && from.fill == to.fill);
    if alike && (!filled || to.held.layout().padding() == 0) && same_bytes(to, from, watch, budget)?
    {
        watch.advance(to.len);
        return Ok(None);
    }
    let found = match to.held.layout().size() {
        0 => None,
        _ => elements(to, from, watch, budget)?,
    };
    let found = match found {
        None => padding::difference(to, watch, budget)?,
        found => found,
    };
    if to.held.layout().size() == 0 {
        watch.advance(to.len);
    }
    Ok(found)
}

/// Elements are compared as numbers of 128 bits, the widest of them word by word, and lie at offsets from 0 on.
fn check(side: &Side<'_>) -> Result<(), Error> {
    let bits = side.held.bits;
    if !(matches!(bits, 1 | 2 | 4) || bits > 0 && bits.is_multiple_of(8)) {
        let said = format!("elements of {bits} bits; compared are 1, 2, 4 and whole bytes");
        return Err(Error::unsupported(side.source.path(), said));
    }
    match side.held.layout().layout().bounds() {
        Some((low, _)) if low < 0 => {
            let said = format!("{} reaches down to offset {low}", side.held.named.name());
            Err(Error::unsupported(side.source.path(), said))
        }
        _ => Ok(()),
    }
}

fn same_bytes(
    to: &Side<'_>,
    from: &Side<'_>,
    watch: &dyn Watch,
    budget: &Budget,
) -> Result<bool, Error> {
    if to.len != from.len {
        return Ok(false);
    }
    let step = to.len.min(budget.limit() / 2).min(1 << 20);
    let (mut a, mut b) = (budget.buffer(step)?, budget.buffer(step)?);
    let mut at = 0;
    while at < to.len {
        go_on(watch)?;
        let len = step.min(to.len - at) as usize;
        to.source.read(&mut a[..len], to.at + at)?;
        from.source.read(&mut b[..len], from.at + at)?;
        if a[..len] != b[..len] {
            return Ok(false);
        }
        at += len as u64;
    }
    Ok(true)
}

/// The first element that differs, box by box.
fn elements(
    to: &Side<'_>,
    from: &Side<'_>,
    watch: &dyn Watch,
    budget: &Budget,
) -> Result<Option<Difference>, Error> {
    // Three eighths of the bound for the bytes of either side, a sixteenth for the list of either, and what
    // is left for the stretches of a row.
    let limit = budget.limit();
    let (room, list, rows) = ((limit / 8 * 3).min(MOST), limit / 16, limit / 8);
    let most_kept = (rows.min(MOST) / size_of::<Stretch>() as u64) as usize;
    let list = list.min(MOST);
    let _kept = budget.held((most_kept * size_of::<Stretch>()) as u64)?;
    let (a, b) = (to.held.layout(), from.held.layout());
    let mut pair = Pair {
        rows: Rows::new(a, b, most_kept).map_err(comparing)?,
        a: Patch::new(to, room, list, budget)?,
        b: Patch::new(from, room, list, budget)?,
        to,
        from: from.held,
    };
    let widest = u64::from(to.held.bits.max(from.held.bits));
    let (size, mut done, mut told) = (a.size(), 0u64, 0u64);
    for area in Boxes::new([a, b], (room * 8 / widest).max(1)).map_err(comparing)? {
        go_on(watch)?;
        if let Some(found) = pair.differing(&area)? {
            return Ok(Some(found));
        }
        done += boxes::size(&area);
        let tells = (u128::from(to.len) * u128::from(done) / u128::from(size)) as u64;
        watch.advance(tells - told);
        told = tells;
    }
    Ok(None)
}

/// Both sides of a box, while elements are compared.
struct Pair<'s, 'b> {
    rows: Rows<'s>,
    a: Patch<'s, 'b>,
    b: Patch<'s, 'b>,
    to: &'s Side<'s>,
    from: &'s Held,
}

/// A stretch with an element that differs: which, what it is, what it should be.
struct Found {
    stretch: Stretch,
    coord: Vec<u64>,
    i: u64,
    is: u128,
    was: u128,
}

impl Pair<'_, '_> {
    /// The first element of a box that differs; a box that does not fit is halved.
    fn differing(&mut self, area: &Area) -> Result<Option<Difference>, Error> {
        let mut pending = vec![area.clone()];
        while let Some(area) = pending.pop() {
            if self.a.read(&area)? && self.b.read(&area)? {
                match self.compare(&area)? {
                    None => continue,
                    found => return Ok(found),
                }
            }
            let Some([low, high]) = boxes::halves(&area) else {
                let said = format!("an element of tensor {:?} does not fit", self.to.name);
                return Err(Error::unsupported(self.to.source.path(), said));
            };
            pending.extend([high, low]);
        }
        Ok(None)
    }

    fn compare(&mut self, area: &Area) -> Result<Option<Difference>, Error> {
        let Pair { rows, a, b, to, from } = self;
        let mut both = Both { a, b, to: to.held, from };
        let mut found = Ok(None);
        rows.each(area, &mut |stretch, start, dim| {
            found = both.difference(stretch).map(|found| {
                found.map(|(i, is, was)| {
                    let mut coord = start.to_vec();
                    if let Some(dim) = dim {
                        coord[dim] = stretch.from + i;
                    }
                    Found { stretch: *stretch, coord, i, is, was }
                })
            });
            matches!(found, Ok(None))
        })
        .map_err(comparing)?;
        Ok(found?.map(|found| self.told(found)))
    }

    fn told(&self, found: Found) -> Difference {
        let Found { stretch, mut coord, i, is, was } = found;
        // A block is named by its first element.
        if let Some(last) = coord.last_mut() {
            *last *= self.to.held.together();
        }
        let [offset, original] = [stretch.a, stretch.b].map(|(at, by)| at + i as i64 * by);
        Difference::Element { tensor: self.to.name.to_owned(), coord, offset, original, is, was }
    }
}

/// The bytes of a box on both sides, and what they are.
struct Both<'x, 's, 'b> {
    a: &'x mut Patch<'s, 'b>,
    b: &'x mut Patch<'s, 'b>,
    to: &'x Held,
    from: &'x Held,
}

/// The elements of a stretch that lie among the next `left` of a buffer, its first among them.
fn together(left: u64, stride: i64) -> u64 {
    match u64::try_from(stride) {
        Ok(stride) if stride > 0 && stride < left => (left - 1) / stride + 1,
        _ => 1,
    }
}

/// The bytes from an element of `W` bytes on.
fn tail<const W: usize>(bytes: &[u8], at: u64) -> &[u8] {
    bytes.get(at as usize * W..).unwrap_or_default()
}

/// The error of an element that was not read.
fn missing(held: &Held) -> Error {
    let said = format!("{} reaches an offset that its box does not", held.named.name());
    Error::usage(format!("comparing: {said}"))
}

impl Both<'_, '_, '_> {
    /// The first element of a stretch that differs: which, what it is, what it should be.
    fn difference(&mut self, stretch: &Stretch) -> Result<Option<(u64, u128, u128)>, Error> {
        let whole_bytes =
            (self.to.bits, self.to.order) == (self.from.bits, self.from.order) && self.to.bits >= 8;
        let from = match whole_bytes {
            false => 0,
            true if stretch.a.1 == 1 && stretch.b.1 == 1 => self.unequal_bytes(stretch)?,
            true => match self.to.bits {
                8 => self.unequal::<1>(stretch),
                16 => self.unequal::<2>(stretch),
                32 => self.unequal::<4>(stretch),
                64 => self.unequal::<8>(stretch),
                128 => self.unequal::<16>(stretch),
                _ => 0,
            },
        };
        for i in from..stretch.len {
            let a = self.a.find(stretch.a.0 + i as i64 * stretch.a.1);
            let b = self.b.find(stretch.b.0 + i as i64 * stretch.b.1);
            let ((a, _), (b, _)) =
                (a.ok_or_else(|| missing(self.to))?, b.ok_or_else(|| missing(self.from))?);
            for word in 0..words(self.to.bits) {
                let value = element(self.a.bytes(), a, self.to.bits, word);
                let (value, expected) = (
                    value.ok_or_else(|| missing(self.to))?,
                    self.expected(b, word).ok_or_else(|| missing(self.from))?,
                );
                if value != expected {
                    return Ok(Some((i, value, expected)));
                }
            }
        }
        Ok(None)
    }

    /// How many elements of a stretch of neighbours are in front of the first piece that differs.
    fn unequal_bytes(&mut self, stretch: &Stretch) -> Result<u64, Error> {
        let (width, mut i) = (u64::from(self.to.bits / 8), 0);
        while i < stretch.len {
            let (a, many) = self.a.find(stretch.a.0 + i as i64).ok_or_else(|| missing(self.to))?;
            let (b, more) =
                self.b.find(stretch.b.0 + i as i64).ok_or_else(|| missing(self.from))?;
            let count = many.min(more).min(stretch.len - i);
            let range = |at: u64| (at * width) as usize..((at + count) * width) as usize;
            let a = self.a.bytes().get(range(a)).ok_or_else(|| missing(self.to))?;
            if Some(a) != self.b.bytes().get(range(b)) {
                break;
            }
            i += count;
        }
        Ok(i)
    }

    /// How many elements of `W` bytes are in front of the first that differs, or of one that was not read.
    fn unequal<const W: usize>(&mut self, stretch: &Stretch) -> u64 {
        let mut i = 0;
        while i < stretch.len {
            let at = |(offset, stride): (i64, i64)| offset + i as i64 * stride;
            let (Some(a), Some(b)) = (self.a.find(at(stretch.a)), self.b.find(at(stretch.b)))
            else {
                return i;
            };
            let count = together(a.1, stretch.a.1).min(together(b.1, stretch.b.1));
            let count = count.min(stretch.len - i);
            let (a, b) = (tail::<W>(self.a.bytes(), a.0), tail::<W>(self.b.bytes(), b.0));
            let steps = [stretch.a.1, stretch.b.1];
            let steps = steps.map(|stride| (stride.max(1) as usize).saturating_mul(W));
            let holds = |bytes: &[u8], step: usize| {
                bytes.len() >= (count as usize - 1).saturating_mul(step).saturating_add(W)
            };
            if !holds(a, steps[0]) || !holds(b, steps[1]) {
                return i;
            }
            let mut pairs = a.chunks(steps[0]).zip(b.chunks(steps[1])).take(count as usize);
            let differs = |(a, b): (&[u8], &[u8])| a.first_chunk::<W>() != b.first_chunk::<W>();
            if let Some(equal) = pairs.position(differs) {
                return i + equal as u64;
            }
            i += count;
        }
        stretch.len
    }

    /// A word of the original's element, in the width of the result; `None` if it was not read.
    fn expected(&self, index: u64, word: u32) -> Option<u128> {
        let (from, to) = (self.from.bits, self.to.bits);
        let value = element(self.b.bytes(), index, from, word)?;
        let value = match self.from.order == self.to.order {
            true => value,
            false => ByteOrder::Big.stored(self.from.dtype, from, value),
        };
        if from == to {
            return Some(value);
        }
        let negative = self.from.dtype.is_signed_integer() && value >> (from - 1) & 1 == 1;
        let wide = if negative && to > from { value | (u128::MAX << from) } else { value };
        Some(if to < 128 { wide & ((1 << to) - 1) } else { wide })
    }
}
