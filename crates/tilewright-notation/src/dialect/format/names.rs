//! Names of formats: the lookup in the catalogue, and the errors for names that it lacks.

use crate::{
    Format, catalogue,
    catalogue::refused,
    error::{Error, Kind},
    scan::did_you_mean,
};

/// Every name of the catalogue.
pub(super) fn words() -> Vec<&'static str> {
    catalogue().flat_map(names).collect()
}

fn names(format: &'static Format) -> impl Iterator<Item = &'static str> {
    std::iter::once(format.name).chain(format.aliases.iter().copied())
}

/// The format of this name, which may be an alias.
pub(super) fn find(name: &str) -> Option<&'static Format> {
    catalogue().find(|format| names(format).any(|other| other == name))
}

/// Returns whether a name is a vendor's number, known or not: `acl:99`.
pub(super) fn is_number(name: &str) -> bool {
    let Some((vendor, number)) = name.split_once(':') else { return false };
    let is_vendors = |other: &str| other.split_once(':').is_some_and(|(other, _)| other == vendor);
    number.bytes().all(|b| b.is_ascii_digit() || b == b'-') && words().into_iter().any(is_vendors)
}

/// The two readings of a name whose case is neither CATLASS's nor CANN's.
pub(super) fn mixed_case(name: &str) -> Option<[&'static str; 2]> {
    if find(name).is_some() {
        return None;
    }
    match name.to_ascii_lowercase().as_str() {
        "nz" => Some(["nZ", "NZ"]),
        "zn" => Some(["zN", "FRACTAL_ZN"]),
        _ => None,
    }
}

/// The error for a name that is not a format's.
pub(super) fn no_format(name: &str) -> Error {
    if let Some([catlass, cann]) = mixed_case(name) {
        let same = find(cann).map_or("", |format| format.name);
        return Error::new(
            Kind::Ambiguous,
            format!(
                "`{name}` has two readings: `{catlass}` (CATLASS: order inside a block first) and `{cann}` (CANN: order of the blocks first; the same as `{same}`); write the one you mean"
            ),
        );
    }
    if let Some(why) = refused(name) {
        return Error::new(Kind::Unsupported, format!("`{name}` is not a layout: {why}"));
    }
    let nearest = did_you_mean(name, words());
    Error::parse((0, name.len()), format!("no format is called `{name}`{nearest}"))
}
