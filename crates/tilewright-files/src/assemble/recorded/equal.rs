//! Conditions on the source: names of the same array, copies, and padding must be equal. Both sides are compared, by the offsets of
//! their layouts, before anything is written.

use tilewright_core::unravel_index;
use tilewright_recipe::{Digit, Equal, Origin};
use tilewright_transfer::{Limits, Quiet};

use crate::{
    Error, Input,
    assemble::{
        pieces::made::Known,
        recorded::search::{Constant, PartSide, Search},
    },
    error,
};

/// Elements of the source that must be equal.
#[derive(Debug)]
pub(crate) struct Equality {
    equal: Equal,
    /// The number of the first tensor in the input, its first element, and the number of the second tensor if there is one.
    tensor: usize,
    offset: u64,
    other: Option<usize>,
    /// The digits of both; `made` are the steps in the first tensor.
    digits: Vec<Digit>,
}

impl Equality {
    pub(crate) fn of(equal: &Equal, known: &Known<'_>) -> Result<Equality, Error> {
        let wrong = |said: String| error::usage(format!("{} {said}", equal.why));
        let number = |origin: Origin| match origin {
            Origin::Source { tensor, .. } => {
                let (number, own) = known.tensor(tensor).map_err(wrong)?;
                let name = &own.name;
                let refused = own.refusal.as_ref();
                let refused = refused.map(|said| wrong(format!("is made of {name:?}: {said}")));
                refused.map_or(Ok(Some(number)), Err)
            }
            Origin::Fill(_) => Ok(None),
        };
        let (Origin::Source { offset, .. }, Some(tensor)) = (equal.first, number(equal.first)?)
        else {
            return Err(wrong("is not compared with a tensor".into()));
        };
        let other = number(equal.second)?;
        let digit = |it: &Digit| Digit { extent: it.extent, source: it.made, made: it.source };
        let digits = equal.digits.iter().map(digit).collect();
        Ok(Equality { equal: equal.clone(), tensor, offset, other, digits })
    }

    /// Returns whether a selection has one of its tensors by name.
    pub(crate) fn is_of(&self, input: &Input, selects: &dyn Fn(&str) -> bool) -> bool {
        let tensor = |number: usize| input.tensors().get(number);
        [Some(self.tensor), self.other].into_iter().flatten().filter_map(tensor).any(|tensor| {
            let tied = input.tied().filter(|(_, own)| own.name() == tensor.name());
            selects(tensor.name()) || tied.into_iter().any(|(name, _)| selects(name))
        })
    }

    /// Returns the bytes of its elements on one side.
    pub(crate) fn bytes(&self, input: &Input) -> u64 {
        let bits = input.tensors().get(self.tensor).map_or(0, |tensor| u64::from(tensor.held.bits));
        let digits = self.digits.iter().map(|digit| digit.extent);
        digits.fold(1, u64::saturating_mul).saturating_mul(bits).div_ceil(8)
    }

    /// Returns a description of the first element that differs.
    pub(crate) fn difference(
        &self,
        input: &Input,
        limits: &Limits<'_>,
    ) -> Result<Option<String>, Error> {
        let why = &self.equal.why;
        let wrong = |said: String| error::usage(format!("{why} {said}"));
        let missing = || wrong("is made of a missing tensor".into());
        let tensor = |number: usize| input.tensors().get(number).ok_or_else(missing);
        let first = tensor(self.tensor)?;
        let to = PartSide::of((input, first), self.offset, (first.dtype(), false))?.side;
        let constant;
        let from = match (self.equal.second, self.other) {
            (Origin::Source { offset, .. }, Some(other)) => {
                PartSide::of((input, tensor(other)?), offset, (first.dtype(), false))?
            }
            (Origin::Fill(bits), _) => {
                constant = Constant::new(bits, &first.held)?;
                constant.side((&input.path, why))?
            }
            (Origin::Source { .. }, None) => return Err(missing()),
        };
        let mut search = Search::new(limits, false);
        search.part((&to, self.offset), &from, &self.digits).map_err(wrong)??;
        Ok(search.first.map(|(index, found)| {
            let coord: Vec<u64> = unravel_index(index, first.dims()).collect();
            let (name, is, was) = (&first.name, found.is, found.was);
            format!("{why}: tensor {name:?} at {coord:?} has {is:#x}, expected {was:#x}")
        }))
    }
}

/// Returns the error of the first condition on `input` that is violated.
pub(crate) fn check(all: &[Equality], input: &Input, limits: &Limits<'_>) -> Result<(), Error> {
    let quiet = Quiet(limits.watch());
    let limits = &limits.quiet(&quiet);
    all.iter().try_for_each(|equality| match equality.difference(input, limits)? {
        Some(said) => Err(error::corrupt(&input.path, said)),
        None => Ok(()),
    })
}
