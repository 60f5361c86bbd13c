//! Element types with their safetensors names, and their stored forms.

use safetensors::Dtype as FileType;
use tilewright_core::{ByteOrder, Dtype, DtypeKind, Fill};

/// Returns the element type of a safetensors type; `None` for an unknown one.
pub(crate) fn of_safetensors(file: FileType) -> Option<Dtype> {
    let name = format!("{file:?}");
    Dtype::all().find(|dtype| dtype.safetensors_name() == Some(name.as_str()))
}

/// Returns the safetensors type of this name.
fn named(name: &str) -> Option<FileType> {
    serde_json::from_value(name.into()).ok()
}

/// Returns the safetensors type that holds elements of this type and storage width unchanged: the type of the same name, or for
/// types without a name an 8-bit integer.
pub(crate) fn carrier(dtype: Dtype, bits: u32) -> Option<FileType> {
    match dtype.safetensors_name() {
        Some(name) => named(name).filter(|_| dtype.packed_bits() == Some(bits)),
        None if bits == 8 && dtype.is_signed_integer() => Some(FileType::I8),
        None if bits == 8 => Some(FileType::U8),
        None => None,
    }
}

/// Returns whether safetensors has a name for this type in this storage width, so that a file itself records the type.
pub(crate) fn is_named(dtype: Dtype, bits: u32) -> bool {
    dtype.safetensors_name().is_some() && dtype.packed_bits() == Some(bits)
}

/// Returns the number of bytes of a number in elements of `bits` bits; a complex element has two numbers. The result is at least
/// 1.
pub(crate) fn number_bytes(dtype: Dtype, bits: u32) -> usize {
    let whole = bits as usize / 8;
    (if dtype.kind() == DtypeKind::Complex { whole / 2 } else { whole }).max(1)
}

/// Returns the byte order that a file's spelling of an element type states: `<f4`, `>i2`. The order of raw bytes (`<V2`) and of
/// single bytes is irrelevant.
pub(crate) fn stated_order(spelling: &str) -> Option<ByteOrder> {
    match spelling.as_bytes() {
        [_, b'V', ..] | [_, _, b'1'] => None,
        [b'<', ..] => Some(ByteOrder::Little),
        [b'>', ..] => Some(ByteOrder::Big),
        _ => None,
    }
}

/// Returns the element type that a file's spelling states: `BF16`, `<f4`.
pub(crate) fn stated_type(spelling: &str) -> Option<Dtype> {
    let of_code = || {
        let code = spelling.strip_prefix(['<', '>', '|'])?;
        let kind = code.chars().next()?;
        Dtype::of_array_code(kind, code.get(kind.len_utf8()..)?.parse().ok()?)
    };
    Dtype::spelled(spelling).or_else(of_code)
}

/// Checks that elements of the type that a file states may be read as another type without a layout. Integers may hold the bits of any type, and
/// files use one type of 8 bits for several.
pub(crate) fn check_stated(own: Dtype, read: Dtype) -> Result<(), String> {
    let integer = matches!(own.kind(), DtypeKind::Signed | DtypeKind::Unsigned);
    let bits = own.storage_bits();
    if own == read || integer || bits == Some(8) || bits != read.storage_bits() {
        return Ok(());
    }
    Err(format!(
        "the file states elements of {own}, but {read} is requested; request {own}, or leave the type out"
    ))
}

/// Returns a fill as the metadata spell it, like the argument of `fill(…)`.
pub(crate) fn fill_text(fill: Fill) -> String {
    match fill {
        Fill::Unspecified => "none".into(),
        // Metadata have upper-case digits, as in files of earlier versions.
        Fill::Bits(bits) => format!("0x{bits:X}"),
        Fill::Zero | Fill::One | Fill::Lowest | Fill::Highest | Fill::Unknown => fill.to_string(),
    }
}

/// Parses the texts that [`fill_text`] writes.
pub(crate) fn fill_of(text: &str) -> Option<Fill> {
    if text == "none" { Some(Fill::Unspecified) } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_bijection_of_equal_widths() {
        let with_name = Dtype::all().filter(|dtype| dtype.safetensors_name().is_some());
        let mut count = 0;
        for dtype in with_name {
            let file = named(dtype.safetensors_name().unwrap()).unwrap();
            assert_eq!(of_safetensors(file), Some(dtype));
            assert_eq!(carrier(dtype, file.bitsize() as u32), Some(file));
            assert_eq!((carrier(dtype, 48), is_named(dtype, 48)), (None, false));
            count += 1;
        }
        assert_eq!(count, 22);
        let carried = [carrier(Dtype::S4, 8), carrier(Dtype::U2, 8), carrier(Dtype::S4, 4)];
        assert_eq!(carried, [Some(FileType::I8), Some(FileType::U8), None]);
        assert!(is_named(Dtype::Pred, 8) && !is_named(Dtype::Pred, 32) && !is_named(Dtype::S4, 8));
    }

    #[test]
    fn a_spelling_states_the_order_of_numbers_of_several_bytes() {
        let (little, big) = (Some(ByteOrder::Little), Some(ByteOrder::Big));
        for (spelling, order) in [
            ("<f4", little),
            (">i2", big),
            (">c16", big),
            ("|u1", None),
            ("<u1", None),
            ("<V2", None),
            ("BF16", None),
            ("", None),
        ] {
            assert_eq!(stated_order(spelling), order, "{spelling}");
        }
        let types = ["<u2", "BF16", "|V2", "", "<é"].map(stated_type);
        assert_eq!(types, [Some(Dtype::U16), Some(Dtype::Bf16), None, None, None]);
    }

    #[test]
    fn integers_and_bytes_may_hold_another_type() {
        for (own, read) in [
            (Dtype::F32, Dtype::F32),
            (Dtype::U16, Dtype::Bf16),
            (Dtype::S16, Dtype::F16),
            (Dtype::F8e4m3fn, Dtype::F8e5m2),
            (Dtype::F32, Dtype::U8),
        ] {
            assert_eq!(check_stated(own, read), Ok(()), "{own} {read}");
        }
        for (own, read) in [(Dtype::F32, Dtype::S32), (Dtype::F16, Dtype::Bf16)] {
            let said = check_stated(own, read).unwrap_err();
            assert!(said.contains(&format!("states elements of {own}, but {read}")), "{said}");
        }
    }

    #[test]
    fn fills_read_back() {
        let fills = [Fill::Unspecified, Fill::Zero, Fill::One, Fill::Lowest, Fill::Highest];
        for fill in fills.into_iter().chain([Fill::Unknown, Fill::Bits(0), Fill::Bits(u128::MAX)]) {
            assert_eq!(fill_of(&fill_text(fill)), Some(fill));
        }
        assert_eq!((fill_of("0xG"), fill_of("1"), fill_of("")), (None, None, None));
        assert_eq!(
            (fill_text(Fill::Bits(0x7fc0)), fill_of("0x7fc0")),
            ("0x7FC0".into(), Some(Fill::Bits(0x7fc0)))
        );
    }
}
