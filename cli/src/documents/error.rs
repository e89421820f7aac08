use pq_x509::{CertificateError, KeyError, RequestError, RevocationListError};

use crate::files::InputError;
use crate::words::{of_key_error, of_request_error};

/// Why a file does not give what was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(
        "{file} is cut short: the PEM block \"{}\" does not end; copy the file again",
        .label.escape_default()
    )]
    NoEnd { file: String, label: String },
    #[error("{file}: the PEM of the {kind} is damaged ({error}); copy the file again")]
    Pem {
        file: String,
        kind: String,
        error: String,
    },
    #[error(
        "{file} is cut short: it has {found} of the {declared} bytes that its first ones announce; \
         copy the file again"
    )]
    CutShort {
        file: String,
        declared: usize,
        found: usize,
    },
    #[error(
        "{file} is neither PEM nor the DER of a key, a certificate, a request or a revocation list; \
         name another file"
    )]
    Unknown { file: String },
    #[error("{file} has no {wanted}, but {found}; {advice}")]
    Missing {
        file: String,
        wanted: String,
        found: String,
        advice: &'static str,
    },
    #[error("{file} is to have one {kinds}, and has {count}; put each into a file of its own")]
    Several {
        file: String,
        kinds: String,
        count: usize,
    },
    #[error("{file}: {}", of_key_error(.error))]
    Key { file: String, error: KeyError },
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
    #[error("{file}: {}; have it made again", of_request_error(.error))]
    Request { file: String, error: RequestError },
    #[error(
        "{file} is no raw {algorithm} key: neither {seed_len} bytes of a seed nor {expanded_len} of an \
         expanded key, be it as bytes, in hexadecimal or in base64; check the algorithm, and leave \
         --algorithm out for PEM and DER",
        algorithm = .algorithm.name(),
        seed_len = .algorithm.seed_len(),
        expanded_len = .algorithm.expanded_len()
    )]
    NotRaw {
        file: String,
        algorithm: pq_x509::Algorithm,
    },
    #[error(
        "{file} is no {what}: it has {found} bytes, and not {len}, be it as bytes, in hexadecimal or in \
         base64; check that it is the right file, and whole"
    )]
    NotOfLength {
        file: String,
        what: String,
        len: usize,
        found: usize,
    },
}

impl DocumentError {
    /// Whether the file is what was asked for and its parts do not belong together, so that nobody
    /// should use it.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Key {
                error: KeyError::Malformed { .. }
                    | KeyError::SeedMismatch(_)
                    | KeyError::PublicKeyMismatch(_),
                ..
            } | Self::Request {
                error: RequestError::Key(_) | RequestError::Signature(_) | RequestError::Name(_),
                ..
            } | Self::NotOfLength { .. }
        )
    }
}
