//! Compares the arrays of two files or folders, whatever their layouts, and describes differences.

use std::collections::{HashMap, HashSet};

use tilewright_fingerprint::{Fingerprint, Key};
use tilewright_transfer::{Limits, Quiet};

use crate::{
    Alike, Apart, Collection, DEFAULT_MEMORY, Difference, Divergence, Error, Input, Tensor,
    Verdict, Watch,
    assemble::recorded::{DifferentTensor, Remade, Unlike},
    verify::{compare::Unequal, fingerprint::Data},
};

/// The largest number of other names that are given for one tensor.
const NAMED: usize = 3;

/// The largest number of dims for which all orders are tried: 24 of them.
const TRIED: usize = 4;

/// Returns the tensors that differ between two files or folders, sorted by name; empty if they hold the same arrays.
///
/// Arrays are compared by their fingerprints under the key. If these differ, the fingerprints of smaller and smaller parts are
/// compared. If each side has only one tensor and a file of one array does not name it, the names are not compared.
///
/// # Errors
/// Those of [`Collection::fingerprints`].
///
/// ```
/// use tilewright_files::{Collection, Key, same_data};
/// let path = |name| format!("{}/../../corpus/data/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
/// let open = |name| Collection::open(path(name)).unwrap();
/// let (one, other) = (open("tiny_cnn_f32"), open("tiny_llm_mixed"));
/// assert_eq!(same_data(&one, &one, &Key::default(), &()).unwrap(), []);
/// assert!(!same_data(&one, &other, &Key::default(), &()).unwrap().is_empty());
/// ```
pub fn same_data(
    a: &Collection,
    b: &Collection,
    key: &Key,
    watch: &dyn Watch,
) -> Result<Vec<Divergence>, Error> {
    if let Some(found) = by_recipe(a, b, watch)? {
        return Ok(found);
    }
    watch.total(a.bytes().saturating_add(b.bytes()));
    let both = Both { a, b, key, quiet: Quiet(watch) };
    let (mut found, mut prints) = (Vec::new(), Prints::default());
    for name in a.names() {
        let Some((one, other)) = both.tensors(name)? else {
            found.push(Divergence::missing(name, false));
            continue;
        };
        let own = [one.print(key, watch)?, other.print(key, watch)?];
        prints.insert((false, name.to_owned()), own[0]);
        prints.insert((true, both.counterpart(name).to_owned()), own[1]);
        if let Some(apart) = both.apart(&one, &other, own)? {
            let alike = both.alike(&one, &other, own[0])?;
            found.push(Divergence { name: name.into(), apart, alike });
        }
    }
    let only = b.names().filter(|name| !both.is_paired(name));
    found.extend(only.map(|name| Divergence::missing(name, true)));
    both.name_others(&mut found, &mut prints, watch)?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    a.check(watch)?;
    b.check(watch)?;
    Ok(found)
}

/// Compares the arrays of a result with those of its original by their fingerprints. Layouts and metadata are not compared.
///
/// # Errors
/// Those of [`Collection::fingerprints`].
///
/// ```
/// use tilewright_files::{Collection, Verdict, verify_data};
/// let path = |name| format!("{}/../../corpus/data/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
/// let open = |name| Collection::open(path(name)).unwrap();
/// let (one, other) = (open("tiny_cnn_f32"), open("tiny_llm_mixed"));
/// assert!(matches!(verify_data(&one, &one, &()).unwrap(), Verdict::Same { bytes: 1.., .. }));
/// let Verdict::Differs(found) = verify_data(&one, &other, &()).unwrap() else { panic!() };
/// assert_eq!(found.to_string(), "tensor \"0.bias\": is only in the result");
/// ```
pub fn verify_data(
    out: &Collection,
    against: &Collection,
    watch: &dyn Watch,
) -> Result<Verdict, Error> {
    let (dropped, found): (Vec<_>, Vec<_>) = same_data(out, against, &Key::default(), watch)?
        .into_iter()
        .partition(|one| matches!(one.apart, Apart::Dropped { first: true, .. }));
    let Some(Divergence { name, apart, .. }) = found.into_iter().next() else {
        let dropped = dropped.into_iter().map(|one| one.name).collect();
        return Ok(Verdict::Same { bytes: out.bytes(), dropped, changed: vec![] });
    };
    let text = match apart {
        Apart::Missing { first: true } => "is missing in the result".to_owned(),
        Apart::Missing { first: false } => "is only in the result".to_owned(),
        Apart::Element { coord, a, b } => format!("has {a:#x} at {coord:?}, expected {b:#x}"),
        other => other.to_string(),
    };
    Ok(Verdict::Differs(Difference::Said { tensor: Some(name), text }))
}

