//! The certificate that a server of TLS shows for tls-alpn-01 (RFC 8737, section 3).

use pq_keys::Signer;
use pq_keys::der::asn1::OctetString;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::x509_cert::ext::Extension;

use super::obtaining::Shown;
use crate::challenge::ACME_IDENTIFIER;

/// Makes the certificate for a challenge, by a key of its own: for the name alone, with the digest of what is to be shown.
///
/// # Errors
///
/// If the key doesn't sign.
pub fn challenge_certificate(
    shown: &Shown,
    key: &(impl Signer + ?Sized),
) -> Result<Certificate, IssueError> {
    let issuer = Issuer::self_signed(CertificateBuilder::ca("ACME challenge"), key)?;
    let builder = CertificateBuilder::server().alternative_name(shown.name.clone().into());
    let mut tbs = issuer.prepare(builder, key)?;
    tbs.extensions.push(Extension {
        extn_id: ACME_IDENTIFIER,
        critical: true,
        extn_value: OctetString::new(shown.authorization.acme_identifier())?,
    });
    tbs.sign(key)
}

#[cfg(test)]
mod tests {
    use pq_jose::Thumbprint;
    use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};

    use super::*;
    use crate::challenge::KeyAuthorization;
    use crate::identifier::Identifier;
    use crate::objects::ChallengeKind;

    #[test]
    fn it_is_what_a_server_looks_for() {
        let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256).unwrap();
        let long = format!("{}.{}.example.org", "a".repeat(60), "b".repeat(60));
        for name in ["www.example.org", "192.0.2.1", "2001:db8::1", &long] {
            let name = match name.parse() {
                Ok(address) => Identifier::Ip(address),
                Err(_) => Identifier::dns(name).unwrap(),
            };
            let thumbprint = Thumbprint::from_bytes([7; 32]);
            let shown = Shown {
                name: name.clone(),
                kind: ChallengeKind::TlsAlpn01,
                authorization: KeyAuthorization::new("abc", &thumbprint),
            };
            let certificate = challenge_certificate(&shown, &key).unwrap();
            let check = |token: &str| {
                let authorization = KeyAuthorization::new(token, &thumbprint);
                authorization.check_certificate(&name, &certificate)
            };
            assert_eq!(check("abc"), Ok(()));
            check("abd").unwrap_err();
        }
    }
}
