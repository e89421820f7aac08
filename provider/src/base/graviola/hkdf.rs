//! HKDF with SHA-2 (RFC 5869) for the key schedule of TLS 1.3 when graviola is the base.
//!
//! Client and server together derive some forty secrets in a handshake, each from one or two blocks,
//! so the code around the compression function matters. rustls's HKDF over graviola's HMAC
//! allocates twice for each key, copies and wipes two more buffers for each block, and computes
//! the early secret again in each handshake. This HKDF calls the compression function directly.
//! graviola's is private; RustCrypto's is as fast.

use core::slice;
use std::sync::LazyLock;

use rustls::crypto::hmac::Tag;
use rustls::crypto::tls13::{Hkdf, HkdfExpander, OkmBlock, OutputLengthError};
use sha2::block_api::{compress256, compress512};
use zeroize::{ZeroizeOnDrop, optimization_barrier};

/// HKDF with SHA-256.
pub(crate) static HKDF_SHA256: HkdfSha2<Sha256> = HkdfSha2::new();

/// HKDF with SHA-384.
pub(crate) static HKDF_SHA384: HkdfSha2<Sha384> = HkdfSha2::new();

/// HKDF with one of SHA-2.
pub(crate) struct HkdfSha2<H: Sha2> {
    /// The early secret of every handshake without a pre-shared key (RFC 9846, section 7.1), as an HMAC
    /// key. It is not secret.
    early: LazyLock<Box<Hmac<H>>>,
}

impl<H: Sha2> HkdfSha2<H> {
    const fn new() -> Self {
        Self {
            early: LazyLock::new(|| Self::extract(None, H::Digest::ZEROS.as_ref())),
        }
    }

    fn extract(salt: Option<&[u8]>, secret: &[u8]) -> Box<Hmac<H>> {
        let mut prk = Wiped(H::Digest::ZEROS);
        // A missing salt counts as zeros, and HMAC pads every key with zeros.
        let mut extractor = Hmac::<H>::UNKEYED;
        extractor.set_key(salt.unwrap_or_default());
        extractor.sign([secret], &mut prk.0);
        Hmac::boxed(prk.0.as_ref())
    }
}

impl<H: Sha2> Hkdf for HkdfSha2<H> {
    fn extract_from_zero_ikm(&self, salt: Option<&[u8]>) -> Box<dyn HkdfExpander> {
        match salt {
            Some(salt) => Self::extract(Some(salt), H::Digest::ZEROS.as_ref()),
            None => self.early.clone(),
        }
    }

    fn extract_from_secret(&self, salt: Option<&[u8]>, secret: &[u8]) -> Box<dyn HkdfExpander> {
        Self::extract(salt, secret)
    }

    fn expander_for_okm(&self, okm: &OkmBlock) -> Box<dyn HkdfExpander> {
        Hmac::<H>::boxed(okm.as_ref())
    }

    fn hmac_sign(&self, key: &OkmBlock, message: &[u8]) -> Tag {
        let mut tag = Wiped(H::Digest::ZEROS);
        let mut hmac = Hmac::<H>::UNKEYED;
        hmac.set_key(key.as_ref());
        hmac.sign([message], &mut tag.0);
        Tag::new(tag.0.as_ref())
    }
}

/// HMAC (RFC 2104) under a key, which is also HKDF-Expand with that key.
///
/// Wiped when dropped, apart from what the compression function leaves on the stack.
#[derive(Clone)]
struct Hmac<H: Sha2> {
    /// The hash state after the block of the key with the inner padding.
    inner: H::State,
    /// The hash state after the block of the key with the outer padding.
    outer: H::State,
}

impl<H: Sha2> Hmac<H> {
    /// Without a key yet.
    const UNKEYED: Self = Self {
        inner: H::INITIAL,
        outer: H::INITIAL,
    };

    /// Makes it in the box where it stays: a move would leave a copy behind.
    fn boxed(key: &[u8]) -> Box<Self> {
        let mut hmac = Box::new(Self::UNKEYED);
        hmac.set_key(key);
        hmac
    }

