//! `dns-01`.

use pq_acme::objects::ChallengeKind;
use pq_acme::problem::ProblemType;
use pq_ca_server::validation::{Limits, Outcome, Verdict};

use super::dns::{Manner, NameServer};
use super::{NAME, authorization, evidence, question, refusal, validator};

const RECORD: &str = "_acme-challenge.www.example.org";

fn text() -> String {
    authorization().dns_value()
}

async fn ask(dns: &NameServer) -> Outcome {
    validator(dns, 1)
        .validate(&question(ChallengeKind::Dns01, NAME))
        .await
}

#[tokio::test]
async fn the_text_is_found_among_others_in_parts_and_behind_aliases() {
    let text = text();
    let dns = NameServer::start().await;
    dns.text(RECORD, &["other"]);
    dns.text(RECORD, &[&text[..20], &text[20..]]);
    assert_eq!(evidence(ask(&dns).await), format!("from TXT of {RECORD}"));

    let dns = NameServer::start().await;
    dns.alias(RECORD, "a.acme.example.net");
    dns.alias("a.acme.example.net", "b.acme.example.net");
    dns.text("b.acme.example.net", &[&text]);
    let outcome = ask(&dns).await;
    let alias = format!("{RECORD}. is an alias of a.acme.example.net.");
    assert!(outcome.steps.contains(&alias), "{outcome:?}");
    evidence(outcome);
}

/// It doesn't fit in a datagram, so it comes by TCP.
#[tokio::test]
async fn a_long_answer_is_read_by_tcp() {
    let dns = NameServer::start().await;
    for number in 0..200 {
        dns.text(RECORD, &[&format!("{number} {}", "a".repeat(100))]);
    }
    let outcome = ask(&dns).await;
    refusal(outcome, ProblemType::IncorrectResponse, "and 197 more");
    dns.text(RECORD, &[&text()]);
    evidence(ask(&dns).await);
}

#[tokio::test]
async fn without_the_text_it_is_said_what_is_there() {
    let dns = NameServer::start().await;
    let outcome = ask(&dns).await;
    refusal(
        outcome,
        ProblemType::Dns,
        &format!("put a TXT record there: {RECORD} = {}", text()),
    );
    dns.address(RECORD, "127.0.0.1");
    refusal(ask(&dns).await, ProblemType::Dns, "has no TXT records");
    dns.text(RECORD, &["wrong\u{1b}[2J\n"]);
    let outcome = ask(&dns).await;
    assert!(!format!("{outcome:?}").contains('\u{1b}'));
    refusal(
        outcome,
        ProblemType::IncorrectResponse,
        r#"are "wrong\u{1b}[2J\n", and none is"#,
    );
    let outcome = validator(&dns, 1)
        .validate(&question(ChallengeKind::Dns01, "127.0.0.1"))
        .await;
    refusal(outcome, ProblemType::Malformed, "DNS names only");
}

#[tokio::test]
async fn a_circle_of_aliases_ends() {
    let dns = NameServer::start().await;
    dns.alias(RECORD, "a.example.net");
    dns.alias("a.example.net", RECORD);
    assert!(!ask(&dns).await.is_valid());
}

/// That a resolver fails is no answer, and that it is silent takes a bounded time.
#[tokio::test]
async fn a_resolver_that_fails_decides_nothing() {
    let dns = NameServer::start().await;
    dns.manner(Manner::Fail);
    let outcome = ask(&dns).await;
    assert!(
        matches!(outcome.verdict, Verdict::Undecided(_)),
        "{outcome:?}"
    );
    dns.manner(Manner::Silence);
    let limits = Limits {
        whole: core::time::Duration::from_secs(1),
        ..Limits::default()
    };
    let validator = validator(&dns, 1).limits(limits);
    let outcome = validator
        .validate(&question(ChallengeKind::Dns01, NAME))
        .await;
    assert!(!outcome.is_valid(), "{outcome:?}");
}
