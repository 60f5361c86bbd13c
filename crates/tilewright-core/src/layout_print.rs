//! Layouts as text: `((4,2),(4,3)):((4,16),(1,32))`; the grammar is with the parser.

use core::fmt;

use crate::{Layout, Profile};

/// Writes `(a,b,c)`.
pub(crate) fn write_tuple<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    values: &[T],
) -> fmt::Result {
    f.write_str("(")?;
    for (i, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if i == 0 { "" } else { "," })?;
    }
    f.write_str(")")
}

/// Writes one value per leaf, bracketed by `profile`.
fn write_profile<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    profile: &Profile,
    value: impl Fn(usize) -> T,
) -> fmt::Result {
    if profile.leaves() == 0 {
        return f.write_str("()");
    }
    for leaf in 0..profile.leaves() {
        let (opened, closed) = profile.brackets(leaf).unwrap_or((0, 0));
        f.write_str(if leaf == 0 { "" } else { "," })?;
        (0..opened).try_for_each(|_| f.write_str("("))?;
        write!(f, "{}", value(leaf))?;
        (0..closed).try_for_each(|_| f.write_str(")"))?;
    }
    Ok(())
}

impl fmt::Display for Layout {
    /// `Sw<b,m,s> o offset o shape:stride`, or `shape:stride+offset` without a swizzle.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let swizzled = !self.swizzle().is_identity();
        if swizzled {
            write!(f, "{} o ", self.swizzle())?;
            if self.offset() != 0 {
                write!(f, "{} o ", self.offset())?;
            }
        }
        write_profile(f, self.profile(), |leaf| self.modes()[leaf].extent())?;
        f.write_str(":")?;
        write_profile(f, self.profile(), |leaf| self.modes()[leaf].stride())?;
        if self.offset() != 0 && !swizzled { write!(f, "{:+}", self.offset()) } else { Ok(()) }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
