//! The floor of an operation: the least time that its permutations need.
//!
//! Some permutations need the one before: the longest chain of them takes at least as many steps,
//! each as short as possible. And all of them together take at least as long as with every lane
//! in use. Arithmetic comes on top.

use benches::ours::keccak::Step;

use super::operations::Column;
use super::tables::Tables;

/// An operation and its floor.
pub(crate) struct Floor {
    pub(crate) set: &'static str,
    pub(crate) operation: &'static str,
    /// For signing, the expected number.
    permutations: Permutations,
    /// The floor of one operation alone, in nanoseconds.
    pub(crate) floor: f64,
    /// The floor of one of many operations, whose permutations fill all lanes, in nanoseconds.
    pub(crate) of_many: f64,
    /// The measured time, in nanoseconds.
    pub(crate) ours: f64,
}

impl Floor {
    pub(crate) fn ratio(&self) -> f64 {
        self.ours / self.floor
    }

    pub(crate) fn chain(&self) -> f64 {
        self.permutations.chain
    }

    pub(crate) fn all(&self) -> f64 {
        self.permutations.all
    }
}

/// How many permutations an operation has.
#[derive(Clone, Copy)]
struct Permutations {
    /// In the longest chain, in which each needs the one before. Others run in the other lanes.
    chain: f64,
    /// In total.
    all: f64,
}

/// The times of permutations in a column, in nanoseconds.
struct Times {
    /// The shortest step.
    step: f64,
    /// One permutation, with all lanes in use.
    each: f64,
}

impl Times {
    fn of(tables: &Tables, column: Column) -> Option<Self> {
        let lanes = column.lanes();
        let all = tables.step(Step::All, column)?;
        let few = tables.step(Step::Few, column);
        let few = few.unwrap_or(f64::INFINITY);
        Some(Self {
            step: all.min(few),
            each: (all / lanes.all as f64).min(few / lanes.few as f64),
        })
    }
}

/// The floors of everything that was measured in a column.
pub(crate) fn floors(tables: &Tables, column: Column) -> Vec<Floor> {
    let Some(times) = Times::of(tables, column) else {
        return Vec::new();
    };
    counted(column.lanes().all)
        .into_iter()
        .filter_map(|(set, operation, permutations)| {
            let table = format!("{set}/{operation}");
            let of_many = permutations.all * times.each;
            Some(Floor {
                set,
                operation,
                permutations,
                floor: of_many.max(permutations.chain * times.step),
                of_many,
                ours: tables.median(&table, &column.ours())?,
            })
        })
        .collect()
}

/// The permutations of all operations, with this many lanes.
fn counted(lanes: usize) -> Vec<(&'static str, &'static str, Permutations)> {
    let kem = KEM.iter().flat_map(|set| {
        [
            (set.name, "key-generation", set.key_generation(lanes)),
            (set.name, "encapsulation", set.encapsulation(lanes)),
            (set.name, "decapsulation", set.decapsulation(lanes)),
        ]
    });
    let dsa = DSA.iter().flat_map(|set| {
        [
            (set.name, "key-generation", set.key_generation(lanes)),
            (set.name, "signing", set.signing()),
            (set.name, "verification", set.verification(lanes)),
            (
                set.name,
                "verification-expanded",
                set.verification_expanded(),
            ),
        ]
    });
    kem.chain(dsa).collect()
}

impl Permutations {
    fn new(chain: usize, all: usize) -> Self {
        Self {
            chain: chain as f64,
            all: all as f64,
        }
    }
}

/// The values of a FIPS 203 parameter set that determine the chain.
struct Kem {
    name: &'static str,
    k: usize,
    /// Blocks of SHAKE256 for a polynomial with η₁: 64 · η₁ bytes.
    eta1_blocks: usize,
    ciphertext_len: usize,
}

const KEM: [Kem; 3] = [
    Kem {
        name: "ML-KEM-512",
        k: 2,
        eta1_blocks: 2,
        ciphertext_len: 768,
    },
    Kem {
        name: "ML-KEM-768",
        k: 3,
        eta1_blocks: 1,
        ciphertext_len: 1088,
    },
    Kem {
        name: "ML-KEM-1024",
        k: 4,
        eta1_blocks: 1,
        ciphertext_len: 1568,
    },
];

impl Kem {
    /// G, then **Â** and the noise, then H(ek).
    fn key_generation(&self, lanes: usize) -> Permutations {
        let sampled = self.matrix() + 2 * self.k * self.eta1_blocks;
        let key = self.hash_of_key();
        Permutations::new(1 + sampled.div_ceil(lanes) + key, 1 + sampled + key)
    }

    /// H(ek) beside **Â**, then G, then the noise.
    fn encapsulation(&self, lanes: usize) -> Permutations {
        let (key, first) = (self.hash_of_key(), self.hash_of_key() + self.matrix());
        Permutations::new(
            key.max(first.div_ceil(lanes)) + 1 + self.noise_steps(lanes),
            first + 1 + self.noise(),
        )
    }

    /// J(z ‖ c), beside G and the noise.
    fn decapsulation(&self, lanes: usize) -> Permutations {
        let rejection = permutations(32 + self.ciphertext_len);
        Permutations::new(
            rejection.max(1 + self.noise_steps(lanes)),
            rejection + 1 + self.noise(),
        )
    }

