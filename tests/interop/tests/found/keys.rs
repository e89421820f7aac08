//! Keys of others: under a passphrase, in sets of JSON Web Keys, and of SSH.

use interop::found::Case;

use super::found;

#[test]
fn private_keys_of_others() {
    let Some(found) = found() else { return };
    found.check(&[
        // BouncyCastle leaves out RFC 8018's default function, HMAC-SHA-1.
        Case {
            command: "key show peers/bc-default-prf-sha1.pem --passphrase-file files/secret.txt",
            status: 0,
            says: "warning: peers/bc-default-prf-sha1.pem is encrypted by PBKDF2 with HMAC-SHA-1, which is out of date",
        },
        Case {
            command: "key check peers/bc-default-prf-sha1.pem --passphrase-file files/secret.txt",
            status: 0,
            says: "sound private key of ML-DSA-65",
        },
        // What was written here until now.
        Case {
            command: "key show peers/ours-default-encrypted.pem --passphrase-file files/secret.txt",
            status: 0,
            says: "form         seed and expanded",
        },
    ]);
}

/// RFC 7517, section 5: members that can't be used are left out. The token names a key by its thumbprint, which the key in
/// these sets is not named by.
#[test]
fn sets_of_keys_with_an_unusable_one() {
    let Some(found) = found() else { return };
    for (file, why) in [
        ("jwks-one-short-pub", "expected 1952 bytes, got 3"),
        ("jwks-one-no-pub", "has no member \"pub\""),
        ("jwks-one-no-alg", "has no member \"alg\""),
    ] {
        let line =
            format!("jwt verify --key files/{file}.json files/token.jwt --at 2026-11-28T00:30:00Z");
        let output = found.pqtls(&line);
        assert_eq!(output.code(), Some(1), "{output}");
        for said in [
            format!("warning: files/{file}.json: key 1 of the set is left out: "),
            why.into(),
            "no key has the identifier \"IOJHNA7xWwmEzxb7jV-fJXwjBwvFNiCrbCDd8T9zXsg\"".into(),
        ] {
            assert!(output.stderr().contains(&said), "{output}");
        }
    }
    found.check(&[Case {
        command: "jwt verify --key files/jwk-bom.json files/token.jwt --at 2026-11-28T00:30:00Z",
        status: 0,
        says: "valid token, signed by ML-DSA-65",
    }]);
}

/// Lines about somebody else, one in Latin-1 and one with a time that isn't one; keys under the ciphers that
/// `ssh-keygen -Z` takes; lines after a signature's end.
#[test]
fn files_of_openssh() {
    let Some(found) = found() else { return };
    found.check(&[
        Case {
            command: "ssh verify files/ssh-m --signature files/ssh-m.sig --signers files/ssh-signers-latin1 --identity a@example.org",
            status: 0,
            says: "files/ssh-m: signed by a@example.org",
        },
        Case {
            command: "ssh verify files/ssh-m --signature peers/sig.sha512 --signers peers/al.other --identity bob",
            status: 1,
            says: "invalid MLDSA44-Ed25519-SHA512 signature",
        },
        Case {
            command: "ssh sign files/ssh-m --key peers/k_aes256-gcm --namespace file --passphrase-file files/secret.txt --out -",
            status: 0,
            says: "-----BEGIN SSH SIGNATURE-----",
        },
    ]);
}
