//! HKDF with SHA-256 (RFC 5869) for the key schedule of TLS 1.3, over graviola's SHA-256.
//!
//! The two ends of a handshake derive some forty secrets, each from one or two blocks, so
//! that what surrounds the compression function counts. rustls's HKDF over graviola's HMAC
//! allocates twice for each key, copies and wipes two more buffers for each block, and computes
//! the early secret again in each handshake.

use std::sync::LazyLock;

use graviola::hashing::sha2::Sha256Context;
use rustls::crypto::hmac::Tag;
use rustls::crypto::tls13::{Hkdf, HkdfExpander, OkmBlock, OutputLengthError};
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
/// Wiped when dropped, apart from what graviola's SHA-256 leaves on the stack.
#[derive(Clone)]
struct Hmac {
    /// SHA-256 that has taken the block of the key with the inner padding.
    inner: Sha256Context,
    /// The same with the outer padding.
    outer: Sha256Context,
}

impl Hmac {
    fn new(key: &[u8]) -> Self {
        let mut block = Wiped([0; BLOCK_LEN]);
        match block.0.get_mut(..key.len()) {
            Some(start) => start.copy_from_slice(key),
            None => {
                let mut hash = Sha256Context::new();
                hash.update(key);
                block.0[..LEN].copy_from_slice(&Wiped(hash.finish()).0);
            }
        }
        let [inner, outer] = [0x36, 0x5c].map(|padding| {
            let mut hash = Sha256Context::new();
            hash.update(&Wiped(block.0.map(|byte| byte ^ padding)).0);
            hash
        });
        Self { inner, outer }
    }

    /// The tag of the concatenated parts.
    fn sign<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> Wiped<LEN> {
        let (mut inner, mut outer) = (self.inner.clone(), self.outer.clone());
        for part in parts {
            inner.update(part);
        }
        outer.update(&Wiped(inner.finish()).0);
        Wiped(outer.finish())
    }

    /// T(`counter`) of RFC 5869, section 2.3, after `previous`.
    fn block(&self, previous: &[u8], info: &[&[u8]], counter: u8) -> Wiped<LEN> {
        let info = info.iter().copied();
        self.sign([previous].into_iter().chain(info).chain([&[counter][..]]))
    }
}

impl Drop for Hmac {
    fn drop(&mut self) {
        self.inner = Sha256Context::new();
        self.outer = Sha256Context::new();
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

/// Length of a digest, in bytes.
const LEN: usize = Sha256Context::OUTPUT_SZ;

/// Length of a block that is compressed, in bytes.
const BLOCK_LEN: usize = Sha256Context::BLOCK_SZ;

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
