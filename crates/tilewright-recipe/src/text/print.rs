//! Prints a recipe: as a TOML file, which is read as the same recipe, and for people as a table.
//!
//! The table has a row for each rule, and the entries that hold for all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write as _},
};

use tilewright_core::Fill;

use crate::{
    config::ConfigJson,
    recipe::Recipe,
    rule::{Rule, SideTerms, Unequal, name::Rename},
    value::{
        condition::{Direction, Must, Note, Requirement},
        models::{self, Conditions},
        quantity::Quantity,
    },
};

impl Recipe {
    /// The recipe as a TOML file, which is read as the same recipe.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("pass = ['*']\n[[map]]\nfrom = 'w : i o'\nto = 'v : o i'")?;
    /// let back = recipe.inverse().to_toml();
    /// assert_eq!(back, "pass = [\"*\"]\n\n[[map]]\nfrom = \"v : o i\"\nto = \"w : i o\"\n");
    /// assert_eq!(Recipe::parse(&back)?.to_toml(), back);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (key, value) in [("title", &self.title), ("source", &self.source)] {
            if let Some(value) = value {
                line(&mut text, key, &quoted(value));
            }
        }
        let serves = Some(&self.serves).filter(|serves| !serves.is_empty());
        for (key, conditions) in [("for", serves), ("inverse_for", self.inverse_serves.as_ref())] {
            if let Some(conditions) = conditions {
                line(&mut text, key, &self::conditions(conditions));
            }
        }
        many(&mut text, "require", self.require.iter().map(requirement).collect());
        many(&mut text, "note", self.note.iter().map(note).collect());
        for (key, names) in [("pass", &self.pass), ("drop", &self.drop), ("lost", &self.lost)] {
            list(&mut text, key, names.iter());
        }
        for (key, pairs) in [("tie", &self.tie), ("untie", &self.untie)] {
            let pairs: Vec<String> = pairs
                .iter()
                .map(|[first, second]| format!("[{}, {}]", quoted(first), quoted(second)))
                .collect();
            if !pairs.is_empty() {
                line(&mut text, key, &format!("[{}]", pairs.join(", ")));
            }
        }
        list(&mut text, "same", self.same.iter());
        list(&mut text, "every", self.every.iter());
        if !self.give.is_empty() {
            text.push_str("\n[give]\n");
            for (name, what) in &self.give {
                line(&mut text, &key(name), &quoted(what));
            }
        }
        config(&mut text, "config", &self.config);
        config(&mut text, "config.back", &self.config_back);
        if !self.sizes.is_empty() {
            text.push_str("\n[sizes]\n");
            for (name, size) in &self.sizes {
                line(&mut text, &key(name), &quantity(size));
            }
        }
        if !self.pad_to.is_empty() {
            text.push_str("\n[pad_to]\n");
            for (name, (axis, multiple)) in &self.pad_to {
                line(&mut text, &key(name), &format!("[{}, {}]", quoted(axis), quantity(multiple)));
            }
        }
        for one in &self.renames {
            rename(&mut text, one);
        }
        for one in &self.rules {
            rule(&mut text, one);
        }
        text
    }
}

/// An entry a line.
fn many(text: &mut String, key: &str, entries: Vec<String>) {
    if !entries.is_empty() {
        line(text, key, &format!("[\n    {},\n]", entries.join(",\n    ")));
    }
}

fn requirement(required: &Requirement) -> String {
    let Requirement { way, allow, when, must, say } = required;
    let (must, usual) = match must {
        Must::That(that) => (("that", &that.text), Direction::Both),
        Must::Tensor(tensor) => (("tensor", tensor), Direction::Forth),
    };
    if let (Direction::Both, None, None, "that", None) = (way, allow, when, must.0, say) {
        return quoted(must.1);
    }
    let when = when.as_ref().map(|when| ("if", &when.text));
    let rest = say.iter().map(|say| ("say", say)).chain(allow.iter().map(|name| ("allow", name)));
    entry(std::iter::once(must).chain(when).chain(rest), (*way, usual))
}

