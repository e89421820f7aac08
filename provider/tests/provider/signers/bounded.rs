//! What the bounds of a signer do: to whoever waits, and to handshakes.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_x509::keys::{SignError, Signer, SubjectKey};
use rustls_pq::Refusal;
use rustls_pq::sign::{BoundedSigner, Bounds, Circuit, SignerUnavailable};

use super::{Acting, Gate, PATIENCE, World, server};
use crate::peers::{Ecdsa, connect};

/// Bounds that nothing reaches.
pub(super) fn wide() -> Bounds {
    Bounds {
        timeout: PATIENCE,
        failures: u32::MAX,
        ..Bounds::default()
    }
}

pub(super) fn bounded(signer: impl Signer + 'static, bounds: Bounds) -> BoundedSigner {
    BoundedSigner::new(Arc::new(signer), bounds).unwrap()
}

/// What the bounds say, of an error that they have made; it helps to try again.
#[track_caller]
pub(super) fn unavailable(error: &SignError) -> SignerUnavailable {
    assert!(error.is_transient(), "{error}");
    *error.get_ref().downcast_ref().expect("of the bounds")
}

/// Waits until something is so.
#[track_caller]
pub(super) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn signs_on_several_threads_for_many() {
    let world = World::new();
    let key = Arc::new(Ecdsa::generate());
    let signer = Arc::new(bounded(key.clone(), wide()));
    assert_eq!(signer.spki(), key.spki());
    assert_eq!(signer.signature_algorithm(), key.signature_algorithm());
    let server = Arc::new(server(world.identity(signer.clone())));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let outcome = connect(&world.client(), &server);
                    assert_eq!(outcome.client.result, Ok(()));
                }
            });
        }
    });
    let load = signer.load();
    assert_eq!((load.waiting, load.signing, load.stuck), (0, 0, 0));
    assert_eq!(load.circuit, Circuit::Closed);
}

/// A signer that doesn't return: the handshake fails after the time that it has, and later ones succeed.
#[test]
fn time_out() {
    let world = World::new();
    let gate = Arc::new(Gate::default());
    let signer = Arc::new(bounded(
        gate.before_each(),
        Bounds {
            timeout: Duration::from_millis(50),
            ..wide()
        },
    ));
    let identity = world.identity(signer.clone());
    let server = Arc::new(server(identity));
    // On a busy machine, the time may be over before a thread takes it.
    wait_until("a signature takes too long", || {
        let began = Instant::now();
        let error = connect(&world.client(), &server).server.result.unwrap_err();
        assert!(began.elapsed() >= Duration::from_millis(50));
        let refusal = Refusal::from_signing(&error);
        refusal.contains("has not answered within")
    });
    assert_eq!(signer.load().stuck, 1);
    gate.open();
    wait_until("the thread returns", || signer.load().stuck == 0);
    // On a busy machine, a signature may take longer than that, too.
    wait_until("it signs again", || {
        connect(&world.client(), &server).server.result.is_ok()
    });
}

/// Threads that never come back take no place of others, up to their number.
#[test]
fn threads_that_are_stuck() {
    let gate = Arc::new(Gate::default());
    let asked = Arc::new(AtomicUsize::new(0));
    let stuck_twice = {
        let (gate, asked) = (gate.clone(), asked.clone());
        Acting::new(move |key: &Ecdsa, message: &[u8]| {
            if asked.fetch_add(1, Ordering::SeqCst) < 2 {
                gate.wait();
            }
            key.sign(message)
        })
    };
    let signer = bounded(
        stuck_twice,
        Bounds {
            threads: 1,
            stuck: 2,
            timeout: Duration::from_millis(20),
            ..wide()
        },
    );
    // The second may have been in the queue until its time was over.
    wait_until("two threads are stuck", || {
        let error = signer.sign(b"message");
        if let Err(error) = &error {
            let said = unavailable(error);
            assert!(
                matches!(
                    said,
                    SignerUnavailable::TimedOut { .. } | SignerUnavailable::NoThread { .. }
                ),
                "{said}"
            );
        }
        asked.load(Ordering::SeqCst) >= 2
    });
    wait_until("a third one signs", || signer.sign(b"message").is_ok());
    assert!(signer.load().stuck >= 2);
    gate.open();
    wait_until("they come back", || signer.load().stuck == 0);
    wait_until("one is left and signs", || signer.sign(b"message").is_ok());
}

