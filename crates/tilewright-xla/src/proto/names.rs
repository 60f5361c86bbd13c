//! The names of enum numbers in proto text. Used by the reader and the printer.

use crate::PrimitiveType;

/// `PaddingValue`, removed in 2018.
pub(super) const PADDING_VALUES: [&str; 6] =
    ["INVALID_PAD", "ZERO_PAD", "ONE_PAD", "LOWEST_PAD", "HIGHEST_PAD", "UNKNOWN_PAD"];

/// `Format`, removed in 2018.
pub(super) const FORMATS: [&str; 3] = ["INVALID_FORMAT", "DENSE", "SPARSE"];

/// `DimLevelType`.
pub(super) const LEVELS: [&str; 4] =
    ["DIM_DENSE", "DIM_COMPRESSED", "DIM_SINGLETON", "DIM_LOOSE_COMPRESSED"];

/// Returns the name of an element type: that of HLO text in capitals, with one exception.
pub(super) fn primitive_name(number: i32) -> Option<String> {
    let primitive = PrimitiveType::from_number(number)?;
    Some(match primitive {
        PrimitiveType::Opaque => "OPAQUE_TYPE".into(),
        _ => primitive.name().to_ascii_uppercase(), // open set
    })
}

/// Returns the number of an element type by its name.
pub(super) fn primitive_number(name: &str) -> Option<i32> {
    let named = |number: &i32| primitive_name(*number).as_deref() == Some(name);
    PrimitiveType::all().map(PrimitiveType::number).find(named)
}

/// Returns the name at a number of a list.
pub(super) fn listed(names: &[&str], number: i32) -> Option<String> {
    usize::try_from(number).ok().and_then(|at| names.get(at)).map(|&name| name.into())
}

/// Returns the number of a name in a list.
pub(super) fn number_in(names: &[&str], name: &str) -> Option<i32> {
    names.iter().position(|&known| known == name).map(|at| at as i32)
}
