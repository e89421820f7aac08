//! Private keys of X-Wing, as seeds and in PKCS#8: generation and decapsulation. The tests compare it with RustCrypto's
//! X-Wing.

use alloc::sync::Arc;
use core::fmt;

use crate::encoding::pem;
use crate::keys::{SubjectKey, random};
use pkcs8::PrivateKeyInfoRef;
use pkcs8::der::asn1::OctetStringRef;
use pkcs8::der::{Decode, Encode};
use pki_types::SubjectPublicKeyInfoDer;
use pq_core::ml_kem::{DecapsulationKey, MlKem768, ParameterSet};
use pq_core::wiping_stack;
use zeroize::Zeroizing;

use super::error::XWingError;
use super::mechanism::{
    CIPHERTEXT_LEN, Expanded, POINT_LEN, PRIVATE_KEY_LEN, agree, combine, expand, point_of,
};
use super::public_key::XWingPublicKey;
use super::{IDENTIFIER, SECRET_LEN, check_identifier};

/// A private key of X-Wing.
///
/// Clones share one key, which is wiped when the last of them is dropped. X25519 takes its scalar by value,
/// which may leave copies on the stack.
#[derive(Clone)]
pub struct XWingPrivateKey(Arc<Key>);

struct Key {
    seed: Zeroizing<[u8; PRIVATE_KEY_LEN]>,
    ml_kem: Box<DecapsulationKey<MlKem768>>,
    x25519: Zeroizing<[u8; POINT_LEN]>,
    public_key: XWingPublicKey,
}

impl XWingPrivateKey {
    /// Length of a raw key, in bytes.
    pub const LEN: usize = PRIVATE_KEY_LEN;

    /// Makes a new key from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`XWingError::Randomness`] if there is none.
    pub fn generate() -> Result<Self, XWingError> {
        let mut seed = Zeroizing::new([0; PRIVATE_KEY_LEN]);
        random::fill(&mut *seed).map_err(XWingError::Randomness)?;
        Self::from_bytes(&*seed)
    }

    /// Expands the raw key, which is a seed of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`XWingError::Length`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, XWingError> {
        if bytes.len() != PRIVATE_KEY_LEN {
            return Err(XWingError::length("a private key", PRIVATE_KEY_LEN, bytes));
        }
        wiping_stack(|| Self::expanded(bytes))
    }

    /// Expands bytes of the right length.
    fn expanded(bytes: &[u8]) -> Result<Self, XWingError> {
        let mut seed = Zeroizing::new([0; PRIVATE_KEY_LEN]);
        seed.copy_from_slice(bytes);
        let Expanded { ml_kem, x25519 } = expand(&seed);
        let ml_kem = DecapsulationKey::boxed_from_seed(&ml_kem);
        let public_key = [ml_kem.encapsulation_key().as_bytes(), &point_of(&x25519)].concat();
        Ok(Self(Arc::new(Key {
            public_key: XWingPublicKey::from_bytes(&public_key)?,
            seed,
            ml_kem,
            x25519,
        })))
    }

    /// Reads a PKCS#8 private key (RFC 5958, version 1 or 2) from DER, whose privateKey is the raw key. A
    /// public key beside it has to match.
    ///
    /// # Errors
    ///
    /// An [`XWingError`] that says what is wrong with it.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, XWingError> {
        let info = PrivateKeyInfoRef::from_der(der)?;
        check_identifier(&info.algorithm)?;
        let key = Self::from_bytes(info.private_key.as_bytes())?;
        match info.public_key {
            Some(bits) if bits.as_bytes() != Some(key.public_key().as_bytes()) => {
                Err(XWingError::PublicKeyMismatch)
            }
            _ => Ok(key),
        }
    }

    /// Reads the first `PRIVATE KEY` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`XWingError::Pem`] if there is none, and the errors of [`from_pkcs8_der`](Self::from_pkcs8_der).
    pub fn from_pkcs8_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, XWingError> {
        Self::from_pkcs8_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// The public half.
    pub fn public_key(&self) -> &XWingPublicKey {
        &self.0.public_key
    }

    /// The raw key.
    pub fn as_bytes(&self) -> &[u8; PRIVATE_KEY_LEN] {
        &self.0.seed
    }

    /// PKCS#8 of version 1, as DER.
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        const SHORT: &str = "it is shorter than DER allows";
        let key = OctetStringRef::new(self.as_bytes()).expect(SHORT);
        let info = PrivateKeyInfoRef::new(IDENTIFIER, key);
        Zeroizing::new(info.to_der().expect(SHORT))
    }

    /// The same as PEM.
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        Zeroizing::new(pem::encode(PEM_LABEL, &self.to_pkcs8_der()))
    }

    /// Recovers the shared secret from a ciphertext, and writes it to `secret`, which the caller wipes. A
    /// ciphertext that was not made for this key gives a secret that nobody else has.
    ///
    /// # Errors
    ///
    /// [`XWingError::Length`], and [`XWingError::LowOrder`] for a ciphertext that was not made as the draft
    /// says; then nothing is written.
    pub fn decapsulate_into(
        &self,
        ciphertext: &[u8],
        secret: &mut [u8; SECRET_LEN],
    ) -> Result<(), XWingError> {
        let length = || XWingError::length("a ciphertext", CIPHERTEXT_LEN, ciphertext);
        let (of_ml_kem, of_x25519) = ciphertext
            .split_at_checked(MlKem768::CIPHERTEXT_LEN)
            .ok_or_else(length)?;
        let of_x25519 = of_x25519.try_into().map_err(|_| length())?;
        wiping_stack(|| {
            let agreed = agree(&self.0.x25519, of_x25519)?;
            let mut ml_kem = Zeroizing::new([0; SECRET_LEN]);
            self.0
                .ml_kem
                .decapsulate_into(of_ml_kem, &mut ml_kem)
                .map_err(XWingError::MlKem)?;
            let public_key = self.public_key().x25519();
            combine(&ml_kem, &agreed, of_x25519, public_key, secret);
            Ok(())
        })
    }
}

