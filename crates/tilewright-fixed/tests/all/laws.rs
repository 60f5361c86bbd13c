//! Fixed layouts return the results of the run-time layouts to which they lower: every small static layout, mixed ones
//! with every small value, and the examples of the TLA document.

use tilewright_core::{
    Error, Fractal, IntTuple, Layout, LayoutTile, TensorLayout, expect_const, layout,
};
use tilewright_fixed::*;

/// The results of a layout, index by index: the coordinate, and the offsets by index and by coordinate, unchecked and
/// checked.
struct Answers {
    text: String,
    size: i128,
    rank: usize,
    depth: usize,
    run_time: Layout,
    #[allow(clippy::type_complexity)]
    at: Vec<(Result<IntTuple, Error>, [i64; 2], [Result<i64, Error>; 2])>,
    beyond: [bool; 2],
}

/// Returns the results of a layout; only this function is generic.
fn answers<S, D>(layout: FixedLayout<S, D>) -> Answers
where
    S: Congruent<D>,
    D: FixedTuple,
    u64: Coordinate<S, D>,
    S::Digits: Coordinate<S, D>,
{
    let run_time = layout.lower().unwrap();
    let size = run_time.size();
    let at = |index: u64| {
        let coord = checked_idx2crd(index, layout.shape()).unwrap();
        assert!(
            coord.display().to_string() == idx2crd(index, layout.shape()).display().to_string()
        );
        let unchecked = [layout.offset(index), layout.offset(coord)];
        (coord.lower(), unchecked, [layout.checked_offset(index), layout.checked_offset(coord)])
    };
    Answers {
        text: layout.to_string(),
        size: layout.size().value(),
        rank: layout.rank(),
        depth: layout.depth(),
        run_time,
        at: (0..size).map(at).collect(),
        beyond: [
            layout.checked_offset(size).is_err_and(|error| error.is_out_of_range()),
            checked_idx2crd(size, layout.shape()).is_err_and(|error| error.is_out_of_range()),
        ],
    }
}

/// Checks that every result is that of the run-time layout.
fn check(answers: Answers) -> Layout {
    let (run_time, text) = (answers.run_time, answers.text);
    assert_eq!(text.replace('_', ""), run_time.to_string());
    assert_eq!(answers.size, i128::from(run_time.size()), "{text}");
    assert_eq!((answers.rank, answers.depth), (run_time.rank(), run_time.depth()), "{text}");
    for (index, (coord, unchecked, checked)) in answers.at.into_iter().enumerate() {
        let offset = run_time.offset_of(index as u64);
        assert_eq!(coord, run_time.shape().idx2crd(index as i64), "{text}");
        assert_eq!(unchecked.map(Ok), [offset.clone(), offset.clone()], "{text} {index}");
        assert_eq!(checked, [offset.clone(), offset], "{text} {index}");
    }
    assert_eq!(answers.beyond, [true, true], "{text}");
    run_time
}

/// The results of a static layout, with little generated code: hundreds of them are compiled.
struct StaticAnswers {
    bytes: usize,
    layout: Layout,
    by_index: fn(u64) -> i64,
    by_coord: fn(u64) -> i64,
}

fn static_answers<S, D>() -> StaticAnswers
where
    S: Static + Congruent<D>,
    D: Static,
    u64: Coordinate<S, D>,
    S::Digits: Coordinate<S, D>,
{
    StaticAnswers {
        bytes: size_of::<FixedLayout<S, D>>(),
        layout: FixedLayout::<S, D>::default().into(),
        by_index: |index| FixedLayout::<S, D>::default().offset(index),
        by_coord: |index| FixedLayout::<S, D>::default().offset(idx2crd(index, S::default())),
    }
}

#[test]
fn every_small_static_layout() {
    fn nested<const A: i64, const B: i64, const X: i64, const Y: i64>() {
        let answers = static_answers::<(Int<A>, (Int<B>,)), (Int<X>, (Int<Y>,))>();
        assert_eq!(answers.bytes, 0);
        assert_eq!(answers.layout.to_string(), format!("({A},({B})):({X},({Y}))"));
        for index in 0..answers.layout.size() {
            let offset = answers.layout.offset_of(index);
            assert_eq!(Ok((answers.by_index)(index)), offset, "{} {index}", answers.layout);
            assert_eq!(Ok((answers.by_coord)(index)), offset, "{} {index}", answers.layout);
        }
    }
    macro_rules! layouts {
        ($($a:literal)*; $strides:tt) => { $(layouts!(@ $a; 0 1 2 3; $strides);)* };
        (@ $a:literal; $($b:literal)*; $strides:tt) => { $(layouts!(@ $a $b; $strides; $strides);)* };
        (@ $a:literal $b:literal; ($($x:literal)*); $strides:tt) => { $(layouts!(@ $a $b $x; $strides);)* };
        (@ $a:literal $b:literal $x:literal; ($($y:literal)*)) => { $(nested::<$a, $b, $x, $y>();)* };
    }
    layouts!(0 1 2 3; (-2 0 1 4));
}

