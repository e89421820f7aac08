//! Which path leads where, over TLS and over plain HTTP.

// This room uses `clock`, `health`, `http`, `keys`, `lists`, `ocsp` and `page`.

mod ca;
mod handler;
mod issuing;
mod paths;
mod refusal;

pub use self::ca::PublishedCa;
pub use self::handler::{Doors, Mounted, Settings};
pub use self::issuing::Issuing;
pub(crate) use self::refusal::NoCertificate;
