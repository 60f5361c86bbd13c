//! Names of formats: the lookup in the catalogue, and the errors for names that it lacks.

use std::sync::LazyLock;

use crate::{
    Error, Format,
    catalogue::{self, catalogue, own, refused, tabled},
    scan::did_you_mean,
};

/// Every name of the catalogue.
pub(super) fn words() -> Vec<&'static str> {
    catalogue().flat_map(names).chain(tabled::names()).collect()
}

fn names(format: &'static Format) -> impl Iterator<Item = &'static str> {
    std::iter::once(format.name).chain(format.aliases.iter().copied())
}

/// The built-in formats in the order of their names and aliases. Every text is looked up here, of any notation.
static BUILT_IN: LazyLock<Vec<(&str, &Format)>> = LazyLock::new(|| {
    let named = |format| names(format).map(move |name| (name, format));
    let mut all: Vec<_> = catalogue::built_in().flat_map(named).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    all
});

/// The format of this name, which may be an alias.
pub(super) fn find(name: &str) -> Option<&'static Format> {
    let own = || own::formats().into_iter().find(|format| names(format).any(|other| other == name));
    match BUILT_IN.binary_search_by_key(&name, |(name, _)| name) {
        Ok(at) => Some(BUILT_IN[at].1),
        Err(_) => own(),
    }
}

/// Returns whether a name is a vendor's number, known or not: `acl:99`.
pub(super) fn is_number(name: &str) -> bool {
    let Some((vendor, number)) = name.split_once(':') else { return false };
    let is_vendors = |other: &str| other.split_once(':').is_some_and(|(other, _)| other == vendor);
    number.bytes().all(|b| b.is_ascii_digit() || b == b'-') && words().into_iter().any(is_vendors)
}

/// The two readings of a name whose case is neither CATLASS's nor CANN's.
pub(super) fn mixed_case(name: &str) -> Option<[&'static str; 2]> {
    let readings = match name {
        name if name.eq_ignore_ascii_case("nz") => ["nZ", "NZ"],
        name if name.eq_ignore_ascii_case("zn") => ["zN", "FRACTAL_ZN"],
        _ => return None,
    };
    find(name).is_none().then_some(readings)
}

/// The error for a name that is not a format's.
pub(super) fn no_format(name: &str) -> Error {
    if let Some([catlass, cann]) = mixed_case(name) {
        let same = find(cann).map_or("", |format| format.name);
        return Error::new(
            "ambiguous",
            format!(
                "`{name}` has two readings: `{catlass}` (CATLASS: order inside a block first) and `{cann}` (CANN: order of the blocks first; the same as `{same}`); write the one you mean"
            ),
        );
    }
    if let Some((law, why)) = refused(name) {
        let said = format!("`{name}` is not a layout: {why}; {law}");
        return Error::unsupported(said);
    }
    let nearest = did_you_mean(name, words());
    Error::parse((0, name.len()), format!("no format is called `{name}`{nearest}"))
}
