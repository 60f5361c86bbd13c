//! Patterns whose sizes may be constants, read by the dialects of patterns, of named formats and of einops.
//!
//! The parts of such a pattern:
//!
//! - [`FormatDigit`]: a sized digit of a named format, which a parameter sets.
//! - [`Cuts`]: bars in the order, which divide the digits among the dims of the array of words that holds the storage.
//!   `-> k3 | n3 n0 k1 n2 k0 n1 k2` is stored as words of two dims: the steps of `k3`, and all other digits, of which the last
//!   are within a word. Leading dims are dims of their own where a bar follows them, `-> … | k1 k0`, and go with the first
//!   digits otherwise. Behind a bar at the end is a dim of extent 1.
//! - [`turned`]: a digit that is stored backwards. `-> k1 -k0` puts the last step of `k0` first.
//! - [`spread`]: a leading dimension, another stride for the outermost digit.
//! - [`misfit`]: the error of an array of another rank than the letters.
//!
//! Laws: the product of the dims of the words is that of the storage, and the dims of the array found from those of its
//! words have words of just these dims. The element of step i of a turned digit has the offset that step size − 1 − i
//! has without the reversal. The least leading dimension is the size of one step of the digit, and leaves the layout
//! unchanged; the storage ends with its last element, padded ones included.

use std::fmt;

use tilewright_core::{Digit, Layout, MAX_MODES, Mode, Pattern, Profile, TensorLayout};

use crate::{
    Error, Format, ResolvedLayout,
    catalogue::Constant,
    literal::{Scanner, did_you_mean},
    parsed_spec::Given,
};

/// The size of a digit, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Size {
    Rest,
    Fixed(u64),
    /// A constant that depends on the element or is a parameter.
    Constant(String),
}

/// One digit, as written.
#[derive(Clone, Debug)]
pub(in crate::dialect) struct WrittenDigit {
    pub(in crate::dialect) name: String,
    pub(in crate::dialect) size: Size,
    /// The bytes of the whole digit.
    pub(in crate::dialect) span: (usize, usize),
}

#[derive(Debug)]
struct TemplateAxis {
    /// Most significant first.
    digits: Vec<WrittenDigit>,
    grouped: bool,
}

/// A pattern whose sizes may be constants.
#[derive(Debug)]
pub(in crate::dialect) struct Template {
    batched: bool,
    axes: Vec<TemplateAxis>,
    /// Axis and position within it of each digit, outermost in storage first.
    order: Vec<(usize, usize)>,
    /// Which of the order are stored backwards.
    backwards: Vec<usize>,
    /// The places where bars cut the order into dims of an array of words.
    cuts: Cuts,
}

fn eat_rest(scan: &mut Scanner<'_>) -> bool {
    scan.eat("…") || scan.eat("...")
}

impl Template {
    pub(in crate::dialect) fn read(text: &str) -> Result<Template, Error> {
        let mut scan = Scanner::new(text);
        if !text.contains("->") {
            let message =
                "expected `->` and the digits in storage order, found the end of the text";
            return Err(Error::parse((text.len(), text.len()), message));
        }
        let batched = eat_rest(&mut scan);
        let (axes, order, backwards) = (Vec::new(), Vec::new(), Vec::new());
        let mut template = Template { batched, axes, order, backwards, cuts: Cuts::default() };
        while !scan.eat("->") {
            if scan.peek().is_none() {
                return Err(scan.expected("an axis or `->`"));
            }
            let axis = template.read_axis(&mut scan)?;
            template.axes.push(axis);
        }
        template.read_order(&mut scan)?;
        Ok(template)
    }

    /// Exchanges the last two dims of the array and keeps the storage; `None` where there are not two.
    pub(in crate::dialect) fn transposed(mut self) -> Option<Template> {
        let last = self.axes.len().checked_sub(1)?;
        let before = last.checked_sub(1)?;
        self.axes.swap(before, last);
        for (axis, _) in &mut self.order {
            *axis = match *axis {
                a if a == last => before,
                a if a == before => last,
                a => a,
            };
        }
        Some(self)
    }

