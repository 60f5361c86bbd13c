//! The element type of an `.npy` file: `<f4`, `|b1`, `>i2`, `|V2` …
//!
//! NumPy knows no bf16 and no 8-bit floats; files hold them as raw bytes, `|V2` and `|V1` (`<V2` in
//! newer ones), and only whoever wrote the file knows which type that was.

/// A plain element type as the file spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Descr {
    pub(crate) text: String,
    /// The element's length in bytes: 1, 2, 4, 8 or 16.
    pub(crate) bytes: u64,
    pub(crate) big_endian: bool,
    /// The type in XLA's spelling; `None` for raw bytes.
    pub(crate) dtype: Option<String>,
}

impl Descr {
    /// Reads a description, or says why no layout can be given to such elements.
    pub(crate) fn parse(text: &str) -> Result<Descr, String> {
        let refused = |why: &str| Err(format!("dtype {text:?}: {why}"));
        let legal = "a dtype is an order `<`, `>`, `|` or `=`, a kind and a length in bytes";
        let mut chars = text.chars();
        let (Some(order), Some(kind)) = (chars.next(), chars.next()) else { return refused(legal) };
        match kind {
            'O' => return refused("Python objects have no bytes of their own to rearrange"),
            'S' | 'a' | 'U' => return refused("strings are no elements of a tensor"),
            'm' | 'M' => return refused("dates and time spans are no elements of a tensor"),
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
        let Some(dtype) = named(kind, bytes) else {
            return refused(
                "known are b1, i1 to i8, u1 to u8, f2 to f8, c8, c16 and raw V1 to V16",
            );
        };
        let big_endian = match order {
            '>' => bytes > 1 && kind != 'V',
            '=' => cfg!(target_endian = "big") && bytes > 1,
            _ => false,
        };
        let native = if cfg!(target_endian = "big") { ">" } else { "<" };
        Ok(Descr { text: text.replacen('=', native, 1), bytes, big_endian, dtype })
    }
}

/// XLA's spelling of a kind and length; the inner `None` is raw bytes.
fn named(kind: char, bytes: u64) -> Option<Option<String>> {
    let letter = match (kind, bytes) {
        ('V', _) => return Some(None),
        ('b', 1) => return Some(Some("pred".into())),
        ('i', 1 | 2 | 4 | 8) => 's',
        ('u', 1 | 2 | 4 | 8) => 'u',
        ('f', 2 | 4 | 8) => 'f',
        ('c', 8 | 16) => 'c',
        _ => return None,
    };
    Some(Some(format!("{letter}{}", bytes * 8)))
}

/// How a new file spells the type with this XLA name, whose elements take `bytes` bytes.
pub(crate) fn default_descr(dtype: &str, bytes: u64) -> String {
    let kind = match dtype {
        "pred" => return "|b1".into(),
        "s8" | "s16" | "s32" | "s64" => 'i',
        "u8" | "u16" | "u32" | "u64" => 'u',
        "f16" | "f32" | "f64" => 'f',
        "c64" | "c128" => 'c',
        _ => 'V',
    };
    let order = if bytes == 1 || kind == 'V' { '|' } else { '<' };
    format!("{order}{kind}{bytes}")
}
