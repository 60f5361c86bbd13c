//! One tensor of a file: its type, its layout, and the position of its bytes.

use tilewright_core::{Dtype, Fill, TensorLayout};
use tilewright_fingerprint::Fingerprint;
use tilewright_notation::{ArrayLayout, ResolvedLayout};
use tilewright_relayout::{Elements, Plan};

use crate::layout::{element_layout::ElementLayout, record::Recorded};

/// The element type of an entry that is not an array: it keeps its bytes and its name.
pub(crate) const OTHER: &str = "bytes";

/// The file's element type for an array that is not in a file.
pub(crate) const IN_MEMORY: &str = "in memory";

/// A tensor of a file.
///
/// ```
/// use tilewright_files::{Reading, open};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// let tensor = input.tensors().iter().find(|tensor| tensor.name() == "scale.e4m3").unwrap();
/// assert_eq!((tensor.file_dtype(), tensor.dtype().name()), ("F8_E4M3", "f8e4m3fn"));
/// assert_eq!((tensor.dims(), tensor.bytes(), tensor.padding()), (&[64, 48][..], 3072, 0));
/// assert_eq!(tensor.layout().to_spec(), "f8e4m3fn[64,48] row-major");
/// ```
#[derive(Clone, Debug)]
pub struct Tensor {
    pub(crate) name: String,
    pub(crate) file_dtype: String,
    pub(crate) storage: Vec<u64>,
    /// The shape in the file's order of dims, if that is another order.
    pub(crate) file_dims: Option<Vec<u64>>,
    pub(crate) held: ElementLayout,
    /// The facts of its note in addition to its layout, if it has a note.
    pub(crate) noted: Option<Recorded>,
    /// The reason why a layout is not defined for it; its layout is then that of its bytes.
    pub(crate) refusal: Option<String>,
    /// The positions of its bytes.
    pub(crate) pieces: Vec<Piece>,
    /// The length in bytes.
    pub(crate) len: u64,
}

/// A box of a tensor's coordinates, and the position of its bytes.
///
/// ```
/// use tilewright_files::{Reading, open};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// let tensor = input.tensors().iter().find(|tensor| tensor.name() == "scale.e4m3").unwrap();
/// // The whole tensor, in the only file.
/// let [piece] = tensor.pieces() else { panic!() };
/// assert_eq!((piece.origin(), piece.dims()), (&[0, 0][..], &[64, 48][..]));
/// assert_eq!((piece.file(), piece.bytes()), (0, 64 * 48));
/// assert!(input.files().nth(piece.file()).unwrap().ends_with("tiny_llm_mixed.safetensors"));
/// assert!(piece.at() > 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub(crate) file: usize,
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) origin: Vec<u64>,
    pub(crate) dims: Vec<u64>,
}

impl Piece {
    /// Returns the only piece of a tensor with this layout.
    pub(crate) fn whole(file: usize, at: u64, len: u64, held: &ElementLayout) -> Piece {
        let dims = held.dims().to_vec();
        Piece { file, at, len, origin: vec![0; dims.len()], dims }
    }

    /// Returns the number of the file of [`Input::files`](crate::Input::files) that holds it.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.tensors()[0].pieces()[0].file(), 0);
    /// ```
    pub fn file(&self) -> usize {
        self.file
    }

    /// Returns the position of its first byte in the file.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let [first, second] = [0, 1].map(|i| &input.tensors()[i].pieces()[0]);
    /// assert_eq!(second.at(), first.at() + first.bytes());
    /// ```
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Returns its length in bytes.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let tensor = &input.tensors()[0];
    /// assert_eq!(tensor.pieces()[0].bytes(), tensor.bytes());
    /// ```
    pub fn bytes(&self) -> u64 {
        self.len
    }

    /// Returns the first coordinate of the box.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(input.tensors()[0].pieces()[0].origin().iter().all(|first| *first == 0));
    /// ```
    pub fn origin(&self) -> &[u64] {
        &self.origin
    }

    /// Returns the extents of the box.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let tensor = &input.tensors()[0];
    /// assert_eq!(tensor.pieces()[0].dims(), tensor.dims());
    /// ```
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }
}

impl Tensor {
    /// Returns whether it is an entry that is not an array.
    pub(crate) fn is_other(&self) -> bool {
        self.file_dtype == OTHER
    }

    /// Returns the name; `array` in files of one array without a name.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.tensors()[0].name(), "ids.i64");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the element type.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!(named("scale.e4m3").dtype().name(), "f8e4m3fn");
    /// ```
    pub fn dtype(&self) -> Dtype {
        // A refused tensor has the layout of its bytes.
        let own = self.refusal.as_ref().and_then(|_| Dtype::spelled(&self.file_dtype));
        own.unwrap_or(self.held.dtype)
    }

    /// Returns the element type in the file's spelling (`BF16`, `<f4`); for packed elements, the type under which they are
    /// stored.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!(named("scale.e4m3").file_dtype(), "F8_E4M3");
    /// ```
    pub fn file_dtype(&self) -> &str {
        &self.file_dtype
    }

