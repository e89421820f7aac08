//! Signing: ML-DSA keys beside those of the base.

mod ml_dsa;
mod ml_dsa_key;
mod restricted;

use alloc::sync::Arc;

use pq_x509::Algorithm;
use rustls::crypto::{CryptoProvider, SecureRandom};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use zeroize::Zeroizing;

use self::ml_dsa_key::MlDsaKey;
pub(crate) use self::ml_dsa_key::scheme_of;
use self::restricted::RestrictedKey;
use crate::interned::{Interned, Same};
use crate::tls::other;

/// Loads ML-DSA private keys, and leaves all others to the base.
///
/// An ML-DSA key is a PKCS#8 document (RFC 9881, section 6) that holds a seed, an
/// expanded key or both. One that is malformed or contradicts itself is an
/// [`Error::Other`] with the [`pq_x509::KeyError`] that says how.
#[derive(Debug)]
pub struct KeyProvider {
    base: &'static dyn rustls::crypto::KeyProvider,
    random: &'static dyn SecureRandom,
    /// What keys may sign with; `None` is everything.
    schemes: Option<Vec<SignatureScheme>>,
}

impl KeyProvider {
    /// A key provider that gives what isn't ML-DSA to `base`, and hedges ML-DSA
    /// signatures with `random`.
    pub const fn new(
        base: &'static dyn rustls::crypto::KeyProvider,
        random: &'static dyn SecureRandom,
    ) -> Self {
        Self {
            base,
            random,
            schemes: None,
        }
    }

    /// Lets keys sign with these schemes only, and refuses keys that have none of them.
    pub fn restrict_to(mut self, schemes: impl IntoIterator<Item = SignatureScheme>) -> Self {
        self.schemes = Some(schemes.into_iter().collect());
        self
    }

    fn load(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        // What claims to be ours is never offered to the base, whose parser may be
        // more lenient, or whose error less to the point.
        match &key {
            PrivateKeyDer::Pkcs8(pkcs8)
                if Algorithm::of_pkcs8_der(pkcs8.secret_pkcs8_der()).is_some() => {}
            _ => return self.base.load_private_key(key),
        }

        let key = Zeroizing::new(key);
        let key = pq_x509::SigningKey::from_pkcs8_der(key.secret_der()).map_err(other)?;
        Ok(Arc::new(MlDsaKey::new(key, self.random)?))
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
) -> &'static dyn rustls::crypto::KeyProvider {
    type Key = (
        Same<dyn rustls::crypto::KeyProvider>,
        Same<dyn SecureRandom>,
        Option<Vec<SignatureScheme>>,
    );
    static PROVIDERS: Interned<Key, KeyProvider> = Interned::new();
    let key = (
        Same(base.key_provider),
        Same(base.secure_random),
        schemes.clone(),
    );
    PROVIDERS.find_or_insert(key, || {
        Box::new(KeyProvider {
            schemes,
            ..KeyProvider::new(base.key_provider, base.secure_random)
        })
    })
}
