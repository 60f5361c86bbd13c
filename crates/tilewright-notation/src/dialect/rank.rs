//! The error of an array of another rank than a layout's letters: which dims are missing.

use std::fmt;

use crate::Error;

/// `letters` are the dims of the layout; `more` names the further ones that it takes.
pub(super) fn misfit(what: &dyn fmt::Display, letters: &[&str], more: &str, rank: usize) -> Error {
    let wrong = match letters.get(rank..) {
        Some([missing]) => format!("{missing} is missing"),
        Some(missing @ [_, ..]) => format!("{} are missing", missing.join(" and ")),
        _ => format!("{} too many", rank.saturating_sub(letters.len())),
    };
    let (own, letters) = (letters.len(), letters.join(" "));
    let message = format!(
        "`{what}` is a layout of the {own} dims {letters}{more}, the array has {rank}: {wrong}"
    );
    Error::mismatch(message)
}

/// The letter of an axis: the name of one of its digits without the number.
pub(super) fn letter(digit: &str) -> &str {
    match digit.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "" => digit,
        letter => letter,
    }
}
