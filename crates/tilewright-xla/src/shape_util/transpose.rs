//! Checks whether a transpose is free, and finds a permutation for which it is.
//!
//! Law: transposing by `p` makes dim `i` of the output dim `p[i]` of the input. The transpose is free iff the input
//! with its dims permuted that way is the output: same offsets, same bits, same storage. XLA compares only the orders
//! of the dims.
//!
//! # Permuted dims
//!
//! Law: permuting dims moves no byte; the element `index` of the result is the element `permute_inverse(index, p)` of
//! the array.
//!
//! # Bitcasts
//!
//! A bitcast is decomposed as a free reshape, a free transpose, or a free transpose, reshape and transpose.

use tilewright_core::Error;

use crate::{
    ArrayShape, Shape,
    permutation::{self, index},
    shape_util::extent,
};

/// The rank up to which every permutation of a tiled array is tried.
const ALL_ORDERS: usize = 6;

impl ArrayShape {
    /// Returns whether transposing this array by `permutation` into `output` moves no byte.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the output's dims are not the permuted ones; [illegal](Error::is_illegal) for a
    /// list that is not a permutation; those of [`ArrayShape::semantically_equal`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let free = |a: &str, b: &str| {
    ///     ArrayShape::parse(a).unwrap().transpose_is_bitcast(&ArrayShape::parse(b).unwrap(), &[1, 0])
    /// };
    /// assert_eq!(free("f32[10,5]{1,0}", "f32[5,10]{0,1}"), Ok(true));
    /// assert_eq!(free("f32[10,5]{1,0:T(2,2)}", "f32[5,10]{0,1}"), Ok(false));
    /// assert!(free("f32[10,5]{1,0}", "f32[10,5]{0,1}").unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "TransposeIsBitcast")]
    pub fn transpose_is_bitcast(
        &self,
        output: &ArrayShape,
        permutation: &[u64],
    ) -> Result<bool, Error> {
        let mut renamed = self.permute_dimensions(permutation)?;
        if !renamed.same_dimensions(output) {
            return Err(differing(&renamed, output));
        }
        renamed.dims.clone_from(&output.dims);
        renamed.semantically_equal(output)
    }

    /// Returns the extents and the permutation of the shortest transpose that moves the same elements into an array of
    /// these dims: dims of extent 1 are dropped, and neighbours that stay neighbours are merged. The permutation is empty if
    /// nothing moves. Both arrays are in row-major order.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a list that is not a permutation of the dims; those of [`ArrayShape::extents`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// // From [10,1,11,32].
    /// let output = ArrayShape::parse("f32[32,1,10,11]").unwrap();
    /// let normalized = output.normalized_logical_transpose(&[3, 1, 0, 2]);
    /// assert_eq!(normalized, Ok((vec![32, 110], vec![1, 0])));
    /// assert!(output.normalized_logical_transpose(&[0, 0, 1, 2]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "GetNormalizedLogicalTransposeShape")]
    pub fn normalized_logical_transpose(
        &self,
        permutation: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>), Error> {
        permutation::check(permutation, self.dims.len())?;
        let extents = self.extents()?;
        let wide = extents.iter().zip(permutation).filter(|(extent, _)| **extent != 1);
        let mut from: Vec<u64> = wide.clone().map(|(_, dim)| *dim).collect();
        from.sort_unstable();
        // The position of each dim of the input among those of extent above 1.
        let place = |dim: &u64| from.partition_point(|other| other < dim) as u64;
        let (mut dims, mut firsts, mut last) = (Vec::new(), Vec::new(), None);
        for (extent, dim) in wide {
            let dim = place(dim);
            match dims.last_mut() {
                Some(merged) if last == dim.checked_sub(1) => *merged *= extent,
                _ => {
                    dims.push(*extent);
                    firsts.push(dim);
                }
            }
            last = Some(dim);
        }
        if dims.len() < 2 {
            return Ok((vec![dims.first().copied().unwrap_or(1)], Vec::new()));
        }
        let order = |first: &u64| firsts.iter().filter(|other| *other < first).count() as u64;
        let order = firsts.iter().map(order).collect();
        Ok((dims, order))
    }

