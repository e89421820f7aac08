//! Verifies messages: the signatures, their attributes, and the chains of the signers' certificates. It limits how much
//! work a message can cause.

use core::ptr;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Write};

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::ID_DATA;
use pq_keys::identifiers::KeyHash;
use pq_keys::signing::PreHash;
use pq_keys::{KeyError, PublicKey, SubjectKey};
use pq_x509::certificate::{Certificate, SignatureError};
use pq_x509::pki_types::{SignatureVerificationAlgorithm, UnixTime};
use pq_x509::validation::{ChainValidator, Purpose, ValidatedChain, ValidationError};
use pq_x509::verification::parameter_set;
use sha2::{Digest, Sha256};

use super::attributes::{Protection, SignedAttributes};
use super::content::{Content, HashedContent};
use super::error::{SignatureRefusal, VerificationError};
use super::message::{Head, Message};
use super::signer_info::SignerInfo;
use crate::algorithms::{digest_named, verified_as, weakness};
use crate::encoding::{BerReader, EncodingError, for_each_piece_there, tag};
use crate::identifier::NamedCertificate;

/// Verifies signed messages, attached and detached.
///
/// Every signature of a message has to be valid, unless [`any_signer`](Self::any_signer) says otherwise.
/// [`verify`](Self::verify) returns content that was verified; content of any size, in constant memory, is
/// [written before it is verified](Self::write_unverified).
#[derive(Clone, Debug)]
pub struct Verifier<'v> {
    trust: Trust<'v>,
    algorithms: Vec<&'v dyn SignatureVerificationAlgorithm>,
    certificates: Vec<NamedCertificate>,
    time: VerificationTime,
    takes_any_signer: bool,
    requires_attributes: bool,
    expects_no_attributes: bool,
    whole_limit: usize,
}

#[derive(Clone, Copy, Debug)]
enum Trust<'v> {
    /// Certificates whose chain leads to a root.
    Chains(&'v ChainValidator),
    /// Those that were given, and no others.
    Certificates,
}

/// When the chain of a signer has to be valid.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum VerificationTime {
    /// Now.
    #[default]
    Now,
    /// At a time that the verifier knows, such as when the message came.
    At(UnixTime),
    /// When the message was signed, as the signer says. Nothing proves that time: whoever has the key of an
    /// expired or revoked certificate can backdate a signature.
    Signing,
}

impl<'v> Verifier<'v> {
    /// Trusts signers whose certificate leads to a root of this validator, for the purpose
    /// [`Purpose::Documents`]. The intermediate certificates may be in the message, or
    /// [given](Self::certificates).
    pub fn with_chains(validator: &'v ChainValidator) -> Self {
        Self::new(Trust::Chains(validator))
    }

    /// Trusts the keys in these certificates and no others. Validity, purpose and issuer of the certificates
    /// are not checked.
    ///
    /// # Errors
    ///
    /// [`EncodingError::Der`] if the name of an issuer is too long to be encoded.
    pub fn with_signers(
        signers: impl IntoIterator<Item = Certificate>,
    ) -> Result<Self, EncodingError> {
        Self::new(Trust::Certificates).certificates(signers)
    }

    fn new(trust: Trust<'v>) -> Self {
        Self {
            trust,
            algorithms: Vec::new(),
            certificates: Vec::new(),
            time: VerificationTime::Now,
            takes_any_signer: false,
            requires_attributes: false,
            expects_no_attributes: false,
            whole_limit: DEFAULT_WHOLE_LIMIT,
        }
    }

