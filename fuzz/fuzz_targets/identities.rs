//! Identities from PEM texts and files: an accepted chain and key belong together, and serve the names that they
//! claim to serve.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::der::DerEdits;
use fuzz::hello::ClientHello;
use fuzz::pki::{PKI, SERVER_NAME};
use fuzz::tls::PROVIDER;
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::IssueError;
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder, OcspResponse};
use rustls::SignatureScheme;
use rustls_pq::identity::{Identities, Identity, IdentityFiles, IdentitySet};
use rustls_pq::{OfferReader, TrustAnchorId};

fuzz_target!(|input: Input<'_>| input.check());

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    of_client: bool,
    key_of_client: bool,
    chain: Bytes<'a>,
    key: Bytes<'a>,
    through_files: bool,
    name: &'a str,
    trust_anchor: &'a [u8],
    protocol: &'a [u8],
    strongest_first: bool,
    hello: ClientHello<'a>,
    response: DerEdits<'a>,
}

/// A chain and its key, in PEM.
struct Pair {
    chain: String,
    key: String,
}

/// The pairs of the server and of the client.
static PAIRS: LazyLock<[Pair; 2]> = LazyLock::new(|| {
    let pairs = [
        (&PKI.server, &PKI.server_key),
        (&PKI.client, &PKI.client_key),
    ];
    pairs.map(|(leaf, key)| Pair {
        chain: leaf.to_pem() + &PKI.ca.certificate().to_pem(),
        key: (key.0.to_pkcs8_pem().expect("a key with a seed")).to_string(),
    })
});

/// A valid response for the server's certificate, by the CA.
static RESPONSE: LazyLock<OcspResponse> = LazyLock::new(|| {
    let request = OcspRequest::builder().certificate(&PKI.server, PKI.ca.certificate());
    let request = request.build().expect("a request");
    let good = |_: &[u8]| Ok::<_, IssueError>(CertStatus::Good);
    OcspResponder::ca(&PKI.ca)
        .respond(&request, SystemTime::now(), Validity::days(7), good)
        .expect("a response")
});

impl Input<'_> {
    fn check(&self) {
        let original = &PAIRS[usize::from(self.of_client)].chain;
        let chain = self.chain.of(original.as_bytes());
        let original_key = &PAIRS[usize::from(self.key_of_client)].key;
        let key = self.key.of(original_key.as_bytes());
        let identity = Identity::from_pem(&chain, &key, &PROVIDER);
        if self.through_files {
            assert_eq!(read_files(&chain, &key), identity.is_ok());
        }
        let identity = match identity {
            Ok(identity) => identity,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                let is_honest = chain == original.as_bytes() && key == original_key.as_bytes();
                assert!(!is_honest || self.of_client != self.key_of_client);
                return;
            }
        };
        let leaf = Certificate::from_der(&identity.chain()[0]).expect("it was accepted");
        assert_eq!(identity.dns_names().len(), leaf.dns_names().len());
        let size = identity.chain().iter().map(|it| it.len()).sum::<usize>();
        assert_eq!(identity.size(), size);
        check_pair(&identity, &leaf);
        self.check_response(&identity, &leaf);
        self.check_choice(identity);
    }

    /// Checks that an identity does not accept what another response says.
    fn check_response(&self, identity: &Identity, leaf: &Certificate) {
        let response = self.response.of(RESPONSE.der());
        match identity.set_ocsp_response(&response) {
            Ok(()) => {
                let read = OcspResponse::from_der(&response);
                if let Ok(read) = read
                    && *leaf == PKI.server
                {
                    assert_eq!(read.answers(), RESPONSE.answers());
                }
                assert_eq!(
                    identity.ocsp_response_until().is_some(),
                    !response.is_empty()
                );
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(identity.ocsp_response_until(), None);
            }
        }
        let shown = identity.certified_key();
        assert_eq!(
            shown.ocsp.is_some(),
            identity.ocsp_response_until().is_some()
        );
    }

    fn check_choice(&self, identity: Identity) {
        let identity = identity
            .with_trust_anchors(TrustAnchorId::from_bytes(self.trust_anchor))
            .with_protocols([self.protocol]);
        let identity = Arc::new(identity);
        let pair = &PAIRS[0];
        let other = Identity::from_pem(pair.chain.as_bytes(), pair.key.as_bytes(), &PROVIDER);
        let other = Arc::new(other.expect("a pair"));
        let mut set = IdentitySet::new()
            .with(Arc::clone(&identity))
            .with_name(self.name, Arc::clone(&identity))
            .with_default(Arc::clone(&other));
        if self.strongest_first {
            set = set.strongest_first();
        }
        assert!(set.contains(&identity) && set.contains(&other));
        let named = set.named(self.name).cloned().collect::<Vec<_>>();
        // What starts with a dot is not a DNS name, and a set leaves it out.
        let name = self.name.strip_suffix('.').unwrap_or(self.name);
        assert_eq!(
            named.iter().any(|it| Arc::ptr_eq(it, &identity)),
            !name.starts_with('.')
        );

        let identities = Identities::new(set);
        if let Ok(Some(offer)) = OfferReader::new().read(&self.hello.encode().record) {
            let choice = identities.choose_offered(&offer).expect("a default");
            let mut both = [&identity, &other].into_iter();
            assert!(both.any(|it| Arc::ptr_eq(it, &choice.identity)));
            if let Some(scheme) = choice.scheme {
                assert!(offer.signature_schemes.contains(&scheme));
            }
        }
        identities.update(|set| set.without(&identity));
        assert!(!identities.current().contains(&identity));
        let choice = identities.choose_for(Some(SERVER_NAME), &SCHEMES, &SCHEMES);
        assert!(Arc::ptr_eq(&choice.expect("a default").identity, &other));
    }
}

const SCHEMES: [SignatureScheme; 1] = [SignatureScheme::ML_DSA_44];

/// Checks that the certificate's key verifies what the key signs.
fn check_pair(identity: &Identity, leaf: &Certificate) {
    let key = &identity.certified_key().key;
    let Some(signer) = key.choose_scheme(&SCHEMES) else {
        return;
    };
    let signature = signer.sign(b"message").expect("a key that signs");
    let public_key = leaf.parsed().tbs_certificate().subject_public_key_info();
    let verified = PROVIDER
        .signature_verification_algorithms
        .mapping
        .iter()
        .filter(|(scheme, _)| *scheme == signer.scheme())
        .flat_map(|(_, algorithms)| *algorithms)
        .any(|algorithm| {
            let key = public_key.subject_public_key.raw_bytes();
            (algorithm.verify_signature(key, b"message", &signature)).is_ok()
        });
    assert!(verified);
}

/// Checks that a watched identity stays, whatever happens to its files.
fn watch(files: IdentityFiles, chain: &Path) {
    let (identities, watcher) = files.watch(Duration::from_millis(1)).expect("a thread");
    fs::write(chain, "no chain").expect("a file");
    watcher.reload();
    drop(watcher);
    assert_eq!(identities.current().identities().count(), 1);
}

/// Whether files with these contents are accepted.
fn read_files(chain: &[u8], key: &[u8]) -> bool {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let name = format!("fuzz-identities-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder for files");
        folder
    });
    let [chain_file, key_file] = ["chain.pem", "key.pem"].map(|name| FOLDER.join(name));
    fs::write(&chain_file, chain).expect("a file");
    fs::write(&key_file, key).expect("a file");
    let files = IdentityFiles::new(PROVIDER.clone().into()).with_default(&chain_file, &key_file);
    match files.load() {
        Ok(set) => {
            assert_eq!(set.identities().count(), 1);
            watch(files, &chain_file);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}
