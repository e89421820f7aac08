//! Reads and writes public and private COSE_Keys (RFC 9052, section 7; RFC 9964), and makes their thumbprints (RFC
//! 9679).

use core::slice;

use pq_keys::{SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use super::error::CoseError;
use crate::akp::{
    AkpError, Algorithm, Identified, PrivateKey, PublicKey, Thumbprint, signs_by_its_key,
};
use crate::encoding::cbor::{self, Label, Reader, Writer};
use crate::encoding::shown;

/// A COSE_Key that verifies signatures of the algorithm that it names.
#[derive(Clone, Debug)]
pub struct CoseKey {
    key: PublicKey,
    kid: Option<Vec<u8>>,
}

impl CoseKey {
    /// A key without an identifier.
    ///
    /// # Errors
    ///
    /// [`CoseError::Key`], if its algorithm has no number in COSE.
    pub fn new(key: VerifyingKey) -> Result<Self, CoseError> {
        Ok(Self {
            key: PublicKey::new(key)?,
            kid: None,
        })
    }

    /// Reads a public key. A key with a private part is refused: see
    /// [`CosePrivateKey::from_cbor`].
    ///
    /// # Errors
    ///
    /// A [`CoseError`] that says what is wrong with it.
    pub fn from_cbor(bytes: &[u8]) -> Result<Self, CoseError> {
        let parameters = Parameters::read(bytes)?;
        match parameters.private {
            Some(_) => Err(CoseError::Private),
            None => parameters.public(VERIFY),
        }
    }

    /// The key as deterministic CBOR.
    pub fn to_cbor(&self) -> Vec<u8> {
        write(&self.key, self.kid(), None)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.key.algorithm()
    }

    /// The key itself.
    pub fn verifying_key(&self) -> &VerifyingKey {
        self.key.key()
    }

    /// The key's identifier (`kid`), if it has one.
    pub fn kid(&self) -> Option<&[u8]> {
        self.kid.as_deref()
    }

    /// The same key with this identifier.
    #[must_use]
    pub fn with_kid(self, kid: &[u8]) -> Self {
        Self {
            kid: Some(kid.to_vec()),
            ..self
        }
    }

    /// The same key with its [`thumbprint`](Self::thumbprint) as its identifier, as in the examples of
    /// RFC 9964.
    #[must_use]
    pub fn with_thumbprint_as_kid(self) -> Self {
        let thumbprint = self.thumbprint();
        self.with_kid(thumbprint.as_bytes())
    }

    /// The SHA-256 of the type, the algorithm and the key (RFC 9679; RFC 9964, section 6).
    pub fn thumbprint(&self) -> Thumbprint {
        Thumbprint::of(&write(&self.key, None, None))
    }
}

impl Identified for CoseKey {
    type Kid = [u8];

    fn kid(&self) -> Option<&[u8]> {
        self.kid()
    }

    fn public(&self) -> &PublicKey {
        &self.key
    }
}

/// One key can be given where several keys are accepted.
impl AsRef<[Self]> for CoseKey {
    fn as_ref(&self) -> &[Self] {
        slice::from_ref(self)
    }
}

/// A COSE_Key that signs: a seed.
///
/// It is a [`Signer`](pq_keys::Signer) as its [`signing_key`](Self::signing_key) is.
#[derive(Clone, Debug)]
pub struct CosePrivateKey {
    key: PrivateKey,
    public: CoseKey,
}

impl CosePrivateKey {
    /// A key without an identifier.
    ///
    /// # Errors
    ///
    /// [`CoseError::Key`], if its algorithm has no number in COSE, or if the key has no seed.
    pub fn new(key: SigningKey) -> Result<Self, CoseError> {
        let key = PrivateKey::new(key)?;
        let public = CoseKey {
            key: key.public().clone(),
            kid: None,
        };
        Ok(Self { key, public })
    }

    /// Reads a private key. It has to contain its public part, which has to match. No copy of the private part is
    /// left behind, except `bytes` themselves, which the caller has to wipe.
    ///
    /// # Errors
    ///
    /// A [`CoseError`] that says what is wrong with it.
    pub fn from_cbor(bytes: &[u8]) -> Result<Self, CoseError> {
        let parameters = Parameters::read(bytes)?;
        let seed = parameters.private.ok_or(CoseError::NotPrivate)?;
        let public = parameters.public(SIGN)?;
        Ok(Self {
            key: PrivateKey::from_parts(public.key.clone(), seed)?,
            public,
        })
    }

    /// The key as deterministic CBOR.
    ///
    /// # Errors
    ///
    /// [`CoseError::Key`], if the key has no seed. Every `CosePrivateKey` has one.
    pub fn to_cbor(&self) -> Result<Zeroizing<Vec<u8>>, CoseError> {
        let bytes = write(self.key.public(), self.public.kid(), Some(self.key.seed()?));
        Ok(Zeroizing::new(bytes))
    }

    /// The public half, with the same identifier.
    pub fn public(&self) -> &CoseKey {
        &self.public
    }

    /// The key itself.
    pub fn signing_key(&self) -> &SigningKey {
        self.key.key()
    }

    /// The same key with this identifier.
    #[must_use]
    pub fn with_kid(self, kid: &[u8]) -> Self {
        Self {
            public: self.public.with_kid(kid),
            ..self
        }
    }

    /// The same key with the [thumbprint](CoseKey::thumbprint) of its public half as its identifier.
    #[must_use]
    pub fn with_thumbprint_as_kid(self) -> Self {
        Self {
            public: self.public.with_thumbprint_as_kid(),
            ..self
        }
    }
}

signs_by_its_key!(CosePrivateKey);

/// The labels of RFC 9052 section 7.1 and RFC 9964 section 3.
const TYPE: i64 = 1;
const KID: i64 = 2;
const ALGORITHM: i64 = 3;
const OPERATIONS: i64 = 4;
const PUBLIC: i64 = -1;
const PRIVATE: i64 = -2;

/// Values of the type (AKP) and of the operations.
const AKP: i64 = 7;
const SIGN: i64 = 1;
const VERIFY: i64 = 2;

#[derive(Default)]
struct Parameters<'a> {
    algorithm: Option<Label<'a>>,
    kid: Option<&'a [u8]>,
    operations: Option<Vec<Label<'a>>>,
    public: Option<&'a [u8]>,
    private: Option<&'a [u8]>,
}