#[test]
fn static_layouts_answer_everything() {
    let tiled = make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
    let run_time = check(answers(tiled));
    assert_eq!((Layout::from(tiled), size_of_val(&tiled)), (run_time, 0));
    let _ = check(answers(make_layout((_3, _1, (_2, (_2,))), (_0, _9, (Int::<-3>, (_7,))))));
    let _ = check(answers(make_layout(_5, Int::<-1>)));
    let _ = check(answers(make_layout((), ())));
}

#[test]
fn every_small_mixed_layout() {
    let triples = |from: [i32; 4]| {
        from.into_iter().flat_map(move |x| {
            from.into_iter().flat_map(move |y| from.into_iter().map(move |z| (x, y, z)))
        })
    };
    for (a, b, c) in triples([0, 1, 2, 3]) {
        for (x, y, z) in triples([-3, 0, 1, 5]) {
            let _ = check(answers(make_layout(((a, b), c), ((x, y), z))));
            let _ =
                check(answers(make_layout(((a as u8, _3), (b as i64,)), ((_4, y as i16), (z,)))));
            let _ = check(answers(make_layout((_2, (a, (b, _3))), (x, (_1, (y, _0))))));
        }
        let _ = check(answers(make_layout((a, _2, b, c), (_1, 7i8, 11u64, -2i128))));
    }
    let _ = check(answers(make_layout(5u128, Int::<-1>)));
}

#[test]
fn ranks_to_twelve_and_their_parts() {
    let shape = (_2, 1u8, _2, _1, 2i8, _1, _1, 3usize, _1, _2, _1, _2);
    let stride = (_1, _0, _2, 9u8, 4u16, _3, _3, _8, _0, 24i64, _5, _48);
    let layout = make_layout(shape, stride);
    let _ = check(answers(layout));
    assert_eq!(layout.get::<11>().to_string(), "_2:_48");
    assert_eq!(layout.get::<7>().to_string(), "3:_8");
    assert_eq!(size_of_val(&shape), size_of::<(u8, i8, usize)>());
    let tuple = ((1, (2, (3, (4, (5, 6))))), 7);
    assert_eq!(tuple.at((_0, _1, _1, _1, _1, _0)), 5);
    assert_eq!(tuple.at((_0, _1, _1)).display().to_string(), "(3,(4,(5,6)))");
    assert_eq!((tuple.at(_1), tuple.at((_1,)), tuple.at((_1, _0))), (7, 7, 7));
    assert_eq!((tuple.depth(), tuple.at((_0, _1)).rank()), (6, 2));
}

/// Checks the tile at the origin against the run-time tile.
fn check_tile<S, D, T>(layout: FixedLayout<S, D>, shape: T)
where
    S: Congruent<D> + TileBy<T>,
    S::Shape: Congruent<D>,
    D: FixedTuple,
    T: FixedTuple,
{
    let tile = make_layout_tile(layout, shape);
    let extents: Vec<u64> = shape.lower().unwrap().values().iter().map(|&x| x as u64).collect();
    let run_time = layout.lower().unwrap().tile(&extents).unwrap();
    assert_eq!(tile.layout().lower().as_ref(), Ok(run_time.layout()), "{layout} by {extents:?}");
    assert_eq!(format!("{tile:?}").replace('_', ""), run_time.to_string());
    let valid: Vec<i64> = run_time.valid().as_slice().iter().map(|&x| x as i64).collect();
    assert_eq!(tile.valid().lower().unwrap().values(), valid);
}

