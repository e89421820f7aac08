//! PKCS#12 files.

use der::asn1::{Any, ObjectIdentifier, OctetString};
use der::{Decode, Encode, Tag, Tagged};
use hmac::{Hmac, KeyInit, Mac};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::encoding::pem;
use pq_x509::keys::protection::{
    Cipher, CostLimits, KeyDerivation, Prf, Protection, ProtectionError,
};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pkcs12::{BerError, Pkcs12, Pkcs12Error, Pkcs12Mac};
use testing::at_once::refused_at_once;

/// With a character beyond the basic plane, for which a BMPString has two units.
const PASSPHRASE: &str = "pässword \u{1f511}";

const PRFS: [Prf; 3] = [Prf::HmacSha256, Prf::HmacSha384, Prf::HmacSha512];

fn protection() -> Protection {
    Protection::default().with_key_derivation(KeyDerivation::Pbkdf2 {
        prf: Prf::HmacSha256,
        iterations: 2,
    })
}

fn macs() -> Vec<Pkcs12Mac> {
    let iterations = 3;
    let pbmac1 = PRFS.map(|prf| Pkcs12Mac::Pbmac1 { prf, iterations });
    let classic = PRFS.map(|prf| Pkcs12Mac::Classic { prf, iterations });
    [pbmac1, classic].concat()
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[seed; 32]).unwrap()
}

/// A leaf for a key, its CA, and the root.
fn chain(seed: u8) -> Vec<Certificate> {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key(200)).unwrap();
    let ca = root.issue_ca(CertificateBuilder::ca("CA").path_len(0), key(201));
    let ca = ca.unwrap();
    let builder = CertificateBuilder::server().dns_name("a.example");
    let leaf = ca.issue(builder, &key(seed)).unwrap();
    vec![leaf, ca.certificate().clone(), root.certificate().clone()]
}

fn store() -> (Pkcs12, Vec<Certificate>) {
    let chain = chain(1);
    let pkcs8 = key(1).to_pkcs8_der().unwrap();
    let store = Pkcs12::new().with_key(&pkcs8, Some("größe \u{1f511}"), &chain);
    (store.unwrap(), chain)
}

