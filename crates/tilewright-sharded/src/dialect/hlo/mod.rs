//! XLA's `HloSharding` as text: the tile of an array on each device.
//!
//! ```text
//! sharding   = "{" body ["metadata={" … "}"] [("shard_as" | "shard_like") INT] "}"
//!            | "{" sharding {"," sharding} "}"                                      a tuple: one for each leaf
//! body       = "replicated" | "manual" | "unknown" | "unreduced" | "maximal device=" INT
//!            | "devices=[" INT {"," INT} "]" assignment ["last_tile_dim_replicate" | "last_tile_dims={" kind {"," kind} "}"]
//!            | "mesh[" [NAME "=" INT {"," NAME "=" INT}] "]" ["," "device_ids=(" ids ")"] "," named
//!            | "maximal_mesh[device_id=" INT "]"
//! assignment = INT {"," INT} | "<=[" INT {"," INT} "]" ["T(" INT {"," INT} ")"]     a list, or an iota transposed
//! kind       = "replicated" | "manual" | "unreduced"
//! named      = "replicated" | "manual" | "unreduced" | dims {"," kind "=" axes}     dims as in `axes.rs`, names in '
//! ids        = INT {"," INT} | "[" INT {"," INT} "]" ["T(" INT {"," INT} ")"]
//! ```
//!
//! The list, or the iota, is reshaped to the tile dims; tile dims after those of the array are the kinds. With c =
//! ceil(n / tile), the device at tile w holds [w·c, (w+1)·c) of a dim, cut off at n, and stores c. The numbers are
//! devices, or positions of the mesh if one precedes the text.
//!
//! This reader refuses some texts that XLA's own reader accepts: a device that occurs twice, a list that is too short
//! (XLA fills in zeros), tile dims whose product differs from the iota's, `T(0,0)`, a tile of 0, words after a body.
//! Open dims, `?`, are read as closed. `manual`, `unreduced` and `unknown` are read and printed, but do not define the
//! values of an array.
//!
//! Source: `xla/hlo/ir/hlo_sharding.cc`, `xla/hlo/ir/tile_assignment.h`, `xla/hlo/parser/hlo_parser.cc`.
//!
//! A tile assignment whose numbers are positions of a mesh becomes axes that cut dims. If an iota numbers the tiles,
//! the index of a position along a dim is a number whose digits are those of axes:
//!
//! ```text
//! index(c) = Σ (c_a / place mod size) · weight      over digits of axes, each with its place, size and weight
//! ```
//!
//! The digits are found from the indices, and every position is compared with them. Other assignments, such as a list
//! in an irregular order, become lists for each position.

mod read;

use std::fmt;

use tilewright_core::{Dtype, sort_short};

use super::{
    Dialect,
    axes::{self, tilings},
};
use crate::{
    Error,
    dialect::axes::DimAxes,
    mesh::{Mesh, Scanner, comma},
    sharded::Sharded,
    split::{AxisPart, Cut, Intervals, Split, check_apart},
};
use read::{Assignment, Tiled, iota};

pub(super) const DIALECT: Dialect = Dialect {
    name: "hlo",
    title: "HloSharding of XLA",
    claims: |text| text.starts_with('{'),
    read: |scanner, asked| {
        let sharding = read::sharding(scanner, 0)?;
        sharding.sharded(asked.extents, asked.dtype, asked.mesh)
    },
    say,
};

/// An `HloSharding`, which does not state an array's extents. `Display` is XLA's canonical text.
///
/// ```
/// use tilewright_sharded::dialect::hlo::HloSharding;
/// let canonical = |text: &str| HloSharding::parse(text).unwrap().to_string();
/// assert_eq!(canonical("{devices=[2,2]<=[4,1]T(1,0)}"), "{devices=[2,2]<=[4]}");
/// let swapped = "{devices=[2,1,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}";
/// assert_eq!(canonical("{devices=[2,1,2,2]<=[8] last_tile_dims={replicated, manual}}"), swapped);
/// assert!(HloSharding::parse("{devices=[2,4]0,1,2}").is_err());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HloSharding {
    body: Body,
    /// The text of `metadata={…}`.
    metadata: Option<String>,
    /// `shard_as 1` or `shard_like 1`.
    group: Option<(&'static str, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    Word(TileKind),
    Maximal(u64),
    Tiled(Tiled),
    Named(Named),
    Tuple(Vec<HloSharding>),
}

