//! X25519 keys, which agree on secrets, implemented with graviola.

use graviola::Error;
use graviola::key_agreement::x25519::{PublicKey, StaticPrivateKey};
use zeroize::Zeroizing;

use super::clearing::Clearing;
use super::{curve_private_key, malformed};
use crate::classical::error::ClassicalKeyError;
use crate::classical::family::Family;
use crate::classical::private_key::Agreeing;

pub(super) struct X25519(StaticPrivateKey);

impl X25519 {
    pub(super) fn generate() -> Result<Box<dyn Agreeing>, Error> {
        Ok(Box::new(Self(StaticPrivateKey::new_random()?)))
    }

    pub(super) fn read(curve_private_key: &[u8]) -> Result<Box<dyn Agreeing>, Error> {
        Self::from_raw(curve_private_key::read(curve_private_key)?)
    }

    pub(super) fn from_raw(key: &[u8]) -> Result<Box<dyn Agreeing>, Error> {
        let key = key.try_into().map_err(|_| Error::WrongLength)?;
        Ok(Box::new(Self(StaticPrivateKey::from_array(key))))
    }
}

impl Agreeing for X25519 {
    fn public_key(&self) -> Vec<u8> {
        self.0.public_key().as_bytes().to_vec()
    }

    fn pkcs8(&self) -> Zeroizing<Vec<u8>> {
        curve_private_key::pkcs8(0x6e, &Zeroizing::new(self.0.as_bytes()))
    }

    fn raw(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(Zeroizing::new(self.0.as_bytes()).to_vec())
    }

    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, ClassicalKeyError> {
        let _clearing = Clearing;
        let secret = PublicKey::try_from_slice(public_key)
            .and_then(|public_key| self.0.diffie_hellman(&public_key));
        let secret = secret.map_err(malformed(Family::X25519))?;
        Ok(secret.0.to_vec().into())
    }
}
