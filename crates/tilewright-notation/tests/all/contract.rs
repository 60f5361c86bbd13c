//! The contract of a SPEC: every example, every error.

use tilewright_core::{Dtype, Fill, Place};
use tilewright_notation::{Error, ResolvedLayout, Spec, dtype, notations};

fn resolve(
    text: &str,
    dims: Option<&[u64]>,
    element: Option<&str>,
) -> Result<ResolvedLayout, Error> {
    Spec::parse(text)?.resolve(dims, element.map(|name| dtype(name).unwrap()))
}

/// The core's text of a resolved SPEC.
fn layout(text: &str, dims: &[u64], element: Option<&str>) -> String {
    let dims = (!dims.is_empty()).then_some(dims);
    resolve(text, dims, element)
        .unwrap_or_else(|e| panic!("{}", e.render()))
        .layout()
        .layout()
        .to_string()
}

fn error(text: &str) -> Error {
    Spec::parse(text).expect_err(text)
}

fn print(named: &ResolvedLayout, notation: &str) -> Result<String, Error> {
    notations().iter().find(|n| n.name() == notation).unwrap().print(named)
}

#[test]
fn concrete_specs() {
    for (text, expected) in [
        ("((4,2),(4,3)):((4,16),(1,32))", "((4,2),(4,3)):((4,16),(1,32))"),
        ("(_2,4):(_12,_1)", "(2,4):(12,1)"),
        ("Sw<3,3,3> o (8,64):(64,1)", "Sw<3,3,3> o (8,64):(64,1)"),
        ("f32[3,5]{1,0:T(2,2)}", "((2,2),(2,3)):((2,12),(1,4))"),
        ("f32[2,3]", "(2,3):(3,1)"),
        ("f32[2,3]{0,1}", "(2,3):(1,2)"),
        ("numpy:shape=(3,5),strides=(20,4),dtype=f32", "(3,5):(5,1)"),
        ("numpy:shape=(3,5),order=F", "(3,5):(1,3)"),
        ("numpy:shape=(4,),strides=(-8,),offset=24,dtype=<f4", "(4):(-2)+6"),
        ("f32[2,3]{0,1}pad(3,5)fill(0)", "(3,5):(1,3)"),
        ("f32[2,3] {0,1} pad(3,5)", "(3,5):(1,3)"),
        ("bf16[32,48] zN", "((16,2),(16,3)):((16,256),(1,512))"),
        ("[8,12] zN[M0=4,C0=4]", "((4,2),(4,3)):((4,16),(1,32))"),
        ("f32[2,3] (3,5):(1,3) valid (2,3)", "(3,5):(1,3)"),
        ("f32[<=3,5]{1,0:T(2,2)}", "((2,2),(2,3)):((2,12),(1,4))"),
        ("f32[<=2,3]", "(2,3):(3,1)"),
        ("cute:4", "4:1"),
        ("f32[]", "():()"),
    ] {
        assert_eq!(layout(text, &[], None), expected, "{text}");
        let spec = Spec::parse(text).unwrap();
        assert!(
            spec.is_concrete() && spec.fits(resolve(text, None, None).unwrap().layout().rank())
        );
        assert!(!spec.fits(7));
    }
}

