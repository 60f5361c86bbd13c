//! The rules of Megatron and vLLM: how a parameter is cut over the tensor-parallel axis.
//!
//! ```text
//! rule  = [maker ":"] word
//! maker = "megatron" | "vllm"
//! word  = "replicated"                                       norms, routers
//!       | "column"                                           rows of a weight [out, in], and its bias
//!       | "row"                                              columns of a weight; its bias, of one dim, is replicated
//!       | "gate_up" ["(parts=" INT ")"]                      fused parts of equal size one after another, each cut
//!       | "vocab(pad=" INT ")"                               rows padded: by megatron to a multiple of pad × devices,
//!                                                            by vllm to a multiple of pad
//!       | "qkv(h=" INT ",g=" INT ",d=" INT {"," ("array" | "shard") "=" ("concat" | "grouped")} ")"
//! ```
//!
//! The axis is the one called `tp`, or the only one. The makers agree on the first four words. They differ on `vocab` and
//! `qkv`, so these need a maker; a `qkv` that states both orders needs none. [`Heads`] says what the orders are. The
//! maker gives the order of the shards, and of an array whose order is not stated.
//!
//! A fused tensor is never told from its shape: cut as `column` it has the same extents and the wrong halves.
//!
//! Source: Megatron-LM's `core/tensor_parallel/layers.py`, `core/transformer/attention.py` and `mlp.py`, and
//! `_vocab_size_with_padding` of `training/tokenizer/tokenizer.py`; vLLM's `layers/linear.py` and
//! `vocab_parallel_embedding.py`.

use super::{Asked, Dialect};
use crate::{
    error::Error,
    heads::{HeadOrder, Heads},
    mesh::Mesh,
    scan::{MOST, Scanner, or_one_of},
    sharded::Sharded,
    split::{AxisPart, Cut, Split, padded},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "megatron",
    title: "rules of Megatron and vLLM",
    claims: |text| text.starts_with(|c: char| c.is_ascii_lowercase()),
    read,
    say,
};

const WORDS: [&str; 6] = ["column", "row", "replicated", "gate_up", "vocab", "qkv"];

/// Who made the shards.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Maker {
    Megatron,
    Vllm,
}

const MAKERS: [&str; 2] = ["megatron", "vllm"];

impl Maker {
    fn name(self) -> &'static str {
        match self {
            Maker::Megatron => "megatron",
            Maker::Vllm => "vllm",
        }
    }

    /// Its order of the heads in a shard.
    fn order(self) -> HeadOrder {
        match self {
            Maker::Megatron => HeadOrder::Grouped,
            Maker::Vllm => HeadOrder::Concat,
        }
    }

    /// The maker whose shards have this order.
    fn of(order: HeadOrder) -> Maker {
        match order {
            HeadOrder::Grouped => Maker::Megatron,
            HeadOrder::Concat => Maker::Vllm,
        }
    }

    /// The multiple to which it pads a vocabulary of these rows over `count` devices.
    fn multiple(self, rows: u64, pad: u64, count: u64) -> Result<u64, Error> {
        let multiple = match self {
            Maker::Megatron => pad.checked_mul(count),
            Maker::Vllm if pad.is_multiple_of(count) => Some(pad),
            // The rows it comes to, which are a multiple of themselves.
            Maker::Vllm => padded(rows.max(1), pad),
        };
        let multiple = multiple
            .ok_or_else(|| Error::overflow(format!("{rows} rows padded by {pad} leave 63 bits")))?;
        match multiple.is_multiple_of(count) {
            true => Ok(multiple),
            false => {
                let said = format!("{rows} rows padded to a multiple of {pad} are {multiple}");
                Err(Error::mismatch(format!("{said}; over {count} devices they leave some over")))
            }
        }
    }
}

