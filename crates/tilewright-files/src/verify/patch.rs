//! Reads the bytes of one tensor that hold the elements of a box of coordinates into a buffer, and returns stored elements as
//! numbers of 128 bits, wider ones word by word. Comparisons of tensors and of padding use it.
//!
//! Laws: after [`Patch::read`], every element of the box is found in the buffer, with the file's value at its offset; after
//! [`Patch::gather`], this is true of every place of the buffer that the loops reach.

use tilewright_relayout::CALL;

use crate::{
    Error,
    convert::budget::{Budget, Buffer, Reservation},
    error,
    layout::element_layout::ElementLayout,
    open::origin::Origin,
    verify::{
        boxes::Area,
        digits::LayoutDigits,
        loops::{LoopTurn, each},
        rows::{Rows, is_additive},
    },
};

/// One file's side of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct FileSide<'a> {
    /// The tensor.
    pub(crate) name: &'a str,
    pub(crate) source: Origin<'a>,
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) held: &'a ElementLayout,
    /// The value of padding, as the bits of an element.
    pub(crate) fill: u128,
    /// True if padding must have this value, whatever the padding of the other side is.
    pub(crate) promised: bool,
    /// For each dim whether only all of its indices are contiguous in the file; empty if every dim is.
    pub(crate) scattered: &'a [bool],
}

/// The largest step between elements, in bytes, for which the bytes between them are read too.
const CLOSE: u64 = 64;

/// The lengths of gaps that are read along if they fit, in bytes: a further call costs more.
const GAPS: [u64; 3] = [CALL / 2, CALL / 8, CALL / 64];

/// Elements `from..to` of a storage, which are at `at` of the buffer; all three count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    from: u64,
    to: u64,
    at: u64,
}

/// The least number of bytes of a patch's list.
pub(crate) const LEAST: u64 = 4 * size_of::<Span>() as u64;

pub(crate) struct Patch<'s> {
    side: &'s FileSide<'s>,
    digits: Option<LayoutDigits>,
    bytes: Buffer,
    spans: Vec<Span>,
    /// The largest number of spans.
    most: usize,
    _list: Reservation,
    /// The span found last, and its distance from the one before.
    last: usize,
    step: isize,
}

