//! Key exchange with shares that were changed on the way, in every group: which shares are refused, and
//! that changes to ML-KEM's part never go unnoticed.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::tls::{GROUPS, Layout, PROVIDER};
use libfuzzer_sys::fuzz_target;
use rustls::crypto::SupportedKxGroup;
use rustls::{Error, PeerMisbehaved};

fuzz_target!(|input: Input<'_>| {
    let index = usize::from(input.group) % GROUPS.len();
    let (group, layout) = (PROVIDER.kx_groups[index], Layout::of(GROUPS[index]));
    exchange(group, &layout, &input);
    exchange_component(group, &input);
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    group: u8,
    /// The change to each share on its way.
    client_share: Bytes<'a>,
    server_share: Bytes<'a>,
}

const REFUSED: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

fn exchange(group: &dyn SupportedKxGroup, layout: &Layout, input: &Input<'_>) {
    let client = group.start().expect("randomness");
    let sent = client.pub_key().to_vec();
    let received = input.client_share.of(&sent);
    let server = match group.start_and_complete(&received) {
        Ok(server) => server,
        Err(error) => {
            assert_eq!(error, REFUSED);
            // Besides ML-KEM's part, only the point can be wrong.
            let unchanged = (layout.split_client(&received)).is_some_and(|(_, classical)| {
                sent.ends_with(classical) || sent.starts_with(classical)
            });
            assert!(!unchanged || !layout.accepts_client(&received));
            return;
        }
    };
    assert!(layout.accepts_client(&received));

    let answer = input.server_share.of(&server.pub_key);
    match client.complete(&answer) {
        Ok(secret) => {
            let sent = (
                layout.split_client(&sent),
                layout.split_server(&server.pub_key),
            );
            let received = (layout.split_client(&received), layout.split_server(&answer));
            let (Some((sent_key, _)), Some((sent_ciphertext, _))) = sent else {
                panic!("shares that were made have the group's lengths");
            };
            let (Some((key, _)), Some((ciphertext, _))) = received else {
                panic!("what was accepted has the group's lengths");
            };
            let agreed = secret.secret_bytes() == server.secret.secret_bytes();
            if sent == received {
                assert!(agreed);
            }
            if (key, ciphertext) != (sent_key, sent_ciphertext) {
                assert!(!agreed);
            }
        }
        Err(error) => {
            assert_eq!(error, REFUSED);
            assert_ne!(answer, server.pub_key);
        }
    }
}

/// The classical half of a hybrid, which a server may accept alone.
fn exchange_component(group: &dyn SupportedKxGroup, input: &Input<'_>) {
    let client = group.start().expect("randomness");
    let Some((name, share)) = client.hybrid_component() else {
        return;
    };
    let mut groups = PROVIDER.kx_groups.iter();
    let component = groups
        .find(|group| group.name() == name)
        .expect("the base's");
    let server = component
        .start_and_complete(share)
        .expect("an honest share");
    let answer = input.server_share.of(&server.pub_key);
    match client.complete_hybrid_component(&answer) {
        Ok(secret) if answer == server.pub_key => {
            assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
        }
        Ok(_) => assert_eq!(answer.len(), server.pub_key.len()),
        Err(error) => {
            assert_eq!(error, REFUSED);
            assert_ne!(answer, server.pub_key);
        }
    }
}
