//! What `docs/vault-api.md` says of paths and parameters.

use pq_keystore::policy::Verb;
use serde_json::{Value, json};

use crate::kit::House;

const PAGE: &str = include_str!("../../../docs/vault-api.md");

/// The rows of the table after a line that begins like this, each as its cells.
fn rows(after: &str) -> Vec<Vec<&'static str>> {
    let lines = PAGE.lines().skip_while(|line| !line.starts_with(after));
    let lines = lines.skip_while(|line| !line.starts_with("|---"));
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &'static str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.map(cells).collect()
}

/// What stands there in backquotes.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Each parameter that the page has is known at its path, where saying nothing by it changes nothing. Those that are
/// refused are known to one path at least.
#[test]
fn each_parameter_of_the_page_is_known() {
    let house = House::new();
    house.create("a", "ed25519");
    house.create("kem", "mlkem-768");
    let is_known = |path: &str, parameter: &str| {
        let body = json!({parameter: Value::Null}).to_string();
        let answer = house.post(path, &body);
        !answer.body.to_string().contains("unknown field")
    };
    let mut paths = Vec::new();
    for row in rows("## Paths") {
        let Some(path) = code(row[0])[0].strip_prefix("POST transit/") else {
            continue;
        };
        let name = match path.split('/').next().unwrap() {
            "encrypt" | "decrypt" | "rewrap" | "datakey" => "kem",
            _ => "a",
        };
        let path = path.replace("NAME", name);
        let mut parameters = code(row[1]);
        if path == "verify/a" {
            assert!(row[1].starts_with("the same without `key_version`"));
            parameters = code(
                rows("## Paths")
                    .iter()
                    .find(|row| row[0].contains("/sign/"))
                    .unwrap()[1],
            );
            parameters.retain(|parameter| *parameter != "key_version");
            parameters.push("signature");
        }
        for parameter in parameters.into_iter().chain(["name"]) {
            assert!(is_known(&path, parameter), "{path}: {parameter}");
        }
        assert!(!is_known(&path, "unknown"), "{path}");
        paths.push(path);
    }
    assert_eq!(paths.len(), 12);
    for row in rows("something:") {
        for parameter in code(row[0]) {
            let known = paths.iter().any(|path| is_known(path, parameter));
            assert!(known, "{parameter}");
        }
    }
}

/// The page's verbs are those of the documentation of the door, path for path.
#[test]
fn each_path_has_its_verbs() {
    const CODE: &str = include_str!("../../src/door/mod.rs");
    let end = |path: &str| {
        path.replace("[/", "`")
            .split('`')
            .next()
            .unwrap()
            .to_owned()
    };
    let lines = CODE.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let documented: Vec<_> = lines
        .map(|line| {
            let cells: Vec<_> = line.trim_end_matches(" |").rsplit(" | ").collect();
            (end(line), cells[0].trim_matches(['|', ' ']).to_owned())
        })
        .collect();
    let of_page = rows("## Paths");
    assert_eq!(of_page.len(), documented.len());
    for row in of_page {
        let path = end(code(row[0])[0]);
        let known = documented.iter().find(|(known, _)| *known == path);
        let (_, verbs) = known.unwrap_or_else(|| panic!("{path}"));
        let (mut found, mut known) = (code(row[2]), verbs.split([',', ' ']).collect::<Vec<_>>());
        known.retain(|word| word.parse::<Verb>().is_ok());
        found.sort_unstable();
        known.sort_unstable();
        assert_eq!(found, known, "{path}");
    }
}

#[test]
fn each_type_of_the_page_is_made() {
    let house = House::new();
    let mut made = 0;
    for row in rows("## Types of keys") {
        let words: Vec<_> = code(row[0])
            .into_iter()
            .filter(|word| *word != "parameter_set")
            .collect();
        let of_family = |word: &str| word.parse::<u32>().is_ok() || word.starts_with("slh-dsa-");
        let family = words[0];
        for word in &words {
            let body = match (*word, of_family(word)) {
                ("ml-dsa" | "slh-dsa" | "ml-kem", _) => continue,
                // Keys of this length take long to make.
                ("rsa-4096", _) => continue,
                (set, true) => json!({"type": family, "parameter_set": set}),
                (key_type, false) => json!({"type": key_type}),
            };
            house
                .post(&format!("keys/k{made}"), &body.to_string())
                .expect(200);
            made += 1;
        }
    }
    assert_eq!(made, 17);
}

/// What the page says is not there is not there.
#[test]
fn what_is_not_there_is_unknown() {
    let house = House::new();
    house.create("a", "ed25519");
    for path in [
        "hmac/a",
        "random",
        "hash",
        "cmac/a",
        "restore",
        "keys/a/csr",
        "keys/a/set-certificate",
        "keys/a/soft-delete",
        "keys/a/soft-delete-restore",
        "config/keys",
        "cache-config",
    ] {
        house.post(path, "{}").error(404);
    }
    for path in ["backup/a", "byok-export/a/b"] {
        house.get(path).error(404);
    }
}
