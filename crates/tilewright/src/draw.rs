//! Pictures of layouts, conversions and expressions: everything of `tilewright-draw`, and functions that draw the values of
//! this crate.
//!
//! ```
//! use tilewright::{Spec, draw::{Limits, conversion, subject}};
//! let zn = Spec::parse("f16[4,6] zN[M0=2,C0=3]")?.resolve(None, None)?;
//! let rows = Spec::parse("f16[4,6] row-major")?.resolve(None, None)?;
//! let scene = conversion(&subject(&rows), &subject(&zn), &Limits::default())?;
//! assert_eq!(scene.title, "f16[4,6] row-major → f16[4,6] zN[M0=2,C0=3]");
//! assert!(scene.to_svg().starts_with("<svg "));
//! # Ok::<(), tilewright::Error>(())
//! ```

pub use tilewright_draw::*;

use std::fmt;

use tilewright_notation::ResolvedLayout;
use tilewright_sharded::Shard;

#[cfg(feature = "banks")]
use crate::ask::BankConflicts;
use crate::{
    Error, InShards,
    eval::{self, Operation},
};

/// Returns a layout as the subject of a picture, with its SPEC as the name and its fill in the padding.
///
/// ```
/// use tilewright::{Spec, draw::{Limits, grid, subject}};
/// let padded = Spec::parse("{0,1}pad(3,5)fill(0)")?.resolve(Some(&[2, 3]), None)?;
/// let scene = grid(&subject(&padded), &Limits::default())?;
/// assert_eq!(scene.bands[0].panels[0].cell(2, 0).unwrap().text, "0");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn subject(named: &ResolvedLayout) -> Subject<'_> {
    Subject::new(named.layout()).named(named.to_spec()).filled(named.fill())
}

/// Draws which device holds which elements of an array in shards.
///
/// ```
/// use tilewright::{InShards, draw::{Limits, shards}};
/// let scene = shards(&InShards::parse("f32[4,6] @ mesh(dp=2,tp=2) [Replicate(), Shard(1)]")?, &Limits::default());
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!((&*panel.cell(0, 2).unwrap().text, &*panel.cell(0, 3).unwrap().text), ("0,2", "1,3"));
/// assert_eq!(scene.notes, ["hold the same: 0,2; 1,3"]);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn shards(array: &InShards, limits: &Limits) -> Scene {
    let sharded = &array.sharded;
    let all: Vec<Device> = sharded.shards().map(|shard| device(&shard)).collect();
    let mut scene = devices(array.to_string(), sharded.extents(), &all, limits);
    scene.notes.extend(sharded.shards().find_map(|shard| inner_padding(&shard)));
    scene
}

/// Returns the data of a shard that a picture needs.
fn device(shard: &Shard) -> Device {
    Device {
        name: shard.device().map_or("all".into(), |device| device.to_string()),
        place: shard.device().map_or(String::new(), |_| shard.place()),
        holds: shard.dims().iter().map(|list| list.as_slice().to_vec()).collect(),
        padding: shard.padding().to_vec(),
    }
}

/// Returns a note on padding that belongs to no index of the array, so that no cell shows it.
fn inner_padding(shard: &Shard) -> Option<String> {
    let (held, stored) = (shard.extents(), shard.stored());
    let shown = held.iter().zip(shard.padding()).map(|(held, [_, behind])| held + behind);
    let device = shard.device().filter(|_| !shown.eq(stored.iter().copied()))?;
    Some(format!("device {device} holds {held:?} and stores {stored:?} with padding"))
}

/// Draws the bank of each element of an array, and marks the elements whose threads wait for each other in the first access with
/// conflicts. If there is a fix, the banks after it are drawn beside.
///
/// ```
/// use tilewright::{ask::BankConflicts, banks::Banks, draw::{Limits, conflicts}, input::Array};
/// let tile = Array::default().layout("spec", "f32[32,32] row-major")?;
/// let report = BankConflicts::of(&tile, &["column"], None, &Banks::NVIDIA, true)?;
/// let scene = conflicts(&report, &Limits::default());
/// let cells = scene.panels().map(|panel| panel.cell(3, 0).unwrap().text.clone());
/// assert_eq!(cells.collect::<Vec<_>>(), ["0 T3", "3"]);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[cfg(feature = "banks")]
pub fn conflicts(report: &BankConflicts, limits: &Limits) -> Scene {
    let (layout, worst) = (&report.layout, report.worst());
    let words = worst.map_or(&[][..], |(_, clash)| &clash.words);
    let threads =
        words.iter().flat_map(|word| word.coords.iter().cloned().zip(word.threads.clone()));
    let waiting = Waiting {
        banks: worst.map_or(report.banks.count(), |(count, _)| count.banks),
        width: report.banks.width(),
        element_bits: layout.element_bits().unwrap_or(8),
        threads: threads.collect(),
    };
    let fixed = report.fixed();
    let after = fixed.as_ref().map(subject);
    bank_conflicts(&subject(layout), after.as_ref(), &waiting, limits)
}

