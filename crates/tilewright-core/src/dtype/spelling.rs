//! The spellings of element types, read from the table, and their letters and numbers: the codes of the array interface and of
//! DLPack.

use core::str::FromStr;

use crate::{
    ParseError,
    dtype::{Dtype, DtypeKind},
};

impl Dtype {
    /// Returns the type with this spelling: its standard name, its name in files or arrays, or another spelling of the
    /// table. Spellings are exact: `U8` and `u8` are one type, `I8` and `i8` are not.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// let spelled = ["bf16", "BF16", "bfloat16"].map(Dtype::spelled);
    /// assert_eq!(spelled, [Some(Dtype::Bf16); 3]);
    /// // The finite type, unless the name says otherwise.
    /// assert_eq!(["fp8", "e4m3", "F8_E4M3"].map(Dtype::spelled), [Some(Dtype::F8e4m3fn); 3]);
    /// assert_eq!(Dtype::spelled("f8e4m3"), Some(Dtype::F8e4m3));
    /// assert_eq!(Dtype::spelled("tuple"), None);
    /// ```
    pub fn spelled(text: &str) -> Option<Dtype> {
        Dtype::all().find(|dtype| dtype.spellings().any(|spelling| spelling == text))
    }

    /// Returns the type with this standard name.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::named("f8e4m3fn"), Some(Dtype::F8e4m3fn));
    /// assert_eq!((Dtype::named("F32"), Dtype::named("float32")), (None, None));
    /// ```
    pub fn named(name: &str) -> Option<Dtype> {
        Dtype::all().find(|dtype| dtype.name() == name)
    }

    /// Iterates over every spelling of the type, the standard name first.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert!(Dtype::F32.spellings().eq(["f32", "F32", "float32", "fp32", "float"]));
    /// ```
    pub fn spellings(self) -> impl Iterator<Item = &'static str> {
        let row = self.row();
        let names = row.safetensors.into_iter().chain(row.array);
        core::iter::once(row.name).chain(names).chain(row.others.iter().copied())
    }

    /// Iterates over the types that a misspelled name may mean: those of the kind that its first letters indicate (`uint`:
    /// unsigned integers), or all if they indicate none. Suggestions from these types are of the same kind.
    ///
    /// ```
    /// use tilewright_core::{Dtype, DtypeKind};
    /// assert!(Dtype::like("uint33").all(|dtype| dtype.kind() == DtypeKind::Unsigned));
    /// assert!(Dtype::like("Float33").all(|dtype| dtype.kind() == DtypeKind::Float));
    /// assert_eq!(Dtype::like("what").count(), Dtype::all().count());
    /// ```
    pub fn like(text: &str) -> impl Iterator<Item = Dtype> {
        let kind = kind_of_letters(letters(text));
        Dtype::all().filter(move |dtype| kind.is_none_or(|kind| dtype.kind() == kind))
    }
}

