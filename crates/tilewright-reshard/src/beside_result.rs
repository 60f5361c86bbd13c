//! Reports the folders that runs leave next to a result: a run that was refused or interrupted leaves `OUT.partial-ID`.
//! The message names the folder and the command that removes it. Runs that fail and the remarks of a job use it.

use std::{fs, path::PathBuf};

use crate::{Error, Job};

/// The most folders of other runs that are named.
const NAMED: usize = 4;

impl Job {
    /// Returns the error of a run that cannot resume by itself, with the folder that it leaves.
    pub(crate) fn leaving(&self, error: Error) -> Error {
        let partial = self.partial().display().to_string();
        let is_named = error.to_string().contains(&partial);
        if is_named || fs::symlink_metadata(&partial).is_err() {
            return error;
        }
        let said = match error.kind() {
            "io" | "cancelled" | "incomplete" => {
                "holds the finished work: run the same command to continue, or remove it"
            }
            "exists" => {
                "holds the finished work: free the name and run the same command, or remove it"
            }
            _ => "is left over from this run; remove it",
        };
        error.and(&format!("{partial} {said}"))
    }

    /// Returns sentences, without a full stop, about folders that other runs for the same result have left.
    pub(crate) fn left_by_others(&self) -> Vec<String> {
        let own = self.partial();
        let (Some(parent), Some(name)) = (own.parent(), own.file_name()) else { return Vec::new() };
        let name = name.to_string_lossy();
        let Some(prefix) = name.strip_suffix(&*self.id) else { return Vec::new() };
        let listed = fs::read_dir(parent).into_iter().flatten().flatten();
        let is_other = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let id = name.strip_prefix(prefix);
            *path != own && id.is_some_and(|id| id.len() == self.id.len()) && path.is_dir()
        };
        let mut found: Vec<PathBuf> =
            listed.map(|entry| entry.path()).filter(is_other).take(NAMED).collect();
        found.sort();
        let said =
            "belongs to a run with another request or source; remove it unless that run continues";
        found.iter().map(|path| format!("{} {said}", path.display())).collect()
    }
}
