//! [`Sources`]: the arrays that a loader reads, and the numbers of their elements. [`Families`]: sources whose names differ in numbers
//! alone, as one array with an axis more.
//!
//! The experts `experts.0.w` to `experts.7.w` are a family of 8 members. Addresses in a family are those of its members one after
//! another, with one address left out after each. So the number in a name is a digit like any other, and no run crosses the
//! border of a member.
//!
//! Law: families partition the sources, and members of one family have equal extents. They follow from the names alone, so
//! a description does not store them.

use std::collections::BTreeMap;

use crate::Error;

/// The number of a result element that is zero in all loads: padding.
pub const ZERO: i64 = -1;
/// The number of a result element that has one value, not zero, in all loads.
pub const CONSTANT: i64 = -2;
/// The number of a result element that is anything else: computed, or memory that was never written.
pub const COMPUTED: i64 = -3;

/// One array that a loader reads. Its element at row-major index i has the number `first + i`.
///
/// ```
/// use tilewright_learn::MapSource;
/// let source = MapSource { name: "w".into(), extents: vec![2, 3], first: 1 };
/// assert_eq!((source.size(), source.end()), (6, 7));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSource {
    /// The name of the tensor.
    pub name: String,
    /// The extents, outermost first.
    pub extents: Vec<u64>,
    /// The number of the first element, at least 0.
    pub first: i64,
}

impl MapSource {
    /// Returns the number of elements.
    ///
    /// ```
    /// use tilewright_learn::MapSource;
    /// // A scalar has one element.
    /// assert_eq!(MapSource { name: "s".into(), extents: vec![], first: 1 }.size(), 1);
    /// ```
    pub fn size(&self) -> i64 {
        self.extents.iter().product::<u64>() as i64
    }

    /// Returns the number after that of the last element.
    ///
    /// ```
    /// use tilewright_learn::MapSource;
    /// assert_eq!(MapSource { name: "s".into(), extents: vec![0], first: 5 }.end(), 5);
    /// ```
    pub fn end(&self) -> i64 {
        self.first + self.size()
    }

    /// Returns the coordinate of an element, by its row-major index.
    ///
    /// ```
    /// use tilewright_learn::MapSource;
    /// let source = MapSource { name: "w".into(), extents: vec![2, 3], first: 1 };
    /// assert_eq!(source.coordinate(5), [1, 2]);
    /// ```
    pub fn coordinate(&self, index: i64) -> Vec<u64> {
        let mut rest = index as u64;
        let mut coordinate: Vec<u64> = self
            .extents
            .iter()
            .rev()
            .map(|extent| {
                let x = rest % extent.max(&1);
                rest /= extent.max(&1);
                x
            })
            .collect();
        coordinate.reverse();
        coordinate
    }
}

/// The sources of a map: no two of them share a number.
///
/// ```
/// use tilewright_learn::{MapSource, Sources};
/// let sources = Sources::numbered([("a".into(), vec![2]), ("b".into(), vec![3])])?;
/// // A number is left out after each source, so that no run of numbers crosses a border.
/// assert_eq!((sources.list()[1].first, sources.owner(4), sources.owner(3)), (4, Some(1), None));
/// let twice = sources.list().iter().cloned().chain([MapSource { name: "c".into(), extents: vec![9], first: 0 }]);
/// assert!(Sources::new(twice.collect()).unwrap_err().is_illegal());
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    list: Vec<MapSource>,
    /// First number, end and place in the list of the sources with elements, by their first numbers.
    order: Vec<(i64, i64, usize)>,
}

impl Sources {
    /// Makes sources from their first numbers.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a negative number, a name that occurs twice, or two sources with a common number;
    /// [overflow](Error::is_overflow) for more than 2⁵⁶ elements.
    ///
    /// ```
    /// use tilewright_learn::{MapSource, Sources};
    /// let one = MapSource { name: "w".into(), extents: vec![2, 3], first: 0 };
    /// assert_eq!(Sources::new(vec![one])?.end(), 6);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn new(list: Vec<MapSource>) -> Result<Sources, Error> {
        let mut order = Vec::new();
        for (place, source) in list.iter().enumerate() {
            let end = checked_end(source)?;
            if end > source.first {
                order.push((source.first, end, place));
            }
        }
        order.sort_unstable();
        for pair in order.windows(2) {
            if pair[0].1 > pair[1].0 {
                let [a, b] = [pair[0].2, pair[1].2].map(|place| &list[place].name);
                return Err(Error::illegal(format!(
                    "the sources {a} and {b} share the number {}; each element needs a number of its own",
                    pair[1].0
                )));
            }
        }
        unique(&list)?;
        Ok(Sources { list, order })
    }

    /// Makes sources from names and extents; the numbers start at 1, and one number is left out after each source.
    ///
    /// # Errors
    /// Those of [`Sources::new`].
    ///
    /// ```
    /// use tilewright_learn::Sources;
    /// assert_eq!(Sources::numbered([("w".into(), vec![2, 3])])?.list()[0].first, 1);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn numbered(list: impl IntoIterator<Item = (String, Vec<u64>)>) -> Result<Sources, Error> {
        let (mut first, mut all) = (1i64, Vec::new());
        for (name, extents) in list {
            let source = MapSource { name, extents, first };
            first = checked_end(&source)? + 1;
            all.push(source);
        }
        Sources::new(all)
    }

    /// Returns the sources in the order in which they were given.
    ///
    /// ```
    /// use tilewright_learn::Sources;
    /// assert!(Sources::new(vec![])?.list().is_empty());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn list(&self) -> &[MapSource] {
        &self.list
    }

    /// Returns the number after the largest one.
    ///
    /// ```
    /// use tilewright_learn::Sources;
    /// assert_eq!(Sources::numbered([("w".into(), vec![2, 3])])?.end(), 7);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn end(&self) -> i64 {
        self.order.last().map_or(0, |last| last.1)
    }

    /// Returns the place in the list of the source that has an element of this number.
    ///
    /// ```
    /// use tilewright_learn::Sources;
    /// let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
    /// assert_eq!((sources.owner(6), sources.owner(7), sources.owner(-1)), (Some(0), None, None));
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn owner(&self, id: i64) -> Option<usize> {
        let after = self.order.partition_point(|entry| entry.0 <= id);
        let (_, end, place) = *self.order.get(after.checked_sub(1)?)?;
        (id < end).then_some(place)
    }
}

