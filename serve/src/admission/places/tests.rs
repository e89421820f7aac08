//! Tests of the places for connections: who gets one, who makes way for a new client, and that none is lost.

use std::net::Ipv4Addr;

use super::*;

const SHARES: Shares = Shares {
    connections: 6,
    connections_per_source: 3,
    handshakes: 4,
    handshakes_per_source: 2,
};

#[test]
fn sources() {
    for (client, source) in [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("64:ff9b::192.0.2.1", "192.0.2.1"),
        ("64:ff9b::1:c000:201", "64:ff9b::/64"),
    ] {
        let found = Source::of(client.parse().unwrap());
        assert_eq!(found.to_string(), source);
    }
    let of = |client: &str| Source::of(client.parse().unwrap());
    assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:0:1"));
    assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
}

#[tokio::test]
async fn every_end_gives_its_place_back() {
    let admission = admission();
    // It fails, completes, is pushed out and dropped, or is pushed out and then completes.
    let (failed, _) = admit(&admission, 1).await;
    let (completed, _) = admit(&admission, 1).await;
    let completed = completed.complete().unwrap();
    let (dropped, dropped_out) = admit(&admission, 1).await;
    drop(failed);
    assert_eq!(count(&admission, 1), (1, 1));
    let (late, late_out) = admit(&admission, 1).await;
    let (third, _) = admit(&admission, 1).await;
    dropped_out.wait().await;
    let (fourth, _) = admit(&admission, 1).await;
    late_out.wait().await;
    assert_eq!(count(&admission, 1), (2, 1));
    drop(dropped);
    assert!(late.complete().is_none());
    assert_eq!(count(&admission, 1), (2, 1));

    drop((third, fourth));
    assert_eq!(count(&admission, 1), (0, 1));
    drop(completed);
    let table = admission.table();
    assert!(table.handshakes.is_empty() && table.counts.is_empty());
    assert_eq!(table.established, 0);
}

#[tokio::test]
async fn a_source_keeps_to_its_share() {
    let admission = admission();
    let mut kept = Vec::new();
    for _ in 0..SHARES.connections_per_source {
        let (handshaking, _) = admit(&admission, 1).await;
        kept.push(handshaking.complete().unwrap());
    }
    assert!(admission.admit(address(1)).await.is_none());
    let _other = admit(&admission, 2).await;

    // Its handshakes count, and make way for each other.
    kept.pop();
    let (_first, first_out) = admit(&admission, 1).await;
    let (_second, second_out) = admit(&admission, 1).await;
    first_out.wait().await;
    assert_eq!(count(&admission, 1), (1, 2));
    assert_waits(second_out.wait()).await;
}

#[tokio::test]
async fn who_has_the_most_handshakes_makes_way() {
    let admission = admission();
    let (_a, a) = admit(&admission, 1).await;
    let (_b, b) = admit(&admission, 2).await;
    let (_c, c) = admit(&admission, 2).await;
    let (_d, d) = admit(&admission, 3).await;
    let (_e, e) = admit(&admission, 4).await;
    b.wait().await;
    // All have one now, and the oldest goes.
    let (_f, f) = admit(&admission, 5).await;
    a.wait().await;
    for left in [c, d, e, f] {
        assert_waits(left.wait()).await;
    }
}

#[tokio::test]
async fn handshakes_do_not_take_all_places() {
    let admission = Arc::new(Admission::new(Shares {
        handshakes: 100,
        ..SHARES
    }));
    let mut silent = Vec::new();
    for host in 0..100 {
        silent.push(admit(&admission, host).await);
        let table = admission.table();
        assert!(table.handshakes.len() <= SHARES.connections);
        assert!(table.counts.len() <= SHARES.connections);
    }
}

