//! MLIR's `linalg.pack` (once `tensor.pack`): `linalg.pack inner_dims_pos = [0, 1] inner_tiles = [16, 16]`.
//!
//! ```text
//! pack  := [ value '=' ] [ 'linalg.pack' | 'tensor.pack' ] [ value ] { attribute } [ 'into' value ] [ ':' type [ '->' type ] ]
//! attribute := ( 'outer_dims_perm' | 'inner_dims_pos' | 'inner_tiles' ) '=' '[' [ int { ',' int } ] ']'
//!            | 'padding_value' '(' value ':' name ')'             not part of the layout
//! type  := 'tensor' '<' { int 'x' } name '>'
//! value := '%' name
//! ```
//!
//! The outer dims of the storage count the tiles, in the order of `outer_dims_perm` (dim numbers, outermost first;
//! the default is the order of the dims). The inner dims are those of a tile, in the order of `inner_dims_pos`.
//! Dims are padded to whole tiles. Source: MLIR, "linalg Dialect", `linalg.pack`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `linalg.pack inner_dims_pos = [0, 1] inner_tiles = [2, 2]` | `[3,5]` | `((2,2),(2,3)):((2,12),(1,4)) valid (3,5)` |
//! | `tensor.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [16, 16] into %b : tensor<32x48xf16> -> tensor<3x2x16x16xf16>` | | `((16,2),(16,3)):((16,256),(1,512))` |
//! | `%p = linalg.pack %a padding_value(%c : f32) inner_dims_pos = [1] inner_tiles = [2] into %b : tensor<2x3xf32> -> tensor<2x2x2xf32>` | | `(2,(2,2)):(4,(1,2)) valid (2,3)` |
//! | `pack:outer_dims_perm = [1, 0]` | `[2,3]` | `(2,3):(1,2)` |
//! | `linalg.pack inner_dims_pos = [1] inner_tiles = [2] : tensor<2x3xf32> -> tensor<2x3x2xf32>` | | error: the pack of these dims has shape 2x2x2 |
//! | `linalg.pack inner_dims_pos = [0, 0] inner_tiles = [2, 2]` | | error: tiles a dim once |
//! | `linalg.pack inner_dims_pos = [0] inner_tiles = [0]` | | error: a tile of 0 |
//! | `linalg.pack inner_dims_pos = [0, 1] inner_tiles = [2]` | | error: 1 tiles for 2 dims |
//! | `linalg.pack inner_dims_pos = [2] inner_tiles = [2]` | `[4,4]` | error: dim 2 |

use std::{fmt, sync::Arc};

use tilewright_core::{Digit, MAX_MODES, Pattern};

