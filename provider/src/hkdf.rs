//! HKDF with SHA-256 (RFC 5869) for the key schedule of TLS 1.3 where graviola is the base.
//!
//! The two ends of a handshake derive some forty secrets, each from one or two blocks, so
//! that what surrounds the compression function counts. rustls's HKDF over graviola's HMAC
//! allocates twice for each key, copies and wipes two more buffers for each block, and computes
//! the early secret again in each handshake. This one calls the compression function itself,
//! which graviola keeps private; RustCrypto's is as fast.

use core::slice;
use std::sync::LazyLock;

use rustls::crypto::hmac::Tag;
use rustls::crypto::tls13::{Hkdf, HkdfExpander, OkmBlock, OutputLengthError};
use sha2::block_api::compress256;
use zeroize::{ZeroizeOnDrop, optimization_barrier};

/// HKDF with SHA-256.
pub(crate) struct HkdfSha256;

impl HkdfSha256 {
    fn extract(salt: Option<&[u8]>, secret: &[u8]) -> Hmac {
        let prk = Hmac::new(salt.unwrap_or(&ZEROS)).sign([secret]);
        Hmac::new(&prk.0)
    }
}

impl Hkdf for HkdfSha256 {
    fn extract_from_zero_ikm(&self, salt: Option<&[u8]>) -> Box<dyn HkdfExpander> {
        /// The key for the early secret of every handshake without a pre-shared key
        /// (RFC 9846, section 7.1), which is no secret.
        static EARLY: LazyLock<Hmac> = LazyLock::new(|| HkdfSha256::extract(None, &ZEROS));

        Box::new(match salt {
            Some(salt) => Self::extract(Some(salt), &ZEROS),
            None => EARLY.clone(),
        })
    }

    fn extract_from_secret(&self, salt: Option<&[u8]>, secret: &[u8]) -> Box<dyn HkdfExpander> {
        Box::new(Self::extract(salt, secret))
    }

    fn expander_for_okm(&self, okm: &OkmBlock) -> Box<dyn HkdfExpander> {
        Box::new(Hmac::new(okm.as_ref()))
    }

    fn hmac_sign(&self, key: &OkmBlock, message: &[u8]) -> Tag {
        Tag::new(&Hmac::new(key.as_ref()).sign([message]).0)
    }
}

/// HMAC (RFC 2104) under a key, which is also HKDF-Expand with that key.
///
/// Wiped when dropped, apart from what the compression function leaves on the stack.
#[derive(Clone)]
struct Hmac {
    /// The state of SHA-256 that has taken the block of the key with the inner padding.
    inner: State,
    /// The same with the outer padding.
    outer: State,
}

impl Hmac {
    fn new(key: &[u8]) -> Self {
        let mut block = Wiped([0; BLOCK_LEN]);
        match block.0.get_mut(..key.len()) {
            Some(start) => start.copy_from_slice(key),
            None => block.0[..LEN].copy_from_slice(&Sha256::digest(&INITIAL, 0, [key]).0),
        }
        let [inner, outer] = [0x36, 0x5c].map(|padding| Wiped(block.0.map(|byte| byte ^ padding)));
        let mut hmac = Self {
            inner: INITIAL,
            outer: INITIAL,
        };
        // With nothing between them, so that the CPU can overlap them.
        compress256(&mut hmac.inner, slice::from_ref(&inner.0));
        compress256(&mut hmac.outer, slice::from_ref(&outer.0));
        hmac
    }

    /// The tag of the concatenated parts.
    fn sign<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> Wiped<LEN> {
        let inner = Sha256::digest(&self.inner, 1, parts);
        Sha256::digest(&self.outer, 1, [&inner.0[..]])
    }

    /// T(`counter`) of RFC 5869, section 2.3, after `previous`.
    fn block(&self, previous: &[u8], info: &[&[u8]], counter: u8) -> Wiped<LEN> {
        let info = info.iter().copied();
        self.sign([previous].into_iter().chain(info).chain([&[counter][..]]))
    }
}

impl Drop for Hmac {
    fn drop(&mut self) {
        self.inner = [0; 8];
        self.outer = [0; 8];
        optimization_barrier(self);
    }
}

impl ZeroizeOnDrop for Hmac {}

impl HkdfExpander for Hmac {
    fn expand_slice(&self, info: &[&[u8]], output: &mut [u8]) -> Result<(), OutputLengthError> {
        if output.len() > usize::from(u8::MAX) * LEN {
            return Err(OutputLengthError);
        }
        let mut previous = None::<Wiped<LEN>>;
        for (output, counter) in output.chunks_mut(LEN).zip(1..=u8::MAX) {
            let previous_block = previous.as_ref().map_or(&[][..], |block| &block.0);
            let block = self.block(previous_block, info, counter);
            output.copy_from_slice(&block.0[..output.len()]);
            previous = Some(block);
        }
        Ok(())
    }

    fn expand_block(&self, info: &[&[u8]]) -> OkmBlock {
        OkmBlock::new(&self.block(&[], info, 1).0)
    }

