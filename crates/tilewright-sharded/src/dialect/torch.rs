//! torch's DTensor: a placement for each axis of the mesh.
//!
//! ```text
//! rule      = ("[" | "(") placement {"," placement} ("]" | ")") ["order(" axis {"," axis} ")"]
//! placement = ("Shard" | "S") "(" ["dim="] INT ")"
//!           | ("_StridedShard" | "_S") "(" ["dim="] INT ["," ["sf=" | "split_factor="] INT] ")"
//!           | "Replicate()" | "R"
//! ```
//!
//! The axes cut from left to right, each the parts of the axes before it, or in the given order: `order(1,0)` is FSDP
//! over tensor parallelism, as in `fully_shard`. A negative dim counts from the last. `Partial` holds summands instead
//! of values, and is refused.
//!
//! Source: `torch/distributed/tensor/placement_types.py`, whose `Shard` is `torch.chunk`, and whose `_StridedShard` is
//! a chunk of each of `split_factor` chunks.

use super::{
    Dialect, RuleContext,
    axes::{find, tilings, whole_axes},
};
use crate::{
    Error,
    mesh::{MOST, Mesh, Scanner, comma, or_one_of},
    nested::Of,
    sharded::Sharded,
    split::{AxisPart, Cut, Split},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "torch",
    title: "placements of torch's DTensor",
    claims: |text| text.starts_with(['[', '(']),
    read,
    say,
};

/// The words of placements.
const WORDS: [&str; 5] = ["Shard", "Replicate", "_StridedShard", "S", "R"];

fn read(scanner: &mut Scanner<'_>, mut asked: RuleContext<'_>) -> Result<Sharded, Error> {
    let mesh = asked.need_mesh("a list of placements")?;
    let from = scanner.at();
    let brackets = if scanner.rest().starts_with('[') { ("[", "]") } else { ("(", ")") };
    let placements =
        scanner.list(brackets, MOST, |scanner| placement(scanner, asked.extents.len()))?;
    let axes = mesh.sizes().len();
    if placements.len() != axes {
        let said = format!("{} placements do not fit a mesh of {axes} axes", placements.len());
        return Err(
            Error::mismatch(format!("{said}; give one for each axis")).at((from, scanner.at()))
        );
    }
    let order = if scanner.eat("order(") {
        order(scanner, &mesh, &placements)?
    } else {
        (0..axes).collect()
    };
    let split = |axis: &usize| {
        let (dim, cut) = placements.get(*axis)?.clone()?;
        Some(Split { dim, parts: vec![AxisPart::whole(*axis)], cut })
    };
    Sharded::new(asked.extents, asked.dtype, mesh, order.iter().filter_map(split).collect())
}

/// The dim that an axis cuts, with the rule; `None` if it replicates.
type Placement = Option<(usize, Cut)>;

fn placement(scanner: &mut Scanner<'_>, rank: usize) -> Result<Placement, Error> {
    let (word, span) =
        scanner.word("a placement: Shard(0), _StridedShard(0, sf=2), Replicate()")?;
    match word {
        "R" | "Replicate" => {
            if scanner.eat("(") {
                scanner.expect(")")?;
            }
            Ok(None)
        }
        "S" | "Shard" => {
            scanner.expect("(")?;
            let dim = dim(scanner, rank, span.0)?;
            scanner.expect(")")?;
            Ok(Some((dim, Cut::Chunk)))
        }
        "_S" | "_StridedShard" => {
            scanner.expect("(")?;
            let dim = dim(scanner, rank, span.0)?;
            let factor = if scanner.eat(",") { factor(scanner)? } else { 1 };
            scanner.expect(")")?;
            Ok(Some((dim, Cut::Strided { factor })))
        }
        "P" | "Partial" | "_MaskPartial" | "_NormPartial" => {
            let why = "each device holds a summand, so no device stores the values";
            let legal = "redistribute the array before it is written";
            Err(Error::unsupported(format!("`{word}`: {why}; {legal}")).at(span))
        }
        _ => {
            let near = or_one_of(word, &WORDS);
            Err(Error::parse(span, format!("no placement is called `{word}`{near}")))
        }
    }
}

/// Reads `[dim=]INT`; a negative number counts from the last.
fn dim(scanner: &mut Scanner<'_>, rank: usize, from: usize) -> Result<usize, Error> {
    if scanner.eat_word("dim") {
        scanner.expect("=")?;
    }
    let said = scanner.signed()?;
    let dim = if said < 0 { said + rank as i64 } else { said };
    usize::try_from(dim).ok().filter(|dim| *dim < rank).ok_or_else(|| {
        let to = scanner.at() + usize::from(scanner.rest().starts_with(')'));
        Error::parse((from, to), format!("dim {said} of an array of {rank} dims"))
    })
}

/// Reads `[sf=]INT`, at least 1.
fn factor(scanner: &mut Scanner<'_>) -> Result<u64, Error> {
    if scanner.eat_word("sf") || scanner.eat_word("split_factor") {
        scanner.expect("=")?;
    }
    scanner.skip();
    let from = scanner.at();
    match scanner.natural()? {
        0 => Err(Error::parse((from, scanner.at()), "a split factor of 0; use at least 1")),
        factor => Ok(factor),
    }
}

