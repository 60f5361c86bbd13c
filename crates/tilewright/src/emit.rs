//! Layouts as code: the offset function of a SPEC in any notation, with extents that are numbers or names.
//!
//! The module has everything of [`tilewright_emit`], and adds [`digits`] from texts.
//!
//! A general SPEC has no digits by itself. So the pattern for named extents is taken from the layouts of two arrays: the digits
//! whose sizes differ are the ones that grow. The pattern is then compared with the layouts of further arrays, small and large,
//! multiples of tiles and not. A SPEC that does not follow one pattern is refused with an array where it differs.

#[cfg(feature = "device")]
mod kernels;

use std::borrow::Cow;

use tilewright_core::{Digit, Dtype, Pattern, TensorLayout};
pub use tilewright_emit::*;
use tilewright_notation::Spec;
use tilewright_scan::did_you_mean;

#[cfg(feature = "device")]
pub use kernels::{Kernels, Runtime};

/// The largest number of named extents.
const NAMED: usize = 6;

/// The extents of the arrays from which a pattern is taken, by the number of named extents. They are large, so that every tile
/// is smaller, and odd, so that no tile divides them.
const LARGE: [u64; NAMED] = [1_000_003, 100_003, 10_007, 4_099, 2_053, 1_031];

/// Extents from this number on are not sizes of tiles.
const FEW: u64 = 1_000;

/// The extents of the arrays with which a pattern is compared.
const SMALL: [u64; 13] = [1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 127, 128, 257];

/// Returns the language of this name.
///
/// # Errors
/// [usage](Error::is_usage) in the field `to`, with the nearest name.
///
/// ```
/// use tilewright::emit::{Language, language};
/// assert_eq!(language("rust")?, Language::Rust);
/// let error = language("pyton").unwrap_err();
/// assert!(error.to_string().ends_with("did you mean `python`?"), "{error}");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn language(name: &str) -> Result<Language, Error> {
    name.parse().map_err(|error: Error| {
        let near = did_you_mean(name, Language::ALL.map(Language::name));
        Error::usage(format!("{error}{near}")).in_field("to")
    })
}

/// Returns the digits of a SPEC at extents that are numbers or names.
///
/// `dims` is a list of numbers and names, such as `8,N`. The word `symbolic` names all extents of a SPEC of one rank: N0, N1 ….
/// A SPEC that states its extents needs no `dims`.
///
/// # Errors
/// As [`Spec::resolve`](crate::Spec::resolve); `usage` for dims that are neither numbers nor names; `unsupported` for a SPEC
/// whose named extents do not follow one pattern.
///
/// ```
/// use tilewright::emit::{Language, Style, digits};
/// let zn = digits("zN", Some("M,N"), Some("f16"), &["M % 16 == 0", "N % 16 == 0"])?;
/// let code = zn.offset()?.print(Language::C, &Style::default())?;
/// assert!(code.contains("return i0 * 16 + (i1 & 15) + (i1 >> 4) * (M * 16);"), "{code}");
///
/// let error = digits("{1,0:T(3,4)(2,1)}", Some("M,N"), None, &[]).unwrap_err();
/// assert!(error.is_unsupported(), "{error}");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn digits(
    spec: &str,
    dims: Option<&str>,
    dtype: Option<&str>,
    known: &[&str],
) -> Result<Digits, Error> {
    let read = crate::input::read(spec).map_err(|error| error.in_field("spec"))?;
    digits_of(&read, dims, crate::input::Array::read(None, dtype)?.dtype, known)
}

/// Returns the digits of a SPEC that is already parsed; else as [`digits`].
///
/// # Errors
/// As [`digits`].
///
/// ```
/// use tilewright::{Spec, emit::digits_of};
/// let rows = digits_of(&Spec::parse("row-major")?, Some("M,64"), None, &[])?;
/// assert_eq!(rows.offset()?.arguments(), ["i0", "i1", "M"]);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn digits_of(
    read: &Spec,
    dims: Option<&str>,
    dtype: Option<Dtype>,
    known: &[&str],
) -> Result<Digits, Error> {
    let dims = dims.map(|text| extents(read, text)).transpose()?;
    let known: Vec<Assumption> =
        known.iter().map(|text| text.parse()).collect::<Result<_, Error>>()?;
    let dims = match dims {
        Some(dims) => Some(known.iter().try_fold(dims, |dims, known| known.apply(dims))?),
        None if known.is_empty() => None,
        None => {
            return Err(Error::usage("an assumption needs a named extent, but none has a name")
                .in_field("assume"));
        }
    };
    let numbers: Option<Option<Vec<u64>>> = dims.as_ref().map(|dims| {
        let number = |dim: &Dim| if let Dim::Known(extent) = dim { Some(*extent) } else { None };
        dims.iter().map(number).collect()
    });
    match (dims, numbers) {
        (Some(dims), Some(None)) => Ok(Digits::of_pattern(&pattern(read, &dims, dtype)?, &dims)?),
        (_, numbers) => {
            let named = read.resolve(numbers.flatten().as_deref(), dtype);
            let named = named.map_err(|error| error.in_field("spec"))?;
            Ok(Digits::of(named.layout())?)
        }
    }
}

