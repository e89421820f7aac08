//! The server as its clients see it.

mod flows;
mod histories;
mod kit;
mod wrong;
