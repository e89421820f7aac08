//! Reads from a ClientHello what the client offers, either as rustls presents it or from the bytes before rustls reads
//! them. It also tells with which of two providers a server does better.

use alloc::collections::BTreeSet;
use core::mem;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::DnsName;
use rustls::server::ClientHello;
use rustls::{CipherSuite, Error, InvalidMessage, NamedGroup, ProtocolVersion, SignatureScheme};

use super::TrustAnchorId;
use crate::algorithms::Group;

/// What a ClientHello offers.
///
/// It comes from [rustls](Self::of) or [from the bytes](OfferReader) that a client sends. Only the
/// bytes have everything: rustls 0.23 doesn't expose the versions, `signature_algorithms_cert` and
/// `trust_anchors`, which matter for the choice of a certificate, and the groups of the shares, which
/// matter for the choice of a group. A server that needs them reads the ClientHello before rustls does:
///
/// ```
/// use std::sync::Arc;
///
/// use rustls::{Error, ServerConfig};
/// use rustls_pq::identity::Identities;
/// use rustls_pq::{OfferReader, ServerHandshake};
///
/// /// The handshake with a client that sends `piece` next. Give `piece` to rustls, too.
/// /// `None` if more has to be read.
/// fn begin(
///     reader: &mut OfferReader,
///     piece: &[u8],
///     identities: &Identities,
///     config: &ServerConfig,
/// ) -> Result<Option<ServerHandshake>, Error> {
///     let offer = reader.read(piece)?;
///     Ok(offer.map(|offer| ServerHandshake::begin(offer, identities, config)))
/// }
/// # let identities = Arc::new(Identities::new(Default::default()));
/// # let provider = Arc::new(rustls::crypto::ring::default_provider());
/// # let server = ServerConfig::builder_with_provider(provider.clone())
/// #     .with_safe_default_protocol_versions()?
/// #     .with_no_client_auth()
/// #     .with_cert_resolver(identities.clone());
/// # let client = rustls::ClientConfig::builder_with_provider(provider)
/// #     .with_safe_default_protocol_versions()?
/// #     .with_root_certificates(rustls::RootCertStore::empty())
/// #     .with_no_client_auth();
/// # let mut client = rustls::ClientConnection::new(client.into(), "localhost".try_into()?)?;
/// # let mut hello = Vec::new();
/// # client.write_tls(&mut hello)?;
/// # let mut reader = OfferReader::new();
/// # assert!(begin(&mut reader, &hello[..99], &identities, &server)?.is_none());
/// # assert!(begin(&mut reader, &hello[99..], &identities, &server)?.is_some());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Offer {
    /// The DNS name that the client requests, without a dot at its end. IP addresses are ignored, as by
    /// rustls (RFC 6066, section 3).
    pub server_name: Option<String>,
    /// Key exchange groups, the most preferred one first.
    pub groups: Vec<Group>,
    /// The groups that the client has sent a share for, in its order; `None` if they are not known.
    pub key_shares: Option<Vec<Group>>,
    /// Signature schemes that the client accepts, the most preferred one first.
    pub signature_schemes: Vec<SignatureScheme>,
    /// Schemes that the client accepts in certificates (`signature_algorithms_cert`); `None` if they
    /// are the same as in the handshake, or not known.
    pub certificate_schemes: Option<Vec<SignatureScheme>>,
    /// Cipher suites, the most preferred one first.
    pub cipher_suites: Vec<CipherSuite>,
    /// TLS versions (`supported_versions`); `None` if they are not known. A client that doesn't send
    /// the extension speaks TLS 1.2 at most.
    pub versions: Option<Vec<ProtocolVersion>>,
    /// Application protocols (ALPN, RFC 7301), the most preferred one first; no more than 1024.
    pub protocols: Vec<Vec<u8>>,
    /// CAs that the client trusts (`certificate_authorities`), each a Name in DER; no more than
    /// 1024 of them.
    pub certificate_authorities: BTreeSet<Vec<u8>>,
    /// IDs of CAs that the client trusts, from `trust_anchors`
    /// (draft-ietf-tls-trust-anchor-ids-06, section 5.1); no more than 1024 of them. Invalid IDs are
    /// left out.
    pub trust_anchors: BTreeSet<TrustAnchorId>,
}

