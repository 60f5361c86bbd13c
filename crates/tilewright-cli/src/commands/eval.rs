//! `eval`: evaluates expressions of the layout algebra, a single one or one on each line.

use std::io::{self, BufRead};

use tilewright::{
    ask::{Answer as _, Line, Question},
    eval::MAX_TEXT,
};

use super::{lines, question::ask};
use crate::{args::Eval, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Eval, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.expr.as_deref() {
        None => ask(&Question::Functions, out),
        Some("-") => batch(&mut io::stdin().lock(), out),
        Some(text) => ask(&Question::Eval(text.to_owned()), out),
    }
}

/// Prints one answer for each line; an empty line has an empty answer.
fn batch(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = lines::next(input, "an expression", MAX_TEXT)? {
        let answer = line.map_or_else(|why| Line::unread(&why), |text| Line::of(&text));
        failed |= answer.is_no();
        out.say(&answer)?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
}
