//! [`Rules`]: a mesh, and shardings for tensors by their names.

use serde::{Deserialize, Serialize};
use tilewright_core::Dtype;
use tilewright_files::inner::Pattern;
use tilewright_sharded::{Mesh, Piece, Pieces, Sharded, Text};

use crate::{
    Error,
    plan::array::{ReshardedArray, Unit},
    source::lists::{RULES, uncut},
};

/// The rule of a tensor, and the extents in it.
type RuleOfTensor<'a> = (&'a str, Option<Vec<u64>>);

/// A mesh and shardings for tensors by their names: the first pattern that matches is used, and a tensor that no
/// pattern matches is whole on every position.
///
/// A sharding is a text in any notation of `tilewright_sharded`. If shards do not imply the extents of the whole
/// tensor, they precede it: `[50257,64] @ megatron:vocab(pad=128)`.
///
/// ```
/// use tilewright_reshard::Rules;
/// let rules = Rules::new("dp=2,tp=4")?.rule("*_proj.weight", "P(\"tp\", \"dp\")")?;
/// assert_eq!(rules.sharded("q_proj.weight", &[64, 8], None)?.shard(1)?.to_string(), "1 (dp=0,tp=1)  [16,32) × [0,4)");
/// assert_eq!(rules.sharded("norm", &[64], None)?.shard(1)?.to_string(), "1 (dp=0,tp=1)  [0,64)");
/// # Ok::<(), tilewright_reshard::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    mesh: String,
    rules: Vec<(String, String)>,
}

impl Rules {
    /// Makes rules over a mesh: `a=2,b=4`, or sizes alone, `2,4`.
    ///
    /// # Errors
    /// As the parser of meshes.
    ///
    /// ```
    /// use tilewright_reshard::Rules;
    /// assert_eq!(Rules::new("tp=8").unwrap().count().unwrap(), 8);
    /// assert_eq!(Rules::new("tp=").unwrap_err().kind(), "parse");
    /// assert!(Rules::new("").unwrap_err().to_string().starts_with("the mesh is an empty text; give its axes"));
    /// ```
    pub fn new(mesh: &str) -> Result<Rules, Error> {
        let rules = Rules { mesh: mesh.trim().to_owned(), rules: Vec::new() };
        if rules.mesh.is_empty() {
            let legal = "give its axes, such as dp=2,tp=4, or the number of its positions";
            return Err(Error::usage(format!("the mesh is an empty text; {legal}")));
        }
        let _ = rules.mesh().map_err(|error| error.about(&format!("the mesh {mesh:?}")))?;
        Ok(rules)
    }

    /// Adds a rule after the existing ones.
    ///
    /// # Errors
    /// `usage` for a pattern that cannot be read.
    ///
    /// ```
    /// use tilewright_reshard::Rules;
    /// let rules = Rules::new("tp=8").unwrap();
    /// assert!(rules.clone().rule("*.weight", "column").is_ok());
    /// assert!(rules.rule("[", "column").unwrap_err().is_usage());
    /// ```
    pub fn rule(mut self, glob: &str, sharding: &str) -> Result<Rules, Error> {
        pattern(glob)?;
        self.rules.push((glob.to_owned(), sharding.trim().to_owned()));
        Ok(self)
    }

    /// Returns the number of positions of the mesh.
    ///
    /// # Errors
    /// As [`Rules::new`].
    ///
    /// ```
    /// assert_eq!(tilewright_reshard::Rules::new("2,4").unwrap().count().unwrap(), 8);
    /// ```
    pub fn count(&self) -> Result<u64, Error> {
        Ok(self.mesh()?.count())
    }

    /// Returns the sharding of a tensor of this name.
    ///
    /// # Errors
    /// The errors of the notation, with the tensor and the rule; `mismatch` for a rule over another number of
    /// positions, or with other extents.
    ///
    /// ```
    /// use tilewright_reshard::Rules;
    /// let rules = Rules::new("tp=2").unwrap().rule("w", "P(\"dp\")").unwrap();
    /// let error = rules.sharded("w", &[8], None).unwrap_err();
    /// let said = "tensor \"w\", rule P(\"dp\"): the mesh lacks the axis `dp`; it has tp";
    /// assert_eq!(error.to_string(), said);
    /// let laid = Rules::new("tp=2").unwrap().rule("w", "column / zN").unwrap();
    /// let said = laid.sharded("w", &[8], None).unwrap_err().to_string();
    /// assert!(said.contains("leave out ` / zN`"), "{said}");
    /// ```
    pub fn sharded(
        &self,
        name: &str,
        extents: &[u64],
        dtype: Option<Dtype>,
    ) -> Result<Sharded, Error> {
        let mesh = self.mesh()?;
        let Some((rule, said)) = self.of(name)? else {
            return Sharded::new(extents, dtype, mesh, Vec::new());
        };
        // The span of a parser counts in a text that was put together here.
        let subject = format!("tensor {name:?}, rule {rule}");
        let about = |error: Error| error.without_span().about(&subject);
        if said.as_ref().is_some_and(|said| said != extents) {
            let error = Error::mismatch(format!("the tensor has extents {extents:?}"));
            return Err(about(error));
        }
        let sharding = rule.split_once(" @ ").map_or(rule, |(_, rest)| rest);
        let own = sharding.starts_with("mesh(");
        let mesh = if own { String::new() } else { format!("mesh({}) ", self.mesh) };
        let array = format!("{}{extents:?}", dtype.map_or("", Dtype::name));
        let text = format!("{array} @ {mesh}{sharding}");
        let Text { sharded, shard } = Text::parse(&text).map_err(about)?;
        if let Some(laid) = shard.and_then(|(from, to)| text.get(from..to)) {
            let one = "a rule is a sharding alone, and all shards have one layout, given beside the rules";
            return Err(about(Error::usage(format!("{one}; leave out ` / {laid}`"))));
        }
        let (count, rank) = (sharded.mesh().count(), self.count()?);
        match count == rank {
            true => Ok(sharded),
            false => {
                Err(about(Error::mismatch(format!("{count} positions, but the mesh has {rank}"))))
            }
        }
    }

