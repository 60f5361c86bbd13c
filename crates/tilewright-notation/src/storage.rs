//! The shape under which an array is stored: its extents in memory, outermost first.
//!
//! The rule, for the SPEC of an array:
//!
//! | SPEC | storage shape |
//! |---|---|
//! | a format, a pattern, a tag, an order of dims | its digits in the order of storage, those of extent 1 too |
//! | tiles of XLA or JAX | the extents outside the tiles, then those of the tiles, 1 included |
//! | a bare map: modes or strides | its dims where it is row-major, its dims reversed where the first is fastest, else its digits without those of extent 1 |
//! | storage that is not a box of digits: gaps, a swizzle, a leading dimension, an alignment, more than 32 extents | its length |
//!
//! So the rank follows from the text and the rank of the array, not from the extents: `TPU_8x128` of any matrix has
//! four. A bare map is the exception: the place of a mode of extent 1 is not known from it.
//!
//! Law: the product of the shape is the capacity.

use tilewright_core::{MAX_MODES, Pattern, TensorLayout};

/// The extents that a notation gives, where they are a box of this many elements; else the length.
pub(crate) fn checked(extents: &[u64], capacity: u64) -> Vec<u64> {
    let fits = extents.len() <= MAX_MODES;
    let product = extents.iter().try_fold(1u128, |all, extent| all.checked_mul((*extent).into()));
    let is_box = fits && product == Some(capacity.into());
    if is_box { extents.to_vec() } else { vec![capacity] }
}

/// The shape of a bare map.
pub(crate) fn of_map(layout: &TensorLayout) -> Vec<u64> {
    let dims = layout.extents();
    if layout.capacity() == 0 {
        return dims.to_vec();
    }
    let Some(digits) = long_digits(layout) else { return vec![layout.capacity()] };
    let mut long: Vec<(usize, u64)> =
        dims.iter().copied().enumerate().filter(|(_, extent)| *extent > 1).collect();
    if digits == long {
        return dims.to_vec();
    }
    long.reverse();
    if digits == long {
        return dims.iter().rev().copied().collect();
    }
    digits.into_iter().map(|(_, extent)| extent).collect()
}

