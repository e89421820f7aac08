//! The server as its clients see it, and the client of this crate among them.

extern crate alloc;

mod bounds;
mod client;
mod flows;
mod histories;
mod kit;
mod limits;
mod meanwhile;
mod once;
mod unread;
mod wrong;
