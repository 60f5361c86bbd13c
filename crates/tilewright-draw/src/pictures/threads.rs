//! Draws the thread that holds each element, and the index of its value.
//!
//! Law: if the picture assigns an element to value v of thread t, the layout maps (t, v) to that element.
//!
//! Draws a map from named dims to the coordinates of an array, by the holder of each element: Triton's distributed
//! layouts, from registers, lanes, warps and blocks, and any other linear layout.
//!
//! Law: the map sends the input coordinate that a cell shows to the coordinate of the cell, and it is the first with
//! this value. An empty cell is not in the image of the map.

use std::{cell::RefCell, collections::HashMap};

use tilewright_core::{Counted, Error, Layout, LinearLayout, TensorLayout};

use crate::{
    Cell, Key, Limits, MOST, Paint, Scene, Subject,
    palette::HUES,
    sheet::{Colouring, Sheet, Spot, bands, empty, padding},
    subject::join,
};

/// Draws the owners of the cells of a tile, from a thread-value layout: (thread, value) → cell, with cells counted
/// colexicographically, as [`LayoutTv`](tilewright_core::LayoutTv) makes it. If several threads hold a cell, one of
/// them is shown; a cell without an owner is blank; a note reports values beyond the tile.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for a layout without exactly two axes; the errors of an illegal tile;
/// [undecided](Error::is_undecided) as [`Layout::locate`].
///
/// ```
/// use tilewright_core::{Layout, LayoutTv};
/// use tilewright_draw::{Limits, owners};
/// // A warp of 4×8 threads, each with two adjacent elements of a row: a tile of 4×16.
/// let parse = |text| Layout::parse(text).unwrap();
/// let tv = LayoutTv::new(&parse("(4,8):(8,1)"), &parse("(1,2):(2,1)"))?;
/// let scene = owners(tv.layout(), &[4, 16], &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!(panel.cell(1, 3).unwrap().text, "T9\nV1");
///
/// let error = owners(&parse("(2,2,2):(1,2,4)"), &[8], &Limits::default()).unwrap_err();
/// assert!(error.is_mismatch());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn owners(tv: &Layout, tile: &[u64], limits: &Limits) -> Result<Scene, Error> {
    if tv.rank() != 2 {
        let legal = "a thread-value layout has two, thread and value";
        return Err(Error::mismatch("a layout of {} axes", [tv.rank() as i128], legal));
    }
    let cells = TensorLayout::col_major(tile)?;
    let subject = Subject::new(&cells).named(tv.to_string());
    let owner = |cell: i64| {
        let place = tv.locate(cell)?;
        let axes = place.as_ref().map_or(&[][..], |coord| coord.as_slice());
        Ok(axes.first().zip(axes.get(1)).map(|(&thread, &value)| Owner { thread, value, tile: 0 }))
    };
    let mut scene = draw(&subject, limits, &owner)?;
    let [threads, values] = [0, 1].map(|axis| tv.axis_size(axis).unwrap_or(0));
    let size = join(tile).replace(',', "×");
    scene.subtitle = format!(
        "{} of {} hold a tile of {size}",
        Counted(threads, "thread"),
        Counted(values, "value")
    );
    scene.notes.extend(outside(tv, &cells));
    if cells.size() > 0 && tv.injective() == Ok(false) {
        scene.notes.push("some cells are held more than once; one holder is shown".into());
    }
    Ok(scene)
}

/// Returns a note on values beyond the tile.
fn outside(tv: &Layout, tile: &TensorLayout) -> Option<String> {
    let last = i128::from(tile.size()) - 1;
    let (low, high) = tv.bounds()?;
    let reaches = low < 0 || i128::from(high) > last;
    (last >= 0 && reaches).then(|| {
        format!("the values reach from cell {low} to cell {high}, the tile's last is {last}: later cells are not shown")
    })
}

/// Draws the owners of the elements of an array that is stored in the order of threads: thread after thread in memory,
/// the values of each together, tile after tile. The fragments of matrix units in the catalogue are such formats.
///
/// # Errors
/// [illegal](Error::is_illegal) if the storage does not consist of whole tiles of `threads` threads with `values`
/// values each.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_draw::{Limits, Subject, fragment};
/// // The accumulator of an m16n8 product: 32 threads of 4 values.
/// let c = TensorLayout::of(&Layout::parse("((8,2),(2,4)):((16,2),(1,4))").unwrap());
/// let scene = fragment(&Subject::new(&c), 32, 4, &Limits::default())?;
/// assert_eq!(scene.bands[0].panels[0].cell(9, 3).unwrap().text, "T5\nV3");
/// assert!(fragment(&Subject::new(&c), 32, 3, &Limits::default()).unwrap_err().is_illegal());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn fragment(
    subject: &Subject<'_>,
    threads: u64,
    values: u64,
    limits: &Limits,
) -> Result<Scene, Error> {
    let (tile, capacity) = (threads.saturating_mul(values), subject.layout.capacity());
    if tile == 0 || !capacity.is_multiple_of(tile) {
        let numbers = [threads.into(), values.into(), capacity.into()];
        let legal = "threads times values must divide the storage";
        return Err(Error::illegal("{} threads of {} values for a storage of {}", numbers, legal));
    }
    let owner = |offset: i64| {
        let offset = u64::try_from(offset).ok();
        Ok(offset.map(|offset| Owner {
            thread: offset / values % threads,
            value: offset % values,
            tile: offset / tile,
        }))
    };
    let mut scene = draw(subject, limits, &owner)?;
    let tiles = if capacity > tile { ", tile after tile" } else { "" };
    let hold = if threads == 1 { "holds" } else { "hold" };
    let (threads, values) = (Counted(threads, "thread"), Counted(values, "value"));
    scene.subtitle = format!("{threads} {hold} {values} each{tiles}");
    Ok(scene)
}

