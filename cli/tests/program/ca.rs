//! `pqtls ca`.

use std::fs;
use std::process::{Command, Stdio};

use pq_ca::ledger::Ledger;
use pq_x509::certificate::Certificate;
use pq_x509::revocation::CertificateRevocationList;

use crate::folder::Folder;

/// With a CA for `example.org` and `192.0.2.0/24` in `ca`.
fn folder_with_ca() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --ip 192.0.2.0/24 --algorithm ML-DSA-44")
        .ok();
    folder
}

fn serial_number(folder: &Folder, file: &str) -> String {
    let certificate = Certificate::from_pem(&folder.read(file)).unwrap();
    pq_ca::ledger::SerialNumber::of(&certificate)
        .unwrap()
        .to_string()
}

#[test]
fn a_ca_issues_and_revokes_for_a_server_and_a_client() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue www.example.org 192.0.2.7 --new-key www.key --out www.pem --algorithm ML-DSA-44")
        .ok();
    folder
        .shell("pqtls ca issue --common-name 'Robot 7' --profile client --new-key robot.key --out robot.pem")
        .ok();
    for command in [
        "cert verify www.pem --roots ca/root.pem --name www.example.org",
        "cert verify www.pem --roots ca/root.pem --name 192.0.2.7",
        "cert verify robot.pem --roots ca/root.pem --purpose client",
        "key check www.key --cert www.pem",
    ] {
        folder.pqtls(command).ok();
    }
    folder.pqtls("ca crl --root --out root.crl").ok();
    folder.pqtls("ca crl --out before.crl").ok();
    let verify = |file: &str, list: &str, purpose: &str| {
        folder.pqtls(&format!(
            "cert verify {file} --roots ca/root.pem --purpose {purpose} --crl root.crl --crl {list}"
        ))
    };
    verify("www.pem", "before.crl", "server").ok();

    let revoked = folder.pqtls("ca revoke www.pem --reason key-compromise --by bob");
    assert!(revoked.ok().contains("(keyCompromise)"), "{}", revoked.ok());
    assert!(
        revoked.ok().contains("pqtls ca crl --out FILE"),
        "{}",
        revoked.ok()
    );
    folder.pqtls("ca crl --out after.crl").ok();
    verify("www.pem", "after.crl", "server").fails(1, "was revoked at ");
    verify("robot.pem", "after.crl", "client").ok();
    let shown = folder.pqtls("ca show www.pem");
    assert!(shown.ok().contains("by bob: keyCompromise\n"));

    let lists = ["before.crl", "after.crl"]
        .map(|file| CertificateRevocationList::from_pem(&folder.read(file)).unwrap());
    assert_eq!(
        lists.each_ref().map(|list| list.number()),
        [Some(&[1][..]), Some(&[2][..])]
    );
    folder.pqtls("ca crl --der --out after.der").ok();
    assert!(CertificateRevocationList::from_der(&folder.bytes("after.der")).is_ok());
}

#[test]
fn a_ca_answers_whether_certificates_were_revoked() {
    let folder = folder_with_ca();
    let policy = folder.read("ca/policy.toml");
    let policy = policy.replace("\"server+client\"]", "\"ocsp-responder\"]");
    let policy = policy.replace("#urls = []", "urls = [\"http://ocsp.example.org/\"]");
    folder.write("ca/policy.toml", policy);
    for command in [
        "ca issue www.example.org --new-key www.key --out www.pem --algorithm ML-DSA-44",
        "ca issue --common-name 'Our OCSP' --profile ocsp-responder --new-key ocsp.key --out ocsp.pem",
        "ca crl --root --out root.crl",
    ] {
        folder.shell(&format!("pqtls {command}")).ok();
    }
    let shown = folder.pqtls("cert show --all ocsp.pem");
    assert!(shown.ok().contains("OCSPSigning"), "{}", shown.ok());
    assert!(shown.ok().contains("pkix-ocsp-nocheck"), "{}", shown.ok());
    assert!(!shown.ok().contains("http://"), "{}", shown.ok());
    let shown = folder.pqtls("cert show --all www.pem");
    assert!(
        shown.ok().contains("ocsp URI:http://ocsp.example.org/"),
        "{}",
        shown.ok()
    );

    let asked = folder.pqtls("cert ocsp-request www.pem --out www.req");
    assert!(
        asked.ok().contains("http://ocsp.example.org/"),
        "{}",
        asked.ok()
    );
    folder
        .pqtls("cert ocsp-request www.pem --out other.req --sha256")
        .ok();
    let answered = folder.pqtls("ca ocsp www.req --out good.ocsp");
    assert!(
        answered.ok().contains(" is good, valid until "),
        "{}",
        answered.ok()
    );
    let delegate = "--key ocsp.key --cert ocsp.pem --validity 2h";
    folder
        .pqtls(&format!(
            "ca ocsp --for www.pem --out staple.ocsp {delegate}"
        ))
        .ok();
    fs::rename(
        folder.path().join("ca/issuing.key"),
        folder.path().join("away"),
    )
    .unwrap();
    folder
        .pqtls(&format!("ca ocsp other.req --out other.ocsp {delegate}"))
        .ok();
    folder
        .pqtls("ca ocsp www.req --out no.ocsp")
        .fails(3, "issuing.key is not there");

    let verify = |arguments: &str| {
        let roots = "cert verify www.pem --roots ca/root.pem --name www.example.org";
        folder.pqtls(&format!("{roots} {arguments}"))
    };
    verify("--ocsp good.ocsp --ocsp-request www.req").ok();
    verify("--ocsp staple.ocsp").ok();
    verify("--ocsp other.ocsp --ocsp-request other.req").ok();
    verify("--ocsp good.ocsp --ocsp-request other.req").fails(1, "another nonce");
    verify("--ocsp staple.ocsp --ocsp-request www.req").fails(1, "has no nonce");
    verify("--ocsp good.ocsp --at 2000-01-01").fails(1, "is not valid before");
    verify("--ocsp good.ocsp --crl root.crl").ok();
    let day_after = format!("--at {}", in_days(&folder, 2));
    verify(&format!("--ocsp good.ocsp {day_after}")).fails(1, "was to be replaced at");

    folder
        .pqtls("ca revoke www.pem --reason keyCompromise")
        .ok();
    let revoked = folder.pqtls(&format!("ca ocsp www.req --out bad.ocsp {delegate}"));
    assert!(
        revoked.ok().contains(" is revoked since "),
        "{}",
        revoked.ok()
    );
    verify("--ocsp bad.ocsp --ocsp-request www.req").fails(1, "(keyCompromise)");
    verify("--ocsp bad.ocsp --ocsp good.ocsp").fails(1, "was revoked at");

    // Responses about other certificates, and files that are no request or response.
    folder
        .pqtls("cert ocsp-request ocsp.pem --out of-ocsp.req")
        .ok();
    folder
        .pqtls(&format!(
            "ca ocsp of-ocsp.req --out of-ocsp.ocsp {delegate}"
        ))
        .ok();
    verify("--ocsp of-ocsp.ocsp").fails(1, "with --ocsp");
    folder
        .pqtls(&format!(
            "ca ocsp --root --for ca/issuing.pem --out x {delegate}"
        ))
        .fails(1, "cannot be used to answer for the CA");
    folder
        .pqtls(&format!("ca ocsp www.pem --out x {delegate}"))
        .fails(
            3,
            "www.pem has no OCSP request, but a certificate; to answer about the certificate without a request",
        );
    verify("--ocsp www.pem").fails(3, "www.pem: no PEM block \"OCSP RESPONSE\"");
    folder
        .pqtls(&format!("ca ocsp good.ocsp --out x {delegate}"))
        .fails(3, "good.ocsp: the OCSP request");
    verify("--ocsp www.req").fails(3, "www.req: the OCSP response");
    let other = "ca ocsp www.req --out x --key www.key --cert www.pem";
    folder.pqtls(other).fails(1, "OCSPSigning");
    // The responder's key is lost, too.
    folder
        .pqtls("ca revoke ocsp.pem --reason keyCompromise")
        .ok();
    folder
        .pqtls(&format!("ca ocsp www.req --out x {delegate}"))
        .fails(1, "was revoked because others may know the key");
    folder
        .pqtls("cert ocsp-request ca/root.pem --out x")
        .fails(2, "name the issuer's file");
    folder
        .pqtls("cert ocsp-request www.pem --issuer ca/root.pem --out x")
        .fails(1, "names");
    assert!(!folder.path().join("x").exists());
}

/// In the form that `--at` takes.
fn in_days(folder: &Folder, days: u64) -> String {
    let validity =
        format!("cert self-sign --key www.key --name a.example --validity {days}d --out day.pem");
    folder.pqtls(&validity).ok();
    let certificate = Certificate::from_pem(&folder.read("day.pem")).unwrap();
    let end = certificate.parsed().tbs_certificate().validity().not_after;
    end.to_string()
}

#[test]
fn without_an_intermediate_the_root_issues() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Small --algorithm ML-DSA-44 --no-intermediate --root-validity 2y")
        .ok();
    folder
        .pqtls("ca issue a.example --new-key a.key --out a.pem")
        .ok();
    assert_eq!(folder.read("a.pem").matches("BEGIN").count(), 1);
    folder.pqtls("cert verify a.pem --roots ca/root.pem").ok();
    folder.pqtls("ca crl --root --out a.crl").ok();
    folder.pqtls("ca crl --out b.crl").ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --crl b.crl")
        .ok();
}

#[test]
fn a_ca_without_names_is_for_all_and_says_so() {
    let folder = Folder::new();
    let made = folder.pqtls("ca init --name All --algorithm ML-DSA-44");
    assert!(made.ok().contains("names     all"), "{}", made.ok());
    folder
        .pqtls("ca issue a.example 2001:db8::1 --new-key a.key --out a.pem")
        .ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --name 2001:db8::1")
        .ok();
}

