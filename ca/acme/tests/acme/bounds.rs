//! What holds up to a limit or a time, and no further: each of them is reached exactly, and passed by one.

use core::time::Duration;

use pq_acme::jws;
use pq_acme::problem::ProblemType;
use pq_acme::store::Store;

use crate::kit::{Client, World, at, csr, ed25519, json, order_of, problem, text};
use crate::meanwhile::id;

const DAY: u64 = 24 * 3600;

fn status(client: &Client<'_>, url: &str) -> String {
    json(&client.post(url, ""))["status"]
        .as_str()
        .unwrap()
        .into()
}

/// The URL of the first authorization of an order, and that of its first challenge.
fn first(client: &Client<'_>, order: &serde_json::Value) -> (String, String) {
    let authorization = order["authorizations"][0].as_str().unwrap();
    let shown = json(&client.post(authorization, ""));
    let challenge = shown["challenges"][0]["url"].as_str().unwrap();
    (authorization.into(), challenge.into())
}

#[test]
fn orders_and_authorizations_end_at_their_second() {
    let world = World::new();
    let client = Client::registered(&world);
    let (ready, order) = client.order(&["a.example"]);
    client.meet(&order);
    let valid = order["authorizations"][0].as_str().unwrap();
    let (pending, order) = client.order(&["b.example"]);
    let waiting = order["authorizations"][0].as_str().unwrap();
    let all = || [&*ready, valid, &*pending, waiting].map(|url| status(&client, url));
    world.wait(7 * DAY - 1);
    assert_eq!(all(), ["ready", "valid", "pending", "pending"]);
    world.wait(1);
    assert_eq!(all(), ["invalid", "valid", "invalid", "expired"]);
    world.wait(23 * DAY - 1);
    assert_eq!(status(&client, valid), "valid");
    world.wait(1);
    assert_eq!(status(&client, valid), "expired");
}

#[test]
fn what_is_seen_at_the_end_of_an_authorization_is_too_late() {
    for (early, expected) in [(1, "valid"), (0, "expired")] {
        let world = World::new();
        let client = Client::registered(&world);
        let order = client.order(&["a.example"]).1;
        let (authorization, challenge) = first(&client, &order);
        let work = client.post_for(&challenge, "{}").work;
        world.wait(6 * 3600 - early);
        assert_eq!(world.work(work), 1);
        assert_eq!(status(&client, &authorization), expected);
    }
}

/// Its order may yet be finalized.
#[test]
fn a_valid_authorization_does_not_end_earlier_than_before() {
    let world = World::set(|settings| settings.authorization_lifetime = Duration::from_secs(60));
    let client = Client::registered(&world);
    let (url, order) = client.order(&["a.example"]);
    let (authorization, _) = first(&client, &order);
    let ends = || json(&client.post(&authorization, ""))["expires"].clone();
    let before = ends();
    client.meet(&order);
    assert_eq!(ends(), before);
    world.wait(7 * DAY - 1);
    assert_eq!(status(&client, &url), "ready");
}

#[test]
fn an_authorization_is_used_for_orders_that_end_with_it() {
    let world = World::new();
    let client = Client::registered(&world);
    let order = client.order(&["a.example"]).1;
    client.meet(&order);
    world.wait(23 * DAY);
    let again = client.order(&["a.example"]).1;
    assert_eq!(again["authorizations"], order["authorizations"]);
    world.wait(1);
    let other = client.order(&["a.example"]).1;
    assert_ne!(other["authorizations"], order["authorizations"]);
    assert_eq!(other["status"], "pending");
}

#[test]
fn work_is_due_at_its_second() {
    let world = World::new();
    let client = Client::registered(&world);
    let order = client.order(&["a.example"]).1;
    let (authorization, _) = first(&client, &order);
    let shown = json(&client.post(&authorization, ""));
    for challenge in shown["challenges"].as_array().unwrap() {
        client.post(challenge["url"].as_str().unwrap(), "{}");
        world.wait(1);
    }
    // They began 3, 2 and 1 seconds ago.
    world.wait(30 - 4);
    let due = || world.server.take_up(world.now(), 10).unwrap().len();
    assert_eq!(due(), 0);
    for _ in 0..3 {
        world.wait(1);
        assert_eq!(due(), 1);
    }
    world.wait(29 - 2);
    assert_eq!(due(), 0);
    world.wait(1);
    assert_eq!(due(), 1);
}

