//! The groups on their own, without TLS around them.

use core::sync::atomic::{AtomicBool, Ordering};

use pq_core::ml_kem::{self, DecapsulationKey, MlKem512, MlKem768, MlKem1024};
use proptest::prelude::*;
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};
use rustls_pq::Group;

use crate::peers::{any_base, bases, with_groups};

/// Code points, lengths and order of the halves (RFC 10024 and draft-ietf-tls-mlkem).
#[test]
fn shares_and_secrets() {
    for (name, base) in bases() {
        for &Expected {
            group,
            code_point,
            client_share_len,
            server_share_len,
            secret_len,
            ..
        } in &EXPECTED
        {
            println!("{name}: {group}");
            let kx = kx_group(&base, group);
            assert_eq!(u16::from(kx.name()), code_point);
            assert_eq!(kx.ffdhe_group(), None);
            assert!(!kx.fips());
            assert!(kx.usable_for_version(ProtocolVersion::TLSv1_3));
            assert!(!kx.usable_for_version(ProtocolVersion::TLSv1_2));

            let client = kx.start().unwrap();
            assert_eq!(client.group(), kx.name());
            assert_eq!(client.ffdhe_group(), None);
            assert_eq!(client.pub_key().len(), client_share_len);
            let server = kx.start_and_complete(client.pub_key()).unwrap();
            assert_eq!(server.group, kx.name());
            assert_eq!(server.pub_key.len(), server_share_len);
            let secret = client.complete(&server.pub_key).unwrap();
            assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
            assert_eq!(secret.secret_bytes().len(), secret_len);
        }
    }
}

/// Which bytes go where, compared with ML-KEM alone and a classical half of known bytes.
#[test]
fn layout() {
    let base = known_base();

    layout_of::<MlKem768>(&base, Group::X25519MLKEM768, |ml_kem, x25519| {
        [ml_kem, x25519].concat()
    });
    layout_of::<MlKem768>(&base, Group::SECP256R1MLKEM768, |ml_kem, p256| {
        [p256, ml_kem].concat()
    });
    layout_of::<MlKem1024>(&base, Group::SECP384R1MLKEM1024, |ml_kem, p384| {
        [p384, ml_kem].concat()
    });
    layout_of::<MlKem512>(&base, Group::MLKEM512, |ml_kem, _| ml_kem.to_vec());
    layout_of::<MlKem768>(&base, Group::MLKEM768, |ml_kem, _| ml_kem.to_vec());
    layout_of::<MlKem1024>(&base, Group::MLKEM1024, |ml_kem, _| ml_kem.to_vec());
}

fn layout_of<P: ml_kem::ParameterSet>(
    base: &CryptoProvider,
    group: Group,
    put_together: fn(&[u8], &[u8]) -> Vec<u8>,
) {
    let kx = kx_group(base, group);
    let client = kx.start().unwrap();
    let server = kx.start_and_complete(client.pub_key()).unwrap();

    let decapsulation_key = DecapsulationKey::<P>::from_seed(&[7; 64]);
    let encapsulation_key = decapsulation_key.encapsulation_key();
    let (ciphertext, secret) = encapsulation_key.encapsulate(&[7; 32]);
    // The pure groups have no classical half, and `put_together` drops it.
    let (classical_share, classical_secret) = match client.hybrid_component() {
        Some((component, share)) => {
            let known = kx_group(base, component.into());
            let secret = known.start().unwrap().complete(share).unwrap();
            (share.to_vec(), secret.secret_bytes().to_vec())
        }
        None => Default::default(),
    };
    assert_eq!(
        client.pub_key(),
        put_together(encapsulation_key.as_bytes(), &classical_share)
    );
    assert_eq!(
        server.pub_key,
        put_together(ciphertext.as_bytes(), &classical_share)
    );
    let expected = put_together(secret.as_bytes(), &classical_secret);
    assert_eq!(server.secret.secret_bytes(), expected);
    let client_secret = client.complete(&server.pub_key).unwrap();
    assert_eq!(client_secret.secret_bytes(), expected);
}

