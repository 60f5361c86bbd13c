//! Compares a result with its source by the recipe that the result records. Verification uses it.
//!
//! Law: every element of the result is compared with the element of the source that the recipe names, and every element of
//! padding with its fill. The plan that made the result is not used: a piece is summed in the source and in the result, over the
//! digits that both share; pieces with different sums are halved until one element is left. Rows of layouts that digits do not
//! describe are made by a plan, and are compared with the storage first.
//!
//! The pieces are made as for the result. So the first, the last and some other elements of each part are looked up by
//! `TensorLayout::offset` of both layouts first: see [`offsets`].

pub(crate) mod cells;
pub(crate) mod equal;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use tilewright_recipe::{Assembly, Made, Origin, RECIPE_KEY, Recipe, Sizes};
use tilewright_transfer::{Limits, part_of};

use crate::{
    Difference, Error, Input, Reading, Request, Tensor, Verdict, Watch,
    assemble::{
        packaging,
        pieces::{
            Give, Piece,
            exact::Exact,
            made::{self, Known},
            offsets,
            whole::Whole,
        },
        recorded::cells::Sides,
        stored::{Stored, Take, moved::Rooms},
    },
    container::Format,
    convert::budget::{Budget, Buffer},
    error,
    open::{folder, globs::Pattern, open_with, origin::Made as _, place::Place, source::Source},
    verify::compare,
};

/// The largest number of bytes of a buffer.
const ROOM: u64 = 1 << 20;

/// A result and its source, with the recipe from the source to the result.
pub(crate) struct Remade<'a> {
    out: &'a Input,
    against: &'a Input,
    forth: Cow<'a, Assembly>,
}

/// The difference between a tensor of a result and the one that its recipe makes.
#[derive(Clone, Debug)]
pub(crate) enum Unlike {
    /// The result does not have it.
    Missing,
    /// The recipe does not make it.
    More,
    Dtype {
        is: String,
        was: String,
    },
    Dims {
        is: Vec<u64>,
        was: Vec<u64>,
    },
    Element(Cell),
}

/// An element that differs: its coordinate in the result, its places on both sides, and both values.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) coord: Vec<u64>,
    to: u64,
    from: u64,
    pub(crate) is: u128,
    pub(crate) was: u128,
}

/// The buffers of a comparing thread.
struct Buffers<'a> {
    rooms: [Buffer; 2],
    made: &'a Rooms,
    budget: &'a Budget,
    /// The largest number of bytes of the buffers for comparing rows with storage.
    most: u64,
    /// The tensors of the source whose rows were already compared with their storage.
    read: &'a Mutex<HashSet<Take>>,
}

impl Buffers<'_> {
    /// Returns true if a tensor is read by rows, and its rows were not compared before.
    fn is_new(&self, take: Take) -> bool {
        take.rows && self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(take)
    }

    /// Compares the rows of a tensor with its storage.
    fn check(&self, (input, tensor): (&Input, &Tensor), stored: &Stored<'_>) -> Result<(), Error> {
        let limits = part_of(self.budget, self.most)?;
        stored.misread((input, tensor), &limits)?.map_or(Ok(()), |found| {
            Err(error::corrupt(&input.path, format!("its rows are wrong: {found}")))
        })
    }
}

/// A tensor that differs.
#[derive(Clone, Debug)]
pub(crate) struct DifferentTensor {
    pub(crate) tensor: String,
    pub(crate) unlike: Unlike,
}

impl From<DifferentTensor> for Difference {
    fn from(DifferentTensor { tensor, unlike }: DifferentTensor) -> Difference {
        let said = |text: String| Difference::Said { tensor: Some(tensor.clone()), text };
        match unlike {
            Unlike::Missing => said("it is missing, but the recorded recipe makes it".into()),
            Unlike::More => said("the recorded recipe does not make it".into()),
            Unlike::Dtype { is, was } => {
                said(format!("elements are {is}, and the recipe makes {was}"))
            }
            Unlike::Dims { is, was } => {
                said(format!("dims are {is:?}, and the recipe makes {was:?}"))
            }
            Unlike::Element(Cell { coord, to, from, is, was }) => {
                let (offset, original) = (to as i64, from as i64);
                Difference::Element { tensor, coord, offset, original, is, was }
            }
        }
    }
}

/// Returns the recipe that an input records.
pub(crate) fn text(input: &Input) -> Option<&str> {
    input.metadata().find(|(key, _)| *key == RECIPE_KEY).map(|(_, text)| text)
}

