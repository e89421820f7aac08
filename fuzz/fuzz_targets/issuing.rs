//! From names to a certificate that somebody validates: requests, certificates, revocation lists and OCSP
//! responses can be read again as they were made, and are valid only for that.
#![no_main]

use std::net::IpAddr;
use std::num::NonZeroU16;
use std::time::Duration;

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::names::{Constraints, Host, Name, Subject, Subtree};
use fuzz::pki::{FixedKey, PKI, at, validity};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::{AlternativeName, Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SubjectKey};
use pq_x509::linting::{Kind, Severity, lint};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason, RevocationPolicy};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::x509_cert::ext::pkix::CrlDistributionPoints;
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};

fuzz_target!(|input: Input<'_>| {
    let usual = [Name::Dns(Host::Example)];
    let names = match &*input.names {
        [] => &usual,
        names => names,
    };
    let are_well_formed = names.iter().all(Name::is_well_formed);
    let mut names: Vec<AlternativeName> = names.iter().map(Name::name).collect();
    // In the order in which certificates return them.
    names.sort_by_key(|name| match name {
        AlternativeName::Dns(_) => 0,
        AlternativeName::Ip(_) => 1,
        AlternativeName::Email(_) => 2,
        AlternativeName::Uri(_) => 3,
    });
    let request = match input.request(&names) {
        Ok(request) => request,
        Err(error) => return assert!(!are_well_formed, "{error}"),
    };
    let constraints = Constraints::new(&input.permitted, &input.excluded);
    let ca = match ca(&constraints) {
        Ok(ca) => ca,
        Err(error) => return assert!(!constraints.are_well_formed(), "{error}"),
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
            let url = url.text();
            builder.revocation_list_url(&url).ocsp_url(url)
        }
        None => builder,
    };
    match ca.issue(builder, &verified) {
        Ok(leaf) => input.check(&names, &constraints, &ca, &leaf),
        Err(error) => assert!(!are_well_formed, "{error}"),
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
    /// The URL of the list and the responder.
    url: Option<Url>,
    is_revoked: bool,
    /// Whether a list revokes it, or else an OCSP response.
    by_list: bool,
    other: Name<'a>,
}

#[derive(Arbitrary, Debug)]
struct Url {
    host: UrlHost,
    port: Option<NonZeroU16>,
    has_path: bool,
}

#[derive(Arbitrary, Debug)]
enum UrlHost {
    Name,
    Address,
    Address6,
}

impl Url {
    fn text(&self) -> String {
        let host = match self.host {
            UrlHost::Name => "example.org",
            UrlHost::Address => "192.0.2.1",
            UrlHost::Address6 => "[2001:db8::1]",
        };
        let port = self.port.map_or(String::new(), |port| format!(":{port}"));
        let path = if self.has_path { "/a%20b" } else { "" };
        format!("http://{host}{port}{path}")
    }
}

/// In seconds since 1970.
const NOW: u64 = 2_000_000_000;

fn ca(constraints: &Constraints<'_>) -> Result<Issuer<FixedKey>, IssueError> {
    let builder = CertificateBuilder::ca("CA")
        .validity(validity())
        .serial_number(&[1]);
    let key = FixedKey::new(SignatureAlgorithm::MlDsa44, 30);
    PKI.root.issue_ca(constraints.of(builder), key)
}

impl Input<'_> {
    /// A request for these names, encoded and read again.
    fn request(&self, names: &[AlternativeName]) -> Result<CertificateRequest, RequestError> {
        let mut builder = CertificateRequest::builder();
        if let Some(name) = self.subject.as_ref().and_then(Subject::name) {
            builder = builder.subject(name);
        }
        for name in names {
            builder = builder.alternative_name(name.clone());
        }
        let request = builder.sign(&PKI.server_key)?;
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
        Ok(CertificateRequest::from_der(request.to_der()).expect("what was made"))
    }

    fn check(
        &self,
        names: &[AlternativeName],
        constraints: &Constraints<'_>,
        ca: &Issuer<FixedKey>,
        leaf: &Certificate,
    ) {
        assert!(leaf.alternative_names().eq(names.iter().cloned()));
        assert_eq!(leaf.spki(), PKI.server_key.spki());
        let url: Vec<_> = self.url.iter().map(Url::text).collect();
        assert_eq!(leaf.ocsp_urls(), url);
        assert_eq!(list_urls(leaf), url);
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
        let subject = self.subject.as_ref().filter(|it| it.name().is_some());
        let is_expected = names.iter().all(|it| constraints.permit(it))
            && subject.is_none_or(|it| constraints.permit_subject(it));
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
        if let Some(result) = is_for(&other) {
            let is_expected = valid.is_ok() && is_among(&other, names);
            assert_eq!(result.is_ok(), is_expected, "{other}: {result:?}");
        }
        if valid.is_ok() {
            self.revoke(ca, leaf, &validator, purpose);
        }
    }

    /// Checks that whoever a list or a response revokes is refused, and nobody else.
    fn revoke(
        &self,
        ca: &Issuer<FixedKey>,
        leaf: &Certificate,
        validator: &ChainValidator,
        purpose: Purpose,
    ) {
        let now = at(NOW);
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

/// The URLs of the list according to the certificate.
fn list_urls(certificate: &Certificate) -> Vec<String> {
    let tbs = certificate.parsed().tbs_certificate();
    let points = tbs.get_extension::<CrlDistributionPoints>();
    let points = points.expect("what was made").map(|(_, points)| points.0);
    let names = points.into_iter().flatten().map(|it| it.distribution_point);
    let names = names.map(|name| match name {
        Some(DistributionPointName::FullName(names)) => names,
        other => panic!("{other:?}"),
    });
    let text = |name: GeneralName| match name {
        GeneralName::UniformResourceIdentifier(url) => url.to_string(),
        other => panic!("{other:?}"),
    };
    names.flatten().map(text).collect()
}

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Whether a certificate with these names is valid for this one, perhaps by a wildcard or in another case.
fn is_among(name: &AlternativeName, names: &[AlternativeName]) -> bool {
    let same = |one: &AlternativeName| match (one, name) {
        (AlternativeName::Dns(one), AlternativeName::Dns(name)) => {
            one.eq_ignore_ascii_case(name)
                || (one.strip_prefix("*.").zip(name.split_once('.')))
                    .is_some_and(|(parent, (_, above))| parent.eq_ignore_ascii_case(above))
        }
        // A DNS name that looks like an address is requested as an address.
        (AlternativeName::Ip(one), AlternativeName::Dns(name)) => {
            name.parse::<IpAddr>().is_ok_and(|name| *one == name)
        }
        (AlternativeName::Email(one), AlternativeName::Email(name)) => {
            let [one, name] = [one, name].map(|it| it.rsplit_once('@'));
            one.zip(name).is_some_and(|((one, host), (name, other))| {
                one == name && host.eq_ignore_ascii_case(other)
            })
        }
        (one, name) => one == name,
    };
    names.iter().any(same)
}
