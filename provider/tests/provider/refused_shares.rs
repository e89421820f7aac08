//! Key shares that must be refused, on the wire: the honest side's error, and the
//! alert that it sends.

use core::fmt;

use pq_x509::keys::SignatureAlgorithm;
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{AlertDescription, Error, NamedGroup, PeerMisbehaved};
use rustls_pq::Group;

use crate::peers::{End, Outcome, Pki, bases, client_config, connect, server_config, with_groups};

#[test]
fn wrong_lengths() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        for group in Group::POST_QUANTUM {
            for (what, tamper) in WRONG_LENGTHS {
                println!("{name}: {group}, {what}");
                let outcome = tampering_client(&pki, &base, *group, tamper);
                refused(&outcome.server, INVALID_KEY_SHARE, ILLEGAL_PARAMETER);
                assert_eq!(outcome.client.result, ALERTED);

                let outcome = tampering_server(&pki, &base, *group, tamper);
                refused(&outcome.client, INVALID_KEY_SHARE, ILLEGAL_PARAMETER);
            }
        }
    }
}

/// The right length, the wrong way round.
#[test]
fn swapped_halves() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        for (group, client_cut, server_cut) in [
            (Group::X25519MLKEM768, 1184, 1088),
            (Group::SECP256R1MLKEM768, 65, 65),
            (Group::SECP384R1MLKEM1024, 97, 97),
        ] {
            println!("{name}: {group}");
            // Either the point is invalid, or the encapsulation key isn't reduced.
            let outcome = tampering_client(&pki, &base, group, move |share: &mut Vec<u8>| {
                share.rotate_left(client_cut)
            });
            refused(&outcome.server, INVALID_KEY_SHARE, ILLEGAL_PARAMETER);

            let outcome = tampering_server(&pki, &base, group, move |share: &mut Vec<u8>| {
                share.rotate_left(server_cut)
            });
            match group {
                // Any 32 bytes are an X25519 share, and any 1088 bytes an ML-KEM ciphertext: the
                // secrets differ, and nothing decrypts.
                Group::X25519MLKEM768 => no_common_secret(&outcome),
                _ => refused(&outcome.client, INVALID_KEY_SHARE, ILLEGAL_PARAMETER),
            }
        }
    }
}

/// Every group with ML-KEM, and where its part of a share begins.
const ML_KEM_AT: [(Group, usize); 6] = [
    (Group::X25519MLKEM768, 0),
    (Group::SECP256R1MLKEM768, 65),
    (Group::SECP384R1MLKEM1024, 97),
    (Group::MLKEM512, 0),
    (Group::MLKEM768, 0),
    (Group::MLKEM1024, 0),
];

#[test]
fn unreduced_coefficient() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        for (group, ml_kem_at) in ML_KEM_AT {
            println!("{name}: {group}");
            // q = 3329 = 0xd01, as the first coefficient
            let outcome = tampering_client(&pki, &base, group, move |share: &mut Vec<u8>| {
                share[ml_kem_at] = 0x01;
                share[ml_kem_at + 1] = share[ml_kem_at + 1] & 0xf0 | 0x0d;
            });
            refused(&outcome.server, INVALID_KEY_SHARE, ILLEGAL_PARAMETER);
            assert_eq!(outcome.client.result, ALERTED);
        }
    }
}

#[test]
fn zero_x25519_result() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        println!("{name}");
        for (group, tail) in [(Group::X25519MLKEM768, 32), (Group::X25519, 32)] {
            let zero = move |share: &mut Vec<u8>| {
                let at = share.len() - tail;
                share[at..].fill(0);
            };
            let outcome = tampering_client(&pki, &base, group, zero);
            refused(&outcome.server, INVALID_KEY_SHARE, ILLEGAL_PARAMETER);
            let outcome = tampering_server(&pki, &base, group, zero);
            refused(&outcome.client, INVALID_KEY_SHARE, ILLEGAL_PARAMETER);
        }
    }
}

/// The component share with which a server without post-quantum groups answers.
#[test]
fn bad_component_share() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        println!("{name}");
        let client = with_groups(&base, [Group::X25519MLKEM768, Group::X25519]);
        for (what, tamper) in WRONG_LENGTHS
            .into_iter()
            .chain([("all zero", (|share| share.fill(0)) as TamperFn)])
        {
            println!("{what}");
            let mut server = with_groups(&base, [Group::X25519]);
            server.kx_groups = vec![Tampering::with(server.kx_groups[0], tamper)];
            let outcome = connect(
                &client_config(client.clone(), pki.roots()).into(),
                &server_config(server, &pki.server).into(),
            );
            refused(&outcome.client, INVALID_KEY_SHARE, ILLEGAL_PARAMETER);
        }
    }
}

