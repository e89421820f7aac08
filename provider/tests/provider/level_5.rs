//! SecP384r1MLKEM1024 and MLKEM1024 in the default provider: which peers get them, and that they cost
//! other peers nothing.

use alloc::sync::Arc;

use handshakes::{End, exchange};
use pq_x509::keys::SignatureAlgorithm;
use rustls::crypto::CryptoProvider;
use rustls::{
    ClientConfig, ClientConnection, Connection, HandshakeKind, ProtocolVersion, ServerConfig,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Group, Offer, OfferReader, Profile, ServerHandshake, SmallHello};

use crate::peers::{
    Outcome, Pki, accept, any_base, bases, client_config, connect, server_config, with_groups,
};

/// A CNSA 2.0 client that would also accept ECDH on P-384, with and without a share for one of the two.
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
        // This profile doesn't accept ML-DSA-44, so the signature fails and not the key exchange.
        assert_eq!(
            outcome.server.result,
            Err(rustls::PeerIncompatible::NoSignatureSchemesInCommon.into())
        );
    }
}

/// Servers that accept only these groups, or a classical one as well.
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

/// With a server that has these groups, all other clients get the same group, the same round trips and
/// the same bytes as with a server without them.
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
            // It gets the other group only with an alternative.
            "a client of P-384",
            vec![Group::SECP384R1, Group::SECP384R1MLKEM1024],
            Group::SECP384R1,
        ),
    ] {
        println!("{who}");
        let provider = with_groups(&any_base(), groups);
        // The second connection doesn't resume the first one's session.
        let client = || Arc::new(client_config(provider.clone(), pki.roots()));
        let outcomes = [&with, &without].map(|server| connect(&client(), server));
        for outcome in &outcomes {
            outcome.assert_success(expected, HandshakeKind::Full);
        }
        assert_eq!(bytes(&outcomes[0]), bytes(&outcomes[1]));
    }
}

/// They are for two code points.
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

/// Which clients get a better key exchange with an alternative. A client that lists SecP384r1MLKEM1024
/// first, and has a share for another post-quantum group, saves the round trip. A client that lists it
/// after secp384r1, and no other post-quantum group, gets it.
#[test]
fn who_does_better_with_alternatives() {
    let retried = HandshakeKind::FullWithHelloRetryRequest;
    let full = HandshakeKind::Full;
    let [hybrid, level_5] = [Group::X25519MLKEM768, Group::SECP384R1MLKEM1024];
    let [p384, x25519] = [Group::SECP384R1, Group::X25519];
    for (groups, share, plain, better) in [
        (
            &[level_5, hybrid][..],
            hybrid,
            (level_5, retried),
            (hybrid, full),
        ),
        (&[p384, level_5], p384, (p384, full), (level_5, retried)),
        (
            &[x25519, p384, level_5, Group::MLKEM1024],
            x25519,
            (x25519, full),
            (level_5, retried),
        ),
        // These clients have sent a share for the post-quantum group.
        (&[p384, level_5], level_5, (p384, full), (level_5, full)),
        (
            &[x25519, hybrid, level_5],
            level_5,
            (x25519, retried),
            (level_5, full),
        ),
        // The client's choice is the best already, or there is no share for a post-quantum group.
        (
            &[level_5, hybrid],
            level_5,
            (level_5, full),
            (level_5, full),
        ),
        (
            &[level_5, p384],
            p384,
            (level_5, retried),
            (level_5, retried),
        ),
        (
            &[level_5, hybrid, x25519],
            x25519,
            (level_5, retried),
            (level_5, retried),
        ),
        (&[hybrid, level_5], hybrid, (hybrid, full), (hybrid, full)),
        // They list another post-quantum group, and get the classical one, which they prefer.
        (
            &[x25519, hybrid, level_5],
            x25519,
            (x25519, full),
            (x25519, full),
        ),
    ] {
        let client = Sharing { groups, share };
        println!("{groups:?}, {share}");
        let known: fn(&[u8]) -> Offer = |hello| OfferReader::new().read(hello).unwrap().unwrap();
        let unknown: fn(&[u8]) -> Offer = |hello| Offer::of(&accept(hello).client_hello());
        assert_eq!(client.negotiates(unknown), plain);
        assert_eq!(client.negotiates(known), better);
    }
}