    /// Every digit, in the order written.
    pub(in crate::dialect) fn digits(&self) -> impl Iterator<Item = &WrittenDigit> {
        self.axes.iter().flat_map(|axis| &axis.digits)
    }

    pub(in crate::dialect) fn rank_fits(&self, rank: usize) -> bool {
        let own = self.axes.len();
        rank == own || (self.batched && rank > own && rank <= MAX_MODES)
    }

    /// The dims of a small array: 10 each, or fewer where all digits of an axis have sizes.
    pub(in crate::dialect) fn small_dims(&self) -> Vec<u64> {
        let whole = |axis: &TemplateAxis| {
            axis.digits.iter().try_fold(1u64, |whole, digit| match digit.size {
                Size::Rest => None,
                Size::Fixed(size) => Some(whole.saturating_mul(size)),
                Size::Constant(_) => Some(whole),
            })
        };
        self.axes.iter().map(|axis| whole(axis).unwrap_or(10).min(10)).collect()
    }

    /// The size of the digit that is innermost in storage; 1 where it takes the rest.
    pub(in crate::dialect) fn innermost(&self) -> u64 {
        let digit = self.order.last().and_then(|&(a, p)| self.axes.get(a)?.digits.get(p));
        match digit.map(|digit| &digit.size) {
            Some(Size::Fixed(size)) => *size,
            Some(Size::Rest | Size::Constant(_)) | None => 1,
        }
    }

    /// The name of every digit.
    fn names(&self) -> Vec<&str> {
        self.digits().map(|digit| digit.name.as_str()).collect()
    }

    /// The letter of each axis.
    pub(in crate::dialect) fn letters(&self) -> Vec<&str> {
        let first = self.axes.iter().filter_map(|axis| axis.digits.first());
        first.map(|digit| letter(&digit.name)).collect()
    }

