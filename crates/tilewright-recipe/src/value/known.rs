//! The names in sizes and conditions of a recipe. Each must be a size of the recipe, or match tensors of a rule.
//!
//! Otherwise the recipe is refused: a condition with a misspelled name would never be checked. A pattern of names in a
//! condition is compared with the patterns of the rules. Law: two patterns meet if and only if some name is matched by both.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_scan::did_you_mean;

use crate::{
    error::{Error, Faults, InFile, TextPlace},
    kind,
    recipe::Recipe,
    rule::{
        Reference, Rule,
        expression::Axis,
        name::{Name, NamePiece, Offset},
    },
    tensor::Glob,
    value::quantity::{Quantity, QuantityValue},
};

/// The most steps of comparing patterns with names.
const MOST_STEPS: usize = 1 << 26;

/// The most names that a misspelled one is compared with, and the most misspelled names that are reported.
const MOST_NEAR: usize = 1000;
const MOST_TOLD: usize = 32;

/// The names that a recipe knows.
struct KnownNames<'a> {
    sizes: BTreeSet<&'a str>,
    /// Names of tensors as patterns, as they are shown and as tokens.
    names: BTreeMap<String, NamePattern>,
    /// Patterns that were compared, and whether a tensor may be called so.
    globs: BTreeMap<&'a str, bool>,
    steps: usize,
}

/// Tells names that are neither a size nor a pattern of tensors of the recipe.
pub(crate) fn check(recipe: &Recipe, faults: &mut Faults) {
    let mut known = KnownNames::of(recipe);
    let mut told = 0;
    for (values, place) in expressions(recipe) {
        for part in values.into_iter().flat_map(QuantityValue::parts) {
            match known.fault(part) {
                Ok(()) => {}
                Err(error) if error.kind() == kind::LIMIT => return faults.push(error),
                Err(_) if told == MOST_TOLD => return,
                Err(error) => {
                    told += 1;
                    faults.push(error.on(place));
                }
            }
        }
    }
    let listed = recipe.give.keys().map(|name| ("give", name));
    for (key, name) in listed.chain(recipe.every.iter().map(|name| ("every", name))) {
        if !known.sizes.contains(name.as_str()) {
            let near = near(name, known.sizes.iter().copied());
            let says = format!(
                "`{key}` names `{name}`, which is neither an axis nor a size of the recipe{near}"
            );
            faults.push(Error::new(kind::KEY, says));
        }
    }
}

/// The known names that nearly are this one, as the end of a sentence.
fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    did_you_mean(name, known.filter(|one| one.len() <= 2 * name.len()).take(MOST_NEAR))
}

/// The values of all conditions and sizes, with their places.
fn expressions(recipe: &Recipe) -> Vec<(Vec<&QuantityValue>, &TextPlace)> {
    let sizes = recipe.quantities();
    let sizes = sizes.filter_map(|one: &Quantity| Some((vec![one.expression()?], one.place()?)));
    let conditions = recipe.conditions();
    sizes.chain(conditions.map(|one| (one.values().collect(), &one.place))).collect()
}

impl<'a> KnownNames<'a> {
    fn of(recipe: &'a Recipe) -> KnownNames<'a> {
        let references = || recipe.rules.iter().flat_map(Rule::references);
        let axes = references().flat_map(Reference::axes).map(Axis::base);
        let offsets =
            references().flat_map(Reference::numbers).filter_map(|one| match &one.offset {
                Offset::Size(name) => Some(name.as_str()),
                Offset::By(_) => None,
            });
        let of_rules = recipe.rules.iter().flat_map(|rule| rule.sizes.keys());
        let own = recipe.sizes.keys().chain(of_rules).map(String::as_str);
        let listed = [&recipe.pass, &recipe.drop, &recipe.lost].into_iter().flatten();
        let tied = recipe.tie.iter().chain(&recipe.untie).flatten();
        let globs = listed.chain(tied).map(|glob| (glob.clone(), NamePattern::of_glob(glob)));
        KnownNames {
            sizes: axes.chain(offsets).chain(own).collect(),
            names: references().map(|one| NamePattern::of_name(&one.name)).chain(globs).collect(),
            globs: BTreeMap::new(),
            steps: 0,
        }
    }

    /// Refuses a part of an expression that is not known.
    fn fault(&mut self, part: &'a QuantityValue) -> Result<(), Error> {
        let says = match part {
            QuantityValue::Size(name) if !self.sizes.contains(name.as_str()) => {
                let near = near(name, self.sizes.iter().copied());
                format!(
                    "`{name}` is not a size of the recipe: no rule has such an axis, and [sizes] does not list it{near}"
                )
            }
            QuantityValue::Dim(Glob { names, .. }) if !self.may_be(names)? => {
                let near = near(names, self.names.keys().map(String::as_str));
                format!("{part} names tensors that no rule takes or makes{near}")
            }
            _ => return Ok(()),
        };
        Err(Error::new(kind::NAME, says))
    }

    /// Returns true if a tensor of the recipe may have a name of this pattern.
    fn may_be(&mut self, glob: &'a str) -> Result<bool, Error> {
        if let Some(known) = self.globs.get(glob) {
            return Ok(*known);
        }
        let pattern = NamePattern::of_glob(glob);
        let mut found = false;
        for name in self.names.values() {
            self.steps += (pattern.len() + 1) * (name.len() + 1);
            if self.steps > MOST_STEPS {
                let says =
                    "its conditions name too many tensors to compare them with those of the rules";
                return Err(Error::new(kind::LIMIT, says));
            }
            if pattern.meets(name) {
                found = true;
                break;
            }
        }
        self.globs.insert(glob, found);
        Ok(found)
    }
}

/// A letter of a pattern of names, or any number of letters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Letter(char),
    Any,
    /// Any letters but dots.
    Word,
    Figures,
}

