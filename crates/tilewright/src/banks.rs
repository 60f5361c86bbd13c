//! Bank conflicts of shared memory: everything of `tilewright-banks`, and readers for accesses and machines as people write
//! them, and the offset of an element as C code.
//!
//! ```text
//! access  := [ 'read' | 'write' ] what
//! what    := 'row' | 'column'
//!          | ('ldmatrix' | 'stmatrix') { '.' ('x1' | 'x2' | 'x4' | 'trans' | word of PTX) }
//!          | spec [ 'over' dims ] [ 'threads' integer ]
//! machine := 'nvidia' | 'cdna3' | 'cdna4' | banks 'x' bytes
//! ```
//!
//! The accesses `row` and `column` are threads along the rows or down the columns of the array, with an element or a vector each.
//! Another access is a SPEC of one of three kinds:
//!
//! - A distribution of an array over threads, such as `#ttg.blocked<{…}>`.
//! - A format of the fragments of a matrix unit, such as `MMA_M16N8K16_16BIT_A`, or any other format whose places are thread
//!   after thread, with the number of threads.
//! - A layout of threads and values whose offsets count the cells of a tile, the first dim fastest, as CuTe's thread-value
//!   layouts do. The tile is the array, or `over (16,8)`, and repeats over the array.
//!
//! `32x4` is `nvidia`, `64x4` is `cdna4`.
//!
//! ```
//! use tilewright::{banks, input::Array};
//! let tile = Array::default().layout("spec", "f16[64,64] row-major")?;
//! let access = banks::access("ldmatrix.x4", &tile, &banks::Banks::NVIDIA, None)?;
//! let count = banks::conflicts(tile.layout(), 16, &banks::machine("32x4")?, &access)?;
//! assert_eq!((count.instructions, count.degree), (16, 8));
//! # Ok::<(), tilewright::Error>(())
//! ```

pub use tilewright_banks::*;

use tilewright_core::TensorLayout;
use tilewright_notation::{ResolvedLayout, Spec, catalogue};
use tilewright_scan::did_you_mean;

use crate::{
    Error,
    input::{self, integers},
};

/// The names of the dims.
const DIMS: [&str; 6] = ["i", "j", "k", "l", "m", "n"];

/// Returns a C function that computes the offset, in elements, of a coordinate. `None` for more than six dims and for layouts
/// that mix dims.
///
/// ```
/// use tilewright::banks::index_code;
/// use tilewright::{TensorLayout, layout};
/// let of = |layout| index_code(&TensorLayout::of(&layout)).unwrap();
/// assert_eq!(
///     of(layout!("Sw<3,3,3> o (8,64):(64,1)")),
///     "unsigned at(unsigned i, unsigned j) { unsigned o = i * 64 + j; return o ^ (o >> 3 & 56); }",
/// );
/// assert_eq!(
///     of(layout!("((4,2),3):((1,12),4)")),
///     "unsigned at(unsigned i, unsigned j) { return i % 4 + i / 4 * 12 + j * 4; }",
/// );
/// ```
pub fn index_code(tensor: &TensorLayout) -> Option<String> {
    let layout = tensor.layout();
    let names = DIMS.get(..tensor.rank()).filter(|_| tensor.is_strided())?;
    let terms: Vec<String> =
        names.iter().enumerate().flat_map(|(dim, name)| axis(tensor, dim, name)).collect();
    let mut sum = terms.join(" + ");
    if layout.offset() != 0 || sum.is_empty() {
        let plus = if sum.is_empty() { "" } else { " + " };
        sum = format!("{sum}{plus}{}", layout.offset());
    }
    let swizzle = layout.swizzle();
    let body = if swizzle.is_identity() {
        format!("return {sum};")
    } else {
        let (by, mask) = (swizzle.shift(), ((1u64 << swizzle.bits()) - 1) << swizzle.base());
        let moved = match by >= 0 {
            true => format!("o >> {by} & {mask}"),
            false => format!("(o & {mask}) << {}", by.unsigned_abs()),
        };
        format!("unsigned o = {sum}; return o ^ ({moved});")
    };
    let dims: Vec<String> = names.iter().map(|name| format!("unsigned {name}")).collect();
    Some(format!("unsigned at({}) {{ {body} }}", dims.join(", ")))
}

