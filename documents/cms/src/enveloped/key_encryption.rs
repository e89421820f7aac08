//! How the content's key is encrypted for a recipient: KDFs make a key from the secret of a KEM (RFC 9629) or of
//! Diffie-Hellman (RFC 5753, RFC 8418), and AES Key Wrap (RFC 3394) encrypts with it.

use aes::cipher::KeyInit;
use aes::{Aes128, Aes256};
use aes_kw::AesKw;
use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_AES_128_WRAP, ID_AES_256_WRAP};
use const_oid::db::rfc5912::{SECP_384_R_1, SECP_521_R_1};
use const_oid::db::rfc8410::{ID_X_448, ID_X_25519};
use der::Encode;
use hkdf::Hkdf;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use spki::AlgorithmIdentifierRef;
use zeroize::{Zeroize, Zeroizing};

use crate::encoding::{tag, tlv};

/// How the secret of a KEM becomes a key that encrypts keys (RFC 8619).
///
/// `pq_hpke::Kdf` has those of HPKE.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Kdf {
    /// HKDF with SHA-256, which every recipient knows (RFC 9936).
    #[default]
    HkdfSha256,
    /// HKDF with SHA-384.
    HkdfSha384,
    /// HKDF with SHA-512.
    HkdfSha512,
}

impl Kdf {
    const ALL: [(Self, ObjectIdentifier); 3] = [
        (
            Self::HkdfSha256,
            ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.28"),
        ),
        (
            Self::HkdfSha384,
            ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.29"),
        ),
        (
            Self::HkdfSha512,
            ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.30"),
        ),
    ];

    pub(super) fn named(identifier: &AlgorithmIdentifierRef<'_>) -> Option<Self> {
        named(&Self::ALL, identifier)
    }

    pub(super) fn identifier(self) -> der::Result<Vec<u8>> {
        identifier(&Self::ALL, self)
    }

    /// The key for a wrap, from the secret of a KEM. The salt is empty (RFC 9629, section 5).
    pub(super) fn derive(
        self,
        secret: &[u8],
        wrap: Wrap,
        ukm: Option<&[u8]>,
    ) -> der::Result<Option<Zeroizing<Vec<u8>>>> {
        let info = other_info(wrap, ukm)?;
        Ok(self.expand(None, secret, &info, wrap))
    }

    fn expand(
        self,
        salt: Option<&[u8]>,
        secret: &[u8],
        info: &[u8],
        wrap: Wrap,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let mut key = Zeroizing::new(vec![0; wrap.key_len()]);
        let expanded = match self {
            Self::HkdfSha256 => Hkdf::<Sha256>::new(salt, secret).expand(info, &mut key),
            Self::HkdfSha384 => Hkdf::<Sha384>::new(salt, secret).expand(info, &mut key),
            Self::HkdfSha512 => Hkdf::<Sha512>::new(salt, secret).expand(info, &mut key),
        };
        expanded.is_ok().then_some(key)
    }
}

/// CMSORIforKEMOtherInfo (RFC 9629, section 5).
fn other_info(wrap: Wrap, ukm: Option<&[u8]>) -> der::Result<Vec<u8>> {
    Ok(tlv(
        tag::SEQUENCE,
        &[
            &wrap.identifier()?,
            &(wrap.key_len() as u16).to_der()?,
            &encoded_ukm(ukm),
        ],
    ))
}

