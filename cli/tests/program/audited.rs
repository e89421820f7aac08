//! `pqtls ca audit`: what was done with a CA, and that nothing of it was changed.

use std::fs;

use sha2::{Digest, Sha256};

use crate::folder::Folder;

#[test]
fn a_ca_tells_who_had_it_do_what() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --out a.pem --by alice")
        .ok();
    folder.pqtls("ca audit --new-head ca.head").ok();
    folder
        .pqtls("ca revoke a.pem --reason certificateHold --by bob")
        .ok();
    folder.pqtls("ca reinstate a.pem --by carol").ok();
    folder.pqtls("ca crl --out ca.crl").ok();
    let audited = folder.pqtls("ca audit --head ca.head");
    let shown = audited.ok();
    let policy = fs::read(folder.path().join("ca/policy.toml")).unwrap();
    let policy = Sha256::digest(policy);
    let policy: String = policy.iter().map(|byte| format!("{byte:02x}")).collect();
    for words in [
        " alice issued ",
        ", a.example.org (server), policy ",
        &policy,
        " bob revoked ",
        ": certificateHold",
        " carol reinstated ",
        " list-begun 1 of issuing",
        " list-written 1 of issuing",
        ", and lead to the head of number 2 that was kept.",
    ] {
        assert!(shown.contains(words), "{words:?} in {shown}");
    }
    let entry = folder.pqtls("ca show a.pem");
    assert!(
        entry
            .ok()
            .contains(&format!("policy        {policy} (pq-ca "))
    );
    // Another CA's head, one from later on, and what is none.
    folder
        .pqtls("ca init --name Other --dns example.org --algorithm ML-DSA-44 --dir other")
        .ok();
    folder
        .pqtls("ca audit --new-head other.head --dir other")
        .ok();
    let other = "the ledger's events don't lead to the head that was kept";
    folder.pqtls("ca audit --head other.head").fails(1, other);
    folder
        .pqtls("ca audit --head other.head --json")
        .fails(1, other);
    folder
        .pqtls("ca audit --head other.head --new-head new.head")
        .fails(1, other);
    assert!(!folder.path().join("new.head").exists());
    folder
        .pqtls("ca audit --head ca.head --dir other")
        .fails(1, other);
    fs::write(folder.path().join("none"), "pq-ca ledger head 1\n").unwrap();
    folder
        .pqtls("ca audit --head none")
        .fails(3, "it is no head of a ledger");
    folder
        .pqtls("ca audit --new-head ca.head")
        .fails(3, "ca.head");
    folder.pqtls("ca audit --new-head ca.head --force").ok();
    folder.pqtls("ca audit --head ca.head").ok();
}
