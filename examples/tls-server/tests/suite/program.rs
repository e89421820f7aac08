//! The program `tls-server`, started as people start it.

#[path = "../../../../provider/tests/provider/chromium.rs"]
mod chromium;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pq_serving::demonstration::{Issued, Pki};
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::x509_cert::ext::pkix::KeyUsage;
use rustls::{AlertDescription, Error, SignatureScheme};
use rustls_pq::Group;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::client::{Asked, Client, PATIENCE, tls_error};

#[tokio::test]
async fn without_arguments_but_the_port() {
    let program = Program::start(&[]);
    let page = program.client().page().await.unwrap();
    assert_eq!(page["group"], "X25519MLKEM768");
    assert_eq!(page["signature_scheme"], "ML-DSA-65");

    let port = program.address.port();
    let (welcome, log, code) = program.stop("INT");
    assert_eq!(code, Some(0), "{log}");
    for command in [
        format!("tls-client -- https://localhost:{port}/ --ca pki/root.pem\n"),
        format!("openssl s_client -connect localhost:{port} "),
        format!("curl --cacert pki/root.pem https://localhost:{port}/\n"),
    ] {
        assert!(welcome.contains(&command), "{welcome}");
    }
    assert!(
        log.contains("connected") && log.contains("stopped"),
        "{log}"
    );
}

#[tokio::test]
async fn stops_at_sigterm() {
    let program = Program::start(&[]);
    let listens = format!("listening on=\"{}\"", program.address);
    let (_, log, code) = program.stop("TERM");
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains(&listens), "{log}");
    assert!(log.contains("until a second signal comes"), "{log}");
}

#[tokio::test]
async fn issues_a_client_certificate() {
    let program = Program::start(&["--issue-client"]);
    let pki = program.directory.path().join("pki");
    let issued = Issued {
        chain: vec![certificate(&pki.join("client.pem"))],
        key: SigningKey::from_pkcs8_pem(&fs::read_to_string(pki.join("client.key")).unwrap())
            .unwrap(),
    };
    assert_eq!(issued.chain[0].dns_names(), ["tls-client"]);
    let root = certificate(&pki.join("root.pem"));
    let client = Client::new(program.address, &root, &[], Some(&issued));
    assert_eq!(
        client.page().await.unwrap()["client_certificate"],
        "CN=tls-client"
    );
    program.client().page().await.unwrap_err();

    let (welcome, _, _) = program.stop("INT");
    assert!(
        welcome.contains("--client-cert pki/client.pem --client-key pki/client.key"),
        "{welcome}"
    );
}

/// The folder may be that of a server that runs.
#[tokio::test]
async fn a_server_that_can_not_listen_replaces_no_certificates() {
    let directory = TempDir::new().unwrap();
    let first = Program::start_in(&directory, &[]);
    let root = directory.path().join("pki/root.pem");
    let before = fs::read(&root).unwrap();
    let second = Command::new(PROGRAM)
        .arg("--pki-dir")
        .arg(directory.path().join("pki"))
        .args(["--listen", &first.address.to_string()])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert_eq!(fs::read(&root).unwrap(), before);
    let root = certificate(&root);
    Client::new(first.address, &root, &[], None)
        .page()
        .await
        .unwrap();
}

#[tokio::test]
async fn serves_files_to_clients_of_a_ca() {
    // The files of one server, to be served by another.
    let first = Program::start(&["--issue-client"]);
    let pki = first.directory.path().join("pki");
    let file = |name: &str| pki.join(name).to_str().unwrap().to_owned();
    let second = Program::start(&[
        "--cert",
        &file("server.pem"),
        "--key",
        &file("server.key"),
        "--client-ca",
        &file("root.pem"),
    ]);
    assert!(!second.directory.path().join("pki").exists());

    let root = certificate(&pki.join("root.pem"));
    let issued = Issued {
        chain: vec![certificate(&pki.join("client.pem"))],
        key: SigningKey::from_pkcs8_pem(&fs::read_to_string(pki.join("client.key")).unwrap())
            .unwrap(),
    };
    let client = Client::new(second.address, &root, &[], Some(&issued));
    let page = client.page().await.unwrap();
    assert_eq!(page["client_certificate"], "CN=tls-client");

    let (welcome, _, _) = second.stop("INT");
    assert!(
        welcome.contains("ROOT.pem is the certificate of CN=tls-server demonstration root"),
        "{welcome}"
    );
}

