//! `learn make` and `learn read`, with loaders that are functions of this file.

use std::{fs, path::Path, process::Command};

use tilewright::{
    TensorLayout,
    files::{Reading, Request, Writer, open},
    notation::Spec,
};

/// Returns the exit code, standard output and standard error.
fn code(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A tensor in memory: name, extents, bytes of bf16.
type Named = (String, Vec<u64>, Vec<u8>);

fn write(path: &Path, tensors: &[Named]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = Writer::new(Request::new());
    for (name, extents, bytes) in tensors {
        let text: Vec<String> = extents.iter().map(u64::to_string).collect();
        let spec = Spec::parse(&format!("bf16[{}] row-major", text.join(","))).unwrap();
        writer = writer.array(name, &spec.resolve(None, None).unwrap(), bytes).unwrap();
    }
    writer.write(path, &()).unwrap();
}

fn read(path: &Path) -> Vec<Named> {
    let input = open(path, &Reading::default()).unwrap();
    let one = |tensor: &tilewright::files::Tensor| {
        let bytes = input.bytes(tensor, 1 << 20).unwrap();
        (tensor.name().to_owned(), tensor.dims().to_vec(), bytes)
    };
    input.tensors().iter().map(one).collect()
}

/// Writes a checkpoint: gate and up of 8×4, a norm of 4.
fn model(folder: &Path) {
    let zeros = |name: &str, extents: &[u64]| {
        let size = TensorLayout::row_major(extents).unwrap().size() as usize;
        (name.to_owned(), extents.to_vec(), vec![0; 2 * size])
    };
    let tensors = [zeros("gate", &[8, 4]), zeros("up", &[8, 4]), zeros("norm", &[4])];
    write(&folder.join("model/model.safetensors"), &tensors);
    fs::write(folder.join("model/config.json"), "{}").unwrap();
}

/// Loads every checkpoint of a probe at two ranks: each has half of gate, half of up, and the norm.
fn loads(folder: &Path, change: impl Fn(usize, &mut Vec<Named>)) {
    for entry in fs::read_dir(folder.join("probe")).unwrap() {
        let load = entry.unwrap();
        if !load.path().is_dir() {
            continue;
        }
        assert!(load.path().join("config.json").exists());
        let tensors = read(&load.path().join("model.safetensors"));
        let of = |name: &str| &tensors.iter().find(|tensor| tensor.0 == name).unwrap().2;
        for rank in 0..2 {
            let half = rank * 32..(rank + 1) * 32;
            let fused = [&of("gate")[half.clone()], &of("up")[half]].concat();
            let mut made = vec![
                ("gate_up".to_owned(), vec![8, 4], fused),
                ("norm".to_owned(), vec![4], of("norm").clone()),
            ];
            change(rank, &mut made);
            let dump = folder.join("dumps").join(load.file_name());
            write(&dump.join(format!("rank{rank}.safetensors")), &made);
        }
    }
}

fn made(folder: &Path) {
    model(folder);
    let [model, probe] = ["model", "probe"].map(|name| folder.join(name).display().to_string());
    let (status, text, error) = code(&["learn", "make", &model, &probe]);
    assert!(
        status == 0 && text.ends_with("probe: 3 tensors, 3 loads: load0, load1, fresh\n"),
        "{text}{error}"
    );
}

fn learned(folder: &Path, more: &[&str]) -> (i32, String, String) {
    let [probe, dumps] = ["probe", "dumps"].map(|name| folder.join(name).display().to_string());
    code(&[&["learn", "read", &probe, &dumps], more].concat())
}

#[test]
fn ranks_are_an_axis() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    loads(folder.path(), |_, _| {});
    let plan = folder.path().join("plan.toml").display().to_string();
    let (status, text, _) = learned(folder.path(), &["-o", &plan]);
    assert_eq!(status, 0, "{text}");
    let lines = "rank{T}/gate_up bf16[2,8,4]\n    gate : (n n0:4) k -> n n0 k [n0:8] @ 0\n";
    assert!(text.contains(lines), "{text}");
    assert!(
        text.contains("norm is held 2 times\n") && text.ends_with("fresh data agree\n"),
        "{text}"
    );
    assert!(fs::read_to_string(&plan).unwrap().contains("rank{T}/gate_up"));
}

