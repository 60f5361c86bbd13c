//! Standard input as lines, each of them a separate text.

use std::io::{self, BufRead, Read as _};

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
