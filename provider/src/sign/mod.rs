//! Signing: post-quantum keys beside the base's keys, and keys that are elsewhere.
//!
//! # Keys that are elsewhere
//!
//! A private key needn't be in this process: [`Identity::with_signer`](crate::identity::Identity::with_signer) takes any
//! [`Signer`](pq_x509::keys::Signer), such as a key in a hardware module, in a key store or behind a network.
//!
//! * It signs with one scheme of TLS, by its key and its
//!   [`signature_algorithm`](pq_x509::keys::Signer::signature_algorithm): ML-DSA, ECDSA with the hash of its curve, Ed25519,
//!   RSA-PSS with SHA-256, SHA-384 or SHA-512 by an rsaEncryption key, and SLH-DSA with
//!   [`Builder::experimental_slh_dsa`](crate::Builder::experimental_slh_dsa).
//! * What it returns is verified before it is sent: see [`SignatureCheck`].
//! * A signer that may be slow or fail is put within bounds, by a [`BoundedSigner`].
//! * rustls waits for it in the middle of the handshake, on the thread that drives the connection. So does everything
//!   else that this thread drives: pq-serving has a thread for it; other asynchronous servers ask
//!   [`ServerHandshake::may_block`](crate::ServerHandshake::may_block) and go on where blocking is allowed.
//! * If it fails, so does the handshake. rustls sends no alert then, on neither side; a server can send what
//!   [`ServerHandshake::alert_for`](crate::ServerHandshake::alert_for) makes.
//! * To change the key, make an [`Identity`](crate::identity::Identity) of the new chain and the new signer, and put it in the
//!   place of the old one: [`Identities::update`](crate::identity::Identities::update). Each handshake has the two together,
//!   before the change or after it, and goes on with what it has begun with. A signer that signs with the newest version of
//!   a key, whatever the chain, fails its handshakes ([`SigningError::WrongSignature`]) until the chain follows; so let it
//!   be for one version, and keep the old one until the connections that it signs for have begun.

// This room uses `verify`, `algorithms`, `interned` and `tls`.

mod bounded;
mod external;
mod post_quantum;
mod post_quantum_key;
mod restricted;

pub use bounded::{BoundedSigner, Bounds, Circuit, SignerLoad, SignerUnavailable};
pub(crate) use external::{ExternalKey, UnfitSigner};
pub use external::{SignatureCheck, SigningError};

use alloc::sync::Arc;
use core::ptr;

use pq_x509::keys::{Algorithm, SignatureAlgorithm};
use rustls::crypto::{CryptoProvider, SecureRandom};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use zeroize::Zeroizing;

use self::post_quantum_key::PostQuantumKey;
use self::restricted::RestrictedKey;
use crate::algorithms::KeyAlgorithm;
use crate::interned::{Interned, Same};
use crate::tls::other;
use crate::verify::{SlhDsa, post_quantum_schemes};

/// Loads ML-DSA private keys, and SLH-DSA keys if told to; leaves all others to
/// the base.
///
/// An ML-DSA key is a PKCS#8 document (RFC 9881, section 6) that holds a seed, an
/// expanded key or both. If it is malformed or contradicts itself, the error is
/// [`Error::Other`] around a [`pq_x509::keys::KeyError`] that says how.
#[derive(Debug)]
pub struct KeyProvider {
    base: &'static dyn rustls::crypto::KeyProvider,
    random: &'static dyn SecureRandom,
    /// The schemes that keys may sign with; `None` means all.
    schemes: Option<Vec<SignatureScheme>>,
    slh_dsa: SlhDsa,
}

impl KeyProvider {
    /// Makes a key provider that leaves keys of algorithms that pq-x509 lacks to `base`, and hedges the
    /// signatures of its own keys with `random`.
    pub const fn new(
        base: &'static dyn rustls::crypto::KeyProvider,
        random: &'static dyn SecureRandom,
    ) -> Self {
        Self {
            base,
            random,
            schemes: None,
            slh_dsa: SlhDsa::InChains,
        }
    }

