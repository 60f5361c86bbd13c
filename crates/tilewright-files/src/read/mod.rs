//! Reads a tensor, or a box of one, into the caller's memory in any layout.
//!
//! Law: the result is that of a conversion of the tensor to that layout; for a box, that of the box alone. Beside the result at
//! most [`BESIDE`] bytes are held.
//!
//! | way | condition |
//! |---|---|
//! | straight | runs of elements are long on both sides: they are read to their places |
//! | slabs | windows of the storage, or of pieces of it, are boxes of coordinates: a window is read, its elements are moved to their places |
//! | tiles | index tables give no regions: the bytes that a box needs are read, and its elements are moved to their places |
//! | ranges | else: the bytes that a range of the result needs are read, and the range is made from them |

mod run;
mod slabs;

use std::{cell::Cell, ops::Range};

use run::Run;
use tilewright_core::{ByteOrder, Fill, TensorLayout};
use tilewright_notation::{ResolvedLayout, Spec};
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_transfer::Limits;

use crate::{
    Error, FileLists, Input, Reading, Tensor, Watch,
    convert::job::{elements, program, read_as, stored_fill, target, unplanned},
    error,
    layout::{
        element_layout::ElementLayout,
        row_table::{self, Tables},
    },
    open::origin::Origin,
    verify::boxes::{Area, size},
};

/// The largest number of bytes that are held beside a result.
const BESIDE: u64 = 64 << 20;

/// The sizes by which a way is chosen, in bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// The largest buffers of one step: of a window, or of the bytes that a range needs.
    most: u64,
    /// The window of one thread: its bytes stay in the processor's cache until they are moved.
    window: u64,
    /// Runs of this length are written about as fast as longer ones.
    written: u64,
    /// The lengths of pieces from which windows may be made if runs are shorter, longest first: a call costs less than copying
    /// them.
    pieces: [u64; 3],
    /// The least length of results that do not fit into a cache.
    far: u64,
}

const SIZES: Sizes = Sizes {
    most: 24 << 20,
    window: 4 << 20,
    written: 1 << 10,
    pieces: [64 << 10, 32 << 10, 16 << 10],
    far: 32 << 20,
};

/// A tensor, or a box of one, that can be read: its layouts are chosen and checked, and nothing is read yet.
///
/// ```
/// # use tilewright_files::{Reading, open};
/// use tilewright_notation::Spec;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// let tensor = input.tensors().iter().find(|tensor| tensor.name().contains("k_proj")).unwrap();
/// let to = Spec::parse("zN").unwrap();
/// let reader = input.reader(tensor, Some(&to), None).unwrap();
/// assert_eq!(reader.layout().storage_shape(), [13, 4, 16, 16]);
/// let mut out = vec![0; reader.bytes() as usize];
/// reader.read_into(&mut out, 1, &()).unwrap();
///
/// // Ten rows of it, row-major.
/// let rows = input.reader(tensor, None, Some(&[5..15, 0..200])).unwrap();
/// assert_eq!((rows.layout().to_spec(), rows.bytes()), ("bf16[10,200] row-major".into(), 4000));
/// ```
#[derive(Debug)]
pub struct Reader<'i> {
    name: &'i str,
    source: Origin<'i>,
    /// The position of the tensor's first byte.
    at: u64,
    from: ElementLayout,
    to: ElementLayout,
    /// The result without a requested layout: the dims of the box, the last fastest.
    rows: ElementLayout,
    /// The box that is read, counted in the units that move: elements, or blocks of them.
    area: Area,
    program: Program,
    fill: u128,
}

