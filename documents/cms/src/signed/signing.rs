//! Signs content by one or several signers, in one pass: attached or detached, with or without signed attributes.

use core::fmt;
use std::io::{BufRead, Write};
use std::time::SystemTime;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_DATA, ID_SIGNED_DATA};
use der::Encode;
use pq_keys::signing::{PreHash, SigningVariant};
use pq_keys::{Signer, SigningKey, SubjectKey};
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::x509_cert::time::Time;
use spki::AlgorithmIdentifierOwned;

use super::attributes::{self, Protection};
use super::content::{Content, HashedContent};
use super::error::SigningError;
use super::signer_info::{OtherCertificates, SignerInfo, version};
use crate::algorithms::{Weakness, digest_identifier, usual_digest, verified_as, weakness};
use crate::encoding::{BerWriter, EncodingError, for_each_piece_there, read_start, tag, tlv};
use crate::identifier::KeyIdentifier;

/// A key that signs a message, with its certificate.
#[derive(Clone)]
pub struct DocumentSigner<'k> {
    key: Key<'k>,
    certificate: &'k Certificate,
    digest: PreHash,
    has_attributes: bool,
    by_key_identifier: bool,
}

#[derive(Clone, Copy)]
enum Key<'k> {
    PostQuantum(&'k SigningKey),
    Other(&'k dyn Signer),
}

impl Key<'_> {
    fn signer(&self) -> &dyn Signer {
        match self {
            Self::PostQuantum(key) => *key,
            Self::Other(key) => *key,
        }
    }
}

impl<'k> DocumentSigner<'k> {
    /// Signs with a key of ML-DSA or SLH-DSA.
    pub fn new(certificate: &'k Certificate, key: &'k SigningKey) -> Self {
        Self::of(certificate, Key::PostQuantum(key))
    }

    /// Signs with a key of any other kind, such as a classical or a composite one, or one in a hardware
    /// module.
    ///
    /// The content is hashed with SHA-512, and for ECDSA, RSA (by PKCS #1 and PSS) and composites with the hash
    /// function of their signatures.
    pub fn with_signer(certificate: &'k Certificate, key: &'k dyn Signer) -> Self {
        Self::of(certificate, Key::Other(key))
    }

    fn of(certificate: &'k Certificate, key: Key<'k>) -> Self {
        Self {
            digest: usual_digest(&(&key.signer().signature_algorithm()).into()),
            key,
            certificate,
            has_attributes: true,
            by_key_identifier: false,
        }
    }

    /// Hashes the content with this function instead of the usual one: that of RFC 9814 for SLH-DSA,
    /// and SHA-512 for ML-DSA. Signing refuses one that is weaker than the key.
    ///
    /// A [`Signer`] whose algorithm is `rsaEncryption`, which names no hash function, has to sign with this
    /// one: otherwise nobody can verify the message.
    #[must_use]
    pub fn digest(mut self, digest: PreHash) -> Self {
        self.digest = digest;
        self
    }

    /// Signs the content itself, without attributes: there is no signing time, and nothing protects the
    /// choice of algorithms. Some programs, such as OpenSSL 3.5, can't verify such signatures of ML-DSA and
    /// SLH-DSA.
    ///
    /// ML-DSA hashes the content as it passes. Other keys take content of at most 1 MiB.
    #[must_use]
    pub fn without_attributes(mut self) -> Self {
        self.has_attributes = false;
        self
    }

    /// Names the signer by the subject key identifier of its certificate, and not by issuer and serial
    /// number.
    #[must_use]
    pub fn by_key_identifier(mut self) -> Self {
        self.by_key_identifier = true;
        self
    }

    fn check(&self) -> Result<(), SigningError> {
        let key = self.key.signer();
        let subject = || self.certificate.describe_subject();
        if key.spki().as_ref() != self.certificate.spki().as_ref() {
            return Err(SigningError::OtherKey(subject()));
        }
        if self.by_key_identifier && self.certificate.subject_key_id().is_none() {
            return Err(SigningError::NoKeyIdentifier(subject()));
        }
        let for_signatures = KeyUsages::DigitalSignature | KeyUsages::NonRepudiation;
        match self.certificate.key_usage() {
            Some(usages) if (usages & for_signatures).is_empty() => {
                return Err(SigningError::KeyUsage(subject()));
            }
            _ => {}
        }
        let algorithm = key.signature_algorithm();
        weakness(algorithm.oid, self.digest)?;
        match verified_as(&(&algorithm).into(), self.digest) {
            Some(_) => Ok(()),
            None => Err(SigningError::OtherDigest(algorithm.oid)),
        }
    }

    fn digest_identifier(&self) -> Result<AlgorithmIdentifierOwned, SigningError> {
        let identifier = digest_identifier(self.digest);
        identifier.ok_or_else(|| Weakness::NotForMessages(self.digest).into())
    }

    fn identifier(&self) -> KeyIdentifier {
        let by_key = match self.by_key_identifier {
            true => KeyIdentifier::subject_key_id(self.certificate),
            false => None,
        };
        by_key.unwrap_or_else(|| KeyIdentifier::issuer_and_serial(self.certificate))
    }

