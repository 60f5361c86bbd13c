//! Errors of core as errors of this crate.

pub use tilewright_error::Error;

/// Returns the error of a refusal of core; `what` names the object that the core was asked about. Kinds that mean nothing for
/// moves become `unsupported`.
pub(crate) fn of(what: &str, refusal: &tilewright_core::Error) -> Error {
    let kind = match refusal.kind() {
        kind @ ("undecided" | "overflow" | "mismatch" | "out-of-range") => kind,
        _ => "unsupported",
    };
    Error::new(kind, format!("{what}: {refusal}"))
}