/// E-mail addresses and SPIFFE IDs, from the policy to the verdict.
#[test]
fn names_of_other_kinds_are_issued_shown_and_verified() {
    const ID: &str = "spiffe://example.org/billing";
    let folder = folder_with_ca();
    let issue = format!(
        "ca issue {ID} someone@example.org --profile server+client --new-key a.key --out a.pem"
    );
    let refused = folder.pqtls(&issue);
    refused.fails(4, "names.uri is not set");
    refused.fails(4, "names.email is not set");
    let policy = folder.read("ca/policy.toml");
    let policy = policy
        .replace("#uri = []", "uri = [\"spiffe://example.org/*\"]")
        .replace("#email = []", "email = [\"*@example.org\"]");
    folder.write("ca/policy.toml", policy);
    folder.pqtls(&issue).ok();
    let shown = folder.pqtls("cert show a.pem");
    assert!(shown.ok().contains(&format!("URI:{ID}")), "{}", shown.ok());
    assert!(shown.ok().contains("email:someone@example.org"));
    for name in [ID, "someone@EXAMPLE.org"] {
        let verified = folder.pqtls(&format!(
            "cert verify a.pem --roots ca/root.pem --purpose client --name {name}"
        ));
        assert!(verified.ok().contains(name), "{}", verified.ok());
    }
    for (name, why) in [
        (
            "spiffe://example.org/other",
            "is not for spiffe://example.org/other",
        ),
        ("Someone@example.org", "is not for Someone@example.org"),
        ("https://example.org/", "is not for https://example.org/"),
    ] {
        folder
            .pqtls(&format!(
                "cert verify a.pem --roots ca/root.pem --name {name}"
            ))
            .fails(1, why);
    }
    for name in ["spiffe://example.org/", "a@b@c", "https://"] {
        let verify = format!("cert verify a.pem --roots ca/root.pem --name {name}");
        folder.pqtls(&verify).fails(2, "is not");
    }

    // By a request, with purposes that a SPIFFE ID can't have, and with those that it must have.
    folder
        .pqtls(&format!("cert request --key a.key --name {ID} --out a.csr"))
        .ok();
    folder
        .pqtls("ca sign a.csr --profile client --out b.pem")
        .fails(1, "--profile server+client");
    folder
        .pqtls("ca sign a.csr --profile server+client --out b.pem")
        .ok();
    let verify = format!("cert verify b.pem --roots ca/root.pem --name {ID}");
    folder.pqtls(&verify).ok();
    folder
        .pqtls(&format!(
            "cert self-sign --key a.key --name {ID} --out c.pem"
        ))
        .fails(1, "--purpose server --purpose client");
    let both = "--purpose server --purpose client";
    folder
        .pqtls(&format!(
            "cert self-sign --key a.key --name {ID} {both} --out c.pem"
        ))
        .ok();
    folder.pqtls("cert lint c.pem").ok();
}

/// The mailboxes and URIs of a CA's domains, whatever its policy says by then.
#[test]
fn mailboxes_and_uris_are_within_the_domains_of_a_ca() {
    let folder = folder_with_ca();
    folder
        .pqtls(
            "ca init --name Hosts --dns example.org --only-hosts --algorithm ML-DSA-44 --dir hosts",
        )
        .ok();
    folder
        .pqtls("ca init --name Net --ip 192.0.2.0/24 --algorithm ML-DSA-44 --dir net")
        .ok();
    for ca in ["ca", "hosts", "net"] {
        let policy = folder.read(&format!("{ca}/policy.toml"));
        let policy = policy
            .replace(
                "#uri = []",
                "uri = [\"spiffe://evil.example/*\", \"spiffe://example.org/*\"]",
            )
            .replace(
                "#email = []",
                "email = [\"*@.example.org\", \"*@evil.example\"]",
            );
        folder.write(&format!("{ca}/policy.toml"), policy);
    }
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let issue = |ca: &str, name: &str| {
        let purpose = if name.contains('@') {
            "client"
        } else {
            "server+client"
        };
        let options = "--key a.key --out a.pem --force";
        folder.pqtls(&format!(
            "ca issue {name} --profile {purpose} {options} --dir {ca}"
        ))
    };
    for within in [
        "a@example.org",
        "a@mail.example.org",
        "spiffe://example.org/a",
    ] {
        issue("ca", within).ok();
        folder
            .pqtls(&format!(
                "cert verify a.pem --roots ca/root.pem --purpose client --name {within}"
            ))
            .ok();
        issue("net", within).fails(4, "name constraints");
    }
    for outside in ["bob@evil.example", "spiffe://evil.example/a"] {
        issue("ca", outside).fails(4, "name constraints");
        issue("hosts", outside).ok();
    }
    issue("hosts", "www.evil.example").fails(4, "names.dns");
}

/// What the message of an option says is what the option takes.
#[test]
fn domains_of_a_new_ca_are_what_its_options_ask_for() {
    let folder = Folder::new();
    for dns in ["*.example.org", ".", "a b", "exa$mple", ""] {
        let refused = folder.shell(&format!("pqtls ca init --name A --dns '{dns}'"));
        refused.fails(2, "write one such as \"example.org\"");
        assert!(!refused.stderr().contains("\"*."), "{}", refused.stderr());
    }
    folder
        .shell("pqtls ca init --name '' --algorithm ML-DSA-44")
        .fails(2, "a common name has 1 to 64 characters, not 0");
    let name = "x".repeat(60);
    folder
        .pqtls(&format!("ca init --name {name} --dir long"))
        .fails(2, "the CA's name has 60 characters, and may have 59");
    folder
        .pqtls(&format!(
            "ca init --name {name} --dir long --no-intermediate"
        ))
        .ok();
    folder
        .pqtls("ca init --name A --dns .Example.ORG --algorithm ML-DSA-44")
        .ok();
    let shown = folder.pqtls("ca show");
    assert!(
        shown.ok().contains("permitted example.org,"),
        "{}",
        shown.ok()
    );
}

#[test]
fn a_ca_is_not_made_where_something_is() {
    let folder = folder_with_ca();
    let root = folder.read("ca/root.pem");
    let again = "ca init --name Other --algorithm ML-DSA-44";
    folder
        .pqtls(again)
        .fails(3, "ca exists; choose another folder");
    assert_eq!(folder.read("ca/root.pem"), root);
    for (options, words) in [
        ("--algorithm ML-KEM-768", "ML-KEM-768 is not supported"),
        (
            "--validity 3y --root-validity 2y",
            "longer than --root-validity",
        ),
        ("--dns *.example.org", "--dns"),
        ("--ip 10.0.0.0/33", "--ip"),
        ("--crl-url ftp://a.example", "--crl-url"),
    ] {
        folder
            .pqtls(&format!("ca init --dir new --name New {options}"))
            .fails(2, words);
        assert!(!folder.path().join("new").exists(), "{options}");
    }
}

#[cfg(unix)]
#[test]
fn keys_of_a_ca_and_new_keys_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder
        .shell("umask 000; pqtls ca init --name A --algorithm ML-DSA-44 && pqtls ca issue a.example --new-key a.key --out a.pem")
        .ok();
    for file in ["ca/root.key", "ca/issuing.key", "a.key"] {
        let mode = fs::metadata(folder.path().join(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn what_the_policy_forbids_has_its_line_and_a_status_of_its_own() {
    let folder = folder_with_ca();
    let forbidden = folder.pqtls("ca issue www.example.com --new-key www.key --out www.pem");
    // No file is left, not even the key's.
    forbidden.fails(4, "ca/policy.toml:14: names.dns permits \".example.org\"");
    forbidden.fails(4, "\n  14 | dns = [\".example.org\"]\n");
    folder.pqtls("key new ML-KEM-768 --out kem.key").ok();
    for (command, words) in [
        ("a.example.org --key kem.key", "keys.algorithms"),
        (
            "a.example.org --new-key - --algorithm SLH-DSA-SHA2-128f",
            "keys.algorithms",
        ),
        ("10.0.0.1 --new-key a.key", "names.ip"),
        ("a.example.org --new-key a.key --validity 91d", "validity"),
        (
            "a.example.org --new-key a.key --profile any",
            "usages.profiles",
        ),
        ("*.example.org --new-key a.key", "names.wildcards"),
    ] {
        folder
            .pqtls(&format!("ca issue {command} --out a.pem"))
            .fails(4, words);
    }
    let policy = folder.read("ca/policy.toml");
    folder.write(
        "ca/policy.toml",
        policy.replace("#wildcards = false", "wildcards = true"),
    );
    folder
        .pqtls("ca issue *.example.org --new-key a.key --out a.pem")
        .ok();
    folder.write("ca/policy.toml", "[names]\ndns = 7\n");
    folder
        .pqtls("ca issue a.example.org --new-key b.key --out b.pem")
        .fails(3, "ca/policy.toml");
}

/// Whoever certifies the CA's key for a server puts it on that server.
#[test]
fn the_keys_of_the_ca_itself_are_certified_for_nothing_else() {
    let folder = folder_with_ca();
    folder.pqtls("ca rollover").ok();
    for key in [
        "root.pem",
        "root.key",
        "issuing.pem",
        "issuing.key",
        "issuing-2.key",
    ] {
        let own = format!(
            "this is the CA's own key, {}",
            key.split('.').next().unwrap()
        );
        folder
            .pqtls(&format!(
                "ca issue a.example.org --key ca/{key} --out a.pem"
            ))
            .fails(1, &own);
        if key.ends_with(".key") {
            folder
                .pqtls(&format!(
                    "cert request --key ca/{key} --name a.example.org --out {key}.csr"
                ))
                .ok();
            for dry_run in ["--out a.pem", "--dry-run"] {
                folder
                    .pqtls(&format!("ca sign {key}.csr {dry_run}"))
                    .fails(1, &own);
            }
        }
    }
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    folder
        .pqtls("ca renew a.pem --key ca/root.pem --out b.pem")
        .fails(1, "this is the CA's own key, root");
    folder.pqtls("ca renew a.pem --out b.pem").ok();
}

#[test]
fn a_certificate_that_the_ca_cuts_short_is_told_of() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --dir short --name Short --algorithm ML-DSA-44 --validity 2d")
        .ok();
    folder
        .pqtls("ca init --dir ends --name Ends --algorithm ML-DSA-44 --no-intermediate --root-validity 2d")
        .ok();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    for name in ["a.example.org", "b.example.org"] {
        folder
            .pqtls(&format!(
                "cert request --key a.key --name {name} --out {name}.csr"
            ))
            .ok();
    }
    let warns = |line: &str, which: &str, advice: &str| {
        let warned = folder.pqtls(line);
        let complaint = warned.stderr();
        assert_eq!(warned.status(), 0, "{line}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{line}: {complaint}");
        let begins = format!("pqtls: warning: {which} shortened to 20");
        assert!(complaint.starts_with(&begins), "{line}: {complaint}");
        assert!(complaint.contains(advice), "{line}: {complaint}");
    };
    let rollover = "(\"pqtls ca rollover --dir short\")";
    for line in [
        "ca issue a.example.org --key a.key --out 1.pem",
        "ca issue a.example.org --key a.key --out 2.pem --json",
        "ca renew 1.pem --out 3.pem",
        "ca sign a.example.org.csr --dry-run",
        "ca sign a.example.org.csr --out 4.pem",
    ] {
        warns(
            &format!("{line} --dir short"),
            "the certificate is",
            rollover,
        );
    }
    let both = "ca sign a.example.org.csr b.example.org.csr --out 5.pem --dir short --json";
    warns(both, "2 certificates are", rollover);
    let of_root = "ca issue a.example.org --key a.key --out 6.pem --dir ends";
    warns(
        of_root,
        "the certificate is",
        "the CA's root ends then; make a new CA",
    );
    // What was asked for, and what fits.
    folder
        .pqtls("ca issue a.example.org --key a.key --out 7.pem --dir short --validity 1d")
        .ok();
    folder
        .pqtls("ca issue a.example.org --key a.key --out 8.pem")
        .ok();
}

#[test]
fn a_name_that_no_policy_could_permit_is_a_wrong_name() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    for (name, words) in [
        ("www2..example.org", "two of its dots follow each other"),
        (
            "www.example.org.",
            "leave the final dot out, and write www.example.org",
        ),
        ("a.example.org,b.example.org", "give each name by itself"),
        ("a_.example.org-", "labels of letters"),
        ("a@b@example.org", "is not an e-mail address"),
        ("https://a@b@example.org/", "URI"),
        ("*.org", "has a single label after the \"*\""),
    ] {
        folder
            .pqtls(&format!("ca issue {name} --key a.key --out a.pem"))
            .fails(1, words);
        folder
            .pqtls(&format!(
                "cert self-sign --key a.key --name {name} --out a.pem"
            ))
            .fails(1, words);
    }
    // A policy could permit this one, which is not what people mean.
    let url = folder.pqtls("ca issue https://www.example.org:8443/x --key a.key --out a.pem");
    url.fails(4, "ask for www.example.org\n");
    assert!(!url.stderr().contains("permit it"), "{}", url.stderr());
    folder
        .pqtls("ca issue spiffe://example.com/a --key a.key --out a.pem")
        .fails(4, "permit it by");
}

#[test]
fn a_name_given_twice_is_in_a_certificate_once() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org A.example.org 192.0.2.1 b.example.org 192.0.2.1 --new-key a.key --out a.pem")
        .ok();
    let certificate = Certificate::from_pem(
        &folder
            .read("a.pem")
            .split_inclusive("-----\n")
            .take(2)
            .collect::<String>(),
    );
    let certificate = certificate.unwrap();
    assert_eq!(certificate.dns_names(), ["a.example.org", "b.example.org"]);
    assert_eq!(certificate.ip_addresses().len(), 1);
}

