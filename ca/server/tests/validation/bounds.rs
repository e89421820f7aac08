//! Targets that hold validations take no other's place.

use alloc::sync::Arc;

use pq_acme::objects::ChallengeKind;
use pq_ca_server::validation::{Limits, Places, Question, Verdict};

use super::dns::NameServer;
use super::target::{Reply, Target};
use super::{AUTHORIZATION, NAME, evidence, question, validator};

/// Mallory has a hundred names whose server never answers; Alice's is asked meanwhile.
#[tokio::test]
async fn slow_targets_block_nobody_else() {
    let dns = NameServer::start().await;
    dns.address(NAME, "127.0.0.1");
    for number in 0..100 {
        dns.address(&format!("{number}.example.net"), "127.0.0.1");
    }
    let target = Target::start(|_, host| match host.starts_with(NAME) {
        true => Reply::page(AUTHORIZATION),
        false => Reply::Silence,
    })
    .await;
    let limits = Limits {
        whole: core::time::Duration::from_secs(600),
        places: Places {
            all: 8,
            per_name: 2,
            per_account: 4,
            waiting: 64,
            waiting_per_account: 16,
        },
        ..Limits::default()
    };
    let validator = Arc::new(validator(&dns, target.port()).limits(limits));
    let mut held = Vec::new();
    for number in 0..100 {
        let validator = validator.clone();
        let question = Question {
            account: "mallory".into(),
            ..question(ChallengeKind::Http01, &format!("{number}.example.net"))
        };
        held.push(tokio::spawn(
            async move { validator.validate(&question).await },
        ));
    }
    // 4 have places, 16 wait, and the others are told so.
    let mut refused = 0;
    while refused < 80 {
        tokio::time::sleep(core::time::Duration::from_millis(10)).await;
        refused = held.iter().filter(|one| one.is_finished()).count();
    }
    for _ in 0..20 {
        evidence(
            validator
                .validate(&question(ChallengeKind::Http01, NAME))
                .await,
        );
    }
    let mut undecided = 0;
    for one in held {
        match one.is_finished() {
            true => {
                let outcome = one.await.unwrap();
                assert!(
                    matches!(outcome.verdict, Verdict::Undecided(_)),
                    "{outcome:?}"
                );
                undecided += 1;
            }
            false => one.abort(),
        }
    }
    assert_eq!(undecided, 80);
}
