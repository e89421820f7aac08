//! What shows that a key under a cipher that authenticates nothing is unchanged: a digest of it, encrypted with it.
//!
//! It is an attribute of PKCS#8, which other programs pass over: messageDigest (RFC 5652 section 11.2), with the SHA-512 of
//! the PKCS#8 as it is without this attribute. Whoever changes a file can't compute it, since a private key is in what is
//! hashed.
//!
//! Nor can they take it away. Who knows the first block of what AES-CBC encrypted can write a PKCS#8 without attributes, of
//! a few blocks, half of them noise. So the salt of the passphrase says that there is a digest: with another salt the key is
//! another, and all of the plaintext noise.

use der::{Decode, Encode, Header, Reader, SliceReader, Tag, TagNumber};
use sha2::{Digest, Sha512};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The beginning of the attribute, up to the digest itself.
const DIGEST_ATTRIBUTE: [u8; 17] = [
    0x30, 79, 0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 4, 0x31, 66, 0x04, 64,
];

/// `[0] IMPLICIT`, the attributes.
const ATTRIBUTES: Tag = Tag::ContextSpecific {
    constructed: true,
    number: TagNumber(0),
};

/// The parts of a PKCS#8, each in its encoding.
struct Parts<'a> {
    /// Version, algorithm and private key.
    key: &'a [u8],
    /// In the order of the file, which is that of their bytes.
    attributes: Vec<&'a [u8]>,
    /// The public key, if there is one.
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(pkcs8: &'a [u8]) -> der::Result<Self> {
        let mut reader = SliceReader::new(pkcs8)?;
        let header = Header::decode(&mut reader)?;
        let fields = reader.read_slice(header.length())?;
        let mut reader = SliceReader::new(fields)?;
        let mut key_len = 0;
        for _ in 0..3 {
            key_len += reader.tlv_bytes()?.len();
        }
        let mut attributes = Vec::new();
        if !reader.is_finished() && Tag::peek(&reader)? == ATTRIBUTES {
            let header = Header::decode(&mut reader)?;
            let mut set = SliceReader::new(reader.read_slice(header.length())?)?;
            while !set.is_finished() {
                attributes.push(set.tlv_bytes()?);
            }
        }
        let rest_len = usize::try_from(reader.remaining_len())?;
        Ok(Self {
            key: &fields[..key_len],
            attributes,
            rest: &fields[fields.len() - rest_len..],
        })
    }

    fn write(&self) -> der::Result<Zeroizing<Vec<u8>>> {
        let attributes = match self.attributes.is_empty() {
            true => Vec::new(),
            false => {
                let attributes = self.attributes.concat();
                let header = Header::new(ATTRIBUTES, der::Length::try_from(attributes.len())?);
                [header.to_der()?, attributes].concat()
            }
        };
        let parts = [self.key, &attributes, self.rest];
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        let header = Header::new(Tag::Sequence, der::Length::try_from(len)?).to_der()?;
        // In one buffer, since one that grows leaves copies behind.
        let mut pkcs8 = Zeroizing::new(Vec::with_capacity(header.len() + len));
        pkcs8.extend(header);
        parts.iter().for_each(|part| pkcs8.extend(*part));
        Ok(pkcs8)
    }
}

/// The PKCS#8 with its digest.
pub(super) fn with_digest(pkcs8: &[u8]) -> der::Result<Zeroizing<Vec<u8>>> {
    let digest = Sha512::digest(pkcs8);
    let attribute = [&DIGEST_ATTRIBUTE[..], &digest].concat();
    let mut parts = Parts::read(pkcs8)?;
    let place = parts
        .attributes
        .partition_point(|other| *other < &attribute);
    parts.attributes.insert(place, &attribute);
    parts.write()
}

/// The PKCS#8 without its digest. `None` if all digests are of something else, or if there is none although the file
/// says so.
pub(super) fn checked(pkcs8: Zeroizing<Vec<u8>>, is_digested: bool) -> Option<Zeroizing<Vec<u8>>> {
    let parts = Parts::read(&pkcs8).ok()?;
    let has_digest = (parts.attributes.iter()).any(|found| found.starts_with(&DIGEST_ATTRIBUTE));
    if !(is_digested || has_digest) {
        return Some(pkcs8);
    }
    // One who decrypts by another program, and encrypts again by this one, has two. Each costs as much as the key is long.
    let digests = parts.attributes.iter().enumerate();
    let mut digests = digests
        .filter_map(|(at, found)| Some((at, found.strip_prefix(&DIGEST_ATTRIBUTE)?)))
        .take(MAX_DIGESTS);
    digests.find_map(|(at, digest)| {
        let mut attributes = parts.attributes.clone();
        attributes.remove(at);
        let without = Parts {
            attributes,
            ..parts
        }
        .write()
        .ok()?;
        bool::from(Sha512::digest(&without).as_slice().ct_eq(digest)).then_some(without)
    })
}

/// How many digests are looked at.
const MAX_DIGESTS: usize = 4;
