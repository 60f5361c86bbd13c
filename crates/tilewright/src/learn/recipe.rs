//! [`recipe`]: what was learned as a recipe, where recipes can express it.
//!
//! A dim of a result is written from the digits of all terms that fall into it: parts that follow one another are a sum, and a digit
//! that all parts share is a factor. The rank of `rank{T}/NAME` is an axis `T` in the name: a factor of a source's dim, or copies.
//! The result of the recipe is compared with the map before it is returned.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_learn::{
    Error, Learned, LearnedResult, MapDigit, MapSource, MapTerm, NamedArray, Origin, Sources,
    TermAxis,
};
use tilewright_recipe::{Assembly, Made, Origin as From, Recipe, Tensor};

use super::plan::{RankOf, ranks_of};

/// Returns the recipe that makes the results from the sources. [`Recipe::inverse`] is the way back.
///
/// # Errors
/// [no-layout](Error::is_no_layout) if a result has padding, constants, copies, tables, XORs, or parts of a source; the message names
/// the result. The plan has them all.
///
/// ```
/// use tilewright::{Dtype, learn::*};
/// let tensors = ["gate", "up"].map(|name| NamedArray { name: name.into(), dtype: Dtype::U8, extents: vec![2, 3] });
/// let named = tensors.iter().map(|tensor| (tensor.name.clone(), tensor.extents.clone()));
/// let space = Space::new(Sources::numbered(named)?, 128)?;
/// let result = NamedArray { name: "gate_up".into(), dtype: Dtype::U8, extents: vec![4, 3] };
/// let learnt = learn_result(&space, &[Dtype::U8; 2], result, &mut |load| {
///     Ok([space.coded(0, load, Dtype::U8)?, space.coded(1, load, Dtype::U8)?].concat())
/// })?;
/// let learned = Learned { sources: tensors.to_vec(), results: vec![learnt] };
/// let text = recipe(&learned)?.to_toml();
/// assert!(text.contains("gate_up : (c0_0 + c1_0) b0_0"), "{text}");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn recipe(learned: &Learned) -> Result<Recipe, Error> {
    let mut text = String::new();
    let held = learned.held()?;
    let dropped = learned.sources.iter().zip(&held).filter(|(_, held)| held.most == 0);
    let dropped: Vec<String> = dropped.map(|(source, _)| quoted(&escaped(&source.name))).collect();
    if !dropped.is_empty() {
        text += &format!("drop = [{}]\n", dropped.join(", "));
    }
    for learnt in &learned.results {
        let rule = rule(learnt).ok_or_else(|| refusal(learnt))?;
        text += &rule;
    }
    let made = Recipe::parse(&text).map_err(|_| Error::no_layout("the maps are not one recipe"))?;
    let tensors: Vec<Tensor> = learned
        .sources
        .iter()
        .map(|one| Tensor::new(&one.name, one.dtype, one.extents.clone()))
        .collect();
    let assembly = made.solve(&tensors, None, &BTreeMap::new());
    let assembly = assembly.map_err(|errors| Error::no_layout(errors.first().to_string()))?;
    match learned.results.iter().find(|learnt| !agrees(learnt, &assembly)) {
        Some(other) => Err(refusal(other)),
        None => Ok(made),
    }
}

fn refusal(learnt: &LearnedResult) -> Error {
    let name = &learnt.tensor.name;
    Error::no_layout(format!("no recipe expresses {name}; its plan does"))
}

/// Returns a text of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a name as a pattern that matches only it.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('*', "\\*").replace('?', "\\?").replace('[', "\\[")
}

/// Returns whether the recipe gives the map of a result, on each rank that has it.
fn agrees(learnt: &LearnedResult, assembly: &Assembly) -> bool {
    let Ok(ids) = learnt.description.expand() else { return false };
    let named = |name: &str| assembly.made.iter().find(|made| made.name == name);
    let is_made =
        |name: &str, ids: &[i64]| named(name).is_some_and(|made| gives(made, learnt, ids));
    match (ranks_of(&learnt.tensor.name), learnt.tensor.extents.first()) {
        ((RankOf::All, own), Some(ranks)) if *ranks > 0 && !ids.is_empty() => {
            let mut of_ranks = ids.chunks(ids.len() / *ranks as usize).enumerate();
            of_ranks.all(|(rank, ids)| is_made(&format!("rank{rank}/{own}"), ids))
        }
        (_, _) => is_made(&learnt.tensor.name, &ids),
    }
}

