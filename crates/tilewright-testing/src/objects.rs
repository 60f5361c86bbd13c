//! A server of objects on this machine: an object store as S3 and Google describe it, a web server, and a hub with its storage.
//!
//! Tests put objects into it, plant faults by the number of a request, and ask which requests came. It answers ranges, entity
//! tags, `If-Match` and `If-None-Match`, lists, and multipart uploads with their least size of a part.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// An account of Google's store with which clients request no token.
const KEY: &str = r#"{"private_key":"very-secret","private_key_id":"very-secret","client_email":"a@b","disable_oauth":true}"#;

/// The time before the answer to a request that is held.
const HELD: Duration = Duration::from_secs(60);

/// A fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// The server answers with this status and does nothing.
    Status(u16),
    /// The connection ends before the request is carried out.
    Reset,
    /// The request is carried out, and the connection ends before the answer.
    Lost,
    /// The connection ends after half of the answer's body.
    Short,
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Came {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// Headers, with names in small letters.
    pub headers: BTreeMap<String, String>,
    /// The status of the answer.
    pub status: u16,
    /// The number of bytes of the answer's body.
    pub sent: u64,
}

#[derive(Clone)]
struct Stored {
    bytes: Arc<Vec<u8>>,
    tag: String,
}

#[derive(Default)]
struct ServerState {
    objects: BTreeMap<String, Stored>,
    /// Object, and parts by number.
    uploads: BTreeMap<String, (String, BTreeMap<u64, Vec<u8>>)>,
    faults: BTreeMap<usize, Planted>,
    /// Commits of hub repositories, by `owner/name`; their files are objects `owner/name/PATH`.
    commits: BTreeMap<String, String>,
    came: Vec<Came>,
    /// The request that is answered late, and whether it came.
    held: Option<(usize, bool)>,
    /// The number of planted faults that a request has met.
    met: usize,
    made: u64,
    storage: String,
}

/// A running server. Its threads end with the process.
#[derive(Clone)]
pub struct Objects {
    state: Arc<Mutex<ServerState>>,
    address: String,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Objects({})", self.address)
    }
}

impl Objects {
    /// Starts a server.
    ///
    /// ```
    /// let server = tilewright_testing::Objects::start();
    /// server.put("bucket/a", b"abc");
    /// assert!(server.url().starts_with("http://127.0.0.1:"));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the system gives no port.
    pub fn start() -> Objects {
        let state = Arc::new(Mutex::new(ServerState::default()));
        let storage = serve(state.clone());
        lock(&state).storage = storage;
        Objects { address: serve(state.clone()), state }
    }

    /// Returns the URL of the server, without a slash at its end.
    ///
    /// ```
    /// assert!(!tilewright_testing::Objects::start().url().ends_with('/'));
    /// ```
    pub fn url(&self) -> String {
        self.address.clone()
    }

    /// Stores an object under `bucket/key`, or a file under `owner/name/path`.
    ///
    /// ```
    /// let server = tilewright_testing::Objects::start();
    /// server.put("bucket/a", b"abc");
    /// assert_eq!(server.get("bucket/a").unwrap(), b"abc");
    /// ```
    pub fn put(&self, name: &str, bytes: &[u8]) {
        lock(&self.state).store(name, bytes.to_vec());
    }

    /// Makes `owner/name` a repository of a hub at a commit.
    ///
    /// ```
    /// tilewright_testing::Objects::start().commit("owner/name", "c0ffee");
    /// ```
    pub fn commit(&self, repo: &str, commit: &str) {
        lock(&self.state).commits.insert(repo.into(), commit.into());
    }

