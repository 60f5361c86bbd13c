//! No layout in types allocates on the heap, whether it succeeds or fails.
//!
//! A separate program: its allocator counts, which would slow down every other test.

use std::{
    fmt::{self, Write},
    hint::black_box,
};

use allocation_counter::measure;
use tilewright_core::Error;
use tilewright_fixed::{
    _1, _4, _8, _12, Format, checked_crd2offset, checked_idx2crd, crd2offset, idx2crd, make_layout,
    make_layout_tile, make_tile, zN,
};

/// A writer that discards what is written.
struct Sink;

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

fn shown(value: &impl fmt::Display) {
    write!(Sink, "{value}").expect("a sink takes all");
}

/// Returns the answer, or formats its error.
fn ask<T>(answer: Result<T, Error>) -> Option<T> {
    answer.map(black_box).map_err(|error| shown(&error)).ok()
}

fn without_heap(f: impl FnOnce()) {
    assert_eq!(measure(f).count_total, 0);
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(black_box(Box::new(1)))).count_total, 1);
}

#[test]
fn layouts_in_types() {
    let (rows, cols, from, far) = black_box((100, 40, 5, 99));
    without_heap(|| {
        let mixed = make_layout((_8, rows), (_1, _8));
        black_box((mixed.offset((1, from)), mixed.rank(), mixed.depth(), mixed.size()));
        let _ = (ask(mixed.checked_offset((1, from))), ask(mixed.checked_offset((9, far))));
        let _ = (ask(mixed.lower()), ask(make_layout((_8, -far), (_1, _8)).lower()));
        shown(&mixed);
        let (shape, stride) = ((_8, rows), (_1, _8));
        let coord = (3, from);
        black_box((crd2offset(coord, shape, stride), idx2crd(far, shape)));
        let _ = ask(checked_crd2offset(coord, shape, stride));
        let _ = (ask(checked_idx2crd(far, shape)), ask(checked_idx2crd(-far, shape)));
        let zn = zN::layout(rows, cols, 16);
        let _ = (ask(zn.tensor()), ask(zn.layout().lower()));
        shown(&make_layout_tile(zn.layout(), (_8, from)));
        let tile = make_tile(make_layout((_8, _12), (_12, _1)), (from, _4), (_4, _4));
        let _ = black_box((tile.offset((1, 1)), tile.layout(), tile.valid(), tile.origin()));
        let _ = (ask(tile.checked_offset((0, 1))), ask(tile.checked_offset((far, 1))));
    });
}
