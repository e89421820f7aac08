use graviola::Error;
use graviola::signing::eddsa::Ed25519SigningKey;
use zeroize::Zeroizing;

use super::{Key, LONG_ENOUGH};
use crate::classical::algorithm::RsaScheme;
use crate::classical::error::ClassicalKeyError;
use crate::classical::private_key::PrivateKey;

pub(super) struct Ed25519(Ed25519SigningKey);

impl Ed25519 {
    pub(super) fn generate() -> Result<Key, Error> {
        Ok(Box::new(Self(Ed25519SigningKey::generate()?)))
    }

    pub(super) fn read(curve_private_key: &[u8]) -> Result<Key, Error> {
        let (header, seed) = curve_private_key
            .split_first_chunk()
            .ok_or(Error::WrongLength)?;
        match *header == OCTET_STRING {
            true => Self::from_raw(seed),
            false => Err(Error::WrongLength),
        }
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

    /// Without the public key, which graviola would write beside the seed: not all who import keys
    /// know version 2 of PKCS#8.
    fn pkcs8(&self) -> Zeroizing<Vec<u8>> {
        let seed = Zeroizing::new(self.0.as_seed());
        [&PKCS8[..], &OCTET_STRING, &*seed].concat().into()
    }

    fn raw(&self) -> Option<Zeroizing<Vec<u8>>> {
        let seed = Zeroizing::new(self.0.as_seed());
        Some(seed.to_vec().into())
    }

    fn sign(&self, message: &[u8], _: RsaScheme) -> Result<Vec<u8>, ClassicalKeyError> {
        Ok(self.0.sign(message).into())
    }
}

/// What stands before the CurvePrivateKey in PKCS#8 (RFC 8410, section 7): version, algorithm, and the
/// head of an OCTET STRING.
const PKCS8: [u8; 14] = [
    0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22,
];

/// The head of a CurvePrivateKey, an OCTET STRING of 32 bytes.
const OCTET_STRING: [u8; 2] = [4, 32];
