//! [`Learned`]: a loader as descriptions of its results, which move data in both directions and are compared with fresh runs.

use std::collections::BTreeMap;

use tilewright_core::{Dtype, DtypeKind};

use crate::{
    COMPUTED, Code, Constants, Decoded, Decoder, Description, Error, Held, Origin, Space, describe,
    description::{Count, walk},
    space::{bytes, parts},
};

/// The name, element type and extents of an array.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_learn::NamedArray;
/// let tensor = NamedArray { name: "w".into(), dtype: Dtype::Bf16, extents: vec![4, 8] };
/// assert_eq!(tensor.extents.len(), 2);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedArray {
    /// The name.
    pub name: String,
    /// The element type.
    pub dtype: Dtype,
    /// The extents, outermost first.
    pub extents: Vec<u64>,
}

/// One result of a loader.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_learn::{MapSource, Sources, Space, NamedArray, learn_result};
/// let w = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![4] };
/// let space = Space::new(Sources::numbered([("w".into(), vec![4])])?, 128)?;
/// // The loader reverses.
/// let learnt = learn_result(&space, &[Dtype::U8], w, &mut |load| {
///     Ok(space.coded(0, load, Dtype::U8)?.into_iter().rev().collect())
/// })?;
/// assert_eq!(learnt.description.expand()?, [4, 3, 2, 1]);
/// assert_eq!(learnt.unexplained, None);
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedResult {
    /// The result.
    pub tensor: NamedArray,
    /// The element type by which its storage was read: that of the sources that it holds, which may be narrower than its own.
    pub unit: Dtype,
    /// Where each unit of its storage comes from.
    pub description: Description,
    /// The bits of its constants.
    pub constants: Constants,
    /// The first unit that is not explained.
    pub unexplained: Option<Unexplained>,
}

/// A unit of a result that is neither a source element nor a constant.
///
/// ```
/// use tilewright_learn::Unexplained;
/// let seen = Unexplained { place: 3, count: 1, seen: vec![0x3F80, 0x3F90] };
/// assert_eq!(seen.place, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The place of the first one, in units.
    pub place: u64,
    /// The number of such units.
    pub count: u64,
    /// The bits of the first one in each load.
    pub seen: Vec<u64>,
}

/// A loader that was learned: its sources and its results.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_learn::{Learned, Sources, Space, NamedArray, learn_result};
/// let w = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![2, 3] };
/// let space = Space::new(Sources::numbered([("w".into(), vec![2, 3])])?, 128)?;
/// let transposed = |bytes: Vec<u8>| [0, 3, 1, 4, 2, 5].map(|i| bytes[i]).to_vec();
/// let result = NamedArray { name: "packed".into(), dtype: Dtype::U8, extents: vec![3, 2] };
/// let learnt = learn_result(&space, &[Dtype::U8], result, &mut |load| {
///     Ok(transposed(space.coded(0, load, Dtype::U8)?))
/// })?;
/// let learned = Learned { sources: vec![w], results: vec![learnt] };
/// let fresh = learned.fresh(7)?;
/// let packed = learned.apply(&fresh)?;
/// assert_eq!(packed[0], transposed(fresh[0].clone()));
/// assert_eq!(learned.compare(&fresh, &packed)?, None);
/// assert_eq!(learned.invert(&packed)?.sources[0].as_ref(), Some(&fresh[0]));
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The sources, in the order of those of each description.
    pub sources: Vec<NamedArray>,
    /// The results.
    pub results: Vec<LearnedResult>,
}

/// The sources that results give back.
///
/// ```
/// use tilewright_learn::Inverted;
/// let inverted = Inverted { sources: vec![None], lost: vec![6] };
/// assert_eq!(inverted.lost, [6]);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inverted {
    /// The bytes of each source; zeros where elements are lost, and `None` if all are.
    pub sources: Vec<Option<Vec<u8>>>,
    /// The number of lost elements of each source.
    pub lost: Vec<u64>,
}

