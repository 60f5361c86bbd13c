//! Uploads appear when they are committed, and leave nothing when they are not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tilewright_remote::{PartUpload, Upload, cancel_by, exists, put, remove};

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

/// An older object of the same length is not the one that an upload made, even if the store has lost the upload.
#[test]
fn completed_uploads_are_known_by_their_bytes() {
    let server = server();
    let (at, data) = (location("s3://bucket/a"), bytes(100));
    for (older, replaces, expected) in [
        (Some(vec![7; 100]), true, Some("io")),
        (Some(vec![7; 100]), false, Some("exists")),
        (Some(data.clone()), true, None),
        (Some(data.clone()), false, None),
        (None, false, Some("io")),
    ] {
        server.clear();
        let upload = PartUpload::begin(&at).unwrap();
        let parts = [upload.send(0, data[..60].to_vec()), upload.send(1, data[60..].to_vec())];
        let parts = parts.map(Result::unwrap);
        if let Some(older) = &older {
            server.put("bucket/a", older);
        }
        // As the rule of a bucket does.
        server.abort_all();
        let ended = upload.complete(&parts, replaces).err();
        assert_eq!(ended.as_ref().map(|error| error.kind()), expected, "{replaces} {ended:?}");
        assert!(server.get("bucket/a") == older);
    }
}

#[test]
fn parts_become_an_object() {
    let server = server();
    let (at, data) = (location("s3://bucket/a"), bytes(6 << 20));
    let upload = PartUpload::begin(&at).unwrap();
    let parts =
        [upload.send(0, data[..5 << 20].to_vec()), upload.send(1, data[5 << 20..].to_vec())];
    let parts = parts.map(Result::unwrap);
    let name = upload.name().to_owned();
    upload.complete(&parts, false).unwrap();
    assert!(server.get("bucket/a").unwrap() == data);
    // Again, as after a lost answer.
    PartUpload::named(&at, &name).unwrap().complete(&parts, false).unwrap();
    assert_eq!(server.open_uploads(), 0);
}

/// A signal during the last request: the request ends, and its object is whole and reported, or named.
#[test]
fn a_signal_during_the_last_request_hides_no_object() {
    let server = server();
    let (data, at) = (bytes(17 << 20), location("s3://bucket/late"));
    let begun = || {
        server.clear();
        server.take();
        let mut upload = Upload::begin(&at, (17 << 20, 0), 64 << 20, false).unwrap();
        upload.write(&data).unwrap();
        upload.finish().unwrap();
        upload
    };
    // The number of requests before the last one.
    begun().commit().unwrap();
    let last = server.take().len() - 1;
    let upload = begun();
    server.hold(last);
    let signal = Arc::new(AtomicUsize::new(0));
    cancel_by(signal.clone());
    let ended = std::thread::scope(|scope| {
        let ended = scope.spawn(|| upload.commit());
        while !server.holds() {
            std::thread::sleep(Duration::from_millis(5));
        }
        signal.store(2, Ordering::Relaxed);
        ended.join().unwrap()
    });
    cancel_by(Arc::new(AtomicUsize::new(0)));
    let said = ended.unwrap_err().to_string();
    assert!(said.contains("s3://bucket/late may be visible"), "{said}");
    assert_eq!(server.open_uploads(), 0);
}
