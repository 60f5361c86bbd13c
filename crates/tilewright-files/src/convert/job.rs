//! Decides how a conversion handles one tensor.

use std::path::Path;

use tilewright_core::{ByteOrder, Fill, Remedy};
use tilewright_notation::{ArrayLayout, Lists, ResolvedLayout, Spec};
use tilewright_relayout::{Elements, Extend, Plan, Program};

use crate::{
    Error, Reading, Request, Tensor,
    convert::shares::Shares,
    error,
    layout::{
        dtype,
        element_layout::{ElementLayout, check_width, width_in},
        note_file::check_note,
        record::{self, Record},
    },
    open::reading::{self, AsStated},
};

/// The operation on a tensor.
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
/// use tilewright_files::Action;
/// let converted = conversion.jobs().iter().filter(|job| *job.action() == Action::Convert);
/// assert_eq!(converted.count(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its elements move.
    Convert,
    /// Its bytes are copied: no layout was requested for it, or it has that layout already.
    Copy,
    /// Its bytes are copied, because the requested layout does not fit it; contains the reason.
    Skip(String),
}

/// One tensor of a conversion, as `--dry-run` shows it.
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
/// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
/// assert_eq!(job.name(), "model.layers.0.self_attn.k_proj.weight");
/// assert_eq!(job.to().to_spec(), "bf16[50,200] zN");
/// ```
#[derive(Clone, Debug)]
pub struct Job {
    pub(crate) tensor: usize,
    pub(crate) name: String,
    pub(crate) from: ElementLayout,
    pub(crate) to: ElementLayout,
    pub(crate) fill: u128,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) kernel: String,
    pub(crate) action: Action,
    pub(crate) already_so: bool,
    pub(crate) record: Record,
}

impl Job {
    /// Returns the tensor's name.
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
    /// assert_eq!(conversion.jobs()[0].name(), "ids.i64");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the layout in which it is read.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(job.from().to_spec(), "bf16[50,200] row-major");
    /// ```
    pub fn from(&self) -> &ResolvedLayout {
        &self.from.named
    }

    /// Returns the layout in which it is written.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(job.to().to_spec(), "bf16[50,200] zN");
    /// ```
    pub fn to(&self) -> &ResolvedLayout {
        &self.to.named
    }

    /// Returns its number of bytes in the input.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(job.bytes_in(), 50 * 200 * 2);
    /// ```
    pub fn bytes_in(&self) -> u64 {
        self.bytes_in
    }

    /// Returns its number of bytes in the output.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(job.bytes_out(), 64 * 208 * 2);
    /// ```
    pub fn bytes_out(&self) -> u64 {
        self.bytes_out
    }

    /// Returns the number of bytes of the output without elements.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(job.padding(), job.bytes_out() - job.bytes_in());
    /// ```
    pub fn padding(&self) -> u64 {
        self.to.padding_bytes()
    }

    /// Returns the name of the kernel that moves most of the elements, as [`Plan::kernel_name`]; `copy` if nothing moves. If
    /// memory allows only parts of the result, the name is that of the first part.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert!(!job.kernel().is_empty());
    /// assert_eq!(conversion.jobs()[0].kernel(), "copy");
    /// ```
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Returns the operation on it.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(*job.action(), tilewright_files::Action::Convert);
    /// ```
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Returns whether the tensor already has the layout that was requested for it, so that its bytes are copied.
    ///
    /// ```
    /// use tilewright_files::{Action, Conversion, Reading, Request, open};
    /// use tilewright_notation::Spec;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default()).unwrap();
    /// let request = Request::new().rule("*.bias", Spec::parse("row-major").unwrap());
    /// let out = std::env::temp_dir().join("tilewright-not-written.safetensors");
    /// let conversion = Conversion::prepare(&input, &out, request).unwrap();
    /// assert!(conversion.jobs().iter().all(|job| *job.action() == Action::Copy));
    /// let so = |job: &&tilewright_files::Job| job.is_already_so();
    /// assert_eq!(conversion.jobs().iter().filter(so).count(), 4);
    /// ```
    pub fn is_already_so(&self) -> bool {
        self.already_so
    }

    /// Returns the plan that moves the elements.
    pub(crate) fn plan(&self) -> Result<Plan, Error> {
        program(&self.name, &self.from, &self.to, self.fill).map(Plan::of)
    }

