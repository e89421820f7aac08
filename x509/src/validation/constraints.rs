//! Name constraints of the kinds that webpki doesn't process.

use core::cell::Cell;

use super::error::ValidationError;
use crate::certificate::Certificate;
use crate::certificate::name_constraints::Presented;

/// How much one validation may compare, which may look at many paths: as much as in webpki.
#[derive(Debug)]
pub(crate) struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(250_000))
    }
}

impl Budget {
    fn take(&self, comparisons: usize) -> Result<(), ValidationError> {
        let left = self.0.get().checked_sub(comparisons);
        let exceeded = webpki::Error::MaximumNameConstraintComparisonsExceeded;
        self.0.set(left.ok_or(exceeded)?);
        Ok(())
    }
}

/// Holds the names of each certificate on a path against the constraints of all CAs above it: e-mail
/// addresses, URIs and directory names (RFC 5280 sections 4.2.1.10 and 6.1.3). webpki has done so with
/// all others.
///
/// CAs that issued a certificate to themselves are held to their own constraints, as webpki does, though
/// RFC 5280 lets these be.
pub(crate) fn check(path: &[Certificate], budget: &Budget) -> Result<(), ValidationError> {
    let malformed = |_| ValidationError::NameConstraintViolation;
    for (index, ca) in path.iter().enumerate().skip(1) {
        let Some(constraints) = ca.name_constraints().map_err(malformed)? else {
            continue;
        };
        for certificate in &path[..index] {
            let names = certificate.general_names().map_err(malformed)?;
            let names = Presented::left_by_webpki(certificate.subject(), &names);
            budget.take(names.len().saturating_mul(constraints.len()))?;
            if !names.iter().all(|name| constraints.permits(name)) {
                return Err(ValidationError::NameConstraintViolation);
            }
        }
    }
    Ok(())
}
