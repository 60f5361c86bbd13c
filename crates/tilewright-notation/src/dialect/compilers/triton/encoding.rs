//! The encodings of Triton, as they are written.
//!
//! Shared memory in partitions: `#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0,
//! partitionLayout = #ttg.swizzled_shared<{…}>}>`.
//!
//! A dim is cut into `numPartitions · numGroups` pieces, which take turns in the partitions. Each piece has the layout
//! `partitionLayout`; the pieces of a partition follow one another. As the layout of an array, the partitions do so
//! too. Source: Triton, `PartitionedSharedEncodingAttr`.

use std::fmt;

use tilewright_core::LinearLayout;

use super::{
    mma::{self, Mma, name},
    shared::{self, Nvmma, Padded, TensorMemory},
    values::{
        BLOCKS, Bases, MAX_RANK, bases, blocks, list, lists, more, order, power, powers, same_rank,
    },
};
use crate::{
    Error,
    literal::{LiteralFields, Scanner, did_you_mean},
};

/// The deepest slices of slices.
const DEEPEST: usize = MAX_RANK;

#[derive(Debug)]
pub(super) enum Encoding {
    Blocked {
        size: Vec<u64>,
        threads: Vec<u64>,
        warps: Vec<u64>,
        order: Vec<usize>,
        blocks: Bases,
    },
    /// The bases of the registers, lanes, warps and blocks.
    Linear([Bases; 4]),
    Slice {
        dim: usize,
        parent: Box<Encoding>,
    },
    Swizzled {
        vec: u64,
        per_phase: u64,
        max_phase: u64,
        order: Vec<usize>,
        blocks: Bases,
        /// True if the number of the block of rows is xored in, too.
        rotating: bool,
    },
    SharedLinear {
        offset: Bases,
        blocks: Bases,
        alignment: u64,
    },
    Mma(Mma),
    /// An operand of a product, and how many neighbours along k a lane has.
    Operand {
        operand: u64,
        parent: Box<Encoding>,
        width: u64,
    },
    Nvmma(Nvmma),
    Padded(Padded),
    TensorMemory(TensorMemory),
    /// Partitions, and the encoding of each piece.
    Partitioned(Partitions, Box<Encoding>),
}

/// The partitions of memory between which the pieces of a dim alternate.
#[derive(Debug)]
pub(super) struct Partitions {
    pub(super) partitions: u64,
    /// The pieces of a partition.
    pub(super) groups: u64,
    pub(super) dim: usize,
}

const LINEAR: [&str; 4] = ["register", "lane", "warp", "block"];
const DIALECTS: [&str; 4] = ["ttg", "triton_gpu", "ttng", "triton_nvidia_gpu"];
const KINDS: [&str; 16] = [
    "blocked",
    "linear",
    "slice",
    "swizzled_shared",
    "shared",
    "shared_linear",
    "nvidia_mma",
    "amd_mfma",
    "amd_wmma",
    "dot_op",
    "nvmma_shared",
    "amd_rotating_shared",
    "padded_shared",
    "partitioned_shared",
    "tensor_memory_encoding",
    "tensor_memory_scales_encoding",
];

