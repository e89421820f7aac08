use super::algorithms::KeyDerivation;
use super::error::ProtectionError;

/// What deriving keys may cost whoever reads a file. Its writer chose how much that is, and may have been
/// anybody.
///
/// The limits are for a file as a whole, and are checked before any work is done. By default a file
/// has you compute for some seconds at most, in at most 257 MiB.
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
            // N = 2¹⁸ with r = 8, and what is beside that
            scrypt_memory: 257 << 20,
            // N = 2¹⁷ with r = 8, sixteen times
            scrypt_work: 1 << 24,
        }
    }
}

impl CostLimits {
    /// How many iterations of PBKDF2, and of PKCS#12's own derivation, a file may ask for in all, counted
    /// for each block that is derived: by default 10,000,000, which RFC 8018 names for especially critical
    /// keys.
    pub fn with_iterations(self, iterations: u64) -> Self {
        Self { iterations, ..self }
    }

    /// How many bytes of memory (128·r·(N + p + 1)) scrypt may take: by default 257 MiB, in which is room for
    /// N = 2¹⁸ with r = 8.
    pub fn with_scrypt_memory(self, scrypt_memory: u64) -> Self {
        Self {
            scrypt_memory,
            ..self
        }
    }

    /// How much work (N·r·p) scrypt may be in all: by default 2²⁴, sixteen times that of N = 2¹⁷ with
    /// r = 8.
    pub fn with_scrypt_work(self, scrypt_work: u64) -> Self {
        Self {
            scrypt_work,
            ..self
        }
    }
}

/// What is left of the limits while a file is read.
pub(crate) struct Budget {
    limits: CostLimits,
    iterations: u64,
    scrypt_work: u64,
}

impl Budget {
    pub(crate) fn new(limits: CostLimits) -> Self {
        Self {
            limits,
            iterations: 0,
            scrypt_work: 0,
        }
    }

    /// Takes from it what deriving a key of this many bytes costs, or refuses.
    pub(crate) fn spend(
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

    /// The same of so many iterations for each of some blocks.
    pub(crate) fn spend_iterations(
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

    /// The same of scrypt.
    pub(crate) fn spend_scrypt(&mut self, n: u64, r: u64, p: u64) -> Result<(), ProtectionError> {
        // Its buffers have N, p and one blocks of 128·r bytes, all at the same time.
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
