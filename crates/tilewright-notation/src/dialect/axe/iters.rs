//! The parts of an Axe layout: iters on named axes, read and printed as TVM does.

use std::fmt;

use tilewright_core::{MAX_MODES, Mode};

use crate::{
    error::{Error, Kind},
    scan::Scanner,
};

/// An extent with a stride on an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Iter {
    pub(super) extent: u64,
    pub(super) stride: i64,
    pub(super) axis: String,
}

impl Iter {
    pub(super) fn mode(&self) -> Mode {
        Mode::new(self.extent, self.stride)
    }
}

/// A number on an axis.
type Term = (i64, String);

/// Shards, replicas and offsets.
#[derive(Debug)]
pub(super) struct Tile {
    pub(super) shard: Vec<Iter>,
    pub(super) replica: Vec<Iter>,
    pub(super) offset: Vec<Term>,
}

/// Skips a name of TVM's script, with its `T.` if it has it; returns whether it was there.
pub(super) fn eat(scan: &mut Scanner<'_>, name: &str) -> bool {
    let mut ahead: Scanner<'_> = Scanner::new(scan.rest());
    ahead.eat("T.");
    if !ahead.eat(name) {
        return false;
    }
    scan.advance(ahead.at());
    true
}

impl Tile {
    pub(super) fn read(scan: &mut Scanner<'_>) -> Result<Tile, Error> {
        if !eat(scan, "TileLayout") {
            return Tile::sum(scan);
        }
        scan.expect("(")?;
        let tile = Tile::sum(scan)?;
        scan.expect(")")?;
        Ok(tile)
    }

    fn sum(scan: &mut Scanner<'_>) -> Result<Tile, Error> {
        if !eat(scan, "S") {
            return Err(scan.expected("shards, such as `S[(8, 4):(4, 1)]`"));
        }
        let mut tile = Tile { shard: iters(scan)?, replica: Vec::new(), offset: Vec::new() };
        while scan.eat("+") {
            if eat(scan, "R") {
                tile.replica.extend(iters(scan)?);
            } else if scan.eat("(") {
                tile.add(term(scan)?)?;
                while scan.eat("+") {
                    tile.add(term(scan)?)?;
                }
                scan.expect(")")?;
            } else {
                tile.add(term(scan)?)?;
            }
        }
        Ok(tile)
    }

    fn add(&mut self, (value, axis): Term) -> Result<(), Error> {
        if self.offset.len() == MAX_MODES {
            return Err(Error::new(Kind::Limit, "a layout has offsets on at most 32 axes"));
        }
        match self.offset.iter_mut().find(|(_, own)| *own == axis) {
            Some((sum, _)) => {
                let overflow =
                    || Error::new(Kind::Overflow, "the offsets of an axis exceed 64 bits");
                *sum = sum.checked_add(value).ok_or_else(overflow)?;
            }
            None => self.offset.push((value, axis)),
        }
        Ok(())
    }

    /// The extents of the shards.
    pub(super) fn dims(&self) -> Vec<u64> {
        self.shard.iter().map(|iter| iter.extent).collect()
    }

    /// The offset on an axis.
    pub(super) fn offset(&self, axis: &str) -> i64 {
        self.offset.iter().find(|(_, own)| own == axis).map_or(0, |(value, _)| *value)
    }

    /// The axes apart from that of memory, in order.
    pub(super) fn other_axes(&self) -> Vec<&str> {
        let iters = self.shard.iter().chain(&self.replica).map(|iter| &iter.axis);
        let mut axes: Vec<&str> = Vec::new();
        for axis in iters.chain(self.offset.iter().map(|(_, axis)| axis)) {
            if axis != "m" && !axes.contains(&axis.as_str()) {
                axes.push(axis);
            }
        }
        axes
    }
}

fn iters(scan: &mut Scanner<'_>) -> Result<Vec<Iter>, Error> {
    scan.expect("[")?;
    scan.skip();
    let from = scan.at();
    let extents = list(scan)?;
    let strides = if scan.eat(":") { Some(list(scan)?) } else { None };
    let span = (from, scan.at());
    scan.expect("]")?;
    let extents: Option<Vec<u64>> = extents
        .iter()
        .map(|(extent, axis)| u64::try_from(*extent).ok().filter(|e| *e > 0 && axis == "m"))
        .collect();
    let extents =
        extents.ok_or_else(|| Error::parse(span, "extents are 1 or more, without an axis"))?;
    let strides = match strides {
        Some(strides) => strides,
        None => row_major(&extents).ok_or_else(|| {
            Error::new(Kind::Overflow, "the extents multiply to more than 64 bits").at(span)
        })?,
    };
    if strides.len() != extents.len() {
        let said = format!("{} strides for {} extents", strides.len(), extents.len());
        return Err(Error::parse(span, said));
    }
    let iter = |(extent, (stride, axis))| Iter { extent, stride, axis };
    Ok(extents.into_iter().zip(strides).map(iter).collect())
}

/// The strides of a row-major array.
fn row_major(extents: &[u64]) -> Option<Vec<Term>> {
    let (mut stride, mut strides) = (1i64, Vec::new());
    for extent in extents.iter().rev() {
        strides.push((stride, "m".to_owned()));
        stride = stride.checked_mul(i64::try_from(*extent).ok()?)?;
    }
    strides.reverse();
    Some(strides)
}

/// Terms with commas, in brackets or without.
fn list(scan: &mut Scanner<'_>) -> Result<Vec<Term>, Error> {
    let bracket = scan.eat("(");
    let mut terms = vec![term(scan)?];
    while scan.eat(",") {
        if bracket && scan.peek() == Some(')') {
            break;
        }
        if terms.len() == MAX_MODES {
            return Err(scan.expected("at most 32 iters"));
        }
        terms.push(term(scan)?);
    }
    if bracket {
        scan.expect(")")?;
    }
    Ok(terms)
}

fn term(scan: &mut Scanner<'_>) -> Result<Term, Error> {
    let value = scan.signed()?;
    if !scan.eat("@") {
        return Ok((value, "m".to_owned()));
    }
    let _ = scan.eat("Axis.");
    let (axis, span) = scan.name("an axis, such as `laneid`")?;
    if axis.len() > 64 {
        return Err(Error::parse(span, "the name of an axis has at most 64 bytes"));
    }
    Ok((value, axis.to_owned()))
}

/// Prints `4 @ Axis.laneid`, and a number of the axis of memory alone.
fn said((value, axis): &Term) -> String {
    if axis == "m" { value.to_string() } else { format!("{value} @ Axis.{axis}") }
}

fn bracketed(items: &[String]) -> String {
    match items {
        [one] => one.clone(),
        _ => format!("({})", items.join(", ")),
    }
}

fn iters_text(iters: &[Iter]) -> String {
    let extents: Vec<String> = iters.iter().map(|iter| iter.extent.to_string()).collect();
    let strides: Vec<String> =
        iters.iter().map(|iter| said(&(iter.stride, iter.axis.clone()))).collect();
    format!("{}:{}", bracketed(&extents), bracketed(&strides))
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T.S[{}]", iters_text(&self.shard))?;
        if !self.replica.is_empty() {
            write!(f, " + T.R[{}]", iters_text(&self.replica))?;
        }
        let terms: Vec<String> = self.offset.iter().map(said).collect();
        match &terms[..] {
            [] => Ok(()),
            [one] => write!(f, " + {one}"),
            all => write!(f, " + ({})", all.join(" + ")),
        }
    }
}
