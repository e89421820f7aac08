//! What packages share that keep their data in PostgreSQL, where several processes use it at once: where the database is
//! ([`PostgresOptions`]), connections that outlive its restarts ([`Database`]), and a thread that has them, for callers
//! that are not asynchronous ([`Thread`]).
//!
//! Nothing belongs to a session and no statement has a name, so a pooler between them, such as PgBouncer in transaction
//! mode, does no harm.
//!
//! ```
//! use pq_postgres::PostgresOptions;
//!
//! let options = PostgresOptions::new("postgresql://store@db.example/keys")?.schema("keys")?;
//! assert!(!options.is_local());
//! # Ok::<_, pq_postgres::InvalidPostgresOptions>(())
//! ```
#![forbid(unsafe_code)]

extern crate alloc;

mod connection;
mod database;
mod failure;
mod options;
mod passfile;
mod pool;
mod purpose;
mod thread;
mod transaction;

pub use self::database::Database;
pub use self::failure::{Failure, Permanent};
pub use self::options::{InvalidPostgresOptions, PostgresOptions};
pub use self::purpose::Purpose;
pub use self::thread::{Ended, Thread};
pub use self::transaction::{Changed, Decision, Mark};
// The types of values and rows.
pub use tokio_postgres;
