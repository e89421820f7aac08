//! Post-quantum and classical certificates on one port: which one OpenSSL's client, rustls over
//! aws-lc-rs and our own client get, depending on what they accept and trust.

#[path = "../../../../provider/tests/provider/named_roots.rs"]
mod named_roots;

use alloc::sync::Arc;
use core::net::{Ipv4Addr, SocketAddr};

use interop::openssl::Workdir;
use interop::pki::NAME;
use interop::tcp::{self, Server};
use pq_serving::{Limits, Tls};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, ServerConfig, SignatureScheme};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, KeyAlgorithm, Profile, identity};
use tokio::runtime::Runtime;

/// All clients have all roots.
#[test]
fn strongest_that_s_client_accepts() {
    let Some(work) = Workdir::new() else { return };
    let provider = Arc::new(rustls_pq::provider().expect("the default provider runs here"));
    let mut roots = Vec::new();
    // The weakest first, so that the result can't come from the order.
    let mut set = IdentitySet::new().strongest_first();
    for (name, key) in [
        ("rsa", "-newkey rsa:2048"),
        ("ecdsa", ECDSA),
        ("ml-dsa", ML_DSA),
    ] {
        work.issue(name, key, key);
        roots.extend(work.read(&format!("{name}-ca.pem")));
        set = set.with_default(load(&work, name, &provider));
    }
    work.write("roots.pem", roots);
    let keys: Vec<_> = set.identities().map(|it| it.key_algorithm()).collect();
    assert!(keys.contains(&KeyAlgorithm::Rsa { bits: 2048 }), "{keys:?}");
    assert!(keys.contains(&KeyAlgorithm::EcdsaP256), "{keys:?}");

    let config = server(provider, set);
    for (options, subject) in [
        ("", "ml-dsa"),
        ("-sigalgs mldsa65", "ml-dsa"),
        (
            "-sigalgs ecdsa_secp256r1_sha256:rsa_pss_rsae_sha256:rsa_pkcs1_sha256",
            "ecdsa",
        ),
        ("-sigalgs rsa_pss_rsae_sha256:rsa_pkcs1_sha256", "rsa"),
        // No certificate has a key of ML-DSA-44, so the client gets the next best.
        ("-sigalgs mldsa44:ecdsa_secp256r1_sha256", "ecdsa"),
        // ML-DSA is offered, but can't be used in TLS 1.2.
        ("-tls1_2", "ecdsa"),
        ("-tls1_2 -sigalgs rsa_pkcs1_sha256", "rsa"),
    ] {
        let server = Server::start(config.clone(), 1);
        let output = work.connect(
            server.address(),
            &format!(
                "-servername {NAME} -verify_hostname {NAME} -verify_return_error \
                 -CAfile roots.pem {options}"
            ),
            MESSAGE,
        );
        assert!(output.success(), "{options}: {output}");
        output.assert_line(MESSAGE_REVERSED);
        output.assert_contains(&format!("subject=CN={subject}\n"));
        assert_eq!(server.reports().len(), 1);
    }
}

