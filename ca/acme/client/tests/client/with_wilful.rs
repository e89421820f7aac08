//! With a CA that says what it likes, refuses, or is away.

use core::time::Duration;
use std::fs;
use std::path::Path;

use pq_acme::objects::{Time, Window};
use pq_acme_client::{AcmeSource, SourceError};
use pq_x509::pki_types::UnixTime;
use tempfile::TempDir;

use crate::kit::{self, obtained, provider, served, soon};
use crate::wilful::{Manner, Wilful};

const NAME: &str = "www.example.org";

fn source(ca: &Wilful, folder: &Path) -> AcmeSource {
    kit::source(&ca.directory, NAME, folder, &ca.root)
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A window that begins and ends so many seconds from now.
fn window(begin: i64, end: i64) -> Window {
    let now = UnixTime::now().as_secs();
    let at = |seconds| Time::from_secs(now.saturating_add_signed(seconds));
    Window {
        start: at(begin),
        end: at(end),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ca_says_when_to_renew() {
    let (ca, folder) = (Wilful::start().await, folder());
    let certificates = source(&ca, folder.path()).start(provider()).await.unwrap();
    obtained(&certificates, 1).await;
    let first = served(&certificates);
    // Not yet.
    *ca.state.window.lock().unwrap() = Some(window(3600, 7200));
    let before = ca.requests();
    certificates.look();
    // The directory and what the CA says, for each of them.
    soon(async {
        while ca.requests() < before + 4 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!(served(&certificates), first);
    // Now, and once: what follows is looked at later.
    *ca.state.window.lock().unwrap() = Some(window(-7200, -3600));
    certificates.look();
    obtained(&certificates, 2).await;
    let second = served(&certificates);
    assert_eq!(second.len(), 2);
    assert!(second.iter().all(|leaf| !first.contains(leaf)));
    assert_eq!(ca.state.replaced.lock().unwrap().len(), 2);
    let requests = ca.requests();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(ca.requests(), requests);
    assert!(certificates.status().iter().all(|one| one.obtained == 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_for_other_names_or_keys_are_refused() {
    for (manner, why) in [
        (Manner::OtherName, "it is not for www.example.org"),
        (Manner::OtherKey, "it is for another key"),
    ] {
        let (ca, folder) = (Wilful::start().await, folder());
        ca.manner(manner);
        let certificates = source(&ca, folder.path()).start(provider()).await.unwrap();
        let failed = certificates.wait_for(|all| all.iter().all(|one| one.failures > 0));
        soon(failed).await;
        for one in certificates.status() {
            let said = one.last_failure.unwrap();
            assert!(said.contains(why), "{said}");
        }
        assert!(served(&certificates).is_empty());
        assert!(!folder.path().join("ml-dsa-65.pem").exists());
        // The CA comes to its senses.
        ca.manner(Manner::Honest);
        obtained(&certificates, 1).await;
        assert_eq!(served(&certificates).len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_ca_does_not_give_keeps_the_other_from_nobody() {
    let (ca, folder) = (Wilful::start().await, folder());
    ca.manner(Manner::OnlyClassical);
    let certificates = source(&ca, folder.path()).start(provider()).await.unwrap();
    soon(certificates.ready()).await;
    soon(certificates.wait_for(|all| all.iter().any(|one| one.failures > 0))).await;
    let status = certificates.status();
    assert_eq!((status[0].obtained, status[0].failures), (1, 0));
    let said = status[1].last_failure.as_ref().unwrap();
    assert!(said.contains("no use for such keys"), "{said}");
    assert_eq!(served(&certificates).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ca_that_is_away_is_waited_for() {
    let (mut ca, folder) = (Wilful::start().await, folder());
    let certificates = source(&ca, folder.path()).start(provider()).await.unwrap();
    obtained(&certificates, 1).await;
    let first = served(&certificates);
    *ca.state.window.lock().unwrap() = Some(window(-7200, -3600));
    drop(certificates);
    ca.leave().await;
    // It starts with what it has, though nobody says when to renew that.
    let certificates = source(&ca, folder.path()).start(provider()).await.unwrap();
    assert_eq!(served(&certificates), first);
    // A server without certificates tries again, less and less often.
    let other = tempfile::tempdir().unwrap();
    let pause = Duration::from_millis(100);
    let patient = source(&ca, other.path()).pauses(pause, pause * 8);
    let begun = std::time::Instant::now();
    let empty = patient.start(provider()).await.unwrap();
    soon(empty.wait_for(|all| all.iter().all(|one| one.failures >= 4))).await;
    // 100, 200 and 400 ms, each a quarter less at most.
    assert!(begun.elapsed() >= Duration::from_millis(525));
    assert!(served(&empty).is_empty());
    let said = empty.status()[0].last_failure.clone().unwrap();
    assert!(said.contains("can't be asked"), "{said}");
    // Nobody has heard of an account, so its key may still become one that the CA takes.
    assert!(!other.path().join("account.key").exists());
    ca.come().await;
    obtained(&empty, 1).await;
    certificates.look();
    obtained(&certificates, 1).await;
    assert!(
        served(&certificates)
            .iter()
            .all(|leaf| !first.contains(leaf))
    );
}

#[tokio::test]
async fn what_can_not_begin_is_told_at_once() {
    let folder = folder();
    let ca = kit::new_root();
    let root = ca.certificate();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let at = |folder: &Path| kit::source("https://localhost:1/", NAME, folder, root);
    let refused = at(&file.join("below")).start(provider()).await.unwrap_err();
    assert!(matches!(refused, SourceError::Folder { .. }), "{refused}");
    let key = folder.path().join("account.key");
    write_private(&key, "no key");
    let refused = at(folder.path()).start(provider()).await.unwrap_err();
    assert!(matches!(refused, SourceError::Account(_)), "{refused}");
    let new = |url: &str, name: &str| AcmeSource::new(url, [name], folder.path()).unwrap_err();
    let refused = new("http://ca.example/", NAME);
    assert!(matches!(refused, SourceError::Url { .. }), "{refused}");
    let refused = new("https://ca.example/", "no name");
    assert!(matches!(refused, SourceError::Name { .. }), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_no_certificates_are_replaced() {
    let (ca, folder) = (Wilful::start().await, folder());
    for name in ["ecdsa-p256.pem", "ml-dsa-65.pem"] {
        write_private(&folder.path().join(name), "half a file");
    }
    let certificates = source(&ca, folder.path()).start(provider()).await.unwrap();
    obtained(&certificates, 1).await;
    let first = served(&certificates);
    drop(certificates);
    // Those for other names are not used, either.
    let other = kit::source(&ca.directory, "other.example.org", folder.path(), &ca.root);
    let certificates = other.start(provider()).await.unwrap();
    obtained(&certificates, 1).await;
    assert!(
        served(&certificates)
            .iter()
            .all(|leaf| !first.contains(leaf))
    );
}

fn write_private(file: &Path, text: &str) {
    pq_keys::files::write_over(file, text.as_bytes(), pq_keys::files::Access::Private).unwrap();
}
