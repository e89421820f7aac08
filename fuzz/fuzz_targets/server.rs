//! A server that gets a ClientHello of any contents: it sends an alert or an answer that the client asked
//! for, and never completes the handshake. Other code that reads ClientHellos reads the same as rustls.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use fuzz::Edit;
use fuzz::hello::{ClientHello, chosen};
use fuzz::tls::{self, Layout};
use libfuzzer_sys::fuzz_target;
use rustls::server::Acceptor;
use rustls::{Connection, ServerConfig, ServerConnection};
use rustls_pq::{Offer, OfferReader, TrustAnchorId};

fuzz_target!(|input: Input<'_>| {
    let mut hello = input.hello.encode();
    for edit in &input.edits {
        edit.apply(&mut hello.record);
    }
    check_offer(&hello.record);

    let config = &CONFIGS[usize::from(input.client_auth)];
    let server = ServerConnection::new(Arc::clone(config)).expect("a server");
    let mut server = Connection::from(server);
    let received = [&*hello.record, input.rest].concat();
    let result = tls::receive(&mut server, &received, usize::from(input.piece) + 1);
    let sent = tls::send(&mut server);
    assert!(server.is_handshaking());
    if let Err(error) = &result {
        tls::assert_alerted(error, &sent);
    }
    if let Some(chosen) = chosen(&sent)
        && input.edits.is_empty()
    {
        let group = chosen.group.expect("a server of TLS 1.3 chooses a group");
        let mut shares = hello.shares.iter();
        let share = shares.find(|(shared, _)| *shared == group);
        assert_eq!(share.is_none(), chosen.is_retry);
        if let Some((_, share)) = share {
            assert!(Layout::of(group).accepts_client(share));
        }
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    client_auth: bool,
    piece: u16,
    hello: ClientHello<'a>,
    edits: Vec<Edit<'a>>,
    /// What the client sends next.
    rest: &'a [u8],
}

static CONFIGS: LazyLock<[Arc<ServerConfig>; 2]> = LazyLock::new(|| {
    [false, true].map(|client_auth| tls::server_config(tls::provider(&[]), client_auth).into())
});

/// Checks that [`OfferReader`] reads the same in a ClientHello as rustls.
fn check_offer(received: &[u8]) {
    let ours = OfferReader::new().read(received);
    let mut acceptor = Acceptor::default();
    let mut rest = received;
    let accepted = loop {
        match acceptor.read_tls(&mut rest) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => break accepted,
            Ok(None) => {}
            Err(_) => return,
        }
    };
    let rustls = Offer::of(&accepted.client_hello());
    let ours = ours.expect("what rustls accepts").expect("a whole message");
    assert_eq!(ours.groups, rustls.groups);
    assert_eq!(ours.cipher_suites, rustls.cipher_suites);
    assert_eq!(ours.signature_schemes, rustls.signature_schemes);
    assert_eq!(ours.protocols, rustls.protocols);
    assert_eq!(ours.certificate_authorities, rustls.certificate_authorities);
    // rustls doesn't read these.
    assert!(ours.trust_anchors.len() <= 1024);
    for id in &ours.trust_anchors {
        assert_eq!(TrustAnchorId::from_bytes(id.as_bytes()), Ok(*id));
        let text = id.to_string();
        if !text.starts_with("0x") {
            assert_eq!(text.parse::<TrustAnchorId>(), Ok(*id));
        }
    }
    let lower = |name: &str| name.to_ascii_lowercase();
    assert_eq!(
        ours.server_name.as_deref().map(lower),
        rustls.server_name.as_deref().map(lower)
    );
}
