//! How long a search for a path can take, counted before webpki begins it: whoever sent the chain chose how many
//! certificates there are, and who names whom as its issuer.

use std::collections::HashMap;

use pki_types::CertificateDer;
use webpki::EndEntityCert;

use super::error::ValidationError;

/// How often a search may read a certificate that was sent. webpki reads all of them at each step, and
/// takes about a microsecond for one.
const MAX_READS: usize = 100_000;

/// How many CAs between an end entity and a root webpki allows.
const MAX_CAS: usize = 6;

/// Refuses certificates that could be put together in too many ways. Those that name each other as
/// issuers count, and no others.
pub(super) fn check(
    end_entity: &EndEntityCert<'_>,
    others: &[CertificateDer<'_>],
) -> Result<(), ValidationError> {
    // Even if all have one name, there are fewer than 2,000 ways.
    if others.len() <= MAX_CAS {
        return Ok(());
    }
    // webpki skips what it can't read.
    let others: Vec<_> = others
        .iter()
        .filter_map(|der| EndEntityCert::try_from(der).ok())
        .collect();
    let mut by_subject: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (place, certificate) in others.iter().enumerate() {
        by_subject
            .entry(certificate.subject())
            .or_default()
            .push(place);
    }
    let issuers = |certificate: &EndEntityCert<'_>| {
        let found = by_subject.get(certificate.issuer());
        found.map(Vec::as_slice).unwrap_or_default()
    };
    let mut search = Search {
        issuers: others.iter().map(issuers).collect(),
        path: Vec::with_capacity(MAX_CAS),
        reads: 0,
    };
    search.step(issuers(end_entity))
}

struct Search<'a> {
    /// For each certificate, the places of those with its issuer's name.
    issuers: Vec<&'a [usize]>,
    /// The places of the certificates that are on the path.
    path: Vec<usize>,
    reads: usize,
}

impl<'a> Search<'a> {
    fn step(&mut self, issuers: &'a [usize]) -> Result<(), ValidationError> {
        self.reads = self.reads.saturating_add(self.issuers.len());
        if self.reads > MAX_READS {
            return Err(ValidationError::TooManyPaths {
                certificates: self.issuers.len(),
            });
        }
        if self.path.len() == MAX_CAS {
            return Ok(());
        }
        for place in issuers {
            if !self.path.contains(place) {
                self.path.push(*place);
                self.step(self.issuers.get(*place).copied().unwrap_or_default())?;
                self.path.pop();
            }
        }
        Ok(())
    }
}
