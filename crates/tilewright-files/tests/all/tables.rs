//! Index tables in files: conversions, reads, verification, sums and conversions back; GPTQ's act order; invalid tables.

use tempfile::TempDir;
use tilewright_core::Dtype as Element;
use tilewright_files::{
    Action, Collection, Conversion, Difference, Error, Key, Reading, Request, Verdict, open,
    same_data, verify,
};
use tilewright_notation::Spec;

use crate::common::{convert, folder, noise, parts, safetensors, spec, tensor, to, write};

/// Returns a safetensors file of tensors: name, type, extents, bytes.
fn file(tensors: &[(&str, &str, &[u64], &[u8])]) -> Vec<u8> {
    let (mut header, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let (from, to) = (data.len(), data.len() + bytes.len());
        header.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{from},{to}]}}"#
        ));
        data.extend_from_slice(bytes);
    }
    safetensors(&format!("{{{}}}", header.join(",")), &data)
}

/// Returns a shuffled list of `all` numbers, equal for equal seeds.
fn shuffled(all: usize, mut seed: u64) -> Vec<i64> {
    let mut list: Vec<i64> = (0..all as i64).collect();
    for i in (1..all).rev() {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        list.swap(i, (seed >> 33) as usize % (i + 1));
    }
    list
}

fn text_of(list: &[i64]) -> String {
    let entries: Vec<String> = list
        .iter()
        .map(|entry| if *entry < 0 { "-".to_owned() } else { entry.to_string() })
        .collect();
    entries.join(",")
}

fn int64(list: &[i64]) -> Vec<u8> {
    list.iter().flat_map(|entry| entry.to_le_bytes()).collect()
}

fn int32(list: &[i64]) -> Vec<u8> {
    list.iter().flat_map(|entry| (*entry as i32).to_le_bytes()).collect()
}

/// Writes a file with a matrix of 16-bit elements and two lists.
fn source(
    folder: &TempDir,
    (rows, columns): (usize, usize),
    order: &[i64],
) -> (std::path::PathBuf, Vec<u8>) {
    let data = noise(rows * columns * 2);
    let shape = [rows as u64, columns as u64];
    let list = int64(order);
    let bytes = file(&[
        ("model.order", "I64", &[order.len() as u64], &list),
        ("model.w", "F16", &shape, &data),
    ]);
    (write(folder, "source.safetensors", bytes), data)
}

