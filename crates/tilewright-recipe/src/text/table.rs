//! A recipe as people read it: a table of its rules, and the entries that hold for all of them.

use std::fmt;

use crate::{
    config::ConfigJson,
    recipe::Recipe,
    rule::{Rule, SideTerms, rename::Rename, unequal::Unequal},
    value::models::{Conditions, list},
    value::requirement::{Must, Requirement},
};

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
        lines.extend(self.renames.iter().filter(|one| !one.after).map(rename));
        for rule in &self.rules {
            lines.extend(rows(rule, width));
        }
        lines.extend(self.renames.iter().filter(|one| one.after).map(rename));
        let pairs = |pairs: &[[String; 2]]| {
            pairs.iter().map(|[first, second]| format!("{first} = {second}")).collect()
        };
        let sizes = self.sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        let pads = self.pad_to.iter().map(|(name, (axis, multiple))| {
            format!("~{name} fills {axis} up to a multiple of {multiple}")
        });
        let serves = |conditions: &Conditions| {
            let one =
                |(key, values): (&str, &[serde_json::Value])| format!("{key} {}", list(values));
            conditions.iter().map(one).collect::<Vec<String>>()
        };
        let require = self.require.iter().filter(|one| one.way.is_now()).map(requirement);
        let all: [(&str, Vec<String>); 12] = [
            ("for", serves(&self.serves)),
            ("the inverse is for", self.inverse_serves.as_ref().map(serves).unwrap_or_default()),
            ("require", require.collect()),
            ("config.json", config(&self.config).into_iter().collect()),
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
fn rename(rename: &Rename) -> String {
    let when = if rename.after { "then rename" } else { "first rename" };
    format!("{when}: {}  ->  {}", rename.from.text, rename.to.text)
}

fn requirement(required: &Requirement) -> String {
    let must = match &required.must {
        Must::That(condition) => condition.text.clone(),
        Must::Tensor(glob) => format!("a tensor {glob}"),
    };
    let when = required.when.as_ref().map(|when| format!(" if {when}")).unwrap_or_default();
    must + &when
}

fn config(config: &ConfigJson) -> Option<String> {
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
    let list = |word: &str, axes: &std::collections::BTreeSet<String>| {
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
    let fill =
        (rule.fill != tilewright_core::Fill::Zero).then(|| format!("padding is {}", rule.fill));
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
