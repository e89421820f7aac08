//! What signing and verifying by a store takes over the primitive: `cargo run --release -p pq-keystore --example overhead`.

extern crate alloc;

use alloc::sync::Arc;
use core::error::Error;
use core::hint::black_box;
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey};
use pq_keys::{PublicKey, SignatureAlgorithm};
use pq_keystore::policy::{Grants, Input, Policy, Principal, Role};
use pq_keystore::sealing::PassphraseKek;
use pq_keystore::storage::{MemoryStorage, Storage};
use pq_keystore::{KeyName, Store, StoreOptions};

const ROUNDS: usize = 40;
const CALLS: u32 = 250;

/// The least time of a call in each of two ways, in turns, so that both meet the same machine.
fn beside(mut one: impl FnMut(), mut other: impl FnMut()) -> (Duration, Duration) {
    let mut least = (Duration::MAX, Duration::MAX);
    let time = |act: &mut dyn FnMut()| {
        let started = Instant::now();
        for _ in 0..CALLS {
            act();
        }
        started.elapsed() / CALLS
    };
    for _ in 0..ROUNDS {
        least.0 = least.0.min(time(&mut one));
        least.1 = least.1.min(time(&mut other));
    }
    least
}

fn print(what: &str, (primitive, store): (Duration, Duration)) {
    let over = store.as_secs_f64() - primitive.as_secs_f64();
    let ratio = 100.0 * over / primitive.as_secs_f64();
    println!(
        "{what}: {primitive:.2?}, by the store {store:.2?}: {:+.2} µs, {ratio:+.1} %",
        1e6 * over
    );
}

fn measure(name: &str, storage: Arc<dyn Storage>) -> Result<(), Box<dyn Error>> {
    let (admin, user) = (Principal::new("admin")?, Principal::new("user")?);
    let kek = PassphraseKek::new(b"passphrase");
    let store = Store::create(storage, &kek, &admin, StoreOptions::default())?;
    let key: KeyName = "bench/signatures/key".parse()?;
    let mut policy = Policy::default();
    policy.grants = Grants::new().grant(&user, Role::User.verbs());
    let algorithm = AnyAlgorithm::from(SignatureAlgorithm::MlDsa65);
    let private = AnyPrivateKey::generate(algorithm)?;
    store.import_key(&admin, &key, &private, &policy)?;
    let public = match private.public_half() {
        AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) => AnyPublicKey::from(key.expand()),
        other => other,
    };
    let private = AnySigningKey::try_from(private)?;
    // Signing takes another time for each message, so both sign the same ones.
    let message = |number: u32| number.to_be_bytes();
    let (mut one, mut other) = (0, 0);
    let signing = beside(
        || {
            one += 1;
            drop(black_box(private.sign(&message(one))));
        },
        || {
            other += 1;
            drop(black_box(store.sign(
                &user,
                &key,
                Input::message(&message(other)),
            )));
        },
    );
    print(&format!("{name}: sign"), signing);
    let signed = store.sign(&user, &key, Input::message(b"message"))?;
    let version = Some(signed.id.version());
    let verifying = beside(
        || drop(black_box(public.verify(b"message", &signed.signature))),
        || {
            let input = Input::message(b"message");
            drop(black_box(store.verify(
                &user,
                &key,
                version,
                input,
                &signed.signature,
            )));
        },
    );
    print(&format!("{name}: verify"), verifying);
    for threads in [1, 2] {
        let started = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for number in 0..10_000 {
                        drop(black_box(store.sign(
                            &user,
                            &key,
                            Input::message(&message(number)),
                        )));
                    }
                });
            }
        });
        let rate = f64::from(threads * 10_000) / started.elapsed().as_secs_f64();
        println!("{name}: {threads} threads sign {rate:.0} times a second");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    measure("memory", Arc::new(MemoryStorage::new()))?;
    #[cfg(feature = "redb")]
    {
        use pq_keystore::storage::RedbStorage;

        let path = std::env::temp_dir().join(format!("overhead-{}.redb", std::process::id()));
        measure("redb", Arc::new(RedbStorage::create(&path)?))?;
        std::fs::remove_file(path)?;
    }
    Ok(())
}