#[test]
fn tiles_are_those_of_the_run_time_layout() {
    let whole = make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
    for (r, c) in (1..=9u8).flat_map(|r| (1..=14i64).map(move |c| (r, c))) {
        check_tile(whole, (r, c));
        check_tile(whole, (_4, c));
        check_tile(make_layout(((r, 2u8), c), ((_1, r), _8)), (_5, _3));
        check_tile(
            make_layout(((_2, (r, _2)), (c, _1, _3)), ((_0, (_1, _2)), (_3, _4, _5))),
            (r, _7),
        );
        check_tile(make_layout((_2, r, (c, _2)), (_1, _2, (_3, _4))), (_1, _2, r));
        check_tile(make_layout(r, _1), 3);
    }
    let tile = make_layout_tile(whole, (_2, _3));
    assert_eq!(format!("{tile:?}"), "((_4,_1),(_4,_1)):((_4,_16),(_1,_32)) valid (_2,_3)");
    assert_eq!(size_of_val(&tile), 0);
    // An empty dynamic tile has no coordinates.
    assert_eq!(make_layout_tile(whole, (0, _3)).layout().lower().unwrap().size(), 0);
}

#[test]
fn tiles_anywhere_keep_their_origin() {
    let whole = make_layout(((_4, _2), (_4, 3u8)), ((_4, _16), (_1, _32)));
    let run_time = whole.lower().unwrap();
    for origin in (0..8u64).flat_map(|r| (0..12u64).map(move |c| (r, c))) {
        let tile = make_tile(whole, origin, (_3, _5));
        let (rows, cols) = tile.valid();
        assert_eq!((rows, cols), ((8 - origin.0 as i64).min(3), (12 - origin.1 as i64).min(5)));
        for (r, c) in (0..4).flat_map(|r| (0..6).map(move |c| (r, c))) {
            let at = tile.checked_offset((r, c));
            if (r as i64) < rows && (c as i64) < cols {
                assert_eq!(at, run_time.offset_at(&[origin.0 + r, origin.1 + c]));
                assert_eq!(at, Ok(tile.offset((r, c))));
            } else {
                assert!(at.unwrap_err().is_out_of_range());
            }
        }
    }
    assert!(make_tile(whole, (8, 0), (_3, _5)).checked_offset((0, 0)).is_err());
    assert!(make_tile(whole, (-2, 0), (_4, _4)).checked_offset((3, 0)).is_err());
}

/// Checks a format of rows and columns, each static or dynamic, against the run-time format.
fn check_format<F: Format, R: Integer, C: Integer, E: Integer>(
    run_time: &TensorLayout,
    (rows, cols, bits): (R, C, E),
) {
    let made = F::layout(rows, cols, bits);
    assert_eq!(made.tensor().as_ref(), Ok(run_time), "{made}");
}

#[test]
fn formats_are_those_of_the_run_time_patterns() {
    macro_rules! all {
        ($name:ident $run_time:expr) => {
            for (r, c) in (1..=40u64).flat_map(|r| [1, 7, 15, 16, 17, 31, 33, 65].map(|c| (r, c))) {
                for bits in [4u64, 8, 16, 32, 64] {
                    let expected: TensorLayout = $run_time(r, c, bits).unwrap();
                    check_format::<$name, _, _, _>(&expected, (r, c, bits));
                }
                let expected = $run_time(r, c, 16).unwrap();
                check_format::<$name, _, _, _>(&expected, (r, c, _16));
                let expected = $run_time(20, c, 8).unwrap();
                check_format::<$name, _, _, _>(&expected, (_20, c, _8));
            }
            check_format::<$name, _, _, _>(&$run_time(50, 60, 32).unwrap(), (_50, _60, _32));
            assert_eq!(size_of_val(&$name::layout(_50, _60, _32)), 0);
        };
    }
    all!(zN | r, c, bits | Fractal::ZN.format(r, c, bits));
    all!(nZ | r, c, bits | Fractal::NZ.format(r, c, bits));
    all!(zZ | r, c, bits | Fractal::ZZ.format(r, c, bits));
    all!(nN | r, c, bits | Fractal::NN.format(r, c, bits));
    all!(L0C |r, c, _: u64| Fractal::ZN.pattern(16, 16).layout(&[r, c]));
    all!(Weight4BitnZ |r, c, _: u64| Fractal::NZ.pattern(32, 16).layout(&[r, c]));
    all!(RowMajor |r, c, _: u64| TensorLayout::row_major(&[r, c]));
    all!(ColumnMajor |r: u64, c: u64, _: u64| {
        let layout = Layout::parse(&std::format!("({r},{c}):(1,{r})")).unwrap();
        TensorLayout::new(&[r, c], &layout, r * c)
    });
}