/// As many are stuck as may be: nothing is signed, and nobody waits longer than the time that it has.
#[test]
fn nobody_is_left_to_sign() {
    let gate = Arc::new(Gate::default());
    let signer = bounded(
        gate.before_each(),
        Bounds {
            threads: 1,
            stuck: 0,
            timeout: Duration::from_millis(20),
            ..wide()
        },
    );
    wait_until("the only thread is stuck", || {
        unavailable(&signer.sign(b"message").unwrap_err());
        gate.asked() == 1
    });
    let error = signer.sign(b"message").unwrap_err();
    assert!(
        matches!(unavailable(&error), SignerUnavailable::NoThread { after } if after >= Duration::from_millis(20)),
        "{error}"
    );
    let load = signer.load();
    assert_eq!((load.waiting, load.signing, load.stuck), (0, 1, 0));
    gate.open();
    wait_until("it signs again", || signer.sign(b"message").is_ok());
}

#[test]
fn a_full_queue() {
    let gate = Arc::new(Gate::default());
    let signer = bounded(
        gate.before_each(),
        Bounds {
            threads: 1,
            queue: 2,
            ..wide()
        },
    );
    thread::scope(|scope| {
        let waiting = (1..=3).map(|number| {
            let thread = scope.spawn(|| signer.sign(b"message"));
            wait_until("it waits", || {
                let load = signer.load();
                load.signing == 1 && load.waiting == number - 1
            });
            thread
        });
        let waiting: Vec<_> = waiting.collect();
        // It doesn't wait at all.
        for _ in 0..3 {
            let error = signer.sign(b"message").unwrap_err();
            assert_eq!(
                unavailable(&error),
                SignerUnavailable::QueueFull { waiting: 2 }
            );
        }
        gate.open();
        for thread in waiting {
            thread.join().unwrap().unwrap();
        }
    });
    assert_eq!(signer.load().circuit, Circuit::Closed);
    signer.sign(b"message").unwrap();
}

/// Nothing waits, but whatever a free thread takes at once.
#[test]
fn no_queue() {
    let gate = Arc::new(Gate::default());
    let signer = bounded(
        gate.before_each(),
        Bounds {
            threads: 0,
            queue: 0,
            ..wide()
        },
    );
    thread::scope(|scope| {
        let first = scope.spawn(|| signer.sign(b"message"));
        wait_until("it signs", || signer.load().signing == 1);
        let error = signer.sign(b"message").unwrap_err();
        assert_eq!(
            unavailable(&error),
            SignerUnavailable::QueueFull { waiting: 0 }
        );
        gate.open();
        first.join().unwrap().unwrap();
    });
}

/// A signer that fails as long as it is told to.
fn failing(fails: &Arc<AtomicBool>, asked: &Arc<AtomicUsize>) -> impl Signer + use<> {
    let (fails, asked) = (fails.clone(), asked.clone());
    Acting::new(move |key: &Ecdsa, message: &[u8]| {
        asked.fetch_add(1, Ordering::SeqCst);
        match fails.load(Ordering::SeqCst) {
            true => Err(SignError::new("the token was taken away")),
            false => key.sign(message),
        }
    })
}

