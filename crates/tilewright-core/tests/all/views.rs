//! One algorithm, many layouts: what is written once over views gives the same answer on row-major,
//! column-major, padded, blocked, swizzled and merged storage.

use tilewright_core::{Fractal, Layout, Step, Swizzle, TensorLayout, View, ViewMut};

const M: u64 = 7;
const N: u64 = 10;

/// Seven layouts of an M×N matrix.
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

/// Storage of the matrix with element (i, j) = f(i, j), padding −1.
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
