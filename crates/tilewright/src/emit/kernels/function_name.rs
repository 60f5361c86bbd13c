//! Check of the name of the function that launches printed kernels.
//!
//! Law: code with an accepted name compiles. The name is not a word of C++, not defined by the dialect's header, and not of a
//! form that the runtimes' headers are known to define: their functions, vectors such as `float4`, types that end with `_t`.

use tilewright_device::Target;

use crate::Error;

/// The default name of the launching function.
pub(super) const NAME: &str = "tw_relayout";

/// Words that are refused as names: words of C++, of the runtimes' headers, and of the first lines of a kernel.
const WORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t \
class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default \
delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable \
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires \
return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try \
typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq main uint4 dim3 threadIdx \
blockIdx blockDim gridDim warpSize NULL linux unix \
u8 u16 u32 u64 i32 i64 u128 NT MINBLOCKS PARAMS SHAREDBYTES";

/// Returns an error if the function cannot have this name.
pub(super) fn check(name: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let legal = "letters, digits and _, no digit first";
    if !name.chars().all(plain) || !starts {
        return Err(
            Error::usage(format!("{name:?} is not a name in C++: {legal}")).in_field("name")
        );
    }
    let header = Target::Cuda.header();
    let says = |word: &str| header.split(|c: char| !plain(c)).any(|own| own == word);
    let own = super::macros(header).contains(name) || (name.starts_with("tw_") && says(name));
    let reserved = name.contains("__") || name.starts_with('_') || name.ends_with("_t");
    if own || reserved || is_of_runtime(name) || WORDS.split_whitespace().any(|word| word == name) {
        let says = format!(
            "{name:?} is a word of C++, or one that the text or its compiler needs; legal are {legal}, \
             no _ first, no two together and no _t last, such as {NAME}"
        );
        return Err(Error::usage(says).in_field("name"));
    }
    Ok(())
}

/// Returns whether the runtimes' headers may define this name: their functions, and vectors such as `float4`.
fn is_of_runtime(name: &str) -> bool {
    let function = ["cuda", "hip", "cu"].iter().any(|own| {
        name.strip_prefix(own)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    let of = name.strip_suffix(['1', '2', '3', '4']).unwrap_or_default();
    let of = of.strip_prefix('u').unwrap_or(of);
    function || ["char", "short", "int", "long", "longlong", "float", "double"].contains(&of)
}