/// Reads the axes in the order of cutting, by number or name; those that replicate may be left out.
fn order(
    scanner: &mut Scanner<'_>,
    mesh: &Mesh,
    placements: &[Placement],
) -> Result<Vec<usize>, Error> {
    let mut order: Vec<usize> = Vec::new();
    let from = scanner.at();
    loop {
        scanner.skip();
        let from = scanner.at();
        let name = scanner.take(crate::mesh::is_name_char);
        let span = (from, scanner.at());
        if name.is_empty() {
            return Err(scanner.expected("an axis of the mesh, by number or name"));
        }
        let number = name.parse().ok().filter(|axis| *axis < mesh.sizes().len());
        let axis = number.map_or_else(|| find(mesh, name, span), Ok)?;
        if order.contains(&axis) {
            return Err(Error::parse(
                span,
                format!("the axis `{name}` appears twice in the order"),
            ));
        }
        order.push(axis);
        if !scanner.eat(",") {
            break;
        }
    }
    scanner.expect(")")?;
    let cuts = |axis: usize| placements.get(axis).is_some_and(Option::is_some);
    match (0..placements.len()).find(|axis| cuts(*axis) && !order.contains(axis)) {
        None => Ok(order),
        Some(axis) => {
            let said = format!("the order leaves out the axis `{}`, which cuts", mesh.name(axis));
            Err(Error::parse((from, scanner.at() - 1), said))
        }
    }
}

/// One cut of the order: axis, dim, factor.
type OrderedCut = (usize, usize, u64);

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    let (splits, digits) = (of_splits(sharded), of_digits(sharded));
    for steps in splits.iter().chain(&digits) {
        let plain = steps.iter().all(|(.., factor)| *factor == 1);
        if in_order(steps) || !plain {
            texts.push(text(sharded.mesh(), steps, None));
        } else {
            texts.push(text(sharded.mesh(), &left_to_right(sharded.mesh(), steps), None));
        }
        let order: Vec<usize> = steps.iter().map(|(axis, ..)| *axis).collect();
        texts.push(text(sharded.mesh(), steps, (!in_order(steps)).then_some(&order)));
    }
    match (texts.is_empty(), splits) {
        (true, Err(error)) => Err(Error::unsupported(format!("torch cannot express it: {error}"))),
        (true | false, _) => Ok(texts),
    }
}

/// Returns the steps of the splits.
fn of_splits(sharded: &Sharded) -> Result<Vec<OrderedCut>, Error> {
    let mut steps = Vec::new();
    for split in sharded.splits() {
        let factor = match &split.cut {
            Cut::Chunk | Cut::Padded { .. } => 1,
            Cut::Strided { factor } => *factor,
            Cut::Listed(lists) => lists.first().map_or(1, |list| list.as_slice().len() as u64),
            Cut::Heads(heads) => {
                let count = split.count(sharded.mesh())?;
                heads.list(count, 0).as_slice().len() as u64
            }
        };
        let axes = whole_axes(std::slice::from_ref(&split.parts), sharded.mesh())?;
        steps.extend(axes.concat().into_iter().map(|axis| (axis, split.dim, factor.max(1))));
    }
    Ok(steps)
}

/// Returns the steps of the digits of the lists: from the largest stride down; a local digit above a step is its
/// factor.
fn of_digits(sharded: &Sharded) -> Result<Vec<OrderedCut>, Error> {
    let tiling = tilings(sharded).into_iter().next().unwrap_or_default();
    whole_axes(&tiling, sharded.mesh())?;
    let mut steps = Vec::new();
    for (dim, digits) in sharded.digits()?.iter().enumerate() {
        let mut factor = 1;
        for digit in digits.iter().rev() {
            match digit.of {
                Of::Local { .. } => factor *= digit.size,
                Of::Axis { axis, .. } => steps.push((axis, dim, factor)),
            }
        }
    }
    Ok(steps)
}

/// Returns whether the axes of each dim cut from left to right.
fn in_order(steps: &[OrderedCut]) -> bool {
    let later = |at: usize, step: &OrderedCut| {
        steps.iter().skip(at + 1).all(|other| other.1 != step.1 || other.0 > step.0)
    };
    steps.iter().enumerate().all(|(at, step)| later(at, step))
}

/// Returns the placements that express an order of cutting from left to right: the factor of an axis is the product of
/// those that cut the same dim before it and are further right.
fn left_to_right(mesh: &Mesh, steps: &[OrderedCut]) -> Vec<OrderedCut> {
    let factor = |at: usize, (axis, dim, _): &OrderedCut| {
        let before = steps.iter().take(at).filter(|other| other.1 == *dim && other.0 > *axis);
        before.map(|other| mesh.sizes().get(other.0).copied().unwrap_or(1)).product()
    };
    steps.iter().enumerate().map(|(at, step)| (step.0, step.1, factor(at, step))).collect()
}

fn text(mesh: &Mesh, steps: &[OrderedCut], order: Option<&Vec<usize>>) -> String {
    let placement = |axis: usize| match steps.iter().find(|step| step.0 == axis) {
        Some((_, dim, 1)) => format!("Shard({dim})"),
        Some((_, dim, factor)) => format!("_StridedShard({dim}, sf={factor})"),
        None => "Replicate()".to_owned(),
    };
    let placements: Vec<String> = (0..mesh.sizes().len()).map(placement).collect();
    let order = order.map_or(String::new(), |order| format!(" order({})", comma(order)));
    format!("{mesh} [{}]{order}", placements.join(", "))
}
