//! What reading costs: each reader of strangers' bytes with the worst that its author could think of. SECURITY.md has
//! the bounds, in a table. This is a separate binary, since counting allocations replaces the allocator.

use core::time::Duration;
use std::time::Instant;

use allocation_counter::measure;
use hmac::{Hmac, KeyInit, Mac};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::encoding::syntax::SyntaxError;
use pq_x509::keys::protection::{CostLimits, EncryptedPrivateKey, KeyDerivation, Prf, Protection};
use pq_x509::keys::{PrivateKey, PrivateKeyForm, PublicKey, SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::{OcspRequest, OcspResponse, OcspResponseError};
use pq_x509::pkcs12::{Pkcs12, Pkcs12Error, Pkcs12Mac};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::{CertificateRevocationList, RevocationListError};
use sha2::Sha256;

/// How much input these tests make.
const MEBIBYTE: usize = 1 << 20;

/// What a reader may take at once, beside its input: so many times the input, and so many bytes in any case.
#[derive(Clone, Copy)]
struct Bound {
    times: usize,
    bytes: usize,
}

/// Nothing here takes longer than this, however busy the machine is: work that grows with the square of the input would.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads, and checks the most memory that was in use at once.
#[track_caller]
fn assert_bounded(what: &str, input: usize, bound: Bound, read: impl FnOnce()) {
    let start = Instant::now();
    let peak = measure(read).bytes_max;
    let time = start.elapsed();
    let times = peak as f64 / input as f64;
    println!("{what}: {input} bytes in, {peak} at once ({times:.1} times), {time:?}");
    let most = bound.times * input + bound.bytes;
    assert!(
        peak <= most as u64,
        "{what}: {peak} bytes for {input}, more than {most}"
    );
    assert!(time < PATIENCE, "{what}: {time:?}");
}

/// A value in DER.
fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let len = contents.len().to_be_bytes();
    let digits = &len[len.iter().take_while(|byte| **byte == 0).count()..];
    let mut der = vec![tag];
    match contents.len() {
        0..0x80 => der.push(contents.len() as u8),
        _ => {
            der.push(0x80 | digits.len() as u8);
            der.extend(digits);
        }
    }
    der.extend(contents);
    der
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OCTETS: u8 = 4;

/// As many of a value as fit into so many bytes.
fn many(value: &[u8], bytes: usize) -> Vec<u8> {
    value.repeat(bytes / value.len())
}

/// An object identifier that no other number gives.
fn distinct(number: usize) -> Vec<u8> {
    let digit = |shift: usize| (number >> shift) as u8 & 0x7f;
    tlv(
        6,
        &[0x2a, 0x80 | 1, 0x80 | digit(14), 0x80 | digit(7), digit(0)],
    )
}

/// A certificate with these contents of its issuer, its subject and its list of extensions.
fn certificate(issuer: &[u8], subject: &[u8], extensions: &[u8]) -> Vec<u8> {
    let algorithm = tlv(SEQUENCE, &tlv(6, &[0x2a, 3]));
    let key = tlv(SEQUENCE, &[&algorithm[..], &[3, 1, 0]].concat());
    let time = tlv(0x17, b"260101000000Z");
    let mut body = vec![0xa0, 3, 2, 1, 2, 2, 1, 1];
    body.extend(&algorithm);
    body.extend(tlv(SEQUENCE, issuer));
    body.extend(tlv(SEQUENCE, &time.repeat(2)));
    body.extend(tlv(SEQUENCE, subject));
    body.extend(key);
    if !extensions.is_empty() {
        body.extend(tlv(0xa3, &tlv(SEQUENCE, extensions)));
    }
    tlv(
        SEQUENCE,
        &[&tlv(SEQUENCE, &body)[..], &algorithm, &[3, 1, 0]].concat(),
    )
}

fn extension(oid: &[u8], value: &[u8]) -> Vec<u8> {
    let octets = tlv(OCTETS, value);
    tlv(SEQUENCE, &[&tlv(6, oid)[..], &octets].concat())
}

const SUBJECT_ALT_NAME: &[u8] = &[0x55, 29, 17];

/// Values that take much memory for few bytes, in the place of an attribute or a name.
fn names(bytes: usize) -> Vec<(&'static str, Vec<u8>)> {
    let attribute = tlv(SEQUENCE, &[6, 1, 0x2a, 5, 0]);
    vec![
        ("empty sets", many(&[SET, 0], bytes)),
        ("sets of one", many(&tlv(SET, &attribute), bytes)),
        ("one set", tlv(SET, &many(&attribute, bytes))),
        (
            "one value",
            tlv(
                SET,
                &tlv(
                    SEQUENCE,
                    &[&[6, 3, 0x55, 4, 3][..], &tlv(12, &vec![b'a'; bytes])].concat(),
                ),
            ),
        ),
    ]
}

/// Certificates of some length whose parts are many or long.
fn certificates(bytes: usize) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (what, name) in names(bytes) {
        all.push((format!("issuer of {what}"), certificate(&name, &[], &[])));
        all.push((format!("subject of {what}"), certificate(&[], &name, &[])));
    }
    let number = bytes / 14;
    let extensions = (0..number).map(|at| {
        let parts = [&distinct(at)[..], &tlv(OCTETS, &[])].concat();
        tlv(SEQUENCE, &parts)
    });
    let extensions: Vec<u8> = extensions.flatten().collect();
    all.push(("extensions".into(), certificate(&[], &[], &extensions)));
    let general = [
        ("DNS names", tlv(0x82, b"a")),
        ("empty DNS names", tlv(0x82, b"")),
        ("addresses", tlv(0x87, &[127, 0, 0, 1])),
        ("URIs", tlv(0x86, b"a:")),
        ("directory names", tlv(0xa4, &tlv(SEQUENCE, &[]))),
        (
            "directory names of sets",
            tlv(0xa4, &tlv(SEQUENCE, &[SET, 0])),
        ),
        ("other names", tlv(0xa0, &[6, 1, 0x2a, 0xa0, 2, 5, 0])),
        ("identifiers", tlv(0x88, &[0x2a])),
    ];
    for (what, name) in general {
        let names = many(&name, bytes);
        let with = |oid: &[u8], value: &[u8]| certificate(&[], &[], &extension(oid, value));
        let san = with(SUBJECT_ALT_NAME, &tlv(SEQUENCE, &names));
        all.push((format!("SAN of {what}"), san));
        let authority = tlv(SEQUENCE, &[&tlv(0xa1, &names)[..], &[0x82, 1, 1]].concat());
        all.push((format!("AKI of {what}"), with(&[0x55, 29, 35], &authority)));
    }
    let purposes = tlv(SEQUENCE, &many(&[6, 1, 0x2a], bytes));
    all.push((
        "purposes".into(),
        certificate(&[], &[], &extension(&[0x55, 29, 37], &purposes)),
    ));
    let subtrees = tlv(SEQUENCE, &tlv(0xa0, &many(&[SEQUENCE, 2, 0x82, 0], bytes)));
    all.push((
        "subtrees".into(),
        certificate(&[], &[], &extension(&[0x55, 29, 30], &subtrees)),
    ));
    let usage = tlv(3, &vec![0; bytes]);
    all.push((
        "key usages".into(),
        certificate(&[], &[], &extension(&[0x55, 29, 15], &usage)),
    ));
    all.push((
        "an unknown extension".into(),
        certificate(&[], &[], &extension(&[0x2a], &vec![0; bytes])),
    ));
    all.push(("depth".into(), certificate(&nested(bytes), &[], &[])));
    all
}

