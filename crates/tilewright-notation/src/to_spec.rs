//! A layout as one SPEC that reads back as just this layout.

use tilewright_core::Fill;

use crate::{
    Named, Spec, dialect,
    dtype::{in_order, ordered_dims},
};

impl Named {
    /// One concrete SPEC with dims, dtype, layout, capacity, element width and fill: parsed and
    /// resolved, it gives the same layout. It keeps the name where the name still says the layout, to
    /// everybody: not that of a format that a user [added](crate::add_formats).
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// let zn = Spec::parse("zN").unwrap();
    /// let named = zn.resolve(Some(&[528, 200]), dtype("bf16").ok()).unwrap();
    /// assert_eq!(named.to_spec(), "bf16[528,200] zN");
    /// let again = Spec::parse("bf16[528,200] zN").unwrap().resolve(None, None).unwrap();
    /// assert_eq!(again.layout(), named.layout());
    /// ```
    pub fn to_spec(&self) -> String {
        let Some(order) = self.byte_order() else { return self.unordered() };
        let plain = self.clone().with_byte_order(None);
        let shape = plain.shape(plain.explicit_bits(), plain.fill());
        let said = in_order(&plain.unordered(), order);
        // A name that says the element type elsewhere has no place for the order.
        said.or_else(|| in_order(&plain.plain(&shape), order)).unwrap_or(shape)
    }

    /// The SPEC of a layout that says no order of bytes.
    fn unordered(&self) -> String {
        let shape = self.shape(self.explicit_bits(), self.fill());
        // The name may say width and fill itself.
        let short = self.shape(None, Fill::Unspecified);
        let written = self.name();
        let name = &ordered_dims(written).map_or(written.to_owned(), |(_, plain)| plain);
        let candidates = [
            name.clone(),
            format!("{short}{name}"),
            format!("{short} {name}"),
            format!("{shape} {name}"),
        ];
        candidates
            .into_iter()
            .find_map(|text| self.canonical(&text))
            .unwrap_or_else(|| self.plain(&shape))
    }

    /// The SPEC without the name: CuTe text behind the shape where one is needed, with its prefix where a notation
    /// that a user added reads it too.
    fn plain(&self, shape: &str) -> String {
        let text = dialect::spell_cute(self.layout());
        let shape = if self.is_bare() { String::new() } else { format!("{shape} ") };
        let plain = format!("{shape}{text}");
        match Spec::parse(&plain) {
            Err(error) if error.is_ambiguous() => format!("{shape}cute:{text}"),
            _ => plain,
        }
    }

    /// `bf16[528,200]E(8)fill(0)`.
    fn shape(&self, bits: Option<u32>, fill: Fill) -> String {
        dialect::spell_shape(self.dtype(), self.layout().extents(), bits, fill)
    }

    /// The canonical form of a text, if it is a concrete SPEC of just this layout.
    fn canonical(&self, text: &str) -> Option<String> {
        let spec = Spec::parse(text).ok().filter(Spec::is_known_everywhere)?;
        let again = spec.resolve(None, None).ok()?;
        let facts =
            |named: &Named| (named.dtype(), named.explicit_bits(), named.fill(), named.is_bare());
        let same = again.layout() == self.layout() && facts(&again) == facts(self);
        same.then(|| spec.to_string())
    }
}
