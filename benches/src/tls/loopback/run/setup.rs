//! What servers and clients of a combination share: certificates, and OpenSSL's configuration.

use alloc::sync::Arc;
use core::error::Error;
use std::fs::{self, File};
use std::path::Path;

use pq_x509::certificate::Certificate;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use tempfile::TempDir;

use crate::tls::handshake::identity::Identity;
use crate::tls::handshake::{Combination, client_config, providers, restrict};

/// A combination, with a folder of files.
pub(super) struct Setup {
    pub(super) combination: Combination,
    identity: Identity,
    folder: TempDir,
}

impl Setup {
    /// Issues certificates and writes all files, among them a sparse one with this number of zeros.
    pub(super) fn new(combination: Combination, download: u64) -> Result<Self, Box<dyn Error>> {
        let identity = combination.authentication.identity()?;
        let folder = tempfile::tempdir()?;
        let write = |name: &str, contents: &[u8]| fs::write(folder.path().join(name), contents);
        write(LEAF, &identity.leaf)?;
        write(KEY, &identity.key)?;
        let root = Certificate::from_der(&identity.root)?;
        write(ROOT, root.to_pem().as_bytes())?;
        write(OPENSSL_CONF, openssl_conf(combination).as_bytes())?;
        fs::create_dir(folder.path().join("bytes"))?;
        File::create(folder.path().join(format!("bytes/{download}")))?.set_len(download)?;
        Ok(Self {
            combination,
            identity,
            folder,
        })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A client with the provider of this name.
    pub(super) fn client(&self, provider_name: &str) -> Result<Arc<ClientConfig>, Box<dyn Error>> {
        let provider = provider(provider_name, self.combination)?;
        client_config(provider.into(), &self.identity)
    }
}

/// The provider of this name, with only the algorithms of the combination.
pub(super) fn provider(
    name: &str,
    combination: Combination,
) -> Result<CryptoProvider, Box<dyn Error>> {
    let providers = providers()?;
    let (_, provider) = providers
        .iter()
        .find(|(found, _)| *found == name)
        .ok_or("there is no such provider")?;
    Ok(restrict(provider, combination).ok_or("the provider lacks this")?)
}

/// The configuration that restricts s_server and s_time to the combination; s_time has no options for
/// that.
fn openssl_conf(combination: Combination) -> String {
    let group = combination.group;
    format!(
        "\
openssl_conf = init
[init]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
MinProtocol = TLSv1.3
Ciphersuites = TLS_AES_128_GCM_SHA256
Groups = {group}
"
    )
}

/// The server's certificate, in DER.
pub(super) const LEAF: &str = "leaf.der";
/// The server's key, in PKCS#8.
pub(super) const KEY: &str = "key.der";
/// The root that the client trusts, in PEM.
pub(super) const ROOT: &str = "root.pem";
/// OpenSSL's configuration, which an environment variable names.
pub(super) const OPENSSL_CONF: &str = "openssl.cnf";