#[test]
fn what_is_not_explained_or_not_held_is_exit_1() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    // Rank 1 scales one element, and no rank keeps the norm.
    loads(folder.path(), |rank, made| {
        made.pop();
        if rank == 1 {
            made[0].2[21] ^= 1;
        }
    });
    let plan = folder.path().join("plan.json").display().to_string();
    let (status, text, _) = learned(folder.path(), &["-o", &plan]);
    assert_eq!(status, 1);
    assert!(text.contains("rank{T}/gate_up: 1 of 64 elements are not explained, the first at [1, 2, 2]; its values"), "{text}");
    assert!(
        text.contains("norm: 4 of 4 elements are held by no result, the first at [0]\n"),
        "{text}"
    );
    assert!(!Path::new(&plan).exists());
    let (status, _, _) = learned(folder.path(), &["-o", &plan, "--drop", "norm", "--partial"]);
    assert_eq!((status, Path::new(&plan).exists()), (1, true));
    let (_, json, _) = learned(folder.path(), &["--json"]);
    assert!(json.contains("\"complete\":false"));
}

#[test]
fn dumps_that_do_not_fit_are_named() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    loads(folder.path(), |_, _| {});
    let dumps = folder.path().join("dumps");
    let file = |name: &str| dumps.join(name);
    // Two loads exchanged.
    let swap = |a: &str, b: &str| {
        fs::rename(file(a), file("x")).unwrap();
        fs::rename(file(b), file(a)).unwrap();
        fs::rename(file("x"), file(b)).unwrap();
    };
    swap("load0", "load1");
    let (status, _, error) = learned(folder.path(), &[]);
    assert!(
        status == 2 && error.contains("the dumps are of another probe, or their loads are mixed"),
        "{error}"
    );
    swap("load0", "load1");
    // A stale rank.
    fs::copy(file("load0/rank1.safetensors"), file("fresh/rank1.safetensors")).unwrap();
    let (status, text, _) = learned(folder.path(), &[]);
    assert!(
        status == 1 && text.contains("elements of fresh data differ, the first at [1, 0, 0]"),
        "{text}"
    );
    // A missing rank, and a missing load.
    fs::remove_file(file("load1/rank1.safetensors")).unwrap();
    let (status, _, error) = learned(folder.path(), &[]);
    assert!(status == 2 && error.contains("load0 has 2 files and load1 has 1"), "{error}");
    fs::remove_dir_all(file("load1")).unwrap();
    let (status, _, error) = learned(folder.path(), &[]);
    assert!(
        status == 2 && error.contains("each load of the probe needs a folder of its name"),
        "{error}"
    );
}

/// Learns the loader of two ranks, and returns the plan.
fn plan(folder: &Path) -> String {
    made(folder);
    loads(folder, |_, _| {});
    let plan = folder.join("plan.json").display().to_string();
    let (status, text, error) = learned(folder, &["-o", &plan]);
    assert_eq!(status, 0, "{text}{error}");
    plan
}

