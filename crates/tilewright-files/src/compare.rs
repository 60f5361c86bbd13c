//! One tensor of two files: every element, then every padding element, window by window.
//!
//! A window is a stretch of the result's storage that is held in memory, with a bit per element that
//! says whether a logical element was seen there. What was not seen is padding.

use std::ops::Range;

use tilewright_core::ByteOrder;

use crate::{
    Difference, Error, Watch,
    blocks::Blocks,
    budget::{Budget, Buffer},
    held::Held,
    rows::{Rows, Stretch},
    source::Source,
    watch::go_on,
    word::{element, fill_word, words},
};

/// So many stretches are looked at between two looks at the watch.
const PATIENCE: u32 = 1 << 16;

/// One file's side of a comparison.
pub(crate) struct Side<'a> {
    /// The tensor.
    pub(crate) name: &'a str,
    pub(crate) source: &'a Source,
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) held: &'a Held,
    /// What padding holds, as the bits of an element.
    pub(crate) fill: u128,
}

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
    let promised =
        to.held.named.fill().is_promised() && to.held.named.fill() != from.held.named.fill();
    if alike
        && (!promised || to.held.layout().padding() == 0)
        && same_bytes(to, from, watch, budget)?
    {
        watch.advance(to.len);
        return Ok(None);
    }
    let unit = u64::from(from.held.bits.div_ceil(8));
    let mut original =
        Blocks::new(from.source, (from.at, from.len), unit, budget.limit() / 2, budget)?;
    let step = (to.len.min(budget.limit() / 4) / step_unit(to)).max(1) * step_unit(to);
    let mut start = 0;
    while start < to.len {
        let len = step.min(to.len - start);
        let mut window = Window::read(to, start, len, budget)?;
        if let Some(found) = window.elements(to, from.held, &mut original, watch)? {
            return Ok(Some(found));
        }
        if let Some(found) = window.padding(to) {
            return Ok(Some(found));
        }
        watch.advance(len);
        start += len;
    }
    Ok(None)
}

/// Windows start where both an element and a byte start.
fn step_unit(side: &Side<'_>) -> u64 {
    u64::from(side.held.bits.div_ceil(8))
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

/// A stretch of the result's storage in memory.
struct Window<'b> {
    bytes: Buffer<'b>,
    seen: Buffer<'b>,
    /// The elements it holds.
    first: u64,
    end: u64,
    bits: u32,
}

impl<'b> Window<'b> {
    fn read(to: &Side<'_>, start: u64, len: u64, budget: &'b Budget) -> Result<Window<'b>, Error> {
        let bits = to.held.bits;
        let element = |byte: u64| (u128::from(byte) * 8 / u128::from(bits)) as u64;
        let (first, end) = (element(start), element(start + len).min(to.held.layout().capacity()));
        let mut bytes = budget.buffer(len)?;
        to.source.read(&mut bytes, to.at + start)?;
        let seen = budget.buffer((end - first).div_ceil(8))?;
        Ok(Window { bytes, seen, first, end, bits })
    }

    /// Compares every element that lies in the window.
    fn elements(
        &mut self,
        to: &Side<'_>,
        from: &Held,
        original: &mut Blocks<'_, '_>,
        watch: &dyn Watch,
    ) -> Result<Option<Difference>, Error> {
        let (name, to) = (to.name, to.held);
        if to.layout().size() == 0 {
            return Ok(None);
        }
        let failed = |error: tilewright_core::Error| Error::usage(format!("comparing: {error}"));
        let rows = Rows::new(to.layout(), from.layout()).map_err(failed)?;
        let mut pair = Pair {
            window: self,
            name,
            to,
            from,
            original,
            watch,
            patience: PATIENCE,
            answer: Ok(None),
        };
        let mut coord = vec![0; to.layout().rank()];
        loop {
            let start = coord.clone();
            rows.row(&mut coord, &mut |stretch| pair.compare(&stretch, &start, rows.dim()))
                .map_err(failed)?;
            if !matches!(pair.answer, Ok(None)) || !rows.next(&mut coord) {
                return pair.answer;
            }
        }
    }

    /// Which elements of a stretch lie in the window.
    fn part_of(&self, stretch: &Stretch) -> Range<u64> {
        let (offset, stride) = (i128::from(stretch.a.0), i128::from(stretch.a.1));
        let (first, end) = (i128::from(self.first) - offset, i128::from(self.end) - offset);
        let up =
            |distance: i128, by: i128| if distance <= 0 { 0 } else { (distance + by - 1) / by };
        let len = i128::from(stretch.len);
        let (from, to) = match stride {
            0 if first <= 0 && end > 0 => (0, len),
            0 => (0, 0),
            1 => (first.max(0), end.max(0)),
            _ if stride > 0 => (up(first, stride), up(end, stride)),
            _ => (up(1 - end, -stride), up(1 - first, -stride)),
        };
        from.min(len) as u64..to.min(len) as u64
    }

    /// Notes that `count` elements from `index` on are no padding.
    fn saw(&mut self, index: u64, count: u64) {
        let (mut at, end) = (index, index + count);
        while at < end {
            let (byte, bit) = ((at / 8) as usize, at % 8);
            let bits = (8 - bit).min(end - at);
            if let Some(seen) = self.seen.get_mut(byte) {
                *seen |= ((0xFFu16 >> (8 - bits)) << bit) as u8;
            }
            at += bits;
        }
    }

    /// Compares everything that no element was seen at.
    fn padding(&self, to: &Side<'_>) -> Option<Difference> {
        let full = (self.end - self.first) / 8;
        for (byte, seen) in (0u64..).zip(self.seen.iter()) {
            if *seen == u8::MAX && byte < full {
                continue;
            }
            let from = self.first + byte * 8;
            for offset in (from..(from + 8).min(self.end)).filter(|at| seen >> (at - from) & 1 == 0)
            {
                let index = offset - self.first;
                let differs = |word: &u32| self.word(index, *word) != fill_word(to.fill, *word);
                if let Some(word) = (0..words(self.bits)).find(differs) {
                    return Some(Difference::Padding {
                        tensor: to.name.to_owned(),
                        offset,
                        is: self.word(index, word),
                        expected: fill_word(to.fill, word),
                    });
                }
            }
        }
        let text = self.tail()?;
        Some(Difference::Said { tensor: Some(to.name.to_owned()), text })
    }

    fn word(&self, index: u64, word: u32) -> u128 {
        element(&self.bytes, index, self.bits, word)
    }

    /// The bits behind the last element of a packed storage.
    fn tail(&self) -> Option<String> {
        let used = ((self.end - self.first) % 8) as u32 * self.bits % 8;
        let last = *self.bytes.last()?;
        let whole = (u128::from(self.end - self.first) * u128::from(self.bits)).div_ceil(8);
        if self.bits >= 8 || used == 0 || whole != self.bytes.len() as u128 || last >> used == 0 {
            return None;
        }
        Some(format!(
            "it has {last:#x} in its last byte, whose high {} bits hold no element",
            8 - used
        ))
    }
}

