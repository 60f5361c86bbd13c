//! A new object, written in order: its bytes leave in parts while more are written, and it appears when it is committed.
//!
//! Law: before [`Upload::commit`] nothing is visible, and after a failure the upload is aborted. If the store refuses to abort it,
//! the error says so, because the store keeps parts without an object, and charges for them, until a rule of the bucket removes
//! them.
//!
//! The first bytes of an object can be held back, so that a header is completed when everything behind it is written.
//!
//! An object that fits into one part is written by one request, which stores with conditional writes refuse if the name was
//! taken meanwhile. A larger one is checked before its last request, which has no condition.

pub(crate) mod left;
pub(crate) mod parts;
mod proof;

use std::{collections::VecDeque, fmt, mem};

use object_store::{
    Error as Cause, MultipartId, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    multipart::PartId, path::Path,
};
use tilewright_error::Remedy;
use tokio::task::JoinHandle;

use crate::{
    Error, Location,
    client::BrokenAnswer,
    error,
    patience::Tries,
    runtime::{check_signal, runtime, wait, wait_to_end},
    store::{self, Store},
    upload::{left::note_left, proof::joined},
    web::Fault,
};

/// The smallest part that all stores take, unless it is the last.
#[doc(hidden)]
pub const LEAST_PART: u64 = 5 << 20;

/// The largest number of parts of an upload; stores take 10,000.
#[doc(hidden)]
pub const MOST_PARTS: u64 = 9000;

/// The number of bytes of a part if memory and length allow.
const PART: u64 = 8 << 20;

/// The largest number of parts that are sent at a time.
const FLYING: u64 = 8;

/// An upload of one object.
///
/// ```no_run
/// use tilewright_remote::{Location, Upload};
/// let mut upload = Upload::begin(&Location::parse("s3://bucket/a")?, (3, 0), 64 << 20, false)?;
/// upload.write(b"abc")?;
/// upload.commit()?;
/// # Ok::<(), tilewright_remote::Error>(())
/// ```
pub struct Upload {
    location: Location,
    store: Store,
    path: Path,
    replaces: bool,
    part: usize,
    most: usize,
    /// The number of parts that are held back.
    kept: usize,
    begun: Option<MultipartId>,
    /// The parts that are held back.
    first: Vec<Vec<u8>>,
    buffer: Vec<u8>,
    flying: VecDeque<(usize, JoinHandle<Result<PartId, Cause>>)>,
    /// The names of parts that the store has.
    sent: Vec<Option<PartId>>,
    /// The checksums and lengths of parts.
    sums: Vec<(u32, u64)>,
    written: u64,
    is_over: bool,
}

impl Upload {
    /// Begins the upload of an object of about `len` bytes, with buffers of at most `memory` bytes if that is possible. The first
    /// `head` bytes are held back. An existing object is replaced only if `replaces`.
    ///
    /// # Errors
    /// `exists` if an object has the name; [unsupported](Error::is_unsupported) for locations that are only read;
    /// [io](Error::is_io) if the store does not answer.
    ///
    /// ```
    /// use tilewright_remote::{Location, Upload};
    /// let page = Location::parse("https://example.com/a").unwrap();
    /// let error = Upload::begin(&page, (3, 0), 1 << 20, false).unwrap_err();
    /// assert!(error.to_string().contains("only read"));
    /// ```
    pub fn begin(
        location: &Location,
        (len, head): (u64, u64),
        memory: u64,
        replaces: bool,
    ) -> Result<Upload, Error> {
        let (store, path) = writable(location)?;
        if look(location)?.is_some() && !replaces {
            return Err(taken(location));
        }
        let (part, most) = shares((len, head), memory);
        Ok(Upload {
            location: location.clone(),
            store,
            path,
            replaces,
            part: part as usize,
            most: most as usize,
            kept: head.div_ceil(part) as usize,
            begun: None,
            first: Vec::new(),
            buffer: Vec::new(),
            flying: VecDeque::new(),
            sent: Vec::new(),
            sums: Vec::new(),
            written: 0,
            is_over: false,
        })
    }

