//! Sizes and indices.

use super::*;

pub(crate) fn r24() {
    let elements = ["f32[]", "f32[0]", "f32[1,1]", "f32[3,0,5]", "f32[13,17]"];
    assert_eq!(elements.map(|text| array(text).elements().unwrap()), [1, 0, 1, 0, 221]);
}

pub(crate) fn r25() {
    let sizes = ["f32[]", "f32[10,20]", "f64[10,20]", "c64[10,20]"].map(bytes);
    assert_eq!(sizes, [4, 800, 1600, 1600]);
    assert_eq!(shape("f32[10,20]").byte_size(8), Ok(800));
}

pub(crate) fn r26() {
    assert_eq!(array("f32[3,5,7]").byte_strides().unwrap(), [140, 28, 4]);
    assert_eq!(array("f16[5,7,9]").byte_strides().unwrap(), [126, 18, 2]);
}

pub(crate) fn r27() {
    let dense = |strides: [i64; 4]| {
        byte_strides_are_major_to_minor(&strides, &[8, 9, 10, 11], PrimitiveType::F32).unwrap()
    };
    assert!(dense([3960, 440, 44, 4]));
    assert!(!dense([1880, 220, 22, 2]) && !dense([1880, 440, 44, 4]));
}

pub(crate) fn r28() {
    let shape = array("f32[2,3]");
    assert_eq!(
        (shape.dimension(-1), shape.dimension(-2)),
        (Ok(Dim::Static(3)), Ok(Dim::Static(2)))
    );
    assert!(shape.dimension(-3).unwrap_err().is_out_of_range());
}

pub(crate) fn r29() {
    assert_eq!(bytes("s4[64,128]{1,0:E(4)}"), 4096);
    assert_eq!(array("s4[64,128]{1,0:E(4)}").unpadded_bytes(), Ok(4096));
}

pub(crate) fn r30() {
    let text = "s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}";
    assert_eq!((bytes(text), array(text).array_size()), (28_311_552, Ok(28_311_552)));
    assert_eq!(array(text).array_data_size(), Ok(28_311_552));
}

pub(crate) fn r31() {
    for dims in ["0,64,128", "128,0,64", "64,128,0", "0,63,127", "127,0,63", "63,127,0"] {
        let shape = array(&format!("s4[{dims}]{{2,1,0:E(4)}}"));
        assert_eq!((shape.array_data_size(), shape.array_size()), (Ok(0), Ok(0)), "{dims}");
    }
}

pub(crate) fn r32() {
    let packed = array("s4[8]{0:E(4)}");
    let size = |to| packed.with_element_type(to).unwrap().layout().unwrap().element_size_in_bits();
    assert_eq!([PrimitiveType::Pred, PrimitiveType::U8, PrimitiveType::U4].map(size), [0, 0, 4]);
}

pub(crate) fn r33() {
    let host = array("s4[8]{0:E(4)}").to_host_shape();
    assert_eq!(host.to_string(), "s4[8]{0}");
    assert!(host.is_host_shape() && !array("s4[8]{0:E(4)}").is_host_shape());
}

pub(crate) fn r34() {
    assert_eq!(array("f32[16,0]{1,0:T(8,128)}").array_data_size(), Ok(0));
}

pub(crate) fn r35() {
    assert_eq!(array("f32[3,5]{1,0:L(16)}").array_size(), Ok(64));
}

pub(crate) fn r36() {
    assert_eq!(array("f32[6,4]{1,0:T(3,4)(2,1)}").array_size(), Ok(128));
}

pub(crate) fn r37() {
    let (rows, columns) = (array("f32[23,44]{1,0}"), array("f32[23,44]{0,1}"));
    assert!(!rows.equal(&columns, Ignore::NOTHING) && rows.compatible(&columns));
}

pub(crate) fn r38() {
    let (dynamic, fixed) = (array("f32[<=4,3]"), array("f32[4,3]"));
    assert!(!dynamic.equal(&fixed, Ignore::NOTHING) && dynamic.compatible(&fixed));
    assert!(!array("f32[?]").equal(&array("f32[<=2]"), Ignore::NOTHING));
    assert!(array("f32[?]").compatible(&array("f32[<=2]")));
}

pub(crate) fn r39() {
    let (tiled, plain) = (layout("{0,1,2:T(42,44)}"), layout("{0,1,2}"));
    assert!(tiled.equal(&plain, Ignore { tiles: true, ..Ignore::NOTHING }));
    assert!(!tiled.equal(&plain, Ignore::NOTHING));
}

