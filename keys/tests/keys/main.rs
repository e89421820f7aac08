//! Tests of the crate through its public interface.

mod keys;
#[cfg(feature = "encryption")]
mod protection;
#[expect(dead_code, reason = "the tests of pq-x509 use the slow ones, too")]
mod quick;
mod signatures;
