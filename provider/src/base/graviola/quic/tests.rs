//! The samples of RFC 9001, appendix A, and a comparison of every suite with ring's.

use proptest::prelude::*;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::quic::{Algorithm, DirectionalKeys, HeaderProtectionKey, Keys, PacketKey, Version};
use rustls::{Error, Side, SupportedCipherSuite, Tls13CipherSuite};

use super::Aead;
use crate::base::graviola::cleared::left_in_use;
use crate::base::graviola::suites::{AES_128_GCM, AES_256_GCM, CHACHA20_POLY1305, in_place};

/// A.2
#[test]
fn client_initial() {
    let mut payload = hex(CLIENT_CRYPTO_FRAME);
    payload.resize(1162, 0); // PADDING frames
    check_initial(
        Side::Client,
        &Sample {
            header: "c300000001088394c8f03e5157080000449e00000002",
            packet_number: 2,
            payload,
            packet: CLIENT_PACKET,
        },
    );
}

/// A.3
#[test]
fn server_initial() {
    check_initial(
        Side::Server,
        &Sample {
            header: "c1000000010008f067a5502a4262b50040750001",
            packet_number: 1,
            payload: hex(SERVER_PAYLOAD),
            packet: SERVER_PACKET,
        },
    );
}

/// A.5
#[test]
fn chacha20_poly1305_short_header() {
    let key = |text| AeadKey::from(<[u8; 32]>::try_from(hex(text)).unwrap());
    let iv = <[u8; 12]>::try_from(hex("e0459b3474bdd0e44a41c144")).unwrap();
    let aead = Aead::ChaCha20Poly1305;
    let keys = DirectionalKeys {
        packet: aead.packet_key(
            key("c6d98ff3441c3fe1b2182094f69caa2ed4b716b65488960a7a984979fb23e1c8"),
            Iv::from(iv),
        ),
        header: aead.header_protection_key(key(
            "25a282b9e82f06f21f488917a4fc8f1b73573685608597d0efcb076b0ab7a7a4",
        )),
    };
    Sample {
        header: "4200bff4",
        packet_number: 654_360_564,
        payload: hex("01"),
        packet: "4cfe4189655e5cd55c41f69080575d7999c25a5bfb",
    }
    .check(&keys, &keys);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_are_those_of_ring(
        connection_id in bytes(0..=20),
        path in any::<Option<u32>>(),
        packet_number in 0..1_u64 << 62,
        header in bytes(0..=64),
        payload in bytes(0..=1500),
        damage: prop::sample::Index,
    ) {
        for (ours, rings) in suites() {
            let packet = Packet { path, number: packet_number, header: &header };
            let client = initial(ours, &connection_id, Side::Client).local.packet;
            let server = initial(ours, &connection_id, Side::Server).remote.packet;
            let rings = initial(rings, &connection_id, Side::Client).local.packet;

            let mut sealed = packet.seal(&*client, &payload);
            prop_assert_eq!(&sealed, &packet.seal(&*rings, &payload));
            prop_assert_eq!(packet.open(&*server, &sealed), Ok(payload.clone()));

            let bit = damage.index(8 * sealed.len());
            sealed[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(packet.open(&*server, &sealed), Err(Error::DecryptError));
        }
    }

    #[test]
    fn headers_are_those_of_ring(
        connection_id in bytes(0..=20),
        sample: [u8; SAMPLE_LEN],
        first: u8,
        packet_number in bytes(0..=4),
    ) {
        check_headers(&connection_id, &sample, first, &packet_number);
    }
}

/// A sample of ChaCha20 is a counter and a nonce. Every counter is valid, also those at which a stream
/// would end.
#[test]
fn headers_at_the_last_counters() {
    for counter in [u32::MAX, u32::MAX - 1, 1 << 31, 0] {
        let mut sample = [0x5a; SAMPLE_LEN];
        sample[..4].copy_from_slice(&counter.to_le_bytes());
        check_headers(b"id", &sample, 0x43, &[1, 2, 3, 4]);
    }
}

#[test]
fn what_is_too_short_is_no_packet() {
    for (suite, _) in suites() {
        let key = initial(suite, b"id", Side::Client).remote.packet;
        for len in 0..key.tag_len() {
            let packet = Packet {
                path: None,
                number: 0,
                header: &[],
            };
            assert_eq!(packet.open(&*key, &vec![0; len]), Err(Error::DecryptError));
        }
    }
}

#[test]
fn headers_stay_as_they_are_on_errors() {
    for (suite, _) in suites() {
        let key = initial(suite, b"id", Side::Client).local.header;
        assert_eq!(key.sample_len(), SAMPLE_LEN);
        for (sample_len, packet_number_len) in [
            (SAMPLE_LEN - 1, 4),
            (SAMPLE_LEN + 1, 4),
            (0, 4),
            (SAMPLE_LEN, 5),
        ] {
            for protect in [
                HeaderProtectionKey::encrypt_in_place,
                HeaderProtectionKey::decrypt_in_place,
            ] {
                let mut first = 0x43;
                let mut packet_number = vec![7; packet_number_len];
                protect(&*key, &vec![1; sample_len], &mut first, &mut packet_number).unwrap_err();
                assert_eq!(first, 0x43);
                assert_eq!(packet_number, vec![7; packet_number_len]);
            }
        }
    }
}

/// RFC 9001, section 6.6.
#[test]
fn limits_are_those_of_ring() {
    for (ours, rings) in suites() {
        let limits = [ours, rings].map(|suite| {
            let key = initial(suite, b"id", Side::Client).local.packet;
            (key.confidentiality_limit(), key.integrity_limit())
        });
        assert_eq!(limits[0], limits[1], "{:?}", ours.common.suite);
    }
}

#[test]
fn upper_halves_are_clear_after_keys() {
    for (suite, _) in suites() {
        let key = initial(suite, b"id", Side::Client).local.packet;
        assert_ne!(
            left_in_use(|| drop(key)),
            Some(true),
            "{:?}",
            suite.common.suite
        );
    }
}

#[test]
fn nothing_else_is_changed() {
    let theirs = rustls_graviola::default_provider().cipher_suites;
    let ours = in_place(rustls_graviola::default_provider()).cipher_suites;
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours.suite(), theirs.suite());
        let (SupportedCipherSuite::Tls13(ours), SupportedCipherSuite::Tls13(theirs)) =
            (ours, theirs)
        else {
            continue;
        };
        assert!(ours.quic.is_some());
        assert_eq!(ours.aead_alg.key_len(), theirs.aead_alg.key_len());
        assert_eq!(
            ours.common.confidentiality_limit,
            theirs.common.confidentiality_limit
        );
    }
}