#[test]
fn plans_make_the_files_of_all_ranks_and_the_checkpoint_again() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (fresh, ranks, back) =
        (path("probe/fresh/model.safetensors"), path("ranks"), path("back.safetensors"));
    let convert = |args: &[&str]| code(&[&["convert"], args, &["--plan", &plan]].concat());
    let (status, text, error) = convert(&[&fresh, &ranks, "--verify"]);
    assert!(status == 0 && text.contains("2 files"), "{text}{error}");
    // They are what the loader made, and its files are beside them.
    for rank in ["rank0.safetensors", "rank1.safetensors"] {
        let own = read(&folder.path().join("ranks").join(rank));
        assert_eq!(own, read(&folder.path().join("dumps/fresh").join(rank)));
    }
    assert!(folder.path().join("ranks/config.json").exists());
    let (status, _, error) = convert(&[&ranks, &back, "--inverse", "--verify"]);
    assert_eq!(status, 0, "{error}");
    let sorted = |name: &str| {
        let mut all = read(Path::new(name));
        all.sort();
        all
    };
    assert_eq!(sorted(&back), sorted(&fresh));
    // The folder is not replaced, and copies must be equal.
    let (status, _, error) = convert(&[&fresh, &ranks]);
    assert!(status == 2 && error.contains("the folder is not empty"), "{error}");
    let second = folder.path().join("ranks/rank1.safetensors");
    let mut tensors = read(&second);
    tensors.iter_mut().find(|one| one.0 == "norm").unwrap().2[0] ^= 1;
    fs::remove_file(&second).unwrap();
    write(&second, &tensors);
    let (status, _, error) = convert(&[&ranks, &path("again.safetensors"), "--inverse"]);
    assert!(status != 0 && error.contains("copies of one element of the checkpoint"), "{error}");
    fs::remove_file(&second).unwrap();
    let (status, _, error) = convert(&[&ranks, &path("again.safetensors"), "--inverse"]);
    assert!(status == 3 && error.contains("rank1.safetensors"), "{error}");
    // Another checkpoint, and plans that are not plans.
    let cnn = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    let (status, _, error) = convert(&[cnn, &path("other")]);
    assert!(status == 2 && error.contains("lacks gate, which the plan reads"), "{error}");
    let (status, _, error) = code(&["convert", &fresh, &path("other"), "--plan", &fresh]);
    assert!(status != 0 && error.contains("it is not a plan"), "{error}");
}

#[test]
fn folders_of_ranks_are_local_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let fresh = path("probe/fresh/model.safetensors");
    let convert = |out: &str, more: &[&str]| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        run.current_dir(folder.path()).args(["convert", &fresh, out, "--plan", &plan]).args(more);
        let output = run.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, error) = convert("s3://bucket/out", &[]);
    assert!(status == 2 && error.contains("name a local folder and upload it"), "{error}");
    assert!(!folder.path().join("s3:").exists());
    let (status, error) = convert("-", &[]);
    assert!(status == 2 && error.contains("name a file or a folder"), "{error}");
    assert!(!folder.path().join("-").exists());
    // An error leaves no folders, not even those above OUT.
    let (status, error) = convert("none/out", &[]);
    assert!(status != 0 && !folder.path().join("none").exists(), "{error}");
    // The part of a killed run is removed, and an empty folder is filled.
    let stray = folder.path().join(".out.tilewright-1-0.tmp");
    fs::create_dir(&stray).unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    let (status, error) = convert("out", &[]);
    assert!(status == 0 && folder.path().join("out/rank1.safetensors").exists(), "{error}");
    assert!(!stray.exists());
    let (status, error) = convert("out", &["--force"]);
    assert!(status == 2 && error.contains("out: the folder is not empty"), "{error}");
}

#[test]
fn plans_that_need_more_memory_are_refused_with_the_number() {
    let folder = tempfile::tempdir().unwrap();
    let size = 1 << 16;
    let tensor = |name: &str, rest: &str| {
        let extents = format!("\"name\":\"{name}\",\"dtype\":\"u8\",\"extents\":[{size}]");
        format!("{{{extents},{rest}}}")
    };
    let source = tensor("w", "\"first\":1");
    let result = tensor(
        "r",
        &format!(
            "\"unit\":\"u8\",\"size\":{size},\"rest\":\"constant\",\"constants\":[[7,{size}]],\"terms\":[]"
        ),
    );
    let plan = format!("{{\"tilewright_plan\":1,\"source\":[{source}],\"result\":[{result}]}}");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("plan.json"), plan).unwrap();
    let run = |more: &[&str]| {
        let (from, out, plan) = (path("w.safetensors"), path("out.safetensors"), path("plan.json"));
        code(&[&["convert", &from, &out, "--plan", &plan, "--memory", "5000"], more].concat())
    };
    let (status, _, error) = run(&[]);
    assert!(status == 2 && error.contains("the plan needs 524288 bytes"), "{error}");
    let (status, _, error) = run(&["--inverse"]);
    assert!(status == 2 && error.contains("the plan needs 8192 bytes"), "{error}");
}