/// How many entries are kept of lists that only decide which certificate a client gets: more CAs than
/// the root programs have, but few enough that no ClientHello takes more than some 100 kB for a list.
const MAX_HINTS: usize = 1024;

impl Offer {
    /// What rustls exposes of a ClientHello.
    pub fn of(hello: &ClientHello<'_>) -> Self {
        let groups = hello.named_groups().unwrap_or_default();
        Self {
            server_name: hello.server_name().map(str::to_owned),
            groups: groups.iter().copied().map(Group::from).collect(),
            signature_schemes: hello.signature_schemes().to_vec(),
            cipher_suites: hello.cipher_suites().to_vec(),
            certificate_schemes: None,
            key_shares: None,
            versions: None,
            protocols: hello
                .alpn()
                .into_iter()
                .flatten()
                .take(MAX_HINTS)
                .map(<[u8]>::to_vec)
                .collect(),
            certificate_authorities: hello
                .certificate_authorities()
                .into_iter()
                .flatten()
                .take(MAX_HINTS)
                .map(|name| name.as_ref().to_vec())
                .collect(),
            trust_anchors: BTreeSet::new(),
        }
    }

    /// Whether a server with the groups of `other` agrees on a better group with this client than one
    /// with the groups of `provider`. `false` if shares or versions are not known.
    pub(crate) fn does_better_with(
        &self,
        other: &CryptoProvider,
        provider: &CryptoProvider,
    ) -> bool {
        let (Some(shares), Some(versions)) = (&self.key_shares, &self.versions) else {
            return false;
        };
        let groups = [other, provider].map(|provider| self.group_in_tls13(provider));
        let [Some(by_other), Some(by_provider)] = groups else {
            return false;
        };
        if !versions.contains(&ProtocolVersion::TLSv1_3) || !by_other.is_post_quantum() {
            return false;
        }
        let is_classical = !by_provider.is_post_quantum();
        match shares.contains(&by_other) {
            true => is_classical || !shares.contains(&by_provider),
            false => is_classical && self.lists_no_post_quantum_but_of(other),
        }
    }

    fn lists_no_post_quantum_but_of(&self, provider: &CryptoProvider) -> bool {
        let mut others = self.groups.iter().filter(|group| {
            let mut known = provider.kx_groups.iter();
            !known.any(|known| Group::from(known.name()) == **group)
        });
        !others.any(|group| group.is_post_quantum())
    }

    /// The group that rustls negotiates in TLS 1.3, with or without a share for it.
    fn group_in_tls13(&self, provider: &CryptoProvider) -> Option<Group> {
        let has = |group: &&Group| {
            provider.kx_groups.iter().any(|known| {
                Group::from(known.name()) == **group
                    && known.usable_for_version(ProtocolVersion::TLSv1_3)
            })
        };
        self.groups.iter().find(has).copied()
    }

