//! Makes ledger entries for certificates that an older backup of the ledger lacks. All that an entry says, such as the
//! profile, is read from the certificate itself.

use pq_x509::certificate::Certificate;
use pq_x509::keys::KeyError;
use pq_x509::pki_types::CertificateDer;
use pq_x509::x509_cert::der::oid::db::rfc5280::{
    ID_KP_CLIENT_AUTH, ID_KP_OCSP_SIGNING, ID_KP_SERVER_AUTH,
};
use pq_x509::x509_cert::ext::pkix::ExtendedKeyUsage;

use super::public_key;
use crate::ledger::{InvalidSerialNumber, Issued, KeyHash, NewEntry, SerialNumber};
use crate::policy::{KeyAlgorithm, Profile};

/// The entry of a certificate that the key with this name issued earlier.
/// Who ordered it when is known no more: `by` says who has it recorded now, and its time is that from which it is
/// valid. The certificate of a CA has the profile `of_cas`: only who knows the CA's keys can tell its own from others.
pub(crate) fn adopted(
    certificate: &Certificate,
    (issuer, of_cas): (&str, &str),
    by: &str,
) -> Result<NewEntry<'static>, NotAdopted> {
    let serial_number = SerialNumber::of(certificate)?;
    let key = public_key(certificate)?;
    let algorithm = KeyAlgorithm::of(&key)?;
    let names = certificate.alternative_names();
    let issued = Issued {
        serial_number,
        issuer: issuer.into(),
        subject: certificate.describe_subject(),
        names: names.map(|name| name.to_string()).collect(),
        not_before: certificate.not_before(),
        not_after: certificate.not_after(),
        profile: match certificate.is_ca() {
            true => of_cas.into(),
            false => profile_of(certificate).into(),
        },
        key_algorithm: algorithm.map_or("unknown", KeyAlgorithm::name).into(),
        key: KeyHash::of(&key)?,
        halves: KeyHash::halves_of(&key)?,
        by: by.into(),
        at: certificate.not_before(),
        request: None,
        policy: None,
        evidence: None,
    };
    Ok(NewEntry {
        issued,
        certificate: CertificateDer::clone(certificate.der()),
    })
}

/// Why there is no entry.
pub(crate) enum NotAdopted {
    Key(KeyError),
    /// No ledger takes its number.
    Number(InvalidSerialNumber),
}

impl From<KeyError> for NotAdopted {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<InvalidSerialNumber> for NotAdopted {
    fn from(error: InvalidSerialNumber) -> Self {
        Self::Number(error)
    }
}

/// Whether an entry was [`adopted`]: what is issued is valid from before that time, by an hour for a CA's key.
pub(crate) fn is_adopted(issued: &Issued) -> bool {
    issued.at == issued.not_before
}

/// The profile by which the policy permitted that of an end entity. One that is not told has a name that no policy has, so that nothing is
/// renewed for more purposes than it had.
fn profile_of(certificate: &Certificate) -> &'static str {
    let usage = certificate.parsed().tbs_certificate().get_extension();
    let usage: Option<(bool, ExtendedKeyUsage)> = match usage {
        Ok(usage) => usage,
        Err(_) => return UNKNOWN,
    };
    let purposes = usage.map(|(_, usage)| usage.0);
    let profile = match purposes.as_deref() {
        None => Profile::Any,
        Some([ID_KP_SERVER_AUTH]) => Profile::Server,
        Some([ID_KP_CLIENT_AUTH]) => Profile::Client,
        Some([ID_KP_SERVER_AUTH, ID_KP_CLIENT_AUTH] | [ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH]) => {
            Profile::ServerAndClient
        }
        Some([ID_KP_OCSP_SIGNING]) => Profile::OcspResponder,
        Some(_) => return UNKNOWN,
    };
    profile.name()
}

const UNKNOWN: &str = "unknown";