impl Input {
    /// Returns a reader of a tensor of this input: in the layout `to`, else with its logical dims, the last fastest, whatever the
    /// file stores. With `part`, a range of each dim, only that box is read. The lowest byte of an element comes first, unless
    /// `to` states otherwise.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a layout that does not fit the tensor, or its part; unsupported for a tensor to which no
    /// layout can be given.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let ids = &input.tensors()[0];
    /// assert_eq!(input.reader(ids, None, None).unwrap().bytes(), ids.bytes());
    /// let end = ids.dims()[0];
    /// let error = input.reader(ids, None, Some(&[0..end + 1])).unwrap_err();
    /// assert!(error.is_usage() && error.to_string().contains("a box"));
    /// ```
    pub fn reader<'i>(
        &'i self,
        tensor: &'i Tensor,
        to: Option<&Spec>,
        part: Option<&[Range<u64>]>,
    ) -> Result<Reader<'i>, Error> {
        self.reader_as(tensor, &Reading::default(), to, part)
    }

    /// Returns the layout of a tensor when it is read as a caller describes it.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a description that does not fit the tensor.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// let input = open(path, &Reading::default()).unwrap();
    /// let tensor = input.tensors().iter().find(|tensor| tensor.name() == "ids.i64").unwrap();
    /// let words = Reading::default().from(Spec::parse("row-major as s64").unwrap()).dtype(dtype("u8").unwrap());
    /// let named = input.layout_as(tensor, &words).unwrap();
    /// assert_eq!(named.layout().size(), 8 * tensor.layout().layout().size());
    /// ```
    pub fn layout_as(&self, tensor: &Tensor, reading: &Reading) -> Result<ResolvedLayout, Error> {
        let lists = FileLists::of(self).beside(&tensor.name);
        let held = read_as(tensor, reading, &lists).map_err(|why| why.alone(&self.path))?;
        Ok(ResolvedLayout::clone(&held.named))
    }

    /// Returns a reader of a tensor that is read as a caller describes it: words that hold smaller elements, such as `GPTQ` of
    /// `u4`.
    ///
    /// # Errors
    /// As [`Input::reader`], and for a description that does not fit the tensor.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// let input = open(path, &Reading::default()).unwrap();
    /// let tensor = input.tensors().iter().find(|tensor| tensor.name() == "ids.i64").unwrap();
    /// let words = Reading::default().from(Spec::parse("row-major as s64").unwrap()).dtype(dtype("u8").unwrap());
    /// let to = Spec::parse("row-major as u16").unwrap();
    /// let reader = input.reader_as(tensor, &words, Some(&to), None).unwrap();
    /// assert_eq!((reader.bytes(), reader.bits()), (tensor.bytes(), 8));
    /// assert_eq!(reader.layout().stored_as().unwrap().bits(), 16);
    /// ```
    pub fn reader_as<'i>(
        &'i self,
        tensor: &'i Tensor,
        reading: &Reading,
        to: Option<&Spec>,
        part: Option<&[Range<u64>]>,
    ) -> Result<Reader<'i>, Error> {
        let name = tensor.name();
        let lists = FileLists::of(self).beside(name);
        let held = read_as(tensor, reading, &lists).map_err(|why| why.alone(&self.path))?;
        let (source, at) = self.place(tensor)?;
        let (source, from, (at, _)) = match held.tables() {
            None => (Origin::File(source), held, (at, tensor.len)),
            Some(_) if held.is_value_of(&tensor.held) => {
                let own = Origin::File(source).in_rows(&tensor.held, (at, tensor.len))?;
                (own.0, own.1.clone(), own.2)
            }
            Some(_) => return Err(read_with_tables(name, &held.spec())),
        };
        let wanted = |to: &Spec| target(name, &from, to, (None, true), (false, &lists)).ok()?.ok();
        if let Some(wanted) = to.and_then(wanted)
            && let Some(why) = Tables::new(self).permuted(tensor, &from, &wanted)?
        {
            return Err(row_table::refused(why));
        }
        let whole: Area = from.dims().iter().map(|extent| 0..*extent).collect();
        let asked = part.unwrap_or(&whole);
        let area = checked(name, &from, asked)?;
        let dims: Vec<u64> = asked.iter().map(|range| range.end - range.start).collect();
        let failed = |said: String| error::usage(format!("tensor {name:?}: {said}"));
        let plain = plain(&from, &dims).map_err(failed)?;
        let to = match to {
            Some(spec) => {
                target(name, &plain, spec, (None, true), (false, &lists))?.map_err(error::usage)?
            }
            None => plain.clone(),
        };
        let fill = stored_fill(name, &to)?;
        if to.tables().is_some() {
            if area != whole_area(&from) {
                return Err(part_with_tables(name, &to.spec()));
            }
            let program = program(name, &from, &to, fill)?;
            return Ok(Reader { name, source, at, from, to, rows: plain, area, program, fill });
        }
        let origin: Vec<u64> = area.iter().map(|range| range.start).collect();
        let extents = to.layout().extents();
        let zeros = vec![0; extents.len()];
        let sides = ((from.layout(), &*origin), (to.layout(), &*zeros));
        let program = Program::of_part(sides.0, sides.1, extents, elements(&from, &to))
            .map_err(|error| unplanned(name, &error))?;
        Ok(Reader { name, source, at, from, to, rows: plain, area, program, fill })
    }
}

