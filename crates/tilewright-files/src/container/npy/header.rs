//! Reads and writes the header of an `.npy` file.

use literal::Value;

use super::{Descr, literal};
use crate::{Error, convert::budget::zeros, error, open::source::Source};

/// The first bytes of every `.npy` file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read, in bytes: NumPy's own writers stay below 64 KiB, and a plain dtype with 64 extents needs less
/// than 2.
const LONGEST: u64 = 1 << 16;

/// The values of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) descr: Descr,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<u64>,
    /// The first byte of the elements.
    pub(crate) at: u64,
    /// The length of the elements in bytes.
    pub(crate) len: u64,
    /// The number of bytes after the elements. NumPy reads the first array of a file.
    pub(crate) rest: u64,
}

impl Header {
    /// Reads and checks the header of a file, and checks that the file has all elements.
    pub(crate) fn read(source: &Source) -> Result<Header, Error> {
        Header::within(source, 0, source.len())
    }

    /// Reads and checks the header of an `.npy` file that is the `len` bytes from byte `from` of a file on.
    pub(crate) fn within(source: &Source, from: u64, len: u64) -> Result<Header, Error> {
        let mut head = zeros(len.min(12 + LONGEST))?;
        source.read(&mut head, from)?;
        let header = Header::parse(&head).map_err(|refusal| match refusal {
            Refusal::Corrupt(said) => error::corrupt(source.path(), said),
            Refusal::Unsupported(said) => error::unsupported(source.path(), said),
        })?;
        let rest = len - header.at.min(len);
        if rest < header.len {
            let (shape, len) = (&header.shape, header.len);
            return Err(error::corrupt(
                source.path(),
                format!(
                    "the file is cut off: {shape:?} elements of {} take {len} bytes, but the file has {rest} after its header",
                    header.descr.text
                ),
            ));
        }
        let rest = rest - header.len;
        Ok(Header { at: from.saturating_add(header.at), rest, ..header })
    }

    /// Parses the header at the start of `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Header, Refusal> {
        let corrupt = |said: String| Refusal::Corrupt(said);
        let (at, text) = frame(bytes).map_err(corrupt)?;
        let entries =
            literal::dictionary(text).map_err(|said| corrupt(format!(".npy header: {said}")))?;
        let get = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let descr = match get("descr") {
            Some(Value::Text(text)) => Descr::parse(text).map_err(Refusal::Unsupported)?,
            Some(Value::List(text)) => {
                return Err(Refusal::Unsupported(format!(
                    "a structured dtype ({text}); split the fields into plain arrays first"
                )));
            }
            other => return Err(wanted("descr", "a dtype's description", other)),
        };
        let fortran = match get("fortran_order") {
            Some(Value::Bool(fortran)) => *fortran,
            other => return Err(wanted("fortran_order", "True or False", other)),
        };
        let shape = match get("shape") {
            Some(Value::Shape(shape)) => shape.clone(),
            other => return Err(wanted("shape", "a tuple of extents", other)),
        };
        let len = bytes_of(&shape, descr.bytes).ok_or_else(|| {
            corrupt(format!("{shape:?} elements of {} are more than 2^63 bytes", descr.text))
        })?;
        Ok(Header { descr, fortran, shape, at, len, rest: 0 })
    }
}

/// The reason why a header was not read.
#[derive(Debug)]
pub(crate) enum Refusal {
    Corrupt(String),
    Unsupported(String),
}

fn wanted(key: &str, expected: &str, found: Option<&Value>) -> Refusal {
    Refusal::Corrupt(match found {
        Some(value) => format!(".npy header: `{key}` is {value:?}, expected {expected}"),
        None => format!(".npy header: `{key}` is missing; it holds descr, fortran_order and shape"),
    })
}

