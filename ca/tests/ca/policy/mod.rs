//! Tests of policies through the crate's public interface.

mod acme;
mod default_text;
mod errors;
mod est;
mod keys;
mod names;
mod properties;
mod request;
mod subject;
mod usages;
mod validity;

use core::time::Duration;
use std::sync::LazyLock;
use std::time::SystemTime;

use pq_ca::policy::{Forbidden, Permitted, Policy, Wanted};
use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::der::asn1::{Any, BitString};
use pq_x509::x509_cert::spki::{
    AlgorithmIdentifierOwned, ObjectIdentifier, SubjectPublicKeyInfoOwned,
};

/// The time of the tests.
const NOW: u64 = 2_000_000_000;
const DAY: u64 = 24 * 60 * 60;

/// A CA that began ten days ago and ends in a thousand days.
static CA: LazyLock<Issuer<SigningKey>> = LazyLock::new(|| {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let validity = Validity::new(at(NOW - 10 * DAY), at(NOW + 1000 * DAY));
    let builder = CertificateBuilder::ca("Example CA").validity(validity);
    Issuer::self_signed(builder, new_key()).unwrap()
});

fn new_key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

/// A request for a certificate with a key of ML-DSA-44.
fn wanted() -> Wanted {
    static KEY: LazyLock<SigningKey> = LazyLock::new(new_key);
    Wanted::new(&*KEY).unwrap()
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

fn policy(text: &str) -> Policy {
    Policy::parse(text, "policy.toml").unwrap()
}

fn check(policy: &Policy, wanted: &Wanted) -> Result<Permitted, Forbidden> {
    policy.check(wanted, CA.certificate(), at(NOW))
}

/// The lines of the refusals' texts; none if the policy permits it.
fn refusals(text: &str, wanted: &Wanted) -> Vec<String> {
    match check(&policy(text), wanted) {
        Ok(_) => Vec::new(),
        Err(forbidden) => forbidden.to_string().lines().map(String::from).collect(),
    }
}

/// The SubjectPublicKeyInfo of a key with these bits, which need not be those of a real key.
fn spki(oid: &str, parameters: Option<Any>, bits: &[u8]) -> SubjectPublicKeyInfoDer<'static> {
    let spki = SubjectPublicKeyInfoOwned {
        algorithm: AlgorithmIdentifierOwned {
            oid: ObjectIdentifier::new_unwrap(oid),
            parameters,
        },
        subject_public_key: BitString::from_bytes(bits).unwrap(),
    };
    spki.to_der().unwrap().into()
}

/// An RSA key with a modulus of this many bits.
fn rsa(bits: usize) -> SubjectPublicKeyInfoDer<'static> {
    use pq_x509::x509_cert::der::asn1::{Null, Uint};

    let mut modulus = vec![0xff; bits.div_ceil(8)];
    modulus[0] >>= bits.div_ceil(8) * 8 - bits;
    let key = vec![
        Any::encode_from(&Uint::new(&modulus).unwrap()).unwrap(),
        Any::encode_from(&Uint::new(&[1, 0, 1]).unwrap()).unwrap(),
    ];
    let null = Any::encode_from(&Null).unwrap();
    spki("1.2.840.113549.1.1.1", Some(null), &key.to_der().unwrap())
}

/// A key of ECDSA on the curve.
fn ecdsa(curve: &str) -> SubjectPublicKeyInfoDer<'static> {
    let curve = Any::encode_from(&ObjectIdentifier::new_unwrap(curve)).unwrap();
    spki("1.2.840.10045.2.1", Some(curve), &[4; 65])
}
