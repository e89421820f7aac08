//! What a ClientHello offers, read from its bytes.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use pq_x509::keys::SignatureAlgorithm;
use proptest::collection::vec;
use proptest::prelude::*;
use rustls::{
    ClientConfig, ClientConnection, InvalidMessage, ProtocolVersion, RootCertStore,
    SignatureScheme, SupportedProtocolVersion, version,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Group, Offer, OfferReader, Profile, TrustAnchorId};

use crate::chromium;
use crate::peers::{Pki, accept, any_base};

/// The reader gets the same as rustls, and what rustls doesn't expose.
#[test]
fn agrees_with_rustls() {
    for profile in [
        Profile::Default,
        Profile::RequirePq,
        Profile::Cnsa2,
        Profile::All,
    ] {
        let hello = hello(profile, rustls::DEFAULT_VERSIONS);
        let offer = read(&hello).unwrap().unwrap();
        let mut expected = read_by_rustls(&hello);
        assert_eq!(expected.server_name.as_deref(), Some("localhost"));
        assert!(!expected.groups.is_empty() && !expected.signature_schemes.is_empty());
        // rustls doesn't expose the shares either.
        expected.key_shares = Some(match profile {
            Profile::Default | Profile::All => vec![Group::X25519MLKEM768, Group::X25519],
            Profile::Cnsa2 => vec![Group::SECP384R1MLKEM1024],
            _ => vec![Group::X25519MLKEM768],
        });
        expected.versions = Some(match profile {
            Profile::Default | Profile::All => {
                vec![ProtocolVersion::TLSv1_3, ProtocolVersion::TLSv1_2]
            }
            _ => vec![ProtocolVersion::TLSv1_3],
        });
        assert_eq!(offer, expected);
    }
}

/// A dot at the end of a name is ignored, and an IP address is not a name.
#[test]
fn server_names() {
    let hello = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
    let name = b"localhost";
    let at = hello.windows(name.len()).position(|bytes| bytes == name);
    let at = at.unwrap();
    for (sent, expected) in [
        (b"LocalHost", Some("localhost")),
        (b"dot.test.", Some("dot.test")),
        (b"127.0.0.1", None),
    ] {
        let mut hello = hello.clone();
        hello[at..at + name.len()].copy_from_slice(sent);
        let offer = read(&hello).unwrap().unwrap();
        assert_eq!(offer.server_name.as_deref(), expected);
        let by_rustls = read_by_rustls(&hello).server_name;
        assert_eq!(by_rustls.map(|name| name.to_lowercase()), offer.server_name);
    }
}

#[test]
fn incomplete_until_the_last_byte() {
    let hello = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
    for len in 0..hello.len() {
        assert_eq!(read(&hello[..len]), Ok(None), "{len}");
    }
}

/// In records of one byte, and in pieces of any size. The ClientHello is as large as possible: a reader
/// that starts over at each piece would take minutes for it.
#[test]
fn in_pieces() {
    let small = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
    let padding = 21;
    let large = with_extension(&small, padding, &[0; 62_000]);
    let mut fragmented = Vec::new();
    for byte in &large[5..] {
        fragmented.extend([22, 3, 1, 0, 1, *byte]);
    }
    let expected = read(&small).unwrap();
    assert!(expected.is_some());
    // Something comes after it.
    let bytes = [&fragmented[..], &[23, 3, 3]].concat();
    assert_eq!(read(&bytes), Ok(expected.clone()));

    for size in [1, 2, 5, 7, 1000] {
        assert_eq!(read_in_pieces(&fragmented, size), Ok(expected.clone()));
        // In one record.
        let browser = chromium::hello();
        assert_eq!(read_in_pieces(&browser, size), read(&browser));
    }
}

#[test]
fn certificate_schemes() {
    let hello = with_extension(
        &hello(Profile::Default, rustls::DEFAULT_VERSIONS),
        50,
        &[0, 4, 0x09, 0x06, 0x04, 0x03],
    );
    let offer = read(&hello).unwrap().unwrap();
    assert_eq!(
        offer.certificate_schemes,
        Some(vec![
            SignatureScheme::ML_DSA_87,
            SignatureScheme::ECDSA_NISTP256_SHA256
        ])
    );

    // This extension decides about chains, so a pure ML-DSA-65 chain is not chosen.
    let [of_65, of_87] = [SignatureAlgorithm::MlDsa65, SignatureAlgorithm::MlDsa87]
        .map(|algorithm| Arc::new(Pki::new(algorithm).server.checked()));
    let mut offer = offer;
    for (schemes, expected) in [
        (SignatureScheme::ML_DSA_87, &of_87),
        (SignatureScheme::ML_DSA_65, &of_65),
    ] {
        offer.certificate_schemes = Some(vec![schemes]);
        let set = IdentitySet::new()
            .with_default(of_87.clone())
            .with_default(of_65.clone());
        let choice = Identities::new(set).choose_offered(&offer).unwrap();
        assert!(Arc::ptr_eq(&choice.identity, expected));
    }
}

