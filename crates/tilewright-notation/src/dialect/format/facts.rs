//! Facts of a format's pattern that need no array: its letters, its constants and the sizes that parameters set.

use crate::{
    Error, Format,
    dialect::{
        template::{Size, Template},
        units::FormatDigit,
    },
};

/// The digits of a format whose sizes tell its arrays apart: those that must be given, else all that can be set.
pub(crate) fn units(format: &Format) -> Vec<String> {
    let template = Template::read(format.pattern).ok();
    let digits = template.iter().flat_map(Template::digits);
    let all: Vec<FormatDigit> = digits.filter_map(|digit| FormatDigit::of(format, digit)).collect();
    let given =
        |unit: &FormatDigit| unit.constant.is_some_and(|constant| constant.units.is_empty());
    let some = all.iter().any(given);
    all.into_iter().filter(|unit| !some || given(unit)).map(|unit| unit.digit).collect()
}

/// The letters of the axes of a pattern.
pub(crate) fn letters_of(pattern: &str) -> Vec<String> {
    let template = Template::read(pattern).ok();
    let letters = template.iter().flat_map(Template::letters);
    letters.map(str::to_owned).collect()
}

/// The dims of a small array that a pattern takes, and its constants.
#[cfg_attr(not(feature = "formats"), expect(dead_code, reason = "formats read from TOML need it"))]
pub(crate) fn parts_of(pattern: &str) -> Result<(Vec<u64>, Vec<String>), Error> {
    let template = Template::read(pattern)?;
    let mut constants: Vec<String> = Vec::new();
    for digit in template.digits() {
        if let Size::Constant(name) = &digit.size
            && !constants.contains(name)
        {
            constants.push(name.clone());
        }
    }
    Ok((template.small_dims(), constants))
}
