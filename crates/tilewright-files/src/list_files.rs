//! Lists of index tables in files of their own: `.npy` files of integers, and texts of numbers.

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

use npyz::{NpyFile, TypeChar};
use tilewright_notation::{Error as NotationError, Lists, MAX_ENTRIES};

use crate::names;

/// The most bytes of a text of numbers that are read: 20 digits and a separator for each entry.
const MOST_TEXT: u64 = 21 * MAX_ENTRIES;

/// Lists in files, and none in tensors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListFiles;

impl Lists for ListFiles {
    fn file(&self, path: &str) -> Result<Vec<i64>, NotationError> {
        let failed = |said: String| unsupported(format!("the index table {path:?}: {said}"));
        let facts = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
        if !facts.is_file() {
            return Err(failed("it is not a file".to_owned()));
        }
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        match Path::new(path).extension() {
            Some(ending) if ending == "npy" => array(file).map_err(failed),
            _ => text(file).map_err(failed),
        }
    }

    fn tensor(&self, name: &str) -> Result<Vec<i64>, NotationError> {
        ().tensor(name)
    }
}

pub(crate) fn unsupported(said: String) -> NotationError {
    NotationError::unsupported(said)
}

/// What is said of what is no list.
pub(crate) const NO_LIST: &str =
    "it holds no list; a list is integers of 8 to 64 bits in one dim, the lowest byte first";

/// The integers of an `.npy` file.
fn array(file: File) -> Result<Vec<i64>, String> {
    let array = NpyFile::new(std::io::BufReader::new(file)).map_err(|error| error.to_string())?;
    let long = array.shape().iter().filter(|extent| **extent != 1).count();
    let npyz::DType::Plain(kind) = array.dtype() else { return Err(NO_LIST.to_owned()) };
    if array.len() > MAX_ENTRIES {
        return Err(format!("it has {} numbers; at most {MAX_ENTRIES} are read", array.len()));
    }
    macro_rules! numbers {
        ($type:ty) => {
            array.into_vec::<$type>().map_err(|error| error.to_string()).map(|numbers| {
                numbers.into_iter().map(|it| i64::try_from(it).unwrap_or(i64::MAX)).collect()
            })
        };
    }
    match (kind.type_char(), kind.size_field()) {
        _ if long > 1 => Err(NO_LIST.to_owned()),
        (TypeChar::Int, 1) => numbers!(i8),
        (TypeChar::Int, 2) => numbers!(i16),
        (TypeChar::Int, 4) => numbers!(i32),
        (TypeChar::Int, 8) => numbers!(i64),
        (TypeChar::Uint, 1) => numbers!(u8),
        (TypeChar::Uint, 2) => numbers!(u16),
        (TypeChar::Uint, 4) => numbers!(u32),
        (TypeChar::Uint, 8) => numbers!(u64),
        _ => Err(NO_LIST.to_owned()),
    }
}

fn text(file: File) -> Result<Vec<i64>, String> {
    let mut text = String::new();
    file.take(MOST_TEXT + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("it is not text of numbers: {error}"))?;
    if text.len() as u64 > MOST_TEXT {
        return Err(format!("it is longer than {MOST_TEXT} bytes"));
    }
    parse(&text)
}

/// The numbers of a text: integers between blanks, commas and ends of lines; `-` is a hole.
fn parse(text: &str) -> Result<Vec<i64>, String> {
    let mut numbers = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    for word in words {
        if numbers.len() as u64 == MAX_ENTRIES {
            return Err(format!("it has more than {MAX_ENTRIES} numbers"));
        }
        let number = if word == "-" { Ok(-1) } else { word.parse() };
        let refused =
            |_| format!("`{}` is not an integer; legal are integers and `-`", names::clipped(word));
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
        assert_eq!(
            parse("1 0x2").unwrap_err(),
            "`0x2` is not an integer; legal are integers and `-`"
        );
    }
}
