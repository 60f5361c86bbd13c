//! Linear layouts: the images of the bits of each coordinate, `{row=[4,8],column=[1,2]} -> (offset:16)`.
//!
//! ```text
//! linear := '{' dim { ',' dim } '}' '->' '(' out { ',' out } ')'      as tilewright_core::LinearLayout::parse reads it
//! dim    := name '=' '[' [ basis { ',' basis } ] ']'                  the offsets of coordinates 1, 2, 4 …
//! ```
//!
//! The dims of the array are listed in order; n bases make an extent of 2ⁿ. The offset of a coordinate is the XOR of
//! the bases of its bits. Several output dims form one offset, the first fastest. The storage is as large as the
//! output. A map may skip offsets, but no two coordinates share one. The notation can express every invertible matrix
//! of bits, and every layout whose extents are powers of two and whose sums do not carry.
//! Source: Triton, `include/triton/Tools/LinearLayout.h`. Its maps of memory have the other direction, from offsets to
//! coordinates.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `{row=[4,8],column=[1,2]} -> (offset:16)` | | `(4,4):(4,1)` |
//! | `{row=[5,10],column=[1,2]} -> (offset:16)` | | `Sw<2,0,2> o (4,4):(4,1)` |
//! | `{i=[6,4],j=[3]} -> (offset:8)` | | `F2<3,6,4> o (4,2):(2,1)` |
//! | `{i=[1,4]} -> (offset:16)` | | `((2,2)):((1,4)) capacity 16` |
//! | `{i=[[1,0],[0,1]]} -> (bank:2,line:2)` | | `(4):(1)` |
//! | `{i=[1,2],j=[3]} -> (offset:4)` | | error: coordinates (0,1) and (3,0) share offset 3 |
//! | `{i=[1,2]} -> (offset:3)` | | error: 3 |
//! | `{i=[1,2],j=[4]} -> (offset:4)` | | error: coordinate 4 of dim 0 is not below 4 |

use std::{fmt, sync::Arc};

use tilewright_core::{Layout, LinearLayout, Profile, TensorLayout};

use crate::{
    Error, ResolvedLayout,
    literal::{of_map, parsed, tuple},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("linear", "maps linear over bits: where the bits of coordinates go", read, print)
        .with_aliases(&["f2"])
        .with_form(claims);

/// The dims of threads: a map from them spreads an array, and is not a map of a memory.
const THREADS: [&str; 4] = ["register=", "lane=", "warp=", "block="];

/// Braces around lists; the dicts of Python have quoted keys.
pub(in crate::dialect) fn claims(text: &str) -> bool {
    let of_threads = || {
        let mut words = text.split(['{', ',', ' ']);
        words.any(|word| THREADS.iter().any(|name| word.starts_with(name)))
    };
    text.starts_with('{') && text.contains("->") && !text.contains(['\'', '"']) && !of_threads()
}

#[derive(Debug)]
struct Linear(LinearLayout);

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    Ok(Arc::new(Linear(LinearLayout::parse(text).map_err(parsed)?)))
}

impl Linear {
    fn dims(&self) -> Vec<u64> {
        self.0.ins().iter().map(|dim| dim.size()).collect()
    }
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl ParsedSpec for Linear {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.0.ins().len()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = self.dims();
        given.agree_dims(self, &dims)?;
        Ok(ResolvedLayout::plain(stored(&self.0, &dims)?, given))
    }
}

/// The array of these dims that a map from its coordinates stores; the sizes of `dims` are those of the map.
pub(in crate::dialect) fn stored(
    places: &LinearLayout,
    dims: &[u64],
) -> Result<TensorLayout, Error> {
    if let Some((one, other)) = places.collision() {
        let offset = places.flatten_outs().apply(one.as_slice())?;
        return Err(Error::unsupported(format!(
            "coordinates {} and {} share offset {}: the basis of the first is the xor of the bases of the second; each element needs its own offset",
            tuple(one.as_slice()),
            tuple(other.as_slice()),
            offset.as_slice().first().unwrap_or(&0)
        )));
    }
    let layout = places.flatten_outs().to_swizzled_layout().map_err(of_map)?;
    Ok(TensorLayout::new(dims, &one_axis_per_dim(&layout, dims.len())?, places.out_size())?)
}

/// The layout with the modes of a single dim under a bracket of their own.
fn one_axis_per_dim(layout: &Layout, rank: usize) -> Result<Layout, Error> {
    if rank != 1 {
        return Ok(layout.clone());
    }
    let profile = Profile::nested(&[layout.modes().len()])?;
    Ok(Layout::new(layout.modes(), &profile, layout.offset(), layout.swizzle())?)
}

/// The map from coordinates to offsets, into a storage of `size`, where the layout is linear over bits.
pub(in crate::dialect) fn places(tensor: &TensorLayout, size: u64) -> Result<LinearLayout, String> {
    if !tensor.is_strided() {
        return Err("merged dims are not linear over bits".into());
    }
    if let Some(extent) = tensor.extents().iter().find(|extent| !extent.is_power_of_two()) {
        return Err(format!("extent {extent} is not a power of two"));
    }
    let origin = vec![0; tensor.rank()];
    let at = |coord: &[u64]| {
        tensor.offset(coord).ok().and_then(|at| u64::try_from(at).ok()).filter(|at| *at < size)
    };
    if at(&origin) != Some(0) {
        return Err("element 0 has an offset, and a linear map sends 0 to 0".into());
    }
    let mut lists: Vec<(String, Vec<[u64; 1]>)> = Vec::new();
    for (dim, extent) in tensor.extents().iter().enumerate() {
        let mut list = Vec::new();
        for bit in 0..extent.trailing_zeros() {
            let mut coord = origin.clone();
            coord[dim] = 1 << bit;
            list.push([at(&coord).ok_or("an element lies outside of the storage's bits")?]);
        }
        lists.push((format!("dim{dim}"), list));
    }
    let slices: Vec<Vec<&[u64]>> =
        lists.iter().map(|(_, list)| list.iter().map(|basis| &basis[..]).collect()).collect();
    let ins: Vec<(&str, &[&[u64]])> =
        lists.iter().zip(&slices).map(|((name, _), list)| (name.as_str(), &list[..])).collect();
    let map = LinearLayout::new(&ins, &[("offset", size)]).map_err(|error| error.to_string())?;
    if !map.is_injective() {
        return Err("elements share a place".into());
    }
    match stored(&map, tensor.extents()).map(|same| same.same_function(tensor)) {
        Ok(Ok(true)) => Ok(map),
        _ => Err(match LinearLayout::of_layout(tensor.layout()) {
            Err(error) => error.to_string(),
            Ok(_) => "sums of strides carry".into(),
        }),
    }
}

fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let (tensor, no) = (named.layout(), |why| Error::unsupported(why));
    let size = tensor.capacity();
    if !size.is_power_of_two() {
        return Err(no(format!(
            "a storage of {size} elements; the output of a linear map is a power of two"
        )));
    }
    let map = places(tensor, size)
        .map_err(|why| no(format!("not a map that is linear over bits: {why}")))?;
    // A swizzle whose sources no element reaches has a window, which the map does not contain.
    let is_whole = |tensor: &TensorLayout| *tensor == TensorLayout::of(tensor.layout());
    if is_whole(tensor) && !is_whole(&stored(&map, tensor.extents())?) {
        return Err(no(
            "padding that the window of a swizzle adds; a linear map has no window".into()
        ));
    }
    Ok(map.to_string())
}
