//! A source that another library lists: for each tensor, its boxes and the bytes of the files that hold them.
//!
//! This makes it possible to reshard a container whose list of tensors only its own library reads (a pickle, a database
//! of keys), if its files hold the bytes of the elements uncompressed.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::Arc,
};

use tilewright_files::inner::check_apart;
use tilewright_sharded::Piece;

use crate::{
    Error, Job, Request,
    plan::array::{LocalArrays, LocalOffsets, ReshardedArray, StoredArray},
    request::model::Elements,
    source::{beside::Beside, checkpoint::Checkpoint, identity::Identity},
};

/// A tensor with a list of its boxes.
///
/// ```
/// use tilewright_reshard::{RawBox, RawTensor};
/// let all = RawBox { file: 0, at: 64, start: vec![0], extents: vec![3] };
/// let tensor = RawTensor { name: "w".into(), dtype: "F32".into(), extents: vec![3], boxes: vec![all] };
/// assert_eq!(tensor.boxes[0].extents, tensor.extents);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawTensor {
    /// Its name.
    pub name: String,
    /// Its element type as safetensors spells it: whole bytes, in little-endian order.
    pub dtype: String,
    /// The extents of the whole tensor.
    pub extents: Vec<u64>,
    /// The boxes, which together cover the tensor. Several boxes may be equal copies.
    pub boxes: Vec<RawBox>,
}

/// A box of a tensor, whose elements are contiguous and row-major in a file.
///
/// ```
/// # use tilewright_reshard::RawBox;
/// let second = RawBox { file: 1, at: 0, start: vec![4, 0], extents: vec![4, 8] };
/// assert_eq!(second.clone(), second);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawBox {
    /// The index of its file.
    pub file: usize,
    /// Its first byte in the file.
    pub at: u64,
    /// Its first index along each dim.
    pub start: Vec<u64>,
    /// Its extents.
    pub extents: Vec<u64>,
}

impl Job {
    /// Makes the job of a request whose tensors are listed. The path of the request's input only serves as a name; if
    /// it is a folder, its other files are copied to the result. All listed files are checked for changes, including
    /// those without a box.
    ///
    /// # Errors
    /// As [`Job::prepare`]. Also: `same-file` for a result that contains a listed file, `mismatch` for extents that
    /// contradict the request, `corrupt` for a box beyond the end of its file, `usage` for a list that contradicts
    /// itself.
    ///
    /// ```
    /// use tilewright_reshard::{Job, RawBox, RawTensor, Request};
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("bytes");
    /// std::fs::write(&path, [7; 20]).unwrap();
    /// let half = |at, start| RawBox { file: 0, at, start: vec![start], extents: vec![8] };
    /// let boxes = vec![half(12, 0), half(3, 8)];
    /// let tensor = RawTensor { name: "w".into(), dtype: "U8".into(), extents: vec![16], boxes };
    /// let request = Request::new(&path, folder.path().join("out"));
    /// let job = Job::of_boxes(request.clone(), &[path.clone()], &[tensor.clone()]).unwrap();
    /// assert_eq!(job.run_all(&()).unwrap(), 1);
    ///
    /// let half = RawTensor { boxes: tensor.boxes[..1].to_vec(), ..tensor };
    /// let error = Job::of_boxes(request, &[path], &[half]).unwrap_err();
    /// assert_eq!(error.kind(), "mismatch");
    /// ```
    pub fn of_boxes(
        mut request: Request,
        files: &[PathBuf],
        tensors: &[RawTensor],
    ) -> Result<Job, Error> {
        request.settle();
        let named = std::iter::once(&request.input).chain(files);
        named.into_iter().try_for_each(|source| check_apart(source, &request.output))?;
        let mut checkpoint = listed(&request, files, tensors)?;
        checkpoint.trust(&request);
        Job::of_source(request, checkpoint)
    }
}

/// Returns an error if the request states other extents of a tensor than the list.
fn check(request: &Request, tensors: &[RawTensor]) -> Result<(), Error> {
    let stated = request.stated()?;
    for RawTensor { name, extents, .. } in tensors {
        if let Some(said) = stated.of(name).filter(|said| said != extents) {
            let listed = format!("tensor {name:?} is listed with extents {extents:?}");
            return Err(Error::mismatch(format!("{listed}, but its stated extents are {said:?}")));
        }
    }
    stated.check(&tensors.iter().map(|tensor| &*tensor.name).collect::<Vec<_>>())
}

