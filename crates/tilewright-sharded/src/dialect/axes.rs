//! The axes that cut each dim: the common part of notations that list axes by dim.
//!
//! ```text
//! dims = "[" [dim {"," dim}] "]"
//! dim  = "{" [axis {"," axis}] [["," ] "?"] "}"       the first axis is the most significant
//! axis = NAME [":(" PRE ")" SIZE]                      in quotes; the digit of this size after digits of product PRE
//! ```

use crate::{
    Error,
    mesh::{Mesh, Scanner},
    nested::Of,
    sharded::Sharded,
    split::{AxisPart, Cut, Split},
};

/// The axes of a dim, and whether it is open, so that more axes may be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DimAxes {
    pub(super) parts: Vec<AxisPart>,
    pub(super) open: bool,
}

/// Reads `{…}`, the axes of one dim.
pub(super) fn dim(scanner: &mut Scanner<'_>, mesh: &Mesh) -> Result<DimAxes, Error> {
    let (mut parts, mut open) = (Vec::new(), false);
    scanner.expect("{")?;
    while !scanner.eat("}") {
        if !parts.is_empty() {
            scanner.expect(",")?;
        }
        if scanner.eat("?") {
            open = true;
            scanner.expect("}")?;
            break;
        }
        parts.push(part(scanner, mesh)?);
    }
    Ok(DimAxes { parts, open })
}

/// Reads `"a"`, or `"a":(2)2`.
fn part(scanner: &mut Scanner<'_>, mesh: &Mesh) -> Result<AxisPart, Error> {
    let (name, span) = scanner.quoted()?;
    let axis = find(mesh, name, span)?;
    let mut part = AxisPart::whole(axis);
    if scanner.eat(":") {
        scanner.expect("(")?;
        let pre = scanner.natural()?;
        scanner.expect(")")?;
        part.part = Some((pre, scanner.natural()?));
    }
    part.digit(mesh).map_err(|error| error.or_at((span.0, scanner.at())))?;
    Ok(part)
}

/// Returns the axis of this name.
pub(super) fn find(mesh: &Mesh, name: &str, span: (usize, usize)) -> Result<usize, Error> {
    mesh.axis(name).ok_or_else(|| {
        let names: Vec<String> = (0..mesh.sizes().len()).map(|axis| mesh.name(axis)).collect();
        let has = if names.is_empty() { "no axes".into() } else { names.join(", ") };
        Error::parse(span, format!("the mesh lacks the axis `{name}`; it has {has}"))
    })
}

/// Prints the axes of a dim, in quotes of this kind.
pub(super) fn print(dim: &DimAxes, mesh: &Mesh, quote: char) -> String {
    let axis = |part: &AxisPart| {
        let name = format!("{quote}{}{quote}", mesh.name(part.axis));
        part.part.map_or(name.clone(), |(pre, size)| format!("{name}:({pre}){size}"))
    };
    let mut axes: Vec<String> = dim.parts.iter().map(axis).collect();
    axes.extend(dim.open.then(|| "?".to_owned()));
    format!("{{{}}}", axes.join(", "))
}

/// Returns the splits of dims by one ceil over the product of their axes, as XLA cuts.
pub(super) fn splits(dims: &[Vec<AxisPart>], mesh: &Mesh) -> Result<Vec<Split>, Error> {
    let cut = dims.iter().enumerate().filter(|(_, parts)| !parts.is_empty());
    let splits = cut.map(|(dim, parts)| {
        let mut split = Split { dim, parts: parts.clone(), cut: Cut::Chunk };
        split.cut = Cut::Padded { multiple: split.count(mesh)? };
        Ok(split)
    });
    splits.collect()
}

/// Returns lists of axes that may cut each dim, the most significant first: those of the digits of the lists, if these
/// are even, and those of the splits.
pub(super) fn tilings(sharded: &Sharded) -> Vec<Vec<Vec<AxisPart>>> {
    let rank = sharded.extents().len();
    let mut by_split = vec![Vec::new(); rank];
    for split in sharded.splits() {
        if let Some(parts) = by_split.get_mut(split.dim) {
            parts.extend(split.parts.iter().map(|part| plain(*part, sharded.mesh())));
        }
    }
    let by_list = sharded.digits().ok().map(|dims| {
        let parts = dims.iter().map(|digits| {
            let axes = digits.iter().rev().filter_map(|digit| match digit.of {
                Of::Axis { axis, weight } => {
                    Some(whole_or_part(sharded.mesh(), axis, weight, digit.size))
                }
                Of::Local { .. } => None,
            });
            axes.collect()
        });
        parts.collect()
    });
    let mut tilings: Vec<Vec<Vec<AxisPart>>> = by_list.into_iter().collect();
    if !tilings.contains(&by_split) {
        tilings.push(by_split);
    }
    tilings
}

/// Returns the part of an axis that is a digit of this weight and size.
fn whole_or_part(mesh: &Mesh, axis: usize, weight: u64, size: u64) -> AxisPart {
    let whole = mesh.sizes().get(axis).copied().unwrap_or(1);
    let pre = whole / (weight * size).max(1);
    plain(AxisPart { axis, part: Some((pre, size)) }, mesh)
}

/// Returns the part without numbers if it is the whole axis.
fn plain(part: AxisPart, mesh: &Mesh) -> AxisPart {
    match part.part {
        Some((1, size)) if mesh.sizes().get(part.axis) == Some(&size) => AxisPart::whole(part.axis),
        Some(_) | None => part,
    }
}

/// Returns the axes of a tiling, or an error if one is not whole.
pub(super) fn whole_axes(tiling: &[Vec<AxisPart>], mesh: &Mesh) -> Result<Vec<Vec<usize>>, Error> {
    let axis = |part: &AxisPart| match part.part {
        None => Ok(part.axis),
        Some((pre, size)) => {
            let name = mesh.name(part.axis);
            Err(Error::unsupported(format!("a part of an axis, `{name}:({pre}){size}`")))
        }
    };
    tiling.iter().map(|parts| parts.iter().map(axis).collect()).collect()
}

/// Makes a mesh with these names; if the names are the numbers of the axes, they are dropped.
pub(super) fn mesh(axes: &[(&str, u64)]) -> Result<Mesh, Error> {
    let numbered = axes.iter().enumerate().all(|(at, (name, _))| *name == at.to_string());
    match numbered {
        true => Mesh::new(&axes.iter().map(|(_, size)| *size).collect::<Vec<_>>()),
        false => Mesh::named(axes),
    }
}