/// Clients refuse it, so the server says so before they come.
#[tokio::test]
async fn warns_of_a_ca_as_the_server() {
    let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ca = || CertificateBuilder::ca("localhost");
    let root_key = new_key();
    let root = Issuer::self_signed(ca(), root_key.clone()).unwrap();
    let below_key = new_key();
    let below = root.issue_ca(CertificateBuilder::ca("below"), below_key.clone());
    let leaf_key = new_key();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let leaf = root.issue(leaf, &leaf_key).unwrap();
    for (certificate, key, expected) in [
        (
            root.certificate(),
            &root_key,
            Some("this is the certificate of a self-signed CA, and rustls's clients refuse"),
        ),
        (
            below.unwrap().certificate(),
            &below_key,
            Some("this is the certificate of a CA, and rustls's clients refuse"),
        ),
        (&leaf, &leaf_key, None),
    ] {
        let directory = TempDir::new().unwrap();
        let [cert_file, key_file] =
            ["cert.pem", "cert.key"].map(|name| directory.path().join(name));
        fs::write(&cert_file, certificate.to_pem()).unwrap();
        fs::write(&key_file, &*key.to_pkcs8_pem().unwrap()).unwrap();
        let [cert_file, key_file] = [&cert_file, &key_file].map(|file| file.to_str().unwrap());
        let program = Program::start(&["--cert", cert_file, "--key", key_file]);
        let page = Client::new(program.address, root.certificate(), &[], None)
            .page()
            .await;
        let (_, log, _) = program.stop("INT");
        match expected {
            Some(expected) => {
                let error = page.unwrap_err();
                let message = tls_error(&error).to_string();
                assert!(message.contains("CaUsedAsEndEntity"), "{message}");
                assert!(log.contains(expected) && log.contains(cert_file), "{log}");
            }
            None => {
                assert_eq!(page.unwrap()["signature_scheme"], "ML-DSA-65");
                assert!(!log.contains("refuse"), "{log}");
            }
        }
    }
}

/// Whoever has read that files were refused wants to know when that is over.
#[tokio::test]
async fn logs_that_refused_files_are_as_before() {
    let first = Program::start(&[]);
    let pki = first.directory.path().join("pki");
    let [chain, key] = ["server.pem", "server.key"].map(|name| pki.join(name));
    let good = fs::read(&chain).unwrap();
    let [chain_file, key_file] = [&chain, &key].map(|file| file.to_str().unwrap());
    let program = Program::start(&["--watch=86400", "--cert", chain_file, "--key", key_file]);
    fs::write(&chain, "nothing").unwrap();
    program.signal("HUP");
    program.wait_for_log("new certificate refused").await;
    fs::write(&chain, good).unwrap();
    program.signal("HUP");
    program
        .wait_for_log("the files have the certificate again that is in use")
        .await;
}

/// Otherwise a client with two certificates would show the one that it prefers.
#[tokio::test]
async fn clients_are_asked_for_signatures_of_the_kinds_of_their_ca() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ca = Issuer::self_signed(CertificateBuilder::ca("clients"), key).unwrap();
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("clients.pem");
    fs::write(&file, ca.certificate().to_pem()).unwrap();
    let file = file.to_str().unwrap();
    for (arguments, is_classical_asked_for) in [
        (&["--client-ca", file][..], false),
        (&["--client-ca", file, "--mixed-chains"], true),
    ] {
        let program = Program::start(arguments);
        let root = certificate(&program.directory.path().join("pki/root.pem"));
        let asked = Arc::new(Asked::default());
        let client = Client::new(program.address, &root, &[], None).with_asked(asked.clone());
        client.page().await.unwrap_err();
        let asked = asked.0.lock().unwrap();
        assert!(asked.contains(&SignatureScheme::ML_DSA_65));
        let is_asked = asked.contains(&SignatureScheme::ECDSA_NISTP256_SHA256);
        assert_eq!(is_asked, is_classical_asked_for);
    }
}

