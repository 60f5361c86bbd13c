//! The program `tilewright`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tilewright_cli::run(std::env::args_os()))
}
