//! Named formats that strides cannot express, as data: an index table of digits of the array, and the layout of what
//! the table stores.
//!
//! A row gives the blocks that the table permutes, as a SPEC does, and the place of each by a function of its number,
//! or a list in the words of a SPEC. Elements without a type of their own, such as values of 3 bits, are arrays of
//! bits: the last dim counts the bits of a value, the lowest first.
//!
//! The name stands for its table: `u1[64,5,3] GPTQ_3BIT` is `u1[64,5,3]E(1) table(0%32,2; ..) (p1 p0:32) k n -> k p1 |
//! n p0`.

use tilewright_core::Dtype;
use tilewright_table::Table;

use crate::{
    Error,
    literal::{Scanner, outside},
};

/// A named format with an index table.
///
/// ```
/// use tilewright_notation::{Spec, formats_with_tables};
/// if !tilewright_notation::TABLES { return; }
/// let gptq = formats_with_tables().iter().find(|format| format.name == "GPTQ_3BIT").unwrap();
/// assert_eq!((gptq.bits, gptq.dims), (Some(1), &["K", "N", "3"][..]));
/// assert_eq!(gptq.text(&[]).unwrap(), "table(0%32,2; ..) (p1 p0:32) k n -> k p1 | n p0");
/// let spec = Spec::parse(gptq.example).unwrap();
/// assert_eq!(spec.to_string(), gptq.example);
/// ```
#[must_use]
#[derive(Debug)]
#[non_exhaustive]
pub struct TabledFormat {
    /// Its canonical name.
    pub name: &'static str,
    /// Other names, matched exactly.
    pub aliases: &'static [&'static str],
    /// The width of an element in bits; `None` where it is for any.
    pub bits: Option<u32>,
    /// The dims of the array, as the maker orders them; a number is a fixed extent. `…` as the last are any further dims.
    pub dims: &'static [&'static str],
    /// The parameters, which must be given: `MEGATRON_QKV[Q=3,HEAD=128]`.
    pub parameters: &'static [&'static str],
    /// The dims of an array from those of its 32-bit words, where they follow.
    pub(crate) of_words: Option<OfWords>,
    /// The blocks that the table permutes, as in a SPEC.
    blocks: &'static str,
    list: Listing,
    /// The layout of what the table stores.
    layout: &'static str,
    /// The project that defines it, and the file.
    pub source: &'static str,
    /// A concrete SPEC in this format.
    pub example: &'static str,
}

/// The dims of an array from those of its words, if these are words of the format.
type OfWords = fn(&[u64]) -> Option<Vec<u64>>;

/// The list of a table.
#[derive(Debug)]
enum Listing {
    /// The words of a SPEC.
    Said(&'static str),
    /// The number of blocks, the number of places, and the place of each block.
    Places(u64, u64, fn(u64) -> u64),
}

/// A text that a name of a format stands in.
pub(crate) struct Found<'a> {
    pub(crate) format: &'static TabledFormat,
    /// The name with its parameters.
    pub(crate) name: String,
    /// The text before the name, and that behind it.
    pub(crate) around: (&'a str, &'a str),
    /// The tables and the layout.
    pub(crate) text: String,
}

/// Returns the formats with index tables.
///
/// ```
/// let all = tilewright_notation::formats_with_tables();
/// assert_eq!(all.iter().any(|format| format.name == "HOPPER_MX_VALUE"), tilewright_notation::TABLES);
/// ```
pub fn formats_with_tables() -> &'static [TabledFormat] {
    if tilewright_table::TABLES { ROWS } else { &[] }
}

/// Returns all names of formats with index tables.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    formats_with_tables()
        .iter()
        .flat_map(|format| format.aliases.iter().copied().chain([format.name]))
}

/// The number of all names.
const COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < ROWS.len() {
        count += 1 + ROWS[at].aliases.len();
        at += 1;
    }
    count
};