/// What rustls alone would accept.
#[tokio::test]
async fn a_client_whose_key_usage_has_no_signatures_is_refused() {
    let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ca = Issuer::self_signed(CertificateBuilder::ca("clients"), new_key()).unwrap();
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("clients.pem");
    fs::write(&file, ca.certificate().to_pem()).unwrap();
    let program = Program::start(&["--client-ca", file.to_str().unwrap()]);
    let root = certificate(&program.directory.path().join("pki/root.pem"));

    let issue = |usages: KeyUsages| {
        let key = new_key();
        let builder = CertificateBuilder::client().common_name("someone");
        let mut leaf = ca.prepare(builder, &key).unwrap();
        leaf.set_extension(true, &KeyUsage(usages.into())).unwrap();
        let chain = vec![leaf.sign(ca.signer()).unwrap()];
        Client::new(program.address, &root, &[], Some(&Issued { chain, key }))
    };
    let good = issue(KeyUsages::DigitalSignature).page().await.unwrap();
    assert_eq!(good["client_certificate"], "CN=someone");
    let error = issue(KeyUsages::NonRepudiation).page().await.unwrap_err();
    assert_eq!(
        tls_error(&error),
        &Error::AlertReceived(AlertDescription::CertificateUnknown)
    );

    let (_, log, _) = program.stop("INT");
    assert!(
        log.contains("the certificate of CN=someone may not be used like this: ")
            && log.contains("must include digitalSignature"),
        "{log}"
    );
}

