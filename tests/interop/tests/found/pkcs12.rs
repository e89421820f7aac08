//! PKCS#12 files of NSS, in BER, and of Java.

use interop::found::Case;

use super::found;

#[test]
fn pkcs12_of_others() {
    let Some(found) = found() else { return };
    let case = |command, status, says| Case {
        command,
        status,
        says,
    };
    found.check(&[
        case(
            "key import files/nss-pk12util.p12 --passphrase-file files/secret.txt",
            0,
            "-----BEGIN PRIVATE KEY-----",
        ),
        case(
            "cert import files/nss-pk12util.p12 --passphrase-file files/secret.txt",
            0,
            "-----BEGIN CERTIFICATE-----",
        ),
        case(
            "key import peers/nss.p12 --passphrase-file files/secret.txt",
            0,
            "-----BEGIN PRIVATE KEY-----",
        ),
        case(
            "cert import files/java-truststore.p12 --passphrase-file files/secret.txt",
            0,
            "-----BEGIN CERTIFICATE-----",
        ),
        case(
            "key import files/java-truststore.p12 --passphrase-file files/secret.txt",
            2,
            "has no private key; take out its certificates with \"pqtls cert import\"",
        ),
        case(
            "key import files/trailing-octet.p12 --passphrase-file files/secret.txt",
            3,
            "the PKCS#12 file goes on after its end, at byte 1088; copy it again, in binary",
        ),
        case(
            "key import files/nss-pk12util.p12 --passphrase-file files/ssh-m",
            1,
            "wrong passphrase, or the file was changed",
        ),
    ]);
}
