//! Checks a layout against the dims of an array, and every array of a shape: its type, dims, size and layout.
//!
//! Corresponds to XLA's `ValidateShape` and `ValidateLayoutInShape`, without their aborts.

use tilewright_core::Error as Refusal;

use crate::{
    ArrayShape, Dim, Error, Layout, PrimitiveType, Shape, ShapeIndex, ShapeKind, Split,
    shape::of_member,
};

impl Layout {
    /// Checks that arrays of these dims can have this layout: the rank fits, and splits are within their physical dims.
    ///
    /// # Errors
    /// [mismatch](Refusal::is_mismatch) for another rank; [overflow](Refusal::is_overflow) for a dim beyond 2⁶³ − 1;
    /// [illegal](Refusal::is_illegal) for a split of a dim that does not exist or is already split, or whose indices do not
    /// ascend from at least 1 to below the extent.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{0,1,2:SC(0:30)(1:40,130)}").unwrap();
    /// assert_eq!(layout.validate(&[150, 200, 100]), Ok(()));
    /// assert!(layout.validate(&[2, 3]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "ValidateLayoutForShape")]
    pub fn validate(&self, dims: &[u64]) -> Result<(), Refusal> {
        if self.rank() != dims.len() {
            return Err(Refusal::mismatch(
                "layout minor_to_major field contains {} elements, but shape has {} dimensions",
                [self.rank() as i128, dims.len() as i128],
                "the order names each dim once",
            ));
        }
        if let Some(dim) = dims.iter().position(|&extent| extent > i64::MAX as u64) {
            return Err(Refusal::overflow(
                "dim {} of extent {}",
                [dim as i128, dims[dim].into()],
                "an extent is at most 2^63 - 1",
            ));
        }
        let physical = self.physical(dims);
        let mut seen = vec![false; physical.len()];
        for split in self.splits() {
            let dim = check_split(split, &physical)?;
            if seen.get(dim) == Some(&true) {
                return Err(Refusal::illegal(
                    "physical dim {} is split twice",
                    [split.dimension.into()],
                    "list all of a dim's split indices in one group",
                ));
            }
            if let Some(seen) = seen.get_mut(dim) {
                *seen = true;
            }
        }
        Ok(())
    }

    /// Returns the extents in physical order, the most major first. The rank must fit.
    pub(crate) fn physical(&self, dims: &[u64]) -> Vec<u64> {
        let extent = |&dim: &u64| usize::try_from(dim).ok().and_then(|dim| dims.get(dim)).copied();
        self.minor_to_major().iter().rev().filter_map(extent).collect()
    }
}

/// Returns the physical dim of a split; checks its indices.
fn check_split(split: &Split, physical: &[u64]) -> Result<usize, Refusal> {
    let dim = usize::try_from(split.dimension).unwrap_or(usize::MAX);
    let Some(&extent) = physical.get(dim) else {
        return Err(Refusal::illegal(
            "a split of physical dim {} of {}",
            [split.dimension.into(), physical.len() as i128],
            "physical dims count from 0, the most major",
        ));
    };
    if split.indices.is_empty() {
        return Err(Refusal::illegal(
            "a split of physical dim {} at no index",
            [split.dimension.into()],
            "give the indices at which a new piece begins",
        ));
    }
    let mut last = 0;
    for &index in &split.indices {
        if index <= last || index >= extent {
            return Err(Refusal::illegal(
                "split index {} after {} in physical dim {} of extent {}",
                [index.into(), last.into(), split.dimension.into(), extent.into()],
                "split indices must ascend, above 0 and below the extent",
            ));
        }
        last = index;
    }
    Ok(dim)
}

impl ArrayShape {
    /// Checks that such an array can exist: its type has values, each dim and the bytes of all elements are below 2⁶³, and
    /// the layout, if there is one, fits ([`crate::Layout::validate`]). Unbounded dims count as 1.
    ///
    /// # Errors
    /// [illegal](Refusal::is_illegal) for a type without values; [overflow](Refusal::is_overflow) for a dim or a size; those
    /// of [`crate::Layout::validate`] for the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// assert_eq!(ArrayShape::parse("f32[2,?]{0,1}").unwrap().validate(), Ok(()));
    /// let huge = ArrayShape::parse("f32[4611686018427387904,8]").unwrap();
    /// assert!(huge.validate().unwrap_err().is_overflow());
    /// ```
    pub fn validate(&self) -> Result<(), Refusal> {
        let bytes = element_bytes(self.element_type)?;
        check_size(&self.dims, bytes)?;
        match &self.layout {
            Some(layout) => layout.validate(&self.largest_extents()),
            None => Ok(()),
        }
    }

    /// Returns the extents, with the largest possible one for an unbounded dim.
    fn largest_extents(&self) -> Vec<u64> {
        let extent = |dim: &Dim| match *dim {
            Dim::Static(extent) | Dim::Bounded(extent) => extent,
            Dim::Unbounded => i64::MAX as u64,
        };
        self.dims.iter().map(extent).collect()
    }
}

