//! The names for a development certificate, checked before anything is made: DNS names and IP addresses only.

use pq_x509::certificate::AlternativeName;
use pq_x509::issuing::IssueError;

use crate::failure::Failure;

/// The names in lower case, each once, if all of them can be in a certificate.
pub(super) fn distinct(names: &[AlternativeName]) -> Result<Vec<AlternativeName>, Failure> {
    let mut distinct = Vec::new();
    for name in names {
        let name = match name {
            AlternativeName::Ip(address) => AlternativeName::Ip(*address),
            // A name of another kind is refused as a DNS name.
            other => AlternativeName::Dns(other.to_string().to_ascii_lowercase()),
        };
        // Before anything is made.
        name.check().map_err(IssueError::from)?;
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct)
}
