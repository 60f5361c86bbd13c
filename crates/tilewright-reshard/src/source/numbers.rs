//! The numbers in the names of the files of a checkpoint: they give the order, and show missing files. Readers of
//! folders use them.
//!
//! ```text
//! k-of-n    the folder has all of 1 to n, or of 0 to n - 1
//! k         if it differs from file to file, no number between the smallest and the largest is missing: checked if most
//! of these are present, or all files are numbered
//! ```
//!
//! Without `-of-`, a missing last file cannot be detected. A first file may be missing if numbers do not begin at 0.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tilewright_core::Counted;

use crate::{Error, source::lists::shown};

/// The text between the number of a file and the number of files.
const OF: &str = "-of-";

/// Splits a name into texts and the digits after them.
fn split(mut name: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    while !name.is_empty() {
        let text = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (text, behind) = name.split_at(text);
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (digits, behind) = behind.split_at(end);
        parts.push((text, digits));
        name = behind;
    }
    parts
}

/// Splits a name into texts and the numbers after them, so that 10 sorts after 9.
pub(crate) fn natural(name: &str) -> Vec<(String, u64)> {
    let number =
        |(text, digits): (&str, &str)| (text.to_owned(), digits.parse().unwrap_or(u64::MAX));
    split(name).into_iter().map(number).collect()
}

/// The numbers of files whose names are equal before the number and state the same number of files.
struct Column<'a> {
    before: &'a [(String, u64)],
    of: Option<u64>,
    /// Each number with the name of a file that has it.
    numbers: BTreeMap<u64, String>,
}

/// Splits the names of files into texts and numbers.
fn parts(files: &[PathBuf]) -> Vec<(String, Vec<(String, u64)>)> {
    let named = |path: &PathBuf| (shown(path), natural(&shown(path)));
    files.iter().map(named).collect()
}

/// Returns the numbers at each position of the names.
fn columns(names: &[(String, Vec<(String, u64)>)]) -> Vec<Column<'_>> {
    let most = names.iter().map(|(_, parts)| parts.len()).max().unwrap_or(0);
    let mut columns = Vec::new();
    for place in 0..most {
        let mut alike = BTreeMap::<_, BTreeMap<u64, String>>::new();
        for (name, parts) in names {
            let Some((text, number)) = parts.get(place) else { continue };
            // The text after the last number of a name.
            if text == OF || *number == u64::MAX {
                continue;
            }
            let of = parts.get(place + 1).filter(|(text, _)| text == OF).map(|(_, n)| *n);
            let before = parts.get(..place).unwrap_or_default();
            alike.entry((before, text.as_str(), of)).or_default().insert(*number, name.clone());
        }
        columns.extend(alike.into_iter().map(|((before, _, of), numbers)| Column {
            before,
            of,
            numbers,
        }));
    }
    columns
}

/// Returns an error if the names of the files show that one is missing. Unless they are `dense`, numbers most of which
/// are missing count something else.
pub(crate) fn check(folder: &Path, files: &[PathBuf], dense: bool) -> Result<(), Error> {
    for column in columns(&parts(files)) {
        let missing = column.missing(dense);
        if !missing.is_empty() {
            let (folder, count) = (folder.display(), Counted(files.len() as u64, "file"));
            let names: Vec<String> = missing.iter().map(|number| column.named(*number)).collect();
            let names = names.join(" or ");
            let said = format!("{folder} holds {count} *.safetensors");
            return Err(Error::mismatch(format!(
                "{said}, but by their numbers {names} is missing"
            )));
        }
    }
    Ok(())
}

/// Returns the name of the file before the first, if the numbers do not begin at 0 and no name states the number of
/// files.
pub(crate) fn before_first(files: &[PathBuf]) -> Option<String> {
    let names = parts(files);
    let counts = |column: &&Column<'_>| {
        column.of.is_none() && column.numbers.len() > 1 && column.is_dense(false)
    };
    let column = columns(&names);
    let column = column.iter().find(counts)?;
    let least = column.numbers.keys().next()?;
    Some(column.named(least.checked_sub(1)?))
}

