use core::net::{Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use pq_x509::{Ca, CertificateBuilder};

use crate::policy::Network;

/// What a new CA is to be.
#[derive(Clone, Debug)]
pub struct Plan<K> {
    /// The CA's name, such as `Example CA`.
    pub name: String,
    /// The root's key.
    pub root: KeyPlan<K>,
    /// The key that issues, below the root. Without it the root issues.
    pub issuing: Option<KeyPlan<K>>,
    /// What names the CA is for, by the constraints in its certificates.
    pub constraints: Constraints,
    /// The policy's text.
    pub policy: String,
}

/// A key of a CA.
#[derive(Clone, Debug)]
pub struct KeyPlan<K> {
    /// The key itself, which the folder gets.
    pub key: K,
    /// How long its certificate is valid.
    pub validity: Duration,
}

/// The names that a CA's certificate permits it (RFC 5280 section 4.2.1.10), whatever its policy says.
/// With none of both kinds, it permits all. With one kind, it permits nothing of the other. E-mail
/// addresses and URIs are for the policy to permit.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Constraints {
    /// DNS names that are one of these or below it.
    pub domains: Vec<String>,
    /// Addresses of these networks.
    pub networks: Vec<Network>,
}

impl Constraints {
    pub(super) fn apply(&self, mut builder: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        for domain in &self.domains {
            builder = builder.permit_dns(domain);
        }
        for network in &self.networks {
            builder = builder.permit_ip(network.address(), network.prefix_len());
        }
        match (self.domains.is_empty(), self.networks.is_empty()) {
            (false, true) => builder
                .exclude_ip(Ipv4Addr::UNSPECIFIED.into(), 0)
                .exclude_ip(Ipv6Addr::UNSPECIFIED.into(), 0),
            // a name that is nobody's (RFC 6761 section 6.4)
            (true, false) => builder.permit_dns("none.invalid"),
            _ => builder,
        }
    }
}
