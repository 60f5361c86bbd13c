//! Coordinates in any spelling: `crd2idx`, `idx2crd`, `crd2crd`, `crd2offset`.
//!
//! A coordinate of a shape is a tuple that is weakly congruent to it. An integer in place of a nested part is unpacked
//! colexicographically (the first leaf fastest). `16`, `(1,5)` and `(1,(1,2))` are therefore one coordinate of `(3,(2,3))`.
//!
//! Laws: `crd2idx(idx2crd(i)) = i`; `crd2offset(c, L.shape, L.stride) = L(c)` for every spelling of c. Defined inside the
//! shape; outside, the result is an error, never the answer for another coordinate.

use crate::{
    Error, IntTuple, Layout, MAX_MODES,
    algebra::nested::walk::{Builder, ProfileNode, ProfileWalk},
    const_fn::tri,
};

/// Returns the coordinate leaf by leaf.
pub(crate) const fn digits(coord: &IntTuple, shape: &IntTuple) -> Result<[u64; MAX_MODES], Error> {
    let mut digits = [0; MAX_MODES];
    let (mut c, mut s) = (ProfileWalk::new(coord.profile()), ProfileWalk::new(shape.profile()));
    while !c.end() {
        let fits = if c.open() {
            s.open()
        } else if c.close() {
            s.close()
        } else {
            match (c.leaf(), s.node()) {
                (Some(leaf), Some((from, to))) => {
                    tri!(unpack(coord.values()[leaf], shape, from, to, &mut digits));
                    true
                }
                _ => false,
            }
        };
        if !fits {
            return Err(unlike(coord, shape));
        }
    }
    if s.end() { Ok(digits) } else { Err(unlike(coord, shape)) }
}

pub(crate) const fn unlike(coord: &IntTuple, shape: &IntTuple) -> Error {
    Error::mismatch(
        "a coordinate of rank {} and depth {} in a shape of rank {} and depth {}",
        [coord.rank() as i128, coord.depth() as i128, shape.rank() as i128, shape.depth() as i128],
        "bracket a coordinate like its shape; an integer may replace a part",
    )
}

/// Unpacks `x` into the leaves `from..to`, the first fastest.
pub(crate) const fn unpack(
    x: i64,
    shape: &IntTuple,
    from: usize,
    to: usize,
    digits: &mut [u64; MAX_MODES],
) -> Result<(), Error> {
    let (mut rest, mut i, mut empty) = (x, from, x < 0);
    while i < to && !empty {
        let extent = shape.values()[i];
        if extent < 1 {
            empty = true;
        } else {
            digits[i] = (rest % extent) as u64;
            rest /= extent;
        }
        i += 1;
    }
    if empty || rest != 0 {
        return Err(beyond(x, shape, from, to));
    }
    Ok(())
}

/// The error that `x` is not a coordinate of the leaves `from..to`.
const fn beyond(x: i64, shape: &IntTuple, from: usize, to: usize) -> Error {
    let size = match shape.product_of(from, to) {
        Ok(size) => size as i128,
        Err(_) => i64::MAX as i128,
    };
    Error::out_of_range(
        "coordinate {} at leaf {} of a shape; the size there is {}",
        [x as i128, from as i128, size],
        "coordinates run from 0 to the size less one",
    )
}

/// Returns Σ digit·stride.
const fn dot(digits: &[u64; MAX_MODES], strides: &[i64]) -> Result<i64, Error> {
    let (mut sum, mut i) = (0i128, 0);
    while i < strides.len() {
        // Digits of a coordinate are below 2^63, so 32 products stay far below 2^127.
        sum += digits[i] as i128 * strides[i] as i128;
        i += 1;
    }
    if sum > i64::MAX as i128 || sum < i64::MIN as i128 {
        return Err(Error::overflow("offset {}", [sum], "offsets must fit 64 bits"));
    }
    Ok(sum as i64)
}

impl IntTuple {
    /// Returns the index of a coordinate of this shape. The first leaf counts by 1, each further one by the product of
    /// the leaves before it.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the brackets do not fit; [out of range](Error::is_out_of_range)
    /// outside the shape.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let shape = tuple("(3,(2,3))");
    /// assert_eq!(shape.crd2idx(&tuple("(1,5)")), Ok(16));
    /// assert!(shape.crd2idx(&tuple("(3,0)")).unwrap_err().is_out_of_range());
    /// ```
    pub const fn crd2idx(&self, coord: &IntTuple) -> Result<i64, Error> {
        let strides = tri!(self.compact_col_major());
        dot(&tri!(digits(coord, self)), strides.values())
    }

