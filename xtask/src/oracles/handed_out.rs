//! What is handed out: packages, the compilers and systems it is for, wheels.

use std::path::Path;

use super::{Verdict, verdict};
use crate::{platforms, python, release, wheel};

/// The licences, versions and sources of all dependencies.
pub(super) fn licences(root: &Path) -> Verdict {
    release::has_deny(root).map_or_else(Verdict::Skipped, |()| verdict(release::licences(root)))
}

/// The advisories against dependencies, whose database is not on the registry.
pub(super) fn advisories(root: &Path) -> Verdict {
    let here = release::has_deny(root).and_then(|()| release::has_advisories(root));
    here.map_or_else(Verdict::Skipped, |()| verdict(release::advisories(root)))
}

/// Every crate built from its package alone.
pub(super) fn packages(root: &Path) -> Verdict {
    verdict(release::packages(root, true))
}

/// The oldest compiler that is promised.
pub(super) fn msrv(root: &Path) -> Verdict {
    let version = match platforms::oldest(root) {
        Ok(version) => version,
        Err(why) => return Verdict::Failed(why),
    };
    let here = platforms::has_compiler(root, &version);
    here.map_or_else(Verdict::Skipped, |()| verdict(platforms::check_with(root, &version)))
}

/// The public items of every crate, compared with those of the last release.
pub(super) fn api(root: &Path) -> Verdict {
    match release::last(root) {
        Err(why) => Verdict::Skipped(why),
        Ok(base) => match release::has_semver_checks(root) {
            Err(why) => Verdict::Skipped(why),
            Ok(()) => verdict(release::compatible(root, &base)),
        },
    }
}

/// The libraries and the program checked for other systems, as far as their standard libraries can be fetched.
pub(super) fn platforms(root: &Path) -> Verdict {
    let mut missing = Vec::new();
    for triple in platforms::TARGETS {
        match platforms::has(root, triple) {
            Err(why) => missing.push(why),
            Ok(()) => {
                println!("    {triple}");
                if let Err(why) = platforms::check(root, triple) {
                    return Verdict::Failed(why);
                }
            }
        }
    }
    missing.iter().for_each(|why| println!("    {why}"));
    if missing.len() < platforms::TARGETS.len() {
        Verdict::Passed
    } else {
        Verdict::Skipped("there is no standard library of another system".into())
    }
}

/// The wheels of all machines and the source distribution, installed and used.
pub(super) fn wheels(root: &Path) -> Verdict {
    match python::system(root) {
        Err(why) => Verdict::Skipped(why),
        Ok(_) => verdict(wheel::test_all(root)),
    }
}