/// The first unit of a result that differs from what its description says.
///
/// ```
/// use tilewright_learn::Mismatch;
/// let first = Mismatch { result: 0, place: 5, want: 1, found: 2, differing: 1 };
/// assert_ne!(first.want, first.found);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The result, by its place in the list.
    pub result: usize,
    /// The place of the first unit that differs.
    pub place: u64,
    /// The bits that the description gives.
    pub want: u64,
    /// The bits that were found.
    pub found: u64,
    /// The number of units of the result that differ.
    pub differing: u64,
}

/// Learns one result: `read` returns its bytes in storage order for each load. The sources have these element types.
///
/// The storage is read as elements of each type of the sources, its own first, until all of it is explained. An element that
/// was cast to another type, such as f16 to bf16, is not explained: its bits are computed. bf16 widened to f32 is its bits
/// after two bytes of padding.
///
/// # Errors
/// Those of `read`, [`Decoder::add`] and [`describe`].
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_learn::{Sources, Space, NamedArray, learn_result};
/// let space = Space::new(Sources::numbered([("w".into(), vec![2])])?, 128)?;
/// let result = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![2] };
/// let plus_one = learn_result(&space, &[Dtype::U8], result, &mut |load| {
///     Ok(space.coded(0, load, Dtype::U8)?.iter().map(|byte| byte.wrapping_add(1)).collect())
/// })?;
/// assert_eq!(plus_one.unexplained.unwrap().place, 0);
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
pub fn learn_result(
    space: &Space,
    dtypes: &[Dtype],
    tensor: NamedArray,
    read: &mut dyn FnMut(u32) -> Result<Vec<u8>, Error>,
) -> Result<LearnedResult, Error> {
    let mut units: Vec<(Code, Dtype)> = Vec::new();
    for dtype in [tensor.dtype].iter().chain(dtypes) {
        if let Ok(code) = Code::of(*dtype)
            && units.iter().all(|unit| unit.0 != code)
            && dtypes.iter().any(|other| Code::of(*other) == Ok(code))
        {
            units.push((code, *dtype));
        }
    }
    let bytes = read(0)?.len();
    units.retain(|(code, _)| (bytes * 8).is_multiple_of(code.bits() as usize));
    if units.is_empty() {
        // No source has elements that the result could be made of: its bytes are constant or computed.
        units.push((Code::of(Dtype::U8)?, Dtype::U8));
    }
    let mut best: Option<(u64, Dtype, Decoded)> = None;
    for (_, unit) in units {
        let decoded = decoded(space, dtypes, unit, read)?;
        let unexplained = decoded.ids.iter().filter(|id| **id == COMPUTED).count() as u64;
        let bits = unexplained * u64::from(unit.bits().unwrap_or(8));
        if best.as_ref().is_none_or(|(least, ..)| bits < *least) {
            best = Some((bits, unit, decoded));
        }
        if bits == 0 {
            break;
        }
    }
    let (bits, mut unit, mut decoded) = best
        .ok_or_else(|| Error::unsupported(format!("no source can be read in {}", tensor.name)))?;
    let moves = decoded.ids.iter().any(|id| *id >= 0);
    if !moves && bits == 0 && Code::of(tensor.dtype).is_ok() {
        // Constants are elements of the result's own type.
        unit = tensor.dtype;
        decoded = self::decoded(space, dtypes, unit, read)?;
    }
    let count = bits / u64::from(unit.bits().unwrap_or(8));
    let unexplained = match decoded.unexplained() {
        Some(place) => {
            Some(Unexplained { place: place as u64, count, seen: seen(space, unit, place, read)? })
        }
        None => None,
    };
    let description = describe(&decoded.ids, space.sources())?;
    Ok(LearnedResult { tensor, unit, description, constants: decoded.constants, unexplained })
}

/// Decodes a result as elements of one type; elements of sources of another code are computed.
fn decoded(
    space: &Space,
    dtypes: &[Dtype],
    unit: Dtype,
    read: &mut dyn FnMut(u32) -> Result<Vec<u8>, Error>,
) -> Result<Decoded, Error> {
    let first = read(0)?;
    let bits = Code::of(unit)?.bits() as usize;
    let mut decoder = Decoder::new(space, unit, first.len() * 8 / bits)?;
    decoder.add(&first)?;
    for load in 1..space.loads() {
        decoder.add(&read(load)?)?;
    }
    let mut decoded = decoder.finish()?;
    let code = Code::of(unit);
    let other: Vec<bool> = dtypes.iter().map(|dtype| Code::of(*dtype) != code).collect();
    if other.contains(&true) {
        let mut cursor = space.sources().cursor();
        for id in &mut decoded.ids {
            if *id >= 0 && cursor.moves(*id) && other[cursor.place] {
                *id = COMPUTED;
            }
        }
    }
    Ok(decoded)
}

