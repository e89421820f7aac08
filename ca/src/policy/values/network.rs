//! Networks of IP addresses.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use crate::policy::file::read_from_strings;

/// A network of addresses that begin with the same bits, such as `10.0.0.0/8`, or a single address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network {
    address: IpAddr,
    prefix_len: u8,
}

impl Network {
    /// The first address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The length of the common prefix in bits: at most 32 for IPv4, and 128 for IPv6.
    pub fn prefix_len(&self) -> u8 {
        self.prefix_len
    }

    /// Whether the address is in this network. An IPv4 address that is written as an IPv6 address (RFC 4291
    /// section 2.5.5.2) is in no IPv4 network.
    pub fn includes(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && first_bits(address, self.prefix_len) == self.address
    }

    /// Whether all addresses of the other network are in this one.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.prefix_len <= other.prefix_len && self.includes(other.address)
    }

    /// Reads an address and a mask, as name constraints have them (RFC 5280 section 4.2.1.10). A mask with a gap is none.
    pub(crate) fn from_constraint(bytes: &[u8]) -> Option<Self> {
        let (address, mask) = bytes.split_at(bytes.len() / 2);
        let (address, mask): (IpAddr, u128) = match (address.len(), mask.len()) {
            (4, 4) => (
                <[u8; 4]>::try_from(address).ok()?.into(),
                u128::from(u32::from_be_bytes(mask.try_into().ok()?)) << 96,
            ),
            (16, 16) => (
                <[u8; 16]>::try_from(address).ok()?.into(),
                u128::from_be_bytes(mask.try_into().ok()?),
            ),
            _ => return None,
        };
        let prefix_len = u8::try_from(mask.leading_ones()).ok()?;
        let is_prefix = mask.count_ones() == mask.leading_ones();
        (is_prefix && first_bits(address, prefix_len) == address).then_some(Self {
            address,
            prefix_len,
        })
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || NetworkError::Malformed(text.into());
        let (address, prefix_len) = match text.split_once('/') {
            Some((address, len)) => (address, Some(len)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| malformed())?;
        let prefix_len = match prefix_len {
            None => bits(address),
            Some(len) if len.bytes().all(|byte| byte.is_ascii_digit()) => len
                .parse()
                .ok()
                .filter(|len| *len <= bits(address))
                .ok_or_else(malformed)?,
            Some(_) => return Err(malformed()),
        };
        let network = Self {
            address: first_bits(address, prefix_len),
            prefix_len,
        };
        if network.address != address {
            return Err(NetworkError::BitsAfterPrefix {
                given: text.into(),
                network,
            });
        }
        match (as_ipv4(address), prefix_len.checked_sub(MAPPED_PREFIX_LEN)) {
            (Some(address), Some(prefix_len)) => Err(NetworkError::Mapped {
                given: text.into(),
                network: Self {
                    address: address.into(),
                    prefix_len,
                },
            }),
            _ => Ok(network),
        }
    }
}

read_from_strings!(Network);

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)?;
        match self.prefix_len == bits(self.address) {
            true => Ok(()),
            false => write!(f, "/{}", self.prefix_len),
        }
    }
}

/// Why a text is not a network.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The text is neither an address nor an address with a prefix length.
    #[error(
        "{0:?} is not a network: write \"10.0.0.0/8\", \"2001:db8::/32\" or a single address; \
         names belong in names.dns"
    )]
    Malformed(String),
    /// The address has nonzero bits after the prefix.
    #[error("{given:?} has bits after its prefix; write \"{network}\" for the whole network")]
    BitsAfterPrefix {
        /// The text.
        given: String,
        /// The network that has this prefix.
        network: Network,
    },
    /// The text is an IPv4 network written with IPv6 addresses (RFC 4291 section 2.5.5.2).
    #[error("{given:?} is an IPv4 network written as an IPv6 network; write \"{network}\"")]
    Mapped {
        /// The text.
        given: String,
        /// The IPv4 network.
        network: Network,
    },
}

/// The IPv4 address that an IPv6 address stands for (RFC 4291 section 2.5.5.2).
pub(crate) fn as_ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => address.to_ipv4_mapped(),
    }
}

/// The prefix length of `::ffff:0:0/96`, where IPv6 addresses stand for IPv4 addresses.
const MAPPED_PREFIX_LEN: u8 = 96;

fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// The address with zeros after its first `len` bits. `len` is at most [`bits`] of the address.
fn first_bits(address: IpAddr, len: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX
                .checked_shl(Ipv4Addr::BITS - u32::from(len))
                .unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX
                .checked_shl(Ipv6Addr::BITS - u32::from(len))
                .unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_includes_the_addresses_of_its_prefix() {
        for (network, inside, outside) in [
            (
                "10.0.0.0/8",
                &["10.0.0.0", "10.255.255.255"][..],
                &["11.0.0.0", "9.255.255.255", "::ffff:10.0.0.1", "::a00:1"][..],
            ),
            (
                "192.0.2.128/25",
                &["192.0.2.128", "192.0.2.255"],
                &["192.0.2.127"],
            ),
            ("192.0.2.7", &["192.0.2.7"], &["192.0.2.6"]),
            (
                "0.0.0.0/0",
                &["0.0.0.0", "255.255.255.255"],
                &["::", "::ffff:1.2.3.4"],
            ),
            (
                "2001:db8::/33",
                &["2001:db8::1", "2001:db8:7fff::"],
                &["2001:db8:8000::", "32.1.13.184"],
            ),
            ("::/0", &["::", "ffff::1"], &["0.0.0.0"]),
            ("::1", &["::1"], &["::", "127.0.0.1"]),
        ] {
            let read: Network = network.parse().unwrap();
            assert_eq!(read.to_string(), network);
            for address in inside {
                assert!(
                    read.includes(address.parse().unwrap()),
                    "{network} {address}"
                );
            }
            for address in outside {
                assert!(
                    !read.includes(address.parse().unwrap()),
                    "{network} {address}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.0.0.0/-1",
            "10.0.0.0/8/8",
            "10/8",
            "::/129",
            "010.0.0.0/8",
            "[::1]",
            "fe80::1%1",
            "example.org",
            "10.0.0.0/255.0.0.0",
            "10.0.0.0/4294967304",
        ] {
            assert_eq!(
                text.parse::<Network>(),
                Err(NetworkError::Malformed(text.into()))
            );
        }
        for (text, error) in [
            (
                "10.0.0.1/8",
                "\"10.0.0.1/8\" has bits after its prefix; write \"10.0.0.0/8\" for the whole \
                 network",
            ),
            (
                "2001:db8::1/32",
                "\"2001:db8::1/32\" has bits after its prefix; write \"2001:db8::/32\" for the \
                 whole network",
            ),
            (
                "::ffff:10.0.0.0/104",
                "\"::ffff:10.0.0.0/104\" is an IPv4 network written as an IPv6 network; write \
                 \"10.0.0.0/8\"",
            ),
            (
                "::ffff:10.0.0.1",
                "\"::ffff:10.0.0.1\" is an IPv4 network written as an IPv6 network; write \
                 \"10.0.0.1\"",
            ),
        ] {
            assert_eq!(text.parse::<Network>().unwrap_err().to_string(), error);
        }
    }
}
