//! A layout as digits, from which its offset function and the inverse are made. Sizes and strides of digits are a
//! number times extents, each in tiles.
//!
//! ```text
//! coordinates --steps--> axes --digits--> Σ digit · stride + base --swizzle--> offset
//! digit = axis / below % size
//! ```

use std::{collections::HashSet, rc::Rc, str::FromStr};

use tilewright_core::{Digit, Pattern, Step, Swizzle, TensorLayout};

use crate::{
    Error,
    expr::{Expr, OffsetFacts, Var},
};

/// A digit of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AxisDigit {
    pub(crate) axis: usize,
    /// The product of the sizes of the digits below it.
    pub(crate) below: Product,
    pub(crate) size: Product,
    /// True if no digit of its axis is above it.
    pub(crate) last: bool,
    pub(crate) stride: Product,
    /// True if the stride is negative.
    pub(crate) back: bool,
}

/// A layout as digits. Extents are numbers, or names.
///
/// ```
/// use tilewright_core::{Fractal, TensorLayout};
/// use tilewright_emit::{Digits, Dim};
/// let rows = Digits::of(&TensorLayout::row_major(&[4, 6]).unwrap())?;
/// let rows_of_any = Digits::of_pattern(
///     &tilewright_core::Pattern::of(&TensorLayout::row_major(&[4, 6]).unwrap()).unwrap(),
///     &[Dim::named("M"), Dim::named("N")],
/// )?;
/// assert_ne!(rows, rows_of_any);
/// # Ok::<(), tilewright_emit::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    pub(crate) dims: Vec<Dim>,
    pub(crate) steps: Vec<Step>,
    pub(crate) places: Vec<AxisDigit>,
    /// The number of axes to which the digits belong.
    pub(crate) axes: usize,
    pub(crate) base: i64,
    pub(crate) swizzle: Swizzle,
    pub(crate) capacity: Product,
    /// The digits by ascending stride, as indices into `places`; only if extents are named.
    pub(crate) order: Option<Vec<usize>>,
}

impl Digits {
    /// Returns the digits of a layout.
    ///
    /// # Errors
    /// `unsupported` for an array without elements, and for strides beyond 63 bits.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_emit::Digits;
    /// let empty = TensorLayout::row_major(&[3, 0]).unwrap();
    /// assert!(Digits::of(&empty).unwrap_err().to_string().contains("is empty"));
    /// ```
    pub fn of(layout: &TensorLayout) -> Result<Digits, Error> {
        let dims: Vec<Dim> = layout.extents().iter().map(|extent| Dim::Known(*extent)).collect();
        if layout.size() == 0 {
            let extents = layout.extents();
            return Err(Error::unsupported(format!(
                "an array of {extents:?} is empty, without offsets"
            )));
        }
        let map = layout.layout();
        let mut places = Vec::new();
        for axis in 0..map.rank() {
            let mut below = 1u64;
            let first = places.len();
            for mode in map.axis(axis).unwrap_or_default().iter().filter(|mode| mode.extent() > 1) {
                let (size, stride) = (mode.extent(), mode.stride());
                let last = places.get_mut(first..).and_then(<[AxisDigit]>::last_mut);
                match last.filter(|last| last.continues(stride)) {
                    Some(last) => last.size = last.size.times(&Product::of(size)),
                    None => places.push(AxisDigit {
                        axis,
                        below: Product::of(below),
                        size: Product::of(size),
                        last: false,
                        stride: Product::of(stride.unsigned_abs()),
                        back: stride < 0,
                    }),
                }
                below = below.saturating_mul(size);
            }
            if let Some(last) = places.get_mut(first..).and_then(<[AxisDigit]>::last_mut) {
                last.last = true;
            }
        }
        let (steps, base) = (layout.steps().to_vec(), map.offset());
        let (swizzle, capacity) = (map.swizzle(), Product::of(layout.capacity()));
        Ok(Digits { dims, steps, places, axes: map.rank(), base, swizzle, capacity, order: None })
    }

