//! The certificate of the doors themselves, which the CA issues to them and renews.

// This room uses `clock` and `keys`.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::error::Error;
use core::fmt;
use core::net::IpAddr;
use core::time::Duration;

use pq_ca::authority::{AuthorityError, Order};
use pq_ca::policy::Profile;
use pq_x509::certificate::Certificate;
use pq_x509::keys::{KeyError, SubjectKey};
use pq_x509::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::crypto::CryptoProvider;
use rustls_pq::identity::{Identities, Identity, IdentityError, IdentitySet};

use crate::clock::Clock;
use crate::keys::CaKey;

/// How often a renewal that failed is tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// A new key for TLS: for its certificate, and for the handshake.
pub struct TlsKey {
    /// The key as a certificate has it.
    pub public: Box<dyn SubjectKey + Send>,
    /// The private key.
    pub private: PrivateKeyDer<'static>,
}

type MakeKey = dyn Fn() -> Result<TlsKey, Box<dyn Error + Send + Sync>> + Send + Sync;

/// What the certificate of a CA's own server is to be. Its key is in memory alone: each start, and each renewal, has a new
/// one.
pub struct OwnCertificate {
    /// The server's names and addresses.
    names: Vec<String>,
    key: Box<MakeKey>,
    by: String,
    provider: Arc<CryptoProvider>,
    clock: Clock,
}

impl OwnCertificate {
    /// For a server with these DNS names and IP addresses, whose keys are made by `key`. `by` says in the ledger who asks
    /// for it.
    pub fn new(
        names: Vec<String>,
        key: impl Fn() -> Result<TlsKey, Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
        by: impl Into<String>,
        provider: Arc<CryptoProvider>,
        clock: Clock,
    ) -> Self {
        Self {
            names,
            key: Box::new(key),
            by: by.into(),
            provider,
            clock,
        }
    }

    /// Has the CA issue one, by its policy. `chain` follows it: the certificate of the key and those above it, without the
    /// root's. It may block.
    ///
    /// # Errors
    ///
    /// If the policy forbids it, or the CA can't issue now.
    pub fn issue(
        &self,
        key: &dyn CaKey,
        chain: &[Certificate],
    ) -> Result<Identity, OwnCertificateError> {
        let TlsKey { public, private } = (self.key)().map_err(OwnCertificateError::Making)?;
        let order = Order::for_key(&*public)?.with(|wanted| {
            let names = self.names.iter();
            names
                .fold(wanted, |wanted, name| match name.parse::<IpAddr>() {
                    Ok(address) => wanted.ip_address(address),
                    Err(_) => wanted.dns_name(name),
                })
                .profile(Profile::Server)
        });
        let certificate = key.issue(&order, &self.by, self.clock.now())?;
        let all = [&certificate].into_iter().chain(chain);
        let all: Vec<CertificateDer<'static>> = all.map(|one| one.der().clone()).collect();
        Ok(Identity::new(all, private, &self.provider)?)
    }

    /// Renews it after two thirds of its life, and puts the new one into `identities`. What fails is said in the log and tried
    /// again. `issuer` says which key issues now, and its chain.
    pub async fn keep(
        self,
        identities: Arc<Identities>,
        issuer: impl Fn() -> Option<(Arc<dyn CaKey>, Vec<Certificate>)> + Send + Sync + 'static,
    ) -> Infallible {
        let own = Arc::new(self);
        let issuer = Arc::new(issuer);
        loop {
            tokio::time::sleep(AGAIN_AFTER).await;
            if !is_due(&identities, own.clock.now()) {
                continue;
            }
            let issuing = tokio::task::spawn_blocking({
                let (own, issuer) = (own.clone(), issuer.clone());
                move || {
                    let (key, chain) = issuer().ok_or(OwnCertificateError::NoKey)?;
                    own.issue(&*key, &chain)
                }
            });
            match issuing.await {
                Ok(Ok(identity)) => {
                    identities.replace(IdentitySet::new().with_default(identity));
                    tracing::info!("this server has a new certificate");
                }
                Ok(Err(error)) => {
                    tracing::error!(%error, "this server's certificate was not renewed; it is tried again");
                }
                Err(error) => tracing::error!(%error, "renewing was broken off"),
            }
        }
    }
}

/// Whether two thirds of a certificate's life are over.
fn is_due(identities: &Identities, now: UnixTime) -> bool {
    let set = identities.current();
    let mut leaves = set.identities().filter_map(|one| one.chain().first());
    leaves.any(|leaf| match Certificate::from_der(leaf) {
        Ok(leaf) => {
            let (begin, end) = (leaf.not_before().as_secs(), leaf.not_after().as_secs());
            now.as_secs() >= begin + end.saturating_sub(begin) / 3 * 2
        }
        Err(_) => true,
    })
}

impl fmt::Debug for OwnCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnCertificate")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// Why there is no certificate for the CA's own server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnCertificateError {
    /// The key can't be made.
    #[error("no key can be made for this server: {0}")]
    Making(Box<dyn Error + Send + Sync>),
    /// The key has no encoding.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The CA does not issue it.
    #[error("no certificate is issued for this server: {0}")]
    Authority(#[from] AuthorityError),
    /// The CA's key is not at hand.
    #[error("the key that issues is not on this machine")]
    NoKey,
    /// The certificate can't be served.
    #[error(transparent)]
    Identity(#[from] IdentityError),
}
