//! rustls configurations: ours, and those with aws-lc-rs.

use alloc::sync::Arc;

use pq_x509::certificate::Certificate;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, NamedGroup, RootCertStore, ServerConfig};
use rustls_pq::{Builder, Group};

use crate::pki::Identity;

/// Our provider with exactly these groups, most preferred first.
///
/// # Panics
/// If it lacks one.
pub fn ours(groups: &[Group]) -> CryptoProvider {
    Builder::with_default_base()
        .and_then(|builder| builder.groups(groups.iter().copied()).build())
        .unwrap_or_else(|err| panic!("no provider of ours with {groups:?}: {err}"))
}

/// rustls's own provider over aws-lc-rs, with exactly these groups.
///
/// # Panics
/// If it lacks one.
pub fn aws_lc_rs(groups: &[Group]) -> CryptoProvider {
    let kx_groups = groups
        .iter()
        .map(|group| {
            *aws_lc_rs::ALL_KX_GROUPS
                .iter()
                .find(|known| known.name() == NamedGroup::from(*group))
                .unwrap_or_else(|| panic!("aws-lc-rs has no {group}"))
        })
        .collect();
    CryptoProvider {
        kx_groups,
        ..aws_lc_rs::default_provider()
    }
}

/// A client that trusts `root` and shows `identity` when asked.
///
/// # Panics
/// If that can't be configured.
pub fn client(
    provider: CryptoProvider,
    root: &Certificate,
    identity: Option<&Identity>,
) -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])
        .expect("TLS 1.3 fits the provider")
        .with_root_certificates(roots(root));
    let config = match identity {
        Some(identity) => builder
            .with_client_auth_cert(identity.chain_der(), identity.key_der())
            .expect("the client's key fits its certificate"),
        None => builder.with_no_client_auth(),
    };
    Arc::new(config)
}

/// A server that shows `identity` and, if `client_root` is there, demands client
/// certificates from that root.
///
/// # Panics
/// If that can't be configured.
pub fn server(
    provider: CryptoProvider,
    identity: &Identity,
    client_root: Option<&Certificate>,
) -> Arc<ServerConfig> {
    let provider = Arc::new(provider);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .expect("TLS 1.3 fits the provider");
    let builder = match client_root {
        Some(root) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots(root)), provider)
                .build()
                .expect("a verifier of client certificates can be made"),
        ),
        None => builder.with_no_client_auth(),
    };
    let config = builder
        .with_single_cert(identity.chain_der(), identity.key_der())
        .expect("the server's key fits its certificate");
    Arc::new(config)
}

/// A store with one root.
///
/// # Panics
/// If `root` can't be a trust anchor.
pub fn roots(root: &Certificate) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots
        .add(root.der().clone())
        .expect("the root is a certificate");
    roots
}