    /// The words for the dims that it takes beside its own.
    pub(in crate::dialect) fn more(&self) -> &'static str {
        if self.batched { ", and any before them" } else { "" }
    }

    /// Refuses an array of another rank.
    pub(in crate::dialect) fn check_rank(
        &self,
        what: &dyn fmt::Display,
        rank: usize,
    ) -> Result<(), Error> {
        if self.rank_fits(rank) || rank > MAX_MODES {
            return Ok(());
        }
        Err(misfit(what, &self.letters(), self.more(), rank))
    }

    fn read_axis(&self, scan: &mut Scanner<'_>) -> Result<TemplateAxis, Error> {
        let mut axis = TemplateAxis { digits: Vec::new(), grouped: scan.eat("(") };
        loop {
            let digit = read_digit(scan)?;
            self.check(&axis, &digit)?;
            axis.digits.push(digit);
            if !axis.grouped || scan.eat(")") {
                return Ok(axis);
            }
        }
    }

    /// Refuses a digit that the pattern cannot take.
    fn check(&self, axis: &TemplateAxis, digit: &WrittenDigit) -> Result<(), Error> {
        let name = &digit.name;
        if self.digits().chain(&axis.digits).any(|other| other.name == *name) {
            return Err(Error::parse(
                digit.span,
                format!("`{name}` is the name of two digits; name each one differently"),
            ));
        }
        let rest = axis.digits.iter().find(|other| other.size == Size::Rest);
        if let (Some(other), Size::Rest) = (rest, &digit.size) {
            return Err(Error::parse(
                digit.span,
                format!(
                    "`{}` and `{name}` both take the rest of the axis; give one a size, as in `{name}:16`",
                    other.name
                ),
            ));
        }
        if self.digits().count() + axis.digits.len() == MAX_MODES {
            return Err(Error::parse(digit.span, "a pattern has at most 32 digits"));
        }
        Ok(())
    }

    fn read_order(&mut self, scan: &mut Scanner<'_>) -> Result<(), Error> {
        scan.skip();
        let from = scan.at();
        if eat_rest(scan) && !self.batched {
            return Err(Error::parse(
                (from, scan.at()),
                "leading dims are stored, but the axes have none; begin the pattern with `…` too",
            ));
        }
        while scan.peek().is_some() {
            if scan.eat("|") {
                self.cuts.0.push(self.order.len());
                continue;
            }
            if scan.eat("-") {
                self.backwards.push(self.order.len());
            }
            let (name, span) = scan.name("the name of a digit")?;
            let at = self.find(name).ok_or_else(|| unknown(name, self.names(), span))?;
            if self.order.contains(&at) {
                return Err(Error::parse(span, format!("`{name}` is stored twice")));
            }
            self.order.push(at);
        }
        let stored = |name: &str| self.find(name).is_some_and(|at| self.order.contains(&at));
        match self.digits().find(|digit| !stored(&digit.name)) {
            Some(digit) => Err(Error::parse(
                (scan.at(), scan.at()),
                format!(
                    "`{}` is missing in the storage order; name every digit after `->`",
                    digit.name
                ),
            )),
            None => Ok(()),
        }
    }

    fn find(&self, name: &str) -> Option<(usize, usize)> {
        self.axes.iter().enumerate().find_map(|(a, axis)| {
            Some((a, axis.digits.iter().position(|digit| digit.name == name)?))
        })
    }

    /// The order of storage, as it is written.
    fn order_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (at, &(axis, position)) in self.order.iter().enumerate() {
            words.extend(self.cuts.0.iter().filter(|cut| **cut == at).map(|_| "|".to_owned()));
            let digit = self.axes.get(axis).and_then(|axis| axis.digits.get(position));
            let mark = if self.backwards.contains(&at) { "-" } else { "" };
            words.extend(digit.map(|digit| format!("{mark}{}", digit.name)));
        }
        let last = self.cuts.0.iter().filter(|cut| **cut >= self.order.len());
        words.extend(last.map(|_| "|".to_owned()));
        words
    }

    /// The array of these dims that this pattern stores, sizes given for its constants.
    pub(in crate::dialect) fn resolve(
        &self,
        dims: &[u64],
        given: &Given<'_>,
        size_of: &dyn Fn(&WrittenDigit) -> Result<Option<u64>, Error>,
    ) -> Result<ResolvedLayout, Error> {
        let pattern = self.pattern(size_of)?;
        let mut resolved = ResolvedLayout::of_pattern(&pattern, dims, given)?;
        if let Some(storage) = &resolved.storage {
            resolved.words_dims = self.cuts.dims(self.order.len(), self.batched, storage);
        }
        for &digit in &self.backwards {
            resolved.layout = turned(&pattern, &resolved.layout, digit)?;
        }
        Ok(resolved)
    }

    /// The dims of the array whose storage is words of this shape, `per` elements in each, where they follow.
    pub(in crate::dialect) fn dims_of_words(
        &self,
        shape: &[u64],
        per: u64,
        size_of: &dyn Fn(&WrittenDigit) -> Result<Option<u64>, Error>,
    ) -> Option<Vec<u64>> {
        let pattern = self.pattern(size_of).ok()?;
        self.cuts.array(&pattern, shape, per)
    }

    /// The pattern with sizes for its constants; `None` leaves a digit the rest of its axis.
    pub(in crate::dialect) fn pattern(
        &self,
        size_of: &dyn Fn(&WrittenDigit) -> Result<Option<u64>, Error>,
    ) -> Result<Pattern, Error> {
        let mut digits = Vec::new();
        for &(a, position) in &self.order {
            let Some((axis, digit)) =
                self.axes.get(a).and_then(|axis| Some((axis, axis.digits.get(position)?)))
            else {
                continue;
            };
            // At most 32 of each: both fit a byte.
            let (a, level) = (a as u8, (axis.digits.len() - 1 - position) as u8);
            digits.push(match size_of(digit)? {
                Some(size) => Digit::fixed(a, level, size),
                None => Digit::rest(a, level),
            });
        }
        let pattern = Pattern::new(self.axes.len(), &digits)?;
        Ok(if self.batched { pattern.batched() } else { pattern })
    }
}

/// The error of a name that none of the digits has.
pub(in crate::dialect) fn unknown(name: &str, names: Vec<&str>, span: (usize, usize)) -> Error {
    let nearest = did_you_mean(name, names.iter().copied());
    let list = if names.is_empty() { "none".into() } else { names.join(" ") };
    Error::parse(span, format!("no digit is called `{name}`; there are {list}{nearest}"))
}

