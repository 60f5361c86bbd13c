//! Errors of conversions between protos and values, with the field at fault.
//!
//! The [name](Error::name) of an error is the field, such as `tuple_shapes[1].layout.tiles[0].dimensions[2]`. Its
//! [cause](Error::cause) is the refusal by core. An error of the kind `parse` is one of bytes that are not a proto: cut short, of
//! other types, or more than 100 messages deep.

use std::fmt;

use tilewright_core::Error as Refusal;
use tilewright_error::Error;

/// Returns the error of a field whose value is refused; an empty name is the whole message.
pub(crate) fn of_field(field: impl Into<String>, cause: Refusal) -> Error {
    let (field, error) = (field.into(), Error::from(cause));
    if field.is_empty() { error } else { error.about(&field).named(field) }
}

/// Returns the error of a message that is the field `outer` of another.
pub(crate) fn inside(error: Error, outer: impl fmt::Display) -> Error {
    match error.name() {
        None => error.about(&outer.to_string()).named(outer.to_string()),
        Some(inner) => {
            let name = format!("{outer}.{inner}");
            error.prefixed(&format!("{outer}.")).named(name)
        }
    }
}

/// The largest number of characters shown from either end of a decoder's message, which lists every level.
const MAX_SAYS: usize = 80;

/// Reads a message.
pub(crate) fn decode<M: prost::Message + Default>(bytes: &[u8]) -> Result<M, Error> {
    M::decode(bytes).map_err(|error| {
        let says = shortened(&error.to_string());
        Error::new("parse", format!("the bytes are not a valid proto: {says}"))
    })
}

/// Returns the text without its middle, if it is long.
fn shortened(text: &str) -> String {
    let last = text.chars().count().saturating_sub(MAX_SAYS);
    if last <= MAX_SAYS {
        return text.to_owned();
    }
    text.chars().take(MAX_SAYS).chain(['…']).chain(text.chars().skip(last)).collect()
}
