//! Triton: `#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>`.
//!
//! ```text
//! triton   := [ '#' name '=' ] encoding | 'tensor' '<' { int 'x' } type ',' encoding '>'
//! encoding := '#' [ ('ttg' | 'triton_gpu' | 'ttng') '.' ] kind '<' '{' fields '}' [ ',' 'alignment' '=' int ] '>'
//! kind     := blocked          sizePerThread, threadsPerWarp, warpsPerCTA, order [, blocks]
//!           | linear           register, lane, warp, block: lists of bases, one coordinate each [, order]
//!           | slice            dim, parent: an encoding
//!           | swizzled_shared  vec, perPhase, maxPhase, order [, blocks]     in older texts `shared`
//!           | amd_rotating_shared   as swizzled_shared
//!           | shared_linear    offset [, block]: lists of bases
//!           | nvidia_mma, amd_mfma, amd_wmma, dot_op     as in triton/mma.rs
//!           | nvmma_shared, padded_shared                as in triton/shared.rs
//!           | partitioned_shared                         as in triton/partitioned.rs
//!           | tensor_memory_encoding                     as in triton/shared.rs, without braces
//! blocks   := CTAsPerCGA, CTASplitNum, CTAOrder | CGALayout: a list of bases
//! ```
//!
//! An encoding is a linear map to coordinates: from `register`, `lane`, `warp` and `block`, or from `offset` and
//! `block`. Orders list the **fastest dim first**. Bases are the images of 1, 2, 4 … The array may be larger than the
//! tile of the threads, so that each thread holds more registers, or smaller, so that several threads hold one
//! element. Extents are powers of two.
//!
//! As the layout of an array, an encoding of shared memory is inverted, to the offset of each element. An encoding
//! of threads becomes the storage of the registers of each thread, thread by thread, warp by warp, block by block.
//! Elements that several threads hold have no such offset.
//! Source: Triton, `TritonGPUAttrDefs.td` and `LinearLayoutConversions.cpp`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], warpsPerCTA = [1, 1], order = [1, 0]}>` | `[2,4]` | `(2,4):(4,1)` |
//! | `#triton_gpu.blocked<{sizePerThread = [2, 2], threadsPerWarp = [2, 2], warpsPerCTA = [1, 1], order = [1, 0]}>` | `[4,4]` | `((2,2),(2,2)):((2,8),(1,4))` |
//! | `#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [4], warpsPerCTA = [2], order = [0]}>` | `[16]` | `((8,2)):((2,1))` |
//! | `#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [2, 0]], warp = [[0, 2]], block = []}>` | `[4,4]` | `(4,(2,2)):(2,(1,8))` |
//! | `#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>` | `[4,8]` | `Sw<2,1,2> o (4,8):(8,1)` |
//! | `#triton_gpu.shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1], hasLeadingOffset = false}>` | `[4,8]` | `(4,8):(1,4)` |
//! | `#ttg.shared_linear<{offset = [[0, 1], [1, 0], [0, 2]]}, alignment = 16>` | `[2,4]` | `(2,(2,2)):(2,(1,4))` |
//! | `tensor<4x4xf16, #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0]], warp = [], block = []}>>` | | `(4,4):(4,1)` |
//! | `tensor<8xi32, #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [4], warpsPerCTA = [1], order = [0]}>>` | | `(8):(1)` |
//! | `#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [4], warpsPerCTA = [1], order = [0]}>` | `[4]` | error: held by 2 threads |
//! | `#ttg.blocked<{sizePerThread = [3], threadsPerWarp = [4], warpsPerCTA = [1], order = [0]}>` | `[12]` | error: powers of two |
//! | `#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [4], warpsPerCTA = [1], order = [0]}>` | `[100]` | error: 100 is none |
//! | `#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>` | `[16,8]` | `((8,2),(2,4)):((16,2),(1,4))` |
//! | `#ttg.dot_op<{opIdx = 1, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>, kWidth = 2}>` | `[16,8]` | `((2,4,2),8):((1,4,2),16)` |
//! | `#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16], isTransposed = false}>` | `[16,16]` | `((4,4),16):((1,64),4)` |
//! | `#ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [1, 1]}>` | `[16,16]` | `((8,2),16):((1,128),8)` |
//! | `#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1]]}}>` | `[16,32]` | `(16,(8,4)):(8,(1,128))` |
//! | `#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [64, 4, 16], isTransposed = true}>` | `[64,4]` | `(64,4):(4,1)` |
//! | `#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>` | `[8,64]` | `Sw<3,3,3> o (8,64):(64,1)` |
//! | `#ttg.amd_rotating_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>` | `[4,4]` | `F2<1,2,5,9> o (4,4):(4,1)` |
//! | `#ttg.padded_shared<[4:+2] {order = [1, 0], shape = [4, 8]}>` | `[4,8]` | `(4,(4,2)):(12,(1,6))` |
//! | `#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16, rank = 3}>` | `[2,4,16]` | `Sw<1,3,3> o (2,4,16):(64,16,1)` |
//! | `#ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0]], block = [[2, 0]]}>` | `[4,4]` | `((2,2),4):((6,10),1)` |
//! | `#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>}>` | `[8,4]` | `((2,2,2),4):((4,16,8),1)` |
//! | `#ttng.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>` | `[128,32]` | `(128,32):(32,1)` |
//! | `#ttng.tensor_memory_encoding<blockM = 64, blockN = 16, colStride = 1>` | `[64,32]` | `((16,4),(16,2)):((16,512),(1,256))` |
//! | `#ttg.nvidia_mma<{versionMajor = 5, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [128, 64]}>` | | error: version 2 |
//! | `#ttg.padded_shared<[3:+2] {order = [1, 0]}>` | | error: powers of two |
//! | `#ttng.tensor_memory_encoding<blockM = 32, blockN = 16, colStride = 1>` | | error: 64 or 128 rows |
//!
//! Law: each coordinate is reached, by every kind of encoding. Layouts of memory are printed as encodings of shared
//! memory.