impl<'a> Parameters<'a> {
    /// Reads the parameters of a key, and ignores unknown ones.
    fn read(bytes: &'a [u8]) -> Result<Self, CoseError> {
        let mut read = Self::default();
        let mut has_type = false;
        cbor::read(bytes, |reader: &mut Reader<'a>| {
            reader.map::<CoseError>("a COSE_Key", |label, reader| {
                match label {
                    Label::Number(TYPE) => {
                        has_type = true;
                        if reader.label("a type")? != Label::Number(AKP) {
                            return Err(CoseError::KeyType);
                        }
                    }
                    Label::Number(KID) => read.kid = Some(reader.bytes("a key's identifier")?),
                    Label::Number(ALGORITHM) => {
                        read.algorithm = Some(reader.label("an algorithm")?)
                    }
                    Label::Number(OPERATIONS) => read.operations = Some(operations(reader)?),
                    Label::Number(PUBLIC) => read.public = Some(reader.bytes("the public key")?),
                    Label::Number(PRIVATE) => read.private = Some(reader.bytes("the private key")?),
                    _ => return Ok(false),
                }
                Ok(true)
            })
        })?;
        match has_type {
            true => Ok(read),
            false => Err(CoseError::Missing("type (1)")),
        }
    }

    /// The public half of a key that is for this operation.
    fn public(&self, operation: i64) -> Result<CoseKey, CoseError> {
        let operation = Label::Number(operation);
        if self
            .operations
            .as_ref()
            .is_some_and(|of| !of.contains(&operation))
        {
            return Err(CoseError::NotForThis);
        }
        let label = self.algorithm.ok_or(CoseError::Missing("algorithm (3)"))?;
        let algorithm = known(label).ok_or_else(|| AkpError::Algorithm(describe(label)))?;
        let bytes = self.public.ok_or(CoseError::Missing("public key (-1)"))?;
        Ok(CoseKey {
            key: PublicKey::from_bytes(algorithm, bytes)?,
            kid: self.kid.map(Into::into),
        })
    }
}

fn operations<'a>(reader: &mut Reader<'a>) -> Result<Vec<Label<'a>>, CoseError> {
    let len = reader.any_array("the operations of a key")?;
    // Nothing is reserved: the length may be hostile.
    let mut operations = Vec::new();
    for _ in 0..len {
        operations.push(reader.label("an operation")?);
    }
    Ok(operations)
}

/// The algorithm, if this crate supports it. All supported ones are numbers.
pub(super) fn known(label: Label<'_>) -> Option<Algorithm> {
    match label {
        Label::Number(number) => Algorithm::of_cose_number(number),
        Label::Text(_) => None,
    }
}

/// An algorithm for messages.
pub(super) fn describe(label: Label<'_>) -> String {
    match label {
        Label::Number(number) => format!("the algorithm {number}"),
        Label::Text(text) => format!("the algorithm \"{}\"", shown(text)),
    }
}

/// Writes a key into one buffer that is long enough. Without identifier and private part, the result is the input
/// of the thumbprint.
fn write(key: &PublicKey, kid: Option<&[u8]>, seed: Option<&[u8]>) -> Vec<u8> {
    /// Room for all labels, heads and small numbers.
    const ROOM: usize = 64;

    let public = key.key().as_bytes();
    let (kid_len, seed_len) = (kid.map_or(0, <[u8]>::len), seed.map_or(0, <[u8]>::len));
    let mut bytes = Vec::with_capacity(public.len() + kid_len + seed_len + ROOM);
    let mut writer = Writer(&mut bytes);
    writer.map(3 + u64::from(kid.is_some()) + u64::from(seed.is_some()));
    writer.number(TYPE);
    writer.number(AKP);
    if let Some(kid) = kid {
        writer.number(KID);
        writer.bytes(kid);
    }
    writer.number(ALGORITHM);
    writer.number(key.algorithm().cose_number());
    writer.number(PUBLIC);
    writer.bytes(public);
    if let Some(seed) = seed {
        writer.number(PRIVATE);
        writer.bytes(seed);
    }
    bytes
}
