//! Conditions on the source: names of the same array, copies, and padding must be equal. Both sides are read in the same boxes
//! and compared before anything is written.

use tilewright_recipe::{Digit, Equal, Origin, Part};

use super::{
    boxed::boxed,
    cells::number_of,
    hands::{Failed, Hands},
    made::{Known, whole},
    stored::rows,
    whole::{Way, Whole},
};
use crate::Error;

/// Elements of the source that must be equal.
#[derive(Debug)]
pub(crate) struct Equality {
    /// The two sides, as arrays in the order of the digits.
    pub(crate) sides: [Whole; 2],
    pub(crate) equal: Equal,
    /// The number of the first tensor in the input.
    pub(crate) tensor: usize,
}

impl Equality {
    pub(crate) fn of(equal: &Equal, known: &Known<'_>) -> Result<Equality, Error> {
        let wrong = |said: String| Error::usage(format!("{} {said}", equal.why));
        let (Origin::Source { tensor, .. }, digits) = (equal.first, &equal.digits) else {
            return Err(wrong("is compared with no tensor".into()));
        };
        let number = known.number(tensor);
        let found = number.and_then(|number| Some((number, known.tensors.get(number)?)));
        let (tensor, first) = found.ok_or_else(|| wrong(format!("is made of tensor {tensor}")))?;
        let size = digits.iter().map(|digit| digit.extent).fold(1, u64::saturating_mul);
        let held = rows(&[size], first.held.dtype, None).map_err(wrong)?;
        let side = |origin, stride: fn(&Digit) -> u64| {
            let mut inner = 1u64;
            let mut compact: Vec<Digit> = digits
                .iter()
                .rev()
                .map(|digit| {
                    let made = inner;
                    inner = inner.saturating_mul(digit.extent);
                    Digit { extent: digit.extent, source: stride(digit), made }
                })
                .collect();
            compact.reverse();
            let part = Part { origin, offset: 0, digits: compact };
            whole(&[part], &held, known).map_err(wrong)
        };
        let sides =
            [side(equal.first, |digit| digit.source)?, side(equal.second, |digit| digit.made)?];
        Ok(Equality { sides, equal: equal.clone(), tensor })
    }

    /// Returns the position, in rows of the first tensor, of an element given in the order of the digits.
    pub(crate) fn place(&self, number: u64) -> u64 {
        let Origin::Source { offset, .. } = self.equal.first else { return 0 };
        let step = |(rest, at): (u64, u64), digit: &Digit| {
            (rest / digit.extent.max(1), at + rest % digit.extent.max(1) * digit.source)
        };
        self.equal.digits.iter().rev().fold((number, offset), step).1
    }
}

impl Equality {
    /// Returns the first element of a box that differs, and both values.
    pub(crate) fn differs(
        &self,
        hands: &mut [Hands<'_, '_>; 2],
        sides: [&Whole; 2],
        number: u64,
    ) -> Result<Option<(u64, [u128; 2])>, Error> {
        let Way::Boxes(grid) = &sides[0].way else { return Ok(None) };
        let Some(part) = grid.part(number, sides[0].units) else { return Ok(None) };
        let [left, right] = hands;
        let first = boxed(left, sides[0], &part).map_err(Failed::told)?;
        let second = boxed(right, sides[1], &part).map_err(Failed::told)?;
        let width = sides[0].width as usize;
        let mut found = None;
        for (at, to, len) in grid.runs(&part, sides[0].units) {
            let range = at as usize * width..(at + len) as usize * width;
            let pair = first.get(range.clone()).zip(second.get(range));
            let Some((one, other)) = pair.filter(|(one, other)| one != other) else { continue };
            let mut units = one.chunks_exact(width).zip(other.chunks_exact(width)).zip(to..);
            found = units
                .find(|((one, other), _)| one != other)
                .map(|((one, other), at)| (at, [one, other].map(number_of)));
            break;
        }
        left.back(first);
        right.back(second);
        Ok(found)
    }
}
