//! The profiles: for each, what is preferred and what is allowed at all, of groups, cipher suites and signature
//! schemes.

use core::fmt;
use core::str::FromStr;

use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, ProtocolVersion, SignatureScheme, SupportedCipherSuite};

use crate::algorithms::Group;

/// The groups, cipher suites and signatures to offer and accept, by purpose.
///
/// [`Builder::profile`](crate::Builder::profile) takes one. Groups that the base can't
/// supply are left out; a missing cipher suite or scheme is an error.
///
/// Groups, cipher suites and schemes that you name in the builder replace those of the profile. If you
/// name one that the profile excludes, building fails, so the profile's promise always holds.
///
/// Clients list what they offer in the order given. A rustls server follows the order of its
/// *client*: it takes the first group of the client's list that it has, with or without a share for it,
/// and the first scheme of its key that the client accepts.
///
/// # Results with each kind of peer
///
/// A test makes these tables. The errors are those of rustls;
/// [`Refusal`](crate::Refusal) turns them into a cause and a remedy.
///
///
/// `pq_ca::policy::Profile` is something else: what a certificate is for.
#[doc = include_str!("profile_table.md")]
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Profile {
    /// Hybrid first, classical allowed: for clients and servers on the open internet.
    ///
    /// * *Groups*: X25519MLKEM768, x25519, SecP256r1MLKEM768, SecP384r1MLKEM1024, MLKEM1024,
    ///   secp256r1, secp384r1, then all others that the base lists.
    /// * *Cipher suites*: the base's, TLS 1.2 included if the base has it.
    /// * *Signatures*: ML-DSA-65, ML-DSA-87, ML-DSA-44, then the base's.
    ///
    /// A client sends its X25519 share twice, in the hybrid and on its own, so a
    /// server without post-quantum groups costs no round trip.
    ///
    /// Servers follow the client's list. So with a server that has some of these groups only, the order
    /// decides the group and whether it costs a round trip:
    ///
    /// * x25519 comes before SecP256r1MLKEM768. With a server that has both of these but not
    ///   X25519MLKEM768, the client therefore negotiates x25519, which is not post-quantum.
    ///   In the other order every such server would ask for a retry, one round trip
    ///   more. Clients that prefer this name the groups in the other order
    ///   ([`Builder::groups`](crate::Builder::groups)), or take
    ///   [`RequirePq`](Self::RequirePq).
    /// * The client sends no share for the groups after x25519, so a server that has only these asks
    ///   for a retry, whichever it takes. The post-quantum ones come first.
    ///
    /// SecP384r1MLKEM1024 and MLKEM1024, the groups at level 5, are for peers that have no other
    /// post-quantum group, such as those of CNSA 2.0. They cost a client four bytes, and one round trip
    /// with a server that prefers them although it already has a share for another group.
    ///
    /// A server takes them if the client lists them before all other groups that the server has: at no
    /// cost if the client sent a share, otherwise for one round trip. rustls 0.23 follows the
    /// client's list alone, which is not always best. A client that lists them first, but sends a share
    /// for another post-quantum group, still pays the round trip. A client that lists
    /// secp384r1 before SecP384r1MLKEM1024 gets secp384r1, which is not post-quantum. A provider
    /// can't change that, but
    /// [`ServerHandshake::begin_with_alternatives`](crate::ServerHandshake::begin_with_alternatives)
    /// can: it saves the first of these clients the round trip, and gives the second
    /// SecP384r1MLKEM1024 if it lists no other post-quantum group. The crate `pq-serving` uses it.
    #[default]
    Default,
    /// No handshake without a post-quantum key exchange.
    ///
    /// * *Groups*: X25519MLKEM768, SecP256r1MLKEM768, SecP384r1MLKEM1024, MLKEM768,
    ///   MLKEM1024.
    /// * *Cipher suites*: those of TLS 1.3 that the base has.
    /// * *Signatures*: as in [`Default`](Self::Default), since a signature forged in twenty years
    ///   does no harm to a handshake of today. To refuse classical signatures as well, use
    ///   [`Builder::require_pq_authentication`](crate::Builder::require_pq_authentication).
    /// * *Excluded*: groups other than those of [`Group::POST_QUANTUM`], and cipher suites of
    ///   TLS 1.2. MLKEM512 can be named.
    ///
    /// A client sends one share, for X25519MLKEM768. A server that has only another of these groups
    /// asks for its share with a HelloRetryRequest, one round trip more. A TLS 1.3 peer without any of
    /// these groups gets the alert `handshake_failure`, a TLS 1.2 client or server the alert
    /// `protocol_version`.
    RequirePq,
    /// The algorithms of CNSA 2.0, and nothing else.
    ///
    /// * *Groups*: SecP384r1MLKEM1024, MLKEM1024.
    /// * *Cipher suites*: TLS_AES_256_GCM_SHA384.
    /// * *Signatures*: ML-DSA-87, by the peer, its CAs and our own keys: other keys aren't loaded.
    /// * *Excluded*: everything else, SLH-DSA in chains included.
    ///
    /// These peers get an alert:
    ///
    /// * a peer without these groups or this suite: `handshake_failure`;
    /// * a client that doesn't accept ML-DSA-87: `handshake_failure`;
    /// * a server whose certificate has another algorithm: `handshake_failure`, or, if it sends the
    ///   certificate nevertheless, `decrypt_error`, which rustls sends instead of
    ///   `unsupported_certificate` (RFC 9846, section 4.4.2.2);
    /// * a peer of TLS 1.2: `protocol_version`.
    ///
    /// This selects algorithms. It doesn't make the implementation a validated one: see
    /// [FIPS](crate#fips).
    Cnsa2,
    /// The default list, then all other groups of this crate and of the base: for servers and tests
    /// that should work with every peer.
    ///
    /// Cipher suites and signatures are those of [`Default`](Self::Default).
    All,
}

