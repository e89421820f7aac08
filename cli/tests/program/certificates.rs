//! `pqtls cert`.

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::request::CertificateRequest;
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::ext::pkix::CertificatePolicies;
use pq_x509::x509_cert::ext::pkix::certpolicy::PolicyInformation;

use crate::folder::Folder;

#[test]
fn requests_ask_for_names_and_prove_possession() {
    let folder = Folder::new();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let names = "--name a.example --name *.a.example --name 192.0.2.1 --name ::1";
    let made = folder.pqtls(&format!(
        "cert request --key a.key {names} --subject CN=A,O=B"
    ));
    let request = CertificateRequest::from_pem(made.ok())
        .unwrap()
        .verify()
        .unwrap();
    assert_eq!(request.dns_names(), ["a.example", "*.a.example"]);
    assert_eq!(request.ip_addresses().len(), 2);
    assert_eq!(request.subject().to_string(), "CN=A,O=B");
    folder
        .pqtls("cert request --key a.key --name a.example --der --out a.der")
        .ok();
    assert!(CertificateRequest::from_der(&folder.bytes("a.der")).is_ok());
    folder
        .pqtls("cert request --key a.key")
        .fails(2, "--name <NAME>");
    folder
        .pqtls("cert request --key a.key --name a..b")
        .fails(1, "is neither an IP address nor a DNS name");
    folder
        .pqtls("cert request --key a.key --subject Nonsense=x")
        .fails(2, "write a common name");
    for (subject, is) in [
        ("/C=DE/O=Acme, Inc./CN=a/b=c", None),
        ("/C=DE/O=Acme, Inc./CN=a", Some(r"CN=a,O=Acme\, Inc.,C=DE")),
        ("/CN=a\\/b", Some("CN=a/b")),
        ("/CN=a/b", None),
        ("CN=a,O=Acme\\, Inc.", Some(r"CN=a,O=Acme\, Inc.")),
        ("Acme, Inc.", Some(r"CN=Acme\, Inc.")),
    ] {
        let command = format!("pqtls cert request --key a.key --der --subject '{subject}'");
        let made = folder.shell(&command);
        match is {
            Some(name) => {
                let request = CertificateRequest::from_der(made.stdout_bytes()).unwrap();
                assert_eq!(request.parsed().info.subject.to_string(), name);
            }
            None => made.fails(2, "--subject"),
        }
    }
    folder
        .shell("pqtls cert request --key a.key --subject 'O=Acme, Inc.,CN=a'")
        .fails(2, "\" Inc.\" stands after a comma");
    let long = "x".repeat(65);
    folder
        .pqtls(&format!("cert request --key a.key --subject {long}"))
        .fails(1, "1 to 64 characters");
}

#[test]
fn self_signed_certificates_are_of_roots_or_of_end_entities() {
    let folder = Folder::new();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert self-sign --key a.key --ca --subject Root --validity 20d --out root.pem")
        .ok();
    let root = Certificate::from_pem(&folder.read("root.pem")).unwrap();
    assert!(root.is_ca());
    assert!(root.verify_signature(&root, &[]).is_ok());
    folder
        .pqtls(
            "cert self-sign --key a.key --name a.example --purpose client --purpose server --out a.pem",
        )
        .ok();
    let leaf = Certificate::from_pem(&folder.read("a.pem")).unwrap();
    assert!(!leaf.is_ca());
    assert!(leaf.verify_signature(&leaf, &[]).is_ok());
    assert_eq!(leaf.issuer().to_string(), "CN=a.example");
    assert_eq!(leaf.subject(), leaf.issuer());
    let shown = folder.pqtls("cert show a.pem");
    assert!(
        shown
            .ok()
            .contains("for           clientAuth, serverAuth\n"),
        "{}",
        shown.ok()
    );
    folder
        .pqtls("cert self-sign --key a.key --ca --name a.example")
        .fails(2, "--subject");
    folder
        .pqtls("cert self-sign --key a.key --subject A")
        .fails(2, "give one with --name");
    folder
        .pqtls("cert self-sign --key a.key --subject A --purpose client")
        .ok();
    folder
        .pqtls("cert self-sign --key a.key --name a.example --validity 0d")
        .fails(2, "--validity");
    folder
        .pqtls("cert self-sign --key a.key --name a.example --validity 4000000d")
        .fails(1, "outside of the years 1970 to 9999");
}

