//! Two arrays of one size as functions of the same coordinates, so that they can be compared. Used by `reshape.rs`.
//!
//! The row-major order of the elements is cut into factors of which the dims of both sides are products. Where the dims of
//! the two sides do not divide, their common product is one factor, which each side splits on its own. Both become steps
//! before the array's own steps.

use tilewright_core::{Error, Layout as Strided, Mode, Step, TensorLayout};

use super::common_factors;

/// Returns whether two arrays of one size, not empty, have each element, by its row-major number, at the same offset.
///
/// # Errors
/// Limit, if the arrays' dims take too many steps; undecided, as in `same_function`.
pub(super) fn same_order(a: &TensorLayout, b: &TensorLayout) -> Result<bool, Error> {
    let (dims_a, dims_b) = (long_dims(a), long_dims(b));
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
fn long_dims(tensor: &TensorLayout) -> Vec<usize> {
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
