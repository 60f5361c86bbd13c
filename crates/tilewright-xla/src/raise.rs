//! Converts an exact map from coordinates to offsets back to an XLA layout.
//!
//! Law: `Layout::of(t)?.lower(t.extents())` is the same map as `t` with the same capacity.
//!
//! Tiles express every dense order of nested digits, with any gaps between them: a tile moves the low digits of some dims
//! after their high digits, and a tile larger than its dims pads. The search (`search`) builds tiles for a number of dim
//! orders, and the shortest text whose lowering is the same map wins. Every result is checked.

mod digits;
mod search;

use tilewright_core::{Error, TensorLayout};

use crate::Layout;
use digits::{RaisedDigit, digits};

/// The number of dims of more than one coordinate up to which every order of them is tried.
const ALL_ORDERS: usize = 4;

impl Layout {
    /// Returns the shortest XLA layout found that stores every element at the offset of `tensor`, in a storage of the same
    /// length.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if no tiles express the map: for an offset, a swizzle, backwards or repeated
    /// strides, digits that interleave, a storage that ends inside its last tile, an empty array with storage, or steps.
    ///
    /// ```
    /// use tilewright_core::{Layout as Strided, TensorLayout};
    /// use tilewright_xla::Layout;
    /// let zn = Strided::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// let zn = TensorLayout::new(&[100, 100], &zn, 112 * 112).unwrap();
    /// let layout = Layout::of(&zn).unwrap();
    /// assert_eq!(layout.to_string(), "{1,0:T(112,16)}");
    /// assert_eq!(layout.lower(&[100, 100]).unwrap().offset(&[99, 99]), Ok(12339));
    ///
    /// let backwards = Strided::parse("(4):(-1)").unwrap().with_offset(3).unwrap();
    /// let backwards = TensorLayout::new(&[4], &backwards, 4).unwrap();
    /// assert!(Layout::of(&backwards).unwrap_err().is_unsupported());
    /// ```
    pub fn of(tensor: &TensorLayout) -> Result<Layout, Error> {
        refuse_foreign(tensor)?;
        if tensor.extents().contains(&0) {
            return of_empty(tensor);
        }
        let target = digits(tensor, true)?;
        refuse_unnested(&target, tensor.capacity())?;
        let candidates = candidates(tensor, &target)?.into_iter();
        let mut candidates: Vec<(usize, Layout)> =
            candidates.map(|layout| (layout.to_string().len(), layout)).collect();
        tilewright_core::sort_short(&mut candidates, |(length, _)| *length);
        let mut shortest = candidates.into_iter().map(|(_, layout)| layout);
        shortest.find(|layout| says(layout, tensor, &target)).ok_or_else(|| {
            Error::unsupported("no tiles found for {} digits", [target.len() as i128], "")
        })
    }
}

/// Returns whether a layout lowers to the same map and capacity.
fn says(layout: &Layout, tensor: &TensorLayout, target: &[RaisedDigit]) -> bool {
    layout.lower(tensor.extents()).is_ok_and(|lowered| {
        lowered.capacity() == tensor.capacity()
            && lowered.is_strided()
            && digits(&lowered, true).is_ok_and(|digits| digits == target)
    })
}

fn candidates(tensor: &TensorLayout, target: &[RaisedDigit]) -> Result<Vec<Layout>, Error> {
    let written = digits(tensor, false)?;
    let covers = u64::try_from(tensor.layout().cosize()) == Ok(tensor.capacity());
    let mut found = Vec::new();
    for order in orders(tensor, target) {
        for digits in [&written[..], target] {
            // A storage longer than the digits need is a tile if the axes cover it, otherwise `L`.
            for by_tile in [covers, !covers] {
                found.extend(search::layout(&order, digits, tensor, by_tile));
            }
        }
    }
    Ok(found)
}

fn of_empty(tensor: &TensorLayout) -> Result<Layout, Error> {
    if tensor.capacity() != 0 {
        return Err(Error::unsupported(
            "an empty array has a storage of {} elements",
            [tensor.capacity().into()],
            "tiles of an empty array take no storage; write the widths as pad(…)",
        ));
    }
    let order = by_stride(tensor, |_| None);
    Layout::new(&order.into_iter().rev().map(|dim| dim as u64).collect::<Vec<_>>())
}

fn refuse_foreign(tensor: &TensorLayout) -> Result<(), Error> {
    let layout = tensor.layout();
    if !tensor.is_strided() {
        return Err(Error::unsupported(
            "a layout with {} steps lacks the strides from which tiles are read",
            [tensor.steps().len() as i128],
            "keep the text that it was lowered from",
        ));
    }
    if !layout.swizzle().is_identity() {
        return Err(Error::unsupported(
            "XLA layouts cannot express a swizzle",
            [],
            "drop it first",
        ));
    }
    if layout.offset() != 0 {
        return Err(Error::unsupported(
            "element 0 is at offset {}",
            [layout.offset().into()],
            "XLA layouts begin at offset 0",
        ));
    }
    Ok(())
}

fn refuse_unnested(digits: &[RaisedDigit], capacity: u64) -> Result<(), Error> {
    for pair in digits.windows(2) {
        if let [low, high] = pair
            && u128::from(high.stride) < low.end()
        {
            return Err(Error::unsupported(
                "dim {} at stride {} steps into {} coordinates at stride {}",
                [high.dim as i128, high.stride.into(), low.extent.into(), low.stride.into()],
                "digits of an XLA layout nest: each stride passes over all smaller ones",
            ));
        }
    }
    match digits.last() {
        Some(last) if last.end() > u128::from(capacity) => Err(Error::unsupported(
            "a gap at the end: {} elements of storage, but whole tiles take {}",
            [capacity.into(), last.end() as i128],
            "an XLA storage ends with a whole tile; extend the capacity",
        )),
        _ => Ok(()),
    }
}

/// Returns the orders of the dims to try, each major to minor.
fn orders(tensor: &TensorLayout, target: &[RaisedDigit]) -> Vec<Vec<usize>> {
    let of = |dim: usize| target.iter().filter(move |digit| digit.dim == dim);
    let mut orders = vec![
        by_stride(tensor, |dim| of(dim).map(|digit| digit.stride).max()),
        by_stride(tensor, |dim| of(dim).map(|digit| digit.stride).min()),
    ];
    let (long, units): (Vec<usize>, Vec<usize>) =
        (0..tensor.rank()).partition(|&dim| of(dim).next().is_some());
    if let Some(order) = orders.first() {
        let (units, long): (Vec<usize>, Vec<usize>) =
            order.iter().partition(|dim| units.contains(dim));
        orders.push([long, units].concat());
    }
    if long.len() <= ALL_ORDERS {
        orders.extend(permutations(&long).into_iter().map(|order| [&units[..], &order].concat()));
    }
    orders
}

/// Returns the dims by a stride, the largest first; dims without one use that of their first mode. Dims at the same
/// stride stay in ascending order.
fn by_stride(tensor: &TensorLayout, stride: impl Fn(usize) -> Option<u64>) -> Vec<usize> {
    let written = |dim: usize| {
        let modes = tensor.layout().axis(dim).unwrap_or(&[]);
        modes.first().map_or(0, |mode| mode.stride().unsigned_abs())
    };
    let mut order: Vec<usize> = (0..tensor.rank()).collect();
    tilewright_core::sort_short(&mut order, |&dim| {
        std::cmp::Reverse(stride(dim).unwrap_or_else(|| written(dim)))
    });
    order
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = items.split_first() else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, first);
            all.push(longer);
        }
    }
    all
}
