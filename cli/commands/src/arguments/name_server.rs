//! The address of a DNS server.

use core::net::{IpAddr, SocketAddr};
use core::str::FromStr;

/// The address of a DNS server, at port 53 if it has none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NameServer(SocketAddr);

impl NameServer {
    pub(crate) fn address(self) -> SocketAddr {
        self.0
    }
}

impl FromStr for NameServer {
    type Err = NoNameServer;

    fn from_str(text: &str) -> Result<Self, NoNameServer> {
        let address = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 53));
        let address = address.or_else(|_| text.parse());
        address.map(Self).map_err(|_| NoNameServer)
    }
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("write an address such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53")]
pub(crate) struct NoNameServer;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_have_ports() {
        for (text, expected) in [
            ("192.0.2.1", "192.0.2.1:53"),
            ("192.0.2.1:5353", "192.0.2.1:5353"),
            ("2001:db8::1", "[2001:db8::1]:53"),
            ("[2001:db8::1]:5353", "[2001:db8::1]:5353"),
        ] {
            let read: NameServer = text.parse().unwrap();
            assert_eq!(read.address(), expected.parse().unwrap());
        }
        assert!("dns.example".parse::<NameServer>().is_err());
    }
}