#[test]
fn a_format_that_64_bits_do_not_hold_is_an_error() {
    for (rows, cols, bits) in
        [(u64::MAX, 1, 16), (1 << 62, 1 << 30, 16), (8, 8, 24), (8, 8, 0), (i64::MAX as u64, 3, 8)]
    {
        let made = zN::layout(rows, cols, bits);
        assert!(made.layout().lower().unwrap_err().is_overflow(), "{made}");
        assert!(made.tensor().is_err());
        assert!(made.layout().checked_offset((0, 0)).is_err());
        // Unchecked, the result is unspecified, without a panic.
        made.layout().offset((3, 5));
    }
    assert!(zN::layout(-1, 8, 16).tensor().is_err());
    assert!(RowMajor::layout(8, -1, 16).tensor().unwrap_err().is_illegal());
}

/// Checks an operation on static layouts against the run-time operation.
fn check_derived<L: StaticLayout + std::fmt::Display>(
    derived: L,
    offset: impl Fn(L, u64) -> i64,
    run_time: Result<Layout, Error>,
) {
    let run_time = run_time.unwrap();
    assert_eq!((size_of::<L>(), &L::LAYOUT), (0, &run_time));
    assert_eq!(derived.to_string().replace('_', ""), run_time.to_string());
    for index in 0..run_time.size() {
        assert_eq!(Ok(offset(derived, index)), run_time.offset_of(index));
    }
}

#[test]
fn the_algebra_is_the_run_time_algebra() {
    macro_rules! unary {
        ($a:expr; $($op:ident)*) => { $(
            check_derived($a.$op(), |l, i| l.offset(i), Layout::from($a).$op().into_result());
        )* };
    }
    macro_rules! binary {
        ($a:expr, $b:expr; $($op:ident)*) => { $(
            let (a, b) = (Layout::from($a), Layout::from($b));
            check_derived($a.$op($b), |l, i| l.offset(i), a.$op(&b));
        )* };
    }
    let compact = make_layout(((_4, _2), (_4, _3)), ((_1, _4), (_8, _32)));
    unary!(compact; flatten coalesce filter right_inverse left_inverse nullspace);
    let rows = make_layout((_4, _6), (_6, _1));
    unary!(rows; flatten coalesce filter right_inverse left_inverse nullspace);
    let repeated = make_layout((_2, (_3, _1)), (_0, (_2, _7)));
    unary!(repeated; flatten coalesce filter nullspace);
    binary!(compact, make_layout((_4, _3), (_3, _1)); composition);
    binary!(make_layout((_6, _2), (_8, _2)), make_layout((_4, _3), (_3, _1)); composition);
    binary!(compact, make_layout((_2, _4), (_1, _8)); logical_divide zipped_divide tiled_divide flat_divide);
    binary!(rows, make_layout((_2, _2), (_1, _4)); logical_divide zipped_divide tiled_divide flat_divide
        logical_product zipped_product tiled_product flat_product blocked_product raked_product);
    let (a, n) = (make_layout((_2, _2), (_1, _6)), _24);
    check_derived(a.complement(n), |l, i| l.offset(i), Layout::from(a).complement(24));
    check_derived(a.complement(_4 * _6), |l, i| l.offset(i), Layout::from(a).complement(24));
    // Results can be operands again, and a whole integer is the layout N:1.
    let tiled = compact.logical_divide(_4).coalesce().composition(_8);
    assert_eq!(Layout::from(tiled).to_string(), "8:1");
    assert!(tiled == make_layout(_8, _1));
}

trait IntoResult {
    fn into_result(self) -> Result<Layout, Error>;
}

impl IntoResult for Layout {
    fn into_result(self) -> Result<Layout, Error> {
        Ok(self)
    }
}

impl IntoResult for Result<Layout, Error> {
    fn into_result(self) -> Result<Layout, Error> {
        self
    }
}

#[test]
fn coordinates_of_derived_layouts_in_any_spelling() {
    let tiled = make_layout((_8, _12), (_12, _1)).zipped_divide(make_layout(_4, _1));
    let run_time = Layout::from(tiled);
    for index in 0..run_time.size() {
        let whole = run_time.shape().idx2crd(index as i64).unwrap();
        assert_eq!(tiled.checked_offset(index), run_time.crd2idx(&whole));
    }
    assert_eq!(tiled.to_string(), "(_4,(_2,_12)):(_12,(_48,_1))");
    assert_eq!(tiled.offset((3, 5)), run_time.offset_at(&[3, 5]).unwrap());
    assert_eq!(tiled.offset((_3, (1, 7u8))), 36 + 48 + 7);
    assert!(tiled.checked_offset((4, 0)).unwrap_err().is_out_of_range());
    assert!(tiled.checked_offset((1, 1, 1)).unwrap_err().is_mismatch());
}

