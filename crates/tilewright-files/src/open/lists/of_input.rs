//! The lists of index tables that a SPEC names: numbers in a file, or in a tensor of the opened file.

use tilewright_notation::{Error as NotationError, Lists, MAX_ENTRIES};

use crate::{
    Input, Tensor,
    layout::names,
    open::lists::in_files::{ListsInFiles, NO_LIST, integers, is_signed, unsupported},
};

/// The lists that a SPEC may name when files are read: `@PATH` is an `.npy` file of integers, or a text of numbers; `tensor NAME`
/// is a tensor of the opened file, if there is one. Numbers below 0, and `-` in a text, are holes.
///
/// ```
/// use tilewright_files::{FileLists, open};
/// use tilewright_notation::{Lists, Spec};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("order.txt");
/// std::fs::write(&path, "2 - 0\n3, 1\n").unwrap();
/// let text = format!("f16[4,8] table(0; @{}) row-major", path.display());
/// let tabled = Spec::parse(&text).unwrap().array_layout(None, None, &FileLists::default()).unwrap();
/// assert_eq!(tabled.to_spec(), "f16[4,8] table(0; 2,-,0,3,1) row-major");
///
/// let error = FileLists::default().file("no/such/file.npy").unwrap_err();
/// assert!(error.to_string().contains("no/such/file.npy"));
/// assert!(FileLists::default().tensor("g_idx").is_err());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default)]
pub struct FileLists<'a> {
    input: Option<&'a Input>,
    beside: Option<&'a str>,
}

impl<'a> FileLists<'a> {
    /// Returns the lists of a SPEC for the tensors of an open file.
    ///
    /// ```
    /// use tilewright_files::{FileLists, Reading, open};
    /// use tilewright_notation::Lists;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// let input = open(path, &Reading::default()).unwrap();
    /// let lists = FileLists::of(&input);
    /// assert!(lists.tensor("ids.i64").is_ok());
    /// assert!(lists.tensor("ids.i63").unwrap_err().to_string().contains("similar names: \"ids.i64\""));
    /// ```
    pub fn of(input: &'a Input) -> FileLists<'a> {
        FileLists { input: Some(input), beside: None }
    }

    /// Returns the lists of a SPEC for one tensor: a name without a dot may be that of its neighbour, such as `g_idx` beside
    /// `qweight`.
    pub(crate) fn beside(self, tensor: &'a str) -> FileLists<'a> {
        FileLists { beside: Some(tensor), ..self }
    }

    fn find(&self, name: &str) -> Option<(&'a Input, &'a Tensor)> {
        let input = self.input?;
        let named = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name);
        let layer = self.beside.and_then(|tensor| tensor.rsplit_once('.')).map(|(layer, _)| layer);
        let neighbour = layer.filter(|_| !name.contains('.'));
        let neighbour = neighbour.and_then(|layer| named(&format!("{layer}.{name}")));
        neighbour.or_else(|| named(name)).map(|tensor| (input, tensor))
    }
}

impl Lists for FileLists<'_> {
    fn file(&self, path: &str) -> Result<Vec<i64>, NotationError> {
        ListsInFiles.file(path)
    }

    fn tensor(&self, name: &str) -> Result<Vec<i64>, NotationError> {
        let Some(input) = self.input else { return ListsInFiles.tensor(name) };
        let Some((input, tensor)) = self.find(name) else {
            let near = names::near(name, input.tensors().iter().map(Tensor::name));
            let path = input.path().display();
            return Err(unsupported(format!("{path} lacks the tensor {name:?}{near}")));
        };
        let named = || format!("the index table of tensor {:?}", tensor.name());
        numbers(input, tensor).map_err(|said| unsupported(format!("{}: {said}", named())))
    }
}

/// Returns the integers of a tensor in one dim.
fn numbers(input: &Input, tensor: &Tensor) -> Result<Vec<i64>, String> {
    let long = tensor.dims().iter().filter(|extent| **extent != 1).count();
    let is = || tensor.held.spec();
    let plain = tensor.held.is_row_major() && !tensor.held.order.is_big();
    let whole = tensor.dtype().packed_bits() == Some(tensor.bits());
    let signed = is_signed(tensor.dtype()).filter(|_| long <= 1 && plain && whole);
    let signed = signed.ok_or_else(|| format!("it is `{}`: {NO_LIST}", is()))?;
    let bytes = u64::from(tensor.bits()) / 8;
    if tensor.bytes() / bytes.max(1) > MAX_ENTRIES {
        return Err(format!("it is `{}`; an index table has at most {MAX_ENTRIES} entries", is()));
    }
    let data = input.bytes(tensor, MAX_ENTRIES * 8).map_err(|error| error.to_string())?;
    Ok(integers(&data, bytes, signed))
}
