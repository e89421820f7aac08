//! A token behind PKCS#11 as a place for private keys.

use core::num::NonZeroUsize;

use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{
    Attribute, AttributeInfo, AttributeType, KeyType, ObjectClass, ObjectHandle,
};
use cryptoki::session::Session;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey};
use zeroize::Zeroizing;

use super::failure::Failure;
use super::mechanisms::{self, Generation, Import, SecretAttributes};
use super::objects;
use super::options::Pkcs11Options;
use super::sessions::Sessions;
use crate::custody::answers::{self, InvalidAnswer, MAX_ATTRIBUTE_LEN, PublicAttributes};
use crate::custody::{ObjectId, Token, TokenError, TokenInput, TokenSerial};

/// How often the keys of a token are listed while others remove some.
const LISTED: usize = 32;

/// How many private or public keys of all applications a token has that is listed.
const MAX_KEYS: NonZeroUsize = NonZeroUsize::new(1 << 18).unwrap();

/// How often it is looked whether a key is gone.
const DESTROYED: usize = 8;

/// A token behind PKCS#11, as a place for private keys: of ML-DSA, SLH-DSA and ML-KEM where its module has PKCS#11 3.2, and of
/// ECDSA, Ed25519 and RSA.
///
/// Its sessions are kept and bounded. One that was lost is opened anew, and the token logged in to, once for each call; so a
/// token that was away is used again as soon as it is back. A PIN that was refused isn't tried again by this value.
///
/// Each call blocks until the module answers, and a module may hang. The module is code in this process: what it answers is
/// checked, what it does is not: it can end the process, also by the length that it says a signature has, for which memory is
/// taken before it is seen here (no call of the crate `cryptoki` takes a bound). A module that is trusted less runs in another process,
/// behind p11-kit's server, which passes on lengths below 4 GiB, and `p11-kit-client.so` is the module of this one. A module is
/// loaded once for all tokens, and stays.
///
/// PKCS#11 has no mechanism for external µ, so that a token signs messages and digests only; digests are those of SHA-2.
pub struct Pkcs11Token {
    sessions: Sessions,
}

impl Pkcs11Token {
    /// The token with these options. A session is opened, so that a wrong label or PIN is said at once.
    ///
    /// # Errors
    ///
    /// [`TokenError::Module`], [`TokenError::Away`], [`TokenError::Pin`], and others.
    pub fn open(options: Pkcs11Options) -> Result<Self, TokenError> {
        let token = Self::new(options);
        token.sessions.with(|_| Ok(()))?;
        Ok(token)
    }

    /// The same without asking the token, which may be away yet.
    pub fn new(options: Pkcs11Options) -> Self {
        Self {
            sessions: Sessions::new(options),
        }
    }
}

impl core::fmt::Debug for Pkcs11Token {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Pkcs11Token")
            .field(self.sessions.options())
            .finish()
    }
}

impl Token for Pkcs11Token {
    fn generate(
        &self,
        algorithm: AnyAlgorithm,
        object: &ObjectId,
        label: &str,
    ) -> Result<AnyPublicKey, TokenError> {
        let generation = mechanisms::generation(algorithm)?;
        self.sessions.with_fresh(|opened| {
            let (public, private) = generate(&opened.session, &generation, object, label)?;
            check_private(&opened.session, private)?;
            let attributes = public_attributes(&opened.session, public, algorithm)?;
            Ok(answers::public_key(algorithm, &attributes)?)
        })
    }

    fn import(
        &self,
        key: &AnyPrivateKey,
        object: &ObjectId,
        label: &str,
    ) -> Result<(), TokenError> {
        let import = mechanisms::import(key)?;
        let imported = self.sessions.with_fresh(|opened| {
            let private = create(&opened.session, &import, object, label)?;
            check_private(&opened.session, private)
        });
        imported.map_err(|error| match error {
            TokenError::Refused(why) => TokenError::unsupported(format!(
                "import keys of {} ({why}); it may make new ones",
                key.algorithm()
            )),
            error => error,
        })
    }

    fn sign(&self, request: &TokenInput<'_>) -> Result<Vec<u8>, TokenError> {
        let TokenInput {
            object,
            algorithm,
            input,
        } = *request;
        let answer = self.sessions.with(|opened| {
            mechanisms::sign(algorithm, input, |mechanism, data| {
                let key = opened.find(object, ObjectClass::PRIVATE_KEY)?;
                Ok::<_, Failure>(opened.session.sign(mechanism, key, data)?)
            })
        })?;
        Ok(answers::signature(algorithm, answer)?)
    }

