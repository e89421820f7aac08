//! The program `tls-client`, run as people run it.
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std"
)]

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;
use std::time::SystemTime;

use pq_serving::demonstration::Pki;
use pq_serving::{Identity, Limits, Server, Tls, provider};
use pq_x509::certificate::{Certificate, KeyUsages, Validity};
use pq_x509::issuing::{CertificateBuilder, EndEntity, IssueError, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder};
use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason};
use pq_x509::x509_cert::ext::pkix::KeyUsage;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivatePkcs8KeyDer, UnixTime};
use rustls_pq::identity::{self, Identities, IdentitySet};
use rustls_pq::{Group, Profile};
use serde_json::Value;
use signers::P256Key;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_rustls::TlsAcceptor;

/// The project's main job.
#[tokio::test]
async fn without_arguments() {
    let output = run(&[]).await;
    let report = succeeded(&output);
    for line in [
        "protocol              TLS 1.3",
        "handshake             full",
        "key exchange group    X25519MLKEM768",
        "signature scheme      ML-DSA-65",
        "sent                  CN=localhost",
        "trusted               CN=tls-server demonstration root",
        "Answer: 200 OK, ",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    assert_eq!(
        report
            .matches("ML-DSA-65 key, signed with ML-DSA-65, 5,")
            .count(),
        2
    );
    for phase in [
        "resolve",
        "TCP connect",
        "TLS handshake",
        "first byte of answer",
        "in all",
    ] {
        let time = report
            .lines()
            .find_map(|line| line.strip_suffix(" ms")?.trim().strip_prefix(phase))
            .unwrap_or_else(|| panic!("no {phase}: {report}"));
        time.trim().parse::<f64>().expect(time);
    }
    // The body, in which the server says the same.
    assert!(report.ends_with("client certificate    none\n"), "{report}");
    assert_eq!(output.stderr, b"");
}

#[tokio::test]
async fn without_arguments_as_json() {
    let report: Value = serde_json::from_str(&succeeded(&run(&["--json"]).await)).unwrap();
    assert_eq!(report["protocol"], "TLS 1.3");
    assert_eq!(report["group"], "X25519MLKEM768");
    assert_eq!(report["signature_scheme"], "ML-DSA-65");
    assert_eq!(report["alpn"], "http/1.1");
    assert_eq!(report["certificates"].as_array().unwrap().len(), 1);
    let leaf = &report["certificates"][0];
    assert_eq!(leaf["key_algorithm"], "ML-DSA-65");
    assert_eq!(leaf["signature_algorithm"], "ML-DSA-65");
    assert_eq!(leaf["names"], serde_json::json!(["localhost"]));
    assert_eq!(leaf["issuer"], report["trust_anchor"]["subject"]);

    let number = |pointer: &str| report.pointer(pointer).unwrap().as_f64().unwrap();
    // The client's key share; the server's share, certificate and signature.
    let leaf_size = number("/certificates/0/size");
    assert!(leaf_size > 1952.0 + 3309.0);
    assert!(number("/bytes/handshake/sent") > 1216.0);
    assert!(number("/bytes/handshake/received") > 1120.0 + leaf_size + 3309.0);
    assert!(number("/bytes/total/sent") > number("/bytes/handshake/sent"));
    assert!(number("/bytes/total/received") > number("/bytes/handshake/received"));
    for phase in ["connect", "handshake", "first_byte"] {
        assert!(number(&format!("/milliseconds/{phase}")) > 0.0, "{phase}");
    }

    assert_eq!(report["response"]["status"], "200 OK");
    let body = report["response"]["body"].as_str().unwrap();
    assert!(
        body.contains("key exchange group    X25519MLKEM768\n"),
        "{body}"
    );
}

#[tokio::test]
async fn without_arguments_in_another_group() {
    for group in Group::POST_QUANTUM {
        let report = succeeded(&run(&["--groups", &group.to_string()]).await);
        let line = format!("key exchange group    {group}\n");
        // The client and the server say so.
        assert_eq!(report.matches(&line).count(), 2, "{report}");
    }
}

#[tokio::test]
async fn with_a_url_and_a_ca() {
    let server = TestServer::start().await;
    let report = succeeded(&server.fetch(&[]).await);
    assert!(
        report.starts_with(&format!("{} at 127.0.0.1:", server.url())),
        "{report}"
    );
    assert!(report.contains("root.pem"), "{report}");
    assert!(report.contains("Answer: 200 OK"), "{report}");

    let missing = format!("{}missing", server.url());
    let report = succeeded(&run(&[&missing, "--ca", &server.ca()]).await);
    assert!(report.contains("Answer: 404 Not Found"), "{report}");
}

#[tokio::test]
async fn with_another_address_or_name() {
    let server = TestServer::start().await;
    let address = server.address().to_string();
    for arguments in [
        &["https://localhost/", "--connect", &address][..],
        &[
            "https://other.example/",
            "--connect",
            &address,
            "--server-name",
            "localhost",
        ],
    ] {
        let mut arguments = arguments.to_vec();
        let ca = server.ca();
        arguments.extend(["--ca", &ca]);
        let report = succeeded(&run(&arguments).await);
        assert!(report.contains(&format!("/ at {address}")), "{report}");
    }
}

#[tokio::test]
async fn with_a_client_certificate() {
    let server = TestServer::with(&[], true).await;
    let [cert, key] = server.client_files();
    let report = succeeded(
        &server
            .fetch(&["--client-cert", &cert, "--client-key", &key])
            .await,
    );
    assert!(
        report.ends_with("client certificate    CN=tls-client\n"),
        "{report}"
    );
}

#[tokio::test]
async fn chains_with_an_intermediate() {
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("The root"), key()).unwrap();
    let between = CertificateBuilder::ca("In between").path_len(0);
    let between = root.issue_ca(between, key()).unwrap();
    let leaf_key = SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    let leaf = between.issue(localhost(), &leaf_key).unwrap();
    let server = TestServer::serving(
        root.certificate(),
        vec![leaf, between.certificate().clone()],
        &leaf_key,
    )
    .await;

    let report: Value = serde_json::from_str(&succeeded(&server.fetch(&["--json"]).await)).unwrap();
    assert_eq!(report["signature_scheme"], "ML-DSA-87");
    let subjects: Vec<_> = report["certificates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|certificate| certificate["subject"].as_str().unwrap())
        .collect();
    assert_eq!(subjects, ["CN=localhost", "CN=In between"]);
    assert_eq!(report["certificates"][0]["key_algorithm"], "ML-DSA-87");
    assert_eq!(
        report["certificates"][0]["signature_algorithm"],
        "ML-DSA-44"
    );
    assert_eq!(report["trust_anchor"]["subject"], "CN=The root");
}

/// With a server that prefers ECDSA, as all clients trust that chain, each root gets its chain, unless the client asks for
/// all.
#[tokio::test]
async fn two_certificates_and_one_root() {
    let server = TestServer::with_two_certificates().await;
    for (ca, scheme) in [
        ("ml-dsa.pem", "ML-DSA-65"),
        ("ecdsa.pem", "ECDSA-NISTP256-SHA256"),
    ] {
        let ca = path_text(server.directory.path().join(ca));
        let report = succeeded(&run(&[&server.url(), "--ca", &ca]).await);
        assert!(
            report.contains(&format!("signature scheme      {scheme}\n")),
            "{report}"
        );
        let output = run(&[&server.url(), "--ca", &ca, "--mixed-chains"]).await;
        match scheme {
            "ML-DSA-65" => failed(&output, &["was issued by CN=ECDSA root"]),
            _ => drop(succeeded(&output)),
        }
    }
}

#[tokio::test]
async fn a_chain_of_another_kind_than_the_root() {
    let root = Issuer::self_signed(CertificateBuilder::ca("ECDSA root"), p256_signer()).unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let leaf = root.issue(localhost(), &key).unwrap();
    let server = TestServer::serving(root.certificate(), vec![leaf], &key).await;
    succeeded(&server.fetch(&[]).await);

    let root = self_signed("ML-DSA root");
    let leaf = root.issue(localhost(), &p256_signer()).unwrap();
    let server = TestServer::with_key(root.certificate(), vec![leaf], p256()).await;
    failed(
        &server.fetch(&[]).await,
        &["handshake_failure", "--mixed-chains"],
    );
    succeeded(&server.fetch(&["--mixed-chains"]).await);
}

#[tokio::test]
async fn an_unknown_issuer_is_named() {
    let server = TestServer::start().await;
    let other = self_signed("Somebody else");
    let ca = server.write("other.pem", &other.certificate().to_pem());
    failed(
        &run(&[&server.url(), "--ca", &ca]).await,
        &[
            "doesn't lead to a root that is trusted here",
            "CN=localhost was issued by CN=tls-server demonstration root",
            "are CN=Somebody else;",
            "--ca",
        ],
    );
}

#[tokio::test]
async fn a_root_of_an_earlier_run_is_suspected() {
    let server = TestServer::start().await;
    let other = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let ca = server.write("earlier.pem", &other.root.to_pem());
    failed(
        &run(&[&server.url(), "--ca", &ca]).await,
        &[
            "claims to be issued by CN=tls-server demonstration root",
            "earlier run",
        ],
    );
}

#[tokio::test]
async fn another_name_is_refused() {
    let server = TestServer::start().await;
    failed(
        &server.fetch(&["--server-name", "other.example"]).await,
        &[
            "not for \"other.example\" but for \"localhost\"",
            "--server-name",
        ],
    );
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let root = self_signed("The root");
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let day = Duration::from_secs(86_400);
    let past = Validity::starting(SystemTime::now() - 2 * day, day);
    let leaf = root.issue(localhost().validity(past), &key).unwrap();
    let server = TestServer::serving(root.certificate(), vec![leaf], &key).await;
    failed(&server.fetch(&[]).await, &["has expired", "clock"]);
}

#[tokio::test]
async fn the_certificate_of_a_client_is_refused() {
    let root = self_signed("The root");
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let builder = CertificateBuilder::client()
        .common_name("a client")
        .dns_name("localhost");
    let leaf = root.issue(builder, &key).unwrap();
    let server = TestServer::serving(root.certificate(), vec![leaf], &key).await;
    failed(
        &server.fetch(&[]).await,
        &[
            "is not for this use",
            "it is the certificate of CN=a client",
        ],
    );
}

/// What rustls alone would accept.
#[tokio::test]
async fn a_key_usage_without_signatures_is_refused() {
    let root = self_signed("The root");
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let mut leaf = root.prepare(localhost(), &key).unwrap();
    leaf.set_extension(true, &KeyUsage(KeyUsages::NonRepudiation.into()))
        .unwrap();
    let leaf = leaf.sign(root.signer()).unwrap();
    let server = TestServer::serving(root.certificate(), vec![leaf], &key).await;
    failed(
        &server.fetch(&[]).await,
        &[
            "the certificate of CN=localhost may not be used like this: ",
            "must include digitalSignature",
            "have its issuer issue it again",
        ],
    );
}

/// A CA that may not issue certificates.
#[tokio::test]
async fn an_issuer_that_must_not_issue_is_refused() {
    let root = self_signed("The root");
    let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ca_key = new_key();
    let builder = || CertificateBuilder::ca("The CA");
    let mut ca = root.prepare(builder(), &ca_key).unwrap();
    ca.set_extension(true, &KeyUsage(KeyUsages::CRLSign.into()))
        .unwrap();
    let ca = ca.sign(root.signer()).unwrap();
    let issuer = root.issue_ca(builder(), ca_key).unwrap();
    let key = new_key();
    let leaf = issuer.issue(localhost(), &key).unwrap();
    let server = TestServer::serving(root.certificate(), vec![leaf, ca], &key).await;
    failed(
        &server.fetch(&[]).await,
        &[
            "the certificate of CN=The CA may not be used like this: ",
            "must include keyCertSign",
        ],
    );
}

#[tokio::test]
async fn without_arguments_in_another_profile() {
    let report = succeeded(&run(&["--profile", "cnsa2"]).await);
    for line in [
        "with a fresh ML-DSA-87 root and leaf\n",
        "key exchange group    SecP384r1MLKEM1024\n",
        "signature scheme      ML-DSA-87\n",
        "cipher suite          TLS_AES_256_GCM_SHA384\n",
    ] {
        assert!(report.contains(line), "{report}");
    }
}

#[tokio::test]
async fn no_shared_group() {
    let server = TestServer::with(&[Group::MLKEM1024], false).await;
    failed(
        &server.fetch(&["--groups", "X25519MLKEM768,x25519"]).await,
        &[
            "handshake_failure",
            "groups X25519MLKEM768, x25519,",
            "--groups",
        ],
    );
}

/// The same alert, for a reason that has nothing to do with groups. Unless chains are mixed, the CA's key
/// tells this before the server is asked.
#[tokio::test]
async fn no_shared_signature_scheme() {
    let server = TestServer::with(&[Group::MLKEM1024], false).await;
    failed(
        &server.fetch(&["--profile", "cnsa2"]).await,
        &[
            "the roots have keys for ML-DSA-65",
            "are not accepted",
            "another profile",
        ],
    );
    failed(
        &server
            .fetch(&["--profile", "cnsa2", "--mixed-chains"])
            .await,
        &[
            "handshake_failure",
            "signature schemes [ML_DSA_87]",
            "--profile",
        ],
    );
}

/// No `Identity` would take such a chain, but rustls itself does.
#[tokio::test]
async fn a_chain_that_is_too_large() {
    let root = self_signed("The root");
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let leaf = (0..720).fold(localhost(), |leaf, at| {
        leaf.dns_name(format!("{at:05}.{}.example.org", "x".repeat(60)))
    });
    let chain = vec![root.issue(leaf, &key).unwrap().into_der()];
    let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der().unwrap().to_vec());
    let config = ServerConfig::builder_with_provider(rustls_pq::provider().unwrap().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key.into())
        .unwrap();

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let ca = ca_file();
    let arguments = [url.as_str(), "--ca", ca.path()];
    let (output, ()) = tokio::join!(run(&arguments), async {
        let (tcp, _) = listener.accept().await.unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        acceptor.accept(tcp).await.expect_err("the client leaves");
    });
    failed(
        &output,
        &["chain is too large", "65535 bytes", "leave out the root"],
    );
}