/// The rule is not about the advice.
#[test]
fn what_breaks_a_rule_is_said_in_order() {
    let folder = Folder::with_ca();
    for command in [
        "cert self-sign --key www.key --subject C=XYZ --purpose client --out x.pem",
        "cert request --key www.key --subject C=XYZ --out x.csr",
    ] {
        let refused = folder.pqtls(command);
        refused.fails(
            1,
            "RFC 5280 appendix A.1 forbids this (rfc5280-country): the ",
        );
        let words = "the subject's country is \"XYZ\"; write the two letters of ISO 3166; no";
        refused.fails(1, words);
    }
}

#[test]
fn certificates_are_shown_with_the_days_that_are_left() {
    let folder = Folder::with_ca();
    let certificate = Certificate::from_pem(&folder.read("www.pem")).unwrap();
    let end = certificate.not_after().as_secs();
    let shown_at = |at: u64| {
        let shown = folder.pqtls(&format!("cert show www.pem --at {}", date(at)));
        shown.ok().to_owned()
    };
    assert!(shown_at(end - 3 * 86_400).contains(", 3 days left"));
    assert!(shown_at(end).contains(", 0 days left"));
    assert!(shown_at(end + 1).contains(", expired less than a day ago"));
    assert!(shown_at(end + 86_401).contains(", expired 1 day ago"));
    assert!(shown_at(end + 3 * 86_400).contains(", expired 2 days ago"));
    assert!(shown_at(0).contains(", not valid yet"));
    let all = folder.pqtls("cert show www.pem --all");
    for words in [
        "  issued by     CN=Example CA\n",
        "  names         www.example.org\n",
        "  CA            no\n",
        "  key usage     digitalSignature\n",
        "cRLDistributionPoints: URI:http://ca.example.org/ca.crl\n",
        "keyUsage, critical",
    ] {
        assert!(all.ok().contains(words), "{words}: {}", all.ok());
    }
}

#[test]
fn a_file_of_certificates_says_whether_they_are_a_chain() {
    let folder = Folder::with_ca();
    let [root, ca, www] = ["ca-root.pem", "ca.pem", "www.pem"].map(|name| folder.read(name));
    for (content, verdict) in [
        (
            www.clone() + &ca + &root,
            "3 certificates, a chain in order\n",
        ),
        (
            root.clone() + &www + &ca,
            "3 certificates, a chain, but out of order",
        ),
        (www + &root, "2 certificates, not one chain: both"),
    ] {
        let shown = folder.pqtls_reading(content, "cert show -");
        assert!(shown.ok().contains(verdict), "{}", shown.ok());
    }
}

#[test]
fn bundles_are_in_order_and_without_the_root() {
    let folder = Folder::with_ca();
    let [root, ca, www] = ["ca-root.pem", "ca.pem", "www.pem"].map(|name| folder.read(name));
    let bundle = folder.pqtls("cert bundle ca-root.pem www.pem ca.pem");
    assert_eq!(bundle.ok(), www.clone() + &ca);
    let bundle = folder.pqtls("cert bundle --root ca.pem ca-root.pem www.pem");
    assert_eq!(bundle.ok(), www + &ca + &root);
    assert_eq!(folder.pqtls("cert bundle ca-root.pem").ok(), root);
    folder
        .pqtls("cert bundle www.pem ca-root.pem")
        .fails(1, "not one chain");
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert self-sign --key a.key --ca --subject Other --out other.pem")
        .ok();
    folder
        .pqtls("cert bundle www.pem ca.pem other.pem")
        .fails(1, "not one chain");
}

