//! Verifies a chain of PEM certificates up to a root, for a name and with a revocation list, as a client would.
#![forbid(unsafe_code)]

use core::error::Error;
use std::time::SystemTime;

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::validation::ChainValidator;

/// Who is the leaf of this chain, if it is good.
fn verify(chain: &str, root: &str, list: &str, name: &str) -> Result<String, Box<dyn Error>> {
    let chain = Certificate::chain_from_pem(chain)?;
    let lists = CertificateRevocationList::all_from_pem(list)?;
    let validator = ChainValidator::new(Certificate::chain_from_pem(root)?)?
        .with_revocation(RevocationPolicy::new(lists)?);
    let name = ServerName::try_from(name)?;
    let validated = validator.validate_server(&chain, &name, UnixTime::now())?;
    Ok(validated.certificates()[0].describe_subject())
}

fn main() -> Result<(), Box<dyn Error>> {
    // Something to verify.
    let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), root_key)?;
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    let leaf = CertificateBuilder::server()
        .common_name("Example")
        .dns_name("example.org");
    let leaf = root.issue(leaf, &key)?;
    let (chain, root_pem) = (leaf.to_pem(), root.certificate().to_pem());
    let list = || CertificateRevocationListBuilder::new(&[1]);
    let revokes = list().revoke(
        leaf.serial_number(),
        SystemTime::now(),
        CrlReason::KeyCompromise,
    );

    for (list, name) in [
        (list(), "example.org"),
        (list(), "example.com"),
        (revokes, "example.org"),
    ] {
        let list = root.issue_revocation_list(list)?.to_pem();
        match verify(&chain, &root_pem, &list, name) {
            Ok(subject) => println!("good: {subject}"),
            Err(error) => println!("refused: {error}"),
        }
    }
    Ok(())
}
