//! The program on URLs, against a server on this machine: each command that reads a checkpoint, results in a store, faults,
//! secrets, and the end by a signal.
#![cfg(feature = "remote")]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use tilewright::{
    files::remote::{Patience, set_patience, set_variable},
    reshard::{Error, Form, Job, Request, Rules},
};
use tilewright_testing::{Came, Objects, Planted, folder};

const LLM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");

/// Returns the program with the settings of a server.
fn program(server: &Objects) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.envs(server.variables());
    command
}

fn run(server: &Objects, args: &[&str]) -> Output {
    let output = program(server).args(args).output().unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(!said.contains("secret"), "{args:?}: {said}");
    output
}

fn answer(server: &Objects, args: &[&str]) -> String {
    let output = run(server, args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn refusal(server: &Objects, args: &[&str], code: i32) -> String {
    let output = run(server, args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    stderr
}

fn filled() -> Objects {
    let (server, bytes) = (Objects::start(), fs::read(LLM).unwrap());
    server.commit("owner/name", "c0ffee");
    for name in ["bucket/in/model.safetensors", "owner/name/model.safetensors"] {
        server.put(name, &bytes);
    }
    server
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

const ZN: [&str; 2] = ["--rule", "*_proj.weight=zN"];

#[test]
fn commands_read_what_they_read_from_files() {
    let (server, folder) = (filled(), folder());
    let signed = format!("{}/bucket/in/model.safetensors?sig=very-secret", server.url());
    let own = answer(&server, &["info", LLM]);
    let printed = answer(&server, &["fingerprint", LLM]);
    for at in [
        "s3://bucket/in/model.safetensors",
        "hf://owner/name",
        "hf://owner/name/model.safetensors",
        &signed,
    ] {
        server.take();
        let info = answer(&server, &["info", at]);
        let rows = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rows(&info), rows(&own), "{at}");
        let asked = server.take().len();
        assert!(asked <= if at.starts_with("hf") { 4 } else { 2 }, "{at}: {asked}");
        assert_eq!(answer(&server, &["fingerprint", at]), printed, "{at}");
        assert!(answer(&server, &["same-data", at, LLM]).starts_with("same"), "{at}");
        // A folder becomes a folder.
        let is_folder = at == "hf://owner/name";
        let out = folder.path().join(if is_folder { "out" } else { "out.safetensors" });
        let force: &[&str] = if is_folder { &[] } else { &["--force"] };
        let args = [&["convert", at, text(&out), "--verify"][..], force, &ZN].concat();
        answer(&server, &args);
        let args = [&["verify", text(&out), "--against", at][..], &ZN].concat();
        answer(&server, &args);
        answer(&server, &["verify", text(&out)]);
    }
}

#[test]
fn results_in_a_store_are_those_of_files() {
    let (server, folder) = (filled(), folder());
    let out = folder.path().join("out.safetensors");
    let (store, at) = ("s3://bucket/out/model.safetensors", "hf://owner/name/model.safetensors");
    answer(&server, &[&["convert", LLM, text(&out)][..], &ZN].concat());
    answer(&server, &[&["convert", at, store][..], &ZN].concat());
    assert!(server.get("bucket/out/model.safetensors").unwrap() == fs::read(&out).unwrap());
    answer(&server, &[&["verify", store, "--against", at][..], &ZN].concat());
    answer(&server, &["verify", store]);
    let said = refusal(&server, &[&["convert", at, store][..], &ZN].concat(), 2);
    assert!(said.contains("--force"), "{said}");
    let verified = [&["convert", at, "s3://bucket/x.safetensors", "--verify"][..], &ZN].concat();
    answer(&server, &verified);
    assert!(server.get("bucket/x.safetensors").unwrap() == fs::read(&out).unwrap());
    // A recipe, there and back.
    let recipe = folder.path().join("r.toml");
    let text_of = "pass = [\"*\"]\n[[rename]]\nfrom = \"model.{a:*}\"\nto = \"net.{a:*}\"\n";
    fs::write(&recipe, text_of).unwrap();
    let local = folder.path().join("local.safetensors");
    let args = ["convert", LLM, text(&local), "--recipe", text(&recipe)];
    if run(&server, &args).status.success() {
        let up = ["convert", at, "s3://bucket/up.safetensors", "--recipe", text(&recipe)];
        answer(&server, &[&up[..], &["--verify"]].concat());
        assert!(server.get("bucket/up.safetensors").unwrap() == fs::read(&local).unwrap());
    } else {
        panic!("{}", refusal(&server, &args, 0));
    }
}

/// Returns a checkpoint of matrices of 4 MiB.
fn matrices(count: usize) -> Vec<u8> {
    let len = 4 << 20;
    let entry = |number: usize| {
        let (name, from) = (["gate", "up"][number % 2], number * len);
        format!(
            r#""layers.{}.{name}":{{"dtype":"BF16","shape":[1024,2048],"data_offsets":[{from},{}]}}"#,
            number / 2,
            from + len
        )
    };
    let header = (0..count).map(entry).collect::<Vec<_>>().join(",");
    let header = format!("{{{header}}}");
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend((0..(count * len) as u64).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 13) as u8));
    bytes
}

/// Runs the program without a folder for temporary files, in an empty folder that stays empty; returns the most memory that it
/// had, if the system reports it.
fn without_disk(server: &Objects, args: &[&str]) -> Option<u64> {
    let empty = folder();
    let mut command = program(server);
    let nowhere = empty.path().join("none");
    command.envs([("TMPDIR", &nowhere), ("HOME", &nowhere)]).current_dir(empty.path());
    let mut child = command.args(args).stdout(Stdio::null()).spawn().unwrap();
    let mut most = None;
    let ended = loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(kib.map(|kib| kib << 10));
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        thread::sleep(Duration::from_millis(2));
    };
    assert!(ended.success(), "{args:?}");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "{args:?}");
    most
}

