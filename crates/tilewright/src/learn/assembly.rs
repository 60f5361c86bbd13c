//! [`assemblies`] turns plans into assemblies, which the conversion of files runs within its memory bound. Making them takes the
//! memory that [`needed_memory`] returns.
//!
//! Each rank is a file of its own. Padding and constants become fill. What an assembly cannot express is refused: results in
//! which elements are packed into wider ones, and maps of very many parts.

use std::collections::HashMap;

use tilewright_core::Dtype;
use tilewright_files::Input;
use tilewright_learn::{
    CONSTANT, Code, Error, Learned, LearnedResult, MapDigit, Origin, TermPart, ZERO,
};
use tilewright_recipe::{Assembly, Digit, Made, Origin as From, Part};

use super::plan::{RankOf, ranks_of};

/// The most parts of one tensor.
pub(super) const MOST_PARTS: usize = 1 << 16;

/// Returns the number of ranks of a plan, 1 if no result names a rank.
///
/// ```
/// use tilewright::learn::{Learned, ranks};
/// assert_eq!(ranks(&Learned { sources: vec![], results: vec![] }), 1);
/// ```
pub fn ranks(learned: &Learned) -> usize {
    let of = |learnt: &LearnedResult| match ranks_of(&learnt.tensor.name).0 {
        RankOf::One(rank) => rank.saturating_add(1),
        RankOf::All => learnt.tensor.extents.first().map_or(1, |ranks| *ranks as usize),
        RankOf::None => 1,
    };
    learned.results.iter().map(of).max().unwrap_or(1)
}

/// A result as one rank has it: its name there, its extents, and the range of its places.
pub(super) struct OfRank<'a> {
    pub(super) learnt: &'a LearnedResult,
    pub(super) name: &'a str,
    pub(super) extents: &'a [u64],
    from: i64,
    pub(super) size: i64,
}

/// Returns the results of a rank.
pub(super) fn of_rank(learned: &Learned, rank: usize) -> Vec<OfRank<'_>> {
    fn one(learnt: &LearnedResult, rank: usize) -> Option<OfRank<'_>> {
        let (ranks, name) = ranks_of(&learnt.tensor.name);
        let (extents, size) = (&*learnt.tensor.extents, learnt.description.size() as i64);
        Some(match ranks {
            RankOf::None => OfRank { learnt, name, extents, from: 0, size },
            RankOf::One(own) if own != rank => return None,
            RankOf::One(_) => OfRank { learnt, name, extents, from: 0, size },
            RankOf::All => {
                let size = size / extents.first().copied().unwrap_or(1).max(1) as i64;
                let (from, extents) = (rank as i64 * size, extents.get(1..)?);
                OfRank { learnt, name, extents, from, size }
            }
        })
    }
    learned.results.iter().filter_map(|learnt| one(learnt, rank)).collect()
}

/// A box of a result: its source, and both sides at digits of 0. All steps of the result are positive.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) source: usize,
    pub(super) offset: i64,
    pub(super) at: i64,
    pub(super) digits: Vec<MapDigit>,
}

impl Moved {
    fn of(part: TermPart<'_>) -> Option<Moved> {
        let Origin::Source(source) = part.origin else { return None };
        let mut made =
            Moved { source, offset: part.offset, at: part.at, digits: part.digits.to_vec() };
        for digit in &mut made.digits {
            if digit.result < 0 {
                let last = digit.extent as i64 - 1;
                (made.offset, made.at) =
                    (made.offset + last * digit.source, made.at + last * digit.result);
                (digit.source, digit.result) = (-digit.source, -digit.result);
            }
        }
        Some(made)
    }

    /// Calls `each` with boxes of the elements whose places are in a range. If `forward`, their steps in the source are positive.
    fn within(self, range: (i64, i64), forward: bool, each: &mut dyn FnMut(Moved) -> bool) -> bool {
        let last =
            self.at + self.digits.iter().map(|d| (d.extent as i64 - 1) * d.result).sum::<i64>();
        if last < range.0 || self.at >= range.1 {
            return true;
        }
        if let Some(number) = self.digits.iter().position(|digit| forward && digit.source < 0) {
            return self.split(number).all(|one| one.within(range, forward, each));
        }
        let widest = (0..self.digits.len()).max_by_key(|k| self.digits[*k].result);
        match widest.filter(|_| self.at < range.0 || last >= range.1) {
            None => each(self),
            Some(number) => self.cut_at((number, last), range, forward, each),
        }
    }

