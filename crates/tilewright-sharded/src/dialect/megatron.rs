//! The rules of Megatron and vLLM: the ways in which a parameter is cut over the tensor-parallel axis.
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
//! The axis is the one called `tp`, or the only one. The makers agree on the first four words. They differ on `vocab`
//! and `qkv`, so these need a maker; a `qkv` that states both orders needs none. [`Heads`] defines the orders. The
//! maker determines the order of the shards, and of an array whose order is not stated.
//!
//! The shape does not show that a tensor is fused: cut as `column`, it has the same extents and the wrong halves.
//!
//! Source: Megatron-LM's `core/tensor_parallel/layers.py`, `core/transformer/attention.py` and `mlp.py`, and
//! `_vocab_size_with_padding` of `training/tokenizer/tokenizer.py`; vLLM's `layers/linear.py` and
//! `vocab_parallel_embedding.py`.

use tilewright_core::Counted;

use super::{Dialect, RuleContext};
use crate::{
    Error,
    mesh::{MOST, Mesh, Scanner, or_one_of},
    sharded::Sharded,
    split::{AxisPart, Cut, HeadOrder, Heads, Split, padded},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "megatron",
    title: "rules of Megatron and vLLM",
    claims: |text| text.starts_with(|c: char| c.is_ascii_lowercase()),
    read,
    say,
};

const WORDS: [&str; 6] = ["column", "row", "replicated", "gate_up", "vocab", "qkv"];

/// The library that made the shards.
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

    /// Returns its order of the heads in a shard.
    fn order(self) -> HeadOrder {
        match self {
            Maker::Megatron => HeadOrder::Grouped,
            Maker::Vllm => HeadOrder::Concat,
        }
    }

    /// Returns the maker whose shards have this order.
    fn of(order: HeadOrder) -> Maker {
        match order {
            HeadOrder::Grouped => Maker::Megatron,
            HeadOrder::Concat => Maker::Vllm,
        }
    }

    /// Returns the multiple to which it pads a vocabulary of these rows over `count` devices.
    fn multiple(self, rows: u64, pad: u64, count: u64) -> Result<u64, Error> {
        let multiple = match self {
            Maker::Megatron => pad.checked_mul(count),
            Maker::Vllm if pad.is_multiple_of(count) => Some(pad),
            // The padded number of rows, which is a multiple of itself.
            Maker::Vllm => padded(rows.max(1), pad),
        };
        let multiple = multiple.ok_or_else(|| {
            Error::overflow(format!("{rows} rows padded by {pad} exceed 63 bits"))
        })?;
        match multiple.is_multiple_of(count) {
            true => Ok(multiple),
            false => {
                let said = format!("{rows} rows padded to a multiple of {pad} are {multiple}");
                Err(Error::mismatch(format!("{said}; over {count} devices they leave a remainder")))
            }
        }
    }
}

fn read(scanner: &mut Scanner<'_>, mut asked: RuleContext<'_>) -> Result<Sharded, Error> {
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
    let rows = || rows.ok_or_else(|| Error::mismatch(format!("`{word}` needs an array with dims")));
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

/// Returns the axis that is called `tp`, or the only one.
fn axis(mesh: &Mesh) -> Result<usize, Error> {
    let only = (mesh.sizes().len() == 1).then_some(0);
    mesh.axis("tp").or(only).ok_or_else(|| {
        Error::mismatch(format!(
            "{mesh} has several axes, but none is called `tp`, the axis to shard over"
        ))
    })
}

fn even(extent: u64, count: u64, what: &str) -> Result<Cut, Error> {
    match extent % count {
        0 => Ok(Cut::Chunk),
        rest => {
            let said = format!("{extent} {what} over {count} devices leave {rest}");
            Err(Error::mismatch(format!("{said}; the rule needs an even split")))
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
            let parts = Counted(parts, "part");
            let said = format!(
                "{rows} rows cannot be cut into {parts} for each of {}",
                Counted(count, "device")
            );
            Err(Error::mismatch(said))
        }
    }
}

/// Reads a padded vocabulary of these rows over this number of devices; the rule begins at `from`.
fn vocabulary(
    scanner: &mut Scanner<'_>,
    maker: Option<Maker>,
    from: usize,
    (rows, count): (u64, u64),
) -> Result<Cut, Error> {
    if !scanner.eat("(") {
        let said = "`vocab` needs the multiple to which rows are padded: vocab(pad=N), such as vocab(pad=64)";
        return Err(Error::parse((from, scanner.at()), said));
    }
    scanner.expect("pad")?;
    scanner.expect("=")?;
    let pad = positive(scanner)?;
    scanner.expect(")")?;
    let Some(maker) = maker else {
        let rule = format!("vocab(pad={pad})");
        let differ = format!(
            "Megatron pads to a multiple of {pad} × {count} devices, vLLM to a multiple of {pad}"
        );
        return Err(unnamed(&rule, &differ, [&rule, &rule]).or_at((from, scanner.at())));
    };
    Ok(Cut::Padded { multiple: maker.multiple(rows, pad, count)? })
}

fn positive(scanner: &mut Scanner<'_>) -> Result<u64, Error> {
    scanner.skip();
    let from = scanner.at();
    match scanner.natural()? {
        0 => Err(Error::parse((from, scanner.at()), "0; use at least 1")),
        value => Ok(value),
    }
}

/// Returns an error for a rule that the makers read differently, with the text for each.
fn unnamed(rule: &str, differ: &str, [megatron, vllm]: [&str; 2]) -> Error {
    let write = format!("write `megatron:{megatron}` or `vllm:{vllm}`");
    Error::mismatch(format!("`{rule}` has two meanings: {differ}; {write}"))
}

/// Reads the fused heads of an array of these rows over this number of devices; the rule begins at `from`.
fn heads(
    scanner: &mut Scanner<'_>,
    maker: Option<Maker>,
    from: usize,
    (rows, count): (u64, u64),
) -> Result<Cut, Error> {
    scanner.skip();
    let list = scanner.at();
    let Given { h, g, d, array, shard } = Given::read(scanner)?;
    let end = scanner.at();
    let (Some(queries), Some(groups), Some(each)) = (h, g, d) else {
        return Err(lacking([h, g, d], rows).or_at((list, end)));
    };
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
        return Err(unnamed("qkv", differ, [&text, &text]).or_at((from, end)));
    };
    let heads = Heads { queries, groups, rows: each, array, shard };
    heads.check(rows, count).map_err(|error| error.or_at((list, end)))?;
    Ok(Cut::Heads(heads))
}