/// As many values within each other as fit.
fn nested(bytes: usize) -> Vec<u8> {
    let mut reversed: Vec<u8> = Vec::new();
    while reversed.len() < bytes {
        let header = tlv(SEQUENCE, &[]);
        let len = reversed.len();
        let digits = len.to_be_bytes();
        let digits = &digits[digits.iter().take_while(|byte| **byte == 0).count()..];
        reversed.extend(digits.iter().rev());
        match len {
            0 => reversed.push(0),
            1..0x80 => {}
            _ => reversed.push(0x80 | digits.len() as u8),
        }
        reversed.push(header[0]);
    }
    reversed.reverse();
    reversed
}

/// A certificate: at most seven times its length, and 2 MiB.
const CERTIFICATE: Bound = Bound {
    times: 7,
    bytes: 2 * MEBIBYTE,
};

#[test]
fn certificates_of_many_parts() {
    // Below the limits on numbers for all, at them for values of two bytes and of three, and far beyond.
    for bytes in [1000, 19_000, 29_000, 60_000, MEBIBYTE] {
        for (what, der) in certificates(bytes) {
            assert_bounded(&what, der.len(), CERTIFICATE, || {
                drop(Certificate::from_der(&der));
            });
        }
    }
}

/// Lists of certificates take at most so many times their length: short certificates of many parts.
#[test]
fn many_certificates() {
    let mut worst = 0.0_f64;
    for (what, der) in certificates(300) {
        let number = 200;
        let peak = measure(|| {
            let all: Vec<_> = (0..number).map(|_| Certificate::from_der(&der)).collect();
            drop(all);
        });
        let times = peak.bytes_max as f64 / (number * der.len()) as f64;
        println!("{what}: {times:.1}");
        worst = worst.max(times);
    }
    assert!(worst < 40.0, "{worst}");
}