    fn sign(
        &self,
        content: &HashedContent,
        content_type: ObjectIdentifier,
        time: Time,
    ) -> Result<SignerInfo, SigningError> {
        let key = self.key.signer();
        let digest = self.digest_identifier()?;
        let algorithm = key.signature_algorithm();
        let (attributes, signature) = match self.has_attributes {
            true => {
                let protection = Protection::of(&digest, &algorithm)?;
                // `begin` has the content hashed for each signer: without a digest nothing may be signed.
                let message_digest = content
                    .digest(self.digest)
                    .ok_or(Weakness::NotForMessages(self.digest))?;
                let set = attributes::encode(content_type, message_digest, time, &protection)?;
                let signature = key.sign(&set)?;
                (Some(set), signature)
            }
            false => (None, self.sign_content(content)?),
        };
        Ok(SignerInfo {
            signer: self.identifier(),
            digest,
            attributes,
            algorithm,
            signature,
            misplaced: Ok(None),
        })
    }

    fn sign_content(&self, content: &HashedContent) -> Result<Vec<u8>, SigningError> {
        if content.may_be_attributes() {
            return Err(SigningError::ContentIsAttributes);
        }
        match (self.key, content.message(self.certificate)) {
            (Key::PostQuantum(key), Some(message)) => {
                Ok(key.sign_hashed(message, SigningVariant::Hedged)?)
            }
            _ => match content.whole() {
                Some(whole) => Ok(self.key.signer().sign(whole)?),
                None => Err(SigningError::TooLarge(WHOLE_LIMIT)),
            },
        }
    }
}

impl fmt::Debug for DocumentSigner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentSigner")
            .field("certificate", self.certificate)
            .field("digest", &self.digest)
            .field("has_attributes", &self.has_attributes)
            .finish_non_exhaustive()
    }
}

/// The most content for keys that need all of it at once.
const WHOLE_LIMIT: usize = 1024 * 1024;

/// A message to sign: who signs it, and what it says besides the content.
///
/// ```
/// use pq_cms::{DocumentSigner, SignedDataBuilder, Verifier};
/// use pq_x509::issuing::{CertificateBuilder, Issuer};
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// use pq_x509::validation::ChainValidator;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = Issuer::self_signed(
/// #     CertificateBuilder::ca("Root"),
/// #     SigningKey::generate(SignatureAlgorithm::MlDsa65)?,
/// # )?;
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let certificate = root.issue(CertificateBuilder::end_entity().common_name("Releases"), &key)?;
///
/// let mut message = Vec::new();
/// SignedDataBuilder::new()
///     .signer(DocumentSigner::new(&certificate, &key))
///     .sign(&b"Version 1.0"[..], &mut message)?;
///
/// let validator = ChainValidator::new([root.certificate().clone()])?;
/// let (content, verified) = Verifier::with_chains(&validator).verify(&message[..], 1024)?;
/// assert_eq!(content, b"Version 1.0");
/// assert_eq!(verified.signers[0].certificate, certificate);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SignedDataBuilder<'k> {
    signers: Vec<DocumentSigner<'k>>,
    certificates: Vec<&'k Certificate>,
    has_certificates: bool,
    content_type: ObjectIdentifier,
    time: Option<SystemTime>,
}

impl<'k> SignedDataBuilder<'k> {
    /// A message of plain data without signers yet.
    pub fn new() -> Self {
        Self {
            signers: Vec::new(),
            certificates: Vec::new(),
            has_certificates: true,
            content_type: ID_DATA,
            time: None,
        }
    }

    /// Adds a signer. Its certificate goes into the message.
    pub fn signer(mut self, signer: DocumentSigner<'k>) -> Self {
        self.signers.push(signer);
        self
    }

    /// Adds further certificates to the message, those of CAs, for whoever verifies it.
    pub fn certificates(mut self, certificates: impl IntoIterator<Item = &'k Certificate>) -> Self {
        self.certificates.extend(certificates);
        self
    }

    /// Leaves all certificates out, if the verifiers have them.
    pub fn without_certificates(mut self) -> Self {
        self.has_certificates = false;
        self
    }

    /// Says what the content is, if it is not plain data.
    pub fn content_type(mut self, content_type: ObjectIdentifier) -> Self {
        self.content_type = content_type;
        self
    }

    /// Sets the signing time that the message states, instead of now.
    pub fn signing_time(mut self, time: SystemTime) -> Self {
        self.time = Some(time);
        self
    }

