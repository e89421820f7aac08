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
/// algorithms, and lines of certificate authorities, permit nothing here. Nor does a line that can't be read, such as one
/// whose times don't end in `Z`: it is [left out](Self::left_out), and the others count, as in OpenSSH. No line forbids
/// what another one permits. Principals and comments may be of any bytes. As in OpenSSH, a line ends at a NUL.
#[derive(Clone, Debug)]
pub struct AllowedSigners {
    lines: Vec<Line>,
    left_out: Vec<AllowedSignersError>,
}

#[derive(Clone, Debug)]
struct Line {
    principals: Vec<u8>,
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
    /// What is wrong with the first line if not one of all can be read: the file is of another kind.
    pub fn parse(file: impl AsRef<[u8]>) -> Result<Self, AllowedSignersError> {
        let mut signers = Self {
            lines: Vec::new(),
            left_out: Vec::new(),
        };
        let mut is_list = false;
        for (index, line) in file.as_ref().split(|byte| *byte == b'\n').enumerate() {
            let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
            let line = without_blanks(line);
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let read = Line::parse(line);
            is_list |= matches!(
                read,
                Ok(_) | Err(LineError::Key(KeyError::OtherAlgorithm(_)))
            );
            match read {
                // Such lines permit certificates, which this crate doesn't support.
                Ok(line) if line.options.is_authority => {}
                Ok(line) => signers.lines.push(line),
                Err(LineError::Key(KeyError::OtherAlgorithm(_))) => {}
                Err(error) if signers.left_out.len() < MOST_LEFT_OUT => {
                    let line = index + 1;
                    signers.left_out.push(AllowedSignersError { line, error });
                }
                Err(_) => {}
            }
        }
        match signers.left_out.first() {
            Some(first) if !is_list => Err(first.clone()),
            _ => Ok(signers),
        }
    }

    /// The lines that can't be read, and permit nothing; the first 32 of them.
    pub fn left_out(&self) -> &[AllowedSignersError] {
        &self.left_out
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
                && list_permits(&line.principals, principal.as_bytes());
            if !is_signer {
                continue;
            }
            let namespaces = line.options.namespaces.as_deref().map(str::as_bytes);
            if !namespaces.is_none_or(|list| list_permits(list, namespace.as_bytes())) {
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

const MOST_LEFT_OUT: usize = 32;

impl Line {
    fn parse(line: &[u8]) -> Result<Self, LineError> {
        let (principals, rest) = principals(line)?;
        match str::from_utf8(rest) {
            Ok(rest) => Self::of_text(principals, rest),
            Err(error) => {
                // It may be the comment that isn't UTF-8. What stands before its last blank is whole.
                let text = str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default();
                let end = text.rfind([' ', '\t']).unwrap_or(0);
                match Self::of_text(principals, &text[..end]) {
                    Err(LineError::Key(KeyError::NoKey | KeyError::UnclosedQuote)) => {
                        Err(LineError::NotUtf8)
                    }
                    read => read,
                }
            }
        }
    }

    fn of_text(principals: Vec<u8>, rest: &str) -> Result<Self, LineError> {
        // The base64 of every key begins so, by the length of its algorithm's name.
        let is_name = str::from_utf8(&principals).is_ok_and(begins_with_key);
        if is_name && word(rest).0.starts_with("AAAA") {
            return Err(KeyError::NoPrincipal.into());
        }
        let (options, key) = match begins_with_key(rest) {
            true => ("", rest),
            false => split_options(rest)?,
        };
        // Any word could be an algorithm's name otherwise, and any text a list.
        if !begins_with_key(key) {
            return Err(KeyError::NoKey.into());
        }
        // First, since what others write about keys of another algorithm doesn't matter.
        let key = PublicKey::from_line(without_comment(key))?;
        Ok(Self {
            principals,
            options: SignerOptions::parse(options)?,
            key,
        })
    }
}

/// The name and the base64 of a key.
fn without_comment(line: &str) -> &str {
    let (name, rest) = word(line);
    let (characters, comment) = word(rest);
    match (name, characters, comment) {
        (_, "", _) | (_, _, "") => line,
        _ => line[..line.len() - comment.len()].trim_end_matches([' ', '\t']),
    }
}

/// The principals, and the rest of the line. As in OpenSSH, a quotation mark may stand anywhere in them: it is left out, and
/// they end at the next one.
fn principals(line: &[u8]) -> Result<(Vec<u8>, &[u8]), LineError> {
    let end = line
        .iter()
        .position(|byte| *byte == b'"' || is_blank(*byte));
    let (start, rest) = line.split_at(end.unwrap_or(line.len()));
    let Some(quoted) = rest.strip_prefix(b"\"") else {
        return Ok((start.to_vec(), without_blanks(rest)));
    };
    let end = quoted.iter().position(|byte| *byte == b'"');
    let (quoted, rest) = quoted.split_at(end.ok_or(KeyError::UnclosedQuote)?);
    Ok(([start, quoted].concat(), without_blanks(&rest[1..])))
}

/// What OpenSSH takes for a blank in such a file.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_blank(*byte));
    let end = text.iter().rposition(|byte| !is_blank(*byte));
    match (start, end) {
        (Some(start), Some(end)) => &text[start..=end],
        _ => &[],
    }
}

impl SignerOptions {
    fn parse(text: &str) -> Result<Self, LineError> {
        let mut options = Self::default();
        if text.ends_with(',') {
            return Err(LineError::EndsInComma);
        }
        for (name, value) in Options(text) {
            // As in OpenSSH, commas may follow one another.
            if name.is_empty() && value.is_none() {
                continue;
            }
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
