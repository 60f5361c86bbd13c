//! Questions and answers: everything that the program, the page in the browser, Python and the tests ask, in one place.
//!
//! A [`Question`] has typed fields, and each kind of question has a file here with the type of its answer. An
//! [`Answer`] has public fields; it prints as the text that the program shows, and [`Answer::to_json`] is the JSON that
//! `docs/reference/json.md` lists. A caller only spells: it reads arguments, asks, and prints.
//!
//! | question | answer |
//! |---|---|
//! | what a layout means, in words and numbers | [`Explanation`] |
//! | a layout read: its whole text and what is known of the array | [`Parsed`] |
//! | where an element lies; what lies at an offset | [`Offset`], [`Contents`] |
//! | whether two layouts are one map | [`Comparison`] |
//! | a layout in another notation | [`Translation`] |
//! | the names a layout has in the catalogue | [`Recognition`] |
//! | the layout between two buffers | [`Inferred`] |
//! | who holds what of an array spread over threads | [`Distribution`] |
//! | the bank conflicts of an array in shared memory, and the least change that removes them | [`BankConflicts`] |
//! | who holds what of an array in shards; what that means; the same in another notation | [`Shards`], [`ShardsLine`], [`ShardsExplanation`], [`ShardBytes`], [`ShardsTranslation`] |
//! | the bytes of an array, moved | [`Moved`] |
//! | the value of an expression, of one line of many | [`Value`](crate::eval::Value), [`Line`] |
//! | named formats, notations, functions | [`Formats`], [`Example`], [`Notations`], [`Functions`] |
//! | a layout, or two, as a grid or as memory; as a picture | [`Shown`], [`Drawn`] |
//! | what is in a file | [`Info`], [`ModuleInfo`] |
//! | what a recipe makes of a file, and did | [`Assembled`] |
//! | what a conversion does and did; whether a file is what it should be, or what it records | [`Converted`], [`Verified`], [`Recorded`] |
//! | a recipe as a table; whether it fits a checkpoint; the recipes there are, and those that fit | [`RecipeShown`], [`RecipeFit`], [`Recipes`], [`Guesses`] |
//! | fingerprints of the data in files; whether two files hold the same arrays | [`Printed`], [`SameData`] |
//!
//! What a layout means does not depend on how it was written: two layouts that are equal as values have equal answers,
//! but for the name.
//!
//! ```
//! use tilewright::{ask::{Answer, Question}, input::Array};
//! let of = Array::default().tabled("spec", "f32[3,5]{1,0:T(2,2)}", &())?;
//! let answer = Question::Offset { of, coord: vec![2, 3] }.answer()?;
//! assert_eq!(answer.to_string(), "17 (byte 68)");
//! assert_eq!(answer.to_json(), serde_json::json!({ "offset": 17, "byte": 68, "bit": 0 }));
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
// An answer that is left out has no page: its links lead to the features.
#![cfg_attr(not(feature = "banks"), doc = "[`BankConflicts`]: crate#features")]
#![cfg_attr(not(feature = "relayout"), doc = "[`Moved`]: crate#features")]
#![cfg_attr(not(feature = "draw"), doc = "[`Drawn`]: crate#features")]
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

#[cfg(feature = "files")]
mod assembled;
#[cfg(feature = "banks")]
mod banks;
mod catalogue;
#[cfg(feature = "files")]
mod convert;
mod distribution;
#[cfg(feature = "draw")]
mod draw;
mod eval;
pub mod explain;
mod fields;
#[cfg(feature = "files")]
mod fingerprint;
#[cfg(feature = "files")]
mod guesses;
mod index;
mod infer;
#[cfg(feature = "files")]
mod info;
#[cfg(feature = "xla")]
mod module;
#[cfg(feature = "relayout")]
mod moved;
mod padding;
mod parse;
mod question;
#[cfg(feature = "files")]
mod recipe;
mod recognise;
pub mod same;
#[cfg(feature = "files")]
mod same_data;
mod shards;
mod shards_explanation;
mod show;
mod tabled;
mod translate;
#[cfg(feature = "files")]
mod verify;
pub mod words;

use std::fmt;

use serde_json::Value;

#[cfg(feature = "files")]
pub use assembled::Assembled;
#[cfg(feature = "banks")]
pub use banks::BankConflicts;
pub use catalogue::{Example, Formats, Functions, Notations};
#[cfg(feature = "files")]
pub use convert::Converted;
pub use distribution::Distribution;
#[cfg(feature = "draw")]
pub use draw::Drawn;
pub use eval::Line;
pub use explain::Explanation;
pub use fields::Fields;
#[cfg(feature = "files")]
pub use fingerprint::Printed;
#[cfg(feature = "files")]
pub use guesses::Guesses;
pub use index::{Contents, MOST_NAMED, Offset, Sharing};
pub use infer::{Inferred, Known};
#[cfg(feature = "files")]
pub use info::Info;
#[cfg(feature = "xla")]
pub use module::{LISTED, ModuleInfo};
#[cfg(feature = "relayout")]
pub use moved::Moved;
pub use padding::{Advice, Cause};
pub use parse::Parsed;
pub use question::Question;
#[cfg(feature = "files")]
pub use recipe::{RecipeFit, RecipeShown, Recipes};
pub use recognise::Recognition;
pub use same::{Comparison, compare, compare_tabled};
#[cfg(feature = "files")]
pub use same_data::SameData;
pub use shards::{Shards, ShardsLine, ShardsTranslation};
pub use shards_explanation::{ShardBytes, ShardsExplanation};
pub use show::{Look, Shown, title};
pub use tabled::TabledExplanation;
pub use translate::Translation;
#[cfg(feature = "files")]
pub use verify::{Recorded, Verified};

/// The answer of a question: text for people, JSON for machines.
///
/// An answer of one line prints without a line end, one of several lines with all of theirs.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, compare}};
/// let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
/// let answer = compare(&named("f32[2,3]{0,1}"), &named("(2,3):(1,2)"))?;
/// assert!(!answer.is_no() && answer.to_json()["same"] == true);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub trait Answer: fmt::Display {
    /// The fields that `docs/reference/json.md` lists.
    fn to_json(&self) -> Value;

    /// The text in lines of at most `width` characters. What does not fit is left out and said; an answer that says
    /// nothing of its own is the same everywhere.
    fn within(&self, _width: usize) -> String {
        self.to_string()
    }

    /// Whether the honest answer is no: layouts differ, nothing was found.
    fn is_no(&self) -> bool {
        false
    }

    /// Sentences that are no part of the answer and worth reading beside it.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sentences that a reader of the answer must not miss, as what was not checked.
    fn cautions(&self) -> Vec<String> {
        Vec::new()
    }
}
