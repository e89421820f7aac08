//! Why a file can't be read as what it was named for, with advice; and which of these errors mean that nobody should
//! use it.

use pq_jose::JsonError;
use pq_jose::cose::CoseError;
use pq_jose::jwk::JwkError;
use pq_keys::any::AnyKeyError;
use pq_keys::classical::ClassicalKeyError;
use pq_keys::encoding::pem::PemError;
use pq_keys::protection::ProtectionError;
use pq_keys::x_wing::XWingPrivateKey;
use pq_x509::certificate::CertificateError;
use pq_x509::ocsp::{OcspRequestError, OcspResponseError};
use pq_x509::pkcs12::Pkcs12Error;
use pq_x509::request::RequestError;
use pq_x509::revocation::RevocationListError;

use crate::files::InputError;
use crate::keys::{Algorithm, KeyError};
use crate::passphrases::PassphraseError;
use crate::words::{of_any_key_error, of_pkcs12_error, of_protection_error, of_request_error};

/// Why a file does not have what was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("{file}: {error}")]
    Pem { file: String, error: PemError },
    #[error(
        "{file} is cut short: it has {found} of the {declared} bytes that its beginning announces; \
         copy the file again"
    )]
    CutShort {
        file: String,
        declared: usize,
        found: usize,
    },
    #[error(
        "{file} is neither PEM nor the DER of a key, a certificate, a request or a revocation list, nor a JSON Web Key \
         or a COSE_Key; \
         name another file"
    )]
    Unknown { file: String },
    #[error(
        "{file} is a set of JSON Web Keys, and one key is needed: take one out of its \"keys\", into a file of its own \
         (\"pqtls show\" lists them)"
    )]
    KeySet { file: String },
    #[error("{file} is {what}")]
    OfOthers { file: String, what: &'static str },
    #[error(
        "{file}: a {kind} of {found} bytes is longer than any that is in use, which have less than {limit}; have it \
         made again with less in it"
    )]
    TooLong {
        file: String,
        kind: String,
        found: usize,
        limit: usize,
    },
    #[error(
        "{file} is larger than {} MiB, and only files of revocation lists may be; split it, and show each part; a message \
         (CMS) may be of any size for \"pqtls cms show\"",
        .limit >> 20
    )]
    TooLargeToShow { file: String, limit: usize },
    #[error(
        "{file} has more than {} MiB of certificates and messages, and only revocation lists may be longer; split it, and \
         look at each part",
        .limit >> 20
    )]
    TooManyCertificates { file: String, limit: usize },
    #[error(
        "{file} has a revocation list that has more than 2 MiB without its entries, which no list in use has; have it made \
         again with less in it"
    )]
    LongParts { file: String },
    #[error(
        "{file} has more than {limit} items, the most that are shown; split it, and show each part"
    )]
    TooManyItems { file: String, limit: usize },
    #[error("{file} has a message with no certificate in it; name another file")]
    NoCertificateInMessage { file: String },
    #[error("{file} has a message with no certificate, so that nothing expires; name another file")]
    NothingExpires { file: String },
    #[error(
        "{file} has a message with revocation lists in it, and when they expire is not looked at there; take them out, such \
         as with \"openssl pkcs7 -print_certs\""
    )]
    ListsInMessage { file: String },
    #[error("{file}: the message can't be read: {error}; \"pqtls cms show\" shows messages")]
    Message {
        file: String,
        error: Box<pq_cms::InspectionError>,
    },
    #[error(
        "{file} has keys of SSH's; \"pqtls show\" shows them, and \"pqtls ssh\" signs and verifies with them"
    )]
    OfSsh { file: String },
    #[error("{file} has no {wanted}, but {found}; {advice}")]
    Missing {
        file: String,
        wanted: String,
        found: String,
        advice: &'static str,
    },
    #[error("{file} has to have one {kinds}, and has {count}; put each into its own file")]
    Several {
        file: String,
        kinds: String,
        count: usize,
    },
    #[error(
        "{file} has the certificates of {count} end entities, and one is needed; put each into its own file, in front \
         of its chain"
    )]
    SeveralCertificates { file: String, count: usize },
    #[error(
        "{file} has certificates or keys of several recipients, and only the first one could decrypt; put each into its \
         own file, in front of its chain, and name each file by a --to of its own, as \"pqtls cms encrypt\" takes several"
    )]
    SeveralRecipients { file: String },
    #[error("{file}: {}", of_any_key_error(.error))]
    Key { file: String, error: KeyError },
    #[error("{file}: {}", of_protection_error(.error))]
    Encrypted {
        file: String,
        error: ProtectionError,
    },
    #[error("{file}: {}", of_pkcs12_error(.error))]
    Pkcs12 { file: String, error: Pkcs12Error },
    #[error(transparent)]
    Passphrase(#[from] PassphraseError),
    #[error("{file}: {error}")]
    Jwk { file: String, error: JwkError },
    #[error("{file}: {error}")]
    Cose { file: String, error: CoseError },
    #[error("{file}: {error}. Claims are one JSON object, {{\"name\": value}}")]
    Claims { file: String, error: JsonError },
    #[error("{file}: {error}")]
    Certificate {
        file: String,
        error: CertificateError,
    },
    #[error("{file}: {error}")]
    RevocationList {
        file: String,
        error: RevocationListError,
    },
    #[error("{file}: {error}")]
    OcspRequest {
        file: String,
        error: OcspRequestError,
    },
    #[error("{file}: {error}")]
    OcspResponse {
        file: String,
        error: OcspResponseError,
    },
    #[error("{file}: {error}")]
    SshKey {
        file: String,
        error: pq_ssh::PrivateKeyError,
    },
    #[error("{file}: {error}")]
    SshSignature {
        file: String,
        error: pq_ssh::SignatureError,
    },
    #[error("{file}: {}; have it made again", of_request_error(.error))]
    Request { file: String, error: RequestError },
    #[error(
        "{file} is not a raw {algorithm} key: {}, raw, in hexadecimal or in base64; check the \
         algorithm, and leave --algorithm out for PEM and DER",
        lengths_missed(*.algorithm)
    )]
    NotRaw { file: String, algorithm: Algorithm },
    #[error(
        "{file} is no {what}: it has {found} bytes, and not {len}, raw, in hexadecimal or in base64; check that \
         it is the right file, and complete"
    )]
    NotOfLength {
        file: String,
        what: String,
        len: usize,
        found: usize,
    },
    #[error(
        "{file} is no ciphertext of ML-KEM or X-Wing: none has its {found} bytes, raw, in hexadecimal or in base64; check that \
         it is the right file, and complete"
    )]
    NoCiphertext { file: String, found: usize },
}

