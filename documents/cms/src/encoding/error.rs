//! Errors of BER, DER and PEM that messages of all types share, most of them with the position in the message.

use std::io;

use pq_keys::encoding::pem::PemError;

/// Why a message can't be read or written, whatever its type.
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
    /// A value has another type than expected.
    #[error("expected {wanted} at byte {at} and found tag {found:#04x}; it may be no CMS message")]
    Unexpected {
        /// Where it is, in bytes from the start.
        at: u64,
        /// The first byte of its tag.
        found: u8,
        /// What should be there.
        wanted: &'static str,
    },
    /// A value ends where another should follow.
    #[error("a value ends at byte {at}, where {wanted} should follow; the message is damaged")]
    Missing {
        /// Where that is, in bytes from the start.
        at: u64,
        /// What should be there.
        wanted: &'static str,
    },
    /// A length is not valid BER, or reaches beyond the enclosing value.
    #[error("the length at byte {0} is invalid; the message is damaged")]
    Length(u64),
    /// A value that is read into memory is larger than allowed.
    #[error("the value at byte {at} has more than {limit} bytes, the most that is accepted")]
    TooLarge {
        /// Where it is, in bytes from the start.
        at: u64,
        /// How many bytes are accepted.
        limit: usize,
    },
    /// Values are nested too deeply.
    #[error("values are nested too deeply at byte {0}")]
    TooDeep(u64),
    /// A part of the message is not DER, or not of the expected type.
    #[error("a part of the message is malformed: {0}")]
    Der(der::Error),
    /// The text has no PEM block with one of these labels.
    #[error("no PEM block \"CMS\" or \"PKCS7\", and no DER either; it may be no CMS message")]
    NoPem,
    /// The message is in MIME.
    #[error(
        "it is an S/MIME message, with MIME around the CMS message; take this out with \"openssl cms -cmsout -in FILE \
         -outform DER\", or have \"openssl cms\" write it with -outform DER and -binary, and with -nodetach to have the content \
         in it; without -binary, the content was signed with CRLF as its line ends, and has to have them"
    )]
    Mime,
    /// The PEM block of the message can't be read.
    #[error("{0}")]
    Pem(PemError),
}

impl From<PemError> for EncodingError {
    fn from(error: PemError) -> Self {
        Self::Pem(error)
    }
}

impl From<der::Error> for EncodingError {
    fn from(error: der::Error) -> Self {
        Self::Der(error)
    }
}
