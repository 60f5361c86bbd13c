//! Questions and answers for the program, the page in the browser, Python and the tests.
//!
//! A [`Question`] has typed fields, and each kind of question has a file in this folder with the type of its answer. An
//! [`Answer`] has public fields. It prints as the text that the program shows, and [`Answer::to_json`] is the JSON that
//! `docs/reference/json.md` lists. A caller reads arguments, asks, and prints.
//!
//! | question | answer |
//! |---|---|
//! | the explanation of a layout in words and numbers | [`Explanation`] |
//! | the whole SPEC of a layout, and the properties of its array | [`Parsed`] |
//! | the offset of an element; the contents of an offset | [`Offset`], [`Contents`] |
//! | whether two layouts are the same map | [`Comparison`] |
//! | a layout in another notation | [`Translation`] |
//! | the names of a layout in the catalogue | [`Recognition`] |
//! | the layout between two buffers | [`Inferred`] |
//! | the elements that each register of each thread holds | [`Distribution`] |
//! | the bank conflicts of an array in shared memory, and the least change that removes them | [`BankConflicts`] |
//! | the elements that each device holds of an array in shards; an explanation of the sharding; the sharding in another notation | [`Shards`], [`ShardsLine`], [`ShardsExplanation`], [`ShardBytes`], [`ShardsTranslation`] |
//! | the bytes of an array in another layout | [`Moved`] |
//! | the value of an expression, or of one line of many | [`Value`](crate::eval::Value), [`Line`] |
//! | named formats, notations, functions | [`Formats`], [`Example`], [`Notations`], [`Functions`] |
//! | a layout, or two, as a grid or as memory; as a picture | [`Shown`], [`Drawn`] |
//! | the contents of a file | [`Info`], [`ModuleInfo`] |
//! | the result that a recipe makes of a file | [`Assembled`] |
//! | the effect of a conversion; whether a file equals its original, or matches its recorded fingerprints | [`Converted`], [`Verified`], [`Recorded`] |
//! | a recipe as a table; whether it fits a checkpoint; all recipes; the recipes that fit | [`RecipeShown`], [`RecipeFit`], [`Recipes`], [`Guesses`] |
//! | fingerprints of the data in files; whether two files hold the same arrays | [`Printed`], [`SameData`] |
//!
//! The explanation of a layout does not depend on how the layout was written: two layouts that are equal as values have
//! equal answers, except for the name.
//!
//! ```
//! use tilewright::{ask::{Answer, Question}, input::Array};
//! let of = Array::default().array_layout("spec", "f32[3,5]{1,0:T(2,2)}", &())?;
//! let answer = Question::Offset { of, coord: vec![2, 3] }.answer()?;
//! assert_eq!(answer.to_string(), "17 (byte 68)");
//! assert_eq!(answer.to_json(), serde_json::json!({ "offset": 17, "byte": 68, "bit": 0 }));
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
// An answer whose feature is off is absent from the documentation; its links lead to the features.
#![cfg_attr(not(feature = "banks"), doc = "[`BankConflicts`]: crate#features")]
#![cfg_attr(not(feature = "relayout"), doc = "[`Moved`]: crate#features")]
#![cfg_attr(not(feature = "xla"), doc = "[`ModuleInfo`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Info`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Assembled`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Converted`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Verified`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Recorded`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`RecipeShown`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`RecipeFit`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Recipes`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Guesses`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`Printed`]: crate#features")]
#![cfg_attr(not(feature = "files"), doc = "[`SameData`]: crate#features")]

mod answer;
#[cfg(feature = "banks")]
mod banks;
mod catalogue;
mod eval;
pub mod explain;
mod files {
    //! Answers about files: their tensors, conversions, recipes, verification and fingerprints.

    #[cfg(feature = "files")]
    pub(super) mod convert;
    #[cfg(feature = "files")]
    pub(super) mod info;
    #[cfg(feature = "files")]
    pub(super) mod recipe;
}
mod layouts {
    //! Answers about one layout or two: offsets, pictures, padding, other notations, the layout between two buffers.

    pub(super) mod draw;
    pub(super) mod index;
    pub(super) mod infer;
    #[cfg(feature = "relayout")]
    pub(super) mod moved;
    pub(super) mod padding;
    pub(super) mod show;
    pub(super) mod translate;
}
#[cfg(feature = "xla")]
mod module;
mod question;
mod shards;
pub mod words;

pub use crate::comparison::{Comparison, compare};
pub use answer::Answer;
#[cfg(feature = "banks")]
pub use banks::BankConflicts;
pub use catalogue::{Example, Formats, Functions, Notations};
pub use eval::Line;
pub use explain::{Explanation, TabledExplanation};
#[cfg(feature = "files")]
pub use files::{
    convert::{Assembled, Converted, Printed, Recorded, SameData, Verified},
    info::Info,
    recipe::{Guesses, RecipeFit, RecipeShown, Recipes},
};
#[cfg(feature = "relayout")]
pub use layouts::moved::Moved;
pub use layouts::{
    draw::Drawn,
    index::{Contents, MOST_NAMED, Offset, Sharing},
    infer::{Inferred, Known},
    padding::{Advice, Cause},
    show::{Distribution, Look, Shown, TextLimits, title},
    translate::{Parsed, Recognition, Translation},
};
#[cfg(feature = "xla")]
pub use module::{LISTED, ModuleInfo};
pub use question::{Fields, Question};
pub use shards::{ShardBytes, Shards, ShardsExplanation, ShardsLine, ShardsTranslation};
