//! A checkpoint with a file for each position of a mesh. Rules state which box of an array each file holds. The parent
//! opens a source this way if the request has rules for it.
//!
//! ```text
//! files     are sorted by the numbers in their names: file n is that of position n
//! extents   if they are not stated: along each dim the sum over the parts into which the rule cuts it
//! offsets   if a file states the offset of its box (`DCP_SHARDING_INFO`), it must equal that of the rule
//! ```
//!
//! A tensor that a file does not contain is a part of unknown length. It is refused, unless another position holds the
//! same part or the extents are stated: then the pieces cover the array without it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
    sync::Arc,
};

use tilewright_core::{Counted, Dtype, TensorLayout};
use tilewright_sharded::{Mesh, Piece, Sharded};

use crate::{
    Error, Rules,
    plan::array::{LocalArrays, ReshardedArray, StoredArray, shared},
    request::{extents::Stated, rules::Placed},
    source::{
        beside::ArrayNumbers,
        checkpoint::{Checkpoint, listed, same, settled},
        lists::{ListedTensor, Lists, PLACES, shown},
        numbers,
    },
};

/// Opens the checkpoint of a folder with a file for each position of a mesh.
pub(crate) fn ranks(path: &Path, rules: &Rules, stated: Stated<'_>) -> Result<Checkpoint, Error> {
    let (paths, mesh) = (listed(path)?, rules.mesh()?);
    if paths.is_empty() {
        tilewright_files::inner::check_folder(path).map_err(Error::of_request)?;
    }
    numbers::check(path, &paths, false)?;
    if paths.len() as u64 != mesh.count() {
        let (folder, files, count) =
            (path.display(), Counted(paths.len() as u64, "file"), mesh.count());
        let said = format!("{folder} holds {files} *.safetensors; {mesh} has {count}");
        return Err(Error::mismatch(format!("{said} positions and needs one file for each")));
    }
    let mut lists = Lists::read(&paths)?;
    let recorded = check_recorded(rules, &lists)?;
    let stated = stated.with_files(path, std::mem::take(&mut lists.extents))?;
    let named: Vec<_> = lists.names().collect();
    rules.check(&named.iter().map(|(name, _)| &**name).collect::<Vec<_>>())?;
    let matcher = rules.matcher()?;
    let files: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    let ranks = Ranks { rules, stated: &stated, mesh: &mesh, files: &files, recorded };
    let mut alike = HashMap::<_, Ranked>::new();
    let (mut arrays, mut assumed) = (Vec::new(), ArrayNumbers::default());
    for (name, found) in &named {
        let Some(first) = found.iter().flatten().next() else { continue };
        let one = |entry: &&ListedTensor| (Arc::as_ptr(&entry.laid), entry.start.clone());
        let held: Vec<_> = found.iter().map(|entry| entry.as_ref().map(one)).collect();
        let key = (matcher.of(name), held, stated.of(name));
        let ranked = shared(&mut alike, key, || {
            let held = lists.of.iter().map(|list| found.get(*list).copied().flatten());
            ranks.held(first, &held.collect::<Vec<_>>())
        })?;
        if ranked.assumed {
            assumed.push(arrays.len());
        }
        let Ranked { extents, held, .. } = ranked;
        arrays.push(ReshardedArray::of(first.name.clone(), &first.laid, extents, held));
    }
    stated.check(&arrays.iter().map(|array| &*array.name).collect::<Vec<_>>())?;
    drop((named, alike));
    let mut checkpoint = settled(path, lists, arrays)?;
    checkpoint.beside.assumed = assumed;
    Ok(checkpoint)
}

/// An array with its pieces at the positions.
#[derive(Clone)]
struct Ranked {
    extents: Vec<u64>,
    /// True if no source states the extents, and the shards are parts.
    assumed: bool,
    held: Arc<LocalArrays>,
}

/// Returns whether all files record these rules. It is an error if one of them does and another records others: they are parts
/// of different checkpoints, even if their shapes are equal.
fn check_recorded(rules: &Rules, lists: &Lists) -> Result<bool, Error> {
    let own = |text: &Option<String>| text.as_deref().map(Rules::of_record).transpose();
    let recorded = lists.rules.iter().map(own).collect::<Result<Vec<_>, _>>()?;
    let file = |is: &dyn Fn(&Rules) -> bool| {
        let list = recorded.iter().position(|own| own.as_ref().is_some_and(is))?;
        let at = lists.of.iter().position(|of| *of == list)?;
        Some(shown(&lists.files.get(at)?.path))
    };
    match (file(&|own| own == rules), file(&|own| own != rules)) {
        (Some(first), Some(second)) => Err(Error::mismatch(format!(
            "{first} and {second} record different rules: they are shards of different checkpoints"
        ))),
        _ => Ok(recorded.iter().all(|own| own.as_ref() == Some(rules))),
    }
}

