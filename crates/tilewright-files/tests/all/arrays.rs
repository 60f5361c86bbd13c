//! `.npy` and raw files: versions, orders, byte orders, broken headers.

use std::{fs, path::Path};

use tilewright_core::Fill;
use tilewright_files::{Reading, Request, Verdict, open, verify};
use tilewright_notation::dtype;

use crate::common::*;

/// Returns the elements of a C-ordered array in this order, by NumPy's own layout rules.
fn transposed(data: &[u8], rows: usize, cols: usize, width: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for col in 0..cols {
        for row in 0..rows {
            out.extend_from_slice(&data[(row * cols + col) * width..][..width]);
        }
    }
    out
}

/// Returns header and elements of a written .npy file, whose header another reader reads.
fn read(path: &Path) -> (npyz::NpyHeader, Vec<u8>) {
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
        assert_eq!((header.shape(), &bytes[3 * one.len()..]), (&[1, 4][..], &one[..]));
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
        (text("{'descr': '<f4"), "corrupt", "does not end"),
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
        (plain("<f4", "(7,)"), "corrupt", "28 bytes, but the file has 24"),
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

    // A concrete layout determines everything.
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
        [(npy, "out.npz"), (corpus(CNN), "out.gguf"), (corpus(CNN), "out.index.json")]
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
    // Types of numbers of 2 to 8 bytes, including complex ones, with little and much memory.
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
            let out = |path: &Path| format!("raw:{}", path.display());
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
        // A file that records the order keeps it.
        let kept = folder.path().join("kept.npy");
        convert(&npy, &kept, to("col-major").force(true).verify(true)).unwrap();
        assert!(fs::read(&kept).unwrap().windows(3).any(|it| it == format!(">{code}").as_bytes()));
    }
}

/// A file of one array in any layout is read back in that layout, whatever the kind, order and width of its elements are.
#[test]
fn a_layout_that_a_file_cannot_say_is_noted_beside_it() {
    let folder = folder();
    let data = noise(6 * 10 * 8);
    let cases = [("<f4", 4), (">u4", 4), (">i2", 2), ("|u1", 1), ("<V2", 2), (">c8", 8)];
    let layouts = ["zN[M0=4,C0=2]", "{0,1:T(3)}", "(m m0:4) n -> m n m0", "col-major"];
    let path = |name: &str| folder.path().join(name);
    for (descr, width) in cases {
        let bytes = &data[..60 * width];
        let original = write(&folder, "in.npy", npy(descr, false, "(6, 10)", bytes));
        let reading = match descr {
            "<V2" => Request::new().dtype(dtype("bf16").unwrap()),
            _ => Request::new(),
        };
        for (layout, out) in layouts.iter().flat_map(|it| [(it, "x.npy"), (it, "raw:x.bin")]) {
            let place = out.strip_prefix("raw:").unwrap_or(out);
            let named = match out.strip_prefix("raw:") {
                Some(name) => format!("raw:{}", path(name).display()),
                None => path(out).display().to_string(),
            };
            let request = reading.clone().to(spec(layout)).force(true).verify(true);
            convert(&original, &named, request).unwrap();
            let said = *layout != "col-major" || out.starts_with("raw:") || descr == "<V2";
            let note = path(&format!("{place}.tilewright.json"));
            assert_eq!(note.exists(), said, "{descr} {layout} {out}");
            let input = open(&named, &Reading::default()).unwrap();
            assert_eq!(input.tensors()[0].dims(), [6, 10]);
            let name = input.tensors()[0].layout().to_spec();
            assert!(name.ends_with(layout), "{name}");
            let big = descr.starts_with('>') && out == "x.npy";
            assert_eq!(name.starts_with('>'), big, "{name}");
            // The conversion back needs no information on the source, and neither does a verification.
            let back = path("back.npy");
            convert(&named, &back, to("row-major").force(true)).unwrap();
            let verdict = verify(&named, &original, &reading, &()).unwrap();
            assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
            let [is, was] = [&back, &original].map(|path| {
                let input = open(path, reading.reading()).unwrap();
                let bytes = input.bytes(&input.tensors()[0], 1000).unwrap();
                (bytes, input.tensors()[0].layout().to_spec())
            });
            if is.1 == was.1 {
                assert_eq!(is.0, was.0, "{descr} {layout} {out}");
            } else {
                assert!(descr.starts_with('>') && out.starts_with("raw:"), "{is:?} {was:?}");
            }
        }
    }
}

