//! Advice that helps whoever follows it.

use crate::folder::Folder;

#[test]
fn a_passphrase_encrypts_by_itself() {
    let folder = Folder::new();
    folder.write("pw", "correct horse");
    folder
        .pqtls("key new ML-DSA-44 --passphrase-file pw --out a.key")
        .ok();
    assert!(folder.read("a.key").contains("ENCRYPTED"));
    folder.pqtls("ssh new --passphrase-file pw --out id").ok();
    folder
        .pqtls("ssh sign a.key --key id --out a.sig")
        .fails(2, "id is encrypted");
    for command in [
        "key new",
        "key encrypt",
        "key export",
        "ssh new",
        "store export",
    ] {
        let help = folder.pqtls(&format!("{command} --help"));
        assert!(
            help.ok()
                .contains("New passphrase, which the private key is encrypted under"),
            "{command}"
        );
    }
}