/// The facts about all arrays: the rules, the stated extents, the mesh, and the names of its files.
struct Ranks<'a> {
    rules: &'a Rules,
    stated: &'a Stated<'a>,
    mesh: &'a Mesh,
    files: &'a [String],
    /// True if the files record the rules: each then holds its part of every tensor.
    recorded: bool,
}

impl Ranks<'_> {
    /// Returns the pieces of an array from its local arrays at the positions.
    fn held(&self, first: &ListedTensor, found: &[Option<&ListedTensor>]) -> Result<Ranked, Error> {
        let name = &*first.name;
        // Elements that are not split are complete at every position.
        if first.laid.packed && first.laid.unit().is_none() {
            return self.held_of(first, found, first.laid.dims().to_vec(), false);
        }
        if let Some(extents) = self.rules.extents(name)? {
            return self.held_of(first, found, extents, false);
        }
        match self.stated.of(name) {
            Some(extents) => self
                .held_of(first, found, extents.to_vec(), false)
                .map_err(|error| self.stated.blame(name, error)),
            None => {
                let (extents, assumed) = self.extents(first, found)?;
                self.held_of(first, found, extents, assumed)
            }
        }
    }

    /// Returns the pieces of an array of these extents.
    fn held_of(
        &self,
        first: &ListedTensor,
        found: &[Option<&ListedTensor>],
        extents: Vec<u64>,
        assumed: bool,
    ) -> Result<Ranked, Error> {
        let name = &*first.name;
        let extents = match first.laid.unit() {
            Some(unit) => unit.in_bytes(&extents).ok_or_else(|| {
                let count = unit.elements;
                Error::mismatch(format!(
                    "tensor {name:?}: extents {extents:?} cut a block of {count} elements"
                ))
            })?,
            None => extents,
        };
        if !self.rules.names(name)? {
            let said = format!("tensor {name:?}: no rule gives its sharding over the files");
            return Err(Error::usage(format!(
                "{said}; if each file has all of it, use the rule P()"
            )));
        }
        let placed = self.rules.of_array(&ReshardedArray::of(
            first.name.clone(),
            &first.laid,
            extents.clone(),
            Arc::default(),
        ))?;
        let (mut held, mut numbers) = (LocalArrays::default(), vec![None; found.len()]);
        for ((position, entry), number) in found.iter().enumerate().zip(&mut numbers) {
            let (Some(entry), Some(file)) = (entry, self.files.get(position)) else {
                let mut own = placed.pieces.iter();
                if self.recorded && own.any(|piece| piece.source == position as u64) {
                    return Err(self.absent(position, found));
                }
                continue;
            };
            same(first, entry).map_err(|error| error.about(file))?;
            fits(entry, &extents, position as u64, &placed).map_err(|error| error.about(file))?;
            *number = Some(held.stored.len() as u64);
            held.stored.push(StoredArray { file: position, laid: entry.laid.clone() });
        }
        for piece in placed.pieces {
            let at = usize::try_from(piece.source).ok();
            if let Some(source) = at.and_then(|at| numbers.get(at).copied().flatten()) {
                held.pieces.push(Piece { source, ..piece });
            }
        }
        let whole = TensorLayout::row_major(&extents);
        let _ = whole.map_err(|error| Error::from(error).about(&format!("tensor {name:?}")))?;
        let file = |file: usize| self.files.get(file).cloned().unwrap_or_default();
        let held = Arc::new(held.settle(name, &extents, &file)?);
        Ok(Ranked { extents, assumed, held })
    }

    /// Returns the extents of an array with these shards: along each dim the sum over the parts into which it is cut.
    /// The flag is true if any dim is cut: shards that are copies of the whole state its extents.
    fn extents(
        &self,
        first: &ListedTensor,
        found: &[Option<&ListedTensor>],
    ) -> Result<(Vec<u64>, bool), Error> {
        let rank = first.laid.shape().len();
        let trial = self.trial(&first.name, first.laid.dtype, rank, found)?;
        let cutting: Vec<BTreeSet<usize>> = (0..rank).map(|dim| cutting(&trial, dim)).collect();
        let size = |axis: &usize| self.mesh.sizes().get(*axis).copied().unwrap_or(1);
        let is_cut = |axes: &BTreeSet<usize>| axes.iter().any(|axis| size(axis) > 1);
        let extents = cutting.iter().enumerate().map(|(dim, axes)| self.extent(dim, axes, found));
        Ok((extents.collect::<Result<_, _>>()?, cutting.iter().any(is_cut)))
    }

    /// Returns the sharding of larger extents, which every number of parts divides: it shows which axes cut a dim.
    fn trial(
        &self,
        name: &str,
        dtype: Dtype,
        rank: usize,
        found: &[Option<&ListedTensor>],
    ) -> Result<Sharded, Error> {
        let most =
            |dim: usize| found.iter().flatten().filter_map(|it| it.laid.shape().get(dim)).max();
        let trial: Vec<u64> = (0..rank)
            .map(|dim| most(dim).copied().unwrap_or(0).max(1).saturating_mul(self.mesh.count()))
            .collect();
        self.rules.sharded(name, &trial, Some(dtype)).map_err(|error| {
            // These extents are only a trial: an error about them may not apply to the real ones.
            match error.kind() {
                "mismatch" => {
                    Error::new(error.kind(), format!("{error}; {}", self.hint(name, rank)))
                }
                _ => error,
            }
        })
    }

    /// Returns the extent of a dim that these axes cut. Positions that differ along other axes hold the same part of
    /// it.
    fn extent(
        &self,
        dim: usize,
        axes: &BTreeSet<usize>,
        found: &[Option<&ListedTensor>],
    ) -> Result<u64, Error> {
        let mut parts = BTreeMap::<Vec<u64>, (usize, Option<&ListedTensor>)>::new();
        for (position, entry) in found.iter().enumerate() {
            let coord = self.mesh.coord(position as u64);
            let part = axes.iter().filter_map(|axis| coord.get(*axis).copied()).collect();
            let (_, known) = parts.entry(part).or_insert((position, None));
            *known = known.or(*entry);
        }
        parts.into_values().try_fold(0u64, |sum, (position, entry)| {
            let Some(entry) = entry else { return Err(self.absent(position, found)) };
            Ok(sum.saturating_add(entry.laid.shape().get(dim).copied().unwrap_or(0)))
        })
    }

    /// Returns the error for a position whose file lacks its part of a tensor.
    fn absent(&self, position: usize, found: &[Option<&ListedTensor>]) -> Error {
        let name = found.iter().flatten().next().map_or("", |entry| &*entry.name);
        let file = self.files.get(position).map_or("", String::as_str);
        let said = format!("{file} does not hold tensor {name:?}, but its rule assigns it a part");
        let rank = found.iter().flatten().next().map_or(0, |entry| entry.laid.dims().len());
        let hint = self.hint(name, rank);
        Error::mismatch(format!("{said}; if that part is empty, {hint}"))
    }

    /// Describes how to state the extents of a tensor of this rank.
    fn hint(&self, name: &str, rank: usize) -> String {
        let dims = (0..rank).map(|dim| format!("D{dim}")).collect::<Vec<_>>().join(",");
        let rule = self.rules.said(name).unwrap_or("RULE");
        format!("write the extents of the whole tensor before the rule: [{dims}] @ {rule}")
    }
}

