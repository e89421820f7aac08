//! The operations, each with its section of the page, and which peers they are compared with.

/// One operation of one scheme, with its parameter sets.
pub(crate) struct Operation {
    /// The heading of its section.
    pub(crate) heading: &'static str,
    /// What is measured, in words for the page.
    pub(crate) what: &'static str,
    /// The last part of its tables' names.
    pub(crate) name: &'static str,
    /// The first part of its tables' names.
    pub(crate) sets: &'static [&'static str],
}

impl Operation {
    /// The name of the table of a parameter set.
    pub(crate) fn table(&self, set: &str) -> String {
        format!("{set}/{}", self.name)
    }

    /// The names of all its tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = String> {
        self.sets.iter().map(|set| self.table(set))
    }

    /// The name of the chart's file.
    pub(crate) fn chart(&self) -> String {
        format!(
            "{}.svg",
            self.heading
                .to_lowercase()
                .replace(", ", " ")
                .replace(' ', "-")
        )
    }
}

const ML_KEM: &[&str] = &["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"];
const ML_DSA: &[&str] = &["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];
const SLH_DSA: &[&str] = &[
    "SLH-DSA-SHAKE-128f",
    "SLH-DSA-SHAKE-192f",
    "SLH-DSA-SHAKE-256f",
    "SLH-DSA-SHAKE-128s",
    "SLH-DSA-SHAKE-192s",
    "SLH-DSA-SHAKE-256s",
    "SLH-DSA-SHA2-128f",
    "SLH-DSA-SHA2-192f",
    "SLH-DSA-SHA2-256f",
    "SLH-DSA-SHA2-128s",
    "SLH-DSA-SHA2-192s",
    "SLH-DSA-SHA2-256s",
];

/// All operations, in the order of the page.
pub(crate) const ALL: &[Operation] = &[
    Operation {
        heading: "ML-KEM key generation",
        what: "From the seed to the key in memory and the encapsulation key's bytes.",
        name: "key-generation",
        sets: ML_KEM,
    },
    Operation {
        heading: "ML-KEM encapsulation",
        what: "From the encapsulation key's bytes, checked, to the ciphertext and the secret.",
        name: "encapsulation",
        sets: ML_KEM,
    },
    Operation {
        heading: "ML-KEM decapsulation",
        what: "With the key in memory.",
        name: "decapsulation",
        sets: ML_KEM,
    },
    Operation {
        heading: "ML-DSA key generation",
        what: "From the seed to the key in memory and the verifying key's bytes.",
        name: "key-generation",
        sets: ML_DSA,
    },
    Operation {
        heading: "ML-DSA signing",
        what: "With the key in memory; the mean of 256 messages that need the expected number \
               of attempts.",
        name: "signing",
        sets: ML_DSA,
    },
    Operation {
        heading: "ML-DSA verification",
        what: "From the bytes of the verifying key and of the signature.",
        name: "verification",
        sets: ML_DSA,
    },
    Operation {
        heading: "ML-DSA verification, expanded key",
        what: "With the verifying key in memory, expanded. Implementations that can't expand it have \
               no row here, but goals take the fastest verification of any kind, since their users \
               get nothing faster.",
        name: "verification-expanded",
        sets: ML_DSA,
    },
    Operation {
        heading: "SLH-DSA key generation",
        what: "From the seeds to the verifying key's bytes.",
        name: "key-generation",
        sets: SLH_DSA,
    },
    Operation {
        heading: "SLH-DSA signing",
        what: "With the key in memory.",
        name: "signing",
        sets: SLH_DSA,
    },
    Operation {
        heading: "SLH-DSA verification",
        what: "From the bytes of the verifying key and of the signature.",
        name: "verification",
        sets: SLH_DSA,
    },
];

/// Which vectors of the machine are in use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Column {
    /// All.
    Avx512,
    /// All except AVX-512.
    Avx2,
    /// Only those that the compiler may always use.
    Portable,
}

/// The lanes of each [`Step`](benches::ours::keccak::Step).
pub(crate) struct Lanes {
    pub(crate) all: usize,
    pub(crate) few: usize,
}

/// Whether a row belongs to this project.
pub(crate) fn is_ours(name: &str) -> bool {
    name.starts_with("pq-core/") || name.starts_with("rustls-pq/")
}

impl Column {
    /// All columns, in the order of the page.
    pub(crate) const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// The column's heading.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2",
            Self::Portable => "portable",
        }
    }

    /// How many states a step of permutations has.
    pub(crate) fn lanes(self) -> Lanes {
        let (all, few) = match self {
            Self::Avx512 => (8, 4),
            Self::Avx2 => (4, 1),
            Self::Portable => (1, 1),
        };
        Lanes { all, few }
    }

    /// The name of our row.
    pub(crate) fn ours(self) -> String {
        format!("pq-core/{}", self.heading())
    }

    /// Whether a peer's figure in a table counts in this column.
    ///
    /// Only graviola and wolfSSL use AVX-512 for these schemes; the other peers' figures are for
    /// AVX2. graviola samples **Â** with AVX-512, and a release build of it can't turn that off; its
    /// decapsulation samples nothing. wolfSSL has a row of its own that stops at AVX2. RustCrypto's and fips205's code is portable, except for SHA-256, where they use
    /// the CPU's instructions, too.
    pub(crate) fn counts(self, table: &str, peer: &str) -> bool {
        if is_ours(peer) {
            return false;
        }
        match self {
            Self::Avx512 => true,
            Self::Avx2 => match peer {
                "graviola" => table.ends_with("/decapsulation"),
                "wolfSSL" => false,
                _ => true,
            },
            Self::Portable => peer == "RustCrypto" || peer == "fips205",
        }
    }
}

#[cfg(test)]
mod tests {
    use benches::peers;
    use benches::schemes::{ml_dsa, ml_kem, set, slh_dsa};

    use super::*;

    #[test]
    fn tables_are_those_that_are_measured() {
        fn tables<O: set::Operation>(sets: impl Iterator<Item = &'static str>) -> Vec<String> {
            sets.flat_map(|set| O::ALL.iter().map(|operation| operation.table(set)))
                .collect()
        }
        let mut measured = [
            tables::<ml_kem::Operation>(peers::ML_KEM.iter().map(|(set, _)| *set)),
            tables::<ml_dsa::Operation>(peers::ML_DSA.iter().map(|(set, _)| *set)),
            tables::<slh_dsa::Operation>(peers::SLH_DSA.iter().map(|(set, _)| *set)),
        ]
        .concat();
        let mut shown: Vec<_> = ALL.iter().flat_map(Operation::tables).collect();
        measured.sort();
        shown.sort();
        assert_eq!(measured, shown);
    }
}
