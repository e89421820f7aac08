//! The three standards: what an implementation of each must do, on which inputs, how implementations
//! are checked against each other, and what is timed.
//!
//! Uses [`timing`](crate::timing). The implementations are in [`peers`](crate::peers).

pub(crate) mod elsewhere;
pub(crate) mod inputs;
pub mod ml_dsa;
pub mod ml_kem;
pub mod set;
pub mod slh_dsa;
