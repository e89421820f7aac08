//! Key shares that were changed between the two ends, and the results: an
//! error of the right kind at the end that received them, and the right alert on the
//! wire.

use handshakes::{Direction, Outcome};
use interop::endpoint::{self, ours};
use interop::openssl::Workdir;
use interop::pki::{Identity, NAME, Pki};
use interop::proxy;
use interop::tcp::{self, Failure, Server};
use interop::wire::{KeyShare, last_alert, rewrite_key_shares};
use pq_x509::keys::SignatureAlgorithm;
use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, ClientConnection, Error, HandshakeKind, PeerMisbehaved, ServerConnection,
};
use rustls_pq::Group;

use crate::tls_openssl::GROUPS;

/// Shares that pass the man in the middle unchanged are accepted.
#[test]
fn shares_as_they_were_are_taken() {
    let scene = Scene::new();
    for group in GROUPS {
        for direction in DIRECTIONS {
            let mut outcome = scene.tamper(&[group], direction, |shares| {
                assert_eq!(shares[0].group, group.into());
                assert_eq!(shares[0].key.len(), Layout::of(group).share_len(direction));
            });
            outcome.assert_works();
            outcome.assert_negotiated(group.into(), HandshakeKind::Full);
        }
    }
}

#[test]
fn truncated() {
    for_every_group_and_direction(|scene, group, direction| {
        scene.assert_refused(group, direction, |share| {
            share.pop();
        });
    });
}

#[test]
fn padded() {
    for_every_group_and_direction(|scene, group, direction| {
        scene.assert_refused(group, direction, |share| share.push(0));
    });
}

/// Each share cut down to one of its two parts.
#[test]
fn halved() {
    for_every_group_and_direction(|scene, group, direction| {
        let layout = Layout::of(group);
        if layout.classical_len > 0 && layout.ml_kem.is_some() {
            scene.assert_refused(group, direction, |share| {
                share.truncate(layout.classical_len);
            });
            scene.assert_refused(group, direction, |share| {
                share.drain(..layout.classical_len);
            });
        }
    });
}

/// The two parts in the order of another group.
#[test]
fn parts_swapped() {
    let scene = Scene::new();
    for group in HYBRIDS {
        for direction in DIRECTIONS {
            let layout = Layout::of(group);
            let swap = |share: &mut Vec<u8>| {
                let first_len = match layout.ml_kem_first {
                    true => share.len() - layout.classical_len,
                    false => layout.classical_len,
                };
                share.rotate_left(first_len);
            };
            if group == Group::X25519MLKEM768 && direction == Direction::ToClient {
                // Any bytes of the right length are a ciphertext and an X25519 share.
                // Neither end knows before the keys that they make do not fit.
                scene.assert_keys_differ(group, swap);
            } else {
                scene.assert_refused(group, direction, swap);
            }
        }
    }
}

/// Each of two shares under the name of the other.
#[test]
fn shares_swapped() {
    let scene = Scene::new();
    for (hybrid, component) in [
        (Group::X25519MLKEM768, Group::X25519),
        (Group::SECP256R1MLKEM768, Group::SECP256R1),
        (Group::SECP384R1MLKEM1024, Group::SECP384R1),
    ] {
        let outcome = scene.tamper(&[hybrid, component], Direction::ToServer, |shares| {
            let [first, second] = shares.as_mut_slice() else {
                panic!("the client sends both shares");
            };
            assert_eq!(first.group, hybrid.into());
            assert_eq!(second.group, component.into());
            core::mem::swap(&mut first.key, &mut second.key);
        });
        assert_illegal_parameter(&outcome, Direction::ToServer);
    }
}

