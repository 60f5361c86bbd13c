//! Requests: the layouts of the tensors of a file, and settings of the work.

use tilewright_core::{ByteOrder, Dtype, Fill, Remedy};
use tilewright_notation::Spec;
use tilewright_transfer::Limits;

use crate::{Error, Reading, Tensor, Watch, convert::budget, error, open::globs::Pattern};

/// The bound on buffers if no other is set, in bytes.
pub const DEFAULT_MEMORY: u64 = 1 << 30;

/// The layouts that tensors get, and settings of the work.
///
/// A tensor gets the layout of the first rule whose pattern matches its name, else the one given by [`Request::to`]; without
/// either, or if [`Request::only`] excludes it, it is copied unchanged.
///
/// ```
/// use tilewright_files::Request;
/// use tilewright_notation::Spec;
/// let request = Request::new()
///     .to(Spec::parse("zN").unwrap())
///     .rule("*.bias", Spec::parse("row-major").unwrap())
///     .only("model.*")
///     .memory(64 << 20)
///     .verify(true);
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) to: Option<Spec>,
    pub(crate) rules: Vec<(String, Spec)>,
    pub(crate) only: Vec<String>,
    pub(crate) reading: Reading,
    pub(crate) fill: Option<Fill>,
    pub(crate) verify: bool,
    pub(crate) threads: usize,
    pub(crate) memory: u64,
    pub(crate) force: bool,
    pub(crate) skip_unfit: bool,
    pub(crate) any_config: bool,
    pub(crate) store: Option<Dtype>,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            to: None,
            rules: Vec::new(),
            only: Vec::new(),
            reading: Reading::default(),
            fill: None,
            verify: false,
            threads: 1,
            memory: DEFAULT_MEMORY,
            force: false,
            skip_unfit: false,
            any_config: false,
            store: None,
        }
    }
}

impl Request {
    /// Returns a request with one thread, [`DEFAULT_MEMORY`], and no layout yet.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// // No layout is requested yet.
    /// assert!(jobs(Request::new()).unwrap_err().is_usage());
    /// ```
    pub fn new() -> Request {
        Request::default()
    }

    /// Sets the layout of every tensor that no rule matches.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// let jobs = jobs(Request::new().to(spec("col-major"))).unwrap();
    /// assert!(jobs.iter().all(|job| job.to().name() == "col-major"));
    /// ```
    pub fn to(mut self, spec: Spec) -> Request {
        self.to = Some(spec);
        self
    }

    /// Adds a rule: the layout of the tensors whose names match `glob` (`*`, `?`, `[…]`, `{a,b}`) and no earlier rule.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// let request = Request::new().rule("*.bias", spec("{0:T(128)}"));
    /// let padded = jobs(request).unwrap().into_iter().filter(|job| job.padding() > 0);
    /// assert!(padded.into_iter().all(|job| job.name().ends_with(".bias")));
    /// // A pattern that matches nothing is an error.
    /// let error = jobs(Request::new().rule("*.bais", spec("{0}"))).unwrap_err();
    /// assert!(error.to_string().contains("similar names:"));
    /// ```
    pub fn rule(mut self, glob: impl Into<String>, spec: Spec) -> Request {
        self.rules.push((glob.into(), spec));
        self
    }

    /// Restricts layouts to tensors whose names match this or another such pattern.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// let jobs = jobs(Request::new().to(spec("{0:T(128)}")).only("0.bias")).unwrap();
    /// assert_eq!(jobs.iter().filter(|job| job.padding() > 0).count(), 1);
    /// ```
    pub fn only(mut self, glob: impl Into<String>) -> Request {
        self.only.push(glob.into());
        self
    }

    /// Sets the layout in which the converted tensors are read, instead of that of the file.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// let request = Request::new().to(spec("row-major")).from(spec("col-major"));
    /// assert!(jobs(request).unwrap().iter().all(|job| job.from().name() == "col-major"));
    /// ```
    pub fn from(mut self, spec: Spec) -> Request {
        self.reading.from = Some(spec);
        self
    }