/// One of the packets of appendix A.
struct Sample {
    /// Without protection; the packet number is last.
    header: &'static str,
    packet_number: u64,
    payload: Vec<u8>,
    /// With all protection.
    packet: &'static str,
}

impl Sample {
    fn check(&self, sender: &DirectionalKeys, receiver: &DirectionalKeys) {
        let mut packet = self.sealed(&*sender.packet);
        self.protect_header(&mut packet, |sample, first, packet_number| {
            sender.header.encrypt_in_place(sample, first, packet_number)
        });
        assert_eq!(packet, hex(self.packet));

        self.protect_header(&mut packet, |sample, first, packet_number| {
            receiver
                .header
                .decrypt_in_place(sample, first, packet_number)
        });
        let (header, payload) = packet.split_at_mut(self.header().len());
        assert_eq!(header, self.header());
        let payload = receiver
            .packet
            .decrypt_in_place(self.packet_number, header, payload);
        assert_eq!(payload.unwrap(), self.payload);
    }

    /// The packet before its header is protected.
    fn sealed(&self, key: &dyn PacketKey) -> Vec<u8> {
        let header = self.header();
        let mut payload = self.payload.clone();
        let tag = key
            .encrypt_in_place(self.packet_number, &header, &mut payload)
            .unwrap();
        [&header, &*payload, tag.as_ref()].concat()
    }

    fn header(&self) -> Vec<u8> {
        hex(self.header)
    }

    /// Applies `protect` to the parts of the packet that section 5.4.2 names.
    fn protect_header(
        &self,
        packet: &mut [u8],
        protect: impl FnOnce(&[u8], &mut u8, &mut [u8]) -> Result<(), Error>,
    ) {
        let header = self.header();
        let packet_number_at = header.len() - usize::from(header[0] & 3) - 1;
        let (before, rest) = packet.split_at_mut(packet_number_at);
        let (packet_number, rest) = rest.split_at_mut(4);
        protect(&rest[..SAMPLE_LEN], &mut before[0], packet_number).unwrap();
    }
}

