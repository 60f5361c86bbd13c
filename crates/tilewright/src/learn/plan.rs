//! Plans: what was learned, as text: TOML for people, JSON for programs. [`from_bytes`] reads both.

use std::{collections::BTreeSet, num::IntErrorKind};

use serde_json::{Map, Value, json};
use tilewright_learn::{
    Code, Constants, Description, Error, Learned, LearnedResult, MapDigit, MapSource, MapTerm,
    NamedArray, Origin, Sources, TermAxis, Unexplained,
};

use crate::{Dtype, ask::words::printable};

/// The version of the form of plans.
const VERSION: u64 = 1;
/// The most ranks of a plan.
const MOST_RANKS: u64 = 1 << 16;

/// Returns what was learned as JSON.
///
/// ```
/// use tilewright::learn::{Learned, from_json, to_json};
/// let nothing = Learned { sources: vec![], results: vec![] };
/// // A plan without results is not read back.
/// assert!(from_json(&to_json(&nothing)).unwrap_err().is_illegal());
/// ```
pub fn to_json(learned: &Learned) -> Value {
    let source = |(place, tensor): (usize, &NamedArray)| {
        let first =
            learned.results.first().map(|one| one.description.sources().list()[place].first);
        let mut value = of_tensor(tensor);
        value.insert("first".into(), json!(first.unwrap_or(0)));
        Value::Object(value)
    };
    let sources: Vec<Value> = learned.sources.iter().enumerate().map(source).collect();
    let results: Vec<Value> = learned.results.iter().map(of_result).collect();
    json!({ "tilewright_plan": VERSION, "source": sources, "result": results })
}

fn of_tensor(tensor: &NamedArray) -> Map<String, Value> {
    let mut value = Map::new();
    value.insert("name".into(), json!(tensor.name));
    value.insert("dtype".into(), json!(tensor.dtype.name()));
    value.insert("extents".into(), json!(tensor.extents));
    value
}

fn of_result(learnt: &LearnedResult) -> Value {
    let mut value = of_tensor(&learnt.tensor);
    let description = &learnt.description;
    value.insert("unit".into(), json!(learnt.unit.name()));
    value.insert("size".into(), json!(description.size()));
    value.insert("rest".into(), json!(word(description.rest())));
    if !learnt.constants.runs().is_empty() {
        value.insert("constants".into(), json!(learnt.constants.runs()));
    }
    if let Some(unexplained) = &learnt.unexplained {
        let Unexplained { place, count, seen } = unexplained;
        let said = json!({ "place": place, "count": count, "seen": seen });
        value.insert("unexplained".into(), said);
    }
    let terms = description.terms().iter().map(|term| of_term(description, term));
    value.insert("terms".into(), terms.collect());
    Value::Object(value)
}

fn of_term(description: &Description, term: &MapTerm) -> Value {
    let mut value = Map::new();
    value.insert("pattern".into(), json!(description.pattern(term)));
    match term.origin {
        Origin::Source(place) => {
            let name = &description.sources().list()[place].name;
            value.insert("source".into(), json!(name));
        }
        origin => {
            value.insert("other".into(), json!(word(origin)));
        }
    }
    value.insert("offset".into(), json!(term.offset));
    value.insert("at".into(), json!(term.at));
    value.insert("axes".into(), term.axes.iter().map(of_axis).collect());
    if !term.xor.is_empty() {
        value.insert("xor".into(), json!(term.xor));
    }
    Value::Object(value)
}

fn of_axis(axis: &TermAxis) -> Value {
    match axis {
        TermAxis::Table { source, result } => json!({ "source": source, "result": result }),
        TermAxis::Digits { first, count, digits } => {
            let digits: Vec<Value> =
                digits.iter().map(|d| json!([d.extent, d.source, d.result])).collect();
            json!({ "first": first, "count": count, "digits": digits })
        }
    }
}

/// Returns the word for an origin that is not a source.
fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Zero => "zero",
        Origin::Constant => "constant",
        Origin::Computed => "computed",
        Origin::Source(_) => "source",
    }
}

