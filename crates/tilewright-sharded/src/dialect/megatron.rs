//! The rules of Megatron and those who follow it: how a parameter is cut over the tensor-parallel axis.
//!
//! ```text
//! rule = "replicated"                                        norms, routers
//!      | "column"                                            rows of a weight [out, in], and its bias
//!      | "row"                                               columns of a weight; its bias, of one dim, is replicated
//!      | "gate_up" ["(parts=" INT ")"]                       fused parts of equal size one after another, each cut
//!      | "vocab(pad=" INT ")"                                rows padded to a multiple of pad × devices
//!      | "qkv(h=" INT ",g=" INT ",d=" INT {"," ("array" | "shard") "=" ("concat" | "grouped")} ")"
//! ```
//!
//! The axis is the one called `tp`, or the only one. `h` query heads and `g` groups of keys and values, of `d` rows each:
//! the array, and each shard, has them as [q; k; v] (`concat`) or group by group, its queries, its key, its value
//! (`grouped`, Megatron's own order). Fewer groups than devices are held by several of them. A fused tensor is never told
//! from its shape: cut as `column` it has the same extents and the wrong halves.
//!
//! Source: Megatron-LM's `core/tensor_parallel/layers.py` and `core/transformer/attention.py`; vLLM's `linear.py` for
//! [q; k; v].

use super::{Asked, Dialect};
use crate::{
    error::Error,
    intervals::Intervals,
    limits::MAX_INTERVALS,
    mesh::Mesh,
    scan::{MOST, Scanner, or_one_of},
    sharded::Sharded,
    split::{AxisPart, Cut, Split},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "megatron",
    title: "rules of Megatron",
    claims: |text| text.starts_with(|c: char| c.is_ascii_lowercase()),
    read,
    say,
};

const WORDS: [&str; 6] = ["column", "row", "replicated", "gate_up", "vocab", "qkv"];