/// `s_client` with its defaults, which list ML-DSA, connects to `tls-server` with an ECDSA chain and then an
/// ML-DSA chain: with the root of the first chain, and with the root of the second if it tells the server
/// so.
#[test]
fn s_client_by_whom_it_trusts() {
    let Some(work) = Workdir::new() else { return };
    let [ecdsa, ml_dsa] = ["ecdsa-ca.pem", "ml-dsa-ca.pem"];
    let slh_dsa = "slh-dsa-ca.pem";
    for (name, key) in [("ecdsa", ECDSA), ("ml-dsa", ML_DSA), ("other", ECDSA)] {
        work.issue(name, key, key);
    }
    work.issue("slh-dsa", "-newkey SLH-DSA-SHA2-128f", ML_DSA);
    let server = TlsServer::start(&work, &["ecdsa", "ml-dsa", "slh-dsa"]);
    work.write("both.pem", [work.read(ecdsa), work.read(ml_dsa)].concat());
    let connect = |server: &TlsServer, trusted: &str, options: &str| {
        let options = format!(
            "-servername {NAME} -verify_hostname {NAME} -verify_return_error -CAfile {trusted} \
             {options}"
        );
        work.connect(server.address(), &options, REQUEST)
    };

    for (trusted, options, subject) in [
        (ecdsa, "", "ecdsa"),
        (ecdsa, "-requestCAfile ecdsa-ca.pem", "ecdsa"),
        (ecdsa, "-requestCAfile other-ca.pem", "ecdsa"),
        (ml_dsa, "-requestCAfile ml-dsa-ca.pem", "ml-dsa"),
        (ml_dsa, "-sigalgs mldsa65", "ml-dsa"),
        // s_client lists no scheme for SLH-DSA, but verifies it.
        (slh_dsa, "-requestCAfile slh-dsa-ca.pem", "slh-dsa"),
        ("both.pem", "", "ecdsa"),
        ("both.pem", "-requestCAfile ml-dsa-ca.pem", "ml-dsa"),
        ("both.pem", "-requestCAfile both.pem", "ecdsa"),
        ("both.pem", "-sigalgs mldsa65", "ml-dsa"),
        // To trust a root is of no use if the chain's signatures can't be verified.
        (
            "both.pem",
            "-requestCAfile ml-dsa-ca.pem -sigalgs ecdsa_secp256r1_sha256",
            "ecdsa",
        ),
    ] {
        let output = connect(&server, trusted, options);
        assert!(output.success(), "{trusted} {options}: {output}");
        output.assert_contains("200 OK");
        output.assert_contains(&format!("subject=CN={subject}\n"));
    }

    assert!(!connect(&server, slh_dsa, "").success());
    // A client that trusts only the second root, and doesn't say so, needs the second chain to be first.
    assert!(!connect(&server, ml_dsa, "").success());
    let server = TlsServer::start(&work, &["ml-dsa", "ecdsa"]);
    assert!(connect(&server, ml_dsa, "").success());
    assert!(!connect(&server, ecdsa, "").success());
    assert!(connect(&server, ecdsa, "-requestCAfile ecdsa-ca.pem").success());
}

/// The same for rustls's clients, over aws-lc-rs and over our provider.
#[test]
fn rustls_by_whom_it_trusts() {
    let Some(work) = Workdir::new() else { return };
    for (name, key) in [("ecdsa", ECDSA), ("ml-dsa", ML_DSA)] {
        work.issue(name, key, key);
    }
    let server = TlsServer::start(&work, &["ecdsa", "ml-dsa"]);
    let certificate = |name: &str| {
        let pem = work.read(&format!("{name}.pem"));
        CertificateDer::from_pem_slice(&pem).expect("OpenSSL writes certificates")
    };
    let roots = |names: &[&str]| {
        let mut roots = RootCertStore::empty();
        for name in names {
            let root = certificate(&format!("{name}-ca"));
            roots.add(root).expect("a root");
        }
        roots
    };
    let as_it_comes = |provider: &CryptoProvider, trusted: &[&str]| {
        ClientConfig::builder_with_provider(Arc::new(provider.clone()))
            .with_safe_default_protocol_versions()
            .expect("the provider has both versions")
            .with_root_certificates(roots(trusted))
            .with_no_client_auth()
    };
    let naming = |provider: &CryptoProvider, trusted: &[&str]| {
        let provider = Arc::new(provider.clone());
        named_roots::client(provider, roots(trusted), rustls::DEFAULT_VERSIONS)
    };
    let ours = rustls_pq::provider().expect("the default provider runs here");
    for provider in [ours, rustls::crypto::aws_lc_rs::default_provider()] {
        let algorithms = provider.signature_verification_algorithms;
        let schemes = algorithms.supported_schemes();
        assert!(schemes.contains(&SignatureScheme::ML_DSA_65));
        let ml_dsa_only = ml_dsa_only(provider.clone());
        for (client, expected) in [
            (as_it_comes(&provider, &["ecdsa"]), "ecdsa"),
            (as_it_comes(&provider, &["ecdsa", "ml-dsa"]), "ecdsa"),
            (naming(&provider, &["ecdsa"]), "ecdsa"),
            (naming(&provider, &["ml-dsa"]), "ml-dsa"),
            (naming(&provider, &["ecdsa", "ml-dsa"]), "ecdsa"),
            (as_it_comes(&ml_dsa_only, &["ml-dsa"]), "ml-dsa"),
        ] {
            let report = tcp::connect(&Arc::new(client), server.address(), NAME, REQUEST)
                .unwrap_or_else(|error| panic!("{expected}: {error}"));
            assert!(report.received.contains("200 OK"), "{report:?}");
            assert_eq!(report.peer_certificates, [certificate(expected)]);
        }
    }

    // Our own client as documented: by its roots, it requests what it can verify.
    for name in ["ecdsa", "ml-dsa"] {
        let builder = Builder::with_default_base().expect("the default base runs here");
        let provider = builder.roots(&roots(&[name])).build();
        let client = as_it_comes(&provider.expect("schemes for the root"), &[name]);
        let report = tcp::connect(&Arc::new(client), server.address(), NAME, REQUEST)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(report.peer_certificates, [certificate(name)]);
    }
}