#[test]
fn plans_that_contradict_themselves_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let text = fs::read_to_string(&plan).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let fresh = path("probe/fresh/model.safetensors");
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}: {text}");
        fs::write(path("wrong.json"), text.replacen(from, to, 1)).unwrap();
        let (status, _, error) =
            code(&["convert", &fresh, &path("out"), "--plan", &path("wrong.json")]);
        assert_ne!(status, 0);
        error
    };
    let up = "\"at\":16,";
    assert!(
        with(up, "\"at\":15,").contains("two terms have element"),
        "{}",
        with(up, "\"at\":15,")
    );
    assert!(with(up, "\"at\":99,").contains("leave the result"));
    let wide = with("\"unit\":\"bf16\"", "\"unit\":\"f32\"");
    assert!(wide.contains("is not 64 units of f32"), "{wide}");
    let unknown = with("\"rest\":", "\"seed\":1,\"rest\":");
    assert!(
        unknown.contains("a result has the unknown key seed; its keys are name, "),
        "{unknown}"
    );
    let narrow =
        with("\"dtype\":\"bf16\",\"extents\":[8,4]", "\"dtype\":\"f32\",\"extents\":[8,4]");
    assert!(narrow.contains("takes elements of f32"), "{narrow}");
}

#[test]
fn plans_in_toml_are_those_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let json = plan(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let toml = path("plan.toml");
    let (status, text, error) = learned(folder.path(), &["-o", &toml]);
    assert_eq!(status, 0, "{text}{error}");
    let of = |plan: &str| tilewright::learn::from_bytes(&fs::read(plan).unwrap()).unwrap();
    assert_eq!(of(&toml), of(&json));
    let fresh = path("probe/fresh/model.safetensors");
    let (status, text, error) = code(&["convert", &fresh, &path("ranks"), "--plan", &toml]);
    assert!(status == 0 && text.contains("2 files"), "{text}{error}");
    let (status, _, error) =
        code(&["convert", &path("ranks"), &path("back.safetensors"), "--plan", &toml, "--inverse"]);
    assert_eq!(status, 0, "{error}");
}

/// A plan that has an array of a rank twice would make a file with two tensors of one name.
#[test]
fn plans_with_two_results_of_one_name_are_refused_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let value: serde_json::Value = serde_json::from_slice(&fs::read(&plan).unwrap()).unwrap();
    let norm = value["result"].as_array().unwrap().iter().find(|one| one["name"] == "rank{T}/norm");
    for name in ["rank{T}/norm", "norm", "rank1/norm"] {
        let (mut twice, mut again) = (value.clone(), norm.unwrap().clone());
        again["name"] = name.into();
        twice["result"].as_array_mut().unwrap().push(again);
        fs::write(path("twice.json"), twice.to_string()).unwrap();
        for more in [&[][..], &["--inverse"]] {
            let from = path("probe/fresh/model.safetensors");
            let all = [&["convert", &from, &path("out"), "--plan", &path("twice.json")], more];
            let (status, _, error) = code(&all.concat());
            assert!(status == 2 && error.contains("norm is twice in the plan"), "{name}: {error}");
        }
    }
}

#[test]
fn elements_that_fresh_data_contradict_are_computed_and_nothing_is_claimed_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    // The loader clamps negative values to zero. Coded values are positive.
    loads(folder.path(), |_, made| {
        for value in made[0].2.chunks_exact_mut(2).filter(|value| value[1] >= 0x80) {
            value.fill(0);
        }
    });
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (status, text, _) = learned(folder.path(), &["-o", &path("plan.toml")]);
    assert!(status == 1 && text.contains("elements of fresh data differ"), "{text}");
    assert!(!folder.path().join("plan.toml").exists());
    let (status, text, _) = learned(folder.path(), &["-o", &path("plan.toml"), "--partial"]);
    assert!(status == 1 && text.contains("64 elements count as computed"), "{text}");
    assert!(!text.contains("fresh data agree"), "{text}");
    // The plan says so: it converts nothing.
    let fresh = path("probe/fresh/model.safetensors");
    let (status, _, error) = code(&["convert", &fresh, &path("out"), "--plan", &path("plan.toml")]);
    assert!(
        status == 2 && error.contains("gate_up has elements that are not explained"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_probe_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path());
    // A file is in the place of the folder above, as root may write to folders that are read-only.
    fs::write(folder.path().join("file"), "").unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (status, _, error) = code(&["learn", "make", &path("model"), &path("file/probe")]);
    assert!(status == 3 && error.contains("file/probe/load0"), "{error}");
}

