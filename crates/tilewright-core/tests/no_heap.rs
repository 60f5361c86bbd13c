//! No public operation of this crate allocates on the heap, whether it succeeds or fails.
//!
//! A separate program: its allocator counts, which would slow down every other test.

use std::fmt::{self, Write};
use std::hint::black_box;

use allocation_counter::measure;
use tilewright_core::{
    BasisLayout, Coord, Digit, Error, Fill, Fractal, IntTuple, Layout, LayoutTv, LeftInverse, Mode,
    ParseError, Pattern, Profile, Refinement, Slicer, Step, Swizzle, TensorLayout, Tiler, View,
    ViewMut,
};

/// Plain, nested, with both signs, with offset, swizzle and holes, empty, of rank 0, and two that searches leave
/// undecided.
const LAYOUTS: [&str; 16] = [
    "4:1",
    "(6,8):(8,1)",
    "((2,2),(2,3)):((2,12),(1,4))",
    "(4,6):(2,3)",
    "(3,2):(-1,3)+2",
    "(2,2):(2,3)",
    "(2,3,4,5):(0,42,1,0)",
    "((4,2),(4,3)):((4,16),(1,32))+5",
    "Sw<3,4,3> o (8,64):(64,1)",
    "Sw<2,0,2> o 16:1",
    "(2,12):(5,3)",
    "(0,3):(1,2)",
    "():()",
    "((16,7),(16,7)):((16,256),(1,1792))",
    "(50,50,50):(10007,10009,10037)",
    "(1000003,2,2):(0,1,1)",
];

const TUPLES: [&str; 6] = ["()", "24", "(6,8)", "((2,2),6)", "(1,0)", "(-1,(2,3))"];

/// A writer that counts and discards what is written.
struct Sink(usize);

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

fn shown(value: &impl fmt::Display) {
    let mut sink = Sink(0);
    write!(sink, "{value}").expect("a sink takes all");
    black_box(sink.0);
}

/// Returns the answer, or formats its error.
fn ask<T>(answer: Result<T, Error>) -> Option<T> {
    match answer {
        Ok(value) => Some(black_box(value)),
        Err(error) => {
            shown(&error);
            black_box((error.witness().is_some(), error.is_undecided()));
            None
        }
    }
}

fn read<T>(text: &str, answer: Result<T, ParseError>) -> Option<T> {
    match answer {
        Ok(value) => Some(black_box(value)),
        Err(error) => {
            shown(&error);
            shown(&error.render(text));
            let cause = error.cause().is_some();
            black_box((error.span(), error.nearest().is_some(), cause, error.shifted(1)));
            None
        }
    }
}

fn layouts() -> [Layout; 16] {
    LAYOUTS.map(|text| Layout::parse(text).unwrap())
}

fn tuples() -> [IntTuple; 6] {
    TUPLES.map(|text| IntTuple::parse(text).unwrap())
}

#[track_caller]
fn without_heap(f: impl FnOnce()) {
    let used = measure(f);
    assert_eq!((used.count_total, used.bytes_total), (0, 0));
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(black_box(Box::new(7)))).count_total, 1);
}

#[test]
fn texts() {
    without_heap(|| {
        for text in LAYOUTS.iter().chain(&TUPLES).chain(&["(4,", "4:1x", "(2:1", "(_,1)", "(1@0)"])
        {
            read(text, Layout::parse(text)).iter().for_each(shown);
            read(text, IntTuple::parse(text)).iter().for_each(shown);
            read(text, Slicer::parse(text)).iter().for_each(shown);
            read(text, BasisLayout::parse(text)).iter().for_each(shown);
        }
    });
}

#[test]
fn one_layout() {
    let profile = Profile::flat(2).unwrap();
    without_heap(|| {
        for l in &layouts() {
            black_box((l.size(), l.axis_size(1), l.bounds(), l.cosize(), l.span(), l.exhaustive()));
            black_box((l.contiguous_run(), l.rank(), l.depth(), l.axis(0), l.modes(), l.offset()));
            let _ = black_box((l.swizzle(), l.shape(), l.stride(), l.profile()));
            let _ = (ask(l.injective()), ask(l.padding_count()), ask(l.exact_cover(16)));
            let _ = (ask(l.offset_of(5)), ask(l.offset_at(&[1, 1])), ask(l.locate(5)));
            let _ =
                (l.coalesce(), l.coalesce_extended(), l.flatten(), l.copied(), l.complement_gap());
            let _ = (ask(l.coalesce_by(&profile)), ask(l.filter_zeros()), ask(l.filter()));
            let _ = (
                ask(l.get(&[0, 1])),
                ask(l.select(&[1, 0])),
                ask(l.take(0, 1)),
                ask(l.group(0, 2)),
            );
            let _ = (ask(l.complement(48)), ask(l.complement_within()), ask(l.compact_like()));
            let _ = (ask(l.right_inverse()), ask(l.left_inverse()), ask(l.nullspace()));
            if let Some(inverse) = ask(LeftInverse::of(l)) {
                black_box((inverse.index(3), inverse.layout()));
            }
            let _ = (ask(l.upcast(2)), ask(l.downcast(4)), ask(l.recast(4, 6)));
            let _ = (ask(l.with_offset(3)), ask(l.with_swizzle(Swizzle::new(1, 2, 1).unwrap())));
            let _ = (ask(l.tile(&[2, 3])), ask(l.tile_at(&[1, 2], &[2, 2])));
        }
    });
}