use super::canonical::Blocked;
use crate::{
    Error, ResolvedLayout,
    dialect::{
        arrays::strided::unsupported,
        compilers::mlir::{Shape, array, read_shape, spell_shape, static_dims},
    },
    literal::Scanner,
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("pack", "MLIR's linalg.pack: the order of tiles, and their insides", read, print)
        .with_form(claims);

fn claims(text: &str) -> bool {
    let result = text.strip_prefix('%').and_then(|text| text.split_once('='));
    let text = result.map_or(text, |(_, operation)| operation.trim_start());
    ["linalg.pack", "tensor.pack", "inner_dims_pos", "outer_dims_perm"]
        .iter()
        .any(|start| text.starts_with(start))
}

#[derive(Debug, Default)]
struct Pack {
    outer: Option<Vec<u64>>,
    positions: Vec<u64>,
    tiles: Vec<u64>,
    /// The array, where its type is given.
    source: Option<Shape>,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut scan = Scanner::new(text);
    if value(&mut scan) {
        scan.expect("=")?;
    }
    let _ = scan.eat("linalg.pack") || scan.eat("tensor.pack");
    value(&mut scan);
    let mut pack = pack_of(&mut scan)?;
    if pack.positions.len() != pack.tiles.len() {
        let (tiles, dims) = (pack.tiles.len(), pack.positions.len());
        return Err(Error::parse((0, text.len()), format!("{tiles} tiles for {dims} dims")));
    }
    if scan.eat("into") {
        value(&mut scan);
    }
    if scan.eat(":") {
        pack.source = Some(tensor_type(&mut scan)?);
        if scan.eat("->") {
            scan.skip();
            let from = scan.at();
            let (result, _) = tensor_type(&mut scan)?;
            pack.check_result(&result, (from, scan.at()))?;
        }
    }
    scan.end("the attributes")?;
    Ok(Arc::new(pack))
}

/// The attributes, at least one.
fn pack_of(scan: &mut Scanner<'_>) -> Result<Pack, Error> {
    let (mut pack, mut seen) = (Pack::default(), Vec::new());
    while scan.peek().is_some_and(|c| c.is_ascii_alphabetic()) && !scan.rest().starts_with("into") {
        let (name, span) = scan.name("an attribute")?;
        if seen.contains(&name) {
            return Err(Error::parse(span, format!("`{name}` is given twice")));
        }
        seen.push(name);
        if name == "padding_value" {
            padding_value(scan)?;
            continue;
        }
        scan.expect("=")?;
        scan.skip();
        let from = scan.at();
        let list = scan.list(("[", "]"), MAX_MODES, Scanner::integer)?;
        pack.set(name, list, span, (from, scan.at()))?;
    }
    if seen.is_empty() {
        return Err(scan.expected("`inner_dims_pos`, `inner_tiles` or `outer_dims_perm`"));
    }
    Ok(pack)
}

/// `(%value : f32)`.
fn padding_value(scan: &mut Scanner<'_>) -> Result<(), Error> {
    scan.expect("(")?;
    if !value(scan) {
        return Err(scan.expected("`%` and the name of a value"));
    }
    scan.expect(":")?;
    scan.skip();
    scan.take(|c| c.is_ascii_alphanumeric());
    scan.expect(")")
}

/// `tensor<3x5xf32>`.
fn tensor_type(scan: &mut Scanner<'_>) -> Result<Shape, Error> {
    scan.expect("tensor")?;
    scan.expect("<")?;
    let shape = read_shape(scan)?;
    scan.expect(">")?;
    Ok(shape)
}

/// Takes `%name`, if that comes next.
fn value(scan: &mut Scanner<'_>) -> bool {
    let found = scan.eat("%");
    if found {
        scan.take(|c| c.is_ascii_alphanumeric() || c == '_');
    }
    found
}

/// `3x5`.
fn by_x(dims: impl Iterator<Item = String>) -> String {
    dims.collect::<Vec<_>>().join("x")
}

type PackSpan = (usize, usize);

impl Pack {
    fn set(
        &mut self,
        name: &str,
        list: Vec<u64>,
        key: PackSpan,
        span: PackSpan,
    ) -> Result<(), Error> {
        match name {
            "outer_dims_perm" => {
                if !(0..list.len() as u64).all(|dim| list.contains(&dim)) {
                    return Err(Error::parse(
                        span,
                        "outer_dims_perm names each dim once, from 0 on",
                    ));
                }
                self.outer = Some(list);
            }
            "inner_dims_pos" => {
                let twice = |(at, dim): (usize, &u64)| list.iter().take(at).any(|d| d == dim);
                if list.iter().enumerate().any(twice) {
                    return Err(Error::parse(span, "a pack tiles a dim once"));
                }
                self.positions = list;
            }
            "inner_tiles" => {
                if list.contains(&0) {
                    return Err(Error::parse(span, "a tile of 0"));
                }
                self.tiles = list;
            }
            _ => return Err(Error::parse(key, format!("a pack does not have `{name}`"))),
        }
        Ok(())
    }

    /// Refuses a result of other dims than the pack has, as far as both are known.
    fn check_result(&self, result: &[Option<u64>], span: PackSpan) -> Result<(), Error> {
        let Some(dims) = static_dims(self.source.as_ref()) else { return Ok(()) };
        let storage = self.pattern(dims.len()).and_then(|pattern| Ok(pattern.storage(&dims)?));
        // An error in the pack itself is reported when its layout is resolved.
        let Ok(storage) = storage else { return Ok(()) };
        let storage = storage.as_slice();
        let agree = |(known, own): (&Option<u64>, &u64)| known.is_none_or(|known| known == *own);
        if result.len() == storage.len() && result.iter().zip(storage).all(agree) {
            return Ok(());
        }
        let is = by_x(storage.iter().map(u64::to_string));
        Err(Error::parse(span, format!("the pack of these dims has shape {is}")))
    }

    /// The fewest dims this can be a pack of.
    fn least_rank(&self) -> usize {
        let last = self.positions.iter().max().map_or(0, |dim| dim.saturating_add(1));
        usize::try_from(last).unwrap_or(usize::MAX)
    }

    fn pattern(&self, rank: usize) -> Result<Pattern, Error> {
        let order: Vec<u64> = self.outer.clone().unwrap_or_else(|| (0..rank as u64).collect());
        if order.len() != rank {
            let message =
                format!("`{self}` is a pack of {} dims, the array has {rank}", order.len());
            return Err(Error::mismatch(message));
        }
        if self.least_rank() > rank {
            let last = self.least_rank() - 1;
            let message = format!("`{self}` tiles dim {last}, the array has {rank} dims");
            return Err(Error::mismatch(message));
        }
        let level = |dim: u64| u8::from(self.positions.contains(&dim));
        // At most 32 dims: they fit a byte.
        let outer = order.iter().map(|&dim| Digit::rest(dim as u8, level(dim)));
        let inner = self.positions.iter().zip(&self.tiles);
        let inner = inner.map(|(&dim, &size)| Digit::fixed(dim as u8, 0, size));
        let digits: Vec<Digit> = outer.chain(inner).collect();
        Ok(Pattern::new(rank, &digits)?)
    }
}

impl fmt::Display for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[u64]| {
            let values: Vec<String> = values.iter().map(u64::to_string).collect();
            format!("[{}]", values.join(", "))
        };
        f.write_str("linalg.pack")?;
        if let Some(outer) = &self.outer {
            write!(f, " outer_dims_perm = {}", list(outer))?;
        }
        write!(f, " inner_dims_pos = {}", list(&self.positions))?;
        write!(f, " inner_tiles = {}", list(&self.tiles))?;
        match &self.source {
            None => Ok(()),
            Some(source) => write!(f, " : tensor<{}>", spell_shape(source)),
        }
    }
}