    /// Accepts signatures by these algorithms too, such as classical or composite ones.
    #[must_use]
    pub fn algorithms(mut self, algorithms: &[&'v dyn SignatureVerificationAlgorithm]) -> Self {
        self.algorithms.extend_from_slice(algorithms);
        self
    }

    /// Adds certificates of signers and of CAs, for messages that don't include them.
    ///
    /// # Errors
    ///
    /// [`EncodingError::Der`] if the name of an issuer is too long to be encoded.
    pub fn certificates(
        mut self,
        certificates: impl IntoIterator<Item = Certificate>,
    ) -> Result<Self, EncodingError> {
        for certificate in certificates {
            self.certificates.push(NamedCertificate::new(certificate));
        }
        Ok(self)
    }

    /// Sets the time at which chains have to be valid.
    #[must_use]
    pub fn time(mut self, time: VerificationTime) -> Self {
        self.time = time;
        self
    }

    /// Accepts a message that has one valid signature, whatever the others are, such as signatures of unknown
    /// algorithms. [`Verified::refused`] says why they were refused.
    ///
    /// After 256 refusals and chain searches in all, the remaining signatures are refused without a check, and
    /// after searches among 512 certificates in all no further chain is searched. A chain is searched once for
    /// each certificate and time, whether it is found or not.
    #[must_use]
    pub fn any_signer(mut self) -> Self {
        self.takes_any_signer = true;
        self
    }

    /// Refuses signatures without signed attributes. They say neither when nor as what content was signed: any
    /// signature that the key made over these bytes, by another program and for another purpose, can be presented as
    /// one.
    #[must_use]
    pub fn require_attributes(mut self) -> Self {
        self.requires_attributes = true;
        self
    }

    /// Hashes attached content for each ML-DSA key that is known beforehand, so that signatures without
    /// signed attributes are verified in constant memory. This takes longer, also for messages with
    /// attributes.
    ///
    /// Detached signatures don't need this: the signers are known before the content is read.
    #[must_use]
    pub fn expect_no_attributes(mut self) -> Self {
        self.expects_no_attributes = true;
        self
    }

    /// Limits the content that is kept in memory, for signatures without attributes that need all of it at once,
    /// such as those of SLH-DSA. The default is 1 MiB, the minimum 64 KiB.
    #[must_use]
    pub fn whole_limit(mut self, bytes: usize) -> Self {
        self.whole_limit = bytes.max(LEAST_WHOLE_LIMIT);
        self
    }

    /// Verifies a message and returns its content after all of it was verified.
    ///
    /// # Errors
    ///
    /// [`VerificationError::ContentTooLarge`] if the content has more than `limit` bytes; otherwise a
    /// [`VerificationError`] that says what is wrong.
    pub fn verify(
        &self,
        message: impl BufRead,
        limit: usize,
    ) -> Result<(Vec<u8>, Verified), VerificationError> {
        let mut content = LimitedVec {
            bytes: Vec::new(),
            limit,
            is_full: false,
        };
        let verified = self.write_unverified(message, &mut content);
        match content.is_full {
            true => Err(VerificationError::ContentTooLarge(limit)),
            false => Ok((content.bytes, verified?)),
        }
    }

    /// Writes the content of a message of any size while it is read, and verifies the message at its end.
    ///
    /// **What is written is authentic only after this has returned `Ok`.** Until then it may come from
    /// anybody: write it to a file that gets its name afterwards, or use [`verify`](Self::verify). After an
    /// error, discard it.
    ///
    /// # Errors
    ///
    /// A [`VerificationError`] that says what is wrong.
    pub fn write_unverified(
        &self,
        message: impl BufRead,
        mut content_to: impl Write,
    ) -> Result<Verified, VerificationError> {
        let mut reader = BerReader::new(message);
        let head = Head::read(&mut reader)?;
        if !head.has_content {
            return Err(VerificationError::NoContent);
        }
        let mut content = Content::new(&head.known_digests());
        content.keep(self.whole_limit);
        if self.expects_no_attributes {
            for known in &self.certificates {
                content.hash_for(&known.certificate);
            }
        }
        let len = reader.octets(tag::OCTET_STRING, |piece| {
            content.take(piece);
            content_to.write_all(piece).map_err(EncodingError::Write)
        })?;
        let message = head.tail(reader)?;
        content_to.flush().map_err(EncodingError::Write)?;
        self.judge(&message, &content.finish(), len)
    }

    /// Verifies a detached signature of content that is elsewhere.
    ///
    /// # Errors
    ///
    /// A [`VerificationError`] that says what is wrong.
    pub fn verify_detached(
        &self,
        signature: impl BufRead,
        mut content: impl BufRead,
    ) -> Result<Verified, VerificationError> {
        let mut reader = BerReader::new(signature);
        let head = Head::read(&mut reader)?;
        if head.has_content {
            return Err(VerificationError::HasContent);
        }
        let mut hashing = Content::new(&head.known_digests());
        let message = head.tail(reader)?;
        for signer in &message.signers {
            if signer.attributes.is_none() {
                hashing.keep(self.whole_limit);
                let time = self.time_of(None, UnixTime::now());
                for candidate in self.candidates(&message, signer, time).0 {
                    hashing.hash_for(&candidate.certificate);
                }
            }
        }
        let len = for_each_piece_there(&mut content, |piece| {
            hashing.take(piece);
            Ok::<_, EncodingError>(())
        })?;
        self.judge(&message, &hashing.finish(), len)
    }

    fn judge(
        &self,
        message: &Message,
        content: &HashedContent,
        len: u64,
    ) -> Result<Verified, VerificationError> {
        let mut verified = Verified {
            content_type: message.content_type,
            len,
            signers: Vec::new(),
            refused: Vec::new(),
        };
        let (mut checks, mut keys) = (Checks::new(), Keys::default());
        for (number, signer) in message.signers.iter().enumerate() {
            match self.check(message, content, signer, &mut checks) {
                Ok(signer) => {
                    if keys.add(&signer.certificate) {
                        verified.signers.push(signer);
                    }
                }
                Err(refusal) => {
                    let refused = VerificationError::Signature {
                        number,
                        signer: signer.signer.describe(),
                        refusal: Box::new(refusal),
                    };
                    // The signatures that follow would change nothing, and searching for chains takes time.
                    if !self.takes_any_signer {
                        return Err(refused);
                    }
                    verified.refused.push(refused);
                }
            }
        }
        match (&*verified.signers, &*verified.refused) {
            ([_, ..], _) => Ok(verified),
            ([], [_, ..]) if checks.left == 0 => Err(VerificationError::TooMany {
                what: "untrusted signatures",
                limit: MAX_CHECKS,
            }),
            ([], [_, ..]) => Err(verified.refused.swap_remove(0)),
            ([], []) => Err(VerificationError::NoSigner),
        }
    }

    fn check<'c>(
        &'c self,
        message: &'c Message,
        content: &HashedContent,
        signer: &'c SignerInfo,
        checks: &mut Checks<'c>,
    ) -> Result<VerifiedSigner, SignatureRefusal> {
        // Without attributes nothing is hashed for ML-DSA and SLH-DSA, and the field is to be ignored (RFC 9882, section
        // 3.3; RFC 9814, section 4).
        let is_hashed =
            signer.attributes.is_some() || parameter_set(signer.algorithm.oid).is_none();
        let digest = match digest_named(&(&signer.digest).into()) {
            Some(digest) => digest,
            None if is_hashed => return Err(SignatureRefusal::UnknownDigest(signer.digest.oid)),
            None => PreHash::Sha512,
        };
        let not_announced = SignatureRefusal::DigestNotAnnounced(signer.digest.oid);
        if is_hashed && !message.digests.contains(&digest) {
            return Err(not_announced);
        }
        if let Some(attribute) = signer.misplaced? {
            return Err(SignatureRefusal::AttributeNotSigned(attribute));
        }
        let attributes = match &signer.attributes {
            None => {
                if self.requires_attributes {
                    return Err(SignatureRefusal::NoAttributes);
                }
                if message.content_type != ID_DATA {
                    return Err(SignatureRefusal::AttributesRequired(message.content_type));
                }
                // The content is not hashed with this digest, so its strength doesn't matter.
                weakness(signer.algorithm.oid, PreHash::Sha512)?;
                if content.may_be_attributes() {
                    return Err(SignatureRefusal::ContentIsAttributes);
                }
                None
            }
            Some(set) => {
                weakness(signer.algorithm.oid, digest)?;
                let digest = content.digest(digest).ok_or(not_announced)?;
                let attributes = SignedAttributes::from_der(set)?;
                check_attributes(&attributes, message, signer, digest)?;
                Some(attributes)
            }
        };
        let signing_time = attributes.as_ref().and_then(|a| a.signing_time);
        let time = self.time_of(signing_time, checks.now);
        let (candidates, is_cut) = self.candidates(message, signer, time);
        // Why the first one was refused, or better the first one whose key made the signature.
        let mut refusal = None;
        for candidate in candidates {
            let certificate = &candidate.certificate;
            if checks.left == 0 {
                return Err(SignatureRefusal::TooManyChecks(MAX_CHECKS));
            }
            let signature = self.check_signature(certificate, signer, digest, content);
            let has_signed = signature.is_ok();
            let is_meant = || match &attributes {
                Some(attributes) => attributes.check_certificate(certificate),
                None => Ok(()),
            };
            let accepted = signature
                .and_then(|()| is_meant())
                .and_then(|()| self.check_chain(candidate, message, time, checks));
            if accepted.is_err() {
                checks.left -= 1;
            }
            match accepted {
                Ok(chain) => {
                    return Ok(VerifiedSigner {
                        certificate: certificate.clone(),
                        chain,
                        algorithm: signer.algorithm.oid,
                        digest: attributes.as_ref().map(|_| digest),
                        signing_time,
                        attributes: attributes.map(|a| a.types),
                    });
                }
                Err(error) => match refusal {
                    Some((true, _)) => {}
                    Some(_) if !has_signed => {}
                    _ => refusal = Some((has_signed, error)),
                },
            }
        }
        let refusal = refusal.map_or(SignatureRefusal::NoCertificate, |(_, refusal)| refusal);
        Err(match is_cut {
            true => refusal
                .with_others_left_out("certificates that its signer may mean", MAX_CANDIDATES),
            false => refusal,
        })
    }

