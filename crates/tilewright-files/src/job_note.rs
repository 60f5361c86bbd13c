//! What a note has room for.

use tilewright_notation::MAX_TABLED;

use crate::{Error, held::Held};

/// A layout with index tables is noted with their entries, and read again from the note.
pub(crate) fn check_note(name: &str, held: &Held) -> Result<(), Error> {
    let (len, most) = (held.spec().len(), MAX_TABLED);
    if len > most {
        return Err(Error::usage(format!(
            "tensor {name:?}: its index tables are {len} bytes of text, and a note has room for {most}"
        )));
    }
    Ok(())
}