impl ParsedSpec for Pack {
    fn is_concrete(&self) -> bool {
        static_dims(self.source.as_ref()).is_some()
    }

    fn fits(&self, rank: usize) -> bool {
        if self.source.as_ref().is_some_and(|(dims, _)| dims.len() != rank) {
            return false;
        }
        match &self.outer {
            Some(outer) => outer.len() == rank && self.least_rank() <= rank,
            None => self.least_rank() <= rank && rank <= MAX_MODES,
        }
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let (dims, dtype) = array(self.source.as_ref(), self, given)?;
        let pattern = self.pattern(dims.len())?;
        Ok(ResolvedLayout::of_pattern(&pattern, &dims, &Given { dims: None, dtype })?)
    }
}

/// The layout as a pack.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let blocked = Blocked::of(named.layout(), "a pack")?;
    if let Some(&axis) = blocked.outer.iter().find(|axis| blocked.tiles(**axis).count() > 1) {
        return Err(unsupported(format!("dim {axis} has tiles in tiles; a pack tiles a dim once")));
    }
    let order: Vec<u64> = blocked.outer.iter().copied().map(u64::from).collect();
    let own = order.iter().copied().eq(0..order.len() as u64);
    let pack = Pack {
        outer: (!own).then_some(order),
        positions: blocked.inner.iter().map(|digit| u64::from(digit.axis)).collect(),
        tiles: blocked.inner.iter().map(|digit| digit.size).collect(),
        source: None,
    };
    Ok(pack.to_string())
}
