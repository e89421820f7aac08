//! Keys that are elsewhere: what signs, what is refused, and what a slow, failing or lying signer does to handshakes.

mod alerts;
mod bounded;
mod kinds;
mod openssl;
mod recovers;
mod rotated;

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Condvar, Mutex};

use pq_keys::encoding::identifier_in;
use pq_x509::issuing::Issuer;
use pq_x509::keys::{SignError, Signer, SubjectKey};
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{
    AlgorithmIdentifier, CertificateDer, PrivateKeyDer, SubjectPublicKeyInfoDer,
};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SignatureScheme};
use rustls_pq::Builder;
use rustls_pq::identity::{Identities, Identity, IdentityError, IdentitySet};
use rustls_pq::sign::SignatureCheck;

use crate::identities::for_both_ends;
use crate::peers::{Ecdsa, any_base, client_config, roots};

/// Longer than anything takes, even on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A CA whose certificates are for keys elsewhere.
struct World(Issuer<Ecdsa>);

impl World {
    fn new() -> Self {
        Self(Ecdsa::root())
    }

    fn chain(&self, key: &dyn SubjectKey) -> Vec<CertificateDer<'static>> {
        let spki = key.spki();
        vec![self.0.issue(for_both_ends(), &spki).unwrap().into_der()]
    }

    /// With a provider that signs with everything.
    fn identity(&self, signer: impl Signer + 'static) -> Identity {
        self.try_identity(signer, SignatureCheck::Each, &provider())
            .unwrap()
    }

    fn try_identity(
        &self,
        signer: impl Signer + 'static,
        check: SignatureCheck,
        provider: &CryptoProvider,
    ) -> Result<Identity, IdentityError> {
        let chain = self.chain(&signer);
        Identity::with_signer(chain, Arc::new(signer), check, provider)
    }

    fn roots(&self) -> RootCertStore {
        roots([self.0.certificate().der().clone()])
    }

    fn client(&self) -> Arc<ClientConfig> {
        client_config(provider(), self.roots()).into()
    }
}

/// It signs and verifies with everything that there is over ring.
fn provider() -> CryptoProvider {
    let builder = Builder::new(any_base());
    builder.experimental_slh_dsa().build().unwrap()
}

fn server(identity: Identity) -> ServerConfig {
    server_over(identities(identity), provider())
}

fn identities(identity: Identity) -> Arc<Identities> {
    Arc::new(Identities::new(IdentitySet::new().with_default(identity)))
}

fn server_over(identities: Arc<Identities>, provider: CryptoProvider) -> ServerConfig {
    ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(identities)
}

/// A classical key, by ring, that signs with one scheme.
struct Classical {
    key: Arc<dyn rustls::sign::SigningKey>,
    scheme: SignatureScheme,
    identifier: AlgorithmIdentifier,
}

impl Classical {
    fn new(
        key: PrivateKeyDer<'static>,
        scheme: SignatureScheme,
        identifier: AlgorithmIdentifier,
    ) -> Self {
        let key = any_base().key_provider.load_private_key(key).unwrap();
        Self {
            key,
            scheme,
            identifier,
        }
    }
}

impl SubjectKey for Classical {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.public_key().unwrap()
    }
}

impl Signer for Classical {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        let identifier = identifier_in(&self.identifier).unwrap();
        AlgorithmIdentifierOwned {
            oid: identifier.oid,
            parameters: identifier.parameters.map(Into::into),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let signer = self.key.choose_scheme(&[self.scheme]).unwrap();
        signer.sign(message).map_err(SignError::new)
    }
}

/// A signer that does something else than its key would.
struct Acting<K, F> {
    key: K,
    act: F,
}

impl<F> Acting<Ecdsa, F>
where
    F: Fn(&Ecdsa, &[u8]) -> Result<Vec<u8>, SignError> + Send + Sync,
{
    fn new(act: F) -> Self {
        let key = Ecdsa::generate();
        Self { key, act }
    }
}

impl<K: SubjectKey, F> SubjectKey for Acting<K, F> {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl<K, F> Signer for Acting<K, F>
where
    K: Signer,
    F: Fn(&K, &[u8]) -> Result<Vec<u8>, SignError> + Send + Sync,
{
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.key.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        (self.act)(&self.key, message)
    }
}

/// What a signer waits for, and how many signatures it was asked for.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
    asked: AtomicUsize,
}

impl Gate {
    /// A signer that waits for it each time.
    fn before_each(self: &Arc<Self>) -> impl Signer + use<> {
        let gate = self.clone();
        Acting::new(move |key, message| {
            gate.wait();
            key.sign(message)
        })
    }

    fn wait(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut is_open = self.is_open.lock().unwrap();
        while !*is_open {
            is_open = self.opened.wait(is_open).unwrap();
        }
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}