    /// When the chain of a signer has to be valid, if that is known and there has to be one.
    fn time_of(&self, signing_time: Option<UnixTime>, now: UnixTime) -> Option<UnixTime> {
        match self.time {
            VerificationTime::Now => Some(now),
            VerificationTime::At(time) => Some(time),
            VerificationTime::Signing => signing_time,
        }
    }

    /// The certificates that a signer may mean, those that are valid then first, each once; and whether some that are
    /// valid were left out.
    /// Names are not unique: whoever makes a message can include another certificate of the same name. And with each
    /// renewal a key has one certificate more.
    fn candidates<'c>(
        &'c self,
        message: &'c Message,
        signer: &SignerInfo,
        then: Option<UnixTime>,
    ) -> (Vec<&'c NamedCertificate>, bool) {
        let in_message = match self.trust {
            Trust::Chains(_) => &*message.certificates,
            Trust::Certificates => &[],
        };
        let named = self
            .certificates
            .iter()
            .chain(in_message)
            .filter(|certificate| certificate.is_named_by(&signer.signer));
        let then = match self.trust {
            Trust::Chains(_) => then,
            Trust::Certificates => None,
        };
        let (mut valid, mut others) = (Vec::new(), Vec::new());
        for candidate in named {
            let alike: &mut Vec<&NamedCertificate> = match candidate.is_valid_at(then) {
                true => &mut valid,
                false => &mut others,
            };
            let is_there = alike.iter().any(|known| known.digest == candidate.digest);
            if !is_there && alike.len() <= MAX_CANDIDATES {
                alike.push(candidate);
            }
        }
        let is_cut = valid.len() > MAX_CANDIDATES;
        valid.append(&mut others);
        valid.truncate(MAX_CANDIDATES);
        (valid, is_cut)
    }

    fn check_signature(
        &self,
        certificate: &Certificate,
        signer: &SignerInfo,
        digest: PreHash,
        content: &HashedContent,
    ) -> Result<(), SignatureRefusal> {
        let algorithm = verified_as(&(&signer.algorithm).into(), digest)
            .ok_or(SignatureRefusal::OtherDigest(signer.algorithm.oid))?;
        let verify = |message: &[u8]| {
            let signature = &signer.signature;
            certificate.verify_message(message, &algorithm, signature, &self.algorithms)
        };
        if let Some(attributes) = &signer.attributes {
            return Ok(verify(attributes)?);
        }
        if let Some(message) = content.message(certificate)
            && let Ok(PublicKey::Verifying(key)) = certificate.public_key()
            && key.oid() == algorithm.oid
            && algorithm.parameters.is_none()
        {
            return key
                .verify_hashed(message, &signer.signature)
                .map_err(|_: KeyError| SignatureError::Invalid.into());
        }
        match content.whole() {
            Some(whole) => Ok(verify(whole)?),
            None => Err(SignatureRefusal::TooLarge(self.whole_limit)),
        }
    }

    /// The chain, if one is required.
    fn check_chain<'c>(
        &'c self,
        certificate: &'c NamedCertificate,
        message: &'c Message,
        time: Option<UnixTime>,
        checks: &mut Checks<'c>,
    ) -> Result<Option<ValidatedChain>, SignatureRefusal> {
        let Trust::Chains(validator) = self.trust else {
            return Ok(None);
        };
        let time = time.ok_or(SignatureRefusal::NoSigningTime)?;
        if let Some(found) = checks.chain(&certificate.certificate, time) {
            return found.map(Some);
        }
        let known = checks.cas.get_or_insert_with(|| {
            Cas::among(self.certificates.iter().chain(&message.certificates))
        });
        let (cas, is_cut) = known.above(certificate, time);
        let certificate = &certificate.certificate;
        let chain: Vec<&Certificate> = [certificate].into_iter().chain(cas).collect();
        checks.searched = checks.searched.saturating_add(chain.len());
        if checks.searched > MAX_SEARCHED {
            return Err(SignatureRefusal::TooManySearches);
        }
        let found = validator.validate(&chain, Purpose::Documents, None, time);
        let found = found.map_err(|error| (error, is_cut));
        checks.chains.push((certificate, time, found.clone()));
        // A refusal is counted where all are.
        let found = found.map_err(refused_chain)?;
        checks.left = checks.left.saturating_sub(1);
        Ok(Some(found))
    }
}

