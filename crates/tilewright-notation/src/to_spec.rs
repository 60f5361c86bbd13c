//! A layout as one SPEC that reads back as just this layout.

use tilewright_core::{Fill, Pattern};

use crate::{
    Named, Spec, dialect,
    dtype::{in_order, ordered_dims, stored_order},
};

impl Named {
    /// One concrete SPEC with dims, dtype, layout, capacity, element width and fill: parsed and
    /// resolved, it gives the same layout. It keeps the name where the name still describes the layout, to
    /// everybody: not that of a format that a user added.
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
        if let Some(words) = self.stored_as() {
            return format!("{} as {words}", self.clone().without_words().to_spec());
        }
        let said = self.unordered();
        let Some(order) = self.byte_order() else { return said };
        let order = stored_order(order, self.element_bits());
        let shape = self.shape(self.explicit_bits(), self.fill());
        // A name that gives the element type elsewhere cannot hold the order; unknown elements have none.
        let shaped = || in_order(&self.plain(&shape), order);
        in_order(&said, order).or_else(shaped).unwrap_or(said)
    }

    /// The SPEC without the order of bytes.
    fn unordered(&self) -> String {
        let shape = self.shape(self.explicit_bits(), self.fill());
        // The name may give width and fill itself.
        let short = self.shape(None, Fill::Unspecified);
        let written = self.name();
        let name = &ordered_dims(written).map_or(written.to_owned(), |marked| marked.plain);
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

    /// The SPEC without the name: modes, or the pattern where these are stored under other extents.
    fn plain(&self, shape: &str) -> String {
        let modes = self.modes(shape);
        if !self.says_storage() || self.canonical(&modes).is_some() {
            return modes;
        }
        let pattern = Pattern::of(self.layout()).ok();
        let text = pattern.map(|pattern| format!("{shape} {}", dialect::spell_pattern(&pattern)));
        text.and_then(|text| self.canonical(&text)).unwrap_or(modes)
    }

    /// CuTe text after the shape where one is needed, with its prefix where a notation that a user added reads it
    /// too.
    fn modes(&self, shape: &str) -> String {
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
        let stored = !self.says_storage() || again.storage_shape() == self.storage_shape();
        let same = stored && again.layout() == self.layout() && facts(&again) == facts(self);
        same.then(|| spec.to_string())
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::{ByteOrder, Dtype};

    use super::*;

    fn resolved(text: &str) -> Option<Named> {
        Spec::parse(text).ok()?.resolve(None, None).ok()
    }

    /// Of every type in every width, the SPEC with an order of bytes is the same array; where its elements are known and
    /// no blocks, it keeps the order.
    #[test]
    fn an_order_of_bytes_loses_nothing() {
        let (mut wide, mut narrow) = (0, 0);
        for dtype in Dtype::all() {
            let layouts =
                [" col-major", " zN[C0=4]", " (6,64):(1,6)", " (8,64):(1,8) valid (6,64)"];
            let bits = ["", "E(4)", "E(8)", "E(16)", "E(32)", "E(64)"];
            for text in layouts
                .iter()
                .flat_map(|layout| bits.map(|bits| format!("{dtype}[6,64]{bits}{layout}")))
            {
                let Some(plain) = resolved(&text) else { continue };
                for order in [ByteOrder::Little, ByteOrder::Big] {
                    let named = plain.clone().with_byte_order(Some(order));
                    let said = named.to_spec();
                    let again = resolved(&said).unwrap_or_else(|| panic!("{text}: {said}"));
                    let facts = |it: &Named| {
                        (it.layout().clone(), it.dtype(), it.element_bits(), it.fill())
                    };
                    assert_eq!(facts(&again), facts(&named), "{text}: {said}");
                    let has = dtype.block().is_none();
                    let order = stored_order(order, named.element_bits());
                    assert_eq!(again.byte_order(), has.then_some(order), "{text}: {said}");
                    assert_eq!(again.to_spec(), said);
                    if named.element_bits() > Some(8) { wide += 1 } else { narrow += 1 }
                }
            }
        }
        assert!(wide > 300 && narrow > 100, "{wide} {narrow}");
    }

    #[test]
    fn a_layout_of_no_known_elements_has_no_order_of_bytes() {
        for text in ["(2,3):(1,2)", "[2,3] col-major", "(4,3):(1,4) valid (2,3)"] {
            let plain = resolved(text).unwrap();
            let big = plain.clone().with_byte_order(Some(ByteOrder::Big));
            assert_eq!(big.to_spec(), plain.to_spec());
        }
    }
}