fn note(note: &Note) -> String {
    let Note { way, when, say } = note;
    if let (Direction::Forth, None) = (way, when) {
        return quoted(say);
    }
    let when = when.as_ref().map(|when| ("if", &when.text));
    entry(when.into_iter().chain([("say", say)]), (*way, Direction::Forth))
}

fn entry<'a>(
    pairs: impl Iterator<Item = (&'static str, &'a String)>,
    (way, usual): (Direction, Direction),
) -> String {
    let pairs = pairs.map(|(key, text)| format!("{key} = {}", quoted(text)));
    let way = (way != usual).then(|| format!("way = {}", quoted(way.text())));
    format!("{{ {} }}", pairs.chain(way).collect::<Vec<_>>().join(", "))
}

fn config(text: &mut String, table: &str, config: &ConfigJson) {
    if *config == ConfigJson::Unsaid {
        return;
    }
    // Writing to a text cannot fail.
    _ = write!(text, "\n[{table}]\n");
    match config {
        ConfigJson::Unsaid => {}
        ConfigJson::Keep => line(text, "keep", "true"),
        ConfigJson::Change(change) => {
            let set = serde_json::Value::from(change.set.clone()).to_string();
            line(text, "set", &quoted(&set));
            list(text, "remove", change.remove.iter());
        }
        ConfigJson::Leave(why) => line(text, "leave", &quoted(why)),
    }
}

fn rename(text: &mut String, rename: &Rename) {
    text.push_str("\n[[rename]]\n");
    line(text, "from", &quoted(&rename.from.text));
    line(text, "to", &quoted(&rename.to.text));
    for (key, holds) in [("optional", rename.optional), ("after", rename.after)] {
        if holds {
            line(text, key, "true");
        }
    }
}

fn rule(text: &mut String, rule: &Rule) {
    text.push_str("\n[[map]]\n");
    for (key, layout, dtype, side) in
        [("from", "from_layout", "from_dtype", &rule.from), ("to", "layout", "dtype", &rule.to)]
    {
        one_or_list(text, key, side.references.iter().map(|reference| &reference.text));
        self::side(text, (layout, dtype), side);
    }
    if rule.optional {
        line(text, "optional", "true");
    }
    if rule.some {
        line(text, "some", "true");
    }
    if rule.rest {
        line(text, "rest", "true");
    }
    list(text, "copies", rule.copies.iter());
    list(text, "varying", rule.varying.iter());
    list(text, "drop", rule.drop.iter());
    list(text, "lost", rule.lost.iter());
    if rule.round {
        line(text, "round", "true");
    }
    if !rule.unequal.is_empty() {
        let all: Vec<String> = rule.unequal.iter().map(unequal).collect();
        line(text, "unequal", &format!("{{ {} }}", all.join(", ")));
    }
    if rule.fill != Fill::Zero {
        line(text, "fill", &quoted(&rule.fill.to_string()));
    }
    if !rule.sizes.is_empty() {
        line(text, "sizes", &inline(&rule.sizes));
    }
}

fn unequal((axis, unequal): (&String, &Unequal)) -> String {
    let (axis, by) = (key(axis), quoted(&unequal.by));
    if unequal.sizes.is_empty() {
        return format!("{axis} = {by}");
    }
    let sizes: Vec<String> = unequal.sizes.iter().map(u64::to_string).collect();
    format!("{axis} = {{ by = {by}, sizes = [{}] }}", sizes.join(", "))
}

fn side(text: &mut String, (layout, dtype): (&str, &str), side: &SideTerms) {
    if !side.layout.is_empty() {
        one_or_list(text, layout, side.layout.iter());
    }
    if let Some(of) = side.dtype {
        line(text, dtype, &quoted(of.name()));
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    // Writing to a text cannot fail.
    _ = writeln!(text, "{key} = {value}");
}

fn list<'a>(text: &mut String, key: &str, names: impl Iterator<Item = &'a String>) {
    let names: Vec<String> = names.map(|name| quoted(name)).collect();
    if !names.is_empty() {
        line(text, key, &format!("[{}]", names.join(", ")));
    }
}