/// A key of Composite ML-DSA goes through, and the error of reading it as another says where to go on.
#[test]
fn keys_of_other_algorithms_are_had_as_pkcs8() {
    // MLDSA44-Ed25519-SHA512: its seeds may be any
    let head = hex::decode("3051020100300a06082b060105050706270440").unwrap();
    let pkcs8 = [&head[..], &[7; 64]].concat();
    let store = Pkcs12::new().with_key(&pkcs8, None, &[]).unwrap();
    let der = store.to_der(
        PASSPHRASE,
        &protection(),
        Pkcs12Mac::Classic {
            prf: Prf::HmacSha256,
            iterations: 3,
        },
    );
    let read = Pkcs12::from_der(&der.unwrap(), PASSPHRASE).unwrap();
    let [entry] = read.keys() else {
        panic!("{read:?}");
    };
    assert_eq!(entry.pkcs8_der(), pkcs8);
    let refused = entry.private_key().unwrap_err();
    assert!(matches!(refused, Pkcs12Error::OtherAlgorithm(_)));
    let text = refused.to_string();
    for part in [
        "of MLDSA44-Ed25519-SHA512,",
        "Pkcs12Key::pkcs8_der",
        "pq_keys::any::AnyPrivateKey",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // A known algorithm with a malformed key is another matter.
    let mut malformed = key(1).to_pkcs8_der().unwrap().to_vec();
    malformed[21] = 0x04;
    let store = Pkcs12::new().with_key(&malformed, None, &[]).unwrap();
    let refused = store.keys()[0].private_key().unwrap_err();
    assert!(matches!(refused, Pkcs12Error::Key(_)), "{refused:?}");
}

#[test]
fn what_is_written_is_read() {
    let (store, chain) = store();
    let ciphers = [Cipher::Aes128Cbc, Cipher::Aes256Cbc, Cipher::Aes256Gcm];
    for (mac, cipher) in macs()
        .into_iter()
        .flat_map(|mac| ciphers.map(|cipher| (mac, cipher)))
    {
        let protection = protection().with_cipher(cipher);
        let der = store.to_der(PASSPHRASE, &protection, mac).unwrap();
        let read = Pkcs12::from_der(&der, PASSPHRASE).unwrap();
        assert_eq!(read.keys(), store.keys());
        let [entry] = read.keys() else {
            panic!("{read:?}");
        };
        assert_eq!(entry.name(), Some("größe \u{1f511}"));
        assert_eq!(entry.private_key().unwrap().seed(), key(1).seed());
        assert_eq!(read.certificate_of(entry), Some(&chain[0]));
        let found: Vec<_> = read
            .certificates()
            .iter()
            .map(|c| c.certificate())
            .collect();
        assert_eq!(found, chain.iter().collect::<Vec<_>>());
        assert_eq!(read.certificates()[0].name(), entry.name());
        assert_eq!(read.certificates()[1].name(), None);
        for wrong in ["", "password", "pässword"] {
            let refused = Pkcs12::from_der(&der, wrong).unwrap_err();
            assert_eq!(refused, Pkcs12Error::WrongPassphraseOrChanged);
        }
    }
}

#[test]
fn several_keys_and_none() {
    let mut store = Pkcs12::new();
    let mut leaves = Vec::new();
    for seed in 1..4 {
        let chain = chain(seed);
        let pkcs8 = key(seed).to_pkcs8_der().unwrap();
        // The CAs differ in each chain. A certificate that is added again is kept once.
        store = store
            .with_key(&pkcs8, Some(&seed.to_string()), &chain[..1])
            .unwrap();
        store = store
            .with_certificates(&chain[1..])
            .with_certificates(&chain);
        leaves.push(chain[0].clone());
    }
    assert_eq!(store.certificates().len(), 9);
    // A key that has no certificate.
    let alone = key(9).to_pkcs8_der().unwrap();
    store = store.with_key(&alone, None, &[]).unwrap();
    let mac = macs()[0];
    let der = store.to_der(PASSPHRASE, &protection(), mac).unwrap();
    let read = Pkcs12::from_der(&der, PASSPHRASE).unwrap();
    assert_eq!(read.keys().len(), 4);
    for (entry, leaf) in read.keys().iter().zip(&leaves) {
        assert_eq!(read.certificate_of(entry), Some(leaf));
    }
    let last = &read.keys()[3];
    assert_eq!((last.name(), last.local_key_id()), (None, None));
    assert_eq!(read.certificate_of(last), None);
    assert_eq!(last.pkcs8_der(), &alone[..]);

    for store in [
        Pkcs12::new(),
        Pkcs12::new().with_certificates(&leaves),
        Pkcs12::new().with_key(&alone, None, &[]).unwrap(),
    ] {
        let der = store.to_der(PASSPHRASE, &protection(), mac).unwrap();
        let read = Pkcs12::from_der(&der, PASSPHRASE).unwrap();
        assert_eq!(read.keys(), store.keys());
        assert_eq!(read.certificates().len(), store.certificates().len());
    }
}

#[test]
fn every_change_is_refused() {
    let store = Pkcs12::new().with_key(&key(1).to_pkcs8_der().unwrap(), Some("a"), &[]);
    let store = store.unwrap();
    let limits = CostLimits::default().with_iterations(1000);
    let read = |der: &[u8]| Pkcs12::from_der_within(der, PASSPHRASE, &limits);
    for mac in macs() {
        let der = store.to_der(PASSPHRASE, &protection(), mac).unwrap();
        assert!(read(&der).is_ok());
        // RFC 9879: the fields beside PBMAC1's digest have no meaning. HMAC fills keys up with zeros, so a key
        // that is a byte longer is the same if that byte is zero.
        let (unread, key_length) = match mac {
            Pkcs12Mac::Pbmac1 { .. } => {
                let three_iterations = [2, 1, 3, 2, 1];
                let mut windows = der.windows(three_iterations.len());
                let before = windows.rposition(|bytes| bytes == three_iterations);
                let key_length = before.unwrap() + three_iterations.len();
                (der.len() - 16..der.len(), Some(key_length))
            }
            _ => (0..0, None),
        };
        for at in 0..der.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = der.clone();
                changed[at] ^= change;
                let longer = key_length == Some(at) && changed[at] == der[at] + 1;
                let refused = read(&changed).is_err();
                assert!(
                    refused || longer || unread.contains(&at),
                    "{mac:?} {at} {change}"
                );
            }
            assert!(read(&der[..at]).is_err());
        }
        assert!(read(&[&der[..], &[0]].concat()).is_err());
    }
}