    /// Calls `each` with boxes of a box that crosses the border of a range, cut by one digit: the values that are inside as a whole
    /// are one box. `last` is the last place of the box.
    fn cut_at(
        self,
        (number, last): (usize, i64),
        range: (i64, i64),
        forward: bool,
        each: &mut dyn FnMut(Moved) -> bool,
    ) -> bool {
        let digit = self.digits[number];
        let extent = digit.extent as i64;
        let inner = last - self.at - (extent - 1) * digit.result;
        // The first value whose box begins at a place or after it.
        let from = |place: i64| {
            let steps = place - self.at + digit.result - 1;
            steps.div_euclid(digit.result).clamp(0, extent)
        };
        let (first, end) = (from(range.0), from(range.1 - inner).max(from(range.0)));
        let of = |x: i64, count: i64| {
            let mut one = self.clone();
            one.offset += x * digit.source;
            one.at += x * digit.result;
            one.digits[number].extent = count as u64;
            one.digits.retain(|digit| digit.extent > 1);
            one
        };
        let whole = first == end || each(of(first, end - first));
        let mut crossing = (from(range.0 - inner)..first).chain(end..from(range.1));
        whole && crossing.all(|x| of(x, 1).within(range, forward, each))
    }

    /// Returns the box as a part of a term.
    pub(super) fn part(&self) -> TermPart<'_> {
        let Moved { source, offset, at, digits } = self;
        TermPart { origin: Origin::Source(*source), offset: *offset, at: *at, digits }
    }

    /// Counts places in elements that are twice as wide.
    pub(super) fn halve(&mut self) {
        self.at /= 2;
        self.digits.iter_mut().for_each(|digit| digit.result /= 2);
    }

    /// Returns the number of elements.
    pub(super) fn elements(&self) -> i64 {
        self.digits.iter().map(|digit| digit.extent as i64).product()
    }

    /// Calls `each` with the elements of the source and their places.
    pub(super) fn each(&self, each: &mut dyn FnMut(i64, i64)) {
        let mut at = vec![0u64; self.digits.len()];
        let (mut element, mut place) = (self.offset, self.at);
        loop {
            each(element, place);
            let next = (0..at.len()).find(|k| {
                let digit = self.digits[*k];
                at[*k] += 1;
                (element, place) = (element + digit.source, place + digit.result);
                let wraps = at[*k] == digit.extent;
                if wraps {
                    let extent = digit.extent as i64;
                    (element, place) =
                        (element - digit.source * extent, place - digit.result * extent);
                    at[*k] = 0;
                }
                !wraps
            });
            if next.is_none() {
                return;
            }
        }
    }

    /// Iterates over the boxes at each value of a digit.
    pub(super) fn split(&self, number: usize) -> impl Iterator<Item = Moved> {
        let digit = self.digits[number];
        let mut rest = self.clone();
        rest.digits.remove(number);
        (0..digit.extent as i64).map(move |x| Moved {
            offset: rest.offset + x * digit.source,
            at: rest.at + x * digit.result,
            ..rest.clone()
        })
    }
}

/// Returns the boxes of a result at one rank, with places from 0. Their steps in the source have both signs.
pub(super) fn all_moves(result: &OfRank<'_>) -> Result<Vec<Moved>, Error> {
    boxes(result, usize::MAX, false).map(|found| found.0)
}

/// Returns the boxes of a result at one rank, with places from 0 and positive steps, for a conversion, which refuses very many.
pub(super) fn moves(result: &OfRank<'_>) -> Result<Vec<Moved>, Error> {
    let (all, is_whole) = boxes(result, MOST_PARTS, true)?;
    if !is_whole {
        let name = &result.learnt.tensor.name;
        let said = format!("{name} has more than {MOST_PARTS} parts; convert moves boxes");
        return Err(Error::unsupported(said));
    }
    Ok(all)
}

/// Returns the first boxes of a result at one rank, and whether these are all.
fn boxes(result: &OfRank<'_>, most: usize, forward: bool) -> Result<(Vec<Moved>, bool), Error> {
    let (mut all, range) = (Vec::new(), (result.from, result.from + result.size));
    let mut too_many = false;
    result.learnt.description.parts(&mut |part| {
        if let Some(moved) = Moved::of(part) {
            too_many |= !moved.within(range, forward, &mut |one| {
                all.push(Moved { at: one.at - range.0, ..one });
                all.len() <= most
            });
        }
    })?;
    Ok((all, !too_many))
}

