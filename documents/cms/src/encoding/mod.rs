//! The encoding of messages: BER is read in pieces, DER and BER are written, and PEM is read and written
//! around both.
//!
//! Everything that is read into memory has a limit. Content is never kept: it passes in pieces.
//!
//! It uses no other module of this crate.

mod error;
mod fields;
pub(crate) mod pem;
mod pieces;
mod reader;
pub(crate) mod tag;
mod writer;

pub use error::EncodingError;
pub(crate) use fields::{Fields, contents, object_identifier};
pub use pem::{PemWriter, decode_if_pem};
pub(crate) use pieces::{PIECE, for_each_piece, for_each_piece_there, read_start};
pub(crate) use reader::{BerReader, MAX_IDENTIFIER};
pub(crate) use writer::{BerWriter, tlv};
