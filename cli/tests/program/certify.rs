//! `pqtls ca certify`: what a CA certifies of other CAs.

use pq_x509::certificate::{AlternativeName, Certificate};

use crate::rollover::folder_with_ca;

/// A root that follows another: clients that trust only the old one accept what is below the new one.
#[test]
fn an_old_root_certifies_a_new_one() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Example --dir new --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca certify new/root.pem --out new-with-old.pem")
        .ok();
    let shown = folder.pqtls("cert show new-with-old.pem");
    assert!(shown.ok().contains("CN=Example Root"), "{}", shown.ok());
    folder
        .pqtls("ca certify ca/issuing.pem --out x.pem")
        .fails(1, "is not a root's own");
    folder
        .pqtls("ca certify ca/root.pem --out x.pem")
        .fails(1, "this is the key of the CA that would certify it");
    folder
        .pqtls("ca certify new/root.pem --path-length 2 --out x.pem")
        .fails(1, "at most 1; ask for that");
    folder
        .pqtls("ca certify new/root.pem --path-length 0 --out limited.pem")
        .ok();
    let limited = folder.pqtls("cert show limited.pem");
    assert!(
        limited.ok().contains("yes, for end entities only"),
        "{}",
        limited.ok()
    );
}

/// The names of a CA are constraints in its certificate, also if another CA makes that.
#[test]
fn a_request_asks_for_the_names_of_its_ca() {
    let folder = folder_with_ca();
    for name in ["Beta", "Gamma"] {
        let made = format!("ca init --name {name} --dir {name} --dns beta.example --ip 10.0.0.0/8");
        folder
            .pqtls(&format!(
                "{made} --algorithm ML-DSA-44 --request {name}.csr"
            ))
            .ok();
    }
    folder
        .pqtls("ca sign Beta.csr --out x.pem")
        .fails(1, "\"pqtls ca certify\"");
    folder
        .pqtls("ca init --name Open --dir open --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca certify open/root.pem --dns example.org --out x.pem")
        .fails(2, "--dns and --ip are for the request of a CA");
    // Nobody else gets the name of one of its keys, by which clients know whose certificates are revoked.
    for name in ["Open", "open root"] {
        folder
            .shell(&format!(
                "rm -rf evil evil.csr && pqtls ca init --name '{name}' --dir evil --algorithm ML-DSA-44 --request evil.csr"
            ))
            .ok();
        folder
            .pqtls("ca certify evil.csr --dir open --out x.pem")
            .fails(1, "is the name of another key");
    }
    folder
        .pqtls("ca certify Beta.csr --dir open --out beta.pem")
        .ok();
    let beta = Certificate::from_pem(&folder.read("beta.pem")).unwrap();
    for (name, is_permitted) in [("www.beta.example", true), ("www.example.org", false)] {
        let name = AlternativeName::Dns(name.into());
        assert_eq!(beta.permits_name(&name), is_permitted);
    }
    folder
        .pqtls("ca install beta.pem --dir Beta")
        .fails(1, "is missing; give it, too (\"pqtls ca install");
    let install = "ca install beta.pem --root open/root.pem --dir Beta";
    let installed = folder.pqtls(install);
    let words = "It issues from now on";
    assert!(installed.ok().contains(words), "{}", installed.ok());
    let again = folder.pqtls(install);
    assert!(
        again.ok().contains("It was installed before."),
        "{}",
        again.ok()
    );
    folder
        .pqtls("ca install beta.pem --root ca/root.pem --dir Beta")
        .fails(1, "is another one than this CA's");

    folder
        .pqtls("ca certify Gamma.csr --dir open --dns example --out gamma.pem")
        .ok();
    let install = "ca install gamma.pem --root open/root.pem --dir Gamma";
    folder.pqtls(install).fails(
        1,
        "those that the CA was made for, beta.example, 10.0.0.0/8:",
    );
    folder
        .pqtls("ca certify Gamma.csr --dir open --dns a.beta.example --out narrow.pem")
        .ok();
    folder
        .pqtls("ca install narrow.pem --root open/root.pem --dir Gamma")
        .ok();
}

