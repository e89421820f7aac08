//! `SigningKey`: how a key is made, read and checked, and the functions that sign (FIPS 205, section 10.2). What they
//! compute is in `algorithms`.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::message::Message;
use super::parallel::{ProgressHook, start_threads};
use super::params::{MAX_N, ParameterSet};
use super::signature::Signature;
use super::verifying_key::VerifyingKey;
use crate::Error;
use crate::arch::{Choice, choose, in_place, try_in_place};
use crate::dimension::{Array, Dimension};
use crate::place;
use crate::prehash::PreHash;

/// A signing key. Wiped when dropped.
///
/// # Limits
///
/// Keys of the sets of SP 800-230 may make 2²⁴ signatures, which somebody has to count. For these
/// sets the signing functions and `clone` of this type do not compile: `LimitedSigningKey` counts
/// and signs.
///
/// # Time
///
/// Making a key and signing take from a millisecond to seconds, or to minutes with the sets of SP
/// 800-230; this depends on the parameter set more than on anything else.
/// [`from_seed_with_progress`] and [`sign_into`](Self::sign_into) report their progress, and with
/// the feature `rayon` they use all cores.
///
/// # Memory
///
/// A key has 6n bytes. It wipes itself where it is dropped, but a move copies it and leaves the old
/// bytes behind: [`from_seed_into`](Self::from_seed_into),
/// [`from_bytes_into`](Self::from_bytes_into) and, with the feature `alloc`, `boxed_from_seed` and
/// `boxed_from_bytes` make it in its final place. Functions that return a key by value, such as
/// `clone`, can leave a copy on the stack.
///
/// Making a key and signing take up to 35 KiB of stack for any size of the trees, as measured on
/// x86-64 with optimisation, and verification 12 KiB, or 24 KiB with AVX2 and AVX-512 for the sets with SHA-512, whose
/// words are computed ahead. (With the feature `slh-dsa-sp800-230-draft`
/// making a key and signing take up to 55 KiB, and 72 KiB with its sets, whose trees are higher.)
/// With the feature `rayon` each thread takes this much; it takes more if, while it waits, it
/// starts other work of the same thread pool, such as another signature: so make many signatures at
/// once in a pool of their own. A [`Signature`] comes in addition, once for each place it is moved
/// to: [`sign_into`](Self::sign_into) writes directly to its final place.
///
/// [`from_seed_with_progress`]: Self::from_seed_with_progress
pub struct SigningKey<P: ParameterSet> {
    /// SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root
    bytes: Array<P::SigningKeyLen, u8>,
    verifying_key: VerifyingKey<P>,
}

impl<P: ParameterSet> SigningKey<P> {
    /// Makes the key pair of the seed SK.seed ‖ SK.prf ‖ PK.seed (slh_keygen, FIPS 205,
    /// algorithm 21).
    ///
    /// To generate a key, pass 3n fresh bytes from a cryptographic random number generator.
    ///
    /// Returns the key by value, which can leave a copy of it on the stack.
    pub fn from_seed(seed: &Array<P::SeedLen, u8>) -> Self {
        Self::from_seed_with_progress(seed, &|_| ())
    }

    /// [`from_seed`](Self::from_seed) that reports its progress.
    pub fn from_seed_with_progress(
        seed: &Array<P::SeedLen, u8>,
        progress: ProgressHook<'_>,
    ) -> Self {
        Self::from_seed_with(choose(), seed.as_ref(), progress)
    }