/// The base's own post-quantum groups interoperate with ours.
#[test]
fn agrees_with_the_groups_of_the_base() {
    let mut compared = 0;
    for (name, base) in bases() {
        for &theirs in &base.kx_groups {
            let group = Group::from(theirs.name());
            if !Group::POST_QUANTUM.contains(&group) {
                continue;
            }
            println!("{name}: {group}");
            let ours = kx_group(&base, group);
            for (client, server) in [(ours, theirs), (theirs, ours)] {
                let client = client.start().unwrap();
                let server = server.start_and_complete(client.pub_key()).unwrap();
                let secret = client.complete(&server.pub_key).unwrap();
                assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
            }
            compared += 1;
        }
    }
    // graviola and AWS-LC have X25519MLKEM768, ring has none.
    let expected =
        usize::from(cfg!(feature = "graviola")) + usize::from(cfg!(feature = "aws-lc-rs"));
    assert!(compared >= expected, "{compared}");
}

/// The classical half of a hybrid can be used on its own.
#[test]
fn component() {
    for (name, base) in bases() {
        for Expected {
            group, classical, ..
        } in EXPECTED
        {
            println!("{name}: {group}");
            let client = kx_group(&base, group).start().unwrap();
            let Some(classical) = classical else {
                assert!(client.hybrid_component().is_none());
                continue;
            };

            let (component, share) = client.hybrid_component().unwrap();
            assert_eq!(Group::from(component), classical.group);
            assert_eq!(
                share,
                &client.pub_key()[classical.position_in(client.pub_key())]
            );
            let server = kx_group(&base, classical.group)
                .start_and_complete(share)
                .unwrap();
            let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
            assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
        }
    }
}

/// Two runs have nothing in common.
#[test]
fn keys_and_ciphertexts_are_fresh() {
    for (_, base) in bases() {
        for &group in Group::POST_QUANTUM {
            let kx = kx_group(&base, group);
            let (first, second) = (kx.start().unwrap(), kx.start().unwrap());
            assert_ne!(first.pub_key(), second.pub_key());

            let answers = [(); 2].map(|()| kx.start_and_complete(first.pub_key()).unwrap());
            assert_ne!(answers[0].pub_key, answers[1].pub_key);
            assert_ne!(
                answers[0].secret.secret_bytes(),
                answers[1].secret.secret_bytes()
            );
        }
    }
}

/// A changed ciphertext gives another secret, not an error.
#[test]
fn implicit_rejection() {
    let base = any_base();
    for Expected {
        group, classical, ..
    } in EXPECTED
    {
        let kx = kx_group(&base, group);
        let client = kx.start().unwrap();
        let mut server = kx.start_and_complete(client.pub_key()).unwrap();
        let ml_kem = ml_kem_position(classical, &server.pub_key);
        server.pub_key[ml_kem.start] ^= 1;
        let secret = client.complete(&server.pub_key).unwrap();
        assert_ne!(secret.secret_bytes(), server.secret.secret_bytes());
    }
}

/// FIPS 203, section 7.2: coefficients of an encapsulation key are below q = 3329.
#[test]
fn modulus_check() {
    for (name, base) in bases() {
        for Expected {
            group, classical, ..
        } in EXPECTED
        {
            println!("{name}: {group}");
            let kx = kx_group(&base, group);
            let share = kx.start().unwrap().pub_key().to_vec();
            let ml_kem = ml_kem_position(classical, &share);
            // Two coefficients in three bytes; ρ is the last 32 bytes of the key.
            let first = ml_kem.start;
            let last = ml_kem.end - 32 - 2;
            for (coefficient, accepted) in [(3328, true), (3329, false), (4095, false)] {
                let [low, high] = u16::to_le_bytes(coefficient);
                let mut even = share.clone();
                even[first] = low;
                even[first + 1] = even[first + 1] & 0xf0 | high;
                let mut odd = share.clone();
                odd[last] = odd[last] & 0x0f | low << 4;
                odd[last + 1] = high << 4 | low >> 4;
                for share in [even, odd] {
                    let result = kx.start_and_complete(&share).map(|_| ());
                    match accepted {
                        true => assert_eq!(result, Ok(())),
                        false => assert_eq!(result, Err(INVALID_KEY_SHARE)),
                    }
                }
            }
        }
    }
}

