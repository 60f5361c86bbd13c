//! One algorithm, many layouts: code written once over views returns the same result on row-major, column-major, padded,
//! blocked, swizzled and merged storage.

use tilewright_core::{Fractal, Layout, Step, Swizzle, TensorLayout, View, ViewMut};

const M: u64 = 7;
const N: u64 = 10;

/// Returns seven layouts of an M×N matrix.
fn layouts(m: u64, n: u64) -> Vec<TensorLayout> {
    let row = TensorLayout::row_major(&[m, n]).unwrap();
    let padded = Layout::parse(&format!("({m},{n}):({},1)", n + 6)).unwrap();
    let reversed = Layout::parse(&format!("({m},{n}):({n},-1)+{}", n - 1)).unwrap();
    let swizzled = row.layout().with_swizzle(Swizzle::new(2, 1, 2).unwrap()).unwrap();
    let merged = Layout::parse(&format!("({},4):(4,1)", (m * n).div_ceil(4))).unwrap();
    let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
    vec![
        row.clone(),
        TensorLayout::col_major(&[m, n]).unwrap(),
        TensorLayout::new(&[m, n], &padded, m * (n + 6)).unwrap(),
        TensorLayout::new(&[m, n], &reversed, m * n).unwrap(),
        Fractal::ZN.pattern(4, 4).layout(&[m, n]).unwrap(),
        Fractal::NN.pattern(2, 8).layout(&[m, n]).unwrap(),
        TensorLayout::new(&[m, n], &swizzled, swizzled.cosize() as u64).unwrap(),
        TensorLayout::with_steps(&[m, n], &steps, &merged, (m * n).div_ceil(4) * 4).unwrap(),
    ]
}

/// Returns the storage of the matrix with element (i, j) = f(i, j) and padding −1.
fn fill(layout: &TensorLayout, f: impl Fn(u64, u64) -> i64) -> Vec<i64> {
    let mut data = vec![-1; layout.capacity() as usize];
    let extents = layout.extents().to_vec();
    let mut view = ViewMut::new(&mut data, layout).unwrap();
    for i in 0..extents[0] {
        for j in 0..extents[1] {
            *view.get_mut(&[i, j]).unwrap() = f(i, j);
        }
    }
    data
}

fn sum(view: &View<'_, i64>) -> i64 {
    view.iter().map(|(_, x)| x).sum()
}

fn row_maxima(view: &View<'_, i64>) -> Vec<i64> {
    let rows = 0..view.extents()[0];
    rows.map(|i| view.slice(0, i).unwrap().iter().map(|(_, &x)| x).max().unwrap()).collect()
}

fn matmul(a: &View<'_, i64>, b: &View<'_, i64>, c: &mut ViewMut<'_, i64>) {
    for i in 0..a.extents()[0] {
        for j in 0..b.extents()[1] {
            let dot = |k| a.get(&[i, k]).unwrap() * b.get(&[k, j]).unwrap();
            *c.get_mut(&[i, j]).unwrap() = (0..a.extents()[1]).map(dot).sum();
        }
    }
}

fn value(i: u64, j: u64) -> i64 {
    (i * 31 + j * 17) as i64 % 23
}

#[test]
fn sums_and_maxima_do_not_depend_on_the_layout() {
    let expected: i64 = (0..M).flat_map(|i| (0..N).map(move |j| value(i, j))).sum();
    let maxima: Vec<i64> = (0..M).map(|i| (0..N).map(|j| value(i, j)).max().unwrap()).collect();
    for layout in layouts(M, N) {
        let data = fill(&layout, value);
        let view = View::new(&data, &layout).unwrap();
        assert_eq!((sum(&view), row_maxima(&view)), (expected, maxima.clone()), "{layout:?}");
        let memory: i64 = view.iter_memory().unwrap().map(|cell| *cell.unwrap().1).sum();
        assert_eq!(memory, expected, "{layout:?}");
    }
}

#[test]
fn matrix_products_do_not_depend_on_the_layouts() {
    let expected: Vec<i64> = (0..M)
        .flat_map(|i| (0..M).map(move |j| (0..N).map(|k| value(i, k) * value(j, k)).sum()))
        .collect();
    for a_layout in layouts(M, N) {
        for c_layout in layouts(M, M) {
            let a = fill(&a_layout, value);
            let mut c = vec![0; c_layout.capacity() as usize];
            let a = View::new(&a, &a_layout).unwrap();
            matmul(&a, &a.permute(&[1, 0]).unwrap(), &mut ViewMut::new(&mut c, &c_layout).unwrap());
            let product: Vec<i64> =
                View::new(&c, &c_layout).unwrap().iter().map(|(_, &x)| x).collect();
            assert_eq!(product, expected, "{a_layout:?} {c_layout:?}");
        }
    }
}

