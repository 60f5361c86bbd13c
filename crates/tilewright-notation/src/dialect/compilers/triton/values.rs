//! Values of the fields of encodings: sizes, orders, bases, blocks; read from text and printed.

use std::fmt;

use crate::{
    Error,
    literal::{Literal, LiteralFields},
};

/// The most dims of a tensor.
pub(super) const MAX_RANK: usize = 16;

/// A list of bases: the images of 1, 2, 4 …, an integer per dim.
pub(super) type Bases = Vec<Vec<u64>>;

/// The fields that state how blocks share a tensor.
pub(super) const BLOCKS: [&str; 4] = ["CTAsPerCGA", "CTASplitNum", "CTAOrder", "CGALayout"];

/// A list of powers of two, one per dim.
pub(super) fn powers(value: &Literal<'_>) -> Result<Vec<u64>, Error> {
    let list = value.dims()?;
    if list.len() > MAX_RANK || !list.iter().all(|size| size.is_power_of_two()) {
        return Err(Error::parse(
            value.span,
            "expected powers of two, one for each of at most 16 dims",
        ));
    }
    Ok(list)
}

pub(super) fn power(value: &Literal<'_>) -> Result<u64, Error> {
    match value.unsigned()? {
        size if size.is_power_of_two() => Ok(size),
        _ => Err(Error::parse(
            value.span,
            "expected a power of two; powers of two are linear over bits",
        )),
    }
}

/// `true` or `false`, which may be left out.
pub(super) fn flag(value: Option<Literal<'_>>) -> Result<bool, Error> {
    Ok(value.map(|value| value.word().map(|word| word == "true")).transpose()? == Some(true))
}

/// The dims, each once, the fastest first.
pub(super) fn order(value: &Literal<'_>) -> Result<Vec<usize>, Error> {
    let dims = value.dims()?;
    let rank = dims.len();
    let named = |dim: usize| dims.iter().filter(|&&other| other == dim as u64).count() == 1;
    if rank > MAX_RANK || !(0..rank).all(named) {
        return Err(Error::parse(value.span, "an order names each dim once, the fastest first"));
    }
    // Each is below the rank.
    Ok(dims.iter().map(|&dim| dim as usize).collect())
}

pub(super) fn bases(value: &Literal<'_>) -> Result<Bases, Error> {
    let all: Bases = value.list()?.iter().map(Literal::dims).collect::<Result<_, _>>()?;
    if all.iter().any(|basis| basis.len() > MAX_RANK) {
        return Err(Error::parse(value.span, "bases of more than 16 dims"));
    }
    Ok(all)
}

pub(super) fn same_rank<'a>(
    mut bases: impl Iterator<Item = &'a Vec<u64>>,
    body: &str,
) -> Result<(), Error> {
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

/// Reads how blocks share the tensor: as bases, or as their number, the number of parts and their order. Without a rank,
/// the blocks give it.
pub(super) fn blocks(fields: &mut LiteralFields<'_>, rank: Option<usize>) -> Result<Bases, Error> {
    let wrong = |value: &Literal<'_>, rank: usize| {
        Error::parse(value.span, format!("expected one per dim, {rank}"))
    };
    if let Some(value) = fields.take(&["CGALayout"])? {
        let all = bases(&value)?;
        let rank = rank.or(all.first().map(Vec::len)).unwrap_or(0);
        return if all.iter().all(|basis| basis.len() == rank) {
            Ok(all)
        } else {
            Err(wrong(&value, rank))
        };
    }
    let Some(per) = fields.take(&["CTAsPerCGA"])? else { return Ok(Vec::new()) };
    let split = fields.need(&["CTASplitNum"])?;
    let order_value = fields.need(&["CTAOrder"])?;
    let (count, parts, order) = (powers(&per)?, powers(&split)?, order(&order_value)?);
    let rank = rank.unwrap_or(count.len());
    for (list, value) in [(count.len(), &per), (parts.len(), &split), (order.len(), &order_value)] {
        if list != rank {
            return Err(wrong(value, rank));
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

/// `[1, 8]`.
pub(super) fn list<T: fmt::Display>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    format!("[{}]", values.join(", "))
}

pub(super) fn lists(bases: &Bases) -> String {
    list(&bases.iter().map(|basis| list(basis)).collect::<Vec<_>>())
}

/// `, CGALayout = [[0, 1]]`, or nothing for one block.
pub(super) fn more(blocks: &Bases) -> String {
    if blocks.is_empty() { String::new() } else { format!(", CGALayout = {}", lists(blocks)) }
}
