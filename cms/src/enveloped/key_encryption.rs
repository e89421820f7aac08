use aes::cipher::KeyInit;
use aes::{Aes128, Aes256};
use aes_kw::AesKw;
use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_AES_128_WRAP, ID_AES_256_WRAP};
use der::Encode;
use hkdf::Hkdf;
use sha2::{Sha256, Sha384, Sha512};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use crate::encoding::{tag, tlv};

/// How a key that encrypts keys is made of the secret of a KEM (RFC 8619).
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

    /// The key for a wrap. The secret is a KEM's, and the salt empty (RFC 9629, section 5).
    pub(super) fn derive(
        self,
        secret: &[u8],
        wrap: Wrap,
        ukm: Option<&[u8]>,
    ) -> der::Result<Option<Zeroizing<Vec<u8>>>> {
        let info = other_info(wrap, ukm)?;
        let mut key = Zeroizing::new(vec![0; wrap.key_len()]);
        let expanded = match self {
            Self::HkdfSha256 => Hkdf::<Sha256>::new(None, secret).expand(&info, &mut key),
            Self::HkdfSha384 => Hkdf::<Sha384>::new(None, secret).expand(&info, &mut key),
            Self::HkdfSha512 => Hkdf::<Sha512>::new(None, secret).expand(&info, &mut key),
        };
        Ok(expanded.is_ok().then_some(key))
    }
}

/// CMSORIforKEMOtherInfo (RFC 9629, section 5).
fn other_info(wrap: Wrap, ukm: Option<&[u8]>) -> der::Result<Vec<u8>> {
    let ukm = ukm.map(|ukm| {
        let octets = tlv(tag::OCTET_STRING, &[ukm]);
        tlv(tag::context_constructed(0), &[&octets])
    });
    Ok(tlv(
        tag::SEQUENCE,
        &[
            &wrap.identifier()?,
            &(wrap.key_len() as u16).to_der()?,
            &ukm.unwrap_or_default(),
        ],
    ))
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

    /// That which takes a key of this length.
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

    /// `None` if the key that is to encrypt has a wrong length.
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

    /// `None` if the key is not the one that it was encrypted with.
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

/// What a wrapped key is longer by.
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
    let found = known.iter().find(|(known, _)| *known == wanted);
    let (_, oid) = found.ok_or_else(|| der::Tag::ObjectIdentifier.value_error())?;
    Ok(tlv(tag::SEQUENCE, &[&oid.to_der()?]))
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
