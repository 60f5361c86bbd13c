//! Checks of what is published: packages, the compilers and systems they support, wheels.

use std::path::Path;

use super::{Verdict, release, verdict};
use crate::{
    ci, conformance,
    program::{self, Build},
    wheel,
};

/// Checks the licences, versions and sources of all dependencies.
pub(super) fn licences(root: &Path) -> Verdict {
    release::has_deny(root).map_or_else(Verdict::Skipped, |()| verdict(release::licences(root)))
}

/// Checks the advisories against dependencies, whose database is not on the registry.
pub(super) fn advisories(root: &Path) -> Verdict {
    let here = release::has_deny(root).and_then(|()| release::has_advisories(root));
    here.map_or_else(Verdict::Skipped, |()| verdict(release::advisories(root)))
}

/// Builds every crate from its package alone.
pub(super) fn packages(root: &Path) -> Verdict {
    verdict(release::packages(root, true))
}

/// Checks the oldest compiler that is promised.
pub(super) fn msrv(root: &Path) -> Verdict {
    let version = match release::oldest(root) {
        Ok(version) => version,
        Err(why) => return Verdict::Failed(why),
    };
    let here = release::has_compiler(root, &version);
    here.map_or_else(Verdict::Skipped, |()| verdict(release::check_with(root, &version)))
}

/// Compares the public items of every crate with those of the last release.
pub(super) fn api(root: &Path) -> Verdict {
    match release::last(root) {
        Err(why) => Verdict::Skipped(why),
        Ok(base) => match release::has_semver_checks(root) {
            Err(why) => Verdict::Skipped(why),
            Ok(()) => verdict(release::compatible(root, &base)),
        },
    }
}

/// Checks the libraries and the program for other systems whose standard libraries can be fetched.
pub(super) fn platforms(root: &Path) -> Verdict {
    let mut missing = Vec::new();
    for triple in release::TARGETS {
        match release::has(root, triple) {
            Err(why) => missing.push(why),
            Ok(()) => {
                println!("    {triple}");
                if let Err(why) = release::check(root, triple) {
                    return Verdict::Failed(why);
                }
            }
        }
    }
    missing.iter().for_each(|why| println!("    {why}"));
    if missing.len() < release::TARGETS.len() {
        Verdict::Passed
    } else {
        Verdict::Skipped("there is no standard library of another system".into())
    }
}

/// Builds program, wheel and the documentation of each feature as published: the checks of the program, and the package's tests
/// where nothing else is installed.
pub(super) fn released(root: &Path) -> Verdict {
    if let Err(why) = program::system(root) {
        return Verdict::Skipped(why);
    }
    let program = release::links_by_feature(root);
    let program = program.and_then(|()| program::build(root, Build::Release)).and_then(|program| {
        ci::reference(root, &program)?;
        conformance::ours(root, &program)
    });
    verdict(program.and_then(|()| wheel::build(root)).and_then(|wheel| wheel::test(root, &wheel)))
}

/// Installs and uses the wheels of all machines and the source distribution.
pub(super) fn wheels(root: &Path) -> Verdict {
    match program::system(root) {
        Err(why) => Verdict::Skipped(why),
        Ok(_) => verdict(wheel::test_all(root)),
    }
}
