//! The files of a result: what each holds, where, and its header. Files that are alike but for the elements share a content.

use serde_json::json;
use tilewright_files::Fingerprint;

use crate::{
    Error,
    array::{Array, Places, Stored},
    beside::Metadata,
    header::{Entry, header},
    source::PLACES,
    sums::is_summed,
};

/// A file that is written.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Which content it has.
    content: usize,
}

/// What files hold that are alike but for the elements: arrays, each with one of its local arrays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) locals: Vec<(usize, usize)>,
}

/// The files, and the arrays in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) files: Vec<File>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) places: Places,
    /// The index beside the files: its name and text.
    pub(crate) index: Option<(String, String)>,
    contents: Vec<Content>,
    /// Whether files say where their boxes begin.
    boxes: bool,
    /// What every file says of no tensor.
    metadata: Metadata,
    /// Whether files hold whole arrays.
    wholes: bool,
}

/// Gives every local array its place: in each file the widest elements first, then by name. Each content has its files.
pub(crate) fn placed(
    names: Vec<String>,
    contents: Vec<(Vec<usize>, Content)>,
    arrays: Vec<Array>,
    (boxes, metadata): (bool, Metadata),
) -> Result<Output, Error> {
    let wholes = arrays.iter().all(|array| array.held.stored.len() == 1) && !boxes;
    let mut output = Output { arrays, boxes, metadata, wholes, ..Output::default() };
    let mut of = vec![(0, 0, Vec::new()); names.len()];
    for (number, (files, mut content)) in contents.into_iter().enumerate() {
        let order = |(array, _): &(usize, usize)| {
            let array = output.arrays.get(*array);
            array.map(|array| (std::cmp::Reverse(array.bits), array.name.clone()))
        };
        content.locals.sort_by_cached_key(order);
        let (_, places, bytes) = output.header(&content, &|_| Some(Fingerprint::default()))?;
        let mut places: Vec<(usize, u64)> =
            content.locals.iter().map(|(array, _)| *array).zip(places).collect();
        for file in files {
            if let Some(of) = of.get_mut(file) {
                // The first file of a content has its places, and the others are as that one.
                *of = (number, bytes, std::mem::take(&mut places));
            }
        }
        output.contents.push(content);
    }
    for (file, (name, (content, bytes, places))) in names.into_iter().zip(of).enumerate() {
        output.files.push(File { name, bytes, content });
        let alike = output.files.iter().position(|file| file.content == content);
        match alike.filter(|first| *first < file) {
            Some(first) => output.places.again(first),
            None => output.places.push(places)?,
        }
    }
    Ok(output)
}

impl Output {
    /// Whether the fingerprint of an array is recorded: beside the note of its layout, as in converted files.
    pub(crate) fn records(&self, array: usize) -> bool {
        let of = self.arrays.get(array).filter(|_| self.wholes);
        let noted = of.and_then(|array| Some((array, array.held.stored.first()?)));
        noted.is_some_and(|(array, stored)| {
            stored.laid.spec.is_some() && is_summed(array.dtype, array.bits)
        })
    }

    /// The bytes before the data of every file, with its number; files that are alike stand together.
    ///
    /// `data` says which fingerprint is recorded of an array; the length of a header does not depend on which.
    pub(crate) fn heads(
        &self,
        data: &dyn Fn(usize) -> Option<Fingerprint>,
        each: &mut dyn FnMut(&File, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (number, content) in self.contents.iter().enumerate() {
            let (head, ..) = self.header(content, data)?;
            let mut files = self.files.iter().filter(|file| file.content == number);
            files.try_for_each(|file| each(file, &head))?;
        }
        Ok(())
    }

    /// The bytes before the data, where each local array begins in the file, and the length of the file.
    fn header(
        &self,
        content: &Content,
        data: &dyn Fn(usize) -> Option<Fingerprint>,
    ) -> Result<(Vec<u8>, Vec<u64>, u64), Error> {
        let local = |(array, nth): &(usize, usize)| {
            let of = self.arrays.get(*array)?;
            Some((of, of.held.stored.get(*nth)?, *nth))
        };
        let locals = || content.locals.iter().filter_map(local);
        let entry =
            |(number, (array, stored, _)): (&(usize, usize), (&Array, &Stored, usize))| Entry {
                data: self
                    .records(number.0)
                    .then(|| data(number.0).unwrap_or_default().to_string()),
                name: array.name.to_string(),
                file_dtype: array.file_dtype.clone(),
                shape: stored.laid.shape.clone(),
                bytes: stored.laid.bytes().unwrap_or(u64::MAX),
                spec: stored.laid.spec.clone(),
            };
        let entries: Vec<Entry> = content.locals.iter().zip(locals()).map(entry).collect();
        let begin = |(array, _, nth): (&Array, &Stored, usize)| {
            let piece = array.held.pieces.iter().find(|piece| piece.source == nth as u64);
            let zeros = || vec![0; array.extents.len()];
            let start = piece.map_or_else(zeros, |piece| piece.start.clone());
            (array.name.to_string(), json!({ "saved_offsets": start }))
        };
        let places: serde_json::Map<_, _> = locals().filter(|_| self.boxes).map(begin).collect();
        let mut metadata: Vec<(String, String)> = self.metadata.clone().into_iter().collect();
        if !places.is_empty() {
            let text = serde_json::Value::from(places).to_string();
            metadata.extend([("DCP_VERSION".into(), "1.0".into()), (PLACES.into(), text)]);
        }
        header(&entries, &metadata)
    }
}
