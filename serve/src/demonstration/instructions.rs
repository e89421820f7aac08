//! The commands that connect to a running server, with the client of this repository, OpenSSL and curl, quoted for a
//! POSIX shell.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use pq_x509::certificate::Certificate;
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::verification;
use rustls_pq::Group;

use crate::provider::names;

/// Says how to connect to a server, as commands for a POSIX shell.
#[derive(Clone, Debug)]
pub struct Instructions {
    /// The address to connect to.
    pub address: SocketAddr,
    /// The name or address that the server's certificate is checked for.
    pub host: String,
    /// The PEM file with the root to trust.
    pub ca: PathBuf,
    /// The PEM files of the client's certificate and private key, if it needs any.
    pub client: Option<(PathBuf, PathBuf)>,
    /// The groups to offer; none means whatever the program offers by itself.
    pub groups: Vec<Group>,
    /// Whether the client has to verify signatures of SLH-DSA.
    pub slh_dsa: bool,
}

impl Instructions {
    /// For a server that listens on `address` and serves `leaf`, with the certificates `above` it. Clients
    /// and groups are left for the caller to fill in.
    pub fn new(
        address: SocketAddr,
        leaf: &Certificate,
        above: &[Certificate],
        ca: PathBuf,
    ) -> Self {
        let address = SocketAddr::new(reachable(address.ip()), address.port());
        Self {
            host: host_to_check(leaf, address.ip()),
            address,
            ca,
            client: None,
            groups: Vec::new(),
            slh_dsa: above.iter().chain([leaf]).any(is_signed_by_slh_dsa),
        }
    }

    /// The URL of the server's page.
    pub fn url(&self) -> String {
        format!("https://{}/", self.authority())
    }

    /// The command that connects with the client of this repository.
    pub fn our_client(&self) -> String {
        let mut command = Command::new(match self.slh_dsa {
            true => "cargo run --release -p tls-client --features slh-dsa --",
            false => "cargo run --release -p tls-client --",
        });
        command.word(&self.url());
        command.path("--ca", &self.ca);
        if !self.resolves() {
            command.option("--connect", &self.address.to_string());
        }
        if !self.groups.is_empty() {
            command.option("--groups", &names(&self.groups, ","));
        }
        if let Some((certificate, key)) = &self.client {
            command.path("--client-cert", certificate);
            command.path("--client-key", key);
        }
        command.0
    }

    /// The command that connects with OpenSSL, which has to be 3.5 or later.
    pub fn openssl(&self) -> String {
        let mut command = Command::new("openssl s_client");
        match self.resolves() {
            true => command.option("-connect", &self.authority()),
            false => command.option("-connect", &self.address.to_string()),
        }
        match self.host.parse::<IpAddr>() {
            Ok(_) => command.option("-verify_ip", &self.host),
            Err(_) => {
                command.option("-servername", &self.host);
                command.option("-verify_hostname", &self.host);
            }
        }
        command.path("-CAfile", &self.ca);
        command.word("-verify_return_error");
        if !self.groups.is_empty() {
            command.option("-groups", &names(&self.groups, ":"));
        }
        if let Some((certificate, key)) = &self.client {
            command.path("-cert", certificate);
            command.path("-key", key);
        }
        command.0 + " </dev/null"
    }

    /// The command that connects with curl, which has to be built with OpenSSL 3.5 or
    /// later.
    pub fn curl(&self) -> String {
        let mut command = Command::new("curl");
        command.path("--cacert", &self.ca);
        if !self.resolves() {
            command.option("--connect-to", &format!("::{}", self.address));
        }
        if !self.groups.is_empty() {
            command.option("--curves", &names(&self.groups, ":"));
        }
        if let Some((certificate, key)) = &self.client {
            command.path("--cert", certificate);
            command.path("--key", key);
        }
        command.word(&self.url());
        command.0
    }

    /// The host and port of the URL.
    fn authority(&self) -> String {
        match self.host.parse::<IpAddr>() {
            Ok(ip) => SocketAddr::new(ip, self.address.port()).to_string(),
            Err(_) => format!("{}:{}", self.host, self.address.port()),
        }
    }

    /// Whether the host is known to lead to the address.
    fn resolves(&self) -> bool {
        let ip = self.address.ip();
        match self.host.as_str() {
            LOCALHOST => ip.is_loopback(),
            host => host.parse() == Ok(ip),
        }
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (program, command) in [
            ("our client", self.our_client()),
            ("OpenSSL 3.5 or later", self.openssl()),
            (
                "curl, if `curl --version` says OpenSSL/3.5 or later",
                self.curl(),
            ),
        ] {
            writeln!(f, "  # {program}\n  {command}\n")?;
        }
        Ok(())
    }
}

const LOCALHOST: &str = "localhost";

