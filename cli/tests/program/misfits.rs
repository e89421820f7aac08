//! What the commands of a CA make of files in its folder that are lost, older, another CA's or elsewhere, and of a CA that
//! was begun.

use core::time::Duration;
use std::fs;
use std::time::Instant;

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

/// The root certifies other CAs, too, whose certificates the ledger has.
#[test]
fn no_other_ca_s_certificate_is_the_issuing_one() {
    let folder = folder_with_ca();
    begin_below(&folder);
    let right = folder.read("ca/issuing.pem");
    let number = number_of(&folder, "ca/issuing.pem");
    let other = number_of(&folder, "team/issuing.pem");
    let repair = |number: &str| format!("ca show {number} --pem --out ca/issuing.pem --force");
    for wrong in ["team/issuing.pem", "nothing"] {
        match wrong {
            "nothing" => fs::remove_file(folder.path().join("ca/issuing.pem")).unwrap(),
            wrong => copy(&folder, wrong, "ca/issuing.pem"),
        }
        if wrong != "nothing" {
            for command in ["list", "rollover", "show"] {
                folder
                    .pqtls(&format!("ca {command}"))
                    .fails(1, &format!("pqtls {}", repair(&number)));
            }
        }
        folder
            .pqtls(&repair(&other))
            .fails(3, "ca/issuing.pem is a file of the CA itself");
        folder.pqtls(&repair(&number)).ok();
        assert_eq!(folder.read("ca/issuing.pem"), right);
    }
    // Nothing is to be repaired.
    folder
        .pqtls(&repair(&number))
        .fails(3, "ca/issuing.pem is a file of the CA itself");
}

/// An older backup in which a later key's certificate was recorded has two of its own keys, and no word which one was first.
#[test]
fn a_later_certificate_does_not_pass_for_the_first_one() {
    let folder = folder_with_ca();
    copy(&folder, "ca", "backup");
    folder.pqtls("ca rollover").ok();
    copy(&folder, "ca/issuing-2.pem", "backup/");
    folder
        .pqtls("ca adopt backup/issuing-2.pem --dir backup")
        .ok();
    folder.shell("rm backup/issuing-2.pem").ok();
    let (right, later) = (
        folder.read("ca/issuing.pem"),
        folder.read("ca/issuing-2.pem"),
    );
    let number = number_of(&folder, "ca/issuing.pem");
    let other = number_of(&folder, "ca/issuing-2.pem");
    for away in ["nothing", "issuing.key"] {
        for wrong in [Some(&*later), Some("damaged"), None] {
            folder
                .shell("rm -rf old && cp -a backup old && rm old/issuing.pem && touch old/nothing")
                .ok();
            folder.shell(&format!("rm old/{away}")).ok();
            let status = match wrong {
                Some(wrong) => {
                    folder.write("old/issuing.pem", wrong);
                    1
                }
                None => 3,
            };
            let show = format!("{number} --pem --out old/issuing.pem");
            for command in ["show", "rollover"] {
                folder
                    .pqtls(&format!("ca {command} --dir old"))
                    .fails(status, &format!("\"pqtls ca show --dir old {show}"));
            }
            let repair = format!("ca show --dir old --force {show}");
            folder
                .pqtls(&repair.replace(&number, &other))
                .fails(3, "issuing.pem is a file of the CA itself");
            folder.pqtls(&repair).ok();
            assert_eq!(folder.read("old/issuing.pem"), right);
            folder.pqtls("ca list --dir old").ok();
        }
    }
}

/// A later key whose files are away is this CA's by its name.
#[test]
fn a_later_key_without_its_files_is_no_other_ca() {
    for options in ["", " --same-name"] {
        let folder = folder_with_ca();
        copy(&folder, "ca", "old");
        folder.pqtls(&format!("ca rollover{options}")).ok();
        folder
            .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
            .ok();
        begin_below(&folder);
        copy(&folder, "team/issuing.pem", "team.pem");
        folder
            .pqtls("ca adopt a.pem team.pem --of-root --dir old")
            .ok();
        for (file, profile) in [("ca/issuing-2.pem", "\"ca\""), ("team.pem", "\"other-ca\"")] {
            let number = number_of(&folder, file);
            let shown = folder.pqtls(&format!("ca show {number} --dir old --json"));
            assert!(shown.ok().contains(profile), "{}", shown.ok());
        }
    }
}

