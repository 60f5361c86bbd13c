//! Objects are read whole, in any pieces, with few requests, and only in one version.

use tilewright_remote::{Entry, Location, Object, is_folder, list};

use crate::{bytes, location, server};

/// The locations of one file by all three protocols.
fn everywhere(server: &tilewright_testing::Objects, data: &[u8]) -> Vec<Location> {
    server.put("bucket/dir/a.bin", data);
    server.commit("owner/name", "c0ffee");
    server.put("owner/name/dir/a.bin", data);
    server.put("owner/name/dir/a.json", data);
    let web = format!("{}/bucket/dir/a.bin", server.url());
    [
        "s3://bucket/dir/a.bin",
        "gs://bucket/dir/a.bin",
        &web,
        "hf://owner/name/dir/a.bin",
        "hf://owner/name/dir/a.json",
    ]
    .map(location)
    .to_vec()
}

#[test]
fn objects_are_read_at_positions() {
    let server = server();
    for len in [1, 100, 65_536, 65_537, 300_000, 20 << 20] {
        let data = bytes(len);
        for location in everywhere(&server, &data) {
            let object = Object::open(&location).unwrap();
            assert_eq!((object.len(), object.is_pinned()), (len as u64, true), "{location}");
            for (from, to) in [(0, len), (len / 3, len / 2), (len - 1, len), (len / 2, len / 2 + 1)]
            {
                let mut read = vec![0; to.saturating_sub(from)];
                object.read_at(&mut read, from as u64).unwrap();
                assert!(read == data[from..to.max(from)], "{location} {from} {to}");
            }
            let error = object.read_at(&mut [0; 2], len as u64 - 1).unwrap_err();
            assert!(error.to_string().contains("it ends before"), "{error}");
        }
    }
}

#[test]
fn a_file_in_order_takes_each_byte_once() {
    let server = server();
    let data = bytes(3 << 20);
    for location in everywhere(&server, &data) {
        server.take();
        let object = Object::open(&location).unwrap();
        // Short and long reads in turns, as tensors of a file have.
        let (mut at, mut read) = (0, vec![0; data.len()]);
        for len in [8, 1000, 200_000, 64, 64, 500_000, 70_000, 1, 100_000].iter().cycle() {
            let step = (*len).min(data.len() - at);
            object.read_at(&mut read[at..at + step], at as u64).unwrap();
            at += step;
            if at == data.len() {
                break;
            }
        }
        assert!(read == data);
        let sent: u64 = server.take().iter().map(|came| came.sent).sum();
        assert_eq!(sent, data.len() as u64, "{location}");
    }
}

#[test]
fn short_reads_with_gaps_share_requests() {
    let server = server();
    let data = bytes(4 << 20);
    for location in everywhere(&server, &data) {
        let object = Object::open(&location).unwrap();
        server.take();
        let mut read = [0; 512];
        for at in (1 << 20..3 << 20).step_by(8 << 10) {
            object.read_at(&mut read, at as u64).unwrap();
            assert!(read == data[at..at + 512]);
        }
        let asked = server.take().len();
        assert!(asked < 24, "{location}: {asked} requests for 256 reads");
    }
}

#[test]
fn empty_and_missing_objects_are_told_apart() {
    let server = server();
    for location in everywhere(&server, &[]) {
        assert_eq!(Object::open(&location).unwrap().len(), 0, "{location}");
    }
    for location in everywhere(&server, &[]) {
        server.clear();
        let error = Object::open(&location).unwrap_err();
        assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound), "{error}");
        assert!(error.to_string().starts_with(&location.to_string()), "{error}");
    }
}

#[test]
fn a_changed_object_is_an_error() {
    let server = server();
    let data = bytes(1 << 20);
    for location in everywhere(&server, &data) {
        let object = Object::open(&location).unwrap();
        server.put("bucket/dir/a.bin", &bytes(2 << 20));
        server.put("owner/name/dir/a.bin", &bytes(2 << 20));
        server.put("owner/name/dir/a.json", &bytes(2 << 20));
        let error = object.read_at(&mut vec![0; 1 << 19], 1 << 19).unwrap_err();
        assert!(error.is_io() && error.to_string().contains("was changed"), "{error}");
        everywhere(&server, &data);
    }
}

#[test]
fn folders_are_listed() {
    let server = server();
    everywhere(&server, b"abc");
    let file = |name: &str| Entry { name: name.into(), len: 3, is_folder: false };
    let dir = Entry { name: "dir".into(), len: 0, is_folder: true };
    assert_eq!(list(&location("s3://bucket")).unwrap().1, [dir]);
    assert_eq!(list(&location("s3://bucket/dir")).unwrap().1, [file("a.bin")]);
    assert_eq!(list(&location("gs://bucket/dir")).unwrap().1, [file("a.bin")]);
    let (at, entries) = list(&location("hf://owner/name/dir")).unwrap();
    assert_eq!(at.to_string(), "hf://owner/name@c0ffee/dir");
    assert_eq!(entries, [file("a.bin"), file("a.json")]);
    assert!(is_folder(&location("s3://bucket/dir")).unwrap());
    assert!(!is_folder(&location("s3://bucket/di")).unwrap());
    assert!(list(&location("hf://owner/other")).is_err());
}

#[test]
fn the_token_goes_to_the_hub_only_and_no_secret_is_printed() {
    let server = server();
    let data = bytes(300_000);
    everywhere(&server, &data);
    server.take();
    let object = Object::open(&location("hf://owner/name/dir/a.bin")).unwrap();
    object.read_at(&mut vec![0; 100_000], 100_000).unwrap();
    assert_eq!(object.location().to_string(), "hf://owner/name@c0ffee/dir/a.bin");
    let came = server.take();
    // The hub, its storage, and then the storage alone.
    assert_eq!(came.len(), 3);
    let tokens: Vec<bool> =
        came.iter().map(|one| one.headers.contains_key("authorization")).collect();
    assert_eq!(tokens, [true, false, false]);
    server.clear();
    let error = object.read_at(&mut vec![0; 100_000], 200_000).unwrap_err();
    let said = format!("{error} {error:?} {object:?}");
    assert!(!said.contains("secret"), "{said}");
}

#[test]
fn threads_of_another_runtime_may_wait() {
    let server = server();
    everywhere(&server, b"abc");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let len =
        runtime.block_on(async { Object::open(&location("s3://bucket/dir/a.bin")).unwrap().len() });
    assert_eq!(len, 3);
}