/// The parts of a SEQUENCE.
fn parts(der: &[u8]) -> Vec<Any> {
    Vec::<Any>::from_der(der).unwrap()
}

fn whole(parts: &[Any]) -> Vec<u8> {
    parts.to_vec().to_der().unwrap()
}

fn replaced(der: &[u8], index: usize, by: &[u8]) -> Vec<u8> {
    let mut parts = parts(der);
    parts[index] = Any::from_der(by).unwrap();
    whole(&parts)
}

/// Changes the parts of the SEQUENCE at a path of indices.
fn edited(der: &[u8], path: &[usize], change: &dyn Fn(Vec<Any>) -> Vec<Any>) -> Vec<u8> {
    match path {
        [] => whole(&change(parts(der))),
        [first, rest @ ..] => {
            let inner = parts(der)[*first].to_der().unwrap();
            replaced(der, *first, &edited(&inner, rest, change))
        }
    }
}

/// The parts of the SEQUENCE at a path.
fn parts_at(der: &[u8], path: &[usize]) -> Vec<Any> {
    path.iter().fold(parts(der), |parts, index| {
        self::parts(&parts[*index].to_der().unwrap())
    })
}

/// Where PBMAC1 has the parameters of PBKDF2: MacData, DigestInfo, AlgorithmIdentifier, PBMAC1-params, its PBKDF2,
/// its parameters.
const PBKDF2: [usize; 6] = [2, 0, 0, 1, 0, 1];

/// Where PBMAC1 has its own parameters.
const PBMAC1: [usize; 4] = [2, 0, 0, 1];

/// What the MAC is about.
fn authenticated(der: &[u8]) -> Vec<u8> {
    let content = &parts_at(der, &[1])[1];
    let octets = OctetString::from_der(content.value()).unwrap();
    octets.into_bytes().into()
}

/// The file with another digest.
fn with_digest(der: &[u8], digest: &[u8]) -> Vec<u8> {
    edited(der, &[2, 0], &|mut parts| {
        parts[1] = Any::new(Tag::OctetString, digest).unwrap();
        parts
    })
}

/// The file with PBMAC1 made anew with a key of this many bytes, as anybody who knows the passphrase can make it.
fn with_mac_key(der: &[u8], len: u8) -> Vec<u8> {
    let pbkdf2 = parts_at(der, &PBKDF2);
    let mut key = vec![0; len.into()];
    pbkdf2::pbkdf2_hmac::<sha2::Sha256>(PASSPHRASE.as_bytes(), pbkdf2[0].value(), 3, &mut key);
    let mac = <Hmac<sha2::Sha256> as KeyInit>::new_from_slice(&key).unwrap();
    let mac = mac.chain_update(authenticated(der)).finalize();
    let der = edited(der, &PBKDF2, &|mut parts| {
        parts[2] = Any::new(Tag::Integer, [len]).unwrap();
        parts
    });
    with_digest(&der, &mac.into_bytes())
}

