//! The storage of a computation's arrays, ranked by the bytes that padding wastes.
//!
//! Law: `bytes = data_bytes · factor`, up to rounding to a byte; arrays are ranked by `bytes − data_bytes`, the largest
//! first.
//!
//! A [`Tiling`] is a requested tiling, to measure arrays as if they had it.

use std::{collections::HashMap, sync::Arc};

use tilewright_core::{Error, ParseError};

use super::{HloComputation, HloInstruction};
use crate::{
    ArrayShape, Layout, PrimitiveType, Shape, ShapeIndex, Tile, TileDim,
    shape_util::{Factor, PaddingAdvice},
    text,
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

/// The bits of the words in which packed rows are stored side by side.
const WORD: u64 = 32;

/// Tiles for arrays of any rank, or a layout for the arrays of one rank.
///
/// Written as the properties of a layout, `T(8,128)`, it keeps the order of each array's dims and replaces its tiles. A
/// single tile of two extents is applied as TPUs do:
///
/// | array | layout |
/// |---|---|
/// | at least 32 bits, at least two dims | `T(8,128)` |
/// | 16 bits | `T(8,128)(2,1)`: two rows share a word |
/// | 8 bits | `T(8,128)(4,1)` |
/// | 4, 2, 1 bits, except `pred` | packed: `T(8,128)(8,1)E(4)`; never more rows than the tile has |
/// | one dim | `T(1024)`, for 16 bits `T(1024)(128)(2,1)`: the whole tile in a row |
/// | no dims | unchanged |
///
/// Any other tiles, such as `T(8,128)(2,1)`, are applied as written. A layout with an order, `{0,1:T(8,128)}`, is
/// applied as written to the arrays of its rank; others are unchanged.
///
/// ```
/// use tilewright_xla::{ArrayShape, Tiling};
/// let tiling = Tiling::parse("T(8,128)").unwrap();
/// let tiled = |text: &str| tiling.apply(&ArrayShape::parse(text).unwrap()).unwrap().to_string();
/// assert_eq!(tiled("f32[8,100,3]{1,2,0}"), "f32[8,100,3]{1,2,0:T(8,128)}");
/// assert_eq!(tiled("bf16[20,200]"), "bf16[20,200]{1,0:T(8,128)(2,1)}");
/// assert_eq!(tiled("s4[20,200]"), "s4[20,200]{1,0:T(8,128)(8,1)E(4)}");
/// assert_eq!(tiled("bf16[300]{0}"), "bf16[300]{0:T(1024)(128)(2,1)}");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    layout: Layout,
    /// Set if the tiling has an order, and therefore a rank.
    ordered: bool,
}

impl Tiling {
    /// Reads `T(8,128)`, any other properties of a layout, or a whole layout.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::Tiling;
    /// let text = "T(8,0)";
    /// let error = Tiling::parse(text).unwrap_err();
    /// assert_eq!((error.span(), error.to_string().as_str()), ((4, 5), "extent 0 of dim 1 of a tile; an extent is 1 to 2^63 - 1"));
    /// ```
    pub fn parse(text: &str) -> Result<Tiling, ParseError> {
        let ordered = text.trim_start().starts_with('{');
        let read = if ordered { text::layout } else { text::layout_properties };
        Ok(Tiling { layout: text::whole(text, read)?, ordered })
    }

    /// Returns the array with its layout replaced.
    ///
    /// # Errors
    /// Those of [`ArrayShape::element_bits`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Tiling};
    /// let apply = |tiling, array| {
    ///     let tiling = Tiling::parse(tiling).unwrap();
    ///     tiling.apply(&ArrayShape::parse(array).unwrap()).map(|array| array.to_string())
    /// };
    /// // A tile keeps the order of each array; a layout applies to arrays of its rank.
    /// assert_eq!(apply("T(8,128)", "f32[9,200]{0,1}").unwrap(), "f32[9,200]{0,1:T(8,128)}");
    /// assert_eq!(apply("{0,1:T(4,4)}", "f32[9,9]{1,0}").unwrap(), "f32[9,9]{0,1:T(4,4)}");
    /// assert_eq!(apply("{0,1:T(4,4)}", "f32[9]{0}").unwrap(), "f32[9]{0}");
    /// ```
    pub fn apply(&self, array: &ArrayShape) -> Result<ArrayShape, Error> {
        let rank = array.dims.len();
        let mut tiled = array.clone();
        if self.ordered {
            if self.is_for(array) {
                tiled.layout = Some(self.layout.clone());
            }
            return Ok(tiled);
        }
        let own = array.layout_or_default();
        tiled.layout = match (self.tpu(), rank) {
            (Some(_), 0) => return Ok(tiled),
            (Some(tile), _) => Some(packed(array.element_type, &own, rank, tile)?),
            (None, _) => Some(self.layout.replaced(own.minor_to_major())?),
        };
        Ok(tiled)
    }

    /// Returns whether the tiling applies to this array: a tiling with an order applies only to arrays of its rank.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Tiling};
    /// let layout = Tiling::parse("{0,1:T(8,128)}").unwrap();
    /// let is_for = |text| layout.is_for(&ArrayShape::parse(text).unwrap());
    /// assert!(is_for("f32[9,200]") && !is_for("f32[9]") && !is_for("f32[2,9,200]"));
    /// assert!(Tiling::parse("T(8,128)").unwrap().is_for(&ArrayShape::parse("f32[9]").unwrap()));
    /// ```
    pub fn is_for(&self, array: &ArrayShape) -> bool {
        !self.ordered || self.layout.rank() == array.dims.len()
    }

    /// Returns the extents of the tile if the tiling is a single tile of two extents.
    fn tpu(&self) -> Option<[u64; 2]> {
        let [tile] = self.layout.tiles() else { return None };
        let [TileDim::Size(rows), TileDim::Size(columns)] = *tile.dims() else { return None };
        let plain = Layout::descending(0).with_tiles(self.layout.tiles());
        (self.layout == plain).then_some([rows, columns])
    }
}

/// Returns the layout with `tile` as TPUs use it for elements of this type.
fn packed(
    element_type: PrimitiveType,
    own: &Layout,
    rank: usize,
    [rows, columns]: [u64; 2],
) -> Result<Layout, Error> {
    let layout = Layout::new(own.minor_to_major())?;
    let natural = u64::from(element_type.storage_bits().ok_or_else(crate::shape_util::no_values)?);
    let bits = element_type.bits().map_or(natural, u64::from);
    let (bits, layout) = if bits < 8 && element_type != PrimitiveType::Pred {
        (bits, layout.with_element_size_in_bits(bits)?)
    } else {
        (natural, layout)
    };
    let together = (WORD / bits.max(1)).clamp(1, rows.max(1));
    let inner = [together, 1];
    let tiles: Vec<Vec<u64>> = match (rank, together) {
        (1, 1) => vec![vec![rows.saturating_mul(columns)]],
        (1, _) => vec![vec![rows.saturating_mul(columns)], vec![columns], inner.to_vec()],
        (_, 1) => vec![vec![rows, columns]],
        _ => vec![vec![rows, columns], inner.to_vec()],
    };
    let tiles: Result<Vec<Tile>, Error> = tiles.iter().map(|sizes| Tile::sizes(sizes)).collect();
    Ok(layout.with_tiles(&tiles?))
}
