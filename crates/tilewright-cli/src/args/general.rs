//! General options between a command and its step (`reshard --json plan IN OUT`), and the texts of help: its width, and
//! the help of conversion options in `verify`.
//!
//! clap takes words between `reshard` and a step as options of a run without steps, and then refuses the step. General
//! options have the same meaning before the command, so they are moved there.

use std::ffi::OsString;

use clap::CommandFactory as _;

use super::Cli;

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

/// Returns an error for options of a run that precede a step, if there are any: `reshard --memory 1G plan IN OUT`.
///
/// The command is that of the program, and general options are before it.
pub(crate) fn misplaced(program: &clap::Command, arguments: &[OsString]) -> Option<String> {
    let first = 1 + general(arguments.get(1..).unwrap_or_default());
    let (command, words) = arguments.get(first..)?.split_first()?;
    let command = program.find_subcommand(command.to_str().filter(|word| *word == WITH_STEPS)?)?;
    let (mut given, mut at) = (Vec::new(), 0);
    let step = loop {
        at += general(words.get(at..)?);
        let word = words.get(at)?.to_str()?;
        let Some(option) = word.strip_prefix("--") else { break command.find_subcommand(word)? };
        let (name, value) = option.split_once('=').map_or((option, None), |(a, b)| (a, Some(b)));
        let known = command.get_arguments().find(|known| known.get_long() == Some(name))?;
        let takes = known.get_action().takes_values() && value.is_none();
        (given, at) = ([given, vec![name]].concat(), at + 1 + usize::from(takes));
    };
    let (name, option) = (step.get_name(), given.first()?);
    let has = |step: &clap::Command| step.get_arguments().any(|it| it.get_long() == Some(option));
    Some(match has(step) {
        true => format!("options of a step follow it: `reshard {name} … --{option} …`"),
        false => match command.find_subcommand("plan").is_some_and(has) {
            true => format!(
                "`{name}` has no --{option}, which the plan states: give it to `reshard plan`"
            ),
            false => format!("`{name}` has no --{option}"),
        },
    })
}

/// Counts the leading words that are general options or their values.
fn general(words: &[OsString]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).map(|word| word.to_string_lossy()) {
        count += match &*word {
            "--json" | "-q" | "--quiet" => 1,
            "--formats" | "--retries" if count + 1 < words.len() => 2,
            word if word.starts_with("--formats=") || word.starts_with("--retries=") => 1,
            _ => break,
        };
    }
    count
}

/// The help of shared options in `verify`, which reads the result of a conversion.
const VERIFIED: [(&str, &str); 10] = [
    ("to", "The layout that the converted file must have"),
    ("from", "The layout of the original, if the file does not record it"),
    ("tensor", "The converted tensors; all others must be unchanged; may be repeated"),
    (
        "rule",
        "The layout that tensors with matching names must have; the first match wins, then --to",
    ),
    ("fill", "The value that padding must have: 0, one, lowest, highest or 0xHEX"),
    ("store", "The type of the words in which converted tensors must be stored"),
    ("skip_unfit", "Tensors that the SPEC does not fit must be unchanged"),
    ("dims", "The logical dims of the original, such as 100,100"),
    ("dtype", "The element type of the original, such as f16; with > for big-endian, such as >f4"),
    ("memory", "Memory limit for buffers, such as 512M"),
];

/// Returns the command line, with help for a terminal of `width` characters.
pub(crate) fn command(width: usize) -> clap::Command {
    const WIDEST: usize = 100;
    let verify = |command: clap::Command| {
        VERIFIED.iter().fold(command, |command, (option, help)| {
            command.mut_arg(option, |argument| argument.help(*help))
        })
    };
    Cli::command().term_width(width.min(WIDEST)).mut_subcommand("verify", verify)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_run_before_a_step_are_one_error_that_says_where_they_go() {
        let program = command(80);
        for (words, said) in [
            (
                "reshard --memory 1G plan a b",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            (
                "-q reshard --memory=1G --verify plan a",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            (
                "reshard --mesh tp=2 simulate a",
                "options of a step follow it: `reshard simulate … --mesh …`",
            ),
            (
                "reshard --threads 2 run p",
                "options of a step follow it: `reshard run … --threads …`",
            ),
            (
                "reshard --verify run p",
                "`run` has no --verify, which the plan states: give it to `reshard plan`",
            ),
            ("reshard --dry-run finish p", "`finish` has no --dry-run"),
            (
                "reshard --memory 1G --json plan a b",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            (
                "reshard --json -q --memory 1G --formats f plan a b",
                "options of a step follow it: `reshard plan … --memory …`",
            ),
            ("reshard --json plan a b", ""),
            ("reshard --memory 1G in out", ""),
            ("reshard --memory plan in out", ""),
            ("reshard plan in out --memory 1G", ""),
            ("reshard in plan --memory 1G", ""),
            ("reshard --wrong plan a b", ""),
            ("reshard --memory", ""),
            ("convert --memory 1G plan", ""),
            ("", ""),
        ] {
            let words: Vec<OsString> =
                format!("tw {words}").split_whitespace().map(Into::into).collect();
            assert_eq!(misplaced(&program, &words).unwrap_or_default(), said, "{words:?}");
        }
    }

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
