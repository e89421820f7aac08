//! Compares the findings with the list of what is public.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;

use crate::build::Build;
use crate::public::{LIST, Public, of_scheme};
use crate::report::Site;
use crate::run::{PLANTED, Run};

/// The findings of all runs.
#[derive(Default)]
pub(crate) struct Verdict {
    runs: usize,
    /// For each operation and site, the builds and backends.
    found: BTreeMap<(&'static str, Site), BTreeSet<String>>,
    /// The planted leaks that a run did not find.
    missed: Vec<String>,
}

impl Verdict {
    /// Adds the findings of a run.
    pub(crate) fn add(&mut self, build: Build, run: Run) {
        let Run {
            backend,
            operation,
            mut sites,
        } = run;
        self.runs += 1;
        for planted in planted(operation) {
            let before = sites.len();
            sites.retain(|site| *site != planted);
            if sites.len() == before {
                let missed = format!("{build} {backend}, {operation}: {planted} was not found");
                self.missed.push(missed);
            }
        }
        for site in sites {
            let places = self.found.entry((operation, site)).or_default();
            places.insert(format!("{build} {backend}"));
        }
    }

    /// Everything that is wrong: leaks, planted leaks that were not found, and, if all builds were made,
    /// entries of the list that were found in none of them.
    pub(crate) fn complaints(&self, is_complete: bool) -> Vec<String> {
        let listed: BTreeSet<_> = LIST.iter().flat_map(Public::sites).collect();
        let is_listed = |operation: &str, site: &Site| {
            let operation = of_scheme(operation);
            listed
                .iter()
                .any(|(listed, at)| *listed == operation && at == site)
        };
        let leaks = self.found.iter();
        let leaks = leaks.filter(|((operation, site), _)| !is_listed(operation, site));
        let leaks = leaks.map(|((operation, site), places)| {
            let places = Vec::from_iter(places.iter().map(String::as_str)).join(", ");
            format!(
                "{operation}: {site} depends on a secret, and is not listed as public: {places}"
            )
        });
        let stale = listed
            .iter()
            .filter(|(operation, site)| is_complete && self.places(operation, site) == 0);
        let stale = stale.map(|(operation, site)| {
            format!("{operation}: {site} is listed as public, and was found in no build")
        });
        let missed = self.missed.iter().cloned();
        missed.chain(leaks).chain(stale).collect()
    }
}

impl Verdict {
    /// The number of builds and backends where a site was found, in an operation of any set of a scheme.
    fn places(&self, operation: &str, site: &Site) -> usize {
        let found = self.found.iter();
        let found = found.filter(|((of, at), _)| of_scheme(of) == operation && at == site);
        found.map(|(_, places)| places.len()).sum()
    }
}

/// The findings that are on the list, with the reasons.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for public in LIST {
            writeln!(f, "public: {} ({})", public.reason, public.step)?;
            for (operation, site) in public.sites() {
                let places = self.places(operation, &site);
                writeln!(f, "    {operation}: {site}, {places} times")?;
            }
        }
        write!(f, "{} runs", self.runs)
    }
}

/// The planted leaks of an operation: its `look` at the result, or for [`PLANTED`] the functions in
/// `planted.rs`.
fn planted(operation: &str) -> Vec<Site> {
    let (file, functions): (_, &[&str]) = match operation {
        PLANTED => ("program/planted.rs", &["branch", "index"]),
        _ => ("program/main.rs", &["look"]),
    };
    let site = |function: &&str| Site {
        file: file.into(),
        function: (*function).into(),
    };
    functions.iter().map(site).collect()
}

#[cfg(test)]
mod tests {
    use super::{Verdict, planted};
    use crate::build::Build;
    use crate::public::{LIST, of_scheme};
    use crate::report::Site;
    use crate::run::{OF_OTHER_SETS, OPERATIONS, PLANTED, Run};

    fn build() -> Build {
        "3/1".parse().unwrap()
    }

    /// Runs of each operation that find exactly the planted and the listed sites.
    fn runs() -> Vec<Run> {
        let run = |operation| {
            let listed = LIST.iter().flat_map(|public| public.sites());
            let listed = listed.filter(|(of, _)| *of == of_scheme(operation));
            let listed = listed.map(|(_, site)| site);
            Run {
                backend: "portable",
                operation,
                sites: planted(operation).into_iter().chain(listed).collect(),
            }
        };
        OPERATIONS.into_iter().map(run).collect()
    }

    fn complaints(runs: Vec<Run>, is_complete: bool) -> Vec<String> {
        let mut verdict = Verdict::default();
        for run in runs {
            verdict.add(build(), run);
        }
        verdict.complaints(is_complete)
    }

    /// This also checks that the operation of each entry in the list exists.
    #[test]
    fn what_is_listed_passes() {
        assert_eq!(complaints(runs(), true), [""; 0]);
    }

    #[test]
    fn what_is_not_listed_fails() {
        let mut runs = runs();
        let site = Site {
            file: "ml_kem/ring.rs".into(),
            function: "leak".into(),
        };
        runs[1].sites.push(site);
        let [complaint] = &complaints(runs, true)[..] else {
            panic!("not one complaint");
        };
        assert!(complaint.contains("leak in ml_kem/ring.rs") && complaint.contains("3/1 portable"));
    }

    /// If an operation of one set may look at something, so may the operation of another set.
    #[test]
    fn what_is_listed_is_of_every_set() {
        assert_eq!(of_scheme(PLANTED), "planted ");
        let mut runs = runs();
        let (operation, site) = LIST[0].sites().next().unwrap();
        let [other, _, another, ..] = OF_OTHER_SETS;
        assert_eq!(of_scheme(other), operation);
        runs.extend([other, another].map(|operation| {
            Run {
                backend: "portable",
                operation,
                sites: planted(operation)
                    .into_iter()
                    .chain([site.clone()])
                    .collect(),
            }
        }));
        let complaints = complaints(runs, true);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with(another), "{}", complaints[0]);
    }

    /// What one operation may look at, another may not.
    #[test]
    fn what_is_listed_elsewhere_fails() {
        let mut runs = runs();
        let (operation, site) = LIST[0].sites().next().unwrap();
        assert_ne!(operation, of_scheme(OPERATIONS[1]));
        runs[1].sites.push(site);
        assert_eq!(complaints(runs, true).len(), 1);
    }

    #[test]
    fn what_no_longer_occurs_fails() {
        let (operation, site) = LIST[0].sites().next().unwrap();
        let mut runs = runs();
        for run in runs.iter_mut() {
            if of_scheme(run.operation) != operation {
                continue;
            }
            run.sites.retain(|found| *found != site);
        }
        let [complete, partial] = [true, false].map(|is_complete| {
            let mut verdict = Verdict::default();
            for run in &runs {
                verdict.add(build(), run.clone());
            }
            verdict.complaints(is_complete).len()
        });
        assert_eq!((complete, partial), (1, 0));
    }

    #[test]
    fn what_is_planted_must_be_found() {
        let mut runs = runs();
        let mut count = 0;
        for run in &mut runs {
            count += if run.operation == PLANTED { 2 } else { 1 };
            run.sites
                .retain(|site| !planted(run.operation).contains(site));
        }
        assert_eq!(complaints(runs, true).len(), count);
    }
}
