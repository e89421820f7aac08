//! PEM as editors, mail and other programs leave it.

use std::fs;

use super::found;

/// Commands, and the inputs that each reads. Most are about what is in their blocks, which other tables say: here the
/// blocks have to be found.
const READ: [(&str, &[&str]); 4] = [
    (
        "cert show {}",
        &[
            "files/blanks-at-line-ends.pem",
            "files/bom.pem",
            "files/cms-root.pem",
            "files/constrained-localhost-and-wildcard.pem",
            "files/constrained-root.pem",
            "files/crl-chain.pem",
            "files/eku-any.pem",
            "files/empty-line-after-begin.pem",
            "files/issuer-case-differs.pem",
            "files/keyusage-4-octets.pem",
            "files/keyusage-bit17.pem",
            "files/plain-root.pem",
            "files/plain.pem",
            "files/root.pem",
            "files/san-x400address.pem",
            "files/subject-universalstring.pem",
            "files/text-latin1-before.pem",
            "peers/ML-DSA-65.leaf.pem",
            "peers/cert.indent.pem",
            "peers/cert.latin1.pem",
            "peers/cert.trail.pem",
        ],
    ),
    (
        "cert lint {}",
        &[
            "files/cn-5000.csr",
            "files/cn-65.csr",
            "files/cn-bidi.csr",
            "files/country-DEU.csr",
            "files/microsoft-extension-oid.csr",
            "files/reason-7.crl",
            "files/rootlist.crl",
            "files/text-latin1-before.crl",
            "files/thisupdate-tomorrow.crl",
            "peers/v1.ML-DSA-65.pem",
        ],
    ),
    (
        "key show {}",
        &[
            "files/blanks-at-line-ends.key",
            "files/plain.key",
            "files/text-latin1-after.key",
            "peers/ML-DSA-65.both.pem",
        ],
    ),
    (
        "ssh verify files/ssh-m --signature {} --signers files/ssh-signers --identity a@example.org",
        &["files/ssh-m.sig"],
    ),
];

/// Blanks, an empty line, a BOM, and text in Latin-1 around the block.
#[test]
fn pem_with_blanks_and_other_text() {
    let Some(found) = found() else { return };
    let mut wrong = Vec::new();
    for (command, files) in READ {
        for file in files {
            let output = found.pqtls(&command.replace("{}", file));
            let has_blamed_pem = ["PEM", "block", "neither"]
                .iter()
                .any(|word| output.stderr().contains(word));
            // The certificate in some is refused, or a finding of the linter; but it was found.
            let is_judged =
                output.code() == Some(1) || output.stderr().contains("the certificate ");
            if has_blamed_pem || output.code() != Some(0) && !is_judged {
                wrong.push(format!("{command}, {file}: {output}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No input is left out of the table.
#[test]
fn every_input_in_pem_is_read() {
    let Some(found) = found() else { return };
    for entry in fs::read_dir(found.path("files")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = format!("files/{name}");
        let has_pem = found
            .read(&name)
            .windows(11)
            .any(|window| window == b"-----BEGIN ");
        let is_listed = READ.iter().any(|(_, files)| files.contains(&&*name));
        assert!(!has_pem || is_listed, "{name}");
    }
}