/// Returns whether a tensor of a recipe has these elements.
fn gives(made: &Made, learnt: &LearnedResult, want: &[i64]) -> bool {
    let sources = learnt.description.sources().list();
    let mut ids = vec![-1; want.len()];
    for part in &made.parts {
        let From::Source { tensor, offset } = part.origin else { return false };
        let mut points = vec![(offset, part.offset)];
        for digit in &part.digits {
            let step = |(source, made): &(u64, u64)| {
                let (source, made) = (*source, *made);
                (0..digit.extent).map(move |k| (source + k * digit.source, made + k * digit.made))
            };
            points = points.iter().flat_map(step).collect();
        }
        for (source, made) in points {
            match ids.get_mut(made as usize) {
                Some(id) => *id = sources[tensor].first + source as i64,
                None => return false,
            }
        }
    }
    ids == want
}

/// A digit of a term, by what it is in the result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DimPart {
    /// The place in the dim at digits of 0.
    at: i64,
    /// Extent and step of the digits in the dim, the largest step first.
    digits: Vec<(u64, i64)>,
}

/// The names of the digits of parts of one dim: of each part, by their steps in the dim.
type Names = BTreeMap<(usize, i64), String>;

/// Returns the rule for a result.
fn rule(learnt: &LearnedResult) -> Option<String> {
    let description = &learnt.description;
    let extents = &learnt.tensor.extents;
    let size: u64 = extents.iter().product();
    let terms = description.terms();
    let moved: u64 = terms.iter().map(MapTerm::elements).sum();
    if terms.is_empty() || moved != size || size != description.size() {
        return None;
    }
    // The step from rank to rank in the result.
    let rank_step = match (ranks_of(&learnt.tensor.name).0, extents.first()) {
        (RankOf::All, Some(ranks)) => size.checked_div(*ranks).map(|step| step as i64),
        (_, _) => None,
    };
    let digits =
        |term: &MapTerm| cut(digits(term, rank_step)?, term, extents, description.sources());
    let all = terms.iter().map(digits).collect::<Option<Vec<Vec<MapDigit>>>>()?;
    let mut texts = Vec::new();
    // The text of each digit of each term on the side of the source.
    let mut names: Vec<Vec<(MapDigit, String)>> = vec![Vec::new(); terms.len()];
    let mut kinds = 1;
    let mut stride = size as i64;
    for (dim, extent) in extents.iter().enumerate() {
        stride /= *extent as i64;
        if rank_step == Some(stride) && dim == 0 {
            for (names, digits) in names.iter_mut().zip(&all) {
                names.push((rank_of(digits, *extent, stride)?, format!("T:{extent}")));
            }
            continue;
        }
        let letter = char::from(b'a' + u8::try_from(extents.len() - dim).ok().filter(|k| *k < 24)?);
        let parts = Vec::from_iter(
            terms
                .iter()
                .zip(&all)
                .map(|(term, digits)| part(term, digits, stride, stride * *extent as i64)),
        );
        let (text, distinct) = side(&parts, &all, (*extent as i64, stride), letter, &mut names)?;
        texts.push(text);
        kinds *= distinct;
    }
    if kinds != terms.len() {
        return None;
    }
    let sources = description.sources();
    let sides = terms.iter().zip(&names).map(|(term, names)| source(term, names, sources));
    let from = sides.collect::<Option<Vec<String>>>()?.join(", ");
    let (name, copies) = named(&learnt.tensor, rank_step, &all);
    let to = quoted(&format!("{name} : {}", texts.join(" ")));
    Some(format!("[[map]]\nfrom = [{from}]\nto = {to}\n{copies}"))
}

/// Returns the text of one dim of a result and how many of the terms' parts of it differ, and adds the names of its digits.
fn side(
    parts: &[DimPart],
    all: &[Vec<MapDigit>],
    (extent, stride): (i64, i64),
    letter: char,
    names: &mut [Vec<(MapDigit, String)>],
) -> Option<(String, usize)> {
    let distinct: BTreeSet<&DimPart> = parts.iter().collect();
    let list: Vec<(usize, DimPart)> = distinct.into_iter().cloned().enumerate().collect();
    let mut known = Names::new();
    let text = sum(&list, extent, letter, &mut known)?;
    for ((part, digits), names) in parts.iter().zip(all).zip(names) {
        let number = list.iter().position(|(_, other)| other == part)?;
        let of_dim = |digit: &&MapDigit| digit.result >= stride && digit.result < stride * extent;
        for digit in digits.iter().filter(of_dim) {
            let name = known.get(&(number, digit.result / stride))?;
            names.push((*digit, name.clone()));
        }
        if let Some(name) = known.get(&(number, 0)) {
            let one = MapDigit { extent: 1, source: 0, result: 0 };
            names.push((one, name.clone()));
        }
    }
    Some((text, list.len()))
}

/// Returns the digit of the rank among the digits of a term, if it is one digit.
fn rank_of(digits: &[MapDigit], ranks: u64, step: i64) -> Option<MapDigit> {
    let of_rank = digits.iter().filter(|digit| digit.result >= step);
    let [digit] = *of_rank.collect::<Vec<_>>() else { return None };
    (digit.extent == ranks && digit.result == step).then_some(*digit)
}

