//! [`Description`]: a map as terms. It expands to the numbers that it was made from.

use crate::{
    COMPUTED, CONSTANT, Error, MapDigit, MapSource, MapTerm, Origin, Sources, TermAxis, TermPart,
    ZERO,
    source::{Families, split},
    term,
};

/// The origin of each element of a result, as terms.
///
/// ```
/// use tilewright_learn::{Sources, ZERO, describe};
/// let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
/// // Rows of three, each padded to four.
/// let learned = describe(&[1, 2, 3, ZERO, 4, 5, 6, ZERO], &sources)?;
/// assert_eq!(learned.terms().len(), 1);
/// assert_eq!(learned.expand()?, [1, 2, 3, ZERO, 4, 5, 6, ZERO]);
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    size: u64,
    sources: Sources,
    families: Families,
    terms: Vec<MapTerm>,
    rest: Origin,
}

/// How often the elements of one source are held.
///
/// ```
/// use tilewright_learn::{Held, Sources, describe};
/// let sources = Sources::numbered([("w".into(), vec![3])])?;
/// let held = describe(&[1, 1, 2], &sources)?.held()?;
/// assert_eq!(held[0], Held { least: 0, most: 2, missing: 1, first_missing: Some(2) });
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The smallest number of places of an element.
    pub least: u32,
    /// The largest number of places of an element.
    pub most: u32,
    /// The number of elements that the result does not hold.
    pub missing: u64,
    /// The first element that the result does not hold, by its row-major index.
    pub first_missing: Option<u64>,
}

impl Description {
    pub(crate) fn new(
        size: u64,
        sources: Sources,
        families: Families,
        terms: Vec<MapTerm>,
        rest: Origin,
    ) -> Description {
        Description { size, sources, families, terms, rest }
    }

