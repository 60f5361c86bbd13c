//! Legal destinations of a result: a free name, or the name of a regular file that may be replaced. Preparing conversions and
//! assemblies checks them. Small files are written here: each is whole or absent.
//!
//! A name is resolved through links before it is used. A path that is not a regular file is never replaced, and neither is a link
//! to the open file of a process: the rename at the end would put a file in its place.

use std::{
    fs, io,
    path::{Component, Path},
};

use tilewright_core::Remedy;

use crate::{
    Error, Input, Request,
    commit::{
        access::Access,
        disk,
        temporary::{self, Temporary},
        upload,
    },
    container::{FORMATS, Format, Target},
    error,
    open::{
        place::Place,
        remote,
        source::{is_standard, unusual_kind},
    },
};

/// The name, in messages, of a result that is not a file.
pub(crate) const STREAM: &str = "standard output";

/// The largest number of links in a chain, as on Linux.
const LINKS: usize = 40;

/// Returns the format of `out`, if this input can be converted to it.
pub(crate) fn format_of(input: &Input, out: &Place) -> Result<&'static Format, Error> {
    let from = input.container_format();
    let one_tensor = if from.array.is_none() { ", or of one tensor .npy or raw:PATH" } else { "" };
    let (shown, legal) = (from.shown, format!("{}{one_tensor}", from.becomes));
    let path = error::shown(&out.path);
    if let (None, Some(end)) = (out.format, Path::new(&path).extension()) {
        let end = end.to_string_lossy();
        let hint = if from.several { String::new() } else { prefixes() };
        return Err(error::usage(format!(
            "{path}: a {shown} file becomes {legal}, and this name ends in .{end}{hint}"
        )));
    }
    let format = out.format.unwrap_or(from);
    if input.opened.container.can_become(format) {
        return Ok(format);
    }
    let said = format!("{path}: a {shown} file becomes {legal}, not {}", format.shown);
    Err(error::usage(said))
}

/// Returns the possible prefixes of a path, as the end of a sentence.
fn prefixes() -> String {
    let known: Vec<&str> = FORMATS.iter().filter_map(|format| format.prefix).collect();
    match known.split_last() {
        Some((last, others)) => {
            format!("; before a path, {} and {last} say what it is", others.join(", "))
        }
        None => String::new(),
    }
}

/// Checks that every file may be written: none is part of the input, none exists unless `force`, and every folder exists.
pub(crate) fn check(input: &Input, targets: &[Target], force: bool) -> Result<(), Error> {
    for target in targets {
        if remote::is_url(&target.path) {
            check_object(input, &target.path, force)?;
            continue;
        }
        check_folder(&target.path)?;
        if let Some(source) = input.sources().find(|source| source.is_at(&target.path)) {
            return Err(error::same_file(source.path(), &target.path));
        }
        check_free(&target.path, force)?;
    }
    Ok(())
}

/// Checks that an object may be written: it is not part of the input, and does not exist unless `force`.
fn check_object(input: &Input, path: &Path, force: bool) -> Result<(), Error> {
    if let Some(source) = input.sources().find(|source| source.is_at(path)) {
        return Err(error::same_file(source.path(), path));
    }
    if upload::exists(path)? {
        if !force {
            return Err(error::exists(path));
        }
        upload::check_set(input.container_format(), path)?;
    }
    Ok(())
}

/// Checks that a result of this kind can be written in order, to a stream that cannot be read back.
pub(crate) fn check_stream(format: &Format, request: &Request) -> Result<(), Error> {
    let refused = |said: &str| error::usage(format!("{STREAM} {said}")).with(&[Remedy::File]);
    if format.several {
        return Err(refused("is one file, but a checkpoint with its index is several"));
    }
    if request.verify {
        return Err(refused("cannot be read back to be verified").with(&[Remedy::Unverified]));
    }
    Ok(())
}

/// Checks that the path can name a file.
pub(crate) fn check_name(path: &Path) -> Result<(), Error> {
    if path.as_os_str().is_empty() {
        return Err(error::usage("the path of the output is empty; name a file"));
    }
    if is_standard(path) {
        return Err(error::usage(
            "- is standard output, not a file; write ./- for a file of that name",
        ));
    }
    remote::check_scheme(path)?;
    let text = path.as_os_str().to_string_lossy();
    if text.ends_with(std::path::is_separator) {
        let said = "ends with a slash, as a folder does; name a file in it";
        return Err(error::usage(format!("{text} {said}")));
    }
    Ok(())
}

pub(crate) fn check_folder(path: &Path) -> Result<(), Error> {
    let folder = temporary::folder(path);
    let facts =
        fs::metadata(folder).map_err(|cause| error::io(path, "write: its folder", cause))?;
    if !facts.is_dir() {
        let cause = io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder");
        return Err(error::io(folder, "write into it", cause));
    }
    Ok(())
}

/// Checks that the path is free, or names a regular file that may be replaced, or a link to one or to nothing, which is then
/// replaced.
pub(crate) fn check_free(path: &Path, force: bool) -> Result<(), Error> {
    check_way(path)?;
    match fs::symlink_metadata(path) {
        Ok(_) if !force => Err(error::exists(path)),
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            Err(error::io(path, "write", cause))
        }
        _ => Ok(()),
    }
}

