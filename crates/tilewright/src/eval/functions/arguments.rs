//! Arguments of functions, and refusals.

use tilewright_core as core;
use tilewright_core::{BasisLayout, IntTuple, Layout, LinearLayout, Slicer, Swizzle};

use crate::{
    Error,
    eval::{
        lexer::{self, Dims, Items},
        value::{Form, TilerPart, Value},
    },
};

/// Evaluated argument with its span.
#[derive(Clone, Debug)]
pub(in crate::eval) struct Argument {
    pub(in crate::eval) form: Form,
    pub(in crate::eval) span: (usize, usize),
}

/// Call under evaluation.
#[derive(Debug)]
pub(in crate::eval) struct Call<'a> {
    name: &'a str,
    arguments: &'a [Argument],
    span: (usize, usize),
}

/// Reason why a call has no value.
#[derive(Debug)]
pub(in crate::eval) enum Refusal {
    /// The error of the library.
    Core(core::Error),
    /// An argument of the wrong kind.
    Argument(Error),
    /// A kind of error and a sentence.
    Message(&'static str, String),
}

impl From<core::Error> for Refusal {
    fn from(error: core::Error) -> Refusal {
        Refusal::Core(error)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Message(error.kind(), error.message().to_owned())
    }
}

impl Refusal {
    /// Returns the refusal as an error of the call at `span`.
    pub(in crate::eval) fn at(self, name: &str, span: (usize, usize)) -> Error {
        match self {
            Refusal::Core(error) => lexer::core(span, name, &error),
            Refusal::Argument(error) => error,
            Refusal::Message(kind, message) => {
                Error::new(kind, format!("{name}: {message}")).at(span)
            }
        }
    }
}

/// Operand by which a layout is composed or divided.
pub(super) enum By {
    Layout(Layout),
    Modes(Vec<TilerPart>),
    /// A map to coordinates, which selects modes.
    Basis(BasisLayout),
    /// `_` alone, which selects everything.
    Keep,
}

impl Argument {
    /// Returns the argument as a layout. A tuple is the compact layout of its shape, a SPEC the layout of the padded array.
    pub(in crate::eval) fn layout(&self, caller: &str) -> Result<Layout, Error> {
        match &self.form {
            Form::Tuple(shape) => Layout::compact_col_major(shape)
                .map_err(|error| lexer::core(self.span, caller, &error)),
            Form::Spec(named) if !named.layout().is_strided() => Err(Error::new("unsupported", format!(
                    "{caller}: the tiles of this SPEC merge dims or do not divide one another, which modes with strides cannot express"
                )).at(self.span)),
            form => {
                let layout = Value(form.clone()).as_layout().cloned();
                layout.ok_or_else(|| self.is_not(caller, "a layout"))
            }
        }
    }

    /// Returns the error of an argument that is not `expected`.
    fn is_not(&self, caller: &str, expected: &str) -> Error {
        let message = format!("{caller}: {} where {expected} is expected", self.form.described());
        Error::new("arguments", message).at(self.span)
    }
}

impl<'a> Call<'a> {
    pub(in crate::eval) fn new(
        name: &'a str,
        arguments: &'a [Argument],
        span: (usize, usize),
    ) -> Call<'a> {
        Call { name, arguments, span }
    }

