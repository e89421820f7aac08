//! The messages that begin a TLS 1.3 handshake (RFC 9846, section 4.1), as bytes: a ClientHello and a ServerHello as
//! the fuzzer wants them, and what a server's answer chooses.

use arbitrary::Arbitrary;
use rustls_pq::Group;

use crate::Bytes;
use crate::tls::{GROUPS, HANDSHAKE, PROVIDER, records};

/// One of our groups, or another one.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum AnyGroup {
    Ours(u8),
    Other(u16),
}

impl AnyGroup {
    pub fn group(self) -> Group {
        match self {
            Self::Ours(index) => GROUPS[usize::from(index) % GROUPS.len()],
            Self::Other(code_point) => Group::from(rustls::NamedGroup::from(code_point)),
        }
    }

    /// A share of this group, changed as `bytes` says.
    fn share(self, bytes: &Bytes<'_>) -> Vec<u8> {
        let group = self.group().code_point();
        let mut groups = PROVIDER.kx_groups.iter();
        match groups.find(|it| u16::from(it.name()) == group) {
            Some(group) => bytes.of(group.start().expect("randomness").pub_key()),
            None => bytes.of(&[4; 32]),
        }
    }
}

/// A ClientHello (RFC 9846, section 4.1.2) with everything that a server of ours needs, unless
/// the fuzzer says otherwise.
#[derive(Arbitrary, Debug)]
pub struct ClientHello<'a> {
    session_id: &'a [u8],
    /// Empty means suites that servers accept.
    suites: Vec<u16>,
    groups: Vec<AnyGroup>,
    schemes: Vec<u16>,
    versions: Vec<u16>,
    pub shares: Vec<(AnyGroup, Bytes<'a>)>,
    server_name: Option<&'a [u8]>,
    other_extensions: Vec<OtherExtension<'a>>,
    /// The extension with this index is left out.
    without: Option<u8>,
}

