//! The hash functions of HashML-DSA and HashSLH-DSA, and their digests (FIPS 204,
//! section 5.4; FIPS 205, section 10.2.2).

use crate::Error;
use crate::arch::{Backend, Choice, dispatch};
use crate::hash::sha2::{self, Variant};
use crate::hash::sha3::{self, SHA3_SUFFIX, SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE};

/// A hash function that HashML-DSA or HashSLH-DSA applies to the message first
/// (FIPS 204, section 5.4; FIPS 205, section 10.2.2).
///
/// All that NIST approves are here. The standards want one whose collision
/// strength is not below that of the parameter set: from 256 bits of digest for
/// ML-DSA-44 and the sets of SLH-DSA with n = 16, 384 for ML-DSA-65 and n = 24, and 512 for
/// ML-DSA-87 and n = 32.
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
    /// Every hash function there is.
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

    /// Length of a digest in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Sha224 | Self::Sha512_224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha512_256 | Self::Sha3_256 | Self::Shake128 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 | Self::Shake256 => 64,
        }
    }

    /// The last arc of the object identifier in NIST's `hashAlgs`, which is
    /// 2.16.840.1.101.3.4.2.
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

/// The digest of a message, as [`PreHash`] says. Public, like the message.
pub(crate) struct Digest {
    bytes: [u8; 64],
    hash: PreHash,
}

impl Digest {
    /// Hashes `message`.
    pub(crate) fn of(backend: Choice, hash: PreHash, message: &[u8]) -> Self {
        dispatch!(backend, b => Self::of_with(b, hash, message))
    }

    fn of_with<B: Backend>(b: B, hash: PreHash, message: &[u8]) -> Self {
        let mut bytes = [0; 64];
        let output = &mut bytes[..hash.digest_len()];
        let sha2 = |variant, output| sha2::digest(b, variant, message, output);
        let sha3 = |rate, suffix, output| sha3::hash(b, rate, suffix, &[message], output);
        match hash {
            PreHash::Sha224 => sha2(Variant::Sha224, output),
            PreHash::Sha256 => sha2(Variant::Sha256, output),
            PreHash::Sha384 => sha2(Variant::Sha384, output),
            PreHash::Sha512 => sha2(Variant::Sha512, output),
            PreHash::Sha512_224 => sha2(Variant::Sha512_224, output),
            PreHash::Sha512_256 => sha2(Variant::Sha512_256, output),
            PreHash::Sha3_224 | PreHash::Sha3_256 | PreHash::Sha3_384 | PreHash::Sha3_512 => {
                // capacity = 2 · output (FIPS 202, section 6.1)
                sha3(200 - 2 * output.len(), SHA3_SUFFIX, output);
            }
            PreHash::Shake128 => sha3(SHAKE128_RATE, SHAKE_SUFFIX, output),
            PreHash::Shake256 => sha3(SHAKE256_RATE, SHAKE_SUFFIX, output),
        }
        Self { bytes, hash }
    }

    /// A digest that was computed elsewhere.
    pub(crate) fn from_bytes(hash: PreHash, digest: &[u8]) -> Result<Self, Error> {
        Error::check_length(hash.digest_len(), digest)?;
        let mut bytes = [0; 64];
        bytes[..digest.len()].copy_from_slice(digest);
        Ok(Self { bytes, hash })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.hash.digest_len()]
    }

    /// The object identifier of the hash function in DER, with tag and length.
    pub(crate) fn oid(&self) -> [u8; 11] {
        self.hash.oid()
    }
}

#[cfg(test)]
mod tests {
    use sha2::Digest as _;
    use shake::digest::{ExtendableOutput, Update, XofReader};

    use super::{Digest, PreHash};
    use crate::arch::Portable;

    #[test]
    fn digests_match_other_implementations() {
        fn shake<H: Default + Update + ExtendableOutput>(message: &[u8], output: &mut [u8]) {
            let mut hash = H::default();
            hash.update(message);
            hash.finalize_xof().read(output);
        }

        let message: [u8; 300] = core::array::from_fn(|i| i as u8);
        for len in [0, 1, 71, 72, 135, 136, 137, 168, 300] {
            let message = &message[..len];
            for &hash in PreHash::ALL {
                let mut expected = [0; 64];
                let output = &mut expected[..hash.digest_len()];
                match hash {
                    PreHash::Sha224 => output.copy_from_slice(&sha2::Sha224::digest(message)),
                    PreHash::Sha256 => output.copy_from_slice(&sha2::Sha256::digest(message)),
                    PreHash::Sha384 => output.copy_from_slice(&sha2::Sha384::digest(message)),
                    PreHash::Sha512 => output.copy_from_slice(&sha2::Sha512::digest(message)),
                    PreHash::Sha512_224 => {
                        output.copy_from_slice(&sha2::Sha512_224::digest(message));
                    }
                    PreHash::Sha512_256 => {
                        output.copy_from_slice(&sha2::Sha512_256::digest(message));
                    }
                    PreHash::Sha3_224 => output.copy_from_slice(&sha3::Sha3_224::digest(message)),
                    PreHash::Sha3_256 => output.copy_from_slice(&sha3::Sha3_256::digest(message)),
                    PreHash::Sha3_384 => output.copy_from_slice(&sha3::Sha3_384::digest(message)),
                    PreHash::Sha3_512 => output.copy_from_slice(&sha3::Sha3_512::digest(message)),
                    PreHash::Shake128 => shake::<shake::Shake128>(message, output),
                    PreHash::Shake256 => shake::<shake::Shake256>(message, output),
                }
                assert_eq!(Digest::of_with(Portable, hash, message).bytes, expected);
            }
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
