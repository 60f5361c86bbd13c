//! Draws the thread that holds each element, and the index of its value.
//!
//! Law: if the picture assigns an element to value v of thread t, the layout maps (t, v) to that element.

use std::cell::RefCell;

use tilewright_core::{Counted, Error, Layout, TensorLayout};

use crate::{
    Cell, Key, Limits, Paint, Scene, Subject,
    colouring::Colouring,
    grid::{bands, empty, padding},
    palette::HUES,
    sheet::{Sheet, Spot},
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