    /// Takes the key, once.
    fn set_key(&mut self, key: &[u8]) {
        let mut inner = Wiped(H::Block::ZEROS);
        match inner.0.as_mut().get_mut(..key.len()) {
            Some(start) => start.copy_from_slice(key),
            None => {
                let mut digest = Wiped(H::Digest::ZEROS);
                Hash::<H>::digest(&H::INITIAL, 0, [key], &mut digest.0);
                inner.0.as_mut()[..H::Digest::LEN].copy_from_slice(digest.0.as_ref());
            }
        }
        let mut outer = Wiped(H::Block::ZEROS);
        for (outer, inner) in outer.0.as_mut().iter_mut().zip(inner.0.as_mut()) {
            *outer = *inner ^ 0x5c;
            *inner ^= 0x36;
        }
        // Nothing is between these two calls, so that the CPU can overlap them.
        H::compress(&mut self.inner, &inner.0);
        H::compress(&mut self.outer, &outer.0);
    }

    /// Writes the tag of the concatenated parts.
    fn sign<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>, tag: &mut H::Digest) {
        let mut inner = Wiped(H::Digest::ZEROS);
        Hash::<H>::digest(&self.inner, 1, parts, &mut inner.0);
        Hash::<H>::digest(&self.outer, 1, [inner.0.as_ref()], tag);
    }

    /// Writes T(`counter`) of RFC 5869, section 2.3, after `previous`.
    fn block(&self, previous: &[u8], info: &[&[u8]], counter: u8, block: &mut H::Digest) {
        let info = info.iter().copied();
        let counter = [counter];
        let parts = [previous].into_iter().chain(info).chain([&counter[..]]);
        self.sign(parts, block);
    }
}

impl<H: Sha2> Drop for Hmac<H> {
    fn drop(&mut self) {
        self.inner = H::State::default();
        self.outer = H::State::default();
        optimization_barrier(self);
    }
}

impl<H: Sha2> ZeroizeOnDrop for Hmac<H> {}

impl<H: Sha2> HkdfExpander for Hmac<H> {
    fn expand_slice(&self, info: &[&[u8]], output: &mut [u8]) -> Result<(), OutputLengthError> {
        if output.len() > usize::from(u8::MAX) * H::Digest::LEN {
            return Err(OutputLengthError);
        }
        let mut block = Wiped(H::Digest::ZEROS);
        let mut previous = Wiped(H::Digest::ZEROS);
        for (output, counter) in output.chunks_mut(H::Digest::LEN).zip(1..=u8::MAX) {
            // there is no block before the first
            let previous_len = if counter == 1 { 0 } else { H::Digest::LEN };
            let previous_block = &previous.0.as_ref()[..previous_len];
            self.block(previous_block, info, counter, &mut block.0);
            output.copy_from_slice(&block.0.as_ref()[..output.len()]);
            previous.0.as_mut().copy_from_slice(block.0.as_ref());
        }
        Ok(())
    }

    fn expand_block(&self, info: &[&[u8]]) -> OkmBlock {
        let mut block = Wiped(H::Digest::ZEROS);
        self.block(&[], info, 1, &mut block.0);
        OkmBlock::new(block.0.as_ref())
    }

    fn hash_len(&self) -> usize {
        H::Digest::LEN
    }
}

/// The hash of a message in parts.
///
/// Wiped when dropped, as [`Hmac`] is.
struct Hash<H: Sha2> {
    state: H::State,
    /// The next block, zero where it isn't filled yet.
    block: H::Block,
    /// How many bytes of the block are filled: never all.
    filled: usize,
    /// How many blocks the state has taken.
    blocks: usize,
}

