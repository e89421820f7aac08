use pq_x509::pki_types::DnsName;
use pq_x509::{AlternativeName, IssueError, NameError};

use crate::failure::Failure;

/// The names in lower case, each once, if all of them can be in a certificate.
pub(super) fn distinct(names: &[AlternativeName]) -> Result<Vec<AlternativeName>, Failure> {
    let mut distinct = Vec::new();
    for name in names {
        let name = match name {
            AlternativeName::Ip(address) => AlternativeName::Ip(*address),
            // A name of another kind is refused as a DNS name.
            other => AlternativeName::Dns(dns_name(&other.to_string())?),
        };
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    Ok(distinct)
}

/// Refuses what pq-x509 would refuse, before anything is made.
fn dns_name(name: &str) -> Result<String, Failure> {
    let bare = name.strip_prefix("*.").unwrap_or(name);
    match DnsName::try_from(bare) {
        Ok(_) if !bare.ends_with('.') => Ok(name.to_ascii_lowercase()),
        _ => Err(IssueError::from(NameError::InvalidDnsName(name.into())).into()),
    }
}