/// Returns the position of the elements, and the header's text.
fn frame(bytes: &[u8]) -> Result<(u64, &[u8]), String> {
    if !bytes.starts_with(MAGIC) {
        return Err(match MAGIC.starts_with(bytes) {
            true => format!(
                "the file is cut off: it ends after {} of the 6 bytes of \\x93NUMPY",
                bytes.len()
            ),
            false => "not an .npy file: it does not start with \\x93NUMPY".into(),
        });
    }
    let (width, len) = match bytes[MAGIC.len()..] {
        [1, 0, a, b, ..] => (10, u64::from(u16::from_le_bytes([a, b]))),
        [2 | 3, 0, a, b, c, d, ..] => (12, u64::from(u32::from_le_bytes([a, b, c, d]))),
        [major, minor, ..] if major == 0 || major > 3 || minor != 0 => {
            return Err(format!(".npy version {major}.{minor}; known are 1.0, 2.0 and 3.0"));
        }
        _ => {
            return Err(
                "the file is cut off: an .npy file that ends within its first 12 bytes".into()
            );
        }
    };
    if len > LONGEST {
        return Err(format!("an .npy header of {len} bytes; at most {LONGEST} are read"));
    }
    let end = width + len as usize;
    match bytes.get(width..end) {
        Some(text) => Ok((end as u64, text)),
        None => {
            let rest = bytes.len() - width;
            Err(format!(
                "the file is cut off: an .npy header of {len} bytes, where the file has {rest} after its length"
            ))
        }
    }
}

/// Returns the number of bytes of a shape; `None` beyond 2⁶³ − 1, where an empty dim counts as one.
fn bytes_of(shape: &[u64], width: u64) -> Option<u64> {
    let whole = shape.iter().try_fold(width, |len, &extent| len.checked_mul(extent.max(1)))?;
    let empty = shape.contains(&0);
    (whole <= i64::MAX as u64).then_some(if empty { 0 } else { whole })
}

/// Returns a version 1.0 header, padded so that the elements start at a multiple of 64.
pub(crate) fn header_bytes(descr: &str, fortran: bool, shape: &[u64]) -> Vec<u8> {
    let mut extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    if extents.len() == 1 {
        extents.push(String::new());
    }
    let (order, shape) = (if fortran { "True" } else { "False" }, extents.join(", "));
    let shape = shape.trim_end();
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    // The text follows the magic, two bytes of version and two of length; it ends with a newline.
    let whole = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64);
    text.push_str(&" ".repeat(whole - MAGIC.len() - 4 - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_read_back_and_align() {
        let shapes: [&[u64]; 6] = [&[], &[0], &[7], &[3, 5], &[u32::MAX as u64, 3], &[1; 32]];
        for shape in shapes {
            for (descr, fortran) in [("<f4", false), (">c16", true), ("|V2", true)] {
                let bytes = header_bytes(descr, fortran, shape);
                assert_eq!(bytes.len() % 64, 0);
                let header = Header::parse(&bytes).unwrap();
                assert_eq!((header.descr.text.as_str(), header.fortran), (descr, fortran));
                assert_eq!((header.shape.as_slice(), header.at), (shape, bytes.len() as u64));
                let other = npyz::NpyHeader::from_reader(&bytes[..]).unwrap();
                assert_eq!((other.shape(), other.dtype().descr()), (shape, format!("'{descr}'")));
            }
        }
    }

    /// Generates tokens of headers, so that random ones are parsed far.
    fn pieces() -> impl Strategy<Value = String> {
        let pieces = [
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            ",",
            ":",
            "'",
            "\"",
            "\\",
            "'descr'",
            "'shape'",
            "'<f4'",
            "'fortran_order'",
            "True",
            "False",
            "7",
            "99999999999999999999",
            "-1",
            "L",
            " ",
            "\u{e9}",
        ];
        proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..60)
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Header::parse(&bytes);
            let _ = Header::parse(&[MAGIC, &[1, 0], &bytes].concat());
        }

        #[test]
        fn any_literals_are_a_header_or_an_error(text in pieces(), version in 1u8..4) {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&[version, 0]);
            let len = (text.len() as u32).to_le_bytes();
            bytes.extend_from_slice(if version == 1 { &len[..2] } else { &len });
            bytes.extend_from_slice(text.as_bytes());
            if let Ok(header) = Header::parse(&bytes) {
                prop_assert!(header.len <= i64::MAX as u64 && header.shape.len() <= 64);
            }
        }

        #[test]
        fn a_written_header_reads_back(shape in proptest::collection::vec(0u64..1 << 20, 0..4), fortran: bool) {
            prop_assume!(shape.iter().map(|&x| x.max(1) as u128).product::<u128>() < 1 << 60);
            let header = Header::parse(&header_bytes("<u2", fortran, &shape)).unwrap();
            prop_assert_eq!((header.shape, header.fortran), (shape, fortran));
        }
    }
}
