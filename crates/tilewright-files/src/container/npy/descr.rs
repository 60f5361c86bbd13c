//! The element type of an `.npy` file: `<f4`, `|b1`, `>i2`, `|V2` …
//!
//! NumPy lacks bf16 and 8-bit floats. Files hold them as raw bytes, `|V2` and `|V1` (`<V2` in newer ones), and only the
//! program that wrote the file knows their type.

use tilewright_core::{ByteOrder, Dtype};

/// A plain element type in the file's spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Descr {
    pub(crate) text: String,
    /// The element's length in bytes: 1, 2, 4, 8 or 16.
    pub(crate) bytes: u64,
    pub(crate) order: ByteOrder,
    /// `None` for raw bytes.
    pub(crate) dtype: Option<Dtype>,
}

impl Descr {
    /// Parses a description, or returns the reason why a layout is not defined for such elements.
    pub(crate) fn parse(text: &str) -> Result<Descr, String> {
        let refused = |why: &str| Err(format!("dtype {text:?}: {why}"));
        let legal = "a dtype is an order `<`, `>`, `|` or `=`, a kind and a length in bytes";
        let mut chars = text.chars();
        let (Some(order), Some(kind)) = (chars.next(), chars.next()) else { return refused(legal) };
        match kind {
            'O' => return refused("Python objects cannot be rearranged as bytes"),
            'S' | 'a' | 'U' => return refused("strings are not elements of a tensor"),
            'm' | 'M' => return refused("dates and time spans are not elements of a tensor"),
            _ => {}
        }
        if !"<>|=".contains(order) {
            return refused(legal);
        }
        let Some(bytes) = chars.as_str().parse::<u64>().ok().filter(|bytes| *bytes > 0) else {
            return refused(legal);
        };
        if kind == 'V' && !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
            return refused("raw elements are 1, 2, 4, 8 or 16 bytes long");
        }
        let dtype = Dtype::of_array_code(kind, bytes);
        if dtype.is_none() && kind != 'V' {
            return refused(
                "known are b1, i1 to i8, u1 to u8, f2 to f8, c8, c16 and raw V1 to V16",
            );
        }
        // The order of raw bytes and of single bytes is irrelevant.
        let order = match order {
            '>' if bytes > 1 && kind != 'V' => ByteOrder::Big,
            '=' if bytes > 1 => ByteOrder::NATIVE,
            _ => ByteOrder::Little,
        };
        let native = if ByteOrder::NATIVE.is_big() { ">" } else { "<" };
        Ok(Descr { text: text.replacen('=', native, 1), bytes, order, dtype })
    }
}

/// Returns the spelling of the type in a new file; its elements take `bytes` bytes.
pub(crate) fn default_descr(dtype: Dtype, bytes: u64) -> String {
    let (kind, bytes) = dtype.array_code().filter(|(_, own)| *own == bytes).unwrap_or(('V', bytes));
    let order = if bytes == 1 || kind == 'V' { '|' } else { '<' };
    format!("{order}{kind}{bytes}")
}
