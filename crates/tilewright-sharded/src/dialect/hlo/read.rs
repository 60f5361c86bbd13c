//! Reads the text of an `HloSharding`, with stricter checks than XLA's reader.
//!
//! Tile assignments, and the form in which XLA prints them.

use std::fmt;

use super::{Body, HloSharding, Named, NamedBody, Other, TileKind};
use crate::{
    Error,
    dialect::axes::{self, dim},
    mesh::{MAX_AXES, MAX_DEVICES, MOST, Mesh, Scanner, comma, or_one_of},
    nested::sequence,
    split::check_apart,
};

/// Reads one sharding, inside of `depth` open tuples.
pub(super) fn sharding(scanner: &mut Scanner<'_>, depth: usize) -> Result<HloSharding, Error> {
    scanner.skip();
    if !scanner.rest().starts_with('{') {
        return Err(scanner.expected("`{`"));
    }
    let inner = scanner.rest().get(1..).unwrap_or("").trim_start();
    let (metadata, group) = (None, None);
    if inner.starts_with('{') && depth == 0 {
        let leaves = scanner.list(("{", "}"), MOST, |scanner| sharding(scanner, depth + 1))?;
        return Ok(HloSharding { body: Body::Tuple(leaves), metadata, group });
    }
    scanner.expect("{")?;
    let body = body(scanner)?;
    let mut sharding = HloSharding { body, metadata, group };
    if scanner.eat_word("metadata") {
        scanner.expect("=")?;
        sharding.metadata = Some(braces(scanner)?);
    }
    for word in ["shard_as", "shard_like"] {
        if scanner.eat_word(word) {
            sharding.group = Some((word, scanner.natural()?));
        }
    }
    scanner.expect("}")?;
    Ok(sharding)
}

/// The words that a body begins with.
const WORDS: [&str; 8] =
    ["replicated", "manual", "unknown", "unreduced", "maximal", "devices", "mesh", "maximal_mesh"];

fn body(scanner: &mut Scanner<'_>) -> Result<Body, Error> {
    let (word, span) = scanner.word("a sharding: devices=[…], replicated, mesh[…]")?;
    if let Some((kind, _)) = TileKind::ALL.iter().find(|(_, name)| *name == word) {
        return Ok(Body::Word(*kind));
    }
    match word {
        "maximal" => {
            scanner.expect("device")?;
            scanner.expect("=")?;
            Ok(Body::Maximal(scanner.natural()?))
        }
        "devices" => devices(scanner),
        "mesh" => Ok(Body::Named(named(scanner)?)),
        "maximal_mesh" => {
            scanner.expect("[")?;
            scanner.expect("device_id")?;
            scanner.expect("=")?;
            let mesh = Mesh::new(&[])?.with_order(&[scanner.natural()?])?;
            scanner.expect("]")?;
            Ok(Body::Named(Named { mesh, body: NamedBody::Word(TileKind::Replicated) }))
        }
        _ => {
            let near = or_one_of(word, &WORDS);
            Err(Error::parse(span, format!("no sharding begins with `{word}`{near}")))
        }
    }
}

/// Reads the text after `devices`.
fn devices(scanner: &mut Scanner<'_>) -> Result<Body, Error> {
    scanner.expect("=")?;
    scanner.skip();
    let from = scanner.at();
    let tile = sizes(scanner)?;
    let count = tile.iter().product::<u64>();
    let devices = if scanner.eat("<=") {
        iota_of(scanner, count)?
    } else {
        Assignment::List(numbers(scanner, count)?)
    };
    let kinds = kinds(scanner)?;
    if kinds.len() > tile.len() {
        let said = format!("{} kinds for {} tile dims", kinds.len(), tile.len());
        return Err(Error::parse((from, scanner.at()), said));
    }
    Ok(Tiled { tile, devices, kinds }.canonical())
}

/// Reads `[2,4]`: sizes of at least 1, whose product is at most [`MAX_DEVICES`].
fn sizes(scanner: &mut Scanner<'_>) -> Result<Vec<u64>, Error> {
    scanner.skip();
    let from = scanner.at();
    let sizes = scanner.list(("[", "]"), MOST, Scanner::natural)?;
    let span = (from, scanner.at());
    let count = sizes.iter().fold(1u64, |count, size| count.saturating_mul(*size));
    match count {
        _ if sizes.is_empty() => Err(Error::parse(span, "expected the sizes of tiles")),
        _ if sizes.len() > MAX_AXES => {
            let said = format!("{} sizes; at most {MAX_AXES}", sizes.len());
            Err(Error::limit(said).at(span))
        }
        0 => Err(Error::parse(span, "a size of 0; use at least 1")),
        1..=MAX_DEVICES => Ok(sizes),
        _ => {
            let said = format!("tiles for {count} devices; at most {MAX_DEVICES}");
            Err(Error::limit(said).at(span))
        }
    }
}

