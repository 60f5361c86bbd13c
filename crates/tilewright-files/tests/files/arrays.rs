//! `.npy` and raw files: versions, orders, byte orders, broken headers.

use std::fs;

use crate::common::*;
use tilewright_core::Fill;
use tilewright_files::{Reading, Request, Verdict, open, verify};
use tilewright_notation::dtype;

/// What NumPy's own layout rules say: the elements of a C-ordered array in this order.
fn transposed(data: &[u8], rows: usize, cols: usize, width: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for col in 0..cols {
        for row in 0..rows {
            out.extend_from_slice(&data[(row * cols + col) * width..][..width]);
        }
    }
    out
}

/// Header and elements of a written .npy file, its header read by another reader.
fn read(path: &std::path::Path) -> (npyz::NpyHeader, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let header = npyz::NpyHeader::from_reader(&bytes[..]).unwrap();
    let at = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(at % 64, 0);
    assert_eq!(bytes[at - 1], b'\n');
    (header, bytes[at..].to_vec())
}

#[test]
fn orders_and_byte_orders_are_kept() {
    let folder = folder();
    let out = folder.path().join("out.npy");
    let descrs = ["<f4", ">f4", "<i2", ">u8", "|b1", "|i1", "<c8", ">c16", "<f8", "<f2", "=u4"];
    for descr in descrs {
        let width: usize = descr[2..].parse().unwrap();
        let data = noise(6 * 5 * width);
        let col = transposed(&data, 6, 5, width);
        let path = write(&folder, "in.npy", npy(descr, false, "(6, 5)", &data));
        convert(&path, &out, to("col-major").verify(true).force(true)).unwrap();
        let (header, bytes) = read(&out);
        assert!(header.order() == npyz::Order::Fortran && header.shape() == [6, 5]);
        assert_eq!(header.dtype().descr(), format!("'{}'", descr.replace('=', "<")));
        assert_eq!(bytes, col);

        let path = write(&folder, "in.npy", npy(descr, true, "(6, 5)", &col));
        convert(&path, &out, to("row-major").verify(true).force(true)).unwrap();
        let (header, bytes) = read(&out);
        assert!(header.order() == npyz::Order::C && header.shape() == [6, 5] && bytes == data);

        convert(&path, &out, to("zN[M0=4,C0=2]").verify(true).force(true)).unwrap();
        let (header, bytes) = read(&out);
        assert!(header.order() == npyz::Order::C && header.shape() == [3, 2, 4, 2]);
        let element = |row: usize, col: usize| &data[(row * 5 + col) * width..][..width];
        assert_eq!(&bytes[..width], element(0, 0));
        assert_eq!(&bytes[width * (8 + 2)..][..width], element(5, 0));
        let request = to("zN[M0=4,C0=2]");
        assert!(matches!(verify(&out, &path, &request, &()).unwrap(), Verdict::Same { .. }));
    }
}

#[test]
fn padding_of_big_endian_files_is_big_endian() {
    let folder = folder();
    let out = folder.path().join("out.npy");
    for (descr, one) in
        [(">f4", vec![0x3F, 0x80, 0, 0]), ("<f4", vec![0, 0, 0x80, 0x3F]), (">i2", vec![0, 1])]
    {
        let path = write(&folder, "in.npy", npy(descr, false, "(3,)", &noise(3 * one.len())));
        convert(&path, &out, to("{0:T(4)}").fill(Fill::One).verify(true).force(true)).unwrap();
        let (header, bytes) = read(&out);
        assert_eq!((header.shape(), &bytes[3 * one.len()..]), (&[4][..], &one[..]));
    }
}

#[test]
fn every_version_is_read() {
    let folder = folder();
    let text =
        |shape: &str| format!("{{'descr': '<u2', 'fortran_order': False, 'shape': {shape}}}\n");
    for (version, shape, dims) in [
        ((1, 0), "(2, 3)", vec![2, 3]),
        ((2, 0), "(6,)", vec![6]),
        ((3, 0), "(2L, 3L)", vec![2, 3]),
        ((1, 0), "()", vec![]),
        ((1, 0), "(0, 3)", vec![0, 3]),
        ((1, 0), "( 2 ,3, )", vec![2, 3]),
    ] {
        let size = dims.iter().product::<u64>() as usize;
        let path = write(&folder, "in.npy", npy_of(version, &text(shape), &noise(size * 2)));
        let input = open(&path, &Reading::default()).unwrap();
        let tensor = &input.tensors()[0];
        assert_eq!((tensor.dims(), tensor.file_dtype()), (&dims[..], "<u2"));
        assert_eq!((input.format(), tensor.dtype().name()), ("npy", "u16"));
    }
}

