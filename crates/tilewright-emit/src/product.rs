//! Sizes and strides: a number times extents, each in tiles.

use std::rc::Rc;

use crate::{Dim, expr::Expr};

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
