//! TLS 1.3 between our endpoints and OpenSSL's.

use alloc::sync::Arc;
use core::net::Ipv4Addr;
use core::time::Duration;
use std::sync::Mutex;
use std::time::SystemTime;

use interop::endpoint::{self, ours};
use interop::openssl::{SServer, Workdir};
use interop::pki::{CLIENT_NAME, Identity, NAME, Pki, generate};
use interop::process::Output;
use interop::tcp::{self, Report, Server};
use pq_serving::{Limits, Tls};
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError};
use pq_x509::keys::{SignatureAlgorithm, Signer};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder, SingleResponse};
use pq_x509::revocation::CrlReason;
use pq_x509::validation::ChainValidator;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, UnixTime};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, HandshakeKind, ServerConfig};
use rustls_pq::identity::{self, Identities, IdentitySet};
use rustls_pq::verify::CheckOcsp;
use rustls_pq::{Group, Profile};
use tokio::runtime::Runtime;

#[test]
fn our_server_in_every_group() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    for group in GROUPS {
        let server = scene.our_server(&GROUPS, 1);
        let output = scene.s_client(&server, &format!("-groups {group}"));

        output.assert_line(negotiated(group));
        assert_report(only(server.reports()), group, HandshakeKind::Full);
    }
}

#[test]
fn our_client_in_every_group() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let server = scene.s_server(&format!("-groups {}", list(&GROUPS)));
    for group in GROUPS {
        let report = scene.our_client(&server, &[group]);
        assert_report(report, group, HandshakeKind::Full);
    }
}

#[test]
fn our_default_server_and_a_default_s_client() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let provider = rustls_pq::provider().expect("the default provider runs here");
    let server = Server::start(endpoint::server(provider, &scene.server, None), 1);
    let output = scene.s_client(&server, "");

    output.assert_line("Negotiated TLS1.3 group: X25519MLKEM768");
    output.assert_line("Peer signature type: mldsa65");
    output.assert_line("Verification: OK");
    assert_report(
        only(server.reports()),
        Group::X25519MLKEM768,
        HandshakeKind::Full,
    );
}

#[test]
fn our_default_client_and_a_default_s_server() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let provider = rustls_pq::provider().expect("the default provider runs here");
    let server = scene.s_server("");
    let report = tcp::connect(
        &endpoint::client(provider, scene.pki.root(), None),
        server.address(),
        NAME,
        MESSAGE,
    )
    .unwrap();

    assert_eq!(report.peer_certificates, scene.server.chain_der());
    assert_report(report, Group::X25519MLKEM768, HandshakeKind::Full);
}

/// CNSA 2.0 on the other side, with ECDH on P-384 if nothing else is shared.
#[test]
fn our_default_provider_and_level_5() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let provider = rustls_pq::provider().expect("the default provider runs here");
    for group in [Group::SECP384R1MLKEM1024, Group::MLKEM1024] {
        let config = endpoint::server(provider.clone(), &scene.server, None);
        let server = Server::start(config, 1);
        let output = scene.s_client(&server, &format!("-groups {group}:secp384r1"));
        output.assert_line(negotiated(group));
        assert_report(only(server.reports()), group, HandshakeKind::Full);

        let server = scene.s_server(&format!("-groups {group}:secp384r1"));
        let config = endpoint::client(provider.clone(), scene.pki.root(), None);
        let report = tcp::connect(&config, server.address(), NAME, MESSAGE).unwrap();
        assert_report(report, group, HandshakeKind::FullWithHelloRetryRequest);
    }
}

/// The X25519 half of the hybrid share is also sent as a share of its own, so that a server that
/// knows nothing of ML-KEM needs no second round trip.
#[test]
fn a_server_without_ml_kem_costs_no_retry() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    for (hybrid, component) in [
        (Group::X25519MLKEM768, Group::X25519),
        (Group::SECP256R1MLKEM768, Group::SECP256R1),
        (Group::SECP384R1MLKEM1024, Group::SECP384R1),
    ] {
        let server = scene.s_server(&format!("-groups {component}"));
        let report = scene.our_client(&server, &[hybrid, component]);
        assert_report(report, component, HandshakeKind::Full);
    }
}

#[test]
fn our_server_with_every_ml_dsa_set() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let Some(scene) = Scene::new(algorithm) else {
            return;
        };
        let server = scene.our_server(&[Group::X25519MLKEM768], 1);
        let output = scene.s_client(&server, "");

        output.assert_line("Negotiated TLS1.3 group: X25519MLKEM768");
        output.assert_line(&format!("Peer signature type: {}", scheme(algorithm)));
        output.assert_line("Verification: OK");
        assert_report(
            only(server.reports()),
            Group::X25519MLKEM768,
            HandshakeKind::Full,
        );
    }
}

