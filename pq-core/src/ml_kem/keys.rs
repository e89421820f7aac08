use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::encapsulation::Expansion;
use super::generation::{self, Generation};
use super::params::ParameterSet;
use super::ring::{ENCODED_LEN, Matrix, Multiplier, Tq, VectorT, decode, zero_t};
use super::{SEED_LEN, SHARED_SECRET_LEN, k_pke, sampling};
use crate::Error;
use crate::arch::{Backend, choose, declassify, in_place, try_in_place};
use crate::dimension::{Array, Dimension, array};
use crate::hash::lanes;
use crate::hex::public_bytes;
use crate::secret::{Zero, wipe};

/// An encapsulation key, which passed the input checks of FIPS 203, section 7.2.
#[derive(Clone)]
pub struct EncapsulationKey<P: ParameterSet> {
    /// ByteEncode₁₂(t̂) ‖ ρ
    bytes: Array<P::EncapsulationKeyLen, u8>,
    pub(super) t_hat: VectorT<P>,
}

impl<P: ParameterSet> EncapsulationKey<P> {
    /// Reads and checks an encapsulation key of
    /// [`P::ENCAPSULATION_KEY_LEN`](ParameterSet::ENCAPSULATION_KEY_LEN) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`], and [`Error::UnreducedCoefficient`] if the modulus check
    /// of FIPS 203, section 7.2, fails.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        P::encapsulation_key(choose(), bytes)
    }

    pub(super) fn from_bytes_with<B: Backend>(b: B, bytes: &[u8]) -> Result<Self, Error> {
        let mut key = Self {
            bytes: array::<P::EncapsulationKeyLen>(bytes)?,
            t_hat: zero_t::<P>(),
        };
        check::<P, B>(b, bytes, key.t_hat.as_mut())?;
        Ok(key)
    }

    /// A key of zeros, to be written over.
    fn zero() -> Self {
        Self {
            bytes: P::EncapsulationKeyLen::from_fn(|_| 0),
            t_hat: zero_t::<P>(),
        }
    }

    /// Encodes element i of **t̂**.
    pub(super) fn encode_element<B: Backend>(&mut self, b: B, i: usize) {
        let bytes = &mut self.bytes.as_mut()[ENCODED_LEN * i..][..ENCODED_LEN];
        self.t_hat.as_ref()[i].encode(b, bytes);
    }

    pub(super) fn set_rho(&mut self, rho: &[u8; 32]) {
        self.bytes.as_mut()[ENCODED_LEN * P::K::N..].copy_from_slice(rho);
    }

    /// The key as the standard encodes it.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Makes a shared secret and the ciphertext that carries it to the holder of the
    /// decapsulation key (ML-KEM.Encaps, FIPS 203, algorithm 20).
    ///
    /// `randomness` is the m of the standard: 32 bytes from a cryptographic
    /// random number generator, never used before or after.
    pub fn encapsulate(&self, randomness: &[u8; 32]) -> (Ciphertext<P>, SharedSecret) {
        P::encaps(choose(), self, randomness)
    }
}

/// The input checks of FIPS 203, section 7.2, of an encapsulation key; writes **t̂**, which must
/// not be used after an error.
pub(super) fn check<P: ParameterSet, B: Backend>(
    b: B,
    ek: &[u8],
    t_hat: &mut [Tq],
) -> Result<(), Error> {
    Error::check_length(P::ENCAPSULATION_KEY_LEN, ek)?;
    if decode(b, ek, t_hat) {
        Ok(())
    } else {
        Err(Error::UnreducedCoefficient)
    }
}

/// ρ, the seed of **Â**, in an encapsulation key.
pub(super) fn rho(ek: &[u8]) -> &[u8; 32] {
    ek.last_chunk()
        .expect("the key ends with the 32 bytes of ρ")
}

public_bytes!(EncapsulationKey);

