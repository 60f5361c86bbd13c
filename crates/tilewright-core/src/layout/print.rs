//! The text of layouts: `((4,2),(4,3)):((4,16),(1,32))`; the parser states the grammar.

use core::fmt;

use crate::Layout;

impl fmt::Display for Layout {
    /// Writes `Sw<b,m,s> o offset o shape:stride`, or `shape:stride+offset` without a swizzle.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let swizzled = !self.swizzle().is_identity();
        if swizzled {
            write!(f, "{} o ", self.swizzle())?;
            if self.offset() != 0 {
                write!(f, "{} o ", self.offset())?;
            }
        }
        self.profile().write(f, |f, leaf| write!(f, "{}", self.modes()[leaf].extent()))?;
        f.write_str(":")?;
        self.profile().write(f, |f, leaf| write!(f, "{}", self.modes()[leaf].stride()))?;
        if self.offset() != 0 && !swizzled { write!(f, "{:+}", self.offset()) } else { Ok(()) }
    }
}

crate::macros::debug_as_display!(Layout);