    /// [`from_seed`](Self::from_seed) that makes the key in its final place; drops the previous
    /// content of `place`.
    ///
    /// ```
    /// use pq_core::slh_dsa::{SigningKey, SlhDsaShake128f};
    ///
    /// # fn random<const N: usize>() -> [u8; N] { [7; N] }
    /// let mut place = None;
    /// let key = SigningKey::<SlhDsaShake128f>::from_seed_into(&random(), &mut place);
    /// assert!(key.as_bytes().starts_with(&random::<48>()));
    /// ```
    pub fn from_seed_into<'p>(
        seed: &Array<P::SeedLen, u8>,
        place: &'p mut Option<Self>,
    ) -> &'p Self {
        Self::from_seed_with_progress_into(seed, &|_| (), place)
    }

    /// [`from_seed_into`](Self::from_seed_into) that reports its progress.
    pub fn from_seed_with_progress_into<'p>(
        seed: &Array<P::SeedLen, u8>,
        progress: ProgressHook<'_>,
        place: &'p mut Option<Self>,
    ) -> &'p Self {
        place::insert(place, Self::zero, |key| {
            key.generate(choose(), seed.as_ref(), progress)
        })
    }

    /// [`from_seed`](Self::from_seed) into a box, which is allocated before the key is made.
    #[cfg(feature = "alloc")]
    pub fn boxed_from_seed(seed: &Array<P::SeedLen, u8>) -> Box<Self> {
        place::boxed(Self::zero, |key| {
            key.generate(choose(), seed.as_ref(), &|_| ())
        })
    }

    /// [`from_seed`](Self::from_seed), on a backend and from a slice of 3n bytes.
    pub(super) fn from_seed_with(backend: Choice, seed: &[u8], progress: ProgressHook<'_>) -> Self {
        in_place(Self::zero, |key| key.generate(backend, seed, progress))
    }

    /// slh_keygen_internal (algorithm 18) of 3n bytes, into a key of zeros.
    fn generate(&mut self, backend: Choice, seed: &[u8], progress: ProgressHook<'_>) {
        start_threads();
        let n = P::N::N;
        let mut root = [0; MAX_N];
        let root = &mut root[..n];
        P::public_root(backend, &seed[..n], &seed[2 * n..], progress, root);
        self.set_parts(seed, root);
    }

    /// Reads a key of [`P::SIGNING_KEY_LEN`](ParameterSet::SIGNING_KEY_LEN) bytes.
    ///
    /// It does not check that the parts belong together, since this takes as long as making a key;
    /// [`check`](Self::check) does it. With parts that don't belong together, no operation reveals
    /// more than usual, and signing fails.
    ///
    /// Returns the key by value, which can leave a copy of it on the stack.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        try_in_place(Self::zero, |key| key.decode(bytes))
    }

    /// [`from_bytes`](Self::from_bytes) that makes the key in its final place; drops the previous
    /// content of `place`.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`]; then `place` is empty.
    pub fn from_bytes_into<'p>(
        bytes: &[u8],
        place: &'p mut Option<Self>,
    ) -> Result<&'p Self, Error> {
        place::try_insert(place, Self::zero, |key| key.decode(bytes))
    }

    /// [`from_bytes`](Self::from_bytes) into a box, which is allocated before the key is copied.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`].
    #[cfg(feature = "alloc")]
    pub fn boxed_from_bytes(bytes: &[u8]) -> Result<Box<Self>, Error> {
        place::try_boxed(Self::zero, |key| key.decode(bytes))
    }

    /// [`from_bytes`](Self::from_bytes), into a key of zeros.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<(), Error> {
        Error::check_length(P::SIGNING_KEY_LEN, bytes)?;
        let (seed, root) = bytes.split_at(3 * P::N::N);
        self.set_parts(seed, root);
        Ok(())
    }

    /// Sets SK.seed ‖ SK.prf ‖ PK.seed and PK.root.
    fn set_parts(&mut self, seed: &[u8], root: &[u8]) {
        let (seed_place, root_place) = self.bytes.as_mut().split_at_mut(seed.len());
        seed_place.copy_from_slice(seed);
        root_place.copy_from_slice(root);
        self.verifying_key = VerifyingKey::from_parts(&seed[2 * P::N::N..], root);
    }

    /// A key of zeros, whose parts are then written in their final place.
    pub(super) fn zero() -> Self {
        Self {
            bytes: P::SigningKeyLen::from_fn(|_| 0),
            verifying_key: VerifyingKey::from_parts(&[0; MAX_N][..P::N::N], &[0; MAX_N][..P::N::N]),
        }
    }

    /// Checks that the public key belongs to the secret part, by computing it again.
    ///
    /// # Errors
    ///
    /// [`Error::InconsistentKey`].
    pub fn check(&self) -> Result<(), Error> {
        let mut root = [0; MAX_N];
        let root = &mut root[..P::N::N];
        let pk_seed = self.verifying_key.pk_seed();
        start_threads();
        P::public_root(choose(), self.sk_seed(), pk_seed, &|_| (), root);
        if root == self.verifying_key.pk_root() {
            Ok(())
        } else {
            Err(Error::InconsistentKey)
        }
    }

    /// The key as the standard encodes it (FIPS 205, figure 15).
    ///
    /// The first 3n bytes are the [seed](Self::from_seed).
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The verifying key of the pair.
    pub fn verifying_key(&self) -> &VerifyingKey<P> {
        &self.verifying_key
    }

    /// Signs `message` with `context`, hedged (slh_sign, FIPS 205, algorithm 22).
    ///
    /// `randomness` is the standard's addrnd: n fresh bytes from a cryptographic random number
    /// generator. They protect against side channels and faults; a signature stays secure even if
    /// they are predictable.
    ///
    /// # Errors
    ///
    /// [`Error::ContextTooLong`] if `context` has more than 255 bytes;
    /// [`Error::InconsistentKey`] as for [`sign_into`](Self::sign_into).
    pub fn sign(
        &self,
        message: &[u8],
        context: &[u8],
        randomness: &Array<P::N, u8>,
    ) -> Result<Signature<P>, Error> {
        self.signature(Message::Pure(message), context, Some(randomness))
    }

    /// Signs `message` with `context`, always with the same result (the deterministic
    /// variant of slh_sign).
    ///
    /// Prefer [`sign`](Self::sign) if randomness is available: an attacker who can measure or
    /// disturb the deterministic computation can have it repeated.
    ///
    /// # Errors
    ///
    /// Those of [`sign`](Self::sign).
    pub fn sign_deterministic(
        &self,
        message: &[u8],
        context: &[u8],
    ) -> Result<Signature<P>, Error> {
        self.signature(Message::Pure(message), context, None)
    }

    /// Hashes `message` and signs the digest with `context` (hash_slh_sign, FIPS 205,
    /// algorithm 23).
    ///
    /// `randomness` is as for [`sign`](Self::sign); for the deterministic variant see
    /// [`sign_into`](Self::sign_into). The signature does not verify as a signature of the message
    /// itself.
    ///
    /// # Errors
    ///
    /// Those of [`sign`](Self::sign); [`Error::WeakHash`] as for [`sign_into`](Self::sign_into).
    pub fn hash_sign(
        &self,
        hash: PreHash,
        message: &[u8],
        context: &[u8],
        randomness: &Array<P::N, u8>,
    ) -> Result<Signature<P>, Error> {
        self.signature(Message::Hashed(hash, message), context, Some(randomness))
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
        randomness: &Array<P::N, u8>,
    ) -> Result<Signature<P>, Error> {
        self.signature(Message::Digest(hash, digest), context, Some(randomness))
    }

    /// Signs into `signature`, and reports its progress; all other signing functions call this one.
    ///
    /// `randomness` is as for [`sign`](Self::sign); without it the signature is
    /// deterministic.
    ///
    /// ```
    /// use pq_core::slh_dsa::{Message, ParameterSet, SigningKey, SlhDsaShake128f};
    ///
    /// # fn random<const N: usize>() -> [u8; N] { [7; N] }
    /// let mut place = None;
    /// let signing_key = SigningKey::<SlhDsaShake128f>::from_seed_into(&random(), &mut place);
    /// let mut signature = vec![0; SlhDsaShake128f::SIGNATURE_LEN];
    /// signing_key.sign_into(
    ///     Message::Pure(b"message"),
    ///     b"context",
    ///     Some(&random()),
    ///     &|progress| eprint!("{}%\r", 100 * u64::from(progress.done) / u64::from(progress.total)),
    ///     &mut signature,
    /// )?;
    /// let verifying_key = signing_key.verifying_key();
    /// verifying_key.verify_bytes(Message::Pure(b"message"), b"context", &signature)?;
    /// # Ok::<(), pq_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if `signature` does not have
    /// [`P::SIGNATURE_LEN`](ParameterSet::SIGNATURE_LEN) bytes, or a [digest](Message::Digest) does
    /// not have the [length](PreHash::digest_len) of its hash function; [`Error::ContextTooLong`]
    /// if `context` has more than 255 bytes; [`Error::WeakHash`] if digests of the hash function are
    /// shorter than 2n bytes (section 10.2.2); [`Error::InconsistentKey`], with zeros in `signature`,
    /// if the key's public part does not belong to its secret part: the signature would be invalid.
    pub fn sign_into(
        &self,
        message: Message<'_>,
        context: &[u8],
        randomness: Option<&Array<P::N, u8>>,
        progress: ProgressHook<'_>,
        signature: &mut [u8],
    ) -> Result<(), Error> {
        const { assert_unlimited::<P>() };
        self.sign_counted_into(message, context, randomness, progress, signature)
    }

    /// [`sign_into`](Self::sign_into), also for sets whose signatures have to be counted: the caller
    /// has counted this one.
    pub(super) fn sign_counted_into(
        &self,
        message: Message<'_>,
        context: &[u8],
        randomness: Option<&Array<P::N, u8>>,
        progress: ProgressHook<'_>,
        signature: &mut [u8],
    ) -> Result<(), Error> {
        Error::check_length(P::SIGNATURE_LEN, signature)?;
        message.check_strength(8 * P::N::N)?;
        let randomness = randomness.map(AsRef::as_ref);
        start_threads();
        let backend = choose();
        message.format(backend, context, |parts| {
            P::sign(backend, self, parts, randomness, progress, signature)
        })?
    }

    fn signature(
        &self,
        message: Message<'_>,
        context: &[u8],
        randomness: Option<&Array<P::N, u8>>,
    ) -> Result<Signature<P>, Error> {
        try_in_place(Signature::zero, |signature| {
            let bytes = signature.as_mut_bytes();
            self.sign_into(message, context, randomness, &|_| (), bytes)
        })
    }

    pub(super) fn sk_seed(&self) -> &[u8] {
        &self.as_bytes()[..P::N::N]
    }

    pub(super) fn sk_prf(&self) -> &[u8] {
        &self.as_bytes()[P::N::N..2 * P::N::N]
    }
}

