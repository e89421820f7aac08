//! How much clients may do: what is refused, what it says, and when it is possible again.

use core::time::Duration;

use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{Answer, Work};
use pq_acme::store::{MemoryStore, Most, Store};

use crate::kit::{Ca, Client, World, at, csr, ed25519, json, order_of, problem, text};

fn limited(most: Option<u32>, undecided: Option<Most>) -> World {
    let mut ca = Ca::new();
    ca.most = most;
    ca.undecided = undecided;
    World::with(ca)
}

/// A refusal of what was done too often, which says this and when it is possible again.
fn refused(answer: &Answer, says: &str, after: Option<&str>) {
    assert_eq!(problem(answer), (429, ProblemType::RateLimited));
    let told = text(answer);
    assert!(told.contains(says), "{told}");
    assert_eq!(
        told.contains("try again after 20"),
        after.is_some(),
        "{told}"
    );
    assert_eq!(answer.header("Retry-After"), after);
}

#[test]
fn accounts_and_orders_are_counted() {
    let world = limited(Some(2), None);
    let first = Client::registered(&world);
    Client::registered(&world);
    let register = |client: &Client<'_>| client.post(&at("new-account"), "{}");
    let third = Client::new(&world);
    world.wait(40);
    refused(
        &register(&third),
        "new accounts: 2 in 100 seconds are the most",
        Some("60"),
    );
    // Who has an account finds it, and one that is refused for another reason is not counted.
    let known = Client::with_key(&world, Box::new(ed25519()));
    assert_eq!(register(&known).status, 429);
    world.wait(60);
    let refused_contact = r#"{"contact":["mailto:refused@example.org"]}"#;
    assert_eq!(third.post(&at("new-account"), refused_contact).status, 403);
    assert_eq!(register(&third).status, 201);
    assert_eq!(register(&known).status, 201);
    assert_eq!(register(&third).status, 200);

    first.order(&["a.example.org"]);
    let no = first.post(&at("new-order"), &order_of(&["refused.example.org"]));
    assert_eq!(no.status, 400);
    first.order(&["a.example.org"]);
    let order = || first.post(&at("new-order"), &order_of(&["b.example.org"]));
    refused(&order(), "new orders of the account", Some("100"));
    world.wait(100);
    assert_eq!(order().status, 201);
}

/// Begins the first challenge of an order, and lets it fail.
fn fail(client: &Client<'_>, order: &serde_json::Value) -> Answer {
    let authorization = order["authorizations"][0].as_str().unwrap();
    let authorization = json(&client.post(authorization, ""));
    let challenge = authorization["challenges"][0]["url"].as_str().unwrap();
    let outcome = client.post_for(challenge, "{}");
    if let Some(Work::Validate(work)) = &outcome.work {
        let no = || Err(Problem::unauthorized("not so"));
        let server = &client.world.server;
        server.validated(work, no(), client.world.now()).unwrap();
        // Another replica says the same, which counts once.
        server.validated(work, no(), client.world.now()).unwrap();
    }
    outcome.answer
}

#[test]
fn failed_validations_are_counted() {
    let world = limited(Some(3), None);
    let client = Client::registered(&world);
    let name = ["a.example.org"];
    let orders = [(); 3].map(|()| client.order(&name).1);
    world.wait(100);
    let last = client.order(&name).1;
    for order in &orders {
        assert_eq!(fail(&client, order).status, 200);
    }
    let says = "failed validations of a.example.org for";
    refused(&fail(&client, &last), says, Some("100"));
    let order = |names: &[&str]| client.post(&at("new-order"), &order_of(names));
    refused(
        &order(&["*.a.example.org", "a.example.org"]),
        says,
        Some("100"),
    );
    // Neither other names nor other accounts have to wait.
    assert_eq!(order(&["b.example.org"]).status, 201);
    Client::registered(&world).order(&name);
    world.wait(100);
    assert_eq!(fail(&client, &last).status, 200);
}

#[test]
fn what_is_undecided_is_bounded() {
    let most = Most {
        orders: 3,
        authorizations: 5,
    };
    let world = limited(None, Some(most));
    let client = Client::registered(&world);
    let order = |names: &[&str]| client.post(&at("new-order"), &order_of(names));
    let six = ["a.x", "b.x", "c.x", "d.x", "e.x", "f.x"];
    refused(&order(&six), "order fewer names", None);
    let (_, first) = client.order(&["a.x", "b.x", "c.x"]);
    world.wait(10);
    let after = (7 * 24 * 3600 - 10).to_string();
    refused(
        &order(&["d.x", "e.x", "f.x"]),
        "there are 3, the order needs 3, and 5",
        Some(&after),
    );
    let (_, second) = client.order(&["d.x"]);
    let (_, third) = client.order(&["e.x"]);
    client.meet(&first);
    refused(
        &order(&["f.x"]),
        "pending orders of the account: there are 3",
        Some(&after),
    );
    // One that has its certificate, and one that came to nothing, make room.
    let done = client.finalize(&first, &csr(&["a.x", "b.x", "c.x"], &ed25519()));
    world.work(done.work);
    client.order(&["a.x"]);
    assert_eq!(order(&["f.x"]).status, 429);
    fail(&client, &second);
    client.order(&["f.x"]);
    assert_eq!(order(&["g.x"]).status, 429);
    // The third one is as it was, and all end some day.
    client.meet(&third);
    world.wait(7 * 24 * 3600);
    client.order(&["g.x"]);
}

/// Whoever may ask as often as he likes: what he leaves behind goes, some time after its end.
#[test]
fn what_strangers_leave_behind_goes() {
    let keep = Duration::from_secs(1000);
    let kept = World::on(MemoryStore::new().keeping(keep), Ca::new());
    let stranger = Client::registered(&kept);
    let (_, order) = stranger.order(&["a.example.org"]);
    for _ in 0..2000 {
        stranger.order(&["a.example.org"]);
    }
    let account = stranger.kid.clone().unwrap();
    let ended = stranger.post(&account, r#"{"status":"deactivated"}"#);
    assert_eq!(ended.status, 200);
    let id = account.rsplit('/').next().unwrap();
    let orders = || {
        kept.server
            .store()
            .orders_of(id, None, 10_000)
            .unwrap()
            .len()
    };
    assert_eq!(orders(), 2001);
    assert_eq!(kept.server.tidy(kept.now()).unwrap(), 0);
    kept.wait(7 * 24 * 3600 + 1001);
    let authorization = order["authorizations"][0].as_str().unwrap();
    let authorization = authorization.rsplit('/').next().unwrap();
    assert!(
        kept.server
            .store()
            .authorization(authorization)
            .unwrap()
            .is_some()
    );
    assert_eq!(kept.server.tidy(kept.now()).unwrap(), 2 * 2001 + 1);
    assert_eq!(orders(), 0);
    assert!(
        kept.server
            .store()
            .authorization(authorization)
            .unwrap()
            .is_none()
    );
    assert!(kept.server.store().account(id).unwrap().is_none());
    kept.server.check_store(kept.now()).unwrap();
}
