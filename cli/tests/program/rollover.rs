//! `pqtls ca rollover`: keys that follow one another, and what else becomes of a CA over the years.

use std::fs;

use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CertificateRevocationList;

use crate::folder::Folder;

pub(crate) fn folder_with_ca() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --algorithm ML-DSA-44")
        .ok();
    issue(&folder, "old");
    folder
}

/// Issues `NAME.pem` by the CA in `ca`.
pub(crate) fn issue(folder: &Folder, name: &str) {
    let key = format!("--new-key {name}.key --algorithm ML-DSA-44 --out {name}.pem");
    folder
        .pqtls(&format!("ca issue {name}.example.org {key}"))
        .ok();
}

pub(crate) fn revoked_on(folder: &Folder, list: &str) -> usize {
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

/// A key that comes back takes the place of none that followed meanwhile.
#[test]
fn a_key_that_comes_back_gets_a_free_name() {
    let folder = folder_with_ca();
    folder.shell("cp -a ca bak").ok();
    folder.pqtls("ca rollover").ok();
    issue(&folder, "b");
    folder.shell("mv ca lost && cp -a bak ca").ok();
    folder.pqtls("ca rollover").ok();
    issue(&folder, "c");
    let told = folder.pqtls("ca adopt b.pem");
    told.fails(1, "issuing-3.key and issuing-3.pem");
    let advice = "\"pqtls ca rollover --use issuing-3\"";
    assert!(told.stderr().contains(advice), "{}", told.stderr());

    // Whoever copied them over the other's is told what they are.
    folder
        .shell("cp -a ca over && cp lost/issuing-2.key lost/issuing-2.pem over/")
        .ok();
    let told = folder.pqtls("ca issue d.example.org --key old.key --out d.pem --dir over");
    told.fails(
        1,
        "over/issuing-2.key and over/issuing-2.pem fit each other",
    );
    let advice = "\"pqtls ca rollover --dir over --use issuing-3\"";
    assert!(told.stderr().contains(advice), "{}", told.stderr());
    folder
        .shell("cd over && mv issuing-2.key issuing-3.key && mv issuing-2.pem issuing-3.pem && cp ../ca/issuing-2.key .")
        .ok();
    folder.pqtls("ca adopt b.pem --dir over").ok();
    folder.pqtls("ca rollover --use issuing-3 --dir over").ok();
    folder.pqtls("ca rollover --use issuing-2 --dir over").ok();

    folder
        .shell("cp lost/issuing-2.key ca/issuing-3.key && cp lost/issuing-2.pem ca/issuing-3.pem")
        .ok();
    folder.pqtls("ca adopt b.pem").ok();
    folder.pqtls("ca rollover --use issuing-3").ok();
    folder.pqtls("ca show c.pem").ok();
}

/// What an older ledger lacks, the folder's files tell.
#[test]
fn a_ledger_that_is_older_than_the_folder_is_told() {
    let folder = folder_with_ca();
    folder.shell("cp -a ca bak").ok();
    folder.pqtls("ca rollover").ok();
    folder.pqtls("ca revoke old.pem").ok();
    folder.pqtls("ca crl --issuer issuing --out 1.crl").ok();
    folder.shell("mv ca/ledger away").ok();
    let lost = folder.pqtls("ca crl --issuer issuing --out 2.crl");
    lost.fails(3, "ca/ledger is missing");
    for words in ["\"pqtls ca adopt\"", "\"pqtls ca crl --number\""] {
        assert!(lost.stderr().contains(words), "{}", lost.stderr());
    }
    folder.shell("cp -a bak/ledger ca/").ok();
    for command in [
        "ca crl --issuer issuing --out 3.crl",
        "ca issue d.example.org --key old.key --out d.pem",
    ] {
        let done = folder.pqtls(command);
        assert_eq!(done.status(), 0, "{}", done.stderr());
        for words in [
            "warning: the ledger is older than the CA's folder",
            "\"issuing-2\"",
            "\"pqtls ca crl --dir ca --number\"",
            "\"pqtls ca rollover --dir ca --use issuing-2\"",
        ] {
            assert!(done.stderr().contains(words), "{}", done.stderr());
        }
    }
    folder.pqtls("ca rollover --use issuing-2").ok();
    folder.pqtls("ca crl --issuer issuing --out 4.crl").ok();
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
