//! Lists of what the library knows: named formats, notations, and the functions of expressions.

use std::fmt;

use serde_json::{Map, Value, json};
use tilewright_notation::{Constant, Format, Spec, Units, Width, catalogue, notations};

use super::{Answer, Explanation};
use crate::{
    Error,
    eval::{self, Function},
    picture::{Cells, Limits, Picture},
};

/// Every named format, a line each.
///
/// ```
/// use tilewright::ask::{Answer, Formats};
/// assert!(Formats.to_string().contains("(m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0  C0 = "));
/// let all = Formats.to_json()["formats"].clone();
/// assert_eq!(all.as_array().unwrap().len(), tilewright::notation::catalogue().count());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Formats;

impl fmt::Display for Formats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = catalogue().map(|format| format.name.len()).max().unwrap_or(0);
        for format in catalogue() {
            write!(f, "{:width$}  {}", format.name, patterns(format).join("; "))?;
            format.constants.iter().try_for_each(|one| write!(f, "  {}", constant_words(one)))?;
            if format.leading {
                f.write_str("  LD")?;
            }
            if !format.aliases.is_empty() {
                write!(f, "  = {}", format.aliases.join(", "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Answer for Formats {
    fn to_json(&self) -> Value {
        json!({ "formats": catalogue().map(format_json).collect::<Vec<_>>() })
    }
}

/// One named format with an array in it.
///
/// ```
/// use tilewright::ask::{Answer, Example};
/// let zn = Example::of("NZ")?;
/// assert_eq!((zn.format.name, zn.to_json()["leading"].as_bool()), ("zN", Some(false)));
/// assert!(zn.to_string().contains("\nFor example "));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Example {
    /// The format.
    pub format: &'static Format,
    /// What an array in it is.
    pub explanation: Explanation,
    /// The grid of that array.
    pub picture: String,
}

impl Example {
    /// The format of this name, which may be an alias.
    ///
    /// # Errors
    /// [usage](Error::is_usage) with the names that are near, in the field `name`.
    ///
    /// ```
    /// use tilewright::ask::Example;
    /// assert!(Example::of("NC1HWC1").unwrap_err().to_string().contains("NC1HWC0"));
    /// ```
    pub fn of(name: &str) -> Result<Example, Error> {
        let format = find(name)?;
        let named = Spec::parse(format.example)?.resolve(None, None)?;
        let limits = Limits { width: 100, rows: 16, panels: 1, ..Limits::default() };
        let picture = Picture::new(named.layout(), named.fill()).within(limits);
        let picture = picture.grid(Cells::Offsets);
        Ok(Example { format, explanation: Explanation::of(&named), picture })
    }
}

/// The format of this name; the parser of layouts knows what is near to a wrong one.
fn find(name: &str) -> Result<&'static Format, Error> {
    let exact = |format: &&Format| format.name == name || format.aliases.contains(&name);
    if let Some(format) = catalogue().find(exact) {
        return Ok(format);
    }
    Err(match Spec::parse(&format!("format:{name}")) {
        // Its span counts from the prefix, which nobody typed.
        Err(error) => Error::usage("name", error.to_string()),
        Ok(_) => {
            Error::usage("name", format!("{name} has parameters; give the format's name alone"))
        }
    })
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = self.format;
        let mut lines: Vec<(&str, String)> = Vec::new();
        if !format.aliases.is_empty() {
            lines.push(("aliases", format.aliases.join(", ")));
        }
        lines.extend(patterns(format).into_iter().map(|pattern| ("pattern", pattern)));
        for constant in format.constants {
            lines.push(("constant", constant_words(constant)));
            let presets = constant.presets.iter();
            lines.extend(presets.map(|preset| {
                let (name, words) = (format.name, units(preset.units));
                ("", format!("{name}[preset={}]: {words} ({})", preset.name, preset.source))
            }));
        }
        if format.leading {
            let says = "LD, the stride of the outermost digit, in elements";
            lines.push(("parameter", says.into()));
        }
        lines.push(("source", format.source.into()));
        writeln!(f, "{}", format.name)?;
        lines.iter().try_for_each(|(title, words)| writeln!(f, "  {title:<10} {words}"))?;
        write!(f, "\nFor example {}\n{}", self.explanation, self.picture)
    }
}

impl Answer for Example {
    fn to_json(&self) -> Value {
        format_json(self.format)
    }
}

/// The pattern, or that of each width of elements that there is one for.
fn patterns(format: &Format) -> Vec<String> {
    if format.widths.is_empty() {
        return vec![format.pattern.to_owned()];
    }
    let one = |width: &Width| format!("{} (of {} bits)", width.pattern, width.bits);
    format.widths.iter().map(one).collect()
}

fn constant_words(constant: &Constant) -> String {
    if constant.units.is_empty() {
        format!("{} given", constant.name)
    } else {
        format!("{} = {}", constant.name, units(constant.units))
    }
}

/// "32 for 8 bits, 16 for 16 bits".
fn units(units: &[Units]) -> String {
    let words = units.iter().map(|one| format!("{} for {} bits", one.units, one.bits));
    words.collect::<Vec<_>>().join(", ")
}

fn format_json(format: &Format) -> Value {
    let constants = format.constants.iter().map(|constant| {
        let by_bits = constant.units.iter().map(|one| (one.bits.to_string(), json!(one.units)));
        let presets: Vec<&str> = constant.presets.iter().map(|preset| preset.name).collect();
        let by_bits: Map<_, _> = by_bits.collect();
        json!({ "name": constant.name, "by_bits": by_bits, "presets": presets })
    });
    let widths = format.widths.iter();
    let widths = widths.map(|one| json!({ "bits": one.bits, "pattern": one.pattern }));
    json!({
        "name": format.name,
        "aliases": format.aliases,
        "pattern": format.pattern,
        "widths": widths.collect::<Vec<_>>(),
        "constants": constants.collect::<Vec<_>>(),
        "source": format.source,
        "example": format.example,
        "leading": format.leading,
    })
}

/// Every notation that a layout is read from or printed in.
///
/// ```
/// use tilewright::ask::{Answer, Notations};
/// assert_eq!(Notations.to_json()["notations"][0]["name"], "cute");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Notations;

impl fmt::Display for Notations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        notations().iter().try_for_each(|one| writeln!(f, "{:12}  {}", one.name(), one.about()))
    }
}

impl Answer for Notations {
    fn to_json(&self) -> Value {
        let one = |one: &tilewright_notation::Notation| json!({ "name": one.name(), "about": one.about() });
        json!({ "notations": notations().iter().map(one).collect::<Vec<_>>() })
    }
}

/// Every function of expressions.
///
/// ```
/// use tilewright::ask::{Answer, Functions};
/// assert!(Functions.to_string().contains("complement(L[, n])\n    "));
/// assert!(Functions.to_json()["functions"][0]["doc"].is_string());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Functions;

impl fmt::Display for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        eval::functions().try_for_each(|one| {
            let example = one.example();
            let value =
                eval::evaluate(&example).map_or_else(|no| no.to_string(), |yes| yes.to_string());
            writeln!(f, "{one:?}\n    {}\n    {example} = {value}", one.doc())
        })
    }
}

impl Answer for Functions {
    fn to_json(&self) -> Value {
        let one = |one: &Function| {
            json!({
                "name": one.name(),
                "arguments": one.arguments(),
                "doc": one.doc(),
                "python": one.python(),
                "example": one.example(),
                "answer": eval::evaluate(&one.example()).ok().map(|value| value.to_json()),
            })
        };
        json!({ "functions": eval::functions().map(one).collect::<Vec<_>>() })
    }
}