#[test]
fn our_client_with_every_ml_dsa_set() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let Some(scene) = Scene::new(algorithm) else {
            return;
        };
        let server = scene.s_server("");
        let report = scene.our_client(&server, &[Group::X25519MLKEM768]);
        assert_eq!(report.peer_certificates, scene.server.chain_der());
        assert_report(report, Group::X25519MLKEM768, HandshakeKind::Full);
    }
}

#[test]
fn our_server_demands_a_certificate() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let Some(scene) = Scene::new(algorithm) else {
            return;
        };
        let client = scene.pki.client(algorithm);
        let options = client.write_to(&scene.work, "client");
        let server = Server::start(
            endpoint::server(
                ours(&[Group::X25519MLKEM768]),
                &scene.server,
                Some(scene.pki.root()),
            ),
            1,
        );
        let output = scene.s_client(&server, &options);

        output.assert_line("Verification: OK");
        let report = only(server.reports());
        assert_eq!(report.peer_certificates, client.chain_der());
        assert_report(report, Group::X25519MLKEM768, HandshakeKind::Full);
    }
}

#[test]
fn s_server_demands_a_certificate() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let Some(scene) = Scene::new(algorithm) else {
            return;
        };
        let server = scene.s_server("-Verify 2 -verify_return_error -CAfile root.pem");
        let config = endpoint::client(
            ours(&[Group::X25519MLKEM768]),
            scene.pki.root(),
            Some(&scene.pki.client(algorithm)),
        );
        let report = tcp::connect(&config, server.address(), NAME, MESSAGE).unwrap();
        assert_report(report, Group::X25519MLKEM768, HandshakeKind::Full);

        let output = server.stop();
        output.assert_line(&format!("Peer certificate: CN={CLIENT_NAME}"));
        output.assert_line(&format!("Signature type: {}", scheme(algorithm)));
        output.assert_line("Verification: OK");
    }
}

/// Files that OpenSSL made, with the private key in each of its forms, in our server and
/// our client's store of roots.
#[test]
fn files_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    work.run(
        "req -x509 -newkey ML-DSA-65 -noenc -keyout ca.key -subj /CN=ca -out ca.pem \
         -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign",
    );
    let root =
        Certificate::from_pem(&work.read_text("ca.pem")).expect("OpenSSL writes certificates");
    for &algorithm in SignatureAlgorithm::ML_DSA {
        for form in ["seed-only", "priv-only", "seed-priv"] {
            work.run(&format!(
                "genpkey -algorithm {algorithm} -provparam ml-dsa.output_formats={form} -out server.key"
            ));
            work.run(&format!(
                "req -x509 -CA ca.pem -CAkey ca.key -key server.key -subj /CN=server \
                 -addext subjectAltName=DNS:{NAME} -addext basicConstraints=critical,CA:false \
                 -out server.pem"
            ));
            let chain = [Certificate::from_pem(&work.read_text("server.pem"))
                .expect("OpenSSL writes certificates")
                .into_der()];
            let key = PrivateKeyDer::from_pem_slice(&work.read("server.key"))
                .expect("OpenSSL writes private keys");

            let provider = ours(&[Group::X25519MLKEM768]);
            let config = ServerConfig::builder_with_provider(Arc::new(provider))
                .with_protocol_versions(&[&TLS13])
                .expect("TLS 1.3 fits the provider")
                .with_no_client_auth()
                .with_single_cert(chain.to_vec(), key)
                .unwrap_or_else(|err| panic!("{algorithm}, {form}: {err}"));
            let server = Server::start(Arc::new(config), 2);

            let output = work.connect(
                server.address(),
                &format!(
                    "-servername {NAME} -verify_hostname {NAME} -verify_return_error -CAfile ca.pem"
                ),
                MESSAGE,
            );
            output.assert_line(&format!("Peer signature type: {}", scheme(algorithm)));
            output.assert_line("Verification: OK");
            output.assert_line(MESSAGE_REVERSED);

            let client = endpoint::client(ours(&[Group::X25519MLKEM768]), &root, None);
            let report = tcp::connect(&client, server.address(), NAME, MESSAGE).unwrap();
            assert_eq!(report.peer_certificates, chain);
            assert_eq!(server.reports().len(), 2);
        }
    }
}

