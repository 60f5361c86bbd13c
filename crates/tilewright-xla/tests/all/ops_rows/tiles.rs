//! Offsets in tiled storage.

use super::*;

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

pub(crate) fn r88() {
    for (text, index, offset, padded, size) in WORKED {
        let indexer = Indexer::of(&array(text)).unwrap();
        assert_eq!((indexer.offset(index), indexer.capacity()), (Ok(offset), padded), "{text}");
        assert_eq!(indexer.locate(offset), Place::Element(index.to_vec()), "{text}");
        assert_eq!((bytes(text), array(text).array_size()), (size, Ok(size)), "{text}");
    }
    assert_eq!(bytes("f32[16,0]{1,0:T(8,128)}"), 0);
}

pub(crate) fn r89() {
    let text = "f32[8,8]{1,0:T(4,4)}";
    assert_eq!((cell(text, 16), cell(text, 33)), (Some(4), Some(33)));
    assert_eq!(cell("f32[6,6]{1,0:T(4,4)}", 54), None);
}

pub(crate) fn r90() {
    assert_eq!(cell("f32[2,8,8]{2,1,0:T(4,4)}", 80), Some(68));
    assert_eq!(cell("f32[2,3,8,8]{3,2,1,0:T(4,4)}", 272), Some(260));
    assert_eq!(cell("bf16[16,256]{1,0:T(8,128)(2,1)}", 1), Some(256));
}

pub(crate) fn r95() {
    let text = "s2[9,6]{0,1:T(4,4)L(100)E(2)}";
    assert_eq!((at(text, &[8, 5]), at(text, &[3, 2]), bytes(text)), (84, 11, 25));
    assert_eq!(hash(&array(text)), 0x9dff_732b_19bd_78ec);
}

pub(crate) fn r97() {
    let text = "f32[7,8]{1,0:T(2,4)(2,1,1,1)}";
    assert_eq!((at(text, &[6, 7]), at(text, &[5, 7])), (55, 62));
    assert_eq!((array(text).last_offset(), array(text).array_data_size()), (Ok(Some(62)), Ok(252)));
}

pub(crate) fn r98() {
    let text = "f32[3,5,7]{1,0,2:T(2,3)(2,1)}";
    assert_eq!((at(text, &[2, 4, 6]), at(text, &[1, 3, 5])), (164, 127));
    assert_eq!(hash(&array(text)), 0x9c06_f4bc_236f_69d7);
}

pub(crate) fn r99() {
    let text = "pred[17,40]{1,0:T(8,128)(4,1)}";
    assert_eq!((at(text, &[16, 39]), at(text, &[3, 5])), (2204, 23));
}

pub(crate) fn r100() {
    assert_eq!(at("f32[5,1]{1,0:T(8,128)}", &[4, 0]), 512);
    assert_eq!(at("f32[5]{0:T(8,128)}", &[4]), 4);
}

pub(crate) fn r119() {
    let text = "bf16[2048]{0:T(1024)(128)(2,1)}";
    assert_eq!([at(text, &[0]), at(text, &[128]), at(text, &[1])], [0, 1, 2]);
    let back = |offset| array(text).multi_index(offset).unwrap();
    assert_eq!([back(1), back(2)], [Place::Element(vec![128]), Place::Element(vec![1])]);
}

pub(crate) fn r120() {
    for (text, index, offset) in [
        ("bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", &[0, 2, 0][..], 256),
        ("f32[8,4]{1,0:T(2,2)}", &[3, 1], 11),
        ("f32[8,4]{1,0}", &[3, 1], 13),
    ] {
        assert_eq!(at(text, index), offset);
        assert_eq!(array(text).multi_index(offset), Ok(Place::Element(index.to_vec())));
    }
}

pub(crate) fn r121() {
    let untiled = |text, dims: &[u64]| layout(text).is_untiled(dims).unwrap();
    assert!(untiled("{1,0:T(8,128)}", &[24, 128]) && untiled("{1,0:T(1,128)}", &[4, 256]));
    assert!(!untiled("{2,1,0:T(8,128)}", &[2, 3, 4]));
}

pub(crate) fn r122() {
    let back = |offset| array("f32[3,5]{1,0:T(2,2)}").multi_index(offset).unwrap();
    assert_eq!((back(10), back(9)), (Place::Element(vec![1, 4]), Place::Padding));
    assert_eq!(back(24), Place::OutOfRange);
}

pub(crate) fn r101() {
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

pub(crate) fn r125() {
    let ranks = ["f32[3,1,5]", "f32[]", "f32[0,1,4]"].map(array);
    assert_eq!(ranks.each_ref().map(ArrayShape::true_rank), [2, 0, 1]);
    assert_eq!(ranks.each_ref().map(ArrayShape::true_num_dimensions), [2, 0, 2]);
}

pub(crate) fn padded(
    text: &str,
    dims: &[u64],
    order: &str,
) -> Result<TensorLayout, tilewright_core::Error> {
    Padded::parse(text).unwrap().lower(dims, &layout(order))
}

pub(crate) fn r126() {
    let count = padded("pad(3)", &[2, 3], "{0,1}").unwrap_err().to_string();
    assert!(count.contains("1 padded dimensions") && count.contains("rank 2"), "{count}");
    let small = padded("pad(3,2)", &[2, 3], "{0,1}").unwrap_err().to_string();
    assert!(small.contains("padded to 2") && small.contains("size 3"), "{small}");
}

pub(crate) fn r127() {
    let tensor = padded("pad(3,5)", &[2, 3], "{0,1}").unwrap();
    assert_eq!(tensor.offset(&[1, 2]), Ok(7));
    assert_eq!((tensor.locate(2), tensor.locate(14)), (Ok(Place::Padding), Ok(Place::Padding)));
    let empty = padded("pad(2,3)", &[0, 3], "{1,0}").unwrap();
    assert_eq!((empty.capacity(), empty.size(), empty.locate(0)), (6, 0, Ok(Place::Padding)));
}

pub(crate) fn r128() {
    let defaults: Vec<String> = (0..5).map(|rank| Layout::descending(rank).to_string()).collect();
    assert_eq!(defaults, ["{}", "{0}", "{1,0}", "{2,1,0}", "{3,2,1,0}"]);
    let letters: Vec<_> = (2..5).map(|rank| dimension_letters(rank).unwrap()).collect();
    assert_eq!(letters, ["yx", "zyx", "pzyx"]);
}

pub(crate) fn r129() {
    assert_eq!(picture(&array("f32[3,2]{0,1}")), [0, 2, 4, 1, 3, 5].map(Some));
}