/// Returns the bits of one unit in each load.
fn seen(
    space: &Space,
    unit: Dtype,
    place: usize,
    read: &mut dyn FnMut(u32) -> Result<Vec<u8>, Error>,
) -> Result<Vec<u64>, Error> {
    let bits = Code::of(unit)?.bits();
    (0..space.loads())
        .map(|load| Ok(units(&read(load)?, bits).get(place).copied().unwrap_or(0)))
        .collect()
}

/// Returns bytes as units of some bits.
fn units(bytes: &[u8], bits: u32) -> Vec<u64> {
    match bits {
        2 | 4 => parts(bytes, bits).collect(),
        _ => bytes
            .chunks_exact(bits as usize / 8)
            .map(|word| word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
            .collect(),
    }
}

impl Learned {
    /// Returns random bytes for each source. All bits are random, and one element in 16 of floats is special: a NaN that signals
    /// or has a payload, an infinity, a zero with a sign, a subnormal. Types of 4 bits fill whole bytes.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a source whose type cannot be coded.
    ///
    /// ```
    /// use tilewright_learn::Learned;
    /// assert!(Learned { sources: vec![], results: vec![] }.fresh(1)?.is_empty());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn fresh(&self, seed: u64) -> Result<Vec<Vec<u8>>, Error> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
        let mut next = move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        let one = |tensor: &NamedArray| {
            let count = tensor.extents.iter().product::<u64>() as usize;
            let bits = Code::of(tensor.dtype)?.bits();
            let special = Specials::of(tensor.dtype, bits);
            let random =
                std::iter::repeat_with(|| special.some(next()) & (u64::MAX >> (64 - bits)));
            Ok(bytes(random.take(count), bits, count))
        };
        self.sources.iter().map(one).collect()
    }

    /// Returns what the loader makes of sources: the bytes of each result.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the number of sources or of their bytes is wrong; [unsupported](Error::is_unsupported) if
    /// a result has units that are not explained.
    ///
    /// ```
    /// use tilewright_learn::Learned;
    /// let nothing = Learned { sources: vec![], results: vec![] };
    /// assert!(nothing.apply(&[vec![0]]).unwrap_err().is_mismatch());
    /// ```
    pub fn apply(&self, sources: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Error> {
        self.checked(sources)?;
        let whole = self.results.iter().find(|learnt| learnt.unexplained.is_some());
        if let Some(learnt) = whole {
            return Err(Error::unsupported(format!(
                "{} has elements that are not explained; it cannot be made from the sources",
                learnt.tensor.name
            )));
        }
        self.results.iter().map(|learnt| Ok(made(learnt, sources)?.1)).collect()
    }

    /// Checks the sources' number and bytes.
    fn checked(&self, sources: &[Vec<u8>]) -> Result<(), Error> {
        if sources.len() != self.sources.len() {
            let (have, want) = (sources.len(), self.sources.len());
            return Err(Error::mismatch(format!("{have} sources for a loader of {want}")));
        }
        for (bytes, tensor) in sources.iter().zip(&self.sources) {
            let bits =
                tensor.extents.iter().product::<u64>() * u64::from(Code::of(tensor.dtype)?.bits());
            if bytes.len() as u64 != bits.div_ceil(8) {
                return Err(Error::mismatch(format!(
                    "source {} has {} bytes, not {}",
                    tensor.name,
                    bytes.len(),
                    bits.div_ceil(8)
                )));
            }
        }
        Ok(())
    }

    /// Returns the first difference between results and what the descriptions make of the sources. Units that are not
    /// explained are not compared.
    ///
    /// # Errors
    /// Those of [`Learned::apply`] about sources; [mismatch](Error::is_mismatch) for results of other sizes.
    ///
    /// ```
    /// use tilewright_learn::Learned;
    /// assert_eq!(Learned { sources: vec![], results: vec![] }.compare(&[], &[])?, None);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn compare(
        &self,
        sources: &[Vec<u8>],
        results: &[Vec<u8>],
    ) -> Result<Option<Mismatch>, Error> {
        self.checked(sources)?;
        self.sized(results)?;
        for (number, (learnt, found)) in self.results.iter().zip(results).enumerate() {
            let (known, want) = made(learnt, sources)?;
            if known.is_none() && want == *found {
                continue;
            }
            let bits = Code::of(learnt.unit)?.bits();
            let (want, found) = (units(&want, bits), units(found, bits));
            let is_known = |place: usize| known.as_ref().is_none_or(|known| known[place]);
            let differs = |place: &usize| is_known(*place) && want[*place] != found[*place];
            let mut differing = (0..want.len()).filter(differs);
            if let Some(place) = differing.next() {
                let count = 1 + differing.count() as u64;
                return Ok(Some(Mismatch {
                    result: number,
                    place: place as u64,
                    want: want[place],
                    found: found[place],
                    differing: count,
                }));
            }
        }
        Ok(None)
    }

    /// Checks the results' number and bytes.
    fn sized(&self, results: &[Vec<u8>]) -> Result<(), Error> {
        if results.len() != self.results.len() {
            let (have, want) = (results.len(), self.results.len());
            return Err(Error::mismatch(format!("{have} results of a loader with {want}")));
        }
        for (bytes, learnt) in results.iter().zip(&self.results) {
            let bits = learnt.description.size() * u64::from(Code::of(learnt.unit)?.bits());
            if bytes.len() as u64 != bits.div_ceil(8) {
                return Err(Error::mismatch(format!(
                    "result {} has {} bytes, not {}; its sizes differ from those that were learned",
                    learnt.tensor.name,
                    bytes.len(),
                    bits.div_ceil(8)
                )));
            }
        }
        Ok(())
    }

    /// Returns what is left of the maps when units that results of fresh data contradict count as computed: the check digit of a
    /// computed element is right by chance once in 128 times. If more units are contradicted than chance explains, the loader
    /// decides by values, and all units of that result count as computed. Other fresh data test what is left.
    ///
    /// # Errors
    /// Those of [`Learned::compare`] and [`describe`].
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::*;
    /// let space = Space::new(Sources::numbered([("w".into(), vec![2])])?, 128)?;
    /// let w = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![2] };
    /// let copied = learn_result(&space, &[Dtype::U8], w.clone(), &mut |load| space.coded(0, load, Dtype::U8))?;
    /// let learned = Learned { sources: vec![w], results: vec![copied] };
    /// // The second element of the result is not that of the source.
    /// let left = learned.without(&[vec![1, 2]], &[vec![1, 3]])?;
    /// assert_eq!(left.results[0].description.expand()?, [1, COMPUTED]);
    /// assert_eq!(left.results[0].unexplained.as_ref().map(|seen| seen.place), Some(1));
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn without(&self, sources: &[Vec<u8>], results: &[Vec<u8>]) -> Result<Learned, Error> {
        self.checked(sources)?;
        self.sized(results)?;
        let radix = self.sources.iter().map(|source| Ok(Code::of(source.dtype)?.radix()));
        let radix = radix.collect::<Result<Vec<u64>, Error>>()?.into_iter().min().unwrap_or(2);
        let both = self.results.iter().zip(results);
        let results = both.map(|(learnt, found)| corrected(learnt, radix, sources, found));
        let results = results.collect::<Result<_, Error>>()?;
        Ok(Learned { sources: self.sources.clone(), results })
    }

    /// Returns the sources from the results.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for results of other sizes, or if two places that hold one element differ.
    ///
    /// ```
    /// use tilewright_learn::Learned;
    /// assert!(Learned { sources: vec![], results: vec![] }.invert(&[])?.lost.is_empty());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn invert(&self, results: &[Vec<u8>]) -> Result<Inverted, Error> {
        self.sized(results)?;
        let sizes: Vec<usize> = self
            .sources
            .iter()
            .map(|source| source.extents.iter().product::<u64>() as usize)
            .collect();
        let mut values: Vec<Vec<u64>> = sizes.iter().map(|size| vec![0; *size]).collect();
        let mut seen: Vec<Vec<bool>> = sizes.iter().map(|size| vec![false; *size]).collect();
        for (learnt, bytes) in self.results.iter().zip(results) {
            let units = units(bytes, Code::of(learnt.unit)?.bits());
            let mut fault = None;
            learnt.description.parts(&mut |part| {
                let Origin::Source(place) = part.origin else { return };
                walk(part.digits, part.offset, part.at, &mut |source, at, step, run| {
                    for k in 0..run as i64 {
                        let (element, unit) =
                            ((source + k * step.0) as usize, units[(at + k * step.1) as usize]);
                        if seen[place][element] && values[place][element] != unit {
                            fault = fault.or(Some((place, element)));
                        }
                        (values[place][element], seen[place][element]) = (unit, true);
                    }
                });
            })?;
            if let Some((place, element)) = fault {
                let source = &learnt.description.sources().list()[place];
                return Err(Error::mismatch(format!(
                    "two places hold element {:?} of {} and differ; one of them is in {}",
                    source.coordinate(element as i64),
                    source.name,
                    learnt.tensor.name
                )));
            }
        }
        let lost: Vec<u64> =
            seen.iter().map(|seen| seen.iter().filter(|seen| !**seen).count() as u64).collect();
        let back = |place: usize| {
            let bits = Code::of(self.sources[place].dtype)?.bits();
            let all = bytes(values[place].iter().copied(), bits, sizes[place]);
            Ok((lost[place] < sizes[place] as u64 || sizes[place] == 0).then_some(all))
        };
        let sources = (0..sizes.len()).map(back).collect::<Result<_, Error>>()?;
        Ok(Inverted { sources, lost })
    }

    /// Returns how often the elements of each source are held by all results.
    ///
    /// # Errors
    /// Those of [`Description::parts`].
    ///
    /// ```
    /// use tilewright_learn::Learned;
    /// assert!(Learned { sources: vec![], results: vec![] }.held()?.is_empty());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn held(&self) -> Result<Vec<Held>, Error> {
        let Some(first) = self.results.first() else {
            let missing = |source: &NamedArray| {
                let missing = source.extents.iter().product();
                Held { missing, first_missing: (missing > 0).then_some(0), ..Held::default() }
            };
            return Ok(self.sources.iter().map(missing).collect());
        };
        let mut count = Count::new(first.description.sources())?;
        self.results.iter().try_for_each(|learnt| learnt.description.count(&mut count))?;
        Ok(count.held())
    }

    /// Returns the sources of which at least one element is held by nothing, without those that `dropped` names.
    ///
    /// # Errors
    /// Those of [`Learned::held`].
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::{Learned, NamedArray};
    /// let one = |name: &str| NamedArray { name: name.into(), dtype: Dtype::U8, extents: vec![2] };
    /// let learned = Learned { sources: vec![one("w"), one("a.inv_freq")], results: vec![] };
    /// let lost = learned.lost(&|name| name.ends_with(".inv_freq"))?;
    /// assert_eq!(lost.keys().collect::<Vec<&String>>(), ["w"]);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn lost(&self, dropped: &dyn Fn(&str) -> bool) -> Result<BTreeMap<String, Held>, Error> {
        let held = self.sources.iter().map(|source| source.name.clone()).zip(self.held()?);
        Ok(held.filter(|(name, held)| held.missing > 0 && !dropped(name)).collect())
    }
}