/// All names, by which a build without tables recognises what it lacks: it contains these texts, and no rows.
static NAMES: [&str; COUNT] = {
    let (mut names, mut count, mut at) = ([""; COUNT], 0, 0);
    while at < ROWS.len() {
        let TabledFormat { name, aliases, .. } = &ROWS[at];
        names[count] = *name;
        let mut alias = 0;
        while alias < aliases.len() {
            alias += 1;
            names[count + alias] = aliases[alias - 1];
        }
        count += 1 + alias;
        at += 1;
    }
    names
};

/// Returns whether a text contains a name of such a format, built in or not.
pub(crate) fn is_named(text: &str) -> bool {
    words(text).any(|(_, word)| NAMES.contains(&word))
}

/// Returns the first words of a text outside of brackets, and where they begin.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins =
        outside(text).filter(move |(_, before, c)| is_word(*c) && !before.is_some_and(is_word));
    begins
        .take(16)
        .filter_map(move |(at, ..)| Some((at, text.get(at..)?.split(|c| !is_word(c)).next()?)))
}

/// Finds the first word of a text that is a name of such a format, outside of brackets.
pub(crate) fn find(text: &str) -> Option<Result<Found<'_>, Error>> {
    let (at, format, len) = words(text).find_map(|(at, word)| {
        let known = |format: &&TabledFormat| format.name == word || format.aliases.contains(&word);
        Some((at, formats_with_tables().iter().find(known)?, word.len()))
    })?;
    let (array, rest) =
        (text.get(..at).unwrap_or_default(), text.get(at + len..).unwrap_or_default());
    Some(format.read(rest).map_err(|error| error.shifted(at + len)).map(|(values, used)| Found {
        format,
        name: format.spelled(&values),
        around: (before(array), rest.get(used..).unwrap_or_default().trim()),
        text: format.written(&values),
    }))
}

/// The array before a name.
fn before(text: &str) -> &str {
    let text = text.trim();
    text.strip_suffix("format:").unwrap_or(text).trim_end()
}

impl TabledFormat {
    /// Returns the table and the layout that the name stands for, with these parameters.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of parameters.
    ///
    /// ```
    /// let all = tilewright_notation::formats_with_tables();
    /// if let Some(qkv) = all.iter().find(|format| format.name == "MEGATRON_QKV") {
    ///     assert_eq!(qkv.text(&[3, 128]).unwrap(), "table(0/128; parts 3,1,1) row-major");
    ///     assert!(qkv.text(&[]).unwrap_err().is_mismatch());
    /// }
    /// ```
    pub fn text(&self, values: &[u64]) -> Result<String, Error> {
        if values.len() == self.parameters.len() {
            return Ok(self.written(values));
        }
        let (name, needed) = (self.name, self.parameters.join(","));
        let said = format!("{name} has the parameters [{needed}], and {} are given", values.len());
        Err(Error::mismatch(said))
    }

    fn written(&self, values: &[u64]) -> String {
        let set = |text: &str| {
            let all = self.parameters.iter().zip(values);
            all.fold(text.to_owned(), |text, (name, value)| text.replace(name, &value.to_string()))
        };
        let list = match self.list {
            Listing::Said(words) => set(words),
            Listing::Places(count, places, place) => listed(count, places, place),
        };
        format!("table({}; {list}) {}", set(self.blocks), self.layout)
    }

    /// Refuses an array of another rank, or with another extent where the format fixes one.
    pub(crate) fn check_extents(&self, extents: &[u64]) -> Result<(), Error> {
        let fixed = |dim: &str| dim.parse::<u64>().ok();
        let is_met = |(dim, own): (&&str, &u64)| fixed(dim).is_none_or(|extent| extent == *own);
        if self.is_of_rank(extents.len()) && self.dims.iter().zip(extents).all(is_met) {
            return Ok(());
        }
        let (name, dims) = (self.name, self.dims.join(", "));
        let said = format!("{name} is for arrays of [{dims}], not of {extents:?}");
        Err(Error::mismatch(said))
    }

    /// Returns whether arrays of this rank may have the format.
    pub(crate) fn is_of_rank(&self, rank: usize) -> bool {
        let is_open = self.dims.last() == Some(&"…");
        rank == self.dims.len() || is_open && rank + 1 >= self.dims.len()
    }

