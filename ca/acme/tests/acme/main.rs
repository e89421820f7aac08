//! The server as its clients see it.

mod flows;
mod kit;
mod wrong;
