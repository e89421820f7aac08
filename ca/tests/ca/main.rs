//! Tests of CAs through the crate's public interface.
//!
//! One program, so that others run while these wait for a disk, and so that it is linked once.

extern crate alloc;

mod authority;
mod begun;
mod forwarded;
mod issuing;
#[cfg(unix)]
mod ledger_survives_full_disk;
#[cfg(unix)]
mod ledger_survives_kill;
mod names;
mod policy;
mod requests;
mod resumed;
mod rollover;
mod subordinate;
