//! Whether clients accept what a CA issues: pq-x509's validator judges the CA's chain, up to a root.

use pq_x509::certificate::Certificate;
use pq_x509::pki_types::{SignatureVerificationAlgorithm, UnixTime};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};

/// The path from the first certificate, a CA's, over some of the others to the root, all included.
pub(super) fn path_of(
    chain: &[Certificate],
    root: &Certificate,
    algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    now: UnixTime,
) -> Result<Vec<Certificate>, ValidationError> {
    let validator = ChainValidator::new([root.clone()])?.with_algorithms(algorithms);
    // A CA may be for some purposes alone.
    let mut purposes = [Purpose::ServerAuth, Purpose::ClientAuth, Purpose::Documents].into_iter();
    let found = purposes.find_map(|purpose| match validator.validate_ca(chain, purpose, now) {
        Err(ValidationError::WrongPurpose) => None,
        judged => Some(judged),
    });
    let found = found.unwrap_or(Err(ValidationError::WrongPurpose))?;
    Ok(found.certificates().to_vec())
}

/// That clients accept it. Of keys that only the program can use, it is not known whether they signed it.
pub(super) fn check(
    chain: &[Certificate],
    root: &Certificate,
    algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    now: UnixTime,
) -> Result<(), ValidationError> {
    match path_of(chain, root, algorithms, now) {
        Ok(_) => Ok(()),
        Err(ValidationError::UnsupportedAlgorithm(_)) => {
            let mut all = chain.iter().chain([root]);
            all.try_for_each(|one| check_time(one, now))
        }
        Err(error) => Err(error),
    }
}

/// That a certificate is valid at this time.
pub(super) fn check_time(certificate: &Certificate, time: UnixTime) -> Result<(), ValidationError> {
    let subject = Some(certificate.describe_subject());
    let (not_before, not_after) = (certificate.not_before(), certificate.not_after());
    match (time < not_before, not_after < time) {
        (true, _) => Err(ValidationError::NotYetValid {
            subject,
            not_before,
            time,
        }),
        (_, true) => Err(ValidationError::Expired {
            subject,
            not_after,
            time,
        }),
        _ => Ok(()),
    }
}
