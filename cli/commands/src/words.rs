//! Errors of the libraries in the words of the command line, where options can be named; and names of algorithms.
//!
//! This room uses [`keys`](crate::keys) and [`shell`](crate::shell).

use core::time::Duration;

use const_oid::ObjectIdentifier;
use const_oid::db::{DB, rfc5911};
use pq_ca::authority::AuthorityError;
use pq_ca::folder::FolderError;
use pq_ca::ledger::SerialNumber;
use pq_ca::policy::{Reason, Refusal};
use pq_cms::{OpeningError, VerificationError};
use pq_jose::jwt::JwtError;
use pq_keys::any::AnyKeyError;
use pq_keys::classical::ClassicalKeyError;
use pq_keys::identifiers::CompositeIdentifier;
use pq_keys::protection::{Cipher, KeyDerivation, Prf, Protection, ProtectionError};
use pq_keys::{Algorithm, KeyError};
use pq_x509::certificate::{AlternativeName, NameError, SignatureError};
use pq_x509::issuing::IssueError;
use pq_x509::pkcs12::Pkcs12Error;
use pq_x509::request::RequestError;
use pq_x509::validation::ValidationError;
use pq_x509::verification::{Mode, parameter_set};
use rustls_pq::KeyAlgorithm;

use crate::keys::{self, why_post_quantum_only};
use crate::shell::quoted;

/// Why a key of any kind can't be read, made, written or used.
pub(crate) fn of_any_key_error(error: &keys::KeyError) -> String {
    match error {
        keys::KeyError::Any(AnyKeyError::PostQuantum(error)) => of_key_error(error),
        keys::KeyError::Any(AnyKeyError::Classical(ClassicalKeyError::UnsupportedAlgorithm(
            oid,
        ))) => unsupported_key(*oid),
        keys::KeyError::NotPostQuantum(_) | keys::KeyError::NotOfOneAlgorithm(_) => {
            format!("{error}; name such a key")
        }
        keys::KeyError::Any(_)
        | keys::KeyError::Kem(_)
        | keys::KeyError::Agreement(_)
        | keys::KeyError::Protection(_)
        | keys::KeyError::UnderPassphrase
        | keys::KeyError::NotInStore
        | keys::KeyError::OnlyForFiles
        | keys::KeyError::NoRawBytes(_) => error.to_string(),
    }
}

/// Why a key can't be read, made, written or used.
pub(crate) fn of_key_error(error: &KeyError) -> String {
    match error {
        KeyError::UnsupportedAlgorithm(oid) => unsupported_key(*oid),
        KeyError::NoSeed(algorithm) => format!(
            "this {algorithm} key has no seed, because it was read from its expanded form and the \
             expansion can't be undone; ask for --form expanded, or use the file that has the seed"
        ),
        KeyError::FormUnavailable { algorithm, .. } => format!(
            "{algorithm} private keys have one form (RFC 9909), the expanded one; leave --form out"
        ),
        KeyError::NoMu(algorithm) => format!(
            "{algorithm} has no µ: only pure ML-DSA has one; leave --mu out, and give the message itself"
        ),
        KeyError::WeakPreHash { algorithm, hash } => format!(
            "{hash} is too weak for {algorithm}, which needs digests of at least {} bits (FIPS 204 section \
             5.4, FIPS 205 section 10.2); use --pre-hash {}",
            8 * algorithm.least_digest_len(),
            algorithm.usual_pre_hash()
        ),
        KeyError::OtherPreHash {
            algorithm,
            own,
            asked,
        } => format!(
            "the key is for Hash{algorithm} with {own} (RFC 9909), not with {asked}; leave --pre-hash out"
        ),
        other => other.to_string(),
    }
}

