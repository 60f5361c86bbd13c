//! The offset function: from coordinates to the offset in elements.

use std::collections::BTreeMap;

use tilewright_core::{Step, Swizzle};

use crate::{Digits, Dim, Error, Function, expr::Expr, product::Product};

/// The bits of an offset.
const BITS: i32 = 62;

impl Digits {
    /// Returns the function from a coordinate to its offset. Its arguments are the coordinates, then the named extents.
    ///
    /// # Errors
    /// `unsupported` for a swizzle of negative offsets.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_emit::{Digits, Language, Style};
    /// let columns = Digits::of(&TensorLayout::col_major(&[8, 5]).unwrap())?;
    /// let code = columns.offset()?.print(Language::Rust, &Style::default())?;
    /// assert!(code.contains("fn offset(i0: u64, i1: u64) -> u64 {\n    i0 + i1 * 8\n}"), "{code}");
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn offset(&self) -> Result<Function, Error> {
        let names = self.coordinates();
        let coordinates =
            names.iter().zip(&self.dims).map(|(name, dim)| Expr::var(name, dim.coordinate()));
        let axes = self.walk(coordinates.collect());
        let (mut sum, mut less) = (Expr::Int(0), Expr::Int(0));
        for place in &self.places {
            let axis = axes.get(place.axis).cloned().unwrap_or(Expr::Int(0));
            let digit = axis.div(place.below.expr());
            let digit = if place.last { digit } else { digit.rem(place.size.expr()) };
            let term = digit.mul(place.stride.expr());
            match place.back {
                true => less = less.add(term),
                false => sum = sum.add(term),
            }
        }
        let linear = sum.add(Expr::Int(self.base)).sub(less);
        let offset = swizzled(linear, &self.swizzle)?;
        Ok(Function::new("offset", [names, self.extents()].concat(), vec![offset], Vec::new()))
    }

    /// Returns the axes of a coordinate after all steps.
    fn walk(&self, mut x: Vec<Expr>) -> Vec<Expr> {
        let known = |dim: &Dim| if let Dim::Known(extent) = dim { *extent } else { 1 };
        let mut extents: Vec<u64> = self.dims.iter().map(known).collect();
        for step in &self.steps {
            apply(*step, &mut x, &mut extents);
        }
        x
    }
}

fn apply(step: Step, x: &mut Vec<Expr>, extents: &mut Vec<u64>) {
    match step {
        Step::Merge { major, minor } => {
            let (major, minor) = (usize::from(major), usize::from(minor));
            let (above, by) = (x.get(major).cloned(), extents.get(minor).copied());
            if let (Some(above), Some(by), Some(to)) = (above, by, x.get_mut(minor)) {
                *to = above.mul(Product::of(by).expr()).add(to.clone());
            }
            grow(step, extents);
            x.remove(major);
        }
        Step::Split { axis, by } => {
            if let Some(at) = x.get_mut(usize::from(axis)) {
                let by = Product::of(by).expr();
                let inner = at.clone().rem(by.clone());
                *at = at.clone().div(by);
                x.push(inner);
            }
            grow(step, extents);
        }
    }
}

/// Updates the extents by a step.
pub(crate) fn grow(step: Step, extents: &mut Vec<u64>) {
    match step {
        Step::Merge { major, minor } => {
            let above = extents.get(usize::from(major)).copied().unwrap_or(1);
            if let Some(minor) = extents.get_mut(usize::from(minor)) {
                *minor = minor.saturating_mul(above);
            }
            extents.remove(usize::from(major));
        }
        Step::Split { axis, by } => {
            if let Some(axis) = extents.get_mut(usize::from(axis)) {
                *axis = axis.div_ceil(by.max(1));
            }
            extents.push(by);
        }
    }
}

/// Returns an offset under a swizzle: an exclusive or of the offset shifted by each distance, under a mask.
pub(crate) fn swizzled(offset: Expr, swizzle: &Swizzle) -> Result<Expr, Error> {
    if swizzle.is_identity() {
        return Ok(offset);
    }
    let facts = offset.facts();
    if !facts.is_natural() {
        return Err(Error::unsupported("offsets below 0 cannot be swizzled"));
    }
    let bits = facts.high.map_or(BITS, |high| (128 - high.leading_zeros() as i32).min(BITS));
    // Bits with equal distances are shifted together.
    let (mut own, mut masks) = (-1i64, BTreeMap::<i32, i64>::new());
    for bit in 0..bits {
        let image = swizzle.apply(1 << bit);
        if image & (1 << bit) == 0 {
            own &= !(1 << bit);
        }
        for to in (0..BITS).filter(|to| *to != bit && image & (1 << to) != 0) {
            *masks.entry(to - bit).or_default() |= 1 << bit;
        }
    }
    let moved = masks.into_iter().map(|(by, from)| match by < 0 {
        // Bits that go down are shifted first, because the mask is shorter then.
        true => offset.clone().shifted(by).and(from >> -by),
        false => offset.clone().and(from).shifted(by),
    });
    Ok(moved.fold(offset.clone().and(own), Expr::xor))
}
