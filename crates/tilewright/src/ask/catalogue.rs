//! Lists of named formats, notations, and functions of expressions.

use std::fmt;

use serde_json::{Map, Value, json};
use tilewright_notation::{
    Constant, Format, Group, ResolvedLayout, Spec, TABLES, TabledFormat, Units, Width, catalogue,
    formats_with_tables, groups, notations,
};

use super::{
    Answer, Explanation, Look, TextLimits,
    words::{counted, fitted, lines, row, shortened},
};
use crate::{
    Error,
    eval::{self, Function},
};

/// The named formats by maker and purpose, one on a line: all, or those with a word in their names, makers, purposes or sources,
/// regardless of case. So the name of a function finds the formats that it makes.
///
/// ```
/// use tilewright::ask::{Answer, Formats};
/// let all = Formats::default();
/// assert!(all.to_string().contains("  … (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0  = NZ, "));
/// let count = all.to_json()["formats"].as_array().unwrap().len();
/// assert_eq!(count, tilewright::notation::catalogue().count());
/// let ascend = Formats { word: "ascend".into() };
/// assert!(ascend.to_string().starts_with("Ascend: matrices in fractals\n  zN "));
/// let shuffled = Formats { word: "SHUFFLE_WEIGHT".into() }.to_string();
/// assert!(shuffled.contains("AITER_SHUFFLE_16x16") && shuffled.contains("AITER_SHUFFLE_32x16"));
/// // Dims that the maker names stand before the pattern.
/// assert!(shuffled.contains("  […, N, K]: … (n1 n0:16) "));
/// assert!(Formats { word: "toaster".into() }.is_no());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    /// The word to look for; empty for all formats.
    pub word: String,
}

impl Formats {
    /// Returns the groups with formats that match. A format matches if the word is in its names or its source, or in the maker or
    /// the purpose of its group.
    ///
    /// ```
    /// use tilewright::ask::Formats;
    /// let found = Formats { word: "matrices of cublas".into() }.found();
    /// assert_eq!((found.len(), found[0].maker), (1, "NVIDIA"));
    /// assert!(found[0].formats.iter().any(|format| format.name == "COL32"));
    /// assert!(Formats { word: "toaster".into() }.found().is_empty());
    /// ```
    pub fn found(&self) -> Vec<Group> {
        let word = self.word.to_ascii_lowercase();
        let has = |text: &str| text.to_ascii_lowercase().contains(&word);
        let mut groups = groups();
        for group in &mut groups {
            let all = has(group.maker) || has(group.purpose);
            let named = |format: &Format| {
                let texts = format.aliases.iter().chain([&format.name, &format.source]);
                texts.into_iter().any(|text| has(text))
            };
            group.formats.retain(|format| all || named(format));
        }
        groups.retain(|group| !group.formats.is_empty());
        groups
    }

    /// Returns the formats with index tables that have the word in their names or their source.
    ///
    /// ```
    /// # if !cfg!(feature = "tables") { return; }
    /// use tilewright::ask::Formats;
    /// let found = Formats { word: "3bit".into() }.with_tables();
    /// assert_eq!(found.iter().map(|format| format.name).collect::<Vec<_>>(), ["GPTQ_3BIT", "CT_PACK_INT32_3BIT"]);
    /// ```
    pub fn with_tables(&self) -> Vec<&'static TabledFormat> {
        let word = self.word.to_ascii_lowercase();
        let has = |text: &&str| text.to_ascii_lowercase().contains(&word);
        let named = |format: &&TabledFormat| {
            format.aliases.iter().chain([&format.name, &format.source]).any(has)
        };
        formats_with_tables().iter().filter(named).collect()
    }
}

impl fmt::Display for Formats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.within(usize::MAX))
    }
}

impl Answer for Formats {
    fn to_json(&self) -> Value {
        let found = self.found();
        let formats = found.iter().flat_map(|group| &group.formats);
        let mut json =
            json!({ "formats": formats.map(|format| format_json(format)).collect::<Vec<_>>() });
        if TABLES {
            json["tabled"] = self.with_tables().into_iter().map(json_with_tables).collect();
        }
        json
    }

