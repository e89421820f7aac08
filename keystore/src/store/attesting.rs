//! What the store attests of a key: its versions, their states, public keys and where their private keys are, and where the log
//! ended.

use pq_keys::any::{AnyAlgorithm, AnyKeyError, AnyPublicKey};

use super::Store;
use super::error::StoreError;
use super::showing::Whole;
use crate::custody::TokenName;
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::name::{KeyName, Version};
use crate::policy::{Principal, Verb};
use crate::record::{Origin, VersionState, read_token};
use crate::storage::LogHead;

/// Without where private keys are.
const FORMAT_WITHOUT_PLACES: u8 = 1;

const FORMAT: u8 = 2;

/// What keeps the store's signatures of attestations apart from others.
const CONTEXT: &[u8] = b"pq-keystore attestation";

/// What a store says of a key, signed by the store's own ML-DSA-65 key.
///
/// [`encode`](Self::encode) gives bytes to keep or to send, [`decode`](Self::decode) reads them, and
/// [`verify`](Self::verify) shows that the store with this [public key](Store::public_key) said so.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Attestation {
    /// The number of the store.
    pub store: [u8; 16],
    /// The key.
    pub key: KeyName,
    /// The algorithm of its versions.
    pub algorithm: AnyAlgorithm,
    /// Whether its private keys can leave the store.
    pub exportable: bool,
    /// Its versions, the oldest first.
    pub versions: Vec<AttestedVersion>,
    /// Where the audit log ended then.
    pub head: LogHead,
    /// When, in milliseconds since 1970, by the clock of the machine.
    pub time: u64,
    /// The signature.
    pub signature: Vec<u8>,
    format: u8,
}

/// A version of a key, in an [`Attestation`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AttestedVersion {
    /// The number.
    pub version: Version,
    /// The state.
    pub state: VersionState,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// The public key, as SubjectPublicKeyInfo.
    pub spki: Vec<u8>,
    /// Where the private key is, or was until it was destroyed. Attestations of before say nothing of it.
    pub place: Option<KeyPlace>,
}

/// Where the private key of a version is, in an [`AttestedVersion`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct KeyPlace {
    /// The token that it is in, which doesn't give it out; `None` if it is sealed in the store.
    pub token: Option<TokenName>,
    /// Whether it was made there, or comes from elsewhere, where somebody may still have it.
    pub origin: Origin,
}

impl KeyPlace {
    fn write(&self, writer: &mut Writer) {
        self.origin.write(writer);
        match &self.token {
            Some(token) => writer.bool(true).text(token.as_str()),
            None => writer.bool(false),
        };
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, InvalidRecord> {
        Ok(Self {
            origin: Origin::read(reader)?,
            token: match reader.bool()? {
                true => Some(read_token(reader)?),
                false => None,
            },
        })
    }
}

/// Why bytes are no attestation, or it isn't the store's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAttestation {
    /// It can't be read.
    #[error("it is no attestation: {0}")]
    Form(InvalidRecord),
    /// The signature isn't the store's.
    #[error("its signature is not the store's: {0}")]
    Signature(AnyKeyError),
}

impl Store {
    /// Attests the versions of a key, as they are now. The log says so.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`], [`StoreError::NotFound`], [`StoreError::Damaged`] if a version is, and those of the storage.
    pub fn attest(&self, principal: &Principal, name: &KeyName) -> Result<Attestation, StoreError> {
        let inner = self.inner();
        inner.permitted(principal, Verb::Attest, name)?;
        let event = crate::audit::Event::done(principal, Verb::Attest).with(name, None);
        inner.log(&[event])?;
        let Whole {
            record,
            versions,
            head,
        } = inner.whole(name)?;
        let attested = versions
            .into_iter()
            .map(|(version, state, found)| AttestedVersion {
                version,
                state,
                created: found.created,
                place: Some(KeyPlace {
                    token: found.private.in_token().map(|place| place.token.clone()),
                    origin: found.origin,
                }),
                spki: found.spki,
            });
        let mut attestation = Attestation {
            store: inner.table.store,
            key: name.clone(),
            algorithm: record.algorithm,
            exportable: record.policy.exportable,
            versions: attested.collect(),
            head,
            time: inner.options.now(),
            signature: Vec::new(),
            format: FORMAT,
        };
        attestation.signature = inner
            .own_key
            .sign_with_context(&attestation.body(), CONTEXT)?;
        Ok(attestation)
    }
}

impl Attestation {
    fn body(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(self.format);
        writer
            .array(&self.store)
            .text(&self.key.to_string())
            .text(self.algorithm.name())
            .bool(self.exportable)
            .u32(u32::try_from(self.versions.len()).unwrap_or(u32::MAX));
        for version in &self.versions {
            writer.u32(version.version.get());
            version.state.write(&mut writer);
            writer.u64(version.created).bytes(&version.spki);
            if let Some(place) = &version.place {
                place.write(&mut writer);
            }
        }
        writer
            .u64(self.head.sequence)
            .array(&self.head.hash)
            .u64(self.time)
            .finish()
    }

