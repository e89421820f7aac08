//! A client that gets a ServerHello of any contents: it sends an alert or waits for more, and never completes
//! the handshake.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::hello::{AnyGroup, KEY_SHARE, RETRY, SUPPORTED_VERSIONS, server_hello, vector16};
use fuzz::pki::SERVER_NAME;
use fuzz::tls::{self, PROVIDER};
use fuzz::{Bytes, Edit};
use libfuzzer_sys::fuzz_target;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection};

fuzz_target!(|input: Input<'_>| {
    let config = tls::client_config(tls::provider(&input.groups), input.client_auth);
    let name = ServerName::try_from(SERVER_NAME).expect("a name");
    let client = ClientConnection::new(config.into(), name).expect("a client");
    let mut client = Connection::from(client);
    let piece = usize::from(input.piece) + 1;
    for answer in &input.answers {
        let hello = tls::send(&mut client);
        if hello.is_empty() {
            break;
        }
        let answer = answer.encode(&hello);
        if !is_received(&mut client, &answer, piece) {
            return;
        }
    }
    is_received(&mut client, input.rest, piece);
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    groups: [u8; 2],
    client_auth: bool,
    piece: u16,
    answers: Vec<Answer<'a>>,
    /// What the server sends next.
    rest: &'a [u8],
}

/// A ServerHello, or a HelloRetryRequest.
#[derive(Arbitrary, Debug)]
struct Answer<'a> {
    is_retry: bool,
    suite: Suite,
    group: AnyGroup,
    share: Bytes<'a>,
    session_id: Bytes<'a>,
    other_extensions: Vec<(u16, &'a [u8])>,
    edits: Vec<Edit<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Suite {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
    Other(u16),
}

impl Answer<'_> {
    fn encode(&self, client_hello: &[u8]) -> Vec<u8> {
        let group = self.group.group();
        let code_point = group.code_point().to_be_bytes();
        let (random, key_share) = match self.is_retry {
            true => (RETRY, code_point.to_vec()),
            false => {
                let share = self.share.of(&server_share(group.code_point()));
                ([7; 32], [&code_point, &*vector16(&share)].concat())
            }
        };
        let mut extensions = vec![(SUPPORTED_VERSIONS, vec![3, 4]), (KEY_SHARE, key_share)];
        for (code_point, data) in &self.other_extensions {
            extensions.push((*code_point, data.to_vec()));
        }
        let suite = match self.suite {
            Suite::Aes128Gcm => 0x1301,
            Suite::Aes256Gcm => 0x1302,
            Suite::ChaCha20Poly1305 => 0x1303,
            Suite::Other(code_point) => code_point,
        };
        let session_id = self.session_id.of(session_id(client_hello));
        let mut record = server_hello(&random, &session_id, suite, &extensions);
        for edit in &self.edits {
            edit.apply(&mut record);
        }
        record
    }
}

/// The session ID in a ClientHello in its record; for anything else, the bytes in its place.
fn session_id(records: &[u8]) -> &[u8] {
    // the second ClientHello comes after a change of cipher specification
    let record = records
        .strip_prefix(&[20, 3, 3, 0, 1, 1])
        .unwrap_or(records);
    // the headers of record and message, the version and the random
    let session_id = record.get(5 + 4 + 2 + 32..).and_then(|rest| {
        let (len, rest) = rest.split_first()?;
        rest.get(..usize::from(*len))
    });
    session_id.unwrap_or_default()
}

/// A server's share for any client: its form is right, but nobody knows the secret.
fn server_share(group: u16) -> Vec<u8> {
    let mut groups = PROVIDER.kx_groups.iter();
    let Some(kx_group) = groups.find(|it| u16::from(it.name()) == group) else {
        return vec![4; 32];
    };
    let share = kx_group.start().expect("randomness").pub_key().to_vec();
    kx_group
        .start_and_complete(&share)
        .expect("an honest share")
        .pub_key
}

/// Whether the client waits for more.
fn is_received(client: &mut Connection, bytes: &[u8], piece: usize) -> bool {
    let result = tls::receive(client, bytes, piece);
    assert!(client.is_handshaking());
    if let Err(error) = &result {
        tls::assert_alerted(error, &tls::send(client));
    }
    result.is_ok()
}