    fn decapsulate(
        &self,
        object: &ObjectId,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, TokenError> {
        self.sessions.with(|opened| {
            let key = opened.find(object, ObjectClass::PRIVATE_KEY)?;
            let session = &opened.session;
            let template = [
                Attribute::Class(ObjectClass::SECRET_KEY),
                Attribute::KeyType(KeyType::GENERIC_SECRET),
                Attribute::Token(false),
                Attribute::Sensitive(false),
                Attribute::Extractable(true),
            ];
            let secret = session.decapsulate_key(&Mechanism::MlKem, key, &template, ciphertext)?;
            let value = attribute(session, secret, AttributeType::Value).map(Zeroizing::new);
            // It is gone with the session, too.
            session.destroy_object(secret)?;
            Ok(answers::secret(&value?)?)
        })
    }

    fn destroy(&self, object: &ObjectId) -> Result<(), TokenError> {
        let mut has_found = false;
        self.sessions.with(|opened| {
            opened.forget(object);
            let wanted = [
                Attribute::Token(true),
                Attribute::Id(object.as_bytes().to_vec()),
            ];
            // The halves of a pair that is being made may come one after the other.
            for _ in 0..DESTROYED {
                let found = objects::find(&opened.session, &wanted, objects::FEW)?;
                if found.is_empty() {
                    return match has_found {
                        true => Ok(()),
                        false => Err(TokenError::NoObject(*object).into()),
                    };
                }
                has_found = true;
                for handle in found {
                    opened.session.destroy_object(handle)?;
                }
            }
            Err(TokenError::Refused("the key is still there".into()).into())
        })
    }

    fn objects(&self, store: [u8; 16]) -> Result<Vec<ObjectId>, TokenError> {
        for _ in 0..LISTED {
            let listed = self.sessions.with(|opened| list(&opened.session, store))?;
            if let Some(objects) = listed {
                return Ok(objects);
            }
        }
        Err(TokenError::Busy {
            sessions: self.sessions.options().sessions,
            seconds: 0,
        })
    }

    fn private_keys(&self, object: &ObjectId) -> Result<usize, TokenError> {
        self.sessions.with(|opened| {
            opened.forget(object);
            let found = opened.look(object, ObjectClass::PRIVATE_KEY)?;
            Ok(found.len())
        })
    }

    fn serial(&self) -> Result<Option<TokenSerial>, TokenError> {
        self.sessions.with(|opened| {
            // One that was lost is of a token that may be gone.
            opened.session.get_session_info()?;
            Ok(opened.serial.clone())
        })
    }

    fn description(&self) -> String {
        let options = self.sessions.options();
        format!(
            "the token {:?} of {}",
            options.label,
            options.module.display()
        )
    }
}

/// Makes a key pair whose private key stays where it is.
fn generate(
    session: &Session,
    generation: &Generation,
    object: &ObjectId,
    label: &str,
) -> Result<(ObjectHandle, ObjectHandle), Failure> {
    let [mut public, private] = halves(object, label, generation.is_kem);
    public.extend(generation.attributes.iter().cloned());
    Ok(session.generate_key_pair(&generation.mechanism, &public, &private)?)
}

/// Makes the two halves of a key pair that comes from elsewhere, and returns the private one.
fn create(
    session: &Session,
    import: &Import,
    object: &ObjectId,
    label: &str,
) -> Result<ObjectHandle, Failure> {
    let [mut public, private] = halves(object, label, import.is_kem);
    let of = |class| [Attribute::Class(class), Attribute::KeyType(import.key_type)];
    public.extend(of(ObjectClass::PUBLIC_KEY));
    public.extend(import.public.iter().cloned());
    session.create_object(&public)?;
    let mut private = SecretAttributes(private);
    private.0.extend(of(ObjectClass::PRIVATE_KEY));
    private.0.extend(import.private.0.iter().cloned());
    Ok(session.create_object(&private.0)?)
}

/// What the templates of all public keys and private ones have.
fn halves(object: &ObjectId, label: &str, is_kem: bool) -> [Vec<Attribute>; 2] {
    let named = || {
        Vec::from([
            Attribute::Token(true),
            Attribute::Id(object.as_bytes().to_vec()),
            Attribute::Label(label.as_bytes().to_vec()),
        ])
    };
    let (mut public, mut private) = (named(), named());
    private.extend([
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
    ]);
    match is_kem {
        true => {
            public.push(Attribute::Encapsulate(true));
            private.push(Attribute::Decapsulate(true));
        }
        false => {
            public.push(Attribute::Verify(true));
            private.push(Attribute::Sign(true));
        }
    }
    [public, private]
}

/// Checks that a private key is one that the token doesn't give out.
fn check_private(session: &Session, key: ObjectHandle) -> Result<(), Failure> {
    let wanted = [AttributeType::Sensitive, AttributeType::Extractable];
    let found = session.get_attributes(key, &wanted)?;
    match found[..] {
        [Attribute::Sensitive(true), Attribute::Extractable(false)] => Ok(()),
        _ => Err(InvalidAnswer::Attribute("its private key can be taken out").into()),
    }
}

fn public_attributes(
    session: &Session,
    key: ObjectHandle,
    algorithm: AnyAlgorithm,
) -> Result<PublicAttributes, Failure> {
    use pq_keys::classical::ClassicalAlgorithm::{EcdsaP256, EcdsaP384, Ed25519};

    let read = |kind| attribute(session, key, kind).map(Some);
    let mut attributes = PublicAttributes::default();
    match algorithm {
        AnyAlgorithm::PostQuantum(_) => attributes.value = read(AttributeType::Value)?,
        AnyAlgorithm::Classical(EcdsaP256 | EcdsaP384 | Ed25519) => {
            attributes.point = read(AttributeType::EcPoint)?;
        }
        _ => {
            attributes.modulus = read(AttributeType::Modulus)?;
            attributes.exponent = read(AttributeType::PublicExponent)?;
        }
    }
    Ok(attributes)
}

/// The value of an attribute that is bytes. Its length is asked for first, so that none is read that is too long.
fn attribute(
    session: &Session,
    key: ObjectHandle,
    kind: AttributeType,
) -> Result<Vec<u8>, Failure> {
    match session.get_attribute_info(key, &[kind])?[..] {
        [AttributeInfo::Available(..=MAX_ATTRIBUTE_LEN)] => {}
        [AttributeInfo::Available(len)] => {
            return Err(InvalidAnswer::Length {
                what: "attribute",
                len,
            }
            .into());
        }
        _ => return Err(InvalidAnswer::Attribute("an attribute can't be read").into()),
    }
    let mut found = session.get_attributes(key, &[kind])?;
    match found.pop() {
        Some(
            Attribute::Value(value)
            | Attribute::EcPoint(value)
            | Attribute::Modulus(value)
            | Attribute::PublicExponent(value)
            | Attribute::Id(value),
        ) if found.is_empty() => Ok(value),
        _ => Err(InvalidAnswer::Attribute("an attribute is another one").into()),
    }
}

/// The key pairs of a store; `None` if others were removed meanwhile, so that it has to be listed anew.
fn list(session: &Session, store: [u8; 16]) -> Result<Option<Vec<ObjectId>>, Failure> {
    let mut objects = Vec::new();
    // Public keys, too: a pair may have lost its other half.
    for class in [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY] {
        let wanted = [Attribute::Token(true), Attribute::Class(class)];
        let found = objects::find(session, &wanted, MAX_KEYS)?;
        if found.len() == MAX_KEYS.get() {
            let reason = format!("it has {MAX_KEYS} keys or more, which are too many to be listed");
            return Err(TokenError::Refused(reason).into());
        }
        for handle in found {
            match object_of(session, handle, store) {
                // Modules say either of an object that is gone.
                Err(Error::Pkcs11(
                    RvError::ObjectHandleInvalid | RvError::AttributeValueInvalid,
                    _,
                )) => return Ok(None),
                object => objects.extend(object?),
            }
        }
    }
    objects.sort_unstable();
    objects.dedup();
    Ok(Some(objects))
}

/// Which key of a store it is, if any.
fn object_of(
    session: &Session,
    key: ObjectHandle,
    store: [u8; 16],
) -> Result<Option<ObjectId>, Error> {
    let info = session.get_attribute_info(key, &[AttributeType::Id])?;
    if !matches!(info[..], [AttributeInfo::Available(ObjectId::LEN)]) {
        return Ok(None);
    }
    let id = session.get_attributes(key, &[AttributeType::Id])?;
    let [Attribute::Id(id)] = &id[..] else {
        return Ok(None);
    };
    let bytes = <[u8; ObjectId::LEN]>::try_from(&id[..]).ok();
    Ok(bytes
        .map(ObjectId::from_bytes)
        .filter(|object| object.is_of(store)))
}
