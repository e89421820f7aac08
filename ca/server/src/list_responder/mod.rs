//! A responder for a CA that has none: it answers from the CA's revocation list, in a file or at a URL.

// This room uses `lists` and `ocsp`.

mod fetching;
mod handler;
mod responder;
mod source;

pub use self::handler::OcspHandler;
pub use self::responder::{ListResponder, UnfitList};
pub use self::source::{InvalidListSource, ListSource, keep_list};
