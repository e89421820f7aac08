//! Files of SSH's, for whoever only looks at them: lines with public keys and certificates of any algorithm, private keys
//! in OpenSSH's format, and signatures.

use base64ct::{Base64, Base64Unpadded, Encoding};
use pq_ssh::{KeyName, Passphrase, PrivateKey, PrivateKeyError, Signature};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::error::DocumentError;
use crate::passphrases::PassphraseOptions;

/// A line of `authorized_keys`, of a public key's file or of a certificate's.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct SshLine {
    pub(crate) algorithm: String,
    /// That of the key, as `ssh-keygen -l` prints it; `None` if a certificate's name doesn't tell its key's.
    pub(crate) fingerprint: Option<String>,
    pub(crate) comment: String,
    /// What stands in front of the key.
    pub(crate) options: String,
    pub(crate) certificate: Option<SshCertificate>,
}

/// What a certificate says (PROTOCOL.certkeys of OpenSSH); its signature is not verified.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct SshCertificate {
    pub(crate) is_of_host: bool,
    pub(crate) serial: u64,
    pub(crate) key_id: String,
    pub(crate) principals: Vec<String>,
    /// In seconds since 1970; the greatest number means for ever.
    pub(crate) after: u64,
    pub(crate) before: u64,
    /// Names, and after `=` their values if they have any.
    pub(crate) critical_options: Vec<String>,
    pub(crate) extensions: Vec<String>,
    /// The fingerprint of the CA's key.
    pub(crate) ca: String,
}

/// What can be told of a private key or a signature whose algorithm isn't supported.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct OtherSsh {
    pub(crate) kind: &'static str,
    /// Names and what they stand for.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// The labels of blocks like those of PEM.
pub(super) const PRIVATE_KEY: &str = "OPENSSH PRIVATE KEY";
pub(super) const SIGNATURE: &str = "SSH SIGNATURE";

/// The private key of a text, for which a passphrase is asked if it is encrypted.
pub(crate) fn private_key(
    text: &str,
    file: &str,
    passphrase: &PassphraseOptions,
) -> Result<PrivateKey, DocumentError> {
    let key = match PrivateKey::from_openssh(text, None) {
        Err(PrivateKeyError::PassphraseNeeded) => {
            let passphrase = passphrase.of(file)?;
            PrivateKey::from_openssh(text, Some(&Passphrase::new(&passphrase)))
        }
        other => other,
    };
    key.map_err(|error| DocumentError::SshKey {
        file: file.into(),
        error,
    })
}

/// The signature in a text.
pub(crate) fn signature(text: &str, file: &str) -> Result<Signature, DocumentError> {
    Signature::from_armored(text).map_err(|error| DocumentError::SshSignature {
        file: file.into(),
        error,
    })
}

/// The lines of a text that have a key, in whatever encoding their comments are.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = SshLine> {
    all_lines(text).filter_map(Result::ok)
}

/// The same, and the number of each line that has something else. Empty lines and comments are left out.
pub(super) fn all_lines(text: &[u8]) -> impl Iterator<Item = Result<SshLine, usize>> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = (1..).zip(lines);
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|(number, text)| match text.len() <= LONGEST {
        true => line(&String::from_utf8_lossy(text)).ok_or(number),
        false => Err(number),
    })
}

/// Many times as long as a line with a certificate for many names.
const LONGEST: usize = 1024 * 1024;

/// Options may have any words, so the key is where the name of an algorithm is followed by a key of that name.
fn line(text: &str) -> Option<SshLine> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_key = |pair: &[&str]| {
        let blob = Base64::decode_vec(pair[1]).ok()?;
        (Wire(&blob).string()? == pair[0].as_bytes()).then_some(blob)
    };
    let (place, blob) = words
        .windows(2)
        .enumerate()
        .find_map(|(place, pair)| Some((place, is_key(pair)?)))?;
    let (fingerprint, certificate) = match certificate(&blob) {
        Some((fingerprint, certificate)) => (fingerprint, Some(certificate)),
        None if words[place].contains(CERTIFICATE) => (None, None),
        None => (Some(fingerprint_of(&blob)), None),
    };
    Some(SshLine {
        algorithm: words[place].into(),
        fingerprint,
        comment: words[place + 2..].join(" "),
        options: words[..place].join(" "),
        certificate,
    })
}

