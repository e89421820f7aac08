//! The page `docs/documents.md` and the README: the commands of each, one after the other in one folder, each of which has
//! to succeed. The page's Rust is compiled and run by the doctests of this package.

use crate::folder::Folder;

#[test]
fn every_command_of_the_page_succeeds() {
    let folder = Folder::new();
    let count = run_all(&folder, include_str!("../../../docs/documents.md"));
    assert_eq!(count, 42);
    for decrypted in ["release.again.txt", "release.backup.txt"] {
        assert_eq!(folder.read(decrypted), "Version 1.0\n");
    }
}

#[test]
fn every_command_of_the_readme_succeeds() {
    let count = run_all(&Folder::new(), include_str!("../../README.md"));
    assert_eq!(count, 3);
}

/// Runs the lines of all blocks in a page that are for a shell, and returns how many these were.
fn run_all(folder: &Folder, page: &str) -> usize {
    let blocks = page.split("```sh\n").skip(1);
    let commands = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let mut count = 0;
    for line in commands {
        folder.shell(line).ok();
        count += 1;
    }
    count
}
