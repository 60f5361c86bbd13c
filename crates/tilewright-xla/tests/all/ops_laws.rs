//! The laws of the operations, over every small array.

use std::collections::BTreeSet;

use tilewright_core::Place;
use tilewright_xla::{
    ArrayShape, Dim, Layout, PrimitiveType,
    index_util::{Indexer, bump_indices, linear_index, multi_index},
    packing, permutation,
    shape_util::{common_factors, dimensions_unmodified_by_reshape},
};

const TILES: [&str; 12] = [
    "",
    ":T(2)",
    ":T(3)L(7)",
    ":T(2,2)",
    ":T(2,3)(2,1)",
    ":T(3,2)(2)",
    ":T(*,2)",
    ":T(2,*,3)",
    ":T(2,2)(2,1,1,1)",
    ":T(4)(2)",
    ":T(3,2)(2,1)",
    ":T(1,2)(1)",
];

fn orders(rank: usize) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for dim in 0..rank as u64 {
        all = all
            .iter()
            .flat_map(|shorter: &Vec<u64>| {
                (0..=shorter.len()).map(|at| {
                    let mut longer = shorter.clone();
                    longer.insert(at, dim);
                    longer
                })
            })
            .collect();
    }
    all
}

/// Returns every list of dims up to a rank, each from a range.
fn dims(rank: usize, range: std::ops::Range<u64>) -> Vec<Vec<u64>> {
    let (mut all, mut last) = (vec![vec![]], vec![vec![]]);
    for _ in 0..rank {
        let longer = |dims: &Vec<u64>| -> Vec<Vec<u64>> {
            range.clone().map(|dim| [&dims[..], &[dim]].concat()).collect()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    all
}

fn tiled(order: &[u64], tiles: &str) -> Layout {
    let order: Vec<String> = order.iter().map(u64::to_string).collect();
    Layout::parse(&format!("{{{}{tiles}}}", order.join(","))).unwrap()
}

fn array(dims: &[u64], layout: Layout) -> ArrayShape {
    let mut shape = ArrayShape::new(PrimitiveType::F32, dims);
    shape.set_layout(Some(layout));
    shape
}

fn indices(dims: &[u64]) -> Vec<Vec<u64>> {
    if dims.contains(&0) {
        return vec![];
    }
    let (mut all, mut index) = (vec![vec![0; dims.len()]], vec![0; dims.len()]);
    while bump_indices(dims, &mut index).unwrap() {
        all.push(index.clone());
    }
    all
}

/// Returns the offset of each element, row-major.
fn offsets(shape: &ArrayShape) -> Vec<u64> {
    let indexer = Indexer::of(shape).unwrap();
    indices(indexer.dims()).iter().map(|index| indexer.offset(index).unwrap()).collect()
}

/// Returns every array of small dims, in every order, under every tiling.
fn arrays(rank: usize, range: std::ops::Range<u64>) -> Vec<ArrayShape> {
    let mut all = Vec::new();
    for dims in dims(rank, range) {
        for order in orders(dims.len()) {
            all.extend(TILES.map(|tiles| array(&dims, tiled(&order, tiles))));
        }
    }
    all
}

#[test]
fn index_and_linear_index_are_inverse() {
    for dims in dims(4, 0..4) {
        let all = indices(&dims);
        for order in orders(dims.len()) {
            let places: Vec<u64> =
                all.iter().map(|index| linear_index(&dims, &order, index).unwrap()).collect();
            for (index, &place) in all.iter().zip(&places) {
                assert_eq!(multi_index(&dims, &order, place).unwrap(), *index);
            }
            let seen: BTreeSet<u64> = places.into_iter().collect();
            assert_eq!(seen, (0..all.len() as u64).collect());
            assert!(multi_index(&dims, &order, all.len() as u64).unwrap_err().is_out_of_range());
        }
    }
}

/// Returns every array of four dims of 1 or 2 and, in each position, one of 3, in every order, under every tiling.
fn arrays_of_rank_4() -> Vec<ArrayShape> {
    let few =
        |dims: &Vec<u64>| dims.len() == 4 && dims.iter().filter(|&&dim| dim == 3).count() <= 1;
    let mut all = Vec::new();
    for dims in dims(4, 1..4).iter().filter(|dims| few(dims)) {
        for order in orders(4) {
            all.extend(TILES.map(|tiles| array(dims, tiled(&order, tiles))));
        }
    }
    all
}

#[test]
fn every_place_is_one_element_or_padding() {
    for shape in arrays(3, 0..4).into_iter().chain(arrays_of_rank_4()) {
        let indexer = Indexer::of(&shape).unwrap();
        let all = indices(indexer.dims());
        let mut cells = vec![None; indexer.capacity() as usize];
        for index in &all {
            let slot = &mut cells[indexer.offset(index).unwrap() as usize];
            assert!(slot.replace(index.clone()).is_none(), "{shape} {index:?}");
        }
        for (offset, cell) in cells.iter().enumerate() {
            let wanted = cell.clone().map_or(Place::Padding, Place::Element);
            assert_eq!(indexer.locate(offset as u64), wanted, "{shape} {offset}");
        }
        assert_eq!(indexer.locate(indexer.capacity()), Place::OutOfRange);
        let last = cells.iter().rposition(Option::is_some).map(|last| last as u64);
        assert_eq!(shape.last_offset(), Ok(last), "{shape}");
        assert_eq!(shape.bytes(), Ok(indexer.capacity() * 4), "{shape}");
        assert_eq!(shape.array_size(), shape.bytes());
        let tensor = shape.lower().unwrap();
        assert_eq!(tensor.capacity(), indexer.capacity(), "{shape}");
        for index in &all {
            let offset = indexer.offset(index).unwrap() as i64;
            assert_eq!(tensor.offset(index), Ok(offset), "{shape} {index:?}");
        }
    }
}

#[test]
fn bytes_are_capacity_times_bits() {
    for shape in arrays(2, 0..5) {
        for (element_type, bits) in [("s4", 4), ("u2", 2), ("pred", 32), ("f32", 3)] {
            let layout = shape.layout().unwrap().clone().with_element_size_in_bits(bits).unwrap();
            let element_type = element_type.parse().unwrap();
            let packed = ArrayShape::from_parts(element_type, shape.dims().to_vec(), Some(layout));
            let capacity = Indexer::of(&packed).unwrap().capacity();
            assert_eq!(packed.bytes(), Ok((capacity * bits).div_ceil(8)), "{packed}");
        }
    }
}

#[test]
fn a_stride_is_the_distance_of_all_neighbours_or_there_is_none() {
    for shape in arrays(3, 1..5) {
        let (indexer, extents) = (Indexer::of(&shape).unwrap(), shape.extents().unwrap());
        for (dim, &extent) in extents.iter().enumerate() {
            let mut distances = BTreeSet::new();
            for mut index in indices(&extents).into_iter().filter(|index| index[dim] + 1 < extent) {
                let from = indexer.offset(&index).unwrap() as i64;
                index[dim] += 1;
                distances.insert(indexer.offset(&index).unwrap() as i64 - from);
            }
            match shape.dimension_stride(dim as i64) {
                Ok(stride) if extent > 1 => {
                    assert_eq!(distances, BTreeSet::from([stride as i64]), "{shape} {dim}");
                }
                Ok(_) => assert!(distances.is_empty()),
                Err(error) => {
                    assert!(error.is_unsupported(), "{shape} {dim}: {error}");
                    let steps = !shape.lower().unwrap().is_strided();
                    assert!(steps || distances.len() > 1, "{shape} {dim}: {error}");
                }
            }
        }
    }
}

#[test]
fn tiles_without_effect_are_found() {
    for shape in arrays(3, 1..4) {
        let (layout, extents) = (shape.layout().unwrap().clone(), shape.extents().unwrap());
        let plain = array(&extents, Layout::new(layout.minor_to_major()).unwrap());
        let aligned = layout.clone().with_tail_padding_alignment(1).unwrap();
        let same = offsets(&shape) == offsets(&plain)
            && aligned.padded_elements(&extents) == Ok(plain.elements().unwrap());
        assert_eq!(layout.is_untiled(&extents), Ok(same), "{shape}");
    }
}

#[test]
fn permuted_dims_move_no_byte() {
    for shape in arrays(3, 1..4).into_iter().chain(arrays_of_rank_4().into_iter().step_by(11)) {
        let all = indices(&shape.extents().unwrap());
        for perm in orders(shape.dims().len()) {
            let renamed = shape.permute_dimensions(&perm).unwrap();
            let (from, to) = (Indexer::of(&shape).unwrap(), Indexer::of(&renamed).unwrap());
            assert_eq!(from.capacity(), to.capacity());
            for index in &all {
                let moved = permutation::permute(index, &perm).unwrap();
                assert_eq!(from.offset(index), to.offset(&moved), "{shape} {perm:?}");
            }
            let back = permutation::inverse(&perm).unwrap();
            assert_eq!(renamed.permute_dimensions(&back).unwrap(), shape);
            assert_eq!(shape.transpose_is_bitcast(&renamed, &perm), Ok(true));
        }
        let same = shape.with_descending_layout_and_same_physical_layout().unwrap();
        assert!(same.layout().unwrap().is_descending());
    }
}

/// Returns every list of dims of `size` elements, with up to one unit dim first.
fn factored(size: u64, rank: usize) -> Vec<Vec<u64>> {
    dims(rank, 1..size + 1)
        .into_iter()
        .filter(|dims| dims.iter().product::<u64>() == size)
        .collect()
}

#[test]
fn a_free_reshape_moves_nothing_and_another_something() {
    let (mut free, mut moving) = (0, 0);
    let sizes = [(0, 3), (1, 3), (2, 3), (4, 3), (6, 3), (2, 4), (8, 3)];
    for (size, rank) in sizes.into_iter().take(tilewright_testing::cases(7, 5)) {
        let mut shapes: Vec<ArrayShape> = Vec::new();
        for dims in factored(size, rank).into_iter().chain((size == 0).then(|| vec![2, 0])) {
            for order in orders(dims.len()) {
                let tiles = ["", ":T(2)", ":T(2,2)", ":T(*,2)", ":T(3,2)(2,1)", ":T(2,1)"];
                shapes.extend(tiles.map(|tiles| array(&dims, tiled(&order, tiles))));
            }
        }
        let known: Vec<(u64, Vec<u64>)> = shapes
            .iter()
            .map(|shape| (Indexer::of(shape).unwrap().capacity(), offsets(shape)))
            .collect();
        for (a, before) in shapes.iter().zip(&known) {
            for (b, after) in shapes.iter().zip(&known) {
                let wanted = before == after;
                assert_eq!(a.reshape_is_bitcast(b), Ok(wanted), "{a} {b}");
                *(if wanted { &mut free } else { &mut moving }) += 1;
            }
        }
    }
    assert!(free > 1000 && moving > 1000, "{free} {moving}");
}

#[test]
fn dims_that_do_not_divide_are_compared_too() {
    let mut free = 0;
    for (from, to) in [([4, 6], [3, 8]), ([4, 6], [6, 4]), ([6, 6], [4, 9]), ([9, 4], [6, 6])] {
        for (before, after) in [("1,0", "1,0"), ("0,1", "0,1"), ("1,0", "0,1")] {
            for tiles in ["", ":T(2)", ":T(3)", ":T(2,2)", ":T(*,2)", ":T(*,12)", ":T(*,5)(2)"] {
                for other in ["", ":T(2)", ":T(*,2)", ":T(*,12)", ":T(*,5)(2)", ":T(3,1)"] {
                    let a = array(&from, Layout::parse(&format!("{{{before}{tiles}}}")).unwrap());
                    let b = array(&to, Layout::parse(&format!("{{{after}{other}}}")).unwrap());
                    let same = Indexer::of(&a).unwrap().capacity()
                        == Indexer::of(&b).unwrap().capacity()
                        && offsets(&a) == offsets(&b);
                    assert_eq!(a.reshape_is_bitcast(&b), Ok(same), "{a} {b}");
                    free += usize::from(same);
                }
            }
        }
    }
    assert!(free > 20, "{free}");
}

#[test]
fn a_transpose_is_free_iff_no_element_moves() {
    let tiles = ["", ":T(2)", ":T(2,2)", ":T(*,2)", ":T(2,1)"];
    let more = [vec![2, 3], vec![3, 2], vec![2, 3, 2], vec![2, 1, 3, 2]];
    for dims in
        dims(3, 1..3).into_iter().chain(more.into_iter().take(tilewright_testing::cases(4, 3)))
    {
        let shapes = |dims: &[u64]| -> Vec<ArrayShape> {
            let layouts = orders(dims.len()).into_iter();
            layouts.flat_map(|order| tiles.map(|tiles| array(dims, tiled(&order, tiles)))).collect()
        };
        for perm in orders(dims.len()) {
            let moved = permutation::permute(&dims, &perm).unwrap();
            for output in shapes(&moved) {
                let to = Indexer::of(&output).unwrap();
                for input in shapes(&dims) {
                    let from = Indexer::of(&input).unwrap();
                    let same = |index: &Vec<u64>| {
                        let moved = permutation::permute(index, &perm).unwrap();
                        from.offset(index) == to.offset(&moved)
                    };
                    let free = from.capacity() == to.capacity() && indices(&dims).iter().all(same);
                    assert_eq!(
                        input.transpose_is_bitcast(&output, &perm),
                        Ok(free),
                        "{input} {output}"
                    );
                    if free {
                        let found = input.deduce_transpose_dimensions_for_bitcast(&output).unwrap();
                        let found = found.unwrap_or_else(|| panic!("{input} {output} {perm:?}"));
                        assert_eq!(input.transpose_is_bitcast(&output, &found), Ok(true));
                    }
                }
            }
        }
    }
}

#[test]
fn alignment_finds_a_free_layout_iff_there_is_one() {
    let (mut found, mut none) = (0, 0);
    for size in [1, 4, 6, 8, 12, 24] {
        let all = factored(size, 3);
        for from in &all {
            for order in orders(from.len()) {
                let input = array(from, Layout::new(&order).unwrap());
                for to in &all {
                    let free = orders(to.len()).into_iter().find(|order| {
                        let output = array(to, Layout::new(order).unwrap());
                        offsets(&input) == offsets(&output)
                    });
                    match input.align_layouts(to).unwrap() {
                        Some(aligned) => {
                            assert_eq!(offsets(&input), offsets(&aligned), "{input} {aligned}");
                            found += 1;
                        }
                        None => {
                            assert!(free.is_none(), "{input} {to:?} {free:?}");
                            none += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(found > 100 && none > 100, "{found} {none}");
}

#[test]
fn untiled_bitcasts_decompose() {
    for from in factored(12, 3) {
        for order in orders(from.len()) {
            let input = array(&from, Layout::new(&order).unwrap());
            for to in factored(12, 2) {
                for order in orders(to.len()) {
                    let output = array(&to, Layout::new(&order).unwrap());
                    assert!(input.decompose_bitcast_to_trt(&output).is_ok(), "{input} {output}");
                }
            }
        }
    }
}

#[test]
fn a_dim_of_one_comes_and_goes_without_moving_anything() {
    let mut edited = 0;
    for shape in arrays(3, 1..4) {
        let before = offsets(&shape);
        let capacity = Indexer::of(&shape).unwrap().capacity();
        let mut longer = vec![
            shape.append_major_dimension(1).unwrap(),
            shape.prepend_major_dimension(1).unwrap(),
            shape.append_minor_dimension(1).unwrap(),
        ];
        longer.extend((0..=shape.dims().len()).map(|at| shape.insert_dimension(at, 1).unwrap()));
        for longer in longer {
            assert_eq!(offsets(&longer), before, "{shape} {longer}");
            assert_eq!(Indexer::of(&longer).unwrap().capacity(), capacity, "{shape} {longer}");
        }
        match shape.drop_degenerate_dimensions() {
            Ok(shorter) => {
                assert_eq!(offsets(&shorter), before, "{shape} {shorter}");
                assert_eq!(
                    Indexer::of(&shorter).unwrap().capacity(),
                    capacity,
                    "{shape} {shorter}"
                );
                edited += usize::from(shorter != shape);
            }
            Err(error) => {
                assert!(error.is_unsupported(), "{shape}: {error}");
                let tiles = shape.layout().unwrap().clone().with_tiles(&[]);
                assert!(
                    array(&shape.extents().unwrap(), tiles).drop_degenerate_dimensions().is_ok()
                );
            }
        }
    }
    assert!(edited > 1000, "{edited}");
}

#[test]
fn new_dims_repeat_storage_or_elements() {
    for shape in arrays(2, 1..4) {
        let before = offsets(&shape);
        let bounds = shape.layout().unwrap().clone().final_bounds(&shape.extents().unwrap());
        let whole: u64 = bounds.unwrap().iter().product();
        let minor = shape.append_minor_dimension(3).unwrap();
        let wanted: Vec<u64> =
            before.iter().flat_map(|offset| (0..3).map(move |k| offset * 3 + k)).collect();
        assert_eq!(offsets(&minor), wanted, "{shape} {minor}");
        match shape.prepend_major_dimension(3) {
            Ok(major) => {
                let wanted: Vec<u64> = (0..3)
                    .flat_map(|k| before.iter().map(move |offset| offset + k * whole))
                    .collect();
                assert_eq!(offsets(&major), wanted, "{shape} {major}");
                let last = shape.append_major_dimension(3).unwrap();
                let rank = shape.dims().len() as u64;
                let perm: Vec<u64> = std::iter::once(rank).chain(0..rank).collect();
                assert_eq!(last.permute_dimensions(&perm).unwrap(), major);
            }
            Err(error) => assert!(error.is_unsupported(), "{shape}: {error}"),
        }
    }
}

#[test]
fn a_deleted_dim_leaves_the_slice_at_zero_of_an_array_of_one() {
    for shape in arrays(3, 1..4) {
        for dim in 0..shape.dims().len() {
            let mut one = shape.clone();
            one.set_dim(dim as i64, Dim::Static(1)).unwrap();
            match shape.delete_dimension(dim as i64) {
                Ok(shorter) => {
                    assert_eq!(offsets(&shorter), offsets(&one), "{shape} {dim} {shorter}")
                }
                Err(error) => assert!(error.is_unsupported(), "{shape} {dim}: {error}"),
            }
        }
    }
}

#[test]
fn semantic_equality_is_the_same_bytes() {
    for dims in dims(2, 0..5) {
        let mut shapes: Vec<ArrayShape> = Vec::new();
        for order in orders(dims.len()) {
            shapes.extend(TILES.map(|tiles| array(&dims, tiled(&order, tiles))));
            shapes.push(array(&dims, tiled(&order, ":E(32)")));
            shapes.push(array(&dims, tiled(&order, ":T(2)E(16)")));
        }
        shapes.push(shapes[0].clone());
        shapes.last_mut().unwrap().set_layout(None);
        for a in &shapes {
            for b in &shapes {
                let same = a.element_bits() == b.element_bits()
                    && Indexer::of(a).unwrap().capacity() == Indexer::of(b).unwrap().capacity()
                    && offsets(a) == offsets(b);
                assert_eq!(a.semantically_equal(b), Ok(same), "{a} {b}");
            }
        }
    }
}

#[test]
fn common_factors_are_equal_products_and_all_of_them() {
    for size in [1, 2, 6, 8, 12] {
        let all = factored(size, 4);
        for a in &all {
            for b in &all {
                let splits = common_factors(a, b).unwrap();
                let product = |dims: &[u64]| dims.iter().product::<u64>();
                for pair in splits.windows(2) {
                    let ((i, j), (k, l)) = (pair[0], pair[1]);
                    assert!(i <= k && j <= l && i + j < k + l);
                    assert_eq!(product(&a[i..k]), product(&b[j..l]), "{a:?} {b:?}");
                    // Between two split points, no partial products of both sides are equal.
                    for inner in i + 1..k {
                        let found =
                            (j + 1..l).any(|at| product(&a[i..inner]) == product(&b[j..at]));
                        assert!(!found, "{a:?} {b:?} {splits:?}");
                    }
                }
                assert_eq!((splits[0], splits[splits.len() - 1]), ((0, 0), (a.len(), b.len())));
                for (i, j) in dimensions_unmodified_by_reshape(a, b).unwrap() {
                    assert_eq!((a[i], product(&a[..i])), (b[j], product(&b[..j])));
                }
            }
        }
    }
}

#[test]
fn packing_and_unpacking_are_inverse() {
    for bits in [1u32, 2, 4] {
        for count in 0..20usize {
            let values: Vec<u8> =
                (0..count).map(|at| (at * 7 + 3) as u8 & ((1 << bits) - 1)).collect();
            let packed = packing::pack(bits, &values).unwrap();
            assert_eq!(packed.len(), (count * bits as usize).div_ceil(8));
            assert_eq!(packing::unpack(bits, &packed, count, false).unwrap(), values);
            let signed = packing::unpack(bits, &packed, count, true).unwrap();
            let low = -(1i8 << (bits - 1));
            for (&wide, &value) in signed.iter().zip(&values) {
                assert!((low..-low).contains(&(wide as i8)) && wide & ((1 << bits) - 1) == value);
            }
            assert_eq!(packing::pack(bits, &signed).unwrap(), packed);
        }
    }
}

#[test]
fn permutations_undo_themselves() {
    for rank in 0..5 {
        let items: Vec<u64> = (10..10 + rank as u64).collect();
        for p in orders(rank) {
            let inverse = permutation::inverse(&p).unwrap();
            assert!(permutation::is_identity(&permutation::compose(&p, &inverse).unwrap()));
            let there = permutation::permute(&items, &p).unwrap();
            assert_eq!(permutation::permute_inverse(&there, &p).unwrap(), items);
            for q in orders(rank) {
                let both = permutation::permute(&items, &permutation::compose(&p, &q).unwrap());
                assert_eq!(both, permutation::permute(&there, &q));
            }
        }
    }
}

/// Returns the row-major element of the input at each element of an output of these extents.
fn transposed_elements(output: &[u64], perm: &[u64]) -> Vec<u64> {
    let input = permutation::permute_inverse(output, perm).unwrap();
    let flat = |index: &[u64]| index.iter().zip(&input).fold(0, |at, (i, extent)| at * extent + i);
    let from = |index: &Vec<u64>| flat(&permutation::permute_inverse(index, perm).unwrap());
    indices(output).iter().map(from).collect()
}

#[test]
fn a_normalized_transpose_moves_the_same_and_is_the_shortest() {
    let mut shorter = 0;
    for output in dims(4, 1..4) {
        for perm in orders(output.len()) {
            let (short, order) = ArrayShape::new(PrimitiveType::F32, &output)
                .normalized_logical_transpose(&perm)
                .unwrap();
            let identity = [0];
            let order = if short.len() == 1 { &identity[..] } else { &order };
            let moved = transposed_elements(&output, &perm);
            assert_eq!(transposed_elements(&short, order), moved, "{output:?} {perm:?}");
            assert!(order.windows(2).all(|pair| pair[1] != pair[0] + 1), "{output:?} {perm:?}");
            assert!(short.len() == 1 || !short.contains(&1), "{output:?} {perm:?}");
            shorter += usize::from(short.len() < output.len());
        }
    }
    assert!(shorter > 500, "{shorter}");
}