/// Reads `#ttg.kind<{…}>`, `depth` slices deep.
pub(super) fn read(text: &str, depth: usize) -> Result<Encoding, Error> {
    let mut scan = Scanner::new(text);
    if let Some((name, rest)) = text.split_once('=')
        && rest.trim_start().starts_with('#')
        && name.trim().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'#')
    {
        scan.advance(name.len() + 1);
    }
    scan.expect("#")?;
    let (mut kind, mut span) = scan.name("an encoding, such as `ttg.blocked`")?;
    if scan.eat(".") {
        if !DIALECTS.contains(&kind) {
            return Err(Error::parse(span, format!("no encoding of `ttg`: `{kind}`")));
        }
        (kind, span) = scan.name("the kind of an encoding")?;
    }
    if !KINDS.contains(&kind) {
        let (nearest, kinds) = (did_you_mean(kind, KINDS), KINDS.join(", "));
        let message = format!("`{kind}` is not supported; choose from {kinds}{nearest}");
        return Err(Error::parse(span, message));
    }
    scan.expect("<")?;
    scan.skip();
    let from = scan.at();
    // The end of the fields; they contain `>` where they hold an encoding.
    let end = match kind.starts_with("tensor_memory") {
        true => text.rfind('>').filter(|&to| to >= from),
        false => text.rfind('}').map(|at| at + 1).filter(|&to| to > from),
    };
    let Some(to) = end else {
        return Err(scan.expected("`{…}`, the fields of the encoding"));
    };
    let body = text.get(from..to).unwrap_or("");
    scan.advance(to - from);
    let alignment = alignment(&mut scan, kind)?;
    scan.expect(">")?;
    scan.end("the encoding")?;
    let encoding = match kind {
        "blocked" => blocked(body),
        "linear" => linear(body),
        "slice" => slice(body, depth),
        "shared_linear" => shared_linear(body, alignment),
        "nvidia_mma" | "amd_mfma" | "amd_wmma" => mma::read(kind, body).map(Encoding::Mma),
        "dot_op" => operand(body, depth),
        "nvmma_shared" => shared::read(body).map(Encoding::Nvmma),
        "padded_shared" => shared::read_of_padded(body).map(Encoding::Padded),
        "partitioned_shared" => partitioned(body, depth),
        "tensor_memory_encoding" => shared::read_tensor_memory(body).map(Encoding::TensorMemory),
        "tensor_memory_scales_encoding" => shared::read_scales(body).map(Encoding::TensorMemory),
        _ => swizzled(body, kind == "amd_rotating_shared"),
    };
    encoding.map_err(|error| error.shifted(from))
}

/// `, alignment = 16`.
fn alignment(scan: &mut Scanner<'_>, kind: &str) -> Result<u64, Error> {
    if kind != "shared_linear" || !scan.eat(",") {
        return Ok(16);
    }
    scan.expect("alignment")?;
    scan.expect("=")?;
    scan.integer()
}

fn blocked(body: &str) -> Result<Encoding, Error> {
    let own = ["sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"];
    let legal = [&own[..], &BLOCKS[..]].concat();
    let mut fields = LiteralFields::read(body, "a blocked encoding", &legal, 0)?;
    let [size, threads, warps] =
        [own[0], own[1], own[2]].map(|name| fields.need(&[name]).and_then(|value| powers(&value)));
    let (size, threads, warps) = (size?, threads?, warps?);
    let order = order(&fields.need(&[own[3]])?)?;
    let rank = order.len();
    if [&size, &threads, &warps].iter().any(|list| list.len() != rank) {
        let message = format!(
            "{} sizes, {} threads, {} warps for an order of {rank} dims; there is one per dim",
            size.len(),
            threads.len(),
            warps.len()
        );
        return Err(Error::parse((0, body.len()), message));
    }
    let blocks = blocks(&mut fields, Some(rank))?;
    Ok(Encoding::Blocked { size, threads, warps, order, blocks })
}

fn linear(body: &str) -> Result<Encoding, Error> {
    let legal = [&LINEAR[..], &["order"]].concat();
    let mut fields = LiteralFields::read(body, "a linear encoding", &legal, 0)?;
    // Triton reads an order and drops it: the bases of the registers determine it.
    fields.take(&["order"])?.map(|value| order(&value)).transpose()?;
    let mut all: [Bases; 4] = Default::default();
    for (list, name) in all.iter_mut().zip(LINEAR) {
        // Texts leave `block` out where there is one.
        let value =
            if name == "block" { fields.take(&[name])? } else { Some(fields.need(&[name])?) };
        *list = value.map_or(Ok(Vec::new()), |value| bases(&value))?;
    }
    same_rank(all.iter().flatten(), body)?;
    Ok(Encoding::Linear(all))
}

