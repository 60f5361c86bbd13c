//! The record: results by machine and date, as JSON and as a readable table.

use std::{
    fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

use super::table;
use crate::shell::Outcome;

/// Writes `bench/record/MACHINE-DATE.json` and `.md`, or `MACHINE-DATE-rivals` for other libraries.
pub(super) fn write(root: &Path, result: &Value) -> Outcome {
    let folder = root.join("bench/record");
    let machine = &result["machine"];
    let cpu = slug(machine["cpu"].as_str().unwrap_or_default());
    let date = result["date"].as_str().unwrap_or_default();
    let ending = if result["rivals"].is_null() { "" } else { "-rivals" };
    let name = format!("{cpu}-{}-cores-{date}{ending}", machine["cores"]);
    let text = serde_json::to_string_pretty(result).map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (ending, text) in [("json", text + "\n"), ("md", table::markdown(result))] {
        let path = folder.join(format!("{name}.{ending}"));
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!("    {}", path.display());
    }
    Ok(())
}

/// Converts a text to lower-case letters and digits; runs of other characters become one hyphen.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Returns the date in UTC, as `2026-11-21`.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// Returns the date of a day counted from 1970-01-01: years begin in March, so leap days are at their end.
fn date(day: u64) -> String {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (day, text) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_778, "2026-11-21"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day), text);
        }
    }

    #[test]
    fn names_of_machines_are_words() {
        assert_eq!(slug("AMD EPYC (TM) 9555 @ 3.2"), "amd-epyc-tm-9555-3-2");
    }
}
