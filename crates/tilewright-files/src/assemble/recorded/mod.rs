//! Compares a result with its source by the recipe that the result records. Verification uses it.
//!
//! Law: every element of the result is compared with the element of the source that the recipe names, and every element of
//! padding with its fill; then the conditions of the recipe on the source are checked, such as copies. Neither the plan that made the result nor the pieces that it was made of are used: each part of the recipe
//! becomes [views](crate::verify::view), whose places are those of [`TensorLayout::offset`] on both sides. The difference that is
//! returned is that of the first tensor in the order of the file, and in it the first element in the order of coordinates. Then the
//! stored layouts of a result that was just made are compared with those that the recipe states; data are the same in any layout.
//!
//! [`TensorLayout::offset`]: tilewright_core::TensorLayout::offset

pub(crate) mod equal;
pub(crate) mod search;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use tilewright_core::{Fill, Remedy, unravel_index};
use tilewright_notation::Spec;
use tilewright_recipe::{Assembly, Made, Origin, RECIPE_KEY, Recipe, Sizes};
use tilewright_transfer::{Limits, Quiet};

use crate::{
    Difference, Error, Input, Reading, Request, Tensor, Verdict, Watch,
    assemble::{
        apart,
        packaging::{self, Packaging},
        pieces::made::{self, Known},
        recorded::{
            equal::Equality,
            search::{Constant, PartSide, Search},
        },
    },
    commit::temporary,
    container::Format,
    convert::request::check_memory,
    error,
    layout::element_layout::ElementLayout,
    open::{
        folder, globs::Pattern, open_with, origin::Origin as Bytes, place::Place, source::Source,
    },
    verify::{
        compare::{self, Unequal, side},
        metadata::{self, Metadata},
        opened::{Expected, open_result},
        patch::comparing,
    },
};

/// A result and its source, with the recipe from the source to the result.
pub(crate) struct Remade<'a> {
    out: &'a Input,
    against: &'a Input,
    forth: Cow<'a, Assembly>,
    /// True if the recipe has just made the result. Later its tensors may have been converted to other layouts.
    is_made: bool,
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
    /// An element differs; its coordinate is that in the result.
    Element(Unequal),
}

