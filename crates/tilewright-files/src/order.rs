//! Layouts that a file format can say itself (row-major, Fortran order), and the shape under which a file stores
//! an array of any other layout.

use tilewright_core::{Pattern, TensorLayout};

/// Whether the storage is the box of the dims, the last fastest. A format whose blocks happen to lie so
/// (zN of one block) is another box, and a reader of that format looks for it.
pub(crate) fn is_row_major(layout: &TensorLayout) -> bool {
    let dims = || 0..layout.rank();
    is_dense(layout, &mut dims().rev()) && is_box(layout, &mut dims())
}

/// Whether the storage is the box of the dims in reverse, the first fastest.
pub(crate) fn is_col_major(layout: &TensorLayout) -> bool {
    let dims = || 0..layout.rank();
    is_dense(layout, &mut dims()) && is_box(layout, &mut dims().rev())
}

/// Whether the storage has the extents of these dims, outermost first; nothing is stored in any shape.
fn is_box(layout: &TensorLayout, dims: &mut dyn Iterator<Item = usize>) -> bool {
    let extents = dims.filter_map(|dim| layout.extents().get(dim).copied());
    layout.size() == 0 || storage_shape(layout).into_iter().eq(extents)
}

/// Whether the elements lie densely with the dims fastest first as given.
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

/// The shape under which a file stores an array of this layout: its dims, where it says of itself how it
/// lies, else those of the storage.
pub(crate) fn shape_in_file(layout: &TensorLayout) -> Vec<u64> {
    match is_row_major(layout) {
        true => layout.extents().to_vec(),
        false => storage_shape(layout),
    }
}

/// The extents of the storage, outermost first: of its digits where it is a box of them, else its
/// length.
pub(crate) fn storage_shape(layout: &TensorLayout) -> Vec<u64> {
    let digits = Pattern::of(layout).and_then(|pattern| pattern.storage(layout.extents()));
    match digits {
        Ok(digits) => digits.as_slice().to_vec(),
        Err(_) => vec![layout.capacity()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Fractal, Layout};

    #[test]
    fn dense_orders_are_told_by_their_map() {
        let extents: [&[u64]; 6] = [&[], &[5], &[2, 3], &[3, 1, 2], &[0, 7], &[1, 1]];
        for extents in extents {
            let row = TensorLayout::row_major(extents).unwrap();
            let col = TensorLayout::col_major(extents).unwrap();
            assert!(is_row_major(&row) && is_col_major(&col));
            assert_eq!(is_col_major(&row), row.true_rank() < 2 || row.size() == 0);
            assert_eq!(is_row_major(&col), row.true_rank() < 2 || row.size() == 0);
        }
        let same = Layout::parse("((2,3),(2,2)):((4,8),(1,2))").unwrap();
        assert!(!is_row_major(&TensorLayout::of(&same)));
        assert_eq!(storage_shape(&TensorLayout::of(&same)), [3, 2, 2, 2]);
        assert!(!is_row_major(&TensorLayout::new(&[5, 4], &same, 24).unwrap()));
        assert!(!is_row_major(&TensorLayout::of(&Layout::parse("(2,3):(4,1)").unwrap())));
    }

    #[test]
    fn a_format_of_one_block_keeps_its_own_box() {
        let zn = Fractal::ZN.pattern(16, 32).layout(&[16, 32]).unwrap();
        assert_eq!(storage_shape(&zn), [1, 1, 16, 32]);
        assert!(!is_row_major(&zn));
        let nhwc = TensorLayout::of(&Layout::parse("(2,3,1,1):(3,1,3,3)").unwrap());
        assert_eq!(storage_shape(&nhwc), [2, 1, 1, 3]);
        assert!(!is_row_major(&nhwc));
        assert!(is_row_major(&TensorLayout::row_major(&[2, 3, 1, 1]).unwrap()));
    }

    #[test]
    fn a_storage_is_a_box_or_a_line() {
        let zn = Fractal::ZN.pattern(16, 16).layout(&[100, 30]).unwrap();
        assert_eq!(storage_shape(&zn), [2, 7, 16, 16]);
        let gaps = TensorLayout::of(&Layout::parse("(4,4):(8,1)").unwrap());
        assert_eq!(storage_shape(&gaps), [28]);
        assert_eq!(storage_shape(&TensorLayout::row_major(&[]).unwrap()), [] as [u64; 0]);
    }
}
