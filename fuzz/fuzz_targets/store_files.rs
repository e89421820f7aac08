//! The files around a store of keys: policies, grants, lists of tokens, heads of the log and attestations. What is read
//! is written again as the same value; no head and no attestation is valid that the store didn't sign.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::stores::{HOUSE, somebody};
use libfuzzer_sys::fuzz_target;
use pq_keys::any::AnyPublicKey;
use pq_keystore::audit::{AuditEntry, Chain, SignedHead};
use pq_keystore::door::AccessList;
use pq_keystore::policy::{Policy, Verb};
use pq_keystore::{Attestation, Scope, StoreGrants};

fuzz_target!(|input: Input<'_>| match input {
    Input::Policy(bytes) => {
        if let Ok(policy) = Policy::from_toml(&text(&bytes, POLICY)) {
            assert_eq!(Policy::from_toml(&policy.to_toml()), Ok(policy));
        }
    }
    Input::Grants(bytes) => {
        if let Ok(grants) = StoreGrants::from_toml(&text(&bytes, GRANTS)) {
            assert_eq!(
                StoreGrants::from_toml(&grants.to_toml()),
                Ok(grants.clone())
            );
            let everything = Scope::all();
            let of_all = grants.scopes().find(|(scope, _)| **scope == everything);
            let permits =
                of_all.is_some_and(|(_, grants)| grants.permits(&somebody(), Verb::Audit));
            assert_eq!(grants.permits_all(&somebody(), Verb::Audit), permits);
        }
    }
    Input::Access(bytes, token, seconds) => {
        let valid = format!(
            "[[tokens]]\nsha256 = {:?}\nprincipal = \"ci\"\nexpires = \"2027-01-31T00:00:00Z\"\n\n[[certificates]]\nsha256 = {:?}\nprincipal = \"web\"\n",
            AccessList::digest(TOKEN.as_bytes()),
            AccessList::digest(TOKEN.as_bytes()),
        );
        let text = text(&bytes, &valid);
        let Ok(access) = AccessList::from_toml(&text) else {
            return;
        };
        let now: SystemTime = UNIX_EPOCH + Duration::from_secs(seconds.into());
        for token in [token, TOKEN] {
            // The digest has to be there for anybody to come in.
            let is_there = text
                .to_lowercase()
                .contains(&AccessList::digest(token.as_bytes()));
            let found = access.by_token(token, now);
            assert!(found.is_none() || is_there && !token.is_empty());
            if let Some(seconds) = found.and_then(|found| found.seconds) {
                // And then it is known for no longer than that.
                assert!(seconds > 0);
                assert_eq!(
                    access.by_token(token, now + Duration::from_secs(seconds)),
                    None
                );
            }
            assert!(access.by_certificate(token.as_bytes(), now).is_none() || is_there);
        }
    }
    Input::Head(bytes) => {
        let valid = SIGNED.head.to_string();
        let text = text(&bytes, &valid);
        if let Ok(head) = text.parse::<SignedHead>() {
            assert_eq!(head.to_string(), text);
            assert_eq!(head.verify(&SIGNED.key).is_ok(), head == SIGNED.head);
        }
    }
    Input::Attestation(bytes) => {
        let bytes = bytes.of(&SIGNED.attestation.encode());
        if let Ok(read) = Attestation::decode(&bytes) {
            assert_eq!(read.encode(), bytes);
            assert_eq!(read.verify(&SIGNED.key).is_ok(), read == SIGNED.attestation);
        }
    }
    Input::Entry(number, bytes) => {
        let entry = &HOUSE.log[usize::from(number) % HOUSE.log.len()];
        let mut entry = entry.clone();
        let before = entry.value.clone();
        entry.value = bytes.of(&before);
        // Anything is read or refused; only what was written is followed.
        let _ = AuditEntry::decode(&entry.value);
        let mut chain = Chain::new(SIGNED.attestation.store);
        let is_changed = entry.value != before;
        for known in &HOUSE.log {
            let next = if known.sequence == entry.sequence {
                &entry
            } else {
                known
            };
            let followed = chain.follow(next);
            let is_refused = is_changed && known.sequence == entry.sequence;
            assert_eq!(followed.is_err(), is_refused);
            if is_refused {
                break;
            }
        }
    }
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Policy(Bytes<'a>),
    Grants(Bytes<'a>),
    Access(Bytes<'a>, &'a str, u32),
    Head(Bytes<'a>),
    Attestation(Bytes<'a>),
    Entry(u8, Bytes<'a>),
}

const TOKEN: &str = "hvs.a-random-token";

const POLICY: &str = r#"exportable = false
min-version = 1
min-signing-version = 2
rotate-after = "90d"
inputs = ["message", "mu", "digest"]
max-message = 1048576
when-away = "60s"
audit = "counted"
destroy-after = "30d"

[grants]
"ci" = ["sign", "verify"]
"operators" = ["manager"]
"*" = ["public"]
"#;

const GRANTS: &str = r#"["*"]
admin = ["administrator"]
somebody = ["audit", "list"]

["shop/*"]
"*" = ["public"]
ci = ["user", "create"]

["shop/tokens/*"]
web = ["sign"]
"#;

struct Signed {
    key: AnyPublicKey,
    head: SignedHead,
    attestation: Attestation,
}

static SIGNED: LazyLock<Signed> = LazyLock::new(|| {
    let storage = HOUSE.storage(&HOUSE.rows, &HOUSE.log);
    let store = HOUSE.open(storage).expect("the store as it was");
    Signed {
        key: store.public_key(),
        head: store.signed_head(&somebody()).expect("a right"),
        attestation: store.attest(&somebody(), &HOUSE.keys[0]).expect("a right"),
    }
});

/// A text from the bytes. Bytes that are not UTF-8 are refused when a file is read as a text.
fn text(bytes: &Bytes<'_>, valid: &str) -> String {
    String::from_utf8_lossy(&bytes.of(valid.as_bytes())).into_owned()
}
