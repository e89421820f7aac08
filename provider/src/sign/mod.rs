//! Signing: post-quantum keys beside the base's keys.

// This room uses `verify`, `algorithms`, `interned` and `tls`.

mod post_quantum;
mod post_quantum_key;
mod restricted;

use alloc::sync::Arc;

use pq_x509::keys::{Algorithm, SignatureAlgorithm};
use rustls::crypto::{CryptoProvider, SecureRandom};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use zeroize::Zeroizing;

use self::post_quantum_key::PostQuantumKey;
use self::restricted::RestrictedKey;
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
    type Key = (
        Same<dyn rustls::crypto::KeyProvider>,
        Same<dyn SecureRandom>,
        Option<Vec<SignatureScheme>>,
        SlhDsa,
    );
    static PROVIDERS: Interned<Key, KeyProvider> = Interned::new();
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