#[test]
fn one_key_gets_many_certificates_and_each_its_own_number() {
    let folder = folder_with_ca();
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    for (key, file) in [("a.key", "1.pem"), ("a.pub", "2.pem"), ("1.pem", "3.pem")] {
        folder
            .pqtls(&format!("ca issue a.example.org --key {key} --out {file}"))
            .ok();
    }
    let again = folder.pqtls("ca renew 1.pem --out 4.pem");
    again.ok();
    folder
        .pqtls("ca renew 1.pem --new-key b.key --out 5.pem --leaf-only")
        .ok();
    let mut numbers: Vec<String> = ["1.pem", "2.pem", "3.pem", "4.pem", "5.pem"]
        .map(|file| serial_number(&folder, file))
        .into();
    folder.pqtls("key check b.key --cert 5.pem").ok();
    folder.pqtls("key check a.key --cert 4.pem").ok();
    let listed = folder.pqtls("ca list --name a.example.org");
    for number in &numbers {
        assert!(listed.ok().contains(number.as_str()));
    }
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), 5);
}

#[test]
fn requests_are_signed_and_those_that_are_refused_keep_no_other_from_it() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    for (name, file) in [
        ("a.example.org", "a.csr"),
        ("b.example.com", "b.csr"),
        ("c.example.org", "c.csr"),
        ("d.example.org", "d.csr"),
    ] {
        folder
            .pqtls(&format!(
                "cert request --key a.key --name {name} --out {file} --der"
            ))
            .ok();
    }
    folder
        .pqtls("ca sign a.csr --profile client --out a.pem")
        .ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --purpose client --name a.example.org")
        .ok();
    folder
        .pqtls("ca sign b.csr --out b.pem")
        .fails(4, "names.dns permits");
    let mut forged = folder.bytes("c.csr");
    let last = forged.last_mut().unwrap();
    *last ^= 1;
    folder.write("c.csr", forged);
    folder
        .pqtls("ca sign c.csr --out c.pem")
        .fails(1, "c.csr: no proof of possession");
    folder
        .pqtls("ca sign a.pem --out c.pem")
        .fails(3, "has no certificate request");

    fs::create_dir(folder.path().join("out")).unwrap();
    let signed = folder.pqtls("ca sign a.csr b.csr c.csr d.csr none.csr --out-dir out");
    signed.fails(4, "3 of 5 requests were refused, and the others signed:\n");
    for words in [
        "\nb.csr: the policy forbids",
        "\nc.csr: no proof",
        "can't read none.csr",
    ] {
        signed.fails(4, words);
    }
    assert_eq!(signed.stdout().lines().count(), 2, "{}", signed.stdout());
    for name in ["a", "d"] {
        folder
            .pqtls(&format!(
                "cert verify out/{name}.pem --roots ca/root.pem --name {name}.example.org"
            ))
            .ok();
    }
    assert!(!folder.path().join("out/b.pem").exists());
    folder
        .pqtls("ca sign a.csr d.csr --out-dir out")
        .fails(3, "out/a.pem exists");
    folder
        .pqtls("ca sign a.csr out/a.csr --out-dir out")
        .fails(2, "would both go to out/a.pem");
    folder
        .pqtls("ca sign a.csr --out-dir nowhere")
        .fails(3, "make its folder first");
    folder
        .pqtls_reading(folder.bytes("d.csr"), "ca sign - --out d.pem")
        .ok();
}

#[test]
fn more_requests_than_are_signed_at_once_each_get_a_certificate() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert request --key a.key --name a.example.org --out a.csr")
        .ok();
    fs::create_dir(folder.path().join("out")).unwrap();
    let request = folder.bytes("a.csr");
    let names: Vec<String> = (0..600).map(|number| format!("r{number}.csr")).collect();
    for name in &names {
        folder.write(name, &request);
    }
    folder
        .pqtls(&format!("ca sign {} --out-dir out", names.join(" ")))
        .ok();
    assert_eq!(
        fs::read_dir(folder.path().join("out")).unwrap().count(),
        600
    );
    let listed = folder.pqtls("ca list --name a.example.org");
    assert_eq!(listed.ok().lines().count(), 601);
    let some = folder.pqtls("ca list --name a.example.org --limit 7");
    assert_eq!(some.ok().lines().count(), 8);
}

/// Whoever wrote the file chose how many there are.
#[test]
fn reasons_of_a_thousand_refusals_are_kept() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let foreign = folder.pqtls("cert request --key a.key --name c.example.com");
    let empty = "-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n";
    let [fits, exceeds] =
        [999, 1999].map(|count| format!("{}{}", empty.repeat(count), foreign.ok()));
    folder.write("many.csr", fits);
    let all = folder.pqtls("ca sign many.csr --out all.pem");
    all.fails(4, "1000 of 1000 requests were refused");
    all.fails(4, "\nrequest 1000 of many.csr: the policy forbids");
    // The status is that of all of them.
    folder.write("many.csr", exceeds);
    let some = folder.pqtls("ca sign many.csr --out all.pem");
    some.fails(4, "2000 of 2000 requests were refused");
    some.fails(4, "\nrequest 1000 of many.csr");
    some.fails(4, "\nand 1000 others, whose reasons are not kept");
    assert!(!some.stderr().contains("request 1001 of"));
}