/// A decapsulation key, whose parts belong together. Wiped when dropped.
///
/// It keeps what decapsulation would otherwise compute anew: 512 bytes for each
/// entry of the k by k matrix **Â**, and 1024 for each element of the secret **ŝ**, ready to be
/// multiplied.
///
/// # Memory
///
/// Put a key into a `Box` or an `Arc` as soon as it is made, and don't move it again: while
/// it wipes itself where it is dropped, a move copies it and leaves the old bytes behind.
/// Making a key works in place and wipes its temporaries, but ends with such a move, to
/// the caller: a copy can stay on the stack until it is written over. The same goes
/// for a [`SharedSecret`].
///
/// In KiB, with stack use at its peak as measured on x86-64 with optimisation (without it is
/// more), the place of the result included:
///
/// | | size of a key | stack: `from_seed` | `from_expanded` | `encapsulate` | `decapsulate` |
/// |---|---|---|---|---|---|
/// | [`MlKem512`](super::MlKem512) | 6 | 24 | 24 | 12 | 16 |
/// | [`MlKem768`](super::MlKem768) | 10 | 32 | 36 | 16 | 16 |
/// | [`MlKem1024`](super::MlKem1024) | 16 | 44 | 48 | 24 | 20 |
#[derive(Clone)]
pub struct DecapsulationKey<P: ParameterSet> {
    pub(super) encapsulation_key: EncapsulationKey<P>,
    pub(super) matrix: Matrix<P>,
    /// H(ek)
    pub(super) h: [u8; 32],
    pub(super) s_hat: Multiplier<P>,
    pub(super) z: [u8; 32],
    pub(super) seed: Option<[u8; SEED_LEN]>,
}

impl<P: ParameterSet> DecapsulationKey<P> {
    /// Makes the key pair of a seed d ‖ z (ML-KEM.KeyGen, FIPS 203, algorithm 19).
    ///
    /// To generate a key, pass 64 fresh bytes from a cryptographic random
    /// number generator; to load a stored one, pass the same bytes again.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        let [d, z] = sampling::halves(seed);
        P::keygen(choose(), d, z)
    }

    /// ML-KEM.KeyGen_internal (FIPS 203, algorithm 16).
    pub(super) fn from_seed_with<B: Backend>(b: B, d: &[u8; 32], z: &[u8; 32]) -> Self {
        in_place(Self::zero, |key| {
            key.set_seed(d, z);
            let mut space = generation::Space::zero();
            lanes::serve(b, &mut Generation::new(b, d, key, &mut space));
        })
    }

    /// Sets z and the seed d ‖ z.
    pub(super) fn set_seed(&mut self, d: &[u8; 32], z: &[u8; 32]) {
        self.z = *z;
        let seed = self.seed.insert([0; SEED_LEN]);
        seed[..32].copy_from_slice(d);
        seed[32..].copy_from_slice(z);
    }

    /// A key of zeros, to be written over: so that nothing secret is moved about.
    pub(super) fn zero() -> Self {
        Self {
            encapsulation_key: EncapsulationKey::zero(),
            matrix: Matrix::zero(),
            h: [0; 32],
            s_hat: Multiplier::zero(),
            z: [0; 32],
            seed: None,
        }
    }

    /// Reads and checks an expanded key of
    /// [`P::DECAPSULATION_KEY_LEN`](ParameterSet::DECAPSULATION_KEY_LEN) bytes.
    ///
    /// Beyond the standard's checks (FIPS 203, section 7.3) this one finds out whether
    /// the secret belongs to the public part, which costs about as much as a
    /// key generation.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`]; [`Error::UnreducedCoefficient`] if the encapsulation key
    /// inside fails its check; [`Error::HashMismatch`] if the hash check fails;
    /// [`Error::SecretOutOfRange`] if ŝ is not reduced; [`Error::InconsistentKey`] if
    /// the secret is not that of the encapsulation key.
    pub fn from_expanded(bytes: &[u8]) -> Result<Self, Error> {
        P::decapsulation_key(choose(), bytes)
    }

    pub(super) fn from_expanded_with<B: Backend>(b: B, bytes: &[u8]) -> Result<Self, Error> {
        Error::check_length(P::DECAPSULATION_KEY_LEN, bytes)?;
        // dk = ByteEncode₁₂(ŝ) ‖ ek ‖ H(ek) ‖ z
        let (s_hat, rest) = bytes.split_at(ENCODED_LEN * P::K::N);
        let (ek, rest) = rest.split_at(P::ENCAPSULATION_KEY_LEN);
        let (h, z) = rest.split_at(32);

        try_in_place(Self::zero, |key| {
            key.encapsulation_key = EncapsulationKey::from_bytes_with(b, ek)?;
            key.z.copy_from_slice(z);
            let Self {
                encapsulation_key: ek,
                matrix,
                h: hash,
                ..
            } = key;
            lanes::serve(b, &mut Expansion::new(b, ek.as_bytes(), hash, matrix));
            if key.h != h {
                return Err(Error::HashMismatch);
            }
            // whether a key is refused, and why, is public
            let mut in_range = key.set_secret(b, s_hat);
            declassify(&mut in_range);
            if !in_range {
                return Err(Error::SecretOutOfRange);
            }
            let t_hat = key.encapsulation_key.t_hat.as_ref();
            let mut consistent = k_pke::is_consistent(b, &key.matrix, &key.s_hat, t_hat);
            declassify(&mut consistent);
            if consistent {
                Ok(())
            } else {
                Err(Error::InconsistentKey)
            }
        })
    }

    /// Sets **ŝ**, and says whether all coefficients were reduced. If not, the key must not be
    /// used. Runs in constant time.
    fn set_secret<B: Backend>(&mut self, b: B, bytes: &[u8]) -> bool {
        let mut element = Zeroizing::new(Tq::ZERO);
        let mut reduced = true;
        for (i, bytes) in bytes.chunks_exact(ENCODED_LEN).enumerate() {
            reduced &= element.decode(b, bytes);
            element.reduce(b);
            self.s_hat.set(b, i, &element);
        }
        reduced
    }

    /// The seed d ‖ z, if the key was made from one: an expanded key does not tell.
    pub fn seed(&self) -> Option<&[u8; SEED_LEN]> {
        self.seed.as_ref()
    }

    /// The expanded key as the standard encodes it (FIPS 203, algorithm 16).
    pub fn to_expanded(&self) -> Zeroizing<Array<P::DecapsulationKeyLen, u8>> {
        let mut bytes = Zeroizing::new(P::DecapsulationKeyLen::from_fn(|_| 0));
        let (s_hat, rest) = bytes.as_mut().split_at_mut(ENCODED_LEN * P::K::N);
        let (ek, rest) = rest.split_at_mut(P::ENCAPSULATION_KEY_LEN);
        let (h, z) = rest.split_at_mut(32);
        P::encode_secret(choose(), self, s_hat);
        ek.copy_from_slice(self.encapsulation_key.as_bytes());
        h.copy_from_slice(&self.h);
        z.copy_from_slice(&self.z);
        bytes
    }

    /// ByteEncode₁₂(ŝ)
    pub(super) fn encode_secret<B: Backend>(b: B, key: &Self, output: &mut [u8]) {
        let mut element = Zeroizing::new(Tq::ZERO);
        for (i, output) in output.chunks_exact_mut(ENCODED_LEN).enumerate() {
            key.s_hat.element(i, &mut element);
            element.encode(b, output);
        }
    }

    /// The encapsulation key of the pair.
    pub fn encapsulation_key(&self) -> &EncapsulationKey<P> {
        &self.encapsulation_key
    }

    /// The shared secret that `ciphertext` carries (ML-KEM.Decaps, FIPS 203,
    /// algorithm 21).
    ///
    /// A ciphertext that was not made for this key gives a secret that nobody else
    /// can know, and that is always the same for the same ciphertext (implicit
    /// rejection): whoever sent it learns from nothing here that it was rejected.
    pub fn decapsulate(&self, ciphertext: &Ciphertext<P>) -> SharedSecret {
        P::decaps(choose(), self, ciphertext)
    }
}

