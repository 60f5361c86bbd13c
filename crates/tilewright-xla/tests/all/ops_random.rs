//! Arbitrary arguments: no operation panics, and changes keep the properties that they promise to keep.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tilewright_core::Place;
use tilewright_xla::{
    ArrayShape, Dim, Ignore, Layout, PrimitiveType, Shape, Split, Tile, TileDim,
    index_util::{
        Indexer, bump_indices, compare_indices, index_in_bounds, linear_index, multi_index,
    },
    layout_util::byte_strides_are_major_to_minor,
    packing, permutation,
    shape_util::{
        common_factors, dimension_number, dimensions_unmodified_by_reshape, for_each_index,
        inserted_or_deleted_1_sized_dimensions, reshape_leaves_dimensions_unmodified,
        tuple_index_table_bytes,
    },
};

/// Mostly small numbers, sometimes any.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..6u64, 1 => any::<u64>(), 1 => Just(i64::MAX as u64)]
}

fn sizes() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(size(), 0..5)
}

fn tile() -> impl Strategy<Value = Tile> {
    let dim = prop_oneof![
        4 => (1..6u64).prop_map(TileDim::Size),
        1 => Just(TileDim::Combine),
        1 => (1..=i64::MAX as u64).prop_map(TileDim::Size),
    ];
    (prop::collection::vec(dim, 0..3), 1..5u64).prop_map(|(mut dims, last)| {
        dims.push(TileDim::Size(last));
        Tile::new(&dims).unwrap()
    })
}

fn small_tile() -> impl Strategy<Value = Tile> {
    let dim = prop_oneof![4 => (1..5u64).prop_map(TileDim::Size), 1 => Just(TileDim::Combine)];
    (prop::collection::vec(dim, 0..3), 1..5u64).prop_map(|(mut dims, last)| {
        dims.push(TileDim::Size(last));
        Tile::new(&dims).unwrap()
    })
}

fn layout(rank: usize) -> impl Strategy<Value = Layout> {
    let order = Just((0..rank as u64).collect::<Vec<_>>()).prop_shuffle();
    let tiles = prop::collection::vec(tile(), 0..3);
    let split = (0..4u64, prop::collection::vec(0..6u64, 1..3))
        .prop_map(|(dimension, indices)| Split { dimension, indices });
    let splits = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(split, 1..3)];
    let numbers = (1..9u64, prop_oneof![0..40u64, 0..=i64::MAX as u64], 0..3u64, 0..3u64);
    (order, tiles, splits, numbers).prop_map(|(order, tiles, splits, (l, e, s, m))| {
        Layout::new(&order)
            .unwrap()
            .with_tiles(&tiles)
            .with_splits(&splits)
            .with_tail_padding_alignment(l)
            .and_then(|layout| layout.with_element_size_in_bits(e))
            .and_then(|layout| layout.with_memory_space(s))
            .and_then(|layout| layout.with_dynamic_metadata_prefix_bytes(m))
            .unwrap()
    })
}

/// Any array, also with a layout that does not fit it.
fn array() -> impl Strategy<Value = ArrayShape> {
    let dim = prop_oneof![
        6 => size().prop_map(Dim::Static),
        2 => size().prop_map(Dim::Bounded),
        1 => Just(Dim::Unbounded),
    ];
    let types: Vec<PrimitiveType> = PrimitiveType::all().collect();
    (prop::collection::vec(dim, 0..4), prop::sample::select(types), 0..20usize).prop_flat_map(
        |(dims, element_type, odd)| {
            let rank = if odd == 0 { dims.len() + 1 } else { dims.len() };
            let layout = prop_oneof![1 => Just(None), 5 => layout(rank).prop_map(Some)];
            (Just(dims), Just(element_type), layout).prop_map(|(dims, element_type, layout)| {
                ArrayShape::from_parts(element_type, dims, layout)
            })
        },
    )
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        4 => array().prop_map(Shape::array),
        1 => Just(Shape::token()),
        1 => Just(Shape::opaque()),
        1 => array().prop_map(Shape::buffer),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(|shapes| Shape::tuple(shapes).unwrap())
    })
}

