//! Name constraints of the kinds that webpki doesn't process.

use core::cell::Cell;

use super::error::ValidationError;
use crate::certificate::Certificate;
use crate::certificate::name_constraints::Presented;

/// How many comparisons one validation may make on all its paths, of names and of attributes: as many as in webpki.
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

/// Checks the e-mail addresses, URIs and directory names of each certificate on a path against the
/// constraints of all CAs above it (RFC 5280 sections 4.2.1.10 and 6.1.3). webpki has checked all other
/// names.
///
/// Certificates that CAs issued to themselves are checked, too, as in webpki, though RFC 5280 exempts
/// them.
pub(crate) fn check(path: &[Certificate], budget: &Budget) -> Result<(), ValidationError> {
    let malformed = |_| ValidationError::NameConstraintViolation;
    for (index, ca) in path.iter().enumerate().skip(1) {
        let Some(constraints) = ca.name_constraints().map_err(malformed)? else {
            continue;
        };
        for certificate in &path[..index] {
            let names = certificate.general_names().map_err(malformed)?;
            let names = Presented::left_by_webpki(certificate.subject(), &names);
            budget.take(constraints.comparisons(&names))?;
            if !names.iter().all(|name| constraints.permits(name)) {
                return Err(ValidationError::NameConstraintViolation);
            }
        }
    }
    Ok(())
}
