//! What `docs/keys.md` says of verbs, roles and policies.

use pq_keystore::policy::{Policy, Role, Verb, Verbs};

const PAGE: &str = include_str!("../../../docs/keys.md");

/// The rows of the table with this head, each as its cells.
fn rows(head: &str) -> Vec<Vec<&'static str>> {
    let lines = PAGE.lines().skip_while(|line| !line.starts_with(head));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &'static str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.map(cells).collect()
}

/// What stands there in backquotes.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_page_has_all_verbs() {
    let table = rows("| verb |");
    let names: Vec<_> = table.iter().map(|row| code(row[0])[0]).collect();
    let all: Vec<_> = Verb::ALL.iter().map(|verb| verb.name()).collect();
    assert_eq!(names, all);
    for (row, verb) in table.iter().zip(Verb::ALL) {
        let by = match Verbs::of_keys().contains(*verb) {
            true => "the key or the store",
            false => "the store",
        };
        assert_eq!(row[2], by, "{verb}");
    }
}

#[test]
fn the_page_has_the_verbs_of_each_role() {
    let table = rows("| role |");
    assert_eq!(table.len(), Role::ALL.len());
    for (row, role) in table.iter().zip(Role::ALL) {
        assert_eq!(code(row[0]), [role.name()]);
        let verbs: Vec<_> = role.verbs().iter().map(|verb| verb.name()).collect();
        assert_eq!(code(row[1]), verbs, "{}", role.name());
    }
}

#[test]
fn the_page_has_each_field_of_a_policy_with_its_default() {
    let table = rows("| field |");
    let text: Vec<_> = table
        .iter()
        .filter(|row| row[1].starts_with('`'))
        .map(|row| format!("{} = {}\n", code(row[0])[0], code(row[1])[0]))
        .collect();
    assert_eq!(
        Policy::from_toml(&text.concat()).unwrap(),
        Policy::default()
    );
    let fields = Policy::default().to_toml();
    for line in fields.lines().filter(|line| !line.is_empty()) {
        let field = line.split(" = ").next().unwrap();
        assert!(table.iter().any(|row| code(row[0]) == [field]), "{field}");
    }
    // What is said of more than there may be
    let unknown = "usr".parse::<Verbs>().unwrap_err().to_string();
    let verbs = Verb::ALL.iter().map(|verb| verb.name());
    for name in verbs.chain(Role::ALL.iter().map(|role| role.name())) {
        assert!(unknown.contains(name), "{unknown}");
    }
    let longest = format!("max-message = {}", 1_u64 << 40);
    assert!(Policy::from_toml(&longest).is_ok());
    assert!(Policy::from_toml(&format!("max-message = {}", (1_u64 << 40) + 1)).is_err());
    assert!(PAGE.contains("at most 1099511627776"));
}
