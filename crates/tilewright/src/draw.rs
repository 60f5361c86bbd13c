//! Layouts, conversions and expressions as pictures: everything of `tilewright-draw`, and the way there from
//! what this crate reads.
//!
//! ```
//! use tilewright::{Spec, draw::{Limits, conversion, subject}};
//! let zn = Spec::parse("f16[4,6] zN[M0=2,C0=3]")?.resolve(None, None)?;
//! let rows = Spec::parse("f16[4,6] row-major")?.resolve(None, None)?;
//! let scene = conversion(&subject(&rows), &subject(&zn), &Limits::default())?;
//! assert_eq!(scene.title, "f16[4,6] row-major → f16[4,6] zN[M0=2,C0=3]");
//! assert!(scene.to_svg().starts_with("<svg "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use tilewright_draw::*;

use tilewright_notation::Named;

use crate::eval::{self, Operation};

/// A layout to draw under the SPEC it is, its padding holding what that says.
///
/// ```
/// use tilewright::{Spec, draw::{Limits, grid, subject}};
/// let padded = Spec::parse("{0,1}pad(3,5)fill(0)")?.resolve(Some(&[2, 3]), None)?;
/// let scene = grid(&subject(&padded), &Limits::default())?;
/// assert_eq!(scene.bands[0].panels[0].cell(2, 0).unwrap().text, "0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn subject(named: &Named) -> Subject<'_> {
    Subject::new(named.layout()).named(named.to_spec()).filled(named.fill())
}

/// The picture of an expression that says more than that of its value: of a composition, a division or a
/// product of two layouts the operands beside the result, of `make_layout_tv` the owners of the tile. `None`
/// for every other expression.
///
/// # Errors
/// As [`evaluate`](eval::evaluate), and what cannot be drawn.
///
/// ```
/// use tilewright::draw::{Limits, expression};
/// let draw = |text| expression(text, &Limits::default());
/// let scene = draw("(6,2):(8,2) o (4,3):(3,1)")?.unwrap();
/// let details: Vec<&str> = scene.panels().map(|panel| panel.detail.as_str()).collect();
/// assert_eq!(details, ["(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"]);
/// let scene = draw("make_layout_tv((4,8):(8,1), (1,2):(2,1))")?.unwrap();
/// assert_eq!(scene.panels().next().unwrap().columns.len(), 16);
/// // A tiler is drawn as the indices of its first tile.
/// let scene = draw("zipped_divide((6,8):(8,1), <3,4>)")?.unwrap();
/// assert_eq!(scene.bands[0].panels[1].cell(1, 2).unwrap().text, "13");
/// assert!(draw("coalesce((2,2):(1,2))")?.is_none());
/// assert_eq!(draw("(6,2):(1,7) o (3,2):(2,3)").unwrap_err().kind(), "no-layout");
/// # Ok::<(), tilewright::eval::Error>(())
/// ```
pub fn expression(text: &str, limits: &Limits) -> Result<Option<Scene>, eval::Error> {
    let scene = match eval::operation(text)? {
        None => return Ok(None),
        Some(Operation::Composed { sign, a, b, result }) => {
            step(sign, &a, &b, &result, Relation::Through, limits)
        }
        Some(Operation::Copied { sign, a, b, result }) => {
            step(sign, &a, &b, &result, Relation::Copies, limits)
        }
        Some(Operation::Dealt { tv, tile }) => owners(&tv, &tile, limits),
    };
    let scene = scene.map(|scene| Scene { title: text.trim().to_owned(), ..scene });
    scene.map(Some).map_err(|error| eval::Error::whole(text, &error))
}