#[test]
fn general_specs() {
    let f16 = Some("f16");
    for (text, dims, element, expected) in [
        ("row-major", &[100, 100][..], None, "(100,100):(100,1)"),
        ("C", &[2, 3], None, "(2,3):(3,1)"),
        ("F", &[2, 3], None, "(2,3):(1,2)"),
        ("col-major", &[2, 3, 4], None, "(2,3,4):(1,2,6)"),
        ("col_major", &[2, 3], None, "(2,3):(1,2)"),
        ("{0,2,1}", &[2, 3, 4], None, "(2,3,4):(1,8,2)"),
        ("{0,1}pad(3,5)fill(0)", &[2, 3], None, "(3,5):(1,3)"),
        ("zN", &[100, 100], f16, "((16,7),(16,7)):((16,256),(1,1792))"),
        ("NC1HWC0", &[2, 40, 5, 7], f16, "(2,(16,3),5,7):(1680,(1,560),112,16)"),
        (
            "(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0",
            &[32, 48],
            None,
            "((16,2),(16,3)):((16,256),(1,512))",
        ),
        (
            "(m1 m0:16) (n1 n0:C0) -> n1 m1 m0 n0",
            &[32, 48],
            Some("s8"),
            "((16,2),(32,2)):((32,512),(1,1024))",
        ),
        ("channels_last", &[2, 3, 4, 5], None, "(2,3,4,5):(60,1,15,3)"),
        ("NHWC", &[2, 3, 4, 5], None, "(2,3,4,5):(60,1,15,3)"),
        ("NCHW->NHWC", &[2, 3, 4, 5], None, "(2,3,4,5):(60,1,15,3)"),
        ("HWCN", &[2, 3, 4, 5], None, "(2,3,4,5):(1,2,30,6)"),
        ("NDHWC", &[2, 3, 4, 5, 6], None, "(2,3,4,5,6):(360,1,90,18,3)"),
        ("channels_last_3d", &[2, 3, 4, 5, 6], None, "(2,3,4,5,6):(360,1,90,18,3)"),
        ("aBcd16b", &[2, 40, 5, 7], None, "(2,(16,3),5,7):(1680,(1,560),112,16)"),
        ("nChw16c", &[2, 40, 5, 7], None, "(2,(16,3),5,7):(1680,(1,560),112,16)"),
        ("nhwc", &[2, 3, 4, 5], None, "(2,3,4,5):(60,1,15,3)"),
        ("BA16a16b", &[32, 48], None, "((16,2),(16,3)):((16,256),(1,512))"),
        ("OIhw4i16o4i", &[16, 16, 1, 1], None, "((16,1),(4,4,1),1,1):((4,256),(1,64,256),256,256)"),
        ("ABC->CAB", &[2, 3, 4], None, "(2,3,4):(3,1,6)"),
        ("zN[C0=16]", &[32, 48], None, "((16,2),(16,3)):((16,256),(1,512))"),
        ("zN[N0=16]", &[32, 48], None, "((16,2),(16,3)):((16,256),(1,512))"),
        ("zN[M0=4,C0=4]", &[8, 12], None, "((4,2),(4,3)):((4,16),(1,32))"),
        ("nZ[M0=4,N0=4]", &[8, 12], None, "((4,2),(4,3)):((1,48),(4,16))"),
        ("zZ[M0=4,N0=4]", &[8, 12], None, "((4,2),(4,3)):((4,48),(1,16))"),
        ("nN[M0=4,N0=4]", &[8, 12], None, "((4,2),(4,3)):((1,16),(4,32))"),
        ("zN", &[8, 100, 30], f16, "(8,(16,7),(16,2)):(3584,(16,256),(1,1792))"),
    ] {
        assert_eq!(layout(text, dims, element), expected, "{text}");
        let spec = Spec::parse(text).unwrap();
        assert!(!spec.is_concrete() && spec.fits(dims.len()), "{text}");
        let missing = spec.resolve(None, None).unwrap_err();
        assert!(missing.needs_dims() && missing.to_string().contains("needs the array's dims"));
    }
}

#[test]
fn the_documented_padding_reads_as_drawn() {
    let named = resolve("{0,1}pad(3,5)fill(0)", Some(&[2, 3]), None).unwrap();
    assert_eq!(named.fill(), Fill::Zero);
    let drawn: Vec<char> = (0..15)
        .map(|offset| match named.layout().locate(offset).unwrap() {
            Place::Element(c) => char::from(b'a' + (c.as_slice()[0] * 3 + c.as_slice()[1]) as u8),
            Place::Padding | Place::OutOfRange => '0',
        })
        .collect();
    assert_eq!(drawn.iter().collect::<String>(), "ad0be0cf0000000");
    let small = resolve("{0,1}pad(3,2)", Some(&[2, 3]), None).unwrap_err();
    assert!(small.to_string().contains("padded to 2"), "{small}");
    assert!(error("{0,1}fill(0)").to_string().contains("without `pad"));
    assert!(error("f32[2,3]fill(0)").to_string().contains("without `pad"));
}

