//! Sessions that a server resumes: tickets, their keys, and what stays in memory.
//!
//! It uses [`base`](crate::base) and [`error`](crate::error).

mod clock;
mod stored_sessions;
mod ticketer;
mod tickets;

pub use tickets::{TicketOptions, Tickets};