    /// Returns the number of bytes that the buffers of an upload of `len` bytes have, if `memory` is allowed for them and the first
    /// `head` bytes are held back.
    ///
    /// ```
    /// use tilewright_remote::Upload;
    /// assert!(Upload::buffers((1 << 40, 0), 1 << 30) <= 1 << 30);
    /// assert!(Upload::buffers((1 << 30, 0), 0) > 0);
    /// ```
    pub fn buffers((len, head): (u64, u64), memory: u64) -> u64 {
        let (part, most) = shares((len, head), memory);
        let parts = most + 1 + head.div_ceil(part);
        part.saturating_mul(parts).min(len.next_multiple_of(part).max(part))
    }

    /// Returns the location of the object.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Upload};
    /// # let upload = Upload::begin(&Location::parse("s3://bucket/a")?, (3, 0), 64 << 20, false)?;
    /// assert_eq!(upload.location().name(), "a");
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [io](Error::is_io) if a part cannot be sent.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Upload};
    /// # let mut upload = Upload::begin(&Location::parse("s3://bucket/a")?, (3, 0), 64 << 20, false)?;
    /// upload.write(&[1, 2, 3])?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            // A full part leaves when another byte follows, so that a short object never begins a multipart upload.
            if self.buffer.len() == self.part {
                self.send()?;
            }
            if self.buffer.capacity() == 0 {
                self.buffer.reserve_exact(self.part);
            }
            let (now, later) = bytes.split_at(bytes.len().min(self.part - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            self.written += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Writes over bytes that are held back.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for bytes that may have been sent.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Upload};
    /// let mut upload = Upload::begin(&Location::parse("s3://bucket/a")?, (1 << 30, 100), 64 << 20, false)?;
    /// upload.write(&[0; 100])?;
    /// upload.place(&[1, 2], 98)?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn place(&mut self, bytes: &[u8], at: u64) -> Result<(), Error> {
        for (byte, at) in bytes.iter().zip(at..) {
            let part = (at / self.part as u64) as usize;
            let own = match part < self.first.len() {
                true => self.first.get_mut(part),
                false if part < self.kept && part == self.first.len() => Some(&mut self.buffer),
                false => None,
            };
            let own = own.and_then(|own| own.get_mut((at % self.part as u64) as usize));
            let said = || Error::usage(format!("{}: byte {at} is not held back", self.location));
            *own.ok_or_else(said)? = *byte;
        }
        Ok(())
    }

    /// Sends all bytes. The object is still invisible.
    ///
    /// # Errors
    /// [io](Error::is_io) if a part cannot be sent.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Upload};
    /// # let mut upload = Upload::begin(&Location::parse("s3://bucket/a")?, (3, 0), 64 << 20, false)?;
    /// # upload.write(&[1, 2, 3])?;
    /// upload.finish()?;
    /// upload.commit()?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn finish(&mut self) -> Result<(), Error> {
        if !self.buffer.is_empty() {
            self.send()?;
        }
        self.kept = 0;
        for (number, part) in mem::take(&mut self.first).into_iter().enumerate() {
            self.fly(number, part)?;
        }
        while !self.flying.is_empty() {
            self.landed()?;
        }
        Ok(())
    }

    /// Makes the object visible.
    ///
    /// # Errors
    /// [io](Error::is_io) if the store refuses, `exists` if the name was taken meanwhile. The upload is then aborted. The message
    /// says so if the object may be visible nevertheless, because the answer to the last request was lost.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Upload};
    /// # let upload = Upload::begin(&Location::parse("s3://bucket/empty")?, (0, 0), 64 << 20, false)?;
    /// upload.commit()?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn commit(mut self) -> Result<(), Error> {
        match self.committed() {
            Ok(()) => {
                self.is_over = true;
                Ok(())
            }
            Err(error) => Err(match self.abort() {
                Ok(()) => error,
                Err(left) => error.and(left.message()),
            }),
        }
    }

    /// Removes what was sent.
    ///
    /// # Errors
    /// [io](Error::is_io) if the store refuses: it then keeps the parts.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Upload};
    /// # let upload = Upload::begin(&Location::parse("s3://bucket/a")?, (0, 0), 64 << 20, false)?;
    /// upload.abort()?;
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn abort(mut self) -> Result<(), Error> {
        self.aborted()
    }

    fn committed(&mut self) -> Result<(), Error> {
        if self.begun.is_none() && self.first.is_empty() {
            let bytes = mem::take(&mut self.buffer);
            return self.put(bytes);
        }
        self.finish()?;
        if !self.replaces && look(&self.location)?.is_some() {
            return Err(taken(&self.location));
        }
        let (Some(id), Some(parts)) = (&self.begun, self.sent.iter().cloned().collect()) else {
            return Err(error::failed(&self.location, "complete its upload", "a part is missing"));
        };
        check_signal()?;
        let failed =
            |cause: &dyn fmt::Display| error::failed(&self.location, "complete its upload", cause);
        let failed = match wait_to_end(self.store.parts.complete_multipart(&self.path, id, parts)) {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(cause)) => (failed(&error::said(&cause)), error::is_timeout(&cause)),
            Err(late) => (failed(&late.message()), true),
        };
        self.settled(joined(self.sums.iter().copied()), failed)
    }

    /// Returns the end of an upload whose last request failed. Its answer may be lost.
    fn settled(&self, sum: u32, failed: (Error, bool)) -> Result<(), Error> {
        proof::settled(&self.location, (&self.store, &self.path), (self.written, sum), failed)
    }

    fn put(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        let mode = if self.replaces { PutMode::Overwrite } else { PutMode::Create };
        let sum = crc32fast::hash(&bytes);
        let payload = PutPayload::from(bytes);
        let put = |mode| {
            let options = PutOptions { mode, ..PutOptions::default() };
            wait_to_end(self.store.objects.put_opts(&self.path, payload.clone(), options))
        };
        check_signal()?;
        let done = match put(mode) {
            // A store without conditional writes: the name was free when the upload began.
            Ok(Err(Cause::NotImplemented { .. })) => put(PutMode::Overwrite),
            done => done,
        };
        let failed = |cause: &dyn fmt::Display| error::failed(&self.location, "write", cause);
        let failed = match done {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(Cause::AlreadyExists { .. } | Cause::Precondition { .. })) => {
                (taken(&self.location), false)
            }
            Ok(Err(cause)) => (failed(&error::said(&cause)), error::is_timeout(&cause)),
            Err(late) => (failed(&late.message()), true),
        };
        self.settled(sum, failed)
    }

    /// Sends the filled part, or holds it back.
    fn send(&mut self) -> Result<(), Error> {
        let bytes = mem::take(&mut self.buffer);
        if self.first.len() < self.kept {
            self.first.push(bytes);
            return Ok(());
        }
        self.fly(self.sent.len().max(self.first.len()), bytes)
    }

    /// Sends the part of this number.
    fn fly(&mut self, number: usize, bytes: Vec<u8>) -> Result<(), Error> {
        if self.begun.is_none() {
            self.begun = Some(wait(started(&self.location, &self.store, &self.path))??);
        }
        while self.flying.len() >= self.most {
            self.landed()?;
        }
        let Some(id) = self.begun.clone() else { return Ok(()) };
        self.sums.resize(self.sums.len().max(number + 1), (0, 0));
        if let Some(room) = self.sums.get_mut(number) {
            *room = (crc32fast::hash(&bytes), bytes.len() as u64);
        }
        let (parts, path) = (self.store.parts.clone(), self.path.clone());
        let part = async move { parts.put_part(&path, &id, number, bytes.into()).await };
        self.sent.resize(self.sent.len().max(number + 1), None);
        self.flying.push_back((number, runtime()?.spawn(part)));
        Ok(())
    }

    /// Waits for the oldest part.
    fn landed(&mut self) -> Result<(), Error> {
        let Some((number, mut part)) = self.flying.pop_front() else { return Ok(()) };
        let ended = match wait(&mut part) {
            Ok(ended) => ended,
            Err(cancelled) => {
                // The part is still under way: it ends before the upload is aborted.
                self.flying.push_front((number, part));
                return Err(cancelled);
            }
        };
        let cause = match ended {
            Ok(Ok(part)) => {
                if let Some(room) = self.sent.get_mut(number) {
                    *room = Some(part);
                }
                return Ok(());
            }
            Ok(Err(cause)) => error::said(&cause),
            Err(cause) => cause.to_string(),
        };
        let doing = format!("send part {} of {} bytes", number + 1, self.part);
        Err(error::failed(&self.location, &doing, cause))
    }

    fn aborted(&mut self) -> Result<(), Error> {
        if mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        for (_, part) in mem::take(&mut self.flying) {
            part.abort();
            let _ = wait_to_end(part);
        }
        let Some(id) = &self.begun else { return Ok(()) };
        let asked = wait_to_end(self.store.parts.abort_multipart(&self.path, id));
        let silent =
            |error: Error| error.about(&format!("{}: upload {id} is not aborted", self.location));
        match asked.map_err(silent)? {
            Ok(()) | Err(Cause::NotFound { .. }) => Ok(()),
            Err(cause) => {
                let doing = format!("abort its upload {id}");
                Err(error::failed(&self.location, &doing, error::said(&cause)))
            }
        }
    }
}