/// What a whole conversion from store to store costs: no byte of local disk, each byte of the source once, and the memory that is
/// allowed.
#[test]
fn conversions_between_stores_use_no_disk_few_bytes_and_bounded_memory() {
    let (server, folder) = (Objects::start(), folder());
    // Four times the memory.
    let (source, memory) = (matrices(48), 48 << 20);
    server.put("bucket/in.safetensors", &source);
    let recipe = folder.path().join("r.toml");
    let rule = "[[map]]\nfrom = [\"layers.{n}.gate : i h\", \"layers.{n}.up : i' h\"]\nto = \"layers.{n}.gate_up : (i + i') h\"\n";
    fs::write(&recipe, rule).unwrap();
    for (number, how) in [["--rule", "*=zN"], ["--recipe", text(&recipe)]].into_iter().enumerate() {
        let out = format!("s3://bucket/out{number}.safetensors");
        let args = ["convert", "s3://bucket/in.safetensors", &out, "--memory", "48M", "--quiet"];
        server.take();
        let most = without_disk(&server, &[&args[..], &how].concat());
        let came = server.take();
        let read: u64 = came.iter().filter(|one| one.method == "GET").map(|one| one.sent).sum();
        let (all, held) = (source.len() as u64, most.unwrap_or(0) >> 20);
        println!("{how:?}: {read} of {all} bytes read, {held} MiB held of {}", memory >> 20);
        assert!(read >= all && read * 100 <= all * 102, "{how:?}: {read} of {all} bytes");
        // The program itself, its stacks, and what the system buffers of connections.
        assert!(held <= (memory >> 20) + 48, "{how:?}: {held} MiB");
        let made = server.get(&format!("bucket/out{number}.safetensors")).unwrap();
        assert!(made.len() as u64 > all - (1 << 20), "{how:?}");
    }
}

