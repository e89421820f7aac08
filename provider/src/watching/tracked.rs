//! Decides what to do with files that are looked at again and again: whether to read them, and whether their content is
//! new, incomplete or already refused.

use core::mem;
use core::time::Duration;
use std::time::Instant;

/// The state of files that are watched: whether their content is the one in use. `T` is what the system
/// says of them without reading them, such as [`FileTraits`](super::FileTraits).
///
/// A stamp stands for content: a hash of it, keyed if the content is secret.
#[derive(Debug)]
pub struct Tracked<T> {
    /// Stands for the content that is in use, if there is any.
    in_use: Option<u64>,
    last: Last,
    /// Whether it was reported that something can't be used, and nothing better came since.
    is_reported: bool,
    /// What the system said of the content that was read last.
    traits: Option<T>,
    /// When files with these traits were first read, and when they were read last.
    read: [Instant; 2],
}

/// How long after a file was written it can be written again without a change of anything but its
/// content. FAT counts in steps of two seconds; others in one second or in milliseconds.
pub(crate) const TICK: Duration = Duration::from_secs(5);

/// What the last look found. A stamp stands for the content of all files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Last {
    /// The content in use.
    InUse,
    /// Other content, for the first time.
    Changed(u64),
    /// Content that was refused, and reported.
    Refused(u64),
    /// Content that was reported, and is to be tried again.
    Postponed(u64),
    /// No content, which was reported.
    Unreadable,
}

/// What to do with the content that was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Seen {
    /// It is in use.
    Same,
    /// It is in use, after something was reported that can't be used: what was reported is over.
    Restored,
    /// It was refused before, or may not be completely written.
    NotYet,
    /// It is to be taken over, or refused.
    New,
}

impl<T: PartialEq> Tracked<T> {
    /// The state of files that were read from `start` until now, and are not in use yet.
    pub fn read(stamp: u64, traits: T, start: Instant) -> Self {
        Self {
            in_use: None,
            last: Last::Changed(stamp),
            is_reported: false,
            traits: Some(traits),
            read: [Instant::now(), start],
        }
    }

    /// The state of files that can't be read, which was reported.
    pub fn unreadable() -> Self {
        Self {
            in_use: None,
            last: Last::Unreadable,
            is_reported: true,
            traits: None,
            read: [Instant::now(); 2],
        }
    }

    /// Notes that the files were read from `start` until now. Changed content counts at once if
    /// `is_complete`, and otherwise if the last look found it as well.
    pub fn saw(&mut self, stamp: u64, traits: T, start: Instant, is_complete: bool) -> Seen {
        if self.traits.replace(traits) != self.traits {
            // Not `start`: the file may have been written while the reader waited for it.
            self.read[0] = Instant::now();
        }
        self.read[1] = start;

        if self.in_use == Some(stamp) {
            self.last = Last::InUse;
            return match mem::take(&mut self.is_reported) {
                true => Seen::Restored,
                false => Seen::Same,
            };
        }
        match self.last {
            _ if is_complete => Seen::New,
            Last::Refused(before) if before == stamp => Seen::NotYet,
            Last::Changed(before) | Last::Postponed(before) if before == stamp => Seen::New,
            _ => {
                self.last = Last::Changed(stamp);
                Seen::NotYet
            }
        }
    }

    /// Notes that the files can't be read. Returns whether to report it.
    pub fn failed(&mut self, is_complete: bool) -> bool {
        let is_known = self.last == Last::Unreadable;
        self.last = Last::Unreadable;
        self.is_reported = true;
        self.traits = None;
        is_complete || !is_known
    }

    /// Notes that the content with this stamp is in use from now on.
    pub fn take(&mut self, stamp: u64) {
        self.in_use = Some(stamp);
        self.last = Last::InUse;
        self.is_reported = false;
    }

    /// Notes that the content with this stamp can't be used.
    pub fn refuse(&mut self, stamp: u64) {
        self.last = Last::Refused(stamp);
        self.is_reported = true;
    }

    /// Notes that the content with this stamp can't be used yet: each look finds it as new. Returns whether to report it.
    pub fn postpone(&mut self, stamp: u64, is_complete: bool) -> bool {
        let is_known = self.last == Last::Postponed(stamp);
        self.last = Last::Postponed(stamp);
        self.is_reported = true;
        is_complete || !is_known
    }

    /// Notes that the files are for another identity from now on, which may take content that was
    /// refused before.
    pub fn start_over(&mut self) {
        let seen = match self.last {
            Last::InUse => self.in_use,
            Last::Changed(seen) | Last::Refused(seen) | Last::Postponed(seen) => Some(seen),
            Last::Unreadable => None,
        };
        self.in_use = None;
        if let Some(seen) = seen {
            self.last = Last::Changed(seen);
        }
    }

