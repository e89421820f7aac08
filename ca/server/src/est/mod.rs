//! EST at a CA's doors (RFC 7030, with the updates of RFC 8951 and RFC 9908): devices get certificates, and renew them, by
//! the CA's policy, its keys and its ledger.
//!
//! This room uses `clock`, `doors`, `http` and `keys`.

mod attempts;
mod clients;
mod csr;
mod door;
mod enrolling;
mod identity;
mod password;
mod path;
mod refusal;
mod requests;
mod users;

pub use self::clients::client_certificates;
pub use self::door::EstDoor;
pub use self::users::{EstUsers, EstUsersError};