/// Returns a plan in JSON as TOML: its lists of tables one by one, with a line for each term.
///
/// ```
/// use tilewright::learn::{Learned, to_json, to_toml};
/// let mut plan = to_json(&Learned { sources: vec![], results: vec![] });
/// plan["sizes"] = serde_json::json!({ "tp": 2 });
/// assert_eq!(to_toml(&plan), "tilewright_plan = 1\nsizes = { tp = 2 }\n");
/// ```
pub fn to_toml(plan: &Value) -> String {
    let is_tables = |(key, _): &(&String, &Value)| ["source", "result"].contains(&key.as_str());
    let all = plan.as_object().into_iter().flatten();
    let (tables, mut values): (Vec<_>, Vec<_>) = all.partition(is_tables);
    values.sort_by_key(|(key, _)| *key != "tilewright_plan");
    let line = |(key, value): (&String, &Value)| format!("{} = {}\n", bare(key), inline(value));
    let mut text: String = values.into_iter().map(line).collect();
    for (kind, list) in tables {
        for table in list.as_array().into_iter().flatten() {
            text += &format!("\n[[{kind}]]\n");
            for (key, value) in table.as_object().into_iter().flatten() {
                text += &match (key.as_str(), value) {
                    ("terms", Value::Array(terms)) => {
                        let lines = terms.iter().map(|term| format!("    {},\n", inline(term)));
                        format!("terms = [\n{}]\n", lines.collect::<String>())
                    }
                    (_, _) => line((key, value)),
                };
            }
        }
    }
    text
}

/// Returns a key of TOML, quoted if it is not a word.
fn bare(key: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match key.chars().all(is_word) && !key.is_empty() {
        true => key.to_owned(),
        false => inline(&Value::from(key)),
    }
}

/// Returns a value on one line of TOML.
fn inline(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Array(all) => format!("[{}]", joined(all.iter().map(inline).collect())),
        Value::Object(map) => {
            let entry =
                |(key, value): (&String, &Value)| format!("{} = {}", bare(key), inline(value));
            format!("{{ {} }}", joined(map.iter().map(entry).collect()))
        }
        // TOML's integers are signed; larger bits are texts.
        Value::Number(number) if number.as_i64().is_none() => format!("\"{number}\""),
        // JSON's other texts and numbers are TOML's, but for one control character.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            value.to_string().replace('\u{7f}', "\\u007f")
        }
    }
}

/// Reads the bytes of a plan: JSON if they begin with `{`, else TOML.
///
/// # Errors
/// [corrupt](Error::is_corrupt) if they are neither, and those of [`from_json`].
///
/// ```
/// use tilewright::learn::from_bytes;
/// // A plan without results says nothing of a loader, in either form.
/// for plan in [&b"tilewright_plan = 1"[..], b"{\"tilewright_plan\": 1}"] {
///     assert!(from_bytes(plan).unwrap_err().is_illegal());
/// }
/// let error = from_bytes(b"[").unwrap_err();
/// assert!(error.to_string().starts_with("it is not a plan"), "{error}");
/// ```
pub fn from_bytes(bytes: &[u8]) -> Result<Learned, Error> {
    from_json(&value(bytes)?)
}

/// Returns the tables of a plan in TOML or JSON.
///
/// # Errors
/// [corrupt](Error::is_corrupt) if the bytes are neither.
pub(super) fn value(bytes: &[u8]) -> Result<Value, Error> {
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    let read = match is_json {
        true => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        false => std::str::from_utf8(bytes)
            .map_err(|error| error.to_string())
            .and_then(|text| toml::from_str(text).map_err(|error| error.message().to_owned())),
    };
    read.map_err(|said| {
        let form = if is_json { "JSON" } else { "TOML" };
        let said = format!("it is not a plan in {form}: {said}; give a plan that was learned");
        Error::new("corrupt", said)
    })
}

/// Reads a plan in JSON.
///
/// # Errors
/// [corrupt](Error::is_corrupt) for a value that is missing or has another type, and for unknown keys; [illegal](Error::is_illegal)
/// for terms that leave their sources or results, for patterns that are not those of the terms' numbers, for no results or two of
/// one name, for ranks that no engine has, and for computed elements that are not `unexplained`. An error names its source or
/// result.
///
/// ```
/// use serde_json::json;
/// let error = tilewright::learn::from_json(&json!({ "tilewright_plan": 2 })).unwrap_err();
/// assert_eq!(error.to_string(), "a plan of version 2; this program reads version 1");
/// ```
pub fn from_json(value: &Value) -> Result<Learned, Error> {
    match value["tilewright_plan"].as_u64() {
        Some(VERSION) => {}
        Some(other) => {
            let said = format!("a plan of version {other}; this program reads version {VERSION}");
            return Err(Error::unsupported(said));
        }
        None => return Err(corrupt("tilewright_plan")),
    }
    if value["predicted"] == true {
        let said = "the plan is predicted and not learned; confirm it by one load";
        return Err(Error::unsupported(said));
    }
    known(value, "the plan", &["tilewright_plan", "sizes", "source", "result"])?;
    let mut tensors = Vec::new();
    let mut numbered = Vec::new();
    for (number, source) in list(value, "source")?.iter().enumerate() {
        let about = |error: Error| of_table(error, ("source", number), source);
        known(source, "a source", &["name", "dtype", "extents", "first"]).map_err(about)?;
        let tensor = tensor(source).map_err(about)?;
        let first = source["first"].as_i64().ok_or_else(|| about(corrupt("first")))?;
        numbered.push(MapSource {
            name: tensor.name.clone(),
            extents: tensor.extents.clone(),
            first,
        });
        tensors.push(tensor);
    }
    if list(value, "result")?.is_empty() {
        return Err(Error::illegal(
            "the plan is without results; learn a loader that returns arrays",
        ));
    }
    let sources = Sources::new(numbered)?;
    let results = list(value, "result")?.iter().enumerate().map(|(number, result)| {
        let read = learnt(result, &sources, &tensors);
        read.map_err(|error| of_table(error, ("result", number), result))
    });
    let results = results.collect::<Result<Vec<_>, Error>>()?;
    check_ranks(&results)?;
    check_names(&results)?;
    Ok(Learned { results, sources: tensors })
}

