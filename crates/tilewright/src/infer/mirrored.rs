//! Dims that are stored in reverse order, whole or by halves: `swap_w13_to_w31` exchanges the halves of gate and up.
//!
//! Law: let some axes of an array be counted from their ends, and let L be the layout that is found for this mirrored array. With
//! the strides of these axes negated and the offset of their last elements added, L is the layout of the array itself.

use tilewright_core::{Layout, Mode, Profile, TensorLayout};

/// The largest number of dims of which all sets are tried in reverse order.
const DIMS: usize = 5;

/// Axes that are counted from their ends.
pub(super) struct Mirror {
    /// The extents of the array; a dim that is cut into halves is two axes.
    pub(super) dims: Vec<u64>,
    /// For each axis, true if it is counted from its end.
    back: Vec<bool>,
    /// The dim that is cut into halves.
    cut: Option<usize>,
}

/// Returns the mirrored arrays to try: each set of whole dims, then the halves of each dim.
pub(super) fn mirrors(dims: &[u64]) -> Vec<Mirror> {
    let some: Vec<usize> = (0..dims.len()).filter(|&dim| dims[dim] > 1).take(DIMS).collect();
    let mut all = Vec::new();
    for set in 1..1u32 << some.len() {
        let mut back = vec![false; dims.len()];
        for (at, dim) in some.iter().enumerate() {
            back[*dim] = set >> at & 1 != 0;
        }
        all.push(Mirror { dims: dims.to_vec(), back, cut: None });
    }
    for (dim, &extent) in dims.iter().enumerate() {
        if extent > 2 && extent.is_multiple_of(2) {
            let mut cut = dims.to_vec();
            cut[dim] = extent / 2;
            cut.insert(dim, 2);
            let mut back = vec![false; cut.len()];
            back[dim] = true;
            all.push(Mirror { dims: cut, back, cut: Some(dim) });
        }
    }
    all
}

impl Mirror {
    /// Returns the element of the array at an index of the mirrored array, both row-major.
    pub(super) fn index(&self, mut index: usize) -> usize {
        let (mut at, mut stride) = (0, 1);
        for (&extent, back) in self.dims.iter().zip(&self.back).rev() {
            let extent = extent as usize;
            let x = index % extent;
            at += stride * if *back { extent - 1 - x } else { x };
            (index, stride) = (index / extent, stride * extent);
        }
        at
    }

    /// Returns the layout of the array `dims`, from that of the mirrored array; `None` if a mirrored axis is padded.
    pub(super) fn layout(&self, found: &TensorLayout, dims: &[u64]) -> Option<TensorLayout> {
        let bare = found.layout();
        let (mut modes, mut counts, mut offset) = (Vec::new(), Vec::new(), bare.offset());
        for place in 0..self.dims.len() {
            // Of a dim that is cut, the fastest digits come first.
            let axis = match self.cut {
                Some(dim) if place == dim => dim + 1,
                Some(dim) if place == dim + 1 => dim,
                _ => place,
            };
            let own = bare.axis(axis)?;
            if self.back[axis] && bare.axis_size(axis) != Some(self.dims[axis]) {
                return None;
            }
            for mode in own {
                if self.back[axis] {
                    let last = i64::try_from(mode.extent().checked_sub(1)?).ok()?;
                    offset = offset.checked_add(last.checked_mul(mode.stride())?)?;
                    modes.push(Mode::new(mode.extent(), mode.stride().checked_neg()?));
                } else {
                    modes.push(*mode);
                }
            }
            match counts.last_mut() {
                Some(count) if self.cut.is_some_and(|dim| place == dim + 1) => *count += own.len(),
                _ => counts.push(own.len()),
            }
        }
        let profile = Profile::nested(&counts).ok()?;
        let layout = Layout::new(&modes, &profile, offset, bare.swizzle()).ok()?;
        TensorLayout::new(dims, &layout, found.capacity()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every mirror of small arrays, the layout found for the mirrored array sends the same elements to the same places.
    #[test]
    fn the_layout_of_a_mirrored_array_is_that_of_the_array() {
        let mut checked = 0;
        for dims in [&[4u64][..], &[2, 3], &[6, 2], &[2, 4, 3], &[1, 5]] {
            for mirror in mirrors(dims) {
                let mirrored = TensorLayout::row_major(&mirror.dims).unwrap();
                let own = mirror.layout(&mirrored, dims).unwrap();
                for index in 0..mirrored.size() {
                    let element = mirror.index(index as usize) as u64;
                    assert_eq!(own.offset_of(element), mirrored.offset_of(index), "{dims:?}");
                    assert_eq!(mirror.index(element as usize) as u64, index);
                }
                checked += 1;
            }
        }
        assert_eq!(checked, 2 + 3 + 4 + 8 + 1);
        let padded = TensorLayout::of(&tilewright_core::layout!("(2,4):(4,1)"));
        let padded = TensorLayout::new(&[2, 3], padded.layout(), 8).unwrap();
        let of = |set: usize| mirrors(&[2, 3])[set].layout(&padded, &[2, 3]).is_some();
        assert!(of(0) && !of(1) && !of(2));
    }
}