    /// RFC 9846, section 4.1.2.
    fn in_client_hello(hello: &mut Reader<'_>) -> Result<Self, InvalidMessage> {
        hello.take(2)?; // legacy_version
        hello.take(32)?; // random
        hello.vector8()?; // legacy_session_id
        let mut offer = Self {
            cipher_suites: hello.vector16()?.code_points()?,
            key_shares: Some(Vec::new()),
            versions: Some(Vec::new()),
            ..Self::default()
        };
        hello.vector8()?; // legacy_compression_methods
        if hello.is_empty() {
            return Ok(offer);
        }

        let mut extensions = hello.vector16()?;
        while !extensions.is_empty() {
            let extension = extensions.u16()?;
            let mut data = extensions.vector16()?;
            match extension {
                SERVER_NAME => offer.server_name = data.vector16()?.host_name()?,
                SUPPORTED_GROUPS => {
                    let groups: Vec<NamedGroup> = data.vector16()?.code_points()?;
                    offer.groups = groups.into_iter().map(Group::from).collect();
                }
                SIGNATURE_ALGORITHMS => {
                    offer.signature_schemes = data.vector16()?.code_points()?;
                }
                // rustls doesn't read this extension, so it accepts anything there.
                SIGNATURE_ALGORITHMS_CERT => {
                    offer.certificate_schemes = data.vector16().and_then(Reader::code_points).ok();
                }
                KEY_SHARE => offer.key_shares = Some(data.vector16()?.groups_of_shares()?),
                SUPPORTED_VERSIONS => offer.versions = Some(data.vector8()?.code_points()?),
                PROTOCOLS => offer.protocols = data.vector16()?.hints(Reader::vector8)?,
                CERTIFICATE_AUTHORITIES => {
                    let names = data.vector16()?.hints(Reader::vector16)?;
                    offer.certificate_authorities = names.into_iter().collect();
                }
                // rustls doesn't read this one either.
                TRUST_ANCHORS => {
                    let ids = data.vector16().and_then(|ids| ids.hints(Reader::vector8));
                    offer.trust_anchors = ids
                        .unwrap_or_default()
                        .iter()
                        .filter_map(|id| TrustAnchorId::from_bytes(id).ok())
                        .collect();
                }
                _ => {}
            }
        }
        Ok(offer)
    }
}

/// Reads the [`Offer`] from the ClientHello of a TCP connection, while it arrives.
///
/// It keeps what it has read, so the work grows with the bytes received, even if a client sends records
/// of one byte, a byte at a time.
#[derive(Clone, Debug, Default)]
pub struct OfferReader {
    /// The received part of the next record's header.
    header: Vec<u8>,
    /// How many bytes of the current record are missing.
    missing: usize,
    /// The received part of the first handshake message.
    message: Vec<u8>,
}

impl OfferReader {
    /// A reader for a connection on which nothing has been received.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the bytes received next; `None` if the ClientHello isn't complete yet.
    ///
    /// It reads what it needs. rustls checks the rest: fields that are too large, occur twice or must
    /// not occur. Bytes after the ClientHello are ignored, and the reader starts anew.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidMessage`] if the bytes can't be a ClientHello. rustls will find the same
    /// and send the alert.
    pub fn read(&mut self, mut received: &[u8]) -> Result<Option<Offer>, Error> {
        while !received.is_empty() {
            if self.missing == 0 {
                let missing = RECORD_HEADER - self.header.len();
                transfer(&mut received, &mut self.header, missing);
                let Ok(header) = self.header.as_slice().try_into() else {
                    break;
                };
                self.missing = len_of_record(header)?;
                self.header.clear();
            }
            // The received part of a record is read at once, to find nonsense early.
            self.missing -= transfer(&mut received, &mut self.message, self.missing);
            if let Some(len) = len_of_client_hello(&self.message)?
                && self.message.len() >= len
            {
                let Self { message, .. } = mem::take(self);
                let mut body = Reader(&message[MESSAGE_HEADER..len]);
                return Ok(Some(Offer::in_client_hello(&mut body)?));
            }
        }
        Ok(None)
    }
}

/// Moves up to `most` bytes, and returns how many it moved.
fn transfer(from: &mut &[u8], to: &mut Vec<u8>, most: usize) -> usize {
    let (taken, rest) = from.split_at(most.min(from.len()));
    to.extend_from_slice(taken);
    *from = rest;
    taken.len()
}

/// The length of the record after this header (RFC 9846, section 5.1).
fn len_of_record(header: [u8; RECORD_HEADER]) -> Result<usize, InvalidMessage> {
    let [content_type, _, _, len @ ..] = header;
    if content_type != HANDSHAKE_RECORD {
        return Err(InvalidMessage::InvalidContentType);
    }
    match u16::from_be_bytes(len).into() {
        0 => Err(InvalidMessage::InvalidEmptyPayload),
        len if len > MAX_RECORD => Err(InvalidMessage::MessageTooLarge),
        len => Ok(len),
    }
}