/// Returns the tensors that differ by the recipe that one side records, if the recipe makes that side from the other. They have
/// the names of the side that records the recipe, except those that it drops.
fn by_recipe(
    a: &Collection,
    b: &Collection,
    watch: &dyn Watch,
) -> Result<Option<Vec<Divergence>>, Error> {
    let (Some(one), Some(other)) = (a.alone(), b.alone()) else { return Ok(None) };
    for (second, out, against) in [(true, other, one), (false, one, other)] {
        let Some(Ok(remade)) = Remade::of(out, against) else { continue };
        let (made, from) = if second { (b, a) } else { (a, b) };
        let meant = |name: &str, sources: &[&str]| {
            made.get(name).is_some() || sources.iter().any(|name| from.get(name).is_some())
        };
        watch.total(made.bytes());
        let limits = Limits::new(watch, DEFAULT_MEMORY, 0);
        let found = remade.differences(&meant, usize::MAX, &limits)?;
        let found = found.into_iter().map(|found| divergence(found, second));
        let dropped = remade.dropped().filter(|(name, _)| from.get(name).is_some());
        let dropped = dropped.map(|(name, whole)| {
            let apart = Apart::Dropped { first: !second, whole };
            Divergence { name: name.into(), apart, alike: vec![] }
        });
        let mut found: Vec<Divergence> = found.chain(dropped).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        a.check(watch)?;
        b.check(watch)?;
        return Ok(Some(found));
    }
    Ok(None)
}

/// Returns the difference of a tensor that a recipe makes; `second` is true if the second side records the recipe.
fn divergence(DifferentTensor { tensor, unlike }: DifferentTensor, second: bool) -> Divergence {
    fn sides<T>(is: T, was: T, second: bool) -> (T, T) {
        if second { (was, is) } else { (is, was) }
    }
    let apart = match unlike {
        Unlike::Missing => Apart::Missing { first: !second },
        Unlike::More => Apart::Missing { first: second },
        Unlike::Dtype { is, was } => {
            let (a, b) = sides(is, was, second);
            Apart::Dtype { a, b }
        }
        Unlike::Dims { is, was } => {
            let (a, b) = sides(is, was, second);
            Apart::Dims { a, b }
        }
        Unlike::Element(Unequal { coord, is, was, .. }) => {
            let (a, b) = sides(is, was, second);
            Apart::Element { coord, a, b }
        }
    };
    Divergence { name: tensor, apart, alike: Vec::new() }
}

/// Element type and dims, which equal tensors share.
type Facts<'a> = (&'a str, &'a [u64]);

fn facts(tensor: &Tensor) -> Facts<'_> {
    (tensor.dtype().name(), tensor.dims())
}

/// Names by element type and dims, and by fingerprint.
type Bearers<'a> = HashMap<Facts<'a>, HashMap<Fingerprint, Names<'a>>>;

/// The first names of a fingerprint, in order: one more than are shown, because one may be the tensor's own name.
#[derive(Default)]
struct Names<'a> {
    all: Vec<&'a str>,
    /// The names of tensors that differ, or that only one side has.
    open: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn add(&mut self, name: &'a str, open: bool) {
        for names in [Some(&mut self.all), open.then_some(&mut self.open)].into_iter().flatten() {
            if names.len() <= NAMED {
                names.push(name);
            }
        }
    }
}

/// Fingerprints by name; those of the second side have `true`.
type Prints = HashMap<(bool, String), Fingerprint>;

struct Both<'a> {
    a: &'a Collection,
    b: &'a Collection,
    key: &'a Key,
    quiet: Quiet<'a>,
}