    /// Returns the text that files with these tensors record. It has a rule for every tensor.
    pub(crate) fn record(&self, arrays: &[ReshardedArray]) -> Result<String, Error> {
        let (matcher, mut rules) = (self.matcher()?, self.clone());
        if arrays.iter().any(|array| matcher.of(&array.name).is_none()) {
            rules = rules.rule("*", &format!("[{}]", self.nothing()))?;
        }
        serde_json::to_string(&rules).map_err(|error| Error::usage(error.to_string()))
    }

    /// Reads the text that a file records.
    pub(crate) fn of_record(text: &str) -> Result<Rules, Error> {
        let wrong = |said: String| Error::new("corrupt", format!("{RULES}: {said}"));
        let rules: Rules = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let made = Rules::new(&rules.mesh);
        let all = rules.rules.iter();
        let made = all.fold(made, |made, (glob, rule)| made.and_then(|made| made.rule(glob, rule)));
        made.map_err(|error| wrong(error.to_string()))
    }

    /// Returns the pieces of an array in its own units. Elements narrower than a byte must be whole on every position,
    /// and blocks must not be cut.
    pub(crate) fn of_array(&self, array: &ReshardedArray) -> Result<Placed, Error> {
        let sharded = self.sharded(&array.name, array.shape(), Some(array.dtype))?;
        let about =
            |why: &str| Error::new("unsupported", format!("tensor {:?}: {why}", array.name));
        if array.packed.is_none() {
            return Placed::of(&sharded, &array.extents);
        }
        // A padded shard may have the whole's extents, and hold a part or nothing.
        let pieces = Pieces::of(&sharded)?.pieces;
        let wholes = pieces.iter().filter(|piece| piece.extents == array.shape()).count() as u64;
        if wholes == sharded.mesh().count() {
            return Placed::of(
                &Sharded::new(&array.extents, None, self.mesh()?, Vec::new())?,
                &array.extents,
            );
        }
        let Some(unit) = array.unit() else {
            return Err(about(&uncut(array.dtype.bits().unwrap_or(0))));
        };
        let placed = Placed::of(&sharded, array.shape())?;
        placed.in_units(unit).map_err(|coord| {
            let (rule, name) = (self.said(&array.name).unwrap_or_default(), array.dtype.name());
            let said = format!("rule {rule} cuts a block of {name} at {coord:?}: {} elements of the last dim move together", unit.elements);
            about(&format!("{said}; cut another dim, cut at multiples of {}, or keep the tensor whole", unit.elements))
        })
    }

    /// Returns the rule of a tensor as it was written; empty if no pattern matches.
    pub(crate) fn said(&self, name: &str) -> Result<&str, Error> {
        Ok(self.of(name)?.map_or("", |(rule, _)| rule))
    }

    /// Returns the extents in the rule of a tensor, if any.
    pub(crate) fn extents(&self, name: &str) -> Result<Option<Vec<u64>>, Error> {
        Ok(self.of(name)?.and_then(|(_, extents)| extents))
    }

    /// Returns whether a rule matches a tensor; a mesh with one position needs none.
    pub(crate) fn names(&self, name: &str) -> Result<bool, Error> {
        Ok(self.count()? == 1 || self.of(name)?.is_some())
    }

