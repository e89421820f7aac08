//! A KEK that is an AES key in a token.

use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::types::Ulong;
use pq_keys::random;
use zeroize::Zeroizing;

use super::failure::Failure;
use super::objects;
use super::options::Pkcs11Options;
use super::sessions::{Opened, Sessions};
use crate::custody::TokenError;
use crate::custody::answers::InvalidAnswer;
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::sealing::{KEY_LEN, Kek, KekError, WrappedKey};

const KIND: &str = "pkcs11";
const FORMAT: u8 = 1;
const IV_LEN: usize = 12;
const TAG_LEN: usize = 16;

/// A [`Kek`] that is an AES key of 256 bits in a token, which it never leaves. It wraps by AES-GCM (`CKM_AES_GCM`, NIST
/// SP 800-38D) with a random IV, bound to the store; each time that the store is sealed anew, that is once more.
///
/// The key is found by its label, of which there has to be one. The token is asked when the store is created, opened or
/// rewrapped, and at no other time.
pub struct Pkcs11Kek {
    sessions: Sessions,
    label: String,
}

impl Pkcs11Kek {
    /// The key with this label in a token.
    ///
    /// # Errors
    ///
    /// [`KekError::NotAvailable`] if there is no such key, or several, or the token can't be used.
    pub fn open(options: Pkcs11Options, label: &str) -> Result<Self, KekError> {
        let kek = Self::new(options, label);
        match kek.sessions.with(|opened| kek.find(opened)) {
            Ok(Some(_)) => Ok(kek),
            Ok(None) => Err(unavailable(kek.missing())),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// The key with this label in a token, where it is made if there is none.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_or_create(options: Pkcs11Options, label: &str) -> Result<Self, KekError> {
        let kek = Self::new(options, label);
        let made = kek.sessions.with_fresh(|opened| match kek.find(opened)? {
            Some(_) => Ok(()),
            None => kek.create(opened),
        });
        made.map_err(unavailable)?;
        Ok(kek)
    }

    fn new(options: Pkcs11Options, label: &str) -> Self {
        Self {
            sessions: Sessions::new(options.sessions(1)),
            label: label.into(),
        }
    }

    fn missing(&self) -> TokenError {
        TokenError::Refused(format!(
            "there is no AES key with the label {:?}",
            self.label
        ))
    }

    fn find(&self, opened: &Opened) -> Result<Option<ObjectHandle>, Failure> {
        let wanted = [
            Attribute::Token(true),
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
            Attribute::Label(self.label.as_bytes().to_vec()),
        ];
        let found = objects::find(&opened.session, &wanted, objects::FEW)?;
        match found[..] {
            [] => Ok(None),
            [key] => Ok(Some(key)),
            _ => Err(InvalidAnswer::Several(found.len()).into()),
        }
    }

    fn create(&self, opened: &Opened) -> Result<(), Failure> {
        let template = [
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Encrypt(true),
            Attribute::Decrypt(true),
            Attribute::ValueLen(KEY_LEN.try_into()?),
            Attribute::Label(self.label.as_bytes().to_vec()),
        ];
        opened
            .session
            .generate_key(&Mechanism::AesKeyGen, &template)?;
        Ok(())
    }

    /// Encrypts, and returns the IV with what it gave: some modules choose it by themselves.
    fn encrypt(&self, text: &[u8], aad: &[u8]) -> Result<([u8; IV_LEN], Vec<u8>), TokenError> {
        let mut iv = [0; IV_LEN];
        random::fill(&mut iv).map_err(|error| TokenError::Refused(error.to_string()))?;
        self.sessions.with(|opened| {
            let key = self.find(opened)?.ok_or_else(|| self.missing())?;
            let mut used = iv;
            let parameters = GcmParams::new(&mut used, aad, tag_bits()?)?;
            let encrypted = opened
                .session
                .encrypt(&Mechanism::AesGcm(parameters), key, text)?;
            Ok((used, encrypted))
        })
    }

    /// Decrypts; `None` if it is of another key, or bound to something else.
    fn decrypt(
        &self,
        iv: [u8; IV_LEN],
        ciphertext: &[u8],
        aad: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, TokenError> {
        self.sessions.with(|opened| {
            let key = self.find(opened)?.ok_or_else(|| self.missing())?;
            let mut iv = iv;
            let parameters = GcmParams::new(&mut iv, aad, tag_bits()?)?;
            let decrypted = opened
                .session
                .decrypt(&Mechanism::AesGcm(parameters), key, ciphertext);
            match decrypted {
                Ok(text) => Ok(Some(Zeroizing::new(text))),
                // What modules say of a wrong tag.
                Err(Error::Pkcs11(
                    RvError::EncryptedDataInvalid | RvError::EncryptedDataLenRange,
                    _,
                )) => Ok(None),
                // Kryoptic and SoftHSM say it like this, and perhaps of other things, too: so it is seen whether the token
                // decrypts what it has encrypted.
                Err(error @ Error::Pkcs11(RvError::GeneralError, _)) => match probe(opened, key)? {
                    true => Ok(None),
                    false => Err(error.into()),
                },
                Err(error) => Err(error.into()),
            }
        })
    }
}

/// Whether a key decrypts what it encrypts.
fn probe(opened: &Opened, key: ObjectHandle) -> Result<bool, Failure> {
    const TEXT: &[u8] = b"pq-keystore probe";

    let mut iv = [0; IV_LEN];
    random::fill(&mut iv).map_err(|error| TokenError::Refused(error.to_string()))?;
    let mechanism = Mechanism::AesGcm(GcmParams::new(&mut iv, TEXT, tag_bits()?)?);
    let encrypted = opened.session.encrypt(&mechanism, key, TEXT)?;
    let decrypted = opened.session.decrypt(&mechanism, key, &encrypted)?;
    Ok(decrypted == TEXT)
}

fn tag_bits() -> Result<Ulong, Error> {
    (8 * TAG_LEN).try_into()
}

fn unavailable(error: TokenError) -> KekError {
    KekError::NotAvailable {
        kind: KIND,
        error: error.into(),
    }
}

fn read(parameters: &[u8]) -> Result<[u8; IV_LEN], InvalidRecord> {
    let mut reader = Reader::of_format(FORMAT, parameters)?;
    let iv = reader.array()?;
    reader.finish()?;
    Ok(iv)
}

impl Kek for Pkcs11Kek {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn wrap(&self, store_key: &[u8; KEY_LEN], bound: &[u8]) -> Result<WrappedKey, KekError> {
        let (iv, ciphertext) = self.encrypt(store_key, bound).map_err(unavailable)?;
        let parameters = Writer::of_format(FORMAT).array(&iv).finish();
        let wrapped = WrappedKey {
            parameters,
            ciphertext,
        };
        // A store that can't be opened again isn't made.
        match self.unwrap(&wrapped, bound)? == Zeroizing::new(*store_key) {
            true => Ok(wrapped),
            false => Err(unavailable(
                InvalidAnswer::Attribute("it decrypts something else").into(),
            )),
        }
    }

    fn unwrap(
        &self,
        wrapped: &WrappedKey,
        bound: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
        let wrong = || KekError::Wrong { kind: KIND };
        let iv = read(&wrapped.parameters).map_err(|error| KekError::Parameters {
            kind: KIND,
            reason: error.to_string(),
        })?;
        if wrapped.ciphertext.len() != KEY_LEN + TAG_LEN {
            return Err(wrong());
        }
        let text = self.decrypt(iv, &wrapped.ciphertext, bound);
        let text = text.map_err(unavailable)?.ok_or_else(wrong)?;
        let text = <&[u8; KEY_LEN]>::try_from(text.as_slice()).map_err(|_| wrong())?;
        Ok(Zeroizing::new(*text))
    }
}
