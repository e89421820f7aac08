//! The options for chains and their keys in files.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use pq_x509::certificate::Certificate;
use rustls::crypto::CryptoProvider;
use rustls_pq::TrustAnchorId;
use rustls_pq::identity::{FilePair, Identities, IdentityFiles, Watcher};
use tracing::warn;

use super::error::OptionError;
use super::files::certificates_in;

/// What to serve: chains and their keys in files, with OCSP responses beside them.
#[derive(Clone, Debug, Args)]
pub struct CertificateOptions {
    /// PEM file with a certificate chain to serve, leaf first; can be repeated, the most
    /// preferred one first
    ///
    /// Of the chains for the name that it requests, or of all chains if none is for that name, a client
    /// gets the first one that it can verify. But if it says that it trusts the root of a later chain, it
    /// gets that one. It can say so by the name of the CA (certificate_authorities) or by a trust anchor ID
    /// (see --trust-anchor). Many clients list ML-DSA but trust no ML-DSA root, browsers among them. So put
    /// first a chain that all clients trust, with every name that later chains have. An ML-DSA chain after it
    /// goes to clients that say they trust it, or that accept only ML-DSA.
    ///
    /// An OCSP response in DER can be beside a chain: server.ocsp for server.pem. Clients that ask for one get
    /// it with the chain until it expires. It need not be there; a newer response replaces it as a newer
    /// chain replaces an older one (see --watch). It is sent only if it can be verified: if the CA's certificate
    /// isn't in the chain, give it with --ocsp-issuers.
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        help_heading = "Certificates"
    )]
    pub cert: Vec<PathBuf>,

    /// PEM file with the private key of a chain's leaf: ML-DSA in any PKCS#8 form, or
    /// classical; one for each --cert, in the same order
    #[arg(
        long,
        value_name = "FILE",
        requires = "cert",
        help_heading = "Certificates"
    )]
    pub key: Vec<PathBuf>,

    /// PEM file with certificates of CAs that verify OCSP responses; they aren't sent. Needed for chains without
    /// the certificate of the leaf's issuer
    #[arg(
        long,
        value_name = "FILE",
        requires = "cert",
        help_heading = "Certificates"
    )]
    pub ocsp_issuers: Option<PathBuf>,

    /// Trust anchor ID of the CA of a --cert, such as ml-dsa.pem=32473.1; ask the CA for it; can be
    /// repeated
    ///
    /// Clients that send this ID in the extension trust_anchors, as Chromium does, get the chain in this
    /// --cert, whatever its place in the order.
    #[arg(
        long = "trust-anchor",
        value_name = "FILE=ID",
        value_parser = trust_anchor,
        requires = "cert",
        help_heading = "Certificates"
    )]
    pub trust_anchors: Vec<(PathBuf, TrustAnchorId)>,
}

/// What the files had in them, and the watcher that takes changes over for as long as it lives.
#[derive(Debug)]
pub struct ServedFiles {
    /// What to serve.
    pub identities: Arc<Identities>,
    /// Looks at the files.
    pub watcher: Watcher,
    /// The leaf that is preferred.
    pub leaf: Certificate,
    /// The certificates that are sent with it.
    pub above: Vec<Certificate>,
}

impl CertificateOptions {
    /// Reads the files, and looks at the interval `every` whether they have changed.
    ///
    /// # Errors
    ///
    /// [`OptionError`] if options don't fit together, or a file can't be used.
    pub fn watch(
        &self,
        provider: &Arc<CryptoProvider>,
        every: Duration,
    ) -> Result<ServedFiles, OptionError> {
        let (identities, watcher) = self.files(provider)?.watch(every)?;

        // Look at what is served: a file may have changed by now.
        let set = identities.current();
        let chains = set.identities().map(|identity| {
            let chain = identity.chain().iter();
            chain.map(|der| Certificate::from_der(der)).collect()
        });
        let chains = chains.collect::<Result<Vec<Vec<_>>, _>>()?;
        for (chain, file) in chains.iter().zip(&self.cert) {
            warn_of_ca(chain, file);
        }
        let first = chains.first().and_then(|chain| chain.split_first());
        let (leaf, above) = first.ok_or(OptionError::NothingToServe)?;
        Ok(ServedFiles {
            leaf: leaf.clone(),
            above: above.to_vec(),
            identities,
            watcher,
        })
    }

    fn files(&self, provider: &Arc<CryptoProvider>) -> Result<IdentityFiles, OptionError> {
        let Self {
            cert,
            key,
            trust_anchors,
            ocsp_issuers,
        } = self;
        if cert.len() != key.len() {
            return Err(OptionError::Pairs {
                certs: cert.len(),
                keys: key.len(),
            });
        }
        let is_unknown = |(file, _): &&(PathBuf, TrustAnchorId)| !cert.contains(file);
        if let Some((file, id)) = trust_anchors.iter().find(is_unknown) {
            return Err(OptionError::TrustAnchor {
                file: file.clone(),
                id: *id,
            });
        }
        let ocsp_issuers = match ocsp_issuers {
            Some(file) => certificates_in(file)?,
            None => Vec::new(),
        };
        Ok(cert.iter().zip(key).fold(
            IdentityFiles::new(provider.clone()),
            |files, (cert, key)| {
                let ids = trust_anchors.iter().filter(|(file, _)| file == cert);
                let pair = FilePair::new(cert, key).as_default();
                let pair = pair.with_ocsp_response(cert.with_extension("ocsp"));
                let pair = pair.with_ocsp_issuers(ocsp_issuers.iter().cloned());
                files.with_pair(pair.with_trust_anchors(ids.map(|(_, id)| *id)))
            },
        ))
    }
}

/// A file and the ID of the CA that its chain ends at.
fn trust_anchor(text: &str) -> Result<(PathBuf, TrustAnchorId), Box<dyn Error + Send + Sync>> {
    let (file, id) = text
        .rsplit_once('=')
        .ok_or("there is no = between the file of a --cert and the ID")?;
    Ok((file.into(), id.parse()?))
}

/// Warns of a CA's own certificate where a server's should be.
fn warn_of_ca(chain: &[Certificate], file: &Path) {
    let Some(leaf) = chain.first().filter(|leaf| leaf.is_ca()) else {
        return;
    };
    let whose = match leaf.is_self_signed(&[]) {
        true => "a self-signed CA",
        false => "a CA",
    };
    warn!(
        file = %file.display(),
        subject = leaf.describe_subject(),
        "this is the certificate of {whose}, and rustls's clients refuse that as a server's \
         (CaUsedAsEndEntity); have the CA issue a certificate for the server, serve that one, and \
         let clients trust the CA's certificate"
    );
}
