//! `pqtls ca rollover`, and CAs below others: `pqtls ca init` with `--under` and `--request`, `certify` and `install`.

use std::fs;

use pq_x509::certificate::{AlternativeName, Certificate};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CertificateRevocationList;

use crate::folder::Folder;

fn folder_with_ca() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --algorithm ML-DSA-44")
        .ok();
    issue(&folder, "old");
    folder
}

/// Issues `NAME.pem` by the CA in `ca`.
fn issue(folder: &Folder, name: &str) {
    let key = format!("--new-key {name}.key --algorithm ML-DSA-44 --out {name}.pem");
    folder
        .pqtls(&format!("ca issue {name}.example.org {key}"))
        .ok();
}

fn revoked_on(folder: &Folder, list: &str) -> usize {
    let list = CertificateRevocationList::from_pem(&folder.read(list)).unwrap();
    list.entries().len()
}

/// Away from a terminal nobody is asked for a passphrase.
#[test]
fn a_key_under_a_passphrase_is_followed_by_one() {
    let folder = Folder::new();
    folder.write("pw", "correct horse");
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44 --passphrase-file pw")
        .ok();
    let rollover = "ca rollover --ca-passphrase-file pw";
    folder.pqtls(rollover).fails(
        2,
        "ca/issuing.key is under a passphrase, so that the new key should be, too; give --passphrase-file",
    );
    for (option, words) in [
        ("--passphrase-file pw", "  key       encrypted by "),
        ("--no-passphrase", "  key       in the clear: "),
    ] {
        let rolled = folder.pqtls(&format!("{rollover} {option}"));
        assert!(rolled.ok().contains(words), "{}", rolled.ok());
    }
}

#[test]
fn a_new_key_issues_and_the_old_one_signs_its_lists() {
    let folder = folder_with_ca();
    // Whoever asks for more than the CA has left is told a command that there is.
    let policy = folder.read("ca/policy.toml");
    folder.write(
        "ca/policy.toml",
        policy.replace("[validity]", "[validity]\nmax = \"50y\""),
    );
    let refused = folder.pqtls("ca issue www.example.org --key old.key --validity 10y --out x.pem");
    refused.fails(4, "have a new key issue first (\"pqtls ca rollover\")");

    let rolled = folder.pqtls("ca rollover");
    for words in [
        "issuing-2: CN=Example 2 (",
        "), ML-DSA-44, until ",
        "  key       in the clear: whoever can read it can act as the CA\n",
        "It issues from now on.",
        "  make the list of each key from now on: \"pqtls ca crl\"\n",
        "Z \"pqtls ca crl --issuer issuing\"\n",
        "  back up the CA's folder again",
    ] {
        assert!(rolled.ok().contains(words), "{}", rolled.ok());
    }
    assert!(!rolled.ok().contains("a URL of its own"), "{}", rolled.ok());
    for name in ["new", "third"] {
        issue(&folder, name);
    }
    for name in ["old", "new"] {
        let verify =
            format!("cert verify {name}.pem --roots ca/root.pem --name {name}.example.org");
        folder.pqtls(&verify).ok();
        folder
            .pqtls(&format!("ca show {name}.pem --pem --out again.pem --force"))
            .ok();
        assert_eq!(
            folder.read("again.pem"),
            folder.read(&format!("{name}.pem"))
        );
    }
    let shown = folder.pqtls("ca show");
    for words in [
        "issuing-2, issuing\n",
        "issuing, retired\n",
        "CN=Example Root",
    ] {
        assert!(shown.ok().contains(words), "{}", shown.ok());
    }

    let revoked = folder.pqtls("ca revoke old.pem new.pem --reason superseded");
    for line in [
        "  pqtls ca crl --out FILE\n",
        "  pqtls ca crl --issuer issuing --out FILE\n",
    ] {
        assert!(revoked.ok().contains(line), "{}", revoked.ok());
    }
    let listed = folder.pqtls("ca crl --out new.crl");
    let also =
        "Clients need the list of \"issuing\", too: \"pqtls ca crl --issuer issuing --out FILE\".";
    assert!(listed.ok().contains(also), "{}", listed.ok());
    folder.pqtls("ca crl --issuer issuing --out old.crl").ok();
    folder.pqtls("ca crl --root --out root.crl").ok();
    for (name, list, status) in [("old", "old", 1), ("new", "new", 1), ("third", "new", 0)] {
        let verified = folder.pqtls(&format!(
            "cert verify {name}.pem --roots ca/root.pem --crl root.crl --crl {list}.crl"
        ));
        assert_eq!(verified.status(), status, "{}", verified.stderr());
        assert_eq!(revoked_on(&folder, &format!("{list}.crl")), 1);
    }
    folder
        .pqtls("ca crl --issuer issuing-3 --out x.crl")
        .fails(1, "this CA has no key \"issuing-3\"");
    folder
        .pqtls("ca crl --issuer issuing-02 --out x.crl")
        .fails(2, "it is not the name of a CA's key");

    // An answer is by the key that signed the certificate, whoever asks.
    folder
        .pqtls("cert ocsp-request old.pem --out old.request")
        .ok();
    let answered = folder.pqtls("ca ocsp old.request --out old.ocsp");
    assert!(
        answered.ok().contains(" is revoked since "),
        "{}",
        answered.ok()
    );
    folder
        .pqtls("ca ocsp --for third.pem --out third.ocsp")
        .ok();
    folder
        .pqtls("ca ocsp --for third.pem --issuer issuing --out x.ocsp")
        .fails(
            1,
            "the CA's key issuing-2 issued third.pem, so that key answers",
        );
    let ocsp = "cert verify third.pem --roots ca/root.pem --ocsp third.ocsp";
    folder.pqtls(ocsp).ok();
    folder
        .pqtls("cert verify old.pem --roots ca/root.pem --ocsp old.ocsp")
        .fails(1, "was revoked at ");
    // The new key renews what the old one signed, and the old one issues nothing more.
    issue(&folder, "fourth");
    folder
        .pqtls("ca issue www.example.org --issuer issuing --key old.key --out x.pem")
        .fails(
            1,
            "the key \"issuing\" is not the one that issues: it is retired",
        );
    // After each further key there is a list more.
    let rolled = folder.pqtls("ca rollover");
    for name in ["issuing", "issuing-2"] {
        let words = format!("Z \"pqtls ca crl --issuer {name}\"\n");
        assert!(rolled.ok().contains(&words), "{}", rolled.ok());
    }
}

