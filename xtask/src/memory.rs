//! Undefined behaviour and races: Miri over the folder that holds all `unsafe` code, and the sanitizers over all
//! tests of the crates that move data.

use std::path::Path;

use crate::shell::{Outcome, command, output, run as sh, target, works};

/// A named target only, so that build scripts and macros are compiled as ever.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Why Miri cannot run here, if it cannot.
pub(crate) fn miri_lacks(root: &Path) -> Option<String> {
    let here =
        works(&mut command(root, &["rustup", "run", "nightly", "cargo", "miri", "--version"]));
    let how = "rustup toolchain install nightly --component miri,rust-src";
    (!here).then(|| format!("no Miri on a nightly toolchain here; `{how}` brings it"))
}

/// The tests of the kernels, of the buffers, and of plans run whole, interpreted.
pub(crate) fn miri(root: &Path) -> Outcome {
    let folder = target(root)?.join("oracles/miri");
    // The queues of the thread pool's library obey the newer rules of borrowing only, and its threads are
    // never joined: what uses them is a run of its own.
    let runs = [
        (&["kernel", "--", "--skip", "together"][..], "-Zmiri-disable-isolation"),
        (&["together"], "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks"),
    ];
    for (tests, flags) in runs {
        let words = ["rustup", "run", "nightly", "cargo", "miri", "test", "--lib", "--package"];
        let words: Vec<&str> =
            words.into_iter().chain(["tilewright-relayout"]).chain(tests.iter().copied()).collect();
        let mut miri = command(root, &words);
        miri.env("CARGO_TARGET_DIR", &folder).env("PROPTEST_CASES", "4").env("MIRIFLAGS", flags);
        sh(&mut miri)?;
    }
    Ok(())
}

/// Why the sanitizers cannot run here, if they cannot.
pub(crate) fn sanitizers_lack(root: &Path) -> Option<String> {
    let sysroot =
        output(&mut command(root, &["rustup", "run", "nightly", "rustc", "--print", "sysroot"]));
    let source = sysroot.map(|path| Path::new(path.trim()).join("lib/rustlib/src/rust/library"));
    let here = source.is_ok_and(|path| path.is_dir())
        && cfg!(all(target_arch = "x86_64", target_os = "linux"));
    let how = "rustup toolchain install nightly --component rust-src";
    (!here).then(|| {
        format!("no nightly toolchain with the source of the library here; `{how}` brings it")
    })
}

/// The tests of relayout and files, with every access to memory checked, then every access by two threads.
pub(crate) fn sanitizers(root: &Path) -> Outcome {
    for (name, standard) in [("address", false), ("thread", true)] {
        println!("    {name} sanitizer");
        let mut words = vec!["rustup", "run", "nightly", "cargo", "test", "--target", TRIPLE];
        words.extend(["--package", "tilewright-relayout", "--package", "tilewright-files"]);
        words.extend(["--lib", "--tests"]);
        // Without it the library's own locks look like races.
        words.extend(standard.then_some("-Zbuild-std"));
        // The tests that count allocations and start processes of themselves see the sanitizer's as well.
        words.extend(["--", "--skip", "allocat", "--skip", "faults", "--skip", "losses"]);
        let mut tests = command(root, &words);
        tests
            .env("CARGO_TARGET_DIR", target(root)?.join("oracles").join(name))
            .env("RUSTFLAGS", format!("-Zsanitizer={name} -Cunsafe-allow-abi-mismatch=sanitizer"))
            // More memory than there is is refused, as elsewhere.
            .env("ASAN_OPTIONS", "allocator_may_return_null=1")
            .env("TILEWRIGHT_JOBS", "300")
            .env("PROPTEST_CASES", "8");
        sh(&mut tests)?;
    }
    Ok(())
}