/// Learns the loader of two ranks at some rows and columns, and returns the path of the plan.
fn plan_at(folder: &Path, rows: u64, columns: u64) -> String {
    let folder = folder.join(format!("{rows}x{columns}"));
    sized_model(&folder, rows, columns);
    let [model, probe] = ["model", "probe"].map(|name| folder.join(name).display().to_string());
    let (status, text, error) = code(&["learn", "make", &model, &probe]);
    assert_eq!(status, 0, "{text}{error}");
    for entry in fs::read_dir(folder.join("probe")).unwrap() {
        let load = entry.unwrap();
        if load.path().is_dir() {
            load_at(&load.path(), &folder.join("dumps").join(load.file_name()));
        }
    }
    let plan = folder.join("plan.toml").display().to_string();
    let (status, text, error) = learned(&folder, &["-o", &plan]);
    assert_eq!(status, 0, "{text}{error}");
    plan
}

/// Writes a checkpoint of q, k and up, whose rows are in no fixed ratio, with the sizes in config.json.
fn sized_model(folder: &Path, rows: u64, columns: u64) {
    let random = |name: &str, rows: u64| {
        let bytes = (0..2 * rows * columns).map(|i| ((i * 167) >> 3) as u8).collect();
        (name.to_owned(), vec![rows, columns], bytes)
    };
    let tensors = [random("q", 4 * rows), random("k", 2 * columns), random("up", 6 * rows)];
    write(&folder.join("model/model.safetensors"), &tensors);
    let config = format!("{{\"rows\": {rows}, \"columns\": {columns}, \"layers\": 1}}");
    fs::write(folder.join("model/config.json"), config).unwrap();
}

/// Loads a checkpoint at two ranks: each has half of the rows of q and k in one array with a row of ones, and half of up transposed.
fn load_at(checkpoint: &Path, dump: &Path) {
    let tensors = read(&checkpoint.join("model.safetensors"));
    let of = |name: &str| tensors.iter().find(|tensor| tensor.0 == name).unwrap();
    let columns = of("q").1[1];
    for rank in 0..2usize {
        let half = |name: &str| {
            let bytes = &of(name).2;
            bytes[rank * bytes.len() / 2..(rank + 1) * bytes.len() / 2].to_vec()
        };
        let ones = [0x80, 0x3F].repeat(columns as usize);
        let fused = [half("q"), half("k"), ones].concat();
        let up = half("up");
        let rows = up.len() / 2 / columns as usize;
        let turned = (0..rows * columns as usize).flat_map(|p| {
            let at = 2 * (p % rows * columns as usize + p / rows);
            [up[at], up[at + 1]]
        });
        let qk = vec![fused.len() as u64 / 2 / columns, columns];
        let made = [
            ("qk".to_owned(), qk, fused),
            ("up".to_owned(), vec![columns, rows as u64], turned.collect()),
        ];
        write(&dump.join(format!("rank{rank}.safetensors")), &made);
    }
}