impl<'s> Patch<'s> {
    /// Returns a buffer of `room` bytes, but at least one element, with a list of `list` bytes.
    pub(crate) fn new(
        side: &'s FileSide<'s>,
        room: u64,
        list: u64,
        budget: &Budget,
    ) -> Result<Patch<'s>, Error> {
        let bytes = budget.buffer(room.max(u64::from(side.held.bits.div_ceil(8))))?;
        let most = (list.max(LEAST) / size_of::<Span>() as u64) as usize;
        let memory = budget.reserve((most * size_of::<Span>()) as u64)?;
        let (digits, spans) = (digits(side), Vec::with_capacity(most));
        let (last, step) = (0, 0);
        Ok(Patch { side, digits, bytes, spans, most, _list: memory, last, step })
    }

    /// Turns to another side, whose elements are not wider than the buffer.
    pub(crate) fn turn_to(&mut self, side: &'s FileSide<'s>) {
        (self.side, self.digits) = (side, digits(side));
        self.spans.clear();
    }

    /// Reads a box; returns false if it does not fit.
    pub(crate) fn read(&mut self, area: &Area) -> Result<bool, Error> {
        self.spans.clear();
        (self.last, self.step) = (0, 0);
        if !self.collect(area)? || !self.settle() {
            return Ok(false);
        }
        for i in 0..self.spans.len() {
            let Span { from, to, at } = self.spans[i];
            self.fill(from, to, at)?;
        }
        Ok(true)
    }

    /// Reads elements `from..to` of the storage into the buffer, at its element `at`.
    fn fill(&mut self, from: u64, to: u64, at: u64) -> Result<(), Error> {
        let bits = u128::from(self.side.held.bits);
        let byte = |elements: u64| u64::try_from(u128::from(elements) * bits / 8);
        let (Ok(from), Ok(to), Ok(at)) = (byte(from), byte(to), byte(at)) else {
            return Err(error::usage("comparing: an element behind the last byte of a file"));
        };
        if to > self.side.len {
            let said = format!("byte {to} of a tensor of {} bytes", self.side.len);
            return Err(error::corrupt(self.side.source.path(), said));
        }
        let (at, len) = (at as usize, (to - from) as usize);
        let bytes = self.bytes.get_mut(at..at + len).ok_or_else(|| {
            let name = self.side.name;
            error::usage(format!("comparing: tensor {name:?} does not fit into its buffer"))
        })?;
        self.side.source.read(bytes, self.side.at + from)
    }

    /// Reads all elements that loops reach from `first` on by their steps on one `side`, and replaces these steps by steps in the
    /// buffer. Returns the position of the first element in the buffer, or `None` if they do not fit. It lists no spans, so the
    /// list does not bound it: the loops give the position of each range, and there are not more ranges than elements in the
    /// buffer.
    pub(crate) fn gather(
        &mut self,
        first: i64,
        turns: &mut [LoopTurn],
        side: usize,
    ) -> Result<Option<i64>, Error> {
        self.spans.clear();
        let width = u64::from(self.side.held.bits / 8).max(1);
        let room = self.bytes.len() as u64 / width;
        let gaps = GAPS.into_iter().map(|gap| gap / width).chain([0]);
        let found = gaps.into_iter().find_map(|gap| Stretches::of(turns, side, gap, room));
        let Some(Stretches { len, steps, jumps }) = found else { return Ok(None) };
        let back = |turn: &LoopTurn, step: i64| (turn.count - 1) as i64 * step.min(0);
        let low: i64 = first + turns.iter().map(|turn| back(turn, turn.steps[side])).sum::<i64>();
        let mut read = Ok(());
        each(&jumps, [low, 0], &mut |[from, at]| {
            read = self.fill(from as u64, from as u64 + len, at as u64);
            read.is_ok()
        });
        read?;
        turns.iter_mut().zip(&steps).for_each(|(turn, step)| turn.steps[side] = *step);
        Ok(Some(-turns.iter().map(|turn| back(turn, turn.steps[side])).sum::<i64>()))
    }

    /// Lists the spans of a box; returns false if there are too many.
    fn collect(&mut self, area: &Area) -> Result<bool, Error> {
        let mut fits = true;
        if let Some(digits) = self.digits.take() {
            digits.walk(area, None, &mut |run| {
                fits = self.push(run.offset, run.stride, run.count);
                fits
            });
            self.digits = Some(digits);
            return Ok(fits);
        }
        let layout = self.side.held.layout();
        let mut rows = Rows::new(layout, layout, 0).map_err(comparing)?;
        let mut see = |stretch: &crate::verify::rows::Stretch, _: &[u64], _| {
            fits = self.push(stretch.b.0, stretch.b.1, stretch.len);
            fits
        };
        rows.each(area, &mut see).map_err(comparing)?;
        Ok(fits)
    }

    /// Adds elements at the offsets of an arithmetic sequence; returns false if there are too many spans.
    fn push(&mut self, offset: i64, stride: i64, count: u64) -> bool {
        let last = offset + (count - 1) as i64 * stride;
        let (low, high) = (offset.min(last) as u64, offset.max(last) as u64);
        let bits = u64::from(self.side.held.bits);
        if count == 1 || stride.unsigned_abs().saturating_mul(bits) <= CLOSE * 8 {
            return self.add(low, high + 1);
        }
        (0..count).all(|i| {
            let at = low + i * stride.unsigned_abs();
            self.add(at, at + 1)
        })
    }

    fn add(&mut self, from: u64, to: u64) -> bool {
        // The spans have whole bytes: the elements of a byte are read together.
        let grain = u64::from((8 / self.side.held.bits).max(1));
        let (from, to) = (from / grain * grain, to.next_multiple_of(grain));
        if let Some(last) = self.spans.last_mut()
            && last.from <= from
            && from <= last.to
        {
            last.to = last.to.max(to);
            return true;
        }
        if self.spans.len() == self.most {
            self.join(0);
            if self.spans.len() > self.most / 2 {
                return false;
            }
        }
        self.spans.push(Span { from, to, at: 0 });
        true
    }

    /// Sorts the spans and joins them across gaps of up to this number of elements.
    fn join(&mut self, gap: u64) {
        self.spans.sort_unstable();
        self.spans.dedup_by(|next, last| {
            let joins = next.from <= last.to.saturating_add(gap);
            if joins {
                last.to = last.to.max(next.to);
            }
            joins
        });
    }

    /// Assigns each span its position in the buffer; returns false if they do not fit.
    fn settle(&mut self) -> bool {
        self.join(0);
        let bits = u64::from(self.side.held.bits);
        let room = self.bytes.len() as u64 * 8 / bits;
        let held: u64 = self.spans.iter().map(|span| span.to - span.from).sum();
        if held > room {
            return false;
        }
        let fits = |bytes: &u64| {
            let pairs = self.spans.windows(2).map(|pair| pair[1].from - pair[0].to);
            held + pairs.filter(|gap| gap * bits <= bytes * 8).sum::<u64>() <= room
        };
        if let Some(bytes) = GAPS.into_iter().find(fits) {
            self.join(bytes * 8 / bits);
        }
        let mut at = 0;
        for span in &mut self.spans {
            span.at = at;
            at += span.to - span.from;
        }
        true
    }

    /// Returns the bytes that were read.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the places of the element at an offset and of those at each further `stride`, as far as they were read together;
    /// `None` if the first was not read.
    #[inline]
    pub(crate) fn find(&mut self, offset: i64, stride: i64) -> Option<Places> {
        let offset = offset as u64;
        let holds = |span: &Span| span.from <= offset && offset < span.to;
        if !self.spans.get(self.last).is_some_and(holds) {
            // Rows step over spans evenly.
            let next = self.last.wrapping_add_signed(self.step);
            let next = match self.spans.get(next).is_some_and(holds) {
                true => next,
                false => self.spans.partition_point(|span| span.from <= offset).checked_sub(1)?,
            };
            self.step = next.wrapping_sub(self.last) as isize;
            self.last = next;
        }
        let span = self.spans.get(self.last).filter(|span| holds(span))?;
        let (at, left) = (span.at + (offset - span.from), span.to - offset);
        let Some(stride) = u64::try_from(stride).ok().filter(|stride| *stride > 0) else {
            return Some(Places { at, step: 1, count: 1 });
        };
        if stride < left || left == 1 && stride == 1 {
            return Some(Places { at, step: stride, count: (left - 1) / stride + 1 });
        }
        Some(Places { at, step: 1, count: 1 })
    }
}

