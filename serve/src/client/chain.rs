//! A certificate as the report shows it: names, algorithms, end and length.

use std::fmt;

use const_oid::ObjectIdentifier;
use const_oid::db::DB;
use pq_x509::certificate::Certificate;
use pq_x509::keys::Algorithm;
use serde::Serialize;

/// What the report says about a certificate.
#[derive(Debug, Serialize)]
pub struct CertificateSummary {
    /// Whom it is about.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// The DNS names and addresses that it is for.
    pub names: Vec<String>,
    /// The algorithm of its key.
    pub key_algorithm: String,
    /// The algorithm that its issuer signed it with.
    pub signature_algorithm: String,
    /// The last moment of its validity, in UTC.
    pub not_after: String,
    /// The length of its DER, in bytes.
    pub size: usize,
}

impl From<&Certificate> for CertificateSummary {
    fn from(certificate: &Certificate) -> Self {
        let parsed = certificate.parsed();
        let tbs = parsed.tbs_certificate();
        let addresses = certificate.ip_addresses().iter().map(ToString::to_string);
        Self {
            subject: certificate.describe_subject(),
            issuer: certificate.describe_issuer(),
            names: certificate
                .dns_names()
                .iter()
                .cloned()
                .chain(addresses)
                .collect(),
            key_algorithm: algorithm_name(tbs.subject_public_key_info().algorithm.oid),
            signature_algorithm: algorithm_name(parsed.signature_algorithm().oid),
            not_after: tbs.validity().not_after.to_string(),
            size: certificate.der().len(),
        }
    }
}

impl fmt::Display for CertificateSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.subject.as_str() {
            "" => "(no subject)",
            subject => subject,
        })
    }
}

/// The name of an algorithm, or its object identifier if no name is known.
fn algorithm_name(oid: ObjectIdentifier) -> String {
    match Algorithm::from_oid(oid) {
        Some(algorithm) => algorithm.to_string(),
        None => DB
            .by_oid(&oid)
            .map_or_else(|| oid.to_string(), str::to_owned),
    }
}