/// Reads `[2,4]T(1,0)`, of `count` numbers.
fn iota_of(scanner: &mut Scanner<'_>, count: u64) -> Result<Assignment, Error> {
    scanner.skip();
    let from = scanner.at();
    let dims = sizes(scanner)?;
    let product = dims.iter().product::<u64>();
    if product != count {
        let said = format!("{product} devices for {count} tiles");
        return Err(Error::parse((from, scanner.at()), said));
    }
    let order = match scanner.eat("T") {
        true => transposed(scanner, dims.len())?,
        false => (0..dims.len()).collect(),
    };
    Ok(Assignment::Iota { dims, order })
}

/// Reads `(1,0)`: each of the dims once.
fn transposed(scanner: &mut Scanner<'_>, dims: usize) -> Result<Vec<usize>, Error> {
    let from = scanner.at() + 1;
    let order = scanner.list(("(", ")"), MOST, Scanner::natural)?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let each = (0..dims as u64).eq(sorted);
    match each {
        true => Ok(order.into_iter().filter_map(|at| usize::try_from(at).ok()).collect()),
        false => {
            let said = format!("a transposition of {dims} dims names each of them once");
            Err(Error::parse((from, scanner.at() - 1), said))
        }
    }
}

/// Reads `0,1,2,3`: `count` numbers, each once.
fn numbers(scanner: &mut Scanner<'_>, count: u64) -> Result<Vec<u64>, Error> {
    scanner.skip();
    let from = scanner.at();
    let mut numbers = vec![scanner.natural()?];
    while scanner.eat(",") {
        numbers.push(scanner.natural()?);
    }
    let span = (from, scanner.at());
    if numbers.len() as u64 != count {
        let said = format!("{} devices for {count} tiles", numbers.len());
        return Err(Error::parse(span, said));
    }
    // Refuses lists that a mesh refuses.
    let _ = Mesh::new(&[count])?.with_order(&numbers).map_err(|error| error.or_at(span))?;
    Ok(numbers)
}

fn kinds(scanner: &mut Scanner<'_>) -> Result<Vec<TileKind>, Error> {
    if scanner.eat_word("last_tile_dim_replicate") {
        return Ok(vec![TileKind::Replicated]);
    }
    if !scanner.eat_word("last_tile_dims") {
        return Ok(Vec::new());
    }
    scanner.expect("=")?;
    scanner.list(("{", "}"), MOST, |scanner| {
        let (word, span) = scanner.word("replicated, manual or unreduced")?;
        kind(word, span)
    })
}

/// Returns a kind that tile dims or axes can have.
fn kind(word: &str, span: (usize, usize)) -> Result<TileKind, Error> {
    let known = ["replicated", "manual", "unreduced"];
    let found = TileKind::ALL.iter().find(|(_, name)| *name == word && known.contains(name));
    found.map(|(kind, _)| *kind).ok_or_else(|| {
        let near = or_one_of(word, &known);
        Error::parse(span, format!("no kind of tile is called `{word}`{near}"))
    })
}

/// Reads the text after `mesh`.
fn named(scanner: &mut Scanner<'_>) -> Result<Named, Error> {
    scanner.skip();
    let from = scanner.at();
    let named = scanner.list(("[", "]"), MOST, |scanner| {
        let (name, _) = scanner.quoted()?;
        scanner.expect("=")?;
        Ok((name, scanner.natural()?))
    })?;
    let mut mesh = axes::mesh(&named).map_err(|error| error.or_at((from, scanner.at())))?;
    scanner.expect(",")?;
    if scanner.eat_word("device_ids") {
        scanner.expect("=")?;
        mesh = ids(scanner, mesh)?;
        scanner.expect(",")?;
    }
    if scanner.peek() != Some('[') {
        let (word, span) = scanner.word("the axes of each dim, or replicated")?;
        return Ok(Named { mesh, body: NamedBody::Word(kind(word, span)?) });
    }
    let from = scanner.at();
    let dims = scanner.list(("[", "]"), MOST, |scanner| dim(scanner, &mesh))?;
    let mut others = Vec::new();
    while scanner.eat(",") {
        let (word, span) = scanner.word("replicated=, manual= or unreduced=")?;
        scanner.expect("=")?;
        scanner.skip();
        // For example `unreduced=max{'x'}`.
        let reduction = scanner.take(|c| c.is_ascii_lowercase()).to_owned();
        let kind = kind(word, span)?;
        others.push(Other { kind, reduction, axes: dim(scanner, &mesh)? });
    }
    let all = dims.iter().chain(others.iter().map(|other| &other.axes));
    check_apart(all.flat_map(|dim| &dim.parts), &mesh)
        .map_err(|error| error.or_at((from, scanner.at())))?;
    Ok(Named { mesh, body: NamedBody::Dims { dims, others } })
}

