//! Revocation lists for client certificates, in the program.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use pq_serving::demonstration::Issued;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::revocation::{CertificateRevocationList, CertificateRevocationListBuilder, CrlReason};
use rustls::{AlertDescription, Error};
use tempfile::TempDir;

use crate::client::{Client, PATIENCE, tls_error};
use crate::metrics::{get, port_of};
use crate::program::Program;

#[tokio::test]
async fn a_revoked_client_is_refused_and_others_are_not() {
    let ca = Ca::new();
    let [good, bad] = ["good", "bad"].map(|name| ca.issue(name));
    ca.write("lists.pem", &(ca.root_list() + &ca.list(&[&bad]).to_pem()));
    ca.write("ca.pem", &ca.ca.certificate().to_pem());
    let program = ca.serve(&["--crl", "../lists.pem", "--crl-issuers", "../ca.pem"]);

    let page = ca.client(&program, &good).page().await.unwrap();
    assert_eq!(page["client_certificate"], "CN=good");
    assert_refused(
        &ca.client(&program, &bad),
        AlertDescription::CertificateRevoked,
    )
    .await;

    let (_, log, _) = program.stop("INT");
    for expected in [
        "a certificate of the peer has been revoked; the peer needs a new one, for a new key",
        "the certificate of CN=bad was revoked at 2",
        "(keyCompromise)",
    ] {
        assert_eq!(log.matches(expected).count(), 1, "{expected}: {log}");
    }
}

/// In the text of the log, a name is between quotes, and its own are escaped.
#[tokio::test]
async fn a_subject_forges_no_field_of_the_access_log() {
    let ca = Ca::new();
    let issued = ca.issue("evil\" status=500");
    ca.write("lists.pem", &(ca.root_list() + &ca.list(&[]).to_pem()));
    let program = ca.serve(&["--crl", "../lists.pem"]);
    ca.client(&program, &issued).page().await.unwrap();
    let (_, log, _) = program.stop("INT");
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("answered"))
        .collect();
    let [line] = lines[..] else {
        panic!("{log}");
    };
    assert!(
        line.contains("pq_serving::access: answered peer=\"127.0.0.1:"),
        "{line}"
    );
    assert!(line.contains(" status=200 "), "{line}");
    let (before, _) = line.split_once("\" status=500").unwrap();
    let backslashes = before.len() - before.trim_end_matches('\\').len();
    assert_eq!(backslashes % 2, 1, "{line}");
}

/// Each list that is in use has a number and a time, and no other.
#[tokio::test]
async fn the_times_of_the_lists_in_use_are_shown() {
    let ca = Ca::new();
    ca.write("lists.pem", &(ca.root_list() + &ca.list(&[]).to_pem()));
    let mut program = ca.serve(&["--crl", "../lists.pem", "--metrics", "127.0.0.1:0"]);
    let port = port_of(&mut program);
    let metrics = get(port, "/metrics");
    for list in 0..3 {
        let start =
            format!("pq_serving_revocation_list_issued_timestamp_seconds{{list=\"{list}\"}} ");
        let time = metrics.lines().find_map(|line| line.strip_prefix(&start));
        let time = time.map(|time| time.parse::<u64>().unwrap());
        assert_eq!(time.is_some(), list < 2, "{metrics}");
        // Not an age.
        assert!(time.is_none_or(|time| time > 1_000_000_000), "{metrics}");
    }
}

/// A client that was served, and comes back with its session.
#[tokio::test]
async fn a_new_list_is_taken_over() {
    let ca = Ca::new();
    let issued = ca.issue("someone");
    ca.write("root.crl", &ca.root_list());
    fs::write(ca.path("ca.crl"), ca.list(&[]).der()).unwrap();
    let program = ca.serve(&[
        "--crl",
        "../root.crl",
        "--crl",
        "../ca.crl",
        "--watch",
        "3600",
    ]);
    let client = ca.client(&program, &issued);
    assert_eq!(client.page().await.unwrap()["handshake"], "full");
    assert_eq!(client.page().await.unwrap()["handshake"], "resumed");

    fs::write(ca.path("ca.crl"), ca.list(&[&issued]).der()).unwrap();
    program.signal("HUP");
    until_refused(&client).await;
    assert_refused(
        &client.without_resumption(),
        AlertDescription::CertificateRevoked,
    )
    .await;
}

#[tokio::test]
async fn a_new_list_is_noticed() {
    let ca = Ca::new();
    let issued = ca.issue("someone");
    ca.write("lists.pem", &(ca.root_list() + &ca.list(&[]).to_pem()));
    let program = ca.serve(&["--crl", "../lists.pem", "--watch", "1"]);
    let client = ca.client(&program, &issued).without_resumption();
    client.page().await.unwrap();
    ca.write(
        "lists.pem",
        &(ca.root_list() + &ca.list(&[&issued]).to_pem()),
    );
    until_refused(&client).await;
}

#[tokio::test]
async fn a_client_that_no_list_is_about_is_refused() {
    let ca = Ca::new();
    let [issued, bad] = ["someone", "bad"].map(|name| ca.issue(name));
    ca.write("ca.crl", &ca.list(&[&bad]).to_pem());
    let program = ca.serve(&["--crl", "../ca.crl"]);
    assert_refused(&ca.client(&program, &issued), AlertDescription::UnknownCA).await;
    let (_, log, _) = program.stop("INT");
    for expected in [
        "there is no list of CN=Root, which issued the certificate of CN=CA, in ../ca.crl",
        "--crl names the files with these lists",
    ] {
        assert!(log.contains(expected), "{log}");
    }
    assert!(!log.contains("with_crls"), "{log}");

    let program = ca.serve(&["--crl", "../ca.crl", "--crl-leaf-only"]);
    ca.client(&program, &issued).page().await.unwrap();
    assert_refused(
        &ca.client(&program, &bad),
        AlertDescription::CertificateRevoked,
    )
    .await;
}