/// Returns an error unless the tensor of a file is the shard of its position: its extents, and its offset if the file
/// states it.
fn fits(
    entry: &ListedTensor,
    extents: &[u64],
    position: u64,
    placed: &Placed,
) -> Result<(), Error> {
    let own = usize::try_from(position).ok().and_then(|position| placed.stored.get(position));
    let (name, stored) = (&entry.name, own.cloned().unwrap_or_default());
    if entry.laid.dims() != stored {
        let said = format!("tensor {name:?} has {:?}", entry.laid.dims());
        return Err(Error::mismatch(format!(
            "{said}; by its rule that shard of {extents:?} has {stored:?}"
        )));
    }
    let Some(start) = entry.start.as_ref().filter(|_| !stored.contains(&0)) else { return Ok(()) };
    let mut own = placed.pieces.iter().filter(|piece| piece.source == position);
    let said = format!("tensor {name:?} begins at {start:?} by {PLACES}");
    match (own.next(), own.next()) {
        (Some(piece), None) if piece.start == *start => Ok(()),
        (Some(piece), None) => {
            let own = &piece.start;
            Err(Error::mismatch(format!("{said}; by its rule the shard begins at {own:?}")))
        }
        _ => Err(Error::mismatch(format!("{said}; by its rule the shard is not a box"))),
    }
}

/// Returns the axes of the mesh that cut a dim.
fn cutting(sharded: &Sharded, dim: usize) -> BTreeSet<usize> {
    let splits = sharded.splits().iter().filter(|split| split.dim == dim);
    splits.flat_map(|split| split.parts.iter().map(|part| part.axis)).collect()
}
