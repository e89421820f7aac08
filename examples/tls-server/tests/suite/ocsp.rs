//! OCSP responses beside certificates, in the program.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use pq_serving::provider;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder};
use pq_x509::revocation::CrlReason;
use pq_x509::validation::ChainValidator;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::UnixTime;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};
use rustls_pq::Profile;
use rustls_pq::verify::CheckOcsp;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::client::{PATIENCE, tls_error};
use crate::program::Program;

#[tokio::test]
async fn a_response_beside_the_chain() {
    let ca = Ca::new();
    let program = ca.serve(&["--watch", "1"]);
    assert_eq!(ca.ask(&program).await, Ok(None));
    ca.write(CertStatus::Good);
    ca.until(&program, Ok(Some(CertStatus::Good))).await;

    // What is no response changes nothing.
    fs::write(ca.folder.path().join("server.ocsp"), "rubbish").unwrap();
    program.signal("HUP");
    program.wait_for_log("OCSP response refused").await;
    assert_eq!(ca.ask(&program).await, Ok(Some(CertStatus::Good)));

    let date = UnixTime::since_unix_epoch(Duration::from_secs(1_700_000_000));
    ca.write(CertStatus::Revoked {
        date,
        reason: CrlReason::KeyCompromise,
    });
    program.signal("HUP");
    let revoked =
        "the certificate of CN=localhost was revoked at 2023-11-14T22:13:20Z (keyCompromise)";
    ca.until(&program, Err(revoked.into())).await;

    let (_, log, _) = program.stop("INT");
    for expected in [
        "OCSP response taken",
        "OCSP response refused",
        "the OCSP response that clients get says that the certificate was revoked",
        "the peer refused the certificate of this side",
        "it has been revoked; get a new one, for a new key",
    ] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
}

/// A CA that has certified a server, whose files are in a folder.
struct Ca {
    ca: Issuer<SigningKey>,
    leaf: Certificate,
    folder: TempDir,
}

impl Ca {
    fn new() -> Self {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key()).unwrap();
        let leaf_key = key();
        let leaf = CertificateBuilder::server().common_name("localhost");
        let leaf = ca.issue(leaf.dns_name("localhost"), &leaf_key).unwrap();
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("server.pem"), leaf.to_pem()).unwrap();
        fs::write(folder.path().join("ca.pem"), ca.certificate().to_pem()).unwrap();
        let key = leaf_key.to_pkcs8_pem().unwrap();
        fs::write(folder.path().join("server.key"), key.as_bytes()).unwrap();
        Self { ca, leaf, folder }
    }

    fn serve(&self, arguments: &[&str]) -> Program {
        let files = ["server.pem", "server.key", "ca.pem"];
        let [cert, key, ca] = files.map(|name| self.folder.path().join(name));
        let [cert, key, ca] = [&cert, &key, &ca].map(|path| path.to_str().unwrap());
        let mut all = vec!["--cert", cert, "--key", key, "--ocsp-issuers", ca];
        all.extend(arguments);
        Program::start(&all)
    }

    fn write(&self, status: CertStatus) {
        let request = OcspRequest::builder().certificate(&self.leaf, self.ca.certificate());
        let response = OcspResponder::ca(&self.ca).respond(
            &request.build().unwrap(),
            SystemTime::now(),
            Validity::days(1),
            |_| Ok::<_, IssueError>(status),
        );
        let file = self.folder.path().join("server.ocsp");
        fs::write(file, response.unwrap().der()).unwrap();
    }

    /// What a client learns of the certificate's status, or why it refuses the server.
    async fn ask(&self, program: &Program) -> Result<Option<CertStatus>, String> {
        let provider = provider(Profile::Default, &[]).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(self.ca.certificate().der().clone()).unwrap();
        let webpki = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone());
        let validator = ChainValidator::new([self.ca.certificate().clone()]).unwrap();
        let said = Arc::new(Mutex::new(None));
        let verifier = CheckOcsp::new(webpki.build().unwrap(), validator).reporting_to({
            let said = said.clone();
            move |outcome| {
                let outcome = outcome.map(|response| response.map(|response| response.status()));
                *said.lock().unwrap() = Some(outcome.map_err(ToString::to_string));
            }
        });
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let tcp = TcpStream::connect(program.address).await.unwrap();
        let connected = TlsConnector::from(Arc::new(config))
            .connect("localhost".try_into().unwrap(), tcp)
            .await;
        let said = said.lock().unwrap().take().unwrap();
        match (connected, &said) {
            (Ok(_), Ok(_)) => {}
            (Err(error), Err(_)) => assert_eq!(
                *tls_error(&error),
                Error::InvalidCertificate(CertificateError::Revoked)
            ),
            (connected, said) => panic!("{connected:?}, {said:?}"),
        }
        said
    }

    /// Waits for the server to have read the file. An expected text is the start of a longer one.
    async fn until(&self, program: &Program, expected: Result<Option<CertStatus>, String>) {
        let start = Instant::now();
        loop {
            let said = self.ask(program).await;
            match (&said, &expected) {
                (Err(said), Err(expected)) if said.starts_with(expected) => return,
                _ if said == expected => return,
                _ => assert!(start.elapsed() < PATIENCE, "{said:?}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
