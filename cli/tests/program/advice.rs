//! Advice that helps whoever follows it.

use crate::folder::Folder;
use crate::store::make_keks;

fn with_ca() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --algorithm ML-DSA-44")
        .ok();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
}

/// What the policy's line advised, the CA's end refused, and the other way around.
#[test]
fn a_validity_that_is_too_long_for_policy_and_ca_is_told_once() {
    let folder = with_ca();
    let issue = "ca issue a.example.org --key a.key --out a.pem --validity";
    let by_policy = folder.pqtls(&format!("{issue} 10y"));
    by_policy.fails(4, "validity.max permits 90d at most; ask for that, or less");
    assert_eq!(by_policy.stderr().lines().count(), 2);
    folder.pqtls(&format!("{issue} 90d")).ok();
    folder
        .pqtls("ca init --dir short --name Short --algorithm ML-DSA-44 --validity 20d")
        .ok();
    let by_ca = folder.pqtls(&format!("{issue} 100d --dir short --force"));
    by_ca.fails(4, "the CA's own certificate ends in ");
    assert!(!by_ca.stderr().contains("max ="), "{}", by_ca.stderr());
}

#[test]
fn a_passphrase_encrypts_by_itself() {
    let folder = Folder::new();
    folder.write("pw", "correct horse");
    folder
        .pqtls("key new ML-DSA-44 --passphrase-file pw --out a.key")
        .ok();
    assert!(folder.read("a.key").contains("ENCRYPTED"));
    folder.pqtls("ssh new --passphrase-file pw --out id").ok();
    folder
        .pqtls("ssh sign a.key --key id --out a.sig")
        .fails(2, "id is encrypted");
    for command in [
        "key new",
        "key encrypt",
        "key export",
        "ssh new",
        "store export",
    ] {
        let help = folder.pqtls(&format!("{command} --help"));
        assert!(
            help.ok()
                .contains("New passphrase, which the private key is encrypted under"),
            "{command}"
        );
    }
}

#[test]
fn a_state_says_what_is_to_be_done() {
    let folder = Folder::new();
    make_keks(&folder);
    folder.pqtls("store init --kek-file kek").ok();
    folder
        .pqtls("store new a/b/c --algorithm ML-DSA-44 --kek-file kek")
        .ok();
    let refuses = |command: &str, words: &str| {
        let refused = folder.pqtls(&format!("store {command} --kek-file kek"));
        let complaint = refused.stderr();
        assert_eq!(refused.status(), 1, "{command}: {complaint}");
        assert!(complaint.contains(words), "{command}: {complaint}");
    };
    refuses(
        "cancel-destruction a/b/c#1",
        "a/b/c#1 is enabled: no destruction of it is scheduled that could be cancelled",
    );
    refuses(
        "enable a/b/c#1",
        "a/b/c#1 is enabled: nothing is to be done",
    );
    refuses(
        "destroy a/b/c#1",
        "\"pqtls store schedule-destruction --kek-file kek\"",
    );
    folder
        .pqtls("store schedule-destruction a/b/c#1 --after 30d --kek-file kek")
        .ok();
    refuses(
        "enable a/b/c#1",
        "\"pqtls store cancel-destruction --kek-file kek\"",
    );
    refuses(
        "schedule-destruction a/b/c#1 --after 40d",
        "for another time, cancel that first",
    );
    folder
        .pqtls("store cancel-destruction a/b/c#1 --kek-file kek")
        .ok();
    refuses(
        "disable a/b/c#1",
        "a/b/c#1 is disabled: nothing is to be done",
    );
    // Whoever may not list the store learns nothing from listing it.
    let denied = folder.pqtls("store list --as alice --kek-file kek");
    assert_eq!(denied.status(), 4);
    assert!(
        !denied.stderr().contains("store list"),
        "{}",
        denied.stderr()
    );
}

