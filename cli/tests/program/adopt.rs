//! Certificates that a CA's ledger lacks, and those of other CAs: `pqtls ca adopt`, and what other commands say of them.

use crate::rollover::{folder_with_ca, issue, revoked_on};

/// A copy of the folder from before a rollover has neither the new key nor its certificate.
#[test]
fn a_restored_folder_says_which_key_it_does_not_know() {
    let folder = folder_with_ca();
    folder.shell("cp -a ca before && cp -a ca before-all").ok();
    folder.pqtls("ca rollover --no-passphrase").ok();
    issue(&folder, "new");
    for command in ["ca adopt new.pem", "ca revoke new.pem"] {
        folder.pqtls(&format!("{command} --dir before")).fails(
            1,
            "issued the certificate of new.example.org, and this CA's root certified that key, but this copy of the folder",
        );
    }
    // What it advises works: the key's files, or else its certificate by itself.
    folder
        .shell("cp -a before copied && cp ca/issuing-2.key ca/issuing-2.pem copied")
        .ok();
    folder.pqtls("ca adopt new.pem --dir copied").ok();
    folder
        .pqtls("ca rollover --use issuing-2 --dir copied")
        .ok();
    folder.shell("cp -a before lost").ok();
    folder.pqtls("ca adopt old.pem --of-root --dir copied").ok();
    folder
        .pqtls("ca adopt new.pem --of-root --revoke superseded --dir lost")
        .ok();
    folder.pqtls("ca crl --root --dir lost --out lost.crl").ok();
    assert_eq!(revoked_on(&folder, "lost.crl"), 1);
    folder
        .shell("awk '/BEGIN/ { n++ } n == 2' new.pem > key.pem")
        .ok();
    folder
        .pqtls("ca adopt key.pem --revoke superseded --dir before")
        .ok();
    folder
        .pqtls("ca crl --root --dir before --out root.crl")
        .ok();
    assert_eq!(revoked_on(&folder, "root.crl"), 1);
    // A certificate alone doesn't say who certified its issuer.
    folder
        .shell("awk '/BEGIN/ { n++ } n == 1' new.pem > leaf.pem")
        .ok();
    folder.pqtls("ca adopt leaf.pem --dir before").fails(
        1,
        "and this CA's root certified that key, but this copy of the folder",
    );
    folder
        .pqtls("ca adopt leaf.pem --dir before-all")
        .fails(1, "give the file with that key's certificate, too");
}

/// A CA that is asked about another CA's certificate, above or below it, says whose it is, and takes it for none that its
/// folder lacks.
#[test]
fn a_certificate_of_another_ca_of_the_tree_is_that_cas() {
    let folder = folder_with_ca();
    let init = "ca init --algorithm ML-DSA-44 --dns example.org";
    for name in ["team", "other"] {
        folder
            .pqtls(&format!("{init} --name {name} --dir {name} --under ca"))
            .ok();
        for options in [
            format!("--out {name}.pem"),
            format!("--leaf-only --out {name}-alone.pem"),
        ] {
            folder
                .pqtls(&format!(
                    "ca issue {name}.example.org --key old.key --dir {name} {options}"
                ))
                .ok();
        }
    }
    let commands = |file: &str, dir: &str| {
        [
            format!("ca show {file} --dir {dir}"),
            format!("ca revoke {file} --dir {dir}"),
            format!("ca adopt {file} --dir {dir}"),
            format!("ca adopt {file} --revoke keyCompromise --dir {dir}"),
            format!("ca renew {file} --out x.pem --dir {dir}"),
            format!("ca ocsp --for {file} --out x.ocsp --dir {dir}"),
        ]
    };
    let name_it = "name the folder of that CA with --dir";
    for file in ["team.pem", "team-alone.pem"] {
        for command in commands(file, "ca") {
            let answer = folder.pqtls(&command);
            answer.fails(1, name_it);
            assert!(
                answer
                    .stderr()
                    .contains("CN=team issued the certificate of "),
                "{}",
                answer.stderr()
            );
        }
    }
    // of the parent's issuing key, of another CA below the same root, and by the root itself
    for (file, words) in [
        (
            "old.pem",
            "name the folder of the CA whose key that is with --dir",
        ),
        (
            "other.pem",
            "name the folder of the CA whose key that is with --dir",
        ),
        ("ca/issuing.pem", name_it),
        ("other/issuing.pem", name_it),
    ] {
        for command in commands(file, "team") {
            folder.pqtls(&command).fails(1, words);
        }
        folder
            .pqtls(&format!(
                "ca adopt {file} --of-root --revoke keyCompromise --dir team"
            ))
            .fails(
                1,
                "another CA certified this one, and has the key of the root",
            );
    }
    let listed = folder.pqtls("ca list --revoked --dir team");
    assert_eq!(listed.ok().lines().count(), 1, "{}", listed.ok());
    folder.pqtls("ca show team.pem --dir team").ok();
    folder.pqtls("ca show old.pem").ok();
    folder.pqtls("ca show team/issuing.pem").ok();
}

