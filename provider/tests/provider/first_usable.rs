//! How other implementations choose among certificates: by the peer's signature schemes alone.

use alloc::sync::Arc;

use rustls::SignatureScheme;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Sends the first certificate whose key the peer accepts.
#[derive(Debug)]
pub(crate) struct FirstUsable(pub(crate) [Arc<CertifiedKey>; 2]);

impl FirstUsable {
    pub(crate) fn find(&self, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let mut keys = self.0.iter();
        keys.find(|key| key.key.choose_scheme(schemes).is_some())
            .cloned()
    }
}

impl ResolvesServerCert for FirstUsable {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.find(hello.signature_schemes())
    }
}