/// How a Diffie-Hellman secret becomes a key that encrypts keys: dhSinglePass-stdDH with a KDF.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Scheme {
    /// The KDF of ANSI X9.63 (RFC 5753, section 7.1).
    X963(X963Hash),
    /// HKDF (RFC 8418, section 2.2).
    Hkdf(Kdf),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum X963Hash {
    /// Is read, but not written. SHA-1 still has the properties that a KDF needs, and OpenSSL writes nothing
    /// else by default.
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Scheme {
    const ALL: [(Self, ObjectIdentifier); 7] = [
        (
            Self::X963(X963Hash::Sha1),
            ObjectIdentifier::new_unwrap("1.3.133.16.840.63.0.2"),
        ),
        (
            Self::X963(X963Hash::Sha256),
            ObjectIdentifier::new_unwrap("1.3.132.1.11.1"),
        ),
        (
            Self::X963(X963Hash::Sha384),
            ObjectIdentifier::new_unwrap("1.3.132.1.11.2"),
        ),
        (
            Self::X963(X963Hash::Sha512),
            ObjectIdentifier::new_unwrap("1.3.132.1.11.3"),
        ),
        (
            Self::Hkdf(Kdf::HkdfSha256),
            ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.19"),
        ),
        (
            Self::Hkdf(Kdf::HkdfSha384),
            ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.20"),
        ),
        (
            Self::Hkdf(Kdf::HkdfSha512),
            ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.21"),
        ),
    ];

    /// A scheme as strong as keys of this algorithm: with HKDF for keys of RFC 8410, and with the KDF of
    /// RFC 5753 for others.
    pub(super) fn usual(key: &AlgorithmIdentifierRef<'_>) -> Self {
        match (key.oid, key.parameters_oid()) {
            (ID_X_25519, _) => Self::Hkdf(Kdf::HkdfSha256),
            (ID_X_448, _) => Self::Hkdf(Kdf::HkdfSha512),
            (_, Ok(SECP_384_R_1)) => Self::X963(X963Hash::Sha384),
            (_, Ok(SECP_521_R_1)) => Self::X963(X963Hash::Sha512),
            _ => Self::X963(X963Hash::Sha256),
        }
    }

    pub(super) fn named(oid: ObjectIdentifier) -> Option<Self> {
        let (found, _) = Self::ALL.iter().find(|(_, known)| *known == oid)?;
        Some(*found)
    }

    /// The keyEncryptionAlgorithm, whose parameters are the wrap's identifier.
    pub(super) fn identifier(self, wrap: Wrap) -> der::Result<Vec<u8>> {
        let oid = oid_of(&Self::ALL, self)?;
        Ok(tlv(tag::SEQUENCE, &[&oid.to_der()?, &wrap.identifier()?]))
    }

    /// The key for a wrap.
    pub(super) fn derive(
        self,
        secret: &[u8],
        wrap: Wrap,
        ukm: Option<&[u8]>,
    ) -> der::Result<Option<Zeroizing<Vec<u8>>>> {
        let info = shared_info(wrap, ukm)?;
        let derive = match self {
            Self::Hkdf(kdf) => return Ok(kdf.expand(ukm, secret, &info, wrap)),
            Self::X963(X963Hash::Sha1) => x963::<Sha1>,
            Self::X963(X963Hash::Sha256) => x963::<Sha256>,
            Self::X963(X963Hash::Sha384) => x963::<Sha384>,
            Self::X963(X963Hash::Sha512) => x963::<Sha512>,
        };
        Ok(Some(derive(secret, &info, wrap.key_len())))
    }
}

/// The KDF of ANSI X9.63 (SEC 1, section 3.6.1).
fn x963<D: Digest>(secret: &[u8], info: &[u8], len: usize) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(vec![0; len]);
    for (counter, part) in (1_u32..).zip(key.chunks_mut(<D as Digest>::output_size())) {
        let mut hash = D::new();
        hash.update(secret);
        hash.update(counter.to_be_bytes());
        hash.update(info);
        let mut digest = hash.finalize();
        for (byte, from) in part.iter_mut().zip(digest.iter()) {
            *byte = *from;
        }
        digest.as_mut_slice().zeroize();
    }
    key
}

/// ECC-CMS-SharedInfo (RFC 5753, section 7.2).
fn shared_info(wrap: Wrap, ukm: Option<&[u8]>) -> der::Result<Vec<u8>> {
    let bits = (8 * wrap.key_len() as u32).to_be_bytes();
    let bits = tlv(tag::OCTET_STRING, &[&bits]);
    Ok(tlv(
        tag::SEQUENCE,
        &[
            &wrap.identifier()?,
            &encoded_ukm(ukm),
            &tlv(tag::context_constructed(2), &[&bits]),
        ],
    ))
}

/// As `[0] EXPLICIT OCTET STRING OPTIONAL`.
fn encoded_ukm(ukm: Option<&[u8]>) -> Vec<u8> {
    let ukm = ukm.map(|ukm| {
        let octets = tlv(tag::OCTET_STRING, &[ukm]);
        tlv(tag::context_constructed(0), &[&octets])
    });
    ukm.unwrap_or_default()
}

/// How keys are encrypted: AES Key Wrap (RFC 3394, RFC 3565).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wrap {
    Aes128,
    Aes256,
}

impl Wrap {
    const ALL: [(Self, ObjectIdentifier); 2] = [
        (Self::Aes128, ID_AES_128_WRAP),
        (Self::Aes256, ID_AES_256_WRAP),
    ];

    pub(super) fn named(identifier: &AlgorithmIdentifierRef<'_>) -> Option<Self> {
        named(&Self::ALL, identifier)
    }

    pub(super) fn identifier(self) -> der::Result<Vec<u8>> {
        identifier(&Self::ALL, self)
    }

    /// The wrap that takes a key of this length.
    pub(super) fn of_key_len(len: usize) -> Option<Self> {
        Self::ALL
            .iter()
            .map(|(wrap, _)| *wrap)
            .find(|wrap| wrap.key_len() == len)
    }

    pub(super) fn key_len(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes256 => 32,
        }
    }

    /// `None` if `with`, the key that encrypts, has a wrong length.
    pub(super) fn wrap(self, with: &[u8], key: &[u8]) -> Option<Vec<u8>> {
        let mut wrapped = vec![0; key.len() + CHECK_LEN];
        match self {
            Self::Aes128 => {
                let wrap = AesKw::<Aes128>::new(with.try_into().ok()?);
                wrap.wrap_key(key, &mut wrapped).ok()?;
            }
            Self::Aes256 => {
                let wrap = AesKw::<Aes256>::new(with.try_into().ok()?);
                wrap.wrap_key(key, &mut wrapped).ok()?;
            }
        }
        Some(wrapped)
    }

    /// `None` if `with` is not the key that encrypted it.
    pub(super) fn unwrap(self, with: &[u8], wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut key = Zeroizing::new(vec![0; wrapped.len().checked_sub(CHECK_LEN)?]);
        match self {
            Self::Aes128 => {
                let wrap = AesKw::<Aes128>::new(with.try_into().ok()?);
                wrap.unwrap_key(wrapped, &mut key).ok()?;
            }
            Self::Aes256 => {
                let wrap = AesKw::<Aes256>::new(with.try_into().ok()?);
                wrap.unwrap_key(wrapped, &mut key).ok()?;
            }
        }
        Some(key)
    }
}

