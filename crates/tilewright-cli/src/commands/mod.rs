//! One file a command.

mod completions;
mod convert;
mod eval;
mod explain;
mod formats;
mod index;
mod info;
mod same;
mod show;
mod verify;

use std::process::ExitCode;

use tilewright::files::Request;

use crate::{
    args::{Array, Cli, Command},
    failure::Failure,
    output::Output,
};

/// The answer is no: layouts differ, a verification failed, an offset is out of range.
const NO: u8 = 1;

/// Runs the command and gives the exit code of its answer.
pub(crate) fn run(cli: &Cli, out: &mut Output) -> Result<ExitCode, Failure> {
    match &cli.command {
        Command::Convert(args) => convert::run(args, cli.quiet, out),
        Command::Verify(args) => verify::run(args, cli.quiet, out),
        Command::Info(args) => info::run(args, out),
        Command::Show(args) => show::run(args, out),
        Command::Explain(args) => explain::run(args, out),
        Command::Index(args) => index::run(args, out),
        Command::Same(args) => same::run(args, cli.quiet, out),
        Command::Eval(args) => eval::run(args, out),
        Command::Formats(args) => formats::run(args, out),
        Command::Completions { shell } => completions::run(*shell, out),
    }
}

/// Adds `--dims` and `--dtype` to what is asked.
fn of_array(mut request: Request, array: &Array) -> Result<Request, Failure> {
    if let Some(dims) = array.dims()? {
        request = request.dims(&dims);
    }
    if let Some(dtype) = array.dtype()? {
        request = request.dtype(dtype);
    }
    Ok(request)
}

/// Reads the value of `--fill`.
fn fill(text: &str) -> Result<tilewright::Fill, Failure> {
    tilewright::xla::parse_fill(text)
        .map_err(|error| Failure::usage(format!("--fill {text}: {}", error.render(text))))
}