/// The number of units that chance may contradict in any result.
const FEW: u64 = 8;

/// Returns a result whose units that differ from its map are computed. Check digits are below `radix`.
fn corrected(
    learnt: &LearnedResult,
    radix: u64,
    sources: &[Vec<u8>],
    found: &[u8],
) -> Result<LearnedResult, Error> {
    let (known, want) = made(learnt, sources)?;
    let bits = Code::of(learnt.unit)?.bits();
    let (want, found) = (units(&want, bits), units(found, bits));
    let is_known = |place: &usize| known.as_ref().is_none_or(|known| known[*place]);
    let places = (0..want.len()).filter(is_known);
    let contradicted = places.filter(|place| want[*place] != found[*place]).count() as u64;
    let computed = learnt.unexplained.as_ref().map_or(0, |unexplained| unexplained.count);
    // One computed unit in `radix` passes by chance. Four times as many show a loader that decides by values.
    let is_chance = contradicted <= computed / (radix / 4).max(1) + FEW;
    let (mut ids, mut constants) = (learnt.description.expand()?, Constants::default());
    let mut bits_of = learnt.constants.iter();
    let mut unexplained: Option<Unexplained> = None;
    for (place, id) in ids.iter_mut().enumerate() {
        let constant = if *id == crate::CONSTANT { bits_of.next() } else { None };
        if want[place] != found[place] || !is_chance {
            *id = COMPUTED;
        }
        match (*id, constant) {
            (COMPUTED, _) => {
                let first =
                    || Unexplained { place: place as u64, count: 0, seen: vec![found[place]] };
                unexplained.get_or_insert_with(first).count += 1;
            }
            (_, Some(bits)) => constants.push(bits),
            (_, None) => {}
        }
    }
    if let (Some(now), Some(before)) = (&mut unexplained, &learnt.unexplained)
        && now.place == before.place
    {
        now.seen.clone_from(&before.seen);
    }
    let description = describe(&ids, learnt.description.sources())?;
    Ok(LearnedResult { description, constants, unexplained, ..learnt.clone() })
}

