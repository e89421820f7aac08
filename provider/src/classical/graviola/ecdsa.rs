use graviola::Error;
use graviola::hashing::{Hash, Sha256, Sha384};
use graviola::key_agreement::{p256, p384};
use graviola::signing::ecdsa::{Curve, P256, P384, SigningKey};
use zeroize::Zeroizing;

use super::{Key, LONG_ENOUGH, not_signed};
use crate::classical::algorithm::RsaScheme;
use crate::classical::error::ClassicalKeyError;
use crate::classical::private_key::PrivateKey;

/// A key on a curve.
pub(super) struct Ecdsa<C: Curve>(SigningKey<C>);

/// A curve with the hash that is as strong.
pub(super) trait Suite: Curve<PrivateKey: Send + Sync> + 'static {
    type Hash: Hash;

    fn from_scalar(scalar: &[u8]) -> Result<Self::PrivateKey, Error>;

    fn scalar(key: &Self::PrivateKey) -> Zeroizing<Vec<u8>>;
}

macro_rules! suites {
    ($($curve:ident: $key:ty, $hash:ty;)+) => {$(
        impl Suite for $curve {
            type Hash = $hash;

            fn from_scalar(scalar: &[u8]) -> Result<$key, Error> {
                <$key>::from_bytes(scalar)
            }

            fn scalar(key: &$key) -> Zeroizing<Vec<u8>> {
                let scalar = Zeroizing::new(key.as_bytes());
                scalar.to_vec().into()
            }
        }
    )+};
}

suites! {
    P256: p256::StaticPrivateKey, Sha256;
    P384: p384::StaticPrivateKey, Sha384;
}

impl<C: Suite> Ecdsa<C> {
    pub(super) fn generate() -> Result<Key, Error> {
        Ok(Box::new(Self(SigningKey::generate()?)))
    }

    pub(super) fn read(ec_private_key: &[u8]) -> Result<Key, Error> {
        Ok(Box::new(Self(SigningKey::from_sec1_der(ec_private_key)?)))
    }

    pub(super) fn from_raw(scalar: &[u8]) -> Result<Key, Error> {
        let private_key = C::from_scalar(scalar)?;
        Ok(Box::new(Self(SigningKey { private_key })))
    }
}

impl<C: Suite> PrivateKey for Ecdsa<C> {
    fn spki(&self) -> Vec<u8> {
        let mut buffer = [0; MAX_DER_LEN];
        let spki = self.0.to_spki_der(&mut buffer).expect(LONG_ENOUGH);
        spki.to_vec()
    }

    fn pkcs8(&self) -> Zeroizing<Vec<u8>> {
        let mut buffer = Zeroizing::new([0; MAX_DER_LEN]);
        let pkcs8 = self.0.to_pkcs8_der(&mut *buffer).expect(LONG_ENOUGH);
        pkcs8.to_vec().into()
    }

    fn raw(&self) -> Option<Zeroizing<Vec<u8>>> {
        Some(C::scalar(&self.0.private_key))
    }

    fn sign(&self, message: &[u8], _: RsaScheme) -> Result<Vec<u8>, ClassicalKeyError> {
        let mut buffer = [0; MAX_DER_LEN];
        let signature = self.0.sign_asn1::<C::Hash>(&[message], &mut buffer);
        Ok(signature.map_err(not_signed)?.to_vec())
    }
}

/// More than the longest document of a key on P-384 has, which is its PKCS#8 with 185 bytes.
const MAX_DER_LEN: usize = 256;
