//! The table in README names what the tests beside this one use.

const README: &str = include_str!("../../../README.md");
const MANIFEST: &str = include_str!("../Cargo.toml");
const LOCK: &str = include_str!("../Cargo.lock");
const TESTS: &str = concat!(
    include_str!("../src/lib.rs"),
    include_str!("own_configuration.rs"),
    include_str!("../../interop/tests/quic_quinn.rs")
);

#[test]
fn every_row_is_tried() {
    let rows: Vec<[&str; 3]> = README
        .lines()
        .skip_while(|line| !line.starts_with("| crate | features"))
        .skip(2)
        .map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|row| {
            // An empty cell has one blank.
            let cells: Vec<_> = row.splitn(3, '|').map(str::trim).collect();
            cells.try_into().expect("three cells")
        })
        .collect();
    assert_eq!(rows.len(), 8);
    for [crates, features, functions] in rows {
        for (name, version) in crates.split(", ").filter_map(|one| one.split_once(' ')) {
            // quinn is the other workspace's.
            let Some(dependency) = dependency(name) else {
                assert_eq!(name, "quinn");
                continue;
            };
            let version = format!("version = \"{version}\", default-features = false");
            assert!(dependency.contains(&version), "{crates}: {dependency}");
            for feature in code(features) {
                let feature = format!("\"{feature}\"");
                assert!(dependency.contains(&feature), "{crates}: {dependency}");
            }
        }
        for path in code(functions) {
            let function = path.rsplit("::").next().unwrap();
            assert!(TESTS.contains(function), "{crates}: {path}");
        }
    }
}

/// With these features nothing brings AWS-LC.
#[test]
fn none_brings_aws_lc() {
    assert!(LOCK.contains("name = \"rustls\"\n"));
    assert!(!LOCK.contains("name = \"aws-lc"));
}

fn dependency(name: &str) -> Option<&'static str> {
    let start = format!("{name} = {{ ");
    MANIFEST.lines().find(|line| line.starts_with(&start))
}

/// What stands between backticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}