mod encoding;
mod mma;
mod shared;
mod values;

use std::{fmt, sync::Arc};

use tilewright_core::{Coord, Dtype, LinearLayout, TensorLayout};

use super::{linear, mlir};
use crate::{
    Error, ResolvedLayout,
    dtype::dtype,
    literal::of_map,
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};
use encoding::Encoding;
use mma::{
    block_map, blocked_operand, build, identities, linear, name, names, per_block, shared_out,
    spanning, swizzled,
};
use values::{Bases, MAX_RANK};

pub(in crate::dialect) const DIALECT: Notation = Notation::new(
    "triton",
    "Triton: the thread of each element, or its place in shared memory",
    read,
    print,
)
.with_aliases(&["ttg"])
.with_form(claims);

fn claims(text: &str) -> bool {
    (text.starts_with('#') && !text.contains("affine_map"))
        || (text.starts_with("tensor<") && text.contains('#'))
}

/// An encoding, with its array where the text has one.
#[derive(Debug)]
struct Triton {
    encoding: Encoding,
    array: Option<TritonTensor>,
}

/// `4x8xf16`: dims and a type, which is printed as it was spelled.
#[derive(Debug)]
struct TritonTensor {
    dims: Vec<u64>,
    dtype: Dtype,
    spelled: String,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let Some(inside) = text.strip_prefix("tensor").map(str::trim_start) else {
        return Ok(Arc::new(Triton { encoding: encoding::read(text, 0)?, array: None }));
    };
    let from = text.len() - inside.len() + 1;
    let whole = inside.strip_prefix('<').and_then(|inside| inside.strip_suffix('>'));
    let Some((shape, rest)) = whole.and_then(|whole| whole.split_once(',')) else {
        return Err(Error::parse((0, text.len()), "expected `tensor<4x8xf16, #encoding<{…}>>`"));
    };
    let array = array(shape).map_err(|error| error.shifted(from))?;
    let at = from + shape.len() + 1;
    let encoding = encoding::read(rest, 0).map_err(|error| error.shifted(at))?;
    let triton = Triton { encoding, array: Some(array) };
    match &triton.array {
        Some(array) if !triton.encoding.fits(array.dims.len()) => Err(Error::parse(
            (at, text.len() - 1),
            format!("an encoding of another rank than the {} dims of the tensor", array.dims.len()),
        )),
        Some(_) | None => Ok(Arc::new(triton)),
    }
}