impl Profile {
    /// All profiles.
    pub const ALL: &'static [Self] = &[Self::Default, Self::RequirePq, Self::Cnsa2, Self::All];

    /// The profile's name in command lines and configuration files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::RequirePq => "require-pq",
            Self::Cnsa2 => "cnsa2",
            Self::All => "all",
        }
    }

    /// The groups that come first, in this order.
    pub(crate) fn preferred(self) -> &'static [Group] {
        match self {
            Self::Default | Self::All => &[
                Group::X25519MLKEM768,
                Group::X25519,
                Group::SECP256R1MLKEM768,
                Group::SECP384R1MLKEM1024,
                Group::MLKEM1024,
                Group::SECP256R1,
                Group::SECP384R1,
            ],
            Self::RequirePq => &[
                Group::X25519MLKEM768,
                Group::SECP256R1MLKEM768,
                Group::SECP384R1MLKEM1024,
                Group::MLKEM768,
                Group::MLKEM1024,
            ],
            Self::Cnsa2 => &[Group::SECP384R1MLKEM1024, Group::MLKEM1024],
        }
    }

    /// Whether `group`, which isn't a preferred one, follows the preferred ones.
    pub(crate) fn follows(self, group: Group, base: &CryptoProvider) -> bool {
        match self {
            Self::Default => base
                .kx_groups
                .iter()
                .any(|listed| Group::from(listed.name()) == group),
            Self::RequirePq | Self::Cnsa2 => false,
            Self::All => true,
        }
    }

    /// Whether `group` can be named in the builder.
    pub(crate) fn allows_group(self, group: Group) -> bool {
        match self {
            Self::Default | Self::All => true,
            Self::RequirePq => group.is_post_quantum(),
            Self::Cnsa2 => self.preferred().contains(&group),
        }
    }

    /// Whether `suite` can be named in the builder.
    pub(crate) fn allows_cipher_suite(self, suite: &SupportedCipherSuite) -> bool {
        match self {
            Self::Default | Self::All => true,
            Self::RequirePq => suite.version().version == ProtocolVersion::TLSv1_3,
            Self::Cnsa2 => self
                .cipher_suites()
                .is_some_and(|suites| suites.contains(&suite.suite())),
        }
    }

    /// Whether `scheme` can be named in the builder.
    pub(crate) fn allows_scheme(self, scheme: SignatureScheme) -> bool {
        self.schemes()
            .is_none_or(|schemes| schemes.contains(&scheme))
    }

    /// The cipher suites, or `None` for all suites of the base.
    pub(crate) fn cipher_suites(self) -> Option<&'static [CipherSuite]> {
        match self {
            Self::Default | Self::RequirePq | Self::All => None,
            Self::Cnsa2 => Some(&[CipherSuite::TLS13_AES_256_GCM_SHA384]),
        }
    }

    /// The signature schemes of the peer and of our own keys, or `None` for all.
    pub(crate) fn schemes(self) -> Option<&'static [SignatureScheme]> {
        match self {
            Self::Default | Self::RequirePq | Self::All => None,
            Self::Cnsa2 => Some(&[SignatureScheme::ML_DSA_87]),
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    /// Finds a profile by its [`name`](Self::name), in upper or lower case.
    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        Self::ALL
            .iter()
            .copied()
            .find(|profile| profile.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownProfile {
                name: name.to_owned(),
            })
    }
}

/// Writes the [`name`](Profile::name).
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No profile has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no profile is called {name:?}; the known ones are {}", known_names())]
pub struct UnknownProfile {
    /// The name that was requested.
    pub name: String,
}

fn known_names() -> String {
    Profile::ALL
        .iter()
        .map(|profile| profile.name())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for &profile in Profile::ALL {
            let name = profile.to_string();
            assert_eq!(name.parse(), Ok(profile));
            assert_eq!(name.to_uppercase().parse(), Ok(profile));
        }
        assert_eq!(format!("{:>10}", Profile::Cnsa2), "     cnsa2");
        assert_eq!(
            "strict".parse::<Profile>().unwrap_err().to_string(),
            "no profile is called \"strict\"; the known ones are default, require-pq, cnsa2, all"
        );
    }
}