/// A point of small order makes the X25519 result zero whatever the other's key is
/// (RFC 7748, section 6.1); that ends the exchange in every role.
#[test]
fn zero_x25519_result() {
    for (name, base) in bases() {
        println!("{name}");
        let hybrid = kx_group(&base, Group::X25519MLKEM768);
        let alone = kx_group(&base, Group::X25519);
        for point in SMALL_ORDER {
            let client = hybrid.start().unwrap();
            let mut client_share = client.pub_key().to_vec();
            client_share[1184..].copy_from_slice(&point);
            let server = hybrid.start_and_complete(client.pub_key()).unwrap();
            let mut server_share = server.pub_key;
            server_share[1088..].copy_from_slice(&point);

            for result in [
                hybrid
                    .start_and_complete(&client_share)
                    .map(|completed| completed.secret),
                client.complete(&server_share),
                hybrid.start().unwrap().complete_hybrid_component(&point),
                alone
                    .start_and_complete(&point)
                    .map(|completed| completed.secret),
            ] {
                assert_eq!(result.err(), Some(INVALID_KEY_SHARE));
            }
        }
    }
}

/// A point that isn't on the curve, and the encodings that TLS 1.3 no longer allows.
#[test]
fn bad_points() {
    for (name, base) in bases() {
        for Expected {
            group, classical, ..
        } in EXPECTED
        {
            let Some(classical) = classical.filter(|classical| classical.len > 32) else {
                continue;
            };
            println!("{name}: {group}");
            let kx = kx_group(&base, group);
            let client = kx.start().unwrap();
            let server = kx.start_and_complete(client.pub_key()).unwrap();
            let tampers: [fn(&mut [u8]); 4] = [
                |point| point[1..].fill(1),
                |point| point[1..].fill(0xff),
                |point| point[0] = 0,
                // hybrid form: the sign of y in the first byte, and y all the same
                |point| point[0] = 6 | point[point.len() - 1] & 1,
            ];
            for tamper in tampers {
                let mut share = client.pub_key().to_vec();
                let at = classical.position_in(&share);
                tamper(&mut share[at]);
                assert_eq!(
                    kx.start_and_complete(&share).map(|_| ()).unwrap_err(),
                    INVALID_KEY_SHARE
                );

                let mut share = server.pub_key.clone();
                let at = classical.position_in(&share);
                tamper(&mut share[at]);
                assert_eq!(
                    kx.start()
                        .unwrap()
                        .complete(&share)
                        .map(|_| ())
                        .unwrap_err(),
                    INVALID_KEY_SHARE
                );
            }
        }
    }
}

/// If the base's randomness fails, so does the key exchange.
#[test]
fn randomness_fails() {
    let working = any_base();
    let failing = CryptoProvider {
        secure_random: &FailsOnDemand,
        ..any_base()
    };
    for &group in Group::POST_QUANTUM {
        let share = kx_group(&working, group)
            .start()
            .unwrap()
            .pub_key()
            .to_vec();
        let kx = kx_group(&failing, group);

        FAIL.store(false, Ordering::Relaxed);
        assert!(kx.start().is_ok());
        assert!(kx.start_and_complete(&share).is_ok());

        FAIL.store(true, Ordering::Relaxed);
        assert_eq!(kx.start().err(), Some(Error::FailedToGetRandomBytes));
        assert_eq!(
            kx.start_and_complete(&share).err(),
            Some(Error::FailedToGetRandomBytes)
        );
        // A bad share is found before randomness is used.
        assert_eq!(
            kx.start_and_complete(&share[1..]).err(),
            Some(INVALID_KEY_SHARE)
        );
    }
}

/// All lengths except the right one, in both roles.
#[test]
fn every_wrong_length() {
    let base = any_base();
    for Expected {
        group,
        client_share_len,
        server_share_len,
        ..
    } in EXPECTED
    {
        let kx = kx_group(&base, group);
        let bytes = [4; 1700];
        for len in (0..bytes.len()).filter(|&len| len != client_share_len) {
            assert_eq!(
                kx.start_and_complete(&bytes[..len]).err(),
                Some(INVALID_KEY_SHARE),
                "{group}, {len} bytes"
            );
        }
        for len in (0..bytes.len())
            .step_by(7)
            .chain([server_share_len - 1, server_share_len + 1])
            .filter(|&len| len != server_share_len)
        {
            assert_eq!(
                kx.start().unwrap().complete(&bytes[..len]).err(),
                Some(INVALID_KEY_SHARE),
                "{group}, {len} bytes"
            );
        }
    }
}

