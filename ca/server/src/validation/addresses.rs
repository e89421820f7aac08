//! Which addresses may be asked. Whoever asks for a certificate says by its name, and by redirects, where this server
//! connects to; so it must not lead to what only this server reaches.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use pq_ca::policy::Network;

/// Which addresses may be asked: those of the internet, and those of networks that the operator names.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    allowed: Vec<Network>,
}

/// Why an address may not be asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{address} may not be asked: it is {what}, and the operator of the CA has not allowed its network"
)]
pub struct Forbidden {
    /// The address.
    pub address: IpAddr,
    /// What it is.
    pub what: &'static str,
}

impl Addresses {
    /// Those of the internet, and of these networks, whatever they are.
    pub fn with(allowed: impl IntoIterator<Item = Network>) -> Self {
        let allowed = allowed.into_iter().collect();
        Self { allowed }
    }

    /// The address to connect to: an IPv6 address that stands for one of IPv4 is judged, and asked, as that.
    ///
    /// # Errors
    ///
    /// [`Forbidden`] says what the address is.
    pub fn check(&self, address: IpAddr) -> Result<IpAddr, Forbidden> {
        let plain = address.to_canonical();
        if self.allowed.iter().any(|network| network.includes(plain)) {
            return Ok(plain);
        }
        match what(plain) {
            None => Ok(plain),
            Some(what) => Err(Forbidden { address, what }),
        }
    }
}

/// What of the networks in IANA's registries of special addresses an address is in; nothing if it is one of the internet.
fn what(address: IpAddr) -> Option<&'static str> {
    if let IpAddr::V6(v6) = address {
        if let Some(behind) = translated(v6) {
            return what(behind.into());
        }
        // All of the internet is in this one (RFC 4291, section 2.4).
        if v6.segments()[0] & 0xe000 != 0x2000 && !named(address) {
            return Some("outside of IPv6's global unicast addresses");
        }
    }
    let mut networks = SPECIAL.iter();
    let found = networks.find(|(network, _)| network.includes(address));
    found.map(|(_, what)| *what)
}

fn named(address: IpAddr) -> bool {
    SPECIAL.iter().any(|(network, _)| network.includes(address))
}

/// The IPv4 address that a translator makes of this one (RFC 6052, section 2.1).
fn translated(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.octets() {
        [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] => {
            Some(Ipv4Addr::new(a, b, c, d))
        }
        _ => None,
    }
}

/// The networks of IANA's registries that are not the internet.
const NETWORKS: &[(&str, &str)] = &[
    ("0.0.0.0/8", "an address of this machine"),
    ("10.0.0.0/8", "a private address"),
    ("100.64.0.0/10", "an address behind a provider's translator"),
    ("127.0.0.0/8", "a loopback address"),
    ("169.254.0.0/16", "a link-local address"),
    ("172.16.0.0/12", "a private address"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "for documentation"),
    ("192.88.99.0/24", "reserved for protocols"),
    ("192.168.0.0/16", "a private address"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "a multicast address"),
    ("240.0.0.0/4", "reserved"),
    ("::1", "a loopback address"),
    ("::", "an address of this machine"),
    ("2001::/23", "reserved for protocols"),
    ("2001:db8::/32", "for documentation"),
    ("2002::/16", "an address of 6to4"),
    ("3fff::/20", "for documentation"),
    ("fc00::/7", "a unique local address"),
    ("fe80::/10", "a link-local address"),
    ("fec0::/10", "a site-local address"),
    ("ff00::/8", "a multicast address"),
];

static SPECIAL: LazyLock<Vec<(Network, &str)>> = LazyLock::new(|| {
    let networks = NETWORKS.iter();
    networks
        .map(|(network, what)| (network.parse().expect("a network"), *what))
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &Addresses, address: &str) -> Result<IpAddr, Forbidden> {
        addresses.check(address.parse().expect(address))
    }

    #[test]
    fn only_the_internet_is_asked() {
        let addresses = Addresses::default();
        for address in [
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "172.15.255.255",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "64:ff9b::8.8.8.8",
        ] {
            let plain = address.parse().unwrap();
            assert_eq!(check(&addresses, address), Ok(plain), "{address}");
        }
        assert_eq!(
            check(&addresses, "::ffff:8.8.8.8"),
            Ok("8.8.8.8".parse().unwrap())
        );
        for (address, what) in [
            ("0.0.0.0", "this machine"),
            ("0.1.2.3", "this machine"),
            ("10.1.2.3", "private"),
            ("100.64.0.1", "translator"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.254", "loopback"),
            ("169.254.169.254", "link-local"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.8", "protocols"),
            ("192.0.2.1", "documentation"),
            ("192.168.0.1", "private"),
            ("198.19.0.1", "benchmarks"),
            ("224.0.0.1", "multicast"),
            ("255.255.255.255", "reserved"),
            ("::", "this machine"),
            ("::1", "loopback"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:169.254.169.254", "link-local"),
            ("::ffff:10.0.0.1", "private"),
            ("::127.0.0.1", "outside"),
            ("64:ff9b::10.0.0.1", "private"),
            ("64:ff9b::127.0.0.1", "loopback"),
            ("64:ff9b:1::8.8.8.8", "outside"),
            ("100::1", "outside"),
            ("2001::1", "protocols"),
            ("2001:db8::1", "documentation"),
            ("2002:7f00:1::", "6to4"),
            ("3fff::1", "documentation"),
            ("5f00::1", "outside"),
            ("fc00::1", "unique local"),
            ("fd12:3456::1", "unique local"),
            ("fe80::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
        ] {
            let refused = check(&addresses, address).unwrap_err();
            assert!(refused.what.contains(what), "{address}: {refused}");
        }
    }

    #[test]
    fn an_operator_allows_networks_and_nothing_beside_them() {
        let allowed = ["10.1.0.0/16".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let addresses = Addresses::with(allowed);
        for address in ["10.1.2.3", "fd12::1", "8.8.8.8"] {
            assert_eq!(check(&addresses, address), Ok(address.parse().unwrap()));
        }
        // as IPv4, which is what is connected to
        assert_eq!(
            check(&addresses, "::ffff:10.1.2.3"),
            Ok("10.1.2.3".parse().unwrap())
        );
        for address in ["10.2.0.1", "127.0.0.1", "fc00::1"] {
            check(&addresses, address).unwrap_err();
        }
    }
}
