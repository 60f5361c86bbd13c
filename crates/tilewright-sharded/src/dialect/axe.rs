//! Axe layouts of TVM's TIRx, whose axes apart from `m` are those of a mesh.
//!
//! ```text
//! rule  = ["T."] "TileLayout" "(" sum ")" | sum
//! sum   = ["T."] "S" iters ["+" ["T."] "R" iters]
//! iters = "[" list [":" list] "]"                     extents, and strides; without strides row-major
//! list  = term | "(" term {"," term} [","] ")" | term {"," term}
//! term  = INT ["@" ["Axis."] NAME]                    without an axis, the axis `m` of a device's memory
//! ```
//!
//! The iters of `S` split the row-major index of the array, the last fastest. One on an axis of the mesh says which devices
//! hold an index; those on `m` count a shard's elements, row-major. Devices along an iter of `R` hold the same. Iters
//! cover every axis. A text without a mesh has the axes that it names, in order; one with another order of a shard's
//! elements is refused.
//!
//! Source: apache-tvm 0.27, `tvm.tirx.layout`; Hou et al., "Axe", 2026.

use super::{Dialect, RuleContext, axes::find};
use crate::{
    error::Error,
    mesh::{Mesh, is_name_char},
    nested::Of,
    scan::{Scanner, comma},
    sharded::Sharded,
    split::{AxisPart, Cut, Split, check_apart},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "axe",
    title: "TileLayout of TVM's TIRx",
    claims: |text| {
        ["T.TileLayout", "TileLayout", "T.S[", "S["].iter().any(|head| text.starts_with(head))
    },
    read,
    say,
};

/// The most iters of a text.
const MOST_ITERS: usize = 64;

/// The axis of a device's memory.
const MEMORY: &str = "m";

/// An extent with a stride on an axis, and the bytes of the list that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Iter {
    extent: u64,
    stride: u64,
    axis: String,
    span: (usize, usize),
}

struct Tile {
    shard: Vec<Iter>,
    replica: Vec<Iter>,
}

fn read(scanner: &mut Scanner<'_>, mut asked: RuleContext<'_>) -> Result<Sharded, Error> {
    let tile = Tile::read(scanner)?;
    let mesh = match asked.mesh.take() {
        Some(mesh) => mesh,
        None => tile.mesh()?,
    };
    tile.check_cover(&mesh)?;
    let groups = tile.groups(asked.extents)?;
    check_local(&groups)?;
    let mut splits = Vec::new();
    for (dim, group) in groups.iter().enumerate() {
        let mut factor = 1;
        for iter in group {
            if iter.axis == MEMORY {
                factor *= iter.extent;
            } else if iter.extent > 1 {
                let cut = if factor == 1 { Cut::Chunk } else { Cut::Strided { factor } };
                splits.push(Split { dim, parts: vec![part(iter, &mesh)?], cut });
            }
        }
    }
    Sharded::new(asked.extents, asked.dtype, mesh, splits)
}

/// Returns the part of an axis that an iter moves.
fn part(iter: &Iter, mesh: &Mesh) -> Result<AxisPart, Error> {
    let axis = find(mesh, &iter.axis, iter.span)?;
    let size = mesh.sizes().get(axis).copied().unwrap_or(1);
    let taken =
        iter.stride.checked_mul(iter.extent).filter(|taken| *taken > 0 && size % taken == 0);
    let Some(taken) = taken else {
        let Iter { extent, stride, axis, span } = iter;
        let said = format!(
            "extent {extent} with stride {stride} is no digit of the {size} devices of axis `{axis}`"
        );
        return Err(Error::illegal(said).at(*span));
    };
    Ok(if taken == size && iter.stride == 1 {
        AxisPart::whole(axis)
    } else {
        AxisPart { axis, part: Some((size / taken, iter.extent)) }
    })
}

impl Tile {
    fn read(scanner: &mut Scanner<'_>) -> Result<Tile, Error> {
        let bracket = eat(scanner, "TileLayout");
        if bracket {
            scanner.expect("(")?;
        }
        if !eat(scanner, "S") {
            return Err(scanner.expected("shards, such as `S[(2, 4):(1 @ x, 1)]`"));
        }
        let mut tile = Tile { shard: iters(scanner)?, replica: Vec::new() };
        while scanner.eat("+") {
            if !eat(scanner, "R") {
                return Err(
                    scanner.expected("replicas, such as `R[2:1 @ x]`; a shard has no offset")
                );
            }
            tile.replica.extend(iters(scanner)?);
        }
        if bracket {
            scanner.expect(")")?;
        }
        Ok(tile)
    }

    fn on_axes(&self) -> impl Iterator<Item = &Iter> {
        self.shard.iter().chain(&self.replica).filter(|iter| iter.axis != MEMORY)
    }

