//! Certificates, lists and requests that strangers' programs make, and what is said of each: that it is valid, or why it
//! is not. Only what is no DER is called that.

use interop::found::Case;

use super::found;

const fn case(command: &'static str, status: i32, says: &'static str) -> Case {
    Case {
        command,
        status,
        says,
    }
}

/// Self-issued CAs, and keys that are too weak (`paths/`).
#[test]
fn paths() {
    let Some(found) = found() else { return };
    found.check(&[
        case(
            "cert verify paths/selfissued-chain.pem --roots paths/selfissued-root.pem --name example.com --at 2026-11-28",
            0,
            "valid for the server",
        ),
        case(
            "cert verify paths/ncself-chain.pem --roots paths/ncself-root.pem --name example.com --at 2026-11-28",
            0,
            "valid for the server",
        ),
        // The names are still the end entity's only ones.
        case(
            "cert verify paths/ncself-chain.pem --roots paths/ncself-root.pem --name example.org --at 2026-11-28",
            1,
            "is not for example.org",
        ),
        case(
            "cert verify paths/rsa512-chain.pem --roots paths/rsa512-root.pem --at 2022-01-01",
            1,
            "the RSA key of CN=Target has 512 bits, and only keys of 2048 to 8192 bits are trusted here",
        ),
        case("cert show paths/rsa512-chain.pem", 0, "RSA-512"),
        case(
            "cert lint paths/rsa512-chain.pem",
            1,
            "the RSA key has 512 bits, fewer than 2048",
        ),
    ]);
}

/// Forms that are rare (`files/`).
#[test]
fn files() {
    let Some(found) = found() else { return };
    const VALID: &str = "valid for";
    found.check(&[
        case(
            "cert verify files/keyusage-4-octets.pem --roots files/root.pem --name www.example.org --at 2026-11-28T00:30:00Z",
            0,
            VALID,
        ),
        case(
            "cert verify files/keyusage-bit17.pem --roots files/root.pem --name www.example.org --at 2026-11-28T00:30:00Z",
            0,
            VALID,
        ),
        case(
            "cert verify files/san-x400address.pem --roots files/root.pem --name www.example.org --at 2026-11-28T00:30:00Z",
            0,
            VALID,
        ),
        case("cert show files/san-x400address.pem", 0, "www.example.org"),
        case(
            "cert verify files/subject-universalstring.pem --roots files/root.pem --name www.example.org --at 2026-11-28T00:30:00Z",
            0,
            VALID,
        ),
        case(
            "cert verify files/issuer-case-differs.pem --roots files/root.pem --name www.example.org --at 2026-11-28T00:30:00Z",
            0,
            VALID,
        ),
        case("cert lint files/keyusage-bit17.pem", 0, "nothing found"),
        case("cert lint files/keyusage-4-octets.pem", 1, "(x690-named-bits"),
        case("cert lint files/san-x400address.pem", 0, ""),
        // RFC 5280 section 4.2.1.12 leaves it to applications.
        case(
            "cert verify files/eku-any.pem --roots files/root.pem --name www.example.org --at 2026-11-28T00:30:00Z",
            1,
            "the extended key usage of a certificate in the chain does not allow this purpose",
        ),
        case("cert show files/plain.pem", 0, "CN="),
        case("cert show files/plain-root.pem", 0, "CN="),
        case(
            "cert verify files/constrained-localhost-and-wildcard.pem --roots files/constrained-root.pem \
             --at 2026-11-28T00:30:00Z",
            1,
            "",
        ),
        case(
            "cert verify files/crl-chain.pem --roots files/root.pem --at 2026-11-28T00:30:00Z",
            0,
            VALID,
        ),
        case("cert lint files/microsoft-extension-oid.csr", 0, ""),
    ]);
}

/// Files of other implementations (`peers/`).
#[test]
fn peers() {
    let Some(found) = found() else { return };
    found.check(&[
        case(
            "cert verify peers/ML-DSA-65.leaf.pem --roots peers/ML-DSA-65.root.pem --at 2026-11-28T12:00:00Z",
            0,
            "valid for a server",
        ),
        case("cert show peers/RSA-2048.root.pem", 0, "RSA-2048"),
        case("cert show peers/crl-root.pem", 0, "ML-DSA-65"),
        case("cert show peers/gpgsm-root.pem", 0, "ECDSA"),
        case("cert show peers/nss-root.pem", 0, "CN=NSS root ECDSA-P256"),
        case("cert show peers/ours-root.pem", 0, "CN="),
        case(
            "cert lint peers/ML-DSA-65.noattrs.csr.der",
            1,
            "is DER, but its form has no list of attributes",
        ),
        // RFC 9882 section 3.3: without attributes, the digest says nothing.
        case(
            "cms verify peers/noattrs-si-sha256.p7m --roots peers/ML-DSA-65.root.pem --at 2026-11-28T12:00:00Z",
            0,
            "valid",
        ),
        case(
            "cms verify peers/gpgsm-ecdsa.p7m --roots peers/gpgsm-root.pem --at 2026-11-28T12:00:00Z",
            0,
            "valid",
        ),
        case(
            "cms verify peers/rsapss20.p7m --roots peers/RSA-2048.root.pem --at 2026-11-28T12:00:00Z",
            1,
            "the signature is of algorithm 1.2.840.113549.1.1.10 with parameters that are not verified here",
        ),
    ]);
}
