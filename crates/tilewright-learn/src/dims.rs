//! The digits of a term by the dims of its source, from which patterns and layouts are written. A result of one source and padding
//! has a layout.

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::{
    Description, MapDigit, MapTerm, Origin, TermAxis,
    source::{Families, Family},
};

/// The indices of one dim of the source, for each index of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceDim {
    /// The first index.
    pub(crate) from: u64,
    /// The number of indices.
    pub(crate) count: u64,
    /// The number that is added to an index, less the first one, before it is written in digits: the part begins inside a block.
    pub(crate) phase: u64,
    /// The digits, the least significant first; `source` counts indices of the dim. The last one may be cut.
    pub(crate) digits: Vec<MapDigit>,
}

/// The dims of a term, and its place in the result at index 0 of all of them.
pub(crate) struct Dims {
    /// That of the members of the family, then those of a member.
    pub(crate) list: Vec<SourceDim>,
    pub(crate) at: i64,
}

/// Returns the dims of a term. `None` if the term has a table or an XOR, or if an index is not made of whole digits.
pub(crate) fn dims(term: &MapTerm, families: &Families) -> Option<Dims> {
    let Origin::Source(place) = term.origin else {
        return None;
    };
    if !term.xor.is_empty() {
        return None;
    }
    let (extents, strides) = shape(&families.list[families.of[place].0]);
    let (mut from, mut at, mut axes) = (term.offset, term.at, Vec::new());
    for axis in &term.axes {
        let TermAxis::Digits { first, count, digits } = axis else {
            return None;
        };
        let product: u64 = digits.iter().map(|digit| digit.extent).product();
        from += added(*first, digits);
        let forward = digits.iter().map(|digit| match digit.source < 0 && product == *count {
            true => {
                // The digit runs from its last value to its first.
                let last = digit.extent as i64 - 1;
                (from, at) = (from + last * digit.source, at + last * digit.result);
                MapDigit { source: -digit.source, result: -digit.result, ..*digit }
            }
            false => *digit,
        });
        axes.push((*first, *count, forward.collect::<Vec<MapDigit>>()));
    }
    let mut list = Vec::new();
    for stride in &strides {
        let first = u64::try_from(from.div_euclid(*stride)).ok()?;
        list.push(SourceDim { from: first, count: 1, phase: 0, digits: Vec::new() });
        from = from.rem_euclid(*stride);
    }
    for (first, count, digits) in axes {
        match first {
            0 => add(&mut list, count, digits, &extents, &strides)?,
            _ => add_phased(&mut list, (first, count), &digits, &strides)?,
        }
    }
    let mut of_extents = list.iter_mut().zip(&extents);
    of_extents
        .all(|(dim, extent)| dim.sorted() && dim.from + dim.count <= *extent)
        .then_some(Dims { list, at })
}

impl SourceDim {
    /// Sorts the digits, and returns whether each begins where the one before ends.
    fn sorted(&mut self) -> bool {
        self.digits.sort_by_key(|digit| digit.source);
        let mut step = 1;
        self.digits.iter().all(|digit| {
            let follows = digit.source == step;
            step *= digit.extent as i64;
            follows
        })
    }
}

/// Returns what an index adds in the source.
fn added(index: u64, digits: &[MapDigit]) -> i64 {
    let (mut rest, mut place) = (index, 0);
    for (k, digit) in digits.iter().enumerate() {
        let value = if k + 1 == digits.len() { rest } else { rest % digit.extent };
        rest /= digit.extent.max(1);
        place += value as i64 * digit.source;
    }
    place
}

/// Adds an axis that begins inside a block: all its digits are of one dim that has no others.
fn add_phased(
    dims: &mut [SourceDim],
    (first, count): (u64, u64),
    digits: &[MapDigit],
    strides: &[i64],
) -> Option<()> {
    let least = digits.first()?.source;
    let dim = (0..strides.len()).find(|k| strides[*k] == least && dims[*k].digits.is_empty())?;
    let mut step = 1;
    for digit in digits {
        if digit.source != least * step as i64 {
            return None;
        }
        dims[dim].digits.push(MapDigit { source: step as i64, ..*digit });
        step *= digit.extent;
    }
    (dims[dim].phase, dims[dim].count) = (first, count);
    Some(())
}