#[test]
fn chains_are_verified_and_refusals_explained() {
    let folder = Folder::with_ca();
    folder
        .pqtls("cert bundle www.pem ca.pem --out chain.pem")
        .ok();
    let valid = folder.pqtls("cert verify chain.pem --roots ca-root.pem --name www.example.org");
    assert!(
        valid
            .ok()
            .starts_with("valid for the server www.example.org at ")
    );
    assert_eq!(valid.ok().lines().count(), 5);
    let crl = folder.pqtls("cert verify chain.pem --roots ca-root.pem --crl none.crl");
    for (verified, says) in [
        (&valid, "  revocation: not checked; give --crl or --ocsp\n"),
        (
            &crl,
            "  revocation: checked by lists, of all certificates below the root\n",
        ),
    ] {
        assert!(verified.ok().ends_with(says), "{}", verified.stdout());
    }
    let checked = |options: &str, status| {
        let line = format!("cert verify chain.pem --roots ca-root.pem {options} --json");
        let verified = folder.pqtls(&line);
        assert_eq!(verified.status(), status, "{line}");
        let report: serde_json::Value = serde_json::from_str(verified.stdout()).unwrap();
        report["revocation"].as_str().unwrap().to_owned()
    };
    assert_eq!(checked("", 0), "not-checked");
    assert_eq!(checked("--crl none.crl", 0), "by-lists");
    assert_eq!(checked("--crl www.crl", 1), "by-lists");
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert self-sign --key a.key --ca --subject Other --out other.pem")
        .ok();
    for (options, words) in [
        (
            "--roots ca-root.pem --name other.example",
            "is not for other.example but for",
        ),
        (
            "--roots ca-root.pem --purpose client",
            "does not allow this purpose",
        ),
        ("--roots ca-root.pem --at 2100-01-01", "expired at"),
        ("--roots ca-root.pem --at 2000-01-01", "is not valid before"),
        (
            "--roots other.pem",
            "no path from the certificate to a trusted root",
        ),
        ("--roots www.pem", "is not a CA certificate"),
        ("--roots ca-root.pem --crl www.crl", "was revoked at"),
    ] {
        folder
            .pqtls(&format!("cert verify chain.pem {options}"))
            .fails(1, words);
    }
    folder
        .pqtls("cert verify www.pem --roots ca-root.pem")
        .fails(1, "no path");
    folder
        .pqtls("cert verify chain.pem")
        .fails(2, "--roots <FILE>");
    folder
        .pqtls("cert verify chain.pem --roots ca-root.pem --at x")
        .fails(2, "write a day such as");
}

#[test]
fn one_list_is_not_enough_for_two_cas() {
    let folder = Folder::with_ca();
    folder
        .pqtls("cert bundle www.pem ca.pem --out chain.pem")
        .ok();
    let lists = folder.read("none.crl");
    let (first, _) = lists.split_at(lists.rfind("-----BEGIN").unwrap());
    folder.write("one.crl", first);
    folder
        .pqtls("cert verify chain.pem --roots ca-root.pem --crl one.crl")
        .fails(1, "with --crl");
}

#[test]
fn a_key_for_kems_authenticates_no_server() {
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{DecapsulationKey, KemAlgorithm};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    let folder = Folder::new();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem512).unwrap();
    let leaf = root
        .issue(CertificateBuilder::server().dns_name("a.example"), &kem)
        .unwrap();
    folder.write("root.pem", root.certificate().to_pem());
    folder.write("kem.pem", leaf.to_pem());
    folder
        .pqtls("cert verify kem.pem --roots root.pem")
        .fails(1, "cannot sign");
    assert!(
        folder
            .pqtls("cert show kem.pem")
            .ok()
            .contains("key           ML-KEM-512")
    );
}

#[test]
fn fingerprints_are_of_the_der() {
    let folder = Folder::with_ca();
    let www = Certificate::from_pem(&folder.read("www.pem")).unwrap();
    use sha2::Digest;
    let expected = crate::keys::hex(&sha2::Sha256::digest(www.der()));
    let printed = folder.pqtls("cert fingerprint www.pem");
    assert_eq!(printed.ok(), format!("sha256:{expected}\n"));
}

