//! Certificate chains: ours under `openssl verify`, OpenSSL's under our validation.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::SystemTime;

use interop::openssl::Workdir;
use interop::pki::{NAME, generate, server_leaf, server_name};
use pq_x509::certificate::{Certificate, KeyUsages, Name, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::{
    CertStatus, OcspError, OcspNonce, OcspRequest, OcspResponder, OcspResponse, OcspVerifier,
};
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::verification;
use pq_x509::x509_cert::ext::pkix::{BasicConstraints, KeyUsage};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::UnixTime;

#[test]
fn openssl_verifies_our_chains() {
    let Some(work) = Workdir::new() else { return };
    for chain in every_chain() {
        chain.write_to(&work);
        for purpose in [
            "-purpose sslserver -verify_hostname localhost",
            "-purpose sslserver -verify_ip 127.0.0.1",
            "-purpose sslserver -verify_ip ::1",
        ] {
            work.run(&format!("{VERIFY} {purpose} leaf.pem"))
                .assert_line("leaf.pem: OK");
        }
        for (purpose, error) in [
            ("-verify_hostname example.org", "hostname mismatch"),
            ("-verify_ip 127.0.0.2", "IP address mismatch"),
            ("-purpose sslclient", "unsuitable certificate purpose"),
        ] {
            work.run_failing(&format!("{VERIFY} {purpose} leaf.pem"))
                .assert_contains(error);
        }
        // Without the intermediate, no signature leads to the root.
        work.run_failing("verify -x509_strict -CAfile root.pem leaf.pem")
            .assert_contains("unable to get local issuer certificate");
    }
}

#[test]
fn openssl_verifies_client_certificates_of_ours() {
    let Some(work) = Workdir::new() else { return };
    let chain = Chain::new([SignatureAlgorithm::MlDsa65; 3], |ca| ca);
    chain.write_to(&work);
    // As `tls-server --issue-client` does.
    let client = CertificateBuilder::client().common_name("someone");
    let client = chain.issue(client.dns_name("someone"));
    work.write("client.pem", client.to_pem());
    work.run("x509 -in client.pem -noout -ext subjectAltName")
        .assert_contains("DNS:someone");
    work.run(&format!("{VERIFY} -purpose sslclient client.pem"));
    work.run_failing(&format!("{VERIFY} -purpose sslserver client.pem"))
        .assert_contains("unsuitable certificate purpose");
}

/// A leaf whose key can't sign: its key usage says what it is for.
#[test]
fn openssl_verifies_our_leaves_for_ml_kem() {
    let Some(work) = Workdir::new() else { return };
    let chain = Chain::new([SignatureAlgorithm::MlDsa65; 3], |ca| ca);
    chain.write_to(&work);
    for &algorithm in KemAlgorithm::ALL {
        let key = DecapsulationKey::generate(algorithm).expect("there is randomness");
        let leaf = chain
            .intermediate
            .issue(
                CertificateBuilder::end_entity()
                    .common_name("recipient")
                    .dns_name(NAME),
                key.encapsulation_key(),
            )
            .expect("the leaf can be issued");
        work.write("kem.pem", leaf.to_pem());
        work.run(&format!("{VERIFY} -verify_hostname {NAME} kem.pem"));
        work.run("x509 -in kem.pem -noout -ext keyUsage")
            .assert_contains("Key Encipherment");
        work.run("x509 -in kem.pem -noout -pubkey -out kem.pub");
        assert_eq!(
            work.read_text("kem.pub"),
            key.encapsulation_key().to_spki_pem()
        );
    }
}

/// Both agree on the names that a constrained CA may certify.
#[test]
fn name_constraints_of_ours_bind_both() {
    let Some(work) = Workdir::new() else { return };
    let chain = Chain::new([SignatureAlgorithm::MlDsa44; 3], |ca| {
        ca.permit_dns("example.org")
            .exclude_dns("secret.example.org")
            .permit_ip(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)), 8)
            .exclude_ip(IpAddr::V4(Ipv4Addr::new(10, 1, 0, 0)), 16)
    });
    chain.write_to(&work);

    let ip = |a, b, c, d| IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    let server = CertificateBuilder::server;
    for (leaf, allowed) in [
        (server().dns_name("www.example.org"), true),
        (server().dns_name("example.org"), true),
        (server().ip_address(ip(10, 2, 3, 4)), true),
        (server().dns_name("www.example.com"), false),
        (server().dns_name("a.secret.example.org"), false),
        (server().ip_address(ip(11, 0, 0, 1)), false),
        (server().ip_address(ip(10, 1, 2, 3)), false),
        (
            server()
                .dns_name("www.example.org")
                .dns_name("www.example.com"),
            false,
        ),
    ] {
        let shown = format!("{leaf:?}");
        let leaf = chain.issue_unchecked(leaf);
        work.write("leaf.pem", leaf.to_pem());
        let name = match (leaf.dns_names().first(), leaf.ip_addresses().first()) {
            (Some(name), _) => name.to_string(),
            (None, Some(address)) => address.to_string(),
            (None, None) => panic!("every leaf has a name"),
        };
        let ours = chain.validate(&leaf, &name);
        if allowed {
            work.run(&format!("{VERIFY} leaf.pem"));
            assert!(ours.is_ok(), "{shown}: {ours:?}");
        } else {
            let theirs = work.run_failing(&format!("{VERIFY} leaf.pem"));
            assert!(
                theirs.stderr().contains("permitted subtree violation")
                    || theirs.stderr().contains("excluded subtree violation"),
                "{theirs}"
            );
            assert!(
                matches!(ours, Err(ValidationError::NameConstraintViolation)),
                "{shown}: {ours:?}"
            );
        }
    }
}