/// The exponent and the fraction of a float of 16 bits or more, from which special values are made.
#[derive(Clone, Copy)]
struct Specials(Option<(u64, u64)>);

impl Specials {
    fn of(dtype: Dtype, bits: u32) -> Specials {
        let fraction = match (dtype.kind(), dtype, bits) {
            (DtypeKind::Float, Dtype::F16, _) => 10,
            (DtypeKind::Float, _, 16) => 7,
            (DtypeKind::Float, _, 32) => 23,
            (DtypeKind::Float, _, 64) => 52,
            _ => return Specials(None),
        };
        let fraction = (1u64 << fraction) - 1;
        Specials(Some((((1 << (bits - 1)) - 1) & !fraction, fraction)))
    }

    /// Returns the random bits, or a special value in one case of 16. The sign is random.
    fn some(self, random: u64) -> u64 {
        let Some((exponent, fraction)) = self.0.filter(|_| random >> 60 == 0) else {
            return random;
        };
        let sign = (random >> 59 & 1) * (exponent + fraction + 1);
        let quiet = fraction & !(fraction >> 1);
        sign | match random >> 56 & 7 {
            0 => exponent | 1,
            1 => exponent | (fraction & !quiet),
            2 => exponent | quiet,
            3 => exponent | fraction,
            4 => exponent,
            5 => 0,
            6 => 1,
            _ => fraction,
        }
    }
}