#[test]
fn patience_is_an_option_and_its_end_names_object_and_range() {
    let server = filled();
    let at = "s3://bucket/in/model.safetensors";
    server.take();
    server.plant(0, Planted::Status(503));
    answer(&server, &["info", at, "--retries", "1"]);
    server.take();
    server.plant(0, Planted::Status(503));
    let said = refusal(&server, &["info", at, "--retries", "0"], 3);
    assert!(said.contains(at) && said.contains("503"), "{said}");
    server.take();
    (1..50).for_each(|request| server.plant(request, Planted::Short));
    let said = refusal(&server, &["fingerprint", at, "--retries", "1"], 3);
    assert!(said.contains("cannot read bytes"), "{said}");
}

#[test]
fn missing_objects_are_explained() {
    let server = filled();
    let said = refusal(&server, &["info", "s3://bucket/none.safetensors"], 3);
    assert!(said.contains("no such object"), "{said}");
    let said = refusal(&server, &["info", "http://example.com/a"], 2);
    assert!(said.contains("https://"), "{said}");
}

#[test]
fn infer_reads_objects() {
    let (server, folder) = (filled(), folder());
    let data: Vec<u8> = (0..2 * 8 * 48).map(|byte: u32| (byte * 7 % 251) as u8).collect();
    let raw = folder.path().join("a.bin");
    fs::write(&raw, data).unwrap();
    let (source, original) = (format!("raw:{}", text(&raw)), folder.path().join("a.npy"));
    let packed = folder.path().join("b.bin");
    answer(
        &server,
        &[
            "convert",
            &source,
            text(&original),
            "--dims",
            "8,48",
            "--dtype",
            "f16",
            "--to",
            "row-major",
        ],
    );
    let to = format!("raw:{}", text(&packed));
    answer(&server, &["convert", text(&original), &to, "--to", "zN"]);
    server.put("bucket/a.npy", &fs::read(&original).unwrap());
    server.put("bucket/b.bin", &fs::read(&packed).unwrap());
    let own = answer(&server, &["infer", "--original", text(&original), "--packed", text(&packed)]);
    let remote = ["infer", "--original", "s3://bucket/a.npy", "--packed", "s3://bucket/b.bin"];
    assert_eq!(answer(&server, &remote), own);
}

/// The files that resharding makes, by the options of each kind.
const KINDS: [&[&str]; 5] = [
    &["--mesh", "tp=2", "--rule", "*_proj.weight=[Shard(1)]", "--rule", "*=[Replicate()]"],
    &["--mesh", "tp=2", "--rule", "*_proj.weight=[Shard(0)]", "--rule", "*=[Replicate()]"],
    &["--as", "hf", "--max-shard-size", "60000"],
    &["--as", "hf", "--to", "zN"],
    &[
        "--mesh",
        "tp=2",
        "--as",
        "dcp",
        "--rule",
        "*_proj.weight=[Shard(1)]",
        "--rule",
        "*=[Replicate()]",
    ],
];

/// Returns the files of a folder, or of a folder of a store.
fn files_of(server: &Objects, folder: Result<&Path, &str>) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = match folder {
        Ok(folder) => {
            let listed = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
            let read = |entry: fs::DirEntry| {
                (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
            };
            listed.map(read).collect()
        }
        Err(prefix) => {
            let names = server.names().into_iter();
            let own = names.filter_map(|name| Some(name.strip_prefix(prefix)?.to_owned()));
            own.map(|name| (name.clone(), server.get(&format!("{prefix}{name}")).unwrap()))
                .collect()
        }
    };
    files.sort();
    files
}