/// The numbers in a list of heads.
#[derive(Default)]
struct Given {
    h: Option<u64>,
    g: Option<u64>,
    d: Option<u64>,
    array: Option<HeadOrder>,
    shard: Option<HeadOrder>,
}

impl Given {
    fn read(scanner: &mut Scanner<'_>) -> Result<Given, Error> {
        let mut given = Given::default();
        scanner.list(("(", ")"), MOST, |scanner| {
            let (word, span) = scanner.word("h=, g= and d=")?;
            scanner.expect("=")?;
            let again = match word {
                "h" => given.h.replace(positive(scanner)?).is_some(),
                "g" => given.g.replace(positive(scanner)?).is_some(),
                "d" => given.d.replace(positive(scanner)?).is_some(),
                "array" => given.array.replace(order(scanner)?).is_some(),
                "shard" => given.shard.replace(order(scanner)?).is_some(),
                _ => {
                    let near = or_one_of(word, &["h", "g", "d", "array", "shard"]);
                    return Err(Error::parse(span, format!("qkv does not take `{word}`{near}")));
                }
            };
            match again {
                true => Err(Error::parse(span, format!("`{word}` is given twice"))),
                false => Ok(()),
            }
        })?;
        Ok(given)
    }
}

/// Returns an error for a list of heads without one of its numbers, with the rows of a head if the other two imply
/// them.
fn lacking(given: [Option<u64>; 3], rows: u64) -> Error {
    let named = ["h (the query heads)", "g (the groups)", "d (the rows of a head)"];
    let absent = named.iter().zip(given).filter(|(_, number)| number.is_none());
    let absent: Vec<&str> = absent.map(|(name, _)| *name).collect();
    let legal = match given {
        [Some(h), Some(g), None] => g.checked_mul(2).and_then(|kv| kv.checked_add(h)),
        _ => None,
    };
    let legal = legal.filter(|heads| rows > 0 && rows.is_multiple_of(*heads));
    let legal = match legal {
        Some(heads) => format!("by the {rows} rows of the array it is d={}", rows / heads),
        None => "such as h=8,g=2,d=4".to_owned(),
    };
    Error::mismatch(format!("qkv lacks {}; {legal}", absent.join(" and ")))
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
        .map_err(|error| Error::unsupported(format!("megatron cannot express it: {error}")))?;
    let count = mesh.sizes().get(axis).copied().unwrap_or(1);
    let cuts = || sharded.splits().iter().map(|split| &split.cut);
    // Heads are printed as they were given, even if a shorter rule cuts equally.
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

/// Returns the rule of these heads; it states the order of the array if that is not the maker's.
fn fused_heads(heads: &Heads) -> String {
    let Heads { queries, groups, rows, array, shard } = heads;
    let maker = Maker::of(*shard).name();
    let stated = if array == shard { String::new() } else { format!(",array={array}") };
    format!("{maker}:qkv(h={queries},g={groups},d={rows}{stated})")
}
