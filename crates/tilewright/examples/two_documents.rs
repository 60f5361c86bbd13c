//! Two documents as one program: XLA's "Shapes and Layout" and CATLASS's "TLA Layouts". Each of their examples and main
//! statements is a line here that is checked.
//!
//! `cargo run --example two_documents --no-default-features --features questions,xla`

use tilewright::{
    draw::{self, Limits, Subject},
    fixed::{
        _1, _2, _3, _4, _12, _16, _32, _48, FixedTuple, Format, crd2offset, make_layout,
        make_layout_tile, nN, nZ, zN, zZ,
    },
    prelude::*,
    xla::index_util::{linear_index, multi_index},
};

/// XLA: shape, layout, default layout, linear indices.
fn shapes_and_layouts() -> Result<(), Error> {
    // A shape is an element type and the size of each dim, numbered from 0; the rank is their number.
    let shape = ArrayShape::try_new(PrimitiveType::F32, &[10, 20])?;
    assert_eq!((shape.dims().len(), shape.extent(0)?, shape.extent(-1)?), (2, 10, 20));
    // Negative numbers count from the last dim.
    let image = ArrayShape::try_new(PrimitiveType::F32, &[10, 20, 30, 40])?;
    assert_eq!(
        (image.extent(-2)?, image.layout_or_default().to_string()),
        (30, "{3,2,1,0}".into())
    );
    // The true rank is the number of dims of more than one element.
    assert_eq!(ArrayShape::try_new(PrimitiveType::F32, &[3, 1, 5])?.lower()?.true_rank(), 2);
    // A layout lists the dims from the minor to the major one.
    let columns = XlaLayout::new(&[0, 1])?;
    let rows = XlaLayout::new(&[1, 0])?;
    assert!(columns.is_dim0_minor() && rows.is_dim0_major());
    // The default layout is row-major: dim 0 is the most major.
    assert_eq!(shape.layout_or_default(), rows);
    // Of the matrix a b c / d e f, the minor dim 0 stores a d b e c f, the minor dim 1 a b c d e f.
    let small = ArrayShape::try_new(PrimitiveType::U8, &[2, 3])?;
    let stored = |order: &XlaLayout| -> Result<String, Error> {
        let layout = order.lower(&[2, 3])?;
        let mut data = [0u8; 6];
        let mut view = ViewMut::new(&mut data, &layout)?;
        for (i, letter) in b"abcdef".iter().enumerate() {
            view[[i / 3, i % 3]] = *letter;
        }
        Ok(String::from_utf8_lossy(&data).into_owned())
    };
    assert_eq!((stored(&columns)?, stored(&rows)?), ("adbecf".into(), "abcdef".into()));
    // One dim becomes the most major; the others keep their order.
    assert_eq!(columns.with_dim_major(0)?, rows);
    // IndexUtil: the linear index of (3,5) in 10×20, by column and by row, and back.
    assert_eq!(linear_index(&[10, 20], columns.minor_to_major(), &[3, 5])?, 53);
    assert_eq!(linear_index(&[10, 20], rows.minor_to_major(), &[3, 5])?, 65);
    assert_eq!(multi_index(&[10, 20], columns.minor_to_major(), 53)?, [3, 5]);
    assert_eq!(multi_index(&[10, 20], rows.minor_to_major(), 65)?, [3, 5]);
    // `try_new` refuses impossible shapes.
    assert!(ArrayShape::try_new(PrimitiveType::Token, &[2]).is_err());
    assert!(ArrayShape::try_new(PrimitiveType::F32, &[u64::MAX, 4]).is_err());
    padding(&small, &columns, &rows)
}

/// XLA: padded dimensions, the padding value.
fn padding(small: &ArrayShape, columns: &XlaLayout, rows: &XlaLayout) -> Result<(), Error> {
    let padded = |order: &XlaLayout| {
        let shape = ArrayShape::with_layout(small.element_type(), small.dims(), order)?;
        PaddedShape::new(&shape, &[3, 5], PaddingValue::Zero)
    };
    // The widths are the padded extents of the dims; the value is the contents of the padding.
    let shape = padded(columns)?;
    assert_eq!((shape.extents(), shape.widths()), (&[2, 3][..], &[3, 5][..]));
    assert_eq!(shape.padding_value(), Some(PaddingValue::Zero));
    // There is a width for each dim, and each is at least the extent of its dim.
    let widths = |widths: &[u64]| PaddedShape::new(small, widths, PaddingValue::Zero);
    assert!(widths(&[3]).is_err_and(|error| error.is_mismatch()));
    assert!(widths(&[3, 2]).is_err_and(|error| error.is_illegal()));
    // Without a value the padding may hold anything.
    assert_eq!(PaddedShape::parse("u8[2,3]pad(3,5)")?.padding_value(), Some(PaddingValue::Invalid));
    // Padded to 3×5 with 0: a d 0 b e 0 c f 0 0 0 0 0 0 0, and a b c 0 0 d e f 0 0 0 0 0 0 0.
    for (order, text) in [(columns, "ad0be0cf0000000"), (rows, "abc00def0000000")] {
        let layout = padded(order)?.tensor().clone();
        let mut data = vec![b'?'; layout.capacity() as usize];
        let mut view = ViewMut::new(&mut data, &layout)?;
        for (i, letter) in b"abcdef".iter().enumerate() {
            view[[i / 3, i % 3]] = *letter;
        }
        view.fill_padding(b'0')?;
        assert_eq!(String::from_utf8_lossy(&data), text);
    }
    // Padding counts in the size: f32[10,20] padded to 15×21 takes 1260 bytes.
    let sized = PaddedShape::parse("f32[10,20]{0,1}pad(15,21)")?;
    assert!(sized.is_padded() && sized.bytes() == 1260);
    // From an offset back to an element, or to padding.
    let indexer = Indexer::of_padded(&shape);
    assert_eq!((indexer.offset(&[1, 2])?, indexer.locate(7)), (7, Place::Element(vec![1, 2])));
    assert_eq!((indexer.locate(8), indexer.locate(15)), (Place::Padding, Place::OutOfRange));
    Ok(())
}