    /// Loads SLH-DSA keys as well, to sign handshakes with: see
    /// [`Builder::experimental_slh_dsa`](crate::Builder::experimental_slh_dsa).
    #[cfg(feature = "slh-dsa")]
    pub fn experimental_slh_dsa(mut self) -> Self {
        self.slh_dsa = SlhDsa::InChainsAndHandshakes;
        self
    }

    /// Lets keys sign with these schemes only, and refuses keys that have none of them.
    pub fn restrict_to(mut self, schemes: impl IntoIterator<Item = SignatureScheme>) -> Self {
        self.schemes = Some(schemes.into_iter().collect());
        self
    }

    fn load(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        // A key of one of our algorithms is never offered to the base, whose parser may be
        // more lenient, or whose error less precise.
        match &key {
            PrivateKeyDer::Pkcs8(pkcs8)
                if Algorithm::of_pkcs8_der(pkcs8.secret_pkcs8_der()).is_some() => {}
            _ => return self.base.load_private_key(key),
        }

        let key = Zeroizing::new(key);
        let key = pq_x509::keys::SigningKey::from_pkcs8_der(key.secret_der()).map_err(other)?;
        let algorithm = key.algorithm();
        let key = PostQuantumKey::new(key, self.random)?;
        match post_quantum_schemes(self.slh_dsa).contains(&key.scheme()) {
            true => Ok(Arc::new(key)),
            false => Err(other(Experimental { algorithm })),
        }
    }
}

/// Whether the keys of a provider may sign with `scheme`, which is that of a key for `algorithm`.
///
/// What a provider of this crate restricts its own keys to holds for those elsewhere as well. Nobody knows what
/// restrictions another provider has.
fn check_allowed(
    provider: &CryptoProvider,
    algorithm: KeyAlgorithm,
    scheme: SignatureScheme,
) -> Result<(), Error> {
    let ours = PROVIDERS.find(|one| ptr::addr_eq(one, provider.key_provider));
    let (schemes, slh_dsa) = match ours {
        Some(KeyProvider {
            schemes, slh_dsa, ..
        }) => (schemes.as_ref(), *slh_dsa),
        None => (None, SlhDsa::InChains),
    };
    if let KeyAlgorithm::PostQuantum(algorithm) = algorithm
        && !post_quantum_schemes(slh_dsa).contains(&scheme)
    {
        return Err(other(Experimental { algorithm }));
    }
    match schemes {
        Some(schemes) if !schemes.contains(&scheme) => Err(restricted::refused(schemes)),
        _ => Ok(()),
    }
}

impl rustls::crypto::KeyProvider for KeyProvider {
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        let key = self.load(key)?;
        match &self.schemes {
            None => Ok(key),
            Some(schemes) => Ok(Arc::new(RestrictedKey::new(key, schemes)?)),
        }
    }
}

/// The key provider over that of `base`, for keys that sign with `schemes`.
pub(crate) fn key_provider_over(
    base: &CryptoProvider,
    schemes: Option<Vec<SignatureScheme>>,
    slh_dsa: SlhDsa,
) -> &'static dyn rustls::crypto::KeyProvider {
    let key = (
        Same(base.key_provider),
        Same(base.secure_random),
        schemes.clone(),
        slh_dsa,
    );
    PROVIDERS.find_or_insert(key, || {
        Box::new(KeyProvider {
            schemes,
            slh_dsa,
            ..KeyProvider::new(base.key_provider, base.secure_random)
        })
    })
}

type Key = (
    Same<dyn rustls::crypto::KeyProvider>,
    Same<dyn SecureRandom>,
    Option<Vec<SignatureScheme>>,
    SlhDsa,
);

/// Those of the providers that this crate has made.
static PROVIDERS: Interned<Key, KeyProvider> = Interned::new();

/// An SLH-DSA key was loaded, but SLH-DSA wasn't enabled for handshakes.
#[derive(Debug, thiserror::Error)]
#[error(
    "{algorithm} keys are for signing certificates; in TLS handshakes they are experimental, and few \
     peers accept them: use an ML-DSA key, whose certificate an SLH-DSA root may have issued, or call \
     Builder::experimental_slh_dsa()"
)]
struct Experimental {
    algorithm: SignatureAlgorithm,
}