/// Adds the name of a source or a result to its error, or its number if the name is missing.
fn of_table(error: Error, (kind, number): (&str, usize), table: &Value) -> Error {
    match table["name"].as_str() {
        Some(name) if error.message().starts_with(name) => error,
        Some(name) => error.about(&format!("{kind} {}", printable(name))),
        None => error.about(&format!("{kind} {}", number + 1)),
    }
}

/// Checks the ranks that the results name: a result of all has an index for each, and none is beyond them.
fn check_ranks(results: &[LearnedResult]) -> Result<(), Error> {
    let illegal = |name: &str, said: &str| Err(Error::illegal(format!("{name} {said}")));
    let (mut named, mut counts) = (BTreeSet::new(), BTreeSet::new());
    for learnt in results {
        let NamedArray { name, extents, .. } = &learnt.tensor;
        let rank = name.split_once('/').and_then(|(rank, _)| rank.strip_prefix("rank"));
        let Some(rank) = rank else { continue };
        match (rank, rank.parse::<u64>(), extents.first()) {
            ("{T}", _, None) => return illegal(name, "has no axis of ranks"),
            ("{T}", _, Some(count)) if !(1..=MOST_RANKS).contains(count) => {
                return illegal(name, &format!("has {count} ranks, not 1 to {MOST_RANKS}"));
            }
            ("{T}", _, Some(count)) => _ = counts.insert(*count),
            (other, _, _) if other.starts_with('{') => {
                let said = format!("names the ranks `rank{other}`; all ranks are `rank{{T}}`");
                return illegal(name, &said);
            }
            (_, Ok(rank), _) if rank < MOST_RANKS => _ = named.insert(rank),
            (_, Err(error), _) if *error.kind() != IntErrorKind::PosOverflow => {}
            (_, _, _) => return illegal(name, &format!("is of a rank beyond {MOST_RANKS}")),
        }
    }
    match (counts.len(), counts.first(), named.last()) {
        (2.., _, _) => {
            Err(Error::illegal(format!("results have different numbers of ranks: {counts:?}")))
        }
        (_, Some(count), Some(last)) if last >= count => Err(Error::illegal(format!(
            "a result is of rank {last}, and others have {count} ranks"
        ))),
        (_, _, _) => Ok(()),
    }
}

/// Checks that no rank has two results of one name.
fn check_names(results: &[LearnedResult]) -> Result<(), Error> {
    let (mut of_all, mut of_one) = (BTreeSet::new(), BTreeSet::new());
    for learnt in results {
        let (ranks, name) = ranks_of(&learnt.tensor.name);
        let is_new = match ranks {
            RankOf::None | RankOf::All => of_all.insert(name),
            RankOf::One(rank) => of_one.insert((name, rank)),
        };
        if !is_new {
            return Err(twice(name));
        }
    }
    match of_one.iter().find(|(name, _)| of_all.contains(name)) {
        Some((name, _)) => Err(twice(name)),
        None => Ok(()),
    }
}

fn twice(name: &str) -> Error {
    let said = "is twice in the plan; each array of a rank is one result";
    Error::illegal(format!("{} {said}", printable(name)))
}

/// The ranks that have a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankOf {
    /// The result of a plan without ranks: each rank that there is has it.
    None,
    One(usize),
    /// All, each with one index of the first axis.
    All,
}

