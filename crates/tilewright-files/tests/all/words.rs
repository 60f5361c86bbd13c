//! Compares conversions of words that hold smaller elements with words packed here by the original loops of each format.

use std::path::Path;

use safetensors::Dtype;
use tempfile::TempDir;
use tilewright_core::Dtype as Element;
use tilewright_files::{
    Action, Conversion, Error, Reading, Request, Verdict, Writer, open, verify,
};
use tilewright_notation::dtype;

use crate::common::{
    convert, folder, noise, npy, one, parts, safetensors, spec, tensor, to, write,
};

/// Elements of `bits` bits, [rows, columns].
struct Array {
    rows: usize,
    columns: usize,
    bits: u32,
    elements: Vec<u32>,
}

/// Returns the bytes of words.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Array {
    fn random(rows: usize, columns: usize, bits: u32) -> Array {
        let noise = noise(rows * columns + 1);
        let mask = (1u32 << bits) - 1;
        let elements = noise[1..].iter().map(|byte| u32::from(*byte) & mask).collect();
        Array { rows, columns, bits, elements }
    }

    fn at(&self, row: usize, column: usize) -> u32 {
        self.elements[row * self.columns + column]
    }

    fn per(&self) -> usize {
        32 / self.bits as usize
    }

    /// Packs like GPTQ: `qweight[row] |= weight[i] << bits * (i - start)`, along the rows.
    fn gptq(&self) -> (Vec<u64>, Vec<u32>) {
        let (per, mut words) = (self.per(), Vec::new());
        for row in 0..self.rows / per {
            for column in 0..self.columns {
                let part = |i: usize| self.at(row * per + i, column) << (self.bits * i as u32);
                words.push((0..per).map(part).fold(0, |word, part| word | part));
            }
        }
        (vec![(self.rows / per) as u64, self.columns as u64], words)
    }

    /// Packs like AWQ: `qweight[:, col] |= weight[:, col * per + order[i]] << bits * i`.
    fn awq(&self) -> (Vec<u64>, Vec<u32>) {
        let order: &[usize] =
            if self.bits == 4 { &[0, 2, 4, 6, 1, 3, 5, 7] } else { &[0, 2, 1, 3] };
        let (per, mut words) = (self.per(), Vec::new());
        for row in 0..self.rows {
            for column in 0..self.columns / per {
                let part =
                    |i: usize| self.at(row, column * per + order[i]) << (self.bits * i as u32);
                words.push((0..per).map(part).fold(0, |word, part| word | part));
            }
        }
        (vec![self.rows as u64, (self.columns / per) as u64], words)
    }

    /// Packs like compressed-tensors: rows padded to whole words, `packed |= unpacked[:, i::per] << bits * i`.
    fn pack_quantized(&self) -> (Vec<u64>, Vec<u32>) {
        let (per, mut words) = (self.per(), Vec::new());
        let wide = self.columns.div_ceil(per);
        for row in 0..self.rows {
            for word in 0..wide {
                let there = (0..per).filter(|i| word * per + i < self.columns);
                let part = |i: usize| self.at(row, word * per + i) << (self.bits * i as u32);
                words.push(there.map(part).fold(0, |word, part| word | part));
            }
        }
        (vec![self.rows as u64, wide as u64], words)
    }

    /// Packs like Marlin's own code: tiles of 16 by 16 in rows, the permutation of 1024 elements, words of `per` of these.
    fn marlin(&self) -> (Vec<u64>, Vec<u32>) {
        let mut perm = Vec::new();
        for i in 0..32 {
            let (mut one, column) = (Vec::new(), i / 4);
            for block in [0, 1] {
                for row in [2 * (i % 4), 2 * (i % 4) + 1, 2 * (i % 4 + 4), 2 * (i % 4 + 4) + 1] {
                    one.push(16 * row + column + 8 * block);
                }
            }
            (0..4).for_each(|j| perm.extend(one.iter().map(|p| p + 256 * j)));
        }
        let interleave: &[usize] =
            if self.bits == 4 { &[0, 2, 4, 6, 1, 3, 5, 7] } else { &[0, 2, 1, 3] };
        let step = interleave.len();
        let perm: Vec<usize> =
            perm.chunks(step).flat_map(|part| interleave.iter().map(|i| part[*i])).collect();
        let mut words = Vec::new();
        for strip in 0..self.rows / 16 {
            // [K/16, 16, N/16, 16] as [K/16, N/16, 16, 16].
            let tiled = |at: usize| {
                let (tile, within) = (at / 256, at % 256);
                self.at(strip * 16 + within / 16, tile * 16 + within % 16)
            };
            let row: Vec<u32> = (0..16 * self.columns)
                .map(|at| tiled(at / 1024 * 1024 + perm[at % 1024]))
                .collect();
            let word = |part: &[u32]| {
                (0..self.per()).fold(0, |w, i| w | part[i] << (self.bits * i as u32))
            };
            words.extend(row.chunks(self.per()).map(word));
        }
        (vec![(self.rows / 16) as u64, (16 * self.columns / self.per()) as u64], words)
    }
}

