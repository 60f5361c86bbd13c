//! The notations of shardings: each reads a text to a [`Sharded`], and prints one.
//!
//! ```text
//! SHARDING = [MESH] RULE                              RULE is read by the dialect that claims its first characters
//! MESH     = "mesh(" axis {"," axis} [";" INT {"," INT}] ")"
//! axis     = INT | NAME "=" INT                       all with names, or none; after `;` the devices in order
//! ```
//!
//! | notation | a rule | file |
//! |---|---|---|
//! | `torch` | `[Shard(0), _StridedShard(0, sf=2), Replicate()] order(1,0)` | `torch.rs` |
//! | `jax` | `P("dp", None, ("a", "b"))` | `jax.rs` |
//! | `hlo` | `{devices=[2,1,4]<=[8] last_tile_dim_replicate}` | `hlo/` |
//! | `shardy` | `sdy <mesh<["x"=2]>, [{"x"}, {}]>` | `shardy.rs` |
//! | `axe` | `T.TileLayout(T.S[(2, 4):(1 @ Axis.x, 1)])` | `axe.rs` |
//! | `megatron` | `column`, `gate_up`, `megatron:qkv(h=8,g=2,d=4)`, `vllm:vocab(pad=64)` | `megatron.rs` |
//!
//! A dialect prints candidates, and each is read again: its devices are compared with those of the sharding. So a text
//! is never an approximation, and a refusal names the first device that differs.
//!
//! ```
//! use tilewright_sharded::{Sharded, dialect};
//! let sharded = Sharded::parse("f32[8,6] @ mesh(dp=2,tp=2) P((\"tp\",\"dp\"))")?;
//! let torch = dialect::dialect("torch")?;
//! assert_eq!(torch.print(&sharded)?, "mesh(dp=2,tp=2) [_StridedShard(0, sf=2), Shard(0)]");
//! # Ok::<(), tilewright_sharded::Error>(())
//! ```

#[cfg(feature = "axe")]
mod axe;
mod axes;
pub mod hlo;
mod jax;
mod megatron;
mod shardy;
mod torch;

use std::{fmt, str::FromStr};

use tilewright_core::Dtype;

use crate::{
    Error,
    mesh::{MAX_TEXT, MOST, Mesh, Scanner, did_you_mean, is_name_char, or_one_of},
    sharded::Sharded,
};

/// The array and the mesh for which a rule is read.
pub(crate) struct RuleContext<'a> {
    pub(crate) extents: &'a [u64],
    pub(crate) dtype: Option<Dtype>,
    pub(crate) mesh: Option<Mesh>,
}

impl RuleContext<'_> {
    /// Returns the mesh, which this notation does not contain itself.
    fn need_mesh(&mut self, notation: &str) -> Result<Mesh, Error> {
        self.mesh.take().ok_or_else(|| {
            let before = "write `mesh(dp=2,tp=4)`, or `mesh(2,4)`, before it";
            Error::mismatch(format!("{notation} needs a mesh; {before}"))
        })
    }
}

/// A notation of shardings.
///
/// ```
/// use tilewright_sharded::dialect::DIALECTS;
/// let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name()).collect();
/// assert_eq!(names[..5], ["torch", "jax", "hlo", "shardy", "megatron"]);
/// ```
#[derive(Debug)]
pub struct Dialect {
    name: &'static str,
    title: &'static str,
    /// Returns true for a rule in this notation, judged by its beginning.
    claims: fn(&str) -> bool,
    read: fn(&mut Scanner<'_>, RuleContext<'_>) -> Result<Sharded, Error>,
    /// Returns texts that may describe a sharding, the most likely first.
    say: fn(&Sharded) -> Result<Vec<String>, Error>,
}

/// The notations, in the order in which a text is offered to them.
pub static DIALECTS: &[Dialect] = &[
    torch::DIALECT,
    jax::DIALECT,
    hlo::DIALECT,
    shardy::DIALECT,
    megatron::DIALECT,
    #[cfg(feature = "axe")]
    axe::DIALECT,
];

impl Dialect {
    /// Returns the name.
    ///
    /// ```
    /// assert_eq!(tilewright_sharded::dialect::DIALECTS[0].name(), "torch");
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a short description.
    ///
    /// ```
    /// assert_eq!(tilewright_sharded::dialect::DIALECTS[0].title(), "placements of torch's DTensor");
    /// ```
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// Prints the sharding in this notation, with its mesh. The text reads back as the same lists for every device.
    ///
    /// # Errors
    /// `unsupported` with the reason: the first device to which the nearest text assigns other indices.
    ///
    /// ```
    /// use tilewright_sharded::{Sharded, dialect::dialect};
    /// let uneven = Sharded::parse("f32[37] @ mesh(2,2) [Shard(0), Shard(0)]")?;
    /// let error = dialect("hlo")?.print(&uneven).unwrap_err();
    /// let said = "hlo cannot express it: device 1 holds [10,19) of dim 0, and [10,20) by `{devices=[4]<=[4]}`";
    /// assert_eq!(error.to_string(), said);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn print(&self, sharded: &Sharded) -> Result<String, Error> {
        let mut why = None;
        for text in (self.say)(sharded)? {
            match self.refusal(sharded, &text) {
                None => return Ok(text),
                Some(reason) => why = why.or(Some(reason)),
            }
        }
        let reason = why.unwrap_or_else(|| "it has no form for it".into());
        Err(Error::unsupported(format!("{} cannot express it: {reason}", self.name)))
    }

    /// Returns the reason why a text does not describe the sharding; `None` if it does.
    fn refusal(&self, sharded: &Sharded, text: &str) -> Option<String> {
        use crate::sharded::Difference::{Array, Device, Lists};
        let mut scanner = Scanner::new(text);
        let read = sharding(&mut scanner, sharded.extents(), sharded.dtype());
        match read.map(|read| sharded.difference(&read)) {
            Err(error) => Some(format!("{error}, by `{text}`")),
            Ok(None) => None,
            Ok(Some(Lists { device, dim, one, other })) => {
                let device = device.map_or("every device".into(), |at| format!("device {at}"));
                Some(format!("{device} holds {one} of dim {dim}, and {other} by `{text}`"))
            }
            Ok(Some(other @ (Array | Device(_)))) => Some(format!("{other}, by `{text}`")),
        }
    }
}

