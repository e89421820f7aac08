//! What the commands of a CA make of files in its folder that are lost, older, another CA's or elsewhere, and of a CA that
//! was begun.

use std::fs;
use std::time::{Duration, Instant};

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};

use crate::folder::Folder;

const BELOW: &str = "ca init --dir team --name Team --algorithm ML-DSA-44";

fn folder_with_ca() -> Folder {
    let folder = Folder::new();
    folder.pqtls("ca init --name Ex --algorithm ML-DSA-44").ok();
    folder
}

fn begin_below(folder: &Folder) {
    folder.pqtls(&format!("{BELOW} --under ca")).ok();
}

fn copy(folder: &Folder, from: &str, to: &str) {
    folder.shell(&format!("cp -a {from} {to}")).ok();
}

fn number_of(folder: &Folder, file: &str) -> String {
    let certificate = Certificate::from_pem(&folder.read(file)).unwrap();
    base16ct::lower::encode_string(certificate.serial_number())
}

/// A later key in an older backup is no root, and its certificate is recorded and revoked like others.
#[test]
fn a_later_key_is_adopted_in_an_older_backup() {
    for is_in_chain in [false, true] {
        let folder = folder_with_ca();
        copy(&folder, "ca", "old");
        folder.pqtls("ca rollover").ok();
        folder
            .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
            .ok();
        copy(&folder, "ca/issuing-2.pem", "old/");
        copy(&folder, "old", "recorded");
        let recorded = folder.pqtls("ca adopt recorded/issuing-2.pem --dir recorded");
        assert!(
            recorded.ok().contains(": recorded, serial number "),
            "{}",
            recorded.ok()
        );
        folder
            .pqtls("ca adopt recorded/issuing-2.pem --revoke keyCompromise --dir recorded")
            .fails(1, "pqtls ca revoke");
        let given = match is_in_chain {
            true => "a.pem --of-root",
            false => "old/issuing-2.pem",
        };
        let adopted = folder.pqtls(&format!(
            "ca adopt {given} --revoke keyCompromise --dir old"
        ));
        assert!(adopted.ok().contains("revoked since"), "{}", adopted.ok());
        let list = folder.pqtls("ca crl --root --out root.crl --dir old");
        assert!(list.ok().contains("1 revoked certificate"), "{}", list.ok());
        // In a chain, it is not what is meant.
        let leaf = folder.pqtls("ca adopt a.pem --revoke superseded --dir recorded");
        assert!(
            leaf.ok().contains("a.example.org: recorded"),
            "{}",
            leaf.ok()
        );
        let kept = folder.pqtls("ca list --revoked --dir recorded");
        assert!(!kept.ok().contains("CN=Ex 2"), "{}", kept.ok());
        folder
            .pqtls("ca adopt old/root.pem --revoke keyCompromise --dir old")
            .fails(1, "the certificate of the CA's own root");
    }
}