    /// Refuses elements of another width, in values or in memory.
    pub(crate) fn check_width(&self, dtype: Dtype, stored: Option<u32>) -> Result<(), Error> {
        let Some(bits) = self.bits else { return Ok(()) };
        let name = self.name;
        let needed = if bits == 1 { "1 bit".to_owned() } else { format!("{bits} bits") };
        let said = if dtype.packed_bits() != Some(bits) {
            format!("{name} needs elements of {needed}, such as u{bits}, and they are {dtype}")
        } else if let Some(own) = stored.filter(|own| *own != bits) {
            format!("{name} stores elements in {needed}, and E({own}) in {own}")
        } else {
            return Ok(());
        };
        Err(Error::mismatch(said))
    }

    /// Prints the name with its parameters.
    fn spelled(&self, values: &[u64]) -> String {
        let set = self.parameters.iter().zip(values);
        let set: Vec<String> = set.map(|(name, value)| format!("{name}={value}")).collect();
        if set.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}[{}]", self.name, set.join(","))
        }
    }

    /// Reads the parameters behind a name, and returns the bytes that they take.
    fn read(&self, text: &str) -> Result<(Vec<u64>, usize), Error> {
        let mut scan = Scanner::new(text);
        let mut values = vec![None; self.parameters.len()];
        if !self.parameters.is_empty() && scan.eat("[") {
            while !scan.eat("]") {
                if values.iter().any(Option::is_some) {
                    scan.expect(",")?;
                }
                let (name, span) = scan.name("a parameter")?;
                scan.expect("=")?;
                let value = scan.integer()?;
                let at = self.parameters.iter().position(|own| *own == name);
                match at.and_then(|at| values.get_mut(at)) {
                    Some(free) if free.is_none() && value > 0 => *free = Some(value),
                    Some(_) => {
                        return Err(Error::parse(
                            span,
                            format!("{name} is set once, to 1 or more"),
                        ));
                    }
                    None => return Err(Error::parse(span, self.unknown(name))),
                }
            }
        }
        let used = scan.at();
        if scan.eat("^T") {
            let dims = self.dims.join(", ");
            let said =
                format!("{} has no transposed form; its array has the dims [{dims}]", self.name);
            return Err(Error::parse((used, scan.at()), said));
        }
        let all: Option<Vec<u64>> = values.into_iter().collect();
        all.map(|values| (values, used)).ok_or_else(|| Error::parse((0, used), self.needed()))
    }

    fn unknown(&self, name: &str) -> String {
        let legal = self.parameters.join(", ");
        format!("{} does not take the parameter `{name}`; legal are {legal}", self.name)
    }

    fn needed(&self) -> String {
        let example: Vec<String> = self.parameters.iter().map(|own| format!("{own}=4")).collect();
        let (name, all) = (self.name, self.parameters.join(" and "));
        format!("{name} needs {all}, as in `{name}[{}]`", example.join(","))
    }
}

/// Prints the list of a table whose block `number` is stored at `place(number)`.
fn listed(count: u64, places: u64, place: fn(u64) -> u64) -> String {
    let mut list = vec![None; places as usize];
    for number in 0..count {
        if let Some(entry) = list.get_mut(place(number) as usize) {
            *entry = Some(number);
        }
    }
    Table::new(count, list).map_or(String::new(), |table| table.to_string())
}

/// The place of a bit of a 4-bit value in a 32-bit word of Hopper's kernels: bits of byte `byte`, of its lower or upper half.
const fn hopper(byte: u64, half: u64, bit: u64) -> u64 {
    const BYTES: [[u64; 4]; 4] = [[6, 7, 8, 15], [3, 4, 5, 12], [0, 1, 2, 9], [13, 10, 11, 14]];
    BYTES[byte as usize % 4][bit as usize % 4] + 16 * half
}

