//! Answer about the tensors of a file.

use std::fmt;

use serde_json::{Map, Value, json};
use tilewright_files::{Input, Tensor};
use tilewright_notation::ArrayLayout;

use crate::ask::{
    Answer,
    words::{bytes, counted, fitted, printable, shortened},
};

/// The largest width of a column, in characters. A longer text pushes the rest of its own row to the right.
const WIDEST: usize = 60;

/// The largest number of characters of a name in the text. The JSON has the whole name.
const LONGEST: usize = 240;

/// The largest number of characters of a SPEC with lists of index tables.
const TABLED: usize = 96;

/// The key of the metadata in which torch's distributed checkpoint records where each tensor of a file begins in a larger array.
const BOXES: &str = "DCP_SHARDING_INFO";

/// Contents of a file.
///
/// ```
/// use tilewright::{ask::{Answer, Info}, files::{Reading, open}};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default())?;
/// let info = Info { file: "cnn.safetensors".into(), input: &input };
/// assert!(info.to_string().ends_with("0 B of padding\n"));
/// assert_eq!(info.to_json()["format"], "safetensors");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Debug)]
pub struct Info<'a> {
    /// The name of the file as the user wrote it.
    pub file: String,
    /// The file.
    pub input: &'a Input,
}

impl Info<'_> {
    /// Returns the JSON without the tensors, of which there may be hundreds of thousands.
    ///
    /// ```
    /// # use tilewright::{ask::Info, files::{Reading, open}};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// let info = Info { file: "cnn.safetensors".into(), input: &input };
    /// assert!(info.head()["format"] == "safetensors" && info.head().get("tensors").is_none());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn head(&self) -> Value {
        let metadata = self.input.metadata().map(|(key, value)| (key.to_owned(), json!(value)));
        json!({
            "file": self.file,
            "format": self.input.format(),
            "metadata": metadata.collect::<Map<_, _>>(),
            "notes": self.notes(),
        })
    }

    /// Iterates over the tensors as JSON.
    ///
    /// ```
    /// # use tilewright::{ask::Info, files::{Reading, open}};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// let info = Info { file: "cnn.safetensors".into(), input: &input };
    /// assert_eq!(info.tensors().next().unwrap()["dtype"], "f32");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn tensors(&self) -> impl Iterator<Item = Value> + '_ {
        let boxes = self.boxes();
        self.input.tensors().iter().map(move |tensor| tensor_json(tensor, begin(&boxes, tensor)))
    }

    /// Returns the metadata about where tensors of the file begin in larger arrays.
    fn boxes(&self) -> Value {
        let said = self.input.metadata().find(|(key, _)| *key == BOXES);
        said.and_then(|(_, text)| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// A row for each tensor, then the sums.
impl fmt::Display for Info<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table(Detail::All))
    }
}

impl Info<'_> {
    /// Returns the rows and the sums.
    fn table(&self, detail: Detail) -> String {
        let tensors = self.input.tensors();
        let boxes = self.boxes();
        let row = |tensor| row(tensor, begin(&boxes, tensor), detail);
        let rows: Vec<[String; 5]> = tensors.iter().map(row).collect();
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(width);
        let line = |[name, dtype, dims, bytes, layout]: &[String; 5]| {
            format!("{name:a$}  {dtype:b$}  {dims:c$}  {bytes:>d$}  {layout}\n")
        };
        let text: String = rows.iter().map(line).collect();
        let sum = |of: fn(&Tensor) -> u64| tensors.iter().map(of).fold(0, u64::saturating_add);
        let (all, padding) = (bytes(sum(Tensor::bytes)), bytes(sum(Tensor::padding)));
        let count = counted(tensors.len() as u128, "tensor");
        format!("{text}{count}, {all}, {padding} of padding\n")
    }
}

/// Level of detail about a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    /// Without element type and dims, which have columns of their own.
    Once,
    /// Also without the recorded fingerprint.
    Least,
}

/// Returns where a tensor begins in a larger array, if its file records it.
fn begin(boxes: &Value, tensor: &Tensor) -> Option<Vec<u64>> {
    let list = boxes.get(tensor.name())?.get("saved_offsets")?.as_array()?;
    list.iter().map(Value::as_u64).collect()
}

