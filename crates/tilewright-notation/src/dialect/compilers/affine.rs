//! Affine maps of MLIR: sums of quotients and remainders of dims, as modes with strides.
//!
//! ```text
//! map   := '(' [ dim { ',' dim } ] ')' '->' '(' [ sum { ',' sum } ] ')'
//! sum   := product { ( '+' | '-' ) product }
//! product := factor { ( '*' | 'floordiv' | 'mod' ) factor }
//! factor := int | dim | '-' factor | '(' sum ')'
//! ```
//!
//! Every term is a multiple of one digit, (d floordiv P) mod M. As a function of d it is
//! c·⌊d/P⌋ − c·M·⌊d/(P·M)⌋, so a sum of terms is a sum of multiples of ⌊d/P⌋ over some P. Where these P
//! divide one another, they are the boundaries of digits, and the strides follow from the multiples e:
//! t₀ = e₁, t_{j+1} = e_{P_{j+1}} + (P_{j+1}/P_j)·t_j.

use std::collections::BTreeMap;

use tilewright_core::{Layout, MAX_MODES, Mode, Profile, Swizzle, TensorLayout};

use crate::{Error, dialect::arrays::strided::unsupported, literal::Scanner};

/// The most terms of a sum, and the deepest brackets.
const MOST: usize = 256;
const DEEPEST: usize = 32;

/// `coefficient · ((dim floordiv by) mod modulus)`.
#[derive(Clone, Debug)]
struct Term {
    coefficient: i128,
    dim: usize,
    by: u64,
    modulus: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct AffineSum {
    terms: Vec<Term>,
    constant: i128,
}

/// A map from dims to the coordinates of an array stored row-major; one coordinate is an address.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct Map {
    pub(in crate::dialect) rank: usize,
    results: Vec<AffineSum>,
}

impl Map {
    pub(in crate::dialect) fn read(scan: &mut Scanner<'_>) -> Result<Map, Error> {
        let mut names: Vec<&str> = Vec::new();
        scan.expect("(")?;
        while !scan.eat(")") {
            if !names.is_empty() {
                scan.expect(",")?;
            }
            let (name, span) = scan.name("the name of a dim")?;
            if names.contains(&name) || names.len() == MAX_MODES {
                return Err(Error::parse(
                    span,
                    "a map has at most 32 dims, each with its own name",
                ));
            }
            names.push(name);
        }
        if scan.peek() == Some('[') {
            return Err(scan.expected("no symbols; write their numbers: `->`"));
        }
        scan.expect("->")?;
        scan.expect("(")?;
        let mut results = Vec::new();
        while !scan.eat(")") {
            if !results.is_empty() {
                scan.expect(",")?;
            }
            if results.len() == 2 * MAX_MODES {
                return Err(scan.expected("at most 64 results"));
            }
            results.push(sum(scan, &names, 0)?);
        }
        Ok(Map { rank: names.len(), results })
    }

    /// The layout of an array of these dims.
    pub(in crate::dialect) fn layout(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        if dims.len() != self.rank {
            let message = format!("a map of {} dims, the array has {}", self.rank, dims.len());
            return Err(Error::mismatch(message));
        }
        let overflow = || Error::overflow("the places of this map overflow 64 bits");
        let mut bounds: Vec<BTreeMap<u64, i128>> = vec![BTreeMap::new(); dims.len()];
        let (mut stride, mut offset) = (1i128, 0i128);
        for result in self.results.iter().rev() {
            offset = stride
                .checked_mul(result.constant)
                .and_then(|c| offset.checked_add(c))
                .ok_or_else(overflow)?;
            for term in &result.terms {
                let multiple = stride.checked_mul(term.coefficient).ok_or_else(overflow)?;
                let bounds = bounds.get_mut(term.dim).ok_or_else(overflow)?;
                add(bounds, term, multiple).ok_or_else(overflow)?;
            }
            let extent = result.extent(dims).ok_or_else(overflow)?;
            stride = stride.checked_mul(extent).ok_or_else(overflow)?;
        }
        let (mut modes, mut counts) = (Vec::new(), Vec::new());
        for (&extent, bounds) in dims.iter().zip(&bounds) {
            let digits = digits(bounds, extent)?;
            counts.push(digits.len());
            modes.extend(digits);
        }
        if modes.len() > MAX_MODES {
            return Err(Error::limit(format!("{} digits; at most 32", modes.len())));
        }
        let offset = i64::try_from(offset).map_err(|_| overflow())?;
        let layout = Layout::new(&modes, &Profile::nested(&counts)?, offset, Swizzle::IDENTITY)?;
        let capacity = if self.results.len() == 1 {
            TensorLayout::of(&layout).capacity()
        } else {
            u64::try_from(stride).map_err(|_| overflow())?
        };
        Ok(TensorLayout::new(dims, &layout, capacity)?)
    }
}