    fn hash_len(&self) -> usize {
        LEN
    }
}

/// SHA-256 (FIPS 180-4) of a message in parts.
///
/// Wiped when dropped, as [`Hmac`] is.
struct Sha256 {
    state: State,
    /// The next block, zero where it isn't filled yet.
    block: [u8; BLOCK_LEN],
    /// How much of the block is filled: not all.
    filled: usize,
    /// How many blocks the state has taken.
    blocks: usize,
}

impl Sha256 {
    /// The digest of so many blocks, which have led to `state`, and then the parts.
    fn digest<'a>(
        state: &State,
        blocks: usize,
        parts: impl IntoIterator<Item = &'a [u8]>,
    ) -> Wiped<LEN> {
        let mut hash = Self {
            state: *state,
            block: [0; BLOCK_LEN],
            filled: 0,
            blocks,
        };
        for part in parts {
            hash.update(part);
        }
        hash.pad();

        let mut digest = Wiped([0; LEN]);
        for (bytes, word) in digest.0.chunks_exact_mut(4).zip(hash.state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }

    fn update(&mut self, mut bytes: &[u8]) {
        loop {
            let room = &mut self.block[self.filled..];
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

    fn pad(&mut self) {
        let bits = 8 * (self.blocks * BLOCK_LEN + self.filled) as u64;
        self.block[self.filled] = 0x80;
        if self.filled >= BLOCK_LEN - 8 {
            self.compress();
        }
        self.block[BLOCK_LEN - 8..].copy_from_slice(&bits.to_be_bytes());
        self.compress();
    }

    fn compress(&mut self) {
        compress256(&mut self.state, slice::from_ref(&self.block));
        self.block = [0; BLOCK_LEN];
        self.filled = 0;
        self.blocks += 1;
    }
}

impl Drop for Sha256 {
    fn drop(&mut self) {
        self.state = [0; 8];
        self.block = [0; BLOCK_LEN];
        optimization_barrier(self);
    }
}

impl ZeroizeOnDrop for Sha256 {}

/// Bytes that are wiped when dropped, by stores as wide as the compiler likes: those of
/// `Zeroizing` would take an instruction for each byte.
struct Wiped<const N: usize>([u8; N]);

impl<const N: usize> Drop for Wiped<N> {
    fn drop(&mut self) {
        self.0.fill(0);
        optimization_barrier(&self.0);
    }
}

impl<const N: usize> ZeroizeOnDrop for Wiped<N> {}

/// H⁽ⁱ⁾ of FIPS 180-4, section 6.2.
type State = [u32; 8];

/// H⁽⁰⁾ (FIPS 180-4, section 5.3.3).
const INITIAL: State = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// Length of a digest, in bytes.
const LEN: usize = 32;

/// Length of a block that is compressed, in bytes.
const BLOCK_LEN: usize = 64;

const ZEROS: [u8; LEN] = [0; LEN];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustls::crypto::ring;
    use rustls::{CipherSuite, SupportedCipherSuite, Tls13CipherSuite};

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
            HkdfSha256
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
        let key = OkmBlock::new(&[7; LEN]);
        let message: Vec<u8> = (0..3 * BLOCK_LEN as u8).collect();
        for len in 0..=message.len() {
            let [ours, theirs] = [&HkdfSha256 as &dyn Hkdf, rings().hkdf_provider]
                .map(|hkdf| hkdf.hmac_sign(&key, &message[..len]));
            assert_eq!(ours.as_ref(), theirs.as_ref(), "{len} bytes");
        }
    }

    #[test]
    fn the_length_of_output_is_limited() {
        let expander = HkdfSha256.extract_from_zero_ikm(None);
        let mut output = [0; 255 * LEN + 1];
        assert!(expander.expand_slice(&[], &mut output[1..]).is_ok());
        assert!(expander.expand_slice(&[], &mut output).is_err());
    }

    proptest! {
        /// Every operation beside that of another provider, keys longer than a block included.
        #[test]
        fn agrees_with_ring(
            salt in prop::option::of(prop::collection::vec(any::<u8>(), 0..100)),
            secret in prop::collection::vec(any::<u8>(), 0..200),
            info in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 0..4),
            len in 0_usize..100,
        ) {
            let theirs = rings().hkdf_provider;
            let salt = salt.as_deref();
            let info: Vec<&[u8]> = info.iter().map(Vec::as_slice).collect();
            let okm = OkmBlock::new(&secret[..secret.len().min(OkmBlock::MAX_LEN)]);
            let results = [&HkdfSha256 as &dyn Hkdf, theirs].map(|hkdf| {
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

    fn rings() -> &'static Tls13CipherSuite {
        ring::ALL_CIPHER_SUITES
            .iter()
            .filter_map(SupportedCipherSuite::tls13)
            .find(|suite| suite.common.suite == CipherSuite::TLS13_AES_128_GCM_SHA256)
            .expect("ring has it")
    }
}
