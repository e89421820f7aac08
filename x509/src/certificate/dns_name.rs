//! The rule for DNS names, which alternative names, e-mail addresses, URIs and name constraints have in common.

use pki_types::DnsName;

/// Whether this is a DNS name as certificates have it, without a wildcard: RFC 1034 section 3.5 and
/// RFC 1123 section 2.1, where underscores count as letters.
pub(crate) fn is_dns_name(name: &str) -> bool {
    !name.ends_with('.') && DnsName::try_from(name).is_ok()
}
