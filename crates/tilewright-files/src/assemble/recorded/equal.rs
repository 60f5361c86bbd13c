//! Conditions on the source: names of the same array, copies, and padding must be equal. Both sides are read as arrays in the same
//! order and compared before anything is written.

use tilewright_core::TensorLayout;
use tilewright_recipe::{Digit, Equal, Origin, Part};
use tilewright_transfer::{Limits, Quiet};

use crate::{
    Error, Input,
    assemble::{
        pieces::{
            made::{Known, whole},
            whole::Whole,
        },
        stored::{
            Places, Take,
            moved::{Moved, Rooms},
            rows,
        },
    },
    error,
    open::origin::{Made as _, Origin as Bytes},
    verify::compare,
};

/// Elements of the source that must be equal.
#[derive(Debug)]
pub(crate) struct Equality {
    /// The two sides, as arrays in the order of the digits.
    sides: [Whole; 2],
    equal: Equal,
    /// The number of the first tensor in the input.
    tensor: usize,
}

impl Equality {
    pub(crate) fn of(equal: &Equal, known: &Known<'_>) -> Result<Equality, Error> {
        let wrong = |said: String| error::usage(format!("{} {said}", equal.why));
        let (Origin::Source { tensor, .. }, digits) = (equal.first, &equal.digits) else {
            return Err(wrong("is not compared with a tensor".into()));
        };
        let number = known.number(tensor);
        let found = number.and_then(|number| Some((number, known.tensors.get(number)?)));
        let (tensor, first) =
            found.ok_or_else(|| wrong(format!("is made of the missing tensor {tensor}")))?;
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

    /// Iterates over the tensors that are compared.
    pub(crate) fn taken(&self) -> impl Iterator<Item = Take> {
        self.sides.iter().flat_map(Whole::taken)
    }

    /// Returns the position, in rows of the first tensor, of an element given in the order of the digits.
    fn place(&self, number: u64) -> u64 {
        let Origin::Source { offset, .. } = self.equal.first else { return 0 };
        let step = |(rest, at): (u64, u64), digit: &Digit| {
            (rest / digit.extent.max(1), at + rest % digit.extent.max(1) * digit.source)
        };
        self.equal.digits.iter().rev().fold((number, offset), step).1
    }

    /// Returns the error of the element with this number, whose two sides have these bytes.
    fn error(&self, input: &Input, number: u64, [first, second]: [u128; 2]) -> Error {
        let (why, place) = (&self.equal.why, self.place(number));
        let tensor = input.tensors().get(self.tensor);
        let coord = tensor.and_then(|tensor| {
            let coord = TensorLayout::row_major(tensor.dims()).ok()?.coord_of(place).ok()?;
            Some(format!("tensor {:?} at {:?}", tensor.name, coord.as_slice()))
        });
        let coord = coord.unwrap_or_default();
        let says = format!("{why}: {coord} has {first:#x}, expected {second:#x}");
        error::corrupt(&input.path, says)
    }
}

/// Returns the error of the first condition on `input` that is violated.
pub(crate) fn check<'c>(
    all: &'c [Equality],
    (input, places): (&'c Input, &Places<'c>),
    rooms: &'c Rooms,
    limits: &Limits<'_>,
) -> Result<(), Error> {
    let quiet = Quiet(limits.watch());
    let limits = &limits.quiet(&quiet);
    for equality in all {
        let name = equality.equal.why.as_str();
        let moved = |whole: &Whole| {
            let (plan, joined) = whole.planned((name, &input.path), places)?;
            let from = Box::new(joined);
            Ok::<_, Error>(Moved { name, plan, from, unit: 1, narrow: None, rooms })
        };
        let sides = [moved(&equality.sides[0])?, moved(&equality.sides[1])?];
        let whole = &equality.sides[0];
        let (len, unit) = (whole.units.saturating_mul(whole.width), whole.width.max(1));
        let each = sides.each_ref().map(|side| (Bytes::Made(side), 0));
        if let Some(at) = compare::unequal(each, (len, unit), limits)? {
            let mut bytes = [[0; 16]; 2];
            for (side, bytes) in sides.iter().zip(&mut bytes) {
                side.read(bytes.get_mut(..unit.min(16) as usize).unwrap_or_default(), at)?;
            }
            return Err(equality.error(input, at / unit, bytes.map(u128::from_le_bytes)));
        }
    }
    Ok(())
}
