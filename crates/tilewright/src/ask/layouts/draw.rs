//! Answer about a picture, which is written to files or printed.

use std::fmt;

use serde_json::{Value, json};
use tilewright_draw::Scene;

use crate::ask::Answer;

/// A picture that was drawn.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Drawn}, draw::{Limits, grid, subject}};
/// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
/// let scene = grid(&subject(&rows), &Limits::default())?;
/// let drawn = Drawn::of(&scene, vec!["rows.svg".into()], None);
/// assert_eq!((drawn.to_string().as_str(), &drawn.to_json()["files"][0]), ("", &"rows.svg".into()));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The title of the picture.
    pub title: String,
    /// Notes on omitted parts and on counts.
    pub notes: Vec<String>,
    /// The files that were written.
    pub files: Vec<String>,
    /// The picture itself, if it is not written to a file.
    pub picture: Option<String>,
}

impl Drawn {
    /// Returns the answer for a scene that was written to files, or that is printed as `picture`.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Drawn, draw::{Limits, grid, subject}};
    /// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
    /// let scene = grid(&subject(&rows), &Limits::default())?;
    /// assert_eq!(Drawn::of(&scene, Vec::new(), Some(scene.to_svg())).title, "(2,3):(3,1)");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(scene: &Scene, files: Vec<String>, picture: Option<String>) -> Drawn {
        Drawn { title: scene.title.clone(), notes: scene.notes.clone(), files, picture }
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.picture.as_deref().unwrap_or_default())
    }
}

impl Answer for Drawn {
    fn to_json(&self) -> Value {
        json!({
            "title": self.title,
            "notes": self.notes,
            "files": self.files,
            "picture": self.picture,
        })
    }
}