    /// Returns the digits of a pattern for these extents, which are numbers or names.
    ///
    /// # Errors
    /// `unsupported` for a pattern of another rank, for one whose digits do not cover a dim, and for a dim of extent 0.
    ///
    /// ```
    /// use tilewright_core::{Digit, Pattern};
    /// use tilewright_emit::{Digits, Dim};
    /// let halves = Pattern::new(1, &[Digit::fixed(0, 0, 2), Digit::fixed(0, 1, 2)]).unwrap();
    /// let error = Digits::of_pattern(&halves, &[Dim::named("N")]).unwrap_err();
    /// assert!(error.to_string().contains("4 elements"), "{error}");
    /// ```
    pub fn of_pattern(pattern: &Pattern, dims: &[Dim]) -> Result<Digits, Error> {
        let full = pattern.unbatched(dims.len());
        let full = full.map_err(|error| Error::unsupported(error.to_string()))?;
        let mut sized = Vec::new();
        for digit in full.digits() {
            let dim = dims.get(usize::from(digit.axis())).unwrap_or(&Dim::Known(1));
            let size = size(full.digits(), *digit, dim)?;
            sized.push(Sized { digit: *digit, size, stride: Product::ONE });
        }
        let mut capacity = Product::ONE;
        for digit in sized.iter_mut().rev() {
            digit.stride = capacity.clone();
            capacity = capacity.times(&digit.size);
        }
        let mut places = Vec::new();
        for axis in 0..dims.len() {
            let mut own: Vec<&Sized> =
                sized.iter().filter(|it| usize::from(it.digit.axis()) == axis).collect();
            tilewright_core::sort_short(&mut own, |it| it.digit.level());
            along(axis, &own, &mut places);
        }
        let place = |it: &Sized| {
            let axis = usize::from(it.digit.axis());
            places
                .iter()
                .position(|place: &AxisDigit| place.stride == it.stride && place.axis == axis)
        };
        let mut order: Vec<usize> = sized.iter().rev().filter_map(place).collect();
        let mut seen = HashSet::new();
        order.retain(|place| seen.insert(*place));
        let (steps, axes, swizzle) = (Vec::new(), dims.len(), Swizzle::IDENTITY);
        let (dims, order) = (dims.to_vec(), Some(order));
        Ok(Digits { dims, steps, places, axes, base: 0, swizzle, capacity, order })
    }

    /// Returns the names of the coordinates.
    pub(crate) fn coordinates(&self) -> Vec<String> {
        (0..self.dims.len()).map(|dim| format!("i{dim}")).collect()
    }

    /// Returns the names of the extents, each once.
    pub(crate) fn extents(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for dim in &self.dims {
            if let Dim::Named { name, .. } = dim
                && !names.iter().any(|known| **known == **name)
            {
                names.push(name.to_string());
            }
        }
        names
    }
}

/// A digit of a pattern for given extents.
struct Sized {
    digit: Digit,
    size: Product,
    stride: Product,
}

/// Returns the size of a digit along a dim, or an error if the digits of its axis do not cover the dim.
fn size(all: &[Digit], digit: Digit, dim: &Dim) -> Result<Product, Error> {
    let own = all.iter().filter(|other| other.axis() == digit.axis());
    let tile = own.clone().filter_map(|other| other.size()).product::<u64>();
    let has_rest = own.clone().any(|other| other.size().is_none());
    let fits = matches!(dim, Dim::Known(extent) if *extent <= tile);
    if *dim == Dim::Known(0) || !has_rest && !fits {
        let said = format!("dim {} of extent {dim}", digit.axis());
        return Err(Error::unsupported(format!("{said}: its digits hold 1 to {tile} elements")));
    }
    Ok(digit.size().map_or_else(|| Product::tiles(dim, tile), Product::of))
}

/// Adds the digits of an axis, the smallest first; digits that continue one another are merged.
fn along(axis: usize, own: &[&Sized], places: &mut Vec<AxisDigit>) {
    let (mut below, first) = (Product::ONE, places.len());
    for Sized { size, stride, .. } in own {
        let before = places.get_mut(first..).and_then(<[AxisDigit]>::last_mut);
        match before.filter(|last| last.stride.times(&last.size) == *stride) {
            Some(last) => last.size = last.size.times(size),
            None => places.push(AxisDigit {
                axis,
                below: below.clone(),
                size: size.clone(),
                last: false,
                stride: stride.clone(),
                back: false,
            }),
        }
        below = below.times(size);
    }
    if let Some(last) = places.get_mut(first..).and_then(<[AxisDigit]>::last_mut) {
        last.last = true;
    }
}