#[test]
fn a_file_of_many_requests_becomes_one_of_certificates() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let request = |name: &str| {
        let asked = folder.pqtls(&format!("cert request --key a.key --name {name}"));
        asked.ok().to_owned()
    };
    let [a, b, foreign] = ["a.example.org", "b.example.org", "c.example.com"].map(request);
    let damaged = b.replacen("MII", "M*I", 1);
    // more than the ledger records at once, between other text
    let many = format!("{a}some text\n{foreign}{damaged}{b}") + &a.repeat(600);
    folder.write("many.csr", &many);
    let before = many.find(&damaged).unwrap();
    let line_of_damaged = many[..before].lines().count() + 1;
    fs::create_dir(folder.path().join("out")).unwrap();

    let signed = folder.pqtls("ca sign many.csr --out out/all.pem");
    signed.fails(
        4,
        "2 of 604 requests were refused, and the others signed:\n",
    );
    signed.fails(4, "\nrequest 2 of many.csr: the policy forbids");
    signed.fails(
        4,
        &format!("\nrequest 3 of many.csr: the PEM block \"CERTIFICATE REQUEST\" in line {line_of_damaged} has "),
    );
    let names = |file: &str| {
        let blocks = folder.read(file);
        let blocks = blocks.split_inclusive("-----END CERTIFICATE-----\n");
        let name_of = |block: &str| {
            let shown = folder.pqtls_reading(block, "cert show - --json");
            let report: serde_json::Value = serde_json::from_str(shown.ok()).unwrap();
            report["certificates"][0]["names"][0].clone()
        };
        let blocks: Vec<&str> = blocks.collect();
        let [first, second, .., last, ca] = &blocks[..] else {
            panic!("{} certificates", blocks.len());
        };
        let names = [first, second, last, ca].map(|block| name_of(block));
        (blocks.len(), names)
    };
    let (count, [first, second, last, ca]) = names("out/all.pem");
    assert_eq!(count, 602 + 1);
    assert_eq!(
        (first, second),
        ("a.example.org".into(), "b.example.org".into())
    );
    assert_eq!(
        (last, ca),
        ("a.example.org".into(), serde_json::Value::Null)
    );
    let listed = folder.pqtls("ca list --name a.example.org");
    assert_eq!(listed.ok().lines().count(), 602);

    folder
        .pqtls("ca sign many.csr --out out/all.pem")
        .fails(3, "out/all.pem exists");
    let listed = folder.pqtls("ca list --name a.example.org");
    assert_eq!(listed.ok().lines().count(), 602);

    // several files into one, and each file of several into its own
    folder.write("two.csr", a.clone() + &b);
    folder.write("one.csr", &b);
    let report = folder.pqtls("ca sign two.csr one.csr --out three.pem --leaf-only --json");
    let report: serde_json::Value = serde_json::from_str(report.ok()).unwrap();
    let numbers = report["requests"].as_array().unwrap().iter();
    let numbers: Vec<_> = numbers.map(|one| one["number"].as_u64()).collect();
    assert_eq!(numbers, [Some(1), Some(2), None]);
    assert_eq!(folder.read("three.pem").matches("BEGIN").count(), 3);
    folder.pqtls("ca sign two.csr one.csr --out-dir out").ok();
    assert_eq!(folder.read("out/two.pem").matches("BEGIN").count(), 3);
    assert_eq!(folder.read("out/one.pem").matches("BEGIN").count(), 2);

    let on_output = folder.pqtls_reading(a + &b, "ca sign -");
    assert_eq!(on_output.ok().matches("BEGIN").count(), 3);

    // nothing for a file that has no request, or that ends within one
    folder.write("none.csr", folder.read("out/all.pem"));
    folder
        .pqtls("ca sign none.csr --out none.pem")
        .fails(3, "has no certificate request, but a certificate");
    folder.write("torn.csr", &b[..b.len() - 10]);
    folder
        .pqtls("ca sign torn.csr --out none.pem")
        .fails(3, "END line without all of its dashes");
    assert!(!folder.path().join("none.pem").exists());
}

/// A dry run says what the policy and the ledger make of requests, and leaves both as they are.
#[test]
fn a_dry_run_issues_nothing() {
    let folder = folder_with_ca();
    for name in ["a", "b"] {
        folder
            .pqtls(&format!("key new ML-DSA-44 --out {name}.key"))
            .ok();
    }
    for (name, key) in [
        ("a.example.org", "a"),
        ("a.example.com", "a"),
        ("b.example.org", "b"),
    ] {
        folder
            .pqtls(&format!(
                "cert request --key {key}.key --name {name} --out {name}.csr"
            ))
            .ok();
    }
    folder
        .pqtls("ca issue b.example.org --key b.key --out b.pem")
        .ok();
    folder
        .pqtls("ca revoke b.pem --reason keyCompromise --all-with-key")
        .ok();
    let journal = folder.bytes("ca/ledger/journal");
    let shown = folder.pqtls("ca sign a.example.org.csr --profile client --validity 3d --dry-run");
    for words in [
        "a.example.org.csr: would be issued\n  subject  ",
        "\n  names    a.example.org\n  valid    from 2",
        "\n  profile  client\n  key      ML-DSA-44\n",
    ] {
        assert!(shown.ok().contains(words), "{}", shown.ok());
    }
    folder
        .pqtls("ca sign a.example.com.csr --dry-run")
        .fails(4, "a.example.com");
    folder
        .pqtls("ca sign b.example.org.csr --dry-run")
        .fails(1, "revoked because others may know the key");
    let both = folder.pqtls("ca sign a.example.org.csr a.example.com.csr --dry-run --json");
    assert_eq!(both.status(), 4);
    let report: serde_json::Value = serde_json::from_str(both.stdout()).unwrap();
    assert_eq!(report["dry_run"], true);
    assert_eq!(report["requests"][0]["names"][0], "a.example.org");
    assert!(report["requests"][0]["serial_number"].is_null());
    assert!(report["requests"][1]["reason"].is_string());
    both.fails(
        4,
        "1 of 2 requests would be refused, and the others signed:\n",
    );
    folder
        .pqtls("ca sign a.example.org.csr --dry-run --out x")
        .fails(2, "cannot be used with");
    assert_eq!(folder.bytes("ca/ledger/journal"), journal);
}

#[test]
fn certificates_are_found_by_what_they_are() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    for (name, validity) in [
        ("a.example.org", "20d"),
        ("b.a.example.org", "40d"),
        ("example.org", "60d"),
    ] {
        folder
            .pqtls(&format!(
                "ca issue {name} --key a.key --validity {validity} --out {name}.pem"
            ))
            .ok();
    }
    folder.pqtls("ca revoke example.org.pem").ok();
    let names = |filter: &str| {
        let listed = folder.pqtls(&format!("ca list {filter}"));
        let lines = listed.ok().lines().skip(1);
        let names = lines.map(|line| line.rsplit(' ').next().unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    let all = "a.example.org b.a.example.org example.org";
    assert_eq!(names("--domain example.org"), all);
    assert_eq!(
        names("--domain A.example.org"),
        "a.example.org b.a.example.org"
    );
    assert_eq!(names("--name a.example.org"), "a.example.org");
    assert_eq!(names("--revoked"), "example.org");
    assert_eq!(
        names("--valid --domain example.org"),
        "a.example.org b.a.example.org"
    );
    assert_eq!(names("--expires-within 10d"), "");
    let expiring = |within: &str| {
        let listed = folder.pqtls(&format!("ca list --expires-within {within}"));
        assert_eq!(listed.status(), 5);
        let lines = listed.stdout().lines().skip(1);
        let names = lines.map(|line| line.rsplit(' ').next().unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(expiring("30d"), "a.example.org");
    assert_eq!(expiring("90d"), "a.example.org b.a.example.org");
    assert_eq!(expiring("90d --limit 1"), "a.example.org");
    // A certificate for other names or another profile replaces none, and a newer one for the same does.
    for (options, left) in [
        (
            "b.example.org a.example.org",
            "a.example.org b.a.example.org",
        ),
        (
            "a.example.org --profile client",
            "a.example.org b.a.example.org",
        ),
        ("a.example.org", "b.a.example.org"),
    ] {
        let name = format!("new-{}.pem", options.len());
        folder
            .pqtls(&format!(
                "ca issue {options} --key a.key --validity 90d --out {name}"
            ))
            .ok();
        assert_eq!(expiring("50d"), left);
    }
    // In a terminal, no name is broken.
    let line = "script -qec 'stty cols 80; pqtls ca list --domain example.org' /dev/null";
    let wide = folder.shell(line);
    let lines: Vec<&str> = wide.stdout().lines().map(str::trim_end).collect();
    assert!(lines.iter().all(|line| line.len() <= 80), "{lines:?}");
    assert!(lines.contains(&"  b.a.example.org"), "{lines:?}");
    assert!(
        lines.contains(&"  a.example.org, b.example.org")
            || lines.contains(&"  b.example.org, a.example.org"),
        "{lines:?}"
    );
    assert_eq!(names("--subject b.A.EXAMPLE"), "b.a.example.org");
    folder
        .pqtls("ca list --valid --revoked")
        .fails(2, "cannot be used with");
    folder
        .pqtls("ca list --expires-within soon")
        .fails(2, "is not a duration");
}

#[test]
fn a_hold_can_be_taken_back_and_nothing_else() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    let held = folder.pqtls("ca revoke a.pem --reason certificateHold");
    assert!(held.ok().contains("on hold since"), "{}", held.ok());
    folder.pqtls("ca crl --out ca.crl").ok();
    folder.pqtls("ca crl --root --out root.crl").ok();
    let verified =
        folder.pqtls("cert verify a.pem --roots ca/root.pem --crl ca.crl --crl root.crl");
    verified.fails(1, "is on hold since 2");
    assert!(!verified.stderr().contains("was revoked"));
    let number = serial_number(&folder, "a.pem");
    folder.pqtls(&format!("ca reinstate {number}")).ok();
    folder
        .pqtls("ca reinstate a.pem")
        .fails(1, "is not on hold");
    folder
        .pqtls(&format!("ca revoke {number} --reason superseded"))
        .ok();
    folder
        .pqtls("ca reinstate a.pem")
        .fails(1, "is not on hold");
    folder
        .pqtls("ca renew a.pem")
        .fails(1, "was revoked (superseded)");
    let again = folder.pqtls("ca revoke a.pem --reason keyCompromise");
    // A compromise takes the place of another reason, and nothing takes the place of a compromise.
    assert!(again.ok().contains("(keyCompromise)"), "{}", again.ok());
    let earlier = "It was revoked before (superseded), and has this reason now.";
    assert!(again.ok().contains(earlier), "{}", again.ok());
    let again = folder.pqtls("ca revoke a.pem --reason superseded");
    assert!(again.ok().contains("(keyCompromise)"), "{}", again.ok());
    assert!(
        again.ok().contains("which stays as it was"),
        "{}",
        again.ok()
    );
    let renewed = folder.pqtls("ca renew a.pem --new-key a2.key --out a2.pem");
    renewed.fails(1, "was revoked (keyCompromise)");
    folder
        .pqtls("ca revoke a.pem --reason because")
        .fails(2, "is not a reason to revoke");
}

#[test]
fn what_is_no_certificate_of_the_ca_is_told() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --dir other --name Other --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --dir other")
        .ok();
    folder
        .pqtls("ca issue b.example.org --new-key b.key --out b.pem")
        .ok();
    for command in ["ca revoke a.pem", "ca show a.pem", "ca renew a.pem"] {
        folder.pqtls(command).fails(
            1,
            "a.pem is not a certificate of this CA: its ledger has none",
        );
    }
    // All or none.
    folder
        .pqtls("ca revoke b.pem 0123")
        .fails(1, "no certificate with serial number 0123");
    let shown = folder.pqtls("ca show b.pem");
    assert!(shown.ok().contains("revoked       no"));
    folder
        .pqtls("ca revoke nothing")
        .fails(2, "neither a serial number in hexadecimal nor a file");
    folder
        .pqtls("ca revoke b.key")
        .fails(3, "b.key has no certificate");
    folder
        .pqtls("ca list --dir nowhere")
        .fails(3, "nowhere is not a CA's folder");
    folder
        .shell("PQTLS_CA=nowhere pqtls ca list")
        .fails(3, "nowhere is not a CA's folder");
    folder.shell("PQTLS_CA=other pqtls ca show a.pem").ok();
}

#[test]
fn the_issuing_certificate_is_revoked_on_the_roots_list() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    let revoked = folder.pqtls("ca revoke ca/issuing.pem --reason cACompromise");
    assert!(revoked.ok().contains("pqtls ca crl --root --out FILE"));
    assert!(!revoked.ok().contains("pqtls ca crl --out FILE"));
    folder.pqtls("ca crl --root --out root.crl").ok();
    folder.pqtls("ca crl --out ca.crl").ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --crl root.crl --crl ca.crl")
        .fails(1, "was revoked at ");
    // The CA does not go on, and says so.
    let request = "cert request --key a.key --name b.example.org --out b.csr";
    folder.pqtls(request).ok();
    for command in [
        "ca issue b.example.org --key a.key --out b.pem",
        "ca issue b.example.org --new-key b.key --out b.pem",
        "ca renew a.pem --out b.pem",
        "ca sign b.csr --out b.pem",
        "ca ocsp --for a.pem --out b.ocsp",
    ] {
        let text = "is revoked, and nobody should accept what it issues: have a new key issue (\"pqtls ca rollover\")";
        folder.pqtls(command).fails(1, text);
    }
    for file in ["b.pem", "b.key", "b.ocsp"] {
        assert!(!folder.path().join(file).exists(), "{file}");
    }
    folder.pqtls("ca crl --out again.crl").ok();
    folder
        .pqtls("ca ocsp --root --for ca/issuing.pem --out root.ocsp")
        .ok();
    let shown = folder.pqtls("ca show");
    let lines = shown.ok().lines();
    let revoked: Vec<_> = lines
        .filter(|line| line.starts_with("  revoked "))
        .collect();
    assert_eq!(revoked.len(), 1, "{}", shown.ok());
    assert!(
        revoked[0].ends_with("cACompromise; it issues nothing"),
        "{}",
        revoked[0]
    );
}