#[test]
fn private_keys_are_for_their_owner_alone() {
    let program = Program::start(&["--issue-client"]);
    for name in ["server.key", "client.key"] {
        let file = program.directory.path().join("pki").join(name);
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn replaces_its_own_files_only() {
    let directory = TempDir::new().unwrap();
    let pki = directory.path().join("pki");
    let (_, log, code) = Program::start_in(&directory, &[]).stop("INT");
    assert_eq!(code, Some(0), "{log}");
    let first = fs::read(pki.join("root.pem")).unwrap();
    let (_, log, code) = Program::start_in(&directory, &[]).stop("INT");
    assert_eq!(code, Some(0), "{log}");
    assert_ne!(fs::read(pki.join("root.pem")).unwrap(), first);

    fs::remove_file(pki.join("README.txt")).unwrap();
    fs::write(pki.join("server.key"), "precious").unwrap();
    let output = run_in(&directory, &["--listen", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("pki holds files that this program didn't write"),
        "{message}"
    );
    assert_eq!(
        fs::read_to_string(pki.join("server.key")).unwrap(),
        "precious"
    );
}

#[test]
fn says_what_is_wrong() {
    let directory = TempDir::new().unwrap();
    let (_, _, code) = Program::start_in(&directory, &["--issue-client"]).stop("INT");
    assert_eq!(code, Some(0));
    let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let unusable = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
    fs::write(directory.path().join("pki/unusable.key"), unusable).unwrap();
    let encrypted = unusable.replace("PRIVATE", "ENCRYPTED PRIVATE");
    fs::write(directory.path().join("pki/encrypted.key"), encrypted).unwrap();

    for (arguments, code, expected) in [
        (
            &["--cert", "pki/server.pem", "--key", "pki/client.key"][..],
            1,
            "the private key doesn't belong to the certificate of CN=localhost, which has a key",
        ),
        (
            &["--cert", "pki/server.pem", "--key", "pki/root.pem"],
            1,
            "pki/server.pem with the key pki/root.pem: the text for the private key has \
             CERTIFICATE, and no private key; ",
        ),
        (
            &["--cert", "pki/server.key", "--key", "pki/server.key"],
            1,
            "pki/server.key with the key pki/server.key: the text for the chain has \
             PRIVATE KEY, and no certificate; ",
        ),
        (
            &["--cert", "none.pem", "--key", "pki/server.key"],
            1,
            "none.pem can't be read: No such file or directory",
        ),
        (
            &["--cert", "a", "--key", "a.key", "--cert", "b"],
            1,
            "2 of --cert and 1 of --key; give one --key for each --cert",
        ),
        (
            &[
                "--profile",
                "cnsa2",
                "--cert",
                "pki/server.pem",
                "--key",
                "pki/server.key",
            ],
            1,
            "the provider signs with [ML_DSA_87] only",
        ),
        (
            &["--cert", "pki/server.pem", "--key", "pki/unusable.key"],
            1,
            "the private key can't be used: ",
        ),
        (
            &["--cert", "pki/server.pem", "--key", "pki/encrypted.key"],
            1,
            "`pqtls key decrypt KEY --out FILE`, which asks for it or takes it by --passphrase-file",
        ),
        (
            &["--client-ca", "none.pem"],
            1,
            "No such file or directory (os error 2)",
        ),
        (
            &["--client-ca", "pki/server.key"],
            1,
            "no PEM block \"CERTIFICATE\" in the text, which has PRIVATE KEY",
        ),
        (
            &["--crl", "pki/root.pem"],
            2,
            "arguments were not provided:\n  --client-ca",
        ),
        (
            &["--client-ca", "pki/root.pem", "--crl-leaf-only"],
            2,
            "arguments were not provided:\n  --crl",
        ),
        (
            &["--client-ca", "pki/root.pem", "--crl", "none.crl"],
            1,
            "the revocation lists in none.crl can't be read: No such file or directory",
        ),
        (
            &["--client-ca", "pki/root.pem", "--crl", "pki/root.pem"],
            1,
            "pki/root.pem has no revocation lists that can be used: ",
        ),
        (
            &[
                "--client-ca",
                "pki/root.pem",
                "--crl-issuers",
                "pki/root.pem",
            ],
            2,
            "arguments were not provided:\n  --crl",
        ),
        (
            &[
                "--client-ca",
                "pki/root.pem",
                "--crl",
                "pki/root.pem",
                "--crl-issuers",
                "pki/server.pem",
            ],
            1,
            "CN=localhost is no CA that a client CA has certified",
        ),
        (
            &["--pki-dir", "pki/root.pem/pki"],
            1,
            "Not a directory (os error 20)",
        ),
        (&["--listen", &address], 1, "choose another address or port"),
        (
            &["--groups", "Kyber768"],
            2,
            "the known ones are X25519MLKEM768",
        ),
        (&["--groups", "x448"], 1, "the group x448 is not available"),
        (
            &["--name", "not a name"],
            2,
            "neither a DNS name nor an IP address",
        ),
        (
            &["--cert", "pki/server.pem"],
            2,
            "arguments were not provided:\n  --key",
        ),
        (&["--max-connections", "0"], 2, "nobody would be served"),
        (&["--max-handshakes", "many"], 2, "invalid digit"),
        (
            &[
                "--cert",
                "pki/server.pem",
                "--key",
                "pki/server.key",
                "--trust-anchor",
                "server.pem=32473.1",
            ],
            1,
            "--trust-anchor server.pem=32473.1 is about no --cert",
        ),
        (
            &["--cert", "a", "--key", "b", "--trust-anchor", "a=Root"],
            2,
            "written as numbers with dots between them, such as 32473.1",
        ),
        (
            &["--cert", "a", "--key", "b", "--trust-anchor", "32473.1"],
            2,
            "there is no = between the file of a --cert and the ID",
        ),
    ] {
        let output = run_in(&directory, arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        // Once, although causes are printed, too.
        let count = message.matches(expected).count();
        assert_eq!(count, 1, "{arguments:?}: {message}");
    }
}

#[tokio::test]
async fn logs_as_json() {
    let program = Program::start(&["--log-format", "json"]);
    let client = program.client();
    for _ in 0..2 {
        client.page().await.unwrap();
    }
    let (_, log, _) = program.stop("INT");
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let connected: Vec<&str> = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "connected")
        .map(|line| line["fields"]["negotiated"].as_str().unwrap())
        .collect();
    // The second session is the first one resumed, and remembers what that was signed with.
    assert_eq!(connected.len(), 2, "{log}");
    for (negotiated, handshake) in connected.into_iter().zip(["full handshake", "resumed"]) {
        assert!(
            negotiated.starts_with(
                "TLS 1.3, key exchange X25519MLKEM768 (post-quantum), peer without a certificate, \
                 this side ML-DSA-65 (post-quantum), TLS_"
            ) && negotiated.ends_with(handshake),
            "{negotiated}"
        );
    }
}

#[tokio::test]
async fn writes_the_access_log_in_its_own_format_or_not_at_all() {
    for (arguments, is_json) in [
        (&["--access-log", "json"][..], Some(true)),
        (
            &["--log-format", "json", "--access-log", "text"],
            Some(false),
        ),
        (&["--log-format", "json"], Some(true)),
        (&[], Some(false)),
        (&["--access-log", "off"], None),
    ] {
        let program = Program::start(arguments);
        program.client().page().await.unwrap();
        let (_, log, code) = program.stop("INT");
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("connected"), "{log}");
        let access = log
            .lines()
            .filter(|line| line.contains("pq_serving::access"));
        let is_json_found: Vec<_> = access
            .map(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
            .collect();
        assert_eq!(
            is_json_found,
            Vec::from_iter(is_json),
            "{arguments:?}: {log}"
        );
    }
}

/// `RUST_LOG` is for what nobody has asked for by name.
#[tokio::test]
async fn writes_an_access_log_that_was_asked_for_whatever_else_is_logged() {
    for (arguments, lines) in [(&["--access-log", "text"][..], 1), (&[], 0)] {
        let mut command = Command::new(PROGRAM);
        command.env("RUST_LOG", "warn");
        let program = Program::spawn(command, TempDir::new().unwrap(), arguments);
        program.client().page().await.unwrap();
        let (_, log, _) = program.stop("INT");
        assert_eq!(log.matches("pq_serving::access").count(), lines, "{log}");
        assert!(!log.contains("connected"), "{log}");
    }
}

#[tokio::test]
async fn says_why_no_group_is_shared() {
    let program = Program::start(&["--groups", "MLKEM512"]);
    program.client().page().await.unwrap_err();
    let (_, log, _) = program.stop("INT");
    assert!(
        log.contains("the client offers X25519MLKEM768, ")
            && log.contains("the server accepts MLKEM512; "),
        "{log}"
    );
}

/// A client that has its alert and stays doesn't take the reason with it when the server stops.
#[test]
fn says_why_before_it_stops() {
    let program = Program::start(&[]);
    let mut client = std::net::TcpStream::connect(program.address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut alert = [0; 7];
    client.read_exact(&mut alert).unwrap();
    assert_eq!(alert[0], 21);
    let (_, log, _) = program.stop("INT");
    assert!(log.contains("the handshake failed: "), "{log}");
    drop(client);
}

#[tokio::test]
async fn profiles() {
    for (profile, group, scheme) in [
        ("default", "X25519MLKEM768", "ML-DSA-65"),
        ("require-pq", "X25519MLKEM768", "ML-DSA-65"),
        ("all", "X25519MLKEM768", "ML-DSA-65"),
        ("cnsa2", "SecP384r1MLKEM1024", "ML-DSA-87"),
    ] {
        let program = Program::start(&["--profile", profile]);
        let page = program.client().page().await.unwrap();
        assert_eq!(page["group"], group, "{profile}");
        assert_eq!(page["signature_scheme"], scheme);
        let cnsa2 = Group::SECP384R1MLKEM1024;
        let client = program.client_with_groups(&[cnsa2, Group::SECP384R1]);
        let page = client.page().await.unwrap();
        assert_eq!(page["group"], cnsa2.to_string(), "{profile}");

        let classical = program.client_with_groups(&[Group::X25519]).page().await;
        let is_strict = ["require-pq", "cnsa2"].contains(&profile);
        assert_eq!(classical.is_ok(), !is_strict, "{profile}");
        let (welcome, log, _) = program.stop("INT");
        assert!(welcome.contains(&format!("Fresh {scheme} certificates")));
        if is_strict {
            assert!(
                log.contains("give the client one of the server's post-quantum groups"),
                "{log}"
            );
        }
    }
}

/// A profile's promise holds whatever else is asked for.
#[test]
fn groups_that_the_profile_excludes() {
    let directory = TempDir::new().unwrap();
    let output = run_in(
        &directory,
        &["--profile", "require-pq", "--groups", "MLKEM768,x25519"],
    );
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("error: the profile require-pq excludes the group x25519; name one of"),
        "{error}"
    );
}

/// The chain that the documentation recommends.
#[tokio::test]
async fn root_of_another_algorithm() {
    let program = Program::start(&["--root", "slh-dsa-sha2-128s"]);
    let page = program.client().page().await.unwrap();
    assert_eq!(page["signature_scheme"], "ML-DSA-65");

    let pki = program.directory.path().join("pki");
    let root = certificate(&pki.join("root.pem"));
    assert_eq!(
        root.public_key().unwrap().algorithm().name(),
        "SLH-DSA-SHA2-128s"
    );
    let chain = fs::read_to_string(pki.join("server.pem")).unwrap();
    let chain = Certificate::chain_from_pem(&chain).unwrap();
    assert_eq!(chain.len(), 2);
    for certificate in &chain {
        let key = certificate.public_key().unwrap();
        assert_eq!(key.algorithm().name(), "ML-DSA-65");
    }
    let (welcome, _, _) = program.stop("INT");
    assert!(
        welcome.contains("2 certificates, ") && welcome.contains("under a root of SLH-DSA"),
        "{welcome}"
    );
    // Ours is compiled without SLH-DSA otherwise.
    assert!(
        welcome.contains("tls-client --features slh-dsa -- https://"),
        "{welcome}"
    );

    let directory = TempDir::new().unwrap();
    let output = run_in(
        &directory,
        &["--profile", "cnsa2", "--root", "slh-dsa-sha2-128s"],
    );
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("CNSA 2.0 has only ML-DSA-87 signatures"),
        "{error}"
    );
}

/// A browser, by the bytes that it sends: it lists ML-DSA, and gets the ML-DSA chain only if one of its trust
/// anchor IDs belongs to this chain, or if the chain stands first.
#[test]
fn chooses_for_a_browser() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let ecdsa = [(); 2].map(|()| path("p256.pem"));
    fs::write(&ecdsa[0], include_str!("p256.pem")).unwrap();
    let files = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let (cert, key) = files.write(&directory.path().join("pki")).unwrap().server;
    let ml_dsa = [cert, key].map(|path| path.display().to_string());
    let options = |[cert, key]: &[String; 2]| {
        let options = ["--cert", cert, "--key", key];
        options.map(str::to_owned).to_vec()
    };
    let tied = |id: &str| {
        let mut options = [options(&ecdsa), options(&ml_dsa)].concat();
        options.extend(["--trust-anchor".into(), format!("{}={id}", ml_dsa[0])]);
        options
    };
    for (options, key) in [
        ([options(&ecdsa), options(&ml_dsa)].concat(), "ECDSA P-256"),
        ([options(&ml_dsa), options(&ecdsa)].concat(), "ML-DSA-65"),
        // One of Let's Encrypt's, which Chromium 156 sends, and one of nobody's.
        (tied("44947.2.13"), "ML-DSA-65"),
        (tied("32473.1"), "ECDSA P-256"),
    ] {
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        let mut command = Command::new(PROGRAM);
        command.env("RUST_LOG", "info,rustls_pq=debug");
        let program = Program::spawn(command, TempDir::new().unwrap(), &options);
        let mut tcp = std::net::TcpStream::connect(program.address).unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        // A byte at a time.
        tcp.set_nodelay(true).unwrap();
        for byte in chromium::hello() {
            tcp.write_all(&[byte]).unwrap();
        }
        // The server's answer begins with its ServerHello.
        let mut header = [0; 6];
        tcp.read_exact(&mut header).unwrap();
        assert_eq!([header[0], header[5]], [22, 2]);
        drop(tcp);
        let (_, log, _) = program.stop("INT");
        let chosen = log.lines().find(|line| line.contains("certificate chosen"));
        assert!(
            chosen.is_some_and(|line| line.contains(&format!("key={key}"))),
            "{log}"
        );
    }
}

/// A new certificate is served without a restart: SIGHUP doesn't end the program.
#[tokio::test]
async fn reads_certificates_again() {
    let directory = TempDir::new().unwrap();
    let names = ["localhost".try_into().unwrap()];
    let [first, second] = [(); 2].map(|()| Pki::issue(&names).unwrap());
    // Directories of their own, since each is for one set of files.
    let serve = |pki: &Pki, name: &str| {
        let files = pki.write(&directory.path().join(name)).unwrap();
        let (cert, key) = files.server;
        fs::copy(cert, directory.path().join("server.pem")).unwrap();
        fs::copy(key, directory.path().join("server.key")).unwrap();
    };
    serve(&first, "first");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let program = Program::start(&[
        "--cert",
        &path("server.pem"),
        "--key",
        &path("server.key"),
        "--watch",
        "3600",
    ]);
    let client = |pki: &Pki| Client::new(program.address, &pki.root, &[], None);
    client(&first).page().await.unwrap();
    client(&second).page().await.unwrap_err();

    serve(&second, "second");
    program.signal("HUP");
    let start = Instant::now();
    while client(&second).page().await.is_err() {
        assert!(start.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    client(&first).page().await.unwrap_err();

    let (_, log, code) = program.stop("INT");
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("certificate replaced"), "{log}");
}

/// Running out of file descriptors is not the end.
#[tokio::test]
async fn survives_more_clients_than_descriptors() {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 40 && exec \"$0\" \"$@\"", PROGRAM]);
    let program = Program::spawn(limited, TempDir::new().unwrap(), &[]);

    let mut silent = Vec::new();
    for _ in 0..60 {
        silent.push(TcpStream::connect(program.address).await.unwrap());
    }
    let is_full = "can't accept connections for now";
    program.wait_for_log(is_full).await;
    drop(silent);
    let page = program.client().page().await.unwrap();
    assert_eq!(page["handshake"], "full");

    let (_, log, code) = program.stop("INT");
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains(is_full), "{log}");
}