    fn within(&self, width: usize) -> String {
        let found = self.found();
        let formats = || found.iter().flat_map(|group| &group.formats);
        let names = formats().map(|format| format.name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for group in &found {
            let title = lines(&format!("{}: {}", group.maker, group.purpose), width);
            text += &(title.join("\n") + "\n");
            for format in &group.formats {
                text += &format!("  {:names$}  ", format.name);
                text += &listed(format, width.saturating_sub(names + 4));
                text.push('\n');
            }
        }
        if TABLES {
            text += &lines_with_tables(&self.with_tables(), width);
        }
        text
    }

    fn is_no(&self) -> bool {
        self.found().is_empty() && self.with_tables().is_empty()
    }
}

/// Returns a format's pattern and other names in at most `width` characters. Names that do not fit are counted.
fn listed(format: &Format, width: usize) -> String {
    let dims = (!format.dims.is_empty()).then(|| dims(format) + ": ");
    let (pattern, count) = (patterns(format).join("; "), format.aliases.len());
    let pattern = dims.unwrap_or_default() + &pattern;
    let length = |text: &str| text.chars().count();
    let names = |shown: usize| match (shown, count - shown) {
        (0, 0) => String::new(),
        (0, left) => format!("  … {}", counted(left as u128, "name")),
        (_, 0) => format!("  = {}", format.aliases.join(", ")),
        (_, left) => format!("  = {} … {left} more", format.aliases[..shown].join(", ")),
    };
    let fits = |names: &String| length(&pattern) + length(names) <= width;
    let names = (0..=count).rev().map(names).find(fits).unwrap_or_else(|| names(0));
    shortened(&pattern, width.saturating_sub(length(&names))) + &names
}

/// Returns the lines of formats with index tables: dims, other names and source of each.
fn lines_with_tables(formats: &[&TabledFormat], width: usize) -> String {
    if formats.is_empty() {
        return String::new();
    }
    let names = formats.iter().map(|format| format.name.len()).max().unwrap_or(0);
    let mut text = lines("With index tables: orders that no strides have", width).join("\n") + "\n";
    for format in formats {
        let names_of = match format.aliases {
            [] => String::new(),
            aliases => format!("  = {}", aliases.join(", ")),
        };
        let facts = format!("[{}]: {}{names_of}", format.dims.join(", "), format.source);
        text += &format!("  {:names$}  ", format.name);
        text += &(shortened(&facts, width.saturating_sub(names + 4)) + "\n");
    }
    text
}

fn json_with_tables(format: &TabledFormat) -> Value {
    json!({
        "name": format.name,
        "aliases": format.aliases,
        "bits": format.bits,
        "dims": format.dims,
        "parameters": format.parameters,
        "source": format.source,
        "example": format.example,
    })
}

/// A named format with an array in it as an example.
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
    /// The example: an array in this format.
    pub array: ResolvedLayout,
    /// Other formats whose source contains the requested name.
    pub others: Vec<&'static str>,
}

impl Example {
    /// Returns the format of this name, which may be an alias.
    ///
    /// # Errors
    /// [usage](Error::is_usage) in the field `name`, with similar names.
    ///
    /// ```
    /// use tilewright::ask::Example;
    /// assert!(Example::of("NC1HWC1").unwrap_err().to_string().contains("NC1HWC0"));
    /// // The function makes several formats, and its name is that of one.
    /// let shuffled = Example::of("shuffle_weight").unwrap();
    /// assert_eq!(shuffled.format.name, "AITER_SHUFFLE_16x16");
    /// assert!(shuffled.others.contains(&"AITER_SHUFFLE_32x16"));
    /// ```
    pub fn of(name: &str) -> Result<Example, Error> {
        let format = find(name)?;
        let named = Spec::parse(format.example)?.resolve(None, None)?;
        let own = |other: &&Format| other.name != format.name && other.source.contains(name);
        let others = catalogue().filter(|_| name != format.name).filter(own);
        Ok(Example { format, array: named, others: others.map(|other| other.name).collect() })
    }
}

/// Finds the format of this name. The parser of layouts suggests names for an unknown one.
fn find(name: &str) -> Result<&'static Format, Error> {
    let exact = |format: &&Format| format.name == name || format.aliases.contains(&name);
    if let Some(format) = catalogue().find(exact) {
        return Ok(format);
    }
    Err(match Spec::parse(&format!("format:{name}")) {
        // The span of the error counts the prefix, which the user did not type.
        Err(error) => Error::usage(error.message().to_owned()).in_field("name"),
        Ok(_) => Error::usage(format!("{name} has parameters; give the format's name alone"))
            .in_field("name"),
    })
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.within(TextLimits::default().width))
    }
}