#[test]
fn our_server_asks_for_another_share() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa44) else {
        return;
    };
    for group in Group::POST_QUANTUM {
        let server = scene.our_server(&[*group], 1);
        // The star marks the group whose share is sent unasked.
        let output = scene.s_client(&server, &format!("-groups *X25519:{group}"));

        output.assert_line(negotiated(*group));
        assert_report(
            only(server.reports()),
            *group,
            HandshakeKind::FullWithHelloRetryRequest,
        );
    }
}

#[test]
fn s_server_asks_for_another_share() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa44) else {
        return;
    };
    for group in Group::POST_QUANTUM {
        let server = scene.s_server(&format!("-groups {group}"));
        let report = scene.our_client(&server, &[Group::X25519, *group]);
        assert_report(report, *group, HandshakeKind::FullWithHelloRetryRequest);
    }
    // And away from a hybrid share whose halves are both of no use.
    let server = scene.s_server("-groups secp384r1");
    let report = scene.our_client(&server, &[Group::X25519MLKEM768, Group::SECP384R1]);
    assert_report(
        report,
        Group::SECP384R1,
        HandshakeKind::FullWithHelloRetryRequest,
    );
}

#[test]
fn our_server_resumes() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let server = scene.our_server(&[Group::X25519MLKEM768], 2);
    let first = scene.s_client(&server, "-sess_out session.pem");
    first.assert_contains("New, TLSv1.3, Cipher is ");
    let second = scene.s_client(&server, "-sess_in session.pem");
    second.assert_contains("Reused, TLSv1.3, Cipher is ");

    let kinds = [HandshakeKind::Full, HandshakeKind::Resumed];
    let reports = server.reports();
    assert_eq!(reports.len(), kinds.len());
    for (report, kind) in reports.into_iter().zip(kinds) {
        assert_report(report, Group::X25519MLKEM768, kind);
    }
}

#[test]
fn s_server_resumes() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let server = scene.s_server("");
    // The configuration keeps the tickets.
    let config = endpoint::client(ours(&[Group::X25519MLKEM768]), scene.pki.root(), None);
    for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
        let report = tcp::connect(&config, server.address(), NAME, MESSAGE).unwrap();
        assert_report(report, Group::X25519MLKEM768, kind);
    }
}

/// s_client accepts and shows the responses that our server staples, and OpenSSL comes to the same conclusion.
#[test]
fn our_server_staples() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let provider = pq_serving::provider(Profile::Default, &[]).expect("it runs here");
    let identity =
        identity::Identity::new(scene.server.chain_der(), scene.server.key_der(), &provider);
    let identity = Arc::new(identity.expect("a pair"));
    let set = IdentitySet::new().with_default(identity.clone());
    let tls = Tls::with(provider, Arc::new(Identities::new(set)), None);
    let runtime = Runtime::new().expect("threads");
    let server = pq_serving::Server::bind(
        (Ipv4Addr::LOCALHOST, 0),
        tls.expect("a configuration"),
        Limits::default(),
    );
    let server = runtime.block_on(server).expect("a port is free");
    let connect = |options: &str| {
        let options = format!(
            "-servername {NAME} -verify_hostname {NAME} -verify_return_error -CAfile root.pem {options}"
        );
        let output = scene
            .work
            .connect(server.local_addr(), &options, "GET / HTTP/1.0\r\n\r");
        assert!(output.success(), "{output}");
        output.assert_line("Verification: OK");
        output
    };

    connect("-status").assert_contains("OCSP response: no response sent");
    for (status, shown, concluded) in [
        (CertStatus::Good, "Cert Status: good", "server.pem: good"),
        (REVOKED, "Cert Status: revoked", "server.pem: revoked"),
    ] {
        for response in [scene.response(status), scene.delegated_response(status)] {
            identity.set_ocsp_response(&response).expect("of use");
            let output = connect("-status");
            output.assert_contains("OCSP Response Status: successful (0x0)");
            output.assert_contains(shown);
            // A client that didn't ask for a response would end the handshake.
            connect("");

            // s_client only shows the response, so `openssl ocsp` verifies it.
            scene.work.write("staple.der", &response);
            let output = scene.work.run(
                "ocsp -respin staple.der -issuer server.chain -cert server.pem -CAfile root.pem -no_nonce",
            );
            output.assert_contains("Response verify OK");
            output.assert_contains(concluded);
        }
    }
}

