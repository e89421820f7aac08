//! Reads what comes before and after the content of a SignedData (RFC 5652, section 5.1). It limits the number and the
//! size of signers and certificates.

use std::io::BufRead;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::ID_SIGNED_DATA;
use der::Decode;
use pq_keys::signing::PreHash;
use pq_x509::certificate::Certificate;
use spki::AlgorithmIdentifierOwned;

use super::error::VerificationError;
use super::signer_info::{OtherCertificates, SignerInfo, version};
use crate::algorithms::digest_named;
use crate::encoding::{BerReader, MAX_IDENTIFIER, tag};
use crate::identifier::NamedCertificate;

/// How many signers a message may have.
const MAX_SIGNERS: usize = 1024;

/// How many certificates a message may have.
pub(super) const MAX_CERTIFICATES: usize = 1024;

/// How many hash functions a message may announce. Each hashes all of the content.
const MAX_DIGESTS: usize = 16;

/// The longest certificate. One signed by SLH-DSA has 50 KB, and room for thousands of names.
pub(super) const MAX_CERTIFICATE: usize = 128 * 1024;

/// How many bytes all certificates have at most. Once read they take up to 40 times as much memory, if their parts are as
/// small as parts can be.
pub(super) const MAX_CERTIFICATE_BYTES: usize = 3 * 1024 * 1024;

/// How many bytes all signers have at most. They are kept about as they are, and nothing in them is read into more than
/// that.
const MAX_SIGNER_BYTES: usize = 16 * 1024 * 1024;

/// The part of a SignedData before the content.
pub(super) struct Head {
    pub(super) version: u8,
    pub(super) digests: Vec<AlgorithmIdentifierOwned>,
    pub(super) content_type: ObjectIdentifier,
    /// An OCTET STRING is next.
    pub(super) has_content: bool,
}

impl Head {
    /// Reads all up to the content.
    pub(super) fn read(reader: &mut BerReader<impl BufRead>) -> Result<Self, VerificationError> {
        reader.enter(tag::SEQUENCE, "a ContentInfo")?;
        let content_type = reader.object_identifier("a content type")?;
        if content_type != ID_SIGNED_DATA {
            return Err(VerificationError::NotSigned(content_type));
        }
        Self::read_signed(reader)
    }

    /// The same after the ContentInfo's type was read.
    pub(super) fn read_signed(
        reader: &mut BerReader<impl BufRead>,
    ) -> Result<Self, VerificationError> {
        reader.enter(tag::context_constructed(0), "the content")?;
        reader.enter(tag::SEQUENCE, "a SignedData")?;
        let version = reader.element(tag::INTEGER, MAX_IDENTIFIER, "a version")?;
        let mut digests = Vec::new();
        reader.enter(tag::SET, "the hash functions")?;
        while reader.peek()?.is_some() {
            if digests.len() == MAX_DIGESTS {
                return Err(VerificationError::TooMany {
                    what: "hash functions",
                    limit: MAX_DIGESTS,
                });
            }
            let digest = reader.element(tag::SEQUENCE, MAX_IDENTIFIER, "a hash function")?;
            digests.push(AlgorithmIdentifierOwned::from_der(&digest)?);
        }
        reader.leave()?;
        reader.enter(tag::SEQUENCE, "an EncapsulatedContentInfo")?;
        let content_type = reader.object_identifier("a content type")?;
        let has_content = reader.peek()?.is_some();
        if has_content {
            reader.enter(tag::context_constructed(0), "the content")?;
        }
        Ok(Self {
            version: u8::from_der(&version)?,
            digests,
            content_type,
            has_content,
        })
    }

    /// The hash functions that the message lists and that are supported.
    pub(super) fn known_digests(&self) -> Vec<PreHash> {
        let mut known = Vec::new();
        for digest in &self.digests {
            if let Some(digest) = digest_named(&digest.into())
                && !known.contains(&digest)
            {
                known.push(digest);
            }
        }
        known
    }

    /// Reads all that follows the content.
    pub(super) fn tail(
        self,
        mut reader: BerReader<impl BufRead>,
    ) -> Result<Message, VerificationError> {
        if self.has_content {
            reader.leave()?;
        }
        reader.leave()?;
        let mut room = MAX_CERTIFICATE_BYTES;
        let (mut certificates, mut others) = (Vec::new(), OtherCertificates::default());
        if reader.peek()? == Some(tag::context_constructed(0)) {
            reader.enter(tag::context_constructed(0), "certificates")?;
            while let Some(found) = reader.peek()? {
                match found {
                    tag::SEQUENCE => {
                        if certificates.len() == MAX_CERTIFICATES {
                            return Err(VerificationError::TooMany {
                                what: "certificates",
                                limit: MAX_CERTIFICATES,
                            });
                        }
                        let limit = room.min(MAX_CERTIFICATE);
                        let der = reader.element(found, limit, "a certificate")?;
                        room -= der.len().min(room);
                        let certificate = Certificate::from_der(&der)?;
                        certificates.push(NamedCertificate::new(certificate));
                        continue;
                    }
                    ATTRIBUTE_V1 => others.attribute_v1 = true,
                    ATTRIBUTE_V2 => others.attribute_v2 = true,
                    _ => others.other = true,
                }
                reader.skip()?;
            }
            reader.leave()?;
        }
        let mut revocation_lists = 0;
        if reader.peek()? == Some(tag::context_constructed(1)) {
            reader.enter(tag::context_constructed(1), "revocation lists")?;
            while let Some(found) = reader.peek()? {
                revocation_lists += 1;
                others.other |= found != tag::SEQUENCE;
                reader.skip()?;
            }
            reader.leave()?;
        }
        let mut room = MAX_SIGNER_BYTES;
        let mut signers = Vec::new();
        reader.enter(tag::SET, "the signers")?;
        while reader.peek()?.is_some() {
            if signers.len() == MAX_SIGNERS {
                return Err(VerificationError::TooMany {
                    what: "signers",
                    limit: MAX_SIGNERS,
                });
            }
            let der = reader.element(tag::SEQUENCE, room, "a signer")?;
            room -= der.len().min(room);
            signers.push(SignerInfo::from_der(&der)?);
        }
        for _ in 0..4 {
            reader.leave()?;
        }
        reader.finish()?;
        let expected = version(self.content_type, &signers, others);
        if self.version != expected {
            return Err(VerificationError::Version {
                found: self.version,
                expected,
            });
        }
        Ok(Message {
            digests: self.known_digests(),
            content_type: self.content_type,
            certificates,
            revocation_lists,
            signers,
        })
    }
}

const ATTRIBUTE_V1: u8 = tag::context_constructed(1);
const ATTRIBUTE_V2: u8 = tag::context_constructed(2);

/// A SignedData without its content.
pub(super) struct Message {
    /// The hash functions that the message lists and that are supported; their parameters may be absent or NULL.
    pub(super) digests: Vec<PreHash>,
    pub(super) content_type: ObjectIdentifier,
    pub(super) certificates: Vec<NamedCertificate>,
    /// How many revocation lists there are. They are ignored.
    pub(super) revocation_lists: u64,
    pub(super) signers: Vec<SignerInfo>,
}
