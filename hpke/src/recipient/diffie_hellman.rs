//! DHKEM (RFC 9180, section 4.1) on X25519 and P-256, with HKDF-SHA256.
//!
//! X25519 runs on every CPU, P-256 where graviola does. graviola checks points when it reads them (section 7.1.4).

use alloc::sync::Arc;

#[cfg(feature = "classical")]
use pq_keys::agreement::{AgreementKey, AgreementPublicKey};
#[cfg(feature = "classical")]
use pq_keys::classical::{AgreementAlgorithm, ClassicalAgreementKey, ClassicalAgreementPublicKey};
use pq_keys::random;
use pq_keys::x_wing::SECRET_LEN;
use subtle::ConstantTimeEq;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};
use zeroize::Zeroizing;

use super::error::KemError;
use super::kem::Kem;
use crate::suite::extract_and_expand;

/// Length of a private key of either curve, and of a point of X25519, in bytes.
const LEN: usize = 32;

/// A public key of either curve.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum DhPublicKey {
    X25519([u8; LEN]),
    #[cfg(feature = "classical")]
    P256(ClassicalAgreementPublicKey),
}

impl DhPublicKey {
    pub(super) fn kem(&self) -> Kem {
        match self {
            Self::X25519(_) => Kem::DhX25519,
            #[cfg(feature = "classical")]
            Self::P256(_) => Kem::DhP256,
        }
    }

    /// DeserializePublicKey
    pub(super) fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, KemError> {
        check_length("a public key", kem, kem.enc_len(), bytes)?;
        match kem {
            #[cfg(feature = "classical")]
            Kem::DhP256 => {
                let key = ClassicalAgreementPublicKey::from_bytes(P256, bytes);
                Ok(Self::P256(key?))
            }
            Kem::DhX25519 => Ok(Self::X25519(array(bytes))),
            other => Err(KemError::NotCompiledIn(other)),
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::X25519(bytes) => bytes,
            #[cfg(feature = "classical")]
            Self::P256(key) => key.as_bytes(),
        }
    }

    /// Encap
    pub(super) fn encapsulate(&self, secret: &mut [u8; SECRET_LEN]) -> Result<Vec<u8>, KemError> {
        let (enc, agreed) = match self {
            Self::X25519(point) => {
                let mut scalar = Zeroizing::new([0; LEN]);
                random::fill(&mut *scalar).map_err(KemError::Randomness)?;
                (point_of(&scalar).to_vec(), agree(&scalar, point)?)
            }
            #[cfg(feature = "classical")]
            Self::P256(key) => {
                let agreement = key.agree_once()?;
                (agreement.public_key, agreement.secret)
            }
        };
        self.derive(&agreed, &enc, secret);
        Ok(enc)
    }

    fn derive(&self, agreed: &[u8], enc: &[u8], secret: &mut [u8; SECRET_LEN]) {
        extract_and_expand(self.kem().id(), agreed, [enc, self.as_bytes()], secret);
    }
}

/// A private key of either curve. Clones share one key, which is wiped when the last of them is dropped.
#[derive(Clone)]
pub(super) struct DhPrivateKey {
    scalar: Scalar,
    public_key: DhPublicKey,
}

#[derive(Clone)]
enum Scalar {
    X25519(Arc<Zeroizing<[u8; LEN]>>),
    #[cfg(feature = "classical")]
    P256(ClassicalAgreementKey),
}

impl DhPrivateKey {
    pub(super) fn generate(kem: Kem) -> Result<Self, KemError> {
        match kem {
            #[cfg(feature = "classical")]
            Kem::DhP256 => Self::on_p256(ClassicalAgreementKey::generate(P256)?),
            Kem::DhX25519 => {
                let mut scalar = Zeroizing::new([0; LEN]);
                random::fill(&mut *scalar).map_err(KemError::Randomness)?;
                Self::from_bytes(kem, &*scalar)
            }
            other => Err(KemError::NotCompiledIn(other)),
        }
    }

    /// DeserializePrivateKey
    pub(super) fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, KemError> {
        check_length("a private key", kem, LEN, bytes)?;
        match kem {
            #[cfg(feature = "classical")]
            Kem::DhP256 => Self::on_p256(ClassicalAgreementKey::from_raw(P256, bytes)?),
            Kem::DhX25519 => {
                let mut scalar = Zeroizing::new([0; LEN]);
                scalar.copy_from_slice(bytes);
                Ok(Self {
                    public_key: DhPublicKey::X25519(point_of(&scalar)),
                    scalar: Scalar::X25519(Arc::new(scalar)),
                })
            }
            other => Err(KemError::NotCompiledIn(other)),
        }
    }

    #[cfg(feature = "classical")]
    fn on_p256(key: ClassicalAgreementKey) -> Result<Self, KemError> {
        Ok(Self {
            public_key: DhPublicKey::P256(key.public_key().clone()),
            scalar: Scalar::P256(key),
        })
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        match &self.scalar {
            Scalar::X25519(scalar) => scalar.to_vec().into(),
            #[cfg(feature = "classical")]
            Scalar::P256(key) => key.to_raw(),
        }
    }

    pub(super) fn public_key(&self) -> &DhPublicKey {
        &self.public_key
    }

    /// Decap
    pub(super) fn decapsulate(
        &self,
        enc: &[u8],
        secret: &mut [u8; SECRET_LEN],
    ) -> Result<(), KemError> {
        let kem = self.public_key.kem();
        check_length("an encapsulated secret", kem, kem.enc_len(), enc)?;
        let agreed = match &self.scalar {
            Scalar::X25519(scalar) => agree(scalar, &array(enc))?,
            #[cfg(feature = "classical")]
            Scalar::P256(key) => key.agree(enc)?,
        };
        self.public_key.derive(&agreed, enc, secret);
        Ok(())
    }
}

#[cfg(feature = "classical")]
const P256: AgreementAlgorithm = AgreementAlgorithm::EcdhP256;

fn check_length(
    what: &'static str,
    kem: Kem,
    expected: usize,
    bytes: &[u8],
) -> Result<(), KemError> {
    match bytes.len() {
        found if found != expected => Err(KemError::Length {
            what,
            kem,
            expected,
            found,
        }),
        _ => Ok(()),
    }
}

/// A point of X25519, whose length was checked.
fn array(bytes: &[u8]) -> [u8; LEN] {
    bytes.try_into().expect("its length was checked")
}

/// The point that belongs to a scalar.
fn point_of(scalar: &[u8; LEN]) -> [u8; LEN] {
    x25519(*scalar, X25519_BASEPOINT_BYTES)
}

/// The secret of X25519, which is zero for points of low order.
fn agree(scalar: &[u8; LEN], point: &[u8; LEN]) -> Result<Zeroizing<Vec<u8>>, KemError> {
    let secret = Zeroizing::new(x25519(*scalar, *point));
    match bool::from(secret.ct_eq(&[0; LEN])) {
        true => Err(KemError::LowOrder),
        false => Ok(secret.to_vec().into()),
    }
}