    /// Returns the terms. Places that no term has are as [`Description::rest`] says.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// assert!(describe(&[], &Sources::new(vec![])?)?.terms().is_empty());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn terms(&self) -> &[MapTerm] {
        &self.terms
    }

    /// Returns what the elements are that no term has.
    ///
    /// ```
    /// use tilewright_learn::{CONSTANT, Origin, Sources, describe};
    /// assert_eq!(describe(&[CONSTANT], &Sources::new(vec![])?)?.rest(), Origin::Constant);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn rest(&self) -> Origin {
        self.rest
    }

    /// Returns the number of elements of the result, padding included.
    ///
    /// ```
    /// use tilewright_learn::{Sources, ZERO, describe};
    /// assert_eq!(describe(&[ZERO; 3], &Sources::new(vec![])?)?.size(), 3);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the sources.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// assert_eq!(describe(&[], &Sources::new(vec![])?)?.sources().end(), 0);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns how many integers all terms are.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("w".into(), vec![1 << 10])])?;
    /// let ids: Vec<i64> = (1..=1 << 10).collect();
    /// assert_eq!(describe(&ids, &sources)?.integers(), 6);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn integers(&self) -> u64 {
        self.terms.iter().map(MapTerm::integers).sum()
    }

    /// Calls `each` with boxes that make up all terms: what moves, compares and fills.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if a term leaves its source.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let learned = describe(&[2, 1], &Sources::numbered([("w".into(), vec![2])])?)?;
    /// let mut moved = 0;
    /// learned.parts(&mut |part| moved += part.digits.iter().map(|digit| digit.extent).product::<u64>())?;
    /// assert_eq!(moved, 2);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn parts(&self, each: &mut dyn FnMut(TermPart<'_>)) -> Result<(), Error> {
        self.terms.iter().try_for_each(|term| term::parts(term, &self.families, each))
    }

    /// Returns the number of each element of the result, in storage order: what was described.
    ///
    /// # Errors
    /// Those of [`Description::parts`].
    ///
    /// ```
    /// use tilewright_learn::{COMPUTED, Sources, describe};
    /// let sources = Sources::numbered([("w".into(), vec![2])])?;
    /// assert_eq!(describe(&[2, COMPUTED, 1], &sources)?.expand()?, [2, COMPUTED, 1]);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn expand(&self) -> Result<Vec<i64>, Error> {
        let mut ids = vec![number(self.rest, 0, &self.sources); self.size as usize];
        let mut outside = 0;
        self.parts(&mut |part| {
            let (from, step) = self.numbers(&part);
            walk(part.digits, part.offset * step, part.at, &mut |source, place, stride, run| {
                for k in 0..run as i64 {
                    let (id, at) = (from + source + k * stride.0 * step, place + k * stride.1);
                    match usize::try_from(at).ok().and_then(|at| ids.get_mut(at)) {
                        Some(place) => *place = id,
                        None => outside += 1,
                    }
                }
            });
        })?;
        match outside {
            0 => Ok(ids),
            _ => Err(Error::illegal(format!("{outside} elements are outside the result"))),
        }
    }

    /// Returns the number at element 0 of the part's source, and how much it grows with an element.
    fn numbers(&self, part: &TermPart<'_>) -> (i64, i64) {
        let step = i64::from(matches!(part.origin, Origin::Source(_)));
        (number(part.origin, 0, &self.sources), step)
    }

    /// Returns the description, after it was compared with the numbers.
    pub(crate) fn verified(self, ids: &[i64]) -> Result<Description, Error> {
        let (mut seen, mut alike, mut covered) = (vec![0u64; ids.len().div_ceil(64)], true, 0u64);
        self.parts(&mut |part| {
            let (from, step) = self.numbers(&part);
            walk(part.digits, part.offset * step, part.at, &mut |source, place, stride, run| {
                alike &= (0..run as i64).all(|k| {
                    let at = (place + k * stride.1) as usize;
                    let same = ids.get(at) == Some(&(from + source + k * stride.0 * step));
                    if same {
                        let bit = 1 << (at % 64);
                        covered += u64::from(seen[at / 64] & bit == 0);
                        seen[at / 64] |= bit;
                    }
                    same
                });
            });
        })?;
        let rest = number(self.rest, 0, &self.sources);
        let others = ids.iter().filter(|id| **id == rest).count() as u64;
        match alike && covered + others == self.size {
            true => Ok(self),
            false => {
                Err(Error::new("internal", "a description differs from its map; please report it"))
            }
        }
    }

    /// Returns how often the elements of each source are held.
    ///
    /// # Errors
    /// Those of [`Description::parts`].
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("a".into(), vec![2]), ("b".into(), vec![2])])?;
    /// let held = describe(&[1, 2], &sources)?.held()?;
    /// assert_eq!((held[0].missing, held[1].missing), (0, 2));
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn held(&self) -> Result<Vec<Held>, Error> {
        let mut count = Count::new(&self.sources)?;
        self.count(&mut count)?;
        Ok(count.held())
    }

    /// Adds the places of this result to a count over several results of the same sources.
    ///
    /// # Errors
    /// Those of [`Description::parts`].
    pub(crate) fn count(&self, count: &mut Count) -> Result<(), Error> {
        self.parts(&mut |part| {
            if let Origin::Source(place) = part.origin {
                let counts = &mut count.0[place];
                walk(part.digits, part.offset, part.at, &mut |source, _, stride, run| {
                    for k in 0..run as i64 {
                        let element = (source + k * stride.0) as usize;
                        counts[element] = counts[element].saturating_add(1);
                    }
                });
            }
        })
    }
}

/// The largest number of elements whose uses are counted: 16 GiB of counters.
const COUNTED: i64 = 1 << 32;

/// The number of times that several results hold each element of each source.
pub(crate) struct Count(Vec<Vec<u32>>);

impl Count {
    /// Returns counts of zero. Sources of more than [`COUNTED`] elements are refused, because each has a counter.
    pub(crate) fn new(sources: &Sources) -> Result<Count, Error> {
        let all = sources.list().iter().map(MapSource::size).fold(0, i64::saturating_add);
        if all > COUNTED {
            return Err(Error::unsupported(format!(
                "the sources have {all} elements, and uses are counted of at most {COUNTED}"
            )));
        }
        Ok(Count(sources.list().iter().map(|source| vec![0; source.size() as usize]).collect()))
    }

    pub(crate) fn held(&self) -> Vec<Held> {
        let held = |counts: &Vec<u32>| Held {
            least: counts.iter().copied().min().unwrap_or(0),
            most: counts.iter().copied().max().unwrap_or(0),
            missing: counts.iter().filter(|count| **count == 0).count() as u64,
            first_missing: counts.iter().position(|count| *count == 0).map(|at| at as u64),
        };
        self.0.iter().map(held).collect()
    }
}

