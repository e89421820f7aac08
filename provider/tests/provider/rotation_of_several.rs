//! Several chains in files, of which more than one changes at a time, and signers of chains with more than one certificate.

use alloc::sync::Arc;
use core::error::Error;
use core::time::Duration;
use std::fs;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use rustls::ServerConfig;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls_pq::Builder;
use rustls_pq::identity::{FilePair, Identities, IdentityFiles, SignerSource};

use crate::peers::{any_base, client_config, connect, roots};
use crate::rotation::{Files, Pki, provider};

/// All that one look finds is taken over.
#[test]
fn pairs_that_change_together() {
    let pki = Pki::new();
    let files = ["one", "two", "three"].map(Files::new);
    let old = [(); 3].map(|()| pki.issue());
    let mut watch = IdentityFiles::new(provider());
    for (files, pair) in files.iter().zip(&old) {
        files.put(pair);
        watch = watch.with_default(&files.chain, &files.key);
    }
    let (identities, watcher) = watch.watch(Duration::from_secs(3600)).unwrap();
    let new = [(); 2].map(|()| pki.issue());
    for (files, pair) in files[1..].iter().zip(&new) {
        files.put(pair);
    }
    watcher.reload();
    for pair in &new {
        pair.wait_until_served_by(&identities);
    }
    assert!(old[0].is_served_by(&identities));
    for pair in &old[1..] {
        assert!(!pair.is_served_by(&identities));
    }
}

/// A key elsewhere for one public key, which signs something else once it is told to lie.
#[derive(Clone)]
struct Elsewhere {
    key: Arc<SigningKey>,
    lies: bool,
}

impl SignerSource for Elsewhere {
    fn signer(
        &self,
        spki: &SubjectPublicKeyInfoDer<'_>,
    ) -> Result<Arc<dyn Signer>, Box<dyn Error + Send + Sync>> {
        match self.key.spki() == *spki {
            true => Ok(Arc::new(self.clone())),
            false => Err("no version has this key".into()),
        }
    }

    fn description(&self) -> String {
        "store:shop/web/tls".into()
    }
}

impl SubjectKey for Elsewhere {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for Elsewhere {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        Signer::signature_algorithm(&*self.key)
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        match self.lies {
            true => Signer::sign(&*self.key, b"something else"),
            false => Signer::sign(&*self.key, message),
        }
    }
}

/// The signer is that of the leaf, whatever follows it, and what it signs is verified.
#[test]
fn the_signer_of_a_chain_in_a_file() {
    let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), new_key()).unwrap();
    let (ca_key, key) = (new_key(), new_key());
    let ca = root.issue(CertificateBuilder::ca("CA"), &ca_key).unwrap();
    let chain = ca.to_pem();
    let ca = Issuer::new(ca, ca_key).unwrap();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let leaf = ca.issue(leaf, &key).unwrap();
    let files = Files::new("leaf");
    fs::write(&files.chain, leaf.to_pem() + &chain).unwrap();

    let key = Arc::new(key);
    let provider = Arc::new(Builder::new(any_base()).build().unwrap());
    let root = root.certificate().der().clone();
    for lies in [false, true] {
        let key = Elsewhere {
            key: key.clone(),
            lies,
        };
        let pair = FilePair::with_signers(&files.chain, key).as_default();
        let set = IdentityFiles::new(provider.clone()).with_pair(pair).load();
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Identities::new(set.unwrap())));
        let client = client_config((*provider).clone(), roots([root.clone()]));
        let result = connect(&client.into(), &server.into()).server.result;
        match lies {
            false => assert_eq!(result, Ok(())),
            true => {
                let error = result.unwrap_err().to_string();
                assert!(error.contains("no signature by the key"), "{error}");
            }
        }
    }
}
