//! Shardy, the sharding of MLIR: the axes of each dim, over an inline mesh.
//!
//! ```text
//! rule = ("sdy" | "#sdy.sharding") "<" mesh "," dims {"," ("replicated" | "unreduced") "=" axes} ">"
//! dims = "[" [dim ["p" INT] {"," dim ["p" INT]}] "]"
//! mesh = "mesh<[" [NAME "=" INT {"," NAME "=" INT}] "]" ["," "device_ids=[" INT {"," INT} "]"] ">" | "@" NAME
//! ```
//!
//! `dim` is that of `axes.rs`, with names in `"`. `@NAME` refers to the mesh before the rule. A dim that is open, `?`,
//! is read as closed, and its priority, `p1`, is ignored: both are for the compiler, and a stored array has one
//! sharding. `unreduced` axes hold summands, and are refused. Uneven dims are cut as in XLA.
//!
//! Source: `shardy/dialect/sdy/ir/attrs.td`.

use super::{
    Dialect, RuleContext,
    axes::{self, DimAxes, dim, splits, tilings},
};
use crate::{
    Error,
    mesh::{MOST, Mesh, Scanner, comma},
    sharded::Sharded,
    split::{AxisPart, check_apart},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "shardy",
    title: "shardings of Shardy",
    claims: |text| text.starts_with("sdy") || text.starts_with("#sdy"),
    read,
    say,
};

fn read(scanner: &mut Scanner<'_>, mut asked: RuleContext<'_>) -> Result<Sharded, Error> {
    if !scanner.eat("#sdy.sharding") {
        scanner.expect("sdy")?;
    }
    scanner.expect("<")?;
    let mesh = mesh(scanner, &mut asked)?;
    scanner.expect(",")?;
    scanner.skip();
    let from = scanner.at();
    let dims = scanner.list(("[", "]"), MOST, |scanner| {
        let dim = dim(scanner, &mesh)?;
        if scanner.eat("p") {
            scanner.natural()?;
        }
        Ok(dim)
    })?;
    let span = (from, scanner.at());
    let mut parts: Vec<AxisPart> = dims.iter().flat_map(|dim| dim.parts.clone()).collect();
    while scanner.eat(",") {
        let (word, at) = scanner.word("`replicated`")?;
        scanner.expect("=")?;
        parts.extend(dim(scanner, &mesh)?.parts);
        if word != "replicated" {
            let said = format!("`{word}` axes: devices along them hold no values of the array");
            return Err(Error::unsupported(said).at(at));
        }
    }
    scanner.expect(">")?;
    check_apart(&parts, &mesh).map_err(|error| error.or_at(span))?;
    let rank = asked.extents.len();
    if dims.len() != rank {
        let said = format!("axes of {} dims for an array of {rank} dims", dims.len());
        return Err(Error::mismatch(said).at(span));
    }
    let dims: Vec<Vec<AxisPart>> = dims.into_iter().map(|dim| dim.parts).collect();
    let splits = splits(&dims, &mesh)?;
    Sharded::new(asked.extents, asked.dtype, mesh, splits)
}

fn mesh(scanner: &mut Scanner<'_>, asked: &mut RuleContext<'_>) -> Result<Mesh, Error> {
    if scanner.eat("@") {
        scanner.word("the name of a mesh")?;
        return asked.need_mesh("the name of a mesh");
    }
    scanner.expect("mesh")?;
    scanner.expect("<")?;
    let from = scanner.at();
    if asked.mesh.is_some() {
        return Err(Error::mismatch("the rule has its own mesh; leave out `mesh(…)`"));
    }
    let named = scanner.list(("[", "]"), MOST, |scanner| {
        let (name, _) = scanner.quoted()?;
        scanner.expect("=")?;
        Ok((name, scanner.natural()?))
    })?;
    let ids = match scanner.eat(",") {
        true => {
            scanner.expect("device_ids")?;
            scanner.expect("=")?;
            Some(scanner.list(("[", "]"), MOST, Scanner::natural)?)
        }
        false => None,
    };
    let mesh = axes::mesh(&named).and_then(|mesh| match ids {
        Some(ids) => mesh.with_order(&ids),
        None => Ok(mesh),
    });
    scanner.expect(">")?;
    mesh.map_err(|error| error.or_at((from, scanner.at())))
}

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let mesh = sharded.mesh();
    let sizes = mesh.sizes().iter().enumerate();
    let named = sizes.map(|(axis, size)| format!("\"{}\"={size}", mesh.name(axis)));
    let named: Vec<String> = named.collect();
    let ids = mesh.order().map_or(String::new(), |ids| format!(", device_ids=[{}]", comma(ids)));
    let text = |tiling: Vec<Vec<AxisPart>>| {
        let dims = tiling.into_iter().map(|parts| DimAxes { parts, open: false });
        let dims: Vec<String> = dims.map(|dim| axes::print(&dim, mesh, '"')).collect();
        format!("sdy <mesh<[{}]{ids}>, [{}]>", named.join(", "), dims.join(", "))
    };
    Ok(tilings(sharded).into_iter().map(text).collect())
}
