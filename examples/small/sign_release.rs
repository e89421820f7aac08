//! Signs a release so that everybody who has the root can verify it: a signature beside the file, in CMS.
#![forbid(unsafe_code)]

use core::error::Error;
use std::fs::{self, File};
use std::io::BufReader;

use pq_cms::{DocumentSigner, SignedDataBuilder, Verifier};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::validation::ChainValidator;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let release = folder.path().join("release.tar");
    fs::write(&release, "what is released")?;
    let read = || File::open(&release).map(|file| BufReader::with_capacity(64 * 1024, file));

    // Who releases: a key, and a certificate for it.
    let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa87)?;
    let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), root_key)?;
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    let signer = CertificateBuilder::end_entity().common_name("Releases");
    let certificate = root.issue(signer, &key)?;
    let signature = SignedDataBuilder::new()
        .signer(DocumentSigner::new(&certificate, &key))
        .sign_detached(read()?)?;
    println!("a signature of {} bytes", signature.len());

    // Who installs.
    let validator = ChainValidator::new([root.certificate().clone()])?;
    let verified = Verifier::with_chains(&validator).verify_detached(&signature[..], read()?)?;
    let by = verified.signers[0].certificate.describe_subject();
    println!("good, by {by}");

    fs::write(&release, "what is not released")?;
    if let Err(error) = Verifier::with_chains(&validator).verify_detached(&signature[..], read()?) {
        println!("refused: {error}");
    }
    Ok(())
}