    /// Returns the coordinate with this index, with the brackets of this shape.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) unless `0 ≤ index < size`.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let shape = IntTuple::parse("(3,(2,3))").unwrap();
    /// assert_eq!(shape.idx2crd(16).unwrap().to_string(), "(1,(1,2))");
    /// assert!(shape.idx2crd(18).unwrap_err().is_out_of_range());
    /// ```
    pub const fn idx2crd(&self, index: i64) -> Result<IntTuple, Error> {
        let digits = tri!(digits(&IntTuple::integer(index), self));
        let (mut values, mut i) = ([0; MAX_MODES], 0);
        while i < self.values().len() {
            values[i] = digits[i] as i64;
            i += 1;
        }
        IntTuple::new(values.split_at(i).0, self.profile())
    }

    /// Converts a coordinate of this shape to one of `to`. If both shapes and the coordinate are tuples, each part is
    /// converted on its own, as in CuTe. Otherwise the index is kept: [`IntTuple::crd2idx`], then [`IntTuple::idx2crd`].
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for tuples of different ranks; otherwise those of [`IntTuple::crd2idx`] and
    /// [`IntTuple::idx2crd`].
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let other = tuple("(4,8)").crd2crd(&tuple("(3,5)"), &tuple("((2,2),8)")).unwrap();
    /// assert_eq!(other.to_string(), "((1,1),5)");
    /// let whole = tuple("(3,(2,3))").crd2crd(&tuple("16"), &tuple("(9,2)")).unwrap();
    /// assert_eq!(whole.to_string(), "(7,1)");
    /// // Part 1 has index 5, and `to` has 2 coordinates there.
    /// assert!(tuple("(3,(2,3))").crd2crd(&tuple("(1,(1,2))"), &tuple("(9,2)")).is_err());
    /// ```
    pub const fn crd2crd(&self, coord: &IntTuple, to: &IntTuple) -> Result<IntTuple, Error> {
        if self.depth() == 0 || coord.depth() == 0 || to.depth() == 0 {
            return to.idx2crd(tri!(self.crd2idx(coord)));
        }
        if coord.rank() != self.rank() || to.rank() != self.rank() {
            return Err(Error::mismatch(
                "a coordinate of rank {} of a shape of rank {}, for one of rank {}",
                [coord.rank() as i128, self.rank() as i128, to.rank() as i128],
                "tuples convert part by part and need equal ranks; an index converts between any shapes",
            ));
        }
        let (mut builder, mut i) = (Builder::new(), 0);
        builder.open();
        while i < self.rank() {
            let (from, to) = (tri!(self.get(&[i])), tri!(to.get(&[i])));
            let part = tri!(from.crd2crd(&tri!(coord.get(&[i])), &to));
            tri!(part.put(&mut builder, ProfileNode::root(part.profile())));
            i += 1;
        }
        tri!(builder.close());
        IntTuple::built(&builder)
    }

    /// Returns Σ coordinate·stride over the leaves of `shape`, in elements, for a coordinate of any rank and nesting:
    /// TLA's `crd2offset`.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if `shape` and `stride` have different brackets or the coordinate does not fit;
    /// [out of range](Error::is_out_of_range) outside the shape; [overflow](Error::is_overflow) beyond 64 bits.
    ///
    /// ```
    /// use tilewright_core::IntTuple;
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let (shape, stride) = (tuple("((4,2),(4,3))"), tuple("((4,16),(1,32))"));
    /// assert_eq!(IntTuple::crd2offset(&tuple("(1,5)"), &shape, &stride), Ok(37));
    /// assert_eq!(IntTuple::crd2offset(&tuple("((3,1),(2,2))"), &shape, &stride), Ok(94));
    /// assert!(IntTuple::crd2offset(&tuple("(8,0)"), &shape, &stride).unwrap_err().is_out_of_range());
    /// ```
    pub const fn crd2offset(
        coord: &IntTuple,
        shape: &IntTuple,
        stride: &IntTuple,
    ) -> Result<i64, Error> {
        if !shape.congruent(stride) {
            return Err(Error::mismatch(
                "a shape of {} leaves with strides of {}, or bracketed unlike them",
                [shape.values().len() as i128, stride.values().len() as i128],
                "shape and stride have the same brackets",
            ));
        }
        dot(&tri!(digits(coord, shape)), stride.values())
    }
}

impl Layout {
    /// Returns the offset of a coordinate in any spelling, in elements: an integer, a tuple with the layout's brackets,
    /// or a mixture of both.
    ///
    /// Source: CUTLASS `include/cute/stride.hpp`.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the brackets do not fit; [out of range](Error::is_out_of_range)
    /// outside the layout.
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let layout = Layout::parse("(3,(2,3)):(3,(12,1))").unwrap();
    /// for coord in ["16", "(1,5)", "(1,(1,2))"] {
    ///     assert_eq!(layout.crd2idx(&IntTuple::parse(coord).unwrap()), Ok(17));
    /// }
    /// assert!(layout.crd2idx(&IntTuple::integer(18)).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "crd2offset")]
    pub const fn crd2idx(&self, coord: &IntTuple) -> Result<i64, Error> {
        let digits = tri!(digits(coord, &self.shape()));
        Ok(self.swizzled(tri!(self.affine(&digits))))
    }