/// A server that answers with another group than was agreed on.
#[test]
fn share_of_another_group() {
    let scene = Scene::new();
    for (group, other) in [
        (Group::X25519MLKEM768, Group::SECP256R1MLKEM768),
        (Group::MLKEM768, Group::MLKEM1024),
        (Group::SECP384R1MLKEM1024, Group::SECP384R1),
    ] {
        let outcome = scene.tamper(&[group], Direction::ToClient, |shares| {
            shares[0].group = other.into();
        });
        let victim = &outcome.client;
        assert_eq!(
            victim.error,
            Some(Error::PeerMisbehaved(PeerMisbehaved::WrongGroupForKeyShare))
        );
        assert_eq!(
            last_alert(&victim.sent),
            Some(AlertDescription::IllegalParameter)
        );
    }
}

/// The modulus check of FIPS 203, section 7.2, which RFC 10024 requires of the server.
#[test]
fn unreduced_coefficient() {
    let scene = Scene::new();
    for group in GROUPS {
        let layout = Layout::of(group);
        let Some(ml_kem) = layout.ml_kem else {
            continue;
        };
        let last = 256 * ml_kem.rank - 1;
        for index in [0, 1, last / 2, last] {
            for value in [Q, Q + 1, 0xfff] {
                scene.assert_refused(group, Direction::ToServer, |share| {
                    let start = layout.ml_kem_start();
                    set_coefficient(&mut share[start..], index, value);
                });
            }
        }
        // The largest value below q is a valid coefficient, even if it is wrong.
        let outcome = scene.tamper(&[group], Direction::ToServer, |shares| {
            let start = layout.ml_kem_start();
            set_coefficient(&mut shares[0].key[start..], last, Q - 1);
        });
        assert_ne!(outcome.server.error, Some(INVALID_KEY_SHARE));
    }
}

#[test]
fn ciphertext_of_wrong_length() {
    let scene = Scene::new();
    for group in GROUPS {
        let layout = Layout::of(group);
        let Some(ml_kem) = layout.ml_kem else {
            continue;
        };
        let start = layout.ml_kem_start();
        let end = start + ml_kem.ciphertext_len;
        scene.assert_refused(group, Direction::ToClient, |share| {
            share.remove(end - 1);
        });
        scene.assert_refused(group, Direction::ToClient, |share| share.insert(end, 0));
        // Without the ciphertext; an empty share is not even well-formed.
        if layout.classical_len > 0 {
            scene.assert_refused(group, Direction::ToClient, |share| {
                share.drain(start..end);
            });
        }
        // As long as an encapsulation key: only for ML-KEM-1024 is that the right length.
        if ml_kem.encapsulation_key_len != ml_kem.ciphertext_len {
            scene.assert_refused(group, Direction::ToClient, |share| {
                let added = vec![0; ml_kem.encapsulation_key_len - ml_kem.ciphertext_len];
                share.splice(end..end, added);
            });
        }
    }
}

/// The right form, but from nobody: by implicit rejection, the keys of the two ends differ.
#[test]
fn tampered_ciphertext() {
    let scene = Scene::new();
    for group in GROUPS {
        let layout = Layout::of(group);
        if layout.ml_kem.is_some() {
            scene.assert_keys_differ(group, |share| share[layout.ml_kem_start()] ^= 1);
        }
    }
}

/// Shares with which X25519 gives zero whatever the other end's key is.
#[test]
fn all_zero_x25519() {
    let scene = Scene::new();
    for group in [Group::X25519, Group::X25519MLKEM768] {
        for direction in DIRECTIONS {
            for point in low_order_points() {
                scene.assert_refused(group, direction, |share| {
                    let start = share.len() - point.len();
                    share[start..].copy_from_slice(&point);
                });
            }
        }
    }
}

/// A point beside the curve, the point at infinity, a compressed point.
#[test]
fn wrong_points() {
    let scene = Scene::new();
    for group in [
        Group::SECP256R1,
        Group::SECP384R1,
        Group::SECP256R1MLKEM768,
        Group::SECP384R1MLKEM1024,
    ] {
        for direction in DIRECTIONS {
            let len = Layout::of(group).classical_len;
            scene.assert_refused(group, direction, |share| share[len - 1] ^= 1);
            scene.assert_refused(group, direction, |share| share[..len].fill(0));
            scene.assert_refused(group, direction, |share| share[1..len].fill(0xff));
            scene.assert_refused(group, direction, |share| share[0] = 2);
        }
    }
}

