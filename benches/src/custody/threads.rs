//! One thread and two that sign at once: by the clock, since waiting for each other takes no CPU time.

use core::error::Error;
use std::thread;
use std::time::Instant;

use super::fixture::{Key, MESSAGES, Message, Stored, messages};
use super::local::Named;
use crate::timing::Passes;

/// A time is that of one signature: with two threads, of two at once, half of it.
pub(super) fn rows() -> Result<Named, Box<dyn Error>> {
    let key = Key::generate()?;
    let stored = Stored::in_memory(&key)?;
    let without = move |message: &Message| key.sign(message);
    let with = move |message: &Message| stored.sign(message);
    Ok(vec![
        ("pq-keys/1 thread", at_once(1, without.clone())),
        ("pq-keys/2 threads", at_once(2, without)),
        ("pq-keystore/1 thread", at_once(1, with.clone())),
        ("pq-keystore/2 threads", at_once(2, with)),
    ])
}

/// Passes of a number of threads, each of which signs all messages.
fn at_once(threads: usize, sign: impl Fn(&Message) + Sync + 'static) -> Passes<'static> {
    let messages = messages();
    Passes::elsewhere(threads * MESSAGES, move |passes| {
        let started = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..passes {
                        messages.iter().for_each(&sign);
                    }
                });
            }
        });
        started.elapsed()
    })
}
