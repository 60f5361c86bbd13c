//! An object that is read at positions. Its length and tag are those of the first response, which also brings its first bytes:
//! most headers need no further request.
//!
//! Short reads bring more bytes than they need and keep them, because the next read often follows. Long reads are several requests
//! at a time. No byte is requested twice in a row.

use std::{
    collections::VecDeque,
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use futures_util::{StreamExt, future::try_join_all};
use object_store::path::Path;
use tokio::sync::Semaphore;
use url::Url;

use crate::{
    Error, Location, error,
    hub::Hub,
    location::LocationKind,
    patience::Tries,
    runtime::wait,
    store::{self, Store},
    web::{self, Answer, Fault, Range},
};

/// The number of bytes that opening brings.
const HEAD: u64 = 64 << 10;

/// Reads of fewer bytes bring this number, and twice as many as the last one if they follow it closely.
const WINDOW: u64 = 16 << 10;

/// The largest number that they bring: more takes longer than another request.
const LONGEST: u64 = 256 << 10;

/// The number of such windows that an object keeps.
const WINDOWS: usize = 4;

/// Longer reads are several requests.
const PART: usize = 8 << 20;

/// The number of requests of this process at a time.
static REQUESTS: Semaphore = Semaphore::const_new(32);

/// An object with its length and version when it was opened.
///
/// ```no_run
/// use tilewright_remote::{Location, Object};
/// let object = Object::open(&Location::parse("s3://bucket/model.safetensors")?)?;
/// let mut length = [0; 8];
/// object.read_at(&mut length, 0)?;
/// assert!(u64::from_le_bytes(length) < object.len());
/// # Ok::<(), tilewright_remote::Error>(())
/// ```
pub struct Object {
    location: Location,
    /// After a panic a client has fewer connections, and is otherwise as before.
    at: AssertUnwindSafe<At>,
    len: u64,
    tag: Option<String>,
    head: Bytes,
    windows: Mutex<VecDeque<(u64, Bytes)>>,
    requests: AtomicU64,
    bytes: AtomicU64,
}

/// The server from which an object is requested.
enum At {
    Store(Store, Path),
    Web(Url),
    Hub(Hub),
}

impl At {
    fn of(location: &Location) -> Result<At, Error> {
        Ok(match &location.0 {
            LocationKind::Web(url) => At::Web(url.clone()),
            LocationKind::Hub(repo) => At::Hub(Hub::new(location, repo)?),
            LocationKind::Store(..) => match store::of(location)? {
                Some((store, path)) => At::Store(store, path),
                None => return Err(error::unsupported(location, "it is not in a store")),
            },
        })
    }

    async fn get(&self, range: &Range, tag: Option<&str>) -> Result<Answer, Fault> {
        match self {
            At::Store(store, path) => store::get((store, path), range, tag).await,
            At::Web(url) => web::get(url, range, tag).await,
            At::Hub(hub) => hub.get(range).await,
        }
    }
}

impl Object {
    /// Opens an object: one request brings its length, its tag and its first bytes.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a folder; [io](Error::is_io) if the object does not exist, or if the requests fail.
    ///
    /// ```
    /// use tilewright_remote::{Location, Object};
    /// let bucket = Location::parse("s3://bucket").unwrap();
    /// assert!(Object::open(&bucket).unwrap_err().is_usage());
    /// ```
    pub fn open(location: &Location) -> Result<Object, Error> {
        if location.is_root() && !matches!(location.0, LocationKind::Web(_)) {
            return Err(
                Error::usage(format!("{location} is a folder; name an object in it")).of_file()
            );
        }
        let at = AssertUnwindSafe(At::of(location)?);
        let mut object = Object {
            location: location.clone(),
            at,
            len: HEAD,
            tag: None,
            head: Bytes::new(),
            windows: Mutex::default(),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        };
        let (len, tag, head) = wait(object.opened())??;
        (object.len, object.tag, object.head) = (len, tag, head);
        if let At::Hub(hub) = &*object.at {
            object.location = Location(LocationKind::Hub(hub.pinned()));
        }
        Ok(object)
    }

    /// Returns the location; that of a hub's file names its commit.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Object};
    /// # let object = Object::open(&Location::parse("hf://owner/name/config.json")?)?;
    /// assert!(object.location().to_string().starts_with("hf://owner/name@"));
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the length when it was opened, in bytes.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Object};
    /// # let object = Object::open(&Location::parse("s3://bucket/a.npy")?)?;
    /// assert!(object.len() > 0);
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    #[expect(clippy::len_without_is_empty, reason = "an empty object is a length like others")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the server names the version of the object, so that a change of it is an error.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Object};
    /// # let object = Object::open(&Location::parse("s3://bucket/a.npy")?)?;
    /// assert!(object.is_pinned());
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn is_pinned(&self) -> bool {
        self.tag.is_some()
    }

    /// Returns the entity tag of its version, if the server names one.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Object};
    /// # let object = Object::open(&Location::parse("s3://bucket/a.npy")?)?;
    /// assert!(object.version().is_some_and(|tag| !tag.is_empty()));
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn version(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns whether two objects are the same version of the same name.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Object};
    /// # let object = Object::open(&Location::parse("s3://bucket/a.npy")?)?;
    /// assert!(object.is(&object));
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn is(&self, other: &Object) -> bool {
        self.location == other.location && self.tag == other.tag && self.len == other.len
    }

    /// Returns the number of requests for bytes so far, without the repetitions of a store's client, and the number of bytes
    /// that they brought.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Object};
    /// # let object = Object::open(&Location::parse("s3://bucket/a.npy")?)?;
    /// assert_eq!(object.counts().0, 1);
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn counts(&self) -> (u64, u64) {
        (self.requests.load(Relaxed), self.bytes.load(Relaxed))
    }

    /// Fills `bytes` from byte `at` on.
    ///
    /// # Errors
    /// [io](Error::is_io) if the object ends before, was replaced, or if requests fail more often than the
    /// [patience](crate::patience) allows.
    ///
    /// ```no_run
    /// # use tilewright_remote::{Location, Object};
    /// # let object = Object::open(&Location::parse("s3://bucket/a.npy")?)?;
    /// let mut two = [0; 2];
    /// assert!(object.read_at(&mut two, object.len() - 1).is_err());
    /// # Ok::<(), tilewright_remote::Error>(())
    /// ```
    pub fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let end = at.checked_add(bytes.len() as u64).filter(|end| *end <= self.len);
        if end.is_none() {
            let (location, len, all) = (&self.location, bytes.len(), self.len);
            let said = format!("{location}: it ends before byte {at} + {len}, its length is {all}");
            return Err(Error::new("corrupt", said).of_file());
        }
        let known = self.known(bytes, at);
        let (bytes, at) = (bytes.get_mut(known..).unwrap_or_default(), at + known as u64);
        match bytes.len() {
            0 => Ok(()),
            len if (len as u64) < WINDOW => self.through_window(bytes, at),
            _ => wait(self.parts(bytes, at))?,
        }
    }

    /// Fills the beginning of `bytes` from bytes that are kept; returns their number.
    fn known(&self, bytes: &mut [u8], at: u64) -> usize {
        let mut done = 0;
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let head = (0, self.head.clone());
        while let Some(to) = bytes.get_mut(done..).filter(|to| !to.is_empty()) {
            let next = at + done as u64;
            let behind = |(from, kept): &(u64, Bytes)| {
                let from = usize::try_from(next.checked_sub(*from)?).ok()?;
                (from < kept.len()).then(|| kept.slice(from..))
            };
            let Some(left) = std::iter::once(&head).chain(windows.iter()).find_map(behind) else {
                break;
            };
            let step = left.len().min(to.len());
            if let (Some(to), Some(left)) = (to.get_mut(..step), left.get(..step)) {
                to.copy_from_slice(left);
            }
            done += step;
        }
        done
    }

    /// Fills a few bytes, and keeps those that follow.
    fn through_window(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let mut window = vec![0; self.ahead(at).min(self.len - at) as usize];
        wait(self.part(&mut window, at))??;
        if let Some(own) = window.get(..bytes.len()) {
            bytes.copy_from_slice(own);
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.truncate(WINDOWS - 1);
        windows.push_front((at, window.into()));
        Ok(())
    }

    /// Returns the number of bytes that a short read at a position brings.
    fn ahead(&self, at: u64) -> u64 {
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((from, last)) = windows.front() else { return WINDOW };
        let len = last.len() as u64;
        let follows = (*from..=from + 2 * len).contains(&at);
        if follows { (2 * len).clamp(WINDOW, LONGEST) } else { WINDOW }
    }

    /// Fills many bytes, by several requests at a time.
    async fn parts(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let parts = bytes.chunks_mut(PART).zip((0..).map(|number| at + number * PART as u64));
        try_join_all(parts.map(|(part, at)| self.part(part, at))).await.map(drop)
    }

    /// Fills bytes by one request, which is repeated after faults from the first missing byte on.
    async fn part(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let all = at..at + bytes.len() as u64;
        let (mut tries, mut filled) = (Tries::new(), 0);
        loop {
            let fault = match tries.within(self.once(bytes, at, &mut filled)).await {
                Ok(()) => return Ok(()),
                Err(fault) => fault,
            };
            match fault {
                Fault::Passing(said, asked) => {
                    if !tries.again(asked).await {
                        return Err(self.failed(&all, Fault::Final(said + &tries.said())));
                    }
                }
                fault => return Err(self.failed(&all, fault)),
            }
        }
    }

    /// Fills what is missing behind the first `filled` bytes, by one request.
    async fn once(&self, bytes: &mut [u8], at: u64, filled: &mut usize) -> Result<(), Fault> {
        let range = at + *filled as u64..at + bytes.len() as u64;
        // The connection may break after the last byte.
        if range.is_empty() {
            return Ok(());
        }
        let _turn = REQUESTS.acquire().await;
        self.requests.fetch_add(1, Relaxed);
        let answer = self.at.get(&range, self.tag.as_deref()).await?;
        if answer.len != self.len {
            let (was, is) = (self.len, answer.len);
            return Err(Fault::Changed(format!("it had {was} bytes, it has {is}")));
        }
        if self.tag.is_some() && answer.tag != self.tag {
            return Err(Fault::Changed("it has another tag".into()));
        }
        let mut body = answer.body;
        while let Some(piece) = body.next().await {
            let piece = piece?;
            self.bytes.fetch_add(piece.len() as u64, Relaxed);
            let room = bytes.get_mut(*filled..*filled + piece.len());
            let room =
                room.ok_or_else(|| Fault::Final("the body is longer than requested".into()))?;
            room.copy_from_slice(&piece);
            *filled += piece.len();
        }
        match *filled == bytes.len() {
            true => Ok(()),
            false => Err(Fault::Passing("the body ended early".into(), None)),
        }
    }

    /// Returns length, tag and first bytes.
    async fn opened(&self) -> Result<(u64, Option<String>, Bytes), Error> {
        let mut tries = Tries::new();
        loop {
            match tries.within(self.first()).await {
                Ok(opened) => return Ok(opened),
                Err(Fault::Missing) => return Err(error::missing(&self.location, "open")),
                Err(Fault::Passing(said, asked)) => {
                    if !tries.again(asked).await {
                        return Err(error::failed(&self.location, "open", said + &tries.said()));
                    }
                }
                Err(Fault::Final(said) | Fault::Changed(said)) => {
                    return Err(error::failed(&self.location, "open", said));
                }
                Err(Fault::Outside) => {
                    return Err(error::failed(
                        &self.location,
                        "open",
                        "the server refuses its range",
                    ));
                }
            }
        }
    }

    async fn first(&self) -> Result<(u64, Option<String>, Bytes), Fault> {
        let range = 0..HEAD;
        let _turn = REQUESTS.acquire().await;
        self.requests.fetch_add(1, Relaxed);
        let answer = match (self.at.get(&range, None).await, &*self.at) {
            // The first byte of an empty object cannot be requested.
            (Err(Fault::Outside), At::Store(store, path)) => {
                let (len, tag) = store::head((store, path)).await?;
                return if len == 0 { Ok((0, tag, Bytes::new())) } else { Err(Fault::Outside) };
            }
            (Err(Fault::Outside), _) => return Ok((0, None, Bytes::new())),
            (answer, _) => answer?,
        };
        let (mut head, mut body) = (Vec::new(), answer.body);
        while let Some(piece) = body.next().await {
            head.extend_from_slice(&piece?);
            if head.len() as u64 > HEAD {
                return Err(Fault::Final("the body is longer than requested".into()));
            }
        }
        self.bytes.fetch_add(head.len() as u64, Relaxed);
        match head.len() as u64 == answer.len.min(HEAD) {
            true => Ok((answer.len, answer.tag, head.into())),
            false => Err(Fault::Passing("the body ended early".into(), None)),
        }
    }

    fn failed(&self, range: &Range, fault: Fault) -> Error {
        let doing = format!("read bytes {} to {}", range.start, range.end);
        match fault {
            Fault::Missing => error::changed(&self.location, "it is gone"),
            Fault::Changed(said) => error::changed(&self.location, &said),
            Fault::Outside => error::changed(&self.location, "it is shorter"),
            Fault::Passing(said, _) | Fault::Final(said) => {
                error::failed(&self.location, &doing, said)
            }
        }
    }
}

/// An object is debugged as its location.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({})", self.location)
    }
}