/// How much more is done for the signatures of a message. Whoever makes the message decides how many there are,
/// and whether its certificates lead to a root.
struct Checks<'c> {
    /// The same for all of them, so that a chain is searched once.
    now: UnixTime,
    /// How many more chains are searched, or signatures refused.
    left: usize,
    /// Among how many certificates chains were searched, in all.
    searched: usize,
    /// The chains that were searched, found or not. Signatures with the same certificate share one.
    chains: Vec<Searched<'c>>,
    /// The certificates of CAs that are known, once a chain was searched.
    cas: Option<Cas<'c>>,
}

/// A certificate, the time at which its chain has to be valid, and the chain; or why there is none, and whether some
/// certificates of CAs were left out of the search.
type Searched<'c> = (
    &'c Certificate,
    UnixTime,
    Result<ValidatedChain, (ValidationError, bool)>,
);

fn refused_chain((error, is_cut): (ValidationError, bool)) -> SignatureRefusal {
    let refusal = SignatureRefusal::Chain(error);
    match is_cut {
        true => refusal.with_others_left_out("certificates of CAs above its own", MAX_CAS),
        false => refusal,
    }
}

/// The certificates of CAs, by their subjects.
struct Cas<'c>(HashMap<&'c [u8], Vec<&'c NamedCertificate>>);