/// What `ca sign` wrote for several requests is revoked as a whole, without the CA that ends the file.
#[test]
fn all_certificates_of_a_file_are_revoked() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let mut requests = String::new();
    for name in ["a", "b", "c"] {
        let request = format!("cert request --key a.key --name {name}.example.org");
        requests += folder.pqtls(&request).ok();
    }
    folder.write("all.csr", requests);
    folder.pqtls("ca sign all.csr --out all.pem").ok();
    assert_eq!(folder.read("all.pem").matches("BEGIN").count(), 4);
    for command in ["renew", "show", "reinstate", "ocsp --out a.ocsp --for"] {
        folder.pqtls(&format!("ca {command} all.pem")).fails(
            2,
            "all.pem has several certificates, and this command takes one",
        );
    }
    for command in [
        "cert ocsp-request all.pem --out a.request",
        "key check a.key --cert all.pem",
    ] {
        folder
            .pqtls(command)
            .fails(3, "all.pem has the certificates of 3 end entities");
    }
    // All or none
    folder
        .pqtls("ca init --dir other --name Other --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca issue d.example.org --new-key d.key --out d.pem --dir other")
        .ok();
    folder.write("mixed.pem", folder.read("all.pem") + &folder.read("d.pem"));
    folder.pqtls("ca revoke mixed.pem").fails(
        1,
        "certificate 5 of mixed.pem is not a certificate of this CA",
    );
    folder.pqtls("ca crl --out none.crl").ok();
    let entries = |file: &str| {
        let list = CertificateRevocationList::from_pem(&folder.read(file)).unwrap();
        list.entries().len()
    };
    assert_eq!(entries("none.crl"), 0);

    let revoked = folder.pqtls("ca revoke all.pem --reason superseded");
    for name in ["a", "b", "c"] {
        let said = format!("{name}.example.org: revoked since");
        assert!(revoked.ok().contains(&said), "{}", revoked.ok());
    }
    folder.pqtls("ca crl --out all.crl").ok();
    assert_eq!(entries("all.crl"), 3);
    folder.pqtls("ca crl --root --out root.crl").ok();
    assert_eq!(entries("root.crl"), 0);
}

/// An entry of a certificate that expired long ago, for the key of `a.pem`.
fn expired(folder: &Folder) -> pq_ca::ledger::NewEntry<'static> {
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    let number = serial_number(folder, "a.pem").parse().unwrap();
    let issued = ledger.entry(&number).unwrap().unwrap().issued;
    let days = |days: u64| {
        let now = pq_x509::pki_types::UnixTime::now().as_secs();
        let time = core::time::Duration::from_secs(now - days * 24 * 60 * 60);
        pq_x509::pki_types::UnixTime::since_unix_epoch(time)
    };
    pq_ca::ledger::NewEntry {
        issued: pq_ca::ledger::Issued {
            serial_number: "0123".parse().unwrap(),
            names: vec!["old.example.org".into()],
            not_before: days(100),
            not_after: days(10),
            at: days(100),
            ..issued
        },
        certificate: vec![1].into(),
    }
}

/// Whoever believes a clock that is ahead takes valid certificates for expired ones.
#[test]
fn a_compromise_concerns_certificates_that_seem_to_have_expired() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44")
        .ok();
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    ledger.record(&[expired(&folder)]).unwrap();
    drop(ledger);
    let revoked = folder.pqtls("ca revoke a.pem --reason keyCompromise");
    assert_eq!(revoked.status(), 1);
    let command = "pqtls ca revoke 0123 --reason keyCompromise";
    assert!(revoked.stdout().contains(command), "{}", revoked.stdout());
    let all = folder.pqtls("ca revoke a.pem --reason keyCompromise --all-with-key");
    let said = "old.example.org: revoked since";
    assert!(all.ok().contains(said), "{}", all.ok());
    folder.pqtls("ca revoke a.pem --reason keyCompromise").ok();
}

/// The command has nothing behind it, since not every shell that it is pasted into has comments, and nothing in the
/// name is run.
#[test]
fn names_of_other_certificates_of_a_key_are_not_in_the_commands() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44")
        .ok();
    let mut other = expired(&folder);
    other.issued.names = vec!["$(touch x); 'y".into()];
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    ledger.record(&[other]).unwrap();
    drop(ledger);
    let revoked = folder.pqtls("ca revoke a.pem --reason keyCompromise");
    let said = revoked.stdout();
    let lines = "\n  # '$(touch x); '\\''y'\n  pqtls ca revoke 0123 --reason keyCompromise\n";
    assert!(said.ends_with(lines), "{said}");
}

/// A cron job's list, which a slow key signs, must not replace the one that an operator made meanwhile.
#[test]
fn a_list_replaces_no_later_one() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --no-intermediate --algorithm SLH-DSA-SHA2-256s")
        .ok();
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    // Again if this process was stopped for as long as the other one signed.
    let refused = (1..60).step_by(2).find_map(|number| {
        folder.write("ca.crl", "the operator's");
        let slow = Command::new(env!("CARGO_BIN_EXE_pqtls"))
            .args(["ca", "crl", "--force", "--out", "ca.crl"])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while ledger.check_list("root", number).is_err() {
            std::thread::yield_now();
        }
        let now = pq_x509::pki_types::UnixTime::now();
        let later = ledger.next_list("root", now, &mut |_, _| {}).unwrap();
        assert_eq!(later, number + 1);
        let output = slow.wait_with_output().unwrap();
        (!output.status.success()).then_some((output, later))
    });
    let (output, later) = refused.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let words = format!("list {later} was begun since");
    assert!(said.contains(&words), "{said}");
    assert_eq!(folder.read("ca.crl"), "the operator's");
    folder.pqtls("ca crl --force --out ca.crl").ok();
    let files = fs::read_dir(folder.path()).unwrap();
    assert_eq!(files.count(), 2);
}

/// What nobody can have got leaves nothing out, and what can be seen to fail takes no number.
/// After an older backup, the numbers of lists begin again where it ended, and clients have later ones.
#[test]
fn a_list_gets_a_number_above_those_that_an_older_ledger_lacks() {
    let folder = folder_with_ca();
    folder.shell("cp -R ca older").ok();
    for _ in 0..3 {
        folder.pqtls("ca crl --out ca.crl --force").ok();
    }
    let made = folder.pqtls("ca crl --number 4 --out new.crl --dir older --json");
    let said: serde_json::Value = serde_json::from_str(made.ok()).unwrap();
    assert_eq!(said["number"], "04");
    let number = |file: &str| {
        let list = CertificateRevocationList::from_pem(&folder.read(file)).unwrap();
        list.number().map(<[u8]>::to_vec)
    };
    folder
        .pqtls("ca crl --number 0x4 --out none.crl --dir older")
        .fails(1, "number 4 is not above 4");
    for (text, why) in [
        ("0", "1 to "),
        ("x", "a number"),
        ("-1", "unexpected argument"),
        ("0x8000000000000000", "1 to "),
        ("99999999999999999999", "1 to "),
    ] {
        folder
            .pqtls(&format!("ca crl --number {text} --out none.crl"))
            .fails(2, why);
    }
    folder.pqtls("ca crl --out next.crl --dir older").ok();
    assert_eq!(number("next.crl"), Some(vec![5]));
    folder
        .pqtls("ca crl --number 0x1fF --out far.crl --dir older")
        .ok();
    assert_eq!(number("far.crl"), Some(vec![1, 0xff]));
    let list = folder.pqtls("ca crl --root --number 9 --out root.crl --dir older");
    assert!(list.ok().contains(", number 9 (0x09)"), "{}", list.ok());
}

#[test]
fn a_list_that_is_not_written_counts_for_nothing() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44")
        .ok();
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    ledger.record(&[expired(&folder)]).unwrap();
    drop(ledger);
    folder.pqtls("ca revoke 0123").ok();
    folder
        .pqtls("ca crl --validity 9000y --out a.crl")
        .fails(1, "");
    let list = || {
        folder.pqtls("ca crl --force --out a.crl").ok();
        let list = CertificateRevocationList::from_pem(&folder.read("a.crl")).unwrap();
        (list.number().unwrap().to_vec(), list.entries().len())
    };
    if cfg!(target_os = "linux") {
        for _ in 0..3 {
            folder.pqtls("ca crl --force --out /dev/full").fails(3, "");
        }
        assert_eq!(list(), (vec![4], 1));
    } else {
        assert_eq!(list(), (vec![1], 1));
    }
    assert_eq!(list().1, 0);
}

