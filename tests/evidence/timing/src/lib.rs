//! Measures whether the time of an operation tells secrets apart, with the test of
//! dudect (O. Reparaz, J. Balasch, I. Verbauwhede, "Dude, is my code constant time?", 2017).
//!
//! An operation runs on inputs of two classes, in a random order, and Welch's t-test says whether the times
//! of the two classes differ. [`subjects`] has the operations, [`measure`] runs
//! them, and [`statistics`] compares the times.
#![forbid(unsafe_code)]

pub mod measure;
pub mod statistics;
pub mod subjects;