/// Both agree on the period of validity, and on the depth.
#[test]
fn validity_and_path_length_of_ours_bind_both() {
    let Some(work) = Workdir::new() else { return };
    let chain = Chain::new([SignatureAlgorithm::MlDsa44; 3], |ca| ca.path_len(0));
    chain.write_to(&work);

    let hour = Duration::from_secs(3600);
    let now = SystemTime::now();
    let expired = Validity::new(now - 2 * hour, now - hour);
    let future = Validity::new(now + hour, now + 2 * hour);
    let leaf = chain.issue(server_leaf().validity(expired));
    work.write("leaf.pem", leaf.to_pem());
    work.run_failing(&format!("{VERIFY} leaf.pem"))
        .assert_contains("certificate has expired");
    assert!(matches!(
        chain.validate(&leaf, NAME),
        Err(ValidationError::Expired { .. })
    ));
    let leaf = chain.issue(server_leaf().validity(future));
    work.write("leaf.pem", leaf.to_pem());
    work.run_failing(&format!("{VERIFY} leaf.pem"))
        .assert_contains("certificate is not yet valid");
    assert!(matches!(
        chain.validate(&leaf, NAME),
        Err(ValidationError::NotYetValid { .. })
    ));

    // A CA below one that may have none below it. We don't issue such a CA: it is a leaf that is made
    // into a CA afterwards.
    let key = generate(SignatureAlgorithm::MlDsa44);
    let mut below = chain
        .intermediate
        .prepare(CertificateBuilder::end_entity().common_name("Below"), &key)
        .expect("the certificate can be described");
    let ca = BasicConstraints {
        ca: true,
        path_len_constraint: None,
    };
    below
        .set_extension(true, &ca)
        .and_then(|()| below.set_extension(true, &KeyUsage(KeyUsages::KeyCertSign.into())))
        .expect("the extensions can be encoded");
    let below = below
        .sign(chain.intermediate.signer())
        .expect("the intermediate signs");
    let below = Issuer::new(below, key).expect("the key is the certificate's");
    let key = generate(SignatureAlgorithm::MlDsa44);
    let leaf = below
        .issue(server_leaf(), &key)
        .expect("the leaf can be issued");
    work.write("leaf.pem", leaf.to_pem());
    work.write("below.pem", below.certificate().to_pem());
    work.run_failing(&format!("{VERIFY} -untrusted below.pem leaf.pem"))
        .assert_contains("path length constraint exceeded");
    let validator =
        ChainValidator::new([chain.root.certificate().clone()]).expect("the root is one");
    let result = validator.validate_server(
        &[&leaf, below.certificate(), chain.intermediate.certificate()],
        &server_name(NAME),
        UnixTime::now(),
    );
    assert!(
        matches!(result, Err(ValidationError::PathLengthExceeded { .. })),
        "{result:?}"
    );
}

#[test]
fn we_validate_chains_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    for algorithms in every_combination() {
        let (root, chain) = chain_by_openssl(&work, algorithms);
        let validator = ChainValidator::new([root]).expect("the root is one");

        for name in ["localhost", "127.0.0.1", "::1"] {
            let valid = validator
                .validate_server(&chain, &server_name(name), UnixTime::now())
                .unwrap_or_else(|err| panic!("{name}: {err}"));
            assert_eq!(valid.certificates().len(), 3);
        }
        for name in ["example.org", "127.0.0.2", "::2"] {
            assert!(matches!(
                validator.validate_server(&chain, &server_name(name), UnixTime::now()),
                Err(ValidationError::NameMismatch { .. })
            ));
        }
        assert!(matches!(
            validator.validate_client(&chain, UnixTime::now()),
            Err(ValidationError::WrongPurpose)
        ));
        assert!(matches!(
            validator.validate_server(&chain[..1], &server_name("localhost"), UnixTime::now()),
            Err(ValidationError::UnknownIssuer)
        ));
    }
}