/// Returns the bytes of a result, and which of its units are known; `None` if all are.
fn made(
    learnt: &LearnedResult,
    sources: &[Vec<u8>],
) -> Result<(Option<Vec<bool>>, Vec<u8>), Error> {
    let bits = Code::of(learnt.unit)?.bits();
    let mut made = vec![0u64; learnt.description.size() as usize];
    let mut known = learnt.unexplained.as_ref().map(|_| vec![true; made.len()]);
    let mut units_of: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    learnt.description.parts(&mut |part| {
        let Origin::Source(place) = part.origin else { return };
        let values = units_of.entry(place).or_insert_with(|| units(&sources[place], bits));
        walk(part.digits, part.offset, part.at, &mut |source, at, step, run| {
            for k in 0..run as i64 {
                made[(at + k * step.1) as usize] = values[(source + k * step.0) as usize];
            }
        });
    })?;
    if known.is_some() || !learnt.constants.runs().is_empty() {
        let mut constants = learnt.constants.iter();
        for (place, id) in learnt.description.expand()?.into_iter().enumerate() {
            match (id, &mut known) {
                (COMPUTED, Some(known)) => known[place] = false,
                (crate::CONSTANT, _) => made[place] = constants.next().unwrap_or(0),
                (_, _) => {}
            }
        }
    }
    let count = made.len();
    Ok((known, bytes(made.into_iter(), bits, count)))
}