#[tokio::test]
async fn a_revoked_server_is_refused() {
    let ca = RevokingCa::start().await;
    for (list, arguments, expected) in [
        (
            ca.list_of_ca(true),
            &["--crl", &ca.root_list()][..],
            &[
                "a certificate of the peer has been revoked; the peer needs a new one",
                "; the certificate of CN=localhost was revoked at 2",
                " (keyCompromise)",
            ][..],
        ),
        (
            ca.list_of_ca(false),
            &[],
            &[
                "there is no list of CN=The root, which issued the certificate of CN=In between, in",
                "--crl names files",
                "--crl-leaf-only",
            ],
        ),
    ] {
        let mut all = vec!["--crl", list.as_str()];
        all.extend(arguments);
        failed(&ca.server.fetch(&all).await, expected);
    }
}

#[tokio::test]
async fn a_server_that_is_not_revoked_is_accepted() {
    let ca = RevokingCa::start().await;
    let (root, list) = (ca.root_list(), ca.list_of_ca(false));
    for arguments in [
        &["--crl", &root, "--crl", &list][..],
        &["--crl", &list, "--crl-leaf-only"],
    ] {
        let report = succeeded(&ca.server.fetch(arguments).await);
        assert!(report.contains("Answer: 200 OK"), "{report}");
    }
}

