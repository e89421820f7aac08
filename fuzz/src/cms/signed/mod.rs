//! Signed messages.

mod changes;
mod signers;

use std::collections::BTreeSet;
use std::time::Duration;

use arbitrary::Arbitrary;
use pq_cms::{
    DocumentSigner, ObjectIdentifier, Outline, SignedDataBuilder, VerificationError,
    VerificationTime, Verified, Verifier, inspect,
};
use pq_x509::keys::SubjectKey;
use pq_x509::keys::signing::PreHash;
use pq_x509::pki_types::UnixTime;
use rustls_pq::classical::verification_algorithms;

use self::changes::{Changed, SignedChange};
use self::signers::AnySigner;
use super::ber::{INTEGER, parse, primitive};
use super::content::{AnyContent, DATA, PIECE, TYPES};
use super::keys::{FIRST_CLASSICAL, KEYS, RSA_ENCRYPTION};
use super::message::fields;
use super::streams::Pace;
use super::transport::Transport;
use crate::der::inner;
use crate::one_of;
use crate::pki::at;

#[derive(Arbitrary, Debug)]
pub struct Signed<'a> {
    content_type: u8,
    signers: Vec<AnySigner>,
    is_detached: bool,
    without_certificates: bool,
    verifier: AnyVerifier,
    changes: Vec<SignedChange>,
    version: Option<u8>,
    transport: Transport<'a>,
    content: AnyContent,
    reader: Pace,
    writer: Pace,
}

#[derive(Arbitrary, Debug)]
struct AnyVerifier {
    any_signer: bool,
    expect_no_attributes: bool,
    whole_limit: Option<u8>,
    is_without_classical: bool,
    is_at_time: bool,
}

/// When messages are signed and verified, in seconds since 1970: within [`crate::pki::VALID`].
const NOW: u64 = 1_800_000_000;

/// How many hash functions a message may announce.
const MAX_DIGESTS: usize = 16;

