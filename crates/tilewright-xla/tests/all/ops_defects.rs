//! Cases in which XLA aborts, wraps, loses a property or is wrong: one test each, named after the case. The table of
//! XLA's answers and ours is in `docs/explanation/comparison.md`.

use std::ops::ControlFlow;

use tilewright_core::Place;
use tilewright_xla::{
    ArrayShape, Dim, Ignore, Layout, PrimitiveType, Shape, Tile, TileDim,
    index_util::{bump_indices, compare_indices, index_in_bounds, linear_index, multi_index},
    layout_util::byte_strides_are_major_to_minor,
    packing,
    shape_util::{for_each_index, tuple_index_table_bytes},
};

fn array(text: &str) -> ArrayShape {
    ArrayShape::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

fn shape(text: &str) -> Shape {
    Shape::parse(text).unwrap()
}

fn at(text: &str, index: &[u64]) -> u64 {
    array(text).linear_index(index).unwrap()
}

#[test]
fn multidimensional_index_to_linear_index() {
    // Bounds are checked, and the shape returns the exact offset.
    let error = linear_index(&[3, 5], &[1, 0], &[3, 0]).unwrap_err();
    assert!(error.is_out_of_range() && error.to_string().contains("index 3 in dim 0 of extent 3"));
    assert_eq!(linear_index(&[3, 5], &[1, 0], &[2, 3]), Ok(13));
    assert_eq!(at("f32[3,5]{1,0:T(2,2)}", &[2, 3]), 17);
}

#[test]
fn linear_index_to_multidimensional_index() {
    assert!(multi_index(&[3, 0], &[1, 0], 0).unwrap_err().is_out_of_range());
    let error = multi_index(&[3, 5], &[1, 0], 15).unwrap_err();
    assert!(error.is_out_of_range() && error.to_string().contains("15 of an array of 15"));
}

#[test]
fn bump_indices_of_no_index() {
    let mut outside = [0, 7];
    assert!(bump_indices(&[2, 2], &mut outside).unwrap_err().is_out_of_range());
    assert_eq!(outside, [0, 7]);
    assert!(bump_indices(&[0], &mut [0]).unwrap_err().is_out_of_range());
}

#[test]
fn get_dimension_stride() {
    assert_eq!(array("f32[3,5]{1,0:T(8)}").dimension_stride(0), Ok(8));
    let error = array("f32[3,5]{1,0:T(2,2)}").dimension_stride(0).unwrap_err();
    assert!(
        error.is_unsupported() && error.to_string().contains("coordinate 2 is at 12"),
        "{error}"
    );
}

#[test]
fn index_in_bounds_of_negative_indices() {
    assert!(!index_in_bounds(&[2, 2], &[-1, 0]));
}

#[test]
fn compare_indices_of_different_lengths() {
    assert!(compare_indices(&[0], &[0, 0]).unwrap_err().is_mismatch());
}

#[test]
fn make_layout() {
    assert!(Tile::sizes(&[u64::MAX - 4]).unwrap_err().is_illegal());
    assert!(Tile::new(&[TileDim::Size(2), TileDim::Combine]).unwrap_err().is_illegal());
    assert!(Layout::from_major_to_minor(&[0, 0]).unwrap_err().is_illegal());
}

#[test]
fn set_to_default_layout() {
    let mut tuple = shape("(f32[2,3]{0,1:T(2,2)L(64)E(32)S(1)})");
    tuple.set_to_default_layouts();
    assert_eq!(tuple.to_string(), "(f32[2,3]{1,0})");
}

#[test]
fn minor_to_major_only_and_splits() {
    let (a, b) = (Layout::parse("{0:SC(0:2)}").unwrap(), Layout::parse("{0}").unwrap());
    assert!(a.equal(&b, Ignore::ALL_BUT_ORDER));
}

#[test]
fn metadata_prefixes_are_compared_unless_left_out() {
    let (a, b) = (Layout::parse("{0:M(8)}").unwrap(), Layout::parse("{0}").unwrap());
    assert!(!a.equal(&b, Ignore::NOTHING) && a.equal(&b, Ignore::METADATA_PREFIX));
}

#[test]
fn layouts_in_shapes_equal_inside_tuples() {
    let (a, b) = (shape("((f32[2]{0:T(2)}))"), shape("((f32[4]{0}))"));
    assert_eq!(a.layouts_equal(&b, Ignore { tiles: true, ..Ignore::NOTHING }), Ok(true));
    assert_eq!(a.layouts_equal(&b, Ignore::NOTHING), Ok(false));
}

#[test]
fn has_any_layout_of_a_token() {
    assert!(!shape("token[]").has_any_layout() && shape("token[]").has_layouts());
}

#[test]
fn move_dim_to_major_of_a_scalar() {
    assert!(Layout::descending(0).with_dim_major(0).unwrap_err().is_out_of_range());
    assert!(Layout::descending(0).with_dim_minor(-1).unwrap_err().is_out_of_range());
}

#[test]
fn linear_index_of_nested_tiles() {
    assert_eq!(at("bf16[4,8]{1,0:T(2,4)(2,1)}", &[3, 6]), 29);
    assert_eq!(at("f32[8,8]{1,0:T(2,4)(2,1,1,1)}", &[6, 5]), 51);
    assert_eq!(at("bf16[1024]{0:T(1024)(128)(2,1)}", &[130]), 5);
    assert_eq!(at("f32[2,3,1004]{2,1,0:T(2,*,128)}", &[1, 2, 1003]), 6083);
}

#[test]
fn linear_index_for_nested_tiling_of_long_tiles() {
    assert_eq!(at("f32[7]{0:T(2,4)}", &[6]), 10);
    assert!(array("f32[7]{0:T(2,4)}").linear_index(&[7]).unwrap_err().is_out_of_range());
    assert!(array("f32[7]{0:T(2,4)}").linear_index(&[0, 0]).unwrap_err().is_mismatch());
}

#[test]
fn delinearize_index_of_padding() {
    assert_eq!(array("f32[3,5]{1,0:T(2,2)}").multi_index(9), Ok(Place::Padding));
    assert_eq!(array("f32[3]{0:T(2,*,4)}").multi_index(3), Ok(Place::Padding));
    assert_eq!(array("f32[3]{0:L(8)}").multi_index(7), Ok(Place::Padding));
    assert_eq!(array("f32[3]{0:L(8)}").multi_index(8), Ok(Place::OutOfRange));
}

#[test]
fn a_rank_beyond_the_cores_still_indexes() {
    let text = |tiles: &str| {
        let order: Vec<String> = (0..40).rev().map(|dim: u32| dim.to_string()).collect();
        format!("f32[{}3,5]{{{}{tiles}}}", "1,".repeat(38), order.join(","))
    };
    let index = [vec![0; 38], vec![2, 3]].concat();
    assert_eq!((at(&text(""), &index), at(&text(":T(2,2)"), &index)), (13, 17));
    let shape = array(&text(":T(2,2)"));
    assert_eq!(shape.multi_index(17), Ok(Place::Element(index)));
    assert!(shape.lower().unwrap_err().is_limit());
    assert_eq!(shape.last_offset(), Ok(Some(20)));
    assert_eq!(array(&text("")).byte_strides().unwrap()[38..], [20, 4]);
    assert_eq!(array(&text("")).reshape_is_bitcast(&array("f32[15]{0}")), Ok(true));
    assert_eq!(array(&text("")).reshape_is_bitcast(&array("f32[3,5]{0,1}")), Ok(false));
    assert!(shape.reshape_is_bitcast(&array("f32[3,5]{1,0:T(2,2)}")).unwrap_err().is_limit());
}

#[test]
fn byte_strides_is_major_to_minor_of_unit_and_empty_dims() {
    let dense = |strides: &[i64], dims: &[u64]| {
        byte_strides_are_major_to_minor(strides, dims, PrimitiveType::F32).unwrap()
    };
    assert!(dense(&[999, 4], &[1, 5]) && dense(&[20, -7, 4], &[3, 1, 5]));
    assert!(dense(&[1, 2], &[0, 5]) && !dense(&[-4], &[5]));
}

#[test]
fn get_split_config_of_two_splits() {
    let layout = Layout::parse("{0,1:SC(0:3)(1:2)}").unwrap();
    assert_eq!(
        [0, 1, 2].map(|dim| layout.split(dim).map(|split| split.indices[0])),
        [Some(3), Some(2), None]
    );
    let shape = array("f32[4,8]{0,1:SC(0:3)(1:1)}");
    assert_eq!((shape.max_split_size(0), shape.max_split_size(1)), (Ok(3), Ok(5)));
    assert_eq!((shape.max_elements_in_per_split(), shape.array_size()), (Ok(15), Ok(60)));
}

#[test]
fn elements_in_unbounded_dims() {
    assert!(array("f32[?,784]").elements().unwrap_err().is_unsupported());
    assert_eq!(array("f32[?,784]").static_extent_product(), Ok(784));
    let huge = array("f32[9223372036854775807,9223372036854775807]");
    assert!(huge.elements().unwrap_err().is_overflow());
}

#[test]
fn byte_size_of_padding() {
    assert_eq!(shape("f32[3,5]{1,0:T(2,2)}").byte_size(8), Ok(96));
    assert_eq!(shape("f32[3,5]{1,0:L(16)}").byte_size(8), Ok(64));
    assert_eq!(array("f32[3,5]{1,0:T(2,2)}").unpadded_bytes(), Ok(60));
    assert!(shape("()").byte_size(0).unwrap_err().is_illegal());
    assert!(tuple_index_table_bytes(u64::MAX, u64::MAX).unwrap_err().is_overflow());
}

#[test]
fn array_size_of_nested_tiles_and_alignment() {
    for (text, bytes) in [
        ("f32[6,4]{1,0:T(3,4)(2,1)}", 128),
        ("f32[6,10]{1,0:T(4)(2,2)}", 384),
        ("f32[4,8]{1,0:T(2,2)(4,1)}", 256),
        ("f32[3,5]{1,0:L(16)}", 64),
        ("f32[2,3,1004]{2,1,0:T(2,*,128)}", 24576),
    ] {
        assert_eq!(array(text).array_size(), Ok(bytes), "{text}");
    }
}

#[test]
fn array_data_size_of_nested_tiles_and_empty_arrays() {
    assert_eq!(array("f32[6,4]{1,0:T(3,4)(2,1)}").array_data_size(), Ok(4 * 31));
    assert_eq!(array("f32[7,8]{1,0:T(2,4)(2,1,1,1)}").array_data_size(), Ok(4 * 63));
    assert_eq!(array("f32[16,0]{1,0:T(8,128)}").array_data_size(), Ok(0));
    assert_eq!(array("f32[]{:T(256)}").array_data_size(), Ok(4));
}

#[test]
fn byte_strides_under_tiles_and_element_sizes() {
    assert!(array("f32[3,5]{1,0:T(2,2)}").byte_strides().unwrap_err().is_unsupported());
    assert_eq!(array("f32[3,5]{1,0:T(8)}").byte_strides().unwrap(), [32, 4]);
    assert_eq!(array("pred[3,5]{1,0:E(32)}").byte_strides().unwrap(), [20, 4]);
    assert!(array("s4[3,5]{1,0:E(4)}").byte_strides().unwrap_err().is_unsupported());
}

#[test]
fn true_num_dimensions_of_empty_dims() {
    let shape = array("f32[0,1,4]");
    assert_eq!((shape.true_rank(), shape.true_num_dimensions()), (1, 2));
}

#[test]
fn make_validated_shape_of_no_array() {
    for primitive in [PrimitiveType::Tuple, PrimitiveType::Token, PrimitiveType::Opaque] {
        assert!(ArrayShape::validated(primitive, &[]).unwrap_err().is_unsupported());
    }
    let huge = [Dim::Static(1 << 61), Dim::Static(1)];
    assert!(ArrayShape::validated(PrimitiveType::F64, &huge).unwrap_err().is_overflow());
}

#[test]
fn make_shape_with_the_same_physical_layout() {
    let split = array("f32[4,8]{0,1:T(2,2)SC(0:3)}");
    let same = split.with_descending_layout_and_same_physical_layout().unwrap();
    assert_eq!(same.to_string(), "f32[8,4]{1,0:T(2,2)SC(0:3)}");
    assert!(array("f32[4,8]").with_descending_layout_and_same_physical_layout().is_ok());
}

#[test]
fn make_static_shape() {
    let error = array("f32[?,784]").to_static().unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("dim 0"));
    assert_eq!(array("f32[<=2,3]").to_static().unwrap().to_string(), "f32[2,3]");
    assert_eq!(array("f32[<=2]{0:M(8)}").to_static().unwrap().to_string(), "f32[2]{0}");
}

