//! Our client at servers with two certificates that follow its list: its roots make it request the chain
//! that it can verify.

#[path = "../../../../provider/tests/provider/first_usable.rs"]
mod first_usable;

use alloc::sync::Arc;
use core::net::SocketAddr;

use first_usable::FirstUsable;
use interop::openssl::Workdir;
use interop::pki::NAME;
use interop::tcp::{self, Failure, Report, Server};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, RootCertStore, ServerConfig,
};
use rustls_pq::Builder;

#[test]
fn at_s_server() {
    let Some(scene) = Scene::new() else { return };
    let server = scene
        .work
        .serve("-cert ecdsa.pem -key ecdsa.key -dcert ml-dsa.pem -dkey ml-dsa.key -rev");
    scene.each_root_gets_its_chain(|| server.address());
}

/// An ECDSA root signs the certificate of an ML-DSA key: our client of this root accepts it. A post-quantum root doesn't
/// speak for classical keys.
#[test]
fn mixed_chains_at_s_server() {
    let Some(scene) = Scene::new() else { return };
    let work = &scene.work;
    let [(ml_dsa, ml_dsa_key), (ecdsa, ecdsa_key)] = KEYS;
    work.issue("mixed", ecdsa_key, ml_dsa_key);
    work.issue("refused", ml_dsa_key, ecdsa_key);
    let serve = |name: &str| work.serve(&format!("-cert {name}.pem -key {name}.key -rev"));
    let server = serve("mixed");
    for by_roots in [true, false] {
        let report = scene.fetch(server.address(), &["mixed"], by_roots);
        let report = report.unwrap_or_else(|err| panic!("{ml_dsa} under {ecdsa}: {err}"));
        assert_eq!(report.peer_certificates[0], scene.certificate("mixed"));
    }
    let server = serve("refused");
    match scene.fetch(server.address(), &["refused"], true) {
        Err(Failure::Tls(Error::AlertReceived(AlertDescription::HandshakeFailure))) => {}
        other => panic!("{ecdsa} under {ml_dsa}: {other:?}"),
    }
    let report = scene.fetch(server.address(), &["refused"], false);
    report.expect("without the roots everything is asked for");
}

#[test]
fn at_rustls_over_aws_lc_rs() {
    let Some(scene) = Scene::new() else { return };
    let provider = aws_lc_rs::default_provider();
    let keys = KINDS.map(|kind| {
        let chain = vec![scene.certificate(kind)];
        let key = scene.work.read(&format!("{kind}.key"));
        let key = PrivateKeyDer::from_pem_slice(&key).expect("OpenSSL's keys are PEM");
        let key = CertifiedKey::from_der(chain, key, &provider);
        Arc::new(key.expect("aws-lc-rs reads OpenSSL's keys"))
    });
    let config = ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .expect("aws-lc-rs has TLS 1.3")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(FirstUsable {
            keys,
            follows_list: true,
        }));
    let config = Arc::new(config);
    let mut servers = Vec::new();
    scene.each_root_gets_its_chain(|| {
        servers.push(Server::start(Arc::clone(&config), 1));
        servers[servers.len() - 1].address()
    });
}

/// Certificates by OpenSSL, each under a root of its own.
struct Scene {
    work: Workdir,
}

/// The preferred one first.
const KINDS: [&str; 2] = ["ml-dsa", "ecdsa"];

/// Each with OpenSSL's options for its key.
const KEYS: [(&str, &str); 2] = [
    (KINDS[0], "-newkey ML-DSA-65"),
    (KINDS[1], "-newkey EC -pkeyopt ec_paramgen_curve:P-256"),
];

impl Scene {
    fn new() -> Option<Self> {
        let work = Workdir::new()?;
        for (name, key) in KEYS {
            work.issue(name, key, key);
        }
        Some(Self { work })
    }

    fn certificate(&self, name: &str) -> CertificateDer<'static> {
        let pem = self.work.read(&format!("{name}.pem"));
        CertificateDer::from_pem_slice(&pem).expect("OpenSSL's certificates are PEM")
    }

    fn each_root_gets_its_chain(&self, mut address: impl FnMut() -> SocketAddr) {
        let [ml_dsa, ecdsa] = KINDS;
        for (roots, expected) in [
            (&[ml_dsa][..], ml_dsa),
            (&[ecdsa], ecdsa),
            (&[ecdsa, ml_dsa], ml_dsa),
        ] {
            let report = self
                .fetch(address(), roots, true)
                .unwrap_or_else(|err| panic!("{roots:?}: {err}"));
            assert_eq!(report.peer_certificates[0], self.certificate(expected));
        }
        // This is why Builder::roots exists.
        match self.fetch(address(), &[ecdsa], false) {
            Err(Failure::Tls(Error::InvalidCertificate(CertificateError::UnknownIssuer))) => {}
            other => panic!("without the roots: {other:?}"),
        }
    }

    fn fetch(
        &self,
        address: SocketAddr,
        roots: &[&str],
        by_roots: bool,
    ) -> Result<Report, Failure> {
        let mut store = RootCertStore::empty();
        for root in roots {
            let root = self.certificate(&format!("{root}-ca"));
            store.add(root).expect("the root is a certificate");
        }
        let builder = Builder::with_default_base().expect("the default base runs here");
        let builder = match by_roots {
            true => builder.roots(&store),
            false => builder,
        };
        let provider = builder.build().expect("there is a scheme for the roots");
        let config = ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .expect("the provider has TLS 1.3")
            .with_root_certificates(store)
            .with_no_client_auth();
        tcp::connect(&config.into(), address, NAME, "which")
    }
}
