//! What was done, where a verb stands for several things.

use core::str::FromStr;

use crate::policy::Verb;

macro_rules! deeds {
    ($($(#[$attribute:meta])* $deed:ident: $verb:ident, $name:literal;)+) => {
        /// What was done, where the [`Verb`] of an entry stands for several things.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Deed {
            $($(#[$attribute])* $deed,)+
        }

        impl Deed {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$deed),+];

            /// The name, as in entries.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$deed => $name,)+
                }
            }

            /// The right that it takes.
            pub fn verb(self) -> Verb {
                match self {
                    $(Self::$deed => Verb::$verb,)+
                }
            }
        }
    };
}

deeds! {
    /// The store was made.
    Init: Administer, "init";
    /// The store's grants were changed.
    SetGrants: Administer, "set-grants";
    /// The store was sealed under another key, or the same one anew.
    Rewrap: Administer, "rewrap";
    /// Somebody said that the clock is right.
    ConfirmTime: Administer, "confirm-time";
    /// Keys in tokens were about to be removed to which no version refers.
    RemoveOrphans: Administer, "remove-orphans";
    /// The destruction of a version was scheduled.
    ScheduleDestruction: Schedule, "schedule-destruction";
    /// It was cancelled.
    CancelDestruction: Schedule, "cancel-destruction";
    /// The private key of a version was destroyed.
    Destroy: Destroy, "destroy";
    /// All versions of a key were made of no use for good, and their private keys destroyed.
    Delete: Destroy, "delete";
    /// All versions before the one that the entry names were removed.
    Trim: Destroy, "trim";
    /// A key was made under which others send keys to be imported.
    MakeWrappingKey: Import, "make-wrapping-key";
}

impl FromStr for Deed {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let mut all = Self::ALL.iter();
        all.find(|deed| deed.name() == name).copied().ok_or(())
    }
}

/// A verb, with what was done if there is a word for it.
#[derive(Clone, Copy)]
pub(crate) struct Act {
    pub(crate) verb: Verb,
    pub(crate) deed: Option<Deed>,
}

impl From<Verb> for Act {
    fn from(verb: Verb) -> Self {
        Self { verb, deed: None }
    }
}

impl From<Deed> for Act {
    fn from(deed: Deed) -> Self {
        Self {
            verb: deed.verb(),
            deed: Some(deed),
        }
    }
}
