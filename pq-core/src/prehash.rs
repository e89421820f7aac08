//! The hash functions of HashML-DSA and HashSLH-DSA, and their digests (FIPS 204,
//! section 5.4; FIPS 205, section 10.2.2).

use core::fmt;

use zeroize::ZeroizeOnDrop;

use crate::Error;
use crate::arch::{Backend, Choice, choose, dispatch};
use crate::hash::sha2::{Hasher, SHA224, SHA256, SHA384, SHA512, sha512_t};
use crate::hash::sha3::{SHA3_SUFFIX, SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE, Sponge};
use crate::hex::Hex;
use crate::secret::wipe_stack;

/// A hash function that HashML-DSA or HashSLH-DSA applies to the message first
/// (FIPS 204, section 5.4; FIPS 205, section 10.2.2).
///
/// These are all that NIST approves. The standards require a collision strength that is not below
/// the strength of the parameter set: a digest of at least 256 bits for ML-DSA-44 and the sets of
/// SLH-DSA with n = 16, 384 for ML-DSA-65 and n = 24, and 512 for ML-DSA-87 and n = 32. Keys sign no
/// shorter ones ([`Error::WeakHash`]). Signatures that others made of them verify, as in NIST's
/// vectors: what they are worth is up to the signer's hash function.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PreHash {
    /// SHA-224
    Sha224,
    /// SHA-256
    Sha256,
    /// SHA-384
    Sha384,
    /// SHA-512
    Sha512,
    /// SHA-512/224
    Sha512_224,
    /// SHA-512/256
    Sha512_256,
    /// SHA3-224
    Sha3_224,
    /// SHA3-256
    Sha3_256,
    /// SHA3-384
    Sha3_384,
    /// SHA3-512
    Sha3_512,
    /// SHAKE128 with 256 bits of output
    Shake128,
    /// SHAKE256 with 512 bits of output
    Shake256,
}

impl PreHash {
    /// Every hash function of this type.
    pub const ALL: &'static [Self] = &[
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha512_224,
        Self::Sha512_256,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Shake128,
        Self::Shake256,
    ];

    /// The name in FIPS 180-4 or FIPS 202, such as `SHA-512/256`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha224 => "SHA-224",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
            Self::Sha512_224 => "SHA-512/224",
            Self::Sha512_256 => "SHA-512/256",
            Self::Sha3_224 => "SHA3-224",
            Self::Sha3_256 => "SHA3-256",
            Self::Sha3_384 => "SHA3-384",
            Self::Sha3_512 => "SHA3-512",
            Self::Shake128 => "SHAKE128",
            Self::Shake256 => "SHAKE256",
        }
    }

    /// Begins to hash a message, which may come in any number of pieces.
    ///
    /// The result is for `sign_digest` and `verify_digest` of ML-DSA's keys, and for
    /// [`Message::Digest`](crate::slh_dsa::Message::Digest).
    ///
    /// ```
    /// use pq_core::ml_dsa::{MlDsa44, PreHash, SigningKey};
    ///
    /// # let mut place = None;
    /// # let key = SigningKey::<MlDsa44>::from_seed_into(&[7; 32], &mut place);
    /// let mut hasher = PreHash::Sha512.hasher();
    /// for piece in ["mess", "age"] {
    ///     hasher.update(piece.as_bytes());
    /// }
    /// let digest = hasher.finish();
    /// let signature = key.sign_digest(PreHash::Sha512, digest.as_bytes(), b"", &[0; 32])?;
    /// key.verifying_key().hash_verify(PreHash::Sha512, b"message", b"", &signature)?;
    /// # Ok::<(), pq_core::Error>(())
    /// ```
    pub fn hasher(self) -> PreHasher {
        dispatch!(choose(), b => PreHasher::new(b, self))
    }

    /// Length of a digest in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Sha224 | Self::Sha512_224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha512_256 | Self::Sha3_256 | Self::Shake128 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 | Self::Shake256 => 64,
        }
    }

    /// Refuses to sign a digest of this function with a parameter set of so many bits of strength.
    /// Collisions of all these functions, SHAKE's among them, are as hard to find as of any function
    /// with such digests: half their bits.
    pub(crate) const fn check_strength(self, bits: usize) -> Result<(), Error> {
        let (least, actual) = (2 * bits / 8, self.digest_len());
        if actual < least {
            return Err(Error::WeakHash { least, actual });
        }
        Ok(())
    }

    /// The last arc of the object identifier, under NIST's `hashAlgs`, 2.16.840.1.101.3.4.2.
    const fn arc(self) -> u8 {
        match self {
            Self::Sha256 => 1,
            Self::Sha384 => 2,
            Self::Sha512 => 3,
            Self::Sha224 => 4,
            Self::Sha512_224 => 5,
            Self::Sha512_256 => 6,
            Self::Sha3_224 => 7,
            Self::Sha3_256 => 8,
            Self::Sha3_384 => 9,
            Self::Sha3_512 => 10,
            Self::Shake128 => 11,
            Self::Shake256 => 12,
        }
    }

    /// The object identifier in DER, with tag and length.
    fn oid(self) -> [u8; 11] {
        [
            0x06,
            0x09,
            0x60,
            0x86,
            0x48,
            0x01,
            0x65,
            0x03,
            0x04,
            0x02,
            self.arc(),
        ]
    }
}

