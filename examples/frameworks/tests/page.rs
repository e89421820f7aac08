//! The table in `docs/tls.md` names the functions that the other tests and the program with quinn use.

const PAGE: &str = include_str!("../../../docs/tls.md");
const MANIFEST: &str = include_str!("../Cargo.toml");
const LOCK: &str = include_str!("../Cargo.lock");
const TESTS: &str = concat!(
    include_str!("../src/lib.rs"),
    include_str!("own_configuration.rs"),
    include_str!("../quinn.rs")
);

#[test]
fn every_row_is_tried() {
    let rows: Vec<[&str; 3]> = PAGE
        .lines()
        .skip_while(|line| !line.starts_with("| crate | features"))
        .skip(2)
        .map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|row| {
            // An empty cell consists of one blank.
            let cells: Vec<_> = row.splitn(3, '|').map(str::trim).collect();
            cells.try_into().expect("three cells")
        })
        .collect();
    assert_eq!(rows.len(), 8);
    for [crates, features, functions] in rows {
        for (name, version) in crates.split(", ").filter_map(|one| one.split_once(' ')) {
            let dependency = dependency(name);
            let version = format!("{{ version = \"{version}");
            let (_, rest) = dependency.split_once(&version).expect(name);
            assert!(rest.starts_with(['"', '.']), "{crates}: {dependency}");
            let defaults = "default-features = false";
            assert!(dependency.contains(defaults), "{crates}: {dependency}");
            for feature in code(of_crate(features, name)) {
                let feature = format!("\"{feature}\"");
                assert!(dependency.contains(&feature), "{crates}: {dependency}");
            }
        }
        for part in features.split("; ").filter(|part| !part.starts_with('`')) {
            let Some((name, features)) = part.split_once(' ') else {
                continue;
            };
            for feature in code(features) {
                let feature = format!("\"{feature}\"");
                assert!(dependency(name).contains(&feature), "{crates}: {name}");
            }
        }
        for path in code(functions) {
            assert!(is_called(path), "{crates}: {path}");
        }
    }
}

/// With these features, no dependency needs AWS-LC.
#[test]
fn none_brings_aws_lc() {
    assert!(LOCK.contains("name = \"rustls\"\n"));
    assert!(!LOCK.contains("name = \"aws-lc"));
}

/// The line of a dependency in the manifest.
fn dependency(name: &str) -> &'static str {
    let start = format!("{name} = {{ ");
    let mut lines = MANIFEST.lines();
    let found = lines.find(|line| line.starts_with(&start));
    found.unwrap_or_else(|| panic!("{name} is no dependency"))
}

/// Whether a test calls it: `Type::function` by that name, or `function` as a method.
fn is_called(path: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut by_name = TESTS.split(path).skip(1);
    by_name.any(|rest| !rest.starts_with(in_name))
        || path.rsplit_once("::").is_some_and(|(_, function)| {
            let call = format!(".{function}(");
            TESTS.contains(&call)
        })
}

/// The features of a crate: after its name up to the next semicolon, or all if no crate is named.
fn of_crate<'a>(features: &'a str, name: &str) -> &'a str {
    let mut parts = features.split("; ");
    let own = parts.find_map(|part| part.strip_prefix(name)?.strip_prefix(' '));
    own.unwrap_or(if features.starts_with('`') {
        features
    } else {
        ""
    })
}

/// The texts between backticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn features_belong_to_their_crate() {
    let both = "axum `http1`; hyper `http1`, `server`; hyper-util `tokio`";
    assert_eq!(of_crate(both, "hyper"), "`http1`, `server`");
    assert_eq!(of_crate(both, "hyper-util"), "`tokio`");
    assert_eq!(of_crate(both, "tonic"), "");
    assert_eq!(of_crate("`one`, `two`", "any"), "`one`, `two`");
}

#[test]
fn what_no_test_calls_is_noticed() {
    assert!(is_called("TlsAcceptor::from"));
    assert!(!is_called("TlsAcceptor::try_from"));
    assert!(!is_called("Abacus::from"));
    assert!(!is_called("Abacus::try_from"));
}
