//! SLH-DSA, every set: with OpenSSL for everything except the
//! handshake's own signature, and in handshakes between two of our endpoints.

use interop::endpoint;
use interop::openssl::Workdir;
use interop::pki::{self, Identity, NAME, generate, server_leaf};
use interop::tcp::{self, Server};
use pq_core::slh_dsa::{self, Message};
use pq_x509::certificate::{Certificate, Sizes};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey, VerifyingKey};
use pq_x509::request::CertificateRequest;
use pq_x509::validation::ChainValidator;
use pq_x509::verification;
use rustls::pki_types::UnixTime;
use rustls::{ClientConnection, HandshakeKind, NamedGroup, ServerConnection};
use rustls_pq::Builder;
use rustls_pq::identity::IdentityError;

/// The same test for every set.
macro_rules! for_every_set {
    ($($test:ident),+ $(,)?) => {$(
        mod $test {
            use super::*;

            #[test]
            fn fast_sets() {
                let Some(work) = Workdir::new() else { return };
                for_every_set!(@ $test, work:
                    SlhDsaSha2_128f, SlhDsaSha2_192f, SlhDsaSha2_256f,
                    SlhDsaShake128f, SlhDsaShake192f, SlhDsaShake256f,
                );
            }

            #[test]
            #[ignore = "takes seconds: `.ci/run tests` runs it"]
            fn small_sets() {
                let Some(work) = Workdir::new() else { return };
                for_every_set!(@ $test, work:
                    SlhDsaSha2_128s, SlhDsaSha2_192s, SlhDsaSha2_256s,
                    SlhDsaShake128s, SlhDsaShake192s, SlhDsaShake256s,
                );
            }
        }
    )+};
    (@ $test:ident, $work:ident: $($set:ident),+ $(,)?) => {
        $(tests::$test::<slh_dsa::$set>(&$work);)+
    };
}

for_every_set! {
    deterministic_signatures_are_the_same,
    hedged_signatures,
}

mod tests {
    use super::*;

    /// Deterministic signatures with a context and without one. Afterwards both refuse a flipped bit.
    pub(super) fn deterministic_signatures_are_the_same<P: slh_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        let mut ours = vec![0; P::SIGNATURE_LEN];
        key.sign_into(Message::Pure(MESSAGE), CONTEXT, None, &|_| (), &mut ours)
            .expect("the context is short enough");
        let options = format!("-pkeyopt deterministic:1 {CONTEXT_OPTION}");
        let theirs = sign_by_openssl(work, &options);
        assert!(ours == theirs, "{}", P::NAME);

        // In R, in FORS, at the end.
        for position in [0, P::SIGNATURE_LEN / 4, P::SIGNATURE_LEN - 1] {
            let mut bad = ours.clone();
            bad[position] ^= 0x10;
            work.write("signature", &bad);
            work.run_failing(&format!("{VERIFY_SIGNATURE} {CONTEXT_OPTION}"))
                .assert_contains("Signature Verification Failure");
            assert_eq!(
                key.verifying_key()
                    .verify_bytes(Message::Pure(MESSAGE), CONTEXT, &bad),
                Err(pq_core::Error::InvalidSignature)
            );
        }
    }

    pub(super) fn hedged_signatures<P: slh_dsa::ParameterSet>(work: &Workdir) {
        let key = signing_key::<P>(work);
        let theirs = sign_by_openssl(work, "");
        let verifying_key = key.verifying_key();
        verifying_key
            .verify_bytes(Message::Pure(MESSAGE), b"", &theirs)
            .expect("OpenSSL signed this");
        verifying_key
            .verify_bytes(Message::Pure(MESSAGE), CONTEXT, &theirs)
            .expect_err("OpenSSL signed this without a context");

        let ours = loaded(work).sign(MESSAGE).expect("the key signs");
        work.write("signature", &ours);
        work.run(VERIFY_SIGNATURE)
            .assert_contains("Signature Verified Successfully");
    }
}

#[test]
fn keys() {
    let Some(work) = Workdir::new() else { return };
    for &algorithm in SignatureAlgorithm::SLH_DSA {
        // OpenSSL reads our key, and writes the same file.
        let key = generate(algorithm);
        let pem = key.to_pkcs8_pem().expect("the key has its only form");
        work.write("ours.pem", pem.as_bytes());
        work.run("pkey -in ours.pem -check -noout")
            .assert_line("Key is valid");
        work.run("pkey -in ours.pem -out theirs.pem");
        assert_eq!(work.read_text("theirs.pem"), *pem, "{algorithm}");
        work.run("pkey -in ours.pem -pubout -out public.pem");
        assert_eq!(
            work.read_text("public.pem"),
            key.verifying_key().to_spki_pem()
        );

        // And the reverse.
        work.run(&format!(
            "genpkey -algorithm {algorithm} -out theirs.pem -outpubkey public.pem"
        ));
        let pem = work.read_text("theirs.pem");
        let key = SigningKey::from_pkcs8_pem(&pem).expect("a key of OpenSSL");
        assert_eq!(key.algorithm(), algorithm);
        assert_eq!(key.check(), Ok(()));
        assert_eq!(*key.to_pkcs8_pem().expect("its only form"), pem);
        let public = work.read_text("public.pem");
        let public = VerifyingKey::from_spki_pem(&public).expect("a key of OpenSSL");
        assert_eq!(key.verifying_key(), &public);
    }
}