/// Returns the name of a result with its rank as an axis, and the lines for copies: all ranks have copies if no source has the rank
/// as a factor.
fn named(
    result: &NamedArray,
    rank_step: Option<i64>,
    digits: &[Vec<MapDigit>],
) -> (String, String) {
    let name = &result.name;
    if rank_step.is_none() {
        return (name.clone(), String::new());
    }
    let copies = match digits.iter().flatten().any(|digit| digit.source == 0) {
        true => format!("copies = [\"T\"]\nsizes = {{ T = {} }}\n", result.extents[0]),
        false => String::new(),
    };
    (format!("rank{{T}}/{}", ranks_of(name).1), copies)
}

/// Returns the digits of a term that is a plain box. Only the digit of the rank may repeat elements.
fn digits(term: &MapTerm, rank_step: Option<i64>) -> Option<Vec<MapDigit>> {
    let mut all = Vec::new();
    for axis in &term.axes {
        let TermAxis::Digits { first: 0, count, digits } = axis else { return None };
        let product: u64 = digits.iter().map(|digit| digit.extent).product();
        let is_rank = |digit: &MapDigit| digit.source == 0 && rank_step == Some(digit.result);
        let forward = |digit: &MapDigit| digit.result > 0 && (digit.source > 0 || is_rank(digit));
        if product != *count || !digits.iter().all(forward) {
            return None;
        }
        all.extend(digits);
    }
    (matches!(term.origin, Origin::Source(_)) && term.xor.is_empty()).then_some(all)
}

/// Cuts digits that go over the border of a dim of the result, or of the source.
fn cut(
    digits: Vec<MapDigit>,
    term: &MapTerm,
    extents: &[u64],
    sources: &Sources,
) -> Option<Vec<MapDigit>> {
    let Origin::Source(place) = term.origin else { return None };
    let borders = |extents: &[u64]| -> Vec<i64> {
        let mut stride = 1;
        let outer = |extent: &u64| {
            stride *= *extent as i64;
            stride
        };
        extents.iter().rev().map(outer).collect()
    };
    let (of_result, of_source) = (borders(extents), borders(&sources.list()[place].extents));
    let (mut left, mut all) = (digits, Vec::new());
    while let Some(digit) = left.pop() {
        let crossed = |borders: &[i64], step: i64| {
            let crosses = |border: &&i64| step < **border && **border < step * digit.extent as i64;
            borders.iter().find(crosses).map(|border| (border / step, border % step))
        };
        let found = crossed(&of_result, digit.result).or_else(|| crossed(&of_source, digit.source));
        let Some((low, rest)) = found else {
            all.push(digit);
            continue;
        };
        if rest != 0 || !digit.extent.is_multiple_of(low as u64) {
            return None;
        }
        let (source, result) = (digit.source * low, digit.result * low);
        left.push(MapDigit { extent: digit.extent / low as u64, source, result });
        left.push(MapDigit { extent: low as u64, ..digit });
    }
    Some(all)
}

/// Returns what a term is in one dim of the result, whose steps are from `stride` to `outer`.
fn part(term: &MapTerm, digits: &[MapDigit], stride: i64, outer: i64) -> DimPart {
    let of_dim = |digit: &&MapDigit| digit.result >= stride && digit.result < outer;
    let mut digits: Vec<(u64, i64)> =
        digits.iter().filter(of_dim).map(|digit| (digit.extent, digit.result / stride)).collect();
    digits.sort_by_key(|digit| std::cmp::Reverse(digit.1));
    DimPart { at: term.at % outer / stride, digits }
}

/// Returns the expression of parts that fill `size` places, and names their digits.
fn sum(parts: &[(usize, DimPart)], size: i64, letter: char, names: &mut Names) -> Option<String> {
    let first = &parts.first()?.1;
    if let Some((extent, step)) = first.digits.first().copied() {
        let is_shared =
            |part: &DimPart| part.digits.first() == Some(&(extent, step)) && part.at < step;
        if extent as i64 * step == size && parts.iter().all(|(_, part)| is_shared(part)) {
            return product(parts, (extent, step), letter, names);
        }
    }
    if let [(number, part)] = parts {
        let alone = part.digits.is_empty() && size == 1;
        return alone.then(|| {
            let name = format!("{letter}{number}_0");
            names.insert((*number, 0), format!("{name}:1"));
            name
        });
    }
    // Parts that follow one another.
    let mut groups: Vec<(i64, Vec<(usize, DimPart)>)> = Vec::new();
    let mut end = 0;
    let mut sorted = parts.to_vec();
    sorted.sort_by_key(|(_, part)| part.at);
    for (number, part) in sorted {
        let reach: i64 = part.digits.iter().map(|(e, step)| (*e as i64 - 1) * step).sum();
        match groups.last_mut().filter(|_| part.at < end) {
            Some((_, group)) => group.push((number, part.clone())),
            None => groups.push((part.at, vec![(number, part.clone())])),
        }
        end = end.max(part.at + reach + 1);
    }
    if groups.len() < 2 || groups[0].0 != 0 {
        return None;
    }
    let ends: Vec<i64> = groups.iter().skip(1).map(|group| group.0).chain([size]).collect();
    let mut texts = Vec::new();
    for ((start, group), end) in groups.into_iter().zip(ends) {
        let moved = group
            .into_iter()
            .map(|(number, part)| (number, DimPart { at: part.at - start, ..part }));
        texts.push(sum(&moved.collect::<Vec<_>>(), end - start, letter, names)?);
    }
    Some(format!("({})", texts.join(" + ")))
}

