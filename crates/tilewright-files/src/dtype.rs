//! Element types: XLA's names next to those of safetensors, and what a file stores of each.

use safetensors::Dtype;
use tilewright_core::Fill;
use tilewright_xla::PrimitiveType;

use PrimitiveType as P;

/// The types that safetensors has a name for.
const NAMED: [(Dtype, PrimitiveType); 20] = [
    (Dtype::BOOL, P::Pred),
    (Dtype::F4, P::F4e2m1fn),
    (Dtype::U8, P::U8),
    (Dtype::I8, P::S8),
    (Dtype::F8_E5M2, P::F8e5m2),
    (Dtype::F8_E4M3, P::F8e4m3fn),
    (Dtype::F8_E8M0, P::F8e8m0fnu),
    (Dtype::F8_E4M3FNUZ, P::F8e4m3fnuz),
    (Dtype::F8_E5M2FNUZ, P::F8e5m2fnuz),
    (Dtype::I16, P::S16),
    (Dtype::U16, P::U16),
    (Dtype::F16, P::F16),
    (Dtype::BF16, P::Bf16),
    (Dtype::I32, P::S32),
    (Dtype::U32, P::U32),
    (Dtype::F32, P::F32),
    (Dtype::C64, P::C64),
    (Dtype::F64, P::F64),
    (Dtype::I64, P::S64),
    (Dtype::U64, P::U64),
];

/// The type of a safetensors tensor; `None` for 6-bit floats, which are no power of two wide.
pub(crate) fn of_safetensors(dtype: Dtype) -> Option<PrimitiveType> {
    NAMED.iter().find(|(named, _)| *named == dtype).map(|(_, primitive)| *primitive)
}

/// The safetensors type that holds elements of this type and storage width as they are: its own name,
/// or for types without a name an 8-bit integer.
pub(crate) fn carrier(dtype: PrimitiveType, bits: u32) -> Option<Dtype> {
    let named = NAMED.iter().find(|(_, primitive)| *primitive == dtype);
    match named {
        Some((named, _)) => (named.bitsize() == bits as usize).then_some(*named),
        None if bits == 8 && is_signed(dtype) => Some(Dtype::I8),
        None if bits == 8 => Some(Dtype::U8),
        None => None,
    }
}

/// Whether safetensors has a name for this type in this storage width, so that a file says by itself
/// what it holds.
pub(crate) fn is_named(dtype: PrimitiveType, bits: u32) -> bool {
    NAMED.iter().any(|(named, own)| *own == dtype && named.bitsize() == bits as usize)
}

/// Whether widening copies the sign.
pub(crate) fn is_signed(dtype: PrimitiveType) -> bool {
    matches!(dtype, P::S1 | P::S2 | P::S4 | P::S8 | P::S16 | P::S32 | P::S64)
}

/// The bit pattern that padding gets, in elements stored in `bits` bits; the bytes of each number
/// reversed for big-endian files.
pub(crate) fn fill_pattern(
    dtype: PrimitiveType,
    bits: u32,
    fill: Fill,
    big_endian: bool,
) -> Result<u128, tilewright_core::Error> {
    let pattern = dtype.fill_bits(fill)?;
    let own = dtype.bits().unwrap_or(bits);
    let negative = is_signed(dtype) && own < 128 && pattern >> (own.max(1) - 1) & 1 == 1;
    let pattern = if negative && bits > own { pattern | (u128::MAX << own) } else { pattern };
    let pattern = if bits < 128 { pattern & ((1 << bits) - 1) } else { pattern };
    Ok(if big_endian { swapped(dtype, bits, pattern) } else { pattern })
}

/// The bytes of each number of the element reversed: a complex number is two.
pub(crate) fn swapped(dtype: PrimitiveType, bits: u32, pattern: u128) -> u128 {
    let mut bytes = pattern.to_le_bytes();
    let whole = (bits as usize / 8).min(bytes.len());
    for number in bytes[..whole].chunks_mut(number_bytes(dtype, bits)) {
        number.reverse();
    }
    u128::from_le_bytes(bytes)
}