#[test]
fn a_key_is_published_and_issues_later() {
    let folder = folder_with_ca();
    let policy = folder.read("ca/policy.toml");
    let with_url = policy.replace("#urls = []", "urls = [\"http://ca.example.org/ca.crl\"]");
    folder.write("ca/policy.toml", with_url);
    let published = folder.pqtls("ca rollover --publish --name Later --algorithm ML-DSA-65");
    let words = "issues nothing yet; have it issue with \"pqtls ca rollover --use issuing-2\"";
    assert!(published.ok().contains(words), "{}", published.ok());
    assert!(published.ok().contains("CN=Later, ML-DSA-65"));
    issue(&folder, "still-old");
    assert!(
        folder
            .read("still-old.pem")
            .ends_with(&folder.read("ca/issuing.pem"))
    );
    let used = folder.pqtls("ca rollover --use issuing-2");
    assert!(!used.ok().contains("in the clear"), "{}", used.ok());
    issue(&folder, "new");
    assert!(
        folder
            .read("new.pem")
            .ends_with(&folder.read("ca/issuing-2.pem"))
    );
    // The key before takes its place again, and a key that can't issue takes no place.
    folder.pqtls("ca rollover --use issuing").ok();
    folder
        .pqtls("ca rollover --use issuing")
        .fails(1, "the key \"issuing\" issues already");
    folder
        .pqtls("ca rollover --use root")
        .fails(2, "the root certifies the keys that issue");
    let (key, away) = ("ca/issuing-2.key", folder.path().join("away-2"));
    fs::rename(folder.path().join(key), &away).unwrap();
    folder
        .pqtls("ca rollover --use issuing-2")
        .fails(3, "issuing-2.key is not there");
    fs::rename(&away, folder.path().join(key)).unwrap();
    folder
        .pqtls("ca revoke ca/issuing-2.pem --reason superseded")
        .ok();
    folder
        .pqtls("ca rollover --use issuing-2")
        .fails(1, "is revoked");
    issue(&folder, "again");
    assert!(
        folder
            .read("again.pem")
            .ends_with(&folder.read("ca/issuing.pem"))
    );
    folder
        .pqtls("ca rollover --validity 40y")
        .fails(1, "choose a shorter time");
    for name in ["Later", "Example", "'example root'"] {
        folder
            .shell(&format!("pqtls ca rollover --name {name}"))
            .fails(1, "is the name of another key");
    }
    fs::rename(
        folder.path().join("ca/root.key"),
        folder.path().join("away"),
    )
    .unwrap();
    folder
        .pqtls("ca rollover")
        .fails(3, "root.key is not there");
    folder
        .pqtls("ca rollover --under ca")
        .fails(2, "leave --under and --request out");
}

