//! Validation with OCSP responses by a CA, its delegates and others, beside a revocation list: a response counts
//! only if its responder may give it, and a revoked certificate stays revoked.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::pki;
use fuzz::pki::{FixedKey, Leniency, PKI, ROOT_LIST, VALID};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError};
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::ocsp::{
    CertStatus, OcspHash, OcspNonce, OcspRequest, OcspResponder, OcspResponse, OcspVerifier,
};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;

fuzz_target!(|input: Input<'_>| input.check());

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    sayings: Vec<Saying<'a>>,
    list: Option<List>,
    /// Whether responses must have the nonce.
    nonce: bool,
    leniency: Leniency,
}

/// A response.
#[derive(Arbitrary, Debug)]
struct Saying<'a> {
    by: Responder,
    about: About,
    status: Status,
    days: Days,
    hash: Hash,
    /// Whether it has a nonce: the right one, or another.
    nonce: Option<bool>,
    /// The changes to it on its way.
    edits: DerEdits<'a>,
}

/// The CA's list, which may revoke the leaf, the delegate without id-pkix-ocsp-nocheck, or both.
#[derive(Arbitrary, Debug)]
struct List {
    has_leaf: bool,
    has_delegate: bool,
    days: Days,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Responder {
    Ca,
    Delegate,
    /// The delegate that may have been revoked.
    CheckedDelegate,
    ExpiredDelegate,
    /// The root, which may not speak for the CA.
    Root,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum About {
    Leaf,
    Client,
    Ca,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Status {
    Good,
    Revoked,
    Unknown,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

/// The period for which something is said, in days; today is number 100.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Days {
    start: u8,
    count: u8,
}

const TODAY: u64 = 100;

fn seconds(days: u64) -> u64 {
    *VALID.start() + 24 * 60 * 60 * days
}

fn at(days: u64) -> SystemTime {
    pki::at(seconds(days))
}

fn now() -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds(TODAY)))
}

impl Days {
    /// The start. Most periods include today.
    fn start(self) -> u64 {
        u64::from(self.start) % 128
    }

    fn end(self) -> u64 {
        self.start() + 1 + u64::from(self.count)
    }

    fn validity(self) -> Validity {
        Validity::new(at(self.start()), at(self.end()))
    }
}

/// The CA's delegates.
struct Delegates {
    usual: OcspResponder<FixedKey>,
    checked: OcspResponder<FixedKey>,
    checked_certificate: Certificate,
    expired: OcspResponder<FixedKey>,
}

/// The day on which the expired delegate's certificate ended.
const END_OF_EXPIRED: u64 = 50;

static DELEGATES: LazyLock<Delegates> = LazyLock::new(|| {
    let issue = |number: u8, end: u64, has_nocheck: bool| {
        let key = FixedKey::new(SignatureAlgorithm::MlDsa44, number);
        let builder = CertificateBuilder::ocsp_responder()
            .common_name("responder")
            .validity(Validity::new(at(0), at(end)))
            .serial_number(&[number]);
        let mut tbs = PKI.ca.prepare(builder, &key).expect("a delegate");
        if !has_nocheck {
            tbs.remove_extension(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.5"));
        }
        let certificate = tbs.sign(PKI.ca.signer()).expect("a delegate");
        assert_eq!(certificate.has_ocsp_nocheck(), has_nocheck);
        let ca = PKI.ca.certificate().clone();
        let responder = OcspResponder::delegate(ca, certificate.clone(), key);
        (responder.expect("a responder"), certificate)
    };
    let (checked, checked_certificate) = issue(41, 1000, false);
    Delegates {
        usual: issue(40, 1000, true).0,
        checked,
        checked_certificate,
        expired: issue(42, END_OF_EXPIRED, true).0,
    }
});

fn nonce(is_right: bool) -> OcspNonce {
    OcspNonce::new(&[is_right.into(); 32]).expect("a nonce of the usual length")
}

impl About {
    fn certificate(self) -> (&'static Certificate, &'static Certificate) {
        let ca = PKI.ca.certificate();
        match self {
            Self::Leaf => (&PKI.server, ca),
            Self::Client => (&PKI.client, ca),
            Self::Ca => (ca, PKI.root.certificate()),
        }
    }
}

impl Saying<'_> {
    /// The response as its responder makes it.
    fn response(&self) -> OcspResponse {
        let (certificate, issuer) = self.about.certificate();
        let hash = match self.hash {
            Hash::Sha1 => OcspHash::Sha1,
            Hash::Sha256 => OcspHash::Sha256,
            Hash::Sha384 => OcspHash::Sha384,
            Hash::Sha512 => OcspHash::Sha512,
        };
        let builder = OcspRequest::builder().certificate(certificate, issuer);
        let builder = builder.hash(hash);
        let builder = match self.nonce {
            Some(is_right) => builder.nonce(nonce(is_right)),
            None => builder,
        };
        let request = builder.build().expect("a request");
        let read = OcspRequest::from_der(request.der()).expect("what was made");
        assert_eq!((&read, read.nonce()), (&request, request.nonce()));
        let id = &read.certificates()[0];
        assert!(id.is_of(certificate, issuer) && id.hash() == Some(hash));

        let status = match self.status {
            Status::Good => CertStatus::Good,
            Status::Revoked => CertStatus::Revoked {
                date: now(),
                reason: CrlReason::KeyCompromise,
            },
            Status::Unknown => CertStatus::Unknown,
        };
        let produced_at = at(self.days.start());
        let validity = self.days.validity();
        let status = |_: &[u8]| Ok::<_, IssueError>(status);
        match self.by {
            Responder::Ca => {
                OcspResponder::ca(&PKI.ca).respond(&request, produced_at, validity, status)
            }
            Responder::Root => {
                OcspResponder::ca(&PKI.root).respond(&request, produced_at, validity, status)
            }
            Responder::Delegate => {
                (DELEGATES.usual).respond(&request, produced_at, validity, status)
            }
            Responder::CheckedDelegate => {
                (DELEGATES.checked).respond(&request, produced_at, validity, status)
            }
            Responder::ExpiredDelegate => {
                (DELEGATES.expired).respond(&request, produced_at, validity, status)
            }
        }
        .expect("a response")
    }

    /// Whether it says something about the leaf that counts on this day, if the delegate was not revoked.
    fn counts(&self, needs_nonce: bool, day: u64) -> bool {
        let by_whom = match self.by {
            Responder::Ca | Responder::Delegate | Responder::CheckedDelegate => true,
            // Its certificate has to be valid at this time and at thisUpdate.
            Responder::ExpiredDelegate => day.max(self.days.start()) <= END_OF_EXPIRED,
            Responder::Root => false,
        };
        by_whom
            && self.about == About::Leaf
            && (self.days.start()..=self.days.end()).contains(&day)
            && (!needs_nonce || self.nonce == Some(true))
    }
}

