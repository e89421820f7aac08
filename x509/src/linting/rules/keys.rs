//! Keys and signatures of ML-DSA (RFC 9881), SLH-DSA (RFC 9909) and ML-KEM (RFC 9935), and old keys that
//! nobody should use any more.

use const_oid::db::rfc5912::RSA_ENCRYPTION;
use pq_keys::identifiers::{CompositeIdentifier, is_hash_ml_dsa};
use pq_keys::{Algorithm, EncapsulationKey, SignatureAlgorithm};

use super::{ALL, BUT_LISTS};
use crate::linting::document::{AlgorithmIdentifier, Document, Element, Elements, Kind, tag};
use crate::linting::listed::Listed;
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc9881-parameters",
        "RFC 9881 section 2",
        "identifiers of ML-DSA have no parameters, not even NULL",
        ALL,
        |document| parameters(document, Family::MlDsa),
    ),
    Rule::error(
        "rfc9909-parameters",
        "RFC 9909 section 3",
        "identifiers of SLH-DSA have no parameters, not even NULL",
        ALL,
        |document| parameters(document, Family::SlhDsa),
    ),
    Rule::error(
        "rfc9935-parameters",
        "RFC 9935 section 3",
        "identifiers of ML-KEM have no parameters, not even NULL",
        ALL,
        |document| parameters(document, Family::MlKem),
    ),
    Rule::error(
        "draft-composite-parameters",
        "draft-ietf-lamps-pq-composite-sigs-19",
        "identifiers of Composite ML-DSA have no parameters, not even NULL",
        ALL,
        |document| {
            parameters_of(document, |identifier| {
                CompositeIdentifier::from_oid(identifier.oid).map(CompositeIdentifier::name)
            })
        },
    ),
    Rule::error(
        "rfc9881-key-length",
        "RFC 9881 section 4",
        "a key of ML-DSA has the length of its parameter set",
        BUT_LISTS,
        |document| key_length(document, Family::MlDsa),
    ),
    Rule::error(
        "rfc9909-key-length",
        "RFC 9909 section 5",
        "a key of SLH-DSA has the length of its parameter set",
        BUT_LISTS,
        |document| key_length(document, Family::SlhDsa),
    ),
    Rule::error(
        "rfc9935-key-length",
        "RFC 9935 section 4",
        "a key of ML-KEM has the length of its parameter set",
        BUT_LISTS,
        |document| key_length(document, Family::MlKem),
    ),
    Rule::error(
        "rfc9935-encapsulation-key",
        "RFC 9935 section 4, FIPS 203 section 7.2",
        "a key of ML-KEM passes the check of its coefficients",
        BUT_LISTS,
        encapsulation_key,
    ),
    Rule::error(
        "rfc9881-signature-length",
        "RFC 9881 section 3",
        "a signature of ML-DSA has the length of its parameter set",
        ALL,
        |document| signature_length(document, Family::MlDsa),
    ),
    Rule::error(
        "rfc9909-signature-length",
        "RFC 9909 section 4",
        "a signature of SLH-DSA has the length of its parameter set",
        ALL,
        |document| signature_length(document, Family::SlhDsa),
    ),
    Rule::error(
        "rfc9881-hash-ml-dsa",
        "RFC 9881 section 8.3",
        "neither keys nor signatures are of HashML-DSA",
        ALL,
        |document| {
            let mut found = identifiers(document);
            let (of, _) = found.find(|(_, identifier)| is_hash_ml_dsa(identifier.oid))?;
            Some(format!(
                "the {of} is of HashML-DSA; use ML-DSA, which can sign large data, too"
            ))
        },
    ),
    Rule::error(
        "rfc9935-cannot-sign",
        "RFC 9935 section 5",
        "ML-KEM signs neither certificates nor requests",
        ALL,
        cannot_sign,
    ),
    Rule::error(
        "rfc5280-whole-octets",
        "RFC 9881 sections 3 and 4, RFC 9909 sections 4 and 5, RFC 9935 section 4",
        "keys and signatures are whole octets",
        ALL,
        whole_octets,
    ),
    Rule::error(
        "sp800-131a-rsa-key",
        "NIST SP 800-131A",
        "an RSA key has 2048 bits or more",
        BUT_LISTS,
        rsa_key,
    ),
];

/// The algorithms of an RFC.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Family {
    MlDsa,
    SlhDsa,
    MlKem,
}

impl Family {
    pub(super) fn of(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Kem(_) => Self::MlKem,
            Algorithm::Signature(one) if SignatureAlgorithm::ML_DSA.contains(&one) => Self::MlDsa,
            _ => Self::SlhDsa,
        }
    }
}

/// The algorithm of an identifier, if it is of this family.
fn of_family(identifier: &AlgorithmIdentifier<'_>, family: Family) -> Option<Algorithm> {
    let algorithm = identifier.algorithm()?;
    (Family::of(algorithm) == family).then_some(algorithm)
}

