//! Tests of the crate through its public interface.

// Classical and composite keys need graviola, which is for these architectures.
#[cfg(all(feature = "any", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod any;
mod batches;
mod keys;
#[cfg(feature = "encryption")]
mod protection;
#[expect(dead_code, reason = "the tests of pq-x509 use the slow ones, too")]
mod quick;
mod signatures;
