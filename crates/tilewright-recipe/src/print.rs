//! A recipe as a TOML file, which is read as the same recipe.

use std::{collections::BTreeMap, fmt::Write as _};

use tilewright_core::Fill;

use crate::{
    conditions::Conditions,
    quantity::Quantity,
    recipe::Recipe,
    rule::{Rule, Side},
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
        for one in &self.rules {
            rule(&mut text, one);
        }
        text
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
    list(text, "copies", rule.copies.iter());
    list(text, "varying", rule.varying.iter());
    if rule.fill != Fill::Zero {
        line(text, "fill", &quoted(&rule.fill.to_string()));
    }
    if !rule.sizes.is_empty() {
        line(text, "sizes", &inline(&rule.sizes));
    }
}

fn side(text: &mut String, (layout, dtype): (&str, &str), side: &Side) {
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
