//! QUIC's keys beside ring's: packets and headers of any contents and length, and packets that
//! were changed.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::tls::PROVIDER;
use libfuzzer_sys::fuzz_target;
use rustls::crypto::ring;
use rustls::quic::{HeaderProtectionKey, Keys, PacketKey, Version};
use rustls::{Error, Side, SupportedCipherSuite, Tls13CipherSuite};

fuzz_target!(|input: Input<'_>| {
    let suites: Vec<_> = PROVIDER
        .cipher_suites
        .iter()
        .filter_map(SupportedCipherSuite::tls13)
        .collect();
    let ours = suites[usize::from(input.suite) % suites.len()];
    let rings = ring::ALL_CIPHER_SUITES
        .iter()
        .filter_map(SupportedCipherSuite::tls13)
        .find(|rings| rings.common.suite == ours.common.suite)
        .expect("ring has all three");
    let connection_id = &input.connection_id[..input.connection_id.len().min(20)];
    let sender = initial(ours, connection_id, Side::Client).local;
    let receiver = initial(ours, connection_id, Side::Server).remote;
    let rings = initial(rings, connection_id, Side::Client).local;
    check_packet(&*sender.packet, &*receiver.packet, &*rings.packet, &input);
    check_header(&*sender.header, &*rings.header, &input);
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    suite: u8,
    connection_id: &'a [u8],
    path: Option<u32>,
    number: u64,
    header: &'a [u8],
    payload: &'a [u8],
    /// The change to the packet on its way.
    packet: Bytes<'a>,
    sample: &'a [u8],
    first: u8,
    packet_number: &'a [u8],
}

fn initial(suite: &'static Tls13CipherSuite, connection_id: &[u8], side: Side) -> Keys {
    let quic = suite.quic.expect("the feature `quic`");
    Keys::initial(Version::V1, suite, quic, connection_id, side)
}

fn check_packet(
    sender: &dyn PacketKey,
    receiver: &dyn PacketKey,
    rings: &dyn PacketKey,
    input: &Input<'_>,
) {
    let sealed = seal(sender, input.payload, input);
    assert_eq!(sealed, seal(rings, input.payload, input));
    let arrived = input.packet.of(&sealed);
    let opened = open(receiver, arrived.clone(), input);
    assert_eq!(opened, open(rings, arrived.clone(), input));
    match opened {
        // The payload may be another one: the fuzzer remembers packets that were sealed before.
        Ok(payload) => assert_eq!(seal(rings, &payload, input), arrived),
        Err(error) => {
            assert_eq!(error, Error::DecryptError);
            assert_ne!(arrived, sealed);
        }
    }
}

fn seal(key: &dyn PacketKey, payload: &[u8], input: &Input<'_>) -> Vec<u8> {
    let mut packet = payload.to_vec();
    let tag = match input.path {
        Some(path) => key.encrypt_in_place_for_path(path, input.number, input.header, &mut packet),
        None => key.encrypt_in_place(input.number, input.header, &mut packet),
    };
    packet.extend(tag.expect("a packet of no extraordinary length").as_ref());
    packet
}

fn open(key: &dyn PacketKey, mut packet: Vec<u8>, input: &Input<'_>) -> Result<Vec<u8>, Error> {
    match input.path {
        Some(path) => key.decrypt_in_place_for_path(path, input.number, input.header, &mut packet),
        None => key.decrypt_in_place(input.number, input.header, &mut packet),
    }
    .map(<[u8]>::to_vec)
}

fn check_header(
    ours: &dyn HeaderProtectionKey,
    rings: &dyn HeaderProtectionKey,
    input: &Input<'_>,
) {
    for protect in [
        HeaderProtectionKey::encrypt_in_place,
        HeaderProtectionKey::decrypt_in_place,
    ] {
        let [ours, rings] = [ours, rings].map(|key| {
            let (mut first, mut number) = (input.first, input.packet_number.to_vec());
            let result = protect(key, input.sample, &mut first, &mut number);
            (result.is_ok(), first, number)
        });
        assert_eq!(ours, rings);
    }
}
