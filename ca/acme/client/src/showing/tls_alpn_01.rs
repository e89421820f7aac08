//! `tls-alpn-01` (RFC 8737), by a server of our own or by one that is there.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::net::SocketAddr;
use std::sync::{PoisonError, RwLock};

use pq_acme::challenge::{ALPN, tls_server_name};
use pq_acme::client::{Shown, challenge_certificate};
use pq_acme::objects::ChallengeKind;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
use pq_serving::provider;
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pq::Profile;
use tokio_rustls::TlsAcceptor;

use super::error::ShowingError;
use super::listener::{Listening, listen};

/// The certificates that challenges ask for at the moment, by the names that clients of TLS ask for. It is a resolver of rustls
/// that has these certificates alone; clones share them.
#[derive(Clone, Debug, Default)]
pub struct TlsAlpnCertificates(Arc<RwLock<BTreeMap<String, Arc<CertifiedKey>>>>);

/// Certificates that go again when this is dropped.
pub(super) struct Certificates {
    certificates: TlsAlpnCertificates,
    names: Vec<String>,
}

impl TlsAlpnCertificates {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a client of TLS asks for such a certificate: it offers `acme-tls/1` and no other protocol (RFC 8737, section 3).
    pub fn is_asked(hello: &ClientHello<'_>) -> bool {
        hello.alpn().is_some_and(|mut protocols| {
            protocols.next() == Some(ALPN) && protocols.next().is_none()
        })
    }

    /// Makes the certificates, and shows them.
    pub(super) fn show(&self, shown: &[Shown]) -> Result<Certificates, ShowingError> {
        let made = made(shown).map_err(ShowingError::Tls)?;
        let names = made.iter().map(|(name, _)| name.clone()).collect();
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        held.extend(made);
        Ok(Certificates {
            certificates: self.clone(),
            names,
        })
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let held = self.certificates.0.write();
        let mut held = held.unwrap_or_else(PoisonError::into_inner);
        for name in &self.names {
            held.remove(name);
        }
    }
}

impl ResolvesServerCert for TlsAlpnCertificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.to_ascii_lowercase();
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.get(&name).cloned()
    }
}

/// Answers challenges of tls-alpn-01 at an address, until what this returns is dropped.
///
/// # Errors
///
/// [`ShowingError::Listen`] if there can be no server at the address, and [`ShowingError::Tls`] if no certificate can be made.
pub async fn listen_tls_alpn_01(
    address: SocketAddr,
    shown: &[Shown],
) -> Result<Listening, ShowingError> {
    let certificates = TlsAlpnCertificates::new();
    let visible = certificates.show(shown)?;
    let config = configured(certificates).map_err(ShowingError::Tls)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    listen(address, ChallengeKind::TlsAlpn01, move |stream| {
        let _shown = &visible;
        let handshake = acceptor.accept(stream);
        // Its end is that of the connection: there is nothing to say.
        async { drop(handshake.await) }
    })
    .await
}

fn configured(certificates: TlsAlpnCertificates) -> Result<ServerConfig, String> {
    let provider = provider(Profile::Default, &[]).map_err(|error| error.to_string())?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(certificates));
    config.alpn_protocols = vec![ALPN.into()];
    Ok(config)
}

fn made(shown: &[Shown]) -> Result<Vec<(String, Arc<CertifiedKey>)>, String> {
    let provider = provider(Profile::Default, &[]).map_err(|error| error.to_string())?;
    let mut certificates = Vec::new();
    for one in shown {
        // Every CA knows keys of this kind.
        let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256);
        let key = key.map_err(|error| error.to_string())?;
        let certificate = challenge_certificate(one, &key).map_err(|error| error.to_string())?;
        let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der().to_vec());
        let key = provider.key_provider.load_private_key(key.into());
        let key = key.map_err(|error| error.to_string())?;
        let certified = CertifiedKey::new(vec![certificate.into_der()], key);
        certificates.push((tls_server_name(&one.name), Arc::new(certified)));
    }
    Ok(certificates)
}
