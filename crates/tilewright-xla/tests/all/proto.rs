//! Protos of shapes and layouts, by the rows of the stated cases, as bytes and as text.

use proptest::prelude::*;
use prost::Message;
use tilewright_core::Fill;
use tilewright_xla::{
    ArrayShape, Error, Layout, Padded, PaddedShape, PrimitiveType, ProgramShape, Shape, ShapeIndex,
    proto::{LayoutProto, ProgramShapeProto, ShapeProto, TileProto},
};

fn shape(text: &str) -> Shape {
    Shape::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

fn proto(text: &str) -> ShapeProto {
    ShapeProto::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

fn layout(text: &str) -> LayoutProto {
    LayoutProto::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

/// Asserts that a message is refused at this field with this message, before and after conversion to bytes.
fn refused(text: &str, field: &str, why: &str) -> Error {
    let error = proto(text).to_shape().unwrap_err();
    assert_eq!(error.name().unwrap_or_default(), field, "{text}: {error}");
    assert!(error.to_string().contains(why), "{text}: {error}");
    assert!(!error.is_parse());
    assert_eq!(Shape::from_proto_bytes(&proto(text).encode_to_vec()).unwrap_err(), error);
    error
}

#[test]
fn row_16_a_physical_shape() {
    let text = "element_type: TUPLE tuple_shapes { element_type: S8 dimensions: 137438953472 \
        layout { minor_to_major: 0 physical_shape { element_type: F32 } } }";
    assert_eq!(ShapeProto::decode(proto(text).encode_to_vec().as_slice()), Ok(proto(text)));
    let error = refused(text, "tuple_shapes[0].layout.physical_shape", "sparse");
    assert!(error.is_unsupported());
    let without = text.replace("physical_shape { element_type: F32 }", "");
    assert_eq!(proto(&without).to_shape().unwrap().to_string(), "(s8[137438953472]{0})");
}

#[test]
fn row_17_many_dims_and_a_dim_named_twice() {
    let text = "element_type: F32 dimensions: [0,281474976710657,0,1,2,3,0,5,281474976710657,1] \
        layout { minor_to_major: [0,1,2,3,4,5,6,6,8,9] }";
    let error = refused(text, "layout.minor_to_major", "dim 6 at position 7");
    assert!(error.is_illegal());
    let sizes = "element_type: F32 dimensions: [281474976710657,281474976710657]";
    let error = refused(sizes, "dimensions", "more than 2^63 - 1 bytes");
    assert!(error.is_overflow());
}

#[test]
fn row_18_unknown_element_types() {
    for number in [2000, -1, 0, 35, i32::MAX, i32::MIN] {
        let text = format!("element_type: {number}");
        refused(&text, "element_type", &format!("no element type has the number {number}"));
        let inside = format!("element_type: TUPLE tuple_shapes {{}} tuple_shapes {{ {text} }}");
        refused(&inside, "tuple_shapes[0].element_type", "the number 0");
    }
}

#[test]
fn row_19_shapes_survive_the_round_trip() {
    for text in [
        "opaque[]",
        "token[]",
        "f32[]",
        "u32[1,2]",
        "s32[3,4]{0,1}",
        "b(s32[3,4])",
        "b(s32[3,4]{0,1:T(2,128)})",
        "(f32[2], (token[], (), s4[8]{0:E(4)}), b(pred[]))",
        "s32[<=5,2]",
        "f32[?,784]",
        "()",
        "f32[123,456]{1,0:T(16,128)(2,1)L(4)E(16)S(5)SC(0:30)(1:40,130)M(1024)}",
    ] {
        let value = shape(text);
        assert_eq!(Shape::from_proto_bytes(&value.to_proto_bytes().unwrap()).unwrap(), value);
        let message = value.to_proto().unwrap();
        assert_eq!(proto(&message.text().to_string()), message, "{text}");
    }
    // An absent layout differs from an empty one.
    let scalar = Shape::array(ArrayShape::new(PrimitiveType::F32, &[]));
    assert_ne!(scalar, shape("f32[]"));
    assert_eq!(Shape::from_proto_bytes(&scalar.to_proto_bytes().unwrap()).unwrap(), scalar);
}

#[test]
fn row_20_a_combined_dim_survives_the_round_trip() {
    let value = Layout::parse("{2,1,0:T(2,*,128)}").unwrap();
    let message = value.to_proto().unwrap();
    assert_eq!(message.tiles, [TileProto { dimensions: vec![2, i64::MIN, 128] }]);
    assert_eq!(Layout::from_proto_bytes(&value.to_proto_bytes().unwrap()).unwrap(), value);
    assert_eq!(layout(&message.text().to_string()).to_layout().unwrap(), value);
}

#[test]
fn proto_arrays_at_fault() {
    for (text, field, why) in [
        ("element_type: F32 dimensions: [2,-3]", "dimensions[1]", "-3 is negative"),
        (
            "element_type: F32 dimensions: -9223372036854775808",
            "dimensions[0]",
            "-9223372036854775808 is negative; a dim is 0 or more",
        ),
        (
            "element_type: F32 dimensions: -1 is_dynamic_dimension: true",
            "dimensions[0]",
            "-1 is negative",
        ),
        (
            "element_type: F32 dimensions: [2,3] is_dynamic_dimension: true",
            "is_dynamic_dimension",
            "1 flags of dynamic dims for 2 dims",
        ),
        (
            "element_type: F32 is_dynamic_dimension: [true,false]",
            "is_dynamic_dimension",
            "2 flags of dynamic dims for 0 dims",
        ),
        (
            "element_type: F32 tuple_shapes {}",
            "tuple_shapes",
            "1 members of a shape of type number 11",
        ),
        (
            "element_type: F32 dimensions: [2,3] layout { minor_to_major: 0 }",
            "layout",
            "contains 1 elements, but shape has 2 dimensions",
        ),
        (
            "element_type: F32 dimensions: 2 layout { minor_to_major: 0 split_configs { dimension: 0 split_indices: 2 } }",
            "layout",
            "split index 2 after 0 in physical dim 0 of extent 2",
        ),
    ] {
        refused(text, field, why);
    }
}

#[test]
fn proto_others_at_fault() {
    for kind in ["TUPLE", "TOKEN", "OPAQUE_TYPE", "BUFFER"] {
        for (rest, field) in [
            ("dimensions: 2", "dimensions"),
            ("is_dynamic_dimension: true", "is_dynamic_dimension"),
            ("layout {}", "layout"),
        ] {
            let text = format!("element_type: {kind} tuple_shapes {{ element_type: F32 }} {rest}");
            refused(&text, field, "only arrays have");
        }
    }
    for kind in ["TOKEN", "OPAQUE_TYPE"] {
        let text = format!("element_type: {kind} tuple_shapes {{ element_type: F32 }}");
        refused(&text, "tuple_shapes", "1 members");
    }
    let array = "tuple_shapes { element_type: F32 }";
    for members in ["".to_owned(), format!("{array} {array}")] {
        let text = format!("element_type: BUFFER {members}");
        refused(&text, "tuple_shapes", "a buffer refers to one array");
    }
    for inner in ["TUPLE", "TOKEN", "BUFFER"] {
        let text = format!("element_type: BUFFER tuple_shapes {{ element_type: {inner} {array} }}");
        refused(&text, "tuple_shapes[0].element_type", "what is not an array");
    }
    let deep = "element_type: TUPLE tuple_shapes { element_type: F32 } tuple_shapes { element_type: BUFFER \
        tuple_shapes { element_type: F32 dimensions: [2,-7] } }";
    refused(deep, "tuple_shapes[1].tuple_shapes[0].dimensions[1]", "-7");
}

#[test]
fn proto_layouts_at_fault() {
    for (rest, field, why) in [
        (
            "minor_to_major: [0,0]",
            "minor_to_major",
            "dim 0 at position 1 of a minor_to_major of 2: named twice",
        ),
        (
            "minor_to_major: [0,2]",
            "minor_to_major",
            "dim 2 at position 1 of a minor_to_major of 2: out of range",
        ),
        ("minor_to_major: [0,-1]", "minor_to_major[1]", "-1 is negative"),
        ("tiles {}", "tiles[0].dimensions", "a tile has no dims"),
        (
            "tiles { dimensions: 8 } tiles { dimensions: [2,0] }",
            "tiles[1].dimensions",
            "extent 0 of dim 1 of a tile",
        ),
        ("tiles { dimensions: [2,-5] }", "tiles[0].dimensions[1]", "-5 is negative"),
        (
            "tiles { dimensions: [2,-9223372036854775808] }",
            "tiles[0].dimensions",
            "`*` is the last of the 2 dims",
        ),
        (
            "tail_padding_alignment_in_elements: -1",
            "tail_padding_alignment_in_elements",
            "-1 is negative",
        ),
        ("element_size_in_bits: -1", "element_size_in_bits", "-1 is negative"),
        ("memory_space: -1", "memory_space", "-1 is negative"),
        (
            "dynamic_shape_metadata_prefix_bytes: -1",
            "dynamic_shape_metadata_prefix_bytes",
            "-1 is negative",
        ),
        ("split_configs { dimension: -1 }", "split_configs[0].dimension", "-1 is negative"),
        (
            "split_configs { dimension: 1 }",
            "split_configs[0].split_indices",
            "physical dim 1 at no index",
        ),
        (
            "split_configs { split_indices: [1,-2] }",
            "split_configs[0].split_indices[1]",
            "-2 is negative",
        ),
        ("index_primitive_type: F32", "index_primitive_type", "unsigned"),
        ("pointer_primitive_type: 999", "pointer_primitive_type", "no primitive type"),
        ("physical_shape {}", "physical_shape", "sparse"),
        ("format: SPARSE", "format", "sparse"),
        ("max_sparse_elements: 7", "max_sparse_elements", "sparse"),
        ("padding_value: 6", "padding_value", "no padding value has the number 6"),
        (
            "minor_to_major: 0 padded_dimensions: [3,5]",
            "padded_dimensions",
            "2 padded dimensions, but minor_to_major 1",
        ),
        ("minor_to_major: 0 padded_dimensions: -3", "padded_dimensions[0]", "-3 is negative"),
        (
            "minor_to_major: 0 padded_dimensions: 3",
            "padded_dimensions",
            "1 padded dimensions, which layouts no longer have",
        ),
    ] {
        let error = layout(rest).to_layout().unwrap_err();
        assert_eq!(error.name().unwrap_or_default(), field, "{rest}: {error}");
        assert!(error.to_string().contains(why), "{rest}: {error}");
        assert_eq!(Layout::from_proto_bytes(&layout(rest).encode_to_vec()).unwrap_err(), error);
    }
    // 0 means 1; the properties of sparse dims are dropped; dense is the only format.
    let ok = "minor_to_major: [1,0] tail_padding_alignment_in_elements: 0 format: DENSE \
        dim_level_types: [DIM_COMPRESSED,0] dim_unique: [true,false] dim_ordered: [] padding_value: ONE_PAD";
    assert_eq!(layout(ok).to_layout().unwrap(), Layout::descending(2));
    // Types of indices and pointers move no element, and are kept.
    let typed =
        layout("minor_to_major: [1,0] index_primitive_type: U32 pointer_primitive_type: U16");
    let read = typed.to_layout().unwrap();
    assert_eq!(read.to_string(), "{1,0:#(u32)*(u16)}");
    assert_eq!(Layout::parse("{1,0:#(u32)*(u16)}").unwrap(), read);
    assert_eq!(read.to_proto().unwrap().to_layout().unwrap(), read);
}

#[test]
fn proto_row_124_splits() {
    for (splits, why) in [
        ("{ dimension: 3 split_indices: 30 }", "a split of physical dim 3 of 3"),
        (
            "{ split_indices: 30 } split_configs { split_indices: 40 }",
            "physical dim 0 is split twice",
        ),
        ("{ dimension: 1 split_indices: [40,30] }", "split index 30 after 40 in physical dim 1"),
        ("{ dimension: 1 split_indices: [0,40] }", "split index 0 after 0"),
        ("{ dimension: 1 split_indices: [40,200] }", "of extent 200"),
    ] {
        let text = format!(
            "element_type: F32 dimensions: [150,200,100] \
             layout {{ minor_to_major: [0,1,2] split_configs {splits} }}"
        );
        refused(&text, "layout", why);
    }
}

#[test]
fn proto_the_padding_of_the_first_years() {
    let text = "minor_to_major: [0,1] padded_dimensions: [3,5] padding_value: ZERO_PAD";
    let message = layout(text);
    assert_eq!(message, layout(&text.replace("dimensions", "dimension")));
    assert_eq!(message.text().to_string(), text);
    // Fields 1 and 2 packed, field 3 a number.
    let bytes = [0x0a, 2, 0, 1, 0x12, 2, 3, 5, 0x18, 1];
    assert_eq!(message.encode_to_vec(), bytes);
    assert_eq!(LayoutProto::decode(bytes.as_slice()), Ok(message.clone()));
    let (order, padded) = message.to_padded_layout().unwrap();
    let padded = padded.unwrap();
    assert_eq!((order.to_string(), padded.to_string()), ("{0,1}".into(), "pad(3,5)fill(0)".into()));
    assert_eq!(order.to_proto().unwrap().with_padding(&padded).unwrap(), message);
    let names = ["INVALID_PAD", "ZERO_PAD", "ONE_PAD", "LOWEST_PAD", "HIGHEST_PAD", "UNKNOWN_PAD"];
    let fills =
        [Fill::Unspecified, Fill::Zero, Fill::One, Fill::Lowest, Fill::Highest, Fill::Unknown];
    for ((number, name), fill) in (0..).zip(names).zip(fills) {
        let text = format!("minor_to_major: 0 padded_dimensions: 9 padding_value: {name}");
        let message = layout(&text);
        assert_eq!(message.padding_value, number);
        let padded = message.to_padded_layout().unwrap().1.unwrap();
        assert_eq!(padded.fill(), fill);
        assert_eq!(
            Layout::ascending(1).to_proto().unwrap().with_padding(&padded).unwrap(),
            message
        );
        assert_eq!(layout(&message.text().to_string()), message);
    }
    let bits = Padded::new(&[3], Fill::Bits(7));
    let plain = Layout::ascending(1).to_proto().unwrap();
    assert!(plain.clone().with_padding(&bits).unwrap_err().is_unsupported());
    let wide = Padded::new(&[u64::MAX], Fill::Zero);
    assert_eq!(plain.with_padding(&wide).unwrap_err().name().unwrap(), "padded_dimensions[0]");
}

#[test]
fn a_padded_shape_is_its_message() {
    let types = ["pred", "s4", "bf16", "f32", "c128"];
    let orders = ["{2,1,0}", "{0,1,2}", "{1,2,0}"];
    let fills = ["", "fill(0)", "fill(one)", "fill(lowest)"];
    for (element, order, fill) in
        types.iter().flat_map(|t| orders.iter().flat_map(move |o| fills.map(|f| (t, o, f))))
    {
        let text = format!("{element}[2,0,4]{order}pad(2,3,7){fill}");
        let padded = PaddedShape::parse(&text).unwrap();
        let message = padded.to_proto().unwrap();
        assert_eq!(PaddedShape::from_proto(&message).unwrap(), padded, "{text}");
        let bytes = ShapeProto::decode(&*message.encode_to_vec()).unwrap();
        assert_eq!(PaddedShape::from_proto(&bytes).unwrap(), padded, "{text}");
    }
    let bits = PaddedShape::parse("f32[2]pad(3)fill(0x7)").unwrap().to_proto().unwrap_err();
    assert_eq!(bits.name().unwrap(), "layout.padding_value");
    let tuple = Shape::parse("(f32[2], token[])").unwrap().to_proto().unwrap();
    assert_eq!(PaddedShape::from_proto(&tuple).unwrap_err().name().unwrap(), "element_type");
}

#[test]
fn proto_padded_shapes() {
    let text = "element_type: TUPLE tuple_shapes { element_type: TOKEN } tuple_shapes { \
        element_type: F32 dimensions: [2,3] layout { minor_to_major: [0,1] padded_dimensions: [3,5] } }";
    let (value, padding) = proto(text).to_padded_shape().unwrap();
    assert_eq!(value.to_string(), "(token[], f32[2,3]{0,1})");
    assert_eq!(padding.len(), 1);
    assert_eq!(padding[0].0, ShapeIndex::new(&[1]));
    assert_eq!(padding[0].1.to_string(), "pad(3,5)");
    refused(text, "tuple_shapes[1].layout.padded_dimensions", "no longer");
    let small = proto(&text.replace("[3,5]", "[3,2]")).to_padded_shape().unwrap_err();
    assert!(
        small.to_string().contains("padded to 2, smaller than the dimension size 3"),
        "{small}"
    );
    let count = proto(&text.replace("[3,5]", "[3]")).to_padded_shape().unwrap_err();
    assert!(count.to_string().contains("1 padded dimensions, but minor_to_major 2"), "{count}");
}

#[test]
fn proto_depth_and_rank_are_bounded() {
    let mut deepest = Shape::token();
    for _ in 0..Shape::MAX_DEPTH {
        deepest = Shape::tuple(vec![deepest]).unwrap();
    }
    let bytes = deepest.to_proto_bytes().unwrap();
    assert_eq!(Shape::from_proto_bytes(&bytes).unwrap(), deepest);
    let text = deepest.to_proto().unwrap().text().to_string();
    assert_eq!(proto(&text).to_shape().unwrap(), deepest);
    // One level more is still a proto, but not a shape.
    let mut message = deepest.to_proto().unwrap();
    message = ShapeProto { element_type: 13, tuple_shapes: vec![message], ..ShapeProto::default() };
    let error = Shape::from_proto_bytes(&message.encode_to_vec()).unwrap_err();
    assert!(error.is_limit(), "{error}");
    assert!(message.to_shape().unwrap_err().is_limit());
    // Many levels more are not: 100,000 tuples, each the only member of the one before. Written from the innermost
    // outwards, back to front.
    let mut bytes = vec![13, 0x10];
    for _ in 0..100_000 {
        let mut outer = Vec::with_capacity(bytes.len() + 8);
        prost::encoding::encode_varint(bytes.len() as u64, &mut outer);
        bytes.extend(outer.iter().rev());
        bytes.push(0x22);
    }
    bytes.reverse();
    let error = Shape::from_proto_bytes(&bytes).unwrap_err();
    assert!(error.is_parse() && error.to_string().contains("recursion"), "{error}");
    assert!(error.to_string().len() < 500);
    let text = "tuple_shapes {".repeat(100_000);
    assert!(ShapeProto::parse(&text).unwrap_err().cause().unwrap().is_limit());
    let text = "layout { physical_shape {".repeat(100_000);
    assert!(ShapeProto::parse(&text).unwrap_err().cause().unwrap().is_limit());

    let rank = |rank: usize| ShapeProto {
        element_type: 2,
        dimensions: vec![1; rank],
        ..ShapeProto::default()
    };
    assert!(rank(ArrayShape::MAX_RANK).to_shape().is_ok());
    for dims in [ArrayShape::MAX_RANK + 1, 1_000_000] {
        let error = Shape::from_proto_bytes(&rank(dims).encode_to_vec()).unwrap_err();
        assert!(error.is_limit() && error.name().unwrap_or_default() == "dimensions", "{error}");
        let order =
            LayoutProto { minor_to_major: (0..dims as i64).collect(), ..LayoutProto::default() };
        assert!(order.to_layout().unwrap_err().is_limit());
    }
}

#[test]
fn proto_programs() {
    let program =
        ProgramShape::parse("((unknown): opaque[], scalar: f32[]) -> (f32[2]{0})").unwrap();
    let message = program.to_proto().unwrap();
    assert_eq!(message.parameter_names, ["", "scalar"]);
    let text = message.text().to_string();
    assert_eq!(ProgramShapeProto::parse(&text), Ok(message));
    let bytes = program.to_proto_bytes().unwrap();
    assert_eq!(ProgramShape::from_proto_bytes(&bytes).unwrap(), program);
    for (text, field) in [
        ("", "result"),
        ("result { element_type: F32 } parameter_names: \"a\"", "parameter_names"),
        ("result { element_type: 99 }", "result.element_type"),
        ("parameters { element_type: TOKEN dimensions: 1 }", "parameters[0].dimensions"),
    ] {
        let error = ProgramShapeProto::parse(text).unwrap().to_program_shape().unwrap_err();
        assert_eq!(error.name().unwrap_or_default(), field, "{error}");
    }
    let unnamed = "parameters { element_type: F32 } result < element_type: TOKEN >";
    let unnamed = ProgramShapeProto::parse(unnamed).unwrap().to_program_shape().unwrap();
    assert_eq!(unnamed.to_string(), "((unknown): f32[]) -> token[]");
}

#[test]
fn proto_values_beyond_63_bits_have_no_message() {
    let dims = Shape::array(ArrayShape::new(PrimitiveType::U8, &[1, u64::MAX]));
    let pair = Shape::tuple(vec![Shape::token(), dims]).unwrap();
    assert_eq!(pair.to_proto().unwrap_err().name().unwrap(), "tuple_shapes[1].dimensions[1]");
    let split = tilewright_xla::Split { dimension: 0, indices: vec![1, u64::MAX] };
    let error = Layout::ascending(1).with_splits(&[split]).to_proto().unwrap_err();
    assert_eq!(error.name().unwrap_or_default(), "split_configs[0].split_indices[1]");
}

#[test]
fn proto_text_other_spellings() {
    let plain = proto("element_type: TUPLE tuple_shapes { element_type: S32 dimensions: [16,8] }");
    for text in [
        "element_type: 13, tuple_shapes: { element_type: 4; dimensions: 0x10 dimensions: 010 }",
        "element_type:TUPLE tuple_shapes:[{element_type:S32 dimensions:[16] dimensions:[8]}]",
        "# a comment\nelement_type: TUPLE # another { \n tuple_shapes < element_type: S32, dimensions: [ 16 , 8 ] >",
        "tuple_shapes { dimensions: [] dimensions: [16,8], element_type: S32 } tuple_shapes: [] element_type: TUPLE",
    ] {
        assert_eq!(proto(text), plain, "{text}");
    }
    let all = PrimitiveType::all().map(|one| one.number());
    for number in all {
        let message = ShapeProto { element_type: number, ..ShapeProto::default() };
        assert_eq!(proto(&message.text().to_string()), message);
    }
}

#[test]
fn proto_text_at_fault() {
    for (text, span, why) in [
        ("minor_to_major", (14, 14), "expected `:`"),
        ("minor_to_major: ", (16, 16), "expected an integer"),
        ("minor_to_major: [0,1", (20, 20), "expected `,` or `]`"),
        ("minor_to_major: 9223372036854775808", (16, 35), "the integer does not fit 64 bits"),
        ("minor_to_major: 1x", (16, 18), "the integer does not fit 64 bits"),
        ("minor_to_minor: 1", (0, 14), "not a field of LayoutProto"),
        ("memory_space: 1 memory_space: 2", (16, 28), "for the second time"),
        ("tiles { dims: 1 }", (8, 12), "not a field of TileProto"),
        ("tiles { dimensions: 1", (21, 21), "the name of a field"),
        ("tiles: 1", (7, 8), "expected a message in braces"),
        ("split_configs { index: 1 }", (16, 21), "not a field of SplitConfigProto"),
        ("padding_value: ZERO", (15, 19), "not a name of this enum"),
        ("padding_value: [", (15, 16), "an enum's name or number"),
        ("padding_value: 4294967296", (15, 25), "beyond 32 bits"),
        ("dim_unique: yes", (12, 15), "expected `true` or `false`"),
        ("physical_shape { rank: 2 }", (17, 21), "not a field of ShapeProto"),
        ("}", (0, 1), "the name of a field"),
        ("é", (0, 2), "the name of a field"),
    ] {
        let error = LayoutProto::parse(text).unwrap_err();
        assert_eq!(error.span(), span, "{text}: {error}");
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    for (text, why) in [
        ("parameter_names: a", "expected a string"),
        ("parameter_names: \"a\\n\"", "without escapes"),
        ("parameter_names: \"a", "without escapes"),
        ("name: 1", "not a field of ProgramShapeProto"),
    ] {
        let error = ProgramShapeProto::parse(text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
}

#[test]
fn proto_bytes_that_are_none() {
    for bytes in [&[0x10][..], &[0x10, 0xff], &[0x12, 0], &[0x22, 5, 0], &[0x07]] {
        let error = Shape::from_proto_bytes(bytes).unwrap_err();
        assert!(error.is_parse() && error.name().is_none(), "{error}");
        assert!(error.to_string().starts_with("the bytes are not a valid proto"), "{error}");
    }
    // Unknown fields, and unpacked numbers, are read as by any reader.
    let loose = [0x10, 2, 0x18, 4, 0x18, 5, 0x98, 0x06, 1, 0x08, 3];
    assert_eq!(Shape::from_proto_bytes(&loose).unwrap().to_string(), "s8[4,5]");
}

/// Returns every `ShapeProto` of a recorded module, as bytes: fields 3 of the instructions.
fn recorded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let inner = |messages: Vec<Vec<u8>>, field| -> Vec<Vec<u8>> {
        messages.iter().flat_map(|message| fields(message, field)).collect()
    };
    inner(inner(fields(bytes, 3), 2), 3)
}

/// Returns the contents of a field of messages or bytes.
fn fields(mut bytes: &[u8], field: u64) -> Vec<Vec<u8>> {
    use prost::encoding::decode_varint;
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = decode_varint(&mut bytes).unwrap();
        match key & 7 {
            0 => {
                decode_varint(&mut bytes).unwrap();
            }
            2 => {
                let len = decode_varint(&mut bytes).unwrap() as usize;
                let (content, rest) = bytes.split_at(len);
                if key >> 3 == field {
                    found.push(content.to_vec());
                }
                bytes = rest;
            }
            1 => bytes = &bytes[8..],
            _ => bytes = &bytes[4..],
        }
    }
    found
}

#[test]
fn proto_bytes_are_xlas_byte_for_byte() {
    let mut count = 0;
    for name in ["cnn", "rng", "scan_fft"] {
        let path = format!("{}/../../corpus/data/hlo/{name}.pb", env!("CARGO_MANIFEST_DIR"));
        let module = std::fs::read(path).unwrap();
        for bytes in recorded(&module) {
            let value = Shape::from_proto_bytes(&bytes).unwrap();
            assert_eq!(value.to_proto_bytes().unwrap(), bytes, "{value}");
            count += 1;
        }
        for bytes in fields(&module, 4) {
            let program = ProgramShape::from_proto_bytes(&bytes).unwrap();
            assert_eq!(program.to_proto_bytes().unwrap(), bytes, "{program}");
            count += 1;
        }
    }
    assert_eq!(count, 22 + 12 + 59 + 3);
}

proptest! {
    #[test]
    fn proto_no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), tags in prop::collection::vec((0u8..18, 0u8..3, 0u8..20), 0..20)) {
        let like: Vec<u8> = tags.iter().flat_map(|&(field, wire, value)| {
            if field > 15 { vec![0x80 | wire, 1, value] } else { vec![field << 3 | wire, value] }
        }).collect();
        for bytes in [&bytes, &like] {
            if let Ok(shape) = Shape::from_proto_bytes(bytes) {
                let again = Shape::from_proto_bytes(&shape.to_proto_bytes().unwrap());
                prop_assert_eq!(again.unwrap(), shape);
            }
            if let Ok(layout) = Layout::from_proto_bytes(bytes) {
                let again = Layout::from_proto_bytes(&layout.to_proto_bytes().unwrap());
                prop_assert_eq!(again.unwrap(), layout);
            }
            let _ = ProgramShape::from_proto_bytes(bytes);
            if let Ok(message) = LayoutProto::decode(bytes.as_slice()) {
                let _ = message.to_padded_layout();
                let text = message.text().to_string();
                prop_assert_eq!(LayoutProto::parse(&text).unwrap(), message);
            }
            if let Ok(message) = ShapeProto::decode(bytes.as_slice()) {
                let _ = message.to_padded_shape();
                let text = message.text().to_string();
                prop_assert_eq!(ShapeProto::parse(&text).unwrap(), message);
            }
        }
    }

    #[test]
    fn proto_no_text_is_a_panic(any in any::<String>(), pieces in prop::collection::vec(prop::sample::select(vec![
        "minor_to_major", "tiles", "layout", "dimensions", "element_type", "tuple_shapes", "physical_shape", "padding_value",
        ": ", "{ ", "} ", "[", "]", ",", "1 ", "-", "F32 ", "\"a\" ", "true ", "é", "# \n", "<", ">", " ",
    ]), 0..20)) {
        for text in [any, pieces.concat()] {
            let errors = [
                LayoutProto::parse(&text).err(),
                ShapeProto::parse(&text).err(),
                ProgramShapeProto::parse(&text).err(),
            ];
            for error in errors.into_iter().flatten() {
                let (from, to) = error.span();
                prop_assert!(from <= to && to <= text.len() && text.get(from..to).is_some(), "{text}");
                prop_assert!(!error.render(&text).to_string().is_empty());
            }
        }
    }
}
