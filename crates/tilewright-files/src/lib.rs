//! Rewrites weight files in another layout, with bounded memory.
//!
//! | want | call |
//! |---|---|
//! | the tensors of a file | [`open`], [`Input::tensors`] |
//! | every tensor of a file or a folder in another layout | [`Request`], [`Conversion::prepare`], [`Conversion::run`] |
//! | a preview of such a conversion | [`Conversion::jobs`] |
//! | a check of a result | [`verify`], without its original [`verify_recorded`], by a recipe [`verify_recipe`] |
//! | a fingerprint of the data that no layout changes | [`Collection::fingerprints`] |
//! | a comparison of the arrays of two files or folders | [`same_data`](fn@same_data), [`verify_data`] |
//! | a result assembled from tensors of a source by a recipe | [`Assembling`] |
//! | arrays in memory, written to a file in any layouts | [`Writer`] |
//! | a tensor, or a box of one, in memory, in any layout | [`Input::reader`], [`Reader::read_into`] |
//! | the bytes themselves | [`Input::bytes`], [`bytes`](fn@bytes) |
//! | files in object stores and hubs | a path such as `s3://bucket/key` or `hf://owner/name`, with the feature `remote` |
//!
//! The crate reads and writes safetensors files, checkpoints of several such files by their index, GGUF, NumPy's `.npy` and
//! `.npz`, and bytes without a header. It reads the `.pt` of `torch.save`. Formats of named tensors record the layouts in their metadata, so a conversion back gives
//! the original bit for bit:
//!
//! ```
//! use tilewright_files::{Conversion, Reading, Request, open};
//! use tilewright_notation::Spec;
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
//! let folder = tempfile::tempdir().unwrap();
//! let (there, back) = (folder.path().join("there.safetensors"), folder.path().join("back.safetensors"));
//!
//! let input = open(path, &Reading::default()).unwrap();
//! let request = Request::new().to(Spec::parse("col-major").unwrap());
//! Conversion::prepare(&input, &there, request).unwrap().run(&()).unwrap();
//!
//! let input = open(&there, &Reading::default()).unwrap();
//! let request = Request::new().to(Spec::parse("row-major").unwrap());
//! Conversion::prepare(&input, &back, request).unwrap().run(&()).unwrap();
//! assert_eq!(std::fs::read(path).unwrap(), std::fs::read(&back).unwrap());
//! ```
//!
//! Files are read at positions, never mapped, so memory stays counted and a file that shrinks is an error. Output is written to a
//! temporary file beside its destination, which is synced and renamed: the output is whole or absent.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod assemble;
mod commit;
mod container;
mod convert;
mod error;
mod layout;
mod open;
mod read;
mod verify;

#[doc(hidden)]
pub use commit::disk;

/// Functions for writing files that the crates of this workspace share. It is not a public interface.
#[doc(hidden)]
pub mod inner {
    pub use crate::{
        assemble::given::{CONFIG, file_in},
        assemble::planned::{Models, PlannedFile, PlannedTensor, planned},
        commit::{
            claim::{Busy, Claim, Claimant},
            new_folder::{NewFolder, check_apart, is_empty_folder, remove_filled},
            space::check as check_space,
            store,
            temporary::write_new,
        },
        container::{
            DATA_KEY, LAYOUT_KEY,
            safetensors::write::header as safetensors_header,
            shards::{ShardBox, ShardLayout, ShardedTensor, collection as of_shards},
        },
        open::{
            folder::Companions,
            foreign::check_folder,
            globs::Pattern,
            joined::joined,
            json::json,
            readable::{Readable, is_file, is_folder, list_folder},
            remote::{check_local, check_scheme, is_url},
        },
    };
    pub use tilewright_recipe::RECIPE_KEY;
}

/// Settings for files in object stores, on web servers and in hubs. A path such as `s3://bucket/model.safetensors` is read and
/// written as a file is.
#[cfg(feature = "remote")]
#[cfg_attr(docsrs, doc(cfg(feature = "remote")))]
pub mod remote {
    pub use tilewright_remote::{
        Location, Patience, cancel_by, patience, set_patience, set_variable, unaborted,
    };
}

pub use assemble::{Assembling, Packaging, Row, recorded::verify_recipe};
pub use commit::destination::write;
pub use convert::{
    conversion::Conversion,
    job::{Action, Job},
    request::{DEFAULT_MEMORY, Request},
    run::Report,
    writer::Writer,
};
pub use error::Error;
pub use open::{
    collection::Collection,
    input::{Input, bytes},
    lists::of_input::FileLists,
    open, open_file, open_stream, open_watched,
    place::{has_ending, has_prefix, is_stream},
    reading::Reading,
    tensor::{Piece, Tensor},
};
pub use read::Reader;
pub use tilewright_fingerprint::{Fingerprint, Key};
pub use tilewright_transfer::Watch;
pub use verify::{
    by_record::{Checked, verify_recorded},
    difference::{Alike, Apart, Difference, Divergence, Verdict},
    fingerprint::{Fingerprints, Printed},
    same_data::{same_data, verify_data},
    verify,
};