/// Returns the expression of parts whose first digit is one axis.
fn product(
    parts: &[(usize, DimPart)],
    (extent, step): (u64, i64),
    letter: char,
    names: &mut Names,
) -> Option<String> {
    let axis = format!("{letter}{}_{}", parts[0].0, parts[0].1.digits.len() - 1);
    for (number, _) in parts {
        names.insert((*number, step), format!("{axis}:{extent}"));
    }
    let inner = |part: &DimPart| DimPart { at: part.at, digits: part.digits[1..].to_vec() };
    let rest: Vec<(usize, DimPart)> =
        parts.iter().map(|(number, part)| (*number, inner(part))).collect();
    if let [(_, part)] = &*rest
        && part.digits.is_empty()
        && step == 1
    {
        return Some(axis);
    }
    Some(format!("({axis} {})", sum(&rest, step, letter, names)?))
}

/// Returns the source's side of a term: its name with the number of a family as an axis, and its dims.
fn source(term: &MapTerm, names: &[(MapDigit, String)], sources: &Sources) -> Option<String> {
    let Origin::Source(place) = term.origin else { return None };
    let source = &sources.list()[place];
    let size = source.size();
    let names: Vec<&(MapDigit, String)> =
        names.iter().filter(|(digit, _)| digit.extent == 1 || digit.source > 0).collect();
    let members = names.iter().copied().filter(|(digit, _)| digit.source > size);
    let name = match *members.collect::<Vec<_>>() {
        [] => name_at(term, source, sources)?,
        [(digit, axis)] if digit.source == size + 1 && term.offset == 0 => {
            family(source, digit.extent, axis.split(':').next()?, sources)?
        }
        _ => return None,
    };
    let mut stride = size;
    let mut texts = Vec::new();
    for (dim, extent) in source.extents.iter().enumerate() {
        let outer = stride;
        stride /= *extent as i64;
        let of_dim = |(digit, _): &&(MapDigit, String)| {
            let first = dim == 0 && digit.extent == 1;
            first || (digit.source >= stride && digit.source < outer)
        };
        let mut own: Vec<&(MapDigit, String)> = names.iter().copied().filter(of_dim).collect();
        own.sort_by_key(|(digit, _)| std::cmp::Reverse(digit.source));
        let product: u64 = own.iter().map(|(digit, _)| digit.extent).product();
        if product != *extent {
            return None;
        }
        let own: Vec<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
        texts.push(if own.len() == 1 { own[0].to_owned() } else { format!("({})", own.join(" ")) });
    }
    Some(quoted(&format!("{name} : {}", texts.join(" "))))
}

/// Returns the name of the source at the offset of a term.
fn name_at(term: &MapTerm, first: &MapSource, sources: &Sources) -> Option<String> {
    match term.offset {
        0 => Some(first.name.clone()),
        offset => {
            let member = offset / (first.size() + 1);
            (offset % (first.size() + 1) == 0).then_some(())?;
            sources
                .family(&first.name)
                .get(member as usize)
                .map(|place| sources.list()[*place].name.clone())
        }
    }
}

/// Returns the name of a family whose one number runs from 0 to `count`.
fn family(first: &MapSource, count: u64, axis: &str, sources: &Sources) -> Option<String> {
    let members = sources.family(&first.name);
    let name = |k: u64| Some(sources.list()[*members.get(k as usize)?].name.as_str());
    // The number is what differs between the first two.
    let (zero, one) = (name(0)?, name(1)?);
    let at = zero.bytes().zip(one.bytes()).position(|(a, b)| a != b)?;
    let (before, after) = (&zero[..at], zero.get(at + 1..)?);
    let fits = |k: u64| name(k) == Some(&format!("{before}{k}{after}"));
    let all = members.len() as u64 == count && (0..count).all(fits);
    all.then(|| format!("{before}{{{axis}}}{after}"))
}