/// Returns what each rank's file is made of: the tensors of `input`, by a plan.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the input has not the sources of the plan; [unsupported](Error::is_unsupported) for a result that
/// is not explained, that packs elements into wider ones, or that has too many parts or constants.
///
/// ```
/// use tilewright::{files::{Reading, open}, learn::{Learned, assemblies}};
/// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let nothing = Learned { sources: vec![], results: vec![] };
/// assert!(assemblies(&nothing, &open(model, &Reading::default())?)?[0].made.is_empty());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn assemblies(learned: &Learned, input: &Input) -> Result<Vec<Assembly>, Error> {
    let places = sources(learned, input)?;
    let of = |rank: usize| {
        let results = of_rank(learned, rank);
        let made = results.iter().map(|result| made(learned, result, &places));
        let made = made.collect::<Result<Vec<Made>, Error>>()?;
        Ok(Assembly { made, ..Assembly::default() })
    };
    (0..ranks(learned)).map(of).collect()
}

/// Returns the places of the sources among the tensors of an input, and then among its second names.
pub(super) fn sources(learned: &Learned, input: &Input) -> Result<Vec<usize>, Error> {
    let tied = input.tied().map(|(name, tensor)| (name.to_owned(), tensor));
    let own = input.tensors().iter().map(|tensor| (tensor.name().to_owned(), tensor));
    let all: HashMap<String, (usize, &tilewright_files::Tensor)> =
        own.chain(tied).enumerate().map(|(k, (name, tensor))| (name, (k, tensor))).collect();
    let of = |source: &tilewright_learn::NamedArray| {
        let (name, path) = (&source.name, input.path().display());
        let Some((place, tensor)) = all.get(name) else {
            return Err(Error::mismatch(format!("{path} lacks {name}, which the plan reads")));
        };
        if (tensor.dims(), tensor.dtype()) != (&source.extents[..], source.dtype) {
            return Err(Error::mismatch(format!(
                "{name} is {}{:?} in {path}, and {}{:?} in the plan; learn it at this size",
                tensor.dtype(),
                tensor.dims(),
                source.dtype,
                source.extents
            )));
        }
        Ok(*place)
    };
    learned.sources.iter().map(of).collect()
}

/// Returns whether a result has elements of bf16 as f32: the upper halves of its elements are those of the source.
pub(super) fn is_widened(learnt: &LearnedResult) -> bool {
    let elements: u64 = learnt.tensor.extents.iter().product();
    let is_upper = |part: &TermPart<'_>| {
        part.at % 2 == 1 && part.digits.iter().all(|digit| digit.result % 2 == 0)
    };
    let mut upper = true;
    let walked = learnt.description.parts(&mut |part| {
        upper &= part.origin == Origin::Zero || is_upper(&part);
    });
    (learnt.tensor.dtype, learnt.unit) == (Dtype::F32, Dtype::Bf16)
        && learnt.description.size() == 2 * elements
        && learnt.constants.runs().is_empty()
        && walked.is_ok()
        && upper
}

/// Checks that a result is explained and not packed.
pub(super) fn checked(learned: &Learned, learnt: &LearnedResult) -> Result<(), Error> {
    let name = &learnt.tensor.name;
    if learnt.unexplained.is_some() {
        return Err(Error::unsupported(format!("{name} has elements that are not explained")));
    }
    let elements: u64 = learnt.tensor.extents.iter().product();
    let unit = Code::of(learnt.unit)?.bits();
    if is_widened(learnt) {
        return Ok(());
    }
    if elements != learnt.description.size() || learnt.tensor.dtype.bits() != Some(unit) {
        let (unit, own) = (learnt.unit, learnt.tensor.dtype);
        let said = format!("{name} packs elements of {unit} into {own}; convert moves whole ones");
        return Err(Error::unsupported(said));
    }
    let mut other = None;
    learnt.description.parts(&mut |part| {
        if let Origin::Source(place) = part.origin
            && learned.sources[place].dtype != learnt.tensor.dtype
        {
            other = Some(place);
        }
    })?;
    match other {
        None => Ok(()),
        Some(place) => {
            let (source, own) = (&learned.sources[place], learnt.tensor.dtype);
            let said = format!("{name} has bits of {} {} as {own}", source.name, source.dtype);
            Err(Error::unsupported(said))
        }
    }
}