/// A classical root over post-quantum leaves, with verification algorithms of another crate.
#[test]
fn we_validate_mixed_chains_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    let p256 = "-newkey EC -pkeyopt group:P-256";
    let ml_dsa = "-newkey ML-DSA-65";
    let classical = aws_lc_rs::default_provider()
        .signature_verification_algorithms
        .all;
    for [root, intermediate, leaf] in [
        [p256, ml_dsa, ml_dsa],
        [p256, p256, ml_dsa],
        [ml_dsa, p256, p256],
    ] {
        work.issue_chain([root, intermediate, leaf], "");
        let (root, chain) = read_chain(&work);
        let validator = ChainValidator::new([root]).expect("the root is one");

        let name = server_name("localhost");
        validator
            .clone()
            .with_algorithms(classical)
            .validate_server(&chain, &name, UnixTime::now())
            .expect("the chain is valid");
        // Without those algorithms, it is not valid.
        validator
            .validate_server(&chain, &name, UnixTime::now())
            .expect_err("the chain has ECDSA signatures");
    }
}

/// The verdicts on names under a constraint of their kind: first ours, then OpenSSL's.
/// They differ in one point, in which we follow RFC 5280.
#[test]
fn constraints_of_email_addresses_uris_and_directory_names_are_read_alike() {
    let Some(work) = Workdir::new() else { return };
    let client = CertificateBuilder::client;
    let email = |address: &str| client().email_address(address);
    let uri = |uri: &str| client().uri(uri);
    let named = |name: &str| client().subject(name.parse().expect("a name"));
    let base: Name = "O=Example,C=SE".parse().expect("a name");
    let ca = || CertificateBuilder::ca("intermediate");
    for (constrain, leaves) in [
        (
            ca().permit_email("example.com")
                .permit_email("root@example.org")
                .permit_email(".example.net"),
            vec![
                (email("a@example.com"), true, true),
                (email("a@EXAMPLE.com"), true, true),
                (email("a@www.example.com"), false, false),
                (email("a@badexample.com"), false, false),
                (email("root@example.org"), true, true),
                (email("Root@example.org"), false, false),
                (email("root@EXAMPLE.org"), true, true),
                (email("a@b.example.net"), true, true),
                (email("a@example.net"), false, false),
                (
                    email("a@example.com").email_address("a@example.org"),
                    false,
                    false,
                ),
                (named("emailAddress=a@example.com"), true, true),
                (named("emailAddress=a@example.edu"), false, false),
                (uri("https://example.edu/"), true, true),
            ],
        ),
        (
            ca().permit_email(".example.com")
                .exclude_email("a@b.example.com")
                .exclude_email("c.example.com"),
            vec![
                (email("b@b.example.com"), true, true),
                (email("a@b.example.com"), false, false),
                (email("a@c.example.com"), false, false),
            ],
        ),
        (
            ca().permit_uri("host.example.com")
                .permit_uri(".example.org")
                .exclude_uri("bad.example.org"),
            vec![
                (uri("https://host.example.com/"), true, true),
                (uri("https://HOST.example.com:8443/a"), true, true),
                (uri("https://my.host.example.com/"), false, false),
                (uri("https://a.b.example.org/"), true, true),
                (uri("https://example.org/"), false, false),
                (uri("https://bad.example.org/"), false, false),
                (uri("https://host.example.com.evil.net/"), false, false),
                (uri("https://192.0.2.1/"), false, false),
                (uri("https://[2001:db8::1]/"), false, false),
                (uri("urn:a:b"), false, false),
                (uri("https://host.example.com"), true, true),
                (
                    client().server_auth().uri("spiffe://host.example.com/a"),
                    true,
                    true,
                ),
                (uri("https://host.example.com?a"), true, true),
                (uri("https://user@host.example.com/"), true, true),
                (uri("https://host.example.com:a@evil.net/"), false, false),
                (email("a@example.net"), true, true),
            ],
        ),
        (
            ca().exclude_uri("bad.example.org"),
            vec![
                (uri("https://bad.example.org/"), false, false),
                (uri("https://example.org/"), true, true),
                (uri("urn:a:b"), false, false),
                // Where hosts are constrained, RFC 5280 refuses URIs whose host is no DNS name.
                (uri("https://192.0.2.1/"), false, true),
            ],
        ),
        (
            ca().permit_directory(base.clone()),
            vec![
                (named("CN=a,O=Example,C=SE"), true, true),
                (named("CN=a,O=EXAMPLE,C=SE"), true, true),
                (named("CN=a,O=Other,C=SE"), false, false),
                (named("CN=a"), false, false),
                (client().dns_name("a.example"), true, true),
            ],
        ),
        (
            ca().exclude_directory(base),
            vec![
                (named("CN=a,O=example,C=SE"), false, false),
                (named("CN=a,O=Other,C=SE"), true, true),
            ],
        ),
    ] {
        let chain = Chain::new([SignatureAlgorithm::MlDsa44; 3], |_| constrain.clone());
        chain.write_to(&work);
        for (leaf, ours, theirs) in leaves {
            let shown = format!("{leaf:?}");
            let leaf = chain.issue(leaf);
            work.write("leaf.pem", leaf.to_pem());
            let validator = ChainValidator::new([chain.root.certificate().clone()]);
            let validator = validator.expect("the root is one");
            let sent = [&leaf, chain.intermediate.certificate()];
            let result = validator.validate_client(&sent, UnixTime::now());
            assert_eq!(result.is_ok(), ours, "{shown}: {result:?}");
            let verify = format!("{VERIFY} leaf.pem");
            println!("{shown}");
            match theirs {
                true => work.run(&verify),
                false => work.run_failing(&verify),
            };
        }
    }
}

