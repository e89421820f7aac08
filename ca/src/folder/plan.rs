//! What a new CA is made from: its name, its keys and their validity, its policy, and the name constraints that go into
//! its certificates.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use pq_x509::issuing::{Ca, CertificateBuilder, IssueError};
use pq_x509::request::VerifiedRequest;
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;

use super::error::FolderError;
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
    /// The constraints that a request for a CA's certificate asks for: none if it asks for none.
    ///
    /// # Errors
    ///
    /// [`FolderError::RequestedConstraints`] if it asks for other ones than [`CertificateBuilder`] gets from these.
    pub fn requested(request: &VerifiedRequest) -> Result<Self, FolderError> {
        let asked = request.name_constraints().map_err(FolderError::Request)?;
        let Some(asked) = asked else {
            return Ok(Self::default());
        };
        let mut read = Self {
            only_hosts: true,
            ..Self::default()
        };
        for one in asked.permitted_subtrees.iter().flatten() {
            match &one.base {
                GeneralName::DnsName(name) if name.as_str() == NOBODY => {}
                GeneralName::DnsName(name) => read.domains.push(name.as_str().into()),
                GeneralName::IpAddress(bytes) => {
                    read.networks
                        .extend(Network::from_constraint(bytes.as_bytes()));
                }
                _ => read.only_hosts = false,
            }
        }
        match read.to_name_constraints()? == Some(asked) {
            true => Ok(read),
            false => Err(FolderError::RequestedConstraints(
                "they are not domains and networks alone, with what follows from these".into(),
            )),
        }
    }

    /// The extension that a CA's certificate has by them.
    pub(super) fn to_name_constraints(&self) -> Result<Option<NameConstraints>, FolderError> {
        let builder = self.apply(CertificateBuilder::ca(""));
        Ok(builder.name_constraints().map_err(IssueError::from)?)
    }

    /// Whether the constraints of a certificate permit no DNS names and addresses but those that these permit.
    pub(super) fn contain(&self, others: Option<&NameConstraints>) -> bool {
        if *self == Self::default() {
            return true;
        }
        let Some(others) = others else { return false };
        let permitted = || {
            others
                .permitted_subtrees
                .iter()
                .flatten()
                .map(|one| &one.base)
        };
        let excluded = || {
            others
                .excluded_subtrees
                .iter()
                .flatten()
                .map(|one| &one.base)
        };
        let mut names = permitted().filter_map(|base| match base {
            GeneralName::DnsName(name) => Some(name.as_str()),
            _ => None,
        });
        let mut networks = permitted().filter_map(|base| match base {
            GeneralName::IpAddress(bytes) => Some(bytes.as_bytes()),
            _ => None,
        });
        let is_within = |name: &str| {
            let name = name.to_ascii_lowercase();
            let above = |domain: &String| {
                let rest = name.strip_suffix(domain.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            name == NOBODY || self.domains.iter().any(above)
        };
        let is_network_within = |bytes: &[u8]| {
            let network = Network::from_constraint(bytes);
            network.is_some_and(|inner| self.networks.iter().any(|outer| outer.contains(&inner)))
        };
        let has_names = permitted().any(|base| matches!(base, GeneralName::DnsName(_)));
        let has_networks = permitted().any(|base| matches!(base, GeneralName::IpAddress(_)));
        let excludes = |all: &[u8]| {
            excluded()
                .any(|base| matches!(base, GeneralName::IpAddress(is) if is.as_bytes() == all))
        };
        has_names
            && names.all(is_within)
            && (has_networks || excludes(&[0; 8]) && excludes(&[0; 32]))
            && networks.all(is_network_within)
    }

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

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks = self.networks.iter().map(ToString::to_string);
        let all: Vec<_> = self.domains.iter().cloned().chain(networks).collect();
        f.write_str(&all.join(", "))
    }
}

/// A name that nobody can own (RFC 6761 section 6.4).
const NOBODY: &str = "none.invalid";