/// An upload that is dropped is aborted; [`unaborted`](crate::unaborted) names those for which that failed.
impl Drop for Upload {
    fn drop(&mut self) {
        if let Err(error) = self.aborted() {
            note_left(error.message().to_owned());
        }
    }
}

/// An upload is debugged as its location.
impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upload({}, {} bytes)", self.location, self.written)
    }
}

/// Begins a multipart upload. The client repeats the request, but not if its answer breaks off.
pub(crate) async fn started(
    location: &Location,
    store: &Store,
    path: &Path,
) -> Result<MultipartId, Error> {
    let mut tries = Tries::new();
    loop {
        let cause = match store.parts.create_multipart(path).await {
            Ok(begun) => return Ok(begun),
            Err(cause) => cause,
        };
        let is_broken = error::cause::<BrokenAnswer>(&cause).is_some();
        if !is_broken || !tries.again(None).await {
            return Err(error::failed(location, "begin its upload", error::said(&cause)));
        }
    }
}

/// Writes a short object by one request.
///
/// # Errors
/// Those of [`Upload::begin`] and [`Upload::commit`].
///
/// ```
/// use tilewright_remote::{Location, put};
/// let page = Location::parse("hf://owner/name/a").unwrap();
/// assert!(put(&page, b"abc", false).unwrap_err().is_unsupported());
/// ```
pub fn put(location: &Location, bytes: &[u8], replaces: bool) -> Result<(), Error> {
    let mut upload = Upload::begin(location, (bytes.len() as u64, 0), u64::MAX, replaces)?;
    upload.write(bytes)?;
    upload.commit()
}

