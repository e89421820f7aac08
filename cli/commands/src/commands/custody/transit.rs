//! Keys of Vault or OpenBao that stores are sealed under: the address, whose options say by which token the server knows this
//! program, and by which root this program knows the server.

use core::convert::Infallible;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::env;
use std::path::PathBuf;

use pq_keystore::remote::{
    RemoteToken, TlsTransport, TlsTransportOptions, TransitAddress, TransitKek,
};
use zeroize::Zeroizing;

use crate::commands::servers::{self, decoded, variable, waiting_time};
use crate::failure::TransitFailure;
use crate::files::Source;

/// The address of a key, as it was given.
#[derive(Clone)]
pub(in crate::commands) struct TransitKey(String);

impl FromStr for TransitKey {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.into()))
    }
}

impl fmt::Debug for TransitKey {
    /// Nothing of it, since there may be a token in it that was not refused yet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TransitKey")
    }
}

impl TransitKey {
    /// The address in an environment variable, if that begins as one.
    pub(in crate::commands) fn in_variable(name: &str) -> Option<Self> {
        let text = env::var(name).ok()?;
        let schemes = ["https://", "http://"];
        let is_one = schemes.iter().any(|scheme| text.starts_with(scheme));
        is_one.then_some(Self(text))
    }

    /// The file with the token, if one is named.
    pub(in crate::commands) fn token_file(&self) -> Option<Source> {
        let (_, own) = self.parts().ok()?;
        match own.token {
            Some(TokenSource::File(file)) => Some(Source::File(file)),
            _ => None,
        }
    }

    /// The file with the root, if one is named.
    pub(in crate::commands) fn root_file(&self) -> Option<Source> {
        self.parts().ok()?.1.roots.map(Source::File)
    }

    /// Refuses two servers that would both get the token of the environment variable.
    pub(super) fn check_beside(&self, other: &Self) -> Result<(), TransitFailure> {
        let ((one, of_one), (other, of_other)) = (self.parts()?, other.parts()?);
        let share_token = of_one.token.is_none() && of_other.token.is_none();
        match share_token && !one.engine().is_on_server_of(other.engine()) {
            true => Err(TransitFailure::OneTokenForTwo),
            false => Ok(()),
        }
    }

    /// The key. Its server is not asked yet.
    pub(super) fn kek(&self) -> Result<TransitKek, TransitFailure> {
        let (address, own) = self.parts()?;
        let roots = own.roots.or_else(|| variable("VAULT_CACERT"));
        let config = servers::to_server(&roots.ok_or(TransitFailure::NoRoots)?, None);
        let config = config.map_err(TransitFailure::Tls)?;
        let token = match own.token {
            Some(TokenSource::File(file)) => RemoteToken::read(&file),
            Some(TokenSource::Credential(name)) => RemoteToken::credential(&name),
            None => {
                let token = env::var_os("VAULT_TOKEN").filter(|value| !value.is_empty());
                let token =
                    Zeroizing::new(token.ok_or(TransitFailure::NoToken)?.into_encoded_bytes());
                RemoteToken::new(&*token)
            }
        };
        let token = token.map_err(TransitFailure::Token)?;
        let options = options_of(own.timeout);
        let (host, port) = (address.engine().host(), address.engine().port());
        let transport = TlsTransport::new(config.into(), host, port, options);
        let transport = transport.map_err(|error| TransitFailure::Tls(error.to_string()))?;
        Ok(TransitKek::new(transport, address, &token))
    }

    /// The address without its options, in a namespace if one is named, and the other options.
    fn parts(&self) -> Result<(TransitAddress, Own), TransitFailure> {
        let (address, options) = self.0.split_once('?').unwrap_or((&self.0, ""));
        let address: TransitAddress = address.parse().map_err(TransitFailure::Address)?;
        let mut own = Own::default();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            own.take(option)?;
        }
        let variable =
            || env::var_os("VAULT_NAMESPACE").map(|name| name.to_string_lossy().into_owned());
        let namespace = own.namespace.take().or_else(variable);
        let address = match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => address
                .namespace(&namespace)
                .map_err(TransitFailure::Address)?,
            None => address,
        };
        Ok((address, own))
    }
}

/// How the server is asked, for a time that is named or as long as usual.
fn options_of(timeout: Option<Duration>) -> TlsTransportOptions {
    let mut options = TlsTransportOptions::default();
    // That of a key with 10,000 versions is shorter.
    options.max_body_len = 1024 * 1024;
    if let Some(time) = timeout {
        (options.connecting, options.answering) = (time, time);
    }
    options
}

/// Where the token is.
enum TokenSource {
    File(PathBuf),
    Credential(String),
}

/// The options of an address.
#[derive(Default)]
struct Own {
    roots: Option<PathBuf>,
    token: Option<TokenSource>,
    namespace: Option<String>,
    timeout: Option<Duration>,
}

impl Own {
    fn take(&mut self, option: &str) -> Result<(), TransitFailure> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = decoded(value).filter(|value| !value.is_empty());
        let value = value.ok_or("no value that it could have");
        let wrong =
            |option: &'static str| move |problem| TransitFailure::Option { option, problem };
        let is_again = match name {
            "cacert" => {
                let file = value.map_err(wrong("cacert"))?;
                self.roots.replace(file.into()).is_some()
            }
            "token_file" => {
                let file = value.map_err(wrong("token_file"))?;
                self.token.replace(TokenSource::File(file.into())).is_some()
            }
            "token_credential" => {
                let credential = value.map_err(wrong("token_credential"))?;
                self.token
                    .replace(TokenSource::Credential(credential))
                    .is_some()
            }
            "namespace" => self
                .namespace
                .replace(value.map_err(wrong("namespace"))?)
                .is_some(),
            "timeout" => {
                let time = value.and_then(|value| waiting_time(&value));
                self.timeout
                    .replace(time.map_err(wrong("timeout"))?)
                    .is_some()
            }
            "token" => return Err(TransitFailure::TokenInAddress),
            _ => return Err(TransitFailure::UnknownOption),
        };
        match is_again {
            true => Err(TransitFailure::Twice),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_for_connecting_and_for_the_answer() {
        let mut own = Own::default();
        own.take("timeout=77").unwrap();
        let options = options_of(own.timeout);
        let long = Duration::from_secs(77);
        assert_eq!((options.connecting, options.answering), (long, long));
        let (usual, options) = (TlsTransportOptions::default(), options_of(None));
        assert_eq!(options.connecting, usual.connecting);
        assert_eq!(options.answering, usual.answering);
    }
}