#[test]
fn a_ca_is_below_another_in_a_folder() {
    let folder = folder_with_ca();
    let made = folder.pqtls("ca init --name Team --dns team.example.org --dir team --under ca");
    assert!(!made.ok().contains("move "), "{}", made.ok());
    let issue = "ca issue www.team.example.org --dir team --new-key www.key --out www.pem";
    folder.pqtls(issue).ok();
    folder
        .pqtls("cert verify www.pem --roots ca/root.pem --name www.team.example.org")
        .ok();
    let listed = folder.pqtls("ca list --subject Team");
    assert!(listed.ok().contains("CN=Team"), "{}", listed.ok());
    folder
        .pqtls("ca rollover --dir team")
        .fails(2, "name the folder of that CA with --under");
    folder.pqtls("ca rollover --dir team --under ca").ok();
    folder
        .pqtls("ca issue www.team.example.org --dir team --key www.key --out again.pem")
        .ok();
    folder
        .pqtls("cert verify again.pem --roots ca/root.pem --name www.team.example.org")
        .ok();
    folder
        .pqtls("ca init --name Long --dir long --under ca --validity 30y")
        .fails(1, "nobody accepts what is below it for longer");
    folder
        .pqtls("ca init --name Small --dir small --no-intermediate")
        .ok();
    folder
        .pqtls("ca init --name Deep --dir deep --under small")
        .fails(1, "path length 0 forbids");
    assert!(!folder.path().join("deep").exists());
    folder
        .pqtls("ca rollover --dir small")
        .fails(1, "the root of this CA issues");
    folder
        .shell("pqtls ca init --name 'Example Root' --dir named --under ca")
        .fails(1, "is the name of another key");
    folder
        .pqtls("ca init --name New --dir new --request new.csr")
        .ok();
    for command in [
        "ca crl --root --dir team --out x.crl",
        "ca certify new.csr --dir team --out x.pem",
    ] {
        folder.pqtls(command).fails(
            1,
            "another CA certified this one, and has the key of the root",
        );
    }
}

#[test]
fn a_ca_waits_for_its_certificate() {
    let folder = folder_with_ca();
    let made = folder.pqtls("ca init --name Waiting --dir waiting --request waiting.csr");
    assert!(
        made.ok()
            .contains("\"pqtls ca install --dir waiting FILE --root ROOT\""),
        "{}",
        made.ok()
    );
    folder
        .pqtls("ca show --dir waiting")
        .fails(3, "waits for its certificate");
    let certified = folder.pqtls("ca certify waiting.csr --out waiting.pem");
    let words = "give waiting.pem and ca/root.pem to whoever made the request";
    assert!(certified.ok().contains(words), "{}", certified.ok());
    folder
        .pqtls("ca install waiting.pem --dir waiting")
        .fails(1, "the root's certificate is missing");
    folder
        .pqtls("ca install old.pem --root ca/root.pem --dir waiting")
        .fails(1, "none of the certificates is for a key");
    folder
        .pqtls("ca install waiting.pem --root ca/root.pem --dir waiting")
        .ok();
    folder
        .pqtls("ca issue www.example.org --dir waiting --key old.key --out www.pem")
        .ok();
    folder
        .pqtls("cert verify www.pem --roots ca/root.pem --name www.example.org")
        .ok();

    let asked = folder.pqtls("ca rollover --dir waiting --request next.csr");
    assert!(
        asked.ok().contains("a request by CN=Waiting 2 ("),
        "{}",
        asked.ok()
    );
    for name in ["Waiting", "'Example Root'"] {
        folder
            .shell(&format!(
                "pqtls ca rollover --dir waiting --request x.csr --name {name}"
            ))
            .fails(1, "is the name of another key");
    }
    let shown = folder.pqtls("ca show --dir waiting");
    for words in [
        "): waits for its certificate\n",
        "  as issuer     issuing-2, once it is installed\n",
        "waiting/issuing-2.csr\n",
    ] {
        assert!(shown.ok().contains(words), "{}", shown.ok());
    }
    folder.pqtls("ca certify next.csr --out next.pem").ok();
    let installed = folder.pqtls("ca install next.pem --dir waiting");
    let words = "\"pqtls ca rollover --dir waiting --use issuing-2\"";
    assert!(installed.ok().contains(words), "{}", installed.ok());
    folder
        .pqtls("ca rollover --dir waiting --use issuing-2")
        .ok();
    // Revoked by the CA above, whose ledger has it.
    let revoked = folder.pqtls("ca revoke waiting.pem --reason cessationOfOperation");
    assert!(
        revoked.ok().contains("pqtls ca crl --root --out FILE"),
        "{}",
        revoked.ok()
    );
}

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

