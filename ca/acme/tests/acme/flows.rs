//! What clients do, from the account to the certificate and its end.

use pq_acme::identifier::Identifier;
use pq_acme::jws::{self, KeyId};
use pq_acme::nonce::Nonces;
use pq_acme::objects::{CertificateId, ChallengeKind, Meta, Time};
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{Due, Server, Work, revoke_account};
use pq_acme::store::{AuthorizationRecord, OrderRecord, OrderState, Processing, RedbStore, Store};
use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
use pq_keys::{SignatureAlgorithm, Signer, SigningKey};

use crate::kit::{
    BASE, Ca, Client, EAB_KEY, World, at, csr, ed25519, finalization, json, order_of, problem,
    request, text,
};

#[test]
fn a_certificate_is_obtained_with_each_kind_of_key() {
    let world = World::new();
    let ml_dsa = [
        SignatureAlgorithm::MlDsa44,
        SignatureAlgorithm::MlDsa65,
        SignatureAlgorithm::MlDsa87,
    ];
    let classical = [
        ClassicalAlgorithm::EcdsaP256,
        ClassicalAlgorithm::EcdsaP384,
        ClassicalAlgorithm::Ed25519,
        ClassicalAlgorithm::Rsa2048,
    ];
    let ml_dsa = ml_dsa.map(|one| -> [Box<dyn Signer>; 2] {
        [0, 1].map(|_| Box::new(SigningKey::generate(one).unwrap()) as _)
    });
    let classical = classical.map(|one| -> [Box<dyn Signer>; 2] {
        [0, 1].map(|_| Box::new(ClassicalKey::generate(one).unwrap()) as _)
    });
    for [account_key, key] in ml_dsa.into_iter().chain(classical) {
        let mut client = Client::with_key(&world, account_key);
        client.register();
        let names = ["www.example.org", "*.example.org", "192.0.2.1"];
        let (url, chain) = client.obtain(&names, &*key);
        assert_eq!(chain.len(), 2);
        let alternate = client.post(&format!("{url}/1"), "");
        assert_eq!(alternate.status, 200);
        let links = client.post(&url, "").headers;
        assert!(links.contains(&("Link", format!("<{url}/1>;rel=\"alternate\""))));
        assert_eq!(problem(&client.post(&format!("{url}/2"), "")).0, 404);
    }
    assert_eq!(world.ca().issued(), 7);
}

#[test]
fn the_directory_says_where_everything_is() {
    let world = World::new();
    let answer = world.get("directory");
    assert_eq!(answer.status, 200);
    let directory = json(&answer);
    assert_eq!(directory["newOrder"], at("new-order"));
    assert_eq!(directory["meta"]["profiles"]["server"], "for servers");
    assert_eq!(answer.header("Link"), None);
    let nonce = world.get("new-nonce");
    assert_eq!(
        (nonce.status, nonce.header("Cache-Control")),
        (204, Some("no-store"))
    );
    assert!(nonce.header("Replay-Nonce").is_some() && nonce.header("Link").is_some());
    assert_eq!(problem(&world.get("new-order")).0, 405);
    assert_eq!(problem(&world.get("nothing")).0, 404);
    assert_eq!(world.get("new-order").header("Allow"), Some("POST"));
}