/// The contents of devices without their own tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TileKind {
    Manual,
    Replicated,
    Unreduced,
    Unknown,
}

impl TileKind {
    const ALL: [(TileKind, &'static str); 4] = [
        (TileKind::Manual, "manual"),
        (TileKind::Replicated, "replicated"),
        (TileKind::Unreduced, "unreduced"),
        (TileKind::Unknown, "unknown"),
    ];

    fn word(self) -> &'static str {
        TileKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// Returns the error that devices of this kind hold no known values.
    fn refused(self) -> Error {
        Error::unsupported(match self {
            TileKind::Replicated => "no tile",
            TileKind::Manual => {
                "`manual`: the program decides what devices hold; the text does not record it"
            }
            TileKind::Unreduced => {
                "`unreduced`: each device holds a summand, so no device stores the values"
            }
            TileKind::Unknown => "`unknown`: the text does not say what devices hold",
        })
    }
}

impl HloSharding {
    /// Reads a text.
    ///
    /// # Errors
    /// `parse` with the bytes at fault, `illegal` for devices that occur twice and similar faults.
    ///
    /// ```
    /// use tilewright_sharded::dialect::hlo::HloSharding;
    /// let error = HloSharding::parse("{devices=[2,2]<=[2,2]T(0,0)}").unwrap_err();
    /// assert_eq!(error.span(), Some((23, 26)));
    /// ```
    pub fn parse(text: &str) -> Result<HloSharding, Error> {
        let mut scanner = Scanner::new(text);
        let sharding = read::sharding(&mut scanner, 0)?;
        scanner.end("the sharding")?;
        Ok(sharding)
    }

    /// Returns the shardings of a tuple's leaves; empty for the sharding of one array.
    ///
    /// ```
    /// use tilewright_sharded::dialect::hlo::HloSharding;
    /// let tuple = HloSharding::parse("{{devices=[2,4]<=[8]}, {replicated}}").unwrap();
    /// assert_eq!(tuple.leaves()[1].to_string(), "{replicated}");
    /// ```
    pub fn leaves(&self) -> &[HloSharding] {
        match &self.body {
            Body::Tuple(leaves) => leaves,
            Body::Word(_) | Body::Maximal(_) | Body::Tiled(_) | Body::Named(_) => &[],
        }
    }

    /// Returns the sharding with a tile assignment in place of named axes.
    ///
    /// ```
    /// use tilewright_sharded::dialect::hlo::HloSharding;
    /// let named = HloSharding::parse("{mesh['a'=2,'b'=4], [{'b':(2)2}, {'a'}]}")?;
    /// let tiled = "{devices=[2,2,2]<=[4,2]T(1,0) last_tile_dim_replicate}";
    /// assert_eq!(named.tiled()?.to_string(), tiled);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` for manual or unreduced axes in addition to those of dims.
    pub fn tiled(&self) -> Result<HloSharding, Error> {
        let Body::Named(named) = &self.body else { return Ok(self.clone()) };
        let body = match &named.body {
            NamedBody::Word(kind) => Body::Word(*kind),
            NamedBody::Dims { dims, others } => {
                Other::check(others)?;
                let parts: Vec<Vec<AxisPart>> = dims.iter().map(|dim| dim.parts.clone()).collect();
                tiling(&named.mesh, &parts)?
            }
        };
        Ok(HloSharding { body, ..self.clone() })
    }