/// A refusal for another name lists all names of the certificate as people write them, of whatever kind. A name with a
/// port is no URI, and is told without it.
#[test]
fn names_are_told_as_people_write_them() {
    let folder = Folder::with_ca();
    folder
        .pqtls("cert bundle www.pem ca.pem --out chain.pem")
        .ok();
    for (name, status, what) in [
        ("b.example", 1, "not for b.example but for www.example.org;"),
        ("a@b.example", 1, "but for www.example.org;"),
        ("http://b.example/", 1, "but for www.example.org;"),
        ("host:443", 2, "leave \":443\" out, and write host"),
        ("192.0.2.1:8443", 2, "leave \":8443\" out"),
        ("[::1]:443", 2, "and write ::1"),
    ] {
        folder
            .pqtls(&format!(
                "cert verify chain.pem --roots ca-root.pem --name {name}"
            ))
            .fails(status, what);
    }
    folder.pqtls("ca init --name CA").ok();
    let policy = folder.read("ca/policy.toml");
    let policy = policy.replacen("[names]", "[names]\nemail = [\"a@b.example\"]", 1);
    folder.write("ca/policy.toml", policy);
    folder
        .pqtls("ca issue a@b.example --key www.key --profile client --out mail.pem")
        .ok();
    folder
        .pqtls("cert verify mail.pem --roots ca/root.pem --purpose client --name b.example")
        .fails(1, "not for b.example but for a@b.example;");
    for command in [
        "cert request --key www.key --name www.example.org:443",
        "cert self-sign --key www.key --name www.example.org:443",
        "ca issue www.example.org:443 --key www.key",
        "dev localhost:8443",
    ] {
        folder.pqtls(command).fails(2, "names without ports");
    }
}

#[test]
fn renewal_is_told_by_the_exit_status() {
    let folder = Folder::with_ca();
    let certificate = Certificate::from_pem(&folder.read("www.pem")).unwrap();
    let (start, end) = (
        certificate.not_before().as_secs(),
        certificate.not_after().as_secs(),
    );
    let status = |options: &str, at: u64| {
        let outcome = folder.pqtls(&format!(
            "cert needs-renewal www.pem {options} --at {}",
            date(at)
        ));
        assert_eq!(outcome.stderr(), "");
        outcome.status()
    };
    const DAY: u64 = 86_400;
    assert_eq!(status("--expires-within 14d", end - 14 * DAY), 0);
    assert_eq!(status("--expires-within 14d", end - 14 * DAY + 1), 5);
    assert_eq!(status("--fraction 0.5", start + (end - start) / 2 - 1), 0);
    assert_eq!(status("--fraction 0.5", start + (end - start) / 2 + 1), 5);
    assert_eq!(status("", start + DAY), 0);
    assert_eq!(status("", end - DAY), 5);
    assert_eq!(status("--expires-within 1s", end + 1), 5);
    folder
        .pqtls("cert needs-renewal www.pem --fraction 2")
        .fails(2, "from 0 to 1");
    // In a chain, the certificate that expires first counts.
    folder
        .pqtls("cert bundle www.pem ca.pem --out chain.pem")
        .ok();
    let chain = folder.pqtls(&format!(
        "cert needs-renewal chain.pem --expires-within 1d --at {}",
        date(end)
    ));
    assert_eq!(chain.status(), 5);
    assert!(
        chain
            .stdout()
            .starts_with("chain.pem: www.example.org: needs renewal")
    );
    // Of several files, all that are due are told, and lists are, too.
    let many = |options: &str| folder.pqtls(&format!("cert needs-renewal {options}"));
    let soon = many("ca.pem www.pem none.crl --expires-within 2y");
    assert_eq!(soon.status(), 5);
    let lines: Vec<&str> = soon.stdout().lines().collect();
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("www.pem: www.example.org: needs"))
    );
    let list = "none.crl: revocation list of CN=Example CA: needs";
    assert!(lines.iter().any(|line| line.starts_with(list)), "{lines:?}");
    let not_yet = many("www.pem none.crl --expires-within 1h");
    assert_eq!(not_yet.ok().lines().count(), 1);
    let report = many("www.pem none.crl --expires-within 2y --json");
    let report: serde_json::Value = serde_json::from_str(report.stdout()).unwrap();
    assert_eq!(report["due"].as_array().unwrap().len(), 3);
}

