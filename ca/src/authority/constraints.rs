use core::net::IpAddr;

use pq_x509::Certificate;
use pq_x509::x509_cert::der::{self, asn1::OctetString};
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;

use crate::policy::{Wanted, is_at_or_below};

/// A name that a CA's own certificate doesn't permit it (RFC 5280 section 4.2.1.10): nobody would take a
/// certificate for it.
///
/// # Errors
///
/// If the constraints can't be read.
pub(super) fn name_outside(ca: &Certificate, wanted: &Wanted) -> der::Result<Option<String>> {
    let extension = ca.parsed().tbs_certificate().get_extension();
    let Some((_, constraints)) = extension? as Option<(bool, NameConstraints)> else {
        return Ok(None);
    };
    let permitted = constraints.permitted_subtrees.unwrap_or_default();
    let excluded = constraints.excluded_subtrees.unwrap_or_default();
    let is_outside = |name: &Asked<'_>| {
        // Those of one kind don't bind names of another.
        let mut of_its_kind = permitted
            .iter()
            .filter_map(|tree| name.is_within(tree))
            .peekable();
        let is_permitted = of_its_kind.peek().is_none() || of_its_kind.any(|within| within);
        let mut excluding = excluded.iter().filter_map(|tree| name.is_within(tree));
        !is_permitted || excluding.any(|within| within)
    };
    let dns = wanted.dns_names.iter().map(|name| Asked::Dns(name));
    let ip = wanted.ip_addresses.iter().copied().map(Asked::Ip);
    let outside = dns.chain(ip).find(is_outside);
    Ok(outside.map(|name| match name {
        Asked::Dns(name) => name.into(),
        Asked::Ip(address) => address.to_string(),
    }))
}

/// A name that a certificate is for.
enum Asked<'a> {
    Dns(&'a str),
    Ip(IpAddr),
}

impl Asked<'_> {
    /// Whether a subtree has the name in it; `None` if it is of names of another kind.
    fn is_within(&self, subtree: &GeneralSubtree) -> Option<bool> {
        match (self, &subtree.base) {
            (Self::Dns(name), GeneralName::DnsName(domain)) => {
                Some(is_below(name, domain.as_str()))
            }
            (Self::Ip(address), GeneralName::IpAddress(network)) => {
                Some(is_part(*address, network))
            }
            _ => None,
        }
    }
}

/// Whether a name is a domain or below it, in letters of either case. All names are below the empty one.
fn is_below(name: &str, domain: &str) -> bool {
    // The dot that some write in front means nothing in these constraints.
    let domain = domain.strip_prefix('.').unwrap_or(domain);
    is_at_or_below(&name.to_ascii_lowercase(), &domain.to_ascii_lowercase())
}

/// Whether an address is one of a network, which is an address and a mask of the same length.
fn is_part(address: IpAddr, network: &OctetString) -> bool {
    let octets = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let network = network.as_bytes();
    if network.len() != 2 * octets.len() {
        // the other version of IP
        return false;
    }
    let (base, mask) = network.split_at(octets.len());
    let mut bits = base.iter().zip(&octets).zip(mask);
    bits.all(|((base, octet), mask)| (base ^ octet) & mask == 0)
}

#[cfg(test)]
mod tests {
    use super::{OctetString, is_below, is_part};

    #[test]
    fn domains_have_what_ends_with_their_labels() {
        for (name, domain, expected) in [
            ("example.org", "example.org", true),
            ("www.example.org", "example.org", true),
            ("WWW.Example.ORG", "example.org", true),
            ("*.example.org", "example.org", true),
            ("www.example.org", ".example.org", true),
            ("www.example.org", "", true),
            ("badexample.org", "example.org", false),
            ("org", "example.org", false),
            ("example.org.net", "example.org", false),
        ] {
            assert_eq!(is_below(name, domain), expected, "{name} in {domain:?}");
        }
    }

    #[test]
    fn networks_have_addresses_of_their_version() {
        let v4 = OctetString::new([10, 1, 0, 0, 255, 255, 0, 0]).unwrap();
        for (address, expected) in [
            ("10.1.2.3", true),
            ("10.2.2.3", false),
            ("::ffff:10.1.2.3", false),
        ] {
            assert_eq!(
                is_part(address.parse().unwrap(), &v4),
                expected,
                "{address}"
            );
        }
    }
}