#[test]
fn two_layouts() {
    without_heap(|| {
        for a in &layouts() {
            for b in &layouts() {
                let by = [Tiler::Layout(b), Tiler::Extent(2), Tiler::Keep];
                let _ = (ask(a.composition(b)), ask(a.composition_tiler(&by)));
                let _ = (ask(a.logical_divide(b)), ask(a.zipped_divide(b)));
                let _ = (ask(a.tiled_divide(b)), ask(a.flat_divide(b)));
                for by in [&by[..1], &by[1..]] {
                    let _ = (ask(a.logical_divide_tiler(by)), ask(a.zipped_divide_tiler(by)));
                    let _ = (ask(a.tiled_divide_tiler(by)), ask(a.flat_divide_tiler(by)));
                }
                let _ = (ask(a.logical_product(b)), ask(a.zipped_product(b)));
                let _ = (ask(a.tiled_product(b)), ask(a.flat_product(b)));
                let _ = (ask(a.blocked_product(b)), ask(a.raked_product(b)));
                let _ = (ask(a.append(b)), ask(a.prepend(b)), ask(a.replace(0, b)));
                let _ = (ask(Layout::from_layouts(&[a, b])), ask(a.max_common_layout(b)));
                ask(a.max_common_vector(b));
                black_box(a.max_alignment());
                if let Some(tv) = ask(LayoutTv::new(a, b)) {
                    black_box((tv.tile(), tv.layout()));
                }
            }
        }
    });
}

#[test]
fn tuples_and_coordinates() {
    without_heap(|| {
        for s in &tuples() {
            black_box((s.values(), s.rank(), s.depth(), s.as_integer(), s.profile()));
            let _ = (ask(s.product()), ask(s.product_each()), ask(s.get(&[0])), ask(s.idx2crd(7)));
            let _ = (ask(s.compact_col_major()), ask(s.compact_row_major()));
            let _ = (ask(Layout::compact_col_major(s)), ask(Layout::compact_row_major(s)));
            if let Some(basis) = ask(BasisLayout::identity(s)) {
                black_box((basis.components(), basis.shape(), basis.path(0), basis.part(0)));
            }
            for t in &tuples() {
                black_box((s.congruent(t), s.weakly_congruent(t), s.compatible(t)));
                let _ = (ask(s.shape_div(t)), ask(s.ceil_div(t)), ask(s.compact_order(t)));
                let _ =
                    (ask(s.crd2idx(t)), ask(s.crd2crd(t, s)), ask(IntTuple::crd2offset(t, s, s)));
                let _ = (ask(Layout::from_shape_stride(s, t)), ask(Layout::ordered(s, t)));
            }
            for l in &layouts() {
                let _ = (ask(l.crd2idx(s)), ask(l.domain_offset(s)), ask(l.tile_to_shape(s)));
                ask(l.tile_to_shape_ordered(s, s));
                if let Some(slicer) = ask(Slicer::new(s, &[0])) {
                    let _ = (
                        ask(l.slice(&slicer)),
                        ask(l.dice(&slicer)),
                        ask(l.slice_and_offset(&slicer)),
                    );
                }
            }
        }
    });
}

#[test]
fn basis_layouts() {
    without_heap(|| {
        let basis = |text| BasisLayout::parse(text).unwrap();
        let (a, b) = (basis("(2,3):(1@0,1@1)"), basis("(8,3):(1@1,4@0)"));
        black_box(a.same_function(&b));
        for s in &tuples() {
            ask(a.coord_at(s));
        }
        for l in &layouts() {
            let _ = (ask(l.composition_basis(&b)), ask(BasisLayout::new(&[l, l])));
        }
    });
}

/// Some of every kind: strided, padded, empty, with steps, swizzled.
fn tensors() -> Vec<TensorLayout> {
    let l = layouts();
    let steps = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by: 4 }];
    let merged = Layout::parse("(2,4,4):(4,8,1)").unwrap();
    vec![
        TensorLayout::row_major(&[4, 6]).unwrap(),
        TensorLayout::col_major(&[4, 6]).unwrap(),
        TensorLayout::ordered(&[4, 6], &[1, 0]).unwrap(),
        TensorLayout::new(&[3, 5], &l[2], 24).unwrap(),
        TensorLayout::new(&[100, 100], &l[13], 12_544).unwrap(),
        TensorLayout::with_steps(&[2, 3, 5], &steps, &merged, 32).unwrap(),
        TensorLayout::of(&l[8]),
        TensorLayout::linear(&l[9]).unwrap(),
        TensorLayout::row_major(&[0, 6]).unwrap(),
    ]
}

