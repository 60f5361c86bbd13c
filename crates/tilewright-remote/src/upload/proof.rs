//! The proof that an object is the one that an upload made: its length and the checksum of its bytes, which are read back.
//!
//! A length alone proves nothing: an older result of the same tensors has it too.

use crc32fast::Hasher;
use futures_util::TryStreamExt;
use object_store::{Error as Cause, ObjectStoreExt, path::Path};

use crate::{Error, Location, error, patience::Tries, runtime::wait_to_end, store::Store};

/// Returns the checksum of parts one after another, of their checksums and lengths.
pub(crate) fn joined(parts: impl Iterator<Item = (u32, u64)>) -> u32 {
    let mut all = Hasher::new();
    parts.for_each(|(sum, len)| all.combine(&Hasher::new_with_initial_len(sum, len)));
    all.finalize()
}

/// Returns whether a visible object has this length and checksum. It is read back, also after a signal, but then not for long.
pub(crate) fn is_visible((store, path): (&Store, &Path), of: (u64, u32)) -> Result<bool, Error> {
    let looked = wait_to_end(async {
        let mut tries = Tries::new();
        loop {
            match looked((store, path), of).await {
                Err(cause) if !tries.again(None).await => return Err(cause),
                Err(_) => {}
                done => return done,
            }
        }
    });
    looked?.map_err(|cause| Error::new("io", error::said(&cause)).of_file())
}

async fn looked((store, path): (&Store, &Path), (len, sum): (u64, u32)) -> Result<bool, Cause> {
    let got = match store.objects.get(path).await {
        Err(Cause::NotFound { .. }) => return Ok(false),
        got => got?,
    };
    if got.meta.size != len {
        return Ok(false);
    }
    let (mut own, mut body) = (Hasher::new(), got.into_stream());
    while let Some(piece) = body.try_next().await? {
        own.update(&piece);
    }
    Ok(own.finalize() == sum)
}

/// Returns the end of an upload after an error of its last request: it succeeded if the object is the one that it was to make.
/// `open` says that the store may still carry out that request.
pub(crate) fn settled(
    location: &Location,
    store: (&Store, &Path),
    of: (u64, u32),
    (error, open): (Error, bool),
) -> Result<(), Error> {
    match is_visible(store, of) {
        Ok(true) => Ok(()),
        Ok(false) if !open => Err(error),
        _ => Err(unknown(location, &error)),
    }
}

/// Returns an error that says that an object may be visible nevertheless. Its kind of input and output is
/// [`TimedOut`](std::io::ErrorKind::TimedOut).
fn unknown(location: &Location, error: &Error) -> Error {
    let said = format!(
        "{}; {location} may be visible nevertheless: look at it, and remove it unless it is wanted",
        error.message()
    );
    Error::new("io", said).of_file().of_io(std::io::ErrorKind::TimedOut)
}