    /// Sets the logical dims of the converted tensors, instead of those of the file. Tensors of safetensors files have dims; they
    /// are read with others only together with [`Request::from`].
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// let request = Request::new().to(spec("col-major")).only("0.bias").dims(&[2, 16]);
    /// // A safetensors file knows the dims, so another layout must be the reason.
    /// # use tilewright_core::Remedy;
    /// assert!(jobs(request.clone()).unwrap_err().remedies().contains(&Remedy::Source));
    /// assert!(jobs(request.from(spec("row-major"))).is_ok());
    /// ```
    pub fn dims(mut self, dims: &[u64]) -> Request {
        self.reading.dims = Some(dims.to_vec());
        self
    }

    /// Sets the element type of the converted tensors, instead of that of the file: `s4` for 4-bit values kept in bytes. Tensors
    /// of safetensors files have a type; they are read as another only together with [`Request::from`].
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// let s32 = tilewright_notation::dtype("s32").unwrap();
    /// let request = Request::new().to(spec("{0:T(128)}")).only("0.bias").from(spec("row-major"));
    /// let jobs = jobs(request.dtype(s32)).unwrap();
    /// let bias = jobs.iter().find(|job| job.name() == "0.bias").unwrap();
    /// assert!(bias.to().to_spec().starts_with("s32["));
    /// ```
    pub fn dtype(mut self, dtype: Dtype) -> Request {
        self.reading.dtype = Some(dtype);
        self
    }

    /// Sets the order of an element's bytes, as in [`Reading::order`].
    ///
    /// ```
    /// # use tilewright_files::{Request, open};
    /// # use tilewright_notation::dtype;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// use tilewright_core::ByteOrder;
    /// let request = Request::new().dims(&[2, 3]).dtype(dtype("f32").unwrap()).order(ByteOrder::Big);
    /// assert!(open(format!("raw:{}", path.display()), request.reading()).is_ok());
    /// ```
    pub fn order(mut self, order: ByteOrder) -> Request {
        self.reading.order = Some(order);
        self
    }

    /// Stores converted tensors as words of this type, whose shape follows from the layout: elements of 4 bits as `s32`. It
    /// applies to all requested layouts; `MARLIN as s32` sets it in one layout.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("layer.npy");
    /// # let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (8, 64), }";
    /// # let head = [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    /// # std::fs::write(&path, [&head[..], &[7; 8 * 64 * 4]].concat()).unwrap();
    /// # let spec = |text| Spec::parse(text).unwrap();
    /// let request = Request::new().from(spec("GPTQ")).dtype(dtype("u4").unwrap()).to(spec("MARLIN"));
    /// let request = request.store(dtype("s32").unwrap());
    /// let input = open(&path, request.reading()).unwrap();
    /// let conversion = Conversion::prepare(&input, folder.path().join("marlin.npy"), request).unwrap();
    /// let job = &conversion.jobs()[0];
    /// assert_eq!(job.from().to_spec(), "u4[64,64]E(4) GPTQ");
    /// assert_eq!(job.to().to_spec(), "u4[64,64]E(4) MARLIN as s32[4,128]");
    /// ```
    pub fn store(mut self, dtype: Dtype) -> Request {
        self.store = Some(dtype);
        self
    }

    /// Returns the request with its layouts spelled as the requested words.
    pub(crate) fn spelled(mut self) -> Result<Request, Error> {
        let Some(dtype) = self.store.take() else { return Ok(self) };
        let spelled = |spec: &Spec| {
            spec.stored_as(dtype)
                .map_err(|error| error::usage(format!("stored as {dtype}: {}", error.message())))
        };
        self.to = self.to.as_ref().map(spelled).transpose()?;
        let rules = self.rules.iter().map(|(glob, spec)| Ok((glob.clone(), spelled(spec)?)));
        self.rules = rules.collect::<Result<_, Error>>()?;
        Ok(self)
    }