#[test]
fn name_constraints_of_openssl_bind_us() {
    let Some(work) = Workdir::new() else { return };
    for (constraint, valid) in [
        (
            "permitted;DNS:localhost,permitted;IP:127.0.0.0/255.0.0.0,permitted;IP:::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            true,
        ),
        ("excluded;DNS:example.org", true),
        ("permitted;DNS:example.org", false),
        ("excluded;DNS:localhost", false),
        ("excluded;IP:127.0.0.0/255.255.255.0", false),
    ] {
        let constraint = format!("nameConstraints=critical,{constraint}");
        work.issue_chain(["-newkey ML-DSA-44"; 3], &constraint);
        let (root, chain) = read_chain(&work);
        let result = ChainValidator::new([root])
            .expect("the root is one")
            .validate_server(&chain, &server_name("localhost"), UnixTime::now());
        if valid {
            assert!(result.is_ok(), "{constraint}: {result:?}");
        } else {
            assert!(
                matches!(result, Err(ValidationError::NameConstraintViolation)),
                "{constraint}: {result:?}"
            );
        }
    }
}

/// How OpenSSL makes an ML-KEM certificate: such a key can't sign a request.
#[test]
fn we_read_leaves_of_openssl_for_ml_kem() {
    let Some(work) = Workdir::new() else { return };
    work.run(
        "req -x509 -newkey ML-DSA-65 -noenc -keyout ca.key -subj /CN=ca -out ca.pem \
         -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign",
    );
    for &algorithm in KemAlgorithm::ALL {
        work.run(&format!(
            "genpkey -algorithm {algorithm} -out kem.key -outpubkey kem.pub"
        ));
        work.write(
            "kem.ext",
            "keyUsage=critical,keyEncipherment\nsubjectAltName=DNS:localhost\n",
        );
        work.run(
            "x509 -new -force_pubkey kem.pub -subj /CN=recipient -extfile kem.ext \
             -CA ca.pem -CAkey ca.key -out kem.pem",
        );
        let leaf = Certificate::from_pem(&work.read_text("kem.pem")).expect("a certificate");
        let key = DecapsulationKey::from_pkcs8_pem(&work.read_text("kem.key")).expect("a key");
        let public = leaf.public_key().expect("a key that we know");
        assert_eq!(public.to_spki_der(), key.encapsulation_key().to_spki_der());

        let ca = Certificate::from_pem(&work.read_text("ca.pem")).expect("a certificate");
        ChainValidator::new([ca])
            .expect("the root is one")
            .validate(
                &[&leaf],
                Purpose::ServerAuth,
                Some(&server_name("localhost")),
                UnixTime::now(),
            )
            .expect("the chain is valid");
    }
}