/// Returns the number of an element of an origin.
fn number(origin: Origin, element: i64, sources: &Sources) -> i64 {
    match origin {
        Origin::Source(place) => sources.list()[place].first + element,
        Origin::Zero => ZERO,
        Origin::Constant => CONSTANT,
        Origin::Computed => COMPUTED,
    }
}

/// Calls `each` with runs of a box: source, place, their steps, and the length.
pub(crate) fn walk(
    digits: &[MapDigit],
    source: i64,
    place: i64,
    each: &mut dyn FnMut(i64, i64, (i64, i64), u64),
) {
    let mut digits = digits.to_vec();
    digits.sort_by_key(|digit| digit.result.abs());
    let Some((inner, outer)) = digits.split_first() else {
        return each(source, place, (0, 0), 1);
    };
    let mut at = vec![0; outer.len()];
    let (mut source, mut place) = (source, place);
    loop {
        each(source, place, (inner.source, inner.result), inner.extent);
        let mut k = 0;
        while k < outer.len() {
            at[k] += 1;
            source += outer[k].source;
            place += outer[k].result;
            if at[k] < outer[k].extent {
                break;
            }
            source -= outer[k].source * outer[k].extent as i64;
            place -= outer[k].result * outer[k].extent as i64;
            at[k] = 0;
            k += 1;
        }
        if k == outer.len() {
            return;
        }
    }
}

impl Description {
    /// Returns the families of the sources.
    pub(crate) fn families(&self) -> &Families {
        &self.families
    }

    /// Returns the name of what a term comes from; the numbers of a family's names are axes.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("e.0.w".into(), vec![2]), ("e.1.w".into(), vec![2])])?;
    /// let learned = describe(&[1, 2, 4, 5], &sources)?;
    /// assert_eq!(learned.name(&learned.terms()[0]), "e.{}.w");
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn name(&self, term: &MapTerm) -> String {
        match term.origin {
            Origin::Zero => "zero".into(),
            Origin::Constant => "constant".into(),
            Origin::Computed => "computed".into(),
            Origin::Source(place) => self.name_of(place, term),
        }
    }

    /// Returns the name of a source, or of the sources of a family: numbers that differ are `{}`.
    fn name_of(&self, place: usize, term: &MapTerm) -> String {
        let mut members = std::collections::BTreeSet::new();
        let walked = term::parts(term, &self.families, &mut |part| {
            if let Origin::Source(member) = part.origin {
                members.insert(member);
            }
        });
        if let (1, Some(member)) = (members.len(), members.first()) {
            return self.sources.list()[*member].name.clone();
        }
        let all = || members.iter().map(|member| split(&self.sources.list()[*member].name));
        let Some((template, first)) = all().next().filter(|_| walked.is_ok()) else {
            return self.sources.list()[place].name.clone();
        };
        let differs = |k: usize| all().any(|(_, numbers)| numbers.get(k) != first.get(k));
        let mut name = String::new();
        for (k, text) in template.split("{}").enumerate() {
            match k.checked_sub(1) {
                Some(k) if differs(k) => name += "{}",
                Some(k) => name += &first[k].to_string(),
                None => {}
            }
            name += text;
        }
        name
    }
}

/// The largest step, extent or size of a description that was read.
const LARGEST: i128 = 1 << 56;