/// The length of the whole message; `None` if its header isn't complete (RFC 9846, section 4).
fn len_of_client_hello(message: &[u8]) -> Result<Option<usize>, InvalidMessage> {
    let Some(&[message_type, high, middle, low]) = message.first_chunk::<MESSAGE_HEADER>() else {
        return Ok(None);
    };
    if message_type != CLIENT_HELLO {
        return Err(InvalidMessage::UnexpectedMessage("not a ClientHello"));
    }
    let len = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
    if len > MAX_MESSAGE {
        return Err(InvalidMessage::HandshakePayloadTooLarge);
    }
    Ok(Some(MESSAGE_HEADER + len))
}

const SERVER_NAME: u16 = 0;
const SUPPORTED_GROUPS: u16 = 10;
const SIGNATURE_ALGORITHMS: u16 = 13;
/// application_layer_protocol_negotiation
const PROTOCOLS: u16 = 16;
const SUPPORTED_VERSIONS: u16 = 43;
const CERTIFICATE_AUTHORITIES: u16 = 47;
const SIGNATURE_ALGORITHMS_CERT: u16 = 50;
const KEY_SHARE: u16 = 51;
/// IANA has assigned no number yet; BoringSSL, and so Chromium, uses this one.
const TRUST_ANCHORS: u16 = 0xca34;

/// Type, version and length of a record.
const RECORD_HEADER: usize = 5;
/// Type and length of a handshake message.
const MESSAGE_HEADER: usize = 4;
const HANDSHAKE_RECORD: u8 = 22;
const CLIENT_HELLO: u8 = 1;
/// RFC 9846, section 5.1.
const MAX_RECORD: usize = 1 << 14;
/// The most that rustls accepts of one message, and of messages that arrive together.
pub(crate) const MAX_MESSAGE: usize = 0xffff;

/// Reads the presentation language of RFC 9846, section 3.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], InvalidMessage> {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .ok_or(InvalidMessage::MissingData("ClientHello"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, InvalidMessage> {
        let bytes = self.take(2)?;
        Ok(u16::from(bytes[0]) << 8 | u16::from(bytes[1]))
    }

    /// A vector with a length of one byte.
    fn vector8(&mut self) -> Result<Self, InvalidMessage> {
        let len = self.take(1)?[0];
        Ok(Self(self.take(len.into())?))
    }

    /// A vector with a length of two bytes.
    fn vector16(&mut self) -> Result<Self, InvalidMessage> {
        let len = self.u16()?;
        Ok(Self(self.take(len.into())?))
    }

    fn code_points<T: From<u16>>(mut self) -> Result<Vec<T>, InvalidMessage> {
        let mut points = Vec::with_capacity(self.0.len() / 2);
        while !self.is_empty() {
            points.push(self.u16()?.into());
        }
        Ok(points)
    }

    /// The groups of KeyShareEntries (RFC 9846, section 4.2.8).
    fn groups_of_shares(mut self) -> Result<Vec<Group>, InvalidMessage> {
        let mut groups = Vec::new();
        while !self.is_empty() {
            groups.push(NamedGroup::from(self.u16()?).into());
            self.vector16()?;
        }
        Ok(groups)
    }

    /// The contents of vectors that `next` reads one after the other, at most [`MAX_HINTS`].
    fn hints(
        mut self,
        next: fn(&mut Self) -> Result<Self, InvalidMessage>,
    ) -> Result<Vec<Vec<u8>>, InvalidMessage> {
        let mut hints = Vec::new();
        while !self.is_empty() && hints.len() < MAX_HINTS {
            hints.push(next(&mut self)?.0.to_vec());
        }
        Ok(hints)
    }

    /// The DNS name of a ServerNameList (RFC 6066, section 3), as rustls reads it.
    fn host_name(mut self) -> Result<Option<String>, InvalidMessage> {
        while !self.is_empty() {
            let name_type = self.take(1)?[0];
            let name = self.vector16()?.0;
            if name_type == 0 {
                let name = DnsName::try_from(name).ok();
                return Ok(name.map(|name| name.as_ref().to_ascii_lowercase()));
            }
        }
        Ok(None)
    }
}
