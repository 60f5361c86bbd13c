//! [`pack`] and [`unpack`]: checkpoints as the files of all ranks by a plan, and back.
//!
//! The result of [`pack`] is what the engine has in memory after it loaded the checkpoint: one file for each rank, with the names,
//! extents and order of the arrays that were dumped. Law: `unpack(pack(checkpoint))` has the tensors of the checkpoint bit for bit.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use tilewright_files::{
    Assembling, Input, Packaging, Reading, Report, Request, Watch,
    inner::{Companions, is_empty_folder, is_url, joined, remove_filled},
    open,
};
use tilewright_learn::{Error, Learned};

use super::assembly::{assemblies, inverse_assembly, ranks};

/// Writes the file of each rank. A plan without ranks makes the file `out`. Otherwise `out` is a new folder of `rank0.safetensors` and
/// so on, with the files beside a checkpoint in a folder, such as `config.json`. Returns a report for each file.
///
/// # Errors
/// Those of [`assemblies`] and of writing; [exists](Error::is_exists) if the folder exists and is not empty, or if an earlier run
/// left its part of it; [usage](Error::is_usage) for ranks in a folder that is a URL, or from one.
///
/// ```
/// use tilewright::{Dtype, files::{Reading, Request, open}, learn::{NamedArray, Probe, pack, unpack}};
/// let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let (folder, input) = (tempfile::tempdir().unwrap(), open(model, &Reading::default())?);
/// let [probe, packed, back] = ["probe", "packed.safetensors", "back.safetensors"].map(|name| folder.path().join(name));
/// Probe::of(&input, 1)?.write(&probe, None, None)?;
/// // A loader that copies: its dumps are the checkpoints.
/// let learned = Probe::open(&probe)?.learn(&probe)?;
/// pack(&learned, &input, &packed, Request::new(), &())?;
/// unpack(&learned, &packed, &back, Request::new(), &())?;
/// let back = open(&back, &Reading::default())?;
/// let bytes = |input: &tilewright::files::Input| input.bytes(&input.tensors()[0], 1 << 30).unwrap();
/// assert_eq!(bytes(&back), bytes(&input));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn pack(
    learned: &Learned,
    input: &Input,
    out: &Path,
    request: Request,
    watch: &dyn Watch,
) -> Result<Vec<Report>, Error> {
    let all = assemblies(learned, input)?;
    let write = |assembly, path: &Path| {
        let request = request.clone();
        Assembling::prepare(input, assembly, path, request, &Packaging::default())?.run(watch)
    };
    if !is_ranked(learned) {
        return all.iter().map(|assembly| write(assembly, out)).collect();
    }
    let stage = stage(input, out)?;
    let name = out.display().to_string();
    fs::create_dir(&stage).map_err(|error| Error::from(error).about(&name))?;
    let made = beside(input, &stage).and_then(|()| {
        let files = all.iter().enumerate().map(|(rank, it)| write(it, &file(&stage, rank)));
        files.collect::<Result<Vec<Report>, Error>>()
    });
    let made = made.and_then(|made| {
        if is_empty_folder(out) {
            fs::remove_dir(out).map_err(|error| Error::from(error).about(&name))?;
        }
        fs::rename(&stage, out).map_err(|error| Error::from(error).about(&name))?;
        Ok(made)
    });
    if made.is_err() {
        remove_filled(&stage);
    }
    made
}

/// Returns the folder beside `out` that is filled and then becomes `out`, which is free or an empty folder.
fn stage(input: &Input, out: &Path) -> Result<PathBuf, Error> {
    let (shown, usage) = (out.display(), |said: String| Error::new("usage", said));
    if is_url(out) {
        let said =
            "is a URL, and the folder of the ranks is local; name a local folder and upload it";
        return Err(usage(format!("{shown} {said}")));
    }
    if is_url(input.path()) {
        let from = input.path().display();
        let said = "is a URL, and the files beside it would be lost; download the folder first";
        return Err(usage(format!("{from} {said}")));
    }
    let name = out.file_name().ok_or_else(|| usage(format!("{shown} is no name of a folder")))?;
    if fs::symlink_metadata(out).is_ok() && !is_empty_folder(out) {
        let said = format!("{shown} exists; name a new folder, because no folder is replaced");
        return Err(Error::new("exists", said));
    }
    let prefix = format!(".{}.tilewright-", name.to_string_lossy());
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
    let inside = fs::read_dir(parent.unwrap_or(Path::new(".")));
    let inside = inside.map_err(|error| Error::from(error).about(&shown.to_string()))?;
    let is_stray = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&prefix);
    if let Some(stray) = inside.flatten().find(is_stray) {
        let stray = stray.path();
        let said = format!(
            "{} is of a run to {shown} that was killed or still works; remove it",
            stray.display()
        );
        return Err(Error::new("exists", said));
    }
    Ok(out.with_file_name(format!("{prefix}{}", std::process::id())))
}

/// Returns whether the results of a plan name ranks.
fn is_ranked(learned: &Learned) -> bool {
    let has_rank = |name: &str| {
        let rank = name.split_once('/').and_then(|(rank, _)| rank.strip_prefix("rank"));
        rank.is_some_and(|rank| rank == "{T}" || rank.parse::<usize>().is_ok())
    };
    learned.results.iter().any(|learnt| has_rank(&learnt.tensor.name))
}

/// Copies the files beside a checkpoint.
fn beside(input: &Input, out: &Path) -> Result<(), Error> {
    let folder = input.path().parent().filter(|folder| folder.join("config.json").is_file());
    let Some(folder) = folder else { return Ok(()) };
    let own: HashSet<&Path> = input.files().collect();
    Companions::beside(folder, &own)?.copy_to(out, &())
}

fn file(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("rank{rank}.safetensors"))
}

/// Writes the checkpoint from the files of all ranks: a file, or a folder as [`pack`] makes it. Copies of one element must be equal.
///
/// # Errors
/// Those of [`inverse_assembly`], of reading and of writing.
///
/// ```
/// use tilewright::{files::Request, learn::{Learned, unpack}};
/// let nothing = Learned { sources: vec![], results: vec![] };
/// let out = std::path::Path::new("checkpoint.safetensors");
/// assert!(unpack(&nothing, "nowhere.safetensors".as_ref(), out, Request::new(), &()).unwrap_err().is_io());
/// ```
pub fn unpack(
    learned: &Learned,
    from: &Path,
    out: &Path,
    request: Request,
    watch: &dyn Watch,
) -> Result<Report, Error> {
    let reading = Reading::default();
    let input = match is_ranked(learned) {
        false => open(from, &reading)?,
        true => {
            let count = ranks(learned);
            let one = |rank: usize| {
                let prefix = if count == 1 { String::new() } else { format!("rank{rank}/") };
                Ok((prefix, open(file(from, rank), &reading)?))
            };
            joined((0..count).map(one).collect::<Result<_, Error>>()?)?
        }
    };
    let assembly = inverse_assembly(learned, &input)?;
    Assembling::prepare(&input, &assembly, out, request, &Packaging::default())?.run(watch)
}
