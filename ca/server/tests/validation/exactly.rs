//! What is followed, read and tried up to a limit, and no further: each limit is reached exactly, and passed by one.

use hickory_resolver::proto::rr::RecordType;
use pq_acme::objects::ChallengeKind;
use pq_acme::problem::ProblemType;
use pq_ca_server::validation::{Addresses, Limits, Verdict};

use super::dns::{Manner, NameServer};
use super::target::{Reply, Target};
use super::{AUTHORIZATION, NAME, authorization, evidence, question, refusal, validator};

async fn dns() -> NameServer {
    let dns = NameServer::start().await;
    dns.address(NAME, "127.0.0.1");
    dns
}

#[tokio::test]
async fn a_page_is_as_long_as_it_may_be() {
    let dns = dns().await;
    let limit = Limits::default().body;
    for (len, is_read) in [(limit, true), (limit + 1, false)] {
        let page = format!("{AUTHORIZATION:<len$}");
        let target = Target::start(move |_, _| Reply::page(&page)).await;
        let validator = validator(&dns, target.port());
        let asked = question(ChallengeKind::Http01, NAME);
        let outcome = validator.validate(&asked).await;
        match is_read {
            true => drop(evidence(outcome)),
            false => refusal(outcome, ProblemType::IncorrectResponse, "more than"),
        }
    }
}

#[tokio::test]
async fn a_redirect_is_as_long_as_it_may_be() {
    let dns = dns().await;
    for (len, is_followed) in [(2048, true), (2049, false)] {
        let far = format!("/{}", "a".repeat(len - 1));
        let target = Target::start(move |path, _| match path == far {
            true => Reply::page(AUTHORIZATION),
            false => Reply::redirect(&far),
        })
        .await;
        let validator = validator(&dns, target.port());
        let asked = question(ChallengeKind::Http01, NAME);
        let outcome = validator.validate(&asked).await;
        match is_followed {
            true => drop(evidence(outcome)),
            false => refusal(outcome, ProblemType::Connection, "a URL of 2049 bytes"),
        }
    }
}

#[tokio::test]
async fn a_redirect_with_a_password_alone_is_refused() {
    let dns = dns().await;
    for user in [":secret", "user", "user:secret", ":"] {
        let target = Target::start(move |path, host| match path {
            "/page" => Reply::page(AUTHORIZATION),
            _ => Reply::redirect(&format!("http://{user}@{host}/page")),
        })
        .await;
        let validator = validator(&dns, target.port());
        let asked = question(ChallengeKind::Http01, NAME);
        let outcome = validator.validate(&asked).await;
        match user {
            // Neither of them is there.
            ":" => drop(evidence(outcome)),
            _ => refusal(outcome, ProblemType::Connection, "a user's name"),
        }
    }
}

/// Nobody listens at the others.
#[tokio::test]
async fn as_many_addresses_are_tried_as_may_be() {
    for (before, is_reached) in [(3, true), (4, false)] {
        let dns = NameServer::start().await;
        for number in 0..before {
            dns.address(NAME, &format!("127.0.0.{}", 2 + number));
        }
        dns.address(NAME, "127.0.0.1");
        let target = Target::start(|_, _| Reply::page(AUTHORIZATION)).await;
        let validator = validator(&dns, target.port())
            .addresses(Addresses::with(["127.0.0.0/8".parse().unwrap()]));
        let asked = question(ChallengeKind::Http01, NAME);
        let outcome = validator.validate(&asked).await;
        match is_reached {
            true => drop(evidence(outcome)),
            false => refusal(outcome, ProblemType::Connection, "can't be reached"),
        }
    }
}

/// That there is no address of one kind says nothing while the other kind can't be looked up.
#[tokio::test]
async fn half_of_an_answer_decides_nothing() {
    let target = Target::start(|_, _| Reply::page(AUTHORIZATION)).await;
    for (kind, has_address) in [
        (RecordType::A, false),
        (RecordType::AAAA, false),
        (RecordType::AAAA, true),
    ] {
        let dns = NameServer::start().await;
        dns.text(NAME, &["so that there is something"]);
        if has_address {
            dns.address(NAME, "127.0.0.1");
        }
        dns.manner(Manner::FailFor(kind));
        let validator = validator(&dns, target.port());
        let asked = question(ChallengeKind::Http01, NAME);
        let outcome = validator.validate(&asked).await;
        match has_address {
            true => drop(evidence(outcome)),
            false => assert!(
                matches!(&outcome.verdict, Verdict::Undecided(one) if one.kind == ProblemType::Dns),
                "{kind}: {outcome:?}"
            ),
        }
    }
}

#[tokio::test]
async fn a_text_with_more_in_it_is_another_one() {
    let text = authorization().dns_value();
    let record = format!("_acme-challenge.{NAME}");
    for other in [format!("{text}x"), format!(" {text}"), text[1..].to_owned()] {
        let dns = NameServer::start().await;
        dns.text(&record, &[&other]);
        let asked = question(ChallengeKind::Dns01, NAME);
        let outcome = validator(&dns, 1).validate(&asked).await;
        refusal(outcome, ProblemType::IncorrectResponse, "and none is");
    }
}
