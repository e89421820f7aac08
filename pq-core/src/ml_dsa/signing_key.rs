//! `SigningKey`: how a key is made from a seed or its expanded form, where its secrets are and how they are wiped, and
//! the functions that sign. The algorithms are in `expansion` and `signing`.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::SEED_LEN;
use super::encoding::{T0_LEN, s_len};
use super::expansion::{Expansion, Inspect, Parts, Vectors};
use super::params::ParameterSet;
use super::ring::{Matrix, Rq, Small, Tq};
use super::signature::Signature;
use super::verifying_key::VerifyingKey;
use crate::Error;
use crate::arch::{Backend, Choice, choose, declassify, in_place, try_in_place};
use crate::context::Context;
use crate::dimension::{Array, Dimension};
use crate::hash::lanes;
use crate::hash::sha3::shake256;
use crate::place;
use crate::prehash::{Digest, PreHash};
use crate::secret::{Secret, Zero, copy_seed, wipe};

/// A signing key with its verifying key. Wiped when dropped.
///
/// It keeps values that signing would otherwise compute again each time: 1024 bytes for each entry
/// of the k by ℓ matrix **Â**, and the secrets in the form in which signing multiplies by them.
///
/// # Memory
///
/// A key is large. It wipes itself where it is dropped, but a move copies it and leaves the old
/// bytes behind. So make it in its final place, with [`from_seed_into`](Self::from_seed_into),
/// [`from_expanded_into`](Self::from_expanded_into) or, with the feature `alloc`, `boxed_from_seed`
/// and `boxed_from_expanded`: they write to that place alone. [`from_seed`](Self::from_seed),
/// [`from_expanded`](Self::from_expanded) and `clone` return a key by value: the compiler may move
/// it on its way to the caller, and a copy can stay on the stack until something overwrites it.
///
/// Key size and peak stack use in KiB, including the place of the result, measured on x86-64 with
/// optimisation (without it, more):
///
/// | | size of a key | stack: `from_seed` | `from_expanded` | `sign` | `verify` |
/// |---|---|---|---|---|---|
/// | [`MlDsa44`](super::MlDsa44) | 28 | 44 | 44 | 40 | 28 |
/// | [`MlDsa65`](super::MlDsa65) | 47 | 64 | 64 | 52 | 32 |
/// | [`MlDsa87`](super::MlDsa87) | 78 | 100 | 100 | 64 | 40 |
///
/// With AVX-512 at full width, where two attempts to sign are under way at once, `sign` takes 56, 72 and 92 KiB.
pub struct SigningKey<P: ParameterSet> {
    verifying_key: VerifyingKey<P>,
    /// H(pk)
    tr: [u8; 64],
    matrix: Matrix<P>,
    secrets: Secrets<P>,
}

/// The secret parts of a key.
struct Secrets<P: ParameterSet> {
    seed: Option<[u8; SEED_LEN]>,
    /// K
    k: [u8; 32],
    s1: Secret<P::L, Small>,
    s2: Secret<P::K, Small>,
    t0_hat: Secret<P::K, Tq>,
}

/// Memory for making a key, besides its own place. Wiped when dropped.
pub(super) struct Space<P: ParameterSet> {
    /// ρ ‖ ρ′ ‖ K
    expanded: [u8; 128],
    vectors: Vectors<P>,
}

impl<P: ParameterSet> Space<P> {
    pub(super) fn zero() -> Self {
        Self {
            expanded: [0; 128],
            vectors: Vectors::zero(),
        }
    }
}

impl<P: ParameterSet> Drop for Space<P> {
    fn drop(&mut self) {
        wipe(&mut self.expanded);
    }
}

impl<P: ParameterSet> ZeroizeOnDrop for Space<P> {}

