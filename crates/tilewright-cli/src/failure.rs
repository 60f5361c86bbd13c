//! Failures that stop the program, each with a message and an exit code; remedies and fields of errors in the words of
//! the command line, with sizes in their units.

use std::{borrow::Cow, io};

use serde_json::json;
use tilewright::{Error, Remedy, ask::words::printable};

use crate::output::{ExitCode, complain};

/// End of the program without an answer.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    kind: &'static str,
    message: String,
    /// The message as a person sees it, with a caret under the text if there is one.
    rendered: String,
    span: Option<(usize, usize)>,
}

/// The largest number of characters of a line of a message.
const LONGEST: usize = 1000;
/// Bad usage, or a layout that does not parse or is not legal.
const USAGE: u8 = 2;
/// Reading or writing failed.
const IO: u8 = 3;
/// The kind of a failure that is not printed: the reader of standard output is gone.
const UNREAD: &str = "unread";
/// The number of the signal that a closed pipe sends.
const PIPE: u8 = 13;
/// The base of exit codes after a signal, as in shells: the code is this plus the signal's number.
const SIGNALLED: u8 = 128;

impl Failure {
    fn new(code: u8, kind: &'static str, message: String) -> Failure {
        Failure { code, kind, rendered: message.clone(), message, span: None }
    }

    /// Returns the failure of output that nobody reads: success for an answer, an error for a converted file, which is lost.
    fn unread(code: u8) -> Failure {
        Failure::new(code, UNREAD, "standard output has no reader".into())
    }

    /// Returns the failure of bad usage, with a message.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(USAGE, "usage", message.into())
    }

    /// Returns the failure of a command line that does not parse, with its first sentence and the suggestions of clap.
    pub(crate) fn command_line(error: &clap::Error) -> Failure {
        let text = error.render().to_string();
        let said = text.split("\n\nUsage:").next().unwrap_or(&text);
        let said = said.split("\n\nFor more information").next().unwrap_or(said).trim();
        let lines = said.strip_prefix("error: ").unwrap_or(said).lines();
        let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
        Failure::usage(lines.join("; ").replace(":; ", ": "))
    }

    /// Returns the failure of a run that a signal ended without a result, with what a store has kept of it.
    pub(crate) fn interrupted(signal: usize, left: Option<&str>) -> Failure {
        Failure::signalled(signal, left.unwrap_or("nothing was written"))
    }

    /// Returns the failure of a run that a signal ended and that can continue; `kept` says where it continues.
    pub(crate) fn paused(signal: usize, kept: &str) -> Failure {
        Failure::signalled(signal, &format!("run the same command to finish; {kept}"))
    }

    fn signalled(signal: usize, left: &str) -> Failure {
        let code = SIGNALLED.saturating_add(u8::try_from(signal).unwrap_or(0));
        Failure::new(code, "cancelled", format!("ended by signal {signal}; {left}"))
    }

    /// Returns the failure of an error of the library, with its remedies as options and the argument at fault.
    pub(crate) fn of(error: impl Into<Error>) -> Failure {
        Failure::spelled(error, option)
    }

    /// Returns the failure of an error of the library, with its remedies as `option` spells them.
    pub(crate) fn spelled(error: impl Into<Error>, option: fn(Remedy) -> String) -> Failure {
        let error: Error = error.into();
        let failure = Failure {
            code: if error.is_file() && !error.is_usage() { IO } else { USAGE },
            kind: error.kind(),
            message: error.spelled(option),
            rendered: error.rendered(option),
            span: error.span(),
        };
        let failure = failure.with_feature(&error);
        match error.field().and_then(argument) {
            Some(argument) => failure.about(argument),
            None => failure,
        }
    }

    /// Returns the failure of a request to reshard, with the option that avoids it.
    pub(crate) fn of_request(error: Error) -> Failure {
        let failure = Failure::of_reshard(&error, option);
        match wished(&error) {
            Some((wish, does)) => failure.with_hint(&format!("; {wish} {does}")),
            None => failure,
        }
    }

    /// Returns the failure of a step that runs or finishes a plan, whose options are those of the plan.
    pub(crate) fn of_plan(error: Error) -> Failure {
        let failure = Failure::of_reshard(&error, option);
        match wished(&error).filter(|_| error.case() != "finished") {
            Some((wish, does)) => {
                failure.with_hint(&format!("; plan again: `reshard plan … {wish}` {does}"))
            }
            None => failure,
        }
    }

    /// Returns the failure of shards that are compared, and not rewritten.
    pub(crate) fn of_shards(error: Error) -> Failure {
        Failure::of_reshard(&error, for_shards)
    }

    /// Returns the failure of an error of resharding, with its remedies as `option` spells them.
    fn of_reshard(error: &Error, option: fn(Remedy) -> String) -> Failure {
        let code = match error.kind() {
            "incomplete" => ExitCode::NO.0,
            _ if error.is_usage() => USAGE,
            _ => IO,
        };
        Failure::new(code, error.kind(), error.spelled(option)).with_feature(error)
    }

    /// Adds the command that installs the program with stores and hubs, if these were left out: whoever installed it did not choose
    /// its features one by one.
    fn with_feature(self, error: &Error) -> Failure {
        match error.is_not_built() && error.message().contains("`remote`") {
            true => {
                self.with_hint(": cargo install --path crates/tilewright-cli --features remote")
            }
            false => self,
        }
    }

    /// Returns the failure of an error that is the answer no.
    pub(crate) fn no(error: Error) -> Failure {
        Failure { code: ExitCode::NO.0, ..Failure::of(error) }
    }

    /// Prefixes the messages with an argument.
    pub(crate) fn about(mut self, what: &str) -> Failure {
        self.message = format!("{what}: {}", self.message);
        self.rendered = format!("{what}: {}", self.rendered);
        self
    }

    /// Adds a hint, which begins with a semicolon, at the end of the messages. A question ends its sentence itself.
    pub(crate) fn with_hint(mut self, hint: &str) -> Failure {
        for text in [&mut self.message, &mut self.rendered] {
            *text += if text.ends_with('?') { hint.trim_start_matches(';') } else { hint };
        }
        self
    }

    /// Prints the failure on stderr and returns the exit code.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        if self.kind == UNREAD {
            return ExitCode::from(self.code);
        }
        if json {
            let mut error = json!({ "kind": self.kind, "message": clipped(&self.message) });
            if let Some((from, to)) = self.span {
                error["span"] = json!([from, to]);
            }
            complain(&format!("{}\n", json!({ "error": error })));
        } else {
            let lines = self.rendered.lines().map(|line| printable(&clipped(line)).into_owned());
            complain(&format!("error: {}\n", lines.collect::<Vec<_>>().join("\n")));
        }
        ExitCode::from(self.code)
    }
}

