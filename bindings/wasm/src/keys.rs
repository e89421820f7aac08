//! The four kinds of keys, as classes with methods on bytes.
#![expect(
    unreachable_pub,
    reason = "wasm-bindgen exports what is public, and js/ documents it"
)]

use core::cell::{Cell, OnceCell};

use pq_keys::signing::Mode;
use pq_keys::signing::{HashedMessage, SignatureOptions, SigningVariant};
use pq_keys::{
    DecapsulationKey, EncapsulationKey, KeyError, PrivateKeyForm, SignatureAlgorithm, SigningKey,
    VerifyingKey,
};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::javascript::{Array, Uint8Array};

/// Names of the algorithms that sign, in the standards' order.
#[wasm_bindgen(js_name = signatureAlgorithms)]
pub fn signature_algorithms() -> Vec<String> {
    let names = SignatureAlgorithm::ALL.iter();
    names.map(|algorithm| algorithm.name().into()).collect()
}

/// Does nothing. Only the module of `pqtls` exports it, so `load()` can tell the modules apart.
#[cfg(not(feature = "slh-dsa"))]
#[wasm_bindgen(js_name = isLattice)]
pub fn is_lattice() {}

/// Does nothing. Only the module of `pqtls/slh-dsa` exports it, so `load()` can tell the modules apart.
#[cfg(feature = "slh-dsa")]
#[wasm_bindgen(js_name = isSlhDsa)]
pub fn is_slh_dsa() {}

/// How many bytes a signature has.
#[wasm_bindgen(js_name = signatureLength)]
pub fn signature_length(algorithm: &str) -> Result<usize, Failure> {
    Ok(algorithm.parse::<SignatureAlgorithm>()?.signature_len())
}

/// What private keys of both kinds can do: be made, read and written in each format.
macro_rules! private_key {
    ($class:ident, $key:ident) => {
        #[wasm_bindgen]
        impl $class {
            pub fn generate(algorithm: &str) -> Result<Self, Failure> {
                Ok(Self::of($key::generate(algorithm.parse()?)?))
            }

            #[wasm_bindgen(js_name = fromSeed)]
            pub fn from_seed(algorithm: &str, seed: Vec<u8>) -> Result<Self, Failure> {
                let seed = Zeroizing::new(seed);
                Ok(Self::of($key::from_seed(algorithm.parse()?, &seed)?))
            }

            #[wasm_bindgen(js_name = fromExpanded)]
            pub fn from_expanded(algorithm: &str, bytes: Vec<u8>) -> Result<Self, Failure> {
                let bytes = Zeroizing::new(bytes);
                Ok(Self::of($key::from_expanded(algorithm.parse()?, &bytes)?))
            }

            #[wasm_bindgen(js_name = fromPkcs8Der)]
            pub fn from_pkcs8_der(der: Vec<u8>) -> Result<Self, Failure> {
                Self::read($key::from_pkcs8_der(&Zeroizing::new(der))?)
            }

            /// Takes UTF-8: wasm-bindgen would leave parts of a string in memory from which it was moved.
            #[wasm_bindgen(js_name = fromPkcs8Pem)]
            pub fn from_pkcs8_pem(text: Vec<u8>) -> Result<Self, Failure> {
                let text = Zeroizing::new(text);
                Self::read($key::from_pkcs8_pem(&*text)?)
            }

            #[wasm_bindgen(js_name = toPkcs8Der)]
            pub fn to_pkcs8_der(&self, form: Option<String>) -> Result<Uint8Array, Failure> {
                let der = match form {
                    None => self.key.to_pkcs8_der()?,
                    Some(form) => self.key.to_pkcs8_der_as(form_named(&form)?)?,
                };
                Ok(Uint8Array::new(der.as_slice()))
            }

            #[wasm_bindgen(js_name = toPkcs8Pem)]
            pub fn to_pkcs8_pem(&self, form: Option<String>) -> Result<JsValue, Failure> {
                let text = match form {
                    None => self.key.to_pkcs8_pem()?,
                    Some(form) => self.key.to_pkcs8_pem_as(form_named(&form)?)?,
                };
                Ok(JsValue::from_str(&text))
            }

            pub fn seed(&self) -> Option<Uint8Array> {
                self.key.seed().map(|seed| Uint8Array::new(seed))
            }

            #[wasm_bindgen(js_name = toExpanded)]
            pub fn to_expanded(&self) -> Uint8Array {
                Uint8Array::new(self.key.to_expanded().as_slice())
            }

            pub fn algorithm(&self) -> String {
                self.key.algorithm().name().into()
            }
        }
    };
}