/// What was damaged, refused or revoked is followed by what helps.
#[test]
fn advice_names_what_helps() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Low --dir low --under nix")
        .fails(3, "nix is not a CA's folder: it has no root.pem; name the folder of the CA above with --under");
    let list = folder.pqtls("ca crl --validity 30y --out long.crl");
    assert!(
        list.stderr().contains("clients accept the list no longer"),
        "{}",
        list.stderr()
    );
    folder.write("a.csr", "no request");
    folder.write("b.csr", "no request");
    let signed = folder.pqtls("ca sign a.csr b.csr --out x.pem");
    let words = "2 of 2 requests were refused, and nothing was signed:";
    assert!(signed.stderr().contains(words), "{}", signed.stderr());
    let revoked = folder.pqtls("ca revoke ca/issuing.pem --reason keyCompromise");
    let words = "the CA issues nothing more until a new key issues: \"pqtls ca rollover\"";
    assert!(revoked.stdout().contains(words), "{}", revoked.stdout());
    fs::remove_file(folder.path().join("ca/ledger/head")).unwrap();
    folder
        .pqtls("ca list")
        .fails(3, "\"pqtls ca crl --number\"");
}

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
        "If it is a later key of this CA, this copy of the folder",
    );
    folder
        .pqtls("ca adopt leaf.pem --dir before-all")
        .fails(1, "give the file with that key's certificate, too");
}

/// A file may have a name that could be a serial number.
#[test]
fn a_number_is_told_from_a_file() {
    let folder = folder_with_ca();
    folder.shell("cp old.pem c").ok();
    folder
        .pqtls("ca show c")
        .fails(2, "c is a serial number and the name of a file; write 00c for the number, or ./c for the file");
    folder.pqtls("ca show ./c").ok();
    folder.pqtls("ca show 00c").fails(1, "");
}

/// What a request left waiting, and the CA above certified, is what a command leaves that is killed between two ledgers.
#[test]
fn a_rollover_below_another_ca_goes_on_with_what_was_begun() {
    let folder = folder_with_ca();
    let made = "ca init --name Team --algorithm ML-DSA-44 --dir team --under ca";
    folder.pqtls(made).ok();
    folder.write("pw", "correct horse");
    let request = "ca rollover --dir team --request next.csr";
    folder
        .pqtls(&format!("{request} --passphrase-file pw"))
        .ok();
    folder.pqtls("ca certify next.csr --out next.pem").ok();
    // In the clear, it is another key than the one that waits.
    let rollover = "ca rollover --dir team --under ca";
    let rolled = folder.pqtls(&format!("{rollover} --no-passphrase"));
    assert!(
        rolled.ok().contains("issuing-3: CN=Team 3 ("),
        "{}",
        rolled.ok()
    );
    let rolled = folder.pqtls(&format!("{rollover} --passphrase-file pw"));
    for words in [
        "issuing-2: CN=Team 2 (",
        "  key       encrypted by ",
        "It was begun before: the key is the one that was made then",
    ] {
        assert!(rolled.ok().contains(words), "{}", rolled.ok());
    }
    assert!(
        folder
            .read("team/issuing-2.pem")
            .starts_with(&folder.read("next.pem"))
    );
    let issue = "ca issue www.example.org --dir team --key old.key --ca-passphrase-file pw";
    folder.pqtls(&format!("{issue} --out www.pem")).ok();
    folder
        .pqtls("cert verify www.pem --roots ca/root.pem --name www.example.org")
        .ok();
}

