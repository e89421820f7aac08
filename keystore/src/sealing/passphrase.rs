//! A KEK from a passphrase, by Argon2id (RFC 9106).

use argon2::{Algorithm, Argon2, Params, Version};
use pq_keys::random;
use zeroize::Zeroizing;

use super::kek::{Kek, KekError, WrappedKey};
use super::{KEY_LEN, cipher};
use crate::encoding::{InvalidRecord, Reader, Writer};

const KIND: &str = "passphrase";
const FORMAT: u8 = 1;
const SALT_LEN: usize = 16;

/// What deriving a key from a passphrase costs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Argon2Cost {
    /// The memory, in KiB: at least 8 for each lane, and at most 2 GiB.
    pub memory: u32,
    /// How often the memory is filled: 1 to 64. With the memory, it is at most as costly as 4 GiB once.
    pub passes: u32,
    /// How many lanes it is divided in: 1 to 64.
    pub lanes: u32,
}

impl Argon2Cost {
    /// The second choice of RFC 9106, section 4: 64 MiB, three passes, four lanes.
    pub const SECOND_CHOICE: Self = Self {
        memory: 64 * 1024,
        passes: 3,
        lanes: 4,
    };

    /// The most memory, in KiB.
    const MAX_MEMORY: u32 = 2 * 1024 * 1024;

    /// Checks the bounds, so that a file can't ask for more memory or time than that.
    fn check(self) -> Result<Params, String> {
        let is_bounded = self.memory <= Self::MAX_MEMORY
            && (1..=64).contains(&self.passes)
            && (1..=64).contains(&self.lanes)
            && u64::from(self.memory) * u64::from(self.passes) <= 2 * u64::from(Self::MAX_MEMORY);
        if !is_bounded {
            return Err(format!("{self:?} costs more than this program accepts"));
        }
        let params = Params::new(self.memory, self.passes, self.lanes, Some(KEY_LEN));
        params.map_err(|error| error.to_string())
    }
}

impl Default for Argon2Cost {
    fn default() -> Self {
        Self::SECOND_CHOICE
    }
}

/// A [`Kek`] from a passphrase.
pub struct PassphraseKek {
    passphrase: Zeroizing<Vec<u8>>,
    cost: Argon2Cost,
}

impl PassphraseKek {
    /// The key from this passphrase. Wrapping has the [usual cost](Argon2Cost::SECOND_CHOICE), and unwrapping that which the
    /// store says, within bounds.
    pub fn new(passphrase: &[u8]) -> Self {
        Self {
            passphrase: passphrase.to_vec().into(),
            cost: Argon2Cost::default(),
        }
    }

    /// Sets what wrapping costs, and so unwrapping later.
    pub fn cost(self, cost: Argon2Cost) -> Self {
        Self { cost, ..self }
    }

    fn derive(
        &self,
        cost: Argon2Cost,
        salt: &[u8; SALT_LEN],
    ) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
        let params = cost.check().map_err(parameters)?;
        let mut key = Zeroizing::new([0; KEY_LEN]);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon2
            .hash_password_into(&self.passphrase, salt, &mut *key)
            .map_err(|error| parameters(error.to_string()))?;
        Ok(key)
    }
}

fn parameters(reason: impl ToString) -> KekError {
    KekError::Parameters {
        kind: KIND,
        reason: reason.to_string(),
    }
}

fn read(bytes: &[u8]) -> Result<(Argon2Cost, [u8; SALT_LEN]), InvalidRecord> {
    let mut reader = Reader::of_format(FORMAT, bytes)?;
    let cost = Argon2Cost {
        memory: reader.u32()?,
        passes: reader.u32()?,
        lanes: reader.u32()?,
    };
    let salt = reader.array()?;
    reader.finish()?;
    Ok((cost, salt))
}

impl Kek for PassphraseKek {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn wrap(&self, store_key: &[u8; KEY_LEN], bound: &[u8]) -> Result<WrappedKey, KekError> {
        let mut salt = [0; SALT_LEN];
        random::fill(&mut salt).map_err(unavailable)?;
        let key = self.derive(self.cost, &salt)?;
        let Argon2Cost {
            memory,
            passes,
            lanes,
        } = self.cost;
        let mut parameters = Writer::of_format(FORMAT);
        parameters.u32(memory).u32(passes).u32(lanes).array(&salt);
        let parameters = parameters.finish();
        let aad = [bound, &parameters].concat();
        let ciphertext = cipher::seal(&key, &aad, store_key).map_err(unavailable)?;
        Ok(WrappedKey {
            parameters,
            ciphertext,
        })
    }

    fn unwrap(
        &self,
        wrapped: &WrappedKey,
        bound: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
        let (cost, salt) = read(&wrapped.parameters).map_err(parameters)?;
        let key = self.derive(cost, &salt)?;
        let aad = [bound, &wrapped.parameters].concat();
        super::kek::open(KIND, &key, &aad, &wrapped.ciphertext)
    }
}

fn unavailable(error: random::RandomnessError) -> KekError {
    KekError::NotAvailable {
        kind: KIND,
        error: error.into(),
    }
}
