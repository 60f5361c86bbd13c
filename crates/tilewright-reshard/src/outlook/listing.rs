//! Lists what a job does, tensor by tensor, and what it does not copy.

use tilewright_core::{Counted, Dtype};

use crate::{
    Error, Job,
    source::{checkpoint::Checkpoint, numbers},
};

/// The most tensors that a sentence names.
const NAMED: usize = 4;

/// The plan for one tensor.
///
/// ```
/// use tilewright_reshard::{Job, Request, Rules};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let rules = Rules::new("tp=2").unwrap().rule("*.weight", "[Shard(0)]").unwrap();
/// let job = Job::prepare(Request::new(path, "out").to(rules)).unwrap();
/// let bias = job.planned().unwrap().remove(0);
/// assert_eq!((bias.name.as_str(), bias.pieces, bias.written), ("0.bias", [1, 2], 256));
/// assert_eq!((bias.from, bias.to), (String::new(), String::new()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The name.
    pub name: String,
    /// The element type.
    pub dtype: Dtype,
    /// The extents of the whole tensor.
    pub extents: Vec<u64>,
    /// The bytes of its elements.
    pub bytes: u64,
    /// The bytes of further copies that are read and compared.
    pub compared: u64,
    /// The bytes of its elements in the result, copies included.
    pub written: u64,
    /// The number of boxes in the source and in the result, copies included.
    pub pieces: [usize; 2],
    /// The number of tasks.
    pub tasks: u64,
    /// The rule by which it is read, as it was written; empty if there is none.
    pub from: String,
    /// The rule by which it is written; empty if there is none.
    pub to: String,
}

impl Job {
    /// Returns the plan for each tensor.
    ///
    /// # Errors
    /// `usage` for a pattern that cannot be read.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let planned = Job::prepare(Request::new(path, "out")).unwrap().planned().unwrap();
    /// assert!(planned.iter().all(|tensor| tensor.bytes == tensor.written && tensor.compared == 0));
    /// ```
    pub fn planned(&self) -> Result<Vec<Planned>, Error> {
        let pairs = self.source.arrays.iter().zip(&self.output.arrays).zip(&self.cuts);
        let planned = pairs.map(|((from, to), cut)| {
            let width = u64::from(from.bits / 8);
            let rule = |rules: &Option<crate::Rules>| match rules {
                Some(rules) => Ok::<_, Error>(rules.said(&from.name)?.to_owned()),
                None => Ok(String::new()),
            };
            Ok(Planned {
                name: from.name.to_string(),
                dtype: from.dtype,
                extents: from.shape().to_vec(),
                bytes: from.bytes(),
                compared: from.held.replicated().saturating_mul(width),
                written: from.bytes().saturating_add(to.held.replicated().saturating_mul(width)),
                pieces: [from.held.pieces.len(), to.held.pieces.len()],
                tasks: cut.count(),
                from: rule(&self.request.from)?,
                to: rule(&self.request.to)?,
            })
        });
        planned.collect()
    }

    /// Returns the bytes of copies that are read and compared with the copy that is moved.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().compared(), 0);
    /// ```
    pub fn compared(&self) -> u64 {
        let arrays = self.source.arrays.iter();
        let bytes =
            arrays.map(|array| array.held.replicated().saturating_mul(u64::from(array.bits / 8)));
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns whether each task reads its result back and compares it.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert!(Job::prepare(Request::new(path, "out").verify(true)).unwrap().is_verified());
    /// ```
    pub fn is_verified(&self) -> bool {
        self.request.verified
    }

    /// Iterates over remarks about the source and the result, as sentences without a full stop: items that are not
    /// copied, changes to metadata, values of padding that are dropped, and folders of other runs next to the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().remarks().count(), 0);
    /// ```
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let left = self.source.beside.left.iter().cloned();
        let notes = self.output.notes.iter().cloned();
        left.chain(notes).chain(self.dropped()).chain(self.left_by_others())
    }

    /// Iterates over the tensors whose extents no file states, with the extents that their shards imply. If the last
    /// shard of a tensor is missing, these are too small, and nothing shows it.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/sharded/dcp_hf/ckpt");
    /// let job = Job::prepare(Request::new(folder, "out")).unwrap();
    /// assert!(job.assumed().any(|(name, extents)| name == "even.S0S0" && extents == [16, 12]));
    /// ```
    pub fn assumed(&self) -> impl Iterator<Item = (&str, &[u64])> {
        self.source.assumed()
    }

    /// Describes the assumed extents in a sentence without a full stop, for a person who may know better; `None` if
    /// nothing is assumed, or if the request trusts the shards. [`Remedy::Extents`](tilewright_core::Remedy::Extents)
    /// is the remedy.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/sharded/dcp_hf/ckpt");
    /// let request = Request::new(folder, "out");
    /// let said = Job::prepare(request.clone()).unwrap().assumption().unwrap();
    /// assert!(said.starts_with("nothing states the extents of 17 tensors, "), "{said}");
    /// assert_eq!(Job::prepare(request.trust_extents(true)).unwrap().assumption(), None);
    /// ```
    pub fn assumption(&self) -> Option<String> {
        if self.request.trusts_extents {
            return None;
        }
        self.source.assumption(self.request.from.is_some())
    }

    /// Iterates over the names of the other files that are copied to the result.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// assert_eq!(Job::prepare(Request::new(path, "out")).unwrap().companions().count(), 0);
    /// ```
    pub fn companions(&self) -> impl Iterator<Item = String> {
        self.source.beside.companions.iter().map(|path| crate::source::lists::shown(path))
    }
}

impl Checkpoint {
    /// Iterates over the arrays whose extents no file states, with their extents.
    fn assumed(&self) -> impl Iterator<Item = (&str, &[u64])> {
        let assumed = self.beside.assumed.iter().filter_map(|number| self.arrays.get(number));
        assumed.map(|array| (&*array.name, array.shape()))
    }

    /// Describes the assumed extents of files, which are those of a mesh if they are `ranked`.
    pub(crate) fn assumption(&self, ranked: bool) -> Option<String> {
        let count = self.assumed().count();
        if count == 0 {
            let said = "config.json states extents, but nothing lists all tensors; if a file is missing, its tensors go unnoticed";
            return self.beside.is_open.then(|| said.to_owned());
        }
        let named =
            self.assumed().take(NAMED).map(|(name, extents)| format!("{name:?} {extents:?}"));
        let mut named: Vec<String> = named.collect();
        named.extend((count > NAMED).then(|| format!("{} more", count - NAMED)));
        let (named, tensors) = (named.join(", "), Counted(count as u64, "tensor"));
        let said = format!(
            "nothing states the extents of {tensors}, so they are taken to end with the last shard"
        );
        let which = match ranked.then(|| self.before_first()).flatten() {
            Some(first) => {
                format!("A first shard file that is missing ({first}), or a last one, makes")
            }
            None => "A last shard file that is missing makes".to_owned(),
        };
        Some(format!("{said}: {named}. {which} them smaller"))
    }

    /// Returns the name of a rank's file before the first, if one may be missing. Torch's files begin at 1.
    fn before_first(&self) -> Option<String> {
        let files: Vec<_> = self.files.iter().map(|file| file.path.clone()).collect();
        numbers::before_first(&files)
    }
}
