//! Compares the bytes of an upload with the source before they are sent, for results that cannot be read back before they are
//! visible.
//!
//! Law: no byte of a tensor leaves before every element and every padding element of that tensor was compared with the source, which
//! is read a second time. The comparison is that of files: offsets come from both layouts, and no plan is used. Tensors of a recipe
//! are compared by the recipe, as files that record one are. Then the header that was sent is opened as that of a file, and its tensors are those of the request.
//!
//! It does not prove that the store keeps these bytes. A store of S3's interface compares each part with the checksum that its
//! request signs; a later `verify` reads the object back.

use std::{collections::VecDeque, io, path::Path, sync::Arc};

use tilewright_recipe::Assembly;
use tilewright_transfer::Limits;

use crate::{
    Conversion, Difference, Error, Input, Job, Tensor, Watch,
    assemble::recorded::Remade,
    commit::upload::COMPARISONS,
    container::{Member, Opened, Section, Target, safetensors},
    convert::output::Sink,
    error,
    open::{open_with, origin::Origin, source::Source, tensor::Piece},
    verify::compare,
};

/// A sink that compares the tensors of a file before it passes them on.
pub(crate) struct Checked<'a> {
    inner: Box<dyn Sink + 'a>,
    conversion: &'a Conversion<'a>,
    target: &'a Target,
    limits: Limits<'a>,
    /// The lengths of the sections that are left, and their jobs.
    left: VecDeque<(u64, Option<usize>)>,
    /// The written bytes of the current tensor.
    held: Arc<Vec<u8>>,
    /// The bytes that belong to no tensor, with their positions.
    others: Vec<(u64, Vec<u8>)>,
    at: u64,
}

impl<'a> Checked<'a> {
    pub(crate) fn new(
        inner: Box<dyn Sink + 'a>,
        conversion: &'a Conversion<'a>,
        target: &'a Target,
        watch: &'a dyn Watch,
    ) -> Checked<'a> {
        let len = |number: usize| conversion.jobs.get(number).map_or(0, |job| job.bytes_out);
        let left: VecDeque<(u64, Option<usize>)> = target
            .sections
            .iter()
            .map(|section| match section {
                Section::Tensor(number) => (len(*number), Some(*number)),
                other => (other.len(), None),
            })
            .filter(|(len, _)| *len > 0)
            .collect();
        let longest = left.iter().filter(|(_, job)| job.is_some()).map(|(len, _)| *len).max();
        // The tensor that is held is counted beside.
        let limits = Limits::new(watch, COMPARISONS, conversion.request.threads);
        let held = Arc::new(Vec::with_capacity(longest.unwrap_or(0) as usize));
        Checked { inner, conversion, target, limits, left, held, others: Vec::new(), at: 0 }
    }

    /// Takes the first bytes, up to the end of a section; returns their number.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let Some((len, job)) = self.left.front().copied() else {
            return Err(error::corrupt(&self.target.path, "bytes behind the last tensor"));
        };
        let now = bytes.get(..bytes.len().min(usize::try_from(len).unwrap_or(usize::MAX)));
        let now = now.unwrap_or_default();
        let failed = |cause| error::io(&self.target.path, "write", cause);
        match job {
            None => {
                self.others.push((self.at, now.to_vec()));
                self.inner.write(now).map_err(failed)?;
            }
            Some(number) => {
                Arc::make_mut(&mut self.held).extend_from_slice(now);
                if now.len() as u64 == len {
                    self.compare(number)?;
                    self.inner.write(&self.held).map_err(failed)?;
                    Arc::make_mut(&mut self.held).clear();
                }
            }
        }
        self.at += now.len() as u64;
        match self.left.front_mut() {
            Some((left, _)) if *left > now.len() as u64 => *left -= now.len() as u64,
            _ => drop(self.left.pop_front()),
        }
        Ok(now.len())
    }

    /// Compares the held tensor with the source.
    fn compare(&self, number: usize) -> Result<(), Error> {
        let (conversion, path) = (self.conversion, &self.target.path);
        let absent = || error::corrupt(path, "a tensor that was not planned");
        let job = conversion.jobs.get(number).ok_or_else(absent)?;
        let tensor = conversion.input.tensors().get(job.tensor).ok_or_else(absent)?;
        let found = match conversion.recipe {
            Some(recipe) => self.remade(job.tensor, tensor, recipe)?,
            None => self.moved(job, tensor)?,
        };
        match found {
            None => Ok(()),
            Some(found) => Err(error::corrupt(path, format!("verification failed: {found}"))),
        }
    }

    /// Returns the first difference between the held tensor and the one that a recipe makes of the source.
    fn remade(
        &self,
        number: usize,
        tensor: &Tensor,
        recipe: &Assembly,
    ) -> Result<Option<Difference>, Error> {
        let path = &self.target.path;
        let made = recipe.made.get(number).filter(|made| made.name == tensor.name);
        let made = made.ok_or_else(|| error::corrupt(path, "a tensor that no recipe makes"))?;
        let one = Assembly {
            made: vec![made.clone()],
            rounded: recipe.rounded.clone(),
            ..Assembly::default()
        };
        let out = alone(tensor, self.held.clone(), path)?;
        Remade::new(&out, self.conversion.source, &one).difference(&|_, _| true, &self.limits)
    }

    /// Returns the first difference between the held tensor and that of the source.
    fn moved(&self, job: &Job, tensor: &Tensor) -> Result<Option<Difference>, Error> {
        let (input, path) = (self.conversion.input, &self.target.path);
        let fill = job.to.named.fill();
        let bits = match job.to.layout().padding() {
            0 => Ok(0),
            _ => job.to.dtype.stored_fill(fill, job.to.bits, job.to.order),
        };
        let bits = bits.map_err(|cause| error::corrupt(path, cause))?;
        let own = (Origin::Memory(&self.held, path), 0, self.held.len() as u64);
        let to = compare::side_at(own, &job.name, &job.to, (bits, fill.is_promised()))?;
        let bytes = self.conversion.arrays.get(job.tensor).copied();
        let from = compare::side((input, bytes), tensor, &job.from, job.from.named.fill())?;
        compare::tensors(&to, &from, &self.limits)
    }

    /// Opens the header that was sent, and compares the facts about tensors with the request.
    fn header(&self) -> Result<(), Error> {
        let (conversion, path) = (self.conversion, &self.target.path);
        let wrong = |said: String| error::corrupt(path, format!("verification failed: {said}"));
        let numbers = self.target.sections.iter().filter_map(|section| match section {
            Section::Tensor(number) => Some(*number),
            _ => None,
        });
        let format = match conversion.format.several {
            true if numbers.clone().next().is_none() => return Ok(()),
            true => &safetensors::FORMAT,
            false => conversion.format,
        };
        // Files of one array do not name it, and their layout is that of the request.
        if format.array.is_some() {
            return Ok(());
        }
        let others = self.others.iter().map(|(at, own)| (*at, Arc::new(own.clone())));
        let source = Source::written(others.collect(), self.at, path);
        let opened = open_with(format, source, &conversion.request.reading, None, &())?;
        for number in numbers {
            let Some(job) = conversion.jobs.get(number) else { continue };
            let tensor = opened.tensors().iter().find(|tensor| tensor.name == job.name);
            let tensor =
                tensor.ok_or_else(|| wrong(format!("tensor {:?} is missing", job.name)))?;
            let (is, was) = (tensor.held.spec(), job.to.spec());
            if tensor.refusal.is_none() && (is != was || tensor.len != job.bytes_out) {
                return Err(wrong(format!("tensor {:?} is {is}, expected {was}", job.name)));
            }
        }
        Ok(())
    }
}

