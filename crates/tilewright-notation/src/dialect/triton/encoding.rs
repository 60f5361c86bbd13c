//! The encodings of Triton, as their texts say them.

use std::fmt;

use crate::{
    error::Error,
    literal::{Fields, Value},
    scan::{Scanner, did_you_mean},
};

/// The most dims of a tensor.
pub(super) const MAX_RANK: usize = 16;

/// The deepest slices of slices.
const DEEPEST: usize = MAX_RANK;

/// A list of bases: the images of 1, 2, 4 …, an integer per dim.
pub(super) type Bases = Vec<Vec<u64>>;

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
    },
    SharedLinear {
        offset: Bases,
        blocks: Bases,
        alignment: u64,
    },
}

const LINEAR: [&str; 4] = ["register", "lane", "warp", "block"];
const BLOCKS: [&str; 4] = ["CTAsPerCGA", "CTASplitNum", "CTAOrder", "CGALayout"];
const KINDS: [&str; 6] =
    ["blocked", "linear", "slice", "swizzled_shared", "shared", "shared_linear"];

/// Kinds that are no map of bits by themselves, and why.
const REFUSED: &[(&str, &str)] = &[
    ("nvidia_mma", "its registers go by the instruction; MMA_M16N8_C and WGMMA_M64_D are such"),
    ("amd_mfma", "its registers go by the instruction; MFMA_32x32_D and MFMA_16x16_D are such"),
    ("amd_wmma", "its registers go by the instruction; WMMA_RDNA3_16x16_D is such"),
    ("dot_op", "its registers go by the instruction of its parent"),
    ("nvmma_shared", "its swizzle goes by the bytes of an element; write it as shared_linear"),
    ("padded_shared", "padding is not linear over bits"),
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
        if !["ttg", "triton_gpu"].contains(&kind) {
            return Err(Error::parse(span, format!("no encoding of `ttg`: `{kind}`")));
        }
        (kind, span) = scan.name("the kind of an encoding")?;
    }
    if !KINDS.contains(&kind) {
        let why = REFUSED.iter().find(|(refused, _)| *refused == kind);
        let why = why.map_or(String::new(), |(_, why)| format!(": {why}"));
        let (nearest, kinds) = (did_you_mean(kind, KINDS), KINDS.join(", "));
        let message = format!("`{kind}` is not read{why}; there are {kinds}{nearest}");
        return Err(Error::parse(span, message));
    }
    scan.expect("<")?;
    scan.skip();
    let from = scan.at();
    let Some(to) = text.rfind('}').map(|at| at + 1).filter(|&to| to > from) else {
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
        _ => swizzled(body),
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
    let mut fields = Fields::read(body, "a blocked encoding", &legal, 0)?;
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
    let blocks = blocks(&mut fields, rank)?;
    Ok(Encoding::Blocked { size, threads, warps, order, blocks })
}

fn linear(body: &str) -> Result<Encoding, Error> {
    let mut fields = Fields::read(body, "a linear encoding", &LINEAR, 0)?;
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
    let mut fields = Fields::read(body, "a linear encoding of memory", &["offset", "block"], 0)?;
    let offset = bases(&fields.need(&["offset"])?)?;
    let blocks = fields.take(&["block"])?.map_or(Ok(Vec::new()), |value| bases(&value))?;
    same_rank(offset.iter().chain(&blocks), body)?;
    Ok(Encoding::SharedLinear { offset, blocks, alignment })
}

fn swizzled(body: &str) -> Result<Encoding, Error> {
    let own = ["vec", "perPhase", "maxPhase", "order", "hasLeadingOffset"];
    let legal = [&own[..], &BLOCKS[..]].concat();
    let mut fields = Fields::read(body, "a swizzled encoding", &legal, 0)?;
    let [vec, per_phase, max_phase] =
        [own[0], own[1], own[2]].map(|name| fields.need(&[name]).and_then(|value| power(&value)));
    let (vec, per_phase, max_phase) = (vec?, per_phase?, max_phase?);
    let order = order(&fields.need(&["order"])?)?;
    if let Some(leading) = fields.take(&["hasLeadingOffset"])?
        && leading.word()? != "false"
    {
        return Err(Error::parse(leading.span, "a leading offset is not read; it is `false` here"));
    }
    let blocks = blocks(&mut fields, order.len())?;
    Ok(Encoding::Swizzled { vec, per_phase, max_phase, order, blocks })
}