    /// Returns an array with these extents in this sharding, whose numbers are devices, or positions of `mesh`.
    ///
    /// # Errors
    /// `mismatch` if the number of tile dims is not that of the array; `unsupported` for a tuple, and for a sharding
    /// that does not define values of the array.
    ///
    /// ```
    /// use tilewright_sharded::dialect::hlo::HloSharding;
    /// let tiled = HloSharding::parse("{devices=[2,1]1,0}")?;
    /// let sharded = tiled.sharded(&[4, 6], None, None)?;
    /// assert_eq!(sharded.shard(0)?.to_string(), "1 (0=0,1=0)  [0,2) × [0,6)");
    /// assert_eq!(tiled.sharded(&[4], None, None).unwrap_err().kind(), "mismatch");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn sharded(
        &self,
        extents: &[u64],
        dtype: Option<Dtype>,
        mesh: Option<Mesh>,
    ) -> Result<Sharded, Error> {
        let whole = |mesh| Sharded::new(extents, dtype, mesh, Vec::new());
        match (&self.body, mesh) {
            (Body::Tuple(leaves), _) => {
                let said = format!("a tuple of {} shardings does not fit one array", leaves.len());
                Err(Error::unsupported(said))
            }
            (Body::Word(TileKind::Replicated), mesh) => whole(mesh.unwrap_or_else(Mesh::any)),
            (Body::Word(kind), _) => Err(kind.refused()),
            (Body::Maximal(device), None) => whole(Mesh::new(&[])?.with_order(&[*device])?),
            (Body::Maximal(_) | Body::Named(_), Some(_)) => {
                Err(Error::mismatch("the sharding names its devices; leave out `mesh(…)`"))
            }
            (Body::Named(named), None) => named.sharded(extents, dtype),
            (Body::Tiled(tiled), mesh) => {
                tiled.check_rank(extents.len())?;
                tiled.check_held()?;
                match mesh {
                    None => alone(tiled, extents, dtype),
                    Some(mesh) => over(tiled, extents, dtype, mesh),
                }
            }
        }
    }
}

/// Converts a tile assignment whose numbers are devices: the mesh is that of the tiles.
fn alone(tiled: &Tiled, extents: &[u64], dtype: Option<Dtype>) -> Result<Sharded, Error> {
    let mesh = Mesh::new(&tiled.tile)?.with_order(&tiled.devices.numbers())?;
    let dims: Vec<Vec<AxisPart>> =
        (0..extents.len()).map(|dim| vec![AxisPart::whole(dim)]).collect();
    let splits = axes::splits(&dims, &mesh)?;
    let cut = |split: &Split| mesh.sizes().get(split.dim).is_some_and(|size| *size > 1);
    let splits = splits.into_iter().filter(cut).collect();
    Sharded::new(extents, dtype, mesh, splits)
}

/// Converts a tile assignment whose numbers are positions of a mesh: to axes of it if they number the tiles, else to a
/// list for each position.
fn over(
    tiled: &Tiled,
    extents: &[u64],
    dtype: Option<Dtype>,
    mesh: Mesh,
) -> Result<Sharded, Error> {
    let numbers = tiled.devices.numbers();
    let mut tiles = vec![None; numbers.len()];
    for (tile, number) in numbers.iter().enumerate() {
        match usize::try_from(*number).ok().and_then(|at| tiles.get_mut(at)) {
            Some(place) if mesh.count() == numbers.len() as u64 => *place = Some(tile as u64),
            Some(_) | None => {
                let said = format!("{} tiles do not fit a mesh of {}", numbers.len(), mesh.count());
                return Err(Error::mismatch(format!("{said}; the numbers must be its positions")));
            }
        }
    }
    let grid = Mesh::new(&tiled.tile)?;
    let coords: Vec<Vec<u64>> = tiles.iter().map(|tile| grid.coord(tile.unwrap_or(0))).collect();
    let mut splits = Vec::new();
    for (dim, extent) in extents.iter().enumerate() {
        let count = tiled.tile.get(dim).copied().unwrap_or(1);
        let index: Vec<u64> =
            coords.iter().map(|coord| coord.get(dim).copied().unwrap_or(0)).collect();
        let split = match parts(&mesh, count, &index) {
            Some(parts) => Split { dim, parts, cut: Cut::Padded { multiple: count } },
            None => {
                let (whole, each) = (Intervals::whole(*extent), extent.div_ceil(count));
                let lists = index.iter().map(|index| whole.block(each, *index)).collect();
                let parts = (0..mesh.sizes().len()).map(AxisPart::whole).collect();
                Split { dim, parts, cut: Cut::Listed(lists) }
            }
        };
        splits.extend((count > 1).then_some(split));
    }
    Sharded::new(extents, dtype, mesh, splits)
}

