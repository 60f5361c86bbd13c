//! The calls of the compiler.
//!
//! Source: NVRTC, `nvrtc.h` 11.2 and newer.

use std::{
    ffi::{CStr, CString, c_char, c_int},
    ptr,
    sync::Arc,
};

use super::library::Library;
use crate::{Error, error::of_device};

/// A program of NVRTC: an opaque pointer.
type NvrtcProgram = *mut std::ffi::c_void;

super::library::functions! {
    /// The functions of libnvrtc.
    Functions {
        nvrtcVersion(*mut c_int, *mut c_int);
        nvrtcGetNumSupportedArchs(*mut c_int);
        nvrtcGetSupportedArchs(*mut c_int);
        nvrtcCreateProgram(*mut NvrtcProgram, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
        nvrtcDestroyProgram(*mut NvrtcProgram);
        nvrtcCompileProgram(NvrtcProgram, c_int, *const *const c_char);
        nvrtcGetProgramLogSize(NvrtcProgram, *mut usize);
        nvrtcGetProgramLog(NvrtcProgram, *mut c_char);
        nvrtcGetCUBINSize(NvrtcProgram, *mut usize);
        nvrtcGetCUBIN(NvrtcProgram, *mut c_char);
        nvrtcGetPTXSize(NvrtcProgram, *mut usize);
        nvrtcGetPTX(NvrtcProgram, *mut c_char);
    }
}

/// The number of an error in the text that is compiled.
const COMPILATION: i32 = 6;
/// The longest log that a message has, in bytes.
const LOG: usize = 4_000;

/// The form of compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeForm {
    /// Machine code for one architecture.
    Cubin,
    /// A text from which the driver makes machine code.
    Ptx,
}

/// The compiler.
#[derive(Debug)]
pub(crate) struct Nvrtc {
    functions: Functions,
    library: Arc<Library>,
}

impl Nvrtc {
    /// Opens the compiler in an open library.
    pub(crate) fn of(library: Library) -> Result<Nvrtc, Error> {
        let library = Arc::new(library);
        let functions = library.table(Functions::of, "NVRTC of CUDA 11.2")?;
        Ok(Nvrtc { functions, library })
    }

    /// Returns the name of the library.
    pub(crate) fn name(&self) -> String {
        self.library.name()
    }

    /// Returns the version, major and minor.
    pub(crate) fn version(&self) -> Result<(i32, i32), Error> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: `major` and `minor` are written.
        let code = unsafe { (self.functions.nvrtcVersion)(&mut major, &mut minor) };
        self.checked("nvrtcVersion", code).map(|()| (major, minor))
    }

    /// Returns the architectures that it makes code for, as numbers such as 90, in ascending order.
    pub(crate) fn architectures(&self) -> Result<Vec<u32>, Error> {
        let mut count = 0;
        // SAFETY: `count` is written.
        let code = unsafe { (self.functions.nvrtcGetNumSupportedArchs)(&mut count) };
        self.checked("nvrtcGetNumSupportedArchs", code)?;
        // One more than the count, so that the pointer is valid for an empty list.
        let mut list = vec![0 as c_int; usize::try_from(count).unwrap_or(0) + 1];
        // SAFETY: `count` numbers are written, and `list` is long enough for them.
        let code = unsafe { (self.functions.nvrtcGetSupportedArchs)(list.as_mut_ptr()) };
        self.checked("nvrtcGetSupportedArchs", code)?;
        list.pop();
        let mut list: Vec<u32> =
            list.into_iter().filter_map(|one| u32::try_from(one).ok()).collect();
        list.sort_unstable();
        Ok(list)
    }

    /// Compiles a text with these options, and returns the code.
    pub(crate) fn compile(
        &self,
        text: &str,
        options: &[String],
        form: CodeForm,
    ) -> Result<Vec<u8>, Error> {
        let zero = |_| of_device("compile", "a kernel's text must not contain a byte 0");
        let text = CString::new(text).map_err(zero)?;
        let options: Vec<CString> = options
            .iter()
            .map(|option| CString::new(&**option))
            .collect::<Result<_, _>>()
            .map_err(zero)?;
        let program = OwnedProgram::of(self, &text)?;
        let flags: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(flags.len()).unwrap_or(c_int::MAX);
        // SAFETY: `program` is alive; `flags` are `count` texts that end in 0 and live through the call.
        let code =
            unsafe { (self.functions.nvrtcCompileProgram)(program.0, count, flags.as_ptr()) };
        if code != 0 {
            return Err(self.refused(&program, code));
        }
        let (size, get) = match form {
            CodeForm::Cubin => (self.functions.nvrtcGetCUBINSize, self.functions.nvrtcGetCUBIN),
            CodeForm::Ptx => (self.functions.nvrtcGetPTXSize, self.functions.nvrtcGetPTX),
        };
        self.read(&program, size, get)
    }

    /// Returns the reason why a text was not compiled.
    fn refused(&self, program: &OwnedProgram<'_>, code: i32) -> Error {
        let functions = &self.functions;
        let log = self
            .read(program, functions.nvrtcGetProgramLogSize, functions.nvrtcGetProgramLog)
            .unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let log = log.trim_end_matches('\0').trim();
        let end = (0..=LOG.min(log.len())).rev().find(|at| log.is_char_boundary(*at)).unwrap_or(0);
        let log = log.get(..end).unwrap_or_default();
        let what = if code == COMPILATION { "an error in the text" } else { "a failure" };
        let says = format!("{} refuses a kernel: {what} ({code})\n{log}", self.name());
        of_device("compile", says.trim_end()).with_code(code)
    }

    /// Returns a result of a program, by the two functions for its length and its bytes.
    fn read(
        &self,
        program: &OwnedProgram<'_>,
        size: unsafe extern "system" fn(NvrtcProgram, *mut usize) -> i32,
        get: unsafe extern "system" fn(NvrtcProgram, *mut c_char) -> i32,
    ) -> Result<Vec<u8>, Error> {
        let mut length = 0;
        // SAFETY: `program` is alive, `length` is written.
        let code = unsafe { size(program.0, &mut length) };
        self.checked("the length of the compiled code", code)?;
        let mut bytes = vec![0u8; length + 1];
        // SAFETY: `program` is alive; `length` bytes are written, and `bytes` is long enough for them.
        let code = unsafe { get(program.0, bytes.as_mut_ptr().cast()) };
        self.checked("the compiled code", code)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    fn checked(&self, call: &str, code: i32) -> Result<(), Error> {
        match code {
            0 => Ok(()),
            code => {
                let says = format!("{}: {call}: error {code}", self.name());
                Err(of_device("compile", says).with_code(code))
            }
        }
    }
}

/// A program that is alive.
struct OwnedProgram<'a>(NvrtcProgram, &'a Nvrtc);

impl<'a> OwnedProgram<'a> {
    fn of(nvrtc: &'a Nvrtc, text: &CStr) -> Result<OwnedProgram<'a>, Error> {
        let mut program = ptr::null_mut();
        let (name, none) = (c"tilewright.cu", ptr::null());
        // SAFETY: `program` is written; `text` and `name` end in 0; the lists of headers have 0 entries.
        let code = unsafe {
            let create = nvrtc.functions.nvrtcCreateProgram;
            create(&mut program, text.as_ptr(), name.as_ptr(), 0, none, none)
        };
        nvrtc.checked("nvrtcCreateProgram", code).map(|()| OwnedProgram(program, nvrtc))
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is alive, and it is not used afterwards.
        unsafe { (self.1.functions.nvrtcDestroyProgram)(&mut self.0) };
    }
}
