//! Functions as text, with a file for each family of languages.

mod infix;
mod mlir;

use std::collections::HashSet;

use crate::{Error, Function, Language, Style, Width};

impl Function {
    /// Returns its text in a language: definitions that compile without additions.
    ///
    /// # Errors
    /// `usage` for a name that the language reserves.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_emit::{Digits, Language, Style};
    /// let rows = Digits::of(&TensorLayout::row_major(&[3, 5]).unwrap())?.offset()?;
    /// let style = Style { name: Some("int".into()), ..Style::default() };
    /// assert!(rows.print(Language::C, &style).unwrap_err().to_string().contains("a word of C"));
    /// assert!(rows.print(Language::Python, &style).is_ok());
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn print(&self, language: Language, style: &Style) -> Result<String, Error> {
        let name = style.name.as_deref().unwrap_or(self.name);
        for word in self.arguments.iter().map(String::as_str).chain([name]) {
            language.check(word)?;
        }
        if let (Width::Bits32, Some(high)) = (style.bits, self.beyond_32_bits()) {
            let said = "values reach";
            return Err(Error::usage(format!(
                "{said} {high}, beyond integers of 32 bits: take 64"
            )));
        }
        let mut seen = HashSet::from([name]);
        if let Some(twice) = self.arguments.iter().find(|own| !seen.insert(own)) {
            let own = "the coordinates are i0, i1 …, an offset is o";
            return Err(Error::usage(format!("name {twice:?}: it has two meanings; {own}")));
        }
        Ok(print(self, name, language, style.bits))
    }
}

/// Returns the text of a function with a name.
fn print(function: &Function, name: &str, language: Language, bits: Width) -> String {
    match language {
        Language::Mlir => mlir::print(function, name, bits),
        _ => infix::print(function, name, language, bits),
    }
}
