//! How other implementations choose among certificates: by the peer's signature schemes alone.

use alloc::sync::Arc;
use core::slice;

use rustls::SignatureScheme;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Sends a certificate whose key the peer accepts.
#[derive(Debug)]
pub(crate) struct FirstUsable {
    pub(crate) keys: [Arc<CertifiedKey>; 2],
    /// Whether it is the one that comes first in the peer's list, as with OpenSSL, or here.
    pub(crate) follows_list: bool,
}

impl FirstUsable {
    pub(crate) fn find(&self, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let first_of = |schemes: &[SignatureScheme]| {
            let mut keys = self.keys.iter();
            keys.find(|key| key.key.choose_scheme(schemes).is_some())
        };
        let found = match self.follows_list {
            true => schemes.iter().map(slice::from_ref).find_map(first_of),
            false => first_of(schemes),
        };
        found.cloned()
    }
}

impl ResolvesServerCert for FirstUsable {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.find(hello.signature_schemes())
    }
}