#[tokio::test]
async fn a_client_certificate_is_required() {
    let server = TestServer::with(&[], true).await;
    failed(
        &server.fetch(&[]).await,
        &["requires a client certificate", "--client-cert"],
    );
}

#[tokio::test]
async fn a_client_certificate_is_refused() {
    let server = TestServer::with(&[], true).await;
    let other = TestServer::with(&[], true).await;
    let [cert, key] = other.client_files();
    failed(
        &server
            .fetch(&["--client-cert", &cert, "--client-key", &key])
            .await,
        &["refused the certificate of this side", "--client-cert"],
    );
}

#[tokio::test]
async fn nobody_listens() {
    let server = TestServer::start().await;
    let TestServer {
        server, directory, ..
    } = server;
    let url = format!("https://127.0.0.1:{}/", server.local_addr().port());
    server.shutdown().await;
    let ca = directory.path().join("root.pem");
    failed(
        &run(&[&url, "--ca", ca.to_str().unwrap()]).await,
        &["no connection to 127.0.0.1:", "nothing listens there"],
    );
}

#[tokio::test]
async fn not_a_tls_server() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let ca = ca_file();
    let arguments = [url.as_str(), "--ca", ca.path()];
    let (output, ()) = tokio::join!(run(&arguments), async {
        let (mut tcp, _) = listener.accept().await.unwrap();
        tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        tcp.shutdown().await.unwrap();
    });
    failed(&output, &["something that is not TLS", "address and port?"]);
}

