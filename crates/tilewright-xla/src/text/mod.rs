//! HLO text: a recursive-descent parser over bytes; every error has its span.
//!
//! ```text
//! program  := '(' [ name ':' shape { ',' name ':' shape } ] ')' '->' shape
//! name     := '(unknown)' | letters, digits and '_', '.', '-', '%'
//! shape    := array | tuple | 'b' '(' array ')' | 'token' '[' ']' | 'opaque' '[' ']'
//! tuple    := '(' [ shape { ',' shape } ] ')'
//! array    := type '[' [ dim { ',' dim } ] ']' [ layout ]
//! dim      := INT | '<=' INT | '?'
//! layout   := '{' [ INT { ',' INT } ] [ ':' { property } ] '}'
//! property := D(…) | T tile {tile} | L(INT) | #(type) | *(type) | E(INT) | S(INT) | SC split {split}
//!           | P(array) | M(INT)
//! tile     := '(' (INT|'*') { ',' (INT|'*') } ')'
//! split    := '(' INT ':' INT { ',' INT } ')'
//! ```
//!
//! White space, `/* … */` and `// …` may occur between tokens. Properties come in this order, each at most once. `P` is
//! read only in a layout on its own.

mod cursor;
mod layout;
mod print;

use tilewright_core::ParseError;

pub(crate) use cursor::Cursor;
#[cfg(feature = "proto")]
pub(crate) use cursor::is_name;
#[cfg(feature = "proto")]
pub(crate) use layout::{layout, layout_properties, shape_prefix};

/// One production of the grammar.
type Production<T> = fn(&mut Cursor<'_>) -> Result<T, ParseError>;

/// Reads a whole text.
pub(crate) fn whole<T>(text: &str, read: Production<T>) -> Result<T, ParseError> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    cursor.end()?;
    Ok(value)
}

/// Reads the start of a text; returns the value and the number of bytes read.
pub(crate) fn prefix<T>(text: &str, read: Production<T>) -> Result<(T, usize), ParseError> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    Ok((value, cursor.at()))
}
