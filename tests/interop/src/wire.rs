//! Records and hellos as bytes, for tests that rewrite them on their way.
//!
//! ClientHello and ServerHello travel in the clear, so anyone between the two ends
//! can change the key shares in them; [`rewrite_key_shares`] does that here. All
//! lengths around a changed share are corrected, so that the receiver finds fault
//! with the share itself and not with the framing.

use rustls::{AlertDescription, NamedGroup};

/// A key share of a ClientHello or ServerHello.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyShare {
    /// The group that the sender says it belongs to.
    pub group: NamedGroup,
    /// `key_exchange` (RFC 8446, section 4.2.8).
    pub key: Vec<u8>,
}

/// Rewrites the key shares of the hello that `flight` starts with; everything after
/// that first record stays as it is.
///
/// # Panics
/// If `flight` does not start with a whole ClientHello or ServerHello in one record,
/// or that has no key shares (a HelloRetryRequest, say).
pub fn rewrite_key_shares(flight: &[u8], rewrite: impl FnOnce(&mut Vec<KeyShare>)) -> Vec<u8> {
    let mut reader = Reader(flight);
    let mut hello = read_hello(&mut reader);

    let extension = hello
        .extensions
        .iter_mut()
        .find(|extension| extension.kind == KEY_SHARE)
        .expect("the hello has key shares");
    let mut shares = read_shares(hello.message_type, &extension.body);
    rewrite(&mut shares);
    extension.body = write_shares(hello.message_type, &shares);

    let mut rewritten = write_hello(&hello);
    rewritten.extend_from_slice(reader.0);
    rewritten
}

/// The key shares of the hello that `flight` starts with.
///
/// # Panics
/// Where [`rewrite_key_shares`] does.
pub fn key_shares(flight: &[u8]) -> Vec<KeyShare> {
    let mut found = Vec::new();
    rewrite_key_shares(flight, |shares| found.clone_from(shares));
    found
}

/// The alert in the last whole record of `sent`, if there is one and it is in the clear.
///
/// # Panics
/// If `sent` does not end with a whole record.
pub fn last_alert(sent: &[u8]) -> Option<AlertDescription> {
    let mut reader = Reader(sent);
    let mut alert = None;
    while !reader.0.is_empty() {
        let content_type = reader.u8();
        reader.take(VERSION_LEN);
        let fragment = reader.vector16();
        // An encrypted alert travels as application data.
        alert = match (content_type, fragment) {
            (ALERT, &[FATAL, description]) => Some(AlertDescription::from(description)),
            _ => None,
        };
    }
    alert
}

/// A ClientHello or ServerHello, taken apart down to its extensions.
struct Hello {
    record_version: [u8; VERSION_LEN],
    message_type: u8,
    before_extensions: Vec<u8>,
    extensions: Vec<Extension>,
}

struct Extension {
    kind: u16,
    body: Vec<u8>,
}

fn read_hello(flight: &mut Reader<'_>) -> Hello {
    assert_eq!(
        flight.u8(),
        HANDSHAKE,
        "the flight starts with a handshake record"
    );
    let version = flight.take(VERSION_LEN);
    let mut message = Reader(flight.vector16());
    let message_type = message.u8();
    let mut body = Reader(message.vector24());
    assert!(message.0.is_empty(), "the hello is alone in its record");

    let whole = body.0;
    body.take(VERSION_LEN + RANDOM_LEN);
    // legacy_session_id, or its echo
    body.vector8();
    match message_type {
        CLIENT_HELLO => {
            // cipher_suites, legacy_compression_methods
            body.vector16();
            body.vector8();
        }
        SERVER_HELLO => {
            // cipher_suite, legacy_compression_method
            body.take(2 + 1);
        }
        other => panic!("handshake message {other} is no hello"),
    }
    let before_extensions = whole[..whole.len() - body.0.len()].to_vec();

    let mut list = Reader(body.vector16());
    let mut extensions = Vec::new();
    while !list.0.is_empty() {
        let kind = list.u16();
        let body = list.vector16().to_vec();
        extensions.push(Extension { kind, body });
    }
    Hello {
        record_version: [version[0], version[1]],
        message_type,
        before_extensions,
        extensions,
    }
}

fn write_hello(hello: &Hello) -> Vec<u8> {
    let mut extensions = Vec::new();
    for extension in &hello.extensions {
        extensions.extend_from_slice(&extension.kind.to_be_bytes());
        write_vector16(&mut extensions, &extension.body);
    }
    let mut body = hello.before_extensions.clone();
    write_vector16(&mut body, &extensions);

    let mut message = vec![hello.message_type];
    message.extend_from_slice(&length(body.len()).to_be_bytes()[1..]);
    message.extend_from_slice(&body);

    let mut record = vec![HANDSHAKE];
    record.extend_from_slice(&hello.record_version);
    write_vector16(&mut record, &message);
    record
}

