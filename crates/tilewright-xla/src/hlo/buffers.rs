//! The storage of a computation's arrays, ranked by the bytes that padding wastes.
//!
//! Law: `bytes = data_bytes · factor`, up to rounding to a byte; arrays are ranked by `bytes − data_bytes`, the largest
//! first.

use std::{collections::HashMap, sync::Arc};

use tilewright_core::Error;

use super::{HloComputation, HloInstruction, Tiling};
use crate::{
    ArrayShape, Shape, ShapeIndex,
    shape_util::{Factor, PaddingAdvice},
};

/// Opcodes of instructions that alias the storage of their operands and have none of their own.
const IN_PLACE: [&str; 5] = ["tuple", "get-tuple-element", "bitcast", "opt-barrier", "while"];

/// One array of an instruction's value, and its storage.
///
/// ```
/// use tilewright_xla::{HloModule, Tiling};
/// let text = "HloModule m\nENTRY e {\n  ROOT x = bf16[300]{0} parameter(0)\n}\n";
/// let module = HloModule::parse(text).unwrap();
/// let entry = module.entry().unwrap();
/// let tiled = entry.buffers(Some(&Tiling::parse("{0:T(8,128)}").unwrap()));
/// let [x] = &tiled.buffers[..] else { panic!("one array") };
/// // Three tiles of 8×128 for 300 elements of two bytes.
/// assert_eq!((x.instruction.name.as_str(), x.data_bytes, x.bytes), ("x", 600, 6144));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer<'a> {
    /// The instruction.
    pub instruction: &'a HloInstruction,
    /// The path of the array in the instruction's shape.
    pub index: ShapeIndex,
    /// The array in its own layout, or in the requested tiling.
    pub array: Arc<ArrayShape>,
    /// The bytes of its elements.
    pub data_bytes: u64,
    /// The bytes of its storage, padding included.
    pub bytes: u64,
}

/// An array of unknown size, with the reason: an unbounded dim, more than 2⁶³ − 1 bytes, or an instruction that the
/// text writes without a shape.
///
/// ```
/// use tilewright_xla::HloModule;
/// let text = "HloModule m\nENTRY e {\n  ROOT x = f32[?,8]{1,0} parameter(0)\n}\n";
/// let module = HloModule::parse(text).unwrap();
/// let arrays = module.entry().unwrap().buffers(None);
/// assert!(arrays.buffers.is_empty());
/// assert!(arrays.unsized_arrays[0].error.is_unsupported());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsized<'a> {
    /// The instruction.
    pub instruction: &'a HloInstruction,
    /// The path of the array in the instruction's shape.
    pub index: ShapeIndex,
    /// The reason.
    pub error: Error,
}

/// The arrays of some instructions.
///
/// ```
/// use tilewright_xla::HloModule;
/// let text = "HloModule m\nENTRY e {\n  ROOT x = (f32[2], f32[?]) parameter(0)\n}\n";
/// let module = HloModule::parse(text).unwrap();
/// let arrays = module.entry().unwrap().buffers(None);
/// // One of each, told apart by its path in the tuple.
/// assert_eq!(arrays.buffers[0].index.to_string(), "{0}");
/// assert_eq!(arrays.unsized_arrays[0].index.to_string(), "{1}");
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffers<'a> {
    /// The arrays of known size.
    pub buffers: Vec<Buffer<'a>>,
    /// The arrays of another rank than the requested tiling, in their own layout.
    pub not_applied: Vec<Buffer<'a>>,
    /// The arrays of unknown size.
    pub unsized_arrays: Vec<Unsized<'a>>,
}