/// Makes the checkpoint of a list.
fn listed(
    request: &Request,
    paths: &[PathBuf],
    tensors: &[RawTensor],
) -> Result<Checkpoint, Error> {
    check(request, tensors)?;
    let mut first = vec![u64::MAX; paths.len()];
    for one in tensors.iter().flat_map(|tensor| &tensor.boxes) {
        let Some(at) = first.get_mut(one.file) else {
            let (file, count) = (one.file, paths.len());
            return Err(Error::usage(format!("a box in file {file} of {count}")));
        };
        *at = one.at.min(*at);
    }
    // A plan may be run from another folder.
    let absolute = |path| std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let known = paths.iter().zip(&first).map(|(path, first)| Identity::of(&absolute(path), *first));
    let known = known.collect::<Result<Vec<_>, Error>>()?;
    let mut files = Files { columns: vec![Vec::new(); known.len()], known, more: HashMap::new() };
    let named: BTreeMap<&str, &RawTensor> =
        tensors.iter().map(|tensor| (&*tensor.name, tensor)).collect();
    if named.len() != tensors.len() {
        return Err(Error::usage("two listed tensors have the same name"));
    }
    let arrays = named.into_values().enumerate().map(|(number, tensor)| {
        array(number, tensor, &mut files)
            .map_err(|error| error.about(&format!("tensor {:?}", tensor.name)))
    });
    let arrays = arrays.collect::<Result<_, Error>>()?;
    let mut places = LocalOffsets::default();
    files.columns.into_iter().try_for_each(|column| places.push(column))?;
    let own = files.known.get(..paths.len()).unwrap_or_default();
    let beside = Beside::of(&request.input, own, &[])?;
    Ok(Checkpoint { files: files.known, models: Vec::new(), arrays, places, beside })
}

/// The files of a list. A file holds an array at most once, so a file that holds several boxes of an array is entered
/// once for each.
struct Files {
    known: Vec<Identity>,
    columns: Vec<Vec<(usize, u64)>>,
    /// The further numbers of files that are entered several times, by the file's own number and the count of the box
    /// in it.
    more: HashMap<(usize, usize), usize>,
}

impl Files {
    /// Returns the number of a file for the `turn`th box of an array in it, which begins at byte `at`.
    fn holds(&mut self, file: usize, turn: usize, array: usize, at: u64) -> usize {
        let number = match turn {
            0 => file,
            _ => *self.more.entry((file, turn)).or_insert_with(|| {
                self.known.extend(self.known.get(file).cloned());
                self.columns.push(Vec::new());
                self.columns.len() - 1
            }),
        };
        if let Some(column) = self.columns.get_mut(number) {
            column.push((array, at));
        }
        number
    }
}