fn shared_linear(body: &str, alignment: u64) -> Result<Encoding, Error> {
    let mut fields =
        LiteralFields::read(body, "a linear encoding of memory", &["offset", "block"], 0)?;
    let offset = bases(&fields.need(&["offset"])?)?;
    let blocks = fields.take(&["block"])?.map_or(Ok(Vec::new()), |value| bases(&value))?;
    same_rank(offset.iter().chain(&blocks), body)?;
    Ok(Encoding::SharedLinear { offset, blocks, alignment })
}

fn swizzled(body: &str, rotating: bool) -> Result<Encoding, Error> {
    let own = ["vec", "perPhase", "maxPhase", "order", "hasLeadingOffset"];
    let legal = [&own[..], &BLOCKS[..]].concat();
    let mut fields = LiteralFields::read(body, "a swizzled encoding", &legal, 0)?;
    let [vec, per_phase, max_phase] =
        [own[0], own[1], own[2]].map(|name| fields.need(&[name]).and_then(|value| power(&value)));
    let (vec, per_phase, max_phase) = (vec?, per_phase?, max_phase?);
    let order = order(&fields.need(&["order"])?)?;
    if let Some(leading) = fields.take(&["hasLeadingOffset"])?
        && leading.word()? != "false"
    {
        return Err(Error::parse(leading.span, "a leading offset is not supported; write `false`"));
    }
    let blocks = blocks(&mut fields, Some(order.len()))?;
    Ok(Encoding::Swizzled { vec, per_phase, max_phase, order, blocks, rotating })
}

/// `{dim = 0, parent = #ttg.…}`.
fn slice(body: &str, depth: usize) -> Result<Encoding, Error> {
    let (numbers, parent) = nested(body, (&["dim"], 1), ("parent", false), depth)?;
    let (dim, span) = numbers[0].unwrap_or_default();
    match (usize::try_from(dim), parent.rank()) {
        (Ok(dim), None) if dim < MAX_RANK => Ok(Encoding::Slice { dim, parent: Box::new(parent) }),
        (Ok(dim), Some(rank)) if dim < rank => {
            Ok(Encoding::Slice { dim, parent: Box::new(parent) })
        }
        (_, rank) => {
            let message = format!("the parent has {} dims", rank.unwrap_or(MAX_RANK));
            Err(Error::parse(span, message))
        }
    }
}

/// `{opIdx = 0, parent = #ttg.…, kWidth = 2}`.
fn operand(body: &str, depth: usize) -> Result<Encoding, Error> {
    let (numbers, parent) = nested(body, (&["opIdx", "kWidth"], 1), ("parent", false), depth)?;
    let ((operand, span), (width, _)) =
        (numbers[0].unwrap_or_default(), numbers[1].unwrap_or_default());
    if operand > 1 {
        return Err(Error::parse(span, "a product has operands 0 and 1"));
    }
    match parent {
        Encoding::Mma(_) | Encoding::Blocked { .. } => {
            Ok(Encoding::Operand { operand, parent: Box::new(parent), width })
        }
        _ => Err(Error::parse(
            (0, body.len()),
            "an operand is of an instruction or of a blocked encoding",
        )),
    }
}

/// `{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = #ttg.…}`.
fn partitioned(body: &str, depth: usize) -> Result<Encoding, Error> {
    let names = ["numPartitions", "numGroups", "partitionDim"];
    let (numbers, piece) = nested(body, (&names, 3), ("partitionLayout", true), depth)?;
    let number = |i: usize| numbers[i].unwrap_or_default();
    let ((partitions, first), (groups, second), (dim, third)) = (number(0), number(1), number(2));
    for (number, span) in [(partitions, first), (groups, second)] {
        if !number.is_power_of_two() {
            return Err(Error::parse(span, "expected a power of two"));
        }
    }
    if matches!(piece, Encoding::TensorMemory(_) | Encoding::Partitioned(..)) {
        let message = "the pieces must be shared memory without partitions";
        return Err(Error::parse((0, body.len()), message));
    }
    match usize::try_from(dim) {
        Ok(dim) if dim < piece.rank().unwrap_or(MAX_RANK) => {
            let partitions = Partitions { partitions, groups, dim };
            Ok(Encoding::Partitioned(partitions, Box::new(piece)))
        }
        _ => Err(Error::parse(third, "expected a dim of the encoding of the pieces")),
    }
}

