//! What a run of a conversion did.

/// What a run did.
///
/// ```
/// # use tilewright_files::{Conversion, Reading, Request, open};
/// # use tilewright_notation::Spec;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// # let input = open(path, &Reading::default()).unwrap();
/// # let folder = tempfile::tempdir().unwrap();
/// # let out = folder.path().join("zn.safetensors");
/// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
/// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
/// let report = conversion.run(&()).unwrap();
/// assert!(report.bytes_written() > report.bytes_read() && report.verified().is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
    pub(crate) verified: Option<u64>,
    pub(crate) peak: u64,
}

impl Report {
    /// Bytes of tensors read, those read again for verification not counted.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let read: u64 = conversion.jobs().iter().map(|job| job.bytes_in()).sum();
    /// assert_eq!(conversion.run(&()).unwrap().bytes_read(), read);
    /// ```
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Bytes written, headers included.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let report = conversion.run(&()).unwrap();
    /// assert_eq!(report.bytes_written(), std::fs::metadata(&out).unwrap().len());
    /// ```
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Bytes compared, where verification was asked for.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let written: u64 = conversion.jobs().iter().map(|job| job.bytes_out()).sum();
    /// assert_eq!(conversion.run(&()).unwrap().verified(), Some(written));
    /// ```
    pub fn verified(&self) -> Option<u64> {
        self.verified
    }

    /// The most bytes of buffers that were in use at once.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let peak = conversion.run(&()).unwrap().peak_memory();
    /// assert!(peak > 0 && peak <= tilewright_files::DEFAULT_MEMORY);
    /// ```
    pub fn peak_memory(&self) -> u64 {
        self.peak
    }
}