impl fmt::Display for PreHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Hashes a message that comes in pieces; [`PreHash::hasher`] makes one. Wiped when dropped.
///
/// It has some 200 bytes, however long the message is. A move leaves a copy of it behind, with the
/// last bytes of the message.
pub struct PreHasher {
    hash: PreHash,
    state: State,
}

/// The state of a hash function of one of the families.
enum State {
    Words32(Hasher<u32>),
    Words64(Hasher<u64>),
    Sponge(Sponge, /* suffix */ u8),
}

impl State {
    fn new<B: Backend>(b: B, hash: PreHash) -> Self {
        let sha512_t = |name: &[u8]| Self::Words64(Hasher::new(sha512_t(b, name)));
        match hash {
            PreHash::Sha224 => Self::Words32(Hasher::new(SHA224)),
            PreHash::Sha256 => Self::Words32(Hasher::new(SHA256)),
            PreHash::Sha384 => Self::Words64(Hasher::new(SHA384)),
            PreHash::Sha512 => Self::Words64(Hasher::new(SHA512)),
            PreHash::Sha512_224 => sha512_t(b"SHA-512/224"),
            PreHash::Sha512_256 => sha512_t(b"SHA-512/256"),
            PreHash::Sha3_224 | PreHash::Sha3_256 | PreHash::Sha3_384 | PreHash::Sha3_512 => {
                // capacity = 2 · output (FIPS 202, section 6.1)
                let rate = 200 - 2 * hash.digest_len();
                Self::Sponge(Sponge::new(rate), SHA3_SUFFIX)
            }
            PreHash::Shake128 => Self::Sponge(Sponge::new(SHAKE128_RATE), SHAKE_SUFFIX),
            PreHash::Shake256 => Self::Sponge(Sponge::new(SHAKE256_RATE), SHAKE_SUFFIX),
        }
    }
}

impl PreHasher {
    fn new<B: Backend>(b: B, hash: PreHash) -> Self {
        let state = State::new(b, hash);
        Self { hash, state }
    }

    /// Takes the next bytes of the message. Long pieces take less time per byte.
    pub fn update(&mut self, message: &[u8]) {
        dispatch!(choose(), b => self.absorb(b, message));
    }

    fn absorb<B: Backend>(&mut self, b: B, message: &[u8]) {
        match &mut self.state {
            State::Words32(hasher) => hasher.absorb(b, message),
            State::Words64(hasher) => hasher.absorb(b, message),
            State::Sponge(sponge, _) => sponge.absorb(b, message),
        }
        wipe_stack();
    }

    /// Ends the message.
    pub fn finish(self) -> Digest {
        dispatch!(choose(), b => self.digest(b))
    }

    fn digest<B: Backend>(mut self, b: B) -> Digest {
        let mut bytes = [0; 64];
        let output = &mut bytes[..self.hash.digest_len()];
        match &mut self.state {
            State::Words32(hasher) => hasher.finish(b, output),
            State::Words64(hasher) => hasher.finish(b, output),
            State::Sponge(sponge, suffix) => {
                sponge.finish(*suffix);
                sponge.squeeze(b, output);
            }
        }
        wipe_stack();
        Digest {
            bytes,
            hash: self.hash,
        }
    }
}

/// Its fields wipe themselves.
impl ZeroizeOnDrop for PreHasher {}

impl fmt::Debug for PreHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreHasher<{}>(..)", self.hash)
    }
}

/// The digest of a message, by one of the hash functions of [`PreHash`]. Public, like the message.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Digest {
    /// Zeros after the digest.
    bytes: [u8; 64],
    hash: PreHash,
}

impl Digest {
    /// Hashes `message`.
    pub(crate) fn of(backend: Choice, hash: PreHash, message: &[u8]) -> Self {
        dispatch!(backend, b => {
            let mut hasher = PreHasher::new(b, hash);
            hasher.absorb(b, message);
            hasher.digest(b)
        })
    }

    /// A digest that was computed elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if `digest` does not have the [length](PreHash::digest_len) of
    /// digests of `hash`.
    pub fn from_bytes(hash: PreHash, digest: &[u8]) -> Result<Self, Error> {
        Error::check_length(hash.digest_len(), digest)?;
        let mut bytes = [0; 64];
        bytes[..digest.len()].copy_from_slice(digest);
        Ok(Self { bytes, hash })
    }