/// Returns a message without its middle if it is too long.
fn clipped(line: &str) -> Cow<'_, str> {
    let place = |nth: usize| line.char_indices().nth(nth).map(|(at, _)| at);
    let count = line.chars().count();
    match (place(LONGEST / 2), place(count.saturating_sub(LONGEST / 2))) {
        (Some(head), Some(tail)) if count > LONGEST => {
            Cow::Owned(format!("{} … {}", &line[..head], &line[tail..]))
        }
        _ => Cow::Borrowed(line),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error.io_kind() {
            Some(io::ErrorKind::BrokenPipe) => Failure::unread(SIGNALLED + PIPE),
            _ => Failure::of(error),
        }
    }
}

impl From<tilewright::layouts::Error> for Failure {
    fn from(error: tilewright::layouts::Error) -> Failure {
        Failure::of(error)
    }
}

/// Returns the option of a request of `reshard` that avoids an error, and what it does.
fn wished(error: &Error) -> Option<(&'static str, &'static str)> {
    match error.kind() {
        "replicas" => Some(("--trust-replicas", "takes the first")),
        "padding" => Some(("--drop-padding", "drops it")),
        "exists" if matches!(error.case(), "taken" | "finished") => {
            Some(("--force", "replaces a checkpoint"))
        }
        _ => None,
    }
}

impl From<tilewright_bench::Error> for Failure {
    fn from(error: tilewright_bench::Error) -> Failure {
        let code = if error.is_definition() { USAGE } else { IO };
        Failure::new(code, error.word(), error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::unread(0);
        }
        Failure::new(IO, "output", format!("stdout: {error}"))
    }
}

/// Returns a remedy as the options that apply it.
pub(crate) fn option(remedy: Remedy) -> String {
    match remedy {
        Remedy::Overwrite => "overwriting it needs --force",
        Remedy::MoreMemory { least: Some(least) } => {
            return format!("give --memory {} or more", at_least(least));
        }
        Remedy::MoreMemory { least: None } => "raise --memory",
        Remedy::LessMemory => "lower --memory",
        Remedy::Dims => "give --dims, such as --dims 100,100",
        Remedy::Dtype => "give --dtype, such as --dtype bf16",
        Remedy::DimsAndDtype => "give --dims and --dtype",
        Remedy::Source => "give its layout with --from, such as --from row-major",
        Remedy::Target => "give the layout with --to",
        Remedy::NoTarget => {
            "leave out --to, --rule, --from, --dims, --dtype, --fill, --store and --skip-unfit"
        }
        Remedy::Rule => "give layouts with --rule",
        Remedy::OtherLayout => "give it another layout with --rule",
        Remedy::LeaveOut => "leave it out with --tensor",
        Remedy::SkipUnfit => "skip these tensors with --skip-unfit",
        Remedy::File => "name a file",
        Remedy::Unverified => "leave --verify out",
        Remedy::Name => "choose one with --tensor NAME",
        Remedy::Again => "to copy it, give --force",
        Remedy::Original => "name the original file with --against",
        Remedy::Metadata => "give it with --metadata FROM",
        Remedy::OtherDirection => {
            "the other direction of the recipe fits: give --inverse, or omit it if it is given"
        }
        Remedy::TrustMetadata => "to write them as they are, give --trust-metadata",
        Remedy::AnyConfig => "to convert anyway, give --any-config",
        Remedy::Sizes => "give sizes with --size AXIS=N, or a config.json beside the input",
        Remedy::Allow => "allow a condition to fail with --allow NAME",
        Remedy::Extents => "give them with --extents FILE, or accept them with --trust-extents",
        Remedy::Heads => "change the rule, or accept it with --trust-extents",
        Remedy::FromMesh => "join them with `tilewright reshard`; files that record no rules need --from-mesh, such as --from-mesh tp=2",
        Remedy::Reshard => "use `tilewright reshard`, which joins it into whole tensors",
        other => return other.to_string(),
    }
    .to_owned()
}

