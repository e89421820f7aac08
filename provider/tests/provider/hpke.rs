//! HPKE behind rustls's trait, and Encrypted ClientHello with servers that don't have it. tests/interop has a server that
//! does.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::error::Error as _;
use std::io;

use handshakes::{Direction, connect, connect_through};
use pq_hpke::{HpkeError, KemError};
use pq_x509::keys::SignatureAlgorithm;
use rustls::client::{EchConfig, EchGreaseConfig, EchMode, EchStatus};
use rustls::crypto::hpke::{EncapsulatedSecret, Hpke, HpkePublicKey};
use rustls::internal::msgs::base::PayloadU16;
use rustls::internal::msgs::codec::Codec;
use rustls::internal::msgs::handshake::{EchConfigContents, EchConfigPayload, HpkeKeyConfig};
use rustls::pki_types::{DnsName, EchConfigListBytes, ServerName};
use rustls::{
    ClientConfig, ClientConnection, Connection, Error, PeerIncompatible, ServerConnection,
};
use rustls_pq::hpke::EchRejection;
use rustls_pq::{Builder, Refusal, hpke};

use crate::peers::{Pki, any_base, server_config};

#[test]
fn every_suite_is_there_once_under_its_number() {
    let suites: BTreeSet<_> = hpke::ALL_SUPPORTED_SUITES.iter().map(numbers).collect();
    assert_eq!(suites.len(), hpke::ALL_SUPPORTED_SUITES.len());
    let kems: &[(u16, &[u16])] = &[
        #[cfg(feature = "graviola")]
        (0x10, &[1]),
        (0x20, &[1]),
        (0x647a, &[1, 0x11]),
    ];
    let expected = kems.iter().flat_map(|(kem, kdfs)| {
        let pairs = kdfs
            .iter()
            .flat_map(|kdf| [1, 2, 3].map(|aead| (*kdf, aead)));
        pairs.map(|(kdf, aead)| (*kem, kdf, aead))
    });
    assert_eq!(suites, expected.collect());
}

/// The numbers of KEM, KDF and AEAD.
fn numbers(hpke: &&dyn Hpke) -> (u16, u16, u16) {
    let suite = hpke.suite();
    let sym = suite.sym;
    (suite.kem.into(), sym.kdf_id.into(), sym.aead_id.into())
}

#[test]
fn every_suite_opens_what_it_seals() {
    for suite in hpke::ALL_SUPPORTED_SUITES {
        let (public, private) = suite.generate_key_pair().unwrap();
        let (enc, sealed) = suite.seal(b"info", b"aad", b"message", &public).unwrap();
        assert_eq!(sealed.len(), 7 + 16, "{suite:?}");
        let opened = suite.open(&enc, b"info", b"aad", &sealed, &private);
        assert_eq!(opened.unwrap(), b"message", "{suite:?}");

        let (enc, mut sealer) = suite.setup_sealer(b"info", &public).unwrap();
        let mut opener = suite.setup_opener(&enc, b"info", &private).unwrap();
        for message in [&b"first"[..], b"", b"third"] {
            let sealed = sealer.seal(b"aad", message).unwrap();
            assert_eq!(opener.open(b"other", &sealed), Err(Error::DecryptError));
            assert_eq!(opener.open(b"aad", &sealed).unwrap(), message);
        }
    }
}

#[test]
fn keys_that_are_none_are_refused_with_the_reason() {
    for suite in hpke::ALL_SUPPORTED_SUITES {
        let (_, private) = suite.generate_key_pair().unwrap();
        let short = HpkePublicKey(vec![4; 31]);
        assert!(reason(suite.setup_sealer(&[], &short).map(drop)).contains("31"));
        let short = EncapsulatedSecret(vec![4; 31]);
        assert!(reason(suite.setup_opener(&short, &[], &private).map(drop)).contains("31"));
        let none = vec![4; 31].into();
        assert!(reason(suite.setup_opener(&short, &[], &none).map(drop)).contains("31"));
    }
}

#[test]
fn a_point_of_low_order_is_refused() {
    let suite = hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
    let (_, private) = suite.generate_key_pair().unwrap();
    for refused in [
        suite
            .setup_sealer(&[], &HpkePublicKey(vec![0; 32]))
            .map(drop),
        suite
            .setup_opener(&EncapsulatedSecret(vec![0; 32]), &[], &private)
            .map(drop),
    ] {
        let Err(Error::Other(error)) = refused else {
            panic!("{refused:?}");
        };
        let error = error.0.downcast_ref().unwrap();
        assert!(matches!(error, HpkeError::Kem(KemError::LowOrder)));
    }
}