impl AxisDigit {
    /// Returns whether a digit with this stride continues this one.
    fn continues(&self, stride: i64) -> bool {
        let end = self.stride.times(&self.size).number();
        (stride < 0) == self.back && end == Some(stride.unsigned_abs()) && stride != 0
    }
}

/// A number of tiles of a named extent: the extent over `by`, rounded up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tiles {
    name: Rc<str>,
    multiple: u64,
    by: u64,
}

impl Tiles {
    fn is_exact(&self) -> bool {
        self.multiple.is_multiple_of(self.by)
    }

    fn extent(&self) -> Expr {
        Dim::Named { name: self.name.clone(), multiple: self.multiple }.expr()
    }
}

/// A number times numbers of tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    factor: u64,
    tiles: Vec<Tiles>,
}

impl Product {
    pub(crate) const ONE: Product = Product { factor: 1, tiles: Vec::new() };

    pub(crate) fn of(factor: u64) -> Product {
        Product { factor, tiles: Vec::new() }
    }

    /// Returns the number of tiles of `by` along a dim.
    pub(crate) fn tiles(dim: &Dim, by: u64) -> Product {
        match dim {
            Dim::Known(extent) => Product::of(extent.div_ceil(by.max(1))),
            Dim::Named { name, multiple } => {
                let tiles = Tiles { name: name.clone(), multiple: *multiple, by: by.max(1) };
                Product { factor: 1, tiles: vec![tiles] }
            }
        }
    }

    pub(crate) fn times(&self, other: &Product) -> Product {
        let mut tiles = [self.tiles.clone(), other.tiles.clone()].concat();
        tilewright_core::sort_short_by(&mut tiles, |a, b| a <= b);
        Product { factor: self.factor.saturating_mul(other.factor), tiles }
    }

    /// Returns the number, if no extent is named.
    pub(crate) fn number(&self) -> Option<u64> {
        self.tiles.is_empty().then_some(self.factor)
    }

    /// Returns its value. If tiles divide their extent and the number, the extent itself replaces both.
    pub(crate) fn expr(&self) -> Expr {
        let (mut factor, mut rest) = (self.factor, Expr::Int(1));
        for tiles in &self.tiles {
            let by = Expr::Int(tiles.by as i64);
            let count = if tiles.is_exact() && factor.is_multiple_of(tiles.by) {
                factor /= tiles.by;
                tiles.extent()
            } else if tiles.is_exact() {
                tiles.extent().div(by)
            } else {
                tiles.extent().add(Expr::Int(tiles.by as i64 - 1)).div(by)
            };
            rest = rest.mul(count);
        }
        rest.mul(Expr::Int(i64::try_from(factor).unwrap_or(i64::MAX)))
    }

    /// Returns whether it is exactly the extent of a dim.
    pub(crate) fn is_extent(&self, dim: &Dim) -> bool {
        match (dim, &*self.tiles) {
            (Dim::Known(extent), []) => self.factor == *extent,
            (Dim::Named { name, .. }, [tiles]) => {
                tiles.name == *name && tiles.by == self.factor && tiles.is_exact()
            }
            _ => false,
        }
    }
}

// The extent of a dim: a number, or a name with known facts, such as `N % 16 == 0`, which a caller assumes.

/// The extent of a dim.
///
/// ```
/// use tilewright_emit::Dim;
/// assert_eq!(Dim::Known(128).to_string(), "128");
/// assert_eq!(Dim::named("N").to_string(), "N");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A number.
    Known(u64),
    /// A name, and a number that divides the extent.
    Named {
        /// The name: a word of letters, digits and underscores.
        name: Rc<str>,
        /// A number that divides the extent; 1 if none is known.
        multiple: u64,
    },
}