/// OpenSSL reads our lists, and refuses the certificates on them and no others.
#[test]
fn openssl_goes_by_our_revocation_lists() {
    let Some(work) = Workdir::new() else { return };
    for algorithms in every_combination() {
        let chain = Chain::new(algorithms, |ca| ca);
        chain.write_to(&work);
        let revoked = chain.issue(server_leaf());
        work.write("revoked.pem", revoked.to_pem());
        let lists = chain.lists(&revoked);
        let text: String = lists
            .iter()
            .map(CertificateRevocationList::to_pem)
            .collect();
        work.write("lists.pem", text);

        work.run(&format!("{VERIFY} {CHECK_LISTS} leaf.pem"))
            .assert_line("leaf.pem: OK");
        work.run_failing(&format!("{VERIFY} {CHECK_LISTS} revoked.pem"))
            .assert_contains("certificate revoked");
        // Each list alone leaves one certificate uncovered.
        for list in &lists {
            work.write("lists.pem", list.to_pem());
            work.run_failing(&format!("{VERIFY} {CHECK_LISTS} leaf.pem"))
                .assert_contains("unable to get certificate CRL");
        }
        work.write("list.pem", lists[1].to_pem());
        let printed = work.run("crl -in list.pem -noout -text -CAfile intermediate.pem");
        for part in [
            "Key Compromise",
            "X509v3 CRL Number",
            "X509v3 Authority Key Identifier",
        ] {
            printed.assert_contains(part);
        }
        printed.assert_contains("verify OK");
    }
}

/// OpenSSL fetches our lists from the URLs in our certificates.
#[test]
fn openssl_finds_our_revocation_lists() {
    let Some(work) = Workdir::new() else { return };
    let chain = Chain::new([SignatureAlgorithm::MlDsa65; 3], |ca| ca);
    chain.write_to(&work);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let url = format!("http://{address}/intermediate.crl");
    let issue = || chain.issue(server_leaf().revocation_list_url(&url));
    let [good, revoked] = [issue(), issue()];
    let [_, list] = chain.lists(&revoked);
    let server = thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            answer(stream.expect("somebody connects"), list.der());
        }
    });

    let fetch = format!("{VERIFY} -crl_check -crl_download");
    work.write("good.pem", good.to_pem());
    work.run(&format!("{fetch} good.pem"))
        .assert_line("good.pem: OK");
    work.write("revoked.pem", revoked.to_pem());
    work.run_failing(&format!("{fetch} revoked.pem"))
        .assert_contains("certificate revoked");
    server.join().expect("both fetched the list");
    // This one names no URL.
    work.run_failing(&format!("{fetch} leaf.pem"))
        .assert_contains("unable to get certificate CRL");
}

/// Answers an HTTP request.
fn answer(stream: TcpStream, list: &[u8]) {
    let request = BufReader::new(&stream)
        .lines()
        .map(|line| line.expect("a line of a request"))
        .take_while(|line| !line.is_empty());
    let request: Vec<String> = request.collect();
    assert!(
        request[0].starts_with("GET /intermediate.crl HTTP/1."),
        "{request:?}"
    );
    let head = format!(
        "HTTP/1.0 200 OK\r\nContent-Type: application/pkix-crl\r\nContent-Length: {}\r\n\r\n",
        list.len()
    );
    (&stream)
        .write_all(&[head.as_bytes(), list].concat())
        .expect("OpenSSL reads the answer");
}

/// The reverse: we read lists of OpenSSL.
#[test]
fn we_go_by_revocation_lists_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    for algorithms in every_combination() {
        let (root, chain) = chain_by_openssl(&work, algorithms);
        let policy = |lists: [CertificateRevocationList; 2]| {
            RevocationPolicy::new(lists).expect("the lists are usable")
        };
        let validate = |policy| {
            ChainValidator::new([root.clone()])
                .expect("the root is one")
                .with_revocation(policy)
                .validate_server(&chain, &server_name(NAME), UnixTime::now())
        };
        let [of_root, of_intermediate] =
            ["root", "intermediate"].map(|ca| openssl_list(&work, ca, None));
        assert_eq!(of_root.verify_signature(&root, verification::ALL), Ok(()));
        assert_eq!(of_root.number(), Some(&[1][..]));
        let valid = validate(policy([of_root.clone(), of_intermediate.clone()]));
        assert_eq!(valid.expect("nothing is revoked").certificates().len(), 3);

        let of_intermediate = openssl_list(&work, "intermediate", Some("leaf"));
        let entry = of_intermediate.entry_for(&chain[0]).expect("it is listed");
        assert_eq!(entry.reason(), CrlReason::KeyCompromise);
        let refused = validate(policy([of_root, of_intermediate.clone()]));
        assert!(
            matches!(&refused, Err(ValidationError::Revoked { entry: Some(found), .. }) if found == entry),
            "{refused:?}"
        );
    }
}

