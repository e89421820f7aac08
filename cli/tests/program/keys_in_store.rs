//! Keys in a store wherever `--key` takes one that signs.

use crate::folder::Folder;
use crate::store::make_keks;

const STORE: &str = "--store keys.redb --kek-file kek";

/// A store with keys of several algorithms, whose public keys are in files, and a file to sign.
fn with_keys() -> Folder {
    let folder = Folder::new();
    make_keks(&folder);
    folder.write("release.txt", "Version 1.0\n");
    folder.pqtls("store init --kek-file kek").ok();
    for (name, algorithm) in [
        ("app", "ML-DSA-44"),
        ("old", "SLH-DSA-SHA2-128f"),
        ("web", "ECDSA-P256"),
        ("ssh", "MLDSA44-Ed25519-SHA512"),
        ("box", "ML-KEM-512"),
    ] {
        folder
            .pqtls(&format!(
                "store new shop/files/{name} --algorithm {algorithm} --grant operator=user --kek-file kek"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "store public shop/files/{name} --out {name}.pub --kek-file kek"
            ))
            .ok();
    }
    folder
}

#[test]
fn they_sign_files_requests_messages_and_tokens() {
    let folder = with_keys();
    for name in ["app", "old"] {
        let key = format!("--key store:shop/files/{name} {STORE}");
        folder
            .pqtls(&format!(
                "sign release.txt --context v1 --out {name}.sig {key}"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "verify --key {name}.pub --signature {name}.sig --context v1 release.txt"
            ))
            .ok();
    }
    for name in ["app", "old", "web", "ssh"] {
        let key = format!("--key store:shop/files/{name}#1 {STORE}");
        folder
            .pqtls(&format!(
                "cert request --name {name}.example --out {name}.csr {key}"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cert self-sign --name {name}.example --validity 30d --out {name}.pem {key}"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cms sign release.txt --cert {name}.pem --out {name}.cms {key}"
            ))
            .ok();
        let verified = folder.pqtls(&format!(
            "cms verify {name}.cms --signer {name}.pem --out {name}.txt"
        ));
        assert_eq!(verified.status(), 0, "{}", verified.stderr());
        assert_eq!(folder.read(&format!("{name}.txt")), "Version 1.0\n");
    }
    let key = format!("--key store:shop/files/app {STORE}");
    folder
        .pqtls(&format!("jwt sign --subject alice --out alice.jwt {key}"))
        .ok();
    folder.pqtls("jwt verify --key app.pub alice.jwt").ok();
    let key = format!("--key store:shop/files/ssh {STORE}");
    folder
        .pqtls(&format!("ssh sign release.txt --out ssh.sig {key}"))
        .ok();
    assert!(
        folder
            .read("ssh.sig")
            .starts_with("-----BEGIN SSH SIGNATURE-----")
    );
    // Both kinds of keys in one message, and the environment names the store.
    folder.pqtls("key new ML-DSA-44 --out file.key").ok();
    folder
        .pqtls("cert self-sign --key file.key --name f.example --validity 30d --out file.pem")
        .ok();
    folder
        .shell(
            "PQTLS_STORE_KEK=kek pqtls cms sign release.txt --key file.key --cert file.pem \
             --key store:shop/files/app --cert app.pem --out both.cms",
        )
        .ok();
    // A rotation: the newest version signs, and the one that is named.
    folder
        .pqtls("store rotate shop/files/app --kek-file kek")
        .ok();
    let key = format!("--key store:shop/files/app {STORE}");
    folder
        .pqtls(&format!("sign release.txt --out 2.sig {key}"))
        .ok();
    let old = folder.pqtls("verify --key app.pub --signature 2.sig release.txt");
    assert_eq!(old.status(), 1, "{}", old.stderr());
    // The certificate is of the first version.
    let other = folder.pqtls(&format!(
        "cms sign release.txt --cert app.pem --out x.cms {key}"
    ));
    assert_eq!(other.status(), 1, "{}", other.stderr());
}

#[test]
fn what_does_not_sign_is_refused_with_a_reason() {
    let folder = with_keys();
    for (line, status, words) in [
        (
            "sign release.txt --out x --key store:shop/files/missing",
            4,
            "may not sign shop/files/missing; if \"pqtls store list --store keys.redb --kek-file kek\" has it",
        ),
        (
            "sign release.txt --out x --key store:shop/files",
            2,
            "tenant/purpose/name",
        ),
        (
            "sign release.txt --out x --key store:shop/files/box",
            1,
            "ML-KEM-512",
        ),
        (
            "sign release.txt --out x --key store:shop/files/web",
            1,
            "post-quantum",
        ),
        (
            "sign release.txt --out x --key store:shop/files/app --as eve",
            4,
            "eve may not sign",
        ),
        (
            "sign release.txt --out x --key store:shop/files/app --deterministic",
            2,
            "--deterministic",
        ),
        (
            "sign release.txt --out x --key store:shop/files/app --pre-hash SHA-256",
            2,
            "--pre-hash",
        ),
        (
            "ssh sign release.txt --out x --key store:shop/files/app",
            2,
            "MLDSA44-Ed25519-SHA512",
        ),
        (
            "jwt sign --out x --key store:shop/files/ssh",
            1,
            "composite",
        ),
        (
            "cert request --name a.example --out x --key store:shop/files/box",
            1,
            "ML-KEM-512",
        ),
    ] {
        let refused = folder.pqtls(&format!("{line} {STORE}"));
        assert_eq!(refused.status(), status, "{line}: {}", refused.stderr());
        assert!(
            refused.stderr().contains(words),
            "{line}: {}",
            refused.stderr()
        );
        assert!(!folder.path().join("x").exists(), "{line}");
    }
    // A file whose name begins like that
    folder.pqtls("key new ML-DSA-44 --out ./store:a").ok();
    folder
        .pqtls("sign release.txt --out file.sig --key ./store:a")
        .ok();
}

#[test]
fn an_ocsp_responders_key_may_be_in_a_store() {
    let folder = with_keys();
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44 --key-store keys.redb --kek-file kek")
        .ok();
    folder
        .pqtls("ca issue a.example --new-key a.key --out a.pem --kek-file kek")
        .ok();
    folder
        .shell(&format!(
            "pqtls cert request --key store:shop/files/app --subject 'CN=Our OCSP' --out ocsp.csr {STORE}"
        ))
        .ok();
    let policy = folder.read("ca/policy.toml");
    folder.write(
        "ca/policy.toml",
        policy.replace(
            "\"server+client\"]",
            "\"server+client\", \"ocsp-responder\"]",
        ),
    );
    folder
        .pqtls("ca sign ocsp.csr --profile ocsp-responder --out ocsp.pem --kek-file kek")
        .ok();
    // The CA's key is not used, so its certificate alone is needed.
    folder
        .pqtls(&format!(
            "ca ocsp --for a.pem --key store:shop/files/app --cert ocsp.pem --out a.ocsp {STORE}"
        ))
        .ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --ocsp a.ocsp")
        .ok();
}