/// Returns the reason why the recipe that an input records does not fit its own tensors; the outer `None` means that it records
/// no recipe.
pub(crate) fn unfit(input: &Input) -> Option<Option<String>> {
    let back = Recipe::parse(text(input)?);
    let solved = back.and_then(|back| back.solve(&input.recipe_tensors(), None, &Sizes::new()));
    Some(solved.err().map(|errors| {
        format!("the tensors are not those of the recipe that it records: {}", errors.first())
    }))
}

/// Compares a result with the recipe that it records; `None` if it records none for this source.
pub(crate) fn verdict(
    (place, format, source): (&Place, &'static Format, &Source),
    beside: &dyn Fn(&str) -> PathBuf,
    (against, request): (&Input, &Request),
    watch: &dyn Watch,
) -> Result<Option<Verdict>, Error> {
    if request.asks() || format.array.is_some() {
        return Ok(None);
    }
    let again = Source::open(source.path())?;
    // A file that cannot be opened here is reported when it is opened as the result of a conversion.
    match open_with(format, again, &Reading::default(), Some(beside), watch) {
        Ok(out) => compared((place, &out, against), request, watch),
        Err(_) => Ok(None),
    }
}

fn compared(
    (place, out, against): (&Place, &Input, &Input),
    request: &Request,
    watch: &dyn Watch,
) -> Result<Option<Verdict>, Error> {
    let remade = match Remade::of(out, against) {
        None => return Ok(None),
        // The recipe made the result from another file, such as this one's result, and may have restored these tensors. Those that
        // it could not restore are missing, which the comparison of tensors reports.
        Some(Err(_)) if has_names_of(against, out) => return Ok(None),
        Some(Err(said)) => return Ok(Some(Verdict::Differs(Difference::said(said)))),
        Some(Ok(remade)) => remade,
    };
    let names = || out.tensors().iter().chain(against.tensors()).map(Tensor::name);
    // The recipe states every tensor, so the selected ones and all others are compared.
    request.only.iter().try_for_each(|glob| Pattern::matching(glob, names()).map(drop))?;
    watch.total(out.tensors().iter().map(|tensor| tensor.len).sum());
    let tensors = against.tensors().len() + out.tensors().len();
    let limits = &request.limits(watch, (against.tensors().len(), tensors))?;
    let found = remade.differences(&|_, _| true, 1, limits)?;
    against.check_unchanged()?;
    out.check_unchanged()?;
    let bytes = out.tensors().iter().map(|it| it.len).sum();
    if let Some(found) = found.into_iter().next() {
        return Ok(Some(Verdict::Differs(found.into())));
    }
    if let Some(found) = remade.unpadded(limits)? {
        return Ok(Some(Verdict::Differs(found)));
    }
    let config = &remade.forth.config;
    let go_along =
        |companions: &mut _| packaging::configure(against, companions, config).map(|_| ());
    Ok(Some(match folder::difference(place, against, &go_along, limits)? {
        Some(said) => Verdict::Differs(Difference::said(said)),
        None => {
            let dropped = remade.dropped().map(|(name, _)| name.to_owned());
            Verdict::Same { bytes, dropped: dropped.collect() }
        }
    }))
}

/// Returns whether a file has all tensors of another, by name.
fn has_names_of(input: &Input, other: &Input) -> bool {
    let names: HashSet<&str> = input.names().collect();
    other.names().all(|name| names.contains(name))
}

impl<'a> Remade<'a> {
    /// Returns `None` if the result records no recipe, or the same one as the source: then it was made in another way. The inner
    /// error is the reason why the recorded recipe did not make the result from this source.
    pub(crate) fn of(out: &'a Input, against: &'a Input) -> Option<Result<Remade<'a>, String>> {
        let text = text(out).filter(|own| text(against) != Some(*own))?;
        let back = Recipe::parse(text);
        let forth = back.and_then(|back| {
            back.inverse().rounding().solve(&against.recipe_tensors(), None, &Sizes::new())
        });
        let made = forth.map(|forth| Remade { out, against, forth: Cow::Owned(forth) });
        Some(made.map_err(|errors| {
            format!(
                "the recipe that {} records was not made for {}: {}",
                out.path().display(),
                against.path().display(),
                errors.first()
            )
        }))
    }

    /// Returns the comparison of a result with the source and the assembly from which it was made.
    pub(crate) fn new(out: &'a Input, against: &'a Input, forth: &'a Assembly) -> Remade<'a> {
        Remade { out, against, forth: Cow::Borrowed(forth) }
    }

    /// Returns the tensors of the source that the recipe drops, by name; `false` where it keeps a part.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = (&'a str, bool)> {
        let origins = self.forth.made.iter().flat_map(|made| &made.parts).map(|part| part.origin);
        let used: HashSet<usize> = origins
            .filter_map(|origin| match origin {
                Origin::Source { tensor, .. } => Some(tensor),
                Origin::Fill(_) => None,
            })
            .collect();
        let tensors = self.against.tensors();
        let name = move |place: &usize| Some((tensors.get(*place)?.name(), !used.contains(place)));
        self.forth.dropped.iter().filter_map(name)
    }

    /// Returns the first difference in elements or padding.
    pub(crate) fn difference(&self, limits: &Limits<'_>) -> Result<Option<Difference>, Error> {
        let all = |_: &str, _: &[&str]| true;
        match self.differences(&all, 1, limits)?.into_iter().next() {
            Some(found) => Ok(Some(found.into())),
            None => self.unpadded(limits),
        }
    }

    /// Returns the first padding that the recipe does not write.
    fn unpadded(&self, limits: &Limits<'_>) -> Result<Option<Difference>, Error> {
        for tensor in self.padded() {
            limits.watch().check_cancelled()?;
            if let Some(found) = compare::padding(self.out, tensor, limits)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the tensors that differ, at most `most`; `meant` selects tensors by name and by the names of their sources.
    pub(crate) fn differences(
        &self,
        meant: &(dyn Fn(&str, &[&str]) -> bool + Sync),
        most: usize,
        limits: &Limits<'_>,
    ) -> Result<Vec<DifferentTensor>, Error> {
        let known = made::known(self.against, &self.forth);
        let own: HashMap<&str, &Tensor> = self
            .out
            .tensors()
            .iter()
            .chain(self.out.tied().map(|(_, it)| it))
            .map(|it| (it.name(), it))
            .collect();
        let tied: HashMap<&str, &Tensor> = self.out.tied().collect();
        let made: HashSet<&str> = self.forth.made.iter().map(|made| made.name.as_str()).collect();
        let more = own.keys().filter(|name| !made.contains(*name) && meant(name, &[]));
        let more =
            more.map(|name| DifferentTensor { tensor: (*name).to_owned(), unlike: Unlike::More });
        let found = Mutex::new(more.collect::<Vec<DifferentTensor>>());
        let full = || found.lock().unwrap_or_else(PoisonError::into_inner).len() >= most;
        let workers = limits.members(self.out.tensors().iter().map(|tensor| tensor.len).sum());
        let room = (limits.budget().limit() / workers as u64 / 8).clamp(16, ROOM);
        let made = self.forth.made.iter().filter(|made| meant(&made.name, &self.sources(made)));
        let tensor = |made: &Made| {
            let name = made.name.as_str();
            own.get(name).or_else(|| tied.get(name)).copied()
        };
        let size = |made: &&Made| tensor(made).map_or(0, |tensor| tensor.len);
        // A quarter of the memory is for both sides, a quarter for rows, and half to compare these with their storage.
        let (read, limit) = (Mutex::new(HashSet::new()), limits.budget().limit());
        let (budget, most) = (limits.budget(), limit / 2 / workers as u64);
        let made_rows = Rooms::within(budget.clone(), (limit / 4, workers));
        let join = || {
            let rooms = [budget.buffer(room)?, budget.buffer(room)?];
            let mut buffers = Buffers { rooms, made: &made_rows, budget, most, read: &read };
            let (known, found, full, tensor) = (&known, &found, &full, &tensor);
            Ok(move |made: &&Made| {
                if full() {
                    return Ok(Some(()));
                }
                let unlike = match tensor(made) {
                    None => Some(Unlike::Missing),
                    Some(tensor) => self.unlike(made, tensor, known, &mut buffers)?,
                };
                if let Some(unlike) = unlike {
                    let one = DifferentTensor { tensor: made.name.clone(), unlike };
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(one);
                }
                Ok(None)
            })
        };
        limits.first(workers, made, (size, 1, 1), join)?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by(|a, b| a.tensor.cmp(&b.tensor));
        Ok(found)
    }

    /// Returns the tensors of the result that the recipe makes, and whose padding it writes; copied tensors have the padding of
    /// the source.
    fn padded(&self) -> Vec<&'a Tensor> {
        let known = made::known(self.against, &self.forth);
        let passes = |made: &Made| {
            made::unchanged(made, &known).is_some_and(|(_, own)| {
                let kept = |out: &Tensor| out.held.order == own.held.order;
                !own.held.order.is_big() || self.out.tensor(&made.name).is_some_and(kept)
            })
        };
        let made = self.forth.made.iter().filter(|made| !passes(made));
        let names: HashSet<&str> = made.map(|made| made.name.as_str()).collect();
        self.out.tensors().iter().filter(|tensor| names.contains(tensor.name())).collect()
    }

    /// Returns the names of the sources of a tensor.
    fn sources(&self, made: &Made) -> Vec<&'a str> {
        let number = |origin: Origin| match origin {
            Origin::Source { tensor, .. } => self.against.tensors().get(tensor).map(Tensor::name),
            Origin::Fill(_) => None,
        };
        made.parts.iter().filter_map(|part| number(part.origin)).collect()
    }

    /// Returns the difference between a tensor of the result and the one that the recipe makes.
    fn unlike(
        &self,
        made: &Made,
        tensor: &Tensor,
        known: &Known<'_>,
        buffers: &mut Buffers<'_>,
    ) -> Result<Option<Unlike>, Error> {
        if tensor.dims() != made.extents {
            let (is, was) = (tensor.dims().to_vec(), made.extents.clone());
            return Ok(Some(Unlike::Dims { is, was }));
        }
        if tensor.dtype() != made.dtype {
            let (is, was) = (tensor.dtype().to_string(), made.dtype.to_string());
            return Ok(Some(Unlike::Dtype { is, was }));
        }
        let whole = self.whole(made, tensor, known)?;
        let by_rows = whole.layout.is_some();
        let out = Stored::of(self.out, tensor, by_rows, buffers.made)?;
        if by_rows {
            buffers.check((self.out, tensor), &out)?;
        }
        for piece in &whole.pieces {
            if piece.nest.size() == 0 {
                continue;
            }
            if let Some(cell) = self.piece(piece, (tensor, &out, whole.width), buffers)? {
                return Ok(Some(Unlike::Element(cell)));
            }
        }
        Ok(None)
    }

    /// Returns the pieces of a tensor, from the storage of the source to that of the result.
    fn whole(&self, made: &Made, tensor: &Tensor, known: &Known<'_>) -> Result<Whole, Error> {
        if let Some((number, own)) = made::unchanged(made, known) {
            let stored = own.len == tensor.len && own.storage == tensor.storage;
            let turned = own.held.order != tensor.held.order;
            if (own.refusal.is_some() || own.held.tables().is_some() && !turned) && stored {
                return Ok(made::copied(&made.name, number, own).1);
            }
        }
        let wrong = |said: String| {
            error::unsupported(&self.out.path, format!("tensor {:?} {said}", made.name))
        };
        let whole = made::whole(&made.parts, &tensor.held, known).map_err(wrong)?;
        offsets::check(&whole, &made.parts, (&tensor.held, known)).map_err(wrong)?;
        Ok(whole)
    }

    /// Returns the first element of a piece that differs.
    fn piece(
        &self,
        piece: &Piece,
        (tensor, out, width): (&Tensor, &Stored<'_>, u64),
        buffers: &mut Buffers<'_>,
    ) -> Result<Option<Cell>, Error> {
        let made = |bytes: &mut [u8], from: u64| out.read(bytes, from);
        let source = match piece.give {
            Give::Tensor(take, _) => {
                let tensor = self.against.tensors().get(take.tensor);
                let of = |it| {
                    Ok::<_, Error>((it, Stored::of(self.against, it, take.rows, buffers.made)?))
                };
                let found = tensor.map(of).transpose()?;
                if let Some((tensor, stored)) = &found
                    && buffers.is_new(take)
                {
                    buffers.check((self.against, tensor), stored)?;
                }
                found.map(|(_, stored)| stored)
            }
            Give::Fill(_) => None,
        };
        let [one, other] = &mut buffers.rooms;
        let given = |bytes: &mut [u8], from: u64| match (&piece.give, &source) {
            (_, Some(source)) => source.read(bytes, from),
            (Give::Fill(unit), None) => {
                bytes.iter_mut().zip(unit.iter().cycle()).for_each(|(to, from)| *to = *from);
                Ok(())
            }
            (Give::Tensor(..), None) => Err(error::usage("a tensor without a place")),
        };
        let sides = Sides { from: &given, to: &made, width, piece };
        let found = match (piece.exact, &source) {
            (Exact::Same, Some(_)) => match sides.summed(one)? {
                None => return Ok(None),
                Some(nest) => sides.first(&nest, [one, other])?,
            },
            (Exact::Same | Exact::Widen(_) | Exact::Narrow(_) | Exact::Round, _) => {
                sides.first(&piece.nest, [one, other])?
            }
        };
        let held = out.held(&tensor.held)?;
        let bits = u64::from(held.bits).max(1);
        let at =
            |byte: u64| held.coord_at(byte).unwrap_or_else(|| vec![byte.saturating_mul(8) / bits]);
        let cell = |(from, to, is, was)| Cell { coord: at(to * width), from, to, is, was };
        Ok(found.map(cell))
    }
}
