//! HLO modules: their computations, and the name, opcode and shape of each instruction.
//!
//! A module is read from its text or from the bytes of its proto; both give the same values. Everything else in a module
//! (literals, attributes, metadata, backend configurations) is skipped.
//!
//! Names are those of the module, without the `%` of the text.

mod buffers;
mod error;
mod proto;
mod scan;
mod shared;
mod source;
mod text;
mod tiling;
mod weight;

pub use buffers::{Buffer, Buffers, Unsized};
pub use tiling::Tiling;

use std::sync::Arc;

use crate::{Parameter, ProgramShape, Shape};

/// A module: its name and its computations.
///
/// Source: XLA's `xla/hlo/parser/hlo_parser.cc` and `xla/service/hlo.proto`.
///
/// ```
/// use tilewright_xla::HloModule;
/// let text = "HloModule m\n\
///     ENTRY %main (x: f32[2,3]) -> f32[3,2] {\n\
///       %x = f32[2,3]{1,0} parameter(0)\n\
///       ROOT %t = f32[3,2]{0,1} transpose(%x), dimensions={1,0}, metadata={op_name=\"a{b\"}\n\
///     }\n";
/// let module = HloModule::parse(text).unwrap();
/// let entry = module.entry().unwrap();
/// assert_eq!((module.name.as_str(), entry.name.as_str()), ("m", "main"));
/// assert_eq!(entry.instructions[1].opcode, "transpose");
/// assert_eq!(entry.instructions[1].shape.as_ref().unwrap().to_string(), "f32[3,2]{0,1}");
/// assert_eq!(entry.program_shape().unwrap().to_string(), "(x: f32[2,3]{1,0}) -> f32[3,2]{0,1}");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HloModule {
    /// The name of the module.
    pub name: String,
    /// The computations, in the order of the text or the proto.
    pub computations: Vec<HloComputation>,
}

/// A computation of an [`HloModule`].
///
/// ```
/// use tilewright_xla::{HloComputation, HloModule};
/// let text = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n";
/// let module = HloModule::parse(text).unwrap();
/// let HloComputation { name, entry, instructions, root, .. } = &module.computations[0];
/// assert_eq!((name.as_str(), *entry, instructions.len(), *root), ("e", true, 2, Some(1)));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HloComputation {
    /// The name of the computation.
    pub name: String,
    /// Set if this is the entry computation of the module.
    pub entry: bool,
    /// The instructions, in the order of the text or the proto.
    pub instructions: Vec<HloInstruction>,
    /// The index of the root in `instructions`, if one is marked.
    pub root: Option<usize>,
}

/// An instruction of an [`HloComputation`].
///
/// ```
/// use tilewright_xla::HloModule;
/// let text = "HloModule m\nENTRY e {\n  ROOT %x = f32[2]{0} parameter(0)\n}\n";
/// let module = HloModule::parse(text).unwrap();
/// let x = &module.entry().unwrap().instructions[0];
/// assert_eq!((x.name.as_str(), x.opcode.as_str(), x.parameter), ("x", "parameter", Some(0)));
/// assert_eq!(x.shape.as_ref().unwrap().to_string(), "f32[2]{0}");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HloInstruction {
    /// The name of the instruction.
    pub name: String,
    /// The opcode: `add`, `fusion`, `parameter`.
    pub opcode: String,
    /// The shape of the result; instructions of equal shapes share one. `None` if the text leaves it to be inferred.
    pub shape: Option<Arc<Shape>>,
    /// The number of the parameter, if the instruction is one.
    pub parameter: Option<u64>,
}

impl HloModule {
    /// Returns the entry computation: the one marked `ENTRY`, otherwise in a text the last one.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nf {\n  ROOT x = f32[] parameter(0)\n}\n\
    ///     ENTRY e {\n  ROOT y = f32[] constant(1)\n}\n";
    /// assert_eq!(HloModule::parse(text).unwrap().entry().unwrap().name, "e");
    /// ```
    pub fn entry(&self) -> Option<&HloComputation> {
        self.computations.iter().find(|computation| computation.entry)
    }

    /// Returns the computation with this name.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nf {\n  ROOT x = f32[] parameter(0)\n}\n\
    ///     ENTRY e {\n  ROOT y = f32[] constant(1)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// assert!(!module.computation("f").unwrap().entry);
    /// assert!(module.computation("g").is_none());
    /// ```
    pub fn computation(&self, name: &str) -> Option<&HloComputation> {
        self.computations.iter().find(|computation| computation.name == name)
    }
}

impl HloComputation {
    /// Returns the instructions that are parameters, in the order of their numbers.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  b = s8[] parameter(1)\n  a = f32[] parameter(0)\n\
    ///     ROOT c = f32[] copy(a)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let names: Vec<&str> =
    ///     module.entry().unwrap().parameters().iter().map(|one| one.name.as_str()).collect();
    /// assert_eq!(names, ["a", "b"]);
    /// ```
    pub fn parameters(&self) -> Vec<&HloInstruction> {
        let mut parameters: Vec<_> =
            self.instructions.iter().filter(|one| one.parameter.is_some()).collect();
        parameters.sort_by_key(|one| one.parameter);
        parameters
    }

    /// Returns the shape of the result: that of the root, or of the last instruction if no root is marked.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  x = f32[2,3]{1,0} parameter(0)\n\
    ///     ROOT y = f32[3,2]{0,1} bitcast(x)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// assert_eq!(module.entry().unwrap().result().unwrap().to_string(), "f32[3,2]{0,1}");
    /// ```
    pub fn result(&self) -> Option<&Shape> {
        self.root_instruction()?.shape.as_deref()
    }

    /// Returns the shapes of the parameters and the result, with their layouts; `None` for a computation without
    /// instructions, or if the text omits one of these shapes.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  x = f32[2]{0} parameter(0)\n  ROOT y = s8[] constant(1)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let program = module.entry().unwrap().program_shape().unwrap();
    /// assert_eq!(program.to_string(), "(x: f32[2]{0}) -> s8[]");
    /// ```
    pub fn program_shape(&self) -> Option<ProgramShape> {
        let parameter = |one: &HloInstruction| {
            let shape = Shape::clone(one.shape.as_ref()?);
            Some(Parameter { name: one.name.clone(), shape })
        };
        Some(ProgramShape {
            parameters: self.parameters().into_iter().map(parameter).collect::<Option<_>>()?,
            result: self.result()?.clone(),
        })
    }

    /// Returns the instruction with this name.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n";
    /// let module = HloModule::parse(text).unwrap();
    /// let entry = module.entry().unwrap();
    /// assert_eq!(entry.instruction("y").unwrap().opcode, "add");
    /// assert!(entry.instruction("%y").is_none());
    /// ```
    pub fn instruction(&self, name: &str) -> Option<&HloInstruction> {
        self.instructions.iter().find(|instruction| instruction.name == name)
    }
}