/// Returns the terms of a dim: each digit times its stride.
fn axis(tensor: &TensorLayout, dim: usize, name: &str) -> Vec<String> {
    let modes = tensor.layout().axis(dim).unwrap_or_default();
    let (mut below, mut left) = (1u64, tensor.extents().get(dim).copied().unwrap_or(1));
    let mut terms = Vec::new();
    for mode in modes {
        // The part of the extent above this digit; the last digit needs no remainder.
        let above = left.div_ceil(mode.extent().max(1));
        let mut term = name.to_owned();
        if below > 1 {
            term = format!("{term} / {below}");
        }
        if above > 1 {
            term = format!("{term} % {}", mode.extent());
        }
        if mode.stride() != 1 {
            term = format!("{term} * {}", mode.stride());
        }
        if left > 1 && mode.extent() > 1 && mode.stride() != 0 {
            terms.push(term);
        }
        (below, left) = (below.saturating_mul(mode.extent()), above);
    }
    terms
}

/// The widths in bytes of an access by one thread, the widest first.
const WIDTHS: [u64; 5] = [WIDEST, 8, 4, 2, 1];
const WIDEST: u64 = 16;

/// Words in PTX's names of instructions that do not affect the addresses.
const PTX: [&str; 5] = ["sync", "aligned", "m8n8", "shared", "b16"];

/// The legal accesses, for messages.
const ACCESSES: &str = "there are row, column, ldmatrix, stmatrix, formats of fragments such as MMA_M16N8K16_16BIT_A, encodings that spread an array over threads such as #ttg.blocked, and layouts of threads and values";

/// The field of errors about an access.
const FIELD: &str = "access";

/// Returns the banks of a machine: `nvidia`, `cdna3`, `cdna4`, or their number and width in bytes, such as `32x4`.
///
/// # Errors
/// [usage](Error::is_usage) in the field `banks`.
///
/// ```
/// use tilewright::banks::{Banks, machine};
/// assert_eq!((machine("32x4")?, machine("CDNA4")?), (Banks::NVIDIA, machine("64x4")?));
/// assert_eq!(machine("16x8")?.count(), 16);
/// assert_eq!(machine("32").unwrap_err().field(), Some("banks"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn machine(text: &str) -> Result<Banks, Error> {
    let word = text.trim().to_ascii_lowercase();
    let refused = || {
        let near = did_you_mean(&word, ["nvidia", "cdna3", "cdna4"]);
        let legal = format!("nvidia, cdna3, cdna4, or banks x bytes such as 32x4 and 64x4{near}");
        Error::usage(format!("`{}` does not name banks; there are {legal}", text.trim()))
            .in_field("banks")
    };
    match word.as_str() {
        "nvidia" => return Ok(Banks::NVIDIA),
        "cdna3" => return Ok(Banks::CDNA3),
        "cdna4" | "64x4" => return Ok(Banks::CDNA4),
        _ => {}
    }
    let (count, width) = word.split_once('x').ok_or_else(refused)?;
    let [count, width] = [count, width].map(str::parse::<u64>);
    let banks = Banks::new(count.map_err(|_| refused())?, width.map_err(|_| refused())?);
    banks.map_err(|error| Error::from(error).in_field("banks"))
}

