//! Every element type of safetensors; widths that change; fills; empty and scalar tensors.

use safetensors::Dtype;
use tilewright_core::Fill;
use tilewright_files::{Reading, Request, Verdict, open, verify};

use crate::common::*;

const DTYPES: [(&str, usize); 20] = [
    ("BOOL", 8),
    ("F4", 4),
    ("U8", 8),
    ("I8", 8),
    ("F8_E5M2", 8),
    ("F8_E4M3", 8),
    ("F8_E8M0", 8),
    ("F8_E4M3FNUZ", 8),
    ("F8_E5M2FNUZ", 8),
    ("I16", 16),
    ("U16", 16),
    ("F16", 16),
    ("BF16", 16),
    ("I32", 32),
    ("U32", 32),
    ("F32", 32),
    ("C64", 64),
    ("F64", 64),
    ("I64", 64),
    ("U64", 64),
];

#[test]
fn every_dtype_comes_back_bit_for_bit() {
    let folder = folder();
    // All layouts, or every other one in turn.
    let step = tilewright_testing::cases(1, 2);
    for (number, (dtype, bits)) in DTYPES.into_iter().enumerate() {
        for (at, shape) in [[6u64, 10], [16, 32], [0, 4], [2, 0]].into_iter().enumerate() {
            let texts = ["zN[M0=4,C0=8]", "col-major", "{1,0:T(3,4)}", "{0,1:T(4)}"];
            for text in texts.into_iter().skip((number + at) % step).step_by(step) {
                let data = noise(shape.iter().product::<u64>() as usize * bits / 8);
                let original = one(dtype, &shape, &data);
                let path = write(&folder, "t.safetensors", &original);
                let (a, b) =
                    (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
                let there = to(text).force(true).verify(true);
                convert(&path, &a, there).unwrap_or_else(|error| panic!("{dtype} {text}: {error}"));
                let back = to("row-major").force(true).verify(true);
                convert(&a, &b, back).unwrap_or_else(|error| panic!("{dtype} {text}: {error}"));
                let (kept, shape_back, bytes) = tensor(&b, "t");
                assert_eq!(format!("{kept:?}"), dtype);
                assert_eq!(shape_back, shape.map(|extent| extent as usize));
                assert!(bytes == data, "{dtype} {shape:?} {text}");
                assert!(parts(&b).0.get("__metadata__").is_none());
            }
        }
    }
}

#[test]
fn scalars_have_only_one_layout_and_keep_it() {
    let folder = folder();
    let path = write(&folder, "t.safetensors", one("F32", &[], &[1, 2, 3, 4]));
    let out = folder.path().join("a.safetensors");
    convert(&path, &out, to("row-major").verify(true)).unwrap();
    assert_eq!(tensor(&out, "t"), (Dtype::F32, vec![], vec![1, 2, 3, 4]));
    convert(&path, &out, to("f32[]{:T(256)}").force(true).verify(true)).unwrap();
    let (_, shape, bytes) = tensor(&out, "t");
    assert_eq!((shape.iter().product::<usize>(), &bytes[..5]), (256, &[1, 2, 3, 4, 0][..]));
}

#[test]
fn bytes_of_4_bit_values_are_packed_and_unpacked() {
    let folder = folder();
    let data: Vec<u8> = (0..15i8).map(|x| (x - 7) as u8).collect();
    let path = write(&folder, "t.safetensors", one("I8", &[3, 5], &data));
    let (a, b) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    let s4 = tilewright_notation::dtype("s4").unwrap();
    let error = convert(&path, &a, to("{1,0:E(4)}").dtype(s4)).unwrap_err();
    assert!(
        error.is_usage() && error.remedies().contains(&tilewright_core::Remedy::Source),
        "{error}"
    );
    let rows = spec("row-major");
    convert(&path, &a, to("{1,0:E(4)}").from(rows.clone()).dtype(s4).verify(true)).unwrap();
    let (dtype, shape, bytes) = tensor(&a, "t");
    assert_eq!((dtype, shape), (Dtype::U8, vec![8]));
    let nibble = |i: usize| data.get(i).map_or(0, |byte| byte & 15);
    let expected: Vec<u8> = (0..8).map(|i| nibble(2 * i) | nibble(2 * i + 1) << 4).collect();
    assert_eq!(bytes, expected);
    let (header, _) = parts(&a);
    assert_eq!(header["__metadata__"]["tilewright.layout.t"], "s4[3,5]{1,0:E(4)}");
    let request = Request::new().from(rows).dtype(s4);
    assert!(matches!(verify(&a, &path, &request, &()).unwrap(), Verdict::Same { .. }));

    // Without E the width is kept; with it, values grow back with their sign.
    convert(&a, &b, to("row-major").verify(true)).unwrap();
    assert_eq!(tensor(&b, "t"), (Dtype::U8, vec![8], bytes));
    convert(&a, &b, to("{1,0:E(8)}").verify(true).force(true)).unwrap();
    assert_eq!(tensor(&b, "t"), (Dtype::I8, vec![3, 5], data.clone()));
    // A layout with an element type has its width too: whole bytes if there is no E.
    convert(&a, &b, to("s4[3,5]{1,0}").verify(true).force(true)).unwrap();
    assert_eq!(tensor(&b, "t"), (Dtype::I8, vec![3, 5], data));
    convert(&a, &b, to("{1,0:E(8)}").verify(true).force(true)).unwrap();
    // No file type is called s4, so the note is kept.
    assert_eq!(parts(&b).0["__metadata__"]["tilewright.layout.t"], "s4[3,5]{1,0:E(8)}");
}

#[test]
fn booleans_grow_to_words_and_back() {
    let folder = folder();
    let data: Vec<u8> = (0..6).map(|i| u8::from(i % 3 == 0)).collect();
    let path = write(&folder, "t.safetensors", one("BOOL", &[2, 3], &data));
    let (a, b) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    convert(&path, &a, to("{0,1:E(32)}").verify(true)).unwrap();
    let (dtype, shape, bytes) = tensor(&a, "t");
    assert_eq!((dtype, shape), (Dtype::U8, vec![24]));
    for (i, word) in bytes.chunks(4).enumerate() {
        let (col, row) = (i / 2, i % 2);
        assert_eq!(word, [data[row * 3 + col], 0, 0, 0]);
    }
    let input = open(&a, &Reading::default()).unwrap();
    assert_eq!((input.tensors()[0].dims(), input.tensors()[0].bits()), (&[2, 3][..], 32));
    assert_eq!(input.tensors()[0].file_dtype(), "U8");
    convert(&a, &b, to("{1,0:E(8)}").verify(true)).unwrap();
    assert_eq!(tensor(&b, "t"), (Dtype::BOOL, vec![2, 3], data));
}

#[test]
fn padding_holds_the_fill() {
    let folder = folder();
    let cases: [(&str, &str, Fill, &[u8]); 6] = [
        ("F32", "f32", Fill::Lowest, &0xFF80_0000u32.to_le_bytes()),
        ("BF16", "bf16", Fill::Highest, &0x7F80u16.to_le_bytes()),
        ("I16", "s16", Fill::Lowest, &i16::MIN.to_le_bytes()),
        ("F8_E4M3", "f8e4m3fn", Fill::One, &[0x38]),
        ("U8", "u8", Fill::Bits(0xA5), &[0xA5]),
        ("I32", "s32", Fill::Unspecified, &[0; 4]),
    ];
    for (dtype, name, fill, expected) in cases {
        let width = expected.len();
        let data = noise(3 * 5 * width);
        let path = write(&folder, "t.safetensors", one(dtype, &[3, 5], &data));
        let (a, b) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
        convert(&path, &a, to("{1,0:T(2,4)}").fill(fill).verify(true).force(true)).unwrap();
        let (_, shape, bytes) = tensor(&a, "t");
        assert_eq!(shape, [2, 2, 2, 4]);
        let mut holes = 0;
        for (offset, element) in bytes.chunks(width).enumerate() {
            let (row, col) = (offset / 16 * 2 + offset / 4 % 2, offset / 8 % 2 * 4 + offset % 4);
            let is_padding = row >= 3 || col >= 5;
            let was = if is_padding { expected } else { &data[(row * 5 + col) * width..][..width] };
            assert_eq!(element, was, "{dtype} {offset}");
            holes += usize::from(is_padding);
        }
        assert_eq!(holes, 32 - 15);
        let tensor = open(&a, &Reading::default()).unwrap().tensors()[0].clone();
        assert_eq!((tensor.fill(), tensor.padding()), (fill, 17 * width as u64));
        assert!(tensor.layout().to_spec().starts_with(&format!("{name}[3,5]")));
        assert_eq!(
            parts(&a).0["__metadata__"].get("tilewright.fill.t").is_some(),
            fill.is_promised()
        );
        convert(&a, &b, to("row-major").force(true)).unwrap();
        assert_eq!(crate::common::tensor(&b, "t").2, data);
    }
}

#[test]
fn fills_that_a_type_has_not_are_refused() {
    let folder = folder();
    let path = write(&folder, "t.safetensors", one("C64", &[3, 1], &noise(24)));
    let out = folder.path().join("a.safetensors");
    let error = convert(&path, &out, to("{1,0:T(2,2)}").fill(Fill::Lowest)).unwrap_err();
    let said = "tensor \"t\": a fill of lowest for c64: complex numbers have no order: none is the lowest or highest; give the bits as 0xHEX";
    assert!(error.is_usage() && error.to_string() == said, "{error}");
    let path = write(&folder, "u.safetensors", one("U8", &[3, 1], &[1, 2, 3]));
    let error = convert(&path, &out, to("{1,0:T(2,2)}").fill(Fill::Bits(256))).unwrap_err();
    assert!(error.is_usage(), "{error}");
}

#[test]
fn a_layout_in_the_spec_brings_its_fill() {
    let folder = folder();
    let path = write(&folder, "t.safetensors", one("U8", &[2, 3], &[1, 2, 3, 4, 5, 6]));
    let out = folder.path().join("a.safetensors");
    convert(&path, &out, to("{0,1}pad(3,5)fill(one)").verify(true)).unwrap();
    let (_, shape, bytes) = tensor(&out, "t");
    assert_eq!(shape, [5, 3]);
    assert_eq!(bytes, [1, 4, 1, 2, 5, 1, 3, 6, 1, 1, 1, 1, 1, 1, 1]);
}

/// The value of padding is given once, or twice with the same value.
#[test]
fn two_fills_that_disagree_are_refused() {
    let folder = folder();
    let path = write(&folder, "t.safetensors", one("U8", &[2, 3], &[1, 2, 3, 4, 5, 6]));
    let out = folder.path().join("a.safetensors");
    for fill in ["one", "0", "unknown"] {
        let request = to(&format!("{{0,1}}pad(3,5)fill({fill})"));
        let error = convert(&path, &out, request.fill(Fill::Lowest)).unwrap_err();
        let parts = ["\"t\"", "lowest", fill, "in one place"];
        assert!(error.is_usage() && parts.iter().all(|part| error.to_string().contains(part)));
    }
    convert(&path, &out, to("{0,1}pad(3,5)fill(one)").fill(Fill::One).verify(true)).unwrap();
    let note = &parts(&out).0["__metadata__"]["tilewright.layout.t"];
    assert_eq!(note, "u8[2,3]{0,1}pad(3,5)fill(one)");
    convert(&path, &out, to("{0,1}pad(3,5)").fill(Fill::One).force(true).verify(true)).unwrap();
}

/// Three 4-bit elements end within a byte, which a safetensors shape cannot express.
#[test]
fn packed_elements_that_end_within_a_byte_are_kept_as_bytes() {
    let folder = folder();
    let path = write(&folder, "t.safetensors", one("F4", &[2], &[0x21]));
    let (a, b) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    convert(&path, &a, to("{0:T(3)}").fill(Fill::Highest).verify(true)).unwrap();
    assert_eq!(tensor(&a, "t"), (Dtype::U8, vec![2], vec![0x21, 0x07]));
    convert(&a, &b, to("row-major").verify(true)).unwrap();
    assert_eq!(tensor(&b, "t"), (Dtype::F4, vec![2], vec![0x21]));
    assert!(parts(&b).0.get("__metadata__").is_none());
}

#[test]
fn a_width_below_that_of_the_values_is_refused_with_both() {
    let folder = folder();
    let path = write(&folder, "in.safetensors", one("F16", &[4, 8], &noise(64)));
    let out = folder.path().join("out.safetensors");
    for (text, widths) in
        [("{1,0:E(8)}", [8, 16]), ("f16[4,8]E(8) zN", [8, 16]), ("{0,1:E(4)}", [4, 16])]
    {
        let error = convert(&path, &out, to(text)).unwrap_err();
        let said = error.to_string();
        assert!(error.is_usage(), "{said}");
        assert!(widths.iter().all(|width| said.contains(&width.to_string())), "{said}");
        let raw = write(&folder, "raw", noise(32));
        let request = to("row-major").from(spec(text)).dims(&[4, 8]).dtype(f16());
        let raw = format!("raw:{}", raw.display());
        assert!(convert(raw, folder.path().join("o.npy"), request).unwrap_err().is_usage());
    }
    assert!(convert(&path, &out, to("{1,0:E(32)}")).is_ok());
}

fn f16() -> tilewright_core::Dtype {
    tilewright_notation::dtype("f16").unwrap()
}

#[test]
fn a_format_of_four_bits_is_packed_and_refuses_wider_elements() {
    let folder = folder();
    let bytes: Vec<u8> = (0..192).map(|i| i % 16).collect();
    let path = write(&folder, "in.safetensors", one("U8", &[3, 64], &bytes));
    let out = folder.path().join("out.safetensors");
    let error = convert(&path, &out, to("GGML_QS4")).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("u8 has 8"), "{error}");
    let u4 = tilewright_notation::dtype("u4").unwrap();
    let request = || to("AWQ").from(spec("row-major")).dtype(u4);
    convert(&path, &out, request().verify(true)).unwrap();
    let (header, data) = parts(&out);
    assert_eq!(header["__metadata__"]["tilewright.layout.t"], "u4[3,64]E(4) AWQ");
    let order = [0, 2, 4, 6, 1, 3, 5, 7];
    let nibble = |at: usize| data[at / 2] >> (4 * (at % 2)) & 15;
    assert_eq!(data.len(), 96);
    assert!((0..192).all(|at| nibble(at) == bytes[at / 8 * 8 + order[at % 8]]));
    // Notes of earlier versions, whose elements took a byte each, and notes that request it.
    for (note, packed) in
        [("u4[3,64] AWQ", false), ("u4[3,64]E(8) AWQ", false), ("u4[3,64] AWQ", true)]
    {
        let (dtype, shape, data) = if packed {
            ("U8", "[96]", data.clone())
        } else {
            ("U8", "[3,8,2,4]", (0..192).map(nibble).collect())
        };
        let len = data.len();
        let header = format!(
            r#"{{"__metadata__":{{"tilewright.layout.t":"{note}"}},"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{len}]}}}}"#
        );
        let old = write(&folder, "old.safetensors", safetensors(&header, &data));
        let back = folder.path().join("back.safetensors");
        match convert(&old, &back, to("{1,0:E(8)}").force(true).verify(true)) {
            Ok(_) => assert_eq!(parts(&back).1, bytes, "{note} {packed}"),
            Err(error) => panic!("{note} {packed}: {error}"),
        }
    }
}

