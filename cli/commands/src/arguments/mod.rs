//! Values on the command line that are not mere files and numbers: algorithms, hash functions, contexts,
//! times, subjects and names.
//!
//! This room uses [`keys`](crate::keys).

mod algorithm;
mod context;
mod name;
mod name_server;
mod named;
mod pre_hash;
mod time;

pub(crate) use algorithm::{AlgorithmParser, list_of_algorithms, list_of_store_algorithms};
pub(crate) use context::{Context, context_of_hex, context_of_text};
pub(crate) use name::{Subject, alternative_name, without_port};
pub(crate) use name_server::NameServer;
pub(crate) use named::Named;
pub(crate) use pre_hash::{list_of_pre_hashes, pre_hash};
pub(crate) use time::time;
