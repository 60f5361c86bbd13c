//! A SPEC on the command line, with `--dims` and `--dtype`.

use tilewright::{Dtype, Spec, files::Reading, input, layouts::ByteOrder, notation};

use crate::{args::ArrayArgs, failure::Failure};

/// Reads a SPEC, or the layout that an expression evaluates to. `what` names the argument in errors.
pub(crate) fn read(what: &str, text: &str) -> Result<Spec, Failure> {
    input::read(text).map_err(|error| Failure::of(error).about(what))
}

/// Reads `100,100`, also as `(100,100)` or `[100, 100]`.
pub(crate) fn integers(field: &'static str, text: &str) -> Result<Vec<u64>, Failure> {
    Ok(input::integers(field, text)?)
}

impl ArrayArgs {
    /// Returns the array for which general SPECs are resolved; `--dims ''` is a scalar.
    pub(crate) fn read(&self) -> Result<input::Array, Failure> {
        Ok(input::Array::read(self.dims.as_deref(), self.dtype.as_deref())?)
    }

    /// Returns the dims of `--dims`.
    pub(crate) fn dims(&self) -> Result<Option<Vec<u64>>, Failure> {
        self.dims.as_deref().map(|text| integers("dims", text)).transpose()
    }

    /// Returns the element type of `--dtype` with its byte order: `>f4` is big-endian.
    pub(crate) fn dtype_in_order(&self) -> Result<Option<(Dtype, Option<ByteOrder>)>, Failure> {
        let dtype = self.dtype.as_deref().map(notation::dtype_in_order).transpose();
        dtype.map_err(|error| Failure::of(error).about("--dtype"))
    }

    /// Returns how to read a file without a header.
    pub(crate) fn reading(&self) -> Result<Reading, Failure> {
        let mut reading = Reading::default();
        if let Some(dims) = self.dims()? {
            reading = reading.dims(&dims);
        }
        Ok(match self.dtype_in_order()? {
            Some((dtype, Some(order))) => reading.dtype(dtype).order(order),
            Some((dtype, None)) => reading.dtype(dtype),
            None => reading,
        })
    }
}