fn read(scanner: &mut Scanner<'_>, mut asked: Asked<'_>) -> Result<Sharded, Error> {
    let (mut word, mut span) = scanner.word("a rule")?;
    let maker = match word {
        "megatron" => Some(Maker::Megatron),
        "vllm" => Some(Maker::Vllm),
        _ => None,
    };
    let from = span.0;
    if maker.is_some() {
        scanner.expect(":")?;
        (word, span) = scanner.word("a rule")?;
    } else if scanner.eat(":") {
        let near = or_one_of(word, &MAKERS);
        return Err(Error::parse(span, format!("no maker of rules is called `{word}`{near}")));
    }
    if !WORDS.contains(&word) {
        let near = or_one_of(word, &WORDS);
        return Err(Error::parse(span, format!("no rule is called `{word}`{near}")));
    }
    let mesh = asked.need_mesh(&format!("`{word}`"))?;
    let axis = axis(&mesh)?;
    let count = mesh.sizes().get(axis).copied().unwrap_or(1);
    let rows = asked.extents.first().copied();
    let rows = || rows.ok_or_else(|| Error::mismatch(format!("`{word}` of an array without dims")));
    let cut = match word {
        "replicated" => None,
        "row" if asked.extents.len() == 1 => None,
        "row" => Some((1, even(asked.extents.get(1).copied().unwrap_or(0), count, "columns")?)),
        "column" => Some((0, even(rows()?, count, "rows")?)),
        "gate_up" => Some((0, fused(scanner, rows()?, count)?)),
        "vocab" => Some((0, vocabulary(scanner, maker, from, (rows()?, count))?)),
        _ => Some((0, heads(scanner, maker, from, (rows()?, count))?)),
    };
    let split = cut.map(|(dim, cut)| Split { dim, parts: vec![AxisPart::whole(axis)], cut });
    Sharded::new(asked.extents, asked.dtype, mesh, split.into_iter().collect())
}

/// The axis that is called `tp`, or the only one.
fn axis(mesh: &Mesh) -> Result<usize, Error> {
    let only = (mesh.sizes().len() == 1).then_some(0);
    mesh.axis("tp").or(only).ok_or_else(|| {
        Error::mismatch(format!("{mesh} has several axes and none is called `tp`, which is cut"))
    })
}

fn even(extent: u64, count: u64, what: &str) -> Result<Cut, Error> {
    match extent % count {
        0 => Ok(Cut::Chunk),
        rest => {
            let said = format!("{extent} {what} over {count} devices leave {rest}");
            Err(Error::mismatch(format!("{said}; the rule needs them even")))
        }
    }
}

fn fused(scanner: &mut Scanner<'_>, rows: u64, count: u64) -> Result<Cut, Error> {
    let mut parts = 2;
    if scanner.eat("(") {
        scanner.expect("parts")?;
        scanner.expect("=")?;
        parts = positive(scanner)?;
        scanner.expect(")")?;
    }
    let each = parts.checked_mul(count).filter(|each| rows.is_multiple_of(*each));
    match each {
        Some(_) => Ok(Cut::Strided { factor: parts }),
        None => {
            let said = format!("{rows} rows are no {parts} parts over {count} devices");
            Err(Error::mismatch(said))
        }
    }
}

/// A padded vocabulary of these rows over this number of devices; the rule begins at `from`.
fn vocabulary(
    scanner: &mut Scanner<'_>,
    maker: Option<Maker>,
    from: usize,
    (rows, count): (u64, u64),
) -> Result<Cut, Error> {
    scanner.expect("(")?;
    scanner.expect("pad")?;
    scanner.expect("=")?;
    let pad = positive(scanner)?;
    scanner.expect(")")?;
    let Some(maker) = maker else {
        let rule = format!("vocab(pad={pad})");
        let differ =
            format!("Megatron pads to a multiple of {pad} × {count} devices, vLLM of {pad}");
        return Err(unnamed(&rule, &differ, [&rule, &rule]).at((from, scanner.at())));
    };
    Ok(Cut::Padded { multiple: maker.multiple(rows, pad, count)? })
}

fn positive(scanner: &mut Scanner<'_>) -> Result<u64, Error> {
    scanner.skip();
    let from = scanner.at();
    match scanner.natural()? {
        0 => Err(Error::parse((from, scanner.at()), "0; the least is 1")),
        value => Ok(value),
    }
}

/// An error for a rule that the makers read differently, with the text for each.
fn unnamed(rule: &str, differ: &str, [megatron, vllm]: [&str; 2]) -> Error {
    let write = format!("write `megatron:{megatron}` or `vllm:{vllm}`");
    Error::mismatch(format!("`{rule}` has two meanings: {differ}; {write}"))
}