    /// The digest, as long as the [hash function](Self::hash) makes it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.hash.digest_len()]
    }

    /// The hash function that made the digest.
    pub fn hash(&self) -> PreHash {
        self.hash
    }

    /// The object identifier of the hash function in DER, with tag and length.
    pub(crate) fn oid(&self) -> [u8; 11] {
        self.hash.oid()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest<{}>({:?})", self.hash, Hex(self.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec::Vec;
    use alloc::{format, vec};

    use sha2::Digest as _;
    use shake::digest::{ExtendableOutput, Update, XofReader};

    use super::{Digest, PreHash, PreHasher};
    use crate::arch::{Backend, InCrate, Portable, on_each_backend};

    /// The digest by other implementations.
    fn independent(hash: PreHash, message: &[u8]) -> Vec<u8> {
        fn shake<H: Default + Update + ExtendableOutput>(message: &[u8], len: usize) -> Vec<u8> {
            let mut output = vec![0; len];
            H::default().chain(message).finalize_xof().read(&mut output);
            output
        }

        match hash {
            PreHash::Sha224 => sha2::Sha224::digest(message).to_vec(),
            PreHash::Sha256 => sha2::Sha256::digest(message).to_vec(),
            PreHash::Sha384 => sha2::Sha384::digest(message).to_vec(),
            PreHash::Sha512 => sha2::Sha512::digest(message).to_vec(),
            PreHash::Sha512_224 => sha2::Sha512_224::digest(message).to_vec(),
            PreHash::Sha512_256 => sha2::Sha512_256::digest(message).to_vec(),
            PreHash::Sha3_224 => sha3::Sha3_224::digest(message).to_vec(),
            PreHash::Sha3_256 => sha3::Sha3_256::digest(message).to_vec(),
            PreHash::Sha3_384 => sha3::Sha3_384::digest(message).to_vec(),
            PreHash::Sha3_512 => sha3::Sha3_512::digest(message).to_vec(),
            PreHash::Shake128 => shake::<shake::Shake128>(message, 32),
            PreHash::Shake256 => shake::<shake::Shake256>(message, 64),
        }
    }

    fn message() -> [u8; 700] {
        core::array::from_fn(|i| (i * i % 251) as u8)
    }

    #[test]
    fn digests_match_other_implementations() {
        fn check<B: Backend>(b: B) {
            for len in [0, 1, 71, 72, 135, 136, 137, 168, 300] {
                let message = &message()[..len];
                for &hash in PreHash::ALL {
                    let digest = Digest::of(b.choice(InCrate), hash, message);
                    let expected = independent(hash, message);
                    assert_eq!(digest.as_bytes(), expected, "{hash}, {len} bytes");
                    assert_eq!(digest.hash(), hash);
                    assert_eq!(Digest::from_bytes(hash, &expected), Ok(digest));
                }
            }
        }

        on_each_backend!(b => check(b));
    }

    /// Every split near block boundaries, and one byte at a time.
    #[test]
    fn pieces_make_no_difference() {
        fn check<B: Backend>(b: B) {
            let message = message();
            for &hash in PreHash::ALL {
                let whole = independent(hash, &message);
                let digest_of = |pieces: &[&[u8]]| {
                    let mut hasher = PreHasher::new(b, hash);
                    for piece in pieces {
                        hasher.absorb(b, piece);
                    }
                    hasher.digest(b)
                };
                for first in 0..=2 * 168 + 1 {
                    let (head, tail) = message.split_at(first);
                    for second in [0, 1, 63, 64, 127, 128, 136, 168, 337] {
                        let (middle, tail) = tail.split_at(second);
                        let digest = digest_of(&[head, middle, &[], tail]);
                        assert_eq!(digest.as_bytes(), whole, "{hash}: {first}, {second}");
                    }
                }
                let bytes: Vec<&[u8]> = message.chunks(1).collect();
                assert_eq!(digest_of(&bytes).as_bytes(), whole, "{hash}");
            }
        }

        on_each_backend!(b => check(b));
    }

    /// The public functions, on the backend that they choose; and one backend goes on where another
    /// stopped.
    #[test]
    fn backends_continue_each_other() {
        let message = message();
        for &hash in PreHash::ALL {
            let mut hasher = hash.hasher();
            hasher.update(&message[..200]);
            hasher.absorb(Portable, &message[200..500]);
            hasher.update(&message[500..]);
            assert_eq!(format!("{hasher:?}"), format!("PreHasher<{hash}>(..)"));
            let digest = hasher.finish();
            assert_eq!(digest.as_bytes(), independent(hash, &message), "{hash}");
        }
    }
    /// id-sha256, id-sha512 and id-shake128 as FIPS 204, section 5.4.1, prints them.
    #[test]
    fn object_identifiers_as_printed() {
        let prefix = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
        for (hash, last) in [
            (PreHash::Sha256, 0x01),
            (PreHash::Sha512, 0x03),
            (PreHash::Shake128, 0x0b),
        ] {
            let oid = hash.oid();
            assert_eq!(oid[..10], prefix);
            assert_eq!(oid[10], last);
        }
    }
}
