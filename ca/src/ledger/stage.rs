//! What the keys of a CA are used for, one after another.

/// What a generation's key is used for. A generation goes through the stages in this order, and may leave some out. One
/// that was retired, or was taken for ended by a clock that was ahead, may issue again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Stage {
    /// Its certificate is there for others to get, and the key signs nothing yet.
    Published,
    /// The key issues certificates.
    Issuing,
    /// Another key took its place. It still signs revocation lists, and OCSP responses, until its certificates have
    /// expired.
    Retired,
    /// Its certificate had expired, by the clock, when the CA's keys were last changed: then nothing is left for it to
    /// sign.
    Ended,
}

impl Stage {
    /// Its number where a ledger keeps it.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Published => 0,
            Self::Issuing => 1,
            Self::Retired => 2,
            Self::Ended => 3,
        }
    }

    /// The stage of this number.
    pub(super) fn of_number(number: u8) -> Option<Self> {
        let all = [Self::Published, Self::Issuing, Self::Retired, Self::Ended];
        all.into_iter().find(|stage| stage.number() == number)
    }

    /// Its name, for people to read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Issuing => "issuing",
            Self::Retired => "retired",
            Self::Ended => "ended",
        }
    }
}
