//! Which certificates require an OCSP response in handshakes.

use pq_x509::certificate::Certificate;
use pq_x509::x509_cert::der::Decode;
use pq_x509::x509_cert::spki::ObjectIdentifier;

/// Whether a certificate may be sent only together with an OCSP response ("must-staple"): it has the
/// TLS feature `status_request` (RFC 7633). A malformed list of features counts as if it had it.
pub(crate) fn must_staple(certificate: &Certificate) -> bool {
    let extensions = certificate.parsed().tbs_certificate().extensions();
    let mut extensions = extensions.into_iter().flatten();
    let feature = extensions.find(|extension| extension.extn_id == TLS_FEATURE);
    feature.is_some_and(|feature| {
        let features = Vec::<u16>::from_der(feature.extn_value.as_bytes());
        features.map_or(true, |features| features.contains(&STATUS_REQUEST))
    })
}

/// id-pe-tlsfeature.
const TLS_FEATURE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.24");

/// The number of the TLS extension.
const STATUS_REQUEST: u16 = 5;
