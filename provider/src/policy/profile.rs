use core::fmt;
use core::str::FromStr;

use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, ProtocolVersion, SignatureScheme, SupportedCipherSuite};

use crate::algorithms::Group;

/// What to offer and accept, by purpose: groups, cipher suites and signatures.
///
/// [`Builder::profile`](crate::Builder::profile) takes one. Groups that the base can't
/// supply are left out; a cipher suite or a scheme that is missing is an error.
///
/// Whatever is named in the builder (groups, cipher suites, schemes) is taken instead of what
/// the profile lists. What the profile excludes can't be named: building is an error then, so
/// that its promise holds.
///
/// Clients list what they offer in the order given. A rustls server goes by the order of its
/// *client*: it takes the first group of the client's list that it has, share or no share,
/// and the first scheme of its key that the client accepts.
///
/// # What happens with which peer
///
/// A test makes these tables. The errors are those of rustls;
/// [`Refusal`](crate::Refusal) turns them into a cause and a remedy.
///
#[doc = include_str!("profile_table.md")]
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Profile {
    /// Hybrid first, classical allowed: for clients and servers on the open internet.
    ///
    /// * *Groups*: X25519MLKEM768, x25519, SecP256r1MLKEM768, SecP384r1MLKEM1024, MLKEM1024,
    ///   secp256r1, secp384r1, then whatever else the base lists.
    /// * *Cipher suites*: the base's, TLS 1.2 included if the base has it.
    /// * *Signatures*: ML-DSA-65, ML-DSA-87, ML-DSA-44, then the base's.
    ///
    /// A client sends its X25519 share twice, in the hybrid and on its own, so a
    /// server without post-quantum groups costs no round trip.
    ///
    /// Servers go by the client's list, and so the order decides what is negotiated with a
    /// server that has some of these groups only, and what that costs:
    ///
    /// * x25519 comes before SecP256r1MLKEM768. A server with both of these and without
    ///   X25519MLKEM768 therefore ends up with x25519, which is not post-quantum.
    ///   The other order would have every such server ask for a retry, a round trip
    ///   more. Clients that would rather pay that name the groups in the other order
    ///   ([`Builder::groups`](crate::Builder::groups)), or take
    ///   [`RequirePq`](Self::RequirePq).
    /// * There is no share for what comes after x25519, so that a server with these alone asks for
    ///   a retry, whichever it takes. The post-quantum ones come first.
    ///
    /// SecP384r1MLKEM1024 and MLKEM1024, the groups at level 5, are there for peers that have no
    /// other post-quantum one, such as those of CNSA 2.0. A client pays four bytes for them, and a
    /// round trip with a server that prefers them to a share that is there.
    ///
    /// A server takes them from a client that lists them before all others that the server has: with
    /// a share for one at no cost, with none for a round trip. Since rustls 0.23 goes by the client's
    /// list alone, this is not what is best for everyone. A client that lists them first, and has a
    /// share for another post-quantum group, pays the round trip all the same. One that lists
    /// secp384r1 before SecP384r1MLKEM1024 ends on secp384r1, which is not post-quantum. A provider
    /// can't help it.
    /// [`ServerHandshake::begin_with_alternatives`](crate::ServerHandshake::begin_with_alternatives)
    /// does: it saves the former the round trip, and has the latter get SecP384r1MLKEM1024 if it
    /// lists no other post-quantum group. The example `tls-server` begins so.
    #[default]
    Default,
    /// No handshake without a post-quantum key exchange.
    ///
    /// * *Groups*: X25519MLKEM768, SecP256r1MLKEM768, SecP384r1MLKEM1024, MLKEM768,
    ///   MLKEM1024.
    /// * *Cipher suites*: those of TLS 1.3 that the base has.
    /// * *Signatures*: as in [`Default`](Self::Default), since a signature that is
    ///   forged in twenty years does no harm to a handshake of today. To refuse classical
    ///   ones as well:
    ///   [`Builder::require_pq_authentication`](crate::Builder::require_pq_authentication).
    /// * *Excluded*: groups other than those of [`Group::POST_QUANTUM`], and cipher suites of
    ///   TLS 1.2. MLKEM512 can be named.
    ///
    /// A client sends one share, for X25519MLKEM768. A server with another of these groups
    /// asks for it with a HelloRetryRequest, one round trip more. A peer of TLS 1.3
    /// without any of these groups sees the alert `handshake_failure`, a client or
    /// server of TLS 1.2 the alert `protocol_version`.
    RequirePq,
    /// The algorithms of CNSA 2.0 at their one level, and nothing else.
    ///
    /// * *Groups*: SecP384r1MLKEM1024, MLKEM1024.
    /// * *Cipher suites*: TLS_AES_256_GCM_SHA384.
    /// * *Signatures*: ML-DSA-87, from the peer and its CAs, and by keys of our own: another
    ///   key isn't loaded.
    /// * *Excluded*: everything else, SLH-DSA in chains included.
    ///
    /// A peer without these groups or this suite sees the alert `handshake_failure`, and so
    /// does a client that doesn't accept ML-DSA-87; a server whose certificate is another one
    /// sees `handshake_failure` or, if it sends the certificate nevertheless,
    /// `decrypt_error`, which rustls sends where RFC 9846, section 4.4.2.2, has
    /// `unsupported_certificate`; a peer of TLS 1.2 sees `protocol_version`.
    ///
    /// This selects algorithms. It doesn't make the implementation a validated one: see
    /// [FIPS](crate#fips).
    Cnsa2,
    /// The default list, then all other groups of this crate and of the base: for
    /// servers and tests that should meet everybody. Cipher suites and signatures are those
    /// of [`Default`](Self::Default).
    All,
}