#[tokio::test]
async fn a_server_that_hangs_up() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let ca = ca_file();
    let arguments = [url.as_str(), "--ca", ca.path()];
    let (output, ()) = tokio::join!(run(&arguments), async {
        drop(listener.accept().await.unwrap());
    });
    failed(&output, &["the connection ended, and no alert says why"]);
}

#[tokio::test]
async fn a_silent_server() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let ca = ca_file();
    failed(
        &run(&[&url, "--ca", ca.path(), "--timeout", "1"]).await,
        &["the TLS handshake took longer than 1 s", "--timeout"],
    );
}

#[tokio::test]
async fn wrong_files() {
    let server = TestServer::with(&[], true).await;
    let url = server.url();
    let ca = server.ca();
    let [cert, key] = server.client_files();
    let other_key = path_text(server.directory.path().join("server.key"));
    let rubbish = server.write("rubbish.pem", "rubbish");
    let missing = server.directory.path().join("missing.pem");
    let missing = missing.to_str().unwrap();
    for (arguments, expected) in [
        (&[&url, "--ca", missing][..], "can't read the CA file"),
        (&[&url, "--ca", &rubbish], "rubbish.pem can't be used"),
        (&[&url, "--ca", &key], "can't be used"),
        (
            &[&url, "--ca", &ca, "--crl", missing],
            "the revocation lists in",
        ),
        (
            &[&url, "--ca", &ca, "--crl", &ca],
            "has no revocation lists that can be used",
        ),
        (
            &[
                &url,
                "--ca",
                &ca,
                "--client-cert",
                &cert,
                "--client-key",
                &cert,
            ],
            "the text for the private key has CERTIFICATE, and no private key; ",
        ),
        (
            &[
                &url,
                "--ca",
                &ca,
                "--client-cert",
                &cert,
                "--client-key",
                &other_key,
            ],
            "the private key doesn't belong to the certificate",
        ),
    ] {
        failed(&run(arguments).await, &[expected]);
    }
}

