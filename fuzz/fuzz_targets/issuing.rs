//! From names to a certificate that somebody validates: requests, certificates, revocation lists and OCSP
//! responses that are made are read as what they were made of, and validate for it alone.
#![no_main]

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::names::{Host, Name, Subject, Subtree, permits, permits_subject};
use fuzz::pki::{FixedKey, PKI, VALID};
use libfuzzer_sys::fuzz_target;
use pq_x509::linting::{Kind, Severity, lint};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::{
    AlternativeName, CertStatus, Certificate, CertificateBuilder, CertificateRequest,
    CertificateRevocationListBuilder, ChainValidator, CrlReason, IssueError, Issuer, OcspRequest,
    OcspResponder, Purpose, RevocationPolicy, SignatureAlgorithm, SubjectKey, ValidationError,
    Validity,
};

fuzz_target!(|input: Input<'_>| {
    let mut names: Vec<AlternativeName> = input.names.iter().map(Name::name).collect();
    if names.is_empty() {
        names.push(Name::Dns(Host::Example).name());
    }
    // As certificates give them back.
    names.sort_by_key(|name| match name {
        AlternativeName::Dns(_) => 0,
        AlternativeName::Ip(_) => 1,
        AlternativeName::Email(_) => 2,
        AlternativeName::Uri(_) => 3,
    });
    let Some(request) = input.request(&names) else {
        return;
    };
    let Some(ca) = input.ca() else {
        return;
    };
    let verified = request.verify().expect("its own signature");
    assert!(verified.alternative_names().eq(names.iter().cloned()));
    let builder = verified
        .certificate()
        .validity(validity())
        .serial_number(&[input.serial_number.clamp(1, 0x7f)]);
    let builder = match input.purpose {
        Some(true) => builder.server_auth(),
        Some(false) => builder.client_auth(),
        None => builder,
    };
    let builder = match &input.url {
        Some(url) => {
            let url = url.name().to_string();
            builder.revocation_list_url(&url).ocsp_url(url)
        }
        None => builder,
    };
    match ca.issue(builder, &verified) {
        Ok(leaf) => input.check(&names, &ca, &leaf),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    names: Vec<Name<'a>>,
    subject: Option<Subject<'a>>,
    request: DerEdits<'a>,
    permitted: Vec<Subtree<'a>>,
    excluded: Vec<Subtree<'a>>,
    serial_number: u8,
    purpose: Option<bool>,
    /// Where the list and the responder are.
    url: Option<Name<'a>>,
    is_revoked: bool,
    /// By a list, or by an OCSP response.
    by_list: bool,
    other: Name<'a>,
}

fn validity() -> Validity {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    Validity::new(at(*VALID.start()), at(*VALID.end()))
}

/// In seconds since 1970.
const NOW: u64 = 2_000_000_000;

impl Input<'_> {
    /// A request for these names, as it comes out of its encoding.
    fn request(&self, names: &[AlternativeName]) -> Option<CertificateRequest> {
        let mut builder = CertificateRequest::builder();
        if let Some(name) = self.subject.as_ref().and_then(Subject::name) {
            builder = builder.subject(name);
        }
        for name in names {
            builder = builder.alternative_name(name.clone());
        }
        let request = match builder.sign(&PKI.server_key) {
            Ok(request) => request,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return None;
            }
        };
        let changed = self.request.of(request.to_der());
        if changed != request.to_der()
            && let Ok(changed) = CertificateRequest::from_der(&changed)
        {
            assert!(changed.verify().is_err());
        }
        let findings = lint(Kind::Request, request.to_der());
        assert!(
            findings
                .iter()
                .all(|it| it.rule.severity() != Severity::Error),
            "{findings:?}"
        );
        Some(CertificateRequest::from_der(request.to_der()).expect("what was made"))
    }

    fn ca(&self) -> Option<Issuer<FixedKey>> {
        let builder = CertificateBuilder::ca("CA")
            .validity(validity())
            .serial_number(&[1]);
        let permitted = self.permitted.iter();
        let builder = permitted.fold(builder, |builder, subtree| subtree.permit(builder));
        let excluded = self.excluded.iter();
        let builder = excluded.fold(builder, |builder, subtree| subtree.exclude(builder));
        let key = FixedKey::new(SignatureAlgorithm::MlDsa44, 30);
        match PKI.root.issue_ca(builder, key) {
            Ok(ca) => Some(ca),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                None
            }
        }
    }

    fn check(&self, names: &[AlternativeName], ca: &Issuer<FixedKey>, leaf: &Certificate) {
        assert!(leaf.alternative_names().eq(names.iter().cloned()));
        assert_eq!(leaf.spki(), PKI.server_key.spki());
        assert_eq!(leaf.ocsp_urls().len(), usize::from(self.url.is_some()));
        for finding in lint(Kind::Certificate, leaf.der()) {
            assert!(finding.rule.severity() != Severity::Error, "{finding:?}");
            assert!(!finding.what.contains('\n') && !finding.rule.name().is_empty());
            assert!(!finding.rule.section().is_empty() && !finding.rule.description().is_empty());
        }

        let chain = [leaf, ca.certificate()];
        let time = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
        let purpose = match self.purpose {
            Some(false) => Purpose::ClientAuth,
            _ => Purpose::ServerAuth,
        };
        let validator = ChainValidator::new([PKI.root.certificate().clone()]).expect("a root");
        let valid = validator.validate(&chain, purpose, None, time);
        match &valid {
            Ok(_) => assert!(names.iter().all(|it| ca.certificate().permits_name(it))),
            Err(error) => assert_eq!(*error, ValidationError::NameConstraintViolation),
        }
        let are_permitted = |it: &AlternativeName| permits(&self.permitted, &self.excluded, it);
        let is_expected = names.iter().all(are_permitted)
            && (self.subject.as_ref().filter(|it| it.name().is_some()))
                .is_none_or(|it| permits_subject(&self.permitted, &self.excluded, it));
        assert_eq!(valid.is_ok(), is_expected, "{}", leaf.describe_subject());
        let is_for = |name: &AlternativeName| match name {
            AlternativeName::Dns(name) => {
                let name = ServerName::try_from(name.as_str()).ok()?;
                Some(validator.validate(&chain, purpose, Some(&name), time))
            }
            AlternativeName::Ip(address) => {
                let name = ServerName::from(*address);
                Some(validator.validate(&chain, purpose, Some(&name), time))
            }
            AlternativeName::Email(address) => {
                Some(validator.validate_email(&chain, address, purpose, time))
            }
            AlternativeName::Uri(uri) => Some(validator.validate_uri(&chain, uri, purpose, time)),
        };
        for name in names {
            if let Some(result) = is_for(name) {
                assert_eq!(result.is_ok(), valid.is_ok(), "{name}: {result:?}");
            }
            if let AlternativeName::Uri(uri) = name
                && let Ok(id) = uri.parse()
            {
                let result = validator.validate_spiffe(&chain, &id, purpose, time);
                assert!(result.is_ok() == valid.is_ok(), "{result:?}");
            }
        }
        let other = self.other.name();
        if let Some(Ok(_)) = is_for(&other) {
            assert!(is_among(&other, names), "{other}");
        }
        if valid.is_ok() {
            self.revoke(ca, leaf, &validator, purpose);
        }
    }

    /// A list, or a response, says of the leaf what it is to say.
    fn revoke(
        &self,
        ca: &Issuer<FixedKey>,
        leaf: &Certificate,
        validator: &ChainValidator,
        purpose: Purpose,
    ) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
        let time = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
        let reason = CrlReason::KeyCompromise;
        let validator = if self.by_list {
            let mut list = CertificateRevocationListBuilder::new(&[1]).validity(validity());
            if self.is_revoked {
                list = list.revoke(leaf.serial_number(), now, reason);
            }
            let list = ca.issue_revocation_list(list).expect("a list");
            let findings = lint(Kind::RevocationList, list.der());
            assert!(
                findings
                    .iter()
                    .all(|it| it.rule.severity() != Severity::Error),
                "{findings:?}"
            );
            let policy = RevocationPolicy::new([list]).expect("a list");
            validator.clone().with_revocation(policy.end_entity_only())
        } else {
            let request = OcspRequest::builder().certificate(leaf, ca.certificate());
            let request = request.build().expect("a request");
            let status = match self.is_revoked {
                true => CertStatus::Revoked { date: time, reason },
                false => CertStatus::Good,
            };
            let response = OcspResponder::ca(ca)
                .respond(&request, now, Validity::new(now, now + HOUR), |_| {
                    Ok::<_, IssueError>(status)
                })
                .expect("a response");
            let policy = RevocationPolicy::without_lists().end_entity_only();
            let validator = validator.clone().with_revocation(policy);
            validator.with_ocsp_responses([response])
        };
        match validator.validate(&[leaf, ca.certificate()], purpose, None, time) {
            Ok(_) => assert!(!self.is_revoked),
            Err(ValidationError::Revoked { .. }) => assert!(self.is_revoked),
            Err(error) => panic!("{error}"),
        }
    }
}

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Whether a certificate with these names is for this one: by a wildcard perhaps, and where cases don't matter.
fn is_among(name: &AlternativeName, names: &[AlternativeName]) -> bool {
    let same = |one: &AlternativeName| match (one, name) {
        (AlternativeName::Dns(one), AlternativeName::Dns(name)) => {
            one.eq_ignore_ascii_case(name)
                || (one.strip_prefix("*.").zip(name.split_once('.')))
                    .is_some_and(|(parent, (_, above))| parent.eq_ignore_ascii_case(above))
        }
        // What looks like an address is one to whoever asks for it.
        (AlternativeName::Ip(one), AlternativeName::Dns(name)) => {
            name.parse::<IpAddr>().is_ok_and(|name| *one == name)
        }
        (AlternativeName::Email(one), AlternativeName::Email(name)) => {
            one.eq_ignore_ascii_case(name)
        }
        (one, name) => one == name,
    };
    names.iter().any(same)
}
