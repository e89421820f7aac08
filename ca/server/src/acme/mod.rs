//! ACME at a CA's doors: [`pq_acme`] on the CA's policy, its keys and its ledger, with challenges that are asked over the
//! network.
//!
//! This room uses `clock`, `doors`, `keys` and [`validation`](crate::validation).

mod door;
mod external_accounts;
mod issuing;
mod limits;
mod policy;
mod refusals;

#[cfg(test)]
mod tests;

pub use self::door::AcmeDoor;
pub use self::external_accounts::{ExternalAccounts, ExternalAccountsError};
