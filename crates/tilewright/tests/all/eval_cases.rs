//! The open cases of the layout algebra, C1 to C127, by number, with the answers of `eval`.
//!
//! A case is decided by its published sources if they agree. If they differ, the answer of C++ decides. If every source is wrong,
//! or there is none, the definition of the operation decides. `NOTES` lists these cases.

use std::collections::BTreeSet;

use tilewright::{eval::evaluate, layouts::LayoutTv};

/// Number, expression, answer. An answer that begins with `!` is the kind of an error, followed by a blank and the beginning of
/// its message.
#[rustfmt::skip]
const CASES: &[(u32, &str, &str)] = &[
    (1, "coalesce((2,(1,6)):(1,(6,2)))", "12:1"),
    (2, "coalesce((2,1,6,1):(1,7,8,0))", "(2,6):(1,8)"),
    (3, "coalesce((4,4):(-1,-4))", "16:-1"),
    (4, "coalesce((2,3):(0,0))", "6:0"),
    (5, "coalesce(((2,2),(2,2)):((1,4),(2,8)))", "(2,2,2,2):(1,4,2,8)"),
    (6, "coalesce((2,(1,6)):(1,(6,2)), (1,1))", "(2,6):(1,2)"),
    (7, "coalesce_x((2,1,6,1):(1,7,8,0))", "(2,6,1):(1,8,0)"),
    (8, "flatten(((4,3),1):((3,1),0))", "(4,3,1):(3,1,0)"),
    (9, "filter((2,3,4,5):(0,42,1,0))", "(3,4):(42,1)"),
    (10, "cosize((4,(2,2)):(2,(1,8)))", "16"),
    (11, "cosize((3,2):(-1,3))", "4"),
    (11, "span((3,2):(-1,3))", "6"),
    (12, "cosize(((4,3),5):((6,1),24))", "117"),
    (13, "(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)"),
    (14, "20:2 o (5,4):(4,1)", "(5,4):(8,2)"),
    (15, "(10,2):(16,4) o (5,4):(1,5)", "(5,(2,2)):(16,(80,4))"),
    (16, "(8,8):(8,1) o (8,8):(8,1)", "(8,8):(1,8)"),
    (17, "8:-1 o 4:2", "4:-2"),
    (18, "8:1 o (2,2):(0,4)", "(2,2):(0,4)"),
    (19, "(23,5):(2,120) o 7:3", "7:6"),
    (20, "(5,126,7):(1,13,0) o 21:30", "21:78"),
    (21, "(4,6,1):(2,3,0) o 30:4", "(6,5):(3,0)"),
    (22, "(12,(4,8)):(59,(13,1)) o <3:4,8:2>", "(3,(2,4)):(236,(26,1))"),
    (23, "composition((12,(4,8)):(59,(13,1)), (3,8))", "(3,(4,2)):(59,(13,1))"),
    (24, "(4,6):(2,3) o 4:6", "(2,2):(7,9)"),
    (24, "offsets((4,6):(2,3) o 4:6)", "[0,7,9,16]"),
    (25, "(5,3):(7,1) o 2:3", "2:21"),
    (26, "(6,2):(1,7) o (3,2):(2,3)", "!no-layout A o B: at (2,1): A(B) is 8, the only candidate gives 7"),
    (27, "(4,6,8):(2,3,5) o 6:3", "!no-layout A o B: at (4): A(B) is 9, the only candidate gives 14"),
    (28, "(3,3):(3,1) o (2,2):(2,1)", "!no-layout A o B: at (1,1): A(B) is 1, the only candidate gives 9"),
    (29, "(5,3):(7,1) o 7:1", "!no-layout A o B: at (5): A(B) is 1, the only candidate gives 35"),
    (30, "(4,3):(1,5) o 5:1", "!no-layout A o B: at (4): A(B) is 5, the only candidate gives 4"),
    (31, "complement(4:1, 24)", "6:4"),
    (32, "complement(6:4, 24)", "4:1"),
    (33, "complement(4:2, 24)", "(2,3):(1,8)"),
    (34, "complement((2,4):(1,6), 24)", "3:2"),
    (35, "complement((2,2):(1,6), 24)", "(3,2):(2,12)"),
    (36, "complement((2,2):(4,1), 24)", "(2,3):(2,8)"),
    (37, "complement(4:2, 20)", "(2,3):(1,8)"),
    (38, "complement((4,6):(1,6), 48)", "2:36"),
    (39, "complement((4,6):(1,4), 24)", "1:0"),
    (40, "complement((2,2):(4,1))", "2:2"),
    (41, "complement((2,12):(5,3), 24)", "!unsupported complement: injective, but modes interleave"),
    (42, "right_inverse((2,4,6):(4,1,8))", "(4,2,6):(2,1,8)"),
    (43, "right_inverse((2,4):(4,1))", "(4,2):(2,1)"),
    (44, "right_inverse((8,4):(4,1))", "(4,8):(8,1)"),
    (45, "right_inverse((4,8):(1,5))", "4:1"),
    (46, "right_inverse((2,4):(0,1))", "4:2"),
    (47, "right_inverse((3,4):(1,6))", "3:1"),
    (48, "left_inverse(4:2)", "(2,4):(0,1)"),
    (49, "left_inverse((4,8):(1,5))", "(5,8):(1,4)"),
    (50, "left_inverse((4,2):(1,16))", "(16,2):(1,4)"),
    (51, "left_inverse((8,4):(1,9))", "(9,4):(1,8)"),
    (52, "left_inverse((2,2):(2,3))", "(2,3):(1,1)"),
    (53, "left_inverse((8,4,2):(13,2,1))", "!unsupported left_inverse: injective, but no layout is its inverse: 2 does not divide 13"),
    (54, "nullspace((3,7):(0,0))", "(3,7):(1,3)"),
    (55, "nullspace((2,4,6):(1,2,0))", "6:8"),
    (56, "max_common_vector((8,4):(1,8), (8,4):(1,16))", "8"),
    (57, "max_common_layout((8,4):(1,8), (8,4):(4,1))", "1:0"),
    (58, "logical_divide((4,2,3):(2,1,8), 4:2)", "((2,2),(2,3)):((4,1),(2,8))"),
    (59, "logical_divide((6,8):(8,1), (3,4):(1,3))", "((3,(2,2)),4):((8,(24,1)),2)"),
    (60, "logical_divide(32:1, 2:8)", "(2,(8,2)):(8,(1,16))"),
    (61, "logical_divide((6,6):(1,12), (6,3):(3,1))", "(((2,3),3),2):(((3,12),1),36)"),
    (62, "logical_divide((6,8):(8,1), <3,4>)", "((3,2),(4,2)):((8,24),(1,4))"),
    (63, "zipped_divide((6,8):(8,1), <3,4>)", "((3,4),(2,2)):((8,1),(24,4))"),
    (64, "tiled_divide((6,8):(8,1), <3,4>)", "((3,4),2,2):((8,1),24,4)"),
    (65, "flat_divide((6,8):(8,1), <3,4>)", "(3,4,2,2):(8,1,24,4)"),
    (66, "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)", "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"),
    (67, "zipped_divide((9,32):(1,9), <3:3,(2,4):(1,8)>)", "((3,(2,4)),(3,4)):((3,(9,72)),(1,18))"),
    (68, "logical_divide((12,32), (4,8):(1,4))", "((4,8),12):((1,4),32)"),
    (68, "logical_divide((11,32), (4,8):(1,4))", "((4,8),11):((1,4),32)"),
    (68, "logical_divide((12,32), (4,8))", "((4,3),(8,4)):((1,4),(12,96))"),
    (69, "zipped_divide((12,(4,8)):(7,(1,30)), <_,128>)", "!mismatch zipped_divide: "),
    (69, "size(zipped_divide((12,(4,8)):(7,(1,30)), <_,32>))", "384"),
    (70, "logical_product((2,2):(4,1), 6:1)", "((2,2),(2,3)):((4,1),(2,8))"),
    (71, "logical_product((2,2):(4,1), (3,2):(2,1))", "((2,2),(3,2)):((4,1),(8,2))"),
    (72, "logical_product(3:2, 4:1)", "(3,(2,2)):(2,(1,6))"),
    (73, "logical_product(3:32, 32:1)", "(3,32):(32,1)"),
    (74, "logical_product((3,4):(4,1), (2,5):(1,2))", "((3,4),(2,5)):((4,1),(12,24))"),
    (75, "tiled_product((3,4):(4,1), (2,5):(1,2))", "((3,4),2,5):((4,1),12,24)"),
    (76, "flat_product((3,4):(4,1), (2,5):(1,2))", "(3,4,2,5):(4,1,12,24)"),
    (77, "blocked_product((3,4):(4,1), (2,5):(1,2))", "((3,2),(4,5)):((4,12),(1,24))"),
    (78, "raked_product((3,4):(4,1), (2,5):(1,2))", "((2,3),(5,4)):((12,4),(24,1))"),
    (79, "blocked_product((2,5):(5,1), (3,4):(1,3))", "((2,3),(5,4)):((5,10),(1,30))"),
    (80, "raked_product((2,5):(5,1), (3,4):(1,3))", "((3,2),(4,5)):((10,5),(30,1))"),
    (81, "tile_to_shape((2,2):(1,2), (8,8), (0,1))", "((2,4),(2,4)):((1,4),(2,16))"),
    (82, "tile_to_shape((3,2):(1,3), (6,8), (0,1))", "((3,2),(2,4)):((1,6),(3,12))"),
    (83, "tile_to_shape((3,2):(1,3), (6,8), (1,0))", "((3,2),(2,4)):((1,24),(3,6))"),
    (84, "make_layout_tv((2,3):(3,1), (2,2):(2,1))", "((3,2),(2,2)):((8,2),(4,1))"),
    (84, "crd2idx((4,3), make_layout_tv((2,3):(3,1), (2,2):(2,1)))", "15"),
    (84, "idx2crd(15, (4,6))", "(3,3)"),
    (85, "make_ordered_layout((4,3,8,2), (2,1,3,0))", "(4,3,8,2):(6,2,24,1)"),
    (86, "make_ordered_layout((2,3,4,5), (2,67,42,50))", "(2,3,4,5):(1,40,2,8)"),
    (87, "make_layout_like((2,3,4,5):(0,42,1,0))", "(2,3,4,5):(0,4,1,0)"),
    (88, "crd2idx(16, (3,(2,3)):(3,(12,1)))", "17"),
    (89, "idx2crd(16, (3,(2,3)))", "(1,(1,2))"),
    (90, "crd2idx((1,5), (3,(2,3)):(3,(12,1)))", "17"),
    (90, "crd2idx((1,(1,2)), (3,(2,3)):(3,(12,1)))", "17"),
    (91, "slice_and_offset((2,_), ((3,2),(2,5,2)):((4,1),(2,13,100)))", "((2,5,2)):((2,13,100))+8"),
    (91, "slice_and_offset((_,5), ((3,2),(2,5,2)):((4,1),(2,13,100)))", "((3,2)):((4,1))+28"),
    (91, "slice_and_offset(((_,_),5), ((3,2),(2,5,2)):((4,1),(2,13,100)))", "(3,2):(4,1)+28"),
    (91, "slice_and_offset(((_,1),(0,_,1)), ((3,2),(2,5,2)):((4,1),(2,13,100)))", "(3,5):(4,13)+101"),
    (91, "slice_and_offset(((2,_),(_,3,_)), ((3,2),(2,5,2)):((4,1),(2,13,100)))", "(2,2,2):(1,2,100)+47"),
    (92, "compatible(24, (4,6))", "true"),
    (92, "compatible((4,6), ((2,2),6))", "true"),
    (92, "compatible((24,), 24)", "false"),
    (92, "compatible(((2,2),6), (2,(2,6)))", "false"),
    (93, "weakly_congruent(3, (1,(2,3)))", "true"),
    (93, "weakly_congruent((1,2), (3,(4,5)))", "true"),
    (93, "weakly_congruent((1,(2,3)), (1,2))", "false"),
    (94, "shape_div((4,5,6), 40)", "(1,1,3)"),
    (95, "upcast((8,4):(1,8), 4)", "(2,4):(1,2)"),
    (95, "downcast((8,4):(1,8), 4)", "(32,4):(1,32)"),
    (96, "upcast((32,(32,4)):(32,(1,1024)), 16)", "(32,(2,4)):(2,(1,64))"),
    (97, "recast((8,4):(1,8), 6, 4)", "(12,4):(1,12)"),
    (97, "recast((8,4):(1,8), 4, 6)", "!mismatch recast: "),
    (98, "swizzle(Sw<2,0,2>, 16)", "[0,1,2,3,5,4,7,6,10,11,8,9,15,14,13,12]"),
    (98, "swizzle(F2<2,1>, 5)", "[0,2,1,3,4]"),
    (98, "Sw<1,2,1> o Sw<1,0,1>", "F2<1,3,4,12>"),
    (98, "Sw<2,0,2> o Sw<2,0,2>", "Sw<0,0,0>"),
    (98, "F2<2,4,1> o F2<4,1,2> o (4,2):(2,1)", "(4,2):(2,1)"),
    (98, "swizzled_layout({i=[6,4],j=[3]})", "F2<3,6,4> o (4,2):(2,1)"),
    (98, "linear(F2<3,6,4> o (4,2):(2,1))", "{dim0=[6,4],dim1=[3]} -> (offset:8)"),
    (98, "right_inverse(F2<2,4,1> o 8:1)", "F2<4,1,2> o 8:1"),
    (98, "upcast(F2<1,2,8,4> o 16:1, 4)", "F2<2,1> o 4:1"),
    (99, "crd2idx((1,0), Sw<3,4,3> o 0 o (8,64):(64,1))", "64"),
    (99, "crd2idx((1,16), Sw<3,4,3> o 0 o (8,64):(64,1))", "80"),
    (99, "crd2idx((7,63), Sw<3,4,3> o 0 o (8,64):(64,1))", "463"),
    (100, "\"f16[100,100] zN\"", "((16,7),(16,7)):((16,256),(1,1792)) valid (100,100)"),
    (101, "\"f16[100,100] nZ\"", "((16,7),(16,7)):((1,1792),(16,256)) valid (100,100)"),
    (102, "\"f16[100,100] zZ\"", "((16,7),(16,7)):((16,1792),(1,256)) valid (100,100)"),
    (103, "\"s8[100,100] zN\"", "((16,7),(32,4)):((32,512),(1,3584)) valid (100,100)"),
    (104, "\"f32[100,100] zN\"", "((16,7),(8,13)):((8,128),(1,896)) valid (100,100)"),
    (105, "\"f32[20,33] nZ\"", "((8,3),(16,3)):((1,384),(8,128)) valid (20,33)"),
    (106, "\"f16[32,48] zN\"", "((16,2),(16,3)):((16,256),(1,512))"),
    (107, "\"f32[100,40] L0C\"", "((16,7),(16,3)):((16,256),(1,1792)) valid (100,40)"),
    (108, "offset(\"f16[100,100] zN\", (0,16))", "1792"),
    (108, "offset(\"f16[100,100] zN\", (16,0))", "256"),
    (108, "offset(\"f16[100,100] zN\", (99,99))", "12339"),
    (108, "cosize(\"f16[100,100] zN\")", "12544"),
    (109, "crd2offset((1,5), ((4,2),(4,3)), ((4,16),(1,32)))", "37"),
    (109, "crd2idx(13, ((4,2),(4,3)):((4,16),(1,32)))", "21"),
    (109, "crd2idx(37, ((4,2),(4,3)):((4,16),(1,32)))", "52"),
    (109, "crd2offset(((3,1),(2,2)), ((4,2),(4,3)), ((4,16),(1,32)))", "94"),
    (109, "tile(((4,2),(4,3)):((4,16),(1,32)), (4,4))", "((4,1),(4,1)):((4,16),(1,32))"),
    (109, "tile(((4,2),(4,3)):((4,16),(1,32)), (2,3))", "((4,1),(4,1)):((4,16),(1,32)) valid (2,3)"),
    (110, "flatten(\"[10,20] (m1 m0:4) (n1 n0:8) -> m1 n1 m0 n0\")", "(4,3,8,3):(8,96,1,32)"),
    (110, "offset(\"[10,20] (m1 m0:4) (n1 n0:8) -> m1 n1 m0 n0\", (5,9))", "137"),
    (111, "make_ordered_layout((2,3,5,7,16), (4,3,2,1,0))", "(2,3,5,7,16):(1680,560,112,16,1)"),
    (112, "crd2idx((16,16), ((16,7),(8,13)):((8,128),(1,896)))", "1920"),
    (112, "crd2idx((6,10), ((16,7),(8,13)):((8,128),(1,896)))", "946"),
    (112, "crd2idx((10,6), ((16,7),(8,13)):((8,128),(1,896)))", "86"),
    (112, "domain_offset((6,10), ((16,7),(8,13)):((8,128),(1,896)))", "!unsupported domain_offset: "),
    (113, "same((4,8), (4,8):(1,4))", "true"),
    (113, "coalesce((4,8), (1,1))", "(4,8):(1,4)"),
    (114, "( 4 , 2 ):( 1,4 )", "(4,2):(1,4)"),
    (115, "(4,):(1,)", "(4):(1)"),
    (115, "same((4,):(1,), 4:1)", "true"),
    (115, "congruent((4,):(1,), 4:1)", "false"),
    (116, "((2,3)):((1,2))", "((2,3)):((1,2))"),
    (117, "(2,2):(1@0,1@1)", "(2,2):(1@0,1@1)"),
    (117, "same((2,2):(1@0,1@1), make_identity_layout((2,2)))", "true"),
    (118, "(2,2):(1@0,1)", "!parse the stride 1 is an integer; basis and integer strides do not mix"),
    (119, "(8,32):(32)", "!mismatch a shape of rank 2 and 2 leaves with strides of rank 1 and 1"),
    (120, "(8,32", "!parse expected `,` or `)`, found the end of the text"),
    (121, "99999999999999999999:1", "!parse the integer does not fit 64 bits"),
    (122, "4:1x", "!parse text after the expression"),
    (123, "apply({in1=[[1,1],[2,2]],in2=[[0,1],[0,2]]}, (3,1))", "(3,2)"),
    (124, "compose({in1=[[1,1],[0,1]],in2=[[1,0],[1,2]]} -> (out1,out2), {out1=[[2,2],[1,0]],out2=[[1,1],[2,1]]})", "{in1=[[3,3],[1,1]],in2=[[2,2],[0,3]]} -> (dim0:4,dim1:4)"),
    (125, "invert_and_compose({in1=[2,1,4]}, {in2=[4,1,2]})", "{in1=[4,2,1]} -> (in2:8)"),
    (125, "pseudo_inverse({in2=[4,1,2]})", "{dim0=[2,4,1]} -> (in2:8)"),
    (126, "reshape_outs({in1=[1,4,8],in2=[3]}, [out2:2,out3:8])", "{in1=[[1,0],[0,2],[0,4]],in2=[[1,1]]} -> (out2:2,out3:8)"),
    (127, "layout({i=[4,8,1,2]})", "(4,4):(4,1)"),
    (127, "flatten_ins(linear((4,4):(4,1)))", "{dim0=[4,8,1,2]} -> (offset:16)"),
    (127, "layout({i=[1,3,4,8]})", "!no-layout layout: at (3): bits 0 and 1 of the coordinate, of steps 1 and 3"),
    (127, "swizzled_layout({i=[1,3,4,8]})", "Sw<1,0,1> o 16:1"),
    (127, "layout({i=[3,4]})", "(2,2):(3,4)"),
    (127, "is_trivial_over({a=[[2,0],[1,0]],b=[[0,1],[0,2]]} -> (a:4,b:4), [b])", "true"),
    (127, "isTrivialOver({a=[[2,0],[1,0]],b=[[0,1],[0,2]]} -> (a:4,b:4), [a])", "false"),
    (127, "resize_in({lane=[1,2],warp=[4]} -> (row:8), [lane:2])", "{lane=[1],warp=[4]} -> (row:8)"),
    (127, "resizeInDim({lane=[1,2],warp=[4]} -> (row:8), [warp:4])", "{lane=[1,2],warp=[4,0]} -> (row:8)"),
    (127, "resize_in({lane=[1,2]} -> (row:4), [lane])", "!arguments resize_in: a list of dims where dims with sizes such as `[row:8,column:4]` is expected"),
    (127, "resize_in({lane=[1,2]} -> (row:4), [lane:3])", "!illegal"),
    (127, "lstsq({in2=[4,1,2]}, {in1=[2,1,4]})", "{in1=[4,2,1]} -> (in2:8)"),
    (127, "getNumConsecutiveInOut({lane=[1,2,8]} -> (row:16))", "4"),
    (127, "getFreeVariableMasks({lane=[1,2,0],warp=[4,3]} -> (row:8))", "(4,2)"),
    (127, "free_bits({lane=[1,2,0]} -> (row:4))", "4"),
    (127, "pseudoinvert({in2=[4,1,2]})", "{dim0=[2,4,1]} -> (in2:8)"),
    (127, "linear(4:3)", "!unsupported linear: at (3): bits 0 and 1 of the coordinate, of steps 3 and 6"),
];

