//! A token's objects that somebody changes behind a store's back, which a check finds.

use alloc::sync::Arc;
use std::env;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use pq_keystore::Store;
use pq_keystore::custody::{ObjectId, Pkcs11Options, Pkcs11Token, Token};

use super::modules::{in_turn, options};
use super::token;
use crate::kit::{Fixture, admin, version};
use crate::places::{Memory, Place};

/// A session of another program with the token.
fn session(variable: &str) -> Session {
    let module = Pkcs11::new(env::var_os(variable).unwrap()).unwrap();
    // The token under test has initialised it, and logged in.
    let _ = module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK));
    let is_ours = |slot: &_| module.get_token_info(*slot).unwrap().label() == "pq-keystore";
    let slots = module.get_slots_with_token().unwrap();
    let session = module.open_rw_session(slots.into_iter().find(is_ours).unwrap());
    let session = session.unwrap();
    let pin = std::fs::read_to_string(env::var_os("PQ_KEYSTORE_TOKEN_PIN").unwrap()).unwrap();
    let _ = session.login(UserType::User, Some(&AuthPin::new(pin.trim_end().into())));
    session
}

/// Another private key of ECDSA P-256 under an identifier.
fn add(session: &Session, object: &ObjectId) {
    const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    let id = Attribute::Id(object.as_bytes().to_vec());
    let public = [Attribute::EcParams(P256.to_vec()), Attribute::Verify(true)];
    let private = [
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Sign(true),
        id,
    ];
    session
        .generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private)
        .unwrap();
}

fn remove(session: &Session, object: &ObjectId) {
    let wanted = [
        Attribute::Token(true),
        Attribute::Class(ObjectClass::PRIVATE_KEY),
        Attribute::Id(object.as_bytes().to_vec()),
    ];
    for found in session.find_objects(&wanted).unwrap() {
        session.destroy_object(found).unwrap();
    }
}

#[test]
fn a_check_finds_what_a_token_lacks() {
    for variable in ["PQ_KEYSTORE_KRYOPTIC", "PQ_KEYSTORE_SOFTHSM"] {
        match options(variable) {
            Some(options) => in_turn(variable, || finds_what_it_lacks(variable, options)),
            None => testing::skipped::cannot_run("tests/token/run sets up the token that it needs"),
        }
    }
}

fn finds_what_it_lacks(variable: &str, options: Pkcs11Options) {
    let place = Memory::new();
    let fixture = Fixture::new(&place);
    let token_here = Arc::new(Pkcs11Token::open(options).unwrap());
    let with_token = fixture.clock.options().token(token(), token_here.clone());
    let kek = crate::kit::kek(b"secret");
    let store = Store::open(fixture.storage.clone(), &kek, with_token).unwrap();
    let key = fixture.key("k", "ECDSA-P256");
    store.rotate_to(&admin(), &key, Some(&token())).unwrap();
    let row = pq_keystore::storage::RowKey::version(&key.at(version(2)));
    let object = token_here.objects(store.id()).unwrap()[0];
    let session = session(variable);
    let finds = |reason: &str| {
        let report = store.check(&admin(), &[]).unwrap();
        assert_eq!(report.orphans, []);
        let said: Vec<_> = report.damaged.iter().map(ToString::to_string).collect();
        match &said[..] {
            [] => assert_eq!(reason, "", "{variable}"),
            [said] => assert!(
                !reason.is_empty() && said.contains(row.as_str()) && said.contains(reason),
                "{variable}: {said}"
            ),
            said => panic!("{variable}: {said:?}"),
        }
    };
    finds("");
    add(&session, &object);
    finds("2 private keys");
    remove(&session, &object);
    finds("is not in the token");
    add(&session, &object);
    finds("another private key");
    token_here.destroy(&object).unwrap();
    assert_eq!(
        token_here.destroy(&object).unwrap_err().code(),
        "token-no-object"
    );
    finds("is not in the token");
}
