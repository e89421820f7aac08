//! Grants in files: a table with the verbs of each principal.

use alloc::collections::BTreeMap;
use core::fmt::Write;

use super::grants::Grants;
use super::principal::{InvalidPrincipal, Principal};
use super::verb::{UnknownVerb, Verbs};

/// The table: verbs or roles of each principal, or of `*`.
pub(crate) type Table = BTreeMap<String, Vec<String>>;

/// What is wrong with a table.
pub(crate) enum InvalidGrants {
    Verb(UnknownVerb),
    Principal(InvalidPrincipal),
}

/// Reads a table. A role grants what of it can be granted there; a verb that can't is left for others to refuse.
pub(crate) fn read(table: &Table, grantable: Verbs) -> Result<Grants, InvalidGrants> {
    let mut grants = Grants::new();
    for (name, names) in table {
        let mut verbs = Verbs::NONE;
        for name in names {
            let named: Verbs = name.parse().map_err(InvalidGrants::Verb)?;
            let is_verb = named.iter().count() == 1;
            let granted = named.iter().filter(|verb| grantable.contains(*verb));
            verbs = verbs | if is_verb { named } else { granted.collect() };
        }
        grants = match name.as_str() {
            "*" => grants.grant_anyone(verbs),
            name => {
                let principal = Principal::new(name).map_err(InvalidGrants::Principal)?;
                grants.grant(&principal, verbs)
            }
        };
    }
    Ok(grants)
}

/// Writes a table, with verbs in place of roles.
pub(crate) fn write(text: &mut String, grants: &Grants) {
    let anyone = Some(("*", grants.anyone())).filter(|(_, verbs)| *verbs != Verbs::NONE);
    let named = grants.principals();
    let named = named.map(|(principal, verbs)| (principal.as_str(), verbs));
    for (name, verbs) in anyone.into_iter().chain(named) {
        let verbs = verbs.iter().map(|verb| format!("{:?}", verb.name()));
        let verbs: Vec<_> = verbs.collect();
        // Visible ASCII is quoted alike in Rust and TOML. Writing to a string doesn't fail.
        let _ = writeln!(text, "{name:?} = [{}]", verbs.join(", "));
    }
}
