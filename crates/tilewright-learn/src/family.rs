//! [`Families`]: sources whose names differ in numbers alone, as one array with an axis more.
//!
//! The experts `experts.0.w` to `experts.7.w` are a family of 8 members. Addresses in a family are those of its members one after
//! another, with one address left out after each. So the number in a name is a digit like any other, and no run crosses the
//! border of a member.
//!
//! Law: families partition the sources, and members of one family have equal extents. They follow from the names alone, so
//! a description does not store them.

use std::collections::BTreeMap;

use crate::Sources;

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
