//! Bytes that are changed on the way: the honest side's error, and the alert that it sends.
//!
//! One side is the provider under test, the other one rustls's own over ring.

use rustls::version::{TLS12, TLS13};
use rustls::{
    AlertDescription, CipherSuite, NamedGroup, ProtocolVersion, SupportedProtocolVersion,
};

use super::{Key, Pki, Side, Verdict, assert_same_end, narrowed};
use crate::peers::any_base;

/// With every base there are the same error and the same alert as with every provider of rustls.
#[test]
fn same_errors_and_alerts() {
    let pki = Pki::new();
    for case in cases() {
        assert_same_end(&case.name, case.alert, |provider| {
            let providers = [provider, any_base()];
            let [tested, other] = providers.map(|it| narrowed(it, case.suite, case.group));
            let (client, server) = case.tested.first((tested, other));
            let mut tampering = Tampering {
                what: case.what,
                is_encrypted: false,
                is_done: false,
            };
            let verdict = Verdict::of(
                case.tested,
                pki.client(client, case.version),
                pki.server(server, case.version, key_for(case.suite)),
                |sent| tampering.apply(sent),
            );
            assert!(tampering.is_done, "{}: nothing to change", case.name);
            verdict
        });
    }
}

struct Case {
    name: String,
    tested: Side,
    version: &'static SupportedProtocolVersion,
    suite: CipherSuite,
    group: NamedGroup,
    what: Change,
    alert: AlertDescription,
}

/// The key that a server needs.
fn key_for(suite: CipherSuite) -> Key {
    match format!("{suite:?}").contains("ECDHE_RSA") {
        true => Key::Rsa,
        false => Key::Ecdsa,
    }
}

/// A change of a record; `false` if it isn't the record to change.
type Change = fn(&mut Record) -> bool;

struct Record {
    /// With the header.
    bytes: Vec<u8>,
    is_encrypted: bool,
}

struct Tampering {
    what: Change,
    is_encrypted: bool,
    is_done: bool,
}

impl Tampering {
    fn apply(&mut self, sent: &mut Vec<u8>) {
        let mut records = Vec::new();
        let mut rest = &sent[..];
        while let Some((header, _)) = rest.split_first_chunk::<5>() {
            let len = 5 + usize::from(u16::from_be_bytes([header[3], header[4]]));
            let (bytes, after) = rest.split_at(len);
            let mut record = Record {
                bytes: bytes.to_vec(),
                is_encrypted: self.is_encrypted,
            };
            if !self.is_done && (self.what)(&mut record) {
                self.is_done = true;
                let len = u16::try_from(record.bytes.len() - 5).unwrap();
                record.bytes[3..5].copy_from_slice(&len.to_be_bytes());
            }
            // In TLS 1.3 rustls sends one for middleboxes.
            self.is_encrypted |= record.bytes[0] == CHANGE_CIPHER_SPEC;
            records.extend(record.bytes);
            rest = after;
        }
        *sent = records;
    }
}

fn cases() -> Vec<Case> {
    use AlertDescription as Alert;
    use Side::{Client, Server};
    let mut cases = Vec::new();
    for tested in [Client, Server] {
        for (version, suite) in SUITES {
            for (what, change) in [
                ("a flipped bit", flip_encrypted as Change),
                ("no room for a tag", shorten_encrypted),
                ("an empty record", empty_encrypted),
            ] {
                cases.push(Case {
                    name: format!("{tested:?}, {suite:?}, {what}"),
                    tested,
                    version,
                    suite,
                    group: NamedGroup::X25519,
                    what: change,
                    alert: match (what, version.version) {
                        ("an empty record", ProtocolVersion::TLSv1_2) => Alert::DecodeError,
                        _ => Alert::BadRecordMac,
                    },
                });
            }
        }
        for (version, suite) in [SUITES[0], SUITES[3], SUITES[6]] {
            for (group, what, change) in SHARES {
                cases.push(Case {
                    name: format!("{tested:?}, {suite:?}, {group:?}, {what}"),
                    tested,
                    version,
                    suite,
                    group,
                    what: change,
                    alert: match (tested, version.version) {
                        // The signature over it is checked first.
                        (Client, ProtocolVersion::TLSv1_2) => Alert::DecryptError,
                        _ => Alert::IllegalParameter,
                    },
                });
            }
        }
    }
    for (what, change, alert) in [
        (
            "signature of the key exchange",
            flip_signature_of_key_exchange as Change,
            Alert::DecryptError,
        ),
        (
            "scheme of its key's kind, not this one",
            other_scheme,
            Alert::DecryptError,
        ),
        (
            "scheme that nobody has",
            unknown_scheme,
            Alert::IllegalParameter,
        ),
        (
            "signature of the leaf",
            flip_certificate,
            Alert::DecryptError,
        ),
    ] {
        for (version, suite) in [SUITES[3], SUITES[6]] {
            cases.push(Case {
                name: format!("{suite:?}, {what}"),
                tested: Client,
                version,
                suite,
                group: NamedGroup::X25519,
                what: change,
                alert,
            });
        }
    }
    cases
}