#[test]
fn plans_at_three_sizes_predict_a_fourth_and_one_load_confirms_it() {
    let folder = tempfile::tempdir().unwrap();
    let plans =
        [(3, 5), (7, 5), (5, 11)].map(|(rows, columns)| plan_at(folder.path(), rows, columns));
    let path = |name: &str| folder.path().join(name).display().to_string();
    let new = folder.path().join("new");
    sized_model(&new, 23, 17);
    let model = path("new/model");
    let predict = |plans: &[String], ranks: &str| {
        let plans: Vec<&str> = plans.iter().map(String::as_str).collect();
        let out = path("predicted.toml");
        let more = ["--ranks", ranks, "--force", "-o", &out];
        code(&[&["learn", "predict", &model], &plans[..], &more].concat())
    };
    let (status, text, error) = predict(&plans, "2");
    assert!(status == 0 && text.contains("2 arrays from 3 tensors, predicted"), "{text}{error}");
    // A prediction converts nothing.
    let convert = |plan: &str| {
        code(&["convert", &path("new/model/model.safetensors"), &path("ranks"), "--plan", plan])
    };
    let (status, _, error) = convert(&path("predicted.toml"));
    assert!(status == 2 && error.contains("the plan is predicted and not learned"), "{error}");
    // One load confirms it, or contradicts it.
    let confirm = || {
        let [predicted, dump, out] = ["predicted.toml", "dump", "plan.toml"].map(path);
        code(&["learn", "confirm", &predicted, &model, &dump, "-o", &out])
    };
    let dump = folder.path().join("dump");
    load_at(&new.join("model"), &dump);
    let file = dump.join("rank1.safetensors");
    let mut tensors = read(&file);
    tensors[1].2[8] ^= 1;
    fs::remove_file(&file).unwrap();
    write(&file, &tensors);
    let (status, text, error) = confirm();
    assert!(status == 1 && text.contains("up: 1 elements"), "{text}{error}");
    assert!(!folder.path().join("plan.toml").exists());
    load_at(&new.join("model"), &folder.path().join("again"));
    fs::remove_dir_all(&dump).unwrap();
    fs::rename(folder.path().join("again"), &dump).unwrap();
    // An array that the plan lacks is a difference.
    let rank0 = dump.join("rank0.safetensors");
    let tensors = read(&rank0);
    let more = [&tensors[..], &[("scales".to_owned(), vec![1], vec![0, 0])]].concat();
    fs::remove_file(&rank0).unwrap();
    write(&rank0, &more);
    let (status, _, error) = confirm();
    assert!(status == 2 && error.contains("has rank0/scales, which the plan lacks"), "{error}");
    fs::remove_file(&rank0).unwrap();
    write(&rank0, &tensors);
    let (status, text, error) = confirm();
    assert!(status == 0 && text.contains("the load agrees"), "{text}{error}");
    // The plan has its sizes, so another prediction reads it.
    let (status, _, error) = predict(&[&plans[..], &[path("plan.toml")]].concat(), "2");
    assert_eq!(status, 0, "{error}");
    let (status, _, error) = convert(&path("plan.toml"));
    assert_eq!(status, 0, "{error}");
    for rank in ["rank0.safetensors", "rank1.safetensors"] {
        assert_eq!(read(&folder.path().join("ranks").join(rank)), read(&dump.join(rank)));
    }
    // A plan is replaced by request only.
    let again = code(&["learn", "predict", &model, &plans[0], "-o", &path("plan.toml")]);
    assert!(
        again.0 == 2 && again.2.contains("plan.toml exists already; overwriting it needs --force"),
        "{}",
        again.2
    );
    // Plans and a checkpoint of other tensors name them.
    let other = folder.path().join("other/model");
    let mut tensors = read(&new.join("model/model.safetensors"));
    tensors[0].0 = "layers.1.k".into();
    write(&other.join("model.safetensors"), &tensors);
    fs::copy(new.join("model/config.json"), other.join("config.json")).unwrap();
    let args = [
        "learn",
        "predict",
        &path("other/model"),
        &plans[0],
        &plans[1],
        &plans[2],
        "-o",
        &path("p.toml"),
    ];
    let (status, _, error) = code(&args);
    let lost = tensors[0].0.clone();
    assert!(status == 2 && error.contains("plan 1 reads ") && error.contains(&lost), "{error}");
    assert!(error.contains("learn them with the number of layers of the checkpoint"), "{error}");
    // The files of ranks are those of the plan, no more and no fewer.
    let back = || {
        let out = path("back.safetensors");
        code(&[
            "convert",
            &path("ranks"),
            &out,
            "--inverse",
            "--plan",
            &path("plan.toml"),
            "--force",
        ])
    };
    assert_eq!(back().0, 0);
    let more = folder.path().join("ranks/rank2.safetensors");
    fs::copy(folder.path().join("ranks/rank1.safetensors"), &more).unwrap();
    let (status, _, error) = back();
    assert!(
        status == 2 && error.contains("has rank2.safetensors, and the last rank of the plan is 1"),
        "{error}"
    );
    fs::remove_file(&more).unwrap();
    fs::remove_file(folder.path().join("ranks/rank1.safetensors")).unwrap();
    let (status, _, error) = back();
    assert!(status == 3 && error.contains("rank1.safetensors: cannot open"), "{error}");
    assert!(error.contains("the plan has 2 ranks, and each needs its file"), "{error}");
    // Two sizes are too few, and no plan is of four ranks.
    let (status, _, error) = predict(&plans[..2], "2");
    assert!(status == 2 && error.contains("needs plans at three sizes or more"), "{error}");
    let (status, _, error) = predict(&plans, "4");
    assert!(status == 2 && error.contains("tp=4, and tp is 2 in every plan"), "{error}");
    let url = "https://example.org/model.safetensors";
    let (status, _, error) = code(&["learn", "predict", url, &plans[0], "-o", &path("p.toml")]);
    assert!(status == 2 && error.contains("config.json of a folder on this machine"), "{error}");
}