type EncodingNumber = (u64, (usize, usize));

/// `{NUMBER = 0, INNER = #ttg.…}`, in any order: the numbers of these names, of which the first `needed` have to be
/// there, each with its span, and the encoding, which is of memory or over threads.
fn nested(
    body: &str,
    (names, needed): (&[&str], usize),
    (inner, memory): (&str, bool),
    depth: usize,
) -> Result<(Vec<Option<EncodingNumber>>, Encoding), Error> {
    let (mut scan, mut numbers, mut encoding) = (Scanner::new(body), vec![None; names.len()], None);
    scan.expect("{")?;
    loop {
        let (field, span) = scan.name("a field")?;
        scan.expect("=")?;
        scan.skip();
        let from = scan.at();
        let again = if field == inner {
            encoding.replace(read_inner(&mut scan, body, memory, depth)?).is_some()
        } else if let Some(at) = names.iter().position(|name| *name == field) {
            let value = scan.integer()?;
            numbers[at].replace((value, (from, scan.at()))).is_some()
        } else {
            let names = names.join(", ");
            let message = format!("unknown field `{field}`; legal fields are {names}, {inner}");
            return Err(Error::parse(span, message));
        };
        if again {
            return Err(Error::parse(span, format!("`{field}` is given twice")));
        }
        if !scan.eat(",") {
            break;
        }
    }
    scan.expect("}")?;
    let end = scan.at() - 1;
    scan.end("the fields")?;
    let missing = |name: &str| Error::parse((end, end), format!("expected `{name}=` too"));
    let first = names.iter().zip(&numbers).take(needed);
    if let Some((name, _)) = first.into_iter().find(|(_, number)| number.is_none()) {
        return Err(missing(name));
    }
    Ok((numbers, encoding.ok_or_else(|| missing(inner))?))
}

/// The encoding that comes next, up to the bracket that closes it.
fn read_inner(
    scan: &mut Scanner<'_>,
    body: &str,
    memory: bool,
    depth: usize,
) -> Result<Encoding, Error> {
    let at = scan.at();
    if depth == DEEPEST {
        return Err(Error::parse((at, body.len()), "encodings nested deeper than 16"));
    }
    let (mut open, mut len) = (0usize, 0);
    for (i, c) in scan.rest().char_indices() {
        match c {
            '<' => open += 1,
            '>' if open > 1 => open -= 1,
            '>' => {
                len = i + 1;
                break;
            }
            _ => {}
        }
    }
    let inside = scan.rest().get(..len).unwrap_or("");
    let inner = read(inside, depth + 1).map_err(|error| error.shifted(at))?;
    if inner.is_memory() != memory {
        let message = match memory {
            true => "a piece has an encoding of memory",
            false => "the parent is an encoding over threads",
        };
        return Err(Error::parse((at, at + len), message));
    }
    scan.advance(len);
    Ok(inner)
}

impl Encoding {
    /// Returns whether it places elements in memory, and not in registers.
    pub(super) fn is_memory(&self) -> bool {
        match self {
            Encoding::Blocked { .. }
            | Encoding::Linear(_)
            | Encoding::Slice { .. }
            | Encoding::Mma(_)
            | Encoding::Operand { .. } => false,
            Encoding::Swizzled { .. }
            | Encoding::SharedLinear { .. }
            | Encoding::Nvmma(_)
            | Encoding::Padded(_)
            | Encoding::TensorMemory(_)
            | Encoding::Partitioned(..) => true,
        }
    }

    /// The rank of its tensors, where the text gives it.
    pub(super) fn rank(&self) -> Option<usize> {
        match self {
            Encoding::Blocked { order, .. } | Encoding::Swizzled { order, .. } => Some(order.len()),
            Encoding::Linear(all) => all.iter().flatten().next().map(Vec::len),
            Encoding::Slice { parent, .. } => parent.rank().map(|rank| rank.saturating_sub(1)),
            Encoding::SharedLinear { offset, blocks, .. } => {
                offset.iter().chain(blocks).next().map(Vec::len)
            }
            Encoding::Mma(mma) => Some(mma.warps.len()),
            Encoding::Operand { parent, .. } => parent.rank(),
            Encoding::Nvmma(nvmma) => nvmma.rank(),
            Encoding::Padded(padded) => padded.rank(),
            Encoding::TensorMemory(_) => Some(2),
            Encoding::Partitioned(_, piece) => piece.rank(),
        }
    }