#[test]
fn a_ca_that_waits_is_completed_by_the_ca_above() {
    let folder = folder_with_ca();
    let init = "ca init --name Team --dns example.org --algorithm ML-DSA-44 --dir team";
    folder.pqtls(&format!("{init} --request team.csr")).ok();
    folder.pqtls("ca certify team.csr --out team.pem").ok();
    folder.pqtls(init).fails(3, "team exists");
    folder
        .pqtls("ca init --name Other --algorithm ML-DSA-44 --dir team --under ca")
        .fails(1, "give the options with which it was begun");
    folder.pqtls(&format!("{init} --under ca")).ok();
    assert_eq!(folder.read("team/issuing.pem"), folder.read("team.pem"));
    folder
        .pqtls("ca issue www.example.org --dir team --key old.key --out www.pem")
        .ok();
}

/// What the CA above refuses is about that CA, and so is the command that helps.
#[test]
fn advice_about_the_ca_above_names_it() {
    use pq_ca::ledger::Ledger;

    let folder = folder_with_ca();
    let init = "ca init --algorithm ML-DSA-44 --under ca";
    folder.pqtls(&format!("{init} --name Team --dir team")).ok();
    folder
        .pqtls("ca issue www.example.org --dir team --key old.key --out www.pem")
        .ok();
    let rollover = "ca rollover --dir team --under ca";
    let before = |name: &str| {
        let past = UnixTime::now().as_secs() - 500 * 24 * 60 * 60;
        let past = UnixTime::since_unix_epoch(core::time::Duration::from_secs(past));
        let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join(name)).unwrap();
        ledger.confirm_time(past, "somebody").unwrap();
    };
    before("ca/ledger");
    before("team/ledger");
    let advised = "\"pqtls ca crl --dir ca --root --clock-is-right\"";
    folder.pqtls(rollover).fails(1, advised);
    folder
        .pqtls(&format!("{init} --name Other --dir other"))
        .fails(1, advised);
    folder
        .pqtls("ca crl --dir ca --root --clock-is-right --out root.crl")
        .ok();
    folder
        .pqtls(rollover)
        .fails(1, "\"pqtls ca crl --dir team --clock-is-right\"");
    folder
        .pqtls("ca crl --dir team --clock-is-right --out team.crl")
        .ok();
    folder.pqtls(rollover).ok();

    folder
        .pqtls("ca init --name Another --algorithm ML-DSA-44 --dir another")
        .ok();
    folder
        .pqtls("ca rollover --dir team --under another")
        .fails(
            1,
            "the CA that was named as the one above has the root \"CN=Another Root\", and the one above this CA is another",
        );
}

#[test]
fn the_first_key_is_shown_without_its_file() {
    let folder = folder_with_ca();
    folder.pqtls("ca rollover").ok();
    folder.pqtls("ca rollover").ok();
    fs::remove_file(folder.path().join("ca/issuing.pem")).unwrap();
    let shown = folder.pqtls("ca show");
    for name in [
        "issuing, retired",
        "issuing-2, retired",
        "issuing-3, issuing",
    ] {
        let line = format!("  as issuer     {name}\n");
        assert!(shown.ok().contains(&line), "{}", shown.ok());
    }
    for issuer in ["issuing", "issuing-2", "issuing-3"] {
        folder
            .pqtls(&format!("ca crl --issuer {issuer} --out {issuer}.crl"))
            .ok();
    }
}

/// A key of which nobody knows whether it is under a passphrase is followed by none in the clear, unless that is asked for.
#[test]
fn a_damaged_key_is_not_taken_for_one_in_the_clear() {
    let folder = Folder::new();
    folder.write("pw", "correct horse");
    let init = "ca init --name Example --algorithm ML-DSA-44 --passphrase-file pw";
    folder.pqtls(init).ok();
    let rollover = "ca rollover --ca-passphrase-file pw";
    let key = folder.read("ca/issuing.key");
    for damaged in [
        key.replacen("-----END", "----END", 1),
        key.replacen('M', "!", 1),
        String::new(),
    ] {
        folder.write("ca/issuing.key", &damaged);
        folder.pqtls(rollover).fails(3, "ca/issuing.key");
        assert!(!folder.path().join("ca/issuing-2.key").exists());
    }
    fs::remove_file(folder.path().join("ca/issuing.key")).unwrap();
    folder.shell("mkdir -m 700 ca/issuing.key").ok();
    folder
        .pqtls(rollover)
        .fails(3, "can't read ca/issuing.key: ");
    folder
        .pqtls(&format!("{rollover} --passphrase-file pw"))
        .ok();
}