/// A server that takes the classical half of a hybrid share is held to the same rules.
#[test]
fn answers_to_the_component_share() {
    let scene = Scene::new();
    for (hybrid, component) in [
        (Group::X25519MLKEM768, Group::X25519),
        (Group::SECP256R1MLKEM768, Group::SECP256R1),
        (Group::SECP384R1MLKEM1024, Group::SECP384R1),
    ] {
        let answer = |spoil: Spoil| {
            scene.tamper_between(
                &[hybrid, component],
                &[component],
                Direction::ToClient,
                |shares| {
                    assert_eq!(shares[0].group, component.into());
                    spoil(&mut shares[0].key);
                },
            )
        };
        let mut outcome = answer(|_| ());
        outcome.assert_works();
        outcome.assert_negotiated(component.into(), HandshakeKind::Full);

        let spoils: [Spoil; 3] = [
            |share| share.truncate(share.len() - 1),
            |share| share.push(0),
            // A point of low order, or no point.
            |share| share.fill(0),
        ];
        for spoil in spoils {
            assert_illegal_parameter(&answer(spoil), Direction::ToClient);
        }
    }
}

/// The same on a socket, with OpenSSL to read our server's alert.
#[test]
fn s_client_reads_the_alert_of_our_server() {
    let Some(work) = Workdir::new() else { return };
    let scene = Scene::new();
    work.write("root.pem", scene.pki.root().to_pem());
    for (group, spoil) in SPOILT.into_iter().chain([SPOILT_ENCAPSULATION_KEY]) {
        let server = Server::start(endpoint::server(ours(&[group]), &scene.server, None), 1);
        let middle = proxy::start(server.address(), move |direction, record| match direction {
            Direction::ToServer => rewrite_key_shares(&record, |shares| spoil(&mut shares[0].key)),
            Direction::ToClient => record,
        });
        let output = work.connect(middle, &format!("-CAfile root.pem -groups {group}"), "");

        assert!(!output.success(), "{output}");
        output.assert_contains("alert illegal parameter");
        output.assert_contains("SSL alert number 47");
        let [Err(Failure::Tls(error))] = &server.finish()[..] else {
            panic!("{group}: our server took it");
        };
        assert_eq!(*error, INVALID_KEY_SHARE);
    }
}

/// The same on a socket, with OpenSSL to read our client's alert.
#[test]
fn s_server_reads_the_alert_of_our_client() {
    let Some(work) = Workdir::new() else { return };
    let scene = Scene::new();
    let options = scene.server.write_to(&work, "server");
    for (group, spoil) in SPOILT {
        let server = work.serve(&format!("{options} -groups {group}"));
        let middle = proxy::start(server.address(), move |direction, record| match direction {
            Direction::ToServer => record,
            Direction::ToClient => rewrite_key_shares(&record, |shares| spoil(&mut shares[0].key)),
        });
        let config = endpoint::client(ours(&[group]), scene.pki.root(), None);
        let Err(Failure::Tls(error)) = tcp::connect(&config, middle, NAME, "") else {
            panic!("{group}: our client took it");
        };
        assert_eq!(error, INVALID_KEY_SHARE);
        let output = server.stop();
        output.assert_contains("alert illegal parameter");
        output.assert_contains("SSL alert number 47");
    }
}

/// Changes a key share.
type Spoil = fn(&mut Vec<u8>);

/// For the tests on sockets, some ways to spoil a share of either end.
const SPOILT: [(Group, Spoil); 4] = [
    (Group::X25519MLKEM768, |share| share.truncate(1)),
    (Group::SECP384R1MLKEM1024, |share| share.push(0)),
    (Group::X25519MLKEM768, |share| {
        let start = share.len() - 32;
        share[start..].fill(0);
    }),
    (Group::SECP256R1MLKEM768, |share| share.rotate_left(65)),
];

