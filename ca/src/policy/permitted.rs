//! Permitted certificates.
//!
//! This room uses [`values`](super::values).

use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, EndEntity};
use pq_x509::pki_types::UnixTime;

use super::values::{ListUrl, Profile};
use crate::time::system_time;

/// A certificate that a policy permits.
#[derive(Clone, Debug)]
pub struct Permitted {
    certificate: CertificateBuilder<EndEntity>,
    profile: Profile,
    not_before: UnixTime,
    not_after: UnixTime,
}

impl Permitted {
    /// The times have to be within the CA's validity, so they are times that certificates can express.
    pub(crate) fn new(
        names: CertificateBuilder<EndEntity>,
        profile: Profile,
        (not_before, not_after): (UnixTime, UnixTime),
        list_urls: &[ListUrl],
        ocsp_urls: &[ListUrl],
    ) -> Self {
        let mut certificate = names.validity(Validity::new(
            system_time(not_before),
            system_time(not_after),
        ));
        if profile.is_for_servers() {
            certificate = certificate.server_auth();
        }
        if profile.is_for_clients() {
            certificate = certificate.client_auth();
        }
        for url in list_urls {
            certificate = certificate.revocation_list_url(url.as_str());
        }
        match profile {
            // A responder should not be asked about itself.
            Profile::OcspResponder => certificate = certificate.ocsp_signing(),
            _ => {
                for url in ocsp_urls {
                    certificate = certificate.ocsp_url(url.as_str());
                }
            }
        }
        Self {
            certificate,
            profile,
            not_before,
            not_after,
        }
    }

    /// The builder of the certificate, with the wanted names, the profile's purposes, the validity, and the
    /// URLs of the revocation list and the OCSP responder. Issue it for the wanted key.
    ///
    /// The key usage is the builder's default: keyEncipherment for ML-KEM (RFC 9935),
    /// digitalSignature for any other key.
    pub fn certificate(&self) -> CertificateBuilder<EndEntity> {
        self.certificate.clone()
    }

    /// Takes the builder of the certificate out.
    pub fn into_certificate(self) -> CertificateBuilder<EndEntity> {
        self.certificate
    }

    /// The profile: what the certificate is for.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The first second in which the certificate will be valid.
    pub fn not_before(&self) -> UnixTime {
        self.not_before
    }

    /// The last second in which the certificate will be valid.
    pub fn not_after(&self) -> UnixTime {
        self.not_after
    }
}
