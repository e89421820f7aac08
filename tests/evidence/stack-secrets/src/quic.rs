//! QUIC's keys over graviola, which rustls-pq implements: the other bases have their own.

use std::sync::Mutex;

use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::quic::Algorithm;

use crate::bases::Base;
use crate::operation::{Operation, fresh};
use crate::operation_name;
use crate::sought::Sought;

pub(crate) fn operations() -> Vec<Operation> {
    let of_base = |base: Base| {
        let suites = base.provider().cipher_suites.into_iter();
        let suites = suites.filter_map(|suite| suite.tls13());
        suites.flat_map(move |suite| {
            let algorithm = suite.quic.expect("graviola's suites have QUIC's keys");
            of(base, &format!("{:?}", suite.common.suite), algorithm)
        })
    };
    let graviola = Base::all().filter(|base| base.name == "graviola");
    graviola.flat_map(of_base).collect()
}

fn of(base: Base, suite_name: &str, algorithm: &'static dyn Algorithm) -> [Operation; 4] {
    let name = |operation| operation_name(base.name, &format!("{suite_name} {operation}"));
    let len = algorithm.aead_key_len();
    let sought = move |key: &[u8; 32]| Sought::default().secret(QUIC_KEY, &key[..len]);
    let given = || {
        let key = fresh::<32>();
        let given = Box::new(AeadKey::from(*key));
        (key, Mutex::new(Some(given)))
    };
    let take = |key: &Mutex<Option<Box<AeadKey>>>| {
        let key = key.lock().expect("one thread").take();
        *key.expect("once")
    };
    [
        Operation::new(
            name("packet_key"),
            given,
            move |(_, key)| algorithm.packet_key(take(key), Iv::from([7; 12])),
            move |(key, _), _| sought(key),
        ),
        Operation::new(
            name("header_protection_key"),
            given,
            move |(_, key)| algorithm.header_protection_key(take(key)),
            move |(key, _), _| sought(key),
        ),
        Operation::new(
            name("packets"),
            move || {
                let key = fresh::<32>();
                let packet_key = algorithm.packet_key(AeadKey::from(*key), Iv::from([7; 12]));
                (key, packet_key)
            },
            |(_, key)| {
                let mut packet = vec![1; 100];
                let tag = key.encrypt_in_place(1, b"a header", &mut packet);
                packet.extend(tag.expect("short").as_ref());
                let payload = key.decrypt_in_place(1, b"a header", &mut packet);
                assert_eq!(payload.expect("its own packet"), [1; 100]);
            },
            move |(key, _), ()| sought(key),
        ),
        Operation::new(
            name("headers"),
            move || {
                let key = fresh::<32>();
                let header_key = algorithm.header_protection_key(AeadKey::from(*key));
                (key, header_key)
            },
            |(_, key)| {
                let (mut first, mut number) = (0x43, [1, 2, 3, 4]);
                let masked = key.encrypt_in_place(&[9; 16], &mut first, &mut number);
                masked.expect("of these lengths");
            },
            move |(key, _), ()| sought(key),
        ),
    ]
}

pub(crate) const QUIC_KEY: &str = "the QUIC key";