/// An older ledger gets back what lists say that the CA published, as often as they are given.
#[test]
fn a_published_list_is_taken_up() {
    let folder = folder_with_ca();
    for name in ["held", "late"] {
        issue(&folder, name);
    }
    folder.shell("cp -a ca older").ok();
    issue(&folder, "new");
    folder
        .pqtls("ca revoke old.pem new.pem --reason superseded")
        .ok();
    folder
        .pqtls("ca revoke held.pem --reason certificateHold")
        .ok();
    folder.pqtls("ca crl --number 7 --out published.crl").ok();
    folder.pqtls("ca crl --root --out root.crl").ok();
    folder
        .pqtls("ca init --name Other --algorithm ML-DSA-44 --dir other")
        .ok();
    folder.pqtls("ca crl --dir other --out other.crl").ok();

    let adopted = folder.pqtls("ca adopt late.pem --dir older");
    assert!(
        !adopted.ok().contains("What to do next"),
        "{}",
        adopted.ok()
    );
    folder
        .pqtls("ca adopt --crl published.crl --crl other.crl --dir older")
        .fails(1, "no key of this CA signed the list in other.crl");
    let number = {
        let certificate = pq_x509::certificate::Certificate::from_pem(&folder.read("new.pem"));
        base16ct::lower::encode_string(certificate.unwrap().serial_number())
    };
    let adopt = "ca adopt --crl published.crl --crl root.crl --dir older";
    let adopted = folder.pqtls(adopt);
    assert_eq!(adopted.status(), 1);
    for words in [
        "published.crl: list 7 (0x07) of \"issuing\"\n",
        "old.example.org: revoked since ",
        "held.example.org: on hold since ",
        &format!("  {number}: not in the ledger"),
        "root.crl: list 1 (0x01) of \"root\"\n",
        "  record what the lists have and the ledger lacks, and give the lists again",
    ] {
        assert!(adopted.stdout().contains(words), "{}", adopted.stdout());
    }
    assert!(!adopted.stdout().contains("make the next list"));
    folder.shell("cp -a older at-once").ok();
    let adopted = folder.pqtls("ca adopt new.pem --dir older");
    for words in [
        "\"pqtls ca adopt --dir older --crl FILE\"",
        "\"pqtls ca crl --dir older --number NUMBER\"",
    ] {
        assert!(adopted.ok().contains(words), "{}", adopted.ok());
    }
    let again = folder.pqtls(adopt);
    assert!(
        again.ok().contains("new.example.org: revoked since "),
        "{}",
        again.ok()
    );
    assert!(!again.ok().contains("old.example.org"), "{}", again.ok());
    assert!(
        again
            .ok()
            .contains("  make the next list of each key: \"pqtls ca crl --dir older\"\n")
    );
    // With its certificate, what is on a list is recorded as that has it, whatever --revoke says of the rest.
    let at_once =
        "ca adopt new.pem --revoke keyCompromise --crl published.crl --crl root.crl --dir at-once";
    let at_once = folder.pqtls(at_once);
    assert!(
        at_once.ok().contains("and revoked since ") && at_once.ok().contains("(superseded)"),
        "{}",
        at_once.ok()
    );
    assert!(!at_once.ok().contains("keyCompromise"), "{}", at_once.ok());
    let again = folder.pqtls(adopt);
    assert!(!again.ok().contains(".example.org"), "{}", again.ok());

    let revocations = |dir: &str| {
        let listed = folder.pqtls(&format!("ca list --revoked --dir {dir} --json"));
        let listed: serde_json::Value = serde_json::from_str(listed.ok()).unwrap();
        listed["certificates"].clone()
    };
    let at = |dir: &str| {
        let all = revocations(dir);
        let all = all.as_array().unwrap().iter();
        let mut all: Vec<_> = all
            .map(|one| {
                let revocation = &one["revocation"];
                (
                    one["serial_number"].to_string(),
                    revocation["at"].to_string(),
                    revocation["reason"].to_string(),
                )
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(at("older").len(), 3);
    assert_eq!(at("older"), at("ca"));
    let list = folder.pqtls("ca crl --dir older --out next.crl");
    assert!(
        list.ok().contains("3 revoked certificates"),
        "{}",
        list.ok()
    );
    assert!(list.ok().contains("number 8 "), "{}", list.ok());
}
