//! Our own code beside itself: many operations in one call or one by one, few or many things to
//! look through, and the permutation that most of the time goes to.
//!
//! Uses [`timing`](crate::timing), the inputs of [`schemes`](crate::schemes), and the certificates
//! of [`tls`](crate::tls).

pub mod batches;
pub mod growth;
pub mod keccak;
