//! `tls-alpn-01` (RFC 8737): a handshake of the protocol `acme-tls/1`, with a certificate for the name alone that has the
//! digest of the key authorization. Addresses have the names of the reverse DNS (RFC 8738, section 6).

use core::net::IpAddr;

use const_oid::db::rfc5280::ID_CE_SUBJECT_ALT_NAME;
use const_oid::ObjectIdentifier;
use der::Decode;
use der::asn1::OctetStringRef;
use pq_x509::certificate::{AlternativeName, Certificate};
use rustls::pki_types::{CertificateDer, ServerName};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::SubjectAltName;

use super::Validator;
use super::connecting::Host;
use super::outcome::{Refusal, RefusalKind, Steps, Verdict};
use super::question::{Identifier, Question};
use super::tls::ACME_TLS;

/// The extension with the digest (RFC 8737, section 3).
const ACME_IDENTIFIER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.31");

impl Validator {
    pub(super) async fn tls_alpn_01(
        &self,
        question: &Question,
        steps: &mut Steps,
    ) -> Result<String, Verdict> {
        let (host, name) = match &question.identifier {
            Identifier::Dns(name) => (Host::Name(name), name.clone()),
            Identifier::Ip(address) => (Host::Address(*address), reverse_name(*address)),
        };
        let server_name = ServerName::try_from(name.clone()).map_err(|_| {
            Refusal::new(
                RefusalKind::Malformed,
                format!("{name:?} is no name that TLS can carry"),
            )
        })?;
        let (tcp, address) = self.connect(&host, self.ports.tls_alpn, steps).await?;
        let handshake = self.connectors.acme.connect(server_name, tcp).await;
        let tls = handshake.map_err(|error| {
            let detail = format!(
                "{address}: no handshake for {name} with the protocol acme-tls/1: {error}"
            );
            Refusal::new(RefusalKind::Tls, detail)
        })?;
        let (_, connection) = tls.get_ref();
        if connection.alpn_protocol() != Some(ACME_TLS) {
            let detail = format!("{address} has not negotiated the protocol acme-tls/1 for {name}");
            return Err(Refusal::new(RefusalKind::Tls, detail).into());
        }
        let chain = connection.peer_certificates().unwrap_or_default();
        check(chain, question).map_err(|what| {
            let detail = format!("{address}: the certificate for {name} {what}");
            Refusal::new(RefusalKind::IncorrectResponse, detail)
        })?;
        Ok(address.to_string())
    }
}

/// Checks what a certificate says (RFC 8737, section 3); what is wrong with it goes into a sentence.
fn check(chain: &[CertificateDer<'_>], question: &Question) -> Result<(), String> {
    let first = chain.first().ok_or("is missing")?;
    let certificate =
        Certificate::from_der(first).map_err(|error| format!("can't be read: {error}"))?;
    let names = extension(&certificate, ID_CE_SUBJECT_ALT_NAME)
        .ok_or("has no alternative name, and has to have this one")?;
    let names = SubjectAltName::from_der(names.extn_value.as_bytes())
        .map_err(|error| format!("has alternative names that can't be read: {error}"))?;
    if names.0.len() != 1 {
        return Err(format!(
            "has {} alternative names, and may have this one only",
            names.0.len()
        ));
    }
    let is_it = |name: AlternativeName| match (&question.identifier, name) {
        (Identifier::Dns(wanted), AlternativeName::Dns(name)) => name.eq_ignore_ascii_case(wanted),
        (Identifier::Ip(wanted), AlternativeName::Ip(address)) => address == *wanted,
        _ => false,
    };
    if !certificate.alternative_names().any(is_it) {
        let shown: Vec<String> = certificate
            .alternative_names()
            .map(|name| name.to_string())
            .collect();
        return Err(format!("is for another name: {:?}", shown.join(", ")));
    }
    let identifier = extension(&certificate, ACME_IDENTIFIER)
        .ok_or("lacks the extension acmeIdentifier (1.3.6.1.5.5.7.1.31)")?;
    if !identifier.critical {
        return Err("has the extension acmeIdentifier, which is not critical as it has to be".into());
    }
    let digest = <&OctetStringRef>::from_der(identifier.extn_value.as_bytes())
        .map_err(|error| format!("has an acmeIdentifier that can't be read: {error}"))?;
    match digest.as_bytes() == question.digest() {
        true => Ok(()),
        false => Err(
            "has an acmeIdentifier of another challenge or account: it has to be the SHA-256 of the key authorization"
                .into(),
        ),
    }
}

fn extension(certificate: &Certificate, kind: ObjectIdentifier) -> Option<&Extension> {
    let extensions = certificate.parsed().tbs_certificate().extensions();
    let mut extensions = extensions.into_iter().flatten();
    extensions.find(|extension| extension.extn_id == kind)
}

/// The name of an address in the reverse DNS (RFC 1034, section 5.2.1, and RFC 3596, section 2.5).
pub(super) fn reverse_name(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(address) => {
            let mut name = String::new();
            for byte in address.octets().into_iter().rev() {
                name += &format!("{:x}.{:x}.", byte & 15, byte >> 4);
            }
            name + "ip6.arpa"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_names_of_the_reverse_dns() {
        for (address, name) in [
            ("192.0.2.7", "7.2.0.192.in-addr.arpa"),
            (
                "2001:db8::567:89ab",
                "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
            ),
        ] {
            assert_eq!(reverse_name(address.parse().unwrap()), name);
        }
    }
}