/// The fused heads of an array of these rows over this number of devices; the rule begins at `from`.
fn heads(
    scanner: &mut Scanner<'_>,
    maker: Option<Maker>,
    from: usize,
    (rows, count): (u64, u64),
) -> Result<Cut, Error> {
    let (mut queries, mut groups, mut each) = (0, 0, 0);
    let (mut array, mut shard) = (None, None);
    scanner.skip();
    let list = scanner.at();
    scanner.list(("(", ")"), MOST, |scanner| {
        let (word, span) = scanner.word("h=, g= and d=")?;
        scanner.expect("=")?;
        match word {
            "h" => queries = positive(scanner)?,
            "g" => groups = positive(scanner)?,
            "d" => each = positive(scanner)?,
            "array" => array = Some(order(scanner)?),
            "shard" => shard = Some(order(scanner)?),
            _ => {
                let near = or_one_of(word, &["h", "g", "d", "array", "shard"]);
                return Err(Error::parse(span, format!("qkv does not take `{word}`{near}")));
            }
        }
        Ok(())
    })?;
    let end = scanner.at();
    let own = maker.map(Maker::order);
    let numbers = format!("h={queries},g={groups},d={each}");
    let stated = array.map_or(String::new(), |array| format!(",array={array}"));
    if let (Some(maker), Some(shard)) = (maker, shard.filter(|shard| Some(*shard) != own)) {
        let (name, other) = (maker.name(), Maker::of(shard).name());
        let said = format!("shards of {name} are not {shard}");
        let legal = format!("write `{other}:qkv({numbers}{stated})`");
        return Err(Error::mismatch(format!("{said}; {legal}")).at((from, end)));
    }
    let (Some(array), Some(shard)) = (array.or(own), shard.or(own)) else {
        let text = format!("qkv({numbers}{stated})");
        let differ =
            "Megatron orders a shard group by group, vLLM all queries, all keys, all values";
        return Err(unnamed("qkv", differ, [&text, &text]).at((from, end)));
    };
    let heads = Heads { queries, groups, rows: each, array, shard };
    heads.check(rows, count).map_err(|error| error.at((list, end)))?;
    Ok(Cut::Heads(heads))
}

fn order(scanner: &mut Scanner<'_>) -> Result<HeadOrder, Error> {
    match scanner.word("concat or grouped")? {
        ("concat", _) => Ok(HeadOrder::Concat),
        ("grouped", _) => Ok(HeadOrder::Grouped),
        (word, span) => {
            let near = or_one_of(word, &["concat", "grouped"]);
            Err(Error::parse(span, format!("no order of heads is called `{word}`{near}")))
        }
    }
}

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let mesh = sharded.mesh();
    let axis = axis(mesh)
        .map_err(|error| Error::unsupported(format!("megatron cannot say it: {error}")))?;
    let count = mesh.sizes().get(axis).copied().unwrap_or(1);
    let cuts = || sharded.splits().iter().map(|split| &split.cut);
    // Heads that were given are said again, also where a shorter rule cuts so.
    let given = cuts().filter_map(|cut| match cut {
        Cut::Heads(heads) => Some(fused_heads(heads)),
        Cut::Chunk | Cut::Strided { .. } | Cut::Padded { .. } | Cut::Listed(_) => None,
    });
    let plain = ["column", "row", "replicated", "gate_up"].map(str::to_owned);
    let others = cuts().flat_map(|cut| match cut {
        Cut::Strided { factor } => vec![format!("gate_up(parts={factor})")],
        Cut::Padded { multiple } => vec![
            format!("megatron:vocab(pad={})", multiple / count),
            format!("vllm:vocab(pad={multiple})"),
        ],
        Cut::Chunk | Cut::Listed(_) | Cut::Heads(_) => Vec::new(),
    });
    let rules = given.chain(plain).chain(others);
    Ok(rules.map(|rule| format!("{mesh} {rule}")).collect())
}

/// The rule of these heads; the order of the array stands in it where it is not the maker's.
fn fused_heads(heads: &Heads) -> String {
    let Heads { queries, groups, rows, array, shard } = heads;
    let maker = Maker::of(*shard).name();
    let stated = if array == shard { String::new() } else { format!(",array={array}") };
    format!("{maker}:qkv(h={queries},g={groups},d={rows}{stated})")
}