impl Column<'_> {
    /// Returns whether the numbers count the files: if that is `known`, or if at least half of them are present.
    fn is_dense(&self, known: bool) -> bool {
        let (least, most) = (self.numbers.keys().next(), self.numbers.keys().next_back());
        let span = most.zip(least).map_or(0, |(most, least)| most - least);
        known || span / 2 < self.numbers.len() as u64
    }

    /// Returns the first missing number. If the first or the last may be missing, it returns both.
    fn missing(&self, dense: bool) -> Vec<u64> {
        let (least, most) = (self.numbers.keys().next(), self.numbers.keys().next_back());
        let Some((&least, &most)) = least.zip(most) else { return Vec::new() };
        // If a number is above the one after `-of-`, the latter is not a count.
        let of = self.of.filter(|of| most <= *of && *of > 0);
        let (first, last) = match of {
            Some(of) if least == 0 => (0, of - 1),
            Some(of) if most == of => (1, of),
            // The numbers that are missing whether numbers begin at 0 or at 1.
            Some(of) => (1, of - 1),
            None if self.is_dense(dense) => (least, most),
            None => return Vec::new(),
        };
        // The search takes at most one step more than there are numbers.
        let gone = (first..=last).find(|number| !self.numbers.contains_key(number));
        match (gone, of) {
            (Some(gone), _) => vec![gone],
            (None, Some(of)) if least > 0 && most < of => vec![0, of],
            (None, _) => Vec::new(),
        }
    }

    /// Returns the name of the file with another number, with the digits of the first file.
    fn named(&self, number: u64) -> String {
        let first = self.numbers.values().next().map_or("", String::as_str);
        let shown = |(place, (text, digits)): (usize, (&str, &str))| match place {
            own if own == self.before.len() => {
                format!("{text}{number:0width$}", width = digits.len())
            }
            _ => format!("{text}{digits}"),
        };
        let count = self.before.len() + 1 + usize::from(self.of.is_some());
        split(first).into_iter().take(count).enumerate().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(names: &[&str]) -> Option<String> {
        let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        check(Path::new("in"), &paths, true).err().map(|error| error.to_string())
    }

    /// Over every set of up to six files of each kind: a missing file is detected, except the last if no name states
    /// the count.
    #[test]
    fn a_missing_number_is_seen() {
        for count in 1..=6u64 {
            for gone in 0..1u64 << count {
                let kept: Vec<u64> = (0..count).filter(|n| gone >> n & 1 == 0).collect();
                if kept.is_empty() {
                    continue;
                }
                let of = |first: u64| -> Vec<String> {
                    let name = |n: &u64| format!("m-{:05}-of-{count:05}.safetensors", n + first);
                    kept.iter().map(name).collect()
                };
                let bare = |n: &u64| format!("shard-{:05}-model-00001-of-00001.safetensors", n + 1);
                let bare: Vec<String> = kept.iter().map(bare).collect();
                let wrong = |names: &[String]| {
                    said(&names.iter().map(String::as_str).collect::<Vec<_>>()).is_some()
                };
                assert_eq!(wrong(&of(1)), gone != 0, "{count} {gone:b}");
                let hole = kept.windows(2).any(|pair| pair[1] != pair[0] + 1);
                assert_eq!(wrong(&bare), hole, "{count} {gone:b}");
                // From 0 on, if the first is missing, 1 becomes the first, and then the last is missing.
                assert_eq!(wrong(&of(0)), gone != 0, "{count} {gone:b}");
            }
        }
    }

    #[test]
    fn where_the_first_or_the_last_is_missing_both_are_named() {
        let of = |numbers: &[u64]| {
            let names: Vec<String> = numbers.iter().map(|n| format!("r_{n:03}-of-004.x")).collect();
            let text = said(&names.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
            text.split("numbers ").nth(1).unwrap().to_owned()
        };
        assert_eq!(of(&[1, 2, 3]), "r_000-of-004 or r_004-of-004 is missing");
        assert_eq!(of(&[0, 1, 2]), "r_003-of-004 is missing");
        assert_eq!(of(&[2, 3, 4]), "r_001-of-004 is missing");
        // Either way.
        assert_eq!(of(&[2, 3]), "r_001-of-004 is missing");
        assert_eq!(of(&[1, 3]), "r_002-of-004 is missing");
    }

    #[test]
    fn numbers_that_do_not_begin_at_0_may_lack_a_first() {
        let first = |names: &[&str]| {
            before_first(&names.iter().map(PathBuf::from).collect::<Vec<PathBuf>>())
        };
        assert_eq!(first(&["m-rank1.x", "m-rank2.x"]).as_deref(), Some("m-rank0"));
        assert_eq!(first(&["7b-r08.x", "7b-r09.x", "7b-r10.x"]).as_deref(), Some("7b-r07"));
        for names in [
            &["m-rank0.x", "m-rank1.x"][..],
            &["a.x", "b.x"],
            &["m1.x"],
            &["m-1-of-2.x", "m-2-of-2.x"],
            &["e_10.x", "e_900.x"],
        ] {
            assert_eq!(first(names), None, "{names:?}");
        }
    }

    #[test]
    fn names_without_numbers_and_with_steps_are_let_be() {
        assert_eq!(said(&["a.safetensors", "b.safetensors"]), None);
        assert_eq!(said(&["rank0-step900.safetensors", "rank1-step900.safetensors"]), None);
        assert_eq!(said(&["model-00001-of-00001.safetensors"]), None);
        let text = said(&["rank_0.safetensors", "rank_2.safetensors"]).unwrap();
        assert!(text.contains("by their numbers rank_1 is missing"), "{text}");
        // A process with two files, between others with one.
        let one = |rank: u64| format!("shard-{rank:05}-model-00001-of-00001.safetensors");
        let two = |part: u64| format!("shard-00002-model-{part:05}-of-00002.safetensors");
        let names = [one(1), two(1), two(2), one(3)];
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(said(&all), None);
        let text = said(&[all[0], all[2], all[3]]).unwrap();
        assert!(text.contains("shard-00002-model-00001-of-00002 is missing"), "{text}");
        let experts: Vec<PathBuf> = ["e_0_7", "e_8_15"].map(PathBuf::from).into();
        assert!(check(Path::new("in"), &experts, false).is_ok());
        assert!(check(Path::new("in"), &experts, true).is_err());
    }
}
