//! HLO modules: which computations they have, and each instruction's name, opcode and shape.
//!
//! A module is read from its text or from the bytes of its proto; both give the same values. Whatever
//! else a module says (literals, attributes, metadata, backends' configurations) is passed over.
//!
//! Names are those of the module, without the `%` of the text.

mod buffers;
mod error;
mod proto;
mod scan;
mod source;
mod text;
mod tiling;

pub use buffers::{Buffer, Buffers, Unsized};
pub use error::HloError;
pub use source::HloSourceError;
pub use tiling::Tiling;

use crate::{Parameter, ProgramShape, Shape};

/// The shapes of a module.
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
/// assert_eq!(entry.instructions[1].shape.to_string(), "f32[3,2]{0,1}");
/// assert_eq!(entry.program_shape().unwrap().to_string(), "(x: f32[2,3]{1,0}) -> f32[3,2]{0,1}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HloModule {
    /// The module's name.
    pub name: String,
    /// The computations, in the order of the text or the proto.
    pub computations: Vec<HloComputation>,
}

/// A computation of an [`HloModule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HloComputation {
    /// Its name.
    pub name: String,
    /// Whether the module begins here.
    pub entry: bool,
    /// The instructions, in the order of the text or the proto.
    pub instructions: Vec<HloInstruction>,
    /// Which instruction is the result, if it is said: its place in `instructions`.
    pub root: Option<usize>,
}

/// An instruction of an [`HloComputation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HloInstruction {
    /// Its name.
    pub name: String,
    /// What it does: `add`, `fusion`, `parameter`.
    pub opcode: String,
    /// What it gives.
    pub shape: Shape,
    /// Which parameter of the computation it is, if it is one.
    pub parameter: Option<u64>,
}

impl HloModule {
    /// The computation that the module begins with.
    pub fn entry(&self) -> Option<&HloComputation> {
        self.computations.iter().find(|computation| computation.entry)
    }

    /// The computation of a name.
    pub fn computation(&self, name: &str) -> Option<&HloComputation> {
        self.computations.iter().find(|computation| computation.name == name)
    }
}

impl HloComputation {
    /// The instructions that are parameters, in the order of their numbers.
    pub fn parameters(&self) -> Vec<&HloInstruction> {
        let mut parameters: Vec<_> =
            self.instructions.iter().filter(|one| one.parameter.is_some()).collect();
        parameters.sort_by_key(|one| one.parameter);
        parameters
    }

    /// The shape of the result: the root's, or the last instruction's if no root is said.
    pub fn result(&self) -> Option<&Shape> {
        self.root_instruction().map(|root| &root.shape)
    }

    /// The parameters and the result, with their layouts; `None` for a computation without
    /// instructions.
    pub fn program_shape(&self) -> Option<ProgramShape> {
        let parameter =
            |one: &HloInstruction| Parameter { name: one.name.clone(), shape: one.shape.clone() };
        Some(ProgramShape {
            parameters: self.parameters().into_iter().map(parameter).collect(),
            result: self.result()?.clone(),
        })
    }

    /// The instruction of a name.
    pub fn instruction(&self, name: &str) -> Option<&HloInstruction> {
        self.instructions.iter().find(|instruction| instruction.name == name)
    }
}