/// What is revoked is revoked, and what is not known about the key that issues is said.
#[test]
fn who_revokes_without_the_issuing_certificate_is_told() {
    let folder = folder_with_ca();
    fs::remove_file(folder.path().join("ca/issuing.pem")).unwrap();
    let revoked = folder.pqtls("ca revoke old.pem --reason superseded");
    for words in [
        "revoked since ",
        "  pqtls ca crl --issuer issuing --out FILE\n",
        "Whether one of these is the certificate of the key that issues is not known: ca/issuing.pem is not there",
    ] {
        assert!(revoked.ok().contains(words), "{}", revoked.ok());
    }
}

#[test]
fn a_responder_of_a_retired_key_is_renewed_by_it() {
    let folder = folder_with_ca();
    let policy = folder.read("ca/policy.toml");
    let policy = policy.replace("\"server+client\"]", "\"ocsp-responder\"]");
    folder.write("ca/policy.toml", policy);
    let issue = "pqtls ca issue --common-name 'Our OCSP' --profile ocsp-responder";
    folder
        .shell(&format!("{issue} --new-key ocsp.key --out ocsp.pem"))
        .ok();
    folder.pqtls("ca rollover").ok();
    folder.pqtls("ca renew ocsp.pem --out renewed.pem").ok();
    let (renewed, issuing) = (folder.read("renewed.pem"), folder.read("ca/issuing.pem"));
    let renewed = Certificate::from_pem(&renewed).unwrap();
    let issuing = Certificate::from_pem(&issuing).unwrap();
    renewed.verify_signature(&issuing, &[]).unwrap();
}

/// A clock that was set back keeps nobody from a new key, and is told.
#[test]
fn a_clock_that_is_behind_is_told() {
    use pq_ca::ledger::Ledger;

    let folder = folder_with_ca();
    let in_days = UnixTime::now().as_secs() + 3 * 24 * 60 * 60;
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    let later = UnixTime::since_unix_epoch(core::time::Duration::from_secs(in_days));
    ledger.confirm_time(later, "somebody").unwrap();
    drop(ledger);
    let rolled = folder.pqtls("ca rollover");
    assert_eq!(rolled.status(), 0);
    let words = "the validity of the new certificate counts from what the clock says";
    assert!(rolled.stderr().contains(words), "{}", rolled.stderr());
}

/// What the CA above certified is revoked there: no command of the CA below says that it did.
#[test]
fn a_ca_below_another_revokes_nothing_of_the_ca_above() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --under ca")
        .ok();
    folder.shell("cp -a team older").ok();
    folder.pqtls("ca rollover --dir team --under ca").ok();
    folder
        .pqtls("ca issue www.example.org --dir team --key old.key --out www.pem")
        .ok();
    let above = "the CA above this one signed the certificate of CN=Team";
    for command in [
        "ca revoke team/issuing.pem --dir team",
        "ca revoke team/issuing-2.pem --dir team",
        "ca adopt team/issuing.pem --revoke superseded --dir team",
        "ca adopt team/issuing-2.pem --revoke superseded --dir older",
    ] {
        folder.pqtls(command).fails(1, above);
    }
    folder
        .pqtls("ca adopt team/issuing-2.pem --of-root --revoke superseded --dir older")
        .fails(1, "another CA certified this one");
    folder.pqtls("ca adopt ca/issuing.pem --dir team").fails(
        1,
        "the CA above this one signed the certificate of CN=Example",
    );
    let later = folder.pqtls("ca revoke www.pem --dir older");
    later.fails(1, "revoked at the CA above, whose ledger has it");
    assert!(!later.stderr().contains("--of-root"), "{}", later.stderr());
    folder.pqtls("ca adopt team/issuing.pem --dir team").ok();

    // A CA's own certificates are in its ledger, except the root's.
    folder
        .pqtls("ca adopt ca/issuing.pem --revoke superseded")
        .fails(1, "the ledger has this already, so nothing was recorded");
    folder
        .pqtls("ca adopt ca/root.pem --revoke superseded")
        .fails(1, "this is the certificate of the CA's own root");
    folder.pqtls("ca revoke team/issuing.pem").ok();
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