/// TLS 1.2 has no better group: with groups at level 5 alone there would be no group at all.
#[test]
fn clients_of_tls12_have_no_alternative() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let identities = Identities::new(IdentitySet::new().with_default(pki.server.checked()));
    let provider = default_over(&any_base());
    let config = server_config(provider.clone(), &pki.server);
    let alternatives = alternatives(&provider, &pki);
    for (version, len) in [
        (ProtocolVersion::TLSv1_2, provider.kx_groups.len()),
        (ProtocolVersion::TLSv1_3, LEVEL_5.len()),
    ] {
        let mut offer = Offer::default();
        offer.groups = vec![Group::SECP384R1, Group::SECP384R1MLKEM1024];
        offer.key_shares = Some(Vec::new());
        offer.versions = Some(vec![version]);
        let handshake =
            ServerHandshake::begin_with_alternatives(offer, &identities, &config, &alternatives);
        let taken = handshake.config();
        assert_eq!(taken.crypto_provider().kx_groups.len(), len, "{version:?}");
    }
}

/// Providers whose groups are all of one kind have no alternatives.
#[test]
fn providers_without_alternatives() {
    let only_level_5 = with_groups(&any_base(), LEVEL_5);
    for provider in [&only_level_5, &without_level_5()] {
        assert!(ServerHandshake::alternatives(provider).is_empty());
    }
    let alternatives = ServerHandshake::alternatives(&default_over(&any_base()));
    let groups = |provider: &CryptoProvider| -> Vec<Group> {
        let groups = provider.kx_groups.iter();
        groups.map(|group| group.name().into()).collect()
    };
    let groups: Vec<_> = alternatives.iter().map(groups).collect();
    assert_eq!(groups, [without_level_5_names(), LEVEL_5.to_vec()]);
}

/// A client with these groups and a first share for one of them.
struct Sharing<'a> {
    groups: &'a [Group],
    share: Group,
}

impl Sharing<'_> {
    /// What it negotiates with a server that has alternatives and reads its offer with `offer`.
    fn negotiates(&self, offer: fn(&[u8]) -> Offer) -> (Group, HandshakeKind) {
        let pki = Pki::new(SignatureAlgorithm::MlDsa44);
        let provider = with_groups(&any_base(), self.groups.iter().copied());
        let mut client = client_config(provider, pki.roots());
        client.resumption = SmallHello::new().with_share(self.share).into();
        let (mut client, hello) = first_hello(client);

        let identity = pki.server.checked();
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        let provider = default_over(&any_base());
        let handshake = ServerHandshake::begin_with_alternatives(
            offer(&hello),
            &identities,
            &server_config(provider.clone(), &pki.server),
            &alternatives(&provider, &pki),
        );
        let connection = accept(&hello).into_connection(handshake.config()).unwrap();
        let mut server = End::new(connection);
        exchange(&mut client, &mut server);
        let Connection::Server(server) = server.connection else {
            panic!("a server's connection");
        };
        let group = server.negotiated_key_exchange_group().unwrap();
        (group.name().into(), server.handshake_kind().unwrap())
    }
}

fn alternatives(provider: &CryptoProvider, pki: &Pki) -> Vec<Arc<ServerConfig>> {
    let alternatives = ServerHandshake::alternatives(provider).into_iter();
    let configs = alternatives.map(|provider| server_config(provider, &pki.server).into());
    configs.collect()
}

fn first_hello(config: ClientConfig) -> (End, Vec<u8>) {
    let name = "localhost".try_into().unwrap();
    let mut client = End::new(ClientConnection::new(config.into(), name).unwrap());
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

/// How many bytes each side has sent.
fn bytes(outcome: &Outcome) -> [usize; 2] {
    [&outcome.client, &outcome.server].map(|end| end.sent.len())
}
