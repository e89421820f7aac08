//! Why a zone is not as it should be.

use std::io;

use hickory_proto::op::ResponseCode;

/// Why a zone is not as it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DnsUpdateError {
    /// It is no name of DNS.
    #[error("{0} is no name of DNS")]
    Name(String),
    /// The server has no zone for the name.
    #[error("it has no zone with the name {0}: name the server that has it")]
    NoZone(String),
    /// The server can't be reached, or answers too slowly.
    #[error("it can't be asked: {0}")]
    Network(#[from] io::Error),
    /// The answer is none.
    #[error("its answer is not one: {0}")]
    Answer(&'static str),
    /// The server refuses the question or the change.
    #[error("it refuses: {code}{}", match .code {
        ResponseCode::NotAuth => " (it does not know the key, or holds another one by this name, or its clock is another one)",
        ResponseCode::Refused => " (its configuration does not let this key change the zone)",
        _ => "",
    })]
    Refused {
        /// Its reason.
        code: ResponseCode,
    },
    /// Whoever answers does not have the key.
    #[error("its answer is not signed by the key")]
    NotSigned,
}