/// Why a private key can't be encrypted or decrypted.
pub(crate) fn of_protection_error(error: &ProtectionError) -> String {
    let asks = |what: &str, found, limit| {
        format!(
            "the file asks for {what} of {found} before its passphrase can be tried, and the limit is \
             {limit}; don't trust this file"
        )
    };
    match error {
        ProtectionError::TooManyIterations { found, limit } => {
            asks("a number of iterations", found, limit)
        }
        ProtectionError::TooMuchMemory { found, limit } => asks("memory in bytes", found, limit),
        ProtectionError::TooMuchWork { found, limit } => {
            asks("a cost of scrypt (N·r·p)", found, limit)
        }
        ProtectionError::Key(error) => of_key_error(error),
        other => other.to_string(),
    }
}

/// Why a PKCS#12 file can't be read or made.
pub(crate) fn of_pkcs12_error(error: &Pkcs12Error) -> String {
    match error {
        Pkcs12Error::Protection(
            ProtectionError::UnsupportedScheme(oid)
            | ProtectionError::UnsupportedKeyDerivation(oid)
            | ProtectionError::UnsupportedPrf(oid)
            | ProtectionError::UnsupportedCipher(oid),
        ) => format!(
            "no support for the encryption {}, as older programs use it for PKCS#12, only for PBES2 (RFC 8018) with AES; \
             make the file anew: \"openssl pkcs12 -legacy -in FILE -out all.pem\", and then \"openssl pkcs12 -export -in \
             all.pem -out NEW\"",
            oid_name(*oid)
        ),
        Pkcs12Error::Protection(error) => of_protection_error(error),
        other => other.to_string(),
    }
}

/// How a private key is protected.
pub(crate) fn protection_name(protection: &Protection) -> String {
    let derivation = match protection.key_derivation() {
        KeyDerivation::Pbkdf2 { prf, iterations } => {
            let prf = match prf {
                Prf::HmacSha1 => "HMAC-SHA-1",
                Prf::HmacSha256 => "HMAC-SHA-256",
                Prf::HmacSha384 => "HMAC-SHA-384",
                Prf::HmacSha512 => "HMAC-SHA-512",
                _ => "HMAC",
            };
            format!("PBKDF2 with {prf} and {iterations} iterations")
        }
        KeyDerivation::Scrypt { log_n, r, p } => {
            format!("scrypt with N = 2^{log_n}, r = {r} and p = {p}")
        }
        _ => "a passphrase".into(),
    };
    let cipher = match protection.cipher() {
        Cipher::Aes128Cbc => "AES-128-CBC",
        Cipher::Aes192Cbc => "AES-192-CBC",
        Cipher::Aes256Cbc => "AES-256-CBC",
        Cipher::Aes128Gcm => "AES-128-GCM",
        Cipher::Aes256Gcm => "AES-256-GCM",
        _ => "AES",
    };
    format!("{cipher}, {derivation}")
}

fn unsupported_key(oid: ObjectIdentifier) -> String {
    format!(
        "keys of {} are not supported here; pqtls takes keys of ML-DSA, SLH-DSA, ML-KEM, X-Wing, X25519, ECDSA \
         on P-256 and P-384, Ed25519 and RSA, and composites of ML-DSA and one of the last three",
        algorithm_name(oid)
    )
}

/// Why a token can't be made, or is refused.
pub(crate) fn of_jwt_error(error: &JwtError) -> String {
    match error {
        JwtError::Reserved(name) => format!(
            "an option is for the claim \"{name}\"; take it out of the claims, and see \"pqtls jwt sign --help\""
        ),
        JwtError::Issuer { .. } => format!("{error}; see --issuer and --any-issuer"),
        JwtError::Audience { .. } => format!("{error}; see --audience and --any-audience"),
        JwtError::Missing(name) if name == "exp" => {
            format!("{error}, or take tokens that are valid for ever with --no-expiry")
        }
        JwtError::Type { .. } => format!("{error} See --type"),
        other => other.to_string(),
    }
}