/// Returns the error of reading a tensor through index tables that a caller gives.
fn read_with_tables(name: &str, spec: &str) -> Error {
    error::usage(format!(
        "tensor {name:?}: `{spec}` has index tables, and a single tensor cannot be read through them: convert the file, or read the tensor as it is and move it in memory"
    ))
}

/// Returns the error for a box in a layout whose index tables are those of the whole.
fn part_with_tables(name: &str, spec: &str) -> Error {
    error::usage(format!(
        "tensor {name:?}: `{spec}` has index tables, whose numbers count the whole tensor: read it whole, or read the box row-major and move it in memory"
    ))
}

/// Returns all coordinates, counted in the units that move.
fn whole_area(from: &ElementLayout) -> Area {
    from.layout().extents().iter().map(|extent| 0..*extent).collect()
}

/// Returns a box of a tensor, counted in the units that move.
fn checked(name: &str, from: &ElementLayout, asked: &[Range<u64>]) -> Result<Area, Error> {
    let (dims, n) = (from.dims(), from.together());
    let refused = |said: String| Err(error::usage(format!("tensor {name:?}: {said}")));
    if asked.len() != dims.len() {
        let (rank, given) = (dims.len(), asked.len());
        return refused(format!("a box of rank {given} of a tensor of rank {rank}, dims {dims:?}"));
    }
    for (dim, (range, extent)) in asked.iter().zip(dims).enumerate() {
        let Range { start, end } = range;
        if start > end || end > extent {
            return refused(format!("a box from {start} to {end} in dim {dim} of extent {extent}"));
        }
    }
    let mut area = asked.to_vec();
    if let Some(last) = area.last_mut().filter(|_| n > 1) {
        let Range { start, end } = *last;
        if !start.is_multiple_of(n) || !end.is_multiple_of(n) {
            let dtype = from.dtype;
            return refused(format!(
                "a box from {start} to {end} in the last dim; for {dtype} use multiples of {n}, the size of a block"
            ));
        }
        *last = start / n..end / n;
    }
    Ok(area)
}

/// Returns the layout of an array of these dims, the last fastest.
fn plain(from: &ElementLayout, dims: &[u64]) -> Result<ElementLayout, String> {
    let layout = TensorLayout::row_major(dims).map_err(|error| error.to_string())?;
    let named = ResolvedLayout::new("row-major", layout, None, None, Fill::Unspecified);
    let held = ElementLayout::of(&named, from.dtype, from.bits, Fill::Unspecified)?;
    held.ordered(ByteOrder::Little)
}