/// Calls every method of one array.
fn ask(a: &ArrayShape, dim: i64, extent: u64, list: &[u64], index: &[u64]) {
    let _ = (a.linear_index(index), a.multi_index(extent), a.dimension_stride(dim));
    let _ = (a.elements(), a.static_extent_product(), a.element_bits(), a.unpadded_bytes());
    let _ = (a.array_size(), a.array_data_size(), a.byte_strides(), a.max_split_size(dim));
    let _ = (a.max_elements_in_per_split(), a.dimension(dim), a.to_static());
    let _ = (a.is_effectively_most_major_dimension(dim), a.true_rank(), a.is_effective_scalar());
    let _ = (a.is_host_shape(), a.packed_factor_for_1d_interleaved_array(), a.complex_component());
    let _ = a.with_descending_layout_and_same_physical_layout();
    let edits = [
        a.append_major_dimension(extent),
        a.prepend_major_dimension(extent),
        a.append_minor_dimension(extent),
        a.insert_dimension(extent as usize, dim.unsigned_abs()),
        a.insert_dimensions(0, list),
        a.delete_dimension(dim),
        a.delete_dimensions(&[dim, 0]),
        a.drop_degenerate_dimensions(),
        a.permute_dimensions(list),
        a.with_dim_major(dim),
        a.with_element_type(PrimitiveType::U2),
        Ok(a.to_host_shape()),
    ];
    for edited in edits.into_iter().flatten() {
        let _ = (edited.bytes(), edited.to_string(), edited.linear_index(index));
    }
    let mut changed = a.clone();
    let _ =
        (changed.update_dynamic_dimension(dim, true), changed.update_element_size_in_bits(true));
    changed.clear_tiles();
    let _ = changed.with_default_layout().with_natural_element_size_left_out();
    let layout = a.layout_or_default();
    let _ = (layout.minor(list.len()), layout.major(list.len()), layout.logical_to_physical());
    let _ = (layout.dimensions_are_consecutive(&[dim, 0]), layout.with_order(list));
    let _ = (layout.with_dim_major(dim), layout.with_dim_minor(dim), layout.split(extent));
    let _ = (layout.is_untiled(list), layout.is_ascending(), layout.is_descending());
}

