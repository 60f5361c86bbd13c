//! Functions for coordinates, indices and offsets, and for the rest of a layout when some coordinates are fixed.

use tilewright_core::{Coord, IntTuple, Layout, Mode, Place, TensorLayout};

use super::{
    Answer, Call, Function, Refusal, integer,
    structure::{array, layout},
};
use crate::eval::value::Form;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "crd2idx(coord, L or shape[, stride])",
        "The offset of a coordinate; in a shape, its colexicographic index; under basis strides, a coordinate.",
        "(coord: Coord, layout: Any, stride: Shape | None = None, /) -> Any",
        "(1,2), (4,8):(8,1)",
        |call| match call.form(1)? {
            Form::Tuple(shape) if call.count() == 2 => integer(shape.crd2idx(&call.tuple(0)?)?),
            Form::Basis(map) => Ok(Form::Tuple(map.coord_at(&call.tuple(0)?)?)),
            _ => integer(with_strides(call)?.crd2idx(&call.tuple(0)?)?),
        },
    ),
    Function::new(
        "idx2crd(i, shape[, stride])",
        "The coordinate of a colexicographic index; with strides, as get_hier_coord.",
        "(index: int, shape: Shape, stride: Shape | None = None, /) -> Any",
        "13, (4,8)",
        |call| match call.count() {
            2 => Ok(Form::Tuple(call.shape(1)?.idx2crd(call.integer(0)?)?)),
            _ => Ok(Form::Tuple(hierarchical(&with_strides(call)?, call.integer(0)?)?)),
        },
    ),
    Function::new(
        "get_hier_coord(L, offset)",
        "The coordinate at an offset of a compact layout, with the brackets of L.",
        "(layout: LayoutLike, offset: int, /) -> Any",
        "(4,(2,4)):(8,(4,1)), 14",
        |call| Ok(Form::Tuple(hierarchical(&call.layout(0)?, call.integer(1)?)?)),
    ),
    Function::new(
        "get_flat_coord(L, offset)",
        "The coordinate at an offset of a compact layout, with an integer for each axis; for one axis, the integer.",
        "(layout: LayoutLike, offset: int, /) -> Any",
        "(4,(2,4)):(8,(4,1)), 14",
        |call| Ok(Form::Tuple(flat_coord(&call.layout(0)?, call.integer(1)?)?)),
    ),
    Function::new(
        "get_1d_coord(L, offset)",
        "The colexicographic index of the coordinate at an offset of a compact layout.",
        "(layout: LayoutLike, offset: int, /) -> int",
        "(4,(2,4)):(8,(4,1)), 14",
        |call| {
            let layout = call.layout(0)?;
            integer(layout.shape().crd2idx(&hierarchical(&layout, call.integer(1)?)?)?)
        },
    ),
    Function::new(
        "crd2crd(coord, from, to)",
        "Converts a coordinate of one shape to the coordinate of another with the same index: part by part for tuples, else as a whole.",
        "(coord: Coord, from_: Shape, to: Shape, /) -> Any",
        "(1,2), (4,8), (8,4)",
        |call| Ok(Form::Tuple(call.shape(1)?.crd2crd(&call.tuple(0)?, &call.shape(2)?)?)),
    ),
    Function::new(
        "crd2offset(coord, shape, stride)",
        "The sum of coordinate times stride over the leaves of a shape (TLA's crd2offset).",
        "(coord: Coord, shape: Shape, stride: Shape, /) -> int",
        "(1,2), (4,8), (8,1)",
        |call| integer(IntTuple::crd2offset(&call.tuple(0)?, &call.tuple(1)?, &call.tuple(2)?)?),
    ),
    Function::new(
        "offset(SPEC, coord)",
        "The offset in elements of a coordinate; an integer counts colexicographically in a bare layout, in row-major order in any other array.",
        "",
        "\"f32[3,5]{1,0:T(2,2)}\", (2,3)",
        |call| integer(offset(call)?),
    ),
    Function::new(
        "coord(SPEC, offset)",
        "The coordinate stored at an offset, or `padding`.",
        "",
        "\"f32[3,5]{1,0:T(2,2)}\", 17",
        coord,
    ),
    Function::new(
        "slice(coord, L)",
        "The parts of L where the coordinate is `_`, the others fixed at 0; for a tuple, a tuple.",
        "(coord: Slicer, layout: LayoutLike, /) -> Any",
        "(_,1), (4,8):(8,1)",
        |call| kept(call, call.layout(1)?.slice(&call.slicer(0)?)?),
    ),
    Function::new(
        "dice(coord, L)",
        "The parts of L where the coordinate is not `_`; for a tuple, a tuple, and for a tiler, a tiler.",
        "(coord: Slicer, layout: TilerLike, /) -> Any",
        "(_,1), (4,8):(8,1)",
        |call| match call.form(1)? {
            Form::Tiler(_) => Ok(call.diced(1, 0)?.form),
            _ => kept(call, call.layout(1)?.dice(&call.slicer(0)?)?),
        },
    ),
    Function::new(
        "slice_and_offset(coord, L)",
        "The parts of L at `_`, from the offset of the coordinate on: layout+offset.",
        "(coord: Slicer, layout: LayoutLike, /) -> Layout",
        "(2,_), (4,8):(8,1)",
        |call| Ok(Form::Cut(Box::new(call.layout(1)?.slice_and_offset(&call.slicer(0)?)?))),
    ),
    Function::new(
        "domain_offset(coord, L)",
        "The rest of L from a coordinate on.",
        "(coord: Coord, layout: LayoutLike, /) -> Layout",
        "(1,1), (4,8):(8,1)",
        |call| layout(call.layout(1)?.domain_offset(&call.tuple(0)?)?),
    ),
];

