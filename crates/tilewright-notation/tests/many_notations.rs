//! More notations than are kept, added by several threads.
//!
//! Added notations stay for the whole process, so this is a program of its own.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use tilewright_notation::{Error, Notation, add_notation, notation, notations};

#[test]
fn threads_add_as_many_as_are_kept() {
    let before = notations().len();
    let added = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..4 {
            let added = &added;
            scope.spawn(move || {
                for i in 0..50 {
                    let name: &'static str = format!("n{thread}-{i}").leak();
                    let none = Notation::new(
                        name,
                        "nothing",
                        |text| Err(Error::parse((0, text.len()), "nothing")),
                        |_| Err(Error::unsupported("nothing")),
                    );
                    match add_notation(none) {
                        Ok(own) => {
                            assert_eq!((own.name(), notation(name).unwrap().name()), (name, name));
                            added.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => assert!(error.is_limit(), "{error}"),
                    }
                }
            });
        }
    });
    assert_eq!((added.into_inner(), notations().len()), (100, before + 100));
}
