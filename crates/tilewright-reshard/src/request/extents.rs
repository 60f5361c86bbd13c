//! The extents of whole tensors, as a caller or a file states them. All readers of sources use them.
//!
//! ```text
//! the caller       extents by patterns of names, then extents by names
//! the files        `tilewright.extents` in their metadata, which results of this crate have
//! config.json      for a family whose tensors are known (`model.rs`), next to the shards
//! none of these    the end of the last shard: such extents are assumed, and reported as assumed
//! ```
//!
//! The first source that states a tensor is used. Shards must cover the stated extents, and every stated tensor must
//! have a shard. If a caller trusts the extents of the shards, nothing is checked against them.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use tilewright_core::Remedy;

use crate::{
    Error, Model, Request,
    request::{
        model::{self, CONFIG},
        rules::{Matcher, check},
    },
    source::beside::{EXTENTS, NotedExtents},
};

/// The extents that are stated for tensors.
pub(crate) struct Stated<'a> {
    matcher: Matcher,
    request: &'a Request,
    /// The extents in the metadata of files.
    noted: NotedExtents,
    /// The extents that a config implies.
    config: HashMap<String, Vec<u64>>,
    /// The tensors that every model with this config has.
    needed: Vec<String>,
    /// True if these are all tensors that the family of the config has.
    is_complete: bool,
}

impl Request {
    /// Returns the extents that the caller states.
    pub(crate) fn stated(&self) -> Result<Stated<'_>, Error> {
        let matcher = Matcher::new(self.extents.iter().map(|(glob, _)| &**glob))?;
        let (noted, config, needed, is_complete) = Default::default();
        Ok(Stated { matcher, request: self, noted, config, needed, is_complete })
    }
}

impl Stated<'_> {
    /// Adds the extents that the files of a checkpoint and the config next to them state.
    pub(crate) fn with_files(
        mut self,
        checkpoint: &Path,
        noted: NotedExtents,
    ) -> Result<Self, Error> {
        if self.request.trusts_extents {
            return Ok(self);
        }
        self.noted = noted;
        let text = model::config(checkpoint)?;
        if let Some(known) = Model::known(&text) {
            let named = |tensor: model::Tensor| (tensor.name, tensor.extents);
            self.config = known.tensors.into_iter().map(named).collect();
            self.needed = known.needed;
            self.is_complete = known.is_complete;
        }
        Ok(self)
    }

    /// Returns whether other whole tensors may be missing unnoticed: the extents of this one come from a config whose
    /// family has further tensors.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        !self.is_complete && matches!(self.by(name), Some((_, Some(CONFIG))))
    }

    /// Returns the extents of a tensor.
    pub(crate) fn of(&self, name: &str) -> Option<&[u64]> {
        self.by(name).map(|(extents, _)| extents)
    }

    /// Returns the extents of a tensor, and the file that states them, unless the caller does.
    fn by(&self, name: &str) -> Option<(&[u64], Option<&'static str>)> {
        let Request { extents, listed, .. } = self.request;
        let globbed = self.matcher.of(name).and_then(|number| extents.get(number));
        let caller = globbed.map(|(_, extents)| extents).or_else(|| listed.get(name));
        if let Some(extents) = caller {
            return Some((extents, None));
        }
        if let Some(extents) = self.noted.get(name) {
            return Some((extents, Some(EXTENTS)));
        }
        let known = suffixes(name).find_map(|name| self.config.get(name))?;
        Some((known, Some(CONFIG)))
    }

    /// Returns the error about a tensor, with the file that states its extents.
    pub(crate) fn blame(&self, name: &str, error: Error) -> Error {
        match self.by(name) {
            Some((extents, Some(file))) => error
                .of_kind("extents")
                .and(&format!("{file} states {extents:?}"))
                .with(&[Remedy::Extents]),
            Some((_, None)) | None => error,
        }
    }

    /// Returns an error for a pattern of the caller that matches no tensor, and for a stated tensor that no file holds.
    pub(crate) fn check(&self, names: &[&str]) -> Result<(), Error> {
        self.request.extents.iter().try_for_each(|(glob, _)| check(glob, names))?;
        let held: HashSet<&str> = names.iter().copied().collect();
        let is_absent = |name: &&String| !held.contains(name.as_str());
        let missing = "but no file holds it; a shard file may be missing";
        if let Some(name) = self.request.listed.keys().find(is_absent) {
            let said = format!("the extents of tensor {name:?} are stated, {missing}");
            return Err(Error::mismatch(said));
        }
        if let Some(name) = self.noted.keys().find(is_absent) {
            let said = format!("{EXTENTS} states tensor {name:?}, {missing}");
            return Err(Error::new("extents", said).with(&[Remedy::Extents]));
        }
        let found: HashSet<&str> = names.iter().flat_map(|name| suffixes(name)).collect();
        let mut absent = self.needed.iter().filter(|name| !found.contains(name.as_str()));
        match absent.next() {
            // If none of the names is known, the tensors are not those of that model.
            Some(name) if self.config.keys().any(|known| found.contains(known.as_str())) => {
                let said = format!("{CONFIG} states tensor {name:?}, {missing}");
                Err(Error::new("extents", said).with(&[Remedy::Extents]))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Iterates over a name and its suffixes after each dot: trainers put words before the names of a model.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.char_indices().filter(|(_, c)| *c == '.').map(|(at, _)| at + 1);
    std::iter::once(0).chain(dots).filter_map(|at| name.get(at..))
}