/// Only revocation lists are long.
#[test]
fn no_file_has_more_certificates_than_any_in_use() {
    let folder = Folder::with_ca();
    let one = folder.read("ca.pem");
    // PEM is a third longer than DER.
    let count = 16 * 1024 * 1024 / (one.len() * 2 / 3);
    folder.write("many.pem", one.repeat(count));
    folder
        .pqtls("cert needs-renewal many.pem --expires-within 1d")
        .fails(
            3,
            "many.pem has more than 16 MiB of certificates and messages",
        );
}

/// A message, as of PKCS#7, has certificates that expire, too, and a file in which nothing does is no "not yet".
#[test]
fn certificates_in_messages_need_renewal() {
    let folder = Folder::with_ca();
    for command in [
        "cms sign ca.pem --key www.key --cert www.pem --pem --out signed.pem",
        "cms sign ca.pem --key www.key --cert www.pem --out signed.der",
        "key new ML-KEM-512 --out kem.key --public kem.pub",
        "cms encrypt ca.pem --to kem.pub --out encrypted",
    ] {
        folder.pqtls(command).ok();
    }
    let signed = folder.read("signed.pem");
    for (name, label) in [
        ("p7", "PKCS7"),
        ("old", "PKCS #7 SIGNED DATA"),
        ("new", "CMS"),
    ] {
        let signed = signed.replace(" CMS-", &format!(" {label}-"));
        folder.write(name, folder.read("ca.pem") + &signed);
    }
    for file in ["p7", "old", "new", "signed.pem", "signed.der"] {
        let renewal = format!("cert needs-renewal {file} --expires-within 60d");
        let due = folder.pqtls(&renewal);
        assert_eq!((due.stderr(), due.status()), ("", 5), "{file}");
        assert!(due.stdout().contains(": www.example.org: needs renewal"));
    }
    folder
        .pqtls("cert needs-renewal www.pem encrypted --expires-within 1h")
        .fails(3, "encrypted has a message with no certificate");
}

/// A CA that changes its key certifies the new one with the old one, in a certificate with one name.
#[test]
fn a_certificate_by_the_former_key_is_no_root() {
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};

    let folder = Folder::new();
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let old = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let new = old.issue_ca(CertificateBuilder::ca("Root"), key()).unwrap();
    let leaf = CertificateBuilder::server().dns_name("a.example");
    let leaf = new.issue(leaf, &key()).unwrap();
    folder.write("old.pem", old.certificate().to_pem());
    folder.write("new.pem", new.certificate().to_pem());
    folder.write("leaf.pem", leaf.to_pem());
    let bundle = folder.pqtls("cert bundle old.pem leaf.pem new.pem --out chain.pem");
    assert_eq!(bundle.ok(), "chain.pem:\n  a.example\n  CN=Root\n");
    folder
        .pqtls("cert bundle leaf.pem new.pem --out cut.pem")
        .ok();
    assert_eq!(folder.read("cut.pem"), folder.read("chain.pem"));
    let show = |file: &str| folder.pqtls(&format!("cert show {file}")).ok().to_owned();
    assert!(show("old.pem").contains("  issued by     CN=Root (itself)\n"));
    assert!(show("new.pem").contains("  issued by     CN=Root (by another key of that name)\n"));
    let report = folder.pqtls("cert show new.pem --json");
    let report: serde_json::Value = serde_json::from_str(report.ok()).unwrap();
    assert_eq!(report["certificates"][0]["self_issued"], true);
    assert_eq!(report["certificates"][0]["self_signed"], false);
}

