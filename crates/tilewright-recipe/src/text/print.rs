//! A recipe as a TOML file, which is read as the same recipe.

use std::{collections::BTreeMap, fmt::Write as _};

use tilewright_core::Fill;

use crate::{
    config::ConfigJson,
    recipe::Recipe,
    rule::{Rule, SideTerms, rename::Rename, unequal::Unequal},
    value::models::Conditions,
    value::quantity::Quantity,
    value::requirement::{Direction, Must, Note, Requirement},
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