/// Our client accepts or refuses what s_server staples, whether our responder made it or OpenSSL's.
#[test]
fn s_server_staples() {
    let Some(scene) = Scene::new(SignatureAlgorithm::MlDsa65) else {
        return;
    };
    let serve = |response: &[u8]| {
        scene.work.write("staple.der", response);
        let server = scene.s_server("-status_file staple.der");
        scene.checking_client(&server)
    };
    for response in [
        scene.response(CertStatus::Good),
        scene.delegated_response(CertStatus::Good),
        scene.response_of_openssl("V", ""),
    ] {
        let (result, said) = serve(&response);
        assert_report(
            result.unwrap_or_else(|err| panic!("{err}")),
            Group::X25519MLKEM768,
            HandshakeKind::Full,
        );
        assert_eq!(said, Ok(Some(CertStatus::Good)));
    }
    for response in [
        scene.response(REVOKED),
        scene.response_of_openssl("R", "231114221320Z,keyCompromise"),
    ] {
        let (result, said) = serve(&response);
        let revoked = rustls::Error::from(CertificateError::Revoked);
        assert!(
            matches!(&result, Err(tcp::Failure::Tls(error)) if *error == revoked),
            "{result:?}"
        );
        let why = said.expect_err("it was refused");
        assert!(
            why.contains("was revoked at 2023-11-14T22:13:20Z (keyCompromise)"),
            "{why}"
        );
    }
    let (result, said) = scene.checking_client(&scene.s_server(""));
    result.unwrap_or_else(|err| panic!("{err}"));
    assert_eq!(said, Ok(None));
}

/// Since 2023-11-14.
const REVOKED: CertStatus = CertStatus::Revoked {
    date: UnixTime::since_unix_epoch(Duration::from_secs(1_700_000_000)),
    reason: CrlReason::KeyCompromise,
};

/// The certificates that most tests need, and a folder that has them.
struct Scene {
    work: Workdir,
    pki: Pki,
    server: Identity,
    server_options: String,
}

impl Scene {
    /// `None` if there is no OpenSSL.
    fn new(algorithm: SignatureAlgorithm) -> Option<Self> {
        let work = Workdir::new()?;
        let pki = Pki::new(algorithm);
        let server = pki.server(algorithm);
        work.write("root.pem", pki.root().to_pem());
        let server_options = server.write_to(&work, "server");
        Some(Self {
            work,
            pki,
            server,
            server_options,
        })
    }

    fn our_server(&self, groups: &[Group], connections: usize) -> Server {
        Server::start(
            endpoint::server(ours(groups), &self.server, None),
            connections,
        )
    }

    /// Runs s_client against our server, and checks that it got its answer.
    fn s_client(&self, server: &Server, options: &str) -> Output {
        let output = self.work.connect(
            server.address(),
            &format!(
                "-servername {NAME} -verify_hostname {NAME} -verify_return_error \
                 -CAfile root.pem {options}"
            ),
            MESSAGE,
        );
        assert!(output.success(), "{output}");
        output.assert_line(MESSAGE_REVERSED);
        output
    }

    fn s_server(&self, options: &str) -> SServer {
        self.work
            .serve(&format!("{} {options}", self.server_options))
    }

    /// The issuer's response about the server's certificate.
    fn response(&self, status: CertStatus) -> Vec<u8> {
        self.response_by(&OcspResponder::ca(self.pki.intermediate()), status)
    }

    /// A response by a delegate whom the issuer certified for that.
    fn delegated_response(&self, status: CertStatus) -> Vec<u8> {
        let issuer = self.pki.intermediate();
        let key = generate(SignatureAlgorithm::MlDsa44);
        let builder = CertificateBuilder::ocsp_responder().common_name("Responder");
        let certificate = issuer.issue(builder, &key).expect("a certificate");
        let responder = OcspResponder::delegate(issuer.certificate().clone(), certificate, key);
        self.response_by(&responder.expect("a delegate"), status)
    }

    fn response_by(&self, responder: &OcspResponder<impl Signer>, status: CertStatus) -> Vec<u8> {
        let request = OcspRequest::builder();
        let request = request.certificate(&self.server.chain[0], responder.issuer());
        let request = request.build().expect("a request");
        let now = SystemTime::now();
        let response = responder.respond(&request, now, Validity::days(1), |_| {
            Ok::<_, IssueError>(status)
        });
        response.expect("a response").into_der()
    }

