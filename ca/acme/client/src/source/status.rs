//! What there is at the moment.

use pq_keys::any::AnyAlgorithm;
use pq_keys::pki_types::UnixTime;

/// The certificate of one algorithm, as it is at the moment.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CertificateStatus {
    /// The key's algorithm.
    pub algorithm: AnyAlgorithm,
    /// When the certificate ends that is served, if there is one.
    pub not_after: Option<UnixTime>,
    /// How many certificates came since the start.
    pub obtained: u64,
    /// How often in a row none came.
    pub failures: u32,
    /// Why none came, as long as none does.
    pub last_failure: Option<String>,
}