/// The dim and the extent of each digit that is longer than 1, where the storage is a box of digits.
fn long_digits(layout: &TensorLayout) -> Option<Vec<(usize, u64)>> {
    let pattern = Pattern::of(layout).ok()?;
    let storage = pattern.storage(layout.extents()).ok()?;
    let axes = pattern.digits().iter().map(|digit| usize::from(digit.axis()));
    let digits = axes.zip(storage.as_slice().iter().copied());
    Some(digits.filter(|(_, extent)| *extent > 1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use tilewright_core::Dtype;

    fn shape(text: &str, dims: &[u64]) -> Vec<u64> {
        let spec = Spec::parse(text).unwrap();
        let given = (!spec.is_concrete()).then_some((dims, Dtype::F16));
        spec.resolve(given.map(|it| it.0), given.map(|it| it.1)).unwrap().storage_shape()
    }

    /// The length and the tile of what each general text stores, whatever the dims.
    #[test]
    fn the_rank_of_a_storage_shape_does_not_change_with_the_dims() {
        let texts: [(&str, usize); 26] = [
            ("row-major", 2),
            ("col-major", 2),
            ("BA->AB", 2),
            ("{1,0}", 2),
            ("{0,1}", 2),
            ("{1,0:T(8,128)}", 4),
            ("{1,0:T(4,1)}", 4),
            ("{0,1:T(1,4)(2,1)}", 6),
            ("{1,0:T(8,128)(2,1)}", 6),
            ("{1,0:T(3,4)(2,1)}", 6),
            ("{1,0:T(*,4)}", 2),
            ("{1,0:T(256)}", 3),
            ("{1,0:T(2,2,2)}", 6),
            ("{1,0:T(2,2)L(64)}", 1),
            ("Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))", 6),
            ("TPU_8x128", 4),
            ("zN", 4),
            ("zN[M0=1,C0=1]", 4),
            ("zN^T", 4),
            ("COL32", 3),
            ("COL32[LD=4096]", 1),
            ("ba", 2),
            ("BA16a16b", 4),
            ("BA1a4b2a", 5),
            ("(m1 m0:1) (n1 n0:4) -> n1 m1 m0 n0", 4),
            ("linalg.pack inner_dims_pos = [1] inner_tiles = [8]", 3),
        ];
        let extents = [0u64, 1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 64, 127, 128, 129, 256, 300];
        let mut seen = 0;
        for (text, rank) in texts {
            for (m, n) in extents.iter().flat_map(|m| extents.map(|n| (*m, n))) {
                let Ok(spec) = Spec::parse(text) else { panic!("{text}") };
                let Ok(named) = spec.resolve(Some(&[m, n]), Some(Dtype::F16)) else { continue };
                let shape = named.storage_shape();
                assert_eq!(shape.len(), rank, "{text} of {m}×{n}: {shape:?}");
                assert_eq!(shape.iter().product::<u64>(), named.layout().capacity(), "{text}");
                // The SPEC that is recorded for the array gives the same shape.
                let again = Spec::parse_built_in(&named.to_spec()).unwrap();
                assert_eq!(again.resolve(None, None).unwrap().storage_shape(), shape, "{text}");
                seen += 1;
            }
        }
        assert!(seen > 7000, "{seen}");
    }

    #[test]
    fn tiles_are_stored_as_the_format_of_the_same_tiles() {
        for dims in [[8, 256], [8, 128], [1, 1], [20, 300], [0, 5]] {
            assert_eq!(shape("{1,0:T(8,128)}", &dims), shape("TPU_8x128", &dims));
        }
        assert_eq!(shape("f32[8,256]{1,0:T(8,128)}", &[]), [1, 2, 8, 128]);
        assert_eq!(shape("f32[256]{0:T(8,128)}", &[]), [1, 2, 8, 128]);
        // Tiles that do not divide each other are a box all the same.
        assert_eq!(shape("{1,0:T(3,4)(2,1)}", &[6, 4]), [2, 1, 2, 4, 2, 1]);
        assert_eq!(shape("f32[2,3]{0,1}pad(3,5)", &[]), [5, 3]);
        assert_eq!(shape("f32[1,256]{1,0}", &[]), [1, 256]);
    }

    #[test]
    fn a_bare_map_has_no_digits_of_extent_1() {
        assert_eq!(shape("((8,1),(128,2)):((128,2048),(1,1024))", &[]), [2, 8, 128]);
        assert_eq!(shape("((2,3),(2,2)):((4,8),(1,2))", &[]), [3, 2, 2, 2]);
        // Row-major, and the first dim fastest, however the modes of extent 1 are written.
        assert_eq!(shape("(2,3,1,1):(3,1,9,0)", &[]), [2, 3, 1, 1]);
        assert_eq!(shape("(2,1,3):(1,7,2)", &[]), [3, 1, 2]);
        assert_eq!(shape("numpy:shape=(2,3,1,4),strides=(24,8,8,2),dtype=f16", &[]), [2, 3, 1, 4]);
        assert_eq!(shape("(2,3,1,4):(12,1,0,3)", &[]), [2, 4, 3]);
        assert_eq!(shape("(1,1):(1,1)", &[]), [1, 1]);
        // No box.
        assert_eq!(shape("(4,4):(8,1)", &[]), [28]);
        assert_eq!(shape("Sw<1,0,2> o (4,4):(4,1)", &[]), [16]);
        assert_eq!(shape("(2,3):(3,1) valid (2,3) capacity 8", &[]), [8]);
        // The name of an order keeps what the map alone has not.
        assert_eq!(shape("[2,3,1,1] NHWC", &[]), [2, 1, 1, 3]);
    }

    #[test]
    fn extents_that_are_no_box_of_the_storage_are_its_length() {
        assert_eq!(checked(&[2, 3], 6), [2, 3]);
        assert_eq!(checked(&[2, 3], 7), [7]);
        assert_eq!(checked(&[1; 33], 1), [1]);
        assert_eq!(checked(&[u64::MAX, u64::MAX, u64::MAX], 1), [1]);
    }
}