/// A certification request with these contents of its subject and its attributes.
fn request(subject: &[u8], attributes: &[u8]) -> Vec<u8> {
    let algorithm = tlv(SEQUENCE, &tlv(6, &[0x2a, 3]));
    let key = tlv(SEQUENCE, &[&algorithm[..], &[3, 1, 0]].concat());
    let info = [
        &[2, 1, 0][..],
        &tlv(SEQUENCE, subject),
        &key,
        &tlv(0xa0, attributes),
    ];
    let info = tlv(SEQUENCE, &info.concat());
    tlv(SEQUENCE, &[&info[..], &algorithm, &[3, 1, 0]].concat())
}

/// Requests of some length. They have names and attributes.
fn requests(bytes: usize) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (what, name) in names(bytes) {
        all.push((format!("subject of {what}"), request(&name, &[])));
    }
    let none = tlv(SEQUENCE, &[6, 1, 0x2a, SET, 0]);
    all.push(("attributes".into(), request(&[], &many(&none, bytes))));
    let values = tlv(
        SEQUENCE,
        &[&[6, 1, 0x2a][..], &tlv(SET, &many(&[5, 0], bytes))].concat(),
    );
    all.push(("one attribute".into(), request(&[], &values)));
    all.push(("depth".into(), request(&nested(bytes), &[])));
    all
}

#[test]
fn requests_of_many_parts() {
    for bytes in [1000, 30_000, MEBIBYTE] {
        for (what, der) in requests(bytes) {
            assert_bounded(&what, der.len(), CERTIFICATE, || {
                drop(CertificateRequest::from_der(&der));
            });
        }
    }
}

/// A revocation list with these contents of its issuer, its entries and its extensions.
fn list(issuer: &[u8], entries: &[u8], extensions: &[u8]) -> Vec<u8> {
    let algorithm = tlv(SEQUENCE, &tlv(6, &[0x2a, 3]));
    let body = [
        &[2, 1, 1][..],
        &algorithm,
        &tlv(SEQUENCE, issuer),
        &time_of_lists().repeat(2),
        &tlv(SEQUENCE, entries),
        &tlv(0xa0, &tlv(SEQUENCE, extensions)),
    ];
    let body = tlv(SEQUENCE, &body.concat());
    tlv(SEQUENCE, &[&body[..], &algorithm, &[3, 1, 0]].concat())
}

