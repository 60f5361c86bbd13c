//! CuTe as its C++ code writes it: what the texts mean, and that what is printed is read back.

use proptest::prelude::*;
use tilewright_core::{Layout, TensorLayout};
use tilewright_notation::{Spec, dtype, notation};

/// The layout of a text in CuTe's own words, or the message of its refusal.
fn read(text: &str, element: Option<&str>) -> Result<String, String> {
    let element = element.map(|name| dtype(name).unwrap());
    let named = Spec::parse(text).and_then(|spec| spec.resolve(None, element));
    named.map(|named| named.layout().layout().to_string()).map_err(|error| error.to_string())
}

#[test]
fn what_cute_prints_and_what_its_code_writes_is_read() {
    for (text, element, layout) in [
        ("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", None, "Sw<3,3,3> o (8,64):(64,1)"),
        (
            "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)",
            Some("bf16"),
            "Sw<3,3,3> o (8,64):(64,1)",
        ),
        ("Sw<3,4,3> o smem_ptr o (_8,_64):(_64,_1)", Some("f16"), "Sw<3,3,3> o (8,64):(64,1)"),
        (
            "Sw<3,4,3> o smem_ptr[8b](unset) o (_8,_128):(_128,_1)",
            None,
            "Sw<3,4,3> o (8,128):(128,1)",
        ),
        (
            "Sw<3,4,3> o smem_ptr[4b](unset) o (_8,_256):(_256,_1)",
            None,
            "Sw<3,5,3> o (8,256):(256,1)",
        ),
        ("Sw<1,4,3> o smem_ptr[32b](unset) o (_8,_8):(_8,_1)", None, "Sw<1,2,3> o (8,8):(8,1)"),
        ("make_layout(make_shape(4,8),make_stride(8,1))", None, "(4,8):(8,1)"),
        (
            "make_layout(make_shape(4, make_shape(2, 4)), LayoutRight{})",
            None,
            "(4,(2,4)):(8,(4,1))",
        ),
        ("make_layout(Shape<_4,_8>{})", None, "(4,8):(1,4)"),
        (
            "cute::make_layout(cute::make_shape(Int<4>{}, 8), cute::GenRowMajor{})",
            None,
            "(4,8):(8,1)",
        ),
        ("Layout<Shape<_8,_64>,Stride<_64,_1>>", None, "(8,64):(64,1)"),
        (
            "Layout<Shape<Int<8>,Shape<_2,_4>>,Stride<_1,Stride<_32,_8>>>{}",
            None,
            "(8,(2,4)):(1,(32,8))",
        ),
        ("Layout<_8,_1>", None, "8:1"),
        ("make_layout((4,2), (1,4))", None, "(4,2):(1,4)"),
        ("make_layout((4,2))", None, "(4,2):(1,4)"),
        ("make_layout(5,2)", None, "5:2"),
        ("make_layout(5)", None, "5:1"),
        ("make_layout(4:1, Layout<_2,_4>{}, make_layout(3, 8));", None, "(4,2,3):(1,4,8)"),
        ("make_layout((2,2):(1,2), (3):(4))", None, "((2,2),(3)):((1,2),(4))"),
        ("make_layout(make_shape(Int<8>(), cute::_4{}), cute::LayoutLeft{});", None, "(8,4):(1,8)"),
        ("gmem_ptr[16b](0x7f0000400) o (_8,4):(_4,_1)", None, "(8,4):(4,1)"),
        ("smem_ptr[16b](0x400) o (_8,4):(_4,_1)", Some("f16"), "(8,4):(4,1)"),
        ("ptr[32b](0x7f0000400) o 8:1", None, "8:1"),
        ("composition(Swizzle<1,0,1>{},8:1)", None, "Sw<1,0,1> o 8:1"),
        (
            "Sw<1,4,3> o smem_ptr[32b](0x7f0000400) o (_8,_8):(_8,_1)",
            None,
            "Sw<1,2,3> o (8,8):(8,1)",
        ),
        (
            "composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
            None,
            "Sw<3,3,3> o (8,64):(64,1)",
        ),
        (
            "ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<Shape<_8,_64>,Stride<_64,_1>>>",
            None,
            "Sw<3,3,3> o (8,64):(64,1)",
        ),
        (
            "ComposedLayout<Swizzle<2,4,3>,smem_ptr_flag,Layout<Shape<_8,_16>,Stride<_16,_1>>>",
            Some("f32"),
            "Sw<2,2,3> o (8,16):(16,1)",
        ),
        (
            "ComposedLayout<Swizzle<2,2,3>,_0,Layout<Shape<_8,_16>,Stride<_16,_1>>>",
            None,
            "Sw<2,2,3> o (8,16):(16,1)",
        ),
    ] {
        assert_eq!(read(text, element), Ok(layout.to_owned()), "{text}");
    }
}

