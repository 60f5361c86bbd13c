//! Element types as letters and numbers: the codes of the array interface and of DLPack.

use super::{Dtype, DtypeKind};

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
    use super::*;
    use std::{string::String, vec::Vec};

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
