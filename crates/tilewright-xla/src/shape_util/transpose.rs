//! Checks whether a transpose is free, and finds a permutation for which it is.
//!
//! Law: transposing by `p` makes dim `i` of the output dim `p[i]` of the input. The transpose is free iff the input with
//! its dims permuted that way is the output: same offsets, same bits, same storage. XLA compares only the orders of the
//! dims.

use tilewright_core::Error;

use super::predicates::extent;
use crate::{ArrayShape, permutation, permutation::index};

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
            candidates.extend(all_permutations(from.len()));
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

fn all_permutations(rank: usize) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for dim in 0..rank as u64 {
        let longer = |shorter: &Vec<u64>| -> Vec<Vec<u64>> {
            let put = |at| {
                let mut longer = shorter.clone();
                longer.insert(at, dim);
                longer
            };
            (0..=shorter.len()).map(put).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
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