impl Buffer<'_> {
    /// Returns the number of bytes that hold no element.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  ROOT x = f32[3,5]{1,0:T(2,2)} parameter(0)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// // 24 cells for 15 elements of 4 bytes.
    /// assert_eq!(module.entry().unwrap().buffers(None).buffers[0].padding_bytes(), 9 * 4);
    /// ```
    pub fn padding_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.data_bytes)
    }

    /// Returns the size of the storage divided by the size of its elements.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  ROOT x = f32[3,5]{1,0:T(2,2)} parameter(0)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let arrays = module.entry().unwrap().buffers(None);
    /// assert_eq!(arrays.buffers[0].factor().to_string(), "×1.6");
    /// ```
    pub fn factor(&self) -> Factor {
        Factor { padded: self.bytes, of: self.data_bytes }
    }

    /// Explains the size of the storage, and finds the order of the dims with the least padding.
    ///
    /// # Errors
    /// Those of [`Layout::padding_advice`](crate::Layout::padding_advice).
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  ROOT x = f32[256,3]{1,0:T(8,128)} parameter(0)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let arrays = module.entry().unwrap().buffers(None);
    /// let (better, factor) = arrays.buffers[0].advice().unwrap().better.unwrap().unwrap();
    /// assert_eq!((better.to_string(), factor.ratio()), ("{0,1:T(8,128)}".into(), 8.0 / 3.0));
    /// ```
    pub fn advice(&self) -> Result<PaddingAdvice, Error> {
        self.array.layout_or_default().padding_advice(&self.array.extents()?)
    }
}

impl<'a> Buffers<'a> {
    /// Returns the bytes of all `buffers`, and how many of them are padding.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  x = f32[3,5]{1,0:T(2,2)} parameter(0)\n\
    ///     ROOT y = f32[3,5]{1,0} copy(x)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// // 96 bytes tiled, 60 in rows.
    /// assert_eq!(module.entry().unwrap().buffers(None).bytes(), (96 + 60, 36));
    /// ```
    pub fn bytes(&self) -> (u128, u128) {
        let bytes = self.buffers.iter().map(|one| u128::from(one.bytes)).sum();
        (bytes, self.buffers.iter().map(|one| u128::from(one.padding_bytes())).sum())
    }

    fn of(instructions: impl Iterator<Item = &'a HloInstruction>, tiling: Option<&Tiling>) -> Self {
        let mut all = Buffers::default();
        let mut known = HashMap::new();
        for instruction in instructions {
            let Some(shape) = &instruction.shape else {
                let (index, error) = (ShapeIndex::default(), no_shape());
                all.unsized_arrays.push(Unsized { instruction, index, error });
                continue;
            };
            if Arc::strong_count(shape) == 1 {
                all.extend(instruction, measure(shape, tiling));
                continue;
            }
            let measured = known.entry(Arc::as_ptr(shape));
            let measured = measured.or_insert_with(|| measure(shape, tiling));
            all.extend(instruction, measured.iter().cloned());
        }
        all
    }

    fn extend(
        &mut self,
        instruction: &'a HloInstruction,
        measured: impl IntoIterator<Item = Measured>,
    ) {
        for Measured { index, applied, size } in measured {
            match size {
                Ok((array, data_bytes, bytes)) => {
                    let to = if applied { &mut self.buffers } else { &mut self.not_applied };
                    to.push(Buffer { instruction, index, array, data_bytes, bytes });
                }
                Err(error) => {
                    self.unsized_arrays.push(Unsized { instruction, index, error });
                }
            }
        }
    }
}

/// An array of a shape with its bytes of data and of storage, or the error if they are unknown.
#[derive(Clone)]
struct Measured {
    index: ShapeIndex,
    /// Set if the requested tiling applies to it.
    applied: bool,
    size: Result<(Arc<ArrayShape>, u64, u64), Error>,
}

/// The error of an instruction without a shape in its text.
fn no_shape() -> Error {
    Error::unsupported(
        "an instruction without a shape",
        [],
        "the text leaves it to be inferred; print the module with shapes",
    )
}

