//! How often operations are done, and how long they take, by the facade `metrics`.
//!
//! Labels are few: the verb, the algorithm, and the code of the outcome. The names of keys and principals are never among them.

#[cfg(feature = "metrics")]
mod recorded;

#[cfg(feature = "metrics")]
use self::recorded::Measured;
#[cfg(feature = "metrics")]
pub use self::recorded::{DURATION_BUCKETS, OPERATION_DURATION, OPERATIONS};

use super::error::StoreError;
use super::inner::Inner;
use crate::name::KeyName;
use crate::policy::Verb;

impl Inner {
    /// Does something with a key, and records how it went and how long it took, with the feature `metrics`.
    pub(super) fn measured<T>(
        &self,
        verb: Verb,
        name: &KeyName,
        operation: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.measured_with(verb, name, code, operation)
    }

    /// The same for an operation whose result has the code of another one in it.
    #[cfg_attr(
        not(feature = "metrics"),
        expect(unused_variables, reason = "nothing is recorded")
    )]
    pub(super) fn measured_with<T>(
        &self,
        verb: Verb,
        name: &KeyName,
        code: impl FnOnce(&Result<T, StoreError>) -> Option<&'static str>,
        operation: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        #[cfg(feature = "metrics")]
        let measured = Measured::begin(verb);
        let result = operation();
        #[cfg(feature = "metrics")]
        measured.end(self, name, code(&result));
        result
    }

    /// Does the same with several keys at once, and records how it went with each, and its share of the time.
    #[cfg_attr(
        not(feature = "metrics"),
        expect(unused_variables, reason = "nothing is recorded")
    )]
    pub(super) fn measured_together<'a, T>(
        &self,
        verb: Verb,
        names: impl Iterator<Item = &'a KeyName>,
        code: impl Fn(&Result<T, StoreError>) -> Option<&'static str>,
        operation: impl FnOnce() -> Vec<Result<T, StoreError>>,
    ) -> Vec<Result<T, StoreError>> {
        #[cfg(feature = "metrics")]
        let measured = Measured::begin(verb);
        let results = operation();
        #[cfg(feature = "metrics")]
        measured.end_together(self, names.zip(results.iter().map(code)));
        results
    }
}

/// The code of a result that is no success.
pub(super) fn code<T>(result: &Result<T, StoreError>) -> Option<&'static str> {
    result.as_ref().err().map(StoreError::code)
}