pub(crate) fn r40() {
    assert_eq!(Layout::descending(0), Layout::new(&[]).unwrap());
    let equal = |a, b, ignore| layout(a).equal(&layout(b), ignore);
    let nothing = Ignore::NOTHING;
    assert!(equal("{0:S(1)}", "{0:S(3)}", Ignore { memory_space: true, ..nothing }));
    assert!(equal("{0:E(32)}", "{0:E(1)}", Ignore { element_size: true, ..nothing }));
    assert!(equal("{0:SC(0:2)}", "{0:SC(0:3)}", Ignore { splits: true, ..nothing }));
    assert!(!equal("{0:SC(0:2)}", "{0:SC(0:3)}", nothing));
}

pub(crate) fn r41() {
    let compatible = |a, b| shape(a).compatible(&shape(b));
    assert!(compatible("token[]", "token[]") && !compatible("token[]", "f32[]"));
    assert!(compatible("(token[])", "(token[])"));
}

pub(crate) fn r44() {
    let place = |order: &[u64], index: &[u64]| linear_index(&[10, 20], order, index).unwrap();
    assert_eq!(
        (place(&[0, 1], &[3, 5]), place(&[0, 1], &[9, 19]), place(&[1, 0], &[3, 5])),
        (53, 199, 65)
    );
    assert_eq!(multi_index(&[10, 20], &[0, 1], 53).unwrap(), [3, 5]);
}

pub(crate) fn r45() {
    let place = |index: &[u64]| linear_index(&[10, 20, 30], &[2, 1, 0], index).unwrap();
    assert_eq!((place(&[3, 5, 7]), place(&[8, 15, 27])), (1957, 5277));
}

pub(crate) fn r46() {
    let place = |index: &[u64]| linear_index(&[10, 20, 30], &[1, 2, 0], index).unwrap();
    assert_eq!((place(&[3, 5, 7]), place(&[8, 15, 27])), (1945, 5355));
}

pub(crate) fn r47() {
    let place = |index: &[u64]| linear_index(&[10, 20, 30, 40], &[3, 2, 1, 0], index).unwrap();
    assert_eq!((place(&[3, 5, 7, 9]), place(&[8, 15, 27, 33])), (78289, 211_113));
}

pub(crate) fn r49() {
    let mut index = [0, 0];
    for next in [[0, 1], [1, 0], [1, 1]] {
        assert_eq!((bump_indices(&[2, 2], &mut index), index), (Ok(true), next));
    }
    assert_eq!((bump_indices(&[2, 2], &mut index), index), (Ok(false), [1, 1]));
}

pub(crate) fn visits(dims: &[u64]) -> usize {
    let mut count = 0;
    let shape = ArrayShape::new(PrimitiveType::S32, dims);
    let done = shape.for_each_index(|_| {
        count += 1;
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(done, Ok(ControlFlow::Continue(())));
    count
}

pub(crate) fn r50() {
    let dims: [&[u64]; 8] =
        [&[], &[0], &[16], &[3, 0], &[0, 2], &[4, 16], &[6, 11, 17], &[6, 11, 5, 17]];
    assert_eq!(dims.map(visits), [1, 0, 16, 0, 0, 64, 1122, 5610]);
}

pub(crate) fn r52() {
    let mut seen = Vec::new();
    let done = for_each_index(&[2, 2], &[1, 0], &[1, 0], &[0, 2], &[0, 1], |index| {
        seen.push(index.to_vec());
        ControlFlow::<()>::Continue(())
    });
    assert!(done.is_ok());
    assert_eq!(seen, [[1, 0], [1, 1]]);
}

pub(crate) fn r53() {
    assert!(!index_in_bounds(&[2, 2], &[-1, 0]));
    assert_eq!(compare_indices(&[0, 1], &[1, 0]), Ok(Ordering::Less));
}

pub(crate) fn r54() {
    assert_eq!((linear_index(&[], &[], &[]), multi_index(&[], &[], 0)), (Ok(0), Ok(vec![])));
    assert_eq!((visits(&[]), bump_indices(&[], &mut [])), (1, Ok(false)));
}

pub(crate) fn r55() {
    assert_eq!(permutation::compose(&[1, 3, 2, 0], &[2, 1, 3, 0]).unwrap(), [2, 3, 0, 1]);
    let letters = permutation::permute_inverse(&['a', 'b', 'c'], &[2, 0, 1]).unwrap();
    assert_eq!(letters, ['b', 'c', 'a']);
}
