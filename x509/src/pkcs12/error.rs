use const_oid::ObjectIdentifier;
use thiserror::Error;

use crate::certificate::CertificateError;
use crate::encoding::SyntaxError;
use crate::errors::from_causes;
use crate::keys::KeyError;
use crate::protection::ProtectionError;

/// Why a PKCS#12 file could not be read or made.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Pkcs12Error {
    /// The bytes are not the DER of a PFX (RFC 7292 section 4).
    #[error("the PKCS#12 file is not valid DER: {0}; copy it again, in binary")]
    Der(der::Error),
    /// A value in the DER is not as its type asks.
    #[error("the PKCS#12 file {0}")]
    Syntax(SyntaxError),
    /// The file is of another version than 3.
    #[error("the PKCS#12 file is of version {0}, and there is none but 3 (RFC 7292 section 4)")]
    Version(u8),
    /// Nothing says that the file is as it was made: it has no MAC, or is signed.
    #[error(
        "the PKCS#12 file has no MAC by its passphrase, so anybody may have changed it; have it made again \
         with one"
    )]
    NoMac,
    /// The MAC is of a kind that is not known, such as one with SHA-1.
    #[error(
        "no support for a MAC by {0}, only for PBMAC1 (RFC 9879) and those of SHA-256, SHA-384 and SHA-512; \
         have the file made again, such as by \"openssl pkcs12 -export -macalg SHA256\""
    )]
    UnsupportedMac(ObjectIdentifier),
    /// What the MAC needs is missing or makes no sense.
    #[error("the MAC of the PKCS#12 file is refused: {0}; have the file made again")]
    MacParameters(&'static str),
    /// It can't be told which of the two it is.
    #[error(
        "wrong passphrase, or the file was changed; try the passphrase again, or another copy of the file"
    )]
    WrongPassphraseOrChanged,
    /// A part of the file is of a kind that is not known.
    #[error("no support for {0} within PKCS#12; have the file made again without")]
    UnsupportedContent(ObjectIdentifier),
    /// An attribute of a key or of a certificate is not as RFC 2985 has it.
    #[error("a name in the PKCS#12 file is refused: {0}; have the file made again")]
    Attribute(&'static str),
    /// A certificate in the file can't be read.
    #[error("a certificate in the PKCS#12 file: {0}")]
    Certificate(CertificateError),
    /// What is in the file as a private key is none.
    #[error("a private key in the PKCS#12 file: {0}")]
    Key(KeyError),
    /// What protects the file is not understood, costs too much or was given wrongly.
    #[error(transparent)]
    Protection(ProtectionError),
}

from_causes!(
    Pkcs12Error: Der(der::Error), Syntax(SyntaxError), Certificate(CertificateError), Key(KeyError)
);

impl From<ProtectionError> for Pkcs12Error {
    fn from(error: ProtectionError) -> Self {
        match error {
            ProtectionError::WrongPassphraseOrChanged => Self::WrongPassphraseOrChanged,
            other => Self::Protection(other),
        }
    }
}