/// Does not compile for a set that limits the signatures of a key. There, only a key that counts may
/// sign, and be there once.
const fn assert_unlimited<P: ParameterSet>() {
    assert!(
        P::MAX_SIGNATURES == u64::MAX,
        "the signatures of this parameter set have to be counted: use LimitedSigningKey"
    );
}

/// [`clone_from`](Clone::clone_from) writes over a key in its place; [`clone`](Clone::clone)
/// returns a key by value, which can leave a copy of it on the stack.
impl<P: ParameterSet> Clone for SigningKey<P> {
    fn clone(&self) -> Self {
        in_place(Self::zero, |key| key.clone_from(self))
    }

    fn clone_from(&mut self, source: &Self) {
        const { assert_unlimited::<P>() };
        self.bytes.as_mut().copy_from_slice(source.as_bytes());
        self.verifying_key.clone_from(&source.verifying_key);
    }
}

impl<P: ParameterSet> Drop for SigningKey<P> {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl<P: ParameterSet> ZeroizeOnDrop for SigningKey<P> {}

/// Shows the public part.
impl<P: ParameterSet> fmt::Debug for SigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("verifying_key", &self.verifying_key)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;

    use super::SigningKey;
    use crate::arch::{check_wiped, part};
    use crate::slh_dsa::SlhDsaShake128f;

    #[test]
    fn secrets_are_wiped() {
        let key = SigningKey::<SlhDsaShake128f>::from_bytes(&[7; 64]).unwrap();
        check_wiped(key, |key| {
            let SigningKey {
                bytes,
                verifying_key: _,
            } = key;
            vec![part(key, "the key", bytes)]
        });
    }
}