/// Reads an access of an array whose element type is known. `vector` is the number of bytes that a thread accesses at once. The
/// default is one element for rows and columns, 16 bytes for `ldmatrix`, and for others the most that their values allow.
///
/// # Errors
/// [usage](Error::is_usage), and the reason if such an access is not possible, in the field `access` or `vector`.
///
/// ```
/// use tilewright::{banks::{Banks, access}, input::Array};
/// let tile = Array::default().layout("spec", "f16[16,16] row-major")?;
/// let of = |text| access(text, &tile, &Banks::NVIDIA, None);
/// // Pairs of halves lie together.
/// assert_eq!(of("MMA_M16N8K16_16BIT_A")?.vector(), 2);
/// assert_eq!(of("write ((4,8),2):((32,1),16) over (16,8)")?.spread().threads(), 32);
/// assert!(of("write row")?.is_write());
/// let error = of("diagonal").unwrap_err();
/// assert_eq!(error.field(), Some("access"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn access(
    text: &str,
    of: &ResolvedLayout,
    banks: &Banks,
    vector: Option<u64>,
) -> Result<Access, Error> {
    let bits = of.element_bits().ok_or_else(|| {
        Error::usage("banks depend on the width of an element; give its type, such as f16")
            .in_field("dtype")
    })?;
    let array = AccessedArray { of, bits, banks, vector };
    array.check_vector()?;
    let text = text.trim();
    let word = |word| text.strip_prefix(word).filter(|rest| rest.starts_with(' ')).map(str::trim);
    let (write, what) = match (word("write"), word("read")) {
        (Some(what), _) => (Some(true), what),
        (None, Some(what)) => (Some(false), what),
        (None, None) => (None, text),
    };
    let made = match what.split('.').next() {
        Some("row") if what == "row" => array.along(text, Spread::rows, write)?,
        Some("column") if what == "column" => array.along(text, Spread::columns, write)?,
        Some(word @ ("ldmatrix" | "stmatrix")) => {
            let writes = word == "stmatrix";
            if write.is_some_and(|write| write != writes) {
                let (does, other) = match writes {
                    true => ("writes", "ldmatrix"),
                    false => ("reads", "stmatrix"),
                };
                let legal =
                    format!("`{text}` contradicts itself: {word} {does}; say `{what}`, or {other}");
                return Err(Error::usage(legal).in_field(FIELD));
            }
            array.matrices(text, what, writes)?
        }
        _ => array.of_spec(text, what, write.unwrap_or(false))?,
    };
    Ok(made)
}

/// The array that is accessed.
struct AccessedArray<'a> {
    of: &'a ResolvedLayout,
    bits: u32,
    banks: &'a Banks,
    vector: Option<u64>,
}

/// Constructor of the threads along the vectors of an array.
type ThreadBuilder = fn(&[u64], usize, u64, u64) -> Result<Spread, tilewright_core::Error>;