impl<H: Sha2> Hash<H> {
    /// Writes the digest of `blocks` blocks, after which the hash had `state`, and then the parts.
    fn digest<'a>(
        state: &H::State,
        blocks: usize,
        parts: impl IntoIterator<Item = &'a [u8]>,
        digest: &mut H::Digest,
    ) {
        let mut hash = Self {
            state: *state,
            block: H::Block::ZEROS,
            filled: 0,
            blocks,
        };
        parts.into_iter().for_each(|part| hash.update(part));
        hash.pad();
        H::write(&hash.state, digest);
    }

    fn update(&mut self, mut bytes: &[u8]) {
        loop {
            let room = &mut self.block.as_mut()[self.filled..];
            if bytes.len() < room.len() {
                room[..bytes.len()].copy_from_slice(bytes);
                self.filled += bytes.len();
                return;
            }
            let (now, later) = bytes.split_at(room.len());
            room.copy_from_slice(now);
            self.compress();
            bytes = later;
        }
    }

    /// Pads (FIPS 180-4, section 5.1). The field for the message length is an eighth of a block, of
    /// which no message needs more than eight bytes.
    fn pad(&mut self) {
        let bits = 8 * (self.blocks * H::Block::LEN + self.filled) as u64;
        self.block.as_mut()[self.filled] = 0x80;
        if self.filled >= H::Block::LEN - H::Block::LEN / 8 {
            self.compress();
        }
        self.block.as_mut()[H::Block::LEN - 8..].copy_from_slice(&bits.to_be_bytes());
        self.compress();
    }

    fn compress(&mut self) {
        H::compress(&mut self.state, &self.block);
        self.block = H::Block::ZEROS;
        self.filled = 0;
        self.blocks += 1;
    }
}

impl<H: Sha2> Drop for Hash<H> {
    fn drop(&mut self) {
        self.state = H::State::default();
        self.block = H::Block::ZEROS;
        optimization_barrier(self);
    }
}

impl<H: Sha2> ZeroizeOnDrop for Hash<H> {}

/// What differs between the hash functions of FIPS 180-4.
pub(crate) trait Sha2: Clone + 'static {
    /// H⁽ⁱ⁾ of section 6.
    type State: Copy + Default + Send + Sync;
    /// A block of the message.
    type Block: Bytes;
    /// The digest.
    type Digest: Bytes;

    /// H⁽⁰⁾ of section 5.3.
    const INITIAL: Self::State;

    /// Computes H⁽ⁱ⁾ from H⁽ⁱ⁻¹⁾.
    fn compress(state: &mut Self::State, block: &Self::Block);

    /// Writes H⁽ᴺ⁾ as a digest.
    fn write(state: &Self::State, digest: &mut Self::Digest);
}

/// SHA-256.
#[derive(Clone)]
pub(crate) struct Sha256;

impl Sha2 for Sha256 {
    type State = [u32; 8];
    type Block = [u8; 64];
    type Digest = [u8; 32];

    const INITIAL: Self::State = [
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
        0x5be0cd19,
    ];

    fn compress(state: &mut Self::State, block: &Self::Block) {
        compress256(state, slice::from_ref(block));
    }

    fn write(state: &Self::State, digest: &mut Self::Digest) {
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
            *bytes = word.to_be_bytes();
        }
    }
}

/// SHA-384.
#[derive(Clone)]
pub(crate) struct Sha384;

impl Sha2 for Sha384 {
    type State = [u64; 8];
    type Block = [u8; 128];
    type Digest = [u8; 48];

    const INITIAL: Self::State = [
        0xcbbb9d5dc1059ed8,
        0x629a292a367cd507,
        0x9159015a3070dd17,
        0x152fecd8f70e5939,
        0x67332667ffc00b31,
        0x8eb44a8768581511,
        0xdb0c2e0d64f98fa7,
        0x47b5481dbefa4fa4,
    ];

    fn compress(state: &mut Self::State, block: &Self::Block) {
        compress512(state, slice::from_ref(block));
    }

    fn write(state: &Self::State, digest: &mut Self::Digest) {
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
            *bytes = word.to_be_bytes();
        }
    }
}

/// An array.
pub(crate) trait Bytes: Copy + AsRef<[u8]> + AsMut<[u8]> {
    /// Its length, in bytes.
    const LEN: usize;
    /// All zeros.
    const ZEROS: Self;
}

impl<const N: usize> Bytes for [u8; N] {
    const LEN: usize = N;
    const ZEROS: Self = [0; N];
}

/// Bytes that are wiped when dropped, with stores as wide as the compiler likes: `Zeroizing` would
/// take an instruction for each byte.
struct Wiped<B: Bytes>(B);

