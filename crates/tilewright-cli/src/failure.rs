//! Failures that stop the program, each with a message and an exit code.

use std::{borrow::Cow, io};

use serde_json::json;
use tilewright::{Error, Remedy, ask::words::printable};

use crate::{
    exit::ExitCode,
    output::complain,
    remedy::{argument, for_shards, option},
};

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

    /// Returns the failure of a run that a signal ended without a result.
    pub(crate) fn interrupted(signal: usize) -> Failure {
        Failure::signalled(signal, "nothing was written")
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
        Failure::new(code, error.kind(), error.spelled(option))
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
