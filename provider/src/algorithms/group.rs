//! The key exchange groups of TLS by code point, post-quantum and classical, with the names that people write and read.

use core::fmt;
use core::str::FromStr;

use crate::tls::NamedGroup;

/// A TLS key exchange group, by its code point.
///
/// It converts from and to rustls's [`NamedGroup`]. Unlike `NamedGroup` it has a name for every
/// group of this crate and can be parsed, so it can be the type of a command line option.
///
/// ```
/// use rustls_pq::Group;
///
/// let group: Group = "x25519mlkem768".parse()?;
/// assert_eq!(group, Group::X25519MLKEM768);
/// assert_eq!(group.to_string(), "X25519MLKEM768");
/// assert_eq!(group.code_point(), 0x11ec);
/// # Ok::<_, rustls_pq::UnknownGroup>(())
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Group(u16);

impl Group {
    /// X25519 and ML-KEM-768 (RFC 10024).
    pub const X25519MLKEM768: Self = Self(0x11ec);
    /// ECDH on P-256 and ML-KEM-768 (RFC 10024).
    pub const SECP256R1MLKEM768: Self = Self(0x11eb);
    /// ECDH on P-384 and ML-KEM-1024 (RFC 10024).
    pub const SECP384R1MLKEM1024: Self = Self(0x11ed);
    /// ML-KEM-512 on its own (draft-ietf-tls-mlkem).
    pub const MLKEM512: Self = Self(0x0200);
    /// ML-KEM-768 on its own (draft-ietf-tls-mlkem).
    pub const MLKEM768: Self = Self(0x0201);
    /// ML-KEM-1024 on its own (draft-ietf-tls-mlkem).
    pub const MLKEM1024: Self = Self(0x0202);
    /// X25519 (RFC 7748).
    pub const X25519: Self = Self(0x001d);
    /// ECDH on P-256.
    pub const SECP256R1: Self = Self(0x0017);
    /// ECDH on P-384.
    pub const SECP384R1: Self = Self(0x0018);
    /// ECDH on P-521.
    pub const SECP521R1: Self = Self(0x0019);
    /// X448 (RFC 7748).
    pub const X448: Self = Self(0x001e);

    /// The groups that this crate adds to a base.
    pub const POST_QUANTUM: &'static [Self] = &[
        Self::X25519MLKEM768,
        Self::SECP256R1MLKEM768,
        Self::SECP384R1MLKEM1024,
        Self::MLKEM512,
        Self::MLKEM768,
        Self::MLKEM1024,
    ];

    /// The number of the group in TLS.
    pub const fn code_point(self) -> u16 {
        self.0
    }

    /// Whether the group withstands a quantum computer: it is one of
    /// [`POST_QUANTUM`](Self::POST_QUANTUM).
    pub fn is_post_quantum(self) -> bool {
        Self::POST_QUANTUM.contains(&self)
    }

    fn name(self) -> Option<&'static str> {
        let (name, _) = NAMES.iter().find(|(_, group)| *group == self)?;
        Some(name)
    }
}

impl From<NamedGroup> for Group {
    fn from(group: NamedGroup) -> Self {
        Self(group.into())
    }
}

impl From<Group> for NamedGroup {
    // By the number, not by name: a code point that is `Unknown` to this rustls may have a name in a
    // later one.
    fn from(group: Group) -> Self {
        Self::from(group.0)
    }
}

impl FromStr for Group {
    type Err = UnknownGroup;

    /// Finds a group by its name in the IANA registry, in upper or lower case. `P-256`, `P-384` and
    /// `P-521` name the NIST curves too.
    fn from_str(name: &str) -> Result<Self, UnknownGroup> {
        NAMES
            .iter()
            .chain(ALIASES)
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, group)| *group)
            .ok_or_else(|| UnknownGroup {
                name: name.to_owned(),
            })
    }
}

/// Writes the name in the IANA registry, or the code point if this crate knows no name.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "{:#06x}", self.0),
        }
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// No group has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "no key exchange group is called {name:?}; the known ones are {}",
    known_names()
)]
pub struct UnknownGroup {
    /// The name that was requested.
    pub name: String,
}

fn known_names() -> String {
    NAMES
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Names as the IANA registry "TLS Supported Groups" spells them.
const NAMES: &[(&str, Group)] = &[
    ("X25519MLKEM768", Group::X25519MLKEM768),
    ("SecP256r1MLKEM768", Group::SECP256R1MLKEM768),
    ("SecP384r1MLKEM1024", Group::SECP384R1MLKEM1024),
    ("MLKEM512", Group::MLKEM512),
    ("MLKEM768", Group::MLKEM768),
    ("MLKEM1024", Group::MLKEM1024),
    ("x25519", Group::X25519),
    ("secp256r1", Group::SECP256R1),
    ("secp384r1", Group::SECP384R1),
    ("secp521r1", Group::SECP521R1),
    ("x448", Group::X448),
];

const ALIASES: &[(&str, Group)] = &[
    ("P-256", Group::SECP256R1),
    ("P-384", Group::SECP384R1),
    ("P-521", Group::SECP521R1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for &(name, group) in NAMES {
            assert_eq!(group.to_string(), name);
            assert_eq!(name.parse(), Ok(group));
            assert_eq!(name.to_uppercase().parse(), Ok(group));
            assert_eq!(name.to_lowercase().parse(), Ok(group));
        }
        for &(alias, group) in ALIASES {
            assert_eq!(alias.parse(), Ok(group));
        }
    }

    #[test]
    fn agrees_with_rustls() {
        for (group, named) in [
            (Group::X25519MLKEM768, NamedGroup::X25519MLKEM768),
            (Group::SECP256R1MLKEM768, NamedGroup::secp256r1MLKEM768),
            (Group::MLKEM512, NamedGroup::MLKEM512),
            (Group::MLKEM768, NamedGroup::MLKEM768),
            (Group::MLKEM1024, NamedGroup::MLKEM1024),
            (Group::X25519, NamedGroup::X25519),
            (Group::SECP256R1, NamedGroup::secp256r1),
            (Group::SECP384R1, NamedGroup::secp384r1),
            (Group::SECP521R1, NamedGroup::secp521r1),
            (Group::X448, NamedGroup::X448),
        ] {
            assert_eq!(NamedGroup::from(group), named);
            assert_eq!(Group::from(named), group);
        }
        assert_eq!(
            u16::from(NamedGroup::from(Group::SECP384R1MLKEM1024)),
            0x11ed
        );
    }

    #[test]
    fn unnamed_groups_print_as_numbers() {
        assert_eq!(Group::from(NamedGroup::FFDHE2048).to_string(), "0x0100");
    }

    #[test]
    fn unknown_name_says_what_there_is() {
        let error = "Kyber768".parse::<Group>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "no key exchange group is called \"Kyber768\"; the known ones are X25519MLKEM768, \
             SecP256r1MLKEM768, SecP384r1MLKEM1024, MLKEM512, MLKEM768, MLKEM1024, x25519, \
             secp256r1, secp384r1, secp521r1, x448"
        );
    }
}