/// `{dim = 0, parent = #ttg.…}`.
fn slice(body: &str, depth: usize) -> Result<Encoding, Error> {
    let mut scan = Scanner::new(body);
    scan.expect("{")?;
    scan.expect("dim")?;
    scan.expect("=")?;
    scan.skip();
    let from = scan.at();
    let dim = scan.integer()?;
    let span = (from, scan.at());
    scan.expect(",")?;
    scan.expect("parent")?;
    scan.expect("=")?;
    scan.skip();
    let at = scan.at();
    if depth == DEEPEST {
        return Err(Error::parse((at, body.len()), "slices nested deeper than 16"));
    }
    let parent = scan.rest().strip_suffix('}').unwrap_or("");
    let parent = read(parent, depth + 1).map_err(|error| error.shifted(at))?;
    if parent.is_memory() {
        return Err(Error::parse((at, body.len() - 1), "a slice is of an encoding over threads"));
    }
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

/// A list of powers of two, one per dim.
fn powers(value: &Value<'_>) -> Result<Vec<u64>, Error> {
    let list = value.dims()?;
    if list.len() > MAX_RANK || !list.iter().all(|size| size.is_power_of_two()) {
        return Err(Error::parse(
            value.span,
            "expected powers of two, one for each of at most 16 dims",
        ));
    }
    Ok(list)
}

fn power(value: &Value<'_>) -> Result<u64, Error> {
    match value.unsigned()? {
        size if size.is_power_of_two() => Ok(size),
        _ => Err(Error::parse(
            value.span,
            "expected a power of two; powers of two are linear over bits",
        )),
    }
}

/// The dims, each once, the fastest first.
fn order(value: &Value<'_>) -> Result<Vec<usize>, Error> {
    let dims = value.dims()?;
    let rank = dims.len();
    let named = |dim: usize| dims.iter().filter(|&&other| other == dim as u64).count() == 1;
    if rank > MAX_RANK || !(0..rank).all(named) {
        return Err(Error::parse(value.span, "an order names each dim once, the fastest first"));
    }
    // Each is below the rank.
    Ok(dims.iter().map(|&dim| dim as usize).collect())
}

fn bases(value: &Value<'_>) -> Result<Bases, Error> {
    let all: Bases = value.list()?.iter().map(Value::dims).collect::<Result<_, _>>()?;
    if all.iter().any(|basis| basis.len() > MAX_RANK) {
        return Err(Error::parse(value.span, "bases of more than 16 dims"));
    }
    Ok(all)
}

fn same_rank<'a>(mut bases: impl Iterator<Item = &'a Vec<u64>>, body: &str) -> Result<(), Error> {
    let Some(first) = bases.next() else { return Ok(()) };
    match bases.find(|basis| basis.len() != first.len()) {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "bases of {} and of {} integers; there is one per dim",
                first.len(),
                other.len()
            );
            Err(Error::parse((0, body.len()), message))
        }
    }
}

/// How blocks share the tensor: as bases, or as their number, the number of parts and their order.
fn blocks(fields: &mut Fields<'_>, rank: usize) -> Result<Bases, Error> {
    let wrong =
        |value: &Value<'_>| Error::parse(value.span, format!("expected one per dim, {rank}"));
    if let Some(value) = fields.take(&["CGALayout"])? {
        let all = bases(&value)?;
        return if all.iter().all(|basis| basis.len() == rank) {
            Ok(all)
        } else {
            Err(wrong(&value))
        };
    }
    let Some(per) = fields.take(&["CTAsPerCGA"])? else { return Ok(Vec::new()) };
    let split = fields.need(&["CTASplitNum"])?;
    let order_value = fields.need(&["CTAOrder"])?;
    let (count, parts, order) = (powers(&per)?, powers(&split)?, order(&order_value)?);
    for (list, value) in [(count.len(), &per), (parts.len(), &split), (order.len(), &order_value)] {
        if list != rank {
            return Err(wrong(value));
        }
    }
    let (mut all, mut sizes) = (Vec::new(), vec![1u64; rank]);
    for &dim in &order {
        if parts[dim] > count[dim] {
            return Err(Error::parse(split.span, "more parts than blocks"));
        }
        for bit in 0..count[dim].trailing_zeros() {
            let mut basis = vec![0; rank];
            if bit < parts[dim].trailing_zeros() {
                basis[dim] = sizes[dim];
                sizes[dim] *= 2;
            }
            all.push(basis);
        }
    }
    Ok(all)
}

impl Encoding {
    /// Whether it places elements in memory, and not in registers.
    pub(super) fn is_memory(&self) -> bool {
        match self {
            Encoding::Blocked { .. } | Encoding::Linear(_) | Encoding::Slice { .. } => false,
            Encoding::Swizzled { .. } | Encoding::SharedLinear { .. } => true,
        }
    }

    /// The rank of its tensors, where the text says it.
    pub(super) fn rank(&self) -> Option<usize> {
        match self {
            Encoding::Blocked { order, .. } | Encoding::Swizzled { order, .. } => Some(order.len()),
            Encoding::Linear(all) => all.iter().flatten().next().map(Vec::len),
            Encoding::Slice { parent, .. } => parent.rank().map(|rank| rank.saturating_sub(1)),
            Encoding::SharedLinear { offset, blocks, .. } => {
                offset.iter().chain(blocks).next().map(Vec::len)
            }
        }
    }

    pub(super) fn fits(&self, rank: usize) -> bool {
        rank <= MAX_RANK && self.rank().is_none_or(|own| own == rank)
    }
}

/// `[1, 8]`.
fn list<T: fmt::Display>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    format!("[{}]", values.join(", "))
}

fn lists(bases: &Bases) -> String {
    list(&bases.iter().map(|basis| list(basis)).collect::<Vec<_>>())
}

/// `, CGALayout = [[0, 1]]`, or nothing for one block.
fn more(blocks: &Bases) -> String {
    if blocks.is_empty() { String::new() } else { format!(", CGALayout = {}", lists(blocks)) }
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
            Encoding::Swizzled { vec, per_phase, max_phase, order, blocks } => write!(
                f,
                "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = {}{}}}>",
                list(order),
                more(blocks)
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
