//! SecP384r1MLKEM1024 and MLKEM1024 in the default provider: who gets them, and that nobody else
//! pays for them.

use alloc::sync::Arc;

use pq_x509::SignatureAlgorithm;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, ClientConnection, Connection, HandshakeKind};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Group, Offer, OfferReader, Profile, ServerHandshake, SmallHello};

use crate::peers::{
    Outcome, Peer, Pki, accept, any_base, bases, client_config, connect, exchange, server_config,
    with_groups,
};

/// A client of CNSA 2.0 that would do with ECDH on P-384: where it has a share for one of the two,
/// and where it has none.
#[test]
fn clients_of_cnsa2_get_their_level() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        println!("{name}");
        let server = Arc::new(server_config(default_over(&base), &pki.server));
        for first in LEVEL_5 {
            let [one, other] = LEVEL_5;
            let second = if first == one { other } else { one };
            let groups = [first, second, Group::SECP384R1];
            let mut client = client_config(with_groups(&base, groups), pki.roots());
            let outcome = connect(&client.clone().into(), &server);
            outcome.assert_success(first, HandshakeKind::Full);

            client.resumption = SmallHello::new().with_share(Group::SECP384R1).into();
            let outcome = connect(&client.into(), &server);
            outcome.assert_success(first, HandshakeKind::FullWithHelloRetryRequest);
        }
        let cnsa2 = Builder::new(base).profile(Profile::Cnsa2).build().unwrap();
        let outcome = connect(&client_config(cnsa2, pki.roots()).into(), &server);
        // Which doesn't accept ML-DSA-44, and so it is not the key exchange that fails.
        assert_eq!(
            outcome.server.result,
            Err(rustls::PeerIncompatible::NoSignatureSchemesInCommon.into())
        );
    }
}

/// Servers that take these groups alone, or would do with a classical one.
#[test]
fn servers_of_cnsa2_are_met() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    for (name, base) in bases() {
        println!("{name}");
        let client = Arc::new(client_config(default_over(&base), pki.roots()));
        for (groups, expected) in [
            (&[Group::SECP384R1MLKEM1024][..], Group::SECP384R1MLKEM1024),
            (&[Group::MLKEM1024], Group::MLKEM1024),
            (
                &[
                    Group::SECP384R1,
                    Group::SECP256R1,
                    Group::SECP384R1MLKEM1024,
                ],
                Group::SECP384R1MLKEM1024,
            ),
            (&[Group::SECP384R1, Group::MLKEM1024], Group::MLKEM1024),
        ] {
            let server = with_groups(&base, groups.iter().copied());
            let outcome = connect(&client, &server_config(server, &pki.server).into());
            outcome.assert_success(expected, HandshakeKind::FullWithHelloRetryRequest);
        }
    }
}

/// With a server that has these groups everybody else has the same group, the same round trips and
/// the same bytes as with one that hasn't.
#[test]
fn nobody_else_pays_at_a_server() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let with = Arc::new(server_config(default_over(&any_base()), &pki.server));
    let without = Arc::new(server_config(without_level_5(), &pki.server));
    for (who, groups, expected) in [
        ("this crate", without_level_5_names(), Group::X25519MLKEM768),
        (
            "Go 1.26",
            vec![
                Group::X25519MLKEM768,
                Group::SECP256R1MLKEM768,
                Group::SECP384R1MLKEM1024,
                Group::X25519,
                Group::SECP256R1,
                Group::SECP384R1,
            ],
            Group::X25519MLKEM768,
        ),
        (
            "browsers, OpenSSL 3.5 and rustls over AWS-LC",
            vec![
                Group::X25519MLKEM768,
                Group::X25519,
                Group::SECP256R1,
                Group::SECP384R1,
            ],
            Group::X25519MLKEM768,
        ),
        (
            "a classical client",
            vec![Group::X25519, Group::SECP256R1, Group::SECP384R1],
            Group::X25519,
        ),
        (
            "a client that prefers P-256",
            vec![Group::SECP256R1MLKEM768, Group::SECP384R1MLKEM1024],
            Group::SECP256R1MLKEM768,
        ),
        (
            "a client of P-384",
            vec![Group::SECP384R1, Group::SECP384R1MLKEM1024],
            Group::SECP384R1,
        ),
    ] {
        println!("{who}");
        let provider = with_groups(&any_base(), groups);
        // No session from the first for the second.
        let client = || Arc::new(client_config(provider.clone(), pki.roots()));
        let outcomes = [&with, &without].map(|server| connect(&client(), server));
        for outcome in &outcomes {
            outcome.assert_success(expected, HandshakeKind::Full);
        }
        assert_eq!(bytes(&outcomes[0]), bytes(&outcomes[1]));
    }
}