/// rustls accepts the ClientHello, since it doesn't read this extension.
#[test]
fn unreadable_certificate_schemes() {
    let signature_algorithms_cert = 50;
    let plain = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
    for data in [&[][..], &[0], &[0, 2, 4], &[0, 1, 4]] {
        let hello = with_extension(&plain, signature_algorithms_cert, data);
        assert_eq!(read(&hello), read(&plain));
        accept(&hello);
    }
}

/// The contents of the draft's extension, and what rustls exposes.
#[test]
fn offer_of_a_browser() {
    let hello = chromium::hello();
    let offer = read(&hello).unwrap().unwrap();
    assert_eq!(offer.server_name.as_deref(), Some("localhost.example"));
    assert_eq!(offer.protocols, [&b"h2"[..], b"http/1.1"]);
    assert!(offer.groups.contains(&Group::X25519MLKEM768));
    // GREASE, and a share of each of the first two
    let shares = offer.key_shares.as_deref().unwrap();
    assert_eq!(shares, &offer.groups[..3]);
    assert!(
        offer
            .signature_schemes
            .contains(&SignatureScheme::ML_DSA_65)
    );
    assert!(offer.certificate_authorities.is_empty());
    let expected = [1, 6, 13, 14, 15, 18, 19, 20].map(|root| format!("44947.2.{root}"));
    let expected = expected
        .into_iter()
        .chain([7, 8, 9, 10, 11, 12, 13, 18, 19].map(|root| format!("52580.200109.1.{root}")))
        .chain([1, 4, 5, 6, 7, 8, 10, 11, 12, 13, 15].map(|root| format!("11129.9.{root}")));
    let expected: BTreeSet<TrustAnchorId> = expected.map(|id| id.parse().unwrap()).collect();
    assert_eq!(offer.trust_anchors, expected);

    // rustls reads the rest in the same way.
    let mut by_rustls = Offer::of(&accept(&hello).client_hello());
    assert!(by_rustls.key_shares.is_none());
    by_rustls.key_shares = offer.key_shares.clone();
    assert!(by_rustls.trust_anchors.is_empty());
    by_rustls.trust_anchors = offer.trust_anchors.clone();
    by_rustls.versions = offer.versions.clone();
    assert_eq!(by_rustls, offer);
}

/// Only a part of a client's very long lists counts.
#[test]
fn long_lists() {
    let mut ids = Vec::new();
    let mut names = Vec::new();
    for number in 0..1_100_u16 {
        let [high, low] = number.to_be_bytes();
        ids.extend([4, 1, high, low >> 1, low & 1]);
        names.extend([0, 4, 0x30, 2, high, low]);
    }
    let list = |list: &[u8]| [&u16::try_from(list.len()).unwrap().to_be_bytes(), list].concat();
    let hello = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
    let hello = with_extension(&hello, 47, &list(&names));
    let offer = read(&with_extension(&hello, 0xca34, &list(&ids)));
    let offer = offer.unwrap().unwrap();
    assert_eq!(offer.certificate_authorities.len(), 1024);
    let by_rustls = read_by_rustls(&hello).certificate_authorities;
    assert_eq!(by_rustls, offer.certificate_authorities);
    assert_eq!(offer.trust_anchors.len(), 1024);
}

/// Invalid IDs are ignored, and the others count. A malformed list is no reason to refuse a client that
/// rustls accepts.
#[test]
fn unreadable_trust_anchors() {
    let one = &trust_anchors(&["32473.1"]);
    for (data, expected) in [
        (&[0, 5, 4, 0x81, 0xfd, 0x59, 1][..], one),
        (&[0, 8, 4, 0x81, 0xfd, 0x59, 1, 0, 1, 0x80], one),
        (&[0, 8, 2, 0x80, 1, 4, 0x81, 0xfd, 0x59, 1], one),
        (&[0, 0], &BTreeSet::new()),
        (&[], &BTreeSet::new()),
        (&[0], &BTreeSet::new()),
        (&[0, 9, 4, 0x81], &BTreeSet::new()),
        (&[0, 2, 4, 0x81], &BTreeSet::new()),
    ] {
        let hello = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
        let hello = with_extension(&hello, 0xca34, data);
        let offer = read(&hello).unwrap().unwrap();
        assert_eq!(&offer.trust_anchors, expected, "{data:?}");
        accept(&hello);
    }
}

/// A TLS 1.2 client of rustls lists ML-DSA and TLS 1.3 suites, and a TLS 1.3 client may list no
/// post-quantum group, so only the versions tell.
#[test]
fn versions_decide() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let set = IdentitySet::new().with_default(pki.server.checked());
    let identities = Identities::new(set);
    for (version, scheme) in [
        (&version::TLS13, Some(SignatureScheme::ML_DSA_65)),
        (&version::TLS12, None),
    ] {
        let offer = read(&hello(Profile::Default, &[version])).unwrap().unwrap();
        assert_eq!(offer.versions.as_deref(), Some(&[version.version][..]));
        assert!(
            offer
                .signature_schemes
                .contains(&SignatureScheme::ML_DSA_65)
        );
        assert_eq!(identities.choose_offered(&offer).unwrap().scheme, scheme);
    }
}

