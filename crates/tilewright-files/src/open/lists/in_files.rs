//! Lists of index tables in separate files: `.npy` files of integers, and texts of numbers.

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

use tilewright_core::Dtype;
use tilewright_notation::{Error as NotationError, Lists, MAX_ENTRIES};

use crate::{
    Error, container::npy::Header, convert::budget::zeros, layout::names, open::source::Source,
};

/// The largest number of bytes of a text of numbers that is read: 20 digits and a separator for each entry.
const MOST_TEXT: u64 = 21 * MAX_ENTRIES;

/// Reads lists from files, and refuses lists in tensors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListsInFiles;

impl Lists for ListsInFiles {
    fn file(&self, path: &str) -> Result<Vec<i64>, NotationError> {
        let failed = |said: String| unsupported(format!("the index table {path:?}: {said}"));
        let facts = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
        if !facts.is_file() {
            return Err(failed("it is not a file".to_owned()));
        }
        let read = match Path::new(path).extension() {
            Some(ending) if ending == "npy" => array(Path::new(path)),
            _ => File::open(path).map_err(|error| error.to_string()).and_then(text),
        };
        read.map_err(failed)
    }

    fn tensor(&self, name: &str) -> Result<Vec<i64>, NotationError> {
        ().tensor(name)
    }
}

pub(crate) fn unsupported(said: String) -> NotationError {
    NotationError::unsupported(said)
}

/// The message for a file or tensor that is not a list.
pub(crate) const NO_LIST: &str =
    "it holds no list; a list is integers of 8 to 64 bits in one dim, little-endian";

/// Returns the integers of an `.npy` file.
fn array(path: &Path) -> Result<Vec<i64>, String> {
    let source = Source::open(path).map_err(|error| error.to_string())?;
    let Header { descr, shape, at, len, .. } =
        Header::read(&source).map_err(|error| error.to_string())?;
    let long = shape.iter().filter(|extent| **extent != 1).count();
    let signed = descr.dtype.and_then(is_signed).filter(|_| long <= 1 && !descr.order.is_big());
    let signed = signed.ok_or(NO_LIST)?;
    let count = len / descr.bytes;
    if count > MAX_ENTRIES {
        return Err(format!("it has {count} numbers; at most {MAX_ENTRIES} are read"));
    }
    let read = || {
        let mut data = zeros(len)?;
        source.read(&mut data, at).map(|()| data)
    };
    let data: Vec<u8> = read().map_err(|error: Error| error.to_string())?;
    Ok(integers(&data, descr.bytes, signed))
}

/// Returns whether integers of a type have a sign; `None` for a type that lists do not have.
pub(crate) fn is_signed(dtype: Dtype) -> Option<bool> {
    match dtype {
        Dtype::S8 | Dtype::S16 | Dtype::S32 | Dtype::S64 => Some(true),
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => Some(false),
        _ => None, // open set
    }
}

/// Returns the integers of `width` bytes, little-endian. A number of more than 63 bits, which is never a valid index, is
/// replaced by `i64::MAX`.
pub(crate) fn integers(data: &[u8], width: u64, signed: bool) -> Vec<i64> {
    let number = |bytes: &[u8]| {
        let below_0 = signed && bytes.last().is_some_and(|last| last & 0x80 != 0);
        let mut wide = [if below_0 { 0xFF } else { 0 }; 8];
        for (to, from) in wide.iter_mut().zip(bytes) {
            *to = *from;
        }
        let number = i64::from_le_bytes(wide);
        if signed || number >= 0 { number } else { i64::MAX }
    };
    data.chunks_exact(width.max(1) as usize).map(number).collect()
}

fn text(file: File) -> Result<Vec<i64>, String> {
    let mut text = String::new();
    file.take(MOST_TEXT + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("it is not a text of numbers: {error}"))?;
    if text.len() as u64 > MOST_TEXT {
        return Err(format!("it is longer than {MOST_TEXT} bytes"));
    }
    parse(&text)
}

/// Parses the numbers of a text: integers separated by blanks, commas and newlines; `-` is a hole.
fn parse(text: &str) -> Result<Vec<i64>, String> {
    let mut numbers = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    for word in words {
        if numbers.len() as u64 == MAX_ENTRIES {
            return Err(format!("it has more than {MAX_ENTRIES} numbers"));
        }
        let number = if word == "-" { Ok(-1) } else { word.parse() };
        let refused =
            |_| format!("`{}` is not an integer; write integers or `-`", names::clipped(word));
        numbers.push(number.map_err(refused)?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_lists() {
        assert_eq!(parse("1, 2\n- -1\t3,\n").unwrap(), [1, 2, -1, -1, 3]);
        assert!(parse("").unwrap().is_empty());
        assert_eq!(parse("1 0x2").unwrap_err(), "`0x2` is not an integer; write integers or `-`");
    }
}