/// Calls every method of two arrays.
fn compare(a: &ArrayShape, b: &ArrayShape, list: &[u64]) {
    let _ = (a.equal(b, Ignore::ALL_BUT_ORDER), a.compatible(b), a.dynamic_compatible(b));
    assert!(a.equal(a, Ignore::NOTHING) && a.compatible(a));
    assert_eq!(a.semantically_equal(a), Ok(true));
    let _ = (a.semantically_equal(b), a.reshape_is_bitcast(b), a.transpose_is_bitcast(b, list));
    let _ = (a.deduce_transpose_dimensions_for_bitcast(b), a.is_reshape_or_transpose_bitcast(b));
    let _ = (a.decompose_bitcast(b), a.decompose_bitcast_to_trt(b), a.align_layouts(list));
    let _ = (a.clone().copy_layout_from(b), a.clone().copy_dynamic_dimensions_from(b));
    let _ = a.element_type().higher_precision(b.element_type());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_array_makes_an_operation_panic(
        (a, b) in (array(), array()),
        dim in prop_oneof![-4..5i64, any::<i64>()],
        (extent, list, index) in (size(), sizes(), sizes()),
    ) {
        ask(&a, dim, extent, &list, &index);
        compare(&a, &b, &list);
    }

    #[test]
    fn no_numbers_make_a_function_panic(
        (a, b, c, d) in (sizes(), sizes(), sizes(), sizes()),
        signed in prop::collection::vec(any::<i64>(), 0..5),
        (number, bytes, bits) in (any::<u64>(), prop::collection::vec(any::<u8>(), 0..9), 0..9u32),
    ) {
        let _ = (linear_index(&a, &b, &c), multi_index(&a, &b, number), compare_indices(&a, &b));
        let _ = (bump_indices(&a, &mut b.clone()), index_in_bounds(&a, &signed));
        let mut left = 1_000;
        let _ = for_each_index(&a, &b, &c, &d, &vec![number % 3; a.len()], |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let _ = (permutation::permute(&a, &b), permutation::inverse(&a), permutation::compose(&a, &b));
        let _ = (permutation::permute_inverse(&a, &b), permutation::is_identity(&a));
        let _ = (common_factors(&a, &b), dimensions_unmodified_by_reshape(&a, &b));
        let _ = (
            inserted_or_deleted_1_sized_dimensions(&a, &b),
            reshape_leaves_dimensions_unmodified(&a, &b, &[bytes.len()]),
        );
        let _ = (dimension_number(number as i64, a.len()), tuple_index_table_bytes(number, number));
        let _ = (packing::pack(bits, &bytes), packing::unpack(bits, &bytes, number as usize, true));
        for primitive in PrimitiveType::all() {
            let _ = byte_strides_are_major_to_minor(&signed, &a, primitive);
            let dims: Vec<Dim> = a.iter().map(|&dim| Dim::Static(dim)).collect();
            let _ = ArrayShape::validated(primitive, &dims);
            let _ = ArrayShape::with_layout(primitive, &dims, &Layout::ascending(b.len()));
        }
    }

    #[test]
    fn no_shape_makes_an_operation_panic((a, b) in (shapes(), shapes()), number in 0..9u64) {
        let (mut changed, mut other) = (a.clone(), a.clone());
        let _ = (a.byte_size(number), a.elements_recursive(), a.to_static(), a.to_host_shape());
        let _ = (a.equal(&b, Ignore::METADATA_PREFIX), a.compatible_kind(&b), a.equal_structure(&b));
        let _ = (a.layouts_equal(&b, Ignore::NOTHING), changed.copy_layouts_from(&b));
        let _ = (changed.append_to_tuple(b.clone()), changed.update_tuple(number as usize, b.clone()));
        let _ = (changed.slice_tuple(0..number as usize), changed.with_dim_major(number as i64));
        let _ = (other.with_element_type(PrimitiveType::S2), other.update_element_size_in_bits(true));
        prop_assert!(a.equal(&a, Ignore::NOTHING) && a.compatible(&a) && a.equal_structure(&a));
        prop_assert_eq!(a.equal(&b, Ignore::NOTHING), a == b);
        prop_assert_eq!(a.subshapes().count(), a.subshapes_post_order().count());
        for (path, shape) in a.subshapes() {
            prop_assert_eq!(a.at(&path), Ok(shape));
        }
        other.clear_layouts();
        prop_assert!(!other.has_any_layout());
    }

    #[test]
    fn units_come_and_go_under_any_tiles(
        (dims, order, tiles, at) in (0..4usize).prop_flat_map(|rank| (
            prop::collection::vec(1..5u64, rank),
            Just((0..rank as u64).collect::<Vec<_>>()).prop_shuffle(),
            prop::collection::vec(small_tile(), 0..4),
            0..=rank,
        )),
    ) {
        let layout = Layout::new(&order).unwrap().with_tiles(&tiles);
        let mut shape = ArrayShape::new(PrimitiveType::F32, &dims);
        shape.set_layout(Some(layout));
        let longer = shape.insert_dimension(at, 1).unwrap();
        let (before, after) = (Indexer::of(&shape).unwrap(), Indexer::of(&longer).unwrap());
        prop_assert_eq!(before.capacity(), after.capacity(), "{} {}", &shape, &longer);
        let shorter = longer.delete_dimension(at as i64);
        let again = shorter.as_ref().ok().map(|shorter| Indexer::of(shorter).unwrap());
        let _ = shape.for_each_index(|index| {
            let mut inserted = index.to_vec();
            inserted.insert(at, 0);
            let offset = before.offset(index);
            assert_eq!(offset, after.offset(&inserted), "{shape} {longer}");
            if let Some(again) = &again {
                assert_eq!(offset, again.offset(index), "{longer} {shorter:?}");
            }
            assert_eq!(before.locate(offset.unwrap()), Place::Element(index.to_vec()));
            ControlFlow::<()>::Continue(())
        });
        // An inserted dim can be removed by changing the tiles alone.
        prop_assert!(shorter.is_ok(), "{longer}: {shorter:?}");
    }
}