/// OpenSSL asks, and our responder answers: the CA itself, and a delegate.
#[test]
fn openssl_goes_by_our_ocsp_responses() {
    let Some(work) = Workdir::new() else { return };
    for algorithms in every_combination() {
        let chain = Chain::new(algorithms, |ca| ca);
        chain.write_to(&work);
        let [root, ca] = [&chain.root, &chain.intermediate].map(|ca| ca.certificate());
        work.write(
            "both.pem",
            Certificate::chain_to_pem(&[root.clone(), ca.clone()]),
        );
        let key = generate(algorithms[2]);
        let builder = CertificateBuilder::ocsp_responder().common_name("OCSP");
        let certificate = chain.intermediate.issue(builder, &key);
        let certificate = certificate.expect("the delegate can be issued");
        let by_ca = OcspResponder::ca(&chain.intermediate);
        let delegate = OcspResponder::delegate(ca.clone(), certificate, &key);
        let delegate = delegate.expect("it is one");
        for hash in ["-sha1", "-sha256"] {
            let ask = format!("ocsp {hash} -issuer intermediate.pem -cert leaf.pem");
            work.run(&format!("{ask} -reqout request"));
            // -no_nonce: the request already has its nonce, and must not get another one.
            let read = format!("{ask} -no_nonce -reqin request -respin response -CAfile both.pem");
            let request = OcspRequest::from_der(&work.read("request"));
            let request = request.unwrap_or_else(|err| panic!("OpenSSL's request: {err}"));
            assert!(request.nonce().is_some());
            assert!(request.certificates()[0].is_of(&chain.leaf, ca));
            for (status, said) in [
                (CertStatus::Good, "leaf.pem: good"),
                (CertStatus::Unknown, "leaf.pem: unknown"),
                (revoked(), "leaf.pem: revoked"),
            ] {
                for response in [
                    respond(&by_ca, &request, status),
                    respond(&delegate, &request, status),
                ] {
                    work.write("response", response.der());
                    let printed = work.run(&read);
                    printed.assert_contains("Response verify OK");
                    printed.assert_line(said);
                    assert!(!printed.stderr().contains("WARNING"), "{printed:?}");
                }
            }
            let printed = work.run(&read);
            printed.assert_contains("Reason: keyCompromise");
            printed.assert_contains("Revocation Time: Sep 13 12:26:40 2020 GMT");
        }
        // A delegate of another CA may only answer for that CA.
        let builder = CertificateBuilder::ocsp_responder().common_name("OCSP");
        let other = chain
            .root
            .issue(builder, &key)
            .expect("the delegate can be issued");
        let other = OcspResponder::delegate(root.clone(), other, &key).expect("it is one");
        let of_leaf = OcspRequest::builder().certificate(&chain.leaf, ca).build();
        let response = respond(&other, &of_leaf.expect("a request"), CertStatus::Good);
        work.write("response", response.der());
        work.run_failing(
            "ocsp -issuer intermediate.pem -cert leaf.pem -no_nonce -respin response -CAfile both.pem",
        )
        .assert_contains("Response Verify Failure");
    }
}

fn revoked() -> CertStatus {
    CertStatus::Revoked {
        date: UnixTime::since_unix_epoch(Duration::from_secs(1_600_000_000)),
        reason: CrlReason::KeyCompromise,
    }
}

fn respond<S: pq_x509::keys::Signer>(
    responder: &OcspResponder<S>,
    request: &OcspRequest,
    status: CertStatus,
) -> OcspResponse {
    let now = SystemTime::now();
    responder
        .respond(request, now, Validity::days(1), |_| {
            Ok::<_, pq_x509::issuing::IssueError>(status)
        })
        .expect("the responder signs")
}