impl<P: ParameterSet> Drop for DecapsulationKey<P> {
    fn drop(&mut self) {
        wipe(&mut self.z);
        if let Some(seed) = &mut self.seed {
            wipe(seed);
        }
    }
}

impl<P: ParameterSet> ZeroizeOnDrop for DecapsulationKey<P> {}

impl<P: ParameterSet> fmt::Debug for DecapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecapsulationKey<{}>(..)", P::NAME)
    }
}

/// A ciphertext: any bytes of the right length.
#[derive(Clone)]
pub struct Ciphertext<P: ParameterSet>(pub(super) Array<P::CiphertextLen, u8>);

impl<P: ParameterSet> Ciphertext<P> {
    /// Reads a ciphertext of [`P::CIPHERTEXT_LEN`](ParameterSet::CIPHERTEXT_LEN) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] (the check of FIPS 203, section 7.3).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        array::<P::CiphertextLen>(bytes).map(Self)
    }

    /// A ciphertext of zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self(P::CiphertextLen::from_fn(|_| 0))
    }

    /// The ciphertext as the standard encodes it.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
}

public_bytes!(Ciphertext);

/// A shared secret of 32 bytes. Compared in constant time, wiped when dropped.
#[derive(Clone)]
pub struct SharedSecret(pub(super) [u8; SHARED_SECRET_LEN]);

impl SharedSecret {
    /// Zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self([0; SHARED_SECRET_LEN])
    }

    /// The secret.
    pub fn as_bytes(&self) -> &[u8; SHARED_SECRET_LEN] {
        &self.0
    }
}

impl Drop for SharedSecret {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl ZeroizeOnDrop for SharedSecret {}

impl ConstantTimeEq for SharedSecret {
    fn ct_eq(&self, other: &Self) -> subtle::Choice {
        self.0.ct_eq(&other.0)
    }
}

impl Eq for SharedSecret {}

impl PartialEq for SharedSecret {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSecret(..)")
    }
}
