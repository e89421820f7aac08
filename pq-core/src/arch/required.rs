//! The features that a test run requires of the CPU, so that "every backend" never silently means fewer.

extern crate alloc;
extern crate std;

use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};
use std::sync::OnceLock;

use super::choice::known;

/// The environment variable with the required names, separated by commas.
const VARIABLE: &str = "PQ_CORE_REQUIRE";

/// Panics unless the machine has each backend that the environment variable names, and the
/// instructions for SHA-256 and AES if it names these.
///
/// [`on_each_backend!`](crate::on_each_backend) calls this, since this macro decides on which
/// backends tests run.
///
/// # Panics
///
/// If a backend is missing, or a name is not one of this architecture.
pub fn require() {
    static CHECKED: OnceLock<()> = OnceLock::new();
    CHECKED.get_or_init(|| {
        if let Some(names) = std::env::var_os(VARIABLE)
            && let Err(unmet) = check(&names.to_string_lossy(), &all())
        {
            panic!("{VARIABLE}: {unmet}");
        }
    });
}

/// A name that can be required on this architecture, and whether the machine has it.
type Known = (&'static str, bool);

/// All backends, and the instructions for SHA-256 and AES, which belong to no backend.
fn all() -> Vec<Known> {
    let backends = known().into_iter();
    let backends = backends.map(|(name, rank)| (name, rank.is_some()));
    let others: [Known; _] = [
        #[cfg(target_arch = "x86_64")]
        ("SHA-NI", super::ShaNi::detect().is_some()),
        #[cfg(all(feature = "aes-ctr", target_arch = "x86_64"))]
        ("VAES", super::Vaes::detect().is_some()),
        #[cfg(all(
            target_arch = "aarch64",
            target_feature = "neon",
            target_endian = "little"
        ))]
        ("SHA-256", super::NeonSha2::detect().is_some()),
    ];
    backends.chain(others).collect()
}

fn check<'a>(names: &'a str, known: &[Known]) -> Result<(), Unmet<'a>> {
    let mut missing = Vec::new();
    for name in names.split(',') {
        match known.iter().find(|(known, _)| *known == name) {
            Some((_, true)) => {}
            Some((name, false)) => missing.push(*name),
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
                "this architecture has no backend or instructions called {name:?}; it has {}",
                known.join(", ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::{all, alloc, check, std};

    const MACHINE: [(&str, bool); 4] = [
        ("AVX-1024", false),
        ("AVX-512", false),
        ("AVX2", true),
        ("portable", true),
    ];

    #[test]
    fn what_the_machine_has_is_enough() {
        check("AVX2", &MACHINE).unwrap();
        check("portable,AVX2", &MACHINE).unwrap();
        for (name, is_there) in all() {
            assert_eq!(check(name, &all()).is_ok(), is_there, "{name}");
        }
    }

    /// `.ci/run` uses these names.
    #[test]
    fn other_instructions_have_names() {
        let names = all().into_iter().map(|(name, _)| name);
        let names = names.collect::<Vec<_>>().join(",");
        #[cfg(all(feature = "aes-ctr", target_arch = "x86_64"))]
        assert_eq!(names, "AVX-512,AVX2,portable,SHA-NI,VAES");
        #[cfg(all(not(feature = "aes-ctr"), target_arch = "x86_64"))]
        assert_eq!(names, "AVX-512,AVX2,portable,SHA-NI");
        #[cfg(target_arch = "aarch64")]
        assert_eq!(names, "NEON with SHA-3,NEON,portable,SHA-256");
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        assert_eq!(names, "SIMD128,portable");
        assert!(names.contains("portable"));
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
                    "this architecture has no backend or instructions called {name:?}; it has AVX-1024, \
                     AVX-512, AVX2, portable"
                )
            );
        }
        assert!(check("AVX2,", &MACHINE).is_err());
    }
}