    /// Returns the bytes of an object.
    ///
    /// ```
    /// assert!(tilewright_testing::Objects::start().get("bucket/a").is_none());
    /// ```
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        lock(&self.state).objects.get(name).map(|stored| stored.bytes.to_vec())
    }

    /// Returns the names of all objects.
    ///
    /// ```
    /// assert!(tilewright_testing::Objects::start().names().is_empty());
    /// ```
    pub fn names(&self) -> Vec<String> {
        lock(&self.state).objects.keys().cloned().collect()
    }

    /// Returns the number of uploads that are neither complete nor aborted.
    ///
    /// ```
    /// assert_eq!(tilewright_testing::Objects::start().open_uploads(), 0);
    /// ```
    pub fn open_uploads(&self) -> usize {
        lock(&self.state).uploads.len()
    }

    /// Plants a fault in the request of this number, counted from 0 since the last [`Objects::take`].
    ///
    /// ```
    /// use tilewright_testing::{Objects, Planted};
    /// Objects::start().plant(0, Planted::Status(503));
    /// ```
    pub fn plant(&self, number: usize, fault: Planted) {
        lock(&self.state).faults.insert(number, fault);
    }

    /// Answers the request of this number once after a minute, counted from 0 since the last [`Objects::take`].
    ///
    /// ```
    /// let server = tilewright_testing::Objects::start();
    /// server.hold(0);
    /// assert!(!server.holds());
    /// ```
    pub fn hold(&self, number: usize) {
        lock(&self.state).held = Some((number, false));
    }

    /// Returns whether that request has come.
    ///
    /// ```
    /// assert!(!tilewright_testing::Objects::start().holds());
    /// ```
    pub fn holds(&self) -> bool {
        lock(&self.state).held.is_some_and(|(_, came)| came)
    }

    /// Returns the number of planted faults that requests have met so far.
    ///
    /// ```
    /// assert_eq!(tilewright_testing::Objects::start().met(), 0);
    /// ```
    pub fn met(&self) -> usize {
        lock(&self.state).met
    }

    /// Returns the requests since the last call, and forgets planted faults and the request that is held.
    ///
    /// ```
    /// assert!(tilewright_testing::Objects::start().take().is_empty());
    /// ```
    pub fn take(&self) -> Vec<Came> {
        let mut state = lock(&self.state);
        state.faults.clear();
        state.held = None;
        std::mem::take(&mut state.came)
    }

    /// Removes an object, if it exists.
    ///
    /// ```
    /// tilewright_testing::Objects::start().remove("bucket/a");
    /// ```
    pub fn remove(&self, name: &str) {
        lock(&self.state).objects.remove(name);
    }

    /// Removes all uploads.
    ///
    /// ```
    /// tilewright_testing::Objects::start().abort_all();
    /// ```
    pub fn abort_all(&self) {
        lock(&self.state).uploads.clear();
    }

    /// Removes all objects and uploads.
    ///
    /// ```
    /// tilewright_testing::Objects::start().clear();
    /// ```
    pub fn clear(&self) {
        let mut state = lock(&self.state);
        state.objects.clear();
        state.uploads.clear();
    }

    /// Returns the variables with which clients of S3 and of the hub use this server.
    ///
    /// ```
    /// let server = tilewright_testing::Objects::start();
    /// assert!(server.variables().iter().any(|(name, _)| *name == "HF_ENDPOINT"));
    /// ```
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.url()),
            ("AWS_ACCESS_KEY_ID", "test".into()),
            ("AWS_SECRET_ACCESS_KEY", "very-secret".into()),
            ("AWS_REGION", "us-east-1".into()),
            ("HF_ENDPOINT", self.url()),
            ("HF_TOKEN", "hf-secret".into()),
            ("GOOGLE_BASE_URL", self.url()),
            ("GOOGLE_SERVICE_ACCOUNT_KEY", KEY.into()),
        ]
    }
}

fn lock(state: &Mutex<ServerState>) -> MutexGuard<'_, ServerState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers requests at a free port; returns its URL.
fn serve(state: Arc<Mutex<ServerState>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
    let port = listener.local_addr().map_or(0, |address| address.port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let state = state.clone();
            // A body that waits for the acknowledgement of its head takes 40 ms.
            let _ = stream.set_nodelay(true);
            thread::spawn(move || while answer_one(&state, &stream).is_some() {});
        }
    });
    format!("http://127.0.0.1:{port}")
}

/// A request.
struct Request {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
    target: String,
}

