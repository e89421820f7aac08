//! What a client has to show for a challenge, and a server to find: http-01 and dns-01 (RFC 8555, section 8),
//! tls-alpn-01 (RFC 8737), for addresses too (RFC 8738).
//!
//! ```
//! use pq_acme::challenge::KeyAuthorization;
//! use pq_jose::any::AnyJwk;
//! use pq_keys::{SignatureAlgorithm, SigningKey};
//!
//! let account_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let thumbprint = AnyJwk::of(&account_key)?.thumbprint();
//! let shown = KeyAuthorization::new("DGyRejmCefe7v4NfDGDKfA", &thumbprint);
//! assert_eq!(shown.http_path(), "/.well-known/acme-challenge/DGyRejmCefe7v4NfDGDKfA");
//! assert!(shown.is_in_http_body(format!("{shown}\r\n").as_bytes()));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! It uses [`identifier`](crate::identifier) and [`objects`](crate::objects).

use core::fmt;
use core::net::IpAddr;

use pq_jose::Thumbprint;
use pq_jose::encoding::base64url;
use pq_keys::der::Decode;
use pq_keys::der::asn1::OctetStringRef;
use pq_keys::spki::ObjectIdentifier;
use pq_x509::certificate::{AlternativeName, Certificate};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::identifier::Identifier;
use crate::objects::ChallengeKind;

/// What a client shows (RFC 8555, section 8.1): the token, a dot, and the thumbprint of its account's key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyAuthorization {
    text: String,
    token_len: usize,
}

impl KeyAuthorization {
    /// For this token of a challenge, by an account with this key.
    pub fn new(token: &str, thumbprint: &Thumbprint) -> Self {
        Self {
            text: format!("{token}.{thumbprint}"),
            token_len: token.len(),
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.text[..self.token_len]
    }

    /// http-01: where its text has to be, at port 80 of the identifier.
    pub fn http_path(&self) -> String {
        format!("{HTTP_FOLDER}{}", self.token())
    }

    /// http-01: whether this is a body with it. White space at its end does not count.
    pub fn is_in_http_body(&self, body: &[u8]) -> bool {
        body.trim_ascii_end() == self.text.as_bytes()
    }

    /// dns-01: the text of the TXT record at [`dns_name`].
    pub fn dns_value(&self) -> String {
        base64url::encode(&self.digest())
    }

    /// tls-alpn-01: what the certificate's extension [`ACME_IDENTIFIER`] contains, its whole value in DER.
    pub fn acme_identifier(&self) -> Vec<u8> {
        // an OCTET STRING of 32 bytes
        [&[4, 32], self.digest().as_slice()].concat()
    }

    /// tls-alpn-01: checks the certificate that a server showed for an identifier.
    ///
    /// # Errors
    ///
    /// A [`CertificateMismatch`] that says what is wrong with it.
    pub fn check_certificate(
        &self,
        identifier: &Identifier,
        certificate: &Certificate,
    ) -> Result<(), CertificateMismatch> {
        let expected = AlternativeName::from(identifier.clone());
        let mut names = certificate.alternative_names();
        let is_name = match (names.next(), expected) {
            (Some(AlternativeName::Dns(found)), AlternativeName::Dns(name)) => {
                found.eq_ignore_ascii_case(&name)
            }
            (Some(found), expected) => found == expected,
            (None, _) => false,
        };
        if !is_name || names.next().is_some() || names_in(certificate) != Some(1) {
            return Err(CertificateMismatch::Names);
        }
        let extensions = certificate.parsed().tbs_certificate().extensions();
        let mut extensions = extensions
            .into_iter()
            .flatten()
            .filter(|one| one.extn_id == ACME_IDENTIFIER);
        let extension = extensions.next().ok_or(CertificateMismatch::NoExtension)?;
        if !extension.critical {
            return Err(CertificateMismatch::NotCritical);
        }
        let value = <&OctetStringRef>::from_der(extension.extn_value.as_bytes());
        match value.is_ok_and(|value| value.as_bytes() == self.digest()) {
            true if extensions.next().is_none() => Ok(()),
            _ => Err(CertificateMismatch::Digest),
        }
    }

    fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.text.as_bytes()).into()
    }
}

impl fmt::Display for KeyAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// http-01: the folder of what is shown.
pub const HTTP_FOLDER: &str = "/.well-known/acme-challenge/";

/// tls-alpn-01: the protocol that client and server agree on.
pub const ALPN: &[u8] = b"acme-tls/1";

/// tls-alpn-01: the certificate's extension (id-pe-acmeIdentifier).
pub const ACME_IDENTIFIER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.31");

