//! Signers that were stuck, late or overrun: what counts as a failure, and that everything is as before once it is over.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use pq_x509::keys::{SignError, Signer};
use rustls_pq::sign::{BoundedSigner, Bounds, Circuit, SignerUnavailable};

use super::bounded::{bounded, unavailable, wait_until, wide};
use super::{Acting, Gate, PATIENCE};
use crate::peers::Ecdsa;

/// A time that is soon over.
const SOON: Duration = Duration::from_millis(50);

/// Asks for signatures, none of which comes in time, until so many are with the signer.
fn ask_in_vain(signer: &BoundedSigner, gate: &Gate, asked: usize) {
    wait_until("they are with the signer", || {
        let error = signer.sign(b"message").unwrap_err();
        let said = unavailable(&error);
        assert!(
            matches!(
                said,
                SignerUnavailable::TimedOut { .. }
                    | SignerUnavailable::NoThread { .. }
                    | SignerUnavailable::QueueFull { .. }
            ),
            "{said}"
        );
        gate.asked() == asked
    });
}

/// What takes too long is a failure, wherever it waits.
#[test]
fn time_outs_open_the_circuit_breaker() {
    let gate = Arc::new(Gate::default());
    let signer = bounded(
        gate.before_each(),
        Bounds {
            threads: 1,
            stuck: 0,
            timeout: SOON,
            failures: 3,
            pause: 10 * PATIENCE,
            ..wide()
        },
    );
    for circuit in [Circuit::Closed, Circuit::Closed, Circuit::Open] {
        unavailable(&signer.sign(b"message").unwrap_err());
        assert_eq!(signer.load().circuit, circuit);
    }
    let error = signer.sign(b"message").unwrap_err();
    assert!(
        matches!(unavailable(&error), SignerUnavailable::CircuitOpen { .. }),
        "{error}"
    );
    gate.open();
}

/// The pause begins with the failure, however long that was in coming.
#[test]
fn the_pause_begins_when_the_signer_has_failed() {
    const PAUSE: Duration = Duration::from_secs(1000);
    const SLOW: Duration = Duration::from_millis(200);
    let failed = Arc::new(Mutex::new(None));
    let slow = {
        let failed = failed.clone();
        Acting::new(move |_: &Ecdsa, _: &[u8]| {
            thread::sleep(SLOW);
            *failed.lock().unwrap() = Some(Instant::now());
            Err(SignError::new("the token was taken away"))
        })
    };
    let signer = bounded(
        slow,
        Bounds {
            failures: 1,
            pause: PAUSE,
            ..wide()
        },
    );
    signer.sign(b"message").unwrap_err();
    let error = signer.sign(b"message").unwrap_err();
    let failed: Instant = failed.lock().unwrap().unwrap();
    let since = failed.elapsed();
    let said = unavailable(&error);
    assert!(
        matches!(said, SignerUnavailable::CircuitOpen { again_in } if again_in + since >= PAUSE),
        "{said}"
    );
}

/// Whoever is refused for want of a place is no trial, which nobody would tell the end of.
#[test]
fn a_full_queue_uses_up_no_trial() {
    let gate = Arc::new(Gate::default());
    let signer = bounded(
        gate.before_each(),
        Bounds {
            threads: 1,
            queue: 0,
            stuck: 0,
            timeout: SOON,
            failures: 1,
            pause: Duration::ZERO,
        },
    );
    // A failure, which opens the breaker; its thread stays in the signer.
    ask_in_vain(&signer, &gate, 1);
    for _ in 0..2 {
        assert_eq!(signer.load().circuit, Circuit::Open);
        let error = signer.sign(b"message").unwrap_err();
        assert_eq!(
            unavailable(&error),
            SignerUnavailable::QueueFull { waiting: 0 }
        );
    }
    gate.open();
    // On a busy machine, a trial may be late, and there is another one.
    wait_until("a trial closes it", || signer.sign(b"message").is_ok());
    assert_eq!(signer.load().circuit, Circuit::Closed);
}

/// A thread that was given up has one in its place: neither do more wait, nor do more sign once it is back.
#[test]
fn there_are_as_many_threads_as_before() {
    let gate = Arc::new(Gate::default());
    let most = Arc::new(AtomicUsize::new(0));
    let counted = {
        let (gate, most) = (gate.clone(), most.clone());
        let now = AtomicUsize::new(0);
        Acting::new(move |key: &Ecdsa, message: &[u8]| {
            gate.wait();
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // So that another one would be seen beside it.
            thread::sleep(Duration::from_millis(1));
            now.fetch_sub(1, Ordering::SeqCst);
            key.sign(message)
        })
    };
    let signer = bounded(
        counted,
        Bounds {
            threads: 1,
            queue: 0,
            stuck: 1,
            timeout: SOON,
            ..wide()
        },
    );
    // The first is stuck, and the second has the only place.
    ask_in_vain(&signer, &gate, 2);
    assert_eq!((signer.load().stuck, signer.load().signing), (1, 1));
    let error = signer.sign(b"message").unwrap_err();
    assert_eq!(
        unavailable(&error),
        SignerUnavailable::QueueFull { waiting: 0 }
    );
    gate.open();
    wait_until("both come back", || {
        let load = signer.load();
        load.stuck == 0 && load.signing == 0
    });
    // Where one is late again, which it may be on a busy machine, another one rightly signs beside it.
    wait_until("all are in time", || {
        wait_until("nobody is stuck", || signer.load().stuck == 0);
        most.store(0, Ordering::SeqCst);
        let sign = || {
            let signed = (0..25).map(|_| signer.sign(b"message"));
            signed
                .filter_map(Result::err)
                .all(|error| matches!(unavailable(&error), SignerUnavailable::QueueFull { .. }))
        };
        thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(sign));
            // Each of them, so that none goes on into the next round.
            let in_time = threads.map(|one| one.join().unwrap());
            in_time.iter().all(|in_time| *in_time)
        })
    });
    assert_eq!(most.load(Ordering::SeqCst), 1);
}