#[test]
fn resharding_into_a_store_makes_the_files_of_a_folder() {
    let (server, folder) = (filled(), folder());
    server.put("bucket/in/config.json", b"{}");
    let local = folder.path().join("in");
    fs::create_dir(&local).unwrap();
    fs::copy(LLM, local.join("model.safetensors")).unwrap();
    fs::write(local.join("config.json"), "{}").unwrap();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let (out, store) =
            (folder.path().join(number.to_string()), format!("s3://bucket/out{number}"));
        let local_run = run(&server, &[&["reshard", text(&local), text(&out)], kind].concat());
        if !local_run.status.success() {
            // What a folder cannot be is no object either.
            refusal(&server, &[&["reshard", "s3://bucket/in", &store], kind].concat(), 2);
            continue;
        }
        for (source, verify) in
            [("s3://bucket/in", true), (text(&local), false), ("hf://owner/name", false)]
        {
            let store = format!("{store}-{verify}-{}", source.len());
            let verified: &[&str] = if verify { &["--verify"] } else { &[] };
            answer(&server, &[&["reshard", source, &store], kind, verified].concat());
            let prefix = format!("{}/", store.strip_prefix("s3://").unwrap());
            let mut expected = files_of(&server, Ok(&out));
            if source.starts_with("hf") {
                expected.retain(|(name, _)| name != "config.json");
            }
            let made = files_of(&server, Err(&prefix));
            let names = |files: &[(String, Vec<u8>)]| {
                files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
            };
            assert_eq!(names(&made), names(&expected), "{kind:?} {source}");
            assert!(made == expected, "{kind:?} {source}");
            assert_eq!(server.open_uploads(), 0);
            assert!(
                !server.names().iter().any(|name| name.contains("partial")),
                "{:?}",
                server.names()
            );
            let said = refusal(&server, &[&["reshard", source, &store], kind].concat(), 2);
            assert!(said.contains("exists already"), "{said}");
        }
    }
}

#[test]
fn shards_in_a_store_become_whole_tensors_again() {
    let (server, folder) = (filled(), folder());
    answer(&server, &[&["reshard", "s3://bucket/in", "s3://bucket/tp2"], KINDS[0]].concat());
    assert!(answer(&server, &["same-data", "s3://bucket/tp2", LLM]).starts_with("same"));
    for out in [text(&folder.path().join("back")), "s3://bucket/back"] {
        answer(&server, &["reshard", "s3://bucket/tp2", out, "--as", "hf", "--memory", "20M"]);
        assert!(answer(&server, &["same-data", out, LLM]).starts_with("same"), "{out}");
    }
    // One file, which replaces another on request.
    let file = [
        "reshard",
        "s3://bucket/tp2",
        "s3://bucket/one.safetensors",
        "--as",
        "hf",
        "--memory",
        "20M",
    ];
    answer(&server, &file);
    refusal(&server, &file, 2);
    answer(&server, &[&file[..], &["--force"]].concat());
    assert!(
        answer(&server, &["same-data", "s3://bucket/one.safetensors", LLM]).starts_with("same")
    );
    let said = refusal(&server, &["reshard", "s3://bucket/in", "hf://owner/other"], 3);
    assert!(said.contains("only read"), "{said}");
    let said = refusal(&server, &["reshard", "s3://bucket/in", "s3://bucket/in/below"], 2);
    assert!(said.contains("inside"), "{said}");
}

#[test]
fn processes_share_the_tasks_of_a_result_in_a_store() {
    let (server, folder) = (filled(), folder());
    let (plan, out) = (folder.path().join("plan"), folder.path().join("out"));
    answer(&server, &[&["reshard", LLM, text(&out)], KINDS[0]].concat());
    let store = "s3://bucket/shared";
    answer(
        &server,
        &[&["reshard", "plan", "s3://bucket/in", store, "-o", text(&plan)], KINDS[0]].concat(),
    );
    let written = fs::read_to_string(&plan).unwrap();
    assert!(written.contains("s3://bucket/in") && !written.contains("secret"), "{written}");
    let rank = |rank: &str| {
        ["reshard", "run", text(&plan), "--rank", rank, "--world", "2"].map(str::to_owned)
    };
    let args = rank("0");
    answer(&server, &args.each_ref().map(String::as_str));
    let said = refusal(&server, &["reshard", "finish", text(&plan)], 1);
    assert!(said.contains("missing"), "{said}");
    assert!(!server.names().iter().any(|name| name.starts_with("bucket/shared/")));
    let args = rank("1");
    answer(&server, &args.each_ref().map(String::as_str));
    answer(&server, &["reshard", "finish", text(&plan)]);
    assert!(files_of(&server, Err("bucket/shared/")) == files_of(&server, Ok(&out)));
    assert_eq!(server.open_uploads(), 0);
    // A source that is replaced ends the plan.
    server.put("bucket/in/model.safetensors", &fs::read(LLM).unwrap());
    let said = refusal(&server, &["reshard", "finish", text(&plan)], 3);
    assert!(said.contains("changed"), "{said}");
}

