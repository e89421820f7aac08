//! Why the MAC of a PKCS#12 file was not verified or made.

use const_oid::ObjectIdentifier;

use crate::errors::from_causes;
use crate::protection::ProtectionError;

/// Why the MAC of a file could not be verified or made. pq-x509 makes its `Pkcs12Error` of it, which has the words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MacError {
    /// The MAC is not DER.
    Der(der::Error),
    /// The MAC is of a kind that is not supported.
    Unsupported(ObjectIdentifier),
    /// A parameter is missing or makes no sense.
    Parameters(&'static str),
    /// The passphrase is wrong or the file was changed; the two cannot be told apart.
    WrongPassphraseOrChanged,
    /// The derivation of the key is not supported, costs too much, or has wrong parameters.
    Protection(ProtectionError),
}

from_causes!(MacError: Der(der::Error), Protection(ProtectionError));
