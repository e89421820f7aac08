//! Several keys, versions and pages in a store: what is said of one is not said of another.

use alloc::sync::Arc;
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_keystore::policy::{Policy, Principal};
use pq_keystore::sealing::KeyFileKek;
use pq_keystore::storage::{Change, Expected, RedbStorage, RowChange, RowPrefix, Storage, Write};
use pq_keystore::{KeyName, Store, StoreOptions};
use pq_x509::keys::KemAlgorithm;
use serde_json::Value;

use crate::folder::{Folder, Outcome};
use crate::store::make_keks;

/// Longer than anything takes, even on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn with_store() -> Folder {
    let folder = Folder::new();
    make_keks(&folder);
    run(&folder, "init").ok();
    folder
}

fn run(folder: &Folder, line: &str) -> Outcome {
    folder.pqtls(&format!("store {line} --kek-file kek"))
}

fn json(folder: &Folder, line: &str) -> Value {
    serde_json::from_str(run(folder, &format!("{line} --json")).ok()).unwrap()
}

/// Waits until so many keys are due.
#[track_caller]
fn wait_until_due(folder: &Folder, count: usize) {
    let start = Instant::now();
    while json(folder, "list --due")["keys"].as_array().unwrap().len() != count {
        assert!(start.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(50));
    }
}

/// What a command says of a version is about that one, and without a version it is about the newest that is enabled.
#[test]
fn each_version_has_its_own_state_and_key() {
    let folder = with_store();
    run(
        &folder,
        "new shop/files/app --algorithm ML-DSA-44 --grant operator=user",
    )
    .ok();
    for _ in 0..3 {
        run(&folder, "rotate shop/files/app").ok();
    }
    let public = |line: &str| {
        let written = json(&folder, &format!("public {line} --out app.pub --force"));
        (written["version"].clone(), folder.read("app.pub"))
    };
    let of_each: Vec<_> = (1..=4)
        .map(|version| public(&format!("shop/files/app#{version}")))
        .collect();
    assert_eq!(public("shop/files/app"), of_each[3]);
    for (line, state) in [
        ("disable shop/files/app#4", "disabled"),
        ("disable shop/files/app#1", "disabled"),
        (
            "schedule-destruction shop/files/app#2 --after 30d",
            "destroy-scheduled",
        ),
        ("enable shop/files/app#1", "enabled"),
        ("cancel-destruction shop/files/app#2", "disabled"),
    ] {
        let changed = json(&folder, line);
        assert_eq!(changed["state"], state, "{line}");
        assert_eq!(
            changed["destroy_at"].is_string(),
            state == "destroy-scheduled"
        );
    }
    assert_eq!(public("shop/files/app"), of_each[2]);
}

/// Overwrites the row of a key behind the store's back.
fn damage(folder: &Folder, key: &KeyName) {
    let storage = RedbStorage::open(&folder.path().join("keys.redb")).unwrap();
    let rows = storage.list(&RowPrefix::keys(), None, 100).unwrap().rows;
    let name = key.to_string();
    let (found, row) = (rows.into_iter())
        .find(|(key, _)| key.as_str().ends_with(&name))
        .unwrap();
    let change = Change {
        rows: vec![RowChange {
            expected: Expected::unchanged(Some(&row)),
            key: found,
            write: Write::Put(b"nonsense".to_vec()),
        }],
        append: None,
    };
    storage.commit(&change).unwrap();
}

/// A key that can't be rotated is told by the status, though others were; and what is damaged is not missing besides.
#[test]
fn one_of_several_keys_is_damaged() {
    let folder = with_store();
    folder.write("policy", "rotate-after = \"1s\"\n");
    for name in ["a", "b", "c"] {
        let line = format!("new shop/files/{name} --algorithm ML-DSA-44 --policy policy");
        run(&folder, &line).ok();
    }
    wait_until_due(&folder, 3);
    damage(&folder, &"shop/files/b".parse().unwrap());
    for option in ["", "--json"] {
        let listed = run(&folder, &format!("list {option}"));
        let said = listed.stderr().to_owned() + listed.stdout();
        assert_eq!(listed.status(), 1, "{said}");
        assert!(said.contains("shop/files/b"), "{said}");
        assert!(!said.contains("more key"), "{said}");
    }
    let rotated = run(&folder, "rotate --due --json");
    assert_eq!(rotated.status(), 1, "{}", rotated.stderr());
    let mut reports = serde_json::Deserializer::from_str(rotated.stdout()).into_iter();
    let json: Value = reports.next().unwrap().unwrap();
    let versions: Vec<_> = json["rotated"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["version"].clone())
        .collect();
    assert_eq!(versions, [Value::from(2), Value::Null, Value::from(2)]);
}

/// More keys than a page has, of which none on the last page is wanted.
#[test]
fn lists_have_several_pages() {
    let folder = with_store();
    folder.write("policy", "rotate-after = \"1s\"\n");
    for name in ["a", "b"] {
        let line = format!("new shop/files/{name} --algorithm ML-DSA-44 --policy policy");
        run(&folder, &line).ok();
    }
    {
        let storage = RedbStorage::open(&folder.path().join("keys.redb")).unwrap();
        let kek = KeyFileKek::read(&folder.path().join("kek")).unwrap();
        let store = Store::open(Arc::new(storage), &kek, StoreOptions::default()).unwrap();
        let operator = Principal::new("operator").unwrap();
        for number in 0..210 {
            let name = KeyName::new("shop", "mail", &format!("box-{number}")).unwrap();
            let algorithm = KemAlgorithm::MlKem512.into();
            store
                .create_key(&operator, &name, algorithm, &Policy::default())
                .unwrap();
        }
    }
    wait_until_due(&folder, 2);
    let listed = run(&folder, "list --due");
    let lines: Vec<_> = listed.ok().lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("due for rotation")));
    assert_eq!(run(&folder, "list").ok().lines().count(), 212);
    let keys = json(&folder, "list --tenant shop");
    assert_eq!(keys["keys"].as_array().unwrap().len(), 212);
    run(&folder, "rotate --due").ok();
    // Once, and not for each page.
    folder.write("policy", "rotate-after = \"300d\"\n");
    for name in ["a", "b"] {
        run(&folder, &format!("policy set shop/files/{name} policy")).ok();
    }
    assert_eq!(run(&folder, "list --due").ok(), "no keys\n");
}