/// `4x8xf16`.
fn array(text: &str) -> Result<TritonTensor, Error> {
    let (mut dims, mut at) = (Vec::new(), 0);
    loop {
        let rest = text.get(at..).unwrap_or("");
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 || !rest[digits..].starts_with('x') {
            let spelled = rest.trim();
            let element = mlir::type_of(spelled).map_or_else(|| dtype(spelled), Ok);
            let dtype = element.map_err(|error| error.shifted(at))?;
            return Ok(TritonTensor { dims, dtype, spelled: spelled.to_owned() });
        }
        let span = (at, at + digits);
        let too_large = |_| Error::parse(span, "an extent that does not fit 64 bits");
        dims.push(rest[..digits].parse().map_err(too_large)?);
        if dims.len() > MAX_RANK {
            return Err(Error::parse(span, "a tensor of more than 16 dims"));
        }
        at += digits + 1;
    }
}

impl Triton {
    /// The dims of the array, and the type of its elements.
    fn given<'a>(&'a self, given: &Given<'a>) -> Result<(&'a [u64], Option<Dtype>), Error> {
        let Some(array) = &self.array else {
            return Ok((given.need_dims(self)?, given.dtype));
        };
        given.agree_dims(self, &array.dims)?;
        Ok((&array.dims, given.agree_dtype(self, Some(array.dtype))?))
    }

    /// From places to coordinates.
    fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        if !self.encoding.fits(dims.len()) {
            return Err(Error::mismatch(format!(
                "`{}` is of another rank than the {} dims",
                self.encoding,
                dims.len()
            )));
        }
        if let Some(extent) = dims.iter().find(|extent| !extent.is_power_of_two()) {
            return Err(Error::unsupported(format!(
                "Triton's tensors have extents that are powers of two; {extent} is none"
            )));
        }
        self.encoding.map(dims)
    }
}

impl Triton {
    /// Returns the layout of an array of these extents in memory.
    fn stored(&self, dims: &[u64], dtype: Option<Dtype>) -> Result<TensorLayout, Error> {
        let map = self.map(dims)?;
        match &self.encoding {
            Encoding::Padded(padded) => padded.stored(dims),
            // Each element is at the first of the places that hold it.
            Encoding::TensorMemory(_) => {
                linear::stored(&map.pseudo_inverse().map_err(of_map)?, dims)
            }
            Encoding::Partitioned(_, piece) if matches!(**piece, Encoding::Padded(_)) => {
                Err(Error::unsupported("padding within partitions is not supported"))
            }
            Encoding::Nvmma(nvmma) => {
                if let Some(bits) = dtype.and_then(Dtype::bits).map(u64::from)
                    && bits != nvmma.bits
                {
                    return Err(Error::mismatch(format!(
                        "elements of {bits} bits, and elementBitWidth is {}",
                        nvmma.bits
                    )));
                }
                match nvmma.padded {
                    // As in tensor memory.
                    true => linear::stored(&map.pseudo_inverse().map_err(of_map)?, dims),
                    false => stored(&map, dims),
                }
            }
            _ => stored(&map, dims),
        }
    }
}

/// `: register 1 of lane 2 and …`, two places that hold one element.
fn two_places(map: &LinearLayout) -> String {
    let Some((one, other)) = map.collision() else { return String::new() };
    let place = |at: &Coord| {
        let each = map.ins().iter().zip(at.as_slice());
        let words: Vec<String> = each
            .filter(|(dim, _)| dim.size() > 1)
            .map(|(dim, at)| format!("{} {at}", dim.name()))
            .collect();
        words.join(" ")
    };
    format!("; {} and {} are one element", place(&other), place(&one))
}