fn made(learned: &Learned, result: &OfRank<'_>, places: &[usize]) -> Result<Made, Error> {
    checked(learned, result.learnt)?;
    let mut moves = moves(result)?;
    let size: i64 = result.extents.iter().product::<u64>() as i64;
    let moved: i64 = moves.iter().map(Moved::elements).sum();
    let mut parts = match (is_widened(result.learnt), moved == size) {
        (false, _) => fills(result, &moves)?,
        (true, true) => Vec::new(),
        (true, false) => {
            let name = &result.learnt.tensor.name;
            return Err(Error::unsupported(format!("{name} has padding among wider elements")));
        }
    };
    if is_widened(result.learnt) {
        moves.iter_mut().for_each(Moved::halve);
    }
    parts.extend(moves.iter().map(|moved| {
        let origin = From::Source { tensor: places[moved.source], offset: moved.offset as u64 };
        Part { origin, offset: moved.at as u64, digits: digits(moved, false) }
    }));
    parts.sort_by_key(|part| part.offset);
    let (name, extents) = (result.name.to_owned(), result.extents.to_vec());
    Ok(Made { name, dtype: result.learnt.tensor.dtype, extents, layout: None, parts })
}

/// Returns the digits of a box, outermost first by the side that is made.
pub(super) fn digits(moved: &Moved, inverse: bool) -> Vec<Digit> {
    let one = |digit: &MapDigit| {
        let (source, made) = (digit.source as u64, digit.result as u64);
        let (source, made) = if inverse { (made, source) } else { (source, made) };
        Digit { extent: digit.extent, source, made }
    };
    let mut digits: Vec<Digit> = moved.digits.iter().map(one).collect();
    digits.sort_by_key(|digit| std::cmp::Reverse(digit.made));
    digits
}

/// Returns the zeros and constants of a result as parts.
fn fills(result: &OfRank<'_>, moves: &[Moved]) -> Result<Vec<Part>, Error> {
    let moved: u64 =
        moves.iter().map(|one| one.digits.iter().map(|d| d.extent).product::<u64>()).sum();
    if moved == result.size as u64 {
        return Ok(Vec::new());
    }
    let values = Values::of(result, moves)?;
    let mut constants = result.learnt.constants.iter().skip(values.before);
    // Runs of zeros and constants.
    let mut runs: Vec<(u64, u64, u64)> = Vec::new();
    for at in 0..result.size as usize {
        let bits = match values.id(at) {
            ZERO => 0,
            CONSTANT => constants.next().unwrap_or(0),
            _ => continue,
        };
        let at = at as u64;
        match runs.last_mut() {
            Some((value, from, count)) if *value == bits && *from + *count == at => *count += 1,
            _ => runs.push((bits, at, 1)),
        }
        if runs.len() > MOST_PARTS {
            let name = &result.learnt.tensor.name;
            let said = format!("{name} has more than {MOST_PARTS} runs of padding and constants");
            return Err(Error::unsupported(said));
        }
    }
    Ok(joined(&runs))
}

/// The origins of a result's places: all of them if some are constants, else which are of sources.
struct Values {
    ids: Vec<i64>,
    moved: Vec<u64>,
    from: usize,
    /// The number of constants before those of the rank.
    before: usize,
}

impl Values {
    fn of(result: &OfRank<'_>, moves: &[Moved]) -> Result<Values, Error> {
        let from = result.from as usize;
        if !result.learnt.constants.runs().is_empty() {
            let ids = result.learnt.description.expand()?;
            let before = ids[..from].iter().filter(|id| **id == CONSTANT).count();
            return Ok(Values { ids, moved: Vec::new(), from, before });
        }
        let mut moved = vec![0u64; (result.size as usize).div_ceil(64)];
        for one in moves {
            one.each(&mut |_, place| moved[place as usize / 64] |= 1 << (place % 64));
        }
        Ok(Values { ids: Vec::new(), moved, from, before: 0 })
    }

    /// Returns the number of what a place has, with 1 for any source.
    fn id(&self, at: usize) -> i64 {
        match self.ids.get(self.from + at) {
            Some(id) => *id,
            None if self.moved[at / 64] >> (at % 64) & 1 == 1 => 1,
            None => ZERO,
        }
    }
}