#[test]
fn get_dimension_that_is_not_there() {
    assert!(array("f32[2,3]").dimension(-3).unwrap_err().is_out_of_range());
    assert!(array("f32[2,3]").dimension(i64::MIN).unwrap_err().is_out_of_range());
}

#[test]
fn change_element_type_of_packed_elements() {
    let packed = array("s4[8]{0:T(2)E(4)}");
    let to = |primitive| packed.with_element_type(primitive).unwrap().to_string();
    assert_eq!(to(PrimitiveType::U2), "u2[8]{0:T(2)E(2)}");
    assert_eq!(to(PrimitiveType::F32), "f32[8]{0:T(2)}");
    let error = array("f32[2]").complex_component().unwrap_err();
    assert!(error.is_unsupported());
}

#[test]
fn append_major_dimension_beyond_32_bits() {
    let long = array("f32[2]{0}").append_major_dimension(1 << 33).unwrap();
    assert_eq!(long.to_string(), "f32[2,8589934592]{0,1}");
}

#[test]
fn prepend_major_dimension_keeps_tiles_and_flags() {
    let longer = array("s4[10,<=20]{1,0:T(8,128)E(4)S(1)}").prepend_major_dimension(3).unwrap();
    assert_eq!(longer.to_string(), "s4[3,10,<=20]{2,1,0:T(8,128)E(4)S(1)}");
    let flat = array("bf16[300]{0:T(8,128)}").prepend_major_dimension(3).unwrap();
    assert_eq!(flat.to_string(), "bf16[3,300]{1,0:T(8,1,128)}");
    assert_eq!(flat.linear_index(&[2, 299]).unwrap(), 2 * 3072 + 2091);
}