/// Blocks of two rows by 16 columns by 4 bits: four words, each of two bytes of both rows.
fn hopper_pairs(number: u64) -> u64 {
    let (row, column, bit) = (number / 64, number / 4 % 16, number % 4);
    column / 2 % 4 * 32 + hopper(column / 8 * 2 + row, column % 2, bit)
}

/// Blocks of 8 columns by 4 bits: a word.
fn hopper_word(number: u64) -> u64 {
    hopper(number / 8, number / 4 % 2, number % 4)
}

/// The bits of 256 values of 6 bits in 210 bytes: 128 bytes of four lower bits, 64 of two upper bits, 18 of scales.
fn q6_k(number: u64) -> u64 {
    let (value, bit) = (number / 6, number % 6);
    let (half, quarter, at) = (value / 128, value / 32 % 4, value % 32);
    match bit {
        0..4 => 8 * (64 * half + 32 * (quarter % 2) + at) + quarter / 2 * 4 + bit,
        _ => 1024 + 8 * (32 * half + at) + 2 * quarter + bit - 4,
    }
}

/// The bytes of one block of `ROWS` rows: `SCALE` bytes of the scale of each, then `VALUES` bytes of each in chunks.
fn repacked<const ROWS: u64, const SCALE: u64, const VALUES: u64, const CHUNK: u64>(
    number: u64,
) -> u64 {
    let (row, byte) = (number / (SCALE + VALUES), number % (SCALE + VALUES));
    match byte.checked_sub(SCALE) {
        None => row * SCALE + byte,
        Some(at) => ROWS * SCALE + at / CHUNK * ROWS * CHUNK + row * CHUNK + at % CHUNK,
    }
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    bits: Option<u32>,
    dims: &'static [&'static str],
    (blocks, list, layout): (&'static str, Listing, &'static str),
    source: &'static str,
    example: &'static str,
) -> TabledFormat {
    let (parameters, of_words): (&[&str], _) = (&[], None);
    TabledFormat {
        name,
        aliases,
        bits,
        dims,
        parameters,
        of_words,
        blocks,
        list,
        layout,
        source,
        example,
    }
}

const fn repack(
    name: &'static str,
    aliases: &'static [&'static str],
    dims: &'static [&'static str],
    table: (&'static str, Listing),
    source: &'static str,
    example: &'static str,
) -> TabledFormat {
    row(name, aliases, Some(8), dims, (table.0, table.1, "p m b -> m b p"), source, example)
}

/// The dims of values of 3 bits along K, from words [K/32·3, N].
fn three_bits(words: &[u64]) -> Option<Vec<u64>> {
    let [rows, columns] = *words else { return None };
    let values = (rows / 3).checked_mul(32)?;
    rows.is_multiple_of(3).then(|| vec![values, columns, 3])
}

const GPTQ: &str = "AutoGPTQ, GPTQModel, qlinear: 3-bit values along K in int32, of which three words hold 32; two values of 32 straddle words";
const CT: &str = "compressed-tensors, pack_quantized, pack_to_int32: 3-bit values of a row, contiguous, each row padded to int32";
const Q6_K: &str = "llama.cpp, gguf-py, quants.py, Q6_K: blocks of 210 bytes, the bits of its 256 values; the scales are padding";
const HOPPER: &str = "triton_kernels, HopperMXValueLayout, mma version 3: N padded to 256, K to 128, and the bits of each word permuted";
const HOPPER_2: &str = "triton_kernels, HopperMXValueLayout, mma version 2: N padded to 256, K to 128, and the bits of each word permuted";
const HOPPER_OLD: &str = "triton_kernels of 2025, HopperMXValueLayout, mma version 3: N padded to 16, K to 64, and the bits of each word permuted";
const HOPPER_2_OLD: &str = "triton_kernels of 2025, HopperMXValueLayout, mma version 2: N padded to 16, K to 64, and the bits of each word permuted";
const SM90: &str = "FlashInfer, TensorRT-LLM, moe_gemm_mixed_utils.cu: FP4 weights of SM90's mixed GEMM, the bits of each word permuted";
const REPACK: &str = "llama.cpp, ggml-cpu/repack.cpp: the scales of R rows' blocks, then their bytes of values in chunks";
const FLIPPED: &str = "llama.cpp, ggml-cpu/repack.cpp: the deltas of R rows' blocks, then their bytes of values in chunks; the repacking also flips the top bit of each value, which no layout does";
const AMX: &str = "llama.cpp, ggml-cpu/amx/mmq.cpp, convert_B_packed_format: tiles of 16 rows by one block of values, followed by their deltas, which are padding";
const QKV: &str = "Megatron-LM, attention.py, and Falcon, InternLM2: rows [q; k; v] in groups of Q heads of q, one of k and one of v, of HEAD rows each";
const GATED: &str = "Megatron-LM, attention.py with an output gate: rows [q; gate; k; v] in groups of Q heads of q, Q of the gate, one of k and one of v";

