//! JAX's `PartitionSpec`, the axes of each dim, and `NamedSharding`, which adds its mesh.
//!
//! ```text
//! rule  = ("P" | "PartitionSpec") "(" [entry {"," entry} [","]] ")"
//!       | "NamedSharding(mesh=Mesh(" NAME ":" INT {"," NAME ":" INT} ["," "axis_types=(…)"] "), spec=" rule {"," WORD "=" WORD} ")"
//! entry = "None" | ["P."] "UNCONSTRAINED" | NAME | "(" NAME {"," NAME} [","] ")"      names are in quotes
//! ```
//!
//! The first axis of a tuple is the most significant. Dims without an entry are whole, and so are those with
//! `UNCONSTRAINED`, as in JAX's `devices_indices_map`. A dim that is not a multiple of its axes is refused, as for
//! JAX's arrays.
//!
//! Source: `jax/_src/partition_spec.py`, `jax/_src/named_sharding.py`.

use super::{
    Dialect, RuleContext,
    axes::{find, tilings, whole_axes},
};
use crate::{
    Error,
    mesh::{MOST, Mesh, Scanner},
    sharded::Sharded,
    split::{AxisPart, Cut, Split, check_apart},
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "jax",
    title: "PartitionSpec of JAX",
    claims: |text| HEADS.iter().any(|head| text.starts_with(head)),
    read,
    say,
};

const HEADS: [&str; 3] = ["P(", "PartitionSpec(", "NamedSharding("];

fn read(scanner: &mut Scanner<'_>, mut asked: RuleContext<'_>) -> Result<Sharded, Error> {
    if !scanner.eat("NamedSharding(") {
        let mesh = asked.need_mesh("a PartitionSpec")?;
        return spec(scanner, mesh, &asked);
    }
    if asked.mesh.is_some() {
        return Err(Error::mismatch("a NamedSharding has its own mesh; leave out `mesh(…)`"));
    }
    scanner.expect("mesh")?;
    scanner.expect("=")?;
    let mesh = named_mesh(scanner)?;
    scanner.expect(",")?;
    scanner.expect("spec")?;
    scanner.expect("=")?;
    let sharded = spec(scanner, mesh, &asked)?;
    while scanner.eat(",") {
        scanner.word("a field")?;
        scanner.expect("=")?;
        scanner.word("a value")?;
    }
    scanner.expect(")")?;
    Ok(sharded)
}

/// Reads `Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))`.
fn named_mesh(scanner: &mut Scanner<'_>) -> Result<Mesh, Error> {
    scanner.expect("Mesh(")?;
    let (from, mut axes) = (scanner.at(), Vec::new());
    while matches!(scanner.peek(), Some('"' | '\'')) {
        let (name, _) = scanner.quoted()?;
        scanner.expect(":")?;
        axes.push((name, scanner.natural()?));
        if !scanner.eat(",") {
            break;
        }
    }
    if scanner.eat("axis_types=") {
        scanner.list(("(", ")"), MOST, |scanner| scanner.word("a type of an axis"))?;
    }
    scanner.expect(")")?;
    Mesh::named(&axes).map_err(|error| error.or_at((from, scanner.at())))
}

fn spec(scanner: &mut Scanner<'_>, mesh: Mesh, asked: &RuleContext<'_>) -> Result<Sharded, Error> {
    scanner.skip();
    let from = scanner.at();
    if !scanner.eat_word("P") {
        scanner.expect("PartitionSpec")?;
    }
    let entries = scanner.list(("(", ")"), MOST, |scanner| entry(scanner, &mesh))?;
    let (rank, given) = (asked.extents.len(), entries.len());
    if given > rank {
        let said = format!("{given} entries do not fit an array of {rank} dims");
        return Err(Error::mismatch(said).at((from, scanner.at())));
    }
    let mut splits = Vec::new();
    for (dim, ((parts, span), extent)) in entries.into_iter().zip(asked.extents).enumerate() {
        let split = Split { dim, parts, cut: Cut::Chunk };
        let taken = splits.iter().chain([&split]).flat_map(|split: &Split| &split.parts);
        check_apart(taken, &mesh).map_err(|error| error.or_at(span))?;
        let count = split.count(&mesh)?;
        if extent % count != 0 {
            let said = format!("dim {dim} of {extent} is not divisible by {count} devices");
            let legal = "JAX has no uneven shards; XLA writes them as `{devices=[…]<=[…]}`";
            return Err(Error::mismatch(format!("{said}: {legal}")).at(span));
        }
        splits.extend((!split.parts.is_empty()).then_some(split));
    }
    Sharded::new(asked.extents, asked.dtype, mesh, splits)
}

/// The axes of an entry, with its bytes.
type SpecEntry = (Vec<AxisPart>, (usize, usize));

fn entry(scanner: &mut Scanner<'_>, mesh: &Mesh) -> Result<SpecEntry, Error> {
    let axis = |scanner: &mut Scanner<'_>| {
        let (name, span) = scanner.quoted()?;
        find(mesh, name, span).map(AxisPart::whole)
    };
    let next = scanner.peek();
    let from = scanner.at();
    let parts = match next {
        Some('(') => scanner.list(("(", ")"), MOST, axis)?,
        Some('"' | '\'') => vec![axis(scanner)?],
        _ if scanner.eat_word("None") => Vec::new(),
        _ if scanner.eat("P.UNCONSTRAINED") || scanner.eat_word("UNCONSTRAINED") => Vec::new(),
        _ if ["unreduced", "reduced"].iter().any(|word| scanner.rest().starts_with(word)) => {
            let (word, span) = scanner.word("an axis")?;
            let said = format!("`{word}` axes: devices along them hold no values of the array");
            return Err(Error::unsupported(said).at(span));
        }
        Some(_) | None => {
            return Err(scanner.expected("None, an axis in quotes, or a tuple of axes"));
        }
    };
    Ok((parts, (from, scanner.at())))
}

fn say(sharded: &Sharded) -> Result<Vec<String>, Error> {
    let mesh = sharded.mesh();
    let text = |tiling: &Vec<Vec<AxisPart>>| {
        let mut dims = whole_axes(tiling, mesh)?;
        while dims.last().is_some_and(Vec::is_empty) {
            dims.pop();
        }
        let name = |axis: &usize| format!("\"{}\"", mesh.name(*axis));
        let entry = |axes: &Vec<usize>| match &axes[..] {
            [] => "None".to_owned(),
            [one] => name(one),
            _ => format!("({})", axes.iter().map(name).collect::<Vec<_>>().join(", ")),
        };
        let entries: Vec<String> = dims.iter().map(entry).collect();
        Ok(format!("{mesh} P({})", entries.join(", ")))
    };
    let texts: Vec<Result<String, Error>> = tilings(sharded).iter().map(text).collect();
    match (texts.iter().flatten().count(), texts.iter().find_map(|text| text.as_ref().err())) {
        (0, Some(error)) => Err(Error::unsupported(format!("jax cannot express it: {error}"))),
        _ => Ok(texts.into_iter().flatten().collect()),
    }
}
