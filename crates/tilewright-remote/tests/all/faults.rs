//! Every fault at every request: bytes are right or the error names the object; nothing is half visible.

use tilewright_remote::{Error, Object, PartUpload, Upload, set_variable, unaborted};
use tilewright_testing::{Objects, Planted};

use crate::{bytes, location, server};

/// Faults after which a retry succeeds.
const PASSING: [Planted; 6] = [
    Planted::Status(429),
    Planted::Status(500),
    Planted::Status(503),
    Planted::Reset,
    Planted::Lost,
    Planted::Short,
];

fn read(text: &str, len: usize) -> Result<Vec<u8>, Error> {
    let object = Object::open(&location(text))?;
    let mut read = vec![0; len];
    object.read_at(&mut read[..10], 0)?;
    object.read_at(&mut read[10..], 10)?;
    Ok(read)
}

fn filled(server: &Objects, data: &[u8]) -> [String; 4] {
    server.put("bucket/a.bin", data);
    server.commit("owner/name", "c0ffee");
    server.put("owner/name/a.bin", data);
    server.put("owner/name/a.json", data);
    let web = format!("{}/bucket/a.bin", server.url());
    [
        "s3://bucket/a.bin".into(),
        web,
        "hf://owner/name/a.bin".into(),
        "hf://owner/name/a.json".into(),
    ]
}

#[test]
fn reading_survives_every_fault_that_passes() {
    let server = server();
    let data = bytes(17 << 20);
    for text in filled(&server, &data) {
        server.take();
        assert!(read(&text, data.len()).unwrap() == data);
        let requests = server.take().len();
        for fault in PASSING {
            for at in 0..requests {
                server.plant(at, fault);
                assert!(read(&text, data.len()).unwrap() == data, "{text} {fault:?} {at}");
                // Half of an empty body is all of it.
                let asked = server.take().len();
                assert!(asked > requests || fault == Planted::Short, "{text} {fault:?} {at}");
            }
        }
    }
}

#[test]
fn lasting_faults_are_errors_that_name_the_object() {
    let server = server();
    let data = bytes(1 << 20);
    for text in filled(&server, &data) {
        for fault in PASSING.into_iter().chain([Planted::Status(403), Planted::Status(400)]) {
            for from in 0..3 {
                server.take();
                (from..100).for_each(|at| server.plant(at, fault));
                let Err(error) = read(&text, data.len()) else { continue };
                let said = error.to_string();
                let object = text.split_once("://").unwrap().1.rsplit('/').next().unwrap();
                assert!(error.is_io() && said.contains(object), "{fault:?}: {said}");
                assert!(!said.contains("secret"), "{said}");
                let asked = server.take().len();
                assert!(asked <= 40, "{text} {fault:?}: {asked} requests");
            }
        }
    }
}

fn write(data: &[u8]) -> Result<(), Error> {
    let mut upload =
        Upload::begin(&location("s3://bucket/out"), (data.len() as u64, 0), 64 << 20, false)?;
    upload.write(data)?;
    upload.commit()
}

#[test]
fn writing_is_whole_or_absent_at_every_fault() {
    let server = server();
    for len in [100, 17 << 20] {
        let data = bytes(len);
        server.clear();
        server.take();
        write(&data).unwrap();
        let requests = server.take().len();
        for fault in PASSING.into_iter().chain([Planted::Status(403)]) {
            for (at, many) in (0..requests).flat_map(|at| [(at, 1), (at, 100)]) {
                server.clear();
                server.take();
                (at..at + many).for_each(|at| server.plant(at, fault));
                let outcome = write(&data);
                let what = format!("{len} {fault:?} {at} {many}: {outcome:?}");
                match (server.get("bucket/out"), &outcome) {
                    (Some(found), Ok(())) => assert!(found == data, "{what}"),
                    (None, Err(error)) => {
                        assert!(error.to_string().contains("s3://bucket/out"), "{what}")
                    }
                    // A lasting fault after the request that made it visible hides the answer, and the bytes that are read back.
                    (Some(found), Err(_)) => {
                        let hides = [Planted::Lost, Planted::Short].contains(&fault);
                        assert!(many > 1 && hides && found == data, "{what}");
                    }
                    (None, Ok(())) => panic!("{what}: lost"),
                }
                // Nobody knows the name of an upload whose first answer was lost.
                let lost = [Planted::Lost, Planted::Short].contains(&fault);
                let nameless = if lost { 4 } else { 0 };
                let passes = many == 1 && fault != Planted::Status(403);
                assert!(outcome.is_ok() || !passes, "{what}");
                if server.open_uploads() > nameless {
                    let said = outcome.unwrap_err().to_string();
                    assert!(said.contains("cannot abort"), "{what}");
                }
            }
        }
    }
}

/// A request without a connection was not sent, so it has begun no upload.
#[test]
fn refused_connections_leave_no_notes() {
    let server = server();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let own = server.variables();
    let endpoint = own.iter().find(|(name, _)| name.starts_with("AWS_ENDPOINT")).unwrap();
    let _ = unaborted();
    set_variable(endpoint.0, &closed);
    let begun = PartUpload::begin(&location("s3://bucket/refused"));
    set_variable(endpoint.0, &endpoint.1);
    assert!(begun.unwrap_err().is_io());
    assert_eq!(unaborted(), [""; 0]);
}
