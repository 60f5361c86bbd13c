//! Relayout of typed views.

use crate::{Elements, Error, Plan};
use bytemuck::Pod;
use tilewright_core::{View, ViewMut};

/// Copies every element of `src` to the element of `dst` with the same coordinate.
///
/// A destination view of a whole array is written completely: its padding becomes zero. A view of a part (a tile, a
/// slice, permuted dims) is written element by element, and no other element is touched.
///
/// # Errors
/// Those of [`Plan::new`].
///
/// ```
/// use tilewright_core::{TensorLayout, View, ViewMut};
/// use tilewright_relayout::relayout;
/// let (row, col) =
///     (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::col_major(&[2, 3]).unwrap());
/// let mut out = [0f32; 6];
/// let src = View::new(&[1., 2., 3., 4., 5., 6.], &row).unwrap();
/// relayout(&src, &mut ViewMut::new(&mut out, &col).unwrap()).unwrap();
/// assert_eq!(out, [1., 4., 2., 5., 3., 6.]);
///
/// let other = TensorLayout::row_major(&[3, 2]).unwrap();
/// let mut dst = ViewMut::new(&mut out, &other).unwrap();
/// assert!(relayout(&src, &mut dst).unwrap_err().is_mismatch());
/// ```
pub fn relayout<T: Pod>(src: &View<'_, T>, dst: &mut ViewMut<'_, T>) -> Result<(), Error> {
    if src.extents() != dst.extents() {
        return Err(Error::mismatch(format!(
            "a source of {:?} against a destination of {:?}; both must have the same logical extents",
            src.extents(),
            dst.extents()
        )));
    }
    let bits = u32::try_from(size_of::<T>()).ok().and_then(|bytes| bytes.checked_mul(8));
    match bits {
        Some(bits @ 8..=2048) if src.is_whole() && dst.is_whole() => {
            let plan = Plan::new(src.layout(), dst.layout(), Elements::same(bits), 0)?;
            plan.run(bytemuck::cast_slice(src.data()), bytemuck::cast_slice_mut(dst.data_mut()), 0)
        }
        _ => {
            one_by_one(src, dst);
            Ok(())
        }
    }
}

fn one_by_one<T: Pod>(src: &View<'_, T>, dst: &mut ViewMut<'_, T>) {
    for (coord, element) in src.iter() {
        if let Some(place) = dst.get_mut(coord.as_slice()) {
            *place = *element;
        }
    }
}
