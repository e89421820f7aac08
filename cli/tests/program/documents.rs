//! The pages `docs/documents.md` and `docs/keys.md` and the README: the commands of each, one after the other in one folder, each of which has
//! to succeed. The page's Rust is compiled and run by the doctests of this package.

use testing::skipped::cannot_run;

use crate::folder::Folder;

#[test]
fn every_command_of_the_page_succeeds() {
    let folder = Folder::new();
    let count = run_all(&folder, include_str!("../../../docs/documents.md"));
    assert_eq!(count, 63);
    for decrypted in ["release.again.txt", "release.backup.txt"] {
        assert_eq!(folder.read(decrypted), "Version 1.0\n");
    }
}

#[test]
fn every_command_of_the_page_on_keys_succeeds() {
    let folder = Folder::new();
    let count = run_all(&folder, include_str!("../../../docs/keys.md"));
    assert_eq!(count, 86);
    assert!(folder.path().join("restored.redb").exists());
}

/// A program can be copied with the dependencies above it: each crate that it uses is there, with the feature of each
/// module, and no other.
#[test]
fn each_program_of_the_page_has_its_dependencies() {
    const LIBRARIES: [(&str, &str); 2] = [
        ("pq_keys", include_str!("../../../keys/src/lib.rs")),
        ("pq_x509", include_str!("../../../x509/src/lib.rs")),
    ];
    let page = include_str!("../../../docs/documents.md");
    let sections: Vec<_> = page.split("```toml\n[dependencies]\n").skip(1).collect();
    assert_eq!(sections.len(), page.matches("```rust").count());
    for section in sections {
        let (dependencies, rest) = section.split_once("```\n\n```rust\n").unwrap();
        let program = rest.split("```").next().unwrap();
        let mut unused: Vec<_> = dependencies.lines().collect();
        for path in program.lines().filter_map(|line| line.strip_prefix("use ")) {
            let (library, path) = path.split_once("::").unwrap();
            if ["core", "std"].contains(&library) {
                continue;
            }
            let start = format!("{} = ", library.replace('_', "-"));
            let line = dependencies.lines().find(|line| line.starts_with(&start));
            let line = line.unwrap_or_else(|| panic!("{library} is missing: {program}"));
            unused.retain(|other| *other != line);
            let module = path.split("::").next().unwrap();
            let library = LIBRARIES.iter().find(|(name, _)| *name == library);
            if let Some(feature) = library.and_then(|(_, text)| feature_of(module, text)) {
                let feature = format!("\"{feature}\"");
                assert!(line.contains(&feature), "{line}: {feature}");
            }
        }
        assert!(unused.is_empty(), "{unused:?}: {program}");
    }
}

/// The feature that a library has this module behind.
fn feature_of<'a>(module: &str, library: &'a str) -> Option<&'a str> {
    let (before, _) = library.split_once(&format!("\")]\npub mod {module};"))?;
    Some(before.rsplit_once("#[cfg(feature = \"")?.1)
}

#[test]
fn every_command_of_the_readme_succeeds() {
    let count = run_all(&Folder::new(), include_str!("../../README.md"));
    assert_eq!(count, 5);
}

/// Runs the lines of all blocks in a page that are for a shell, and returns how many these were. Without OpenSSL's program, what
/// comes after its first line is left out.
fn run_all(folder: &Folder, page: &str) -> usize {
    let blocks = page.split("```sh\n").skip(1);
    let commands = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let commands: Vec<_> = commands.collect();
    for line in &commands {
        match line.starts_with("openssl ") {
            true if folder.shell("openssl version").status() != 0 => {
                cannot_run("there is no openssl, which a page runs");
                break;
            }
            // It also says what goes well on standard error.
            true => folder.shell(&format!("{line} 2> openssl.log")).ok(),
            false => folder.shell(line).ok(),
        };
    }
    commands.len()
}