/// Requests and chains in which this set signs everything.
#[test]
fn requests_and_chains_of_ours() {
    let Some(work) = Workdir::new() else { return };
    for &algorithm in SignatureAlgorithm::SLH_DSA {
        let pki = pki::Pki::new(algorithm);
        let key = generate(algorithm);
        let request = CertificateRequest::builder()
            .dns_name(NAME)
            .sign(&key)
            .expect("the key signs");
        work.write("request.pem", request.to_pem());
        work.run("req -in request.pem -verify -noout")
            .assert_contains("Certificate request self-signature verify OK");

        let request = request.verify().expect("it is signed by its key");
        let leaf = pki
            .intermediate()
            .issue(request.certificate().server_auth(), &request)
            .expect("the request can be granted");
        work.write("root.pem", pki.root().to_pem());
        work.write("ca.pem", pki.intermediate().certificate().to_pem());
        work.write("leaf.pem", leaf.to_pem());
        work.run(&format!(
            "verify -x509_strict -purpose sslserver -verify_hostname {NAME} -CAfile root.pem \
             -untrusted ca.pem leaf.pem"
        ));
    }
}

#[test]
fn requests_and_chains_of_openssl() {
    requests_and_chains_of_openssl_with("f");
}

#[test]
#[ignore = "OpenSSL signs for half a minute: `.ci/run tests` runs it"]
fn requests_and_chains_of_openssl_with_small_sets() {
    requests_and_chains_of_openssl_with("s");
}

/// Tests the sets whose name has this ending: half of all.
fn requests_and_chains_of_openssl_with(speed: &str) {
    let Some(work) = Workdir::new() else { return };
    work.write(
        "ca.ext",
        "basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\n",
    );
    let all = SignatureAlgorithm::SLH_DSA.iter();
    let sets: Vec<_> = all.filter(|set| set.name().ends_with(speed)).collect();
    assert_eq!(2 * sets.len(), SignatureAlgorithm::SLH_DSA.len());
    for algorithm in sets {
        work.run(&format!(
            "req -x509 -newkey {algorithm} -noenc -keyout root.key -subj /CN=root -out root.pem \
             -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign"
        ));
        work.run(&format!(
            "req -new -newkey {algorithm} -noenc -keyout ca.key -subj /CN=ca -out ca.req"
        ));
        work.run("x509 -req -in ca.req -CA root.pem -CAkey root.key -extfile ca.ext -out ca.pem");
        work.run(&format!(
            "req -new -newkey {algorithm} -noenc -keyout leaf.key -subj /CN=leaf -out leaf.req \
             -addext subjectAltName=DNS:{NAME} -addext keyUsage=critical,digitalSignature"
        ));
        work.run(
            "x509 -req -in leaf.req -CA ca.pem -CAkey ca.key -copy_extensions copy -out leaf.pem",
        );

        CertificateRequest::from_pem(&work.read_text("leaf.req"))
            .expect("the request can be read")
            .verify()
            .unwrap_or_else(|err| panic!("{algorithm}: {err}"));
        let [root, ca, leaf] = ["root.pem", "ca.pem", "leaf.pem"].map(|name| {
            Certificate::from_pem(&work.read_text(name)).unwrap_or_else(|err| panic!("{err}"))
        });
        assert_eq!(root.verify_signature(&root, verification::ALL), Ok(()));
        ChainValidator::new([root])
            .expect("the root is one")
            .validate_server(&[&leaf, &ca], &pki::server_name(NAME), UnixTime::now())
            .unwrap_or_else(|err| panic!("{algorithm}: {err}"));
    }
}

