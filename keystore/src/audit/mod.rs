//! The audit log: who did what when, each entry hashed with the one before, and heads of the log, signed by the store,
//! which show later that nothing was cut off.

// This room uses `name`, `policy`, `storage` and `encoding`.

mod chain;
mod entry;
mod head;

pub use self::chain::{BrokenChain, Chain};
pub(crate) use self::entry::Event;
pub use self::entry::{AuditEntry, Outcome};
pub(crate) use self::head::sign;
pub use self::head::{InvalidHead, SignedHead};