/// The algorithm of the document's key, if it is of this family.
pub(super) fn key_of(document: &Document<'_>, family: Family) -> Option<Algorithm> {
    of_family(&document.key.as_ref()?.algorithm, family)
}

/// All AlgorithmIdentifiers, and what each identifies.
fn identifiers<'a>(
    document: &Document<'a>,
) -> impl Iterator<Item = (&'static str, AlgorithmIdentifier<'a>)> {
    let key = document.key.as_ref().map(|key| key.algorithm);
    [
        ("key", key),
        ("signature, in the signed part,", document.inner_algorithm),
        ("signature", document.outer_algorithm),
    ]
    .into_iter()
    .filter_map(|(of, identifier)| Some((of, identifier?)))
}

fn parameters(document: &Document<'_>, family: Family) -> Option<String> {
    parameters_of(document, |identifier| {
        of_family(identifier, family).map(Algorithm::name)
    })
}

/// Parameters of the identifiers for which `name` returns a name.
fn parameters_of(
    document: &Document<'_>,
    name: impl Fn(&AlgorithmIdentifier<'_>) -> Option<&'static str>,
) -> Option<String> {
    let found: Listed = identifiers(document)
        .filter_map(|(of, identifier)| {
            let algorithm = name(&identifier)?;
            let parameters = identifier.parameters?;
            let what = match parameters.whole() {
                [5, 0] => "NULL".into(),
                other => format!("{} octets", other.len()),
            };
            Some(format!("{algorithm} of the {of} has the parameters {what}"))
        })
        .collect();
    Some(format!("{}; leave them out", found.text()?))
}

fn key_length(document: &Document<'_>, family: Family) -> Option<String> {
    let algorithm = key_of(document, family)?;
    let bits = document.key.as_ref()?.bits;
    let (len, expected) = (octets(bits), algorithm.public_key_len());
    (len != expected)
        .then(|| format!("the key has {len} octets, but a key of {algorithm} has {expected}"))
}

fn signature_length(document: &Document<'_>, family: Family) -> Option<String> {
    let algorithm = of_family(&document.outer_algorithm?, family)?;
    let Algorithm::Signature(set) = algorithm else {
        return None;
    };
    let (len, expected) = (octets(document.signature?), set.signature_len());
    (len != expected)
        .then(|| format!("the signature has {len} octets, but one of {algorithm} has {expected}"))
}

/// How many octets a BIT STRING has after the number of unused bits.
fn octets(bits: Element<'_>) -> usize {
    bits.value().len().saturating_sub(1)
}

fn encapsulation_key(document: &Document<'_>) -> Option<String> {
    let Algorithm::Kem(algorithm) = key_of(document, Family::MlKem)? else {
        return None;
    };
    let key = document.key.as_ref()?.bits.whole_octets()?;
    let has_length = key.len() == algorithm.public_key_len();
    // Another rule is about the length.
    let error = EncapsulationKey::from_bytes(algorithm, key).err()?;
    has_length.then(|| error.to_string())
}

fn cannot_sign(document: &Document<'_>) -> Option<String> {
    let signature = document.outer_algorithm?;
    if let Some(kem) = of_family(&signature, Family::MlKem) {
        return Some(format!("the signature is of {kem}, which can't sign"));
    }
    let kem = key_of(document, Family::MlKem)?;
    let role = match document.kind {
        _ if document.is_ca() => "is a CA's",
        Kind::Request => "makes a request",
        _ => return None,
    };
    Some(format!("the key is of {kem}, which can't sign, and {role}"))
}

fn whole_octets(document: &Document<'_>) -> Option<String> {
    let key = document.key.as_ref().map(|key| key.bits);
    let found: Listed = [("key", key), ("signature", document.signature)]
        .into_iter()
        .filter(|(_, bits)| bits.is_some_and(|bits| bits.whole_octets().is_none()))
        .map(|(name, _)| format!("the {name} has unused bits, or is empty"))
        .collect();
    found.text()
}

fn rsa_key(document: &Document<'_>) -> Option<String> {
    let key = document.key.as_ref()?;
    if key.algorithm.oid != RSA_ENCRYPTION {
        return None;
    }
    // RSAPublicKey (RFC 8017 appendix A.1.1)
    let fields = Elements::of(key.bits.whole_octets()?, 0).next()?;
    let modulus = fields.elements().next_if(tag::INTEGER)?.value();
    let first = modulus.iter().position(|octet| *octet != 0)?;
    let bits = 8 * (modulus.len() - first) - modulus[first].leading_zeros() as usize;
    (bits < 2048).then(|| format!("the RSA key has {bits} bits, fewer than 2048"))
}