    /// Returns the mesh of the axes that the iters name, in order.
    fn mesh(&self) -> Result<Mesh, Error> {
        let mut axes: Vec<(&str, u64)> = Vec::new();
        for iter in self.on_axes() {
            let reach = (iter.extent - 1).saturating_mul(iter.stride);
            match axes.iter_mut().find(|(name, _)| *name == iter.axis) {
                Some((_, size)) => *size = size.saturating_add(reach),
                None => axes.push((&iter.axis, reach.saturating_add(1))),
            }
        }
        if axes.is_empty() {
            let said = "no iter names an axis of devices, as in `S[(2, 4):(1 @ x, 1)]`";
            return Err(Error::mismatch(said));
        }
        Mesh::named(&axes)
    }

    /// Checks that the iters on each axis of the mesh count its devices once.
    fn check_cover(&self, mesh: &Mesh) -> Result<(), Error> {
        let parts = self.on_axes().filter(|iter| iter.extent > 1).map(|iter| part(iter, mesh));
        let parts: Vec<AxisPart> = parts.collect::<Result<_, _>>()?;
        check_apart(&parts, mesh)?;
        for (axis, size) in mesh.sizes().iter().enumerate() {
            let name = mesh.name(axis);
            let own = self.on_axes().filter(|iter| iter.axis == name);
            let count = own.fold(1u64, |all, iter| all.saturating_mul(iter.extent));
            if count != *size {
                let said = format!("iters reach {count} of the {size} devices of axis `{name}`");
                return Err(Error::mismatch(format!(
                    "{said}; replicate over the others by `R[…]`"
                )));
            }
        }
        Ok(())
    }

    /// Returns the iters of each dim, outermost first; parts of an iter where a dim ends within it.
    fn groups(&self, extents: &[u64]) -> Result<Vec<Vec<Iter>>, Error> {
        let mut left = self.shard.clone();
        let mut groups = Vec::new();
        for (dim, extent) in extents.iter().enumerate().rev() {
            let group = take(&mut left, *extent);
            groups.push(group.ok_or_else(|| {
                let own = comma(self.shard.iter().map(|iter| iter.extent));
                Error::mismatch(format!("iters of ({own}) do not split dim {dim} of {extent}"))
            })?);
        }
        if left.iter().any(|iter| iter.extent > 1) {
            let own = comma(self.shard.iter().map(|iter| iter.extent));
            let said = format!("iters of ({own}) count more elements than the array has");
            return Err(Error::mismatch(said));
        }
        groups.reverse();
        Ok(groups)
    }
}

/// Takes iters of `extent` coordinates from the end, and splits the last if it is longer.
fn take(left: &mut Vec<Iter>, extent: u64) -> Option<Vec<Iter>> {
    let (mut need, mut group) = (extent, Vec::new());
    while need != 1 {
        let mut last = left.pop()?;
        if last.extent > need && need > 0 && last.extent.is_multiple_of(need) {
            let stride = last.stride.checked_mul(need)?;
            left.push(Iter { extent: last.extent / need, stride, ..last.clone() });
            last.extent = need;
        } else if need == 0 || !need.is_multiple_of(last.extent) {
            return None;
        }
        need /= last.extent;
        group.push(last);
    }
    group.reverse();
    Some(group)
}

/// Checks that the iters of a device's memory count its elements row-major.
fn check_local(groups: &[Vec<Iter>]) -> Result<(), Error> {
    let mut stride = 1u64;
    let local = groups.iter().flatten().filter(|iter| iter.axis == MEMORY && iter.extent > 1);
    for iter in local.collect::<Vec<_>>().into_iter().rev() {
        if iter.stride != stride {
            let said =
                format!("the shards are not row-major: stride {} instead of {stride}", iter.stride);
            let legal =
                "give the strides of row-major shards, and the layout of each shard after ` / `";
            return Err(Error::unsupported(format!("{said}; {legal}")).at(iter.span));
        }
        stride = stride.saturating_mul(iter.extent);
    }
    Ok(())
}

/// Skips a name, with its `T.` if it has it; returns whether it was there.
fn eat(scanner: &mut Scanner<'_>, name: &str) -> bool {
    let mut ahead: Scanner<'_> = Scanner::new(scanner.rest());
    ahead.eat("T.");
    if !ahead.eat(name) {
        return false;
    }
    scanner.advance(ahead.at());
    true
}

