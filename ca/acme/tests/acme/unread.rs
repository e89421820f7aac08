//! Names in certificates of kinds that orders don't have: they count as others.

use pq_acme::problem::ProblemType;
use pq_jose::encoding::base64url;
use pq_keys::{SignatureAlgorithm, SigningKey};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::x509_cert::der::asn1::Ia5String;
use pq_x509::x509_cert::ext::pkix::SubjectAltName;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;

use crate::kit::{Client, World, at, ed25519, problem};

/// Authorizations for its DNS names are not for all of its names.
#[test]
fn a_certificate_with_other_names_is_revoked_by_none_of_them() {
    let world = World::new();
    let client = Client::registered(&world);
    client.meet(&client.order(&["a.example"]).1);
    let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Test"), &ca_key).unwrap();
    let dns = GeneralName::DnsName(Ia5String::new("a.example").unwrap());
    let folder = GeneralName::DirectoryName("CN=Alice".parse().unwrap());
    for (names, expected) in [
        // It is none of this CA: that is said to whoever may revoke it.
        (vec![dns.clone()], (404, ProblemType::Malformed)),
        (vec![dns, folder.clone()], (403, ProblemType::Unauthorized)),
        (vec![folder], (403, ProblemType::Unauthorized)),
    ] {
        let key = ed25519();
        let builder = CertificateBuilder::server().dns_name("a.example");
        let mut tbs = issuer.prepare(builder, &key).unwrap();
        tbs.set_extension(true, &SubjectAltName(names)).unwrap();
        let certificate = tbs.sign(&ca_key).unwrap();
        let der = base64url::encode(&certificate.into_der());
        let refused = client.post(&at("revoke-cert"), &format!(r#"{{"certificate":"{der}"}}"#));
        assert_eq!(problem(&refused), expected);
    }
}
