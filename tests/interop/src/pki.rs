//! Certificates for the tests, issued by this project.

use core::net::{IpAddr, Ipv4Addr};

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, EndEntity, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};

use crate::openssl::Workdir;

/// A root, an intermediate below it, and the leaves that the intermediate issues.
#[derive(Debug)]
pub struct Pki {
    root: Certificate,
    intermediate: Issuer<SigningKey>,
}

impl Pki {
    /// Makes fresh keys of `algorithm` for the root and the intermediate, whose names
    /// are always the same.
    ///
    /// # Panics
    /// If they can't be made or certified.
    pub fn new(algorithm: SignatureAlgorithm) -> Self {
        Self::named("Interop", algorithm)
    }

    /// Like [`new()`](Self::new), with `name` in the names of root and intermediate.
    ///
    /// # Panics
    /// Where `new()` does.
    pub fn named(name: &str, algorithm: SignatureAlgorithm) -> Self {
        let root = Issuer::self_signed(
            CertificateBuilder::ca(format!("{name} Root")),
            generate(algorithm),
        )
        .expect("a root can be issued");
        let intermediate = root
            .issue_ca(
                CertificateBuilder::ca(format!("{name} Intermediate")).path_len(0),
                generate(algorithm),
            )
            .expect("an intermediate can be issued");
        Self {
            root: root.certificate().clone(),
            intermediate,
        }
    }

    /// The certificate to trust.
    pub fn root(&self) -> &Certificate {
        &self.root
    }

    /// The CA that issues the leaves.
    pub fn intermediate(&self) -> &Issuer<SigningKey> {
        &self.intermediate
    }

    /// A server called [`NAME`], also by its address 127.0.0.1.
    ///
    /// # Panics
    /// If it can't be issued.
    pub fn server(&self, algorithm: SignatureAlgorithm) -> Identity {
        self.issue(server_leaf(), algorithm)
    }

    /// A client.
    ///
    /// # Panics
    /// If it can't be issued.
    pub fn client(&self, algorithm: SignatureAlgorithm) -> Identity {
        self.issue(
            CertificateBuilder::client().common_name(CLIENT_NAME),
            algorithm,
        )
    }

    /// A leaf as `builder` describes it, for a fresh key of `algorithm`.
    ///
    /// # Panics
    /// If it can't be issued.
    pub fn issue(
        &self,
        builder: CertificateBuilder<EndEntity>,
        algorithm: SignatureAlgorithm,
    ) -> Identity {
        let key = generate(algorithm);
        let leaf = self
            .intermediate
            .issue(builder, &key)
            .expect("a leaf can be issued");
        self.identity(leaf, key)
    }

    /// `leaf` and its key, with the intermediate that issued it.
    pub fn identity(&self, leaf: Certificate, key: SigningKey) -> Identity {
        Identity {
            chain: vec![leaf, self.intermediate.certificate().clone()],
            key,
        }
    }
}

/// A certificate chain without its root, and the private key of its leaf.
#[derive(Debug)]
pub struct Identity {
    /// Leaf first.
    pub chain: Vec<Certificate>,
    /// The leaf's key.
    pub key: SigningKey,
}

impl Identity {
    /// The chain as rustls takes it.
    pub fn chain_der(&self) -> Vec<CertificateDer<'static>> {
        self.chain
            .iter()
            .map(|certificate| certificate.der().clone())
            .collect()
    }

    /// The key as rustls takes it: PKCS#8 with the seed only.
    ///
    /// # Panics
    /// If the key has no seed.
    pub fn key_der(&self) -> PrivateKeyDer<'static> {
        let der = self.key.to_pkcs8_der().expect("the key has a seed");
        PrivatePkcs8KeyDer::from(der.to_vec()).into()
    }

    /// Writes the key, the leaf and the rest of the chain as three files, and returns
    /// the options with which `s_server` and `s_client` use them.
    ///
    /// # Panics
    /// If the key has no seed, or the file system refuses.
    pub fn write_to(&self, work: &Workdir, name: &str) -> String {
        let key = self.key.to_pkcs8_pem().expect("the key has a seed");
        work.write(&format!("{name}.key"), key.as_bytes());
        work.write(&format!("{name}.pem"), self.chain[0].to_pem());
        work.write(
            &format!("{name}.chain"),
            Certificate::chain_to_pem(&self.chain[1..]),
        );
        format!("-key {name}.key -cert {name}.pem -cert_chain {name}.chain")
    }
}

/// A fresh key.
///
/// # Panics
/// If the operating system has no randomness.
pub fn generate(algorithm: SignatureAlgorithm) -> SigningKey {
    SigningKey::generate(algorithm).expect("the operating system has randomness")
}

/// The leaf that [`Pki::server()`] issues.
pub fn server_leaf() -> CertificateBuilder<EndEntity> {
    CertificateBuilder::server()
        .common_name(NAME)
        .dns_name(NAME)
        .ip_address(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// A name or address as rustls and our validation take it.
///
/// # Panics
/// If it is neither.
pub fn server_name(name: &str) -> ServerName<'static> {
    ServerName::try_from(name.to_owned()).expect("tests name their servers well")
}

/// The name of the servers.
pub const NAME: &str = "localhost";

/// The common name of the clients.
pub const CLIENT_NAME: &str = "interop-client";