/// Two code points.
#[test]
fn clients_pay_four_bytes() {
    for (name, base) in bases() {
        println!("{name}");
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let server = Arc::new(server_config(without_level_5(), &pki.server));
        let mut without = default_over(&base);
        without.kx_groups.retain(is_below_level_5);
        let [with, without] = [default_over(&base), without].map(|provider| {
            let outcome = connect(&client_config(provider, pki.roots()).into(), &server);
            outcome.assert_success(Group::X25519MLKEM768, HandshakeKind::Full);
            bytes(&outcome)
        });
        assert_eq!(with, [without[0] + 4, without[1]]);
    }
}

/// A client that lists SecP384r1MLKEM1024 first, and has a share for another group: it starts over,
/// unless it is spared that.
#[test]
fn who_can_be_spared() {
    let retried = HandshakeKind::FullWithHelloRetryRequest;
    let [hybrid, level_5] = [Group::X25519MLKEM768, Group::SECP384R1MLKEM1024];
    for (groups, share, plain, spared) in [
        (
            &[level_5, hybrid][..],
            hybrid,
            (level_5, retried),
            (hybrid, HandshakeKind::Full),
        ),
        // Nothing is lost, or nothing post-quantum is there at once.
        (
            &[level_5, hybrid],
            level_5,
            (level_5, HandshakeKind::Full),
            (level_5, HandshakeKind::Full),
        ),
        (
            &[level_5, Group::SECP384R1],
            Group::SECP384R1,
            (level_5, retried),
            (level_5, retried),
        ),
        (
            &[level_5, hybrid, Group::X25519],
            Group::X25519,
            (level_5, retried),
            (level_5, retried),
        ),
        (
            &[hybrid, level_5],
            hybrid,
            (hybrid, HandshakeKind::Full),
            (hybrid, HandshakeKind::Full),
        ),
    ] {
        let client = Sharing { groups, share };
        println!("{groups:?}, {share}");
        let known: fn(&[u8]) -> Offer = |hello| OfferReader::new().read(hello).unwrap().unwrap();
        let unknown: fn(&[u8]) -> Offer = |hello| Offer::of(&accept(hello).client_hello());
        assert_eq!(client.negotiates(unknown), plain);
        assert_eq!(client.negotiates(known), spared);
    }
}

/// A client with these groups and a first share for one of them.
struct Sharing<'a> {
    groups: &'a [Group],
    share: Group,
}

impl Sharing<'_> {
    /// With a server that would spare it, and reads its offer so.
    fn negotiates(&self, offer: fn(&[u8]) -> Offer) -> (Group, HandshakeKind) {
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let provider = with_groups(&any_base(), self.groups.iter().copied());
        let mut client = client_config(provider, pki.roots());
        client.resumption = SmallHello::new().with_share(self.share).into();
        let (mut client, hello) = first_hello(client);

        let identity = pki.server.checked();
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        let [config, sparing] = [default_over(&any_base()), without_level_5()]
            .map(|provider| server_config(provider, &pki.server));
        let handshake =
            ServerHandshake::begin_sparing(offer(&hello), &identities, &config, &sparing);
        let connection = accept(&hello).into_connection(handshake.config()).unwrap();
        let mut server = Peer::new(connection.into());
        exchange(&mut client, &mut server);
        let Connection::Server(server) = server.connection else {
            panic!("a server's connection");
        };
        let group = server.negotiated_key_exchange_group().unwrap();
        (group.name().into(), server.handshake_kind().unwrap())
    }
}

fn first_hello(config: ClientConfig) -> (Peer, Vec<u8>) {
    let name = "localhost".try_into().unwrap();
    let mut client = Peer::new(ClientConnection::new(config.into(), name).unwrap().into());
    let mut hello = Vec::new();
    client.connection.write_tls(&mut hello).unwrap();
    (client, hello)
}

const LEVEL_5: [Group; 2] = [Group::SECP384R1MLKEM1024, Group::MLKEM1024];

fn default_over(base: &CryptoProvider) -> CryptoProvider {
    Builder::new(base.clone()).build().unwrap()
}

fn without_level_5() -> CryptoProvider {
    with_groups(&any_base(), without_level_5_names())
}

fn without_level_5_names() -> Vec<Group> {
    let mut groups = default_over(&any_base()).kx_groups;
    groups.retain(is_below_level_5);
    groups.iter().map(|group| group.name().into()).collect()
}

fn is_below_level_5(group: &&'static dyn rustls::crypto::SupportedKxGroup) -> bool {
    !LEVEL_5.contains(&group.name().into())
}

/// What either side has sent.
fn bytes(outcome: &Outcome) -> [usize; 2] {
    [&outcome.client, &outcome.server].map(|end| end.sent.len())
}
