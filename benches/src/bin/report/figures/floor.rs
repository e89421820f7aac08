//! The floor of an operation: the permutations that it can't do side by side.
//!
//! What an operation takes at least is its longest chain of permutations of which each needs
//! the one before, in the shortest step that there is, with all others in the lanes beside; and
//! arithmetic. Where eight permutations in eight lanes take as long as one, nothing else counts.

use benches::ours::keccak::Step;

use crate::figures::operations::Column;
use crate::figures::tables::Tables;

/// Lanes of 64 bits in a register of AVX-512.
const LANES: usize = 8;

/// Where an operation stands above its floor.
pub(crate) struct Floor {
    pub(crate) set: &'static str,
    pub(crate) operation: &'static str,
    /// The chain's length; for signing the expected one.
    pub(crate) permutations: f64,
    /// Nanoseconds.
    pub(crate) floor: f64,
    /// Nanoseconds.
    pub(crate) ours: f64,
}

/// More than so many times the floor wants a reason.
pub(crate) const EXPLAINED_ABOVE: f64 = 1.8;

/// When [`Floor::rest()`] was found out, on the reference CPU.
pub(crate) const PROFILED: &str = "2026-11-20";

impl Floor {
    pub(crate) fn ratio(&self) -> f64 {
        self.ours / self.floor
    }

    /// Where the time goes, where much of it is above the floor: from profiles of ML-KEM-768
    /// and ML-DSA-65 with AVX-512, by `perf record` of `--only pq-core/AVX-512`.
    pub(crate) fn rest(&self) -> &'static str {
        if self.ratio() <= EXPLAINED_ABOVE {
            return "";
        }
        match (self.set.starts_with("ML-KEM"), self.operation) {
            (true, _) => {
                "56 % is permutations; sampling, transforms, products and compression take a third, \
                 zeroing and copying memory a tenth"
            }
            (false, "key-generation") => {
                "49 % is permutations, transforms 15 %, sampling 11 %, memory 11 %, products 4 %"
            }
            (false, "signing") => {
                "31 % is permutations; the transforms of all attempts take 33 %, products 8 %, \
                 checks and packing the rest"
            }
            (false, "verification") => {
                "47 % is permutations, transforms 21 %, products 8 %, sampling 5 %, then unpacking \
                 and hints"
            }
            (false, _) => "45 % is permutations, transforms 25 %, products 13 %, then hints",
        }
    }
}

/// The floors of everything that was measured with AVX-512.
pub(crate) fn floors(tables: &Tables) -> Vec<Floor> {
    let Some(permutation) = Step::ALL
        .into_iter()
        .filter_map(|step| tables.step(step, Column::Avx512))
        .min_by(f64::total_cmp)
    else {
        return Vec::new();
    };
    let kem = KEM.iter().flat_map(|set| {
        [
            (set.name, "key-generation", set.key_generation() as f64),
            (set.name, "encapsulation", set.encapsulation() as f64),
            (set.name, "decapsulation", set.decapsulation() as f64),
        ]
    });
    let dsa = DSA.iter().flat_map(|set| {
        [
            (set.name, "key-generation", set.key_generation() as f64),
            (set.name, "signing", set.signing()),
            (set.name, "verification", set.verification() as f64),
            (
                set.name,
                "verification-expanded",
                set.verification_expanded() as f64,
            ),
        ]
    });
    kem.chain(dsa)
        .filter_map(|(set, operation, permutations)| {
            let table = format!("{set}/{operation}");
            Some(Floor {
                set,
                operation,
                permutations,
                floor: permutations * permutation,
                ours: tables.median(&table, &Column::Avx512.ours())?,
            })
        })
        .collect()
}

/// What of a parameter set of FIPS 203 decides on the chain.
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
    fn key_generation(&self) -> usize {
        let noise = 2 * self.k * self.eta1_blocks;
        1 + (self.matrix() + noise).div_ceil(LANES) + self.hash_of_key()
    }

    /// H(ek) beside **Â**, then G, then the noise.
    fn encapsulation(&self) -> usize {
        let key = self.hash_of_key();
        key.max((key + self.matrix()).div_ceil(LANES)) + 1 + self.noise()
    }

    /// J(z ‖ c), beside G and the noise.
    fn decapsulation(&self) -> usize {
        permutations(32 + self.ciphertext_len).max(1 + self.noise())
    }

    /// Three blocks of SHAKE128 for an entry, nearly always.
    fn matrix(&self) -> usize {
        3 * self.k * self.k
    }

    fn hash_of_key(&self) -> usize {
        permutations(384 * self.k + 32)
    }

    /// Steps for **y** with η₁, and **e**₁ and e₂ with η₂ = 2, one block each.
    fn noise(&self) -> usize {
        let blocks = self.k * self.eta1_blocks + self.k + 1;
        blocks.div_ceil(LANES).max(self.eta1_blocks)
    }
}

/// What of a parameter set of FIPS 204 decides on the chain.
struct Dsa {
    name: &'static str,
    k: usize,
    l: usize,
    /// Length of an encoded polynomial of **w**₁.
    w1_len: usize,
    verifying_key_len: usize,
    /// The expected number (FIPS 204, table 1).
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

/// The message that is signed, behind tr and two bytes of format.
const MESSAGE_LEN: usize = 64 + 2 + 130;

impl Dsa {
    /// H(ξ), then **Â** and the secrets (two blocks each), then tr.
    fn key_generation(&self) -> usize {
        let secrets = 2 * (self.k + self.l);
        1 + (self.matrix() + secrets).div_ceil(LANES) + permutations(self.verifying_key_len)
    }

    /// µ and ρ″, the first mask (five blocks), and for each attempt c̃ and the challenge; the
    /// next attempt's mask beside.
    fn signing(&self) -> f64 {
        let once = permutations(MESSAGE_LEN) + 1 + 5;
        once as f64 + self.attempts * (self.commitment() + 1) as f64
    }

    /// tr, then µ, then c̃′, which takes the rows of **w**₁ as they come; **Â** and the
    /// challenge beside.
    fn verification(&self) -> usize {
        let chain = permutations(self.verifying_key_len) + self.verification_expanded();
        chain.max((chain + self.matrix() + 1).div_ceil(LANES))
    }

    /// µ beside the challenge, then c̃′.
    fn verification_expanded(&self) -> usize {
        permutations(MESSAGE_LEN) + self.commitment()
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

/// To absorb so many bytes at the rate of SHAKE256 and SHA3-256, and to squeeze a block.
fn permutations(bytes: usize) -> usize {
    bytes / 136 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by hand.
    #[test]
    fn chains_are_as_long_as_they_are() {
        let [_, kem, _] = KEM;
        assert_eq!(
            [
                kem.key_generation(),
                kem.encapsulation(),
                kem.decapsulation()
            ],
            [1 + 5 + 9, 9 + 1 + 1, 9]
        );
        let [_, dsa, _] = DSA;
        assert_eq!(
            [
                dsa.key_generation(),
                dsa.verification(),
                dsa.verification_expanded()
            ],
            [1 + 22 + 15, 15 + 2 + 7, 2 + 7]
        );
        assert!((dsa.signing() - (8.0 + 5.1 * 8.0)).abs() < 1e-9);
    }
}
