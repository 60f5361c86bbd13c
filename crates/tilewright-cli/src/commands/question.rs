//! Questions about layouts and expressions, and about arrays in shards: the elements that each device holds, of a single array or
//! of one on each line.
//!
//! `explain`, `index`, `same`, `translate`, `recognise` and `formats` make a question from the arguments and print its
//! answer. `eval` evaluates expressions of the layout algebra. Standard input has one text on each line.

use std::{
    fmt,
    io::{self, BufRead, Read as _},
};

use serde_json::Value;
use tilewright::{
    Error, InShards,
    ask::{Answer, Example, Explanation, Formats, Line, Question, ShardsLine, TabledExplanation},
    eval::MAX_TEXT,
    files::FileLists,
    notation::notation,
    sharded::is_sharded,
};

use crate::{
    args::{self, Eval, Explain, Index, Recognise, Same, Shards, Translate},
    failure::Failure,
    output::{ExitCode, Output},
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

pub(super) fn eval(args: &Eval, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.expr.as_deref() {
        None => ask(&Question::Functions, out),
        Some("-") => batch(&mut io::stdin().lock(), out),
        Some(text) => ask(&Question::Eval(text.to_owned()), out),
    }
}

/// Prints one answer for each line; an empty line has an empty answer.
fn batch(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = next(input, "an expression", MAX_TEXT)? {
        let answer = line.map_or_else(|why| Line::unread(&why), |text| Line::of(&text));
        failed |= answer.is_no();
        out.say(&answer)?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
}

/// Returns the next line without its end, or the reason why it is not a text; `None` after the last line. A line of more than
/// `most` bytes is skipped, not stored. `what` describes a line in messages.
pub(super) fn next(
    input: &mut impl BufRead,
    what: &str,
    most: usize,
) -> io::Result<Option<Result<String, String>>> {
    let too_long = || format!("{what} of more than {most} bytes of text");
    // One byte more than is legal, and the line end.
    let longest = most as u64 + 2;
    let mut bytes = Vec::new();
    let read = input.by_ref().take(longest).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && read as u64 == longest {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(too_long())));
    }
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    if text.len() > most {
        return Ok(Some(Err(too_long())));
    }
    let text = std::str::from_utf8(text)
        .map_err(|error| format!("byte {} of the line is not UTF-8", error.valid_up_to()));
    Ok(Some(text.map(str::to_owned)))
}

pub(super) fn run(args: &Shards, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.spec.as_str() {
        "-" => batch_of_shards(&mut io::stdin().lock(), out),
        text => ask(&Question::Shards(read(text)?), out),
    }
}

/// Explains a sharding, if the text is one.
pub(super) fn explain_shards(
    args: &Explain,
    out: &mut Output,
) -> Option<Result<ExitCode, Failure>> {
    let asked = || ask(&Question::ExplainShards(read(&args.spec)?), out);
    is_sharded(&args.spec).then(asked)
}

/// Prints a sharding in another notation, if the text is one.
pub(super) fn translate_shards(
    args: &Translate,
    out: &mut Output,
) -> Option<Result<ExitCode, Failure>> {
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
fn batch_of_shards(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = next(input, "an array in shards", tilewright::sharded::MAX_TEXT)? {
        let answer = line.map_or_else(|why| ShardsLine::unread(&why), |text| ShardsLine::of(&text));
        failed |= answer.is_no();
        out.object(answer.to_json())?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_kind() {
        const MOST: usize = 16384;
        let (long, fits) = ("1".repeat(MOST + 2), "1".repeat(MOST));
        let text = [b"a\r\n\n\xff\n", long.as_bytes(), b"\n", fits.as_bytes(), b"\nlast"].concat();
        let (mut input, mut lines) = (&text[..], Vec::new());
        while let Some(line) = next(&mut input, "an expression", MOST).unwrap() {
            // A long text is replaced by its length.
            lines.push(match line {
                Ok(text) if text.len() > 9 => text.len().to_string(),
                Ok(text) => text,
                Err(message) => format!("!{}", &message[..7]),
            });
        }
        assert_eq!(lines, ["a", "", "!byte 0 ", "!an expr", "16384", "last"]);
    }
}