/// A provider that verifies nothing but ML-DSA.
fn ml_dsa_only(provider: CryptoProvider) -> CryptoProvider {
    let all = provider.signature_verification_algorithms;
    let mapping = all.mapping.iter().filter(|(scheme, _)| {
        use SignatureScheme as Scheme;
        [Scheme::ML_DSA_44, Scheme::ML_DSA_65, Scheme::ML_DSA_87].contains(scheme)
    });
    CryptoProvider {
        signature_verification_algorithms: WebPkiSupportedAlgorithms {
            mapping: Vec::leak(mapping.copied().collect()),
            ..all
        },
        ..provider
    }
}

/// The server of pq-serving, which runs as long as this value lives.
struct TlsServer {
    server: pq_serving::Server,
    _runtime: Runtime,
}

impl TlsServer {
    /// Starts it with these chains in this order.
    fn start(work: &Workdir, names: &[&str]) -> Self {
        let provider = pq_serving::provider(Profile::Default, &[]).expect("it runs here");
        let set = names.iter().fold(IdentitySet::new(), |set, name| {
            set.with_default(load(work, name, &provider))
        });
        let tls = Tls::with(provider, Arc::new(Identities::new(set)), None);
        let runtime = Runtime::new().expect("threads");
        let server = pq_serving::Server::bind(
            (Ipv4Addr::LOCALHOST, 0),
            tls.expect("a configuration"),
            Limits::default(),
        );
        Self {
            server: runtime.block_on(server).expect("a port is free"),
            _runtime: runtime,
        }
    }

    fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }
}

fn server(provider: Arc<CryptoProvider>, set: IdentitySet) -> Arc<ServerConfig> {
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has both versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Identities::new(set)));
    Arc::new(config)
}

fn load(work: &Workdir, name: &str, provider: &CryptoProvider) -> identity::Identity {
    let [chain, key] = ["pem", "key"].map(|suffix| work.read(&format!("{name}.{suffix}")));
    identity::Identity::from_pem(&chain, &key, provider)
        .unwrap_or_else(|err| panic!("{name}: {err}"))
}

const ECDSA: &str = "-newkey EC -pkeyopt ec_paramgen_curve:P-256";
const ML_DSA: &str = "-newkey ML-DSA-65";

/// Another line feed follows it.
const REQUEST: &str = "GET / HTTP/1.0\r\n\r";

const MESSAGE: &str = "choose";
const MESSAGE_REVERSED: &str = "esoohc";
