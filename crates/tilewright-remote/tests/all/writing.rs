//! Uploads appear when they are committed, and leave nothing when they are not.

use tilewright_remote::{Upload, exists, put, remove};

use crate::{bytes, location, server};

#[test]
fn uploads_appear_when_they_are_committed() {
    let server = server();
    for len in [0, 1, 5 << 20, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, 30 << 20] {
        let data = bytes(len);
        for (step, finishes, scheme) in
            [(1 << 20, false, "s3"), (7_777_777, true, "s3"), (1 << 20, false, "gs")]
        {
            server.clear();
            let at = location(&format!("{scheme}://bucket/out/a.bin"));
            let mut upload = Upload::begin(&at, (len as u64, 0), 64 << 20, false).unwrap();
            data.chunks(step).for_each(|piece| upload.write(piece).unwrap());
            if finishes {
                upload.finish().unwrap();
            }
            assert!(server.names().is_empty(), "visible before the commit");
            upload.commit().unwrap();
            assert!(server.get("bucket/out/a.bin").unwrap() == data, "{len} {step}");
            assert_eq!(server.open_uploads(), 0);
        }
    }
}

#[test]
fn dropped_uploads_are_aborted() {
    let server = server();
    let data = bytes(20 << 20);
    let at = location("s3://bucket/a");
    for kind in 0..2 {
        let mut upload = Upload::begin(&at, (data.len() as u64, 0), 64 << 20, false).unwrap();
        upload.write(&data).unwrap();
        assert_eq!(server.open_uploads(), 1);
        match kind {
            0 => drop(upload),
            _ => upload.abort().unwrap(),
        }
        assert!(server.names().is_empty() && server.open_uploads() == 0);
    }
}

#[test]
fn objects_are_replaced_on_request_only() {
    let server = server();
    let at = location("s3://bucket/a");
    put(&at, b"old", false).unwrap();
    for len in [3, 20 << 20] {
        let error = Upload::begin(&at, (len, 0), 64 << 20, false).unwrap_err();
        assert_eq!(error.kind(), "exists");
    }
    put(&at, b"new", true).unwrap();
    assert_eq!(server.get("bucket/a").unwrap(), b"new");

    // A name that is taken after the beginning, by an object of another length or of the same one.
    for (len, taken) in [(3, 8), (3, 3), (20 << 20, 8), (20 << 20, 20 << 20)] {
        let (at, other) = (location("s3://bucket/b"), vec![7; taken]);
        let mut upload = Upload::begin(&at, (len, 0), 64 << 20, false).unwrap();
        upload.write(&bytes(len as usize)).unwrap();
        server.put("bucket/b", &other);
        let error = upload.commit().unwrap_err();
        assert_eq!(error.kind(), "exists", "{error}");
        assert!(server.get("bucket/b").unwrap() == other && server.open_uploads() == 0);
        assert!(exists(&at).unwrap());
        remove(&at).unwrap();
        assert!(!exists(&at).unwrap());
    }
}

#[test]
fn memory_bounds_the_parts() {
    let _server = server();
    for (len, memory) in [(0, 0), (1 << 30, 20 << 20), (1 << 40, 1 << 30), (600 << 30, 1 << 30)] {
        let held = Upload::buffers((len, 0), memory);
        assert!(held <= memory.max(10 << 20), "{len} {memory} {held}");
    }
}

#[test]
fn a_header_is_completed_at_the_end() {
    let server = server();
    for (len, head) in [(100, 50), (20 << 20, 100), (30 << 20, 9 << 20)] {
        let (mut data, at) = (bytes(len), location("s3://bucket/a"));
        let mut upload = Upload::begin(&at, (len as u64, head as u64), 64 << 20, true).unwrap();
        data.chunks(1 << 20).for_each(|piece| upload.write(piece).unwrap());
        for place in [0, head / 2, head - 2] {
            data[place..place + 2].copy_from_slice(&[1, 2]);
            upload.place(&[1, 2], place as u64).unwrap();
        }
        if len > 10 << 20 {
            assert!(upload.place(&[1], 16 << 20).unwrap_err().is_usage());
        }
        upload.commit().unwrap();
        assert!(server.get("bucket/a").unwrap() == data, "{len} {head}");
    }
}
