//! What an observer sees of a kernel that runs in a proof: which operations, on which values, with which constants,
//! in which order.

extern crate alloc;
extern crate std;

use alloc::format;
use alloc::string::String;
use core::cell::Cell;
use core::fmt::Debug;
use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::thread_local;

/// How many ways there are to name values.
const NAMINGS: u64 = 4;

thread_local! {
    static NAMING: Cell<u64> = const { Cell::new(0) };
    /// A hash of what was seen so far, where somebody observes.
    static SEEN: Cell<Option<u64>> = const { Cell::new(None) };
}

/// By which numbers values go in memory: each even naming draws them anew, and the odd one after it turns these
/// around, so that of two numbers the other is the greater, and of each bit the other value is seen.
pub(super) fn naming() -> u64 {
    NAMING.get()
}

/// Adds a step to what is seen.
pub(super) fn note(step: impl Hash) {
    if let Some(seen) = SEEN.get() {
        let mut hasher = DefaultHasher::new();
        (seen, step).hash(&mut hasher);
        SEEN.set(Some(hasher.finish()));
    }
}

/// Runs a kernel with all namings. What it does, and what it gives where everybody sees it, has to be the same.
pub(super) fn observe<O: PartialEq + Debug>(run: impl Fn() -> O) -> Result<(), String> {
    let seen = |naming| {
        NAMING.set(naming);
        SEEN.set(Some(0));
        let output = run();
        NAMING.set(0);
        (SEEN.take(), output)
    };
    let (steps, output) = seen(0);
    for naming in 1..NAMINGS {
        let (other_steps, other_output) = seen(naming);
        if output != other_output {
            return Err(format!(
                "a public output depends on a secret: {output:?} or {other_output:?}"
            ));
        }
        if steps != other_steps {
            return Err("which operations there are depends on a secret".into());
        }
    }
    Ok(())
}