/// A window next to the original, while elements are compared.
struct Pair<'p, 'w, 's, 'b> {
    window: &'p mut Window<'w>,
    name: &'p str,
    to: &'p Held,
    from: &'p Held,
    original: &'p mut Blocks<'s, 'b>,
    watch: &'p dyn Watch,
    patience: u32,
    answer: Result<Option<Difference>, Error>,
}

impl Pair<'_, '_, '_, '_> {
    /// Compares a stretch; false when there is an answer.
    fn compare(&mut self, stretch: &Stretch, start: &[u64], dim: Option<usize>) -> bool {
        self.patience -= 1;
        let mut go = Ok(());
        if self.patience == 0 {
            self.patience = PATIENCE;
            go = go_on(self.watch);
        }
        let found = go.and_then(|()| self.difference(stretch));
        self.answer = found.map(|found| {
            found.map(|(i, is, was)| {
                let mut coord = start.to_vec();
                if let Some(dim) = dim {
                    coord[dim] = stretch.from + i;
                }
                // A block is named by its first element.
                if let Some(last) = coord.last_mut() {
                    *last *= self.to.together();
                }
                let [offset, original] = [stretch.a, stretch.b].map(|(at, by)| at + i as i64 * by);
                Difference::Element {
                    tensor: self.name.to_owned(),
                    coord,
                    offset,
                    original,
                    is,
                    was,
                }
            })
        });
        matches!(self.answer, Ok(None))
    }

    /// The first element of a stretch that differs: which, what it is, what it should be.
    fn difference(&mut self, stretch: &Stretch) -> Result<Option<(u64, u128, u128)>, Error> {
        let mut range = self.window.part_of(stretch);
        if range.is_empty() {
            return Ok(None);
        }
        let whole_bytes =
            (self.to.bits, self.to.order) == (self.from.bits, self.from.order) && self.to.bits >= 8;
        if whole_bytes && stretch.a.1 == 1 && stretch.b.1 == 1 {
            range = self.unequal(stretch, range)?;
        }
        for i in range {
            let a = stretch.a.0 + i as i64 * stretch.a.1;
            let b = stretch.b.0 + i as i64 * stretch.b.1;
            let index = (a - self.window.first as i64) as u64;
            for word in 0..words(self.to.bits) {
                let (value, expected) = (self.window.word(index, word), self.expected(b, word)?);
                if value != expected {
                    return Ok(Some((i, value, expected)));
                }
            }
            self.window.saw(index, 1);
        }
        Ok(None)
    }

    /// The elements of a stretch of neighbours from the first piece on whose bytes differ; empty if
    /// all are equal.
    fn unequal(&mut self, stretch: &Stretch, mut range: Range<u64>) -> Result<Range<u64>, Error> {
        let width = u64::from(self.to.bits / 8);
        while !range.is_empty() {
            let index = (stretch.a.0 + range.start as i64) as u64 - self.window.first;
            let from = u64::try_from(stretch.b.0 + range.start as i64).unwrap_or(u64::MAX);
            let left = ((range.end - range.start) * width) as usize;
            let was = self.original.get(from.saturating_mul(width), left)?;
            let at = (index * width) as usize;
            if self.window.bytes.get(at..at + was.len()) != Some(was) {
                break;
            }
            let count = was.len() as u64 / width;
            if count == 0 {
                break;
            }
            self.window.saw(index, count);
            range.start += count;
        }
        Ok(range)
    }

    /// A word of the original's element at an offset, in the width of the result.
    fn expected(&mut self, offset: i64, word: u32) -> Result<u128, Error> {
        let (from, to) = (self.from.bits, self.to.bits);
        let offset = u64::try_from(offset).unwrap_or(u64::MAX);
        let value = if from >= 8 {
            let width = u64::from(from / 8);
            element(self.original.get(offset.saturating_mul(width), width as usize)?, 0, from, word)
        } else {
            let each = u64::from(8 / from);
            element(self.original.get(offset / each, 1)?, offset % each, from, word)
        };
        let value = match self.from.order == self.to.order {
            true => value,
            false => ByteOrder::Big.stored(self.from.dtype, from, value),
        };
        if from == to {
            return Ok(value);
        }
        let negative = self.from.dtype.is_signed_integer() && value >> (from - 1) & 1 == 1;
        let wide = if negative && to > from { value | (u128::MAX << from) } else { value };
        Ok(if to < 128 { wide & ((1 << to) - 1) } else { wide })
    }
}
