//! A parameter set of a scheme: its implementations, checked against each other and timed on the same
//! inputs.

use crate::timing::{Passes, Row};

/// A timed operation of a scheme.
pub trait Operation: Copy + 'static {
    /// The inputs for all implementations of a set, and the expected results.
    type Inputs;

    /// All operations.
    const ALL: &'static [Self];

    /// The last part of its tables' names, such as `key-generation`.
    fn name(self) -> &'static str;

    /// The name of the operation's table for a parameter set.
    fn table(self, set: &str) -> String {
        format!("{set}/{}", self.name())
    }
}

/// The operations of a scheme, with the last parts of their tables' names.
macro_rules! operations {
    ($($(#[$doc:meta])+ $operation:ident = $name:literal,)+) => {
        /// What is timed.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Operation {
            $($(#[$doc])+ $operation,)+
        }

        impl $crate::schemes::set::Operation for Operation {
            type Inputs = Inputs;

            const ALL: &'static [Self] = &[$(Self::$operation),+];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$operation => $name,)+
                }
            }
        }
    };
}
pub(crate) use operations;

/// One parameter set: its implementations and their inputs.
pub struct Set<O: Operation> {
    /// The standard's name, such as `ML-KEM-768`.
    pub name: &'static str,
    inputs: O::Inputs,
    rows: Rows<O>,
}

/// Implementations of one parameter set, in the order of their rows.
pub(crate) type Rows<O> = Vec<Box<dyn Implementation<O>>>;

/// An implementation without the types of its scheme's trait, so that one list can hold many.
pub(crate) trait Implementation<O: Operation> {
    /// The name of the row.
    fn name(&self) -> String;

    /// Panics if the implementation disagrees with the inputs.
    fn check(&self, inputs: &O::Inputs);

    /// Passes of `operation` over all inputs, if the implementation has it.
    fn passes<'a>(&'a self, operation: O, inputs: &'a O::Inputs) -> Option<Passes<'a>>;
}

impl<O: Operation> Set<O> {
    pub(crate) fn new(name: &'static str, inputs: O::Inputs, rows: Rows<O>) -> Self {
        Self { name, inputs, rows }
    }

    /// Checks every implementation with the inputs, which pq-core made.
    ///
    /// # Panics
    ///
    /// If one disagrees with pq-core.
    pub fn check(&self) {
        for row in &self.rows {
            row.check(&self.inputs);
        }
    }

    /// The rows of an operation's table: the implementations that have it.
    pub fn rows(&self, operation: O) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().filter_map(move |row| {
            Some(Row {
                group: operation.table(self.name),
                name: row.name(),
                passes: row.passes(operation, &self.inputs)?,
            })
        })
    }
}
