//! Post-quantum and classical certificates on one port: which one OpenSSL's client gets,
//! by what it accepts.

extern crate alloc;

use alloc::sync::Arc;

use interop::openssl::Workdir;
use interop::pki::NAME;
use interop::tcp::Server;
use rustls::ServerConfig;
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{KeyAlgorithm, identity};

#[test]
fn by_what_s_client_accepts() {
    let Some(work) = Workdir::new() else { return };
    let provider = Arc::new(rustls_pq::provider().expect("the default provider runs here"));
    let mut roots = Vec::new();
    let mut set = IdentitySet::new();
    // The weakest first, so that it isn't the order that decides.
    for (name, key) in [
        ("rsa", "-newkey rsa:2048"),
        ("ecdsa", "-newkey EC -pkeyopt ec_paramgen_curve:P-256"),
        ("ml-dsa", "-newkey ML-DSA-65"),
    ] {
        work.run(&format!(
            "req -x509 {key} -noenc -keyout ca.key -subj /CN={name}-root -out ca.pem \
             -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign"
        ));
        work.run(&format!(
            "req -x509 -CA ca.pem -CAkey ca.key {key} -noenc -keyout server.key -subj /CN={name} \
             -addext subjectAltName=DNS:{NAME} -addext basicConstraints=critical,CA:false \
             -out server.pem"
        ));
        roots.extend(work.read("ca.pem"));
        let (chain, key) = (work.read("server.pem"), work.read("server.key"));
        let identity = identity::Identity::from_pem(&chain, &key, &provider)
            .unwrap_or_else(|err| panic!("{name}: {err}"));
        set = set.with_default(identity);
    }
    work.write("roots.pem", roots);
    let keys: Vec<_> = set.identities().map(|it| it.key_algorithm()).collect();
    assert!(keys.contains(&KeyAlgorithm::Rsa { bits: 2048 }), "{keys:?}");
    assert!(keys.contains(&KeyAlgorithm::EcdsaP256), "{keys:?}");

    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has both versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Identities::new(set)));
    let config = Arc::new(config);
    for (options, subject) in [
        ("", "ml-dsa"),
        ("-sigalgs mldsa65", "ml-dsa"),
        (
            "-sigalgs ecdsa_secp256r1_sha256:rsa_pss_rsae_sha256:rsa_pkcs1_sha256",
            "ecdsa",
        ),
        ("-sigalgs rsa_pss_rsae_sha256:rsa_pkcs1_sha256", "rsa"),
        // ML-DSA-44 is none of ours, so it is the next best.
        ("-sigalgs mldsa44:ecdsa_secp256r1_sha256", "ecdsa"),
        // Offered, and of no use in TLS 1.2.
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

const MESSAGE: &str = "choose";
const MESSAGE_REVERSED: &str = "esoohc";