#[test]
fn canonical_texts() {
    for (text, canonical) in [
        ("  zN [ c0 = 16 ] ", "zN[C0=16]"),
        ("FRACTAL_NZ", "zN"),
        ("NZ", "zN"),
        ("format: nZ", "nZ"),
        ("zN[C0=8, M0=4]", "zN[M0=4,C0=8]"),
        ("zN[preset=torch_npu]", "zN[preset=torch_npu]"),
        ("order:C", "row-major"),
        ("column_major", "col-major"),
        ("channels_last", "NHWC"),
        ("NCHW -> HWCN", "HWCN"),
        ("order:ab->ab", "order:ab->ab"),
        ("pattern:ab->ab", "pattern:ab -> ab"),
        ("...(m1 m0:16) n->n m1 m0", "… (m1 m0:16) n -> … n m1 m0"),
        ("->", "->"),
        ("cute:( 4 , 2 ):( 1,4 )", "(4,2):(1,4)"),
        ("(3,5):(1,3) valid(2,3) capacity 20", "(3,5):(1,3) valid (2,3) capacity 20"),
        ("(3,5):(1,3) valid (3,5) capacity 15", "(3,5):(1,3)"),
        ("(4,8)", "(4,8):(1,4)"),
        ("hlo:f32 [ 3 , 5 ] {1,0 : T(2,2)}", "f32[3,5]{1,0:T(2,2)}"),
        ("float32[3,5]  row-major", "f32[3,5] row-major"),
        ("f32[3,5]fill(lowest) {0,1}", "f32[3,5]fill(lowest) {0,1}"),
        ("s4[8,8]E(4)fill(0) NZ", "s4[8,8]E(4)fill(0) zN"),
        ("numpy: dtype=float32, shape=(3)", "numpy:shape=(3,),dtype=f32"),
    ] {
        let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(spec.to_string(), canonical, "{text}");
        assert_eq!(Spec::parse(canonical).unwrap(), spec);
        assert_eq!(Spec::parse(canonical).unwrap().to_string(), canonical);
    }
}