fn check_initial(sender: Side, sample: &Sample) {
    let connection_id = hex("8394c8f03e515708");
    let receiver = match sender {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    };
    sample.check(
        &initial(&AES_128_GCM, &connection_id, sender).local,
        &initial(&AES_128_GCM, &connection_id, receiver).remote,
    );
}

fn check_headers(connection_id: &[u8], sample: &[u8], first: u8, packet_number: &[u8]) {
    for (ours, rings) in suites() {
        let keys = [ours, rings].map(|suite| initial(suite, connection_id, Side::Client));
        for protect in [
            HeaderProtectionKey::encrypt_in_place,
            HeaderProtectionKey::decrypt_in_place,
        ] {
            let [by_us, by_ring] = keys.each_ref().map(|keys| {
                let mut header = (first, packet_number.to_vec());
                protect(&*keys.local.header, sample, &mut header.0, &mut header.1).unwrap();
                header
            });
            assert_eq!(by_us, by_ring, "{:?}", ours.common.suite);
        }
    }
}

/// The inputs to the protection of a payload, other than the payload.
struct Packet<'a> {
    path: Option<u32>,
    number: u64,
    header: &'a [u8],
}

impl Packet<'_> {
    fn seal(&self, key: &dyn PacketKey, payload: &[u8]) -> Vec<u8> {
        let mut packet = payload.to_vec();
        let tag = match self.path {
            None => key.encrypt_in_place(self.number, self.header, &mut packet),
            Some(path) => {
                key.encrypt_in_place_for_path(path, self.number, self.header, &mut packet)
            }
        };
        packet.extend(tag.unwrap().as_ref());
        packet
    }

    fn open(&self, key: &dyn PacketKey, packet: &[u8]) -> Result<Vec<u8>, Error> {
        let mut packet = packet.to_vec();
        match self.path {
            None => key.decrypt_in_place(self.number, self.header, &mut packet),
            Some(path) => {
                key.decrypt_in_place_for_path(path, self.number, self.header, &mut packet)
            }
        }
        .map(<[u8]>::to_vec)
    }
}

/// Keys for Initial packets: rustls derives them for every suite, although RFC 9001 prescribes one.
fn initial(suite: &'static Tls13CipherSuite, connection_id: &[u8], side: Side) -> Keys {
    let quic = suite.quic.expect("all of them have QUIC keys");
    Keys::initial(Version::V1, suite, quic, connection_id, side)
}

/// Our suites, each with ring's.
fn suites() -> impl Iterator<Item = (&'static Tls13CipherSuite, &'static Tls13CipherSuite)> {
    [&AES_128_GCM, &AES_256_GCM, &CHACHA20_POLY1305]
        .into_iter()
        .map(|ours| {
            let rings = rustls::crypto::ring::ALL_CIPHER_SUITES
                .iter()
                .filter_map(SupportedCipherSuite::tls13)
                .find(|rings| rings.common.suite == ours.common.suite)
                .expect("ring has all three");
            (ours, rings)
        })
}

fn bytes(len: core::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), len)
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

const SAMPLE_LEN: usize = 16;

const CLIENT_CRYPTO_FRAME: &str = "
060040f1010000ed0303ebf8fa56f129 39b9584a3896472ec40bb863cfd3e868
04fe3a47f06a2b69484c000004130113 02010000c000000010000e00000b6578
616d706c652e636f6dff01000100000a 00080006001d00170018001000070005
04616c706e0005000501000000000033 00260024001d00209370b2c9caa47fba
baf4559fedba753de171fa71f50f1ce1 5d43e994ec74d748002b000302030400
0d0010000e0403050306030203080408 050806002d00020101001c0002400100
3900320408ffffffffffffffff050480 00ffff07048000ffff08011001048000
75300901100f088394c8f03e51570806 048000ffff";

