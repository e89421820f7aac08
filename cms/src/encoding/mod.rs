//! How messages are written down: BER as it is read, in pieces, and DER as it is written; and PEM around
//! both.
//!
//! What is read into memory has a limit of its own, and content is never kept: it goes by in pieces.
//!
//! It uses nothing.

mod error;
mod fields;
pub(crate) mod pem;
mod pieces;
mod reader;
pub(crate) mod tag;
mod writer;

pub use error::EncodingError;
pub(crate) use fields::{Fields, contents};
pub use pem::{PemWriter, decode_if_pem};
pub(crate) use pieces::{PIECE, for_each_piece, for_each_piece_there, read_start};
pub(crate) use reader::{BerReader, MAX_IDENTIFIER};
pub(crate) use writer::{BerWriter, tlv};