    /// Sets the fill of padding if the layouts do not state it; without both it is zero bytes.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// use tilewright_core::Fill;
    /// let request = Request::new().to(spec("{0:T(128)}")).only("0.bias").fill(Fill::Lowest);
    /// let jobs = jobs(request).unwrap();
    /// assert!(jobs.iter().any(|job| job.to().fill() == Fill::Lowest));
    /// ```
    pub fn fill(mut self, fill: Fill) -> Request {
        self.fill = Some(fill);
        self
    }

    /// Sets whether the result is read back and compared before it gets its name.
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
    /// assert!(conversion.run(&()).unwrap().verified().is_some());
    /// ```
    pub fn verify(mut self, verify: bool) -> Request {
        self.verify = verify;
        self
    }

    /// Sets the number of threads that move elements, or compare them; 0 for one per core.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// let written = |threads: usize| {
    ///     let out = folder.path().join(format!("{threads}.safetensors"));
    ///     let request = Request::new().to(Spec::parse("col-major").unwrap()).threads(threads);
    ///     Conversion::prepare(&input, &out, request).unwrap().run(&()).unwrap();
    ///     std::fs::read(out).unwrap()
    /// };
    /// assert_eq!(written(1), written(0));
    /// ```
    pub fn threads(mut self, threads: usize) -> Request {
        self.threads = threads;
        self
    }

    /// Sets the bound on memory, in bytes, whatever the size of a tensor; at least 4096. Buffers are counted, and the memory of
    /// tensors besides them beyond 64 MiB: 3 KiB for each tensor of the input and of the result, and twice that if the result is
    /// verified. So a bound of 1 GiB is enough for 180,000 tensors; a smaller bound leaves no buffers for a file of more, and the
    /// error states the needed bound.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// assert!(jobs(Request::new().to(spec("col-major")).memory(4096)).is_ok());
    /// let error = jobs(Request::new().to(spec("col-major")).memory(4095)).unwrap_err();
    /// assert!(error.is_usage() && error.to_string().contains("at least 4096"));
    /// ```
    pub fn memory(mut self, bytes: u64) -> Request {
        self.memory = bytes;
        self
    }

    /// Sets whether an existing output may be replaced.
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
    /// conversion.run(&()).unwrap();
    /// let again = || Request::new().to(Spec::parse("row-major").unwrap());
    /// assert_eq!(Conversion::prepare(&input, &out, again()).unwrap_err().kind(), "exists");
    /// assert!(Conversion::prepare(&input, &out, again().force(true)).is_ok());
    /// ```
    pub fn force(mut self, force: bool) -> Request {
        self.force = force;
        self
    }

    /// Sets whether a tensor that its layout does not fit is copied unchanged, and listed, instead of being an error.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Error, Job, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # fn jobs(request: Request) -> Result<Vec<Job>, Error> {
    /// #     let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// #     let input = open(path, &Reading::default())?;
    /// #     let folder = tempfile::tempdir().unwrap();
    /// #     let out = folder.path().join("out.safetensors");
    /// #     Ok(Conversion::prepare(&input, out, request)?.jobs().to_vec())
    /// # }
    /// # let spec = |text: &str| Spec::parse(text).unwrap();
    /// use tilewright_files::Action;
    /// let jobs = jobs(Request::new().to(spec("NHWC")).skip_unfit(true)).unwrap();
    /// let skipped = jobs.iter().filter(|job| matches!(job.action(), Action::Skip(_)));
    /// assert!(skipped.count() > 0);
    /// ```
    pub fn skip_unfit(mut self, skip: bool) -> Request {
        self.skip_unfit = skip;
        self
    }

