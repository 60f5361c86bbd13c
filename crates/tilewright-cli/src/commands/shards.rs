//! `shards`: who holds what of an array in shards, one or a line each.

use std::io::{self, BufRead};

use tilewright::{
    Error, InShards,
    ask::{Answer as _, Question, ShardsLine},
    sharded::{MAX_TEXT, is_sharded},
};

use super::{lines, question::ask};
use crate::{
    args::{Explain, Shards, Translate},
    exit::ExitCode,
    failure::Failure,
    output::Output,
};

pub(super) fn run(args: &Shards, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.spec.as_str() {
        "-" => batch(&mut io::stdin().lock(), out),
        text => ask(&Question::Shards(read(text)?), out),
    }
}

/// The explanation of a sharding, where the text is one.
pub(super) fn explain(args: &Explain, out: &mut Output) -> Option<Result<ExitCode, Failure>> {
    let asked = || ask(&Question::ExplainShards(read(&args.spec)?), out);
    is_sharded(&args.spec).then(asked)
}

/// A sharding in another notation, where the text is one.
pub(super) fn translate(args: &Translate, out: &mut Output) -> Option<Result<ExitCode, Failure>> {
    let asked = || {
        let question = Question::TranslateShards { of: read(&args.spec)?, to: args.to.clone() };
        // What a notation cannot say is an answer; a name that none has is a mistake.
        let refused = |error: Error| match error.kind() {
            "parse" => Failure::of(error).about("--to"),
            _ => Failure::no(error),
        };
        let answer = question.answer().map_err(refused)?;
        Ok(out.say(&*answer)?)
    };
    is_sharded(&args.spec).then(asked)
}

pub(super) fn read(text: &str) -> Result<InShards, Error> {
    InShards::parse(text).map_err(|error| error.in_field("spec"))
}

/// One object for each line; an empty line has one too.
fn batch(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = lines::next(input, "an array in shards", MAX_TEXT)? {
        let answer = line.map_or_else(|why| ShardsLine::unread(&why), |text| ShardsLine::of(&text));
        failed |= answer.is_no();
        out.object(answer.to_json())?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
}