/// Returns the access of a thread that reads `vector` elements of an array at once.
///
/// # Errors
/// The reason why banks cannot be counted for the array.
///
/// ```
/// use tilewright::{Spec, draw::{NoAccess, access}};
/// let of = |text| access(&Spec::parse(text).unwrap().resolve(None, None).unwrap(), 8);
/// assert_eq!(of("f16[8,64]{1,0}").unwrap().element_bytes, 2);
/// assert_eq!(of("(8,64):(64,1)"), Err(NoAccess::Unknown));
/// assert_eq!(of("s4[8,64]{1,0:E(4)}"), Err(NoAccess::Packed(4)));
/// ```
pub fn access(named: &ResolvedLayout, vector: u64) -> Result<Access, NoAccess> {
    match named.element_bits() {
        Some(bits) if bits % 8 == 0 => Ok(Access { element_bytes: u64::from(bits / 8), vector }),
        Some(bits) => Err(NoAccess::Packed(bits)),
        None => Err(NoAccess::Unknown),
    }
}

/// Reason why banks cannot be counted for an array.
///
/// ```
/// use tilewright::draw::NoAccess;
/// assert!(NoAccess::Packed(4).to_string().contains("4 bits"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAccess {
    /// The width of its elements is not known.
    Unknown,
    /// The elements have this many bits, which are not whole bytes.
    Packed(u32),
}

impl fmt::Display for NoAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAccess::Unknown => f.write_str("banks depend on the width of an element"),
            NoAccess::Packed(bits) => {
                write!(f, "elements of {bits} bits; banks are counted for whole bytes")
            }
        }
    }
}

impl From<NoAccess> for Error {
    fn from(refusal: NoAccess) -> Error {
        match refusal {
            NoAccess::Unknown => {
                Error::new("needs-dtype", refusal.to_string()).with(&[crate::Remedy::Dtype])
            }
            NoAccess::Packed(_) => Error::unsupported(refusal.to_string()),
        }
    }
}

/// Draws an expression whose picture shows more than its value as an array would: operands beside the result of a composition, a
/// division or a product of two layouts; the owners of the tile of `make_layout_tv`; the holder of each element of a linear
/// layout; the coordinates of strides such as `1@0`. `None` for every other expression.
///
/// # Errors
/// As [`evaluate`](eval::evaluate), and an error for a value that cannot be drawn.
///
/// ```
/// use tilewright::draw::{Limits, expression};
/// let draw = |text| expression(text, &Limits::default());
/// let scene = draw("(6,2):(8,2) o (4,3):(3,1)")?.unwrap();
/// let details: Vec<&str> = scene.panels().map(|panel| panel.detail.as_str()).collect();
/// assert_eq!(details, ["(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"]);
/// let scene = draw("make_layout_tv((4,8):(8,1), (1,2):(2,1))")?.unwrap();
/// assert_eq!(scene.panels().next().unwrap().columns.len(), 16);
/// // A tiler is drawn as the indices of its first tile.
/// let scene = draw("zipped_divide((6,8):(8,1), <3,4>)")?.unwrap();
/// assert_eq!(scene.bands[0].panels[1].cell(1, 2).unwrap().text, "13");
/// let scene = draw("{lane=[[0,1],[1,0]]} -> (row:2,column:2)")?.unwrap();
/// assert_eq!(scene.bands[0].panels[0].cell(1, 0).unwrap().text, "T2");
/// assert_eq!(draw("make_identity_layout((2,3))")?.unwrap().bands[0].panels[0].cell(1, 2).unwrap().text, "1,2");
/// assert!(draw("coalesce((2,2):(1,2))")?.is_none());
/// assert_eq!(draw("(6,2):(1,7) o (3,2):(2,3)").unwrap_err().kind(), "no-layout");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn expression(text: &str, limits: &Limits) -> Result<Option<Scene>, Error> {
    let scene = match eval::operation(text)? {
        None => match map(&eval::evaluate(text)?, limits) {
            Some(scene) => scene,
            None => return Ok(None),
        },
        Some(Operation::Composed { sign, a, b, result }) => {
            step(sign, &a, &b, &result, Relation::Through, limits)
        }
        Some(Operation::Copied { sign, a, b, result }) => {
            step(sign, &a, &b, &result, Relation::Copies, limits)
        }
        Some(Operation::Dealt { tv, tile }) => owners(&tv, &tile, limits),
    };
    let scene = scene.map(|scene| Scene { title: text.trim().to_owned(), ..scene });
    scene.map(Some).map_err(|error| eval::whole(text, &error))
}

/// Returns whether a text is an expression of a map that [`expression`] draws and that is not a layout of an array: a linear
/// layout, or one with coordinates for values.
///
/// ```
/// use tilewright::draw::is_map;
/// assert!(is_map("make_identity_layout((2,3))") && is_map("{lane=[1,2],warp=[4]} -> (row:8)"));
/// assert!(!is_map("(2,3):(3,1)") && !is_map("size(4:1)"));
/// ```
pub fn is_map(text: &str) -> bool {
    eval::evaluate(text)
        .is_ok_and(|value| value.as_linear().is_some() || value.as_basis().is_some())
}

/// Draws a map that is not a layout of an array.
fn map(value: &eval::Value, limits: &Limits) -> Option<Result<Scene, tilewright_core::Error>> {
    let linear = value.as_linear().map(|map| distribution(map, limits));
    linear.or_else(|| value.as_basis().map(|map| coordinates(map, limits)))
}
