//! Servers of others that commands use: their addresses on the command line, whose password is never part of these, and TLS to
//! them.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod connecting;
mod postgres;
mod tls;

pub(in crate::commands) use connecting::{decoded, or_variable, variable, waiting_time};
pub(in crate::commands) use postgres::DatabaseAddress;
pub(in crate::commands) use tls::{ClientFiles, to_server};
