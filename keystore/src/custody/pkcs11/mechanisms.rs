//! The mechanisms of each algorithm, and what a token hashes or gets hashed.

use cryptoki::mechanism::dsa::{HashSignAdditionalContext, HedgeType, SignAdditionalContext};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{
    Attribute, KeyType, MlDsaParameterSetType, MlKemParameterSetType, SlhDsaParameterSetType,
};
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey};
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::der::Encode;
use pq_keys::der::asn1::OctetStringRef;
use pq_keys::signing::PreHash;
use pq_keys::{Algorithm, KemAlgorithm, SignatureAlgorithm};
use sha2::{Digest, Sha256, Sha384};
use zeroize::Zeroize;

use crate::custody::TokenError;
use crate::policy::Input;

/// How a key pair is made.
pub(super) struct Generation {
    pub(super) mechanism: Mechanism<'static>,
    /// What the template of the public key has beside what all have.
    pub(super) attributes: Vec<Attribute>,
    /// Whether it decapsulates, and doesn't sign.
    pub(super) is_kem: bool,
}

/// What the templates of a key pair that comes from elsewhere have beside what all have.
pub(super) struct Import {
    pub(super) key_type: KeyType,
    pub(super) public: Vec<Attribute>,
    pub(super) private: SecretAttributes,
    /// Whether it decapsulates, and doesn't sign.
    pub(super) is_kem: bool,
}

/// Attributes of a private key. What is secret of them is wiped at the end.
pub(super) struct SecretAttributes(pub(super) Vec<Attribute>);

impl Drop for SecretAttributes {
    fn drop(&mut self) {
        for attribute in &mut self.0 {
            if let Attribute::Seed(secret) | Attribute::Value(secret) = attribute {
                secret.zeroize();
            }
        }
    }
}

/// The attributes of a private key that is to be imported, and of its public half.
pub(super) fn import(key: &AnyPrivateKey) -> Result<Import, TokenError> {
    let algorithm = key.algorithm();
    let refused =
        |why: &str| TokenError::unsupported(format!("import this key of {algorithm}: {why}"));
    let Generation {
        attributes, is_kem, ..
    } = generation(algorithm)?;
    let (key_type, value, secret) = match key {
        AnyPrivateKey::PostQuantum(private) => {
            let key_type = match private.algorithm() {
                Algorithm::Kem(_) => KeyType::ML_KEM,
                Algorithm::Signature(set) if ml_dsa(set).is_some() => KeyType::ML_DSA,
                _ => return Err(refused("PKCS#11 has seeds of ML-DSA and ML-KEM only")),
            };
            let seed = private.seed().ok_or_else(|| {
                refused(
                    "tokens take its seed, and it was kept without; make a new key in the token",
                )
            })?;
            let value = Attribute::Value(key.public_half().as_bytes().to_vec());
            (key_type, value, Attribute::Seed(seed.to_vec()))
        }
        AnyPrivateKey::Classical(private)
            if matches!(
                private.algorithm(),
                ClassicalAlgorithm::EcdsaP256 | ClassicalAlgorithm::EcdsaP384
            ) =>
        {
            let point = OctetStringRef::new(private.public_key().as_bytes());
            let point = point.and_then(|point| point.to_der());
            let point = point.map_err(|error| refused(&error.to_string()))?;
            let secret = private
                .to_raw()
                .map_err(|error| refused(&error.to_string()))?;
            (
                KeyType::EC,
                Attribute::EcPoint(point),
                Attribute::Value(secret.to_vec()),
            )
        }
        _ => return Err(refused("ML-DSA, ML-KEM and ECDSA are imported")),
    };
    let mut private = SecretAttributes(attributes.clone());
    private.0.push(secret);
    let mut public = attributes;
    public.push(value);
    Ok(Import {
        key_type,
        public,
        private,
        is_kem,
    })
}

/// The curves as `CKA_EC_PARAMS`: the DER of their object identifiers.
const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22];
const ED25519: &[u8] = &[0x06, 0x03, 0x2b, 0x65, 0x70];

