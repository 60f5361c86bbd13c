//! An upload whose parts are sent in any order, by any process that knows its name.
//!
//! Law: the object appears by [`PartUpload::complete`], with the parts that it names, and never before. A part that is sent again
//! replaces the earlier one of its number.

use object_store::{Error as Cause, MultipartId, multipart::PartId, path::Path};

use crate::{
    Error, Location, error,
    runtime::{check_signal, wait, wait_to_end},
    store::Store,
    upload::{
        look,
        proof::{is_visible, joined, settled},
        started, taken, writable,
    },
};

/// A part that a store has.
///
/// ```
/// use tilewright_remote::SentPart;
/// let part = SentPart { name: "\"7\"".into(), sum: 0x352441C2, len: 3 };
/// assert_eq!(part.clone(), part);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentPart {
    /// The name that the store has given to it.
    pub name: String,
    /// The CRC-32 of its bytes.
    pub sum: u32,
    /// The number of its bytes.
    pub len: u64,
}

/// An upload of one object by several processes.
///
/// ```no_run
/// use tilewright_remote::{Location, PartUpload};
/// let location = Location::parse("s3://bucket/a")?;
/// let name = PartUpload::begin(&location)?.name().to_owned();
/// // In another process:
/// let upload = PartUpload::named(&location, &name)?;
/// let part = upload.send(0, vec![1, 2, 3])?;
/// upload.complete(&[part], false)?;
/// # Ok::<(), tilewright_remote::Error>(())
/// ```
pub struct PartUpload {
    location: Location,
    store: Store,
    path: Path,
    name: MultipartId,
}

impl PartUpload {
    /// Begins an upload.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for locations that are only read; [io](Error::is_io) if the store does not answer.
    ///
    /// ```
    /// use tilewright_remote::{Location, PartUpload};
    /// let page = Location::parse("https://example.com/a").unwrap();
    /// assert!(PartUpload::begin(&page).unwrap_err().is_unsupported());
    /// ```
    pub fn begin(location: &Location) -> Result<PartUpload, Error> {
        let (store, path) = writable(location)?;
        let name = wait(started(location, &store, &path))??;
        Ok(PartUpload { location: location.clone(), store, path, name })
    }

    /// Returns the upload of this name, which another process has begun.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for locations that are only read.
    ///
    /// ```
    /// use tilewright_remote::{Location, PartUpload};
    /// let page = Location::parse("https://example.com/a").unwrap();
    /// assert!(PartUpload::named(&page, "1").unwrap_err().is_unsupported());
    /// ```
    pub fn named(location: &Location, name: &str) -> Result<PartUpload, Error> {
        let (store, path) = writable(location)?;
        Ok(PartUpload { location: location.clone(), store, path, name: name.to_owned() })
    }

    /// Returns the name that the store has given to the upload.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, PartUpload};
    /// let upload = PartUpload::named(&Location::parse("s3://bucket/a")?, "1")?;
    /// assert_eq!(upload.name(), "1");
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends the part of this number, counted from 0; returns its name and checksum.
    ///
    /// # Errors
    /// [io](Error::is_io) if the store refuses.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, PartUpload};
    /// # let upload = PartUpload::named(&Location::parse("s3://bucket/a")?, "1")?;
    /// let part = upload.send(0, vec![1, 2, 3])?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn send(&self, number: usize, bytes: Vec<u8>) -> Result<SentPart, Error> {
        let (sum, len) = (crc32fast::hash(&bytes), bytes.len() as u64);
        let sent = self.store.parts.put_part(&self.path, &self.name, number, bytes.into());
        let part = wait(sent)?.map_err(|cause| {
            let doing = format!("send part {} of {len} bytes", number + 1);
            error::failed(&self.location, &doing, error::said(&cause))
        })?;
        Ok(SentPart { name: part.content_id, sum, len })
    }

    /// Makes the object visible, from these parts in order. An object of this name is replaced only if `replaces`.
    /// An upload that was completed before is complete: then an object with the bytes of these parts is visible.
    ///
    /// # Errors
    /// `exists` if an object of other bytes has the name; [io](Error::is_io) if the store refuses.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, PartUpload};
    /// # let upload = PartUpload::named(&Location::parse("s3://bucket/a")?, "1")?;
    /// # let part = upload.send(0, vec![1, 2, 3])?;
    /// upload.complete(&[part], false)?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn complete(self, parts: &[SentPart], replaces: bool) -> Result<(), Error> {
        let len = parts.iter().map(|part| part.len).sum();
        let of = (len, joined(parts.iter().map(|part| (part.sum, part.len))));
        let own = (&self.store, &self.path);
        if !replaces && look(&self.location)?.is_some() {
            let about = |error: Error| error.about(&self.location.to_string());
            return match is_visible(own, of).map_err(about)? {
                true => Ok(()),
                false => Err(taken(&self.location)),
            };
        }
        check_signal()?;
        let ids = parts.iter().map(|part| PartId { content_id: part.name.clone() }).collect();
        let failed = |cause: &dyn std::fmt::Display| {
            error::failed(&self.location, "complete its upload", cause)
        };
        let sent = wait_to_end(self.store.parts.complete_multipart(&self.path, &self.name, ids));
        let failed = match sent {
            Ok(Ok(_)) => return Ok(()),
            // The answer to a request that succeeded may be lost.
            Ok(Err(cause)) => (failed(&error::said(&cause)), error::is_timeout(&cause)),
            Err(late) => (failed(&late.message()), true),
        };
        settled(&self.location, own, of, failed)
    }

    /// Removes what was sent.
    ///
    /// # Errors
    /// [io](Error::is_io) if the store refuses: it then keeps the parts.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, PartUpload};
    /// # let upload = PartUpload::named(&Location::parse("s3://bucket/a")?, "1")?;
    /// upload.abort()?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn abort(self) -> Result<(), Error> {
        match wait_to_end(self.store.parts.abort_multipart(&self.path, &self.name))? {
            Ok(()) | Err(Cause::NotFound { .. }) => Ok(()),
            Err(cause) => {
                let doing = format!("abort its upload {}", self.name);
                Err(error::failed(&self.location, &doing, error::said(&cause)))
            }
        }
    }
}

/// An upload is debugged as its location.
impl std::fmt::Debug for PartUpload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PartUpload({})", self.location)
    }
}
