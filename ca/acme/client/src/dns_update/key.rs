//! A key that a name server shares with those who change its zones, in the file that `tsig-keygen` of BIND writes.

use core::fmt;

use base64ct::{Base64, Encoding};
use hickory_proto::rr::Name;
use hickory_proto::rr::rdata::tsig::TsigAlgorithm;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

/// A key for signed changes of zones (RFC 8945).
///
/// ```text
/// key "acme" {
///     algorithm hmac-sha256;
///     secret "q4J/aEprwKU/p0qtzL7nBDP2uoBKXHbwGcDU9JGMWmo=";
/// };
/// ```
pub struct TsigKey {
    pub(super) name: Name,
    pub(super) algorithm: TsigAlgorithm,
    secret: Zeroizing<Vec<u8>>,
}

/// What is wrong with the file of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTsigKey {
    /// It is something else.
    #[error(
        "it is no key of BIND: write key \"NAME\" {{ algorithm hmac-sha256; secret \"BASE64\"; }}; as \"tsig-keygen NAME\" prints it"
    )]
    Syntax,
    /// It has several keys.
    #[error("it has several keys: leave the one to be used")]
    Several,
    /// It is for another algorithm.
    #[error(
        "its algorithm is none of hmac-sha256, hmac-sha384 and hmac-sha512: make a new key with \"tsig-keygen\""
    )]
    Algorithm,
    /// Its name is no name of DNS.
    #[error("its name is no name of DNS")]
    Name,
    /// The secret is no base64, or none to rely on.
    #[error("its secret is no base64 of 16 to 512 bytes")]
    Secret,
}

/// The shortest and the longest secret, in bytes.
const SECRETS: core::ops::RangeInclusive<usize> = 16..=512;

impl TsigKey {
    /// Reads the file of a key.
    ///
    /// # Errors
    ///
    /// [`InvalidTsigKey`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidTsigKey> {
        let text = Zeroizing::new(without_comments(text));
        let mut words = Words(&text);
        if words.next() != Some("key") {
            return Err(InvalidTsigKey::Syntax);
        }
        let name = words.next().ok_or(InvalidTsigKey::Syntax)?;
        words.expect("{")?;
        let (mut algorithm, mut secret) = (None, None);
        loop {
            let field = match words.next() {
                Some("algorithm") => &mut algorithm,
                Some("secret") => &mut secret,
                Some("}") => break,
                _ => return Err(InvalidTsigKey::Syntax),
            };
            let value = words.next().ok_or(InvalidTsigKey::Syntax)?;
            if field.replace(value).is_some() {
                return Err(InvalidTsigKey::Syntax);
            }
            words.expect(";")?;
        }
        words.expect(";")?;
        match words.next() {
            None => {}
            Some("key") => return Err(InvalidTsigKey::Several),
            Some(_) => return Err(InvalidTsigKey::Syntax),
        }
        let (Some(algorithm), Some(secret)) = (algorithm, secret) else {
            return Err(InvalidTsigKey::Syntax);
        };
        let algorithm = match &*algorithm.to_ascii_lowercase() {
            "hmac-sha256" => TsigAlgorithm::HmacSha256,
            "hmac-sha384" => TsigAlgorithm::HmacSha384,
            "hmac-sha512" => TsigAlgorithm::HmacSha512,
            _ => return Err(InvalidTsigKey::Algorithm),
        };
        let mut name = Name::from_ascii(name).map_err(|_| InvalidTsigKey::Name)?;
        name.set_fqdn(true);
        if name.is_root() {
            return Err(InvalidTsigKey::Name);
        }
        let secret =
            Zeroizing::new(Base64::decode_vec(secret).map_err(|_| InvalidTsigKey::Secret)?);
        match SECRETS.contains(&secret.len()) {
            true => Ok(Self {
                name,
                algorithm,
                secret,
            }),
            false => Err(InvalidTsigKey::Secret),
        }
    }

    /// The message authentication code of these parts.
    pub(super) fn mac(&self, parts: &[&[u8]]) -> Vec<u8> {
        match self.algorithm {
            TsigAlgorithm::HmacSha384 => keyed::<Hmac<Sha384>>(&self.secret, parts)
                .finalize()
                .into_bytes()
                .to_vec(),
            TsigAlgorithm::HmacSha512 => keyed::<Hmac<Sha512>>(&self.secret, parts)
                .finalize()
                .into_bytes()
                .to_vec(),
            _ => keyed::<Hmac<Sha256>>(&self.secret, parts)
                .finalize()
                .into_bytes()
                .to_vec(),
        }
    }

    /// Whether these parts have this code, in constant time.
    pub(super) fn has_mac(&self, parts: &[&[u8]], mac: &[u8]) -> bool {
        match self.algorithm {
            TsigAlgorithm::HmacSha384 => keyed::<Hmac<Sha384>>(&self.secret, parts)
                .verify_slice(mac)
                .is_ok(),
            TsigAlgorithm::HmacSha512 => keyed::<Hmac<Sha512>>(&self.secret, parts)
                .verify_slice(mac)
                .is_ok(),
            _ => keyed::<Hmac<Sha256>>(&self.secret, parts)
                .verify_slice(mac)
                .is_ok(),
        }
    }
}

fn keyed<M: Mac + KeyInit>(secret: &[u8], parts: &[&[u8]]) -> M {
    // HMAC takes keys of all lengths.
    let mut mac = <M as KeyInit>::new_from_slice(secret).expect("HMAC takes keys of all lengths");
    for part in parts {
        mac.update(part);
    }
    mac
}

impl fmt::Debug for TsigKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TsigKey")
            .field("name", &self.name.to_ascii())
            .finish_non_exhaustive()
    }
}

/// The text with a space for each comment: `// …`, `# …`, `/* … */`. Strings may have these characters.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let comment_len = if first == '"' {
            let string = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            kept.push_str(&rest[..string]);
            rest = &rest[string..];
            continue;
        } else if first == '#' || rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            kept.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        kept.push(' ');
        rest = &rest[comment_len..];
    }
    kept
}

/// Words, strings without their quotes, and the characters `{`, `}` and `;`.
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    fn expect(&mut self, word: &str) -> Result<(), InvalidTsigKey> {
        match self.next() {
            Some(next) if next == word => Ok(()),
            _ => Err(InvalidTsigKey::Syntax),
        }
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let text = self.0.trim_start();
        let first = text.chars().next()?;
        let (word, rest) = match first {
            '"' => text[1..]
                .split_once('"')
                .unwrap_or_else(|| (&text[1..], "")),
            '{' | '}' | ';' => text.split_at(1),
            _ => {
                let end = text.find(|c: char| c.is_whitespace() || "{};\"".contains(c));
                text.split_at(end.unwrap_or(text.len()))
            }
        };
        self.0 = rest;
        Some(word)
    }
}
