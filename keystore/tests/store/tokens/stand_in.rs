//! A stand-in for a token, in memory, which goes away, fails and lies when it is told to.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use std::sync::Mutex;

use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey};
use pq_keys::signing::{Digest, HashedMessage, PreHash, SignatureOptions, SigningVariant};
use pq_keys::{Algorithm, PrivateKey};
use pq_keystore::StoreOptions;
use pq_keystore::custody::answers::InvalidAnswer;
use pq_keystore::custody::{ObjectId, Token, TokenError, TokenInput, TokenName, TokenSerial};
use pq_keystore::policy::Input;
use pq_keystore::storage::Storage;
use zeroize::Zeroizing;

use super::token;
use crate::places::{Memory, Place};

/// How a token behaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mood {
    Well,
    Away,
    /// It makes keys, and then doesn't answer.
    AwayAfterMaking,
    /// It makes a key of another algorithm.
    MakesAnother,
    /// It says another public key of its algorithm than that of the key that it makes.
    TellsAnother,
    /// It takes a key, and keeps another of its algorithm.
    ImportsAnother,
    /// It signs with a key that it makes up.
    SignsByAnother,
    /// It signs something else.
    SignsAnother,
    /// It answers with so many bytes.
    SignsBytes(usize),
}

pub(crate) struct TokenInMemory {
    /// The private keys under each identifier; without any, the public key alone is left.
    keys: Mutex<BTreeMap<ObjectId, Vec<AnyPrivateKey>>>,
    mood: Mutex<Mood>,
    serial: Mutex<Option<TokenSerial>>,
}

impl TokenInMemory {
    /// With this serial number, or one that tells none.
    pub(crate) fn new(serial: Option<&str>) -> Self {
        Self {
            keys: Mutex::default(),
            mood: Mutex::new(Mood::Well),
            serial: Mutex::new(serial.and_then(TokenSerial::new)),
        }
    }

    /// Another one with the same keys, as when a backup of a token is restored.
    pub(crate) fn copy(&self, serial: &str) -> Self {
        Self {
            keys: Mutex::new(self.keys.lock().unwrap().clone()),
            ..Self::new(Some(serial))
        }
    }

    /// It has this serial number from now on.
    pub(crate) fn becomes(&self, serial: &str) {
        *self.serial.lock().unwrap() = TokenSerial::new(serial);
    }

    pub(crate) fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn mood(&self) -> Result<Mood, TokenError> {
        match *self.mood.lock().unwrap() {
            Mood::Away => Err(TokenError::Away("nobody answers".into())),
            mood => Ok(mood),
        }
    }

    fn key(&self, object: &ObjectId) -> Result<AnyPrivateKey, TokenError> {
        let found = self.keys.lock().unwrap().get(object).cloned();
        match &found.unwrap_or_default()[..] {
            [] => Err(TokenError::NoObject(*object)),
            [key] => Ok(key.clone()),
            several => Err(InvalidAnswer::Several(several.len()).into()),
        }
    }

    /// Somebody changes its private keys by other means.
    pub(crate) fn change(&self, object: &ObjectId, change: impl FnOnce(&mut Vec<AnyPrivateKey>)) {
        change(self.keys.lock().unwrap().get_mut(object).unwrap());
    }
}

fn unsupported(what: &str) -> TokenError {
    TokenError::Unsupported { what: what.into() }
}

impl Token for TokenInMemory {
    fn generate(
        &self,
        algorithm: AnyAlgorithm,
        object: &ObjectId,
        _: &str,
    ) -> Result<AnyPublicKey, TokenError> {
        let mood = self.mood()?;
        if !matches!(
            algorithm,
            AnyAlgorithm::PostQuantum(_) | AnyAlgorithm::Classical(_)
        ) {
            return Err(unsupported("make such keys"));
        }
        let algorithm = match mood {
            Mood::MakesAnother => AnyAlgorithm::named("ML-DSA-87").unwrap(),
            _ => algorithm,
        };
        let key = AnyPrivateKey::generate(algorithm).unwrap();
        let public = key.public_half();
        let before = self.keys.lock().unwrap().insert(*object, vec![key]);
        assert!(before.is_none(), "it has such an object");
        match mood {
            Mood::AwayAfterMaking => Err(TokenError::Away("the line is cut".into())),
            Mood::TellsAnother => Ok(AnyPrivateKey::generate(algorithm).unwrap().public_half()),
            _ => Ok(public),
        }
    }

