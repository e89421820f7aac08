//! Sessions that a server resumes.
//!
//! It may use [`base`](crate::base), and the crate's error.

mod clock;
mod stored_sessions;
mod ticketer;
mod tickets;

pub use tickets::{TicketOptions, Tickets};