impl DocumentError {
    /// Whether a key is of RSA, where one that agrees on secrets is needed.
    pub(crate) fn is_of_rsa_for_signatures(&self) -> bool {
        let Self::Key { error, .. } = self else {
            return false;
        };
        matches!(
            error,
            KeyError::Any(AnyKeyError::Classical(ClassicalKeyError::NoAgreement(
                "RSA"
            )))
        )
    }

    /// Whether the file is of the right kind, but its parts do not belong together, so that nobody should use
    /// it.
    pub(crate) fn is_refusal(&self) -> bool {
        let is_of_protection = |error: &ProtectionError| {
            matches!(
                error,
                ProtectionError::WrongPassphraseOrChanged
                    | ProtectionError::TooManyIterations { .. }
                    | ProtectionError::TooMuchMemory { .. }
                    | ProtectionError::TooMuchWork { .. }
            )
        };
        match self {
            Self::Encrypted { error, .. } => return is_of_protection(error),
            Self::SshKey { error, .. } => {
                return matches!(error, pq_ssh::PrivateKeyError::WrongPassphrase);
            }
            Self::Pkcs12 { error, .. } => {
                return match error {
                    Pkcs12Error::WrongPassphraseOrChanged | Pkcs12Error::NoMac => true,
                    Pkcs12Error::Protection(error) => is_of_protection(error),
                    _ => false,
                };
            }
            _ => {}
        }
        matches!(
            self,
            Self::Key { error, .. } if error.is_refusal()
        ) || matches!(
            self,
            Self::Jwk {
                error: JwkError::Key(_) | JwkError::Private | JwkError::NotForThis(_),
                ..
            } | Self::Cose {
                error: CoseError::Key(_) | CoseError::NotForThis,
                ..
            }
        ) || matches!(
            self,
            Self::Request {
                error: RequestError::Key(_) | RequestError::Signature(_) | RequestError::Name(_),
                ..
            } | Self::NotOfLength { .. }
                | Self::NoCiphertext { .. }
        )
    }
}

/// Why a file is not a raw key of this algorithm.
fn lengths_missed(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::PostQuantum(algorithm) => format!(
            "it has neither the {} bytes of a seed nor the {} of an expanded key",
            algorithm.seed_len(),
            algorithm.expanded_len()
        ),
        Algorithm::XWing => format!("it does not have {} bytes", XWingPrivateKey::LEN),
        Algorithm::Agreement(algorithm) => {
            format!("it does not have {} bytes", algorithm.raw_private_key_len())
        }
        Algorithm::Composite(_) => "such keys have no raw bytes".into(),
        Algorithm::Classical(algorithm) => match algorithm.raw_private_key_len() {
            Some(len) => format!("it does not have {len} bytes"),
            None => "such keys have no raw bytes".into(),
        },
    }
}