/// The MAC is right, but its key is one that can be guessed, or of a length that nobody writes.
#[test]
fn right_macs_with_short_keys_are_refused() {
    let (store, _) = store();
    let der = store.to_der(PASSPHRASE, &protection(), macs()[0]).unwrap();
    assert_eq!(with_mac_key(&der, 32), der);
    for len in [20, 21, 63, 64] {
        let der = with_mac_key(&der, len);
        assert!(Pkcs12::from_der(&der, PASSPHRASE).is_ok(), "{len}");
    }
    for len in [0, 1, 2, 8, 16, 19, 65, 127] {
        let refused = Pkcs12::from_der(&with_mac_key(&der, len), PASSPHRASE).unwrap_err();
        assert!(
            matches!(refused, Pkcs12Error::MacParameters(_)),
            "{len}: {refused:?}"
        );
    }
}

/// Only the whole MAC counts, not a beginning of it, and nothing behind it.
#[test]
fn macs_of_other_lengths_are_refused() {
    let (store, _) = store();
    for mac in macs() {
        let der = store.to_der(PASSPHRASE, &protection(), mac).unwrap();
        let digest = parts_at(&der, &[2, 0])[1].value().to_vec();
        assert_eq!(with_digest(&der, &digest), der);
        for len in [0, 1, 4, 8, 16, digest.len() - 1] {
            let refused = Pkcs12::from_der(&with_digest(&der, &digest[..len]), PASSPHRASE);
            assert_eq!(
                refused.unwrap_err(),
                Pkcs12Error::WrongPassphraseOrChanged,
                "{mac:?} {len}"
            );
        }
        let longer = with_digest(&der, &[&digest[..], &[0]].concat());
        assert!(Pkcs12::from_der(&longer, PASSPHRASE).is_err());
    }
}

/// A salt of a MAC may have 1024 bytes.
#[test]
fn salts_of_macs() {
    let (store, _) = store();
    let classic = store.to_der(PASSPHRASE, &protection(), macs()[3]).unwrap();
    for (len, is_read) in [(1024, true), (1025, false)] {
        let salted = edited(&classic, &[2], &|mut parts| {
            parts[1] = Any::new(Tag::OctetString, vec![0; len]).unwrap();
            parts
        });
        let refused = Pkcs12::from_der(&salted, PASSPHRASE).unwrap_err();
        let by_the_mac = refused == Pkcs12Error::WrongPassphraseOrChanged;
        assert_eq!(by_the_mac, is_read, "{len}: {refused:?}");
    }
}

/// A file whose contents are replaced, with a MAC that is right for them.
fn with_contents(der: &[u8], contents: &[u8]) -> Vec<u8> {
    let octets = OctetString::new(contents).unwrap().to_der().unwrap();
    let der = edited(der, &[1], &|mut parts| {
        let tag = parts[1].tag();
        parts[1] = Any::new(tag, octets.clone()).unwrap();
        parts
    });
    with_mac_key(&der, 32)
}

/// Two attributes of a kind: readers could disagree on which certificate is the key's.
#[test]
fn two_labels_of_a_kind_are_refused() {
    let pkcs8 = key(1).to_pkcs8_der().unwrap();
    let chain = chain(1);
    let store = Pkcs12::new().with_key(&pkcs8, Some("a"), &chain[..1]);
    let der = store.unwrap().to_der(PASSPHRASE, &protection(), macs()[0]);
    let der = der.unwrap();
    let contents = authenticated(&der);
    assert_eq!(with_contents(&der, &contents), der);
    // The safe in the clear has the key, which is encrypted by itself.
    let safe = parts(&contents).iter().position(|safe| {
        let octets = &parts(&safe.to_der().unwrap())[1];
        OctetString::from_der(octets.value()).is_ok()
    });
    let safe = safe.unwrap();
    let octets = &parts_at(&contents, &[safe])[1];
    let bags: Vec<u8> = OctetString::from_der(octets.value())
        .unwrap()
        .into_bytes()
        .into();
    for (oid, value) in [
        (
            "1.2.840.113549.1.9.20",
            Any::new(Tag::BmpString, [0, b'b']).unwrap(),
        ),
        (
            "1.2.840.113549.1.9.21",
            Any::new(Tag::OctetString, [7; 32]).unwrap(),
        ),
    ] {
        let oid = Any::from_der(&ObjectIdentifier::new_unwrap(oid).to_der().unwrap()).unwrap();
        let values = Any::new(Tag::Set, value.to_der().unwrap()).unwrap();
        let second = Any::from_der(&whole(&[oid, values])).unwrap();
        let bags = edited(&bags, &[0], &|mut parts| {
            let attributes = [parts[2].value(), &second.to_der().unwrap()].concat();
            parts[2] = Any::new(Tag::Set, attributes).unwrap();
            parts
        });
        let octets = OctetString::new(bags).unwrap().to_der().unwrap();
        let contents = edited(&contents, &[safe], &|mut parts| {
            let tag = parts[1].tag();
            parts[1] = Any::new(tag, octets.clone()).unwrap();
            parts
        });
        let refused = Pkcs12::from_der(&with_contents(&der, &contents), PASSPHRASE);
        assert!(
            matches!(refused, Err(Pkcs12Error::Attribute(_))),
            "{refused:?}"
        );
    }
}