/// Returns whether an object has this name.
///
/// # Errors
/// [io](Error::is_io) if the store does not answer.
///
/// ```
/// use tilewright_remote::{Location, exists};
/// let page = Location::parse("https://example.com/a").unwrap();
/// assert!(exists(&page).unwrap_err().is_unsupported());
/// ```
pub fn exists(location: &Location) -> Result<bool, Error> {
    look(location).map(|found| found.is_some())
}

/// Removes an object.
///
/// # Errors
/// [io](Error::is_io) if the store refuses.
///
/// ```
/// use tilewright_remote::{Location, remove};
/// let page = Location::parse("https://example.com/a").unwrap();
/// assert!(remove(&page).unwrap_err().is_unsupported());
/// ```
pub fn remove(location: &Location) -> Result<(), Error> {
    let (store, path) = writable(location)?;
    match wait_to_end(store.objects.delete(&path))? {
        Ok(()) | Err(Cause::NotFound { .. }) => Ok(()),
        Err(cause) => Err(error::failed(location, "remove", error::said(&cause))),
    }
}

pub(crate) fn writable(location: &Location) -> Result<(Store, Path), Error> {
    let said = "it is only read; write to a folder or to s3://, gs:// or az://";
    store::of(location)?.ok_or_else(|| error::unsupported(location, said))
}

/// Returns the length and the tag of an object, if it exists.
pub(crate) fn look(location: &Location) -> Result<Option<(u64, Option<String>)>, Error> {
    let (store, path) = writable(location)?;
    match wait(store::head((&store, &path)))? {
        Ok(found) => Ok(Some(found)),
        Err(Fault::Missing) => Ok(None),
        Err(Fault::Final(said) | Fault::Passing(said, _) | Fault::Changed(said)) => {
            Err(error::failed(location, "look at", said))
        }
        Err(Fault::Outside) => Err(error::failed(location, "look at", "the store refuses")),
    }
}

pub(crate) fn taken(location: &Location) -> Error {
    let said = format!("{location} exists");
    Error::new("exists", said).of_file().with(&[Remedy::Overwrite])
}

/// Returns the number of bytes of a part, and the number of parts that are sent at a time.
fn shares((len, head): (u64, u64), memory: u64) -> (u64, u64) {
    let needed = len.div_ceil(MOST_PARTS).next_multiple_of(1 << 20);
    let part = PART.min(memory / 4).max(LEAST_PART).max(needed);
    let free = (memory / part).saturating_sub(1 + head.div_ceil(part));
    (part, free.clamp(1, FLYING))
}
