//! Algorithms as the types of Transit's keys.

use pq_keys::Algorithm;
use pq_keys::any::AnyAlgorithm;
use pq_keys::classical::ClassicalAlgorithm;

use super::quoting::Quoted;
use super::refusal::Refusal;

/// The type of a key, and its parameter set where the type has several.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct KeyType {
    pub(super) name: String,
    pub(super) parameter_set: Option<String>,
}

/// The families whose types are spelt with a parameter set, and by OpenBao without their hyphen: `mldsa-65`.
const FAMILIES: [(&str, &str); 3] = [
    ("ml-dsa", "mldsa"),
    ("slh-dsa", "slhdsa"),
    ("ml-kem", "mlkem"),
];

impl KeyType {
    pub(super) fn of(algorithm: AnyAlgorithm) -> Self {
        let name = algorithm.name().to_lowercase();
        if let AnyAlgorithm::PostQuantum(_) = algorithm {
            for (family, _) in FAMILIES {
                let set = name.strip_prefix(family);
                if let Some(set) = set.and_then(|set| set.strip_prefix('-')) {
                    // Vault names the sets of SLH-DSA in full.
                    let parameter_set = Some(match family {
                        "slh-dsa" => name.clone(),
                        _ => set.into(),
                    });
                    let name = family.into();
                    return Self {
                        name,
                        parameter_set,
                    };
                }
            }
        }
        Self {
            name,
            parameter_set: None,
        }
    }
}

/// The algorithm of a type.
pub(super) fn algorithm(name: &str, parameter_set: Option<&str>) -> Result<AnyAlgorithm, Refusal> {
    let parameter_set = parameter_set.filter(|set| !set.is_empty());
    let full = match parameter_set {
        Some(set) if FAMILIES.iter().any(|(family, _)| *family == name) => {
            match set.starts_with(name) {
                true => set.into(),
                false => format!("{name}-{set}"),
            }
        }
        Some(_) => {
            return Err(Refusal::bad(format!(
                "a key of type {} has no parameter_set",
                Quoted(name)
            )));
        }
        None => FAMILIES
            .iter()
            .find_map(|(family, short)| {
                // Names of composite algorithms begin alike, and go on with a digit.
                let set = name.strip_prefix(short)?.strip_prefix('-')?;
                Some(format!("{family}-{set}"))
            })
            .unwrap_or_else(|| name.into()),
    };
    // Types are in lower case, as Vault has them.
    let is_lower = !full.bytes().any(|byte| byte.is_ascii_uppercase());
    let named = AnyAlgorithm::named(&full).filter(|_| is_lower);
    match named.filter(|algorithm| !matches!(algorithm, AnyAlgorithm::Agreement(_))) {
        Some(algorithm) => Ok(algorithm),
        None => Err(Refusal::bad(match parameter_set {
            Some(set) => format!(
                "unknown parameter_set {} of key type {}",
                Quoted(set),
                Quoted(name)
            ),
            None => unknown(name),
        })),
    }
}

/// Why there is no such type: Vault has some that are not here, and families have sets.
fn unknown(name: &str) -> String {
    let sets = match name {
        "ml-dsa" => Some("44, 65 or 87"),
        "ml-kem" => Some("512, 768 or 1024"),
        "slh-dsa" => Some("such as slh-dsa-sha2-128s"),
        _ => None,
    };
    if let Some(sets) = sets {
        return format!("parameter_set is needed for a key of type {name}: {sets}");
    }
    let why = match name {
        "aes128-gcm96" | "aes256-gcm96" | "chacha20-poly1305" | "xchacha20-poly1305" => {
            "there are no symmetric keys; ml-kem and x-wing encrypt"
        }
        "hmac" | "aes128-cmac" | "aes192-cmac" | "aes256-cmac" => {
            "there are no keys that make MACs"
        }
        "ecdsa-p521" => "of ECDSA there are ecdsa-p256 and ecdsa-p384",
        "managed_key" => "keys in tokens are made on the machine of the store",
        "hybrid" => "composite keys have a type of their own, such as mldsa65-ecdsa-p256-sha512",
        _ => return format!("unknown key type {}", Quoted(name)),
    };
    format!("keys of type {name} are not supported here: {why}")
}

/// What versions of keys are called, for which Vault has names of its own where it has such keys.
pub(super) fn version_name(algorithm: AnyAlgorithm) -> &'static str {
    match algorithm {
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP256) => "P-256",
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP384) => "P-384",
        AnyAlgorithm::Classical(ClassicalAlgorithm::Ed25519) => "ed25519",
        AnyAlgorithm::Classical(ClassicalAlgorithm::Rsa2048) => "rsa-2048",
        AnyAlgorithm::Classical(ClassicalAlgorithm::Rsa3072) => "rsa-3072",
        AnyAlgorithm::Classical(ClassicalAlgorithm::Rsa4096) => "rsa-4096",
        _ => algorithm.name(),
    }
}

/// Whether keys of it encapsulate, and do not sign.
pub(super) fn encapsulates(algorithm: AnyAlgorithm) -> bool {
    matches!(
        algorithm,
        AnyAlgorithm::PostQuantum(Algorithm::Kem(_)) | AnyAlgorithm::XWing
    )
}

/// Whether its public keys are PEM, as Vault has those of ECDSA and RSA. Those of other algorithms are raw, in base64.
pub(super) fn has_pem(algorithm: AnyAlgorithm) -> bool {
    match algorithm {
        AnyAlgorithm::Classical(algorithm) => algorithm != ClassicalAlgorithm::Ed25519,
        AnyAlgorithm::Composite(_) => true,
        _ => false,
    }
}