/// Returns the layout in memory, if the places of `map` are stored in the order of their dims, the first fastest.
fn stored(map: &LinearLayout, dims: &[u64]) -> Result<TensorLayout, Error> {
    if let Some(dim) =
        map.ins().iter().find(|dim| map.free_bits(dim.name()).is_some_and(|bits| bits != 0))
    {
        let copies = map.in_size() >> map.rank();
        return Err(Error::unsupported(format!(
            "each element is held by {copies} threads, registers or blocks (among them bits {:#b} of `{}`{}), so it has no single place; a linear layout can express this",
            map.free_bits(dim.name()).unwrap_or(0),
            dim.name(),
            two_places(map)
        )));
    }
    let places = map.inverse().map_err(of_map)?;
    linear::stored(&places, dims)
}

impl fmt::Display for Triton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(array) = &self.array else { return write!(f, "{}", self.encoding) };
        let dims: String = array.dims.iter().map(|dim| format!("{dim}x")).collect();
        write!(f, "tensor<{dims}{}, {}>", array.spelled, self.encoding)
    }
}

impl ParsedSpec for Triton {
    fn is_concrete(&self) -> bool {
        self.array.is_some()
    }

    fn fits(&self, rank: usize) -> bool {
        match &self.array {
            Some(array) => rank == array.dims.len(),
            None => self.encoding.fits(rank),
        }
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let (dims, dtype) = self.given(given)?;
        let layout = self.stored(dims, dtype)?;
        Ok(ResolvedLayout::plain(layout, &Given { dims: Some(dims), dtype }))
    }

    fn distribution(&self, given: &Given<'_>) -> Result<Option<LinearLayout>, Error> {
        if self.encoding.is_memory() {
            return Ok(None);
        }
        if let (None, None, Some(own)) = (&self.array, given.dims, self.encoding.own_map()?) {
            return Ok(Some(own));
        }
        let (dims, _) = self.given(given)?;
        self.map(dims).map(Some)
    }
}

fn unsupported(message: impl Into<String>) -> Error {
    Error::unsupported(message)
}

/// The layout as an encoding of shared memory: a swizzled one where that can express it, else a linear one.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let (tensor, dims) = (named.layout(), named.layout().extents());
    if dims.len() > MAX_RANK {
        return Err(unsupported(format!("{} dims; a linear layout has at most 16", dims.len())));
    }
    let no_words = |why| unsupported(format!("Triton's encodings are linear over bits: {why}"));
    if tensor.capacity() != tensor.size() {
        return Err(unsupported("Triton's linear layouts cannot express padding"));
    }
    let places = linear::places(tensor, tensor.size()).map_err(no_words)?;
    let map = places.inverse().map_err(|error| no_words(error.to_string()))?;
    let swizzled = like_swizzled(named);
    if swizzled.map(dims).is_ok_and(|other| same_places(&other, &map)) {
        return Ok(swizzled.to_string());
    }
    let offset: Bases = (0..)
        .map_while(|bit| map.basis("offset", bit))
        .map(|basis| basis.as_slice().to_vec())
        .collect();
    Ok(Encoding::SharedLinear { offset, blocks: Vec::new(), alignment: 16 }.to_string())
}

/// Returns whether the two maps send every offset to the same coordinates; the first has a dim of blocks too.
fn same_places(other: &LinearLayout, map: &LinearLayout) -> bool {
    let bases = |map: &LinearLayout| -> Vec<_> {
        (0..).map_while(|bit| map.basis("offset", bit)).collect()
    };
    bases(other) == bases(map)
}