#[test]
fn parse_errors_point_at_the_text() {
    for (text, span, part) in [
        ("", (0, 0), "expected a layout"),
        (" rowmajor", (1, 9), "did you mean `row-major`?"),
        ("zM[C0=16]", (0, 2), "did you mean `zN`?"),
        ("nc1hwc0", (0, 7), "did you mean `NC1HWC0`?"),
        ("row major", (0, 3), "did you mean `row-major`?"),
        ("nHwc", (1, 2), "a capital without a block"),
        ("aBcd16c", (1, 2), "a capital without a block"),
        ("abcd16b", (1, 2), "has blocks but is lower case"),
        ("aBcd16e", (4, 7), "of one of the dims abcd"),
        ("onednn:aBd16b", (7, 10), "names each dim once"),
        ("aBcd0b", (4, 6), "expected a block"),
        ("f32[10,2", (8, 8), "`]`"),
        ("(m1 m0:16) (n1 n0:16) n1 m1 m0 n0", (33, 33), "`->`"),
        ("mlr:memref<4xf32>", (0, 3), "no notation is called `mlr`"),
        // What looks like a tag, a number, a notation's name or an order, and is a slip in something else.
        ("NC1HWC", (0, 6), "did you mean `NC1HWC0`?"),
        ("acl:99", (0, 6), "no format is called `acl:99`; did you mean `acl:29`?"),
        ("cublaslt:-1", (0, 11), "no format is called `cublaslt:-1`"),
        ("{'shape': (3, 5)}", (0, 8), "add a prefix that names the notation"),
        ("AAB->BAA", (1, 2), "`A` is named twice"),
        ("(?,4):(4,1)", (1, 2), "known only at run time"),
        // Names nearly as near follow the nearest.
        ("COL4_4R2_8", (0, 10), "did you mean `COL4_4R2_8C`?"),
        ("NHHC", (0, 4), "did you mean `NHWC`? Also near: "),
        ("FRACTAL_NX", (0, 10), "did you mean `FRACTAL_NZ`? Also near: `FRACTAL_ZN`"),
        // One letter for two things.
        ("numpy:shape=(3,),strides=(4,),dtype=u4", (36, 38), "write `uint4` or `<u4`"),
        ("numpy:shape=(3,),dtype='>f8'", (23, 28), "`<f8` has the same layout"),
        ("torch:shape=(3,),dtype=f4", (23, 25), "NumPy's code of f32 is `<f4` here"),
        ("Layout((0,1), (8,128))", (15, 16), "a tuple of tiles"),
        ("memref<4xf32, #map>", (14, 18), "`#map` is a name"),
        ("affine_map<(d0)[s0] -> (d0)>", (15, 16), "no symbols"),
        ("memref<4xf33>", (9, 12), "no element type"),
        ("zN[K0=4]", (3, 5), "legal are M0, C0 (or N0), preset"),
        ("zN[N0=4,C0=4]", (8, 10), "set twice"),
        ("zN[C0=0]", (6, 7), "1 or more"),
        ("zN[C0=]", (6, 7), "an integer"),
        ("zN[C0=4", (7, 7), "end of the text"),
        ("zN[preset=tourch]", (10, 16), "torch_npu"),
        ("zN x", (0, 2), "no notation"),
        ("PaddingRowMajor", (15, 15), "needs BR and BC"),
        ("PaddingRowMajor[BR=4]", (21, 21), "needs BC"),
        ("(m1 m0:16) n -> n m1 m2", (21, 23), "did you mean `m1`?"),
        ("(m1 m0:16) n -> n m1", (20, 20), "`m0` is missing in the storage order"),
        ("(m1 m0:16) n -> n m1 m0 m0", (24, 26), "stored twice"),
        ("(m1 m0) n -> n m1 m0", (4, 6), "both take the rest"),
        ("(m1 m1:16) n -> n m1", (4, 9), "two digits"),
        ("(m1 m0:0) n -> n m1 m0", (7, 8), "1 or more"),
        ("(m1 m0:C1) n -> n m1 m0", (4, 9), "C0"),
        ("m n -> … n m", (7, 10), "begin the pattern"),
        ("(m1 m0:16) n", (12, 12), "`->`"),
        ("() n -> n", (1, 2), "an axis"),
        ("ABC->CAD", (5, 8), "in one of them only"),
        ("order:AAB->ABA", (7, 8), "named twice"),
        ("(2,3):(1,2) valid (2,4)", (12, 23), "extent 4"),
        ("(2,3):(1,2) capacity 5", (12, 22), "5 elements"),
        ("(2,3):(1,2) valid (2", (20, 20), "`,`"),
        ("(8,32):(32)", (7, 11), "rank 1 against 2"),
        ("f33[2]", (0, 3), "f32"),
        ("f33[2] zN", (0, 3), "f32"),
        ("f32[2,3] f32[2,3] zN", (9, 20), "second shape"),
        ("[2,3]", (5, 5), "a layout after the shape"),
        ("f32[2,3]E(0) zN", (10, 11), "1 to"),
        ("f32[2,3]fill(zero) zN", (13, 17), "did you mean `0`?"),
        ("f32[2,3]{0,0}", (11, 12), "named twice"),
        ("numpy:strides=(4,)", (18, 18), "shape="),
        ("numpy:shape=(2,3),strides=(4,)", (26, 30), "1 strides"),
        ("numpy:shape=(2,3),shape=(2,3)", (18, 23), "given twice"),
        ("numpy:sharpe=(2,3)", (6, 12), "`sharpe`"),
        ("(f32[2], f32[3])", (0, 1), "tuple"),
    ] {
        let error = error(text);
        assert!(error.is_parse(), "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
        assert_eq!(error.span(), Some(span), "{text}: {error}");
        assert!(error.render().contains(text) && error.render().ends_with('^'), "{text}");
        assert_eq!(error.kind(), "parse");
    }
}

#[test]
fn other_spellings_of_the_nearest_name_are_not_suggested() {
    let said = error("row-mayor").to_string();
    assert_eq!(said, "no notation reads this as a layout; did you mean `row-major`?");
}

#[test]
fn what_libraries_print_is_read() {
    for (text, expected) in [
        ("torch:size=torch.Size([3, 5]), stride=(5, 1), dtype=torch.float32", "(3,5):(5,1)"),
        ("numpy:shape=(3,5),strides=(20,4),dtype=dtype('float32')", "(3,5):(5,1)"),
        ("numpy:shape=(3,5),strides=(40,8),dtype=np.dtype('<i8')", "(3,5):(5,1)"),
        ("numpy:shape=(3,5),strides=(20,4),dtype=f4", "(3,5):(5,1)"),
        ("numpy:shape=(3,5),strides=(5,1),dtype='>u1'", "(3,5):(5,1)"),
        ("arrow:shape=(3,5),strides=(10,2),type=halffloat", "(3,5):(5,1)"),
        ("memref<4x8xf32, strided<[8, 1], offset: ?>>", "(4,8):(8,1)"),
    ] {
        assert_eq!(layout(text, &[], None), expected, "{text}");
    }
    assert_eq!(
        layout("torch.channels_last", &[2, 3, 4, 5], None),
        layout("channels_last", &[2, 3, 4, 5], None)
    );
    // A type narrower than a byte is printed so that NumPy's codes do not take it for a wider one.
    let packed = resolve("u4[3] row-major", None, None).unwrap();
    assert_eq!(print(&packed, "numpy").unwrap(), "numpy:shape=(3,),strides=(1,),dtype=uint4");
}

#[test]
fn ambiguous_texts_list_their_readings() {
    for (text, parts) in [
        ("nz", ["`nZ`", "`NZ`"]),
        ("Nz", ["`nZ`", "`NZ`"]),
        ("ZN", ["`zN`", "`FRACTAL_ZN`"]),
        ("zn", ["`zN`", "`FRACTAL_ZN`"]),
        ("ab->ab", ["`order:ab->ab`", "`pattern:ab->ab`"]),
    ] {
        let error = error(text);
        assert!(error.is_ambiguous(), "{text}: {error}");
        assert_eq!(error.kind(), "ambiguous");
        for part in parts {
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}

#[test]
fn what_does_not_fit_says_both_numbers() {
    let mismatch = |text, dims: &[u64], element, parts: [&str; 2]| {
        let error = resolve(text, Some(dims), element).expect_err(text);
        assert!(error.is_mismatch() && error.kind() == "mismatch", "{text}: {error}");
        assert!(parts.iter().all(|part| error.to_string().contains(part)), "{error}");
    };
    mismatch("f32[3,5]", &[5, 3], None, ["(5,3)", "(3,5)"]);
    mismatch("(3,5)", &[3, 4], None, ["(3,4)", "(3,5)"]);
    mismatch("bf16[3,5] zN", &[3, 4], None, ["(3,4)", "(3,5)"]);
    mismatch("f32[3,5] (3,6):(6,1)", &[3, 5], None, ["(3,5)", "(3,6)"]);
    mismatch("f32[3,5]", &[3, 5], Some("bf16"), ["bf16", "f32"]);
    mismatch("f32[3,5] row-major", &[3, 5], Some("bf16"), ["bf16", "f32"]);
    mismatch("NHWC", &[3, 5], None, ["4 dims N C H W", "has 2: H and W are missing"]);
    mismatch("ABC->CAB", &[2, 3, 4, 5], None, ["3 dims A B C", "1 too many"]);
    let einops = "rearrange('b (h p) c -> b h c p', p=2)";
    mismatch(einops, &[3, 6], None, [einops, "3 dims b h c, the array has 2: c is missing"]);
    mismatch("NC1HWC0", &[3, 5], Some("f16"), ["has 2", "4 dims n c h w"]);
    mismatch("{0,1}", &[3], None, ["2 dims", "1"]);
    mismatch("zN", &[3], Some("f16"), ["has 1", "2 dims m n"]);
    mismatch("numpy:shape=(3,5)", &[3, 4], None, ["(3,4)", "(3,5)"]);
}

#[test]
fn the_element_is_asked_for_only_where_it_matters() {
    let dims = Some(&[32, 48][..]);
    assert!(resolve("zN", dims, None).unwrap_err().needs_dtype());
    assert!(resolve("m (n1 n0:C0) -> n1 m n0", dims, None).unwrap_err().needs_dtype());
    assert!(resolve("zN[C0=16]", dims, None).is_ok() && resolve("L0C", dims, None).is_ok());
    let bytes = resolve("numpy:shape=(2,),strides=(4,)", None, None).unwrap_err();
    assert!(bytes.needs_dtype() && bytes.to_string().contains("needs the array's dtype"));
    assert!(resolve("numpy:shape=(2,),strides=(4,)", None, Some("f32")).is_ok());
    assert!(
        resolve("numpy:shape=(2,),strides=(6,)", None, Some("f32")).unwrap_err().is_unsupported()
    );
    assert!(resolve("zN[preset=pypto]", dims, Some("c128")).unwrap_err().is_unsupported());
}

#[test]
fn presets_are_the_vendors_rules() {
    for (text, element, c0) in [
        ("zN", "f32", 8),
        ("zN", "s8", 32),
        ("zN", "pred", 32),
        ("zN", "f4e2m1fn", 64),
        ("zN", "c128", 2),
        ("zN[preset=torch_npu]", "f32", 16),
        ("zN[preset=torch_npu]", "s8", 32),
        ("zN[preset=pypto]", "f32", 8),
        ("FRACTAL_Z[preset=torch_npu]", "s8", 16),
    ] {
        let dims: &[u64] = if text.starts_with("FRACTAL_Z") { &[1, 64, 1, 1] } else { &[1, 64] };
        let named = resolve(text, Some(dims), Some(element)).unwrap();
        assert_eq!(named.layout().layout().axis(1).unwrap()[0].extent(), c0, "{text} {element}");
    }
}

#[test]
fn huge_sizes_and_texts_are_errors() {
    let huge = Some(&[u64::MAX, u64::MAX][..]);
    for text in
        ["row-major", "col-major", "zN[C0=16]", "{1,0}", "(m1 m0:16) n -> n m1 m0", "TPU_8x128"]
    {
        let error = resolve(text, huge, None).unwrap_err();
        assert!(error.is_overflow() || error.kind() == "illegal", "{text}: {error}");
    }
    let block = "zN[M0=9223372036854775807,C0=9223372036854775807]";
    assert!(resolve(block, Some(&[1, 1]), None).unwrap_err().is_overflow());
    for (text, dims, large) in [
        ("zN[M0=9223372036854775807,C0=16]", Some(&[3, 5][..]), "9223372036854775807"),
        ("onednn:aB9223372036854775807b", Some(&[3, 5]), "9223372036854775807"),
        ("  (m1 m0:4611686018427387904) n -> n m1 m0", Some(&[3, 5]), "4611686018427387904"),
        ("memref<9223372036854775807x8xf32>", None, "9223372036854775807"),
    ] {
        let error = resolve(text, dims, None).unwrap_err();
        let (from, to) = error.span().unwrap_or_else(|| panic!("{text}: {error}"));
        assert!(error.is_overflow() && &text[from..to] == large, "{}", error.render());
    }
    assert!(resolve("row-major", Some(&[1; 33]), None).unwrap_err().is_limit());
    assert!(resolve("numpy:shape=(9223372036854775807,9)", None, None).unwrap_err().is_overflow());
    assert!(error(&"(".repeat(70_000)).is_limit());
    for start in [
        "(",
        "[1] shape:",
        "f32[1] ",
        "pattern:",
        "zN[",
        "{0:T(",
        "(a",
        "a ",
        "-> a",
        "[1,",
        "numpy:shape=(",
    ] {
        assert!(Spec::parse(&start.repeat(65_000 / start.len())).is_err(), "{start}");
    }
}

#[test]
fn facts_of_elements() {
    let named = resolve("s4[8,8]{1,0:E(4)}", None, None).unwrap();
    assert_eq!((named.element_bits(), named.explicit_bits()), (Some(4), Some(4)));
    let named = resolve("s4[8,8]", None, None).unwrap();
    assert_eq!((named.element_bits(), named.explicit_bits()), (Some(8), None));
    let named = resolve("(8,8)", None, None).unwrap();
    assert_eq!((named.element_bits(), named.dtype(), named.is_bare()), (None, None, true));
    assert!(!resolve("(8,8)", None, Some("f32")).unwrap().is_bare());
    let both = resolve("s4[8,8]E(8) {1,0:E(4)}", None, None).unwrap_err();
    assert!(both.is_mismatch());
}

#[test]
fn printing_says_why_not() {
    for (text, dims, notation, expected) in [
        ("f32[4,3,5]{2,1,0:T(2,*,4)}", None, "cute", Err("merge dims")),
        ("f32[4,3,5]{2,1,0:T(2,*,4)}", None, "hlo", Ok("f32[4,3,5]{2,1,0:T(2,*,4)}")),
        ("f32[4,3,5]{2,1,0:T(2,*,4)}", None, "pattern", Err("pattern")),
        ("Sw<2,0,2> o (4,4):(4,1)", None, "pattern", Err("swizzle")),
        ("f16[100,100] zN", None, "onednn", Ok("BA16a16b")),
        ("bf16[2,40,5,7] NC1HWC0", None, "onednn", Ok("aBcd16b")),
        ("f16[100,100] MxScaleRowMajorB", None, "onednn", Ok("Ab2a")),
        ("f16[100,100] (m1 m0:2) n -> m0 m1 n", None, "onednn", Err("smaller blocks")),
        ("f16[64] (m2 m1:4 m0:2) -> m2 m0 m1", None, "onednn", Err("smaller blocks")),
        ("f32[2,3]{0,1}pad(3,5)", None, "onednn", Ok("AB5b3a")),
        ("Sw<2,0,2> o (4,4):(4,1)", None, "hlo", Err("")),
        ("row-major", Some(&[2, 3][..]), "hlo", Ok("{1,0}")),
        ("row-major", Some(&[2, 3]), "numpy", Ok("numpy:shape=(2,3)")),
        ("(2,3):(6,1)", None, "numpy", Err("dtype is not known")),
        ("f32[2,3] col-major", None, "numpy", Ok("numpy:shape=(2,3),strides=(4,8),dtype=f32")),
        ("f32[2,3]{0,1}pad(3,5)", None, "numpy", Err("padding")),
        ("f32[2,3]{0,1}pad(3,5)", None, "hlo", Ok("f32[2,3]{0,1}pad(3,5)")),
        ("bf16[100,100] zN", None, "numpy", Err("dim 1 steps by 1 within 16 elements")),
        ("f32[(2,2)] x", None, "cute", Err("")),
        ("f16[100,100] zN", None, "pattern", Ok("(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0")),
        ("f32[2,3]{0,1}pad(3,5)", None, "pattern", Ok("m:3 n:5 -> n m")),
        (
            "bf16[100,300]{1,0:T(8,128)(2,1)}",
            None,
            "pattern",
            Ok("(m2 m1:4 m0:2) (n1 n0:128) -> m2 n1 m1 n0 m0"),
        ),
        ("{0,1}pad(3,5)fill(0)", Some(&[2, 3]), "hlo", Ok("{0,1}pad(3,5)fill(0)")),
        (
            "f32[2,3] (3,5):(1,3) valid (2,3) capacity 20",
            None,
            "cute",
            Ok("(3,5):(1,3) valid (2,3) capacity 20"),
        ),
    ] {
        let Ok(named) = resolve(text, dims, None) else {
            assert_eq!(expected, Err(""), "{text}");
            continue;
        };
        match (print(&named, notation), expected) {
            (Ok(said), Ok(expected)) => assert_eq!(said, expected, "{text}"),
            (Err(error), Err(part)) => {
                assert!(error.is_unsupported() && error.to_string().contains(part), "{error}");
            }
            (said, _) => panic!("{text} as {notation}: {said:?}"),
        }
    }
}

#[test]
fn specs_for_metadata_keep_the_name() {
    for (text, dims, element, expected) in [
        ("zN", Some(&[528, 200][..]), Some("bf16"), "bf16[528,200] zN"),
        ("row-major", Some(&[2, 3]), None, "[2,3] row-major"),
        ("{1,0:T(2,2)}", Some(&[3, 5]), Some("f32"), "f32[3,5]{1,0:T(2,2)}"),
        ("{1,0:T(2,2)E(4)}", Some(&[3, 5]), Some("s4"), "s4[3,5]{1,0:T(2,2)E(4)}"),
        ("{2,1,0:T(2,*,4)}", Some(&[4, 3, 5]), None, "[4,3,5] {2,1,0:T(2,*,4)}"),
        ("{0,1}pad(3,5)fill(0)", Some(&[2, 3]), Some("f32"), "f32[2,3]{0,1}pad(3,5)fill(0)"),
        ("(2,3):(3,1)", None, None, "(2,3):(3,1)"),
        ("(2,3):(3,1)", Some(&[2, 3]), None, "[2,3] (2,3):(3,1)"),
        ("(2,3):(3,1)", None, Some("f32"), "f32[2,3] (2,3):(3,1)"),
        (
            "(3,5):(1,3) valid (2,3) capacity 24",
            None,
            Some("f32"),
            "f32[2,3] (3,5):(1,3) valid (2,3) capacity 24",
        ),
        (
            "(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0",
            Some(&[528, 200]),
            Some("bf16"),
            "bf16[528,200] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0",
        ),
        ("pattern:ab -> ab", Some(&[5]), Some("u8"), "u8[5] pattern:ab -> ab"),
        (
            "numpy:shape=(3,),strides=(8,),dtype=f32",
            None,
            None,
            "numpy:shape=(3,),strides=(8,),dtype=f32",
        ),
    ] {
        let named = resolve(text, dims, element).unwrap();
        assert_eq!(named.to_spec(), expected, "{text}");
    }
}

#[test]
fn a_name_that_no_longer_says_the_layout_is_dropped() {
    let zn = resolve("zN", Some(&[100, 100]), Some("f16")).unwrap();
    let wider = zn.layout().with_capacity(20_000).unwrap();
    let named = ResolvedLayout::new(zn.name(), wider, zn.dtype(), Some(16), Fill::Highest);
    let text = named.to_spec();
    assert_eq!(
        text,
        "f16[100,100]E(16)fill(highest) ((16,7),(16,7)):((16,256),(1,1792)) valid (100,100) capacity 20000"
    );
    let again = resolve(&text, None, None).unwrap();
    assert_eq!(
        (again.layout(), again.dtype(), again.fill()),
        (named.layout(), named.dtype(), Fill::Highest)
    );
    assert_eq!(again.explicit_bits(), Some(16));
}

#[test]
fn every_element_type_is_said_by_the_shape_before_a_layout() {
    for element in Dtype::all() {
        let unit = u64::from(element.unit().elements);
        let text = format!("{element}[3,{}] col-major", 2 * unit);
        let named = resolve(&text, None, None).unwrap();
        assert_eq!((named.dtype(), named.to_spec()), (Some(element), text));
        assert_eq!(named.element_bits(), element.storage_bits());
        // What a notation says of it is read back with the same type, and blocks have no place in bytes.
        for notation in notations() {
            let Ok(printed) = notation.print(&named) else { continue };
            let again = resolve(&printed, Some(&[3, 2 * unit]), Some(element.name())).unwrap();
            assert_eq!(again.dtype(), Some(element), "{printed}");
        }
        let shared = print(&named, "numpy").is_err_and(|e| e.to_string().contains("share"));
        assert_eq!(shared, element.block().is_some(), "{element}");
    }
}

#[test]
fn the_last_dim_of_blocks_is_whole() {
    for element in Dtype::all().filter(|element| element.block().is_some()) {
        let unit = u64::from(element.unit().elements);
        for dim in [0, 1, unit - 1, unit, unit + 1, 4 * unit] {
            let resolved = resolve("row-major", Some(&[2, dim]), Some(element.name()));
            assert_eq!(resolved.is_ok(), dim % unit == 0, "{element} {dim}");
        }
        let error = resolve("row-major", Some(&[unit, 1]), Some(element.name())).unwrap_err();
        assert!(error.is_mismatch() && error.to_string().contains(&unit.to_string()), "{error}");
    }
}
