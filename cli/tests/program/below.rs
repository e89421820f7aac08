//! CAs below others: `pqtls ca init` with `--under` and `--request`, `install`, and keys that follow in such a CA.

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::CertificateRequest;

use crate::folder::Folder;
use crate::rollover::folder_with_ca;

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
        .shell("pqtls ca init --name 'Example Root' --dir named --under ca")
        .fails(1, "so choose another with --name");
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

/// A root that issues can certify one of its own name that issues, too.
#[test]
fn a_root_that_issues_is_followed_by_one_of_its_name() {
    let folder = folder_with_ca();
    let init = "ca init --algorithm ML-DSA-44 --no-intermediate";
    for (name, dir) in [("Small", "small"), ("Small", "next"), ("Other", "other")] {
        folder
            .pqtls(&format!("{init} --name {name} --dir {dir}"))
            .ok();
    }
    folder.pqtls("ca rollover --dir small").fails(
        1,
        "it can certify a root of the same name that issues, too (the new CA has the same --name and --no-intermediate; then \
         \"pqtls ca certify --dir small NEW/root.pem\")",
    );
    folder
        .pqtls("ca certify --dir small other/root.pem --out x.pem")
        .fails(1, "path length 0 forbids");
    folder
        .pqtls("ca certify --dir small next/root.pem --out new-with-old.pem")
        .ok();
    folder
        .pqtls("ca issue www.example.org --dir next --key old.key --out www.pem")
        .ok();
    folder
        .shell("cat www.pem new-with-old.pem > chain.pem")
        .ok();
    folder
        .pqtls("cert verify chain.pem --roots small/root.pem --name www.example.org")
        .ok();
}

/// What keeps a CA from being made is said, and what to do.
#[cfg(unix)]
#[test]
fn a_place_where_no_ca_can_be_made_is_told() {
    let folder = folder_with_ca();
    folder.shell("mkdir empty && ln -s empty link").ok();
    let init = "ca init --name New --algorithm ML-DSA-44";
    for above in ["", " --under ca"] {
        for (dir, status, words) in [
            ("link", 3, "link is a link"),
            ("link/", 3, "link is a link"),
            ("nowhere/new", 3, "nowhere is not a folder that is there"),
            ("/proc/new", 3, "can't make a folder in /proc: "),
        ] {
            folder
                .pqtls(&format!("{init} --dir {dir}{above}"))
                .fails(status, words);
        }
    }
    for command in ["ca init --name New --dir new", "ca rollover --dir team"] {
        if command.contains("team") {
            folder
                .pqtls("ca init --name Team --algorithm ML-DSA-44 --dir team --under ca")
                .ok();
        }
        folder
            .pqtls(&format!("{command} --request ca/issuing-2.pem"))
            .fails(3, "ca/issuing-2.pem is a file of the CA itself");
    }
    folder.shell("mv ca/issuing.key ca/root.key .").ok();
    folder
        .pqtls("ca issue a.example.org --key old.key --out a.pem")
        .fails(3, "have another key issue (\"pqtls ca rollover\")");
    folder
        .pqtls("ca crl --root --out root.crl")
        .fails(3, "if it is gone for good, nothing signs in its place");
}

/// Whoever revoked a CA, or has it on hold, did not mean it to have another certificate.
#[test]
fn a_revocation_of_a_ca_is_not_got_round_without_a_word() {
    let folder = folder_with_ca();
    for (name, above) in [("Team", "--under ca"), ("Lab", "--request Lab.csr")] {
        folder
            .pqtls(&format!(
                "ca init --name {name} --algorithm ML-DSA-44 --dir {name} {above}"
            ))
            .ok();
    }
    folder.pqtls("ca certify Lab.csr --out lab.pem").ok();
    folder
        .pqtls("ca revoke Team/issuing.pem --reason certificateHold")
        .ok();
    for options in ["", " --same-name"] {
        let refused = folder.pqtls(&format!("ca rollover --dir Team --under ca{options}"));
        refused.fails(1, "the certificate of CN=Team with serial number ");
        for words in [
            " is on hold since ",
            " (certificateHold, by alice)",
            "\"pqtls ca reinstate --dir ca ",
            "--despite-revocation",
        ] {
            assert!(refused.stderr().contains(words), "{}", refused.stderr());
        }
    }
    folder
        .pqtls("ca rollover --dir Team --same-name --request next.csr")
        .ok();
    folder
        .pqtls("ca rollover --dir Team --request numbered.csr")
        .ok();
    for request in ["next.csr --same-name", "numbered.csr"] {
        folder
            .pqtls(&format!("ca certify {request} --out x.pem"))
            .fails(1, " is on hold since ");
    }
    folder
        .pqtls("ca rollover --dir Team --under ca --despite-revocation --name Other")
        .ok();

    let certify = "ca certify Lab.csr --out x.pem --force";
    for (reason, words) in [
        ("certificateHold", " is on hold since "),
        ("privilegeWithdrawn", " (privilegeWithdrawn, by alice)"),
    ] {
        folder
            .pqtls(&format!("ca revoke lab.pem --reason {reason}"))
            .ok();
        folder.pqtls(certify).fails(1, words);
    }
    // Where one is valid, another gets round nothing.
    for options in [" --despite-revocation", ""] {
        folder.pqtls(&format!("{certify}{options}")).ok();
    }

    let root = "ca certify third/root.pem --path-length 0 --out third.pem --force";
    folder
        .pqtls("ca init --name Third --dir third --algorithm ML-DSA-44")
        .ok();
    for (reason, status) in [("superseded", 0), ("cessationOfOperation", 1)] {
        folder.pqtls(root).ok();
        folder
            .pqtls(&format!("ca revoke third.pem --reason {reason}"))
            .ok();
        let again = folder.pqtls(&root.replace("third.pem", "again.pem"));
        assert_eq!(again.status(), status, "{reason}: {}", again.stderr());
        folder
            .shell("test ! -e again.pem || pqtls ca revoke again.pem --reason superseded")
            .ok();
    }
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

/// A CA above that limits the purposes limits them for all below.
#[test]
fn a_ca_issues_for_the_purposes_of_its_own_certificate_alone() {
    let folder = Folder::new();
    let foreign = CertificateBuilder::ca("Foreign");
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(foreign, key()).unwrap();
    folder.write("root.pem", root.certificate().to_pem());
    folder
        .pqtls("ca init --name Own --request own.csr --algorithm ML-DSA-44")
        .ok();
    let request = CertificateRequest::from_pem(&folder.read("own.csr")).unwrap();
    let request = request.verify().unwrap();
    let own = CertificateBuilder::ca("Own").path_len(0).client_auth();
    let own = root.issue(own, &request).unwrap();
    folder.write("own.pem", own.to_pem());
    folder
        .pqtls("ca install own.pem --root root.pem --any-names")
        .ok();
    for profile in ["server", "server+client"] {
        folder
            .pqtls(&format!(
                "ca issue a.example.org --profile {profile} --new-key a.key --out a.pem"
            ))
            .fails(4, "does not permit the purposes of the profile");
    }
    let listed = folder.pqtls("ca list");
    assert!(!listed.ok().contains("a.example.org"), "{}", listed.ok());
}
