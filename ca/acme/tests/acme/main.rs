//! The server as its clients see it.

extern crate alloc;

mod flows;
mod histories;
mod kit;
mod wrong;