/// Reads extents that are numbers or names.
fn extents(spec: &Spec, text: &str) -> Result<Vec<Dim>, Error> {
    if text.trim() == "symbolic" {
        let ranks: Vec<usize> = (1..=8).filter(|rank| spec.fits(*rank)).collect();
        let [rank] = *ranks else {
            let said = "the SPEC fits several ranks; name the extents, such as M,N";
            return Err(Error::usage(format!("symbolic: {said}")).in_field("dims"));
        };
        return Ok((0..rank).map(|dim| Dim::named(&format!("N{dim}"))).collect());
    }
    let one = |word: &str| {
        let word = word.trim();
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name {
            return Ok(Dim::named(word));
        }
        let number = word.parse::<u64>().ok().filter(|number| *number <= i64::MAX as u64);
        let said = || format!("{word:?}: expected a number or a name, such as 128 or N");
        number.map(Dim::Known).ok_or_else(|| Error::usage(said()).in_field("dims"))
    };
    let text = text.trim().trim_start_matches('(').trim_end_matches(')').trim_end_matches(',');
    if text.is_empty() { Ok(Vec::new()) } else { text.split(',').map(one).collect() }
}

/// Returns the pattern that a SPEC has at all extents that `dims` allow.
fn pattern(spec: &Spec, dims: &[Dim], dtype: Option<Dtype>) -> Result<Pattern, Error> {
    if spec.is_concrete() {
        let said = format!("{spec} states its extents, so they cannot have names");
        return Err(Error::usage(said).in_field("dims"));
    }
    let large = large(dims)?;
    let resolved = |extents: &[u64]| -> Result<TensorLayout, Error> {
        let named = spec.resolve(Some(extents), dtype);
        named.map(|named| named.layout().clone()).map_err(|error| {
            let why = about(error.message(), dims, extents);
            let hint =
                "named extents stand for any value, unless an assumption such as 'N % 16 == 0' restricts them";
            Error::usage(format!("{why}; {hint}")).in_field("spec")
        })
    };
    let refused = |why: Cow<'_, str>| {
        let said = format!("{spec} at named extents: {why}; give the extents as numbers");
        Error::unsupported(said)
    };
    let first = at(dims, |axis| large + 2 * axis);
    let second = at(dims, |axis| 2 * large + 2 * axis + 1);
    let of = |extents: &[u64]| -> Result<Pattern, Error> {
        let tensor = resolved(extents)?;
        Pattern::of(&tensor).map_err(|error| match no_pattern(dims, &resolved) {
            Some((extents, error)) => refused(format!("{error}, at {extents}").into()),
            None => refused(about(&error.to_string(), dims, extents).into()),
        })
    };
    let (one, two) = (of(&first)?, of(&second)?);
    let sizes = |pattern: &Pattern, extents: &[u64]| {
        pattern.storage(extents).map(|sizes| sizes.as_slice().to_vec())
    };
    let (small, large) = (sizes(&one, &first)?, sizes(&two, &second)?);
    let shape = |pattern: &Pattern| -> Vec<(u8, u8)> {
        pattern.digits().iter().map(|digit| (digit.axis(), digit.level())).collect()
    };
    if shape(&one) != shape(&two) {
        return Err(refused("the order of its digits depends on them".into()));
    }
    let digit = |((digit, small), large): ((&Digit, &u64), &u64)| {
        let is_number = matches!(dims.get(usize::from(digit.axis())), Some(Dim::Known(_)));
        match digit.size() {
            None if is_number => *digit,
            _ if small == large => Digit::fixed(digit.axis(), digit.level(), *small),
            _ => Digit::rest(digit.axis(), digit.level()),
        }
    };
    let digits: Vec<Digit> = one.digits().iter().zip(&small).zip(&large).map(digit).collect();
    let pattern =
        Pattern::new(dims.len(), &digits).map_err(|error| refused(error.to_string().into()))?;
    match differs(&pattern, dims, &resolved)? {
        None => Ok(pattern),
        Some(extents) => {
            let extents = spelled(dims, &extents);
            Err(refused(
                format!("no single pattern of digits describes it, as at {extents}").into(),
            ))
        }
    }
}