#[test]
fn broken_headers_say_what_is_wrong() {
    let folder = folder();
    let plain = |descr: &str, shape: &str| npy(descr, false, shape, &[0; 24]);
    let text = |text: &str| npy_of((1, 0), text, &[0; 24]);
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (b"\x93NUMPX\x01\0\0\0".to_vec(), "corrupt", "NUMPY"),
        (b"\x93NUMPY\x01".to_vec(), "corrupt", "12 bytes"),
        (npy_of((4, 0), "{}", &[]), "corrupt", "version 4.0"),
        (npy_of((1, 1), "{}", &[]), "corrupt", "version 1.1"),
        (b"\x93NUMPY\x02\0\xff\xff\xff\xff".to_vec(), "corrupt", "4294967295"),
        (b"\x93NUMPY\x01\0\xff\0{}".to_vec(), "corrupt", "255 bytes"),
        (text("{}"), "corrupt", "`descr` is missing"),
        (text("{'descr': '<f4'}"), "corrupt", "`fortran_order` is missing"),
        (text("{'descr': '<f4', 'fortran_order': False}"), "corrupt", "`shape` is missing"),
        (
            text("{'descr': '<f4', 'fortran_order': 'no', 'shape': (6,)}"),
            "corrupt",
            "True or False",
        ),
        (text("{'descr': '<f4', 'descr': '<f8'}"), "corrupt", "twice"),
        (text("{'descr': '<f4"), "corrupt", "no end"),
        (text("{'descr': '<f4',"), "corrupt", "the end"),
        (text("['descr']"), "corrupt", "byte 0 is `[`"),
        (
            text("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x"),
            "corrupt",
            "end of the header",
        ),
        (text("{'descr': '<f4', 'fortran_order': False, 'shape': [6]}"), "corrupt", "tuple"),
        (text("{'descr': '<f4', 'fortran_order': False, 'shape': ((((6))))}"), "corrupt", "extent"),
        (plain("<f4", "(-6,)"), "corrupt", "negative"),
        (plain("<f4", "(5,)"), "corrupt", "20 bytes, the file has 24"),
        (plain("<f4", "(7,)"), "corrupt", "28 bytes, the file has 24"),
        (plain("<f4", "(99999999999999999999999,)"), "corrupt", "2^64"),
        (plain("<f4", "(4294967296, 4294967296)"), "corrupt", "2^63"),
        (plain("<f4", "(9223372036854775807, 9223372036854775807, 0)"), "corrupt", "2^63"),
        (plain("|O", "(3,)"), "unsupported", "objects"),
        (plain("<U2", "(3,)"), "unsupported", "strings"),
        (plain("<M8[ns]", "(3,)"), "unsupported", "dates"),
        (plain("<f16", "(1,)"), "unsupported", "known are"),
        (plain("|V3", "(8,)"), "unsupported", "1, 2, 4, 8 or 16"),
        (plain("f", "(8,)"), "unsupported", "order"),
        (plain("<f4x", "(6,)"), "unsupported", "order"),
        (
            text(
                "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,), }",
            ),
            "unsupported",
            "structured",
        ),
    ];
    for (number, (bytes, kind, part)) in cases.iter().enumerate() {
        let path = write(&folder, "in.npy", bytes);
        let error = open(&path, &Reading::default()).unwrap_err();
        let said = error.to_string();
        assert!(error.kind() == *kind && error.is_io(), "case {number}: {} {said}", error.kind());
        assert!(said.contains(part) && said.contains("in.npy"), "case {number}: {said}");
    }
}

#[test]
fn raw_elements_need_a_type() {
    let folder = folder();
    let data = noise(24);
    let path = write(&folder, "in.npy", npy("|V2", false, "(3, 4)", &data));
    let error = open(&path, &Reading::default()).unwrap_err();
    assert!(
        error.is_usage() && error.remedies().contains(&tilewright_core::Remedy::Dtype),
        "{error}"
    );
    let error = open(&path, &Reading::default().dtype(dtype("f32").unwrap())).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("4"), "{error}");
    let out = folder.path().join("out.npy");
    convert(&path, &out, to("col-major").dtype(dtype("bf16").unwrap()).verify(true)).unwrap();
    let (header, bytes) = read(&out);
    assert_eq!((header.dtype().descr(), bytes), ("'|V2'".into(), transposed(&data, 3, 4, 2)));
}