/// Returns the tile assignment of dims that are cut over these parts of a mesh, whose numbers are its devices.
fn tiling(mesh: &Mesh, dims: &[Vec<AxisPart>]) -> Result<Body, Error> {
    check_apart(dims.iter().flatten(), mesh)?;
    // The digits of all axes, the most significant first: those that cut, and the remaining ones between them.
    let (mut sizes, mut used) = (Vec::new(), vec![Vec::new(); dims.len()]);
    for (axis, size) in mesh.sizes().iter().enumerate() {
        let mut parts = Vec::new();
        for (dim, own) in dims.iter().enumerate() {
            for (rank, part) in own.iter().enumerate().filter(|(_, part)| part.axis == axis) {
                let (size, weight) = part.digit(mesh)?;
                parts.push((weight * size, weight, dim, rank));
            }
        }
        sort_short(&mut parts, |part| std::cmp::Reverse(*part));
        let mut above = *size;
        for (end, weight, dim, rank) in parts {
            sizes.push(above / end);
            used[dim].push((rank, sizes.len()));
            sizes.push(end / weight);
            above = weight;
        }
        sizes.push(above);
    }
    let mut order: Vec<usize> = Vec::new();
    for ranks in &mut used {
        sort_short(ranks, |(rank, _)| *rank);
        order.extend(ranks.iter().map(|(_, at)| *at));
    }
    let cut = order.len();
    order.extend((0..sizes.len()).filter(|at| !order[..cut].contains(at)).collect::<Vec<_>>());
    let product = |at: &[usize]| at.iter().filter_map(|at| sizes.get(*at)).product::<u64>();
    let mut tile: Vec<u64> = used
        .iter()
        .map(|ranks| product(&ranks.iter().map(|(_, at)| *at).collect::<Vec<_>>()))
        .collect();
    let rest = product(&order[cut..]);
    tile.push(rest);
    let positions = iota(&sizes, &order);
    let devices = positions.iter().map(|at| mesh.device(*at).unwrap_or(*at)).collect();
    let tiled = Tiled { tile, devices: Assignment::of(devices), kinds: vec![TileKind::Replicated] };
    Ok(match tiled.canonical() {
        // After sorting equal holders, a list may have become an iota.
        Body::Tiled(Tiled { tile, devices, kinds }) => {
            Body::Tiled(Tiled { tile, devices: Assignment::of(devices.numbers()), kinds })
        }
        other @ (Body::Word(_) | Body::Maximal(_) | Body::Named(_) | Body::Tuple(_)) => other,
    })
}

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let mesh = sharded.mesh();
    if let (0, Some([device])) = (mesh.sizes().len(), mesh.order()) {
        return Ok(vec![format!("{{maximal device={device}}}")]);
    }
    // If the mesh before a text lists its devices, the numbers of the text are positions.
    let before = mesh.is_named() && mesh.order().is_some();
    let numbered = if before { mesh.in_order() } else { mesh.clone() };
    let mut texts = Vec::new();
    for dims in tilings(sharded) {
        let Ok(body) = tiling(&numbered, &dims) else { continue };
        let replicated = body == Body::Word(TileKind::Replicated) && !mesh.is_any();
        let text = HloSharding { body, metadata: None, group: None };
        texts.push(if before || replicated { format!("{mesh} {text}") } else { text.to_string() });
    }
    Ok(texts)
}

impl fmt::Display for HloSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        match &self.body {
            Body::Word(kind) => f.write_str(kind.word())?,
            Body::Maximal(device) => write!(f, "maximal device={device}")?,
            Body::Tiled(tiled) => write!(f, "{tiled}")?,
            Body::Named(named) => write!(f, "{named}")?,
            Body::Tuple(leaves) => {
                let leaves: Vec<String> = leaves.iter().map(HloSharding::to_string).collect();
                f.write_str(&leaves.join(", "))?;
            }
        }
        if let Some(metadata) = &self.metadata {
            write!(f, " metadata={metadata}")?;
        }
        if let Some((word, number)) = self.group {
            write!(f, " {word} {number}")?;
        }
        f.write_str("}")
    }
}

/// The form with named axes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    mesh: Mesh,
    body: NamedBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NamedBody {
    Word(TileKind),
    Dims { dims: Vec<DimAxes>, others: Vec<Other> },
}

/// Axes that cut no dim: their kind, the reduction in the text, and the axes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Other {
    kind: TileKind,
    reduction: String,
    axes: DimAxes,
}

impl Other {
    /// Returns an error if some of these axes hold summands, or values that only the program determines.
    fn check(others: &[Other]) -> Result<(), Error> {
        match others.iter().find(|other| other.kind != TileKind::Replicated) {
            Some(other) => Err(other.kind.refused()),
            None => Ok(()),
        }
    }
}