    /// Sets the kernel for a result that must be written in order, even if that is slower.
    pub(crate) fn in_order(&mut self, memory: u64) -> Result<(), Error> {
        if self.action == Action::Convert {
            let kernel = Shares::of(memory).kernel(&self.plan()?, false);
            self.kernel = kernel.map_err(|error| unplanned(&self.name, &error))?;
        }
        Ok(())
    }

    /// Returns the job of a tensor whose bytes are copied.
    pub(crate) fn copy(number: usize, tensor: &Tensor, action: Action) -> Job {
        Job {
            tensor: number,
            name: tensor.name.clone(),
            from: tensor.held.clone(),
            to: tensor.held.clone(),
            fill: 0,
            bytes_in: tensor.len,
            bytes_out: tensor.len,
            kernel: "copy".into(),
            action,
            already_so: false,
            record: tensor.recorded().map_or(Record::None, Record::Checked),
        }
    }

    /// Returns the job of a tensor of the file at `path` for which `spec` was requested; its bytes keep their order if the format
    /// of the result can state it.
    pub(crate) fn new(
        number: usize,
        (path, tensor): (&Path, &Tensor),
        spec: &Spec,
        request: &Request,
        (ordered, lists): (bool, &dyn Lists),
    ) -> Result<Job, Error> {
        let name = &tensor.name;
        let (from, to) = match ends(tensor, spec, request, (ordered, lists))? {
            Ok(ends) => ends,
            Err(unfit) if request.skip_unfit => {
                return Ok(Job::copy(number, tensor, Action::Skip(unfit.said)));
            }
            Err(unfit) => return Err(unfit.error(path)),
        };
        let fill = stored_fill(name, &to)?;
        let alike = match (from.tables(), to.tables()) {
            (None, None) => from.layout() == to.layout(),
            _ => {
                from.places_as(&to).unwrap_or(false)
                    && from.layout().capacity() == to.layout().capacity()
            }
        };
        let same = alike && (from.bits, from.order) == (to.bits, to.order);
        let record = recorded(tensor, &from, &to);
        // A conversion has filled the padding of noted tensors.
        let filled = tensor.noted.is_some() && to.named.fill() == tensor.fill();
        if same && (to.padding_bytes() == 0 || filled) {
            let copy = Job::copy(number, tensor, Action::Copy);
            return Ok(Job { from, to, fill, already_so: true, record, ..copy });
        }
        let plan = match program(name, &from, &to, fill).map(Plan::of) {
            Ok(plan) => plan,
            Err(error) if request.skip_unfit => {
                return Ok(Job::copy(number, tensor, Action::Skip(error.to_string())));
            }
            Err(error) => return Err(error),
        };
        let kernel = Shares::of(request.memory)
            .kernel(&plan, true)
            .map_err(|error| unplanned(name, &error))?;
        let bytes_out = plan.dst_bytes();
        let moved = Job::copy(number, tensor, Action::Convert);
        Ok(Job { from, to, fill, bytes_out, kernel, record, ..moved })
    }

    /// Returns the number of bytes whose order is reversed when they are read; 1 for none.
    pub(crate) fn reversed(&self) -> usize {
        reversed(&self.from, &self.to)
    }

    /// Returns whether a note about the result differs from that of its file, even if only the wording for the same bytes
    /// differs.
    pub(crate) fn says_anew(&self, tensor: &Tensor) -> bool {
        self.action == Action::Convert || !self.to.has_spec_of(&tensor.held)
    }

    /// Returns whether the result is dense and row-major, as in a file without notes.
    pub(crate) fn is_plain(&self) -> bool {
        self.to.is_row_major()
    }

    /// Returns the layouts of the source and of the result, each as one SPEC with its index tables.
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
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(job.specs().1, "bf16[50,200] zN");
    /// ```
    pub fn specs(&self) -> (String, String) {
        (self.from.spec(), self.to.spec())
    }

    /// Returns the layouts in which it is read and written, with their index tables if they have any.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let out = std::env::temp_dir().join("tilewright-not-written.safetensors");
    /// let request = Request::new().rule("mask.bool", Spec::parse("table(0; 4,1,0,2,3) row-major").unwrap());
    /// let conversion = Conversion::prepare(&input, &out, request).unwrap();
    /// let job = conversion.jobs().iter().find(|job| job.name() == "mask.bool").unwrap();
    /// assert!(!job.array_layouts().0.has_tables() && job.array_layouts().1.has_tables());
    /// ```
    pub fn array_layouts(&self) -> (ArrayLayout, ArrayLayout) {
        (self.from.array_layout(), self.to.array_layout())
    }
}