/// The reverse: `openssl ocsp` as the responder, with the CA's key and a delegate's.
#[test]
fn we_go_by_ocsp_responses_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    for algorithm in [
        SignatureAlgorithm::MlDsa44,
        SignatureAlgorithm::MlDsa65,
        SignatureAlgorithm::MlDsa87,
        SignatureAlgorithm::SlhDsaShake128f,
    ] {
        let chain = Chain::new([SignatureAlgorithm::MlDsa44, algorithm, algorithm], |ca| ca);
        chain.write_to(&work);
        let ca = chain.intermediate.certificate();
        let write_key = |name: &str, key: &SigningKey| {
            let pem = key
                .to_pkcs8_pem()
                .expect("it is not from its expanded form");
            work.write(name, pem.as_bytes());
        };
        write_key("intermediate.key", chain.intermediate.signer());
        let key = generate(algorithm);
        write_key("delegate.key", &key);
        let builder = CertificateBuilder::ocsp_responder().common_name("OCSP");
        let delegate = chain.intermediate.issue(builder, &key);
        work.write(
            "delegate.pem",
            delegate.expect("the delegate can be issued").to_pem(),
        );
        let lost = chain.issue(server_leaf());
        let digits = |certificate: &Certificate| {
            let bytes = certificate.serial_number().iter();
            bytes.map(|byte| format!("{byte:02X}")).collect::<String>()
        };
        let index = format!(
            "V\t400101000000Z\t\t{}\tunknown\t/CN=leaf\n\
             R\t400101000000Z\t200913122640Z,keyCompromise\t{}\tunknown\t/CN=lost\n",
            digits(&chain.leaf),
            digits(&lost)
        );
        work.write("index", index);
        let nonce = OcspNonce::random().expect("there is randomness");
        let request = OcspRequest::builder()
            .certificate(&chain.leaf, ca)
            .certificate(&lost, ca)
            .nonce(nonce.clone())
            .build()
            .expect("a request");
        work.write("request", request.der());
        let root = chain.root.certificate().clone();
        let validator = ChainValidator::new([root]).expect("a root");
        let validator =
            validator.with_revocation(RevocationPolicy::without_lists().end_entity_only());
        for signer in ["intermediate", "delegate"] {
            for form in ["", "-resp_key_id", "-resp_no_certs"] {
                work.run(&format!(
                    "ocsp -index index -CA intermediate.pem -rsigner {signer}.pem -rkey {signer}.key \
                     -reqin request -respout response -ndays 1 {form}"
                ));
                let response = OcspResponse::from_der(&work.read("response"));
                let response = response.unwrap_or_else(|err| panic!("OpenSSL's response: {err}"));
                let now = UnixTime::now();
                let verifier = OcspVerifier::new(ca, now).with_nonce(&nonce);
                let verify = |leaf: &Certificate| {
                    let verified = verifier.verify(&response, leaf);
                    verified.map(|verified| verified.status())
                };
                // A delegate's certificate has to be in the response.
                if signer == "delegate" && form == "-resp_no_certs" {
                    let refused = verify(&chain.leaf);
                    assert!(
                        matches!(refused, Err(OcspError::UnknownResponder(_))),
                        "{refused:?}"
                    );
                    continue;
                }
                assert_eq!(verify(&chain.leaf), Ok(CertStatus::Good), "{signer} {form}");
                assert_eq!(verify(&lost), Ok(revoked()), "{signer} {form}");
                let validate = |leaf: &Certificate| {
                    let validator = validator.clone().with_ocsp_responses([response.clone()]);
                    let chain = [leaf, ca];
                    validator
                        .validate_server(&chain, &server_name(NAME), now)
                        .map(drop)
                };
                assert_eq!(validate(&chain.leaf), Ok(()));
                let refused = validate(&lost);
                assert!(
                    matches!(refused, Err(ValidationError::Revoked { .. })),
                    "{refused:?}"
                );
            }
        }
        // A leaf of the CA that is no responder.
        let key = generate(algorithm);
        write_key("leaf.key", &key);
        let leaf = chain
            .intermediate
            .issue(server_leaf(), &key)
            .expect("a leaf");
        work.write("server.pem", leaf.to_pem());
        work.run(
            "ocsp -index index -CA intermediate.pem -rsigner server.pem -rkey leaf.key -reqin request \
             -respout response -ndays 1",
        );
        let response = OcspResponse::from_der(&work.read("response")).expect("a response");
        let refused = OcspVerifier::new(ca, UnixTime::now()).verify(&response, &chain.leaf);
        assert!(
            matches!(refused, Err(OcspError::Delegate { .. })),
            "{refused:?}"
        );
    }
}

/// A list that `openssl ca` makes for `ca`, with one certificate on it or none.
fn openssl_list(work: &Workdir, ca: &str, revoked: Option<&str>) -> CertificateRevocationList {
    work.make_list(ca, revoked);
    CertificateRevocationList::from_pem(&work.read_text("list.pem"))
        .unwrap_or_else(|err| panic!("the list of {ca}: {err}"))
}

/// A root, an intermediate and a server's leaf, issued by us.
struct Chain {
    root: Issuer<SigningKey>,
    intermediate: Issuer<SigningKey>,
    leaf: Certificate,
}