/// How a key pair of an algorithm is made.
pub(super) fn generation(algorithm: AnyAlgorithm) -> Result<Generation, TokenError> {
    let of = |mechanism, attribute| Generation {
        mechanism,
        attributes: vec![attribute],
        is_kem: matches!(algorithm, AnyAlgorithm::PostQuantum(Algorithm::Kem(_))),
    };
    let curve = |curve: &[u8]| Attribute::EcParams(curve.into());
    let rsa = |bits: u32| -> Result<Generation, TokenError> {
        // Of 32 bits, which a CK_ULONG has.
        let bits = usize::try_from(bits).map(TryInto::try_into);
        let Ok(Ok(bits)) = bits else {
            return Err(unsupported(algorithm));
        };
        Ok(Generation {
            mechanism: Mechanism::RsaPkcsKeyPairGen,
            attributes: vec![
                Attribute::ModulusBits(bits),
                Attribute::PublicExponent(vec![1, 0, 1]),
            ],
            is_kem: false,
        })
    };
    Ok(match algorithm {
        AnyAlgorithm::PostQuantum(Algorithm::Kem(set)) => {
            let set = ml_kem(set).ok_or_else(|| unsupported(algorithm))?;
            of(
                Mechanism::MlKemKeyPairGen,
                Attribute::ParameterSet(set.into()),
            )
        }
        AnyAlgorithm::PostQuantum(Algorithm::Signature(set)) => match (ml_dsa(set), slh_dsa(set)) {
            (Some(set), _) => of(
                Mechanism::MlDsaKeyPairGen,
                Attribute::ParameterSet(set.into()),
            ),
            (_, Some(set)) => of(
                Mechanism::SlhDsaKeyPairGen,
                Attribute::ParameterSet(set.into()),
            ),
            (None, None) => return Err(unsupported(algorithm)),
        },
        AnyAlgorithm::Classical(classical) => match classical {
            ClassicalAlgorithm::EcdsaP256 => of(Mechanism::EccKeyPairGen, curve(P256)),
            ClassicalAlgorithm::EcdsaP384 => of(Mechanism::EccKeyPairGen, curve(P384)),
            ClassicalAlgorithm::Ed25519 => of(Mechanism::EccEdwardsKeyPairGen, curve(ED25519)),
            ClassicalAlgorithm::Rsa2048 => rsa(2048)?,
            ClassicalAlgorithm::Rsa3072 => rsa(3072)?,
            ClassicalAlgorithm::Rsa4096 => rsa(4096)?,
            _ => return Err(unsupported(algorithm)),
        },
        _ => return Err(unsupported(algorithm)),
    })
}

fn unsupported(algorithm: AnyAlgorithm) -> TokenError {
    TokenError::unsupported(format!(
        "make keys of {algorithm}, for which PKCS#11 has no mechanism"
    ))
}

fn ml_kem(set: KemAlgorithm) -> Option<MlKemParameterSetType> {
    Some(match set {
        KemAlgorithm::MlKem512 => MlKemParameterSetType::ML_KEM_512,
        KemAlgorithm::MlKem768 => MlKemParameterSetType::ML_KEM_768,
        KemAlgorithm::MlKem1024 => MlKemParameterSetType::ML_KEM_1024,
        _ => return None,
    })
}

fn ml_dsa(set: SignatureAlgorithm) -> Option<MlDsaParameterSetType> {
    Some(match set {
        SignatureAlgorithm::MlDsa44 => MlDsaParameterSetType::ML_DSA_44,
        SignatureAlgorithm::MlDsa65 => MlDsaParameterSetType::ML_DSA_65,
        SignatureAlgorithm::MlDsa87 => MlDsaParameterSetType::ML_DSA_87,
        _ => return None,
    })
}

fn slh_dsa(set: SignatureAlgorithm) -> Option<SlhDsaParameterSetType> {
    Some(match set {
        SignatureAlgorithm::SlhDsaSha2_128s => SlhDsaParameterSetType::SHA2_128S,
        SignatureAlgorithm::SlhDsaSha2_128f => SlhDsaParameterSetType::SHA2_128F,
        SignatureAlgorithm::SlhDsaSha2_192s => SlhDsaParameterSetType::SHA2_192S,
        SignatureAlgorithm::SlhDsaSha2_192f => SlhDsaParameterSetType::SHA2_192F,
        SignatureAlgorithm::SlhDsaSha2_256s => SlhDsaParameterSetType::SHA2_256S,
        SignatureAlgorithm::SlhDsaSha2_256f => SlhDsaParameterSetType::SHA2_256F,
        SignatureAlgorithm::SlhDsaShake128s => SlhDsaParameterSetType::SHAKE_128S,
        SignatureAlgorithm::SlhDsaShake128f => SlhDsaParameterSetType::SHAKE_128F,
        SignatureAlgorithm::SlhDsaShake192s => SlhDsaParameterSetType::SHAKE_192S,
        SignatureAlgorithm::SlhDsaShake192f => SlhDsaParameterSetType::SHAKE_192F,
        SignatureAlgorithm::SlhDsaShake256s => SlhDsaParameterSetType::SHAKE_256S,
        SignatureAlgorithm::SlhDsaShake256f => SlhDsaParameterSetType::SHAKE_256F,
        _ => return None,
    })
}

