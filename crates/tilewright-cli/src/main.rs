//! The program `tilewright`: it parses arguments, calls the library and prints.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod failure;
mod output;
mod own_formats;
mod progress;
mod size;
mod spec;

use std::process::ExitCode;

use clap::Parser as _;

use args::Cli;
use failure::Failure;
use output::Output;

fn main() -> ExitCode {
    // Errors are JSON wherever `--json` stands, also when the arguments do not parse.
    let json = std::env::args_os().any(|argument| argument == "--json");
    let outcome = match Cli::try_parse() {
        Ok(cli) => own_formats::load(&cli)
            .and_then(|()| commands::run(&cli, &mut Output::stdout(cli.json))),
        Err(error) if error.use_stderr() && json => Err(Failure::command_line(&error)),
        Err(error) => error.exit(),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    }
}