/// Returns a remedy for shards as options of `fingerprint`, `same-data` and `verify`, which take no extents.
pub(crate) fn for_shards(remedy: Remedy) -> String {
    match remedy {
        Remedy::Extents => {
            "rewrite them with `tilewright reshard`, which takes --extents FILE and --trust-extents"
                .into()
        }
        other => option(other),
    }
}

/// Returns the argument that gives a part of a question; `None` if it is the only argument.
pub(crate) fn argument(field: &str) -> Option<&'static str> {
    Some(match field {
        "spec" => "SPEC",
        "a" => "A",
        "b" => "B",
        "dims" => "--dims",
        "dtype" => "--dtype",
        "coord" => "--coord",
        "offset" => "--offset",
        "to" => "--to",
        "tile" => "--tile",
        "layout" => "--layout",
        "access" => "--access",
        "vector" => "--vector",
        "banks" => "--banks",
        _ => return None,
    })
}

/// The units, powers of 1024.
pub(crate) const UNITS: [&str; 5] = ["", "k", "m", "g", "t"];

/// Prints a size of at least this many bytes, in the largest unit that it fills, with one decimal.
pub(crate) fn at_least(bytes: u64) -> String {
    let filled = |power: &usize| bytes >= 1 << (10 * power);
    let power = (0..UNITS.len()).rev().find(filled).unwrap_or(0);
    if power == 0 {
        return bytes.to_string();
    }
    let tenths = (u128::from(bytes) * 10).div_ceil(1 << (10 * power));
    let unit = UNITS[power].to_ascii_uppercase();
    match tenths % 10 {
        0 => format!("{}{unit}", tenths / 10),
        part => format!("{}.{part}{unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// Returns the options of a text.
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split([' ', ',']).filter_map(|word| word.strip_prefix("--"))
    }

    /// A remedy that only some commands apply names options that each of them takes.
    #[test]
    fn options_are_those_of_the_commands_that_advise_them() {
        let program = crate::args::Cli::command();
        let takes = |command: &str, option: &str| {
            let command = program.find_subcommand(command).unwrap();
            command.get_arguments().any(|argument| argument.get_long() == Some(option))
        };
        for (remedy, commands) in [
            (Remedy::Metadata, &["convert", "reshard"][..]),
            (Remedy::TrustMetadata, &["convert", "reshard"]),
            (Remedy::Extents, &["reshard"]),
            (Remedy::Heads, &["reshard"]),
            (Remedy::OtherDirection, &["convert"]),
            (Remedy::AnyConfig, &["convert"]),
            (Remedy::Original, &["verify"]),
            (Remedy::NoTarget, &["verify"]),
        ] {
            let text = option(remedy);
            for (word, command) in
                words(&text).flat_map(|word| commands.iter().map(move |it| (word, it)))
            {
                assert!(takes(command, word), "{command}: {text}");
            }
        }
        // Commands that compare shards name another command for options that they lack.
        for remedy in [Remedy::Extents, Remedy::LeaveOut, Remedy::Dtype] {
            let text = for_shards(remedy);
            for (word, command) in words(&text)
                .flat_map(|word| ["fingerprint", "same-data", "verify"].map(|it| (word, it)))
            {
                let is_other = text.contains("`tilewright reshard`") && takes("reshard", word);
                assert!(is_other || takes(command, word), "{command}: {text}");
            }
        }
    }

    #[test]
    fn every_option_that_is_advised_is_one_of_the_program() {
        let program = crate::args::Cli::command();
        let known = |name: &str| {
            program.get_subcommands().any(|command| {
                command.get_arguments().any(|argument| argument.get_long() == Some(name))
            })
        };
        for remedy in Remedy::ALL {
            let text = option(*remedy);
            for word in words(&text) {
                assert!(known(word), "{text}");
            }
            let plain = [Remedy::File].contains(remedy);
            assert_eq!(text == remedy.to_string(), plain, "{text} is not spelled");
        }
    }
}