/// Also where another key issues, the first one signs its lists.
#[test]
fn the_first_certificate_comes_back_after_a_rollover() {
    let folder = folder_with_ca();
    let right = folder.read("ca/issuing.pem");
    let number = number_of(&folder, "ca/issuing.pem");
    folder.pqtls("ca rollover").ok();
    let next = folder.read("ca/issuing-2.pem");
    let later = number_of(&folder, "ca/issuing-2.pem");
    for wrong in [Some("garbage"), Some(&next), None] {
        let file = folder.path().join("ca/issuing.pem");
        match wrong {
            Some(wrong) => fs::write(file, wrong).unwrap(),
            None => fs::remove_file(file).unwrap(),
        }
        let repair = format!("ca show {number} --pem --out ca/issuing.pem --force");
        if wrong.is_some() {
            for command in ["ca show", "ca list"] {
                folder
                    .pqtls(command)
                    .fails(1, &format!("from the ledger: \"pqtls {repair}\""));
            }
        }
        folder
            .pqtls(&repair.replace(&number, &later))
            .fails(3, "ca/issuing.pem is a file of the CA itself");
        folder.pqtls(&repair).ok();
        assert_eq!(folder.read("ca/issuing.pem"), right);
        folder.pqtls("ca show").ok();
        folder
            .pqtls("ca crl --issuer issuing --out old.crl --force")
            .ok();
    }
}

/// Its own ledger has the certificate of such a CA's first key among its keys alone.
#[test]
fn an_other_certificate_of_a_ca_below_blames_no_ledger() {
    let folder = folder_with_ca();
    folder.pqtls(&format!("{BELOW} --request team.csr")).ok();
    folder.pqtls("ca certify team.csr --out first.pem").ok();
    folder
        .pqtls("ca install first.pem --root ca/root.pem --dir team")
        .ok();
    folder.pqtls("ca certify team.csr --out second.pem").ok();
    for wrong in ["second.pem", "team.csr"] {
        copy(&folder, wrong, "team/issuing.pem");
        let refused = folder.pqtls("ca list --dir team");
        refused.fails(1, "move team/issuing.pem away");
        assert!(!refused.stderr().contains("another CA's ledger"));
    }
    fs::remove_file(folder.path().join("team/issuing.pem")).unwrap();
    folder.pqtls("ca list --dir team").ok();
    folder.pqtls("ca crl --dir team --out team.crl").ok();
    folder.pqtls("ca install first.pem --dir team").ok();
    assert!(folder.path().join("team/issuing.pem").exists());
}

#[cfg(unix)]
#[test]
fn a_file_of_the_ca_that_is_elsewhere_is_not_written_over() {
    let folder = folder_with_ca();
    fs::create_dir(folder.path().join("data")).unwrap();
    for file in ["ledger", "policy.toml", "root.pem"] {
        let from = folder.path().join("ca").join(file);
        fs::rename(&from, folder.path().join("data").join(file)).unwrap();
        std::os::unix::fs::symlink(format!("../data/{file}"), from).unwrap();
    }
    for file in [
        "data/ledger/head",
        "data/ledger/journal",
        "data/ledger/other",
        "data/policy.toml",
        "data/root.pem",
        "ca/policy.toml",
        "ca/root.pem",
        "ca/ledger/head",
    ] {
        folder
            .pqtls(&format!("ca crl --out {file} --force"))
            .fails(3, file);
    }
    folder.pqtls("ca crl --out data/a.crl").ok();
}

/// What looks for the key that signed a certificate takes little time, whatever else is in its file.
#[test]
fn many_certificates_of_one_name_take_little_time() {
    let folder = folder_with_ca();
    let mut many = String::new();
    for _ in 0..80 {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("x"), key).unwrap();
        many += &root.certificate().to_pem();
    }
    folder.write("many.pem", many);
    let start = Instant::now();
    for command in ["show many.pem", "revoke many.pem", "adopt many.pem"] {
        let refused = folder.pqtls(&format!("ca {command}"));
        assert_eq!(refused.status(), 1, "{}", refused.stderr());
    }
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// Ends as if the process had been killed before it wrote the root's certificate, the last file.
fn without_root(folder: &Folder, options: &str) {
    folder
        .pqtls(&format!("{BELOW} --request team.csr {options}"))
        .ok();
    copy(folder, "team/issuing.csr", "kept.csr");
    folder.pqtls(&format!("{BELOW} --under ca {options}")).ok();
    copy(folder, "kept.csr", "team/issuing.csr");
    fs::remove_file(folder.path().join("team/root.pem")).unwrap();
}

