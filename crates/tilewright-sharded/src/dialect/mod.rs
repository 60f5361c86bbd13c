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

use tilewright_core::Dtype;

use crate::{
    Error,
    mesh::{Mesh, Scanner, is_name_char, or_one_of},
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