#[tokio::test]
async fn waits_while_nobody_can_make_way() {
    let admission = admission();
    let mut kept = Vec::new();
    for host in 0..6 {
        let (handshaking, _) = admit(&admission, host).await;
        kept.push(handshaking.complete().unwrap());
    }
    assert_waits(admission.admit(address(7))).await;
    let waiting = tokio::spawn({
        let admission = admission.clone();
        async move { admission.admit(address(7)).await.is_some() }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    kept.pop();
    assert!(waiting.await.unwrap());
}

#[tokio::test]
async fn who_is_past_the_handshake_is_not_pushed_out() {
    let admission = admission();
    let (handshaking, out) = admit(&admission, 1).await;
    let _kept = handshaking.complete().unwrap();
    let mut silent = Vec::new();
    for host in 0..20 {
        silent.push(admit(&admission, host).await);
    }
    assert_waits(out.wait()).await;
}

/// Places are taken and given back in parallel, and none is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn counts_under_load() {
    let admission = admission();
    let mut clients = tokio::task::JoinSet::new();
    for host in 0..8 {
        let admission = admission.clone();
        clients.spawn(async move {
            for round in 0..500 {
                let Some((handshaking, _)) = admission.try_admit(of(host % 4)).ok() else {
                    continue;
                };
                tokio::task::yield_now().await;
                if round % 3 > 0 {
                    let kept = handshaking.complete();
                    tokio::task::yield_now().await;
                    drop(kept);
                }
            }
        });
    }
    clients.join_all().await;
    let table = admission.table();
    assert!(table.handshakes.is_empty() && table.counts.is_empty());
    assert_eq!(table.established, 0);
}

#[test]
fn log_lines_are_few() {
    let mut limit = LogLimit::default();
    let start = Instant::now();
    assert_eq!(limit.next_line(start), Some(0));
    for second in 0..10 {
        let now = start + Duration::from_secs(second);
        assert_eq!(limit.next_line(now), None);
    }
    assert_eq!(limit.next_line(start + LogLimit::INTERVAL), Some(10));
    assert_eq!(limit.next_line(start + 2 * LogLimit::INTERVAL), Some(0));
}

fn admission() -> Arc<Admission> {
    Arc::new(Admission::new(SHARES))
}

fn address(host: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, host).into()
}

fn of(host: u8) -> Source {
    Source::of(address(host))
}

async fn admit(admission: &Arc<Admission>, host: u8) -> (Handshaking, PushedOut) {
    admission.admit(address(host)).await.expect("has a share")
}

/// Handshakes, and connections past them.
fn count(admission: &Admission, host: u8) -> (usize, usize) {
    let count = admission.table().count(of(host));
    (count.handshakes, count.established)
}

async fn assert_waits(future: impl Future) {
    let waited = tokio::time::timeout(Duration::from_millis(20), future).await;
    assert!(waited.is_err());
}

/// A proxy behind a Unix socket has all places if nobody else wants them, and loses handshakes first if somebody does.
#[tokio::test]
async fn unix_sockets_have_no_share() {
    let admission = admission();
    let mut established = Vec::new();
    for _ in 0..SHARES.connections - 1 {
        let (handshaking, _) = admission.admit(None).await.unwrap();
        established.push(handshaking.complete().unwrap());
    }
    let (_unfinished, out) = admission.admit(None).await.unwrap();
    let (_other, _) = admit(&admission, 1).await;
    out.wait().await;
    drop(established);
}

/// A connection may end between the look for its place and the wait for one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_free_place_is_missed() {
    let admission = Arc::new(Admission::new(Shares {
        connections: 1,
        connections_per_source: 1,
        handshakes: 1,
        handshakes_per_source: 1,
    }));
    let mut kept: Option<Established> = None;
    for round in 0..5_000 {
        // On another thread.
        let over = tokio::spawn(async move { drop(kept) });
        let admitted = admission.admit(address(round as u8));
        let admitted = tokio::time::timeout(Duration::from_secs(30), admitted).await;
        let (handshaking, _) = admitted.expect("the end is told").unwrap();
        kept = Some(handshaking.complete().unwrap());
        over.await.unwrap();
    }
}
