//! `eval`: expressions of the layout algebra, one or a line each.

use std::io::{self, BufRead, Read as _};

use serde_json::{Value as Json, json};
use tilewright::{
    eval::{Error, MAX_TEXT, Value, evaluate, functions},
    json::function,
};

use super::NO;
use crate::{args::Eval, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Eval, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.expr.as_deref() {
        None => list(out),
        Some("-") => batch(&mut io::stdin().lock(), out),
        Some(text) => {
            let value = evaluate(text).map_err(Failure::of)?;
            out.answer(&format!("{value}\n"), shape(&value))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// One answer for each line; an empty line has an empty answer.
fn batch(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = line(input)? {
        let outcome = match &line {
            Err(refusal) => Err((refusal.clone(), json!({ "kind": "parse", "message": refusal }))),
            Ok(text) if text.trim().is_empty() => Ok((String::new(), json!({ "kind": "nothing" }))),
            Ok(text) => evaluate(text)
                .map(|value| (value.to_string(), shape(&value)))
                .map_err(|error| (said(&error), fault(&error))),
        };
        match outcome {
            Ok((text, value)) => out.answer(&format!("{text}\n"), value)?,
            Err((text, error)) => {
                failed = true;
                out.answer(&format!("error: {text}\n"), json!({ "error": error }))?;
            }
        }
    }
    Ok(if failed { ExitCode::from(NO) } else { ExitCode::SUCCESS })
}

/// The next line without its end, or why it is no text; `None` behind the last. What is too long is
/// read over, not kept.
fn line(input: &mut impl BufRead) -> io::Result<Option<Result<String, String>>> {
    // One more than is legal, and the line's end.
    let longest = MAX_TEXT as u64 + 2;
    let mut bytes = Vec::new();
    let read = input.by_ref().take(longest).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && read as u64 == longest {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(format!("an expression of more than {MAX_TEXT} bytes of text"))));
    }
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    if text.len() > MAX_TEXT {
        return Ok(Some(Err(format!("an expression of more than {MAX_TEXT} bytes of text"))));
    }
    let text = std::str::from_utf8(text)
        .map_err(|error| format!("byte {} of the line is no UTF-8", error.valid_up_to()));
    Ok(Some(text.map(str::to_owned)))
}

/// The message on one line, with the column where the text itself is at fault.
fn said(error: &Error) -> String {
    let message = error.to_string().replace(['\n', '\r'], " ");
    match error.kind() {
        "parse" => format!("column {}: {message}", error.column()),
        _ => message,
    }
}

fn fault(error: &Error) -> Json {
    let (from, to) = error.span();
    json!({ "kind": error.kind(), "message": error.to_string(), "span": [from, to] })
}

/// The answer for machines: its kind, its text, and where it has one, its value.
fn shape(value: &Value) -> Json {
    let mut answer = json!({ "kind": value.kind(), "text": value.to_string() });
    if let Some(truth) = value.as_bool() {
        answer["value"] = json!(truth);
    }
    if let Some(list) = value.as_list() {
        answer["value"] = json!(list);
    }
    if let Some(tuple) = value.as_tuple() {
        answer["value"] = nested(&tuple.to_string());
    }
    if let Some(layout) = value.as_layout() {
        answer["shape"] = nested(&layout.shape().to_string());
        answer["stride"] = nested(&layout.stride().to_string());
        answer["offset"] = json!(layout.offset());
        let axes = (0..layout.rank()).map_while(|axis| layout.axis_size(axis));
        if let Some(named) = value.to_named()
            && !axes.eq(named.layout().extents().iter().copied())
        {
            answer["valid"] = json!(named.layout().extents());
        }
        let swizzle = layout.swizzle();
        if !swizzle.is_identity() {
            answer["swizzle"] = json!([swizzle.bits(), swizzle.base(), swizzle.shift()]);
        }
    }
    answer
}

/// A tuple as nested arrays: its text with other brackets.
fn nested(tuple: &str) -> Json {
    serde_json::from_str(&tuple.replace('(', "[").replace(')', "]")).unwrap_or(Json::Null)
}

fn list(out: &mut Output) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for function in functions() {
        text += &format!("{function:?}\n    {}\n", function.doc());
    }
    let all: Vec<Json> = functions().map(function).collect();
    out.answer(&text, json!({ "functions": all }))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_kind() {
        let (long, fits) = ("1".repeat(MAX_TEXT + 2), "1".repeat(MAX_TEXT));
        let text = [b"a\r\n\n\xff\n", long.as_bytes(), b"\n", fits.as_bytes(), b"\nlast"].concat();
        let (mut input, mut lines) = (&text[..], Vec::new());
        while let Some(line) = line(&mut input).unwrap() {
            // What is long is told by its length.
            lines.push(match line {
                Ok(text) if text.len() > 9 => text.len().to_string(),
                Ok(text) => text,
                Err(message) => format!("!{}", &message[..7]),
            });
        }
        assert_eq!(lines, ["a", "", "!byte 0 ", "!an expr", "16384", "last"]);
    }
}