/// How many bytes longer a wrapped key is.
const CHECK_LEN: usize = 8;

/// Parameters are absent (RFC 9936, section 2.2; RFC 3565, section 2.3.2).
fn named<T: Copy>(
    known: &[(T, ObjectIdentifier)],
    identifier: &AlgorithmIdentifierRef<'_>,
) -> Option<T> {
    if identifier.parameters.is_some() {
        return None;
    }
    let (found, _) = known.iter().find(|(_, oid)| *oid == identifier.oid)?;
    Some(*found)
}

fn identifier<T: Copy + PartialEq>(
    known: &[(T, ObjectIdentifier)],
    wanted: T,
) -> der::Result<Vec<u8>> {
    let oid = oid_of(known, wanted)?;
    Ok(tlv(tag::SEQUENCE, &[&oid.to_der()?]))
}

fn oid_of<T: PartialEq>(
    known: &[(T, ObjectIdentifier)],
    wanted: T,
) -> der::Result<ObjectIdentifier> {
    let found = known.iter().find(|(known, _)| *known == wanted);
    let (_, oid) = found.ok_or_else(|| der::Tag::ObjectIdentifier.value_error())?;
    Ok(*oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 9936, appendix C, from the secret of ML-KEM-512 to the content's key.
    #[test]
    fn example_of_rfc_9936() {
        assert_eq!(
            hex::encode(other_info(Wrap::Aes128, None).unwrap()),
            "3010300b0609608648016503040105020110"
        );
        let secret = "7df12d412ae299a24fde6d7c3bb8e3194c80ad3c733dcf2775e09fe8bedb86d8";
        let secret = hex::decode(secret).unwrap();
        let encryption = Kdf::HkdfSha256.derive(&secret, Wrap::Aes128, None);
        let encryption = encryption.unwrap().unwrap();
        assert_eq!(hex::encode(&encryption), "cf453a3e2bae0a78701b8206c185a008");
        let wrapped = "c050e4392f9c14dd0ac2220203f317d701f94f9dd92778f5";
        let wrapped = hex::decode(wrapped).unwrap();
        let content_key = Wrap::Aes128.unwrap(&encryption, &wrapped).unwrap();
        assert_eq!(
            hex::encode(&content_key),
            "c5153005588269a0a59f3c01943fdd56"
        );
    }

    /// The info of RFC 5753, section 7.2: the wrap, the user's keying material, and bits.
    #[test]
    fn shared_infos() {
        for (wrap, ukm, expected) in [
            (
                Wrap::Aes256,
                None,
                "3015300b060960864801650304012da206040400000100",
            ),
            (
                Wrap::Aes128,
                Some(&b"ukm"[..]),
                "301c300b0609608648016503040105a0050403756b6da206040400000080",
            ),
        ] {
            assert_eq!(hex::encode(shared_info(wrap, ukm).unwrap()), expected);
        }
    }

    /// Keys of several blocks, and of less than one, as SHA-256 itself gives them.
    #[test]
    fn kdf_of_x963() {
        let block = |counter: u8| {
            let message = [&b"secret"[..], &[0, 0, 0, counter], b"info"].concat();
            Sha256::digest(&message).to_vec()
        };
        let long = [block(1), block(2), block(3)].concat();
        for len in [16, 32, 70] {
            assert_eq!(*x963::<Sha256>(b"secret", b"info", len), long[..len]);
        }
    }

    /// RFC 3394, sections 4.1 and 4.6.
    #[test]
    fn wraps() {
        let key: Vec<u8> = (0..32).collect();
        let content =
            hex::decode("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f");
        let content = content.unwrap();
        for (wrap, content, wrapped) in [
            (
                Wrap::Aes128,
                &content[..16],
                "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5",
            ),
            (
                Wrap::Aes256,
                &content[..],
                "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21",
            ),
        ] {
            let with = &key[..wrap.key_len()];
            let found = wrap.wrap(with, content).unwrap();
            assert_eq!(hex::encode(&found), wrapped);
            assert_eq!(wrap.unwrap(with, &found).unwrap().as_slice(), content);
            let mut altered = found.clone();
            altered[9] ^= 1;
            assert!(wrap.unwrap(with, &altered).is_none());
        }
        for len in 0..24 {
            assert!(Wrap::Aes128.unwrap(&key[..16], &vec![0; len]).is_none());
        }
    }
}
