//! The commands and the console examples of the documents, run.

use std::{fs, path::Path, process::Command};

/// The words of a command line, single quotes removed.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The console blocks: each command with the lines it is said to print.
fn examples(text: &str) -> Vec<(String, Vec<String>)> {
    let mut examples: Vec<(String, Vec<String>)> = Vec::new();
    let blocks = text.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ tilewright "), examples.last_mut()) {
            (Some(command), _) => examples.push((command.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    examples
}

/// The commands of the shell blocks, each on one line and without its comment.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let joined: String = blocks.map(|block| block.replace("\\\n", " ")).collect();
    let lines = joined.lines().map(|line| line.split(" # ").next().unwrap_or(line).trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// What the examples read: a checkpoint and a convolution's weights.
fn materials(folder: &Path) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data");
    let data = folder.join("corpus/data");
    fs::create_dir_all(&data).unwrap();
    fs::create_dir(folder.join("docs")).unwrap();
    for name in ["tiny_llm_mixed.safetensors", "tiny_cnn_f32.safetensors"] {
        fs::copy(corpus.join(name), data.join(name)).unwrap();
    }
    fs::copy(data.join("tiny_llm_mixed.safetensors"), folder.join("model.safetensors")).unwrap();
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3, 5, 5), }\n";
    let mut npy = b"\x93NUMPY\x01\0".to_vec();
    npy.extend((text.len() as u16).to_le_bytes());
    npy.extend(text.as_bytes());
    npy.extend([7; 4 * 3 * 5 * 5 * 4]);
    fs::write(folder.join("conv.npy"), npy).unwrap();
}

#[test]
fn the_readme_s_commands_do_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    materials(folder.path());
    let mut others = Vec::new();
    let mut count = 0;
    for command in commands(include_str!("../../../README.md")) {
        let Some(args) = command
            .strip_prefix("tilewright ")
            .or(command.strip_prefix("cargo run --release -p tilewright-cli -- "))
        else {
            others.push(command);
            continue;
        };
        let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        let output = program.args(words(args)).current_dir(folder.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {stderr}");
        count += 1;
    }
    // What builds and tests the project is run by whoever runs this.
    let built = ["cargo xtask ci", "cargo xtask web"].map(String::from);
    assert_eq!((others, count), (built.to_vec(), 8));
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("model.safetensors") == read("back.safetensors"));
    assert!(read("tiny-zN.safetensors") == read("ascend.safetensors"));
    assert!(read("tpu.safetensors") != read("model.safetensors"));
    // The picture at the top is the one that its command draws.
    assert!(read("docs/conversion.svg") == include_bytes!("../../../docs/conversion.svg"));
    // The first command leaves its result where git does not look.
    let ignored = include_str!("../../../.gitignore");
    assert!(ignored.lines().any(|line| line == "/*.safetensors"));
}

/// Every example shows what the program prints: its answers, then its errors.
fn check(text: &str, least: usize) {
    let examples = examples(text);
    assert!(examples.len() >= least, "{}", examples.len());
    for (command, expected) in examples {
        let output = Command::new(env!("CARGO_BIN_EXE_tilewright"))
            .args(words(&command))
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .output()
            .unwrap();
        let stdout = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let printed: Vec<&str> = stdout.lines().collect();
        // A line `…` stands for all that follows.
        let cut = expected.iter().position(|line| line == "…");
        let shown = cut.unwrap_or(expected.len());
        assert!(printed.len() >= shown, "{command}:\n{stdout}");
        assert_eq!(printed[..shown], expected[..shown], "{command}");
        assert!(cut.is_some() || printed.len() == shown, "{command}:\n{stdout}");
    }
}

#[test]
fn the_readme_prints_what_the_program_prints() {
    check(include_str!("../../../README.md"), 8);
}

#[test]
fn the_chapter_on_the_algebra_prints_what_the_program_prints() {
    check(include_str!("../../../docs/algebra.md"), 60);
}

#[test]
fn the_tutorials_print_what_the_program_prints() {
    check(include_str!("../../../docs/kernel-writers.md"), 13);
    check(include_str!("../../../docs/compiler-writers.md"), 12);
}