/// Why a token is refused for a time that was asked for: the clocks have nothing to do with it.
pub(crate) fn of_jwt_error_at(error: &JwtError, at: &str) -> String {
    match error {
        JwtError::Expired(_) | JwtError::NotYet(_) | JwtError::FromTheFuture(_) => {
            let text = error.to_string();
            let what = text.split(';').next().unwrap_or(&text);
            format!("{what}; this is counted from {at}, the time of --at")
        }
        other => of_jwt_error(other),
    }
}

/// Why a certificate can't be made.
pub(crate) fn of_issue_error(error: &IssueError) -> String {
    match error {
        IssueError::Name(error) => of_name_error(error),
        IssueError::SubjectKey(error) => format!("the key: {}", of_key_error(error)),
        IssueError::SpiffePurposes(id) => format!(
            "a certificate for {id} is for servers and clients (X.509-SVID section 4.4); ask for both, \
             with --purpose server --purpose client or --profile server+client"
        ),
        other => other.to_string(),
    }
}

/// Why a request can't be made.
pub(crate) fn of_request_error(error: &RequestError) -> String {
    match error {
        RequestError::Name(error) => of_name_error(error),
        RequestError::Key(error) => format!("the request's key: {}", of_key_error(error)),
        other => other.to_string(),
    }
}

/// The same for commands without --subject.
fn of_issue_error_at_ca(error: &IssueError) -> String {
    match error {
        IssueError::Name(NameError::CommonNameLength(len)) => {
            format!("a common name has 1 to 64 characters, not {len}; choose another")
        }
        other => of_issue_error(other),
    }
}

/// Why a CA did not do what was asked.
pub(crate) fn of_authority_error(error: &AuthorityError) -> String {
    match error {
        AuthorityError::Issue(error) => of_issue_error_at_ca(error),
        AuthorityError::Key(error) => format!("the key: {}", of_key_error(error)),
        AuthorityError::Forbidden(forbidden) => {
            let refusals = forbidden.refusals();
            let mut text = error.to_string();
            for refusal in refusals {
                if let Some(advice) = host_to_ask_for(refusal) {
                    text = text.replace(&refusal.to_string(), &advice);
                }
            }
            match validity_to_ask_for(refusals) {
                Some((lines, advice)) => text.replace(&lines, &advice),
                None => text,
            }
        }
        other => other.to_string(),
    }
}

/// Of a validity that both the policy and the CA's end forbid, the lines that say so, and one in their place: what each advises,
/// the other may refuse.
fn validity_to_ask_for(refusals: &[Refusal]) -> Option<(String, String)> {
    let find = |is: fn(&Reason) -> bool| refusals.iter().find(|one| is(one.reason()));
    let by_policy = find(|reason| matches!(reason, Reason::Validity { .. }))?;
    let by_ca = find(|reason| matches!(reason, Reason::EndsAfterCa { .. }))?;
    let (Reason::Validity { max, .. }, Reason::EndsAfterCa { left, .. }) =
        (by_policy.reason(), by_ca.reason())
    else {
        return None;
    };
    let line = by_policy.line_text().zip(by_policy.line());
    let line = line.map(|(text, number)| format!("\n  {number} | {text}"));
    let by_policy_whole = format!("{by_policy}{}", line.unwrap_or_default());
    let lines = format!("{by_policy_whole}\n{by_ca}");
    let instead = match max <= left {
        true => format!(
            "{}: validity.max permits {} at most; ask for that, or less",
            by_policy.file_name(),
            in_days(*max)
        ),
        false => by_ca.to_string(),
    };
    Some((lines, instead))
}

/// A duration as --validity takes it.
fn in_days(duration: Duration) -> String {
    const DAY: u64 = 24 * 60 * 60;
    match duration.as_secs() {
        days if days.is_multiple_of(DAY) => format!("{}d", days / DAY),
        seconds => format!("{seconds}s"),
    }
}