/// Other answers of sources, and the reasons why they are not followed.
const NOTES: &[(u32, &str)] = &[
    (11, "C++ answers 6, the span; a cosize is 1 + the largest offset"),
    (24, "C++ and all ports refuse; the layout exists"),
    (25, "one port refuses; the layout exists"),
    (26, "C++ and all ports answer (3,2):(2,3), which is another map"),
    (39, "one port answers 1:24; C++ 1:0"),
    (40, "ports answer (2,1):(2,8); C++ 2:2"),
    (46, "one port answers 1:0, which is not the longest"),
    (52, "C++ refuses; the inverse exists"),
    (68, "384 elements in tiles of 32 are 12 tiles; 11 tiles belong to 11 rows"),
    (69, "a tile beyond its axis is refused; C++ loses elements there"),
    (84, "the value is the layout; the tile's extents are those of raked_product"),
    (97, "eight elements of 6 bits are twelve of 4: the source names the new width first"),
    (108, "a cosize is that of the padded domain; the last valid element lies at 12339"),
    (118, "one port accepts a mixture; a value is an offset or a coordinate, not both"),
    (127, "it has none without a swizzle; under one, the xor is that of the swizzle"),
    (120, "the text has five columns, so its end is column 6"),
];

fn answer(expression: &str) -> String {
    match evaluate(expression) {
        Ok(value) => value.to_string(),
        Err(error) => format!("!{} {error}", error.kind()),
    }
}