/// An extension that a server does not need.
#[derive(Arbitrary, Debug)]
enum OtherExtension<'a> {
    CertificateSchemes(Vec<u16>),
    Protocols(Vec<&'a [u8]>),
    Authorities(Vec<&'a [u8]>),
    TrustAnchors(Vec<&'a [u8]>),
    Any(u16, &'a [u8]),
}

impl OtherExtension<'_> {
    fn encode(&self) -> Extension {
        let list = |of: &[&[u8]], vector: fn(&[u8]) -> Vec<u8>| {
            let items = of.iter().flat_map(|item| vector(item));
            vector16(&items.collect::<Vec<_>>())
        };
        match self {
            Self::CertificateSchemes(schemes) => (
                SIGNATURE_ALGORITHMS_CERT,
                vector16(&code_points(schemes, &[0x0904])),
            ),
            Self::Protocols(names) => (PROTOCOLS, list(names, vector8)),
            Self::Authorities(names) => (CERTIFICATE_AUTHORITIES, list(names, vector16)),
            Self::TrustAnchors(ids) => (TRUST_ANCHORS, list(ids, vector8)),
            Self::Any(code_point, data) => (*code_point, data.to_vec()),
        }
    }
}

/// A ClientHello in a record, and its parts.
pub struct EncodedHello {
    pub record: Vec<u8>,
    pub shares: Vec<(Group, Vec<u8>)>,
}

impl ClientHello<'_> {
    pub fn encode(&self) -> EncodedHello {
        let shares: Vec<_> = (self.shares.iter())
            .map(|(group, bytes)| (group.group(), group.share(bytes)))
            .collect();
        let groups = match &*self.groups {
            [] => GROUPS.map(Group::code_point).to_vec(),
            groups => groups.iter().map(|it| it.group().code_point()).collect(),
        };
        let key_shares = shares.iter().flat_map(|(group, share)| {
            [&group.code_point().to_be_bytes(), &*vector16(share)].concat()
        });

        let mut extensions = vec![
            (
                SUPPORTED_VERSIONS,
                vector8(&code_points(&self.versions, &[0x0304])),
            ),
            (SUPPORTED_GROUPS, vector16(&code_points(&groups, &[]))),
            (
                SIGNATURE_ALGORITHMS,
                vector16(&code_points(
                    &self.schemes,
                    &[0x0904, 0x0905, 0x0906, 0x0403],
                )),
            ),
            (KEY_SHARE, vector16(&key_shares.collect::<Vec<_>>())),
        ];
        if let Some(name) = self.server_name {
            let host_name = [&[0], &*vector16(name)].concat();
            extensions.push((SERVER_NAME, vector16(&host_name)));
        }
        extensions.extend(self.other_extensions.iter().map(OtherExtension::encode));
        if let Some(index) = self.without {
            extensions.remove(usize::from(index) % extensions.len());
        }

        let suites = code_points(&self.suites, &[0x1301, 0x1302, 0x1303]);
        let hello = [
            &[3, 3][..],
            &[7; 32],
            &*vector8(&self.session_id[..self.session_id.len().min(255)]),
            &*vector16(&suites),
            &[1, 0], // no compression
            &*vector16(&encode_extensions(&extensions)),
        ]
        .concat();
        EncodedHello {
            record: handshake_record(CLIENT_HELLO, &hello),
            shares,
        }
    }
}

/// A ServerHello, or a HelloRetryRequest, which is one with this random.
pub fn server_hello(
    random: &[u8; 32],
    session_id: &[u8],
    suite: u16,
    extensions: &[Extension],
) -> Vec<u8> {
    let hello = [
        &[3, 3][..],
        random,
        &*vector8(session_id),
        &suite.to_be_bytes(),
        &[0], // no compression
        &*vector16(&encode_extensions(extensions)),
    ]
    .concat();
    handshake_record(SERVER_HELLO, &hello)
}

/// The random of a HelloRetryRequest (RFC 9846, section 4.1.3).
pub const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// An extension's code point and its data.
pub type Extension = (u16, Vec<u8>);

/// What a ServerHello chooses.
#[derive(Debug)]
pub struct Chosen {
    pub is_retry: bool,
    pub group: Option<Group>,
}

/// What the ServerHello at the beginning of a server's records chooses.
pub fn chosen(sent: &[u8]) -> Option<Chosen> {
    let (HANDSHAKE, [SERVER_HELLO, _, _, _, hello @ ..]) = *records(sent).first()? else {
        return None;
    };
    let (random, rest) = hello.get(2..)?.split_first_chunk::<32>()?;
    let rest = rest.get(1 + usize::from(*rest.first()?)..)?;
    let mut extensions = rest.get(2 + 1 + 2..)?;
    let mut group = None;
    while let Some((&[kind, kind_low, len, len_low], rest)) = extensions.split_first_chunk() {
        let (data, rest) = rest.split_at_checked(u16::from_be_bytes([len, len_low]).into())?;
        if u16::from_be_bytes([kind, kind_low]) == KEY_SHARE {
            let code_point = u16::from_be_bytes(*data.first_chunk()?);
            group = Some(Group::from(rustls::NamedGroup::from(code_point)));
        }
        extensions = rest;
    }
    Some(Chosen {
        is_retry: *random == RETRY,
        group,
    })
}

pub const SERVER_NAME: u16 = 0;
pub const SUPPORTED_GROUPS: u16 = 10;
pub const SIGNATURE_ALGORITHMS: u16 = 13;
const PROTOCOLS: u16 = 16;
pub const SUPPORTED_VERSIONS: u16 = 43;
const CERTIFICATE_AUTHORITIES: u16 = 47;
const SIGNATURE_ALGORITHMS_CERT: u16 = 50;
pub const KEY_SHARE: u16 = 51;
const TRUST_ANCHORS: u16 = 0xca34;

const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;

fn code_points(chosen: &[u16], default: &[u16]) -> Vec<u8> {
    let code_points = if chosen.is_empty() { default } else { chosen };
    code_points.iter().flat_map(|it| it.to_be_bytes()).collect()
}

/// A vector with a length of one byte, cut if it is too long.
fn vector8(bytes: &[u8]) -> Vec<u8> {
    let bytes = &bytes[..bytes.len().min(u8::MAX.into())];
    [&[bytes.len() as u8], bytes].concat()
}

/// A vector with a length of two bytes, cut if it is too long.
pub fn vector16(bytes: &[u8]) -> Vec<u8> {
    let bytes = &bytes[..bytes.len().min(u16::MAX.into())];
    [&(bytes.len() as u16).to_be_bytes(), bytes].concat()
}

fn encode_extensions(extensions: &[Extension]) -> Vec<u8> {
    let encode =
        |(code_point, data): &Extension| [&code_point.to_be_bytes(), &*vector16(data)].concat();
    extensions.iter().flat_map(encode).collect()
}

fn handshake_record(message_type: u8, message: &[u8]) -> Vec<u8> {
    let len = (message.len() as u32).to_be_bytes();
    let message = [&[message_type], &len[1..], message].concat();
    let record = |fragment: &[u8]| [&[HANDSHAKE, 3, 3], &*vector16(fragment)].concat();
    message.chunks(MAX_FRAGMENT).flat_map(record).collect()
}

/// The largest payload of a record.
const MAX_FRAGMENT: usize = 1 << 14;