#[test]
fn a_key_that_waits_is_opened_and_named() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --under ca")
        .ok();
    folder.write("pw", "correct horse");
    folder.write("other-pw", "battery staple");
    let request = "ca rollover --dir team --name New --passphrase-file pw --request";
    folder.pqtls(&format!("{request} next.csr")).ok();
    let again = folder.pqtls(&format!("{request} again.csr"));
    again.fails(1, "which waits for its certificate");
    assert!(
        again.stderr().contains("team/issuing-2.csr"),
        "{}",
        again.stderr()
    );
    let rollover = "ca rollover --dir team --under ca --name New --passphrase-file";
    folder
        .pqtls(&format!("{rollover} other-pw"))
        .fails(1, "give the passphrase that it was made with");
    folder.shell("cp team/issuing-2.csr kept.csr").ok();
    let rolled = folder.pqtls(&format!("{rollover} pw"));
    let words = "start programs again that issue with \"issuing\"; they issue nothing more";
    assert!(rolled.ok().contains(words), "{}", rolled.ok());
    // Killed before it wrote the certificate's file: the key issues already, and the one before it is told.
    folder
        .shell("mv kept.csr team/issuing-2.csr && rm team/issuing-2.pem")
        .ok();
    let rolled = folder.pqtls(&format!("{rollover} pw"));
    assert!(
        rolled.ok().contains("It was begun before"),
        "{}",
        rolled.ok()
    );
    assert!(rolled.ok().contains(words), "{}", rolled.ok());
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

#[test]
fn a_key_that_waits_for_its_certificate_is_said_to_wait() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --under ca")
        .ok();
    folder
        .pqtls("ca rollover --dir team --request next.csr")
        .ok();
    for command in [
        "ca rollover --use issuing-2",
        "ca crl --issuer issuing-2 --out x.crl",
        "ca issue a.example.org --issuer issuing-2 --key old.key --out x.pem",
    ] {
        let answer = folder.pqtls(&format!("{command} --dir team"));
        answer.fails(1, "the key \"issuing-2\" waits for its certificate");
        let advice = "\"pqtls ca install --dir team\"";
        assert!(answer.stderr().contains(advice), "{}", answer.stderr());
    }
    folder
        .pqtls("ca crl --issuer issuing-3 --out x.crl --dir team")
        .fails(1, "this CA has no key \"issuing-3\"");
    folder.pqtls("ca certify next.csr --out next.pem").ok();
    folder.pqtls("ca install next.pem --dir team").ok();
    let used = folder.pqtls("ca rollover --use issuing-2 --dir team");
    let words = "  back up the CA's folder again: by older backups another key issues\n";
    assert!(used.ok().contains(words), "{}", used.ok());
}

/// An option without which the command does the same is one that its user took for another.
#[test]
fn options_of_no_use_are_refused() {
    let folder = folder_with_ca();
    folder.write("pw", "correct horse");
    let opens = "name the passphrase of new keys with --passphrase-file";
    for options in ["", " --request x.csr", " --no-passphrase"] {
        folder
            .pqtls(&format!(
                "ca init --name X --dir x --algorithm ML-DSA-44 --ca-passphrase-file pw{options}"
            ))
            .fails(2, opens);
    }
    folder.pqtls("ca rollover --publish").ok();
    folder
        .pqtls("ca rollover --use issuing-2 --passphrase-file pw")
        .fails(
            2,
            "name the passphrase of the key that is to issue with --ca-passphrase-file",
        );
    folder
        .pqtls("ca init --name X --dir x --request x.csr --validity 1y")
        .fails(2, "leave --validity out");
    folder
        .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --under ca")
        .ok();
    let next = "ca rollover --dir team --request next.csr";
    folder
        .pqtls(&format!("{next} --ca-passphrase-file pw"))
        .fails(2, opens);
    folder
        .pqtls(&format!("{next} --validity 1y"))
        .fails(2, "leave --validity out");
    folder.pqtls(next).ok();
}