fn time_of_lists() -> Vec<u8> {
    tlv(0x17, b"260101000000Z")
}

/// Revocation lists of some length whose parts are many or long.
fn lists(bytes: usize) -> Vec<(String, Vec<u8>)> {
    let time = time_of_lists();
    let entry = tlv(SEQUENCE, &[&[2, 1, 1][..], &time].concat());
    let reason = tlv(SEQUENCE, &extension(&[0x55, 29, 21], &[10, 1, 1]));
    let with_reason = tlv(SEQUENCE, &[&[2, 1, 1][..], &time, &reason].concat());
    let number = number_of_lists();
    let tiny = tlv(SEQUENCE, &[6, 1, 0x2a, OCTETS, 0]);
    let mut all = Vec::new();
    for (what, name) in names(bytes) {
        all.push((format!("issuer of {what}"), list(&name, &entry, &number)));
    }
    all.push(("entries".into(), list(&[], &many(&entry, bytes), &number)));
    let entries = many(&with_reason, bytes);
    all.push(("reasons".into(), list(&[], &entries, &number)));
    let names = many(&tlv(0x86, b"a:"), bytes);
    let point = tlv(SEQUENCE, &tlv(0xa0, &tlv(0xa0, &names)));
    let point = extension(&[0x55, 29, 28], &point);
    all.push((
        "URLs".into(),
        list(&[], &entry, &[&number[..], &point].concat()),
    ));
    let extensions = many(&tiny, bytes);
    all.push(("extensions".into(), list(&[], &entry, &extensions)));
    let one = tlv(SEQUENCE, &extensions);
    let one = tlv(SEQUENCE, &[&[2, 1, 1][..], &time, &one].concat());
    all.push(("one entry".into(), list(&[], &one, &number)));
    for count in [1, 5, 65, 2049] {
        let some = tlv(SEQUENCE, &tiny.repeat(count));
        let some = tlv(SEQUENCE, &[&[2, 1, 1][..], &time, &some].concat());
        all.push((
            format!("entries of {count}"),
            list(&[], &many(&some, bytes), &number),
        ));
    }
    all.push(("depth".into(), list(&nested(bytes), &entry, &number)));
    all
}

/// A revocation list has any number of entries, and takes at most sixteen times its length and 2 MiB.
const LIST: Bound = Bound {
    times: 16,
    bytes: 2 * MEBIBYTE,
};

#[test]
fn lists_of_many_parts() {
    let too_many = Err(RevocationListError::Syntax(SyntaxError::TooMany(10_000)));
    for bytes in [1000, 19_000, 30_000, 300_000, MEBIBYTE] {
        for (what, der) in lists(bytes) {
            assert_bounded(&format!("list: {what}"), der.len(), LIST, || {
                let read = CertificateRevocationList::from_der(&der).map(drop);
                // All but these have more values than a name or an entry may have.
                let is_long = what.starts_with("entries")
                    || ["reasons", "issuer of one value"].contains(&&*what);
                if bytes == MEBIBYTE && !is_long {
                    assert_eq!(read, too_many, "{what}");
                }
            });
            // What is cut off or has bytes too many takes no more.
            let mut broken = der.clone();
            broken.pop();
            assert_bounded(&format!("cut off: {what}"), der.len(), LIST, || {
                assert!(CertificateRevocationList::from_der(&broken).is_err());
            });
            broken.extend([0; 2]);
            assert_bounded(&format!("too long: {what}"), der.len(), LIST, || {
                assert!(CertificateRevocationList::from_der(&broken).is_err());
            });
        }
    }
    // Each value of such a name is one empty set, and the name itself none.
    let issuer = |number: usize| list(&[SET, 0].repeat(number), &[], &number_of_lists());
    let read = |number| CertificateRevocationList::from_der(&issuer(number)).map(drop);
    assert_ne!(read(10_000), too_many);
    assert_eq!(read(10_001), too_many);
}