/// Returns the extents of a small array at which a pattern differs from the layout that `resolved` gives.
fn differs(
    pattern: &Pattern,
    dims: &[Dim],
    resolved: &dyn Fn(&[u64]) -> Result<TensorLayout, Error>,
) -> Result<Option<Vec<u64>>, Error> {
    for extents in small(dims) {
        let (own, said) = (pattern.layout(&extents), resolved(&extents)?);
        let same = own.is_ok_and(|own| {
            own.capacity() == said.capacity() && own.same_function(&said).unwrap_or(false)
        });
        if !same {
            return Ok(Some(extents));
        }
    }
    Ok(None)
}

/// Returns the extents, by name, of a small array that has no pattern, and the reason.
fn no_pattern(
    dims: &[Dim],
    resolved: &dyn Fn(&[u64]) -> Result<TensorLayout, Error>,
) -> Option<(String, tilewright_core::Error)> {
    small(dims).find_map(|extents| {
        let error = Pattern::of(&resolved(&extents).ok()?).err()?;
        Some((spelled(dims, &extents), error))
    })
}

/// Iterates over the extents of small arrays.
fn small(dims: &[Dim]) -> impl Iterator<Item = Vec<u64>> + '_ {
    let turns = 0..SMALL.len() as u64 * 4;
    let extents = turns.map(|turn| {
        at(dims, |axis| {
            let at = (turn * (2 * axis + 1) + turn / 13 * (axis + 1)) as usize % SMALL.len();
            SMALL.get(at).copied().unwrap_or(1)
        })
    });
    extents.filter(|extents| size(extents).is_some())
}

/// Returns the values of the named extents as text: `M = 3, N = 5`.
fn spelled(dims: &[Dim], extents: &[u64]) -> String {
    let named = dims.iter().zip(extents).filter_map(|(dim, extent)| match dim {
        Dim::Known(_) => None,
        Dim::Named { name, .. } => Some(format!("{name} = {extent}")),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// Turns a message about an array of these extents into one about named extents. The names replace the numbers if all named
/// extents are too large to be sizes of tiles; else the values of the names follow the message.
fn about(message: &str, dims: &[Dim], extents: &[u64]) -> String {
    let mut named = dims.iter().zip(extents).filter(|(dim, _)| matches!(dim, Dim::Named { .. }));
    match named.all(|(_, extent)| *extent >= FEW) {
        true => by_name(message, dims, extents),
        false => format!("{message}, at {}", spelled(dims, extents)),
    }
}

/// Returns a message with the numbers of named extents replaced by the names.
fn by_name(message: &str, dims: &[Dim], extents: &[u64]) -> String {
    let name = |number: &str| {
        let number = number.parse().ok();
        let mut named = dims.iter().zip(extents).filter(|(_, extent)| Some(**extent) == number);
        named.find_map(|(dim, _)| match dim {
            Dim::Known(_) => None,
            Dim::Named { name, .. } => Some(name.to_string()),
        })
    };
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut said, mut rest) = (String::new(), message);
    while let Some(from) = rest.find(in_word) {
        let (before, behind) = rest.split_at(from);
        let (word, after) = behind.split_at(behind.find(|c| !in_word(c)).unwrap_or(behind.len()));
        said += before;
        said += &name(word).unwrap_or_else(|| word.to_owned());
        rest = after;
    }
    said + rest
}

/// Returns the size of the extents from which a pattern is taken, as large as the bound on an array allows.
fn large(dims: &[Dim]) -> Result<u64, Error> {
    let named = dims.iter().filter(|dim| matches!(dim, Dim::Named { .. })).count();
    let first = named.checked_sub(1).and_then(|at| LARGE.get(at)).copied();
    let first = first.ok_or_else(|| {
        Error::usage(format!("{named} named extents; up to {NAMED} are legal")).in_field("dims")
    })?;
    // The second array is twice as large in each dim.
    let fits = |large: &u64| size(&at(dims, |axis| 2 * large + 2 * axis + 1)).is_some();
    [first, 1_031, 257, 101, 31, 17].into_iter().find(fits).ok_or_else(|| {
        let said = "arrays of these extents and assumptions are beyond 2^63 elements";
        Error::usage(said).in_field("assume")
    })
}

/// Returns the number of elements of an array of these extents, in tiles; `None` beyond 2^60.
fn size(extents: &[u64]) -> Option<u64> {
    let all = extents.iter().try_fold(1u64, |all, extent| all.checked_mul(*extent));
    all.filter(|all| *all < 1 << 60)
}

/// Returns extents with a number for each name: the known multiple of the name times what `pick` gives for its axis.
fn at(dims: &[Dim], pick: impl Fn(u64) -> u64) -> Vec<u64> {
    let extent = |(axis, dim): (usize, &Dim)| match dim {
        Dim::Known(extent) => *extent,
        Dim::Named { multiple, .. } => multiple.saturating_mul(pick(axis as u64)),
    };
    dims.iter().enumerate().map(extent).collect()
}
