//! Files in an object store, on a web server and in a hub: read and written as files of a folder are, with counted requests, and
//! whole or absent at every fault.
#![cfg(feature = "remote")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tilewright_files::remote::{Patience, set_patience, set_variable};
use tilewright_files::{
    Assembling, Collection, Conversion, Error, Input, Key, Packaging, Reading, Request, Verdict,
    Watch, Writer, open, same_data, verify,
};
use tilewright_notation::Spec;
use tilewright_recipe::{Recipe, Sizes};
use tilewright_testing::{Came, Objects, Planted, folder};

static SERVER: LazyLock<Mutex<Objects>> = LazyLock::new(|| {
    set_patience(Patience { retries: 3, first: Duration::from_millis(1), ..Patience::default() });
    let server = Objects::start();
    server.variables().iter().for_each(|(name, value)| set_variable(name, value));
    Mutex::new(server)
});

fn server() -> MutexGuard<'static, Objects> {
    let server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    server.clear();
    server.take();
    server
}

fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap()
}

fn zn() -> Request {
    Request::new().rule("*.w", spec("zN"))
}

/// Writes a safetensors file with `count` matrices and vectors.
fn model(path: &Path, (count, rows): (u32, u64)) {
    let data: Vec<u8> =
        (0..rows * 512).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    let matrix = spec(&format!("bf16[{rows},256] row-major")).resolve(None, None).unwrap();
    let vector = spec("f32[16] row-major").resolve(None, None).unwrap();
    let mut writer = Writer::new(Request::new());
    let parts: Vec<Vec<u8>> = (0..count).map(|number| vec![number as u8; 64]).collect();
    // Each matrix begins elsewhere in the data, so that all differ.
    let datas: Vec<Vec<u8>> = (0..count)
        .map(|number| {
            let mut own = data.clone();
            own.rotate_left(number as usize % data.len());
            own
        })
        .collect();
    for (number, (own, part)) in datas.iter().zip(&parts).enumerate() {
        writer = writer.array(format!("layer.{number}.w"), &matrix, own).unwrap();
        writer = writer.array(format!("layer.{number}.b"), &vector, part).unwrap();
    }
    writer.metadata("format", "pt").write(path, &()).unwrap();
}

/// Makes a folder of two shards with an index and a configuration.
fn shards(folder: &Path, sizes: [(u32, u64); 2]) {
    fs::create_dir_all(folder).unwrap();
    let mut map = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        let name = format!("model-0000{}-of-00002.safetensors", number + 1);
        model(&folder.join(&name), size);
        // Shards have tensors of different names.
        let mut bytes = fs::read(folder.join(&name)).unwrap();
        let text = format!("shard{number}");
        let at: Vec<usize> = bytes
            .windows(6)
            .enumerate()
            .filter(|(_, w)| w == b"layer.")
            .map(|(at, _)| at)
            .collect();
        at.iter().for_each(|at| bytes[*at..*at + 6].copy_from_slice(text.as_bytes()));
        fs::write(folder.join(&name), bytes).unwrap();
        let input = open(folder.join(&name), &Reading::default()).unwrap();
        map.extend(input.tensors().iter().map(|one| format!("{:?}:{name:?}", one.name())));
    }
    let index = format!(r#"{{"metadata":{{"total_size":1}},"weight_map":{{{}}}}}"#, map.join(","));
    fs::write(folder.join("model.safetensors.index.json"), index).unwrap();
    fs::write(folder.join("config.json"), "{\"hidden_size\": 256}").unwrap();
}

/// Puts the files of a folder into a bucket and into a repository.
fn upload(server: &Objects, folder: &Path) {
    server.commit("owner/name", "c0ffee");
    for entry in fs::read_dir(folder).unwrap() {
        let (path, name) = {
            let e = entry.unwrap();
            (e.path(), e.file_name().into_string().unwrap())
        };
        if path.is_file() {
            let bytes = fs::read(path).unwrap();
            server.put(&format!("bucket/in/{name}"), &bytes);
            server.put(&format!("owner/name/{name}"), &bytes);
        }
    }
}

fn convert(input: &str, out: &str, request: Request) -> Result<u64, Error> {
    let input = open(input, &Reading::default())?;
    Ok(Conversion::prepare(&input, out, request)?.run(&())?.peak_memory())
}

