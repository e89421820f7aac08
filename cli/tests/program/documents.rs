//! The page `docs/documents.md`: its commands, one after the other in one folder, each of which has to
//! succeed. Its Rust is compiled and run by the doctests of this package.

use crate::folder::Folder;

#[test]
fn every_command_of_the_page_succeeds() {
    let page = include_str!("../../../docs/documents.md");
    let folder = Folder::new();
    let blocks = page.split("```sh\n").skip(1);
    let commands = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let mut count = 0;
    for line in commands {
        folder.shell(line).ok();
        count += 1;
    }
    assert_eq!(count, 41);
    for decrypted in ["release.again.txt", "release.backup.txt"] {
        assert_eq!(folder.read(decrypted), "Version 1.0\n");
    }
}
