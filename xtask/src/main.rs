//! The project's own commands: `cargo xtask ci`, `check`, `tidy`, `algebra`, `conformance`, `bench`, `device`, `wheel`,
//! `oracles`, `web`, `site`.
//!
//! There is one file per command; `shell.rs` runs programs and prepares virtual environments for them. This crate does
//! not depend on the crates that it checks.

#![forbid(unsafe_code)]

mod algebra;
mod bench;
mod ci;
mod conformance;
mod device;
mod oracles;
mod pictures;
mod shell;
mod site;
mod tidy;
mod web;
mod wheel;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything that decides whether a change lands
    Ci,
    /// The quick loop: formatting, lints, rules, and the fast tests of what changed
    Check,
    /// The rules that keep the architecture, over every tracked file
    Tidy,
    /// The relayout benchmark next to memcpy
    Bench(bench::Args),
    /// Program, wheel and script for a machine with a CUDA device, in the build folder's `device`
    Device {
        /// Without the Python package
        #[arg(long)]
        without_wheel: bool,
        /// Runs the script as well, into bench/record
        #[arg(long)]
        here: bool,
    },
    /// Python's algebra from the table of functions; --check only says whether it is fresh
    Algebra {
        /// Writes nothing
        #[arg(long)]
        check: bool,
    },
    /// The README's plot of speed and recording of a terminal; --check only says whether they are fresh
    Pictures {
        /// Writes nothing
        #[arg(long)]
        check: bool,
    },
    /// The answers of other implementations of the layout algebra to the questions of `conformance/`, written to
    /// docs/explanation/comparison.md
    Conformance,
    /// The Python package, into the build folder's `wheels`
    Wheel {
        /// Its tests as well, in an environment made anew
        #[arg(long)]
        test: bool,
        /// For all machines that are built for, and the source distribution
        #[arg(long, conflicts_with = "test")]
        all: bool,
    },
    /// Heavy checks against other people's libraries; skips what does not install
    Oracles {
        /// Lists every oracle with what it checks, and runs none
        #[arg(long)]
        list: bool,
        /// Only those whose name contains this
        name: Option<String>,
        /// Of the search by coverage only the targets whose names contain this
        target: Option<String>,
        /// The number of seconds for which each target is searched
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// The page in the browser, built into web/dist
    Web {
        /// Tests it as well: in Node, and in a browser
        #[arg(long)]
        test: bool,
        /// Takes screenshots of all it shows, on four screens, dark and light, into target/screenshots
        #[arg(long)]
        shots: bool,
    },
    /// Documents, references and the page as a site of files, into the build folder's `site`
    Site(site::SiteParts),
}

fn main() -> ExitCode {
    let root = shell::root();
    let outcome = match Args::parse().command {
        Command::Ci => ci::run(&root),
        Command::Check => ci::quick(&root),
        Command::Tidy => tidy::run(&root),
        Command::Bench(args) => return bench::run(&root, &args),
        Command::Device { without_wheel, here } => device::run_all(&root, without_wheel, here),
        Command::Web { test, shots } => web::build(&root)
            .and_then(|()| if shots { web::shots(&root) } else { Ok(()) })
            .and_then(|()| if test { web::test(&root) } else { Ok(()) }),
        Command::Site(parts) => site::run(&root, parts),
        Command::Conformance => conformance::run(&root),
        Command::Algebra { check } => algebra::run(&root, check, None),
        Command::Pictures { check } => pictures::run(&root, check, None),
        Command::Wheel { all: true, .. } => wheel::build_all(&root),
        Command::Wheel { test, .. } => wheel::build(&root)
            .and_then(|wheel| if test { wheel::test(&root, &wheel) } else { Ok(()) }),
        Command::Oracles { list: true, .. } => {
            oracles::list();
            Ok(())
        }
        Command::Oracles { name, target, seconds, .. } => {
            let searched = oracles::Searched { target: target.unwrap_or_default(), seconds };
            oracles::run(&root, name.as_deref().unwrap_or_default(), &searched)
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nxtask: {message}");
            ExitCode::FAILURE
        }
    }
}