/// Signs with the mechanism for an algorithm and an input: `sign` gets it, and what the token is given to sign.
///
/// Whether signatures of ML-DSA and SLH-DSA are hedged, the token decides (`CKH_HEDGE_PREFERRED`).
pub(super) fn sign<T, E: From<TokenError>>(
    algorithm: AnyAlgorithm,
    input: Input<'_>,
    sign: impl FnOnce(&Mechanism<'_>, &[u8]) -> Result<T, E>,
) -> Result<T, E> {
    match (algorithm, input) {
        (
            AnyAlgorithm::PostQuantum(Algorithm::Signature(set)),
            Input::Message { message, context },
        ) => {
            // It points to the context, which outlives the call.
            let context = (!context.is_empty()).then_some(context);
            let parameters = SignAdditionalContext::new(HedgeType::Preferred, context);
            match ml_dsa(set) {
                Some(_) => sign(&Mechanism::MlDsa(parameters), message),
                None => sign(&Mechanism::SlhDsa(parameters), message),
            }
        }
        (
            AnyAlgorithm::PostQuantum(Algorithm::Signature(set)),
            Input::Digest {
                hash,
                digest,
                context,
            },
        ) => {
            let hash = hash_mechanism(hash)?;
            let context = (!context.is_empty()).then_some(context);
            let parameters = HashSignAdditionalContext::new(HedgeType::Preferred, context, hash);
            match ml_dsa(set) {
                Some(_) => sign(&Mechanism::HashMlDsa(parameters), digest),
                None => sign(&Mechanism::HashSlhDsa(parameters), digest),
            }
        }
        (AnyAlgorithm::Classical(classical), Input::Message { message, .. }) => match classical {
            // Tokens hash by themselves, too, but not all of them.
            ClassicalAlgorithm::EcdsaP256 => sign(&Mechanism::Ecdsa, &Sha256::digest(message)),
            ClassicalAlgorithm::EcdsaP384 => sign(&Mechanism::Ecdsa, &Sha384::digest(message)),
            ClassicalAlgorithm::Ed25519 => {
                let pure = EddsaParams::new(EddsaSignatureScheme::Pure);
                sign(&Mechanism::Eddsa(pure), message)
            }
            _ => sign(&Mechanism::Sha256RsaPkcs, message),
        },
        (_, Input::Mu(_)) => Err(TokenError::unsupported(
            "sign µ, for which PKCS#11 3.2 has no mechanism; give the message, or a digest",
        )
        .into()),
        _ => Err(TokenError::unsupported(format!("sign this by a key of {algorithm}")).into()),
    }
}

/// The hash functions that the parameters of PKCS#11 can name here.
fn hash_mechanism(hash: PreHash) -> Result<MechanismType, TokenError> {
    Ok(match hash {
        PreHash::Sha224 => MechanismType::SHA224,
        PreHash::Sha256 => MechanismType::SHA256,
        PreHash::Sha384 => MechanismType::SHA384,
        PreHash::Sha512 => MechanismType::SHA512,
        hash => {
            return Err(TokenError::unsupported(format!(
                "sign digests of {hash:?}; SHA-224, SHA-256, SHA-384 and SHA-512 it can"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use pq_keys::{PrivateKey, PrivateKeyForm, SigningKey};

    use super::*;

    fn named(name: &str) -> AnyAlgorithm {
        AnyAlgorithm::named(name).unwrap()
    }

    /// Each secret goes to the token in one attribute, which is wiped.
    #[test]
    fn what_is_secret_of_an_import() {
        for (name, len) in [
            ("ML-DSA-44", 32),
            ("ML-DSA-87", 32),
            ("ML-KEM-768", 64),
            ("ECDSA-P256", 32),
            ("ECDSA-P384", 48),
        ] {
            let key = AnyPrivateKey::generate(named(name)).unwrap();
            let import = import(&key).unwrap();
            let secrets = import.private.0.iter().filter_map(|one| match one {
                Attribute::Seed(secret) | Attribute::Value(secret) => Some(secret.len()),
                _ => None,
            });
            assert_eq!(secrets.collect::<Vec<_>>(), [len], "{name}");
            assert_eq!(import.is_kem, name.starts_with("ML-KEM"));
        }
    }

    #[test]
    fn what_is_not_imported() {
        for name in [
            "SLH-DSA-SHA2-128f",
            "Ed25519",
            "RSA-2048",
            "X-Wing",
            "MLDSA65-Ed25519-SHA512",
        ] {
            let key = AnyPrivateKey::generate(named(name)).unwrap();
            let refused = import(&key).map(drop).unwrap_err();
            assert_eq!(refused.code(), "token-unsupported", "{name}");
        }
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let expanded = key.to_pkcs8_der_as(PrivateKeyForm::Expanded).unwrap();
        let key = AnyPrivateKey::PostQuantum(PrivateKey::from_pkcs8_der(&expanded).unwrap());
        let refused = import(&key).map(drop).unwrap_err();
        assert!(refused.to_string().contains("seed"), "{refused}");
    }
}