/// Returns the record for the data of a tensor that is read and written in these layouts.
fn recorded(tensor: &Tensor, from: &ElementLayout, to: &ElementLayout) -> Record {
    let own = tensor.recorded().filter(|_| tensor.held.has_data_of(from));
    let unchanged = to.has_spec_of(&tensor.held);
    match own {
        Some(own) => Record::Checked(own),
        None if unchanged && tensor.noted.is_some() || !record::is_summed(from) => Record::None,
        None => Record::Summed,
    }
}

/// Returns the number of bytes whose order is reversed; 1 for none.
pub(crate) fn reversed(from: &ElementLayout, to: &ElementLayout) -> usize {
    match from.order == to.order {
        true => 1,
        false => dtype::number_bytes(from.dtype, from.bits),
    }
}

/// Returns the bits of an element of padding.
pub(crate) fn stored_fill(name: &str, to: &ElementLayout) -> Result<u128, Error> {
    to.dtype.stored_fill(to.named.fill(), to.bits, to.order).map_err(|error| {
        let (dtype, fill) = (to.dtype, dtype::fill_text(to.named.fill()));
        error::usage(format!("tensor {name:?}: a fill of {fill} for {dtype}: {error}"))
    })
}

/// The reason why a tensor cannot be read or written as requested.
pub(crate) struct Unfit {
    said: String,
    /// True if no layout can be given to the tensor.
    refused: bool,
}

impl Unfit {
    /// Returns the error, with the legal alternatives.
    pub(crate) fn error(self, path: &Path) -> Error {
        let Unfit { said, refused } = self;
        if refused {
            return error::unsupported(path, said).with(&[Remedy::LeaveOut, Remedy::SkipUnfit]);
        }
        error::usage(said).with(&[Remedy::LeaveOut, Remedy::OtherLayout, Remedy::SkipUnfit])
    }

    /// Returns the error if no other tensors are requested.
    pub(crate) fn alone(self, path: &Path) -> Error {
        if self.refused { error::unsupported(path, self.said) } else { error::usage(self.said) }
    }
}

/// Returns the layout in which a tensor is read for this request; the inner error is the reason why it cannot be read.
pub(crate) fn read_as(
    tensor: &Tensor,
    reading: &Reading,
    lists: &dyn Lists,
) -> Result<ElementLayout, Unfit> {
    let name = &tensor.name;
    if let Some(refusal) = &tensor.refusal {
        return Err(Unfit { said: format!("tensor {name:?}: {refusal}"), refused: true });
    }
    let unfit = |said| Unfit { said, refused: false };
    let order = dtype::stated_order(&tensor.file_dtype);
    let stated = AsStated { name, held: &tensor.held, len: tensor.len, order };
    if tensor.noted.is_none() {
        return reading::reread(stated, reading, lists).map_err(unfit);
    }
    let note = || format!("the metadata {:?}", format!("{}{name}", record::LAYOUT_KEY));
    reading::reread_noted(stated, reading, lists, &note).map_err(unfit)
}

/// Returns the layout in which a tensor is read, and the requested layout.
fn ends(
    tensor: &Tensor,
    spec: &Spec,
    request: &Request,
    (ordered, lists): (bool, &dyn Lists),
) -> Result<Result<(ElementLayout, ElementLayout), Unfit>, Error> {
    let from = match read_as(tensor, &request.reading, lists) {
        Ok(from) => from,
        Err(unfit) => return Ok(Err(unfit)),
    };
    // The fill of the run applies to layouts without a fill that come from rules.
    let is_default = request.to.as_ref() != Some(spec);
    let to = target(&tensor.name, &from, spec, (request.fill, is_default), (ordered, lists))?;
    Ok(to.map(|to| (from, to)).map_err(|said| Unfit { said, refused: false }))
}