/// A classical half that accepts shares of any length never gets a share of a wrong length.
#[test]
fn the_length_is_checked_before_the_halves_run() {
    let base = known_base();
    for Expected { group, .. } in EXPECTED {
        let kx = kx_group(&base, group);
        let client = kx.start().unwrap();
        let mut client_share = client.pub_key().to_vec();
        let mut server_share = kx.start_and_complete(&client_share).unwrap().pub_key;

        // `Known` panics when it is given anything but its own share.
        client_share.push(0);
        assert_eq!(
            kx.start_and_complete(&client_share).err(),
            Some(INVALID_KEY_SHARE)
        );
        server_share.push(0);
        assert_eq!(
            client.complete(&server_share).err(),
            Some(INVALID_KEY_SHARE)
        );
    }
}

proptest! {
    /// The result for any share is a secret or `InvalidKeyShare`.
    #[test]
    fn arbitrary_shares(
        which in 0..EXPECTED.len(),
        bytes in prop::collection::vec(any::<u8>(), 2000),
        len in prop_oneof![Just(None), (0..2000_usize).prop_map(Some)],
    ) {
        let Expected { group, client_share_len, server_share_len, classical, .. } = EXPECTED[which];
        for (_, base) in bases() {
            let kx = kx_group(&base, group);
            let client_share = &bytes[..len.unwrap_or(client_share_len)];
            let server_share = &bytes[..len.unwrap_or(server_share_len)];
            let component_len = classical.map_or(32, |classical| classical.len);
            let component_share = &bytes[..len.unwrap_or(component_len)];

            let mut results = vec![
                kx.start_and_complete(client_share).map(|completed| completed.secret),
                kx.start().unwrap().complete(server_share),
            ];
            if classical.is_some() {
                results.push(kx.start().unwrap().complete_hybrid_component(component_share));
            }
            for result in results {
                if let Err(error) = result {
                    prop_assert_eq!(error, INVALID_KEY_SHARE);
                }
            }
        }
    }

    /// A valid share with any one byte changed leads to another secret or an error.
    #[test]
    fn damaged_shares(which in 0..EXPECTED.len(), at in any::<prop::sample::Index>(), flip in 1..=u8::MAX) {
        let base = any_base();
        let kx = kx_group(&base, EXPECTED[which].group);
        let client = kx.start().unwrap();
        let mut share = client.pub_key().to_vec();
        let mut server = kx.start_and_complete(&share).unwrap();

        let i = at.index(share.len());
        share[i] ^= flip;
        if let Err(error) = kx.start_and_complete(&share) {
            prop_assert_eq!(error, INVALID_KEY_SHARE);
        }

        let i = at.index(server.pub_key.len());
        server.pub_key[i] ^= flip;
        match client.complete(&server.pub_key) {
            // Except that X25519 ignores the top bit of a share (RFC 7748, section 5).
            Ok(secret) => prop_assert!(
                secret.secret_bytes() != server.secret.secret_bytes()
                    || kx.name() == NamedGroup::X25519MLKEM768 && (i, flip) == (1119, 0x80)
            ),
            Err(error) => prop_assert_eq!(error, INVALID_KEY_SHARE),
        }
    }
}

const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

#[derive(Clone, Copy)]
struct Expected {
    group: Group,
    code_point: u16,
    client_share_len: usize,
    server_share_len: usize,
    secret_len: usize,
    classical: Option<Classical>,
}

/// The classical half of a hybrid, and where it is in a share.
#[derive(Clone, Copy)]
struct Classical {
    group: Group,
    len: usize,
    first: bool,
}

impl Classical {
    fn position_in(&self, share: &[u8]) -> core::ops::Range<usize> {
        match self.first {
            true => 0..self.len,
            false => share.len() - self.len..share.len(),
        }
    }
}

fn ml_kem_position(classical: Option<Classical>, share: &[u8]) -> core::ops::Range<usize> {
    match classical {
        None => 0..share.len(),
        Some(Classical {
            len, first: true, ..
        }) => len..share.len(),
        Some(Classical {
            len, first: false, ..
        }) => 0..share.len() - len,
    }
}

