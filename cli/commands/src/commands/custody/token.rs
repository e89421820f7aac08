//! A token behind PKCS#11, in which keys of a store are, or the key that it is sealed under.

use std::env;
use std::path::PathBuf;

use pq_keystore::custody::{Pin, Pkcs11Options, Pkcs11Token, TokenError, TokenName};
use pq_keystore::{StoreError, StoreOptions};

use crate::commands::servers::or_variable;
use crate::failure::{Failure, StoreFailure};

/// Which token it is.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct TokenOptions {
    /// The PKCS#11 module of a token, which is loaded into this program [default: the environment variable
    /// PQTLS_PKCS11_MODULE]
    #[arg(long, value_name = "FILE", display_order = 810)]
    pkcs11_module: Option<PathBuf>,

    /// The label of the token, by which the store knows it, too [default: the environment variable PQTLS_TOKEN]
    #[arg(long, value_name = "LABEL", display_order = 811)]
    token: Option<String>,

    /// The serial number of the token, if several have one label
    #[arg(long, value_name = "NUMBER", display_order = 812)]
    token_serial: Option<String>,

    /// The file with the PIN of the token, which only its owner may read [default: the file that the environment variable
    /// PQTLS_PIN_FILE names, or else the token asks for it, or wants none]
    #[arg(
        long,
        value_name = "FILE",
        display_order = 813,
        conflicts_with = "pin_credential"
    )]
    pin_file: Option<PathBuf>,

    /// The credential of systemd with the PIN of the token
    #[arg(long, value_name = "NAME", display_order = 814)]
    pin_credential: Option<String>,
}

impl TokenOptions {
    /// What is needed to use the token, with the name by which the store knows it, if one is named.
    pub(in crate::commands) fn options(
        &self,
    ) -> Result<Option<(TokenName, Pkcs11Options)>, Failure> {
        let module = or_variable(self.pkcs11_module.as_ref(), "PQTLS_PKCS11_MODULE");
        let variable = env::var_os("PQTLS_TOKEN").filter(|value| !value.is_empty());
        let variable = variable.map(|value| value.to_string_lossy().into_owned());
        let (module, label) = match (module, self.token.clone().or(variable)) {
            (Some(module), Some(label)) => (module, label),
            (None, None) => return Ok(None),
            _ => return Err(StoreFailure::HalfAToken.into()),
        };
        let name =
            TokenName::of_label(&label).map_err(|_| StoreFailure::TokenLabel(label.clone()))?;
        let mut options = Pkcs11Options::new(module, label);
        if let Some(serial) = &self.token_serial {
            options = options.serial(serial);
        }
        if let Some(pin) = self.pin().map_err(|error| failed(&name, error))? {
            options = options.pin(pin);
        }
        Ok(Some((name, options)))
    }

    fn pin(&self) -> Result<Option<Pin>, TokenError> {
        match &self.pin_credential {
            Some(name) => Pin::credential(name).map(Some),
            None => {
                let file = or_variable(self.pin_file.as_ref(), "PQTLS_PIN_FILE");
                file.map(|file| Pin::read(&file)).transpose()
            }
        }
    }

    /// The same if a command needs a token.
    pub(in crate::commands) fn needed(&self) -> Result<(TokenName, Pkcs11Options), Failure> {
        Ok(self.options()?.ok_or(StoreFailure::NoToken)?)
    }

    /// Gives the token to a store, if one is named. It is asked when a key in it is used.
    pub(in crate::commands) fn add_to(
        &self,
        options: StoreOptions,
    ) -> Result<StoreOptions, Failure> {
        Ok(match self.options()? {
            Some((name, token)) => {
                options.token(name, alloc::sync::Arc::new(Pkcs11Token::new(token)))
            }
            None => options,
        })
    }
}

fn failed(name: &TokenName, error: TokenError) -> Failure {
    let token = name.clone();
    StoreFailure::Store(StoreError::Token { token, error }).into()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        token: TokenOptions,
    }

    /// Of several tokens with one label, the serial number tells which.
    #[test]
    fn a_token_is_known_by_its_label_and_number() {
        let line = "program --pkcs11-module m.so --token a --token-serial 0123";
        let program = Program::parse_from(line.split(' '));
        let (name, options) = program.token.options().unwrap().unwrap();
        assert_eq!(name.to_string(), "a");
        let expected = Pkcs11Options::new("m.so", "a").serial("0123");
        assert_eq!(format!("{options:?}"), format!("{expected:?}"));
    }
}