/// Argument 1 as a layout, with argument 2 as its strides, if there is one.
fn with_strides(call: &Call<'_>) -> Result<Layout, Refusal> {
    match call.count() {
        2 => call.layout(1),
        _ => Ok(Layout::from_shape_stride(&call.tuple(1)?, &call.tuple(2)?)?),
    }
}

/// The coordinate at an offset of a compact layout: each digit is the offset by its stride, modulo its extent. Another layout is
/// refused where the coordinate has another offset.
fn hierarchical(layout: &Layout, offset: i64) -> Result<IntTuple, Refusal> {
    let digit = |mode: &Mode| {
        let (extent, stride) = (i64::try_from(mode.extent()).ok()?, mode.stride());
        if extent == 1 { Some(0) } else { offset.checked_div(stride)?.checked_rem(extent) }
    };
    let shape = layout.shape();
    let digits: Option<Vec<i64>> = layout.modes().iter().map(digit).collect();
    if let Some(digits) = digits {
        let coord = IntTuple::new(&digits, shape.profile())?;
        if layout.crd2idx(&coord).is_ok_and(|found| found == offset) {
            return Ok(coord);
        }
    }
    let message = format!(
        "the digits of offset {offset} in {layout} give another offset; the layout is not compact, or the offset is out of range"
    );
    Err(Refusal::Message("out-of-range", message))
}

/// The coordinate at an offset of a compact layout, with an integer for each axis; for one axis, the integer.
pub(super) fn flat_coord(layout: &Layout, offset: i64) -> Result<IntTuple, Refusal> {
    let (shape, coord) = (layout.shape(), hierarchical(layout, offset)?);
    if shape.rank() == 1 {
        return Ok(IntTuple::integer(shape.crd2idx(&coord)?));
    }
    let axis = |i| shape.get(&[i])?.crd2idx(&coord.get(&[i])?);
    Ok(IntTuple::flat(&(0..shape.rank()).map(axis).collect::<Result<Vec<i64>, _>>()?)?)
}

/// Returns the result of `slice` or `dice`, which is a tuple for a tuple.
fn kept(call: &Call<'_>, kept: Layout) -> Answer {
    match call.form(1)? {
        Form::Tuple(_) => Ok(Form::Tuple(kept.shape())),
        _ => layout(kept),
    }
}

fn offset(call: &Call<'_>) -> Result<i64, Refusal> {
    let (named, coord) = (array(call, 0)?, call.tuple(1)?);
    let tensor = named.layout();
    if named.is_bare() {
        return Ok(tensor.layout().crd2idx(&coord)?);
    }
    match coord.as_integer() {
        Some(index) if tensor.rank() != 1 => {
            let index = u64::try_from(index)
                .map_err(|_| Refusal::Message("out-of-range", format!("{index} is below 0")))?;
            Ok(tensor.offset_of(index)?)
        }
        _ => Ok(tensor.offset(&axes(tensor, &coord)?)?),
    }
}

/// Returns one integer for each dim, from a coordinate that may be nested like the modes.
fn axes(tensor: &TensorLayout, coord: &IntTuple) -> Result<Vec<u64>, Refusal> {
    let shape = tensor.layout().shape();
    let axis = |i: usize| {
        let part = coord.get(&[i])?;
        let index = match part.as_integer() {
            Some(index) => index,
            None if tensor.is_strided() => shape.get(&[i])?.crd2idx(&part)?,
            None => {
                return Err(Refusal::Message(
                    "mismatch",
                    format!("{coord}: expected one integer per dim"),
                ));
            }
        };
        u64::try_from(index)
            .map_err(|_| Refusal::Message("out-of-range", format!("{index} is below 0")))
    };
    (0..coord.rank()).map(axis).collect()
}

fn coord(call: &Call<'_>) -> Answer {
    let (named, offset) = (array(call, 0)?, call.integer(1)?);
    match named.layout().locate(offset)? {
        Place::Element(coord) => Ok(Form::Tuple(tuple(&coord)?)),
        Place::Padding => Ok(Form::Padding),
        Place::OutOfRange => {
            let capacity = named.layout().capacity();
            let message = format!("offset {offset} of a storage of {capacity} elements");
            Err(Refusal::Message("out-of-range", message))
        }
    }
}

fn tuple(coord: &Coord) -> Result<IntTuple, Refusal> {
    // Coordinates inside an array fit 63 bits.
    let values: Vec<i64> = coord.as_slice().iter().map(|&x| x as i64).collect();
    Ok(IntTuple::flat(&values)?)
}