/// What public keys of both kinds can do: be read and written in each format.
macro_rules! public_key {
    ($class:ident, $key:ident) => {
        #[wasm_bindgen]
        impl $class {
            #[wasm_bindgen(js_name = fromBytes)]
            pub fn from_bytes(algorithm: &str, bytes: &[u8]) -> Result<Self, Failure> {
                Ok(Self::of($key::from_bytes(algorithm.parse()?, bytes)?))
            }

            #[wasm_bindgen(js_name = fromSpkiDer)]
            pub fn from_spki_der(der: &[u8]) -> Result<Self, Failure> {
                Self::read($key::from_spki_der(der)?)
            }

            /// Takes UTF-8. It is wiped, since it may be a private key that was given by mistake.
            #[wasm_bindgen(js_name = fromSpkiPem)]
            pub fn from_spki_pem(text: Vec<u8>) -> Result<Self, Failure> {
                let text = Zeroizing::new(text);
                Self::read($key::from_spki_pem(&*text)?)
            }

            #[wasm_bindgen(js_name = toBytes)]
            pub fn to_bytes(&self) -> Uint8Array {
                Uint8Array::new(self.key.as_bytes())
            }

            #[wasm_bindgen(js_name = toSpkiDer)]
            pub fn to_spki_der(&self) -> Uint8Array {
                Uint8Array::new(self.key.to_spki_der())
            }

            #[wasm_bindgen(js_name = toSpkiPem)]
            pub fn to_spki_pem(&self) -> String {
                self.key.to_spki_pem()
            }

            pub fn algorithm(&self) -> String {
                self.key.algorithm().name().into()
            }
        }
    };
}

#[wasm_bindgen(js_name = Signing)]
pub struct Signing {
    key: SigningKey,
}

private_key!(Signing, SigningKey);

#[wasm_bindgen(js_class = Signing)]
impl Signing {
    fn of(key: SigningKey) -> Self {
        Self { key }
    }

    fn read(key: SigningKey) -> Result<Self, Failure> {
        pure(key.verifying_key())?;
        Ok(Self::of(key))
    }

    #[wasm_bindgen(js_name = verifyingKey)]
    pub fn verifying_key(&self) -> Verifying {
        Verifying::of(self.key.verifying_key().clone())
    }

    pub fn sign(
        &self,
        message: &[u8],
        context: &[u8],
        deterministic: bool,
    ) -> Result<Uint8Array, Failure> {
        let options = SignatureOptions::new().context(context);
        let signature = self
            .key
            .sign_with(message, &options, variant(deterministic))?;
        Ok(Uint8Array::new(signature.as_slice()))
    }

    #[wasm_bindgen(js_name = signMu)]
    pub fn sign_mu(&self, mu: &[u8], deterministic: bool) -> Result<Uint8Array, Failure> {
        let message = HashedMessage::from_mu(*fixed("µ", mu)?);
        let signature = self.key.sign_hashed(&message, variant(deterministic))?;
        Ok(Uint8Array::new(signature.as_slice()))
    }

    pub fn check(&self) -> Result<(), Failure> {
        Ok(self.key.check()?)
    }
}

#[wasm_bindgen(js_name = Verifying)]
pub struct Verifying {
    key: VerifyingKey,
    /// Made for the second signature: many keys verify only one.
    expanded: OnceCell<VerifyingKey>,
    used: Cell<bool>,
}

public_key!(Verifying, VerifyingKey);

#[wasm_bindgen(js_class = Verifying)]
impl Verifying {
    fn of(key: VerifyingKey) -> Self {
        Self {
            key,
            expanded: OnceCell::new(),
            used: Cell::new(false),
        }
    }

    fn read(key: VerifyingKey) -> Result<Self, Failure> {
        pure(&key)?;
        Ok(Self::of(key))
    }

    /// The fastest key for this signature and later ones.
    fn quick(&self) -> &VerifyingKey {
        if self.used.replace(true) {
            self.expanded.get_or_init(|| self.key.expand())
        } else {
            &self.key
        }
    }

    pub fn verify(
        &self,
        message: &[u8],
        signature: &[u8],
        context: &[u8],
    ) -> Result<bool, Failure> {
        let options = SignatureOptions::new().context(context);
        valid(self.quick().verify_with(message, signature, &options))
    }

