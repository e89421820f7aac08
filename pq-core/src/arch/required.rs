//! The backends that a run of tests must have, so that "every backend" is never silently fewer.

extern crate alloc;
extern crate std;

use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};
use std::sync::OnceLock;

use super::choice::known;

/// The environment variable that names them, with commas between.
const VARIABLE: &str = "PQ_CORE_REQUIRE";

/// Panics unless the machine has each backend that the environment names.
///
/// [`on_each_backend!`](crate::on_each_backend) calls this, since it is where tests learn which
/// backends there are.
///
/// # Panics
///
/// If a backend is missing, or a name is not one of this architecture.
pub fn require() {
    static CHECKED: OnceLock<()> = OnceLock::new();
    CHECKED.get_or_init(|| {
        if let Some(names) = std::env::var_os(VARIABLE)
            && let Err(unmet) = check(&names.to_string_lossy(), &known())
        {
            panic!("{VARIABLE}: {unmet}");
        }
    });
}

/// A backend of this architecture: its name, and its rank if the machine has it.
pub(super) type Known = (&'static str, Option<u8>);

fn check<'a>(names: &'a str, known: &[Known]) -> Result<(), Unmet<'a>> {
    let mut missing = Vec::new();
    for name in names.split(',') {
        match known.iter().find(|(known, _)| *known == name) {
            Some((_, Some(_))) => {}
            Some((name, None)) => missing.push(*name),
            None => {
                return Err(Unmet::Unknown {
                    name,
                    known: known.iter().map(|(known, _)| *known).collect(),
                });
            }
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Unmet::Missing(missing)),
    }
}

/// Why a run must fail.
#[derive(Debug)]
enum Unmet<'a> {
    Missing(Vec<&'static str>),
    Unknown {
        name: &'a str,
        known: Vec<&'static str>,
    },
}

impl Display for Unmet<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(missing) => {
                write!(f, "this machine lacks {}", missing.join(", "))
            }
            Self::Unknown { name, known } => write!(
                f,
                "no backend of this architecture is called {name:?}; there are {}",
                known.join(", ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{alloc, check, known, std};

    const MACHINE: [(&str, Option<u8>); 4] = [
        ("AVX-1024", None),
        ("AVX-512", None),
        ("AVX2", Some(1)),
        ("portable", Some(0)),
    ];

    #[test]
    fn what_the_machine_has_is_enough() {
        check("AVX2", &MACHINE).unwrap();
        check("portable,AVX2", &MACHINE).unwrap();
        for (name, rank) in known() {
            assert_eq!(check(name, &known()).is_ok(), rank.is_some(), "{name}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let unmet = check("AVX-1024,AVX2,AVX-512", &MACHINE).unwrap_err();
        assert_eq!(unmet.to_string(), "this machine lacks AVX-1024, AVX-512");
    }

    #[test]
    fn an_unknown_name_says_what_there_is() {
        for name in ["AVX512", "AVX2 ", ""] {
            let unmet = check(name, &MACHINE).unwrap_err();
            assert_eq!(
                unmet.to_string(),
                std::format!(
                    "no backend of this architecture is called {name:?}; there are AVX-1024, \
                     AVX-512, AVX2, portable"
                )
            );
        }
        assert!(check("AVX2,", &MACHINE).is_err());
    }
}
