//! Checks whether a reshape is free.
//!
//! Law: a reshape is free iff every element, by its row-major number, has the same offset before and after, with the
//! same bits, in a storage of the same length. XLA does not compare tiles and element sizes.
//!
//! # Common factors
//!
//! The common split points of the dims of two shapes of one size in row-major order.
//!
//! Law: between two neighbouring split points, the dims of both sides have the same product, and no split point can be
//! added. Source: XLA's `CommonFactors`.
//!
//! # Layouts for free reshapes
//!
//! Untiled dims between two split points of [`common_factors`] can change freely iff they are adjacent in storage, in
//! descending order; dims of extent 1 do not matter. Each group of dims is a block, and a free reshape keeps exactly
//! the order of the blocks in storage.
//!
//! # Comparison
//!
//! Two arrays of one size are compared as functions of the same coordinates. The row-major order of the elements is cut
//! into factors of which the dims of both sides are products. Where the dims of the two sides do not divide, their
//! common product is one factor, which each side splits on its own. Both become steps before the array's own steps.

use tilewright_core::{Error, Layout as Strided, Mode, Step, TensorLayout};

use crate::{
    ArrayShape, Dim,
    index_util::{self, Indexer},
    permutation::{self, index},
};

impl ArrayShape {
    /// Returns whether reshaping this array to `output` moves no byte. A reshape between two empty arrays is free; between
    /// arrays of different sizes or types, or in different memories, it is not.
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`] and [`Layout::lower`](crate::Layout::lower);
    /// [unsupported](Error::is_unsupported) if dims change while some are split over memories;
    /// [undecided](Error::is_undecided) as in [`same_function`](tilewright_core::TensorLayout::same_function), never a guess.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let free = |a: &str, b: &str| {
    ///     ArrayShape::parse(a).unwrap().reshape_is_bitcast(&ArrayShape::parse(b).unwrap())
    /// };
    /// assert_eq!(free("f32[3,4]{1,0}", "f32[6,2]{1,0}"), Ok(true));
    /// assert_eq!(free("f32[4,6]{1,0:T(2,3)}", "f32[24]{0}"), Ok(false));
    /// assert_eq!(free("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "f32[112,110]{1,0:T(2,3)}"), Ok(true));
    /// ```
    #[doc(alias = "ReshapeIsBitcast")]
    pub fn reshape_is_bitcast(&self, output: &ArrayShape) -> Result<bool, Error> {
        let (from, to) = (self.extents()?, output.extents()?);
        if from == to && self.dims == output.dims {
            return self.semantically_equal(output);
        }
        let elements = (index_util::count(&from)?, index_util::count(&to)?);
        if self.element_type != output.element_type
            || elements.0 != elements.1
            || !self.same_storage(output)?
        {
            return Ok(false);
        }
        let (before, after) = (self.layout_or_default(), output.layout_or_default());
        if !before.splits().is_empty() || !after.splits().is_empty() {
            return Err(Error::unsupported(
                "a reshape of {} dims to {} with dims split over memories",
                [from.len() as i128, to.len() as i128],
                "drop the splits first",
            ));
        }
        let tiled = !before.tiles().is_empty() || !after.tiles().is_empty();
        if elements.0 == 0 || !tiled && same_blocks(self, output)? {
            return Ok(true);
        }
        if witness(&Indexer::of(self)?, &Indexer::of(output)?)? {
            return Ok(false);
        }
        same_order(&before.lower(&from)?, &after.lower(&to)?)
    }

    /// Returns whether `output` is the same bytes as this array in one of the ways that XLA knows: equal, a free reshape,
    /// or a free transpose by some permutation.
    ///
    /// # Errors
    /// Those of [`ArrayShape::reshape_is_bitcast`] and [`ArrayShape::deduce_transpose_dimensions_for_bitcast`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert_eq!(shape("f32[5,3]{1,0}").is_reshape_or_transpose_bitcast(&shape("f32[3,5]{0,1}")), Ok(true));
    /// assert_eq!(shape("f32[5,3]{1,0}").is_reshape_or_transpose_bitcast(&shape("f32[3,5]{1,0}")), Ok(true));
    /// assert_eq!(shape("f32[5,3]{1,0}").is_reshape_or_transpose_bitcast(&shape("f32[5,3]{0,1}")), Ok(false));
    /// ```
    #[doc(alias = "IsReshapeOrTransposeBitcast")]
    pub fn is_reshape_or_transpose_bitcast(&self, output: &ArrayShape) -> Result<bool, Error> {
        Ok(self.reshape_is_bitcast(output)?
            || self.deduce_transpose_dimensions_for_bitcast(output)?.is_some())
    }
}