/// Whoever reads nothing of what is said gets the same exit status, and none that says that all is well.
#[cfg(unix)]
#[test]
fn an_exit_status_is_the_same_without_a_reader() {
    let folder = Folder::with_ca();
    let status = |command_line: &str| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pqtls"));
        command.args(command_line.split_whitespace());
        command.current_dir(folder.path()).stdout(writer);
        command.status().unwrap().code()
    };
    for json in ["", "--json"] {
        let needs =
            |time: &str| format!("cert needs-renewal www.pem --expires-within {time} {json}");
        assert_eq!(status(&needs("1h")), Some(0));
        assert_eq!(status(&needs("99y")), Some(5));
        let lint = format!("cert lint www.pem --severity notice {json}");
        assert_eq!(status(&lint), Some(folder.pqtls(&lint).status()));
    }
}

#[test]
fn damaged_certificates_give_one_clear_error() {
    let folder = Folder::with_ca();
    let pem = folder.read("www.pem");
    let der = Certificate::from_pem(&pem).unwrap().into_der();
    folder.write("www.der", &der);
    folder.pqtls("cert show www.der").ok();
    for (content, words) in [
        (&b""[..], "bad is empty"),
        (
            &pem.as_bytes()[..100],
            "bad: the PEM block \"CERTIFICATE\" in line 1 does not end",
        ),
        (&der[..100], "bad is cut short: it has 100 of the"),
        (
            folder.read("www.key").as_bytes(),
            "bad has no certificate, but a private key",
        ),
        (
            folder.read("none.crl").as_bytes(),
            "bad has no certificate, but a revocation list",
        ),
    ] {
        folder.write("bad", content);
        for command in ["show bad", "fingerprint bad", "bundle bad"] {
            folder.pqtls(&format!("cert {command}")).fails(3, words);
        }
        // It takes revocation lists, too.
        let renewal = folder.pqtls("cert needs-renewal bad --expires-within 1s");
        match words.ends_with("a revocation list") {
            true => assert!(renewal.ok().contains("needs no renewal")),
            false => {
                let both = "no certificate or revocation list";
                renewal.fails(3, &words.replace("no certificate", both));
            }
        }
        folder
            .pqtls("cert verify bad --roots ca-root.pem")
            .fails(3, words);
        folder
            .pqtls("cert verify www.pem --roots bad")
            .fails(3, words);
    }
}

fn date(seconds: u64) -> String {
    use pq_x509::x509_cert::der::DateTime;
    let time = core::time::Duration::from_secs(seconds);
    DateTime::from_unix_duration(time).unwrap().to_string()
}

/// Each command asks for what it needs, and for nothing that it would refuse.
#[test]
fn missing_names_are_asked_for_as_they_can_be_given() {
    let folder = Folder::with_ca();
    for (command, words) in [
        ("self-sign --ca", "--subject <SUBJECT>"),
        ("self-sign --purpose client", "with --name <NAME> or"),
        ("request", "with --name <NAME> or"),
    ] {
        folder
            .pqtls(&format!("cert {command} --key www.key"))
            .fails(2, words);
    }
    let long = format!("{}.aaa.bbb.ccc", "a".repeat(60));
    folder
        .pqtls(&format!("cert self-sign --key www.key --name {long}"))
        .fails(2, "give one with --subject");
    let both = format!("cert self-sign --key www.key --name {long} --name b.example --out b.pem");
    folder.pqtls(&both).ok();
    let shown = folder.pqtls("show b.pem");
    assert!(shown.ok().starts_with("CN=b.example\n"), "{}", shown.ok());
}

/// The CA that issued it is itself.
#[test]
fn a_self_signed_end_entity_is_no_root() {
    let folder = Folder::with_ca();
    folder
        .pqtls("cert self-sign --key www.key --name a.example --out a.pem")
        .ok();
    folder
        .pqtls("cert verify a.pem --roots a.pem")
        .fails(1, "signed its own certificate, and is no CA");
    folder
        .pqtls("cert verify www.pem --roots www.pem")
        .fails(1, "trust the CA that issued it instead");
}