    #[wasm_bindgen(js_name = verifyMu)]
    pub fn verify_mu(&self, mu: &[u8], signature: &[u8]) -> Result<bool, Failure> {
        let message = HashedMessage::from_mu(*fixed("µ", mu)?);
        valid(self.quick().verify_hashed(&message, signature))
    }

    pub fn mu(&self, message: &[u8], context: &[u8]) -> Result<Uint8Array, Failure> {
        let options = SignatureOptions::new().context(context);
        let mut hasher = self.key.hasher(&options).map_err(|error| match error {
            // this error would say how to sign in pieces
            KeyError::CannotStream(algorithm) => KeyError::NoMu(algorithm),
            other => other,
        })?;
        hasher.update(message);
        let message = hasher.finish();
        let mu = message
            .mu()
            .ok_or_else(|| KeyError::NoMu(self.key.algorithm()))?;
        Ok(Uint8Array::new(mu.as_slice()))
    }
}

#[wasm_bindgen(js_name = Decapsulation)]
pub struct Decapsulation {
    key: DecapsulationKey,
}

private_key!(Decapsulation, DecapsulationKey);

#[wasm_bindgen(js_class = Decapsulation)]
impl Decapsulation {
    fn of(key: DecapsulationKey) -> Self {
        Self { key }
    }

    fn read(key: DecapsulationKey) -> Result<Self, Failure> {
        Ok(Self::of(key))
    }

    #[wasm_bindgen(js_name = encapsulationKey)]
    pub fn encapsulation_key(&self) -> Encapsulation {
        Encapsulation::of(self.key.encapsulation_key().clone())
    }

    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<Uint8Array, Failure> {
        let mut secret = Zeroizing::new([0; 32]);
        self.key.decapsulate_into(ciphertext, &mut secret)?;
        Ok(Uint8Array::new(secret.as_slice()))
    }
}

#[wasm_bindgen(js_name = Encapsulation)]
pub struct Encapsulation {
    key: EncapsulationKey,
}

public_key!(Encapsulation, EncapsulationKey);

#[wasm_bindgen(js_class = Encapsulation)]
impl Encapsulation {
    fn of(key: EncapsulationKey) -> Self {
        Self { key }
    }

    fn read(key: EncapsulationKey) -> Result<Self, Failure> {
        Ok(Self::of(key))
    }

    /// Ciphertext and secret.
    pub fn encapsulate(&self) -> Result<Array, Failure> {
        let mut secret = Zeroizing::new([0; 32]);
        let ciphertext = self.key.encapsulate_into(&mut secret)?;
        Ok(pair(&ciphertext, &*secret))
    }

    /// Ciphertext and secret that belong to m.
    #[wasm_bindgen(js_name = encapsulateDeterministic)]
    pub fn encapsulate_deterministic(&self, m: Vec<u8>) -> Result<Array, Failure> {
        let m = Zeroizing::new(m);
        let mut secret = Zeroizing::new([0; 32]);
        let m = fixed("m", &m)?;
        let ciphertext = self.key.encapsulate_with_randomness(m, &mut secret);
        Ok(pair(&ciphertext, &*secret))
    }
}

/// Refuses keys that sign hashes: their signatures differ from those of the algorithm that they name.
fn pure(key: &VerifyingKey) -> Result<(), Failure> {
    match key.mode() {
        Mode::Pure => Ok(()),
        Mode::PreHash => Err(Failure::PreHashKey),
    }
}

fn pair(first: &[u8], second: &[u8]) -> Array {
    Array::pair(&Uint8Array::new(first), &Uint8Array::new(second))
}

fn variant(deterministic: bool) -> SigningVariant {
    if deterministic {
        SigningVariant::Deterministic
    } else {
        SigningVariant::Hedged
    }
}

/// A signature that isn't valid is an answer; anything else is an error.
fn valid(verified: Result<(), KeyError>) -> Result<bool, Failure> {
    match verified {
        Ok(()) => Ok(true),
        Err(KeyError::InvalidSignature(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn fixed<'a, const N: usize>(what: &'static str, bytes: &'a [u8]) -> Result<&'a [u8; N], Failure> {
    bytes.try_into().map_err(|_| Failure::WrongLength {
        what,
        expected: N,
        actual: bytes.len(),
    })
}

fn form_named(name: &str) -> Result<PrivateKeyForm, Failure> {
    match name {
        "seed" => Ok(PrivateKeyForm::Seed),
        "expanded" => Ok(PrivateKeyForm::Expanded),
        "both" => Ok(PrivateKeyForm::Both),
        _ => Err(Failure::UnknownForm),
    }
}
