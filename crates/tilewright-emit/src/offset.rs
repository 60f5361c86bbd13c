//! The offset function, from coordinates to the offset in elements, and its inverse, from an offset to its coordinate
//! or to the answer that there is none.
//!
//! The inverse takes digits from the largest stride down. That is exact if each stride is at least the span of the
//! digits below it; other layouts are refused. Tests find padding and gaps; tests that cannot fail are omitted.

use std::collections::BTreeMap;

use tilewright_core::{Step, Swizzle};

use crate::{
    Digits, Dim, Error, Function,
    digits::{AxisDigit, Product},
    expr::{Expr, OffsetFacts, Test},
};

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

impl Digits {
    /// Returns the function from an offset, below the capacity, to the coordinate. Its arguments are the offset, then
    /// the named extents. It also returns whether the offset holds an element.
    ///
    /// # Errors
    /// `unsupported` if several coordinates share an offset, or digits overlap so that no order of divisions separates
    /// them.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// use tilewright_emit::{Digits, Language, Style};
    /// // Rows of 5 in 8: three places of each row hold nothing.
    /// let padded = TensorLayout::of(&Layout::parse("(4,5):(8,1)").unwrap());
    /// let code = Digits::of(&padded)?.coord()?.print(Language::Python, &Style::default())?;
    /// assert!(code.contains("if t0 >= 5:\n        return None"), "{code}");
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn coord(&self) -> Result<Function, Error> {
        let high = self.capacity.number().map(|capacity| i128::from(capacity) - 1);
        let low = self.low();
        let o = OffsetFacts { low: Some(low.min(0).into()), ..OffsetFacts::up_to(high) };
        let offset = swizzled(Expr::var("o", o), &self.swizzle.inverse())?;
        let mut taken = Taken { rest: offset, tests: Vec::new() };
        if low > 0 {
            taken.tests.push(Test::AtLeast(taken.rest.clone(), Expr::Int(low)));
        }
        taken.rest = taken.rest.sub(Expr::Int(low));
        if low > 0 {
            // After the test the value is not negative.
            let high = high.map(|high| high - i128::from(low));
            taken.rest = taken.rest.known(OffsetFacts::up_to(high));
        }
        let digits = self.digits(&mut taken)?;
        let mut axes = vec![Expr::Int(0); self.axes];
        for (place, digit) in self.places.iter().zip(digits) {
            if let Some(axis) = axes.get_mut(place.axis) {
                *axis = digit.mul(place.below.expr()).add(axis.clone());
            }
        }
        let coordinates = self.back(axes, &mut taken.tests);
        let names = [vec!["o".to_owned()], self.extents()].concat();
        Ok(Function::new("coord", names, coordinates, taken.tests))
    }

    /// Returns the lowest offset before the swizzle.
    fn low(&self) -> i64 {
        let span = |place: &AxisDigit| {
            let (size, stride) = (place.size.number()?, place.stride.number()?);
            place.back.then(|| (size as i64 - 1).saturating_mul(stride as i64))
        };
        self.places.iter().filter_map(span).fold(self.base, i64::saturating_sub)
    }

    /// Returns the places in ascending order of stride.
    fn by_stride(&self) -> Result<Vec<usize>, Error> {
        if let Some(order) = &self.order {
            return Ok(order.clone());
        }
        let stride = |at: &usize| self.places.get(*at).and_then(|place| place.stride.number());
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        tilewright_core::sort_short(&mut order, stride);
        let mut span = 1u128;
        for place in order.iter().filter_map(|at| self.places.get(*at)) {
            let (size, stride) =
                (place.size.number().unwrap_or(1), place.stride.number().unwrap_or(0));
            if stride == 0 {
                let said =
                    format!("dim {} has stride 0: several coordinates share an offset", place.axis);
                return Err(Error::unsupported(format!("{said}, but the inverse returns one")));
            }
            if u128::from(stride) < span {
                let said = format!("the digits below stride {stride} reach over {span} offsets");
                return Err(Error::unsupported(format!(
                    "{said}: no order of divisions separates them"
                )));
            }
            span += (u128::from(size) - 1) * u128::from(stride);
        }
        Ok(order)
    }