fn one_or_list<'a>(text: &mut String, key: &str, names: impl Iterator<Item = &'a String>) {
    let names: Vec<String> = names.map(|name| quoted(name)).collect();
    match &names[..] {
        [one] => line(text, key, one),
        all => line(text, key, &format!("[{}]", all.join(", "))),
    }
}

fn inline(sizes: &BTreeMap<String, Quantity>) -> String {
    let sizes: Vec<String> =
        sizes.iter().map(|(name, size)| format!("{} = {}", key(name), quantity(size))).collect();
    format!("{{ {} }}", sizes.join(", "))
}

fn quantity(size: &Quantity) -> String {
    match size {
        Quantity::Number(number) => number.to_string(),
        Quantity::Text { text, .. } => quoted(text),
    }
}

fn conditions(conditions: &Conditions) -> String {
    let one = |(name, values): (&str, &[serde_json::Value])| {
        let values: Vec<String> = values.iter().map(scalar).collect();
        format!("{} = [{}]", key(name), values.join(", "))
    };
    let all: Vec<String> = conditions.iter().map(one).collect();
    if all.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", all.join(", ")) }
}

/// A text, a number or a truth value.
fn scalar(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), quoted)
}

/// A key, in quotes where it needs them.
fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { name.to_owned() } else { quoted(name) }
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    let mut all = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => all.extend(['\\', c]),
            c if c.is_control() => _ = write!(all, "\\u{:04X}", u32::from(c)),
            c => all.push(c),
        }
    }
    all + "\""
}

/// The widest left column, in characters.
const WIDEST: usize = 78;

/// The rules, `FROM  ->  TO`, a tensor a line; below each its notes, and at the end the entries that hold for all.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.title.iter().chain(&self.source).cloned().collect();
        let lefts = self.rules.iter().flat_map(|rule| &rule.from.references);
        let width = lefts
            .map(|left| left.text.chars().count())
            .filter(|width| *width <= WIDEST)
            .max()
            .unwrap_or(0);
        lines.extend(self.renames.iter().filter(|one| !one.after).map(rename_row));
        for rule in &self.rules {
            lines.extend(rows(rule, width));
        }
        lines.extend(self.renames.iter().filter(|one| one.after).map(rename_row));
        let pairs = |pairs: &[[String; 2]]| {
            pairs.iter().map(|[first, second]| format!("{first} = {second}")).collect()
        };
        let sizes = self.sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        let pads = self.pad_to.iter().map(|(name, (axis, multiple))| {
            format!("~{name} fills {axis} up to a multiple of {multiple}")
        });
        let serves = |conditions: &Conditions| {
            let one = |(key, values): (&str, &[serde_json::Value])| {
                format!("{key} {}", models::list(values))
            };
            conditions.iter().map(one).collect::<Vec<String>>()
        };
        let require = self.require.iter().filter(|one| one.way.is_now()).map(requirement_row);
        let all: [(&str, Vec<String>); 12] = [
            ("for", serves(&self.serves)),
            ("the inverse is for", self.inverse_serves.as_ref().map(serves).unwrap_or_default()),
            ("require", require.collect()),
            ("config.json", config_row(&self.config).into_iter().collect()),
            ("pass", self.pass.clone()),
            ("drop", self.drop.clone()),
            ("does not come back", self.lost.clone()),
            ("second names", pairs(&self.tie)),
            ("removed second names", pairs(&self.untie)),
            ("one size everywhere", self.same.iter().cloned().collect()),
            ("sizes", sizes),
            ("padding", pads.collect()),
        ];
        let said = all.iter().filter(|(_, what)| !what.is_empty());
        lines.extend(said.map(|(word, what)| format!("{word}: {}", what.join(", "))));
        f.write_str(&lines.join("\n"))
    }
}