#[test]
fn the_documents_numbers() {
    let layout = make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
    let row = |r: u64| (0..12u64).map(|c| layout.offset((r, c))).collect::<Vec<_>>();
    assert_eq!(row(0), [0, 1, 2, 3, 32, 33, 34, 35, 64, 65, 66, 67]);
    assert_eq!(row(7), [28, 29, 30, 31, 60, 61, 62, 63, 92, 93, 94, 95]);
    assert_eq!(crd2offset((1, 5), layout.shape(), layout.stride()), 37);
    assert_eq!((layout.offset(13), layout.offset(37)), (21, 52));
    assert_eq!(layout.offset(((3, 1), (2, 2))), 94);
    // TLA's silent aliasing, and the error of the checked function.
    assert_eq!(layout.offset((8, 0)), 32);
    assert!(layout.checked_offset((8, 0)).unwrap_err().is_out_of_range());

    let w2xh4 = make_layout((_2, 4), (_12, _1));
    assert_eq!(w2xh4.to_string(), "(_2,4):(_12,_1)");
    let w32xh48 = make_layout(((16, 2), (16, 3)), ((16, 256), (1, 512)));
    assert_eq!(w32xh48.to_string(), "((16,2),(16,3)):((16,256),(1,512))");
    assert!(zN::layout(_32, _48, _16).layout() == w32xh48);

    let f16 = zN::layout(_16 * _6 + _4, _50 + _50, _16);
    assert_eq!(format!("{f16:?}"), "((_16,_7),(_16,_7)):((_16,_256),(_1,_1792)) valid (_100,_100)");
    let at = |coord| f16.layout().offset(coord);
    assert_eq!([at((0, 16)), at((16, 0)), at((99, 99))], [1792, 256, 12339]);
    assert_eq!(f16.tensor().unwrap().capacity(), 12544);
}

/// A format, a composition and a tile, at run time, in constants and in types.
#[test]
fn three_strengths_with_the_same_answers() {
    const ZN: TensorLayout = expect_const!(Fractal::ZN.format(100, 40, 16));
    const BY: Layout = layout!("(16,2):(1,2)");
    const COMPOSED: Layout = expect_const!(ZN.layout().composition(&BY));
    const TILE: LayoutTile = expect_const!(ZN.layout().tile(&[20, 30]));

    let zn = zN::layout(Int::<100>, _40, _16);
    assert_eq!(zn.tensor(), Ok(ZN));
    assert_eq!(Layout::from(zn.layout().composition(make_layout((_16, _2), (_1, _2)))), COMPOSED);
    let tile = make_layout_tile(zn.layout(), (_20, _30));
    assert_eq!(format!("{tile:?}").replace('_', ""), TILE.to_string());

    let run_time = Fractal::ZN.format(100, 40, 16).unwrap();
    assert_eq!(run_time, ZN);
    assert_eq!(
        run_time.layout().composition(&Layout::parse("(16,2):(1,2)").unwrap()),
        Ok(COMPOSED)
    );
    assert_eq!(run_time.layout().tile(&[20, 30]), Ok(TILE));
}

#[test]
fn no_integer_panics() {
    let values = [i64::MIN, i64::MIN + 1, -1, 0, 1, 2, i64::MAX];
    for (a, b) in values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))) {
        let layout = make_layout(((a, _3), b), ((b, _2), a));
        let _ = (layout.offset(a), layout.offset((b, a)), layout.size(), layout.to_string());
        let _ = (layout.lower(), layout.checked_offset(a), layout.checked_offset((a, b)));
        let _ = (idx2crd(a, layout.shape()), checked_idx2crd(b, layout.shape()));
        let tile = make_layout_tile(layout, (a, b));
        let _ = (tile.to_string(), tile.tensor(), tile.layout().offset((1, 1)));
        let tile = make_tile(layout, (a, _1), (b, a));
        let _ = (tile.offset((a, b)), tile.checked_offset((a, b)), tile.valid());
        let made = nZ::layout(a, b, a);
        let _ = (made.to_string(), made.tensor(), made.layout().offset((b, a)));
        assert!(layout.lower().is_err() || (a >= 0 && b >= 0));
    }
}