impl<P: ParameterSet> SigningKey<P> {
    /// Makes the key pair of a seed ξ (ML-DSA.KeyGen, FIPS 204, algorithm 1).
    ///
    /// To generate a key, pass 32 fresh bytes from a cryptographic random number
    /// generator; to load a stored one, pass the same bytes again.
    ///
    /// Returns the key by value, which can leave a copy of it on the stack.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        Self::from_seed_with(choose(), seed)
    }

    /// [`from_seed`](Self::from_seed) that makes the key in its final place; drops the previous
    /// content of `place`.
    ///
    /// ```
    /// use pq_core::ml_dsa::{MlDsa65, SigningKey};
    ///
    /// # fn random<const N: usize>() -> [u8; N] { [7; N] }
    /// let mut place = None;
    /// let key = SigningKey::<MlDsa65>::from_seed_into(&random(), &mut place);
    /// assert_eq!(key.seed(), Some(&random()));
    /// ```
    pub fn from_seed_into<'p>(seed: &[u8; SEED_LEN], place: &'p mut Option<Self>) -> &'p Self {
        place::insert(place, Self::zero, |key| P::keygen(choose(), key, seed))
    }

    /// [`from_seed`](Self::from_seed) into a box, which is allocated before the key is made.
    #[cfg(feature = "alloc")]
    pub fn boxed_from_seed(seed: &[u8; SEED_LEN]) -> Box<Self> {
        place::boxed(Self::zero, |key| P::keygen(choose(), key, seed))
    }

    /// [`from_seed`](Self::from_seed), on a backend.
    pub(super) fn from_seed_with(backend: Choice, seed: &[u8; SEED_LEN]) -> Self {
        in_place(Self::zero, |key| P::keygen(backend, key, seed))
    }

    /// ML-DSA.KeyGen_internal (algorithm 6), into a key of zeros.
    pub(super) fn generate<B: Backend>(b: B, key: &mut Self, xi: &[u8; SEED_LEN]) {
        let mut space = Space::zero();
        lanes::serve(b, &mut key.generation(b, xi, &mut space));
    }

    /// Begins [`generate`](Self::generate), and returns the client that does the rest.
    pub(super) fn generation<'a, B: Backend>(
        &'a mut self,
        b: B,
        xi: &[u8; SEED_LEN],
        space: &'a mut Space<P>,
    ) -> Expansion<'a, P, B> {
        self.secrets.seed.insert([0; SEED_LEN]).copy_from_slice(xi);
        // 1: (ρ, ρ′, K) ← H(ξ ‖ k ‖ ℓ, 128)
        let dimensions = [P::K::N as u8, P::L::N as u8];
        let expanded = &mut space.expanded;
        shake256(b, &[xi, &dimensions], expanded);
        // ρ becomes part of the public key
        declassify(&mut expanded[..32]);
        let (rho, rest) = expanded.split_first_chunk().expect("32 of 128 bytes");
        let (rho_prime, k) = rest.split_first_chunk().expect("64 of 96 bytes");
        self.secrets.k.copy_from_slice(k);
        // 3-9
        self.expansion(b, rho, Some(rho_prime), &mut space.vectors, None)
    }

    /// Reads and checks an expanded key of
    /// [`P::SIGNING_KEY_LEN`](ParameterSet::SIGNING_KEY_LEN) bytes.
    ///
    /// The standard requires only range checks (algorithm 25). This also computes the public key
    /// and compares everything that depends on it, which costs about as much as a key generation.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`]; [`Error::SecretOutOfRange`] if a coefficient of **s**₁ or
    /// **s**₂ is not in −η ..= η; [`Error::InconsistentKey`] if **t**₀ or tr does not
    /// belong to ρ, **s**₁ and **s**₂.
    pub fn from_expanded(bytes: &[u8]) -> Result<Self, Error> {
        try_in_place(Self::zero, |key| {
            P::decode_signing_key(choose(), key, bytes)
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
            P::decode_signing_key(choose(), key, bytes)
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
            P::decode_signing_key(choose(), key, bytes)
        })
    }

    /// skDecode (algorithm 25) with its checks and additional ones, into a key of zeros.
    pub(super) fn decode<B: Backend>(b: B, key: &mut Self, bytes: &[u8]) -> Result<(), Error> {
        Error::check_length(P::SIGNING_KEY_LEN, bytes)?;
        // ρ ‖ K ‖ tr ‖ s₁ ‖ s₂ ‖ t₀
        let (rho, rest) = bytes.split_first_chunk().expect("the first 32 bytes");
        let (k, rest) = rest.split_first_chunk::<32>().expect("32 bytes of K");
        let (tr, rest) = rest.split_first_chunk::<64>().expect("64 bytes of tr");
        let (s_encoded, t0_encoded) = rest.split_at(s_len::<P>() * (P::L::N + P::K::N));
        let mut in_range = true;
        let elements = key.secrets.s1.iter_mut().chain(&mut *key.secrets.s2);
        for (s, encoded) in elements.zip(s_encoded.chunks_exact(s_len::<P>())) {
            in_range &= s.decode::<P, B>(b, encoded);
        }
        // whether a key is refused, and why, is public
        declassify(&mut in_range);
        if !in_range {
            return Err(Error::SecretOutOfRange);
        }

        key.secrets.k.copy_from_slice(k);
        let mut consistent = subtle::Choice::from(1);
        let mut vectors = Vectors::zero();
        let mut inspect = |i, t0: &Rq| {
            let mut again = Zeroizing::new([0; T0_LEN]);
            t0.encode_t0(b, &mut *again);
            consistent &= again.ct_eq(&t0_encoded[T0_LEN * i..][..T0_LEN]);
        };
        let mut expansion = key.expansion(b, rho, None, &mut vectors, Some(&mut inspect));
        lanes::serve(b, &mut expansion);
        consistent &= key.tr.ct_eq(tr);
        declassify(&mut consistent);
        if !bool::from(consistent) {
            return Err(Error::InconsistentKey);
        }
        Ok(())
    }

    /// A key of zeros, whose parts are then written in their final place.
    pub(super) fn zero() -> Self {
        Self {
            verifying_key: VerifyingKey::zero(),
            tr: [0; 64],
            matrix: Matrix::zero(),
            secrets: Secrets {
                seed: None,
                k: [0; 32],
                s1: Secret::zero(),
                s2: Secret::zero(),
                t0_hat: Secret::zero(),
            },
        }
    }

    /// The client that computes everything that follows from ρ and ρ′, or without ρ′ from ρ, **s**₁
    /// and **s**₂.
    fn expansion<'a, B: Backend>(
        &'a mut self,
        b: B,
        rho: &[u8; 32],
        rho_prime: Option<&'a [u8; 64]>,
        vectors: &'a mut Vectors<P>,
        inspect: Option<Inspect<'a>>,
    ) -> Expansion<'a, P, B> {
        let verifying_key = self.verifying_key.as_mut_bytes();
        verifying_key[..32].copy_from_slice(rho);
        let parts = Parts {
            matrix: &mut self.matrix,
            s1: &mut self.secrets.s1,
            s2: &mut self.secrets.s2,
            t0_hat: &mut self.secrets.t0_hat,
            verifying_key,
            tr: &mut self.tr,
        };
        Expansion::new(b, rho_prime, vectors, parts, inspect)
    }

    /// The seed ξ, if the key was made from one: an expanded key does not contain it.
    pub fn seed(&self) -> Option<&[u8; SEED_LEN]> {
        self.secrets.seed.as_ref()
    }

    /// The expanded key as the standard encodes it (skEncode, FIPS 204, algorithm 24).
    ///
    /// Returns it by value, which can leave a copy of it on the stack:
    /// [`to_expanded_into`](Self::to_expanded_into) leaves none.
    pub fn to_expanded(&self) -> Zeroizing<Array<P::SigningKeyLen, u8>> {
        in_place(
            || Zeroizing::new(P::SigningKeyLen::from_fn(|_| 0)),
            |bytes| P::encode_signing_key(choose(), self, (**bytes).as_mut()),
        )
    }

    /// [`to_expanded`](Self::to_expanded) that writes the encoded key directly to its final place.
    /// The caller has to wipe it.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if `output` does not have
    /// [`P::SIGNING_KEY_LEN`](ParameterSet::SIGNING_KEY_LEN) bytes; then nothing is written.
    pub fn to_expanded_into(&self, output: &mut [u8]) -> Result<(), Error> {
        Error::check_length(P::SIGNING_KEY_LEN, output)?;
        P::encode_signing_key(choose(), self, output);
        Ok(())
    }

    pub(super) fn encode<B: Backend>(b: B, key: &Self, output: &mut [u8]) {
        let (head, rest) = output.split_at_mut(128);
        head[..32].copy_from_slice(key.verifying_key.rho());
        head[32..64].copy_from_slice(key.k());
        head[64..].copy_from_slice(&key.tr);
        let (s, t0) = rest.split_at_mut(s_len::<P>() * (P::L::N + P::K::N));
        let mut f = Zeroizing::new(Rq::ZERO);
        let small = key.s1().iter().chain(key.s2());
        for (small, output) in small.zip(s.chunks_exact_mut(s_len::<P>())) {
            f.set_small::<P, B>(b, small);
            f.encode_s::<P, B>(b, output);
        }
        for (t0_hat, output) in key.t0_hat().iter().zip(t0.chunks_exact_mut(T0_LEN)) {
            f.set_centred(b, t0_hat);
            f.encode_t0(b, output);
        }
    }

    /// The verifying key of the pair.
    pub fn verifying_key(&self) -> &VerifyingKey<P> {
        &self.verifying_key
    }

    /// Signs `message` with `context`, hedged (ML-DSA.Sign, FIPS 204, algorithm 2).
    ///
    /// `randomness` is the standard's rnd: 32 fresh bytes from a cryptographic random number
    /// generator. They protect against side channels and faults; a signature stays secure even if
    /// they are predictable.
    ///
    /// # Errors
    ///
    /// [`Error::ContextTooLong`] if `context` has more than 255 bytes.
    pub fn sign(
        &self,
        message: &[u8],
        context: &[u8],
        randomness: &[u8; 32],
    ) -> Result<Signature<P>, Error> {
        let context = Context::new(context)?;
        let b = choose();
        Ok(context.pure(message, |parts| P::sign(b, self, parts, randomness)))
    }

    /// Signs `message` with `context`, always with the same result (the deterministic
    /// variant of ML-DSA.Sign).
    ///
    /// Prefer [`sign`](Self::sign) if randomness is available: an attacker who can measure or
    /// disturb the deterministic computation can have it repeated.
    ///
    /// # Errors
    ///
    /// [`Error::ContextTooLong`] if `context` has more than 255 bytes.
    pub fn sign_deterministic(
        &self,
        message: &[u8],
        context: &[u8],
    ) -> Result<Signature<P>, Error> {
        self.sign(message, context, &[0; 32])
    }

    /// Hashes `message` and signs the digest with `context` (HashML-DSA.Sign, FIPS 204,
    /// algorithm 4).
    ///
    /// `randomness` is as for [`sign`](Self::sign); 32 zeros give the deterministic
    /// variant. The signature does not verify as a signature of the message itself.
    ///
    /// # Errors
    ///
    /// [`Error::ContextTooLong`] if `context` has more than 255 bytes; [`Error::WeakHash`] if digests
    /// of `hash` are shorter than λ / 4 bytes, λ being the set's
    /// [`LAMBDA`](ParameterSet::LAMBDA) (section 5.4.1).
    pub fn hash_sign(
        &self,
        hash: PreHash,
        message: &[u8],
        context: &[u8],
        randomness: &[u8; 32],
    ) -> Result<Signature<P>, Error> {
        let context = Context::new(context)?;
        hash.check_strength(P::LAMBDA)?;
        let b = choose();
        let digest = Digest::of(b, hash, message);
        Ok(context.hashed(&digest, |parts| P::sign(b, self, parts, randomness)))
    }

    /// Signs a digest that was computed elsewhere, as [`hash_sign`](Self::hash_sign) does after
    /// hashing.
    ///
    /// # Errors
    ///
    /// Those of [`hash_sign`](Self::hash_sign); [`Error::WrongLength`] if `digest` does not have the
    /// [length](PreHash::digest_len) of digests of `hash`.
    pub fn sign_digest(
        &self,
        hash: PreHash,
        digest: &[u8],
        context: &[u8],
        randomness: &[u8; 32],
    ) -> Result<Signature<P>, Error> {
        let context = Context::new(context)?;
        let digest = Digest::from_bytes(hash, digest)?;
        hash.check_strength(P::LAMBDA)?;
        let b = choose();
        Ok(context.hashed(&digest, |parts| P::sign(b, self, parts, randomness)))
    }

    /// Signs the message with the representative `mu`, which
    /// [`VerifyingKey::mu`] computes (external µ, FIPS 204, section 6.2).
    ///
    /// The caller must ensure that `mu` was computed with this key's verifying key. `randomness` is
    /// as for [`sign`](Self::sign); 32 zeros give the deterministic variant.
    pub fn sign_mu(&self, mu: &[u8; 64], randomness: &[u8; 32]) -> Signature<P> {
        P::sign_mu(choose(), self, mu, randomness)
    }

    pub(super) fn tr(&self) -> &[u8; 64] {
        &self.tr
    }

    /// K
    pub(super) fn k(&self) -> &[u8; 32] {
        &self.secrets.k
    }

    /// The rows of **Â**.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[Tq]> {
        self.matrix.rows()
    }

    pub(super) fn s1(&self) -> &[Small] {
        &self.secrets.s1
    }

    pub(super) fn s2(&self) -> &[Small] {
        &self.secrets.s2
    }

    pub(super) fn t0_hat(&self) -> &[Tq] {
        &self.secrets.t0_hat
    }
}

