//! What comes of a request that is answered once.

use pq_x509::certificate::Certificate;

/// The certificate of a request: see [`Authority::issue_once`](super::Authority::issue_once).
#[derive(Clone, Debug)]
pub enum Once {
    /// It was issued now.
    Issued(Certificate),
    /// It was issued before, or by somebody else meanwhile.
    Before(Certificate),
}

impl Once {
    /// The certificate.
    pub fn certificate(&self) -> &Certificate {
        match self {
            Self::Issued(certificate) | Self::Before(certificate) => certificate,
        }
    }

    /// The certificate itself.
    pub fn into_certificate(self) -> Certificate {
        match self {
            Self::Issued(certificate) | Self::Before(certificate) => certificate,
        }
    }
}