    /// A response by OpenSSL's responder with the issuer's key, from an index with this entry.
    fn response_of_openssl(&self, kind: &str, revoked: &str) -> Vec<u8> {
        let number = self.server.chain[0].serial_number().iter();
        let number: String = number.map(|byte| format!("{byte:02X}")).collect();
        self.work.write(
            "index.txt",
            format!("{kind}\t491231235959Z\t{revoked}\t{number}\tunknown\t/CN={NAME}\n"),
        );
        let key = self.pki.intermediate().signer().to_pkcs8_pem();
        self.work
            .write("issuer.key", key.expect("the key has a seed").as_bytes());
        self.work
            .run("ocsp -issuer server.chain -cert server.pem -no_nonce -reqout request.der");
        self.work.run(
            "ocsp -index index.txt -CA server.chain -rsigner server.chain -rkey issuer.key \
             -reqin request.der -respout response.der -ndays 1",
        );
        self.work.read("response.der")
    }

    /// The result of our client that checks responses, and the response's status according to it.
    fn checking_client(
        &self,
        server: &SServer,
    ) -> (
        Result<Report, tcp::Failure>,
        Result<Option<CertStatus>, String>,
    ) {
        let provider = Arc::new(ours(&[Group::X25519MLKEM768]));
        let roots = Arc::new(endpoint::roots(self.pki.root()));
        let webpki = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .expect("a verifier");
        let validator = ChainValidator::new([self.pki.root().clone()]).expect("a root");
        let said = Arc::new(Mutex::new(None));
        let verifier = CheckOcsp::new(webpki, validator).reporting_to({
            let said = said.clone();
            move |outcome| {
                let outcome = outcome.map(|response| response.map(SingleResponse::status));
                *said.lock().expect("no panic") = Some(outcome.map_err(ToString::to_string));
            }
        });
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .expect("TLS 1.3 fits the provider")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let result = tcp::connect(&Arc::new(config), server.address(), NAME, MESSAGE);
        let said = said.lock().expect("no panic").take();
        (result, said.expect("it was asked"))
    }

    fn our_client(&self, server: &SServer, groups: &[Group]) -> Report {
        let config = endpoint::client(ours(groups), self.pki.root(), None);
        tcp::connect(&config, server.address(), NAME, MESSAGE)
            .unwrap_or_else(|err| panic!("our client with {groups:?} failed: {err}"))
    }
}

#[track_caller]
fn assert_report(report: Report, group: Group, kind: HandshakeKind) {
    assert_eq!(Group::from(report.group), group);
    assert_eq!(report.handshake, kind);
    assert!([MESSAGE, MESSAGE_REVERSED].contains(&report.received.as_str()));
}

#[track_caller]
fn only(mut reports: Vec<Report>) -> Report {
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}

/// How s_client names the negotiated group.
fn negotiated(group: Group) -> &'static str {
    match group {
        Group::X25519MLKEM768 => "Negotiated TLS1.3 group: X25519MLKEM768",
        Group::SECP256R1MLKEM768 => "Negotiated TLS1.3 group: SecP256r1MLKEM768",
        Group::SECP384R1MLKEM1024 => "Negotiated TLS1.3 group: SecP384r1MLKEM1024",
        Group::MLKEM512 => "Negotiated TLS1.3 group: MLKEM512",
        Group::MLKEM768 => "Negotiated TLS1.3 group: MLKEM768",
        Group::MLKEM1024 => "Negotiated TLS1.3 group: MLKEM1024",
        Group::X25519 => "Peer Temp Key: X25519, 253 bits",
        Group::SECP256R1 => "Peer Temp Key: ECDH, prime256v1, 256 bits",
        Group::SECP384R1 => "Peer Temp Key: ECDH, secp384r1, 384 bits",
        other => panic!("these tests do not use {other}"),
    }
}

/// OpenSSL's name of the signature scheme.
fn scheme(algorithm: SignatureAlgorithm) -> &'static str {
    match algorithm {
        SignatureAlgorithm::MlDsa44 => "mldsa44",
        SignatureAlgorithm::MlDsa65 => "mldsa65",
        SignatureAlgorithm::MlDsa87 => "mldsa87",
        other => panic!("these tests do not use {other}"),
    }
}

/// Groups as `-groups` takes them.
fn list(groups: &[Group]) -> String {
    groups
        .iter()
        .map(Group::to_string)
        .collect::<Vec<_>>()
        .join(":")
}

/// Every group that both sides have.
pub(crate) const GROUPS: [Group; 9] = [
    Group::X25519MLKEM768,
    Group::SECP256R1MLKEM768,
    Group::SECP384R1MLKEM1024,
    Group::MLKEM512,
    Group::MLKEM768,
    Group::MLKEM1024,
    Group::X25519,
    Group::SECP256R1,
    Group::SECP384R1,
];

const MESSAGE: &str = "hybrid";
const MESSAGE_REVERSED: &str = "dirbyh";
