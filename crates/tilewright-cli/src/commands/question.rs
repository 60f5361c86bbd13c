//! `explain`, `index`, `same`, `translate`, `recognise` and `formats`: arguments become a question, its answer is printed.

use tilewright::{ask::Question, notation::notation};

use crate::{
    args::{Explain, Formats, Index, Recognise, Same, Translate},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    spec,
};

pub(super) fn explain(args: &Explain, out: &mut Output) -> Result<ExitCode, Failure> {
    ask(&Question::Explain(args.array.read()?.layout("spec", &args.spec)?), out)
}

pub(super) fn recognise(args: &Recognise, out: &mut Output) -> Result<ExitCode, Failure> {
    ask(&Question::Recognise(args.array.read()?.layout("spec", &args.spec)?), out)
}

pub(super) fn index(args: &Index, out: &mut Output) -> Result<ExitCode, Failure> {
    let of = args.array.read()?.layout("spec", &args.spec)?;
    let question = match (&args.coord, args.offset) {
        (Some(coord), _) => Question::Offset { of, coord: spec::integers("coord", coord)? },
        (None, Some(offset)) => Question::Contents { of, offset },
        (None, None) => return Err(Failure::usage("give --coord or --offset")),
    };
    ask(&question, out)
}

pub(super) fn same(args: &Same, out: &mut Output) -> Result<ExitCode, Failure> {
    let [a, b] = args.array.read()?.layouts(&args.a, &args.b)?;
    ask(&Question::Same(a, b), out)
}

/// What the notation has no words for is an answer, and no mistake of the asker.
pub(super) fn translate(args: &Translate, out: &mut Output) -> Result<ExitCode, Failure> {
    let to = notation(&args.to).map_err(|error| Failure::of(error).about("--to"))?;
    let of = args.array.read()?.layout("spec", &args.spec)?;
    let answer = Question::Translate { of, to }.answer().map_err(Failure::no)?;
    Ok(out.say(&*answer)?)
}

pub(super) fn formats(args: &Formats, out: &mut Output) -> Result<ExitCode, Failure> {
    ask(&args.name.clone().map_or(Question::Formats, Question::Format), out)
}

/// Prints the answer of a question.
pub(super) fn ask(question: &Question, out: &mut Output) -> Result<ExitCode, Failure> {
    Ok(out.say(&*question.answer()?)?)
}
