//! Whether the time that an operation takes tells secrets apart, by measuring it: the test of
//! dudect (O. Reparaz, J. Balasch, I. Verbauwhede, "Dude, is my code constant time?", 2017).
//!
//! An operation runs on inputs of two classes, in a random order, and Welch's t-test says whether the times
//! of one class differ from those of the other. [`subjects`] has the operations, [`measure`] runs
//! them, and [`statistics`] compares.
#![forbid(unsafe_code)]

pub mod measure;
pub mod statistics;
pub mod subjects;
