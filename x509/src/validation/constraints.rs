//! Name constraints of the kinds that webpki doesn't process, and all constraints where webpki would count CAs that
//! RFC 5280 exempts.

use core::cell::Cell;

use super::error::ValidationError;
use crate::certificate::name_constraints::Presented;
use crate::certificate::{Certificate, CertificateError};

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

/// Which names webpki has checked already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Left {
    /// DNS names, addresses, and those of kinds that nobody processes.
    ByWebpki,
    /// None.
    All,
}

/// Checks the names of each certificate on a path that are left against the constraints of all CAs above it (RFC 5280
/// sections 4.2.1.10 and 6.1.3).
///
/// Only in a search that leaves all to be checked are the certificates exempt that CAs issued to themselves, as
/// RFC 5280 has it: webpki has checked them in any other.
pub(crate) fn check(
    path: &[Certificate],
    left: Left,
    budget: &Budget,
) -> Result<(), ValidationError> {
    for (index, ca) in path.iter().enumerate().skip(1) {
        let constraints = ca.name_constraints();
        let constraints = constraints.map_err(|_| ValidationError::NameConstraintViolation)?;
        // To read names for no subtrees would take time that nothing counts.
        let Some(constraints) = constraints.filter(|constraints| !constraints.is_empty()) else {
            continue;
        };
        if !constraints.has_only_networks() {
            return Err(ValidationError::NoNetwork {
                subject: Some(ca.describe_subject()),
            });
        }
        for (below, certificate) in path[..index].iter().enumerate() {
            if below > 0 && left == Left::All && certificate.is_self_issued() {
                continue;
            }
            let names = certificate
                .general_names()
                .map_err(CertificateError::from)?;
            let names = match left {
                Left::ByWebpki => Presented::left_by_webpki(certificate.subject(), &names),
                Left::All => Presented::all(certificate.subject(), &names),
            };
            budget.take(constraints.comparisons(&names))?;
            if !names.iter().all(|name| constraints.permits(name)) {
                return Err(ValidationError::NameConstraintViolation);
            }
        }
    }
    Ok(())
}

/// Checks the path length of each CA on a path, the root's included: how many CAs are below it that are not
/// self-issued (RFC 5280 sections 4.2.1.9 and 6.1.4, steps (l) and (m)).
pub(crate) fn check_lengths(path: &[Certificate]) -> Result<(), ValidationError> {
    for (index, ca) in path.iter().enumerate().skip(1) {
        let Some(limit) = ca.path_len().map(usize::from) else {
            continue;
        };
        let below = &path[1..index];
        // To compare names takes longer than to count.
        let counts = || below.iter().filter(|ca| !ca.is_self_issued()).count();
        if below.len() > limit && counts() > limit {
            return Err(ValidationError::PathLengthExceeded {
                subject: Some(ca.describe_subject()),
            });
        }
    }
    Ok(())
}
