//! Each record has one encoding: what is read is written as the same bytes.

use core::fmt::Debug;

use pq_keys::any::AnyAlgorithm;

use super::index::MAX_KEYS;
use super::key::MAX_VERSIONS;
use super::*;
use crate::custody::{ObjectId, TokenSerial};
use crate::encoding::InvalidRecord;
use crate::name::Version;
use crate::policy::{Grants, Policy, Principal, Role, Verb};

fn principal(name: &str) -> Principal {
    Principal::new(name).unwrap()
}

fn algorithm() -> AnyAlgorithm {
    AnyAlgorithm::named("ML-DSA-65").unwrap()
}

/// Reads the bytes, those that are cut short, longer, or have one other bit.
fn has_one_encoding<T: PartialEq + Debug>(
    value: &T,
    encode: impl Fn(&T) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<T, InvalidRecord>,
) {
    let bytes = encode(value);
    assert_eq!(decode(&bytes).as_ref(), Ok(value));
    for len in 0..bytes.len() {
        decode(&bytes[..len]).unwrap_err();
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert_eq!(decode(&longer), Err(InvalidRecord::Trailing));
    let mut newer = bytes.clone();
    newer[0] = 4;
    assert_eq!(decode(&newer), Err(InvalidRecord::Format(4)));
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(read) = decode(&changed) {
            assert_eq!(encode(&read), changed, "{bit}");
            assert_ne!(read, *value, "{bit}");
        }
    }
}

fn key() -> KeyRecord {
    let grants = Grants::new()
        .grant(&principal("a"), Verb::Sign)
        .grant(&principal("b"), Role::User.verbs())
        .grant_anyone(Verb::Verify);
    KeyRecord {
        serial: 3,
        algorithm: algorithm(),
        policy: Policy {
            grants,
            ..Policy::default()
        },
        created: 1_800_000_000_000,
        rotated: 1_800_000_000_001,
        first: Version::FIRST,
        states: vec![
            VersionState::Destroyed { verifies: true },
            VersionState::DestroyScheduled {
                at: 5,
                verifies: false,
            },
            VersionState::Disabled,
            VersionState::Enabled,
        ],
        token: None,
    }
}

#[test]
fn keys_have_one_encoding() {
    has_one_encoding(&key(), KeyRecord::encode, KeyRecord::decode);
    let in_token = KeyRecord {
        token: Some("hsm".parse().unwrap()),
        ..key()
    };
    has_one_encoding(&in_token, KeyRecord::encode, KeyRecord::decode);
}

#[test]
fn keys_have_some_versions_with_numbers() {
    let last = Version::new(u32::MAX - 3).unwrap();
    let record = KeyRecord {
        first: last,
        ..key()
    };
    assert_eq!(record.newest(), Version::new(u32::MAX).unwrap());
    has_one_encoding(&record, KeyRecord::encode, KeyRecord::decode);
    let beyond = KeyRecord {
        first: last.next().unwrap(),
        ..key()
    };
    KeyRecord::decode(&beyond.encode()).unwrap_err();
    let with = |count| KeyRecord {
        states: vec![VersionState::Enabled; count],
        ..key()
    };
    KeyRecord::decode(&with(0).encode()).unwrap_err();
    let most = with(MAX_VERSIONS);
    assert_eq!(KeyRecord::decode(&most.encode()).as_ref(), Ok(&most));
    KeyRecord::decode(&with(MAX_VERSIONS + 1).encode()).unwrap_err();
}

/// With as many versions and grants as there may be, a key's row fits.
#[test]
fn the_largest_key_fits_into_a_row() {
    let mut record = key();
    let state = VersionState::DestroyScheduled {
        at: u64::MAX,
        verifies: true,
    };
    record.states = vec![state; MAX_VERSIONS];
    let names = (0..crate::policy::MAX_GRANTS).map(|number| principal(&format!("{number:0>128}")));
    let grants = names.map(|name| (name, Role::User.verbs()));
    record.token = Some("t".repeat(64).parse().unwrap());
    record.policy.grants = grants.fold(Grants::new(), |all, (name, verbs)| all.grant(&name, verbs));
    assert_eq!(record.policy.problem(), None);
    let with_mac = record.encode().len() + 32;
    assert!(with_mac <= crate::storage::MAX_VALUE_LEN, "{with_mac}");
    assert_eq!(KeyRecord::decode(&record.encode()), Ok(record));
}

/// A version whose private key was imported, and is sealed.
fn version() -> VersionRecord {
    VersionRecord {
        algorithm: algorithm(),
        spki: vec![1, 2, 3],
        created: 7,
        by: principal("a"),
        origin: Origin::Imported,
        exportable: true,
        private: PrivatePart::Sealed(Some(vec![4; 4])),
    }
}

/// The same with its private key in a token.
fn version_in_token(serial: Option<&str>) -> VersionRecord {
    VersionRecord {
        origin: Origin::Generated,
        exportable: false,
        private: PrivatePart::InToken {
            place: TokenPlace {
                token: "hsm".parse().unwrap(),
                serial: serial.map(|serial| TokenSerial::new(serial).unwrap()),
                object: ObjectId::from_bytes([5; 32]),
            },
            is_destroyed: false,
        },
        ..version()
    }
}

#[test]
fn versions_have_one_encoding() {
    let version = version();
    has_one_encoding(&version, VersionRecord::encode, VersionRecord::decode);
    let destroyed = VersionRecord {
        private: PrivatePart::Sealed(None),
        origin: Origin::Generated,
        exportable: false,
        ..version
    };
    has_one_encoding(&destroyed, VersionRecord::encode, VersionRecord::decode);
    for serial in [None, Some("1"), Some("12 34"), Some(&*"9".repeat(64))] {
        let in_token = version_in_token(serial);
        has_one_encoding(&in_token, VersionRecord::encode, VersionRecord::decode);
        let destroyed = VersionRecord {
            private: in_token.private.clone().destroyed(),
            ..in_token
        };
        has_one_encoding(&destroyed, VersionRecord::encode, VersionRecord::decode);
    }
}