fn element_bytes(element_type: PrimitiveType) -> Result<u64, Refusal> {
    let bits = element_type.storage_bits().ok_or_else(|| {
        Refusal::illegal(
            "arrays do not hold elements of type number {}",
            [element_type.number().into()],
            "tuples, tokens, opaque values and buffers are not elements",
        )
    })?;
    Ok(u64::from(bits.div_ceil(8)))
}

/// Checks each dim, and the total bytes of the elements.
fn check_size(dims: &[Dim], element_bytes: u64) -> Result<(), Refusal> {
    let (mut bytes, limit) = (u128::from(element_bytes), i64::MAX as u128);
    for (at, dim) in dims.iter().enumerate() {
        let (Dim::Static(extent) | Dim::Bounded(extent)) = *dim else { continue };
        if u128::from(extent) > limit {
            return Err(Refusal::overflow(
                "dim {} of extent {}",
                [at as i128, extent.into()],
                "an extent is at most 2^63 - 1",
            ));
        }
        bytes = (bytes * u128::from(extent)).min(limit + 1);
    }
    let empty = dims.iter().any(|dim| matches!(dim, Dim::Static(0) | Dim::Bounded(0)));
    if bytes > limit && !empty {
        return Err(Refusal::overflow(
            "the elements of {} dims take more than 2^63 - 1 bytes",
            [dims.len() as i128],
            "an array has at most 2^63 - 1 bytes",
        ));
    }
    Ok(())
}

impl Shape {
    /// Checks every array by [`ArrayShape::validate`]. A layout may be absent.
    ///
    /// # Errors
    /// The first invalid array, with its path.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Shape};
    /// let mut shape = Shape::parse("(token[], f32[9])").unwrap();
    /// assert_eq!(shape.validate(), Ok(()));
    /// shape.array_at_mut(&[1]).unwrap().set_layout(Some(Layout::ascending(3)));
    /// let error = shape.validate().unwrap_err();
    /// assert!(error.to_string().contains("contains 3 elements, but shape has 1 dimensions"));
    /// ```
    #[doc(alias = "ValidateShape")]
    #[doc(alias = "ValidateShapeWithOptionalLayout")]
    pub fn validate(&self) -> Result<(), Error> {
        validate(self, &ShapeIndex::default(), false)
    }

    /// Checks like [`Shape::validate`], and that every array has a layout.
    ///
    /// # Errors
    /// The first array that is invalid or lacks a layout, with its path.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = |text: &str| Shape::parse(text).unwrap();
    /// assert_eq!(shape("(f32[2]{0}, token[])").validate_with_layouts(), Ok(()));
    /// let error = shape("(f32[2]{0}, f32[3])").validate_with_layouts().unwrap_err();
    /// assert_eq!((error.case(), error.name()), ("missing-layout", Some("{1}")));
    /// ```
    #[doc(alias = "ValidateLayoutInShape")]
    pub fn validate_with_layouts(&self) -> Result<(), Error> {
        validate(self, &ShapeIndex::default(), true)
    }
}

fn validate(shape: &Shape, index: &ShapeIndex, strict: bool) -> Result<(), Error> {
    match shape.kind() {
        ShapeKind::Array(array) | ShapeKind::Buffer(array) => {
            let refused = |cause| Err(of_member(index, array, cause));
            match array.validate() {
                Err(cause) => refused(Some(cause)),
                Ok(()) if strict && array.layout.is_none() => refused(None),
                Ok(()) => Ok(()),
            }
        }
        ShapeKind::Tuple(shapes) => {
            let mut members = (0u64..).zip(shapes);
            members.try_for_each(|(at, member)| validate(member, &index.child(at), strict))
        }
        ShapeKind::Token | ShapeKind::Opaque => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Layout, Split};

    #[test]
    fn splits_that_do_not_fit_are_refused() {
        let dims = [150, 200, 100];
        let check =
            |splits: &str| Layout::parse(&format!("{{0,1,2:SC{splits}}}")).unwrap().validate(&dims);
        for (splits, why) in [
            ("(3:30)", "physical dim 3 of 3"),
            ("(0:30)(0:40)", "split twice"),
            ("(1:40,30)", "index 30 after 40"),
            ("(1:0,40)", "index 0 after 0"),
            ("(1:40,200)", "index 200 after 40 in physical dim 1 of extent 200"),
        ] {
            let error = check(splits).unwrap_err();
            assert!(error.is_illegal() && error.to_string().contains(why), "{splits}: {error}");
        }
        assert_eq!(check("(0:30)(1:40,130)"), Ok(()));
    }

    #[test]
    fn a_split_at_no_index_is_refused() {
        let split = Split { dimension: 0, indices: vec![] };
        let error = Layout::ascending(1).with_splits(&[split]).validate(&[5]).unwrap_err();
        assert!(error.is_illegal() && error.to_string().contains("dim 0 at no index"));
    }

    #[test]
    fn another_rank_is_said_with_both_numbers() {
        let error = Layout::ascending(3).validate(&[2, 3]).unwrap_err();
        assert!(error.is_mismatch());
        assert!(error.to_string().contains("3 elements, but shape has 2 dimensions"));
        assert!(Layout::ascending(1).validate(&[u64::MAX]).unwrap_err().is_overflow());
    }
}
