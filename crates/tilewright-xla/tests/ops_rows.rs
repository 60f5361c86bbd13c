//! The stated cases of sizes, indexing, layout algebra, tiled indexing and moving data, each under its
//! number.

use std::{cmp::Ordering, collections::BTreeSet, ops::ControlFlow};

use tilewright_core::{Place, TensorLayout};
use tilewright_xla::{
    ArrayShape, Dim, Ignore, Layout, Padded, PrimitiveType, Shape,
    index_util::{
        Cell, Indexer, bump_indices, compare_indices, index_in_bounds, linear_index, multi_index,
    },
    layout_util::byte_strides_are_major_to_minor,
    packing, permutation,
    shape_util::{
        Bitcast, dimension_letters, dimensions_unmodified_by_reshape, for_each_index,
        inserted_or_deleted_1_sized_dimensions,
    },
};

fn array(text: &str) -> ArrayShape {
    ArrayShape::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn shape(text: &str) -> Shape {
    Shape::parse(text).unwrap()
}

/// Every index, row-major.
fn indices(dims: &[u64]) -> Vec<Vec<u64>> {
    let rows: Vec<u64> = (0..dims.len() as u64).rev().collect();
    (0..dims.iter().product()).map(|number| multi_index(dims, &rows, number).unwrap()).collect()
}

fn number(dims: &[u64], index: &[u64]) -> u64 {
    index.iter().zip(dims).fold(0, |number, (x, dim)| number * dim + x)
}

/// The row-major number of each element in storage order; `None` is padding.
fn picture(shape: &ArrayShape) -> Vec<Option<u64>> {
    let (indexer, dims) = (Indexer::of(shape).unwrap(), shape.extents().unwrap());
    (0..indexer.capacity())
        .map(|offset| match indexer.locate(offset) {
            Cell::Element(index) => Some(number(&dims, &index)),
            Cell::Padding => None,
            Cell::OutOfRange => panic!("{shape} at {offset}"),
        })
        .collect()
}

/// What is in storage when an array numbered row-major is transposed into `output`.
fn transposed(dims: &[u64], perm: &[u64], output: &str) -> Vec<Option<u64>> {
    let output = array(output);
    assert_eq!(output.extents().unwrap(), permutation::permute(dims, perm).unwrap());
    let (indexer, out_dims) = (Indexer::of(&output).unwrap(), output.extents().unwrap());
    let mut cells = vec![None; indexer.capacity() as usize];
    for index in indices(&out_dims) {
        let source = permutation::permute_inverse(&index, perm).unwrap();
        cells[indexer.offset(&index).unwrap() as usize] = Some(number(dims, &source));
    }
    cells
}

fn hash(shape: &ArrayShape) -> u64 {
    let indexer = Indexer::of(shape).unwrap();
    indices(indexer.dims()).iter().fold(0u64, |hash, index| {
        hash.wrapping_mul(31).wrapping_add(indexer.offset(index).unwrap())
    })
}

fn at(text: &str, index: &[u64]) -> u64 {
    array(text).linear_index(index).unwrap()
}

fn cell(text: &str, offset: u64) -> Option<u64> {
    picture(&array(text))[offset as usize]
}

fn bytes(text: &str) -> u64 {
    array(text).bytes().unwrap()
}

fn free(a: &str, b: &str) -> bool {
    array(a).reshape_is_bitcast(&array(b)).unwrap()
}

fn r24() {
    let elements = ["f32[]", "f32[0]", "f32[1,1]", "f32[3,0,5]", "f32[13,17]"];
    assert_eq!(elements.map(|text| array(text).elements().unwrap()), [1, 0, 1, 0, 221]);
}

fn r25() {
    let sizes = ["f32[]", "f32[10,20]", "f64[10,20]", "c64[10,20]"].map(bytes);
    assert_eq!(sizes, [4, 800, 1600, 1600]);
    assert_eq!(shape("f32[10,20]").byte_size(8), Ok(800));
}

fn r26() {
    assert_eq!(array("f32[3,5,7]").byte_strides().unwrap(), [140, 28, 4]);
    assert_eq!(array("f16[5,7,9]").byte_strides().unwrap(), [126, 18, 2]);
}

fn r27() {
    let dense = |strides: [i64; 4]| {
        byte_strides_are_major_to_minor(&strides, &[8, 9, 10, 11], PrimitiveType::F32).unwrap()
    };
    assert!(dense([3960, 440, 44, 4]));
    assert!(!dense([1880, 220, 22, 2]) && !dense([1880, 440, 44, 4]));
}

fn r28() {
    let shape = array("f32[2,3]");
    assert_eq!(
        (shape.dimension(-1), shape.dimension(-2)),
        (Ok(Dim::Static(3)), Ok(Dim::Static(2)))
    );
    assert!(shape.dimension(-3).unwrap_err().is_out_of_range());
}

fn r29() {
    assert_eq!(bytes("s4[64,128]{1,0:E(4)}"), 4096);
    assert_eq!(array("s4[64,128]{1,0:E(4)}").unpadded_bytes(), Ok(4096));
}

fn r30() {
    let text = "s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}";
    assert_eq!((bytes(text), array(text).array_size()), (28_311_552, Ok(28_311_552)));
    assert_eq!(array(text).array_data_size(), Ok(28_311_552));
}

fn r31() {
    for dims in ["0,64,128", "128,0,64", "64,128,0", "0,63,127", "127,0,63", "63,127,0"] {
        let shape = array(&format!("s4[{dims}]{{2,1,0:E(4)}}"));
        assert_eq!((shape.array_data_size(), shape.array_size()), (Ok(0), Ok(0)), "{dims}");
    }
}

fn r32() {
    let packed = array("s4[8]{0:E(4)}");
    let size = |to| packed.change_element_type(to).unwrap().layout.unwrap().element_size_in_bits();
    assert_eq!([PrimitiveType::Pred, PrimitiveType::U8, PrimitiveType::U4].map(size), [0, 0, 4]);
}

fn r33() {
    let host = array("s4[8]{0:E(4)}").to_host_shape();
    assert_eq!(host.to_string(), "s4[8]{0}");
    assert!(host.is_host_shape() && !array("s4[8]{0:E(4)}").is_host_shape());
}

fn r34() {
    assert_eq!(array("f32[16,0]{1,0:T(8,128)}").array_data_size(), Ok(0));
}

fn r35() {
    assert_eq!(array("f32[3,5]{1,0:L(16)}").array_size(), Ok(64));
}

fn r36() {
    assert_eq!(array("f32[6,4]{1,0:T(3,4)(2,1)}").array_size(), Ok(128));
}

fn r37() {
    let (rows, columns) = (array("f32[23,44]{1,0}"), array("f32[23,44]{0,1}"));
    assert!(!rows.equal(&columns, Ignore::NOTHING) && rows.compatible(&columns));
}

fn r38() {
    let (dynamic, fixed) = (array("f32[<=4,3]"), array("f32[4,3]"));
    assert!(!dynamic.equal(&fixed, Ignore::NOTHING) && dynamic.compatible(&fixed));
    assert!(!array("f32[?]").equal(&array("f32[<=2]"), Ignore::NOTHING));
    assert!(array("f32[?]").compatible(&array("f32[<=2]")));
}

fn r39() {
    let (tiled, plain) = (layout("{0,1,2:T(42,44)}"), layout("{0,1,2}"));
    assert!(tiled.equal(&plain, Ignore { tiles: true, ..Ignore::NOTHING }));
    assert!(!tiled.equal(&plain, Ignore::NOTHING));
}

fn r40() {
    assert_eq!(Layout::descending(0), Layout::new(&[]).unwrap());
    let equal = |a, b, ignore| layout(a).equal(&layout(b), ignore);
    let nothing = Ignore::NOTHING;
    assert!(equal("{0:S(1)}", "{0:S(3)}", Ignore { memory_space: true, ..nothing }));
    assert!(equal("{0:E(32)}", "{0:E(1)}", Ignore { element_size: true, ..nothing }));
    assert!(equal("{0:SC(0:2)}", "{0:SC(0:3)}", Ignore { splits: true, ..nothing }));
    assert!(!equal("{0:SC(0:2)}", "{0:SC(0:3)}", nothing));
}

fn r41() {
    let compatible = |a, b| shape(a).compatible(&shape(b));
    assert!(compatible("token[]", "token[]") && !compatible("token[]", "f32[]"));
    assert!(compatible("(token[])", "(token[])"));
}

fn r44() {
    let place = |order: &[u64], index: &[u64]| linear_index(&[10, 20], order, index).unwrap();
    assert_eq!(
        (place(&[0, 1], &[3, 5]), place(&[0, 1], &[9, 19]), place(&[1, 0], &[3, 5])),
        (53, 199, 65)
    );
    assert_eq!(multi_index(&[10, 20], &[0, 1], 53).unwrap(), [3, 5]);
}

fn r45() {
    let place = |index: &[u64]| linear_index(&[10, 20, 30], &[2, 1, 0], index).unwrap();
    assert_eq!((place(&[3, 5, 7]), place(&[8, 15, 27])), (1957, 5277));
}

fn r46() {
    let place = |index: &[u64]| linear_index(&[10, 20, 30], &[1, 2, 0], index).unwrap();
    assert_eq!((place(&[3, 5, 7]), place(&[8, 15, 27])), (1945, 5355));
}

fn r47() {
    let place = |index: &[u64]| linear_index(&[10, 20, 30, 40], &[3, 2, 1, 0], index).unwrap();
    assert_eq!((place(&[3, 5, 7, 9]), place(&[8, 15, 27, 33])), (78289, 211_113));
}

fn r49() {
    let mut index = [0, 0];
    for next in [[0, 1], [1, 0], [1, 1]] {
        assert_eq!((bump_indices(&[2, 2], &mut index), index), (Ok(true), next));
    }
    assert_eq!((bump_indices(&[2, 2], &mut index), index), (Ok(false), [1, 1]));
}

fn visits(dims: &[u64]) -> usize {
    let mut count = 0;
    let shape = ArrayShape::new(PrimitiveType::S32, dims);
    let done = shape.for_each_index(|_| {
        count += 1;
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(done, Ok(ControlFlow::Continue(())));
    count
}

fn r50() {
    let dims: [&[u64]; 8] =
        [&[], &[0], &[16], &[3, 0], &[0, 2], &[4, 16], &[6, 11, 17], &[6, 11, 5, 17]];
    assert_eq!(dims.map(visits), [1, 0, 16, 0, 0, 64, 1122, 5610]);
}

fn r52() {
    let mut seen = Vec::new();
    let done = for_each_index(&[2, 2], &[1, 0], &[1, 0], &[0, 2], &[0, 1], |index| {
        seen.push(index.to_vec());
        ControlFlow::<()>::Continue(())
    });
    assert!(done.is_ok());
    assert_eq!(seen, [[1, 0], [1, 1]]);
}

fn r53() {
    assert!(!index_in_bounds(&[2, 2], &[-1, 0]));
    assert_eq!(compare_indices(&[0, 1], &[1, 0]), Ok(Ordering::Less));
}

fn r54() {
    assert_eq!((linear_index(&[], &[], &[]), multi_index(&[], &[], 0)), (Ok(0), Ok(vec![])));
    assert_eq!((visits(&[]), bump_indices(&[], &mut [])), (1, Ok(false)));
}

fn r55() {
    assert_eq!(permutation::compose(&[1, 3, 2, 0], &[2, 1, 3, 0]).unwrap(), [2, 3, 0, 1]);
    let letters = permutation::permute_inverse(&['a', 'b', 'c'], &[2, 0, 1]).unwrap();
    assert_eq!(letters, ['b', 'c', 'a']);
}

const ORDERS: [[u64; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn r56() {
    for order in ORDERS {
        let input = ArrayShape {
            layout: Some(Layout::new(&order).unwrap()),
            ..ArrayShape::new(PrimitiveType::F32, &[2, 3, 4])
        };
        for perm in ORDERS {
            let output = input.permute_dimensions(&perm).unwrap();
            let inverse = permutation::inverse(&perm).unwrap();
            let renamed = order.map(|dim| inverse[dim as usize]);
            assert_eq!(output.layout.as_ref().unwrap().minor_to_major(), renamed);
            for index in indices(&[2, 3, 4]) {
                let moved = permutation::permute(&index, &perm).unwrap();
                assert_eq!(input.linear_index(&index), output.linear_index(&moved));
            }
            assert_eq!(input.transpose_is_bitcast(&output, &perm), Ok(true));
        }
    }
}

fn reordered(text: &str, perm: &[u64], wanted: &str) {
    assert_eq!(array(text).permute_dimensions(perm).unwrap().to_string(), wanted);
}

fn r57() {
    reordered("f32[2,3,4]{2,1,0}", &[1, 2, 0], "f32[3,4,2]{1,0,2}");
}

fn r58() {
    reordered("f32[16,3,12,17]{1,2,0,3}", &[0, 2, 1, 3], "f32[16,12,3,17]{2,1,0,3}");
}

fn r59() {
    let longer = array("f32[10,20,30]{0,2,1}").prepend_major_dimension(40).unwrap();
    assert_eq!(longer.to_string(), "f32[40,10,20,30]{1,3,2,0}");
}

fn r60() {
    let longer = array("f32[10,20,30]{0,2,1}").append_minor_dimension(40).unwrap();
    assert_eq!(longer.to_string(), "f32[10,20,30,40]{3,0,2,1}");
}

fn r62() {
    let moved = |text, dim| layout(text).move_dim_to_major(dim).unwrap().to_string();
    assert_eq!(moved("{2,1,0}", 0), "{2,1,0}");
    assert_eq!(moved("{2,1,0}", 1), "{2,0,1}");
    assert_eq!(moved("{0,2,1}", 0), "{2,1,0}");
}

fn r123() {
    let moved = |dim| layout("{2,0,3,1}").move_dim_to_minor(dim).unwrap().to_string();
    assert_eq!((moved(2), moved(3)), ("{2,0,3,1}".into(), "{3,2,0,1}".into()));
}

fn r63() {
    let shape = array("f32[5,3,2,7,9]{2,0,1,4,3}");
    for dims in [[1, 2, 3], [3, 1, 2]] {
        assert_eq!(shape.delete_dimensions(&dims).unwrap().to_string(), "f32[5,9]{0,1}");
    }
    let less = array("f32[5,3,2]{2,0,1}").delete_dimension(1).unwrap();
    assert_eq!(less.to_string(), "f32[5,2]{1,0}");
}

fn r65() {
    let most_major = |order: &str| {
        let shape = array(&format!("f32[1,1,16,1,279]{order}"));
        shape.is_effectively_most_major_dimension(2).unwrap()
    };
    assert!(most_major("{4,0,1,2,3}") && !most_major("{0,1,2,3,4}"));
}

fn r66() {
    let (input, output) = (array("f32[10,5]{1,0}"), array("f32[5,10]{0,1}"));
    assert_eq!(input.transpose_is_bitcast(&output, &[1, 0]), Ok(true));
}

fn r67() {
    for (a, b) in [("1,0", "1,0"), ("1,0", "0,1"), ("0,1", "1,0"), ("0,1", "0,1")] {
        let found = free(&format!("f32[3,4]{{{a}}}"), &format!("f32[6,2]{{{b}}}"));
        assert_eq!(found, (a, b) == ("1,0", "1,0"), "{a} {b}");
    }
}

fn r68() {
    assert!(free("f32[3,2,2]{1,0,2}", "f32[6,2]{0,1}"));
    assert!(!free("f32[3,2,2]{0,1,2}", "f32[6,2]{0,1}"));
}

fn r69() {
    let deduce =
        |b| array("f32[5,3]{1,0}").deduce_transpose_dimensions_for_bitcast(&array(b)).unwrap();
    assert_eq!((deduce("f32[3,5]{0,1}"), deduce("f32[3,5]{1,0}")), (Some(vec![1, 0]), None));
}

fn decomposed(a: &str, b: &str) -> Bitcast {
    array(a).decompose_bitcast(&array(b)).unwrap()
}

fn r70() {
    assert_eq!(decomposed("f32[1,16,17,3]{3,2,1,0}", "f32[16,51]{1,0}"), Bitcast::Reshape);
    assert_eq!(decomposed("f32[17,3,1,16]{1,0,3,2}", "f32[51,16]{0,1}"), Bitcast::Reshape);
}

fn r71() {
    let bitcast = decomposed("f32[3,7,6,4]{3,2,1,0}", "f32[3,6,4,7]{2,1,3,0}");
    assert_eq!(bitcast, Bitcast::Transpose(vec![0, 2, 3, 1]));
}

fn trt(a: &str, b: &str, first: &[u64], middle: &str, second: &[u64]) {
    let Bitcast::Trt { transpose1_dims, transpose1_shape, reshape_shape, transpose2_dims } =
        decomposed(a, b)
    else {
        panic!("{a} {b}")
    };
    assert_eq!((transpose1_dims.as_slice(), transpose2_dims.as_slice()), (first, second));
    assert_eq!(reshape_shape, array(middle));
    assert_eq!(array(a).transpose_is_bitcast(&transpose1_shape, first), Ok(true));
    assert_eq!(reshape_shape.transpose_is_bitcast(&array(b), second), Ok(true));
}

fn r72() {
    trt("f32[16,17,3]{2,1,0}", "f32[51,16]{0,1}", &[0, 1, 2], "f32[16,51]{1,0}", &[1, 0]);
}

fn r73() {
    let (a, b) = ("f32[16,17,3,7]{3,2,1,0}", "f32[7,16,51]{0,2,1}");
    trt(a, b, &[0, 1, 2, 3], "f32[16,51,7]{2,1,0}", &[2, 0, 1]);
}

fn aligned(text: &str, dims: &[u64]) -> Option<String> {
    let aligned = array(text).align_layouts(dims).unwrap()?;
    assert_eq!(array(text).reshape_is_bitcast(&aligned), Ok(true));
    Some(aligned.layout.unwrap().to_string())
}

fn r75() {
    let text = "f32[3,8,5,7,11]{3,2,1,0,4}";
    assert_eq!(aligned(text, &[4, 3, 2, 7, 5, 11]).unwrap(), "{4,3,2,1,0,5}");
    assert_eq!(aligned(text, &[3, 2, 4, 35, 11]).unwrap(), "{3,2,1,0,4}");
}

fn r77() {
    assert_eq!(aligned("f32[3,8,5,7,11]{2,3,1,0,4}", &[4, 3, 2, 7, 5, 11]), None);
    assert_eq!(aligned("f32[3,8,5,7,11]{3,2,1,0,4}", &[4, 3, 2, 5, 77]), None);
}

fn r78() {
    let kept = |a: &[u64], b: &[u64]| dimensions_unmodified_by_reshape(a, b).unwrap();
    assert_eq!(kept(&[4, 1, 3, 5, 6, 7], &[2, 6, 1, 5, 1, 42]), [(3, 3)]);
    assert_eq!(kept(&[1, 1, 1, 1], &[1, 1, 1]), [(0, 0), (1, 1), (2, 2)]);
}

fn r80() {
    assert!(inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[1, 9, 4, 1]).is_some());
    assert!(inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[3, 1, 12]).is_none());
}

fn r81() {
    let source = shape("f32[123,42,7]{2,0,1}");
    let mut target = shape("f32[2,3,5]");
    target.copy_layouts_from(&source).unwrap();
    assert_eq!(target.to_string(), "f32[2,3,5]{2,0,1}");
    let mut flat = shape("f32[2,3]{0,1}");
    let error = flat.copy_layouts_from(&source).unwrap_err();
    assert!(error.is_mismatch() && error.to_string().contains("ranks differ: 3 and 2"));
    assert_eq!(flat.to_string(), "f32[2,3]{0,1}");
}

fn r82() {
    let flat = shape("(f32[2,3],(f32[4,5],(),f32[6,7]),f32[8,9])").flatten();
    let texts: Vec<String> = flat.iter().map(Shape::to_string).collect();
    assert_eq!(texts, ["f32[2,3]", "f32[4,5]", "f32[6,7]", "f32[8,9]"]);
}

fn r83() {
    assert!(!free("f32[4,6]{1,0:T(2,3)}", "f32[24]{0}"));
    assert!(free("f32[16,128]{1,0:T(8,128)}", "f32[16,128]{1,0}"));
}

fn r85() {
    assert_eq!(at("f32[3,5]{1,0:T(2,2)}", &[2, 3]), 17);
    let cells = "0 1 5 6 2 3 7 8 4 . 9 . 10 11 . . 12 13 . . 14 . . .";
    let wanted: Vec<Option<u64>> = cells.split(' ').map(|cell| cell.parse().ok()).collect();
    assert_eq!(picture(&array("f32[3,5]{1,0:T(2,2)}")), wanted);
}

fn r86() {
    assert_eq!(at("f32[8,8]{1,0:T(2,4)(2,1,1,1)}", &[6, 5]), 51);
}

fn r87() {
    let combined = array("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
    let flat = array("f32[112,110]{1,0:T(2,3)}");
    assert_eq!(hash(&combined), hash(&flat));
    assert_eq!(combined.reshape_is_bitcast(&flat), Ok(true));
}

/// A shape, an index and its offset, padded elements, bytes.
const WORKED: [(&str, &[u64], u64, u64, u64); 31] = [
    ("f32[2,3]{1,0}", &[1, 2], 5, 6, 24),
    ("f32[8,100,100,3]{3,0,2,1}", &[7, 5, 9, 2], 12239, 240_000, 960_000),
    ("f32[3,5]{1,0:T(2,2)}", &[2, 3], 17, 24, 96),
    ("f32[3,5]{0,1:T(2,2)}", &[2, 3], 14, 24, 96),
    ("bf16[4,8]{1,0:T(2,4)(2,1)}", &[3, 6], 29, 32, 64),
    ("f32[8,8]{1,0:T(2,4)(2,1,1,1)}", &[6, 5], 51, 64, 256),
    ("f32[10,300]{1,0:T(8,128)}", &[9, 299], 5291, 6144, 24576),
    ("bf16[20,200]{1,0:T(8,128)(2,1)}", &[19, 199], 5519, 6144, 12288),
    ("bf16[32,256]{1,0:T(8,128)(2,1,1,1)}", &[17, 130], 6404, 8192, 16384),
    ("s8[33,130]{1,0:T(32,128)(4,1)}", &[32, 129], 12292, 16384, 16384),
    ("f32[2,3,1004]{2,1,0:T(2,*,128)}", &[1, 2, 1003], 6083, 6144, 24576),
    ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", &[1, 6, 7, 10, 9], 12430, 12432, 49728),
    ("f32[5,4,6]{2,1,0:T(2,3)}", &[4, 3, 5], 119, 120, 480),
    ("f32[5,4,6]{0,2,1:T(2,3)}", &[4, 3, 5], 142, 144, 576),
    ("f32[]{:T(256)}", &[], 0, 256, 1024),
    ("f32[1000]{0:T(128)}", &[999], 999, 1024, 4096),
    ("bf16[1024]{0:T(1024)(128)(2,1)}", &[130], 5, 1024, 2048),
    ("f32[7]{0:T(2,4)}", &[6], 10, 16, 64),
    ("s4[3,5]{1,0:E(4)}", &[2, 4], 14, 15, 8),
    ("u2[3,5]{0,1:E(2)}", &[2, 4], 14, 15, 4),
    ("s4[123,456]{1,0:T(2,128)E(4)}", &[122, 455], 63303, 63488, 31744),
    ("s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}", &[9215, 6143], 56_623_103, 56_623_104, 28_311_552),
    ("pred[8,8,8]{0,2,1:T(8,128)E(32)}", &[7, 7, 7], 8071, 8192, 32768),
    ("f32[3,5]{1,0:L(16)}", &[2, 4], 14, 16, 64),
    ("f32[3,5]{1,0:T(2,2)L(32)}", &[2, 4], 20, 32, 128),
    ("f32[6,4]{1,0:T(3,4)(2,1)}", &[5, 3], 30, 32, 128),
    ("f32[6,10]{1,0:T(4)(2,2)}", &[5, 9], 89, 96, 384),
    ("f32[8,16]{1,0:T(4,4)(2,2)}", &[5, 10], 102, 128, 512),
    ("f32[4,8]{1,0:T(2,2)(4,1)}", &[3, 7], 61, 64, 256),
    ("f32[2,3,5]{0,2,1:T(2,4,2)(2,1)}", &[1, 2, 4], 50, 64, 256),
    ("f32[3,5]{1,0}", &[2, 4], 14, 15, 60),
];

fn r88() {
    for (text, index, offset, padded, size) in WORKED {
        let indexer = Indexer::of(&array(text)).unwrap();
        assert_eq!((indexer.offset(index), indexer.capacity()), (Ok(offset), padded), "{text}");
        assert_eq!(indexer.locate(offset), Cell::Element(index.to_vec()), "{text}");
        assert_eq!((bytes(text), array(text).array_size()), (size, Ok(size)), "{text}");
    }
    assert_eq!(bytes("f32[16,0]{1,0:T(8,128)}"), 0);
}

fn r89() {
    let text = "f32[8,8]{1,0:T(4,4)}";
    assert_eq!((cell(text, 16), cell(text, 33)), (Some(4), Some(33)));
    assert_eq!(cell("f32[6,6]{1,0:T(4,4)}", 54), None);
}

fn r90() {
    assert_eq!(cell("f32[2,8,8]{2,1,0:T(4,4)}", 80), Some(68));
    assert_eq!(cell("f32[2,3,8,8]{3,2,1,0:T(4,4)}", 272), Some(260));
    assert_eq!(cell("bf16[16,256]{1,0:T(8,128)(2,1)}", 1), Some(256));
}

fn r95() {
    let text = "s2[9,6]{0,1:T(4,4)L(100)E(2)}";
    assert_eq!((at(text, &[8, 5]), at(text, &[3, 2]), bytes(text)), (84, 11, 25));
    assert_eq!(hash(&array(text)), 0x9dff_732b_19bd_78ec);
}

fn r97() {
    let text = "f32[7,8]{1,0:T(2,4)(2,1,1,1)}";
    assert_eq!((at(text, &[6, 7]), at(text, &[5, 7])), (55, 62));
    assert_eq!((array(text).last_offset(), array(text).array_data_size()), (Ok(Some(62)), Ok(252)));
}

fn r98() {
    let text = "f32[3,5,7]{1,0,2:T(2,3)(2,1)}";
    assert_eq!((at(text, &[2, 4, 6]), at(text, &[1, 3, 5])), (164, 127));
    assert_eq!(hash(&array(text)), 0x9c06_f4bc_236f_69d7);
}

fn r99() {
    let text = "pred[17,40]{1,0:T(8,128)(4,1)}";
    assert_eq!((at(text, &[16, 39]), at(text, &[3, 5])), (2204, 23));
}

fn r100() {
    assert_eq!(at("f32[5,1]{1,0:T(8,128)}", &[4, 0]), 512);
    assert_eq!(at("f32[5]{0:T(8,128)}", &[4]), 4);
}

fn r119() {
    let text = "bf16[2048]{0:T(1024)(128)(2,1)}";
    assert_eq!([at(text, &[0]), at(text, &[128]), at(text, &[1])], [0, 1, 2]);
    let back = |offset| array(text).multi_index(offset).unwrap();
    assert_eq!([back(1), back(2)], [Cell::Element(vec![128]), Cell::Element(vec![1])]);
}

fn r120() {
    for (text, index, offset) in [
        ("bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", &[0, 2, 0][..], 256),
        ("f32[8,4]{1,0:T(2,2)}", &[3, 1], 11),
        ("f32[8,4]{1,0}", &[3, 1], 13),
    ] {
        assert_eq!(at(text, index), offset);
        assert_eq!(array(text).multi_index(offset), Ok(Cell::Element(index.to_vec())));
    }
}

fn r121() {
    let untiled = |text, dims: &[u64]| layout(text).is_untiled(dims).unwrap();
    assert!(untiled("{1,0:T(8,128)}", &[24, 128]) && untiled("{1,0:T(1,128)}", &[4, 256]));
    assert!(!untiled("{2,1,0:T(8,128)}", &[2, 3, 4]));
}

fn r122() {
    let back = |offset| array("f32[3,5]{1,0:T(2,2)}").multi_index(offset).unwrap();
    assert_eq!((back(10), back(9)), (Cell::Element(vec![1, 4]), Cell::Padding));
    assert_eq!(back(24), Cell::OutOfRange);
}

fn r101() {
    for (text, ..) in WORKED {
        let shape = array(text);
        if shape.elements().unwrap() > 100_000 {
            continue;
        }
        let (indexer, mut seen) = (Indexer::of(&shape).unwrap(), BTreeSet::new());
        for index in indices(indexer.dims()) {
            let offset = indexer.offset(&index).unwrap();
            assert!(offset < indexer.capacity() && seen.insert(offset), "{text} {index:?}");
        }
    }
}

fn r125() {
    let ranks = ["f32[3,1,5]", "f32[]", "f32[0,1,4]"].map(array);
    assert_eq!(ranks.each_ref().map(ArrayShape::true_rank), [2, 0, 1]);
    assert_eq!(ranks.each_ref().map(ArrayShape::true_num_dimensions), [2, 0, 2]);
}

fn padded(text: &str, dims: &[u64], order: &str) -> Result<TensorLayout, tilewright_core::Error> {
    Padded::parse(text).unwrap().lower(dims, &layout(order))
}

fn r126() {
    let count = padded("pad(3)", &[2, 3], "{0,1}").unwrap_err().to_string();
    assert!(count.contains("1 padded dimensions") && count.contains("rank 2"), "{count}");
    let small = padded("pad(3,2)", &[2, 3], "{0,1}").unwrap_err().to_string();
    assert!(small.contains("padded to 2") && small.contains("size 3"), "{small}");
}

fn r127() {
    let tensor = padded("pad(3,5)", &[2, 3], "{0,1}").unwrap();
    assert_eq!(tensor.offset(&[1, 2]), Ok(7));
    assert_eq!((tensor.locate(2), tensor.locate(14)), (Ok(Place::Padding), Ok(Place::Padding)));
    let empty = padded("pad(2,3)", &[0, 3], "{1,0}").unwrap();
    assert_eq!((empty.capacity(), empty.size(), empty.locate(0)), (6, 0, Ok(Place::Padding)));
}

fn r128() {
    let defaults: Vec<String> = (0..5).map(|rank| Layout::descending(rank).to_string()).collect();
    assert_eq!(defaults, ["{}", "{0}", "{1,0}", "{2,1,0}", "{3,2,1,0}"]);
    let letters: Vec<_> = (2..5).map(|rank| dimension_letters(rank).unwrap()).collect();
    assert_eq!(letters, ["yx", "zyx", "pzyx"]);
}

fn r129() {
    assert_eq!(picture(&array("f32[3,2]{0,1}")), [0, 2, 4, 1, 3, 5].map(Some));
}

fn letters(tensor: &TensorLayout) -> String {
    let cell = |offset| match tensor.locate(offset).unwrap() {
        Place::Element(coord) => {
            let number = number(tensor.extents(), coord.as_slice());
            char::from(b'a' + number as u8).to_string()
        }
        Place::Padding | Place::OutOfRange => "0".into(),
    };
    (0..tensor.capacity() as i64).map(cell).collect::<Vec<_>>().join(" ")
}

fn r102() {
    let minor0 = padded("pad(3,5)fill(0)", &[2, 3], "{0,1}").unwrap();
    assert_eq!(letters(&minor0), "a d 0 b e 0 c f 0 0 0 0 0 0 0");
    let rows = padded("pad(3,5)fill(0)", &[2, 3], "{1,0}").unwrap();
    assert_eq!(letters(&rows), "a b c 0 0 d e f 0 0 0 0 0 0 0");
    assert_eq!(letters(&layout("{0,1}").lower(&[2, 3]).unwrap()), "a d b e c f");
}

fn r104() {
    let tensor = padded("pad(3,5)", &[2, 3], "{0,1}").unwrap();
    for index in indices(&[2, 3]) {
        let tiled = at("f32[2,3]{0,1:T(5,3)}", &index);
        assert_eq!(tensor.offset(&index), Ok(tiled as i64));
    }
}

fn r105() {
    assert_eq!(packing::pack(4, &[1, 2, 3]).unwrap(), [0x21, 0x03]);
    assert_eq!(packing::pack(2, &[0, 1, 2, 3, 1]).unwrap(), [0xe4, 0x01]);
    let signed = [-1i8, 7, -8].map(|value| value as u8);
    assert_eq!(packing::pack(4, &signed).unwrap(), [0x7f, 0x08]);
    assert_eq!(packing::unpack(4, &[0x7f, 0x08], 3, true).unwrap(), signed);
}

fn r106() {
    let cells = transposed(&[12, 7], &[1, 0], "f32[7,12]{1,0:T(5,2)}");
    assert_eq!(cells.len(), 120);
    let start = [0, 7, 1, 8, 2, 9, 3, 10, 4, 11, 14, 21, 15, 22, 16, 23].map(Some);
    assert_eq!(cells[..16], start);
    assert_eq!(cells[112..], [Some(76), Some(83), None, None, None, None, None, None][..]);
}

fn r108() {
    let cells = transposed(&[2, 4, 6], &[0, 1, 2], "f32[2,4,6]{2,1,0:T(2,3)}");
    let start = [0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11, 12, 13, 14, 18].map(Some);
    assert_eq!((&cells[..16], cells.last()), (&start[..], Some(&Some(47))));
}

fn r109() {
    let cells = transposed(&[12, 7], &[1, 0], "f32[7,12]{1,0:T(5)}");
    assert_eq!(cells.len(), 105);
    for (at, cell) in cells.iter().enumerate() {
        assert_eq!(cell.is_none(), at % 15 >= 12, "{at}");
    }
}

fn r113() {
    let (from, to) = (array("f32[3,5]{1,0:T(2,2)}"), array("f32[3,5]{0,1:T(3,2)}"));
    let (source, indexer) = (Indexer::of(&from).unwrap(), Indexer::of(&to).unwrap());
    let cell = |offset| match indexer.locate(offset) {
        Cell::Element(index) => source.offset(&index).unwrap().to_string(),
        Cell::Padding | Cell::OutOfRange => ".".into(),
    };
    let cells: Vec<String> = (0..indexer.capacity()).map(cell).collect();
    assert_eq!(cells.join(" "), "0 2 1 3 4 6 12 . 13 . 16 . 5 7 8 10 . . 17 . 20 . . .");
}

fn r118() {
    for (dims, perm, output) in
        [([0, 4], [1, 0], "f32[4,0]{1,0:T(3,5)}"), ([4, 0], [0, 1], "f32[4,0]{0,1:T(8,128)(2,1)}")]
    {
        assert!(transposed(&dims, &perm, output).is_empty());
        assert_eq!((visits(&dims), bytes(output)), (0, 0));
    }
}

/// Each case with its number.
const ROWS: [(u32, fn()); 76] = [
    (24, r24),
    (25, r25),
    (26, r26),
    (27, r27),
    (28, r28),
    (29, r29),
    (30, r30),
    (31, r31),
    (32, r32),
    (33, r33),
    (34, r34),
    (35, r35),
    (36, r36),
    (37, r37),
    (38, r38),
    (39, r39),
    (40, r40),
    (41, r41),
    (44, r44),
    (45, r45),
    (46, r46),
    (47, r47),
    (49, r49),
    (50, r50),
    (52, r52),
    (53, r53),
    (54, r54),
    (55, r55),
    (56, r56),
    (57, r57),
    (58, r58),
    (59, r59),
    (60, r60),
    (62, r62),
    (123, r123),
    (63, r63),
    (65, r65),
    (66, r66),
    (67, r67),
    (68, r68),
    (69, r69),
    (70, r70),
    (71, r71),
    (72, r72),
    (73, r73),
    (75, r75),
    (77, r77),
    (78, r78),
    (80, r80),
    (81, r81),
    (82, r82),
    (83, r83),
    (85, r85),
    (86, r86),
    (87, r87),
    (88, r88),
    (89, r89),
    (90, r90),
    (95, r95),
    (97, r97),
    (98, r98),
    (99, r99),
    (100, r100),
    (119, r119),
    (120, r120),
    (121, r121),
    (122, r122),
    (101, r101),
    (125, r125),
    (126, r126),
    (127, r127),
    (128, r128),
    (129, r129),
    (102, r102),
    (104, r104),
    (105, r105),
];

/// Cases of moving data, as far as they are about places alone.
const PLACES: [(u32, fn()); 5] = [(106, r106), (108, r108), (109, r109), (113, r113), (118, r118)];

#[test]
fn every_stated_case_holds() {
    for (number, case) in ROWS.into_iter().chain(PLACES) {
        println!("case {number}");
        case();
    }
}

#[test]
fn every_stated_case_is_there() {
    let covered: BTreeSet<u32> = ROWS.iter().chain(&PLACES).map(|&(number, _)| number).collect();
    let sections: [&[u32]; 5] = [
        &[24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41],
        &[44, 45, 46, 47, 49, 50, 52, 53, 54],
        &[
            55, 56, 57, 58, 59, 60, 62, 123, 63, 65, 66, 67, 68, 69, 70, 71, 72, 73, 75, 77, 78,
            80, 81, 82, 83,
        ],
        &[
            85, 86, 87, 88, 89, 90, 95, 97, 98, 99, 100, 119, 120, 121, 122, 101, 125, 126, 127,
            128, 129,
        ],
        &[102, 104, 105, 106, 108, 109, 113, 118],
    ];
    let stated: BTreeSet<u32> = sections.concat().into_iter().collect();
    assert_eq!(covered, stated);
    assert_eq!(covered.len(), ROWS.len() + PLACES.len());
}