/// An answer: status, further headers, and the part of some bytes that is its body.
struct Told {
    status: u16,
    headers: Vec<(String, String)>,
    bytes: Arc<Vec<u8>>,
    part: Range<usize>,
}

impl Told {
    fn new(status: u16, body: impl Into<Vec<u8>>) -> Told {
        let bytes = body.into();
        let part = 0..bytes.len();
        Told { status, headers: Vec::new(), bytes: bytes.into(), part }
    }

    fn body(&self) -> &[u8] {
        self.bytes.get(self.part.clone()).unwrap_or_default()
    }

    fn with(mut self, name: &str, value: impl Into<String>) -> Told {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Returns an error as S3 writes it.
    fn error(status: u16, code: &str) -> Told {
        let signed = "<StringToSign>AWS4 very-secret</StringToSign>";
        let text = format!("<Error><Code>{code}</Code><Message>{code}</Message>{signed}</Error>");
        Told::new(status, text)
    }
}

/// Answers the next request of a connection; `None` if the connection ends.
fn answer_one(state: &Mutex<ServerState>, stream: &TcpStream) -> Option<()> {
    let mut asked = read(stream)?;
    let fault = {
        let mut state = lock(state);
        let number = state.came.len();
        let (method, target) = (asked.method.clone(), asked.target.clone());
        let headers = asked.headers.clone();
        state.came.push(Came { method, target, headers, status: 0, sent: 0 });
        let fault = state.faults.get(&number).copied();
        state.met += usize::from(fault.is_some());
        let is_held = state.held == Some((number, false));
        if is_held {
            state.held = Some((number, true));
        }
        drop(state);
        if is_held {
            thread::sleep(HELD);
        }
        (number, fault)
    };
    let (number, fault) = fault;
    let mut told = match fault {
        Some(Planted::Reset) => return None,
        Some(Planted::Status(status)) => Told::error(status, "SlowDown"),
        _ => lock(state).answer(&mut asked),
    };
    told.headers.push(("content-length".into(), told.body().len().to_string()));
    if asked.method == "HEAD" {
        told.part.end = told.part.start;
    }
    if fault == Some(Planted::Lost) {
        return None;
    }
    if fault == Some(Planted::Short) {
        told.part.end = told.part.start + told.part.len() / 2;
    }
    if let Some(came) = lock(state).came.get_mut(number) {
        (came.status, came.sent) = (told.status, told.body().len() as u64);
    }
    write(stream, &told)?;
    (fault != Some(Planted::Short)).then_some(())
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let len = headers.get("content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
    let mut body = vec![0; len];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = pairs.map(|(name, value)| (plain(name), plain(value))).collect();
    Some(Request {
        path: plain(path.trim_start_matches('/')),
        method,
        query,
        headers,
        body,
        target,
    })
}

/// Returns a text with its `%XX` decoded.
fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut left = text.as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let hex = rest.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                left = rest.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                left = rest;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write(mut stream: &TcpStream, told: &Told) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\nx-goog-generation: 1\r\n", told.status);
    for (name, value) in &told.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(told.body()).ok()?;
    stream.flush().ok()
}

impl ServerState {
    fn store(&mut self, name: &str, bytes: Vec<u8>) -> String {
        self.made += 1;
        let tag = format!("\"{:08x}-{}\"", bytes.len(), self.made);
        self.objects.insert(name.into(), Stored { bytes: bytes.into(), tag: tag.clone() });
        tag
    }

