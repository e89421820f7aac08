//! When to renew a certificate (RFC 9773).

use core::fmt;
use core::str::FromStr;

use pq_jose::encoding::base64url;
use pq_x509::certificate::Certificate;
use pq_x509::x509_cert::ext::pkix::AuthorityKeyIdentifier;
use serde::{Deserialize, Serialize};

use super::time::Time;

/// What names a certificate (RFC 9773, section 4.1): its issuer's key identifier and its serial number.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CertificateId {
    key_identifier: Vec<u8>,
    serial_number: Vec<u8>,
}

impl CertificateId {
    /// That of a certificate, if it has an authority key identifier.
    pub fn of(certificate: &Certificate) -> Option<Self> {
        let parsed = certificate.parsed().tbs_certificate();
        let (_, authority) = parsed
            .get_extension::<AuthorityKeyIdentifier>()
            .ok()
            .flatten()?;
        Some(Self {
            key_identifier: authority.key_identifier?.as_bytes().to_vec(),
            serial_number: parsed.serial_number().as_bytes().to_vec(),
        })
    }

    /// The identifier of the issuer's key.
    pub fn key_identifier(&self) -> &[u8] {
        &self.key_identifier
    }

    /// The contents of the serial number in DER, with a leading zero if it has one.
    pub fn serial_number(&self) -> &[u8] {
        &self.serial_number
    }
}

impl fmt::Display for CertificateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [key, serial] =
            [&self.key_identifier, &self.serial_number].map(|p| base64url::encode(p));
        write!(f, "{key}.{serial}")
    }
}

/// The text names no certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "not what names a certificate in RFC 9773 section 4.1: the key identifier of its issuer and its serial number, each in \
     base64url without padding, with a dot in between"
)]
pub struct NoCertificateId;

impl FromStr for CertificateId {
    type Err = NoCertificateId;

    fn from_str(text: &str) -> Result<Self, NoCertificateId> {
        let (key, serial) = text.split_once('.').ok_or(NoCertificateId)?;
        let [key_identifier, serial_number] =
            [key, serial].map(|part| match base64url::decode(part) {
                Ok(bytes) if (1..=64).contains(&bytes.len()) => Ok(bytes),
                _ => Err(NoCertificateId),
            });
        Ok(Self {
            key_identifier: key_identifier?,
            serial_number: serial_number?,
        })
    }
}

/// When a certificate should be renewed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RenewalInfo {
    /// At a random time in this window.
    pub suggested_window: Window,
    /// A page that says why.
    #[serde(
        default,
        rename = "explanationURL",
        skip_serializing_if = "Option::is_none"
    )]
    pub explanation_url: Option<String>,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Window {
    /// Its beginning.
    pub start: Time,
    /// Its end, which is later.
    pub end: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 9773, section 4.1.
    #[test]
    fn the_example_of_the_rfc() {
        let text = "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE";
        let read: CertificateId = text.parse().unwrap();
        assert_eq!(read.serial_number(), [0, 0x87, 0x65, 0x43, 0x21]);
        assert_eq!(read.to_string(), text);
        for bad in ["", ".", "AA", "AA.", ".AA", "AA.AA=", "AA.AB", "AA.AA.AA"] {
            assert!(bad.parse::<CertificateId>().is_err(), "{bad}");
        }
    }
}