fn sent(came: &[Came]) -> u64 {
    came.iter().filter(|one| one.method == "GET").map(|one| one.sent).sum()
}

fn names(input: &Input) -> Vec<String> {
    input.tensors().iter().map(|tensor| tensor.layout().to_spec()).collect()
}

#[test]
fn headers_take_two_requests_at_most() {
    let (server, folder) = (server(), folder());
    for (count, requests) in [(4, 1), (2000, 2)] {
        let path = folder.path().join("a.safetensors");
        model(&path, (count, 1));
        upload(&server, folder.path());
        let own = names(&open(&path, &Reading::default()).unwrap());
        let web = format!("{}/bucket/in/a.safetensors?X-Amz-Signature=secret", server.url());
        for at in ["s3://bucket/in/a.safetensors", &web, "hf://owner/name/a.safetensors"] {
            server.take();
            let input = open(at, &Reading::default()).unwrap();
            assert!(
                names(&input) == own
                    && input.path().to_str().is_some_and(|path| !path.contains("secret"))
            );
            let came = server.take();
            // The hub's first answer is a redirection.
            let hops = usize::from(at.starts_with("hf"));
            assert_eq!(came.len(), requests + hops, "{at}: {came:?}");
        }
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn files_become_what_local_ones_become() {
    let (server, folder) = (server(), folder());
    let (path, out) = (folder.path().join("a.safetensors"), folder.path().join("out"));
    model(&path, (6, 4000));
    upload(&server, folder.path());
    let len = fs::metadata(&path).unwrap().len();
    fs::create_dir(&out).unwrap();
    let (expected, made) = (out.join("1.safetensors"), out.join("2.safetensors"));
    convert(path.to_str().unwrap(), expected.to_str().unwrap(), zn()).unwrap();
    let expected = fs::read(&expected).unwrap();
    let web = format!("{}/bucket/in/a.safetensors", server.url());
    for at in ["s3://bucket/in/a.safetensors", &web, "hf://owner/name/a.safetensors"] {
        for memory in [1 << 20, 24 << 20, 1 << 30] {
            server.take();
            let peak = convert(at, made.to_str().unwrap(), zn().memory(memory)).unwrap();
            assert!(fs::read(&made).unwrap() == expected && peak <= memory, "{at}");
            let brought = sent(&server.take());
            // With little memory, what is summed is read again to be moved.
            let most = if memory > 1 << 20 { 102 } else { 202 };
            assert!(brought * 100 <= len * most, "{at} {memory}: {brought} bytes of {len}");
            fs::remove_file(&made).unwrap();
        }
    }
}

#[test]
fn folders_are_read_by_their_index() {
    let (server, folder) = (server(), folder());
    let (own, out) = (folder.path().join("in"), folder.path().join("out"));
    shards(&own, [(3, 300), (2, 700)]);
    upload(&server, &own);
    convert(own.to_str().unwrap(), out.to_str().unwrap(), zn()).unwrap();
    for (number, at) in
        ["s3://bucket/in", "s3://bucket/in/", "hf://owner/name", "hf://owner/name@c0ffee"]
            .iter()
            .enumerate()
    {
        let made = folder.path().join(number.to_string());
        convert(at, made.to_str().unwrap(), zn()).unwrap();
        for entry in fs::read_dir(&out).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(
                fs::read(made.join(&name)).unwrap() == fs::read(out.join(&name)).unwrap(),
                "{at} {name:?}"
            );
        }
        assert_eq!(fs::read_dir(&made).unwrap().count(), 4);
        let collection = Collection::open(at).unwrap();
        assert_eq!(collection.names().count(), 10);
        let verdict = verify(&made, at, &zn(), &()).unwrap();
        assert!(matches!(verdict, Verdict::Same { .. }), "{at}");
    }
    assert_eq!(
        open("s3://bucket/in", &Reading::default()).unwrap().config().unwrap().unwrap()["hidden_size"],
        256
    );
}

#[test]
fn data_are_compared_wherever_they_are() {
    let (server, folder) = (server(), folder());
    let path = folder.path().join("a.safetensors");
    model(&path, (3, 900));
    upload(&server, folder.path());
    let local = Collection::open(&path).unwrap();
    let printed = |collection: &Collection| collection.fingerprints(&Key::default(), &()).unwrap();
    for at in ["s3://bucket/in/a.safetensors", "hf://owner/name"] {
        let remote = Collection::open(at).unwrap();
        assert_eq!(printed(&remote), printed(&local));
        assert!(same_data(&remote, &local, &Key::default(), &()).unwrap().is_empty());
    }
}

/// Writes a checkpoint to a folder and uploads it. Returns its path, and that of the file that it becomes in zN.
fn converted(server: &Objects, folder: &Path) -> (PathBuf, PathBuf) {
    let [path, out] = ["a.safetensors", "out.safetensors"].map(|name| folder.join(name));
    model(&path, (6, 4000));
    upload(server, folder);
    convert(path.to_str().unwrap(), out.to_str().unwrap(), zn()).unwrap();
    (path, out)
}

#[test]
fn results_go_to_a_store() {
    let (server, folder) = (server(), folder());
    let (path, out) = converted(&server, folder.path());
    let expected = fs::read(&out).unwrap();
    for at in
        [path.to_str().unwrap(), "s3://bucket/in/a.safetensors", "hf://owner/name/a.safetensors"]
    {
        for memory in [24 << 20, 1 << 30] {
            let peak =
                convert(at, "s3://bucket/out/b.safetensors", zn().memory(memory).force(true))
                    .unwrap();
            assert!(server.get("bucket/out/b.safetensors").unwrap() == expected, "{at} {memory}");
            assert!(peak <= memory && server.open_uploads() == 0);
        }
    }
    let error = convert("hf://owner/name", "s3://bucket/out/b.safetensors", zn()).unwrap_err();
    assert!(error.is_usage());
    let error = convert(path.to_str().unwrap(), "s3://bucket/out/b.safetensors", zn()).unwrap_err();
    assert_eq!(error.kind(), "exists");
    let error =
        convert("s3://bucket/in/a.safetensors", "s3://bucket/in/a.safetensors", zn().force(true))
            .unwrap_err();
    assert_eq!(error.kind(), "same-file");
    let error = convert(path.to_str().unwrap(), "hf://owner/name/b.safetensors", zn()).unwrap_err();
    assert!(error.to_string().contains("only read"), "{error}");
    let error = convert(path.to_str().unwrap(), "s3://bucket/c.safetensors", zn().memory(1 << 20))
        .unwrap_err();
    assert!(error.to_string().contains("memory"), "{error}");
}

#[test]
fn the_index_of_a_set_appears_last() {
    let (server, folder) = (server(), folder());
    let (own, out) = (folder.path().join("in"), folder.path().join("out"));
    shards(&own, [(2, 40), (1, 70)]);
    convert(own.to_str().unwrap(), out.to_str().unwrap(), zn()).unwrap();
    let run = || convert(own.to_str().unwrap(), "s3://bucket/out", zn());
    run().unwrap();
    let seen = |server: &Objects| -> Vec<String> { server.names() };
    for name in seen(&server) {
        let local = out.join(name.strip_prefix("bucket/out/").unwrap());
        assert!(server.get(&name).unwrap() == fs::read(local).unwrap(), "{name}");
    }
    assert_eq!(seen(&server).len(), 4);
    assert_eq!(run().unwrap_err().kind(), "exists");

    server.clear();
    server.take();
    run().unwrap();
    let came = server.take();
    // The last request makes the index visible.
    let last = came.last().unwrap();
    assert!(
        last.target.contains("index.json") && ["PUT", "POST"].contains(&&*last.method),
        "{last:?}"
    );
}

/// Converts a source into a folder of a store with each fault at each request; returns the number of faults that requests met.
fn swept(server: &Objects, source: &str, request: &Request, keep: &dyn Fn(&str) -> bool) -> usize {
    let seen =
        || -> Vec<String> { server.names().into_iter().filter(|name| !keep(name)).collect() };
    let clear = || {
        seen().iter().for_each(|name| server.remove(name));
        server.abort_all();
        server.take();
    };
    let run = || convert(source, "s3://bucket/out", request.clone());
    clear();
    run().unwrap();
    let requests = server.take().len();
    let (before, index) = (server.met(), "bucket/out/model.safetensors.index.json");
    let faults =
        [Planted::Status(503), Planted::Status(403), Planted::Reset, Planted::Lost, Planted::Short];
    for fault in faults {
        for (at, many) in (0..requests).flat_map(|at| [(at, 1), (at, 5)]) {
            clear();
            (at..at + many).for_each(|at| server.plant(at, fault));
            let outcome = run();
            // The answers of faults that are left would hide what is there.
            server.take();
            let what = format!("{source} {fault:?} {at} {many} {outcome:?} {:?}", seen());
            match outcome {
                Ok(_) => assert_eq!(seen().len(), 4, "{what}"),
                // What remains is named.
                Err(error) => {
                    let said = error.to_string();
                    assert!(server.get(index).is_none() || many > 1, "{what}");
                    let named =
                        |name: &String| said.contains(name.strip_prefix("bucket/").unwrap());
                    assert!(seen().iter().all(named), "{what}");
                    assert!(!said.contains("secret"), "{what}");
                }
            }
        }
    }
    server.met() - before
}

#[test]
fn a_thousand_faults_leave_nothing_half_visible() {
    let (server, folder) = (server(), folder());
    let own = folder.path().join("in");
    shards(&own, [(2, 40), (1, 70)]);
    upload(&server, &own);
    let keep = |name: &str| !name.starts_with("bucket/out");
    let plain = zn();
    let mut met = swept(&server, own.to_str().unwrap(), &plain, &keep);
    met += swept(&server, "s3://bucket/in", &plain, &keep);
    met += swept(&server, "hf://owner/name", &plain.verify(true), &keep);
    println!("{met} faults met, nothing half visible");
    assert!(met >= 1000, "{met} faults met");
}

#[test]
fn verified_uploads_are_compared_before_they_are_sent() {
    let (server, folder) = (server(), folder());
    let (path, out) = converted(&server, folder.path());
    for at in [path.to_str().unwrap(), "s3://bucket/in/a.safetensors"] {
        for memory in [48 << 20, 1 << 30] {
            let request = zn().memory(memory).force(true).verify(true);
            let input = open(at, &Reading::default()).unwrap();
            let conversion =
                Conversion::prepare(&input, "s3://bucket/out/b.safetensors", request).unwrap();
            let report = conversion.run(&()).unwrap();
            assert!(report.verified().is_some_and(|bytes| bytes > 12_000_000), "{at} {memory}");
            assert!(server.get("bucket/out/b.safetensors").unwrap() == fs::read(&out).unwrap());
        }
    }
    // The tensor that is compared needs memory.
    let input = open(&path, &Reading::default()).unwrap();
    let request = zn().memory(16 << 20).verify(true);
    let error = Conversion::prepare(&input, "s3://bucket/c.safetensors", request).unwrap_err();
    assert!(error.to_string().contains("compared"), "{error}");
}

/// Two matrices become one, in tiles; one is in other rows.
const RECIPE: &str = r#"
pass = ["*.b"]
[[map]]
from = ["layer.0.w : i h", "layer.1.w : i' h"]
to = "both.w : (i + i') h"
layout = "zN"
[[map]]
from = "layer.2.w : i h"
to = "turned.w : h i"
"#;

/// Makes the result of the recipe.
fn assemble(input: &str, out: &str, request: Request) -> Result<Option<u64>, Error> {
    assemble_watched(input, out, request, &())
}

fn assemble_watched(
    input: &str,
    out: &str,
    request: Request,
    watch: &dyn Watch,
) -> Result<Option<u64>, Error> {
    let input = open(input, &Reading::default())?;
    let recipe = Recipe::parse(RECIPE).unwrap();
    let assembly = recipe.solve(&input.recipe_tensors(), None, &Sizes::new()).unwrap();
    let packaging = Packaging::default();
    Ok(Assembling::prepare(&input, &assembly, out, request, &packaging)?.run(watch)?.verified())
}

#[test]
fn tensors_of_recipes_are_compared_before_they_are_sent() {
    let (server, folder) = (server(), folder());
    let [path, out] = ["a.safetensors", "out.safetensors"].map(|name| folder.path().join(name));
    model(&path, (3, 4000));
    upload(&server, folder.path());
    assemble(path.to_str().unwrap(), out.to_str().unwrap(), Request::new()).unwrap();
    for at in [path.to_str().unwrap(), "s3://bucket/in/a.safetensors"] {
        for memory in [96 << 20, 1 << 30] {
            let request = Request::new().memory(memory).force(true).verify(true);
            let compared = assemble(at, "s3://bucket/out/r.safetensors", request).unwrap();
            assert!(compared.is_some_and(|bytes| bytes > 6_000_000), "{at} {memory}");
            assert!(server.get("bucket/out/r.safetensors").unwrap() == fs::read(&out).unwrap());
        }
    }
    assert_eq!(server.open_uploads(), 0);
}

/// Writes other bytes over a file once some bytes of a result are made.
struct Changing<'a>(&'a Path, Vec<u8>, std::sync::atomic::AtomicBool);