/// Returns a message on a link at a path of a result, which a file replaces, as a sentence without a full stop.
pub(crate) fn replaced_link(path: &Path) -> Option<String> {
    let to = fs::read_link(path).ok()?;
    let (path, to) = (path.display(), to.display());
    Some(format!("{path} is a link to {to}: the result replaces the link, and {to} stays as it is"))
}

/// Checks that the path, and every link that it leads through, names a regular file or nothing.
fn check_way(path: &Path) -> Result<(), Error> {
    let mut at = path.to_path_buf();
    for _ in 0..=LINKS {
        if is_descriptor(&at) {
            return Err(refused(path, &at, "the open file of a process"));
        }
        let Ok(facts) = fs::symlink_metadata(&at) else { return Ok(()) };
        if !facts.is_symlink() {
            return unusual_kind(&facts).map_or(Ok(()), |kind| Err(refused(path, &at, kind)));
        }
        let to = fs::read_link(&at).map_err(|cause| error::io(&at, "follow the link", cause))?;
        at = temporary::folder(&at).join(to);
    }
    Err(refused(path, &at, "the end of too many links"))
}

/// Returns the error for a path that leads to an object of this kind.
fn refused(path: &Path, at: &Path, kind: &str) -> Error {
    let leads =
        if at == path { "is".into() } else { format!("leads to {}, which is", at.display()) };
    let said = match kind {
        "a directory" => "name a file in it",
        _ => "it is not replaced; name a file, or write to standard output with -",
    };
    error::usage(format!("{} {leads} {kind}; {said}", path.display()))
}

/// Returns whether a path names an open file of a process, as written or after its folder is resolved.
fn is_descriptor(path: &Path) -> bool {
    let real = fs::canonicalize(temporary::folder(path)).ok();
    let real = real.zip(path.file_name()).map(|(folder, name)| folder.join(name));
    // A link in `/proc` leads to a file that a process has open.
    let kept = |real: &Path| real.is_symlink() && is_of_proc(real);
    names_descriptor(path) || real.is_some_and(|real| names_descriptor(&real) || kept(&real))
}

/// Returns whether a path is `/dev/stdin`, `/dev/stdout`, `/dev/stderr`, `/dev/fd/…` or `/proc/…/fd/…`.
fn names_descriptor(path: &Path) -> bool {
    let mut parts = path.components();
    if parts.next() != Some(Component::RootDir) {
        return false;
    }
    let parts: Vec<&str> = parts.filter_map(|part| part.as_os_str().to_str()).collect();
    match parts.as_slice() {
        ["dev", "stdin" | "stdout" | "stderr"] | ["dev", "fd", ..] => true,
        ["proc", rest @ ..] => rest.contains(&"fd"),
        _ => false,
    }
}

/// Returns whether a path is in a `proc` file system, wherever that is mounted.
#[cfg(target_os = "linux")]
fn is_of_proc(path: &Path) -> bool {
    rustix::fs::statfs(temporary::folder(path))
        .is_ok_and(|facts| facts.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn is_of_proc(_path: &Path) -> bool {
    false
}

/// Writes a file like the output of a conversion: to a temporary file beside it, which is synced and then renamed. An existing
/// file is replaced only with `force`.
///
/// # Errors
/// [usage](Error::is_usage) for a path that cannot name a file, or that exists, without `force`; [io](Error::is_io) if writing
/// fails.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("picture.svg");
/// tilewright_files::write(&path, b"<svg/>", false)?;
/// assert!(tilewright_files::write(&path, b"other", false).unwrap_err().kind() == "exists");
/// tilewright_files::write(&path, b"other", true)?;
/// assert_eq!(std::fs::read(&path)?, b"other");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), Error> {
    remote::check_local(path, "this result")?;
    check_name(path)?;
    check_folder(path)?;
    check_free(path, force)?;
    temporary::sweep(path)?;
    let temporary = Temporary::create(path, path, &Access::of(path, None))?;
    let failed = |cause| error::io(path, "write", cause);
    let file = temporary.writer()?;
    disk::write(&file, bytes).and_then(|()| disk::sync(&file)).map_err(failed)?;
    temporary.persist(force)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_told_by_their_names() {
        for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/1/task/1/fd/x"] {
            assert!(names_descriptor(Path::new(path)), "{path}");
        }
        for path in
            ["dev/stdout", "/tmp/dev/stdout", "/dev/std", "/proc/fds", "/srv/fd/1", "stdout"]
        {
            assert!(!names_descriptor(Path::new(path)), "{path}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn links_to_open_files_are_found_through_links_and_folders() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("/proc/self", path("self")).unwrap();
        symlink("/proc/self/fd/1", path("out")).unwrap();
        symlink("out", path("further")).unwrap();
        symlink("round", path("round")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        for name in ["out", "further", "self/fd/1", "self/fd/999", "round"] {
            let error = check_free(&path(name), true).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(name), "{error}");
        }
        assert!(check_free(&path("dangling"), true).is_ok());
        assert_eq!(check_free(&path("dangling"), false).unwrap_err().kind(), "exists");
        assert!(path("out").is_symlink() && path("further").is_symlink());
    }
}
