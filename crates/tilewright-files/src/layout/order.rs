//! Layouts that a file format can record itself (row-major, Fortran order), and the shape under which a file stores an array of
//! any other layout.
//!
//! A file stores an array under its [storage shape](ResolvedLayout::storage_shape). Files of earlier versions store it under the digits of
//! its map, whatever the layout's name was: XLA's tiles without digits of extent 1, bare maps with them. Such files are read as
//! well. An array that is stored as words has the shape of the words.

use tilewright_core::{Pattern, TensorLayout};
use tilewright_notation::ResolvedLayout;

/// Returns whether the storage is the box of the dims, the last fastest, and is not stored as words. A format whose blocks happen
/// to have this order (zN of one block) has another box, which readers of that format expect.
pub(crate) fn is_row_major(named: &ResolvedLayout) -> bool {
    named.stored_as().is_none() && is_by_rows(named)
}

/// Returns whether the storage is the box of the dims in reverse, the first fastest, and is not stored as words.
pub(crate) fn is_col_major(named: &ResolvedLayout) -> bool {
    named.stored_as().is_none() && is_by_columns(named)
}

/// Returns whether the storage is the box of the dims, or of the dims in reverse, stored as words or not.
pub(crate) fn is_plain(named: &ResolvedLayout) -> bool {
    is_by_rows(named) || is_by_columns(named)
}

fn is_by_rows(named: &ResolvedLayout) -> bool {
    let layout = named.layout();
    is_dense(layout, &mut (0..layout.rank()).rev()) && named.storage_shape() == layout.extents()
}

fn is_by_columns(named: &ResolvedLayout) -> bool {
    let layout = named.layout();
    is_dense(layout, &mut (0..layout.rank()))
        && named.storage_shape().iter().eq(layout.extents().iter().rev())
}

/// Returns whether the elements are dense, with the given order of dims, fastest first.
fn is_dense(layout: &TensorLayout, dims: &mut dyn Iterator<Item = usize>) -> bool {
    if layout.capacity() != layout.size() {
        return false;
    }
    if layout.size() == 0 {
        return true;
    }
    let bare = layout.layout();
    if !layout.is_strided() || !bare.swizzle().is_identity() || bare.offset() != 0 {
        return false;
    }
    let mut within = 1i64;
    for dim in dims {
        for mode in bare.axis(dim).unwrap_or(&[]) {
            if mode.extent() > 1 && mode.stride() != within {
                return false;
            }
            within = within.saturating_mul(mode.extent().max(1) as i64);
        }
    }
    true
}

/// Returns the shape under which files of earlier versions store an array of this layout.
pub(crate) fn earlier_shape(layout: &TensorLayout) -> Vec<u64> {
    let dims = layout.extents();
    let dense = is_dense(layout, &mut (0..layout.rank()).rev());
    match Pattern::of(layout).and_then(|pattern| pattern.storage(dims)) {
        _ if dense && layout.size() == 0 => dims.to_vec(),
        Ok(digits) => digits.as_slice().to_vec(),
        Err(_) => vec![layout.capacity()],
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::Fill;
    use tilewright_notation::Spec;

    use super::*;

    fn named(text: &str) -> ResolvedLayout {
        Spec::parse(text).unwrap().resolve(None, None).unwrap()
    }

    #[test]
    fn dense_orders_are_told_by_their_map() {
        let extents: [&[u64]; 6] = [&[], &[5], &[2, 3], &[3, 1, 2], &[0, 7], &[1, 1]];
        for extents in extents {
            let row = TensorLayout::row_major(extents).unwrap();
            let short = row.true_rank() < 2 || row.size() == 0;
            let col = TensorLayout::col_major(extents).unwrap();
            let bare = |layout| ResolvedLayout::new("", layout, None, None, Fill::Unspecified);
            let (row, col) = (bare(row), bare(col));
            assert!(is_row_major(&row) && (is_col_major(&col) || short), "{extents:?}");
            assert!(!is_col_major(&row) || short, "{extents:?}");
            assert_eq!(is_row_major(&col), short, "{extents:?}");
        }
        assert!(!is_row_major(&named("((2,3),(2,2)):((4,8),(1,2))")));
        assert!(!is_row_major(&named("((2,3),(2,2)):((4,8),(1,2)) valid (5,4)")));
        assert!(!is_row_major(&named("(2,3):(4,1)")));
    }

    #[test]
    fn a_format_of_one_block_keeps_its_own_box() {
        assert!(!is_row_major(&named("f16[16,16] zN")));
        assert!(!is_row_major(&named("f32[8,128]{1,0:T(8,128)}")));
        assert!(!is_row_major(&named("[2,3,1,1] NHWC")));
        // The map alone does not determine the order of dims of extent 1.
        assert!(is_row_major(&named("(2,3,1,1):(3,1,3,3)")));
        assert!(is_row_major(&named("f32[2,3,1,1]{3,2,1,0}")));
        assert!(
            is_col_major(&named("[2,1,3] col-major")) && is_col_major(&named("(2,1,3):(1,9,2)"))
        );
    }

    #[test]
    fn earlier_files_stored_the_digits_of_the_map() {
        let shape = |text: &str| earlier_shape(named(text).layout());
        assert_eq!(shape("f32[8,256]{1,0:T(8,128)}"), [2, 8, 128]);
        assert_eq!(shape("f32[8,256] TPU_8x128"), [1, 2, 8, 128]);
        assert_eq!(shape("f32[6,4]{1,0:T(3,4)(2,1)}"), [32]);
        assert_eq!(shape("(2,3,1,1):(3,1,3,3)"), [2, 1, 1, 3]);
        assert_eq!(shape("f16[0,16] zN"), [0, 16]);
        assert_eq!(shape("[2,1,3] row-major"), [2, 1, 3]);
        assert_eq!(shape("(4,4):(8,1)"), [28]);
    }
}