/// Writes a safetensors file of words.
fn file(folder: &TempDir, name: &str, (shape, words): &(Vec<u64>, Vec<u32>)) -> std::path::PathBuf {
    let data = bytes(words);
    let len = data.len();
    let header =
        format!(r#"{{"l.qweight":{{"dtype":"I32","shape":{shape:?},"data_offsets":[0,{len}]}}}}"#);
    write(folder, name, safetensors(&header, &data))
}

/// Returns the words of a result.
fn words(path: impl AsRef<Path>) -> (Vec<u64>, Vec<u32>) {
    let (dtype, shape, data) = tensor(path, "l.qweight");
    assert_eq!(dtype, Dtype::I32);
    let word = |word: &[u8]| u32::from_le_bytes(word.try_into().unwrap());
    (shape.iter().map(|extent| *extent as u64).collect(), data.chunks(4).map(word).collect())
}

fn element(bits: u32) -> Element {
    dtype(&format!("u{bits}")).unwrap()
}

/// Returns the request that converts GPTQ's words to Marlin's.
fn repack(from: &str, to: &str, bits: u32) -> Request {
    every(from, to, bits).only("*qweight")
}

/// Returns the request for every tensor.
fn every(from: &str, to: &str, bits: u32) -> Request {
    let request = Request::new().from(spec(from)).dtype(element(bits));
    request.to(spec(to)).store(dtype("s32").unwrap()).verify(true).force(true)
}

#[test]
fn makers_and_conversions_agree_in_every_pair() {
    let folder = folder();
    let out = folder.path().join("out.safetensors");
    let mut checked = 0;
    for bits in [4, 8] {
        for (rows, columns) in [(32, 64), (64, 64), (128, 192), (64, 320)] {
            let array = Array::random(rows, columns, bits);
            let forms = [
                ("GPTQ", array.gptq()),
                ("AWQ", array.awq()),
                ("MARLIN", array.marlin()),
                ("CT_PACK_INT32", array.pack_quantized()),
            ];
            for (from, packed) in &forms {
                let path = file(&folder, "in.safetensors", packed);
                for (to, expected) in &forms {
                    if (*to == "MARLIN" || *from == "MARLIN") && columns % 64 != 0 {
                        continue;
                    }
                    convert(&path, &out, repack(from, to, bits)).unwrap();
                    assert!(
                        words(&out) == *expected,
                        "{from} to {to}, {bits} bits {rows}x{columns}"
                    );
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 2 * 4 * 16);
}

/// Every small shape that GPTQ, AWQ and compressed-tensors accept, and a padded one.
#[test]
fn small_shapes_are_packed_as_their_makers_pack_them() {
    let folder = folder();
    let out = folder.path().join("out.safetensors");
    let mut checked = 0;
    for (bits, rows, columns) in [2, 4, 8].into_iter().flat_map(|bits| {
        let per = 32 / bits as usize;
        (1..4).flat_map(move |m| (1..4).map(move |n| (bits, m * per, n * per)))
    }) {
        let array = Array::random(rows, columns, bits);
        let plain: Vec<u8> = array.elements.iter().map(|element| *element as u8).collect();
        let header = format!(
            r#"{{"l.qweight":{{"dtype":"U8","shape":[{rows},{columns}],"data_offsets":[0,{}]}}}}"#,
            plain.len()
        );
        let path = write(&folder, "plain.safetensors", safetensors(&header, &plain));
        let mut forms = vec![("GPTQ", array.gptq())];
        if bits > 2 {
            forms.extend([("AWQ", array.awq()), ("CT_PACK_INT32", array.pack_quantized())]);
        }
        for (name, expected) in forms {
            convert(&path, &out, repack("row-major", name, bits)).unwrap();
            assert!(words(&out) == expected, "{name} of {bits} bits {rows}x{columns}");
            // Back, with one element in a byte.
            let back = folder.path().join("back.safetensors");
            convert(&out, &back, to("{1,0:E(8)}").verify(true).force(true)).unwrap();
            assert_eq!(parts(&back).1, plain, "{name}");
            checked += 1;
        }
    }
    assert_eq!(checked, 9 + 2 * 27);
    // Rows that end within a word, whose dims the words do not determine.
    let array = Array::random(5, 44, 4);
    let path = file(&folder, "ct.safetensors", &array.pack_quantized());
    let request = repack("CT_PACK_INT32", "row-major as u8[5,22]", 4).dims(&[5, 44]);
    let error = convert(&path, &out, request).unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("is stored as u8, but s32 was requested"),
        "{error}"
    );
}

#[test]
fn a_conversion_notes_the_words_and_goes_back() {
    let folder = folder();
    let array = Array::random(128, 256, 4);
    let path = file(&folder, "gptq.safetensors", &array.gptq());
    let out = folder.path().join("marlin.safetensors");
    convert(&path, &out, repack("GPTQ", "MARLIN", 4)).unwrap();
    let (header, _) = parts(&out);
    assert_eq!(
        header["__metadata__"]["tilewright.layout.l.qweight"],
        "u4[128,256]E(4) MARLIN as s32[8,512]"
    );
    assert_eq!(words(&out), array.marlin());
    let input = open(&out, &Reading::default()).unwrap();
    let one = &input.tensors()[0];
    assert_eq!(
        (one.dims(), one.dtype(), one.storage()),
        (&[128, 256][..], Element::U4, &[8, 512][..])
    );
    assert_eq!(one.layout().to_spec(), "u4[128,256]E(4) MARLIN as s32[8,512]");
    let verdict = verify(&out, &path, &repack("GPTQ", "MARLIN", 4), &()).unwrap();
    assert!(matches!(verdict, Verdict::Same { .. }));
    // Back by its note alone, bit for bit.
    let back = folder.path().join("back.safetensors");
    convert(&out, &back, to("GPTQ as s32").verify(true)).unwrap();
    assert_eq!(parts(&back).1, parts(&path).1);
    assert_eq!(words(&back), array.gptq());
    // Words of another type have the same bytes.
    let same = folder.path().join("same.safetensors");
    convert(&back, &same, to("GPTQ as u8")).unwrap();
    let (kind, shape, data) = tensor(&same, "l.qweight");
    assert_eq!((kind, shape, &data), (Dtype::U8, vec![16, 1024], &parts(&path).1));
    // The layout may contain everything.
    let again = folder.path().join("again.safetensors");
    let request =
        Request::new().from(spec("u4[128,256] GPTQ as s32[16,256]")).to(spec("MARLIN as s32"));
    convert(&path, &again, request).unwrap();
    assert_eq!(std::fs::read(&again).unwrap(), std::fs::read(&out).unwrap());
}

/// Dims that the words contradict would be read as another array; floats cannot hold smaller elements.
#[test]
fn what_the_words_contradict_is_refused() {
    let folder = folder();
    let path = file(&folder, "gptq.safetensors", &Array::random(128, 256, 4).gptq());
    let out = folder.path().join("out.safetensors");
    let turned = repack("GPTQ", "MARLIN", 4).dims(&[256, 128]);
    let error = convert(&path, &out, turned).unwrap_err().to_string();
    assert!(error.contains("stored as s32[32,128], and the array is s32[16,256]"), "{error}");
    convert(&path, &out, repack("GPTQ", "MARLIN", 4).dims(&[128, 256])).unwrap();
    let scales = write(&folder, "scales.safetensors", one("F16", &[1, 256], &noise(512)));
    assert!(convert(&scales, &out, every("GPTQ", "MARLIN", 4)).is_err());
}

#[test]
fn arrays_in_npy_and_raw_files_are_words_too() {
    let folder = folder();
    let array = Array::random(64, 128, 4);
    let ((shape, gptq), (_, marlin)) = (array.gptq(), array.marlin());
    let shape = format!("({},{})", shape[0], shape[1]);
    let path = write(&folder, "gptq.npy", npy("<i4", false, &shape, &bytes(&gptq)));
    let out = folder.path().join("marlin.npy");
    convert(&path, &out, every("GPTQ", "MARLIN", 4)).unwrap();
    let written = std::fs::read(&out).unwrap();
    let head = String::from_utf8_lossy(&written[..128]).into_owned();
    assert!(head.contains("'<i4'") && head.contains("(4, 256)"), "{head}");
    assert!(written.ends_with(&bytes(&marlin)));
    let back = folder.path().join("back.npy");
    convert(&out, &back, to("GPTQ as s32").verify(true)).unwrap();
    assert!(std::fs::read(&back).unwrap().ends_with(&bytes(&gptq)));
    // Bytes without a header record neither type nor shape.
    let raw = write(&folder, "gptq.bin", bytes(&gptq));
    let result = folder.path().join("marlin.bin");
    let request = Request::new()
        .from(spec("u4[64,128] GPTQ as s32"))
        .to(spec("MARLIN"))
        .store(dtype("s32").unwrap());
    convert(format!("raw:{}", raw.display()), format!("raw:{}", result.display()), request)
        .unwrap();
    assert_eq!(std::fs::read(&result).unwrap(), bytes(&marlin));
    // Big-endian words, or words whose first dim is fastest, are different.
    let swapped: Vec<u8> = gptq.iter().flat_map(|word| word.to_be_bytes()).collect();
    let big = write(&folder, "big.npy", npy(">i4", false, &shape, &swapped));
    let error = convert(&big, &out, every("GPTQ", "MARLIN", 4)).unwrap_err();
    assert!(error.to_string().contains("little-endian"), "{error}");
    let fortran = write(&folder, "f.npy", npy("<i4", true, &shape, &bytes(&gptq)));
    assert!(convert(&fortran, &out, every("GPTQ", "MARLIN", 4)).is_err());
}

/// Writes a layer with a table of the groups of its rows.
fn layer(folder: &TempDir, groups: &[u32], kind: &str) -> std::path::PathBuf {
    let (shape, words) = Array::random(64, 64, 4).gptq();
    let (weights, table) = (bytes(&words), bytes(groups));
    let (a, b) = (weights.len(), weights.len() + table.len());
    let header = format!(
        r#"{{"l.qweight":{{"dtype":"I32","shape":{shape:?},"data_offsets":[0,{a}]}},"l.g_idx":{{"dtype":"{kind}","shape":[{}],"data_offsets":[{a},{b}]}}}}"#,
        groups.len()
    );
    write(folder, "layer.safetensors", safetensors(&header, &[weights, table].concat()))
}

#[test]
fn rows_that_a_table_permutes_are_refused_by_its_name() {
    let folder = folder();
    let out = folder.path().join("out.safetensors");
    let trivial: Vec<u32> = (0..64).map(|row| row / 16).collect();
    let path = layer(&folder, &trivial, "I32");
    convert(&path, &out, repack("GPTQ", "MARLIN", 4)).unwrap();
    assert_eq!(tensor(&out, "l.g_idx").2, bytes(&trivial));
    let none = layer(&folder, &[0; 64], "I32");
    convert(&none, &out, repack("GPTQ", "MARLIN", 4)).unwrap();

    let mut permuted = trivial.clone();
    permuted.swap(3, 40);
    let path = layer(&folder, &permuted, "I32");
    let refused = |error: Error| {
        assert!(error.is_usage());
        let said = error.to_string();
        assert!(
            said.contains(r#""l.g_idx" permutes the rows: row"#) && said.contains("index table"),
            "{said}"
        );
    };
    refused(convert(&path, &out, repack("GPTQ", "MARLIN", 4)).unwrap_err());
    let input = open(&path, &Reading::default()).unwrap();
    let reading = Reading::default().from(spec("GPTQ")).dtype(element(4));
    let weights = input.tensors().iter().find(|tensor| tensor.name() == "l.qweight").unwrap();
    let marlin = spec("MARLIN as s32");
    refused(input.reader_as(weights, &reading, Some(&marlin), None).unwrap_err());
    // Its own order, and other words of it, keep all information.
    assert!(input.reader_as(weights, &reading, Some(&spec("GPTQ as u8")), None).is_ok());
    let request = repack("GPTQ", "MARLIN", 4).skip_unfit(true);
    let conversion = Conversion::prepare(&input, &out, request).unwrap();
    let job = conversion.jobs().iter().find(|job| job.name() == "l.qweight").unwrap();
    assert!(matches!(job.action(), Action::Skip(why) if why.contains("g_idx")));
    let odd = layer(&folder, &trivial, "F32");
    let error = convert(&odd, &out, repack("GPTQ", "MARLIN", 4)).unwrap_err();
    assert!(error.to_string().contains("integers in one dim"), "{error}");
}

#[test]
fn rows_that_a_table_permutes_are_plain_dims_as_they_are() {
    let folder = folder();
    let (out, back) =
        (folder.path().join("out.safetensors"), folder.path().join("back.safetensors"));
    let groups: Vec<u32> = (0..64).map(|row| (row * 7 + 3) % 4).collect();
    let path = layer(&folder, &groups, "I32");
    let array = Array::random(64, 64, 4);
    for plain in ["row-major", "col-major", "{0,1}"] {
        convert(&path, &out, repack("GPTQ", plain, 4).force(true)).unwrap();
        // The table is copied, and still describes each row correctly.
        assert_eq!(tensor(&out, "l.g_idx").2, bytes(&groups));
        let input = open(&out, &Reading::default()).unwrap();
        let weights = input.tensors().iter().find(|it| it.name() == "l.qweight").unwrap();
        let bytes = input.bytes(weights, 1 << 20).unwrap();
        for (row, column) in [(0, 0), (3, 40), (40, 3), (63, 63)] {
            let at = weights.layout().layout().offset(&[row, column]).unwrap() as usize;
            let is = u32::from(bytes[at / 2] >> (at % 2 * 4) & 15);
            assert_eq!(is, array.at(row as usize, column as usize), "{plain} {row} {column}");
        }
        let request = to("GPTQ").only("l.qweight").store(dtype("s32").unwrap()).force(true);
        convert(&out, &back, request).unwrap();
        assert_eq!(tensor(&back, "l.qweight").2, tensor(&path, "l.qweight").2);
    }
    for format in ["MARLIN", "AWQ", "zN", "(k1 k0:8) n -> n k1 k0"] {
        let error = convert(&path, &out, repack("GPTQ", format, 4).force(true)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("needs the groups in order"), "{text}");
        assert!(text.contains("GPTQ, row-major and col-major keep the rows"), "{text}");
    }
}

#[test]
fn arrays_in_memory_are_refused_by_their_table() {
    let folder = folder();
    let array = Array::random(64, 64, 4);
    let weights = bytes(&array.gptq().1);
    let named = |text: &str| spec(text).resolve(None, None).unwrap();
    let write = |groups: &[u32], table: &str, to: &str| {
        let (table, groups) = (named(table), bytes(groups));
        let request = Request::new().rule("l.qweight", spec(to)).force(true);
        let writer = Writer::new(request).array("l.qweight", &named("u4[64,64] GPTQ"), &weights);
        let writer = writer.unwrap().array("l.g_idx", &table, &groups).unwrap();
        writer.write(folder.path().join("out.safetensors"), &()).map(drop)
    };
    let trivial: Vec<u32> = (0..64).map(|row| row / 16).collect();
    let permuted: Vec<u32> = (0..64).map(|row| row % 4).collect();
    write(&trivial, "s32[64] row-major", "MARLIN").unwrap();
    write(&permuted, "s32[64] row-major", "row-major").unwrap();
    let text = write(&permuted, "s32[64] row-major", "MARLIN").unwrap_err().to_string();
    assert!(text.contains("\"l.g_idx\" permutes the rows: row 4 is of group 0"), "{text}");
    for odd in ["f32[64] row-major", "s32[8,8] row-major", ">i4[64] row-major"] {
        let text = write(&trivial, odd, "MARLIN").unwrap_err().to_string();
        assert!(text.contains("integers in one dim, such as s32[128]"), "{odd}: {text}");
    }
}

#[test]
fn a_long_table_is_read_in_small_pieces() {
    let folder = folder();
    let trivial: Vec<u32> = (0..4096).map(|row| row / 128).collect();
    let at = |place: usize| {
        let mut groups = trivial.clone();
        groups[place] += 1;
        let path = layer(&folder, &groups, "I32");
        let error = convert(&path, folder.path().join("out"), repack("GPTQ", "MARLIN", 4));
        error.unwrap_err().to_string()
    };
    for place in [1023, 1024, 1025, 4094] {
        let text = at(place);
        let group = trivial[place] + 1;
        assert!(text.contains(&format!("row {place} is of group {group}")), "{text}");
    }
    // The memory for it is at most the least bound.
    let path = layer(&folder, &trivial, "I32");
    let out = folder.path().join("out.safetensors");
    convert(&path, &out, repack("GPTQ", "MARLIN", 4).memory(4096)).unwrap();
}

#[test]
fn what_words_cannot_hold_is_refused() {
    let folder = folder();
    let out = folder.path().join("out.safetensors");
    let array = Array::random(64, 64, 4);
    let path = file(&folder, "gptq.safetensors", &array.gptq());
    let said = |request: Request| {
        let error = convert(&path, &out, request).unwrap_err();
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    let base = || Request::new().from(spec("GPTQ")).dtype(element(4)).to(spec("MARLIN"));
    for (store, words) in
        [("u4", "a word has whole bytes, and u4 has not"), ("q4_0", "whole bytes"), ("pred", "")]
    {
        let request = base().store(dtype(store).unwrap());
        match words {
            "" => assert!(convert(&path, &out, request.force(true)).is_ok()),
            words => assert!(said(request.force(true)).contains(words), "{store}"),
        }
    }
    let no_name = base().store(dtype("f8e4m3b11fnuz").unwrap()).force(true);
    assert!(said(no_name).contains("cannot store words of f8e4m3b11fnuz"));
    // The type of the elements is missing, or is not one of the format.
    assert!(
        said(Request::new().from(spec("GPTQ")).to(spec("MARLIN")).force(true))
            .contains("s32 has 32")
    );
    assert!(
        said(base().from(spec("GPTQ as s64")).force(true))
            .contains("is stored as s64, and the array is s32[8,64]")
    );
    assert!(
        said(base().from(spec("MARLIN as s32[3,3]")).force(true))
            .contains("the array is s32[8,64]")
    );
    assert!(said(base().from(spec("BNB_4BIT")).force(true)).contains("needs the array's dims"));
    let fits = base().from(spec("BNB_4BIT")).dims(&[64, 64]).force(true);
    assert!(convert(&path, &out, fits).is_ok());
    // A note of other words than those of the file.
    let (shape, words) = array.gptq();
    let data = bytes(&words);
    for (note, words) in [
        ("u4[64,64]E(4) GPTQ as s32[16,32]", "is stored as I32 [16, 32], the file has I32 [8, 64]"),
        ("u4[64,64]E(4) GPTQ as u32[8,64]", "is stored as U32"),
        ("u4[64,32]E(4) GPTQ as s32[8,32]", "the file has 2048 bytes"),
        ("u4[64,64]E(4) GPTQ as s32[8,65]", "s32[8,64] fits"),
    ] {
        let header = format!(
            r#"{{"__metadata__":{{"tilewright.layout.t":"{note}"}},"t":{{"dtype":"I32","shape":{shape:?},"data_offsets":[0,{}]}}}}"#,
            data.len()
        );
        let wrong = write(&folder, "wrong.safetensors", safetensors(&header, &data));
        let error = open(&wrong, &Reading::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{note}: {error}");
    }
}

/// NF4 and FP4 of bitsandbytes: the first of two values in the high bits of a byte.
#[test]
fn pairs_with_the_first_value_high_are_read() {
    let folder = folder();
    let out = folder.path().join("out.safetensors");
    let array = Array::random(6, 10, 4);
    let packed: Vec<u8> =
        array.elements.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect();
    let header = format!(
        r#"{{"l.weight":{{"dtype":"U8","shape":[30,1],"data_offsets":[0,{}]}}}}"#,
        packed.len()
    );
    let path = write(&folder, "nf4.safetensors", safetensors(&header, &packed));
    let request = Request::new().from(spec("BNB_4BIT")).dtype(element(4)).dims(&[6, 10]);
    convert(&path, &out, request.to(spec("{1,0:E(8)}")).verify(true)).unwrap();
    let plain: Vec<u8> = array.elements.iter().map(|element| *element as u8).collect();
    assert_eq!(parts(&out).1, plain);
    let back = folder.path().join("back.safetensors");
    convert(&out, &back, to("BNB_4BIT as u8").verify(true)).unwrap();
    let (kind, shape, data) = tensor(&back, "l.weight");
    assert_eq!((kind, shape, data), (Dtype::U8, vec![30, 1], packed));
}
