//! Sharded arrays: the elements of an array that each device of a mesh holds.
//!
//! [`Sharded`] is the value: the extents of an array, a [`Mesh`] of devices, and [`Split`]s, which cut dims over axes
//! of the mesh, in an order. Its meaning is defined by exact lists: for each position of the mesh and each dim, the
//! [`Intervals`] of indices on the device there, in local order. Every framework's rule of cutting is a way to make
//! these lists, and all other results are computed from them: [`Sharded::as_layout`] is the one layout of all shards,
//! if one exists, and [`Pieces`] are boxes, whose cover law states that every element is held exactly once, apart from
//! replicas.
//!
//! A text names an array and its sharding, `ARRAY @ SHARDING`, in any [`dialect`](mod@dialect):
//!
//! ```
//! use tilewright_sharded::Sharded;
//! let rows = Sharded::parse("f32[8,6] @ mesh(dp=2,tp=2) P(\"dp\",\"tp\")")?;
//! let shard = rows.shard(3)?;
//! assert_eq!(shard.to_string(), "3 (dp=1,tp=1)  [4,8) × [3,6)");
//! // One layout describes all shards: device by device, each with its own rows.
//! assert_eq!(rows.as_layout()?.layout().to_string(), "((4,2),(3,2)):((3,24),(1,12))");
//!
//! // 13 rows over 4 devices: the last holds 1 row and the others 4, so no layout describes them.
//! let uneven = Sharded::parse("f32[13] @ mesh(4) [Shard(0)]")?;
//! assert_eq!(uneven.shard(3)?.dims()[0].to_string(), "[12,13)");
//! assert!(uneven.as_layout().unwrap_err().to_string().contains("position 3"));
//! # Ok::<(), tilewright_sharded::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod dialect;
mod mesh;
mod nested;
mod pieces;
mod sharded;
mod split;

pub use crate::{
    mesh::{MAX_AXES, MAX_DEVICES, MAX_INTERVALS, MAX_TEXT, Witness},
    sharded::{Difference, Part, Shard},
    split::{HeadOrder, Heads},
};
pub use dialect::{Text, is_sharded};
pub use mesh::Mesh;
pub use pieces::{Cover, Piece, Pieces, boxes_of_range};
pub use sharded::Sharded;
pub use split::{AxisPart, Cut, Intervals, Split};
pub use tilewright_error::Error;
