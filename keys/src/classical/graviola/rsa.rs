//! RSA keys, which sign by each `RsaScheme`, implemented with graviola.

use graviola::Error;
use graviola::signing::rsa::{KeySize, SigningKey};
use zeroize::Zeroizing;

use super::{Key, LONG_ENOUGH, not_signed};
use crate::classical::algorithm::RsaScheme;
use crate::classical::error::ClassicalKeyError;
use crate::classical::private_key::PrivateKey;

pub(super) struct Rsa(SigningKey);

impl Rsa {
    pub(super) fn generate(size: KeySize) -> Result<Key, Error> {
        Ok(Box::new(Self(SigningKey::generate(size)?)))
    }

    pub(super) fn read(rsa_private_key: &[u8]) -> Result<Key, Error> {
        Ok(Box::new(Self(SigningKey::from_pkcs1_der(rsa_private_key)?)))
    }
}

impl PrivateKey for Rsa {
    fn spki(&self) -> Vec<u8> {
        let mut buffer = [0; MAX_DER_LEN];
        let public_key = self.0.public_key();
        let spki = public_key.to_spki_der(&mut buffer).expect(LONG_ENOUGH);
        spki.to_vec()
    }

    fn pkcs8(&self) -> Zeroizing<Vec<u8>> {
        let mut buffer = Zeroizing::new([0; MAX_DER_LEN]);
        let pkcs8 = self.0.to_pkcs8_der(&mut *buffer).expect(LONG_ENOUGH);
        pkcs8.to_vec().into()
    }

    fn raw(&self) -> Option<Zeroizing<Vec<u8>>> {
        None
    }

    fn sign(&self, message: &[u8], scheme: RsaScheme) -> Result<Vec<u8>, ClassicalKeyError> {
        let mut signature = vec![0; self.0.modulus_len_bytes()];
        let place = &mut signature;
        match scheme {
            RsaScheme::Pkcs1Sha256 => self.0.sign_pkcs1_sha256(place, message),
            RsaScheme::Pkcs1Sha384 => self.0.sign_pkcs1_sha384(place, message),
            RsaScheme::Pkcs1Sha512 => self.0.sign_pkcs1_sha512(place, message),
            RsaScheme::PssSha256 => self.0.sign_pss_sha256(place, message),
            RsaScheme::PssSha384 => self.0.sign_pss_sha384(place, message),
            RsaScheme::PssSha512 => self.0.sign_pss_sha512(place, message),
        }
        .map_err(not_signed)?;
        Ok(signature)
    }
}

/// More than the longest encoding of a key of 4096 bits, which is PKCS#8 with some 2,375 bytes.
const MAX_DER_LEN: usize = 3072;
