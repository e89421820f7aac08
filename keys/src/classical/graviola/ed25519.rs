//! Ed25519 keys, which sign, implemented with graviola.

use graviola::Error;
use graviola::signing::eddsa::Ed25519SigningKey;
use zeroize::Zeroizing;

use super::{Key, LONG_ENOUGH, curve_private_key};
use crate::classical::algorithm::RsaScheme;
use crate::classical::error::ClassicalKeyError;
use crate::classical::private_key::PrivateKey;

pub(super) struct Ed25519(Ed25519SigningKey);

impl Ed25519 {
    pub(super) fn generate() -> Result<Key, Error> {
        Ok(Box::new(Self(Ed25519SigningKey::generate()?)))
    }

    pub(super) fn read(curve_private_key: &[u8]) -> Result<Key, Error> {
        Self::from_raw(curve_private_key::read(curve_private_key)?)
    }

    pub(super) fn from_raw(seed: &[u8]) -> Result<Key, Error> {
        Ok(Box::new(Self(Ed25519SigningKey::from_bytes(seed)?)))
    }
}

impl PrivateKey for Ed25519 {
    fn spki(&self) -> Vec<u8> {
        let mut buffer = [0; 64];
        let public_key = self.0.public_key();
        let spki = public_key.to_spki_der(&mut buffer).expect(LONG_ENOUGH);
        spki.to_vec()
    }

    fn pkcs8(&self) -> Zeroizing<Vec<u8>> {
        let seed = Zeroizing::new(self.0.as_seed());
        curve_private_key::pkcs8(0x70, &seed)
    }

    fn raw(&self) -> Option<Zeroizing<Vec<u8>>> {
        let seed = Zeroizing::new(self.0.as_seed());
        Some(seed.to_vec().into())
    }

    fn sign(&self, message: &[u8], _: RsaScheme) -> Result<Vec<u8>, ClassicalKeyError> {
        Ok(self.0.sign(message).into())
    }
}