/// Returns the extents and strides of a family.
pub(crate) fn shape(family: &Family) -> (Vec<u64>, Vec<i64>) {
    let extents: Vec<u64> =
        [family.members.len() as u64].into_iter().chain(family.extents.iter().copied()).collect();
    let mut strides = vec![family.stride; extents.len()];
    let mut stride = 1;
    for k in (1..extents.len()).rev() {
        strides[k] = stride;
        stride *= extents[k] as i64;
    }
    (extents, strides)
}

/// Adds the digits of an axis to the dims that they count.
fn add(
    dims: &mut [SourceDim],
    count: u64,
    digits: Vec<MapDigit>,
    extents: &[u64],
    strides: &[i64],
) -> Option<()> {
    let product: u64 = digits.iter().map(|digit| digit.extent).product();
    let mut left: Vec<MapDigit> = digits.into_iter().rev().collect();
    let mut taken: Vec<(usize, i64, u64)> = Vec::new();
    while let Some(digit) = left.pop() {
        // The dim with the largest stride that the step is a whole number of.
        let whole = |k: &usize| digit.source % strides[*k] == 0 && extents[*k] > 1;
        let place = (0..strides.len()).find(|k| digit.source > 0 && whole(k))?;
        let (step, dim) = (digit.source / strides[place], &mut dims[place]);
        let room = (extents[place] - dim.from).div_ceil(step as u64);
        if digit.extent > room {
            // The digit goes on in the dim before.
            let is_whole = dim.from == 0 && room * step as u64 == extents[place];
            if digit.extent % room != 0 || !is_whole {
                return None;
            }
            let (source, result) = (digit.source * room as i64, digit.result * room as i64);
            left.push(MapDigit { extent: digit.extent / room, source, result });
            left.push(MapDigit { extent: room, ..digit });
            continue;
        }
        dim.digits.push(MapDigit { extent: digit.extent, source: step, result: digit.result });
        taken.push((place, step, digit.extent));
        dim.count *= digit.extent;
    }
    if product == count {
        return Some(());
    }
    // The last digit is cut: the last dim has fewer indices than its digits.
    let (last, step, _) = *taken.last()?;
    let of_last = taken.iter().rev().take_while(|digit| digit.0 == last).count();
    let product = |taken: &[(usize, i64, u64)]| taken.iter().map(|digit| digit.2).product::<u64>();
    let (lower, upper) = taken.split_at(taken.len() - of_last);
    let is_top = dims[last].digits.iter().all(|digit| digit.source <= step);
    dims[last].count /= product(upper);
    dims[last].count *= count / product(lower);
    (is_top && count.is_multiple_of(product(lower))).then_some(())
}

impl Description {
    /// Returns the layout of the result, if it holds all elements of one source once, and else zeros. The extents are those of
    /// the source. `None` if there is none of shape and strides.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
    /// let layout = describe(&[1, 4, 2, 5, 3, 6], &sources)?.layout().unwrap();
    /// assert_eq!(layout.layout().to_string(), "(2,3):(1,2)");
    /// // Half of the source has none.
    /// assert!(describe(&[1, 2, 3], &sources)?.layout().is_none());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn layout(&self) -> Option<TensorLayout> {
        let [term] = self.terms() else {
            return None;
        };
        let Origin::Source(place) = term.origin else {
            return None;
        };
        let extents = &self.sources().list()[place].extents;
        let dims = dims(term, self.families())?;
        let (members, list) = dims.list.split_first()?;
        let whole = list.iter().zip(extents).all(|(dim, e)| dim.count == *e && dim.phase == 0);
        let padded = term.elements() == self.size() || self.rest() == Origin::Zero;
        if !whole || !padded || members.count != 1 {
            return None;
        }
        let mode = |digit: &MapDigit| Mode::new(digit.extent, digit.result);
        let (mut modes, mut counts) = (Vec::new(), Vec::new());
        for dim in list {
            let before = modes.len();
            modes.extend(dim.digits.iter().map(mode));
            if modes.len() == before {
                modes.push(Mode::new(1, 0));
            }
            counts.push(modes.len() - before);
        }
        let layout = Layout::nested(&modes, &counts).ok()?.with_offset(dims.at).ok()?;
        TensorLayout::new(extents, &layout, self.size()).ok()
    }
}