/// Adds a term's multiples of ⌊d/P⌋.
fn add(bounds: &mut BTreeMap<u64, i128>, term: &Term, multiple: i128) -> Option<()> {
    let at = bounds.entry(term.by).or_insert(0);
    *at = at.checked_add(multiple)?;
    if let Some(modulus) = term.modulus {
        let at = bounds.entry(term.by.checked_mul(modulus)?).or_insert(0);
        *at = at.checked_sub(multiple.checked_mul(i128::from(modulus))?)?;
    }
    Some(())
}

/// The digits of a dim, fastest first.
fn digits(bounds: &BTreeMap<u64, i128>, extent: u64) -> Result<Vec<Mode>, Error> {
    let overflow = || Error::overflow("the strides of this map overflow 64 bits");
    let mut stride = bounds.get(&1).copied().unwrap_or(0);
    let (mut modes, mut at) = (Vec::new(), 1u64);
    for (&bound, &multiple) in bounds.range(2..) {
        if bound % at != 0 {
            return Err(unsupported(format!(
                "pieces of {at} and of {bound} do not divide one another, so they are not digits of a dim"
            )));
        }
        let size = bound / at;
        modes.push(Mode::new(size, i64::try_from(stride).map_err(|_| overflow())?));
        let carried = stride.checked_mul(i128::from(size));
        stride = carried.and_then(|c| c.checked_add(multiple)).ok_or_else(overflow)?;
        at = bound;
    }
    let rest = extent.div_ceil(at);
    modes.push(Mode::new(rest, i64::try_from(stride).map_err(|_| overflow())?));
    Ok(modes)
}

impl AffineSum {
    fn of(term: Term) -> AffineSum {
        AffineSum { terms: vec![term], constant: 0 }
    }

    /// One more than the largest value, where a remainder counts with its whole modulus.
    fn extent(&self, dims: &[u64]) -> Option<i128> {
        let mut most = self.constant;
        let mut empty = false;
        for term in &self.terms {
            let extent = *dims.get(term.dim)?;
            empty |= extent == 0;
            let count = term.modulus.unwrap_or(extent.div_ceil(term.by));
            let step = i128::from(count.max(1) - 1).checked_mul(term.coefficient)?;
            most = most.checked_add(step.max(0))?;
        }
        if empty { Some(0) } else { most.checked_add(1) }
    }

    fn scaled(mut self, by: i128) -> Option<AffineSum> {
        for term in &mut self.terms {
            term.coefficient = term.coefficient.checked_mul(by)?;
        }
        self.constant = self.constant.checked_mul(by)?;
        Some(self)
    }

    fn plus(mut self, other: AffineSum) -> Option<AffineSum> {
        self.terms.extend(other.terms);
        self.constant = self.constant.checked_add(other.constant)?;
        (self.terms.len() <= MOST).then_some(self)
    }

    /// The one digit that this is.
    fn digit(&self) -> Option<&Term> {
        match &self.terms[..] {
            [term] if term.coefficient == 1 && self.constant == 0 => Some(term),
            _ => None,
        }
    }

    fn floordiv(&self, by: u64) -> Option<AffineSum> {
        if self.terms.is_empty() {
            return Some(AffineSum {
                terms: vec![],
                constant: self.constant.div_euclid(i128::from(by)),
            });
        }
        let term = self.digit()?;
        let modulus = match term.modulus {
            Some(modulus) if modulus % by == 0 => Some(modulus / by),
            Some(_) => return None,
            None => None,
        };
        Some(AffineSum::of(Term { by: term.by.checked_mul(by)?, modulus, ..term.clone() }))
    }