#[test]
fn authorizations_that_are_over_revoke_nothing() {
    let world = World::new();
    let holder = Client::registered(&world);
    let (_, chain) = holder.obtain(&["a.example"], &ed25519());
    let der = pq_jose::encoding::base64url::encode(chain[0].der());
    let wish = format!(r#"{{"certificate":"{der}"}}"#);
    let other = Client::registered(&world);
    other.meet(&other.order(&["a.example"]).1);
    world.wait(30 * DAY);
    let refused = other.post(&at("revoke-cert"), &wish);
    assert_eq!(problem(&refused), (403, ProblemType::Unauthorized));
    other.meet(&other.order(&["a.example"]).1);
    world.wait(30 * DAY - 1);
    let revoked = other.post(&at("revoke-cert"), &wish);
    assert_eq!(revoked.status, 200, "{}", text(&revoked));
}

#[test]
fn an_account_has_as_many_contacts_as_it_may() {
    let world = World::set(|settings| settings.max_contacts = 2);
    let client = Client::registered(&world);
    let kid = client.kid.as_ref().unwrap();
    // The longest contact has 256 bytes: labels of a domain have 63 at most.
    let label = |len| "x".repeat(len);
    let long = |len: usize| {
        let domain = format!("{0}.{0}.{0}.{1}", label(62), label(len - 7 - 2 - 3 * 63));
        format!("mailto:a@{domain}")
    };
    let change = |contacts: &[String]| {
        let contacts = contacts.join("\",\"");
        client.post(kid, &format!(r#"{{"contact":["{contacts}"]}}"#))
    };
    assert_eq!([long(256).len(), long(257).len()], [256, 257]);
    for contacts in [vec![long(256), long(255)], vec![long(256)]] {
        let changed = change(&contacts);
        assert_eq!(changed.status, 200, "{}", text(&changed));
        assert_eq!(
            json(&changed)["contact"].as_array().unwrap().len(),
            contacts.len()
        );
    }
    for contacts in [vec![long(256), long(257)], vec![long(250); 3]] {
        let refused = change(&contacts);
        assert_eq!(problem(&refused), (400, ProblemType::InvalidContact));
    }
}

#[test]
fn an_order_has_as_many_names_as_it_may_and_a_period() {
    let world = World::set(|settings| settings.max_identifiers = 2);
    let client = Client::registered(&world);
    client.order(&["a.example", "b.example"]);
    let wish = order_of(&["a.example", "b.example", "c.example"]);
    let refused = client.post(&at("new-order"), &wish);
    assert_eq!(problem(&refused), (400, ProblemType::Malformed));
    let wish = |end: &str| {
        let period = format!(r#"],"notBefore":"2030-01-01T00:00:00Z","notAfter":"{end}"}}"#);
        order_of(&["a.example"]).replace("]}", &period)
    };
    for (end, expected) in [("2030-01-01T00:00:00Z", 400), ("2030-01-01T00:00:01Z", 201)] {
        let answer = client.post(&at("new-order"), &wish(end));
        assert_eq!(answer.status, expected, "{}", text(&answer));
    }
}

#[test]
fn a_request_is_as_long_as_it_may_be() {
    let world = World::new();
    let client = Client::registered(&world);
    let url = at("new-order");
    for (more, expected) in [(0, 201), (1, 413)] {
        let body = client.signed(&url, &order_of(&["a.example"]));
        let spaces = " ".repeat(jws::MAX_BODY_LEN + more - body.len());
        let answer = world.send("POST", &url, format!("{body}{spaces}").as_bytes());
        assert_eq!(answer.answer.status, expected, "{}", text(&answer.answer));
    }
}

/// The list has those that may yet have a certificate, and those that have one.
#[test]
fn orders_that_came_to_nothing_are_not_listed() {
    let world = World::new();
    let client = Client::registered(&world);
    let (given_up, order) = client.order(&["a.example"]);
    let (authorization, _) = first(&client, &order);
    client.post(&authorization, r#"{"status":"deactivated"}"#);
    assert_eq!(status(&client, &given_up), "invalid");
    let (pending, _) = client.order(&["b.example"]);
    let (valid, order) = client.order(&["c.example"]);
    client.meet(&order);
    let work = client
        .finalize(&order, &csr(&["c.example"], &ed25519()))
        .work;
    world.work(work);
    let orders = format!("{}/orders", client.kid.as_ref().unwrap());
    let listed = json(&client.post(&orders, ""))["orders"].clone();
    let mut listed: Vec<_> = listed.as_array().unwrap().iter().collect();
    listed.sort_by_key(|url| url.as_str().map(str::to_owned));
    let mut expected = [pending, valid];
    expected.sort();
    assert_eq!(listed, expected.each_ref());
    let store = world.server.store();
    let account = id(client.kid.as_ref().unwrap());
    assert_eq!(store.orders_of(&account, None, 10).unwrap().len(), 3);
}