/// Without its only key, a CA is nothing.
#[test]
fn a_begun_ca_is_given_up_as_a_whole() {
    let folder = folder_with_ca();
    folder.write("p1", "correct horse");
    folder.write("p2", "battery staple");
    without_root(&folder, "--passphrase-file p1");
    let number = number_of(&folder, "team/issuing.pem");
    let again = format!("{BELOW} --under ca --passphrase-file p2");
    folder.pqtls(&again).fails(
        1,
        &format!("revoke its certificate at the CA above ({number}), remove team, and begin again"),
    );
    folder.pqtls(&format!("ca revoke {number}")).ok();
    fs::remove_dir_all(folder.path().join("team")).unwrap();
    folder.pqtls(&again).ok();
    fs::remove_dir_all(folder.path().join("team")).unwrap();
    // Nothing is certified yet.
    folder
        .pqtls(&format!("{BELOW} --request other.csr --passphrase-file p1"))
        .ok();
    folder
        .pqtls(&again)
        .fails(1, "which issued nothing yet, remove team, and begin again");
}

#[test]
fn a_hold_keeps_the_name_of_a_ca() {
    let folder = folder_with_ca();
    for name in ["one", "two"] {
        let request = format!("ca init --name Team --dir {name} --request {name}.csr");
        folder
            .pqtls(&format!("{request} --algorithm ML-DSA-44"))
            .ok();
    }
    folder.pqtls("ca certify one.csr --out one.pem").ok();
    folder
        .pqtls("ca revoke one.pem --reason certificateHold")
        .ok();
    folder
        .pqtls("ca certify two.csr --out two.pem")
        .fails(1, "is the name of another key");
    folder.pqtls("ca revoke one.pem --reason superseded").ok();
    folder.pqtls("ca certify two.csr --out two.pem").ok();
}

#[test]
fn a_begun_ca_whose_certificate_was_revoked_gets_no_other() {
    for reason in ["privilegeWithdrawn", "certificateHold", "keyCompromise"] {
        let folder = folder_with_ca();
        folder.pqtls(&format!("{BELOW} --request team.csr")).ok();
        folder.pqtls("ca certify team.csr --out team.pem").ok();
        folder
            .pqtls(&format!("ca revoke team.pem --reason {reason}"))
            .ok();
        folder
            .pqtls(&format!("{BELOW} --under ca"))
            .fails(1, "remove team, and begin again");
    }
}

#[cfg(unix)]
#[test]
fn a_begun_ca_that_cannot_be_read_is_no_other_folder() {
    let folder = folder_with_ca();
    folder.pqtls(&format!("{BELOW} --request team.csr")).ok();
    let below = format!("{BELOW} --under ca");
    folder.shell("chmod g+w team").ok();
    folder
        .pqtls(&below)
        .fails(3, "team can be changed by other users");
    folder.shell("chmod g-w team").ok();
    copy(&folder, "team/ledger", "kept");
    folder.write("team/ledger/journal", "damaged");
    let refused = folder.pqtls(&below);
    refused.fails(refused.status(), "team/ledger");
    assert!(!refused.stderr().contains("another folder"));
    fs::remove_dir_all(folder.path().join("team/ledger")).unwrap();
    copy(&folder, "kept", "team/ledger");
    folder.pqtls(&below).ok();
    folder
        .pqtls(&below)
        .fails(3, "team has a CA that is complete");
    fs::create_dir(folder.path().join("other")).unwrap();
    folder.write("other/file", "");
    folder
        .pqtls("ca init --name Other --dir other --under ca")
        .fails(3, "other exists");
    folder.write("file", "");
    folder
        .pqtls("ca init --name Other --dir file --under ca")
        .fails(3, "file exists");
}

