//! The stated cases of sizes, indexing, layout algebra, tiled indexing and moving data, each under its number.

mod moves;
mod orders;
mod sizes;
mod tiles;

use std::{cmp::Ordering, collections::BTreeSet, ops::ControlFlow};

use tilewright_core::{Place, TensorLayout};
use tilewright_xla::{
    ArrayShape, Dim, Ignore, Layout, Padded, PrimitiveType, Shape,
    index_util::{
        Indexer, bump_indices, compare_indices, index_in_bounds, linear_index, multi_index,
    },
    layout_util::byte_strides_are_major_to_minor,
    packing, permutation,
    shape_util::{
        Bitcast, dimension_letters, dimensions_unmodified_by_reshape, for_each_index,
        inserted_or_deleted_1_sized_dimensions,
    },
};

use moves::*;
use orders::*;
use sizes::*;
use tiles::*;

fn array(text: &str) -> ArrayShape {
    ArrayShape::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn shape(text: &str) -> Shape {
    Shape::parse(text).unwrap()
}

/// Returns every index, row-major.
fn indices(dims: &[u64]) -> Vec<Vec<u64>> {
    let rows: Vec<u64> = (0..dims.len() as u64).rev().collect();
    (0..dims.iter().product()).map(|number| multi_index(dims, &rows, number).unwrap()).collect()
}

fn number(dims: &[u64], index: &[u64]) -> u64 {
    index.iter().zip(dims).fold(0, |number, (x, dim)| number * dim + x)
}

/// Returns the row-major number of each element in storage order; `None` is padding.
fn picture(shape: &ArrayShape) -> Vec<Option<u64>> {
    let (indexer, dims) = (Indexer::of(shape).unwrap(), shape.extents().unwrap());
    (0..indexer.capacity())
        .map(|offset| match indexer.locate(offset) {
            Place::Element(index) => Some(number(&dims, &index)),
            Place::Padding => None,
            Place::OutOfRange => panic!("{shape} at {offset}"),
        })
        .collect()
}

/// Returns the contents of storage when an array numbered row-major is transposed into `output`.
fn transposed(dims: &[u64], perm: &[u64], output: &str) -> Vec<Option<u64>> {
    let output = array(output);
    assert_eq!(output.extents().unwrap(), permutation::permute(dims, perm).unwrap());
    let (indexer, out_dims) = (Indexer::of(&output).unwrap(), output.extents().unwrap());
    let mut cells = vec![None; indexer.capacity() as usize];
    for index in indices(&out_dims) {
        let source = permutation::permute_inverse(&index, perm).unwrap();
        cells[indexer.offset(&index).unwrap() as usize] = Some(number(dims, &source));
    }
    cells
}

fn hash(shape: &ArrayShape) -> u64 {
    let indexer = Indexer::of(shape).unwrap();
    indices(indexer.dims()).iter().fold(0u64, |hash, index| {
        hash.wrapping_mul(31).wrapping_add(indexer.offset(index).unwrap())
    })
}

fn at(text: &str, index: &[u64]) -> u64 {
    array(text).linear_index(index).unwrap()
}

fn cell(text: &str, offset: u64) -> Option<u64> {
    picture(&array(text))[offset as usize]
}

fn bytes(text: &str) -> u64 {
    array(text).bytes().unwrap()
}

fn free(a: &str, b: &str) -> bool {
    array(a).reshape_is_bitcast(&array(b)).unwrap()
}

/// Each case with its number.
const ROWS: [(u32, fn()); 76] = [
    (24, r24),
    (25, r25),
    (26, r26),
    (27, r27),
    (28, r28),
    (29, r29),
    (30, r30),
    (31, r31),
    (32, r32),
    (33, r33),
    (34, r34),
    (35, r35),
    (36, r36),
    (37, r37),
    (38, r38),
    (39, r39),
    (40, r40),
    (41, r41),
    (44, r44),
    (45, r45),
    (46, r46),
    (47, r47),
    (49, r49),
    (50, r50),
    (52, r52),
    (53, r53),
    (54, r54),
    (55, r55),
    (56, r56),
    (57, r57),
    (58, r58),
    (59, r59),
    (60, r60),
    (62, r62),
    (123, r123),
    (63, r63),
    (65, r65),
    (66, r66),
    (67, r67),
    (68, r68),
    (69, r69),
    (70, r70),
    (71, r71),
    (72, r72),
    (73, r73),
    (75, r75),
    (77, r77),
    (78, r78),
    (80, r80),
    (81, r81),
    (82, r82),
    (83, r83),
    (85, r85),
    (86, r86),
    (87, r87),
    (88, r88),
    (89, r89),
    (90, r90),
    (95, r95),
    (97, r97),
    (98, r98),
    (99, r99),
    (100, r100),
    (119, r119),
    (120, r120),
    (121, r121),
    (122, r122),
    (101, r101),
    (125, r125),
    (126, r126),
    (127, r127),
    (128, r128),
    (129, r129),
    (102, r102),
    (104, r104),
    (105, r105),
];

/// Cases of moving data, as far as they concern offsets alone.
const PLACES: [(u32, fn()); 5] = [(106, r106), (108, r108), (109, r109), (113, r113), (118, r118)];

#[test]
fn every_stated_case_holds() {
    for (number, case) in ROWS.into_iter().chain(PLACES) {
        println!("case {number}");
        case();
    }
}

#[test]
fn every_stated_case_is_there() {
    let covered: BTreeSet<u32> = ROWS.iter().chain(&PLACES).map(|&(number, _)| number).collect();
    let sections: [&[u32]; 5] = [
        &[24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41],
        &[44, 45, 46, 47, 49, 50, 52, 53, 54],
        &[
            55, 56, 57, 58, 59, 60, 62, 123, 63, 65, 66, 67, 68, 69, 70, 71, 72, 73, 75, 77, 78,
            80, 81, 82, 83,
        ],
        &[
            85, 86, 87, 88, 89, 90, 95, 97, 98, 99, 100, 119, 120, 121, 122, 101, 125, 126, 127,
            128, 129,
        ],
        &[102, 104, 105, 106, 108, 109, 113, 118],
    ];
    let stated: BTreeSet<u32> = sections.concat().into_iter().collect();
    assert_eq!(covered, stated);
    assert_eq!(covered.len(), ROWS.len() + PLACES.len());
}