impl Chain {
    fn new(
        [root, intermediate, leaf]: [SignatureAlgorithm; 3],
        describe: impl FnOnce(
            CertificateBuilder<pq_x509::issuing::Ca>,
        ) -> CertificateBuilder<pq_x509::issuing::Ca>,
    ) -> Self {
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), generate(root))
            .expect("the root can be issued");
        let intermediate = root
            .issue_ca(
                describe(CertificateBuilder::ca("Intermediate")),
                generate(intermediate),
            )
            .expect("the intermediate can be issued");
        let leaf_key = generate(leaf);
        let leaf = intermediate
            .prepare(leaf_builder(), &leaf_key)
            .expect("the leaf can be described")
            .sign(intermediate.signer())
            .expect("the intermediate signs");
        Self {
            root,
            intermediate,
            leaf,
        }
    }

    /// A list of each CA; that of the intermediate has one certificate on it.
    fn lists(&self, revoked: &Certificate) -> [CertificateRevocationList; 2] {
        let list = CertificateRevocationListBuilder::new(&[1]);
        let of_intermediate = list.clone().revoke(
            revoked.serial_number(),
            SystemTime::now(),
            CrlReason::KeyCompromise,
        );
        [(&self.root, list), (&self.intermediate, of_intermediate)].map(|(ca, list)| {
            ca.issue_revocation_list(list)
                .expect("the CA may sign lists")
        })
    }

    fn write_to(&self, work: &Workdir) {
        work.write("root.pem", self.root.certificate().to_pem());
        work.write("intermediate.pem", self.intermediate.certificate().to_pem());
        work.write("leaf.pem", self.leaf.to_pem());
    }

    fn issue(&self, builder: CertificateBuilder<pq_x509::issuing::EndEntity>) -> Certificate {
        let key = generate(SignatureAlgorithm::MlDsa44);
        self.intermediate
            .issue(builder, &key)
            .expect("the leaf can be issued")
    }

    /// Like [`issue`](Self::issue), even for contents that the intermediate must not certify.
    fn issue_unchecked(
        &self,
        builder: CertificateBuilder<pq_x509::issuing::EndEntity>,
    ) -> Certificate {
        let key = generate(SignatureAlgorithm::MlDsa44);
        self.intermediate
            .prepare(builder, &key)
            .expect("the leaf can be described")
            .sign(self.intermediate.signer())
            .expect("the intermediate signs")
    }

    fn validate(
        &self,
        leaf: &Certificate,
        name: &str,
    ) -> Result<pq_x509::validation::ValidatedChain, ValidationError> {
        ChainValidator::new([self.root.certificate().clone()])?.validate_server(
            &[leaf, self.intermediate.certificate()],
            &server_name(name),
            UnixTime::now(),
        )
    }
}

/// The root, and the chain without it, that OpenSSL issues with these algorithms.
fn chain_by_openssl(
    work: &Workdir,
    algorithms: [SignatureAlgorithm; 3],
) -> (Certificate, [Certificate; 2]) {
    let keys = algorithms.map(|algorithm| format!("-newkey {algorithm}"));
    work.issue_chain(keys.each_ref().map(String::as_str), "");
    read_chain(work)
}

/// The root, and the chain without it, that OpenSSL issued.
fn read_chain(work: &Workdir) -> (Certificate, [Certificate; 2]) {
    let [root, leaf, intermediate] = ["root.pem", "leaf.pem", "intermediate.pem"].map(|name| {
        Certificate::from_pem(&work.read_text(name)).unwrap_or_else(|err| panic!("{name}: {err}"))
    });
    (root, [leaf, intermediate])
}

fn every_chain() -> impl Iterator<Item = Chain> {
    every_combination().map(|algorithms| Chain::new(algorithms, |ca| ca.path_len(0)))
}

/// Every set for all three certificates, and the three sets in turn.
fn every_combination() -> impl Iterator<Item = [SignatureAlgorithm; 3]> {
    use SignatureAlgorithm::{MlDsa44, MlDsa65, MlDsa87};
    SignatureAlgorithm::ML_DSA
        .iter()
        .map(|&algorithm| [algorithm; 3])
        .chain([[MlDsa87, MlDsa65, MlDsa44], [MlDsa44, MlDsa87, MlDsa65]])
}

fn leaf_builder() -> CertificateBuilder<pq_x509::issuing::EndEntity> {
    server_leaf().ip_address(IpAddr::V6(Ipv6Addr::LOCALHOST))
}

const VERIFY: &str = "verify -x509_strict -CAfile root.pem -untrusted intermediate.pem";

const CHECK_LISTS: &str = "-crl_check_all -CRLfile lists.pem";
