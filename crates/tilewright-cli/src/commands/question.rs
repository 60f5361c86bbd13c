//! `explain`, `index`, `same`, `translate`, `recognise` and `formats`: make a question from the arguments and print its answer.

use std::fmt;

use serde_json::Value;
use tilewright::{
    ask::{Answer, Example, Explanation, Formats, Question, TabledExplanation},
    files::FileLists,
    notation::notation,
};

use crate::{
    args::{self, Explain, Index, Recognise, Same, Translate},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    spec,
};

pub(super) fn explain(args: &Explain, out: &mut Output) -> Result<ExitCode, Failure> {
    let tabled = args.array.read()?.array_layout("spec", &args.spec, &FileLists::default())?;
    if tabled.has_tables() {
        return Ok(out.say(&TabledExplanation::of(&tabled))?);
    }
    let explained = Explanation::of(tabled.stored());
    Ok(out.say(&Explained { explained, all: args.all })?)
}

/// Explanation with a hint about the option that prints all of it.
struct Explained {
    explained: Explanation,
    /// True to print all of it.
    all: bool,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.explained)
    }
}

impl Answer for Explained {
    fn to_json(&self) -> Value {
        self.explained.to_json()
    }

    fn within(&self, width: usize) -> String {
        if self.all {
            return self.explained.whole(width);
        }
        let folds = self.explained.notations.iter().any(|(_, text)| text.is_err());
        let hint = if folds {
            format!("  {:17}{}\n", "", "--all gives each reason")
        } else {
            String::new()
        };
        self.explained.within(width) + &hint
    }
}

pub(super) fn recognise(args: &Recognise, out: &mut Output) -> Result<ExitCode, Failure> {
    ask(&Question::Recognise(args.array.read()?.layout("spec", &args.spec)?), out)
}

pub(super) fn index(args: &Index, out: &mut Output) -> Result<ExitCode, Failure> {
    let of = args.array.read()?.array_layout("spec", &args.spec, &FileLists::default())?;
    let question = match (&args.coord, args.offset) {
        (Some(coord), _) => Question::Offset { of, coord: spec::integers("coord", coord)? },
        (None, Some(offset)) => Question::Contents { of, offset },
        (None, None) => return Err(Failure::usage("give --coord or --offset")),
    };
    ask(&question, out)
}

pub(super) fn same(args: &Same, out: &mut Output) -> Result<ExitCode, Failure> {
    let [a, b] = args.array.read()?.array_layouts(&args.a, &args.b, &FileLists::default())?;
    ask(&Question::Same(a, b), out)
}

/// A layout that the notation cannot express is an answer, not a usage error.
pub(super) fn translate(args: &Translate, out: &mut Output) -> Result<ExitCode, Failure> {
    let to = notation(&args.to).map_err(|error| Failure::of(error).about("--to"))?;
    let of = args.array.read()?.layout("spec", &args.spec)?;
    let answer = Question::Translate { of, to }.answer().map_err(Failure::no)?;
    Ok(out.say(&*answer)?)
}

pub(super) fn formats(args: &args::Formats, out: &mut Output) -> Result<ExitCode, Failure> {
    let Some(word) = &args.name else { return ask(&Question::Formats, out) };
    let found = Formats { word: word.clone() };
    match Example::of(word) {
        Err(_) if !found.is_no() => Ok(out.say(&found)?),
        example => {
            let hint = "; `tilewright formats` lists all names";
            Ok(out.say(&example.map_err(|error| Failure::of(error).with_hint(hint))?)?)
        }
    }
}

/// Prints the answer of a question.
pub(super) fn ask(question: &Question, out: &mut Output) -> Result<ExitCode, Failure> {
    Ok(out.say(&*question.answer()?)?)
}
