//! PKCS#8 (RFC 5958) around the private keys of RFC 9881, RFC 9909 and RFC 9935, each in
//! its section 6.

use der::asn1::{Any, BitStringRef, OctetStringRef, SetOfVec};
use der::{Choice, Decode, Encode, Sequence, Tag, ValueOrd};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier};
use zeroize::Zeroizing;

use super::algorithm::{Algorithm, PreHashRow};
use super::error::KeyError;
use crate::encoding::syntax::{self, whole_octets};

/// A private key's fields as they stand in the DER; lengths unchecked.
pub(crate) struct PrivateKeyFields<'a> {
    pub(crate) algorithm: Algorithm,
    /// Set for a key of HashSLH-DSA.
    pub(crate) pre_hash: Option<&'static PreHashRow>,
    pub(crate) material: KeyMaterial<'a>,
    /// Keys of version 2 and those of OQS have one.
    pub(crate) public_key: Option<&'a [u8]>,
}

/// ```text
/// ML-DSA-44-PrivateKey ::= CHOICE {
///   seed [0] OCTET STRING (SIZE (32)),
///   expandedKey OCTET STRING (SIZE (2560)),
///   both SEQUENCE {
///     seed OCTET STRING (SIZE (32)),
///     expandedKey OCTET STRING (SIZE (2560)) } }
/// ```
///
/// The tag decides which it is, unless the key has no tag: see [`read_material`].
///
/// An SLH-DSA key is `Expanded` here. In the DER it has no tag of its own.
#[derive(Choice)]
pub(crate) enum KeyMaterial<'a> {
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT")]
    Seed(Octets<'a>),
    Expanded(Octets<'a>),
    Both(SeedAndExpanded<'a>),
}

#[derive(Sequence)]
pub(crate) struct SeedAndExpanded<'a> {
    pub(crate) seed: Octets<'a>,
    pub(crate) expanded: Octets<'a>,
}

/// The derive macros take paths only, not references.
type Octets<'a> = &'a OctetStringRef;

/// ```text
/// OneAsymmetricKey ::= SEQUENCE {
///   version                   Version,
///   privateKeyAlgorithm       PrivateKeyAlgorithmIdentifier,
///   privateKey                PrivateKey,
///   attributes            [0] Attributes OPTIONAL,
///   ...,
///   [[2: publicKey        [1] PublicKey OPTIONAL ]],
///   ...
/// }
/// ```
///
/// No further field is defined, and none is accepted: it could be a second public key.
#[derive(Sequence)]
struct OneAsymmetricKey<'a> {
    version: u8,
    algorithm: AlgorithmIdentifierRef<'a>,
    private_key: Octets<'a>,
    /// Checked to be attributes; none of them means anything here.
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT", optional = "true")]
    attributes: Option<SetOfVec<Attribute>>,
    #[asn1(context_specific = "1", tag_mode = "IMPLICIT", optional = "true")]
    public_key: Option<BitStringRef<'a>>,
}

/// An attribute (RFC 5280, appendix A.1).
#[derive(Sequence, ValueOrd)]
struct Attribute {
    oid: ObjectIdentifier,
    values: SetOfVec<Any>,
}

/// Without a public key, and with one.
const VERSIONS: [u8; 2] = [0, 1];

/// Reads a OneAsymmetricKey, version 1 or 2, without copying what is secret.
pub(crate) fn parse(der: &[u8]) -> Result<PrivateKeyFields<'_>, KeyError> {
    let info = outline(der)?;
    let public_key = info.public_key.map(whole_octets).transpose()?;
    let (algorithm, pre_hash) = Algorithm::of_key(&info.algorithm)?;
    let (material, paired) = read_material(algorithm, info.private_key)?;
    if public_key.is_some() && paired.is_some() && public_key != paired {
        return Err(KeyError::PublicKeyMismatch(algorithm));
    }
    Ok(PrivateKeyFields {
        algorithm,
        pre_hash,
        material,
        public_key: public_key.or(paired),
    })
}

/// Reads and checks what keys of all algorithms have in common.
fn outline(der: &[u8]) -> Result<OneAsymmetricKey<'_>, KeyError> {
    syntax::check_number(der)?;
    let info = OneAsymmetricKey::from_der(der)?;
    syntax::check(der)?;
    if info.version != VERSIONS[usize::from(info.public_key.is_some())] {
        return Err(der::Error::from(Tag::Integer.value_error()).into());
    }
    Ok(info)
}

/// Checks that the DER is a OneAsymmetricKey (RFC 5958), of a known algorithm or of another.
///
/// # Errors
///
/// [`KeyError::Der`] or [`KeyError::Syntax`].
pub fn check_pkcs8(der: &[u8]) -> Result<(), KeyError> {
    outline(der).map(|_| ())
}

/// The key in the OCTET STRING of a OneAsymmetricKey, and a public key if there is one behind it.
///
/// Beside the standards' CHOICE there are two older forms, which OpenSSL reads, too. A seed or
/// expanded key may have no tag, as Botan writes it. Its length tells: no encoded member of the CHOICE
/// is as long as a seed or an expanded key without a tag, whatever byte the key begins with. And
/// liboqs's OpenSSL provider writes the public key behind the expanded one.
fn read_material<'a>(
    algorithm: Algorithm,
    contents: Octets<'a>,
) -> Result<(KeyMaterial<'a>, Option<&'a [u8]>), KeyError> {
    let expanded_len = algorithm.expanded_len();
    let bytes = contents.as_bytes();
    if algorithm.private_key_is_bare() || bytes.len() == expanded_len {
        return Ok((KeyMaterial::Expanded(contents), None));
    }
    if bytes.len() == algorithm.seed_len() {
        return Ok((KeyMaterial::Seed(contents), None));
    }
    match KeyMaterial::from_der(bytes) {
        Ok(KeyMaterial::Expanded(pair))
            if pair.as_bytes().len() == expanded_len + algorithm.public_key_len() =>
        {
            let (expanded, public_key) = pair.as_bytes().split_at(expanded_len);
            let expanded = KeyMaterial::Expanded(OctetStringRef::new(expanded)?);
            Ok((expanded, Some(public_key)))
        }
        Ok(material) => Ok((material, None)),
        // The error of `der` helps nobody, because nobody knows which form was meant.
        Err(_) => Err(KeyError::UnknownForm {
            algorithm,
            len: bytes.len(),
        }),
    }
}

/// Writes a OneAsymmetricKey of version 1, which is what all importers accept. Its identifier is the
/// algorithm's own or that of its HashSLH-DSA.
pub(crate) fn write(
    algorithm: Algorithm,
    oid: ObjectIdentifier,
    material: &KeyMaterial<'_>,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let material = match material {
        KeyMaterial::Expanded(key) if algorithm.private_key_is_bare() => {
            Zeroizing::new(key.as_bytes().to_vec())
        }
        tagged => encode_secret(tagged)?,
    };
    Ok(encode_secret(&OneAsymmetricKey {
        version: VERSIONS[0],
        algorithm: AlgorithmIdentifierRef {
            oid,
            parameters: None,
        },
        private_key: OctetStringRef::new(&material)?,
        attributes: None,
        public_key: None,
    })?)
}

/// Encodes into a buffer of the final length, which is not moved as it fills.
fn encode_secret(value: &impl Encode) -> der::Result<Zeroizing<Vec<u8>>> {
    let len = usize::try_from(value.encoded_len()?)?;
    let mut buffer = Zeroizing::new(vec![0; len]);
    value.encode_to_slice(&mut buffer)?;
    Ok(buffer)
}
