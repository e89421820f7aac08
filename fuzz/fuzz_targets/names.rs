//! Names of all kinds as texts, and name constraints of anything: what is read stays what it is, no
//! name is both permitted and excluded, and what can't be read is not permitted.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::pki::PKI;
use libfuzzer_sys::fuzz_target;
use pq_x509::x509_cert::der::asn1::OctetString;
use pq_x509::x509_cert::ext::Extension;
use pq_x509::{AlternativeName, Certificate, CertificateBuilder, EmailAddress, SpiffeId, Uri};

fuzz_target!(|input: Input<'_>| {
    check_text(input.name);
    let Ok(name) = input.name.parse::<AlternativeName>();
    let [permitting, excluding] = [true, false].map(|permits| constrained(&name, permits));
    for (ca, expected) in [(permitting, true), (excluding, false)] {
        if let Some(ca) = ca {
            assert_eq!(ca.permits_name(&name), expected, "{name}");
        }
    }
    if let Some(ca) = with_constraints(input.constraints) {
        let _ = ca.permits_name(&name);
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    name: &'a str,
    /// The contents of the extension.
    constraints: &'a [u8],
}

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
        // Where the trust domain is the name of a host, both read the same.
        if let Ok(uri) = text.parse::<Uri>() {
            assert_eq!(uri.host(), Some(id.trust_domain()));
        }
    }
}

/// A CA that permits, or excludes, the one name alone, or its host.
fn constrained(name: &AlternativeName, permits: bool) -> Option<Certificate> {
    let ca = CertificateBuilder::ca("CA");
    let ca = match (name, permits) {
        (AlternativeName::Email(address), true) => ca.permit_email(address),
        (AlternativeName::Email(address), false) => ca.exclude_email(address),
        (AlternativeName::Uri(uri), permits) => {
            let uri: Uri = uri.parse().ok()?;
            match permits {
                true => ca.permit_uri(uri.host()?),
                false => ca.exclude_uri(uri.host()?),
            }
        }
        _ => return None,
    };
    let root = &PKI.root;
    let tbs = root.prepare(ca, PKI.ca.signer());
    tbs.ok()?.sign(root.signer()).ok()
}

fn with_constraints(contents: &[u8]) -> Option<Certificate> {
    let ca = CertificateBuilder::ca("CA");
    let mut tbs = PKI.root.prepare(ca, PKI.ca.signer()).ok()?;
    tbs.extensions.push(Extension {
        extn_id: "2.5.29.30".parse().ok()?,
        critical: true,
        extn_value: OctetString::new(contents).ok()?,
    });
    tbs.sign(PKI.root.signer()).ok()
}