    pub(super) fn fits(&self, rank: usize) -> bool {
        rank <= MAX_RANK && self.rank().is_none_or(|own| own == rank)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Encoding::Blocked { size, threads, warps, order, blocks } => write!(
                f,
                "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}{}}}>",
                list(size),
                list(threads),
                list(warps),
                list(order),
                more(blocks)
            ),
            Encoding::Linear(all) => {
                let all: Vec<String> = LINEAR
                    .iter()
                    .zip(all)
                    .map(|(name, bases)| format!("{name} = {}", lists(bases)))
                    .collect();
                write!(f, "#ttg.linear<{{{}}}>", all.join(", "))
            }
            Encoding::Slice { dim, parent } => {
                write!(f, "#ttg.slice<{{dim = {dim}, parent = {parent}}}>")
            }
            Encoding::Swizzled { vec, per_phase, max_phase, order, blocks, rotating } => write!(
                f,
                "#ttg.{}<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = {}{}}}>",
                if *rotating { "amd_rotating_shared" } else { "swizzled_shared" },
                list(order),
                more(blocks)
            ),
            Encoding::Mma(mma) => write!(f, "{mma}"),
            Encoding::Operand { operand, parent, width } => {
                let width = if *width == 0 { String::new() } else { format!(", kWidth = {width}") };
                write!(f, "#ttg.dot_op<{{opIdx = {operand}, parent = {parent}{width}}}>")
            }
            Encoding::Nvmma(nvmma) => write!(f, "{nvmma}"),
            Encoding::Padded(padded) => write!(f, "{padded}"),
            Encoding::TensorMemory(memory) => write!(f, "{memory}"),
            Encoding::Partitioned(Partitions { partitions, groups, dim }, piece) => write!(
                f,
                "#ttg.partitioned_shared<{{numPartitions = {partitions}, numGroups = {groups}, partitionDim = {dim}, partitionLayout = {piece}}}>"
            ),
            Encoding::SharedLinear { offset, blocks, alignment } => {
                let block = if blocks.is_empty() {
                    String::new()
                } else {
                    format!(", block = {}", lists(blocks))
                };
                let offset = lists(offset);
                write!(
                    f,
                    "#ttg.shared_linear<{{offset = {offset}{block}}}, alignment = {alignment}>"
                )
            }
        }
    }
}

impl Partitions {
    /// The extents of a piece of an array.
    pub(super) fn piece(&self, dims: &[u64]) -> Result<Vec<u64>, Error> {
        let Partitions { partitions, groups, dim } = self;
        let pieces = partitions.checked_mul(*groups);
        let mut piece = dims.to_vec();
        match (piece.get_mut(*dim), pieces) {
            (Some(extent), Some(pieces)) if *extent >= pieces => *extent /= pieces,
            _ => {
                let message = format!(
                    "{partitions} partitions of {groups} pieces of dim {dim}; each piece has an element at least"
                );
                return Err(Error::mismatch(message));
            }
        }
        Ok(piece)
    }

    /// The map of the array whose pieces have the map `piece`.
    pub(super) fn joined(&self, piece: &LinearLayout) -> Result<LinearLayout, Error> {
        if piece.ins().iter().any(|dim| dim.name() == "block" && dim.size() > 1) {
            let message = "partitions of memory that several blocks share are not supported";
            return Err(Error::unsupported(message));
        }
        let dim = name(self.dim);
        let parts = LinearLayout::identity(self.partitions, "partition", &dim)?;
        let groups = LinearLayout::identity(self.groups, "offset", &dim)?;
        Ok(piece.product(&parts)?.product(&groups)?)
    }
}
