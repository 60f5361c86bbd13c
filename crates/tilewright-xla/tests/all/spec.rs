//! The stated cases: texts, worked examples, memory pictures, tiled indexing.

use tilewright_core::{Place, TensorLayout};
use tilewright_xla::{ArrayShape, Dim, Layout, PrimitiveType};

fn lower(text: &str) -> TensorLayout {
    ArrayShape::parse(text)
        .unwrap_or_else(|error| panic!("{}", error.render(text)))
        .lower()
        .unwrap()
}

fn hash(tensor: &TensorLayout) -> u64 {
    (0..tensor.size()).fold(0u64, |hash, index| {
        hash.wrapping_mul(31).wrapping_add(tensor.offset_of(index).unwrap() as u64)
    })
}

/// Returns the row-major number of each element in storage order, `None` for padding.
fn picture(tensor: &TensorLayout) -> Vec<Option<u64>> {
    let number = |offset| match tensor.locate(offset).unwrap() {
        Place::Element(coord) => {
            let digits = coord.as_slice().iter().zip(tensor.extents());
            Some(digits.fold(0, |number, (x, extent)| number * extent + x))
        }
        Place::Padding | Place::OutOfRange => None,
    };
    (0..tensor.capacity() as i64).map(number).collect()
}

#[test]
fn valid_texts_print_back() {
    for text in [
        "f32[]",
        "f32[]{:T(256)}",
        "f32[0]",
        "f32[3,0,5]",
        "f32[123,456]",
        "bf16[2,3,4]{1,2,0:T(16,256)(2,1)}",
        "f32[2,3,4]{0,1,2:T(512,1024)}",
        "pred[8,8,8]{0,2,1:T(8,128)E(32)}",
        "bf16[8,2,3,1004]{3,2,1,0:T(2,*,*,128)}",
        "bf16[123,456,789]{2,1,0:T(2,*,128)(2,1)}",
        "bf16[1024]{0:T(1024)(128)(2,1)}",
        "s4[123,456]{1,0:T(2,128)E(4)}",
        "s4[64,128]{1,0:E(4)}",
        "pred[8,8,8]{0,2,1:E(32)}",
        "pred[123,456]{1,0:T(2,128)S(3)}",
        "pred[123,456]{1,0:T(2,128)S(3)SC(1:200)}",
        "f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}",
        "f32[123,456]{1,0:T(16,128)M(1024)}",
        "f32[5]{0:L(128)}",
        "f32[1,2,3,4]{3,2,1,0:T(42,123)(4,5)L(100)E(42)}",
        "f32[?,784]",
        "f32[<=23,44,<=55]",
        "f32[2]{0:E(32)}",
    ] {
        assert_eq!(ArrayShape::parse(text).unwrap().to_string(), text);
    }
    for text in [
        "{}",
        "{1,2,0}",
        "{3,2,1,0:T(42,123)(4,5)}",
        "{3,2,1,0:T(*,*,42,123)}",
        "{3,2,1,0:L(100)}",
        "{3,2,1,0:E(42)}",
        "{3,2,1,0:S(3)}",
        "{0,1:SC(0:3)(1:0,4)}",
        "{0,1:M(123)}",
        "{0,1:P(s32[10,20]{1,0})}",
        "{0:SC(0:3)P(f32[<=8,?])M(4)}",
        "{3,2,1,0:T(42,123)(4,5)L(100)E(42)}",
    ] {
        assert_eq!(Layout::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn other_spellings_are_read() {
    for (text, canonical) in [
        ("f32[123,456,789]{0,1,2:T(2, * , 128)}", "f32[123,456,789]{0,1,2:T(2,*,128)}"),
        ("f32[4,4]{1,0:D(D,C)}", "f32[4,4]{1,0}"),
        ("f32[4,4]{1,0:D(D,C+~)T(2)}", "f32[4,4]{1,0:T(2)}"),
        ("f32[2,3]{1,0:}", "f32[2,3]{1,0}"),
        ("f32[]{}", "f32[]"),
        ("f32 [ 2 , /* rows */ <= 3 ] { 1 , 0 } // done", "f32[2,<=3]{1,0}"),
        ("f32[2]{0:L(1)E(0)S(0)M(0)}", "f32[2]{0}"),
        ("f32[2]{0:T(8)/*a*/(2)}\n", "f32[2]{0:T(8)(2)}"),
    ] {
        assert_eq!(ArrayShape::parse(text).unwrap().to_string(), canonical, "{text}");
    }
    let mut shape = ArrayShape::parse("f32[<=23,44,<=55]").unwrap();
    shape.set_dim(2, Dim::Static(55)).unwrap();
    assert_eq!(shape.to_string(), "f32[<=23,44,55]");
    assert_eq!(ArrayShape::parse("f32[?,784]").unwrap().dims()[0], Dim::Unbounded);
    let default = ArrayShape::new(PrimitiveType::F32, &[123, 456]);
    assert_eq!(default.to_string(), "f32[123,456]{1,0}");
    let widened = (lower("f32[2]{0:E(32)}"), lower("f32[2]{0}"));
    assert_eq!(widened.0, widened.1);
    assert_ne!(ArrayShape::parse("f32[2]{0:E(32)}"), ArrayShape::parse("f32[2]{0}"));
}

#[test]
fn a_prefix_ends_where_the_shape_does() {
    for (text, len) in [
        ("f32[2]{0}pad(3)", 9),
        ("f32[2] {\n ROOT", 6),
        ("f32[2]{0:T(2)} add(x)", 14),
        ("f32[2]{foo}", 6),
        ("f32[], f32[2]", 5),
    ] {
        assert_eq!(ArrayShape::parse_prefix(text).unwrap().1, len, "{text}");
    }
    assert_eq!(Layout::parse_prefix("{0,1}pad(3,5)").unwrap().1, 5);
}

#[test]
fn invalid_texts_are_errors_at_their_span() {
    for (text, span, why) in [
        ("F32[2]", (0, 3), "did you mean `f32`"),
        ("f32[3x4]", (5, 7), "expected `,` or `]`"),
        ("f32[-1]", (4, 6), "negative"),
        ("f32[123,456]{foo}", (13, 16), "expected the number of a dim"),
        ("f32[123,456]foobar{0,1}", (12, 18), "expected the end"),
        ("f32[10]{0,1}", (7, 12), "1 dims, but the layout's minor_to_major has 2"),
        ("f32[2,3]{0,1,2}", (8, 15), "2 dims, but the layout's minor_to_major has 3"),
        ("f32[2]{0:E(4)T(2)}", (13, 14), "out of order"),
        ("f32[2]{0:T(2)T(2)}", (13, 14), "out of order"),
        ("f32[2]{0:P(s32[1])}", (9, 10), "physical shape"),
        ("f32[2]{0:#(f32)}", (11, 14), "unsigned"),
        ("f32[2]{0:*(u16)#(u32)}", (15, 16), "out of order"),
        ("f32[2]{0:X(1)}", (9, 10), "not a property"),
        ("f32[2]{0:D(X)}", (11, 12), "level type"),
        ("b()", (0, 1), "buffer"),
        ("b(s32[],f32[])", (0, 1), "buffer"),
        ("(f32[2])", (0, 1), "tuple"),
        ("tuple[2]", (0, 5), "not a type of an array"),
        ("token[2]", (0, 5), "not a type of an array"),
        ("opaque[]", (0, 6), "not a type of an array"),
        ("f32[2]{0:T(-5)}", (11, 13), "negative"),
        ("f32[2]{0:L(0)}", (11, 12), "alignment of 0"),
        ("f32[2]{0:T(0)}", (11, 12), "extent 0"),
        ("f32[2]{0:T(0,8)}", (11, 12), "extent 0"),
        ("f32[2]{0:T()}", (10, 12), "has no dims"),
        ("f32[2]{0:T(2,*)}", (13, 14), "`*` is the last"),
        ("f32[2]{0:T}", (10, 11), "expected a tile"),
        ("f32[2,2]{0,0}", (11, 12), "named twice"),
        ("f32[2,2]{0,2}", (11, 12), "out of range"),
        ("f32[2,2]{1,0:T(9223372036854775808,2)}", (15, 34), "above 2^63 - 1"),
        ("f32[<=-9223372036854775808]", (6, 26), "negative"),
        ("f32[18446744073709551617]", (4, 24), "above 2^63 - 1"),
        ("f32[2", (5, 5), "expected `,` or `]`"),
        ("f32[2]{0", (8, 8), "expected `,`, `:` or `}`"),
        ("f32[2]{0:", (9, 9), "expected a property"),
        ("f32[2]{0:SC(0)}", (13, 14), "expected `:`"),
        ("f32[2] /* open", (7, 8), "expected the end"),
        ("f32[2é]", (5, 7), "expected `,` or `]`"),
        ("", (0, 0), "element type"),
    ] {
        let error = ArrayShape::parse(text).unwrap_err();
        assert_eq!(error.span(), span, "{text}: {error}");
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
}

/// Layout, an index and its offset, final bounds, padded elements, bytes.
type Worked = (&'static str, &'static [u64], i64, &'static [u64], u64, u64);

const WORKED: [Worked; 32] = [
    ("f32[2,3]{1,0}", &[1, 2], 5, &[2, 3], 6, 24),
    ("f32[8,100,100,3]{3,0,2,1}", &[7, 5, 9, 2], 12239, &[100, 100, 8, 3], 240_000, 960_000),
    ("f32[3,5]{1,0:T(2,2)}", &[2, 3], 17, &[2, 3, 2, 2], 24, 96),
    ("f32[3,5]{0,1:T(2,2)}", &[2, 3], 14, &[3, 2, 2, 2], 24, 96),
    ("bf16[4,8]{1,0:T(2,4)(2,1)}", &[3, 6], 29, &[2, 2, 1, 4, 2, 1], 32, 64),
    ("f32[8,8]{1,0:T(2,4)(2,1,1,1)}", &[6, 5], 51, &[2, 2, 2, 4, 2, 1, 1, 1], 64, 256),
    ("f32[10,300]{1,0:T(8,128)}", &[9, 299], 5291, &[2, 3, 8, 128], 6144, 24576),
    ("bf16[20,200]{1,0:T(8,128)(2,1)}", &[19, 199], 5519, &[3, 2, 4, 128, 2, 1], 6144, 12288),
    (
        "bf16[32,256]{1,0:T(8,128)(2,1,1,1)}",
        &[17, 130],
        6404,
        &[2, 2, 8, 128, 2, 1, 1, 1],
        8192,
        16384,
    ),
    ("s8[33,130]{1,0:T(32,128)(4,1)}", &[32, 129], 12292, &[2, 2, 8, 128, 4, 1], 16384, 16384),
    ("f32[2,3,1004]{2,1,0:T(2,*,128)}", &[1, 2, 1003], 6083, &[1, 24, 2, 128], 6144, 24576),
    (
        "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
        &[1, 6, 7, 10, 9],
        12430,
        &[56, 37, 2, 3],
        12432,
        49728,
    ),
    ("f32[5,4,6]{2,1,0:T(2,3)}", &[4, 3, 5], 119, &[5, 2, 2, 2, 3], 120, 480),
    ("f32[5,4,6]{0,2,1:T(2,3)}", &[4, 3, 5], 142, &[4, 3, 2, 2, 3], 144, 576),
    ("f32[]{:T(256)}", &[], 0, &[1, 256], 256, 1024),
    ("f32[1000]{0:T(128)}", &[999], 999, &[8, 128], 1024, 4096),
    ("bf16[1024]{0:T(1024)(128)(2,1)}", &[130], 5, &[1, 4, 128, 2, 1], 1024, 2048),
    ("f32[7]{0:T(2,4)}", &[6], 10, &[1, 2, 2, 4], 16, 64),
    ("s4[3,5]{1,0:E(4)}", &[2, 4], 14, &[3, 5], 15, 8),
    ("u2[3,5]{0,1:E(2)}", &[2, 4], 14, &[5, 3], 15, 4),
    ("s4[123,456]{1,0:T(2,128)E(4)}", &[122, 455], 63303, &[62, 4, 2, 128], 63488, 31744),
    (
        "s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}",
        &[9215, 6143],
        56_623_103,
        &[144, 48, 8, 128, 8, 1],
        56_623_104,
        28_311_552,
    ),
    ("pred[8,8,8]{0,2,1:T(8,128)E(32)}", &[7, 7, 7], 8071, &[8, 1, 1, 8, 128], 8192, 32768),
    ("f32[3,5]{1,0:L(16)}", &[2, 4], 14, &[3, 5], 16, 64),
    ("f32[3,5]{1,0:T(2,2)L(32)}", &[2, 4], 20, &[2, 3, 2, 2], 32, 128),
    ("f32[6,4]{1,0:T(3,4)(2,1)}", &[5, 3], 30, &[2, 1, 2, 4, 2, 1], 32, 128),
    ("f32[6,10]{1,0:T(4)(2,2)}", &[5, 9], 89, &[6, 2, 2, 2, 2], 96, 384),
    ("f32[8,16]{1,0:T(4,4)(2,2)}", &[5, 10], 102, &[2, 4, 2, 2, 2, 2], 128, 512),
    ("f32[4,8]{1,0:T(2,2)(4,1)}", &[3, 7], 61, &[2, 4, 1, 2, 4, 1], 64, 256),
    ("f32[2,3,5]{0,2,1:T(2,4,2)(2,1)}", &[1, 2, 4], 50, &[2, 2, 1, 2, 2, 2, 2, 1], 64, 256),
    ("bf16[300]{0:T(8,128)}", &[299], 2 * 1024 + 43, &[1, 3, 8, 128], 3072, 6144),
    ("s4[64,128]{1,0:E(4)}", &[63, 127], 8191, &[64, 128], 8192, 4096),
];

#[test]
fn worked_examples() {
    for (text, index, offset, bounds, padded, bytes) in WORKED {
        let shape = ArrayShape::parse(text).unwrap();
        let (extents, layout) = (shape.extents().unwrap(), shape.layout_or_default());
        assert_eq!(layout.final_bounds(&extents).unwrap(), bounds, "{text}");
        let tensor = shape.lower().unwrap();
        assert_eq!(tensor.offset(index), Ok(offset), "{text}");
        assert_eq!(tensor.capacity(), padded, "{text}");
        assert_eq!(shape.bytes(), Ok(bytes), "{text}");
    }
}

#[test]
fn empty_arrays_take_no_storage() {
    let empty = ArrayShape::parse("f32[16,0]{1,0:T(8,128)}").unwrap();
    assert_eq!(
        empty.extents().and_then(|dims| empty.layout_or_default().final_bounds(&dims)).unwrap(),
        [2, 0, 8, 128]
    );
    assert_eq!((empty.bytes(), empty.lower().unwrap().capacity()), (Ok(0), 0));
    for dims in ["0,64,128", "128,0,64", "64,128,0", "0,63,127", "127,0,63", "63,127,0"] {
        for tiles in ["", "T(8,128)", "T(8,128)(3,5)L(64)", "T(*,*,7)"] {
            let text = format!("s4[{dims}]{{2,1,0:{tiles}E(4)}}");
            let shape = ArrayShape::parse(&text).unwrap();
            assert_eq!((shape.bytes(), shape.lower().unwrap().capacity()), (Ok(0), 0), "{text}");
        }
    }
}

#[test]
fn memory_pictures() {
    let cells = "0 1 5 6 2 3 7 8 4 . 9 . 10 11 . . 12 13 . . 14 . . .";
    let wanted: Vec<Option<u64>> = cells.split(' ').map(|cell| cell.parse().ok()).collect();
    assert_eq!(picture(&lower("f32[3,5]{1,0:T(2,2)}")), wanted);
    let row = |tensor: &TensorLayout, row: u64| -> Vec<i64> {
        (0..8).map(|col| tensor.offset(&[row, col]).unwrap()).collect()
    };
    let packed = lower("bf16[4,8]{1,0:T(2,4)(2,1)}");
    for (at, from) in [0, 1, 16, 17].into_iter().enumerate() {
        assert_eq!(row(&packed, at as u64), (0..8).map(|col| from + 2 * col).collect::<Vec<_>>());
    }
    let above = lower("f32[8,8]{1,0:T(2,4)(2,1,1,1)}");
    assert_eq!(row(&above, 0), [0, 2, 4, 6, 16, 18, 20, 22]);
    assert_eq!(row(&above, 1), [8, 10, 12, 14, 24, 26, 28, 30]);
    assert_eq!(row(&above, 2), [1, 3, 5, 7, 17, 19, 21, 23]);
    assert_eq!(row(&above, 6), [33, 35, 37, 39, 49, 51, 53, 55]);
}

#[test]
fn tiled_indexing() {
    let at = |text: &str, coord: &[u64]| lower(text).offset(coord).unwrap();
    let combined = lower("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
    let flat = lower("f32[112,110]{1,0:T(2,3)}");
    assert_eq!(hash(&combined), hash(&flat));
    let number = |text: &str, offset: usize| picture(&lower(text))[offset];
    assert_eq!(number("f32[8,8]{1,0:T(4,4)}", 16), Some(4));
    assert_eq!(number("f32[8,8]{1,0:T(4,4)}", 33), Some(33));
    assert_eq!(number("f32[6,6]{1,0:T(4,4)}", 54), None);
    assert_eq!(number("f32[2,8,8]{2,1,0:T(4,4)}", 80), Some(68));
    assert_eq!(number("f32[2,3,8,8]{3,2,1,0:T(4,4)}", 272), Some(260));
    assert_eq!(number("bf16[16,256]{1,0:T(8,128)(2,1)}", 1), Some(256));
    let text = "s2[9,6]{0,1:T(4,4)L(100)E(2)}";
    assert_eq!(
        (at(text, &[8, 5]), at(text, &[3, 2]), hash(&lower(text))),
        (84, 11, 0x9dff_732b_19bd_78ec)
    );
    assert_eq!(ArrayShape::parse(text).unwrap().bytes(), Ok(25));
    let text = "f32[7,8]{1,0:T(2,4)(2,1,1,1)}";
    assert_eq!((at(text, &[6, 7]), at(text, &[5, 7])), (55, 62));
    let text = "f32[3,5,7]{1,0,2:T(2,3)(2,1)}";
    let wanted = (164, 127, 0x9c06_f4bc_236f_69d7);
    assert_eq!((at(text, &[2, 4, 6]), at(text, &[1, 3, 5]), hash(&lower(text))), wanted);
    let text = "pred[17,40]{1,0:T(8,128)(4,1)}";
    assert_eq!((at(text, &[16, 39]), at(text, &[3, 5])), (2204, 23));
    assert_eq!((at("f32[5,1]{1,0:T(8,128)}", &[4, 0]), at("f32[5]{0:T(8,128)}", &[4])), (512, 4));
    let text = "bf16[2048]{0:T(1024)(128)(2,1)}";
    assert_eq!([at(text, &[0]), at(text, &[128]), at(text, &[1])], [0, 1, 2]);
    assert_eq!([number(text, 1), number(text, 2)], [Some(128), Some(1)]);
    assert_eq!(at("bf16[2,8,128]{2,1,0:T(8,128)(2,1)}", &[0, 2, 0]), 256);
    assert_eq!((at("f32[8,4]{1,0:T(2,2)}", &[3, 1]), at("f32[8,4]{1,0}", &[3, 1])), (11, 13));
    let same = |a: &str, b: &str| Layout::of(&lower(a)).unwrap() == Layout::parse(b).unwrap();
    assert!(
        same("f32[24,128]{1,0:T(8,128)}", "{1,0}") && same("f32[4,256]{1,0:T(1,128)}", "{1,0}")
    );
    assert!(!same("f32[2,3,4]{2,1,0:T(8,128)}", "{2,1,0}"));
    let text = "f32[3,5]{1,0:T(2,2)}";
    assert_eq!((number(text, 10), number(text, 9)), (Some(9), None));
    assert_eq!(lower(text).locate(24), Ok(Place::OutOfRange));
    let ranks = [&[3u64, 1, 5][..], &[], &[0, 1, 4]];
    let true_rank = |dims: &&[u64]| TensorLayout::row_major(dims).unwrap().true_rank();
    assert_eq!(ranks.iter().map(true_rank).collect::<Vec<_>>(), [2, 0, 1]);
    let defaults: Vec<String> = (0..5).map(|rank| Layout::descending(rank).to_string()).collect();
    assert_eq!(defaults, ["{}", "{0}", "{1,0}", "{2,1,0}", "{3,2,1,0}"]);
    let minor0 = picture(&lower("f32[3,2]{0,1}"));
    assert_eq!(minor0, [0, 2, 4, 1, 3, 5].map(Some));
}

#[test]
fn sizes_that_leave_64_bits_are_errors() {
    for text in [
        "f32[9223372036854775807,2]{1,0}",
        "f32[9223372036854775807,3,5]{2,1,0:T(*,4)}",
        "f32[9223372036854775807]{0:T(2)}",
        "f32[3]{0:T(9223372036854775807,9223372036854775807)}",
        "f32[5]{0:T(2)L(9223372036854775807)E(9223372036854775807)}",
    ] {
        let shape = ArrayShape::parse(text).unwrap();
        assert!(shape.bytes().unwrap_err().is_overflow(), "{text}");
        assert!(
            shape.lower().map_or_else(|error| error.is_overflow(), |_| text.contains('E')),
            "{text}"
        );
    }
    let deep = format!("f32[{}]", vec!["1"; 40].join(","));
    let shape = ArrayShape::parse(&deep).unwrap();
    assert_eq!(shape.bytes(), Ok(4));
    assert!(shape.lower().unwrap_err().is_limit());
}
