//! The audit log: who did what when, and heads of the log, signed by the store.
//!
//! Each entry is hashed with the one before, so anybody who has the log sees by a kept head whether it leads there. It also
//! has a MAC under a key of the store, so that nobody else adds one. What was cut off the end, only a kept head shows.

// This room uses `name`, `policy`, `storage`, `sealing` and `encoding`.

mod chain;
mod deed;
mod entry;
mod head;

pub use self::chain::{BrokenChain, Chain};
pub(crate) use self::deed::Act;
pub use self::deed::Deed;
pub(crate) use self::entry::Event;
pub use self::entry::{AuditEntry, Outcome};
pub(crate) use self::head::sign;
pub use self::head::{InvalidHead, SignedHead};
