//! Evaluation of the tree of an expression to its value.

use tilewright_core::{BasisLayout, Coord, IntTuple, Layout, LinearLayout, Swizzle, TensorLayout};
use tilewright_notation::{ResolvedLayout, Spec};

use super::{
    basis,
    functions::{self, Argument, Call},
    lexer::{self, Items},
    parser::{Expr, Node},
    value::{Form, Strides, TilerPart, Value},
};
use crate::{Error, eval::lexer::Dims};

/// Evaluates `shape:stride`: a layout, or a map to coordinates if the strides name bases.
fn strided(shape: &Expr<'_>, stride: &Expr<'_>, span: (usize, usize)) -> Result<Form, Error> {
    let shape = integers(shape, "a shape")?;
    match run(stride)? {
        Form::Strides(strides) => {
            let map = strides.over(&shape);
            let map = map.map_err(|message| Error::parse(stride.span, message))?;
            Ok(Form::Basis(Box::new(map)))
        }
        strides => {
            let made =
                Layout::from_shape_stride(&shape, &integers_of(strides, stride.span, "strides")?);
            made.map(layout).map_err(|error| lexer::core(span, "", &error))
        }
    }
}

/// Evaluates an expression.
pub(super) fn run(expr: &Expr<'_>) -> Result<Form, Error> {
    let refused = |error| lexer::core(expr.span, "", &error);
    match &expr.node {
        Node::Integer(value) => Ok(Form::Tuple(IntTuple::integer(*value))),
        Node::Keep => Ok(Form::Slicer(Items::leaf(None))),
        Node::Tuple(parts) => {
            tuple(parts.iter().map(placed).collect::<Result<_, Error>>()?, expr.span)
        }
        Node::Group(inner) => grouped(inner, expr.span),
        Node::Tiler(parts) => {
            let parts = parts.iter().map(|one| part(placed(one)?));
            parts.collect::<Result<_, _>>().map(Form::Tiler)
        }
        Node::Swizzle(numbers) => swizzle(*numbers).map(Form::Swizzle).map_err(refused),
        Node::Images(images) => by_images(images).map(Form::Swizzle).map_err(refused),
        Node::Quoted(text) => spec(text, expr.span, expr.span.0 + 1),
        Node::Linear(text) => LinearLayout::parse(text)
            .map(|map| Form::Linear(Box::new(map)))
            .map_err(|error| lexer::core_parse(expr.span.0, &error)),
        Node::Dims(text) => Dims::parse(text, expr.span.0 + 1).map(Form::Dims),
        Node::Call { name, name_span, arguments } => {
            let function = functions::named(name, *name_span)?;
            function.call(&evaluated(name, arguments)?, expr.span)
        }
        Node::Unit(path) => Ok(Form::Strides(Strides::new(path.to_string()))),
        Node::Layout(shape, stride) => strided(shape, stride, expr.span),
        Node::Compact { shape, strides, strides_span } => {
            compact(expr.span, shape, functions::named(strides, *strides_span)?, *strides_span)
        }
        Node::At { layout, coord } => at(expr.span, layout, coord),
        Node::Arithmetic(first, rest) => {
            let mut value = placed(first.within())?;
            for (sign, right) in rest {
                let (right, span) = (placed(right.within())?, expr.span);
                value = Argument { form: arithmetic(&value, *sign, &right, span)?, span };
            }
            Ok(value.form)
        }
        Node::Valid { layout, extents, capacity } => {
            valid(expr, layout, extents.as_deref(), *capacity)
        }
        Node::Chain(operands) => chain(operands),
        Node::Basis(text) => BasisLayout::parse(text)
            .map(|map| Form::Basis(Box::new(map)))
            .map_err(|error| lexer::core_parse(expr.span.0, &error)),
    }
}

/// Returns the layout of a shape with the strides that a function computes for it.
fn compact(
    span: (usize, usize),
    shape: &Expr<'_>,
    strides: &functions::Function,
    strides_span: (usize, usize),
) -> Result<Form, Error> {
    let shape = argument("make_layout", placed(shape)?)?;
    let strides = strides.call(std::slice::from_ref(&shape), strides_span)?;
    let strides = Argument { form: strides, span: strides_span };
    functions::named("make_layout", span)?.call(&[shape, strides], span)
}

