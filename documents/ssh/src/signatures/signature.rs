//! Makes, reads and verifies signatures in the format SSHSIG. Each names its purpose, and is valid for no other.

use super::error::SignatureError;
use super::message::{HashAlgorithm, HashedMessage};
use crate::encoding::{Reader, check_text, decode, encode, put_string, shown};
use crate::keys::{KeyError, PublicKey, read_name};
use crate::private_key::PrivateKey;

/// A signature of a file, with the signer's public key: the output of `ssh-keygen -Y sign`.
///
/// A valid signature means nothing if the key in it is unknown. Therefore [`verify`](Self::verify) takes the
/// expected key, and [`AllowedSigners`](super::AllowedSigners) contain the expected keys.
///
/// ```
/// use pq_ssh::{HashAlgorithm, HashedMessage, PrivateKey, Signature};
///
/// let key = PrivateKey::generate()?;
/// let message = HashedMessage::read(HashAlgorithm::Sha512, &b"message"[..])?;
/// let text = key.sign("file", &message)?.to_armored();
/// let signature = Signature::from_armored(&text)?;
/// signature.verify(key.public_key(), "file", &message)?;
/// # Ok::<_, Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Signature {
    key: PublicKey,
    namespace: String,
    /// Signed like the rest, so it is kept, although it has no meaning yet.
    reserved: Vec<u8>,
    hash: HashAlgorithm,
    signature: Vec<u8>,
}

impl Signature {
    /// Reads the text of a file. Its first line is the `BEGIN` line, and its last line the `END` line.
    ///
    /// # Errors
    ///
    /// A [`SignatureError`] that says what is wrong with it.
    pub fn from_armored(text: &str) -> Result<Self, SignatureError> {
        Self::from_bytes(&decode(text, LABEL)?)
    }

    /// The text that [`from_armored`](Self::from_armored) reads.
    pub fn to_armored(&self) -> String {
        core::mem::take(&mut *encode(LABEL, &self.to_bytes()))
    }

    /// Reads the signature without its armor. Nothing may follow it.
    ///
    /// # Errors
    ///
    /// A [`SignatureError`] that says what is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SignatureError> {
        let bytes = bytes
            .strip_prefix(MAGIC)
            .ok_or(SignatureError::NotASignature)?;
        let mut reader = Reader::new("the signature", bytes);
        let version = reader.uint32()?;
        if version != VERSION {
            return Err(SignatureError::Version(version));
        }
        let key = PublicKey::from_blob(reader.string()?)?;
        let namespace = checked_namespace(reader.string()?)?.to_owned();
        let reserved = reader.string()?.to_vec();
        let hash = reader.string()?;
        let hash =
            HashAlgorithm::read(hash).ok_or_else(|| SignatureError::UnknownHash(shown(hash)))?;
        let mut blob = Reader::new("the signature's innermost part", reader.string()?);
        reader.finish()?;
        let name = read_name(blob.string()?)?;
        if name != key.name() {
            return Err(SignatureError::Key(KeyError::OtherName {
                line: name,
                key: key.name().to_string(),
            }));
        }
        let signature = blob.string()?.to_vec();
        blob.finish()?;
        Ok(Self {
            key,
            namespace,
            reserved,
            hash,
            signature,
        })
    }

    /// The bytes that [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut blob = Vec::new();
        put_string(&mut blob, self.key.name().as_str().as_bytes());
        put_string(&mut blob, &self.signature);

        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        put_string(&mut bytes, &self.key.to_blob());
        put_string(&mut bytes, self.namespace.as_bytes());
        put_string(&mut bytes, &self.reserved);
        put_string(&mut bytes, self.hash.as_str().as_bytes());
        put_string(&mut bytes, &blob);
        bytes
    }

    /// Signs a message for a purpose, as [`PrivateKey::sign`] does, by a key that is elsewhere, such as in a key store: `sign`
    /// makes its signature of the bytes that it gets.
    ///
    /// # Errors
    ///
    /// [`SignatureError::EmptyNamespace`] and [`SignatureError::Namespace`] for an invalid purpose, and those of `sign`.
    pub fn by<E: From<SignatureError>>(
        key: &PublicKey,
        namespace: &str,
        message: &HashedMessage,
        sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<Self, E> {
        let namespace = checked_namespace(namespace.as_bytes())?;
        let key = key.clone().with_comment("");
        let signed = signed_data(namespace, &[], message);
        Ok(Self {
            key: key.map_err(SignatureError::from)?,
            namespace: namespace.to_owned(),
            reserved: Vec::new(),
            hash: message.algorithm(),
            signature: sign(&signed)?,
        })
    }

    /// The signer's public key, as the signature claims it. It has no comment.
    pub fn public_key(&self) -> &PublicKey {
        &self.key
    }

    /// The purpose (namespace), as the signature claims it.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// How the message has to be hashed.
    pub fn hash_algorithm(&self) -> HashAlgorithm {
        self.hash
    }

    /// Verifies that the signature is by this key, for this purpose (the namespace) and for this message. The key's
    /// name and its comment make no difference.
    ///
    /// # Errors
    ///
    /// A [`SignatureError`] that says which of these is wrong.
    pub fn verify(
        &self,
        key: &PublicKey,
        namespace: &str,
        message: &HashedMessage,
    ) -> Result<(), SignatureError> {
        if !self.key.is_same_key(key) {
            return Err(SignatureError::OtherKey(self.key.fingerprint()));
        }
        if self.namespace != namespace {
            return Err(SignatureError::OtherNamespace {
                signed: self.namespace.clone(),
                wanted: namespace.to_owned(),
            });
        }
        if self.hash != message.algorithm() {
            return Err(SignatureError::OtherHash {
                signed: self.hash,
                hashed: message.algorithm(),
            });
        }
        let signed = signed_data(namespace, &self.reserved, message);
        self.key.key().verify(&signed, &self.signature)?;
        Ok(())
    }
}

impl PrivateKey {
    /// Signs a message for a purpose, as `ssh-keygen -Y sign` does. The purpose, or namespace, is a name such as
    /// `file`, `git` or `releases@example.org`.
    ///
    /// # Errors
    ///
    /// [`SignatureError::EmptyNamespace`] and [`SignatureError::Namespace`] for an invalid purpose, and
    /// [`SignatureError::Signature`] if there is no randomness.
    pub fn sign(
        &self,
        namespace: &str,
        message: &HashedMessage,
    ) -> Result<Signature, SignatureError> {
        Signature::by(self.public_key(), namespace, message, |signed| {
            Ok(self.key().sign(signed)?)
        })
    }
}

fn checked_namespace(namespace: &[u8]) -> Result<&str, SignatureError> {
    match check_text("the namespace", namespace)? {
        "" => Err(SignatureError::EmptyNamespace),
        namespace => Ok(namespace),
    }
}

/// The bytes that the key signs. No message of the SSH protocol begins with `SSHSIG`, so they can't be one.
fn signed_data(namespace: &str, reserved: &[u8], message: &HashedMessage) -> Vec<u8> {
    let mut data = MAGIC.to_vec();
    put_string(&mut data, namespace.as_bytes());
    put_string(&mut data, reserved);
    put_string(&mut data, message.algorithm().as_str().as_bytes());
    put_string(&mut data, message.digest());
    data
}

const MAGIC: &[u8] = b"SSHSIG";
const VERSION: u32 = 1;
const LABEL: &str = "SSH SIGNATURE";
