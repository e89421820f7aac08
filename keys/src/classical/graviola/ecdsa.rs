//! Keys on P-256 and P-384, implemented with graviola. The same type signs (ECDSA) and agrees on secrets (ECDH).

use graviola::Error;
use graviola::hashing::{Hash, Sha256, Sha384};
use graviola::key_agreement::{p256, p384};
use graviola::signing::ecdsa::{Curve, P256, P384, SigningKey};
use zeroize::Zeroizing;

use super::clearing::Clearing;
use super::{Key, LONG_ENOUGH, malformed, not_signed};
use crate::classical::algorithm::RsaScheme;
use crate::classical::error::ClassicalKeyError;
use crate::classical::family::Family;
use crate::classical::private_key::{Agreeing, PrivateKey};

/// A key on a curve.
pub(super) struct Ecdsa<C: Curve>(SigningKey<C>);

/// A curve with the hash of the same strength.
pub(super) trait Suite: Curve<PrivateKey: Send + Sync> + 'static {
    const FAMILY: Family;

    type Hash: Hash;

    fn from_scalar(scalar: &[u8]) -> Result<Self::PrivateKey, Error>;

    fn scalar(key: &Self::PrivateKey) -> Zeroizing<Vec<u8>>;

    /// The uncompressed point of a key.
    fn point(key: &Self::PrivateKey) -> Vec<u8>;

    /// The shared secret of ECDH: the x coordinate of the product of a key and a point.
    fn agree(key: &Self::PrivateKey, point: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error>;
}

macro_rules! suites {
    ($($curve:ident: $key:ty, $public_key:ty, $hash:ty;)+) => {$(
        impl Suite for $curve {
            const FAMILY: Family = Family::$curve;

            type Hash = $hash;

            fn from_scalar(scalar: &[u8]) -> Result<$key, Error> {
                <$key>::from_bytes(scalar)
            }

            fn scalar(key: &$key) -> Zeroizing<Vec<u8>> {
                let scalar = Zeroizing::new(key.as_bytes());
                scalar.to_vec().into()
            }

            fn point(key: &$key) -> Vec<u8> {
                key.public_key_uncompressed().to_vec()
            }

            fn agree(key: &$key, point: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
                let public_key = <$public_key>::from_x962_uncompressed(point)?;
                let secret = key.diffie_hellman(&public_key)?;
                Ok(secret.0.to_vec().into())
            }
        }
    )+};
}

suites! {
    P256: p256::StaticPrivateKey, p256::PublicKey, Sha256;
    P384: p384::StaticPrivateKey, p384::PublicKey, Sha384;
}

impl<C: Suite> Ecdsa<C> {
    pub(super) fn generate() -> Result<Key, Error> {
        Ok(Box::new(Self(SigningKey::generate()?)))
    }

    pub(super) fn read(ec_private_key: &[u8]) -> Result<Key, Error> {
        Ok(Box::new(Self(SigningKey::from_sec1_der(ec_private_key)?)))
    }

    pub(super) fn generate_agreeing() -> Result<Box<dyn Agreeing>, Error> {
        Ok(Box::new(Self(SigningKey::generate()?)))
    }

    pub(super) fn read_agreeing(ec_private_key: &[u8]) -> Result<Box<dyn Agreeing>, Error> {
        Ok(Box::new(Self(SigningKey::from_sec1_der(ec_private_key)?)))
    }

    pub(super) fn from_raw(scalar: &[u8]) -> Result<Key, Error> {
        Ok(Box::new(Self::from_scalar(scalar)?))
    }

    pub(super) fn agreeing_from_raw(scalar: &[u8]) -> Result<Box<dyn Agreeing>, Error> {
        Ok(Box::new(Self::from_scalar(scalar)?))
    }

    fn from_scalar(scalar: &[u8]) -> Result<Self, Error> {
        let private_key = C::from_scalar(scalar)?;
        Ok(Self(SigningKey { private_key }))
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

/// The same key for ECDH.
impl<C: Suite> Agreeing for Ecdsa<C> {
    fn public_key(&self) -> Vec<u8> {
        C::point(&self.0.private_key)
    }

    fn pkcs8(&self) -> Zeroizing<Vec<u8>> {
        PrivateKey::pkcs8(self)
    }

    fn raw(&self) -> Zeroizing<Vec<u8>> {
        C::scalar(&self.0.private_key)
    }

    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, ClassicalKeyError> {
        let _clearing = Clearing;
        C::agree(&self.0.private_key, public_key).map_err(malformed(C::FAMILY))
    }
}

/// More than the longest encoding of a P-384 key, which is PKCS#8 with 185 bytes.
const MAX_DER_LEN: usize = 256;