/// The advice for a URL, by which people mean a server: to permit it would not help them.
fn host_to_ask_for(refusal: &Refusal) -> Option<String> {
    let Reason::Uri { uri, .. } = refusal.reason() else {
        return None;
    };
    let (scheme, rest) = uri.split_once("://")?;
    if !["http", "https"].contains(&&*scheme.to_ascii_lowercase()) {
        return None;
    }
    let host = rest.split([':', '/', '?', '#']).next()?;
    Some(format!(
        "{}: names.uri does not permit \"{uri}\"; a server has its host name alone in its certificate: ask for {host}",
        refusal.file_name()
    ))
}

/// Why a CA's folder can't be made or used.
pub(crate) fn of_folder_error(error: &FolderError) -> String {
    match error {
        FolderError::NoCa(path) => format!(
            "{0} is not a CA's folder: it has no root.pem; name the CA's folder with --dir, or make a CA \
             with \"pqtls ca init\"",
            path.display()
        ),
        FolderError::NoIssuingCertificate { path, numbers } => {
            let out = quoted(&path.to_string_lossy());
            let how = match &**numbers {
                [] => format!(
                    "\"pqtls ca list --subject NAME\" has its serial number, and \"pqtls ca show NUMBER --pem --out {out}\" \
                     writes it"
                ),
                [number] => format!("\"pqtls ca show {number} --pem --out {out}\" writes it"),
                _ => format!(
                    "\"pqtls ca show NUMBER --pem --out {out}\" writes it, where NUMBER is one of {}: that of the CA's first \
                     key",
                    joined(numbers)
                ),
            };
            format!(
                "{} is not there, and the root is not for issuing; put it back from a backup, or from the ledger: {how}",
                path.display(),
            )
        }
        FolderError::SeveralFirst { issuing, .. } => format!(
            "{error}: \"pqtls ca show NUMBER --pem --out {} --force\"",
            quoted(&issuing.to_string_lossy())
        ),
        FolderError::OtherIssuing {
            issuing,
            ledger,
            root,
            number,
        } => format!(
            "{} does not fit {} and {}, which fit each other; leave these as they are, and take the certificate from \
             the ledger: \"pqtls ca show {number} --pem --out {} --force\"",
            issuing.display(),
            ledger.display(),
            root.display(),
            quoted(&issuing.to_string_lossy())
        ),
        FolderError::OtherLedger {
            ledger,
            certificate,
        } => format!(
            "{0} does not fit the CA in {1}: it is another CA's ledger, or older than that certificate; put back {0} \
             alone, from the newest backup of this CA; what was issued and revoked since that backup is lost: record \
             it again with \"pqtls ca adopt\", and revoke it again, before the next \"pqtls ca crl\"",
            ledger.display(),
            certificate.display()
        ),
        FolderError::Issue(error) => of_issue_error_at_ca(error),
        FolderError::Key { path, cause } => {
            let cause = match cause.downcast_ref() {
                Some(cause) => of_any_key_error(cause),
                None => cause.to_string(),
            };
            format!("{}: {cause}; restore it from a backup", path.display())
        }
        FolderError::Authority(error) => of_authority_error(error),
        FolderError::Above(cause) => of_folder_error(cause),
        other => other.to_string(),
    }
}

