//! Checks the memory for tensors apart from buffers against the number in the memory bound: 3 KiB for each tensor of the input
//! and of the result, and twice as much if the result is verified.
//!
//! This is a separate program because its allocator counts, which would slow down every other test.

use std::{fmt::Write as _, fs, path::Path};

use tilewright_files::{Conversion, Reading, Request, Writer, open};
use tilewright_notation::Spec;

/// Writes a file of tensors of different dims.
fn make(path: &Path, tensors: u64) {
    let (mut header, mut at) = (String::new(), 0);
    for i in 0..tensors {
        let (rows, end) = (i % 100 + 1, at + (i % 100 + 1) * 32);
        let comma = if i == 0 { '{' } else { ',' };
        write!(
            header,
            r#"{comma}"model.layers.{i}.self_attn.q_proj.weight":{{"dtype":"F32","shape":[{rows},8],"data_offsets":[{at},{end}]}}"#
        )
        .unwrap();
        at = end;
    }
    header.push('}');
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.resize(bytes.len() + at as usize, 1);
    fs::write(path, bytes).unwrap();
}

/// Returns the peak memory of this thread in a conversion of this number of tensors.
fn peak(tensors: u64, to: &str, verify: bool) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("in.safetensors"), folder.path().join("out.safetensors"));
    make(&path, tensors);
    let request = Request::new().to(Spec::parse(to).unwrap()).memory(64 << 10).verify(verify);
    let measured = allocation_counter::measure(|| {
        let input = open(&path, &Reading::default()).unwrap();
        Conversion::prepare(&input, &out, request.clone()).unwrap().run(&()).unwrap();
    });
    measured.bytes_max
}

#[test]
fn allocated_bytes_of_tensors_are_those_that_are_counted() {
    for (to, verify, counted) in
        [("zN", false, 6144), ("zN", true, 12288), ("row-major", false, 6144)]
    {
        let each = (peak(1200, to, verify) - peak(400, to, verify)) / 800;
        println!("{to}, verified: {verify}: {each} bytes for each tensor");
        assert!(counted / 8 <= each && each <= counted, "{to}: {each} bytes");
    }
}

/// In addition to the result, a read holds a window of the file, and no second copy of the tensor.
#[test]
fn a_reading_holds_little_beside_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.safetensors");
    let (rows, columns) = (8u64 << 10, 2u64 << 10);
    let len = rows * columns * 2;
    let header = format!(
        r#"{{"t":{{"dtype":"BF16","shape":[{rows},{columns}],"data_offsets":[0,{len}]}}}}"#
    );
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    fs::write(&path, &bytes).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(bytes.len() as u64 + len).unwrap();
    let input = open(&path, &Reading::default()).unwrap();
    let box_of = [[0..rows, 0..columns], [5..rows - 5, 3..columns - 3]];
    for (text, part) in ["row-major", "col-major", "zN", "{1,0:T(8,128)(2,1)}"]
        .iter()
        .flat_map(|text| box_of.iter().map(move |part| (text, part)))
    {
        let to = Spec::parse(text).unwrap();
        let mut out = Vec::new();
        let reader = input.reader(&input.tensors()[0], Some(&to), Some(part)).unwrap();
        out.resize(reader.bytes() as usize, 1);
        let measured = allocation_counter::measure(|| reader.read_into(&mut out, 1, &()).unwrap());
        println!("{text} {part:?}: {} bytes", measured.bytes_max);
        assert!(measured.bytes_max < 12 << 20, "{text}: {} bytes", measured.bytes_max);
        assert!(out.len() as u64 > len / 2 && measured.bytes_max < len / 2);
    }
}

/// An array that is written is not copied as a whole: only pieces of the result are held, and the memory of plans.
#[test]
fn a_writing_holds_little_beside_its_array() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.safetensors");
    let (rows, columns) = (8u64 << 10, 2u64 << 10);
    let dtype = tilewright_notation::dtype("bf16").ok();
    for (from, to) in [("row-major", "zN"), ("col-major", "row-major"), ("row-major", "row-major")]
    {
        let layout = Spec::parse(from).unwrap().resolve(Some(&[rows, columns]), dtype).unwrap();
        let bytes = vec![1; (rows * columns * 2) as usize];
        let request = Request::new().to(Spec::parse(to).unwrap()).force(true).memory(16 << 20);
        let writer = Writer::new(request).array("t", &layout, &bytes).unwrap();
        let mut peak = 0;
        let measured = allocation_counter::measure(|| {
            peak = writer.write(&out, &()).unwrap().peak_memory();
        });
        println!("{from} to {to}: {} bytes, {peak} of buffers", measured.bytes_max);
        assert!(measured.bytes_max < 12 << 20 && peak < 12 << 20, "{from} to {to}: {peak}");
    }
}

/// Opening a file takes a number of allocations and of bytes for each tensor, which does not grow with the number of tensors.
#[test]
fn opening_takes_the_same_for_each_tensor() {
    let folder = tempfile::tempdir().unwrap();
    let each = |tensors: u64| {
        let path = folder.path().join(format!("{tensors}.safetensors"));
        make(&path, tensors);
        let measured = allocation_counter::measure(|| {
            assert_eq!(open(&path, &Reading::default()).unwrap().tensors().len() as u64, tensors);
        });
        (measured.count_total / tensors, measured.bytes_total / tensors)
    };
    let (few, many) = (each(1000), each(100_000));
    println!("{few:?} allocations and bytes for each of 1,000 tensors, {many:?} of 100,000");
    assert!(many.0 <= few.0 + 1 && many.1 <= few.1 * 2, "{few:?} {many:?}");
}
