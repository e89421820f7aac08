//! The proofs that run on the backends of a machine, for other targets than the one where all proofs run.

mod equivalence;
mod exhaustive;
