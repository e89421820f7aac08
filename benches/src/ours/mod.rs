//! Compares our code with itself: many operations in one call or one by one, and few or many items to
//! look through, contents in two formats. Also measures the permutation that takes most of the time, and the hash function
//! of what is signed beside others'.
//!
//! Uses [`timing`](crate::timing), the inputs of [`schemes`](crate::schemes), and the certificates
//! of [`tls`](crate::tls).

pub mod batches;
pub mod documents;
pub mod growth;
pub mod keccak;