#[test]
fn what_is_no_client_hello() {
    let hello = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
    let with = |at: usize, byte: u8| {
        let mut bytes = hello.clone();
        bytes[at] = byte;
        read(&bytes)
    };
    assert_eq!(
        read(b"GET / HTTP/1.1\r\n"),
        Err(InvalidMessage::InvalidContentType.into())
    );
    assert_eq!(with(3, 0xff), Err(InvalidMessage::MessageTooLarge.into()));
    // At the limits, and one byte beyond them.
    let record = |len: u16| read(&[&[22, 3, 1][..], &len.to_be_bytes()].concat());
    assert_eq!(record(1 << 14), Ok(None));
    let error = InvalidMessage::MessageTooLarge;
    assert_eq!(record((1 << 14) + 1), Err(error.into()));
    assert_eq!(read(&[22, 3, 1, 0, 4, 1, 0, 0xff, 0xff]), Ok(None));
    let error = InvalidMessage::HandshakePayloadTooLarge;
    assert_eq!(read(&[22, 3, 1, 0, 4, 1, 1, 0, 0]), Err(error.into()));
    assert_eq!(
        with(5, 2),
        Err(InvalidMessage::UnexpectedMessage("not a ClientHello").into())
    );
    assert_eq!(
        with(6, 1),
        Err(InvalidMessage::HandshakePayloadTooLarge.into())
    );
    // The stated length of the session identifier exceeds the message.
    let mut short = vec![22, 3, 1, 0, 39, 1, 0, 0, 35, 3, 3];
    short.extend([0; 32]);
    short.push(0xff);
    assert_eq!(
        read(&short),
        Err(InvalidMessage::MissingData("ClientHello").into())
    );
    assert_eq!(
        read(&[22, 3, 1, 0, 0]),
        Err(InvalidMessage::InvalidEmptyPayload.into())
    );
}

proptest! {
    #[test]
    fn never_panics(bytes in vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        // As the body of a ClientHello.
        let len = u16::try_from(bytes.len()).unwrap().to_be_bytes();
        let record = u16::try_from(bytes.len() + 4).unwrap().to_be_bytes();
        let mut hello = vec![22, 3, 1, record[0], record[1], 1, 0, len[0], len[1]];
        hello.extend(&bytes);
        prop_assert_ne!(read(&hello), Ok(None));
    }

    #[test]
    fn survives_changes(at in 0_usize..1000, byte in any::<u8>()) {
        let mut hello = hello(Profile::Default, rustls::DEFAULT_VERSIONS);
        let at = at % hello.len();
        hello[at] = byte;
        let mut reader = OfferReader::new();
        let mut pieces = hello.chunks(7).map(|piece| reader.read(piece));
        let in_pieces = pieces.find(|read| *read != Ok(None)).unwrap_or(Ok(None));
        prop_assert_eq!(in_pieces, read(&hello));
    }
}

pub(crate) fn trust_anchors(ids: &[&str]) -> BTreeSet<TrustAnchorId> {
    ids.iter().map(|id| id.parse().unwrap()).collect()
}

fn read(received: &[u8]) -> Result<Option<Offer>, rustls::Error> {
    OfferReader::new().read(received)
}

/// Reads `hello` in pieces of `size` bytes; the last piece completes it.
fn read_in_pieces(hello: &[u8], size: usize) -> Result<Option<Offer>, rustls::Error> {
    let mut reader = OfferReader::new();
    let mut pieces = hello.chunks(size);
    let last = pieces.next_back().unwrap();
    for piece in pieces {
        assert_eq!(reader.read(piece), Ok(None));
    }
    reader.read(last)
}

fn read_by_rustls(hello: &[u8]) -> Offer {
    Offer::of(&accept(hello).client_hello())
}

pub(crate) fn hello(profile: Profile, versions: &[&'static SupportedProtocolVersion]) -> Vec<u8> {
    let provider = Builder::new(any_base()).profile(profile).build().unwrap();
    let config = ClientConfig::builder_with_provider(provider.into())
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let mut client = ClientConnection::new(config.into(), name).unwrap();
    let mut hello = Vec::new();
    client.write_tls(&mut hello).unwrap();
    hello
}

/// Adds an extension to a ClientHello in one record, and corrects all lengths. The message may become too
/// long for one record.
pub(crate) fn with_extension(hello: &[u8], extension: u16, data: &[u8]) -> Vec<u8> {
    let mut more = extension.to_be_bytes().to_vec();
    more.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    more.extend(data);
    let mut hello = [hello, &more].concat();
    // Record, message, and the list of extensions after session, suites and compression.
    let session = 9 + 34;
    let suites = session + 1 + usize::from(hello[session]);
    let suites_len = u16::from_be_bytes([hello[suites], hello[suites + 1]]);
    let compression = suites + 2 + usize::from(suites_len);
    let extensions = compression + 1 + usize::from(hello[compression]);
    for at in [3, 7, extensions] {
        let len = u16::from_be_bytes([hello[at], hello[at + 1]]);
        let len = len + u16::try_from(more.len()).unwrap();
        hello[at..at + 2].copy_from_slice(&len.to_be_bytes());
    }
    hello
}