/// Of a key as it stands in files.
fn fingerprint_of(key: &[u8]) -> String {
    let digest = Base64Unpadded::encode_string(&Sha256::digest(key));
    format!("SHA256:{digest}")
}

/// What the names of certificates have, and those of their keys lack.
const CERTIFICATE: &str = "-cert-v01";

/// The fingerprint of its key, if the key's name is known, and the fields of a certificate, if it is one whose key has a known number of fields.
fn certificate(blob: &[u8]) -> Option<(Option<String>, SshCertificate)> {
    let mut wire = Wire(blob);
    let name = core::str::from_utf8(wire.string()?).ok()?;
    let (fields, end) = match name.strip_suffix("-cert-v01@openssh.com")? {
        "ssh-ed25519" | "ssh-mldsa44-ed25519" => (1, ""),
        "ssh-rsa" => (2, ""),
        "sk-ssh-ed25519" => (2, "@openssh.com"),
        "sk-ecdsa-sha2-nistp256" => (3, "@openssh.com"),
        ecdsa if ecdsa.starts_with("ecdsa-sha2-") => (2, ""),
        _ => return None,
    };
    let key_name = name.replace("-cert-v01@openssh.com", end);
    // the nonce
    wire.string()?;
    let fields_on = wire.0;
    for _ in 0..fields {
        wire.string()?;
    }
    let fields = &fields_on[..fields_on.len() - wire.0.len()];
    let name_len = u32::try_from(key_name.len()).ok()?.to_be_bytes();
    let key = [&name_len[..], key_name.as_bytes(), fields].concat();
    let serial = wire.number()?;
    let is_of_host = wire.take(4)? == [0, 0, 0, 2];
    let key_id = text(wire.string()?);
    let mut names = Wire(wire.string()?);
    let mut principals = Vec::new();
    while !names.0.is_empty() {
        principals.push(text(names.string()?));
    }
    let (after, before) = (wire.number()?, wire.number()?);
    let (critical_options, extensions) = (options(wire.string()?)?, options(wire.string()?)?);
    // what is reserved
    wire.string()?;
    let ca = fingerprint_of(wire.string()?);
    let certificate = SshCertificate {
        is_of_host,
        serial,
        key_id,
        principals,
        after,
        before,
        critical_options,
        extensions,
        ca,
    };
    // Of the two names that such keys have, the certificate's doesn't tell which it is.
    let is_named = !key_name.starts_with(KeyName::Standard.as_str());
    Some((is_named.then(|| fingerprint_of(&key)), certificate))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Names with values, which are strings in strings.
fn options(list: &[u8]) -> Option<Vec<String>> {
    let mut list = Wire(list);
    let mut options = Vec::new();
    while !list.0.is_empty() {
        let (name, value) = (text(list.string()?), list.string()?);
        options.push(match Wire(value).string() {
            Some(value) => format!("{name}={}", text(value)),
            None => name,
        });
    }
    Some(options)
}

/// A private key of an algorithm that isn't supported, in OpenSSH's format (PROTOCOL.key). No passphrase is needed for
/// what can be told.
pub(super) fn other_private_key(armored: &str) -> Option<OtherSsh> {
    let blob = dearmored(armored)?;
    let mut wire = Wire(blob.strip_prefix(b"openssh-key-v1\0")?);
    let cipher = text(wire.string()?);
    let (_kdf, _options) = (wire.string()?, wire.string()?);
    let (1, public, private) = (wire.uint32()?, wire.string()?, wire.string()?) else {
        return None;
    };
    let mut facts = other_key(public)?;
    match &*cipher {
        "none" => facts.extend(comment(private).map(|comment| ("comment", comment))),
        _ => facts.push(("encrypted", cipher)),
    }
    Some(OtherSsh {
        kind: "SSH private key",
        facts,
    })
}

/// The comment after the fields of a private key, if that is of a known type.
fn comment(private: &[u8]) -> Option<String> {
    let mut wire = Wire(private);
    wire.take(8)?;
    let fields = match wire.string()? {
        b"ssh-ed25519" => 2,
        b"ssh-rsa" => 6,
        ecdsa if ecdsa.starts_with(b"ecdsa-sha2-") => 3,
        _ => return None,
    };
    for _ in 0..fields {
        wire.string()?;
    }
    let comment = wire.string()?;
    (!comment.is_empty()).then(|| text(comment))
}

/// A signature by a key of an algorithm that isn't supported (PROTOCOL.sshsig).
pub(super) fn other_signature(armored: &str) -> Option<OtherSsh> {
    let blob = dearmored(armored)?;
    let mut wire = Wire(blob.strip_prefix(b"SSHSIG\0\0\0\x01")?);
    let key = other_key(wire.string()?)?;
    let namespace = text(wire.string()?);
    wire.string()?;
    let hash = text(wire.string()?);
    let mut facts = vec![("namespace", namespace), ("hash", hash)];
    facts.extend(key);
    Some(OtherSsh {
        kind: "SSH signature",
        facts,
    })
}

/// The name and the fingerprint of a key, unless it is of the algorithm that is supported.
fn other_key(key: &[u8]) -> Option<Vec<(&'static str, String)>> {
    let name = text(Wire(key).string()?);
    let is_supported = [KeyName::Standard, KeyName::OpenSsh]
        .iter()
        .any(|known| known.as_str() == name);
    let facts = vec![("algorithm", name), ("fingerprint", fingerprint_of(key))];
    (!is_supported).then_some(facts)
}

/// What stands between the first and the last line, which may be secret.
fn dearmored(armored: &str) -> Option<Zeroizing<Vec<u8>>> {
    let lines = armored.trim().lines();
    let lines = lines.filter(|line| !line.starts_with("-----"));
    let base64 = Zeroizing::new(lines.map(str::trim).collect::<String>());
    Base64::decode_vec(&base64).ok().map(Zeroizing::new)
}

/// Bytes that are read from their beginning (RFC 4251 section 5).
struct Wire<'a>(&'a [u8]);

