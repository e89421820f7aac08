//! Handshakes by group: which one is chosen, when the client is asked for another share, and resumption.

use rustls::AlertDescription;
use rustls_pq::Group;
use serde_json::Value;

use crate::client::tls_error;
use crate::harness::{Harness, Options};

#[tokio::test]
async fn every_group_that_is_asked_for() {
    let available = rustls_pq::Builder::with_default_base()
        .unwrap()
        .available_groups();
    assert!(available.len() >= Group::POST_QUANTUM.len());
    for group in available {
        let server = Harness::with(Options {
            groups: vec![group],
            ..Options::default()
        })
        .await;
        let page = server.client_with_groups(&[group]).page().await.unwrap();
        assert_eq!(page["group"], group.to_string());
        assert_eq!(page["handshake"], "full");
    }
}

#[tokio::test]
async fn no_shared_group() {
    let server = Harness::with(Options {
        groups: vec![Group::MLKEM1024],
        ..Options::default()
    })
    .await;
    let client = server.client_with_groups(&[Group::X25519MLKEM768, Group::X25519]);
    let error = client.connect().await.unwrap_err();
    assert_eq!(
        *tls_error(&error),
        rustls::Error::AlertReceived(AlertDescription::HandshakeFailure)
    );
}

#[tokio::test]
async fn asks_for_another_share() {
    let server = Harness::with(Options {
        groups: vec![Group::SECP384R1MLKEM1024],
        ..Options::default()
    })
    .await;
    let client = server.client_with_groups(&[Group::X25519MLKEM768, Group::SECP384R1MLKEM1024]);
    let page = client.page().await.unwrap();
    assert_eq!(page["group"], "SecP384r1MLKEM1024");
    assert_eq!(page["handshake"], "full with HelloRetryRequest");
}

/// A client that sends a share for one group but prefers another group is asked for a share of the latter
/// only if the share that it sent is not post-quantum.
#[tokio::test]
async fn takes_the_post_quantum_share_that_is_there() {
    let server = Harness::start().await;
    let groups = [
        Group::SECP384R1MLKEM1024,
        Group::X25519MLKEM768,
        Group::SECP384R1,
    ];
    for (share, group, handshake) in [
        (Group::X25519MLKEM768, "X25519MLKEM768", "full"),
        (Group::SECP384R1MLKEM1024, "SecP384r1MLKEM1024", "full"),
        (
            Group::SECP384R1,
            "SecP384r1MLKEM1024",
            "full with HelloRetryRequest",
        ),
    ] {
        let client = server.client_with_groups(&groups).with_share(share);
        let page = client.page().await.unwrap();
        assert_eq!(page["group"], group);
        assert_eq!(page["handshake"], handshake);
    }
}

/// A client of P-384 with one post-quantum group.
#[tokio::test]
async fn takes_the_only_post_quantum_group() {
    let server = Harness::start().await;
    let groups = [Group::SECP384R1, Group::SECP384R1MLKEM1024];
    let client = server.client_with_groups(&groups);
    let page = client.page().await.unwrap();
    assert_eq!(page["group"], "SecP384r1MLKEM1024");
    assert_eq!(page["handshake"], "full with HelloRetryRequest");
}

#[tokio::test]
async fn resumes() {
    let server = Harness::start().await;
    let client = server.client();

    let page = client.page().await.unwrap();
    assert_eq!(page["handshake"], "full");
    assert_eq!(page["signature_scheme"], "ML-DSA-65");

    // More connections than the first handshake gives tickets.
    for _ in 0..5 {
        let page = client.page().await.unwrap();
        assert_eq!(page["handshake"], "resumed");
        assert_eq!(page["group"], "X25519MLKEM768");
        assert_eq!(page["signature_scheme"], Value::Null);
    }

    let page = client.without_resumption().page().await.unwrap();
    assert_eq!(page["handshake"], "full");
}
