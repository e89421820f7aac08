//! Judges a chain of certificates: which key and scheme prove who a side is, and whether all signatures that count are
//! post-quantum.

use core::fmt;

use rustls::SignatureScheme;
use rustls::pki_types::CertificateDer;

use super::{Algorithms, KeyAlgorithm, Signature};

/// How one side of a connection proved who it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Authentication {
    /// The algorithm of the key in its own certificate, or of its raw public key (RFC 7250).
    pub key: KeyAlgorithm,
    /// The scheme of the signature in the handshake. rustls doesn't report the peer's scheme: for the
    /// peer it is known only in TLS 1.3, and only if its key allows just one. RSA keys allow several.
    pub scheme: Option<SignatureScheme>,
    /// Whether the leaf's key and the signatures of all certificates that were sent are
    /// post-quantum. The signature of a CA certificate that looks self-signed doesn't count, because
    /// such a certificate is trusted as it is: its issuer is its subject, and its own key can make
    /// signatures of this algorithm. A classical signature on a post-quantum CA key counts.
    ///
    /// All certificates count because rustls doesn't say which of them led to a root: a peer that
    /// sends a classical cross-certificate beside its post-quantum chain counts as not post-quantum.
    pub is_post_quantum: bool,
}

impl Authentication {
    /// Authentication with this chain, leaf first, in TLS 1.3, or with the raw public key that rustls has in the
    /// place of a chain. `None` if the chain is empty or a certificate can't be read.
    pub fn of(chain: &[CertificateDer<'_>]) -> Option<Self> {
        // No certificate can be read as a key: it begins with two sequences.
        if let [only] = chain
            && let Ok(key) = KeyAlgorithm::of_spki_der(only)
        {
            return Some(Self {
                key,
                scheme: key.only_scheme(),
                is_post_quantum: key.is_post_quantum(),
            });
        }
        let algorithms = chain
            .iter()
            .map(|certificate| Algorithms::of(certificate))
            .collect::<Result<Vec<_>, _>>()
            .ok()?;
        Self::by(&algorithms)
    }

    /// Authentication with a chain of certificates that have these algorithms.
    pub(crate) fn by(algorithms: &[Algorithms]) -> Option<Self> {
        let key = algorithms.first()?.key;
        Some(Self {
            key,
            scheme: key.only_scheme(),
            is_post_quantum: key.is_post_quantum()
                && Algorithms::relied_on(algorithms).all(Signature::is_post_quantum),
        })
    }
}

impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, scheme, .. } = self;
        let by = match scheme {
            Some(scheme) if key.only_scheme().is_none() => format!(" by {scheme:?}"),
            // The key implies the scheme, or the scheme is unknown.
            _ => String::new(),
        };
        match (key.is_post_quantum(), self.is_post_quantum) {
            (true, false) => write!(f, "{key}{by} with a classical signature in its chain"),
            (_, is_post_quantum) => write!(f, "{key}{by} ({})", in_words(is_post_quantum)),
        }
    }
}

pub(crate) fn in_words(is_post_quantum: bool) -> &'static str {
    match is_post_quantum {
        true => "post-quantum",
        false => "classical",
    }
}