/// As with `ca revoke`, the others have to be revoked, too.
#[test]
fn what_is_adopted_as_compromised_concerns_others_for_its_key() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca issue b.example.org --new-key b.key --out b.pem --algorithm ML-DSA-44")
        .ok();
    folder.shell("cp -R ca older").ok();
    folder.pqtls("ca renew a.pem --out late.pem").ok();
    folder.pqtls("ca renew b.pem --out late-b.pem").ok();
    for dir in ["older2", "older3"] {
        folder.shell(&format!("cp -R older {dir}")).ok();
    }
    let [a, b] = ["a.pem", "b.pem"].map(|file| serial_number(&folder, file));
    // Other reasons say nothing of the key.
    folder
        .pqtls("ca adopt late-b.pem --revoke superseded --dir older")
        .ok();
    let adopted = folder.pqtls("ca adopt late.pem --revoke keyCompromise --dir older");
    assert_eq!(adopted.status(), 1);
    let command = format!("\n  pqtls ca revoke --dir older {a} --reason keyCompromise\n");
    let command = format!("{command}What to do next");
    assert!(adopted.stdout().contains(&command), "{}", adopted.stdout());
    let adopted = folder.pqtls("ca adopt late.pem --revoke keyCompromise --dir older2 --json");
    assert_eq!(adopted.status(), 1);
    let said: serde_json::Value = serde_json::from_str(adopted.stdout()).unwrap();
    let left = said["valid_with_same_key"].as_array().unwrap();
    assert!(
        left.len() == 1 && left[0]["serial_number"] == a.as_str(),
        "{said}"
    );
    let all = "ca adopt late.pem late.pem --revoke keyCompromise --all-with-key --dir older3";
    let adopted = folder.pqtls(all);
    assert!(adopted.ok().contains(&a), "{}", adopted.ok());
    let shown = folder.pqtls("ca show a.pem --dir older3");
    assert!(shown.ok().contains(": keyCompromise"), "{}", shown.ok());
    let shown = folder.pqtls(&format!("ca show {b} --dir older3"));
    assert!(shown.ok().contains("revoked       no"), "{}", shown.ok());
}

/// Renewal keeps the key, so a compromise concerns several certificates.
#[test]
fn other_certificates_of_a_compromised_key_are_named() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44")
        .ok();
    for number in 2..=4 {
        let renew = format!("ca renew a.pem --out a{number}.pem");
        folder.pqtls(&renew).ok();
    }
    folder
        .pqtls("ca issue b.example.org --new-key b.key --out b.pem --algorithm ML-DSA-44")
        .ok();
    let [a2, a3, a4, b] =
        ["a2.pem", "a3.pem", "a4.pem", "b.pem"].map(|file| serial_number(&folder, file));
    folder
        .pqtls("ca revoke a3.pem --reason certificateHold")
        .ok();
    folder.pqtls("ca revoke a4.pem --reason superseded").ok();
    // Other reasons say nothing of the key.
    folder
        .pqtls("ca revoke a4.pem --all-with-key")
        .fails(2, "name a compromise with --reason");

    let revoked = folder.pqtls("ca revoke a.pem --reason keyCompromise");
    assert_eq!(revoked.status(), 1);
    let said = revoked.stdout();
    for number in [&a2, &a3] {
        let command = format!("pqtls ca revoke {number} --reason keyCompromise");
        assert!(said.contains(&command), "{said}");
    }
    for number in [&a4, &b] {
        assert!(!said.contains(number.as_str()), "{said}");
    }
    // as often as it is asked, also by a script
    let again = folder.pqtls("ca revoke a.pem --reason keyCompromise --json");
    assert_eq!(again.status(), 1);
    let said: serde_json::Value = serde_json::from_str(again.stdout()).unwrap();
    let left = said["valid_with_same_key"].as_array().unwrap();
    let numbers: Vec<_> = left.iter().map(|one| &one["serial_number"]).collect();
    assert!(
        numbers.len() == 2 && numbers.contains(&&a2.as_str().into()),
        "{said}"
    );

    let all = folder.pqtls("ca revoke a.pem --reason keyCompromise --all-with-key");
    assert!(
        all.ok().contains(&a2) && all.ok().contains(&a3),
        "{}",
        all.ok()
    );
    assert!(!all.ok().contains(&b), "{}", all.ok());
    folder.pqtls("ca revoke a.pem --reason keyCompromise").ok();
    let shown = folder.pqtls("ca show b.pem");
    assert!(shown.ok().contains("revoked       no"));
}

/// One request for a key that others may know keeps no other from being signed.
#[test]
fn of_many_requests_that_of_a_compromised_key_is_refused_alone() {
    let folder = folder_with_ca();
    let mut requests = String::new();
    for name in ["a", "lost", "b"] {
        let new = format!("key new ML-DSA-44 --out {name}.key");
        folder.pqtls(&new).ok();
        let request = format!("cert request --key {name}.key --name {name}.example.org");
        requests += folder.pqtls(&request).ok();
    }
    folder
        .pqtls("ca issue lost.example.org --key lost.key --out lost.pem")
        .ok();
    folder
        .pqtls("ca revoke lost.pem --reason keyCompromise")
        .ok();
    folder.write("all.csr", requests);
    let signed = folder.pqtls("ca sign all.csr --out all.pem");
    assert_eq!(signed.status(), 1, "{}", signed.stderr());
    for part in [
        "1 of 3 requests were refused",
        "request 2 of all.csr: the key was in the cert",
    ] {
        assert!(signed.stderr().contains(part), "{}", signed.stderr());
    }
    let names = |pem: &str| pem.matches("BEGIN CERTIFICATE").count();
    // and the issuing CA
    assert_eq!(names(&folder.read("all.pem")), 3);
    let listed = folder.pqtls("ca list --name b.example.org");
    assert_eq!(listed.ok().lines().count(), 2);
}

/// What the ledger recorded before an error is told, and written.
#[cfg(unix)]
/// The names of a first try on one machine, and keys for programs that know no others.
#[test]
fn what_init_was_asked_for_is_permitted() {
    let folder = Folder::new();
    folder
        .pqtls(
            "ca init --name Local --algorithm ECDSA-P256 --dns localhost --ip 127.0.0.1 --ip ::1",
        )
        .ok();
    for algorithm in ["ML-DSA-44", "ECDSA-P256"] {
        folder
            .pqtls(&format!(
                "ca issue localhost 127.0.0.1 ::1 --new-key {algorithm}.key --algorithm {algorithm} --out {algorithm}.pem"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cert verify {algorithm}.pem --roots ca/root.pem --name localhost"
            ))
            .ok();
    }
    let issue = "ca issue --new-key x.key --out x.pem";
    folder
        .pqtls(&format!("{issue} intranet"))
        .fails(4, "names.dns");
    folder
        .pqtls(&format!("{issue} localhost --algorithm Ed25519"))
        .fails(4, "keys.algorithms");
    // Without such names, and with ML-DSA, nothing more is permitted than before.
    folder.pqtls("ca init --dir other --name Other").ok();
    let issue = "ca issue --dir other --new-key x.key --out x.pem";
    folder
        .pqtls(&format!("{issue} localhost"))
        .fails(4, "single-label = true below [names]");
    folder
        .pqtls(&format!("{issue} a.example --algorithm ECDSA-P256"))
        .fails(4, "keys.algorithms");
    folder
        .pqtls("ca init --dir x --name X --dns 127.0.0.1")
        .fails(2, "--ip takes addresses and networks");
}

#[test]
fn what_was_issued_before_an_error_is_told() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let request = folder.pqtls("cert request --key a.key --name a.example.org");
    folder.write("many.csr", request.ok().repeat(2000));
    // The first certificates that are recorded at once fit, and not all of them.
    let stopped =
        folder.shell("trap '' XFSZ; ulimit -f 8192; pqtls ca sign many.csr --out all.pem");
    assert_eq!(stopped.status(), 3, "{}", stopped.stderr());
    for part in [
        "ledger keeps",
        "serial number ",
        " more; ",
        "pqtls ca show NUMBER --pem",
    ] {
        assert!(stopped.stderr().contains(part), "{}", stopped.stderr());
    }
    let issued = folder.pqtls("ca list --name a.example.org");
    assert!(issued.ok().lines().count() > 512, "{}", issued.ok());
}

/// A clock that makes no list answers no OCSP request. It revokes, and says what it thinks of the time.
#[test]
fn a_clock_that_jumped_revokes_and_says_so() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44")
        .ok();
    let now = pq_x509::pki_types::UnixTime::now().as_secs();
    let in_days = |days: u64| {
        let later = core::time::Duration::from_secs(now + days * 24 * 60 * 60);
        pq_x509::pki_types::UnixTime::since_unix_epoch(later)
    };
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    let ahead = pq_ca::ledger::Revocation {
        at: in_days(100),
        reason: pq_x509::revocation::CrlReason::Superseded,
        by: "somebody".into(),
    };
    let number = serial_number(&folder, "a.pem").parse().unwrap();
    ledger.revoke(&number, &ahead).unwrap();
    ledger.confirm_time(in_days(500), "somebody").unwrap();
    drop(ledger);
    for command in ["ca crl --out a.crl", "ca ocsp --for a.pem --out a.ocsp"] {
        folder
            .pqtls(command)
            .fails(1, "\"pqtls ca crl --clock-is-right\"");
    }
    let revoked = folder.pqtls("ca revoke a.pem --reason superseded");
    for part in [
        "The time of the revocation may be wrong: the clock says ",
        "), and has this earlier time now.",
    ] {
        assert!(revoked.ok().contains(part), "{}", revoked.ok());
    }
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    let entry = ledger.entry(&number).unwrap().unwrap();
    assert!(entry.revocation().unwrap().at < in_days(1));
    drop(ledger);
    folder.pqtls("ca crl --clock-is-right --out a.crl").ok();
    folder.pqtls("ca ocsp --for a.pem --out a.ocsp").ok();
    let revoked = folder.pqtls("ca revoke a.pem --json");
    assert!(revoked.ok().contains("\"clock\":null") || revoked.ok().contains("\"clock\": null"));
}