/// Reshards in this process; returns the number of files.
fn resharded(request: &Request) -> Result<usize, Error> {
    let job = Job::prepare(request.clone())?;
    job.run_all(&())?;
    Ok(job.files().count())
}

/// Reshards into a store with each fault at each request, continues after each failure, and returns the number of faults that
/// requests met.
fn swept(server: &Objects, request: &Request, step: usize) -> usize {
    let is_result = |name: &String| name.starts_with("bucket/out");
    let clear = || {
        server.names().iter().filter(|name| is_result(name)).for_each(|name| server.remove(name));
        server.abort_all();
        server.take();
    };
    let whole = || files_of(server, Err("bucket/out/"));
    clear();
    let count = resharded(request).unwrap();
    let (requests, expected, before) = (server.take().len(), whole(), server.met());
    assert_eq!(expected.len(), count);
    let faults =
        [Planted::Status(503), Planted::Status(403), Planted::Reset, Planted::Lost, Planted::Short];
    for fault in faults {
        for (at, many) in (0..requests).step_by(step).flat_map(|at| [(at, 1), (at, 8)]) {
            clear();
            (at..at + many).for_each(|at| server.plant(at, fault));
            let outcome = resharded(request);
            server.take();
            let seen = server.names();
            let what = format!("{fault:?} {at} {many} of {requests}: {outcome:?} {seen:?}");
            assert!(!what.contains("very-secret"), "{what}");
            let is_listed = seen.iter().any(|name| name.ends_with("/uploads"));
            if fault == Planted::Status(403) && many == 1 && !is_listed {
                assert_eq!(server.open_uploads(), 0, "{what}");
            }
            let is_finishing = seen.iter().any(|name| name.ends_with("/finishing"));
            assert!(
                outcome.is_ok() || is_finishing || whole().is_empty() || whole() == expected,
                "{what}"
            );
            // The same command continues.
            match resharded(request) {
                Ok(_) => {}
                Err(error) => assert!(error.kind() == "exists", "{what}: {error}"),
            }
            assert!(whole() == expected, "{what}");
            let left = server.names().into_iter().filter(|name| name.contains(".partial-"));
            assert_eq!(left.count(), 0, "{what}");
        }
    }
    server.met() - before
}

#[test]
fn resharding_continues_after_every_fault() {
    let server = filled();
    set_patience(Patience { retries: 2, first: Duration::from_millis(1), ..Patience::default() });
    server.variables().iter().for_each(|(name, value)| set_variable(name, value));
    let request = |from: &str| Request::new(from, "s3://bucket/out").memory(20 << 20);
    let rules = Rules::new("tp=2").unwrap().rule("*_proj.weight", "[Shard(1)]").unwrap();
    let step = tilewright_testing::cases(1, 11);
    let mut met = swept(&server, &request("s3://bucket/in").to(rules), step);
    // Headers with fingerprints are made at the end.
    met += swept(&server, &request("hf://owner/name").form(Form::Hf).layout("zN"), step);
    println!("{met} faults met; every run was continued to the same bytes");
    assert!(met >= 100, "{met} faults met");
}