/// Reads `(1,0)`, or `([2,4]T(1,0))`.
fn ids(scanner: &mut Scanner<'_>, mesh: Mesh) -> Result<Mesh, Error> {
    scanner.expect("(")?;
    scanner.skip();
    let from = scanner.at();
    let ids = match scanner.peek() {
        Some('[') => {
            let dims = sizes(scanner)?;
            let order = match scanner.eat("T") {
                true => transposed(scanner, dims.len())?,
                false => (0..dims.len()).collect(),
            };
            iota(&dims, &order)
        }
        Some(_) | None => numbers(scanner, mesh.count())?,
    };
    let mesh = mesh.with_order(&ids).map_err(|error| error.or_at((from, scanner.at())))?;
    scanner.expect(")")?;
    Ok(mesh)
}

/// Reads `{…}` with its contents, up to the matching brace outside quotes.
fn braces(scanner: &mut Scanner<'_>) -> Result<String, Error> {
    scanner.skip();
    let (from, rest) = (scanner.at(), scanner.rest());
    let (mut depth, mut quote, mut last) = (0usize, false, ' ');
    for (at, c) in rest.char_indices() {
        match c {
            '"' if last != '\\' => quote = !quote,
            '{' if !quote => depth += 1,
            '}' if !quote => depth = depth.saturating_sub(1),
            _ => {}
        }
        last = c;
        if depth == 0 {
            scanner.advance(at + c.len_utf8());
            return Ok(rest.get(..at + c.len_utf8()).unwrap_or("").to_owned());
        }
    }
    Err(Error::parse((from, from + rest.len()), "the braces are not closed"))
}

/// Tiles of an array and of the dims that devices share, and the devices of all tiles, row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tiled {
    pub(super) tile: Vec<u64>,
    pub(super) devices: Assignment,
    /// The kinds of the last tile dims.
    pub(super) kinds: Vec<TileKind>,
}

/// Devices as a list, or as 0, 1, … of these dims, transposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assignment {
    List(Vec<u64>),
    Iota { dims: Vec<u64>, order: Vec<usize> },
}

impl Assignment {
    /// Returns the shortest assignment of these numbers: an iota if possible.
    pub(super) fn of(numbers: Vec<u64>) -> Assignment {
        let signed: Vec<i128> = numbers.iter().map(|number| i128::from(*number)).collect();
        let Some(digits) = sequence(&signed) else { return Assignment::List(numbers) };
        let mut digits: Vec<(i128, u64)> =
            digits.into_iter().map(|(size, _, stride)| (stride, size)).collect();
        digits.reverse();
        let mut sorted = digits.clone();
        tilewright_core::sort_short(&mut sorted, |digit| std::cmp::Reverse(*digit));
        let counted = sorted.iter().rev().try_fold(1i128, |product, (stride, size)| {
            (*stride == product).then_some(product * i128::from(*size))
        });
        if counted.is_none() || numbers.first() != Some(&0) {
            return Assignment::List(numbers);
        }
        let place = |digit: &(i128, u64)| sorted.iter().position(|other| other == digit);
        let order = digits.iter().filter_map(place).collect();
        Assignment::Iota { dims: sorted.iter().map(|(_, size)| *size).collect(), order }
    }

    /// Returns the numbers, row-major over the tiles.
    pub(super) fn numbers(&self) -> Vec<u64> {
        match self {
            Assignment::List(numbers) => numbers.clone(),
            Assignment::Iota { dims, order } => iota(dims, order),
        }
    }
}

/// Returns 0, 1, … in these dims, transposed: the numbers in the order of the result.
pub(super) fn iota(dims: &[u64], order: &[usize]) -> Vec<u64> {
    let stride = |at: usize| dims.iter().skip(at + 1).product::<u64>();
    let mut numbers = vec![0];
    for at in order {
        let size = dims.get(*at).copied().unwrap_or(1);
        let stride = stride(*at);
        let digits = |number: u64| (0..size).map(move |digit| number + digit * stride);
        numbers = numbers.into_iter().flat_map(digits).collect();
    }
    numbers
}

