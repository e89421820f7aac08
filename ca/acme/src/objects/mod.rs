//! ACME's objects (RFC 8555, section 7.1) and the contents of requests, as JSON: what a server writes and a client
//! reads, and the reverse. Readers ignore members that they don't know.
//!
//! It uses [`identifier`](crate::identifier) and [`problem`](crate::problem).

mod account;
mod authorization;
mod challenge;
mod directory;
mod order;
mod renewal;
mod revocation;
mod time;

pub use account::{Account, AccountStatus, AccountUpdate, KeyChange, NewAccount, OrdersList};
pub use authorization::{Authorization, AuthorizationStatus, Deactivation};
pub use challenge::{Challenge, ChallengeKind, ChallengeStatus};
pub use directory::{Directory, Meta};
pub use order::{Finalization, NewOrder, Order, OrderStatus};
pub use renewal::{CertificateId, RenewalInfo, Window};
pub use revocation::{Revocation, RevocationReason};
pub use time::Time;
