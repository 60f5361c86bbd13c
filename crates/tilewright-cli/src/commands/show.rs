//! `show`: prints a layout as a grid, or memory as a line; or two layouts side by side.

use tilewright::ask::{Look, Shown};

use super::draw;
use crate::{args::Show, exit::ExitCode, failure::Failure, output::Output, screen};

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
    let look =
        Look { memory: args.memory, tiles: args.tiles, limits: screen::text(), ..Look::default() };
    look.labelled(args.names, args.numbers)
}
