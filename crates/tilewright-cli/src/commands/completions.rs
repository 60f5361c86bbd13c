//! `completions`: prints a completion script for a shell.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::{args::Cli, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(shell: Shell, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "tilewright", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