    /// Returns the permutation by which `output` is this array transposed without moving a byte, if there is one.
    ///
    /// # Errors
    /// Those of [`ArrayShape::semantically_equal`]; [undecided](Error::is_undecided) for tiled arrays of more than 6 dims
    /// if neither of the usual permutations is free.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let deduce = |a: &str, b: &str| {
    ///     let (a, b) = (ArrayShape::parse(a).unwrap(), ArrayShape::parse(b).unwrap());
    ///     a.deduce_transpose_dimensions_for_bitcast(&b).unwrap()
    /// };
    /// assert_eq!(deduce("f32[5,3]{1,0}", "f32[3,5]{0,1}"), Some(vec![1, 0]));
    /// assert_eq!(deduce("f32[5,3]{1,0}", "f32[3,5]{1,0}"), None);
    /// ```
    #[doc(alias = "DeduceTransposeDimensionsForBitcast")]
    pub fn deduce_transpose_dimensions_for_bitcast(
        &self,
        output: &ArrayShape,
    ) -> Result<Option<Vec<u64>>, Error> {
        let (before, after) = (self.checked_layout()?, output.checked_layout()?);
        if !self.same_rank(output) || self.element_type != output.element_type {
            return Ok(None);
        }
        let (from, to) = (before.major_to_minor(), after.major_to_minor());
        let mut candidates = vec![matched(&from, &to)];
        let sorted = |shape: &ArrayShape, order: &[u64]| {
            let unit = |&dim: &u64| shape.dims.get(index(dim)).copied().and_then(extent) == Some(1);
            let (mut units, long): (Vec<u64>, Vec<u64>) = order.iter().partition(|&dim| unit(dim));
            units.sort_unstable();
            [long, units].concat()
        };
        candidates.push(matched(&sorted(self, &from), &sorted(output, &to)));
        let tiled = !before.tiles().is_empty() || !after.tiles().is_empty();
        if tiled && from.len() <= ALL_ORDERS {
            let dims: Vec<u64> = (0..from.len() as u64).rev().collect();
            candidates.extend(permutation::permutations(&dims));
        }
        for candidate in candidates {
            if self.permute_dimensions(&candidate)?.same_dimensions(output)
                && self.transpose_is_bitcast(output, &candidate)?
            {
                return Ok(Some(candidate));
            }
        }
        if tiled && from.len() > ALL_ORDERS {
            return Err(Error::undecided(
                "not decided: which of the permutations of {} tiled dims is free",
                [from.len() as i128],
                "check a single permutation instead",
            ));
        }
        Ok(None)
    }
}

/// Returns the permutation that sends each dim of `from` to the one at the same position of `to`.
fn matched(from: &[u64], to: &[u64]) -> Vec<u64> {
    permutation::inverted(to).iter().filter_map(|&at| from.get(index(at)).copied()).collect()
}

fn differing(renamed: &ArrayShape, output: &ArrayShape) -> Error {
    let pairs = renamed.dims.iter().zip(&output.dims);
    let found = pairs.map(|(&a, &b)| (extent(a), extent(b))).enumerate().find(|(_, (a, b))| a != b);
    match found {
        Some((dim, (a, b))) => Error::mismatch(
            "dim {} of the transposed array is {}, of the output {}",
            [dim as i128, a.map_or(-1, i128::from), b.map_or(-1, i128::from)],
            "the output's dim i is the input's dim permutation[i]",
        ),
        None => Error::mismatch(
            "an array of {} dims is transposed into one of {}",
            [renamed.dims.len() as i128, output.dims.len() as i128],
            "a transpose keeps the rank",
        ),
    }
}