fn read_digit(scan: &mut Scanner<'_>) -> Result<WrittenDigit, Error> {
    let (name, (from, _)) = scan.name("an axis or a digit, such as `m` or `m0:16`")?;
    let size = if scan.eat(":") { read_size(scan)? } else { Size::Rest };
    Ok(WrittenDigit { name: name.to_owned(), size, span: (from, scan.at()) })
}

fn read_size(scan: &mut Scanner<'_>) -> Result<Size, Error> {
    if scan.peek().is_some_and(|c| c.is_ascii_uppercase()) {
        return Ok(Size::Constant(scan.name("a size")?.0.to_owned()));
    }
    let from = scan.at();
    match scan.integer()? {
        0 => Err(Error::parse((from, scan.at()), "a digit has a size of 1 or more")),
        size => Ok(Size::Fixed(size)),
    }
}

impl fmt::Display for WrittenDigit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.size {
            Size::Rest => f.write_str(&self.name),
            Size::Fixed(size) => write!(f, "{}:{size}", self.name),
            Size::Constant(size) => write!(f, "{}:{size}", self.name),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = if self.batched { "… " } else { "" };
        f.write_str(rest)?;
        for axis in &self.axes {
            let digits: Vec<String> = axis.digits.iter().map(WrittenDigit::to_string).collect();
            let digits = digits.join(" ");
            if axis.grouped { write!(f, "({digits}) ")? } else { write!(f, "{digits} ")? }
        }
        write!(f, "-> {rest}")?;
        f.write_str(&self.order_words().join(" "))
    }
}

/// A sized digit of a format.
#[derive(Debug)]
pub(in crate::dialect) struct FormatDigit {
    pub(in crate::dialect) digit: String,
    pub(in crate::dialect) constant: Option<&'static Constant>,
    /// The size in the pattern.
    pub(in crate::dialect) usual: Option<u64>,
    /// The size that a parameter sets.
    pub(in crate::dialect) set: Option<u64>,
}

impl FormatDigit {
    pub(in crate::dialect) fn of(format: &Format, digit: &WrittenDigit) -> Option<FormatDigit> {
        let (constant, usual) = match &digit.size {
            Size::Rest => return None,
            Size::Fixed(size) => (None, Some(*size)),
            Size::Constant(name) => {
                (format.constants.iter().copied().find(|c| c.name == name), None)
            }
        };
        Some(FormatDigit { digit: digit.name.to_ascii_uppercase(), constant, usual, set: None })
    }

    pub(in crate::dialect) fn name(&self) -> &str {
        self.constant.map_or(&self.digit, |constant| constant.name)
    }

    pub(in crate::dialect) fn is_called(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(self.name()) || name.eq_ignore_ascii_case(&self.digit)
    }

    /// The size for the elements of an array.
    pub(in crate::dialect) fn size(
        &self,
        spec: &dyn fmt::Display,
        preset: Option<&str>,
        given: &Given<'_>,
    ) -> Result<u64, Error> {
        if let Some(size) = self.set.or(self.usual) {
            return Ok(size);
        }
        let dtype = given.need_dtype(spec, self.name())?;
        match self.constant {
            Some(constant) => constant.units_for(preset, dtype),
            None => Err(Error::unsupported(format!("{} has no size", self.name()))),
        }
    }
}

/// A size as the user gives it.
pub(in crate::dialect) struct Parameter<'t> {
    pub(in crate::dialect) name: &'t str,
    pub(in crate::dialect) span: (usize, usize),
    pub(in crate::dialect) size: u64,
}

/// Both names of a unit.
pub(in crate::dialect) fn both(unit: &FormatDigit) -> String {
    if unit.name() == unit.digit {
        unit.digit.clone()
    } else {
        format!("{} (or {})", unit.name(), unit.digit)
    }
}

/// The places of the bars: the number of digits before each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::dialect) struct Cuts(pub(in crate::dialect) Vec<usize>);