/// The work of scrypt adds up as well.
#[test]
fn the_limit_on_work_is_for_the_whole_file() {
    let pkcs8 = key(1).to_pkcs8_der().unwrap();
    let mut store = Pkcs12::new().with_certificates(&chain(1));
    for _ in 0..3 {
        store = store.with_key(&pkcs8, None, &[]).unwrap();
    }
    let scrypt = KeyDerivation::Scrypt {
        log_n: 4,
        r: 8,
        p: 1,
    };
    let protection = Protection::default().with_key_derivation(scrypt);
    let der = store.to_der(PASSPHRASE, &protection, macs()[0]).unwrap();
    let within = |work| {
        let limits = CostLimits::default().with_scrypt_work(work);
        Pkcs12::from_der_within(&der, PASSPHRASE, &limits)
    };
    // Three keys and a safe.
    assert_eq!(within(4 * 128).unwrap().keys().len(), 3);
    assert!(matches!(
        within(4 * 128 - 1),
        Err(Pkcs12Error::Protection(ProtectionError::TooMuchWork {
            found: 512,
            limit: 511
        }))
    ));
}

#[test]
fn macs_that_are_refused() {
    let (store, _) = store();
    let [pbmac1, classic] =
        [macs()[0], macs()[3]].map(|mac| store.to_der(PASSPHRASE, &protection(), mac).unwrap());
    let refusal = |der: &[u8]| refused_at_once(|| Pkcs12::from_der(der, PASSPHRASE).unwrap_err());

    // Without a MAC, and of another version
    let mut none = parts(&pbmac1);
    none.pop();
    assert_eq!(refusal(&whole(&none)), Pkcs12Error::NoMac);
    let version = replaced(&pbmac1, 0, &[2, 1, 4]);
    assert_eq!(refusal(&version), Pkcs12Error::Version(4));

    let with = |change: &dyn Fn(Vec<Any>) -> Vec<Any>| edited(&pbmac1, &PBKDF2, change);
    let same = with(&|parts| parts);
    assert_eq!(same, pbmac1);
    let integer = |bytes: &[u8]| Any::new(Tag::Integer, bytes).unwrap();
    let set = |index: usize, value: Any| {
        with(&move |mut parts| {
            parts[index] = value.clone();
            parts
        })
    };
    // RFC 9879: another iteration count, no key length, and impossible key lengths
    assert_eq!(
        refusal(&set(1, integer(&[4]))),
        Pkcs12Error::WrongPassphraseOrChanged
    );
    let missing = with(&|mut parts| {
        parts.remove(2);
        parts
    });
    assert!(matches!(refusal(&missing), Pkcs12Error::MacParameters(_)));
    for len in [&[0][..], &[19], &[65], &[0x7f, 0xff, 0xff, 0xff, 0xff]] {
        let refused = refusal(&set(2, integer(len)));
        assert!(
            matches!(refused, Pkcs12Error::MacParameters(_)),
            "{refused:?}"
        );
    }
    assert!(matches!(
        refusal(&set(2, integer(&[0xff]))),
        Pkcs12Error::Protection(_)
    ));
    assert_eq!(
        refusal(&set(2, integer(&[20]))),
        Pkcs12Error::WrongPassphraseOrChanged
    );
    let salt = Any::new(Tag::Integer, [1]).unwrap();
    assert!(matches!(refusal(&set(0, salt)), Pkcs12Error::Protection(_)));
    for iterations in [&[0x7f, 0xff, 0xff, 0xff][..], &[0x01, 0, 0, 0, 0]] {
        let refused = refusal(&set(1, integer(iterations)));
        assert!(matches!(
            refused,
            Pkcs12Error::Protection(ProtectionError::TooManyIterations { .. })
        ));
    }

    // In the older MAC: iterations, SHA-1 of another content, and MD5
    let mac_data = parts(&classic)[2].to_der().unwrap();
    let costly = replaced(&mac_data, 2, &[2, 4, 0x7f, 0xff, 0xff, 0xff]);
    assert!(matches!(
        refusal(&replaced(&classic, 2, &costly)),
        Pkcs12Error::Protection(ProtectionError::TooManyIterations { .. })
    ));
    let none = replaced(&mac_data, 2, &[2, 1, 0]);
    assert!(matches!(
        refusal(&replaced(&classic, 2, &none)),
        Pkcs12Error::MacParameters(_)
    ));
    let digest_info = parts(&mac_data)[0].to_der().unwrap();
    let with_hash = |algorithm: &[u8]| {
        let digest_info = replaced(&digest_info, 0, algorithm);
        refusal(&replaced(
            &classic,
            2,
            &replaced(&mac_data, 0, &digest_info),
        ))
    };
    let sha1 = [0x30, 9, 6, 5, 0x2b, 14, 3, 2, 26, 5, 0];
    assert_eq!(with_hash(&sha1), Pkcs12Error::WrongPassphraseOrChanged);
    let md5 = [
        &[0x30, 12, 6, 8][..],
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5],
        &[5, 0],
    ]
    .concat();
    assert!(matches!(with_hash(&md5), Pkcs12Error::UnsupportedMac(_)));
    let salt = OctetString::new(vec![0; 1025]).unwrap().to_der().unwrap();
    let salt = replaced(&classic, 2, &replaced(&mac_data, 1, &salt));
    assert!(matches!(refusal(&salt), Pkcs12Error::MacParameters(_)));
}