/// A ciphertext that was damaged on the way: implicit rejection, so the first
/// encrypted record is the one that fails.
#[test]
fn damaged_ciphertext() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        for (group, ml_kem_at) in ML_KEM_AT {
            println!("{name}: {group}");
            let outcome = tampering_server(&pki, &base, group, move |share: &mut Vec<u8>| {
                share[ml_kem_at] ^= 0x80
            });
            no_common_secret(&outcome);
        }
    }
}

const WRONG_LENGTHS: [(&str, TamperFn); 7] = [
    ("one byte short at the end", |share| {
        share.pop();
    }),
    ("one byte short at the start", |share| {
        share.remove(0);
    }),
    ("half of it", |share| share.truncate(share.len() / 2)),
    ("one byte of it", |share| share.truncate(1)),
    ("padded at the end", |share| share.push(0)),
    ("padded at the start", |share| share.insert(0, 0)),
    ("twice", |share| share.extend_from_within(..)),
];

const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);
const ALERTED: Result<(), Error> = Err(Error::AlertReceived(AlertDescription::IllegalParameter));
const ILLEGAL_PARAMETER: u8 = 47;

/// Asserts that `end` failed with `error`, and that it wrote this fatal alert last, unencrypted since the
/// two sides share no keys yet.
#[track_caller]
fn refused(end: &End, error: Error, alert: u8) {
    assert_eq!(end.result, Err(error));
    let expected = [0x15, 3, 3, 0, 2, 2, alert];
    assert!(
        end.sent.ends_with(&expected),
        "no alert {alert} at the end of {:02x?}",
        &end.sent[end.sent.len().saturating_sub(32)..]
    );
}

/// Asserts that the two sides have different secrets: each fails to decrypt the other's records, alerts
/// included.
#[track_caller]
fn no_common_secret(outcome: &Outcome) {
    for end in [&outcome.client, &outcome.server] {
        assert_eq!(end.result, Err(Error::DecryptError));
    }
}

fn tampering_client(
    pki: &Pki,
    base: &CryptoProvider,
    group: Group,
    tamper: impl Tamper,
) -> Outcome {
    let honest = with_groups(base, [group]);
    let mut tampering = honest.clone();
    tampering.kx_groups = vec![Tampering::with(honest.kx_groups[0], tamper)];
    connect(
        &client_config(tampering, pki.roots()).into(),
        &server_config(honest, &pki.server).into(),
    )
}

fn tampering_server(
    pki: &Pki,
    base: &CryptoProvider,
    group: Group,
    tamper: impl Tamper,
) -> Outcome {
    let honest = with_groups(base, [group]);
    let mut tampering = honest.clone();
    tampering.kx_groups = vec![Tampering::with(honest.kx_groups[0], tamper)];
    connect(
        &client_config(honest, pki.roots()).into(),
        &server_config(tampering, &pki.server).into(),
    )
}

/// A change of a share before it is sent.
trait Tamper: Fn(&mut Vec<u8>) + Send + Sync + 'static {}

impl<F: Fn(&mut Vec<u8>) + Send + Sync + 'static> Tamper for F {}

type TamperFn = fn(&mut Vec<u8>);

/// A group that changes its share before sending it.
struct Tampering {
    honest: &'static dyn SupportedKxGroup,
    tamper: Box<dyn Tamper>,
}

impl Tampering {
    fn with(
        honest: &'static dyn SupportedKxGroup,
        tamper: impl Tamper,
    ) -> &'static dyn SupportedKxGroup {
        Box::leak(Box::new(Self {
            honest,
            tamper: Box::new(tamper),
        }))
    }

    fn tampered(&self, share: &[u8]) -> Vec<u8> {
        let mut share = share.to_vec();
        (self.tamper)(&mut share);
        share
    }
}

impl fmt::Debug for Tampering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tampering({:?})", self.honest)
    }
}

impl SupportedKxGroup for Tampering {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let honest = self.honest.start()?;
        Ok(Box::new(TamperingActive {
            share: self.tampered(honest.pub_key()),
            honest,
        }))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let completed = self.honest.start_and_complete(peer)?;
        Ok(CompletedKeyExchange {
            pub_key: self.tampered(&completed.pub_key),
            ..completed
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.honest.name()
    }
}

struct TamperingActive {
    honest: Box<dyn ActiveKeyExchange>,
    share: Vec<u8>,
}

impl ActiveKeyExchange for TamperingActive {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.honest.complete(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.honest.group()
    }
}
