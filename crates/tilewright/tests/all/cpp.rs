//! Texts of CuTe's C++: an expression and a SPEC are the same layout.

use tilewright::{Spec, eval::evaluate};

const TEXTS: [(&str, &str); 18] = [
    ("make_layout(make_shape(cute::Int<4>{},cute::Int<8>{}))", "(4,8):(1,4)"),
    ("cute::make_layout(cute::make_shape(cute::_4{}, cute::Int<8>{}))", "(4,8):(1,4)"),
    ("make_layout(cute::make_shape(4,8), cute::make_stride(8,1))", "(4,8):(8,1)"),
    ("make_layout(make_shape(Int<4>{}, 8), make_stride(_8{}, Int<1>()));", "(4,8):(8,1)"),
    ("make_layout(make_shape(4, make_shape(2,4)), LayoutRight{})", "(4,(2,4)):(8,(4,1))"),
    ("make_layout((4,8), cute::LayoutLeft{})", "(4,8):(1,4)"),
    ("make_layout(make_shape(cute::_4{},8), cute::GenRowMajor{})", "(4,8):(8,1)"),
    ("make_layout(Int<5>{}, _2{})", "5:2"),
    ("make_layout(cute::Int<5>{}, cute::_2{})", "5:2"),
    ("make_layout(4:1, 2:4)", "(4,2):(1,4)"),
    ("make_layout((4,2):(1,8), 2:4)", "((4,2),2):((1,8),4)"),
    ("make_layout(make_layout(4, 2), cute::make_layout(cute::Int<3>{}, 1))", "(4,3):(2,1)"),
    ("Layout<Shape<_8,Shape<_2,_4>>,Stride<_1,Stride<_32,_8>>>{}", "(8,(2,4)):(1,(32,8))"),
    ("cute::Layout<cute::Shape<cute::_8,cute::_4>>", "(8,4):(1,8)"),
    ("Layout<Shape<_8,_64>,GenRowMajor>{}", "(8,64):(64,1)"),
    ("Layout<Shape<cute::C<8>,cute::C<4>>,Stride<cute::_4,cute::_1>>{}", "(8,4):(4,1)"),
    ("Layout<Layout<_4,_2>,Layout<_3,_1>>", "(4,3):(2,1)"),
    (
        "composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
        "Sw<3,3,3> o (8,64):(64,1)",
    ),
];

#[test]
fn an_expression_and_a_spec_read_the_same_layout() {
    for (text, layout) in TEXTS {
        let value = evaluate(text).unwrap_or_else(|error| panic!("{}", error.render()));
        assert_eq!(value.to_string(), layout, "{text}");
        let spec = Spec::parse(text).unwrap_or_else(|error| panic!("{}", error.render()));
        let named = spec.resolve(None, None).unwrap();
        assert_eq!(named.layout().layout().to_string(), layout, "{text}");
    }
}
