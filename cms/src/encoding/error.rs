use std::io;

/// Why a message can't be read or written, whatever is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// The reader failed.
    #[error("can't read: {0}")]
    Read(io::Error),
    /// The writer failed.
    #[error("can't write: {0}")]
    Write(io::Error),
    /// The message ends in the middle.
    #[error("the message is cut short after {0} bytes; get it again")]
    Truncated(u64),
    /// Something follows the message.
    #[error("something follows the message, which ends after {0} bytes; remove it")]
    TrailingData(u64),
    /// A value is of another type than its place asks for.
    #[error(
        "at byte {at} is tag {found:#04x}, and {wanted} should be there; is it such a message?"
    )]
    Unexpected {
        /// Where it is, in bytes from the start.
        at: u64,
        /// The first byte of its tag.
        found: u8,
        /// What should be there.
        wanted: &'static str,
    },
    /// A value ends where another should follow.
    #[error("at byte {at} a value ends, and {wanted} should follow; the message is damaged")]
    Missing {
        /// Where that is, in bytes from the start.
        at: u64,
        /// What should be there.
        wanted: &'static str,
    },
    /// A length is none of BER, or reaches beyond what the value is in.
    #[error("at byte {0} is a length that is not one; the message is damaged")]
    Length(u64),
    /// A value that is read into memory is larger than what is taken.
    #[error("at byte {at} is a value of more than {limit} bytes, which is refused")]
    TooLarge {
        /// Where it is, in bytes from the start.
        at: u64,
        /// How many bytes are taken.
        limit: usize,
    },
    /// Values are within values, too deep.
    #[error("at byte {0} values are too deep within each other")]
    TooDeep(u64),
    /// A part of the message is not DER, or not of its type.
    #[error("a part of the message is malformed: {0}")]
    Der(der::Error),
    /// The text is no PEM block with this label.
    #[error("no PEM block \"CMS\" or \"PKCS7\", and no DER either; is it such a message?")]
    NoPem,
}

impl From<der::Error> for EncodingError {
    fn from(error: der::Error) -> Self {
        Self::Der(error)
    }
}