impl<'a> Wire<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let len = self.uint32()?;
        self.take(usize::try_from(len).ok()?)
    }

    fn uint32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(bytes: &[u8]) -> Vec<u8> {
        let len = u32::try_from(bytes.len()).unwrap();
        [&len.to_be_bytes()[..], bytes].concat()
    }

    #[test]
    fn certificates_say_who_they_are_for() {
        let name = "ssh-ed25519-cert-v01@openssh.com";
        let principals = [string(b"alice"), string(b"root")].concat();
        let blob = [
            string(name.as_bytes()),
            string(&[7; 32]),
            string(&[8; 32]),
            5_u64.to_be_bytes().to_vec(),
            1_u32.to_be_bytes().to_vec(),
            string(b"alice of example"),
            string(&principals),
            0_u64.to_be_bytes().to_vec(),
            u64::MAX.to_be_bytes().to_vec(),
            string(&[string(b"force-command"), string(&string(b"ls"))].concat()),
            string(&[string(b"permit-pty"), string(b"")].concat()),
            string(b""),
            string(b"a CA's key"),
        ]
        .concat();
        let key = [string(b"ssh-ed25519"), string(&[8; 32])].concat();
        let text = format!("# x\n\n{name} {} a comment\n", Base64::encode_string(&blob));
        let found: Vec<_> = lines(text.as_bytes()).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].comment, "a comment");
        assert_eq!(found[0].fingerprint, Some(fingerprint_of(&key)));
        let certificate = found[0].certificate.as_ref().unwrap();
        assert_eq!(
            *certificate,
            SshCertificate {
                is_of_host: false,
                serial: 5,
                key_id: "alice of example".into(),
                principals: vec!["alice".into(), "root".into()],
                after: 0,
                before: u64::MAX,
                critical_options: vec!["force-command=ls".into()],
                extensions: vec!["permit-pty".into()],
                ca: fingerprint_of(b"a CA's key"),
            }
        );
        // A line with something else is told from it.
        let with_other = text + "x\n";
        let found: Vec<_> = all_lines(with_other.as_bytes()).collect();
        assert!(matches!(&*found, [Ok(_), Err(4)]), "{found:?}");
        for cut in 0..blob.len() {
            assert_eq!(super::certificate(&blob[..cut]), None);
        }
    }
}