/// Where to connect to a server that listens on this address, from the same machine.
fn reachable(listens_on: IpAddr) -> IpAddr {
    match listens_on {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

/// The one of the certificate's names that is the simplest to connect with.
fn host_to_check(leaf: &Certificate, ip: IpAddr) -> String {
    let names = leaf.dns_names();
    if ip.is_loopback() && names.iter().any(|name| name == LOCALHOST) {
        return LOCALHOST.into();
    }
    if leaf.ip_addresses().contains(&ip) {
        return ip.to_string();
    }
    let name = names.iter().find(|name| !name.starts_with('*'));
    match (name, leaf.ip_addresses().first()) {
        (Some(name), _) => name.clone(),
        (None, Some(other)) => other.to_string(),
        (None, None) => ip.to_string(),
    }
}

fn is_signed_by_slh_dsa(certificate: &Certificate) -> bool {
    let algorithm = certificate.parsed().signature_algorithm().oid;
    let set = verification::parameter_set(algorithm);
    set.is_some_and(|(set, _)| SignatureAlgorithm::SLH_DSA.contains(&set))
}

/// A command under construction.
struct Command(String);

impl Command {
    fn new(program: &str) -> Self {
        Self(program.into())
    }

    fn option(&mut self, name: &str, value: &str) {
        self.word(name);
        self.word(value);
    }

    fn path(&mut self, name: &str, path: &Path) {
        self.option(name, &path.to_string_lossy());
    }

    /// Adds a word, in quotes where the shell would make something else of it.
    fn word(&mut self, word: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
        self.0.push(' ');
        match !word.is_empty() && word.chars().all(is_plain) {
            true => self.0.push_str(word),
            false => {
                self.0.push('\'');
                self.0.push_str(&word.replace('\'', r"'\''"));
                self.0.push('\'');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};

    use super::*;

    #[test]
    fn plain() {
        let instructions = instructions("127.0.0.1:8443", &["localhost", "127.0.0.1"]);
        assert_eq!(
            instructions.our_client(),
            "cargo run --release -p tls-client -- https://localhost:8443/ --ca pki/root.pem"
        );
        assert_eq!(
            instructions.openssl(),
            "openssl s_client -connect localhost:8443 -servername localhost \
             -verify_hostname localhost -CAfile pki/root.pem -verify_return_error </dev/null"
        );
        assert_eq!(
            instructions.curl(),
            "curl --cacert pki/root.pem https://localhost:8443/"
        );
    }

    #[test]
    fn groups_and_a_client_certificate() {
        let instructions = Instructions {
            groups: vec![Group::SECP384R1MLKEM1024, Group::MLKEM1024],
            client: Some(("my pki/it's.pem".into(), "client.key".into())),
            ..instructions("[::]:443", &["localhost"])
        };
        assert_eq!(instructions.address, "[::1]:443".parse().unwrap());
        assert_eq!(
            instructions.our_client(),
            "cargo run --release -p tls-client -- https://localhost:443/ --ca pki/root.pem \
             --groups SecP384r1MLKEM1024,MLKEM1024 --client-cert 'my pki/it'\\''s.pem' \
             --client-key client.key"
        );
        assert_eq!(
            instructions.openssl(),
            "openssl s_client -connect localhost:443 -servername localhost \
             -verify_hostname localhost -CAfile pki/root.pem -verify_return_error \
             -groups SecP384r1MLKEM1024:MLKEM1024 -cert 'my pki/it'\\''s.pem' \
             -key client.key </dev/null"
        );
        assert_eq!(
            instructions.curl(),
            "curl --cacert pki/root.pem --curves SecP384r1MLKEM1024:MLKEM1024 \
             --cert 'my pki/it'\\''s.pem' --key client.key https://localhost:443/"
        );
    }

    #[test]
    fn a_name_that_leads_elsewhere() {
        let instructions = instructions("192.0.2.1:8443", &["*.example.org", "example.org"]);
        assert_eq!(
            instructions.our_client(),
            "cargo run --release -p tls-client -- https://example.org:8443/ --ca pki/root.pem \
             --connect 192.0.2.1:8443"
        );
        assert!(
            instructions
                .openssl()
                .contains("-connect 192.0.2.1:8443 -servername example.org")
        );
        assert_eq!(
            instructions.curl(),
            "curl --cacert pki/root.pem --connect-to ::192.0.2.1:8443 https://example.org:8443/"
        );
    }

    #[test]
    fn an_address() {
        let instructions = instructions("[2001:db8::1]:8443", &["2001:db8::1", "example.org"]);
        assert_eq!(instructions.url(), "https://[2001:db8::1]:8443/");
        assert!(
            instructions
                .openssl()
                .contains("-connect '[2001:db8::1]:8443' -verify_ip 2001:db8::1 ")
        );
    }

    fn instructions(address: &str, names: &[&str]) -> Instructions {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
        let mut server = CertificateBuilder::server();
        for name in names {
            server = match name.parse() {
                Ok(ip) => server.ip_address(ip),
                Err(_) => server.dns_name(*name),
            };
        }
        let leaf = root.issue(server, &key()).unwrap();
        Instructions::new(address.parse().unwrap(), &leaf, &[], "pki/root.pem".into())
    }
}
