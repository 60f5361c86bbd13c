//! The extents of whole tensors, as a caller or a file states them.
//!
//! ```text
//! the caller       extents by patterns of names, then extents by names
//! the files        `tilewright.extents` in their metadata, which results of this crate have
//! config.json      of a family whose tensors are known (`model.rs`), beside the shards
//! nobody           where the last shard ends: these extents are assumed, and said to be
//! ```
//!
//! The first that states a tensor counts. Shards have to cover what is stated, and to hold every tensor that is stated.
//! A caller who trusts the extents of the shards gets them as they are.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use tilewright_core::Remedy;

use crate::{
    Error, Model, Request,
    config::{self, CONFIG},
    known_extents::{EXTENTS, Named},
    rules::{Matcher, check},
};

/// The extents that are stated of tensors.
pub(crate) struct Stated<'a> {
    matcher: Matcher,
    request: &'a Request,
    /// What the metadata of files say.
    noted: Named,
    /// What a config says.
    config: HashMap<String, Vec<u64>>,
    /// The tensors that every model of the config has.
    needed: Vec<String>,
    /// Whether these are all that the family of the config has.
    is_complete: bool,
}

impl Request {
    /// The extents that the caller states.
    pub(crate) fn stated(&self) -> Result<Stated<'_>, Error> {
        let matcher = Matcher::new(self.extents.iter().map(|(glob, _)| &**glob))?;
        let (noted, config, needed, is_complete) = Default::default();
        Ok(Stated { matcher, request: self, noted, config, needed, is_complete })
    }
}

impl Stated<'_> {
    /// Adds the extents that the files of a checkpoint and the config beside them state.
    pub(crate) fn with_files(mut self, checkpoint: &Path, noted: Named) -> Result<Self, Error> {
        if self.request.trusts_extents {
            return Ok(self);
        }
        self.noted = noted;
        let text = config::text(checkpoint)?;
        if let Some(known) = Model::known(&text) {
            let named = |tensor: crate::tensor::Tensor| (tensor.name, tensor.extents);
            self.config = known.tensors.into_iter().map(named).collect();
            self.needed = known.needed;
            self.is_complete = known.is_complete;
        }
        Ok(self)
    }

    /// Whether a whole tensor may be missing beside this one: its extents are those of a config whose family has further tensors.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        !self.is_complete && matches!(self.by(name), Some((_, Some(CONFIG))))
    }

    /// Those of a tensor.
    pub(crate) fn of(&self, name: &str) -> Option<&[u64]> {
        self.by(name).map(|(extents, _)| extents)
    }

    /// Those of a tensor, and the file that states them, where it is no caller.
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

    /// The error about a tensor, with the file that states its extents.
    pub(crate) fn blame(&self, name: &str, error: Error) -> Error {
        match self.by(name) {
            Some((extents, Some(file))) => error
                .of_kind("extents")
                .and(&format!("{file} states {extents:?}"))
                .with(Remedy::Extents),
            Some((_, None)) | None => error,
        }
    }

    /// An error for a pattern of the caller that matches no tensor, and for a tensor that is stated and that no file holds.
    pub(crate) fn check(&self, names: &[&str]) -> Result<(), Error> {
        self.request.extents.iter().try_for_each(|(glob, _)| check(glob, names))?;
        let held: HashSet<&str> = names.iter().copied().collect();
        let is_absent = |name: &&String| !held.contains(name.as_str());
        let missing = "and no file holds it; a shard file may be missing";
        if let Some(name) = self.request.listed.keys().find(is_absent) {
            let said = format!("the extents of tensor {name:?} are stated, {missing}");
            return Err(Error::mismatch(said));
        }
        if let Some(name) = self.noted.keys().find(is_absent) {
            let said = format!("{EXTENTS} states tensor {name:?}, {missing}");
            return Err(Error::new("extents", said).with(Remedy::Extents));
        }
        let found: HashSet<&str> = names.iter().flat_map(|name| suffixes(name)).collect();
        let mut absent = self.needed.iter().filter(|name| !found.contains(name.as_str()));
        match absent.next() {
            // Tensors under other names are no part of that model.
            Some(name) if self.config.keys().any(|known| found.contains(known.as_str())) => {
                let said = format!("{CONFIG} states tensor {name:?}, {missing}");
                Err(Error::new("extents", said).with(Remedy::Extents))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// A name, and what of it stands behind each of its dots: trainers put words before the names of a model.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.char_indices().filter(|(_, c)| *c == '.').map(|(at, _)| at + 1);
    std::iter::once(0).chain(dots).filter_map(|at| name.get(at..))
}