/// The line of a rename.
fn rename_row(rename: &Rename) -> String {
    let when = if rename.after { "then rename" } else { "first rename" };
    format!("{when}: {}  ->  {}", rename.from.text, rename.to.text)
}

fn requirement_row(required: &Requirement) -> String {
    let must = match &required.must {
        Must::That(condition) => condition.text.clone(),
        Must::Tensor(glob) => format!("a tensor {glob}"),
    };
    let when = required.when.as_ref().map(|when| format!(" if {when}")).unwrap_or_default();
    must + &when
}

fn config_row(config: &ConfigJson) -> Option<String> {
    match config {
        ConfigJson::Unsaid => None,
        ConfigJson::Keep => Some("copied".to_owned()),
        ConfigJson::Leave(why) => Some(format!("not copied: {why}")),
        ConfigJson::Change(change) => {
            let set = change.set.iter().map(|(key, value)| format!("{key} = {value}"));
            let gone = change.remove.iter().map(|key| format!("without {key}"));
            Some(set.chain(gone).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The lines of a rule, its left column of this width.
fn rows(rule: &Rule, width: usize) -> Vec<String> {
    let text = |side: &SideTerms, at: usize| {
        side.references.get(at).map(|reference| reference.text.clone()).unwrap_or_default()
    };
    let count = rule.from.references.len().max(rule.to.references.len());
    let row = |at: usize| {
        let arrow = if at == 0 { "->" } else { "  " };
        let (left, right) = (text(&rule.from, at), text(&rule.to, at));
        format!("{left:width$}  {arrow}  {right}").trim_end().to_owned()
    };
    let notes = notes(rule);
    let below = (!notes.is_empty()).then(|| format!("    {}", notes.join("; ")));
    (0..count).map(row).chain(below).collect()
}

/// Returns the notes of a rule besides its two sides.
fn notes(rule: &Rule) -> Vec<String> {
    let list = |word: &str, axes: &BTreeSet<String>| {
        let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
        (!axes.is_empty()).then(|| format!("{word} {}", axes.join(", ")))
    };
    let dtype = match (rule.from.dtype, rule.to.dtype) {
        (None, None) => None,
        (None, Some(to)) => Some(format!("widened to {}", to.name())),
        (Some(from), None) => Some(format!("narrowed from {}, losing no bits", from.name())),
        (Some(from), Some(to)) => {
            Some(format!("{} becomes {}, losing no bits", from.name(), to.name()))
        }
    };
    let layout = |word: &str, side: &SideTerms| {
        (!side.layout.is_empty()).then(|| format!("{word} {}", side.layout.join(", ")))
    };
    let sizes = rule.sizes.iter().map(|(name, size)| format!("{name} = {size}"));
    let fill = (rule.fill != Fill::Zero).then(|| format!("padding is {}", rule.fill));
    let optional = rule.optional.then(|| "may take nothing".to_owned());
    let some = rule.some.then(|| "some may lack it".to_owned());
    let differ = |(axis, of): (&String, &Unequal)| format!("{axis} differs with {}", of.by);
    let unequal: Vec<String> = rule.unequal.iter().map(differ).collect();
    let rest = rule.rest.then(|| "takes the rest".to_owned());
    [
        optional,
        some,
        rest,
        list("copies along", &rule.copies),
        list("size may differ by instance:", &rule.varying),
        list("without the part", &rule.drop),
        list("filled because it was dropped:", &rule.lost),
        rule.round.then(|| "rounded".to_owned()),
        (!rule.unequal.is_empty()).then(|| unequal.join(", ")),
        fill,
        dtype,
    ]
    .into_iter()
    .chain([layout("laid out as", &rule.to), layout("from the layout", &rule.from)])
    .flatten()
    .chain(sizes)
    .collect()
}