/// A pattern of whole names.
#[derive(Debug)]
struct NamePattern(Vec<Token>);

impl NamePattern {
    /// The pattern of a glob, in which `*` is any text.
    fn of_glob(glob: &str) -> NamePattern {
        NamePattern(
            glob.chars().map(|c| if c == '*' { Token::Any } else { Token::Letter(c) }).collect(),
        )
    }

    /// The pattern of the names that a rule takes or makes, and the glob that shows it in messages.
    fn of_name(name: &Name) -> (String, NamePattern) {
        let (mut shown, mut tokens) = (String::new(), Vec::new());
        for piece in &name.pieces {
            match piece {
                NamePiece::Literal(text) => {
                    shown.push_str(text);
                    tokens.extend(text.chars().map(Token::Letter));
                }
                NamePiece::Text { dots, .. } => {
                    shown.push('*');
                    tokens.push(if *dots { Token::Any } else { Token::Word });
                }
                NamePiece::Number(_) => {
                    shown.push('*');
                    tokens.push(Token::Figures);
                }
            }
        }
        (shown, NamePattern(tokens))
    }

    /// The number of its tokens: letters, and texts of any length.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if some name is matched by both. The time grows with the product of their lengths.
    fn meets(&self, other: &NamePattern) -> bool {
        let (one, other) = (&self.0, &other.0);
        // row[to] is true if the first `at` tokens of the one and the first `to` of the other may be the same text.
        let mut row = vec![false; other.len() + 1];
        row[0] = true;
        for at in 0..=one.len() {
            let mut next = vec![false; other.len() + 1];
            for to in 0..=other.len() {
                if !row[to] {
                    continue;
                }
                let (a, b) = (one.get(at), other.get(to));
                if a.is_some_and(|a| a.is_any()) {
                    next[to] = true;
                }
                if b.is_some_and(|b| b.is_any()) {
                    row[to + 1] = true;
                }
                match (a, b) {
                    (Some(Token::Letter(a)), Some(Token::Letter(b))) => next[to + 1] |= a == b,
                    (Some(a), Some(Token::Letter(b))) if a.takes(*b) => row[to + 1] = true,
                    (Some(Token::Letter(a)), Some(b)) if b.takes(*a) => next[to] = true,
                    _ => {}
                }
            }
            if at == one.len() {
                return row[other.len()];
            }
            // Most pairs differ early: no place in the other is reached any more.
            if !next.contains(&true) {
                return false;
            }
            row = next;
        }
        false
    }
}

impl Token {
    /// Returns true if the token matches texts of any length with this letter.
    fn takes(self, letter: char) -> bool {
        match self {
            Token::Letter(_) => false,
            Token::Any => true,
            Token::Word => letter != '.',
            Token::Figures => letter.is_ascii_digit(),
        }
    }

    fn is_any(self) -> bool {
        !matches!(self, Token::Letter(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::matches;

    /// All texts of some letters, up to a length.
    fn texts(letters: &[char], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            let longer =
                |text: &String| letters.iter().map(|c| format!("{text}{c}")).collect::<Vec<_>>();
            last = last.iter().flat_map(longer).collect();
            all.extend(last.clone());
        }
        all
    }

    #[test]
    fn patterns_meet_where_a_text_is_of_both() {
        let patterns = texts(&['a', 'b', '*'], 4);
        // A text that two such patterns share may be as short as both together.
        let names = texts(&['a', 'b'], 7);
        for (one, other) in
            patterns.iter().flat_map(|one| patterns.iter().map(move |other| (one, other)))
        {
            let both = names.iter().any(|name| matches(one, name) && matches(other, name));
            assert_eq!(
                NamePattern::of_glob(one).meets(&NamePattern::of_glob(other)),
                both,
                "{one} {other}"
            );
        }
    }

    #[test]
    fn fields_take_what_they_read() {
        let name =
            |text: &str| NamePattern::of_name(&Name::within(text, (0, text.len())).unwrap()).1;
        for (text, glob, expected) in [
            ("blk.{L}.w", "blk.*.w", true),
            ("blk.{L}.w", "blk.12.w", true),
            ("blk.{L}.w", "blk.q.w", false),
            ("blk.{x:name}.w", "blk.q.w", true),
            ("blk.{x:name}.w", "blk.q.r.w", false),
            ("blk.{x:*}.w", "blk.q.r.w", true),
            ("{p:*}.self_attn.q_proj.{w:name}", "*.self_attn.q_proj.weight", true),
            ("{p:*}.self_attn.q_proj.{w:name}", "*.self_attn.qproj.weight", false),
        ] {
            assert_eq!(name(text).meets(&NamePattern::of_glob(glob)), expected, "{text} {glob}");
        }
    }
}