impl<B: Bytes> Drop for Wiped<B> {
    fn drop(&mut self) {
        self.0 = B::ZEROS;
        optimization_barrier(self);
    }
}

impl<B: Bytes> ZeroizeOnDrop for Wiped<B> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustls::crypto::ring;
    use rustls::{CipherSuite, SupportedCipherSuite};

    use super::*;

    /// RFC 5869, appendix A.1 to A.3: salt, secret, info and output.
    #[test]
    fn the_vectors_of_the_rfc() {
        let counting = |from: u8, to: u8| (from..=to).collect::<Vec<u8>>();
        for (salt, secret, info, okm) in [
            (
                counting(0, 0x0c),
                vec![0x0b; 22],
                counting(0xf0, 0xf9),
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            ),
            (
                counting(0x60, 0xaf),
                counting(0, 0x4f),
                counting(0xb0, 0xff),
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e\
                 590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87",
            ),
            (
                vec![],
                vec![0x0b; 22],
                vec![],
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
            ),
        ] {
            let mut output = vec![0; okm.len() / 2];
            HKDF_SHA256
                .extract_from_secret(Some(&salt), &secret)
                .expand_slice(&[&info], &mut output)
                .expect("short enough");
            let output: String = output.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(output, okm);
        }
    }

    /// Padding begins anywhere in a block.
    #[test]
    fn messages_of_every_length() {
        let message: Vec<u8> = (0..=u8::MAX).collect();
        for [ours, theirs] in beside_ring() {
            let key = OkmBlock::new(&[7; 32]);
            for len in 0..=message.len() {
                let [ours, theirs] =
                    [ours, theirs].map(|hkdf| hkdf.hmac_sign(&key, &message[..len]));
                assert_eq!(ours.as_ref(), theirs.as_ref(), "{len} bytes");
            }
        }
    }

    #[test]
    fn the_length_of_output_is_limited() {
        for [ours, _] in beside_ring() {
            let expander = ours.extract_from_zero_ikm(None);
            let mut output = vec![0; 255 * expander.hash_len() + 1];
            assert!(expander.expand_slice(&[], &mut output[1..]).is_ok());
            assert!(expander.expand_slice(&[], &mut output).is_err());
        }
    }

    proptest! {
        /// Every operation gives the same as ring's, keys longer than a block included.
        #[test]
        fn agrees_with_ring(
            salt in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
            secret in prop::collection::vec(any::<u8>(), 0..300),
            info in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 0..4),
            len in 0_usize..150,
        ) {
            let salt = salt.as_deref();
            let info: Vec<&[u8]> = info.iter().map(Vec::as_slice).collect();
            let okm = OkmBlock::new(&secret[..secret.len().min(OkmBlock::MAX_LEN)]);
            for both in beside_ring() {
                let results = both.map(|hkdf| {
                    let expanders = [
                        hkdf.extract_from_zero_ikm(salt),
                        hkdf.extract_from_secret(salt, &secret),
                        hkdf.expander_for_okm(&okm),
                    ];
                    let expanded = expanders.map(|expander| {
                        let mut output = vec![0; len];
                        expander.expand_slice(&info, &mut output).expect("short enough");
                        let block = expander.expand_block(&info);
                        (output, block.as_ref().to_vec(), expander.hash_len())
                    });
                    (expanded, hkdf.hmac_sign(&okm, &secret).as_ref().to_vec())
                });
                prop_assert_eq!(&results[0], &results[1]);
            }
        }
    }

    /// Ours and ring's, for each hash.
    fn beside_ring() -> [[&'static dyn Hkdf; 2]; 2] {
        let rings = |wanted| {
            ring::ALL_CIPHER_SUITES
                .iter()
                .filter_map(SupportedCipherSuite::tls13)
                .find(|suite| suite.common.suite == wanted)
                .expect("ring has it")
                .hkdf_provider
        };
        [
            [&HKDF_SHA256, rings(CipherSuite::TLS13_AES_128_GCM_SHA256)],
            [&HKDF_SHA384, rings(CipherSuite::TLS13_AES_256_GCM_SHA384)],
        ]
    }
}