impl Watch for Changing<'_> {
    fn advance(&self, bytes: u64) {
        if bytes > 0 && !self.2.swap(true, std::sync::atomic::Ordering::Relaxed) {
            // In place: a file that is cut for a moment would be another error.
            let file = fs::OpenOptions::new().write(true).open(self.0).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, &self.1, 0).unwrap();
        }
    }
}

#[test]
fn a_source_that_changes_between_the_readings_ends_a_verified_upload() {
    let (server, folder) = (server(), folder());
    let path = folder.path().join("a.safetensors");
    model(&path, (2, 4000));
    // Another element of the first matrix between the reading that is moved and the one that is compared.
    let other = {
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.len() - 100;
        bytes[at] ^= 1;
        bytes
    };
    let input = open(&path, &Reading::default()).unwrap();
    let conversion =
        Conversion::prepare(&input, "s3://bucket/d.safetensors", zn().verify(true)).unwrap();
    assert!(conversion.run(&Changing(&path, other, false.into())).is_err());
    assert!(server.get("bucket/d.safetensors").is_none() && server.open_uploads() == 0);
}

#[test]
fn a_source_that_changes_between_the_readings_ends_a_verified_recipe() {
    // A worker may read all of a tensor before or after the change: then only the time of the file shows it. So the comparison is
    // the one that finds it in some of the runs.
    let finds = || {
        let (server, folder) = (server(), folder());
        let path = folder.path().join("a.safetensors");
        model(&path, (3, 4000));
        // All elements are others, and the header is the same.
        let other = {
            let mut bytes = fs::read(&path).unwrap();
            let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            bytes[8 + len..].iter_mut().for_each(|byte| *byte ^= 1);
            bytes
        };
        let watch = Changing(&path, other, false.into());
        let request = Request::new().verify(true);
        let (from, to) = (path.to_str().unwrap(), "s3://bucket/r.safetensors");
        let error = assemble_watched(from, to, request, &watch).unwrap_err().to_string();
        assert!(server.get("bucket/r.safetensors").is_none() && server.open_uploads() == 0);
        let compared = error.contains("verification failed");
        assert!(compared || error.contains("it was changed while it was read"), "{error}");
        compared
    };
    assert!((0..40).any(|_| finds()));
}

#[test]
fn arrays_are_written_to_a_store() {
    let server = server();
    let matrix = spec("bf16[64,48] row-major").resolve(None, None).unwrap();
    let data: Vec<u8> = (0..64 * 48 * 2).map(|byte: u32| (byte % 251) as u8).collect();
    for verify in [false, true] {
        let writer =
            Writer::new(zn().verify(verify).force(true)).array("a.w", &matrix, &data).unwrap();
        writer.write("s3://bucket/saved.safetensors", &()).unwrap();
        let input = open("s3://bucket/saved.safetensors", &Reading::default()).unwrap();
        let tensor = input.tensor("a.w").unwrap();
        let reader = input.reader(tensor, None, None).unwrap();
        let mut read = vec![0; reader.bytes() as usize];
        reader.read_into(&mut read, 1, &()).unwrap();
        assert!(read == data && tensor.layout().to_spec().contains("zN"));
    }
    assert_eq!(server.open_uploads(), 0);
}