    fn import(&self, key: &AnyPrivateKey, object: &ObjectId, _: &str) -> Result<(), TokenError> {
        let mood = self.mood()?;
        let key = match (key, mood) {
            (AnyPrivateKey::PostQuantum(_) | AnyPrivateKey::Classical(_), Mood::ImportsAnother) => {
                AnyPrivateKey::generate(key.algorithm()).unwrap()
            }
            (AnyPrivateKey::PostQuantum(_) | AnyPrivateKey::Classical(_), _) => key.clone(),
            _ => return Err(unsupported("import such keys")),
        };
        let before = self.keys.lock().unwrap().insert(*object, vec![key]);
        assert!(before.is_none(), "it has such an object");
        match mood {
            Mood::AwayAfterMaking => Err(TokenError::Away("the line is cut".into())),
            _ => Ok(()),
        }
    }

    fn sign(&self, request: &TokenInput<'_>) -> Result<Vec<u8>, TokenError> {
        let mood = self.mood()?;
        let mut key = self.key(request.object)?;
        if key.algorithm() != request.algorithm {
            return Err(TokenError::Refused("its key is of another type".into()));
        }
        match mood {
            Mood::SignsBytes(len) => return Ok(vec![7; len]),
            Mood::SignsByAnother => key = AnyPrivateKey::generate(request.algorithm).unwrap(),
            _ => {}
        }
        match (key, request.input) {
            (
                AnyPrivateKey::PostQuantum(PrivateKey::Signing(key)),
                Input::Message { message, context },
            ) => {
                let message = if mood == Mood::SignsAnother {
                    b"other"
                } else {
                    message
                };
                let options = SignatureOptions::new().context(context);
                Ok(key
                    .sign_with(message, &options, SigningVariant::Hedged)
                    .unwrap())
            }
            (
                AnyPrivateKey::PostQuantum(PrivateKey::Signing(key)),
                Input::Digest {
                    hash: hash @ (PreHash::Sha256 | PreHash::Sha512),
                    digest,
                    context,
                },
            ) => {
                let digest = Digest::from_bytes(hash, digest).unwrap();
                let hashed = HashedMessage::from_digest(digest, context);
                Ok(key.sign_hashed(&hashed, SigningVariant::Hedged).unwrap())
            }
            (key @ AnyPrivateKey::Classical(_), Input::Message { message, .. }) => {
                Ok(AnySigningKey::try_from(key).unwrap().sign(message).unwrap())
            }
            _ => Err(unsupported("sign this")),
        }
    }

    fn decapsulate(
        &self,
        object: &ObjectId,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, TokenError> {
        self.mood()?;
        let AnyPrivateKey::PostQuantum(PrivateKey::Decapsulation(key)) = self.key(object)? else {
            return Err(unsupported("decapsulate"));
        };
        let mut secret = Zeroizing::new([0; 32]);
        key.decapsulate_into(ciphertext, &mut secret).unwrap();
        Ok(secret)
    }

    fn destroy(&self, object: &ObjectId) -> Result<(), TokenError> {
        if self.mood()? == Mood::AwayAfterMaking {
            return Err(TokenError::Away("the line is cut".into()));
        }
        let removed = self.keys.lock().unwrap().remove(object);
        removed.map(drop).ok_or(TokenError::NoObject(*object))
    }

    fn objects(&self, _: [u8; 16]) -> Result<Vec<ObjectId>, TokenError> {
        self.mood()?;
        Ok(self.keys.lock().unwrap().keys().copied().collect())
    }

    fn private_keys(&self, object: &ObjectId) -> Result<usize, TokenError> {
        self.mood()?;
        let keys = self.keys.lock().unwrap();
        Ok(keys.get(object).map_or(0, Vec::len))
    }

    fn serial(&self) -> Result<Option<TokenSerial>, TokenError> {
        self.mood()?;
        Ok(self.serial.lock().unwrap().clone())
    }

    fn description(&self) -> String {
        "a stand-in".into()
    }
}

/// The serial number of the stand-in.
pub(super) const SERIAL: &str = "A 1";

/// Rows in memory, and keys in a stand-in for a token.
pub(crate) struct StandIn {
    rows: Memory,
    pub(crate) token: Arc<TokenInMemory>,
}

impl StandIn {
    pub(super) fn with(token: TokenInMemory) -> Self {
        Self {
            rows: Memory::new(),
            token: Arc::new(token),
        }
    }
}

impl Place for StandIn {
    fn new() -> Self {
        Self::with(TokenInMemory::new(Some(SERIAL)))
    }

    fn open(&self) -> Arc<dyn Storage> {
        self.rows.open()
    }

    fn options(&self) -> StoreOptions {
        StoreOptions::default().token(token(), self.token.clone())
    }

    fn token(&self) -> Option<TokenName> {
        Some(token())
    }

    fn in_token(&self) -> Arc<dyn Token> {
        self.token.clone()
    }

    fn algorithm(name: &'static str) -> Option<&'static str> {
        let algorithm = AnyAlgorithm::named(name)?;
        let has = matches!(
            algorithm,
            AnyAlgorithm::PostQuantum(Algorithm::Signature(_) | Algorithm::Kem(_))
                | AnyAlgorithm::Classical(_)
        );
        has.then_some(name)
    }
}
