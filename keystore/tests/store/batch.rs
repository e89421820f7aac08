//! Batches beside single calls.

use pq_keystore::policy::{Input, InputKind, UseAudit};
use pq_keystore::{KeyName, SignRequest, VerifyRequest, Version};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::kit::{Fixture, admin, code, name, user, version};
use crate::places::Place;

/// A batch of any keys, versions and messages gives for each what a single call gives.
pub(crate) fn a_batch_gives_what_single_calls_give(place: &impl Place) {
    let fixture = Fixture::new(place);
    let short = |policy: &mut pq_keystore::policy::Policy| policy.max_message = 10;
    let mut keys: Vec<KeyName> = vec![
        fixture.key("a", "ML-DSA-44"),
        fixture.key_with("short", "ML-DSA-65", short),
        fixture.key_with("each", "ML-DSA-44", |policy| policy.audit = UseAudit::Each),
        fixture.key_with("mu", "ML-DSA-44", |policy| {
            policy.inputs = [InputKind::Mu].into_iter().collect();
        }),
        fixture.key("kem", "ML-KEM-768"),
        name("missing"),
    ];
    fixture.store.rotate(&admin(), &keys[0]).unwrap();
    let off = fixture.key("off", "ML-DSA-44");
    fixture
        .store
        .disable(&admin(), &off.at(version(1)))
        .unwrap();
    keys.push(off);
    // one that is not the user's
    let not_granted = fixture.key_with("denied", "ML-DSA-44", |policy| {
        policy.grants = Default::default()
    });
    keys.push(not_granted);

    let request = (
        0..keys.len(),
        prop::collection::vec(any::<u8>(), 0..20),
        0..3_u32,
        any::<bool>(),
    );
    let requests = prop::collection::vec(request, 0..12);
    let mut runner = TestRunner::new(Config::with_cases(24));
    let held = runner.run(&requests, |requests| {
        let signing: Vec<_> = requests
            .iter()
            .map(|(key, message, ..)| SignRequest {
                key: &keys[*key],
                input: Input::message(message),
            })
            .collect();
        let signed = fixture.store.sign_batch(&user(), &signing);
        prop_assert_eq!(signed.len(), requests.len());
        let mut signatures = Vec::new();
        for (request, batched) in signing.iter().zip(signed) {
            let single = fixture.store.sign(&user(), request.key, request.input);
            let ids = [&batched, &single]
                .map(|result| result.as_ref().ok().map(|signed| signed.id.clone()));
            prop_assert_eq!(&ids[0], &ids[1]);
            signatures.push(
                batched
                    .as_ref()
                    .map_or_else(|_| vec![1], |signed| signed.signature.clone()),
            );
            prop_assert_eq!(code(batched), code(single));
        }
        let verifying: Vec<_> = requests
            .iter()
            .zip(&signatures)
            .map(
                |((key, message, number, is_right), signature)| VerifyRequest {
                    key: &keys[*key],
                    version: Version::new(*number),
                    input: Input::message(if *is_right { message } else { b"other" }),
                    signature,
                },
            )
            .collect();
        let verified = fixture.store.verify_batch(&user(), &verifying);
        prop_assert_eq!(verified.len(), requests.len());
        for (request, batched) in verifying.iter().zip(verified) {
            let single = fixture.store.verify(
                &user(),
                request.key,
                request.version,
                request.input,
                request.signature,
            );
            prop_assert_eq!(batched.as_ref().ok(), single.as_ref().ok());
            prop_assert_eq!(code(batched), code(single));
        }
        Ok(())
    });
    held.unwrap();
}