/// TLA: integers, tuples, layouts.
fn tuples_and_layouts() {
    // An integer is static or dynamic; a tuple nests them.
    let tuple = ((_4, 3), _2);
    assert_eq!((tuple.rank(), tuple.depth(), tuple.size()), (2, 2, 24i64));
    assert_eq!((3.depth(), tuple.at((tilewright::fixed::_0,)).rank()), (0, 2));
    assert_eq!(tuple.at((tilewright::fixed::_0, _1)).display().to_string(), "3");
    // MakeShape, MakeStride, MakeCoord are tuples; MakeLayout takes shape and stride.
    let mixed = make_layout((_2, 4), (_12, _1));
    assert_eq!(mixed.to_string(), "(_2,4):(_12,_1)");
    // Row-major and column-major.
    assert_eq!(make_layout((2, 3), (3, 1)).offset((1, 2)), 5);
    assert_eq!(make_layout((2, 3), (1, 2)).offset((1, 0)), 1);
    // Rank, depth, shape and stride of a layout, and of a part of it.
    let nested = make_layout(((4, 2), (4, 3)), ((4, 16), (1, 32)));
    assert_eq!((nested.rank(), nested.depth(), nested.get::<1>().depth()), (2, 2, 1));
    assert_eq!(nested.at((_1, _1)).to_string(), "3:32");
    assert_eq!(nested.shape().display().to_string(), "((4,2),(4,3))");
    assert_eq!(nested.stride().display().to_string(), "((4,16),(1,32))");
    // The coordinate (1,5) is at 37, in any spelling of it.
    assert_eq!(crd2offset((1, 5), nested.shape(), nested.stride()), 37);
    assert_eq!((nested.offset((1, (1, 1))), nested.offset(((1, 0), (1, 1)))), (37, 37));
    // The tile of 4×4 keeps blocks and strides.
    let tile = make_layout_tile(nested, (4, 4));
    assert_eq!(tile.to_string(), "((4,1),(4,1)):((4,16),(1,32))");
    // Static integers take no memory.
    let fixed = make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
    assert_eq!((size_of_val(&fixed), fixed.offset((1, 5))), (0, 37));
    assert!(fixed == nested);
}

/// TLA: the printed grid of the 8×12 example.
fn grid() -> Result<(), Error> {
    let nested = Layout::parse("((4,2),(4,3)):((4,16),(1,32))")?;
    let tensor = TensorLayout::from(&nested);
    let scene = draw::grid(&Subject::new(&tensor).boxed(), &Limits::default())?;
    let text = scene.to_terminal(false);
    let row = |i: usize| -> Vec<u64> {
        let line = text.lines().nth(4 + 2 * i).unwrap_or("");
        line.split('|').skip(1).filter_map(|cell| cell.trim().parse().ok()).collect()
    };
    assert_eq!(row(0), [0, 1, 2, 3, 32, 33, 34, 35, 64, 65, 66, 67]);
    assert_eq!(row(7), [28, 29, 30, 31, 60, 61, 62, 63, 92, 93, 94, 95]);
    println!("{text}");
    Ok(())
}

/// TLA: the private formats.
fn formats() -> Result<(), Error> {
    // 32×48 of 16 bits in zN: blocks of 16×16.
    let w32xh48 = zN::layout(_32, _48, _16);
    assert_eq!(w32xh48.to_string(), "((_16,_2),(_16,_3)):((_16,_256),(_1,_512))");
    // The small letter is the order in a block, the capital one the order of the blocks: n and N are column-major.
    let place = (17, 18);
    assert_eq!(nZ::layout(32, 48, 16).offset(place), 1057);
    assert_eq!(zZ::layout(32, 48, 16).offset(place), 1042);
    assert_eq!(nN::layout(32, 48, 16).offset(place), 801);
    assert_eq!(zN::layout(32, 48, 16).offset(place), 786);
    // A block has 32 bytes along one side: of 4-byte elements, 16×8.
    assert_eq!(zN::try_layout(100, 100, 32)?.offset((16, 16)), 1920);
    // `try_layout` refuses a width that formats do not support.
    assert!(zN::try_layout(20, 20, 24).is_err());
    // The format `zN` as text.
    let text = parse("zN")?.resolve(Some(&[32, 48]), Some(Dtype::F16))?;
    assert_eq!(text.layout().layout(), &w32xh48.layout().into());
    Ok(())
}

fn main() -> Result<(), Error> {
    shapes_and_layouts()?;
    tuples_and_layouts();
    grid()?;
    formats()
}

#[test]
fn every_statement_holds() {
    main().unwrap();
}
