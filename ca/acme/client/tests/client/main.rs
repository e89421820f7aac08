//! Servers that keep themselves renewed, with CAs of this project: one as `pqtls ca serve --acme` has it, and one that does what
//! tests want.

extern crate alloc;

mod kit;
mod own_port;
mod wilful;
mod with_wilful;