/// [`clone_from`](Clone::clone_from) writes over a key in its place; [`clone`](Clone::clone)
/// returns a key by value, which can leave a copy of it on the stack.
impl<P: ParameterSet> Clone for SigningKey<P> {
    fn clone(&self) -> Self {
        in_place(Self::zero, |key| key.clone_from(self))
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            verifying_key,
            tr,
            matrix,
            secrets:
                Secrets {
                    seed,
                    k,
                    s1,
                    s2,
                    t0_hat,
                },
        } = self;
        verifying_key.clone_from(&source.verifying_key);
        tr.copy_from_slice(&source.tr);
        matrix.clone_from(&source.matrix);
        copy_seed(seed, &source.secrets.seed);
        k.copy_from_slice(&source.secrets.k);
        s1.copy_from(&source.secrets.s1);
        s2.copy_from(&source.secrets.s2);
        t0_hat.copy_from(&source.secrets.t0_hat);
    }
}

impl<P: ParameterSet> ZeroizeOnDrop for SigningKey<P> {}

impl<P: ParameterSet> fmt::Debug for SigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey<{}>(..)", P::NAME)
    }
}

impl<P: ParameterSet> Drop for Secrets<P> {
    fn drop(&mut self) {
        wipe(&mut self.k);
        if let Some(seed) = &mut self.seed {
            wipe(seed);
        }
    }
}

#[cfg(test)]
mod tests;
