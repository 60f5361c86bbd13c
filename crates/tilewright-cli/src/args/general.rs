//! General options between a command and its step: `reshard --json plan IN OUT`.
//!
//! clap takes words between `reshard` and a step as options of a run without steps, and then refuses the step. General options
//! have the same meaning before the command, so they are moved there.

use std::ffi::OsString;

/// The only command with steps.
const WITH_STEPS: &str = "reshard";

/// Moves the general options after the command with steps to the place before it. The first argument is the program's name.
pub(crate) fn general_first(arguments: &mut [OsString]) {
    let command = 1 + general(arguments.get(1..).unwrap_or_default());
    if arguments.get(command).is_none_or(|word| word != WITH_STEPS) {
        return;
    }
    let count = general(&arguments[command + 1..]);
    arguments[command..=command + count].rotate_left(1);
}

/// Counts the leading words that are general options or their values.
fn general(words: &[OsString]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).map(|word| word.to_string_lossy()) {
        count += match &*word {
            "--json" | "-q" | "--quiet" => 1,
            "--formats" if count + 1 < words.len() => 2,
            word if word.starts_with("--formats=") => 1,
            _ => break,
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_options_go_before_the_command_with_steps_and_nothing_else_moves() {
        for (from, to) in [
            ("tw reshard --json plan a b", "tw --json reshard plan a b"),
            ("tw -q reshard --formats f --quiet run p", "tw -q --formats f --quiet reshard run p"),
            ("tw reshard --formats=f plan a", "tw --formats=f reshard plan a"),
            ("tw reshard --mesh tp=2 --json a b", "tw reshard --mesh tp=2 --json a b"),
            ("tw reshard plan --json a b", "tw reshard plan --json a b"),
            ("tw convert --json reshard b", "tw convert --json reshard b"),
            ("tw reshard --formats", "tw reshard --formats"),
            ("tw reshard", "tw reshard"),
            ("tw", "tw"),
            ("", ""),
        ] {
            let mut words: Vec<OsString> = from.split_whitespace().map(Into::into).collect();
            general_first(&mut words);
            let expected: Vec<OsString> = to.split_whitespace().map(Into::into).collect();
            assert_eq!(words, expected, "{from}");
        }
    }
}