/// Selects tensors of a result by their names and the names of the tensors that they are made of.
pub(crate) type Meant<'m> = &'m dyn Fn(&str, &[&str]) -> bool;

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
            Unlike::Element(Unequal { coord, offset, original, is, was, .. }) => {
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
    if format.array.is_some() {
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
    check_request(request, (out, "it records"), against)?;
    let judged = remade.judged(place, (request, &Packaging::default()), watch)?;
    Ok(Some(judged))
}

/// Returns an error for a request with a setting that a recipe states itself.
fn check_request(
    request: &Request,
    (out, by): (&Input, &str),
    against: &Input,
) -> Result<(), Error> {
    let silent = against.is_array() || request.reading.is_silent();
    let given = [
        ("a layout of the result", request.asks()),
        ("a layout, dims or an element type of the original", !silent),
        ("a value of padding", request.fill.is_some()),
        ("a type of words", request.store.is_some()),
        ("permission to skip tensors", request.skip_unfit),
    ];
    let Some((what, _)) = given.iter().find(|(_, given)| *given) else { return Ok(()) };
    let said = format!(
        "{}: it is compared by the recipe that {by}, element by element in any layout, and {what} does not apply",
        out.path().display()
    );
    Err(error::usage(said).with(&[Remedy::NoTarget]))
}

/// Compares a finished file or folder with the result of a recipe that it need not record, such as one array in `.npy`. The
/// assembly is the recipe's on the source `against`, and the packaging that of the conversion.
///
/// Every element, every padding byte, the conditions on the source, and the metadata that the conversion copies are compared.
///
/// # Errors
/// As [`verify`](crate::verify()); [usage](Error::is_usage) for a request with a layout, a fill or words, which a recipe states.
///
/// ```
/// use tilewright_files::{Assembling, Packaging, Reading, Request, Verdict, open, verify_recipe};
/// use tilewright_recipe::{Recipe, Sizes};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// let recipe = "drop = ['0.*', '1.*', '2.*', '3.bias']\n[[map]]\nfrom = '3.weight : o i'\nto = 'turned : i o'";
/// let recipe = Recipe::parse(recipe).unwrap();
/// let assembly = recipe.solve(&input.recipe_tensors(), None, &Sizes::new()).unwrap();
/// let folder = tempfile::tempdir().unwrap();
/// let out = folder.path().join("turned.npy");
/// let (request, packaging) = (Request::new(), Packaging::default());
/// Assembling::prepare(&input, &assembly, &out, request.clone(), &packaging).unwrap().run(&()).unwrap();
/// let compared = || verify_recipe(&out, &input, &assembly, (&request, &packaging), &()).unwrap();
/// assert!(matches!(compared(), Verdict::Same { bytes: 1.., .. }));
/// // The last element changes.
/// let mut bytes = std::fs::read(&out).unwrap();
/// *bytes.last_mut().unwrap() ^= 1;
/// std::fs::write(&out, bytes).unwrap();
/// assert!(matches!(compared(), Verdict::Differs(_)));
/// ```
pub fn verify_recipe(
    out: impl AsRef<Path>,
    against: &Input,
    assembly: &Assembly,
    (request, packaging): (&Request, &Packaging<'_>),
    watch: &dyn Watch,
) -> Result<Verdict, Error> {
    check_memory(request.memory)?;
    let place = Place::parse(out.as_ref());
    let found = folder::opened(place.clone())?;
    let format = found.format.unwrap_or(against.container_format());
    let folder = temporary::folder(&found.path);
    let (source, beside) = (Source::open(&found.path)?, |name: &str| folder.join(name));
    let opened = match (&format.array, &assembly.made[..]) {
        (Some(_), [made]) => {
            let known = made::known(against, assembly);
            let (tensor, _) = made::made(made, &known, format.orders)?;
            let expected = Expected::alone(&made.name, &tensor.held);
            let made = (&[tensor][..], &[expected][..]);
            open_result(format, source, &beside, made, watch)?
        }
        (Some(_), all) => {
            Err(format!("the recipe makes {} tensors, and the file holds one array", all.len()))
        }
        (None, _) => Ok(open_with(format, source, &Reading::default(), Some(&beside), watch)?),
    };
    let mut out = match opened {
        Ok(out) => out,
        Err(said) => return Ok(Verdict::Differs(Difference::said(said))),
    };
    if let (true, [array], [made]) =
        (out.is_array(), &mut out.opened.tensors[..], &assembly.made[..])
    {
        array.name.clone_from(&made.name);
    }
    check_request(request, (&out, "is given"), against)?;
    let forth = Cow::Borrowed(assembly);
    let remade = Remade { out: &out, against, forth, is_made: false };
    remade.judged(&place, (request, packaging), watch)
}

impl Remade<'_> {
    /// Compares the selected tensors, the conditions on the source, the metadata and the files beside them.
    fn judged(
        &self,
        place: &Place,
        (request, packaging): (&Request, &Packaging<'_>),
        watch: &dyn Watch,
    ) -> Result<Verdict, Error> {
        let Remade { out, against, .. } = *self;
        let chosen = Chosen::of(request, out, against)?;
        let meant = |name: &str, sources: &[&str]| chosen.has(name, sources);
        let bytes = self.bytes(&meant);
        watch.total(bytes);
        let tensors = against.tensors().len() + out.tensors().len();
        let limits = &request.limits(watch, (against.tensors().len(), tensors))?;
        let found = self.difference(&meant, limits)?;
        let (unequal, conditions) = match found {
            Some(_) => (None, 0),
            None => self.unequal(&|name| chosen.has("", &[name]), limits)?,
        };
        against.check_unchanged()?;
        out.check_unchanged()?;
        if let Some(found) = found.or(unequal) {
            return Ok(Verdict::Differs(found));
        }
        let Metadata { wrong, free } = match out.is_array() {
            true => Metadata::default(),
            false => packaging::written(out, against, packaging, &self.forth)?
                .map_or_else(Metadata::default, |texts| metadata::of_recipe(out, &texts)),
        };
        if let Some(said) = wrong {
            return Ok(Verdict::Differs(Difference::said(said)));
        }
        let config = &self.forth.config;
        let go_along =
            |companions: &mut _| packaging::configure(against, companions, config).map(|_| ());
        Ok(match folder::difference(place, against, &go_along, limits)? {
            Some(said) => Verdict::Differs(Difference::said(said)),
            None => {
                let dropped = self.dropped().map(|(name, _)| name);
                let dropped = dropped.filter(|name| chosen.has("", &[name])).map(str::to_owned);
                let bytes = bytes.saturating_add(conditions);
                Verdict::Same { bytes, dropped: dropped.collect(), changed: free }
            }
        })
    }
}

/// The tensors of a result that a request selects: by their own names, or by the name of a tensor that they are made of if the
/// result has none of that name.
struct Chosen {
    all: bool,
    own: Vec<Pattern>,
    sources: Vec<Pattern>,
}

impl Chosen {
    fn of(request: &Request, out: &Input, against: &Input) -> Result<Chosen, Error> {
        let names: Vec<&str> = out.names().chain(against.names()).collect();
        let all = request.only.iter();
        let all = all.map(|glob| Pattern::matching(glob, names.iter().copied()));
        let all = all.collect::<Result<Vec<_>, Error>>()?;
        let is_own = |pattern: &Pattern| out.names().any(|name| pattern.matches(name));
        let (own, sources) = all.into_iter().partition(is_own);
        Ok(Chosen { all: request.only.is_empty(), own, sources })
    }

    fn has(&self, name: &str, sources: &[&str]) -> bool {
        let by_source = |it: &Pattern| sources.iter().any(|name| it.matches(name));
        let own = self.own.iter().any(|it| it.matches(name));
        self.all || own || self.sources.iter().any(by_source)
    }
}

/// Returns the layout that a recipe states for a tensor, without one that of the tensor that becomes it unchanged, else rows;
/// `None` for a tensor without a known layout. A recipe that does not state the width or the byte order leaves those of the result.
fn expected(
    made: &Made,
    is: &ElementLayout,
    known: &Known<'_>,
) -> Result<Option<ElementLayout>, String> {
    if let Some((_, own)) = made::unchanged(made, known) {
        // A format without byte orders has the elements in little-endian order.
        let ordered = || match own.held.order == is.order {
            true => Ok(own.held.clone()),
            false => own.held.little(),
        };
        return own.refusal.is_none().then(ordered).transpose();
    }
    let text = made.layout.as_deref().unwrap_or("row-major");
    let wrong = |said: &str| format!("should have layout {text:?}: {said}");
    let spec = Spec::parse(text).map_err(|error| wrong(error.message()))?;
    let array = spec.array_layout(Some(&made.extents), Some(made.dtype), &());
    let array = array.map_err(|error| wrong(error.message()))?;
    let named = array.stored();
    let (bits, order) = (named.explicit_bits(), named.byte_order());
    ElementLayout::of(named, made.dtype, bits.unwrap_or(is.bits), Fill::Unspecified)
        .and_then(|held| held.ordered(order.unwrap_or(is.order)))
        .and_then(|held| held.with_tables(&array))
        .map(Some)
        .map_err(|said| wrong(&said))
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
        let made =
            forth.map(|forth| Remade { out, against, forth: Cow::Owned(forth), is_made: false });
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
        Remade { out, against, forth: Cow::Borrowed(forth), is_made: true }
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

    /// Returns the first difference in elements, layouts or padding of the selected tensors.
    pub(crate) fn difference(
        &self,
        meant: Meant<'_>,
        limits: &Limits<'_>,
    ) -> Result<Option<Difference>, Error> {
        match self.differences(meant, 1, limits)?.into_iter().next() {
            Some(found) => Ok(Some(found.into())),
            None => {
                let misplaced = if self.is_made { self.misplaced(meant)? } else { None };
                misplaced.map_or_else(|| self.unpadded(meant, limits), |found| Ok(Some(found)))
            }
        }
    }

    /// Returns the first of the selected tensors that the result stores in another layout than the recipe states.
    fn misplaced(&self, meant: Meant<'_>) -> Result<Option<Difference>, Error> {
        let known = made::known(self.against, &self.forth);
        for (tensor, made) in self.pairs(meant) {
            let wrong = |said: String| {
                error::unsupported(&self.out.path, format!("tensor {:?} {said}", made.name))
            };
            let Some(expected) = expected(made, &tensor.held, &known).map_err(wrong)? else {
                continue;
            };
            let is = &tensor.held;
            let same = is.has_spec_of(&expected) || is.places_as(&expected).map_err(comparing)?;
            if !same || (is.bits, is.order) != (expected.bits, expected.order) {
                let text = format!(
                    "it is stored as `{}`, and the recipe makes `{}`",
                    is.spec(),
                    expected.spec()
                );
                return Ok(Some(Difference::Said { tensor: Some(made.name.clone()), text }));
            }
        }
        Ok(None)
    }

    /// Returns the first of the recipe's conditions on selected tensors of the source that is violated, such as copies that differ,
    /// and the number of bytes that all of them compare.
    fn unequal(
        &self,
        selects: &dyn Fn(&str) -> bool,
        limits: &Limits<'_>,
    ) -> Result<(Option<Difference>, u64), Error> {
        let known = made::known(self.against, &self.forth);
        let (quiet, mut bytes) = (Quiet(limits.watch()), 0u64);
        let limits = &limits.quiet(&quiet);
        for equal in &self.forth.equal {
            let equality = Equality::of(equal, &known)?;
            if !equality.is_of(self.against, selects) {
                continue;
            }
            if let Some(said) = equality.difference(self.against, limits)? {
                return Ok((Some(Difference::said(said)), bytes));
            }
            bytes = bytes.saturating_add(equality.bytes(self.against));
        }
        Ok((None, bytes))
    }

    /// Returns the first padding of the selected tensors that the recipe does not write.
    fn unpadded(&self, meant: Meant<'_>, limits: &Limits<'_>) -> Result<Option<Difference>, Error> {
        for tensor in self.padded(meant) {
            limits.watch().check_cancelled()?;
            if let Some(found) = compare::padding(self.out, tensor, limits)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the tensors of the recipe that are selected and that the result has, in the order of the file.
    fn pairs(&self, meant: Meant<'_>) -> Vec<(&'a Tensor, &Made)> {
        let numbers = self.out.tensors().iter().enumerate();
        let mut own: HashMap<&str, usize> =
            numbers.map(|(number, it)| (it.name(), number)).collect();
        for (name, tensor) in self.out.tied() {
            if let Some(number) = own.get(tensor.name()).copied() {
                own.entry(name).or_insert(number);
            }
        }
        let made = self.forth.made.iter().filter(|made| meant(&made.name, &self.sources(made)));
        let mut pairs: Vec<(usize, &Made)> =
            made.filter_map(|made| Some((*own.get(made.name.as_str())?, made))).collect();
        pairs.sort_by_key(|(number, _)| *number);
        let pair = |(number, made)| Some((self.out.tensors().get(number)?, made));
        pairs.into_iter().filter_map(pair).collect()
    }

    /// Returns the bytes of the selected tensors.
    fn bytes(&self, meant: Meant<'_>) -> u64 {
        let names: HashSet<&str> = self.pairs(meant).iter().map(|(it, _)| it.name()).collect();
        let own = self.out.tensors().iter().filter(|it| names.contains(it.name()));
        own.map(|tensor| tensor.len).fold(0, u64::saturating_add)
    }

    /// Returns the selected tensors that differ, at most `most`: those that one side does not have, then others in the order of the
    /// file.
    pub(crate) fn differences(
        &self,
        meant: Meant<'_>,
        most: usize,
        limits: &Limits<'_>,
    ) -> Result<Vec<DifferentTensor>, Error> {
        let known = made::known(self.against, &self.forth);
        let made: HashSet<&str> = self.forth.made.iter().map(|made| made.name.as_str()).collect();
        let own: HashSet<&str> = self.out.names().collect();
        let different = |tensor: &str, unlike| DifferentTensor { tensor: tensor.into(), unlike };
        let more = self.out.tensors().iter().map(Tensor::name);
        let more = more.filter(|name| !made.contains(name) && meant(name, &[]));
        let missing = self.forth.made.iter().filter(|made| !own.contains(made.name.as_str()));
        let missing = missing.filter(|made| meant(&made.name, &self.sources(made)));
        let more = more.map(|name| different(name, Unlike::More));
        let missing = missing.map(|made| different(&made.name, Unlike::Missing));
        let mut found: Vec<DifferentTensor> = more.chain(missing).collect();
        for (tensor, made) in self.pairs(meant) {
            if found.len() >= most {
                break;
            }
            if let Some(unlike) = self.unlike(made, tensor, &known, limits)? {
                found.push(different(&made.name, unlike));
            }
        }
        Ok(found)
    }

    /// Returns the tensors of the result that the recipe makes, and whose padding it writes; copied tensors have the padding of
    /// the source.
    fn padded(&self, meant: Meant<'_>) -> Vec<&'a Tensor> {
        let known = made::known(self.against, &self.forth);
        let passes = |made: &Made| {
            made::unchanged(made, &known).is_some_and(|(_, own)| {
                let kept = |out: &Tensor| out.held.order == own.held.order;
                !own.held.order.is_big() || self.out.tensor(&made.name).is_some_and(kept)
            })
        };
        let made = self.pairs(meant).into_iter().filter(|(_, made)| !passes(made));
        let own = made.filter(|(tensor, made)| tensor.name() == made.name);
        own.map(|(tensor, _)| tensor).collect()
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
        limits: &Limits<'_>,
    ) -> Result<Option<Unlike>, Error> {
        if tensor.dims() != made.extents {
            let (is, was) = (tensor.dims().to_vec(), made.extents.clone());
            return Ok(Some(Unlike::Dims { is, was }));
        }
        if tensor.dtype() != made.dtype {
            let (is, was) = (tensor.dtype().to_string(), made.dtype.to_string());
            return Ok(Some(Unlike::Dtype { is, was }));
        }
        let (found, told) = match self.copied(made, tensor, known) {
            Some(own) => match self.other_byte(tensor, own, limits)? {
                // A byte of an element has a coordinate by the index tables, and not by its place.
                Some(found) if own.refusal.is_none() => {
                    let (element, told) = self.other_element(made, tensor, known, limits)?;
                    (element.or(Some(found)), told)
                }
                found => (found, 0),
            },
            None => self.other_element(made, tensor, known, limits)?,
        };
        limits.watch().advance(tensor.len.saturating_sub(told));
        Ok(found.map(Unlike::Element))
    }

    /// Returns the tensor whose bytes the result has unchanged, because no layout is known by which its elements could be compared,
    /// or because index tables state it on both sides.
    fn copied(&self, made: &Made, tensor: &Tensor, known: &Known<'a>) -> Option<&'a Tensor> {
        let (_, own) = made::unchanged(made, known)?;
        let stored = own.len == tensor.len && own.storage == tensor.storage;
        let turned = own.held.order != tensor.held.order;
        let copied = own.refusal.is_some() || own.held.tables().is_some() && !turned;
        (copied && stored).then_some(own)
    }

    /// Returns the first byte of a copied tensor that differs.
    fn other_byte(
        &self,
        tensor: &Tensor,
        own: &Tensor,
        limits: &Limits<'_>,
    ) -> Result<Option<Unequal>, Error> {
        let sides = [self.out.place(tensor)?, self.against.place(own)?];
        let sides = sides.map(|(source, at)| (Bytes::File(source), at));
        let Some(at) = compare::unequal(sides, (tensor.len, 1), limits)? else { return Ok(None) };
        let mut bytes = [[0u8]; 2];
        for ((source, begin), byte) in sides.iter().zip(&mut bytes) {
            source.read(byte, begin + at)?;
        }
        let bits = u64::from(tensor.held.bits).max(1);
        let coord = tensor.held.coord_at(at).unwrap_or_else(|| vec![at.saturating_mul(8) / bits]);
        let [is, was] = bytes.map(|[byte]| byte.into());
        let (offset, original) = (at as i64, at as i64);
        Ok(Some(Unequal { pair: 0, coord, offset, original, is, was }))
    }

    /// Returns the first element that differs, in the order of coordinates, and the number of bytes that the watcher was told of.
    fn other_element(
        &self,
        made: &Made,
        tensor: &Tensor,
        known: &Known<'_>,
        limits: &Limits<'_>,
    ) -> Result<(Option<Unequal>, u64), Error> {
        let to = side((self.out, None), tensor, &tensor.held, Fill::Unspecified)?;
        compare::check(&to)?;
        let wrong = |said: String| {
            error::unsupported(&self.out.path, format!("tensor {:?} {said}", made.name))
        };
        let (mut search, mut given) = (Search::new(limits, true), 0u64);
        for part in &made.parts {
            let constant;
            let from = match part.origin {
                Origin::Source { tensor: number, offset } => {
                    let (number, own) = known.tensor(number).map_err(wrong)?;
                    let rounds = known.rounded.contains(&number);
                    PartSide::of((self.against, own), offset, (tensor.dtype(), rounds))?
                }
                Origin::Fill(bits) => {
                    constant = Constant::new(bits, &tensor.held)?;
                    constant.side((&self.out.path, &made.name))?
                }
            };
            search.part((&to, part.offset), &from, &part.digits).map_err(wrong)??;
            given = given.saturating_add(part.elements());
        }
        let size = tensor.dims().iter().copied().fold(1, u64::saturating_mul);
        if given != size {
            return Err(wrong(format!("has {size} elements, and its parts give {given}")));
        }
        apart::check(&made.parts).map_err(wrong)?;
        let found = search.first.map(|(index, found)| {
            let coord = unravel_index(index, tensor.dims()).collect();
            Unequal { coord, ..found }
        });
        Ok((found, search.told))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tilewright_core::Dtype;
    use tilewright_recipe::{Digit, Part};

    use super::*;
    use crate::{
        Assembling, Packaging,
        assemble::laws::{file, numbered},
        open,
    };

    /// A result has the elements of its recipe and another layout than the recipe states.
    #[test]
    fn a_layout_that_the_recipe_does_not_state_is_a_difference() {
        let folder = tilewright_testing::folder();
        let path = |name: &str| folder.path().join(name);
        numbered(&path("in.safetensors"), &[("a", &[8, 16])]);
        let input = open(path("in.safetensors"), &Reading::default()).unwrap();
        let data: Vec<u8> = (2..130u16).flat_map(u16::to_le_bytes).collect();
        for (layout, stated) in [("layout = 'zN[M0=4,C0=4]'", "zN[M0=4,C0=4]"), ("", "row-major")] {
            let recipe = format!("[[map]]\nfrom = 'a : i j'\nto = 'b : i j'\n{layout}");
            let recipe = Recipe::parse(&recipe).unwrap();
            let assembly = recipe.solve(&input.recipe_tensors(), None, &Sizes::new()).unwrap();
            let (request, packaging) = (Request::new().verify(true), Packaging::default());
            let out = path(&format!("{stated}.safetensors"));
            let job = Assembling::prepare(&input, &assembly, &out, request, &packaging);
            job.unwrap().run(&()).unwrap();
            let limits = Limits::new(&(), 1 << 20, 1);
            let compared = |out: &PathBuf| {
                let result = open(out, &Reading::default()).unwrap();
                Remade::new(&result, &input, &assembly).difference(&|_, _| true, &limits).unwrap()
            };
            assert!(compared(&out).is_none(), "{stated}");
            // The recipe is kept, and the elements have another layout.
            let key = serde_json::to_string(&assembly.metadata[0].0).unwrap();
            let own = serde_json::to_string(&assembly.metadata[0].1).unwrap();
            let (mut metadata, mut stored, mut is) =
                (format!(r#""format":"pt",{key}:{own}"#), data.clone(), "row-major");
            if layout.is_empty() {
                metadata += r#","tilewright.layout.b":"u16[8,16] col-major""#;
                let column = |at: usize| &data[at % 8 * 32 + at / 8 * 2..][..2];
                (stored, is) = ((0..128).flat_map(column).copied().collect(), "col-major");
            }
            let dims: &[u64] = if is == "row-major" { &[8, 16] } else { &[16, 8] };
            let wrong = path(&format!("not-{stated}.safetensors"));
            fs::write(&wrong, file(&[("b", "U16", dims, &stored)], &metadata)).unwrap();
            // A later conversion may have chosen it, so `verify` compares the elements alone.
            let later =
                crate::verify(&wrong, path("in.safetensors"), &Request::new(), &()).unwrap();
            assert!(matches!(later, Verdict::Same { .. }), "{stated}");
            assert_eq!(
                compared(&wrong).unwrap().to_string(),
                format!(
                    "tensor \"b\": it is stored as `u16[8,16] {is}`, and the recipe makes `u16[8,16] {stated}`"
                )
            );
        }
    }

    /// Parts that cover the same elements leave others, which would be neither made nor compared.
    #[test]
    fn parts_that_overlap_are_refused_by_the_maker_and_by_the_comparison() {
        let folder = tilewright_testing::folder();
        let path = |name: &str| folder.path().join(name);
        numbered(&path("in.safetensors"), &[("a", &[4])]);
        let input = open(path("in.safetensors"), &Reading::default()).unwrap();
        let part = |offset| {
            let digits = vec![Digit { extent: 2, source: 1, made: 1 }];
            Part { origin: Origin::Source { tensor: 0, offset }, offset, digits }
        };
        let assembly = |parts| {
            let (name, dtype, extents) = ("b".to_owned(), Dtype::U16, vec![4]);
            let made = vec![Made { name, dtype, extents, layout: None, parts }];
            Assembly { made, ..Assembly::default() }
        };
        let (right, twice) = (assembly(vec![part(0), part(2)]), assembly(vec![part(0), part(0)]));
        let out = path("out.safetensors");
        let prepared = |assembly| {
            let request = Request::new().verify(true);
            Assembling::prepare(&input, assembly, &out, request, &Packaging::default())
        };
        let said = prepared(&twice).unwrap_err();
        assert!(said.is_usage() && said.to_string().contains("has parts that overlap"), "{said}");
        prepared(&right).unwrap().run(&()).unwrap();
        let (result, limits) =
            (open(&out, &Reading::default()).unwrap(), Limits::new(&(), 1 << 20, 1));
        let compared =
            |forth| Remade::new(&result, &input, forth).difference(&|_, _| true, &limits);
        assert!(compared(&right).unwrap().is_none());
        let said = compared(&twice).unwrap_err().to_string();
        assert!(said.contains("has parts that overlap"), "{said}");
    }
}