impl ArrayShape {
    /// Returns the array whose dim `i` is dim `permutation[i]` of this one, with every element at its old offset:
    /// `dims' = p ∘ dims`, `minor_to_major' = p⁻¹ ∘ minor_to_major`. Tiles and splits are physical and are kept. An absent
    /// layout is the row-major one.
    ///
    /// XLA's `ReorderLogicalDimensions` is equal; older versions of it were so for involutions only.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of entries than dims; [illegal](Error::is_illegal) for a list
    /// that is not a permutation.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[2,3,4]{2,1,0}").unwrap();
    /// assert_eq!(shape.permute_dimensions(&[1, 2, 0]).unwrap().to_string(), "f32[3,4,2]{1,0,2}");
    /// assert!(shape.permute_dimensions(&[0, 0, 1]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "PermuteDimensions")]
    #[doc(alias = "ReorderLogicalDimensions")]
    pub fn permute_dimensions(&self, permutation: &[u64]) -> Result<ArrayShape, Error> {
        let layout = self.checked_layout()?.permuted(permutation)?;
        Ok(ArrayShape {
            element_type: self.element_type,
            dims: permutation::permute(&self.dims, permutation)?,
            layout: Some(layout),
        })
    }

    /// Returns the array with its dims in storage order, slowest first, so that the layout is row-major and no byte moves.
    /// Tiles, element size, alignment, memory space and splits are kept.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a layout of another rank.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[8,100,60,3]{3,0,2,1:T(8,128)}").unwrap();
    /// let same = shape.with_descending_layout_and_same_physical_layout().unwrap();
    /// assert_eq!(same.to_string(), "f32[100,60,8,3]{3,2,1,0:T(8,128)}");
    /// ```
    #[doc(alias = "MakeShapeWithDescendingLayoutAndSamePhysicalLayout")]
    pub fn with_descending_layout_and_same_physical_layout(&self) -> Result<ArrayShape, Error> {
        self.permute_dimensions(&self.checked_layout()?.major_to_minor())
    }

    /// Returns the array stored with a logical dim as the slowest; the order of the others, the tiles and all other
    /// properties are kept. This moves elements. Negative numbers count from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("s4[2,3,4]{0,2,1:T(2,2)E(4)}").unwrap();
    /// assert_eq!(shape.with_dim_major(0).unwrap().to_string(), "s4[2,3,4]{2,1,0:T(2,2)E(4)}");
    /// assert!(shape.with_dim_major(3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "MoveDimToMajor")]
    pub fn with_dim_major(&self, dim: i64) -> Result<ArrayShape, Error> {
        let layout = Some(self.checked_layout()?.with_dim_major(dim)?);
        Ok(ArrayShape { layout, ..self.clone() })
    }
}

impl Shape {
    /// Returns the shape with this dim of every array as its slowest, by [`ArrayShape::with_dim_major`].
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) if some array lacks this dim.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2,3]{1,0:T(2,2)}, token[])").unwrap();
    /// assert_eq!(shape.with_dim_major(1).unwrap().to_string(), "(f32[2,3]{0,1:T(2,2)}, token[])");
    /// assert!(shape.with_dim_major(2).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "MoveDimToMajor")]
    pub fn with_dim_major(&self, dim: i64) -> Result<Shape, Error> {
        self.with_each_array(&|array| array.with_dim_major(dim))
    }
}

/// The decomposition of a bitcast.
///
/// ```
/// use tilewright_xla::{ArrayShape, shape_util::Bitcast};
/// let shape = |text: &str| ArrayShape::parse(text).unwrap();
/// // The same six numbers, row by row.
/// let bitcast = shape("f32[2,3]{1,0}").decompose_bitcast(&shape("f32[6]{0}"));
/// assert_eq!(bitcast, Ok(Bitcast::Reshape));
/// // The same matrix with its dims in the other order.
/// let bitcast = shape("f32[2,3]{1,0}").decompose_bitcast(&shape("f32[3,2]{0,1}"));
/// assert_eq!(bitcast, Ok(Bitcast::Transpose(vec![1, 0])));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "BitcastDecomposition")]
pub enum Bitcast {
    /// A reshape.
    Reshape,
    /// A transpose by these dims.
    Transpose(Vec<u64>),
    /// A transpose, a reshape and a transpose, in this order.
    #[doc(alias = "BitcastDecompositionTrt")]
    Trt {
        /// The permutation of the first transpose.
        transpose1_dims: Vec<u64>,
        /// The result of the first transpose.
        transpose1_shape: ArrayShape,
        /// The result of the reshape.
        reshape_shape: ArrayShape,
        /// The permutation of the second transpose.
        transpose2_dims: Vec<u64>,
    },
}