/// Returns the ranks that have a result, and its name there, from its name in the plan.
pub(super) fn ranks_of(name: &str) -> (RankOf, &str) {
    let Some((rank, own)) = name.split_once('/') else { return (RankOf::None, name) };
    match rank.strip_prefix("rank") {
        Some("{T}") => (RankOf::All, own),
        Some(number) => {
            number.parse().map_or((RankOf::None, name), |rank| (RankOf::One(rank), own))
        }
        None => (RankOf::None, name),
    }
}

/// Refuses keys that a table of a plan has not.
fn known(value: &Value, table: &str, keys: &[&str]) -> Result<(), Error> {
    let own = value.as_object().ok_or_else(|| corrupt(table))?;
    match own.keys().find(|key| !keys.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let (key, keys) = (printable(key), keys.join(", "));
            let said = format!("{table} has the unknown key {key}; its keys are {keys}");
            Err(Error::new("corrupt", said))
        }
    }
}

/// Returns the values of a list, which a plan without any may lack.
fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], Error> {
    match &value[key] {
        Value::Null => Ok(&[]),
        _ => array(value, key).map(Vec::as_slice),
    }
}

/// Returns a natural number. In TOML those that no signed number has are texts.
fn natural(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn corrupt(key: &str) -> Error {
    Error::new("corrupt", format!("the plan has no legal value of {key}"))
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, Error> {
    value[key].as_array().ok_or_else(|| corrupt(key))
}

/// Returns the numbers of a list.
fn numbers<T>(value: &Value, key: &str, of: fn(&Value) -> Option<T>) -> Result<Vec<T>, Error> {
    value.as_array().and_then(|all| all.iter().map(of).collect()).ok_or_else(|| corrupt(key))
}

fn tensor(value: &Value) -> Result<NamedArray, Error> {
    let text = |key: &str| value[key].as_str().ok_or_else(|| corrupt(key));
    let dtype = Dtype::named(text("dtype")?).ok_or_else(|| corrupt("dtype"))?;
    let extents = numbers(&value["extents"], "extents", Value::as_u64)?;
    Ok(NamedArray { name: text("name")?.to_owned(), dtype, extents })
}

fn learnt(
    value: &Value,
    numbered: &Sources,
    sources: &[NamedArray],
) -> Result<LearnedResult, Error> {
    let keys =
        ["name", "dtype", "extents", "unit", "size", "rest", "constants", "unexplained", "terms"];
    known(value, "a result", &keys)?;
    let unit = value["unit"].as_str().and_then(Dtype::named).ok_or_else(|| corrupt("unit"))?;
    let size = value["size"].as_u64().ok_or_else(|| corrupt("size"))?;
    let terms = array(value, "terms")?.iter().map(|one| term(one, numbered));
    let rest = origin(&value["rest"]).ok_or_else(|| corrupt("rest"))?;
    let description =
        Description::of(size, numbered.clone(), terms.collect::<Result<_, Error>>()?, rest)?;
    check_patterns(array(value, "terms")?, &description)?;
    let mut constants = Constants::default();
    for run in list(value, "constants")? {
        let run = numbers(run, "constants", natural)?;
        let [bits, count] = run[..] else { return Err(corrupt("constants")) };
        if count > size {
            return Err(corrupt("constants"));
        }
        constants.extend(bits, count);
    }
    let of_constants = |term: &&MapTerm| term.origin == Origin::Constant;
    let of_terms: u64 =
        description.terms().iter().filter(of_constants).map(MapTerm::elements).sum();
    let moved: u64 = description.terms().iter().map(MapTerm::elements).sum();
    let rest = if description.rest() == Origin::Constant { size - moved } else { 0 };
    let given = constants.runs().iter().fold(0, |all: u64, run| all.saturating_add(run.1));
    if given != of_terms + rest {
        return Err(corrupt("constants"));
    }
    let unexplained = match &value["unexplained"] {
        Value::Null => None,
        said => Some(Unexplained {
            place: said["place"].as_u64().ok_or_else(|| corrupt("place"))?,
            count: said["count"].as_u64().ok_or_else(|| corrupt("count"))?,
            seen: numbers(&said["seen"], "seen", natural)?,
        }),
    };
    let tensor = tensor(value)?;
    let computes = description.rest() == Origin::Computed && moved < size;
    let computes = computes || description.terms().iter().any(|t| t.origin == Origin::Computed);
    if computes && unexplained.is_none() {
        let said = "has computed elements and does not say `unexplained`";
        return Err(Error::illegal(format!("{} {said}", tensor.name)));
    }
    check_units(&tensor, unit, &description, sources)?;
    Ok(LearnedResult { tensor, unit, description, constants, unexplained })
}

/// Checks that the patterns of terms are those of their numbers: patterns are for people, and only the numbers move data.
fn check_patterns(terms: &[Value], description: &Description) -> Result<(), Error> {
    for (number, (value, term)) in terms.iter().zip(description.terms()).enumerate() {
        let stated = match &value["pattern"] {
            Value::Null => continue,
            stated => stated.as_str().ok_or_else(|| corrupt("pattern"))?,
        };
        let is = description.pattern(term);
        if stated != is {
            let said = format!(
                "term {number} has the pattern `{}`, and its numbers are `{}`",
                printable(stated),
                printable(&is)
            );
            let next = "change the numbers, or remove the pattern";
            return Err(Error::illegal(format!("{said}; {next}")));
        }
    }
    Ok(())
}

/// Checks that the units of a result fill its tensor, and that they are as wide as the elements of its sources.
fn check_units(
    tensor: &NamedArray,
    unit: Dtype,
    description: &Description,
    sources: &[NamedArray],
) -> Result<(), Error> {
    let name = &tensor.name;
    let width = u128::from(Code::of(unit)?.bits());
    let whole = tensor.dtype.bits().map(|bits| {
        let size = tensor.extents.iter().try_fold(1u128, |all, e| all.checked_mul(u128::from(*e)));
        size.and_then(|size| size.checked_mul(u128::from(bits)))
    });
    let own = u128::from(description.size()) * width;
    if whole.is_some_and(|whole| whole.is_none_or(|whole| whole.div_ceil(8) != own.div_ceil(8))) {
        let (size, own) = (description.size(), tensor.dtype);
        let said = format!("{name} of {own}{:?} is not {size} units of {unit}", tensor.extents);
        return Err(Error::illegal(said));
    }
    let mut other = None;
    description.parts(&mut |part| {
        let Origin::Source(place) = part.origin else { return };
        let bits = sources[place].dtype.bits();
        if bits.map(u128::from) != Some(width) {
            other = Some(&sources[place]);
        }
    })?;
    match other {
        None => Ok(()),
        Some(source) => Err(Error::illegal(format!(
            "{name} has units of {unit}, and a term takes elements of {} from {}",
            source.dtype, source.name
        ))),
    }
}

fn origin(value: &Value) -> Option<Origin> {
    let all = [Origin::Zero, Origin::Constant, Origin::Computed];
    all.into_iter().find(|origin| value.as_str() == Some(word(*origin)))
}

fn term(value: &Value, sources: &Sources) -> Result<MapTerm, Error> {
    known(value, "a term", &["pattern", "source", "other", "offset", "at", "axes", "xor"])?;
    let number = |key: &str| value[key].as_i64().ok_or_else(|| corrupt(key));
    let place = |name: &str| sources.list().iter().position(|source| source.name == name);
    let from = match (&value["source"], &value["other"]) {
        (Value::String(name), Value::Null) => place(name).map(Origin::Source),
        (Value::Null, other) => origin(other),
        (_, _) => None,
    };
    let pair = |value: &Value| {
        let pair = numbers(value, "xor", Value::as_u64)?;
        match pair[..] {
            [from, onto] => Ok((from as usize, onto as usize)),
            _ => Err(corrupt("xor")),
        }
    };
    Ok(MapTerm {
        origin: from.ok_or_else(|| corrupt("source"))?,
        offset: number("offset")?,
        at: number("at")?,
        axes: array(value, "axes")?.iter().map(axis).collect::<Result<_, Error>>()?,
        xor: list(value, "xor")?.iter().map(pair).collect::<Result<_, Error>>()?,
    })
}

fn axis(value: &Value) -> Result<TermAxis, Error> {
    let Some(digits) = value["digits"].as_array() else {
        known(value, "an axis with a table", &["source", "result"])?;
        let list = |key: &str| numbers(&value[key], key, Value::as_i64);
        return Ok(TermAxis::Table { source: list("source")?, result: list("result")? });
    };
    known(value, "an axis", &["first", "count", "digits"])?;
    let digit = |value: &Value| {
        let all = numbers(value, "digits", Value::as_i64)?;
        let [extent, source, result] = all[..] else { return Err(corrupt("digits")) };
        let extent = u64::try_from(extent).map_err(|_| corrupt("digits"))?;
        Ok(MapDigit { extent, source, result })
    };
    let number = |key: &str| value[key].as_u64().ok_or_else(|| corrupt(key));
    let digits = digits.iter().map(digit).collect::<Result<_, Error>>()?;
    Ok(TermAxis::Digits { first: number("first")?, count: number("count")?, digits })
}