/// Measures the arrays of a shape.
fn measure(shape: &Shape, tiling: Option<&Tiling>) -> Vec<Measured> {
    let measure = |(index, shape): (ShapeIndex, &Shape)| {
        let array = shape.as_array().or(shape.as_buffer())?;
        let applied = tiling.is_none_or(|tiling| tiling.is_for(array));
        Some(Measured { index, applied, size: size(array, tiling) })
    };
    shape.leaves().filter_map(measure).collect()
}

fn size(array: &ArrayShape, tiling: Option<&Tiling>) -> Result<(Arc<ArrayShape>, u64, u64), Error> {
    let array = tiling.map_or_else(|| Ok(array.clone()), |tiling| tiling.apply(array))?;
    let (data_bytes, bytes) = (array.unpadded_bytes()?, array.bytes()?);
    Ok((Arc::new(array), data_bytes, bytes))
}

impl HloInstruction {
    /// Returns the arrays of the value, in the order of the shape's tuples. With `tiling`, they are measured as if they
    /// had that layout.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  ROOT x = (f32[2], (token[], s8[9])) parameter(0)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let x = module.entry().unwrap().instruction("x").unwrap();
    /// let paths: Vec<String> = x.buffers(None).buffers.iter().map(|b| b.index.to_string()).collect();
    /// // A token takes no storage.
    /// assert_eq!(paths, ["{0}", "{1,1}"]);
    /// ```
    pub fn buffers(&self, tiling: Option<&Tiling>) -> Buffers<'_> {
        Buffers::of(std::iter::once(self), tiling)
    }
}

impl HloComputation {
    /// Returns the arrays of all instructions with storage of their own (`tuple`, `get-tuple-element`, `bitcast`,
    /// `opt-barrier` and `while` alias their operands). Those with the most padding come first, then the largest. With
    /// `tiling`, they are measured as if they had that layout.
    ///
    /// A buffer assignment may let several of them share memory; the module does not contain it.
    ///
    /// ```
    /// use tilewright_xla::{HloModule, Tiling};
    /// let text = "HloModule m\nENTRY e {\n\
    ///     x = f32[8,128]{1,0} parameter(0)\n\
    ///     y = f32[8,100,3]{2,1,0} parameter(1)\n\
    ///     ROOT t = (f32[8,128]{1,0}) tuple(x)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let entry = module.entry().unwrap();
    /// assert_eq!(entry.buffers(None).bytes(), (4096 + 9600, 0));
    ///
    /// let tiling = Tiling::parse("T(8,128)").unwrap();
    /// let ranked = entry.buffers(Some(&tiling)).buffers;
    /// assert_eq!((ranked[0].instruction.name.as_str(), ranked.len()), ("y", 2));
    /// assert_eq!((ranked[0].bytes, ranked[0].factor().to_string().as_str()), (425_984, "×44.4"));
    /// let advice = ranked[0].advice().unwrap();
    /// assert_eq!(advice.suggestion(), "{1,0,2:T(8,128)} would be ×1.3 instead of ×44.4");
    /// ```
    pub fn buffers(&self, tiling: Option<&Tiling>) -> Buffers<'_> {
        let own = |one: &&HloInstruction| !IN_PLACE.contains(&one.opcode.as_str());
        let mut all = Buffers::of(self.instructions.iter().filter(own), tiling);
        for list in [&mut all.buffers, &mut all.not_applied] {
            list.sort_by_key(|one| std::cmp::Reverse((one.padding_bytes(), one.bytes)));
        }
        all
    }

    /// Returns the instruction of the result: the root, or the last instruction if none is marked.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n  y = f32[2] copy(x)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// // The root is not always the last.
    /// assert_eq!(module.entry().unwrap().root_instruction().unwrap().name, "x");
    /// ```
    pub fn root_instruction(&self) -> Option<&HloInstruction> {
        match self.root {
            Some(root) => self.instructions.get(root),
            None => self.instructions.last(),
        }
    }
}