impl<'c> Cas<'c> {
    fn among(known: impl Iterator<Item = &'c NamedCertificate>) -> Self {
        let mut by_subject: HashMap<_, Vec<_>> = HashMap::new();
        let mut digests = HashSet::new();
        for known in known {
            if known.certificate.is_ca() && digests.insert(&known.digest) {
                by_subject.entry(&*known.subject).or_default().push(known);
            }
        }
        Self(by_subject)
    }

    /// The CAs that may be on a path from this certificate, by their names, the nearest first; and whether some that are
    /// valid then were left out.
    fn above(&self, of: &'c NamedCertificate, then: UnixTime) -> (Vec<&'c Certificate>, bool) {
        let mut found = Vec::new();
        self.add_above(of, &mut found, |ca| ca.is_valid_at(Some(then)));
        let is_cut = found.len() > MAX_CAS;
        if !is_cut {
            // They can't be on a valid path. But they may be why there is none.
            self.add_above(of, &mut found, |_| true);
        }
        let found = found.into_iter().take(MAX_CAS);
        (found.map(|ca| &ca.certificate).collect(), is_cut)
    }

    /// Adds those that are taken, each once, until there is one more than are tried.
    fn add_above(
        &self,
        of: &'c NamedCertificate,
        found: &mut Vec<&'c NamedCertificate>,
        takes: impl Fn(&NamedCertificate) -> bool,
    ) {
        let mut names: Vec<&[u8]> = Vec::new();
        let mut next = Some(of);
        let mut passed = 0;
        while let Some(issued) = next {
            if !names.contains(&&*issued.issuer) {
                names.push(&issued.issuer);
                for issuer in self.0.get(&*issued.issuer).into_iter().flatten() {
                    if found.len() > MAX_CAS {
                        return;
                    }
                    let is_known = |known: &&NamedCertificate| known.digest == issuer.digest;
                    if takes(issuer) && !is_known(&of) && !found.iter().any(is_known) {
                        found.push(issuer);
                    }
                }
            }
            next = found.get(passed).copied();
            passed += 1;
        }
    }
}