#[test]
fn the_circuit_breaker_opens() {
    let world = World::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let signer = Arc::new(bounded(
        failing(&Arc::new(AtomicBool::new(true)), &asked),
        Bounds {
            failures: 3,
            pause: 10 * PATIENCE,
            ..wide()
        },
    ));
    for number in 1..=3 {
        assert_eq!(signer.load().circuit, Circuit::Closed);
        let error = signer.sign(b"message").unwrap_err();
        // As the signer itself has said.
        assert!(!error.is_transient());
        let says = "the key did not sign: the token was taken away";
        assert_eq!(error.to_string(), says);
        assert_eq!(asked.load(Ordering::SeqCst), number);
    }
    assert_eq!(signer.load().circuit, Circuit::Open);
    let server = Arc::new(server(world.identity(signer.clone())));
    for _ in 0..10 {
        let error = connect(&world.client(), &server).server.result.unwrap_err();
        let refusal = Refusal::from_signing(&error);
        assert!(refusal.contains("several times in a row"), "{refusal}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    let error = signer.sign(b"message").unwrap_err();
    assert!(
        matches!(unavailable(&error), SignerUnavailable::CircuitOpen { again_in } if again_in > PATIENCE),
        "{error}"
    );
}

/// One signature is tried after the pause, which is over at once here, and none beside it.
#[test]
fn the_circuit_breaker_closes_after_a_trial() {
    let (fails, asked) = (
        Arc::new(AtomicBool::new(true)),
        Arc::new(AtomicUsize::new(0)),
    );
    let gate = Arc::new(Gate::default());
    let trial = {
        let (gate, fails) = (gate.clone(), fails.clone());
        let inner = failing(&fails, &asked);
        Acting {
            key: inner,
            act: move |inner: &_, message: &[u8]| {
                if !fails.load(Ordering::SeqCst) {
                    gate.wait();
                }
                Signer::sign(inner, message)
            },
        }
    };
    let signer = bounded(
        trial,
        Bounds {
            failures: 2,
            pause: Duration::ZERO,
            ..wide()
        },
    );
    for expected in [Circuit::Closed, Circuit::Open] {
        signer.sign(b"message").unwrap_err();
        assert_eq!(signer.load().circuit, expected);
    }
    // A trial that fails.
    signer.sign(b"message").unwrap_err();
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(signer.load().circuit, Circuit::Open);

    fails.store(false, Ordering::SeqCst);
    thread::scope(|scope| {
        let trial = scope.spawn(|| signer.sign(b"message"));
        wait_until("it is tried", || gate.asked() == 1);
        assert_eq!(signer.load().circuit, Circuit::HalfOpen);
        for _ in 0..3 {
            let error = signer.sign(b"message").unwrap_err();
            let again_in = Duration::ZERO;
            assert_eq!(
                unavailable(&error),
                SignerUnavailable::CircuitOpen { again_in }
            );
        }
        gate.open();
        trial.join().unwrap().unwrap();
    });
    assert_eq!(signer.load().circuit, Circuit::Closed);
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    signer.sign(b"message").unwrap();
}

#[test]
fn panics_end_no_thread() {
    let world = World::new();
    let panics = Arc::new(AtomicBool::new(true));
    let signer = {
        let panics = panics.clone();
        Acting::new(move |key: &Ecdsa, message: &[u8]| {
            assert!(!panics.load(Ordering::SeqCst), "on purpose");
            key.sign(message)
        })
    };
    let signer = Arc::new(signer);
    // On its own, and within bounds.
    let bounded = Arc::new(bounded(
        signer.clone(),
        Bounds {
            threads: 1,
            ..wide()
        },
    ));
    let signers: [Arc<dyn Signer>; 2] = [signer, bounded];
    let servers = signers.map(|signer| Arc::new(server(world.identity(signer))));
    for server in &servers {
        for _ in 0..5 {
            let error = connect(&world.client(), server).server.result.unwrap_err();
            let refusal = Refusal::from_signing(&error);
            assert!(refusal.contains("the signer panicked"), "{refusal}");
        }
    }
    panics.store(false, Ordering::SeqCst);
    for server in &servers {
        assert_eq!(connect(&world.client(), server).server.result, Ok(()));
    }
}

/// Dropping it waits for nobody, and what it held is dropped with the last thread.
#[test]
fn the_end() {
    let gate = Arc::new(Gate::default());
    let signer = Arc::new(gate.before_each());
    let held = Arc::downgrade(&signer);
    let bounded = BoundedSigner::new(
        signer,
        Bounds {
            timeout: Duration::from_millis(20),
            ..wide()
        },
    );
    let bounded = bounded.unwrap();
    wait_until("a thread is in the signer", || {
        unavailable(&bounded.sign(b"message").unwrap_err());
        gate.asked() > 0
    });
    drop(bounded);
    assert!(held.upgrade().is_some());
    gate.open();
    wait_until("the threads end", || held.upgrade().is_none());
}

/// What a refusal says of a signer.
trait FromSigning {
    fn from_signing(error: &rustls::Error) -> String;
}

impl FromSigning for Refusal {
    #[track_caller]
    fn from_signing(error: &rustls::Error) -> String {
        let config = rustls::ClientConfig::builder_with_provider(super::provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let refusal = Self::by_client(error, &config);
        assert!(matches!(refusal, Self::NotSigned { .. }), "{refusal}");
        refusal.to_string()
    }
}
