//! Loaders learned from coded checkpoints: where each element of their results comes from.
//!
//! The values are those of the crate `tilewright-learn`. Here they get what needs notations and texts: the array layout of a
//! result with its name, the report that people read, and plans in files.
//!
//! ```
//! use tilewright::learn::{Sources, array_layout, describe};
//! let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
//! let learned = describe(&[1, 4, 2, 5, 3, 6], &sources)?;
//! let layout = array_layout(&learned, None).unwrap();
//! assert_eq!(layout.stored().layout().layout().to_string(), "(2,3):(1,2)");
//! # Ok::<(), tilewright::Error>(())
//! ```

#[cfg(feature = "files")]
mod assembly;
#[cfg(feature = "files")]
mod check;
#[cfg(feature = "files")]
mod convert;
#[cfg(feature = "files")]
mod dropped;
#[cfg(feature = "files")]
mod inverse;
mod plan;
#[cfg(feature = "files")]
mod prediction;
#[cfg(feature = "files")]
mod probe;
#[cfg(feature = "files")]
mod recipe;
mod report;
#[cfg(feature = "files")]
mod scatter;
mod sizes;

use tilewright_core::{Dtype, Fill};
use tilewright_notation::{ArrayLayout, ResolvedLayout};

#[cfg(feature = "files")]
pub use assembly::{assemblies, needed_memory, not_carried, ranks};
#[cfg(feature = "files")]
pub use check::{RankMemory, Unlike, check};
#[cfg(feature = "files")]
pub use convert::{pack, unpack};
#[cfg(feature = "files")]
pub use dropped::Dropped;
#[cfg(feature = "files")]
pub use inverse::inverse_assembly;
pub use plan::{from_bytes, from_json, to_json, to_toml};
#[cfg(feature = "files")]
pub use prediction::{config_sizes, confirm, predict_for};
#[cfg(feature = "files")]
pub use probe::Probe;
#[cfg(feature = "files")]
pub use recipe::recipe;
pub use report::{Report, differs};
#[cfg(feature = "files")]
pub use scatter::{LiveArrays, scatter};
pub use sizes::{NamedSizes, Predicted, predict, sized_plan};
pub use tilewright_learn::*;

/// Returns the array layout of a result that holds one source, with the source's extents; `None` if there is none of shape and
/// strides. [`notation::recognise`](crate::notation::recognise) has its names.
///
/// ```
/// use tilewright::learn::{Sources, array_layout, describe};
/// use tilewright::notation::recognise;
/// let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
/// let learned = describe(&[1, 4, 2, 5, 3, 6], &sources)?;
/// let layout = array_layout(&learned, None).unwrap();
/// assert!(recognise(layout.stored()).iter().any(|found| found.name == "COL"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn array_layout(description: &Description, dtype: Option<Dtype>) -> Option<ArrayLayout> {
    let layout = description.layout()?;
    let fill = match layout.padding() {
        0 => Fill::Unspecified,
        _ => Fill::Zero,
    };
    Some(ArrayLayout::of(&ResolvedLayout::new("", layout, dtype, None, fill)))
}
