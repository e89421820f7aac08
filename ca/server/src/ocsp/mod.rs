//! OCSP over HTTP (RFC 6960 appendix A, RFC 9919): requests to answers, of which those that are asked for often are kept.

// This room uses `clock` and `http`.

mod answers;
mod door;
mod kept;
mod path;

pub use self::answers::{Answers, NoAnswer};
pub use self::door::{OcspDoor, OcspSettings};
