//! A hash of the sources that figures depend on.
//!
//! A page keeps the hash of the measured sources, which tells whether the code has changed since.
//!
//! It covers the tokens of all Rust files in [`FOLDERS`], with their paths. Comments, documentation, layout and
//! test modules don't count: they don't change what is measured. Files in C count with all their lines. It also
//! covers the lines of [`MANIFESTS`], and the profiles with which the measured code is compiled. Code of others doesn't
//! count: a page lists the versions of the peers and of rustls.

use std::path::{Path, PathBuf};
use std::{fs, io};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use shake::{ExtendableOutput, Shake256, Update, XofReader};

/// The folders of the measured and of the measuring code.
pub const FOLDERS: [&str; 10] = [
    "pq-core/src",
    "keys/src",
    "x509/src",
    "provider/src",
    "serve/src",
    "documents/cms/src",
    "hpke/src",
    "keystore/src",
    "benches/src",
    "benches/benches",
];

/// The manifests of this code.
pub const MANIFESTS: [&str; 9] = [
    "pq-core/Cargo.toml",
    "keys/Cargo.toml",
    "x509/Cargo.toml",
    "provider/Cargo.toml",
    "serve/Cargo.toml",
    "documents/cms/Cargo.toml",
    "hpke/Cargo.toml",
    "keystore/Cargo.toml",
    "benches/Cargo.toml",
];

/// The manifest with the profiles.
pub const WORKSPACE: &str = "Cargo.toml";

/// Parts of these folders that are not measured: programs that write pages, and tests.
const LEFT_OUT: [&str; 3] = ["bin", "tests", "tests.rs"];

/// The repository that this crate is in.
pub fn repository() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().unwrap_or(crate_folder)
}

/// The hash of a repository's current sources, in hexadecimal digits.
///
/// # Errors
///
/// If a file can't be read, or a `.rs` file is not Rust.
pub fn hash(repository: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        find(&repository.join(folder), folder, &mut files)?;
    }
    files.sort();
    let mut hash = Shake256::default();
    for (name, file) in files {
        let text = fs::read_to_string(&file)?;
        word(&mut hash, &name);
        if name.ends_with(".rs") {
            let tokens: TokenStream = text
                .parse()
                .map_err(|error| io::Error::other(format!("{name}: {error}")))?;
            absorb(&mut hash, tokens);
        } else {
            text.lines().for_each(|line| word(&mut hash, line.trim()));
        }
    }
    for name in MANIFESTS {
        absorb_lines(&mut hash, repository, name, |_| true)?;
    }
    absorb_lines(&mut hash, repository, WORKSPACE, |section| {
        let section = section.strip_prefix("[profile.");
        // The measured code uses neither the profile for tests nor that for pqtls's releases.
        section.is_some_and(|name| !["dev", "dist"].iter().any(|other| name.starts_with(other)))
    })?;
    let mut digest = [0; 8];
    hash.finalize_xof().read(&mut digest);
    Ok(format!("{:016x}", u64::from_be_bytes(digest)))
}

/// The files in Rust and C below a folder, each with its path in the repository.
fn find(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let last = entry.file_name();
        let last = last.to_string_lossy();
        if LEFT_OUT.contains(&&*last) {
            continue;
        }
        let (name, path) = (format!("{name}/{last}"), entry.path());
        if entry.file_type()?.is_dir() {
            find(&path, &name, files)?;
        } else if [".rs", ".c", ".h"].iter().any(|end| last.ends_with(end)) {
            files.push((name, path));
        }
    }
    Ok(())
}

fn absorb(hash: &mut Shake256, tokens: TokenStream) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut rest = &tokens[..];
    while let [token, after @ ..] = rest {
        if let Some(after) = after_documentation(rest).or_else(|| after_tests(rest)) {
            rest = after;
            continue;
        }
        rest = after;
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                word(hash, open);
                absorb(hash, group.stream());
                word(hash, close);
            }
            token => word(hash, &token.to_string()),
        }
    }
}

