//! What is said twice, or by two: what counts is what was first, and what belongs together.

use pq_acme::objects::{CertificateId, ChallengeKind};
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{Issue, Issued, IssuedError, Validate, Work};
use pq_acme::store::Store;

use crate::kit::{Client, World, at, csr, ed25519, json, order_of, problem, text};
use crate::meanwhile::id;

/// The URL of an order's first authorization, and what there is to do for its first challenge.
fn asked(client: &Client<'_>, order: &serde_json::Value) -> (String, String, Validate) {
    let authorization = order["authorizations"][0].as_str().unwrap();
    let shown = json(&client.post(authorization, ""));
    let challenge = shown["challenges"][0]["url"].as_str().unwrap();
    match client.post_for(challenge, "{}").work {
        Some(Work::Validate(work)) => (authorization.into(), challenge.into(), work),
        other => panic!("{other:?}"),
    }
}

fn status(client: &Client<'_>, url: &str) -> serde_json::Value {
    json(&client.post(url, ""))["status"].clone()
}

#[test]
fn what_was_given_up_while_it_was_asked_stays_so() {
    let world = World::new();
    let client = Client::registered(&world);
    let no = Problem::new(ProblemType::IncorrectResponse, "no");
    for outcome in [Ok("seen".to_owned()), Err(no)] {
        let order = client.order(&["a.example"]).1;
        let (authorization, challenge, work) = asked(&client, &order);
        client.post(&authorization, r#"{"status":"deactivated"}"#);
        let now = world.now();
        world.server.validated(&work, outcome, now).unwrap();
        assert_eq!(status(&client, &authorization), "deactivated");
        assert_eq!(status(&client, &challenge), "processing");
    }
}

#[test]
fn a_challenge_that_nobody_asked_is_not_met() {
    let world = World::new();
    let client = Client::registered(&world);
    let order = client.order(&["a.example"]).1;
    let (authorization, _, work) = asked(&client, &order);
    let others = [
        ChallengeKind::Http01,
        ChallengeKind::Dns01,
        ChallengeKind::TlsAlpn01,
    ];
    for kind in others.into_iter().filter(|kind| *kind != work.kind) {
        let other = Validate {
            kind,
            ..work.clone()
        };
        let now = world.now();
        world
            .server
            .validated(&other, Ok("seen".into()), now)
            .unwrap();
        assert_eq!(status(&client, &authorization), "pending");
    }
    let now = world.now();
    world
        .server
        .validated(&work, Ok("seen".into()), now)
        .unwrap();
    assert_eq!(status(&client, &authorization), "valid");
}

/// Whoever asks again is shown what is there.
#[test]
fn a_challenge_that_was_decided_is_shown_and_not_asked_again() {
    let world = World::new();
    let client = Client::registered(&world);
    let no = Problem::new(ProblemType::IncorrectResponse, "no");
    for (name, outcome, expected) in [
        ("a.example", Ok("seen".to_owned()), "valid"),
        ("b.example", Err(no), "invalid"),
    ] {
        let (_, challenge, work) = asked(&client, &client.order(&[name]).1);
        world.server.validated(&work, outcome, world.now()).unwrap();
        for _ in 0..2 {
            let again = client.post_for(&challenge, "{}");
            assert_eq!(again.answer.status, 200, "{}", text(&again.answer));
            assert_eq!(json(&again.answer)["status"], expected);
            assert!(again.work.is_none());
        }
    }
}

#[test]
fn evidence_says_that_it_is_for_a_wildcard() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["*.a.example", "a.example"];
    let order = client.order(&names).1;
    client.meet(&order);
    let work = issue(client.finalize(&order, &csr(&names, &ed25519())).work);
    let count = |of: &str| {
        let mut words = work.evidence.iter().map(|one| one.split(' '));
        words
            .by_ref()
            .filter(|words| words.clone().any(|word| word == of))
            .count()
    };
    assert_eq!([count("*.a.example:"), count("a.example:")], [1, 1]);
}

fn issue(work: Option<Work>) -> Issue {
    match work {
        Some(Work::Issue(work)) => work,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_order_has_one_certificate_with_its_key() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["a.example"];
    let work = |key: &dyn pq_keys::Signer| {
        let (url, order) = client.order(&names);
        client.meet(&order);
        let request = csr(&names, key);
        (
            url,
            issue(client.finalize(&order, &request).work),
            order,
            request,
        )
    };
    let key = ed25519();
    let (url, first, order, request) = work(&key);
    let (_, same_key, ..) = work(&key);
    let (_, other_key, ..) = work(&ed25519());
    let [first_issued, same_issued, other_issued] =
        [&first, &same_key, &other_key].map(|work| world.ca().issue(work));
    let issued = |of: &Issued| world.server.issued(&first.order, Ok(of.clone()));
    let of = |chains: Vec<Vec<_>>| Issued { chains };

    let no_chain = [
        of(vec![]),
        of(vec![vec![]]),
        of(vec![first_issued.chains[0].clone(), vec![]]),
        // another one, with the same key
        of(vec![
            first_issued.chains[0].clone(),
            same_issued.chains[0].clone(),
        ]),
    ];
    for wrong in no_chain {
        assert!(matches!(issued(&wrong), Err(IssuedError::NoChain)));
    }
    assert!(matches!(issued(&other_issued), Err(IssuedError::OtherKey)));
    assert_eq!(status(&client, &url), "processing");
    for _ in 0..2 {
        issued(&first_issued).unwrap();
        assert_eq!(status(&client, &url), "valid");
    }
    let second = issued(&same_issued);
    assert!(matches!(second, Err(IssuedError::Second(_))), "{second:?}");
    let no = Problem::new(ProblemType::Caa, "no");
    world.server.issued(&first.order, Err(no)).unwrap();
    assert_eq!(status(&client, &url), "valid");

    // The same request once more is the same order; another one is not, also with the same key.
    for _ in 0..2 {
        let again = client.finalize(&order, &request);
        assert_eq!(again.answer.status, 200, "{}", text(&again.answer));
        assert!(again.work.is_none());
    }
    let other = client.finalize(&order, &csr(&names, &ed25519()));
    assert_eq!(problem(&other.answer), (403, ProblemType::OrderNotReady));
    assert!(other.work.is_none());
}

#[test]
fn terms_are_agreed_to_by_who_says_so() {
    let world = World::new();
    let client = Client::registered(&world);
    let kid = client.kid.as_ref().unwrap();
    let says = |agreed: bool| {
        let changed = client.post(kid, &format!(r#"{{"termsOfServiceAgreed":{agreed}}}"#));
        assert_eq!(changed.status, 200, "{}", text(&changed));
        let account = world.server.store().account(&id(kid)).unwrap().unwrap();
        account.agreed
    };
    assert_eq!([false, true, false].map(says), [false, true, true]);
}

/// Had it come to nothing, its claim would have gone with it.
#[test]
fn what_an_order_replaced_that_was_removed_stays_replaced() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["a.example"];
    let (_, chain) = client.obtain(&names, &ed25519());
    let name = CertificateId::of(&chain[0]).unwrap();
    let wish = order_of(&names).replace("]}", &format!(r#"],"replaces":"{name}"}}"#));
    let first = client.post(&at("new-order"), &wish);
    assert_eq!(first.status, 201, "{}", text(&first));
    let order = id(first.header("Location").unwrap());
    world.server.store().remove_order(&order);
    let again = client.post(&at("new-order"), &wish);
    assert_eq!(problem(&again), (409, ProblemType::AlreadyReplaced));
}