impl Profile {
    /// All profiles.
    pub const ALL: &'static [Self] = &[Self::Default, Self::RequirePq, Self::Cnsa2, Self::All];

    /// What it is called in command lines and configuration files.
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

    /// Whether `group`, which isn't a preferred one, follows them.
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

    /// Whether `group` can be named.
    pub(crate) fn allows_group(self, group: Group) -> bool {
        match self {
            Self::Default | Self::All => true,
            Self::RequirePq => group.is_post_quantum(),
            Self::Cnsa2 => self.preferred().contains(&group),
        }
    }

    /// Whether `suite` can be named.
    pub(crate) fn allows_cipher_suite(self, suite: &SupportedCipherSuite) -> bool {
        match self {
            Self::Default | Self::All => true,
            Self::RequirePq => suite.version().version == ProtocolVersion::TLSv1_3,
            Self::Cnsa2 => self
                .cipher_suites()
                .is_some_and(|suites| suites.contains(&suite.suite())),
        }
    }

    /// Whether `scheme` can be named.
    pub(crate) fn allows_scheme(self, scheme: SignatureScheme) -> bool {
        self.schemes()
            .is_none_or(|schemes| schemes.contains(&scheme))
    }

    /// The cipher suites, or `None` for all of the base.
    pub(crate) fn cipher_suites(self) -> Option<&'static [CipherSuite]> {
        match self {
            Self::Default | Self::RequirePq | Self::All => None,
            Self::Cnsa2 => Some(&[CipherSuite::TLS13_AES_256_GCM_SHA384]),
        }
    }

    /// The signature schemes of the peer and of keys of our own, or `None` for all.
    pub(crate) fn schemes(self) -> Option<&'static [SignatureScheme]> {
        match self {
            Self::Default | Self::RequirePq | Self::All => None,
            Self::Cnsa2 => Some(&[SignatureScheme::ML_DSA_87]),
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    /// Finds a profile by its [`name`](Self::name), in any case.
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

/// The [`name`](Profile::name).
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No profile has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no profile is called {name:?}; there are {}", known_names())]
pub struct UnknownProfile {
    /// What was asked for.
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
            "no profile is called \"strict\"; there are default, require-pq, cnsa2, all"
        );
    }
}
