//! Revocation reasons as text: their names in RFC 5280 section 5.3.1, which are read in any case and with or without
//! hyphens.

use pq_x509::CrlReason;

/// The reasons for a revocation, by their names in RFC 5280 section 5.3.1. `removeFromCRL` is not a reason: use
/// [`Authority::reinstate`](crate::Authority::reinstate).
const NAMES: [(&str, CrlReason); 9] = [
    ("unspecified", CrlReason::Unspecified),
    ("keyCompromise", CrlReason::KeyCompromise),
    ("cACompromise", CrlReason::CaCompromise),
    ("affiliationChanged", CrlReason::AffiliationChanged),
    ("superseded", CrlReason::Superseded),
    ("cessationOfOperation", CrlReason::CessationOfOperation),
    ("certificateHold", CrlReason::CertificateHold),
    ("privilegeWithdrawn", CrlReason::PrivilegeWithdrawn),
    ("aACompromise", CrlReason::AaCompromise),
];

/// The name of a reason in RFC 5280 section 5.3.1, such as `keyCompromise`.
pub fn reason_name(reason: CrlReason) -> &'static str {
    let named = NAMES.iter().find(|(_, named)| *named == reason);
    named.map_or("removeFromCRL", |(name, _)| name)
}

/// The reason with this name. Case and hyphens make no difference, so `key-compromise` works like the
/// `keyCompromise` of [`reason_name`].
///
/// # Errors
///
/// [`UnknownReason`], which lists the names.
pub fn reason_from_name(name: &str) -> Result<CrlReason, UnknownReason> {
    let letters = name.replace('-', "");
    let named = NAMES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(&letters));
    named
        .map(|(_, reason)| *reason)
        .ok_or_else(|| UnknownReason(name.into()))
}

/// The name is not a reason for a revocation.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{_0:?} is not a reason to revoke a certificate; write one of {}",
    names()
)]
pub struct UnknownReason(String);

fn names() -> String {
    NAMES.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_reasons() {
        for (name, reason) in NAMES {
            assert_eq!(reason_name(reason), name);
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
