//! Boxes of a program without regions: the elements whose digits of the destination have a range of values each. Tiles of
//! such programs are these boxes; the source bytes of a box are listed, because a table may place them anywhere.
//!
//! Law: a box is dense in its buffer, in the order of the destination, and each of its places is an element or padding.

use crate::{
    Elements, Plan, Program,
    cpu::{kernel, padding},
    program::{
        digits::{Digits, SourceStep},
        region::{Loop, Region},
    },
    stream::{boxes::Boxes, scattered::Stretches},
};
use core::ops::Range;
use tilewright_core::TensorLayout;

/// A list of stretches takes at most one part in this many of a buffer.
const LIST: u64 = 16;

/// The digits of a program as loops over elements, which [`Boxes`] cuts.
#[derive(Clone, Debug)]
pub(crate) struct DigitLoops {
    /// Units are elements. The steps of the source are approximate.
    pub(crate) region: Region,
    /// The digit of each loop, and that of the run at the end.
    digits: Vec<Option<usize>>,
    /// True for each loop whose indices are scattered in the source unless it is whole.
    scattered: Vec<bool>,
}

impl DigitLoops {
    /// Returns the loops of a program without regions. Returns `None` if boxes of its digits are not boxes of the
    /// destination, or if bytes outside its elements must not be written.
    pub(crate) fn of(program: &Program) -> Option<DigitLoops> {
        if program.regions().is_some() || program.is_part() {
            return None;
        }
        let digits = program.digits();
        if digits.is_empty() || !digits.swizzles().1.is_identity() || !is_apart(program) {
            return None;
        }
        let mut order: Vec<usize> = (0..digits.digits.len()).collect();
        let stride = |i: usize| digits.digits[i].stride.unsigned_abs();
        tilewright_core::sort_short(&mut order, |&i| core::cmp::Reverse(stride(i)));
        let last = order.last().copied().filter(|&i| stride(i) == 1);
        let steps: Vec<SourceStep> = order.iter().map(|&i| digits.source_step(i)).collect();
        let each = order.iter().zip(&steps).map(|(&i, step)| {
            let (extent, dst) = (digits.digits[i].extent, digits.digits[i].stride.abs());
            Loop { extent, src: step.mean as i64, dst }
        });
        let mut loops: Vec<Loop> = each.collect();
        let mut scattered: Vec<bool> = steps.iter().map(|step| step.is_scattered).collect();
        let mut digit: Vec<Option<usize>> = order.into_iter().map(Some).collect();
        let run = match last {
            Some(_) => loops.pop().map_or(1, |level| level.extent),
            None => {
                digit.push(None);
                scattered.push(false);
                1
            }
        };
        let dst = digits.lowest();
        let region = Region { packed: true, src: 0, dst, run, loops };
        Some(DigitLoops { region, digits: digit, scattered })
    }

    /// Cuts the loops into boxes of at most `most` elements.
    pub(crate) fn cut(&self, elements: Elements, most: u64) -> Boxes {
        Boxes::scattered(&self.region, elements, most, &self.scattered)
    }

    /// Returns the digits within a box, with the strides of its dense buffer.
    fn within(&self, digits: &Digits, area: &[Range<u64>]) -> Digits {
        let (mut own, mut pitch) = (digits.clone(), 1);
        own.base.1 = 0;
        for (range, digit) in area.iter().zip(&self.digits).rev() {
            let Some(digit) = digit.and_then(|i| own.digits.get_mut(i)) else { continue };
            let extent = range.end - range.start;
            // A loop begins at the lowest offset, which is that of the last value of a negative stride.
            let first = match digit.stride < 0 {
                true => digit.first + digit.extent - range.end,
                false => digit.first + range.start,
            };
            digit.stride = digit.stride.signum() * pitch as i64;
            (digit.first, digit.extent) = (first, extent);
            pitch *= extent;
        }
        own.base.1 = -own.lowest();
        own
    }
}

impl Digits {
    /// Returns the lowest offset of the destination, before its swizzle.
    fn lowest(&self) -> i64 {
        let low = |digit: &crate::Digit| {
            let values = digit.values();
            let end = if digit.stride < 0 { values.end as i64 - 1 } else { values.start as i64 };
            end * digit.stride
        };
        self.base.1 + self.digits.iter().map(low).sum::<i64>()
    }
}

/// Returns whether every combination of digits has its own place, also those that hold no element.
fn is_apart(program: &Program) -> bool {
    let digits = program.digits().digits().iter();
    let all = digits.fold(1u128, |all, digit| all.saturating_mul(digit.extent.into()));
    let bare = || TensorLayout::of(program.dst().layout()).injective() == Ok(true);
    all == u128::from(program.dst().size()) || bare()
}

/// The elements of a box: their digits, and the stretches of the source that hold them.
#[derive(Clone)]
pub(crate) struct DigitBox {
    digits: Digits,
    stretches: Stretches,
    /// The number of elements of the dense buffer.
    len: u64,
}

impl DigitBox {
    /// Returns the elements of a box, whose list of stretches is short beside a buffer of `most` bytes.
    pub(crate) fn of(plan: &Plan, loops: &DigitLoops, area: &[Range<u64>], most: u64) -> DigitBox {
        let digits = loops.within(plan.program().digits(), area);
        let len = area.iter().map(|range| range.end - range.start).product();
        let mut stretches = Stretches::bounded(plan.elements().src_bits, most / LIST);
        stretches.add_all(&digits, 0..len as i64);
        DigitBox { digits, stretches, len }
    }

    /// Returns the bytes of the buffer that the reads fill.
    pub(crate) fn bytes(&self) -> u128 {
        self.stretches.bytes()
    }

    /// Returns the bytes of the list of reads.
    pub(crate) fn overhead(&self) -> u64 {
        self.stretches.overhead()
    }

    /// Returns the number of reads.
    pub(crate) fn count(&self) -> u64 {
        self.stretches.len() as u64
    }

    /// Returns a read: its byte offset in the source, its length, and its position in the buffer.
    pub(crate) fn read(&self, i: u64) -> (u64, u64, u64) {
        self.stretches.read(i as usize)
    }

    /// Moves the elements from the buffer of the reads to that of the box. Its padding gets the fill.
    pub(crate) fn run(&self, plan: &Plan, src: &[u8], out: &mut [u8]) {
        let (program, elements) = (plan.program(), plan.elements());
        if program.padding() > 0 {
            padding::fill(elements, program.fill(), 0, out);
        }
        self.digits.walk(0..self.len as i64, &mut |leaf| {
            self.stretches.place(leaf, &mut |leaf, shift| {
                kernel::table(elements, leaf, (shift, 0), src, out);
            });
        });
    }
}