impl Reader<'_> {
    /// Returns the layout of the result, with the type and width of its elements.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let reader = input.reader(&input.tensors()[0], None, None).unwrap();
    /// assert_eq!(reader.layout().layout().extents(), input.tensors()[0].dims());
    /// ```
    pub fn layout(&self) -> &ResolvedLayout {
        &self.to.named
    }

    /// Returns the length of the result in bytes.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let tensor = &input.tensors()[0];
    /// assert_eq!(input.reader(tensor, None, None).unwrap().bytes(), tensor.bytes());
    /// ```
    pub fn bytes(&self) -> u64 {
        self.program.dst_bytes()
    }

    /// Returns the stored width of an element of the result, in bits; of a block of elements if its type has blocks.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert_eq!(input.reader(&input.tensors()[0], None, None).unwrap().bits(), 32);
    /// ```
    pub fn bits(&self) -> u32 {
        self.to.bits
    }

    /// Returns whether the highest byte of an element comes first.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// assert!(!input.reader(&input.tensors()[0], None, None).unwrap().is_big_endian());
    /// ```
    pub fn is_big_endian(&self) -> bool {
        self.to.named.byte_order().is_some_and(ByteOrder::is_big)
    }

    /// Returns the program from the result of a reader of the same box without a layout, the last dim fastest, to this result:
    /// for callers that move the elements elsewhere, such as on a device.
    ///
    /// # Errors
    /// [usage](Error::is_usage) if no program moves them.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let tensor = input.tensors().iter().find(|tensor| tensor.name().contains("k_proj")).unwrap();
    /// let (rows, blocks) = (input.reader(tensor, None, None).unwrap(), Spec::parse("zN").unwrap());
    /// let blocks = input.reader(tensor, Some(&blocks), None).unwrap();
    /// let program = blocks.from_rows().unwrap();
    /// assert_eq!((program.src_bytes(), program.dst_bytes()), (rows.bytes(), blocks.bytes()));
    /// ```
    pub fn from_rows(&self) -> Result<Program, Error> {
        program(self.name, &self.rows, &self.to, self.fill)
    }

    /// Reads the result into `out`, which has exactly its length, with this many threads; 0 for one per core. Padding becomes the
    /// fill of the layout, else zeros. After an error, parts of `out` may be written.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for an `out` of another length; [io](Error::is_io) if the system cannot read; corrupt or changed
    /// for a file that is not as it was when it was opened; [cancelled](Error::is_cancelled) if `watch` cancels.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// let tensor = &input.tensors()[0];
    /// let reader = input.reader(tensor, None, None).unwrap();
    /// let mut out = vec![0; reader.bytes() as usize];
    /// reader.read_into(&mut out, 1, &()).unwrap();
    /// assert_eq!(out, input.bytes(tensor, 1 << 20).unwrap());
    /// assert!(reader.read_into(&mut out[1..], 1, &()).unwrap_err().is_usage());
    /// ```
    pub fn read_into(
        &self,
        out: &mut [u8],
        threads: usize,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let (needed, given) = (self.bytes(), out.len());
        if given as u64 != needed {
            let said = format!("tensor {:?}: {given} bytes for a result of {needed}", self.name);
            return Err(error::usage(said));
        }
        // Starting a thread costs more than it saves for less.
        let threads = if self.moved() < 2 * SIZES.window { 1 } else { threads };
        let limits = Limits::new(watch, BESIDE, threads);
        Run { reader: self, limits, sizes: SIZES, told: Cell::new(0) }.run(out)?;
        self.source.check_unchanged()
    }

    /// Returns the number of bytes of the moved elements in the result.
    fn moved(&self) -> u64 {
        (u128::from(size(&self.area)) * u128::from(self.to.bits) / 8) as u64
    }

    fn failed(&self, error: &Error) -> Error {
        unplanned(self.name, error)
    }

    /// Writes the padding, to which no element is written.
    fn pad(&self, out: &mut [u8]) -> Result<(), Error> {
        let plan = match self.to.tables() {
            Some(_) => Plan::of(self.program.clone()),
            None if self.to.layout().padding() == 0 && self.to.ends_with_a_byte() => return Ok(()),
            None => {
                let (layout, same) = (self.to.layout(), Elements::same(self.to.bits));
                let plan = Plan::new(layout, layout, same, self.fill);
                plan.map_err(|error| self.failed(&error))?
            }
        };
        plan.pad(out, 1).map_err(|error| self.failed(&error))
    }

    /// Returns whether the result has the bytes of the file unchanged.
    fn is_copied(&self) -> bool {
        let (from, to) = (&self.from, &self.to);
        let whole = from.bits == to.bits && size(&self.area) == from.layout().size();
        whole && to.tables().is_none() && from.layout() == to.layout() && to.layout().padding() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Conversion, Request, open};

    /// Writes a file of one tensor `t`.
    fn file(path: &Path, dtype: &str, dims: &[u64], data: &[u8]) {
        let len = data.len();
        let header =
            format!(r#"{{"t":{{"dtype":"{dtype}","shape":{dims:?},"data_offsets":[0,{len}]}}}}"#);
        let size = (header.len() as u64).to_le_bytes();
        std::fs::write(path, [&size[..], header.as_bytes(), data].concat()).unwrap();
    }

    fn convert(from: &Path, to: &Path, text: &str) {
        let request = Request::new().to(Spec::parse(text).unwrap()).force(true);
        let input = open(from, &Reading::default()).unwrap();
        Conversion::prepare(&input, to, request).unwrap().run(&()).unwrap();
    }

    fn bytes(path: &Path) -> Vec<u8> {
        let input = open(path, &Reading::default()).unwrap();
        input.bytes(&input.tensors()[0], u64::MAX).unwrap()
    }

    /// Returns rows and columns of a matrix in row-major order, of elements of `bits` bits.
    fn cut(data: &[u8], columns: u64, area: &[Range<u64>], bits: u64) -> Vec<u8> {
        let rows = area[0].clone();
        let row = |row: u64| {
            let [from, to] = [area[1].start, area[1].end].map(|n| (row * columns + n) * bits / 8);
            data[from as usize..to as usize].to_vec()
        };
        rows.flat_map(row).collect()
    }

    /// Tables that fold into strides give long runs, which are read straight, and padding between them.
    #[test]
    #[cfg(feature = "tables")]
    fn padding_between_long_runs_is_written() {
        let folder = tilewright_testing::folder();
        let path = folder.path().join("rows.safetensors");
        file(&path, "F32", &[4, 9000], &vec![7; 4 * 9000 * 4]);
        let input = open(&path, &Reading::default()).unwrap();
        let to = Spec::parse("f32[4,9000] table(0; 3,2,1,0) (4,9000):(9216,1)").unwrap();
        let reader = input.reader(&input.tensors()[0], Some(&to), None).unwrap();
        let mut out = vec![0x5A; reader.bytes() as usize];
        reader.read_into(&mut out, 1, &()).unwrap();
        let expected = |byte: usize| if byte % (9216 * 4) < 9000 * 4 { 7 } else { 0 };
        let wrong = out.iter().enumerate().position(|(byte, is)| *is != expected(byte));
        assert_eq!(wrong, None);
    }

    /// A layout with index tables is read whole, with bounds of any size: the result is that of a conversion to it.
    #[test]
    #[cfg(feature = "tables")]
    fn index_tables_are_read_as_a_conversion_writes_them() {
        let folder = tilewright_testing::folder();
        let at = |name: &str| folder.path().join(name);
        let data: Vec<u8> = (0..24 * 10 * 2).map(|i: u64| (i * 7 + i / 251) as u8).collect();
        file(&at("whole.safetensors"), "BF16", &[24, 10], &data);
        let texts = [
            "table(0; 5,4,3,2,1,0,11,10,9,8,7,6,23,22,21,20,19,18,17,16,15,14,13,12) row-major",
            "table(1; 9,0,8,1,7,2,6,3,5,4) zN",
        ];
        for text in texts {
            for from in ["row-major", "col-major", "zN"] {
                convert(&at("whole.safetensors"), &at("held.safetensors"), from);
                convert(&at("held.safetensors"), &at("expected.safetensors"), text);
                let expected = bytes(&at("expected.safetensors"));
                let input = open(at("held.safetensors"), &Reading::default()).unwrap();
                let spec = Spec::parse(text).unwrap();
                let reader = input.reader(&input.tensors()[0], Some(&spec), None).unwrap();
                for (most, window) in [(1 << 20, 1 << 20), (64, 100), (1, 1)] {
                    let mut out = vec![0x5A; reader.bytes() as usize];
                    let limits = Limits::new(&(), BESIDE, 2);
                    let (pieces, told) = ([100, 40, 16], Cell::new(0));
                    let sizes = Sizes { most, window, written: 0, pieces, far: window };
                    let run = Run { reader: &reader, limits, sizes, told };
                    run.run(&mut out).unwrap();
                    assert!(out == expected, "{from} to {text} {sizes:?}");
                }
                let part = input.reader(&input.tensors()[0], Some(&spec), Some(&[0..24, 0..5]));
                assert!(part.unwrap_err().is_usage());
            }
        }
    }

    /// Every layout in a file, read in every layout, whole and in boxes, with windows of any size: the results are those of
    /// conversions of the same elements.
    #[test]
    fn what_is_read_is_what_a_conversion_holds() {
        let texts = [
            "row-major",
            "col-major",
            "zN",
            "{1,0:T(8,128)(2,1)}",
            "{0,1:T(3,5)}",
            "S<2,4,3> o (64,64):(64,1) valid (40,52)",
            "(n n0:4) (m1 m0:2) -> n m0 m1 n0",
            "(40,52):(60,1)",
        ];
        let boxes = [[0..40, 0..52], [3..4, 0..52], [0..40, 8..10], [5..39, 6..50], [8..8, 0..52]];
        let sizes = [
            (1 << 20, 1 << 20, 0),
            (1 << 20, 300, 1 << 20),
            (1 << 20, 600, 1 << 20),
            (256, 64, 0),
            (1, 1, 1 << 20),
        ];
        let folder = tilewright_testing::folder();
        let at = |name: &str| folder.path().join(name);
        // All boxes and layouts; or every fifth, others for each layout in the file.
        let every = tilewright_testing::cases(1, 5);
        let mut checked = 0;
        for (dtype, bits) in [("BF16", 16), ("F4", 4)] {
            let data: Vec<u8> =
                (0..40 * 52 * bits / 8).map(|i: u64| (i * 7 + i / 251) as u8).collect();
            file(&at("whole.safetensors"), dtype, &[40, 52], &data);
            for (number, text) in texts.into_iter().enumerate() {
                convert(&at("whole.safetensors"), &at("held.safetensors"), text);
                let input = open(at("held.safetensors"), &Reading::default()).unwrap();
                let pairs = boxes.iter().flat_map(|area| texts.map(|to| (area, to)));
                for (area, to) in pairs.skip(number % every).step_by(every) {
                    let dims = [area[0].end - area[0].start, area[1].end - area[1].start];
                    let spec = Spec::parse(to).unwrap();
                    if spec.is_concrete() && dims != [40, 52] {
                        continue;
                    }
                    file(&at("part.safetensors"), dtype, &dims, &cut(&data, 52, area, bits));
                    convert(&at("part.safetensors"), &at("expected.safetensors"), to);
                    let expected = bytes(&at("expected.safetensors"));
                    let reader =
                        input.reader(&input.tensors()[0], Some(&spec), Some(area)).unwrap();
                    for ((most, window, written), threads) in
                        sizes.map(|sizes| [(sizes, 1), (sizes, 3)]).concat()
                    {
                        let mut out = vec![0x5A; reader.bytes() as usize];
                        let limits = Limits::new(&(), BESIDE, threads);
                        let (pieces, far) = ([100, 40, 16], window);
                        let sizes = Sizes { most, window, written, pieces, far };
                        let told = Cell::new(0);
                        Run { reader: &reader, limits, sizes, told }.run(&mut out).unwrap();
                        assert!(out == expected, "{dtype} {text} to {to} {area:?} {sizes:?}");
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 2000 / every, "{checked}");
    }
}
