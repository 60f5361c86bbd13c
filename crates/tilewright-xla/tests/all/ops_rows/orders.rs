//! Layouts, reorderings and bitcasts.

use super::*;

const ORDERS: [[u64; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

pub(crate) fn r56() {
    for order in ORDERS {
        let mut input = ArrayShape::new(PrimitiveType::F32, &[2, 3, 4]);
        input.set_layout(Some(Layout::new(&order).unwrap()));
        for perm in ORDERS {
            let output = input.permute_dimensions(&perm).unwrap();
            let inverse = permutation::inverse(&perm).unwrap();
            let renamed = order.map(|dim| inverse[dim as usize]);
            assert_eq!(output.layout().unwrap().minor_to_major(), renamed);
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

pub(crate) fn r57() {
    reordered("f32[2,3,4]{2,1,0}", &[1, 2, 0], "f32[3,4,2]{1,0,2}");
}

pub(crate) fn r58() {
    reordered("f32[16,3,12,17]{1,2,0,3}", &[0, 2, 1, 3], "f32[16,12,3,17]{2,1,0,3}");
}

pub(crate) fn r59() {
    let longer = array("f32[10,20,30]{0,2,1}").prepend_major_dimension(40).unwrap();
    assert_eq!(longer.to_string(), "f32[40,10,20,30]{1,3,2,0}");
}

pub(crate) fn r60() {
    let longer = array("f32[10,20,30]{0,2,1}").append_minor_dimension(40).unwrap();
    assert_eq!(longer.to_string(), "f32[10,20,30,40]{3,0,2,1}");
}

pub(crate) fn r62() {
    let moved = |text, dim| layout(text).with_dim_major(dim).unwrap().to_string();
    assert_eq!(moved("{2,1,0}", 0), "{2,1,0}");
    assert_eq!(moved("{2,1,0}", 1), "{2,0,1}");
    assert_eq!(moved("{0,2,1}", 0), "{2,1,0}");
}

pub(crate) fn r123() {
    let moved = |dim| layout("{2,0,3,1}").with_dim_minor(dim).unwrap().to_string();
    assert_eq!((moved(2), moved(3)), ("{2,0,3,1}".into(), "{3,2,0,1}".into()));
}

pub(crate) fn r63() {
    let shape = array("f32[5,3,2,7,9]{2,0,1,4,3}");
    for dims in [[1, 2, 3], [3, 1, 2]] {
        assert_eq!(shape.delete_dimensions(&dims).unwrap().to_string(), "f32[5,9]{0,1}");
    }
    let less = array("f32[5,3,2]{2,0,1}").delete_dimension(1).unwrap();
    assert_eq!(less.to_string(), "f32[5,2]{1,0}");
}

pub(crate) fn r65() {
    let most_major = |order: &str| {
        let shape = array(&format!("f32[1,1,16,1,279]{order}"));
        shape.is_effectively_most_major_dimension(2).unwrap()
    };
    assert!(most_major("{4,0,1,2,3}") && !most_major("{0,1,2,3,4}"));
}

pub(crate) fn r66() {
    let (input, output) = (array("f32[10,5]{1,0}"), array("f32[5,10]{0,1}"));
    assert_eq!(input.transpose_is_bitcast(&output, &[1, 0]), Ok(true));
}

pub(crate) fn r67() {
    for (a, b) in [("1,0", "1,0"), ("1,0", "0,1"), ("0,1", "1,0"), ("0,1", "0,1")] {
        let found = free(&format!("f32[3,4]{{{a}}}"), &format!("f32[6,2]{{{b}}}"));
        assert_eq!(found, (a, b) == ("1,0", "1,0"), "{a} {b}");
    }
}

pub(crate) fn r68() {
    assert!(free("f32[3,2,2]{1,0,2}", "f32[6,2]{0,1}"));
    assert!(!free("f32[3,2,2]{0,1,2}", "f32[6,2]{0,1}"));
}

pub(crate) fn r69() {
    let deduce =
        |b| array("f32[5,3]{1,0}").deduce_transpose_dimensions_for_bitcast(&array(b)).unwrap();
    assert_eq!((deduce("f32[3,5]{0,1}"), deduce("f32[3,5]{1,0}")), (Some(vec![1, 0]), None));
}

fn decomposed(a: &str, b: &str) -> Bitcast {
    array(a).decompose_bitcast(&array(b)).unwrap()
}

pub(crate) fn r70() {
    assert_eq!(decomposed("f32[1,16,17,3]{3,2,1,0}", "f32[16,51]{1,0}"), Bitcast::Reshape);
    assert_eq!(decomposed("f32[17,3,1,16]{1,0,3,2}", "f32[51,16]{0,1}"), Bitcast::Reshape);
}

pub(crate) fn r71() {
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

pub(crate) fn r72() {
    trt("f32[16,17,3]{2,1,0}", "f32[51,16]{0,1}", &[0, 1, 2], "f32[16,51]{1,0}", &[1, 0]);
}

pub(crate) fn r73() {
    let (a, b) = ("f32[16,17,3,7]{3,2,1,0}", "f32[7,16,51]{0,2,1}");
    trt(a, b, &[0, 1, 2, 3], "f32[16,51,7]{2,1,0}", &[2, 0, 1]);
}

fn aligned(text: &str, dims: &[u64]) -> Option<String> {
    let aligned = array(text).align_layouts(dims).unwrap()?;
    assert_eq!(array(text).reshape_is_bitcast(&aligned), Ok(true));
    Some(aligned.layout().unwrap().to_string())
}

pub(crate) fn r75() {
    let text = "f32[3,8,5,7,11]{3,2,1,0,4}";
    assert_eq!(aligned(text, &[4, 3, 2, 7, 5, 11]).unwrap(), "{4,3,2,1,0,5}");
    assert_eq!(aligned(text, &[3, 2, 4, 35, 11]).unwrap(), "{3,2,1,0,4}");
}

pub(crate) fn r77() {
    assert_eq!(aligned("f32[3,8,5,7,11]{2,3,1,0,4}", &[4, 3, 2, 7, 5, 11]), None);
    assert_eq!(aligned("f32[3,8,5,7,11]{3,2,1,0,4}", &[4, 3, 2, 5, 77]), None);
}

pub(crate) fn r78() {
    let kept = |a: &[u64], b: &[u64]| dimensions_unmodified_by_reshape(a, b).unwrap();
    assert_eq!(kept(&[4, 1, 3, 5, 6, 7], &[2, 6, 1, 5, 1, 42]), [(3, 3)]);
    assert_eq!(kept(&[1, 1, 1, 1], &[1, 1, 1]), [(0, 0), (1, 1), (2, 2)]);
}

pub(crate) fn r80() {
    assert!(inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[1, 9, 4, 1]).is_some());
    assert!(inserted_or_deleted_1_sized_dimensions(&[9, 1, 4], &[3, 1, 12]).is_none());
}

pub(crate) fn r81() {
    let source = shape("f32[123,42,7]{2,0,1}");
    let mut target = shape("f32[2,3,5]");
    target.copy_layouts_from(&source).unwrap();
    assert_eq!(target.to_string(), "f32[2,3,5]{2,0,1}");
    let mut flat = shape("f32[2,3]{0,1}");
    let error = flat.copy_layouts_from(&source).unwrap_err();
    assert!(error.is_mismatch() && error.to_string().contains("ranks differ: 3 and 2"));
    assert_eq!(flat.to_string(), "f32[2,3]{0,1}");
}

pub(crate) fn r82() {
    let flat = shape("(f32[2,3],(f32[4,5],(),f32[6,7]),f32[8,9])").flatten();
    let texts: Vec<String> = flat.iter().map(Shape::to_string).collect();
    assert_eq!(texts, ["f32[2,3]", "f32[4,5]", "f32[6,7]", "f32[8,9]"]);
}

pub(crate) fn r83() {
    assert!(!free("f32[4,6]{1,0:T(2,3)}", "f32[24]{0}"));
    assert!(free("f32[16,128]{1,0:T(8,128)}", "f32[16,128]{1,0}"));
}

pub(crate) fn r85() {
    assert_eq!(at("f32[3,5]{1,0:T(2,2)}", &[2, 3]), 17);
    let cells = "0 1 5 6 2 3 7 8 4 . 9 . 10 11 . . 12 13 . . 14 . . .";
    let wanted: Vec<Option<u64>> = cells.split(' ').map(|cell| cell.parse().ok()).collect();
    assert_eq!(picture(&array("f32[3,5]{1,0:T(2,2)}")), wanted);
}

pub(crate) fn r86() {
    assert_eq!(at("f32[8,8]{1,0:T(2,4)(2,1,1,1)}", &[6, 5]), 51);
}

pub(crate) fn r87() {
    let combined = array("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
    let flat = array("f32[112,110]{1,0:T(2,3)}");
    assert_eq!(hash(&combined), hash(&flat));
    assert_eq!(combined.reshape_is_bitcast(&flat), Ok(true));
}