impl Signed<'_> {
    fn changes(&self) -> &[SignedChange] {
        &self.changes[..self.changes.len().min(8)]
    }

    fn signers(&self) -> &[AnySigner] {
        &self.signers[..self.signers.len().min(3)]
    }

    pub fn check(&self) {
        let content_type = one_of(&TYPES, self.content_type);
        let mut builder = SignedDataBuilder::new()
            .content_type(content_type)
            .signing_time(at(NOW));
        for any in self.signers() {
            let owned = &KEYS.signers[any.place()];
            let certificate = match any.is_other {
                true => &KEYS.misused,
                false => &owned.certificate,
            };
            let mut signer = DocumentSigner::with_signer(certificate, &*owned.key);
            if let Some(digest) = any.chosen_digest() {
                signer = signer.digest(digest);
            }
            if any.without_attributes {
                signer = signer.without_attributes();
            }
            if any.by_key_identifier {
                signer = signer.by_key_identifier();
            }
            builder = builder.signer(signer);
        }
        match self.without_certificates {
            true => builder = builder.without_certificates(),
            false => builder = builder.certificates([&KEYS.misused]),
        }
        assert!(!format!("{builder:?}").is_empty());
        let content = self.content.bytes();

        let mut sink = self.writer.writer();
        let signed = match self.is_detached {
            true => (builder.sign_detached(self.reader.reader(&content)))
                .map(|message| sink.bytes = message),
            false => builder.sign(self.reader.reader(&content), &mut sink),
        };
        let reads = self.reader.fails_at() > content.len();
        let can_be_signed = reads
            && !self.signers().is_empty()
            && (self.signers().iter()).all(|it| it.signs(content_type, &self.content));
        match signed {
            Ok(()) => {
                assert!(can_be_signed);
                self.verify(sink.bytes, content_type, &content);
            }
            Err(error) => {
                let is_full = !self.is_detached && self.writer.fails_at() == sink.bytes.len();
                assert!(!can_be_signed || is_full, "{error}");
            }
        }
    }

    fn verify(&self, message: Vec<u8>, content_type: ObjectIdentifier, content: &[u8]) {
        let mut element = parse(&mut &*message);
        let mut changed = Changed {
            content_type,
            least_version: 1,
            attributes: false,
            has_digests: true,
            has_nulls: false,
            has_signers: true,
        };
        for change in self.changes() {
            change.apply(&mut element, &mut changed);
        }
        let expected_version = self.version_of(&changed);
        let version = self.version.map_or(expected_version, |it| it & 0x7f);
        fields(&mut element)[0] = primitive(INTEGER, &[version]);
        let is_trailed = (self.changes().iter()).any(|it| matches!(it, SignedChange::Trail));
        let is_well_formed = version == expected_version
            && inner(&mut fields(&mut element)[1]).len() <= MAX_DIGESTS
            && !is_trailed;
        let (message, is_edited) = self.transport.carry(element, is_trailed, &self.reader);
        let reads = self.reader.fails_at() > message.len();

        let inspected = inspect(self.reader.reader(&message));
        if !is_edited {
            assert_eq!(inspected.is_ok(), is_well_formed && reads);
            if let Ok(outline) = inspected {
                let Outline::Signed(outline) = outline else {
                    panic!("{outline:?}");
                };
                assert_eq!(outline.content_type, changed.content_type);
                let len = (!self.is_detached).then_some(content.len() as u64);
                assert_eq!(outline.content_len, len);
            }
        }

        let judge = |is_hashed| {
            let is_valid = |it: &&AnySigner| {
                is_well_formed && self.is_valid(it, &changed, is_hashed, content.len())
            };
            let valid: Vec<&AnySigner> = self.signers().iter().filter(is_valid).collect();
            let key = |it: &&AnySigner| KEYS.signers[it.place()].key.spki().as_ref().to_vec();
            let keys: BTreeSet<Vec<u8>> = valid.iter().map(key).collect();
            Verdict {
                content_type,
                len: content.len() as u64,
                all: self.signers().len(),
                valid: valid.len(),
                keys: keys.len(),
                any_signer: self.verifier.any_signer,
                is_edited,
            }
        };
        let verdict = judge(self.is_detached || self.verifier.expect_no_attributes);
        let certificates = KEYS.signers.iter().map(|it| it.certificate.clone());
        let verifier = self.configured(Verifier::with_signers(certificates).unwrap());

        if self.is_detached {
            assert!(verifier.verify(&*message, 1 << 20).is_err());
            verdict.check(&verifier.verify_detached(&*message, self.reader.reader(content)));
            let other = [content, b"!"].concat();
            assert!(verifier.verify_detached(&*message, &*other).is_err());
            return;
        }
        assert!(verifier.verify_detached(&*message, content).is_err());
        let take = |verifier: &Verifier<'_>| {
            let (read, verified) = verifier.verify(&*message, content.len())?;
            assert!(read == content);
            Ok(verified)
        };
        let whole = take(&verifier);
        verdict.check(&whole);
        let mut sink = self.writer.writer();
        let verified = verifier.write_unverified(self.reader.reader(&message), &mut sink);
        let is_taken = reads && self.writer.fails_at() >= content.len();
        assert!(content.starts_with(&sink.bytes) || is_edited);
        assert_eq!(verified.is_ok(), whole.is_ok() && is_taken);
        if let Some(less) = content.len().checked_sub(1) {
            assert!(verifier.verify(&*message, less).is_err());
        }
        let chains = take(&self.configured(Verifier::with_chains(&KEYS.root)));
        match self.without_certificates {
            true => assert!(chains.is_err()),
            false => judge(false).check(&chains),
        }
    }

    /// The version that a message must have (RFC 5652, section 5.1).
    fn version_of(&self, changed: &Changed) -> u8 {
        let is_named = changed.has_signers && self.signers().iter().any(|it| it.by_key_identifier);
        match changed.content_type != DATA || is_named {
            true => changed.least_version.max(3),
            false => changed.least_version,
        }
    }

    /// Whether a signature is valid after these changes. Without attributes, a key of ML-DSA signs content of any
    /// length if it `is_hashed`; otherwise only content that a verifier keeps in memory.
    fn is_valid(&self, signer: &AnySigner, changed: &Changed, is_hashed: bool, len: usize) -> bool {
        let digest = signer.digest();
        let is_sha_2 = matches!(digest, PreHash::Sha256 | PreHash::Sha384 | PreHash::Sha512);
        let is_classical = signer.place() >= FIRST_CLASSICAL;
        let limit = self
            .verifier
            .whole_limit
            .map_or(1 << 20, |it| PIECE.max(usize::from(it) << 10));
        let is_intact = match signer.without_attributes {
            true => is_hashed && !is_classical || len <= limit,
            false => !changed.attributes,
        };
        is_intact
            && changed.content_type == one_of(&TYPES, self.content_type)
            && changed.has_signers
            && changed.has_digests
            && (!changed.has_nulls || is_sha_2)
            && !(is_classical && self.verifier.is_without_classical)
            && (signer.place() != RSA_ENCRYPTION || digest == PreHash::Sha512)
    }

    fn configured<'v>(&self, mut verifier: Verifier<'v>) -> Verifier<'v> {
        if !self.verifier.is_without_classical {
            verifier = verifier.algorithms(verification_algorithms().unwrap());
        }
        if self.verifier.any_signer {
            verifier = verifier.any_signer();
        }
        if self.verifier.expect_no_attributes {
            verifier = verifier.expect_no_attributes();
        }
        if self.verifier.is_at_time {
            verifier = verifier.time(VerificationTime::At(UnixTime::since_unix_epoch(
                Duration::from_secs(NOW),
            )));
        }
        match self.verifier.whole_limit {
            Some(limit) => verifier.whole_limit(usize::from(limit) << 10),
            None => verifier,
        }
    }
}

/// The result that a verifier must come to.
struct Verdict {
    content_type: ObjectIdentifier,
    len: u64,
    /// How many signatures there are.
    all: usize,
    /// How many of them are valid.
    valid: usize,
    /// How many keys made the valid ones.
    keys: usize,
    any_signer: bool,
    /// The message was changed at random, so the numbers may be others.
    is_edited: bool,
}

impl Verdict {
    fn check(&self, verified: &Result<Verified, VerificationError>) {
        let is_taken = self.valid > 0 && (self.any_signer || self.valid == self.all);
        match verified {
            Ok(verified) => {
                assert_eq!(verified.content_type, self.content_type);
                assert_eq!(verified.len, self.len);
                assert!(verified.refused.is_empty() || self.any_signer);
                if !self.is_edited {
                    assert!(is_taken);
                    assert_eq!(verified.signers.len(), self.keys);
                    assert_eq!(verified.refused.len(), self.all - self.valid);
                }
            }
            Err(error) => assert!(!is_taken || self.is_edited, "{error}"),
        }
    }
}
