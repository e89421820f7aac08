//! Stores that are sealed under an AES key in a token.

use alloc::sync::Arc;

use pq_keystore::custody::{Pin, Pkcs11Kek, Pkcs11Options, Pkcs11Token};
use pq_keystore::sealing::{Kek, KekError, WrappedKey};
use pq_keystore::storage::{MemoryStorage, Storage};
use pq_keystore::{Store, StoreOptions};

use super::MESSAGE;
use super::modules::{in_turn, options};
use crate::kit::{admin, code, kek, name, named, user, user_policy};

const MODULES: [&str; 2] = ["PQ_KEYSTORE_KRYOPTIC", "PQ_KEYSTORE_SOFTHSM"];

/// Runs a test with each module that is there.
fn with_each(test: impl Fn(&Pkcs11Options)) {
    for variable in MODULES {
        match options(variable) {
            Some(options) => in_turn(variable, || test(&options)),
            None => testing::skipped::cannot_run("tests/token/run sets up the token that it needs"),
        }
    }
}

#[test]
fn a_store_is_sealed_under_a_key_in_a_token() {
    with_each(|options| {
        let open = |label: &str| Pkcs11Kek::open_or_create(options.clone(), label).unwrap();
        let (first, second) = (open("first KEK"), open("second KEK"));
        let missing = Pkcs11Kek::open(options.clone(), "no such KEK")
            .err()
            .unwrap();
        assert!(
            matches!(missing, KekError::NotAvailable { .. }),
            "{missing}"
        );
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let store =
            Store::create(storage.clone(), &first, &admin(), StoreOptions::default()).unwrap();
        let key = name("k");
        let id = store
            .create_key(&admin(), &key, named("ML-DSA-44"), &user_policy())
            .unwrap();
        let reopen = |kek: &dyn Kek| Store::open(storage.clone(), kek, StoreOptions::default());
        drop(store);
        assert_eq!(code(reopen(&second)), "wrong-kek");
        assert_eq!(code(reopen(&kek(b"secret"))), "wrong-kek");
        let store = reopen(&Pkcs11Kek::open(options.clone(), "first KEK").unwrap()).unwrap();
        store.rewrap(&admin(), &second).unwrap();
        drop(store);
        assert_eq!(code(reopen(&first)), "wrong-kek");
        let store = reopen(&second).unwrap();
        let input = pq_keystore::policy::Input::message(MESSAGE);
        assert_eq!(store.sign(&user(), &key, input).unwrap().id, id);
    });
}

#[test]
fn a_wrapped_key_is_bound() {
    with_each(|options| {
        let kek = Pkcs11Kek::open_or_create(options.clone(), "KEK of bounds").unwrap();
        let wrapped = kek.wrap(&[7; 32], b"store 1").unwrap();
        let again = kek.wrap(&[7; 32], b"store 1").unwrap();
        assert_ne!(wrapped, again);
        assert_eq!(*kek.unwrap(&wrapped, b"store 1").unwrap(), [7; 32]);
        let refuse = |wrapped: &WrappedKey, bound: &[u8]| {
            let refused = kek.unwrap(wrapped, bound).unwrap_err();
            let is_typed = matches!(
                refused,
                KekError::Wrong { .. } | KekError::Parameters { .. }
            );
            assert!(is_typed, "{refused}");
        };
        refuse(&wrapped, b"store 2");
        for part in 0..2 {
            let len = [wrapped.parameters.len(), wrapped.ciphertext.len()][part];
            for at in 0..len {
                let mut changed = wrapped.clone();
                let bytes = [&mut changed.parameters, &mut changed.ciphertext];
                let [parameters, ciphertext] = bytes;
                let bytes = if part == 0 { parameters } else { ciphertext };
                bytes[at] ^= 1;
                refuse(&changed, b"store 1");
                let mut cut = wrapped.clone();
                let [parameters, ciphertext] = [&mut cut.parameters, &mut cut.ciphertext];
                let bytes = if part == 0 { parameters } else { ciphertext };
                bytes.truncate(at);
                refuse(&cut, b"store 1");
            }
        }
    });
}

#[test]
fn a_module_or_token_that_is_not_there_is_said() {
    let nowhere = Pkcs11Options::new("/nowhere/module.so", "x");
    let error = Pkcs11Token::open(nowhere).unwrap_err();
    assert_eq!((error.code(), error.retry()), ("token-module", false));
    for variable in MODULES {
        if let Some(module) = std::env::var_os(variable) {
            let another = Pkcs11Options::new(module, "another");
            let error = in_turn(variable, || Pkcs11Token::open(another)).unwrap_err();
            assert_eq!((error.code(), error.retry()), ("token-away", true));
        }
    }
}

#[test]
fn a_pin_is_read_from_a_file_of_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &[u8], mode: u32| {
        use std::os::unix::fs::PermissionsExt;

        let path = folder.path().join("pin");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        Pin::read(&path).map(drop).map_err(|error| error.code())
    };
    assert_eq!(write(b"1234\n", 0o600), Ok(()));
    assert_eq!(write(&[b'1'; 256], 0o400), Ok(()));
    for wrong in [&b""[..], b"\n", &[b'1'; 257], b"\xff"] {
        assert_eq!(write(wrong, 0o600), Err("token-pin"));
    }
    assert_eq!(write(b"1234", 0o644), Err("token-pin"));
    assert_eq!(format!("{:?}", Pin::new("1234")), "Pin");
}