    /// Returns the digits, in the order of the places.
    fn digits(&self, taken: &mut Taken) -> Result<Vec<Expr>, Error> {
        let order = self.by_stride()?;
        let mut digits = vec![Expr::Int(0); self.places.len()];
        let mut above: Option<&AxisDigit> = None;
        for at in order.iter().rev() {
            let Some(place) = self.places.get(*at) else { continue };
            let digit = taken.digit(place, above, &self.capacity);
            if let Some(found) = digits.get_mut(*at) {
                *found = match place.back {
                    true => place.size.expr().sub(Expr::Int(1)).sub(digit),
                    false => digit,
                };
            }
            above = Some(place);
        }
        let least = above.map_or(Product::ONE, |place| place.stride.clone());
        let gap = match above {
            Some(_) => taken.rest.clone().rem(least.expr()),
            None => taken.rest.clone(),
        };
        taken.check(Test::Zero(gap));
        Ok(digits)
    }

    /// Returns the coordinate of these axes, and adds the tests that decide whether there is one.
    fn back(&self, mut x: Vec<Expr>, tests: &mut Vec<Test>) -> Vec<Expr> {
        let known = |dim: &Dim| if let Dim::Known(extent) = dim { *extent } else { 1 };
        let mut before: Vec<Vec<u64>> = vec![self.dims.iter().map(known).collect()];
        for step in &self.steps {
            let mut extents = before.last().cloned().unwrap_or_default();
            grow(*step, &mut extents);
            before.push(extents);
        }
        for (step, extents) in self.steps.iter().zip(before.windows(2)).rev() {
            let [before, behind] = extents else { continue };
            within(&x, behind, tests);
            undo(*step, before, &mut x);
        }
        for ((axis, x), dim) in x.iter().enumerate().zip(&self.dims) {
            if !self.covers(axis, dim) {
                check(tests, Test::Below(x.clone(), dim.expr()));
            }
        }
        x
    }

    /// Returns whether the digits of a dim reach its extent exactly.
    fn covers(&self, axis: usize, dim: &Dim) -> bool {
        let own = self.places.iter().filter(|place| place.axis == axis);
        let reach = own.fold(Product::ONE, |all, place| all.times(&place.size));
        self.steps.is_empty() && reach.is_extent(dim)
    }
}

/// An offset while digits are taken from it.
struct Taken {
    /// The remainder below the last digit whose stride is not a multiple of the stride below it.
    rest: Expr,
    tests: Vec<Test>,
}

impl Taken {
    fn check(&mut self, test: Test) {
        check(&mut self.tests, test);
    }

    /// Returns the digit of a place; `above` is the place with the next larger stride.
    fn digit(&mut self, place: &AxisDigit, above: Option<&AxisDigit>, capacity: &Product) -> Expr {
        let end = place.stride.times(&place.size);
        let full = match above {
            Some(above) => above.stride == end,
            None => *capacity == end,
        };
        let quotient = |rest: &Expr| rest.clone().div(place.stride.expr());
        match (above, full) {
            (None, true) => quotient(&self.rest),
            (Some(_), true) => quotient(&self.rest).rem(place.size.expr()),
            (above, false) => {
                if let Some(above) = above {
                    self.rest = self.rest.clone().rem(above.stride.expr());
                }
                let digit = quotient(&self.rest);
                self.check(Test::Below(digit.clone(), place.size.expr()));
                digit
            }
        }
    }
}

/// Adds a test, unless it cannot fail.
fn check(tests: &mut Vec<Test>, test: Test) {
    if !test.always() {
        tests.push(test);
    }
}

fn within(x: &[Expr], extents: &[u64], tests: &mut Vec<Test>) {
    for (x, extent) in x.iter().zip(extents) {
        check(tests, Test::Below(x.clone(), Product::of(*extent).expr()));
    }
}

/// Undoes a step; `before` has the extents before it.
fn undo(step: Step, before: &[u64], x: &mut Vec<Expr>) {
    match step {
        Step::Merge { major, minor } => {
            let (major, minor) = (usize::from(major), usize::from(minor));
            let at = if minor > major { minor - 1 } else { minor };
            let by = Product::of(before.get(minor).copied().unwrap_or(1)).expr();
            if let Some(merged) = x.get_mut(at) {
                let above = merged.clone().div(by.clone());
                *merged = merged.clone().rem(by);
                x.insert(major, above);
            }
        }
        Step::Split { axis, by } => {
            if let Some(inner) = x.pop()
                && let Some(outer) = x.get_mut(usize::from(axis))
            {
                *outer = outer.clone().mul(Product::of(by).expr()).add(inner);
            }
        }
    }
}