/// The bytes of a number of elements of `bits` bits, of which a complex one has two; at least 1.
pub(crate) fn number_bytes(dtype: PrimitiveType, bits: u32) -> usize {
    let whole = bits as usize / 8;
    (if matches!(dtype, P::C64 | P::C128) { whole / 2 } else { whole }).max(1)
}

/// A fill as the metadata spells it, like the argument of `fill(…)`.
pub(crate) fn fill_text(fill: Fill) -> String {
    match fill {
        Fill::Unspecified => "none".into(),
        Fill::Zero => "0".into(),
        Fill::One => "one".into(),
        Fill::Lowest => "lowest".into(),
        Fill::Highest => "highest".into(),
        Fill::Unknown => "unknown".into(),
        Fill::Bits(bits) => format!("0x{bits:X}"),
    }
}

/// Reads what [`fill_text`] writes.
pub(crate) fn fill_of(text: &str) -> Option<Fill> {
    Some(match text {
        "none" => Fill::Unspecified,
        "0" => Fill::Zero,
        "one" => Fill::One,
        "lowest" => Fill::Lowest,
        "highest" => Fill::Highest,
        "unknown" => Fill::Unknown,
        _ => Fill::Bits(u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_bijection_of_equal_widths() {
        for (i, (dtype, primitive)) in NAMED.iter().enumerate() {
            assert_eq!(of_safetensors(*dtype), Some(*primitive));
            assert_eq!(carrier(*primitive, dtype.bitsize() as u32), Some(*dtype));
            assert_eq!(carrier(*primitive, 48), None);
            let text = format!("{dtype:?}");
            assert_eq!(tilewright_notation::safetensors_name(*primitive), Some(text.as_str()));
            let own = primitive.bits().unwrap() as usize;
            assert!(own == dtype.bitsize() || *primitive == P::Pred);
            assert!(NAMED[..i].iter().all(|(a, b)| a != dtype && b != primitive));
        }
        assert_eq!(of_safetensors(Dtype::F6_E2M3), None);
        assert_eq!((carrier(P::S4, 8), carrier(P::U2, 8)), (Some(Dtype::I8), Some(Dtype::U8)));
        assert_eq!(carrier(P::S4, 4), None);
        assert!(is_named(P::Pred, 8) && !is_named(P::Pred, 32) && !is_named(P::S4, 8));
    }

    #[test]
    fn fills_are_extended_and_swapped() {
        let pattern = |dtype, bits, fill, big| fill_pattern(dtype, bits, fill, big).unwrap();
        assert_eq!(pattern(P::S4, 4, Fill::Lowest, false), 0x8);
        assert_eq!(pattern(P::S4, 8, Fill::Lowest, false), 0xF8);
        assert_eq!(pattern(P::U4, 8, Fill::Highest, false), 0x0F);
        assert_eq!(pattern(P::F32, 32, Fill::One, true), 0x0000_803F);
        assert_eq!(pattern(P::C64, 64, Fill::One, true), 0x0000_803F);
        assert_eq!(pattern(P::S64, 64, Fill::Bits(1), true), 1 << 56);
        assert!(fill_pattern(P::C64, 64, Fill::Lowest, false).is_err());
    }

    #[test]
    fn fills_read_back() {
        let fills = [Fill::Unspecified, Fill::Zero, Fill::One, Fill::Lowest, Fill::Highest];
        for fill in fills.into_iter().chain([Fill::Unknown, Fill::Bits(0), Fill::Bits(u128::MAX)]) {
            assert_eq!(fill_of(&fill_text(fill)), Some(fill));
        }
        assert_eq!((fill_of("0xG"), fill_of("1"), fill_of("")), (None, None, None));
    }
}
