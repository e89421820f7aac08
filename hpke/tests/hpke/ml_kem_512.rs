//! RustCrypto's ML-KEM-512 as a mechanism for the crate `hpke`, which doesn't have ML-KEM-512.

use hpke::hybrid_array::typenum::{U32, U64};
use hpke::hybrid_array::{Array, ArraySize};
use hpke::kem::{Kem, SharedSecret};
use hpke::rand_core::CryptoRng;
use hpke::{Deserializable, HpkeError, Serializable};
use ml_kem::kem::{Decapsulate, Encapsulate, Kem as Mechanism};
use ml_kem::{
    DecapsulationKey, EncapsulationKey, FromSeed, KeyExport, KeySizeUser, MlKem512 as Set,
};
use subtle::{Choice, ConstantTimeEq};

pub(crate) struct MlKem512;

/// A key or a ciphertext, as it is sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Bytes<N: ArraySize>(Array<u8, N>);

impl<N: ArraySize> Serializable for Bytes<N> {
    type OutputSize = N;

    fn write_exact(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.0);
    }
}

impl<N: ArraySize> Deserializable for Bytes<N> {
    fn from_bytes(bytes: &[u8]) -> Result<Self, HpkeError> {
        let bytes = Array::try_from(bytes);
        bytes.map(Self).map_err(|_| HpkeError::ValidationError)
    }
}

impl<N: ArraySize> ConstantTimeEq for Bytes<N> {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.as_slice().ct_eq(other.0.as_slice())
    }
}

fn keys(seed: &Bytes<U64>) -> (DecapsulationKey<Set>, EncapsulationKey<Set>) {
    Set::from_seed(&seed.0)
}

impl Kem for MlKem512 {
    type PublicKey = Bytes<<EncapsulationKey<Set> as KeySizeUser>::KeySize>;
    type PrivateKey = Bytes<U64>;
    type EncappedKey = Bytes<<Set as Mechanism>::CiphertextSize>;
    type NSecret = U32;

    // draft-ietf-hpke-pq, section 3
    const KEM_ID: u16 = 0x0040;

    fn sk_to_pk(key: &Self::PrivateKey) -> Self::PublicKey {
        Bytes(keys(key).1.to_bytes())
    }

    /// Expects a seed, since nothing here derives keys from anything else.
    fn derive_keypair(seed: &[u8]) -> (Self::PrivateKey, Self::PublicKey) {
        let key = Bytes::from_bytes(seed).unwrap();
        let public = Self::sk_to_pk(&key);
        (key, public)
    }

    fn decap(
        key: &Self::PrivateKey,
        _: Option<&Self::PublicKey>,
        ciphertext: &Self::EncappedKey,
    ) -> Result<SharedSecret<Self>, HpkeError> {
        Ok(SharedSecret(keys(key).0.decapsulate(&ciphertext.0)))
    }

    fn encap_with_rng(
        key: &Self::PublicKey,
        _: Option<(&Self::PrivateKey, &Self::PublicKey)>,
        random: &mut impl CryptoRng,
    ) -> Result<(SharedSecret<Self>, Self::EncappedKey), HpkeError> {
        let key = EncapsulationKey::<Set>::new(&key.0);
        let key = key.map_err(|_| HpkeError::ValidationError)?;
        let (ciphertext, secret) = key.encapsulate_with_rng(random);
        Ok((SharedSecret(secret), Bytes(ciphertext)))
    }
}