fn joined(numbers: &[SerialNumber]) -> String {
    let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

/// Why a signed message was refused.
pub(crate) fn of_message_error(error: &VerificationError) -> String {
    match error {
        VerificationError::NotSigned(oid) => match message_kind(*oid) {
            Some(kind) => format!("it is {kind}, and not signed{}", how_to_open(*oid)),
            None => error.to_string(),
        },
        VerificationError::NoContent => {
            "the signature is detached: name what was signed, and this file with --signature: \"pqtls cms verify FILE \
             --signature SIGNATURE\""
                .into()
        }
        other => other.to_string(),
    }
}

/// Why an encrypted message was not decrypted.
pub(crate) fn of_opening_error(error: &OpeningError) -> String {
    match error {
        OpeningError::NotEncrypted(oid) => match message_kind(*oid) {
            Some(kind) => format!("it is {kind}, and not encrypted{}", how_to_open(*oid)),
            None => error.to_string(),
        },
        other => other.to_string(),
    }
}

/// What messages of this type are.
fn message_kind(oid: ObjectIdentifier) -> Option<&'static str> {
    Some(match oid {
        rfc5911::ID_DATA => "plain data",
        rfc5911::ID_SIGNED_DATA => "signed",
        rfc5911::ID_ENVELOPED_DATA | rfc5911::ID_CT_AUTH_ENVELOPED_DATA => "encrypted",
        rfc5911::ID_DIGESTED_DATA => "hashed",
        rfc5911::ID_ENCRYPTED_DATA => "encrypted under a passphrase or another shared key",
        rfc5911::ID_CT_AUTH_DATA => "authenticated",
        _ => return None,
    })
}

fn how_to_open(oid: ObjectIdentifier) -> &'static str {
    match oid {
        rfc5911::ID_SIGNED_DATA => "; see \"pqtls cms verify\"",
        rfc5911::ID_ENVELOPED_DATA | rfc5911::ID_CT_AUTH_ENVELOPED_DATA => {
            "; see \"pqtls cms decrypt\""
        }
        _ => "",
    }
}

/// Why a chain was refused.
pub(crate) fn of_validation_error(error: &ValidationError) -> String {
    match error {
        ValidationError::UnsupportedAlgorithm(Some(oid)) => format!(
            "a certificate of the chain is signed by {}, which is not supported here; {}",
            algorithm_name(*oid),
            what_is_verified()
        ),
        ValidationError::UnknownRevocationStatus { subject } => format!(
            "{} may have been revoked: neither a revocation list of its issuer nor an OCSP response about \
             it was given; give the lists of all CAs of the chain with --crl, or responses with --ocsp",
            match subject {
                Some(subject) => format!("the certificate of {subject}"),
                None => "a certificate of the chain".into(),
            }
        ),
        ValidationError::Key { subject, error } => format!(
            "the key in the certificate of {subject}: {}",
            of_key_error(error)
        ),
        other => other.to_string(),
    }
}

/// Why a certificate's signature was not accepted under another certificate's key.
pub(crate) fn of_signature_error(error: &SignatureError) -> String {
    match error {
        SignatureError::UnsupportedAlgorithm(oid) => format!(
            "signatures of {} are not supported here; {}",
            algorithm_name(*oid),
            what_is_verified()
        ),
        other => other.to_string(),
    }
}

fn what_is_verified() -> String {
    match why_post_quantum_only() {
        None => {
            "pqtls verifies signatures of ML-DSA, SLH-DSA, ECDSA on P-256 and P-384, Ed25519 and \
                 RSA with SHA-2, and composites of ML-DSA and one of the last three"
                .into()
        }
        Some(why) => format!("here, pqtls verifies only signatures of ML-DSA and SLH-DSA: {why}"),
    }
}

fn of_name_error(error: &NameError) -> String {
    match error {
        NameError::InvalidDnsName(name) => {
            let what = what_is_wrong_with(name);
            format!(
                "\"{}\" is neither an IP address nor a DNS name: {what}",
                name.escape_debug()
            )
        }
        NameError::CommonNameLength(len) => format!(
            "a common name has 1 to 64 characters, not {len}; shorten it, or give a full name such as \
             --subject O=Example"
        ),
        other => other.to_string(),
    }
}