/// dns-01: where the TXT record has to be for a DNS name, with `*.` before it or not.
pub fn dns_name(name: &str) -> String {
    let base = name.strip_prefix("*.").unwrap_or(name);
    format!("_acme-challenge.{base}")
}

/// tls-alpn-01: the name that the client of TLS asks for (SNI): for an address, that of its reverse lookup (RFC 8738,
/// section 6).
pub fn tls_server_name(identifier: &Identifier) -> String {
    match identifier {
        Identifier::Dns(name) => name.strip_prefix("*.").unwrap_or(name).into(),
        Identifier::Ip(IpAddr::V4(address)) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        Identifier::Ip(IpAddr::V6(address)) => {
            let octets = address.octets();
            let nibbles = octets
                .iter()
                .rev()
                .flat_map(|octet| [octet & 15, octet >> 4]);
            let nibbles: Vec<String> = nibbles.map(|nibble| format!("{nibble:x}")).collect();
            format!("{}.ip6.arpa", nibbles.join("."))
        }
    }
}

/// Whether there may be challenges of this kind for an identifier: wildcards only have dns-01 (RFC 8555, section 7.1.3),
/// and addresses never (RFC 8738, section 7).
pub fn fits(kind: &ChallengeKind, identifier: &Identifier, is_wildcard: bool) -> bool {
    match (kind, identifier) {
        (ChallengeKind::Dns01, Identifier::Dns(_)) => true,
        (ChallengeKind::Http01 | ChallengeKind::TlsAlpn01, _) => {
            !is_wildcard && !identifier.is_wildcard()
        }
        _ => false,
    }
}

/// How many alternative names of any kind a certificate has.
fn names_in(certificate: &Certificate) -> Option<usize> {
    use pq_x509::x509_cert::ext::pkix::SubjectAltName;
    let parsed = certificate.parsed().tbs_certificate();
    let (_, names) = parsed.get_extension::<SubjectAltName>().ok().flatten()?;
    Some(names.0.len())
}

/// Why a certificate does not meet a challenge (RFC 8737, section 3).
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum CertificateMismatch {
    /// It has other names.
    #[error("the certificate's alternative names are not the identifier alone")]
    Names,
    /// It lacks the extension.
    #[error("the certificate has no extension acmeIdentifier (1.3.6.1.5.5.7.1.31)")]
    NoExtension,
    /// The extension is not critical.
    #[error("the certificate's extension acmeIdentifier is not critical")]
    NotCritical,
    /// The extension is of another challenge or account.
    #[error(
        "the certificate's extension acmeIdentifier is not the digest of this challenge's token and this account's key"
    )]
    Digest,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thumbprint of RFC 7638, section 3.1.
    fn shown() -> KeyAuthorization {
        let bytes = base64url::decode("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs").unwrap();
        let thumbprint = Thumbprint::from_bytes(bytes.try_into().unwrap());
        KeyAuthorization::new("evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA", &thumbprint)
    }

    #[test]
    fn what_is_shown_is_of_the_token_and_the_key() {
        let shown = shown();
        assert_eq!(
            shown.as_str(),
            "evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA.NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
        );
        assert!(shown.is_in_http_body(format!("{shown} \r\n\t").as_bytes()));
        assert!(!shown.is_in_http_body(format!(" {shown}").as_bytes()));
        assert!(!shown.is_in_http_body(shown.token().as_bytes()));
        assert_eq!(shown.dns_value().len(), 43);
        assert_eq!(shown.acme_identifier().len(), 34);
    }

    #[test]
    fn addresses_are_asked_by_their_reverse_names() {
        let name = |text: &str| tls_server_name(&Identifier::Ip(text.parse().unwrap()));
        // the examples of RFC 8738, section 6
        assert_eq!(name("192.0.2.1"), "1.2.0.192.in-addr.arpa");
        assert_eq!(
            name("2001:db8::1"),
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
        );
        assert_eq!(dns_name("*.example.org"), "_acme-challenge.example.org");
    }

    #[test]
    fn wildcards_and_addresses_have_their_own_challenges() {
        let dns = Identifier::Dns("example.org".into());
        let ip = Identifier::Ip("192.0.2.1".parse().unwrap());
        for kind in ChallengeKind::ALL {
            let is_dns = *kind == ChallengeKind::Dns01;
            assert!(fits(kind, &dns, false));
            assert_eq!(fits(kind, &dns, true), is_dns);
            assert_eq!(fits(kind, &ip, false), !is_dns);
        }
        assert!(!fits(&ChallengeKind::Other("x".into()), &dns, false));
    }
}