impl Checks<'_> {
    fn new() -> Self {
        Self {
            now: UnixTime::now(),
            left: MAX_CHECKS,
            searched: 0,
            chains: Vec::new(),
            cas: None,
        }
    }

    fn chain(
        &self,
        of: &Certificate,
        at: UnixTime,
    ) -> Option<Result<ValidatedChain, SignatureRefusal>> {
        let mut chains = self.chains.iter();
        let (_, _, chain) =
            chains.find(|(certificate, time, _)| ptr::eq(*certificate, of) && *time == at)?;
        Some(chain.clone().map_err(refused_chain))
    }
}

/// How many chain searches and refusals there are before the remaining signatures are refused without a check.
const MAX_CHECKS: usize = 256;

/// Among how many certificates, in all searches of a message, chains are searched: 256 signers with one CA between them
/// and the root, or 15 with as many CAs as are tried. A search among that many which fails takes up to 0.2 seconds.
const MAX_SEARCHED: usize = 512;

/// Checks the attributes against the message.
fn check_attributes(
    attributes: &SignedAttributes,
    message: &Message,
    signer: &SignerInfo,
    digest: &[u8],
) -> Result<(), SignatureRefusal> {
    if attributes.content_type != message.content_type {
        return Err(SignatureRefusal::ContentType {
            signed: attributes.content_type,
            found: message.content_type,
        });
    }
    if attributes.message_digest != digest {
        return Err(SignatureRefusal::DigestMismatch);
    }
    match &attributes.protection {
        Some(signed) if *signed != Protection::of(&signer.digest, &signer.algorithm)? => {
            Err(SignatureRefusal::AlgorithmsAltered)
        }
        _ => Ok(()),
    }
}

const DEFAULT_WHOLE_LIMIT: usize = 1024 * 1024;

/// The least limit, which costs next to nothing.
const LEAST_WHOLE_LIMIT: usize = 64 * 1024;

/// How many certificates of one name are tried, those that are valid before others.
const MAX_CANDIDATES: usize = 4;

/// Among how many certificates of CAs, all of them above the signer's by their names, a chain is searched. With more,
/// webpki takes too long.
const MAX_CAS: usize = 32;

/// A message whose signatures were accepted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Verified {
    /// What the content is, as the signers say: 1.2.840.113549.1.7.1 for plain data.
    pub content_type: ObjectIdentifier,
    /// Length of the content, in bytes.
    pub len: u64,
    /// Who signed; at least one. Each key is there once, with its first valid signature, however often it signed, and
    /// however its certificates write it ([`KeyHash`]). A composite key is the same as each of its halves.
    pub signers: Vec<VerifiedSigner>,
    /// Signatures that were refused, if [any signer](Verifier::any_signer) suffices.
    pub refused: Vec<VerificationError>,
}

/// The keys of the signers so far, and the halves of those that are composite. Whoever counts signers counts keys,
/// however they are written.
#[derive(Default)]
struct Keys(HashSet<KeyHash>);

impl Keys {
    /// Adds the key in a certificate, and says whether it is another one than those before.
    fn add(&mut self, certificate: &Certificate) -> bool {
        let hashes = KeyHash::all_of(certificate);
        // Algorithms that are not of this crate may take keys that it can't read.
        let hashes = hashes.unwrap_or_else(|_| {
            vec![KeyHash::from_bytes(
                Sha256::digest(certificate.spki()).into(),
            )]
        });
        let is_another = !hashes.iter().any(|hash| self.0.contains(hash));
        self.0.extend(hashes);
        is_another
    }
}

/// A signature that was accepted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifiedSigner {
    /// The signer's certificate.
    pub certificate: Certificate,
    /// The chain to a root; `None` if the certificate itself was trusted.
    pub chain: Option<ValidatedChain>,
    /// The algorithm of the signature, as the message names it.
    pub algorithm: ObjectIdentifier,
    /// The hash function that was applied to the content; `None` without signed attributes, where the
    /// signature is over the content itself.
    pub digest: Option<PreHash>,
    /// When it was signed, as the signer says. Nothing proves that time.
    pub signing_time: Option<UnixTime>,
    /// The types of the signed attributes; `None` if there are none.
    pub attributes: Option<Vec<ObjectIdentifier>>,
}

/// Content that is kept until it was authenticated.
struct LimitedVec {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl Write for LimitedVec {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.len() > self.limit - self.bytes.len() {
            self.is_full = true;
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
