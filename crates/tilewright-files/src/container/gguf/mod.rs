//! GGUF: a header of metadata and tensor entries, then the tensors at multiples of an alignment.
//!
//! ```text
//! file   := "GGUF" version:u32 tensors:u64 pairs:u64 pair… entry… padding (tensor padding)…
//! pair   := key:string type:u32 value
//! string := length:u64 bytes
//! array  := type:u32 count:u64 value…
//! entry  := name:string rank:u32 dim:u64… type:u32 offset:u64        (dims fastest first)
//! ```
//!
//! Source: ggml, `docs/gguf.md`; versions 2 and 3, little-endian. A result has the same bytes of metadata. A file whose
//! metadata (`split.count`) mark it as one of several is read together with the others, and a result is one file.
//!
//! Other readers find a tensor by its name and assume that its elements are row-major. So a tensor with another layout has
//! another name in the file, `tilewright:NAME`, its storage's dims, and its layout in the metadata, under
//! `tilewright.layout.NAME`.

mod claims;
mod file_type;
mod header;
mod models;
mod plan;
mod reader;
mod split;
mod stated;
mod tensors;
mod types;
mod value;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use claims::Claims;
use header::{ALIGNMENT, Header};
use tilewright_core::Remedy;
use value::KeyValue;

use super::{
    format::{Beside, Container, Fact, Format, Member, Opened, Opening},
    metadata_notes::{self, Role},
    target::Target,
};
use crate::{
    Error, Job, error,
    layout::{names, record::OWN},
};

pub(crate) const FORMAT: Format = Format {
    name: "GGUF",
    shown: ".gguf",
    becomes: "a .gguf file",
    prefix: Some("gguf:"),
    ending: Some(".gguf"),
    recognises: |head, _| head.starts_with(header::MAGIC),
    several: false,
    splits: true,
    orders: false,
    ties: false,
    longest_name: Some((63, "ggml")),
    open,
    create: None,
    alone: false,
    array: None,
    describes: Some("general."),
};

/// The key of the file type: the type of most tensors.
const FILE_TYPE: &str = "general.file_type";

/// The largest number of contradictions that an error lists.
const SHOWN: usize = 6;

/// The prefix of the name, in the file, of a tensor that is not row-major.
const MARK: &str = "tilewright:";

#[derive(Debug)]
struct Gguf {
    /// The header of the first file.
    header: Header,
    /// The metadata as texts, except the keys that mark a file as one of several.
    texts: Vec<(String, String)>,
    /// The message on changes to the metadata of another file.
    changed: Option<String>,
    /// The metadata that were not compared with the tensors.
    unchecked: Option<String>,
}

impl Gguf {
    fn new(header: Header) -> Gguf {
        let text = |pair: &KeyValue| (header.key(pair).to_owned(), header.value(pair).text());
        let texts = header.pairs.iter().map(text).collect();
        Gguf { header, texts, changed: None, unchecked: None }
    }

    /// Returns the container of a file that gets the metadata of another; they are compared with its tensors.
    fn adopted(header: Header, path: &Path, beside: &Beside<'_>) -> Result<Gguf, Error> {
        let tensors = beside.tensors;
        let claims = Claims::of(&header, tensors);
        let mut wrong = stated::contradictions(&header, beside.config);
        wrong.extend(claims.contradictions(wrong.is_empty()));
        let unchecked = claims.unknown();
        let other = beside.result.contradictions(&header.config().into());
        wrong.extend(other.iter().map(ToString::to_string));
        if !wrong.is_empty() {
            let advice = match beside.own {
                true => {
                    "the ending of the result's name decides its kind, and this one is a .gguf file, as the input is; for a checkpoint, end it with `.safetensors`"
                }
                false => "take those of the same model",
            };
            let said = format!("the metadata do not fit the tensors: {}; {advice}", listed(&wrong));
            return Err(
                error::usage(format!("{}: {said}", path.display())).with(&[Remedy::TrustMetadata])
            );
        }
        let said = header.get(FILE_TYPE).and_then(|value| value.count());
        let corrected = said.and_then(|said| file_type::corrected(said, tensors));
        let (header, changed) = match corrected {
            Some((number, text)) => (header.with_number(FILE_TYPE, number as u32), Some(text)),
            None => (header, None),
        };
        Ok(Gguf { changed, unchecked, ..Gguf::new(header) })
    }

