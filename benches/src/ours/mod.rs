//! Compares our code with itself: many operations in one call or one by one, and few or many items to
//! look through. Also measures the permutation that takes most of the time.
//!
//! Uses [`timing`](crate::timing), the inputs of [`schemes`](crate::schemes), and the certificates
//! of [`tls`](crate::tls).

pub mod batches;
pub mod growth;
pub mod keccak;