/// Makes an array from the boxes that the files hold.
fn array(number: usize, tensor: &RawTensor, files: &mut Files) -> Result<ReshardedArray, Error> {
    let RawTensor { name, dtype: file_dtype, extents, boxes } = tensor;
    let elements = Elements::of(file_dtype)?;
    let mut held = LocalArrays::default();
    let mut turns = HashMap::new();
    for RawBox { file, at, start, extents: shape } in boxes {
        if start.len() != extents.len() || shape.len() != extents.len() {
            let (own, rank) = (shape.len(), extents.len());
            return Err(Error::usage(format!("a box of {own} dims in an array of {rank}")));
        }
        let laid = elements.laid(file_dtype, shape)?;
        let end = laid.bytes().and_then(|bytes| at.checked_add(bytes));
        let length = files.known.get(*file).map_or(0, |file| file.bytes);
        if end.is_none_or(|end| end > length) {
            let said = format!("its box {shape:?} from byte {at} on ends beyond the file");
            return Err(Error::new("corrupt", format!("{said} of {length} bytes")));
        }
        let turn = turns.entry(*file).or_insert(0);
        let file = files.holds(*file, *turn, number, *at);
        *turn += 1;
        let (source, local) = (held.stored.len() as u64, vec![0; shape.len()]);
        let (start, extents) = (start.clone(), shape.clone());
        held.pieces.push(Piece { source, start, extents, local });
        held.stored.push(StoredArray { file, laid: Arc::new(laid) });
    }
    let whole = Arc::new(elements.laid(file_dtype, extents)?);
    if held.stored.is_empty() && extents.contains(&0) {
        // An array without elements still has an element type.
        held.stored.push(StoredArray { file: 0, laid: whole.clone() });
    }
    let name_of = |file: usize| {
        let file = files.known.get(file);
        file.map_or_else(String::new, |file| crate::source::lists::shown(&file.path))
    };
    let held = Arc::new(held.settle(name, extents, &name_of)?);
    Ok(ReshardedArray::of(name.as_str().into(), &whole, extents.clone(), held))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes 0 to 63 as an 8 × 8 array, in boxes of rows and columns at arbitrary offsets in two files.
    #[test]
    fn boxes_anywhere_are_the_array() {
        let types = ["U8", "BOOL", "F8_E4M3", "I8", "U8"];
        for ((rows, columns), dtype) in
            [(1, 1), (2, 4), (3, 5), (8, 8), (5, 1)].into_iter().zip(types)
        {
            let folder = tilewright_testing::folder();
            let mut bytes = [vec![255; 7], vec![255; 3]];
            let mut boxes = Vec::new();
            for row in (0..8).step_by(rows) {
                for column in (0..8).step_by(columns) {
                    let shape = [rows.min(8 - row), columns.min(8 - column)];
                    let file = (row / rows + column / columns) % 2;
                    let at = bytes[file].len() as u64;
                    for r in row..row + shape[0] {
                        let numbers = column..column + shape[1];
                        bytes[file].extend(numbers.map(|c| (8 * r + c) as u8));
                    }
                    let start = vec![row as u64, column as u64];
                    let extents = shape.map(|extent| extent as u64).to_vec();
                    boxes.push(RawBox { file, at, start, extents });
                }
            }
            let paths = ["a", "b"].map(|name| folder.path().join(name));
            for (path, bytes) in paths.iter().zip(&bytes) {
                std::fs::write(path, bytes).unwrap();
            }
            boxes.reverse();
            let (name, dtype) = ("w".into(), dtype.into());
            let tensor = RawTensor { name, dtype, extents: vec![8, 8], boxes };
            let request = Request::new(&paths[0], folder.path().join("out"));
            let job = Job::of_boxes(request, &paths, &[tensor]).unwrap();
            // A plan keeps the boxes.
            Job::of_bytes(&job.plan().unwrap()).unwrap().run_all(&()).unwrap();
            let out = std::fs::read(folder.path().join("out/model.safetensors")).unwrap();
            assert_eq!(out[out.len() - 64..], (0..64).collect::<Vec<u8>>());
        }
    }

    /// Two different lists over the same files make two different jobs.
    #[test]
    fn lists_that_differ_are_other_jobs() {
        let folder = tilewright_testing::folder();
        let path = folder.path().join("a");
        std::fs::write(&path, [0; 64]).unwrap();
        let half = |at, start| RawBox { file: 0, at, start: vec![start], extents: vec![8] };
        let tensor = |name: &str, dtype: &str, boxes| RawTensor {
            name: name.into(),
            dtype: dtype.into(),
            extents: vec![16],
            boxes,
        };
        let lists = [
            tensor("w", "U8", vec![half(0, 0), half(8, 8)]),
            tensor("w", "U8", vec![half(0, 8), half(8, 0)]),
            tensor("w", "U8", vec![half(0, 0), half(24, 8)]),
            tensor("w", "I8", vec![half(0, 0), half(8, 8)]),
            tensor("v", "U8", vec![half(0, 0), half(8, 8)]),
        ];
        let request = Request::new(&path, folder.path().join("out"));
        let id = |tensor: &RawTensor| {
            let tensors = std::slice::from_ref(tensor);
            let job = Job::of_boxes(request.clone(), std::slice::from_ref(&path), tensors).unwrap();
            assert_eq!(Job::of_bytes(&job.plan().unwrap()).unwrap().id(), job.id());
            job.id().to_owned()
        };
        let ids: std::collections::BTreeSet<String> = lists.iter().map(id).collect();
        assert_eq!(ids.len(), lists.len());
        assert_eq!(id(&lists[0]), id(&lists[0]));
    }

    #[test]
    fn what_lies_beside_goes_along_and_extents_are_checked() {
        let folder = tilewright_testing::folder();
        let input = folder.path().join("in");
        std::fs::create_dir_all(input.join("logs")).unwrap();
        for (name, text) in [("a", "77777777"), ("config.json", "{}"), (".metadata", "")] {
            std::fs::write(input.join(name), text).unwrap();
        }
        let paths = [input.join("a")];
        let all = RawBox { file: 0, at: 0, start: vec![0], extents: vec![8] };
        let (name, dtype) = ("w".into(), "U8".into());
        let tensor = RawTensor { name, dtype, extents: vec![8], boxes: vec![all.clone(), all] };
        let request = Request::new(&input, folder.path().join("out"));
        let said = |glob, extents: &[u64]| {
            let request = request.clone().extents(glob, extents).unwrap();
            Job::of_boxes(request, &paths, std::slice::from_ref(&tensor)).map_err(|e| e.to_string())
        };
        let error = said("w", &[9]).unwrap_err();
        assert_eq!(
            error,
            "tensor \"w\" is listed with extents [8], but its stated extents are [9]"
        );
        assert!(said("x", &[8]).unwrap_err().contains('x'));
        let job = said("w", &[8]).unwrap();
        assert_eq!(job.companions().collect::<Vec<_>>(), ["config.json"]);
        assert!(job.remarks().any(|remark| remark.contains("logs")));
        job.run_all(&()).unwrap();
        assert_eq!(std::fs::read(folder.path().join("out/config.json")).unwrap(), b"{}");
    }

    #[test]
    fn a_result_lies_apart_from_all_that_is_listed() {
        let folder = tilewright_testing::folder();
        let (input, other) = (folder.path().join("in"), folder.path().join("other"));
        for folder in [&input, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("a"), [0; 8]).unwrap();
        }
        let all = |file| RawBox { file, at: 0, start: vec![0], extents: vec![8] };
        let (name, dtype, boxes) = ("w".into(), "U8".into(), vec![all(0), all(1)]);
        let tensor = RawTensor { name, dtype, extents: vec![8], boxes };
        let kind = |out: PathBuf| {
            let (request, tensor) = (Request::new(&input, out), tensor.clone());
            let paths = [input.join("a"), other.join("a")];
            Job::of_boxes(request, &paths, &[tensor]).map_or_else(|error| error.kind(), |_| "")
        };
        for out in [input.join("out"), folder.path().to_owned(), other.clone()] {
            assert_eq!(kind(out), "same-file");
        }
        assert_eq!(kind(other.join("out")), "");
        assert_eq!(kind(folder.path().join("out")), "");
    }

    #[test]
    fn lists_that_contradict_themselves_are_refused() {
        let folder = tilewright_testing::folder();
        let path = folder.path().join("a");
        std::fs::write(&path, [0; 8]).unwrap();
        let all = RawBox { file: 0, at: 0, start: vec![0], extents: vec![8] };
        let tensor = RawTensor {
            name: "w".into(),
            dtype: "U8".into(),
            extents: vec![8],
            boxes: vec![all.clone()],
        };
        let with = |boxes: Vec<RawBox>| RawTensor { boxes, ..tensor.clone() };
        let refused = |tensors: &[RawTensor]| {
            let request = Request::new(&path, folder.path().join("out"));
            let error = Job::of_boxes(request, std::slice::from_ref(&path), tensors).unwrap_err();
            (error.kind(), error.to_string())
        };
        let cases = [
            (with(vec![RawBox { at: 1, ..all.clone() }]), "corrupt", "from byte 1 on ends beyond"),
            (with(vec![RawBox { at: u64::MAX, ..all.clone() }]), "corrupt", "ends beyond"),
            (with(vec![RawBox { file: 1, ..all.clone() }]), "usage", "a box in file 1 of 1"),
            (with(vec![RawBox { start: vec![0, 0], ..all.clone() }]), "usage", "dims in an array"),
            (with(vec![]), "mismatch", "w"),
            (with(vec![RawBox { start: vec![1], ..all.clone() }]), "mismatch", "w"),
            (RawTensor { dtype: "F4".into(), ..tensor.clone() }, "unsupported", "not whole bytes"),
            (RawTensor { dtype: "Q9".into(), ..tensor.clone() }, "parse", "Q9"),
        ];
        for (tensor, kind, says) in cases {
            let (own, said) = refused(&[tensor]);
            assert!(own == kind && said.contains(says), "{own}: {said}");
        }
        assert!(refused(&[tensor.clone(), tensor.clone()]).1.contains("the same name"));
    }
}
