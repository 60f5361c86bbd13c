//! Terms as patterns: `w : (n n0:64) (k k0:2) -> n k n0 k0`.

use std::fmt;

use crate::{Description, MapDigit, MapTerm, Origin, TermAxis, dims};

/// Names of the dims of an array of this rank, outermost first.
fn letters(rank: usize) -> &'static [&'static str] {
    match rank {
        0 => &[],
        1 => &["n"],
        2 => &["n", "k"],
        3 => &["e", "n", "k"],
        _ => &["a", "b", "c", "d", "f", "g", "h", "i", "j", "l", "m", "o", "p", "q", "r", "s"],
    }
}

/// One digit with its name.
struct NamedPattern {
    name: String,
    digit: MapDigit,
}

impl Description {
    /// Returns the pattern of a term: the digits of each dim of the source, then the order in which they are stored, outermost
    /// first. `[k:48]` after it is room for 48 where there are fewer. A part of a source has its ranges, and `(n n0:64)+16` begins at
    /// place 16 of a block. What no pattern expresses is written as digits: extent, step in the source, step in the result.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("w".into(), vec![4, 6])])?;
    /// let ids: Vec<i64> = (0..24).map(|p| 1 + 6 * (p / 2 % 4) + 2 * (p / 8) + p % 2).collect();
    /// let learned = describe(&ids, &sources)?;
    /// assert_eq!(learned.pattern(&learned.terms()[0]), "w : n (k k0:2) -> k n k0");
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn pattern(&self, term: &MapTerm) -> String {
        let named = self.named(term);
        let order = named.as_ref().and_then(|(_, digits)| stored(digits));
        match (named, order) {
            (Some((source, _)), Some(order)) => format!("{source} -> {order}"),
            (_, _) => format!("{} : {}", self.name(term), raw(term)),
        }
    }

    /// Returns the text of the source's side, and all digits.
    fn named(&self, term: &MapTerm) -> Option<(String, Vec<NamedPattern>)> {
        let Origin::Source(place) = term.origin else {
            return None;
        };
        let dims = dims::dims(term, self.families())?;
        let (members, rest) = dims.list.split_first()?;
        let extents = &self.sources().list()[place].extents;
        let names = letters(extents.len());
        let whole = rest.iter().zip(extents).all(|(dim, e)| dim.count == *e);
        let (mut texts, mut all) = (Vec::new(), Vec::new());
        for (dim, name) in rest.iter().zip(names) {
            let digits = levels(name, &dim.digits);
            let phase = if dim.phase == 0 { String::new() } else { format!("+{}", dim.phase) };
            texts.push(side(&digits, dim.digits.is_empty()) + &phase);
            all.extend(digits);
        }
        all.extend(levels("x", &members.digits));
        let ranges = match whole {
            true => String::new(),
            false => {
                let range =
                    |dim: &dims::SourceDim| format!("{}:{}", dim.from, dim.from + dim.count);
                format!("[{}]", rest.iter().map(range).collect::<Vec<String>>().join(","))
            }
        };
        let name = self.name(term).replacen("{}", "{x}", usize::from(members.digits.len() == 1));
        Some((format!("{name}{ranges} : {}", texts.join(" ")), all))
    }
}

/// Names the digits of a dim: the most significant has the dim's name, the others are numbered from the least.
fn levels(name: &str, digits: &[MapDigit]) -> Vec<NamedPattern> {
    let top = digits.len().saturating_sub(1);
    let level = |(k, digit): (usize, &MapDigit)| NamedPattern {
        name: if k == top { name.to_owned() } else { format!("{name}{k}") },
        digit: *digit,
    };
    digits.iter().enumerate().map(level).collect()
}

/// Returns the text of a dim.
fn side(digits: &[NamedPattern], empty: bool) -> String {
    if empty {
        return "1".into();
    }
    let top = digits.len() - 1;
    let one = |k: usize| match k == top {
        true => digits[k].name.clone(),
        false => format!("{}:{}", digits[k].name, digits[k].digit.extent),
    };
    let all: Vec<String> = (0..digits.len()).rev().map(one).collect();
    if all.len() == 1 { all.join(" ") } else { format!("({})", all.join(" ")) }
}

/// Returns the digits in the order in which they are stored; `None` if their steps are not products of rooms.
fn stored(digits: &[NamedPattern]) -> Option<String> {
    let mut order: Vec<&NamedPattern> = digits.iter().collect();
    order.sort_by_key(|named| named.digit.result);
    let (mut texts, mut rooms, mut step) = (Vec::new(), Vec::new(), 1);
    if let Some(first) = order.first().filter(|first| first.digit.result != 1) {
        step = first.digit.result;
        texts.push(format!("_:{step}"));
    }
    for (k, named) in order.iter().enumerate() {
        if named.digit.result != step || step <= 0 {
            return None;
        }
        let extent = named.digit.extent as i64;
        let room = match order.get(k + 1) {
            Some(next) if next.digit.result % step == 0 => next.digit.result / step,
            Some(_) => return None,
            None => extent,
        };
        texts.push(named.name.clone());
        match room.cmp(&extent) {
            std::cmp::Ordering::Less => return None,
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => rooms.push(format!(" [{}:{room}]", named.name)),
        }
        step *= room;
    }
    texts.reverse();
    Some(texts.join(" ") + &rooms.concat())
}

/// Returns the digits of a term as numbers.
fn raw(term: &MapTerm) -> String {
    let mut text = format!("{} -> {}", term.offset, term.at);
    for axis in &term.axes {
        match axis {
            TermAxis::Table { result, .. } => text += &format!(" table of {}", result.len()),
            TermAxis::Digits { first, count, digits } => {
                let digits: Vec<String> = digits
                    .iter()
                    .map(|digit| format!("{}:{}:{}", digit.extent, digit.source, digit.result))
                    .collect();
                text += &format!(" ({})", digits.join(" "));
                if *first != 0 {
                    text += &format!("[{first}:{}]", first + count);
                } else if axis.integers() % 3 != 0 {
                    text += &format!("[:{count}]");
                }
            }
        }
    }
    for (from, onto) in &term.xor {
        text += &format!(" {from}^{onto}");
    }
    text
}

/// One line for each term: its pattern and its place in the result.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for term in self.terms() {
            writeln!(f, "{} @ {}", self.pattern(term), term.at)?;
        }
        Ok(())
    }
}