struct Owner {
    thread: u64,
    value: u64,
    tile: u64,
}

/// Draws the grid of a layout with the owner of each offset in its cells.
fn draw(
    subject: &Subject<'_>,
    limits: &Limits,
    owner: &dyn Fn(i64) -> Result<Option<Owner>, Error>,
) -> Result<Scene, Error> {
    let colouring = Colouring::new(subject.layout);
    let sheet = Sheet::new(subject, &colouring, limits);
    let failure = RefCell::new(None);
    let (panels, left_out) = sheet.panels(&|spot| match spot.offset.map(owner) {
        None => sheet.padding(spot),
        Some(Ok(owner)) => cell(spot, owner),
        Some(Err(error)) => {
            failure.borrow_mut().get_or_insert(error);
            Cell::default()
        }
    });
    if let Some(error) = failure.into_inner() {
        return Err(error);
    }
    let text = "T thread, V value; threads apart by 8 have one colour";
    let mut scene = Scene {
        title: subject.name.clone(),
        bands: bands(panels),
        legend: vec![Key {
            paints: (0..u64::from(HUES)).map(Paint::colour).collect(),
            text: text.into(),
        }],
        notes: sheet.notes(left_out),
        ..Scene::default()
    };
    scene.legend.extend(padding(&scene, &[subject]));
    scene.notes.extend(empty(subject));
    Ok(scene)
}

fn cell(spot: &Spot<'_>, owner: Option<Owner>) -> Cell {
    let at = join(spot.coord);
    let Some(Owner { thread, value, tile }) = owner else {
        return Cell { tip: format!("({at}): nobody's"), ..Cell::default() };
    };
    let of = if tile > 0 { format!(" in tile {tile}") } else { String::new() };
    Cell {
        text: format!("T{thread}\nV{value}"),
        paint: Paint::colour(thread),
        tip: format!("({at}): thread {thread}, value {value}{of}"),
        link: Some(thread),
        marked: false,
    }
}

/// Triton's names of input dims, with the letter of each; the register is last.
const HOLDERS: [(&str, char); 4] =
    [("block", 'B'), ("warp", 'W'), ("lane", 'T'), ("register", 'V')];

/// Draws the input coordinate that is mapped to each coordinate of the output dims: for Triton's layouts the thread and
/// the value (`W1 T5` and `V3` below), for others the coordinate. If several input coordinates hold one element, the
/// first is shown, and the number of copies is noted.
///
/// # Errors
/// [no layout](Error::is_no_layout) for a map of more than [`MOST`] input coordinates that does not reach every output
/// coordinate.
///
/// ```
/// use tilewright_core::LinearLayout;
/// use tilewright_draw::{Limits, distribution};
/// let map = LinearLayout::parse("{register=[[0,1]],lane=[[0,2],[1,0]],warp=[[2,0]]} -> (dim0:4,dim1:4)").unwrap();
/// let scene = distribution(&map, &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!(panel.cell(3, 3).unwrap().text, "W1 T3\nV1");
/// assert_eq!(panel.cell(0, 1).unwrap().tip, "(0,1): register 1, lane 0, warp 0");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn distribution(map: &LinearLayout, limits: &Limits) -> Result<Scene, Error> {
    let extents: Vec<u64> = map.outs().iter().map(|dim| dim.size()).collect();
    let array = TensorLayout::row_major(&extents)?;
    let (subject, colouring) = (Subject::new(&array), Colouring::new(&array));
    let sheet = Sheet::new(&subject, &colouring, limits);
    let holders = Holders::new(map)?;
    let (panels, left_out) = sheet.panels(&|spot| holders.cell(spot));
    let outs: Vec<&str> = map.outs().iter().map(|dim| dim.name()).collect();
    let mut scene = Scene {
        title: map.to_string(),
        subtitle: holders.says(&outs.join(" × ")),
        bands: bands(panels),
        legend: vec![Key {
            paints: (0..u64::from(HUES)).map(Paint::colour).collect(),
            text: holders.key().into(),
        }],
        notes: sheet.notes(left_out),
    };
    if holders.copies > 1 {
        let copies = holders.copies;
        scene.notes.push(format!("each is held {copies} times; the first holder is shown"));
    }
    Ok(scene)
}

