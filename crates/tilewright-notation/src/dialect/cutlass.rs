//! CuTe's C++ code, and the text that CuTe prints for layouts in shared memory.
//!
//! ```text
//! cutlass  := ( swizzle 'o' pointer 'o' plain
//!           | pointer 'o' plain
//!           | 'ComposedLayout' '<' swizzle ',' flag ',' plain '>' [ '{}' ]
//!           | 'composition' '(' swizzle ',' [ flag ',' ] plain ')'
//!           | plain ) [ ';' ]
//! swizzle  := ('Sw' | 'S' | 'Swizzle') '<' int ',' int ',' int '>' [ '{}' ]
//! pointer  := ('smem_ptr' | 'gmem_ptr' | 'rmem_ptr' | 'tmem_ptr' | 'ptr') [ '[' int 'b' ']' ] [ '(' ('unset' | '0x' hex) ')' ]
//! flag     := ('smem_ptr_flag' | 'smem_ptr_flag_bits' '<' int '>' | integer that is 0) [ '{}' ]
//! plain    := 'make_layout' '(' tuple [ ',' (tuple | order) ] ')'
//!           | 'make_layout' '(' plain { ',' plain } ')'
//!           | 'Layout' '<' tuple [ ',' (tuple | order) ] '>' [ '{}' ]
//!           | a layout as CuTe prints it
//! order    := ('LayoutLeft' | 'GenColMajor' | 'LayoutRight' | 'GenRowMajor') [ '{}' ]
//! tuple    := ('make_shape' | 'make_stride' | 'make_tuple') '(' tuple { ',' tuple } ')'
//!           | ('Shape' | 'Stride' | 'tuple') '<' tuple { ',' tuple } '>' [ '{}' ]
//!           | '(' tuple { ',' tuple } ')'
//!           | integer
//! integer  := [ '_' ] int [ '{}' ] | ('Int' | 'C') '<' int '>' [ '{}' | '()' ]
//! ```
//!
//! Any name can have the prefix `cute::`. The dialect `cute` reads the layouts that CuTe prints; this one reads them
//! only after a swizzle or a pointer. `make_layout` of several layouts concatenates their modes. The printer writes
//! `make_layout` and `composition`. Source: CUTLASS, `include/cute/layout.hpp`, `layout_composed.hpp`,
//! `pointer_flagged.hpp`.
//!
//! A swizzle of a pointer permutes byte addresses; a swizzle of a layout permutes offsets of elements. So
//! `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)` is `Sw<3,3,3> o (8,64):(64,1)` of 16-bit elements.
//! Without a width, the array's dtype gives it.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)` | | `Sw<3,3,3> o (8,64):(64,1)` |
//! | `Sw<3,4,3> o smem_ptr o (_8,_32):(_32,_1)` | `f32[8,32]` | `Sw<3,2,3> o (8,32):(32,1)` |
//! | `make_layout(make_shape(4,8),make_stride(8,1))` | | `(4,8):(8,1)` |
//! | `make_layout(make_shape(Int<4>{},8))` | | `(4,8):(1,4)` |
//! | `cute::make_layout((4,2), (1,4));` | | `(4,2):(1,4)` |
//! | `make_layout(4:1, Layout<_2,_4>{})` | | `(4,2):(1,4)` |
//! | `gmem_ptr[32b](0x7f0000400) o (4,8):(8,1)` | | `(4,8):(8,1)` |
//! | `Layout<Shape<_2,Shape<_2,_2>>,Stride<_4,Stride<_2,_1>>>` | | `(2,(2,2)):(4,(2,1))` |
//! | `Sw<3,4,3> o smem_ptr o (_8,_32):(_32,_1)` | | error: needs the array's dtype |
//! | `Sw<3,1,3> o smem_ptr[32b](unset) o (_8,_32):(_32,_1)` | | error: within an element |

mod pointed;
mod text;

use std::sync::Arc;

use tilewright_core::TensorLayout;

use crate::{Error, Named, notation::Notation, reading::Reading};
use pointed::spell;

pub(super) const DIALECT: Notation = Notation::new(
    "cutlass",
    "CuTe in C++: make_layout, Layout<…>, swizzled pointers to shared memory",
    read,
    print,
)
.with_aliases(&["cute-cpp"])
.with_form(claims);

/// The names that such a text begins with.
const FIRST: [&str; 5] = ["make_layout", "Layout<", "ComposedLayout<", "composition(", "Swizzle<"];

/// Pointers by the memory they point into, as tensors print them.
const POINTERS: [&str; 5] = ["smem_ptr", "gmem_ptr", "rmem_ptr", "tmem_ptr", "ptr"];

/// Returns whether a text is C++, or the layout of a pointer.
fn claims(text: &str) -> bool {
    let text = text.strip_prefix("cute::").unwrap_or(text);
    let pointer = text.starts_with('S') && text.contains("smem_ptr");
    let behind = POINTERS.iter().find_map(|name| text.strip_prefix(name));
    let to = behind.is_some_and(|rest| rest.starts_with(['[', '(', ' ']));
    pointer || to || FIRST.iter().any(|name| text.starts_with(name))
}

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let pointed = text::read(text)?;
    pointed.check()?;
    Ok(Arc::new(pointed))
}

/// The layout in C++.
fn print(named: &Named) -> Result<String, Error> {
    let tensor = named.layout();
    let layout = tensor.layout();
    if *tensor != TensorLayout::of(layout) || layout.offset() != 0 {
        let said = "CuTe's layouts cannot express padding, offsets, or tiles that do not divide";
        return Err(Error::unsupported(said));
    }
    if !layout.swizzle().is_field_xor() {
        let said = "CuTe's swizzles are three numbers, but this one is a matrix of bits";
        return Err(Error::unsupported(said));
    }
    Ok(spell(layout))
}