impl Cuts {
    /// The ends of the groups of digits. Leading dims that a bar follows are not a group.
    fn ends(&self, digits: usize, batched: bool) -> Vec<usize> {
        let cuts = self.0.iter().copied().filter(|cut| *cut > 0 || !batched);
        cuts.chain([digits]).collect()
    }

    /// The dims of a storage, in elements, where there are bars; leading dims come before the extents of the digits.
    pub(in crate::dialect) fn dims(
        &self,
        digits: usize,
        batched: bool,
        storage: &[u64],
    ) -> Option<Vec<u64>> {
        if self.0.is_empty() {
            return None;
        }
        let leading = storage.len().checked_sub(digits)?;
        let apart = batched && self.0.contains(&0);
        let mut dims = if apart { storage.get(..leading)?.to_vec() } else { Vec::new() };
        let mut from = dims.len();
        for end in self.ends(digits, batched) {
            let group = storage.get(from..leading + end)?;
            dims.push(group.iter().fold(1, |all, extent| all.saturating_mul(*extent)));
            from = leading + end;
        }
        Some(dims)
    }

    /// The dims of the array whose words have this shape, each of `per` elements; `None` where they do not follow from it.
    pub(in crate::dialect) fn array(
        &self,
        pattern: &Pattern,
        shape: &[u64],
        per: u64,
    ) -> Option<Vec<u64>> {
        let (digits, batched) = (pattern.digits().len(), pattern.is_batched());
        let leading_apart = batched && (self.0.is_empty() || self.0.contains(&0));
        if batched && !leading_apart {
            return None;
        }
        let ends = match self.0.is_empty() {
            true => (1..=digits).collect(),
            false => self.ends(digits, batched),
        };
        // Without bars every digit is a dim, and the last ones, of extent 1, may be left out.
        let mut shape = shape.to_vec();
        if !batched && self.0.is_empty() && shape.len() < ends.len() {
            shape.resize(ends.len(), 1);
        }
        let (leading, groups) = shape.split_at_checked(shape.len().checked_sub(ends.len())?)?;
        if !batched && !leading.is_empty() {
            return None;
        }
        let found = rests(pattern, &ends, groups, per)?;
        let mut dims = leading.to_vec();
        dims.extend(extents(pattern, &found)?);
        Some(dims)
    }
}

/// The extent of each digit, where the groups that end there have these extents in words.
fn rests(pattern: &Pattern, ends: &[usize], groups: &[u64], per: u64) -> Option<Vec<u64>> {
    let mut extents: Vec<u64> =
        pattern.digits().iter().map(|digit| digit.size().unwrap_or(1)).collect();
    let mut left = per;
    for (at, (&end, &words)) in ends.iter().zip(groups).enumerate().rev() {
        let from = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        let open: Vec<usize> =
            (from..end).filter(|i| pattern.digits()[*i].size().is_none()).collect();
        let fixed =
            extents.get(from..end)?.iter().try_fold(1u64, |all, one| all.checked_mul(*one))?;
        let is = match open.as_slice() {
            [] if fixed.is_multiple_of(left) => (fixed / left, 1),
            [] if left.is_multiple_of(fixed) => (1, left / fixed),
            [rest] => {
                let whole = words.checked_mul(left)?;
                *extents.get_mut(*rest)? =
                    whole.checked_div(fixed).filter(|_| whole.is_multiple_of(fixed))?;
                (words, 1)
            }
            _ => return None,
        };
        left = is.1;
        if is.0 != words {
            return None;
        }
    }
    (left == 1).then_some(extents)
}

/// The extents of the axes, of those of their digits.
fn extents(pattern: &Pattern, digits: &[u64]) -> Option<Vec<u64>> {
    let mut extents = vec![1u64; pattern.rank()];
    for (digit, extent) in pattern.digits().iter().zip(digits) {
        let axis = extents.get_mut(usize::from(digit.axis()))?;
        *axis = axis.checked_mul(*extent)?;
    }
    Some(extents)
}