/// As for a certificate that was issued before the clock was set back: clients may accept it until then.
#[test]
fn a_revocation_in_the_future_is_told() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44")
        .ok();
    let revoked = folder.pqtls("ca revoke a.pem");
    assert!(!revoked.ok().contains("in the future"), "{}", revoked.ok());
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    let number = serial_number(&folder, "a.pem").parse().unwrap();
    let mut issued = ledger.entry(&number).unwrap().unwrap().issued;
    let hour = pq_x509::pki_types::UnixTime::now().as_secs() + 60 * 60;
    let later = core::time::Duration::from_secs(hour);
    let later = pq_x509::pki_types::UnixTime::since_unix_epoch(later);
    (issued.not_before, issued.at) = (later, later);
    issued.serial_number = "0123456789".parse().unwrap();
    let certificate = ledger.certificate(&number).unwrap().unwrap();
    ledger
        .record(&[pq_ca::ledger::NewEntry {
            issued,
            certificate,
        }])
        .unwrap();
    drop(ledger);
    let revoked = folder.pqtls("ca revoke 0123456789");
    let words = "The time of a.example.org is in the future";
    assert!(revoked.ok().contains(words), "{}", revoked.ok());
}

/// A passphrase encrypts the new key, and no option is ignored.
#[test]
fn a_new_key_is_encrypted_under_the_passphrase_that_is_given() {
    let folder = folder_with_ca();
    folder.write("s.txt", "correct horse\n");
    folder
        .pqtls("ca issue a.example.org --new-key a.key --passphrase-file s.txt --out a.pem")
        .ok();
    folder
        .pqtls("ca renew a.pem --new-key b.key --passphrase-file s.txt --out b.pem")
        .ok();
    for name in ["a", "b"] {
        let key = folder.read(&format!("{name}.key"));
        assert!(
            key.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"),
            "{key}"
        );
        let check = format!("key check {name}.key --cert {name}.pem --passphrase-file s.txt");
        folder.pqtls(&check).ok();
    }
    folder.pqtls("key new ML-DSA-44 --out c.key").ok();
    folder.write("empty.txt", "\n");
    for (command, text) in [
        (
            "issue c.example.org --new-key d.key --passphrase-env NOPE",
            "no environment variable",
        ),
        (
            "issue c.example.org --key c.key --passphrase-env NOPE",
            "no environment variable",
        ),
        (
            "renew a.pem --new-key d.key --passphrase-env NOPE",
            "no environment variable",
        ),
        (
            "issue c.example.org --new-key d.key --passphrase-file empty.txt",
            "an empty passphrase",
        ),
        (
            "renew a.pem --passphrase-file s.txt",
            "no use without a private key",
        ),
    ] {
        folder
            .pqtls(&format!("ca {command} --out d.pem"))
            .fails(2, text);
        assert!(!folder.path().join("d.key").exists());
        assert!(!folder.path().join("d.pem").exists());
    }
}

/// The ledger's disk fails, so the certificate may be recorded, and its key is not thrown away.
#[cfg(unix)]
#[test]
fn a_new_key_stays_if_its_certificate_may_be_recorded() {
    let folder = folder_with_ca();
    // The key's file fits, in blocks of 512 bytes or of 1024, and a second record of the ledger does not.
    let issue = "pqtls ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44";
    let failed = folder.shell(&format!("trap '' XFSZ; ulimit -f 8; {issue}"));
    assert_eq!(failed.status(), 3, "{}", failed.stderr());
    for part in [
        "can't write ca/ledger/journal",
        "the new key stays in a.key",
    ] {
        assert!(failed.stderr().contains(part), "{}", failed.stderr());
    }
    assert!(
        folder
            .read("a.key")
            .starts_with("-----BEGIN PRIVATE KEY-----")
    );
    folder
        .pqtls("ca issue a.example.org --key a.key --out a.pem")
        .ok();
}

/// An older copy of the ledger lacks what was issued since, whose certificates are the CA's nevertheless.
#[test]
fn an_older_ledger_says_that_it_is_one() {
    let folder = folder_with_ca();
    folder.shell("cp -R ca older").ok();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    for command in [
        "revoke a.pem",
        "renew a.pem --out b.pem",
        "show a.pem",
        "reinstate a.pem",
    ] {
        folder.pqtls(&format!("ca {command} --dir older")).fails(
            1,
            "the CA's own key signed a.pem, but its ledger has no certificate with the serial number",
        );
    }
    // It signed itself.
    for command in ["revoke", "show", "reinstate"] {
        folder
            .pqtls(&format!("ca {command} ca/root.pem"))
            .fails(1, "the CA's own root, which is in no ledger");
    }
}

/// Clients do not ask about it (OCSP No Check), so its revocation is not what ends its key's power.
#[test]
fn what_a_responders_certificate_ends_and_what_its_revocation_does_not() {
    let folder = folder_with_ca();
    let policy = folder.read("ca/policy.toml");
    let policy = policy.replace("\"server+client\"]", "\"ocsp-responder\"]");
    folder.write("ca/policy.toml", policy);
    for command in [
        "ca issue www.example.org --new-key www.key --out www.pem",
        "ca issue --common-name 'Our OCSP' --profile ocsp-responder --validity 1h --new-key ocsp.key --out ocsp.pem",
        "ca crl --root --out root.crl",
    ] {
        folder.shell(&format!("pqtls {command}")).ok();
    }
    let words = "It ends then because the certificate of the key that signed it does";
    for (validity, ends) in [("10min", false), ("30d", true)] {
        let answered = folder.pqtls(&format!(
            "ca ocsp --for www.pem --key ocsp.key --cert ocsp.pem --validity {validity} --out {validity}.ocsp"
        ));
        assert_eq!(answered.ok().contains(words), ends, "{}", answered.ok());
    }
    let verify = |lists: &str| {
        folder.pqtls(&format!(
            "cert verify www.pem --roots ca/root.pem --ocsp 30d.ocsp {lists}"
        ))
    };
    folder.pqtls("ca crl --out before.crl").ok();
    verify("--crl before.crl --crl root.crl").ok();
    let revoked = folder.pqtls("ca revoke ocsp.pem --reason keyCompromise");
    assert!(
        revoked
            .ok()
            .contains("most believe what the key of CN=Our OCSP signs until 20"),
        "{}",
        revoked.ok()
    );
    let revoked = folder.pqtls("ca revoke www.pem");
    assert!(!revoked.ok().contains("OCSP No Check"), "{}", revoked.ok());
    verify("").ok();
}

/// A server would staple it in the place of a good one.
#[test]
fn no_response_is_made_about_a_certificate_that_the_ledger_lacks() {
    let folder = folder_with_ca();
    folder.shell("cp -R ca older").ok();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    folder.pqtls("ca ocsp --for a.pem --out a.ocsp").ok();
    folder
        .pqtls("ca ocsp --for a.pem --out a.ocsp --force --dir older")
        .fails(1, "its ledger has no certificate with the serial number");
    let number = serial_number(&folder, "a.pem");
    folder
        .pqtls(&format!("ca ocsp --for {number} --out a.ocsp --force"))
        .ok();
    folder
        .pqtls(&format!(
            "ca ocsp --for {number} --out a.ocsp --force --dir older"
        ))
        .fails(1, "the ledger has no certificate with serial number");
    // Who asks is told that it is unknown.
    folder.pqtls("cert ocsp-request a.pem --out a.req").ok();
    let answered = folder.pqtls("ca ocsp a.req --out unknown.ocsp --dir older");
    assert!(answered.ok().contains(" is unknown"), "{}", answered.ok());

    let advised = "\"pqtls ca ocsp --root --for ca/issuing.pem\"";
    folder
        .pqtls("ca ocsp --for ca/issuing.pem --out ca.ocsp")
        .fails(1, advised);
    folder
        .pqtls("ca ocsp --root --for ca/issuing.pem --out ca.ocsp")
        .ok();
    folder
        .pqtls("ca ocsp --root --for a.pem --out b.ocsp")
        .fails(1, "leave --root out");
}

/// If the newer ledger is gone, what it had can be put back: otherwise it could never be revoked.
#[test]
fn what_an_older_ledger_lacks_is_recorded_and_revoked() {
    let folder = folder_with_ca();
    folder.shell("cp -R ca older").ok();
    for name in ["a", "b"] {
        folder
            .pqtls(&format!(
                "ca issue {name}.example.org --new-key {name}.key --out {name}.pem"
            ))
            .ok();
    }
    let refused = folder.pqtls("ca revoke a.pem --dir older");
    refused.fails(
        1,
        "with \"pqtls ca adopt --dir older --revoke unspecified a.pem\";",
    );
    folder
        .pqtls("ca revoke a.pem --reason cacompromise --all-with-key --by bob --dir older")
        .fails(1, "--revoke cACompromise --all-with-key --by bob a.pem\";");
    folder
        .pqtls("ca show a.pem --dir older")
        .fails(1, "older a.pem\", and --revoke REASON to revoke it;");
    // for the key that is then compromised
    folder
        .pqtls("ca issue c.example.org --key a.key --out c.pem")
        .ok();
    folder
        .pqtls("ca adopt a.pem --revoke superseded --all-with-key --dir older")
        .fails(2, "name a compromise with --revoke");
    folder
        .pqtls("ca adopt a.pem --all-with-key --dir older")
        .fails(2, "name a compromise with --revoke");
    let adopted = folder.pqtls("ca adopt a.pem --revoke keyCompromise --dir older");
    let words = "a.example.org: recorded, serial number ";
    assert!(adopted.ok().starts_with(words), "{}", adopted.ok());
    assert!(adopted.ok().contains(", and revoked since 20"));
    folder
        .pqtls("ca adopt c.pem --dir older")
        .fails(1, "the key was in the certificate with serial number");
    folder
        .pqtls("ca adopt c.pem --revoke keyCompromise --dir older")
        .ok();
    let adopted = folder.pqtls("ca adopt a.pem b.pem --dir older");
    let known = adopted.ok().contains("in the ledger already");
    assert!(known && adopted.ok().contains("b.example.org: recorded"));
    folder
        .pqtls("ca adopt b.pem --revoke superseded --dir older")
        .fails(1, "revoke it with \"pqtls ca revoke --dir older ");
    let (a, b) = (
        serial_number(&folder, "a.pem"),
        serial_number(&folder, "b.pem"),
    );
    let options = "--reason keyCompromise --all-with-key --by 'Bob B'";
    folder
        .shell("pqtls ca adopt a.pem b.pem --revoke key-compromise --all-with-key --by 'Bob B' --dir older")
        .fails(1, &format!("\"pqtls ca revoke --dir older {a} {b} {options}\", or"));
    folder.pqtls("ca renew b.pem --out d.pem --dir older").ok();
    folder
        .pqtls("ca ocsp --for b.pem --out b.ocsp --dir older")
        .ok();
    let list = folder.pqtls("ca crl --out older.crl --dir older");
    assert!(
        list.ok().contains("2 revoked certificates"),
        "{}",
        list.ok()
    );
    folder
        .pqtls("ca crl --root --out root.crl --dir older")
        .ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --crl older.crl --crl root.crl")
        .fails(1, "revoked");
}