/// A note does not apply to bytes for which it was not made, and it remains valid for its file wherever both are copied.
#[test]
fn a_note_of_other_bytes_is_left_aside() {
    let folder = folder();
    let original = write(&folder, "in.npy", npy("<u2", false, "(4, 6)", &noise(48)));
    let path = |name: &str| folder.path().join(name);
    let (out, note) = (path("x.npy"), path("x.npy.tilewright.json"));
    convert(&original, &out, to("zN[M0=2,C0=3]")).unwrap();
    let layout = |path: &Path| {
        let input = open(path, &Reading::default()).unwrap();
        let warned = input.warnings().count();
        let spec = input.tensors()[0].layout().to_spec();
        (spec.split_once("] ").map_or(spec.clone(), |(_, name)| name.to_owned()), warned)
    };
    assert_eq!(layout(&out), ("zN[M0=2,C0=3]".into(), 0));
    // A copy of both files, and a rename of both.
    fs::copy(&out, path("y.npy")).unwrap();
    fs::copy(&note, path("y.npy.tilewright.json")).unwrap();
    assert_eq!(layout(&path("y.npy")), ("zN[M0=2,C0=3]".into(), 0));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("x.npy", path("link.npy")).unwrap();
        assert_eq!(layout(&path("link.npy")), ("zN[M0=2,C0=3]".into(), 0));
    }
    // Every flip of a bit of the copy, and every other length, is noticed.
    let bytes = fs::read(&out).unwrap();
    for bit in bytes.len() * 8 - 48 * 8..bytes.len() * 8 {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        fs::write(path("y.npy"), other).unwrap();
        assert_eq!(layout(&path("y.npy")), ("row-major".into(), 1), "bit {bit}");
    }
    fs::write(path("y.npy"), npy("<u2", false, "(2, 6)", &noise(24))).unwrap();
    assert_eq!(layout(&path("y.npy")), ("row-major".into(), 1));
    // The old note does not apply to the new result, and is removed if that needs none.
    convert(&original, &out, to("{0,1:T(2)}").force(true)).unwrap();
    assert_eq!(layout(&out), ("u16[4,6]{0,1:T(2)}".into(), 0));
    convert(&original, &out, to("col-major").force(true)).unwrap();
    assert_eq!((layout(&out), note.exists()), (("col-major".into(), 0), false));
    // A file that is not a note is never replaced, and is not used.
    fs::write(&note, "{}").unwrap();
    let error = convert(&original, &out, to("zN[M0=2,C0=3]").force(true)).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("is not a note"), "{error}");
    assert_eq!((layout(&out), fs::read(&note).unwrap()), (("col-major".into(), 1), b"{}".to_vec()));
    // A note whose text does not fit its bytes is an error.
    fs::remove_file(&note).unwrap();
    convert(&original, &out, to("zN[M0=2,C0=3]").force(true)).unwrap();
    let text = fs::read_to_string(&note).unwrap();
    fs::write(&note, text.replace("zN[M0=2,C0=3]", "zN[M0=4,C0=3]")).unwrap();
    assert!(open(&out, &Reading::default()).unwrap_err().to_string().contains("remove the note"));
}

