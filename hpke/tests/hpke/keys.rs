//! Keys of X-Wing, raw and in their documents.

use pq_hpke::{XWingError, XWingPrivateKey, XWingPublicKey};
use pq_keys::{DecapsulationKey, KemAlgorithm};

fn key() -> XWingPrivateKey {
    XWingPrivateKey::from_bytes(&[7; 32]).unwrap()
}

/// The beginning of each document, by hand: 1.3.6.1.4.1.62253.25722 in a SEQUENCE, and what is around it.
const OID: &str = "300d060b2b0601040183e62d81c87a";

#[test]
fn documents_are_as_the_draft_has_them() {
    let key = key();
    let pkcs8 = key.to_pkcs8_der();
    let expected = format!("3034020100{OID}0420{}", "07".repeat(32));
    assert_eq!(hex::encode(&*pkcs8), expected);
    let read = XWingPrivateKey::from_pkcs8_der(&pkcs8).unwrap();
    assert_eq!(read.as_bytes(), &[7; 32]);
    assert_eq!(read.public_key(), key.public_key());
    let read = XWingPrivateKey::from_pkcs8_pem(&key.to_pkcs8_pem()).unwrap();
    assert_eq!(read.as_bytes(), &[7; 32]);

    let public = key.public_key();
    assert_eq!(public.as_bytes().len(), XWingPublicKey::LEN);
    let expected = format!("308204d4{OID}038204c100{}", hex::encode(public.as_bytes()));
    assert_eq!(hex::encode(public.to_spki_der()), expected);
    let read = XWingPublicKey::from_spki_der(public.to_spki_der()).unwrap();
    assert_eq!(&read, public);
    let read = XWingPublicKey::from_spki_pem(&public.to_spki_pem()).unwrap();
    assert_eq!(&read, public);
    assert_ne!(XWingPrivateKey::generate().unwrap().public_key(), public);
}

#[test]
fn a_public_key_beside_the_private_one_has_to_be_its_own() {
    let pkcs8 = |public: &[u8]| {
        let public = format!("818204c100{}", hex::encode(public));
        let all = format!("020101{OID}0420{}{public}", "07".repeat(32));
        hex::decode(format!("3082{:04x}{all}", all.len() / 2)).unwrap()
    };
    let own = pkcs8(key().public_key().as_bytes());
    XWingPrivateKey::from_pkcs8_der(&own).unwrap();
    let other = XWingPrivateKey::from_bytes(&[8; 32]).unwrap();
    assert!(matches!(
        XWingPrivateKey::from_pkcs8_der(&pkcs8(other.public_key().as_bytes())),
        Err(XWingError::PublicKeyMismatch)
    ));
}

#[test]
fn other_documents_are_refused() {
    let ml_kem = DecapsulationKey::from_seed(KemAlgorithm::MlKem768, &[7; 64]).unwrap();
    assert!(matches!(
        XWingPrivateKey::from_pkcs8_der(&ml_kem.to_pkcs8_der().unwrap()),
        Err(XWingError::OtherAlgorithm(_))
    ));
    assert!(matches!(
        XWingPublicKey::from_spki_der(ml_kem.encapsulation_key().to_spki_der()),
        Err(XWingError::OtherAlgorithm(_))
    ));
    assert!(matches!(
        XWingPrivateKey::from_pkcs8_pem("text"),
        Err(XWingError::Pem(_))
    ));
    let der = |hex: &str| hex::decode(hex).unwrap();
    let with_null = format!(
        "3036020100{}05000420{}",
        OID.replace("300d", "300f"),
        "07".repeat(32)
    );
    assert!(matches!(
        XWingPrivateKey::from_pkcs8_der(&der(&with_null)),
        Err(XWingError::ParametersPresent)
    ));
    let short = format!("3033020100{OID}041f{}", "07".repeat(31));
    assert!(matches!(
        XWingPrivateKey::from_pkcs8_der(&der(&short)),
        Err(XWingError::Length { found: 31, .. })
    ));
    let mut partial = key().public_key().to_spki_der().to_vec();
    let unused_bits = partial.len() - XWingPublicKey::LEN - 1;
    partial[unused_bits] = 1;
    *partial.last_mut().unwrap() &= 0xfe;
    assert!(matches!(
        XWingPublicKey::from_spki_der(&partial),
        Err(XWingError::PartialByte)
    ));
    let public = key().public_key().as_bytes().to_vec();
    for len in [0, 1183, 1184, 1215] {
        assert!(XWingPublicKey::from_bytes(&public[..len]).is_err());
    }
    assert!(XWingPublicKey::from_bytes(&[&public[..], &[0]].concat()).is_err());
    // a coefficient that is not reduced
    let mut unreduced = public;
    unreduced[..2].fill(0xff);
    assert!(matches!(
        XWingPublicKey::from_bytes(&unreduced),
        Err(XWingError::MlKem(_))
    ));
    // never a panic
    let pkcs8 = key().to_pkcs8_der();
    for at in 0..pkcs8.len() {
        for mask in [1, 0x80, 0xff] {
            let mut changed = pkcs8.clone();
            changed[at] ^= mask;
            if let Ok(read) = XWingPrivateKey::from_pkcs8_der(&changed) {
                assert_eq!(read.to_pkcs8_der(), changed, "{at}");
            }
        }
        assert!(XWingPrivateKey::from_pkcs8_der(&pkcs8[..at]).is_err());
    }
}
