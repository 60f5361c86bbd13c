//! The layouts of a job with their index tables.

use tilewright_notation::Tabled;

use crate::Job;

impl Job {
    /// What it is read in and what it is written in, each as one SPEC with its index tables.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let out = folder.path().join("zn.safetensors");
    /// # let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN").unwrap());
    /// # let conversion = Conversion::prepare(&input, &out, request.verify(true)).unwrap();
    /// let job = conversion.jobs().iter().find(|job| job.name().contains("k_proj")).unwrap();
    /// assert_eq!(job.specs().1, "bf16[50,200] zN");
    /// ```
    pub fn specs(&self) -> (String, String) {
        (self.from.spec(), self.to.spec())
    }

    /// The layouts it is read in and written in, with their index tables, where they have such.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open};
    /// # use tilewright_notation::Spec;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    /// # let input = open(path, &Reading::default()).unwrap();
    /// # let out = std::env::temp_dir().join("tilewright-not-written.safetensors");
    /// let request = Request::new().rule("mask.bool", Spec::parse("table(0; 4,1,0,2,3) row-major").unwrap());
    /// let conversion = Conversion::prepare(&input, &out, request).unwrap();
    /// let job = conversion.jobs().iter().find(|job| job.name() == "mask.bool").unwrap();
    /// assert!(job.tabled().0.is_none() && job.tabled().1.is_some());
    /// ```
    pub fn tabled(&self) -> (Option<&Tabled>, Option<&Tabled>) {
        (self.from.tables().map(|it| &it.tabled), self.to.tables().map(|it| &it.tabled))
    }
}