impl AccessedArray<'_> {
    fn layout(&self) -> &TensorLayout {
        self.of.layout()
    }

    /// Returns the number of elements in a number of bytes.
    fn elements(&self, bytes: u64) -> Result<u64, Error> {
        let bits = u64::from(self.bits);
        let wide = bytes.checked_mul(8).filter(|&wide| wide > 0 && wide.is_multiple_of(bits));
        wide.map(|wide| wide / bits).ok_or_else(|| self.no_vector(bytes))
    }

    /// Checks that a thread can access the given number of bytes at once.
    fn check_vector(&self) -> Result<(), Error> {
        match self.vector {
            Some(bytes) if !WIDTHS.contains(&bytes) => Err(self.no_vector(bytes)),
            Some(bytes) => self.elements(bytes).map(|_| ()),
            None => Ok(()),
        }
    }

    fn no_vector(&self, bytes: u64) -> Error {
        let whole = |bytes: &&u64| (*bytes * 8).is_multiple_of(self.bits.into());
        let legal: Vec<String> = WIDTHS.iter().rev().filter(whole).map(u64::to_string).collect();
        let bits = self.bits;
        let says = match legal.split_last() {
            None => {
                format!("an access is of {WIDEST} bytes at most, but an element has {bits} bits")
            }
            Some((last, [])) => format!("elements of {bits} bits are taken {last} bytes at once"),
            Some((last, first)) => {
                format!(
                    "elements of {bits} bits are taken {} or {last} bytes at once",
                    first.join(", ")
                )
            }
        };
        Error::usage(format!("{bytes} bytes at once; {says}")).in_field("vector")
    }

    /// Returns the default number of elements that a thread accesses at once: those in the fewest bytes that hold one element.
    fn usual(&self) -> Result<u64, Error> {
        self.elements(self.vector.unwrap_or(u64::from(self.bits.div_ceil(8))))
    }

    fn made(&self, name: &str, spread: Spread, vector: u64, write: bool) -> Result<Access, Error> {
        let make = if write { Access::write } else { Access::read };
        make(name, spread, vector).map_err(refused)
    }

    /// Returns the access of threads along rows or columns. Vectors run along the last dim whose elements are adjacent.
    fn along(
        &self,
        name: &str,
        along: ThreadBuilder,
        write: Option<bool>,
    ) -> Result<Access, Error> {
        let (vector, lanes) = (self.usual()?, self.banks.lanes());
        let mut why = None;
        for dim in (0..self.layout().rank().max(1)).rev() {
            let spread = along(self.layout().extents(), dim, vector, lanes as u64);
            let made = spread.map_err(refused).and_then(|spread| {
                let made = self.made(name, spread, vector, write.unwrap_or(false))?;
                made.fits(self.layout(), self.bits, lanes).map_err(refused)?;
                Ok(made)
            });
            match made {
                Ok(made) => return Ok(made),
                Err(error) => why = why.or(Some(error)),
            }
        }
        Err(why.unwrap_or_else(|| Error::usage("an array without dims").in_field(FIELD)))
    }

    /// Reads an instruction on matrices, such as `ldmatrix.x4.trans`.
    fn matrices(&self, name: &str, what: &str, write: bool) -> Result<Access, Error> {
        let (mut count, mut trans) = (None, false);
        for word in what.split('.').skip(1) {
            let is_again = match word {
                "x1" => count.replace(1).is_some(),
                "x2" => count.replace(2).is_some(),
                "x4" => count.replace(4).is_some(),
                "trans" => std::mem::replace(&mut trans, true),
                word if PTX.contains(&word) => false,
                word => {
                    let says = "an instruction has .x1, .x2 or .x4, and .trans";
                    let says = format!("`.{word}` is not part of `{what}`; {says}");
                    return Err(Error::usage(says).in_field(FIELD));
                }
            };
            if is_again {
                let says = "an instruction has one of .x1, .x2 and .x4, and .trans once";
                return Err(Error::usage(format!("`.{word}` is one too many in `{what}`; {says}"))
                    .in_field(FIELD));
            }
        }
        if let Some(bytes) = self.vector.filter(|&bytes| bytes != WIDEST) {
            let says = format!("{bytes} bytes; rows of matrices are {WIDEST} bytes");
            return Err(Error::usage(says).in_field("vector"));
        }
        let vector = self.elements(WIDEST)?;
        let made = |trans| {
            let extents = self.layout().extents();
            let spread = Spread::matrices(extents, count.unwrap_or(1), trans, vector);
            let made = self.made(name, spread.map_err(refused)?, vector, write)?;
            made.fits(self.layout(), self.bits, self.banks.lanes()).map_err(refused).map(|()| made)
        };
        made(trans).map_err(|error| match made(!trans) {
            // The message suggests the other form, since the rows of this form are not contiguous.
            Ok(_) => error.prefixed(&other_form(what, trans)),
            Err(_) => error,
        })
    }

    /// Reads a SPEC of threads and values.
    fn of_spec(&self, name: &str, what: &str, write: bool) -> Result<Access, Error> {
        let (what, threads) = suffix(what, " threads ");
        let (what, over) = suffix(what, " over ");
        let threads = threads.map(|text| {
            let says =
                || Error::usage(format!("`{text}` is not a number of threads")).in_field(FIELD);
            text.trim().parse::<u64>().map_err(|_| says())
        });
        let over = over.map(|text| integers(FIELD, text)).transpose()?;
        let spread = self.spread(what, over.as_deref(), threads.transpose()?)?;
        let vector = match self.vector {
            Some(bytes) => self.elements(bytes)?,
            None => self.widest(name, &spread, write),
        };
        self.made(name, spread, vector, write)
    }

    fn spread(
        &self,
        what: &str,
        over: Option<&[u64]>,
        threads: Option<u64>,
    ) -> Result<Spread, Error> {
        let spec = input::read(what).map_err(|error| match is_word(what) {
            // A single word is more likely a misspelt access than a layout.
            true => {
                let near = did_you_mean(what, ["row", "column", "ldmatrix", "stmatrix"]);
                Error::usage(format!("`{what}` is not an access; {ACCESSES}{near}")).in_field(FIELD)
            }
            false => error.in_field(FIELD),
        })?;
        let (dims, dtype) = (self.layout().extents(), self.of.dtype());
        let tile = over.unwrap_or(dims);
        let is_concrete = spec.is_concrete();
        if let Some(map) = spec.distribution((!is_concrete).then_some(tile), None)? {
            return Spread::of_linear(&map).map_err(refused);
        }
        let of_format =
            catalogue().find(|format| format.name == what || format.aliases.contains(&what));
        let threads = threads.or(of_format.and_then(|format| format.threads));
        match threads {
            Some(threads) => {
                let places = self.places(&spec, over, dtype)?;
                Spread::of_places(&places, threads).map_err(refused)
            }
            None if is_concrete => {
                let layout = spec.resolve(None, None)?;
                Spread::of_layout(layout.layout().layout(), tile).map_err(refused)
            }
            None => {
                let says = "names no threads; give a layout of threads and values, or the number of threads, as in `… threads 32`";
                Err(Error::usage(format!("`{what}` {says}")).in_field(FIELD))
            }
        }
    }

    /// Returns a SPEC as the places of one tile. Without extents, this is the smallest tile that the SPEC fills.
    fn places(
        &self,
        spec: &Spec,
        over: Option<&[u64]>,
        dtype: Option<tilewright_core::Dtype>,
    ) -> Result<TensorLayout, Error> {
        let error = |error: Error| error.in_field(FIELD);
        if spec.is_concrete() {
            return Ok(spec.resolve(None, None).map_err(error)?.layout().clone());
        }
        let one = vec![1; self.layout().rank()];
        let named = spec.resolve(Some(over.unwrap_or(&one)), dtype).map_err(error)?;
        // The padded domain of a tile of one element is the whole tile.
        Ok(if over.is_some() {
            named.layout().clone()
        } else {
            TensorLayout::of(named.layout().layout())
        })
    }

    /// Returns the largest number of elements that every thread can access at once; 1 if nothing fits.
    fn widest(&self, name: &str, spread: &Spread, write: bool) -> u64 {
        let fits = |&vector: &u64| {
            let made = self.made(name, spread.clone(), vector, write).ok();
            made.is_some_and(|made| made.fits(self.layout(), self.bits, self.banks.lanes()).is_ok())
        };
        let widths = WIDTHS.iter().filter_map(|&bytes| self.elements(bytes).ok());
        widths.into_iter().find(fits).unwrap_or(1)
    }
}

fn refused(error: tilewright_core::Error) -> Error {
    Error::from(error).in_field(FIELD)
}

/// Returns the beginning of a message that suggests the other form of an instruction on matrices.
fn other_form(what: &str, trans: bool) -> String {
    let [with, without] = ["ldmatrix.trans", "ldmatrix"].map(|form| match what.split('.').next() {
        Some("stmatrix") => form.replace("ld", "st"),
        _ => form.to_owned(),
    });
    let (dim, other) = if trans { (0, &without) } else { (1, &with) };
    format!("rows of `{what}` run along dim {dim}, and `{other}`, with .x2 or .x4, fits here: ")
}

/// Returns whether a text is one word.
fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

/// Splits a text at the last such word outside brackets.
fn suffix<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    match text.rsplit_once(word) {
        Some((before, behind)) if !behind.contains(['<', '>', '{', '}']) => (before, Some(behind)),
        Some(_) | None => (text, None),
    }
}
