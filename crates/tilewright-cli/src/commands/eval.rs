//! `eval`: expressions of the layout algebra, one or a line each.

use std::io::{self, BufRead, Read as _};

use tilewright::{
    ask::{Answer as _, Line, Question},
    eval::MAX_TEXT,
};

use super::question::ask;
use crate::{args::Eval, exit::ExitCode, failure::Failure, output::Output};

pub(super) fn run(args: &Eval, out: &mut Output) -> Result<ExitCode, Failure> {
    match args.expr.as_deref() {
        None => ask(&Question::Functions, out),
        Some("-") => batch(&mut io::stdin().lock(), out),
        Some(text) => ask(&Question::Eval(text.to_owned()), out),
    }
}

/// One answer for each line; an empty line has an empty answer.
fn batch(input: &mut impl BufRead, out: &mut Output) -> Result<ExitCode, Failure> {
    let mut failed = false;
    while let Some(line) = line(input)? {
        let answer = line.map_or_else(|why| Line::unread(&why), |text| Line::of(&text));
        failed |= answer.is_no();
        out.say(&answer)?;
    }
    Ok(if failed { ExitCode::NO } else { ExitCode::SUCCESS })
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
