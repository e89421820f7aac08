//! Against the crate `hpke`, both ways: whole messages, their order, and exported secrets.

use hpke::aead::{Aead as PeerAead, AesGcm128, AesGcm256, ChaCha20Poly1305};
use hpke::kdf::{HkdfSha256, HkdfSha512, Kdf as PeerKdf, KdfShake256};
use hpke::kem::{DhP256HkdfSha256, Kem as PeerKem, MlKem768, MlKem1024, X25519HkdfSha256, XWing};
use hpke::{Deserializable, OpModeR, OpModeS, Serializable};
use pq_hpke::{
    Aead, Encryptor, HpkeError, Kdf, Kem, Receiver, RecipientKey, RecipientPublicKey, Sender,
    Suite, XWingPrivateKey, XWingPublicKey,
};
use pq_keys::{DecapsulationKey, EncapsulationKey, KemAlgorithm};

use crate::ml_kem_512::MlKem512;

const INFO: &[u8] = b"info";

/// A conversion of the peer's keys to ours.
trait Ours: PeerKem {
    fn private(raw: &[u8]) -> RecipientKey;
    fn public(raw: &[u8]) -> RecipientPublicKey;
}

impl Ours for XWing {
    fn private(raw: &[u8]) -> RecipientKey {
        XWingPrivateKey::from_bytes(raw).unwrap().into()
    }

    fn public(raw: &[u8]) -> RecipientPublicKey {
        XWingPublicKey::from_bytes(raw).unwrap().into()
    }
}

macro_rules! ml_kem {
    ($($peer:ident),+) => {$(
        impl Ours for $peer {
            fn private(raw: &[u8]) -> RecipientKey {
                let key = DecapsulationKey::from_seed(KemAlgorithm::$peer, raw).unwrap();
                key.try_into().unwrap()
            }

            fn public(raw: &[u8]) -> RecipientPublicKey {
                let key = EncapsulationKey::from_bytes(KemAlgorithm::$peer, raw).unwrap();
                key.try_into().unwrap()
            }
        }
    )+};
}

ml_kem!(MlKem512, MlKem768, MlKem1024);

macro_rules! dh {
    ($($peer:ident: $kem:ident),+) => {$(
        impl Ours for $peer {
            fn private(raw: &[u8]) -> RecipientKey {
                RecipientKey::from_bytes(Kem::$kem, raw).unwrap()
            }

            fn public(raw: &[u8]) -> RecipientPublicKey {
                RecipientPublicKey::from_bytes(Kem::$kem, raw).unwrap()
            }
        }
    )+};
}

dh!(DhP256HkdfSha256: DhP256, X25519HkdfSha256: DhX25519);

fn both_ways<E: Ours, K: PeerKdf, A: PeerAead>(kdf: Kdf, aead: Aead) {
    let suite = Suite { kdf, aead };
    let (private, public) = E::gen_keypair();
    let (key, recipient) = (
        E::private(&private.to_bytes()),
        E::public(&public.to_bytes()),
    );
    let what = format!("{} {} {}", key.kem(), kdf.name(), aead.name());
    let exported = |export: &dyn Fn(&mut [u8])| {
        let mut secret = vec![0; 100];
        export(&mut secret);
        secret
    };

    let (enc, mut sender) = Sender::new(&recipient, suite, INFO).unwrap();
    let enc = E::EncappedKey::from_bytes(&enc).unwrap();
    let mut theirs = hpke::setup_receiver::<A, K, E>(&OpModeR::Base, &private, &enc, INFO).unwrap();
    for len in [0, 1, 16, 1000] {
        let message = vec![len as u8; len];
        let sealed = sender.seal(b"aad", &message).unwrap();
        assert_eq!(theirs.open(&sealed, b"aad").unwrap(), message, "{what}");
    }
    assert_eq!(
        exported(&|secret| sender.export(b"context", secret).unwrap()),
        exported(&|secret| theirs.export(b"context", secret).unwrap()),
        "{what}"
    );

    let (enc, mut theirs) = hpke::setup_sender::<A, K, E>(&OpModeS::Base, &public, INFO).unwrap();
    let mut receiver = Receiver::new(&key, suite, &enc.to_bytes(), INFO).unwrap();
    for len in [0, 1, 16, 1000] {
        let message = vec![len as u8; len];
        let sealed = theirs.seal(&message, b"aad").unwrap();
        // a failed attempt does not advance the counter
        assert!(receiver.open(b"other", &sealed).is_err(), "{what}");
        let opened = receiver.open(b"aad", &sealed).unwrap();
        assert_eq!(opened.as_slice(), message, "{what}");
    }
    assert_eq!(
        exported(&|secret| receiver.export(b"context", secret).unwrap()),
        exported(&|secret| theirs.export(b"context", secret).unwrap()),
        "{what}"
    );
}