impl SubjectKey for XWingPrivateKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.public_key().spki()
    }
}

impl fmt::Debug for XWingPrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("XWingPrivateKey")
    }
}

const PEM_LABEL: &str = "PRIVATE KEY";

#[cfg(test)]
mod tests {
    use x_wing::{Decapsulate, DecapsulationKey, Decapsulator, KeyExport};

    use super::*;

    /// RustCrypto's X-Wing makes the same keys, ciphertexts and secrets; its tests have the draft's vectors.
    #[test]
    fn a_peer_makes_the_same() {
        for case in 0..20 {
            let bytes = |what: u8| core::array::from_fn(|i| what ^ case ^ (7 * i) as u8);
            let seed: [u8; 32] = bytes(1);
            let key = XWingPrivateKey::from_bytes(&seed).unwrap();
            let peer = DecapsulationKey::from(seed);
            let peers = peer.encapsulation_key();
            assert_eq!(key.public_key().as_bytes(), peers.to_bytes().as_slice());

            let (m, scalar): ([u8; 32], [u8; 32]) = (bytes(2), bytes(3));
            let mut secret = [0; SECRET_LEN];
            let public_key = key.public_key();
            let ciphertext = public_key.encapsulate_with(&m, &scalar, &mut secret);
            let ciphertext = ciphertext.unwrap();
            let randomness: [u8; 64] = [m, scalar].concat().try_into().unwrap();
            let (expected, shared) = peers.encapsulate_deterministic(&randomness.into());
            assert_eq!(ciphertext, expected.as_slice());
            assert_eq!(secret[..], shared[..]);

            // for a changed ciphertext both recover the same other secret
            for at in [0, 1087, 1088, 1119] {
                let mut changed = ciphertext.clone();
                changed[at] ^= 1;
                key.decapsulate_into(&changed, &mut secret).unwrap();
                let theirs = peer.decapsulate(changed.as_slice().try_into().unwrap());
                assert_eq!(secret[..], theirs[..], "{at}");
                assert_ne!(secret[..], shared[..], "{at}");
            }
        }
    }

    #[test]
    fn points_of_low_order_are_refused() {
        let key = XWingPrivateKey::from_bytes(&[1; 32]).unwrap();
        let mut secret = [0; SECRET_LEN];
        let mut ciphertext = key.public_key().encapsulate_into(&mut secret).unwrap();
        // the points 0, 1 and p - 1
        let minus_one = core::array::from_fn(|i| match i {
            0 => 0xec,
            31 => 0x7f,
            _ => 0xff,
        });
        let one = core::array::from_fn(|i| u8::from(i == 0));
        for point in [[0; POINT_LEN], one, minus_one] {
            ciphertext[MlKem768::CIPHERTEXT_LEN..].copy_from_slice(&point);
            let refused = key.decapsulate_into(&ciphertext, &mut secret);
            assert_eq!(refused, Err(XWingError::LowOrder));
            let mut bytes = key.public_key().as_bytes().to_vec();
            bytes[MlKem768::ENCAPSULATION_KEY_LEN..].copy_from_slice(&point);
            let hostile = XWingPublicKey::from_bytes(&bytes).unwrap();
            assert_eq!(
                hostile.encapsulate_into(&mut secret),
                Err(XWingError::LowOrder)
            );
        }
    }
}