/// Absorbs the lines of the sections of a manifest that count, without comments.
fn absorb_lines(
    hash: &mut Shake256,
    repository: &Path,
    name: &str,
    counts: impl Fn(&str) -> bool,
) -> io::Result<()> {
    word(hash, name);
    let manifest = fs::read_to_string(repository.join(name))?;
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        if !line.is_empty() && !line.starts_with('#') && counts(section) {
            word(hash, line);
        }
    }
    Ok(())
}

/// Absorbs a word and a terminator that is in no token.
fn word(hash: &mut Shake256, word: &str) {
    hash.update(word.as_bytes());
    hash.update(&[0]);
}

/// The tokens after `#[doc …]` or `#![doc …]`, to which documentation comments are parsed, too.
fn after_documentation(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    let (attribute, after) = attribute(tokens)?;
    let is_documentation = matches!(
        attribute.into_iter().next(),
        Some(TokenTree::Ident(name)) if name == "doc"
    );
    is_documentation.then_some(after)
}

/// The tokens after `#[cfg(test)] mod …`.
fn after_tests(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    let (cfg, mut rest) = attribute(tokens)?;
    if cfg.to_string().replace(' ', "") != "cfg(test)" {
        return None;
    }
    while let Some((_, after)) = attribute(rest) {
        rest = after;
    }
    match rest {
        [TokenTree::Ident(keyword), _name, _body, after @ ..] if keyword == "mod" => Some(after),
        _ => None,
    }
}

