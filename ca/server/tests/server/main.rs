//! The doors of a CA over real sockets.

extern crate alloc;

mod asking;
mod certificates;
mod est;
mod list_responder;
mod lists;
mod made;
mod ocsp;
mod over_tls;
