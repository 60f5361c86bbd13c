//! Moving data, as far as it concerns offsets alone.

use super::*;

fn letters(tensor: &TensorLayout) -> String {
    let cell = |offset| match tensor.locate(offset).unwrap() {
        Place::Element(coord) => {
            let number = number(tensor.extents(), coord.as_slice());
            char::from(b'a' + number as u8).to_string()
        }
        Place::Padding | Place::OutOfRange => "0".into(),
    };
    (0..tensor.capacity() as i64).map(cell).collect::<Vec<_>>().join(" ")
}

pub(crate) fn r102() {
    let minor0 = padded("pad(3,5)fill(0)", &[2, 3], "{0,1}").unwrap();
    assert_eq!(letters(&minor0), "a d 0 b e 0 c f 0 0 0 0 0 0 0");
    let rows = padded("pad(3,5)fill(0)", &[2, 3], "{1,0}").unwrap();
    assert_eq!(letters(&rows), "a b c 0 0 d e f 0 0 0 0 0 0 0");
    assert_eq!(letters(&layout("{0,1}").lower(&[2, 3]).unwrap()), "a d b e c f");
}

pub(crate) fn r104() {
    let tensor = padded("pad(3,5)", &[2, 3], "{0,1}").unwrap();
    for index in indices(&[2, 3]) {
        let tiled = at("f32[2,3]{0,1:T(5,3)}", &index);
        assert_eq!(tensor.offset(&index), Ok(tiled as i64));
    }
}

pub(crate) fn r105() {
    assert_eq!(packing::pack(4, &[1, 2, 3]).unwrap(), [0x21, 0x03]);
    assert_eq!(packing::pack(2, &[0, 1, 2, 3, 1]).unwrap(), [0xe4, 0x01]);
    let signed = [-1i8, 7, -8].map(|value| value as u8);
    assert_eq!(packing::pack(4, &signed).unwrap(), [0x7f, 0x08]);
    assert_eq!(packing::unpack(4, &[0x7f, 0x08], 3, true).unwrap(), signed);
}

pub(crate) fn r106() {
    let cells = transposed(&[12, 7], &[1, 0], "f32[7,12]{1,0:T(5,2)}");
    assert_eq!(cells.len(), 120);
    let start = [0, 7, 1, 8, 2, 9, 3, 10, 4, 11, 14, 21, 15, 22, 16, 23].map(Some);
    assert_eq!(cells[..16], start);
    assert_eq!(cells[112..], [Some(76), Some(83), None, None, None, None, None, None][..]);
}

pub(crate) fn r108() {
    let cells = transposed(&[2, 4, 6], &[0, 1, 2], "f32[2,4,6]{2,1,0:T(2,3)}");
    let start = [0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11, 12, 13, 14, 18].map(Some);
    assert_eq!((&cells[..16], cells.last()), (&start[..], Some(&Some(47))));
}

pub(crate) fn r109() {
    let cells = transposed(&[12, 7], &[1, 0], "f32[7,12]{1,0:T(5)}");
    assert_eq!(cells.len(), 105);
    for (at, cell) in cells.iter().enumerate() {
        assert_eq!(cell.is_none(), at % 15 >= 12, "{at}");
    }
}

pub(crate) fn r113() {
    let (from, to) = (array("f32[3,5]{1,0:T(2,2)}"), array("f32[3,5]{0,1:T(3,2)}"));
    let (source, indexer) = (Indexer::of(&from).unwrap(), Indexer::of(&to).unwrap());
    let cell = |offset| match indexer.locate(offset) {
        Place::Element(index) => source.offset(&index).unwrap().to_string(),
        Place::Padding | Place::OutOfRange => ".".into(),
    };
    let cells: Vec<String> = (0..indexer.capacity()).map(cell).collect();
    assert_eq!(cells.join(" "), "0 2 1 3 4 6 12 . 13 . 16 . 5 7 8 10 . . 17 . 20 . . .");
}

pub(crate) fn r118() {
    for (dims, perm, output) in
        [([0, 4], [1, 0], "f32[4,0]{1,0:T(3,5)}"), ([4, 0], [0, 1], "f32[4,0]{0,1:T(8,128)(2,1)}")]
    {
        assert!(transposed(&dims, &perm, output).is_empty());
        assert_eq!((visits(&dims), bytes(output)), (0, 0));
    }
}
