use pq_x509::pki_types::DnsName;
use pq_x509::{AlternativeName, IssueError, NameError};

use crate::failure::Failure;

/// The names in small letters, each once, if all of them can be in a certificate.
pub(super) fn distinct(names: &[AlternativeName]) -> Result<Vec<AlternativeName>, Failure> {
    let mut distinct = Vec::new();
    for name in names {
        let name = match name {
            AlternativeName::Ip(address) => AlternativeName::Ip(*address),
            // What is of another kind is no DNS name.
            other => AlternativeName::Dns(dns_name(&other.to_string())?),
        };
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct)
}

/// What pq-x509 would refuse is refused before anything is made.
fn dns_name(name: &str) -> Result<String, Failure> {
    let bare = name.strip_prefix("*.").unwrap_or(name);
    match DnsName::try_from(bare) {
        Ok(_) if !bare.ends_with('.') => Ok(name.to_ascii_lowercase()),
        _ => Err(IssueError::from(NameError::InvalidDnsName(name.into())).into()),
    }
}
