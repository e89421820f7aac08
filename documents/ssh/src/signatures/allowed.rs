//! Reads lists of allowed signers, and verifies signatures by them: who may sign for which purpose, and when.

use pq_keys::pki_types::UnixTime;

use super::error::{AllowedSignersError, LineError, NotAllowed};
use super::message::HashedMessage;
use super::pattern::list_permits;
use super::signature::Signature;
use super::time;
use crate::encoding::{shown, word};
use crate::keys::{KeyError, Options, PublicKey, begins_with_key, split_options, unquoted};

/// A list of who may sign what, as in the file for `ssh-keygen -Y verify -f` (ssh-keygen(1), ALLOWED SIGNERS).
///
/// Each line has principals (patterns separated by commas), options, and a key. Lines with keys of other
/// algorithms, and lines of certificate authorities, permit nothing here. Times have to end in `Z`.
#[derive(Clone, Debug)]
pub struct AllowedSigners {
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    principals: String,
    options: SignerOptions,
    key: PublicKey,
}

#[derive(Clone, Debug, Default)]
struct SignerOptions {
    is_authority: bool,
    namespaces: Option<String>,
    valid_after: Option<u64>,
    valid_before: Option<u64>,
}

impl AllowedSigners {
    /// Reads a file. Empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// An [`AllowedSignersError`] that names the first line that is wrong.
    pub fn parse(text: &str) -> Result<Self, AllowedSignersError> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match Line::parse(line) {
                Ok(line) => lines.push(line),
                Err(LineError::Key(KeyError::OtherAlgorithm(_))) => {}
                Err(error) => {
                    let line = index + 1;
                    return Err(AllowedSignersError { line, error });
                }
            }
        }
        // These lines permit certificates, which this crate doesn't support.
        lines.retain(|line| !line.options.is_authority);
        Ok(Self { lines })
    }

    /// Verifies that the signature is valid for this message, and that its key may sign for this principal, for
    /// this purpose (the namespace) and at this time. The time is when it was signed, as far as that is known.
    ///
    /// # Errors
    ///
    /// A [`NotAllowed`] that says why no line permits the signature, or what is wrong with it.
    pub fn verify(
        &self,
        principal: &str,
        namespace: &str,
        time: UnixTime,
        signature: &Signature,
        message: &HashedMessage,
    ) -> Result<(), NotAllowed> {
        let key = || signature.public_key().fingerprint();
        let mut refusal = NotAllowed::UnknownKey {
            key: key(),
            principal: principal.to_owned(),
        };
        for line in &self.lines {
            let is_signer = line.key.is_same_key(signature.public_key())
                && list_permits(&line.principals, principal);
            if !is_signer {
                continue;
            }
            let namespaces = line.options.namespaces.as_deref();
            if !namespaces.is_none_or(|list| list_permits(list, namespace)) {
                refusal = NotAllowed::Namespace {
                    key: key(),
                    namespace: namespace.to_owned(),
                };
            } else if !line.options.permit_time(time.as_secs()) {
                refusal = NotAllowed::Time { key: key() };
            } else {
                return Ok(signature.verify(&line.key, namespace, message)?);
            }
        }
        Err(refusal)
    }
}

impl Line {
    fn parse(line: &str) -> Result<Self, LineError> {
        let (principals, rest) = principals(line)?;
        let (options, key) = match begins_with_key(rest) {
            true => ("", rest),
            false => split_options(rest)?,
        };
        let options = SignerOptions::parse(options)?;
        Ok(Self {
            principals: principals.to_owned(),
            options,
            key: PublicKey::from_line(key)?,
        })
    }
}

/// The principals, without the quotation marks that may be around them, and the rest of the line.
fn principals(line: &str) -> Result<(&str, &str), LineError> {
    match line.strip_prefix('"') {
        None => Ok(word(line)),
        Some(quoted) => {
            let (principals, rest) = quoted.split_once('"').ok_or(KeyError::UnclosedQuote)?;
            Ok((principals, rest.trim_start_matches([' ', '\t'])))
        }
    }
}

impl SignerOptions {
    fn parse(text: &str) -> Result<Self, LineError> {
        let mut options = Self::default();
        for (name, value) in Options(text) {
            // Case makes no difference, as everywhere in OpenSSH.
            match &*name.to_ascii_lowercase() {
                "cert-authority" if value.is_none() => options.is_authority = true,
                "namespaces" => put(&mut options.namespaces, "namespaces", value, Some)?,
                "valid-after" => {
                    put(&mut options.valid_after, "valid-after", value, |t| {
                        time::read(&t)
                    })?;
                }
                "valid-before" => {
                    put(&mut options.valid_before, "valid-before", value, |t| {
                        time::read(&t)
                    })?;
                }
                _ => return Err(LineError::UnknownOption(shown(name.as_bytes()))),
            }
        }
        match (options.valid_after, options.valid_before) {
            (Some(after), Some(before)) if before <= after => Err(LineError::EmptyValidity),
            _ => Ok(options),
        }
    }

    /// Whether the options permit this time. Both limits are included, as in OpenSSH.
    fn permit_time(&self, time: u64) -> bool {
        self.valid_after.is_none_or(|after| time >= after)
            && self.valid_before.is_none_or(|before| time <= before)
    }
}

/// Stores the value of an option that may be given only once.
fn put<T>(
    to: &mut Option<T>,
    name: &'static str,
    value: Option<&str>,
    read: impl FnOnce(String) -> Option<T>,
) -> Result<(), LineError> {
    let value = value.and_then(unquoted).ok_or(LineError::Option(name))?;
    let value = read(value).ok_or(LineError::Time(name))?;
    match to.replace(value) {
        None => Ok(()),
        Some(_) => Err(LineError::Option(name)),
    }
}
