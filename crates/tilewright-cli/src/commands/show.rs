//! `show`: a layout as a grid, or memory as a line; two layouts side by side.

use std::io::IsTerminal as _;

use tilewright::{
    ask::{Look, Shown},
    picture::{Cells, Limits},
};

use super::draw;
use crate::{args::Show, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Show, out: &mut Output) -> Result<ExitCode, Failure> {
    if draw::wanted(args, out) {
        draw::run(args, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (array, look) = (args.array.read()?, look(args));
    let shown = match &args.other {
        None => Shown::one(&array.layout("spec", &args.spec)?, &look)?,
        Some(other) => {
            let [a, b] = array.layouts(&args.spec, other)?;
            Shown::two(&a, &b, &look)?
        }
    };
    Ok(out.say(&shown)?)
}

fn look(args: &Show) -> Look {
    let cells = match (args.names, args.numbers) {
        (true, _) => Some(Cells::Names),
        (false, true) => Some(Cells::Numbers),
        (false, false) => None,
    };
    Look { memory: args.memory, tiles: args.tiles, cells, limits: limits() }
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