/// For every table, dim, stored layout and memory, the stored bytes are those of the definition, verified, with the fingerprint
/// of the data, and a conversion back gives the original bit for bit.
#[test]
fn a_conversion_there_and_back() {
    let (rows, columns) = (37, 50);
    for (case, (dim, rest, holes)) in [
        (0, "row-major", 0),
        (0, "row-major", 3),
        (1, "row-major", 0),
        (1, "col-major", 2),
        (0, "zN", 0),
        (1, "zN", 1),
        (0, "{1,0:T(8,128)}", 2),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = folder();
        let extent = [rows, columns][dim];
        let mut order = shuffled(extent, case as u64);
        for hole in 0..holes {
            order.insert(hole * 7, -1);
        }
        let (path, data) = source(&folder, (rows, columns), &order);
        let (there, back) =
            (folder.path().join("there.safetensors"), folder.path().join("back.safetensors"));
        let inline = format!("table({dim}; {}) {rest}", text_of(&order));
        let list = write(&folder, "list.txt", text_of(&order).replace(',', "\n"));
        let file = format!("table({dim}; @{}) {rest}", list.display());
        let mut results = Vec::new();
        for text in [
            &inline,
            &format!("table({dim}; tensor model.order) {rest}"),
            &format!("table({dim}; tensor order) {rest}"),
            &file,
        ] {
            for memory in [4 << 10, 1 << 20] {
                let input = open(&path, &Reading::default()).unwrap();
                let request = Request::new()
                    .rule("model.w", spec(text))
                    .memory(memory)
                    .verify(true)
                    .force(true)
                    .threads(2);
                let conversion = Conversion::prepare(&input, &there, request).unwrap();
                assert_eq!(*conversion.jobs()[1].action(), Action::Convert);
                let report = conversion
                    .run(&())
                    .unwrap_or_else(|error| panic!("{text} in {memory}: {error}"));
                assert!(report.peak_memory() <= memory, "{} of {memory}", report.peak_memory());
                results.push(std::fs::read(&there).unwrap());
            }
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{rest}");
        // The bytes of the definition.
        let tabled = spec(&inline)
            .array_layout(Some(&[rows as u64, columns as u64]), Some(Element::F16), &())
            .unwrap();
        let mut expected = vec![0; tabled.layout().stored().capacity() as usize * 2];
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
        {
            let at = tabled.layout().offset(&[row as u64, column as u64]).unwrap() as usize * 2;
            let from = (row * columns + column) * 2;
            expected[at..at + 2].copy_from_slice(&data[from..from + 2]);
        }
        assert!(tensor(&there, "model.w").2 == expected, "{inline}");
        let input = open(&there, &Reading::default()).unwrap();
        let held = input.tensors().iter().find(|tensor| tensor.name() == "model.w").unwrap();
        assert_eq!(held.dims(), [rows as u64, columns as u64]);
        assert!(held.spec().starts_with(&format!("f16[37,50] table({dim}; ")), "{}", held.spec());
        assert!(held.recorded().is_some());
        // The data read from it, and their sum.
        let reader = input.reader(held, None, Some(&[3..9, 10..41])).unwrap();
        let mut part = vec![0; reader.bytes() as usize];
        reader.read_into(&mut part, 1, &()).unwrap();
        let wanted: Vec<u8> = (3..9)
            .flat_map(|row| data[(row * columns + 10) * 2..(row * columns + 41) * 2].to_vec())
            .collect();
        assert!(part == wanted, "{inline}");
        let sums = |path: &std::path::Path| {
            Collection::open(path).unwrap().fingerprints(&Key::default(), &()).unwrap().all
        };
        assert_eq!(sums(&path), sums(&there));
        let [a, b] = [&path, &there].map(|path| Collection::open(path).unwrap());
        assert_eq!(same_data(&a, &b, &Key::default(), &()).unwrap(), []);
        assert!(matches!(
            verify(&there, &path, &Request::new(), &()).unwrap(),
            Verdict::Same { .. }
        ));
        // Back, bit for bit.
        convert(&there, &back, to("row-major").verify(true)).unwrap();
        for name in ["model.w", "model.order"] {
            assert!(tensor(&path, name) == tensor(&back, name), "{name} of {inline}");
        }
        let [(header, _), (original, _)] = [&back, &path].map(parts);
        assert_eq!(header["model.w"]["shape"], original["model.w"]["shape"]);
        // Every changed byte is found.
        let bytes = std::fs::read(&there).unwrap();
        let at = open(&there, &Reading::default())
            .unwrap()
            .tensors()
            .iter()
            .find(|it| it.name() == "model.w")
            .unwrap()
            .pieces()[0]
            .at();
        for byte in (0..expected.len()).step_by(131) {
            let mut changed = bytes.clone();
            changed[at as usize + byte] ^= 0x40;
            std::fs::write(&there, &changed).unwrap();
            let verdict = verify(&there, &path, &Request::new(), &()).unwrap();
            let Verdict::Differs(found) = verdict else {
                panic!("byte {byte} of {inline} is not found")
            };
            let offset = byte as i64 / 2;
            let is_element = matches!(
                tabled.layout().locate(offset).unwrap(),
                tilewright_core::Place::Element(_)
            );
            match found {
                Difference::Element { .. } => assert!(is_element),
                Difference::Padding { offset: found, .. } => {
                    assert!(!is_element && found == offset as u64)
                }
                other => panic!("{other}"),
            }
        }
    }
}

/// From one table to another, and for arrays whose layout only the command line gives.
#[test]
fn tables_on_both_sides() {
    let folder = folder();
    let (rows, columns) = (12, 40);
    let data = noise(rows * columns);
    let raw = write(&folder, "a.bin", &data);
    let (out, back) = (folder.path().join("b.bin"), folder.path().join("c.bin"));
    let (first, second) = (shuffled(rows, 1), shuffled(columns, 2));
    let from = format!("u8[12,40] table(0; {}) row-major", text_of(&first));
    let to = format!(
        "u8[12,40] table(0; {}) table(1; {}) col-major",
        text_of(&shuffled(rows, 3)),
        text_of(&second)
    );
    let there = |input: &std::path::Path, from: &str, out: &std::path::Path, to: &str| {
        let request = Request::new().from(spec(from)).to(spec(to)).verify(true);
        convert(format!("raw:{}", input.display()), format!("raw:{}", out.display()), request)
            .unwrap();
    };
    there(&raw, &from, &out, &to);
    let resolved = |text: &str| spec(text).array_layout(None, None, &()).unwrap();
    let (a, b) = (resolved(&from), resolved(&to));
    let moved = std::fs::read(&out).unwrap();
    for (row, column) in (0..12).flat_map(|row| (0..40).map(move |column| (row, column))) {
        let (at, goes) = (
            a.layout().offset(&[row, column]).unwrap(),
            b.layout().offset(&[row, column]).unwrap(),
        );
        assert_eq!(data[at as usize], moved[goes as usize]);
    }
    there(&out, &to, &back, &from);
    assert_eq!(std::fs::read(&back).unwrap(), data);
}

/// GPTQ in act order: Marlin's kernel needs rows sorted by their groups; without the table that is refused.
#[test]
fn act_order_of_gptq() {
    let folder = folder();
    let (rows, columns, group) = (64usize, 128usize, 16usize);
    let order = shuffled(rows, 5);
    // The group of row i: its place in the order, divided by the group size.
    let mut groups = vec![0; rows];
    order
        .iter()
        .enumerate()
        .for_each(|(place, row)| groups[*row as usize] = (place / group) as i64);
    let noise = noise(rows * columns);
    let element = |row: usize, column: usize| u32::from(noise[row * columns + column] & 15);
    let mut words = Vec::new();
    for row in 0..rows / 8 {
        for column in 0..columns {
            let word = (0..8).fold(0u32, |word, i| word | element(row * 8 + i, column) << (4 * i));
            words.extend(word.to_le_bytes());
        }
    }
    let list = int32(&groups);
    let bytes = file(&[
        ("l.qweight", "I32", &[rows as u64 / 8, columns as u64], &words),
        ("l.g_idx", "I32", &[rows as u64], &list),
    ]);
    let path = write(&folder, "gptq.safetensors", bytes);
    let asked = |to: &str| {
        let request = Request::new().from(spec("GPTQ")).dtype(Element::U4).only("l.qweight");
        request.rule("l.qweight", spec(to)).verify(true)
    };
    let out = folder.path().join("marlin.safetensors");
    let error = convert(&path, &out, asked("MARLIN as s32")).unwrap_err().to_string();
    assert!(error.contains("`table(0; tensor g_idx) MARLIN`"), "{error}");
    convert(&path, &out, asked("table(0; tensor g_idx) MARLIN as s32")).unwrap();
    // Marlin of the rows in the order of their groups; rows of a group keep their order.
    let mut sorted: Vec<usize> = (0..rows).collect();
    sorted.sort_by_key(|row| groups[*row]);
    let marlin = Spec::parse("u4[64,128] MARLIN").unwrap().resolve(None, None).unwrap();
    let moved = tensor(&out, "l.qweight").2;
    for (place, row) in sorted.iter().enumerate() {
        for column in 0..columns {
            let at = marlin.layout().offset(&[place as u64, column as u64]).unwrap() as usize;
            let found = u32::from(moved[at / 2] >> (4 * (at % 2)) & 15);
            assert_eq!(found, element(*row, column), "row {row}, column {column}");
        }
    }
    // Back to GPTQ's storage, from the note alone.
    let back = folder.path().join("back.safetensors");
    convert(&out, &back, Request::new().rule("l.qweight", spec("GPTQ as s32")).verify(true))
        .unwrap();
    assert_eq!(tensor(&back, "l.qweight").2, words);
}

/// Lists that digits can express, from a file, before every layout; and packed elements in rows: the note is that of the stored
/// data.
#[test]
fn what_is_noted_is_read_back() {
    let folder = folder();
    let order: Vec<i64> = (0..37).collect();
    let (path, _) = source(&folder, (37, 50), &order);
    let (there, back) =
        (folder.path().join("there.safetensors"), folder.path().join("back.safetensors"));
    let backwards: Vec<String> = (0..37).rev().map(|row| row.to_string()).collect();
    let list = write(&folder, "list.txt", backwards.join(" "));
    for list in [format!("@{}", list.display()), "tensor order".to_owned(), backwards.join(",")] {
        for rest in ["row-major", "col-major", "zN", "{1,0:T(8,128)}"] {
            let request = Request::new().rule("model.w", spec(&format!("table(0; {list}) {rest}")));
            convert(&path, &there, request.verify(true).force(true)).unwrap();
            convert(&there, &back, to("row-major").verify(true).force(true)).unwrap();
            assert!(tensor(&path, "model.w") == tensor(&back, "model.w"), "{list} {rest}");
        }
    }
    // Nibbles after a table that digits cannot express, and explicitly requested words.
    let words: Vec<u8> = noise(64 * 128 / 2);
    let groups: Vec<i64> = (0..64).map(|row| (row * 5 % 64) / 16).collect();
    let bytes = file(&[
        ("l.qweight", "I32", &[8, 128], &words),
        ("l.g_idx", "I32", &[64], &int32(&groups)),
    ]);
    let path = write(&folder, "gptq.safetensors", bytes);
    for text in ["row-major", "col-major", "MARLIN"] {
        for store in [false, true] {
            let text = format!("table(0; tensor g_idx) {text}");
            let request = Request::new().from(spec("GPTQ")).dtype(Element::U4).only("l.qweight");
            let request = request.rule("l.qweight", spec(&text)).verify(true).force(true);
            convert(&path, &there, if store { request.store(Element::S32) } else { request })
                .unwrap();
            let stored = tensor(&there, "l.qweight").0;
            assert_eq!(stored == safetensors::Dtype::I32, store, "{text}: {stored:?}");
            let request = Request::new().rule("l.qweight", spec("GPTQ as s32")).verify(true);
            convert(&there, &back, request.force(true)).unwrap();
            assert!(tensor(&back, "l.qweight").2 == words, "{text} {store}");
        }
    }
    // A table that does not sort the rows does not make them sorted.
    let request = Request::new().from(spec("GPTQ")).dtype(Element::U4).only("l.qweight");
    let error = convert(
        &path,
        &there,
        request.rule("l.qweight", spec("table(1; 1..128,0) MARLIN")).force(true),
    );
    assert!(error.unwrap_err().to_string().contains("permutes the rows"));
}

#[test]
fn what_is_no_table_is_refused() {
    let folder = folder();
    let (path, _) = source(&folder, (6, 4), &[0, 1, 2, 2, 4, 5]);
    let out = folder.path().join("out.safetensors");
    let refused = |text: &str| -> Error {
        convert(&path, &out, Request::new().rule("model.w", spec(text))).unwrap_err()
    };
    for (text, said) in [
        ("table(0; tensor order) row-major", "index 2 of the array is stored at 2 and at 3"),
        ("table(0; tensor nothing) row-major", "lacks the tensor \"nothing\""),
        ("table(0; tensor model.w) row-major", "it holds no list"),
        ("table(0; @no/such/list.txt) row-major", "no/such/list.txt"),
        ("table(0; 0,1,2,3,4) row-major", "index 5 of the array is stored nowhere"),
        ("table(2; 0,1,2,3,4) row-major", "an index table names dim 2 of an array of 2 dims"),
    ] {
        let error = refused(text).to_string();
        assert!(error.contains(said) && error.contains("model.w"), "{text}: {error}");
    }
    assert!(!out.exists());
    let list = write(&folder, "list.txt", "0 1 two");
    let error = refused(&format!("table(0; @{}) row-major", list.display())).to_string();
    assert!(error.contains("`two` is not an integer"), "{error}");
    let error = refused(&format!("table(0; @{}) row-major", folder.path().display())).to_string();
    assert!(error.contains("it is not a file"), "{error}");
}