impl Answer for Example {
    fn to_json(&self) -> Value {
        format_json(self.format)
    }

    fn within(&self, width: usize) -> String {
        let mut text = format!("{}\n", self.format.name);
        let others = (!self.others.is_empty()).then(|| ("see also", self.others.join(", ")));
        for (title, words) in described(self.format).into_iter().chain(others) {
            text += &row(&format!("  {title}"), 13, &words, width);
        }
        // Lines of any length are for text, not for a picture.
        let across = if width == usize::MAX { TextLimits::default().width } else { width };
        let limits = TextLimits { width: across, rows: 16, panels: 1 };
        let grid = Look { limits, ..Look::default() }.grid(&self.array);
        let picture = grid
            .map_or_else(|error| error.to_string(), |grid| grid.to_terminal_within(false, across));
        let explained = Explanation::of(&self.array).within(width);
        text + &format!("\nFor example {explained}\n{picture}")
    }
}

/// Returns the facts about a format, with titles.
fn described(format: &Format) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    let group =
        groups().into_iter().find(|group| group.formats.iter().any(|one| one.name == format.name));
    lines.extend(group.map(|group| ("maker", format!("{}: {}", group.maker, group.purpose))));
    if !format.aliases.is_empty() {
        lines.push(("aliases", format.aliases.join(", ")));
    }
    lines.push(("dims", dims(format) + &meaning(format)));
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
        lines.push(("parameter", "LD, the stride of the outermost digit, in elements".into()));
    }
    lines.push(("source", format.source.into()));
    lines
}

/// Returns the dims of the array in their order: `[K, N]`, or `[…, K, N]` if others may precede them.
fn dims(format: &Format) -> String {
    let before = format.pattern.starts_with('…').then(|| "…".to_owned());
    let names: Vec<String> = before.into_iter().chain(format.axes()).collect();
    format!("[{}]", names.join(", "))
}

/// Explains the order of a weight's dims relative to most frameworks, whose array is the transpose of [K, N].
fn meaning(format: &Format) -> String {
    let (name, axes) = (format.name, format.axes());
    match (format.in_and_out(), &axes[..]) {
        (Some(order), [.., before, last]) if format.is_second_operand() => format!(
            ", which is {order}; weights stored as [out, in], as in PyTorch and Hugging Face, are [{last}, {before}]: {name}^T"
        ),
        (Some(order), _) => {
            format!(", which is {order}, as PyTorch and Hugging Face store weights [out, in]")
        }
        (None, _) => String::new(),
    }
}

/// Returns the pattern, or the pattern of each width of elements if they differ.
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

/// Returns a list such as "32 for 8 bits, 16 for 16 bits".
fn units(units: &[Units]) -> String {
    let words = units.iter().map(|one| format!("{} for {} bits", one.units, one.bits));
    words.collect::<Vec<_>>().join(", ")
}

fn format_json(format: &Format) -> Value {
    let group =
        groups().into_iter().find(|group| group.formats.iter().any(|one| one.name == format.name));
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
        "maker": group.as_ref().map(|group| group.maker),
        "purpose": group.as_ref().map(|group| group.purpose),
        "aliases": format.aliases,
        "dims": format.axes(),
        "order": format.in_and_out(),
        "pattern": format.pattern,
        "widths": widths.collect::<Vec<_>>(),
        "constants": constants.collect::<Vec<_>>(),
        "source": format.source,
        "example": format.example,
        "leading": format.leading,
    })
}

/// Every notation in which layouts are read or printed.
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
    fn within(&self, width: usize) -> String {
        fitted(&self.to_string(), width)
    }

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

#[cfg(all(test, feature = "formats"))]
mod tests {
    use super::*;

    #[test]
    fn weights_are_told_of_second_operands_and_never_of_a_users_format() {
        let own = "[[format]]\nname = 'own-kn'\npattern = 'k n -> n k'";
        tilewright_notation::add_formats(own).unwrap();
        let says =
            |name: &str| Example::of(name).unwrap().to_string().contains("K, N], which is in, out");
        assert!(says("VNNI") && says("MARLIN") && says("MMA_M16N8K16_16BIT_B"));
        let order = |name: &str| Example::of(name).unwrap().to_string().contains("is out, in, as");
        assert!(order("MACHETE") && order("AITER_SHUFFLE_16x16") && !order("own-kn"));
        assert!(!says("own-kn") && !says("COL") && !says("AMX_A") && !says("AMX_C"));
    }
}
