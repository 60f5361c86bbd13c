//! [`pack`] and [`unpack`]: checkpoints as the files of all ranks by a plan, and back.
//!
//! The result of [`pack`] is what the engine has in memory after it loaded the checkpoint: one file for each rank, with the names,
//! extents and order of the arrays that were dumped. Law: `unpack(pack(checkpoint))` has the tensors of the checkpoint bit for bit.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use tilewright_files::{
    Assembling, Input, Packaging, Reading, Report, Request, Watch,
    inner::{Companions, NewFolder, is_url, joined},
    open,
};
use tilewright_learn::{Error, Learned};

use super::{
    assembly::{assemblies, ranks},
    inverse::inverse_assembly,
    plan::{RankOf, ranks_of},
};

/// The most files that an error names.
const NAMED: usize = 4;

/// Writes the file of each rank. A plan without ranks makes the file `out`. Otherwise `out` is a new folder of `rank0.safetensors` and
/// so on, with the files beside a checkpoint in a folder, such as `config.json`. Returns a report for each file.
///
/// # Errors
/// Those of [`assemblies`] and of writing; [exists](Error::is_exists) if the folder exists and is not empty; [usage](Error::is_usage) for ranks in a folder that is a URL, or from one.
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
    let folder = new_folder(input, out)?;
    folder.filled(watch, || {
        let files = all.iter().enumerate();
        files.map(|(rank, assembly)| write(assembly, &file(folder.path(), rank))).collect()
    })
}

/// Returns the folder of the ranks, with the files beside a checkpoint in a folder.
fn new_folder(input: &Input, out: &Path) -> Result<NewFolder, Error> {
    let usage = |path: &Path, said: &str| Error::new("usage", format!("{} {said}", path.display()));
    if is_url(out) {
        let said =
            "is a URL, and the folder of the ranks is local; name a local folder and upload it";
        return Err(usage(out, said));
    }
    if is_url(input.path()) {
        let said = "is a URL, and the files beside it would be lost; download the folder first";
        return Err(usage(input.path(), said));
    }
    NewFolder::new(out, beside(input)?)
}

/// Returns whether the results of a plan name ranks.
fn is_ranked(learned: &Learned) -> bool {
    let names = learned.results.iter().map(|learnt| &learnt.tensor.name);
    names.map(|name| ranks_of(name).0).any(|ranks| ranks != RankOf::None)
}

/// Returns the files beside a checkpoint.
fn beside(input: &Input) -> Result<Companions, Error> {
    let folder = input.path().parent().filter(|folder| folder.join("config.json").is_file());
    let own: HashSet<&Path> = input.files().collect();
    folder.map_or_else(|| Ok(Companions::default()), |folder| Companions::beside(folder, &own))
}

/// Checks that all files of ranks in a folder are of these ranks.
fn check_files(folder: &Path, count: usize) -> Result<(), Error> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = listed.filter_map(|entry| entry.file_name().into_string().ok());
    let rank = |name: &String| -> Option<u64> {
        let digits = name.strip_prefix("rank")?.strip_suffix(".safetensors")?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let beyond = |name: &String| rank(name).is_some_and(|rank| rank >= count as u64);
    let mut beyond: Vec<String> = names.filter(beyond).collect();
    beyond.sort();
    if beyond.is_empty() {
        return Ok(());
    }
    let more = beyond.len().saturating_sub(NAMED);
    beyond.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let last = count.saturating_sub(1);
    Err(Error::mismatch(format!(
        "{} has {}{more}, and the last rank of the plan is {last}; give the plan of these files, or remove them",
        folder.display(),
        beyond.join(", ")
    )))
}

fn file(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("rank{rank}.safetensors"))
}

/// Writes the checkpoint from the files of all ranks: a file, or a folder as [`pack`] makes it. Copies of one element must be equal.
///
/// # Errors
/// Those of [`inverse_assembly`], of reading and of writing; [mismatch](Error::is_mismatch) for a folder that has the file of a rank
/// beyond those of the plan.
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
            check_files(from, count)?;
            let all = if count == 1 { "1 rank".to_owned() } else { format!("{count} ranks") };
            let missing = format!("the plan has {all}, and each needs its file");
            let one = |rank: usize| {
                let prefix = if count == 1 { String::new() } else { format!("rank{rank}/") };
                let opened = open(file(from, rank), &reading);
                Ok((prefix, opened.map_err(|error| error.and(&missing))?))
            };
            joined((0..count).map(one).collect::<Result<_, Error>>()?)?
        }
    };
    let assembly = inverse_assembly(learned, &input)?;
    Assembling::prepare(&input, &assembly, out, request, &Packaging::default())?.run(watch)
}