#[tokio::test]
async fn wrong_command_lines() {
    for (arguments, expected) in [
        (&["https://localhost/"][..], "--ca"),
        (&["--ca", "root.pem"], "<URL>"),
        (&["--crl", "ca.crl"], "<URL>"),
        (
            &["https://localhost/", "--ca", "root.pem", "--crl-leaf-only"],
            "--crl <FILE>",
        ),
        (&["http://localhost/", "--ca", "root.pem"], "only https://"),
        (
            &["--groups", "Kyber768"],
            "the known ones are X25519MLKEM768",
        ),
        (&["--timeout", "0"], "--timeout"),
    ] {
        let output = run(arguments).await;
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

/// A server in this process, and the files that clients need for it.
struct TestServer {
    server: Server,
    directory: TempDir,
}

impl TestServer {
    async fn start() -> Self {
        Self::with(&[], false).await
    }

    async fn with(groups: &[Group], client_certificates: bool) -> Self {
        let pki = Pki::issue_with_client(&["localhost".try_into().unwrap()]).unwrap();
        let client_roots = client_certificates.then(|| pki.roots().unwrap());
        let identity = Identity::try_from(&pki.server).unwrap();
        let tls = Tls::new(identity, groups, client_roots).unwrap();
        let directory = TempDir::new().unwrap();
        pki.write(directory.path()).unwrap();
        Self::listen(tls, directory).await
    }

    async fn serving(root: &Certificate, chain: Vec<Certificate>, key: &SigningKey) -> Self {
        let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der().unwrap().to_vec());
        Self::with_key(root, chain, key).await
    }

    async fn with_key(
        root: &Certificate,
        chain: Vec<Certificate>,
        key: PrivatePkcs8KeyDer<'static>,
    ) -> Self {
        let identity = Identity {
            chain: chain.into_iter().map(Certificate::into_der).collect(),
            key: key.into(),
        };
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("root.pem"), root.to_pem()).unwrap();
        Self::listen(Tls::new(identity, &[], None).unwrap(), directory).await
    }

    /// The chain of ECDSA first; the roots are in files of their own.
    async fn with_two_certificates() -> Self {
        let directory = TempDir::new().unwrap();
        let write = |name: &str, root: &Certificate| {
            fs::write(directory.path().join(name), root.to_pem()).unwrap();
        };
        let provider = provider(Profile::Default, &[]).unwrap();
        let identity = |leaf: Certificate, key: PrivatePkcs8KeyDer<'static>| {
            identity::Identity::new(vec![leaf.into_der()], key.into(), &provider).unwrap()
        };

        let root =
            Issuer::self_signed(CertificateBuilder::ca("ECDSA root"), p256_signer()).unwrap();
        write("ecdsa.pem", root.certificate());
        let leaf = root.issue(localhost(), &p256_signer()).unwrap();
        let set = IdentitySet::new().with_default(identity(leaf, p256()));

        let root = self_signed("ML-DSA root");
        write("ml-dsa.pem", root.certificate());
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        let leaf = root.issue(localhost(), &key).unwrap();
        let pkcs8 = PrivatePkcs8KeyDer::from(key.to_pkcs8_der().unwrap().to_vec());
        let set = set.with_default(identity(leaf, pkcs8));
        let identities = Arc::new(Identities::new(set));
        Self::listen(Tls::with(provider, identities, None).unwrap(), directory).await
    }

    async fn listen(tls: Tls, directory: TempDir) -> Self {
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, Limits::default())
            .await
            .unwrap();
        Self { server, directory }
    }

    fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/", self.address().port())
    }

    fn ca(&self) -> String {
        path_text(self.directory.path().join("root.pem"))
    }

    fn client_files(&self) -> [String; 2] {
        ["client.pem", "client.key"].map(|name| path_text(self.directory.path().join(name)))
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        path_text(path)
    }

    /// Runs the client with the URL, the CA and these arguments.
    async fn fetch(&self, arguments: &[&str]) -> Output {
        let (url, ca) = (self.url(), self.ca());
        let mut all = vec![url.as_str(), "--ca", &ca];
        all.extend(arguments);
        run(&all).await
    }
}