/// Without a list of the root, every client is refused.
#[tokio::test]
async fn a_ca_without_a_list_is_named_at_the_start_and_when_files_are_read_again() {
    let ca = Ca::new();
    ca.write("ca.crl", &ca.list(&[]).to_pem());
    ca.write("ca.pem", &ca.ca.certificate().to_pem());
    let missing = |log: &str, name: &str| {
        let is_of = |line: &&str| line.contains("there is no revocation list of this CA");
        let lines = log.lines().filter(is_of);
        lines
            .filter(|line| line.contains(&format!("CN={name}")))
            .count()
    };
    let program = ca.serve(&["--crl", "../ca.crl", "--crl-issuers", "../ca.pem"]);
    program.signal("HUP");
    program.wait_for_log("revocation lists unchanged").await;
    let (_, log, _) = program.stop("INT");
    assert_eq!(missing(&log, "Root"), 2, "{log}");
    assert_eq!(missing(&log, "CA"), 0, "{log}");

    ca.write("root.crl", &ca.root_list());
    let program = ca.serve(&["--crl", "../root.crl", "--crl-issuers", "../ca.pem"]);
    let (_, log, _) = program.stop("INT");
    assert_eq!(
        (missing(&log, "Root"), missing(&log, "CA")),
        (0, 1),
        "{log}"
    );

    for more in [&["--crl", "../root.crl"][..], &["--crl-leaf-only"]] {
        let arguments = [&["--crl", "../ca.crl"][..], more].concat();
        let program = ca.serve(&arguments);
        let (_, log, _) = program.stop("INT");
        assert!(!log.contains("no revocation list of this CA"), "{log}");
    }
}

#[tokio::test]
async fn a_list_whose_time_is_over_is_none() {
    let ca = Ca::new();
    let issued = ca.issue("someone");
    let day = Duration::from_secs(24 * 60 * 60);
    let now = SystemTime::now();
    let expired = Validity::new(now - 2 * day, now - day);
    let list = CertificateRevocationListBuilder::new(&[1]).validity(expired);
    let old = ca.ca.issue_revocation_list(list).unwrap();
    ca.write("lists.pem", &(ca.root_list() + &old.to_pem()));
    let program = ca.serve(&["--crl", "../lists.pem"]);
    assert_refused(&ca.client(&program, &issued), AlertDescription::UnknownCA).await;
    let (_, log, _) = program.stop("INT");
    for expected in [
        "this revocation list was to be replaced by now",
        "the list of CN=CA in ../lists.pem was to be replaced at 2",
    ] {
        assert!(log.contains(expected), "{log}");
    }

    // The newest list counts, wherever it stands.
    ca.write("new.pem", &ca.list(&[]).to_pem());
    let program = ca.serve(&["--crl", "../lists.pem", "--crl", "../new.pem"]);
    ca.client(&program, &issued).page().await.unwrap();
}

/// Waits for the server to have the list.
async fn until_refused(client: &Client) {
    let start = Instant::now();
    while client.page().await.is_ok() {
        assert!(start.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn assert_refused(client: &Client, alert: AlertDescription) {
    let error = client.page().await.unwrap_err();
    assert_eq!(tls_error(&error), &Error::AlertReceived(alert));
}

/// A root with a CA below it, which issues certificates to clients.
struct Ca {
    directory: TempDir,
    root: Issuer<SigningKey>,
    ca: Issuer<SigningKey>,
}

impl Ca {
    fn new() -> Self {
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), new_key()).unwrap();
        let ca = CertificateBuilder::ca("CA").path_len(0);
        let ca = root.issue_ca(ca, new_key()).unwrap();
        let directory = TempDir::new().unwrap();
        let this = Self {
            directory,
            root,
            ca,
        };
        this.write("root.pem", &this.root.certificate().to_pem());
        this
    }

    fn issue(&self, name: &str) -> Issued {
        let key = new_key();
        let leaf = CertificateBuilder::client().common_name(name);
        let leaf = self.ca.issue(leaf, &key).unwrap();
        Issued {
            chain: vec![leaf, self.ca.certificate().clone()],
            key,
        }
    }

    fn root_list(&self) -> String {
        let list = CertificateRevocationListBuilder::new(&[1]);
        self.root.issue_revocation_list(list).unwrap().to_pem()
    }

    fn list(&self, revoked: &[&Issued]) -> CertificateRevocationList {
        let mut list = CertificateRevocationListBuilder::new(&[1]);
        for issued in revoked {
            let number = issued.chain[0].serial_number();
            list = list.revoke(number, SystemTime::now(), CrlReason::KeyCompromise);
        }
        self.ca.issue_revocation_list(list).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// A server for clients of the root, in a folder beside the files of this CA.
    fn serve(&self, arguments: &[&str]) -> Program {
        let mut all = vec!["--client-ca", "../root.pem"];
        all.extend(arguments);
        Program::start_in(&self.directory, &all)
    }

    fn client(&self, program: &Program, issued: &Issued) -> Client {
        let root = fs::read_to_string(self.path("pki/root.pem")).unwrap();
        let root = Certificate::from_pem(&root).unwrap();
        Client::new(program.address, &root, &[], Some(issued))
    }
}

fn new_key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}
