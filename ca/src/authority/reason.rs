//! Revocation reasons as text: their names in RFC 5280 section 5.3.1, which are read in any case and with or without
//! hyphens.

use pq_x509::revocation::{CrlReason, reason_name};

/// The reasons for a revocation (RFC 5280 section 5.3.1). `removeFromCRL` is not one: use
/// [`Authority::reinstate`](crate::authority::Authority::reinstate).
const REASONS: [CrlReason; 9] = [
    CrlReason::Unspecified,
    CrlReason::KeyCompromise,
    CrlReason::CaCompromise,
    CrlReason::AffiliationChanged,
    CrlReason::Superseded,
    CrlReason::CessationOfOperation,
    CrlReason::CertificateHold,
    CrlReason::PrivilegeWithdrawn,
    CrlReason::AaCompromise,
];

/// The names of all reasons for which a certificate can be revoked, as [`reason_name`] has them.
pub fn reason_names() -> [&'static str; 9] {
    REASONS.map(reason_name)
}

/// The reason with this name. Case and hyphens make no difference, so `key-compromise` works like the
/// `keyCompromise` of [`reason_name`].
///
/// # Errors
///
/// [`UnknownReason`], which lists the names.
pub fn reason_from_name(name: &str) -> Result<CrlReason, UnknownReason> {
    let letters = name.replace('-', "");
    let mut reasons = REASONS.into_iter();
    let named = reasons.find(|reason| reason_name(*reason).eq_ignore_ascii_case(&letters));
    named.ok_or_else(|| UnknownReason(name.into()))
}

/// The name is not a reason for a revocation.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{_0:?} is not a reason to revoke a certificate; write one of {}",
    reason_names().join(", ")
)]
pub struct UnknownReason(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_reasons() {
        for reason in REASONS {
            let name = reason_name(reason);
            assert_eq!(reason_from_name(name), Ok(reason));
            assert_eq!(reason_from_name(&name.to_uppercase()), Ok(reason));
        }
        assert_eq!(
            reason_from_name("key-compromise"),
            Ok(CrlReason::KeyCompromise)
        );
        let error = reason_from_name("remove-from-crl").unwrap_err().to_string();
        assert!(
            error.starts_with("\"remove-from-crl\" is not a reason"),
            "{error}"
        );
        assert!(error.contains("keyCompromise"), "{error}");
    }
}