/// Returns the bytes that [`pack`](super::pack), or [`unpack`](super::unpack) for `inverse`, needs beside its buffers: a bit for each
/// element of the largest source or padded result, and eight bytes for each element of a result with constants.
///
/// ```
/// use tilewright::learn::{Learned, needed_memory};
/// assert_eq!(needed_memory(&Learned { sources: vec![], results: vec![] }, false), 0);
/// ```
pub fn needed_memory(learned: &Learned, inverse: bool) -> u64 {
    let of_source = |source: &tilewright_learn::NamedArray| {
        source.extents.iter().fold(1u64, |all, extent| all.saturating_mul(*extent)).div_ceil(8)
    };
    let of_result = |learnt: &LearnedResult| {
        let size = learnt.description.size();
        let terms = learnt.description.terms().iter();
        let moves = terms.filter(|term| matches!(term.origin, Origin::Source(_)));
        match (learnt.constants.runs().is_empty(), moves.map(|term| term.elements()).sum::<u64>()) {
            (false, _) => size.saturating_mul(8),
            (true, moved) if moved < size => size.div_ceil(8),
            (true, _) => 0,
        }
    };
    let most = match inverse {
        true => learned.sources.iter().map(of_source).max(),
        false => learned.results.iter().map(of_result).max(),
    };
    most.unwrap_or(0)
}

/// Returns parts for runs of values; equal runs at equal distances are one part.
fn joined(runs: &[(u64, u64, u64)]) -> Vec<Part> {
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < runs.len() {
        let (bits, from, count) = runs[at];
        let step = runs.get(at + 1).map_or(0, |next| next.1 - from);
        let follows = |k: &usize| {
            runs.get(at + k).is_some_and(|run| *run == (bits, from + *k as u64 * step, count))
        };
        let times = 1 + (1..).take_while(follows).count();
        let digit = |extent, made| Digit { extent, source: 0, made };
        let digits = [digit(times as u64, step), digit(count, 1)];
        let digits = digits.into_iter().filter(|digit| digit.extent > 1).collect();
        parts.push(Part { origin: From::Fill(bits), offset: from, digits });
        at += times;
    }
    parts
}

/// Returns the names of the sources of which a plan moves nothing, such as those that a loader ignores. The files of the ranks lack
/// them, and so does the way back.
///
/// # Errors
/// Those of [`assemblies`] for a plan that cannot be run.
///
/// ```
/// use tilewright::{Dtype, learn::{Learned, NamedArray, not_carried}};
/// let ignored = NamedArray { name: "inv_freq".into(), dtype: Dtype::F32, extents: vec![8] };
/// let learned = Learned { sources: vec![ignored], results: vec![] };
/// assert_eq!(not_carried(&learned)?, ["inv_freq"]);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn not_carried(learned: &Learned) -> Result<Vec<&str>, Error> {
    let mut carried = vec![false; learned.sources.len()];
    for rank in 0..ranks(learned) {
        for result in of_rank(learned, rank) {
            moves(&result)?.iter().for_each(|moved| carried[moved.source] = true);
        }
    }
    let names = learned.sources.iter().zip(carried).filter(|(_, carried)| !carried);
    Ok(names.map(|(source, _)| &*source.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The boxes of a range hold its elements once, and a run over the border of two ranks is one box in each.
    #[test]
    fn boxes_are_cut_at_the_borders_of_ranks() {
        let digit = |extent, source, result| MapDigit { extent, source, result };
        let boxes = [
            (vec![digit(24, 1, 1)], 1),
            (vec![digit(3, 1, 1), digit(8, 5, 3)], 3),
            (vec![digit(3, 8, 1), digit(8, 1, 4)], 3),
            (vec![digit(12, -1, 2), digit(2, 40, 1)], 24),
            (vec![], 1),
        ];
        for (digits, most) in boxes {
            let whole = Moved { source: 0, offset: 50, at: 2, digits };
            for from in 0..36 {
                for to in from..36 {
                    let mut want = Vec::new();
                    whole.each(&mut |element, place| want.push((element, place)));
                    want.retain(|(_, place)| (from..to).contains(place));
                    let (mut found, mut count) = (Vec::new(), 0);
                    let all = whole.clone().within((from, to), true, &mut |one| {
                        one.each(&mut |element, place| found.push((element, place)));
                        count += 1;
                        true
                    });
                    want.sort_unstable();
                    found.sort_unstable();
                    assert!(all && found == want, "{whole:?} {from} {to}: {found:?}");
                    assert!(count <= most, "{whole:?} {from} {to}: {count} boxes");
                }
            }
        }
    }
}