impl Description {
    /// Makes a description from its terms, such as those of a file.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a term that leaves its source or the result, for an XOR of digits that are not powers of
    /// two, for terms with more elements than the result has, and for two terms that have one place;
    /// [unsupported](Error::is_unsupported) beyond 2³⁴ elements.
    ///
    /// ```
    /// use tilewright_learn::{Description, Origin, Sources, MapTerm};
    /// let sources = Sources::numbered([("w".into(), vec![4])])?;
    /// let one = MapTerm { origin: Origin::Source(0), offset: 3, at: 1, axes: vec![], xor: vec![] };
    /// let made = Description::of(2, sources.clone(), vec![one.clone()], Origin::Zero)?;
    /// assert_eq!(made.expand()?, [-1, 4]);
    /// assert!(Description::of(1, sources, vec![one], Origin::Zero).unwrap_err().is_illegal());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn of(
        size: u64,
        sources: Sources,
        terms: Vec<MapTerm>,
        rest: Origin,
    ) -> Result<Description, Error> {
        let mut elements = 0i128;
        for (number, term) in terms.iter().enumerate() {
            let count = legal(term, &sources).ok_or_else(|| {
                Error::illegal(format!("term {number} has impossible digits or no source"))
            })?;
            elements += count;
        }
        if elements > i128::from(size) || i128::from(size) > LARGEST {
            let said = format!("terms of {elements} elements for a result of {size}");
            return Err(Error::illegal(said));
        }
        let families = Families::new(&sources);
        let made = Description::new(size, sources, families, terms, rest);
        let mut outside = 0u64;
        made.parts(&mut |part| {
            let reach = |digit: &MapDigit| (digit.extent as i64 - 1) * digit.result;
            let low: i64 = part.digits.iter().map(reach).filter(|reach| *reach < 0).sum();
            let high: i64 = part.digits.iter().map(reach).filter(|reach| *reach > 0).sum();
            outside += u64::from(part.at + low < 0 || part.at + high >= size as i64);
        })?;
        match (outside, made.overlap()?) {
            (0, None) => Ok(made),
            (0, Some(place)) => {
                Err(Error::illegal(format!("two terms have element {place} of the result")))
            }
            (_, _) => Err(Error::illegal(format!("{outside} boxes of terms leave the result"))),
        }
    }

    /// Returns the first place that two elements of terms have. Memory is used for places that terms have, in pages.
    fn overlap(&self) -> Result<Option<i64>, Error> {
        let elements: u64 = self.terms.iter().map(MapTerm::elements).sum();
        if elements > MOST_CHECKED {
            let said = format!("terms of {elements} elements; at most {MOST_CHECKED} are checked");
            return Err(Error::unsupported(said));
        }
        let mut pages = std::collections::HashMap::<i64, Box<[u64; 512]>>::new();
        let mut twice = None;
        // The page of the last place is held apart, so that the places of a run need no look-up each.
        let (mut number, mut page) = (i64::MIN, Box::new([0u64; 512]));
        self.parts(&mut |part| {
            walk(part.digits, 0, part.at, &mut |_, place, step, run| {
                for at in (0..run as i64).map(|k| place + k * step.1) {
                    if at >> 15 != number {
                        let next = pages.remove(&(at >> 15)).unwrap_or_else(|| Box::new([0; 512]));
                        pages.insert(number, std::mem::replace(&mut page, next));
                        number = at >> 15;
                    }
                    let word = &mut page[(at >> 6 & 511) as usize];
                    if *word >> (at & 63) & 1 == 1 && twice.is_none() {
                        twice = Some(at);
                    }
                    *word |= 1 << (at & 63);
                }
            });
        })?;
        Ok(twice)
    }
}

/// The most elements of terms whose places are compared: 16 billion.
const MOST_CHECKED: u64 = 1 << 34;

/// Returns the number of elements of a term, if its numbers are in range.
fn legal(term: &MapTerm, sources: &Sources) -> Option<i128> {
    let in_range = |number: i128| number.abs() <= LARGEST;
    let (mut elements, mut reach, mut extents) = (1i128, 0i128, Vec::new());
    for axis in &term.axes {
        match axis {
            TermAxis::Table { source, result } => {
                let all = source.iter().chain(result);
                reach += all.map(|step| i128::from(*step).abs()).max()?;
                (source.len() == result.len()).then_some(())?;
            }
            TermAxis::Digits { first, count, digits } => {
                let end = i128::from(*first) + i128::from(*count);
                let mut block = 1i128;
                for digit in digits {
                    let most = i128::from(digit.source).abs().max(i128::from(digit.result).abs());
                    reach += most.checked_mul(end)?;
                    block = block
                        .checked_mul(i128::from(digit.extent))
                        .filter(|b| *b > 0 && in_range(*b))?;
                    extents.push(digit.extent);
                }
                (in_range(end) && (!digits.is_empty() || end <= 1)).then_some(())?;
            }
        }
        elements =
            elements.checked_mul(i128::from(axis.count())).filter(|n| *n > 0 && in_range(*n))?;
    }
    let is_digit = |number: usize| extents.get(number).is_some_and(|e| e.is_power_of_two());
    let xors =
        term.xor.iter().all(|(from, onto)| from != onto && is_digit(*from) && is_digit(*onto));
    let source = !matches!(term.origin, Origin::Source(place) if place >= sources.list().len());
    let offsets = i128::from(term.offset).abs() + i128::from(term.at).abs() + reach;
    (xors && source && in_range(offsets) && term.axes.len() <= 64).then_some(elements)
}