/// Limits apply to all key derivations of a file together.
#[test]
fn the_limit_is_for_the_whole_file() {
    let pkcs8 = key(1).to_pkcs8_der().unwrap();
    let mut store = Pkcs12::new().with_certificates(&chain(1));
    for _ in 0..100 {
        store = store.with_key(&pkcs8, None, &[]).unwrap();
    }
    let mac = macs()[0];
    let der = store.to_der(PASSPHRASE, &protection(), mac).unwrap();
    // A hundred keys and a safe, each with two iterations, and the MAC
    let within = |iterations| {
        let limits = CostLimits::default().with_iterations(iterations);
        Pkcs12::from_der_within(&der, PASSPHRASE, &limits)
    };
    assert_eq!(within(205).unwrap().keys().len(), 100);
    assert!(matches!(
        within(204),
        Err(Pkcs12Error::Protection(
            ProtectionError::TooManyIterations {
                found: 205,
                limit: 204
            }
        ))
    ));
    // The limit for reading also applies to writing.
    let dear = Protection::default().with_key_derivation(KeyDerivation::Pbkdf2 {
        prf: Prf::HmacSha256,
        iterations: 10_000_001,
    });
    assert!(store.to_der(PASSPHRASE, &dear, mac).is_err());
    assert!(matches!(
        store.to_der("", &protection(), mac),
        Err(Pkcs12Error::Protection(ProtectionError::EmptyPassphrase))
    ));
    assert!(Pkcs12::new().with_key(b"x", None, &[]).is_err());
}