/// Nobody can renew the certificate of a key that another one followed.
#[test]
fn no_alarm_is_about_a_key_that_was_followed() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Ex --algorithm ML-DSA-44 --validity 20d")
        .ok();
    let alarm = || folder.pqtls("ca list --expires-within 30d");
    assert_eq!(alarm().status(), 5);
    folder.pqtls("ca rollover --validity 90d --publish").ok();
    assert_eq!(alarm().status(), 5);
    folder.pqtls("ca rollover --use issuing-2").ok();
    assert!(!alarm().ok().contains("CN=Ex"), "{}", alarm().stdout());
    assert!(folder.pqtls("ca list").ok().contains("CN=Ex"));
}

/// The ledger of the CA above is from an older backup, and lacks what it certified below it.
#[test]
fn what_an_older_ledger_above_lacks_has_a_way_out() {
    let older = |folder: &Folder| {
        fs::remove_dir_all(folder.path().join("ca/ledger")).unwrap();
        copy(folder, "older", "ca/ledger");
    };
    let folder = folder_with_ca();
    copy(&folder, "ca/ledger", "older");
    without_root(&folder, "");
    fs::remove_file(folder.path().join("team/issuing.pem")).unwrap();
    older(&folder);
    let below = format!("{BELOW} --under ca");
    let refused = folder.pqtls(&below);
    let advice = "pqtls ca adopt --dir ca team/issuing.pem";
    assert!(refused.stderr().contains(advice), "{}", refused.stderr());
    folder.shell(advice).ok();
    folder.pqtls(&below).ok();

    let _ = fs::remove_dir_all(folder.path().join("older"));
    copy(&folder, "ca/ledger", "older");
    folder
        .pqtls("ca rollover --request next.csr --dir team")
        .ok();
    copy(&folder, "team/issuing-2.csr", "kept.csr");
    folder.pqtls("ca rollover --under ca --dir team").ok();
    copy(&folder, "kept.csr", "team/issuing-2.csr");
    fs::remove_file(folder.path().join("team/issuing-2.pem")).unwrap();
    older(&folder);
    let rolled = folder.pqtls("ca rollover --under ca --dir team");
    assert!(rolled.ok().contains("issuing-3: "), "{}", rolled.ok());
}

/// The certificate with another first byte of its serial number, signed anew by this key of ML-DSA-44.
fn with_serial_beginning(certificate: &Certificate, first: u8, key: &SigningKey) -> Certificate {
    let mut der = certificate.der().to_vec();
    let number = certificate.serial_number();
    let at = der.windows(number.len()).position(|part| part == number);
    der[at.unwrap()] = first;
    // Two bytes have the length of each of these sequences: the certificate and its body.
    let body_len = 4 + usize::from(u16::from_be_bytes([der[6], der[7]]));
    let signature = key.sign(&der[4..4 + body_len]).unwrap();
    let at = der.len() - signature.len();
    der[at..].copy_from_slice(&signature);
    Certificate::from_der(&der).unwrap()
}

/// A negative number is not the positive one with the same bytes: a list that named that would revoke another certificate.
#[test]
fn a_serial_number_that_no_ledger_takes_is_not_taken_for_another() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    let key = SigningKey::from_pkcs8_pem(&folder.read("ca/issuing.key")).unwrap();
    let issued = Certificate::from_pem(&folder.read("a.pem")).unwrap();
    let negative = with_serial_beginning(&issued, 0xc1, &key);
    let chain = [negative.to_pem(), folder.read("ca/issuing.pem")];
    folder.write("negative.pem", chain.concat());
    for options in ["", " --revoke keyCompromise"] {
        let adopted = folder.pqtls(&format!("ca adopt negative.pem{options}"));
        for words in [
            "a key of this CA signed the certificate of a.example.org, but with a serial number",
            "positive, not negative",
            "pqtls ca revoke --reason keyCompromise",
        ] {
            adopted.fails(1, words);
        }
    }
    folder
        .pqtls("ca revoke negative.pem")
        .fails(1, "positive, not negative");
    // The ledger's own certificate is not affected, and OCSP answers nothing about the other.
    let listed = folder.pqtls("ca list --valid");
    assert!(listed.ok().contains("a.example.org"));
    for (file, status) in [("a.pem", "good"), ("negative.pem", "unknown")] {
        folder
            .pqtls(&format!("cert ocsp-request {file} --out q --force"))
            .ok();
        let answered = folder.pqtls("ca ocsp q --out r --force");
        assert!(answered.ok().contains(status), "{file}: {}", answered.ok());
    }
}
