//! `show`: a layout as a grid, or memory as a line; two layouts side by side.

use std::io::IsTerminal as _;

use serde_json::json;
use tilewright::{
    Named,
    picture::{Cells, Limits, Picture},
};

use super::draw::{self, title};
use crate::{args::Show, exit::ExitCode, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Show, out: &mut Output) -> Result<ExitCode, Failure> {
    match &args.other {
        _ if draw::wanted(args, out) => draw::run(args, out)?,
        Some(other) => two(args, other, out)?,
        None => one(args, out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn one(args: &Show, out: &mut Output) -> Result<(), Failure> {
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    let picture = picture(args, &named, limits());
    let cells = cells(args, Cells::Names);
    let title = title(&named);
    let text = match (args.memory, args.names && !args.tiles) {
        (true, _) => picture.memory(cells)?,
        (false, true) => picture.rows(cells),
        (false, false) => format!("{title}\n{}", picture.grid(cells)),
    };
    Ok(out.answer(&text, json!({ "layout": title, "picture": text }))?)
}

/// Two layouts of one array side by side.
fn two(args: &Show, other: &str, out: &mut Output) -> Result<(), Failure> {
    let (a, b) = spec::both(&args.spec, other, &args.array)?;
    let half = Limits { width: limits().width / 2, ..limits() };
    let left = picture(args, &a, half);
    let right = picture(args, &b, half);
    let pair = left.beside(&right)?;
    let cells = cells(args, Cells::Coords);
    let drawn = if args.memory { pair.memory(cells)? } else { pair.grid(cells) };
    let titles = [title(&a), title(&b)];
    let text = format!("A  {}\nB  {}\n{drawn}", titles[0], titles[1]);
    Ok(out.answer(&text, json!({ "layouts": titles, "picture": text }))?)
}

fn picture<'a>(args: &Show, named: &'a Named, limits: Limits) -> Picture<'a> {
    let picture = Picture::new(named.layout(), named.fill()).within(limits);
    if args.tiles { picture.with_tiles() } else { picture }
}

/// What was asked for, or offsets in a grid and `in_memory` in memory.
fn cells(args: &Show, in_memory: Cells) -> Cells {
    match (args.names, args.numbers, args.memory) {
        (true, _, _) => Cells::Names,
        (false, true, _) => Cells::Numbers,
        (false, false, true) => in_memory,
        (false, false, false) => Cells::Offsets,
    }
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