/// A root that has CAs below it is certified only if these are accepted.
#[test]
fn a_root_is_not_certified_without_room_for_what_is_below_it() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Third --dir third --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca certify third/root.pem --out third.pem")
        .fails(1, "has CAs below it (path length 1)");
    folder
        .pqtls("ca certify third/root.pem --path-length 0 --out third.pem")
        .ok();
}

#[test]
fn what_is_certified_is_read_once_and_is_one() {
    let folder = folder_with_ca();
    for name in ["A", "B"] {
        folder
            .pqtls(&format!(
                "ca init --name {name} --algorithm ML-DSA-44 --dir {name} --request {name}.csr"
            ))
            .ok();
    }
    folder
        .pqtls("ca init --name New --algorithm ML-DSA-44 --dir new")
        .ok();
    folder.shell("pqtls ca certify - --out a.pem < A.csr").ok();
    folder
        .shell("pqtls ca certify - --path-length 0 --out new.pem < new/root.pem")
        .ok();
    let damaged = folder.read("new/root.pem").replacen("MII", "MI", 1);
    folder.write("damaged.pem", damaged + &folder.read("B.csr"));
    folder.shell("cat A.csr B.csr > two.csr").ok();
    folder.shell("cat new/root.pem B.csr > both.pem").ok();
    for (file, words) in [
        ("damaged.pem", "damaged.pem"),
        ("two.csr", "two.csr has to have one"),
        ("both.pem", "both.pem has to have one"),
        ("new/root.key", "new/root.key has no"),
    ] {
        folder
            .pqtls(&format!("ca certify {file} --out x.pem"))
            .fails(3, words);
        assert!(!folder.path().join("x.pem").exists(), "{file}");
    }
}

#[test]
fn two_cas_of_one_name_are_not_certified() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --under ca")
        .ok();
    folder
        .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir other --request other.csr")
        .ok();
    folder
        .pqtls("ca certify other.csr --out other.pem")
        .fails(1, "or of another CA that is certified");
    // A new key of the same CA
    let request = "ca rollover --dir team --same-name --request next.csr";
    folder.pqtls(request).ok();
    folder
        .pqtls("ca certify next.csr --same-name --out next.pem")
        .ok();
    folder.pqtls("ca install next.pem --dir team").ok();
}

/// Whoever asks for the certificate of a server gets no CA by accident, and what a new CA is for is said.
#[test]
fn a_request_that_asks_for_no_ca_is_not_certified_unasked() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Open --dir open --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("cert request --subject CN=www.example.org --name www.example.org --key old.key --out www.csr")
        .ok();
    for options in ["", " --dns www.example.org", " --path-length 0"] {
        folder
            .pqtls(&format!(
                "ca certify www.csr --dir open{options} --out x.pem"
            ))
            .fails(
                1,
                "sign an ordinary request with \"pqtls ca sign --dir open\"",
            );
    }
    folder
        .pqtls("ca certify ca/root.pem --dir open --unasked --out x.pem")
        .fails(2, "--unasked is for a request");
    let certified = folder.pqtls("ca certify www.csr --dir open --unasked --out any.pem");
    assert!(
        certified.ok().contains("\n  for names     any name\n"),
        "{}",
        certified.ok()
    );
    let certified = folder
        .pqtls("ca certify www.csr --dir open --unasked --dns a.example.org --out limited.pem");
    let words = "\n  for names     permitted a.example.org, ";
    assert!(certified.ok().contains(words), "{}", certified.ok());
    // A report has no place beside the certificate.
    let certified = folder.pqtls("ca certify www.csr --dir open --unasked");
    assert_eq!(
        certified.stderr(),
        "pqtls: warning: the certified CA is for any name\n"
    );
}