#[test]
fn raw_and_npy_become_each_other() {
    let folder = folder();
    let data = noise(6 * 5 * 4);
    let raw = format!("raw:{}", write(&folder, "in.bin", &data).display());
    let (npy, back) = (folder.path().join("a.npy"), folder.path().join("back.bin"));
    let request = to("col-major").dims(&[6, 5]).dtype(dtype("f32").unwrap());
    convert(&raw, &npy, request.clone().verify(true)).unwrap();
    let (header, bytes) = read(&npy);
    assert_eq!((header.dtype().descr(), header.shape()), ("'<f4'".into(), &[6, 5][..]));
    assert!(header.order() == npyz::Order::Fortran && bytes == transposed(&data, 6, 5, 4));
    convert(&npy, format!("raw:{}", back.display()), to("row-major").verify(true)).unwrap();
    assert_eq!(fs::read(&back).unwrap(), data);

    // A concrete layout says everything.
    let tiled = folder.path().join("tiled.bin");
    let out = format!("raw:{}", tiled.display());
    convert(&raw, &out, to("f32[6,5]{1,0:T(4,4)}").from(spec("f32[6,5]{1,0}")).verify(true))
        .unwrap();
    assert_eq!(fs::metadata(&tiled).unwrap().len(), 8 * 8 * 4);
    let request = to("{1,0:T(4,4)}").from(spec("f32[6,5]{1,0}"));
    assert!(matches!(verify(&out, &raw, &request, &()).unwrap(), Verdict::Same { .. }));
    convert(&out, &raw, to("row-major").from(spec("f32[6,5]{1,0:T(4,4)}")).force(true)).unwrap();
    assert_eq!(fs::read(folder.path().join("in.bin")).unwrap(), data);
}

#[test]
fn raw_bytes_must_be_those_of_their_layout() {
    let folder = folder();
    let raw = format!("raw:{}", write(&folder, "in.bin", noise(24)).display());
    let f32s = || Reading::default().dtype(dtype("f32").unwrap());
    let cases = [
        (Reading::default(), "give dims and element type"),
        (Reading::default().dims(&[6]), "give the element type"),
        (f32s().dims(&[7]), "24 bytes are there"),
        (Reading::default().from(spec("f32[6]{0:T(4)}")), "32 bytes"),
        (f32s().from(spec("zN")), "; give the dims"),
        (f32s().dims(&[u64::MAX, 2]), "raw:"),
    ];
    for (reading, part) in cases {
        let error = open(&raw, &reading).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(part), "{error}");
    }
    assert!(open(&raw, &f32s().dims(&[2, 3])).is_ok());
}

#[test]
fn kinds_that_do_not_become_each_other_are_refused() {
    let folder = folder();
    let npy = write(&folder, "in.npy", npy("<f4", false, "(6,)", &noise(24)));
    for (input, out) in
        [(npy, "out.safetensors"), (corpus(CNN), "out.npy"), (corpus(CNN), "out.index.json")]
    {
        let error = convert(&input, folder.path().join(out), to("row-major")).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("becomes"), "{error}");
    }
    assert_eq!(names(&folder), ["in.npy"]);
    let request = Request::new().to(spec("row-major")).memory(100);
    let error = convert(corpus(CNN), folder.path().join("a.safetensors"), request).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("4096"));
}

#[test]
fn raw_bytes_have_the_lowest_byte_first_whatever_the_input_has() {
    let folder = folder();
    // Types of numbers of 2 to 8 bytes, complex ones among them, at tight and at wide memory.
    for (code, name, unit, number) in [
        ("f4", "f32", 4usize, 4usize),
        ("i2", "s16", 2, 2),
        ("f8", "f64", 8, 8),
        ("c8", "c64", 8, 4),
    ] {
        let dtype = dtype(name).unwrap();
        let (rows, columns) = (37, 53);
        let little = noise(rows * columns * unit);
        let big: Vec<u8> = little.chunks(number).flat_map(|it| it.iter().rev().copied()).collect();
        let shape = format!("({rows}, {columns})");
        let little = write(&folder, "little.npy", npy(&format!("<{code}"), false, &shape, &little));
        let npy = write(&folder, "big.npy", npy(&format!(">{code}"), false, &shape, &big));
        let raw = format!("raw:{}", write(&folder, "big.bin", &big).display());
        for (order, memory) in
            [("row-major", 1 << 20), ("col-major", 4096), ("zN[M0=4,C0=4]", 4096)]
        {
            let (one, two) = (folder.path().join("one.bin"), folder.path().join("two.bin"));
            let out = |path: &std::path::Path| format!("raw:{}", path.display());
            let request = || to(order).memory(memory).force(true).verify(true);
            convert(&little, out(&one), request()).unwrap();
            convert(&npy, out(&two), request()).unwrap();
            let what = format!("{name} {order}");
            assert!(fs::read(&one).unwrap() == fs::read(&two).unwrap(), "{what}");
            let verdict = verify(out(&two), &npy, &to(order).memory(memory), &()).unwrap();
            assert!(matches!(verdict, Verdict::Same { .. }), "{what}: {verdict:?}");
            let request =
                request().dims(&[37, 53]).dtype(dtype).order(tilewright_core::ByteOrder::Big);
            convert(&raw, out(&two), request).unwrap();
            assert!(fs::read(&one).unwrap() == fs::read(&two).unwrap(), "{what}");
        }
        // A file that says the order keeps it.
        let kept = folder.path().join("kept.npy");
        convert(&npy, &kept, to("col-major").force(true).verify(true)).unwrap();
        assert!(fs::read(&kept).unwrap().windows(3).any(|it| it == format!(">{code}").as_bytes()));
    }
}
