use core::time::Duration;
use std::time::Instant;

/// What is known of files that are watched: whether what is in use is what is in them. `T` is what
/// the system says of them without reading them.
pub(super) struct Tracked<T> {
    /// Stands for the content that is in use, if there is any.
    in_use: Option<u64>,
    last: Last,
    /// Those of what was read last.
    traits: Option<T>,
    /// When files with these traits had been read first, and when they were read last.
    read: [Instant; 2],
}

/// How long after a file was written it can be written again without any sign of it but its
/// content. FAT counts in two seconds; others in one or in milliseconds.
pub(super) const TICK: Duration = Duration::from_secs(5);

/// What the last look found. A stamp stands for the content of all files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Last {
    /// What is in use.
    InUse,
    /// Something else, for the first time.
    Changed(u64),
    /// Something that was refused, and reported.
    Refused(u64),
    /// Nothing, which was reported.
    Unreadable,
}

/// What is to be done with what was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    /// It is in use.
    Same,
    /// It was refused before, or whoever writes it may not be done.
    NotYet,
    /// It is to be taken over, or refused.
    New,
}

impl<T: PartialEq> Tracked<T> {
    /// Of files that were read from `start` on until now, of which nothing is in use yet.
    pub(super) fn read(stamp: u64, traits: T, start: Instant) -> Self {
        Self {
            in_use: None,
            last: Last::Changed(stamp),
            traits: Some(traits),
            read: [Instant::now(), start],
        }
    }

    /// Of files that can't be read, which was reported.
    pub(super) fn unreadable() -> Self {
        Self {
            in_use: None,
            last: Last::Unreadable,
            traits: None,
            read: [Instant::now(); 2],
        }
    }

    /// They were read from `start` on until now. What differs counts with `is_complete` at once, and
    /// else if it has been there before.
    pub(super) fn saw(&mut self, stamp: u64, traits: T, start: Instant, is_complete: bool) -> Seen {
        if self.traits.replace(traits) != self.traits {
            // Not `start`: the file may have been written while it was waited for.
            self.read[0] = Instant::now();
        }
        self.read[1] = start;

        if self.in_use == Some(stamp) {
            self.last = Last::InUse;
            return Seen::Same;
        }
        match self.last {
            _ if is_complete => Seen::New,
            Last::Refused(before) if before == stamp => Seen::NotYet,
            Last::Changed(before) if before == stamp => Seen::New,
            _ => {
                self.last = Last::Changed(stamp);
                Seen::NotYet
            }
        }
    }

    /// They can't be read. Says whether that is to be reported.
    pub(super) fn failed(&mut self, is_complete: bool) -> bool {
        let is_known = self.last == Last::Unreadable;
        self.last = Last::Unreadable;
        self.traits = None;
        is_complete || !is_known
    }

    /// What has this stamp is in use from now on.
    pub(super) fn take(&mut self, stamp: u64) {
        self.in_use = Some(stamp);
        self.last = Last::InUse;
    }

    /// What has this stamp is of no use.
    pub(super) fn refuse(&mut self, stamp: u64) {
        self.last = Last::Refused(stamp);
    }

    /// What they are for is another one from now on. What is there may be of use to it, though it
    /// was refused before.
    pub(super) fn start_over(&mut self) {
        let seen = match self.last {
            Last::InUse => self.in_use,
            Last::Changed(seen) | Last::Refused(seen) => Some(seen),
            Last::Unreadable => None,
        };
        self.in_use = None;
        if let Some(seen) = seen {
            self.last = Last::Changed(seen);
        }
    }

    /// Whether they are certainly as they were read last, and that is all there is to know. `look`
    /// is asked for their traits if it comes to that.
    pub(super) fn is_as_read(&self, look: impl FnOnce() -> Option<T>) -> bool {
        let [first, last] = self.read;
        !matches!(self.last, Last::Changed(_))
            && last.saturating_duration_since(first) > TICK
            && self.traits.is_some()
            && self.traits == look()
    }
}

#[cfg(test)]
impl<T> Tracked<T> {
    /// Has files with these traits look as they were read.
    pub(super) fn pretend(&mut self, traits: T) {
        self.traits = Some(traits);
    }

    /// Has them have been as they are for so long when they were read last.
    pub(super) fn read_for(&mut self, long: Duration) {
        let [first, last] = &mut self.read;
        *last = *first + long;
    }

    pub(super) fn times(&self) -> [Instant; 2] {
        self.read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Duration = Duration::from_secs(60);

    /// So that many files cost no core: what is certain to be as it was read isn't read.
    #[test]
    fn what_is_as_it_was_is_not_read() {
        let start = Instant::now();
        let mut tracked = Tracked::read(1, 'a', start);
        tracked.take(1);
        // To read it took no time, and files are read for as long as they may have been written in
        // one tick of a clock.
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
        // With other traits, so many seconds are counted anew.
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
        // As it was, which is no change.
        assert_eq!(tracked.saw(1, (), now, false), Seen::Same);

        assert_eq!(tracked.saw(2, (), now, true), Seen::New);
        tracked.refuse(2);
        assert_eq!(tracked.saw(2, (), now, false), Seen::NotYet);
        assert_eq!(tracked.saw(2, (), now, true), Seen::New);
        assert!(Tracked::<()>::unreadable().failed(true));
        assert!(!Tracked::<()>::unreadable().failed(false));
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
