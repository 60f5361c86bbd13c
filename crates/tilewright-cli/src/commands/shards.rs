//! `shards`: prints the elements that each device holds of an array in shards, a single one or one on each line.

use std::io::{self, BufRead};

use tilewright::{
    Error, InShards,
    ask::{Answer, Question, ShardsLine},
    sharded::{MAX_TEXT, is_sharded},
};

use super::question::{self, ask};
use crate::{
    args::{Explain, Shards, Translate},
    failure::Failure,
    output::{ExitCode, Output},
};

pub(super) fn run(args: &Shards, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.spec.as_str() {
        "-" => batch(&mut io::stdin().lock(), out),
        text => ask(&Question::Shards(read(text)?), out),
    }
}

/// Explains a sharding, if the text is one.
pub(super) fn explain(args: &Explain, out: &mut Output) -> Option<Result<ExitCode, Failure>> {
    let asked = || ask(&Question::ExplainShards(read(&args.spec)?), out);
    is_sharded(&args.spec).then(asked)
}

/// Prints a sharding in another notation, if the text is one.
pub(super) fn translate(args: &Translate, out: &mut Output) -> Option<Result<ExitCode, Failure>> {
    let asked = || {
        let question = Question::TranslateShards { of: read(&args.spec)?, to: args.to.clone() };
        // A sharding that the notation cannot express is an answer; an unknown name of a notation is a usage error.
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

/// Prints one object for each line, also for an empty line.
fn batch(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = question::next(input, "an array in shards", MAX_TEXT)? {
        let answer = line.map_or_else(|why| ShardsLine::unread(&why), |text| ShardsLine::of(&text));
        failed |= answer.is_no();
        out.object(answer.to_json())?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
}
