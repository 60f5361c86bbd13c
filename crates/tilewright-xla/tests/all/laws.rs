//! Laws over random layouts, and texts of any bytes.

use proptest::prelude::*;
use tilewright_core::{Layout as Strided, Place, TensorLayout};
use tilewright_xla::{
    ArrayShape, Dim, Layout, Padded, PrimitiveType, Split, Tile, TileDim, parse_fill,
};

/// Returns the offset by XLA's algorithm as stated, index by index, and the padded element count.
fn stated(layout: &Layout, dims: &[u64], index: &[u64]) -> (u64, u64) {
    let order = layout.minor_to_major().iter().rev().map(|&dim| dim as usize);
    let (mut e, mut d): (Vec<u64>, Vec<u64>) = order.map(|dim| (index[dim], dims[dim])).unzip();
    for tile in layout.tiles() {
        while d.len() < tile.dims().len() {
            e.insert(0, 0);
            d.insert(0, 1);
        }
        let at = d.len() - tile.dims().len();
        let (tail_e, tail_d) = (e.split_off(at), d.split_off(at));
        let (mut merged, mut carry) = (Vec::new(), (0, 1));
        for ((&x, &extent), dim) in tail_e.iter().zip(&tail_d).zip(tile.dims()) {
            carry = (carry.0 * extent + x, carry.1 * extent);
            if let TileDim::Size(size) = dim {
                merged.push((carry, *size));
                carry = (0, 1);
            }
        }
        e.extend(merged.iter().map(|((x, _), t)| x / t));
        d.extend(merged.iter().map(|((_, extent), t)| extent.div_ceil(*t)));
        e.extend(merged.iter().map(|((x, _), t)| x % t));
        d.extend(merged.iter().map(|(_, t)| t));
    }
    let offset = e.iter().zip(&d).fold(0, |offset, (x, extent)| offset * extent + x);
    (offset, d.iter().product::<u64>().next_multiple_of(layout.tail_padding_alignment()))
}

fn order(rank: usize) -> impl Strategy<Value = Vec<u64>> {
    Just((0..rank as u64).collect::<Vec<_>>()).prop_shuffle()
}

fn tile(largest: u64) -> impl Strategy<Value = Tile> {
    let dim = prop_oneof![
        4 => (1..=largest).prop_map(TileDim::Size),
        1 => Just(TileDim::Combine),
    ];
    (prop::collection::vec(dim, 0..3), 1..=largest).prop_map(|(mut dims, last)| {
        dims.push(TileDim::Size(last));
        Tile::new(&dims).unwrap()
    })
}

/// Dims and a layout of small arrays.
fn tiled(smallest: u64, rank: usize) -> impl Strategy<Value = (Vec<u64>, Layout)> {
    prop::collection::vec(smallest..=9, 0..=rank).prop_flat_map(|dims| {
        let tiles = prop::collection::vec(tile(6), 0..4);
        let alignment = prop_oneof![3 => Just(1), 1 => 1..40u64];
        (Just(dims.clone()), order(dims.len()), tiles, alignment).prop_map(
            |(dims, order, tiles, l)| {
                let layout = Layout::new(&order).unwrap().with_tiles(&tiles);
                (dims, layout.with_tail_padding_alignment(l).unwrap())
            },
        )
    })
}

fn coords(tensor: &TensorLayout) -> impl Iterator<Item = Vec<u64>> {
    let tensor = tensor.clone();
    (0..tensor.size()).map(move |index| tensor.coord_of(index).unwrap().as_slice().to_vec())
}

