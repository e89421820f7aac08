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

    /// Charges the cost of deriving a key of this many bytes, or refuses it.
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

    /// Charges this many iterations for each of some blocks, or refuses them.
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

    /// Charges a derivation with scrypt, or refuses it.
    pub(crate) fn spend_scrypt(&mut self, n: u64, r: u64, p: u64) -> Result<(), ProtectionError> {
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
