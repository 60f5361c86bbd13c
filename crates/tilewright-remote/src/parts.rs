//! An upload whose parts are sent in any order, by any process that knows its name.
//!
//! Law: the object appears by [`PartUpload::complete`], with the parts that it names, and never before. A part that is sent again
//! replaces the earlier one of its number.

use object_store::{Error as Cause, MultipartId, multipart::PartId, path::Path};

use crate::{
    Error, Location, Object, error,
    runtime::{wait, wait_to_end},
    store::Store,
    upload::{look, started, taken, writable},
};

/// An upload of one object by several processes.
///
/// ```no_run
/// use tilewright_remote::{Location, PartUpload};
/// let location = Location::parse("s3://bucket/a")?;
/// let name = PartUpload::begin(&location)?.name().to_owned();
/// // In another process:
/// let upload = PartUpload::named(&location, &name)?;
/// let part = upload.send(0, vec![1, 2, 3])?;
/// upload.complete(&[part], 3, false)?;
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

    /// Sends the part of this number, counted from 0; returns the name that the store gives to it.
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
    pub fn send(&self, number: usize, bytes: Vec<u8>) -> Result<String, Error> {
        let len = bytes.len();
        let sent = self.store.parts.put_part(&self.path, &self.name, number, bytes.into());
        let part = wait(sent)?.map_err(|cause| {
            let doing = format!("send part {} of {len} bytes", number + 1);
            error::failed(&self.location, &doing, error::said(&cause))
        })?;
        Ok(part.content_id)
    }

    /// Makes the object of `len` bytes visible, from these parts in order. An object of this name is replaced only if `replaces`.
    /// An upload that was completed before is complete: then the object is visible at this length.
    ///
    /// # Errors
    /// `exists` if the name was taken meanwhile; [io](Error::is_io) if the store refuses.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, PartUpload};
    /// # let upload = PartUpload::named(&Location::parse("s3://bucket/a")?, "1")?;
    /// # let part = upload.send(0, vec![1, 2, 3])?;
    /// upload.complete(&[part], 3, false)?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn complete(self, parts: &[String], len: u64, replaces: bool) -> Result<(), Error> {
        if !replaces && look(&self.location)?.is_some() {
            return Err(taken(&self.location));
        }
        let parts = parts.iter().map(|name| PartId { content_id: name.clone() }).collect();
        match wait(self.store.parts.complete_multipart(&self.path, &self.name, parts))? {
            Ok(_) => Ok(()),
            // The answer to a request that succeeded may be lost.
            Err(Cause::NotFound { .. }) if self.has_length(len) => Ok(()),
            Err(cause) => {
                Err(error::failed(&self.location, "complete its upload", error::said(&cause)))
            }
        }
    }

    fn has_length(&self, len: u64) -> bool {
        Object::open(&self.location).is_ok_and(|object| object.len() == len)
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
