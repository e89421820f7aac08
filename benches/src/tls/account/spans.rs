//! Nested spans of time. Each is charged its own time, without that of the spans within it.

use core::cell::RefCell;
use core::time::Duration;
use std::time::Instant;

use super::Part;

/// The charges of the parts since the last [`take`], by [`Part::index`].
pub(super) type Charges = [Charge; Part::ALL.len()];

/// The time of a part.
#[derive(Clone, Copy, Default)]
pub(super) struct Charge {
    /// The time without the spans within its own.
    pub(super) time: Duration,
    /// How many spans it had.
    pub(super) spans: u32,
    /// How many spans were directly within its spans.
    pub(super) within: u32,
}

struct Ledger {
    open: Vec<Open>,
    charges: Charges,
}

struct Open {
    part: Part,
    start: Instant,
    others: Duration,
    within: u32,
}

thread_local! {
    static LEDGER: RefCell<Ledger> = RefCell::new(Ledger {
        open: Vec::with_capacity(8),
        charges: Charges::default(),
    });
}

/// Does `work` and charges a part for it.
pub(super) fn span<T>(part: Part, work: impl FnOnce() -> T) -> T {
    LEDGER.with_borrow_mut(|ledger| {
        ledger.open.push(Open {
            part,
            start: Instant::now(),
            others: Duration::ZERO,
            within: 0,
        });
    });
    let result = work();
    let end = Instant::now();
    LEDGER.with_borrow_mut(|ledger| {
        let closed = ledger.open.pop().expect("opened above");
        let time = end - closed.start;
        let charge = &mut ledger.charges[closed.part.index()];
        charge.time += time.saturating_sub(closed.others);
        charge.spans += 1;
        charge.within += closed.within;
        if let Some(around) = ledger.open.last_mut() {
            around.others += time;
            around.within += 1;
        }
    });
    result
}

/// The part that is being charged.
pub(super) fn current() -> Option<Part> {
    LEDGER.with_borrow(|ledger| Some(ledger.open.last()?.part))
}

/// The charges since the last call.
pub(super) fn take() -> Charges {
    LEDGER.with_borrow_mut(|ledger| core::mem::take(&mut ledger.charges))
}

/// The cost of a span's two clock readings, for the span itself and for the span around it.
pub(super) struct Overhead {
    pub(super) own: Duration,
    pub(super) around: Duration,
}

impl Overhead {
    pub(super) fn measure() -> Self {
        const SPANS: u32 = 100_000;

        take();
        span(Part::Rustls, || {
            for _ in 0..SPANS {
                span(Part::Random, || ());
            }
        });
        let charges = take();
        Self {
            own: charges[Part::Random.index()].time / SPANS,
            around: charges[Part::Rustls.index()].time / SPANS,
        }
    }

    /// The time of a charge without the cost of measuring it.
    pub(super) fn without(&self, charge: &Charge) -> Duration {
        let overhead = self.own * charge.spans + self.around * charge.within;
        charge.time.saturating_sub(overhead)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn a_part_is_not_charged_for_what_is_within() {
        const PAUSE: Duration = Duration::from_millis(20);

        take();
        span(Part::Rustls, || {
            sleep(PAUSE);
            span(Part::Random, || sleep(2 * PAUSE));
            span(Part::Random, || assert_eq!(current(), Some(Part::Random)));
        });
        assert_eq!(current(), None);
        let charges = take();
        let [rustls, random] = [Part::Rustls, Part::Random].map(|part| charges[part.index()]);
        assert!(
            rustls.time >= PAUSE && rustls.time < 2 * PAUSE,
            "{:?}",
            rustls.time
        );
        assert!(random.time >= 2 * PAUSE, "{:?}", random.time);
        assert_eq!((rustls.spans, rustls.within), (1, 2));
        assert_eq!((random.spans, random.within), (2, 0));
        assert_eq!(take()[Part::Random.index()].spans, 0);
    }
}
