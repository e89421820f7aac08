//! That hostile costs are refused before any work.

use core::time::Duration;
use std::time::Instant;

/// Checks that something is refused before it has cost more than microseconds. On a busy machine one try may wait
/// longer than a tenth of a second; the fastest of several tries doesn't.
///
/// # Panics
/// If it has.
pub fn refused_at_once<E>(refuse: impl Fn() -> E) -> E {
    let tries = (0..5).map(|_| {
        let start = Instant::now();
        let refusal = refuse();
        (start.elapsed(), refusal)
    });
    let (took, refusal) = tries.min_by_key(|(took, _)| *took).expect("several tries");
    assert!(took < Duration::from_millis(100));
    refusal
}