fn read(scanner: &mut Scanner<'_>, mut asked: Asked<'_>) -> Result<Sharded, Error> {
    let (word, span) = scanner.word("a rule")?;
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
        "vocab" => Some((0, vocabulary(scanner, count)?)),
        _ => Some((0, heads(scanner, rows()?, count)?)),
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

fn vocabulary(scanner: &mut Scanner<'_>, count: u64) -> Result<Cut, Error> {
    scanner.expect("(")?;
    scanner.expect("pad")?;
    scanner.expect("=")?;
    let pad = positive(scanner)?;
    scanner.expect(")")?;
    match pad.checked_mul(count) {
        Some(multiple) => Ok(Cut::Padded { multiple }),
        None => Err(Error::overflow(format!("padding to {pad} × {count} rows leaves 64 bits"))),
    }
}

fn positive(scanner: &mut Scanner<'_>) -> Result<u64, Error> {
    scanner.skip();
    let from = scanner.at();
    match scanner.natural()? {
        0 => Err(Error::parse((from, scanner.at()), "0; the least is 1")),
        value => Ok(value),
    }
}

/// The heads of a fused tensor of queries, keys and values.
#[derive(Clone, Copy)]
struct Heads {
    queries: u64,
    groups: u64,
    /// The rows of a head.
    rows: u64,
    /// Whether the array, and a shard, has them group by group.
    grouped: (bool, bool),
}

fn heads(scanner: &mut Scanner<'_>, rows: u64, count: u64) -> Result<Cut, Error> {
    let mut heads = Heads { queries: 0, groups: 0, rows: 0, grouped: (false, false) };
    scanner.skip();
    let from = scanner.at();
    scanner.list(("(", ")"), MOST, |scanner| {
        let (word, span) = scanner.word("h=, g= and d=")?;
        scanner.expect("=")?;
        match word {
            "h" => heads.queries = positive(scanner)?,
            "g" => heads.groups = positive(scanner)?,
            "d" => heads.rows = positive(scanner)?,
            "array" => heads.grouped.0 = grouped(scanner)?,
            "shard" => heads.grouped.1 = grouped(scanner)?,
            _ => {
                let near = or_one_of(word, &["h", "g", "d", "array", "shard"]);
                return Err(Error::parse(span, format!("qkv does not take `{word}`{near}")));
            }
        }
        Ok(())
    })?;
    let lists = heads.check(rows, count).map(|()| heads.lists(count));
    Ok(Cut::Listed(lists.map_err(|error| error.at((from, scanner.at())))??))
}

fn grouped(scanner: &mut Scanner<'_>) -> Result<bool, Error> {
    match scanner.word("concat or grouped")? {
        ("concat", _) => Ok(false),
        ("grouped", _) => Ok(true),
        (word, span) => {
            let near = or_one_of(word, &["concat", "grouped"]);
            Err(Error::parse(span, format!("no order of heads is called `{word}`{near}")))
        }
    }
}

impl Heads {
    fn check(&self, rows: u64, count: u64) -> Result<(), Error> {
        let Heads { queries, groups, rows: each, .. } = *self;
        if queries == 0 || groups == 0 || each == 0 {
            return Err(Error::mismatch("qkv needs h, g and d, such as qkv(h=8,g=2,d=4)"));
        }
        let heads = groups.checked_mul(2).and_then(|kv| kv.checked_add(queries));
        let all = heads.and_then(|heads| heads.checked_mul(each));
        let refused = match all {
            Some(all) if all != rows => {
                format!("({queries} + 2·{groups})·{each} rows, and the array has {rows}")
            }
            None => format!("({queries} + 2·{groups})·{each} rows leave 64 bits"),
            _ if !queries.is_multiple_of(groups) => {
                format!("{queries} query heads over {groups} groups leave some over")
            }
            _ if !queries.is_multiple_of(count) => {
                format!("{queries} query heads over {count} devices leave some over")
            }
            _ if !groups.is_multiple_of(count)
                && (!count.is_multiple_of(groups) || self.grouped != (false, false)) =>
            {
                format!("{groups} groups over {count} devices leave some over")
            }
            _ if groups.saturating_mul(3).saturating_mul(count) > MAX_INTERVALS => {
                let said = format!("{groups} groups on {count} devices");
                return Err(Error::limit(format!("{said}: more than {MAX_INTERVALS} lists")));
            }
            Some(_) => return Ok(()),
        };
        Err(Error::mismatch(refused))
    }

    /// The rows of each device, in its order.
    fn lists(&self, count: u64) -> Result<Vec<Intervals>, Error> {
        let own = (self.groups / count).max(1);
        let of = |device: u64| {
            // With fewer groups than devices, several hold one group, each with its share of the queries.
            let first =
                if self.groups < count { device * self.groups / count } else { device * own };
            let groups = first..first + own;
            let mut places = Vec::new();
            match self.grouped.1 {
                true => {
                    places.extend(groups.flat_map(|group| (0..3).map(move |part| (part, group))))
                }
                false => {
                    for part in 0..3 {
                        places.extend(groups.clone().map(|group| (part, group)));
                    }
                }
            }
            let share = count.checked_div(self.groups).unwrap_or(1).max(1);
            Intervals::new(
                &places
                    .iter()
                    .map(|(part, group)| self.place(*part, *group, (device, share)))
                    .collect::<Vec<_>>(),
            )
        };
        (0..count).map(of).collect()
    }

    /// Where the queries (0), the key (1) or the value (2) of a group lie in the array: of the queries the part of a
    /// device that shares its group with `share` devices.
    fn place(&self, part: u64, group: u64, (device, share): (u64, u64)) -> [u64; 2] {
        let Heads { queries, groups, rows, grouped } = *self;
        let each = queries / groups;
        let (heads, own) = match (part, grouped.0) {
            (0, false) => (group * each, each),
            (0, true) => (group * (each + 2), each),
            (_, false) => (queries + (part - 1) * groups + group, 1),
            (_, true) => (group * (each + 2) + each + part - 1, 1),
        };
        match part {
            0 => [(heads + each / share * (device % share)) * rows, own / share * rows],
            _ => [heads * rows, own * rows],
        }
    }
}

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let mesh = sharded.mesh();
    let axis = axis(mesh)
        .map_err(|error| Error::unsupported(format!("megatron cannot say it: {error}")))?;
    let count = mesh.sizes().get(axis).copied().unwrap_or(1);
    let mut rules = vec!["column".to_owned(), "row".into(), "replicated".into(), "gate_up".into()];
    for split in sharded.splits() {
        match &split.cut {
            Cut::Chunk => {}
            Cut::Strided { factor } => rules.push(format!("gate_up(parts={factor})")),
            Cut::Padded { multiple } => rules.push(format!("vocab(pad={})", multiple / count)),
            Cut::Listed(lists) => {
                rules.extend(lists.first().into_iter().flat_map(|list| guess(list, count)))
            }
        }
    }
    Ok(rules.into_iter().map(|rule| format!("{mesh} {rule}")).collect())
}

/// Heads that may give the first device this list: queries, keys and values one after another, or group by group in the
/// shard or in the array.
fn guess(list: &Intervals, count: u64) -> Vec<String> {
    let own = list.as_slice().len() as u64 / 3;
    let rule = |h: u64, g: u64, d: u64, order: &str| format!("qkv(h={h},g={g},d={d}{order})");
    let mut rules = Vec::new();
    let together = match *list.as_slice() {
        [_, [key, held], [value, _]] => Some((key, value.saturating_sub(key), held)),
        // The key and the value of one group lie side by side.
        [_, [key, both]] => Some((key, both / 2, both / 2)),
        _ => None,
    };
    if let Some((key, keys, held)) = together {
        let known = [keys / count, held].into_iter().filter(|rows| *rows > 0);
        rules.extend(known.map(|rows| rule(key / rows, keys / rows, rows, "")));
    }
    if let [[0, queries], [next, rows], ..] = *list.as_slice()
        && let Some(each) = queries.checked_div(rows).filter(|each| *each > 0)
    {
        rules.push(rule(next / rows, next / rows / each, rows, ",shard=grouped"));
    }
    let first = list.as_slice().first().copied().unwrap_or_default();
    let key = list.as_slice().iter().find(|[start, _]| *start == first[1]);
    if let Some(each) = key.and_then(|[_, rows]| first[1].checked_div(*rows)) {
        let (groups, rows) = (own.saturating_mul(count), key.map_or(1, |[_, rows]| *rows));
        rules.push(rule(each.saturating_mul(groups), groups, rows, ",array=grouped"));
    }
    rules
}