const EXPECTED: [Expected; 6] = [
    Expected {
        group: Group::X25519MLKEM768,
        code_point: 0x11ec,
        client_share_len: 1216,
        server_share_len: 1120,
        secret_len: 64,
        classical: Some(Classical {
            group: Group::X25519,
            len: 32,
            first: false,
        }),
    },
    Expected {
        group: Group::SECP256R1MLKEM768,
        code_point: 0x11eb,
        client_share_len: 1249,
        server_share_len: 1153,
        secret_len: 64,
        classical: Some(Classical {
            group: Group::SECP256R1,
            len: 65,
            first: true,
        }),
    },
    Expected {
        group: Group::SECP384R1MLKEM1024,
        code_point: 0x11ed,
        client_share_len: 1665,
        server_share_len: 1665,
        secret_len: 80,
        classical: Some(Classical {
            group: Group::SECP384R1,
            len: 97,
            first: true,
        }),
    },
    Expected {
        group: Group::MLKEM512,
        code_point: 0x0200,
        client_share_len: 800,
        server_share_len: 768,
        secret_len: 32,
        classical: None,
    },
    Expected {
        group: Group::MLKEM768,
        code_point: 0x0201,
        client_share_len: 1184,
        server_share_len: 1088,
        secret_len: 32,
        classical: None,
    },
    Expected {
        group: Group::MLKEM1024,
        code_point: 0x0202,
        client_share_len: 1568,
        server_share_len: 1568,
        secret_len: 32,
        classical: None,
    },
];

/// u-coordinates of order 1, 2, 4 and 8 on Curve25519 and its twist, also those not reduced modulo
/// p = 2^255 - 19.
const SMALL_ORDER: [[u8; 32]; 7] = {
    // p - 1 in little endian; p and p + 1 differ in the first byte.
    let mut minus_one = [0xff; 32];
    minus_one[0] = 0xec;
    minus_one[31] = 0x7f;
    let mut zero_again = minus_one;
    zero_again[0] = 0xed;
    let mut one_again = minus_one;
    one_again[0] = 0xee;
    let mut one = [0; 32];
    one[0] = 1;
    [
        [0; 32],
        one,
        minus_one,
        zero_again,
        one_again,
        // The two of order 8.
        *b"\xe0\xeb\x7a\x7c\x3b\x41\xb8\xae\x16\x56\xe3\xfa\xf1\x9f\xc4\x6a\
           \xda\x09\x8d\xeb\x9c\x32\xb1\xfd\x86\x62\x05\x16\x5f\x49\xb8\x00",
        *b"\x5f\x9c\x95\xbc\xa3\x50\x8c\x24\xb1\xd0\xb1\x55\x9c\x83\xef\x5b\
           \x04\x44\x5c\xc4\x58\x1c\x8e\x86\xd8\x22\x4e\xdd\xd0\x9f\x11\x57",
    ]
};

/// A base whose classical groups and randomness have known bytes.
fn known_base() -> CryptoProvider {
    CryptoProvider {
        kx_groups: vec![
            &Known {
                group: Group::X25519,
                share: &[0x25; 32],
                secret: &[0x55; 32],
            },
            &Known {
                group: Group::SECP256R1,
                share: &[0x04; 65],
                secret: &[0x56; 32],
            },
            &Known {
                group: Group::SECP384R1,
                share: &[0x04; 97],
                secret: &[0x84; 48],
            },
        ],
        secure_random: &Sevens,
        ..any_base()
    }
}

fn kx_group(base: &CryptoProvider, group: Group) -> &'static dyn SupportedKxGroup {
    with_groups(base, [group]).kx_groups[0]
}

/// Fake randomness: every byte is seven.
#[derive(Debug)]
struct Sevens;

impl SecureRandom for Sevens {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        buf.fill(7);
        Ok(())
    }
}

#[derive(Debug)]
struct FailsOnDemand;

static FAIL: AtomicBool = AtomicBool::new(false);

impl SecureRandom for FailsOnDemand {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        match FAIL.load(Ordering::Relaxed) {
            true => Err(GetRandomFailed),
            false => any_base().secure_random.fill(buf),
        }
    }
}

/// A classical group that always has the same share and the same secret.
#[derive(Clone, Copy, Debug)]
struct Known {
    group: Group,
    share: &'static [u8],
    secret: &'static [u8],
}

impl SupportedKxGroup for Known {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(*self))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.group.into()
    }
}

impl ActiveKeyExchange for Known {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        assert_eq!(peer, self.share);
        Ok(SharedSecret::from(self.secret))
    }

    fn pub_key(&self) -> &[u8] {
        self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.group.into()
    }
}