/// The value, and all in it, in the BER that NSS and Bouncy Castle write: with indefinite lengths, and strings in pieces. A
/// string in a context is encrypted content.
fn ber(der: &[u8]) -> Vec<u8> {
    const CONSTRUCTED: u8 = 0x20;
    let value = Any::from_der(der).unwrap();
    let indefinite = |tag: u8, contents: &[u8]| [&[tag, 0x80][..], contents, &[0, 0]].concat();
    match der[0] {
        tag if tag & CONSTRUCTED != 0 => {
            let sequence = Any::new(Tag::Sequence, value.value())
                .unwrap()
                .to_der()
                .unwrap();
            let all: Vec<u8> = parts(&sequence)
                .iter()
                .flat_map(|part| ber(&part.to_der().unwrap()))
                .collect();
            indefinite(tag, &all)
        }
        tag @ (0x04 | 0x80) => {
            let piece = |octets: &[u8]| OctetString::new(octets).unwrap().to_der().unwrap();
            let (first, second) = value.value().split_at(value.value().len() / 3);
            let pieces = [piece(first), indefinite(0x24, &piece(second)), piece(&[])];
            indefinite(tag | CONSTRUCTED, &pieces.concat())
        }
        _ => der.to_vec(),
    }
}

/// The file, and what the MAC is about, in BER.
#[test]
fn files_in_ber() {
    let (store, chain) = store();
    let trust_store = Pkcs12::new().with_certificates(&chain[2..]);
    for (store, mac) in [&store, &trust_store]
        .into_iter()
        .flat_map(|store| macs().into_iter().map(move |mac| (store, mac)))
    {
        let der = store.to_der(PASSPHRASE, &protection(), mac).unwrap();
        let mut files = vec![ber(&der)];
        if mac == macs()[0] {
            let contents = ber(&authenticated(&der));
            files.push(with_contents(&der, &contents));
            files.push(ber(&with_contents(&der, &contents)));
        }
        for file in files {
            let read = Pkcs12::from_der(&file, PASSPHRASE).unwrap();
            assert_eq!(read.keys(), store.keys());
            let found = |store: &Pkcs12| -> Vec<_> {
                let certificates = store.certificates().iter();
                certificates
                    .map(|one| (one.certificate().clone(), one.name().map(str::to_owned)))
                    .collect()
            };
            assert_eq!(found(&read), found(store));
            let wrong = Pkcs12::from_der(&file, "password").unwrap_err();
            assert_eq!(wrong, Pkcs12Error::WrongPassphraseOrChanged);
            for len in 0..file.len() {
                Pkcs12::from_der(&file[..len], PASSPHRASE).unwrap_err();
            }
            let longer = Pkcs12::from_der(&[&file[..], &[0]].concat(), PASSPHRASE).unwrap_err();
            assert_eq!(longer, Pkcs12Error::Ber(BerError::Trailing(file.len())));
        }
    }
}

/// A BER file that is changed is never another one with a right MAC: lengths and pieces are no part of what it is about.
#[test]
fn changed_ber_is_refused_or_the_same() {
    let (store, _) = store();
    let file = ber(&store.to_der(PASSPHRASE, &protection(), macs()[3]).unwrap());
    let limits = CostLimits::default().with_iterations(1000);
    for at in 0..file.len() {
        for bit in [0x01, 0x80] {
            let mut changed = file.clone();
            changed[at] ^= bit;
            if let Ok(read) = Pkcs12::from_der_within(&changed, PASSPHRASE, &limits) {
                assert_eq!(read.keys(), store.keys(), "{at}");
                assert_eq!(
                    read.certificates().len(),
                    store.certificates().len(),
                    "{at}"
                );
            }
        }
    }
}

/// Before the MAC was checked, nothing takes more memory than the file or much time, however deep it is.
#[test]
fn deep_files_are_refused_at_once() {
    let deep = [&[0x30, 0x80, 2, 1, 3][..], &[0x30, 0x80].repeat(5_000_000)].concat();
    let refused = refused_at_once(|| Pkcs12::from_der(&deep, PASSPHRASE).unwrap_err());
    assert_eq!(refused, Pkcs12Error::Ber(BerError::TooDeep(67)));
    let pieces = [&[0x24, 0x80][..], &[4, 0].repeat(2_000_000), &[0, 0]].concat();
    Pkcs12::from_der(&pieces, PASSPHRASE).unwrap_err();
}

