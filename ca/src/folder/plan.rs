//! What a new CA is made from: its name, its keys and their validity, its policy, and the name constraints that go into
//! its certificates.

use core::net::{Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use pq_x509::issuing::{Ca, CertificateBuilder};

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
/// If both lists are empty, all names are permitted. If only one is empty, no names of its kind are permitted.
///
/// E-mail addresses and URIs are permitted if their host is one of the permitted names, and so are none without
/// domains. rustls's verifiers, which don't process these two kinds, accept no certificate with such a name then, even
/// if it is permitted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Constraints {
    /// The permitted domains: these DNS names and all names below them.
    pub domains: Vec<String>,
    /// The permitted networks: all addresses in them.
    pub networks: Vec<Network>,
    /// Leaves e-mail addresses and URIs, such as SPIFFE IDs, unconstrained: only the policy decides about them.
    pub only_hosts: bool,
}

impl Constraints {
    pub(super) fn apply(&self, mut builder: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        for domain in &self.domains {
            builder = builder.permit_dns(domain);
            if !self.only_hosts {
                // the host itself, and those below it
                let below = format!(".{domain}");
                builder = builder.permit_email(domain).permit_email(&below);
                builder = builder.permit_uri(domain).permit_uri(below);
            }
        }
        for network in &self.networks {
            builder = builder.permit_ip(network.address(), network.prefix_len());
        }
        match (self.domains.is_empty(), self.networks.is_empty()) {
            (false, true) => builder
                .exclude_ip(Ipv4Addr::UNSPECIFIED.into(), 0)
                .exclude_ip(Ipv6Addr::UNSPECIFIED.into(), 0),
            (true, false) if self.only_hosts => builder.permit_dns(NOBODY),
            (true, false) => builder
                .permit_dns(NOBODY)
                .permit_email(NOBODY)
                .permit_uri(NOBODY),
            _ => builder,
        }
    }
}

/// A name that nobody can own (RFC 6761 section 6.4).
const NOBODY: &str = "none.invalid";
