//! What tests of every crate use: a dev-dependency alone, which has no dependencies itself.
//!
//! * [`at_once`] shows that hostile costs are refused before any work;
//! * [`skipped`] is how a test says that it does not run;
//! * [`spent`] is the time that a test has computed.
//!
//! Kits that have dependencies are packages of their own in this folder, so that the tests of a crate compile no kit
//! that they do not use, and CI runs them again only after a change of one that they use.
#![forbid(unsafe_code)]

pub mod at_once;
pub mod skipped;
pub mod spent;