#[test]
fn an_account_is_made_once_changed_and_ended() {
    let world = World::new();
    let mut client = Client::new(&world);
    let url = at("new-account");
    let none = client.post(&url, r#"{"onlyReturnExisting":true}"#);
    assert_eq!(problem(&none), (400, ProblemType::AccountDoesNotExist));
    client.register();
    let kid = client.kid.take().unwrap();
    for payload in [r#"{"onlyReturnExisting":true}"#, "{}", r#"{"contact":[]}"#] {
        let again = client.post(&url, payload);
        assert_eq!(
            (again.status, again.header("Location")),
            (200, Some(kid.as_str()))
        );
        assert_eq!(json(&again)["contact"][0], "mailto:a@example.org");
    }
    client.kid = Some(kid.clone());
    let changed = client.post(&kid, r#"{"contact":["mailto:b@example.org"],"other":1}"#);
    assert_eq!(json(&changed)["contact"][0], "mailto:b@example.org");
    assert!(json(&changed).get("other").is_none());
    let shown = client.post(&kid, "");
    assert_eq!(json(&shown), json(&changed));
    for (contact, kind) in [
        ("tel:123", ProblemType::UnsupportedContact),
        ("mailto:", ProblemType::InvalidContact),
        ("mailto:a@b@c", ProblemType::InvalidContact),
        (
            "mailto:a@example.org?subject=x",
            ProblemType::InvalidContact,
        ),
        (
            "mailto:a@example.org,b@example.org",
            ProblemType::InvalidContact,
        ),
    ] {
        let refused = client.post(&kid, &format!(r#"{{"contact":["{contact}"]}}"#));
        assert_eq!(problem(&refused), (400, kind), "{contact}");
    }
    let ended = client.post(&kid, r#"{"status":"deactivated"}"#);
    assert_eq!(json(&ended)["status"], "deactivated");
    for (url, payload) in [
        (kid.as_str(), ""),
        (&at("new-order"), &order_of(&["a.example"])),
    ] {
        assert_eq!(
            problem(&client.post(url, payload)),
            (401, ProblemType::Unauthorized)
        );
    }
    client.kid = None;
    assert_eq!(
        problem(&client.post(&url, "{}")),
        (401, ProblemType::Unauthorized)
    );
}

#[test]
fn terms_and_external_accounts_are_asked_for() {
    let mut ca = Ca::new();
    ca.meta = Meta {
        terms_of_service: Some("https://ca.example/terms".into()),
        external_account_required: true,
        ..Meta::default()
    };
    let world = World::with(ca);
    let client = Client::new(&world);
    let url = at("new-account");
    let refused = client.post(&url, "{}");
    assert_eq!(problem(&refused), (403, ProblemType::UserActionRequired));
    assert_eq!(json(&refused)["instance"], "https://ca.example/terms");
    let agreed = r#""termsOfServiceAgreed":true"#;
    let refused = client.post(&url, &format!("{{{agreed}}}"));
    assert_eq!(
        problem(&refused),
        (403, ProblemType::ExternalAccountRequired)
    );
    let with = |proof: &str| {
        let payload = format!(r#"{{{agreed},"externalAccountBinding":{proof}}}"#);
        client.post(&url, &payload)
    };
    for (proof, kind) in [
        (
            client.external("known", b"wrong"),
            ProblemType::Unauthorized,
        ),
        (client.external("other", EAB_KEY), ProblemType::Unauthorized),
        (
            Client::new(&world).external("known", EAB_KEY),
            ProblemType::Malformed,
        ),
        ("{}".into(), ProblemType::Malformed),
    ] {
        assert_eq!(problem(&with(&proof)).1, kind);
    }
    let made = with(&client.external("known", EAB_KEY));
    assert_eq!(made.status, 201, "{}", text(&made));
    assert!(json(&made)["externalAccountBinding"]["payload"].is_string());
}

#[test]
fn keys_change_and_orders_live_on() {
    let world = World::new();
    let mut client = Client::registered(&world);
    let other = Client::registered(&world);
    let (url, order) = client.order(&["www.example.org"]);
    client.meet(&order);
    let kid = client.kid.clone().unwrap();
    let to = at("key-change");
    let change = |new: &dyn Signer, account: &str, old: &AnyJwk, url: &str| {
        let content = format!(r#"{{"account":"{account}","oldKey":{}}}"#, old.to_json());
        let by = KeyId::Key(Box::new(AnyJwk::of(new).unwrap()));
        jws::write(new, &by, None, url, content.as_bytes()).unwrap()
    };
    let new = ed25519();
    let old = client.jwk();
    for (inner, status) in [
        (change(&*other.key, &kid, &old, &to), 409),
        (change(&*client.key, &kid, &old, &to), 409),
        (change(&new, other.kid.as_ref().unwrap(), &old, &to), 400),
        (change(&new, &kid, &other.jwk(), &to), 400),
        (change(&new, &kid, &old, &at("new-order")), 400),
        (client.signed(&to, "{}"), 400),
        ("{}".into(), 400),
    ] {
        let refused = client.post(&to, &inner);
        assert_eq!(
            problem(&refused),
            (status, ProblemType::Malformed),
            "{inner}"
        );
        assert_eq!(refused.header("Location").is_some(), status == 409);
    }
    let changed = client.post(&to, &change(&new, &kid, &old, &to));
    assert_eq!(changed.status, 200, "{}", text(&changed));
    assert_eq!(
        problem(&client.post(&kid, "")),
        (400, ProblemType::Malformed)
    );
    client.key = Box::new(new);
    assert_eq!(client.post(&kid, "").status, 200);
    let key = ed25519();
    let outcome = client.finalize(&order, &csr(&["www.example.org"], &key));
    world.work(outcome.work);
    assert_eq!(json(&client.post(&url, ""))["status"], "valid");
}

#[test]
fn authorizations_are_used_again_given_up_and_expire() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["www.example.org"];
    let (first, order) = client.order(&names);
    client.meet(&order);
    let (second, again) = client.order(&names);
    assert_eq!(again["status"], "ready");
    assert_eq!(again["authorizations"], order["authorizations"]);
    let wildcard = client.order(&["*.www.example.org"]).1;
    assert_ne!(wildcard["authorizations"], order["authorizations"]);
    let url = wildcard["authorizations"][0].as_str().unwrap();
    let shown = json(&client.post(url, ""));
    assert_eq!(shown["wildcard"], true);
    assert_eq!(shown["identifier"]["value"], "www.example.org");
    assert_eq!(shown["challenges"].as_array().unwrap().len(), 1);
    assert_eq!(shown["challenges"][0]["type"], "dns-01");

    let url = order["authorizations"][0].as_str().unwrap();
    let stranger = Client::registered(&world);
    for payload in ["", r#"{"status":"deactivated"}"#] {
        assert_eq!(
            problem(&stranger.post(url, payload)),
            (403, ProblemType::Unauthorized)
        );
    }
    let refused = client.post(url, r#"{"status":"valid"}"#);
    assert_eq!(problem(&refused), (400, ProblemType::Malformed));
    let given_up = client.post(url, r#"{"status":"deactivated"}"#);
    assert_eq!(json(&given_up)["status"], "deactivated");
    for order in [first, second] {
        assert_eq!(json(&client.post(&order, ""))["status"], "invalid");
    }
    let (third, order) = client.order(&names);
    assert_eq!(order["status"], "pending");
    world.wait(8 * 24 * 3600);
    let expired = json(&client.post(&third, ""));
    assert_eq!(expired["status"], "invalid");
    let url = order["authorizations"][0].as_str().unwrap();
    assert_eq!(json(&client.post(url, ""))["status"], "expired");
}

#[test]
fn authorizations_are_used_again_only_as_the_policy_is_now() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["www.example.org"];
    let only = |kind| *world.ca().only.lock().unwrap() = Some(kind);
    only(ChallengeKind::Http01);
    let order = client.order(&names).1;
    client.meet(&order);
    assert_eq!(client.order(&names).1["status"], "ready");
    only(ChallengeKind::Dns01);
    assert_eq!(client.order(&names).1["status"], "pending");
    only(ChallengeKind::Http01);
    assert_eq!(client.order(&names).1["status"], "ready");
}

#[test]
fn a_challenge_that_is_not_met_ends_the_order() {
    let world = World::new();
    let client = Client::registered(&world);
    let (url, order) = client.order(&["a.example", "b.example"]);
    let authorization = order["authorizations"][1].as_str().unwrap();
    let shown = json(&client.post(authorization, ""));
    let challenge = shown["challenges"][0]["url"].as_str().unwrap();
    assert_eq!(json(&client.post(challenge, ""))["status"], "pending");
    let outcome = client.post_for(challenge, "{}");
    assert!(outcome.answer.header("Retry-After").is_some());
    let up = format!("<{authorization}>;rel=\"up\"");
    assert!(outcome.answer.headers.contains(&("Link", up)));
    let Some(Work::Validate(work)) = outcome.work else {
        panic!("there should be a challenge to validate");
    };
    assert_eq!(work.identifier, Identifier::Dns("b.example".into()));
    let thumbprint = client.jwk().thumbprint().to_string();
    assert!(work.key_authorization.as_str().ends_with(&thumbprint));
    // Ready once more is no second work.
    assert!(client.post_for(challenge, "{}").work.is_none());
    let found = Problem::new(ProblemType::IncorrectResponse, "something else is there");
    world
        .server
        .validated(&work, Err(found), world.now())
        .unwrap();
    // What comes later does not count.
    world
        .server
        .validated(&work, Ok(String::new()), world.now())
        .unwrap();
    let shown = json(&client.post(challenge, ""));
    assert_eq!(shown["status"], "invalid");
    let order = json(&client.post(&url, ""));
    assert_eq!(order["status"], "invalid");
    assert_eq!(
        order["error"]["type"],
        "urn:ietf:params:acme:error:incorrectResponse"
    );
    assert_eq!(
        order["error"]["subproblems"][0]["identifier"]["value"],
        "b.example"
    );
}

#[test]
fn orders_say_which_names_are_refused() {
    let world = World::new();
    let client = Client::registered(&world);
    let url = at("new-order");
    let refused = client.post(&url, &order_of(&["a.refused", "b.example", "c.refused"]));
    assert_eq!(problem(&refused), (400, ProblemType::RejectedIdentifier));
    assert_eq!(json(&refused)["subproblems"].as_array().unwrap().len(), 2);
    for (payload, kind) in [
        (order_of(&[]), ProblemType::Malformed),
        (order_of(&["not a name"]), ProblemType::Malformed),
        (order_of(&vec!["a.example"; 101]), ProblemType::Malformed),
        (
            r#"{"identifiers":[{"type":"email","value":"a@b"}]}"#.into(),
            ProblemType::UnsupportedIdentifier,
        ),
        (
            r#"{"identifiers":[["dns","a.example"]]}"#.into(),
            ProblemType::Malformed,
        ),
        (
            r#"{"identifiers":[{"type":"dns","value":"a.example"}],"profile":"x"}"#.into(),
            ProblemType::InvalidProfile,
        ),
        (
            r#"{"identifiers":[{"type":"dns","value":"a.example"}],"notBefore":"today"}"#.into(),
            ProblemType::Malformed,
        ),
    ] {
        assert_eq!(
            problem(&client.post(&url, &payload)),
            (400, kind),
            "{payload}"
        );
    }
    let wish = r#"{"identifiers":[{"type":"dns","value":"A.example"},{"type":"dns","value":"a.EXAMPLE"}],
        "profile":"server","notBefore":"2030-01-01T00:00:00Z"}"#;
    let made = json(&client.post(&url, wish));
    assert_eq!(made["identifiers"].as_array().unwrap().len(), 1);
    assert_eq!(made["identifiers"][0]["value"], "a.example");
    assert_eq!(
        (&made["profile"], &made["notBefore"]),
        (&"server".into(), &"2030-01-01T00:00:00Z".into())
    );
}

#[test]
fn an_order_is_finalized_by_a_request_with_its_names() {
    let world = World::new();
    let client = Client::registered(&world);
    let key = ed25519();
    let names = ["www.example.org", "192.0.2.1"];
    let (url, order) = client.order(&names);
    let good = csr(&names, &key);
    let early = client.finalize(&order, &good);
    assert_eq!(problem(&early.answer), (403, ProblemType::OrderNotReady));
    client.meet(&order);
    let damaged = {
        let mut der = good.to_der().to_vec();
        *der.last_mut().unwrap() ^= 1;
        format!(r#"{{"csr":"{}"}}"#, base64url::encode(&der))
    };
    let of_ca = request(&names).ca(None, None).sign(&key).unwrap();
    for (payload, kind) in [
        (finalization(&csr(&names[..1], &key)), ProblemType::BadCsr),
        (
            finalization(&csr(&["www.example.org", "192.0.2.1", "a.example"], &key)),
            ProblemType::BadCsr,
        ),
        (
            finalization(&csr(
                &["www.example.org", "192.0.2.1", "a@example.org"],
                &key,
            )),
            ProblemType::BadCsr,
        ),
        (
            finalization(&request(&names).common_name("a.example").sign(&key).unwrap()),
            ProblemType::BadCsr,
        ),
        (
            finalization(&csr(&names, &*client.key)),
            ProblemType::BadCsr,
        ),
        (finalization(&of_ca), ProblemType::BadCsr),
        (damaged, ProblemType::BadCsr),
        (r#"{"csr":"AAAA"}"#.into(), ProblemType::BadCsr),
        (r#"{"csr":"AAA="}"#.into(), ProblemType::Malformed),
        (r#"{"csr":1}"#.into(), ProblemType::Malformed),
        ("{}".into(), ProblemType::Malformed),
        (String::new(), ProblemType::Malformed),
    ] {
        let refused = client.post_for(order["finalize"].as_str().unwrap(), &payload);
        assert_eq!(problem(&refused.answer), (400, kind), "{payload}");
        assert!(refused.work.is_none());
        assert_eq!(json(&client.post(&url, ""))["status"], "ready");
    }
    // A common name that is one of the names counts with them.
    let good = request(&names[1..])
        .common_name("WWW.example.org")
        .sign(&key)
        .unwrap();
    let outcome = client.finalize(&order, &good);
    let Some(Work::Issue(work)) = outcome.work.clone() else {
        panic!("{}", text(&outcome.answer));
    };
    assert_eq!(work.evidence.len(), 2);
    let again = client.finalize(&order, &good);
    assert_eq!((again.answer.status, again.work.is_none()), (200, true));
    let other = client.finalize(&order, &csr(&names, &ed25519()));
    assert_eq!(problem(&other.answer), (403, ProblemType::OrderNotReady));
    world.work(outcome.work.clone());
    world.work(outcome.work);
    assert_eq!(world.ca().issued(), 1);
    let shown = world
        .server
        .with_order_as_it_is(again.answer, &work.order, world.now())
        .unwrap();
    assert_eq!(json(&shown)["status"], "valid");
    assert!(shown.header("Replay-Nonce").is_some());
}

#[test]
fn work_that_nobody_finished_is_taken_up() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["www.example.org"];
    let (url, order) = client.order(&names);
    let authorization = json(&client.post(order["authorizations"][0].as_str().unwrap(), ""));
    for challenge in authorization["challenges"].as_array().unwrap() {
        client.post(challenge["url"].as_str().unwrap(), "{}");
    }
    let take_up = || world.take_up();
    assert_eq!(take_up().len(), 0);
    world.wait(31);
    let work = take_up();
    assert_eq!(work.len(), 3);
    assert_eq!(take_up().len(), 0);
    for work in work {
        world.work(Some(work));
    }
    let first = client
        .finalize(&order, &csr(&names, &ed25519()))
        .work
        .unwrap();
    world.wait(31);
    let mut second = take_up();
    assert_eq!((second.len(), take_up().len()), (1, 0));
    world.work(second.pop());
    world.work(Some(first));
    assert_eq!(world.ca().issued(), 1);
    assert_eq!(json(&client.post(&url, ""))["status"], "valid");
    world.wait(31);
    assert_eq!(take_up().len(), 0);
}

#[test]
fn what_is_over_is_no_work() {
    let world = World::new();
    let client = Client::registered(&world);
    let (_, order) = client.order(&["www.example.org"]);
    let authorization = order["authorizations"][0].as_str().unwrap();
    let shown = json(&client.post(authorization, ""));
    let challenge = shown["challenges"][0]["url"].as_str().unwrap();
    assert!(client.post_for(challenge, "{}").work.is_some());
    world.wait(8 * 24 * 3600);
    assert_eq!(world.take_up().len(), 0);
    let overdue = world.server.store().overdue(world.now(), 10).unwrap();
    assert_eq!(overdue.authorizations.len(), 0);
    assert_eq!(json(&client.post(authorization, ""))["status"], "expired");
}

/// Of a name whose server is dead, say: first soon, then more and more seldom, and not for ever.
#[test]
fn what_stays_undecided_is_asked_a_few_times() {
    let world = World::new();
    let client = Client::registered(&world);
    let (url, order) = client.order(&["www.example.org"]);
    let authorization = order["authorizations"][0].as_str().unwrap();
    let shown = json(&client.post(authorization, ""));
    let challenge = shown["challenges"][0]["url"].as_str().unwrap();
    let began = world.now();
    let Some(Work::Validate(first)) = client.post_for(challenge, "{}").work else {
        panic!("there should be a challenge to validate");
    };
    assert!(first.is_first && !first.is_last);
    let mut times = Vec::new();
    for _ in 0..7 * 24 * 60 {
        world.wait(60);
        for work in world.take_up() {
            let Work::Validate(work) = work else {
                panic!("there is no certificate to issue");
            };
            assert!(!work.is_first);
            times.push((began.until(world.now()).as_secs() / 60, work.is_last));
        }
    }
    let minutes = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    let expected = minutes.map(|minutes| (minutes, minutes == 256));
    assert_eq!(times, expected);
    assert_eq!(json(&client.post(&url, ""))["status"], "invalid");
}

#[test]
fn accounts_that_have_ended_get_nothing_more() {
    let world = World::new();
    let [one, other] = [0, 1].map(|_| Client::registered(&world));
    let names = ["www.example.org"];
    let mut orders = Vec::new();
    for client in [&one, &other] {
        let (_, order) = client.order(&names);
        client.meet(&order);
        let Some(Work::Issue(work)) = client.finalize(&order, &csr(&names, &ed25519())).work else {
            panic!("there should be a certificate to issue");
        };
        assert_eq!(world.server.due(&work.order).unwrap(), Due::Issue);
        let (_, order) = client.order(&["a.example"]);
        let authorization = json(&client.post(order["authorizations"][0].as_str().unwrap(), ""));
        let challenge = authorization["challenges"][0]["url"].as_str().unwrap();
        assert!(client.post_for(challenge, "{}").work.is_some());
        orders.push(work.order);
    }
    let url = one.kid.clone().unwrap();
    let ended = one.post(&url, r#"{"status":"deactivated"}"#);
    assert_eq!(ended.status, 200, "{}", text(&ended));
    let id = other.kid.as_ref().unwrap().rsplit('/').next().unwrap();
    assert!(revoke_account(world.server.store(), id).unwrap());
    assert!(!revoke_account(world.server.store(), id).unwrap());
    assert_eq!(
        problem(&other.post(&at("new-order"), &order_of(&names))),
        (401, ProblemType::Unauthorized)
    );
    world.wait(121);
    // Both orders, and none of the challenges.
    assert_eq!(world.take_up().len(), 2);
    for order in orders {
        let Due::Refuse(problem) = world.server.due(&order).unwrap() else {
            panic!("a certificate would be issued to an account that has ended");
        };
        assert_eq!(problem.kind, ProblemType::Unauthorized);
        world.server.issued(&order, Err(problem)).unwrap();
        assert_eq!(world.server.due(&order).unwrap(), Due::Nothing);
    }
    world.wait(1_000_000);
    assert_eq!(world.take_up().len(), 0);
}

/// The orders of a server that was away for long: their authorizations may be gone, and each is taken up.
#[test]
fn orders_are_taken_up_however_old_they_are() {
    let world = World::new();
    let client = Client::registered(&world);
    let id = client.kid.as_ref().unwrap().rsplit('/').next().unwrap();
    let owner = world.server.store().account(id).unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = RedbStore::open(&folder.path().join("objects")).unwrap();
    let owner = store.insert_account((*owner).clone()).unwrap();
    for (name, expires) in [("old.example", 1000), ("new.example", 9_000_000)] {
        let (url, _) = client.order(&[name]);
        let made = world.server.store();
        let order = made
            .order(url.rsplit('/').next().unwrap())
            .unwrap()
            .unwrap();
        let expires = Time::from_secs(expires);
        let authorizations = made.authorizations(&order.authorizations).unwrap();
        let authorizations = authorizations.iter().map(|one| AuthorizationRecord {
            expires,
            ..(**one).clone()
        });
        let order = OrderRecord {
            expires,
            created: Time::from_secs(0),
            ..(*order).clone()
        };
        let inserted = store.insert_order(order, authorizations.collect(), &owner, None);
        let processing = OrderRecord {
            state: OrderState::Processing(Processing {
                csr: [1].into(),
                since: Time::from_secs(10),
            }),
            ..(*inserted.unwrap()).clone()
        };
        store.update_order(processing, &[]).unwrap();
    }
    let now = Time::from_secs(1000 + 40 * 24 * 3600);
    assert_eq!(store.remove_old(now, 100).unwrap(), 1);
    let server = Server::new(BASE, store, Ca::new(), Nonces::new([1; 32]));
    let taken = server.take_up(now, 100).unwrap();
    let late = taken.into_iter().map(|work| match work.unwrap() {
        Work::Issue(work) => (work.identifiers[0].to_string(), work.is_late),
        Work::Validate(_) => panic!("there is no challenge to validate"),
    });
    let late: alloc::collections::BTreeMap<_, _> = late.collect();
    let expected = [("new.example", false), ("old.example", true)];
    assert_eq!(
        late,
        expected.map(|(name, late)| (name.into(), late)).into()
    );
}

/// A change that was made when the clock was wrong does not keep the account from being changed.
#[test]
fn a_clock_that_was_ahead_is_not_believed_for_good() {
    let world = World::new();
    let client = Client::registered(&world);
    let url = client.kid.clone().unwrap();
    let change = |address: &str| {
        let wish = format!(r#"{{"contact":["mailto:{address}"]}}"#);
        client.post(&url, &wish)
    };
    let year = 365 * 24 * 3600;
    world.wait(year);
    assert_eq!(change("then@example.org").status, 200);
    world.wait_back(year - 10);
    let changed = change("now@example.org");
    assert_eq!(changed.status, 200, "{}", text(&changed));
    // From now on, requests are good once again.
    world.wait_back(5);
    assert_eq!(
        problem(&change("before@example.org")),
        (400, ProblemType::BadNonce)
    );
}

#[test]
fn a_ca_that_refuses_ends_the_order() {
    let world = World::new();
    let client = Client::registered(&world);
    let (url, order) = client.order(&["www.example.org"]);
    client.meet(&order);
    let outcome = client.finalize(&order, &csr(&["www.example.org"], &ed25519()));
    let Some(Work::Issue(work)) = outcome.work else {
        panic!("there should be a certificate to issue");
    };
    let refused = Problem::new(ProblemType::Caa, "no");
    world.server.issued(&work.order, Err(refused)).unwrap();
    let order = json(&client.post(&url, ""));
    assert_eq!(order["status"], "invalid");
    assert_eq!(order["error"]["type"], "urn:ietf:params:acme:error:caa");
}

#[test]
fn certificates_are_revoked_by_who_may() {
    let world = World::new();
    let client = Client::registered(&world);
    let url = at("revoke-cert");
    let names = ["www.example.org", "*.example.org"];
    let mut left = Vec::new();
    for _ in 0..3 {
        let key = ed25519();
        let (_, chain) = client.obtain(&names, &key);
        let der = base64url::encode(chain[0].der());
        left.push((key, format!(r#"{{"certificate":"{der}"}}"#)));
    }
    let stranger = Client::registered(&world);
    for (_, payload) in &left {
        assert_eq!(
            problem(&stranger.post(&url, payload)),
            (403, ProblemType::Unauthorized)
        );
    }
    let partly = stranger.order(&names[..1]).1;
    stranger.meet(&partly);
    assert_eq!(
        problem(&stranger.post(&url, &left[0].1)),
        (403, ProblemType::Unauthorized)
    );
    let no_key = Client::with_key(&world, Box::new(ed25519()));
    assert_eq!(
        problem(&no_key.post(&url, &left[0].1)),
        (403, ProblemType::Unauthorized)
    );
    for reason in ["2", "6", "8", "9", "10", "11", "99"] {
        let with = left[0].1.replace('}', &format!(r#","reason":{reason}}}"#));
        assert_eq!(
            problem(&client.post(&url, &with)),
            (400, ProblemType::BadRevocationReason)
        );
    }
    for bad in ["-1", "\"1\"", "1.5", "[]"] {
        let with = left[0].1.replace('}', &format!(r#","reason":{bad}}}"#));
        assert_eq!(
            problem(&client.post(&url, &with)),
            (400, ProblemType::Malformed)
        );
    }
    assert_eq!(world.ca().revoked(), 0);
    let wildcard = stranger.order(&names[1..]).1;
    stranger.meet(&wildcard);
    let by_key = Client::with_key(&world, Box::new(left[2].0.clone()));
    // Who has its names alone does not know its key.
    let compromised = left[1].1.replace('}', r#","reason":1}"#);
    assert_eq!(
        problem(&stranger.post(&url, &compromised)),
        (400, ProblemType::BadRevocationReason)
    );
    for (client, payload, reason) in [
        (&client, &left[0].1, 1),
        (&stranger, &left[1].1, 4),
        (&by_key, &left[2].1, 1),
    ] {
        let with = payload.replace('}', &format!(r#","reason":{reason}}}"#));
        let revoked = client.post(&url, &with);
        assert_eq!(revoked.status, 200, "{}", text(&revoked));
        assert_eq!(
            problem(&client.post(&url, payload)),
            (400, ProblemType::AlreadyRevoked)
        );
    }
    assert_eq!(world.ca().revoked(), 3);
}

#[test]
fn renewals_are_told_and_replace_one_certificate_once() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["www.example.org"];
    let (_, chain) = client.obtain(&names, &ed25519());
    let name = CertificateId::of(&chain[0]).unwrap().to_string();
    let answer = world.get(&format!("renewal-info/{name}"));
    assert_eq!(answer.status, 200, "{}", text(&answer));
    assert_eq!(answer.header("Retry-After"), Some("21600"));
    let window = &json(&answer)["suggestedWindow"];
    let [start, end] =
        ["start", "end"].map(|at| window[at].as_str().unwrap().parse::<Time>().unwrap());
    assert!(start < end && end < chain[0].not_after().into());
    assert_eq!(problem(&world.get("renewal-info/AA.AA")).0, 404);
    assert_eq!(problem(&world.get("renewal-info/x")).0, 400);

    let url = at("new-order");
    let replacing =
        |names: &[&str]| order_of(names).replace("]}", &format!(r#"],"replaces":"{name}"}}"#));
    let stranger = Client::registered(&world);
    assert_eq!(
        problem(&stranger.post(&url, &replacing(&names))),
        (403, ProblemType::Unauthorized)
    );
    assert_eq!(
        problem(&client.post(&url, &replacing(&["a.example"]))),
        (400, ProblemType::Malformed)
    );
    let unknown = replacing(&names).replace(&name, "AA.AA");
    assert_eq!(
        problem(&client.post(&url, &unknown)),
        (400, ProblemType::Malformed)
    );
    let first = client.post(&url, &replacing(&names));
    assert_eq!(json(&first)["replaces"], name);
    let second = client.post(&url, &replacing(&names));
    assert_eq!(problem(&second), (409, ProblemType::AlreadyReplaced));
    world.wait(8 * 24 * 3600);
    assert_eq!(client.post(&url, &replacing(&names)).status, 201);
}

#[test]
fn orders_are_listed_page_by_page() {
    let world = World::new();
    let client = Client::registered(&world);
    let orders: alloc::collections::BTreeSet<_> =
        (0..250).map(|_| client.order(&["a.example"]).0).collect();
    let account = json(&client.post(client.kid.as_ref().unwrap(), ""));
    let mut url = account["orders"].as_str().unwrap().to_owned();
    let mut seen = alloc::collections::BTreeSet::new();
    loop {
        let page = client.post(&url, "");
        for one in json(&page)["orders"].as_array().unwrap() {
            assert!(seen.insert(one.as_str().unwrap().to_owned()));
        }
        let mut links = page.headers.iter().filter(|(name, _)| *name == "Link");
        let next = links.find_map(|(_, link)| {
            let (url, relation) = link.strip_prefix('<')?.split_once('>')?;
            relation.contains("next").then(|| url.to_owned())
        });
        match next {
            Some(next) => url = next,
            None => break,
        }
    }
    assert_eq!(seen, orders);
    let stranger = Client::registered(&world);
    assert_eq!(
        problem(&stranger.post(&url, "")),
        (403, ProblemType::Unauthorized)
    );
}

#[test]
fn a_request_is_good_once() {
    let world = World::new();
    let client = Client::registered(&world);
    let url = at("new-order");
    let body = client.signed(&url, &order_of(&["a.example"]));
    let send = || world.send("POST", &url, body.as_bytes()).answer;
    assert_eq!(send().status, 201);
    let again = send();
    assert_eq!(problem(&again), (400, ProblemType::BadNonce));
    assert!(again.header("Replay-Nonce").is_some());
}
