//! Keys as HPKE sends them: taken and given back for every KEM, and refused where RFC 9180, section 7.1.4, says so.

use pq_hpke::{
    HpkeError, Kem, KemError, Receiver, RecipientKey, RecipientPublicKey, Sender, Suite,
};

#[test]
fn are_taken_and_given_back() {
    for kem in Kem::ALL.iter().copied() {
        let key = RecipientKey::generate(kem).unwrap();
        assert_eq!(key.kem(), kem);
        let bytes = key.to_bytes().unwrap();
        let again = RecipientKey::from_bytes(kem, &bytes).unwrap();
        assert_eq!(again.public_key(), key.public_key());
        assert_eq!(again.to_bytes().unwrap(), bytes);
        let public_key = key.public_key();
        assert_eq!(
            RecipientPublicKey::from_bytes(kem, public_key.as_bytes()).unwrap(),
            public_key
        );
        let (enc, mut sender) = Sender::new(&public_key, Suite::default(), b"info").unwrap();
        assert_eq!(enc.len(), kem.enc_len(), "{kem}");
        let sealed = sender.seal(b"", b"message").unwrap();
        let mut receiver = Receiver::new(&again, Suite::default(), &enc, b"info").unwrap();
        assert_eq!(receiver.open(b"", &sealed).unwrap().as_slice(), b"message");
    }
}

#[test]
fn of_other_lengths_are_refused() {
    for kem in Kem::ALL.iter().copied() {
        let key = RecipientKey::generate(kem).unwrap();
        let private = key.to_bytes().unwrap();
        let public = key.public_key().as_bytes().to_vec();
        let enc = vec![4; kem.enc_len()];
        for longer in [false, true] {
            let changed = |bytes: &[u8]| match longer {
                true => [bytes, &[0]].concat(),
                false => bytes[1..].to_vec(),
            };
            assert!(RecipientKey::from_bytes(kem, &changed(&private)).is_err());
            assert!(RecipientPublicKey::from_bytes(kem, &changed(&public)).is_err());
            let refused = Receiver::new(&key, Suite::default(), &changed(&enc), &[]).err();
            assert!(matches!(refused, Some(HpkeError::Kem(_))), "{kem}");
        }
    }
}

/// Points of X25519 whose order divides 8, reduced and not.
fn of_low_order() -> Vec<[u8; 32]> {
    let small = |last: u8| core::array::from_fn(|i| if i == 0 { last } else { 0 });
    let near_p = |last: u8| {
        core::array::from_fn(|i| match i {
            0 => last,
            31 => 0x7f,
            _ => 0xff,
        })
    };
    // 0, 1, p - 1, p, p + 1
    vec![small(0), small(1), near_p(0xec), near_p(0xed), near_p(0xee)]
}

#[test]
fn points_of_low_order_are_refused_by_both_sides() {
    let key = RecipientKey::generate(Kem::DhX25519).unwrap();
    for point in of_low_order() {
        let public = RecipientPublicKey::from_bytes(Kem::DhX25519, &point).unwrap();
        let refused = Sender::new(&public, Suite::default(), &[]).map(drop);
        assert!(matches!(refused, Err(HpkeError::Kem(KemError::LowOrder))));
        let refused = Receiver::new(&key, Suite::default(), &point, &[]).map(drop);
        assert!(matches!(refused, Err(HpkeError::Kem(KemError::LowOrder))));
    }
}

#[test]
fn points_off_p256_are_refused_by_both_sides() {
    let key = RecipientKey::generate(Kem::DhP256).unwrap();
    let point = key.public_key().as_bytes().to_vec();
    let mut altered = point.clone();
    altered[64] ^= 1;
    let mut compressed = point;
    compressed[0] = 2;
    let mut not_reduced = vec![0xff; 65];
    not_reduced[0] = 4;
    for point in [altered, compressed, not_reduced, vec![0; 65]] {
        let refused = RecipientPublicKey::from_bytes(Kem::DhP256, &point);
        assert!(matches!(refused, Err(KemError::P256(_))));
        let refused = Receiver::new(&key, Suite::default(), &point, &[]).map(drop);
        assert!(matches!(
            refused,
            Err(HpkeError::Kem(KemError::Agreement(_)))
        ));
    }
}

/// 0, and the order of P-256 (FIPS 186-5 gives it as n).
#[test]
fn scalars_out_of_range_are_refused() {
    let order = [
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc,
        0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ];
    for scalar in [[0; 32], order, [0xff; 32]] {
        let refused = RecipientKey::from_bytes(Kem::DhP256, &scalar);
        assert!(matches!(refused, Err(KemError::P256(_))));
    }
}