/// A layout gives the byte order of a raw input and, if files record one, of a result.
#[test]
fn a_spec_says_the_order_of_bytes() {
    let folder = folder();
    let little: Vec<u8> = (0..12u32).flat_map(u32::to_le_bytes).collect();
    let big: Vec<u8> = (0..12u32).flat_map(u32::to_be_bytes).collect();
    let path = write(&folder, "a.bin", &big);
    let raw = format!("raw:{}", path.display());
    let out = folder.path().join("b.npy");
    let from = |text| to("row-major").from(spec(text)).force(true).verify(true);
    let data = |path: &Path| fs::read(path).unwrap()[128..].to_vec();
    convert(&raw, &out, from(">u4[3,4]{1,0}")).unwrap();
    assert_eq!(data(&out), little);
    convert(&raw, &out, from("<u4[3,4]{1,0}")).unwrap();
    assert_eq!(data(&out), big);
    convert(&out, folder.path().join("c.npy"), to(">u4[3,4]{1,0}").verify(true)).unwrap();
    let input = open(folder.path().join("c.npy"), &Reading::default()).unwrap();
    assert_eq!(input.tensors()[0].layout().to_spec(), ">u4[3,4] row-major");
    let request = from(">u4[3,4]{1,0}").order(tilewright_core::ByteOrder::Little);
    assert!(convert(&raw, &out, request).unwrap_err().to_string().contains("order of bytes"));
    let raw_out = format!("raw:{}", folder.path().join("d.bin").display());
    let error = convert(&raw, &raw_out, to(">u4[3,4]{0,1}").from(spec(">u4[3,4]{1,0}")));
    assert!(error.unwrap_err().to_string().contains("big-endian"));
}

/// NumPy reads the first array of a file, and does not accept a number in parentheses as a shape.
#[test]
fn what_follows_an_array_is_left_out_and_said() {
    let folder = folder();
    let bytes = npy("<f4", false, "(6, 2)", &noise(48));
    let original = write(&folder, "a.npy", &bytes);
    let path = write(&folder, "b.npy", [&bytes[..], b"seven b"].concat());
    let input = open(&path, &Reading::default()).unwrap();
    assert_eq!(input.warnings().count(), 1);
    assert!(input.warnings().all(|said| said.starts_with("7 bytes after the array")));
    let out = folder.path().join("c.npy");
    convert(&path, &out, to("col-major").verify(true)).unwrap();
    let verdict = verify(&out, &original, &to("col-major"), &()).unwrap();
    assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
    for (shape, legal) in [("(12)", false), ("(12,)", true), ("(6,2,)", true), ("()", false)] {
        let path = write(&folder, "d.npy", npy("<f4", false, shape, &noise(48)));
        assert_eq!(open(&path, &Reading::default()).is_ok(), legal || shape == "()", "{shape}");
    }
}

/// A fill is refused if padding needs it and cannot have it; the fill of a rule precedes that of the run.
#[test]
fn a_fill_is_for_padding_that_there_is() {
    let folder = folder();
    let path = write(&folder, "a.npy", npy("|u1", false, "(4, 6)", &noise(24)));
    let out = folder.path().join("b.npy");
    let wide = Fill::Bits(0x1ff);
    convert(&path, &out, to("{1,0:T(2,3)}").fill(wide).verify(true)).unwrap();
    let error = convert(&path, &out, to("{1,0:T(3,5)}").fill(wide).force(true)).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("a fill of 0x1FF"), "{error}");
    let own = "{1,0}pad(5,7)fill(0x2a)";
    let rule = Request::new().rule("*", spec(own)).fill(Fill::Zero).force(true).verify(true);
    convert(&path, &out, rule).unwrap();
    let input = open(&out, &Reading::default()).unwrap();
    assert_eq!(input.tensors()[0].fill(), Fill::Bits(0x2a));
    let error = convert(&path, &out, to(own).fill(Fill::Zero).force(true)).unwrap_err();
    assert!(error.to_string().contains("state it in one place"), "{error}");
}

/// Bytes of the length of packed elements are read with the width that the error names.
#[test]
fn packed_bytes_are_told_by_their_length() {
    let folder = folder();
    let path = write(&folder, "a.bin", noise(1024));
    let raw = format!("raw:{}", path.display());
    let out = format!("raw:{}", folder.path().join("b.bin").display());
    let request = to("row-major").from(spec("zN")).dims(&[32, 32]).dtype(dtype("s4").unwrap());
    let said = convert(&raw, &out, request).unwrap_err().to_string();
    let named = said.split('`').nth(1).unwrap();
    assert!(named.contains("E(4)"), "{said}");
    convert(&raw, &out, to("row-major").from(spec(named)).verify(true)).unwrap();
    assert_eq!(fs::read(folder.path().join("b.bin")).unwrap().len(), 512);
}