/// Returns what the program says when it refuses.
fn refused(server: &Objects, args: &[&str]) -> String {
    let output = run(server, args);
    assert_ne!(output.status.code(), Some(0), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs the program into a store that refuses everything once all parts are sent, so that the run ends before files appear.
fn ended_while_finishing(server: &Objects, args: &[&str]) {
    let is_source = |name: &String| name.contains("/in/") || name.starts_with("owner/");
    let clear = || {
        server.names().iter().filter(|it| !is_source(it)).for_each(|name| server.remove(name));
        server.abort_all();
        server.take()
    };
    clear();
    answer(server, args);
    let is_marker = |came: &Came| came.method == "PUT" && came.target.contains("/finishing");
    let marker = clear().iter().position(is_marker).unwrap();
    (marker + 1..marker + 100).for_each(|at| server.plant(at, Planted::Status(403)));
    assert_ne!(run(server, args).status.code(), Some(0));
    server.take();
    assert!(server.names().iter().any(|name| name.ends_with("/finishing")));
}

/// A run that continues takes no object of the same length for its own, and replaces none of others.
#[test]
fn a_run_that_continues_keeps_the_objects_of_others() {
    let (server, out) = (filled(), "s3://bucket/again");
    let args = ["reshard", "s3://bucket/in", out, "--as", "hf", "--memory", "20M"];
    answer(&server, &args);
    let name = server.names().into_iter().find(|name| name.starts_with("bucket/again/")).unwrap();
    let own = server.get(&name).unwrap();
    for older in [vec![7; own.len()], vec![7; 10]] {
        ended_while_finishing(&server, &args);
        server.put(&name, &older);
        let said = refused(&server, &args);
        assert!(said.contains(&format!("s3://{name} exists")), "{said}");
        // As the rule of a bucket does with old uploads.
        server.abort_all();
        refused(&server, &args);
        assert!(server.get(&name).unwrap() == older);
        server.take();
    }
    // The object of this run is known.
    server.put(&name, &own);
    answer(&server, &args);
    assert!(server.get(&name).unwrap() == own);
}

/// A run that continues reads each object of the journal once, however many threads it has, and once more to finish.
#[test]
fn journals_are_read_once_by_a_run_that_continues() {
    let (server, folder) = (Objects::start(), folder());
    server.put("bucket/in/model.safetensors", &matrices(16));
    let plan = folder.path().join("plan");
    let rules = ["--mesh", "tp=2", "--rule", "*=[Shard(1)]"];
    let made = ["reshard", "plan", "s3://bucket/in", "s3://bucket/out", "-o", text(&plan)];
    answer(&server, &[&made[..], &rules].concat());
    let rank = ["--rank", "0", "--world", "2"];
    answer(&server, &[&["reshard", "run", text(&plan)][..], &rank].concat());
    let names = server.names();
    let journals = names.iter().filter(|name| name.contains("/journal/")).count();
    server.take();
    let rank = ["--rank", "1", "--world", "2"];
    answer(&server, &[&["reshard", "run", text(&plan)][..], &rank].concat());
    answer(&server, &["reshard", "finish", text(&plan)]);
    let came = server.take();
    let is_read = |came: &&Came| {
        came.method == "GET"
            && came.target.contains("/journal/")
            && !came.target.contains("list-type")
    };
    let read = came.iter().filter(is_read).count();
    let all = came.iter().filter(|came| came.method == "PUT" && came.target.contains("/journal/"));
    let all = journals + all.count();
    assert!(journals > 0 && read == journals + all, "{read} of {journals} and {all}");
}

/// The folder of a run is in the result if that is a whole bucket.
#[test]
fn a_whole_bucket_is_a_result() {
    let server = filled();
    let args = ["reshard", "s3://bucket/in", "s3://whole", "--as", "hf", "--memory", "20M"];
    ended_while_finishing(&server, &args);
    answer(&server, &args);
    assert!(server.names().iter().any(|name| name.starts_with("whole/")));
    assert!(!server.names().iter().any(|name| name.contains(".partial-")));
    let said = refused(&server, &args);
    assert!(said.contains("exists"), "{said}");
}

/// The memory that an error names is enough for a part of an upload, and a little less is not.
#[test]
fn the_least_memory_of_a_part_is_enough() {
    let server = filled();
    for (number, verify) in [&[][..], &["--verify"]].into_iter().enumerate() {
        let store = format!("s3://bucket/least{number}");
        let with = |memory: &str| -> Vec<String> {
            let args =
                [&["reshard", "s3://bucket/in", &store, "--memory", memory], KINDS[0], verify];
            args.concat().into_iter().map(str::to_owned).collect()
        };
        let refused = |memory: &str| {
            let args = with(memory);
            refusal(&server, &args.iter().map(String::as_str).collect::<Vec<_>>(), 2)
        };
        let said = refused("5M");
        let (_, least) = said.split_once("give --memory ").unwrap();
        let (least, _) = least.split_once("M or more").unwrap();
        let least: f64 = least.parse().unwrap();
        assert!((5.0..10.0).contains(&least), "{said}");
        refused(&format!("{}", ((least - 0.2) * f64::from(1 << 20)) as u64));
        let args = with(&format!("{least}M"));
        answer(&server, &args.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// A run names the folders of other runs for its result.
#[test]
fn other_runs_are_named() {
    let (server, args) = (
        filled(),
        ["reshard", "s3://bucket/in", "s3://bucket/other", "--as", "hf", "--memory", "20M"],
    );
    ended_while_finishing(&server, &args);
    let output = run(&server, &[&args[..], &["--verify"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("other.partial-") && said.contains("another memory"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_signal_does_not_wait_for_a_server() {
    let server = filled();
    let mut command = program(&server);
    server.hold(3);
    let args = ["convert", "s3://bucket/in/model.safetensors", "s3://bucket/held.safetensors"];
    let args = [&args[..], &ZN].concat();
    let mut child = command.args(args).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..2000 {
        if server.holds() {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    assert!(server.holds());
    let begun = std::time::Instant::now();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    // The server would answer after a minute.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(server.get("bucket/held.safetensors").is_none());
}

/// A signal while the uploads of a result begin: those that no list names are aborted.
#[test]
#[cfg(unix)]
fn a_signal_while_uploads_begin_leaves_none() {
    let server = filled();
    let args = ["reshard", "s3://bucket/in", "s3://bucket/begun", "--memory", "20M"];
    let args = [&args[..], KINDS[0]].concat();
    server.take();
    answer(&server, &args);
    let came = server.take();
    let begins = |target: &str| target.contains("?uploads");
    let begun = came.iter().enumerate().filter(|(_, came)| begins(&came.target));
    let second = begun.map(|(at, _)| at).nth(1).unwrap();
    // Threads share the work, so another request may have that number.
    let is_held = (0..20).any(|_| {
        let names = server.names();
        names.iter().filter(|name| name.contains("/begun")).for_each(|it| server.remove(it));
        server.abort_all();
        server.take();
        server.hold(second);
        let mut child = program(&server).args(&args).stderr(Stdio::null()).spawn().unwrap();
        for _ in 0..2000 {
            if server.holds() || child.try_wait().unwrap().is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let open = server.open_uploads();
        let is_held = server.take().get(second).is_some_and(|came| begins(&came.target));
        // The child may have ended.
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let ended = child.wait().unwrap();
        let is_held = is_held && open == 1;
        assert!(!is_held || (!ended.success() && server.open_uploads() == 0));
        is_held
    });
    assert!(is_held);
}

#[test]
#[cfg(unix)]
fn a_signal_aborts_uploads() {
    let (server, folder) = (filled(), folder());
    // A source that is longer than what the parts in flight hold.
    let path = folder.path().join("long.npy");
    let rows = 30_000;
    let head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 1024), }}");
    let mut bytes = b"\x93NUMPY\x01\0\x76\0".to_vec();
    bytes.extend(format!("{head:<117}\n").bytes());
    bytes.resize(128 + rows * 4096, 1);
    fs::write(&path, bytes).unwrap();
    let mut command = program(&server);
    let args =
        ["convert", text(&path), "s3://bucket/long.npy", "--to", "col-major", "--memory", "32M"];
    let mut child = command.args(args).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..2000 {
        if server.open_uploads() > 0 {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    // A fast machine finishes first.
    if code != Some(0) {
        assert!(server.get("bucket/long.npy").is_none(), "{code:?}");
        assert_eq!(server.open_uploads(), 0, "{code:?}");
    }
}
