//! [`TileText`]: iters on named axes, as the tile layouts of TVM's TIRx have them.

use std::fmt;

use crate::scanner::{Fault, Scanner};

/// The axis of a term that names none: a device's memory.
pub const MEMORY: &str = "m";

/// The most iters of a list, and the most offsets.
const MOST: usize = 64;

/// A number on an axis, with its bytes in the text.
///
/// ```
/// use tilewright_scan::{Fault, Scanner, TileText};
/// let tile = TileText::read(&mut Scanner::<Fault>::new("S[4:1] + 3 @ Axis.laneid"))?;
/// assert_eq!((tile.offset[0].value, &*tile.offset[0].axis, tile.offset[0].span), (3, "laneid", (9, 24)));
/// # Ok::<(), Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The number.
    pub value: i64,
    /// The name of the axis; [`MEMORY`] if the text names none.
    pub axis: String,
    /// The byte range of both.
    pub span: (usize, usize),
}

/// An extent with a stride on an axis.
///
/// ```
/// use tilewright_scan::{Fault, Scanner, TileText};
/// let tile = TileText::read(&mut Scanner::<Fault>::new("S[(8, 4):(1 @ x, 1)]"))?;
/// assert_eq!((tile.shard[0].extent, tile.shard[0].stride, &*tile.shard[0].axis), (8, 1, "x"));
/// # Ok::<(), Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iter {
    /// The number of its indices, 1 or more.
    pub extent: u64,
    /// The distance on the axis between two neighbouring indices.
    pub stride: i64,
    /// The name of the axis.
    pub axis: String,
    /// The byte range of the list that it is in.
    pub span: (usize, usize),
}

impl Iter {
    /// Returns an iter that no text has.
    ///
    /// ```
    /// use tilewright_scan::{Iter, MEMORY, TileText};
    /// let tile = TileText { shard: vec![Iter::new(8, -1, MEMORY)], ..TileText::default() };
    /// assert_eq!(tile.to_string(), "T.S[8:-1]");
    /// ```
    pub fn new(extent: u64, stride: i64, axis: &str) -> Iter {
        Iter { extent, stride, axis: axis.to_owned(), span: (0, 0) }
    }
}

/// Shards, replicas and offsets of a tile layout.
///
/// ```text
/// tile  = ["T."] "TileLayout" "(" sum ")" | sum
/// sum   = ["T."] "S" iters { "+" ( ["T."] "R" iters | term | "(" term { "+" term } ")" ) }
/// iters = "[" list [":" list] "]"                          extents, and strides; without strides row-major
/// list  = term | "(" term { "," term } [","] ")" | term { "," term }
/// term  = INT [ "@" ["Axis."] NAME ]                       without an axis, the axis `m` of a device's memory
/// ```
///
/// Law: a text that is printed reads as the same tile. Source: apache-tvm 0.27, `tvm.tirx.layout`.
///
/// ```
/// use tilewright_scan::{Fault, Scanner, TileText};
/// let tile = TileText::read(&mut Scanner::<Fault>::new("TileLayout(S[2, 3] + R[2:1@x] + 5)"))?;
/// assert_eq!(tile.to_string(), "T.S[(2, 3):(3, 1)] + T.R[2:1 @ Axis.x] + 5");
/// # Ok::<(), Fault>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileText {
    /// Iters that split the row-major index of an array, the last fastest.
    pub shard: Vec<Iter>,
    /// Iters that hold each element once for each of their indices.
    pub replica: Vec<Iter>,
    /// Numbers that are added to every place, one for each axis.
    pub offset: Vec<Term>,
}

impl TileText {
    /// Reads a tile layout.
    ///
    /// # Errors
    /// Returns a fault if the text is none, an extent is 0 or has an axis, or a number exceeds 64 bits.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner, TileText};
    /// let fault = TileText::read(&mut Scanner::<Fault>::new("S[(4, 2):(1)]")).unwrap_err();
    /// assert_eq!(fault.to_string(), "1 stride for 2 extents");
    /// ```
    pub fn read<E: From<Fault>>(scanner: &mut Scanner<'_, E>) -> Result<TileText, E> {
        let bracket = eat_script(scanner, "TileLayout");
        if bracket {
            scanner.expect("(")?;
        }
        let tile = TileText::sum(scanner)?;
        if bracket {
            scanner.expect(")")?;
        }
        Ok(tile)
    }

    fn sum<E: From<Fault>>(scanner: &mut Scanner<'_, E>) -> Result<TileText, E> {
        if !eat_script(scanner, "S") {
            return Err(scanner.expected("shards, such as `S[(8, 4):(4, 1)]`"));
        }
        let mut tile = TileText { shard: iters(scanner)?, ..TileText::default() };
        while scanner.eat("+") {
            if eat_script(scanner, "R") {
                tile.replica.extend(iters(scanner)?);
            } else if scanner.eat("(") {
                tile.add(term(scanner)?)?;
                while scanner.eat("+") {
                    tile.add(term(scanner)?)?;
                }
                scanner.expect(")")?;
            } else {
                tile.add(term(scanner)?)?;
            }
        }
        Ok(tile)
    }

