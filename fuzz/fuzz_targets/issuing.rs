//! From names to a certificate that somebody validates: requests, certificates, revocation lists and OCSP
//! responses that are made are read as what they were made of, and validate for it alone.
#![no_main]

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
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
    common_name: Option<Part<'a>>,
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

/// A name of any kind, made of parts that fit.
#[derive(Arbitrary, Debug)]
enum Name<'a> {
    Dns(Host<'a>),
    Email(Part<'a>, Host<'a>),
    Uri {
        is_http: bool,
        user: Option<Part<'a>>,
        host: Host<'a>,
        port: Option<u16>,
        path: Part<'a>,
    },
    SpiffeId(Host<'a>, Part<'a>),
    Ip(IpAddr),
    Text(&'a str),
}

/// What a CA may issue for, or may not.
#[derive(Arbitrary, Debug)]
enum Subtree<'a> {
    Dns(Host<'a>),
    Email(Option<Part<'a>>, Host<'a>),
    Uri(Host<'a>),
    Ip(IpAddr, u8),
}

#[derive(Arbitrary, Debug)]
enum Host<'a> {
    Example,
    Below,
    Subdomains,
    Wildcard,
    Upper,
    Localhost,
    Address,
    Address6,
    Other(&'a str),
}

impl Host<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Example => "example.org",
            Self::Below => "a.example.org",
            Self::Subdomains => ".example.org",
            Self::Wildcard => "*.example.org",
            Self::Upper => "EXAMPLE.org",
            Self::Localhost => "localhost",
            Self::Address => "127.0.0.1",
            Self::Address6 => "[::1]",
            Self::Other(text) => text,
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Part<'a> {
    Empty,
    Word,
    Words,
    Escaped,
    Dots,
    Other(&'a str),
}

impl Part<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Word => "a",
            Self::Words => "a.b-c_d",
            Self::Escaped => "%41",
            Self::Dots => "../b",
            Self::Other(text) => text,
        }
    }
}

impl Name<'_> {
    fn name(&self) -> AlternativeName {
        let text = match self {
            Self::Dns(host) => return AlternativeName::Dns(host.text().into()),
            Self::Ip(address) => return AlternativeName::Ip(*address),
            Self::Email(part, host) => {
                return AlternativeName::Email([part.text(), host.text()].join("@"));
            }
            Self::Uri {
                is_http,
                user,
                host,
                port,
                path,
            } => {
                let scheme = if *is_http { "http" } else { "urn+x" };
                let user = user
                    .as_ref()
                    .map_or(String::new(), |it| it.text().to_owned() + "@");
                let port = port.map_or(String::new(), |port| format!(":{port}"));
                format!("{scheme}://{user}{}{port}/{}", host.text(), path.text())
            }
            Self::SpiffeId(host, path) => format!("spiffe://{}/{}", host.text(), path.text()),
            Self::Text(text) => text.to_string(),
        };
        let Ok(name) = text.parse();
        name
    }
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
        if let Some(name) = &self.common_name {
            builder = builder.common_name(name.text());
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
        let mut builder = CertificateBuilder::ca("CA")
            .validity(validity())
            .serial_number(&[1]);
        for (subtrees, permits) in [(&self.permitted, true), (&self.excluded, false)] {
            for subtree in subtrees {
                builder = match (subtree, permits) {
                    (Subtree::Dns(host), true) => builder.permit_dns(host.text()),
                    (Subtree::Dns(host), false) => builder.exclude_dns(host.text()),
                    (Subtree::Uri(host), true) => builder.permit_uri(host.text()),
                    (Subtree::Uri(host), false) => builder.exclude_uri(host.text()),
                    (Subtree::Ip(address, len), true) => builder.permit_ip(*address, *len),
                    (Subtree::Ip(address, len), false) => builder.exclude_ip(*address, *len),
                    (Subtree::Email(part, host), permits) => {
                        let part = part.as_ref().map(Part::text);
                        let constraint = match part {
                            Some(part) => [part, host.text()].join("@"),
                            None => host.text().into(),
                        };
                        match permits {
                            true => builder.permit_email(constraint),
                            false => builder.exclude_email(constraint),
                        }
                    }
                };
            }
        }
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
