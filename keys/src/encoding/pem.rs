//! PEM blocks (RFC 7468), found among other text and other blocks.

use der::pem::{self, LineEnding};
use thiserror::Error;
use zeroize::Zeroizing;

use super::base64;
use crate::errors::describe;

/// The contents of the first block with this label, such as `EC PRIVATE KEY`.
///
/// The buffer is wiped when dropped: the same function reads private keys.
///
/// # Errors
///
/// A [`PemError`] that says what is wrong with the text, or with the block.
pub fn decode_first(text: &str, label: &'static str) -> Result<Zeroizing<Vec<u8>>, PemError> {
    match blocks(text, label).next() {
        Some(block) => decode(block?),
        None => Err(missing(text, label)),
    }
}

/// The first block with any of these labels: its label and contents.
///
/// The buffer is wiped when dropped, as by [`decode_first`].
///
/// # Errors
///
/// A [`PemError`] that says what is wrong with the text, or with the block. If there is none, it names the first label.
///
/// # Panics
///
/// If there are no labels.
pub fn decode_first_of(
    text: &str,
    labels: &[&'static str],
) -> Result<(&'static str, Zeroizing<Vec<u8>>), PemError> {
    let places = labels.iter().filter_map(|label| {
        let begin = text.find(&format!("-----BEGIN {label}-----"))?;
        Some((begin, *label))
    });
    match places.min() {
        Some((begin, label)) => Ok((label, decode_first(&text[begin..], label)?)),
        None => Err(missing(text, labels[0])),
    }
}

/// The contents of every block with this label, in order; at least one.
///
/// # Errors
///
/// A [`PemError`] that says what is wrong with the text, or with a block.
pub fn decode_all(text: &str, label: &'static str) -> Result<Vec<Zeroizing<Vec<u8>>>, PemError> {
    let contents = blocks(text, label)
        .map(|block| decode(block?))
        .collect::<Result<Vec<_>, _>>()?;
    if contents.is_empty() {
        return Err(missing(text, label));
    }
    Ok(contents)
}

/// Encodes one block, in lines of 64 characters that end in a line feed. The caller must wipe the block of
/// a private key.
///
/// # Panics
///
/// If the label has other characters than RFC 7468 allows.
pub fn encode(label: &'static str, der: &[u8]) -> String {
    let mut text = String::new();
    append(&mut text, label, der);
    text
}

/// Appends a block to a text, as [`encode`] writes it. So a text of many blocks is not copied for each.
///
/// # Panics
///
/// As [`encode`] does.
pub fn append(text: &mut String, label: &'static str, der: &[u8]) {
    if !is_public(label) {
        let block = pem::encode_string(label, LineEnding::LF, der);
        let block =
            block.expect("labels are constants, and the length of a block overflows no usize");
        text.push_str(&Zeroizing::new(block));
        return;
    }
    for (word, contents) in [("BEGIN", der), ("END", &[])] {
        text.extend(["-----", word, " ", label, "-----\n"]);
        base64::append(text, contents);
    }
}

/// Whether blocks with this label are public, so that reading and writing them need not be constant time.
fn is_public(label: &str) -> bool {
    let public = [
        "CERTIFICATE",
        "CERTIFICATE REQUEST",
        "PUBLIC KEY",
        "X509 CRL",
    ];
    public.contains(&label)
}

/// Blocks from BEGIN line to END line. RFC 7468 section 2 lets other text and other
/// blocks stand between them, and files with a key and its certificates are common.
fn blocks<'t>(
    text: &'t str,
    label: &'static str,
) -> impl Iterator<Item = Result<&'t str, PemError>> {
    let begin = format!("-----BEGIN {label}-----");
    let end = format!("-----END {label}-----");
    let mut rest = text;
    core::iter::from_fn(move || {
        let block = &rest[rest.find(&begin)?..];
        match block.find(&end) {
            Some(at) => {
                let (block, after) = block.split_at(at + end.len());
                rest = after;
                Some(Ok(block))
            }
            None => {
                rest = "";
                Some(Err(PemError::NoEnd { label }))
            }
        }
    })
}

/// The contents of a block, which begins with its BEGIN line and ends with its END line.
///
/// The buffer is wiped when dropped: the same function reads private keys.
///
/// # Errors
///
/// [`PemError::Malformed`] if the BEGIN and END lines, or the lines between them, are not as RFC 7468 demands.
pub fn decode(block: &str) -> Result<Zeroizing<Vec<u8>>, PemError> {
    if let Some(contents) = decode_public(block) {
        return Ok(Zeroizing::new(contents));
    }
    // Lines of 64 characters are the rule and others exist; the width is no secret.
    let mut decoder =
        pem::Decoder::new_detect_wrap(block.as_bytes()).map_err(PemError::Malformed)?;
    // One buffer of the final length leaves no copies of a secret behind.
    let mut contents = Zeroizing::new(vec![0; decoder.remaining_len()]);
    decoder.decode(&mut contents).map_err(PemError::Malformed)?;
    Ok(contents)
}

/// The contents, if they are public and the lines are as most programs write them.
fn decode_public(block: &str) -> Option<Vec<u8>> {
    let (label, rest) = block.strip_prefix("-----BEGIN ")?.split_once("-----\n")?;
    let rest = rest.strip_suffix("-----")?.strip_suffix(label)?;
    let lines = rest.strip_suffix("-----END ")?;
    is_public(label).then(|| base64::decode(lines.as_bytes()))?
}