#[test]
fn nothing_of_another_ca_is_recorded() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Test --algorithm ML-DSA-44 --dir other")
        .ok();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --dir other")
        .ok();
    for file in ["a.pem", "other/issuing.pem", "other/root.pem"] {
        folder
            .pqtls(&format!("ca adopt {file}"))
            .fails(1, "no key of this CA signed the certificate of ");
    }
    let own = folder.pqtls("ca adopt ca/root.pem ca/issuing.pem");
    for subject in ["CN=Example Root", "CN=Example"] {
        let line =
            format!("{subject}: a certificate of the CA itself; there is nothing to record\n");
        assert!(own.ok().contains(&line), "{}", own.ok());
    }
}

/// Whoever restores a whole older folder loses what was revoked since.
#[test]
fn an_issuing_certificate_that_is_wrong_comes_back_from_the_ledger() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Other --algorithm ML-DSA-44 --dir other")
        .ok();
    folder
        .pqtls("ca issue www.example.org --new-key www.key --out www.pem")
        .ok();
    folder.pqtls("ca revoke www.pem").ok();
    let right = folder.read("ca/issuing.pem");
    let number = serial_number(&folder, "ca/issuing.pem");
    let foreign = folder.read("other/issuing.pem");
    for wrong in [foreign.as_str(), "nothing", ""] {
        folder.write("ca/issuing.pem", wrong);
        let again = format!("pqtls ca show --dir ca {number} --pem --out ca/issuing.pem --force");
        for command in [
            "ca show",
            "ca list",
            "ca crl --out none.crl",
            "ca issue b.example.org --key www.key --out b.pem",
            "ca show www.pem --pem --out again.pem",
        ] {
            folder
                .pqtls(&format!("{command} --dir ca"))
                .fails(1, &format!("from the ledger: \"{again}\""));
        }
        folder.shell(&again).ok();
        assert_eq!(folder.read("ca/issuing.pem"), right);
        let list = folder.pqtls("ca crl --out ca.crl --force");
        assert!(list.ok().contains("1 revoked certificate"), "{}", list.ok());
    }
    folder.write("ca/root.pem", folder.read("other/root.pem"));
    folder
        .pqtls("ca list")
        .fails(1, "put back ca/root.pem alone");
}

#[test]
fn the_roots_key_is_needed_for_the_roots_list_alone() {
    let folder = folder_with_ca();
    let [from, to] = ["ca/root.key", "root.key"].map(|file| folder.path().join(file));
    fs::rename(&from, &to).unwrap();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    folder.pqtls("ca revoke a.pem").ok();
    folder.pqtls("ca crl --out a.crl").ok();
    folder
        .pqtls("ca crl --root --out root.crl")
        .fails(3, "ca/root.key is not there; put the key back");
    let shown = folder.pqtls("ca show");
    assert!(
        shown.ok().contains("ca/root.key (not there)"),
        "{}",
        shown.ok()
    );
    fs::rename(&to, &from).unwrap();
    folder.pqtls("ca crl --root --out root.crl").ok();
}

/// Who acts is known without the environment, too.
#[cfg(unix)]
#[test]
fn who_acts_is_the_user() {
    let folder = folder_with_ca();
    let user = folder.shell("id -un").ok().trim().to_owned();
    folder
        .shell("env -u USER -u LOGNAME pqtls ca issue a.example.org --new-key a.key --out a.pem")
        .ok();
    let shown = folder.pqtls("ca show a.pem");
    assert!(
        shown.ok().contains(&format!(" by {user}\n")),
        "{}",
        shown.ok()
    );
}

/// The disk has no room for what the ledger records at once.
#[cfg(unix)]
#[test]
fn of_certificates_that_the_ledger_cant_keep_none_is_issued() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let request = folder.pqtls("cert request --key a.key --name a.example.org");
    folder.write("many.csr", request.ok().repeat(20));
    let journal = || fs::metadata(folder.path().join("ca/ledger/journal")).unwrap();
    let before = journal().len();

    // A part of the record fits, in blocks of 512 bytes or of 1024.
    folder
        .shell("trap '' XFSZ; ulimit -f 64; pqtls ca sign many.csr --out all.pem")
        .fails(3, "can't write ca/ledger/journal: ");
    assert!(journal().len() <= before);
    let listed = folder.pqtls("ca list --name a.example.org");
    assert_eq!(listed.ok().lines().count(), 1, "{}", listed.ok());

    folder.pqtls("ca sign many.csr --out all.pem").ok();
    let listed = folder.pqtls("ca list --name a.example.org");
    assert_eq!(listed.ok().lines().count(), 21);
}

/// What a report or a message advises can be pasted into a shell.
#[test]
fn advised_commands_have_their_files_in_quotes() {
    let folder = Folder::new();
    let made = folder.shell("pqtls ca init --name A --algorithm ML-DSA-44 --dir 'my ca'");
    let advised = made
        .ok()
        .split('"')
        .find(|part| part.starts_with("pqtls key encrypt"));
    let advised = advised.unwrap();
    folder.write("pass phrase", "correct horse battery staple");
    folder
        .shell(&format!("{advised} --passphrase-file 'pass phrase'"))
        .ok();
    folder.write("my ca/issuing.pem", "nothing");
    let refused = folder.shell("pqtls ca show --dir 'my ca'");
    let advised = refused.stderr().split('"').nth(1).unwrap();
    folder.shell(advised).ok();
    folder.shell("pqtls ca show --dir 'my ca'").ok();
}

#[test]
fn a_certificate_that_was_issued_and_not_written_is_not_lost() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    if cfg!(target_os = "linux") {
        let full = folder.pqtls("ca issue a.example.org --key a.key --out /dev/full");
        full.fails(
            3,
            "but the CA has issued it, and its ledger keeps it: serial number ",
        );
        let number = full.stderr().split("serial number ").nth(1).unwrap();
        let number = number.split(';').next().unwrap();
        folder
            .pqtls(&format!("ca show {number} --pem --out a.pem"))
            .ok();
        folder.pqtls("cert verify a.pem --roots ca/root.pem").ok();
    }
}

#[test]
fn a_new_key_replaces_no_file_and_is_no_certificates_file() {
    let folder = folder_with_ca();
    folder.write("a.key", "old");
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --force")
        .fails(
            3,
            "a.key exists, and a new key replaces no file, also not with --force; choose",
        );
    folder
        .pqtls("ca issue a.example.org --new-key b --out ./b --force")
        .fails(3, "can't be two files at once");
    folder
        .pqtls("ca issue a.example.org --out a.pem")
        .fails(2, "--key");
    folder
        .pqtls("ca issue a.example.org --new-key b.key --json")
        .fails(2, "name a file with --out");
    folder.pqtls("key new ML-DSA-44 --out c.key").ok();
    folder
        .pqtls("ca issue a.example.org --key c.key --algorithm ML-DSA-87")
        .fails(2, "--algorithm");
    folder
        .pqtls("ca issue --common-name X --new-key d.key --out d.pem --validity 20y")
        .fails(4, "validity.max");
    let long = "x ".repeat(32) + "x";
    folder
        .shell(&format!(
            "pqtls ca issue --profile client --common-name '{long}' --new-key d.key --out d.pem"
        ))
        .fails(4, "has 65 characters, and no policy permits more than 64 (RFC 5280); ask for a shorter one");
    let both = folder.pqtls("ca issue a.example.org --new-key -");
    assert!(both.ok().starts_with("-----BEGIN PRIVATE KEY-----"));
    assert_eq!(both.ok().matches("BEGIN CERTIFICATE").count(), 2);
}

#[cfg(unix)]
#[test]
fn processes_at_once_lose_nothing() {
    let folder = folder_with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let children: Vec<_> = (0..4)
        .map(|number| {
            Command::new("sh")
                .args(["-c", &format!(
                    "for i in 1 2 3 4 5; do \"$0\" ca issue a.example.org --key a.key --out p{number}-$i.pem || exit 1; done"
                )])
                .arg(env!("CARGO_BIN_EXE_pqtls"))
                .current_dir(folder.path())
                .env_remove("PQTLS_CA")
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let listed = folder.pqtls("ca list --name a.example.org");
    for number in 0..4 {
        for i in 1..=5 {
            let file = format!("p{number}-{i}.pem");
            assert!(
                listed.ok().contains(&serial_number(&folder, &file)),
                "{file}"
            );
        }
    }
}

/// Whoever gives a certificate to be answered about, or a name with a port, is told how that is given.
#[test]
fn what_was_meant_is_named() {
    let folder = Folder::with_ca();
    folder
        .pqtls("ca init --name Example --dns example.org --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca ocsp www.pem --out x")
        .fails(3, "www.pem has no OCSP request, but a certificate; to answer about the certificate without a request, give it to \"pqtls ca ocsp\" with --for");
    for (option, name) in [
        ("--name", "www.example.org"),
        ("--domain", "example.org"),
        ("--name", "192.0.2.1"),
    ] {
        folder.pqtls(&format!("ca list {option} {name}:443")).fails(
            2,
            &format!(
                "certificates are for names without ports; leave \":443\" out, and write {name}"
            ),
        );
        folder.pqtls(&format!("ca list {option} {name}")).ok();
    }
    folder.pqtls("ca list --name 2001:db8::443").ok();
}