/// The layout of `pattern` with the digit of this place in its order backwards.
pub(in crate::dialect) fn turned(
    pattern: &Pattern,
    tensor: &TensorLayout,
    digit: usize,
) -> Result<TensorLayout, Error> {
    let layout = tensor.layout();
    let Some(&found) = pattern.digits().get(digit) else { return Ok(tensor.clone()) };
    let leading = tensor.rank().saturating_sub(pattern.rank());
    let axes: Vec<&[Mode]> = (0..layout.rank()).filter_map(|axis| layout.axis(axis)).collect();
    let axis = leading + usize::from(found.axis());
    let before: usize = axes.iter().take(axis).map(|modes| modes.len()).sum();
    let mut modes = layout.modes().to_vec();
    let Some(mode) = modes.get_mut(before + usize::from(found.level())) else {
        return Ok(tensor.clone());
    };
    let overflow = || Error::overflow("a digit stored backwards overflows 64 bits");
    let stride = mode.stride();
    let last = i64::try_from(mode.extent().saturating_sub(1))
        .ok()
        .and_then(|last| last.checked_mul(stride));
    let offset = last.and_then(|last| layout.offset().checked_add(last)).ok_or_else(overflow)?;
    *mode = Mode::new(mode.extent(), stride.checked_neg().ok_or_else(overflow)?);
    let counts: Vec<usize> = axes.iter().map(|modes| modes.len()).collect();
    let profile = Profile::nested(&counts)?;
    let turned = Layout::new(&modes, &profile, offset, layout.swizzle())?;
    Ok(TensorLayout::new(tensor.extents(), &turned, tensor.capacity())?)
}

/// `letters` are the dims of the layout; `more` names the further ones that it takes.
pub(in crate::dialect) fn misfit(
    what: &dyn fmt::Display,
    letters: &[&str],
    more: &str,
    rank: usize,
) -> Error {
    let wrong = match letters.get(rank..) {
        Some([missing]) => format!("{missing} is missing"),
        Some(missing @ [_, ..]) => format!("{} are missing", missing.join(" and ")),
        _ => format!("{} too many", rank.saturating_sub(letters.len())),
    };
    let (own, letters) = (letters.len(), letters.join(" "));
    let message = format!(
        "`{what}` is a layout of the {own} dims {letters}{more}, the array has {rank}: {wrong}"
    );
    Error::mismatch(message)
}

/// The letter of an axis: the name of one of its digits without the number.
pub(in crate::dialect) fn letter(digit: &str) -> &str {
    match digit.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "" => digit,
        letter => letter,
    }
}

/// The layout of `pattern`, which takes no leading axes, with `stride` between the steps of its outermost digit.
pub(in crate::dialect) fn spread(
    pattern: &Pattern,
    tensor: &TensorLayout,
    stride: u64,
) -> Result<TensorLayout, Error> {
    let layout = tensor.layout();
    let Some(outermost) = pattern.digits().first() else { return Ok(tensor.clone()) };
    let axes: Vec<&[Mode]> = (0..layout.rank()).filter_map(|axis| layout.axis(axis)).collect();
    let at = |digit: usize| axes.get(digit).copied().unwrap_or(&[]);
    let before: usize = (0..usize::from(outermost.axis())).map(|axis| at(axis).len()).sum();
    let mut modes = layout.modes().to_vec();
    let Some(mode) = modes.get_mut(before + usize::from(outermost.level())) else {
        return Ok(tensor.clone());
    };
    let (steps, least) = (mode.extent(), u64::try_from(mode.stride()).unwrap_or(0));
    if stride < least {
        let message = format!("LD is {stride}, less than the {least} elements it steps over");
        return Err(Error::illegal(message));
    }
    let overflow = || Error::overflow(format!("an LD of {stride} overflows 64 bits"));
    *mode = Mode::new(steps, i64::try_from(stride).map_err(|_| overflow())?);
    let counts: Vec<usize> = axes.iter().map(|modes| modes.len()).collect();
    let profile = Profile::nested(&counts)?;
    let spread = Layout::new(&modes, &profile, layout.offset(), layout.swizzle())?;
    let capacity = match tensor.capacity() {
        0 => Some(0),
        _ => (steps - 1).checked_mul(stride).and_then(|front| front.checked_add(least)),
    };
    Ok(TensorLayout::new(tensor.extents(), &spread, capacity.ok_or_else(overflow)?)?)
}