    /// Returns the logical dims.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!(named("scale.e4m3").dims(), [64, 48]);
    /// ```
    pub fn dims(&self) -> &[u64] {
        if self.refusal.is_some() { &self.storage } else { self.held.dims() }
    }

    /// Returns the pieces that hold its bytes: boxes that cover it, one in most files.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(input.tensors().iter().all(|tensor| tensor.pieces().len() == 1));
    /// ```
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the number of the file that holds it, if it is only one.
    pub(crate) fn file(&self) -> Option<usize> {
        let [piece] = self.pieces.as_slice() else { return None };
        Some(piece.file)
    }

    /// Returns the reason why a layout is not defined for the tensor: 6-bit floats, which straddle bytes, or a shape that no
    /// layout can have. Such a tensor is copied unchanged, and a conversion of it is refused.
    ///
    /// ```
    /// use tilewright_files::{Reading, open};
    /// let header = r#"{"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}"#;
    /// let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1, 2, 3]].concat();
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("six.safetensors");
    /// std::fs::write(&path, bytes).unwrap();
    /// let input = open(&path, &Reading::default()).unwrap();
    /// let tensor = &input.tensors()[0];
    /// assert!(tensor.refusal().unwrap().contains("6-bit floats straddle bytes"));
    /// assert_eq!(tensor.dtype().name(), "f6e2m3fn");
    /// assert_eq!((tensor.file_dtype(), tensor.dims(), tensor.bytes()), ("F6_E2M3", &[4][..], 3));
    /// ```
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Returns whether elements can be moved to another layout. Tensors with blocks longer than 256 bytes, such as those of
    /// `q8_k`, are only copied, and so are tensors with a [`Tensor::refusal`].
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(input.tensors().iter().all(|tensor| tensor.is_movable()));
    /// ```
    pub fn is_movable(&self) -> bool {
        let plan = |one: TensorLayout| Plan::new(&one, &one, Elements::same(self.held.bits), 0);
        let moves = || TensorLayout::row_major(&[1]).is_ok_and(|one| plan(one).is_ok());
        // Every width of a number can be moved.
        self.refusal.is_none() && (self.held.bits <= 128 || moves())
    }

    /// Returns the layout of the elements, with their type, their width if it is not that of the type, and the promised value of
    /// padding. With a [`Tensor::refusal`] it is the layout of the bytes.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!(named("mask.bool").layout().to_spec(), "pred[5,9] row-major");
    /// ```
    pub fn layout(&self) -> &ResolvedLayout {
        &self.held.named
    }

    /// Returns one SPEC with the whole layout: that of [`Tensor::layout`], and the index tables if there are any.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(input.tensors().iter().all(|tensor| tensor.spec() == tensor.layout().to_spec()));
    /// ```
    pub fn spec(&self) -> String {
        self.held.spec()
    }

    /// Returns the layout with its index tables; if it has any, [`Tensor::layout`] is the layout of their storage.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(!input.tensors()[0].array_layout().has_tables());
    /// ```
    pub fn array_layout(&self) -> ArrayLayout {
        self.held.array_layout()
    }

    /// Returns the shape under which the file stores the tensor.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!(named("mask.bool").storage(), [5, 9]);
    /// ```
    pub fn storage(&self) -> &[u64] {
        &self.storage
    }

    /// Returns the shape in the order of the file, if this is not outermost dim first: GGUF has the fastest first.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_quantised.gguf");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// let tensor = named("blk.0.ffn_up.weight");
    /// assert_eq!((tensor.dims(), tensor.file_dims()), (&[24, 64][..], Some(&[64, 24][..])));
    /// ```
    pub fn file_dims(&self) -> Option<&[u64]> {
        self.file_dims.as_deref()
    }

    /// Returns the stored width of an element in bits, or of a block of elements if the type has blocks.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!((named("mask.bool").bits(), named("ids.i64").bits()), (8, 64));
    /// ```
    pub fn bits(&self) -> u32 {
        self.held.bits
    }

    /// Returns the length in the file, in bytes.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!((named("scale.e4m3").bytes(), named("empty.f16").bytes()), (64 * 48, 0));
    /// ```
    pub fn bytes(&self) -> u64 {
        self.len
    }

    /// Returns the number of bytes of padding, rounded up.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!(named("scale.e4m3").padding(), 0);
    /// ```
    pub fn padding(&self) -> u64 {
        self.held.padding_bytes()
    }

    /// Returns the promised value of padding.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    /// assert_eq!(named("scale.e4m3").fill(), tilewright_core::Fill::Unspecified);
    /// ```
    pub fn fill(&self) -> Fill {
        self.held.named.fill()
    }

    /// Returns the fingerprint of the data that the file records, computed with the key that everyone has. It is not compared
    /// with the data; [`verify_recorded`](crate::verify_recorded) does that.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// // No conversion wrote this file.
    /// assert!(input.tensors().iter().all(|tensor| tensor.recorded().is_none()));
    /// ```
    pub fn recorded(&self) -> Option<Fingerprint> {
        self.noted.and_then(|noted| noted.data)
    }
}
