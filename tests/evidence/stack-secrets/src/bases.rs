//! The bases that rustls-pq has in this test, with known randomness.

use std::sync::Once;

use rustls::crypto::CryptoProvider;
use rustls_pq::{Builder, base};
use testing::skipped::cannot_run;

use crate::random::RANDOM;

/// A base and the provider over it, with all of its groups.
#[derive(Clone, Copy)]
pub(crate) struct Base {
    pub(crate) name: &'static str,
    make: fn() -> Option<CryptoProvider>,
}

impl Base {
    /// The bases that the CPU can run. A message past the test harness names any other.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let all = [
            Self {
                name: "graviola",
                make: || base::graviola().ok(),
            },
            Self {
                name: "AWS-LC",
                make: || Some(base::aws_lc_rs()),
            },
            Self {
                name: "ring",
                make: || Some(base::ring()),
            },
        ];
        all.into_iter().filter(|base| {
            let runs = (base.make)().is_some();
            if !runs {
                static SAID: Once = Once::new();
                let name = base.name;
                SAID.call_once(|| cannot_run(&format!("{name} does not run on this CPU")));
            }
            runs
        })
    }

    pub(crate) fn provider(self) -> CryptoProvider {
        let mut base = (self.make)().expect("those that can't run are left out");
        base.secure_random = &RANDOM;
        let builder = Builder::new(base);
        let groups = builder.available_groups();
        builder.groups(groups).build().expect("its own groups")
    }
}
