//! The limits on what deriving a file's keys may cost, and the account of what the file has used of them.

use super::algorithms::KeyDerivation;
use super::error::ProtectionError;

/// Limits on the cost of deriving the keys of a file.
///
/// Anybody may have written the file and chosen its cost. The limits are for the file as a whole, and are
/// checked before each derivation. By default, reading a file takes some seconds and 257 MiB at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CostLimits {
    iterations: u64,
    scrypt_memory: u64,
    scrypt_work: u64,
}

impl Default for CostLimits {
    fn default() -> Self {
        Self {
            // what RFC 8018 section 4.2 names for especially critical keys
            iterations: 10_000_000,
            // N = 2¹⁸ with r = 8, and what scrypt needs beside that
            scrypt_memory: 257 << 20,
            // N = 2¹⁷ with r = 8, sixteen times
            scrypt_work: 1 << 24,
        }
    }
}

impl CostLimits {
    /// Sets the limit on iterations of PBKDF2 and of PKCS#12's own derivation, for the whole file, counted
    /// for each derived block: by default 10,000,000, which RFC 8018 names for especially critical
    /// keys.
    pub fn with_iterations(self, iterations: u64) -> Self {
        Self { iterations, ..self }
    }

    /// Sets the limit on scrypt's memory, 128·r·(N + p + 1), in bytes: by default 257 MiB, enough for
    /// N = 2¹⁸ with r = 8.
    pub fn with_scrypt_memory(self, scrypt_memory: u64) -> Self {
        Self {
            scrypt_memory,
            ..self
        }
    }

    /// Sets the limit on scrypt's work, N·r·p, for the whole file: by default 2²⁴, sixteen times that of
    /// N = 2¹⁷ with r = 8.
    pub fn with_scrypt_work(self, scrypt_work: u64) -> Self {
        Self {
            scrypt_work,
            ..self
        }
    }
}

/// The limits, and what a file has used of them.
pub struct Budget {
    limits: CostLimits,
    iterations: u64,
    scrypt_work: u64,
}

impl Budget {
    /// Nothing is used yet.
    pub fn new(limits: CostLimits) -> Self {
        Self {
            limits,
            iterations: 0,
            scrypt_work: 0,
        }
    }

    /// Charges the cost of deriving a key of this many bytes, or refuses it.
    pub fn spend(
        &mut self,
        derivation: KeyDerivation,
        key_len: usize,
    ) -> Result<(), ProtectionError> {
        match derivation {
            KeyDerivation::Pbkdf2 { prf, iterations } => {
                let blocks = key_len.div_ceil(prf.output_len());
                self.spend_iterations(u64::from(iterations), blocks as u64)
            }
            KeyDerivation::Scrypt { log_n, r, p } => {
                self.spend_scrypt(1 << log_n.min(63), r.into(), p.into())
            }
        }
    }

    /// Charges this many iterations for each of some blocks, or refuses them.
    pub fn spend_iterations(
        &mut self,
        iterations: u64,
        blocks: u64,
    ) -> Result<(), ProtectionError> {
        let all = iterations.saturating_mul(blocks);
        self.iterations = self.iterations.saturating_add(all);
        match self.limits.iterations {
            limit if self.iterations > limit => Err(ProtectionError::TooManyIterations {
                found: self.iterations,
                limit,
            }),
            _ => Ok(()),
        }
    }

    /// Charges a derivation with scrypt, or refuses it.
    pub fn spend_scrypt(&mut self, n: u64, r: u64, p: u64) -> Result<(), ProtectionError> {
        // scrypt has buffers of N, p and one blocks of 128·r bytes at the same time.
        let blocks = n.saturating_add(p).saturating_add(1);
        let memory = blocks.saturating_mul(r).saturating_mul(128);
        let limit = self.limits.scrypt_memory;
        if memory > limit {
            return Err(ProtectionError::TooMuchMemory {
                found: memory,
                limit,
            });
        }
        let work = n.saturating_mul(r).saturating_mul(p);
        self.scrypt_work = self.scrypt_work.saturating_add(work);
        match self.limits.scrypt_work {
            limit if self.scrypt_work > limit => Err(ProtectionError::TooMuchWork {
                found: self.scrypt_work,
                limit,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::Prf;

    /// What a file has used before counts, at each limit and one beyond it.
    #[test]
    fn all_derivations_of_a_file_count() {
        let limits = CostLimits::default();
        let pbkdf2 = |iterations| KeyDerivation::Pbkdf2 {
            prf: Prf::HmacSha256,
            iterations,
        };
        let mut budget = Budget::new(limits.with_iterations(100));
        // A key of two blocks.
        assert_eq!(budget.spend(pbkdf2(20), 33), Ok(()));
        assert_eq!(budget.spend(pbkdf2(59), 32), Ok(()));
        assert_eq!(budget.spend_iterations(1, 1), Ok(()));
        assert_eq!(
            budget.spend(pbkdf2(1), 1),
            Err(ProtectionError::TooManyIterations {
                found: 101,
                limit: 100
            })
        );

        let scrypt = |p| KeyDerivation::Scrypt { log_n: 4, r: 2, p };
        let mut budget = Budget::new(limits.with_scrypt_work(160));
        assert_eq!(budget.spend(scrypt(1), 32), Ok(()));
        assert_eq!(budget.spend(scrypt(4), 32), Ok(()));
        assert_eq!(
            budget.spend(scrypt(1), 32),
            Err(ProtectionError::TooMuchWork {
                found: 192,
                limit: 160
            })
        );
        // Memory is free again afterwards.
        let memory = 128 * 2 * (16 + 1 + 1);
        let mut budget = Budget::new(limits.with_scrypt_memory(memory));
        for _ in 0..3 {
            assert_eq!(budget.spend(scrypt(1), 32), Ok(()));
        }
        assert_eq!(
            budget.spend(scrypt(2), 32),
            Err(ProtectionError::TooMuchMemory {
                found: memory + 128 * 2,
                limit: memory
            })
        );
        // Nothing wraps.
        let mut budget = Budget::new(limits.with_iterations(u64::MAX - 1));
        assert_eq!(budget.spend_iterations(u64::MAX - 1, 1), Ok(()));
        assert!(budget.spend_iterations(u64::MAX, u64::MAX).is_err());
    }

    /// A file's budget is its own.
    #[test]
    fn each_file_begins_anew() {
        let limits = CostLimits::default().with_iterations(1);
        for _ in 0..2 {
            assert_eq!(Budget::new(limits).spend_iterations(1, 1), Ok(()));
        }
    }
}