/// Returns the letters that a name begins with.
fn letters(text: &str) -> &str {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// Returns the kind of the types with a spelling that begins with exactly these letters, in either case, if all agree.
fn kind_of_letters(start: &str) -> Option<DtypeKind> {
    let begins = |dtype: &Dtype| {
        dtype.spellings().any(|spelling| letters(spelling).eq_ignore_ascii_case(start))
    };
    let kind = Dtype::all().find(begins)?.kind();
    Dtype::all().filter(begins).all(|dtype| dtype.kind() == kind).then_some(kind)
}

/// Reads a spelling; see [`Dtype::spelled`].
impl FromStr for Dtype {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Dtype, ParseError> {
        Dtype::spelled(text).ok_or_else(|| {
            let message = "unknown element type; examples are `f32`, `bf16`, `s8`, `pred`";
            let cased = |spelling: &&str| spelling.eq_ignore_ascii_case(text);
            let nearest = Dtype::like(text).flat_map(Dtype::spellings).find(cased);
            ParseError::new((0, text.len()), message, []).with_nearest(nearest.unwrap_or(""))
        })
    }
}

impl Dtype {
    /// Returns the type of an array-interface code without its byte order: a letter (`b`, `i`, `u`, `f`, `c`) and a size in
    /// bytes.
    ///
    /// Source: NumPy, "The array interface protocol", `typestr`.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::of_array_code('f', 4), Some(Dtype::F32));
    /// assert_eq!(Dtype::of_array_code('b', 1), Some(Dtype::Pred));
    /// assert_eq!(Dtype::of_array_code('V', 2), None);
    /// ```
    pub fn of_array_code(letter: char, bytes: u64) -> Option<Dtype> {
        Dtype::all().find(|dtype| dtype.array_code() == Some((letter, bytes)))
    }

    /// Returns the array-interface code without its byte order; `None` if the protocol lacks the type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::S16.array_code(), Some(('i', 2)));
    /// // Types without a letter in the protocol are passed as raw bytes.
    /// assert_eq!((Dtype::Bf16.array_code(), Dtype::S4.array_code()), (None, None));
    /// ```
    pub fn array_code(self) -> Option<(char, u64)> {
        let letter = match self.kind() {
            DtypeKind::Bool => 'b',
            DtypeKind::Signed => 'i',
            DtypeKind::Unsigned => 'u',
            // The IEEE 754 floats are those that DLPack also calls floats.
            DtypeKind::Float if self.dlpack_code() == Some(IEEE) => 'f',
            DtypeKind::Complex => 'c',
            DtypeKind::Float | DtypeKind::Codebook | DtypeKind::Block => return None,
        };
        let bits = self.packed_bits()?;
        bits.is_multiple_of(8).then_some((letter, u64::from(bits / 8)))
    }

    /// Returns the type of a DLPack code (`DLDataTypeCode`) with this width in bits and one lane. DLPack packs types
    /// narrower than a byte; truth values have 8 bits.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::of_dlpack_code(2, 16), Some(Dtype::F16));
    /// assert_eq!(Dtype::of_dlpack_code(4, 16), Some(Dtype::Bf16));
    /// assert_eq!(Dtype::of_dlpack_code(2, 48), None);
    /// ```
    pub fn of_dlpack_code(code: u64, bits: u64) -> Option<Dtype> {
        let is = |dtype: &Dtype| {
            dtype.dlpack_code().map(u64::from) == Some(code)
                && dtype.packed_bits().map(u64::from) == Some(bits)
        };
        Dtype::all().find(is)
    }

    /// Returns the DLPack code; `None` if DLPack lacks the type.
    ///
    /// Source: DLPack, `include/dlpack/dlpack.h`, `DLDataTypeCode`.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!((Dtype::F32.dlpack_code(), Dtype::F8e4m3fn.dlpack_code()), (Some(2), Some(10)));
    /// assert_eq!(Dtype::Q4_0.dlpack_code(), None);
    /// ```
    pub const fn dlpack_code(self) -> Option<u8> {
        self.row().dlpack
    }
}

/// DLPack's `kDLFloat`.
const IEEE: u8 = 2;

#[cfg(test)]
mod tests {
    use std::{string::String, vec::Vec};

    use super::*;

    #[test]
    fn every_spelling_has_one_meaning() {
        for dtype in Dtype::all() {
            for spelling in dtype.spellings() {
                assert_eq!(Dtype::spelled(spelling), Some(dtype), "{spelling}");
                assert_eq!(spelling.parse(), Ok(dtype));
            }
            assert_eq!(Dtype::named(dtype.name()), Some(dtype));
        }
    }

    #[test]
    fn what_differs_in_case_alone_is_one_type() {
        for a in Dtype::all() {
            for b in Dtype::all().filter(|b| *b != a) {
                let same = |a: &str| b.spellings().any(|b| a.eq_ignore_ascii_case(b));
                assert!(!a.spellings().any(same), "{a} {b}");
            }
        }
    }

    #[test]
    fn a_misspelling_keeps_its_kind() {
        for dtype in Dtype::all() {
            for spelling in dtype.spellings() {
                // Another width after the same letters.
                let wrong = std::format!("{}999", letters(spelling));
                let found = kind_of_letters(letters(&wrong));
                assert_eq!(found, Some(dtype.kind()), "{wrong}");
            }
        }
        for text in ["", "4bit", "é", "xyz"] {
            assert_eq!(Dtype::like(text).count(), Dtype::all().count(), "{text}");
        }
    }

    #[test]
    fn another_case_is_suggested() {
        let error = "Bf16".parse::<Dtype>().unwrap_err();
        assert_eq!((error.nearest(), error.span()), (Some("bf16"), (0, 4)));
        assert_eq!("f99".parse::<Dtype>().unwrap_err().nearest(), None);
    }

    #[test]
    fn codes_come_back() {
        for dtype in Dtype::all() {
            if let Some((letter, bytes)) = dtype.array_code() {
                assert_eq!(Dtype::of_array_code(letter, bytes), Some(dtype));
            }
            if let Some(code) = dtype.dlpack_code() {
                let bits = dtype.packed_bits().unwrap();
                assert_eq!(Dtype::of_dlpack_code(code.into(), bits.into()), Some(dtype));
            }
        }
    }

    #[test]
    fn the_codes_of_the_protocol_are_these() {
        let codes: Vec<String> = Dtype::all()
            .filter_map(|dtype| {
                dtype.array_code().map(|(letter, bytes)| std::format!("{letter}{bytes}"))
            })
            .collect();
        let known =
            ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"];
        assert_eq!(codes, known);
    }
}
