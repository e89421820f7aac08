//! Revocation lists: when they are made, by whom, and what caches are told.

use std::fs;
use std::thread;

use pq_ca::ledger::Ledger;
use pq_ca_server::{Clock, Doors, ListSettings, Settings};
use pq_x509::revocation::CertificateRevocationList;

use crate::asking::Answer;
use crate::made::{Served, published};

const PATH: &str = "/lists/issuing.crl";

#[track_caller]
fn list(answer: &Answer) -> CertificateRevocationList {
    assert_eq!(answer.status(), 200, "{}", answer.head);
    answer.has("content-type", "application/pkix-crl");
    CertificateRevocationList::from_der(&answer.body).unwrap()
}

#[track_caller]
fn keep(doors: &Doors) {
    let failed = doors.keep_lists();
    assert!(failed.is_empty(), "{failed:?}");
}

fn number(list: &CertificateRevocationList) -> u64 {
    let digits = list.number().unwrap().iter();
    digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[tokio::test]
async fn they_are_made_when_they_are_due() {
    let served = Served::start().await;
    assert_eq!(served.get(PATH, "").await.status(), 404);
    keep(&served.doors);
    let first = served.get(PATH, "").await;
    assert_eq!(number(&list(&first)), 1);
    first.has(
        "cache-control",
        "max-age=3600, public, no-transform, must-revalidate",
    );
    let etag = first.field("etag").unwrap();
    let known = format!("If-None-Match: {etag}\r\n");
    assert_eq!(served.get(PATH, &known).await.status(), 304);
    // It is also where certificates say.
    assert_eq!(served.get("/crl/issuing.crl", "").await.body, first.body);
    let certificate = served.issue("a");
    served.revoke(&certificate);
    served.time.pass(3599);
    keep(&served.doors);
    assert_eq!(served.get(PATH, "").await.body, first.body);
    served.time.pass(1);
    keep(&served.doors);
    let next = served.get(PATH, &known).await;
    let next = list(&next);
    assert_eq!(number(&next), 2);
    assert!(next.entry_for(&certificate).is_some());
    assert_eq!(
        fs::read(served.path("lists/issuing.crl")).unwrap(),
        next.der().as_ref()
    );
}

/// Other doors of the same CA in the same folder, as another process has them.
fn others(served: &Served, folder: &str) -> Doors {
    let mut settings = Settings::default();
    let time = served.time.clone();
    settings.clock = Clock::new(move || time.now());
    settings.lists = Some(ListSettings::in_folder(served.path(folder)));
    Doors::new(published(&served.ca), settings)
}

#[tokio::test]
async fn of_many_processes_one_makes_each() {
    let served = Served::start().await;
    let all: Vec<_> = (0..8).map(|_| others(&served, "lists")).collect();
    for round in 1..=5 {
        thread::scope(|scope| {
            for doors in &all {
                scope.spawn(|| keep(doors));
            }
        });
        // Whoever had no turn looks again.
        keep(&served.doors);
        let list = list(&served.get(PATH, "").await);
        assert_eq!(number(&list), round);
        served.time.pass(3600);
    }
    // A new process has what is there.
    let later = others(&served, "lists");
    served.time.pass(0);
    keep(&later);
    keep(&later);
    assert_eq!(number(&list(&served.get(PATH, "").await)), 5);
}

#[tokio::test]
async fn a_later_list_of_others_is_followed_by_a_later_one() {
    let served = Served::start().await;
    keep(&served.doors);
    // Another machine has a folder of its own.
    keep(&others(&served, "other-machine"));
    let made = served.ca.revocation_list(served.time.now(), None).unwrap();
    assert_eq!(number(&made), 3);
    served.time.pass(3600);
    keep(&served.doors);
    assert_eq!(number(&list(&served.get(PATH, "").await)), 4);
    // It is confirmed, so nothing later was.
    let ledger = served.ca.ledger();
    ledger.check_list("issuing", 4).unwrap();
}

#[tokio::test]
async fn what_is_no_list_of_the_key_is_replaced() {
    let served = Served::start().await;
    let other = Served::start().await;
    keep(&other.doors);
    fs::create_dir(served.path("lists")).unwrap();
    let foreign = fs::read(other.path("lists/issuing.crl")).unwrap();
    for (expected, content) in [(1, &b"nonsense"[..]), (2, &foreign), (3, b"")] {
        fs::write(served.path("lists/issuing.crl"), content).unwrap();
        // A new process, which has published nothing yet
        let doors = others(&served, "lists");
        keep(&doors);
        keep(&served.doors);
        served.time.pass(3600);
        let file = fs::read(served.path("lists/issuing.crl")).unwrap();
        let list = CertificateRevocationList::from_der(&file).unwrap();
        assert_eq!(number(&list), expected);
        assert!(
            list.verify_signature(served.ca.issuer().certificate(), &[])
                .is_ok()
        );
    }
}

#[tokio::test]
async fn the_last_one_is_given_while_no_other_can_be_made() {
    let served = Served::start().await;
    keep(&served.doors);
    let first = served.get(PATH, "").await;
    // A clock that jumped: the ledger refuses.
    served.time.pass(500 * 24 * 60 * 60);
    let failed = served.doors.keep_lists();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].0, "issuing");
    let last = served.get(PATH, "").await;
    assert_eq!(last.body, first.body);
    last.has(
        "cache-control",
        "max-age=0, public, no-transform, must-revalidate",
    );
}