/// Returns whether one of a few elements has different offsets: those around the positions at which dims restart. This
/// decides most reshapes that are not free, of any rank, at once.
fn witness(a: &Indexer, b: &Indexer) -> Result<bool, Error> {
    let count = index_util::count(a.dims())?;
    let mut numbers = vec![count.saturating_sub(1)];
    for dims in [a.dims(), b.dims()] {
        let mut product = 1u64;
        for &dim in dims.iter().rev() {
            product = product.saturating_mul(dim);
            numbers.extend([product.saturating_sub(1), product, product.saturating_add(1)]);
        }
    }
    for number in numbers.into_iter().filter(|&number| number < count) {
        let offset = |indexer: &Indexer| {
            let rows: Vec<u64> = (0..indexer.dims().len() as u64).rev().collect();
            debug_assert!(permutation::is_permutation(&rows));
            indexer.offset(&index_util::multi_index(indexer.dims(), &rows, number)?)
        };
        if offset(a)? != offset(b)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the split points `(i, j)` at which the first `i` dims of `a` and the first `j` of `b` have the same product,
/// from `(0, 0)` to both ends. Equal lists split at every dim; unequal lists with a dim of 0 split only at their ends.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the products differ; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
///
/// ```
/// use tilewright_xla::shape_util::common_factors;
/// assert_eq!(common_factors(&[4, 6], &[2, 2, 6]).unwrap(), [(0, 0), (1, 2), (2, 3)]);
/// assert!(common_factors(&[4, 6], &[5]).unwrap_err().to_string().contains("24 elements and 5"));
/// ```
#[doc(alias = "CommonFactors")]
pub fn common_factors(a: &[u64], b: &[u64]) -> Result<Vec<(usize, usize)>, Error> {
    let (in_a, in_b) = (index_util::count(a)?, index_util::count(b)?);
    if in_a != in_b {
        return Err(Error::mismatch(
            "dims of {} elements and {} do not share factors",
            [in_a.into(), in_b.into()],
            "a reshape keeps the number of elements",
        ));
    }
    if a == b {
        return Ok((0..=a.len()).map(|at| (at, at)).collect());
    }
    if in_a == 0 {
        return Ok(vec![(0, 0), (a.len(), b.len())]);
    }
    let (mut splits, mut i, mut j, mut product_a, mut product_b) = (vec![(0, 0)], 0, 0, 1, 1);
    while i < a.len() || j < b.len() {
        let (next_a, next_b) = (a.get(i).copied(), b.get(j).copied());
        let level = product_a == product_b;
        let step_a =
            next_a.filter(|&a| product_a < product_b || level && next_b.is_none_or(|b| a <= b));
        let step_b =
            next_b.filter(|&b| product_b < product_a || level && next_a.is_none_or(|a| b <= a));
        product_a *= step_a.unwrap_or(1);
        product_b *= step_b.unwrap_or(1);
        i += usize::from(step_a.is_some());
        j += usize::from(step_b.is_some());
        if product_a == product_b {
            splits.push((i, j));
        }
    }
    Ok(splits)
}

/// Returns the pairs of dims, input and output, that a reshape leaves unchanged.
///
/// # Errors
/// Those of [`common_factors`].
///
/// ```
/// use tilewright_xla::shape_util::dimensions_unmodified_by_reshape;
/// let kept = dimensions_unmodified_by_reshape(&[4, 1, 3, 5, 6, 7], &[2, 6, 1, 5, 1, 42]).unwrap();
/// assert_eq!(kept, [(3, 3)]);
/// ```
#[doc(alias = "DimensionsUnmodifiedByReshape")]
pub fn dimensions_unmodified_by_reshape(
    input: &[u64],
    output: &[u64],
) -> Result<Vec<(usize, usize)>, Error> {
    let splits = common_factors(input, output)?;
    let single = |pair: &[(usize, usize)]| match *pair {
        [(i, j), (i_next, j_next)] if i + 1 == i_next && j + 1 == j_next => Some((i, j)),
        _ => None,
    };
    Ok(splits.windows(2).filter_map(single).collect())
}

/// Returns the output dims to which a reshape sends these input dims, if it leaves all of them unchanged.
///
/// # Errors
/// Those of [`common_factors`].
///
/// ```
/// use tilewright_xla::shape_util::reshape_leaves_dimensions_unmodified;
/// assert_eq!(reshape_leaves_dimensions_unmodified(&[9, 4], &[3, 3, 4], &[1]), Ok(Some(vec![2])));
/// assert_eq!(reshape_leaves_dimensions_unmodified(&[9, 4], &[3, 3, 4], &[0]), Ok(None));
/// ```
#[doc(alias = "ReshapeLeavesDimensionsUnmodified")]
pub fn reshape_leaves_dimensions_unmodified(
    input: &[u64],
    output: &[u64],
    dims: &[usize],
) -> Result<Option<Vec<usize>>, Error> {
    let kept = dimensions_unmodified_by_reshape(input, output)?;
    let found = |&dim: &usize| kept.iter().find(|&&(i, _)| i == dim).map(|&(_, j)| j);
    Ok(dims.iter().map(found).collect())
}

/// The dims of extent 1 by which two shapes differ.
///
/// ```
/// use tilewright_xla::shape_util::{UnitDims, inserted_or_deleted_1_sized_dimensions};
/// // [9,1,4] to [1,9,4]: dim 1 goes, a new dim 0 comes.
/// let units = inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[1, 9, 4]);
/// assert_eq!(units, Some(UnitDims { deleted: vec![1], inserted: vec![0] }));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnitDims {
    /// Dims of the input that the output lacks.
    pub deleted: Vec<usize>,
    /// Dims of the output that the input lacks.
    pub inserted: Vec<usize>,
}

/// Returns the dims of extent 1 that a reshape deletes and inserts; `None` if it does anything else.
///
/// ```
/// use tilewright_xla::shape_util::inserted_or_deleted_1_sized_dimensions;
/// let units = inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[1, 9, 4, 1]).unwrap();
/// assert_eq!((units.deleted, units.inserted), (vec![1], vec![0, 3]));
/// assert_eq!(inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[3, 1, 12]), None);
/// ```
#[doc(alias = "InsertedOrDeleted1SizedDimensions")]
pub fn inserted_or_deleted_1_sized_dimensions(input: &[u64], output: &[u64]) -> Option<UnitDims> {
    let (mut i, mut j) = (0, 0);
    let mut units = UnitDims { deleted: Vec::new(), inserted: Vec::new() };
    loop {
        match (input.get(i), output.get(j)) {
            (None, None) => return Some(units),
            (Some(a), Some(b)) if a == b => (i, j) = (i + 1, j + 1),
            (Some(1), _) => {
                units.deleted.push(i);
                i += 1;
            }
            (_, Some(1)) => {
                units.inserted.push(j);
                j += 1;
            }
            _ => return None,
        }
    }
}

impl ArrayShape {
    /// Returns the array of `dims` that is the same bytes as this one, if there is one. Dims of extent 1 become the most
    /// major ones. The other properties of the layout are kept.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of elements; [unsupported](Error::is_unsupported) for an array
    /// with tiles or splits if no aligned layout with the same ones is found; those of [`ArrayShape::reshape_is_bitcast`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[3,8,5,7,11]{3,2,1,0,4}").unwrap();
    /// let aligned = shape.align_layouts(&[4, 3, 2, 7, 5, 11]).unwrap().unwrap();
    /// assert_eq!(aligned.to_string(), "f32[4,3,2,7,5,11]{4,3,2,1,0,5}");
    /// assert_eq!(shape.align_layouts(&[4, 3, 2, 5, 77]), Ok(None));
    /// assert!(shape.align_layouts(&[4, 3]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "AlignLayouts")]
    pub fn align_layouts(&self, dims: &[u64]) -> Result<Option<ArrayShape>, Error> {
        let (from, layout) = (self.extents()?, self.checked_layout()?);
        let (long_from, long_to) = (long_dims(&from), long_dims(dims));
        let splits = common_factors(&picked(&from, &long_from), &picked(dims, &long_to))?;
        let cuts: Vec<usize> = splits.iter().map(|&(i, _)| i).collect();
        let tiled = !layout.tiles().is_empty() || !layout.splits().is_empty();
        let blocks = match blocks(&layout.major_to_minor(), &long_from, &cuts) {
            Some(blocks) => blocks,
            // Without elements, any order is free.
            None if from.contains(&0) => (0..splits.len().saturating_sub(1)).collect(),
            None if tiled => return Err(not_found(layout.tiles().len())),
            None => return Ok(None),
        };
        let long = |block: &usize| {
            let group = splits.get(*block).zip(splits.get(block + 1));
            group.map_or(&[][..], |(&(_, from), &(_, to))| long_to.get(from..to).unwrap_or(&[]))
        };
        let units = (0..dims.len()).filter(|dim| long_to.binary_search(dim).is_err());
        let order: Vec<u64> = units
            .chain(blocks.iter().flat_map(long).copied())
            .map(|dim| dim as u64)
            .collect::<Vec<_>>();
        let order: Vec<u64> = order.into_iter().rev().collect();
        let aligned = ArrayShape {
            element_type: self.element_type,
            dims: dims.iter().map(|&extent| Dim::Static(extent)).collect(),
            layout: Some(layout.replaced(&order)?),
        };
        match tiled {
            false => Ok(Some(aligned)),
            true if self.reshape_is_bitcast(&aligned)? => Ok(Some(aligned)),
            true => Err(not_found(layout.tiles().len())),
        }
    }
}

fn not_found(tiles: usize) -> Error {
    Error::unsupported(
        "no layout with the same {} tiles makes this reshape free",
        [tiles as i128],
        "align the untiled array",
    )
}

/// Returns the dims whose extent is not 1.
fn long_dims(extents: &[u64]) -> Vec<usize> {
    (0..extents.len()).filter(|&dim| extents.get(dim) != Some(&1)).collect()
}

fn picked(extents: &[u64], dims: &[usize]) -> Vec<u64> {
    dims.iter().filter_map(|&dim| extents.get(dim).copied()).collect()
}

/// Returns the blocks, cut from the long dims at `cuts`, in storage order, slowest first; `None` if the dims of a block
/// are not adjacent there or not in order.
fn blocks(major_to_minor: &[u64], long: &[usize], cuts: &[usize]) -> Option<Vec<usize>> {
    let numbers = major_to_minor.iter().map(|&dim| index(dim));
    let mut stored = numbers.filter_map(|dim| long.binary_search(&dim).ok());
    let mut blocks = Vec::new();
    while let Some(first) = stored.next() {
        let block = cuts.binary_search(&first).ok()?;
        let end = *cuts.get(block + 1)?;
        for wanted in first + 1..end {
            if stored.next()? != wanted {
                return None;
            }
        }
        blocks.push(block);
    }
    Some(blocks)
}

/// Returns whether two untiled arrays of one size have the same blocks in the same order, which suffices for a free
/// reshape.
pub(super) fn same_blocks(a: &ArrayShape, b: &ArrayShape) -> Result<bool, Error> {
    let (from, to) = (a.extents()?, b.extents()?);
    let (long_from, long_to) = (long_dims(&from), long_dims(&to));
    let splits = common_factors(&picked(&from, &long_from), &picked(&to, &long_to))?;
    let (cuts_a, cuts_b): (Vec<usize>, Vec<usize>) = splits.into_iter().unzip();
    let stored = |shape: &ArrayShape, long: &[usize], cuts: &[usize]| {
        Ok(blocks(&shape.checked_layout()?.major_to_minor(), long, cuts))
    };
    let before = stored(a, &long_from, &cuts_a)?;
    Ok(before.is_some() && before == stored(b, &long_to, &cuts_b)?)
}

/// Returns whether two arrays of one size, not empty, have each element, by its row-major number, at the same offset.
///
/// # Errors
/// Limit, if the arrays' dims take too many steps; undecided, as in `same_function`.
pub(super) fn same_order(a: &TensorLayout, b: &TensorLayout) -> Result<bool, Error> {
    let (dims_a, dims_b) = (long_dims_of_array(a), long_dims_of_array(b));
    let extents = |tensor: &TensorLayout, dims: &[usize]| -> Vec<u64> {
        dims.iter().filter_map(|&dim| tensor.extents().get(dim).copied()).collect()
    };
    let (extents_a, extents_b) = (extents(a, &dims_a), extents(b, &dims_b));
    let splits = common_factors(&extents_a, &extents_b)?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for pair in splits.windows(2) {
        let [(i, j), (i_next, j_next)] = *pair else { continue };
        let (a, b) = (range(&extents_a, i, i_next), range(&extents_b, j, j_next));
        let factors = factors(a, b);
        left.push(FactoredDims {
            dims: range(&dims_a, i, i_next).to_vec(),
            factors: factors.clone(),
        });
        right.push(FactoredDims { dims: range(&dims_b, j, j_next).to_vec(), factors });
    }
    respelt(a, &left)?.same_function(&respelt(b, &right)?)
}

/// Some dims, and the factors into which their product is cut, both major to minor.
struct FactoredDims {
    dims: Vec<usize>,
    factors: Vec<u64>,
}

/// Returns the dims of more than one coordinate.
fn long_dims_of_array(tensor: &TensorLayout) -> Vec<usize> {
    let dims = tensor.extents().iter().enumerate();
    dims.filter(|&(_, &extent)| extent != 1).map(|(dim, _)| dim).collect()
}

fn range<T>(items: &[T], from: usize, to: usize) -> &[T] {
    items.get(from..to).unwrap_or(&[])
}

/// Returns the factors, major to minor, of which the dims of both sides are products; a single one if there are none.
fn factors(a: &[u64], b: &[u64]) -> Vec<u64> {
    let partial = |dims: &[u64]| -> Vec<u64> {
        dims.iter()
            .rev()
            .scan(1, |product: &mut u64, &dim| {
                *product = product.saturating_mul(dim);
                Some(*product)
            })
            .collect()
    };
    let mut products: Vec<u64> = partial(a);
    products.extend_from_slice(&partial(b));
    tilewright_core::sort_short(&mut products, |product| *product);
    products.dedup();
    let whole = products.last().copied().unwrap_or(1);
    let (mut below, mut factors) = (1, Vec::new());
    for product in products {
        if product % below != 0 {
            return vec![whole];
        }
        factors.push(product / below);
        below = product;
    }
    factors.reverse();
    factors
}

/// Steps under construction, with a permanent name for every axis.
struct Respelling {
    steps: Vec<Step>,
    order: Vec<usize>,
    names: usize,
}

impl Respelling {
    fn position(&self, name: usize) -> u8 {
        let at = self.order.iter().position(|&other| other == name);
        at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
    }

    /// Joins `major` to `minor`, which keeps its name.
    fn merge(&mut self, major: usize, minor: usize) {
        let step = Step::Merge { major: self.position(major), minor: self.position(minor) };
        self.steps.push(step);
        self.order.retain(|&name| name != major);
    }

    /// Splits an axis; the quotient keeps the name, and the name of the remainder is returned.
    fn split(&mut self, name: usize, by: u64) -> usize {
        self.steps.push(Step::Split { axis: self.position(name), by });
        self.order.push(self.names);
        self.names += 1;
        self.names - 1
    }

    /// Returns the names of a group's dims, from those of its factors.
    fn dims(
        &mut self,
        extents: &[u64],
        factors: &[u64],
        mut names: std::ops::Range<usize>,
    ) -> Vec<usize> {
        let mut found = Vec::with_capacity(extents.len());
        if let ([_], Some(name)) = (factors, names.clone().next()) {
            for &extent in extents.iter().skip(1).rev() {
                found.push(self.split(name, extent));
            }
            found.push(name);
            found.reverse();
            return found;
        }
        let mut factors = factors.iter();
        for &extent in extents {
            let mut product = factors.next().copied().unwrap_or(extent);
            let mut name = names.next().unwrap_or(0);
            while product < extent {
                let minor = names.next().unwrap_or(name);
                product = product.saturating_mul(factors.next().copied().unwrap_or(extent));
                self.merge(name, minor);
                name = minor;
            }
            found.push(name);
        }
        found
    }

    /// Appends the array's own steps, whose axes are named in `axes`.
    fn follow(&mut self, tensor: &TensorLayout, axes: &mut Vec<usize>) {
        let named = |axes: &[usize], at: u8| axes.get(usize::from(at)).copied().unwrap_or(0);
        for &step in tensor.steps() {
            match step {
                Step::Merge { major, minor } => {
                    let name = named(axes, major);
                    self.merge(name, named(axes, minor));
                    axes.retain(|&other| other != name);
                }
                Step::Split { axis, by } => {
                    let remainder = self.split(named(axes, axis), by);
                    axes.push(remainder);
                }
            }
        }
    }
}

/// Returns the array as a function of all groups' factors.
fn respelt(tensor: &TensorLayout, groups: &[FactoredDims]) -> Result<TensorLayout, Error> {
    let mut extents: Vec<u64> = groups.iter().flat_map(|group| group.factors.clone()).collect();
    if extents.is_empty() {
        extents.push(1);
    }
    let count = extents.len();
    let mut program = Respelling { steps: Vec::new(), order: (0..count).collect(), names: count };
    let (mut axes, mut first) = (vec![None; tensor.rank()], 0);
    for group in groups {
        let names = first..first + group.factors.len();
        first = names.end;
        let dims = group.dims.iter();
        let sizes: Vec<u64> = dims.filter_map(|&dim| tensor.extents().get(dim).copied()).collect();
        for (&dim, name) in group.dims.iter().zip(program.dims(&sizes, &group.factors, names)) {
            if let Some(slot) = axes.get_mut(dim) {
                *slot = Some(name);
            }
        }
    }
    // A dim of extent 1 is the remainder of any axis by 1.
    let mut axes: Vec<usize> = axes
        .into_iter()
        .map(|name| match (name, program.order.first().copied()) {
            (Some(name), _) => name,
            (None, any) => program.split(any.unwrap_or(0), 1),
        })
        .collect();
    program.follow(tensor, &mut axes);
    let unused = [Mode::new(1, 0)];
    let modes = program.order.iter().map(|name| {
        let axis = axes.iter().position(|other| other == name);
        axis.and_then(|axis| tensor.layout().axis(axis)).unwrap_or(&unused)
    });
    let modes: Vec<&[Mode]> = modes.collect();
    let counts: Vec<usize> = modes.iter().map(|modes| modes.len()).collect();
    let strided = Strided::nested(&modes.concat(), &counts)?;
    TensorLayout::with_steps(&extents, &program.steps, &strided, tensor.capacity())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ArrayShape;

    #[test]
    fn one_order_is_one_offset_for_each_number() {
        let orders =
            [(1, vec!["{0}"]), (2, vec!["{1,0}", "{0,1}"]), (3, vec!["{2,1,0}", "{0,2,1}"])];
        let tiles = ["", ":T(2)", ":T(3)", ":T(2,2)", ":T(*,4)", ":T(2,3)(2,1)", ":T(3,2)(2,1)"];
        let dims = ["24", "4,6", "3,8", "6,4", "2,3,4", "1,24", "4,1,6"];
        let mut tensors = Vec::new();
        for dims in dims {
            let rank = dims.split(',').count();
            for order in orders.iter().filter(|order| order.0 == rank).flat_map(|order| &order.1) {
                for tiles in tiles {
                    let layout = order.replace('}', &format!("{tiles}}}"));
                    let shape = ArrayShape::parse(&format!("f32[{dims}]{layout}")).unwrap();
                    tensors.push(shape.lower().unwrap());
                }
            }
        }
        let (mut same, mut other) = (0, 0);
        for a in &tensors {
            for b in &tensors {
                let equal = (0..24).all(|number| a.offset_of(number) == b.offset_of(number));
                assert_eq!(same_order(a, b), Ok(equal), "{a:?} {b:?}");
                *(if equal { &mut same } else { &mut other }) += 1;
            }
        }
        assert!(same > 300 && other > 3000, "{same} {other}");
    }
}