#[test]
fn serial_numbers_have_one_spelling() {
    let serial = |text| TokenSerial::new(text).map(|serial| serial.as_str().to_owned());
    assert_eq!(serial(" 12 34  ").as_deref(), Some("12 34"));
    for none in ["", "   ", &"9".repeat(65)] {
        assert_eq!(serial(none), None);
    }
    let bytes = version_in_token(Some("12")).encode();
    let at = bytes.windows(2).position(|two| two == b"12").unwrap();
    for wrong in [b" 2", b"1 "] {
        let mut changed = bytes.clone();
        changed[at..at + 2].copy_from_slice(wrong);
        let refused = VersionRecord::decode(&changed).unwrap_err();
        assert_eq!(
            refused,
            InvalidRecord::Value("no token's serial number"),
            "{wrong:?}"
        );
    }
    assert_eq!(
        TokenSerial::new("1\u{1b}[2J").unwrap().to_string(),
        "1\\u{1b}[2J"
    );
}

/// Rows of before the serial numbers of tokens were noted, as they were written then, are read and stay as they are.
#[test]
fn rows_of_before_are_read() {
    // The algorithm, the public key, when it was made and by whom.
    const COMMON: &str = "000000094d4c2d4453412d36350000000301020300000000000000070000000161";
    // Its origin, whether it may be exported, and where the private key is.
    let sealed = "0101010000000404040404";
    let destroyed = "000000";
    let in_token =
        "00000000000368736d050505050505050505050505050505050505050505050505050505050505050500";
    let destroyed_there =
        "00000000000368736d050505050505050505050505050505050505050505050505050505050505050501";
    let destroyed_of = |version: VersionRecord| VersionRecord {
        private: version.private.clone().destroyed(),
        ..version
    };
    let generated = VersionRecord {
        origin: Origin::Generated,
        exportable: false,
        ..version()
    };
    for (format, rest, record) in [
        (1, sealed, version()),
        (1, destroyed, destroyed_of(generated)),
        (2, in_token, version_in_token(None)),
        (2, destroyed_there, destroyed_of(version_in_token(None))),
    ] {
        let row = unhex(&format!("{format:02x}{COMMON}{rest}"));
        assert_eq!(VersionRecord::decode(&row).as_ref(), Ok(&record));
        assert_eq!(record.encode(), row);
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let byte = |two: &[u8]| u8::from_str_radix(core::str::from_utf8(two).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

#[test]
fn the_index_has_one_encoding() {
    let mut index = IndexRecord::default();
    let [a, b, c] = [1, 2, 3].map(|byte| IndexPlace::new(&[byte; 32]));
    assert_eq!(index.serial(a), 0);
    for (place, serial) in [(a, 1), (b, 2), (c, 3), (a, 9)] {
        index.set(place, serial);
        assert_eq!(index.serial(place), serial);
    }
    assert_eq!((index.serial(a), index.serial(b)), (9, 2));
    has_one_encoding(&index, IndexRecord::encode, IndexRecord::decode);
}

/// With as many keys as there may be, and all rows of the store itself, a row of the index fits.
#[test]
fn the_largest_index_fits_into_a_row() {
    let mut index = IndexRecord::default();
    for number in 0..MAX_KEYS + 3 {
        assert_eq!(index.is_full(), number >= MAX_KEYS);
        let mut mac = [0; 32];
        mac[..8].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
        index.set(IndexPlace::new(&mac), u64::MAX);
    }
    let with_mac = index.encode().len() + 32;
    assert!(with_mac <= crate::storage::MAX_VALUE_LEN, "{with_mac}");
}

#[test]
fn the_store_has_one_encoding() {
    let scope = |text: &str| text.parse::<Scope>().unwrap();
    let grants = StoreGrants::new()
        .grant(&Scope::all(), &principal("a"), Role::Administrator.verbs())
        .grant(&scope("t/*"), &principal("b"), Verb::Create)
        .grant_anyone(&scope("t/p/*"), Verb::List);
    let store = StoreRecord {
        serial: 1,
        kek: 2,
        id: [9; 16],
        created: 5,
        grants,
        spki: vec![1; 9],
        sealed: vec![2; 9],
    };
    has_one_encoding(&store, StoreRecord::encode, StoreRecord::decode);
}

#[test]
fn scopes_have_one_spelling() {
    for text in ["*", "t/*", "t/p/*", "a.b-c_d/1/*"] {
        assert_eq!(text.parse::<Scope>().unwrap().to_string(), text);
    }
    for text in [
        "", "t", "t/", "t*", "/*", "t//*", "t/p/n/*", "T/*", "t/p/n", "**", "t/p*", "../*",
    ] {
        assert_eq!(text.parse::<Scope>(), Err(UnknownScope), "{text}");
    }
    let name = "t/p/n".parse().unwrap();
    let contains = |text: &str| text.parse::<Scope>().unwrap().contains(&name);
    assert!(contains("*") && contains("t/*") && contains("t/p/*"));
    assert!(!contains("tt/*") && !contains("t/pp/*") && !contains("u/*") && !contains("u/p/*"));
}

#[cfg(feature = "door")]
#[test]
fn the_wrapping_key_has_one_encoding() {
    let wrapping = WrappingRecord {
        created: 7,
        spki: vec![1; 9],
        sealed: vec![2; 9],
    };
    has_one_encoding(&wrapping, WrappingRecord::encode, WrappingRecord::decode);
}