const CLIENT_PACKET: &str = "
c000000001088394c8f03e5157080000 449e7b9aec34d1b1c98dd7689fb8ec11
d242b123dc9bd8bab936b47d92ec356c 0bab7df5976d27cd449f63300099f399
1c260ec4c60d17b31f8429157bb35a12 82a643a8d2262cad67500cadb8e7378c
8eb7539ec4d4905fed1bee1fc8aafba1 7c750e2c7ace01e6005f80fcb7df6212
30c83711b39343fa028cea7f7fb5ff89 eac2308249a02252155e2347b63d58c5
457afd84d05dfffdb20392844ae81215 4682e9cf012f9021a6f0be17ddd0c208
4dce25ff9b06cde535d0f920a2db1bf3 62c23e596d11a4f5a6cf3948838a3aec
4e15daf8500a6ef69ec4e3feb6b1d98e 610ac8b7ec3faf6ad760b7bad1db4ba3
485e8a94dc250ae3fdb41ed15fb6a8e5 eba0fc3dd60bc8e30c5c4287e53805db
059ae0648db2f64264ed5e39be2e20d8 2df566da8dd5998ccabdae053060ae6c
7b4378e846d29f37ed7b4ea9ec5d82e7 961b7f25a9323851f681d582363aa5f8
9937f5a67258bf63ad6f1a0b1d96dbd4 faddfcefc5266ba6611722395c906556
be52afe3f565636ad1b17d508b73d874 3eeb524be22b3dcbc2c7468d54119c74
68449a13d8e3b95811a198f3491de3e7 fe942b330407abf82a4ed7c1b311663a
c69890f4157015853d91e923037c227a 33cdd5ec281ca3f79c44546b9d90ca00
f064c99e3dd97911d39fe9c5d0b23a22 9a234cb36186c4819e8b9c5927726632
291d6a418211cc2962e20fe47feb3edf 330f2c603a9d48c0fcb5699dbfe58964
25c5bac4aee82e57a85aaf4e2513e4f0 5796b07ba2ee47d80506f8d2c25e50fd
14de71e6c418559302f939b0e1abd576 f279c4b2e0feb85c1f28ff18f58891ff
ef132eef2fa09346aee33c28eb130ff2 8f5b766953334113211996d20011a198
e3fc433f9f2541010ae17c1bf202580f 6047472fb36857fe843b19f5984009dd
c324044e847a4f4a0ab34f719595de37 252d6235365e9b84392b061085349d73
203a4a13e96f5432ec0fd4a1ee65accd d5e3904df54c1da510b0ff20dcc0c77f
cb2c0e0eb605cb0504db87632cf3d8b4 dae6e705769d1de354270123cb11450e
fc60ac47683d7b8d0f811365565fd98c 4c8eb936bcab8d069fc33bd801b03ade
a2e1fbc5aa463d08ca19896d2bf59a07 1b851e6c239052172f296bfb5e724047
90a2181014f3b94a4e97d117b4381303 68cc39dbb2d198065ae3986547926cd2
162f40a29f0c3c8745c0f50fba3852e5 66d44575c29d39a03f0cda721984b6f4
40591f355e12d439ff150aab7613499d bd49adabc8676eef023b15b65bfc5ca0
6948109f23f350db82123535eb8a7433 bdabcb909271a6ecbcb58b936a88cd4e
8f2e6ff5800175f113253d8fa9ca8885 c2f552e657dc603f252e1a8e308f76f0
be79e2fb8f5d5fbbe2e30ecadd220723 c8c0aea8078cdfcb3868263ff8f09400
54da48781893a7e49ad5aff4af300cd8 04a6b6279ab3ff3afb64491c85194aab
760d58a606654f9f4400e8b38591356f bf6425aca26dc85244259ff2b19c41b9
f96f3ca9ec1dde434da7d2d392b905dd f3d1f9af93d1af5950bd493f5aa731b4
056df31bd267b6b90a079831aaf579be 0a39013137aac6d404f518cfd4684064
7e78bfe706ca4cf5e9c5453e9f7cfd2b 8b4c8d169a44e55c88d4a9a7f9474241
e221af44860018ab0856972e194cd934";

const SERVER_PAYLOAD: &str = "
02000000000600405a020000560303ee fce7f7b37ba1d1632e96677825ddf739
88cfc79825df566dc5430b9a045a1200 130100002e00330024001d00209d3c94
0d89690b84d08a60993c144eca684d10 81287c834d5311bcf32bb9da1a002b00
020304";

const SERVER_PACKET: &str = "
cf000000010008f067a5502a4262b500 4075c0d95a482cd0991cd25b0aac406a
5816b6394100f37a1c69797554780bb3 8cc5a99f5ede4cf73c3ec2493a1839b3
dbcba3f6ea46c5b7684df3548e7ddeb9 c3bf9c73cc3f3bded74b562bfb19fb84
022f8ef4cdd93795d77d06edbb7aaf2f 58891850abbdca3d20398c276456cbc4
2158407dd074ee";
