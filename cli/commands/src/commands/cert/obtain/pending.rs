//! A new key with its certificate, from before the first of their files is replaced until both are. Whatever interrupts that,
//! also what no process hears of, leaves this file, and the next run replaces both.

use std::path::PathBuf;

use pq_keys::SubjectKey;
use pq_x509::certificate::Certificate;

use crate::documents;
use crate::failure::{AcmeFailure, Failure};
use crate::files::{self, Access, Destination, Output, Source};
use crate::passphrases::PassphraseOptions;

/// A private key and the certificate for it, in PEM.
pub(super) struct Pair<'a> {
    pub(super) key: &'a str,
    pub(super) chain: &'a str,
}

/// What is put after the name of the certificate's file.
const SUFFIX: &str = ".new-with-key";

fn path(out: &Destination) -> Option<PathBuf> {
    let Destination::File(out) = out else {
        return None;
    };
    let mut name = out.clone().into_os_string();
    name.push(SUFFIX);
    Some(name.into())
}

impl Pair<'_> {
    /// Keeps both beside the file of the certificate. Returns the file.
    pub(super) fn keep(&self, out: &Destination) -> Result<Option<PathBuf>, Failure> {
        let Some(path) = path(out) else {
            return Ok(None);
        };
        let both = zeroize::Zeroizing::new([self.key, self.chain].concat());
        let to = Destination::File(path.clone());
        let output = Output {
            to: &to,
            content: both.as_bytes(),
            access: Access::Private,
            is_binary: false,
        };
        files::write(&[output], true)?;
        Ok(Some(path))
    }

    /// Gives both their places, all or none.
    fn place(&self, key: &Destination, out: &Destination) -> Result<(), Failure> {
        let private = Output {
            to: key,
            content: self.key.as_bytes(),
            access: Access::Private,
            is_binary: false,
        };
        let public = Output {
            to: out,
            content: self.chain.as_bytes(),
            access: Access::Public,
            is_binary: false,
        };
        Ok(files::write(&[private, public], true)?)
    }
}

/// Finishes what an interrupted run left, if there is something.
pub(super) fn finish(key: &Destination, out: &Destination) -> Result<bool, Failure> {
    let Some(path) = path(out).filter(|path| path.exists()) else {
        return Ok(false);
    };
    let source = Source::File(path.clone());
    let refused = |why: String| AcmeFailure::Pending {
        file: path.display().to_string(),
        why,
    };
    let private = documents::private_key(&source, &PassphraseOptions::default())?;
    let chain =
        Certificate::chain_from_pem(&*source.read(LIMIT).map_err(documents::DocumentError::from)?)
            .map_err(|error| refused(error.to_string()))?;
    if !chain
        .first()
        .is_some_and(|leaf| leaf.spki() == private.key.public_half().spki())
    {
        return Err(refused("its certificate is for another key".into()).into());
    }
    let pair = Pair {
        key: &private.key.to_pkcs8_pem()?,
        chain: &Certificate::chain_to_pem(&chain),
    };
    pair.place(key, out)?;
    files::remove(vec![path]);
    Ok(true)
}

const LIMIT: usize = 4 << 20;
