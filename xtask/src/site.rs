//! `cargo xtask site`: builds documents, generated references, the crates' documentation and the page in the browser as
//! one folder of files, in the build folder's `site`.
//!
//! The generator is in `xtask/site`: `build.py` stages the documents and makes the generated pages from the program's
//! own tables, and Zensical turns them into the site. `mkdocs.yml` is the navigation. Readers of the site fetch nothing
//! from other places. `cargo xtask tidy` checks links and navigation without building anything.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::{
    shell::{self, Build, Outcome, command, run as sh, target},
    web,
};

/// The parts of the site other than the documents and the generated pages.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct SiteParts {
    /// Leaves the page out, which is built first where it is absent or older than its sources
    #[arg(long)]
    without_page: bool,
    /// Leaves out the documentation of the crates
    #[arg(long)]
    without_crates: bool,
}

/// Builds the parts of the site, and the site.
pub(crate) fn run(root: &Path, parts: SiteParts) -> Outcome {
    let program = shell::build(root, Build::Debug)?;
    let web = root.join("web");
    let page = (!parts.without_page).then(|| web.join("dist"));
    if page.is_some() && is_old(root) {
        web::build(root)?;
    }
    let target = target(root)?;
    if !parts.without_crates {
        document(root, &target.join("doc"))?;
    }
    build(root, &program, page)?;
    if !parts.without_crates {
        copy(&target.join("doc"), &target.join("site/rust"))?;
    }
    println!("    {}", target.join("site").display());
    Ok(())
}

/// Builds the documents and the references that `program` generates; with `page`, the page of the browser in this
/// folder.
pub(crate) fn build(root: &Path, program: &Path, page: Option<PathBuf>) -> Outcome {
    let target = target(root)?;
    let pins = root.join("xtask/site/requirements.txt");
    let python = shell::venv(root, &target.join("python/site"), &pins)?;
    let mut build = command(root, &[&*python.to_string_lossy(), "xtask/site/build.py"]);
    build.arg("--program").arg(program).arg("--target").arg(&target);
    build.env("PYTHONDONTWRITEBYTECODE", "1");
    if let Some(page) = page {
        build.arg("--page").arg(page);
    }
    sh(&mut build)
}

/// Builds the documentation of the crates in a new folder.
///
/// rustdoc links to a crate if its folder exists when rustdoc starts, and cargo documents crates in any order. So all
/// folders are made first.
fn document(root: &Path, folder: &Path) -> Outcome {
    fs::remove_dir_all(folder).or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(format!("{}: {error}", folder.display())),
    })?;
    for entry in fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().replace('-', "_");
        fs::create_dir_all(folder.join(name)).map_err(|error| error.to_string())?;
    }
    let words = ["cargo", "doc", "--quiet", "--workspace", "--no-deps", "--exclude", "xtask"];
    sh(&mut command(root, &words))
}

/// Returns whether the page must be built: it does not exist, or one of its sources is newer.
fn is_old(root: &Path) -> bool {
    let page = newest(&root.join("web/dist/index.html"));
    page.is_none() || ["web/src", "crates"].iter().any(|source| newest(&root.join(source)) > page)
}

/// Returns the modification time of a file, or the newest in a folder.
fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_file() {
        return fs::metadata(path).ok()?.modified().ok();
    }
    let within = fs::read_dir(path).into_iter().flatten().flatten();
    within.filter_map(|entry| newest(&entry.path())).max()
}

/// Copies a folder with its contents.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    let failed = |error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)?.flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &to)?,
            false => fs::copy(&path, &to).map(drop).map_err(failed)?,
        }
    }
    Ok(())
}
