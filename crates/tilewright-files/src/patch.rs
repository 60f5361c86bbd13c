//! The bytes of one tensor that hold the elements of a box of coordinates, read into a buffer.
//!
//! Law: after [`Patch::read`], every element of the box is found, and holds what the file has at its offset.

use crate::{
    Error,
    boxes::Area,
    budget::{Budget, Buffer, Held as Memory},
    digits::Digits,
    held::Held,
    rows::{Rows, is_additive},
    source::Source,
};

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
    /// Whether padding must hold it, whatever the other side's holds.
    pub(crate) promised: bool,
}

/// Steps between elements of up to this number of bytes are read with them.
const CLOSE: u64 = 64;

/// Gaps of this number of bytes are read where they fit: a call costs more than they do.
const GAPS: [u64; 3] = [2048, 512, 64];

/// Elements `from..to` of a storage, which lie at `at` of the buffer, all counted in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    from: u64,
    to: u64,
    at: u64,
}

pub(crate) struct Patch<'s, 'b> {
    side: &'s Side<'s>,
    digits: Option<Digits>,
    bytes: Buffer<'b>,
    spans: Vec<Span>,
    /// The most spans.
    most: usize,
    _list: Memory<'b>,
    /// The span found last, and how far it was from the one before.
    last: usize,
    step: isize,
    even: Even,
}

impl<'s, 'b> Patch<'s, 'b> {
    /// A buffer of `room` bytes, or of one element, with a list of `list` bytes.
    pub(crate) fn new(
        side: &'s Side<'s>,
        room: u64,
        list: u64,
        budget: &'b Budget,
    ) -> Result<Patch<'s, 'b>, Error> {
        let bytes = budget.buffer(room.max(u64::from(side.held.bits.div_ceil(8))))?;
        let most = ((list / size_of::<Span>() as u64) as usize).max(4);
        let memory = budget.held((most * size_of::<Span>()) as u64)?;
        let layout = side.held.layout();
        let digits = is_additive(layout).then(|| Digits::new(layout.layout()));
        let spans = Vec::with_capacity(most);
        let (last, step, even) = (0, 0, Even::default());
        Ok(Patch { side, digits, bytes, spans, most, _list: memory, last, step, even })
    }

    /// Reads a box; false if it does not fit.
    pub(crate) fn read(&mut self, area: &Area) -> Result<bool, Error> {
        self.spans.clear();
        (self.last, self.step, self.even) = (0, 0, Even::default());
        if !self.collect(area)? || !self.settle() {
            return Ok(false);
        }
        let bits = u128::from(self.side.held.bits);
        let byte = |elements: u64| (u128::from(elements) * bits / 8) as u64;
        for span in &self.spans {
            let (from, to, at) = (byte(span.from), byte(span.to), byte(span.at) as usize);
            if to > self.side.len {
                let said = format!("byte {to} of a tensor of {} bytes", self.side.len);
                return Err(Error::corrupt(self.side.source.path(), said));
            }
            let bytes = self.bytes.get_mut(at..at + (to - from) as usize).ok_or_else(|| {
                let name = self.side.name;
                Error::usage(format!("comparing: tensor {name:?} does not fit into its buffer"))
            })?;
            self.side.source.read(bytes, self.side.at + from)?;
        }
        Ok(true)
    }

    /// Lists the spans of a box; false if they are too many.
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
        let mut see = |stretch: &crate::rows::Stretch, _: &[u64], _| {
            fits = self.push(stretch.b.0, stretch.b.1, stretch.len);
            fits
        };
        rows.each(area, &mut see).map_err(comparing)?;
        Ok(fits)
    }

    /// Adds elements that lie in an arithmetic sequence; false if there are too many spans.
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
        // Whole bytes: the elements of a byte are read together.
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

    /// Gives each span its place in the buffer; false if they do not fit.
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

    /// What was read.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where elements at an offset and every `stride` behind it are, as long as they lie evenly; `None` if the first
    /// was not read.
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
        let even = self.even();
        let count = match even.from > 0 && stride.is_multiple_of(even.from) {
            true => (even.end - 1 - self.last) as u64 / (stride / even.from) + 1,
            false => 1,
        };
        let step = if count > 1 { stride / even.from * even.at } else { 1 };
        Some(Places { at, step, count })
    }

    /// The equal, evenly spaced spans from the one found last on.
    fn even(&mut self) -> Even {
        if (self.even.first..self.even.end).contains(&self.last) {
            return self.even;
        }
        let len = |span: &Span| span.to - span.from;
        let step =
            |pair: &[Span]| (pair[1].from - pair[0].from, pair[1].at - pair[0].at, len(&pair[1]));
        let spans = self.spans.get(self.last..).unwrap_or_default();
        let spans = spans.get(..EVEN).unwrap_or(spans);
        let like = match spans {
            [first, second, ..] if len(first) == len(second) => step(&[*first, *second]),
            _ => (0, 0, 0),
        };
        let alike = spans.windows(2).take_while(|pair| step(pair) == like).count();
        let (first, end) = (self.last, self.last + alike + 1);
        self.even = Even { first, end, from: like.0, at: like.1 };
        self.even
    }
}

/// The most spans that are looked at together.
const EVEN: usize = 512;

/// Spans of equal length at equal distances, in the storage and in the buffer.
#[derive(Clone, Copy, Default)]
struct Even {
    first: usize,
    end: usize,
    from: u64,
    at: u64,
}

/// Where the elements of a sequence are in a buffer, counted in elements: the first, and a number of them at a
/// distance of at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) at: u64,
    pub(crate) step: u64,
    pub(crate) count: u64,
}

/// The error of a layout that cannot be walked.
pub(crate) fn comparing(error: tilewright_core::Error) -> Error {
    Error::usage(format!("comparing: {error}"))
}
