//! Properties of a tensor layout as a whole, over its logical coordinates.
//!
//! Laws (checked against brute force below): `injective` means that no two elements share an offset. `contiguous_run` is
//! the number of consecutive offsets, from the first element's on, that hold elements, if the strides of each axis ascend.

use crate::{
    Error, MAX_MODES, Mode, TensorLayout,
    layout::observe::{Rest, SEARCH_BITS},
    macros::tri,
};

/// The digits of a layout, limited to the range that logical coordinates reach.
struct Clipped {
    modes: [Mode; MAX_MODES],
    len: usize,
    /// Set if every combination of digits is a logical coordinate.
    exact: bool,
}

impl Clipped {
    const fn of(tensor: &TensorLayout) -> Clipped {
        let working = tensor.working_extents();
        let mut clipped =
            Clipped { modes: [Mode::new(1, 0); MAX_MODES], len: 0, exact: tensor.is_strided() };
        let mut axis = 0;
        while let Some(modes) = tensor.layout().axis(axis) {
            let (mut left, mut i) = (working.axes[axis], 0);
            while i < modes.len() {
                let extent = modes[i].extent();
                let reached = if left < extent { left } else { extent };
                // A digit that is cut short, or wraps unevenly, omits some combinations.
                clipped.exact &= left <= extent || left % extent == 0;
                clipped.modes[clipped.len] = Mode::new(reached, modes[i].stride());
                clipped.len += 1;
                left = left.div_ceil(extent);
                i += 1;
            }
            axis += 1;
        }
        clipped
    }
}

impl TensorLayout {
    /// Returns whether no two logical elements share an offset.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) if neither the structure of the digits nor an enumeration of up to
    /// [`SEARCH_BITS`] elements and offsets decides.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let broadcast = TensorLayout::of(&Layout::parse("(4,3):(1,0)").unwrap());
    /// assert_eq!(broadcast.injective(), Ok(false));
    /// // The padded domain overlaps, the two logical elements do not.
    /// let ragged = TensorLayout::new(&[2], &Layout::parse("((2,2)):((1,1))").unwrap(), 3).unwrap();
    /// assert_eq!(ragged.injective(), Ok(true));
    /// ```
    pub const fn injective(&self) -> Result<bool, Error> {
        if self.size() < 2 {
            return Ok(true);
        }
        let clipped = Clipped::of(self);
        let answer = Rest::of(clipped.modes.split_at(clipped.len).0).injective();
        match answer {
            Ok(true) => answer,
            Ok(false) if clipped.exact => answer,
            _ => self.injective_by_enumeration(),
        }
    }

    const fn injective_by_enumeration(&self) -> Result<bool, Error> {
        let (low, high) = match self.layout().bounds() {
            Some(bounds) => bounds,
            None => return Ok(true),
        };
        let span = high as i128 - low as i128 + 1;
        if span > SEARCH_BITS as i128 || self.size() > SEARCH_BITS as u64 {
            return Err(Error::undecided(
                "interleaved strides over {} elements and {} offsets; the exact search covers {} of either",
                [self.size() as i128, span, SEARCH_BITS as i128],
                "make each stride a multiple of the extent it strides over",
            ));
        }
        let (mut seen, mut index) = ([0u64; SEARCH_BITS / 64], 0);
        while index < self.size() {
            let at = (tri!(self.offset_of(index)) - low) as usize;
            if seen[at / 64] >> (at % 64) & 1 == 1 {
                return Ok(false);
            }
            seen[at / 64] |= 1 << (at % 64);
            index += 1;
        }
        Ok(true)
    }

    /// Returns the number of consecutive offsets, from that of the first element on, that hold elements; 0 for an empty
    /// array. For a layout with steps or a swizzle, or with an axis whose strides do not ascend from 0, returns the longest run
    /// of stride 1 along one logical dim instead.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// assert_eq!(TensorLayout::row_major(&[3, 5]).unwrap().contiguous_run(), 15);
    /// // Tiles of 2×2 over 3×5: the third tile has one column.
    /// let tiled = Layout::parse("((2,2),(2,3)):((2,12),(1,4))").unwrap();
    /// assert_eq!(TensorLayout::new(&[3, 5], &tiled, 24).unwrap().contiguous_run(), 9);
    /// ```
    pub const fn contiguous_run(&self) -> u64 {
        if self.size() == 0 {
            return 0;
        }
        if self.contiguous_run_is_exact() { run_of(self) } else { self.run_along_a_dim() }
    }

    /// Returns whether [`TensorLayout::contiguous_run`] is the whole run, and not only the part of it along one logical
    /// dim.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let exact = |text| TensorLayout::of(&Layout::parse(text).unwrap()).contiguous_run_is_exact();
    /// assert!(exact("(3,4):(4,1)"));
    /// // Offsets 0 2 1 3 along one dim: the run is 4, and a walk along the dim finds 1.
    /// assert!(!exact("((2,2)):((2,1))"));
    /// ```
    pub const fn contiguous_run_is_exact(&self) -> bool {
        self.size() == 0
            || (self.is_strided() && self.layout().swizzle().is_identity() && ascends(self))
    }