fn read_shares(message_type: u8, body: &[u8]) -> Vec<KeyShare> {
    let mut reader = Reader(body);
    if message_type == CLIENT_HELLO {
        reader = Reader(reader.vector16());
    }
    let mut shares = Vec::new();
    while !reader.0.is_empty() {
        shares.push(KeyShare {
            group: NamedGroup::from(reader.u16()),
            key: reader.vector16().to_vec(),
        });
    }
    shares
}

fn write_shares(message_type: u8, shares: &[KeyShare]) -> Vec<u8> {
    let mut list = Vec::new();
    for share in shares {
        list.extend_from_slice(&u16::from(share.group).to_be_bytes());
        write_vector16(&mut list, &share.key);
    }
    if message_type != CLIENT_HELLO {
        return list;
    }
    let mut body = Vec::new();
    write_vector16(&mut body, &list);
    body
}

fn write_vector16(to: &mut Vec<u8>, bytes: &[u8]) {
    let len = u16::try_from(bytes.len()).expect("what these tests write fits a two-byte length");
    to.extend_from_slice(&len.to_be_bytes());
    to.extend_from_slice(bytes);
}

fn length(len: usize) -> u32 {
    u32::try_from(len).expect("a hello is below four gigabytes")
}

/// Reads from the front of the bytes.
///
/// The bytes come from a TLS stack in a test, so anything malformed is a
/// failure of the test, and the reader panics.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .expect("the bytes hold what their lengths promise");
        self.0 = rest;
        taken
    }

    fn number(&mut self, len: usize) -> usize {
        self.take(len)
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn u16(&mut self) -> u16 {
        let bytes = self.take(2);
        u16::from_be_bytes([bytes[0], bytes[1]])
    }

    fn vector8(&mut self) -> &'a [u8] {
        let len = self.number(1);
        self.take(len)
    }

    fn vector16(&mut self) -> &'a [u8] {
        let len = self.number(2);
        self.take(len)
    }

    fn vector24(&mut self) -> &'a [u8] {
        let len = self.number(3);
        self.take(len)
    }
}

// RFC 8446, sections 5.1, 4, 4.1.2, 4.2 and 6.
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const VERSION_LEN: usize = 2;
const RANDOM_LEN: usize = 32;
const KEY_SHARE: u16 = 51;
const FATAL: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewriting_nothing_changes_nothing() {
        for message_type in [CLIENT_HELLO, SERVER_HELLO] {
            let flight = flight(message_type);
            assert_eq!(rewrite_key_shares(&flight, |_| ()), flight);
        }
    }

    #[test]
    fn lengths_follow_a_longer_share() {
        for message_type in [CLIENT_HELLO, SERVER_HELLO] {
            let flight = flight(message_type);
            let rewritten = rewrite_key_shares(&flight, |shares| shares[0].key.push(9));
            assert_eq!(rewritten.len(), flight.len() + 1);
            assert_eq!(
                key_shares(&rewritten),
                [KeyShare {
                    group: NamedGroup::X25519,
                    key: vec![1, 2, 3, 9]
                }]
            );
        }
    }

    #[test]
    fn finds_alerts() {
        assert_eq!(
            last_alert(&[22, 3, 3, 0, 1, 7, 21, 3, 3, 0, 2, 2, 47]),
            Some(AlertDescription::IllegalParameter)
        );
        assert_eq!(
            last_alert(&[21, 3, 3, 0, 2, 2, 47, 23, 3, 3, 0, 1, 5]),
            None
        );
        assert_eq!(last_alert(&[]), None);
    }

    /// A hello with one key share, and a record after it.
    fn flight(message_type: u8) -> Vec<u8> {
        let mut before_extensions = vec![3; VERSION_LEN + RANDOM_LEN];
        // no session
        before_extensions.push(0);
        match message_type {
            CLIENT_HELLO => before_extensions.extend_from_slice(&[0, 2, 0x13, 1, 1, 0]),
            _ => before_extensions.extend_from_slice(&[0x13, 1, 0]),
        }
        let share = KeyShare {
            group: NamedGroup::X25519,
            key: vec![1, 2, 3],
        };
        let mut flight = write_hello(&Hello {
            record_version: [3, 1],
            message_type,
            before_extensions,
            extensions: vec![
                Extension {
                    kind: 43,
                    body: vec![3, 4],
                },
                Extension {
                    kind: KEY_SHARE,
                    body: write_shares(message_type, &[share]),
                },
            ],
        });
        flight.extend_from_slice(&[20, 3, 3, 0, 1, 1]);
        flight
    }
}
