//! Implementations that are programs of their own, which take the time of their operations themselves.

use crate::timing::Passes;

/// The inputs of one operation, without its key, in the order in which the scheme's trait has them.
pub(crate) type Fields<'a> = Vec<&'a [u8]>;

/// A program that performs a parameter set's operations.
pub trait Elsewhere {
    /// Passes of an operation, by the last part of its tables' names, over all items.
    fn passes<'a>(&self, operation: &str, key: &[u8], items: &[Vec<&[u8]>]) -> Passes<'a>;
}
