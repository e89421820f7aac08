//! What a server has of its certificates.

use alloc::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls_pq::identity::Identities;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::resolver::AcmeResolver;
use super::status::CertificateStatus;

/// A server's certificates. They are renewed until this is dropped.
#[derive(Debug)]
pub struct AcmeIdentities {
    pub(super) identities: Arc<Identities>,
    pub(super) resolver: Arc<AcmeResolver>,
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) status: watch::Receiver<Vec<CertificateStatus>>,
    pub(super) wake: Arc<Notify>,
    pub(super) task: JoinHandle<()>,
}

impl AcmeIdentities {
    /// The identities. A server that has them alone answers no challenges of tls-alpn-01: the [resolver](Self::resolver) does.
    pub fn identities(&self) -> &Arc<Identities> {
        &self.identities
    }

    /// The resolver for the server's configuration: it has the identities, and answers challenges of tls-alpn-01. For these the
    /// configuration has to have the protocol [`ALPN`](pq_acme::challenge::ALPN), too, as that of
    /// [`server_config`](Self::server_config) has.
    pub fn resolver(&self) -> Arc<AcmeResolver> {
        self.resolver.clone()
    }

    /// A configuration of a server that has these application protocols, such as `http/1.1`, and answers challenges. With no
    /// protocols, it refuses clients that offer some.
    ///
    /// # Errors
    ///
    /// If the provider has no version of TLS.
    pub fn server_config(
        &self,
        protocols: impl IntoIterator<Item = impl Into<Vec<u8>>>,
    ) -> Result<ServerConfig, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self.resolver());
        config.alpn_protocols = protocols.into_iter().map(Into::into).collect();
        config.alpn_protocols.push(pq_acme::challenge::ALPN.into());
        Ok(config)
    }

    /// What there is, for each algorithm.
    pub fn status(&self) -> Vec<CertificateStatus> {
        self.status.borrow().clone()
    }

    /// Waits until what there is is as `is_so` says.
    pub async fn wait_for(&self, mut is_so: impl FnMut(&[CertificateStatus]) -> bool) {
        // It is never over as long as this is there.
        let _ = self.status.clone().wait_for(|all| is_so(all)).await;
    }

    /// Waits until there is a certificate. The server has to accept connections meanwhile, since challenges come to it.
    pub async fn ready(&self) {
        self.wait_for(|all| all.iter().any(|one| one.not_after.is_some()))
            .await;
    }

    /// Looks now whether certificates are missing or to be renewed, and not when it would be time for that.
    pub fn look(&self) {
        self.wake.notify_one();
    }
}

impl Drop for AcmeIdentities {
    fn drop(&mut self) {
        self.task.abort();
    }
}
