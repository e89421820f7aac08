//! When to renew a certificate: as its CA says (RFC 9773), or after two thirds of its time.

use pq_x509::certificate::Certificate;
use sha2::{Digest, Sha256};

use crate::objects::{CertificateId, Directory, RenewalInfo, Time, Window};

/// Where the CA says when to renew a certificate, if it does.
pub fn url(directory: &Directory, certificate: &Certificate) -> Option<String> {
    let base = directory.renewal_info.as_deref()?.trim_end_matches('/');
    let id = CertificateId::of(certificate)?;
    Some(format!("{base}/{id}"))
}

/// When to renew a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Moment {
    /// The time.
    pub at: Time,
    /// Who says so.
    pub by: By,
}

/// Who says when to renew a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum By {
    /// The CA, perhaps with a page that says why.
    Ca(Option<String>),
    /// Two thirds of the certificate's time.
    Lifetime,
}

/// When to renew a certificate, by what its CA says or, if it says nothing that can be used, by its time.
///
/// It is a random time in the window (RFC 9773, section 4.2), and the same one however often this is asked: the certificate
/// decides it.
pub fn moment(certificate: &Certificate, info: Option<&RenewalInfo>) -> Moment {
    match info.and_then(|info| Some((info, in_window(info.suggested_window, certificate)?))) {
        Some((info, at)) => Moment {
            at,
            by: By::Ca(info.explanation_url.clone()),
        },
        None => Moment {
            at: by_lifetime(certificate),
            by: By::Lifetime,
        },
    }
}

/// A window that ends before it begins is none.
fn in_window(window: Window, certificate: &Certificate) -> Option<Time> {
    let len = window.start.until(window.end);
    if len.is_zero() {
        return None;
    }
    let digest = Sha256::digest(certificate.der());
    let drawn = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    Some(
        window
            .start
            .after(len.mul_f64(f64::from(drawn) / f64::from(u32::MAX))),
    )
}

fn by_lifetime(certificate: &Certificate) -> Time {
    let begin = Time::from(certificate.not_before());
    let whole = begin.until(certificate.not_after().into());
    begin.after(whole * 2 / 3)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::time::UNIX_EPOCH;

    use pq_keys::{SignatureAlgorithm, SigningKey};
    use pq_x509::certificate::Validity;
    use pq_x509::issuing::{CertificateBuilder, Issuer};

    use super::*;

    fn certificates() -> Vec<Certificate> {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), &key).unwrap();
        let validity = Validity::starting(
            UNIX_EPOCH + Duration::from_secs(1_796_040_000),
            Duration::from_secs(90 * 86400),
        );
        let make = |number: u8| {
            let name = format!("{number}.example.org");
            let builder = CertificateBuilder::server()
                .dns_name(name)
                .validity(validity);
            root.issue(builder, &key).unwrap()
        };
        (0..50).map(make).collect()
    }

    #[test]
    fn times_are_spread_over_the_window_and_stay() {
        let (start, end) = (
            Time::from_secs(1_800_000_000),
            Time::from_secs(1_800_100_000),
        );
        let info = |start, end| RenewalInfo {
            suggested_window: Window { start, end },
            explanation_url: None,
        };
        let mut early = 0;
        for certificate in certificates() {
            let found = moment(&certificate, Some(&info(start, end)));
            assert_eq!(found, moment(&certificate, Some(&info(start, end))));
            assert_eq!(found.by, By::Ca(None));
            assert!(start <= found.at && found.at <= end);
            early += usize::from(found.at < Time::from_secs(1_800_050_000));
            // a window that is none
            for info in [None, Some(info(end, start)), Some(info(start, start))] {
                let found = moment(&certificate, info.as_ref());
                assert_eq!(found.by, By::Lifetime);
                let begin = Time::from(certificate.not_before());
                let whole = begin.until(certificate.not_after().into());
                assert_eq!(begin.until(found.at), whole * 2 / 3);
            }
        }
        assert!((5..=45).contains(&early), "{early}");
    }

    #[test]
    fn the_url_names_issuer_and_serial_number() {
        let certificate = &certificates()[0];
        let id = CertificateId::of(certificate).unwrap();
        let mut directory = Directory {
            new_nonce: String::new(),
            new_account: String::new(),
            new_order: String::new(),
            new_authz: None,
            revoke_cert: String::new(),
            key_change: String::new(),
            renewal_info: None,
            meta: None,
        };
        assert_eq!(url(&directory, certificate), None);
        for base in ["https://ca.example/ari", "https://ca.example/ari/"] {
            directory.renewal_info = Some(base.into());
            let expected = format!("https://ca.example/ari/{id}");
            assert_eq!(url(&directory, certificate), Some(expected));
        }
    }
}
