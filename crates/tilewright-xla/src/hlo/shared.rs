//! Shares equal shapes of a module: a large module has many instructions and few shapes. Used by both readers of modules.

use std::{collections::HashSet, sync::Arc};

use super::HloComputation;
use crate::Shape;

/// The shapes seen so far.
#[derive(Default)]
pub(super) struct Shapes(HashSet<Arc<Shape>>);

impl Shapes {
    /// Returns the shape, or an equal one seen before.
    pub(super) fn share(&mut self, shape: Shape) -> Arc<Shape> {
        if let Some(known) = self.0.get(&shape) {
            return Arc::clone(known);
        }
        let shape = Arc::new(shape);
        self.0.insert(Arc::clone(&shape));
        shape
    }
}

/// Shares the shapes of computations that are already read.
pub(super) fn share(computations: &mut [HloComputation]) {
    let mut shapes: HashSet<Arc<Shape>> = HashSet::new();
    for one in computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        let Some(shape) = &mut one.shape else { continue };
        match shapes.get(shape) {
            Some(known) => *shape = Arc::clone(known),
            None => {
                shapes.insert(Arc::clone(shape));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HloModule;

    #[test]
    fn equal_shapes_are_one() {
        let text = "HloModule m\nf {\n  x = f32[2] parameter(0)\n}\n\
            ENTRY e {\n  y = f32[2] parameter(0)\n  ROOT z = f32[2]{0} copy(y)\n}\n";
        let read = HloModule::parse(text).unwrap();
        let shape = |module: &HloModule, computation: usize, at: usize| {
            Arc::clone(module.computations[computation].instructions[at].shape.as_ref().unwrap())
        };
        assert!(Arc::ptr_eq(&shape(&read, 0, 0), &shape(&read, 1, 0)));
        // An absent layout differs from the default layout.
        assert_ne!(shape(&read, 1, 0), shape(&read, 1, 1));

        let mut copied = read.clone();
        for one in copied.computations.iter_mut().flat_map(|one| &mut one.instructions) {
            one.shape = one.shape.as_deref().cloned().map(Arc::new);
        }
        assert!(!Arc::ptr_eq(&shape(&copied, 0, 0), &shape(&copied, 1, 0)));
        share(&mut copied.computations);
        assert!(Arc::ptr_eq(&shape(&copied, 0, 0), &shape(&copied, 1, 0)));
        assert_eq!(copied, read);
    }
}
