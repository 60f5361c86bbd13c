//! Iteration: over the indices of an array, or over a regular subset, in the order of its dims; and over trees of shapes, with
//! changes of tuples.

use std::ops::{ControlFlow, Range};

use tilewright_core::Error;

use crate::{
    ArrayShape, Shape, ShapeIndex, index_util,
    permutation::{self, index},
};

/// Calls `visit` with each index `base ≤ i < base + count`, in steps of `step`, the most minor dim fastest, until it
/// breaks. A count of 0 keeps a dim at its base; an empty array has no indices.
///
/// To run in parallel, split the most major dim and call this for each part.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for lists of another length than the dims; [illegal](Error::is_illegal) for an order
/// that is not a permutation, and for a step of 0 with a count above 0, with which XLA never ends;
/// [out of range](Error::is_out_of_range) for a range that leaves the array; [overflow](Error::is_overflow) beyond 2⁶³ − 1
/// elements.
///
/// ```
/// use std::ops::ControlFlow;
/// use tilewright_xla::shape_util::for_each_index;
/// let mut seen = Vec::new();
/// let done = for_each_index(&[2, 2], &[1, 0], &[1, 0], &[0, 2], &[0, 1], |index| {
///     seen.push(index.to_vec());
///     ControlFlow::<()>::Continue(())
/// });
/// assert_eq!(done, Ok(ControlFlow::Continue(())));
/// assert_eq!(seen, [[1, 0], [1, 1]]);
/// let stuck = for_each_index(&[2], &[0], &[0], &[2], &[0], |_| ControlFlow::<()>::Continue(()));
/// assert!(stuck.unwrap_err().is_illegal());
/// ```
#[doc(alias = "ForEachIndex")]
#[doc(alias = "ForEachIndexWithStatus")]
#[doc(alias = "ForEachIndexNoStatus")]
pub fn for_each_index<B>(
    dims: &[u64],
    minor_to_major: &[u64],
    base: &[u64],
    count: &[u64],
    step: &[u64],
    mut visit: impl FnMut(&[u64]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, Error> {
    permutation::check(minor_to_major, dims.len())?;
    let elements = index_util::count(dims)?;
    let ranges = ranges(dims, base, count, step)?;
    if elements == 0 {
        return Ok(ControlFlow::Continue(()));
    }
    let mut at = base.to_vec();
    loop {
        if let ControlFlow::Break(value) = visit(&at) {
            return Ok(ControlFlow::Break(value));
        }
        if !advance(&mut at, &ranges, minor_to_major) {
            return Ok(ControlFlow::Continue(()));
        }
    }
}

/// The indices of one dim.
struct IndexRange {
    base: u64,
    end: u64,
    step: u64,
}

/// Moves to the next index; returns `false` after the last.
fn advance(at: &mut [u64], ranges: &[IndexRange], minor_to_major: &[u64]) -> bool {
    for &dim in minor_to_major {
        let (Some(entry), Some(range)) = (at.get_mut(index(dim)), ranges.get(index(dim))) else {
            continue;
        };
        match entry.checked_add(range.step) {
            Some(next) if next < range.end => {
                *entry = next;
                return true;
            }
            _ => *entry = range.base,
        }
    }
    false
}

fn ranges(
    dims: &[u64],
    base: &[u64],
    count: &[u64],
    step: &[u64],
) -> Result<Vec<IndexRange>, Error> {
    if [base.len(), count.len(), step.len()] != [dims.len(); 3] {
        return Err(Error::mismatch(
            "{} bases, {} counts and {} steps for {} dims",
            [base.len() as i128, count.len() as i128, step.len() as i128, dims.len() as i128],
            "give one of each per dim",
        ));
    }
    let mut ranges = Vec::with_capacity(dims.len());
    for (at, (&dim, ((&base, &count), &step))) in
        dims.iter().zip(base.iter().zip(count).zip(step)).enumerate()
    {
        let end = base.checked_add(count).filter(|&end| end <= dim && base <= dim);
        let Some(end) = end else {
            return Err(Error::out_of_range(
                "dim {}: {} indices from {} in an extent of {}",
                [at as i128, count.into(), base.into(), dim.into()],
                "the range has to be within the array",
            ));
        };
        if count == 0 && base == dim && dim > 0 {
            return Err(Error::out_of_range(
                "dim {} kept at index {} of {}",
                [at as i128, base.into(), dim.into()],
                "indices count from 0",
            ));
        }
        if step == 0 && count > 0 {
            return Err(Error::illegal(
                "dim {}: {} indices in steps of 0",
                [at as i128, count.into()],
                "a step is 1 or more; a count of 0 keeps the dim at its base",
            ));
        }
        ranges.push(IndexRange { base, end, step });
    }
    Ok(ranges)
}

impl ArrayShape {
    /// Calls `visit` with every index, in the order of the layout's dims, the most minor fastest, until it breaks. With
    /// tiles this is not storage order; to iterate by offsets, use [`Indexer::locate`](index_util::Indexer).
    ///
    /// # Errors
    /// Those of [`for_each_index`] and [`ArrayShape::extents`].
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use tilewright_xla::ArrayShape;
    /// let mut seen = Vec::new();
    /// let shape = ArrayShape::parse("f32[2,2]{0,1}").unwrap();
    /// let done = shape.for_each_index(|index| {
    ///     seen.push(index.to_vec());
    ///     if seen.len() == 3 { ControlFlow::Break("three") } else { ControlFlow::Continue(()) }
    /// });
    /// assert_eq!(done, Ok(ControlFlow::Break("three")));
    /// assert_eq!(seen, [[0, 0], [1, 0], [0, 1]]);
    /// ```
    #[doc(alias = "ForEachIndex")]
    pub fn for_each_index<B>(
        &self,
        visit: impl FnMut(&[u64]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        let (dims, rank) = (self.extents()?, self.dims.len());
        let layout = self.checked_layout()?;
        for_each_index(&dims, layout.minor_to_major(), &vec![0; rank], &dims, &vec![1; rank], visit)
    }
}

impl Shape {
    /// Iterates over every shape inside this one, each with its path: itself first, then the members of tuples from left to
    /// right.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], (s8[], ()))").unwrap();
    /// let paths: Vec<String> = shape.subshapes().map(|(path, _)| path.to_string()).collect();
    /// assert_eq!(paths, ["{}", "{0}", "{1}", "{1,0}", "{1,1}"]);
    /// ```
    #[doc(alias = "ForEachSubshape")]
    #[doc(alias = "ForEachSubshapeWithStatus")]
    pub fn subshapes(&self) -> impl Iterator<Item = (ShapeIndex, &Shape)> {
        let mut open = vec![(ShapeIndex::default(), self)];
        std::iter::from_fn(move || {
            let (path, shape) = open.pop()?;
            let members = shape.tuple_shapes().unwrap_or(&[]).iter().enumerate().rev();
            open.extend(members.map(|(number, member)| (path.child(number as u64), member)));
            Some((path, shape))
        })
    }

    /// Returns the number of shapes inside this one, itself and tuples included.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let count = |text| Shape::parse(text).unwrap().subshape_count();
    /// assert_eq!((count("f32[2]"), count("()"), count("(f32[2], (s8[], ()))")), (1, 1, 5));
    /// ```
    #[doc(alias = "SubshapeCount")]
    pub fn subshape_count(&self) -> usize {
        self.tuple_shapes().unwrap_or(&[]).iter().map(Shape::subshape_count).sum::<usize>() + 1
    }

    /// Iterates like [`Shape::subshapes`], but each tuple comes after its members.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], (s8[]))").unwrap();
    /// let paths: Vec<String> = shape.subshapes_post_order().map(|(path, _)| path.to_string()).collect();
    /// assert_eq!(paths, ["{0}", "{1,0}", "{1}", "{}"]);
    /// ```
    #[doc(alias = "ForEachSubshapePostOrder")]
    pub fn subshapes_post_order(&self) -> impl Iterator<Item = (ShapeIndex, &Shape)> {
        let mut open = vec![(ShapeIndex::default(), self, false)];
        std::iter::from_fn(move || {
            loop {
                let (path, shape, entered) = open.pop()?;
                let members = shape.tuple_shapes().unwrap_or(&[]);
                if entered || members.is_empty() {
                    return Some((path, shape));
                }
                open.push((path.clone(), shape, true));
                let members = members.iter().enumerate().rev();
                open.extend(
                    members.map(|(number, member)| (path.child(number as u64), member, false)),
                );
            }
        })
    }

    /// Iterates over the shapes inside this one that are not tuples, each with its path. An array is its own leaf; the
    /// empty tuple has none.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], (s8[], ()))").unwrap();
    /// assert_eq!((shape.leaves().count(), shape.subshapes().count()), (2, 5));
    /// assert_eq!(Shape::nil().leaves().count(), 0);
    /// ```
    #[doc(alias = "GetLeafShapes")]
    #[doc(alias = "GetLeafCount")]
    #[doc(alias = "ForEachLeafShape")]
    pub fn leaves(&self) -> impl Iterator<Item = (ShapeIndex, &Shape)> {
        self.subshapes().filter(|(_, shape)| !shape.is_tuple())
    }

    /// Returns the leaves, from left to right.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], ((), s8[]))").unwrap();
    /// assert_eq!(Shape::tuple(shape.flatten()).unwrap().to_string(), "(f32[2], s8[])");
    /// ```
    #[doc(alias = "FlattenTupleShape")]
    pub fn flatten(&self) -> Vec<Shape> {
        self.leaves().map(|(_, shape)| shape.clone()).collect()
    }

    /// Returns whether a path leads to a shape.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], (s32[]))").unwrap();
    /// assert!(shape.index_is_valid(&[]) && shape.index_is_valid(&[1, 0]));
    /// // An array has no members.
    /// assert!(!shape.index_is_valid(&[0, 0]) && !shape.index_is_valid(&[2]));
    /// ```
    #[doc(alias = "IndexIsValid")]
    pub fn index_is_valid(&self, path: &[u64]) -> bool {
        self.at(path).is_ok()
    }

    /// Returns whether a path leads to a shape that is not a tuple.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], (s8[]))").unwrap();
    /// assert!(shape.is_leaf_index(&[1, 0]) && !shape.is_leaf_index(&[1]) && !shape.is_leaf_index(&[2]));
    /// ```
    #[doc(alias = "IsLeafIndex")]
    pub fn is_leaf_index(&self, path: &[u64]) -> bool {
        self.at(path).is_ok_and(|shape| !shape.is_tuple())
    }

    /// Returns the number of a tuple's members.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a shape that is not a tuple.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert_eq!(Shape::parse("(f32[2], ())").unwrap().tuple_element_count(), Ok(2));
    /// assert!(Shape::token().tuple_element_count().unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "TupleElementCount")]
    pub fn tuple_element_count(&self) -> Result<usize, Error> {
        Ok(self.members()?.len())
    }

    /// Returns the only shape of a list, or the tuple of all of them.
    ///
    /// # Errors
    /// Those of [`Shape::tuple`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert!(Shape::maybe_tuple(vec![Shape::token()]).unwrap().is_token());
    /// assert!(Shape::maybe_tuple(vec![]).unwrap().is_nil());
    /// ```
    #[doc(alias = "MakeMaybeTupleShape")]
    pub fn maybe_tuple(mut shapes: Vec<Shape>) -> Result<Shape, Error> {
        match shapes.pop() {
            Some(only) if shapes.is_empty() => Ok(only),
            last => {
                shapes.extend(last);
                Shape::tuple(shapes)
            }
        }
    }

    /// Appends a member to a tuple.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a shape that is not a tuple; those of [`Shape::tuple`]. Nothing is changed then.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[2])").unwrap();
    /// shape.append_to_tuple(Shape::token()).unwrap();
    /// assert_eq!(shape.to_string(), "(f32[2], token[])");
    /// assert!(Shape::token().append_to_tuple(Shape::nil()).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "AppendShapeToTuple")]
    pub fn append_to_tuple(&mut self, member: Shape) -> Result<(), Error> {
        self.edit(&member, |members, member| members.push(member))
    }

    /// Replaces a member of a tuple.
    ///
    /// # Errors
    /// Those of [`Shape::append_to_tuple`]; [out of range](Error::is_out_of_range) for a member that does not exist.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[2], s8[])").unwrap();
    /// shape.update_tuple(0, Shape::nil()).unwrap();
    /// assert_eq!(shape.to_string(), "((), s8[])");
    /// assert!(shape.update_tuple(2, Shape::nil()).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "UpdateTupleShape")]
    pub fn update_tuple(&mut self, at: usize, member: Shape) -> Result<(), Error> {
        let count = self.members()?.len();
        if at >= count {
            return Err(Error::out_of_range(
                "member {} of a tuple of {}",
                [at as i128, count as i128],
                "members count from 0",
            ));
        }
        self.edit(&member, |members, member| {
            if let Some(slot) = members.get_mut(at) {
                *slot = member;
            }
        })
    }

    /// Returns the tuple of some consecutive members.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a shape that is not a tuple; [out of range](Error::is_out_of_range) for a range
    /// outside it.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], s8[], token[])").unwrap();
    /// assert_eq!(shape.slice_tuple(1..3).unwrap().to_string(), "(s8[], token[])");
    /// assert!(shape.slice_tuple(2..4).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "SliceTuple")]
    pub fn slice_tuple(&self, range: Range<usize>) -> Result<Shape, Error> {
        let members = self.members()?;
        let slice = members.get(range.clone()).ok_or_else(|| {
            Error::out_of_range(
                "members {} up to {} of a tuple of {}",
                [range.start as i128, range.end as i128, members.len() as i128],
                "the range has to be within the tuple",
            )
        })?;
        Shape::tuple(slice.to_vec())
    }

    fn members(&self) -> Result<&[Shape], Error> {
        self.tuple_shapes()
            .ok_or_else(|| Error::mismatch("only tuples have members", [], "give a tuple"))
    }

    /// Changes a tuple's members with one shape that fits into it.
    fn edit(
        &mut self,
        member: &Shape,
        change: impl FnOnce(&mut Vec<Shape>, Shape),
    ) -> Result<(), Error> {
        self.members()?;
        // Fails like the tuple of the member would, before anything is changed.
        let _ = Shape::tuple(vec![member.clone()])?;
        let mut members =
            std::mem::replace(self, Shape::nil()).into_tuple_shapes().unwrap_or_default();
        change(&mut members, member.clone());
        *self = Shape::tuple(members)?;
        Ok(())
    }
}
