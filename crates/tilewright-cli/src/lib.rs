//! The program `tilewright` as a function: it parses arguments, calls the library and prints.
//!
//! Its callers are `main.rs`, which is the program itself, and `python -m tilewright`.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod failure;
mod output;
mod progress;
mod spec;
mod streams;

use std::ffi::OsString;
#[cfg(unix)]
use std::sync::{Arc, Once, atomic::AtomicBool};

use clap::FromArgMatches as _;

use args::Cli;
use failure::Failure;
use output::Output;

/// The signal that the system sends when a file grows beyond a limit: `SIGXFSZ`.
#[cfg(unix)]
const SIZE_LIMIT: i32 = 25;

/// Runs the program with these arguments, the first of which is its name, and returns its exit code. Results go to stdout,
/// everything else to stderr.
///
/// ```
/// assert_eq!(tilewright_cli::run(["tilewright", "same", "6:1", "(2,3):(1,2)", "-q"]), 0);
/// assert_eq!(tilewright_cli::run(["tilewright", "show", "(2,3"]), 2);
/// ```
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    limits_are_errors();
    let mut arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    args::general_first(&mut arguments);
    // Errors are JSON wherever `--json` occurs, also if the arguments do not parse.
    let json = arguments.iter().any(|argument| argument == "--json");
    let command = args::command(output::width());
    if let Some(said) = args::misplaced(&command, &arguments) {
        return Failure::usage(said).report(json).0;
    }
    let parsed = command.try_get_matches_from(arguments);
    let outcome = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => spec::load(&cli).inspect(|()| be_patient(&cli)).and_then(|()| {
            let mut out = Output::stdout(cli.json, cli.quiet);
            let outcome = commands::run(&cli, &mut out);
            left_in_stores().iter().for_each(|left| out.warn(left));
            outcome
        }),
        Err(error) if error.use_stderr() && json => Err(Failure::command_line(&error)),
        Err(error) => return said(&error),
    };
    match outcome {
        Ok(code) => code.0,
        Err(failure) => failure.report(json).0,
    }
}

/// Sets the number of retries of requests, which a program without the feature `remote` does not send.
fn be_patient(cli: &Cli) {
    #[cfg(feature = "remote")]
    {
        use tilewright::files::remote::{Patience, set_patience};
        let retries = cli.retries as usize;
        set_patience(Patience { retries, ..Patience::default() });
    }
    #[cfg(not(feature = "remote"))]
    let _ = cli.retries;
}

/// Returns messages on uploads that are left in stores.
fn left_in_stores() -> Vec<String> {
    #[cfg(feature = "remote")]
    return tilewright::files::remote::unaborted();
    #[cfg(not(feature = "remote"))]
    Vec::new()
}

/// Makes a file that grows beyond the user's limit an error of writing instead of the end of the program.
fn limits_are_errors() {
    #[cfg(unix)]
    {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // Nothing reads the flag: the handler alone turns the signal into an error.
            let flag = Arc::new(AtomicBool::new(false));
            let _ = signal_hook::flag::register(SIZE_LIMIT, flag);
        });
    }
}

/// Prints the message of clap about the arguments, which may be the requested help.
fn said(error: &clap::Error) -> u8 {
    match error.print() {
        // A reader that closed its end is not an error.
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
            Failure::from(cause).report(false).0
        }
        _ => u8::try_from(error.exit_code()).unwrap_or(2),
    }
}