/// Returns the number after the last one of a source, within 2⁵⁶.
fn checked_end(source: &MapSource) -> Result<i64, Error> {
    let name = &source.name;
    if source.first < 0 {
        return Err(Error::illegal(format!(
            "the first number of source {name} is {}; numbers start at 0",
            source.first
        )));
    }
    let size = source.extents.iter().try_fold(1u64, |size, extent| size.checked_mul(*extent));
    size.filter(|size| *size <= 1 << 56)
        .and_then(|size| source.first.checked_add(size as i64))
        .filter(|end| *end <= 1 << 56)
        .ok_or_else(|| Error::overflow(format!("the numbers of source {name} exceed 2^56")))
}

/// Checks that no name occurs twice.
fn unique(list: &[MapSource]) -> Result<(), Error> {
    let mut seen = std::collections::HashSet::new();
    match list.iter().find(|source| !seen.insert(source.name.as_str())) {
        Some(twice) => Err(Error::illegal(format!(
            "the name {} occurs twice; each source needs a name of its own",
            twice.name
        ))),
        None => Ok(()),
    }
}

/// The source that the last number was in: most numbers are in the source of the number before.
pub(crate) struct Cursor<'a> {
    sources: &'a Sources,
    first: i64,
    end: i64,
    pub(crate) place: usize,
}

impl Sources {
    /// Returns a cursor, in no source.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor { sources: self, first: 0, end: 0, place: 0 }
    }
}

impl Cursor<'_> {
    /// Moves to the source of a number, and returns whether there is one.
    #[inline]
    pub(crate) fn moves(&mut self, id: i64) -> bool {
        if self.first <= id && id < self.end {
            return true;
        }
        let Some(place) = self.sources.owner(id) else {
            return false;
        };
        let source = &self.sources.list[place];
        (self.first, self.end, self.place) = (source.first, source.end(), place);
        true
    }
}

/// The families of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Families {
    pub(crate) list: Vec<Family>,
    /// The family of each source, and its place in it.
    pub(crate) of: Vec<(usize, i64)>,
}

/// Sources with one template of names and equal extents, by the numbers in their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) members: Vec<usize>,
    pub(crate) extents: Vec<u64>,
    /// The distance of members: one more than their size.
    pub(crate) stride: i64,
}

/// Sources with the numbers in their names.
type Numbered = Vec<(Vec<u128>, usize)>;

impl Families {
    pub(crate) fn new(sources: &Sources) -> Families {
        let mut groups: BTreeMap<(String, &[u64]), Numbered> = BTreeMap::new();
        for (place, source) in sources.list().iter().enumerate() {
            let (template, numbers) = split(&source.name);
            groups.entry((template, &source.extents)).or_default().push((numbers, place));
        }
        let mut of = vec![(0, 0); sources.list().len()];
        let mut list = Vec::new();
        for ((_, extents), mut members) in groups {
            members.sort();
            let members: Vec<usize> = members.into_iter().map(|member| member.1).collect();
            for (rank, place) in members.iter().enumerate() {
                of[*place] = (list.len(), rank as i64);
            }
            let stride = 1 + extents.iter().product::<u64>() as i64;
            list.push(Family { members, extents: extents.to_vec(), stride });
        }
        Families { list, of }
    }
}

impl Family {
    /// Returns the place of the member at an address and the element of it; `None` outside all members.
    pub(crate) fn member(&self, address: i64) -> Option<(usize, i64)> {
        let rank = usize::try_from(address.div_euclid(self.stride)).ok()?;
        let element = address.rem_euclid(self.stride);
        (element + 1 < self.stride).then_some((*self.members.get(rank)?, element))
    }
}

/// Returns a name with its numbers taken out, and the numbers.
pub(crate) fn split(name: &str) -> (String, Vec<u128>) {
    let (mut template, mut numbers, mut digits) = (String::new(), Vec::new(), String::new());
    for c in name.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            template.push_str("{}");
            numbers.push(digits.parse().unwrap_or(u128::MAX));
            digits.clear();
        }
        template.push(c);
    }
    template.pop();
    (template, numbers)
}

impl Sources {
    /// Returns the places of the sources whose names differ from this one in numbers alone, and that have its extents, ordered by
    /// the numbers: a term counts them as one axis.
    ///
    /// ```
    /// use tilewright_learn::Sources;
    /// let sources = Sources::numbered(["e.10.w", "e.9.w", "norm"].map(|name| (name.into(), vec![2])))?;
    /// assert_eq!(sources.family("e.9.w"), [1, 0]);
    /// assert!(sources.family("e").is_empty());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn family(&self, name: &str) -> Vec<usize> {
        let families = Families::new(self);
        let place = self.list().iter().position(|source| source.name == name);
        place.map_or(Vec::new(), |place| families.list[families.of[place].0].members.clone())
    }
}
