//! Resolves SPECs that may have index tables; implements [`StoredLayout`] for SPECs, since any SPEC can follow a table.

use tilewright_core::Dtype;
use tilewright_table::TABLES;

use crate::{ArrayLayout, Error, Lists, Named, Spec, array_layout::StoredLayout, reading::Given};

impl StoredLayout for Spec {
    fn of_dims(&self, dims: &[u64], dtype: Option<Dtype>) -> Result<Named, Error> {
        self.resolve(Some(dims), dtype)
    }

    fn of_array(&self, array: &str, dtype: Option<Dtype>) -> Result<Named, Error> {
        Spec::parse(&format!("{array} {self}"))?.resolve(None, dtype)
    }

    fn fits(&self, rank: usize) -> bool {
        Spec::fits(self, rank)
    }

    fn texts(&self) -> (&str, &str) {
        (&self.text, &self.plain)
    }

    fn everywhere(&self) -> bool {
        self.is_known_everywhere()
    }
}

impl Spec {
    /// Returns the layout of the array, which may have index tables, with what is not in the text taken from `dims` and `dtype`.
    /// Tables that are digits become shape and strides. `lists` resolves the names of lists in files.
    ///
    /// # Errors
    /// As [`Spec::resolve`]; and for a list that is not a table, at the table.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("f16[4,8] table(0; 0,2,3,1) row-major").unwrap();
    /// assert!(spec.resolve(None, None).unwrap_err().is_unsupported());
    /// assert!(spec.array_layout(None, None, &()).unwrap().has_tables());
    /// // 4 rows, of which the middle two change places, are digits.
    /// let folded = Spec::parse("f16[4,8] table(0; 0,2,1,3) row-major").unwrap();
    /// assert_eq!(folded.resolve(None, None).unwrap().layout().layout().to_string(), "((2,2),8):((16,8),1)");
    ///
    /// let error = Spec::parse("f16[4,8] table(0; 0,2,2,1) row-major").unwrap_err();
    /// assert!(error.to_string().starts_with("index 2 of the array is stored at 1 and at 2"));
    /// assert_eq!(error.span(), Some((9, 26)));
    /// ```
    pub fn array_layout(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
        lists: &dyn Lists,
    ) -> Result<ArrayLayout, Error> {
        if !TABLES {
            return self.resolve(dims, dtype).map(|named| ArrayLayout::of(&named));
        }
        let Some(written) = &self.tables else {
            return self.resolve(dims, dtype).map(|named| ArrayLayout::of(&named));
        };
        let array = written.array(&Given::new(dims, dtype), lists)?;
        match written.folded(array) {
            Ok(resolved) => Ok(ArrayLayout::of(&Named::of(self.plain.to_string(), resolved, None))),
            Err(array) => Ok(array),
        }
    }

    /// The dims of an array that is given as words of this type and shape, where the text names a format with an index
    /// table whose dims follow from them.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::Spec;
    /// let dims = |text| Spec::parse(text).unwrap().dims_of_tabled_words(Dtype::S32, &[6, 5]);
    /// assert_eq!((dims("GPTQ_3BIT"), dims("AWQ")), (Some(vec![64, 5, 3]), None));
    /// ```
    pub fn dims_of_tabled_words(&self, word: Dtype, shape: &[u64]) -> Option<Vec<u64>> {
        let tables = self.tables.as_ref().filter(|_| TABLES && word.packed_bits() == Some(32));
        tables?.dims_of_words(shape)
    }

    /// The number of entries of the lists in the text, which bounds the memory for resolving it.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("table(0; 0..4096,-) zN").unwrap();
    /// assert_eq!(spec.table_entries(), 4097);
    /// assert_eq!(Spec::parse("zN").unwrap().table_entries(), 0);
    /// ```
    pub fn table_entries(&self) -> u64 {
        match &self.tables {
            Some(written) if TABLES => written.entries(),
            _ => 0,
        }
    }

    /// Returns whether the text contains index tables.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// assert!(Spec::parse("table(0; tensor g_idx) MARLIN").unwrap().has_tables());
    /// assert!(!Spec::parse("MARLIN").unwrap().has_tables());
    /// ```
    pub fn has_tables(&self) -> bool {
        TABLES && self.tables.is_some()
    }
}
