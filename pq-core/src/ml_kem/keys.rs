use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::params::ParameterSet;
use super::ring::{ENCODED_LEN, MatrixT, Tq, VectorT, zero_matrix, zero_vector_t};
use super::{SEED_LEN, SHARED_SECRET_LEN, internal, k_pke, sampling};
use crate::Error;
use crate::arch::{Backend, dispatch};
use crate::dimension::{Array, Dimension};
use crate::hash::lanes;
use crate::wipe::wipe;

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
        dispatch!(b => Self::from_bytes_with(b, bytes))
    }

    fn from_bytes_with<B: Backend>(b: B, bytes: &[u8]) -> Result<Self, Error> {
        let bytes = array::<P::EncapsulationKeyLen>(bytes)?;
        let (t_hat, reduced) = decode::<P, B>(b, bytes.as_ref());
        if !reduced {
            return Err(Error::UnreducedCoefficient);
        }
        Ok(Self { bytes, t_hat })
    }

    /// The key that `t_hat` and ρ make.
    pub(super) fn new<B: Backend>(b: B, t_hat: VectorT<P>, rho: &[u8; 32]) -> Self {
        let mut bytes = P::EncapsulationKeyLen::from_fn(|_| 0);
        let (encoded, tail) = bytes.as_mut().split_at_mut(ENCODED_LEN * P::K::N);
        encode::<P, B>(b, &t_hat, encoded);
        tail.copy_from_slice(rho);
        Self { bytes, t_hat }
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
        dispatch!(b => internal::encaps(b, self, randomness))
    }

    /// ρ, the seed of **Â**.
    pub(super) fn rho(&self) -> &[u8; 32] {
        self.as_bytes()
            .last_chunk()
            .expect("the key ends with the 32 bytes of ρ")
    }
}

impl<P: ParameterSet> Eq for EncapsulationKey<P> {}

impl<P: ParameterSet> PartialEq for EncapsulationKey<P> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<P: ParameterSet> fmt::Debug for EncapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncapsulationKey<{}>(", P::NAME)?;
        hex(f, self.as_bytes())?;
        f.write_str(")")
    }
}

/// A decapsulation key, whose parts belong together. Wiped when dropped.
///
/// It keeps what decapsulation would otherwise compute anew: 512 bytes for each
/// entry of the k by k matrix **Â**, and the transformed secret.
#[derive(Clone)]
pub struct DecapsulationKey<P: ParameterSet> {
    pub(super) encapsulation_key: EncapsulationKey<P>,
    pub(super) matrix: MatrixT<P>,
    /// H(ek)
    pub(super) h: [u8; 32],
    pub(super) s_hat: VectorT<P>,
    pub(super) z: [u8; 32],
    pub(super) seed: Option<[u8; SEED_LEN]>,
}

impl<P: ParameterSet> DecapsulationKey<P> {
    /// Makes the key pair of a seed d ‖ z (ML-KEM.KeyGen, FIPS 203, algorithm 19).
    ///
    /// To generate a key, pass 64 fresh bytes from a cryptographic random
    /// number generator; to load a stored one, pass the same bytes again.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        let (d, z) = seed.split_at(32);
        let d = d.first_chunk().expect("a seed begins with 32 bytes of d");
        let z = z.first_chunk().expect("a seed ends with 32 bytes of z");
        dispatch!(b => internal::keygen(b, d, z))
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
        dispatch!(b => Self::from_expanded_with(b, bytes))
    }

    fn from_expanded_with<B: Backend>(b: B, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != P::DECAPSULATION_KEY_LEN {
            return Err(Error::WrongLength {
                expected: P::DECAPSULATION_KEY_LEN,
                actual: bytes.len(),
            });
        }
        // dk = ByteEncode₁₂(ŝ) ‖ ek ‖ H(ek) ‖ z
        let (s_hat, rest) = bytes.split_at(ENCODED_LEN * P::K::N);
        let (ek, rest) = rest.split_at(P::ENCAPSULATION_KEY_LEN);
        let (h, z) = rest.split_at(32);

        let mut key = Self {
            encapsulation_key: EncapsulationKey::from_bytes_with(b, ek)?,
            matrix: zero_matrix::<P>(),
            h: [0; 32],
            s_hat: zero_vector_t::<P>(),
            z: [0; 32],
            seed: None,
        };
        key.z.copy_from_slice(z);
        lanes::run(
            b,
            [sampling::h(ek, &mut key.h)]
                .into_iter()
                .chain(sampling::matrix::<B, P>(
                    b,
                    key.encapsulation_key.rho(),
                    &mut key.matrix,
                )),
        );
        if key.h != h {
            return Err(Error::HashMismatch);
        }
        let reduced;
        (key.s_hat, reduced) = decode::<P, B>(b, s_hat);
        if !reduced {
            return Err(Error::SecretOutOfRange);
        }
        if !k_pke::is_consistent::<P, B>(b, &key.matrix, &key.s_hat, &key.encapsulation_key.t_hat) {
            return Err(Error::InconsistentKey);
        }
        Ok(key)
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
        dispatch!(b => encode::<P, _>(b, &self.s_hat, s_hat));
        ek.copy_from_slice(self.encapsulation_key.as_bytes());
        h.copy_from_slice(&self.h);
        z.copy_from_slice(&self.z);
        bytes
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
        dispatch!(b => internal::decaps(b, self, ciphertext))
    }
}

impl<P: ParameterSet> Drop for DecapsulationKey<P> {
    fn drop(&mut self) {
        self.s_hat.as_mut().iter_mut().zeroize();
        self.z.zeroize();
        self.seed.zeroize();
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

    /// The ciphertext as the standard encodes it.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<P: ParameterSet> Eq for Ciphertext<P> {}

impl<P: ParameterSet> PartialEq for Ciphertext<P> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<P: ParameterSet> fmt::Debug for Ciphertext<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertext<{}>(", P::NAME)?;
        hex(f, self.as_bytes())?;
        f.write_str(")")
    }
}

/// A shared secret of 32 bytes. Compared in constant time, wiped when dropped.
#[derive(Clone)]
pub struct SharedSecret(pub(super) [u8; SHARED_SECRET_LEN]);

impl SharedSecret {
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

fn array<D: Dimension>(bytes: &[u8]) -> Result<Array<D, u8>, Error> {
    if bytes.len() != D::N {
        return Err(Error::WrongLength {
            expected: D::N,
            actual: bytes.len(),
        });
    }
    Ok(D::from_fn(|i| bytes[i]))
}

/// ByteEncode₁₂ of each element.
fn encode<P: ParameterSet, B: Backend>(b: B, vector: &VectorT<P>, output: &mut [u8]) {
    let outputs = output.chunks_exact_mut(ENCODED_LEN);
    for (element, output) in vector.as_ref().iter().zip(outputs) {
        element.encode(b, output);
    }
}

/// ByteDecode₁₂ of the first elements of `input`, and whether all coefficients are
/// reduced. If not, the vector must not be used.
fn decode<P: ParameterSet, B: Backend>(b: B, input: &[u8]) -> (VectorT<P>, bool) {
    let mut all_reduced = true;
    let vector = P::K::from_fn(|i| {
        let (element, reduced) = Tq::decode(b, &input[ENCODED_LEN * i..][..ENCODED_LEN]);
        all_reduced &= reduced;
        element
    });
    (vector, all_reduced)
}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
