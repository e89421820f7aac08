//! The names that roots for development can certify: local domains and private networks, or any. Here are the lists,
//! and the name constraints (RFC 5280 section 4.2.1.10) made of them.

use pq_ca::policy::Network;
use pq_x509::certificate::{AlternativeName, Name};
use pq_x509::issuing::{Ca, CertificateBuilder};
use serde::Serialize;

use crate::failure::Failure;

/// Which names a root can certify. The root's certificate says so, so each scope has its own roots.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scope {
    /// Names and addresses that mean nothing beyond this machine or its network.
    Local,
    Any,
}

/// Domains that, with all names below them, never lead to anybody else (RFC 6761, RFC 6762, RFC 8375, and
/// "internal" by ICANN's resolution of 2024).
const DOMAINS: [&str; 6] = [
    "localhost",
    "test",
    "local",
    "internal",
    "home.arpa",
    "example",
];

/// Loopback, private use (RFC 1918, RFC 4193) and link-local (RFC 3927, RFC 4291).
const NETWORKS: [&str; 8] = [
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "::1",
    "fc00::/7",
    "fe80::/10",
];

/// What permits no name of its kind.
const NOBODY: &str = "none.invalid";

impl Scope {
    pub(super) const ALL: [Self; 2] = [Self::Local, Self::Any];

    /// The name of the folder with its roots.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Any => "any-name",
        }
    }

    pub(super) fn names(self) -> &'static str {
        match self {
            Self::Local => "local names",
            Self::Any => "any name",
        }
    }

    /// Limits a root to it.
    pub(super) fn limit(self, root: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        match self {
            Self::Any => root,
            Self::Local => {
                let root = DOMAINS
                    .into_iter()
                    .fold(root, CertificateBuilder::permit_dns);
                let root = networks().fold(root, |root, network| {
                    root.permit_ip(network.address(), network.prefix_len())
                });
                // A name that nobody can own (RFC 6761 section 6.4): so no mailbox and no URI is permitted.
                root.permit_email(NOBODY).permit_uri(NOBODY)
            }
        }
    }

    /// Limits a root to certificates without a subject. Clients that take hosts' names from subjects too, such as
    /// curl and others with OpenSSL, compare them with no other limit if there is a wildcard or a single label. The
    /// empty name is at the beginning of all others.
    pub(super) fn limit_subjects(self, root: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        match self {
            Self::Any => root,
            Self::Local => root.exclude_directory(Name::default()),
        }
    }

    /// Refuses names that clients would refuse in a certificate of such a root.
    pub(super) fn check(self, names: &[AlternativeName]) -> Result<(), Failure> {
        match names.iter().find(|name| !self.includes(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::NotLocal {
                name: name.to_string(),
                local: format!("{} and private addresses", DOMAINS.join(", ")),
            }),
        }
    }

    fn includes(self, name: &AlternativeName) -> bool {
        match (self, name) {
            (Self::Any, _) => true,
            (Self::Local, AlternativeName::Ip(address)) => {
                networks().any(|network| network.includes(*address))
            }
            (Self::Local, AlternativeName::Dns(name)) => {
                let below = |domain| Some(name.strip_suffix(domain)?.ends_with('.'));
                let is_at_or_below = |domain| name == domain || below(domain) == Some(true);
                DOMAINS.into_iter().any(is_at_or_below)
            }
            (Self::Local, AlternativeName::Email(_) | AlternativeName::Uri(_)) => false,
        }
    }
}

fn networks() -> impl Iterator<Item = Network> {
    let read = |text: &str| text.parse().expect("it is a constant");
    NETWORKS.into_iter().map(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_is_what_leads_to_nobody_else() {
        let is_local = |name: &str| Scope::Local.includes(&name.parse().unwrap());
        for name in [
            "localhost",
            "app.localhost",
            "*.app.test",
            "printer.local",
            "a.b.internal",
            "nas.home.arpa",
            "shop.example",
            "127.0.0.1",
            "127.1.2.3",
            "10.9.8.7",
            "172.31.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "::1",
            "fd00::1",
            "fe80::1",
        ] {
            assert!(is_local(name), "{name}");
        }
        for name in [
            "example.com",
            "mylocalhost",
            "localhost.com",
            "contest",
            "arpa",
            "1.168.192.in-addr.arpa",
            "com",
            "*",
            "172.32.0.1",
            "192.0.2.1",
            "0.0.0.0",
            "::",
            "2001:db8::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(!is_local(name), "{name}");
            assert!(Scope::Any.includes(&name.parse().unwrap()));
        }
    }
}