const SUITES: [(&SupportedProtocolVersion, CipherSuite); 9] = [
    (&TLS13, CipherSuite::TLS13_AES_128_GCM_SHA256),
    (&TLS13, CipherSuite::TLS13_AES_256_GCM_SHA384),
    (&TLS13, CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
    (&TLS12, CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    (&TLS12, CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    (
        &TLS12,
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (&TLS12, CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    (&TLS12, CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    (
        &TLS12,
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

const SHARES: [(NamedGroup, &str, Change); 7] = [
    (NamedGroup::X25519, "all zero", |record| {
        change_share(record, |share| share.fill(0))
    }),
    (NamedGroup::X25519, "of small order", |record| {
        change_share(record, |share| {
            share.fill(0);
            share[0] = 1;
        })
    }),
    (NamedGroup::secp256r1, "off the curve", |record| {
        change_share(record, |share| share[64] ^= 1)
    }),
    (NamedGroup::secp256r1, "infinity, padded", |record| {
        change_share(record, |share| share.fill(0))
    }),
    (NamedGroup::secp256r1, "compressed form", |record| {
        change_share(record, |share| share[0] = 2)
    }),
    (NamedGroup::secp384r1, "off the curve", |record| {
        change_share(record, |share| share[96] ^= 1)
    }),
    (NamedGroup::secp384r1, "coordinates too large", |record| {
        change_share(record, |share| share[1..].fill(0xff))
    }),
];

const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;

/// Changes the share in a ClientHello or ServerHello of TLS 1.3, or in a ServerKeyExchange or
/// ClientKeyExchange of TLS 1.2.
fn change_share(record: &mut Record, change: fn(&mut [u8])) -> bool {
    let record = &mut record.bytes;
    if record[0] != HANDSHAKE {
        return false;
    }
    // KeyShareEntry, ServerECDHParams, ECPoint right after a message's header
    let starts: [(&[u8], usize); 9] = [
        (&[0x00, 0x1d, 0x00, 0x20], 32),
        (&[0x00, 0x17, 0x00, 0x41], 65),
        (&[0x00, 0x18, 0x00, 0x61], 97),
        (&[0x03, 0x00, 0x1d, 0x20], 32),
        (&[0x03, 0x00, 0x17, 0x41], 65),
        (&[0x03, 0x00, 0x18, 0x61], 97),
        (&[0x10, 0x00, 0x00, 0x21, 0x20], 32),
        (&[0x10, 0x00, 0x00, 0x42, 0x41], 65),
        (&[0x10, 0x00, 0x00, 0x62, 0x61], 97),
    ];
    for (start, len) in starts {
        let mut windows = record.windows(start.len());
        if let Some(at) = windows.position(|window| window == start) {
            let at = at + start.len();
            if record.len() < at + len {
                continue;
            }
            change(&mut record[at..at + len]);
            return true;
        }
    }
    false
}

fn flip_encrypted(record: &mut Record) -> bool {
    if record.is_encrypted {
        *record.bytes.last_mut().unwrap() ^= 1;
    }
    record.is_encrypted
}

fn shorten_encrypted(record: &mut Record) -> bool {
    if record.is_encrypted {
        record.bytes.truncate(5 + 7);
    }
    record.is_encrypted
}

fn empty_encrypted(record: &mut Record) -> bool {
    if record.is_encrypted {
        record.bytes.truncate(5);
    }
    record.is_encrypted
}

fn flip_signature_of_key_exchange(record: &mut Record) -> bool {
    change_signature(record, |_, signature| *signature.last_mut().unwrap() ^= 1)
}

fn other_scheme(record: &mut Record) -> bool {
    change_signature(record, |scheme, _| {
        let other = match scheme {
            // ecdsa_secp256r1_sha256, ecdsa_secp384r1_sha384
            [4, 3] => [5, 3],
            // rsa_pkcs1_sha256 in the place of another one of RSA
            _ => [4, 1],
        };
        scheme.copy_from_slice(&other);
    })
}

fn unknown_scheme(record: &mut Record) -> bool {
    change_signature(record, |scheme, _| scheme.copy_from_slice(&[0xfe, 0xfe]))
}

/// Changes the signature in a ServerKeyExchange for x25519: scheme, length and signature follow the share.
fn change_signature(record: &mut Record, change: fn(&mut [u8], &mut [u8])) -> bool {
    let record = &mut record.bytes;
    let start = [0x03, 0x00, 0x1d, 0x20];
    let mut windows = record.windows(start.len());
    let Some(at) = windows.position(|window| window == start) else {
        return false;
    };
    let (scheme, rest) = record[at + start.len() + 32..].split_at_mut(2);
    let len = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
    change(scheme, &mut rest[2..2 + len]);
    true
}

/// Flips the last byte of the Certificate message, which is in the leaf's signature.
fn flip_certificate(record: &mut Record) -> bool {
    let record = &mut record.bytes;
    let certificate = 11;
    let mut at = 5;
    while record[0] == HANDSHAKE && at + 4 <= record.len() {
        let len = u32::from_be_bytes([0, record[at + 1], record[at + 2], record[at + 3]]);
        let end = at + 4 + usize::try_from(len).unwrap();
        if record[at] == certificate {
            record[end - 1] ^= 1;
            return true;
        }
        at = end;
    }
    false
}
