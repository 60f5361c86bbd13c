//! Opens files that hold one array without a name: shared by `.npy` and raw bytes.

use std::collections::HashMap;

use tilewright_core::ByteOrder;

use super::{
    format::{Container, Member, Opened},
    metadata_notes::{self, LAYOUT_KEY, Noted},
};
pub(super) use crate::layout::note_file::ARRAY as NAME;
use crate::{
    Error, Tensor, error,
    layout::{
        element_layout::ElementLayout,
        note_file::{self, Texts},
        record::Recorded,
    },
    open::{
        lists::in_files::ListsInFiles,
        reading::{AsStated, Reading, reread, reread_noted},
        source::Source,
        tensor::Piece,
    },
};

/// The possible results for a file of one array, for messages.
pub(super) const BECOMES: &str = ".npy, raw:PATH or a .safetensors file";

/// The array as the file's header describes it.
pub(super) struct Stored {
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    pub(super) at: u64,
    pub(super) len: u64,
}

impl Stored {
    /// Returns the description of a file without a header: all of its bytes.
    pub(super) fn bytes(len: u64) -> Stored {
        Stored { dtype: String::new(), shape: vec![len], at: 0, len }
    }
}

/// Reads the note beside a file of one array. The array has `len` bytes, `is_stored` checks that the file stores it in that form,
/// and `order` is the byte order of the file's elements.
pub(super) fn noted(
    source: &Source,
    texts: &Texts,
    (len, order): (u64, ByteOrder),
    is_stored: impl FnOnce(&ElementLayout) -> Result<(), String>,
) -> Result<Option<Noted>, Error> {
    let known: HashMap<&str, &str> =
        texts.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    let Some(note) = metadata_notes::of(&known, NAME) else { return Ok(None) };
    let noted = note.read(len, Some(order), is_stored).map_err(|said| {
        let (path, key) = (note_file::path_of(source.path()), format!("{LAYOUT_KEY}{NAME}"));
        let said = format!("the note {}: {key:?}{said}; remove the note", path.display());
        error::contradiction(source.path(), said)
    })?;
    Ok(Some(noted))
}

/// Returns the array as it is read: by the caller's layout, which must not contradict the note, else by the note, else by
/// `plain`. `order` is the byte order that the header states, if it states one.
pub(super) fn held(
    source: &Source,
    noted: Option<Noted>,
    plain: impl FnOnce() -> Result<ElementLayout, Error>,
    (len, order): (u64, Option<ByteOrder>),
    (reading, prefix): (&Reading, &str),
) -> Result<(ElementLayout, Option<Recorded>), Error> {
    let wrong = |said: String| error::usage(format!("{prefix}{}: {said}", source.path().display()));
    let Some(Noted { held: own, data }) = noted else {
        let stated = AsStated { name: NAME, held: &plain()?, len, order };
        return Ok((reread(stated, reading, &ListsInFiles).map_err(wrong)?, None));
    };
    let note = || format!("the note {}", note_file::path_of(source.path()).display());
    let stated = AsStated { name: NAME, held: &own, len, order };
    let held = reread_noted(stated, reading, &ListsInFiles, &note).map_err(wrong)?;
    let data = data.filter(|_| held.has_data_of(&own));
    Ok((held, Some(Recorded { data })))
}

/// Returns an opened file with its one array.
pub(super) fn opened(
    source: Source,
    container: Box<dyn Container>,
    (held, noted): (ElementLayout, Option<Recorded>),
    stored: Stored,
) -> Opened {
    let Stored { dtype: file_dtype, shape: storage, at, len } = stored;
    let pieces = vec![Piece::whole(0, at, len, &held)];
    let tensor = Tensor {
        name: NAME.into(),
        file_dtype,
        storage,
        file_dims: None,
        held,
        noted,
        refusal: None,
        pieces,
        len,
    };
    Opened { container, index: None, files: vec![Member::alone(source)], tensors: vec![tensor] }
}