/// The swizzled encoding that the layout's strides and swizzle look like.
fn like_swizzled(named: &ResolvedLayout) -> Encoding {
    let (layout, dims) = (named.layout().layout(), named.layout().extents());
    let stride = |dim: usize| {
        let moving = layout.axis(dim).and_then(|modes| modes.iter().find(|mode| mode.extent() > 1));
        moving.map_or(i64::MAX, |mode| mode.stride())
    };
    let mut order: Vec<usize> = (0..dims.len()).collect();
    tilewright_core::sort_short(&mut order, |&dim| (stride(dim), std::cmp::Reverse(dim)));
    let columns = order.first().and_then(|&dim| dims.get(dim)).copied().unwrap_or(1);
    let swizzle = layout.swizzle();
    let rows = i64::from(swizzle.base()) + i64::from(swizzle.shift());
    let per_phase = u32::try_from(rows - i64::from(columns.trailing_zeros())).unwrap_or(0);
    let power = |bits: u32| 1u64.checked_shl(bits).unwrap_or(1);
    let (vec, per_phase, max_phase) = if swizzle.is_identity() {
        (1, 1, 1)
    } else {
        (power(u32::from(swizzle.base())), power(per_phase), power(u32::from(swizzle.bits())))
    };
    let blocks = Vec::new();
    Encoding::Swizzled { vec, per_phase, max_phase, order, blocks, rotating: false }
}

impl Encoding {
    /// The map that bases give by themselves, of the smallest tensor that holds them; of other encodings none.
    fn own_map(&self) -> Result<Option<LinearLayout>, Error> {
        let (Encoding::Linear([register, lane, warp, block]), Some(rank)) = (self, self.rank())
        else {
            return Ok(None);
        };
        let ins = [("register", register), ("lane", lane), ("warp", warp), ("block", block)];
        spanning(&ins, &names(rank)).map(Some)
    }

    /// The map of a tensor of these extents: powers of two, of a rank that [`Encoding::fits`].
    fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        match self {
            Encoding::Blocked { size, threads, warps, order, blocks } => {
                let tile = identities("register", size, order)?
                    .product(&identities("lane", threads, order)?)?
                    .product(&identities("warp", warps, order)?)?;
                shared_out(&tile, blocks, dims)
            }
            Encoding::Linear(all) => linear(all, dims),
            Encoding::Slice { dim, parent } => slice(*dim, parent, dims),
            Encoding::Swizzled { vec, per_phase, max_phase, order, blocks, rotating } => {
                let numbers = [*vec, *per_phase, *max_phase];
                let tile = |own: &[u64]| swizzled(numbers, *rotating, order, own);
                let block = block_map(blocks, dims)?;
                shared_out(&tile(&per_block(&block, dims))?, blocks, dims)
            }
            Encoding::Mma(mma) => mma.map(dims),
            Encoding::Operand { operand, parent, width } => match parent.as_ref() {
                Encoding::Mma(mma) => mma.operand(*operand, *width, dims),
                Encoding::Blocked { size, threads, warps, order, blocks } if dims.len() > 1 => {
                    blocked_operand([size, threads, warps], order, blocks, *operand, dims)
                }
                _ => Err(Error::unsupported("operands are matrices, or batches of them")),
            },
            Encoding::Nvmma(nvmma) => nvmma.map(dims),
            Encoding::Padded(padded) => padded.map(dims),
            Encoding::TensorMemory(memory) => memory.map(dims),
            Encoding::Partitioned(partitions, piece) => {
                partitions.joined(&piece.map(&partitions.piece(dims)?)?)
            }
            Encoding::SharedLinear { offset, blocks, .. } => {
                let ins = [("offset", offset), ("block", blocks)];
                let outs: Vec<(String, u64)> =
                    dims.iter().enumerate().map(|(i, &extent)| (name(i), extent)).collect();
                build(&ins, &outs).map_err(|error| {
                    Error::mismatch(format!("an encoding of another tensor: {}", error.message()))
                })
            }
        }
    }
}

/// The parent's map of the tensor with one more dim of extent 1, without that dim and without registers that
/// then hold the same.
fn slice(dim: usize, parent: &Encoding, dims: &[u64]) -> Result<LinearLayout, Error> {
    let mut whole = dims.to_vec();
    whole.insert(dim.min(dims.len()), 1);
    let map = parent.map(&whole)?;
    let kept: Vec<String> = (0..whole.len()).filter(|&other| other != dim).map(name).collect();
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let ins: Vec<&str> = map.ins().iter().map(|dim| dim.name()).collect();
    let map = map.sublayout(&ins, &kept)?.remove_zeros("register")?;
    Ok(map.standard_outs()?)
}