impl Sink for Checked<'_> {
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = self.take(bytes).map_err(io::Error::other)?;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    fn place(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        overlay(&mut self.others, bytes, at);
        self.inner.place(bytes, at)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.header().map_err(io::Error::other)?;
        self.inner.sync()
    }
}

/// Returns a file that has one tensor, of these bytes.
fn alone(tensor: &Tensor, bytes: Arc<Vec<u8>>, path: &Path) -> Result<Input, Error> {
    let create = safetensors::FORMAT.create;
    let create = create.ok_or_else(|| error::usage("the format cannot be created"))?;
    let len = bytes.len() as u64;
    let pieces = vec![Piece::whole(0, 0, len, &tensor.held)];
    let tensors = vec![Tensor { pieces, len, ..tensor.clone() }];
    let files = vec![Member::alone(Source::written(vec![(0, bytes)], len, path))];
    let opened = Opened { container: create(Vec::new()), index: None, files, tensors };
    Ok(Input { path: path.into(), opened, aside: None, folder: None, beside: None })
}

/// Writes bytes from `at` on over those pieces that hold them; the pieces are in the order of their positions.
fn overlay(pieces: &mut [(u64, Vec<u8>)], bytes: &[u8], at: u64) {
    let end = at.saturating_add(bytes.len() as u64);
    let first = pieces.partition_point(|(from, own)| from + own.len() as u64 <= at);
    for (from, own) in pieces.iter_mut().skip(first).take_while(|(from, _)| *from < end) {
        let (room, skipped) = (at.saturating_sub(*from) as usize, from.saturating_sub(at) as usize);
        let own = own.iter_mut().skip(room);
        own.zip(bytes.iter().skip(skipped)).for_each(|(own, byte)| *own = *byte);
    }
}

#[cfg(test)]
mod tests {
    use super::overlay;

    #[test]
    fn bytes_are_written_over_the_pieces_that_hold_them() {
        let bytes = [1, 2, 3, 4, 5];
        for at in 0..20 {
            // Tensors are between the pieces.
            let mut pieces = [(2, vec![0; 3]), (5, vec![0; 1]), (9, vec![0; 4])].to_vec();
            overlay(&mut pieces, &bytes, at);
            for (from, own) in &pieces {
                for (byte, place) in own.iter().zip(*from..) {
                    let expected = place.checked_sub(at).and_then(|it| bytes.get(it as usize));
                    assert_eq!(*byte, expected.copied().unwrap_or(0), "{at} {place}");
                }
            }
        }
    }
}