fn iters(scanner: &mut Scanner<'_>) -> Result<Vec<Iter>, Error> {
    scanner.expect("[")?;
    scanner.skip();
    let from = scanner.at();
    let extents: Vec<u64> = list(scanner)?.into_iter().map(|(extent, _)| extent).collect();
    let strides = if scanner.eat(":") { list(scanner)? } else { row_major(&extents) };
    let span = (from, scanner.at());
    scanner.expect("]")?;
    if extents.contains(&0) {
        return Err(Error::parse(span, "an iter has an extent of 1 or more"));
    }
    if strides.len() != extents.len() {
        let said = format!("{} strides for {} extents", strides.len(), extents.len());
        return Err(Error::parse(span, said));
    }
    let iter = |(extent, (stride, axis))| Iter { extent, stride, axis, span };
    Ok(extents.into_iter().zip(strides).map(iter).collect())
}

/// A number on an axis.
type Term = (u64, String);

fn row_major(extents: &[u64]) -> Vec<Term> {
    let mut stride = 1u64;
    let strides = extents.iter().rev().map(|extent| {
        let own = stride;
        stride = stride.saturating_mul(*extent);
        (own, MEMORY.to_owned())
    });
    let mut strides: Vec<Term> = strides.collect();
    strides.reverse();
    strides
}

fn list(scanner: &mut Scanner<'_>) -> Result<Vec<Term>, Error> {
    let bracket = scanner.eat("(");
    let mut terms = vec![term(scanner)?];
    while scanner.eat(",") {
        if bracket && scanner.peek() == Some(')') {
            break;
        }
        if terms.len() == MOST_ITERS {
            return Err(scanner.expected("at most 64 iters"));
        }
        terms.push(term(scanner)?);
    }
    if bracket {
        scanner.expect(")")?;
    }
    Ok(terms)
}

fn term(scanner: &mut Scanner<'_>) -> Result<Term, Error> {
    let value = scanner.natural()?;
    if !scanner.eat("@") {
        return Ok((value, MEMORY.to_owned()));
    }
    let _ = scanner.eat("Axis.");
    scanner.skip();
    let axis = scanner.take(is_name_char);
    if axis.is_empty() || axis.len() > 256 {
        return Err(scanner.expected("the name of an axis"));
    }
    Ok((value, axis.to_owned()))
}

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let (mesh, no) =
        (sharded.mesh(), |why: String| Error::unsupported(format!("axe cannot express it: {why}")));
    if !mesh.is_named() || mesh.is_any() {
        return Err(no("its axes have names, and those of this mesh have none".into()));
    }
    if sharded.extents().contains(&0) {
        return Err(no("an extent of 0".into()));
    }
    let dims = sharded.digits().map_err(|error| no(error.to_string()))?;
    let (mut shard, mut used, mut after) = (Vec::new(), Vec::new(), 1u64);
    for digits in dims.iter().rev() {
        let mut local = 1u64;
        for digit in digits.iter().filter(|digit| digit.size > 1) {
            shard.push(match digit.of {
                Of::Local { weight } => {
                    local = local.saturating_mul(digit.size);
                    (digit.size, (weight.saturating_mul(after)).to_string())
                }
                Of::Axis { axis, weight } => {
                    used.push((axis, weight, digit.size));
                    (digit.size, format!("{weight} @ Axis.{}", mesh.name(axis)))
                }
            });
        }
        after = after.saturating_mul(local);
    }
    shard.reverse();
    if shard.is_empty() {
        shard.push((1, "1".to_owned()));
    }
    let rest = unused(mesh, used);
    let replica =
        if rest.is_empty() { String::new() } else { format!(" + T.R[{}]", listed(&rest)) };
    Ok(vec![format!("{mesh} T.TileLayout(T.S[{}]{replica})", listed(&shard))])
}

/// Returns the digits of axes that no iter moves: those of devices with the same data.
fn unused(mesh: &Mesh, mut used: Vec<(usize, u64, u64)>) -> Vec<(u64, String)> {
    used.sort_unstable();
    let mut rest = Vec::new();
    for (axis, size) in mesh.sizes().iter().enumerate() {
        let mut below = 1;
        let own =
            used.iter().filter(|(own, ..)| *own == axis).map(|(_, weight, size)| (*weight, *size));
        for (weight, count) in own.chain([(*size, 1)]) {
            if weight > below {
                rest.push((weight / below, format!("{below} @ Axis.{}", mesh.name(axis))));
            }
            below = weight.saturating_mul(count);
        }
    }
    rest
}

/// Prints extents and strides: `(2, 4):(1 @ Axis.x, 1)`.
fn listed(iters: &[(u64, String)]) -> String {
    let bracketed = |items: Vec<String>| match &items[..] {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    };
    let extents = bracketed(iters.iter().map(|(extent, _)| extent.to_string()).collect());
    let strides = bracketed(iters.iter().map(|(_, stride)| stride.clone()).collect());
    format!("{extents}:{strides}")
}