/// Returns the offset of a coordinate, or the slice if the coordinate contains `_`. A swizzle acts on whole offsets, so a
/// slice under a swizzle keeps its offset, as in CuTe.
fn at(span: (usize, usize), layout: &Expr<'_>, coord: &Expr<'_>) -> Result<Form, Error> {
    let (layout, coord) = (argument("L(…)", placed(layout)?)?, argument("L(…)", placed(coord)?)?);
    if let Form::Tuple(_) | Form::Boolean(_) = layout.form {
        let message = format!("{} where a layout is expected", layout.form.described());
        return Err(Error::new("arguments", message).at(layout.span));
    }
    let whole = Value(layout.form.clone());
    let is_swizzled = whole.as_layout().is_some_and(|layout| !layout.swizzle().is_identity());
    let name = match coord.form {
        Form::Slicer(_) if is_swizzled => "slice_and_offset",
        Form::Slicer(_) => "slice",
        _ => "crd2idx",
    };
    functions::named(name, span)?.call(&[coord, layout], span)
}

fn layout(layout: Layout) -> Form {
    Form::Layout(Box::new(layout))
}

/// Evaluates the arguments of a call.
fn evaluated(name: &str, arguments: &[Expr<'_>]) -> Result<Vec<Argument>, Error> {
    arguments.iter().map(|expr| argument(name, placed(expr)?)).collect()
}

/// Evaluates an expression and attaches its span.
fn placed(expr: &Expr<'_>) -> Result<Argument, Error> {
    Ok(Argument { form: run(expr)?, span: expr.span })
}

/// Returns an argument, or an error for a boolean, a list or padding, which no function takes. The arguments after it are then
/// not evaluated.
pub(super) fn argument(name: &str, argument: Argument) -> Result<Argument, Error> {
    match &argument.form {
        form @ (Form::Boolean(_) | Form::List(_) | Form::Padding) => {
            let message =
                format!("{name}: {} cannot be an argument of a function", form.described());
            Err(Error::new("arguments", message).at(argument.span))
        }
        _ => Ok(argument),
    }
}

/// Returns integers, tuples and `_` under one more bracket; with a layout among them, a tiler.
pub(super) fn tuple(parts: Vec<Argument>, span: (usize, usize)) -> Result<Form, Error> {
    if let Some(strides) = basis::strides_of(&parts) {
        return strides.map(Form::Strides);
    }
    let items = |part: &Argument| match &part.form {
        Form::Tuple(tuple) => Some(Items::of(tuple)),
        Form::Slicer(items) => Some(items.clone()),
        _ => None,
    };
    let Some(items) = parts.iter().map(items).collect::<Option<Vec<Items>>>() else {
        return parts.into_iter().map(part).collect::<Result<_, _>>().map(Form::Tiler);
    };
    let form = Items::tuple(items).and_then(|items| {
        // A tuple with the brackets of a slicer and `_` is legal if and only if its integers are.
        let _ = items.slicer()?;
        Ok(items.integers()?.map_or(Form::Slicer(items), Form::Tuple))
    });
    form.map_err(|error| lexer::core(span, "", &error))
}

/// Evaluates `(…)` around one expression: a tuple of one integer, tuple or `_`; for any other value, brackets that group.
fn grouped(inner: &Expr<'_>, span: (usize, usize)) -> Result<Form, Error> {
    let inner = placed(inner)?;
    match &inner.form {
        Form::Tuple(_) | Form::Slicer(_) | Form::Strides(_) => tuple(vec![inner], span),
        _ => Ok(inner.form),
    }
}

/// Returns a value as the part of a tiler for one axis.
pub(super) fn part(of: Argument) -> Result<TilerPart, Error> {
    let Argument { form, span } = of;
    match form {
        Form::Tuple(tuple) => within(&Items::of(&tuple), span),
        Form::Slicer(items) => within(&items, span),
        Form::Tiler(parts) => Ok(TilerPart::Modes(parts)),
        form @ (Form::Layout(_) | Form::Cut(_) | Form::Tile(_) | Form::Spec(_)) => {
            let layout = Value(form).as_layout().cloned();
            layout.map(|layout| TilerPart::Layout(Box::new(layout))).ok_or_else(|| {
                Error::new("unsupported", "this is not a layout of modes and strides").at(span)
            })
        }
        other => Err(Error::new("arguments", format!(
                "{} cannot be in a tuple; tuples hold integers, tuples, `_` and, as a tiler, layouts",
                other.described()
            )).at(span)),
    }
}

/// Returns an extent or `_` for an axis, or a tuple of them for the modes within it.
fn within(items: &Items, span: (usize, usize)) -> Result<TilerPart, Error> {
    let parts = items
        .parts()
        .ok_or_else(|| Error::new("illegal", "an extent below 0; extents are 0 or more").at(span));
    parts.map(|mut parts| match (items.is_leaf(), parts.len()) {
        (true, 1) => parts.remove(0),
        _ => TilerPart::Modes(parts),
    })
}

fn swizzle([bits, base, shift]: [i64; 3]) -> Result<Swizzle, tilewright_core::Error> {
    match (u8::try_from(bits), u8::try_from(base), i8::try_from(shift)) {
        (Ok(bits), Ok(base), Ok(shift)) if shift != i8::MIN => Swizzle::new(bits, base, shift),
        _ => Err(tilewright_core::Error::limit(
            "swizzle <{},{},{}> is not within bits 0 to 62",
            [bits.into(), base.into(), shift.into()],
            "bits and base are 0 or more, and bits + base + |shift| is at most 62",
        )),
    }
}

fn by_images(images: &[i64]) -> Result<Swizzle, tilewright_core::Error> {
    let natural = |image: &i64| {
        u64::try_from(*image).map_err(|_| {
            let numbers = [i128::from(*image)];
            tilewright_core::Error::out_of_range("an image of {}", numbers, "images are 0 or more")
        })
    };
    Swizzle::of_images(&images.iter().map(natural).collect::<Result<Vec<u64>, _>>()?)
}

/// Returns the value of a SPEC whose text begins at byte `at`, within `span`.
pub(super) fn spec(text: &str, span: (usize, usize), at: usize) -> Result<Form, Error> {
    let refused = |error| lexer::spec(span, at, &error);
    let spec = Spec::parse(text).map_err(refused)?;
    // An array over threads may hold an element in several places: such a SPEC is a map to coordinates.
    if let Some(map) = spec.distribution(None, None).map_err(refused)? {
        return Ok(Form::Linear(Box::new(map)));
    }
    spec.resolve(None, None).map(named).map_err(refused)
}

/// Returns the layout of an array as a value. A bare layout is a plain layout, whatever its text was.
pub(super) fn named(named: ResolvedLayout) -> Form {
    match named.is_bare() {
        true => layout(named.layout().layout().clone()),
        false => Form::Spec(Box::new(named)),
    }
}

/// Evaluates an expression that must be a tuple of integers, as a part of a layout's text.
fn integers(expr: &Expr<'_>, what: &str) -> Result<IntTuple, Error> {
    integers_of(run(expr)?, expr.span, what)
}

fn integers_of(form: Form, span: (usize, usize), what: &str) -> Result<IntTuple, Error> {
    match form {
        Form::Tuple(tuple) => Ok(tuple),
        other => Err(Error::new(
            "arguments",
            format!("{} for {what}; expected an integer or a tuple of integers", other.described()),
        )
        .at(span)),
    }
}

/// Evaluates a sign between two values: integers; a layout and the offset that moves it; a stride that names a basis, scaled.
fn arithmetic(
    left: &Argument,
    sign: char,
    right: &Argument,
    span: (usize, usize),
) -> Result<Form, Error> {
    let integer = |form: &Form| match form {
        Form::Tuple(tuple) => tuple.as_integer(),
        _ => None,
    };
    match (sign, &left.form, integer(&left.form), &right.form, integer(&right.form)) {
        // The offset in the middle of `composition(A, 8, B)`: B in place of a layout, whatever it is.
        ('@', _, _, _, Some(by)) => moved(&left.layout("composition")?, by, span),
        (_, _, Some(a), _, Some(b)) => {
            let value = calculated(a, sign, b).ok_or_else(|| {
                // Only a quotient or a remainder by 0 has no value.
                let why = if b == 0 { "divides by 0" } else { "does not fit 64 bits" };
                let message = format!("`{a} {sign} {b}` {why}");
                Error::new("overflow", message).at(span)
            });
            Ok(Form::Tuple(IntTuple::integer(value?)))
        }
        ('+', Form::Layout(from) | Form::Cut(from), _, _, Some(by)) => moved(from, by, span),
        ('-', Form::Layout(from) | Form::Cut(from), _, _, Some(by)) => {
            moved(from, by.saturating_neg(), span)
        }
        ('+', Form::Strides(left), _, Form::Strides(right), _) => {
            Ok(Form::Strides(left.plus(right)))
        }
        ('*', Form::Strides(unit), _, _, Some(by)) | ('*', _, Some(by), Form::Strides(unit), _) => {
            let scaled = unit.times(by).map(Form::Strides);
            scaled.ok_or_else(|| {
                let message =
                    format!("{unit} times {by}; give one stride and an integer that fit 64 bits");
                Error::new("illegal", message).at(span)
            })
        }
        _ => Err(Error::new("arguments", format!(
                "{} {sign} {}; give integers, or a layout and the offset that moves it: (4,8):(8,1)+3",
                left.form.described(),
                right.form.described(),
            )).at(span)),
    }
}

fn calculated(a: i64, sign: char, b: i64) -> Option<i64> {
    match sign {
        '+' => a.checked_add(b),
        '-' => a.checked_sub(b),
        '*' => a.checked_mul(b),
        '/' => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

/// Returns a layout moved by an offset.
fn moved(from: &Layout, by: i64, span: (usize, usize)) -> Result<Form, Error> {
    let offset = from
        .offset()
        .checked_add(by)
        .ok_or_else(|| Error::new("overflow", "the offsets add up beyond 64 bits").at(span))?;
    from.with_offset(offset).map(layout).map_err(|error| lexer::core(span, "", &error))
}

/// Evaluates `layout valid (2,3) capacity 64`.
fn valid(
    expr: &Expr<'_>,
    inner: &Expr<'_>,
    extents: Option<&Expr<'_>>,
    capacity: Option<u64>,
) -> Result<Form, Error> {
    let argument = Argument { form: run(inner)?, span: inner.span };
    let layout = argument.layout("valid")?;
    let whole = TensorLayout::of(&layout);
    let extents = match extents {
        Some(extents) => natural(&integers(extents, "the valid extents")?, extents.span)?,
        None => whole.extents().to_vec(),
    };
    let tensor = TensorLayout::new(&extents, &layout, capacity.unwrap_or(whole.capacity()))
        .map_err(|error| lexer::core(expr.span, "", &error))?;
    let named = ResolvedLayout::new("eval", tensor, None, None, tilewright_core::Fill::Unspecified);
    Ok(Form::Spec(Box::new(named)))
}

/// Returns the integers of a flat tuple, all of them 0 or more.
fn natural(tuple: &IntTuple, span: (usize, usize)) -> Result<Vec<u64>, Error> {
    let all: Option<Vec<u64>> =
        tuple.values().iter().map(|&value| u64::try_from(value).ok()).collect();
    match all {
        Some(all) if tuple.depth() <= 1 && Coord::new(&all).is_ok() => Ok(all),
        _ => Err(Error::new(
            "illegal",
            format!("{tuple}: expected one extent per axis, each 0 or more"),
        )
        .at(span)),
    }
}

/// Evaluates `A o B o C` from the left. `Sw<…> o 16 o L` is L at offset 16 under the swizzle.
fn chain(operands: &[Expr<'_>]) -> Result<Form, Error> {
    let mut value = placed(&operands[0])?;
    let mut rest = operands[1..].iter();
    while let Some(operand) = rest.next() {
        let mut right = placed(operand)?;
        if let (Form::Swizzle(_), Form::Tuple(offset)) = (&value.form, &right.form)
            && let Some(by) = offset.as_integer()
            && let Some(inner) = rest.next()
        {
            let inner = placed(inner)?;
            right = Argument { form: moved(&inner.layout("A o B")?, by, inner.span)?, ..inner };
        }
        value = composed(value, right)?;
    }
    Ok(value.form)
}

fn composed(left: Argument, right: Argument) -> Result<Argument, Error> {
    let span = (left.span.0, right.span.1);
    let operands = [left, right];
    let form = basis::by_parts("A o B", &operands, span, functions::composition)
        .unwrap_or_else(|| functions::composition(&Call::new("A o B", &operands, span)))
        .map_err(|refusal| refusal.at("A o B", span))?;
    Ok(Argument { form, span })
}