    /// Returns this call with other arguments.
    pub(super) fn with<'b>(&self, arguments: &'b [Argument]) -> Call<'b>
    where
        'a: 'b,
    {
        Call { arguments, ..*self }
    }

    /// Returns the number of arguments.
    pub(super) fn count(&self) -> usize {
        self.arguments.len()
    }

    fn argument(&self, i: usize) -> Result<&'a Argument, Refusal> {
        self.arguments.get(i).ok_or_else(|| {
            let message = format!("{}: argument {} is missing", self.name, i + 1);
            Refusal::Argument(Error::new("arguments", message).at(self.span))
        })
    }

    /// Returns an argument with its span.
    pub(super) fn placed(&self, i: usize) -> Result<Argument, Refusal> {
        self.argument(i).cloned()
    }

    pub(super) fn form(&self, i: usize) -> Result<&'a Form, Refusal> {
        Ok(&self.argument(i)?.form)
    }

    /// Returns the refusal of argument `i`.
    pub(in crate::eval) fn is_not<T>(&self, i: usize, expected: &str) -> Result<T, Refusal> {
        Err(Refusal::Argument(self.argument(i)?.is_not(self.name, expected)))
    }

    pub(super) fn layout(&self, i: usize) -> Result<Layout, Refusal> {
        self.argument(i)?.layout(self.name).map_err(Refusal::Argument)
    }

    /// Returns an integer or a tuple of integers.
    pub(super) fn tuple(&self, i: usize) -> Result<IntTuple, Refusal> {
        match self.form(i)? {
            Form::Tuple(tuple) => Ok(tuple.clone()),
            _ => self.is_not(i, "an integer or a tuple"),
        }
    }

    /// Returns a tuple, or the shape of a layout.
    pub(super) fn shape(&self, i: usize) -> Result<IntTuple, Refusal> {
        match self.form(i)? {
            Form::Tuple(tuple) => Ok(tuple.clone()),
            Form::Basis(map) => Ok(map.shape().clone()),
            _ => Ok(self.layout(i)?.shape()),
        }
    }

    pub(super) fn integer(&self, i: usize) -> Result<i64, Refusal> {
        match self.form(i)? {
            Form::Tuple(tuple) if tuple.as_integer().is_some() => {
                Ok(tuple.as_integer().unwrap_or(0))
            }
            _ => self.is_not(i, "an integer"),
        }
    }

    /// Returns an integer from 0 on.
    pub(super) fn natural(&self, i: usize) -> Result<u64, Refusal> {
        let value = self.integer(i)?;
        u64::try_from(value)
            .map_err(|_| Refusal::Message("out-of-range", format!("{value} is below 0")))
    }

    /// Returns a position, such as that of an axis.
    pub(super) fn position(&self, i: usize) -> Result<usize, Refusal> {
        // A layout has far fewer positions, so a larger number is out of range wherever it is used.
        Ok(usize::try_from(self.natural(i)?).unwrap_or(usize::MAX))
    }

    /// Returns all arguments from `from` on, as positions.
    pub(super) fn path(&self, from: usize) -> Result<Vec<usize>, Refusal> {
        (from..self.count()).map(|i| self.position(i)).collect()
    }

    /// Returns a coordinate in which `_` keeps a position.
    pub(super) fn slicer(&self, i: usize) -> Result<Slicer, Refusal> {
        match self.form(i)? {
            Form::Slicer(items) => Ok(items.slicer()?),
            Form::Tuple(tuple) => Ok(Slicer::new(tuple, &[])?),
            _ => self.is_not(i, "a coordinate with `_`"),
        }
    }

    /// Returns an integer, a tuple or a coordinate with `_`.
    pub(super) fn items(&self, i: usize) -> Result<Items, Refusal> {
        match self.form(i)? {
            Form::Slicer(items) => Ok(items.clone()),
            _ => Ok(Items::of(&self.tuple(i)?)),
        }
    }

    /// Returns a linear layout, also from a layout that is linear over bits.
    pub(super) fn linear(&self, i: usize) -> Result<LinearLayout, Refusal> {
        match self.form(i)? {
            Form::Linear(map) => Ok(LinearLayout::clone(map)),
            _ => Ok(LinearLayout::of_layout(&self.layout(i)?)?),
        }
    }

    /// Returns the names of dims.
    pub(super) fn dims(&self, i: usize) -> Result<&'a Dims, Refusal> {
        match self.form(i)? {
            Form::Dims(dims) => Ok(dims),
            _ => self.is_not(i, "a list of dims such as `[row,column]`"),
        }
    }

    pub(super) fn swizzle(&self, i: usize) -> Result<Swizzle, Refusal> {
        match self.form(i)? {
            Form::Swizzle(swizzle) => Ok(*swizzle),
            _ => self.is_not(i, "a swizzle"),
        }
    }

    /// Returns a tuple with the brackets of a shape, a tiler or a coordinate with `_`.
    pub(super) fn profile(&self, i: usize) -> Result<IntTuple, Refusal> {
        match self.form(i)? {
            Form::Slicer(items) => Ok(items.zeroed()?),
            Form::Tiler(parts) => Ok(TilerPart::brackets(parts)?),
            _ => self.shape(i),
        }
    }

    /// Returns argument `i` without the parts where the step has `_`, at any depth, as CuTe's `dice` does: the rest is one
    /// flat list.
    pub(super) fn diced(&self, i: usize, step: usize) -> Result<Argument, Refusal> {
        let step = self.items(step)?;
        let form = match self.form(i)? {
            Form::Tiler(parts) => Form::Tiler(diced(&step, parts, TilerPart::modes)?),
            _ => {
                let parts = self.items(i)?.split();
                let within = |item: &Items| (!item.is_leaf()).then(|| item.split());
                let items = Items::tuple(diced(&step, &parts, within)?)?;
                items.integers()?.map_or(Form::Slicer(items), Form::Tuple)
            }
        };
        Ok(Argument { form, ..self.placed(i)? })
    }

    /// Reads a tuple as a tiler, with one part for each axis.
    fn modes(&self, i: usize, items: &Items) -> Result<By, Refusal> {
        match items.parts() {
            Some(parts) => Ok(By::Modes(parts)),
            None => self.is_not(i, "an extent of 0 or more, or `_`, per axis"),
        }
    }

    /// Returns a layout, an integer (that many coordinates), or a tiler: `<…>`, `_`, or a tuple with one part for each axis.
    pub(super) fn by(&self, i: usize) -> Result<By, Refusal> {
        match self.form(i)? {
            Form::Tiler(parts) => Ok(By::Modes(parts.clone())),
            Form::Basis(map) => Ok(By::Basis(BasisLayout::clone(map))),
            Form::Slicer(items) if *items == Items::leaf(None) => Ok(By::Keep),
            Form::Slicer(items) => self.modes(i, items),
            Form::Tuple(tuple) if tuple.as_integer().is_none() => self.modes(i, &Items::of(tuple)),
            _ => Ok(By::Layout(self.layout(i)?)),
        }
    }
}

/// Returns the parts where the step has no `_`; `within` returns the parts of a part.
fn diced<T: Clone>(
    step: &Items,
    parts: &[T],
    within: impl Fn(&T) -> Option<Vec<T>> + Copy,
) -> Result<Vec<T>, Refusal> {
    let steps = step.split();
    let unlike = |steps: usize, parts: usize| {
        let message = format!("a step of {steps} parts for {parts}; give one part for each");
        Refusal::Message("mismatch", message)
    };
    if steps.len() != parts.len() {
        return Err(unlike(steps.len(), parts.len()));
    }
    let mut kept = Vec::new();
    for (step, part) in steps.iter().zip(parts) {
        if *step == Items::leaf(None) {
            continue;
        }
        match within(part) {
            _ if step.is_leaf() => kept.push(part.clone()),
            Some(parts) => kept.extend(diced(step, &parts, within)?),
            None => return Err(unlike(step.split().len(), 1)),
        }
    }
    Ok(kept)
}