    fn modulo(&self, by: u64) -> Option<AffineSum> {
        if self.terms.is_empty() {
            return Some(AffineSum {
                terms: vec![],
                constant: self.constant.rem_euclid(i128::from(by)),
            });
        }
        let term = self.digit()?;
        let modulus = match term.modulus {
            Some(modulus) if by >= modulus => modulus,
            Some(modulus) if modulus % by != 0 => return None,
            Some(_) | None => by,
        };
        Some(AffineSum::of(Term { modulus: Some(modulus), ..term.clone() }))
    }
}

fn too_large(span: (usize, usize)) -> Error {
    Error::parse(span, "the numbers of this sum overflow 64 bits, or it has more than 256 terms")
}

fn sum(scan: &mut Scanner<'_>, names: &[&str], depth: usize) -> Result<AffineSum, Error> {
    let mut total = product(scan, names, depth)?;
    loop {
        let from = scan.at();
        let minus = match scan.peek() {
            Some('-') => true,
            Some('+') => false,
            Some(_) | None => return Ok(total),
        };
        scan.advance(1);
        let next = product(scan, names, depth)?.scaled(if minus { -1 } else { 1 });
        let span = (from, scan.at());
        total = next.and_then(|next| total.plus(next)).ok_or_else(|| too_large(span))?;
    }
}

fn product(scan: &mut Scanner<'_>, names: &[&str], depth: usize) -> Result<AffineSum, Error> {
    scan.skip();
    let from = scan.at();
    let mut value = factor(scan, names, depth)?;
    loop {
        if scan.eat("*") {
            let other = factor(scan, names, depth)?;
            let span = (from, scan.at());
            let (sum, by) = match (value.terms.is_empty(), other.terms.is_empty()) {
                (_, true) => (value, other.constant),
                (true, false) => (other, value.constant),
                (false, false) => {
                    return Err(Error::parse(span, "a product of dims is not an affine map"));
                }
            };
            value = sum.scaled(by).ok_or_else(|| too_large(span))?;
        } else if scan.eat("floordiv") {
            let (by, span) = divisor(scan, from)?;
            value = value.floordiv(by).ok_or_else(|| no_digit(span))?;
        } else if scan.eat("mod") {
            let (by, span) = divisor(scan, from)?;
            value = value.modulo(by).ok_or_else(|| no_digit(span))?;
        } else if scan.eat("ceildiv") {
            let span = (from, scan.at());
            return Err(Error::parse(
                span,
                "`ceildiv` moves the last piece of a dim, which is not a digit",
            ));
        } else {
            return Ok(value);
        }
    }
}

/// Reads the divisor; returns it with the span of bytes that begins at the dividend.
fn divisor(scan: &mut Scanner<'_>, from: usize) -> Result<(u64, (usize, usize)), Error> {
    scan.skip();
    let at = scan.at();
    match scan.integer()? {
        0 => Err(Error::parse((at, scan.at()), "a division by 0")),
        by => Ok((by, (from, scan.at()))),
    }
}

fn no_digit(span: (usize, usize)) -> Error {
    Error::parse(
        span,
        "a quotient or remainder of more than one digit of a dim, which strides cannot express",
    )
}

fn factor(scan: &mut Scanner<'_>, names: &[&str], depth: usize) -> Result<AffineSum, Error> {
    scan.skip();
    let from = scan.at();
    if depth == DEEPEST {
        return Err(scan.expected("no further bracket"));
    }
    if scan.eat("(") {
        let inner = sum(scan, names, depth + 1)?;
        scan.expect(")")?;
        return Ok(inner);
    }
    if scan.eat("-") {
        let inner = factor(scan, names, depth + 1)?.scaled(-1);
        return inner.ok_or_else(|| too_large((from, scan.at())));
    }
    if scan.peek().is_some_and(|c| c.is_ascii_digit()) {
        return Ok(AffineSum { terms: vec![], constant: i128::from(scan.integer()?) });
    }
    let (name, span) = scan.name("a dim or an integer")?;
    match names.iter().position(|other| *other == name) {
        Some(dim) => Ok(AffineSum::of(Term { coefficient: 1, dim, by: 1, modulus: None })),
        None => {
            let list = names.join(", ");
            Err(Error::parse(span, format!("`{name}` is not a dim of this map; it has {list}")))
        }
    }
}