fn row(tensor: &Tensor, begin: Option<Vec<u64>>, detail: Detail) -> [String; 5] {
    let (dtype, mut layout) = match tensor.refusal() {
        Some(refusal) => (tensor.file_dtype().to_owned(), format!("no layout: {refusal}")),
        None => (dtype(tensor), layout(tensor, detail)),
    };
    layout +=
        &begin.map_or(String::new(), |first| format!(", a box of an array, from {first:?} on"));
    let bytes = tensor.bytes().to_string();
    [name(tensor.name()), dtype, dims(tensor), bytes, printable(&layout).into_owned()]
}

/// Returns the element type; with the other byte order as in a SPEC, such as `>u4`.
fn dtype(tensor: &Tensor) -> String {
    let named = tensor.layout();
    let said = named.byte_order().map(|_| named.to_spec());
    let code = said.as_deref().and_then(|spec| Some(spec.split_once('[')?.0));
    code.map_or_else(|| tensor.dtype().to_string(), str::to_owned)
}

/// Returns the logical dims, and those of the file if it has them in another order.
fn dims(tensor: &Tensor) -> String {
    match tensor.file_dims() {
        Some(own) => format!("{:?} (file: {own:?})", tensor.dims()),
        None => format!("{:?}", tensor.dims()),
    }
}

/// Returns the name in printable characters.
fn name(name: &str) -> String {
    let shown = printable(name);
    match shown.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown.into_owned(),
    }
}

/// Returns the layout, its share of padding, and the recorded fingerprint of the data.
fn layout(tensor: &Tensor, detail: Detail) -> String {
    let share = match (tensor.padding(), tensor.bytes()) {
        (0, _) | (_, 0) => String::new(),
        (padding, bytes) => format!(", {:.1} % padding", 100.0 * padding as f64 / bytes as f64),
    };
    let array = Some(tensor.array_layout()).filter(ArrayLayout::has_tables);
    let tabled = array.map(|array| shortened(&without_words(&array), TABLED));
    let name = tabled.as_deref().unwrap_or(tensor.layout().name());
    let rest = name.split_once(']').map(|(_, rest)| rest.trim_start());
    let rest = rest.filter(|rest| detail != Detail::All && !rest.is_empty() && name.contains('['));
    let recorded = tensor.recorded().filter(|_| detail != Detail::Least);
    let data = recorded.map_or(String::new(), |data| format!(", data {data}"));
    let fixed = if tensor.is_movable() { "" } else { ", only copied: its blocks are too long" };
    let words = tensor.layout().stored_as().map_or(String::new(), |words| format!(" as {words}"));
    format!("{}{words}{share}{data}{fixed}", rest.unwrap_or(name))
}

/// Returns the SPEC without its words, which the line ends with.
fn without_words(array: &ArrayLayout) -> String {
    let text = array.to_spec();
    let words = array.stored().stored_as().map(|words| format!(" as {}", words.dtype()));
    let plain = words.and_then(|words| text.strip_suffix(&words).map(str::to_owned));
    plain.unwrap_or(text)
}

impl Answer for Info<'_> {
    fn notes(&self) -> Vec<String> {
        self.input.warnings().collect()
    }

    fn within(&self, width: usize) -> String {
        let fits = |text: &String| text.lines().all(|line| line.chars().count() <= width);
        let texts = [Detail::All, Detail::Once].map(|detail| self.table(detail));
        let whole = texts.into_iter().find(fits);
        whole.unwrap_or_else(|| fitted(&self.table(Detail::Least), width))
    }

    fn to_json(&self) -> Value {
        let mut value = self.head();
        value["tensors"] = self.tensors().collect();
        value
    }
}

fn tensor_json(tensor: &Tensor, begin: Option<Vec<u64>>) -> Value {
    json!({
        "name": tensor.name(),
        "dtype": tensor.dtype().name(),
        "file_dtype": tensor.file_dtype(),
        "dims": tensor.dims(),
        "layout": tensor.refusal().is_none().then(|| tensor.spec()),
        "refusal": tensor.refusal(),
        "shape": tensor.storage(),
        "file_dims": tensor.file_dims(),
        "bytes": tensor.bytes(),
        "padding_bytes": tensor.padding(),
        "data": tensor.recorded().map(|data| data.to_string()),
        "movable": tensor.is_movable(),
        "begin": begin,
    })
}