#[test]
fn append_minor_dimension_under_tiles() {
    let pairs = array("f32[10,200]{1,0:T(8,128)(2,1)}").append_minor_dimension(2).unwrap();
    assert_eq!(pairs.to_string(), "f32[10,200,2]{2,1,0:T(8,128,2)(2,1,2)}");
}

#[test]
fn insert_dimension_keeps_every_property() {
    let shape = array("s4[10,<=20]{1,0:T(8,128)E(4)S(1)SC(1:5)}");
    let longer = shape.insert_dimension(0, 7).unwrap();
    assert_eq!(longer.to_string(), "s4[7,10,<=20]{2,1,0:T(8,128)E(4)S(1)SC(2:5)}");
    let error = array("f32[4,6]{1,0:T(*,2)}").insert_dimension(1, 3).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("new dim of extent 3"));
}

#[test]
fn delete_dimension_under_a_tile() {
    let column = array("f32[5,1]{1,0:T(8,128)}");
    let less = column.drop_degenerate_dimensions().unwrap();
    assert_eq!((less.linear_index(&[4]), less.bytes()), (Ok(512), Ok(4096)));
    assert_eq!(column.semantically_equal(&less.append_minor_dimension(1).unwrap()), Ok(true));
    let row = array("f32[1,300]{1,0:T(8,128)}").delete_dimension(0).unwrap();
    assert_eq!(row.to_string(), "f32[300]{0:T(8,128)}");
}