/// The extension cRLNumber.
fn number_of_lists() -> Vec<u8> {
    extension(&[0x55, 29, 20], &[2, 1, 1])
}

/// The linter reads what [`Certificate`] and others refuse as far as it can, and takes no more than the reader of lists.
#[test]
fn linted_documents_of_many_parts() {
    use pq_x509::linting::{Kind, lint};

    for bytes in [1000, 19_000, 300_000] {
        for (kind, documents) in [
            (Kind::Certificate, certificates(bytes)),
            (Kind::Request, requests(bytes)),
            (Kind::RevocationList, lists(bytes)),
        ] {
            for (what, der) in documents {
                let what = format!("linted {kind:?}: {what}");
                assert_bounded(&what, der.len(), LIST, || drop(lint(kind, &der)));
            }
        }
    }
}

/// A key: at most four times the input and half a MiB, the key itself included.
#[test]
fn keys_of_many_parts() {
    const KEY: Bound = Bound {
        times: 4,
        bytes: MEBIBYTE / 2,
    };
    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa87, &[1; 32]).unwrap();
    for form in [
        PrivateKeyForm::Seed,
        PrivateKeyForm::Expanded,
        PrivateKeyForm::Both,
    ] {
        let der = key.to_pkcs8_der_as(form).unwrap();
        assert_bounded(&format!("{form:?}"), der.len(), KEY, || {
            drop(PrivateKey::from_pkcs8_der(&der).unwrap());
        });
    }
    let identifier = tlv(SEQUENCE, &tlv(6, &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 17]));
    let seed = tlv(OCTETS, &tlv(0x80, &[1; 32]));
    for bytes in [1000, 30_000, MEBIBYTE] {
        let attribute = tlv(SEQUENCE, &[6, 1, 0x2a, SET, 0]);
        let values = tlv(
            SEQUENCE,
            &[&[6, 1, 0x2a][..], &tlv(SET, &many(&[5, 0], bytes))].concat(),
        );
        for (what, attributes) in [
            ("attributes", many(&attribute, bytes)),
            ("one attribute", values),
            ("depth", nested(bytes)),
        ] {
            let parts = [&[2, 1, 0][..], &identifier, &seed, &tlv(0xa0, &attributes)];
            let der = tlv(SEQUENCE, &parts.concat());
            assert_bounded(what, der.len(), KEY, || {
                drop(PrivateKey::from_pkcs8_der(&der));
            });
        }
        let long = [&[2, 1, 0][..], &identifier, &tlv(OCTETS, &vec![4; bytes])];
        let long = tlv(SEQUENCE, &long.concat());
        let public = tlv(
            SEQUENCE,
            &[&identifier[..], &tlv(3, &vec![0; bytes])].concat(),
        );
        assert_bounded("a long key", long.len(), KEY, || {
            drop(PrivateKey::from_pkcs8_der(&long));
            drop(PublicKey::from_spki_der(&public));
        });
    }
}

/// PEM: at most four times the text, with what is in it.
#[test]
fn pem_of_many_blocks() {
    const PEM: Bound = Bound {
        times: 4,
        bytes: 64 * 1024,
    };
    let block = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let open = "-----BEGIN CERTIFICATE-----\n";
    let label = "-----BEGIN -----\n";
    for (what, piece) in [
        ("blocks", block),
        ("open blocks", open),
        ("labels", label),
        ("lines", "\n"),
    ] {
        let text = piece.repeat(MEBIBYTE / piece.len());
        assert_bounded(what, text.len(), PEM, || {
            drop(Certificate::chain_from_pem(&text));
            drop(Certificate::from_pem(&text));
            drop(SigningKey::from_pkcs8_pem(&text));
            drop(EncryptedPrivateKey::from_pem(&text));
        });
    }
    let long = format!(
        "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n",
        ("A".repeat(64) + "\n").repeat(MEBIBYTE / 65)
    );
    assert_bounded("one block", long.len(), PEM, || {
        drop(SigningKey::from_pkcs8_pem(&long));
    });
}