/// What a command makes takes the place of nothing that the CA consists of.
#[test]
fn no_result_replaces_a_file_of_the_ca() {
    let folder = folder_with_ca();
    folder
        .pqtls("cert request --name a.example.org --key old.key --out root.csr")
        .ok();
    folder
        .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --request team.csr")
        .ok();
    folder
        .shell("ln -s ca/root.pem link.pem && ln -s ca same")
        .ok();
    for command in [
        "ca crl --out ca/ledger/journal --force",
        "ca crl --out ca/ledger/new.crl",
        "ca crl --out ca/root.pem --force",
        "ca crl --out ./team/../ca/policy.toml --force",
        "ca crl --out same/issuing.pem --force",
        "ca crl --out link.pem --force",
        "ca crl --out ca/issuing-2.pem",
        "ca issue a.example.org --key old.key --out ca/root.pem --force",
        "ca issue a.example.org --new-key ca/issuing-2.key --out x.pem",
        "ca renew old.pem --out ca/issuing.pem --force",
        "ca sign root.csr --out ca/root.pem --force",
        "ca sign root.csr --out-dir ca --force",
        "ca certify team.csr --out ca/policy.toml --force",
        "ca ocsp --for old.pem --out ca/ledger/head --force",
        "ca show old.pem --pem --out ca/root.pem --force",
    ] {
        folder.pqtls(command).fails(3, "is a file of the CA itself");
    }
    // Links are followed also where nothing is yet.
    folder
        .shell("ln -s same/issuing-2.pem a && ln -s a b && ln -s around around")
        .ok();
    for command in ["ca crl --out a", "ca crl --out b --force"] {
        folder.pqtls(command).fails(3, "is a file of the CA itself");
    }
    folder
        .pqtls("ca crl --out around --force")
        .fails(3, "can't write around: ");
    folder
        .pqtls("ca crl --out around/ca.crl")
        .fails(3, "can't write around/ca.crl: ");
    folder
        .pqtls("ca crl --out nowhere/ca.crl")
        .fails(3, "make its folder first");
    folder
        .pqtls("ca crl --dir around --out x.crl")
        .fails(3, "can't read around: ");
    folder.pqtls("ca crl --out /dev/null").ok();
    // Whoever likes keeps results there under other names.
    folder.pqtls("ca crl --out ca/ca.crl").ok();
    folder.pqtls("ca sign root.csr --out ca/a.pem").ok();
}

/// Nothing helps a CA whose root expired, and so no other key of it.
#[test]
fn a_ca_whose_root_expired_is_replaced() {
    let folder = Folder::new();
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    folder
        .pqtls("ca init --name Old --algorithm ML-DSA-44 --root-validity 1s")
        .ok();
    folder.wait_until_expired("ca/root.pem");
    for command in [
        "ca issue a.example.org --key a.key --out a.pem",
        "ca rollover",
        "ca rollover --publish --validity 1d",
        "ca certify team.csr --out x.pem",
    ] {
        if command.contains("team.csr") {
            folder
                .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --request team.csr")
                .ok();
        }
        let answer = folder.pqtls(command);
        answer.fails(1, "the root, \"CN=Old Root\", expired at ");
        assert!(answer.stderr().contains("make a new CA"));
        assert!(!answer.stderr().contains("rollover"), "{}", answer.stderr());
    }
}

/// What expired unnoticed is still to be renewed.
#[test]
fn a_certificate_that_expired_is_listed_until_it_is_renewed_or_revoked() {
    let folder = Folder::new();
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44")
        .ok();
    for name in ["a", "b"] {
        folder
            .pqtls(&format!(
                "ca issue {name}.example.org --key a.key --validity 1s --out {name}.pem"
            ))
            .ok();
        folder.wait_until_expired(&format!("{name}.pem"));
    }
    let due = |names: &[&str]| {
        let listed = folder.pqtls("ca list --expires-within 1d");
        let status = if names.is_empty() { 0 } else { 5 };
        assert_eq!(listed.status(), status, "{}", listed.stdout());
        for name in ["a", "b"] {
            let is_listed = listed.stdout().contains(&format!("{name}.example.org"));
            assert_eq!(is_listed, names.contains(&name), "{}", listed.stdout());
        }
    };
    due(&["a", "b"]);
    folder
        .pqtls("ca issue a.example.org --key a.key --out a-2.pem")
        .ok();
    due(&["b"]);
    folder.pqtls("ca revoke b.pem").ok();
    due(&[]);
}