#[cfg(feature = "graviola")]
#[test]
fn a_point_that_is_not_on_p256_is_refused() {
    let suite = hpke::DH_KEM_P256_HKDF_SHA256_AES_128;
    let (public, private) = suite.generate_key_pair().unwrap();
    let mut point = public.0;
    point[64] ^= 1;
    let public = HpkePublicKey(point.clone());
    assert!(reason(suite.setup_sealer(&[], &public).map(drop)).contains("P256"));
    let enc = EncapsulatedSecret(point);
    assert!(reason(suite.setup_opener(&enc, &[], &private).map(drop)).contains("P256"));
}

/// The text of pq-hpke's error in rustls's.
#[track_caller]
fn reason(refused: Result<(), Error>) -> String {
    let Err(Error::Other(error)) = refused else {
        panic!("{refused:?}");
    };
    let error: &HpkeError = error.0.downcast_ref().unwrap();
    assert!(error.source().is_none());
    error.to_string()
}

/// A server without ECH goes on with the public name. The client ends the connection when the server has proved that it
/// has that name.
#[test]
fn a_server_without_it_rejects() {
    for suite in hpke::ALL_SUPPORTED_SUITES {
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let ech = EchConfig::new(config_list(*suite, "localhost"), hpke::ALL_SUPPORTED_SUITES);
        let ech = ech.unwrap();
        let client = client(&pki, EchMode::Enable(ech.clone()));
        let mut outcome = connect(client, server(&pki));
        let error = outcome.client.error.take().expect("it is rejected");
        assert_eq!(
            error,
            Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(None))
        );
        let rejection = EchRejection::of(&io::Error::other(error.clone())).unwrap();
        assert_eq!(rejection.retry_configs, None);
        let config = client_config(&pki, EchMode::Enable(ech));
        let refusal = Refusal::by_client(&error, &config);
        assert_eq!(refusal, Refusal::EncryptedClientHello { retry: false });
        assert!(refusal.to_string().contains("connect without ECH"));
    }
}

#[test]
fn a_list_without_a_known_suite_is_refused() {
    let suite = hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
    let others: Vec<_> = hpke::ALL_SUPPORTED_SUITES
        .iter()
        .filter(|other| other.suite() != suite.suite())
        .copied()
        .collect();
    let refused = EchConfig::new(config_list(suite, "localhost"), &others);
    assert!(matches!(
        refused,
        Err(Error::InvalidEncryptedClientHello(_))
    ));
}

/// What is sent looks like ECH with X25519, and the handshake is the usual one.
#[test]
fn grease() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let suite = hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
    let (placeholder, _) = suite.generate_key_pair().unwrap();
    let grease = EchGreaseConfig::new(suite, placeholder);
    let config = client_config(&pki, EchMode::Grease(grease));
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(config, name).unwrap();
    let mut hello = None;
    let mut outcome = connect_through(client, server(&pki), |direction, flight| {
        if direction == Direction::ToServer && hello.is_none() {
            hello = Some(flight.clone());
        }
        flight
    });
    outcome.assert_works();
    let Connection::Client(client) = &outcome.client.connection else {
        panic!("it is a client");
    };
    assert_eq!(client.ech_status(), EchStatus::Grease);
    // encrypted_client_hello, its length, outer, HKDF-SHA256, AES-128-GCM, any config_id, 32 bytes of enc
    let hello = hello.unwrap();
    let found = hello.windows(12).any(|bytes| {
        let (head, rest) = (&bytes[..2], &bytes[4..]);
        head == [0xfe, 0x0d] && rest[..5] == [0, 0, 1, 0, 1] && rest[6..] == [0, 32]
    });
    assert!(found, "{hello:02x?}");
}

/// The list of a server with one configuration, whose key nobody has.
fn config_list(suite: &dyn Hpke, public_name: &'static str) -> EchConfigListBytes<'static> {
    let (public, _) = suite.generate_key_pair().unwrap();
    let contents = EchConfigContents {
        key_config: HpkeKeyConfig {
            config_id: 7,
            kem_id: suite.suite().kem,
            public_key: PayloadU16::new(public.0),
            symmetric_cipher_suites: vec![suite.suite().sym],
        },
        maximum_name_length: 0,
        public_name: DnsName::try_from(public_name).unwrap(),
        extensions: Vec::new(),
    };
    vec![EchConfigPayload::V18(contents)].get_encoding().into()
}

fn client_config(pki: &Pki, mode: EchMode) -> Arc<ClientConfig> {
    let provider = Builder::new(any_base()).build().unwrap();
    let builder = ClientConfig::builder_with_provider(provider.into());
    let config = builder
        .with_ech(mode)
        .unwrap()
        .with_root_certificates(pki.roots())
        .with_no_client_auth();
    Arc::new(config)
}

/// A client that asks for a name which the server doesn't have.
fn client(pki: &Pki, mode: EchMode) -> ClientConnection {
    let name = ServerName::try_from("secret.example").unwrap();
    ClientConnection::new(client_config(pki, mode), name).unwrap()
}

fn server(pki: &Pki) -> ServerConnection {
    let provider = Builder::new(any_base()).build().unwrap();
    ServerConnection::new(server_config(provider, &pki.server).into()).unwrap()
}
