//! Proofs about the kernels, as tests: README.md says what is proven, what is assumed, and how to
//! repeat it.
//!
//! [`backend`] is a backend whose lanes stand for all values that a number can have. [`values`] knows the bounds of
//! these values, and [`forms`] what they are modulo q. The other files run the kernels on this backend.

mod backend;
mod bounds;
mod coverage;
mod equivalence;
mod exhaustive;
mod findings;
mod forms;
mod inputs;
mod keccak;
mod ml_dsa;
mod ml_kem;
mod sha2;
mod taint;
mod terms;
mod traces;
mod transforms;
mod values;
mod words;