    const fn run_along_a_dim(&self) -> u64 {
        let origin = crate::Coord::origin(self.rank());
        let (mut longest, mut dim) = (1, 0);
        while dim < self.rank() {
            if let Ok(run) = self.run(origin.as_slice(), dim)
                && run.stride == 1
                && run.len > longest
            {
                longest = run.len;
            }
            dim += 1;
        }
        longest
    }
}

/// Returns whether the strides of every axis are positive or zero and grow from digit to digit.
const fn ascends(tensor: &TensorLayout) -> bool {
    let mut axis = 0;
    while let Some(modes) = tensor.layout().axis(axis) {
        let (mut least, mut i) = (0, 0);
        while i < modes.len() {
            if modes[i].extent() > 1 {
                if modes[i].stride() < least {
                    return false;
                }
                least = modes[i].stride();
            }
            i += 1;
        }
        axis += 1;
    }
    true
}

/// Follows the digits whose strides chain (1, e₀, e₀e₁, …) as far as they are full. At the first that is cut short,
/// the run continues inside its last step with the remaining part of the axis.
const fn run_of(tensor: &TensorLayout) -> u64 {
    let rank = tensor.rank();
    let (mut left, mut total, mut ceiling, mut axis) = ([0u64; MAX_MODES], 0u64, i64::MAX, 0);
    while axis < rank {
        left[axis] = tensor.extents()[axis];
        axis += 1;
    }
    'restart: loop {
        let mut run = 1u64;
        loop {
            let Some((axis, below, extent)) = digit_of_stride(tensor, run, ceiling) else {
                return total + run;
            };
            let have = left[axis].div_ceil(below);
            if have >= extent && left[axis] >= below * extent {
                run *= extent;
                continue;
            }
            // `have` steps, the last of them with `left mod below` of the digits below.
            let rest = left[axis] % below;
            if rest == 0 {
                return total + run * have;
            }
            total += run * (have - 1);
            left[axis] = rest;
            ceiling = run as i64;
            continue 'restart;
        }
    }
}

/// Returns the digit of extent > 1 with this stride, if that is below the ceiling: its axis, the cut at which it
/// begins, and its extent.
const fn digit_of_stride(
    tensor: &TensorLayout,
    stride: u64,
    ceiling: i64,
) -> Option<(usize, u64, u64)> {
    let mut axis = 0;
    while let Some(modes) = tensor.layout().axis(axis) {
        let (mut below, mut i) = (1, 0);
        while i < modes.len() {
            let (extent, own) = (modes[i].extent(), modes[i].stride());
            if extent > 1 && own as u64 == stride && own < ceiling {
                return Some((axis, below, extent));
            }
            below *= extent;
            i += 1;
        }
        axis += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;
    use crate::{Digit, Layout, Pattern, Profile, Swizzle};
    use std::{collections::BTreeSet, vec::Vec};

    fn offsets(tensor: &TensorLayout) -> Vec<i64> {
        (0..tensor.size()).map(|i| tensor.offset_of(i).unwrap()).collect()
    }

    fn check(tensor: &TensorLayout) {
        let table = offsets(tensor);
        let set: BTreeSet<i64> = table.iter().copied().collect();
        assert_eq!(tensor.injective(), Ok(set.len() == table.len()), "{tensor:?}");
    }

    #[test]
    fn injective_over_ragged_extents_is_what_the_table_says() {
        for_each_layout(3, 1..=3, 0..=5, |flat| {
            if flat.rank() != 3 {
                return;
            }
            let profile = Profile::nested(&[2, 1]).unwrap();
            let layout = Layout::new(flat.modes(), &profile, 0, Swizzle::IDENTITY).unwrap();
            for a in 0..=layout.axis_size(0).unwrap() {
                for b in 0..=layout.axis_size(1).unwrap() {
                    check(&TensorLayout::new(&[a, b], &layout, layout.cosize() as u64).unwrap());
                }
            }
        });
    }

    #[test]
    fn contiguous_run_is_the_first_interval_of_the_image() {
        let orders =
            [[0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3], [3, 1, 0, 2], [0, 2, 3, 1], [2, 3, 0, 1]];
        let mut ascending = 0;
        let digits =
            [Digit::rest(0, 1), Digit::rest(1, 1), Digit::fixed(0, 0, 3), Digit::fixed(1, 0, 4)];
        for order in orders {
            let pattern = Pattern::new(2, &order.map(|i| digits[i])).unwrap();
            for m in 1..=9 {
                for n in 1..=13 {
                    let tensor = pattern.layout(&[m, n]).unwrap();
                    let set: BTreeSet<i64> = offsets(&tensor).into_iter().collect();
                    let run = (0..).take_while(|offset| set.contains(offset)).count();
                    if ascends(&tensor) {
                        assert_eq!(tensor.contiguous_run(), run as u64, "{tensor:?}");
                        ascending += 1;
                    } else {
                        assert!(tensor.contiguous_run() <= run as u64, "{tensor:?}");
                    }
                }
            }
        }
        assert!(ascending > 200, "{ascending}");
    }
}
