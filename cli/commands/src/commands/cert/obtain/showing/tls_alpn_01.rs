//! `tls-alpn-01`, by a server of our own.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::net::SocketAddr;

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

use super::listener::{Listening, listen};
use crate::failure::{AcmeFailure, Failure};

/// The certificates, by the names that are asked for.
#[derive(Debug)]
struct Certificates(BTreeMap<String, Arc<CertifiedKey>>);

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0
            .get(&hello.server_name()?.to_ascii_lowercase())
            .cloned()
    }
}

pub(super) async fn show(address: SocketAddr, shown: &[Shown]) -> Result<Listening, Failure> {
    let config = configured(shown).map_err(AcmeFailure::Tls)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    listen(address, &ChallengeKind::TlsAlpn01, move |stream| {
        let handshake = acceptor.accept(stream);
        // Its end is that of the connection: there is nothing to say.
        async { drop(handshake.await) }
    })
    .await
}

fn configured(shown: &[Shown]) -> Result<ServerConfig, String> {
    let provider = provider(Profile::Default, &[]).map_err(|error| error.to_string())?;
    let mut certificates = BTreeMap::new();
    for one in shown {
        // Every CA knows keys of this kind.
        let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256);
        let key = key.map_err(|error| error.to_string())?;
        let certificate = challenge_certificate(one, &key).map_err(|error| error.to_string())?;
        let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der().to_vec());
        let key = provider.key_provider.load_private_key(key.into());
        let key = key.map_err(|error| error.to_string())?;
        let certified = CertifiedKey::new(vec![certificate.into_der()], key);
        certificates.insert(tls_server_name(&one.name), Arc::new(certified));
    }
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Certificates(certificates)));
    config.alpn_protocols = vec![ALPN.into()];
    Ok(config)
}
