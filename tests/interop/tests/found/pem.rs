//! PEM as editors, mail and other programs leave it.

use interop::found::Case;

use super::found;

/// Blanks, an empty line, a BOM, and text in Latin-1 around the block.
#[test]
fn pem_with_blanks_and_other_text() {
    let Some(found) = found() else { return };
    let read = |command| Case {
        command,
        status: 0,
        says: "",
    };
    found.check(&[
        read("cert show files/blanks-at-line-ends.pem"),
        read("cert show files/empty-line-after-begin.pem"),
        read("cert show files/bom.pem"),
        read("cert show files/text-latin1-before.pem"),
        read("key show files/blanks-at-line-ends.key"),
        read("key show files/text-latin1-after.key"),
        read("cert lint files/text-latin1-before.crl"),
        read("cert show peers/cert.indent.pem"),
        read("cert show peers/cert.latin1.pem"),
        read("cert show peers/cert.trail.pem"),
    ]);
}