fn pbkdf2() -> Protection {
    Protection::default().with_key_derivation(KeyDerivation::Pbkdf2 {
        prf: Prf::HmacSha256,
        iterations: 1,
    })
}

/// A key under a passphrase: what scrypt may take, 257 MiB by default, and seven times the input.
#[test]
fn encrypted_keys() {
    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
    let scrypt = |log_n| {
        Protection::default().with_key_derivation(KeyDerivation::Scrypt { log_n, r: 8, p: 1 })
    };
    let der = key
        .to_encrypted_pkcs8_der(b"passphrase", &scrypt(14))
        .unwrap();
    // What `CostLimits` counts: N + p + 1 blocks of 128·r bytes.
    let most = Bound {
        times: 7,
        bytes: 128 * 8 * ((1 << 14) + 2) + MEBIBYTE / 2,
    };
    assert_bounded("scrypt", der.len(), most, || {
        drop(SigningKey::from_encrypted_pkcs8_der(&der, b"passphrase").unwrap());
    });
    // Beyond it, nothing is derived.
    let refused = Bound {
        times: 7,
        bytes: MEBIBYTE,
    };
    let limits = CostLimits::default().with_scrypt_memory(1 << 20);
    assert_bounded("refused", der.len(), refused, || {
        let key = EncryptedPrivateKey::from_der(&der).unwrap();
        assert!(key.decrypt_within(b"passphrase", &limits).is_err());
    });
    let pkcs8 = {
        let identifier = tlv(SEQUENCE, &tlv(6, &[0x2a]));
        let parts = [
            &[2, 1, 0][..],
            &identifier,
            &tlv(OCTETS, &vec![0; MEBIBYTE]),
        ];
        tlv(SEQUENCE, &parts.concat())
    };
    let long = EncryptedPrivateKey::encrypt(&pkcs8, b"passphrase", &pbkdf2()).unwrap();
    assert_bounded("a long key", long.as_der().len(), refused, || {
        let key = EncryptedPrivateKey::from_der(long.as_der()).unwrap();
        drop(key.decrypt(b"passphrase").unwrap());
    });
}