impl Named {
    fn sharded(&self, extents: &[u64], dtype: Option<Dtype>) -> Result<Sharded, Error> {
        let (dims, others) = match &self.body {
            NamedBody::Word(TileKind::Replicated) => {
                return Sharded::new(extents, dtype, self.mesh.clone(), Vec::new());
            }
            NamedBody::Word(kind) => return Err(kind.refused()),
            NamedBody::Dims { dims, others } => (dims, others),
        };
        Other::check(others)?;
        if dims.len() != extents.len() {
            let (given, rank) = (dims.len(), extents.len());
            let said = format!("axes of {given} dims for an array of {rank} dims");
            return Err(Error::mismatch(said));
        }
        let parts: Vec<Vec<AxisPart>> = dims.iter().map(|dim| dim.parts.clone()).collect();
        let splits = axes::splits(&parts, &self.mesh)?;
        Sharded::new(extents, dtype, self.mesh.clone(), splits)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.mesh.sizes().iter().enumerate();
        let axes = comma(sizes.map(|(axis, size)| format!("'{}'={size}", self.mesh.name(axis))));
        if let (true, Some([device])) = (axes.is_empty(), self.mesh.order()) {
            return write!(f, "maximal_mesh[device_id={device}]");
        }
        write!(f, "mesh[{axes}]")?;
        if let Some(order) = self.mesh.order() {
            write!(f, ", device_ids=({})", comma(order))?;
        }
        match &self.body {
            NamedBody::Word(kind) => write!(f, ", {}", kind.word()),
            NamedBody::Dims { dims, others } => {
                let print = |dim: &DimAxes| axes::print(dim, &self.mesh, '\'');
                let dims: Vec<String> = dims.iter().map(print).collect();
                write!(f, ", [{}]", dims.join(", "))?;
                let mut others = others.iter();
                others.try_for_each(|Other { kind, reduction, axes }| {
                    write!(f, ", {}={reduction}{}", kind.word(), print(axes))
                })
            }
        }
    }
}

/// A digit of an axis with its weight in the index.
struct WeightedDigit {
    weight: u64,
    size: u64,
    part: AxisPart,
}

/// Returns the parts of axes that give each position its index among `count`, the most significant first; `None` if no
/// digits do.
fn parts(mesh: &Mesh, count: u64, index: &[u64]) -> Option<Vec<AxisPart>> {
    let at = |position: u64| index.get(usize::try_from(position).ok()?).copied();
    if at(0)? != 0 {
        return None;
    }
    let (mut digits, mut stride) = (Vec::new(), mesh.count());
    for (axis, size) in mesh.sizes().iter().enumerate() {
        stride /= size;
        let along: Option<Vec<u64>> = (0..*size).map(|x| at(x * stride)).collect();
        digits.extend(digits_of(axis, &along?)?);
    }
    sort_short(&mut digits, |digit| std::cmp::Reverse(digit.weight));
    let whole = digits.iter().rev().try_fold(1u64, |product, digit| {
        (digit.weight == product).then(|| product.checked_mul(digit.size))?
    });
    let parts: Vec<AxisPart> = digits.into_iter().map(|digit| digit.part).collect();
    let split = Split { dim: 0, parts, cut: Cut::Chunk };
    let said = (0..mesh.count())
        .all(|position| at(position) == Some(split.index(mesh, &mesh.coord(position))));
    (whole == Some(count) && said).then_some(split.parts)
}

/// Returns the digits of an axis in the index along it, from the least significant of the axis up; `None` if the index
/// does not consist of digits.
fn digits_of(axis: usize, along: &[u64]) -> Option<Vec<WeightedDigit>> {
    let (mut place, mut digits) = (1, Vec::new());
    while place < along.len() {
        let weight = *along.get(place)?;
        let steps = |n: &usize| {
            let even = along.len().is_multiple_of(place * n);
            even && (1..*n).all(|k| along.get(k * place) == Some(&(weight * k as u64)))
        };
        let size = (2..=along.len() / place).rev().find(steps)?;
        let whole = size == along.len();
        let part = (!whole).then(|| ((along.len() / (place * size)) as u64, size as u64));
        let digit = WeightedDigit { weight, size: size as u64, part: AxisPart { axis, part } };
        digits.extend((weight > 0).then_some(digit));
        place *= size;
    }
    Some(digits)
}
