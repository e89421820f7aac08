//! What the server or the connection answered instead, and what follows from it.

use core::error::Error as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why a request failed. Nothing was changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The connection or the server went away, or is busy: trying again helps, on another connection.
    Lost(String),
    /// Trying again doesn't help.
    Permanent(Permanent, String),
    /// There are more of these than the database takes.
    Limit(&'static str),
}

/// What kind of failure doesn't go away by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Permanent {
    /// It can't be opened, such as for lack of rights.
    NotOpened,
    /// It has no space left, or may not be written for another reason.
    Full,
    /// What it has isn't what was written.
    Damaged,
}

impl Failure {
    /// What the database has isn't what was written.
    pub fn damaged(reason: impl Into<String>) -> Self {
        Self::Permanent(Permanent::Damaged, reason.into())
    }
}

impl From<Error> for Failure {
    /// Sorts errors by the server's code. What has no code is an error of the connection, or was found out here.
    fn from(error: Error) -> Self {
        let kind = match error.code() {
            Some(code) => class(code),
            None => unanswered(&error),
        };
        match kind {
            Some(kind) => Self::Permanent(kind, reason(&error)),
            None => Self::Lost(reason(&error)),
        }
    }
}

/// What kind of failure a code is, or `None` if trying again helps.
fn class(code: &SqlState) -> Option<Permanent> {
    match code.code() {
        // another process holds a lock for long, a statement took too long, serialization, deadlock, cancelled
        "55P03" | "57014" | "40001" | "40P01" => return None,
        // too many connections
        "53300" => return None,
        // no such table: there was one at first
        "42P01" | "3F000" => return Some(Permanent::Damaged),
        // the server is read-only
        "25006" => return Some(Permanent::Full),
        _ => {}
    }
    match code.code().get(..2) {
        // the connection, also as PgBouncer reports it; the server is stopped or starts; it is cancelled while idle
        Some("08" | "57" | "25") => None,
        // no space, no memory; limits
        Some("53" | "54" | "58") => Some(Permanent::Full),
        Some("XX") => Some(Permanent::Damaged),
        _ => Some(Permanent::NotOpened),
    }
}

/// What kind of failure an error is that the server has not sent, or `None` if trying again helps.
fn unanswered(error: &Error) -> Option<Permanent> {
    let source = error.source()?;
    match source.downcast_ref::<io::Error>() {
        // TLS: neither side accepts what the other sent, such as its certificate
        Some(error) if error.kind() == io::ErrorKind::InvalidData => Some(Permanent::NotOpened),
        Some(_) => None,
        // the configuration: no password, or no TLS, that the server asks for
        None => Some(Permanent::NotOpened),
    }
}

/// The error in words. The server's message is taken without its details, which may have values of rows.
pub(crate) fn reason(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