/// What the CA says in the OCSP response that the server sends.
#[tokio::test]
async fn ocsp() {
    let ca = RevokingCa::start().await;
    let no_response =
        "the server has sent no OCSP response with its certificate, and one is required";
    failed(
        &ca.server.fetch(&["--require-ocsp"]).await,
        &[no_response, "missing, or of no use"],
    );
    let report = succeeded(&ca.server.fetch(&[]).await);
    assert!(!report.contains("OCSP"), "{report}");
    let report: Value =
        serde_json::from_str(&succeeded(&ca.server.fetch(&["--json"]).await)).unwrap();
    assert_eq!(report["ocsp"], Value::Null);

    ca.staple(CertStatus::Good);
    let report = succeeded(&ca.server.fetch(&["--require-ocsp"]).await);
    assert!(
        report.contains("  OCSP                  good, until 2"),
        "{report}"
    );
    let report: Value =
        serde_json::from_str(&succeeded(&ca.server.fetch(&["--json"]).await)).unwrap();
    assert_eq!(report["ocsp"]["status"], "good");
    assert!(
        report["ocsp"]["next_update"]
            .as_str()
            .unwrap()
            .starts_with('2')
    );

    let date = UnixTime::since_unix_epoch(Duration::from_secs(1_700_000_000));
    ca.staple(CertStatus::Revoked {
        date,
        reason: CrlReason::KeyCompromise,
    });
    failed(
        &ca.server.fetch(&[]).await,
        &[
            "a certificate of the peer has been revoked",
            "its OCSP response says that the certificate of CN=localhost was revoked at \
             2023-11-14T22:13:20Z (keyCompromise)",
        ],
    );
}

/// A CA below a root, whose server is running.
struct RevokingCa {
    root: Issuer<SigningKey>,
    ca: Issuer<SigningKey>,
    leaf: Certificate,
    /// What the server shows.
    identity: Arc<identity::Identity>,
    server: TestServer,
}

