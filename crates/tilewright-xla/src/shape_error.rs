//! Errors of shapes that contain an invalid array.

use tilewright_core::Error as Refusal;
use tilewright_error::Error;

use crate::{ArrayShape, ShapeIndex};

/// The largest number of bytes of an array's text in an error.
const MAX_ARRAY: usize = 200;

/// Returns the error of the array at `index`, which lacks a layout if `cause` is `None`. The [name](Error::name) of the error is
/// the path of a member.
pub(crate) fn of_member(index: &ShapeIndex, array: &ArrayShape, cause: Option<Refusal>) -> Error {
    let text = match cause {
        None => clipped(array.without_layout().to_string()),
        Some(_) => clipped(array.to_string()),
    };
    let error = match cause {
        None => Error::illegal(format!(
            "shape {text} does not have a layout; write one, or fill in the default ones"
        ))
        .of_case("missing-layout"),
        Some(cause) => Error::from(cause).about(&format!("shape {text}")),
    };
    match index.is_empty() {
        true => error,
        false => error.about(&format!("member {index}")).named(index.to_string()),
    }
}

fn clipped(mut text: String) -> String {
    if text.len() > MAX_ARRAY {
        text.truncate(MAX_ARRAY);
        text.push('…');
    }
    text
}