    fn add(&mut self, term: Term) -> Result<(), Fault> {
        if let Some(own) = self.offset.iter_mut().find(|own| own.axis == term.axis) {
            let sum = own.value.checked_add(term.value);
            own.value =
                sum.ok_or_else(|| Fault::new(term.span, "the offsets of an axis exceed 64 bits"))?;
            return Ok(());
        }
        if self.offset.len() == MOST {
            return Err(Fault::new(term.span, format!("offsets on more than {MOST} axes")));
        }
        self.offset.push(term);
        Ok(())
    }

    /// Returns the extents of the shards.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner, TileText};
    /// assert_eq!(TileText::read(&mut Scanner::<Fault>::new("S[8, 4]"))?.extents(), [8, 4]);
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn extents(&self) -> Vec<u64> {
        self.shard.iter().map(|iter| iter.extent).collect()
    }

    /// Returns the axes of shards, replicas and offsets apart from [`MEMORY`], each once, in order.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner, TileText};
    /// let tile = TileText::read(&mut Scanner::<Fault>::new("S[(8, 4):(1 @ x, 1)] + R[2:1 @ y]"))?;
    /// assert_eq!(tile.axes(), ["x", "y"]);
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn axes(&self) -> Vec<&str> {
        let iters = self.shard.iter().chain(&self.replica).map(|iter| &*iter.axis);
        let mut axes: Vec<&str> = Vec::new();
        for axis in iters.chain(self.offset.iter().map(|term| &*term.axis)) {
            if axis != MEMORY && !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        axes
    }

    /// Returns the shards of each of `dims` that have more than one index, the last fastest; parts of a shard where a dim ends
    /// within it. `None` where a shard and a dim cut across each other, or the shards count more or fewer elements.
    ///
    /// ```
    /// use tilewright_scan::{Fault, Scanner, TileText};
    /// let tile = TileText::read(&mut Scanner::<Fault>::new("S[(2, 6):(6, 1)]"))?;
    /// let extents = |dims: &[u64]| -> Option<Vec<Vec<u64>>> {
    ///     let groups = tile.groups(dims)?;
    ///     Some(groups.iter().map(|group| group.iter().map(|iter| iter.extent).collect()).collect())
    /// };
    /// assert_eq!(extents(&[4, 3]), Some(vec![vec![2, 2], vec![3]]));
    /// assert_eq!(extents(&[3, 4]), None);
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn groups(&self, dims: &[u64]) -> Option<Vec<Vec<Iter>>> {
        let mut left = self.shard.clone();
        let groups: Option<Vec<Vec<Iter>>> =
            dims.iter().rev().map(|extent| split_off(&mut left, *extent)).collect();
        let all = left.iter().all(|iter| iter.extent == 1);
        groups.filter(|_| all).map(|groups| groups.into_iter().rev().collect())
    }
}

/// Takes shards of `extent` indices from the end, and splits the last if it is longer.
fn split_off(left: &mut Vec<Iter>, extent: u64) -> Option<Vec<Iter>> {
    let (mut need, mut group) = (extent, Vec::new());
    while need > 1 {
        let mut last = left.pop()?;
        if last.extent > need && last.extent.is_multiple_of(need) {
            let stride = last.stride.checked_mul(i64::try_from(need).ok()?)?;
            left.push(Iter { extent: last.extent / need, stride, ..last.clone() });
            last.extent = need;
        } else if last.extent == 0 || !need.is_multiple_of(last.extent) {
            return None;
        }
        need /= last.extent;
        if last.extent > 1 {
            group.push(last);
        }
    }
    group.reverse();
    (need == 1).then_some(group)
}

/// Reads a name of TVM's script if it comes next, with its `T.` if it has it; returns whether it did.
///
/// ```
/// use tilewright_scan::{Fault, Scanner, eat_script};
/// let mut scanner = Scanner::<Fault>::new(" T.S[8]");
/// assert!(!eat_script(&mut scanner, "R") && eat_script(&mut scanner, "S"));
/// assert_eq!(scanner.rest(), "[8]");
/// ```
pub fn eat_script<E: From<Fault>>(scanner: &mut Scanner<'_, E>, name: &str) -> bool {
    let mut ahead = Scanner::<Fault>::new(scanner.rest());
    ahead.eat("T.");
    let found = ahead.eat(name);
    if found {
        scanner.advance(ahead.at());
    }
    found
}

fn iters<E: From<Fault>>(scanner: &mut Scanner<'_, E>) -> Result<Vec<Iter>, E> {
    scanner.expect("[")?;
    scanner.skip();
    let from = scanner.at();
    let extents = list(scanner)?;
    let strides = if scanner.eat(":") { Some(list(scanner)?) } else { None };
    let span = (from, scanner.at());
    scanner.expect("]")?;
    let mut own = Vec::new();
    for Term { value, axis, span } in extents {
        match u64::try_from(value) {
            Ok(extent) if extent > 0 && axis == MEMORY => own.push(extent),
            Ok(_) | Err(_) => {
                return Err(Fault::new(span, "extents are 1 or more, without an axis").into());
            }
        }
    }
    let strides = match strides {
        Some(strides) => strides,
        None => row_major(&own, span)?,
    };
    if strides.len() != own.len() {
        let count = strides.len();
        let plural = if count == 1 { "" } else { "s" };
        let said = format!("{count} stride{plural} for {} extents", own.len());
        return Err(Fault::new(span, said).into());
    }
    let iter = |(extent, Term { value: stride, axis, .. })| Iter { extent, stride, axis, span };
    Ok(own.into_iter().zip(strides).map(iter).collect())
}

/// Returns the strides of a row-major array.
fn row_major(extents: &[u64], span: (usize, usize)) -> Result<Vec<Term>, Fault> {
    let (mut stride, mut strides) = (Some(1i64), Vec::new());
    for extent in extents.iter().rev() {
        let value = stride.ok_or_else(|| Fault::new(span, "strides exceed 64 bits"))?;
        strides.push(Term { value, axis: MEMORY.to_owned(), span });
        stride = i64::try_from(*extent).ok().and_then(|extent| value.checked_mul(extent));
    }
    strides.reverse();
    Ok(strides)
}

/// Reads terms with commas, in brackets or without.
fn list<E: From<Fault>>(scanner: &mut Scanner<'_, E>) -> Result<Vec<Term>, E> {
    let bracket = scanner.eat("(");
    let mut terms = vec![term(scanner)?];
    while scanner.eat(",") {
        if bracket && scanner.peek() == Some(')') {
            break;
        }
        if terms.len() == MOST {
            return Err(scanner.expected(&format!("at most {MOST} iters")));
        }
        terms.push(term(scanner)?);
    }
    if bracket {
        scanner.expect(")")?;
    }
    Ok(terms)
}

fn term<E: From<Fault>>(scanner: &mut Scanner<'_, E>) -> Result<Term, E> {
    scanner.skip();
    let from = scanner.at();
    let value = scanner.signed()?;
    let mut axis = MEMORY;
    if scanner.eat("@") {
        let _ = scanner.eat("Axis.");
        scanner.skip();
        axis = scanner.take(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if axis.is_empty() || axis.len() > 256 {
            return Err(scanner.expected("the name of an axis, of at most 256 bytes"));
        }
    }
    Ok(Term { value, axis: axis.to_owned(), span: (from, scanner.at()) })
}

/// Prints `4 @ Axis.laneid`; a number of [`MEMORY`] without its axis.
fn said(value: i64, axis: &str) -> String {
    if axis == MEMORY { value.to_string() } else { format!("{value} @ Axis.{axis}") }
}

fn bracketed(items: &[String]) -> String {
    match items {
        [one] => one.clone(),
        _ => format!("({})", items.join(", ")),
    }
}

fn listed(iters: &[Iter]) -> String {
    let extents: Vec<String> = iters.iter().map(|iter| iter.extent.to_string()).collect();
    let strides: Vec<String> = iters.iter().map(|iter| said(iter.stride, &iter.axis)).collect();
    format!("{}:{}", bracketed(&extents), bracketed(&strides))
}

/// Prints `T.S[…] + T.R[…] + 5`, as TVM does.
impl fmt::Display for TileText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T.S[{}]", listed(&self.shard))?;
        if !self.replica.is_empty() {
            write!(f, " + T.R[{}]", listed(&self.replica))?;
        }
        let terms: Vec<String> =
            self.offset.iter().map(|term| said(term.value, &term.axis)).collect();
        match &terms[..] {
            [] => Ok(()),
            [one] => write!(f, " + {one}"),
            all => write!(f, " + ({})", all.join(" + ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TileText, Fault> {
        let mut scanner = Scanner::new(text);
        let tile = TileText::read(&mut scanner)?;
        scanner.end("the tile").map(|()| tile)
    }

    #[test]
    fn printed_tiles_read_as_the_same() {
        for text in [
            "S[8]",
            "T.TileLayout(T.S[(8, 4):(1 @ Axis.laneid, -4)] + T.R[2:3 @ w] + T.R[5] + 3)",
            "S[8, 4] + (3 @ x + 4 + 5 @ x)",
            "S[(1,):(0)]",
        ] {
            let tile = read(text).unwrap();
            let printed = tile.to_string();
            assert_eq!(read(&printed).unwrap().to_string(), printed);
            assert_eq!(read(&printed).unwrap().extents(), tile.extents());
        }
    }

    #[test]
    fn faults_name_their_bytes() {
        for (text, span) in [
            ("S[0]", (2, 3)),
            ("S[(2, 3 @ x)]", (6, 11)),
            ("S[(2, 3):1]", (2, 10)),
            ("S[2, 4294967296, 4294967296, 2]", (2, 30)),
            ("S[2] + 9223372036854775807 + 1", (29, 30)),
        ] {
            assert_eq!(read(text).unwrap_err().span, span, "{text}");
        }
        assert!(read(&format!("S[{}]", vec!["1"; MOST + 1].join(","))).is_err());
    }
}