/// Returns the digits of a side whose offsets are sums of contributions of the coordinates.
fn digits(side: &FileSide<'_>) -> Option<LayoutDigits> {
    let layout = side.held.layout();
    is_additive(layout).then(|| LayoutDigits::new(layout.layout()))
}

/// Loops over a storage as ranges of `len` elements, one for each iteration of `jumps`, whose steps are those in the storage and
/// in a buffer; `steps` are the steps of the loops in the buffer.
struct Stretches {
    len: u64,
    steps: Vec<i64>,
    jumps: Vec<LoopTurn>,
}

impl Stretches {
    /// Returns ranges that include gaps of up to `gap` elements; `None` if they do not fit.
    fn of(turns: &[LoopTurn], side: usize, gap: u64, room: u64) -> Option<Stretches> {
        let far = |i: usize| turns[i].steps[side].unsigned_abs();
        let mut order: Vec<usize> = (0..turns.len()).filter(|i| far(*i) > 0).collect();
        order.sort_by_key(|i| far(*i));
        let (mut len, mut steps, mut jumps) = (1u64, vec![0; turns.len()], vec![]);
        let mut held = 1u64;
        for i in order {
            let (count, own) = (turns[i].count, turns[i].steps[side]);
            let step = if jumps.is_empty() && far(i) <= len.saturating_add(gap) {
                len = len.saturating_add(far(i).saturating_mul(count - 1));
                held = len;
                far(i)
            } else {
                let step = held;
                held = held.saturating_mul(count);
                jumps.push(LoopTurn { count, steps: [far(i) as i64, step as i64] });
                step
            };
            if held > room {
                return None;
            }
            steps[i] = step as i64 * own.signum();
        }
        jumps.reverse();
        Some(Stretches { len, steps, jumps })
    }
}

/// The places of the elements of a sequence in a buffer, in elements: the first, their distance of at least 1, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) at: u64,
    pub(crate) step: u64,
    pub(crate) count: u64,
}

/// Returns the error for a layout that cannot be traversed.
pub(crate) fn comparing(error: tilewright_core::Error) -> Error {
    error::usage(format!("comparing: {error}"))
}

/// The number of bytes of a word.
const WORD: u32 = 16;

/// Returns the number of words of 128 bits of an element.
pub(crate) fn words(bits: u32) -> u32 {
    bits.div_ceil(WORD * 8)
}

/// Returns a word of the value of padding: elements of several words have zeros above the first.
pub(crate) fn fill_word(fill: u128, word: u32) -> u128 {
    if word == 0 { fill } else { 0 }
}

/// Returns a word of element `index` of elements of `bits` bits, lowest bits of a byte first; `None` if the bytes do not contain
/// it.
pub(crate) fn element(bytes: &[u8], index: u64, bits: u32, word: u32) -> Option<u128> {
    // The most common widths are first.
    let at = |width: usize| bytes.get(index as usize * width..).and_then(|rest| rest.get(..width));
    match bits {
        16 => return at(2).map(|part| u16::from_le_bytes([part[0], part[1]]).into()),
        32 => {
            let word = at(4).map(|part| [part[0], part[1], part[2], part[3]]);
            return word.map(|word| u32::from_le_bytes(word).into());
        }
        _ => {}
    }
    if bits < 8 {
        let bit = index * u64::from(bits);
        let byte = bytes.get((bit / 8) as usize).copied()?;
        return Some(u128::from(byte >> (bit % 8)) & ((1 << bits) - 1));
    }
    let mut value = [0; WORD as usize];
    let element = at((bits / 8) as usize)?;
    let part = element.get((word * WORD) as usize..)?;
    for (byte, from) in value.iter_mut().zip(part) {
        *byte = *from;
    }
    Some(u128::from_le_bytes(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_there_whole_or_it_is_not() {
        let bytes = [0u8; 64];
        for bits in [1, 2, 4, 8, 16, 24, 32, 64, 128, 256] {
            for len in 0..=bytes.len() {
                let count = len as u64 * 8 / u64::from(bits);
                for index in 0..count + 2 {
                    for word in 0..words(bits) {
                        let found = element(&bytes[..len], index, bits, word);
                        assert_eq!(found, (index < count).then_some(0), "{index} of {bits} bits");
                    }
                }
            }
        }
    }
}
