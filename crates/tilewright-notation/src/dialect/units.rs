//! The sized digits of a named format, which parameters set.

use std::fmt;

use super::template::{Size, WrittenDigit};
use crate::{Error, Format, catalogue::Constant, reading::Given};

/// A sized digit of a format.
#[derive(Debug)]
pub(super) struct FormatDigit {
    pub(super) digit: String,
    pub(super) constant: Option<&'static Constant>,
    /// The size in the pattern.
    pub(super) usual: Option<u64>,
    /// The size that a parameter sets.
    pub(super) set: Option<u64>,
}

impl FormatDigit {
    pub(super) fn of(format: &Format, digit: &WrittenDigit) -> Option<FormatDigit> {
        let (constant, usual) = match &digit.size {
            Size::Rest => return None,
            Size::Fixed(size) => (None, Some(*size)),
            Size::Constant(name) => {
                (format.constants.iter().copied().find(|c| c.name == name), None)
            }
        };
        Some(FormatDigit { digit: digit.name.to_ascii_uppercase(), constant, usual, set: None })
    }

    pub(super) fn name(&self) -> &str {
        self.constant.map_or(&self.digit, |constant| constant.name)
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(self.name()) || name.eq_ignore_ascii_case(&self.digit)
    }

    /// The size for the elements of an array.
    pub(super) fn size(
        &self,
        spec: &dyn fmt::Display,
        preset: Option<&str>,
        given: &Given<'_>,
    ) -> Result<u64, Error> {
        if let Some(size) = self.set.or(self.usual) {
            return Ok(size);
        }
        let dtype = given.need_dtype(spec, self.name())?;
        match self.constant {
            Some(constant) => constant.units_for(preset, dtype),
            None => Err(Error::unsupported(format!("{} has no size", self.name()))),
        }
    }
}

/// A size as the user gives it.
pub(super) struct Parameter<'t> {
    pub(super) name: &'t str,
    pub(super) span: (usize, usize),
    pub(super) size: u64,
}

/// Both names of a unit.
pub(super) fn both(unit: &FormatDigit) -> String {
    if unit.name() == unit.digit {
        unit.digit.clone()
    } else {
        format!("{} (or {})", unit.name(), unit.digit)
    }
}