impl RevokingCa {
    async fn start() -> Self {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("The root"), key()).unwrap();
        let ca = CertificateBuilder::ca("In between").path_len(0);
        let ca = root.issue_ca(ca, key()).unwrap();
        let leaf_key = key();
        let leaf = ca.issue(localhost(), &leaf_key).unwrap();
        let chain = [&leaf, ca.certificate()].map(|one| one.der().clone());
        let leaf_key = PrivatePkcs8KeyDer::from(leaf_key.to_pkcs8_der().unwrap().to_vec());
        let provider = provider(Profile::Default, &[]).unwrap();
        let identity = identity::Identity::new(chain.to_vec(), leaf_key.into(), &provider);
        let identity = Arc::new(identity.unwrap());
        let identities = Identities::new(IdentitySet::new().with_default(identity.clone()));
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("root.pem");
        fs::write(file, root.certificate().to_pem()).unwrap();
        let tls = Tls::with(provider, identities.into(), None).unwrap();
        Self {
            server: TestServer::listen(tls, directory).await,
            identity,
            root,
            ca,
            leaf,
        }
    }

    /// Has the server send a response by the CA.
    fn staple(&self, status: CertStatus) {
        let request = OcspRequest::builder().certificate(&self.leaf, self.ca.certificate());
        let responder = OcspResponder::ca(&self.ca);
        let response = responder.respond(
            &request.build().unwrap(),
            SystemTime::now(),
            Validity::days(1),
            |_| Ok::<_, IssueError>(status),
        );
        let response = response.unwrap();
        self.identity.set_ocsp_response(response.der()).unwrap();
    }

    /// The name of a file with the root's list, which is empty.
    fn root_list(&self) -> String {
        let list = CertificateRevocationListBuilder::new(&[1]);
        let list = self.root.issue_revocation_list(list).unwrap();
        self.server.write("root.crl", &list.to_pem())
    }

    /// The name of a file with the CA's list, which has the server's certificate or nothing on it.
    fn list_of_ca(&self, is_revoked: bool) -> String {
        let list = CertificateRevocationListBuilder::new(&[1]);
        let (name, list) = match is_revoked {
            true => {
                let (number, now) = (self.leaf.serial_number(), SystemTime::now());
                let list = list.revoke(number, now, CrlReason::KeyCompromise);
                ("revoked.crl", list)
            }
            false => ("empty.crl", list),
        };
        let list = self.ca.issue_revocation_list(list).unwrap();
        self.server.write(name, &list.to_pem())
    }
}

async fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tls-client"))
        .args(arguments)
        .output()
        .await
        .unwrap()
}

fn succeeded(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Checks that there is no report but a message with all of these in it.
fn failed(output: &Output, expected: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(output.stdout, b"");
    assert!(message.starts_with("error: "), "{message}");
    for text in expected {
        assert!(message.contains(text), "{text:?} is not in: {message}");
    }
}

/// The one key on P-256 that these tests have.
fn p256() -> PrivatePkcs8KeyDer<'static> {
    let pem = include_bytes!("../../tls-server/tests/suite/p256.pem");
    PrivatePkcs8KeyDer::from_pem_slice(pem).unwrap()
}

fn p256_signer() -> P256Key {
    P256Key::from_pkcs8(p256().secret_pkcs8_der())
}

fn self_signed(name: &str) -> Issuer<SigningKey> {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    Issuer::self_signed(CertificateBuilder::ca(name), key).unwrap()
}

fn localhost() -> CertificateBuilder<EndEntity> {
    CertificateBuilder::server()
        .common_name("localhost")
        .dns_name("localhost")
}

/// A file with some CA in it.
fn ca_file() -> CaFile {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("root.pem");
    fs::write(&path, self_signed("Some root").certificate().to_pem()).unwrap();
    CaFile {
        path: path_text(path),
        _directory: directory,
    }
}

struct CaFile {
    path: String,
    _directory: TempDir,
}

impl CaFile {
    fn path(&self) -> &str {
        &self.path
    }
}

fn path_text(path: PathBuf) -> String {
    path.to_str()
        .expect("temporary directories have plain names")
        .to_owned()
}
