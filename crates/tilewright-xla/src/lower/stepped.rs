//! The walk over the steps of a [`TensorLayout`]: exact for every layout, also if a tile boundary falls inside a digit.
//!
//! A working dim that exists only in storage (a missing dim of a longer tile) has only coordinate 0 and needs no axis,
//! unless a dim is merged into it.

use tilewright_core::{Error, Layout as Strided, MAX_STEPS, Mode, Step, TensorLayout};

use super::DimWalk;
use crate::Layout;

/// A working dim.
struct Slot {
    /// The axis of the steps; `None` if its coordinate is always 0.
    axis: Option<Axis>,
    bound: u64,
}

/// An axis of the steps: a permanent name, and its extent, which is at most the bound.
#[derive(Clone, Copy)]
struct Axis {
    name: usize,
    extent: u64,
}

/// The steps written so far.
struct StepProgram {
    steps: Vec<Step>,
    /// The names of the axes in their present order.
    order: Vec<usize>,
    names: usize,
}

impl StepProgram {
    fn position(&self, name: usize) -> Result<u8, Error> {
        let at = self.order.iter().position(|&other| other == name);
        at.and_then(|at| u8::try_from(at).ok()).ok_or_else(|| too_long(self.steps.len()))
    }

    fn push(&mut self, step: Step) -> Result<(), Error> {
        if self.steps.len() == MAX_STEPS {
            return Err(too_long(MAX_STEPS + 1));
        }
        self.steps.push(step);
        Ok(())
    }

    /// Splits an axis; the quotient keeps the name, the remainder gets a new one.
    fn cut(&mut self, axis: Axis, by: u64) -> Result<(Axis, Axis), Error> {
        let at = self.position(axis.name)?;
        self.push(Step::Split { axis: at, by })?;
        let remainder = Axis { name: self.names, extent: by };
        self.order.push(self.names);
        self.names += 1;
        Ok((Axis { extent: axis.extent.div_ceil(by), ..axis }, remainder))
    }

    /// Returns the slot's axis with its extent equal to the bound, so that merging into it is exact.
    fn fitted(&mut self, slot: &Slot) -> Result<Axis, Error> {
        let axis = match (slot.axis, self.order.first()) {
            (Some(axis), _) => axis,
            // The remainder by 1 is an axis of extent 1.
            (None, Some(&name)) => self.cut(Axis { name, extent: 1 }, 1)?.1,
            (None, None) => return Err(too_long(self.steps.len())),
        };
        if axis.extent == slot.bound { Ok(axis) } else { Ok(self.cut(axis, slot.bound)?.1) }
    }
}

fn too_long(steps: usize) -> Error {
    Error::limit(
        "uneven tiles need {} steps or more",
        [steps as i128],
        "a layout has at most 32; let nested tiles divide one another",
    )
}

impl DimWalk for StepProgram {
    type Axis = Slot;
    type Stop = Error;

    fn unit(&self) -> Slot {
        Slot { axis: None, bound: 1 }
    }

    fn merge(&mut self, major: Slot, minor: Slot) -> Result<Slot, Error> {
        let bound =
            major.bound.checked_mul(minor.bound).ok_or_else(|| too_long(self.steps.len()))?;
        let Some(upper) = major.axis else {
            return Ok(Slot { axis: minor.axis, bound });
        };
        if minor.bound == 1 {
            return Ok(Slot { axis: Some(upper), bound });
        }
        let lower = self.fitted(&minor)?;
        let at = (self.position(upper.name)?, self.position(lower.name)?);
        self.push(Step::Merge { major: at.0, minor: at.1 })?;
        self.order.retain(|&name| name != upper.name);
        let extent = upper.extent.saturating_mul(lower.extent);
        Ok(Slot { axis: Some(Axis { extent, ..lower }), bound })
    }

    fn split(&mut self, slot: Slot, by: u64) -> Result<(Slot, Slot), Error> {
        let bound = slot.bound.div_ceil(by);
        let remainder = |axis| Slot { axis, bound: by };
        match slot.axis {
            None => Ok((Slot { axis: None, bound }, remainder(None))),
            Some(_) if by == 1 => Ok((slot, remainder(None))),
            Some(axis) => {
                let (high, low) = self.cut(axis, by)?;
                Ok((Slot { axis: Some(high), bound }, remainder(Some(low))))
            }
        }
    }
}

/// Returns the form with steps. `dims` fit the layout and are not 0.
pub(super) fn lower(layout: &Layout, dims: &[u64], capacity: u64) -> Result<TensorLayout, Error> {
    let rank = dims.len();
    let mut program = StepProgram { steps: Vec::new(), order: (0..rank).collect(), names: rank };
    let slot = |(&dim, extent): (&u64, u64)| {
        let axis = usize::try_from(dim).ok().map(|name| Axis { name, extent });
        Slot { axis, bound: extent }
    };
    let physical = layout.physical(dims);
    let slots = layout.minor_to_major().iter().rev().zip(physical).map(slot).collect();
    let slots = program.walk(slots, layout.tiles())?;
    // Axes that no working dim uses have extent 1 and remain 1:0.
    let mut modes = vec![Mode::new(1, 0); program.order.len()];
    let mut weight = 1u64;
    for slot in slots.iter().rev() {
        if let Some(axis) = slot.axis {
            let at = usize::from(program.position(axis.name)?);
            if let Some(mode) = modes.get_mut(at) {
                *mode = Mode::new(axis.extent, i64::try_from(weight).unwrap_or(i64::MAX));
            }
        }
        weight = weight.saturating_mul(slot.bound);
    }
    TensorLayout::with_steps(dims, &program.steps, &Strided::flat(&modes)?, capacity)
}