impl Tiled {
    /// Returns an error unless the array's rank is the number of tile dims minus that of kinds.
    pub(super) fn check_rank(&self, rank: usize) -> Result<(), Error> {
        let given = self.tile.len().saturating_sub(self.kinds.len());
        match given == rank {
            true => Ok(()),
            false => Err(Error::mismatch(format!("{given} tile dims for an array of {rank} dims"))),
        }
    }

    /// Returns an error if devices share a tile in a way that does not define its values.
    pub(super) fn check_held(&self) -> Result<(), Error> {
        let other = self.kinds.iter().find(|kind| **kind != TileKind::Replicated);
        other.map_or(Ok(()), |kind| Err(kind.refused()))
    }

    /// Returns the form that XLA prints: kinds are sorted and joined, devices with equal contents are sorted, and sizes
    /// of 1 and other redundant parts are left out.
    pub(super) fn canonical(mut self) -> Body {
        self.sort_kinds();
        if self.kinds == [TileKind::Replicated] {
            self.sort_replicas();
        }
        let data = self.tile.len().saturating_sub(self.kinds.len());
        let bare = self.tile.iter().take(data).all(|size| *size == 1);
        match self.kinds[..] {
            [kind @ (TileKind::Replicated | TileKind::Manual)] if bare => return Body::Word(kind),
            [TileKind::Replicated] if self.tile.last() == Some(&1) => {
                self.tile.pop();
                self.kinds.clear();
            }
            _ => {}
        }
        if let Assignment::Iota { .. } = self.devices {
            self.devices = Assignment::of(self.devices.numbers());
        }
        Body::Tiled(self)
    }

    /// Sorts the kinds, and joins equal ones.
    fn sort_kinds(&mut self) {
        let data = self.tile.len().saturating_sub(self.kinds.len());
        let mut order: Vec<usize> = (0..self.kinds.len()).collect();
        tilewright_core::sort_short(&mut order, |at| self.kinds.get(*at).copied());
        if order.windows(2).any(|pair| pair[0] > pair[1]) {
            let places: Vec<usize> = (0..data).chain(order.iter().map(|at| data + at)).collect();
            let numbers = self.devices.numbers();
            let moved = iota(&self.tile, &places);
            let moved = moved.iter().filter_map(|at| numbers.get(usize::try_from(*at).ok()?));
            let numbers: Vec<u64> = moved.copied().collect();
            self.devices = match self.devices {
                Assignment::Iota { .. } => Assignment::of(numbers),
                Assignment::List(_) => Assignment::List(numbers),
            };
            let tile = places.iter().filter_map(|at| self.tile.get(*at).copied());
            self.tile = tile.collect();
        }
        let kinds: Vec<TileKind> =
            order.iter().filter_map(|at| self.kinds.get(*at).copied()).collect();
        let sizes: Vec<u64> = self.tile.split_off(data);
        self.kinds.clear();
        for (kind, size) in kinds.into_iter().zip(sizes) {
            match (self.kinds.last() == Some(&kind), self.tile.last_mut()) {
                (true, Some(joined)) => *joined *= size,
                (true | false, _) => {
                    self.kinds.push(kind);
                    self.tile.push(size);
                }
            }
        }
    }

    /// Sorts the devices that hold the same tile.
    fn sort_replicas(&mut self) {
        let each = self.tile.last().and_then(|size| usize::try_from(*size).ok()).unwrap_or(1);
        let mut numbers = self.devices.numbers();
        if numbers.chunks(each.max(1)).any(|group| !group.is_sorted()) {
            numbers.chunks_mut(each.max(1)).for_each(<[u64]>::sort_unstable);
            self.devices = match self.devices {
                Assignment::Iota { .. } => Assignment::of(numbers),
                Assignment::List(_) => Assignment::List(numbers),
            };
        }
    }
}

impl fmt::Display for Tiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "devices=[{}]", comma(&self.tile))?;
        match &self.devices {
            Assignment::List(numbers) => f.write_str(&comma(numbers))?,
            Assignment::Iota { dims, order } => {
                let count: u64 = dims.iter().product();
                let plain = order.iter().enumerate().all(|(at, place)| at == *place);
                match plain {
                    true => write!(f, "<=[{count}]")?,
                    false => write!(f, "<=[{}]T({})", comma(dims), comma(order))?,
                }
            }
        }
        match self.kinds[..] {
            [] => Ok(()),
            [TileKind::Replicated] => f.write_str(" last_tile_dim_replicate"),
            _ => {
                let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.word()).collect();
                write!(f, " last_tile_dims={{{}}}", kinds.join(", "))
            }
        }
    }
}