#[test]
fn tiles_cover_the_array_once() {
    for layout in layouts(M, N) {
        let data = fill(&layout, value);
        let view = View::new(&data, &layout).unwrap();
        let tiles = (0..M).step_by(3).flat_map(|i| (0..N).step_by(4).map(move |j| [i, j]));
        let total: i64 = tiles.map(|origin| sum(&view.tile(&origin, &[3, 4]).unwrap())).sum();
        assert_eq!(total, sum(&view), "{layout:?}");
        assert_eq!(view.tile(&[6, 8], &[3, 4]).unwrap().extents(), [1, 2]);
        assert!(view.tile(&[8, 0], &[3, 4]).unwrap_err().is_out_of_range());
    }
}

#[test]
fn every_offset_is_one_element_or_padding() {
    for layout in layouts(M, N) {
        let mut elements = 0;
        for (at, cell) in layout.in_memory().enumerate() {
            let (offset, coord) = cell.unwrap();
            assert_eq!(offset, at as i64);
            if let Some(coord) = coord {
                assert_eq!(layout.offset(coord.as_slice()), Ok(offset));
                elements += 1;
            }
        }
        assert_eq!((elements, layout.injective()), (M * N, Ok(true)), "{layout:?}");
    }
}

#[test]
fn the_fill_is_written_to_padding_alone() {
    for layout in layouts(M, N) {
        let mut data = fill(&layout, value);
        data.iter_mut().for_each(|x| *x += 1000);
        ViewMut::new(&mut data, &layout).unwrap().fill_padding(7).unwrap();
        let filled = layout.in_memory().map(|cell| match cell.unwrap().1 {
            Some(coord) => value(coord.as_slice()[0], coord.as_slice()[1]) + 1000,
            None => 7,
        });
        assert_eq!(data, filled.collect::<Vec<_>>(), "{layout:?}");
    }
}

/// A part has no padding of its own. If a position is undecided, nothing is written.
#[test]
fn a_fill_is_written_whole_or_not_at_all() {
    let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    let mut data = [0; 6];
    let mut view = ViewMut::new(&mut data, &rows).unwrap();
    assert!(view.slice(0, 1).unwrap().fill_padding(1).unwrap_err().is_unsupported());
    assert!(view.permute(&[1, 0]).unwrap().fill_padding(1).unwrap_err().is_unsupported());
    let hard = "(8,8,8,8,8,8,8,8):(1009,1013,1019,1021,1031,1033,1039,1049)";
    let hard = TensorLayout::from(&Layout::parse(hard).unwrap());
    let mut data = vec![0u8; hard.capacity() as usize];
    let refused = ViewMut::new(&mut data, &hard).unwrap().fill_padding(1).unwrap_err();
    assert!(refused.is_undecided() && data.iter().all(|&x| x == 0));
}

#[test]
fn brackets_read_and_write_what_get_does() {
    for layout in layouts(M, N) {
        let mut data = fill(&layout, value);
        let mut view = ViewMut::new(&mut data, &layout).unwrap();
        view[[6, 9]] = 99;
        assert_eq!((view[[6, 9]], view.get(&[6, 9])), (99, Some(&99)));
        let view = View::new(&data, &layout).unwrap();
        for i in 0..M as usize {
            for j in 0..N as usize {
                assert_eq!(Some(&view[[i, j]]), view.get(&[i as u64, j as u64]));
            }
        }
    }
}

#[test]
#[should_panic = "index [7, 0] of a view of extents [7, 10]; write one integer for each dim, below its extent"]
fn an_index_outside_the_view_panics_like_that_of_a_slice() {
    let layout = TensorLayout::row_major(&[M, N]).unwrap();
    let _ = View::new(&[0; 70], &layout).unwrap()[[7, 0]];
}

#[test]
fn iterators_say_how_many_items_are_left() {
    for layout in layouts(M, N) {
        let data = fill(&layout, value);
        let view = View::new(&data, &layout).unwrap();
        let (mut items, mut offsets) = (view.iter(), layout.in_order());
        for left in (0..=70).rev() {
            assert_eq!(
                (items.size_hint(), offsets.size_hint()),
                ((left, Some(left)), (left, Some(left)))
            );
            assert_eq!((items.next().is_some(), offsets.next().is_some()), (left > 0, left > 0));
        }
        assert_eq!(items.size_hint(), (0, Some(0)));
    }
    let empty = TensorLayout::row_major(&[3, 0]).unwrap();
    assert_eq!((empty.in_order().size_hint(), empty.in_order().count()), ((0, Some(0)), 0));
    let wide = Layout::parse("(4294967296,2147483647):(0,0)").unwrap();
    let wide = TensorLayout::of(&wide);
    assert_eq!(wide.in_order().size_hint().0 as u64, wide.size().min(usize::MAX as u64));
}
