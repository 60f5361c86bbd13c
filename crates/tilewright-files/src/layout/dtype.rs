//! Element types as safetensors names them, and what a file stores of each.

use safetensors::Dtype as FileType;
use tilewright_core::{Dtype, DtypeKind, Fill};

/// The type of a safetensors tensor; `None` for one that is not known here.
pub(crate) fn of_safetensors(file: FileType) -> Option<Dtype> {
    let name = format!("{file:?}");
    Dtype::all().find(|dtype| dtype.safetensors_name() == Some(name.as_str()))
}

/// The safetensors type of this name.
fn named(name: &str) -> Option<FileType> {
    serde_json::from_value(name.into()).ok()
}

/// The safetensors type that holds elements of this type and storage width as they are: its own name,
/// or for types without a name an 8-bit integer.
pub(crate) fn carrier(dtype: Dtype, bits: u32) -> Option<FileType> {
    match dtype.safetensors_name() {
        Some(name) => named(name).filter(|_| dtype.packed_bits() == Some(bits)),
        None if bits == 8 && dtype.is_signed_integer() => Some(FileType::I8),
        None if bits == 8 => Some(FileType::U8),
        None => None,
    }
}

/// Whether safetensors has a name for this type in this storage width, so that a file says by itself
/// what it holds.
pub(crate) fn is_named(dtype: Dtype, bits: u32) -> bool {
    dtype.safetensors_name().is_some() && dtype.packed_bits() == Some(bits)
}

/// The bytes of a number of elements of `bits` bits, of which a complex one has two; at least 1.
pub(crate) fn number_bytes(dtype: Dtype, bits: u32) -> usize {
    let whole = bits as usize / 8;
    (if dtype.kind() == DtypeKind::Complex { whole / 2 } else { whole }).max(1)
}

/// A fill as the metadata spells it, like the argument of `fill(…)`.
pub(crate) fn fill_text(fill: Fill) -> String {
    match fill {
        Fill::Unspecified => "none".into(),
        // The digits of metadata are capitals, also in files of earlier versions.
        Fill::Bits(bits) => format!("0x{bits:X}"),
        Fill::Zero | Fill::One | Fill::Lowest | Fill::Highest | Fill::Unknown => fill.to_string(),
    }
}

/// Reads what [`fill_text`] writes.
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