fn what_is_wrong_with(name: &str) -> String {
    let bare = name.trim_end_matches('.');
    if name.contains([',', ';']) || name.trim().contains(char::is_whitespace) {
        return "give each name by itself".into();
    }
    if bare.len() + 1 == name.len() && AlternativeName::Dns(bare.into()).check().is_ok() {
        return format!("leave the final dot out, and write {bare}");
    }
    if name.contains("..") {
        return "two of its dots follow each other; write the label between them, or leave one out"
            .into();
    }
    "labels of letters, digits, underscores and inner hyphens, no final dot, at most a leading \"*.\"; write names in \
     other scripts as \"xn--...\""
        .into()
}

/// The name of a public key's algorithm, by the DER of its SubjectPublicKeyInfo.
pub(crate) fn key_name(spki: &[u8]) -> String {
    match KeyAlgorithm::of_spki_der(spki) {
        Ok(KeyAlgorithm::EcdsaP256) => "ECDSA-P256".into(),
        Ok(KeyAlgorithm::EcdsaP384) => "ECDSA-P384".into(),
        Ok(KeyAlgorithm::EcdsaP521) => "ECDSA-P521".into(),
        Ok(KeyAlgorithm::Other(oid)) => algorithm_name(oid),
        Ok(other) => other.to_string(),
        Err(_) => "an unknown algorithm".into(),
    }
}

/// The name of a key's or a signature's algorithm, or its object identifier if no name is known.
pub(crate) fn algorithm_name(oid: ObjectIdentifier) -> String {
    match (Algorithm::from_oid(oid), parameter_set(oid)) {
        (Some(algorithm), _) => algorithm.to_string(),
        (None, Some((set, Mode::PreHash))) => format!("Hash{set}"),
        _ if oid == pq_keys::x_wing::OID => pq_keys::x_wing::NAME.into(),
        _ => match CompositeIdentifier::from_oid(oid) {
            Some(composite) => composite.to_string(),
            None => oid_name(oid),
        },
    }
}

/// The name of an extension, a purpose or another object identifier: the standards' name without its
/// prefix, such as `subjectAltName`.
pub(crate) fn oid_name(oid: ObjectIdentifier) -> String {
    let Some(name) = DB.by_oid(&oid) else {
        return oid.to_string();
    };
    let prefixes = ["id-ce-", "id-pe-", "id-kp-", "id-ad-", "id-"];
    let mut short = prefixes
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix));
    short.next().unwrap_or(name).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `openssl pkcs12 -export -legacy` encrypts.
    #[test]
    fn the_advice_for_old_pkcs12_is_not_for_keys() {
        let rc2 = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1.6");
        let error = Pkcs12Error::Protection(ProtectionError::UnsupportedScheme(rc2));
        let text = of_pkcs12_error(&error);
        assert!(text.contains("\"openssl pkcs12 -legacy -in FILE"), "{text}");
        assert!(!text.contains("pkcs8"), "{text}");
    }

    #[test]
    fn names_are_those_of_the_standards() {
        for (oid, name) in [
            ("2.5.29.17", "subjectAltName"),
            ("2.5.29.19", "basicConstraints"),
            ("1.3.6.1.5.5.7.1.1", "authorityInfoAccess"),
            ("1.3.6.1.5.5.7.3.1", "serverAuth"),
            ("1.3.6.1.5.5.7.48.2", "caIssuers"),
            ("1.2.3.4", "1.2.3.4"),
        ] {
            assert_eq!(oid_name(ObjectIdentifier::new_unwrap(oid)), name);
        }
        for (oid, name) in [
            ("2.16.840.1.101.3.4.3.18", "ML-DSA-65"),
            ("2.16.840.1.101.3.4.3.35", "HashSLH-DSA-SHA2-128s"),
            ("1.3.6.1.4.1.62253.25722", "X-Wing"),
            ("1.3.6.1.5.5.7.6.45", "MLDSA65-ECDSA-P256-SHA512"),
            ("1.2.840.10045.4.3.2", "ecdsa-with-SHA256"),
        ] {
            assert_eq!(algorithm_name(ObjectIdentifier::new_unwrap(oid)), name);
        }
    }
}
