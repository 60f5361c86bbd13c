//! The numbers in the names of the files of a checkpoint: their order, and which of them are missing.
//!
//! ```text
//! k-of-n    beside it lie all of 1 to n, or of 0 to n - 1
//! k         where it differs from file to file, none between the least and the largest is missing: if most of these are
//!           there, or all files are numbered
//! ```
//!
//! A last one of files without `-of-` that is missing cannot be seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use tilewright_core::Counted;

use crate::{Error, lists::shown};

/// Between the number of a file and how many there are.
const OF: &str = "-of-";

/// A name as texts and the numbers behind them, so that 10 stands behind 9.
pub(crate) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(text);
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (digits, behind) = behind.split_at(end);
        parts.push((text.to_owned(), digits.parse().unwrap_or(u64::MAX)));
        rest = behind;
    }
    parts
}

/// An error where the names of the files show that one is missing. Where they are not `dense`, numbers of which most are
/// missing count something else.
pub(crate) fn check(folder: &Path, files: &[PathBuf], dense: bool) -> Result<(), Error> {
    let names: Vec<Vec<(String, u64)>> = files.iter().map(|path| natural(&shown(path))).collect();
    let columns = names.iter().map(Vec::len).max().unwrap_or(0);
    for column in 0..columns {
        // Files whose names are the same before this number, and say the same number of all files.
        let mut alike = BTreeMap::<_, BTreeSet<u64>>::new();
        for name in &names {
            let Some((text, number)) = name.get(column) else { continue };
            // The end of a name has no number.
            if text == OF || *number == u64::MAX {
                continue;
            }
            let of = name.get(column + 1).filter(|(text, _)| text == OF).map(|(_, n)| *n);
            let before = name.get(..column).unwrap_or_default();
            alike.entry((before, text, of)).or_default().insert(*number);
        }
        for ((before, text, of), numbers) in alike {
            if let Some(missing) = missing(&numbers, of, dense) {
                let (folder, count) = (folder.display(), Counted(files.len() as u64, "file"));
                let said = format!("{folder} holds {count} *.safetensors");
                let name = spelled(before) + &format!("{text}{missing:05}");
                let of = of.map_or(String::new(), |of| format!("{OF}{of:05}"));
                return Err(Error::mismatch(format!(
                    "{said}, and by their numbers {name}{of} is missing"
                )));
            }
        }
    }
    Ok(())
}

/// The first number that is missing.
fn missing(numbers: &BTreeSet<u64>, of: Option<u64>, dense: bool) -> Option<u64> {
    let (least, most) = (numbers.first().copied()?, numbers.last().copied()?);
    let (first, last) = match of {
        // What is beyond the number of all is no count.
        Some(of) if most <= of && of > 0 => {
            let first = u64::from(least > 0);
            (first, first.saturating_add(of - 1))
        }
        _ if dense || (most - least) / 2 < numbers.len() as u64 => (least, most),
        _ => return None,
    };
    let mut wanted = first;
    for number in numbers {
        if *number != wanted {
            return Some(wanted);
        }
        wanted += 1;
    }
    (wanted <= last).then_some(wanted)
}

/// The beginning of a name.
fn spelled(parts: &[(String, u64)]) -> String {
    parts.iter().map(|(text, number)| format!("{text}{number:05}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(names: &[&str]) -> Option<String> {
        let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        check(Path::new("in"), &paths, true).err().map(|error| error.to_string())
    }

    /// Every set of up to six files of each kind: what is missing is seen, but for the last where nothing says how many.
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
                // From 0 on the first that is missing makes 1 the first, and then the last is missing.
                assert_eq!(wrong(&of(0)), gone != 0, "{count} {gone:b}");
            }
        }
    }

    #[test]
    fn names_without_numbers_and_with_steps_are_let_be() {
        assert_eq!(said(&["a.safetensors", "b.safetensors"]), None);
        assert_eq!(said(&["rank0-step900.safetensors", "rank1-step900.safetensors"]), None);
        assert_eq!(said(&["model-00001-of-00001.safetensors"]), None);
        let text = said(&["rank_0.safetensors", "rank_2.safetensors"]).unwrap();
        assert!(text.contains("by their numbers rank_00001 is missing"), "{text}");
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