/// Certificates come in PKCS#7, too, and in PKCS#12.
#[test]
fn certificates_are_read_from_messages() {
    let folder = Folder::with_ca();
    folder
        .pqtls("cms sign ca.pem --key www.key --cert www.pem --out m.p7b")
        .ok();
    let one = folder.pqtls("cert fingerprint www.pem");
    let digest = one.ok().split_whitespace().last().unwrap().to_owned();
    let shown = folder.pqtls("cert fingerprint m.p7b");
    assert!(shown.ok().contains(&digest), "{}", shown.ok());
    folder.pqtls("cert show m.p7b").ok();
    folder.pqtls("cert bundle m.p7b ca.pem --out chain").ok();
    let verify = "cert verify m.p7b --roots ca-root.pem";
    folder
        .pqtls(verify)
        .fails(3, "m.p7b has no certificate, but a message (CMS); take out its certificates with \"pqtls cert bundle\"");
    folder.write("pw", "passphrase\n");
    folder
        .pqtls("key export www.key --certs www.pem --passphrase-file pw --out w.p12")
        .ok();
    folder
        .pqtls("cert needs-renewal w.p12")
        .fails(3, "\"pqtls cert import\"");
}

/// One file that is of no use doesn't silence an alarm about another.
#[test]
fn needs_renewal_looks_at_all_files_that_can_be_read() {
    let folder = Folder::with_ca();
    folder.write("bad", "no certificate");
    let renewal = |rest: &str| folder.pqtls(&format!("cert needs-renewal {rest}"));
    for files in ["www.pem none bad", "none www.pem bad", "none bad www.pem"] {
        let due = renewal(&format!("{files} --expires-within 900d"));
        assert_eq!(due.status(), 5, "{}", due.stderr());
        let listed = "www.pem: www.example.org: needs renewal";
        assert!(due.stdout().contains(listed), "{}", due.stdout());
        for complaint in ["pqtls: warning: can't read none: ", "pqtls: warning: bad "] {
            assert!(due.stderr().contains(complaint), "{}", due.stderr());
        }
        let due = renewal(&format!("{files} --expires-within 900d --json"));
        let report: serde_json::Value = serde_json::from_str(due.stdout()).unwrap();
        assert_eq!((due.status(), &report["needs_renewal"]), (5, &true.into()));
        assert_eq!(report["unread"][0]["file"], "none");
        assert_eq!(report["unread"][1]["file"], "bad");
    }
    let none_due = renewal("none www.pem --expires-within 1h");
    none_due.fails(3, "can't read none: ");
    let listed = "www.pem: www.example.org: needs no renewal";
    assert!(none_due.stdout().contains(listed), "{}", none_due.stdout());
    renewal("none --expires-within 1h").fails(3, "can't read none: ");
}

/// What RFC 5280 permits and rustls's own verifiers refuse is said, as people verify chains for those.
#[test]
fn what_rustls_refuses_is_said_of_a_valid_chain() {
    let folder = Folder::new();
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    folder.write("root.pem", root.certificate().to_pem());
    for (file, is_critical) in [("usual.pem", false), ("critical.pem", true)] {
        let builder = CertificateBuilder::server().dns_name("a.example");
        let mut body = root.prepare(builder, &key()).unwrap();
        let policy = PolicyInformation {
            policy_identifier: ObjectIdentifier::new_unwrap("1.2.3.4"),
            policy_qualifiers: None,
        };
        let policies = CertificatePolicies(vec![policy]);
        body.set_extension(is_critical, &policies).unwrap();
        let leaf = body.sign(root.signer()).unwrap();
        folder.write(file, leaf.to_pem());
        let line = format!("cert verify {file} --roots root.pem");
        let verified = folder.pqtls(&line);
        let note = "note: rustls's own verifiers refuse this chain";
        assert_eq!(verified.ok().contains(note), is_critical, "{file}");
        let verified = folder.pqtls(&format!("{line} --json"));
        let report: serde_json::Value = serde_json::from_str(verified.ok()).unwrap();
        assert_eq!(
            report["notes"].as_array().unwrap().len(),
            usize::from(is_critical)
        );
    }
}