/// The inverse of a map.
struct Holders<'a> {
    map: &'a LinearLayout,
    back: Back,
    /// True if all dims are Triton's.
    named: bool,
    /// The number of input coordinates with the same value.
    copies: u64,
}

/// The inverse by the output index.
enum Back {
    /// A table of all input indices.
    Listed(HashMap<u64, u64>),
    /// The right inverse.
    Solved(Box<LinearLayout>),
}

impl<'a> Holders<'a> {
    fn new(map: &'a LinearLayout) -> Result<Holders<'a>, Error> {
        let back = if map.in_size() <= MOST {
            let mut first = HashMap::new();
            for index in 0..map.in_size() {
                first.entry(map.apply_index(index)?).or_insert(index);
            }
            Back::Listed(first)
        } else {
            Back::Solved(Box::new(map.pseudo_inverse()?))
        };
        let known = |name: &str| HOLDERS.iter().any(|(holder, _)| *holder == name);
        let named = !map.ins().is_empty() && map.ins().iter().all(|dim| known(dim.name()));
        Ok(Holders { map, back, named, copies: map.in_size() >> map.rank() })
    }

    /// Returns the input coordinate of an output coordinate, with an integer for each input dim.
    fn place(&self, coord: &[u64]) -> Option<Vec<u64>> {
        let index = match &self.back {
            Back::Listed(first) => *first.get(&index(coord, self.map.outs()))?,
            Back::Solved(back) => back.apply_index(index(coord, self.map.outs())).ok()?,
        };
        let digits = self.map.ins().iter().scan(index, |rest, dim| {
            let digit = *rest % dim.size();
            *rest /= dim.size();
            Some(digit)
        });
        Some(digits.collect())
    }

    fn cell(&self, spot: &Spot<'_>) -> Cell {
        let at = join(spot.coord);
        let Some(place) = self.place(spot.coord) else {
            return Cell { tip: format!("({at}): from nowhere"), ..Cell::default() };
        };
        let pairs = self.map.ins().iter().zip(&place);
        let words = pairs.map(|(dim, x)| format!("{} {x}", dim.name())).collect::<Vec<_>>();
        let thread = self.thread(&place);
        Cell {
            text: if self.named { self.name(&place) } else { join(&place) },
            paint: Paint::colour(thread),
            tip: format!("({at}): {}", words.join(", ")),
            link: Some(thread),
            marked: false,
        }
    }

    /// Returns `W1 T5` and `V3`; dims of size 1 are left out.
    fn name(&self, place: &[u64]) -> String {
        let digit = |(name, letter): &(&str, char)| {
            let dim = self.map.ins().iter().position(|dim| dim.name() == *name)?;
            (self.map.ins()[dim].size() > 1).then(|| format!("{letter}{}", place[dim]))
        };
        let outer: Vec<String> = HOLDERS[..3].iter().filter_map(digit).collect();
        let lines = [outer.join(" "), digit(&HOLDERS[3]).unwrap_or_default()];
        lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the number of the thread, or of the coordinate without its last dim: it selects the colour.
    fn thread(&self, place: &[u64]) -> u64 {
        let dims = self.map.ins().iter().zip(place).enumerate();
        let last = place.len().saturating_sub(1);
        let other = |dim: usize, name: &str| match self.named {
            true => name != "register",
            false => dim < last || last == 0,
        };
        let digits = dims.filter(|(at, (dim, _))| other(*at, dim.name()));
        let (number, _) = digits.fold((0u64, 1u64), |(number, size), (_, (dim, x))| {
            (number.wrapping_add(x.wrapping_mul(size)), size.wrapping_mul(dim.size()))
        });
        number
    }

    fn says(&self, outs: &str) -> String {
        if self.named {
            return format!("the holders of each element of {outs}");
        }
        let ins: Vec<&str> = self.map.ins().iter().map(|dim| dim.name()).collect();
        format!("cells name the ({}) that is sent to each {outs}", ins.join(","))
    }

    fn key(&self) -> &'static str {
        match self.named {
            true => "T lane, V register, W warp, B block; threads apart by 8 have one colour",
            false => "one colour per coordinate without its last dim, these 8 in turn",
        }
    }
}

/// Returns the index of a coordinate, the first dim fastest.
fn index(coord: &[u64], dims: &[tilewright_core::LinearDim]) -> u64 {
    let pairs = coord.iter().zip(dims).rev();
    pairs.fold(0, |index, (x, dim)| index.wrapping_mul(dim.size()).wrapping_add(*x))
}
