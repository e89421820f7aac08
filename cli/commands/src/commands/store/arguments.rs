//! Values on the command line: grants.

use core::str::FromStr;

use pq_keystore::policy::{Grants, InvalidPrincipal, Principal, Verbs};

/// What a new key's policy grants to somebody: `NAME=VERB,…`, where a role stands for its verbs, and `*` for everybody.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    principal: Option<Principal>,
    verbs: Verbs,
}

impl Grant {
    pub(super) fn add_to(&self, grants: Grants) -> Grants {
        match &self.principal {
            Some(principal) => grants.grant(principal, self.verbs),
            None => grants.grant_anyone(self.verbs),
        }
    }
}

impl FromStr for Grant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, verbs) = text
            .rsplit_once('=')
            .ok_or("write who may do what, such as ci=sign,verify or \"*=public\"")?;
        let principal = match name {
            "*" => None,
            name => {
                let named: Result<_, InvalidPrincipal> = name.parse();
                Some(named.map_err(|error| error.to_string())?)
            }
        };
        let mut all = Verbs::NONE;
        for name in verbs.split(',') {
            let named: Verbs = name.parse().map_err(|error| format!("{error}"))?;
            // A role grants what of it a key can grant; of a verb that it can't, the store says so.
            let is_verb = named.iter().count() == 1;
            let of_key = named.iter().filter(|verb| Verbs::of_keys().contains(*verb));
            all = all | if is_verb { named } else { of_key.collect() };
        }
        Ok(Self {
            principal,
            verbs: all,
        })
    }
}