/// A PKCS#12 file: at most twenty times its length and 1 MiB.
#[test]
fn pkcs12_of_many_bags() {
    const FILE: Bound = Bound {
        times: 20,
        bytes: MEBIBYTE,
    };
    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
    let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key).unwrap();
    let mac = Pkcs12Mac::Pbmac1 {
        prf: Prf::HmacSha256,
        iterations: 1,
    };
    let other = tlv(
        SEQUENCE,
        &[&[2, 1, 0][..], &tlv(SEQUENCE, &[6, 1, 0x2a]), &[4, 0]].concat(),
    );
    let mut keys = Pkcs12::new();
    for _ in 0..4000 {
        keys = keys.with_key(&other, None, &[]).unwrap();
    }
    let mut certificates = Pkcs12::new();
    for number in 0..40_u8 {
        let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[number; 32]).unwrap();
        let leaf = CertificateBuilder::server().dns_name("a.example");
        let leaf = ca.issue(leaf, &key).unwrap();
        certificates = certificates.with_certificates(&[leaf]);
    }
    for (what, store) in [("keys", keys), ("certificates", certificates)] {
        let der = store.to_der("passphrase", &pbkdf2(), mac).unwrap();
        assert_bounded(what, der.len(), FILE, || {
            drop(Pkcs12::from_der(&der, "passphrase").unwrap());
        });
    }
    let bag = |kind: u8, value: &[u8], attributes: &[u8]| {
        let id = [6, 11, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 12, 10, 1, kind];
        let attributes = match attributes {
            [] => Vec::new(),
            some => tlv(SET, some),
        };
        tlv(
            SEQUENCE,
            &[&id[..], &tlv(0xa0, value), &attributes].concat(),
        )
    };
    let octets = tlv(0xa0, &tlv(OCTETS, &certificate(&[], &[], &[])));
    let x509 = [6, 10, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 9, 22, 1];
    let certificate = tlv(SEQUENCE, &[&x509[..], &octets].concat());
    let attribute = tlv(SEQUENCE, &[6, 1, 0x2a, SET, 0]);
    for bytes in [1000, 100_000, MEBIBYTE] {
        for (what, bags) in [
            ("bags of keys", many(&bag(1, &other, &[]), bytes)),
            (
                "bags of certificates",
                many(&bag(3, &certificate, &[]), bytes),
            ),
            ("bags of other kinds", many(&bag(4, &[5, 0], &[]), bytes)),
            ("attributes", bag(1, &other, &many(&attribute, bytes))),
            (
                "bags with attributes",
                many(&bag(1, &other, &attribute), bytes),
            ),
        ] {
            let one = data(&tlv(SEQUENCE, &bags));
            for (what, contents) in [
                (what.to_string(), one.clone()),
                (format!("two safes of {what}"), one.repeat(2)),
            ] {
                let der = sealed(&tlv(SEQUENCE, &contents));
                assert_bounded(&what, der.len(), FILE, || {
                    let read = Pkcs12::from_der(&der, "passphrase");
                    let refused = read.is_err_and(|error| {
                        !matches!(error, Pkcs12Error::Syntax(SyntaxError::TooMany(_)))
                    });
                    assert!(!refused, "{what}");
                });
            }
        }
        let safes = many(&data(&tlv(SEQUENCE, &[])), bytes);
        let der = sealed(&tlv(SEQUENCE, &safes));
        assert_bounded("empty safes", der.len(), FILE, || {
            drop(Pkcs12::from_der(&der, "passphrase"));
        });
    }
    // Nothing is looked at before the MAC is right.
    let little = Bound {
        times: 1,
        bytes: 64 * 1024,
    };
    let rubbish = sealed(&tlv(SEQUENCE, &many(&[SEQUENCE, 0], MEBIBYTE)));
    assert_bounded("rubbish", rubbish.len(), little, || {
        let refused = Pkcs12::from_der(&rubbish, "another passphrase").unwrap_err();
        assert_eq!(refused, Pkcs12Error::WrongPassphraseOrChanged);
    });
}

/// A ContentInfo of the type data (RFC 5652).
fn data(contents: &[u8]) -> Vec<u8> {
    let id = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 1];
    let contents = tlv(0xa0, &tlv(OCTETS, contents));
    tlv(SEQUENCE, &[&id[..], &contents].concat())
}

/// A PKCS#12 file with these contents, under PBMAC1 (RFC 9879) with the passphrase "passphrase".
fn sealed(contents: &[u8]) -> Vec<u8> {
    let pkcs5 = |last: u8| [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, last];
    let hmac = tlv(
        SEQUENCE,
        &[6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 2, 9, 5, 0],
    );
    let parameters = [&tlv(OCTETS, b"salt")[..], &[2, 1, 1, 2, 1, 32], &hmac];
    let parameters = tlv(SEQUENCE, &parameters.concat());
    let pbkdf2 = tlv(SEQUENCE, &[&pkcs5(12)[..], &parameters].concat());
    let both = tlv(SEQUENCE, &[pbkdf2, hmac].concat());
    let algorithm = tlv(SEQUENCE, &[&pkcs5(14)[..], &both].concat());
    let mut key = [0; 32];
    pbkdf2::pbkdf2_hmac::<Sha256>(b"passphrase", b"salt", 1, &mut key);
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key).unwrap();
    let mac = mac.chain_update(contents).finalize().into_bytes();
    let digest = tlv(SEQUENCE, &[&algorithm[..], &tlv(OCTETS, &mac)].concat());
    let mac = tlv(SEQUENCE, &[&digest[..], &tlv(OCTETS, b"salt")].concat());
    let parts = [&[2, 1, 3][..], &data(contents), &mac];
    tlv(SEQUENCE, &parts.concat())
}