fn all_ciphers<E: Ours, K: PeerKdf>(kdf: Kdf) {
    both_ways::<E, K, AesGcm128>(kdf, Aead::Aes128Gcm);
    both_ways::<E, K, AesGcm256>(kdf, Aead::Aes256Gcm);
    both_ways::<E, K, ChaCha20Poly1305>(kdf, Aead::ChaCha20Poly1305);
}

fn all_suites<E: Ours>() {
    all_ciphers::<E, HkdfSha256>(Kdf::HkdfSha256);
    all_ciphers::<E, HkdfSha512>(Kdf::HkdfSha512);
    all_ciphers::<E, KdfShake256>(Kdf::Shake256);
}

#[test]
fn x_wing() {
    all_suites::<XWing>();
}

#[test]
fn ml_kem() {
    all_suites::<MlKem512>();
    all_suites::<MlKem768>();
    all_suites::<MlKem1024>();
}

#[test]
fn dh_kem() {
    all_suites::<DhP256HkdfSha256>();
    all_suites::<X25519HkdfSha256>();
}

/// A file has the documented form, so any implementation of HPKE can read it.
#[test]
fn a_file_by_a_peer() {
    let (private, public) = XWing::gen_keypair();
    let content: Vec<u8> = (0..70_000_u32).map(|i| (i / 7) as u8).collect();
    let mut file = Vec::new();
    Encryptor::new(XWing::public(&public.to_bytes()))
        .info(b"application")
        .encrypt(&content[..], &mut file)
        .unwrap();
    let (header, rest) = file.split_at(14);
    assert_eq!(header, b"pq-hpke\x01\x64\x7a\x00\x01\x00\x02");
    let (enc, chunks) = rest.split_at(1120);
    let enc = Deserializable::from_bytes(enc).unwrap();
    let info = [header, b"application"].concat();
    let mut receiver =
        hpke::setup_receiver::<AesGcm256, HkdfSha256, XWing>(&OpModeR::Base, &private, &enc, &info)
            .unwrap();
    let (first, last) = chunks.split_at(65_536 + 16);
    let first = receiver.open(first, &[0]).unwrap();
    let last = receiver.open(last, &[1]).unwrap();
    assert_eq!([first, last].concat(), content);
}

#[test]
fn what_is_too_long_is_refused() {
    let (_, public) = crate::recipients::pair(Kem::MlKem512, 1);
    let suite = Suite::default();
    assert!(Sender::new(&public, suite, &[0; 65_535]).is_ok());
    assert!(matches!(
        Sender::new(&public, suite, &[0; 65_536]),
        Err(HpkeError::InfoTooLong {
            len: 65_536,
            most: 65_535
        })
    ));
    for kdf in Kdf::ALL {
        let suite = Suite { kdf: *kdf, ..suite };
        let (_, sender) = Sender::new(&public, suite, &[]).unwrap();
        let most = kdf.max_export_len();
        let mut longest = vec![0; most + 1];
        sender.export(b"", &mut longest[..most]).unwrap();
        assert!(matches!(
            sender.export(b"", &mut longest),
            Err(HpkeError::ExportTooLong { .. })
        ));
    }
}