impl Dim {
    /// Returns a name without known facts.
    ///
    /// ```
    /// use tilewright_emit::Dim;
    /// assert!(matches!(Dim::named("N"), Dim::Named { multiple: 1, .. }));
    /// ```
    pub fn named(name: &str) -> Dim {
        Dim::Named { name: name.into(), multiple: 1 }
    }

    /// Returns the extent as an expression; a named extent is at least 1.
    pub(crate) fn expr(&self) -> Expr {
        match self {
            Dim::Known(extent) => Expr::Int(i64::try_from(*extent).unwrap_or(i64::MAX)),
            Dim::Named { name, multiple } => {
                let multiple = i128::from(*multiple).max(1);
                let facts = OffsetFacts { low: Some(multiple), high: None, multiple };
                Expr::Var(Var { name: name.clone(), facts })
            }
        }
    }

    /// Returns the known facts of a coordinate along it.
    pub(crate) fn coordinate(&self) -> OffsetFacts {
        match self {
            Dim::Known(extent) => OffsetFacts::up_to(Some(i128::from(*extent) - 1)),
            Dim::Named { .. } => OffsetFacts::up_to(None),
        }
    }
}

impl std::fmt::Display for Dim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Dim::Known(extent) => extent.fmt(f),
            Dim::Named { name, .. } => f.write_str(name),
        }
    }
}

/// A number that divides a named extent.
///
/// ```
/// use tilewright_emit::{Assumption, Dim};
/// let known: Assumption = "N % 16 == 0".parse()?;
/// let dims = known.apply(vec![Dim::named("M"), Dim::named("N")])?;
/// assert!(matches!(dims[1], Dim::Named { multiple: 16, .. }));
///
/// let error = known.apply(vec![Dim::named("K")]).unwrap_err();
/// assert!(error.to_string().ends_with("no extent has the name N; there is K"), "{error}");
/// # Ok::<(), tilewright_emit::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    name: String,
    multiple: u64,
}

impl FromStr for Assumption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Assumption, Error> {
        let wrong = || {
            Error::usage(format!(
                "assumption {text:?}: expected 'N % 16 == 0', one fact with a number from 1 on"
            ))
        };
        let (left, right) = text.split_once("==").ok_or_else(wrong)?;
        let (name, multiple) = left.split_once('%').ok_or_else(wrong)?;
        let multiple: u64 = multiple.trim().parse().map_err(|_| wrong())?;
        if right.trim() != "0" || multiple == 0 || multiple > i64::MAX as u64 {
            return Err(wrong());
        }
        Ok(Assumption { name: name.trim().to_owned(), multiple })
    }
}

impl Assumption {
    /// Returns the dims with this fact added to the named one.
    ///
    /// # Errors
    /// `usage` if no dim has the name.
    ///
    /// ```
    /// use tilewright_emit::{Assumption, Dim};
    /// let both = ["N % 4 == 0", "N % 6 == 0"].map(|text| text.parse::<Assumption>().unwrap());
    /// let dims = both.iter().try_fold(vec![Dim::named("N")], |dims, known| known.apply(dims))?;
    /// assert!(matches!(dims[0], Dim::Named { multiple: 12, .. }));
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn apply(&self, mut dims: Vec<Dim>) -> Result<Vec<Dim>, Error> {
        let mut names = Vec::new();
        let mut found = false;
        for dim in &mut dims {
            let Dim::Named { name, multiple } = dim else { continue };
            names.push(name.to_string());
            if **name == *self.name {
                found = true;
                *multiple = lcm(*multiple, self.multiple).ok_or_else(|| {
                    Error::usage(format!(
                        "assumptions of {name}: their least common multiple has more than 63 bits"
                    ))
                })?;
            }
        }
        match found {
            true => Ok(dims),
            false => {
                let names = match names.is_empty() {
                    true => "every extent is a number".to_owned(),
                    false => format!("there is {}", names.join(", ")),
                };
                let said = format!("assumption of {}", self.name);
                Err(Error::usage(format!("{said}: no extent has the name {}; {names}", self.name)))
            }
        }
    }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / tilewright_core::gcd(a, b).max(1)).checked_mul(b).filter(|all| *all <= i64::MAX as u64)
}