/// OCSP requests have at most 64 KiB, responses 1 MiB.
#[test]
fn ocsp_of_many_parts() {
    const OCSP: Bound = Bound {
        times: 40,
        bytes: MEBIBYTE,
    };
    const LITTLE: Bound = Bound {
        times: 7,
        bytes: 2 * MEBIBYTE,
    };
    let id = tlv(
        SEQUENCE,
        &[&tlv(SEQUENCE, &[6, 1, 0x2a])[..], &[4, 0, 4, 0, 2, 1, 1]].concat(),
    );
    let one = tlv(SEQUENCE, &id);
    for bytes in [1000, 60_000, 400_000, MEBIBYTE] {
        let request = tlv(SEQUENCE, &tlv(SEQUENCE, &tlv(SEQUENCE, &many(&one, bytes))));
        assert_bounded("requests", request.len(), OCSP, || {
            drop(OcspRequest::from_der(&request));
        });
        let status = [&id[..], &[0x80, 0], &tlv(0x18, b"20260101000000Z")].concat();
        let answers = tlv(SEQUENCE, &many(&tlv(SEQUENCE, &status), bytes));
        let responder = tlv(0xa2, &tlv(OCTETS, &[1; 20]));
        let at = tlv(0x18, b"20260101000000Z");
        let algorithm = tlv(SEQUENCE, &tlv(6, &[0x2a, 3]));
        let by = |responder: &[u8], answers: &[u8], certificates: &[u8]| {
            let body = tlv(SEQUENCE, &[responder, &at, answers].concat());
            let certificates = match certificates {
                [] => Vec::new(),
                some => tlv(0xa0, &tlv(SEQUENCE, some)),
            };
            let basic = [&body[..], &algorithm, &[3, 1, 0], &certificates];
            let basic = tlv(OCTETS, &tlv(SEQUENCE, &basic.concat()));
            let kind = [6, 9, 0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1];
            let bytes = tlv(0xa0, &tlv(SEQUENCE, &[&kind[..], &basic].concat()));
            tlv(SEQUENCE, &[&[10, 1, 0][..], &bytes].concat())
        };
        let response = |answers: &[u8], certificates: &[u8]| by(&responder, answers, certificates);
        for (what, name) in names(bytes) {
            let one = tlv(SEQUENCE, &tlv(SEQUENCE, &status));
            let all = by(&tlv(0xa1, &tlv(SEQUENCE, &name)), &one, &[]);
            assert_bounded(&format!("responder of {what}"), all.len(), LITTLE, || {
                let read = OcspResponse::from_der(&all).map(drop);
                if bytes == 400_000 && what == "empty sets" {
                    let error = SyntaxError::TooMany(100_000);
                    assert_eq!(read, Err(OcspResponseError::Syntax(error)));
                } else if bytes == 60_000 && what != "one value" {
                    let error = SyntaxError::TooMany(10_000);
                    assert_eq!(read, Err(OcspResponseError::Syntax(error)));
                }
            });
        }
        let all = response(&answers, &[]);
        assert_bounded("answers", all.len(), OCSP, || {
            drop(OcspResponse::from_der(&all));
        });
        for (what, der) in certificates(300) {
            let all = response(&tlv(SEQUENCE, &tlv(SEQUENCE, &status)), &many(&der, bytes));
            assert_bounded(&format!("responders: {what}"), all.len(), OCSP, || {
                drop(OcspResponse::from_der(&all));
            });
        }
    }
}