    /// Whether the files are certainly unchanged since they were read last, and nothing is pending.
    /// `look` is asked for their traits only if needed.
    pub fn is_as_read(&self, look: impl FnOnce() -> Option<T>) -> bool {
        let [first, last] = self.read;
        !matches!(self.last, Last::Changed(_) | Last::Postponed(_))
            && last.saturating_duration_since(first) > TICK
            && self.traits.is_some()
            && self.traits == look()
    }
}

#[cfg(test)]
impl<T> Tracked<T> {
    /// Makes files with these traits look unchanged.
    pub(crate) fn pretend(&mut self, traits: T) {
        self.traits = Some(traits);
    }

    /// Pretends that the files had been unchanged for so long when they were read last.
    pub(crate) fn read_for(&mut self, long: Duration) {
        let [first, last] = &mut self.read;
        *last = *first + long;
    }

    pub(crate) fn times(&self) -> [Instant; 2] {
        self.read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Duration = Duration::from_secs(60);

    /// Files that are certainly unchanged aren't read, so that many files take little CPU time.
    #[test]
    fn what_is_as_it_was_is_not_read() {
        let start = Instant::now();
        let mut tracked = Tracked::read(1, 'a', start);
        tracked.take(1);
        // Reading took no time, and files are read for as long as they may have been written twice
        // in one tick of a clock.
        assert!(!tracked.is_as_read(|| Some('a')));
        assert_eq!(tracked.saw(1, 'a', start + TICK, false), Seen::Same);
        assert!(!tracked.is_as_read(|| Some('a')));
        assert_eq!(tracked.saw(1, 'a', start + LATER, false), Seen::Same);
        assert!(tracked.is_as_read(|| Some('a')));
        assert!(!tracked.is_as_read(|| Some('b')));
        assert!(!tracked.is_as_read(|| None));

        // What may not be complete yet is read again.
        assert_eq!(tracked.saw(2, 'a', start + LATER, false), Seen::NotYet);
        assert!(!tracked.is_as_read(|| Some('a')));
        assert_eq!(tracked.saw(2, 'a', start + LATER, false), Seen::New);
        tracked.refuse(2);
        assert!(tracked.is_as_read(|| Some('a')));
        // With other traits, the seconds are counted anew.
        assert_eq!(tracked.saw(2, 'b', Instant::now(), false), Seen::NotYet);
        assert!(!tracked.is_as_read(|| Some('b')));
    }

    #[test]
    fn what_is_reported_once() {
        let now = Instant::now();
        let mut tracked = Tracked::read(1, (), now);
        tracked.take(1);
        assert!(tracked.failed(false));
        assert!(!tracked.failed(false));
        assert!(tracked.failed(true));
        assert!(!tracked.is_as_read(|| Some(())));
        // As it was, which is no change, but the end of what was reported.
        assert_eq!(tracked.saw(1, (), now, false), Seen::Restored);
        assert_eq!(tracked.saw(1, (), now, false), Seen::Same);

        assert_eq!(tracked.saw(2, (), now, true), Seen::New);
        tracked.refuse(2);
        assert_eq!(tracked.saw(2, (), now, false), Seen::NotYet);
        assert_eq!(tracked.saw(2, (), now, true), Seen::New);
        tracked.refuse(2);
        // Also after what was perhaps not completely written.
        assert_eq!(tracked.saw(3, (), now, false), Seen::NotYet);
        assert_eq!(tracked.saw(1, (), now, false), Seen::Restored);
        assert!(Tracked::<()>::unreadable().failed(true));
        assert!(!Tracked::<()>::unreadable().failed(false));
    }

    #[test]
    fn what_is_postponed_is_tried_at_each_look() {
        let start = Instant::now();
        let mut tracked = Tracked::read(1, (), start);
        tracked.take(1);
        let later = start + LATER;
        assert_eq!(tracked.saw(2, (), later, false), Seen::NotYet);
        assert_eq!(tracked.saw(2, (), later, false), Seen::New);
        assert!(tracked.postpone(2, false));
        assert!(!tracked.is_as_read(|| Some(())));
        assert_eq!(tracked.saw(2, (), later, false), Seen::New);
        // It is reported once, or when somebody asks for a look.
        assert!(!tracked.postpone(2, false));
        assert!(tracked.postpone(2, true));
        assert_eq!(tracked.saw(1, (), later, false), Seen::Restored);
        assert_eq!(tracked.saw(2, (), later, false), Seen::NotYet);
    }

    #[test]
    fn what_was_refused_for_one_may_be_of_use_to_another() {
        let now = Instant::now();
        let mut tracked = Tracked::read(1, (), now);
        tracked.refuse(1);
        assert_eq!(tracked.saw(1, (), now, false), Seen::NotYet);
        tracked.start_over();
        assert_eq!(tracked.saw(1, (), now, false), Seen::New);
        tracked.take(1);
        tracked.start_over();
        assert_eq!(tracked.saw(1, (), now, false), Seen::New);
        tracked.take(1);
        assert!(tracked.failed(false));
        tracked.start_over();
        assert_eq!(tracked.saw(1, (), now, false), Seen::NotYet);
        assert_eq!(tracked.saw(1, (), now, false), Seen::New);
    }
}