/// A tensor and its data.
struct TensorSide<'a> {
    tensor: &'a Tensor,
    data: Data<'a>,
}

impl TensorSide<'_> {
    fn print(&self, key: &Key, watch: &dyn Watch) -> Result<Fingerprint, Error> {
        self.data.fingerprint(key, watch)
    }
}

impl<'a> Both<'a> {
    /// Returns the second side's name of a tensor of the first: the same name, unless both have only one tensor and a file does
    /// not name it.
    fn counterpart<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.alone().unwrap_or(name)
    }

    /// Returns the name of the second side's only tensor, if it is compared with the only one of the first.
    fn alone(&self) -> Option<&'a str> {
        let ((_, a), (other, b)) = (self.a.only_name()?, self.b.only_name()?);
        (a || b).then_some(other)
    }

    /// Returns whether the first side has the tensor that the second has under this name.
    fn is_paired(&self, name: &str) -> bool {
        self.alone() == Some(name) || self.a.get(name).is_some()
    }

    /// Returns a tensor of either side.
    fn tensor(&self, second: bool, name: &str) -> Option<(&'a Input, &'a Tensor)> {
        if second { self.b.get(name) } else { self.a.get(name) }
    }

    /// Adds the names under which the other side has the tensors that differ or are missing. For a tensor that differs, only
    /// names of other unmatched tensors count; a missing one may equal any tensor, as tied tensors do.
    fn name_others(
        &self,
        found: &mut [Divergence],
        prints: &mut Prints,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let open: HashSet<String> = found.iter().map(|one| one.name.clone()).collect();
        let mut wanted = [HashMap::new(), HashMap::new()];
        for divergence in &*found {
            let (second, missing) = divergence.side();
            if let Some((_, tensor)) = self.tensor(second, &divergence.name) {
                *wanted[usize::from(!second)].entry(facts(tensor)).or_insert(false) |= missing;
            }
        }
        let mut named = [Bearers::new(), Bearers::new()];
        for (side, wanted) in wanted.iter().enumerate() {
            named[side] = self.bearers(side == 1, (wanted, &open), prints, watch)?;
        }
        for divergence in found {
            let (second, missing) = divergence.side();
            let Some((_, tensor)) = self.tensor(second, &divergence.name) else { continue };
            // If the other side has none of this kind, nothing is read.
            let Some(own) = named[usize::from(!second)].get(&facts(tensor)) else { continue };
            let print = self.print(second, &divergence.name, prints, watch)?;
            let Some(names) = own.get(&print) else { continue };
            let names = if missing { &names.all } else { &names.open };
            let others = names.iter().filter(|name| **name != divergence.name);
            let alike = if second { Alike::NamedFirst } else { Alike::Named };
            let room = NAMED.saturating_sub(divergence.alike.len());
            divergence.alike.extend(others.take(room).map(|name| alike((*name).into())));
        }
        Ok(())
    }

    /// Returns the names of one side by fingerprint: of each wanted kind of tensors the open ones, or all if `wanted` has `true`
    /// for the kind.
    fn bearers(
        &self,
        second: bool,
        (wanted, open): (&HashMap<Facts<'a>, bool>, &HashSet<String>),
        prints: &mut Prints,
        watch: &dyn Watch,
    ) -> Result<Bearers<'a>, Error> {
        let (side, mut all) = (if second { self.b } else { self.a }, Bearers::new());
        for name in side.names() {
            let Some((_, tensor)) = side.get(name) else { continue };
            let (facts, open) = (facts(tensor), open.contains(name));
            if wanted.get(&facts).is_some_and(|every| *every || open) {
                let print = self.print(second, name, prints, watch)?;
                all.entry(facts).or_default().entry(print).or_default().add(name, open);
            }
        }
        Ok(all)
    }

    /// Returns the fingerprint of a tensor of either side, which is computed once.
    fn print(
        &self,
        second: bool,
        name: &str,
        prints: &mut Prints,
        watch: &dyn Watch,
    ) -> Result<Fingerprint, Error> {
        let key = (second, name.to_owned());
        if let Some(print) = prints.get(&key) {
            return Ok(*print);
        }
        let Some((input, tensor)) = self.tensor(second, name) else {
            return Ok(Fingerprint::default());
        };
        let print = Data::of(input, tensor)?.fingerprint(self.key, watch)?;
        prints.insert(key, print);
        Ok(print)
    }

    fn tensors(&self, name: &str) -> Result<Option<(TensorSide<'a>, TensorSide<'a>)>, Error> {
        let other = self.b.get(self.counterpart(name));
        let (Some((from, one)), Some((to, other))) = (self.a.get(name), other) else {
            return Ok(None);
        };
        let one = TensorSide { tensor: one, data: Data::of(from, one)? };
        Ok(Some((one, TensorSide { tensor: other, data: Data::of(to, other)? })))
    }

    /// Returns the difference between two tensors.
    fn apart(
        &self,
        one: &TensorSide<'_>,
        other: &TensorSide<'_>,
        prints: [Fingerprint; 2],
    ) -> Result<Option<Apart>, Error> {
        let (a, b) = (one.tensor, other.tensor);
        if a.dtype() != b.dtype() {
            let [a, b] = [a, b].map(|tensor| tensor.dtype().to_string());
            return Ok(Some(Apart::Dtype { a, b }));
        }
        if a.dims() != b.dims() {
            let [a, b] = [a, b].map(|tensor| tensor.dims().to_vec());
            return Ok(Some(Apart::Dims { a, b }));
        }
        if prints[0] == prints[1] {
            return Ok(None);
        }
        let part = one.data.held.layout().extents().iter().map(|extent| 0..*extent).collect();
        let coord = one.data.first_apart(&other.data, part, self.key, self.quiet.0)?;
        let (a, b) = (one.data.element(&coord)?, other.data.element(&coord)?);
        Ok(Some(Apart::Element { coord: one.data.of_elements(&coord), a, b }))
    }

    /// Returns the changes that would make the second tensor equal to the first.
    fn alike(
        &self,
        one: &TensorSide<'_>,
        other: &TensorSide<'_>,
        wanted: Fingerprint,
    ) -> Result<Vec<Alike>, Error> {
        let (a, b) = (one.tensor, other.tensor);
        let mut alike = Vec::new();
        if a.dtype() != b.dtype() || one.data.held.bits != other.data.held.bits {
            return Ok(alike);
        }
        let (from, to) = (one.data.held.layout().extents(), other.data.held.layout().extents());
        for dims in orders(from, to) {
            if other.data.dims_as(&dims).fingerprint(self.key, &self.quiet)? == wanted {
                alike.push(Alike::Transposed(dims));
            }
        }
        let wide = other.data.held.bits > 8 && other.data.held.together() == 1;
        if from == to && wide && other.data.swapped().fingerprint(self.key, &self.quiet)? == wanted
        {
            alike.push(Alike::Swapped);
        }
        Ok(alike)
    }
}