#[test]
fn patterns_without_a_match_and_maps_without_moves_are_said() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    // The loader makes zeros.
    loads(folder.path(), |_, made| made.iter_mut().for_each(|one| one.2.fill(0)));
    let all = ["--drop", "gate", "--drop", "{up,norm}"];
    let (status, text, _) = learned(folder.path(), &all);
    assert!(
        status == 0 && text.ends_with("no array holds an element of the checkpoint\n"),
        "{text}"
    );
    let (status, text, error) = learned(folder.path(), &["--drop", "gate", "--drop", "nrom"]);
    assert!(status == 2 && text.is_empty(), "{text}");
    assert!(error.contains("--drop: no tensor matches \"nrom\""), "{error}");
    assert!(error.contains("norm"), "{error}");
}

#[test]
fn names_reach_the_terminal_escaped() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    loads(folder.path(), |_, made| made[1].0 = "a\u{1b}[31m".into());
    let (_, text, _) = learned(folder.path(), &[]);
    assert!(text.contains("a\\u{1b}[31m") && !text.contains('\u{1b}'), "{text}");
}

/// Writes a safetensors file of U8 `w`, BOOL `mask`, and `head`, a second name of `w`.
fn masked(path: &Path) {
    let header = r#"{"__metadata__":{"head":"w"},"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[4,6]}}"#;
    let bytes =
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0, 0, 0, 0, 1, 0]].concat();
    fs::write(path, bytes).unwrap();
}

#[test]
fn truth_values_and_second_names_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    masked(&folder.path().join("model.safetensors"));
    let (status, text, error) =
        code(&["learn", "make", &path("model.safetensors"), &path("probe")]);
    assert!(status == 0 && text.contains("1 tensor,"), "{text}{error}");
    let load = folder.path().join("probe/load0/model.safetensors");
    let tensors = read(&load);
    let mask = tensors.iter().find(|tensor| tensor.0 == "mask").unwrap();
    assert_eq!(mask.2, [1, 0]);
    let input = open(&load, &Reading::default()).unwrap();
    assert!(input.tied().map(|(name, tensor)| (name, tensor.name())).eq([("head", "w")]));
    // A loader that copies.
    let (status, text, error) = code(&["learn", "read", &path("probe"), &path("probe")]);
    assert!(status == 0 && text.ends_with("fresh data agree\n"), "{text}{error}");
}

#[test]
fn tensors_that_a_plan_does_not_carry_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    made(folder.path());
    loads(folder.path(), |_, made| made.retain(|one| one.0 != "norm"));
    let plan = path("plan.json");
    let (status, text, error) = learned(folder.path(), &["--drop", "norm", "-o", &plan]);
    assert_eq!(status, 0, "{text}{error}");
    let fresh = path("probe/fresh/model.safetensors");
    let (ranks, back) = (path("ranks"), path("back.safetensors"));
    for args in [&[&fresh[..], &ranks][..], &[&ranks, &back, "--inverse"]] {
        let (status, _, error) = code(&[&["convert"], args, &["--plan", &plan]].concat());
        let said = "warning: the result lacks norm: the plan moves none of its elements";
        assert!(status == 0 && error.contains(said), "{error}");
    }
}