/// Made by `openssl pkcs12 -export -macalg SHA1`, with a key of Ed25519 and its certificate.
const BY_OPENSSL_WITH_SHA1: &str = include_str!("mac-by-sha1.p12.pem");

#[test]
fn macs_by_sha1_are_read_and_named() {
    let der = pem::decode_first(BY_OPENSSL_WITH_SHA1, "PKCS12").unwrap();
    let read = Pkcs12::from_der(&der, "secret").unwrap();
    assert!(read.has_mac_by_sha1());
    assert!(read.certificate_of(&read.keys()[0]).is_some());
    for wrong in ["", "Secret"] {
        let refused = Pkcs12::from_der(&der, wrong).unwrap_err();
        assert_eq!(refused, Pkcs12Error::WrongPassphraseOrChanged);
    }
    let last = der.len() - 40;
    for at in [last, der.len() / 2] {
        let mut changed = der.to_vec();
        changed[at] ^= 1;
        Pkcs12::from_der(&changed, "secret").unwrap_err();
    }

    // PBMAC1, whose key PBKDF2 derives by its default function
    let (store, _) = store();
    let pbmac1 = store.to_der(PASSPHRASE, &protection(), macs()[0]).unwrap();
    assert!(
        !Pkcs12::from_der(&pbmac1, PASSPHRASE)
            .unwrap()
            .has_mac_by_sha1()
    );
    let pbkdf2 = parts_at(&pbmac1, &PBKDF2);
    let hmac = [
        &[0x30, 12, 6, 8][..],
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 7],
        &[5, 0],
    ]
    .concat();
    let with_function = |function: Option<&[u8]>| {
        edited(&pbmac1, &PBKDF2, &|mut parts| {
            parts.truncate(3);
            parts.extend(function.map(|function| Any::from_der(function).unwrap()));
            parts
        })
    };
    let mut key = [0; 32];
    pbkdf2::pbkdf2_hmac::<sha1::Sha1>(PASSPHRASE.as_bytes(), pbkdf2[0].value(), 3, &mut key);
    let mac = <Hmac<sha2::Sha256> as KeyInit>::new_from_slice(&key).unwrap();
    let mac = mac
        .chain_update(authenticated(&pbmac1))
        .finalize()
        .into_bytes();
    for function in [None, Some(&hmac[..])] {
        let changed = with_function(function);
        let refused = Pkcs12::from_der(&changed, PASSPHRASE).unwrap_err();
        assert_eq!(refused, Pkcs12Error::WrongPassphraseOrChanged);
        let file = with_digest(&changed, &mac);
        let read = Pkcs12::from_der(&file, PASSPHRASE).unwrap();
        assert!(read.has_mac_by_sha1());
        assert_eq!(read.keys(), store.keys());
        // Its cost counts: each of the blocks has three iterations, and the key two blocks.
        let limits = CostLimits::default().with_iterations(5);
        let refused =
            refused_at_once(|| Pkcs12::from_der_within(&file, PASSPHRASE, &limits).unwrap_err());
        let Pkcs12Error::Protection(ProtectionError::TooManyIterations { found, .. }) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(found, 6);
    }
    // and a MAC that is itself by SHA-1
    let other = edited(&pbmac1, &PBMAC1, &|mut parts| {
        parts[1] = Any::from_der(&hmac).unwrap();
        parts
    });
    pbkdf2::pbkdf2_hmac::<sha2::Sha256>(PASSPHRASE.as_bytes(), pbkdf2[0].value(), 3, &mut key);
    let mac = <Hmac<sha1::Sha1> as KeyInit>::new_from_slice(&key).unwrap();
    let mac = mac
        .chain_update(authenticated(&pbmac1))
        .finalize()
        .into_bytes();
    let read = Pkcs12::from_der(&with_digest(&other, &mac), PASSPHRASE).unwrap();
    assert!(read.has_mac_by_sha1());
}