/// And one for the client's share.
const SPOILT_ENCAPSULATION_KEY: (Group, Spoil) =
    (Group::MLKEM512, |share| set_coefficient(share, 0, Q));

struct Scene {
    pki: Pki,
    server: Identity,
}

impl Scene {
    fn new() -> Self {
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let server = pki.server(SignatureAlgorithm::MlDsa44);
        Self { pki, server }
    }

    /// Lets our client and our server shake hands with the first of `groups`, and
    /// `rewrite` changes the shares of the hello that goes in `direction`.
    fn tamper(
        &self,
        groups: &[Group],
        direction: Direction,
        rewrite: impl FnOnce(&mut Vec<KeyShare>),
    ) -> Outcome {
        self.tamper_between(groups, groups, direction, rewrite)
    }

    /// Like [`tamper`](Self::tamper), with groups of its own for each end.
    fn tamper_between(
        &self,
        client_groups: &[Group],
        server_groups: &[Group],
        direction: Direction,
        rewrite: impl FnOnce(&mut Vec<KeyShare>),
    ) -> Outcome {
        let client = endpoint::client(ours(client_groups), self.pki.root(), None);
        let server = endpoint::server(ours(server_groups), &self.server, None);
        let name = ServerName::try_from(NAME).expect("the name is one");
        let mut rewrite = Some(rewrite);
        let outcome = handshakes::connect_through(
            ClientConnection::new(client, name).expect("the client starts"),
            ServerConnection::new(server).expect("the server starts"),
            |going, flight| match (going == direction).then(|| rewrite.take()).flatten() {
                Some(rewrite) => rewrite_key_shares(&flight, rewrite),
                None => flight,
            },
        );
        assert!(rewrite.is_none(), "the hello came by");
        outcome
    }

    /// Asserts that the end that receives the share, spoilt by `spoil`, refuses it.
    #[track_caller]
    fn assert_refused(&self, group: Group, direction: Direction, spoil: impl FnOnce(&mut Vec<u8>)) {
        let outcome = self.tamper(&[group], direction, |shares| spoil(&mut shares[0].key));
        assert_illegal_parameter(&outcome, direction);
    }

    /// Asserts that the client accepts the server's share, spoilt by `spoil`, and can't
    /// read what comes next.
    #[track_caller]
    fn assert_keys_differ(&self, group: Group, spoil: impl FnOnce(&mut Vec<u8>)) {
        let outcome = self.tamper(&[group], Direction::ToClient, |shares| {
            spoil(&mut shares[0].key);
        });
        assert_eq!(outcome.client.error, Some(Error::DecryptError));
    }
}

fn for_every_group_and_direction(test: impl Fn(&Scene, Group, Direction)) {
    let scene = Scene::new();
    for group in GROUPS {
        for direction in DIRECTIONS {
            test(&scene, group, direction);
        }
    }
}

/// Asserts that the receiver of what went in `direction` reported a wrong key share,
/// to its caller and on the wire, where the sender reads it.
#[track_caller]
fn assert_illegal_parameter(outcome: &Outcome, direction: Direction) {
    let (victim, other) = match direction {
        Direction::ToServer => (&outcome.server, &outcome.client),
        Direction::ToClient => (&outcome.client, &outcome.server),
    };
    assert_eq!(victim.error, Some(INVALID_KEY_SHARE));
    assert_eq!(
        last_alert(&victim.sent),
        Some(AlertDescription::IllegalParameter)
    );
    assert_eq!(
        other.error,
        Some(Error::AlertReceived(AlertDescription::IllegalParameter))
    );
}

/// Where the parts of a share are (RFC 10024, section 4; draft-ietf-tls-mlkem).
#[derive(Clone, Copy)]
struct Layout {
    /// 0 without a classical part.
    classical_len: usize,
    ml_kem: Option<MlKem>,
    ml_kem_first: bool,
}

