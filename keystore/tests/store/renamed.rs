//! A store's file that loses its name to another one while it is open.

use core::time::Duration;
use std::fs;
use std::thread;

use pq_keystore::policy::{Input, Policy, WhenAway};

use crate::kit::{Fixture, admin, code, name, named, user, user_policy};
use crate::places::{Place, Redb};

/// What is written to a file that has no name any more is gone with the process. Nothing is, nor is anything used that is in
/// memory, until the file is back.
#[test]
fn a_file_that_was_replaced_is_noticed() {
    let place = Redb::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    let mut policy = user_policy();
    policy.when_away = WhenAway::UseFor(Duration::from_secs(3_600));
    let made = store.create_key(&admin(), &name("k"), named("Ed25519"), &policy);
    made.unwrap();
    let sign = || code(store.sign(&user(), &name("k"), Input::message(b"x")));
    let (path, aside, other) = (
        place.path(),
        place.path().with_extension("aside"),
        place.path().with_extension("other"),
    );
    fs::copy(&path, &other).unwrap();
    let replaced: [(&str, &dyn Fn()); 2] = [
        ("other", &|| fs::rename(&other, &path).unwrap()),
        ("none", &|| fs::remove_file(&path).unwrap()),
    ];
    for (number, (case, replace)) in replaced.into_iter().enumerate() {
        assert_eq!(sign(), "done", "{case}");
        fs::hard_link(&path, &aside).unwrap();
        replace();
        let new = name(&format!("n{number}"));
        let create = || store.create_key(&admin(), &new, named("Ed25519"), &Policy::default());
        let refused = create().unwrap_err();
        assert_eq!(refused.code(), "storage-replaced", "{case}");
        assert!(!refused.retry());
        assert_eq!(code(store.rotate(&admin(), &name("k"))), "storage-replaced");
        thread::sleep(Duration::from_millis(1_500));
        assert_eq!(sign(), "storage-replaced", "{case}");
        // Once it has its name again, all is well.
        fs::rename(&aside, &path).unwrap();
        thread::sleep(Duration::from_millis(1_500));
        assert_eq!(sign(), "done", "{case}");
        create().unwrap();
    }
}

/// Where the system doesn't say which file has the name, no change is made. It can be tried again.
#[cfg(unix)]
#[test]
fn a_file_whose_name_leads_nowhere_gets_no_changes() {
    let place = Redb::new();
    let store = &Fixture::new(&place).store;
    let (path, aside) = (place.path(), place.path().with_extension("aside"));
    fs::rename(&path, &aside).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let create = || store.create_key(&admin(), &name("k"), named("Ed25519"), &Policy::default());
    let refused = create().unwrap_err();
    assert_eq!(refused.code(), "away");
    assert!(refused.retry());
    fs::rename(&aside, &path).unwrap();
    create().unwrap();
}