    /// Returns the rule of a tensor, and the extents in it.
    fn of(&self, name: &str) -> Result<Option<RuleOfTensor<'_>>, Error> {
        let matched = self.matcher()?.of(name).and_then(|number| self.rules.get(number));
        let Some((_, rule)) = matched else { return Ok(None) };
        let Some((array, _)) = rule.split_once(" @ ") else { return Ok(Some((rule, None))) };
        let dims = serde_json::from_str::<Vec<u64>>(array.trim());
        let dims = dims.map_err(|_| {
            Error::usage(format!("rule {rule}: expected extents such as [37,6] before ` @ `"))
        })?;
        Ok(Some((rule, Some(dims))))
    }

    /// Returns the patterns, compiled once for many names.
    pub(crate) fn matcher(&self) -> Result<Matcher, Error> {
        Matcher::new(self.rules.iter().map(|(glob, _)| &**glob))
    }

    /// Returns, for each rule, the first array that it applies to.
    pub(crate) fn firsts<'a>(
        &self,
        arrays: &'a [ReshardedArray],
    ) -> Result<Vec<&'a ReshardedArray>, Error> {
        let (matcher, mut firsts) = (self.matcher()?, vec![None; self.rules.len()]);
        for array in arrays {
            let first = matcher.of(&array.name).and_then(|number| firsts.get_mut(number));
            first.map(|first| first.get_or_insert(array));
        }
        Ok(firsts.into_iter().flatten().collect())
    }

    /// Returns the mesh.
    pub(crate) fn mesh(&self) -> Result<Mesh, Error> {
        let any = Sharded::parse(&format!("[1] @ mesh({}) [{}]", self.mesh, self.nothing()));
        // The span counts in the text that was put together here.
        Ok(any.map_err(Error::without_span)?.mesh().clone())
    }

    /// Returns placements that cut nothing.
    fn nothing(&self) -> String {
        let axes = self.mesh.split(';').next().unwrap_or_default().split(',').count();
        vec!["Replicate()"; axes].join(", ")
    }

    /// Returns an error for a pattern that none of `names` matches.
    pub(crate) fn check(&self, names: &[&str]) -> Result<(), Error> {
        self.rules.iter().try_for_each(|(glob, _)| check(glob, names))
    }
}

/// The pieces of an array at the positions of a mesh.
pub(crate) struct Placed {
    /// The extents of the local array at each position.
    pub(crate) stored: Vec<Vec<u64>>,
    pub(crate) pieces: Vec<Piece>,
}

impl Placed {
    fn of(sharded: &Sharded, extents: &[u64]) -> Result<Placed, Error> {
        let pieces = Pieces { extents: extents.to_vec(), ..Pieces::of(sharded)? };
        let stored = sharded.shards().map(|shard| shard.stored().to_vec()).collect();
        Ok(Placed { stored, pieces: pieces.pieces })
    }

    /// Returns an error unless the pieces cover an array of these extents without an overlap.
    pub(crate) fn check(&self, name: &str, extents: &[u64]) -> Result<(), Error> {
        let pieces = Pieces { extents: extents.to_vec(), pieces: self.pieces.clone() };
        pieces.cover(name).map(|_| ())
    }

    /// Returns the pieces with the last dim in bytes of units; the error is the coordinate at which a unit is cut.
    fn in_units(mut self, unit: Unit) -> Result<Placed, Vec<u64>> {
        let scaled = |at: &mut Vec<u64>, coord: &[u64]| {
            *at = unit.in_bytes(at).ok_or_else(|| coord.to_vec())?;
            Ok::<(), Vec<u64>>(())
        };
        for piece in &mut self.pieces {
            let (start, mut ends) = (piece.start.clone(), piece.start.clone());
            let lengths = ends.last_mut().zip(piece.extents.last());
            lengths.into_iter().for_each(|(at, length)| *at += length);
            scaled(&mut piece.start, &start)?;
            scaled(&mut piece.extents, &ends)?;
            scaled(&mut piece.local, &start)?;
        }
        for stored in &mut self.stored {
            let whole = stored.clone();
            scaled(stored, &whole)?;
        }
        Ok(self)
    }
}

/// The compiled patterns of rules: finds the rule of a name.
pub(crate) struct Matcher(Vec<Pattern>);

impl Matcher {
    /// Compiles the patterns.
    pub(crate) fn new<'a>(globs: impl Iterator<Item = &'a str>) -> Result<Matcher, Error> {
        Ok(Matcher(globs.map(pattern).collect::<Result<_, Error>>()?))
    }

    /// Returns the number of the first pattern that matches.
    pub(crate) fn of(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|pattern| pattern.matches(name))
    }
}

/// Returns an error for a pattern that none of `names` matches.
pub(crate) fn check(glob: &str, names: &[&str]) -> Result<(), Error> {
    pattern(glob)?.check(names.iter().copied())
}

/// Compiles a pattern such as `*.weight`; a `*` also matches dots and slashes.
pub(crate) fn pattern(text: &str) -> Result<Pattern, Error> {
    Pattern::new(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sharding is read within a text that nobody typed.
    #[test]
    fn errors_of_shardings_point_at_no_byte() {
        let rules = Rules::new("dp=2, tp=2").unwrap();
        let wrong = ["P(dp)", "P(\"no\")", "[Shard(0), Shard(", "mesh(dp=2) [Shard(9)]"];
        let errors = wrong.map(|rule| {
            let rules = rules.clone().rule("w", rule);
            rules.and_then(|rules| rules.sharded("w", &[8, 8], None)).unwrap_err()
        });
        let meshes = ["", "tp", "tp=0", "tp=2; dp"].map(|mesh| Rules::new(mesh).unwrap_err());
        for error in errors.into_iter().chain(meshes) {
            assert_eq!(error.span(), None, "{error}");
        }
    }
}