impl ArrayShape {
    /// Decomposes the bitcast of this array to `output`: into a free reshape, otherwise a free transpose, otherwise both.
    ///
    /// # Errors
    /// Those of [`ArrayShape::decompose_bitcast_to_trt`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, shape_util::Bitcast};
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// let bitcast = shape("f32[3,7,6,4]{3,2,1,0}").decompose_bitcast(&shape("f32[3,6,4,7]{2,1,3,0}"));
    /// assert_eq!(bitcast, Ok(Bitcast::Transpose(vec![0, 2, 3, 1])));
    /// assert!(shape("f32[3,7]").decompose_bitcast(&shape("f32[3]")).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "DecomposeBitcast")]
    pub fn decompose_bitcast(&self, output: &ArrayShape) -> Result<Bitcast, Error> {
        if self.reshape_is_bitcast(output)? {
            return Ok(Bitcast::Reshape);
        }
        match self.deduce_transpose_dimensions_for_bitcast(output)? {
            Some(dims) => Ok(Bitcast::Transpose(dims)),
            None => self.decompose_bitcast_to_trt(output),
        }
    }

    /// Decomposes the bitcast of this array to `output` into a transpose to storage order, a reshape, and a transpose from
    /// storage order: [`Bitcast::Trt`]. Untiled arrays of one type, size and memory always have one.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of elements; [illegal](Error::is_illegal) if `output` is not the
    /// same bytes; those of [`ArrayShape::reshape_is_bitcast`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, shape_util::Bitcast};
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// let bitcast = shape("f32[16,17,3]{2,1,0}").decompose_bitcast_to_trt(&shape("f32[51,16]{0,1}"));
    /// let Ok(Bitcast::Trt { transpose1_dims, reshape_shape, transpose2_dims, .. }) = bitcast else { panic!() };
    /// assert_eq!((transpose1_dims, transpose2_dims), (vec![0, 1, 2], vec![1, 0]));
    /// assert_eq!(reshape_shape, shape("f32[16,51]{1,0}"));
    /// let fewer = shape("f32[2,3]").decompose_bitcast_to_trt(&shape("f32[5]"));
    /// assert!(fewer.unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "DecomposeBitcastToTrt")]
    pub fn decompose_bitcast_to_trt(&self, output: &ArrayShape) -> Result<Bitcast, Error> {
        let elements = (self.elements()?, output.elements()?);
        if elements.0 != elements.1 {
            return Err(Error::mismatch(
                "a bitcast of {} elements to {}",
                [elements.0.into(), elements.1.into()],
                "a bitcast keeps every element",
            ));
        }
        let transpose1_shape = self.with_descending_layout_and_same_physical_layout()?;
        let reshape_shape = output.with_descending_layout_and_same_physical_layout()?;
        if !transpose1_shape.reshape_is_bitcast(&reshape_shape)? {
            return Err(Error::illegal(
                "arrays of {} and {} dims in storage order are not the same bytes",
                [self.dims.len() as i128, output.dims.len() as i128],
                "a bitcast keeps types, tiles, element sizes and memories",
            ));
        }
        Ok(Bitcast::Trt {
            transpose1_dims: self.checked_layout()?.major_to_minor(),
            transpose1_shape,
            reshape_shape,
            transpose2_dims: output.checked_layout()?.logical_to_physical(),
        })
    }
}
