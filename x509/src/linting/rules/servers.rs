//! What TLS clients and servers expect.

use const_oid::db::rfc5280::{ID_CE_SUBJECT_ALT_NAME, ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use x509_cert::ext::pkix::KeyUsages;

use super::CERTIFICATES;
use super::keys::{Family, key_of};
use super::validity::validity;
use crate::linting::document::{Document, general_names};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::notice(
        "rfc9525-server-without-name",
        "RFC 9525 section 6.3",
        "a server's certificate has a DNS name or an address in subjectAltName",
        CERTIFICATES,
        |certificate| {
            let names = certificate.content(ID_CE_SUBJECT_ALT_NAME);
            let names = names.into_iter().flat_map(|names| general_names(&names));
            let mut names = names.filter(|name| name.dns().is_some() || name.address().is_some());
            let is_nameless = is_for_servers(certificate) && names.next().is_none();
            is_nameless.then(|| {
                "is a server's, and has neither a DNS name nor an address in subjectAltName; clients \
                 ignore the subject"
                    .into()
            })
        },
    ),
    Rule::notice(
        "cabf-server-validity",
        "CA/Browser Forum, TLS Baseline Requirements section 6.3.2",
        "a public server's certificate is valid for no longer than browsers allow",
        CERTIFICATES,
        server_validity,
    ),
    Rule::notice(
        "rfc8446-digital-signature",
        "RFC 8446 section 4.4.2.2",
        "if a certificate for TLS has keyUsage, digitalSignature is in it",
        CERTIFICATES,
        |certificate| {
            let usages = certificate.key_usage()?;
            // Another rule is about keys that can't sign.
            let can_sign = key_of(certificate, Family::MlKem).is_none();
            (is_for_tls(certificate) && can_sign && !usages.contains(KeyUsages::DigitalSignature))
                .then(|| "is for TLS, and its keyUsage lacks digitalSignature".into())
        },
    ),
    Rule::notice(
        "rfc9935-tls",
        "RFC 9935 section 1.1",
        "a key of ML-KEM is not for authentication in TLS",
        CERTIFICATES,
        |certificate| {
            let kem = key_of(certificate, Family::MlKem)?;
            is_for_tls(certificate)
                .then(|| format!("is for TLS, where a key of {kem} can't authenticate anybody"))
        },
    ),
];

fn is_for_servers(certificate: &Document<'_>) -> bool {
    certificate.is_for(ID_KP_SERVER_AUTH) && !certificate.is_ca()
}

fn is_for_tls(certificate: &Document<'_>) -> bool {
    is_for_servers(certificate) || certificate.is_for(ID_KP_CLIENT_AUTH) && !certificate.is_ca()
}

/// For how many days browsers let certificates of public CAs be valid: each limit is for certificates that
/// start at this time, in seconds after 1970, or later (ballot SC-081).
const LIMITS: [(i64, i64); 4] = [
    // 2029-03-15, 2027-03-15 and 2026-03-15
    (1_868_227_200, 47),
    (1_805_068_800, 100),
    (1_773_532_800, 200),
    (i64::MIN, 398),
];

fn server_validity(certificate: &Document<'_>) -> Option<String> {
    let (start, end) = validity(certificate)?;
    let mut limits = LIMITS.iter();
    let (_, limit) = limits.find(|(from, _)| start.seconds >= *from)?;
    let days = start.days_to(end);
    (is_for_servers(certificate) && days > *limit).then(|| {
        format!(
            "is a server's and valid for {days} days; browsers refuse more than {limit}, if its root \
             is a public one"
        )
    })
}
