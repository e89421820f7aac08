//! The identities of a server that answers challenges, too.

use alloc::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pq::identity::Identities;

use crate::showing::TlsAlpnCertificates;

/// Gives each client one of the identities, and the CA that asks a challenge of tls-alpn-01 (RFC 8737) the certificate for that.
#[derive(Debug)]
pub struct AcmeResolver {
    identities: Arc<Identities>,
    challenges: TlsAlpnCertificates,
}

impl AcmeResolver {
    pub(super) fn new(identities: Arc<Identities>, challenges: TlsAlpnCertificates) -> Self {
        Self {
            identities,
            challenges,
        }
    }
}

impl ResolvesServerCert for AcmeResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        match TlsAlpnCertificates::is_asked(&hello) {
            true => self.challenges.resolve(hello),
            false => self.identities.resolve(hello),
        }
    }
}