fn same_map(a: &TensorLayout, b: &TensorLayout) -> bool {
    a.capacity() == b.capacity() && coords(a).all(|coord| a.offset(&coord) == b.offset(&coord))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lowering_is_the_stated_algorithm((dims, layout) in tiled(0, 4)) {
        let tensor = match layout.lower(&dims) {
            Ok(tensor) => tensor,
            Err(error) => {
                prop_assert!(error.is_limit(), "{layout} of {dims:?}: {error}");
                return Ok(());
            }
        };
        for coord in coords(&tensor) {
            let (offset, padded) = stated(&layout, &dims, &coord);
            prop_assert_eq!(tensor.offset(&coord), Ok(offset as i64), "{} of {:?}", &layout, &dims);
            prop_assert_eq!(tensor.capacity(), padded);
        }
        if dims.contains(&0) {
            prop_assert_eq!(tensor.capacity(), 0);
        }
        if !tensor.is_strided() {
            return Ok(());
        }
        let raised = match Layout::of(&tensor) {
            Ok(raised) => raised,
            Err(error) => return Err(TestCaseError::fail(format!("{layout} of {dims:?}: {error}"))),
        };
        prop_assert!(same_map(&tensor, &raised.lower(&dims).unwrap()), "{layout} {raised} {dims:?}");
    }

    #[test]
    fn every_place_is_one_element_or_padding((dims, layout) in tiled(1, 3)) {
        let tensor = layout.lower(&dims).unwrap();
        prop_assume!(tensor.capacity() <= 5000);
        let mut found = vec![];
        for offset in 0..tensor.capacity() as i64 {
            if let Place::Element(coord) = tensor.locate(offset).unwrap() {
                prop_assert_eq!(tensor.offset(coord.as_slice()), Ok(offset));
                found.push(coord);
            }
        }
        prop_assert_eq!(found.len() as u64, tensor.size());
    }

    #[test]
    fn nested_digits_with_gaps_are_raised(
        (extents, owners, gaps) in (1..6usize).prop_flat_map(|digits| (
            prop::collection::vec(2..5u64, digits),
            prop::collection::vec(0..3usize, digits),
            prop::collection::vec(prop_oneof![3 => Just(0), 1 => 0..4u64], digits),
        )),
        (shuffle, short) in (any::<prop::sample::Index>(), 0..2u64),
    ) {
        // Digits in storage order, each owned by a dim; within a dim, in a rotated order of div.
        let (mut modes, mut end) = (vec![vec![]; 3], 1);
        for ((&extent, &owner), &gap) in extents.iter().zip(&owners).zip(&gaps) {
            let stride = end + gap;
            modes[owner].push(tilewright_core::Mode::new(extent, stride as i64));
            end = stride * extent;
        }
        for axis in &mut modes {
            if axis.is_empty() {
                axis.push(tilewright_core::Mode::new(1, 0));
            }
            let by = shuffle.index(axis.len());
            axis.rotate_left(by);
        }
        let counts: Vec<usize> = modes.iter().map(Vec::len).collect();
        let strided = Strided::nested(&modes.concat(), &counts).unwrap();
        let dims: Vec<u64> = (0..3).map(|axis| strided.axis_size(axis).unwrap()).collect();
        let dims: Vec<u64> = dims.iter().map(|&size| if size > 2 { size - short } else { size }).collect();
        let tensor = TensorLayout::new(&dims, &strided, end).unwrap();
        let raised = Layout::of(&tensor);
        prop_assert!(raised.is_ok(), "{tensor:?}: {raised:?}");
        prop_assert!(same_map(&tensor, &raised.unwrap().lower(&dims).unwrap()));
    }

    #[test]
    fn padding_is_an_array_of_the_widths(
        (dims, order, more) in (0..4usize).prop_flat_map(|rank| (
            prop::collection::vec(0..5u64, rank), order(rank), prop::collection::vec(0..4u64, rank),
        )),
    ) {
        let layout = Layout::new(&order).unwrap();
        let widths: Vec<u64> = dims.iter().zip(&more).map(|(dim, more)| dim + more).collect();
        let padded = Padded::new(&widths, tilewright_core::Fill::Zero);
        let (tensor, cells) = (padded.lower(&dims, &layout).unwrap(), layout.lower(&widths).unwrap());
        prop_assert_eq!(tensor.capacity(), cells.capacity());
        for coord in coords(&tensor) {
            prop_assert_eq!(tensor.offset(&coord), cells.offset(&coord));
        }
        if !dims.contains(&0) {
            let raised = Layout::of(&tensor).unwrap();
            prop_assert!(same_map(&tensor, &raised.lower(&dims).unwrap()));
        }
        prop_assert_eq!(Padded::parse(&padded.to_string()), Ok(padded));
    }

    #[test]
    fn printing_and_parsing_are_inverse(
        (dims, layout) in tiled(0, 4),
        element_type in prop::sample::select(PrimitiveType::all().filter(|t| t.is_array()).collect::<Vec<_>>()),
        kinds in prop::collection::vec(0..3, 4),
        (bits, space, prefix) in (0..70u64, 0..3u64, 0..3u64),
        splits in prop::collection::vec((0..4u64, prop::collection::vec(any::<u32>(), 1..3)), 0..3),
        plain in any::<bool>(),
    ) {
        let splits: Vec<Split> = splits
            .into_iter()
            .map(|(dimension, indices)| Split {
                dimension,
                indices: indices.into_iter().map(u64::from).collect(),
            })
            .collect();
        let layout = layout.with_splits(&splits)
            .with_element_size_in_bits(bits)
            .and_then(|layout| layout.with_memory_space(space))
            .and_then(|layout| layout.with_dynamic_metadata_prefix_bytes(prefix))
            .unwrap();
        let dim = |(&extent, kind): (&u64, &i32)| match kind {
            0 => Dim::Static(extent),
            1 => Dim::Bounded(extent),
            _ => Dim::Unbounded,
        };
        let dims = dims.iter().zip(&kinds).map(dim).collect();
        let layout = (!plain).then_some(layout).filter(|layout| *layout != Layout::descending(0));
        let shape = ArrayShape::from_parts(element_type, dims, layout);
        prop_assert_eq!(ArrayShape::parse(&shape.to_string()), Ok(shape));
    }

    #[test]
    fn no_text_is_a_panic(text in any::<String>(), like in "[a-f0-9sut\\[\\]{}(),:*TLESCMDP#?<=é/ -]{0,40}") {
        for text in [text.as_str(), &like, &format!("f32{like}"), &format!("f32[2,3]{{1,0:{like}")] {
            for error in [
                ArrayShape::parse(text).err(),
                Layout::parse(text).err(),
                Padded::parse(text).err(),
                parse_fill(text).err(),
                text.parse::<PrimitiveType>().err(),
            ].into_iter().flatten() {
                let (from, to) = error.span();
                prop_assert!(from <= to && to <= text.len() && text.get(from..to).is_some(), "{text}");
                prop_assert!(!error.render(text).to_string().is_empty());
            }
            if let Ok((shape, len)) = ArrayShape::parse_prefix(text) {
                prop_assert_eq!(ArrayShape::parse(&text[..len]), Ok(shape.clone()));
                let again = ArrayShape::parse(&shape.to_string()).unwrap();
                prop_assert_eq!(again.to_string(), shape.to_string());
            }
        }
    }

    #[test]
    fn no_size_is_a_panic(
        dims in prop::collection::vec(prop_oneof![0..4u64, any::<u64>()], 0..4),
        tiles in prop::collection::vec(prop::collection::vec(prop_oneof![1..4u64, 1..=i64::MAX as u64], 1..4), 0..3),
        alignment in 1..=i64::MAX as u64,
    ) {
        let tiles: Vec<Tile> = tiles.iter().map(|sizes| Tile::sizes(sizes).unwrap()).collect();
        for tiles in [&tiles[..], &[]] {
            let layout = Layout::descending(dims.len()).with_tiles(tiles);
            for layout in [layout.clone().with_tail_padding_alignment(alignment).unwrap(), layout] {
                if let Ok(tensor) = layout.lower(&dims) {
                    prop_assert_eq!(layout.padded_elements(&dims), Ok(tensor.capacity()));
                    prop_assert!(Layout::of(&tensor).is_ok() || !tensor.is_strided());
                }
            }
        }
    }
}

