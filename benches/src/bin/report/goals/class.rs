//! Classes of CPUs.
//!
//! Machines differ from day to day, so goals are for classes. The page of a class is that of its machine
//! that was measured last.

use core::fmt;

use benches::ours::keccak::Step;

use crate::figures::operations::Column;
use crate::figures::tables::Tables;

/// How a CPU executes its widest vectors.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Class {
    /// AVX-512 at full width.
    FullAvx512,
    /// AVX-512 in two halves.
    HalvedAvx512,
    /// No AVX-512.
    Avx2,
    /// AArch64.
    Neon,
}

/// AVX-512 is halved if a step of eight permutations takes at least this many times as long as one of four.
const HALVED: f64 = 1.9;

/// AVX-512 is full-width if it takes at most this many times as long. Ratios in between are only noise.
const WHOLE: f64 = 1.55;

impl Class {
    /// All classes, in the order of the overview.
    pub(crate) const ALL: [Self; 4] =
        [Self::FullAvx512, Self::HalvedAvx512, Self::Avx2, Self::Neon];

    /// The class of the measured machine, from its permutations.
    pub(crate) fn of(tables: &Tables) -> Result<Self, Unknown> {
        let steps = Step::ALL.map(|step| tables.step(step, Column::Avx512));
        if let [Some(eight), Some(four)] = steps {
            return match eight / four {
                ratio if ratio <= WHOLE => Ok(Self::FullAvx512),
                ratio if ratio >= HALVED => Ok(Self::HalvedAvx512),
                ratio => Err(Unknown::Noise { ratio }),
            };
        }
        if tables.step(Step::All, Column::Avx2).is_some() {
            return Ok(Self::Avx2);
        }
        let neon = tables.row(&Step::All.table(), "pq-core/NEON");
        neon.map(|_| Self::Neon).ok_or(Unknown::NotMeasured)
    }

    /// The class that a page names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|class| class.to_string() == name)
    }

    /// The CPUs of this class.
    pub(crate) fn cpus(self) -> &'static str {
        match self {
            Self::FullAvx512 => "Zen 5, Intel",
            Self::HalvedAvx512 => "Zen 4",
            Self::Avx2 => "Zen 3 and older, Intel without AVX-512",
            Self::Neon => "AArch64",
        }
    }

    /// The column that has goals, if any.
    pub(crate) fn column(self) -> Option<Column> {
        match self {
            Self::FullAvx512 | Self::HalvedAvx512 => Some(Column::Avx512),
            Self::Avx2 => Some(Column::Avx2),
            Self::Neon => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FullAvx512 => "full-width AVX-512",
            Self::HalvedAvx512 => "halved AVX-512",
            Self::Avx2 => "AVX2",
            Self::Neon => "NEON",
        })
    }
}

/// Why the class of a machine is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unknown {
    NotMeasured,
    Noise { ratio: f64 },
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMeasured => {
                f.write_str("no Keccak permutations were measured, which tell the class of CPU")
            }
            Self::Noise { ratio } => write!(
                f,
                "eight permutations took {ratio:.2} times as long as four, which fits no class of CPU: the \
                 machine was not quiet; measure again, at least `Keccak`"
            ),
        }
    }
}

impl core::error::Error for Unknown {}

/// The goal of each class. NEON has none until there is a machine with it.
#[derive(Clone, Copy)]
pub(crate) struct ByClass {
    pub(crate) full_avx512: f64,
    pub(crate) halved_avx512: f64,
    pub(crate) avx2: f64,
}

impl ByClass {
    pub(crate) fn of(self, class: Class) -> Option<f64> {
        match class {
            Class::FullAvx512 => Some(self.full_avx512),
            Class::HalvedAvx512 => Some(self.halved_avx512),
            Class::Avx2 => Some(self.avx2),
            Class::Neon => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::tests::tables;

    #[test]
    fn permutations_tell_the_class() {
        let step = |name, eight, four| {
            tables(&[
                (&Step::All.table(), &[(name, eight)]),
                (&Step::Few.table(), &[(name, four)]),
            ])
        };
        // the figures of Zen 5, Emerald Rapids, Zen 4 and Zen 3
        for (name, eight, four, class) in [
            ("pq-core/AVX-512", 194.0, 194.0, Ok(Class::FullAvx512)),
            ("pq-core/AVX-512", 391.0, 268.0, Ok(Class::FullAvx512)),
            ("pq-core/AVX-512", 417.0, 200.0, Ok(Class::HalvedAvx512)),
            ("pq-core/AVX2", 368.0, 210.0, Ok(Class::Avx2)),
            ("pq-core/NEON", 368.0, 210.0, Ok(Class::Neon)),
            ("pq-core/portable", 210.0, 210.0, Err(Unknown::NotMeasured)),
            // Zen 4 with other load on the machine
            (
                "pq-core/AVX-512",
                420.0,
                240.0,
                Err(Unknown::Noise { ratio: 1.75 }),
            ),
        ] {
            assert_eq!(Class::of(&step(name, eight, four)), class);
        }
    }

    #[test]
    fn names_are_read() {
        for class in Class::ALL {
            assert_eq!(Class::named(&class.to_string()), Some(class));
        }
        assert_eq!(Class::named("abacus"), None);
    }
}