    /// The attestation as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.bytes(&self.body()).bytes(&self.signature).finish()
    }

    /// Reads what [`encode`](Self::encode) made. It verifies nothing.
    ///
    /// # Errors
    ///
    /// [`InvalidAttestation::Form`].
    pub fn decode(bytes: &[u8]) -> Result<Self, InvalidAttestation> {
        Self::read(bytes).map_err(InvalidAttestation::Form)
    }

    fn read(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let mut outer = Reader::new(bytes);
        let (body, signature) = (outer.bytes()?, outer.bytes()?);
        outer.finish()?;
        let (mut reader, format) = Reader::of_formats(&[FORMAT_WITHOUT_PLACES, FORMAT], body)?;
        let store = reader.array()?;
        let key = reader.text()?.parse();
        let key = key.map_err(|_| InvalidRecord::Value("no name of a key"))?;
        let algorithm = crate::record::read_algorithm(&mut reader)?;
        let exportable = reader.bool()?;
        let mut versions: Vec<AttestedVersion> = Vec::new();
        for _ in 0..reader.u32()? {
            let version = Version::new(reader.u32()?);
            let next = AttestedVersion {
                version: version.ok_or(InvalidRecord::Value("a version is 0"))?,
                state: VersionState::read(&mut reader)?,
                created: reader.u64()?,
                spki: reader.bytes()?.into(),
                place: match format {
                    FORMAT => Some(KeyPlace::read(&mut reader)?),
                    _ => None,
                },
            };
            if versions
                .last()
                .is_some_and(|last| last.version >= next.version)
            {
                return Err(InvalidRecord::Value("versions are out of order"));
            }
            versions.push(next);
        }
        let head = LogHead {
            sequence: reader.u64()?,
            hash: reader.array()?,
        };
        let time = reader.u64()?;
        reader.finish()?;
        Ok(Self {
            store,
            key,
            algorithm,
            exportable,
            versions,
            head,
            time,
            signature: signature.into(),
            format,
        })
    }

    /// Verifies the signature with the store's public key.
    ///
    /// # Errors
    ///
    /// [`InvalidAttestation::Signature`].
    pub fn verify(&self, key: &AnyPublicKey) -> Result<(), InvalidAttestation> {
        let verified = key.verify_with_context(&self.body(), &self.signature, CONTEXT);
        verified.map_err(InvalidAttestation::Signature)
    }
}

#[cfg(test)]
mod tests {
    use pq_keys::any::{AnyPrivateKey, AnySigningKey};

    use super::*;

    fn signed(key: &AnyPrivateKey, body: &[u8]) -> Vec<u8> {
        let key = AnySigningKey::try_from(key.clone()).unwrap();
        let signature = key.sign_with_context(body, CONTEXT).unwrap();
        Writer::default().bytes(body).bytes(&signature).finish()
    }

    fn body(format: u8, place: &[u8]) -> Vec<u8> {
        let mut writer = Writer::of_format(format);
        writer
            .array(&[7; 16])
            .text("shop/files/app")
            .text("ML-DSA-44")
            .bool(false)
            .u32(1)
            .u32(3);
        VersionState::Enabled.write(&mut writer);
        writer.u64(1000).bytes(b"key").array(place);
        writer.u64(5).array(&[8; 32]).u64(2000).finish()
    }

    fn read(format: u8, place: &[u8]) -> Result<Attestation, InvalidAttestation> {
        let key = AnyPrivateKey::generate(AnyAlgorithm::named("ML-DSA-65").unwrap()).unwrap();
        let bytes = signed(&key, &body(format, place));
        let read = Attestation::decode(&bytes)?;
        read.verify(&key.public_half())?;
        assert_eq!(read.encode(), bytes);
        Ok(read)
    }

    #[test]
    fn those_of_before_verify_and_say_less() {
        let before = read(1, b"").unwrap();
        assert_eq!(before.versions[0].place, None);
        let mut place = read(2, b"\0\x01\0\0\0\x03hsm").unwrap().versions;
        let place = place.remove(0).place.unwrap();
        assert_eq!(place.token.unwrap().as_str(), "hsm");
    }

    /// What isn't known is refused, and not left out.
    #[test]
    fn what_is_not_known_is_refused() {
        for (format, place) in [
            (3, &b"\0\0"[..]),
            (2, b""),
            (1, b"\0\0"),
            // Another place than a token or the store, another origin, and a name that is none.
            (2, b"\0\x02"),
            (2, b"\x07\0"),
            (2, b"\0\x01\0\0\0\x03a/b"),
            (2, b"\0\0\0"),
        ] {
            let refused = read(format, place);
            assert!(
                matches!(refused, Err(InvalidAttestation::Form(_))),
                "{format} {place:?}"
            );
        }
    }
}