#[test]
fn what_is_no_layout_is_refused_with_its_reason() {
    for (text, element, why) in [
        ("Sw<3,4,3> o smem_ptr o (_8,_64):(_64,_1)", None, "dtype"),
        ("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", Some("f32"), "32 bits"),
        ("Sw<3,1,3> o smem_ptr[32b](unset) o (_8,_64):(_64,_1)", None, "within an element"),
        ("Sw<3,4,3> o smem_ptr[24b](unset) o (_8,_64):(_64,_1)", None, "power of two"),
        ("Sw<3,4,3> o smem_ptr[16b](unset) o Sw<1,2,3> o (_8,_64):(_64,_1)", None, "one swizzle"),
        ("make_layout(make_shape(4,8),make_stride(8))", None, "bracketed unlike"),
        ("make_layout(make_shape(4,8)", None, "`)`"),
        ("make_layout(4:1, (2,3))", None, "`:`"),
        ("make_layout((4,8),(8,1),2)", None, "`)`"),
        ("gmem_ptr[16b](0x7f0000400) o (8,4):(4,1)", Some("f32"), "32 bits"),
        ("Layout<Shape<_8,_64>,Stride<_64,_1>", None, "`>`"),
        ("make_layout(make_shape(-4,8))", None, "-4"),
        ("make_layout(make_shape(-4,8),make_stride(1,4))", None, "extent -4"),
        ("Layout<Shape<Int<-4>,_8>,Stride<_1,_4>>", None, "extent -4"),
        (
            "ComposedLayout<Swizzle<2,2,3>,_4,Layout<Shape<_8,_16>,Stride<_16,_1>>>",
            None,
            "must be 0",
        ),
        ("composition(Swizzle<2,2>{}, Layout<_8,_1>{})", None, "three numbers"),
    ] {
        let said = read(text, element).expect_err(text);
        assert!(said.contains(why), "{text}: {said}");
    }
    let deep = format!("make_layout({}1{})", "make_shape(".repeat(40_000), ")".repeat(40_000));
    assert!(read(&deep, None).is_err());
}

/// A layout with brackets at random.
fn layouts() -> impl Strategy<Value = String> {
    let axis = prop::collection::vec((1u64..5, 0i64..40), 1..3);
    (prop::collection::vec(axis, 1..4), prop::option::of((1u8..3, 0u8..3))).prop_map(
        |(axes, swizzle)| {
            let side = |of: &dyn Fn(&(u64, i64)) -> String| {
                let axes: Vec<String> = axes
                    .iter()
                    .map(|modes| match &modes[..] {
                        [one] => of(one),
                        all => format!("({})", all.iter().map(of).collect::<Vec<_>>().join(",")),
                    })
                    .collect();
                format!("({})", axes.join(","))
            };
            let text = format!(
                "{}:{}",
                side(&|mode| mode.0.to_string()),
                side(&|mode| mode.1.to_string())
            );
            swizzle
                .map_or(text.clone(), |(bits, base)| format!("Sw<{bits},{base},{bits}> o {text}"))
        },
    )
}

proptest! {
    /// What is printed is read back as the same layout, swizzles and brackets included.
    #[test]
    fn printed_layouts_are_read_back(text in layouts()) {
        let layout = Layout::parse(&text).unwrap();
        let named = Spec::parse(&text).unwrap().resolve(None, None).unwrap();
        let printed = notation("cutlass").unwrap().print(&named).unwrap();
        let back = Spec::parse(&printed).unwrap().resolve(None, None).unwrap();
        prop_assert_eq!(back.layout(), &TensorLayout::of(&layout), "{}", printed);
    }

    /// A swizzled pointer means what the swizzle of its bytes does: element by element, the byte it moves to.
    #[test]
    fn a_swizzled_pointer_permutes_bytes(bits in 0u8..3, base in 4u8..6, log in 0u32..3, rows in 1u64..17) {
        let width = 8u64 << log;
        let columns = 1024 / width;
        let text = format!("Sw<{bits},{base},3> o smem_ptr[{width}b](unset) o (_{rows},_{columns}):(_{columns},_1)");
        let named = Spec::parse(&text).unwrap().resolve(None, None).unwrap();
        let bytes = Layout::parse(&format!("Sw<{bits},{base},3> o ({rows},128):(128,1)")).unwrap();
        let bytes = TensorLayout::of(&bytes);
        for row in 0..rows {
            for column in 0..columns {
                let element = named.layout().offset(&[row, column]).unwrap();
                let byte = bytes.offset(&[row, column * width / 8]).unwrap();
                prop_assert_eq!(element * (width as i64) / 8, byte);
            }
        }
    }
}