    /// Signs content and writes it with its signatures, as a ContentInfo. The content is read once, in
    /// constant memory.
    ///
    /// The message is DER if the content has less than 64 KiB, and otherwise BER with indefinite lengths, as
    /// `openssl cms -stream` writes it.
    ///
    /// # Errors
    ///
    /// A [`SigningError`] that says what is wrong. What was written by then is not a whole message.
    pub fn sign(&self, mut content: impl BufRead, to: impl Write) -> Result<(), SigningError> {
        let mut hashing = self.begin()?;
        let start = read_start(&mut content)?;
        hashing.take(&start.bytes);
        if start.is_whole {
            let octets = tlv(tag::OCTET_STRING, &[&start.bytes]);
            let der = self.whole(&tlv(tag::context_constructed(0), &[&octets]), hashing)?;
            let mut writer = BerWriter::new(to);
            writer.raw(&der)?;
            return Ok(writer.finish()?);
        }
        let mut writer = BerWriter::new(to);
        writer.begin(tag::SEQUENCE)?;
        writer.raw(&ID_SIGNED_DATA.to_der()?)?;
        writer.begin(tag::context_constructed(0))?;
        writer.begin(tag::SEQUENCE)?;
        writer.raw(&self.head()?)?;
        writer.begin(tag::SEQUENCE)?;
        writer.raw(&self.content_type.to_der()?)?;
        writer.begin(tag::context_constructed(0))?;
        writer.begin(tag::OCTET_STRING)?;
        writer.piece(&start.bytes)?;
        for_each_piece_there(&mut content, |piece| {
            hashing.take(piece);
            match piece {
                [] => Ok(()),
                _ => writer.piece(piece),
            }
        })?;
        for _ in 0..3 {
            writer.end()?;
        }
        writer.raw(&self.tail(hashing)?)?;
        Ok(writer.finish()?)
    }

    /// Signs content and returns the signatures alone, as a ContentInfo in DER. The content is read
    /// once, in constant memory.
    ///
    /// # Errors
    ///
    /// A [`SigningError`] that says what is wrong.
    pub fn sign_detached(&self, mut content: impl BufRead) -> Result<Vec<u8>, SigningError> {
        let mut hashing = self.begin()?;
        for_each_piece_there(&mut content, |piece| {
            hashing.take(piece);
            Ok::<_, EncodingError>(())
        })?;
        self.whole(&[], hashing)
    }

    /// Refuses unsuitable keys before the content is read.
    fn begin(&self) -> Result<Content, SigningError> {
        if self.signers.is_empty() {
            return Err(SigningError::NoSigner);
        }
        let mut digests = Vec::new();
        for signer in &self.signers {
            signer.check()?;
            if !signer.has_attributes && self.content_type != ID_DATA {
                return Err(SigningError::AttributesRequired(self.content_type));
            }
            if signer.has_attributes && !digests.contains(&signer.digest) {
                digests.push(signer.digest);
            }
        }
        let mut content = Content::new(&digests);
        for signer in self.signers.iter().filter(|s| !s.has_attributes) {
            content.hash_for(signer.certificate);
            content.keep(WHOLE_LIMIT);
        }
        Ok(content)
    }

    /// The message in DER; its content is empty if the signature is detached.
    fn whole(&self, content: &[u8], hashing: Content) -> Result<Vec<u8>, SigningError> {
        let content = tlv(tag::SEQUENCE, &[&self.content_type.to_der()?, content]);
        let signed = tlv(
            tag::SEQUENCE,
            &[&self.head()?, &content, &self.tail(hashing)?],
        );
        let signed = tlv(tag::context_constructed(0), &[&signed]);
        Ok(tlv(tag::SEQUENCE, &[&ID_SIGNED_DATA.to_der()?, &signed]))
    }

    /// The part before the content.
    fn head(&self) -> Result<Vec<u8>, SigningError> {
        let mut digests: Vec<Vec<u8>> = Vec::new();
        for signer in &self.signers {
            let digest = signer.digest_identifier()?.to_der()?;
            if !digests.contains(&digest) {
                digests.push(digest);
            }
        }
        let version = match self.signers.iter().any(|signer| signer.by_key_identifier) {
            true => 3,
            false => version(self.content_type, &[], OtherCertificates::default()),
        };
        Ok([version.to_der()?, set_of(tag::SET, digests)].concat())
    }

    /// The part after the content.
    fn tail(&self, content: Content) -> Result<Vec<u8>, SigningError> {
        let content = content.finish();
        let time = Time::try_from(self.time.unwrap_or_else(SystemTime::now));
        let time = time.map_err(|_| SigningError::Time)?;
        let mut signers = Vec::new();
        for signer in &self.signers {
            let signer = signer.sign(&content, self.content_type, time)?;
            signers.push(signer.to_der()?);
        }
        let signers = set_of(tag::SET, signers);
        if !self.has_certificates {
            return Ok(signers);
        }
        let of_signers = self.signers.iter().map(|signer| signer.certificate);
        let certificates = certificate_set(of_signers.chain(self.certificates.iter().copied()));
        Ok([certificates, signers].concat())
    }
}

/// The field `certificates` of a SignedData, with each of these once.
pub(super) fn certificate_set<'c>(
    certificates: impl IntoIterator<Item = &'c Certificate>,
) -> Vec<u8> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for certificate in certificates {
        let der = certificate.der().to_vec();
        if !all.contains(&der) {
            all.push(der);
        }
    }
    set_of(tag::context_constructed(0), all)
}

/// A SET OF values, sorted as DER requires.
pub(super) fn set_of(tag: u8, mut values: Vec<Vec<u8>>) -> Vec<u8> {
    values.sort_unstable();
    let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    tlv(tag, &values)
}
