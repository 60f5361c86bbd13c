//! Why the program stops: a message and an exit code.

use std::{borrow::Cow, io};

use serde_json::json;
use tilewright::ask::words::printable;

use crate::{
    exit::ExitCode,
    output::complain,
    remedy::{argument, option},
};

/// An end of the program that is no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    kind: &'static str,
    message: String,
    /// The message as a person sees it, with a caret under the text where there is one.
    rendered: String,
    span: Option<(usize, usize)>,
}

/// The most characters of a line of a message.
const LONGEST: usize = 1000;
/// Bad usage, or a layout that does not parse or is not legal.
const USAGE: u8 = 2;
/// Reading or writing failed.
const IO: u8 = 3;
/// The kind of an end that is said to nobody: standard output is not read any more.
const UNREAD: &str = "unread";
/// The number of the signal that a closed pipe sends.
const PIPE: u8 = 13;
/// Ended by a signal, as shells count it: this and the signal's number.
const SIGNALLED: u8 = 128;

impl Failure {
    fn new(code: u8, kind: &'static str, message: String) -> Failure {
        Failure { code, kind, rendered: message.clone(), message, span: None }
    }

    /// Nobody reads what is printed, which is no error; or what was converted, which is then lost.
    fn unread(code: u8) -> Failure {
        Failure::new(code, UNREAD, "nobody reads standard output".into())
    }

    /// Bad usage, in words.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(USAGE, "usage", message.into())
    }

    /// A command line that does not parse: its first sentence, and what clap would try instead.
    pub(crate) fn command_line(error: &clap::Error) -> Failure {
        let text = error.render().to_string();
        let said = text.split("\n\nUsage:").next().unwrap_or(&text);
        let said = said.split("\n\nFor more information").next().unwrap_or(said).trim();
        let lines = said.strip_prefix("error: ").unwrap_or(said).lines();
        let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
        Failure::usage(lines.join("; ").replace(":; ", ": "))
    }

    /// A run that a signal ended; nothing of it is left.
    pub(crate) fn interrupted(signal: usize) -> Failure {
        Failure::signalled(signal, "nothing was written")
    }

    /// A run that a signal ended, and that goes on where it was; `kept` says where.
    pub(crate) fn paused(signal: usize, kept: &str) -> Failure {
        Failure::signalled(signal, &format!("the same command does the rest; {kept}"))
    }

    fn signalled(signal: usize, left: &str) -> Failure {
        let code = SIGNALLED.saturating_add(u8::try_from(signal).unwrap_or(0));
        Failure::new(code, "cancelled", format!("ended by signal {signal}; {left}"))
    }

    /// An error of the library, what to do about it spelled as options, about the argument at fault.
    pub(crate) fn of(error: impl Into<tilewright::Error>) -> Failure {
        let error: tilewright::Error = error.into();
        let stays = error.is_exists() || error.is_same_file() || error.is_converted();
        let request = error.is_usage() || stays;
        let failure = Failure {
            code: if error.is_file() && !request { IO } else { USAGE },
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

    /// An error that is the answer: no.
    pub(crate) fn no(error: tilewright::Error) -> Failure {
        Failure { code: ExitCode::NO.0, ..Failure::of(error) }
    }

    /// The same failure, about this argument.
    pub(crate) fn about(mut self, what: &str) -> Failure {
        self.message = format!("{what}: {}", self.message);
        self.rendered = format!("{what}: {}", self.rendered);
        self
    }

    /// The same message with more at its end.
    pub(crate) fn with_hint(mut self, hint: &str) -> Failure {
        self.message += hint;
        self.rendered += hint;
        self
    }

    /// Reports it on stderr and gives the exit code.
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

/// A message without the middle of what is too long to be read.
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

impl From<tilewright::Error> for Failure {
    fn from(error: tilewright::Error) -> Failure {
        Failure::of(error)
    }
}

impl From<tilewright::layouts::Error> for Failure {
    fn from(error: tilewright::layouts::Error) -> Failure {
        Failure::of(error)
    }
}

impl From<tilewright::files::Error> for Failure {
    fn from(error: tilewright::files::Error) -> Failure {
        let cause = std::error::Error::source(&error);
        let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
        if cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
            return Failure::unread(SIGNALLED + PIPE);
        }
        Failure::of(error)
    }
}

impl From<tilewright::module::Error> for Failure {
    fn from(error: tilewright::module::Error) -> Failure {
        Failure::of(error)
    }
}

impl From<tilewright::reshard::Error> for Failure {
    fn from(error: tilewright::reshard::Error) -> Failure {
        let code = match error.kind() {
            "incomplete" => ExitCode::NO.0,
            _ if error.is_usage() => USAGE,
            _ => IO,
        };
        let failure = Failure::new(code, error.kind(), error.spelled(option));
        match error.kind() {
            "replicas" => failure.with_hint("; --trust-replicas takes the first"),
            "exists" if error.to_string().contains(" exists already") => {
                failure.with_hint("; --force replaces a checkpoint")
            }
            _ => failure,
        }
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