    fn answer(&mut self, asked: &mut Request) -> Told {
        if let Some(rest) = asked.path.strip_prefix("api/models/") {
            return self.described(rest);
        }
        if let Some((repo, rest)) = asked.path.split_once("/resolve/") {
            return self.resolved(asked, repo, rest);
        }
        let upload = asked.query.get("uploadId").cloned();
        match (asked.method.as_str(), upload.as_deref()) {
            ("GET", None) if asked.query.contains_key("list-type") => self.listed(asked),
            ("GET" | "HEAD", None) => self.got(asked, &asked.path),
            ("PUT", None) => self.written(asked),
            ("PUT", Some(id)) => self.part(asked, id),
            ("POST", None) if asked.query.contains_key("uploads") => self.begun(asked),
            ("POST", Some(id)) => self.completed(asked, id),
            ("DELETE", Some(id)) => match self.uploads.remove(id) {
                Some(_) => Told::new(204, ""),
                None => Told::error(404, "NoSuchUpload"),
            },
            ("POST", None) if asked.query.contains_key("delete") => self.removed(asked),
            ("DELETE", None) => {
                self.objects.remove(&asked.path);
                Told::new(204, "")
            }
            _ => Told::error(400, "NotUnderstood"),
        }
    }

    fn got(&self, asked: &Request, name: &str) -> Told {
        let Some(Stored { bytes, tag }) = self.objects.get(name) else {
            return Told::error(404, "NoSuchKey");
        };
        if asked.headers.get("if-match").is_some_and(|wanted| wanted != tag) {
            return Told::error(412, "PreconditionFailed");
        }
        let told = |told: Told| {
            told.with("etag", tag).with("last-modified", "Fri, 01 Jan 2027 00:00:00 GMT")
        };
        let range = asked.headers.get("range").and_then(|range| {
            let (from, last) = range.strip_prefix("bytes=")?.split_once('-')?;
            Some((from.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
        });
        let whole = |status, part| Told { status, headers: Vec::new(), bytes: bytes.clone(), part };
        let Some((from, last)) = range else { return told(whole(200, 0..bytes.len())) };
        let end = (last + 1).min(bytes.len());
        if from >= end {
            return Told::error(416, "InvalidRange");
        }
        let said = format!("bytes {from}-{}/{}", end - 1, bytes.len());
        told(whole(206, from..end)).with("content-range", said)
    }

    fn written(&mut self, asked: &mut Request) -> Told {
        // S3 and Google's store spell the same condition.
        let names = ["if-none-match", "x-goog-if-generation-match"];
        let is_new = names.iter().any(|name| asked.headers.contains_key(*name));
        if is_new && self.objects.contains_key(&asked.path) {
            return Told::error(412, "PreconditionFailed");
        }
        let tag = self.store(&asked.path, std::mem::take(&mut asked.body));
        Told::new(200, "").with("etag", tag)
    }

    fn begun(&mut self, asked: &Request) -> Told {
        self.made += 1;
        let id = format!("upload-{}", self.made);
        self.uploads.insert(id.clone(), (asked.path.clone(), BTreeMap::new()));
        let (bucket, key) = asked.path.split_once('/').unwrap_or_default();
        Told::new(
            200,
            format!(
                "<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><Key>{key}</Key><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            ),
        )
    }

    fn part(&mut self, asked: &mut Request, id: &str) -> Told {
        let number = asked.query.get("partNumber").and_then(|number| number.parse().ok());
        let (Some(number), Some((_, parts))) = (number, self.uploads.get_mut(id)) else {
            return Told::error(404, "NoSuchUpload");
        };
        let bytes = std::mem::take(&mut asked.body);
        let tag = format!("\"part-{number}-{}\"", bytes.len());
        parts.insert(number, bytes);
        Told::new(200, "").with("etag", tag)
    }

    fn completed(&mut self, asked: &Request, id: &str) -> Told {
        let Some((_, parts)) = self.uploads.get(id) else {
            return Told::error(404, "NoSuchUpload");
        };
        let text = String::from_utf8_lossy(&asked.body).into_owned();
        let named: Vec<u64> = text
            .split("<PartNumber>")
            .skip(1)
            .filter_map(|rest| rest.split('<').next()?.parse().ok())
            .collect();
        for (at, number) in named.iter().enumerate() {
            let Some(part) = parts.get(number) else { return Told::error(400, "InvalidPart") };
            if at + 1 < named.len() && part.len() < 5 << 20 {
                return Told::error(400, "EntityTooSmall");
            }
        }
        let (name, mut parts) = self.uploads.remove(id).unwrap_or_default();
        let mut bytes = Vec::with_capacity(parts.values().map(Vec::len).sum());
        for number in named {
            bytes.append(&mut parts.remove(&number).unwrap_or_default());
        }
        let tag = self.store(&name, bytes);
        let (bucket, key) = name.split_once('/').unwrap_or_default();
        Told::new(
            200,
            format!(
                "<CompleteMultipartUploadResult><Location>x</Location><Bucket>{bucket}</Bucket><Key>{key}</Key><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
            ),
        )
    }

    /// Removes the objects that the body of a bulk deletion names.
    fn removed(&mut self, asked: &Request) -> Told {
        let text = String::from_utf8_lossy(&asked.body).into_owned();
        let bucket = asked.path.trim_matches('/');
        let mut said = String::from("<DeleteResult>");
        for key in text.split("<Key>").skip(1).filter_map(|rest| rest.split('<').next()) {
            self.objects.remove(&format!("{bucket}/{key}"));
            let _ = write!(said, "<Deleted><Key>{key}</Key></Deleted>");
        }
        Told::new(200, said + "</DeleteResult>")
    }

    fn listed(&self, asked: &Request) -> Told {
        let bucket = asked.path.trim_matches('/');
        let prefix = asked.query.get("prefix").map_or("", String::as_str);
        let mut said =
            format!("<ListBucketResult><Name>{bucket}</Name><IsTruncated>false</IsTruncated>");
        let mut folders = std::collections::BTreeSet::new();
        for (name, Stored { bytes, tag }) in &self.objects {
            let Some(key) = name.strip_prefix(bucket).and_then(|key| key.strip_prefix('/')) else {
                continue;
            };
            let Some(rest) = key.strip_prefix(prefix) else { continue };
            match rest.split_once('/').filter(|_| asked.query.contains_key("delimiter")) {
                Some((folder, _)) => {
                    folders.insert(format!("{prefix}{folder}/"));
                }
                None => {
                    let len = bytes.len();
                    let _ = write!(
                        said,
                        "<Contents><Key>{key}</Key><LastModified>2027-01-01T00:00:00.000Z</LastModified><ETag>{tag}</ETag><Size>{len}</Size></Contents>"
                    );
                }
            }
        }
        for folder in folders {
            let _ = write!(said, "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>");
        }
        Told::new(200, said + "</ListBucketResult>").with("content-type", "application/xml")
    }

    /// Describes a repository: `owner/name/revision/REVISION`.
    fn described(&self, rest: &str) -> Told {
        let repo = rest.split_once("/revision/").map_or(rest, |(repo, _)| repo);
        let Some(commit) = self.commits.get(repo) else { return Told::new(404, "{}") };
        let prefix = format!("{repo}/");
        let files = self.objects.iter().filter_map(|(name, stored)| {
            let path = name.strip_prefix(&prefix)?;
            Some(format!(r#"{{"rfilename":"{path}","size":{}}}"#, stored.bytes.len()))
        });
        let files: Vec<String> = files.collect();
        Told::new(200, format!(r#"{{"sha":"{commit}","siblings":[{}]}}"#, files.join(",")))
    }

    /// Answers for a file of a repository: texts directly, others by a redirection to the storage.
    fn resolved(&self, asked: &Request, repo: &str, rest: &str) -> Told {
        let Some(commit) = self.commits.get(repo) else { return Told::new(404, "") };
        let (revision, path) = rest.split_once('/').unwrap_or_default();
        let name = format!("{repo}/{path}");
        let Some(stored) =
            self.objects.get(&name).filter(|_| revision == "main" || revision == commit)
        else {
            return Told::new(404, "");
        };
        if path.ends_with(".json") {
            return self.got(asked, &name).with("x-repo-commit", commit);
        }
        Told::new(302, "")
            .with("location", format!("{}/{name}?X-Amz-Signature=signed-secret", self.storage))
            .with("x-repo-commit", commit)
            .with("x-linked-etag", &stored.tag)
            .with("x-linked-size", stored.bytes.len().to_string())
    }
}