#[derive(Clone, Copy)]
struct MlKem {
    /// k of FIPS 203: how many polynomials the encapsulation key has.
    rank: usize,
    encapsulation_key_len: usize,
    ciphertext_len: usize,
}

impl Layout {
    fn of(group: Group) -> Self {
        let (classical_len, ml_kem) = match group {
            Group::X25519MLKEM768 => (32, Some(ML_KEM_768)),
            Group::SECP256R1MLKEM768 => (65, Some(ML_KEM_768)),
            Group::SECP384R1MLKEM1024 => (97, Some(ML_KEM_1024)),
            Group::MLKEM512 => (0, Some(ML_KEM_512)),
            Group::MLKEM768 => (0, Some(ML_KEM_768)),
            Group::MLKEM1024 => (0, Some(ML_KEM_1024)),
            Group::X25519 => (32, None),
            Group::SECP256R1 => (65, None),
            Group::SECP384R1 => (97, None),
            other => panic!("these tests do not use {other}"),
        };
        Self {
            classical_len,
            ml_kem,
            ml_kem_first: group == Group::X25519MLKEM768,
        }
    }

    fn share_len(self, direction: Direction) -> usize {
        let ml_kem_len = self.ml_kem.map_or(0, |ml_kem| match direction {
            Direction::ToServer => ml_kem.encapsulation_key_len,
            Direction::ToClient => ml_kem.ciphertext_len,
        });
        self.classical_len + ml_kem_len
    }

    fn ml_kem_start(self) -> usize {
        match self.ml_kem_first {
            true => 0,
            false => self.classical_len,
        }
    }
}

/// Sets a coefficient of an encoded encapsulation key (ByteEncode₁₂ of FIPS 203: two
/// coefficients in three bytes, low bits first).
fn set_coefficient(encapsulation_key: &mut [u8], index: usize, value: u16) {
    let pair = &mut encapsulation_key[3 * (index / 2)..][..3];
    let [low, high] = value.to_le_bytes();
    if index.is_multiple_of(2) {
        pair[0] = low;
        pair[1] = pair[1] & 0xf0 | high;
    } else {
        pair[1] = pair[1] & 0x0f | low << 4;
        pair[2] = low >> 4 | high << 4;
    }
}

/// The u-coordinates of Curve25519's points of order 1, 2, 4 and 8, and those of its
/// twist, reduced and not (p and p + 1 stand for 0 and 1).
fn low_order_points() -> [[u8; 32]; 7] {
    let p = |low| {
        let mut bytes = [0xff; 32];
        bytes[0] = low;
        bytes[31] = 0x7f;
        bytes
    };
    let small = |low| {
        let mut bytes = [0; 32];
        bytes[0] = low;
        bytes
    };
    [
        small(0),
        small(1),
        p(0xec),
        p(0xed),
        p(0xee),
        ORDER_8_A,
        ORDER_8_B,
    ]
}

const ORDER_8_A: [u8; 32] = [
    0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
    0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
];
const ORDER_8_B: [u8; 32] = [
    0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
    0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
];

const ML_KEM_512: MlKem = MlKem {
    rank: 2,
    encapsulation_key_len: 800,
    ciphertext_len: 768,
};
const ML_KEM_768: MlKem = MlKem {
    rank: 3,
    encapsulation_key_len: 1184,
    ciphertext_len: 1088,
};
const ML_KEM_1024: MlKem = MlKem {
    rank: 4,
    encapsulation_key_len: 1568,
    ciphertext_len: 1568,
};

/// The modulus of ML-KEM.
const Q: u16 = 3329;

const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

const DIRECTIONS: [Direction; 2] = [Direction::ToServer, Direction::ToClient];

const HYBRIDS: [Group; 3] = [
    Group::X25519MLKEM768,
    Group::SECP256R1MLKEM768,
    Group::SECP384R1MLKEM1024,
];
