//! What a new CA is made from: its name, its keys and their validity, its policy, and the name constraints that go into
//! its certificates.

use core::net::{Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use pq_x509::{Ca, CertificateBuilder};

use crate::policy::Network;

/// The plan for a new CA.
#[derive(Clone, Debug)]
pub struct Plan<K> {
    /// The CA's name, such as `Example CA`.
    pub name: String,
    /// The root's key.
    pub root: KeyPlan<K>,
    /// The issuing key below the root. Without it, the root issues.
    pub issuing: Option<KeyPlan<K>>,
    /// The name constraints in the CA's certificates.
    pub constraints: Constraints,
    /// The policy's text.
    pub policy: String,
}

/// A key of a CA.
#[derive(Clone, Debug)]
pub struct KeyPlan<K> {
    /// The key itself, which is stored in the folder.
    pub key: K,
    /// How long its certificate is valid.
    pub validity: Duration,
}

/// The names that a CA's certificate permits (RFC 5280 section 4.2.1.10), whatever its policy says.
///
/// If both lists are empty, all names are permitted. If only one is empty, no names of its kind are permitted. E-mail
/// addresses and URIs are not constrained: only the policy decides about them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Constraints {
    /// The permitted domains: these DNS names and all names below them.
    pub domains: Vec<String>,
    /// The permitted networks: all addresses in them.
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
            // A name that nobody can own (RFC 6761 section 6.4).
            (true, false) => builder.permit_dns("none.invalid"),
            _ => builder,
        }
    }
}
