//! A head that was kept, and that a ledger's events don't lead to.

use alloc::borrow::Cow;

/// The events don't lead to a head that was kept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "the ledger's events don't lead to the head that was kept, of event {kept}: {}; it is another ledger, an older copy, or \
     was changed; compare it with its backups, and find out who could write to it",
    why(*.kept, *.end)
)]
pub struct LostHead {
    /// The number of the event that the head is of.
    pub kept: u64,
    /// The number of the ledger's last event.
    pub end: u64,
}

fn why(kept: u64, end: u64) -> Cow<'static, str> {
    match end < kept {
        true => format!("they end with event {end}").into(),
        false => "that event is another one there".into(),
    }
}