/// The chain that the documentation recommends, with roots of every set: SLH-DSA signs the
/// intermediate, and everything else is ML-DSA-65.
#[test]
fn roots_in_tls() {
    let Some(work) = Workdir::new() else { return };
    let provider = rustls_pq::provider().expect("the default provider runs here");
    for &algorithm in SignatureAlgorithm::SLH_DSA {
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), generate(algorithm))
            .expect("a root can be issued");
        let ca = root
            .issue_ca(
                CertificateBuilder::ca("CA").path_len(0),
                generate(SignatureAlgorithm::MlDsa65),
            )
            .expect("an intermediate can be issued");
        let key = generate(SignatureAlgorithm::MlDsa65);
        let leaf = ca.issue(server_leaf(), &key).expect("a leaf can be issued");
        let identity = Identity {
            chain: vec![leaf, ca.certificate().clone()],
            key,
        };
        work.write("root.pem", root.certificate().to_pem());

        let server = Server::start(endpoint::server(provider.clone(), &identity, None), 1);
        let output = work.connect(
            server.address(),
            &format!("-verify_hostname {NAME} -verify_return_error -CAfile root.pem"),
            "hybrid",
        );
        assert!(output.success(), "{algorithm}: {output}");
        output.assert_line("Negotiated TLS1.3 group: X25519MLKEM768");
        output.assert_line("Peer signature type: mldsa65");
        output.assert_line("Verification: OK");
        assert_eq!(server.reports().len(), 1);

        let server = work.serve(&identity.write_to(&work, "server"));
        let client = endpoint::client(provider.clone(), root.certificate(), None);
        let report = tcp::connect(&client, server.address(), NAME, "hybrid")
            .unwrap_or_else(|err| panic!("{algorithm}: {err}"));
        assert_eq!(report.received, "dirbyh");
        assert_eq!(report.peer_certificates, identity.chain_der());
    }
}

/// OpenSSL has no code points for SLH-DSA in the handshake, so both sides are ours. Chains
/// that are too large are refused when they are configured, with their sizes.
#[test]
fn leaves_in_tls() {
    let provider = Builder::with_default_base()
        .and_then(|builder| builder.experimental_slh_dsa().build())
        .expect("the default base runs here");
    let mut refused = Vec::new();
    for &algorithm in SignatureAlgorithm::SLH_DSA {
        // One certificate, under a root of the same set.
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), generate(algorithm))
            .expect("a root can be issued");
        let key = generate(algorithm);
        let leaf = root
            .issue(server_leaf(), &key)
            .expect("a leaf can be issued");
        let identity = Identity {
            chain: vec![leaf],
            key,
        };
        let checked =
            rustls_pq::identity::Identity::new(identity.chain_der(), identity.key_der(), &provider);
        match checked {
            Ok(_) => {
                let client = endpoint::client(provider.clone(), root.certificate(), None);
                let server = endpoint::server(provider.clone(), &identity, None);
                let client = ClientConnection::new(client, pki::server_name(NAME));
                let mut outcome = handshakes::connect(
                    client.expect("the client is configured well"),
                    ServerConnection::new(server).expect("the server is configured well"),
                );
                outcome.assert_negotiated(NamedGroup::X25519MLKEM768, HandshakeKind::Full);
                outcome.assert_works();
            }
            Err(error @ IdentityError::TooLarge { .. }) => {
                let signature = algorithm.signature_len();
                let certificates = Sizes::of(&identity.chain).tls13_certificate_message() - 4;
                let text = error.to_string();
                assert!(text.contains(&certificates.to_string()), "{text}");
                assert!(text.contains(&signature.to_string()), "{text}");
                refused.push(algorithm);
            }
            Err(other) => panic!("{algorithm}: {other}"),
        }
    }
    let fast = |n: &str| refused.iter().filter(|set| set.name().ends_with(n)).count();
    assert_eq!((refused.len(), fast("192f"), fast("256f")), (4, 2, 2));
}

/// A fresh key of ours, which OpenSSL finds in `private.pem` and `public.pem`.
fn signing_key<P: slh_dsa::ParameterSet>(work: &Workdir) -> slh_dsa::SigningKey<P> {
    let key = generate(P::NAME.parse().expect("the set has a name"));
    let pem = key.to_pkcs8_pem().expect("the key has its only form");
    work.write("private.pem", pem.as_bytes());
    work.write("public.pem", key.verifying_key().to_spki_pem());
    work.write("message", MESSAGE);
    slh_dsa::SigningKey::from_bytes(&key.to_expanded()).expect("the key has the right length")
}

/// The same key as certificates use it.
fn loaded(work: &Workdir) -> SigningKey {
    SigningKey::from_pkcs8_pem(&work.read_text("private.pem")).expect("our own key")
}

fn sign_by_openssl(work: &Workdir, options: &str) -> Vec<u8> {
    work.run(&format!(
        "pkeyutl -sign -rawin -inkey private.pem -in message -out signature {options}"
    ));
    work.read("signature")
}

const VERIFY_SIGNATURE: &str =
    "pkeyutl -verify -rawin -pubin -inkey public.pem -in message -sigfile signature";

const MESSAGE: &[u8] = b"a message that both sides know";
const CONTEXT: &[u8] = b"con\0text";
const CONTEXT_OPTION: &str = "-pkeyopt hexcontext-string:636f6e0074657874";