#[test]
fn the_name_of_a_result_says_what_it_is() {
    let folder = folder();
    let path = write(&folder, "in.safetensors", one("F16", &[4, 8], &noise(64)));
    for (name, part) in [("x.pt", ".pt"), ("x.bin", ".bin"), ("x.npz", "not .npz")] {
        let error = convert(&path, folder.path().join(name), to("col-major")).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(part), "{error}");
    }
    let said = format!("safetensors:{}", folder.path().join("x.pt").display());
    convert(&path, said, to("col-major")).unwrap();
    convert(&path, folder.path().join("plain"), to("col-major")).unwrap();
    assert_eq!(names(&folder), ["in.safetensors", "plain", "x.pt"]);
}

#[test]
fn bytes_of_the_other_order_are_never_mislabelled() {
    let folder = folder();
    let raw = write(&folder, "in.bin", [0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]);
    let raw = format!("raw:{}", raw.display());
    let f32 = tilewright_notation::dtype("f32").unwrap();
    let read =
        |request: Request| request.dims(&[2]).dtype(f32).order(tilewright_core::ByteOrder::Big);
    // A tensor that the layout does not fit is copied unchanged, and the header records its order.
    let kept = folder.path().join("k.npy");
    convert(&raw, &kept, read(to("zN").skip_unfit(true))).unwrap();
    let npy = std::fs::read(&kept).unwrap();
    assert!(npy.ends_with(&[0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]));
    assert!(npy.windows(3).any(|mark| mark == b">f4"));
    let safetensors = format!("raw:{}", folder.path().join("k.bin").display());
    let error = convert(&raw, safetensors, read(to("zN").skip_unfit(true)));
    assert!(error.unwrap_err().to_string().contains("big-endian"));
    convert(&raw, folder.path().join("o.npy"), read(to("row-major"))).unwrap();
    let npy = std::fs::read(folder.path().join("o.npy")).unwrap();
    assert!(npy.ends_with(&[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]));
    assert!(npy.windows(3).any(|mark| mark == b"<f4"));
    // A file that states its byte order is not read with the other one.
    let little = folder.path().join("o.npy");
    let order = to("col-major").order(tilewright_core::ByteOrder::Big);
    let error = convert(&little, folder.path().join("b.npy"), order).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("states little-endian"), "{error}");
}