    /// Three blocks of SHAKE128 for an entry, nearly always.
    fn matrix(&self) -> usize {
        3 * self.k * self.k
    }

    fn hash_of_key(&self) -> usize {
        permutations(384 * self.k + 32)
    }

    /// **y** with η₁, and **e**₁ and e₂ with η₂ = 2, one block each.
    fn noise(&self) -> usize {
        self.k * self.eta1_blocks + self.k + 1
    }

    fn noise_steps(&self, lanes: usize) -> usize {
        self.noise().div_ceil(lanes).max(self.eta1_blocks)
    }
}

/// The values of a FIPS 204 parameter set that determine the chain.
struct Dsa {
    name: &'static str,
    k: usize,
    l: usize,
    /// Length of an encoded polynomial of **w**₁.
    w1_len: usize,
    verifying_key_len: usize,
    /// The expected number of attempts (FIPS 204, table 1).
    attempts: f64,
}

const DSA: [Dsa; 3] = [
    Dsa {
        name: "ML-DSA-44",
        k: 4,
        l: 4,
        w1_len: 192,
        verifying_key_len: 1312,
        attempts: 4.25,
    },
    Dsa {
        name: "ML-DSA-65",
        k: 6,
        l: 5,
        w1_len: 128,
        verifying_key_len: 1952,
        attempts: 5.1,
    },
    Dsa {
        name: "ML-DSA-87",
        k: 8,
        l: 7,
        w1_len: 128,
        verifying_key_len: 2592,
        attempts: 3.85,
    },
];

/// The length of the signed message after tr, with two bytes of format.
const MESSAGE_LEN: usize = 64 + 2 + 130;

impl Dsa {
    /// H(ξ), then **Â** and the secrets (two blocks each), then tr.
    fn key_generation(&self, lanes: usize) -> Permutations {
        let sampled = self.matrix() + 2 * (self.k + self.l);
        let tr = permutations(self.verifying_key_len);
        Permutations::new(1 + sampled.div_ceil(lanes) + tr, 1 + sampled + tr)
    }

    /// µ and ρ″, the first mask (five blocks for a polynomial), and for each attempt c̃ and the
    /// challenge; the next attempt's mask beside.
    fn signing(&self) -> Permutations {
        let once = permutations(MESSAGE_LEN) + 1;
        let attempt = self.commitment() + 1;
        Permutations {
            chain: (once + 5) as f64 + self.attempts * attempt as f64,
            all: once as f64 + self.attempts * (attempt + 5 * self.l) as f64,
        }
    }

    /// tr, then µ, then c̃′, which takes the rows of **w**₁ as they come; **Â** and the
    /// challenge beside.
    fn verification(&self, lanes: usize) -> Permutations {
        let tr = permutations(self.verifying_key_len);
        let chain = tr + permutations(MESSAGE_LEN) + self.commitment();
        let all = chain + self.matrix() + 1;
        Permutations::new(chain.max(all.div_ceil(lanes)), all)
    }

    /// µ beside the challenge, then c̃′.
    fn verification_expanded(&self) -> Permutations {
        let chain = permutations(MESSAGE_LEN) + self.commitment();
        Permutations::new(chain, chain + 1)
    }

    /// Five blocks of SHAKE128 for an entry, nearly always.
    fn matrix(&self) -> usize {
        5 * self.k * self.l
    }

    /// H(µ ‖ **w**₁).
    fn commitment(&self) -> usize {
        permutations(64 + self.k * self.w1_len)
    }
}

/// Permutations that absorb this many bytes at the rate of SHAKE256 and SHA3-256, and squeeze a block.
fn permutations(bytes: usize) -> usize {
    bytes / 136 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by hand.
    #[test]
    fn chains_are_as_long_as_they_are() {
        let chain = |permutations: Permutations| permutations.chain as usize;
        let [_, kem, _] = KEM;
        assert_eq!(
            [
                kem.key_generation(8),
                kem.encapsulation(8),
                kem.decapsulation(8)
            ]
            .map(chain),
            [1 + 5 + 9, 9 + 1 + 1, 9]
        );
        assert_eq!(chain(kem.key_generation(4)), 1 + 9 + 9);
        let [_, dsa, _] = DSA;
        assert_eq!(
            [
                dsa.key_generation(8),
                dsa.verification(8),
                dsa.verification_expanded()
            ]
            .map(chain),
            [1 + 22 + 15, 15 + 2 + 7, 2 + 7]
        );
        assert!((dsa.signing().chain - (8.0 + 5.1 * 8.0)).abs() < 1e-9);
    }

    /// Counted by hand.
    #[test]
    fn all_permutations_are_counted() {
        let all = |permutations: Permutations| permutations.all as usize;
        let [_, kem, _] = KEM;
        assert_eq!(
            [
                kem.key_generation(8),
                kem.encapsulation(8),
                kem.decapsulation(8)
            ]
            .map(all),
            [1 + 27 + 6 + 9, 9 + 27 + 1 + 7, 9 + 1 + 7]
        );
        let [_, dsa, _] = DSA;
        assert_eq!(
            [
                dsa.key_generation(8),
                dsa.verification(8),
                dsa.verification_expanded()
            ]
            .map(all),
            [1 + 150 + 22 + 15, 15 + 2 + 7 + 150 + 1, 2 + 7 + 1]
        );
        assert!((dsa.signing().all - (3.0 + 5.1 * 33.0)).abs() < 1e-9);
    }
}