impl List {
    fn issue(&self) -> CertificateRevocationList {
        let list = CertificateRevocationListBuilder::new(&[1]).validity(self.days.validity());
        let revoked = [
            (self.has_leaf, &PKI.server),
            (self.has_delegate, &DELEGATES.checked_certificate),
        ];
        let list = (revoked.into_iter().filter(|(is_listed, _)| *is_listed)).fold(
            list,
            |list, (_, certificate)| {
                let reason = CrlReason::KeyCompromise;
                list.revoke(certificate.serial_number(), at(0), reason)
            },
        );
        PKI.ca.issue_revocation_list(list).expect("a list")
    }
}

impl Input<'_> {
    fn check(&self) {
        let mut sent = Vec::new();
        let mut unchanged = Vec::new();
        for saying in self.sayings.iter().take(6) {
            let response = saying.response();
            let changed = saying.edits.of(response.der());
            match OcspResponse::from_der(&changed) {
                Ok(read) if changed == response.der() => {
                    assert_eq!(read, response);
                    self.check_verifier(saying, &read);
                    unchanged.push(saying);
                    sent.push(read);
                }
                Ok(read) => {
                    let verifier = OcspVerifier::new(PKI.ca.certificate(), now());
                    if let Ok(verified) = verifier.verify(&read, &PKI.server) {
                        // Only unsigned parts were changed.
                        assert!(response.answers().contains(verified.answer()));
                        assert!(saying.counts(false, TODAY));
                    }
                    sent.push(read);
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        let lists = self.list.iter().map(List::issue).chain([ROOT_LIST.clone()]);
        let policy = RevocationPolicy::new(lists).expect("lists");
        let mut validator = ChainValidator::new([PKI.root.certificate().clone()])
            .expect("a root")
            .with_revocation(self.leniency.of(policy))
            .with_ocsp_responses(sent.iter().cloned());
        if self.nonce {
            validator = validator.with_ocsp_nonce(nonce(true));
        }
        let chain = [&PKI.server, PKI.ca.certificate()];
        let result = validator.validate(&chain, Purpose::ServerAuth, None, now());
        self.check_result(&result.map(drop), &unchanged, sent.len());
    }

    /// Checks a verifier's verdict on one response for one certificate.
    fn check_verifier(&self, saying: &Saying<'_>, response: &OcspResponse) {
        let right = nonce(true);
        let verifier = OcspVerifier::new(PKI.ca.certificate(), now());
        let verifier = match self.nonce {
            true => verifier.with_nonce(&right),
            false => verifier,
        };
        match verifier.verify(response, &PKI.server) {
            Ok(verified) => {
                assert!(saying.counts(self.nonce, TODAY), "{saying:?}");
                let is_revoked = matches!(verified.status(), CertStatus::Revoked { .. });
                assert_eq!(is_revoked, saying.status == Status::Revoked);
                let is_unchecked = verified.unchecked_delegate().is_some();
                assert_eq!(is_unchecked, saying.by == Responder::CheckedDelegate);
            }
            Err(error) => {
                assert!(!saying.counts(self.nonce, TODAY), "{saying:?}: {error}");
                assert!(!error.to_string().is_empty());
            }
        }
    }

    fn check_result(
        &self,
        result: &Result<(), ValidationError>,
        unchanged: &[&Saying<'_>],
        sent: usize,
    ) {
        let expected = self.expected(unchanged);
        let verdict = match result {
            Ok(()) => Verdict::Accepted,
            Err(ValidationError::Revoked { .. }) => Verdict::Revoked,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                Verdict::Refused
            }
        };
        // A changed response may still count, and responses about the CA are judged first.
        let is_about_others = unchanged.iter().all(|it| it.about != About::Ca);
        match sent == unchanged.len() && is_about_others {
            true => assert_eq!(verdict, expected, "{result:?}"),
            false => assert!(verdict != Verdict::Accepted || expected != Verdict::Revoked),
        }
    }

    /// The verdict on the leaf with these responses and the list (RFC 5280 section 6.3, RFC 6960 section 3.2), by the
    /// rules of `RevocationPolicy`.
    fn expected(&self, sayings: &[&Saying<'_>]) -> Verdict {
        let allow_unknown = self.leniency.allow_unknown_status;
        let of_leaf = sayings.iter().filter(|it| it.about == About::Leaf);
        let of_leaf: Vec<_> = of_leaf.copied().collect();
        let trusted = of_leaf.iter().copied().filter(|it| self.is_trusted(it));
        let trusted: Vec<_> = trusted.collect();
        let of_today = trusted.iter().copied().filter(|saying| {
            // Nobody gains by sending a revocation again.
            let needs_nonce = self.nonce && saying.status != Status::Revoked;
            saying.counts(needs_nonce, TODAY)
        });
        let of_today: Vec<_> = of_today.collect();
        let list = (self.list.as_ref()).map(|list| (list, self.standing(list)));

        let good = of_today.iter().filter(|it| it.status == Status::Good);
        let newest_response = good.map(|it| it.days.start()).max();
        let good_list =
            list.filter(|(it, standing)| *standing == Standing::Current && !it.has_leaf);
        let newest = newest_response.max(good_list.map(|(it, _)| it.days.start()));

        // What has expired is taken back by something newer that is good, and nothing else is. The revocation's time is
        // today at the latest, so that what is not yet valid counts.
        let is_listed = list.is_some_and(|(list, standing)| {
            let is_newest = newest_response.is_none_or(|newest| list.days.start() >= newest);
            list.has_leaf && (standing != Standing::Expired || is_newest)
        });
        let is_revoked = trusted.iter().any(|saying| {
            let made = saying.days.start();
            let is_expired = saying.days.end() < TODAY;
            saying.status == Status::Revoked
                && saying.counts(false, made)
                && (!is_expired || newest.is_none_or(|newest| made >= newest))
        });
        if is_listed || is_revoked {
            return Verdict::Revoked;
        }

        // A list has every certificate of its CA; of responses, the newest knows.
        let is_unknown = !allow_unknown
            && good_list.is_none()
            && of_today.iter().any(|saying| {
                let made = saying.days.start();
                let is_newest = newest_response.is_none_or(|newest| made >= newest);
                saying.status == Status::Unknown && is_newest
            });
        let all_can_be_used = list.is_none() && of_today.len() == of_leaf.len();
        let is_good = newest.is_some() || all_can_be_used && allow_unknown;
        match is_good && !is_unknown {
            true => Verdict::Accepted,
            false => Verdict::Refused,
        }
    }

    /// Whether a response's signer, if it may have been revoked, was not. Nobody has to know that for a revocation.
    fn is_trusted(&self, saying: &Saying<'_>) -> bool {
        saying.by != Responder::CheckedDelegate
            || match &self.list {
                Some(list) if list.has_delegate => false,
                _ if saying.status == Status::Revoked => true,
                Some(list) => self.standing(list) == Standing::Current,
                None => self.leniency.allow_unknown_status,
            }
    }

    fn standing(&self, list: &List) -> Standing {
        if TODAY < list.days.start() {
            Standing::NotYetValid
        } else if TODAY < list.days.end() || self.leniency.allow_expired_lists {
            Standing::Current
        } else {
            Standing::Expired
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Standing {
    NotYetValid,
    Current,
    Expired,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Accepted,
    Revoked,
    Refused,
}
