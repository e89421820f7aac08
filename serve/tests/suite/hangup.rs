//! SIGHUP, by which a server reads its files again: all that it has, and what it has is enough.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use pq_serving::{RevocableClients, RevocationFiles, provider_builder, reload_on_hangup};
use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::revocation::CertificateRevocationListBuilder;
use rustix::process::{Signal, getpid, kill_process};
use rustls::RootCertStore;
use rustls_pq::Profile;
use tokio::time::sleep;

use crate::client::PATIENCE;

const HOUR: Duration = Duration::from_secs(3600);

/// A server whose certificates are in no file has lists nevertheless.
#[tokio::test]
async fn lists_are_read_again_without_certificates() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let ca = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(ca.certificate().der().clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list.pem");
    let now = SystemTime::now();
    let write = |file: &Path, number: u8, ago: u32| {
        let list = CertificateRevocationListBuilder::new(&[number]);
        let from = now - ago * HOUR;
        let list = list.validity(Validity::new(from, from + 100 * HOUR));
        fs::write(file, ca.issue_revocation_list(list).unwrap().to_pem()).unwrap();
    };
    write(&file, 1, 2);
    let files = RevocationFiles {
        files: vec![file.clone()],
        leaf_only: false,
    };
    let builder = provider_builder(Profile::Default, &[]).unwrap();
    let (_clients, watcher) = RevocableClients::watch(builder, roots, files, &[], HOUR).unwrap();
    let in_use = watcher.in_use();
    let mut before = in_use.issued();
    let _reloading = tokio::spawn(reload_on_hangup(None, Some(watcher)).unwrap());
    // More than once.
    for (number, ago) in [(2, 1), (3, 0)] {
        write(&file, number, ago);
        kill_process(getpid(), Signal::HUP).unwrap();
        let start = Instant::now();
        while in_use.issued() <= before {
            assert!(start.elapsed() < PATIENCE);
            sleep(Duration::from_millis(5)).await;
        }
        before = in_use.issued();
    }
}