/// Returns the orders of dims, except the identity, in which the extents of `to` are those of `from`: all orders of few dims; of
/// more dims those that swap two or reverse all.
fn orders(from: &[u64], to: &[u64]) -> Vec<Vec<usize>> {
    let rank = from.len();
    if rank != to.len() {
        return vec![];
    }
    let own: Vec<usize> = (0..rank).collect();
    let mut all =
        if rank <= TRIED { permuted(rank) } else { vec![own.iter().rev().copied().collect()] };
    if rank > TRIED {
        let pairs = (0..rank).flat_map(|i| (i + 1..rank).map(move |j| (i, j)));
        all.extend(pairs.map(|(i, j)| {
            let mut order = own.clone();
            order.swap(i, j);
            order
        }));
    }
    all.retain(|order| {
        *order != own && order.iter().zip(to).all(|(dim, extent)| from[*dim] == *extent)
    });
    all
}

/// Returns all orders of some dims.
fn permuted(rank: usize) -> Vec<Vec<usize>> {
    (0..rank).fold(vec![vec![]], |all, _| {
        let longer = |order: Vec<usize>| {
            let rest: Vec<usize> = (0..rank).filter(|dim| !order.contains(dim)).collect();
            rest.into_iter().map(move |dim| [&order[..], &[dim]].concat())
        };
        all.into_iter().flat_map(longer).collect()
    })
}