    /// Iterates over the pairs of metadata with their roles in a conversion, except the keys that mark a file as one of several.
    fn pairs<'a>(&'a self, opened: &'a Opened) -> impl Iterator<Item = (&'a KeyValue, Role)> {
        let tensors: HashSet<&str> =
            opened.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        let known: HashSet<&str> =
            self.header.pairs.iter().map(|pair| self.header.key(pair)).collect();
        let own = self.header.pairs.iter().filter(|pair| !split::is_key(self.header.key(pair)));
        own.map(move |pair| (pair, Role::of(self.header.key(pair), &tensors, &known)))
    }

    /// Iterates over the pairs that a result keeps: all except notes of tensors.
    fn kept<'a>(
        &'a self,
        opened: &'a Opened,
        jobs: &'a [Job],
    ) -> impl Iterator<Item = &'a KeyValue> {
        let moved = metadata_notes::moved(opened, jobs);
        let stays = move |pair: &KeyValue, role: Role| role.stays(self.header.key(pair), &moved);
        self.pairs(opened).filter(move |(pair, role)| stays(pair, *role)).map(|(pair, _)| pair)
    }
}

impl Container for Gguf {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn plan(&self, input: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error> {
        Ok(vec![plan::target(self, input, path, jobs)?])
    }

    fn renewed(
        &self,
        opened: &Opened,
        beside: &Beside<'_>,
    ) -> Result<Option<Box<dyn Container>>, Error> {
        let said = |key: &str| beside.pairs.iter().any(|(own, _)| own == key);
        let stays = |key: &str| !split::is_key(key) && !key.starts_with(OWN) && !said(key);
        let header = self.header.renewed(&stays, beside.pairs);
        if beside.trusted {
            return Ok(Some(Box::new(Gguf::new(header))));
        }
        let path = opened.files.first().map_or(Path::new(""), |file| file.source.path());
        Ok(Some(Box::new(Gguf::adopted(header, path, beside)?)))
    }

    fn contradictions(&self, config: &serde_json::Value) -> Option<String> {
        let wrong = stated::contradictions(&self.header, config);
        (!wrong.is_empty()).then(|| listed(&wrong))
    }

    fn warnings(&self) -> Vec<String> {
        self.changed.iter().cloned().collect()
    }

    fn cautions(&self) -> Vec<String> {
        self.unchecked.iter().cloned().collect()
    }

    fn metadata(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        Box::new(self.texts.iter().map(|(key, text)| (key.as_str(), text.as_str())))
    }

    fn config(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut said = self.header.config();
        said.extend(stated::sizes(&self.header));
        said
    }

    fn facts(&self, opened: &Opened) -> Vec<Fact> {
        let fact = |(pair, role): (&KeyValue, Role)| {
            let (key, value) = (self.header.key(pair), self.header.value(pair));
            Fact {
                about: format!("metadata {key:?}"),
                exact: [&value.kind.to_le_bytes()[..], value.bytes].concat(),
                said: format!("{:?}", names::clipped(&value.text())),
                goes_with: role.goes_with(key),
                key: Some(key.to_owned()),
                is_place: false,
            }
        };
        // The alignment tells where tensors begin in one file, and nothing about them.
        let kept = |(pair, role): &(&KeyValue, Role)| {
            *role != Role::Note && self.header.key(pair) != ALIGNMENT.0
        };
        self.pairs(opened).filter(kept).map(fact).collect()
    }
}

/// Returns contradictions as one text; only the first ones if there are many.
fn listed(wrong: &[String]) -> String {
    let shown: Vec<&str> = wrong.iter().take(SHOWN).map(String::as_str).collect();
    match wrong.len().saturating_sub(SHOWN) {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let header = Header::read(&opening.source)?;
    let parts = split::parts(opening.source, header, opening.beside)?;
    let (mut files, mut tensors, mut headers) = (Vec::new(), Vec::new(), Vec::new());
    for (source, header) in parts {
        headers.push(header);
        files.push(Member::alone(source));
    }
    let known: HashMap<&str, &str> = headers.first().map(Header::strings).unwrap_or_default();
    for (number, (file, header)) in files.iter().zip(&headers).enumerate() {
        for entry in &header.entries {
            tensors.push(tensors::tensor(file.source.path(), entry, number, &known)?);
        }
    }
    drop(known);
    if let Some(file) = files.first() {
        let twice = names::twice(tensors.iter().map(|tensor| tensor.name.as_str()));
        if let Some(name) = twice {
            let said = format!("the tensor {name:?} occurs twice");
            return Err(error::corrupt(file.source.path(), said));
        }
    }
    let header = headers.into_iter().next().unwrap_or_default();
    Ok(Opened { container: Box::new(Gguf::new(header)), index: None, files, tensors })
}
