//! The algebra's open cases by number, as far as they concern structure, complement, inverses, divisions, products and
//! tiles.

use tilewright_core::{Error, IntTuple, Layout, LayoutTv, LeftInverse, Slicer, Tiler};

fn l(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn t(text: &str) -> IntTuple {
    IntTuple::parse(text).unwrap()
}

fn is(answer: Result<Layout, Error>, expected: &str) {
    assert_eq!(answer.map(|layout| layout.to_string()), Ok(expected.to_owned()));
}

fn says<T: std::fmt::Debug>(answer: Result<T, Error>, beginning: &str) {
    let text = answer.unwrap_err().to_string();
    assert!(text.starts_with(beginning), "{text}");
}

#[test]
fn c8_to_c12_flatten_filter_cosize() {
    is(Ok(l("((4,3),1):((3,1),0)").flatten()), "(4,3,1):(3,1,0)");
    is(l("(2,3,4,5):(0,42,1,0)").filter(), "(3,4):(42,1)");
    assert_eq!(l("(4,(2,2)):(2,(1,8))").cosize(), 16);
    assert_eq!((l("(3,2):(-1,3)").cosize(), l("(3,2):(-1,3)").span()), (4, 6));
    assert_eq!(l("(3,2):(-1,3)").bounds(), Some((-2, 3)));
    assert_eq!(l("((4,3),5):((6,1),24)").cosize(), 117);
}

#[test]
fn c31_to_c41_complement() {
    for (layout, n, expected) in [
        ("4:1", 24, "6:4"),
        ("6:4", 24, "4:1"),
        ("4:2", 24, "(2,3):(1,8)"),
        ("(2,4):(1,6)", 24, "3:2"),
        ("(2,2):(1,6)", 24, "(3,2):(2,12)"),
        ("(2,2):(4,1)", 24, "(2,3):(2,8)"),
        ("4:2", 20, "(2,3):(1,8)"),
        ("(4,6):(1,6)", 48, "2:36"),
        ("(4,6):(1,4)", 24, "1:0"),
    ] {
        is(l(layout).complement(n), expected);
    }
    assert_eq!(l("(4,6):(1,6)").complement_gap(), Some((4, 6)));
    is(l("(2,2):(4,1)").complement_within(), "2:2");
    says(l("(2,12):(5,3)").complement(24), "injective, but modes interleave");
}

#[test]
fn c42_to_c47_right_inverse() {
    for (layout, expected) in [
        ("(2,4,6):(4,1,8)", "(4,2,6):(2,1,8)"),
        ("(2,4):(4,1)", "(4,2):(2,1)"),
        ("(8,4):(4,1)", "(4,8):(8,1)"),
        ("(4,8):(1,5)", "4:1"),
        ("(2,4):(0,1)", "4:2"),
        ("(3,4):(1,6)", "3:1"),
    ] {
        is(l(layout).right_inverse(), expected);
    }
}

#[test]
fn c48_to_c53_left_inverse() {
    for (layout, expected) in [
        ("4:2", "(2,4):(0,1)"),
        ("(4,8):(1,5)", "(5,8):(1,4)"),
        ("(4,2):(1,16)", "(16,2):(1,4)"),
        ("(8,4):(1,9)", "(9,4):(1,8)"),
        ("(2,2):(2,3)", "(2,3):(1,1)"),
    ] {
        is(l(layout).left_inverse(), expected);
    }
    says(
        l("(8,4,2):(13,2,1)").left_inverse(),
        "injective, but no layout is its inverse: 2 does not divide 13",
    );
    // By digits, not by a chain of strides.
    let inverse = l("(5,3):(3,20)").left_inverse().unwrap();
    assert!((0..15).all(|i| {
        let offset = l("(5,3):(3,20)").offset_of(i).unwrap();
        inverse.offset_of(offset as u64) == Ok(i as i64)
    }));
    let padded = LeftInverse::of(&l("(8,4):(1,9)")).unwrap();
    assert_eq!([padded.index(10), padded.index(8), padded.index(36)], [Some(9), None, None]);
}

#[test]
fn c54_to_c57_nullspace_and_common_layouts() {
    is(l("(3,7):(0,0)").nullspace(), "(3,7):(1,3)");
    is(l("(2,4,6):(1,2,0)").nullspace(), "6:8");
    assert_eq!(l("(8,4):(1,8)").max_common_vector(&l("(8,4):(1,16)")), Ok(8));
    is(l("(8,4):(1,8)").max_common_layout(&l("(8,4):(4,1)")), "1:0");
}

#[test]
fn c58_to_c69_divisions() {
    is(l("(4,2,3):(2,1,8)").logical_divide(&l("4:2")), "((2,2),(2,3)):((4,1),(2,8))");
    is(l("(6,8):(8,1)").logical_divide(&l("(3,4):(1,3)")), "((3,(2,2)),4):((8,(24,1)),2)");
    is(l("32:1").logical_divide(&l("2:8")), "(2,(8,2)):(8,(1,16))");
    is(l("(6,6):(1,12)").logical_divide(&l("(6,3):(3,1)")), "(((2,3),3),2):(((3,12),1),36)");
    let (matrix, by) = (l("(6,8):(8,1)"), [Tiler::Extent(3), Tiler::Extent(4)]);
    is(matrix.logical_divide_tiler(&by), "((3,2),(4,2)):((8,24),(1,4))");
    is(matrix.zipped_divide_tiler(&by), "((3,4),(2,2)):((8,1),(24,4))");
    is(matrix.tiled_divide_tiler(&by), "((3,4),2,2):((8,1),24,4)");
    is(matrix.flat_divide_tiler(&by), "(3,4,2,2):(8,1,24,4)");
    let (a, b) = (l("3:3"), l("(2,4):(1,8)"));
    let by = [Tiler::Layout(&a), Tiler::Layout(&b)];
    is(
        l("(9,(4,8)):(59,(13,1))").zipped_divide_tiler(&by),
        "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
    );
    is(l("(9,32):(1,9)").zipped_divide_tiler(&by), "((3,(2,4)),(3,4)):((3,(9,72)),(1,18))");
    // C68: the 384 elements in tiles of 32 are 12 full tiles.
    is(l("(12,32)").logical_divide(&l("(4,8)")), "((4,8),12):((1,4),32)");
    is(l("(11,32)").logical_divide(&l("(4,8)")), "((4,8),11):((1,4),32)");
    // C69: a tile larger than its axis neither loses nor invents elements.
    let nested = l("(12,(4,8)):(7,(1,30))");
    assert!(
        nested.zipped_divide_tiler(&[Tiler::Keep, Tiler::Extent(128)]).unwrap_err().is_mismatch()
    );
    let all = nested.zipped_divide_tiler(&[Tiler::Keep, Tiler::Extent(32)]).unwrap();
    assert_eq!(all.size(), 384);
}

#[test]
fn c70_to_c80_products() {
    is(l("(2,2):(4,1)").logical_product(&l("6:1")), "((2,2),(2,3)):((4,1),(2,8))");
    is(l("(2,2):(4,1)").logical_product(&l("(3,2):(2,1)")), "((2,2),(3,2)):((4,1),(8,2))");
    is(l("3:2").logical_product(&l("4:1")), "(3,(2,2)):(2,(1,6))");
    is(l("3:32").logical_product(&l("32:1")), "(3,32):(32,1)");
    let (a, b) = (l("(3,4):(4,1)"), l("(2,5):(1,2)"));
    is(a.logical_product(&b), "((3,4),(2,5)):((4,1),(12,24))");
    is(a.tiled_product(&b), "((3,4),2,5):((4,1),12,24)");
    is(a.flat_product(&b), "(3,4,2,5):(4,1,12,24)");
    is(a.blocked_product(&b), "((3,2),(4,5)):((4,12),(1,24))");
    is(a.raked_product(&b), "((2,3),(5,4)):((12,4),(24,1))");
    let (a, b) = (l("(2,5):(5,1)"), l("(3,4):(1,3)"));
    is(a.blocked_product(&b), "((2,3),(5,4)):((5,10),(1,30))");
    is(a.raked_product(&b), "((3,2),(4,5)):((10,5),(30,1))");
}

#[test]
fn c81_to_c87_tiles_and_orders() {
    is(l("(2,2):(1,2)").tile_to_shape(&t("(8,8)")), "((2,4),(2,4)):((1,4),(2,16))");
    let block = l("(3,2):(1,3)");
    is(block.tile_to_shape(&t("(6,8)")), "((3,2),(2,4)):((1,6),(3,12))");
    is(block.tile_to_shape_ordered(&t("(6,8)"), &t("(1,0)")), "((3,2),(2,4)):((1,24),(3,6))");
    let tv = LayoutTv::new(&l("(2,3):(3,1)"), &l("(2,2):(2,1)")).unwrap();
    assert_eq!((tv.tile(), tv.layout()), (&t("(4,6)"), &l("((3,2),(2,2)):((8,2),(4,1))")));
    let cell = tv.layout().offset_at(&[4, 3]).unwrap();
    assert_eq!(tv.tile().idx2crd(cell), Ok(t("(3,3)")));
    is(Layout::ordered(&t("(4,3,8,2)"), &t("(2,1,3,0)")), "(4,3,8,2):(6,2,24,1)");
    is(Layout::ordered(&t("(2,3,4,5)"), &t("(2,67,42,50)")), "(2,3,4,5):(1,40,2,8)");
    is(l("(2,3,4,5):(0,42,1,0)").compact_like(), "(2,3,4,5):(0,4,1,0)");
}

#[test]
fn c88_to_c91_coordinates_and_slices() {
    let layout = l("(3,(2,3)):(3,(12,1))");
    for coord in ["16", "(1,5)", "(1,(1,2))"] {
        assert_eq!(layout.crd2idx(&t(coord)), Ok(17));
    }
    assert_eq!(layout.shape().idx2crd(16), Ok(t("(1,(1,2))")));
    let layout = l("((3,2),(2,5,2)):((4,1),(2,13,100))");
    for (slicer, expected) in [
        ("(2,_)", "((2,5,2)):((2,13,100))+8"),
        ("(_,5)", "((3,2)):((4,1))+28"),
        ("((_,_),5)", "(3,2):(4,1)+28"),
        ("((_,1),(0,_,1))", "(3,5):(4,13)+101"),
        ("((2,_),(_,3,_))", "(2,2,2):(1,2,100)+47"),
    ] {
        is(layout.slice_and_offset(&Slicer::parse(slicer).unwrap()), expected);
    }
}

#[test]
fn c92_to_c94_comparisons_and_shape_division() {
    assert!(t("24").compatible(&t("(4,6)")) && t("(4,6)").compatible(&t("((2,2),6)")));
    assert!(!t("(24)").compatible(&t("24")) && !t("((2,2),6)").compatible(&t("(2,(2,6))")));
    assert!(t("3").weakly_congruent(&t("(1,(2,3))")));
    assert!(t("(1,2)").weakly_congruent(&t("(3,(4,5))")));
    assert!(!t("(1,(2,3))").weakly_congruent(&t("(1,2)")));
    assert_eq!(t("(4,5,6)").shape_div(&t("40")), Ok(t("(1,1,3)")));
}

#[test]
fn c95_to_c97_larger_and_smaller_elements() {
    is(l("(8,4):(1,8)").upcast(4), "(2,4):(1,2)");
    is(l("(8,4):(1,8)").downcast(4), "(32,4):(1,32)");
    is(l("(32,(32,4)):(32,(1,1024))").upcast(16), "(32,(2,4)):(2,(1,64))");
    // The case's source names the new width first: eight elements of 6 bits are twelve of 4.
    is(l("(8,4):(1,8)").recast(6, 4), "(12,4):(1,12)");
    // Eight of 4 bits are five and a third of 6.
    assert!(l("(8,4):(1,8)").recast(4, 6).unwrap_err().is_mismatch());
}

#[test]
fn c109_and_c112_tiles_of_tla() {
    let demo = l("((4,2),(4,3)):((4,16),(1,32))");
    assert_eq!((demo.offset_of(13), demo.offset_of(37)), (Ok(21), Ok(52)));
    assert_eq!(demo.crd2idx(&t("(1,5)")), Ok(37));
    assert_eq!(demo.crd2idx(&t("((3,1),(2,2))")), Ok(94));
    assert_eq!(demo.tile(&[4, 4]).unwrap().to_string(), "((4,1),(4,1)):((4,16),(1,32))");
    assert_eq!(
        demo.tile(&[2, 3]).unwrap().to_string(),
        "((4,1),(4,1)):((4,16),(1,32)) valid (2,3)"
    );
    let zn = l("((16,7),(8,13)):((8,128),(1,896))");
    assert!(zn.tile_at(&[6, 10], &[32, 32]).unwrap_err().is_unsupported());
    // The tile at (6,10) does not begin on whole blocks: its (10,6) is (16,16), and not a sum of two offsets.
    assert_eq!(
        (zn.offset_at(&[16, 16]), zn.offset_at(&[6, 10]), zn.offset_at(&[10, 6])),
        (Ok(1920), Ok(946), Ok(86))
    );
}

#[test]
fn all_of_it_in_constants() {
    const BLOCK: Layout = Layout::parse_const("(3,4):(4,1)");
    const BY: Layout = Layout::parse_const("(2,5):(1,2)");
    const PRODUCT: Layout = match BLOCK.blocked_product(&BY) {
        Ok(layout) => layout,
        Err(_) => panic!("no product"),
    };
    const TILED: Layout = match PRODUCT.logical_divide_tiler(&[Tiler::Extent(3), Tiler::Extent(4)])
    {
        Ok(layout) => layout,
        Err(_) => panic!("no division"),
    };
    const INVERSE: Layout = match PRODUCT.right_inverse() {
        Ok(layout) => layout,
        Err(_) => panic!("no inverse"),
    };
    assert_eq!(TILED.to_string(), "((3,2),(4,5)):((4,12),(1,24))");
    assert_eq!(PRODUCT.offset_of(INVERSE.offset_of(77).unwrap() as u64), Ok(77));
}
