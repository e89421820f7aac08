//! Messages of any length and in any BER encoding, and models of what becomes of them: what must open, and what must
//! be valid.

mod ber;
mod content;
mod encrypted;
mod keys;
mod message;
mod mismatched;
mod signed;
mod streams;
mod transport;

pub use encrypted::Encrypted;
pub use mismatched::Mismatched;
pub use signed::Signed;