    /// Returns the affine offset (before the swizzle) of a coordinate inside the layout.
    pub(crate) const fn affine(&self, digits: &[u64; MAX_MODES]) -> Result<i64, Error> {
        let sum = tri!(dot(digits, self.stride().values()));
        // Inside the domain, I2 bounds the sum.
        Ok(sum + self.offset())
    }
}

impl Layout {
    /// Returns the range `from..to` of modes that an integer of a coordinate addresses. `leaf` counts the integers of
    /// the coordinate from the left; `None` after the last one.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the coordinate's brackets do not fit the layout's.
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// let coord = IntTuple::parse("((0,1),5)").unwrap();
    /// assert_eq!(layout.modes_under(&coord, 1), Ok(Some((1, 2))));
    /// assert_eq!(layout.modes_under(&coord, 2), Ok(Some((2, 4))));
    /// assert_eq!(layout.modes_under(&coord, 3), Ok(None));
    /// let other = IntTuple::parse("(0,1,2)").unwrap();
    /// assert!(layout.modes_under(&other, 0).unwrap_err().is_mismatch());
    /// ```
    pub const fn modes_under(
        &self,
        coord: &IntTuple,
        leaf: usize,
    ) -> Result<Option<(usize, usize)>, Error> {
        let (mut c, mut l) = (ProfileWalk::new(coord.profile()), ProfileWalk::new(self.profile()));
        let mut found = None;
        while !c.end() {
            let fits = if c.open() {
                l.open()
            } else if c.close() {
                l.close()
            } else {
                let (at, node) = (c.leaf(), l.node());
                if let Some(at) = at
                    && at == leaf
                {
                    found = node;
                }
                node.is_some()
            };
            if !fits {
                return Err(unlike(coord, &self.shape()));
            }
        }
        if l.end() { Ok(found) } else { Err(unlike(coord, &self.shape())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::vec::Vec;

    #[test]
    fn every_spelling_of_every_coordinate() {
        for_each_layout(3, 1..=3, -1..=4, |flat| {
            if flat.rank() < 3 {
                return;
            }
            let layout = Layout::nested(flat.modes(), &[1, 2]).unwrap();
            let (shape, stride) = (layout.shape(), layout.stride());
            for (index, offset) in image(&layout).into_iter().enumerate() {
                let natural = shape.idx2crd(index as i64).unwrap();
                let outer = shape.product_each().unwrap().idx2crd(index as i64).unwrap();
                for coord in [IntTuple::integer(index as i64), natural, outer] {
                    assert_eq!(shape.crd2idx(&coord), Ok(index as i64));
                    assert_eq!(layout.crd2idx(&coord), Ok(offset), "{layout} {coord}");
                    assert_eq!(IntTuple::crd2offset(&coord, &shape, &stride), Ok(offset));
                }
            }
            assert!(layout.crd2idx(&IntTuple::integer(layout.size() as i64)).is_err());
            assert!(layout.crd2idx(&IntTuple::integer(-1)).is_err());
        });
        let refused = |coord| {
            let layout = Layout::parse("((2,2),3):((1,2),4)").unwrap();
            std::string::ToString::to_string(
                &layout.crd2idx(&IntTuple::parse(coord).unwrap()).unwrap_err(),
            )
        };
        assert!(
            refused("(0,3)").starts_with("coordinate 3 at leaf 2 of a shape; the size there is 3;")
        );
        assert!(
            refused("(4,0)").starts_with("coordinate 4 at leaf 0 of a shape; the size there is 4;")
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let tuple = |text| IntTuple::parse(text).unwrap();
        let shape = tuple("(3,(2,3))");
        let refused: Vec<bool> =
            ["(1)", "(1,2,0)", "((1),2)", "(1,(1,(1)))", "(1,(1,1,1))", "()", "((1,2))"]
                .iter()
                .map(|text| shape.crd2idx(&tuple(text)).unwrap_err().is_mismatch())
                .collect();
        assert_eq!(refused, [true; 7]);
        for text in ["(3,0)", "(0,6)", "(-1,0)", "(0,(2,0))", "18"] {
            assert!(shape.crd2idx(&tuple(text)).unwrap_err().is_out_of_range(), "{text}");
        }
        assert_eq!(tuple("()").crd2idx(&tuple("()")), Ok(0));
        assert!(tuple("(0,4)").idx2crd(0).unwrap_err().is_out_of_range());
        assert!(tuple("(-2,4)").idx2crd(0).is_err());
    }
}