fn missing(text: &str, label: &'static str) -> PemError {
    let found = text
        .lines()
        .filter_map(|line| line.strip_prefix("-----BEGIN ")?.strip_suffix("-----"))
        .map(Into::into)
        .collect();
    PemError::Missing { label, found }
}

/// Why a text gave no PEM block.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum PemError {
    /// There is no block with this label.
    #[error(
        "no PEM block \"{label}\" in the text, which has {}",
        labels_and_hint(.found)
    )]
    Missing {
        /// The label looked for.
        label: &'static str,
        /// The labels that the text has.
        found: Vec<String>,
    },
    /// A block begins and does not end.
    #[error("the PEM block \"{label}\" does not end; the text is cut short")]
    NoEnd {
        /// The block's label.
        label: &'static str,
    },
    /// What is between the BEGIN and END lines is not well-formed.
    #[error("malformed PEM: {0}")]
    Malformed(pem::Error),
}

fn labels_and_hint(found: &[String]) -> String {
    if found.is_empty() {
        return "none at all; is it DER?".into();
    }
    let hint = if found.iter().any(|label| label == "ENCRYPTED PRIVATE KEY") {
        "; decrypt the private key first, for example with `pqtls key decrypt` or `openssl pkey`"
    } else {
        ""
    };
    // Anybody may have written the text, such as a request.
    format!("{}{hint}", describe(found.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_its_blocks_among_others() {
        let text = format!(
            "subject: x\n{}{}\nmore text\n{}",
            encode("THIS", b"one"),
            encode("OTHER", b"two"),
            encode("THIS", b"three"),
        );
        let all = decode_all(&text, "THIS").unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].as_slice(), b"one");
        assert_eq!(all[1].as_slice(), b"three");
        assert_eq!(decode_first(&text, "OTHER").unwrap().as_slice(), b"two");
        assert_eq!(
            decode_first(&text, "THAT"),
            Err(PemError::Missing {
                label: "THAT",
                found: vec!["THIS".into(), "OTHER".into(), "THIS".into()],
            })
        );
    }

    #[test]
    fn the_first_of_several_labels_is_found_by_its_place() {
        let (this, that) = (encode("THIS", b"one"), encode("THAT", b"two"));
        for labels in [["THIS", "THAT"], ["THAT", "THIS"]] {
            for (text, label, contents) in [
                (format!("{this}{that}"), "THIS", b"one"),
                (format!("text\n{that}{this}"), "THAT", b"two"),
            ] {
                let found = decode_first_of(&text, &labels).unwrap();
                assert_eq!((found.0, found.1.as_slice()), (label, &contents[..]));
            }
            // One that does not end is the first all the same.
            let cut = format!("-----BEGIN THIS-----\n{that}");
            let refused = decode_first_of(&cut, &labels).unwrap_err();
            assert_eq!(refused, PemError::NoEnd { label: "THIS" });
            let none = decode_first_of("text", &labels).unwrap_err();
            assert!(matches!(none, PemError::Missing { label, .. } if label == labels[0]));
        }
    }

    #[test]
    fn labels_dont_write_the_log() {
        let text = "-----BEGIN \u{1b}[2J-----\n".repeat(1000);
        let message = decode_first(&text, "THIS").unwrap_err().to_string();
        assert!(message.contains("\\u{1b}[2J, "), "{message}");
        assert!(message.len() < 1000 && !message.contains('\u{1b}'));
    }

    /// Different functions read and write secret and public blocks.
    #[test]
    fn public_blocks_are_as_private_ones() {
        for len in 1..200 {
            let contents: Vec<u8> = (0..len).map(|byte: u8| byte.wrapping_mul(151)).collect();
            let private = encode("PRIVATE KEY", &contents);
            let public = encode("PUBLIC KEY", &contents);
            assert_eq!(public, private.replace("PRIVATE", "PUBLIC"));
            let block = public.trim_end();
            assert_eq!(decode_public(block), Some(contents));
            assert_eq!(decode_public(private.trim_end()), None);
        }
    }

    #[test]
    fn lines_and_lengths() {
        for (len, label) in (1..200).flat_map(|len| [(len, "THIS"), (len, "CERTIFICATE")]) {
            let contents: Vec<u8> = (0..len).collect();
            let text = encode(label, &contents);
            assert_eq!(*decode_first(&text, label).unwrap(), contents);
            let crlf = text.replace('\n', "\r\n");
            assert_eq!(*decode_first(&crlf, label).unwrap(), contents);
            let one_line: String = text.lines().filter(|line| !line.contains('-')).collect();
            let one_line = format!("-----BEGIN {label}-----\n{one_line}\n-----END {label}-----");
            assert_eq!(*decode_first(&one_line, label).unwrap(), contents);
        }
        let empty = "-----BEGIN THIS-----\n-----END THIS-----\n";
        assert!(decode_first(empty, "THIS").is_err());
    }

    #[test]
    fn damage_is_an_error() {
        for label in ["THIS", "CERTIFICATE"] {
            let text = encode(label, &[7; 100]);
            for end in text.find("Bw").unwrap()..text.len() - 2 {
                assert!(decode_first(&text[..end], label).is_err(), "{end}");
            }
            assert!(decode_first(&text.replacen("Bw", "B!", 1), label).is_err());
            assert!(matches!(
                decode_all(&format!("{text}-----BEGIN {label}-----\n"), label),
                Err(PemError::NoEnd { label: l }) if l == label
            ));
        }
    }
}