const NK_BITS: &[&str] = &["N", "K", "4"];
const ROWS_MORE: &[&str] = &["rows", "…"];
const WORD_PAIRS: Listing = Listing::Places(128, 128, hopper_pairs);
const WORD: Listing = Listing::Places(32, 32, hopper_word);
const PAIRS: &str = "0/8%2,1%16,2";

#[rustfmt::skip]
static ROWS: &[TabledFormat] = &[
    TabledFormat {
        of_words: Some(three_bits),
        ..row("GPTQ_3BIT", &["GPTQ_3BIT_BITS"], Some(1), &["K", "N", "3"], ("0%32,2", Listing::Said(".."), "(p1 p0:32) k n -> k p1 | n p0"), GPTQ, "u1[64,5,3] GPTQ_3BIT")
    },
    row("CT_PACK_INT32_3BIT", &["CT_PACK_INT32_3BIT_BITS"], Some(1), &["M", "K", "3"], ("1,2", Listing::Said(".."), "m (p1 p0:32) -> m | p1 p0"), CT, "u1[3,40,3] CT_PACK_INT32_3BIT"),
    row("GGUF_Q6_K_BITS", &[], Some(1), &["blocks", "256", "6"], ("1,2", Listing::Places(1536, 1680, q6_k), "row-major"), Q6_K, "u1[2,256,6] GGUF_Q6_K_BITS"),
    row("HOPPER_MX_VALUE", &["HOPPER_MX_VALUE_BITS", "HopperMXValueLayout"], Some(1), NK_BITS, (PAIRS, WORD_PAIRS, "(p1 p0:32) (n3 n2:16 n1:4 n0:2) (k2 k1:2 k0:4) -> n3 n2 n1 k2 k1 n0 p1 k0 p0"), HOPPER, "u1[256,128,4] HOPPER_MX_VALUE"),
    row("HOPPER_MX_VALUE_MMA2", &["HOPPER_MX_VALUE_BITS_MMA2"], Some(1), NK_BITS, ("1%8,2", WORD, "(n4 n3:16 n2:2 n1:4 n0:2) p (k3 k2:2 k1:2 k0:4) -> n4 n3 n1 k3 k2 n0 k0 k1 n2 p"), HOPPER_2, "u1[256,128,4] HOPPER_MX_VALUE_MMA2"),
    row("HOPPER_MX_VALUE_OLD", &["HOPPER_MX_VALUE_BITS_OLD"], Some(1), NK_BITS, (PAIRS, WORD_PAIRS, "(p1 p0:32) (n2 n1:4 n0:2) (k1 k0:4) -> n2 n1 k1 n0 p1 k0 p0"), HOPPER_OLD, "u1[32,128,4] HOPPER_MX_VALUE_OLD"),
    row("HOPPER_MX_VALUE_MMA2_OLD", &["HOPPER_MX_VALUE_BITS_MMA2_OLD"], Some(1), NK_BITS, ("1%8,2", WORD, "(n3 n2:2 n1:4 n0:2) p (k2 k1:2 k0:4) -> n3 n1 k2 n0 k0 k1 n2 p"), HOPPER_2_OLD, "u1[32,128,4] HOPPER_MX_VALUE_MMA2_OLD"),
    row("SM90_MIXED_FP4", &["SM90_MIXED_FP4_BITS"], Some(1), NK_BITS, (PAIRS, WORD_PAIRS, "(p1 p0:32) (n1 n0:8) (k2 k1:2 k0:2) -> n1 k0 n0 k2 k1 p1 p0"), SM90, "u1[16,64,4] SM90_MIXED_FP4"),
    repack("IQ4_NL_4x4", &["IQ4_NL_4x4_BYTES"], &["rows", "blocks", "18"], ("0%4,2", Listing::Places(72, 72, repacked::<4, 2, 16, 4>)), REPACK, "u8[8,3,18] IQ4_NL_4x4"),
    repack("IQ4_NL_8x8", &["IQ4_NL_8x8_BYTES"], &["rows", "blocks", "18"], ("0%8,2", Listing::Places(144, 144, repacked::<8, 2, 16, 8>)), REPACK, "u8[16,3,18] IQ4_NL_8x8"),
    repack("MXFP4_4x4", &["MXFP4_4x4_BYTES"], &["rows", "blocks", "17"], ("0%4,2", Listing::Places(68, 68, repacked::<4, 1, 16, 4>)), REPACK, "u8[8,3,17] MXFP4_4x4"),
    repack("MXFP4_8x8", &["MXFP4_8x8_BYTES"], &["rows", "blocks", "17"], ("0%8,2", Listing::Places(136, 136, repacked::<8, 1, 16, 8>)), REPACK, "u8[16,3,17] MXFP4_8x8"),
    repack("Q8_0_4x4", &["Q8_0_4x4_BYTES"], &["rows", "blocks", "34"], ("0%4,2", Listing::Places(136, 136, repacked::<4, 2, 32, 4>)), REPACK, "u8[8,3,34] Q8_0_4x4"),
    repack("Q8_0_4x8", &["Q8_0_4x8_BYTES"], &["rows", "blocks", "34"], ("0%4,2", Listing::Places(136, 136, repacked::<4, 2, 32, 8>)), REPACK, "u8[8,3,34] Q8_0_4x8"),
    repack("Q4_0_4x4_BYTES", &[], &["rows", "blocks", "18"], ("0%4,2", Listing::Places(72, 72, repacked::<4, 2, 16, 4>)), FLIPPED, "u8[8,3,18] Q4_0_4x4_BYTES"),
    repack("Q4_0_4x8_BYTES", &[], &["rows", "blocks", "18"], ("0%4,2", Listing::Places(72, 72, repacked::<4, 2, 16, 8>)), FLIPPED, "u8[8,3,18] Q4_0_4x8_BYTES"),
    repack("Q4_0_8x8_BYTES", &[], &["rows", "blocks", "18"], ("0%8,2", Listing::Places(144, 144, repacked::<8, 2, 16, 8>)), FLIPPED, "u8[16,3,18] Q4_0_8x8_BYTES"),
    row("Q4_0_AMX_NIBBLES", &[], Some(4), &["rows", "blocks", "32"], ("0/8%2,2/8", Listing::Said("0,4,1,5,2,6,3,7,-"), "p (n1 n0:8) (k1:2 k0:4) b -> n1 b p n0 k0 k1"), AMX, "u4[32,2,32] Q4_0_AMX_NIBBLES"),
    TabledFormat {
        parameters: &["Q", "HEAD"],
        ..row("MEGATRON_QKV", &["MEGATRON_QKV_GQA", "FALCON_QKV", "INTERNLM2_QKV"], None, ROWS_MORE, ("0/HEAD", Listing::Said("parts Q,1,1"), "row-major"), QKV, "bf16[40,5] MEGATRON_QKV[Q=3,HEAD=4]")
    },
    TabledFormat {
        parameters: &["Q", "HEAD"],
        ..row("MEGATRON_QKV_GATED", &[], None, ROWS_MORE, ("0/HEAD", Listing::Said("parts Q,Q,1,1"), "row-major"), GATED, "bf16[48,3] MEGATRON_QKV_GATED[Q=2,HEAD=4]")
    },
];
