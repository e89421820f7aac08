//! OpenSSL's verdict on a chain.

use openssl::error::ErrorStack;
use openssl::stack::Stack;
use openssl::x509::store::X509StoreBuilder;
use openssl::x509::verify::{X509CheckFlags, X509VerifyParam};
use openssl::x509::{X509, X509PurposeId, X509StoreContext, X509VerifyResult};

/// Why a chain is refused.
#[derive(Debug)]
pub enum Refusal {
    /// OpenSSL can't read a certificate, or a name.
    Unreadable(ErrorStack),
    Invalid(X509VerifyResult),
}

impl From<ErrorStack> for Refusal {
    fn from(error: ErrorStack) -> Self {
        Self::Unreadable(error)
    }
}

/// Whether the chain's first certificate, the leaf, is valid for a name (if there is one) at a time in seconds since
/// 1970.
pub fn verify(
    root: &[u8],
    chain: &[Vec<u8>],
    is_client: bool,
    name: Option<&str>,
    seconds: i64,
) -> Result<(), Refusal> {
    let mut param = X509VerifyParam::new()?;
    param.set_time(seconds);
    param.set_purpose(match is_client {
        true => X509PurposeId::SSL_CLIENT,
        false => X509PurposeId::SSL_SERVER,
    })?;
    // Names are only taken from the extension, and a wildcard has to be a whole label.
    param.set_hostflags(X509CheckFlags::NEVER_CHECK_SUBJECT | X509CheckFlags::NO_PARTIAL_WILDCARDS);
    if let Some(name) = name {
        match name.parse() {
            Ok(address) => param.set_ip(address)?,
            Err(_) => param.set_host(name)?,
        }
    }
    let mut store = X509StoreBuilder::new()?;
    store.add_cert(X509::from_der(root)?)?;
    store.set_param(&param)?;
    let store = store.build();
    let leaf = X509::from_der(&chain[0])?;
    let mut others = Stack::new()?;
    for der in &chain[1..] {
        others.push(X509::from_der(der)?)?;
    }
    let mut context = X509StoreContext::new()?;
    let (is_valid, result) = context.init(&store, &leaf, &others, |context| {
        Ok((context.verify_cert()?, context.error()))
    })?;
    match is_valid {
        true => Ok(()),
        false => Err(Refusal::Invalid(result)),
    }
}
