//! What stands for all addresses of one client, where clients are counted.

use core::net::{IpAddr, Ipv6Addr};

/// An IPv4 address, also if it comes within one of IPv6, as where a server listens for both; or the /64 of an IPv6 address, since
/// a client can use any address of a /64.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}