/// Returns the notation of this name.
///
/// # Errors
/// `unsupported` with the known names.
///
/// ```
/// use tilewright_sharded::dialect::dialect;
/// assert_eq!(dialect("jax")?.name(), "jax");
/// assert!(dialect("jac").unwrap_err().to_string().ends_with("did you mean `jax`?"));
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
pub fn dialect(name: &str) -> Result<&'static Dialect, Error> {
    DIALECTS.iter().find(|dialect| dialect.name == name).ok_or_else(|| {
        let names: Vec<&str> = DIALECTS.iter().map(Dialect::name).collect();
        let near = or_one_of(name, &names);
        Error::unsupported(format!("no notation of shardings is called `{name}`{near}"))
    })
}

/// Reads a sharding of an array with these extents, to the end of the text.
pub(crate) fn sharding(
    scanner: &mut Scanner<'_>,
    extents: &[u64],
    dtype: Option<Dtype>,
) -> Result<Sharded, Error> {
    let mesh = if scanner.eat("mesh(") { Some(mesh(scanner)?) } else { None };
    scanner.skip();
    let from = scanner.at();
    let Some(dialect) = DIALECTS.iter().find(|dialect| (dialect.claims)(scanner.rest())) else {
        let forms = "`[Shard(0), …]`, `P(…)`, `{devices=…}`, `sdy <…>`, or a rule such as `column`";
        return Err(scanner.expected(&format!("a sharding: {forms}")));
    };
    let sharded = (dialect.read)(scanner, RuleContext { extents, dtype, mesh });
    // If nothing was read yet, the whole rule is at fault.
    let end =
        if scanner.at() > from { scanner.at() } else { from + scanner.rest().trim_end().len() };
    let sharded = sharded.map_err(|error| error.or_at((from, end)))?;
    scanner.end("the sharding")?;
    Ok(sharded)
}

/// Reads the text after `mesh(`.
fn mesh(scanner: &mut Scanner<'_>) -> Result<Mesh, Error> {
    let from = scanner.at();
    let mut axes = vec![axis(scanner)?];
    while scanner.eat(",") {
        axes.push(axis(scanner)?);
    }
    let mut devices = Vec::new();
    let ordered = scanner.eat(";");
    while ordered && (devices.is_empty() || scanner.eat(",")) {
        devices.push(scanner.natural()?);
    }
    scanner.expect(")")?;
    let span = (from, scanner.at() - 1);
    let bare = axes.iter().filter(|(name, _)| name.is_none()).count();
    let mesh = match bare {
        0 => {
            Mesh::named(&axes.iter().map(|(name, n)| (name.unwrap_or(""), *n)).collect::<Vec<_>>())
        }
        _ if bare == axes.len() => Mesh::new(&axes.iter().map(|(_, n)| *n).collect::<Vec<_>>()),
        _ => Err(Error::parse(span, "some axes of the mesh have names and some have none")),
    };
    let mesh = mesh.and_then(|mesh| if ordered { mesh.with_order(&devices) } else { Ok(mesh) });
    mesh.map_err(|error| error.or_at(span))
}

/// Reads a size, or `NAME=SIZE`.
fn axis<'a>(scanner: &mut Scanner<'a>) -> Result<(Option<&'a str>, u64), Error> {
    if scanner.peek().is_some_and(|c| c.is_ascii_digit()) {
        return Ok((None, scanner.natural()?));
    }
    let name = scanner.take(is_name_char);
    if name.is_empty() {
        return Err(scanner.expected("an axis: a size, or NAME=SIZE"));
    }
    scanner.expect("=")?;
    Ok((Some(name), scanner.natural()?))
}

// Splits the text of a sharded array into its parts.
//
// ```text
// text     = ARRAY " @ " SHARDING [" / " SPEC]        the first " @ " and the last " / " outside brackets and quotes
// ARRAY    = [DTYPE] "[" [INT {"," INT}] "]"
// SHARDING                                            that of a dialect
// ```
//
// SPEC is the layout of each shard. It may be any text here; a caller that knows layouts reads it.

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
        let sharded = sharding(&mut Scanner::within(text, span), &extents, dtype)
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
        let said = DIALECTS.iter().find_map(|dialect| dialect.print(self).ok());
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
