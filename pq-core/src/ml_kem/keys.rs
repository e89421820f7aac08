//! `EncapsulationKey` and `DecapsulationKey`: the encodings of keys, the checks of FIPS 203, section 7, and the
//! operations. The algorithms are in `generation`, `encapsulation` and `decapsulation`.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::ciphertext::Ciphertext;
use super::expansion::Expansion;
use super::generation::{self, Generation};
use super::params::ParameterSet;
use super::ring::{ENCODED_LEN, Matrix, Multiplier, Tq, VectorT, decode, zero_t};
use super::sampling::H;
use super::shared_secret::SharedSecret;
use super::{SEED_LEN, SHARED_SECRET_LEN, k_pke, sampling};
use crate::Error;
use crate::arch::{Backend, Choice, Vector, choose, declassify, dispatch, in_place, try_in_place};
use crate::dimension::{Array, Dimension, array};
use crate::hash::lanes::{self, MAX_LANES};
use crate::hash::sha3::{self, Function};
use crate::hex::public_bytes;
use crate::place;
use crate::secret::{Zero, copy_seed, wipe};

/// An encapsulation key that passed the input checks of FIPS 203, section 7.2.
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

    /// Makes a shared secret and the ciphertext that carries it to the owner of the decapsulation
    /// key (ML-KEM.Encaps, FIPS 203, algorithm 20).
    ///
    /// `randomness` is the standard's m: 32 bytes from a cryptographic random number generator,
    /// never used before or after.
    ///
    /// Taking the returned pair apart moves it, which leaves a copy of the secret on the stack:
    /// [`encapsulate_into`](Self::encapsulate_into) leaves none.
    pub fn encapsulate(&self, randomness: &[u8; 32]) -> (Ciphertext<P>, SharedSecret) {
        self.encapsulate_with(choose(), randomness)
    }

    /// [`encapsulate`](Self::encapsulate), on a backend.
    pub(super) fn encapsulate_with(
        &self,
        backend: Choice,
        m: &[u8; 32],
    ) -> (Ciphertext<P>, SharedSecret) {
        in_place(
            || (Ciphertext::<P>::zero(), SharedSecret::zero()),
            |(c, secret)| P::encaps(backend, self, m, c.0.as_mut(), &mut secret.0),
        )
    }

    /// [`encapsulate`](Self::encapsulate) that writes ciphertext and secret directly to their final
    /// place.
    ///
    /// The caller has to wipe the secret, for example with `Zeroizing` of the crate zeroize.
    ///
    /// ```
    /// use pq_core::ml_kem::{DecapsulationKey, MlKem768, ParameterSet};
    ///
    /// # fn random<const N: usize>() -> [u8; N] { [7; N] }
    /// # let mut place = None;
    /// # let decapsulation_key = DecapsulationKey::<MlKem768>::from_seed_into(&random(), &mut place);
    /// let encapsulation_key = decapsulation_key.encapsulation_key();
    /// let mut ciphertext = vec![0; MlKem768::CIPHERTEXT_LEN];
    /// let mut ours = [0; 32];
    /// encapsulation_key.encapsulate_into(&random(), &mut ciphertext, &mut ours)?;
    ///
    /// let mut theirs = [0; 32];
    /// decapsulation_key.decapsulate_into(&ciphertext, &mut theirs)?;
    /// assert_eq!(ours, theirs);
    /// # Ok::<(), pq_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if `ciphertext` does not have
    /// [`P::CIPHERTEXT_LEN`](ParameterSet::CIPHERTEXT_LEN) bytes; then nothing is written.
    pub fn encapsulate_into(
        &self,
        randomness: &[u8; 32],
        ciphertext: &mut [u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<(), Error> {
        Error::check_length(P::CIPHERTEXT_LEN, ciphertext)?;
        P::encaps(choose(), self, randomness, ciphertext, secret);
        Ok(())
    }
}

/// The input checks of FIPS 203, section 7.2, for an encapsulation key; writes **t̂**, which must
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

/// A decapsulation key with its encapsulation key. Wiped when dropped.
///
/// It keeps values that decapsulation would otherwise compute again: 512 bytes for each entry of
/// the k by k matrix **Â**, and 1024 for each element of the secret **ŝ**, ready to be multiplied.
///
/// # Memory
///
/// A key wipes itself where it is dropped, but a move copies it and leaves the old bytes behind. So
/// make it in its final place, with [`from_seed_into`](Self::from_seed_into),
/// [`from_expanded_into`](Self::from_expanded_into) or, with the feature `alloc`, `boxed_from_seed`
/// and `boxed_from_expanded`: they write to that place alone. [`from_seed`](Self::from_seed),
/// [`from_expanded`](Self::from_expanded) and `clone` return a key by value: the compiler may move
/// it on its way to the caller, and a copy can stay on the stack until something overwrites it. The
/// same applies to a [`SharedSecret`]; [`encapsulate_into`](EncapsulationKey::encapsulate_into) and
/// [`decapsulate_into`](Self::decapsulate_into) leave no copy of it.
///
/// Key size and peak stack use in KiB, including the place of the result, measured on x86-64 with
/// optimisation (without it, more):
///
/// | | size of a key | stack: `from_seed` | `from_expanded` | `encapsulate` | `decapsulate` |
/// |---|---|---|---|---|---|
/// | [`MlKem512`](super::MlKem512) | 6 | 24 | 24 | 12 | 16 |
/// | [`MlKem768`](super::MlKem768) | 10 | 32 | 36 | 16 | 16 |
/// | [`MlKem1024`](super::MlKem1024) | 16 | 44 | 48 | 24 | 20 |
pub struct DecapsulationKey<P: ParameterSet> {
    pub(super) encapsulation_key: EncapsulationKey<P>,
    pub(super) matrix: Matrix<P>,
    /// H(ek), unless it is left to decapsulation.
    pub(super) h: Option<[u8; 32]>,
    pub(super) s_hat: Multiplier<P>,
    pub(super) z: [u8; 32],
    pub(super) seed: Option<[u8; SEED_LEN]>,
}

impl<P: ParameterSet> DecapsulationKey<P> {
    /// Makes the key pair of a seed d ‖ z (ML-KEM.KeyGen, FIPS 203, algorithm 19).
    ///
    /// To generate a key, pass 64 fresh bytes from a cryptographic random
    /// number generator; to load a stored one, pass the same bytes again.
    ///
    /// Returns the key by value, which can leave a copy of it on the stack.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        let [d, z] = sampling::halves(seed);
        Self::from_seed_with(choose(), d, z)
    }

    /// [`from_seed`](Self::from_seed), on a backend.
    pub(super) fn from_seed_with(backend: Choice, d: &[u8; 32], z: &[u8; 32]) -> Self {
        in_place(Self::zero, |key| P::keygen(backend, key, d, z, true))
    }

    /// [`from_seed`](Self::from_seed) that makes the key in its final place; drops the previous
    /// content of `place`.
    ///
    /// ```
    /// use pq_core::ml_kem::{DecapsulationKey, MlKem768};
    ///
    /// # fn random<const N: usize>() -> [u8; N] { [7; N] }
    /// let mut place = None;
    /// let key = DecapsulationKey::<MlKem768>::from_seed_into(&random(), &mut place);
    /// assert_eq!(key.seed(), Some(&random()));
    /// ```
    pub fn from_seed_into<'p>(seed: &[u8; SEED_LEN], place: &'p mut Option<Self>) -> &'p Self {
        let [d, z] = sampling::halves(seed);
        place::insert(place, Self::zero, |key| {
            P::keygen(choose(), key, d, z, true);
        })
    }

    /// [`from_seed`](Self::from_seed) into a box, which is allocated before the key is made.
    #[cfg(feature = "alloc")]
    pub fn boxed_from_seed(seed: &[u8; SEED_LEN]) -> Box<Self> {
        let [d, z] = sampling::halves(seed);
        place::boxed(Self::zero, |key| P::keygen(choose(), key, d, z, true))
    }

    /// [`from_seed_into`](Self::from_seed_into) for a key that decapsulates once, such as a client's in TLS: to make
    /// and to use it takes less time together, where eight permutations are computed at once.
    ///
    /// It is the same key. H(ek), which FIPS 203 makes part of dk, is the longest chain of permutations in key
    /// generation; here it is computed in decapsulation, beside J(z ‖ c), which is as long. Each further
    /// decapsulation computes it again.
    ///
    /// ```
    /// use pq_core::ml_kem::{DecapsulationKey, EncapsulationKey, MlKem768, ParameterSet};
    ///
    /// # fn random<const N: usize>() -> [u8; N] { [7; N] }
    /// let mut place = None;
    /// let key = DecapsulationKey::<MlKem768>::for_one_exchange_into(&random(), &mut place);
    ///
    /// // the peer, with what it received
    /// let peer = EncapsulationKey::<MlKem768>::from_bytes(key.encapsulation_key().as_bytes())?;
    /// let (mut sent, mut theirs) = ([0; MlKem768::CIPHERTEXT_LEN], [0; 32]);
    /// peer.encapsulate_into(&random(), &mut sent, &mut theirs)?;
    ///
    /// let mut ours = [0; 32];
    /// key.decapsulate_into(&sent, &mut ours)?;
    /// assert_eq!(ours, theirs);
    /// # Ok::<(), pq_core::Error>(())
    /// ```
    pub fn for_one_exchange_into<'p>(
        seed: &[u8; SEED_LEN],
        place: &'p mut Option<Self>,
    ) -> &'p Self {
        place::insert(place, Self::zero, |key| key.generate_for_one_exchange(seed))
    }

    /// [`for_one_exchange_into`](Self::for_one_exchange_into) a box, which is allocated before the key is made.
    #[cfg(feature = "alloc")]
    pub fn boxed_for_one_exchange(seed: &[u8; SEED_LEN]) -> Box<Self> {
        place::boxed(Self::zero, |key| key.generate_for_one_exchange(seed))
    }

    fn generate_for_one_exchange(&mut self, seed: &[u8; SEED_LEN]) {
        fn lanes<B: Backend>(_: B) -> usize {
            B::U64s::LANES
        }

        let [d, z] = sampling::halves(seed);
        let backend = choose();
        // Of eight lanes, key generation fills few while it hashes. Four are full, and it hashes at once.
        let hashes = dispatch!(backend, b => lanes(b) < MAX_LANES);
        P::keygen(backend, self, d, z, hashes);
    }

    /// ML-KEM.KeyGen_internal (FIPS 203, algorithm 16), into a key of zeros.
    pub(super) fn generate<B: Backend>(
        b: B,
        key: &mut Self,
        d: &[u8; 32],
        z: &[u8; 32],
        hashes: bool,
    ) {
        key.set_seed(d, z);
        let mut space = generation::Space::zero();
        lanes::serve(b, &mut Generation::new(b, d, key, hashes, &mut space));
    }

    /// Sets z and the seed d ‖ z.
    pub(super) fn set_seed(&mut self, d: &[u8; 32], z: &[u8; 32]) {
        self.z.copy_from_slice(z);
        let seed = self.seed.insert([0; SEED_LEN]);
        seed[..32].copy_from_slice(d);
        seed[32..].copy_from_slice(z);
    }

    /// A key of zeros, to be written over, so that no secret is moved.
    pub(super) fn zero() -> Self {
        Self {
            encapsulation_key: EncapsulationKey::zero(),
            matrix: Matrix::zero(),
            h: None,
            s_hat: Multiplier::zero(),
            z: [0; 32],
            seed: None,
        }
    }

    /// Reads and checks an expanded key of
    /// [`P::DECAPSULATION_KEY_LEN`](ParameterSet::DECAPSULATION_KEY_LEN) bytes.
    ///
    /// In addition to the standard's checks (FIPS 203, section 7.3), it checks that the secret
    /// belongs to the public part, which costs about as much as a key generation.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`]; [`Error::UnreducedCoefficient`] if the encapsulation key inside
    /// fails its check; [`Error::HashMismatch`] if the hash check fails;
    /// [`Error::SecretOutOfRange`] if ŝ is not reduced; [`Error::InconsistentKey`] if the secret
    /// does not belong to the encapsulation key.
    pub fn from_expanded(bytes: &[u8]) -> Result<Self, Error> {
        try_in_place(Self::zero, |key| {
            P::decode_decapsulation_key(choose(), key, bytes)
        })
    }

    /// [`from_expanded`](Self::from_expanded) that makes the key in its final place; drops the
    /// previous content of `place`.
    ///
    /// # Errors
    ///
    /// Those of [`from_expanded`](Self::from_expanded); then `place` is empty.
    pub fn from_expanded_into<'p>(
        bytes: &[u8],
        place: &'p mut Option<Self>,
    ) -> Result<&'p Self, Error> {
        place::try_insert(place, Self::zero, |key| {
            P::decode_decapsulation_key(choose(), key, bytes)
        })
    }

    /// [`from_expanded`](Self::from_expanded) into a box, which is allocated before the key is
    /// made.
    ///
    /// # Errors
    ///
    /// Those of [`from_expanded`](Self::from_expanded).
    #[cfg(feature = "alloc")]
    pub fn boxed_from_expanded(bytes: &[u8]) -> Result<Box<Self>, Error> {
        place::try_boxed(Self::zero, |key| {
            P::decode_decapsulation_key(choose(), key, bytes)
        })
    }

    /// Reads and checks an expanded key, into a key of zeros.
    pub(super) fn decode<B: Backend>(b: B, key: &mut Self, bytes: &[u8]) -> Result<(), Error> {
        Error::check_length(P::DECAPSULATION_KEY_LEN, bytes)?;
        // dk = ByteEncode₁₂(ŝ) ‖ ek ‖ H(ek) ‖ z
        let (s_hat, rest) = bytes.split_at(ENCODED_LEN * P::K::N);
        let (ek, rest) = rest.split_at(P::ENCAPSULATION_KEY_LEN);
        let (h, z) = rest.split_at(32);

        key.encapsulation_key = EncapsulationKey::from_bytes_with(b, ek)?;
        key.z.copy_from_slice(z);
        let Self {
            encapsulation_key: ek,
            matrix,
            h: hash,
            ..
        } = &mut *key;
        let hash = hash.insert([0; 32]);
        lanes::serve(b, &mut Expansion::new(b, ek.as_bytes(), hash, matrix));
        if hash != h {
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
    }

    /// Sets **ŝ**, and returns whether all coefficients were reduced. If not, the key must not be
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

    /// The seed d ‖ z, if the key was made from one: an expanded key does not contain it.
    pub fn seed(&self) -> Option<&[u8; SEED_LEN]> {
        self.seed.as_ref()
    }

    /// The expanded key as the standard encodes it (FIPS 203, algorithm 16).
    ///
    /// Returns it by value, which can leave a copy of it on the stack:
    /// [`to_expanded_into`](Self::to_expanded_into) leaves none.
    pub fn to_expanded(&self) -> Zeroizing<Array<P::DecapsulationKeyLen, u8>> {
        in_place(
            || Zeroizing::new(P::DecapsulationKeyLen::from_fn(|_| 0)),
            |bytes| self.encode((**bytes).as_mut()),
        )
    }

    /// [`to_expanded`](Self::to_expanded) that writes the encoded key directly to its final place.
    /// The caller has to wipe it.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if `output` does not have
    /// [`P::DECAPSULATION_KEY_LEN`](ParameterSet::DECAPSULATION_KEY_LEN) bytes; then nothing is
    /// written.
    pub fn to_expanded_into(&self, output: &mut [u8]) -> Result<(), Error> {
        Error::check_length(P::DECAPSULATION_KEY_LEN, output)?;
        self.encode(output);
        Ok(())
    }

    /// Writes dk = ByteEncode₁₂(ŝ) ‖ ek ‖ H(ek) ‖ z.
    fn encode(&self, output: &mut [u8]) {
        let (s_hat, rest) = output.split_at_mut(ENCODED_LEN * P::K::N);
        let (ek, rest) = rest.split_at_mut(P::ENCAPSULATION_KEY_LEN);
        let (h, z) = rest.split_at_mut(32);
        P::encode_secret(choose(), self, s_hat);
        ek.copy_from_slice(self.encapsulation_key.as_bytes());
        match &self.h {
            Some(known) => h.copy_from_slice(known),
            None => {
                let (Function { rate, suffix }, ek) = (H, self.encapsulation_key.as_bytes());
                dispatch!(choose(), b => sha3::hash(b, rate, suffix, &[ek], h));
            }
        }
        z.copy_from_slice(&self.z);
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
    /// A ciphertext that was not made for this key gives a secret that nobody else can know, and
    /// that is always the same for the same ciphertext (implicit rejection): its sender cannot
    /// learn from this that it was rejected.
    ///
    /// Returns the secret by value, which can leave a copy of it on the stack:
    /// [`decapsulate_into`](Self::decapsulate_into) leaves none.
    pub fn decapsulate(&self, ciphertext: &Ciphertext<P>) -> SharedSecret {
        self.decapsulate_with(choose(), ciphertext)
    }

    /// [`decapsulate`](Self::decapsulate), on a backend.
    pub(super) fn decapsulate_with(
        &self,
        backend: Choice,
        ciphertext: &Ciphertext<P>,
    ) -> SharedSecret {
        in_place(SharedSecret::zero, |secret| {
            P::decaps(backend, self, ciphertext.as_bytes(), &mut secret.0)
        })
    }

    /// [`decapsulate`](Self::decapsulate) without copies: reads the ciphertext where it is, and
    /// writes the secret directly to its final place.
    ///
    /// The caller has to wipe the secret.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if `ciphertext` does not have
    /// [`P::CIPHERTEXT_LEN`](ParameterSet::CIPHERTEXT_LEN) bytes (the check of FIPS 203, section 7.3);
    /// then nothing is written.
    pub fn decapsulate_into(
        &self,
        ciphertext: &[u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<(), Error> {
        Error::check_length(P::CIPHERTEXT_LEN, ciphertext)?;
        P::decaps(choose(), self, ciphertext, secret);
        Ok(())
    }
}

/// [`clone_from`](Clone::clone_from) writes over a key in its place; [`clone`](Clone::clone)
/// returns a key by value, which can leave a copy of it on the stack.
impl<P: ParameterSet> Clone for DecapsulationKey<P> {
    fn clone(&self) -> Self {
        in_place(Self::zero, |key| key.clone_from(self))
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            encapsulation_key,
            matrix,
            h,
            s_hat,
            z,
            seed,
        } = self;
        encapsulation_key.clone_from(&source.encapsulation_key);
        matrix.clone_from(&source.matrix);
        h.clone_from(&source.h);
        s_hat.copy_from(&source.s_hat);
        z.copy_from_slice(&source.z);
        copy_seed(seed, &source.seed);
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

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;

    use super::DecapsulationKey;
    use crate::arch::{
        Backend, InCrate, Vector, check_wiped, choose, dispatch, on_each_backend, part,
    };
    use crate::ml_kem::internal::{decaps, encaps, keygen};
    use crate::ml_kem::{MlKem512, MlKem768, MlKem1024, ParameterSet, sampling};

    /// Its keys and secrets are those of a key that hashes at once, for ciphertexts that were made for it and for
    /// others, the first time and again; and so are its encoding and its copy.
    #[test]
    fn a_key_for_one_exchange_is_the_same_key() {
        fn check<P: ParameterSet, B: Backend>(b: B) {
            for i in 0..20 {
                let seed: [u8; 64] = core::array::from_fn(|n| n as u8 ^ i);
                let [d, z] = sampling::halves(&seed);
                let lasting = keygen::<P, _>(b, d, z);
                let mut key = DecapsulationKey::<P>::zero();
                P::keygen(b.choice(InCrate), &mut key, d, z, false);
                assert_eq!((key.h, key.seed()), (None, Some(&seed)));
                let ek = key.encapsulation_key();
                assert_eq!(ek.as_bytes(), lasting.encapsulation_key().as_bytes());

                let (accepted, secret) = encaps(b, ek, &[i; 32]);
                let mut changed = accepted.clone();
                changed.0.as_mut()[usize::from(i)] ^= 1;
                let rejected = decaps(b, &lasting, &changed);
                assert_ne!(rejected, secret);
                for key in [&key, &key.clone()] {
                    for (c, secret) in [(&accepted, &secret), (&changed, &rejected)] {
                        assert_eq!(decaps(b, key, c), *secret);
                    }
                    assert_eq!(*key.to_expanded().as_ref(), *lasting.to_expanded().as_ref());
                }
            }
        }

        on_each_backend!(b => {
            check::<MlKem512, _>(b);
            check::<MlKem768, _>(b);
            check::<MlKem1024, _>(b);
        });
    }

    /// Where they are not, it hashes at once.
    #[test]
    fn a_key_for_one_exchange_is_hashed_later_where_eight_lanes_are() {
        fn lanes<B: Backend>(_: B) -> usize {
            B::U64s::LANES
        }

        let later = dispatch!(choose(), b => lanes(b) == 8);
        let seed = core::array::from_fn(|n| n as u8);
        let mut place = None;
        let key = DecapsulationKey::<MlKem768>::for_one_exchange_into(&seed, &mut place);
        let lasting = DecapsulationKey::<MlKem768>::from_seed(&seed);
        assert_eq!(key.h, lasting.h.filter(|_| !later));
        assert_eq!(*key.to_expanded().as_ref(), *lasting.to_expanded().as_ref());
        #[cfg(feature = "alloc")]
        {
            let boxed = DecapsulationKey::<MlKem768>::boxed_for_one_exchange(&seed);
            assert_eq!((boxed.h, boxed.z), (key.h, key.z));
        }
    }

    #[test]
    fn secrets_are_wiped() {
        fn check<P: ParameterSet>() {
            check_wiped(DecapsulationKey::<P>::from_seed(&[7; 64]), |key| {
                // all fields, so that nobody forgets a new one; these first are public
                let DecapsulationKey {
                    encapsulation_key: _,
                    matrix: _,
                    h: _,
                    s_hat,
                    z,
                    seed,
                } = key;
                vec![
                    part(key, "s", s_hat),
                    part(key, "z", z),
                    part(key, "the seed", seed.as_ref().unwrap()),
                ]
            });
        }

        check::<MlKem512>();
        check::<MlKem768>();
        check::<MlKem1024>();
    }
}