#[test]
fn every_case() {
    let mut wrong = Vec::new();
    for (number, expression, expected) in CASES {
        let answer = answer(expression);
        let right = if expected.starts_with('!') {
            answer.starts_with(expected)
        } else {
            answer == *expected
        };
        if !right {
            wrong.push(format!("C{number} {expression}: {answer}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_case_is_left_out() {
    let numbers: BTreeSet<u32> = CASES.iter().map(|(number, ..)| *number).collect();
    let missing: Vec<u32> = (1..=127).filter(|number| !numbers.contains(number)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(NOTES.iter().all(|(number, _)| numbers.contains(number)));
}

#[test]
fn where_the_texts_are_at_fault() {
    for (text, span, column) in
        [("(8,32", (5, 5), 6), ("4:1x", (3, 4), 4), ("99999999999999999999:1", (0, 20), 1)]
    {
        let error = evaluate(text).unwrap_err();
        assert_eq!((error.span(), error.column(text)), (Some(span), Some(column)), "{text}");
    }
}

#[test]
fn the_tile_of_a_thread_value_layout() {
    let layout = |text| evaluate(text).unwrap().as_layout().unwrap().clone();
    let tv = LayoutTv::new(&layout("(2,3):(3,1)"), &layout("(2,2):(2,1)")).unwrap();
    assert_eq!(tv.tile().to_string(), "(4,6)");
    let product = layout("raked_product((2,3):(3,1), (2,2):(2,1))");
    assert_eq!(&product.shape().product_each().unwrap(), tv.tile());
}

#[test]
fn errors_of_long_texts_are_short() {
    let unknown = "x".repeat(5000);
    let deep = "coalesce(".repeat(3000);
    let far = format!("({}?)", "1,".repeat(3000));
    for text in [&unknown, &deep, &far] {
        let error = evaluate(text).unwrap_err();
        let lines: Vec<String> = error.render().lines().map(String::from).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 150), "{lines:?}");
        // The caret is below the fault.
        let at = lines[2].find('^').unwrap();
        assert!(text != &far || lines[1].chars().nth(at) == Some('?'), "{lines:?}");
    }
}