#[test]
fn tensor_layouts() {
    let tensors = tensors();
    without_heap(|| {
        for t in &tensors {
            black_box((t.size(), t.rank(), t.true_rank(), t.padding(), t.capacity(), t.extents()));
            black_box((t.steps(), t.is_strided(), t.layout(), t.contiguous_run()));
            let _ = black_box((t.contiguous_run_is_exact(), t.copied()));
            let _ =
                (ask(t.injective()), ask(t.offset(&[1, 2])), ask(t.offset_of(7)), ask(t.locate(9)));
            let _ = (ask(t.coord_of(7)), ask(t.run(&[1, 2], 1)), ask(t.with_capacity(1 << 20)));
            assert_eq!(t.in_order().count() as u64, t.size());
            t.in_memory().for_each(|place| drop(black_box(place)));
            if let Some(pattern) = ask(Pattern::of(t)) {
                black_box((pattern.rank(), pattern.is_batched(), pattern.digits().len()));
                let _ = (ask(pattern.layout(t.extents())), ask(pattern.storage(t.extents())));
                ask(pattern.batched().unbatched(3));
            }
            for other in &tensors {
                let _ = (ask(t.same_function(other)), ask(t.first_difference(other)));
                ask(t.any_difference(other));
                let Some(refinement) = ask(Refinement::new(t, other)) else { continue };
                let mut blocks = refinement.blocks();
                while let Some(block) = blocks.next_block() {
                    black_box((block.src(), block.dst(), block.size(), block.loops().len()));
                    black_box((block.origin(), refinement.is_regular()));
                }
            }
        }
    });
}

#[test]
fn the_small_values() {
    without_heap(|| {
        let swizzle = Swizzle::new(3, 4, 3).unwrap();
        black_box((swizzle.apply(1000), swizzle.window(), swizzle.atom(), swizzle.is_identity()));
        black_box((swizzle.bits(), swizzle.base(), swizzle.shift()));
        let profile = Profile::nested(&[2, 1]).unwrap();
        black_box((profile.leaves(), profile.rank(), profile.depth(), profile.axis(1)));
        let _ = black_box((profile.brackets(0), profile.same(&Profile::LEAF), profile.copied()));
        let _ = (ask(Profile::flat(99)), ask(Profile::EMPTY.copied().push(1, 1)));
        let mode = Mode::new(4, 1);
        let _ = black_box((mode.extent(), mode.stride(), IntTuple::integer(3)));
        let error = Error::illegal("{} of {}", [1, 2], "none").at(Coord::new(&[1]).unwrap());
        shown(&error);
        shown(&ParseError::refused((0, 1), error).with_nearest("two").render("2"));
        if let Some(coord) = ask(Coord::new(&[1, 2])) {
            let _ = black_box((coord.as_slice(), coord.copied()));
        }
        let _ =
            (ask(Layout::flat(&[Mode::new(4, 1)])), ask(Layout::nested(&[Mode::new(4, 1)], &[2])));
        black_box(Fill::Zero.is_promised());
        let digits = [Digit::rest(0, 1), Digit::fixed(0, 0, 16)];
        black_box(digits.map(|digit| (digit.axis(), digit.level(), digit.size())));
        let _ = (ask(Pattern::new(1, &digits)), Fractal::ZN.pattern(16, 16));
    });
}

#[test]
fn views() {
    let rows = TensorLayout::row_major(&[4, 6]).unwrap();
    let mut data: Vec<u32> = (0..24).collect();
    without_heap(|| {
        if let Some(view) = ask(View::new(&data, &rows)) {
            black_box((view.get(&[1, 2]), view.offset(&[1, 2]), view.size(), view.extents()));
            black_box((view.is_whole(), view.data(), view.layout()));
            assert_eq!(view.iter().count(), 24);
            ask(view.iter_memory()).into_iter().flatten().for_each(|place| drop(black_box(place)));
            let _ = (
                ask(view.tile(&[1, 1], &[2, 2])),
                ask(view.slice(0, 1)),
                ask(view.permute(&[1, 0])),
            );
        }
        if let Some(mut view) = ask(ViewMut::new(&mut data, &rows)) {
            black_box((view.get_mut(&[1, 2]).is_some(), view.data_mut().len()));
            view[[1, 2]] = view[[0, 0]];
            ask(view.fill_padding(Default::default()));
            black_box(view.tile(&[1, 1], &[2, 2]).is_ok());
            black_box((view.slice(0, 1).is_ok(), view.permute(&[1, 0]).is_ok()));
        }
    });
}
