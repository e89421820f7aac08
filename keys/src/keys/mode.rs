//! Whether a key is for messages or for hashes of them.

/// What is signed (FIPS 205, section 10; RFC 9909).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// The message.
    Pure,
    /// A hash of it, as in HashSLH-DSA.
    PreHash,
}
