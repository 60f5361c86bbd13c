//! `show`: a layout as a grid, or memory as a line.

use std::{io::IsTerminal as _, process::ExitCode};

use serde_json::json;
use tilewright::{
    Named, notation,
    picture::{Cells, Limits, Picture},
};

use crate::{args::Show, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Show, out: &mut Output) -> Result<ExitCode, Failure> {
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    let picture = Picture::new(named.layout(), named.fill()).within(limits());
    let cells = match (args.names, args.numbers, args.memory) {
        (true, _, _) | (false, false, true) => Cells::Names,
        (false, true, _) => Cells::Numbers,
        (false, false, false) => Cells::Offsets,
    };
    let title = title(&named);
    let text = match (args.memory, args.names) {
        (true, _) => picture.memory(cells)?,
        (false, true) => picture.rows(cells),
        (false, false) => format!("{title}\n{}", picture.grid(cells)),
    };
    out.answer(&text, json!({ "layout": title, "picture": text }))?;
    Ok(ExitCode::SUCCESS)
}

/// The layout in CuTe text, or as it was asked for where that cannot say it.
fn title(named: &Named) -> String {
    let cute = notation::notations().iter().find(|notation| notation.name() == "cute");
    cute.and_then(|cute| cute.print(named).ok()).unwrap_or_else(|| named.name().to_owned())
}

/// What fits the terminal; into a file, more.
fn limits() -> Limits {
    let size = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    match size {
        Some((width, height)) => Limits {
            width: usize::from(width.0).max(20),
            rows: u64::from(height.0 / 2).max(4),
            panels: 4,
            cells: u64::from(width.0) * u64::from(height.0) / 4,
        },
        None => Limits::default(),
    }
}
