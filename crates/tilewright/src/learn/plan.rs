//! Plans: what was learned, as text. JSON is read back; TOML is for people.

use std::{collections::BTreeSet, num::IntErrorKind};

use serde_json::{Map, Value, json};
use tilewright_learn::{
    Code, Constants, Description, Error, Learned, LearnedResult, MapDigit, MapSource, MapTerm,
    NamedArray, Origin, Sources, TermAxis, Unexplained,
};

use crate::Dtype;

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

/// Returns what was learned as TOML.
///
/// ```
/// use tilewright::learn::{Learned, to_toml};
/// assert_eq!(to_toml(&Learned { sources: vec![], results: vec![] }), "tilewright_plan = 1\n");
/// ```
pub fn to_toml(learned: &Learned) -> String {
    let json = to_json(learned);
    let mut text = format!("tilewright_plan = {VERSION}\n");
    for kind in ["source", "result"] {
        for table in json[kind].as_array().into_iter().flatten() {
            text += &format!("\n[[{kind}]]\n");
            for (key, value) in table.as_object().into_iter().flatten() {
                text += &match (key.as_str(), value) {
                    ("terms", Value::Array(terms)) => {
                        let lines = terms.iter().map(|term| format!("    {},\n", inline(term)));
                        format!("terms = [\n{}]\n", lines.collect::<String>())
                    }
                    (_, _) => format!("{key} = {}\n", inline(value)),
                };
            }
        }
    }
    text
}

/// Returns a value on one line of TOML.
fn inline(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Array(all) => format!("[{}]", joined(all.iter().map(inline).collect())),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| format!("{key} = {}", inline(value));
            format!("{{ {} }}", joined(map.iter().map(entry).collect()))
        }
        // JSON's texts and numbers are TOML's.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Reads the bytes of a plan in JSON.
///
/// # Errors
/// [corrupt](Error::is_corrupt) if they are not JSON, and those of [`from_json`].
///
/// ```
/// let error = tilewright::learn::from_bytes(b"tilewright_plan = 1").unwrap_err();
/// assert!(error.to_string().starts_with("it is not a plan in JSON"), "{error}");
/// ```
pub fn from_bytes(bytes: &[u8]) -> Result<Learned, Error> {
    let value = serde_json::from_slice(bytes).map_err(|error| {
        let said =
            format!("it is not a plan in JSON: {error}; learn again, and write the plan as JSON");
        Error::new("corrupt", said)
    })?;
    from_json(&value)
}

/// Reads a plan in JSON.
///
/// # Errors
/// [corrupt](Error::is_corrupt) for a value that is missing or has another type; [illegal](Error::is_illegal) for terms that leave
/// their sources or results, for no results, for ranks that no engine has, and for computed elements that are not `unexplained`.
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
    let mut tensors = Vec::new();
    let mut numbered = Vec::new();
    for source in array(value, "source")? {
        let tensor = tensor(source)?;
        let first = source["first"].as_i64().ok_or_else(|| corrupt("first"))?;
        numbered.push(MapSource {
            name: tensor.name.clone(),
            extents: tensor.extents.clone(),
            first,
        });
        tensors.push(tensor);
    }
    if array(value, "result")?.is_empty() {
        return Err(Error::illegal(
            "the plan is without results; learn a loader that returns arrays",
        ));
    }
    let sources = Sources::new(numbered)?;
    let results = array(value, "result")?.iter().map(|result| learnt(result, &sources, &tensors));
    let results = results.collect::<Result<Vec<_>, Error>>()?;
    check_ranks(&results)?;
    Ok(Learned { results, sources: tensors })
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
    let unit = value["unit"].as_str().and_then(Dtype::named).ok_or_else(|| corrupt("unit"))?;
    let size = value["size"].as_u64().ok_or_else(|| corrupt("size"))?;
    let terms = array(value, "terms")?.iter().map(|one| term(one, numbered));
    let rest = origin(&value["rest"]).ok_or_else(|| corrupt("rest"))?;
    let description =
        Description::of(size, numbered.clone(), terms.collect::<Result<_, Error>>()?, rest)?;
    let mut constants = Constants::default();
    for run in value["constants"].as_array().into_iter().flatten() {
        let run = numbers(run, "constants", Value::as_u64)?;
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
            seen: numbers(&said["seen"], "seen", Value::as_u64)?,
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
    let number = |key: &str| value[key].as_i64().ok_or_else(|| corrupt(key));
    let place = |name: &str| sources.list().iter().position(|source| source.name == name);
    let from = match value["source"].as_str() {
        Some(name) => place(name).map(Origin::Source),
        None => origin(&value["other"]),
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
        xor: value["xor"]
            .as_array()
            .into_iter()
            .flatten()
            .map(pair)
            .collect::<Result<_, Error>>()?,
    })
}

fn axis(value: &Value) -> Result<TermAxis, Error> {
    let Some(digits) = value["digits"].as_array() else {
        let list = |key: &str| numbers(&value[key], key, Value::as_i64);
        return Ok(TermAxis::Table { source: list("source")?, result: list("result")? });
    };
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
