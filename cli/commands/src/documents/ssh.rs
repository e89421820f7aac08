//! Files of SSH's, for whoever only looks at them: lines with public keys and certificates of any algorithm, private keys
//! in OpenSSH's format, and signatures.

use base64ct::{Base64, Base64Unpadded, Encoding};
use pq_ssh::{Passphrase, PrivateKey, PrivateKeyError, Signature};
use sha2::{Digest, Sha256};

use super::error::DocumentError;
use crate::passphrases::PassphraseOptions;

/// A line of `authorized_keys`, of a public key's file or of a certificate's.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct SshLine {
    pub(crate) algorithm: String,
    /// `SHA256:` and the hash of the key, or of the whole certificate, in base64.
    pub(crate) fingerprint: String,
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
    Some(SshLine {
        algorithm: words[place].into(),
        fingerprint: format!(
            "SHA256:{}",
            Base64Unpadded::encode_string(&Sha256::digest(&blob))
        ),
        comment: words[place + 2..].join(" "),
        options: words[..place].join(" "),
        certificate: certificate(&blob),
    })
}

/// The fields of a certificate, if it is one whose key has a known number of fields.
fn certificate(blob: &[u8]) -> Option<SshCertificate> {
    let mut wire = Wire(blob);
    let name = core::str::from_utf8(wire.string()?).ok()?;
    let fields = match name.strip_suffix("-cert-v01@openssh.com")? {
        "ssh-ed25519" | "ssh-mldsa44-ed25519" => 1,
        "ssh-rsa" | "sk-ssh-ed25519" => 2,
        "sk-ecdsa-sha2-nistp256" => 3,
        ecdsa if ecdsa.starts_with("ecdsa-sha2-") => 2,
        _ => return None,
    };
    // the nonce, and the key's fields
    for _ in 0..=fields {
        wire.string()?;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let serial = wire.number()?;
    let is_of_host = wire.take(4)? == [0, 0, 0, 2];
    let key_id = text(wire.string()?);
    let mut names = Wire(wire.string()?);
    let mut principals = Vec::new();
    while !names.0.is_empty() {
        principals.push(text(names.string()?));
    }
    Some(SshCertificate {
        is_of_host,
        serial,
        key_id,
        principals,
        after: wire.number()?,
        before: wire.number()?,
    })
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
        let len = u32::from_be_bytes(self.take(4)?.try_into().ok()?);
        self.take(usize::try_from(len).ok()?)
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
            string(b""),
        ]
        .concat();
        let text = format!("# x\n\n{name} {} a comment\n", Base64::encode_string(&blob));
        let found: Vec<_> = lines(text.as_bytes()).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].comment, "a comment");
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
            }
        );
        // A line with something else is told from it.
        let with_other = text + "x\n";
        let found: Vec<_> = all_lines(with_other.as_bytes()).collect();
        assert!(matches!(&*found, [Ok(_), Err(4)]), "{found:?}");
        for cut in 0..blob.len() - 4 {
            assert_eq!(super::certificate(&blob[..cut]), None);
        }
    }
}