/// The server as a process of its own, which ends with this value.
pub(crate) struct Program {
    child: Child,
    stdout: BufReader<ChildStdout>,
    welcome: String,
    /// What it has logged so far.
    log: Arc<Mutex<String>>,
    /// Reads the log, so that the program doesn't wait for a reader.
    reader: Option<JoinHandle<()>>,
    pub(crate) address: SocketAddr,
    directory: TempDir,
}

impl Program {
    /// Starts the program in a new directory, on a port of the system's choice.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::spawn(Command::new(PROGRAM), TempDir::new().unwrap(), arguments)
    }

    pub(crate) fn start_in(directory: &TempDir, arguments: &[&str]) -> Self {
        let own = TempDir::new_in(directory.path()).unwrap();
        let mut command = Command::new(PROGRAM);
        command.arg("--pki-dir").arg(directory.path().join("pki"));
        Self::spawn(command, own, arguments)
    }

    pub(crate) fn spawn(mut command: Command, directory: TempDir, arguments: &[&str]) -> Self {
        let mut child = command
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = child.stderr.take().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let reader = thread::spawn({
            let log = log.clone();
            move || {
                for line in BufReader::new(stderr).lines() {
                    let mut log = log.lock().unwrap();
                    log.push_str(&line.unwrap());
                    log.push('\n');
                }
            }
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut welcome = String::new();
        stdout.read_line(&mut welcome).unwrap();
        let address = welcome
            .trim_end()
            .rsplit_once(' ')
            .and_then(|(_, address)| address.parse().ok());
        let Some(address) = address else {
            reader.join().unwrap();
            panic!("the server did not start: {welcome}{}", log.lock().unwrap());
        };
        Self {
            child,
            stdout,
            welcome,
            log,
            reader: Some(reader),
            address,
            directory,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The program's fresh root.
    pub(crate) fn root(&self) -> Certificate {
        certificate(&self.directory.path().join("pki/root.pem"))
    }

    /// A client that trusts the program's fresh root.
    pub(crate) fn client(&self) -> Client {
        self.client_with_groups(&[])
    }

    /// The same, which offers these groups.
    fn client_with_groups(&self, groups: &[Group]) -> Client {
        let root = certificate(&self.directory.path().join("pki/root.pem"));
        Client::new(self.address, &root, groups, None)
    }

    pub(crate) fn signal(&self, signal: &str) {
        // the shell's own `kill`: a program of that name is not on every machine
        let sent = Command::new("sh")
            .args(["-c", r#"kill -s "$0" "$1""#, signal, &self.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Reads what the program prints up to a line with this in it, and returns that line.
    pub(crate) fn line_with(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "it does not print {part}: {}", self.welcome);
            self.welcome.push_str(&line);
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Waits until the program has logged this.
    pub(crate) async fn wait_for_log(&self, part: &str) {
        let start = Instant::now();
        while !self.log.lock().unwrap().contains(part) {
            assert!(start.elapsed() < PATIENCE, "it does not log: {part}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Sends a signal, and returns what the program printed, its log and its exit code.
    pub(crate) fn stop(mut self, signal: &str) -> (String, String, Option<i32>) {
        self.signal(signal);
        let mut welcome = std::mem::take(&mut self.welcome);
        self.stdout.read_to_string(&mut welcome).unwrap();
        self.reader.take().unwrap().join().unwrap();
        let log = std::mem::take(&mut *self.log.lock().unwrap());
        (welcome, log, self.child.wait().unwrap().code())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails where it has been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-server");

fn run_in(directory: &TempDir, arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(arguments)
        .current_dir(directory.path())
        .output()
        .unwrap()
}

fn certificate(path: &Path) -> Certificate {
    Certificate::from_pem(&fs::read_to_string(path).unwrap()).unwrap()
}
