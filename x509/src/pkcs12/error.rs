//! Why a PKCS#12 file was not read or made.

use const_oid::ObjectIdentifier;
use pq_keys::encoding::syntax::SyntaxError;
use pq_keys::errors::from_causes;
use pq_keys::pkcs12::BerError;
use pq_keys::pkcs12::for_pkcs12::MacError;
use pq_keys::protection::ProtectionError;
use pq_keys::{KeyAlgorithm, KeyError};
use thiserror::Error;

use crate::certificate::CertificateError;

/// Why a PKCS#12 file could not be read or made.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Pkcs12Error {
    /// The bytes, or a part of the file, are not in BER.
    #[error("the PKCS#12 file {0}; copy it again, in binary")]
    Ber(BerError),
    /// The bytes are not a PFX (RFC 7292 section 4).
    #[error("the PKCS#12 file is not valid DER: {0}; copy it again, in binary")]
    Der(der::Error),
    /// A value in the DER is not valid for its type.
    #[error("the PKCS#12 file {0}")]
    Syntax(SyntaxError),
    /// The file does not have version 3.
    #[error("the PKCS#12 file has version {0}, but the only version is 3 (RFC 7292 section 4)")]
    Version(u8),
    /// The file has no MAC, but perhaps a signature, so nothing shows that it is unchanged.
    #[error(
        "the PKCS#12 file has no MAC under its passphrase, so anybody may have changed it; have it made \
         again with a MAC"
    )]
    NoMac,
    /// The MAC is of a kind that is not supported, such as one with MD5.
    #[error(
        "no support for a MAC by {0}, only for PBMAC1 (RFC 9879) and MACs with SHA-256, SHA-384, \
         SHA-512 and SHA-1; have the file made again, for example by \"openssl pkcs12 -export -macalg SHA256\""
    )]
    UnsupportedMac(ObjectIdentifier),
    /// A parameter of the MAC is missing or makes no sense.
    #[error("the MAC of the PKCS#12 file is refused: {0}; have the file made again")]
    MacParameters(&'static str),
    /// The passphrase is wrong or the file was changed; the two cannot be told apart.
    #[error(
        "wrong passphrase, or the file was changed; try the passphrase again, or another copy of the file"
    )]
    WrongPassphraseOrChanged,
    /// A part of the file is of a kind that is not supported.
    #[error("no support for {0} within PKCS#12; have the file made again without it")]
    UnsupportedContent(ObjectIdentifier),
    /// An attribute of a key or of a certificate is not as RFC 2985 demands.
    #[error("an attribute in the PKCS#12 file is refused: {0}; have the file made again")]
    Attribute(&'static str),
    /// A certificate in the file can't be read.
    #[error("a certificate in the PKCS#12 file: {0}")]
    Certificate(CertificateError),
    /// A private key in the file is malformed.
    #[error("a private key in the PKCS#12 file: {0}")]
    Key(KeyError),
    /// A private key in the file is of an algorithm that [`PrivateKey`](pq_keys::PrivateKey) does not have.
    #[error(
        "the private key in the PKCS#12 file is of {0}, not of ML-DSA, SLH-DSA or ML-KEM; take its PKCS#8 by \
         Pkcs12Key::pkcs8_der, and read that as a type for such keys, such as pq_keys::any::AnyPrivateKey"
    )]
    OtherAlgorithm(KeyAlgorithm),
    /// The protection of the file is not supported, costs too much, or has wrong parameters.
    #[error(transparent)]
    Protection(ProtectionError),
}

from_causes!(
    Pkcs12Error: Ber(BerError), Der(der::Error), Syntax(SyntaxError), Certificate(CertificateError), Key(KeyError)
);

impl From<MacError> for Pkcs12Error {
    fn from(error: MacError) -> Self {
        match error {
            MacError::Der(error) => Self::Der(error),
            MacError::Unsupported(algorithm) => Self::UnsupportedMac(algorithm),
            MacError::Parameters(why) => Self::MacParameters(why),
            MacError::WrongPassphraseOrChanged => Self::WrongPassphraseOrChanged,
            MacError::Protection(error) => error.into(),
        }
    }
}

impl From<ProtectionError> for Pkcs12Error {
    fn from(error: ProtectionError) -> Self {
        match error {
            ProtectionError::WrongPassphraseOrChanged => Self::WrongPassphraseOrChanged,
            other => Self::Protection(other),
        }
    }
}