/// Returns the requested layout for this tensor; the inner error is the reason why it does not fit. Bytes are in the order that
/// the layout states; else they keep theirs if both files can state it, else the lowest is first.
pub(crate) fn target(
    name: &str,
    from: &ElementLayout,
    spec: &Spec,
    fill: (Option<Fill>, bool),
    (ordered, lists): (bool, &dyn Lists),
) -> Result<Result<ElementLayout, String>, Error> {
    let dims = from.dims();
    if !spec.fits(dims.len()) {
        let rank = dims.len();
        return Ok(Err(format!(
            "tensor {name:?} of dims {dims:?} has rank {rank}, which {spec} does not fit"
        )));
    }
    let tabled = match spec.array_layout(Some(dims), Some(from.dtype), lists) {
        Ok(tabled) => tabled,
        // A format may lack constants for such elements.
        Err(error) if error.is_mismatch() || from.together() > 1 => {
            return Ok(Err(format!("tensor {name:?} of dims {dims:?}: {}", error.message())));
        }
        Err(error) => {
            let said = format!("tensor {name:?} of dims {dims:?}: {}", error.message());
            return Err(error::usage(said).with(error.remedies()));
        }
    };
    let named = tabled.stored();
    let stored = named.stored_as().and(named.element_bits());
    let bits = match named.explicit_bits().or(stored) {
        Some(bits) => bits,
        // A layout that names its own element type also determines its width; any other keeps the width.
        None if names_dtype(spec) => width_in(named).unwrap_or(from.bits),
        None => from.bits,
    };
    check_width(from.dtype, bits)
        .map_err(|said| error::usage(format!("tensor {name:?}: {spec} asks for {said}")))?;
    let fill = one_fill(name, spec, named.fill(), fill)?;
    let kept = if ordered { from.order } else { ByteOrder::Little };
    let order = named.byte_order().unwrap_or(kept);
    // Without padding, a fill that no element can have is harmless.
    let padded = named.layout().padding() > 0 || tabled.layout().has_holes();
    let fits = padded || from.dtype.stored_fill(fill, bits, order).is_ok();
    let fill = if fits { fill } else { Fill::Unspecified };
    let held = ElementLayout::of(named, from.dtype, bits, fill)
        .and_then(|held| held.ordered(order))
        .and_then(|held| held.with_tables(&tabled));
    let to = match held {
        Ok(to) => to,
        Err(said) => return Ok(Err(format!("tensor {name:?} of dims {dims:?}: {said}"))),
    };
    if to.tables().is_some() {
        check_note(name, &to)?;
    }
    if to.order.is_big() && bits != from.bits {
        let said =
            format!("tensor {name:?}: big-endian elements keep their width of {} bits", from.bits);
        return Err(error::usage(said));
    }
    Ok(Ok(to))
}

/// Returns whether a SPEC names an element type: `s4[6,48]{1,0}` does, `{1,0}` and `(6,48):(48,1)` do not.
fn names_dtype(spec: &Spec) -> bool {
    spec.is_concrete()
        && spec.array_layout(None, None, &()).is_ok_and(|it| it.stored().dtype().is_some())
}

/// Returns the fill of padding from those of the layout and of the request.
fn one_fill(
    name: &str,
    spec: &Spec,
    own: Fill,
    (asked, is_default): (Option<Fill>, bool),
) -> Result<Fill, Error> {
    match asked {
        Some(_) if is_default && own != Fill::Unspecified => Ok(own),
        Some(asked) if own != Fill::Unspecified && own != asked => {
            let (asked, own) = (dtype::fill_text(asked), dtype::fill_text(own));
            Err(error::usage(format!(
                "tensor {name:?}: the requested fill of the padding is {asked}, and {own} by {spec}; state it in one place"
            )))
        }
        Some(asked) => Ok(asked),
        None => Ok(own),
    }
}

/// Returns the number of bytes of all results.
pub(crate) fn total_bytes(jobs: &[Job]) -> u64 {
    jobs.iter().map(|job| job.bytes_out).fold(0, u64::saturating_add)
}

/// Returns the program that moves all elements of a tensor.
pub(crate) fn program(
    name: &str,
    from: &ElementLayout,
    to: &ElementLayout,
    fill: u128,
) -> Result<Program, Error> {
    let program = match (from.tables(), to.tables()) {
        (None, None) => Program::new(from.layout(), to.layout(), elements(from, to), fill),
        _ => Program::of_arrays(&from.map(), &to.map(), elements(from, to), fill),
    };
    program.map_err(|error| unplanned(name, &error))
}

/// Returns the widths of elements that move, and the bits that extend wider ones.
pub(crate) fn elements(from: &ElementLayout, to: &ElementLayout) -> Elements {
    let extend = if from.dtype.is_signed_integer() { Extend::Sign } else { Extend::Zero };
    Elements { src_bits: from.bits, dst_bits: to.bits, extend }
}

/// Returns the error for a tensor that no plan moves.
pub(crate) fn unplanned(name: &str, error: &Error) -> Error {
    error::usage(format!("tensor {name:?}: {error}"))
}
