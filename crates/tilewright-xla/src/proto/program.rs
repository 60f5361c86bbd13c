//! Conversion between `ProgramShapeProto` and [`ProgramShape`].

use tilewright_core::Error as Refusal;

use super::{Error, ProgramShapeProto, ShapeProto, inside, layout_read::each, of_field};
use crate::{Parameter, ProgramShape};

impl ProgramShapeProto {
    /// Returns the program's shape. There may be fewer names than parameters.
    ///
    /// # Errors
    /// A missing result; more names than parameters; those of [`ShapeProto::to_shape`].
    ///
    /// ```
    /// use tilewright_xla::{ProgramShape, proto::ProgramShapeProto};
    /// let program = ProgramShape::parse("((unknown): opaque[], scalar: f32[]) -> f32[7]").unwrap();
    /// assert_eq!(program.to_proto().unwrap().to_program_shape().unwrap(), program);
    /// let error = ProgramShapeProto::default().to_program_shape().unwrap_err();
    /// assert_eq!(error.name().unwrap(), "result");
    /// ```
    pub fn to_program_shape(&self) -> Result<ProgramShape, Error> {
        let (names, count) = (self.parameter_names.len(), self.parameters.len());
        if names > count {
            let says = "{} names for {} parameters";
            let cause = Refusal::mismatch(says, [names as i128, count as i128], "one each at most");
            return Err(of_field("parameter_names", cause));
        }
        let shapes = each("parameters", &self.parameters, ShapeProto::to_shape)?;
        let names = self.parameter_names.iter().cloned().chain(std::iter::repeat(String::new()));
        let parameters = shapes.into_iter().zip(names);
        Ok(ProgramShape {
            parameters: parameters.map(|(shape, name)| Parameter { name, shape }).collect(),
            result: self.result()?.to_shape().map_err(|error| inside(error, "result"))?,
        })
    }

    fn result(&self) -> Result<&ShapeProto, Error> {
        self.result.as_ref().ok_or_else(|| {
            let cause =
                Refusal::illegal("a program without a result", [], "write `()` for no result");
            of_field("result", cause)
        })
    }
}

impl ProgramShape {
    /// Returns the program's shape as XLA's message.
    ///
    /// # Errors
    /// Those of [`crate::Shape::to_proto`].
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// let program = ProgramShape::parse("(x: f32[2], y: f32[]) -> f32[2]").unwrap();
    /// let proto = program.to_proto().unwrap();
    /// assert_eq!(proto.parameter_names, ["x", "y"]);
    /// assert_eq!(proto.parameters[0].dimensions, [2]);
    /// ```
    pub fn to_proto(&self) -> Result<ProgramShapeProto, Error> {
        let shape = |parameter: &Parameter| parameter.shape.to_proto();
        Ok(ProgramShapeProto {
            parameters: each("parameters", &self.parameters, shape)?,
            result: Some(self.result.to_proto().map_err(|error| inside(error, "result"))?),
            parameter_names: self.parameters.iter().map(|one| one.name.clone()).collect(),
        })
    }
}