/// Tiles larger than the dims that they tile, under merges: former seeds of failures.
#[test]
fn slack_under_merges_is_exact() {
    for (text, extent) in [
        ("{0:T(1,3)(2,2)(*,1)}", 5),
        ("{0:T(3,2)(*,4,1)}", 3),
        ("{0:T(6,4)(2,2)}", 5),
        ("{0:T(4,3)(*,*,5)}", 7),
    ] {
        let layout = Layout::parse(text).unwrap();
        let tensor = layout.lower(&[extent]).unwrap();
        for x in 0..extent {
            let (offset, padded) = stated(&layout, &[extent], &[x]);
            assert_eq!(
                (tensor.offset(&[x]), tensor.capacity()),
                (Ok(offset as i64), padded),
                "{text}"
            );
            let Ok(Place::Element(coord)) = tensor.locate(offset as i64) else {
                panic!("{text}: {x}")
            };
            assert_eq!(coord.as_slice(), [x], "{text}");
        }
        let used = (0..tensor.capacity() as i64)
            .filter(|&offset| matches!(tensor.locate(offset), Ok(Place::Element(_))));
        assert_eq!(used.count() as u64, extent, "{text}");
    }
}

#[test]
fn hostile_texts_are_read_in_linear_time() {
    let many = "(2,1)".repeat(20_000);
    let layout = Layout::parse(&format!("{{1,0:T{many}}}")).unwrap();
    assert_eq!(layout.tiles().len(), 20_000);
    assert!(layout.lower(&[3, 4]).is_ok());
    let splits = "(0:1)".repeat(100_000);
    let split = Layout::parse(&format!("{{0:SC{splits}}}")).unwrap();
    assert!(split.validate(&[4]).unwrap_err().is_illegal());
    let dims = vec!["1"; 50_000].join(",");
    let wide = ArrayShape::parse(&format!("f32[{dims}]")).unwrap();
    assert_eq!(wide.bytes(), Ok(4));
    assert!(Layout::parse(&"{".repeat(50_000)).is_err());
    assert!(ArrayShape::parse(&"(".repeat(50_000)).is_err());
}
