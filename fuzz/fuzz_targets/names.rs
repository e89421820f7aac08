//! Names of all kinds as texts, and a CA's constraints for them: a name that is read stays the same, a name
//! is permitted if and only if a model permits it, and a name that can't be read is not permitted.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::der::{self, Contents, DerEdits, Element};
use fuzz::names::{Constraints, Name, Subtree};
use fuzz::pki::PKI;
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::{AlternativeName, Certificate, EmailAddress, SpiffeId, Uri};
use pq_x509::issuing::CertificateBuilder;
use pq_x509::keys::{KemAlgorithm, SignError, SignatureAlgorithm, Signer, SubjectKey};
use pq_x509::linting::{Kind, lint};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::x509_cert::der::asn1::OctetString;
use pq_x509::x509_cert::der::oid::AssociatedOid;
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;

fuzz_target!(|input: Input<'_>| {
    check_text(input.text);
    let name = input.name.name();
    check_text(&name.to_string());
    input.name.check_host();
    let Ok(text) = input.text.parse::<AlternativeName>();
    let constraints = Constraints::new(&input.permitted, &input.excluded);
    let Some((ca, changed)) = input.cas(&constraints) else {
        return;
    };
    for name in [name, text] {
        assert_eq!(ca.permits_name(&name), constraints.permit(&name), "{name}");
        if let Some(changed) = &changed
            && !has_lists_of_subtrees(changed)
        {
            assert!(!changed.permits_name(&name), "{name}");
        }
    }
    for ca in changed.iter().chain([&ca]) {
        for finding in lint(Kind::Certificate, ca.der()) {
            assert!(finding.to_string().contains(finding.rule.name()));
        }
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    name: Name<'a>,
    permitted: Vec<Subtree<'a>>,
    excluded: Vec<Subtree<'a>>,
    /// The changes to the extension.
    constraints: DerEdits<'a>,
    text: &'a str,
}

impl Input<'_> {
    /// A CA with the constraints, and one with the changed constraints, if they can be made.
    fn cas(&self, constraints: &Constraints<'_>) -> Option<(Certificate, Option<Certificate>)> {
        let builder = constraints.of(CertificateBuilder::ca("CA").serial_number(&[1]));
        let mut tbs = match PKI.root.prepare(builder, PKI.ca.signer()) {
            Ok(tbs) => tbs,
            Err(error) => {
                assert!(!constraints.are_well_formed(), "{error}");
                return None;
            }
        };
        let ca = tbs.clone().sign(&Unsigned).expect("a certificate");
        let is_constraints = |it: &&mut Extension| it.extn_id == NameConstraints::OID;
        if let Some(constraints) = tbs.extensions.iter_mut().find(is_constraints) {
            let changed = self.constraints.of(constraints.extn_value.as_bytes());
            constraints.extn_value = OctetString::new(changed).ok()?;
        }
        let changed = tbs.sign(&Unsigned).ok();
        Some((ca, changed))
    }
}

/// A signer for certificates whose signatures nobody verifies.
struct Unsigned;

impl SubjectKey for Unsigned {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        PKI.root.signer().spki()
    }
}

impl Signer for Unsigned {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        PKI.root.signer().signature_algorithm()
    }

    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(vec![0; SignatureAlgorithm::MlDsa44.signature_len()])
    }
}

/// Whether a certificate has no constraints, or constraints in the usual form: permitted subtrees, and then
/// excluded ones.
fn has_lists_of_subtrees(certificate: &Certificate) -> bool {
    let tbs = certificate.parsed().tbs_certificate();
    let mut extensions = tbs.extensions().into_iter().flatten();
    let Some(constraints) = extensions.find(|it| it.extn_id == NameConstraints::OID) else {
        return true;
    };
    let Some(parsed) = der::parse(constraints.extn_value.as_bytes()) else {
        return false;
    };
    let [
        Element {
            tag: SEQUENCE,
            contents,
        },
    ] = &*parsed
    else {
        return false;
    };
    let inner = |contents: &Contents| match contents {
        Contents::Elements(prefix, elements) if prefix.is_empty() => Some(elements.clone()),
        Contents::Bytes(bytes) if bytes.is_empty() => Some(Vec::new()),
        _ => None,
    };
    let Some(lists) = inner(contents) else {
        return false;
    };
    let tags: Vec<_> = lists.iter().map(|list| list.tag).collect();
    let is_subtree = |subtree: &Element| {
        subtree.tag == SEQUENCE && inner(&subtree.contents).is_some_and(|it| !it.is_empty())
    };
    matches!(*tags, [] | [0xa0 | 0xa1] | [0xa0, 0xa1])
        && (lists.iter())
            .all(|list| inner(&list.contents).is_some_and(|it| it.iter().all(is_subtree)))
}

const SEQUENCE: u8 = 0x30;

fn check_text(text: &str) {
    if let Ok(address) = text.parse::<EmailAddress>() {
        assert_eq!(address.as_str(), text);
        assert_eq!([address.local_part(), address.host()].join("@"), text);
    }
    if let Ok(uri) = text.parse::<Uri>() {
        assert_eq!(uri.as_str(), text);
        assert!(text.starts_with(uri.scheme()) && text.ends_with(uri.after_authority()));
        assert!(uri.host().is_none_or(|host| !host.contains('@')));
    }
    if let Ok(id) = text.parse::<SpiffeId>() {
        assert_eq!(id.as_str(), text);
        let parts = ["spiffe://", id.trust_domain(), id.path()].concat();
        assert_eq!(parts, text);
        // If the trust domain is a host name, both parsers read the same.
        if let Ok(uri) = text.parse::<Uri>() {
            assert_eq!(uri.host(), Some(id.trust_domain()));
        }
    }
    let signs = text.parse::<SignatureAlgorithm>();
    let encapsulates = text.parse::<KemAlgorithm>();
    match (&signs, &encapsulates) {
        (Ok(algorithm), Err(_)) => assert!(algorithm.name().eq_ignore_ascii_case(text)),
        (Err(_), Ok(algorithm)) => assert!(algorithm.name().eq_ignore_ascii_case(text)),
        (Err(error), Err(other)) => assert!(error.to_string() != other.to_string()),
        (Ok(_), Ok(_)) => panic!("an algorithm for both"),
    }
}