    /// Converts tensors even if `config.json` or the zero points beside a tensor state another quantisation than the layouts
    /// presume.
    ///
    /// ```
    /// use tilewright_files::{Conversion, Reading, Request, open};
    /// use tilewright_notation::{Spec, dtype};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_gptq.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let model = folder.path().join("model.safetensors");
    /// std::fs::copy(path, &model).unwrap();
    /// let config = r#"{"quantization_config": {"quant_method": "awq"}}"#;
    /// std::fs::write(folder.path().join("config.json"), config).unwrap();
    /// let input = open(&model, &Reading::default()).unwrap();
    /// let spec = |text| Spec::parse(text).unwrap();
    /// let request = Request::new().to(spec("MARLIN")).from(spec("GPTQ")).only("*qweight");
    /// let request = request.dtype(dtype("u4").unwrap()).store(dtype("s32").unwrap());
    /// let out = folder.path().join("out.safetensors");
    /// assert!(Conversion::prepare(&input, &out, request.clone()).unwrap_err().is_usage());
    /// assert!(Conversion::prepare(&input, &out, request.any_config(true)).is_ok());
    /// ```
    pub fn any_config(mut self, any: bool) -> Request {
        self.any_config = any;
        self
    }

    /// Returns whether any layout is requested.
    pub(crate) fn asks(&self) -> bool {
        self.to.is_some() || !self.rules.is_empty()
    }

    /// Returns the settings with which [`open`](crate::open) reads a file of one array for this request.
    ///
    /// ```
    /// # use tilewright_files::{Request, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// let request = Request::new().dims(&[2, 3]).dtype(dtype("f32").unwrap());
    /// let input = open(format!("raw:{}", path.display()), request.reading()).unwrap();
    /// assert_eq!(input.tensors()[0].dims(), [2, 3]);
    /// ```
    pub fn reading(&self) -> &Reading {
        &self.reading
    }
}

impl Request {
    /// Returns the limits of a run that only reads. `tensors` is the number of tensors that a message names, `held` that of all
    /// tensors that are held.
    pub(crate) fn limits<'w>(
        &self,
        watch: &'w dyn Watch,
        (tensors, held): (usize, usize),
    ) -> Result<Limits<'w>, Error> {
        Ok(Limits::new(watch, budget::beside(self.memory, tensors, held)?, self.threads))
    }
}

/// Returns an error unless the bound leaves room to work.
pub(crate) fn check_memory(memory: u64) -> Result<(), Error> {
    if memory >= budget::LEAST {
        return Ok(());
    }
    let least = budget::LEAST;
    let said = format!("{memory} bytes of buffers are too few");
    Err(error::usage(said).with(&[Remedy::MoreMemory { least: Some(least) }]))
}

/// The compiled patterns of a request.
pub(crate) struct Choice<'a> {
    rules: Vec<(Pattern, &'a Spec)>,
    only: Vec<Pattern>,
    to: Option<&'a Spec>,
}

impl<'a> Choice<'a> {
    /// Compiles the patterns; each must match one of the tensors.
    pub(crate) fn new(request: &'a Request, tensors: &[Tensor]) -> Result<Choice<'a>, Error> {
        if !request.asks() {
            let error = error::usage("no layout to convert to");
            return Err(error.with(&[Remedy::Target, Remedy::Rule]));
        }
        let names = tensors.iter().map(|tensor| tensor.name.as_str());
        let rule =
            |(glob, spec): &'a (String, Spec)| Ok((Pattern::matching(glob, names.clone())?, spec));
        Ok(Choice {
            rules: request.rules.iter().map(rule).collect::<Result<_, Error>>()?,
            only: only(request, tensors)?,
            to: request.to.as_ref(),
        })
    }

    /// Returns the layout requested for a tensor.
    pub(crate) fn of(&self, name: &str) -> Option<&'a Spec> {
        if !is_meant(&self.only, name) {
            return None;
        }
        let rule = self.rules.iter().find(|(pattern, _)| pattern.matches(name));
        rule.map(|(_, spec)| *spec).or(self.to)
    }
}

/// Returns the patterns of [`Request::only`], each of which matches one of the tensors.
pub(crate) fn only(request: &Request, tensors: &[Tensor]) -> Result<Vec<Pattern>, Error> {
    let names = tensors.iter().map(|tensor| tensor.name.as_str());
    request.only.iter().map(|glob| Pattern::matching(glob, names.clone())).collect()
}

/// Returns whether a tensor is selected; without patterns every tensor is.
pub(crate) fn is_meant(only: &[Pattern], name: &str) -> bool {
    only.is_empty() || only.iter().any(|pattern| pattern.matches(name))
}