/// Who gives something else than what a store is sealed under is told the option for that.
#[test]
fn the_option_for_what_a_store_is_sealed_under_is_told() {
    let folder = Folder::new();
    make_keks(&folder);
    folder.write("pw", "correct horse\n");
    folder.shell("chmod 600 pw").ok();
    folder.pqtls("store init --kek-file kek").ok();
    folder
        .pqtls("store init --store other.redb --store-passphrase-file pw")
        .ok();
    for (options, words) in [
        (
            "--store-passphrase-file pw",
            "give this one, with --kek-file FILE",
        ),
        (
            "--store other.redb --kek-file kek",
            "give this one, with --store-passphrase-file FILE",
        ),
        ("", "--kek-pkcs11 LABEL (with --pkcs11-module and --token)"),
    ] {
        let refused = folder.pqtls(&format!("store list {options}"));
        assert_ne!(refused.status(), 0, "{options}");
        assert!(refused.stderr().contains(words), "{}", refused.stderr());
    }
}

#[test]
fn a_store_that_is_there_is_not_to_be_made() {
    let folder = Folder::new();
    make_keks(&folder);
    folder
        .pqtls("store list --store none --kek-file kek")
        .fails(3, "or make one with \"pqtls store init\"");
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    folder
        .pqtls("store list --store folder --kek-file kek")
        .fails(3, "and that you may read and write it");
    folder.pqtls("store init --kek-file kek").ok();
    folder
        .pqtls("store serve --tokens none --cert c --key k --kek-file kek")
        .fails(3, "can't read the file of tokens none: No such file");
}

/// A request was taken for a passphrase.
#[test]
fn standard_input_is_named_once() {
    let folder = with_ca();
    folder
        .pqtls("cert request --key a.key --name a.example.org --out a.csr")
        .ok();
    folder.write("pw", "correct horse");
    folder
        .pqtls("key encrypt ca/issuing.key --passphrase-file pw --out ca/issuing.key --force")
        .ok();
    let request = folder.read("a.csr");
    for command in [
        "ca sign - --ca-passphrase-file -",
        "ca renew - --ca-passphrase-file - --out b.pem",
        "key show - --passphrase-file -",
        "sign --key - -",
    ] {
        folder
            .pqtls_reading(&request, command)
            .fails(3, "standard input can be read once; name a file");
    }
    folder
        .pqtls_reading(&request, "ca sign - --ca-passphrase-file pw --out a.pem")
        .ok();
}

#[test]
fn what_is_missing_or_left_out_is_told() {
    let folder = with_ca();
    for (file, status) in [("none.pem", 3), ("./none", 3), ("none", 2)] {
        folder
            .pqtls(&format!("ca revoke {file}"))
            .fails(status, "neither a serial number in hexadecimal nor a file");
    }
    let by = folder.shell("pqtls ca issue a.example.org --key a.key --out a.pem --by ''");
    by.fails(2, "--by <WHO>");
    folder
        .pqtls("ca issue a.example.org --key a.key --out a.pem")
        .ok();
    folder.write("pw", "correct horse");
    folder
        .pqtls("key export a.key --certs a.pem --passphrase-file pw --out a.p12")
        .ok();
    let left = folder.pqtls("key import a.p12 --passphrase-file pw --out b.key");
    assert!(
        left.ok()
            .contains("not written: 2 certificates; --certs FILE"),
        "{}",
        left.ok()
    );
    let all = folder.pqtls("key import a.p12 --passphrase-file pw --out c.key --certs c.pem");
    assert!(!all.ok().contains("not written"), "{}", all.ok());
}

#[test]
fn who_is_no_signer_is_told_what_to_check() {
    let folder = Folder::new();
    folder.pqtls("ssh new --out id").ok();
    folder.write("m", "a message");
    folder.pqtls("ssh sign m --key id --out m.sig").ok();
    let key = folder.read("id.pub");
    folder.write(
        "signers",
        format!("a {key}b namespaces=\"git\" {key}c valid-before=\"20200101Z\" {key}"),
    );
    for (who, words) in [
        ("x", "; check --identity and --signers"),
        ("b", "; check --namespace"),
        (
            "c",
            "; if it was signed at another time, say when with --at",
        ),
    ] {
        folder
            .pqtls(&format!(
                "ssh verify m --signature m.sig --signers signers --identity {who}"
            ))
            .fails(1, words);
    }
    folder
        .pqtls("ssh verify m --signature m --signers signers --identity a")
        .fails(3, "name one that has it");
}
