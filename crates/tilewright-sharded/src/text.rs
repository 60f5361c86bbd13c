//! Splits the text of a sharded array into its parts.
//!
//! ```text
//! text     = ARRAY " @ " SHARDING [" / " SPEC]        the first " @ " and the last " / " outside brackets and quotes
//! ARRAY    = [DTYPE] "[" [INT {"," INT}] "]"
//! SHARDING                                            that of a dialect
//! ```
//!
//! SPEC is the layout of each shard. It may be any text here; a caller that knows layouts reads it.

use std::{fmt, str::FromStr};

use tilewright_core::Dtype;

use crate::{
    Error, dialect,
    mesh::{MAX_TEXT, MOST, Scanner, did_you_mean},
    sharded::Sharded,
};

/// A sharded array as text: the value, and the layout of each shard, which is not read here.
///
/// ```
/// use tilewright_sharded::Text;
/// let text = "bf16[64,48] @ mesh(tp=4) [Shard(dim=0)] / zN";
/// let read = Text::parse(text)?;
/// let (from, to) = read.shard.unwrap();
/// assert_eq!(&text[from..to], "zN");
/// assert_eq!(read.sharded.to_string(), "bf16[64,48] @ mesh(tp=4) [Shard(0)]");
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The sharded array.
    pub sharded: Sharded,
    /// The bytes of the text that contain the layout of each shard.
    pub shard: Option<(usize, usize)>,
}

/// Returns whether a text is one of a sharded array: it contains ` @ ` outside brackets and quotes. That of an offset on
/// an axis, `+ 3 @ axis`, does not count.
///
/// ```
/// use tilewright_sharded::is_sharded;
/// assert!(is_sharded("f32[8] @ mesh(2) [Shard(0)]"));
/// assert!(!is_sharded("f32[8] row-major") && !is_sharded("(2,3):(1@0,1@1)"));
/// assert!(!is_sharded("S[4:1] + 3 @ laneid"));
/// ```
pub fn is_sharded(text: &str) -> bool {
    marks(text).0.is_some()
}

impl Text {
    /// Reads the text of a sharded array.
    ///
    /// # Errors
    /// `parse` with the bytes at fault; `limit` beyond [`MAX_TEXT`]; the errors of [`Sharded::new`] and of the
    /// notation, each with the bytes at fault.
    ///
    /// ```
    /// use tilewright_sharded::Text;
    /// let error = Text::parse("f32[8] @ mesh(dp=2) P(\"tp\")").unwrap_err();
    /// assert_eq!(error.span(), Some((22, 26)));
    /// assert_eq!(error.to_string(), "the mesh lacks the axis `tp`; it has dp");
    /// ```
    pub fn parse(text: &str) -> Result<Text, Error> {
        if text.len() > MAX_TEXT {
            let said = format!("a sharded array of {} bytes of text", text.len());
            return Err(Error::limit(format!("{said}; at most {MAX_TEXT} are read")));
        }
        let (Some(at), slash) = marks(text) else {
            return Err(Error::parse((text.len(), text.len()), "expected ` @ ` and a sharding"));
        };
        let end = slash.unwrap_or(text.len());
        let (extents, dtype) = array(&mut Scanner::within(text, (0, at)))?;
        let span = (at + 3, end);
        let sharded = dialect::sharding(&mut Scanner::within(text, span), &extents, dtype)
            .map_err(|error| error.or_at(trimmed(text, span)))?;
        Ok(Text { sharded, shard: slash.map(|slash| trimmed(text, (slash + 3, text.len()))) })
    }
}

impl Sharded {
    /// Reads a sharded array whose shards are row-major: [`Text::parse`] without a layout.
    ///
    /// # Errors
    /// As [`Text::parse`], and `unsupported` if the text contains the layout of a shard.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let a = Sharded::parse("f32[8,6] @ mesh(2,2) P(\"0\",\"1\")")?;
    /// assert_eq!(a.to_string(), "f32[8,6] @ mesh(2,2) [Shard(0), Shard(1)]");
    /// assert_eq!(Sharded::parse("f32[8] @ mesh(2) [Shard(0)] / zN").unwrap_err().span(), Some((30, 32)));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Sharded, Error> {
        let Text { sharded, shard } = Text::parse(text)?;
        match shard {
            None => Ok(sharded),
            Some(span) => Err(Error::unsupported("a layout of each shard").at(span)),
        }
    }
}

impl FromStr for Sharded {
    type Err = Error;

    fn from_str(text: &str) -> Result<Sharded, Error> {
        Sharded::parse(text)
    }
}

/// Prints the whole text, in the first notation that can express it; the mesh alone if none can.
impl fmt::Display for Sharded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = dialect::DIALECTS.iter().find_map(|dialect| dialect.print(self).ok());
        write!(f, "{} @ {}", self.array(), said.unwrap_or_else(|| self.mesh().to_string()))
    }
}

/// Returns whether a text ends in a sign and a number, which an axis may follow.
fn ends_in_term(text: Option<&str>) -> bool {
    let text = text.unwrap_or("").trim_end();
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    before.len() < text.len() && before.trim_end().ends_with(['+', '-'])
}

/// Returns the positions of the first ` @ ` and of the last ` / ` after it, outside brackets and quotes.
fn marks(text: &str) -> (Option<usize>, Option<usize>) {
    let (mut depth, mut quote, mut at, mut slash) = (0usize, None, None, None);
    for (place, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = (c != open).then_some(open),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ' ') if depth == 0 => {
                let rest = text.get(place..).unwrap_or("");
                let is_mark = || rest.starts_with(" @ ") && !ends_in_term(text.get(..place));
                at = at.or_else(|| is_mark().then_some(place));
                if at.is_some() && rest.starts_with(" / ") {
                    slash = Some(place);
                }
            }
            (None, _) => {}
        }
    }
    (at, slash)
}

/// Returns a span without the spaces at its ends.
fn trimmed(text: &str, (from, to): (usize, usize)) -> (usize, usize) {
    let part = text.get(from..to).unwrap_or("");
    let start = from + part.len() - part.trim_start().len();
    (start, start + part.trim().len())
}

fn array(scanner: &mut Scanner<'_>) -> Result<(Vec<u64>, Option<Dtype>), Error> {
    scanner.skip();
    let from = scanner.at();
    let name = scanner.take(|c| c != '[').trim_end();
    let span = (from, from + name.len());
    let dtype = match (name, Dtype::spelled(name)) {
        ("", _) => None,
        (_, Some(dtype)) => Some(dtype),
        (_, None) => {
            let near = did_you_mean(name, Dtype::all().map(Dtype::name));
            return Err(Error::parse(span, format!("no element type is called `{name}`{near}")));
        }
    };
    let extents = scanner.list(("[", "]"), MOST, Scanner::natural)?;
    scanner.end("the dims of the array; write the layout of the shards after ` / `")?;
    Ok((extents, dtype))
}