/// The tokens between an attribute's brackets, and the tokens after them.
fn attribute(tokens: &[TokenTree]) -> Option<(TokenStream, &[TokenTree])> {
    let is = |token: &TokenTree, character| matches!(token, TokenTree::Punct(punct) if punct.as_char() == character);
    match tokens {
        [hash, TokenTree::Group(group), after @ ..] if is(hash, '#') => {
            Some((group.stream(), after))
        }
        [hash, bang, TokenTree::Group(group), after @ ..] if is(hash, '#') && is(bang, '!') => {
            Some((group.stream(), after))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const FILE: &str = "pq-core/src/kernel/ntt.rs";
    const CODE: &str = "const Q: u32 = 3329;";
    const MANIFEST: &str = "[dependencies]\nrustls = \"1\"\n\n[profile.bench]\nlto = true\n";

    /// A repository with one file of code in each folder.
    fn repository_of(file: &str, code: &str) -> TempDir {
        let repository = tempfile::tempdir().unwrap();
        let write = |file: &str, code: &str| {
            let file = repository.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, code).unwrap();
        };
        for folder in FOLDERS {
            write(&format!("{folder}/lib.rs"), CODE);
        }
        for manifest in MANIFESTS.into_iter().chain([WORKSPACE]) {
            write(manifest, MANIFEST);
        }
        write(FILE, CODE);
        write(file, code);
        repository
    }

    fn hash_of(file: &str, code: &str) -> String {
        hash(repository_of(file, code).path()).unwrap()
    }

    #[test]
    fn every_clone_has_the_same_hash() {
        assert_eq!(hash_of(FILE, CODE), hash_of(FILE, CODE));
        assert_eq!(hash_of(FILE, CODE).len(), 16);
    }

    #[test]
    fn a_change_in_any_folder_is_found() {
        let before = hash_of(FILE, CODE);
        for folder in FOLDERS {
            let file = format!("{folder}/lib.rs");
            assert_ne!(hash_of(&file, "const Q: u32 = 8380417;"), before, "{file}");
            let file = format!("{folder}/new.rs");
            assert_ne!(hash_of(&file, CODE), before, "{file}");
        }
    }

    #[test]
    fn files_in_c_count() {
        let before = hash_of(FILE, CODE);
        for (file, code) in [
            ("benches/src/x.c", "#define Q 3329"),
            ("benches/src/x.h", ""),
        ] {
            assert_ne!(hash_of(file, code), before, "{file}");
        }
        let other = hash_of("benches/src/x.c", "#define Q 8380417");
        assert_ne!(hash_of("benches/src/x.c", "#define Q 3329"), other);
    }

    #[test]
    fn manifests_and_profiles_count() {
        let before = hash_of(FILE, CODE);
        let other_profile = MANIFEST.replace("lto = true", "lto = false");
        let other_dependency = MANIFEST.replace("\"1\"", "\"2\"");
        for manifest in MANIFESTS {
            assert_ne!(hash_of(manifest, &other_profile), before, "{manifest}");
            assert_ne!(hash_of(manifest, &other_dependency), before, "{manifest}");
            let comment = format!("# why\n{MANIFEST}");
            assert_eq!(hash_of(manifest, &comment), before, "{manifest}");
        }
        assert_ne!(hash_of(WORKSPACE, &other_profile), before);
        for profile in ["dev", "dist"] {
            let unmeasured = format!(
                "{MANIFEST}\n[profile.{profile}]\nopt-level = 1\n\n[profile.{profile}.package.x]\nopt-level = 2\n"
            );
            assert_eq!(hash_of(WORKSPACE, &unmeasured), before, "{profile}");
        }
        // A dependency of members that are not measured.
        assert_eq!(hash_of(WORKSPACE, &other_dependency), before);
    }

    #[test]
    fn code_counts_wherever_it_stands() {
        let before = hash_of(FILE, CODE);
        for code in [
            "const P: u32 = 3329;",
            "pub const Q: u32 = 3329;",
            "const Q: u32 = 3_329;",
            "#[cfg(test)] const Q: u32 = 3329;",
            "#[cfg(not(test))] mod tests { } const Q: u32 = 3329;",
            "const Q: u32 = 3329; fn f() { g(); }",
        ] {
            assert_ne!(hash_of(FILE, code), before, "{code}");
        }
        let calls = |inner| format!("{CODE} fn f() {{ (g)([{inner}]); }}");
        assert_ne!(hash_of(FILE, &calls("1")), hash_of(FILE, &calls("2")));
        assert_ne!(
            hash_of(FILE, "macro_rules! m { () => { f() } }"),
            hash_of(FILE, "macro_rules! m { () => { g() } }")
        );
    }

    #[test]
    fn words_and_layout_do_not_count() {
        let before = hash_of(FILE, CODE);
        for code in [
            "//! A file.\n\n/// The modulus,\n/// documented. // Twice.\nconst Q: u32 =\n    3329;",
            "#![doc = include_str!(\"x.md\")]\n#[doc(hidden)]\nconst Q: u32 = 3329; /* why */",
            "const Q: u32 = 3329;\n#[cfg(test)]\nmod tests { fn f() {} }",
            "#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\nconst Q: u32 = 3329;",
        ] {
            assert_eq!(hash_of(FILE, code), before, "{code}");
        }
        let documented = |words| format!("fn f() {{ /// {words}\n const R: u32 = 1; }}");
        assert_eq!(
            hash_of(FILE, &documented("One.")),
            hash_of(FILE, &documented("Another."))
        );
    }

    #[test]
    fn tests_and_pages_do_not_count() {
        let before = hash_of(FILE, CODE);
        for file in [
            "pq-core/src/kernel/tests.rs",
            "pq-core/src/kernel/tests/ntt.rs",
            "benches/src/bin/report/main.rs",
            "provider/src/table.md",
            "pq-core/tests/vectors.rs",
        ] {
            assert_eq!(hash_of(file, "fn f() {}"), before, "{file}");
        }
    }

    #[test]
    fn a_file_that_is_missing_or_no_rust_is_an_error() {
        hash(tempfile::tempdir().unwrap().path()).unwrap_err();
        let error = hash(repository_of(FILE, "fn f( {").path()).unwrap_err();
        assert!(error.to_string().starts_with(FILE), "{error}");
    }

    #[test]
    fn this_repository_has_one() {
        hash(repository()).unwrap();
    }
}