#[test]
fn permute_dimensions_by_no_permutation() {
    let error = array("f32[2,3]").permute_dimensions(&[0, 0]).unwrap_err();
    assert!(error.is_illegal() && error.to_string().contains("entry 0 at position 1"));
    assert!(array("f32[2,3]").permute_dimensions(&[0]).unwrap_err().is_mismatch());
}

#[test]
fn reorder_logical_dimensions_by_a_3_cycle() {
    let shape = array("f32[2,3,4]{2,1,0}");
    let reordered = shape.permute_dimensions(&[1, 2, 0]).unwrap();
    assert_eq!(reordered.to_string(), "f32[3,4,2]{1,0,2}");
    // XLA's answer moves 22 of the 24 elements.
    let (theirs, mut moved) = (array("f32[3,4,2]{0,2,1}"), 0);
    let _ = shape.for_each_index(|index| {
        let renamed = [index[1], index[2], index[0]];
        assert_eq!(shape.linear_index(index), reordered.linear_index(&renamed));
        moved += usize::from(shape.linear_index(index) != theirs.linear_index(&renamed));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(moved, 22);
}

#[test]
fn move_dim_to_major_keeps_every_property() {
    let tuple = shape("(s4[2,3]{1,0:T(2,2)E(4)S(1)})").with_dim_major(1).unwrap();
    assert_eq!(tuple.to_string(), "(s4[2,3]{0,1:T(2,2)E(4)S(1)})");
}

#[test]
fn device_shape_to_host_shape_and_splits() {
    let split = array("f32[8]{0:SC(0:3)}");
    assert!(!split.is_host_shape());
    assert_eq!(split.to_host_shape().to_string(), "f32[8]{0}");
}

#[test]
fn element_size_at_the_natural_width() {
    assert_ne!(array("f32[2]{0:E(32)}"), array("f32[2]{0}"));
    assert_eq!(array("f32[2]{0:E(32)}").semantically_equal(&array("f32[2]{0}")), Ok(true));
    assert_eq!(array("s4[2]{0:E(8)}").semantically_equal(&array("s4[2]{0}")), Ok(true));
    assert_eq!(array("f32[2]{0:S(1)}").semantically_equal(&array("f32[2]{0}")), Ok(false));
}

#[test]
fn semantic_equality_of_huge_arrays_is_decided() {
    let text = |layout: &str| array(&format!("f32[1048576,1048576]{layout}"));
    assert_eq!(text("{1,0:T(1,128)}").semantically_equal(&text("{1,0}")), Ok(true));
    assert_eq!(text("{1,0:T(8,128)}").semantically_equal(&text("{1,0}")), Ok(false));
    assert_eq!(text("{1,0:T(*,1048576)}").semantically_equal(&text("{1,0}")), Ok(true));
}

#[test]
fn transpose_is_bitcast_under_tiles_and_unit_dims() {
    let free =
        |a: &str, b: &str, perm: &[u64]| array(a).transpose_is_bitcast(&array(b), perm).unwrap();
    assert!(!free("f32[10,5]{1,0:T(2,2)}", "f32[5,10]{0,1}", &[1, 0]));
    assert!(free("f32[10,5]{1,0:T(2,2)}", "f32[5,10]{0,1:T(2,2)}", &[1, 0]));
    assert!(!free("s4[10,5]{1,0:E(4)}", "s4[5,10]{0,1}", &[1, 0]));
    assert!(free("f32[1,5]{1,0}", "f32[5,1]{1,0}", &[1, 0]));
    let error = array("f32[10,5]").transpose_is_bitcast(&array("f32[10,5]"), &[1, 0]).unwrap_err();
    assert!(
        error.is_mismatch() && error.to_string().contains("dim 0 of the transposed array is 5")
    );
}

#[test]
fn reshape_is_bitcast_under_tiles_and_element_sizes() {
    let free = |a: &str, b: &str| array(a).reshape_is_bitcast(&array(b)).unwrap();
    assert!(!free("f32[4,6]{1,0:T(2,3)}", "f32[24]{0}"));
    assert!(free("f32[4,6]{1,0:T(1,3)}", "f32[24]{0}"));
    assert!(!free("s4[4,6]{1,0:E(4)}", "s4[24]{0}"));
    assert!(!free("f32[5]{0:T(8,128)}", "f32[5,1]{1,0:T(8,128)}"));
    assert!(free("f32[16,8,128]{2,1,0:T(8,128)}", "f32[128,128]{1,0:T(8,128)}"));
    assert!(!free("f32[16,4,128]{2,1,0:T(8,128)}", "f32[64,128]{1,0:T(8,128)}"));
}

#[test]
fn align_layouts_under_tiles() {
    let tiled = array("f32[16,8,128]{2,1,0:T(8,128)}");
    let aligned = tiled.align_layouts(&[128, 128]).unwrap().unwrap();
    assert_eq!(aligned.to_string(), "f32[128,128]{1,0:T(8,128)}");
    let error = array("f32[4,6]{1,0:T(2,3)}").align_layouts(&[24]).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("1 tiles"));
}

#[test]
fn decompose_bitcast_of_no_bitcast() {
    let error = array("f32[4,6]{1,0:T(2,3)}").decompose_bitcast(&array("f32[24]{0}")).unwrap_err();
    assert!(error.is_illegal(), "{error}");
}

#[test]
fn for_each_index_in_steps_of_zero() {
    let visit = |count: u64, step| {
        let mut seen = 0;
        let done = for_each_index(&[3], &[0], &[1], &[count], &[step], |_| {
            seen += 1;
            ControlFlow::<()>::Continue(())
        });
        done.map(|_| seen)
    };
    assert!(visit(2, 0).unwrap_err().is_illegal());
    assert_eq!(
        (visit(0, 0), visit(2, 1), visit(2, 5), visit(2, u64::MAX)),
        (Ok(1), Ok(2), Ok(1), Ok(1))
    );
    assert!(visit(3, 1).unwrap_err().is_out_of_range());
}

#[test]
fn pack_int_n_of_an_odd_count() {
    assert_eq!(packing::pack(4, &[1, 2, 3]).unwrap().len(), 2);
    assert_eq!(packing::pack(1, &[1; 9]).unwrap(), [0xff, 0x01]);
    assert!(packing::unpack(4, &[0x21], 3, false).unwrap_err().is_mismatch());
    assert!(packing::pack(8, &[1]).unwrap_err().is_unsupported());
}

#[test]
fn copies_and_edits_that_fail_change_nothing() {
    let (source, mut target) = (shape("(f32[2]{0}, f32[2,3]{0,1})"), shape("(f32[9], f32[9])"));
    let before = target.clone();
    assert!(target.copy_layouts_from(&source).unwrap_err().is_mismatch());
    assert_eq!(target, before);
    let mut narrow = array("f32[8,2]{1,0}");
    let split = array("f32[8,8]{1,0:SC(1:5)}");
    assert!(narrow.copy_layout_from(&split).unwrap_err().is_illegal());
    assert_eq!(narrow.to_string(), "f32[8,2]{1,0}");
    let mut deep = Shape::token();
    for _ in 1..Shape::MAX_DEPTH {
        deep = Shape::tuple(vec![deep]).unwrap();
    }
    let mut tuple = shape("(token[])");
    let wrapped = Shape::tuple(vec![deep]).unwrap();
    assert!(tuple.append_to_tuple(wrapped).unwrap_err().is_limit());
    assert_eq!(tuple.to_string(), "(token[])");
}

#[test]
fn hostile_ranks_take_no_hostile_time() {
    let rank = 30_000;
    let wide = ArrayShape::new(PrimitiveType::F32, &vec![1; rank]);
    assert_eq!(wide.drop_degenerate_dimensions().unwrap().to_string(), "f32[]");
    assert_eq!(wide.byte_strides().unwrap(), vec![4; rank]);
    assert_eq!(wide.align_layouts(&vec![1; rank]).unwrap().as_ref(), Some(&wide));
    assert_eq!(wide.reshape_is_bitcast(&array("f32[]")), Ok(true));
    assert_eq!(wide.linear_index(&vec![0; rank]), Ok(0));
    let order: Vec<u64> = (0..rank as u64).rev().collect();
    assert!(wide.permute_dimensions(&order).unwrap().layout().unwrap().is_ascending());
    let tiles = Layout::descending(2).with_tiles(&vec![Tile::sizes(&[2, 1]).unwrap(); 3_000]);
    let mut nested = ArrayShape::new(PrimitiveType::F32, &[3, 4]);
    nested.set_layout(Some(tiles));
    assert_eq!(
        nested.linear_index(&[2, 0]),
        nested.insert_dimension(1, 1).unwrap().linear_index(&[2, 0, 0])
    );
}
